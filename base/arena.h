/* base/arena.h: an arena allocator: blocks are allocated one by one and freed all together.
 *
 *     struct arena *a = arena_new();
 *     struct item *items = arena_array(a, struct item, n);    // zeroed
 *     arena_free(a);                                          // all of it at once
 *
 * A block of an arena cannot be freed by itself. If the host has no memory left, the arena aborts the
 * process, so callers do not test for NULL. Only one thread at a time may use an arena. */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is allowed */

/* n zeroed bytes, aligned for any type. n may be 0; the result is a unique pointer then. */
void *arena_alloc(struct arena *a, size_t n);

/* Bytes that the arena has allocated from the host so far. */
size_t arena_footprint(const struct arena *a);

/* A copy of n bytes with a NUL behind them. */
char *arena_copy(struct arena *a, const char *text, size_t n);

char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Grows an array of `*cap` elements of `size` bytes to at least `need` elements: returns the old
 * array if it is large enough, else a larger array with a copy of its first `used` elements,
 * and sets `*cap`. */
void *arena_grow(struct arena *a, void *array, size_t used, size_t *cap, size_t need, size_t size);

#define arena_array(a, type, n) ((type *)arena_alloc_n((a), (n), sizeof(type)))
void *arena_alloc_n(struct arena *a, size_t n,
                    size_t size); /* n * size bytes; aborts on overflow */

#endif
