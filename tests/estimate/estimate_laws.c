/* What estimates obey whatever the numbers of a GPU are: on workloads of the suites, and on kernels made for it. */
#include "cuda/device.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/gpu.h"
#include "emu/trace.h"
#include "model/estimate_cache.h"
#include "model/machine.h"
#include "suites/suite.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"
#include "tests/support/timed_kernel.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const workloads[] = {"saxpy",        "transpose_naive", "spmv_vector",
                                        "sgemm_32",     "reduce_atomic",   "histogram_shared",
                                        "hash_chain",   "nbody",           "stencil_3d",
                                        "scan_lookback"};
static const char *const gpus[] = {"titanv", "gtx480", "a100", "quadrofx5800"};
enum {
    WORKLOADS = sizeof workloads / sizeof *workloads,
    GPUS = sizeof gpus / sizeof *gpus,
    MOST_LAUNCHES = 64
};

/* Of GPUs that do not hash addresses, requests that come at other times crowd other channels. */
static double tolerance(const char *gpu)
{
    return emu_gpu_find(gpu)->capability < 30 ? 1.06 : 1.01;
}

/* ---- the same launches on another configuration --------------------------------------------------------------- */

/* Launches of a workload, each estimated on its GPU and on another one. */
struct compared_launches {
    const struct emu_gpu *other;
    double cycles[MOST_LAUNCHES], seconds[MOST_LAUNCHES], other_cycles[MOST_LAUNCHES],
        other_seconds[MOST_LAUNCHES];
    size_t count;
};

static void after(void *self, const char *kernel, const struct emu_launch *l,
                  const struct emu_report *report)
{
    struct compared_launches *launches = self;
    struct launch_estimate a, b;
    struct emu_counts c = *report->counts;
    (void)kernel, (void)l;
    if (launches->count == MOST_LAUNCHES || !launch_estimate_of(&c, &a)) return;
    c.gpu = launches->other ? launches->other : c.gpu;
    cr_assert(launch_estimate_of(&c, &b));
    launches->cycles[launches->count] = a.cycles, launches->seconds[launches->count] = a.seconds;
    launches->other_cycles[launches->count] = b.cycles,
    launches->other_seconds[launches->count] = b.seconds;
    launches->count++;
}

static struct compared_launches run(const char *workload, const struct emu_gpu *g,
                                    const struct emu_gpu *other)
{
    struct compared_launches launches = {.other = other};
    cuda_device_configure(&(struct emu_config){.threads = 1, .trace = true, .gpu = g});
    cuda_device_watch(&(struct cuda_watch){.self = &launches, .after = after, .quiet = true});
    const struct suite_result r = suite_run(suite_find(workload),
                                            &(struct suite_options){.seed = 1});
    cuda_device_watch(NULL);
    cuda_device_reset();
    cr_assert(r.passed, "%s: %s", workload, r.message);
    cr_assert(gt(sz, launches.count, 0), "%s", workload);
    return launches;
}

TestSuite(laws, .timeout = 900);

Test(laws, a_higher_clock_never_takes_more_time)
{
    for (size_t k = 0; k < GPUS; k++)
        for (size_t w = k % THINNED; w < WORKLOADS; w += THINNED) {
            struct emu_gpu fast = *emu_gpu_find(gpus[k]);
            fast.core_mhz *= 1.3, fast.boost_mhz *= 1.3;
            const struct compared_launches t = run(workloads[w], emu_gpu_find(gpus[k]), &fast);
            for (size_t i = 0; i < t.count; i++)
                cr_expect(t.other_seconds[i] <= t.seconds[i] * tolerance(gpus[k]),
                          "%s on %s, launch %zu: %g s and %g s", workloads[w], gpus[k], i,
                          t.seconds[i], t.other_seconds[i]);
        }
}

static void widen(size_t gpu, double times)
{
    for (size_t w = (gpu + 1) % THINNED; w < WORKLOADS; w += THINNED) {
        struct emu_gpu wide = *emu_gpu_find(gpus[gpu]);
        wide.dram_mhz *= times, wide.dram_bandwidth *= times, wide.dram_row_cycle *= times;
        const struct compared_launches t = run(workloads[w], emu_gpu_find(gpus[gpu]), &wide);
        for (size_t i = 0; i < t.count; i++) {
            cr_expect(t.other_cycles[i] <= t.cycles[i] * tolerance(gpus[gpu]),
                      "%s on %s, launch %zu: %g and %g cycles", workloads[w], gpus[gpu], i,
                      t.cycles[i], t.other_cycles[i]);
            cr_expect(t.other_cycles[i] >= t.cycles[i] * 0.98 / times, "%s on %s, launch %zu",
                      workloads[w], gpus[gpu], i);
        }
    }
}

Test(laws, twice_the_bandwidth_never_takes_more_cycles_and_all_less_than_half)
{
    for (size_t k = 0; k < GPUS; k++) widen(k, 2);
}

/* Faster channels let requests of more SMs meet in a bank: its rows must not be opened for each of them again. */
Test(laws, much_more_bandwidth_helps_where_addresses_are_not_hashed)
{
    for (size_t k = 0; k < GPUS; k++)
        if (emu_gpu_find(gpus[k])->capability < 30) widen(k, 4);
}

/* Much: CTAs meet in other caches and queues. Where addresses are not hashed it may: CTAs dealt to 16 SMs in place of 15 can meet in the same channels. */
Test(laws, one_more_sm_never_hurts)
{
    static const char *const names[] = {"titanv", "a100"};
    for (size_t k = 0; k < 2; k++)
        for (size_t w = (k + 3) % THINNED; w < WORKLOADS; w += THINNED) {
            struct emu_gpu more = *emu_gpu_find(names[k]);
            more.sms++;
            const struct compared_launches a = run(workloads[w], emu_gpu_find(names[k]), NULL),
                                           b = run(workloads[w], &more, NULL);
            cr_assert(eq(sz, a.count, b.count));
            double sum = 0, more_sum = 0;
            for (size_t i = 0; i < a.count; i++) sum += a.cycles[i], more_sum += b.cycles[i];
            cr_expect(more_sum <= sum * 1.06, "%s on %s: %g cycles, one more SM %g", workloads[w],
                      names[k], sum, more_sum);
        }
}

/* ---- kernels made for it ------------------------------------------------------------------------------------- */

/* With CTAs of 256 threads, that find in caches what they left there. */
static double warm_cycles(struct kernel *k, uint32_t grid, uint64_t iterations)
{
    (void)cycles(k, grid, 256, 0, iterations);
    return cycles(k, grid, 256, 0, iterations);
}

#define LOOP_END(text, end)                                                                        \
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %i, %m, %r<4>; .reg .f32 %f; .reg .pred %q;"          \
    "ld.param.u64 %a, [p]; ld.param.u32 %m, [q]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;"        \
    "mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %b, %t, 4; add.u64 %a, %a, %b;"  \
    "mov.u32 %i, 0; mov.f32 %f, 0f3F800000; L:" text                                               \
    "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %m; @%q bra L;" end " ret;"
#define LOOP(text) LOOP_END(text, "")
#define ARITHMETIC LOOP("fma.rn.f32 %f, %f, %f, %f; fma.rn.f32 %f, %f, %f, %f;")
#define STREAM LOOP("ld.global.u32 %r1, [%a]; st.global.u32 [%a+67108864], %r1;")
#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))
/* A chain of latencies, on which no unit is taken for long. */
#define CHASE                                                                                      \
    LOOP_END("ld.global.cg.u32 %r1, [%a]; cvt.u64.u32 %b, %r1; add.u64 %a, %a, %b;",               \
             "st.global.u32 [%a], %r1;")
#define ATOMICS LOOP("red.global.add.u32 [%a], 1;")

Test(laws, more_work_never_takes_less)
{
    static const char *const bodies[] = {ARITHMETIC, STREAM, ATOMICS};
    static const uint32_t grids[] = {1, 2, 13, 14, 15, 16, 79, 80, 81, 160, 161, 600, 1280, 2560};
    for (size_t g = 0; g < GPUS; g++)
        for (size_t b = 0; b < sizeof bodies / sizeof *bodies; b++) {
            if (SANITIZED && (g + b) % 3 != 0) continue; /* each GPU and each body still once */
            struct kernel k = kernel_new(bodies[b], emu_gpu_find(gpus[g]));
            double last = 0;
            for (uint64_t n = 1; n <= 64; n *= 2) {
                const double now = warm_cycles(&k, 40, n);
                cr_expect(now >= last * 0.99, "%s, %zu: %d iterations", gpus[g], b, (int)n);
                last = now;
            }
            last = 0;
            for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
                const double now = warm_cycles(&k, grids[i], 4);
                cr_expect(now >= last * 0.98, "%s, %zu: %u CTAs take %g, fewer %g", gpus[g], b,
                          grids[i], now, last);
                last = now;
            }
            kernel_free(&k);
        }
}

/* Where units are taken all the time, instructions on f16x2 take as much longer than those on f32 as they have fewer
 * lanes; where there are more of them, no more than an issue slot each. */
Test(laws, halves_go_at_their_own_rate)
{
    static const char *const names[] = {"gtx1080", "p100", "v100", "a100", "rtx3070"};
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(names[g]);
        const double most = 32.0 * gpu->schedulers, half = fmin(gpu->half_lanes, most),
                     fp32 = fmin(gpu->fp32_lanes, most);
        struct kernel two = kernel_new(
                          LOOP("{ .reg .b32 %h, %k; mov.b32 %h, %i; mov.b32 %k, %i;" SIXTEEN(
                              "fma.rn.f16x2 %h, %h, %h, %h; fma.rn.f16x2 %k, %k, %k, %k;") "}"),
                          gpu),
                      one = kernel_new(
                          LOOP("{ .reg .f32 %g; mov.f32 %g, %f;" SIXTEEN(
                              "fma.rn.f32 %f, %f, %f, %f; fma.rn.f32 %g, %g, %g, %g;") "}"),
                          gpu);
        const uint32_t grid = 8 * gpu->sms;
        const double ratio = cycles(&two, grid, 256, 0, 40) / cycles(&one, grid, 256, 0, 40);
        cr_expect(ratio > 0.75 * fp32 / half && ratio < 1.35 * fp32 / half,
                  "%s: %g times as long, %g and %g lanes", names[g], ratio, half, fp32);
        kernel_free(&two);
        kernel_free(&one);
    }
}

/* What is stored and does not fit into L2 goes to DRAM, nobody waits for it, and yet it takes its time. */
Test(laws, stores_are_not_faster_than_dram)
{
    static const char *const names[] = {"quadrofx5800", "gtx480", "k40", "p100", "v100", "titanv"};
    enum { CTAS = 8192, BYTES = CTAS * 256 * 16 };
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(names[g]);
        struct kernel k = kernel_new(".reg .u64 %a, %b; .reg .u32 %t, %c;"
                                     "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;"
                                     "mov.u32 %c, %ctaid.x; mad.lo.u32 %t, %c, 256, %t;"
                                     "mul.wide.u32 %b, %t, 16; add.u64 %a, %a, %b;"
                                     "st.global.v4.u32 [%a], {%t, %t, %c, %c}; ret;",
                                     gpu);
        const double took = cycles(&k, CTAS, 256, 0, 0) / gpu->core_mhz, /* us */
            least = (BYTES - (double)gpu->l2) / (gpu->dram_bandwidth * 1e3);
        cr_expect(took >= least * 0.999, "%s: %g us, DRAM alone takes %g", names[g], took, least);
        cr_expect(took < least * 4, "%s: %g us, DRAM alone takes %g", names[g], took, least);
        kernel_free(&k);
    }
}

/* What a launch costs is nobody's wait for a unit, and is not multiplied for what was not traced. */
Test(laws, a_launch_costs_what_it_costs)
{
    static const uint32_t grids[] = {108, 1024, 8192};
    const struct emu_gpu *gpu = emu_gpu_find("a100");
    struct kernel k = kernel_new(STREAM, gpu);
    struct timing_machine m;
    (void)machine_of(gpu, &m);
    cr_assert(m.start > 1000);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct launch_estimate t;
        k.params[1] = 1;
        const struct emu_launch l = {.grid = {grids[i], 1, 1},
                                     .block = {256, 1, 1},
                                     .params = k.params,
                                     .params_size = sizeof k.params};
        cr_assert(launch_estimate_of(emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts, &t));
        const double part = t.part[TIMING_START] / m.start;
        cr_expect(part > 0.9 && part < 3, "%u CTAs: %g of it", grids[i],
                  part); /* CTAs start, too */
    }
    kernel_free(&k);
}

/* What differs is where in memory they are, and by that which rows of DRAM are in each other's way: the first one's time
 * stands for all. One that does more has its own. */
Test(laws, launches_with_the_same_counts_take_the_same_time)
{
    struct kernel k = kernel_new(".reg .u64 %a, %b; .reg .u32 %t;"
                                 "ld.param.u64 %a, [p];"
                                 "mov.u32 %t, %tid.x; cvt.u64.u32 %b, %t; mul.lo.u64 %b, %b, 4224;"
                                 "add.u64 %a, %a, %b; ld.global.u32 %t, [%a];"
                                 "st.global.u32 [%a], %t; ret;",
                                 emu_gpu_find("gtx480"));
    struct estimate_cache *all = estimate_cache_new();
    const uint64_t base = k.params[0], places[] = {0, 8, 5, 17, 3, 29, 26, 11};
    double first = 0;
    bool differ = false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct launch_estimate t, own;
        k.params[0] = base + (places[i] << 20) + places[i] * 1280;
        const struct emu_launch l = {.grid = {i == 5 ? 3 : 2, 1, 1},
                                     .block = {256, 1, 1},
                                     .params = k.params,
                                     .params_size = sizeof k.params};
        const struct emu_counts *c = emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts;
        cr_assert(estimate_cache_get(all, c, &t) && launch_estimate_of(c, &own));
        if (i == 1) first = own.cycles; /* of the launch before, code was not in the caches */
        if (i > 1 && i != 5) differ |= own.cycles != first;
        cr_expect(t.cycles == (i > 1 && i != 5 ? first : own.cycles), "%zu: %g, not %g", i,
                  t.cycles, own.cycles);
        cr_expect(fabs(own.cycles / t.cycles - 1) < 0.1, "%zu: %g, alone %g", i, t.cycles,
                  own.cycles);
    }
    cr_expect(differ, "they were alike anyway");
    estimate_cache_free(all);
    kernel_free(&k);
}

enum { QUEUED_LAUNCHES = 24, MANY_LAUNCHES = 132 };
struct from_queue {
    struct launch_estimate time[MANY_LAUNCHES];
    bool ended[MANY_LAUNCHES];
    size_t count;
};
static void take_estimate(void *self, struct launch_estimate *t, bool ended)
{
    struct from_queue *all = self;
    all->time[all->count] = *t, all->ended[all->count++] = ended;
}

static bool is_same_estimate(const struct launch_estimate *a, const struct launch_estimate *b)
{
    return a->cycles == b->cycles && a->low == b->low && a->high == b->high &&
           a->warnings == b->warnings && strcmp(a->kernel, b->kernel) == 0 &&
           memcmp(a->part, b->part, sizeof a->part) == 0 &&
           memcmp(a->issue_share, b->issue_share, sizeof a->issue_share) == 0;
}

/* Launches whose warps have the more to do the more CTAs there are; estimates one after the other, or in a queue. */
static size_t estimate_many(struct estimate_cache *all, struct estimate_queue *q,
                            struct launch_estimate *out)
{
    struct kernel k = kernel_new(".reg .u32 %t, %n; .reg .pred %p; mov.u32 %n, %nctaid.x;"
                                 "again: mul.lo.u32 %t, %n, %n; sub.u32 %n, %n, 16;"
                                 "setp.gt.s32 %p, %n, 0; @%p bra again; ret;",
                                 emu_gpu_find("titanv"));
    size_t n = 0;
    for (uint32_t i = 0; i < 131; i++, n++) {
        const uint32_t grid = i < 128 ? i + 1 : i == 128 ? 3000 : i == 129 ? 2 : 200;
        const struct emu_launch l = {.grid = {grid, 1, 1},
                                     .block = {256, 1, 1},
                                     .params = k.params,
                                     .params_size = sizeof k.params};
        const struct emu_counts *c = emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts;
        cr_assert(q ? estimate_queue_add(q, c, true) : estimate_cache_get(all, c, &out[n]));
    }
    kernel_free(&k);
    return n;
}

/* The cache keeps 128 estimates. The second launch comes again behind one whose estimate takes long, and the next new one is
 * to replace what the cache has of it: not before it has left the queue. */
Test(laws, estimates_that_a_queue_waits_for_are_not_replaced)
{
    struct estimate_cache *caches[2] = {estimate_cache_new(), estimate_cache_new()};
    struct from_queue *got = calloc(1, sizeof *got);
    struct launch_estimate *want = calloc(MANY_LAUNCHES, sizeof *want);
    struct estimate_queue *q = estimate_queue_new(caches[1], take_estimate, got);
    const size_t n = estimate_many(caches[0], NULL, want);
    cr_assert_eq(estimate_many(caches[1], q, NULL), n);
    estimate_queue_free(q);
    cr_assert_eq(got->count, n);
    for (size_t i = 0; i < n; i++)
        cr_expect(is_same_estimate(&got->time[i], &want[i]), "%zu: %g, not %g", i,
                  got->time[i].cycles, want[i].cycles);
    estimate_cache_free(caches[0]);
    estimate_cache_free(caches[1]);
    free(got);
    free(want);
}

/* Two modules, of which the first is unloaded while launches are in the queue; launches with and without counts of an earlier
 * one; one without a trace is none for the queue, and comes behind those before it. What is computed when depends on the
 * host: the estimates and their order do not. */
Test(laws, launches_in_a_queue_have_the_estimates_of_one_after_the_other)
{
    struct estimate_cache *caches[2] = {estimate_cache_new(), estimate_cache_new()};
    struct from_queue got = {.count = 0};
    struct launch_estimate want[QUEUED_LAUNCHES];
    struct estimate_queue *q = estimate_queue_new(caches[1], take_estimate, &got);
    size_t n = 0;
    for (int module = 0; module < 2; module++) {
        struct kernel k = kernel_new(".reg .u64 %a, %b; .reg .u32 %t;"
                                     "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;"
                                     "cvt.u64.u32 %b, %t; mul.lo.u64 %b, %b, 4224;"
                                     "add.u64 %a, %a, %b; ld.global.u32 %t, [%a];"
                                     "atom.global.add.u32 %t, [%a], 1; ret;",
                                     emu_gpu_find(module ? "h200" : "titanv"));
        for (uint32_t i = 0; i < QUEUED_LAUNCHES / 2; i++, n++) {
            const struct emu_launch l = {.grid = {1 + i % 5 * 40, 1, 1},
                                         .block = {256, 1, 1},
                                         .params = k.params,
                                         .params_size = sizeof k.params};
            struct emu_counts c = *emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts;
            cr_assert(estimate_cache_get(caches[0], &c, &want[n]));
            cr_assert(estimate_queue_add(q, &c, i != 3));
            c.trace = NULL;
            if (i == 7) cr_assert_not(estimate_queue_add(q, &c, true));
            if (i == 7) cr_assert_eq(got.count, n + 1);
        }
        kernel_free(&k);
    }
    estimate_queue_free(q);
    cr_assert_eq(got.count, n);
    for (size_t i = 0; i < n; i++) {
        cr_expect(is_same_estimate(&got.time[i], &want[i]), "%zu: %g, not %g", i,
                  got.time[i].cycles, want[i].cycles);
        cr_expect_eq(got.ended[i], i % (QUEUED_LAUNCHES / 2) != 3);
    }
    estimate_cache_free(caches[0]);
    estimate_cache_free(caches[1]);
}

/* As many atomics on one word, and on a line for each CTA: of the first each waits for the others. (What a warp adds to one
 * word, machine code makes one atomic of.) On an H200 the same
 * kernels take 49 times as long (hot, word_1024_ctas and words_1024 of calibrate/data/h200-cycles.csv). */
Test(laws, atomics_elsewhere_have_their_own_time)
{
    struct kernel k = kernel_new(".reg .u64 %a, %b; .reg .u32 %c, %n, %i; .reg .pred %p;"
                                 "ld.param.u64 %a, [p]; ld.param.u32 %n, [q]; mov.u32 %i, 0;"
                                 "mov.u32 %c, %ctaid.x; mul.wide.u32 %b, %c, %n;"
                                 "add.u64 %a, %a, %b; L: red.global.inc.u32 [%a], 100;"
                                 "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 32; @%p bra L; ret;",
                                 emu_gpu_find("v100"));
    struct estimate_cache *all = estimate_cache_new();
    double cycles_of[3];
    for (uint32_t i = 0; i < 3; i++) { /* after the first, code is in the caches */
        k.params[1] = i < 2 ? 256 : 0; /* bytes from CTA to CTA */
        const struct emu_launch l = {.grid = {64, 1, 1},
                                     .block = {32, 1, 1},
                                     .params = k.params,
                                     .params_size = sizeof k.params};
        struct launch_estimate t;
        cr_assert(
            estimate_cache_get(all, emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts, &t));
        cycles_of[i] = t.cycles;
    }
    cr_expect(cycles_of[2] > 4 * cycles_of[1], "%g on one word, %g on 64 lines", cycles_of[2],
              cycles_of[1]);
    estimate_cache_free(all);
    kernel_free(&k);
}

/* Waits are no count, but widen the interval. */
Test(laws, a_launch_that_waits_has_its_own_interval)
{
    struct kernel k = kernel_new(".reg .u32 %t; mov.u32 %t, %tid.x; ret;", emu_gpu_find("v100"));
    struct estimate_cache *all = estimate_cache_new();
    const struct emu_launch l = {
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .params = k.params, .params_size = sizeof k.params};
    struct emu_counts c = *emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts;
    for (c.busy_waits = 0; c.busy_waits < 2; c.busy_waits++) {
        struct launch_estimate t, own;
        cr_assert(estimate_cache_get(all, &c, &t) && launch_estimate_of(&c, &own));
        cr_expect_eq(t.warnings, own.warnings);
        cr_expect_eq(t.high, own.high);
    }
    estimate_cache_free(all);
    kernel_free(&k);
}

/* 64 CTAs of a warp each store 64 times, to sectors of their own or all to the same four. A GPU that takes a cycle for each of
 * these takes 64 x 64 x 4 = 16,384 cycles; an H200 takes 4 where loads come between (`racey_global`, h200.csv). A note
 * and an interval that has those, where sectors are shared and CTAs are on several SMs. */
Test(laws, stores_of_many_sms_to_the_same_sectors_have_a_note)
{
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b, %q; .reg .u32 %t, %c, %i; .reg .pred %p; ld.param.u64 %a, [p];"
        "ld.param.u64 %q, [q]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mul.wide.u32 %b, %t, 4;"
        "add.u64 %a, %a, %b; cvt.u64.u32 %b, %c; mul.lo.u64 %b, %b, %q; add.u64 %a, %a, %b;"
        "mov.u32 %i, 0; L: st.global.u32 [%a], %i; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 64;"
        "@%p bra L; ret;",
        emu_gpu_find("h200"));
    for (int shared = 0; shared < 2; shared++)
        for (uint32_t ctas = 1; ctas <= 64; ctas *= 64) {
            struct launch_estimate t;
            k.params[1] = shared ? 0 : 128;
            const struct emu_launch l = {.grid = {ctas, 1, 1},
                                         .block = {32, 1, 1},
                                         .params = k.params,
                                         .params_size = sizeof k.params};
            cr_assert(
                launch_estimate_of(emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts, &t));
            const bool noted = t.warnings & LAUNCH_SHARED_STORES;
            cr_expect(noted == (shared && ctas > 1), "%u CTAs: %u", ctas, t.warnings);
            if (noted) cr_expect(t.high >= 4 * 16384, "%g", t.high);
        }
    kernel_free(&k);
}

#define ADD(to, from) "add.u32 %r" to ", %r" from ", %r9;"
/* Two modules have a kernel of one name, with as many additions: only in one of them each waits for the one before. */
Test(laws, kernels_of_one_name_have_their_own_times)
{
    static const char *const bodies[] = {
        ".reg .u32 %r<10>; mov.u32 %r0, 1; mov.u32 %r9, 1;" SIXTEEN(
            ADD("0", "0") ADD("0", "0") ADD("0", "0") ADD("0", "0")) "ret;",
        ".reg .u32 %r<10>; mov.u32 %r0, 1; mov.u32 %r9, 1;" SIXTEEN(
            ADD("1", "0") ADD("2", "0") ADD("3", "0") ADD("4", "0")) "ret;"};
    struct estimate_cache *all = estimate_cache_new();
    double cycles_of[2];
    for (size_t i = 0; i < 2; i++) {
        struct kernel k = kernel_new(bodies[i], emu_gpu_find("v100"));
        const struct emu_launch l = {.grid = {1, 1, 1},
                                     .block = {32, 1, 1},
                                     .params = k.params,
                                     .params_size = sizeof k.params};
        const struct emu_counts *c = emu_launch(k.emu, emu_kernel_at(k.image, 0), &l)->counts;
        struct launch_estimate t, own;
        cr_assert(estimate_cache_get(all, c, &t) && launch_estimate_of(c, &own));
        cr_expect(t.cycles == own.cycles, "%zu: %g, not %g", i, t.cycles, own.cycles);
        cycles_of[i] = own.cycles;
        kernel_free(&k);
    }
    cr_expect(cycles_of[0] > cycles_of[1], "%g, %g", cycles_of[0], cycles_of[1]);
    estimate_cache_free(all);
}

/* Of a large grid a part is traced, of a small one all. CTAs beside each other have tiles of a matrix in the same rows
 * of DRAM: these rows are not opened for each SM again. */
Test(laws, a_part_of_a_grid_stands_for_all)
{
    static const char *const names[] = {"k40", "v100", "a100", "titanv"};
    enum { FEW = 512, MANY = 16384 };
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        struct kernel k = kernel_new(
            ".reg .u64 %a, %b; .reg .u32 %t, %c, %x, %y, %u, %v;"
            "ld.param.u64 %a, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;"
            "and.b32 %x, %c, 127; shr.u32 %y, %c, 7;" /* the tile, of 128 */
            "and.b32 %u, %t, 15; shr.u32 %v, %t, 4;"  /* in it, of 16 x 16 */
            "mad.lo.u32 %x, %x, 16, %u; mad.lo.u32 %y, %y, 16, %v;"
            "mad.lo.u32 %x, %y, 2048, %x; mul.wide.u32 %b, %x, 4; add.u64 %a, %a, %b;"
            "ld.global.u32 %t, [%a]; add.u32 %t, %t, 1; st.global.u32 [%a], %t; ret;",
            emu_gpu_find(names[g]));
        const double one = cycles(&k, 1, 256, 0, 0), all = cycles(&k, FEW, 256, 0, 0),
                     few = all / FEW, many = cycles(&k, MANY, 256, 0, 0) / MANY;
        cr_expect(many < 1.3 * few, "%s: %g and %g cycles a CTA", names[g], few, many);
        /* Of few, the launch and one CTA's way to DRAM are much, which those of many hide. */
        cr_expect(many > 0.6 * (all - one) / FEW, "%s: %g and %g cycles a CTA", names[g],
                  (all - one) / FEW, many);
        kernel_free(&k);
    }
}

/* Of a chain of latencies, as many CTAs as an SM can hold run beside each other: one more takes a wave more. */
Test(laws, occupancy_steps_at_its_limits)
{
    for (size_t g = 0; g < GPUS; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(gpus[g]);
        struct kernel k = kernel_new(CHASE, gpu);
        /* shared memory: two CTAs fit an SM, then one */
        const uint32_t half = gpu->shared / 2 / gpu->shared_unit * gpu->shared_unit -
                              gpu->shared_system - (gpu->shared_system ? gpu->shared_unit : 0);
        const uint32_t fit = half > gpu->shared_cta ? gpu->shared_cta : half;
        const double two = cycles(&k, 2 * gpu->sms, 32, fit, 100),
                     one = cycles(&k, 2 * gpu->sms, 32, fit + gpu->shared_unit + 1, 100);
        if (fit + gpu->shared_unit + 1 <= gpu->shared_cta)
            cr_expect(one > 1.8 * two, "%s: shared memory, %g and %g", gpus[g], two, one);
        /* CTAs, and the warps of an SM */
        const uint32_t slots = gpu->ctas < gpu->warps ? gpu->ctas : gpu->warps;
        const double all = cycles(&k, slots * gpu->sms, 32, 0, 100),
                     wave = cycles(&k, (slots + 1) * gpu->sms, 32, 0, 100);
        cr_expect(wave > all * 1.05, "%s: CTAs, %g and %g", gpus[g], all, wave);
        kernel_free(&k);
    }
}

/* A kernel that keeps `live` numbers at once while it goes through a chain of latencies. */
static const char *many_registers(int live)
{
    static char text[1 << 15];
    char *to = text;
    to += sprintf(
        to,
        ".reg .u64 %%a; .reg .u32 %%m, %%i, %%t; .reg .f32 %%f, %%v<%d>; .reg .pred %%q;"
        "ld.param.u64 %%a, [p]; ld.param.u32 %%m, [q]; mov.u32 %%i, 0; mov.u32 %%t, %%tid.x;"
        "cvt.rn.f32.u32 %%f, %%t; add.f32 %%v0, %%f, %%f;",
        live);
    for (int i = 1; i < live; i++) to += sprintf(to, "add.f32 %%v%d, %%v%d, %%f;", i, i - 1);
    to += sprintf(
        to, "L: fma.rn.f32 %%f, %%f, %%f, %%f; add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %%m;"
            "@%%q bra L;");
    for (int i = 0; i < live; i++) to += sprintf(to, "fma.rn.f32 %%f, %%f, %%v%d, %%f;", i);
    sprintf(to, "st.global.f32 [%%a], %%f; ret;");
    return text;
}

/* So many CTAs fit an SM as its registers are enough for, given out by warp in multiples; one more takes a wave more. */
Test(laws, occupancy_steps_with_registers)
{
    enum { BLOCK = 128, TURNS = 400 };
    for (size_t g = 0; g < GPUS; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(gpus[g]);
        uint32_t last = UINT32_MAX;
        if (gpu->registers < 32768)
            continue; /* of fewer, warps are the limit for what a thread may have */
        for (int live = 40; live <= 56; live += 16) {
            struct emu_kernel_info info;
            struct kernel k = kernel_new(many_registers(live), gpu);
            cr_assert(emu_kernel_info(emu_kernel_at(k.image, 0), &info));
            cr_assert(info.registers >= (uint32_t)live && info.registers < (uint32_t)live + 16);
            const uint32_t unit = gpu->register_unit, all = gpu->registers,
                           warp = (info.registers * 32 + unit - 1) / unit * unit,
                           slots = all / (warp * BLOCK / 32);
            cr_assert(slots < gpu->ctas && slots * BLOCK / 32 < gpu->warps);
            const double fit = cycles(&k, slots * gpu->sms, BLOCK, 0, TURNS),
                         wave = cycles(&k, (slots + 1) * gpu->sms, BLOCK, 0, TURNS);
            cr_expect(slots < last, "%s: %d live, %u CTAs", gpus[g], live, slots);
            cr_expect(wave > fit * 1.05, "%s: %d live, %u CTAs: %g and %g", gpus[g], live, slots,
                      fit, wave);
            last = slots;
            kernel_free(&k);
        }
    }
}

/* One warp loads eight lines in turn, each 4 KB behind the one before, 100 times. L1 of a GTX 480 has 32 sets of four lines.
 * Fermi's hash puts these lines into four sets (bits 13 and 14 of the address), where they stay: but for the first round
 * each load takes the latency of L1. Lines at multiples of 1 MB are all in one set, each displaces another, and each load takes
 * at least the latency of L2. */
Test(laws, l1_of_fermi_has_hashed_sets)
{
    enum { LINES = 8, ROUNDS = 100 };
    static const char body[] =
        ".reg .u64 %%a, %%b; .reg .u32 %%m, %%i, %%j, %%v; .reg .pred %%q;"
        "ld.param.u64 %%a, [p]; ld.param.u32 %%m, [q]; mov.u32 %%i, 0; mov.u32 %%v, 0;"
        "L: mov.u64 %%b, %%a; mov.u32 %%j, 0;"
        "K: ld.global.u32 %%v, [%%b]; cvt.u64.u32 %%b, %%v; add.u32 %%j, %%j, 1;"
        "mul.wide.u32 %%b, %%j, %d; add.u64 %%b, %%b, %%a; setp.lt.u32 %%q, %%j, 8; @%%q bra K;"
        "add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %%m; @%%q bra L;"
        "st.global.u32 [%%a], %%v; ret;";
    const struct emu_gpu *g = emu_gpu_find("gtx480");
    struct timing_machine m;
    double time[2];
    (void)machine_of(g, &m);
    for (int k = 0; k < 2; k++) {
        char text[sizeof body + 16];
        snprintf(text, sizeof text, body, k ? 1 << 20 : 4 << 10);
        struct kernel kernel = kernel_new(text, g);
        time[k] = cycles(&kernel, 1, 32, 0, ROUNDS);
        kernel_free(&kernel);
    }
    cr_expect(time[1] >= LINES * (ROUNDS - 1) * (m.l1.latency + m.l2_latency), "%g", time[1]);
    cr_expect(time[1] - time[0] >= LINES * (ROUNDS - 1) * m.l2_latency * 0.95, "%g and %g", time[0],
              time[1]);
}

/* One thread goes through lines side by side, each address with what the load before gave (0). L1 of Volta and later has 4 sets
 * (GPGPU-Sim's of a TITAN V: one): lines that fill half of it are in no other's way, so that the second half of the loads
 * take as long as if they went through 8 lines. */
Test(laws, lines_that_fit_into_l1_stay_there)
{
    static const char *const with_few_sets[] = {"titanv", "gv100", "a100", "h200"};
    enum { LOADS = 2048 };
    for (size_t g = 0; g < sizeof with_few_sets / sizeof *with_few_sets; g++) {
        struct kernel k = kernel_new(
            ".reg .u64 %a, %b, %q; .reg .u32 %n, %m, %i, %x, %v; .reg .pred %p; ld.param.u64 %a, [p];"
            "ld.param.u64 %q, [q]; cvt.u32.u64 %n, %q; shr.u64 %q, %q, 32; cvt.u32.u64 %m, %q;"
            "mov.u32 %i, 0; mov.u32 %v, 0; L: and.b32 %x, %i, %m; add.u32 %x, %x, %v;"
            "mul.wide.u32 %b, %x, 128; add.u64 %b, %b, %a; ld.global.u32 %v, [%b];"
            "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L; st.global.u32 [%a], %v; ret;",
            emu_gpu_find(with_few_sets[g]));
        const uint64_t many = UINT64_C(511) << 32, few = UINT64_C(7) << 32;
        (void)cycles(&k, 1, 1, 0, many | LOADS); /* L2 has them */
        const double all = cycles(&k, 1, 1, 0, many | (2 * LOADS)) -
                           cycles(&k, 1, 1, 0, many | LOADS),
                     alone = cycles(&k, 1, 1, 0, few | (2 * LOADS)) -
                             cycles(&k, 1, 1, 0, few | LOADS);
        cr_expect(all <= 1.01 * alone, "%s: %g cycles, through 8 lines %g", with_few_sets[g], all,
                  alone);
        kernel_free(&k);
    }
}

/* A loop of 20 lines of instructions, in an instruction cache of 16 that replaces the least recently used: each line is
 * missing in each of 50 rounds. When the kernel is launched again, its code is in L2. */
Test(laws, code_that_does_not_fit_is_fetched_in_each_launch)
{
    enum { LINES = 20, INSTRUCTIONS = 16 * LINES, ROUNDS = 50 };
    char text[INSTRUCTIONS * 24 + 400], *to = text;
    const struct emu_gpu *g = emu_gpu_find("gtx480");
    struct timing_machine m;
    (void)machine_of(g, &m);
    cr_assert(m.fetch_lines > 0 && m.fetch_lines < LINES);
    to += sprintf(
        to, ".reg .u64 %%a; .reg .u32 %%m, %%i, %%v; .reg .pred %%q;"
            "ld.param.u64 %%a, [p]; ld.param.u32 %%m, [q]; mov.u32 %%i, 0; mov.u32 %%v, 1; L:");
    for (int i = 0; i < INSTRUCTIONS; i++) to += sprintf(to, "xor.b32 %%v, %%v, %%i;");
    sprintf(to, "add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %%m; @%%q bra L;"
                "st.global.u32 [%%a], %%v; ret;");
    struct kernel k = kernel_new(text, g);
    const double first = cycles(&k, 1, 32, 0, ROUNDS), again = cycles(&k, 1, 32, 0, ROUNDS),
                 least = LINES * (double)(ROUNDS - 1) * fmin(m.fetch_latency, m.l2_latency);
    cr_expect(again >= least, "%g, not %g at least", again, least);
    cr_expect(again <= first, "%g, the first time %g", again, first);
    kernel_free(&k);
}
