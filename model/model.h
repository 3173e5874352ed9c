/* model/model.h: cycles of a launch, why, and how sure.
 *
 *     struct estimate e;
 *     model_estimate(&work, model_coefficients("v100"), &e);
 *     printf("%.0f cycles [%.0f, %.0f], bound by %s\n", e.cycles, e.low, e.high, part_name(e.bottleneck));
 *
 * docs/model.md has the formulas. */
#ifndef HEDDLE_MODEL_MODEL_H
#define HEDDLE_MODEL_MODEL_H

#include "model/terms.h"

struct coefficients; /* model/coefficients.h: weights of a GPU, with the figures of their fit */

struct estimate {
    double cycles, seconds;
    double low, high;          /* 80 % of the launches that were left out of the fit lay within */
    double part[PARTS];        /* cycles; their sum is `cycles` */
    double phase[PHASE_KINDS]; /* likewise */
    enum part bottleneck;      /* the largest part */
    double ipc;                /* thread instructions/cycle of the device; 0: not known */
    /* Roofline, by DRAM bytes: */
    double intensity;   /* warp instructions/byte; infinite: no byte was moved */
    double performance; /* warp instructions/cycle */
    double roof;        /* the most at that intensity */
    unsigned outside;   /* bit of enum model_feature: beyond what was calibrated */
    bool borrowed;      /* the coefficients are another GPU's */
};

enum model_feature {                  /* what a fit's rows span, and a launch may lie outside of */
                     FEATURE_WORK,    /* warp instructions of an SM */
                     FEATURE_WARPS,   /* active warps of an SM */
                     FEATURE_L1_HITS, /* sectors/instruction */
                     FEATURE_L2,      /* sectors/instruction */
                     FEATURE_DRAM,    /* sectors/instruction */
                     FEATURE_ATOMICS, /* sectors/instruction */
                     FEATURE_SHARED,  /* passes/instruction */
                     FEATURES
};
const char *feature_name(enum model_feature f);

void model_estimate(const struct launch_work *w, const struct coefficients *c, struct estimate *e);

/* The coefficients fitted for the GPU of that name; else those of the nearest architecture, and
 * `*borrowed` is set. */
const struct coefficients *model_coefficients(const struct emu_gpu *g, bool *borrowed);

#endif
