/* model/counter_model.h: the counter model: cycles of a launch from hardware counters.
 *
 *     struct counters c = {.instructions = 1e6, .warps = 32, .share = 0.9, ...};
 *     struct terms t;
 *     double cycles = counter_model_cycles(g, &c, weights, &t);
 *
 * This is the second model, for measured launches without a trace; model/timing.h is the first. It is mechanistic: the
 * time that an SM needs to issue, the stall time of one warp divided by the number of warps that hide it, and the time
 * that L1, L2 and DRAM need for their sectors (interval analysis: Huang et al., "GPUMech", MICRO 2014;
 * Wang et al., "MDM", MICRO 2020; Lee et al., "GCoM", ISCA 2022). Weights (model/counter_weights.def) are the ratios of
 * a GPU's actual rates to the configured ones, and the overlap of terms; `heddle calibrate` fits them. The inputs are
 * sums: the model has neither dependences between instructions nor their mix. docs/model.md has the formulas. */
#ifndef HEDDLE_MODEL_COUNTER_MODEL_H
#define HEDDLE_MODEL_COUNTER_MODEL_H

#include "emu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weight {
#define WEIGHT(id, before, spread, text) WEIGHT_##id,
#include "model/counter_weights.def"
    WEIGHTS
};
struct weight_info {
    const char *name, *text;
    double before, spread;
};
extern const struct weight_info weight_infos[WEIGHTS];

/* Sums over the device. Sectors have 32 bytes. */
struct counters {
    double cycles;    /* measured cycles; 0: unknown */
    double share;     /* part of the time in which an SM is active, mean over SMs: 0 .. 1 */
    bool placed;      /* counter_model_place() set `share`, for the time after the launch latency */
    double warps;     /* mean number of active warps of an active SM */
    double registers; /* registers of a thread */
    double instructions;                  /* warp instructions issued */
    double load_requests, load_sectors;   /* loads of global memory by warps; their sectors */
    double store_requests, store_sectors; /* stores to global memory by warps; their sectors */
    double l2_load_sectors, l2_sectors;   /* sectors requested from L2 by loads; loads and stores */
    double dram_sectors;                  /* sectors read from and written to DRAM */
    double atomic_sectors;                /* sectors of atomics and reductions on global memory */
};

enum term {
    TERM_ISSUE,
    TERM_DEPENDENCE, /* a warp waits for results of arithmetic */
    TERM_LOADS,      /* a warp waits for loads */
    TERM_L1,
    TERM_STORES,
    TERM_L2,
    TERM_DRAM,
    TERM_ATOMICS,
    TERM_LAUNCH,
    TERM_IMBALANCE, /* SMs without work */
    TERMS
};
const char *term_name(enum term t);

struct terms {
    double part[TERMS];   /* cycles; their sum is that of the launch */
    enum term bottleneck; /* the largest part */
};

/* Cycles of the SMs' clock. `t` may be NULL. The result grows with every count except sectors of loads that hit in L1. */
double counter_model_cycles(const struct emu_gpu *g, const struct counters *c,
                            const double weights[WEIGHTS], struct terms *t);

/* Computes `share` and `warps` of a grid if they were not measured: `ctas` are assigned to SMs round robin. */
void counter_model_place(const struct emu_gpu *g, uint64_t ctas, uint32_t threads,
                         const struct emu_occupancy *o, struct counters *c);

#endif
