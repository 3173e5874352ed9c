/* calibrate/conformal.h: intervals that hold for what was not seen: conformal prediction.
 *
 *     struct conformal_item items[] = {{.fold = program, .group = program, .regime = r, .score = log(measured / estimate)}, ...};
 *     conformal_interval(a, items, n, CONFORMAL_NONE, r, &low, &high);
 *     conformal_coverage(a, items, n, r, &c);                        // how often such intervals hold
 *
 * The score of a launch is the logarithm of measured over estimated cycles, the estimate being by a fit without its
 * program. An interval has the scores of other programs in it, but for a small share on each side; with one more program
 * in the count, the one that is not seen, so that it holds on average also for few programs (Vovk, Gammerman and
 * Shafer, "Algorithmic Learning in a Random World", 2005; Barber et al., "Predictive inference with the jackknife+",
 * 2021). Each group counts as much as any other, in each regime (Mondrian conformal prediction). A regime borrows from
 * the others, which together count as four groups. A regime of fewer than ten groups has no such quantiles: its
 * interval is at least that of Student's t. */
#ifndef HEDDLE_CALIBRATE_CONFORMAL_H
#define HEDDLE_CALIBRATE_CONFORMAL_H

#include <stddef.h>

struct arena;

struct conformal_item {
    size_t fold;     /* what is left out together */
    size_t group;    /* what counts as one: the launches of a program */
    unsigned regime; /* below CONFORMAL_ALL */
    double score;
};

#define CONFORMAL_NONE ((size_t)-1)
#define CONFORMAL_ALL 64u

/* Of a launch of the regime, by the items of all folds but `left`. Of one item at least. */
void conformal_interval(struct arena *a, const struct conformal_item *items, size_t count,
                        size_t left, unsigned regime, double *low, double *high);

struct conformal_cover {
    size_t items, groups;
    double by_item, by_group; /* the share whose score is in the interval of the other folds */
};
/* Of the items whose element of `shown` is of the regime, or CONFORMAL_ALL; `shown` is items, or the same items with other
 * regimes. */
void conformal_coverage(struct arena *a, const struct conformal_item *items, size_t count,
                        const struct conformal_item *shown, unsigned regime,
                        struct conformal_cover *out);

/* How often the one interval holds for all items. */
void conformal_share(struct arena *a, const struct conformal_item *items, size_t count, double low,
                     double high, struct conformal_cover *out);

#endif
