/* Litmus tests under `random`: what PTX's axioms (determinism/litmus/axioms.h) do not allow must never be seen.
 *
 * The shapes of determinism/litmus/shapes.c, each with all variants and placements. HEDDLE_LITMUS_SEEDS sets the launches
 * of each program, HEDDLE_LITMUS_PROGRAMS the random programs. */
#include <criterion/criterion.h>

#include "base/buf.h"
#include "base/rng.h"
#include "determinism/exhaustive.h"
#include "determinism/litmus/axioms.h"
#include "determinism/litmus/litmus.h"
#include "determinism/orders.h"
#include "tests/support/random_litmus.h"
#include "tests/support/support.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned number_of(const char *variable, unsigned preset)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 10) : preset;
}

static struct litmus test_of(const char *text, enum litmus_variant how, enum litmus_placement where)
{
    struct litmus t;
    const char *why = litmus_parse(&t, text);
    cr_assert_null(why, "%s: %s", text, why);
    litmus_strengthen(&t, how);
    litmus_place(&t, where);
    return t;
}

static uint64_t outcome_of(const struct litmus *t, const char *text)
{
    uint64_t outcome = 0;
    unsigned at = 0;
    for (const char *p = text; *p; p++) {
        if (*p >= '0' && *p <= '9') outcome |= (uint64_t)(*p - '0') << 4 * at++;
    }
    cr_assert_eq(at, t->reads + t->locations, "%s", text);
    return outcome;
}

/* ---- the enumerator --------------------------------------------------------------------------- */

/* Whether PTX allows an outcome: from the ISA's text and from Lustig, Sahasrabuddhe, Giroux, "A Formal Analysis of the NVIDIA
 * PTX Memory Consistency Model", ASPLOS 2019. */
static const struct {
    const char *text;
    enum litmus_placement where;
    const char *outcome;
    bool allowed;
} judged[] = {
    {"W x 1; W y 1 || R y; R x", LITMUS_GRID, "1 0, 1 1", true},
    {"W x 1; W.rel y 1 || R.acq y; R x", LITMUS_GRID, "1 0, 1 1", false},
    {"W x 1; W.rel y 1 || R.acq y; R x", LITMUS_GRID, "1 1, 1 1", true},
    {"W x 1; W.rel.cta y 1 || R.acq y; R x", LITMUS_GRID, "1 0, 1 1", true},
    {"W x 1; W.rel.cta y 1 || R.acq.cta y; R x", LITMUS_BLOCK, "1 0, 1 1", false},
    {"W x 1; F.ar.gpu; W y 1 || R.acq y; R x", LITMUS_GRID, "1 0, 1 1", true}, /* a weak flag */
    {"W x 1; F.ar.gpu; W.rlx y 1 || R.rlx y; F.ar.gpu; R x", LITMUS_GRID, "1 0, 1 1", false},
    {"W x 1; F.ar.cta; W.rlx y 1 || R.rlx y; F.ar.gpu; R x", LITMUS_GRID, "1 0, 1 1", true},
    {"W x 1; W.rel y 1 || A.rlx y 1 || R.acq y; R x", LITMUS_GRID, "1 2 0, 1 2", false},
    {"W x 1; W.rel y 1; W.rlx y 2 || R.acq y; R x", LITMUS_GRID, "2 0, 1 2", false},
    {"W.rel x 1; R.acq y || W.rel y 1; R.acq x", LITMUS_GRID, "0 0, 1 1", true},
    {"W.rlx x 1; F.sc.gpu; R.rlx y || W.rlx y 1; F.sc.gpu; R.rlx x", LITMUS_GRID, "0 0, 1 1",
     false},
    {"W.rlx x 1; F.sc.cta; R.rlx y || W.rlx y 1; F.sc.cta; R.rlx x", LITMUS_GRID, "0 0, 1 1", true},
    {"W.rlx x 1; F.ar.gpu; R.rlx y || W.rlx y 1; F.ar.gpu; R.rlx x", LITMUS_GRID, "0 0, 1 1", true},
    {"R.rlx x; W.rlx y 1 || R.rlx y; W.rlx x 1", LITMUS_GRID, "1 1, 1 1", true},
    {"R.rlx x; W.rlx y r0 || R.rlx y; W.rlx x r0", LITMUS_GRID, "1 1, 1 1", false}, /* thin air */
    {"R.acq x; W.rel y 1 || R.acq y; W.rel x 1", LITMUS_GRID, "1 1, 1 1", false},
    {"W.rlx x 1 || R.rlx x; R.rlx x", LITMUS_GRID, "1 0, 1", false},
    {"W x 1 || R x; R x", LITMUS_GRID, "1 0, 1", true},
    {"W.rlx x 1 || R x; R.rlx x; R x", LITMUS_GRID, "0 1 0, 1", false},
    {"W.rlx.cta x 1 || R.rlx x; R.rlx x", LITMUS_GRID, "1 0, 1", true},
    {"W.rlx.cta x 1 || R.rlx.cta x; R.rlx x", LITMUS_BLOCK, "1 0, 1", false},
    {"W x 1; R x", LITMUS_GRID, "0, 1", false},
    {"W x 1; W x 2", LITMUS_GRID, "1", false},
    {"W.rlx x 1 || W.rlx y 1 || R.acq x; R.acq y || R.acq y; R.acq x", LITMUS_GRID, "1 0 1 0, 1 1",
     true},
    {"W.rlx x 1 || W.rlx y 1 || R.rlx x; F.sc.gpu; R.rlx y || R.rlx y; F.sc.gpu; R.rlx x",
     LITMUS_GRID, "1 0 1 0, 1 1", false},
    {"W.rlx x 1 || R.rlx x; W.rel y 1 || R.acq y; R.rlx x", LITMUS_GRID, "1 1 0, 1 1", false},
    {"W x 1 || R x; W.rel y 1 || R.acq y; R x", LITMUS_GRID, "1 1 0, 1 1", true},
    {"W x 1; W.rel.cta y 1 || R.acq.cta y; W.rel z 1 || R.acq z; R x", LITMUS_PAIRS, "1 1 0, 1 1 1",
     false},
    {"A x 1 || A x 1", LITMUS_GRID, "0 0, 1", false},
    {"A.rlx.cta x 1 || A.rlx.cta x 1", LITMUS_GRID, "0 0, 1", true},
    {"A.rlx.cta x 1 || A.rlx.cta x 1", LITMUS_BLOCK, "0 0, 1", false},
    {"W x 1; B; R y || W y 1; B; R x", LITMUS_BLOCK, "0 1, 1 1", false},
    {"W.rlx x 1; W.rlx y 2 || W.rlx y 1; W.rlx x 2", LITMUS_GRID, "1 1", true},
    {"W.rlx x 1; F.sc.gpu; W.rlx y 2 || W.rlx y 1; F.sc.gpu; W.rlx x 2", LITMUS_GRID, "1 1", false},
};

Test(litmus, the_enumerator_knows_the_model)
{
    static struct axioms_set allowed;
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        const struct litmus t = test_of(judged[i].text, LITMUS_AS_IS, judged[i].where);
        cr_assert(axioms_allowed(&t, AXIOMS_PTX, &allowed));
        cr_expect_eq(axioms_has(&allowed, outcome_of(&t, judged[i].outcome)), judged[i].allowed,
                     "%s: %s", judged[i].text, judged[i].outcome);
    }
}

/* SC is stronger than TSO, and TSO than PTX; without fences each shape's weak outcome is not SC, and PTX allows it unless
 * one location alone forbids it. */
Test(litmus, the_models_are_ordered)
{
    static struct axioms_set sc, tso, ptx;
    for (size_t i = 0; i < litmus_shape_count; i++)
        for (int v = 0; v < LITMUS_VARIANTS; v++) {
            const struct litmus t = test_of(litmus_shapes[i].text, (enum litmus_variant)v,
                                            LITMUS_GRID);
            if (!axioms_allowed(&t, AXIOMS_SC, &sc)) continue; /* CoRR2 */
            cr_assert(axioms_allowed(&t, AXIOMS_TSO, &tso) && axioms_allowed(&t, AXIOMS_PTX, &ptx));
            cr_expect(sc.count > 0 && sc.count <= tso.count && tso.count <= ptx.count);
            for (size_t k = 0; k < sc.count; k++) cr_expect(axioms_has(&tso, sc.outcome[k]));
            for (size_t k = 0; k < tso.count; k++)
                cr_expect(axioms_has(&ptx, tso.outcome[k]), "%s %s", litmus_shapes[i].name,
                          litmus_variants[v]);
            if (v == LITMUS_AS_IS)
                cr_expect(!axioms_has(&sc, outcome_of(&t, strchr(litmus_shapes[i].weak, '=')
                                                              ? litmus_shapes[i].weak
                                                              : "")),
                          "%s", litmus_shapes[i].name);
        }
}

Test(litmus, a_test_is_printed_as_it_is_read)
{
    for (size_t i = 0; i < litmus_shape_count; i++)
        for (int v = 0; v < LITMUS_VARIANTS; v++) {
            const struct litmus t = litmus_of_shape(i, (enum litmus_variant)v, LITMUS_GRID);
            struct litmus again;
            struct buf text = {0}, ptx = {0}, ptx_again = {0};
            litmus_text(&text, &t);
            cr_assert_null(litmus_parse(&again, text.data), "%s", text.data);
            litmus_ptx(&ptx, &t);
            litmus_ptx(&ptx_again, &again);
            cr_expect_str_eq(ptx.data, ptx_again.data);
            buf_free(&text);
            buf_free(&ptx);
            buf_free(&ptx_again);
        }
}

/* ---- the machine ------------------------------------------------------------------------------- */

struct seen {
    struct axioms_set set;
    unsigned count[AXIOMS_OUTCOMES];
};

static void note(struct seen *s, uint64_t outcome)
{
    size_t at = 0;
    while (at < s->set.count && s->set.outcome[at] != outcome) at++;
    if (at == AXIOMS_OUTCOMES) return;
    if (at == s->set.count) s->set.outcome[s->set.count++] = outcome;
    s->count[at]++;
}

static void run(const struct litmus *t, const char *order, unsigned launches, uint64_t seed,
                struct seen *out)
{
    const char *fault = NULL;
    char *why = NULL;
    struct litmus_bench *b = litmus_bench_new(t, &fault);
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(b && o, "%s%s", b ? "" : fault, why ? why : "");
    out->set.count = 0;
    memset(out->count, 0, sizeof out->count);
    for (unsigned i = 0; i < launches; i++) {
        uint64_t outcome = 0;
        cr_assert(litmus_bench_run(b, orders_get(o), &outcome, &fault), "%s", fault);
        note(out, outcome);
    }
    orders_free(o);
    litmus_bench_free(b);
}

static void expect_allowed(const struct litmus *t, const struct seen *s,
                           const struct axioms_set *allowed, const char *name)
{
    for (size_t i = 0; i < s->set.count; i++) {
        struct buf b = {0};
        if (axioms_has(allowed, s->set.outcome[i])) continue;
        litmus_print(&b, t, s->set.outcome[i]);
        litmus_ptx(&b, t);
        cr_expect(false, "%s: forbidden, seen %u times: %s", name, s->count[i], b.data);
        buf_free(&b);
    }
}

/* Runs all programs of the shapes; *could is how many outcomes are allowed, *seen how many of them came. */
static void run_shapes(const char *order, enum axioms_model model, unsigned launches)
{
    static struct axioms_set allowed;
    static struct seen s;
    const bool prints = getenv("HEDDLE_LITMUS_PRINT");
    for (size_t i = 0; i < litmus_shape_count; i++)
        for (int v = 0; v < LITMUS_VARIANTS; v++)
            for (int p = 0; p < LITMUS_PLACEMENTS; p++) {
                const struct litmus t = test_of(litmus_shapes[i].text, (enum litmus_variant)v,
                                                (enum litmus_placement)p);
                char name[64];
                snprintf(name, sizeof name, "%s+%s@%s", litmus_shapes[i].name, litmus_variants[v],
                         litmus_placements[p]);
                if (t.threads < 3 && p == LITMUS_PAIRS) continue;
                if (!axioms_allowed(&t, model, &allowed)) {
                    cr_expect_str_eq(litmus_shapes[i].name, "CoRR2", "too large");
                    continue; /* six atomics of one location */
                }
                run(&t, order, launches, 1 + i * 1000, &s);
                expect_allowed(&t, &s, &allowed, name);
                if (prints && s.set.count < allowed.count)
                    for (size_t k = 0; k < allowed.count; k++) {
                        struct buf b = {0};
                        size_t at = 0;
                        while (at < s.set.count && s.set.outcome[at] != allowed.outcome[k]) at++;
                        litmus_print(&b, &t, allowed.outcome[k]);
                        if (at == s.set.count) fprintf(stderr, "unseen %s %s\n", name, b.data);
                        buf_free(&b);
                    }
            }
}

Test(litmus, random_shows_no_forbidden_outcome)
{
    run_shapes("random", AXIOMS_PTX, number_of("HEDDLE_LITMUS_SEEDS", 50));
}

Test(litmus, without_its_switches_random_is_sequentially_consistent)
{
    run_shapes("random:late-stores=off:late-loads=off:stale-loads=off", AXIOMS_SC,
               number_of("HEDDLE_LITMUS_SEEDS", 50) / 2);
}

Test(litmus, sc_shows_no_outcome_that_it_forbids)
{
    run_shapes("random:model=sc", AXIOMS_SC, number_of("HEDDLE_LITMUS_SEEDS", 50) / 2);
}

Test(litmus, tso_shows_no_outcome_that_it_forbids)
{
    run_shapes("random:model=tso", AXIOMS_TSO, number_of("HEDDLE_LITMUS_SEEDS", 50));
}

/* Each outcome of two threads in CTAs of their own, and in one CTA. */
static void expect_complete(const char *order, enum axioms_model model)
{
    static struct axioms_set allowed;
    static struct seen s;
    for (size_t i = 0; i < litmus_shape_count; i++)
        for (int v = 0; v < LITMUS_VARIANTS; v++)
            for (int p = 0; p <= LITMUS_BLOCK; p++) {
                const struct litmus t = litmus_of_shape(i, (enum litmus_variant)v,
                                                        (enum litmus_placement)p);
                unsigned launches = 100;
                if (t.threads > 2) continue;
                cr_assert(axioms_allowed(&t, model, &allowed));
                do run(&t, order, launches, 7, &s); /* seldom more than once */
                while (s.set.count < allowed.count && (launches *= 4) <= 2000);
                cr_expect_eq(s.set.count, allowed.count, "%s+%s@%s: %zu of %zu",
                             litmus_shapes[i].name, litmus_variants[v], litmus_placements[p],
                             s.set.count, allowed.count);
            }
}

Test(litmus, sc_shows_each_outcome_of_two_threads)
{
    expect_complete("random:model=sc", AXIOMS_SC);
}

Test(litmus, tso_shows_each_outcome_of_two_threads)
{
    expect_complete("random:model=tso", AXIOMS_TSO);
}

/* Forwarding: a thread sees its own store before others do (Sewell et al., example n6 and "IRIW does not"). */
Test(litmus, tso_forwards_from_the_store_buffer)
{
    static struct axioms_set allowed;
    static struct seen s;
    struct litmus t;
    cr_assert_null(litmus_parse(&t, "W x 1; R x; R y || W y 1; R y; R x"));
    cr_assert(axioms_allowed(&t, AXIOMS_TSO, &allowed));
    run(&t, "random:model=tso", 2000, 3, &s);
    expect_allowed(&t, &s, &allowed, "forwarding");
    cr_expect_eq(s.set.count, allowed.count);
    bool forwarded = false;
    for (size_t i = 0; i < s.set.count; i++)
        forwarded |= s.set.outcome[i] == outcome_of(&t, "1 0 1 0, 1 1");
    cr_expect(forwarded);
}

/* Weak outcomes that the model allows: each must be seen in 2,000 launches of two threads, 20,000 of more. */
static const struct {
    const char *shape, *without; /* options that make the outcome impossible; NULL: not tested */
    enum litmus_variant how;
    enum litmus_placement where;
} shown[] = {
    {"MP", ":stale-loads=off:late-stores=off", LITMUS_AS_IS, LITMUS_GRID},
    {"MP", NULL, LITMUS_AS_IS, LITMUS_SHARED},
    {"MP", ":stale-loads=off:late-stores=off", LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"MP", ":scopes=off", LITMUS_FENCED_CTA, LITMUS_GRID},
    {"MP", ":scopes=off", LITMUS_FENCED_SC_CTA, LITMUS_GRID},
    {"MP", ":scopes=off", LITMUS_REL_ACQ_CTA, LITMUS_GRID},
    {"SB", NULL, LITMUS_FENCED, LITMUS_GRID},
    {"SB", ":stale-loads=off:late-stores=off", LITMUS_REL_ACQ, LITMUS_GRID},
    {"SB+exch", ":stale-loads=off:late-stores=off", LITMUS_AS_IS, LITMUS_GRID},
    {"LB", ":late-loads=off", LITMUS_AS_IS, LITMUS_GRID},
    {"LB", ":late-loads=off", LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"LB", ":late-loads=off", LITMUS_ALL_RELAXED, LITMUS_BLOCK},
    {"LB", ":late-loads=off", LITMUS_ALL_RELAXED, LITMUS_SHARED},
    {"LB", ":model=tso", LITMUS_RELAXED_CTA, LITMUS_GRID},
    {"LB", ":model=sc", LITMUS_RELAXED_CTA, LITMUS_BLOCK},
    {"3.LB", ":late-loads=off", LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"WWC", ":late-loads=off", LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"R", NULL, LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"2+2W", ":late-stores=off", LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"CoRR", ":stale-loads=off:late-stores=off", LITMUS_AS_IS, LITMUS_GRID},
    {"CoRR", ":scopes=off", LITMUS_RELAXED_CTA, LITMUS_GRID},
    {"WRC", NULL, LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"WRC", ":scopes=off", LITMUS_FENCED_CTA, LITMUS_GRID},
    {"RWC", NULL, LITMUS_FENCED, LITMUS_GRID},
    {"ISA2", NULL, LITMUS_ALL_RELAXED, LITMUS_BLOCK},
    {"IRIW", ":stale-loads=off:late-stores=off", LITMUS_ALL_RELAXED, LITMUS_GRID},
    {"IRIW", NULL, LITMUS_REL_ACQ, LITMUS_GRID},
    {"IRIW", NULL, LITMUS_FENCED, LITMUS_GRID},
    {"3.SB", NULL, LITMUS_ALL_RELAXED, LITMUS_SHARED},
    {"INC", ":scopes=off", LITMUS_RELAXED_CTA, LITMUS_GRID},
};

static unsigned count_of(const struct litmus *t, const char *order, unsigned launches,
                         uint64_t outcome)
{
    static struct seen s;
    run(t, order, launches, 5, &s);
    for (size_t i = 0; i < s.set.count; i++)
        if (s.set.outcome[i] == outcome) return s.count[i];
    return 0;
}

/* The text of an outcome without the names of locations has one digit for each value. */
static uint64_t weak_outcome(const struct litmus *t, const char *shape)
{
    for (size_t i = 0; i < litmus_shape_count; i++)
        if (!strcmp(litmus_shapes[i].name, shape)) return outcome_of(t, litmus_shapes[i].weak);
    cr_assert_fail("there is no shape %s", shape);
    return 0;
}

Test(litmus, random_shows_weak_outcomes)
{
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i += THINNED) {
        const char *text = "";
        for (size_t k = 0; k < litmus_shape_count; k++)
            if (!strcmp(litmus_shapes[k].name, shown[i].shape)) text = litmus_shapes[k].text;
        struct litmus t = test_of(text, shown[i].how, shown[i].where);
        const unsigned launches = t.threads == 2 ? 2000 : 20000;
        const uint64_t outcome = weak_outcome(&t, shown[i].shape);
        const char *how = litmus_variants[shown[i].how];
        cr_expect(count_of(&t, "random", launches, outcome) > 0, "%s+%s", shown[i].shape, how);
        if (!shown[i].without) continue;
        char order[128];
        snprintf(order, sizeof order, "random%s", shown[i].without);
        cr_expect_eq(count_of(&t, order, 2000, outcome), 0, "%s+%s, %s", shown[i].shape, how,
                     order);
    }
}

/* Atomics that pass others of their thread: exchanges, and additions of 0. */
Test(litmus, random_shows_late_atomics)
{
    static const struct {
        const char *shape, *weak;
        enum litmus_placement where;
    } rows[] = {
        {"MP", "0 0 1 0, 1 1", LITMUS_GRID},       {"MP", "0 0 1 0, 1 1", LITMUS_BLOCK},
        {"SB", "0 0 0 0, 1 1", LITMUS_GRID},       {"SB", "0 0 0 0, 1 1", LITMUS_BLOCK},
        {"IRIW", "0 0 1 0 1 0, 1 1", LITMUS_GRID},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = "";
        for (size_t k = 0; k < litmus_shape_count; k++)
            if (!strcmp(litmus_shapes[k].name, rows[i].shape)) text = litmus_shapes[k].text;
        const struct litmus t = test_of(text, LITMUS_ATOMIC, rows[i].where);
        const uint64_t weak = outcome_of(&t, rows[i].weak);
        cr_expect_gt(count_of(&t, "random", t.threads == 2 ? 500 : 10000, weak), 0, "%s",
                     rows[i].shape);
        cr_expect_eq(count_of(&t, "random:late-atomics=off", 1000, weak), 0, "%s", rows[i].shape);
        cr_expect_eq(count_of(&t, "random:late-stores=off", 1000, weak), 0, "%s", rows[i].shape);
    }
    /* Not behind a fence, and not by a release. */
    const struct litmus fenced = test_of(
        "X.rlx.gpu x 1; F.ar.gpu; X.rlx.gpu y 1 || A.rlx.gpu y 0; F.ar.gpu; A.rlx.gpu x 0",
        LITMUS_AS_IS, LITMUS_GRID);
    cr_expect_eq(count_of(&fenced, "random", 3000, outcome_of(&fenced, "0 0 1 0, 1 1")), 0);
}

/* ---- random programs -------------------------------------------------------------------------------- */

Test(litmus, random_shows_no_forbidden_outcome_of_random_programs)
{
    static struct axioms_set allowed;
    static struct seen s;
    const unsigned programs = number_of("HEDDLE_LITMUS_PROGRAMS", 200 / THINNED),
                   launches = number_of("HEDDLE_LITMUS_SEEDS", 50);
    for (unsigned n = 1; n <= programs; n++) {
        char name[32];
        const struct litmus t = random_litmus(n);
        if (!axioms_allowed(&t, AXIOMS_PTX, &allowed)) continue;
        run(&t, "random", launches, n, &s);
        snprintf(name, sizeof name, "program %u", n);
        expect_allowed(&t, &s, &allowed, name);
        if (!axioms_allowed(&t, AXIOMS_TSO, &allowed)) continue;
        run(&t, "random:model=tso", launches, n, &s);
        expect_allowed(&t, &s, &allowed, name);
        if (!axioms_allowed(&t, AXIOMS_SC, &allowed)) continue;
        run(&t, "random:model=sc", launches, n, &s);
        expect_allowed(&t, &s, &allowed, name);
    }
}

/* ---- executions -------------------------------------------------------------------------------------- */

/* Launches with one seed each: if two are the same execution, they have the same outcome. Returns the executions. */
static unsigned executions(const struct litmus *t, unsigned launches, const char *name)
{
    static struct {
        uint64_t execution, outcome;
    } of[1000];
    const char *fault = NULL;
    char *why = NULL;
    unsigned count = 0;
    struct litmus_bench *b = litmus_bench_new(t, &fault);
    cr_assert(b, "%s", fault);
    for (unsigned seed = 1; seed <= launches; seed++) {
        struct orders *o = orders_new("random", seed, &why);
        uint64_t outcome = 0;
        cr_assert(litmus_bench_run(b, orders_get(o), &outcome, &fault), "%s", fault);
        const uint64_t execution = orders_execution(orders_get(o));
        cr_assert(execution != ORDER_EXECUTION_UNKNOWN);
        unsigned at = 0;
        while (at < count && of[at].execution != execution) at++;
        if (at == count) {
            of[at].execution = execution;
            of[at].outcome = outcome;
            count++;
        }
        cr_expect_eq(of[at].outcome, outcome, "%s, seed %u", name, seed);
        orders_free(o);
    }
    litmus_bench_free(b);
    return count;
}

Test(litmus, an_execution_has_one_outcome)
{
    for (size_t i = 0; i < litmus_shape_count; i++)
        for (int v = 0; v < LITMUS_VARIANTS; v += 2) {
            const struct litmus t = litmus_of_shape(i, (enum litmus_variant)v,
                                                    (enum litmus_placement)(v / 2 % 2));
            executions(&t, 100, litmus_shapes[i].name);
        }
    for (unsigned n = 1; n <= 100 / THINNED; n++) {
        const struct litmus t = random_litmus(n);
        char name[32];
        snprintf(name, sizeof name, "program %u", n);
        executions(&t, 60, name);
    }
}

/* On paper: which store each load reads, and which of two stores of a place comes first. */
Test(litmus, executions_are_counted)
{
    static const struct {
        const char *text;
        unsigned count;
    } counted[] = {
        {"W x 1; W y 1", 1},
        {"W x 1 || W y 1", 1},
        {"W.rlx x 1 || W.rlx x 2", 2},
        {"W.rlx x 1 || W.rlx x 1", 2},
        {"W.rlx x 1 || W.rlx x 2 || W.rlx x 3", 6},
        {"W.rlx x 1 || R.rlx x", 2},
        {"W.rlx x 1; W.rlx y 1 || R.rlx y; R.rlx x", 4}, /* MP: two values for each load */
        {"R.rlx x; W.rlx y 1 || R.rlx y; W.rlx x 1", 4}, /* LB */
        {"A x 1 || A x 1", 2},
        {"A x 1 || A x 1 || A x 1", 6},
        {"A x 1; A x 1 || A x 1", 3},
        {"W.rlx x 1 || W.rlx x 2 || W.rlx y 1 || W.rlx y 2", 4},
    };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        struct litmus t;
        cr_assert_null(litmus_parse(&t, counted[i].text));
        cr_expect_eq(executions(&t, 600, counted[i].text), counted[i].count, "%s: %u",
                     counted[i].text, executions(&t, 600, counted[i].text));
    }
}

/* ---- all choices ------------------------------------------------------------------------------------- */

/* The number of runs; 0: the limit was reached. */
static unsigned search(const struct litmus *t, unsigned limit, struct axioms_set *out)
{
    const char *fault = NULL;
    struct litmus_bench *b = litmus_bench_new(t, &fault);
    struct exhaustive *x = exhaustive_new();
    unsigned runs = 0;
    out->count = 0;
    cr_assert(b, "%s", fault);
    do {
        uint64_t outcome = 0;
        cr_assert(litmus_bench_run(b, exhaustive_order(x), &outcome, &fault), "%s", fault);
        axioms_add(out, outcome);
    } while (exhaustive_next(x) && ++runs < limit);
    const bool complete = !exhaustive_missing(x);
    exhaustive_free(x);
    litmus_bench_free(b);
    return complete ? runs + 1 : 0;
}

/* Where PTX allows more than the search shows: loads that are late over a fence, release or acquire of another thread's
 * scope; atomics that take place later than a store behind them; weak or not morally strong writes of which no thread's is the
 * last. */
static const char *const less[] = {"LB+fence.cta@grid",    "LB+atom*",
                                   "LB+fence.sc.cta@grid", "LB+rel+acq.cta@grid",
                                   "R+atom.cta@grid",      "S+atom*",
                                   "2+2W+atom*",           "CoWR+weak@*",
                                   "CoWR+rlx.cta@grid",    "CoWR+rel+acq.cta@grid",
                                   "CoWR+atom.cta@grid",   "CoRW+atom.cta@grid",
                                   "INC+rlx.cta@grid",     "INC+rel+acq.cta@grid",
                                   "INC+atom.cta@grid"};

static bool shows_less(const char *name)
{
    for (size_t i = 0; i < sizeof less / sizeof *less; i++)
        if (fnmatch(less[i], name, 0) == 0) return true;
    return false;
}

/* Exactly what the axioms allow, but for the tests above. */
Test(litmus, a_search_shows_exactly_what_two_threads_may, .timeout = 120)
{
    static struct axioms_set allowed, found;
    for (size_t i = 0; i < litmus_shape_count; i++)
        for (int v = 0; v < LITMUS_VARIANTS; v++)
            for (int p = 0; p < LITMUS_PLACEMENTS; p++) {
                const struct litmus t = litmus_of_shape(i, (enum litmus_variant)v,
                                                        (enum litmus_placement)p);
                char name[LITMUS_NAME];
                /* Those in shared memory have many runs: all threads store the first zeros. */
                if (t.threads > 2 || p == LITMUS_PAIRS || (p == LITMUS_SHARED && v > 1)) continue;
                if (SANITIZED && (i + (size_t)v) % THINNED) continue;
                litmus_name(name, i, (enum litmus_variant)v, (enum litmus_placement)p);
                cr_assert(axioms_allowed(&t, AXIOMS_PTX, &allowed));
                cr_expect(search(&t, 100000, &found), "%s: too many runs", name);
                for (size_t k = 0; k < found.count; k++)
                    cr_expect(axioms_has(&allowed, found.outcome[k]), "%s: forbidden", name);
                if (shows_less(name)) cr_expect_lt(found.count, allowed.count, "%s: all", name);
                else cr_expect_eq(found.count, allowed.count, "%s", name);
            }
}

/* What the seeded order shows the search shows, too: they share the rules, not the choices. */
Test(litmus, a_search_shows_what_seeds_show, .timeout = 120)
{
    static struct axioms_set found, allowed;
    static struct seen s;
    unsigned complete = 0;
    for (unsigned n = 1; n <= 60; n++) {
        const struct litmus t = random_litmus(n);
        if (t.threads > 2 || !axioms_allowed(&t, AXIOMS_PTX, &allowed)) continue;
        if (!search(&t, 3000, &found)) continue;
        complete++;
        run(&t, "random", 200, n, &s);
        for (size_t k = 0; k < s.set.count; k++)
            cr_expect(axioms_has(&found, s.set.outcome[k]), "program %u", n);
        for (size_t k = 0; k < found.count; k++)
            cr_expect(axioms_has(&allowed, found.outcome[k]), "program %u", n);
    }
    cr_expect_geq(complete, 10, "%u", complete);
}

Test(litmus, a_search_that_is_cut_short_says_so)
{
    static struct axioms_set found;
    const struct litmus t = test_of("W x 1; R y || W y 1; R x", LITMUS_AS_IS, LITMUS_GRID);
    cr_expect_gt(search(&t, 1000, &found), 1);
    cr_expect_eq(search(&t, 3, &found), 0);
}
