/* emu/speculate/conflict_free.h: one conflict-free run of a launch.
 *
 * Two warps conflict if one changes a byte that the other loads or changes. In shared memory only accesses between the
 * same two barriers of the whole CTA conflict. Reductions that commute do not conflict with others of their kind. A launch
 * without conflicts leaves the same bytes under every order, and so needs none.
 *
 *     m.conflict_free = conflict_free_new(&m, tagged_sites, false, NULL, NULL); // of a program lowered with LOWER_TAGGED
 *     launch_run(&m, ...);                                                      // natively, on any number of host threads
 *     switch (conflict_free_end(m.conflict_free, faulted)) ...
 *
 * How it works. Each word that may be both loaded and changed has an ownership tag: the warp that did so, or "several have
 * loaded it" (ownership.h). What a store overwrites goes into an undo log. Loads from allocations that no warp changes
 * need no tag, until a store to the allocation occurs; then memory is restored and the run begins again, with tags for
 * the loads of that instruction. The same holds for loads of shared memory (tagged if a CTA loads and stores between two
 * barriers), for reductions, and for small allocations. Reductions of global memory that do not commute go into a log
 * (deferred.h) instead of memory.
 *
 * With by_thread, conflicts are those of threads: a launch without them has no data races.
 *
 * Called by speculation.c alone; the scheduler sees it as conflict_free_speculation. It does not decide whether a launch
 * is tried, and does not know the order. */
#ifndef HEDDLE_EMU_SPECULATE_CONFLICT_FREE_H
#define HEDDLE_EMU_SPECULATE_CONFLICT_FREE_H

#include "emu/ops/exec.h"

struct conflict_free_run;
struct mem_block;
struct emu_observer;

enum conflict_free_result {
    CONFLICT_FREE_COMMITTED, /* no conflicts: memory is as every order leaves it */
    CONFLICT_FREE_RETRY,     /* memory is restored; try again, now that more sites are tagged */
    CONFLICT_FREE_FAILED,    /* memory is restored; there was a conflict, or a fault */
};
enum { TAG_LOADS, TAG_REDUCTIONS, TAG_STORES, TAG_KINDS, TAG_ALL = 3 };
struct deferred_log;
/* tagged: by site, whether its loads have tags from the beginning; behind the sites, by TAG_KINDS, whether loads of shared
 * memory have, its reductions, and stores one for each warp. The run adds to it. observer: gets the footprint, of a run on one host
 * thread; NULL: none.
 * log: gets the reductions of global memory, and all events that have a place among them; NULL: they are carried out. A
 * conflict ends the run as a fault (EMU_BAD_ORDER). */
struct conflict_free_run *conflict_free_new(const struct emu_machine *m, uint8_t *tagged,
                                            bool by_thread, const struct emu_observer *observer,
                                            struct deferred_log *log);
/* faulted: the run ended with a fault. Frees the run. */
enum conflict_free_result conflict_free_end(struct conflict_free_run *run, bool faulted);

#endif
