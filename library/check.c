/* heddle.h: one program run under several orders and seeds, and what that says about it (determinism/verdict.h). */
#include "heddle.h"

#include "determinism/orders.h"
#include "determinism/verdict.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 20, NATIVE_RUNS = 2 };

_Static_assert((int)HEDDLE_VERDICT_FAILED == (int)VERDICT_FAILED &&
                   (int)HEDDLE_VERDICT_BROKEN_PROMISE == (int)VERDICT_BROKEN_PROMISE &&
                   (int)HEDDLE_VERDICT_RACY == (int)VERDICT_RACY &&
                   (int)HEDDLE_VERDICT_VARIES == (int)VERDICT_VARIES &&
                   (int)HEDDLE_VERDICT_NONDETERMINISTIC == (int)VERDICT_NONDETERMINISTIC &&
                   (int)HEDDLE_VERDICT_SOME == (int)VERDICT_SOME &&
                   (int)HEDDLE_VERDICT_DETERMINISTIC == (int)VERDICT_DETERMINISTIC &&
                   (int)HEDDLE_VERDICT_UNKNOWN == (int)VERDICT_UNKNOWN,
               "enum heddle_verdict differs from enum verdict");

struct runs { /* of one order */
    uint64_t *digests;
    unsigned count, failed;
};

static unsigned distinct(const struct runs *r)
{
    unsigned n = 0;
    for (unsigned i = 0; i < r->count; i++) {
        unsigned k = 0;
        while (k < i && r->digests[k] != r->digests[i]) k++;
        n += k == i;
    }
    return n;
}

struct heddle_check_result
heddle_check(const struct heddle_check_options *options,
             struct heddle_check_outcome (*run)(void *self, const struct heddle_device_options *),
             void *self)
{
    static const char *const usual[] = {"random", "gpudet", "dab"};
    struct heddle_check_options o = options ? *options : (struct heddle_check_options){0};
    if (!o.orders) {
        o.orders = usual;
        o.order_count = sizeof usual / sizeof *usual;
    }
    if (!o.runs) o.runs = RUNS;
    struct heddle_check_result result = {.verdict = HEDDLE_VERDICT_UNKNOWN};
    struct verdict_order rows[HEDDLE_CHECK_ORDERS] = {0};
    struct verdict_facts facts = {.looked = true};
    result.name = verdict_name(VERDICT_UNKNOWN);
    if (o.order_count >= HEDDLE_CHECK_ORDERS) return result;
    for (size_t i = 0; i < o.order_count; i++) {
        char *wrong = orders_check(o.orders[i], NULL);
        free(wrong);
        if (wrong) return result;
    }
    uint64_t reference = 0;
    for (size_t i = 0; i <= o.order_count; i++) {
        const char *order = i ? o.orders[i - 1] : "native";
        const unsigned wanted = i ? o.runs : NATIVE_RUNS;
        struct runs r = {.digests = calloc(wanted, sizeof *r.digests)};
        if (!r.digests) abort();
        for (unsigned k = 0; k < wanted; k++) {
            struct heddle_device_options d = o.device ? *o.device
                                                      : (struct heddle_device_options){0};
            d.order = order;
            d.seed = o.first_seed + k;
            d.check_race = d.check_atomicity = i == 0 && k == 0;
            const struct heddle_check_outcome got = run(self, &d);
            if (i == 0 && k == 0) {
                facts.races = result.races = got.races;
                facts.mixed = result.mixed = got.mixed;
                facts.suppressed = got.suppressed;
                facts.looked = !got.failed;
                reference = got.digest;
            }
            if (got.failed) r.failed++;
            else r.digests[r.count++] = got.digest;
        }
        const unsigned results = distinct(&r);
        rows[i] = (struct verdict_order){.promise = i ? orders_promise(order) : ORDER_NO_PROMISE,
                                         .runs = wanted,
                                         .results = results,
                                         .failed = r.failed,
                                         .common = results == 1 && r.digests[0] == reference,
                                         .reference = i == 0};
        result.orders[i] = (struct heddle_check_order){order, wanted, results, r.failed};
        if (i == 0) facts.varies = results > 1;
        free(r.digests);
    }
    result.order_count = o.order_count + 1;
    result.unseen = verdict_unseen(o.order_count ? o.runs : NATIVE_RUNS, VERDICT_CONFIDENCE);
    const enum verdict v = verdict_of(rows, result.order_count, &facts);
    result.verdict = (enum heddle_verdict)v;
    result.name = verdict_name(v);
    return result;
}
