/* The race detector on random litmus programs, against the axioms of PTX (determinism/litmus/axioms.h).
 *
 * HEDDLE_LITMUS_PROGRAMS sets how many programs; HEDDLE_LITMUS_PRINT prints the first false alarms and misses. */
#include <criterion/criterion.h>

#include "base/buf.h"
#include "base/rng.h"
#include "determinism/litmus/axioms.h"
#include "determinism/litmus/litmus.h"
#include "determinism/orders.h"
#include "determinism/race/race.h"
#include "tests/support/random_litmus.h"

#include <stdio.h>
#include <stdlib.h>

struct tally {
    unsigned clean, racy, observed, others, misses; /* runs that can only be so; wrong verdicts */
};

static void print(const char *what, const struct litmus *t, uint64_t outcome)
{
    struct buf b = {0};
    litmus_text(&b, t);
    buf_puts(&b, "  ");
    litmus_print(&b, t, outcome);
    fprintf(stderr, "%s (cta %u %u %u): %s\n", what, t->cta[0], t->cta[1], t->cta[2], b.data);
    buf_free(&b);
}

/* Without late stores and stale loads: the detector takes each strong load for one of the newest write. */
static void judge(const struct litmus *t, uint64_t seed, struct tally *n)
{
    static struct axioms_set clean, racy, by_base, unused;
    const bool prints = getenv("HEDDLE_LITMUS_PRINT");
    const char *why = NULL;
    char *wrong = NULL;
    /* In shared memory all threads store the first zeros, which is a race. */
    if (t->shared || !axioms_races(t, false, &clean, &racy) ||
        !axioms_races(t, true, &unused, &by_base))
        return;
    struct race *r = race_new();
    struct litmus_bench *b = litmus_bench_new(t, &why);
    struct orders *o = orders_new("random:model=sc", seed, &wrong);
    cr_assert(b && o, "%s", why);
    litmus_bench_observe(b, race_observer(r));
    for (int i = 0; i < 4; i++) {
        uint64_t outcome = 0;
        cr_assert(litmus_bench_run(b, orders_get(o), &outcome, &why), "%s", why);
        const bool found = litmus_bench_findings(b), may_race = axioms_has(&racy, outcome),
                   must_race = !axioms_has(&clean, outcome),
                   by_observation = !axioms_has(&by_base, outcome);
        n->clean += !may_race;
        n->racy += must_race;
        n->observed += found && !may_race && !by_observation;
        n->others += found && !may_race && by_observation;
        n->misses += !found && must_race;
        if (prints && found && !may_race)
            print(by_observation ? "false alarm" : "false alarm by observation order", t, outcome);
        if (prints && !found && must_race) print("missed", t, outcome);
    }
    orders_free(o);
    litmus_bench_free(b);
    race_free(r);
}

Test(race_litmus, verdicts_are_those_of_the_axioms, .timeout = 600)
{
    const char *text = getenv("HEDDLE_LITMUS_PROGRAMS");
    const unsigned programs = text ? (unsigned)strtoul(text, NULL, 10) : 500;
    struct tally n = {0};
    for (unsigned i = 1; i <= programs; i++) {
        const struct litmus t = random_litmus(i);
        judge(&t, i, &n);
    }
    if (text)
        fprintf(stderr,
                "%u clean, false alarms: %u by observation order, %u others; %u racy, %u missed\n",
                n.clean, n.observed, n.others, n.racy, n.misses);
    cr_expect_eq(n.misses, 0, "%u of %u", n.misses, n.racy);
    cr_expect_gt(n.clean, 100);
    cr_expect_gt(n.racy, 100);
    cr_expect_eq(n.observed + n.others, 0, "%u of %u", n.observed + n.others, n.clean);
}
