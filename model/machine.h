/* model/machine.h: what the clock reckons with for a GPU.
 *
 *     struct timing_machine m;
 *     const struct timing_fit *fit = machine_of(report->counts->gpu, &m);   // whose figures its errors are
 *
 * For GPUs of which cycles were measured, the numbers of model/timing/NAME.yaml: latencies, intervals and
 * queues were fitted to these by heddle calibrate. For others they follow from the GPU's configuration
 * (emu/gpu.def). */
#ifndef HEDDLE_MODEL_MACHINE_H
#define HEDDLE_MODEL_MACHINE_H

#include "emu/gpu.h"
#include "model/timing.h"
#include "model/timing_features.h"

struct timing_fit {
    const char *gpu,
        *measured; /* on what: "GPGPU-Sim 4.2, SM7_TITANV"; NULL: nothing was measured */
    /* |estimate - measured| / measured, of programs that were left out of the fit: */
    double mean, median, p90, worst, by_program, rank;
    double low, high; /* 8 of 10 launches took estimate * low .. estimate * high cycles, likewise */
    double alone_low, alone_high; /* the same, by the GPU's configuration alone */
    double least[TIMING_FEATURES], most[TIMING_FEATURES]; /* of the launches that were measured */
    struct timing_machine machine;
};

/* Those built in. */
extern const struct timing_fit timing_fits[];
extern const size_t timing_fit_count;

/* NULL: nothing was measured, and all is as the configuration says. A V100 is a GV100 (fit->gpu) whose numbers are
 * changed as the configurations differ. */
const struct timing_fit *machine_of(const struct emu_gpu *g, struct timing_machine *out);

/* From the configuration alone. */
void machine_configured(const struct emu_gpu *g, struct timing_machine *m);

/* `m` was fitted to what was measured of one GPU, g is another configuration of it: latencies, intervals and
 * bandwidths change as their configured ones do. false: nothing differs, or `measured` is NULL. */
bool machine_follow(const struct emu_gpu *measured, const struct emu_gpu *g,
                    struct timing_machine *m);

/* From now on, estimates for the GPU of this fit are by it and not by the one built in, in the whole process.
 * It stays the caller's. NULL: by the one built in again. */
void machine_use(const struct timing_fit *fit);

/* Of a GPU of which nothing was measured: how far off the configuration alone was where something was. */
void machine_alone(double *low, double *high);

/* What shared memory leaves of an SM's L1, if `ctas` of `shared` bytes each are there. */
uint32_t machine_l1_bytes(const struct emu_gpu *g, uint32_t ctas, uint32_t shared);

#endif
