/* determinism/record/writes.h: an observer that tells of every write to some places, in the order in which others
 * can see them.
 *
 *     struct writes *w = writes_new(print_one, self);
 *     writes_add(w, address, 4, 1);                       // before a launch; again for each place
 *     ... emu_launch with writes_observer(w) among its observers
 *     writes_free(w);
 *
 * A write that an order holds back is told of when the order lets it go, with the thread that made it. Stores,
 * atomics, reductions and asynchronous copies count; a compare-and-swap that fails writes nothing. What changed
 * between launches was written by the host, or by the device runtime. Reductions of a cluster's CTA that wait for the
 * CTA's turn (native order) are told of when they are made. */
#ifndef HEDDLE_DETERMINISM_RECORD_WRITES_H
#define HEDDLE_DETERMINISM_RECORD_WRITES_H

#include "emu/order.h"

enum { WRITES_MOST_BYTES = 1 << 26, WRITES_MOST_WIDTH = 16 };

enum write_kind { WRITE_STORE, WRITE_ATOMIC, WRITE_RED, WRITE_COPY, WRITE_BETWEEN };
extern const char *const write_kind_names[]; /* "store", "atomic" */
struct write {
    size_t place; /* of the places that were added, from 0 on */
    uint64_t element, address;
    uint32_t width;
    const uint8_t *before, *after; /* the whole element's bytes */
    enum write_kind kind;
    const char *op;     /* of atomics and reductions: "add"; else NULL */
    const char *kernel; /* of BETWEEN: of the launch that follows */
    uint64_t launch;    /* its number among those that were watched, from 1 on */
    bool known;         /* the thread is; else only warp and place are. Not of BETWEEN */
    uint32_t cta[3], thread[3], warp; /* the warp's number in the CTA */
    struct emu_location where;
};

struct writes;
struct writes *writes_new(void (*tell)(void *self, const struct write *), void *self);
void writes_free(struct writes *w); /* NULL is allowed */
/* `count` elements of `width` bytes (at most WRITES_MOST_WIDTH). false: that makes more than WRITES_MOST_BYTES, or is
 * none. */
bool writes_add(struct writes *w, uint64_t address, uint32_t width, uint64_t count);
/* The place is watched no longer. */
void writes_end(struct writes *w, size_t place);
size_t writes_places(const struct writes *w);
const struct emu_observer *writes_observer(struct writes *w);
/* Bytes that were not as told when a launch had ended: for tests. */
uint64_t writes_missed(const struct writes *w);

#endif
