/* ptx/unroll.h: loops that the assembler unrolls.
 *
 *     const uint8_t *loops = ptx_find_unrolled(arena, f);     // f: ptx_flow_new(arena, cfg)
 *     if (loops && loops[stmt]) rounds = PTX_UNROLL_ROUNDS(loops[stmt]);
 *
 * ptxas unrolls small innermost loops, and then puts the loads of several rounds before the first use of one. Which loops,
 * and by how much, is not documented. What is here was found with ptxas 13.0 for sm_90, which does the same for sm_75, sm_80 and
 * sm_100: kernels with one loop each, whose body grew until it was no longer unrolled.
 *
 *  - A counter that changes by a constant is compared with something that the loop does not change, and this alone ends the loop.
 *    If start and limit are constants ptxas makes about 250 instructions of it, else four rounds.
 *  - Not with `.pragma "nounroll"`, barriers, fences, atomics, exchanges between lanes, calls, or divisions and roots that round
 *    (which have branches of their own).
 *  - Not where it both loads and stores global memory, whether the addresses may be equal or not, .nc included; so for each
 *    memory that addresses may reach.
 *  - The body is small: 49 instructions of machine code if it loads global or local memory, loads and stores counting twice. Else
 *    19, and 3 more for each load of shared memory, which counts as none then.
 *
 * Behind the four rounds there are two, and one, for what is left (PTX_UNROLL_HALVES); one by one where the counter is compared for
 * equality (PTX_UNROLL_ONES). Loops of several basic blocks (ptxas makes predicates of small ones), and those with guarded
 * instructions, volatile loads or asynchronous copies are unrolled by ptxas, too, and are not found here. */
#ifndef HEDDLE_PTX_UNROLL_H
#define HEDDLE_PTX_UNROLL_H

#include <stdint.h>

struct arena;
struct ptx_flow;

enum ptx_unroll_rest {                    /* how machine code executes the rounds that are left */
                       PTX_UNROLL_HALVES, /* two, then one */
                       PTX_UNROLL_ONES,
                       PTX_UNROLL_WHOLE, /* together, as their number is known */
};
#define PTX_UNROLL(rounds, rest) ((uint8_t)((rounds) | (rest) << 6))
#define PTX_UNROLL_ROUNDS(unrolled) ((unrolled)&63)
#define PTX_UNROLL_REST(unrolled) ((unrolled) >> 6)

/* By statement of the function's body: PTX_UNROLL() for a branch that closes such a loop of one basic block, else 0. NULL: there is
 * no such loop. The result and scratch memory are taken from the arena. */
const uint8_t *ptx_find_unrolled(struct arena *arena, const struct ptx_flow *f);

#endif
