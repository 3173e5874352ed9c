/* Intervals of estimates: what conformal prediction gives for known scores, and how often the built-in intervals hold for
 * programs that did not contribute to them (calibrate/data/residuals.csv). */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "calibrate/conformal.h"
#include "calibrate/residuals.h"
#include "model/launch_estimate.h"
#include "model/machine.h"
#include "tests/support/command.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 99, FEW = 10 /* programs: of fewer, a share says little */ };
static const double least_share = 0.75, most_share = 0.88;

/* 99 groups and the one that is not seen: 8 of 100 lie below the interval, 8 above. Each group has two launches. */
Test(coverage, an_interval_leaves_out_eight_of_a_hundred_on_each_side)
{
    struct arena *a = arena_new();
    struct conformal_item items[2 * GROUPS];
    double low, high;
    for (size_t i = 0; i < 2 * GROUPS; i++)
        items[i] = (struct conformal_item){i / 2, i / 2, 0, (double)(i / 2 + 1)};
    conformal_interval(a, items, 2 * GROUPS, CONFORMAL_NONE, 0, &low, &high);
    cr_expect(eq(dbl, low, 8));
    cr_expect(eq(dbl, high, 92));
    /* without the group of score 1 the 8th is 9 */
    conformal_interval(a, items, 2 * GROUPS, 0, 0, &low, &high);
    cr_expect(eq(dbl, low, 9));
    arena_free(a);
}

/* A group of many launches counts as much as one of a single launch. */
Test(coverage, groups_count_the_same)
{
    struct arena *a = arena_new();
    struct conformal_item items[1000];
    double low, high;
    for (size_t i = 0; i < 1000; i++)
        items[i] = (struct conformal_item){i < 19 ? i : 19, i < 19 ? i : 19, 0,
                                           i < 19 ? (double)i : 100};
    conformal_interval(a, items, 1000, CONFORMAL_NONE, 0, &low, &high);
    /* 20 groups: 0.08 * 21 = 1.68 of a group below and above */
    cr_expect(eq(dbl, low, 1));
    cr_expect(eq(dbl, high, 18));
    arena_free(a);
}

/* Scores of two groups, -1 and 1: Student's t for one degree of freedom, 10 % on each side, is 3.078, the deviation
 * sqrt(2), and that of another one from their mean sqrt(1 + 1/2) times it. */
Test(coverage, few_groups_have_the_interval_of_students_t)
{
    struct arena *a = arena_new();
    const struct conformal_item items[] = {{0, 0, 0, -1}, {1, 1, 0, 1}};
    double low, high;
    conformal_interval(a, items, 2, CONFORMAL_NONE, 0, &low, &high);
    cr_expect(lt(dbl, fabs(high - 3.078 * sqrt(3)), 1e-3), "%g", high);
    cr_expect(lt(dbl, fabs(low + high), 1e-9));
    arena_free(a);
}

static double normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) / 9007199254740992.0;
    }
    return sum;
}

/* Two regimes, one five times as wide: each has its own interval, and both hold. */
Test(coverage, regimes_hold_each_by_itself)
{
    struct arena *a = arena_new();
    enum { N = 400 };
    struct conformal_item items[N];
    uint64_t state = 1;
    for (size_t i = 0; i < N; i++)
        items[i] = (struct conformal_item){i, i, i % 2, normal(&state) * (i % 2 ? 5 : 1)};
    for (unsigned r = 0; r < 2; r++) {
        struct conformal_cover c;
        conformal_coverage(a, items, N, items, r, &c);
        cr_expect(eq(sz, c.groups, N / 2));
        cr_expect(c.by_group >= least_share && c.by_group <= most_share, "%g", c.by_group);
    }
    arena_free(a);
}

static struct residuals recorded(struct arena *a)
{
    struct residuals r = {.arena = a};
    struct buf text = {0};
    cr_assert(buf_add_file(&text, "calibrate/data/residuals.csv", 1 << 24));
    const struct source s = {"residuals.csv", text.data, (uint32_t)text.size};
    struct diags d = {.arena = a, .source = &s};
    cr_assert(residuals_read(&r, &d));
    buf_free(&text);
    return r;
}

/* gtx480_thesis is another GPU's fit with another choice of warps: it has no launches of its own. */
static bool is_recorded(const struct residuals *r, const char *gpu)
{
    struct residual_cover c;
    residuals_cover(r, gpu, REGIMES, false, &c);
    return c.launches > 0;
}

Test(coverage, fits_without_launches_have_the_interval_of_gpus_without_a_fit)
{
    struct arena *a = arena_new();
    const struct residuals r = recorded(a);
    double low, high;
    machine_alone(&low, &high);
    size_t without = 0;
    for (size_t i = 0; i < timing_fit_count; i++) {
        const struct timing_fit *f = &timing_fits[i];
        if (is_recorded(&r, f->gpu)) continue;
        without++;
        for (int k = 0; k < REGIMES; k++)
            cr_expect(f->low[k] == low && f->high[k] == high, "%s: %g, %g", f->gpu, f->low[k],
                      f->high[k]);
    }
    cr_expect(eq(sz, without, 1));
    arena_free(a);
}

/* Files of timings are made with the file of residuals (tools/timing.sh). Ratios have four digits there. */
Test(coverage, built_in_intervals_are_those_of_the_recorded_residuals)
{
    struct arena *a = arena_new();
    const struct residuals r = recorded(a);
    for (size_t i = 0; i < timing_fit_count; i++) {
        const struct timing_fit *f = &timing_fits[i];
        double low[REGIMES], high[REGIMES], alone_low, alone_high;
        if (!is_recorded(&r, f->gpu)) continue;
        residuals_intervals(&r, f->gpu, low, high);
        residuals_alone(&r, f->gpu, &alone_low, &alone_high);
        for (int k = 0; k < REGIMES; k++) {
            cr_expect(fabs(low[k] - f->low[k]) < 1e-3, "%s: %g, %g", f->gpu, low[k], f->low[k]);
            cr_expect(fabs(high[k] - f->high[k]) < 1e-3, "%s: %g, %g", f->gpu, high[k], f->high[k]);
        }
        cr_expect(fabs(alone_low - f->alone_low) < 1e-3, "%s", f->gpu);
        cr_expect(fabs(alone_high - f->alone_high) < 1e-3, "%s", f->gpu);
    }
    arena_free(a);
}

/* 80 % are promised. */
Test(coverage, intervals_hold_for_programs_that_are_left_out)
{
    struct arena *a = arena_new();
    const struct residuals r = recorded(a);
    for (size_t i = 0; i < timing_fit_count; i++)
        for (unsigned k = 0; k <= REGIMES; k++) {
            struct residual_cover c;
            const char *gpu = timing_fits[i].gpu,
                       *what = k < REGIMES ? launch_regime_name((enum launch_regime)k) : "all";
            residuals_cover(&r, gpu, k, false, &c);
            if (!c.launches) continue;
            cr_expect(c.by_program >= least_share, "%s, %s: %g", gpu, what, c.by_program);
            if (c.programs >= FEW)
                cr_expect(c.by_program <= most_share, "%s, %s: %g", gpu, what, c.by_program);
        }
    arena_free(a);
}

/* GPUs as if they were not measured, by the intervals of the others. */
Test(coverage, intervals_hold_for_gpus_that_are_left_out)
{
    struct arena *a = arena_new();
    const struct residuals r = recorded(a);
    double sum = 0;
    size_t gpus = 0;
    for (size_t i = 0; i < timing_fit_count; i++) {
        struct residual_cover c;
        if (!is_recorded(&r, timing_fits[i].gpu)) continue;
        residuals_cover_alone(&r, timing_fits[i].gpu, &c);
        cr_expect(c.by_program >= least_share, "%s: %g", timing_fits[i].gpu, c.by_program);
        sum += c.by_program, gpus++;
    }
    cr_expect(sum <= most_share * (double)gpus, "%g", sum / (double)gpus);
    arena_free(a);
}

Test(coverage, a_launch_is_of_the_first_kind_that_it_fits)
{
    struct launch_estimate t = {.cycles = 100};
    t.part[TIMING_ISSUE] = 60, t.part[TIMING_DRAM] = 40;
    cr_expect(launch_regime_of(&t) == REGIME_other);
    t.part[TIMING_DRAM] = 61;
    cr_expect(launch_regime_of(&t) == REGIME_memory);
    t.part[TIMING_IDLE] = 30, t.part[TIMING_START] = 21;
    cr_expect(launch_regime_of(&t) == REGIME_imbalanced);
    t.part[TIMING_ATOMIC] = 10;
    cr_expect(launch_regime_of(&t) == REGIME_contended);
}

Test(coverage, broken_residuals_are_refused_with_place_and_reason)
{
    static const char head[] = "gpu,program,run,launch,regime,ratio,configuration_ratio\n";
    static const char *const cases[][2] = {
        {"a,b,c,0,memory,1,1\n", "1:1: error: the first line names the columns"},
        {"", "there are no launches"},
        {"HEADa,b,c,0,memory,1\n", "2:1: error: there are fewer than 7 columns"},
        {"HEADa,b,c,0,memory,1,1,1\n", "2:1: error: there are more than 7 columns"},
        {"HEADa,b,c,-1,memory,1,1\n", "2:1: error: the launch is a number from 0"},
        {"HEADa,b,c,0,memories,1,1\n", "2:1: error: there is no such regime"},
        {"HEADa,b,c,0,memory,0,1\n", "2:1: error: a ratio is a positive number"},
        {"HEADa,b,c,0,memory,1,nan\n", "2:1: error: a ratio is a positive number"},
        {"HEADa,\"b\"c,c,0,memory,1,1\n", "2:1: error: a comma is missing behind a quote"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *a = arena_new();
        struct residuals r = {.arena = a};
        struct buf text = {0}, said = {0};
        const bool headed = strncmp(cases[i][0], "HEAD", 4) == 0;
        buf_printf(&text, "%s%s", headed ? head : "", cases[i][0] + (headed ? 4 : 0));
        const struct source s = {"r.csv", text.data ? text.data : "", (uint32_t)text.size};
        struct diags d = {.arena = a, .source = &s};
        cr_expect(residuals_read(&r, &d) == false, "%zu", i);
        diags_render(&d, &said);
        cr_expect(said.data && strstr(said.data, cases[i][1]), "%s", said.data);
        buf_free(&text), buf_free(&said);
        arena_free(a);
    }
}

Test(coverage, residuals_read_back_as_they_were_written)
{
    struct arena *a = arena_new();
    struct residuals r = {.arena = a}, back = {.arena = a};
    struct buf text = {0}, again = {0};
    residuals_add(&r,
                  &(struct residual){"titanv", "saxpy", "saxpy 4096", 3, REGIME_memory, 1.25, 0.5});
    residuals_add(&r, &(struct residual){"titanv", "sort,b", "sort,b 1,2 \"x\"", 0, REGIME_memory,
                                         1.25, 0.5});
    residuals_write(&r, &text);
    const struct source s = {"r.csv", text.data, (uint32_t)text.size};
    struct diags d = {.arena = a, .source = &s};
    cr_assert(residuals_read(&back, &d));
    cr_assert(eq(sz, back.count, 2));
    cr_expect(eq(str, (char *)back.list[0].run, "saxpy 4096"));
    cr_expect(eq(str, (char *)back.list[1].program, "sort,b"));
    cr_expect(eq(str, (char *)back.list[1].run, "sort,b 1,2 \"x\""));
    cr_expect(back.list[0].launch == 3 && back.list[0].regime == REGIME_memory);
    residuals_write(&back, &again);
    cr_expect(eq(str, text.data, again.data));
    buf_free(&text), buf_free(&again);
    arena_free(a);
}

/* Files of residuals say themselves which GPU they are of. */
Test(coverage, options_that_mean_nothing_are_refused, .init = command_set_up,
     .fini = command_tear_down)
{
    int status;
    char *text = command_output(
        "%p calibrate --coverage calibrate/data/residuals.csv --gpu titanv 2>&1", &status);
    cr_expect(status == 2 && strstr(text, "leave out --gpu"), "%d, %s", status, text);
    free(text);
    static const char *const others[] = {"--traces x", "--start x", "--plot x",
                                         "--allow-undetermined"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char words[200];
        snprintf(words, sizeof words,
                 "%%p calibrate --coverage calibrate/data/residuals.csv %s 2>&1", others[i]);
        text = command_output(words, &status);
        snprintf(words, sizeof words, "--coverage reads residuals: leave out %.*s\n",
                 (int)strcspn(others[i], " "), others[i]);
        cr_expect(status == 2 && strstr(text, words), "%d, %s", status, text);
        free(text);
    }
    text = command_output("%p calibrate calibrate/data/gv100.csv --gpu gv100 --residuals %s/r 2>&1",
                          &status);
    cr_expect(status == 2 && strstr(text, "--traces"), "%d, %s", status, text);
    free(text);
}
