/* Kernels that wait for the grids that they launch: cudaDeviceSynchronize of CUDA 11 and earlier. Expectations follow from the CUDA
 * programming guide of these versions: the call returns when all that the CTA has launched before is done, and what it has
 * written is visible then. */
#include "heddle.h"
#include "tests/support/nested_ptx.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct heddle_module *module;
static struct heddle_device *device;

static void open_text(const char *text, struct heddle_device_options o)
{
    module = heddle_module_read("nested.ptx", text, strlen(text), NULL);
    cr_assert(heddle_module_ok(module), "%s", heddle_module_messages_text(module));
    device = heddle_device_new(&o);
    cr_assert(heddle_device_load(device, &module, 1), "%s", heddle_device_error(device));
}

static void close_all(void)
{
    heddle_device_free(device);
    heddle_module_free(module);
}

/* Runs kernel(out, v), where out has `count` zeros, and copies them back. */
static struct heddle_run run(const char *kernel, uint32_t ctas, uint32_t threads, uint32_t *out,
                             size_t count, uint32_t v)
{
    memset(out, 0, count * sizeof *out);
    const uint64_t d = heddle_device_alloc(device, count * sizeof *out, "out");
    heddle_device_write(device, d, out, count * sizeof *out);
    const struct heddle_run r = heddle_device_launch(device, kernel, (uint32_t[]){ctas, 1, 1},
                                                     (uint32_t[]){threads, 1, 1}, 0,
                                                     (uint64_t[]){d, v}, 2);
    heddle_device_read(device, out, d, count * sizeof *out);
    return r;
}

/* Each node of a binary tree is a grid, which waits for its children and adds their sums. Leaves are nodes 64 to 127. */
static void sum_tree(struct heddle_device_options o)
{
    uint32_t out[128];
    open_text(
        DECLARE START ENTRY(
            "tree") " mul.wide.u32 %d3, %r1, 4; add.u64 %d3, %d3, %d1; setp.lt.u32 %p1, %r1, 64;\n"
                    " @%p1 bra inner; mov.u32 %r4, 1; st.global.u32 [%d3], %r4; ret;\n"
                    "inner: shl.b32 %r5, %r1, 1; add.u32 %r6, %r5, 1; mov.u64 %d4, tree;\n" LAUNCH(
                        "%d4", "1", "1", "0", "%d1", "%r5")
                        LAUNCH("%d4", "1", "1", "0", "%d1", "%r6") WAIT
        " mul.wide.u32 %d5, %r5, 4; add.u64 %d5, %d5, %d1;\n"
        " ld.global.u32 %r4, [%d5]; ld.global.u32 %r8, [%d5+4]; add.u32 %r4, %r4, %r8;\n"
        " add.u32 %r4, %r4, %r7; st.global.u32 [%d3], %r4; ret;\n}\n",
        o);
    const struct heddle_run r = run("tree", 1, 1, out, 128, 1);
    cr_assert(!r.fault, "%s", r.text);
    for (uint32_t node = 1; node < 128; node++) {
        uint32_t leaves = 64;
        for (uint32_t n = node; n > 1; n /= 2) leaves /= 2;
        cr_expect_eq(out[node], leaves, "%s: %u: %u", o.order ? o.order : "", node, out[node]);
    }
    close_all();
}

Test(emu_nested, parents_see_what_their_children_have_computed)
{
    static const char *const orders[] = {
        "gpudet", "random",         "random:model=sc",  "random:model=tso", "gpudet:quantum=50",
        "dab",    "dab:level=warp", "dab:scheduler=srr"};
    sum_tree((struct heddle_device_options){.check_memory = true});
    sum_tree((struct heddle_device_options){
        .check_memory = true, .check_init = true, .check_bounds = true, .check_race = true});
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (uint64_t seed = 1; seed <= 3; seed++)
            sum_tree((struct heddle_device_options){.order = orders[i], .seed = seed});
}

static const char steps[] = DECLARE START NOTE
    ENTRY("steps") " mov.u64 %d3, note; mad.lo.u32 %r5, %r3, 100, %r1; mad.lo.u32 %r5, %r2, 1000, %r5;\n" LAUNCH(
        "%d3", "1", "1", "0", "%d1", "%r5") WAIT
    " add.u32 %r5, %r5, 1;\n" APPEND("%r5") " add.u32 %r5, %r5, 1;\n" LAUNCH(
        "%d3", "1", "1", "0", "%d1",
        "%r5") " add.u32 %r5, %r5, 90;\n" LAUNCH("%d3", "1", "1", "3", "%d1",
                                                 "%r5") " sub.u32 %r5, %r5, 89;\n" LAUNCH("%d3",
                                                                                          "1", "1",
                                                                                          "0",
                                                                                          "%d1",
                                                                                          "%r5")
        WAIT " add.u32 %r5, %r5, 1;\n" APPEND(
            "%r5") " mov.u64 %d4, %d1; st.global.u32 [%d1+252], %r7;\n ret;\n}\n";

static void expect_list(const uint32_t *out, const uint32_t *want, uint32_t count)
{
    cr_expect_eq(out[0], count, "%u", out[0]);
    for (uint32_t i = 0; i < count; i++) cr_expect_eq(out[1 + i], want[i], "%u: %u", i, out[1 + i]);
}

/* A CTA waits for its own grids alone, in their order; tail launches (92, 192) come when the parent has ended. */
Test(emu_nested, only_what_the_cta_has_launched_is_done)
{
    uint32_t out[64];
    open_text(steps, (struct heddle_device_options){.threads = 4});
    const struct heddle_run r = run("steps", 2, 1, out, 64, 0);
    cr_assert(!r.fault, "%s", r.text);
    expect_list(out, (uint32_t[]){0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 92, 192}, 12);
    cr_expect_eq(out[63], 0); /* cudaSuccess */
    close_all();
}

/* Under random each CTA's own sequence holds: a value comes when those that its CTA has waited for are there. 0 before 1, 1
 * before 2 and 3, both before 4, and the tail behind. gpudet and dab have one list each for all seeds. */
Test(emu_nested, orders_keep_what_a_wait_promises)
{
    static const char *const orders[] = {"random", "gpudet", "dab"};
    uint32_t out[64], first[3][64] = {0};
    bool differs = false;
    for (uint64_t seed = 0; seed < 36; seed++) {
        const bool fixed = seed % 3;
        open_text(steps, (struct heddle_device_options){.order = orders[seed % 3], .seed = seed});
        const struct heddle_run r = run("steps", 2, 1, out, 64, 0);
        cr_assert(!r.fault, "%s", r.text);
        cr_assert_eq(out[0], 12);
        uint32_t at[200] = {0};
        for (uint32_t i = 1; i <= 12; i++) {
            cr_assert(out[i] < 200);
            at[out[i]] = i;
        }
        for (uint32_t c = 0; c < 200; c += 100)
            cr_expect(at[c] && at[c] < at[c + 1] && at[c + 1] < at[c + 2] &&
                          at[c + 1] < at[c + 3] && at[c + 2] < at[c + 4] && at[c + 3] < at[c + 4] &&
                          at[c + 4] < at[c + 92],
                      "seed %llu", (unsigned long long)seed);
        uint32_t *const of = first[seed % 3];
        if (seed < 3) memcpy(of, out, sizeof out);
        else if (fixed) cr_expect_arr_eq(out, of, sizeof out);
        else differs |= memcmp(out, of, sizeof out) != 0;
        close_all();
    }
    cr_expect(differs);
}

/* Under dab reductions wait in buffers. A child sees those of its CTA from before the launch, and its parent those of the
 * child: words 0 to 3 are sums of the CTAs, 8 to 11 what their children have seen of these, 16 to 19 what the children have
 * added, and 24 to 27 what the parents have seen of that. */
Test(emu_nested, reductions_in_buffers_are_seen)
{
    enum { CTAS = 4, THREADS = 96 };
    static const char text[] = DECLARE START ENTRY(
        "child") " ld.global.f32 %f1, [%d1]; st.global.f32 [%d1+32], %f1; mov.f32 %f1, 0f3fc00000;\n"
                 " red.global.add.f32 [%d1+64], %f1; ret;\n}\n" ENTRY(
                     "parent") " mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2; cvt.rn.f32.u32 %f1, %r2;\n"
                               " mul.f32 %f1, %f1, 0f3f000000; red.global.add.f32 [%d1], %f1; bar.sync 0;\n"
                               " setp.ne.u32 %p1, %r2, 0; @%p1 ret; mov.u64 %d3, child; mov.f32 %f1, 0f40000000; red.global.add.f32 [%d1], %f1;\n" LAUNCH(
                                   "%d3", "1", "70", "0", "%d1", "%r1") WAIT
        " ld.global.f32 %f1, [%d1+64]; st.global.f32 [%d1+96], %f1; ret;\n}\n";
    static const char *const orders[] = {"native", "dab", "dab:level=warp", "dab:scheduler=gtrr"};
    for (uint64_t seed = 0; seed < 12; seed++) {
        uint32_t out[32];
        open_text(text, (struct heddle_device_options){.order = orders[seed % 4], .seed = seed});
        const struct heddle_run r = run("parent", CTAS, THREADS, out, 32, 0);
        cr_assert(!r.fault, "%s: %s", orders[seed % 4], r.text);
        for (uint32_t c = 0; c < CTAS; c++)
            for (uint32_t i = 0; i < 4; i++) {
                float f;
                memcpy(&f, &out[c + 8 * i], sizeof f);
                const float want = i < 2 ? THREADS * (THREADS - 1) / 4.0F + 2 : 70 * 1.5F;
                cr_expect_eq(f, want, "%s, CTA %u, %u: %g, not %g", orders[seed % 4], c, i,
                             (double)f, (double)want);
            }
        close_all();
    }
}

/* Lanes of a warp launch and wait together: the first of them waits for the grids of all. */
Test(emu_nested, lanes_wait_for_the_grids_of_their_cta)
{
    uint32_t out[64];
    open_text(steps, (struct heddle_device_options){0});
    const struct heddle_run r = run("steps", 1, 2, out, 64, 0);
    cr_assert(!r.fault, "%s", r.text);
    expect_list(out, (uint32_t[]){0, 1000, 1, 1001, 2, 1002, 3, 1003, 4, 1004, 92, 1092}, 12);
    close_all();
}

/* Grids nest 24 deep. In the last one a launch fails with cudaErrorLaunchMaxDepthExceeded, 65. */
Test(emu_nested, recursion_has_a_limit)
{
    uint32_t out[8];
    open_text(
        DECLARE START ENTRY("deep") " mov.u64 %d3, deep; add.u32 %r5, %r1, 1;\n" LAUNCH(
            "%d3", "1", "1", "0", "%d1",
            "%r5") " setp.ne.u32 %p1, %e, 0; @%p1 bra last;\n" WAIT
                   " ld.global.u32 %r4, [%d1]; add.u32 %r4, %r4, 1; st.global.u32 [%d1], %r4; ret;\n"
                   "last: st.global.u32 [%d1+4], %e; st.global.u32 [%d1+8], %r1; ret;\n}\n",
        (struct heddle_device_options){0});
    const struct heddle_run r = run("deep", 1, 1, out, 8, 0);
    cr_assert(!r.fault, "%s", r.text);
    cr_expect(out[0] == 24 && out[1] == 1065 && out[2] == 24, "%u, %u, %u", out[0], out[1], out[2]);
    close_all();
}

/* More launches than may be pending at once: those that the kernel has waited for are not. */
Test(emu_nested, what_is_done_is_not_pending)
{
    enum { LAUNCHES = 2200 };
    static uint32_t out[LAUNCHES + 8];
    open_text(
        DECLARE START NOTE ENTRY("many") " mov.u64 %d3, note; mov.u32 %r5, 0;\nagain:\n" LAUNCH(
            "%d3", "1", "1", "0", "%d1",
            "%r5") " add.u32 %r5, %r5, 1; add.u32 %r6, %r6, %e; and.b32 %r4, %r5, 255;\n"
                   " setp.ne.u32 %p1, %r4, 0; @%p1 bra on;\n" WAIT
                   "on: setp.ne.u32 %p1, %r5, %r1; @%p1 bra again;\n ret;\n}\n",
        (struct heddle_device_options){0});
    const struct heddle_run r = run("many", 1, 1, out, LAUNCHES + 8, LAUNCHES);
    cr_assert(!r.fault, "%s", r.text);
    cr_expect_eq(out[0], LAUNCHES, "%u", out[0]);
    for (uint32_t i = 0; i < LAUNCHES; i++) cr_assert_eq(out[1 + i], i, "%u: %u", i, out[1 + i]);
    close_all();
}

#define WRONG                                                                                                                                 \
    DECLARE START NOTE ENTRY("faults") " mov.u64 %d3, note;\n" LAUNCH("%d3", "1", "1", "0", "64",                                             \
                                                                      "1") WAIT                                                               \
        " st.global.u32 [%d1], %r7; ret;\n}\n" ENTRY("freer") " { .param .b64 p; st.param.b64 [p], %d1; call free, (p); }\n ret;\n}\n" ENTRY( \
            "frees") " { .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n);"                                          \
                     " ld.param.b64 %d4, [r]; }\n mov.u64 %d3, freer; mov.u32 %r5, 0;\n"                                                      \
                     "again: st.global.u32 [%d4], %r5;\n" LAUNCH("%d3", "1", "1", "0", "%d4", "1")                                            \
                         WAIT " add.u32 %r5, %r5, 1; bra again;\n}\n"

Test(emu_nested, faults_of_children_end_the_launch)
{
    uint32_t out[8];
    open_text(WRONG, (struct heddle_device_options){0});
    struct heddle_run r = run("faults", 1, 1, out, 8, 0);
    cr_expect(r.fault && strcmp(r.kind, "out of bounds") == 0, "%s %s", r.kind, r.text);
    cr_expect(strstr(r.text, "a grid that the kernel has launched and waits for failed") &&
                  strstr(r.text, "launched by thread (0,0,0) of CTA (0,0,0) of kernel 'faults'"),
              "%s", r.text);
    /* The parent's store is wrong as soon as the child has released the memory, though the same store was right before. */
    r = run("frees", 1, 1, out, 8, 0);
    cr_expect(r.fault && strcmp(r.kind, "use after free") == 0, "%s %s", r.kind, r.text);
    close_all();
}

/* Threads race in a grid that is waited for, and in the one that waits, before the wait or across it: two findings, about the line of
 * each kernel. What is initialised is known in both. */
Test(emu_nested, checks_follow_both)
{
    uint32_t out[64];
    open_text(
        DECLARE START
            ENTRY("racer") " st.global.u32 [%d1+4], %r2; ret;\n}\n" ENTRY("parent") " st.global.u32 [%d1+8], %r2; setp.ne.u32 %p1, %r2, 0; @%p1 bra join; mov.u64 %d3, racer;\n" LAUNCH(
                "%d3", "1", "2", "0", "%d1", "0") WAIT LAUNCH("%d3", "1", "2", "0", "%d1", "0") WAIT
        "join: st.global.u32 [%d1+8], %r2; ret;\n}\n",
        (struct heddle_device_options){
            .check_race = true, .check_init = true, .check_bounds = true});
    struct heddle_run r = run("parent", 1, 2, out, 64, 0);
    cr_assert(!r.fault, "%s", r.text);
    size_t parents = 0, racers = 0;
    for (size_t i = 0; i < heddle_device_finding_count(device); i++) {
        const struct heddle_finding f = heddle_device_finding(device, i);
        cr_expect_eq(f.kind, HEDDLE_RACE);
        parents += strstr(f.text, "'parent'") != NULL;
        racers += strstr(f.text, "'racer'") != NULL;
    }
    cr_expect(parents && racers == 1, "%zu, %zu", parents, racers);
    close_all();
}

/* Atomics and plain accesses of one word, mixed within the child, within the parent across its wait, and only between the two:
 * a finding for each of the first two. */
Test(emu_nested, mixed_accesses_are_found_in_each_grid)
{
    uint32_t out[64];
    open_text(
        DECLARE START ENTRY("child") " red.global.add.u32 [%d1], 1; ld.global.u32 %r4, [%d1]; st.global.u32 [%d1+8], %r4; ret;\n}\n" ENTRY(
            "parent") " red.global.add.u32 [%d1+4], 1; red.global.add.u32 [%d1+8], 1; mov.u64 %d3, child;\n" LAUNCH("%d3",
                                                                                                                    "1",
                                                                                                                    "1",
                                                                                                                    "0",
                                                                                                                    "%d1",
                                                                                                                    "0")
            WAIT " ld.global.u32 %r4, [%d1+4]; st.global.u32 [%d1+12], %r4; ret;\n}\n",
        (struct heddle_device_options){.check_atomicity = true});
    struct heddle_run r = run("parent", 1, 1, out, 64, 0);
    cr_assert(!r.fault, "%s", r.text);
    cr_assert_eq(heddle_device_finding_count(device), 2);
    for (size_t i = 0; i < 2; i++) {
        const struct heddle_finding f = heddle_device_finding(device, i);
        cr_expect(strstr(f.text, i ? "'parent'" : "'child'"), "%s", f.text);
    }
    close_all();
}

/* A grid that waits has its parameters behind the wait, though the grids that it has waited for had others. */
Test(emu_nested, a_grid_keeps_its_parameters)
{
    uint32_t out[64];
    open_text(
        DECLARE START NOTE ENTRY("parent") " mov.u64 %d3, note;\n" LAUNCH("%d3", "1", "1", "0",
                                                                          "%d1", "77") WAIT
        " ld.param.u64 %d4, [out]; ld.param.u32 %r5, [v]; st.global.u32 [%d4+8], %r5; ret;\n}\n",
        (struct heddle_device_options){0});
    const struct heddle_run r = run("parent", 1, 1, out, 64, 55);
    cr_assert(!r.fault, "%s", r.text);
    cr_expect(out[0] == 1 && out[1] == 77 && out[2] == 55, "%u %u %u", out[0], out[1], out[2]);
    close_all();
}

/* Counts are the host's grid first, then those that it launched, in the order of execution. */
Test(emu_nested, counts_are_in_the_order_of_the_tree)
{
    uint32_t out[64];
    uint64_t ctas = 0;
    open_text(steps, (struct heddle_device_options){.count = true, .caches = true});
    const struct heddle_run r = run("steps", 1, 1, out, 64, 0);
    cr_assert(!r.fault, "%s", r.text);
    char *text = heddle_device_counts(device);
    cr_assert(text && heddle_device_count(device, "ctas", &ctas));
    cr_expect_eq(ctas, 5, "%llu", (unsigned long long)ctas); /* steps, and note four times */
    const char *parent = strstr(text, "\"steps\""), *child = strstr(text, "\"note\"");
    cr_expect(parent && child && parent < child, "%s", text);
    free(text);
    close_all();
}
