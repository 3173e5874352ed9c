/* Litmus tests under an order: histograms of their outcomes, after those of litmus7 (diy.inria.fr). */
#include "cli/litmus_table.h"

#include "base/arena.h"
#include "base/buf.h"
#include "cli/report.h"
#include "cli/run_options.h"
#include "determinism/exhaustive.h"
#include "determinism/litmus/axioms.h"
#include "determinism/litmus/litmus.h"
#include "determinism/orders.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 1000, MOST_SEEDS = 100000000 };
static const char preset[] = "*@grid";

static const struct {
    const char *option, *name;
} models[] = {
    [AXIOMS_PTX] = {"", "PTX's memory model"},
    [AXIOMS_TSO] = {"model=tso", "total store order"},
    [AXIOMS_SC] = {"model=sc", "sequential consistency"},
};

struct table {
    const char *pattern, *order;
    enum axioms_model model;    /* what the order's outcomes are compared with */
    uint64_t first_seed, seeds; /* of a search: the most runs */
    bool is_search;             /* over all choices, in place of seeds */
    size_t incomplete;          /* searches that were stopped */
    size_t tests, forbidden;    /* tests that were run; outcomes of them that are not allowed */
    struct report *report;
};

struct state { /* an outcome */
    uint64_t outcome, count, first_seed;
};

struct histogram {
    struct axioms_set allowed, interleavings; /* by the axioms of PTX, and of SC */
    bool is_known;                            /* `allowed` is; else the test is too large */
    struct state states[AXIOMS_OUTCOMES];
    size_t count;
    uint64_t runs;
    bool is_complete; /* of a search */
};

static void note(struct histogram *h, uint64_t outcome, uint64_t times, uint64_t seed)
{
    size_t at = 0;
    while (at < h->count && h->states[at].outcome < outcome) at++;
    if (at == h->count || h->states[at].outcome != outcome) {
        if (h->count == AXIOMS_OUTCOMES) return;
        memmove(h->states + at + 1, h->states + at, (h->count++ - at) * sizeof *h->states);
        h->states[at] = (struct state){.outcome = outcome, .first_seed = seed};
    }
    h->states[at].count += times;
}

/* An outcome that no interleaving of the threads has. */
static bool is_weak(const struct histogram *h, uint64_t outcome)
{
    return h->is_known && !axioms_has(&h->interleavings, outcome);
}

static void print_state(const struct histogram *h, const struct litmus *t, const struct state *s,
                        const char *unit)
{
    struct buf text = {0};
    litmus_print(&text, t, s->outcome);
    printf("%8" PRIu64 " %c> %-28s", s->count, is_weak(h, s->outcome) ? '*' : ':', text.data);
    if (s->count) printf("  first %s %" PRIu64, unit, s->first_seed);
    else printf("  allowed, not seen");
    if (h->is_known && !axioms_has(&h->allowed, s->outcome)) printf("  FORBIDDEN");
    printf("\n");
    buf_free(&text);
}

static void print(struct table *x, struct histogram *h, const struct litmus *t, const char *name)
{
    struct buf text = {0};
    bool weak = false;
    uint64_t witnesses = 0;
    size_t seen = h->count;
    for (size_t i = 0; i < h->count; i++) {
        if (is_weak(h, h->states[i].outcome)) witnesses += h->states[i].count;
        x->forbidden += h->is_known && !axioms_has(&h->allowed, h->states[i].outcome);
    }
    for (size_t i = 0; h->is_known && i < h->allowed.count; i++) {
        weak |= is_weak(h, h->allowed.outcome[i]);
        note(h, h->allowed.outcome[i], 0, 0);
    }
    litmus_text(&text, t);
    printf("Test %s %s\n  %s\n", name,
           !h->is_known ? "Unknown"
           : weak       ? "Allowed"
                        : "Forbidden",
           text.data);
    buf_free(&text);
    if (h->is_known)
        printf("Histogram (%zu states of %zu that the model allows)\n", seen, h->allowed.count);
    else printf("Histogram (%zu states; too large for the enumerator)\n", seen);
    for (size_t i = 0; i < h->count; i++)
        print_state(h, t, &h->states[i], x->is_search ? "run" : "seed");
    if (x->is_search)
        printf("Search %s after %" PRIu64 " runs%s\n", h->is_complete ? "complete" : "stopped",
               h->runs,
               h->is_complete ? ": random shows no other outcome"
                              : ": there may be other outcomes");
    printf("Observation %s %s %" PRIu64 " %" PRIu64 "\n\n", name,
           !witnesses            ? "Never"
           : witnesses < h->runs ? "Sometimes"
                                 : "Always",
           witnesses, h->runs - witnesses);
}

/* One launch for each seed. false: one failed. */
static bool run_seeds(const struct table *x, struct histogram *h, struct litmus_bench *b,
                      const char *name)
{
    for (uint64_t i = 0; i < x->seeds; i++) {
        const char *why = NULL;
        char *wrong = NULL; /* nothing: the order was looked at when it was read */
        uint64_t outcome = 0;
        struct orders *o = orders_new(x->order, x->first_seed + i, &wrong);
        const bool ran = litmus_bench_run(b, orders_get(o), &outcome, &why);
        if (!ran)
            report_fail(x->report, EXIT_FAULT, "heddle run: %s, seed %" PRIu64 ": %s\n", name,
                        x->first_seed + i, why);
        orders_free(o);
        free(wrong);
        if (!ran) return false;
        note(h, outcome, 1, x->first_seed + i);
        h->runs++;
    }
    return true;
}

/* One launch for each sequence of choices. false: one failed. */
static bool run_search(const struct table *x, struct histogram *h, struct litmus_bench *b,
                       const char *name)
{
    struct exhaustive *search = exhaustive_new();
    const char *why = NULL;
    bool ran = true;
    do {
        uint64_t outcome = 0;
        ran = litmus_bench_run(b, exhaustive_order(search), &outcome, &why);
        if (ran) note(h, outcome, 1, h->runs++);
        else report_fail(x->report, EXIT_FAULT, "heddle run: %s: %s\n", name, why);
    } while (ran && exhaustive_next(search) && h->runs < x->seeds);
    h->is_complete = !exhaustive_missing(search);
    exhaustive_free(search);
    return ran;
}

static bool run_test(struct table *x, const struct litmus *t, const char *name)
{
    struct histogram *h = calloc(1, sizeof *h);
    const char *why = NULL;
    struct litmus_bench *b = litmus_bench_new(t, &why);
    if (!h) abort();
    if (!b) report_fail(x->report, EXIT_FAULT, "heddle run: %s: %s\n", name, why);
    h->is_known = axioms_allowed(t, x->model, &h->allowed) &&
                  axioms_allowed(t, AXIOMS_SC, &h->interleavings);
    const bool ran = b && (x->is_search ? run_search : run_seeds)(x, h, b, name);
    x->incomplete += x->is_search && !h->is_complete;
    if (ran) print(x, h, t, name);
    x->tests++;
    litmus_bench_free(b);
    free(h);
    return ran;
}

/* A test in the notation of litmus.h, each thread in a CTA of its own. NULL: it was run; else what is wrong with it. */
static const char *run_text(struct table *x)
{
    struct litmus t;
    const char *why = litmus_parse(&t, x->pattern);
    if (!why) (void)run_test(x, &t, "given@grid");
    return why;
}

static void run_all(struct table *x)
{
    for (size_t shape = 0; shape < litmus_shape_count; shape++)
        for (int how = 0; how < LITMUS_VARIANTS; how++)
            for (int where = 0; where < LITMUS_PLACEMENTS; where++) {
                char name[LITMUS_NAME];
                litmus_name(name, shape, (enum litmus_variant)how, (enum litmus_placement)where);
                const bool is_shape = where == LITMUS_GRID &&
                                      strcmp(x->pattern, litmus_shapes[shape].name) == 0;
                if (!is_shape && fnmatch(x->pattern, name, 0) != 0) continue;
                const struct litmus t = litmus_of_shape(shape, (enum litmus_variant)how,
                                                        (enum litmus_placement)where);
                if (t.threads < 3 && where == LITMUS_PAIRS) continue; /* as @block */
                if (!run_test(x, &t, name)) return;
            }
}

/* The model that the order promises. */
static enum axioms_model model_of(const char *order)
{
    for (int i = AXIOMS_TSO; i <= AXIOMS_SC; i++)
        if (strstr(order, models[i].option)) return (enum axioms_model)i;
    return AXIOMS_PTX;
}

/* PATTERN of suite:litmus:PATTERN. false: the target is another one. */
static bool read_target(const struct run_options *o, const char **pattern)
{
    static const char name[] = "suite:litmus";
    const char *text = arena_copy(o->arena, o->target.text, o->target.length);
    const size_t n = sizeof name - 1;
    if (strncmp(text, name, n) != 0 || (text[n] && text[n] != ':')) return false;
    *pattern = text[n] && text[n + 1] ? text + n + 1 : preset;
    return true;
}

void litmus_table_run(struct run_options *o, const struct heddle_device_options *device,
                      struct report *r)
{
    struct table x = {.order = device->order ? device->order : "random",
                      .first_seed = device->seed,
                      .seeds = SEEDS,
                      .report = r};
    x.model = model_of(x.order);
    const struct run_option *table = run_option_find(o, OPTION_TABLE),
                            *seeds = run_option_find(o, OPTION_SEEDS),
                            *all = run_option_find(o, OPTION_EXHAUSTIVE);
    if (!read_target(o, &x.pattern)) {
        const struct piece at = table ? table->name : seeds ? seeds->name : all->name;
        diag_error(&o->diags, at.at, at.length, "--%.*s goes with suite:litmus", (int)at.length,
                   at.text);
        return;
    }
    if (!table) {
        diag_error(&o->diags, o->target.at, o->target.length,
                   "suite:litmus is a list of litmus tests: add --table");
        return;
    }
    x.is_search = all;
    if (all && device->order)
        diag_error(&o->diags, all->name.at, all->name.length,
                   "--exhaustive has no order: it makes all choices of random");
    if (r->json) {
        diag_error(&o->diags, table->name.at, table->name.length, "--table is text, not JSON");
        return;
    }
    if (seeds && number_read(&o->diags, "--seeds", seeds->value, MOST_SEEDS, &x.seeds) && !x.seeds)
        diag_error(&o->diags, seeds->value.at, seeds->value.length, "--seeds is at least 1");
    if (o->diags.errors) return;
    const bool is_text = strstr(x.pattern, "||");
    const char *wrong = is_text ? run_text(&x) : NULL;
    if (!is_text) run_all(&x);
    if (wrong)
        diag_error(&o->diags, o->target.at, o->target.length, "this is no litmus test: %s", wrong);
    else if (!x.tests)
        diag_error(&o->diags, o->target.at, o->target.length,
                   "no litmus test has a name like '%s': names are as MP+rlx@grid", x.pattern);
    else if (x.forbidden)
        report_fail(r, EXIT_DIFFERS, "heddle run: %zu outcomes were seen that %s does not allow\n",
                    x.forbidden, models[x.model].name);
    else if (x.is_search && !r->status && !r->quiet)
        printf("%zu tests, all choices: %zu searches were complete, %zu stopped after %" PRIu64
               " runs (--seeds); no outcome was seen that %s does not allow\n",
               x.tests, x.tests - x.incomplete, x.incomplete, x.seeds, models[x.model].name);
    else if (!r->status && !r->quiet)
        printf("%zu tests, %" PRIu64 " seeds from %" PRIu64
               " on, order %s: no outcome was seen that %s does not allow\n",
               x.tests, x.seeds, x.first_seed, x.order, models[x.model].name);
}
