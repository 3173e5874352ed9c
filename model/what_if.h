/* model/what_if.h: estimates the time of a launch after a hypothetical rewrite of some of its instructions.
 *
 *     uint8_t changes[...] = {0};
 *     for (size_t i = 0; i < counts->instruction_count; i++) changes[i] = WHAT_IF_COALESCED;   // those of the hot line
 *     double cycles = what_if_cycles(counts, changes, &counted);
 *
 * The functions copy and change the trace of the launch, and the timing model executes the copy: the saving is the
 * difference of two estimates. Only for tiles and shuffles does the copy have the instructions that a rewrite would add;
 * for other changes the saving is an upper bound.
 *
 *   WHAT_IF_COALESCED   accesses to global memory touch as few sectors as their bytes need: consecutive addresses
 *                       (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory")
 *   WHAT_IF_UNBANKED    accesses to shared memory have no bank conflicts (the same, "Shared Memory and Memory Banks")
 *   WHAT_IF_SHARED      atomics on global memory with one address for several lanes, or executed by one lane of each warp,
 *                       execute in shared memory; the last one of each CTA to a line still goes to global memory,
 *                       for the sum that the CTA adds at its end (the same, "Shared Memory")
 *   WHAT_IF_SHUFFLED    atomics that each warp of a CTA executes once, all on one line: shuffles add the values of a
 *                       warp; the first warp adds the sums of all warps and executes one atomic for the CTA (CUDA C++
 *                       Programming Guide, "Warp Shuffle Functions"; model/what_if_shuffle.c)
 *   WHAT_IF_TILED       each sector of these loads is loaded from global memory once for each CTA, by accesses of
 *                       whole lines; lanes read their words from shared memory (the same, "Shared Memory in Matrix
 *                       Multiplication"; model/what_if_tile.c)
 *   WHAT_IF_WIDER       one vector load instead of these loads of adjacent words (CUDA C++ Programming
 *                       Guide, "Device Memory Accesses"; model/what_if_wide.c)
 *   WHAT_IF_PACKED      blocks that a warp executes several times with idle lanes are executed less often, with all
 *                       lanes: lanes take over the iterations of others (model/what_if_pack.c)
 *
 * what_if_spread(), what_if_resident() (model/what_if_grid.c) and what_if_four_results() (model/what_if_merge.c) change
 * the whole launch. */
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

/* Counts of the changed instructions in the trace. `before` and `after` are in units of the change: sectors (coalesced,
 * tiled), passes, rounds, loads (wider), or warp instructions (packed). */
struct what_if_counted {
    uint64_t accesses, before, after;
};

/* Cycles of the launch with these changes: changes[] has an enum what_if_change for each of counts->instructions. 0: the
 * launch has no trace, or the changes have no effect (then counted->after is not below counted->before). */
double what_if_cycles(const struct emu_counts *c, const uint8_t *changes,
                      struct what_if_counted *counted);

/* Whether the instruction with index `place` in counts->instructions loads from global memory through the caches. */
bool what_if_is_load(const struct emu_counts *c, uint32_t place);

/* Whether the instruction is an atomic whose operations on one address can be combined beforehand: not cas, not exch. */
bool what_if_is_reduction(const struct emu_counts *c, uint32_t place);

/* Sets WHAT_IF_WIDER for loads that could be one vector load: instruction `first` and later loads of adjacent words in its
 * block. false: there are none. All changes[] must be WHAT_IF_SAME before, and the caller must not set others for
 * what_if_cycles(). */
bool what_if_find_wider(const struct emu_counts *c, uint32_t first, uint8_t *changes);

/* Cycles of the launch with `parts` times as many CTAs, each with a part of the iterations of loops; instructions that a
 * warp executes once are in each part. 0: as for what_if_cycles(). */
double what_if_spread(const struct emu_counts *c, uint32_t parts);

/* Cycles of the launch with these changes, if each thread computes the results of four threads: a quarter of the CTAs, each
 * for 2 x 2 neighbours. 0: as for what_if_cycles(), or the grid cannot be divided so, its warps take different paths, or
 * not all of its CTAs were traced. */
double what_if_four_results(const struct emu_counts *c, const uint8_t *changes,
                            struct what_if_counted *counted);

/* The launch with one more resident CTA on each SM. */
struct what_if_residence {
    uint32_t ctas;      /* number of resident CTAs with one more */
    uint32_t registers; /* most registers of a thread that allow it; 0: registers are no limit */
    uint32_t shared;    /* most bytes of a CTA that allow it; 0: shared memory is no limit */
    double cycles;      /* cycles of the launch with one more */
};
/* false: neither registers nor shared memory limit the resident CTAs, the launch has not so many CTAs, or it has no trace.
 * The code is assumed to be the same with fewer registers. */
bool what_if_resident(const struct emu_counts *c, struct what_if_residence *out);

#endif
