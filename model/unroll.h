/* model/unroll.h: loop unrolling in a trace: merges several iterations of small loops into one block, as the assembler does.
 *
 *     struct unroll u;
 *     unroll_take(trace, false, &u);
 *     schedule_take(&u.trace, &s);
 *     ...
 *     unroll_free(&u);                         // after schedule_free()
 *
 * A loop over an array has a load and its use in each iteration, so in the order of PTX a warp waits for each load. ptxas
 * unrolls it by four and has four loads in flight. The trace says which loops ptxas unrolls (ptx/unroll.h). Here the
 * iterations of each warp are grouped as machine code executes them: by four while there are four, then two, then one. A
 * group is a block of its own with the instructions of its iterations, which model/schedule.h reorders. Registers that carry
 * values from one iteration to the next are renamed for each iteration, so that iterations depend on each other only through
 * values and accesses to the same memory; pointer chasing does not become faster.
 *
 * Lanes that leave the loop earlier than others have their last iterations together with the others' (if the trace has
 * numbers of active lanes), in as many groups as machine code has; their accesses stay at their places in the trace.
 *
 * Within a group iterations have no comparison and no branch. If an order counts instructions, both are kept, and the
 * branch costs as much as the comparison. (Machine code also needs fewer additions for addresses.) The number of lanes of a
 * group is the mean over its iterations. */
#ifndef HEDDLE_MODEL_UNROLL_H
#define HEDDLE_MODEL_UNROLL_H

#include "emu/trace.h"

/* The most loads of several iterations that are scheduled together. ptxas keeps so many values in registers if a thread has 32
 * registers, the number with which an SM can hold all its threads (18 to 24 loads are before the first use if there are more). */
enum { UNROLL_LOADS = 24 };

struct unroll {
    struct emu_trace trace; /* the result; equal to the given trace if it has no such loop */
    void *owned[8];         /* memory that unroll_free() frees */
};

/* Unrolls the loops of a trace. `keeps`: the number of executed instructions does not change. */
void unroll_take(const struct emu_trace *t, bool keeps, struct unroll *u);
void unroll_free(struct unroll *u);

#endif
