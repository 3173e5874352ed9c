/* model/coefficients.h: what a calibration found, and estimates with it.
 *
 *     bool borrowed;
 *     const struct coefficients *k = coefficients_for(g, &borrowed);
 *     struct estimate e;
 *     model_estimate(g, k, borrowed, &counters, &e);
 *     printf("%.0f cycles [%.0f, %.0f], bound by %s\n", e.cycles, e.low, e.high, term_name(e.terms.bottleneck));
 *
 * `heddle calibrate` writes them as a file; the files of model/coefficients are built in. */
#ifndef HEDDLE_MODEL_COEFFICIENTS_H
#define HEDDLE_MODEL_COEFFICIENTS_H

#include "model/counter_model.h"

enum feature { /* of a launch; fits hold for launches like those that they saw */
#define FEATURE(id, text, value) FEATURE_##id,
#include "model/counter_features.def"
               FEATURES
};
const char *feature_name(enum feature f); /* "loads" */
const char *feature_text(enum feature f); /* "loads for each instruction" */
double feature_of(enum feature f, const struct emu_gpu *g, const struct counters *c);

struct coefficients {
    const char *gpu; /* that was measured */
    double weight[WEIGHTS];
    double least[FEATURES], most[FEATURES];
    /* Of estimates of launches whose application was left out of the fit: */
    double mean, median, p90, worst, by_application, pearson, rank;
    double low, high; /* 80 % of measured / estimated lie in between */
};
extern const struct coefficients coefficients_built_in[];
extern const size_t coefficients_total;

/* Those of that GPU, else of the nearest in compute capability, then in number of SMs; *borrowed says so. */
const struct coefficients *coefficients_for(const struct emu_gpu *g, bool *borrowed);

struct estimate {
    double cycles, seconds;
    double low, high;   /* 80 % interval; wider by as much again if borrowed or outside */
    struct terms terms; /* cycles by reason; the binding one */
    unsigned outside;   /* a bit for each feature beyond what was calibrated */
    double
        intensity; /* roofline: warp instructions for each byte of DRAM; infinite: none was moved */
    double performance; /* warp instructions a cycle, */
    double roof;        /* the most at that intensity, */
    bool memory_roof;   /* and whether DRAM sets it */
};
void model_estimate(const struct emu_gpu *g, const struct coefficients *k, bool borrowed,
                    const struct counters *c, struct estimate *e);

#endif
