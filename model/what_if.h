/* model/what_if.h: how long a launch would take if some of its instructions did their work in a better way.
 *
 *     uint8_t changes[...] = {0};
 *     for (size_t i = 0; i < counts->instruction_count; i++) changes[i] = WHAT_IF_COALESCED;   // of the hot line
 *     double cycles = what_if_cycles(counts, changes, &counted);
 *
 * The trace of the launch is copied and changed, and the timing model executes the copy. Nothing is guessed: the
 * saving is the difference of two estimates. The instructions that a rewrite would add are counted for tiles and shuffles
 * alone; elsewhere the saving is an upper bound.
 *
 *   WHAT_IF_COALESCED   accesses to global memory touch as few sectors as their bytes need: lanes side by side
 *                       (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory")
 *   WHAT_IF_UNBANKED    accesses to shared memory have no bank conflicts (the same, "Shared Memory and Memory Banks")
 *   WHAT_IF_SHARED      atomics on global memory of which several lanes name one address, or that one lane of each warp does,
 *                       are done in shared memory; the last one of each CTA to a line still goes to global memory,
 *                       for what the CTA adds at its end (the same, "Shared Memory")
 *   WHAT_IF_SHUFFLED    atomics that each warp of a CTA does once, all on one line: the values of a warp are added by
 *                       shuffles, those of the warps by the first one, which does one atomic for the CTA (CUDA C++
 *                       Programming Guide, "Warp Shuffle Functions"; model/what_if_shuffle.c)
 *   WHAT_IF_TILED       each sector that these loads of a CTA name is loaded from global memory once, by accesses of
 *                       whole lines; lanes read their words from shared memory (the same, "Shared Memory in Matrix
 *                       Multiplication"; model/what_if_tile.c)
 *   WHAT_IF_WIDER       one vector load instead of these loads of words that lie side by side (CUDA C++ Programming
 *                       Guide, "Device Memory Accesses"; model/what_if_wide.c)
 *   WHAT_IF_PACKED      blocks that a warp executes several times with idle lanes are executed less often, with all
 *                       lanes: lanes take over the iterations of others (model/what_if_pack.c)
 *
 * what_if_spread and what_if_resident change the whole launch (model/what_if_grid.c), what_if_four_results also
 * (model/what_if_merge.c). */
#ifndef HEDDLE_MODEL_WHAT_IF_H
#define HEDDLE_MODEL_WHAT_IF_H

#include "emu/trace.h"

#include <stdint.h>

struct emu_counts;

enum what_if_change {
    WHAT_IF_SAME,
    WHAT_IF_COALESCED,
    WHAT_IF_UNBANKED,
    WHAT_IF_SHARED,
    WHAT_IF_SHUFFLED,
    WHAT_IF_TILED,
    WHAT_IF_WIDER,
    WHAT_IF_PACKED,
    WHAT_IF_CHANGES
};

/* Of the changed instructions, in the trace. before and after: sectors (coalesced, tiled), passes, rounds, loads
 * (wider), or warp instructions (packed). */
struct what_if_counted {
    uint64_t accesses, before, after;
};

/* Cycles of the launch with these changes, one for each of counts->instructions; 0: it has no trace, or the changes
 * change nothing (then counted->after is not below counted->before). */
double what_if_cycles(const struct emu_counts *c, const uint8_t *changes,
                      struct what_if_counted *counted);

/* Whether instruction number `place` of counts->instructions loads from global memory through the caches. */
bool what_if_is_load(const struct emu_counts *c, uint32_t place);

/* Whether it is an atomic whose operations on one address can be combined before: not cas, not exch. */
bool what_if_is_reduction(const struct emu_counts *c, uint32_t place);

/* Sets WHAT_IF_WIDER for the loads that could be one vector load: instruction `first` and those behind it in its block
 * whose words lie beside its own. false: there are none. `changes` is all WHAT_IF_SAME; nothing else may be set in it
 * for what_if_cycles. */
bool what_if_find_wider(const struct emu_counts *c, uint32_t first, uint8_t *changes);

/* Cycles of the launch with `parts` times as many CTAs, each of which executes its part of the iterations of loops;
 * what a warp executes once, it executes in each of them. 0: as above. */
double what_if_spread(const struct emu_counts *c, uint32_t parts);

/* Cycles of the launch with these changes, in which each thread computes the results of four: a quarter of the CTAs, each
 * for 2 x 2 neighbours. 0: as above, and if the grid cannot be divided so, its warps take different paths, or not all
 * of its CTAs were traced. */
double what_if_four_results(const struct emu_counts *c, const uint8_t *changes,
                            struct what_if_counted *counted);

/* One more CTA resident on an SM. */
struct what_if_residence {
    uint32_t ctas;      /* resident then */
    uint32_t registers; /* of a thread that allow this, at most; 0: registers do not limit */
    uint32_t shared; /* bytes of a CTA that allow this, at most; 0: shared memory does not limit */
    double cycles;   /* of the launch then */
};
/* false: neither registers nor shared memory limit the CTAs of an SM, there are not as many CTAs, or no trace. Code
 * that needs fewer registers is taken to be the same code. */
bool what_if_resident(const struct emu_counts *c, struct what_if_residence *out);

#endif
