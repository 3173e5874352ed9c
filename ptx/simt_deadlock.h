/* ptx/simt_deadlock.h: loops in which lanes of a warp may wait for each other for ever.
 *
 *     ptx_simt_deadlock(m);          // m was checked without errors; adds warnings to m->diags
 *
 * On a GPU with a SIMT stack, a lane that leaves a loop waits at the reconvergence point for the lanes of its warp that
 * stay in the loop. If one of those waits for a store that the first lane makes behind the loop (the release of a lock),
 * neither makes progress: a SIMT deadlock. A GPU with independent thread scheduling (Volta and later) executes such code.
 *
 * The rule is that of ElTantawy and Aamodt (MIMD Synchronization on SIMT Architectures, MICRO 2016, section 4): a loop
 * whose exit depends on a value that it reads from shared or global memory, and that the loop itself does not store, while
 * a store that may change the value is reachable from the reconvergence point of the exit, or is on the other side of a
 * branch at which lanes of a warp may diverge. Aliasing is conservative: the analysis traces an address back to the
 * parameter, variable or load that it was computed from, and two addresses of one origin may be equal. It ignores loops
 * that one lane of each warp executes (behind `threadIdx.x == constant`), exits with a uniform condition, and calls. */
#ifndef HEDDLE_PTX_SIMT_DEADLOCK_H
#define HEDDLE_PTX_SIMT_DEADLOCK_H

#include <stddef.h>

struct ptx_module;

/* Adds a warning with notes for each such loop. Returns the number of loops. */
size_t ptx_simt_deadlock(const struct ptx_module *m);

#endif
