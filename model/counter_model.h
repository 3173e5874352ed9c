/* model/counter_model.h: the counter model: cycles of a launch from hardware counters.
 *
 *     struct counters c = {.instructions = 1e6, .warps = 32, .share = 0.9, ...};
 *     struct terms t;
 *     double cycles = counter_model_cycles(g, &c, weights, &t);
 *
 * This is the second model, for launches that were measured and have no trace; model/timing.h is the first. It is
 * mechanistic: the time that an SM needs to issue, the time that one warp waits divided by the warps that hide it,
 * and the time that L1, L2 and DRAM need for their sectors (interval analysis: Huang et al., "GPUMech", MICRO 2014;
 * Wang et al., "MDM", MICRO 2020; Lee et al., "GCoM", ISCA 2022). Weights (model/counter_weights.def) say how near to
 * the configured rates a GPU comes, and how the terms overlap; `heddle calibrate` fits them. It knows sums only: no
 * dependences between instructions and no mix of them. docs/model.md has the formulas. */
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
    double cycles;    /* measured; 0: not known */
    double share;     /* of the time that an SM is active, mean over SMs: 0 .. 1 */
    bool placed;      /* `share` is by counter_model_place: of the time after the launch's start */
    double warps;     /* active on an SM while it is active, mean */
    double registers; /* of a thread */
    double instructions;                  /* issued by warps */
    double load_requests, load_sectors;   /* of global memory, by warp */
    double store_requests, store_sectors; /* likewise */
    double l2_load_sectors, l2_sectors;   /* that L2 was asked for; the latter: stores, too */
    double dram_sectors;                  /* read and written */
    double atomic_sectors;                /* of global memory, reductions too */
};

enum term {
    TERM_ISSUE,
    TERM_DEPENDENCE, /* a warp waits for results of arithmetic */
    TERM_LOADS,      /* for loads */
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
    double part[TERMS];   /* cycles; they sum to the launch's */
    enum term bottleneck; /* the largest */
};

/* Cycles of the SMs' clock. `t` may be NULL. Grows with every count but for sectors of loads that L1 finds. */
double counter_model_cycles(const struct emu_gpu *g, const struct counters *c,
                            const double weights[WEIGHTS], struct terms *t);

/* What `share` and `warps` a grid comes to, where nobody measured them: `ctas` dealt to the SMs in turn. */
void counter_model_place(const struct emu_gpu *g, uint64_t ctas, uint32_t threads,
                         const struct emu_occupancy *o, struct counters *c);

#endif
