/* model/schedule.h: instructions in the order in which a GPU's assembler puts them.
 *
 *     struct schedule s;
 *     schedule_take(trace, &s);
 *     timing_run(&s.trace, &machine, slots, l1_bytes, &t);
 *     schedule_free(&s);
 *
 * PTX is not what a GPU carries out: its warps issue in order, and what makes machine code of PTX moves loads away from
 * what waits for them. In each basic block instructions are taken by a list scheduler: whichever has its
 * operands first, of several the one behind which the longest chain hangs. Stores stay behind loads and stores of
 * the same memory, barriers, fences, atomics and volatile accesses in their places; not more than
 * SCHEDULE_LOADS loads are under way, since each takes a register.
 *
 * (A load from global memory into shared, sixteen times: PTX has load, store, load, store, so that each would wait for
 * DRAM; machine code has sixteen loads first.) */
#ifndef HEDDLE_MODEL_SCHEDULE_H
#define HEDDLE_MODEL_SCHEDULE_H

#include "emu/trace.h"

enum { SCHEDULE_LOADS = 32 };

struct schedule {
    struct emu_trace trace; /* of the same CTAs; what is not in another order is the given one's */
    void *room[6];
};

void schedule_take(const struct emu_trace *t, struct schedule *s);
void schedule_free(struct schedule *s);

#endif
