/* model/nested_grids.h: begin and end of grids that kernels launch, which run concurrently with their parents and each other.
 *
 *     struct launch_estimate t[n];                 // the grids of one launch by the host, each alone
 *     nested_estimates(counts, t, n, &m);          // sets begins, overlap; cycles begin at the grid's launch
 *     for (i) launch_estimate_add(&sum, &t[i], gpu);   // the sum is the time until the last grid has ended
 *
 * The timing model (model/timing.h) executes one grid. This model is one level above: the time of a grid alone, by the
 * timing model, is its work; the progress of all grids at a time follows from the resources that they share.
 *
 *   a CTA that launches or waits   begins with its wave of CTAs, and executes its instructions at the rate of the grid's
 *                        longest warp in a run alone. Its launch instruction launches the child. At a
 *                        wait (cudaDeviceSynchronize) it blocks until the grids that it waits for have ended.
 *   a child              begins NESTED_LATENCY cycles after its launch, and not before the earlier operations of its
 *                        stream have ended. A grid has ended when its CTAs and all grids that it launched have ended.
 *                        A tail launch begins when its parent and all other grids of the parent have ended.
 *   sharing              A CTA uses a part of three resources: slots of SMs, issue slots, DRAM bandwidth. While all
 *                        running CTAs together need more of a resource than there is, all are slowed down by that factor.
 *   a CTA that waits     releases its slot, as the device runtime saves the state of waiting parents
 *                        (CUDA C Programming Guide 11.8, D.4.3.1.1: memory is reserved for it). Saving takes no time here.
 *
 * So the sum is not below the longest chain of grids that wait for each other, and not above the time of all of them one
 * after the other. Not modelled: contention for L2 and units, lines that a grid leaves in caches for another, the time of the
 * device runtime's calls, its copies and fills, and the limit of resident grids. */
#ifndef HEDDLE_MODEL_NESTED_GRIDS_H
#define HEDDLE_MODEL_NESTED_GRIDS_H

#include "emu/counts.h"

#include <stddef.h>

struct launch_estimate;

/* Cycles from a launch by a kernel to the first instruction of its grid: gpgpu_kernel_launch_latency in GPGPU-Sim 4.2's
 * tested configuration of a TITAN X, the only configuration with this option. Assumed for all GPUs. */
enum { NESTED_LATENCY = 5000 };

enum { NESTED_SLOTS, NESTED_ISSUE, NESTED_DRAM, NESTED_SHARED };
struct nested_grid {
    struct emu_nesting how;
    size_t wait_count;
    const struct emu_grid_wait *waits;
    double start;              /* the fewest cycles from its launch to its first instruction */
    double cycles;             /* from its first instruction to its end, alone */
    uint64_t ctas, resident;   /* number of CTAs, and of CTAs that can be resident; at least 1 */
    double use[NESTED_SHARED]; /* part of each resource that it uses alone, 0 .. 1 */
    uint64_t longest;          /* warp instructions of its longest warp */
    /* Warp instructions of the longest warp of a CTA; 0: unknown. NULL: unknown for all, and assumed to be `longest`. */
    uint64_t (*length)(const void *of, uint32_t cta);
    const void *of;
    double launched, begins, ends; /* results: cycles since the host's grid was launched */
};

/* Sets the results of all grids. The first grid is that of the host. Parents stand before their children, and children of
 * one parent in an order that their streams allow. Returns the time at which the last grid ends, in cycles. */
double nested_run(struct nested_grid *grids, size_t count);

/* c[] has the counts of the `count` grids of one launch by the host; t[] has the estimate of each alone, and gets its new
 * times. If no kernel launched a grid, nothing changes. */
void nested_estimates(const struct emu_counts *const *c, struct launch_estimate *t, size_t count);

#endif
