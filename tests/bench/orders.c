/* What orders and checks cost: `make bench`.
 *
 *     orders [NAME-OF-A-ROW-OR-"" [WORKLOAD-OR-"" [RUNS [SIZE]]]]
 *
 * A row is named as the table names it, or is an order with options (dab:scheduler=srr).
 * Every workload (small, or of SIZE) and the seven kernels of bench.ptx run natively and as each row says, in turns, on one
 * host thread; of each the fastest of RUNS counts. Printed are how many times longer it took than natively:
 * geometric mean and worst; of tracing and of estimates also how many times longer than counting alone. */
#define _GNU_SOURCE
#include "determinism/orders.h"
#include "cuda/device.h"
#include "determinism/checks.h"
#include "emu/gpu.h"
#include "emu/order.h"
#include "model/estimate_cache.h"
#include "suites/suite.h"
#include "tests/bench/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* An order that hears of much and does nothing. */
static enum emu_verdict hear(void *self, const struct emu_access *a)
{
    uint64_t *heard = self;
    *heard += a->lanes & 1;
    return EMU_PROCEED;
}
static enum emu_verdict hear_sync(void *self, const struct emu_sync *s)
{
    (void)self, (void)s;
    return EMU_PROCEED;
}
static uint64_t heard;
static const struct emu_order deaf = {.self = &heard, .access = hear, .sync = hear_sync},
                              listener = {.self = &heard,
                                          .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                          .access = hear,
                                          .sync = hear_sync};

enum { MOST_ROWS = 16, MOST_WORKS = 128 };
struct row {
    const char *name;
    const struct emu_order *order;
    struct orders *owner; /* of an order by name */
    unsigned checks;
    struct checks *observers; /* that they are, for the kernels */
    unsigned group;           /* warps in lockstep; 0: as many as there can be */
    bool counts;              /* as heddle run --counts has them */
    bool traces;              /* what estimates are made of, and no more */
    bool estimates;           /* as heddle estimate makes them */
    double log_sum, worst;
    const char *worst_at;
};
static struct row rows[MOST_ROWS];
static size_t row_count;

static void add_row(struct row r)
{
    rows[row_count++] = r;
}

static struct emu_config config_of(const struct row *r, bool count)
{
    return (struct emu_config){.threads = 1,
                               .count = count || r->counts,
                               .caches = r->counts,
                               .trace = r->traces || r->estimates,
                               .gpu = emu_gpu_find("titanv"),
                               .order = r->order,
                               .checks = r->checks,
                               .group_warps = r->group};
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct estimate_cache *times; /* of the workload's launches */

/* Of a launch that began at `began`, with what is made of its counts. */
static double seconds_of(const struct row *r, const struct emu_report *report, double began)
{
    struct launch_estimate t;
    if (!r->counts && !r->traces && !r->estimates) return report->seconds;
    if (r->estimates && !estimate_cache_get(times, report->counts, &t))
        fprintf(stderr, "a launch has no estimate\n");
    return now() - began;
}

static enum suite_size size = SUITE_SMALL;
static double seconds, instructions, begun;
static void before(void *self, const char *kernel, struct emu_launch *l)
{
    (void)self, (void)kernel, (void)l;
    begun = now();
}
static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *report)
{
    (void)kernel, (void)l;
    seconds += seconds_of(self, report, begun);
    instructions += (double)report->warp_instructions;
}

/* Seconds; or if they are counted, warp instructions. The order has drawn nothing yet, so every run is the same, and its
 * instructions are those of the run that was timed: warps that wait for a lock issue several times more under one seed than
 * under another. */
static double run_workload(const struct suite_workload *w, struct row *r, bool count)
{
    struct emu_config config = config_of(r, count);
    char *why = NULL;
    struct orders *order = r->owner ? orders_new(r->name, 1, &why) : NULL;
    if (order) config.order = orders_get(order);
    seconds = instructions = 0;
    cuda_device_configure(&config);
    times = estimate_cache_new();
    cuda_device_watch(
        &(struct cuda_watch){.self = r, .before = before, .after = after, .quiet = true});
    const struct suite_result result = suite_run(w,
                                                 &(struct suite_options){.size = size, .seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    estimate_cache_free(times);
    orders_free(order);
    if (!result.passed) fprintf(stderr, "%s, %s: %s\n", w->name, r->name, result.message);
    return count ? instructions : seconds;
}

static double run_kernel(struct bench_machine *m, int k, const struct row *r)
{
    struct emu_launch how = {0};
    checks_join(r->observers, &how);
    times = estimate_cache_new();
    const double began = now(), s = seconds_of(r, bench_run(m, k, &how), began);
    estimate_cache_free(times);
    return s;
}

static bool is_wanted(const char *only, size_t i)
{
    return !only || strcmp(only, rows[i].name) == 0;
}

static void add_ratio(struct row *r, double ratio, const char *name)
{
    r->log_sum += log(ratio);
    if (ratio > r->worst) r->worst = ratio, r->worst_at = name;
}

static void print_row(const struct row *r, unsigned works)
{
    if (r->worst_at)
        printf("%-20s %10.2f  %.2f (%s)\n", r->name, exp(r->log_sum / works), r->worst,
               r->worst_at);
}

static void add_order(const char *name)
{
    char *why = NULL;
    struct orders *o = orders_new(name, 1, &why);
    if (o) add_row((struct row){.name = name, .order = orders_get(o), .owner = o});
    else if (strchr(name, ':')) fprintf(stderr, "%s\n", why);
    free(why);
}

int main(int argc, char **argv)
{
    const char *only_row = argc > 1 && *argv[1] ? argv[1] : NULL,
               *only = argc > 2 && *argv[2] ? argv[2] : NULL;
    const int runs = argc > 3 ? atoi(argv[3]) : 3;
    if (argc > 4 && !suite_size_read(argv[4], &size)) {
        fprintf(stderr, "no size '%s'\n", argv[4]);
        return 2;
    }
    add_row((struct row){.name = "native"});
    add_row((struct row){.name = "one warp at a time", .group = 1});
    add_row((struct row){.name = "atomics and syncs", .order = &deaf});
    add_row((struct row){.name = "all accesses", .order = &listener});
    for (size_t i = 0; order_kind_at(i); i++) add_order(order_kind_at(i)->name);
    if (only_row && strchr(only_row, ':')) add_order(only_row);
    add_row((struct row){.name = "race", .checks = EMU_CHECK_RACE});
    add_row((struct row){.name = "atomicity", .checks = EMU_CHECK_ATOMICITY});
    add_row((struct row){.name = "counts", .counts = true});
    add_row((struct row){.name = "tracing", .traces = true});
    add_row((struct row){.name = "estimates", .estimates = true});
    const size_t estimates = row_count - 1, tracing = estimates - 1, counts = tracing - 1;
    struct ptx_module *module = bench_module("suites/ptx/bench.ptx");
    struct bench_machine machines[MOST_ROWS];
    for (size_t i = 0; i < row_count; i++) {
        const struct emu_config c = config_of(&rows[i], false);
        machines[i] = bench_start(module, &c);
        rows[i].observers = checks_new(rows[i].checks);
    }
    unsigned works = 0;
    struct row over[MOST_ROWS] = {0};
    over[tracing].name = "tracing / counts";
    over[estimates].name = "estimates / counts";
    for (size_t w = 0; w < suite_count() + BENCH_COUNT; w++) {
        const int kernel = (int)w - (int)suite_count();
        const char *name = kernel < 0 ? suite_at(w)->name : bench_names[kernel];
        double best[MOST_ROWS] = {0}, count[MOST_ROWS] = {0};
        if (only && strcmp(only, name) != 0) continue;
        for (int n = 0; n < runs; n++)
            for (size_t i = 0; i < row_count; i++) {
                const bool divides = i == counts && (is_wanted(only_row, tracing) ||
                                                     is_wanted(only_row, estimates));
                if (i && !divides && !is_wanted(only_row, i)) continue;
                const double s = kernel < 0 ? run_workload(suite_at(w), &rows[i], false)
                                            : run_kernel(&machines[i], kernel, &rows[i]);
                if (!n || s < best[i]) best[i] = s;
                if (!n) count[i] = kernel < 0 ? run_workload(suite_at(w), &rows[i], true) : 1;
            }
        works++;
        if (only_row || only) printf("%-18s %8.2f ms", name, best[0] * 1e3);
        for (size_t i = 1; i < row_count; i++) {
            if (!is_wanted(only_row, i)) continue;
            const double ratio = best[i] / count[i] * count[0] / best[0];
            add_ratio(&rows[i], ratio, name);
            if (only_row || only) printf("  %s %.2f", rows[i].name, ratio);
            if (!over[i].name) continue;
            const double cost = best[i] / count[i] * count[counts] / best[counts];
            add_ratio(&over[i], cost, name);
            if (only_row || only) printf("  / counts %.2f", cost);
        }
        if (only_row || only) printf("\n");
    }
    printf("%-20s %10s  %s\n", "time of native, x", "geomean", "worst");
    for (size_t i = 1; i < row_count; i++) print_row(&rows[i], works);
    for (size_t i = 1; i < row_count; i++) print_row(&over[i], works);
    for (size_t i = 0; i < row_count; i++) {
        orders_free(rows[i].owner);
        checks_free(rows[i].observers);
    }
    return 0;
}
