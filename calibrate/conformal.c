#include "calibrate/conformal.h"

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* On each side. Two tenths on both sides together would be 80 % on average; in some regimes of the measured GPUs it was
 * 71 %, with these it is 79 to 82 % (docs/model.md). */
static const double tail = 0.08;
static const double pooled = 4;  /* groups, that all other regimes count for */
static const double tiny = 1e-9; /* sums of weights are not exact */
enum { FEW = 10 /* groups: fewer have no tenth on each side */ };

struct weighted {
    double score, weight;
};

static int by_score(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

static size_t group_count(const struct conformal_item *items, size_t count)
{
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].group >= most) most = items[i].group + 1;
    return most;
}

/* Adds the items of the regime, or of all others: each group counts the same, all together `total`; 0: as their
 * number, which is returned in *number. */
static size_t add(struct arena *a, const struct conformal_item *items, size_t count, size_t left,
                  unsigned regime, bool others, double total, size_t *number, struct weighted *out)
{
    size_t *of_group = arena_array(a, size_t, group_count(items, count)), groups = 0, n = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].fold != left && (items[i].regime == regime) != others)
            groups += !of_group[items[i].group]++;
    const double each = total > 0 ? total / (double)groups : 1;
    for (size_t i = 0; i < count; i++)
        if (items[i].fold != left && (items[i].regime == regime) != others)
            out[n++] = (struct weighted){items[i].score, each / (double)of_group[items[i].group]};
    *number = groups;
    return n;
}

/* The interval of 80 % for one more of normally distributed values of which `groups` are known: mean and t times
 * deviation (Student's t for 10 % on each side, by degrees of freedom). */
static void widen(const struct weighted *own, size_t n, size_t groups, double *low, double *high)
{
    static const double t[FEW] = {0, 3.078, 1.886, 1.638, 1.533, 1.476, 1.440, 1.415, 1.397, 1.383};
    double mean = 0, square = 0;
    if (groups == 1) { /* nothing is known of how they differ */
        *low = fmin(2 * *low, *low), *high = fmax(2 * *high, *high);
        return;
    }
    for (size_t i = 0; i < n; i++) mean += own[i].score * own[i].weight / (double)groups;
    for (size_t i = 0; i < n; i++) square += own[i].weight * pow(own[i].score - mean, 2);
    const double reach = t[groups - 1] *
                         sqrt(square / (double)(groups - 1) * (1 + 1 / (double)groups));
    *low = fmin(*low, mean - reach), *high = fmax(*high, mean + reach);
}

void conformal_interval(struct arena *a, const struct conformal_item *items, size_t count,
                        size_t left, unsigned regime, double *low, double *high)
{
    struct weighted *list = arena_array(a, struct weighted, count),
                    *own = arena_array(a, struct weighted, count);
    size_t groups, others;
    const size_t owned = add(a, items, count, left, regime, false, 0, &groups, own);
    size_t n = add(a, items, count, left, regime, true, pooled, &others, list);
    memcpy(list + n, own, owned * sizeof *own);
    n += owned;
    *low = *high = 0;
    if (!n) return;
    qsort(list, n, sizeof *list, by_score);
    double all = 1, below = 0, above = 0; /* 1: the group that is not seen */
    for (size_t i = 0; i < n; i++) all += list[i].weight;
    size_t first = 0, last = n - 1;
    while (first < n - 1 && (below += list[first].weight) < tail * all - tiny) first++;
    while (last > 0 && (above += list[last].weight) < tail * all - tiny) last--;
    *low = list[first].score, *high = list[last].score;
    if (groups && groups < FEW) widen(own, owned, groups, low, high);
}

struct tally {        /* of hits */
    double *hits;     /* by group */
    size_t *of_group; /* items */
    size_t groups;
};

static struct tally tally_new(struct arena *a, const struct conformal_item *items, size_t count)
{
    const size_t groups = group_count(items, count);
    return (struct tally){arena_array(a, double, groups), arena_array(a, size_t, groups), groups};
}

static void tally_add(const struct tally *t, const struct conformal_item *x, double low,
                      double high, struct conformal_cover *out)
{
    const bool hit = x->score >= low - tiny && x->score <= high + tiny;
    t->hits[x->group] += hit, t->of_group[x->group]++;
    out->by_item += hit, out->items++;
}

static void tally_end(const struct tally *t, struct conformal_cover *out)
{
    for (size_t g = 0; g < t->groups; g++) {
        if (!t->of_group[g]) continue;
        out->by_group += t->hits[g] / (double)t->of_group[g];
        out->groups++;
    }
    if (!out->items) return;
    out->by_item /= (double)out->items;
    out->by_group /= (double)out->groups;
}

void conformal_coverage(struct arena *a, const struct conformal_item *items, size_t count,
                        const struct conformal_item *shown, unsigned regime,
                        struct conformal_cover *out)
{
    const struct tally t = tally_new(a, items, count);
    *out = (struct conformal_cover){0};
    for (size_t i = 0; i < count; i++) {
        double low, high;
        if (regime != CONFORMAL_ALL && shown[i].regime != regime) continue;
        conformal_interval(a, items, count, items[i].fold, items[i].regime, &low, &high);
        tally_add(&t, &items[i], low, high, out);
    }
    tally_end(&t, out);
}

void conformal_share(struct arena *a, const struct conformal_item *items, size_t count, double low,
                     double high, struct conformal_cover *out)
{
    const struct tally t = tally_new(a, items, count);
    *out = (struct conformal_cover){0};
    for (size_t i = 0; i < count; i++) tally_add(&t, &items[i], low, high, out);
    tally_end(&t, out);
}
