/* cuda/touched.h: the set of bytes of device memory that an operation reads and writes.
 *
 *     struct touched *t = touched_new();
 *     touched_range(t, address, size, TOUCHED_WRITE);      // a copy, a fill
 *     ... emu_launch with touched_observer(t)              // a kernel: each access
 *     if (touched_meet(t, other, &address, &writes)) ...
 *
 * Two strong accesses do not conflict. */
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
    uint64_t address; /* the lowest byte with a conflict: one writes it, and not both are strong */
    enum touched_how one, other; /* the accesses to that byte; a write if there are several */
};
/* Whether the two sets conflict; *out is the first conflict. */
bool touched_meet(const struct touched *one, const struct touched *other,
                  struct touched_meeting *out);

/* Calls `call` for each range and page, in no defined order. A range may contain other bytes besides those accessed. */
void touched_each(const struct touched *t,
                  void (*call)(void *self, uint64_t address, uint64_t size, enum touched_how how),
                  void *self);
/* Whether the set contains the byte; *writes: whether the operation writes it. */
bool touched_has(const struct touched *t, uint64_t address, bool *writes);

#endif
