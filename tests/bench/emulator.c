/* How fast kernels run, against the same algorithms compiled for the host: `make bench`.
 *
 * Each kernel runs RUNS times in turns with its native twin, in one process on one core; printed are
 * medians. "2 threads" is the speed of two host threads against one, without counts. */
#define _GNU_SOURCE
#include "tests/bench/kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, by_value);
    return v[RUNS / 2];
}

/* What is measured: the last is the native twin. */
enum { CACHES, COUNTS, PLAIN, TWO_THREADS, NATIVE, MODES };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "suites/ptx/bench.ptx",
               *only = argc > 2 ? argv[2] : NULL;
    enum emu_isa isa = argc > 3 ? (enum emu_isa)atoi(argv[3]) : EMU_ISA_BEST;
    struct ptx_module *m = bench_module(path);
    struct bench_machine machines[NATIVE] = {
        [CACHES] = bench_start(
            m, &(struct emu_config){.count = true, .caches = true, .threads = 1, .isa = isa}),
        [COUNTS] = bench_start(m, &(struct emu_config){.count = true, .threads = 1, .isa = isa}),
        [PLAIN] = bench_start(m, &(struct emu_config){.threads = 1, .isa = isa}),
        [TWO_THREADS] = bench_start(m, &(struct emu_config){.threads = 2, .isa = isa})};
    printf("%-11s %12s | %-17s | %-17s | %-17s | %s\n", "kernel", "thread-instr",
           "counts and caches", "counts", "no counts", "2 threads");
    printf("%-11s %12s |  Gti/s  of native |  Gti/s  of native |  Gti/s  of native |\n", "", "");
    double geo[NATIVE][2] = {0};
    int shown = 0;
    for (int k = 0; k < BENCH_COUNT; k++) {
        if (only && strcmp(only, bench_names[k]) != 0) continue;
        double t[MODES][RUNS], mid[MODES];
        uint64_t instructions = 0;
        for (int r = -1; r < RUNS; r++) /* one more, to warm up */
            for (int i = 0; i < MODES; i++) {
                double from = now();
                if (i == NATIVE) bench_native(k);
                else {
                    uint64_t counted =
                        bench_run(&machines[i], k, &(struct emu_launch){0})->thread_instructions;
                    if (i == COUNTS) instructions = counted;
                }
                if (r >= 0) t[i][r] = now() - from;
            }
        for (int i = 0; i < MODES; i++) mid[i] = median(t[i]);
        double g = (double)instructions * 1e-9;
        printf("%-11s %12llu |", bench_names[k], (unsigned long long)instructions);
        for (int i = 0; i < TWO_THREADS; i++) {
            printf(" %6.2f %10.3f |", g / mid[i], mid[NATIVE] / mid[i]);
            geo[i][0] += log(g / mid[i]), geo[i][1] += log(mid[NATIVE] / mid[i]);
        }
        printf(" %.2f x\n", mid[PLAIN] / mid[TWO_THREADS]);
        geo[TWO_THREADS][0] += log(mid[PLAIN] / mid[TWO_THREADS]);
        shown++;
    }
    printf("%-11s %12s |", "geomean", "");
    for (int i = 0; i < TWO_THREADS && shown; i++)
        printf(" %6.2f %10.3f |", exp(geo[i][0] / shown), exp(geo[i][1] / shown));
    printf(" %.2f x\n", shown ? exp(geo[TWO_THREADS][0] / shown) : 0);
    return 0;
}
