/* What-ifs: a part of the machine that is half as fast makes a kernel that it bounds at least 1.5 times as long, and a
 * kernel that another part bounds at most 5 % longer. */
#include "tests/support/timed_kernel.h"

#include <criterion/criterion.h>

#define HEAD                                                                                             \
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %i, %m, %v, %s; .reg .f32 %f; .reg .f64 %d; .reg .pred %q;" \
    ".shared .u32 mem[1024];"                                                                            \
    "ld.param.u64 %a, [p]; ld.param.u32 %m, [q]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;"              \
    "mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t; mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b;"        \
    "mov.u32 %i, 0; mov.u32 %v, 0; mov.u32 %s, mem; mov.f32 %f, 0f3F800000; mov.f64 %d, 0d3FF0000000000000;"
#define END                                                                                        \
    "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %m; @%q bra L; cvt.rn.f32.f64 %f, %d;"                 \
    "st.global.f32 [%a], %f; st.global.u32 [%a+4], %v; ret;"
#define LOOP(text) HEAD "L:" text END
/* Each thread has 16 bytes of its own, and two loads of them in flight. */
#define WIDE(text) HEAD ".reg .u32 %x<8>; mul.wide.u32 %b, %t, 16; add.u64 %b, %a, %b; L:" text END
#define VECTORS(load) load " {%x0, %x1, %x2, %x3}, [%b];" load " {%x4, %x5, %x6, %x7}, [%b];"
#define FOUR(text) text text text text
#define SIXTEEN(text) FOUR(FOUR(text))

enum {
    FMAS,
    INTEGERS,
    DOUBLES,
    SPECIAL,
    CHASE_L1,
    CHASE_L2,
    CHASE_SHARED,
    STREAM,
    HOT_WORD,
    HITS_L1,
    ONE_LINE,
    ONE_PORT,
    ALL_PORTS,
    BODIES
};
static const struct {
    const char *name, *text;
    uint32_t grid, block, iterations;
} bodies[BODIES] = {
    [FMAS] = {"f32", LOOP(FOUR(SIXTEEN("fma.rn.f32 %f, %f, %f, %f;"))), 320, 512, 8},
    [INTEGERS] = {"integers", LOOP(SIXTEEN("add.u32 %v, %v, %i;")), 320, 512, 8},
    [DOUBLES] = {"f64", LOOP(SIXTEEN("fma.rn.f64 %d, %d, %d, %d;")), 320, 512, 8},
    [SPECIAL] = {"special functions", LOOP(SIXTEEN("ex2.approx.ftz.f32 %f, %f;")), 320, 512, 8},
    [CHASE_L1] = {"a chain in L1", /* a word that points to itself */
                  HEAD "st.global.u64 [%a], %a; L:" FOUR("ld.global.u64 %a, [%a];") END, 1, 32,
                  1000},
    [CHASE_L2] = {"a chain in L2",
                  LOOP("ld.global.cg.u32 %v, [%a]; cvt.u64.u32 %b, %v; add.u64 %a, %a, %b;"), 1, 32,
                  200},
    [CHASE_SHARED] = {"a chain in shared memory",
                      LOOP("ld.shared.u32 %v, [%s]; add.u32 %s, %s, %v;"), 1, 32, 1000},
    [STREAM] = {"a stream", LOOP("ld.global.u32 %v, [%b]; add.u64 %b, %b, 1310720;"), 1280, 256,
                16},
    /* Each warp loads its own line again and again: as many sectors as L1 answers. */
    [HITS_L1] = {"hits in L1", WIDE(FOUR(VECTORS("ld.global.v4.u32"))), 80, 1024, 64},
    /* All warps of the GPU load one line from L2: one slice answers them all. */
    [ONE_LINE] = {"one line of L2",
                  LOOP("and.b32 %c, %t, 31; mul.wide.u32 %b, %c, 4; add.u64 %b, %a, %b;" FOUR(
                      "ld.global.cg.u32 %n, [%b];")),
                  80, 256, 8},
    /* One SM loads 16 KB again and again, past L1: all slices answer through one port. */
    [ONE_PORT] = {"one SM's loads from L2", WIDE(VECTORS("ld.global.cg.v4.u32")), 1, 1024, 64},
    [ALL_PORTS] = {"all SMs' loads from L2", WIDE(VECTORS("ld.global.cg.v4.u32")), 80, 1024, 16},
    [HOT_WORD] = {"a hot word", LOOP("red.global.add.u32 [%a], 1;"), 160, 256, 8},
};

#define HALF(field)                                                                                \
    static void slow_##field(struct emu_gpu *g)                                                    \
    {                                                                                              \
        g->field /= 2;                                                                             \
    }
#define TWICE(field)                                                                               \
    static void slow_##field(struct emu_gpu *g)                                                    \
    {                                                                                              \
        g->field *= 2;                                                                             \
    }
HALF(fp32_lanes)
HALF(int_lanes)
HALF(fp64_lanes)
HALF(sfu_lanes)
TWICE(shared_latency)
TWICE(l2_atomic_conflict)
HALF(l2_bandwidth)
HALF(l1_bandwidth)
HALF(sm_bandwidth)
static void slow_l1(struct emu_gpu *g)
{
    g->l1_latency *= 2, g->l2_latency += g->l1_latency / 2, g->dram_latency += g->l1_latency / 2;
}
static void slow_l2(struct emu_gpu *g)
{
    g->dram_latency += g->l2_latency, g->l2_latency *= 2;
}
static void slow_dram(struct emu_gpu *g)
{
    g->dram_mhz /= 2, g->dram_bandwidth /= 2, g->dram_row_cycle /= 2;
}

static const struct {
    const char *name;
    void (*slow)(struct emu_gpu *g);
    int bound, free; /* bodies */
} parts[] = {
    {"f32 lanes", slow_fp32_lanes, FMAS, STREAM},
    {"integer lanes", slow_int_lanes, INTEGERS, STREAM},
    {"f64 lanes", slow_fp64_lanes, DOUBLES, FMAS},
    {"special function lanes", slow_sfu_lanes, SPECIAL, FMAS},
    {"latency of L1", slow_l1, CHASE_L1, FMAS},
    {"latency of L2", slow_l2, CHASE_L2, CHASE_L1},
    {"latency of shared memory", slow_shared_latency, CHASE_SHARED, CHASE_L1},
    {"bandwidth of DRAM", slow_dram, STREAM, FMAS},
    {"bandwidth of L1", slow_l1_bandwidth, HITS_L1, FMAS},
    {"bandwidth of L2", slow_l2_bandwidth, ONE_LINE, HITS_L1},
    {"bandwidth of the network", slow_sm_bandwidth, ONE_PORT, HITS_L1},
    {"atomics on one word", slow_l2_atomic_conflict, HOT_WORD, STREAM},
};

static double ratio(int body, const char *gpu, void (*slow)(struct emu_gpu *g))
{
    const struct emu_gpu *g = emu_gpu_find(gpu);
    struct emu_gpu other = *g;
    struct launch_estimate a, b;
    struct kernel k = kernel_new(bodies[body].text, g);
    k.params[1] = bodies[body].iterations;
    const struct emu_launch l = {.grid = {bodies[body].grid, 1, 1},
                                 .block = {bodies[body].block, 1, 1},
                                 .params = k.params,
                                 .params_size = sizeof k.params};
    const struct emu_report *r = emu_launch(k.emu, emu_kernel_at(k.image, 0), &l);
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    struct emu_counts c = *r->counts;
    slow(&other);
    cr_assert(launch_estimate_of(&c, &a));
    c.gpu = &other;
    cr_assert(launch_estimate_of(&c, &b));
    kernel_free(&k);
    return b.cycles / a.cycles;
}

Test(sensitivity, a_part_at_half_speed_slows_what_it_bounds_and_nothing_else, .timeout = 300)
{
    static const char *const gpus[] = {"titanv", "a100", "gv100"};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            if (SANITIZED && i % 3 != g) continue;
            const double bound = ratio(parts[i].bound, gpus[g], parts[i].slow),
                         unbound = ratio(parts[i].free, gpus[g], parts[i].slow);
            cr_expect(bound >= 1.5, "%s, %s: %s takes %.2f times as long", gpus[g], parts[i].name,
                      bodies[parts[i].bound].name, bound);
            cr_expect(unbound <= 1.05, "%s, %s: %s takes %.2f times as long", gpus[g],
                      parts[i].name, bodies[parts[i].free].name, unbound);
        }
}

/* Loads of all SMs that L2 has are bound by its slices or by the network, whichever is slower: one of them at half speed
 * makes such a kernel 1.5 times as long at least. */
Test(sensitivity, loads_from_l2_are_bound_by_its_slices_or_the_network, .timeout = 300)
{
    static const char *const gpus[] = {"titanv", "a100", "gv100", "v100"};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++) {
        const double slices = ratio(ALL_PORTS, gpus[g], slow_l2_bandwidth),
                     network = ratio(ALL_PORTS, gpus[g], slow_sm_bandwidth);
        cr_expect(slices >= 1.5 || network >= 1.5, "%s: %.2f and %.2f times as long", gpus[g],
                  slices, network);
    }
}
