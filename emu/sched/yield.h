/* emu/sched/yield.h: forward progress on the SIMT stack (EMU_YIELD).
 *
 *     if (yield_is_due(g, waits)) ...       // after a turn of a group
 *     if (yield_stuck(c)) ...               // when nothing of a CTA, or of the launch, can run
 *
 * CUDA guarantees that every lane makes progress on sm_70 and later ("Independent Thread Scheduling"). On the SIMT
 * stack lanes that diverged wait for those that run. If the running lanes only wait for the waiting lanes, the CTA
 * gives up its stacks (emu_cta.its): from then on diverged lanes of its warps become contexts of their own, as with
 * --divergence=its (its.c). Until then a launch runs as on the stack, and as fast.
 *
 * Called by launch.c and ordered.c. Only programs in which lanes may wait for each other yield (emu_program.yields), and
 * the decision depends on the CTA's own turns alone, so results do not depend on the number of host threads.
 *
 * A CTA that yielded does not return to its stacks. A loop that stores in each round, or changes what its warp waits
 * for, is found only because the same lanes wait for long. */
#ifndef HEDDLE_EMU_SCHED_YIELD_H
#define HEDDLE_EMU_SCHED_YIELD_H

#include "emu/ops/exec.h"

/* To be called after a turn of a group that can run, or waits, but not at a CTA barrier. `waits`: the group is known to
 * repeat a loop. Returns whether its CTA yields now: because the group repeats a loop while lanes wait on its stack, or
 * because the same lanes have waited at `patience` successive calls. */
bool yield_is_due(struct emu_group *g, bool waits, u32 patience);

/* To be called when no group of the CTA can run: makes lanes that wait on stacks into contexts that can run. Whether
 * there were such lanes. */
bool yield_stuck(struct emu_cta *c);

#endif
