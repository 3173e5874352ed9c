/* Litmus tests: how often each outcome came. Which ones come is up to the schedule and the memory; some
 * must not: with fences those that need an access to overtake another, and never two reads of one word
 * that see it go back. */
#include "suites/suite.h"

#include <stdio.h>

enum { WORDS = 64, OUTCOMES = 16 };

/* Results are bits: r0 + 2 r1 + 4 r2 + 8 r3. */
static const struct {
    const char *name;
    unsigned roles, results, weak; /* the outcome that no interleaving has */
    bool always;                   /* it is forbidden without fences, too */
} tests[] = {
    {"mp", 2, 2, 1, false},   /* y is seen, x behind it is not */
    {"sb", 2, 2, 0, false},   /* neither sees the other's store */
    {"lb", 2, 2, 3, false},   /* both see the other's store, which comes after their loads */
    {"iriw", 4, 4, 5, false}, /* two readers see two writes in different order */
    {"corr", 2, 2, 1, true},
};

struct litmus {
    bool grid;
    uint32_t n, *result;                         /* instances, four words each */
    uint32_t weak[sizeof tests / sizeof *tests]; /* without fences */
    CUdeviceptr words, results, counts;
};

static void one(struct suite_context *ctx, struct litmus *l, size_t test, bool fenced)
{
    uint32_t count[OUTCOMES], want[OUTCOMES] = {0}, weak = tests[test].weak, n = l->n;
    unsigned threads = 64 * (l->grid ? 1 : tests[test].roles);
    char kernel[64];
    snprintf(kernel, sizeof kernel, "%s_%s%s", tests[test].name, l->grid ? "grid" : "block",
             fenced ? "_fenced" : "");
    suite_zero(ctx, l->words, (size_t)n * WORDS * sizeof(uint32_t));
    suite_zero(ctx, l->results, (size_t)n * 4 * sizeof(uint32_t));
    suite_zero(ctx, l->counts, sizeof count);
    suite_launch(ctx, suite_kernel(ctx, kernel), suite_1d(n * tests[test].roles / threads),
                 suite_1d(threads), 0, &l->words, &l->results);
    suite_launch(ctx, suite_kernel(ctx, "litmus_count"), suite_1d((unsigned)suite_blocks(n, 256)),
                 suite_1d(256), 0, &n, &l->results, &l->counts);
    suite_read(ctx, l->result, l->results, (size_t)n * 4 * sizeof *l->result);
    suite_read(ctx, count, l->counts, sizeof count);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t outcome = 0;
        for (unsigned k = 0; k < 4; k++) {
            uint32_t r = l->result[i * 4 + k];
            if (r > (k < tests[test].results))
                suite_fail(ctx, "%s: r%u of instance %u is %u", kernel, k, i, r);
            outcome |= r << k;
        }
        want[outcome]++;
    }
    suite_verify_u32(ctx, kernel, count, want, OUTCOMES);
    if ((fenced || tests[test].always) && count[weak])
        suite_fail(ctx, "%s: %u of %u have outcome %u, which is forbidden", kernel, count[weak], n,
                   weak);
    if (!fenced) l->weak[test] += count[weak];
}

static void litmus(struct suite_context *ctx, bool grid)
{
    struct litmus l = {.grid = grid, .n = (uint32_t)suite_pick(ctx, 1 << 11, 1 << 17, 1 << 17)};
    size_t rounds = suite_pick(ctx, 1, 10, 100);
    l.result = suite_host(ctx, uint32_t, (size_t)l.n * 4);
    l.words = suite_alloc(ctx, (size_t)l.n * WORDS * sizeof(uint32_t));
    l.results = suite_alloc(ctx, (size_t)l.n * 4 * sizeof(uint32_t));
    l.counts = suite_alloc(ctx, OUTCOMES * sizeof(uint32_t));
    for (size_t i = 0; i < rounds; i++)
        for (size_t test = 0; test < sizeof tests / sizeof *tests; test++)
            for (int fenced = 0; fenced < 2; fenced++) one(ctx, &l, test, fenced);
    suite_note(ctx, "weak outcomes without fences: mp %u, sb %u, lb %u, iriw %u of %zu each",
               l.weak[0], l.weak[1], l.weak[2], l.weak[3], l.n * rounds);
}

void suite_run_litmus_block(struct suite_context *ctx)
{
    litmus(ctx, false);
}

void suite_run_litmus_grid(struct suite_context *ctx)
{
    litmus(ctx, true);
}
