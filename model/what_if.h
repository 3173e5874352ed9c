/* model/what_if.h: how long a launch would take if some of its instructions accessed memory in a better way.
 *
 *     uint8_t changes[...] = {0};
 *     for (size_t i = 0; i < counts->instruction_count; i++) changes[i] = WHAT_IF_COALESCED;   // of the hot line
 *     double cycles = what_if_cycles(counts, changes, &counted);
 *
 * The trace of the launch is copied with other accesses, and the timing model executes the copy. Nothing is guessed:
 * the saving is the difference of two estimates. The instructions that a rewrite would add (a tile in shared memory,
 * a reduction within a warp) are not counted, so the saving is an upper bound.
 *
 *   WHAT_IF_COALESCED   accesses to global memory touch as few sectors as their bytes need: lanes side by side
 *                       (CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory")
 *   WHAT_IF_UNBANKED    accesses to shared memory have no bank conflicts (the same, "Shared Memory and Memory Banks")
 *   WHAT_IF_SHARED      atomics on global memory are done in shared memory; what each CTA adds to global memory at its
 *                       end is not counted (the same, "Shared Memory") */
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
    WHAT_IF_CHANGES
};

struct what_if_counted {              /* of the changed instructions, in the trace */
    uint64_t accesses, before, after; /* sectors, passes, or rounds */
};

/* Cycles of the launch with these changes, one for each instruction; 0: it has no trace. */
double what_if_cycles(const struct emu_counts *c, const uint8_t *changes,
                      struct what_if_counted *counted);

#endif
