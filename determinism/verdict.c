/* The verdict of many runs of one program (determinism/verdict.h). */
#include "determinism/verdict.h"

#include <math.h>

bool verdict_broken(const struct verdict_order *o, const struct verdict_facts *facts)
{
    if (o->results < 2 || facts->varies) return false;
    return o->promise == ORDER_STRONG || (o->promise == ORDER_WEAK && facts->looked &&
                                          !facts->races && !facts->mixed && !facts->suppressed);
}

enum verdict verdict_of(const struct verdict_order *orders, size_t n,
                        const struct verdict_facts *facts)
{
    bool one = true, promised = false, kept = true, any = false, broken = false, failed = false;
    for (size_t i = 0; i < n; i++) {
        const struct verdict_order *o = &orders[i];
        any |= o->runs != 0;
        failed |= o->failed != 0;
        broken |= verdict_broken(o, facts);
        one &= !o->runs || (o->results == 1 && o->common);
        if (o->reference || !o->runs || o->promise == ORDER_NO_PROMISE) continue;
        promised = true;
        kept &= o->results == 1;
    }
    if (!any) return VERDICT_UNKNOWN;
    if (failed) return VERDICT_FAILED;
    if (broken) return VERDICT_BROKEN_PROMISE;
    if (facts->races) return VERDICT_RACY;
    if (facts->varies) return VERDICT_VARIES;
    if (one) return VERDICT_DETERMINISTIC;
    return promised && kept ? VERDICT_SOME : VERDICT_NONDETERMINISTIC;
}

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {
        [VERDICT_FAILED] = "failed",
        [VERDICT_BROKEN_PROMISE] = "broken guarantee",
        [VERDICT_RACY] = "racy",
        [VERDICT_UNDEFINED] = "undefined behaviour",
        [VERDICT_VARIES] = "varies by itself",
        [VERDICT_NONDETERMINISTIC] = "nondeterministic",
        [VERDICT_SOME] = "deterministic under some orders",
        [VERDICT_DETERMINISTIC] = "deterministic",
        [VERDICT_UNKNOWN] = "unknown",
    };
    return names[v];
}

double verdict_unseen(size_t runs, double confidence)
{
    return runs ? 1 - pow(1 - confidence, 1 / (double)runs) : 1;
}

double verdict_runs_for(double chance, double confidence)
{
    return fmax(1, ceil(log1p(-confidence) / log1p(-chance)));
}
