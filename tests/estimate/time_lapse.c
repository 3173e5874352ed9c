/* What the timing model reports over time, against its totals and against what the trace says. */
#include "model/time_lapse.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/trace.h"
#include "model/timing_order.h"
#include "tests/support/emu.h"
#include "tests/support/timing.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENT                                                                                    \
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %r<9>; .reg .f32 %f; .reg .pred %q;"                  \
    "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x;"         \
    "mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b;"

static const char *const bodies[] = {
    ELEMENT "ld.global.u32 %r1, [%b]; add.u32 %r1, %r1, 1; st.global.u32 [%b], %r1; ret;",
    ELEMENT "mov.u32 %r1, 0; L: ld.global.u32 %r2, [%b]; bar.sync 0; add.u32 %r1, %r1, 1;"
            "setp.lt.u32 %q, %r1, 5; @%q bra L; st.global.u32 [%b], %r2; ret;",
    ELEMENT "and.b32 %r1, %c, 7; mul.lo.u32 %r3, %r1, 20; mov.u32 %r1, 0;"
            "L: add.u32 %r1, %r1, 1; setp.le.u32 %q, %r1, %r3; @%q bra L;"
            "red.global.add.u32 [%a], 1; st.global.u32 [%b+4096], %r1; ret;",
    /* of a warp 3 instructions are of 5 lanes, 2 of 27, and 6 of all */
    ".reg .u32 %t, %r; .reg .pred %q; mov.u32 %t, %laneid; setp.ge.u32 %q, %t, 5; @%q bra M;"
    "add.u32 %r, %t, 1; add.u32 %r, %r, %t; bra E; M: add.u32 %r, %t, 3; add.u32 %r, %r, 7;"
    "E: add.u32 %r, %r, %t; add.u32 %r, %r, 2; ret;",
};
static const char *const orders[] = {
    "native",           "gpudet", "gpudet:bta=off:dwp=off:quantum=20",
    "gpudet:barrier=7", "dab",    "dab:entries=32"};

struct run {
    struct orders *order;
    struct device device;
    const struct emu_counts *counts;
    struct timing_machine m;
    struct timing_order timing;
    struct timing_result result;
    struct time_lapse lapse;
};

static struct run run_new(const char *order, const char *body, double interval)
{
    struct run r = {.m = machine_new(), .lapse = {.interval = interval}};
    char *why = NULL;
    r.order = orders_new(order, 1, &why);
    cr_assert(why == NULL, "%s", why);
    r.m.sms = 4, r.m.schedulers = 2, r.m.slices = 4, r.m.channels = 2, r.m.network_requests = 3;
    for (int u = 0; u < TIMING_UNITS; u++) r.m.units[u] = 2;
    r.device = device_new(
        emu_ptx(".param .u64 p", body),
        (struct emu_config){.sms = r.m.sms, .threads = 1, .order = orders_get(r.order)});
    r.counts = counts_of(&r.device, 61, 128);
    cr_assert(timing_order_of(r.counts, &r.timing));
    timing_run_lapse(r.counts->trace, &r.m, &r.timing, NULL, 4, 16384, &r.lapse, &r.result);
    return r;
}

static void run_free(struct run *r)
{
    time_lapse_free(&r->lapse);
    device_free(&r->device);
    orders_free(r->order);
}

static uint64_t ticks_of(double cycles)
{
    return (uint64_t)(cycles * LAPSE_TICKS + 0.5);
}

/* Each tick of each scheduler is in exactly one part, and the parts are those of the result. */
static void expect_parts(const struct run *r)
{
    const struct time_lapse *l = &r->lapse;
    uint64_t part[TIMING_PARTS] = {0}, issued = 0;
    for (uint32_t sm = 0; sm < l->sms; sm++) {
        uint64_t all = 0;
        for (uint32_t i = 0; i < l->intervals; i++) {
            const uint64_t *x = time_lapse_sm(l, i, sm);
            uint64_t here = 0;
            for (int p = 0; p < TIMING_PARTS; p++) part[p] += x[p], here += x[p];
            all += here;
            issued += x[LAPSE_ISSUED];
            cr_expect(here <= l->schedulers * ticks_of(l->interval));
        }
        cr_expect(eq(u64, all, l->schedulers * ticks_of(r->result.cycles)), "SM %u", sm);
    }
    cr_expect(eq(u64, issued, LAPSE_TICKS * r->result.instructions));
    for (int p = 0; p < TIMING_PARTS; p++) {
        const double mean = (double)part[p] / LAPSE_TICKS / (l->sms * l->schedulers);
        cr_expect(fabs(mean - r->result.part[p]) <= 1e-3 + 1e-3 * r->result.part[p],
                  "part %d: %.6f, not %.6f", p, mean, r->result.part[p]);
    }
}

static void expect_issues(const struct run *r)
{
    const struct time_lapse *l = &r->lapse;
    cr_assert(eq(sz, l->instructions, r->counts->instruction_count));
    for (uint32_t k = 0; k < l->instructions; k++) {
        uint64_t issued = 0;
        for (uint32_t i = 0; i < l->intervals; i++) issued += time_lapse_issues(l, i)[k];
        cr_expect(eq(u64, issued, LAPSE_TICKS * r->counts->instructions[k].warp), "instruction %u",
                  k);
    }
}

/* Each issue is in one bin of lanes, and active lanes are the thread instructions that were counted. */
static void expect_lanes(const struct run *r)
{
    const struct time_lapse *l = &r->lapse;
    uint64_t issued = 0, threads = 0, want = 0, bins = 0, least = 0, most = 0;
    cr_assert(l->lanes);
    for (uint32_t i = 0; i < l->intervals; i++) {
        uint64_t here = 0, in_bins = 0, here_threads = 0;
        for (uint32_t sm = 0; sm < l->sms; sm++) {
            here += time_lapse_sm(l, i, sm)[LAPSE_ISSUED];
            here_threads += time_lapse_sm(l, i, sm)[LAPSE_THREADS];
        }
        for (uint64_t b = 0; b < LAPSE_LANE_BINS; b++) {
            const uint64_t n = time_lapse_lanes(l, i)[b];
            in_bins += n, least += (4 * b + 1) * n, most += (4 * b + 4) * n;
        }
        cr_expect(eq(u64, in_bins, here), "interval %u", i);
        issued += here, threads += here_threads, bins += in_bins;
    }
    for (size_t p = 0; p < r->counts->phase_count; p++)
        want += r->counts->phases[p].total.thread_instructions;
    cr_expect(eq(u64, threads, LAPSE_TICKS * want));
    cr_expect(eq(u64, bins, issued));
    cr_expect(least <= threads && threads <= most);
}

static void expect_ctas(const struct run *r)
{
    const struct time_lapse *l = &r->lapse;
    uint64_t ticks = 0, resident = 0;
    cr_assert(eq(sz, l->cta_count, 61));
    bool seen[61] = {false};
    for (size_t k = 0; k < l->cta_count; k++) {
        const struct lapse_cta *c = &l->ctas[k];
        cr_expect(seen[c->linear] == false && c->sm < 4 && c->begin < c->end &&
                  c->end <= r->result.cycles + 1e-9);
        seen[c->linear] = true;
        ticks += 4 * (ticks_of(c->end) - ticks_of(c->begin));
    }
    for (uint32_t i = 0; i < l->intervals; i++)
        for (uint32_t sm = 0; sm < 4; sm++) resident += time_lapse_sm(l, i, sm)[LAPSE_WARP_TICKS];
    cr_expect(eq(u64, resident, ticks));
}

Test(time_lapse, sums_equal_the_totals_for_any_interval)
{
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
            for (double interval = 0; interval < 4000; interval = interval * 9 + 1) {
                struct run r = run_new(orders[o], bodies[b], interval);
                expect_parts(&r);
                expect_issues(&r);
                expect_lanes(&r);
                expect_ctas(&r);
                if (interval > 0) cr_expect(eq(dbl, r.lapse.interval, interval));
                if (interval <= 0) cr_expect(le(u32, r.lapse.intervals, LAPSE_AUTO_INTERVALS));
                run_free(&r);
            }
}

Test(time_lapse, lanes_are_those_of_the_paths_of_a_branch)
{
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        struct run r = run_new(orders[o], bodies[3], 0);
        uint64_t got[LAPSE_LANE_BINS] = {0};
        for (uint32_t i = 0; i < r.lapse.intervals; i++)
            for (int b = 0; b < LAPSE_LANE_BINS; b++) got[b] += time_lapse_lanes(&r.lapse, i)[b];
        const uint64_t warps = 61 * 4;
        const uint64_t want[LAPSE_LANE_BINS] = {[1] = 3 * warps, [6] = 2 * warps, [7] = 6 * warps};
        for (int b = 0; b < LAPSE_LANE_BINS; b++)
            cr_expect(eq(u64, got[b], LAPSE_TICKS * want[b]), "%s, bin %d", orders[o], b);
        run_free(&r);
    }
}

/* Columns of an estimate against a lapse of one cycle each: the share of issue slots in each of 40 parts of the run. A run
 * of at most 256 cycles has bins of one cycle, so that both agree to the rounding; a longer one is compared as a whole. */
static void expect_columns(const struct run *r)
{
    const struct time_lapse *l = &r->lapse;
    const double width = r->result.cycles / ISSUE_COLUMNS;
    double share[ISSUE_COLUMNS] = {0}, sum = 0, all = 0;
    for (uint32_t i = 0; i < l->intervals; i++)
        for (uint32_t sm = 0; sm < l->sms; sm++) {
            const double ticks = (double)time_lapse_sm(l, i, sm)[TIMING_ISSUE];
            all += ticks;
            for (int k = 0; k < ISSUE_COLUMNS; k++)
                share[k] += ticks / LAPSE_TICKS *
                            fmax(0, fmin(i + 1, (k + 1) * width) - fmax(i, k * width));
        }
    for (int k = 0; k < ISSUE_COLUMNS; k++) {
        const double got = (double)r->result.issue_share[k] / UINT16_MAX,
                     want = share[k] / (width * l->sms * l->schedulers);
        if (r->result.cycles <= ISSUE_BINS)
            cr_expect(fabs(got - want) < 1e-5, "column %d: %.6f, not %.6f", k, got, want);
        sum += got * width * l->sms * l->schedulers;
    }
    cr_expect(fabs(sum - all / LAPSE_TICKS) < 1e-3 * sum, "%.3f, not %.3f", sum, all / LAPSE_TICKS);
}

Test(time_lapse, columns_of_estimates_are_sums_of_the_lapse)
{
    uint32_t brief = 0;
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
            struct run r = run_new(orders[o], bodies[b], 1);
            cr_assert(r.lapse.interval <= 1);
            expect_columns(&r);
            brief += r.result.cycles <= ISSUE_BINS;
            run_free(&r);
        }
    cr_expect(gt(u32, brief, 0), "some runs are compared column by column");
    struct issue_bins bins;
    uint16_t share[ISSUE_COLUMNS];
    issue_bins_begin(&bins);
    issue_bins_add(&bins, 0,
                   30); /* one of two schedulers, in the first and the last quarter of 120 cycles */
    issue_bins_add(&bins, 90, 120);
    issue_bins_columns(&bins, 120, 2, share);
    for (int k = 0; k < ISSUE_COLUMNS; k++)
        cr_expect(eq(int, share[k], k < 10 || k >= 30 ? 32768 : 0), "column %d", k);
    issue_bins_add(&bins, 4095, 4096.5); /* the bins become longer */
    issue_bins_columns(&bins, 4096.5, 1, share);
    cr_expect(bins.shift == ISSUE_TICK_BITS + 5 && share[ISSUE_COLUMNS - 1] > 0 && share[0] > 0);
}

/* One warp that can issue in each cycle, as few do: the interval is the smallest power of two with at most 1000 of them, though
 * it begins at one for slower warps. */
Test(time_lapse, the_interval_is_as_short_as_can_be)
{
    static const char body[] =
        ".reg .u32 %r<9>; .reg .pred %q; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0;"
        "L: add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 2; add.u32 %r3, %r3, 3; add.u32 %r4, %r4, 4;"
        "setp.lt.u32 %q, %r1, 3000; @%q bra L; ret;";
    struct run r = {.m = machine_new(), .lapse = {.interval = 0}};
    r.m.sms = 4, r.m.schedulers = 2;
    r.device = device_new(emu_ptx(".param .u64 p", body),
                          (struct emu_config){.sms = r.m.sms, .threads = 1});
    r.counts = counts_of(&r.device, 1, 32);
    cr_assert(timing_order_of(r.counts, &r.timing));
    timing_run_lapse(r.counts->trace, &r.m, &r.timing, NULL, 4, 16384, &r.lapse, &r.result);
    const struct time_lapse *l = &r.lapse;
    cr_expect(gt(dbl, l->interval, 1));
    cr_expect(l->intervals <= 1000 && l->cycles <= 1000 * l->interval);
    cr_expect(l->cycles > 1000 * l->interval / 2, "%g cycles, interval %g", l->cycles, l->interval);
    time_lapse_free(&r.lapse);
    device_free(&r.device);
}

Test(time_lapse, changes_nothing)
{
    for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
            struct run r = run_new(orders[o], bodies[b], 0);
            struct timing_result plain;
            timing_run_launch(r.counts->trace, &r.m, &r.timing, NULL, 4, 16384, &plain);
            cr_expect(memcmp(&plain, &r.result, sizeof plain) == 0, "%s", orders[o]);
            run_free(&r);
        }
}

Test(time_lapse, sectors_of_dram_are_those_of_the_trace)
{
    struct run r = run_new("native", bodies[0], 0);
    const struct emu_trace *t = r.counts->trace;
    uint64_t want = 0, got = 0, missed = 0;
    for (uint32_t k = 0; k < t->cta_count; k++)
        for (uint32_t i = 0; i < t->ctas[k]->line_count; i++)
            want += t->ctas[k]->lines[i].how == COUNT_LOAD ? t->ctas[k]->lines[i].from_dram : 0;
    for (uint32_t i = 0; i < r.lapse.intervals; i++) {
        for (uint32_t k = 0; k < r.lapse.channels; k++) got += time_lapse_channels(&r.lapse, i)[k];
        for (uint32_t k = 0; k < r.lapse.slices; k++)
            missed += time_lapse_slice(&r.lapse, i, k)[LAPSE_L2_MISSES];
    }
    cr_expect(gt(u64, want, 0));
    cr_expect(eq(u64, got, LAPSE_TICKS * want));
    cr_expect(eq(u64, missed, LAPSE_TICKS * want));
    run_free(&r);
}

/* As many parallel modes as quanta, side by side, and no commit within one. */
Test(time_lapse, modes_of_gpudet_follow_each_other)
{
    struct run r = run_new("gpudet:quantum=20", bodies[2], 0);
    uint64_t modes[LAPSE_MODES] = {0};
    double end = 0;
    for (size_t i = 0; i < r.lapse.span_count; i++) {
        const struct lapse_span *s = &r.lapse.spans[i];
        cr_expect(eq(dbl, s->begin, end));
        cr_expect(eq(u32, s->sms, 4));
        end = s->end;
        modes[s->mode]++;
    }
    cr_expect(le(u64, modes[LAPSE_PARALLEL], r.result.quanta));
    cr_expect(gt(u64, modes[LAPSE_PARALLEL], r.result.quanta / 2));
    cr_expect(modes[LAPSE_COMMIT] && modes[LAPSE_SERIAL]);
    cr_expect(le(dbl, end, r.result.cycles));
    run_free(&r);
}

Test(time_lapse, flushes_of_dab_are_those_of_the_run)
{
    struct run r = run_new("dab:entries=32", bodies[2], 0);
    uint64_t flushes = 0;
    for (size_t i = 0; i < r.lapse.span_count; i++) flushes += r.lapse.spans[i].mode == LAPSE_FLUSH;
    cr_expect(gt(u64, flushes, 0));
    cr_expect(eq(u64, flushes, r.result.flushes));
    run_free(&r);
}
