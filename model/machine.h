/* model/machine.h: what the clock reckons with for a GPU.
 *
 *     struct clock_machine m;
 *     const struct clock_fit *fit = machine_of(report->counts->gpu, &m);   // whose figures its errors are
 *
 * For GPUs of which cycles were measured, the numbers of model/clock_fits.def: latencies, intervals and
 * queues were fitted to these. For others they follow from the GPU's configuration (emu/gpu.def). */
#ifndef HEDDLE_MODEL_MACHINE_H
#define HEDDLE_MODEL_MACHINE_H

#include "emu/gpu.h"
#include "model/clock.h"

struct clock_fit {
    const char *gpu, *measured; /* on what: "GPGPU-Sim 4.2, SM7_TITANV" */
    double mean, worst;         /* |estimate - measured| / measured, in the fit */
    double low, high;           /* 8 of 10 launches took estimate * low .. estimate * high cycles */
    uint64_t most;              /* warp instructions of a launch that was measured */
    struct clock_machine machine;
};

/* NULL: nothing was measured, and all is as the configuration says. */
const struct clock_fit *machine_of(const struct emu_gpu *g, struct clock_machine *out);

/* What shared memory leaves of an SM's L1, if `ctas` of `shared` bytes each are there. */
uint32_t machine_l1_bytes(const struct emu_gpu *g, const struct clock_fit *fit, uint32_t ctas,
                          uint32_t shared);

#endif
