/* cuda/touched.h: which bytes of device memory an operation reads and writes.
 *
 *     struct touched *t = touched_new();
 *     touched_range(t, address, size, TOUCHED_WRITE);      // a copy, a fill
 *     ... emu_launch with touched_observer(t)              // a kernel: every byte by itself
 *     if (touched_meet(t, other, &address, &writes)) ...
 *
 * Two strong accesses do not meet. */
#ifndef HEDDLE_CUDA_TOUCHED_H
#define HEDDLE_CUDA_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

enum touched_how {
    TOUCHED_READ,
    TOUCHED_STRONG_READ, /* volatile, relaxed, acquire */
    TOUCHED_WRITE,
    TOUCHED_ATOMIC, /* also a strong write */
    TOUCHED_WAYS
};

struct emu_observer;
struct touched;

struct touched *touched_new(void);
void touched_free(struct touched *t); /* NULL is allowed */
void touched_range(struct touched *t, uint64_t address, uint64_t size, enum touched_how how);
const struct emu_observer *touched_observer(struct touched *t);

struct touched_meeting {
    uint64_t address; /* the lowest byte that both touch, and not both just read or just strongly */
    enum touched_how one, other; /* there; a write if it does several */
};
bool touched_meet(const struct touched *one, const struct touched *other,
                  struct touched_meeting *out);

/* Every range and page of bytes, in no order: the range holds all bytes that are touched so. */
void touched_each(const struct touched *t,
                  void (*call)(void *self, uint64_t address, uint64_t size, enum touched_how how),
                  void *self);
/* Whether the byte is touched, and if so whether anything writes it. */
bool touched_has(const struct touched *t, uint64_t address, bool *writes);

#endif
