/* model/machine.h: the parameters of the timing model for a GPU: latencies, intervals, bandwidths and sizes.
 *
 *     struct timing_machine m;
 *     const struct timing_fit *fit = machine_of(report->counts->gpu, &m);   // NULL: no cycles were measured
 *
 * A machine comes from one of two sources. For a GPU with measured launches, `heddle calibrate` has fitted the numbers
 * to their cycles (model/timing/NAME.yaml, built in as timing_fits). For any other GPU the machine is derived from the
 * configuration (machine.c; emu/gpu.def lists the values of a configuration, model/gpus/NAME.yaml has their sources). If
 * the configuration differs from that of the fitted GPU, machine_changed.c scales the fitted numbers. machine_fit.c
 * chooses the source. */
#ifndef HEDDLE_MODEL_MACHINE_H
#define HEDDLE_MODEL_MACHINE_H

#include "emu/gpu.h"
#include "model/regime.h"
#include "model/timing.h"
#include "model/timing_features.h"

struct timing_fit {
    /* measured: the source of the cycles, "GPGPU-Sim 4.2, SM7_TITANV"; NULL: no cycles were measured. */
    const char *gpu, *measured;
    /* |estimate - measured| / measured, for programs that were left out of the fit: */
    double mean, median, p90, worst, by_program, rank;
    /* 8 of 10 launches of a regime took estimate * low .. estimate * high cycles, by a fit without their programs. */
    double low[REGIMES], high[REGIMES];
    double alone_low, alone_high; /* the same for all launches, by the configuration alone */
    double least[TIMING_FEATURES], most[TIMING_FEATURES]; /* range of the measured launches */
    struct timing_machine machine;
};

/* Built in: tools/compile_gpus.c makes them from the files of model/timing/. */
extern const struct timing_fit timing_fits[];
extern const size_t timing_fit_count;

/* Sets *out to the machine of a GPU, and returns the fit that it comes from. NULL: there is no fit, and the machine is
 * derived from the configuration. A V100 uses the fit of the GV100 (fit->gpu), the same chip, scaled to its own
 * configuration. */
const struct timing_fit *machine_of(const struct emu_gpu *g, struct timing_machine *out);

/* The machine from the configuration alone. */
void machine_configured(const struct emu_gpu *g, struct timing_machine *m);

/* Scales *m, the fitted machine of the GPU `measured`, to another configuration g: each number by the ratio of the
 * configured numbers. false: the configurations are equal, or `measured` is NULL. */
bool machine_follow(const struct emu_gpu *measured, const struct emu_gpu *g,
                    struct timing_machine *m);

/* Whether a is nowhere faster than b: no more bandwidth or throughput, no less latency, and all else equal. */
bool machine_is_slower(const struct emu_gpu *a, const struct emu_gpu *b);

/* Replaces the built-in fit of the fit's GPU in the whole process from now on. The caller keeps ownership. NULL:
 * restores the built-in fit. */
void machine_use(const struct timing_fit *fit);

/* The interval of a GPU without a fit: the widest interval of the GPUs with a fit, estimated by their configuration alone,
 * because the errors may be those of any of these. The interval contains 1. */
void machine_alone(double *low, double *high);

/* Size of L1 in bytes without the shared memory of `ctas` resident CTAs with `shared` bytes each. */
uint32_t machine_l1_bytes(const struct emu_gpu *g, uint32_t ctas, uint32_t shared);

#endif
