/* emu/speculate/conflict_free.h: launches whose warps have nothing to do with each other: no byte that one stores to is loaded or stored
 * to by another one. In shared memory only what is between two barriers of the whole CTA counts, and reductions that may
 * come in any order may meet others of their kind, if nobody else comes to the word. Such a launch leaves the same bytes
 * under every order, and may go without one.
 *
 *     m.apart = conflict_free_new(&m, marked, false, NULL); // the program is lowered with LOWER_TAGGED
 *     launch_run(&m, ...);
 *     switch (conflict_free_end(m.apart, faulted)) ...
 *
 * It is run natively, and watched: each word that may be both loaded and changed has a mark that says which warp
 * did, or that several have loaded it. Loads of allocations that nobody changes need none: such a load is as fast
 * as if nobody watched, until it turns out that somebody stores to what it loaded from. Then the launch is taken back,
 * and begins again with loads of that instruction marked. Likewise loads of shared memory, which are marked if a
 * CTA has loads and stores between two barriers, and reductions, if it has anything else; those of a
 * small allocation, if anything else is done there.
 *
 * Other reductions of global memory, too, may come to words that nobody else comes to, if they only go into a log (deferred.h).
 *
 * By thread it is the same of threads: such a launch has no races. */
#ifndef HEDDLE_EMU_SPECULATE_CONFLICT_FREE_H
#define HEDDLE_EMU_SPECULATE_CONFLICT_FREE_H

#include "emu/ops/exec.h"

struct conflict_free;
struct mem_block;
struct emu_observer;

enum conflict_free_result {
    CONFLICT_FREE_COMMITTED,   /* its warps were apart: memory is as every order leaves it */
    CONFLICT_FREE_RETRY,       /* memory is as it was; `marked` has more in it */
    CONFLICT_FREE_ROLLED_BACK, /* memory is as it was */
};
enum { TAG_LOADS, TAG_REDUCTIONS, TAG_STORES, TAG_KINDS, TAG_ALL = 3 };
struct deferred_log;
/* marked: by site, which loads are marked from the beginning, and behind those, whether loads of shared memory are,
 * reductions of it, and stores with whose they are; it is added to. observer: is told of bytes; NULL is allowed. log:
 * reductions of global memory go there, of whatever kinds, and all else that has its place among them; NULL: they are
 * done. Ends the launch (EMU_BAD_ORDER) when it is seen not to be apart. */
struct conflict_free *conflict_free_new(const struct emu_machine *m, uint8_t *marked,
                                        bool by_thread, const struct emu_observer *observer,
                                        struct deferred_log *log);
/* faulted: the launch did. Frees it. */
enum conflict_free_result conflict_free_end(struct conflict_free *p, bool faulted);

#endif
