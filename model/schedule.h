/* model/schedule.h: puts the instructions of a trace into the order of machine code.
 *
 *     struct schedule s;
 *     schedule_take(trace, &s);
 *     timing_run(&s.trace, &machine, slots, l1_bytes, &t);
 *     schedule_free(&s);
 *
 * A GPU executes machine code, not PTX, and its warps issue in order. The assembler moves loads away from the
 * instructions that need them: of sixteen copies from global to shared memory, PTX has load, store, load, store, and
 * each store would wait for DRAM; machine code has sixteen loads first.
 *
 * This is list scheduling within basic blocks (Gibbons and Muchnick, "Efficient Instruction Scheduling for a
 * Pipelined Architecture", PLDI 1986): the instruction whose operands are ready first is next; of several, the one
 * with the longest chain of dependent instructions behind it. Stores stay behind loads and stores of the same memory;
 * barriers, fences, atomics and volatile accesses keep their places; at most SCHEDULE_LOADS loads are in flight,
 * since each needs a register.
 *
 * Machines that were fitted to a simulator of PTX do without (`scheduled` in model/timing_numbers.def). */
#ifndef HEDDLE_MODEL_SCHEDULE_H
#define HEDDLE_MODEL_SCHEDULE_H

#include "emu/trace.h"

enum {
    SCHEDULE_LOADS = 32,
    SCHEDULE_WINDOW = 256 /* longer blocks are put in order in pieces */
};

struct schedule {
    struct emu_trace trace; /* of the same CTAs; what is not in another order is the given one's */
    void *owned[6];         /* what schedule_free() frees */
};

/* Another trace of the same CTAs and warps: `put` writes the words of each warp, at most as many as it had, and returns how many
 * there are. They and what holds them are in `owned`, for free(). */
void schedule_rewrite(struct emu_trace *trace, void *owned[4],
                      uint32_t (*put)(void *self, const struct trace_warp *w, uint32_t *to),
                      void *self);

void schedule_take(const struct emu_trace *t, struct schedule *s);
void schedule_free(struct schedule *s);

#endif
