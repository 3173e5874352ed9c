/* model/counter_fit.h: fitted weights of the counter model for a GPU, and estimates with them.
 *
 *     bool borrowed;
 *     const struct counter_fit *k = counter_fit_for(g, &borrowed);
 *     struct counter_estimate e;
 *     counter_model_estimate(g, k, borrowed, &counters, &e);
 *     printf("%.0f cycles [%.0f, %.0f], bound by %s\n", e.cycles, e.low, e.high, term_name(e.terms.bottleneck));
 *
 * `heddle calibrate` writes fits as files (model/counter_fit_file.h); the files of model/counters are built in. */
#ifndef HEDDLE_MODEL_COUNTER_FIT_H
#define HEDDLE_MODEL_COUNTER_FIT_H

#include "model/counter_model.h"
#include "model/roofline.h"

enum counter_feature { /* features of launches: a fit is valid in the range of the measured ones */
#define FEATURE(id, text, value) COUNTER_FEATURE_##id,
#include "model/counter_features.def"
                       COUNTER_FEATURES
};
const char *counter_feature_name(enum counter_feature f); /* "loads" */
const char *counter_feature_text(enum counter_feature f); /* "loads for each instruction" */
double counter_feature_of(enum counter_feature f, const struct emu_gpu *g,
                          const struct counters *c);

struct counter_fit {
    const char *gpu; /* name of the measured GPU */
    double weight[WEIGHTS];
    double least[COUNTER_FEATURES], most[COUNTER_FEATURES];
    /* Errors of estimates of launches whose application was left out of the fit: */
    double mean, median, p90, worst, by_application, pearson, rank;
    double low, high; /* interval that contains 80 % of measured / estimated */
};
extern const struct counter_fit counter_fits[];
extern const size_t counter_fit_count;

/* The fit of the GPU. If it has none: *borrowed, and the fit of the GPU nearest in compute capability, then in number of SMs. */
const struct counter_fit *counter_fit_for(const struct emu_gpu *g, bool *borrowed);

struct counter_estimate {
    double cycles, seconds;
    double low, high;   /* 80 % interval; its factors are squared if borrowed or outside */
    struct terms terms; /* cycles by cause, and the bottleneck */
    unsigned outside;   /* a bit for each feature outside of the measured range */
    struct roofline roofline;
};
void counter_model_estimate(const struct emu_gpu *g, const struct counter_fit *k, bool borrowed,
                            const struct counters *c, struct counter_estimate *e);

#endif
