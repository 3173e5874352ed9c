/* base/arena.h: memory with a lifetime instead of owners.
 *
 *     struct arena *a = arena_new();
 *     struct item *items = arena_array(a, struct item, n);    // zeroed
 *     arena_free(a);                                          // all of it at once
 *
 * Nothing taken from an arena is freed alone. An exhausted host aborts here, so no caller tests for
 * NULL. An arena belongs to one thread at a time. */
#ifndef HEDDLE_BASE_ARENA_H
#define HEDDLE_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a); /* NULL is allowed */

/* n zeroed bytes, aligned for any type. n may be 0 (a unique pointer results). */
void *arena_alloc(struct arena *a, size_t n);

/* Bytes taken from the host so far. */
size_t arena_footprint(const struct arena *a);

/* A copy of n bytes with a NUL behind them. */
char *arena_copy(struct arena *a, const char *text, size_t n);

char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory for at least `need` elements of `size` bytes in a growing array of `*cap`: returns the old
 * array if it is large enough, else a copy of its first `used` elements with twice the capacity. */
void *arena_grow(struct arena *a, void *array, size_t used, size_t *cap, size_t need, size_t size);

#define arena_array(a, type, n) ((type *)arena_alloc_n((a), (n), sizeof(type)))
void *arena_alloc_n(struct arena *a, size_t n,
                    size_t size); /* n * size bytes; aborts on overflow */

#endif
