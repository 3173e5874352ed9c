/* Runs litmus tests on a GPU, many instances at once, again and again with other distances between locations, other delays, and
 * other warps that load memory, and prints which outcomes came: tests/hardware/h100.litmus, which tests/order/h100.c compares with
 * the axioms of PTX. The ways to provoke weak outcomes are those of Sorensen, Donaldson, "Exposing errors related to weak memory
 * in GPU applications", PLDI 2016: memory stress and random places; and of Levine et al., "MC Mutants", ASPLOS 2023: many instances
 * in parallel.
 *
 *     record_litmus [-l LIBRARY] [-t SECONDS] [-r RANDOM TESTS] > tests/hardware/h100.litmus
 *
 * A line is a test's name, and its outcomes as litmus_bench_run gives them in hexadecimal, each with its count. */
#define _GNU_SOURCE
#include "base/buf.h"
#include "base/rng.h"
#include "cuda/cuda_types.h"
#include "tests/hardware/litmus.h"
#include "tests/support/random_litmus.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    MEMORY = 192 << 20,
    SLACK = 64 * 4096, /* for a random begin */
    INSTANCES = 1 << 17,
    SLOTS = 1024, /* of the histogram: an outcome + 1, a count */
    PER = 32,     /* tests of a module */
};

static CUresult (*init)(unsigned), (*device_get)(CUdevice *, int),
    (*context_retain)(CUcontext *, CUdevice), (*context_set)(CUcontext),
    (*module_load)(CUmodule *, const void *), (*module_unload)(CUmodule),
    (*function_get)(CUfunction *, CUmodule, const char *), (*alloc)(CUdeviceptr *, size_t),
    (*to_host)(void *, CUdeviceptr, size_t), (*fill)(CUdeviceptr, unsigned char, size_t, CUstream),
    (*synchronise)(void), (*stream_create)(CUstream *, unsigned),
    (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
              CUstream, void **, void **),
    (*attribute)(int *, CUdevice_attribute, CUdevice), (*name_get)(char *, int, CUdevice),
    (*version_get)(int *);

static void load(const char *library)
{
    static const struct {
        void *to;
        const char *name;
    } names[] = {{&init, "cuInit"},
                 {&device_get, "cuDeviceGet"},
                 {&context_retain, "cuDevicePrimaryCtxRetain"},
                 {&context_set, "cuCtxSetCurrent"},
                 {&module_load, "cuModuleLoadData"},
                 {&module_unload, "cuModuleUnload"},
                 {&function_get, "cuModuleGetFunction"},
                 {&alloc, "cuMemAlloc_v2"},
                 {&to_host, "cuMemcpyDtoH_v2"},
                 {&fill, "cuMemsetD8Async"},
                 {&synchronise, "cuCtxSynchronize"},
                 {&stream_create, "cuStreamCreate"},
                 {&launch, "cuLaunchKernel"},
                 {&attribute, "cuDeviceGetAttribute"},
                 {&name_get, "cuDeviceGetName"},
                 {&version_get, "cuDriverGetVersion"}};
    void *h = dlopen(library, RTLD_NOW);
    if (!h) {
        fprintf(stderr, "record_litmus: %s\n", dlerror());
        exit(2);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *f = dlsym(h, names[i].name);
        if (!f) {
            fprintf(stderr, "record_litmus: the library has no %s\n", names[i].name);
            exit(2);
        }
        memcpy(names[i].to, &f, sizeof f);
    }
}

/* check counts outcomes, stress loads and stores all over some memory. */
static const char helper[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry check(.param .u64 mem, .param .u64 ls, .param .u64 is, .param .u64 res, .param .u32 n, .param .u32 reads,\n"
    "\t.param .u32 locs, .param .u32 shared, .param .u64 hist)\n{\n"
    "\t.reg .pred %q<4>;\n\t.reg .b32 %i<16>;\n\t.reg .b64 %d<16>;\n"
    "\tmov.u32 %i0, %ctaid.x;\n\tmov.u32 %i1, %tid.x;\n\tmad.lo.u32 %i0, %i0, 256, %i1;\n\tld.param.u32 %i2, [n];\n"
    "\tld.param.u64 %d0, [res];\n\tmul.wide.u32 %d1, %i0, 4;\n\tadd.u64 %d0, %d0, %d1;\n\tmul.wide.u32 %d1, %i2, 4;\n"
    "\tmov.u64 %d2, 0;\n\tmov.u32 %i3, 0;\n\tmov.u32 %i4, 0;\n\tld.param.u32 %i5, [reads];\n\tmov.u64 %d3, %d0;\n"
    "READS:\n\tsetp.ge.u32 %q0, %i4, %i5;\n\t@%q0 bra LOCS;\n\tld.global.u32 %i6, [%d3];\n\tand.b32 %i6, %i6, 15;\n\tcvt.u64.u32 %d4, %i6;\n"
    "\tshl.b64 %d4, %d4, %i3;\n\tor.b64 %d2, %d2, %d4;\n\tadd.u32 %i3, %i3, 4;\n\tadd.u32 %i4, %i4, 1;\n\tadd.u64 %d3, %d3, %d1;\n\tbra READS;\n"
    "LOCS:\n\tld.param.u32 %i7, [shared];\n\tsetp.ne.u32 %q1, %i7, 0;\n\tld.param.u64 %d5, [mem];\n\tld.param.u64 %d6, [ls];\n\tld.param.u64 %d7, [is];\n"
    "\tcvt.u64.u32 %d8, %i0;\n\tmad.lo.u64 %d5, %d7, %d8, %d5;\n\tmul.lo.u64 %d9, %d1, 16;\n\tadd.u64 %d9, %d9, %d0;\n"
    "\t@%q1 mov.u64 %d5, %d9;\n\t@%q1 mov.u64 %d6, %d1;\n\tmov.u32 %i4, 0;\n\tld.param.u32 %i5, [locs];\n"
    "LOC:\n\tsetp.ge.u32 %q0, %i4, %i5;\n\t@%q0 bra KEY;\n\tld.global.u32 %i6, [%d5];\n\tand.b32 %i6, %i6, 15;\n\tcvt.u64.u32 %d4, %i6;\n"
    "\tshl.b64 %d4, %d4, %i3;\n\tor.b64 %d2, %d2, %d4;\n\tadd.u32 %i3, %i3, 4;\n\tadd.u32 %i4, %i4, 1;\n\tadd.u64 %d5, %d5, %d6;\n\tbra LOC;\n"
    "KEY:\n\tadd.u64 %d2, %d2, 1;\n\tmatch.any.sync.b64 %i6, %d2, -1;\n\tpopc.b32 %i8, %i6;\n\tbrev.b32 %i9, %i6;\n\tclz.b32 %i9, %i9;\n"
    "\tmov.u32 %i10, %laneid;\n\tsetp.ne.u32 %q0, %i9, %i10;\n\t@%q0 ret;\n"
    "\tmul.lo.u64 %d10, %d2, 0x9e3779b97f4a7c15;\n\tshr.u64 %d10, %d10, 54;\n\tcvt.u32.u64 %i11, %d10;\n\tld.param.u64 %d11, [hist];\n"
    "PROBE:\n\tmul.wide.u32 %d12, %i11, 16;\n\tadd.u64 %d12, %d12, %d11;\n\tatom.global.cas.b64 %d13, [%d12], 0, %d2;\n"
    "\tsetp.eq.u64 %q0, %d13, 0;\n\t@%q0 bra FOUND;\n\tsetp.eq.u64 %q0, %d13, %d2;\n\t@%q0 bra FOUND;\n\tadd.u32 %i11, %i11, 1;\n\tand.b32 %i11, %i11, 1023;\n\tbra PROBE;\n"
    "FOUND:\n\tcvt.u64.u32 %d14, %i8;\n\tred.global.add.u64 [%d12+8], %d14;\n\tret;\n}\n"
    /* loads and stores all over some memory */
    ".visible .entry stress(.param .u64 mem, .param .u32 mask, .param .u32 times)\n{\n"
    "\t.reg .pred %q<4>;\n\t.reg .b32 %i<16>;\n\t.reg .b64 %d<8>;\n"
    "\tmov.u32 %i0, %ctaid.x;\n\tmov.u32 %i1, %tid.x;\n\tmad.lo.u32 %i0, %i0, 64, %i1;\n\tmul.lo.u32 %i0, %i0, 0x9e3779b1;\n\tld.param.u32 %i2, [mask];\n\tld.param.u32 %i3, [times];\n"
    "\tld.param.u64 %d0, [mem];\n\tmov.u32 %i4, 0;\n"
    "MORE:\n\tmad.lo.u32 %i0, %i0, 1664525, 1013904223;\n\tshr.u32 %i5, %i0, 4;\n\tand.b32 %i5, %i5, %i2;\n\tmul.wide.u32 %d1, %i5, 4;\n\tadd.u64 %d1, %d1, %d0;\n"
    "\tld.volatile.global.u32 %i6, [%d1];\n\tadd.u32 %i6, %i6, %i4;\n\tst.volatile.global.u32 [%d1], %i6;\n\tadd.u32 %i4, %i4, 1;\n\tsetp.lt.u32 %q0, %i4, %i3;\n\t@%q0 bra MORE;\n\tret;\n}\n";

static void expect(CUresult e, const char *what)
{
    if (!e) return;
    fprintf(stderr, "record_litmus: %s: error %d\n", what, e);
    exit(2);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static CUfunction check, stress;
static CUstream side;
static CUdeviceptr memory, results, counters, histogram, scratch;
static uint32_t sms;
static uint64_t seed = 1;

/* One launch of the test with other distances, delays and company, and the count of its outcomes. */
static CUresult launch_once(CUfunction f, const struct litmus *t)
{
    const struct hardware_litmus_size size = hardware_litmus_size(t);
    const uint32_t block = HARDWARE_LITMUS_LANES * size.slots,
                   resident = 2048 / block < 32 ? 2048 / block : 32;
    uint32_t groups = (sms * resident / size.ctas) & ~3u;
    if (groups > INSTANCES / HARDWARE_LITMUS_LANES) groups = INSTANCES / HARDWARE_LITMUS_LANES;
    if (!groups) groups = 4;
    uint32_t n = groups * HARDWARE_LITMUS_LANES;
    /* distances of instances; the last three have an instance's locations beside each other */
    static const struct {
        uint32_t is, ls;
    } places[] = {{4, 0},   {4, 0},   {16, 0}, {32, 0}, {64, 0},
                  {128, 0}, {256, 0}, {16, 4}, {32, 8}, {256, 64}};
    const uint32_t pick = rng_below(&seed, sizeof places / sizeof *places);
    uint64_t is = places[pick].is, ls = places[pick].ls;
    if (!ls) ls = (n * is + 4095) / 4096 * 4096 + 256 * rng_below(&seed, 64);
    uint32_t warm = places[pick].ls ? 0 : rng_below(&seed, 2);
    const uint64_t bytes = places[pick].ls ? n * is : ls * t->locations;
    CUdeviceptr at = memory + rng_below(&seed, 64) * 4096u;
    static const uint32_t delays[] = {0, 0, 0x3f, 0xff, 0x3ff, 0xfff};
    uint32_t late = delays[rng_below(&seed, 6)] << 16 | rng_below(&seed, 0x10000);
    uint32_t mul = rng_below(&seed, 3) ? (uint32_t)rng_next(&seed) : 0;
    uint32_t shared = t->shared, reads = t->reads, locations = t->locations;
    CUresult e = 0;
    if (bytes > MEMORY) return 0;
    if (!shared) e = fill(at, 0, bytes, NULL);
    if (!e) e = fill(counters, 0, groups * 8u, NULL);
    if (!e && rng_below(&seed, 3) == 0) {
        uint32_t mask = rng_below(&seed, 2) ? 0xffff : 0xffffff, times = 40;
        void *args[] = {&scratch, &mask, &times};
        e = launch(stress, sms * 2, 1, 1, 64, 1, 1, 0, side, args, NULL);
    }
    void *args[] = {&at, &ls, &is, &results, &n, &mul, &counters, &late, &warm};
    if (!e) e = launch(f, groups * size.ctas, 1, 1, block, 1, 1, 0, NULL, args, NULL);
    void *count[] = {&at, &ls, &is, &results, &n, &reads, &locations, &shared, &histogram};
    return e ? e : launch(check, n / 256, 1, 1, 256, 1, 1, 0, NULL, count, NULL);
}

static void run(CUfunction f, const struct litmus *t, const char *name, double until)
{
    static uint64_t counts[SLOTS][2];
    CUresult e = fill(histogram, 0, sizeof counts, NULL);
    do {
        for (int i = 0; !e && i < 4; i++) e = launch_once(f, t);
        if (!e) e = synchronise();
    } while (!e && now() < until);
    if (!e) e = to_host(counts, histogram, sizeof counts);
    expect(e, name);
    printf("%s", name);
    for (size_t i = 0; i < SLOTS; i++)
        if (counts[i][0])
            printf(" %llx:%llu", (unsigned long long)counts[i][0] - 1,
                   (unsigned long long)counts[i][1]);
    printf("\n");
}

struct test {
    struct litmus t;
    char name[LITMUS_NAME];
};

static size_t list_tests(struct test **out, unsigned long random_tests)
{
    size_t n = 0;
    struct test *t = calloc(litmus_shape_count * LITMUS_VARIANTS * LITMUS_PLACEMENTS + random_tests,
                            sizeof *t);
    if (!t) abort();
    for (size_t s = 0; s < litmus_shape_count; s++)
        for (int how = 0; how < LITMUS_VARIANTS; how++)
            for (int where = 0; where < LITMUS_PLACEMENTS; where++, n++) {
                t[n].t = litmus_of_shape(s, (enum litmus_variant)how, (enum litmus_placement)where);
                litmus_name(t[n].name, s, (enum litmus_variant)how, (enum litmus_placement)where);
            }
    for (unsigned long i = 1; i <= random_tests; i++, n++) {
        t[n].t = random_litmus(i);
        snprintf(t[n].name, sizeof t[n].name, "random%lu", i);
    }
    *out = t;
    return n;
}

int main(int argc, char **argv)
{
    const char *library = "libcuda.so.1";
    double seconds = 60;
    unsigned long random_tests = 1000;
    for (int o; (o = getopt(argc, argv, "l:t:r:")) != -1;) {
        if (o == 'l') library = optarg;
        else if (o == 't') seconds = strtod(optarg, NULL);
        else if (o == 'r') random_tests = strtoul(optarg, NULL, 10);
        else return 2;
    }
    load(library);
    CUdevice device;
    CUcontext context;
    CUmodule helpers;
    int count = 1, version = 0;
    char name[128] = "";
    expect(init(0), "cuInit");
    expect(device_get(&device, 0), "cuDeviceGet");
    expect(context_retain(&context, device), "cuDevicePrimaryCtxRetain");
    expect(context_set(context), "cuCtxSetCurrent");
    expect(attribute(&count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
           "cuDeviceGetAttribute");
    expect(module_load(&helpers, helper), "cuModuleLoadData");
    expect(function_get(&check, helpers, "check"), "check");
    expect(function_get(&stress, helpers, "stress"), "stress");
    expect(stream_create(&side, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    expect(alloc(&memory, MEMORY + SLACK), "cuMemAlloc");
    expect(alloc(&results, (size_t)INSTANCES * 20 * 4), "cuMemAlloc");
    expect(alloc(&counters, INSTANCES / HARDWARE_LITMUS_LANES * 8), "cuMemAlloc");
    expect(alloc(&histogram, SLOTS * 16), "cuMemAlloc");
    expect(alloc(&scratch, 64 << 20), "cuMemAlloc");
    sms = (uint32_t)count;
    name_get(name, sizeof name, device);
    version_get(&version);
    printf("# %s, driver API %d.%d, %g s\n", name, version / 1000, version % 1000 / 10, seconds);
    struct test *tests;
    const size_t n = list_tests(&tests, random_tests);
    const double begin = now();
    CUmodule module = NULL;
    for (size_t i = 0; i < n; i++) {
        if (i % PER == 0) {
            struct buf text = {0};
            buf_puts(&text, ".version 8.0\n.target sm_90\n.address_size 64\n");
            for (size_t k = i; k < n && k < i + PER; k++)
                hardware_litmus_ptx(&text, (unsigned)k, &tests[k].t);
            if (module) module_unload(module);
            expect(module_load(&module, text.data), tests[i].name);
            buf_free(&text);
        }
        char kernel[32];
        CUfunction f;
        snprintf(kernel, sizeof kernel, "t%zu", i);
        expect(function_get(&f, module, kernel), kernel);
        const double left = seconds - (now() - begin);
        run(f, &tests[i].t, tests[i].name, now() + left / (double)(n - i));
    }
    free(tests);
    return 0;
}
