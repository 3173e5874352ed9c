/* Estimates of the workloads at their small sizes against cycles of an H200 (calibrate/data/h200.csv). */
#include "emu/counts.h"
#include "emu/gpu.h"
#include "model/launch_estimate.h"
#include "tests/support/gpu_rows.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 300, CYCLES = 6 /* column */ };

/* Whose time is that of waiting, or of a race: what the emulator executes is not what a GPU does. The first two take the
 * test too long. */
static const char *const others[] = {
    "bfs_fixed",        "bfs_parent",    "bank",          "cloth",
    "cloth_opt",        "hash_chain",    "racey_global",  "racey_lanes",
    "racey_shared",     "racey_warps",   "scan_lookback", "sum_lock",
    "sum_lock_backoff", "sum_lock_test", "ticket"};

static bool is_other(const char *name)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0) return true;
    return false;
}

static void estimate(void *self, unsigned launch, const struct emu_report *r)
{
    cr_assert(launch_estimate_of(r->counts, &((struct launch_estimate *)self)[launch]));
}

static double rank(const double *x, unsigned n, unsigned i)
{
    double r = 0;
    for (unsigned k = 0; k < n; k++) r += x[k] < x[i] ? 1 : x[k] == x[i] ? 0.5 : 0;
    return r;
}

static double rank_correlation(const double *x, const double *y, unsigned n)
{
    const double mean = n / 2.0;
    double xy = 0, xx = 0, yy = 0;
    for (unsigned i = 0; i < n; i++) {
        const double p = rank(x, n, i) - mean, q = rank(y, n, i) - mean;
        xy += p * q, xx += p * p, yy += q * q;
    }
    return xy / sqrt(xx * yy);
}

/* With sanitizers workloads are estimated in tests/estimate/estimate_keys.c and others. */
Test(measured_on_gpu, estimates_by_the_configuration_are_near_an_h200, .disabled = SANITIZED)
{
    static struct launch_estimate estimates[GPU_ROWS_LAUNCHES];
    static double estimated[MOST_ROWS], measured[MOST_ROWS];
    const struct emu_config config = {
        .count = true, .caches = true, .trace = true, .threads = 1, .gpu = emu_gpu_find("h200")};
    static struct gpu_rows rows = {.see = estimate, .self = estimates};
    unsigned n = 0, held = 0;
    double sum = 0, worst = 1;
    char worst_name[64] = "";
    gpu_rows_open(&rows, "calibrate/data/h200.csv", &config, GPU_ROWS_CYCLES);
    while (n < MOST_ROWS && gpu_rows_next(&rows, is_other)) {
        const struct launch_estimate *const e = &estimates[rows.launch];
        const double cycles = strtod(rows.column[CYCLES], NULL);
        estimated[n] = e->cycles, measured[n] = cycles;
        sum += fabs(estimated[n] / cycles - 1);
        const double times = fmax(estimated[n] / cycles, cycles / estimated[n]);
        if (times > worst)
            worst = times, snprintf(worst_name, sizeof worst_name, "%s", rows.workload);
        held += e->low <= cycles && cycles <= e->high;
        n++;
    }
    gpu_rows_close(&rows);
    const double r = rank_correlation(estimated, measured, n);
    cr_expect(n == 187, "%u launches", n);
    cr_expect(sum / n <= 0.165, "a mean error of %g", sum / n);
    cr_expect(worst <= 3, "%g times (%s)", worst, worst_name);
    cr_expect(held >= 0.8 * n, "%u launches in their intervals of 80 %%", held);
    cr_expect(r >= 0.93, "a rank correlation of %g", r);
}
