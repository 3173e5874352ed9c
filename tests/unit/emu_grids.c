/* Grids that kernels launch. What nvcc 13 makes of dynamic_parallelism.cu in tests/corpus/cuda.cu, and kernels
 * written for one case each. */
#include "heddle.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct heddle_module *module;
static struct heddle_device *device;

static void open_text(const char *name, const char *text, struct heddle_device_options o)
{
    module = heddle_module_read(name, text, strlen(text), NULL);
    cr_assert(heddle_module_ok(module), "%s", heddle_module_messages_text(module));
    device = heddle_device_new(&o);
    cr_assert(heddle_device_load(device, &module, 1), "%s", heddle_device_error(device));
}
static void close_all(void)
{
    heddle_device_free(device);
    heddle_module_free(module);
}

static struct heddle_run launch(const char *kernel, uint32_t grid, uint32_t block, uint64_t *args,
                                size_t count)
{
    return heddle_device_launch(device, kernel, (uint32_t[]){grid, 1, 1}, (uint32_t[]){block, 1, 1},
                                0, args, count);
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* Both targets: a sort whose halves are launched, and children in a stream with a copy behind them. */
Test(emu_grids, as_nvcc_writes_them)
{
    static const char *const files[] = {"build/corpus/dynamic_parallelism.sm_75.ptx",
                                        "build/corpus/dynamic_parallelism.sm_90.ptx"};
    for (size_t f = 0; f < 2; f++)
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            int data[200], want[200];
            size_t size;
            char *text = read_file(files[f], &size);
            open_text(files[f], text, (struct heddle_device_options){.threads = threads});
            for (int i = 0; i < 200; i++) data[i] = want[i] = i * 7919 % 1009;
            qsort(want, 200, sizeof *want, ascending);
            uint64_t d = heddle_device_alloc(device, sizeof data, "data");
            heddle_device_write(device, d, data, sizeof data);
            struct heddle_run r = launch("_Z9quicksortPiii", 1, 1, (uint64_t[]){d, 0, 200}, 3);
            cr_assert(!r.fault, "%s", r.text);
            heddle_device_read(device, data, d, sizeof data);
            cr_expect(memcmp(data, want, sizeof data) == 0, "%s, %u threads: not sorted", files[f],
                      threads);
            memset(data, 0, sizeof data);
            heddle_device_write(device, d, data, sizeof data);
            r = launch("parent", 1, 1, &d, 1);
            cr_assert(!r.fault, "%s", r.text);
            heddle_device_read(device, data, d, sizeof data);
            for (int i = 0; i < 32; i++) /* 3 + 2 + 1 + 0, and then the copy */
                cr_expect(data[i] == 6 && data[64 + i] == 6, "%d: %d, %d", i, data[i],
                          data[64 + i]);
            cr_expect(data[40] == 0);
            close_all();
            free(text);
        }
}

#define DECLARE                                                                                    \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                              \
    ".extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 " \
    ".b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);\n"                                      \
    ".extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"      \
    ".extern .func (.param .b32 r) __cudaCDP2GetLastError();\n"                                    \
    ".extern .func (.param .b32 r) __cudaCDP2DeviceSynchronize();\n"                               \
    ".extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 p, .param .b32 v, "           \
    ".param .b64 n, .param .b64 s);\n"

/* start(kernel, grid, block, stream, out, value): one launch of a kernel (u64 out, u32 value); returns the
 * launch's error, or 1000 and the last error where there is no buffer. */
#define START                                                                                      \
    ".func (.param .b32 e) start(.param .b64 k, .param .b32 gx, .param .b32 bx, .param .b64 st, "  \
    ".param .b64 out, .param .b32 v)\n{\n"                                                         \
    " .reg .b64 %d<5>; .reg .b32 %r<4>; .reg .pred %p;\n .param .b64 f; .param .align 4 .b8 "      \
    "g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 buf; .param .b32 err;\n"         \
    " ld.param.u64 %d1, [k]; st.param.b64 [f], %d1;\n"                                             \
    " ld.param.u32 %r1, [gx]; st.param.b32 [g], %r1; st.param.b32 [g+4], 1; st.param.b32 [g+8], "  \
    "1;\n ld.param.u32 %r1, [bx]; st.param.b32 [b], %r1; st.param.b32 [b+4], 1; st.param.b32 "     \
    "[b+8], 1;\n st.param.b32 [s], 0;\n"                                                           \
    " call (buf), __cudaCDP2GetParameterBufferV2, (f, g, b, s);\n ld.param.b64 %d2, [buf];\n"      \
    " setp.ne.u64 %p, %d2, 0; @%p bra go;\n call (err), __cudaCDP2GetLastError, ();\n"             \
    " ld.param.b32 %r1, [err]; add.u32 %r1, %r1, 1000; st.param.b32 [e], %r1; ret;\n"              \
    "go:\n ld.param.u64 %d3, [out]; st.u64 [%d2], %d3; ld.param.u32 %r2, [v]; st.u32 [%d2+8], "    \
    "%r2;\n ld.param.u64 %d4, [st];\n { .param .b64 p; .param .b64 q; st.param.b64 [p], %d2; "     \
    "st.param.b64 [q], %d4;\n call (err), __cudaCDP2LaunchDeviceV2, (p, q); }\n"                   \
    " ld.param.b32 %r1, [err]; st.param.b32 [e], %r1; ret;\n}\n"

#define CALL_START(k, gx, bx, st, out, v)                                                          \
    " { .param .b64 a; .param .b32 b; .param .b32 c; .param .b64 d; .param .b64 e; .param .b32 "   \
    "f; .param .b32 r; st.param.b64 [a], " k "; st.param.b32 [b], " gx "; st.param.b32 [c], " bx   \
    "; st.param.b64 [d], " st "; st.param.b64 [e], " out "; st.param.b32 [f], " v                  \
    ";\n call (r), start, (a, b, c, d, e, f); ld.param.b32 %e, [r]; }\n"

#define HEAD(name)                                                                                 \
    ".visible .entry " name "(.param .u64 out, .param .u32 v)\n{\n"                                \
    " .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b32 %e; .reg .pred %p<3>;\n"                         \
    " ld.param.u64 %d1, [out]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n"

/* note: appends v to a list at out, whose first word counts */
#define NOTE                                                                                       \
    HEAD("note")                                                                                   \
    " atom.global.inc.u32 %r4, [%d1], 0x7fffffff; mul.wide.u32 %d2, %r4, 4; add.u64 "              \
    "%d2, %d1, %d2; st.global.u32 [%d2+4], %r1; ret;\n}\n"

/* parent: launches note(100 v + 10 cta + k) in NULL, tail, own order; child launches one of its own */
static const char orders[] = DECLARE START NOTE HEAD("child") " mov.u64 %d3, note;\n" CALL_START(
    "%d3", "1", "1", "3", "%d1", "77")
    CALL_START("%d3", "1", "1", "0", "%d1", "%r1") " add.u32 %r1, %r1, 1;\n" CALL_START(
        "%d3", "1", "1", "0", "%d1",
        "%r1") " ret;\n}\n" HEAD("parent") " mov.u64 %d3, note; mov.u64 %d4, child; mul.lo.u32 %r4, %r3, 100;\n"
                                           " mad.lo.u32 %r4, %r2, 10, %r4; add.u32 %r4, %r4, 1000;\n" CALL_START(
                                               "%d3", "1", "1", "3", "%d1", "99")
                                               CALL_START(
                                                   "%d4", "1", "1", "0", "%d1",
                                                   "%r4") " add.u32 %r4, %r4, 2;\n" CALL_START("%d3",
                                                                                               "1",
                                                                                               "1",
                                                                                               "4",
                                                                                               "%d1",
                                                                                               "%r4") " ret;\n}\n";

/* What the children of each CTA do comes in the order of CTAs, tails of a grid after all else of it; the
 * same with any number of threads and lanes that part. */
Test(emu_grids, children_run_by_cta_and_tails_last)
{
    uint32_t want[64], n = 0;
    for (uint32_t cta = 0; cta < 3; cta++) {
        /* both threads call at once: tails, then the children, then the notes */
        for (uint32_t t = 0; t < 2; t++) {
            want[n++] = 1000 + 100 * cta + 10 * t;
            want[n++] = 1001 + 100 * cta + 10 * t;
            want[n++] = 77;
        }
        for (uint32_t t = 0; t < 2; t++) want[n++] = 1002 + 100 * cta + 10 * t;
    }
    for (int i = 0; i < 6; i++) want[n++] = 99;
    for (unsigned threads = 1; threads <= 4; threads++)
        for (int its = 0; its < 2; its++) {
            uint32_t got[100] = {0};
            open_text("orders.ptx", orders,
                      (struct heddle_device_options){
                          .threads = threads, .independent_threads = its, .check_memory = true});
            uint64_t d = heddle_device_alloc(device, sizeof got, "list");
            struct heddle_run r = launch("parent", 3, 2, (uint64_t[]){d, 0}, 2);
            cr_assert(!r.fault, "%s", r.text);
            heddle_device_read(device, got, d, sizeof got);
            cr_assert(got[0] == n, "%u, not %u", got[0], n);
            for (uint32_t i = 0; i < n; i++)
                cr_expect(got[1 + i] == want[i], "%u: %u, not %u", i, got[1 + i], want[i]);
            size_t leaks;
            heddle_device_release(device, d);
            const char *text = heddle_device_leaks(device, &leaks);
            cr_expect(leaks == 0, "%s", text);
            close_all();
        }
}

/* Where `value` stands in a list of n; n: nowhere. */
static uint32_t place_of(const uint32_t *list, uint32_t n, uint32_t value)
{
    uint32_t i = 0;
    while (i < n && list[i] != value) i++;
    return i;
}

/* The order random chooses which stream goes on: what streams do not order comes in several orders, what they order
 * never does. One seed gives one order. */
Test(emu_grids, random_chooses_among_streams)
{
    enum { SEEDS = 20, WORDS = 100 };
    static uint32_t got[SEEDS + 1][WORDS];
    unsigned others = 0;
    for (unsigned seed = 0; seed <= SEEDS; seed++) { /* the last one is the first once more */
        open_text("orders.ptx", orders,
                  (struct heddle_device_options){.order = "random", .seed = seed % SEEDS});
        uint64_t d = heddle_device_alloc(device, sizeof got[0], "list");
        struct heddle_run r = launch("parent", 3, 2, (uint64_t[]){d, 0}, 2);
        cr_assert(!r.fault, "%s", r.text);
        heddle_device_read(device, got[seed], d, sizeof got[0]);
        close_all();
        const uint32_t n = got[seed][0], *list = got[seed] + 1;
        cr_assert_eq(n, 3 * 2 * 3 + 3 * 2 + 6);
        for (uint32_t i = n - 6; i < n; i++) cr_expect_eq(list[i], 99, "tails come last");
        for (uint32_t cta = 0; cta < 3; cta++) {
            const uint32_t first = 1000 + 100 * cta, second = first + 10;
            cr_expect(place_of(list, n, first + 1) < place_of(list, n, second),
                      "one stream: a child with all of its own, then the next");
            cr_expect(place_of(list, n, first + 2) < n && place_of(list, n, second + 2) < n);
        }
        others += memcmp(got[seed], got[0], sizeof got[0]) != 0;
    }
    cr_expect(others > SEEDS / 2, "%u of %u seeds have another order than the first", others,
              SEEDS);
    cr_expect_arr_eq(got[SEEDS], got[0], sizeof got[0]);
}

/* Under gpudet and dab every seed has the order of issue. */
Test(emu_grids, deterministic_orders_keep_the_order_of_issue)
{
    static const char *const names[] = {"native", "gpudet", "dab"};
    uint32_t first[100] = {0}, got[100];
    for (size_t i = 0; i < 3; i++)
        for (unsigned seed = 0; seed < 3; seed++) {
            open_text("orders.ptx", orders,
                      (struct heddle_device_options){.order = names[i], .seed = seed});
            uint64_t d = heddle_device_alloc(device, sizeof got, "list");
            struct heddle_run r = launch("parent", 3, 2, (uint64_t[]){d, 0}, 2);
            cr_assert(!r.fault, "%s", r.text);
            heddle_device_read(device, got, d, sizeof got);
            if (!first[0]) memcpy(first, got, sizeof got);
            cr_expect_arr_eq(got, first, sizeof got, "%s, seed %u", names[i], seed);
            close_all();
        }
}

/* out[0..] = errors of launches that cannot be */
static const char wrong[] = DECLARE START NOTE
    ".visible .entry small(.param .u64 out, .param .u32 v) .maxntid 64, 1, 1\n{\n ret;\n}\n" HEAD("parent") " mov.u64 %d3, note; mov.u64 %d4, small;\n" CALL_START("%d3", "1", "0", "0", "%d1", "1") " st.global.u32 [%d1+0], %e;\n" CALL_START(
        "%d3", "1", "1025", "0", "%d1",
        "1") " st.global.u32 [%d1+4], %e;\n" CALL_START("%d4", "1", "65", "0", "%d1",
                                                        "1") " st.global.u32 [%d1+8], %e;\n" CALL_START("%d1",
                                                                                                        "1",
                                                                                                        "1",
                                                                                                        "0",
                                                                                                        "%d1",
                                                                                                        "1") " st.global.u32 [%d1+12], %e;\n" CALL_START("%d4",
                                                                                                                                                         "1",
                                                                                                                                                         "64",
                                                                                                                                                         "5",
                                                                                                                                                         "%d1",
                                                                                                                                                         "1") " st.global.u32 [%d1+16], %e;\n"
                                                                                                                                                              " { .param .b64 p; .param .b64 q; .param .b32 r; st.param.b64 [p], %d1; st.param.b64 [q], 0;\n"
                                                                                                                                                              " call (r), __cudaCDP2LaunchDeviceV2, (p, q); ld.param.b32 %e, [r]; }\n"
                                                                                                                                                              " st.global.u32 [%d1+20], %e;\n"
                                                                                                                                                              " { .param .b32 r; call (r), __cudaCDP2GetLastError, (); ld.param.b32 %e, [r];\n"
                                                                                                                                                              " st.global.u32 [%d1+24], %e; call (r), __cudaCDP2GetLastError, (); ld.param.b32 %e, [r];\n"
                                                                                                                                                              " st.global.u32 [%d1+28], %e; }\n ret;\n}\n"
    /* out[0] = launches that were possible, out[1] = the error of the next */
    HEAD("many") " mov.u64 %d3, small; mov.u32 %r4, 0;\nmore:\n" CALL_START(
        "%d3", "1", "1", "0", "%d1",
        "1") " setp.ne.u32 %p1, %e, 0; @%p1 bra done; add.u32 %r4, %r4, 1; bra more;\ndone:\n"
             " st.global.u32 [%d1], %r4; st.global.u32 [%d1+4], %e; ret;\n}\n"
    /* out[v] = the error of the launch at that depth */
    HEAD("deep") " mov.u64 %d3, deep; add.u32 %r4, %r1, 1;\n" CALL_START(
        "%d3", "1", "1", "0", "%d1",
        "%r4") " mul.wide.u32 %d4, %r1, 4; add.u64 %d4, %d4, %d1; add.u32 %e, %e, 1; st.global.u32 [%d4], %e;\n"
               " ret;\n}\n" HEAD("faults") " mov.u64 %d3, note;\n" CALL_START("%d3", "1", "1", "0", "64", "1") " ret;\n}\n" HEAD("waits") " .param .b32 r; call (r), __cudaCDP2DeviceSynchronize, (); ret;\n}\n" HEAD(
                   "sets") " .param .b64 p; .param .b32 x; .param .b64 n; .param .b64 s; .param .b32 r;\n"
                           " st.param.b64 [p], %d1; st.param.b32 [x], %r1; st.param.b64 [n], 8; st.param.b64 [s], 0;\n"
                           " call (r), __cudaCDP2MemsetAsync, (p, x, n, s); ret;\n}\n" HEAD(
                               "forever") " mov.u64 %d3, forever;\n" CALL_START("%d3", "1", "1",
                                                                                "0", "%d1", "1")
                               CALL_START("%d3", "1", "1", "0", "%d1", "1") " ret;\n}\n";

static struct heddle_run run_wrong(const char *kernel, uint32_t *out, size_t size)
{
    uint64_t d = heddle_device_alloc(device, size, "out");
    struct heddle_run r = launch(kernel, 1, 1, (uint64_t[]){d, 0}, 2);
    heddle_device_read(device, out, d, size);
    return r;
}

Test(emu_grids, what_cannot_be_launched_has_an_error)
{
    uint32_t out[64];
    open_text("wrong.ptx", wrong, (struct heddle_device_options){0});
    struct heddle_run r = run_wrong("parent", out, 32);
    cr_assert(!r.fault, "%s", r.text);
    /* cudaErrorInvalidConfiguration, ..InvalidDeviceFunction, ..InvalidResourceHandle, ..InvalidValue */
    static const uint32_t want[] = {1009, 1009, 1009, 1098, 400, 1, 1, 0};
    for (int i = 0; i < 8; i++) cr_expect(out[i] == want[i], "%d: %u", i, out[i]);
    r = run_wrong("many", out, 8);
    cr_assert(!r.fault, "%s", r.text);
    cr_expect(out[0] == 2048 && out[1] == 1069, "%u, then %u", out[0], out[1]);
    r = run_wrong("deep", out, 120);
    cr_assert(!r.fault, "%s", r.text);
    for (int i = 0; i < 30; i++) {
        uint32_t error = i < 24 ? 1 : i == 24 ? 1066 : 0; /* LaunchMaxDepthExceeded is 65 */
        cr_expect(out[i] == error, "depth %d: %u", i, out[i]);
    }
    close_all();
}

Test(emu_grids, faults_of_children_end_the_launch)
{
    uint32_t out[2];
    open_text("wrong.ptx", wrong, (struct heddle_device_options){0});
    struct heddle_run r = run_wrong("faults", out, 8);
    cr_expect(r.fault && strstr(r.text, "of kernel 'note'") &&
                  strstr(r.text, "launched by thread (0,0,0) of CTA (0,0,0) of kernel 'faults'"),
              "%s", r.text);
    r = run_wrong("waits", out, 8);
    cr_expect(r.fault && strstr(r.text, "so it cannot wait for them"), "%s", r.text);
    r = run_wrong("sets", out, 8);
    cr_expect(!r.fault && out[0] == 0 && out[1] == 0);
    r = run_wrong("sets", out, 4);
    cr_expect(r.fault && strstr(r.text, "out of bounds: cudaMemsetAsync of 8 bytes") &&
                  strstr(r.text, "launched by thread"),
              "%s", r.text);
    close_all();
}

/* A limit is of the launch and all that it launches. */
Test(emu_grids, children_count_towards_the_limit)
{
    uint32_t out[2];
    open_text("wrong.ptx", wrong,
              (struct heddle_device_options){.max_instructions = 100000, .count = true});
    struct heddle_run r = run_wrong("forever", out, 8);
    /* A grid is stopped, or has ended when all of them are judged. */
    cr_expect(r.limit && (strstr(r.text, "did not end within 100000 warp instructions") ||
                          strstr(r.text, " warp instructions, more than 100000\n")),
              "%s", r.text);
    cr_expect(r.warp_instructions >= 100000 && r.warp_instructions < 200000 &&
                  r.thread_instructions >= 100000,
              "%llu", (unsigned long long)r.warp_instructions);
    close_all();
}

/* The first version of the calls: a buffer of a size, and a launch that names kernel and sizes. A buffer that
 * is not launched is nobody's leak. */
static const char first_version[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 n);\n"
    ".extern .func (.param .b32 r) cudaLaunchDevice(.param .b64 f, .param .b64 p, .param .align 4 .b8 "
    "g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 st);\n"
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry child(.param .u64 out, .param .u32 v)\n{\n .reg .b64 %d; .reg .b32 %r<3>;\n"
    " ld.param.u64 %d, [out]; ld.param.u32 %r1, [v]; mov.u32 %r2, %tid.y; mad.wide.u32 %d, %r2, 4, "
    "%d;\n st.shared.u32 [dynamic+60], %r1; ld.shared.u32 %r1, [dynamic+60]; add.u32 %r1, %r1, %r2;\n"
    " st.global.u32 [%d], %r1; ret;\n}\n"
    ".visible .entry parent(.param .u64 out, .param .u32 v)\n{\n"
    " .reg .b64 %d<4>; .reg .b32 %r<3>;\n .param .b64 a; .param .b64 n; .param .b64 p; .param .b64 f;\n"
    " .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 st; .param "
    ".b32 e; .param .b64 m;\n ld.param.u64 %d1, [out]; ld.param.u32 %r1, [v];\n"
    " st.param.b64 [a], 8; st.param.b64 [n], 12; call (p), cudaGetParameterBuffer, (a, n);\n"
    " call (m), cudaGetParameterBuffer, (a, n); ld.param.b64 %d2, [p];\n"
    " st.u64 [%d2], %d1; st.u32 [%d2+8], %r1; mov.u64 %d3, child; st.param.b64 [f], %d3;\n"
    " st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
    " st.param.b32 [b], 1; st.param.b32 [b+4], 4; st.param.b32 [b+8], 1;\n"
    " st.param.b32 [s], 64; st.param.b64 [st], 0; st.param.b64 [m], %d2;\n"
    " call (e), cudaLaunchDevice, (f, m, g, b, s, st); ld.param.b32 %r2, [e];\n"
    " st.global.u32 [%d1+16], %r2; ret;\n}\n";

Test(emu_grids, calls_of_the_first_version)
{
    uint32_t out[5];
    open_text("first.ptx", first_version, (struct heddle_device_options){.check_memory = true});
    uint64_t d = heddle_device_alloc(device, sizeof out, "out");
    struct heddle_run r = launch("parent", 1, 1, (uint64_t[]){d, 30}, 2);
    cr_assert(!r.fault, "%s", r.text);
    heddle_device_read(device, out, d, sizeof out);
    for (uint32_t i = 0; i < 4; i++) cr_expect(out[i] == 30 + i, "%u: %u", i, out[i]);
    cr_expect(out[4] == 0);
    heddle_device_release(device, d);
    cr_expect(!*heddle_device_leaks(device, NULL), "%s", heddle_device_leaks(device, NULL));
    close_all();
}

/* A store of the parent to its parameters may be late for others, but not for the launch. */
Test(emu_grids, are_given_what_was_stored_for_them)
{
    uint32_t got[2];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        open_text("stored.ptx",
                  DECLARE START NOTE HEAD("parent") " mov.u64 %d3, note;\n" CALL_START(
                      "%d3", "1", "1", "0", "%d1", "%r1") " ret;\n}\n",
                  (struct heddle_device_options){.order = "random", .seed = seed});
        uint64_t d = heddle_device_alloc(device, sizeof got, "list");
        heddle_device_write(device, d, &(uint64_t){0}, sizeof got);
        struct heddle_run r = launch("parent", 1, 1, (uint64_t[]){d, 42}, 2);
        cr_assert(!r.fault, "%s", r.text);
        heddle_device_read(device, got, d, sizeof got);
        cr_expect(got[0] == 1 && got[1] == 42, "seed %llu: %u, %u", (unsigned long long)seed,
                  got[0], got[1]);
        close_all();
    }
}

/* nvcc links NVIDIA's device runtime in: its functions call what its driver has. */
Test(emu_grids, are_launched_by_heddle_though_a_module_has_the_functions)
{
    uint32_t got[2] = {0};
    open_text(
        "linked.ptx",
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".extern .func (.param .b64 r) __cuda_syscall(.param .b64 f);\n"
        ".func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 "
        ".b8 g[12], .param .align 4 .b8 b[12], .param .b32 s)\n{\n"
        " .param .b64 x; .param .b64 y; .reg .b64 %d; ld.param.b64 %d, [f]; st.param.b64 [y], %d;\n"
        " call (x), __cuda_syscall, (y); ld.param.b64 %d, [x]; st.param.b64 [r], %d; ret;\n}\n"
        ".func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s)\n{\n"
        " trap; ret;\n}\n"
        ".func (.param .b32 r) __cudaCDP2GetLastError()\n{\n st.param.b32 [r], 1; ret;\n}\n" START
            NOTE HEAD("parent") " mov.u64 %d3, note;\n" CALL_START("%d3", "1", "1", "0", "%d1",
                                                                   "%r1") " ret;\n}\n",
        (struct heddle_device_options){0});
    uint64_t d = heddle_device_alloc(device, sizeof got, "list");
    heddle_device_write(device, d, got, sizeof got);
    struct heddle_run r = launch("parent", 1, 1, (uint64_t[]){d, 42}, 2);
    cr_assert(!r.fault, "%s", r.text);
    heddle_device_read(device, got, d, sizeof got);
    cr_expect(got[0] == 1 && got[1] == 42, "%u, %u", got[0], got[1]);
    close_all();
}
