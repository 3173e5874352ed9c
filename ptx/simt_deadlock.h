/* ptx/simt_deadlock.h: loops in which lanes of a warp may wait for each other for ever.
 *
 *     ptx_simt_deadlock(m);          // m was checked without errors; adds warnings to m->diags
 *
 * Where lanes diverge and reconverge on a SIMT stack, a lane that leaves a loop waits for those of its warp that stay in
 * it. If one of these waits for a store that the lane makes behind the loop (the release of a lock), neither goes on: a
 * SIMT deadlock. A GPU with independent thread scheduling (Volta and later) executes such code.
 *
 * The rule is that of ElTantawy and Aamodt (MIMD Synchronization on SIMT Architectures, MICRO 2016, section 4): a loop
 * whose exit depends on a value that it reads from shared or global memory, and that the loop itself does not store, while
 * a store that may change the value is reachable from the reconvergence point of the exit, or is on the other side of a
 * branch that lanes of a warp may take both ways. "May" is meant: an address is followed back to the parameter, variable
 * or load that it was made from, and two addresses of one origin may be equal. Loops that one lane of each warp executes
 * (behind `threadIdx.x == constant`) and exits that a warp takes as one are left out. Calls are not followed. */
#ifndef HEDDLE_PTX_SIMT_DEADLOCK_H
#define HEDDLE_PTX_SIMT_DEADLOCK_H

#include <stddef.h>

struct ptx_module;

/* Returns how many loops were found: each is a warning with notes. */
size_t ptx_simt_deadlock(const struct ptx_module *m);

#endif
