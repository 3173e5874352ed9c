/* determinism/views/views.h: an operational form of PTX's memory model: which writes each load may read.
 *
 * Views after Kang, Hur, Lahav, Vafeiadis, Dreyer, "A promising semantics for relaxed-memory concurrency", POPL 2017,
 * with the scopes of the PTX ISA ("Memory Consistency Model"). Every write takes its place in the coherence order of
 * its sector at once. Choices remain for that place and for the values of reads:
 *
 *   late stores      A message stays invisible for some time to threads whose view does not contain it. Another thread's
 *                    store may take its place before an invisible message in coherence order.
 *   late atomics     An atomic may also take its place before invisible messages, and reads the value at that place. So
 *                    a store or atomic may come before an atomic if the result of the latter stays the same or is not
 *                    used.
 *   stale loads      A load may read any message that is not older than the newest one in its thread's view. A strong
 *                    load adds the message to the view (observation order), a weak load does not.
 *   narrow scopes    A release pattern and an acquire pattern synchronise only if the scope of each includes the other
 *                    thread. An atomic is atomic only against writes that are morally strong with it.
 *
 * Together they allow message passing, store buffering, 2+2W, R, WRC, RWC, ISA2, IRIW and weak reads that disagree, and
 * nothing that the axioms forbid (tests/order/litmus.c). Lanes of a warp share one view, which is never too small.
 *
 *     views_begin(v, m, &settings);
 *     verdict = views_access(v, a);          // of emu_order.access
 *     views_sync(v, s);                      // of emu_order.sync
 *
 * Operations that do not use views (asynchronous copies, textures, calls of the runtime) drop the histories of the
 * sectors that they access; after waiting for such operations a warp sees everything that was written until then. */
#ifndef HEDDLE_DETERMINISM_VIEWS_VIEWS_H
#define HEDDLE_DETERMINISM_VIEWS_VIEWS_H

#include "emu/order.h"

struct views;

struct views_settings { /* settings of a launch */
    /* The longest time for which a store is invisible, in accesses. 0: stores are never late. */
    uint32_t late_for;
    /* For loads that may be stale. Weak loads mostly are stale and strong loads mostly are not, so each number gives
     * the rare case. */
    /* One of fresh_one_in weak loads is not stale. 0: no load is stale, strong or weak. */
    uint32_t fresh_one_in;
    uint32_t stale_one_in; /* one of stale_one_in strong loads is stale; 0: none */
    bool late_atomics;     /* atomics may take place before invisible stores and atomics */
    bool ignores_scopes;   /* every scope is as wide as the GPU */
    bool has_shared;       /* views_access is called for every access of shared memory */
    /* Chooses one of `count` alternatives: returns 0 .. count - 1. If it is set, a store may stay invisible for any
     * time unless late_for is 0, and any load may be stale unless fresh_one_in (weak loads) or stale_one_in (strong
     * loads) is 0; the numbers have no other meaning. NULL: choices are random. */
    uint32_t (*choose)(void *self, uint32_t count);
    void *choose_self;
};

struct views *views_new(void);
void views_free(struct views *v);
/* state: state of the random number generator (base/rng.h). */
void views_begin(struct views *v, struct emu_machine *m, const struct views_settings *settings,
                 uint64_t *state);
enum emu_verdict views_access(struct views *v, const struct emu_access *a);
void views_sync(struct views *v, const struct emu_sync *s);
/* A launch has failed: discards stores of global memory that are still invisible. */
void views_lose_late_stores(struct views *v);
/* Whether the bounded sizes of views and histories have had an effect on the launch: then its results may depend on the
 * order of independent accesses. (The bounded depth of one sector's history is no such effect.) */
bool views_were_full(const struct views *v);
/* Identifies the execution of the launch: equal if its loads and atomics have read the same stores, and the stores to
 * each byte came in the same order. Repeated reads of the same value by one instruction (polling) count once. Writes
 * that are no longer in a history, asynchronous copies, textures, barriers and fences are ignored: launches that differ
 * in these may have equal numbers. */
uint64_t views_execution(const struct views *v);
/* From now on all threads see memory as it is now. */
void views_settle(struct views *v);

#endif
