/* ptx/polling.h: loops that wait for memory.
 *
 *     bool waits = ptx_polls(arena, f);        // f: ptx_flow_new(arena, cfg)
 *
 * A polling loop has a strong load of global memory (volatile, relaxed, acquire or mmio; or an atom.exch) whose value
 * decides whether the loop ends: a flag, a barrier of the grid, a lock. How often it goes round depends on when another
 * thread stores. Of an exchange that writes the same value to the same place in each round it is enough that a branch of the
 * loop depends on what it finds: a lock that is tried until enough is done under it. Atomics with other operations do not count:
 * what they return depends on the order of the threads, and no thread waits. A value that goes through memory or a call is not followed. */
#ifndef HEDDLE_PTX_POLLING_H
#define HEDDLE_PTX_POLLING_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct ptx_flow;

enum ptx_poll {
    PTX_POLL_NONE, /* not the access of a polling loop */
    PTX_POLL_MOVING, /* its address may be another one in each round: it may follow a list, and wait for nothing */
    PTX_POLL_ANY, /* more than one value may end the loop, or what ends it was not followed */
    PTX_POLL_VALUE, /* one value alone ends it, the same in each round: the loop goes on until the value is equal */
};

/* By statement of the function's body: enum ptx_poll of its access. NULL: the function has no polling loop. The result and
 * scratch memory are taken from the arena. */
const uint8_t *ptx_find_polls(struct arena *arena, const struct ptx_flow *f);
/* By statement: whether it is in the innermost loop of such an access. `polls`: the result of ptx_find_polls(). */
const bool *ptx_find_polling_loops(struct arena *arena, const struct ptx_flow *f,
                                   const uint8_t *polls);
/* Whether the function has a polling loop. */
bool ptx_polls(struct arena *arena, const struct ptx_flow *f);

/* A block of the loop whose branch leaves it depending on the value that statement `load` of the loop reads; PTX_NONE: there
 * is none. `marked`: scratch memory of f->reg_count bools. */
uint32_t ptx_loop_exit_by(const struct ptx_flow *f, uint32_t loop, uint32_t load, bool *marked);

#endif
