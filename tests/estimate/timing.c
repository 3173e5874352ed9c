/* Traces of small kernels, and times that follow from them by hand. */
#define _GNU_SOURCE /* fmemopen */
#include "tests/support/timing.h"
#include "base/arena.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/trace.h"
#include "emu/trace_file.h"
#include "model/launch_estimate.h"
#include "model/machine.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct timing_result times_of(const char *body, uint32_t grid, uint32_t block,
                                     const struct timing_machine *m, uint32_t slots)
{
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.sms = m->sms, .threads = 1});
    struct timing_result t;
    timing_run(trace_of(&d, grid, block), m, slots, 16384, &t);
    device_free(&d);
    double sum = 0;
    for (int p = 0; p < TIMING_PARTS; p++) sum += t.part[p];
    cr_expect(sum > t.cycles - 1e-6 && sum < t.cycles + 1e-6, "the parts of %g come to %g",
              t.cycles, sum);
    return t;
}

/* A kernel that begins with `before` and has n times `text`, in which %d are the numbers from 0 on, modulo. */
static char *repeat(const char *before, const char *text, int n, int modulo)
{
    static char out[2][1 << 16];
    static int which;
    char *o = out[which ^= 1];
    size_t at = (size_t)sprintf(o, "%s\n", before);
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(o + at, text, i % modulo, i % modulo, i % modulo);
    sprintf(o + at, "ret;\n");
    return o;
}

static double more(const char *before, const char *text, int n, int modulo,
                   const struct timing_machine *m)
{
    return times_of(repeat(before, text, 2 * n, modulo), 1, 32, m, 1).cycles -
           times_of(repeat(before, text, n, modulo), 1, 32, m, 1).cycles;
}

#define FLOATS                                                                                     \
    ".reg .f32 %f<9>; .reg .u64 %a; .reg .u32 %r<4>; .reg .b32 %x;"                                \
    "ld.param.u64 %a, [p]; mov.f32 %f0, 0f3F800000;"

Test(timing, a_chain_takes_its_latencies)
{
    const struct timing_machine m = machine_new();
    cr_expect(eq(dbl, more(FLOATS, "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n", 32, 1, &m), 32 * 10));
}

Test(timing, what_is_independent_takes_its_units_time)
{
    const struct timing_machine m = machine_new();
    cr_expect(
        eq(dbl, more(FLOATS, "fma.rn.f32 %%f%d, %%f%d, %%f%d, 0f3F800000;\n", 32, 8, &m), 32 * 2));
}

Test(timing, warps_hide_each_others_latency)
{
    struct timing_machine m = machine_new();
    m.oldest = false;
    const char *n = "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n";
    for (uint32_t warps = 1; warps <= 8; warps++) {
        const double cycles = times_of(repeat(FLOATS, n, 64, 1), 1, 32 * warps, &m, 1).cycles -
                              times_of(repeat(FLOATS, n, 32, 1), 1, 32 * warps, &m, 1).cycles;
        const double want = 32 * (2 * warps > 10 ? 2 * warps : 10); /* latency 10, interval 2 */
        cr_expect(eq(dbl, cycles, want), "%u warps", warps);
    }
}

/* p[0] = &p[0] and so on: each load waits for the one before. `hop`: timing_machine.hop. */
static double chase_on(uint64_t stride, uint32_t n, bool copied, double hop)
{
    char body[2000];
    sprintf(
        body,
        ".reg .u64 %%a, %%b; .reg .u32 %%r; .reg .pred %%q; ld.param.u64 %%a, [p]; mov.u32 %%r, 0;"
        "mov.u64 %%b, %%a;"
        "L: ld.global.u64 %%a, [%%a]; add.u32 %%r, %%r, 1; setp.lt.u32 %%q, %%r, %u; @%%q bra L;"
        "st.global.u64 [%%b+33554432], %%a; ret;",
        n);
    struct timing_machine m = machine_new();
    m.hop = hop;
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.sms = 1, .threads = 1});
    uint64_t *host = emu_bytes(d.emu, d.memory, 64 << 20);
    for (uint32_t i = 0; i < n; i++)
        host[(uint64_t)i * stride / 8] = d.memory + (uint64_t)(stride ? i + 1 : 0) * stride;
    if (copied)
        for (uint32_t i = 0; i < n; i++)
            emu_copy_in(d.emu, d.memory + i * stride, &host[(uint64_t)i * stride / 8], 8);
    struct timing_result t;
    timing_run(trace_of(&d, 1, 1), &m, 1, 16384, &t);
    device_free(&d);
    return t.cycles;
}

static double chase(uint64_t stride, uint32_t n, bool copied)
{
    return chase_on(stride, n, copied, 0);
}

Test(timing, a_pointer_chase_waits_for_where_its_data_is)
{
    /* beyond the first load, which is the same in both: the chain is load, load, ... */
    cr_expect(eq(dbl, chase(0, 100, false) - chase(0, 50, false), 50 * 30.0)); /* L1 */
    cr_expect(eq(dbl, chase(128, 100, true) - chase(128, 50, true),
                 50 * (30 + 100 + 1.0))); /* L2: one sector of a slice */
    cr_expect(eq(dbl, chase(128, 100, false) - chase(128, 50, false),
                 50 * (30 + 100 + 1 + 200 + 4.0))); /* DRAM: and one sector of a channel */
}

#define ATOMICS                                                                                    \
    ".reg .u64 %a, %b; .reg .u32 %r<4>; ld.param.u64 %a, [p]; ld.global.u32 %r1, [%a];"            \
    "ld.global.u32 %r1, [%a+32];"
/* The next address waits for what was loaded. */
#define NEXT "and.b32 %%r1, %%r1, 0; cvt.u64.u32 %%b, %%r1; add.u64 %%a, %%a, %%b;"

/* ptxas makes `red` of both. */
Test(timing, an_atomic_whose_result_nobody_reads_is_a_reduction)
{
    struct timing_machine m = machine_new();
    m.atomic.latency = 1000;
    for (int scheduled = 0; scheduled < 2; scheduled++) {
        m.scheduled = scheduled;
        const double red = more(ATOMICS, "red.global.add.u32 [%%a+%d], 1;", 32, 1, &m),
                     dead = more(ATOMICS, "atom.global.add.u32 %%r1, [%%a+%d], 1;", 32, 1, &m),
                     exchange = more(ATOMICS, "atom.global.exch.b32 %%r1, [%%a+%d], 1;", 32, 1, &m);
        if (scheduled) cr_expect(eq(dbl, red, dead));
        else cr_expect(ge(dbl, dead, 32 * 1130.0)); /* a simulator of PTX writes the register */
        cr_expect(ge(dbl, exchange, 32 * 1130.0));
    }
}

/* A load takes 30 + 100 + 1 cycles from L2, and what follows 30. The reduction before it takes each of its resources for a
 * cycle or two, a thousand cycles of which nobody waits for. */
Test(timing, nothing_waits_for_a_reduction)
{
    struct timing_machine m = machine_new();
    m.atomic.latency = 1000, m.l1.global = false, m.scheduled = true;
    const double cycles = more(
        ATOMICS, "red.global.add.u32 [%%a+4096], 1; ld.global.u32 %%r1, [%%a];" NEXT, 32, 1, &m);
    cr_expect(ge(dbl, cycles, 32 * 161.0));
    cr_expect(le(dbl, cycles, 32 * 170.0));
}

/* Of the line that is in L1 a sector is changed in L2: it is loaded from there, another one is not. */
Test(timing, an_atomic_takes_its_sectors_out_of_l1)
{
    struct timing_machine m = machine_new();
    m.scheduled = true;
    const double same = more(ATOMICS,
                             "red.global.add.u32 [%%a], 1; ld.global.u32 %%r1, [%%a];" NEXT, 32, 1,
                             &m),
                 other = more(ATOMICS,
                              "red.global.add.u32 [%%a+32], 1; ld.global.u32 %%r1, [%%a];" NEXT, 32,
                              1, &m);
    cr_expect(ge(dbl, same - other, 32 * 101.0));
    cr_expect(le(dbl, same - other, 32 * 106.0));
}

/* Sectors of a line may be in two partitions: those of the chase, which begin a line, are in partition 3, the CTA is beside
 * partition 0 or where most sectors are. */
static uint32_t first_sector_elsewhere(void *self, uint64_t address)
{
    (void)self;
    return address % 128 < 32 ? 3 : 0;
}
static uint32_t distance(void *self, uint32_t from, uint32_t to)
{
    *(unsigned *)self += 1;
    return from > to ? from - to : to - from;
}

Test(timing, a_pointer_chase_takes_its_hops_there_and_back)
{
    enum { N = 50, HOPS = 3, EACH = 7 };
    unsigned asked = 0;
    struct timing_hops far = {&asked, first_sector_elsewhere, distance, 4, false, 0};
    const double l2 = chase(128, 2 * N, true) - chase(128, N, true),
                 dram = chase(128, 2 * N, false) - chase(128, N, false),
                 l1 = chase(0, 2 * N, false) - chase(0, N, false);
    timing_use_hops(&far);
    cr_expect(eq(dbl, chase_on(128, 2 * N, true, EACH) - chase_on(128, N, true, EACH),
                 l2 + N * 2.0 * HOPS * EACH));
    cr_expect(eq(dbl, chase_on(128, 2 * N, false, EACH) - chase_on(128, N, false, EACH),
                 dram + N * 2.0 * HOPS * EACH));
    cr_expect(eq(dbl, chase_on(0, 2 * N, false, EACH) - chase_on(0, N, false, EACH), l1));
    cr_expect(gt(uint, asked, 4 * N));
    far.nearest = true; /* all but the last store is in partition 3 */
    cr_expect(eq(dbl, chase_on(128, 2 * N, true, EACH) - chase_on(128, N, true, EACH), l2));
    timing_use_hops(NULL);
    cr_expect(eq(dbl, chase_on(128, 2 * N, true, EACH) - chase_on(128, N, true, EACH), l2));
}

/* Nobody reads the load's result. It issues when its address is there, 10 cycles after the first instruction; its way is
 * L1, L2 and back, a sector of a slice, DRAM, a sector of a channel. */
/* Loads from DRAM, each behind the one before, on both sides of a call. */
static double called(uint32_t before, uint32_t behind)
{
    static const char chain[] =
        "ld.global.u64 %b, [%a]; add.u64 %a, %a, %b; add.u64 %a, %a, 65536;\n";
    char text[4000];
    size_t at = (size_t)sprintf(
        text, ".version 8.0\n.target sm_80\n.address_size 64\n"
              ".func (.reg .u64 r) same(.reg .u64 a)\n{\n mov.u64 r, a; ret;\n}\n"
              ".entry k(.param .u64 p)\n{\n .reg .u64 %%a, %%b; ld.param.u64 %%a, [p];\n");
    for (uint32_t i = 0; i < before; i++) at += (size_t)sprintf(text + at, "%s", chain);
    at += (size_t)sprintf(text + at, "call (%%a), same, (%%a);\n");
    for (uint32_t i = 0; i < behind; i++) at += (size_t)sprintf(text + at, "%s", chain);
    sprintf(text + at, "st.global.u64 [%%a], %%a; ret;\n}\n");
    const struct timing_machine m = machine_new();
    struct device d = device_new(text, (struct emu_config){.sms = 1, .threads = 1});
    struct timing_result t;
    timing_run(trace_of(&d, 1, 1), &m, 1, 16384, &t);
    device_free(&d);
    return t.cycles;
}

Test(timing, what_is_behind_a_call_takes_its_time)
{
    const double one = called(8, 0) - called(7, 0);
    cr_expect(gt(dbl, one, 200));
    cr_expect(epsilon_eq(dbl, called(0, 8), called(8, 0), 0.1 * one));
}

Test(timing, a_warp_has_ended_when_its_loads_are_back)
{
    const struct timing_machine m = machine_new();
    const double without = times_of(".reg .u64 %a; ld.param.u64 %a, [p]; ret;", 1, 1, &m, 1).cycles,
                 with = times_of(".reg .u64 %a; .reg .u32 %r; ld.param.u64 %a, [p];"
                                 "ld.volatile.global.u32 %r, [%a]; ret;",
                                 1, 1, &m, 1)
                            .cycles;
    cr_expect(eq(dbl, with, 10 + 30 + 100 + 1 + 200 + 4));
    cr_expect(lt(dbl, without, 10 + 10));
}

Test(timing, conflicts_of_banks_take_a_cycle_each)
{
    const struct timing_machine m = machine_new();
    const char *body =
        ".reg .u64 %%q; .reg .u32 %%r, %%t; .shared .b32 s[1024]; mov.u32 %%t, %%tid.x;"
        "mul.lo.u32 %%t, %%t, %d; mov.u32 %%r, s; add.u32 %%t, %%t, %%r;%s ret;";
    double last = 0;
    for (int conflicts = 1; conflicts <= 32; conflicts *= 2) {
        char loads[4000], text[5000];
        for (int i = 0, n = 0; i < 16; i++)
            n += snprintf(loads + n, sizeof loads - (size_t)n,
                          "ld.shared.u32 %%r, [%%t]; st.shared.u32 [s], %%r;");
        snprintf(text, sizeof text, body, 4 * conflicts, loads);
        const double cycles = times_of(text, 1, 32, &m, 1).cycles;
        /* each store waits for its load */
        if (conflicts > 1) cr_expect(eq(dbl, cycles - last, 16 * conflicts / 2.0));
        last = cycles;
    }
}

Test(timing, a_barrier_waits_for_the_last_warp)
{
    const struct timing_machine m = machine_new();
    /* the first warp's chain is 20 long, the other's has to wait, and then adds one of 10 */
    const char *body =
        ".reg .u32 %t, %r<3>; .reg .pred %q; mov.u32 %t, %tid.x; setp.ge.u32 %q, %t, 32;"
        "@%q bra B;"
        "add.u32 %t, %t, 1; add.u32 %t, %t, 1; add.u32 %t, %t, 1; add.u32 %t, %t, 1;"
        "B: bar.sync 0; add.u32 %r1, %t, %t; add.u32 %r1, %r1, %t; ret;";
    const struct timing_result t = times_of(body, 1, 64, &m, 1);
    cr_expect(gt(dbl, t.part[TIMING_LATENCY], 40.0));
    const char *even = ".reg .u32 %t, %r<3>; mov.u32 %t, %tid.x; "
                       "add.u32 %t, %t, 1; add.u32 %t, %t, 1; add.u32 %t, %t, 1; add.u32 %t, %t, 1;"
                       "add.u32 %r1, %t, %t; add.u32 %r1, %r1, %t; ret;";
    cr_expect(gt(dbl, t.cycles, times_of(even, 1, 32, &m, 1).cycles));
}

#define COPY                                                                                        \
    ".reg .u64 %a<3>; .reg .u32 %t, %c, %n, %r<9>; ld.param.u64 %a1, [p]; mov.u32 %t, %tid.x;"      \
    "mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;"                         \
    "mul.wide.u32 %a2, %t, 4; add.u64 %a1, %a1, %a2;"                                               \
    "ld.global.u32 %r1, [%a1]; ld.global.u32 %r2, [%a1+4194304]; ld.global.u32 %r3, [%a1+8388608];" \
    "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%a1], %r1; ret;"

Test(timing, what_is_bound_by_dram_follows_it)
{
    struct timing_machine m = machine_new();
    m.sms = 4;
    const double slow = times_of(COPY, 256, 256, &m, 8).cycles;
    m.dram_interval /= 2;
    const double fast = times_of(COPY, 256, 256, &m, 8).cycles;
    cr_expect(gt(dbl, slow / fast, 1.9));
    cr_expect(lt(dbl, slow / fast, 2.1));
}

Test(timing, more_work_takes_longer_and_more_sms_do_not)
{
    struct timing_machine m = machine_new();
    m.sms = 4;
    double last = 0;
    for (uint32_t grid = 1; grid <= 128; grid *= 2) {
        const double cycles = times_of(COPY, grid, 128, &m, 8).cycles;
        cr_expect(ge(dbl, cycles, last), "%u CTAs", grid);
        last = cycles;
    }
    for (m.sms = 1; m.sms <= 16; m.sms++) {
        const double cycles = times_of(COPY, 64, 128, &m, 8).cycles;
        if (m.sms > 1) cr_expect(le(dbl, cycles, last), "%u SMs", m.sms);
        last = cycles;
    }
}

Test(timing, occupancy_steps_where_a_wave_more_is_needed)
{
    const struct timing_machine m = machine_new();
    const char *chain = repeat(FLOATS, "fma.rn.f32 %%f0, %%f0, %%f0, %%f0;\n", 100, 1);
    const double one = times_of(chain, 4, 32, &m, 4).cycles,
                 same = times_of(chain, 3, 32, &m, 4).cycles,
                 two = times_of(chain, 5, 32, &m, 4).cycles;
    cr_expect(lt(dbl, one - same, 10.0));
    cr_expect(gt(dbl, two - one, 900.0));
}

static bool alike(const void *a, const void *b, size_t size)
{
    return !size || memcmp(a, b, size) == 0;
}

static bool same_trace(const struct emu_trace *a, const struct emu_trace *b)
{
    bool same = a->cta_count == b->cta_count && a->instructions == b->instructions;
    for (uint32_t k = 0; same && k < a->cta_count; k++) {
        const struct trace_cta *x = a->ctas[k], *y = b->ctas[k];
        same = x->linear == y->linear && x->line_count == y->line_count &&
               alike(x->lines, y->lines, x->line_count * sizeof *x->lines);
        for (uint32_t w = 0; same && w < x->warp_count; w++)
            same = x->warps[w].count == y->warps[w].count &&
                   alike(x->warps[w].words, y->warps[w].words,
                         x->warps[w].count * sizeof *x->warps[w].words);
    }
    return same;
}

Test(timing, traces_do_not_depend_on_the_host)
{
    struct device one = device_new(emu_ptx(".param .u64 p", COPY),
                                   (struct emu_config){.threads = 1, .isa = EMU_ISA_PORTABLE});
    const struct emu_trace *a = trace_of(&one, 2000, 128);
    for (enum emu_isa isa = EMU_ISA_BEST; isa <= EMU_ISA_AVX512; isa++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct device d = device_new(emu_ptx(".param .u64 p", COPY),
                                         (struct emu_config){.threads = threads, .isa = isa});
            cr_expect(same_trace(a, trace_of(&d, 2000, 128)), "isa %d, %u threads", (int)isa,
                      threads);
            device_free(&d);
        }
    device_free(&one);
}

#define ADDRESSES                                                                                           \
    ".reg .u64 %a<4>; .reg .u32 %t, %c, %n, %w, %i, %v, %x, %s; .reg .pred %q; .shared .b32 s[256];"        \
    ".local .b32 l[8]; ld.param.u64 %a1, [p]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; shr.u32 %w, %t, 5;" \
    "mov.u32 %i, 0; shl.b32 %s, %t, 2; mov.u32 %v, s; add.u32 %s, %s, %v;"
/* Lines that other warps want, too, and more than L1 has. */
#define LOOK                                                                                       \
    "mad.lo.u32 %x, %i, 1999, %t; mul.lo.u32 %x, %x, 37; mad.lo.u32 %x, %c, 64, %x;"               \
    "and.b32 %x, %x, 0x3ffff; mul.wide.u32 %a2, %x, 4; add.u64 %a2, %a2, %a1;"                     \
    "ld.global.u32 %v, [%a2];"

/* Warps run in lockstep, or each alone until it must wait: by what is noted nobody can tell. */
Test(timing, traces_are_of_warps_that_run_alone)
{
    static const char *const kernels[] = {
        COPY,
        /* barriers: some lanes end before others, and a whole warp; one that is late each time */
        ADDRESSES
        "L: " LOOK "st.shared.u32 [%s], %v; bar.sync 0; setp.eq.u32 %q, %i, 3;"
        "@!%q bra N; and.b32 %x, %t, 7; setp.eq.u32 %q, %x, 5; @%q ret;"
        "N: setp.ne.u32 %q, %w, %i; @%q bra M; " LOOK "st.local.u32 [l], %v; ld.local.u32 %v, [l];"
        "M: ld.shared.u32 %x, [%s]; bar.sync 0; setp.ne.u32 %q, %i, 5; @%q bra O;"
        "setp.eq.u32 %q, %w, 2; @%q ret; O: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 9; @%q bra L;"
        "st.global.u32 [%a2+1048576], %v; ret;",
        /* lanes that go their own ways, reductions */
        ADDRESSES "L: " LOOK "and.b32 %x, %t, 3; setp.lt.u32 %q, %x, %i; @%q bra M; " LOOK
                  "red.global.add.u32 [%a2+1048576], 1; red.shared.add.u32 [s], 1;"
                  "M: add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %w; @%q bra L; ret;",
        /* turns that are used up, each warp's at another place */
        ADDRESSES "mad.lo.u32 %n, %w, 1111, 9000; L: " LOOK
                  "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra L; ret;",
    };
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        const uint32_t grid = k == 3 ? 2 : 300;
        struct device alone = device_new(emu_ptx(".param .u64 p", kernels[k]),
                                         (struct emu_config){.threads = 1, .group_warps = 1});
        const struct emu_trace *a = trace_of(&alone, grid, 232);
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct device d = device_new(emu_ptx(".param .u64 p", kernels[k]),
                                         (struct emu_config){.threads = threads});
            cr_expect(same_trace(a, trace_of(&d, grid, 232)), "kernel %zu, %u threads", k, threads);
            device_free(&d);
        }
        device_free(&alone);
    }
}

Test(timing, of_a_large_grid_some_sms_are_traced)
{
    struct device d = device_new(emu_ptx(".param .u64 p", COPY), (struct emu_config){0});
    const struct emu_trace *t = trace_of(&d, 20000, 128);
    cr_expect(eq(u32, t->sms, 80));
    cr_expect(lt(u32, t->sms_traced, 8));
    cr_expect(gt(u32, t->cta_count, 3 * 16));
    for (uint32_t k = 0; k < t->cta_count; k++)
        cr_expect(lt(u32, trace_sm_of(t->sms, t->recorded_sms, t->ctas[k]->linear), t->sms_traced));
    device_free(&d);
}

/* Some SMs stand for all: the launch takes about as long as a run of all of them says, and their parts come to it. */
static void sample_is_like_all(const char *gpu, const char *what, const char *body, uint32_t grid,
                               double tolerance)
{
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.gpu = emu_gpu_find(gpu)});
    const struct emu_counts *c = counts_of(&d, grid, 256);
    struct timing_machine m;
    struct timing_result some, every;
    machine_of(c->gpu, &m);
    const double cycles = launch_cycles(c, &m, false, &some),
                 want = launch_cycles(c, &m, true, &every);
    cr_expect(cycles > want / tolerance && cycles < want * tolerance, "%s on %s: %g for %g", what,
              gpu, cycles, want);
    cr_expect(some.instructions * 3 < every.instructions, "%s on %s", what, gpu);
    double sum = 0;
    for (int p = 0; p < TIMING_PARTS; p++) sum += some.part[p];
    cr_expect(sum > cycles * 0.999999 && sum < cycles * 1.000001, "%s on %s", what, gpu);
    device_free(&d);
}

#define TURNS(turns)                                                                               \
    ".reg .u64 %a; .reg .u32 %t, %c, %i, %r; .reg .pred %q; ld.param.u64 %a, [p]; mov.u32 %c, "    \
    "%ctaid.x; mov.u32 %i, 0; " turns                                                              \
    "L: add.u32 %r, %r, %c; mul.lo.u32 %r, %r, %r; add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %t;"     \
    "@%q bra L; red.global.add.u32 [%a], %r; ret;"
/* A column of a matrix of 256 columns by each CTA: all lines of some SMs are alike modulo 8. */
#define COLUMNS                                                                                    \
    ".reg .u64 %a, %b; .reg .u32 %t, %c; ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;"                \
    "mov.u32 %c, %ctaid.x; shl.b32 %t, %t, 8; add.u32 %t, %t, %c; mul.wide.u32 %b, %t, 4;"         \
    "add.u64 %a, %a, %b; st.global.u32 [%a], %t; ret;"

Test(timing, a_sample_of_sms_stands_for_all)
{
    static const char *const gpus[] = {"titanv", "v100", "rtx4090", "h100"};
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++) {
        sample_is_like_all(gpus[g], "a copy", COPY, 500, 1.15);
        sample_is_like_all(gpus[g], "columns", COLUMNS, 256, 1.15);
        sample_is_like_all(gpus[g], "one word", TURNS("mov.u32 %t, 20;"), 500, 1.1);
        sample_is_like_all(gpus[g], "one long CTA",
                           TURNS("setp.eq.u32 %q, %c, 77; selp.u32 %t, 100, 20, %q;"), 160, 1.1);
        sample_is_like_all(gpus[g], "long ones at the end",
                           TURNS("shr.u32 %t, %c, 7; mad.lo.u32 %t, %t, 30, 20;"), 300, 1.1);
        sample_is_like_all(gpus[g], "one in eight is long",
                           TURNS("and.b32 %t, %c, 7; setp.eq.u32 %q, %t, 0;"
                                 "selp.u32 %t, 90, 20, %q;"),
                           300, 1.1);
    }
}

/* What some SMs say nothing about is carried out whole. */
static void is_carried_out_whole(const char *gpu, const char *body)
{
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.gpu = emu_gpu_find(gpu)});
    const struct emu_counts *c = counts_of(&d, 200, 256);
    struct timing_machine m;
    struct timing_result t;
    machine_of(c->gpu, &m);
    (void)launch_cycles(c, &m, false, &t);
    cr_expect(eq(u64, t.instructions, c->trace->recorded), "%s", body);
    device_free(&d);
}

Test(timing, launches_whose_sms_differ_or_meet_are_carried_out_whole)
{
    is_carried_out_whole("titanv", ".reg .u64 %a; .reg .u32 %r; ld.param.u64 %a, [p];"
                                   "atom.global.cas.b32 %r, [%a], 0, 1; ret;");
    is_carried_out_whole("gtx480", COPY);
    /* One CTA in eight reads, 40 lines a warp. */
    is_carried_out_whole(
        "titanv",
        ".reg .u64 %a, %b; .reg .u32 %t, %c, %i, %r; .reg .pred %q;"
        "ld.param.u64 %a, [p]; mov.u32 %c, %ctaid.x; mov.u32 %i, 0;"
        "and.b32 %t, %c, 7; setp.eq.u32 %q, %t, 0; @!%q ret;"
        "mov.u32 %t, %tid.x; mul.wide.u32 %b, %t, 4; add.u64 %a, %a, %b;"
        "L: ld.global.cg.u32 %r, [%a]; add.u64 %a, %a, 1024;"
        "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 40; @%q bra L; st.global.u32 [%a], %r; ret;");
}

/* A CTA is over, and has taken its time, where its warps' traces were cut at a barrier: for some grid they are. */
Test(timing, what_is_cut_at_a_barrier_has_ended)
{
    const char *body = ".reg .u32 %i, %j; .reg .pred %q; mov.u32 %i, 0;"
                       "L: mov.u32 %j, 0; bar.sync 0;"
                       "M: add.u32 %j, %j, 1; setp.lt.u32 %q, %j, 2; @%q bra M;"
                       "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, 200; @%q bra L; ret;";
    struct device d = device_new(emu_ptx(".param .u64 p", body), (struct emu_config){0});
    for (uint32_t grid = 1000; grid < 1040; grid += 2 * THINNED) {
        const struct emu_counts *c = counts_of(&d, grid, 64);
        struct timing_machine m;
        struct timing_result t;
        cr_assert(c->trace->cut);
        machine_of(c->gpu, &m);
        timing_run(c->trace, &m, 32, 16384, &t);
        cr_expect(eq(u64, t.instructions, c->trace->recorded), "%u CTAs", grid);
        cr_expect(ge(dbl, t.cycles, t.chain), "%u CTAs", grid);
    }
    device_free(&d);
}

/* A warp's words, from a kernel with a loop, a guard and an access to each space. */
Test(timing, a_trace_says_what_was_done)
{
    const char *body =
        ".reg .u64 %a; .reg .u32 %t, %i, %v; .reg .pred %q; .shared .b32 s[64]; ld.param.u64 %a, [p];"
        "mov.u32 %t, %tid.x; mov.u32 %i, 0;"
        "L: ld.global.u32 %v, [%a]; st.shared.u32 [s], %v; add.u32 %i, %i, 1;"
        "setp.lt.u32 %q, %i, 3; @%q bra L; setp.gt.u32 %q, %t, 99; @%q st.global.u32 [%a], %t; ret;";
    struct device d = device_new(emu_ptx(".param .u64 p", body), (struct emu_config){0});
    const struct emu_trace *t = trace_of(&d, 1, 32);
    cr_assert(eq(u32, t->cta_count, 1));
    const struct trace_warp *w = &t->ctas[0]->warps[0];
    unsigned tags[4] = {0};
    uint64_t instructions = 0;
    for (uint32_t i = 0; i < w->count; i++) {
        const uint32_t tag = w->words[i] & 3;
        tags[tag]++;
        if (tag == TRACE_BLOCK) instructions += t->blocks[TRACE_BLOCK_OF(w->words[i])].count;
        if (tag == TRACE_SHARED) {
            cr_expect(eq(u32, TRACE_SIZE_N(w->words[i + 1]), 1));
            i += 1;
        }
        if (tag == TRACE_GLOBAL) {
            cr_expect(eq(u32, TRACE_SIZE_N(w->words[i + 2]), 1));
            cr_expect(eq(u32, TRACE_SIZE_LANES(w->words[i + 2]), 32));
            i += 2;
        }
    }
    cr_expect(eq(u32, tags[TRACE_BLOCK], 5));
    cr_expect(eq(u32, tags[TRACE_GLOBAL], 3));
    cr_expect(eq(u32, tags[TRACE_SHARED], 3));
    cr_expect(eq(u64, instructions, 3 + 3 * 5 + 3));
    cr_expect(eq(u64, t->instructions, 3 + 3 * 5 + 3));
    cr_assert(eq(u32, t->ctas[0]->line_count, 3));
    cr_expect(eq(u32, t->ctas[0]->lines[0].from_dram, 1));
    cr_expect(eq(u32, t->ctas[0]->lines[1].from_l2, 0));
    device_free(&d);
}

/* ---- files of traces ------------------------------------------------------------------------------------ */

static const char work[] =
    ".reg .u32 %r<4>; .reg .u64 %a<3>; .reg .f32 %f<3>; .shared .align 4 .b32 s[64];"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;"
    "mad.lo.u32 %r0, %r1, %r2, %r0; ld.param.u64 %a0, [p];"
    "mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a0, %a1; ld.global.f32 %f0, [%a1];"
    "fma.rn.f32 %f0, %f0, %f0, %f0; st.shared.f32 [s], %f0; bar.sync 0;"
    "ld.shared.f32 %f1, [s]; st.global.f32 [%a1], %f1;"
    "atom.global.cas.b32 %r3, [%a0], %r0, %r1; st.global.u32 [%a1], %r3; ret;";

Test(timing, a_trace_from_a_file_takes_the_same_time)
{
    struct device d = device_new(emu_ptx(".param .u64 p", work), (struct emu_config){.threads = 1});
    const struct emu_launch l = {.grid = {200, 1, 1},
                                 .block = {128, 1, 1},
                                 .params = &d.memory,
                                 .params_size = sizeof d.memory};
    const struct emu_report *r = emu_launch(d.emu, emu_kernel_at(d.image, 0), &l);
    struct launch_estimate before, after;
    FILE *f = tmpfile();
    struct trace_writer w = {.file = f};
    cr_assert(launch_estimate_of(r->counts, &before));
    cr_assert(trace_file_run(&w, "work 200") && trace_file_add(&w, r->counts) &&
              trace_file_add(&w, r->counts));
    rewind(f);
    struct trace_file in = {.file = f, .arena = arena_new()};
    for (uint32_t i = 0; i < 2; i++) {
        const struct emu_counts *c = trace_file_next(&in);
        cr_assert(c != NULL, "%s", in.why);
        cr_expect(eq(str, (char *)in.run, "work 200"));
        cr_expect(eq(u32, in.launch, i));
        cr_assert(launch_estimate_of(c, &after));
        cr_expect(eq(dbl, after.cycles, before.cycles));
        cr_expect(eq(str, after.kernel, before.kernel));
        cr_expect(eq(str, after.gpu, before.gpu));
        cr_expect(eq(u64, after.thread_instructions, before.thread_instructions));
        for (int p = 0; p < TIMING_PARTS; p++) cr_expect(eq(dbl, after.part[p], before.part[p]));
    }
    cr_expect(trace_file_next(&in) == NULL && in.why == NULL);
    arena_free(in.arena);
    fclose(f);
    device_free(&d);
}

Test(timing, a_file_of_traces_that_is_not_whole_is_refused)
{
    struct device d = device_new(emu_ptx(".param .u64 p", work), (struct emu_config){.threads = 1});
    const struct emu_launch l = {.grid = {2, 1, 1},
                                 .block = {32, 1, 1},
                                 .params = &d.memory,
                                 .params_size = sizeof d.memory};
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    struct trace_writer w = {.file = to};
    cr_assert(trace_file_add(&w, emu_launch(d.emu, emu_kernel_at(d.image, 0), &l)->counts));
    fclose(to);
    for (int how = 0; how < 3; how++) {
        struct trace_file in = {.arena = arena_new()};
        char *bytes = memcpy(malloc(size), text, size);
        if (how == 1) bytes[size / 2] ^= 1;
        if (how == 2) bytes[0] ^= 1;
        in.file = fmemopen(bytes, how == 0 ? size - 5 : size, "r");
        cr_expect(trace_file_next(&in) == NULL);
        cr_expect(eq(str, (char *)in.why,
                     how == 2 ? "it is no file of traces" : "it is cut off or damaged"));
        fclose(in.file);
        free(bytes);
        arena_free(in.arena);
    }
    free(text);
    device_free(&d);
}
