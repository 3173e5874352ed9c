/* determinism/views/views.h: an operational form of PTX's memory model: which writes each load may read.
 *
 * Views after Kang, Hur, Lahav, Vafeiadis, Dreyer, "A promising semantics for relaxed-memory concurrency", POPL 2017, with
 * the scopes of the PTX ISA ("Memory Consistency Model"). Every write takes its place in the coherence order of its sector
 * at once; the freedom is in the reads and in that place:
 *
 *   late stores      A message stays invisible for a while, to threads whose view does not contain it. Another thread's
 *                    store may take its place before an invisible message in coherence order.
 *   late atomics     So may an atomic, and read what was there before. A store or atomic may so come before an atomic if the
 *                    result of that one stays the same or is not used.
 *   stale loads      A load may read any message that is not older than the newest one in its thread's view. A strong load
 *                    adds what it read to the view (observation order), a weak load does not.
 *   narrow scopes    A release pattern and an acquire pattern synchronise only if the scope of each includes the other
 *                    thread. An atomic is atomic only against writes that are morally strong with it.
 *
 * Together they give message passing, store buffering, 2+2W, R, WRC, RWC, ISA2, IRIW and weak reads that disagree, and
 * nothing that the axioms forbid (tests/order/litmus.c). Lanes of a warp share one view, which is never too small.
 *
 *     views_begin(v, m, &settings);
 *     verdict = views_access(v, a);          // of emu_order.access
 *     views_sync(v, s);                      // of emu_order.sync
 *
 * What goes around it (asynchronous copies, textures, calls of the runtime) drops the histories that it touches; waits for
 * such operations make the warp see everything that was written until then. */
#ifndef HEDDLE_DETERMINISM_VIEWS_VIEWS_H
#define HEDDLE_DETERMINISM_VIEWS_VIEWS_H

#include "emu/order.h"

struct views;

struct views_settings { /* of a launch */
    uint32_t
        late_for; /* the longest time that a store is invisible, in accesses; 0: stores are never late */
    /* Of loads that may be stale. Weak ones mostly are, strong ones mostly are not, so each number counts the rare case: */
    uint32_t
        fresh_one_in; /* one of so many weak loads is not stale; 0: none is stale, strong or weak */
    uint32_t stale_one_in; /* one of so many strong loads is stale; 0: none */
    bool late_atomics;     /* atomics may take place before invisible stores and atomics */
    bool ignores_scopes;   /* every scope is as wide as the GPU */
    bool has_shared;       /* it is asked about every access of shared memory */
    /* Returns 0 .. count - 1: one of `count` alternatives. Where it is set, a store may stay invisible for any time
     * unless late_for is 0, and any load may be stale unless fresh_one_in (weak loads) or stale_one_in (strong loads)
     * is 0; the numbers mean nothing else. NULL: choices are made by chance. */
    uint32_t (*choose)(void *self, uint32_t count);
    void *choose_self;
};

struct views *views_new(void);
void views_free(struct views *v);
/* state: of the generator that choices are drawn from (base/rng.h). */
void views_begin(struct views *v, struct emu_machine *m, const struct views_settings *settings,
                 uint64_t *state);
enum emu_verdict views_access(struct views *v, const struct emu_access *a);
void views_sync(struct views *v, const struct emu_sync *s);
/* A launch has failed: stores of global memory that are still invisible are lost. */
void views_lose_late_stores(struct views *v);
/* Whether the bounded sizes of views and histories have had an effect on the launch: then it may depend on the order of
 * accesses that have nothing to do with each other. (The bounded depth of one sector's history is no such effect.) */
bool views_were_full(const struct views *v);
/* Of the launch: equal if its loads and atomics have read the same stores, and the stores to each byte came in the same
 * order. What a warp reads again and again by one instruction (polling) counts once. Writes that are no longer in a
 * history, asynchronous copies, textures, barriers and fences make no difference: it may be equal for two launches that
 * differ in these. */
uint64_t views_execution(const struct views *v);
/* From now on all threads see memory as it is now. */
void views_settle(struct views *v);

#endif
