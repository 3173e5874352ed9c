#define _GNU_SOURCE
#include "suites/measure.h"

#undef cuCtxCreate /* what drivers have had for long */
#undef cuEventElapsedTime

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EMPTY_RUNS = 51, SPIN = 1 << 20 };

/* One does nothing; the other says what two clocks did while it turned for a while. */
static const char kernels[] =
    ".version 6.0\n.target sm_30\n.address_size 64\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry clocks(.param .u64 out, .param .u32 turns)\n{\n"
    ".reg .pred %p; .reg .u32 %i, %n, %x; .reg .u64 %a, %c<2>, %t<2>;\n"
    "ld.param.u64 %a, [out]; ld.param.u32 %n, [turns]; mov.u32 %i, 0; mov.u32 %x, 1;\n"
    "mov.u64 %t0, %globaltimer; mov.u64 %c0, %clock64;\n"
    "L: mad.lo.u32 %x, %x, %x, %i; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;\n"
    "mov.u64 %c1, %clock64; mov.u64 %t1, %globaltimer;\n"
    "sub.u64 %c0, %c1, %c0; sub.u64 %t0, %t1, %t0; cvt.u64.u32 %c1, %x;\n"
    "st.global.u64 [%a], %c0; st.global.u64 [%a+8], %t0; st.global.u64 [%a+16], %c1; ret;\n}\n";

struct timer { /* a context of its own */
    CUcontext context;
    CUmodule module;
    CUevent start, end;
};

static bool works(CUresult r, const char *call)
{
    const char *name = "?", *text = "?";
    if (r == CUDA_SUCCESS) return true;
    if (cuGetErrorName(r, &name) != CUDA_SUCCESS || !name) name = "?";
    if (cuGetErrorString(r, &text) != CUDA_SUCCESS || !text) text = "?";
    fprintf(stderr, "heddle measure: %.*s: %s (%s)\n", (int)strcspn(call, "("), call, name, text);
    return false;
}
#define WORKS(call) works((call), #call)

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Puts them in order. */
static double median(double *x, unsigned n)
{
    qsort(x, n, sizeof *x, by_size);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

static bool time_launch(const struct timer *t, CUfunction f, void **params, double *seconds)
{
    float ms = 0;
    const bool fine = WORKS(cuEventRecord(t->start, NULL)) &&
                      WORKS(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL)) &&
                      WORKS(cuEventRecord(t->end, NULL)) && WORKS(cuEventSynchronize(t->end)) &&
                      WORKS(cuEventElapsedTime(&ms, t->start, t->end));
    *seconds = (double)ms * 1e-3;
    return fine;
}

static bool find_overhead(const struct timer *t, double *overhead)
{
    CUfunction f;
    double seconds[EMPTY_RUNS];
    if (!WORKS(cuModuleGetFunction(&f, t->module, "empty"))) return false;
    for (unsigned i = 0; i < EMPTY_RUNS; i++)
        if (!time_launch(t, f, NULL, &seconds[i])) return false;
    *overhead = median(seconds, EMPTY_RUNS);
    return true;
}

/* What the SMs' clock counts in the time that the device's other clock does, if both do: else the rate that the
 * driver names, which a GPU may leave for a higher or a lower one. */
static bool find_clock(const struct timer *t, CUdevice device, double *mhz, const char **source)
{
    CUfunction f;
    CUdeviceptr at = 0;
    int khz = 0;
    unsigned turns = SPIN;
    double unused;
    uint64_t counted[3] = {0};
    void *params[] = {&at, &turns};
    if (!WORKS(cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device)) ||
        !WORKS(cuModuleGetFunction(&f, t->module, "clocks")) || !WORKS(cuMemAlloc(&at, 24)))
        return false;
    bool fine = true;
    for (int i = 0; fine && i < 2; i++) fine = time_launch(t, f, params, &unused);
    fine = fine && WORKS(cuMemcpyDtoH(counted, at, sizeof counted));
    const double counted_mhz = counted[1] ? (double)counted[0] / (double)counted[1] * 1e3 : 0;
    const bool likely = counted_mhz > khz * 0.2e-3 && counted_mhz < khz * 1.5e-3;
    *mhz = likely ? counted_mhz : khz * 1e-3;
    *source = likely ? "counted by the device" : "as the driver says";
    return WORKS(cuMemFree(at)) && fine;
}

static void print_driver(FILE *out)
{
    char line[256] = "";
    FILE *f = fopen("/proc/driver/nvidia/version", "r");
    if (f && fgets(line, sizeof line, f)) fprintf(out, "# %.*s\n", (int)strcspn(line, "\n"), line);
    if (f) (void)fclose(f);
}

static void print_head(const struct suite_measure *m, FILE *out, CUdevice device, const char *clock)
{
    char name[256] = "?", date[32] = "?";
    int version = 0, major = 0, minor = 0, sms = 0;
    const time_t now = time(NULL);
    cuDeviceGetName(name, sizeof name, device);
    cuDriverGetVersion(&version);
    cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(
        out,
        "# Made by heddle measure on %s.\n# %s, compute capability %d.%d, %d SMs, driver API %d.%d\n",
        date, name, major, minor, sms, version / 1000, version % 1000 / 10);
    print_driver(out);
    fprintf(
        out,
        "# SM clock %.1f MHz, %s. Cycles are the time between events less %.3f us, that of a kernel that does\n"
        "# nothing, times it: the median of %u runs after one; least_us and most_us are of all runs.\n",
        m->mhz, clock, m->overhead * 1e6, m->runs);
    fprintf(out, "program,args,launch,kernel,grid,block,shared_bytes,cycles,us,least_us,most_us\n");
}

bool suite_measure_begin(struct suite_measure *m, FILE *out)
{
    struct timer t = {0};
    CUdevice device;
    const char *clock = "";
    setenv("CUDA_MODULE_LOADING", "EAGER", 0); /* or the first launch of a kernel loads it */
    if (!WORKS(cuInit(0)) || !WORKS(cuDeviceGet(&device, 0)) ||
        !WORKS(cuCtxCreate_v2(&t.context, 0, device)))
        return false;
    const bool fine = WORKS(cuModuleLoadData(&t.module, kernels)) &&
                      WORKS(cuEventCreate(&t.start, CU_EVENT_DEFAULT)) &&
                      WORKS(cuEventCreate(&t.end, CU_EVENT_DEFAULT)) &&
                      find_clock(&t, device, &m->mhz, &clock) && find_overhead(&t, &m->overhead);
    if (fine) print_head(m, out, device, clock);
    cuCtxDestroy(t.context);
    return fine;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

struct launch {
    const char *kernel;
    struct suite_dim grid, block;
    unsigned shared;
};

struct log {            /* of the runs of a workload */
    unsigned run, runs; /* run 0 is not counted */
    size_t at, count, cap;
    struct launch *launches;
    double *seconds; /* by launch and run */
    bool differs;
};

static void note(void *self, const struct suite_launched *l)
{
    struct log *g = self;
    const struct launch now = {l->kernel, l->grid, l->block, l->shared};
    if (g->at == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 64;
        g->launches = realloc(g->launches, g->cap * sizeof *g->launches);
        g->seconds = realloc(g->seconds, g->cap * g->runs * sizeof *g->seconds);
        if (!g->launches || !g->seconds) abort();
    }
    if (g->run == 0) {
        g->launches[g->at] = now;
        g->count = g->at + 1;
    } else if (g->at >= g->count || strcmp(g->launches[g->at].kernel, now.kernel) != 0 ||
               memcmp(&g->launches[g->at].grid, &now.grid, sizeof now.grid) != 0)
        g->differs = true;
    else g->seconds[g->at * g->runs + g->run - 1] = l->seconds;
    g->at++;
}

static void print_row(const struct suite_measure *m, const struct suite_workload *w, struct log *g,
                      size_t i, FILE *out)
{
    const struct launch *l = &g->launches[i];
    double *s = g->seconds + i * g->runs, middle = median(s, g->runs) - m->overhead;
    if (middle < 0) middle = 0;
    fprintf(out, "suite:%s:%s,", w->name, suite_size_name(m->options.size));
    if (m->options.seed != 1) fprintf(out, "--data-seed=%llu", (unsigned long long)m->options.seed);
    fprintf(out, ",%zu,%s,%ux%ux%u,%ux%ux%u,%u,%.1f,%.4f,%.4f,%.4f\n", i, l->kernel, l->grid.x,
            l->grid.y, l->grid.z, l->block.x, l->block.y, l->block.z, l->shared,
            middle * m->mhz * 1e6, middle * 1e6, s[0] * 1e6, s[g->runs - 1] * 1e6);
}

bool suite_measure(const struct suite_measure *m, const struct suite_workload *w, FILE *out)
{
    struct log g = {.runs = m->runs};
    struct suite_options options = m->options;
    struct suite_result r = {.passed = true};
    options.launched = note, options.launched_self = &g;
    for (; r.passed && g.run <= m->runs; g.run++) {
        g.at = 0;
        r = suite_run(w, &options);
        g.differs |= g.at != g.count;
    }
    if (!r.passed) fprintf(out, "# %s left out: %s\n", w->name, r.message);
    else if (g.differs)
        fprintf(out, "# %s left out: its launches differ from run to run\n", w->name);
    for (size_t i = 0; r.passed && !g.differs && i < g.count; i++) print_row(m, w, &g, i, out);
    (void)fflush(out);
    free(g.launches);
    free(g.seconds);
    return r.passed;
}
