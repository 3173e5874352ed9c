/* model/nested_grids.h: when grids that kernels launch themselves run: beside their parents and each other.
 *
 *     struct launch_estimate t[n];                 // of the grids of one launch by the host, each alone
 *     nested_estimates(counts, t, n, &m);          // sets begins, overlap; cycles from its launch on
 *     for (i) launch_estimate_add(&sum, &t[i], gpu);   // the sum is until the last one has ended
 *
 * The timing model (model/timing.h) runs one grid. This is one level above it: what a grid takes alone, by the timing
 * model, is its work; how far all of them have come at a time follows from what they share.
 *
 *   a CTA that launches or waits   begins with its round of CTAs, and executes its instructions at the rate at which the
 *                        grid's longest warp does so alone. At the instruction of a launch the child is launched. At a
 *                        wait (cudaDeviceSynchronize) it stops until the grids it waits for have ended.
 *   a child              begins NESTED_LATENCY cycles behind its launch, and not before what its stream has in front of
 *                        it has ended. A grid has ended when its CTAs and all grids that it has launched have.
 *                        Tail launches begin when their parent and all else that it launched have.
 *   sharing              A CTA takes a part of three resources: slots of SMs, issues, bandwidth of DRAM. While all CTAs
 *                        that run ask for more of one than there is, all are as much slower.
 *   a CTA that waits     gives its slot to others, as the runtime does that saves the state of parents while they wait
 *                        (CUDA C Programming Guide 11.8, D.4.3.1.1: memory is reserved for it). Saving takes no time here.
 *
 * So the sum is not below the longest chain of grids that wait for each other, and not above all of them one after the
 * other. Not modelled: contention for L2 and units, what a grid leaves in caches for another, the calls of the device runtime
 * themselves, its copies and fills, and the limit of grids that are resident. */
#ifndef HEDDLE_MODEL_NESTED_GRIDS_H
#define HEDDLE_MODEL_NESTED_GRIDS_H

#include "emu/counts.h"

#include <stddef.h>

struct launch_estimate;

/* Cycles from a launch by a kernel to the first instruction of its grid: gpgpu_kernel_launch_latency of GPGPU-Sim 4.2's
 * tested configuration of a TITAN X, the only one that has it. Assumed for all GPUs. */
enum { NESTED_LATENCY = 5000 };

enum { NESTED_SLOTS, NESTED_ISSUE, NESTED_DRAM, NESTED_SHARED };
struct nested_grid {
    struct emu_nesting how;
    size_t wait_count;
    const struct emu_grid_wait *waits;
    double start;  /* cycles from its launch to its first instruction, at least */
    double cycles; /* from its first instruction to its end, alone */
    uint64_t ctas,
        resident; /* how many it has, how many of them can be resident: both 1 at least */
    double use[NESTED_SHARED]; /* what it takes alone of all that there is of a resource: 0 .. 1 */
    uint64_t longest;          /* warp instructions of its longest warp */
    /* Warp instructions of the longest warp of a CTA; 0: unknown. NULL: all are unknown, and taken to be `longest`. */
    uint64_t (*length)(const void *of, uint32_t cta);
    const void *of;
    double launched, begins, ends; /* results: cycles since the host's grid was launched */
};

/* The first grid is the host's. Parents come before their children, and children of one parent in an order that their
 * streams allow. Returns when the last one ends. */
double nested_run(struct nested_grid *grids, size_t count);

/* `c` and those behind it are `count` grids of one launch by the host, `t` what each takes alone. Without a grid that
 * a kernel has launched nothing changes. */
void nested_estimates(const struct emu_counts *const *c, struct launch_estimate *t, size_t count);

#endif
