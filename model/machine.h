/* model/machine.h: the machine of the timing model for a GPU: latencies, intervals, bandwidths and sizes.
 *
 *     struct timing_machine m;
 *     const struct timing_fit *fit = machine_of(report->counts->gpu, &m);   // NULL: no cycles were measured
 *
 * A machine comes from one of two sources. For a GPU of which cycles were measured, `heddle calibrate` has fitted the
 * numbers to these (model/timing/NAME.yaml, built in as timing_fits). For any other it is derived from the GPU's
 * configuration (machine.c; emu/gpu.def says what a configuration has, model/gpus/NAME.yaml its sources). If the
 * configuration differs from that of the fitted GPU, the fitted numbers are scaled (machine_changed.c). machine_fit.c
 * chooses. */
#ifndef HEDDLE_MODEL_MACHINE_H
#define HEDDLE_MODEL_MACHINE_H

#include "emu/gpu.h"
#include "model/regime.h"
#include "model/timing.h"
#include "model/timing_features.h"

struct timing_fit {
    const char *gpu,
        *measured; /* on what: "GPGPU-Sim 4.2, SM7_TITANV"; NULL: nothing was measured */
    /* |estimate - measured| / measured, of programs that were left out of the fit: */
    double mean, median, p90, worst, by_program, rank;
    /* 8 of 10 launches of the kind took estimate * low .. estimate * high cycles, likewise */
    double low[REGIMES], high[REGIMES];
    double alone_low, alone_high; /* the same of all launches, by the GPU's configuration alone */
    double least[TIMING_FEATURES], most[TIMING_FEATURES]; /* of the launches that were measured */
    struct timing_machine machine;
};

/* Built in: tools/compile_gpus.c makes them from model/timing/. */
extern const struct timing_fit timing_fits[];
extern const size_t timing_fit_count;

/* The machine of a GPU, and the fit that it comes from. NULL: there is none, and the machine is that of the
 * configuration. A V100 has the fit of the GV100 (fit->gpu), the same chip, scaled to its own configuration. */
const struct timing_fit *machine_of(const struct emu_gpu *g, struct timing_machine *out);

/* From the configuration alone. */
void machine_configured(const struct emu_gpu *g, struct timing_machine *m);

/* Scales the fitted machine `m` of the GPU `measured` to another configuration g: each number by the ratio of the
 * configured ones. false: the configurations are equal, or `measured` is NULL. */
bool machine_follow(const struct emu_gpu *measured, const struct emu_gpu *g,
                    struct timing_machine *m);

/* a is nowhere faster than b: no more bandwidth or throughput, no less latency, all else is the same. */
bool machine_is_slower(const struct emu_gpu *a, const struct emu_gpu *b);

/* From now on this fit replaces the built-in one of its GPU, in the whole process. The caller keeps owning it. NULL:
 * the built-in one again. */
void machine_use(const struct timing_fit *fit);

/* The interval of a GPU without a fit: the widest of those of the GPUs with one, estimated by the configuration alone, as a GPU
 * may err as any of them does. It has 1 in it. */
void machine_alone(double *low, double *high);

/* Bytes of L1 that shared memory leaves, if `ctas` of `shared` bytes each are resident. */
uint32_t machine_l1_bytes(const struct emu_gpu *g, uint32_t ctas, uint32_t shared);

#endif
