/* model/unroll.h: puts several rounds of small loops into one block, as the assembler does.
 *
 *     struct unroll u;
 *     unroll_take(trace, false, &u);
 *     schedule_take(&u.trace, &s);
 *     ...
 *     unroll_free(&u);                         // behind schedule_free()
 *
 * A loop over an array has a load and its use in each round, so that in the order of PTX a warp waits for each load. ptxas makes
 * four rounds one and has four loads under way. Which loops it unrolls is in the trace (ptx/unroll.h). Here each warp's rounds of
 * such a loop are grouped as machine code executes them: by four as long as all are there, then two, then one. A
 * group is a block of its own, which has the instructions of its rounds, and model/schedule.h puts them in order. What a
 * round writes and the next one reads has a register of each round, so that rounds depend on each other where values do, and on
 * accesses to the same memory; a chain of pointers gains nothing.
 *
 * Lanes that leave the loop earlier than others have their last rounds together with the others' (of a trace that says
 * how many lanes are active), which takes as many groups as machine code has; what they load is where the trace has it.
 *
 * Within a group rounds have no comparison and no branch; but if an order counts instructions, each is there as often as before, and the
 * branch costs what the comparison does. (Machine code also needs fewer additions for addresses.) A group has the mean number of
 * lanes. */
#ifndef HEDDLE_MODEL_UNROLL_H
#define HEDDLE_MODEL_UNROLL_H

#include "emu/trace.h"

/* Loads of several rounds that are put in order together, at most: ptxas keeps so many values in registers where a thread has 32 of
 * these, with which an SM has registers for all its threads (18 to 24 loads come before the first use where there are more). */
enum { UNROLL_LOADS = 24 };

struct unroll {
    struct emu_trace trace; /* of the same CTAs; the given one, if it has no such loop */
    void *owned[8];         /* what unroll_free() frees */
};

/* `keeps`: each instruction is there as often as before. */
void unroll_take(const struct emu_trace *t, bool keeps, struct unroll *u);
void unroll_free(struct unroll *u);

#endif
