/* emu/speculate/conflict_free.h: one conflict-free run of a launch.
 *
 * Two warps conflict if one changes a byte that the other loads or changes. In shared memory only accesses between the
 * same two barriers of the whole CTA conflict. Reductions that commute do not conflict with others of their kind. A
 * launch without conflicts leaves the same bytes under every order, so it may run without the order.
 *
 *     m.conflict_free = conflict_free_new(&m, tagged_sites, false, NULL, NULL); // of a program lowered with LOWER_TAGGED
 *     launch_run(&m, ...);                                                      // natively, on any number of host threads
 *     switch (conflict_free_end(m.conflict_free, faulted)) ...
 *
 * How it works. Each word that may be both loaded and changed has an ownership tag: the warp that accessed it, or
 * "several warps have loaded it" (ownership.h). Bytes that a store overwrites go into an undo log. Loads from
 * allocations that no warp changes need no tag, until a store to the allocation occurs; then memory is restored and the
 * run begins again, with tags for the loads of that instruction. The same holds for loads of shared memory (tagged if a
 * CTA loads and stores between two barriers), for reductions, and for small allocations. Reductions of global memory
 * that do not commute go into a log (deferred.h) instead of memory.
 *
 * With by_thread, conflicts are between threads instead of warps: a launch without them has no data races.
 *
 * Only speculation.c calls these functions; the scheduler calls the hooks of conflict_free_speculation. This file does
 * not decide whether a launch is speculated, and does not know the order. */
#ifndef HEDDLE_EMU_SPECULATE_CONFLICT_FREE_H
#define HEDDLE_EMU_SPECULATE_CONFLICT_FREE_H

#include "emu/ops/exec.h"

struct conflict_free_run;
struct mem_block;
struct emu_observer;

enum conflict_free_result {
    CONFLICT_FREE_COMMITTED, /* no conflicts: memory is as every order leaves it */
    /* memory is restored; the caller must repeat the run, in which more sites are tagged */
    CONFLICT_FREE_RETRY,
    CONFLICT_FREE_FAILED, /* memory is restored; there was a conflict or a fault */
};
enum { TAG_LOADS, TAG_REDUCTIONS, TAG_STORES, TAG_KINDS, TAG_ALL = 3 };
struct deferred_log;
/* tagged: for each site, whether its loads have tags from the beginning; after the sites one element for each of
 * TAG_KINDS: whether loads of shared memory and reductions of shared memory have tags, and whether stores leave the tag
 * of their warp instead of TAG_ONCE. The run adds sites that need tags. observer: its footprint() is called, in runs on
 * one host thread; NULL: none. log: receives the reductions of global memory, and the events ordered with them; NULL:
 * reductions are executed. A conflict ends the run as a fault (EMU_BAD_ORDER). */
struct conflict_free_run *conflict_free_new(const struct emu_machine *m, uint8_t *tagged,
                                            bool by_thread, const struct emu_observer *observer,
                                            struct deferred_log *log);
/* Ends and frees the run. faulted: the run ended with a fault. */
enum conflict_free_result conflict_free_end(struct conflict_free_run *run, bool faulted);

#endif
