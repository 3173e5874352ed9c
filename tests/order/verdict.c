/* What runs say about a program: determinism/verdict.h. */
#include "determinism/verdict.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define NATIVE                                                                                     \
    {                                                                                              \
        .promise = ORDER_STRONG, .runs = 1, .results = 1, .common = true, .reference = true        \
    }
#define N ORDER_NO_PROMISE
#define W ORDER_WEAK
#define S ORDER_STRONG

static const struct {
    const char *what;
    struct verdict_order orders[4];
    struct verdict_facts facts;
    enum verdict want;
} rows[] = {
    {"one result everywhere",
     {NATIVE, {N, 20, 1, 0, true, false}, {S, 20, 1, 0, true, false}},
     {0, 0, 0, true, false},
     VERDICT_DETERMINISTIC},
    {"chance gives several",
     {NATIVE, {N, 8, 8, 0, false, false}},
     {0, 0, 0, true, false},
     VERDICT_NONDETERMINISTIC},
    {"chance gives one, but another",
     {NATIVE, {N, 20, 1, 0, false, false}},
     {0, 0, 0, true, false},
     VERDICT_NONDETERMINISTIC},
    {"orders that promise keep it",
     {NATIVE, {N, 8, 8, 0, false, false}, {S, 20, 1, 0, false, false}},
     {0, 0, 0, true, false},
     VERDICT_SOME},
    {"and may agree with native",
     {NATIVE, {N, 8, 8, 0, false, false}, {S, 20, 1, 0, true, false}},
     {0, 0, 0, true, false},
     VERDICT_SOME},
    {"a strong promise is not kept",
     {NATIVE, {S, 20, 2, 0, false, false}},
     {3, 3, 0, true, false},
     VERDICT_BROKEN_PROMISE},
    {"a weak one neither",
     {NATIVE, {W, 20, 2, 0, false, false}},
     {0, 0, 0, true, false},
     VERDICT_BROKEN_PROMISE},
    {"nobody looked for what voids it",
     {NATIVE, {W, 20, 2, 0, false, false}},
     {0, 0, 0, false, false},
     VERDICT_NONDETERMINISTIC},
    {"but a race voids it",
     {NATIVE, {W, 20, 2, 0, false, false}},
     {1, 0, 0, true, false},
     VERDICT_RACY},
    {"or a mixed access",
     {NATIVE, {W, 20, 2, 0, false, false}},
     {0, 1, 0, true, false},
     VERDICT_NONDETERMINISTIC},
    {"or what is suppressed",
     {NATIVE, {W, 20, 2, 0, false, false}},
     {0, 0, 4, true, false},
     VERDICT_NONDETERMINISTIC},
    {"mixed alone is nothing",
     {NATIVE, {W, 20, 1, 0, true, false}},
     {0, 1, 0, true, false},
     VERDICT_DETERMINISTIC},
    {"a race with one result",
     {NATIVE, {N, 20, 1, 0, true, false}},
     {1, 0, 0, true, false},
     VERDICT_RACY},
    {"a program that varies has no verdict",
     {{N, 2, 2, 0, false, true}, {S, 20, 20, 0, false, false}},
     {0, 0, 0, true, true},
     VERDICT_VARIES},
    {"but may race",
     {{N, 2, 2, 0, false, true}, {S, 20, 20, 0, false, false}},
     {1, 0, 0, true, true},
     VERDICT_RACY},
    {"failures come first",
     {NATIVE, {S, 20, 2, 1, false, false}},
     {1, 0, 0, true, false},
     VERDICT_FAILED},
    {"nothing was run", {{.reference = true}}, {0, 0, 0, true, false}, VERDICT_UNKNOWN},
    {"native alone", {NATIVE}, {0, 0, 0, true, false}, VERDICT_DETERMINISTIC},
};

Test(verdict, follows_from_results_and_promises)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum verdict got = verdict_of(rows[i].orders, 4, &rows[i].facts);
        cr_expect(got == rows[i].want, "%s: %s, not %s", rows[i].what, verdict_name(got),
                  verdict_name(rows[i].want));
    }
}

Test(verdict, says_what_may_be_unseen)
{
    cr_expect(fabs(verdict_unseen(20, 0.95) - 0.1391) < 1e-4);
    cr_expect(fabs(verdict_unseen(500, 0.95) - 0.005974) < 1e-6);
    cr_expect(fabs(verdict_unseen(1, 0.95) - 0.95) < 1e-12 && verdict_unseen(0, 0.95) == 1);
    cr_expect(fabs(verdict_unseen(459, 0.99) - 0.009983) < 1e-6);
}

/* 0.99^458 = 0.010023, 0.99^459 = 0.009923: 459 runs are the least for 1 % with 99 %. */
Test(verdict, says_how_many_runs_show_a_result)
{
    cr_expect(verdict_runs_for(0.01, 0.99) == 459);
    cr_expect(verdict_runs_for(0.01, 0.95) == 299);
    cr_expect(verdict_runs_for(0.5, 0.5) == 1);
    cr_expect(verdict_runs_for(0.9, 0.1) == 1);
    for (double chance = 0.001; chance < 1; chance *= 1.7)
        for (double confidence = 0.01; confidence < 1; confidence += 0.07) {
            const double n = verdict_runs_for(chance, confidence);
            cr_expect(1 - pow(1 - chance, n) >= confidence - 1e-9);
            cr_expect(n == 1 || 1 - pow(1 - chance, n - 1) < confidence + 1e-9);
        }
}

/* Each order says what it promises, and what does not exist promises nothing. */
Test(verdict, orders_say_what_they_promise)
{
    cr_expect(orders_promise("native") == ORDER_STRONG);
    cr_expect(orders_promise("random") == ORDER_NO_PROMISE);
    cr_expect(orders_promise("random:strategy=pct") == ORDER_NO_PROMISE);
    cr_expect(orders_promise("nothing") == ORDER_NO_PROMISE);
    static const char *const given_up[] = {
        "gpudet:buffer=off", "gpudet:depth=off",        "gpudet:serial=any",
        "gpudet:shared=any", "gpudet:distribution=any", "dab:scheduler=any",
        "dab:batches=off",   "dab:reorder=off",         "dab:distribution=any"};
    for (size_t i = 0; i < sizeof given_up / sizeof *given_up; i++)
        cr_expect(orders_promise(given_up[i]) == ORDER_NO_PROMISE, "%s", given_up[i]);
    cr_expect(orders_promise("gpudet") == ORDER_STRONG);
    cr_expect(orders_promise("gpudet:bta=off:dwp=off:commit=locks:serial=warp:bloom=8") ==
              ORDER_STRONG);
    cr_expect(orders_promise("dab") == ORDER_WEAK);
    cr_expect(orders_promise("dab:scheduler=srr:entries=32:fusion=off:sms=72") == ORDER_WEAK);
}
