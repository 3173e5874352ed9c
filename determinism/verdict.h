/* determinism/verdict.h: the verdict of `heddle check`: what many runs of one program say about its determinism.
 *
 *     struct verdict_order rows[] = {{ORDER_NO_PROMISE, .runs = 20, .results = 3, .common = true}, ...};
 *     enum verdict v = verdict_of(rows, n, &(struct verdict_facts){.races = 1});
 */
#ifndef HEDDLE_DETERMINISM_VERDICT_H
#define HEDDLE_DETERMINISM_VERDICT_H

#include "determinism/orders.h"

/* the first that holds */
enum verdict {
    VERDICT_FAILED,         /* a run ended with an error */
    VERDICT_BROKEN_PROMISE, /* an order gave several results that promises one: a bug of Heddle */
    VERDICT_RACY,
    VERDICT_VARIES, /* native runs differ: the program itself is not deterministic */
    VERDICT_NONDETERMINISTIC,
    VERDICT_SOME, /* one result under each order that promises one, not under all */
    VERDICT_DETERMINISTIC,
    VERDICT_UNKNOWN, /* nothing was run */
    /* It reads memory that nothing wrote, or misuses synchronisation: in place of those behind VERDICT_RACY. Only
     * `heddle check` gives it; heddle.h does not have it. */
    VERDICT_UNDEFINED,
};

struct verdict_order {
    enum order_promise promise;
    size_t runs, results; /* results: distinct ones of runs that came to an end */
    size_t failed;
    bool common;    /* its only result is that of the reference */
    bool reference; /* the one run natively that others are held against */
};
struct verdict_facts {
    size_t races, mixed; /* found; mixed: atomic and plain accesses of the same bytes */
    uint64_t suppressed; /* of both, and not among them */
    bool looked;         /* for them, in all launches */
    bool varies;         /* native runs gave several results */
};

enum verdict verdict_of(const struct verdict_order *orders, size_t n,
                        const struct verdict_facts *facts);
const char *verdict_name(enum verdict v); /* "nondeterministic" */

/* Whether the order gave more than one result though it promised one, for which nothing in the facts is an
 * excuse. */
bool verdict_broken(const struct verdict_order *o, const struct verdict_facts *facts);

#define VERDICT_CONFIDENCE 0.95 /* of whom names none */
/* How probable a result may be that so many runs, all alike, have not shown, with that confidence (0 to 1): the p with
 * (1 - p)^runs = 1 - confidence. */
double verdict_unseen(size_t runs, double confidence);
/* The least number of runs that show a result of this probability with this confidence (both between 0 and 1):
 * log(1 - confidence) / log(1 - chance), rounded up, at least 1. */
double verdict_runs_for(double chance, double confidence);

#endif
