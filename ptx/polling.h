/* ptx/polling.h: finds polling loops: loops that busy-wait for a store by another thread.
 *
 *     bool waits = ptx_polls(arena, f);        // f: ptx_flow_new(arena, cfg)
 *
 * A polling loop has a strong load of global memory (volatile, relaxed, acquire or mmio; or an atom.exch) whose value
 * decides whether the loop ends: a flag, a barrier of the grid, a lock. The number of iterations depends on when another
 * thread stores. An exchange that writes the same value to the same address in each iteration also counts if any branch of
 * the loop depends on its result: the thread tries to take a lock until it has done enough work under the lock. Other atomics
 * do not count: their results depend on the order of the threads, and no thread waits. The analysis does not follow values
 * through memory or calls. */
#ifndef HEDDLE_PTX_POLLING_H
#define HEDDLE_PTX_POLLING_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct ptx_flow;

enum ptx_poll {
    PTX_POLL_NONE, /* the statement is not the access of a polling loop */
    PTX_POLL_MOVING, /* the address may change in each iteration: the loop may follow a list and not wait */
    PTX_POLL_ANY, /* more than one value may end the loop, or the condition is unknown */
    PTX_POLL_VALUE, /* the loop ends if and only if the access reads one value, the same in each iteration */
};

/* For each statement of the function's body: enum ptx_poll of its access. NULL: the function has no polling loop. The result
 * and scratch memory are in the arena. */
const uint8_t *ptx_find_polls(struct arena *arena, const struct ptx_flow *f);
/* For each statement: whether it is in the innermost loop around such an access. `polls`: the result of ptx_find_polls(). */
const bool *ptx_find_polling_loops(struct arena *arena, const struct ptx_flow *f,
                                   const uint8_t *polls);
/* Whether the function has a polling loop. */
bool ptx_polls(struct arena *arena, const struct ptx_flow *f);

/* A block of the loop whose last branch may leave the loop, depending on the value that statement `load` of the loop reads;
 * PTX_NONE: none. `marked`: scratch memory of f->reg_count bools. */
uint32_t ptx_loop_exit_by(const struct ptx_flow *f, uint32_t loop, uint32_t load, bool *marked);

#endif
