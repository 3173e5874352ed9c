/* determinism/record/writes.h: an observer that reports every write to some places, in the order in
 * which the writes become visible.
 *
 *     struct writes *w = writes_new(print_one, self);
 *     writes_add(w, address, 4, 1);                       // before a launch; again for each place
 *     ... emu_launch with writes_observer(w) among its observers
 *     writes_free(w);
 *
 * A write that an order buffers is reported when the order drains it, with the thread that issued
 * it. Stores, atomics, reductions and asynchronous copies count; a compare-and-swap that fails
 * writes nothing. Bytes that change between launches were written by the host or by the device
 * runtime. Deferred reductions of a cluster's CTA (native order) are reported when they are
 * issued. */
#ifndef HEDDLE_DETERMINISM_RECORD_WRITES_H
#define HEDDLE_DETERMINISM_RECORD_WRITES_H

#include "emu/order.h"

enum { WRITES_MOST_BYTES = 1 << 26, WRITES_MOST_WIDTH = 16 };

enum write_kind { WRITE_STORE, WRITE_ATOMIC, WRITE_RED, WRITE_COPY, WRITE_BY_HOST };
extern const char *const write_kind_names[]; /* "store", "atomic" */
struct write {
    size_t place; /* number of the watched place, from 0 on, in the order of writes_add */
    uint64_t element, address;
    uint32_t width;
    const uint8_t *before, *after; /* the whole element's bytes */
    enum write_kind kind;
    const char *op;     /* atomics and reductions: "add"; else NULL */
    const char *kernel; /* WRITE_BY_HOST: kernel of the next launch */
    uint64_t launch;    /* number of the launch among the watched ones, from 1 on */
    bool thread_known;  /* false: only warp and instruction are known. Not set for WRITE_BY_HOST */
    uint32_t cta[3], thread[3], warp; /* the warp's number in the CTA */
    struct emu_location where;
};

struct writes;
struct writes *writes_new(void (*report)(void *self, const struct write *), void *self);
void writes_free(struct writes *w); /* NULL is allowed */
/* Watches `count` elements of `width` bytes (at most WRITES_MOST_WIDTH). false: no bytes, or more than
 * WRITES_MOST_BYTES in all. */
bool writes_add(struct writes *w, uint64_t address, uint32_t width, uint64_t count);
/* Stops watching the place. */
void writes_end(struct writes *w, size_t place);
size_t writes_places(const struct writes *w);
const struct emu_observer *writes_observer(struct writes *w);
/* The number of bytes that did not have the reported value at the end of a launch: not 0 is a defect of the observer.
 * For tests. */
uint64_t writes_missed(const struct writes *w);

#endif
