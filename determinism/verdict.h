/* determinism/verdict.h: the verdict of `heddle check`: what many runs of one program say about its determinism.
 *
 *     struct verdict_order rows[] = {{ORDER_NO_PROMISE, .runs = 20, .results = 3, .common = true}, ...};
 *     enum verdict v = verdict_of(rows, n, &(struct verdict_facts){.races = 1});
 */
#ifndef HEDDLE_DETERMINISM_VERDICT_H
#define HEDDLE_DETERMINISM_VERDICT_H

#include "determinism/orders.h"

/* the verdict is the first of these that holds */
enum verdict {
    VERDICT_FAILED, /* a run ended with an error */
    /* an order gave several results although it guarantees one: a defect of Heddle */
    VERDICT_BROKEN_PROMISE,
    VERDICT_RACY,
    VERDICT_VARIES, /* native runs differ: the program itself is not deterministic */
    VERDICT_NONDETERMINISTIC,
    VERDICT_SOME, /* one result under each order that guarantees one, not under all orders */
    VERDICT_DETERMINISTIC,
    VERDICT_UNKNOWN, /* no run took place */
    /* The program reads unwritten memory, or misuses synchronisation. It replaces the verdicts after VERDICT_RACY. Only
     * `heddle check` returns it; heddle.h does not have it. */
    VERDICT_UNDEFINED,
};

struct verdict_order {
    enum order_promise promise;
    size_t runs, results; /* results: number of different results of runs that did not fail */
    size_t failed;
    bool common;    /* its only result is that of the reference order */
    bool reference; /* the native order, with which others are compared */
};
struct verdict_facts {
    size_t races, mixed; /* findings; mixed: atomic and plain accesses of the same bytes */
    uint64_t suppressed; /* suppressed findings of both kinds, which are not in these numbers */
    bool looked;         /* all launches were checked for them */
    bool varies;         /* native runs gave several results */
};

enum verdict verdict_of(const struct verdict_order *orders, size_t n,
                        const struct verdict_facts *facts);
const char *verdict_name(enum verdict v); /* "nondeterministic" */

/* Whether the order gave more than one result although it guarantees one, and the facts do not explain it. */
bool verdict_broken(const struct verdict_order *o, const struct verdict_facts *facts);

#define VERDICT_CONFIDENCE 0.95 /* the default confidence */
/* Upper bound, with that confidence (0 to 1), of the probability of a result that did not occur in `runs` runs with
 * equal results: the p with (1 - p)^runs = 1 - confidence. */
double verdict_unseen(size_t runs, double confidence);
/* The least number of runs that show a result of this probability with this confidence (both between 0 and 1):
 * log(1 - confidence) / log(1 - chance), rounded up, at least 1. */
double verdict_runs_for(double chance, double confidence);

#endif
