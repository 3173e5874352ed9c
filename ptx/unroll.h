/* ptx/unroll.h: predicts which loops ptxas unrolls.
 *
 *     const uint8_t *loops = ptx_find_unrolled(arena, f);     // f: ptx_flow_new(arena, cfg)
 *     if (loops && loops[stmt]) rounds = PTX_UNROLL_ROUNDS(loops[stmt]);
 *
 * ptxas unrolls small innermost loops, and then moves the loads of several iterations before the first use of a loaded value.
 * NVIDIA does not document which loops it unrolls, and by which factor. These rules come from experiments with ptxas 13.0 for
 * sm_90 (sm_75, sm_80 and sm_100 give the same): kernels with one loop each, whose body grew until ptxas did not unroll it.
 *
 *  - The loop has one exit, which compares a counter that changes by a constant with a loop invariant. If start and limit are
 *    constants, ptxas unrolls the loop to about 250 instructions, else by a factor of four.
 *  - The loop has no `.pragma "nounroll"`, barriers, fences, atomics, exchanges between lanes, calls, or divisions and roots with
 *    rounding modes (whose machine code has branches).
 *  - The loop does not both load and store global memory, even at addresses that cannot be equal, .nc loads included; the same
 *    holds for each memory that a generic address may be in.
 *  - The body has at most 49 instructions of machine code if it loads global or local memory, where loads and stores count twice;
 *    else at most 19, and 3 more for each load of shared memory, which does not count itself.
 *
 * The iterations that remain are executed by a loop of two and one of one iteration (PTX_UNROLL_HALVES); if the exit compares the
 * counter for equality, one by one (PTX_UNROLL_ONES). ptxas also unrolls loops of several basic blocks (it predicates small ones),
 * and loops with guarded instructions, volatile loads or asynchronous copies; the functions here do not find these. */
#ifndef HEDDLE_PTX_UNROLL_H
#define HEDDLE_PTX_UNROLL_H

#include <stdint.h>

struct arena;
struct ptx_flow;

enum ptx_unroll_rest {                    /* how machine code executes the remaining iterations */
                       PTX_UNROLL_HALVES, /* two at once, then one */
                       PTX_UNROLL_ONES,   /* one by one */
                       PTX_UNROLL_WHOLE,  /* all at once: their number is a constant */
};
#define PTX_UNROLL(rounds, rest) ((uint8_t)((rounds) | (rest) << 6))
#define PTX_UNROLL_ROUNDS(unrolled) ((unrolled)&63)
#define PTX_UNROLL_REST(unrolled) ((unrolled) >> 6)

/* For each statement of the function's body: PTX_UNROLL() for the backward branch of such a loop of one basic block, else 0.
 * NULL: there is no such loop. The result and scratch memory are in the arena. */
const uint8_t *ptx_find_unrolled(struct arena *arena, const struct ptx_flow *f);

#endif
