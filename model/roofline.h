/* model/roofline.h: compares the performance of launches with the GPU's maximum, by the roofline model.
 *
 * The roofline model (Williams, Waterman and Patterson, CACM 52(4), 2009), on instructions as in Ding and Williams,
 * "An Instruction Roofline Model for GPUs", PMBS 2019: warp instructions per byte of DRAM on one axis, warp
 * instructions per cycle on the other. The roof is the smaller of two rates: the issue rate of all schedulers, and the
 * rate that DRAM's bandwidth allows at that intensity.
 *
 * Both models use it: launch_estimate.c for a traced launch, counter_fit.c for a row of counters, cli/estimate.c for
 * the sum of launches. */
#ifndef HEDDLE_MODEL_ROOFLINE_H
#define HEDDLE_MODEL_ROOFLINE_H

#include "emu/gpu.h"

#include <stdbool.h>

struct roofline {
    double intensity;   /* warp instructions per byte of DRAM; 0: no DRAM traffic */
    double performance; /* warp instructions per cycle of the SMs' clock, of the whole GPU */
    double roof;        /* the highest performance that is possible at this intensity */
    bool dram_bound;    /* the roof is DRAM's bandwidth, not the schedulers */
};

struct roofline roofline_of(const struct emu_gpu *g, double warp_instructions, double dram_bytes,
                            double cycles);

#endif
