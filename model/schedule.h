/* model/schedule.h: list scheduling: reorders the instructions of a trace as an assembler does.
 *
 *     struct schedule s;
 *     schedule_take(trace, &s);
 *     timing_run(&s.trace, &machine, slots, l1_bytes, &t);
 *     schedule_free(&s);
 *
 * A GPU executes machine code, not PTX, and its warps issue in order. The assembler moves loads before the
 * instructions that use them: for sixteen copies from global to shared memory PTX has load, store, load, store, and
 * each store would wait for DRAM; machine code has the sixteen loads first.
 *
 * This is list scheduling within basic blocks (Gibbons and Muchnick, "Efficient Instruction Scheduling for a
 * Pipelined Architecture", PLDI 1986): the next instruction is the one whose operands are ready first; of several, the one
 * with the longest chain of dependent instructions. Stores stay behind earlier loads and stores of the same memory;
 * barriers, fences, atomics and volatile accesses are not moved; at most SCHEDULE_LOADS loads are in flight,
 * since each needs a register.
 *
 * Machines that were fitted to a simulator of PTX do not use it (`scheduled` in model/timing_numbers.def). */
#ifndef HEDDLE_MODEL_SCHEDULE_H
#define HEDDLE_MODEL_SCHEDULE_H

#include "emu/trace.h"

enum {
    SCHEDULE_LOADS = 32,
    SCHEDULE_WINDOW = 256 /* instructions; longer blocks are scheduled in pieces */
};

struct schedule {
    struct emu_trace trace; /* the result; unchanged parts belong to the given trace */
    void *owned[6];         /* memory that schedule_free() frees */
};

/* Replaces the words of all warps of a trace. `put` writes the new words of a warp to `to`, at most as many as it had, and
 * returns their number. New memory is in owned[]; the caller frees it with free(). */
void schedule_rewrite(struct emu_trace *trace, void *owned[4],
                      uint32_t (*put)(void *self, const struct trace_warp *w, uint32_t *to),
                      void *self);

void schedule_take(const struct emu_trace *t, struct schedule *s);
void schedule_free(struct schedule *s);

#endif
