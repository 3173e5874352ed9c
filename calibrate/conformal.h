/* calibrate/conformal.h: prediction intervals for programs that a fit has not seen: conformal prediction.
 *
 *     struct conformal_item items[] = {{.fold = program, .group = program, .regime = r, .score = log(measured / estimate)}, ...};
 *     conformal_interval(a, items, n, CONFORMAL_NONE, r, &low, &high);
 *     conformal_coverage(a, items, n, r, &c);                        // how often such intervals hold
 *
 * The score of a launch is the logarithm of measured over estimated cycles, where the estimate is by a fit without the
 * launch's program. An interval contains the scores of other programs, except a small share on each side. The unseen
 * program counts as one more, so that the interval has its coverage on average also for few programs (Vovk, Gammerman and
 * Shafer, "Algorithmic Learning in a Random World", 2005; Barber et al., "Predictive inference with the jackknife+",
 * 2021). All groups have equal weight, and each regime has its own interval (Mondrian conformal prediction). The items of
 * other regimes count as well, with the weight of four groups in all. A regime of fewer than ten groups has no such
 * quantiles: its interval is at least that of Student's t. */
#ifndef HEDDLE_CALIBRATE_CONFORMAL_H
#define HEDDLE_CALIBRATE_CONFORMAL_H

#include <stddef.h>

struct arena;

struct conformal_item {
    size_t fold;     /* items of one fold are left out together */
    size_t group;    /* items of one group have the weight of one: the launches of a program */
    unsigned regime; /* below CONFORMAL_ALL */
    double score;
};

#define CONFORMAL_NONE ((size_t)-1)
#define CONFORMAL_ALL 64u

/* The interval for a launch of the regime, from the items of all folds except `left`. There must be at least one item. */
void conformal_interval(struct arena *a, const struct conformal_item *items, size_t count,
                        size_t left, unsigned regime, double *low, double *high);

struct conformal_cover {
    size_t items, groups;
    double by_item, by_group; /* shares of scores in the interval from the other folds */
};
/* The coverage of items whose element of `shown` has this regime; CONFORMAL_ALL: of all items. `shown` is `items`, or the
 * same items with other regimes. */
void conformal_coverage(struct arena *a, const struct conformal_item *items, size_t count,
                        const struct conformal_item *shown, unsigned regime,
                        struct conformal_cover *out);

/* The coverage of one given interval over all items. */
void conformal_share(struct arena *a, const struct conformal_item *items, size_t count, double low,
                     double high, struct conformal_cover *out);

#endif
