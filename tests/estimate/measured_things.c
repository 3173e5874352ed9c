/* Single things that an H200 was measured to do, against estimates of the smallest kernel that does them: the rows of
 * calibrate/data/h200-cycles.csv and h200.csv. */
#include "tests/support/timed_kernel.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const double mhz = 1980;

enum { CYCLES = 10, MOST = 12, US = 13 }; /* columns of h200-cycles.csv */

static double column_of(const char *group, const char *name, int number)
{
    char text[256], start[64];
    double value = 0;
    FILE *f = fopen("calibrate/data/h200-cycles.csv", "r");
    cr_assert(f != NULL);
    snprintf(start, sizeof start, "%s,%s,", group, name);
    while (!(value > 0) && fgets(text, sizeof text, f)) {
        const char *at = text;
        if (strncmp(text, start, strlen(start)) != 0) continue;
        for (int column = 0; column < number; column++) at = strchr(at, ',') + 1;
        value = strtod(at, NULL);
    }
    (void)fclose(f);
    cr_assert(value > 0, "%s,%s", group, name);
    return value;
}

/* Microseconds of a launch, beyond those of a launch of one CTA that does nothing. */
static double measured_us(const char *group, const char *name)
{
    return column_of(group, name, US) - column_of("launch", "1_cta", US);
}

static double times(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* Each SM could hold more: it is the GPU that starts one CTA after another. */
Test(measured_things, a_gpu_starts_one_cta_after_another)
{
    struct kernel k = kernel_new("ret;", emu_gpu_find("h200"));
    const double narrow = measured_us("launch", "65536_ctas") * mhz,
                 wide = measured_us("launch", "65536_ctas_256") * mhz,
                 a = cycles(&k, 65536, 32, 0, 0), b = cycles(&k, 65536, 256, 0, 0),
                 few = cycles(&k, 4096, 32, 0, 0);
    cr_expect(times(a, narrow) <= 1.1, "of 32 threads %g cycles, measured %g", a, narrow);
    cr_expect(times(b, wide) <= 1.1, "of 256 threads %g cycles, measured %g", b, wide);
    /* All of 4,096 fit at once: 4,000 CTAs of `many_tiny_blocks` kept an SM active for 1,928 cycles. */
    cr_expect(times(few, 1928) <= 1.5, "those that all fit %g cycles", few);
    kernel_free(&k);
}

/* 16 of each thread, 32 rounds of a warp, 132 CTAs of 256. */
static double on_one_word(const char *type, const char *value)
{
    char text[512];
    snprintf(
        text, sizeof text,
        ".reg .u64 %%a; .reg .u32 %%i; .reg .pred %%p; ld.param.u64 %%a, [p]; mov.u32 %%i, 0; L:"
        "red.global.add.%s [%%a], %s; red.global.add.%s [%%a], %s; red.global.add.%s [%%a], %s;"
        "red.global.add.%s [%%a], %s; add.u32 %%i, %%i, 1; setp.lt.u32 %%p, %%i, 4; @%%p bra L;"
        "ret;",
        type, value, type, value, type, value, type, value);
    struct kernel k = kernel_new(text, emu_gpu_find("h200"));
    const double t = cycles(&k, 132, 256, 0, 0);
    kernel_free(&k);
    return t;
}

Test(measured_things, atomics_on_one_word_take_longer_on_floats)
{
    const double f32 = on_one_word("f32", "0f3f800000"),
                 f64 = on_one_word("f64", "0d3ff0000000000000"),
                 expect_f32 = measured_us("atomic_red_f32", "same_grid") * mhz,
                 expect_f64 = measured_us("atomic_red_f64", "same_grid") * mhz;
    cr_expect(times(f32, expect_f32) <= 1.1, "f32: %g cycles, measured %g", f32, expect_f32);
    cr_expect(times(f64, expect_f64) <= 1.1, "f64: %g cycles, measured %g", f64, expect_f64);
}

/* 1,024 warps on 128 SMs each add to 32 random words of 256, 32 times, as `histogram_global` does (h200.csv); here words are
 * those of a linear congruential generator. */
Test(measured_things, a_kilobyte_of_words_is_in_two_slices)
{
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b; .reg .u32 %i, %x, %y; .reg .pred %p; ld.param.u64 %a, [p];"
        "mov.u32 %x, %ctaid.x; mov.u32 %y, %tid.x; mad.lo.u32 %x, %x, 256, %y;"
        "mad.lo.u32 %x, %x, 747796405, 1; mov.u32 %i, 0; L:"
        "mad.lo.u32 %x, %x, 1664525, 1013904223; shr.u32 %y, %x, 24; mul.wide.u32 %b, %y, 4;"
        "add.u64 %b, %b, %a; red.global.add.u32 [%b], 1;"
        "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 32; @%p bra L; ret;",
        emu_gpu_find("h200"));
    const double measured = 497013, t = cycles(&k, 128, 256, 0, 0);
    cr_expect(times(t, measured) <= 1.4, "%g cycles, measured %g", t, measured);
    kernel_free(&k);
}

/* ptxas makes one atomic of a warp's on one word: 1,048,576 threads append to one queue. Of `append` (h200.csv) 33,554,432
 * threads take 1,602,000 cycles: half of them in each warp, 1.5 cycles a warp. One lane after the other, at 1.45 cycles for
 * each, they would take 16 times as long. */
Test(measured_things, a_warp_adds_to_one_word_once)
{
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b; .reg .u32 %i, %x, %y; ld.param.u64 %a, [p]; mov.u32 %x, %ctaid.x;"
        "mov.u32 %y, %tid.x; mad.lo.u32 %x, %x, 256, %y; atom.global.add.u32 %i, [%a], 1;"
        "mul.wide.u32 %b, %i, 4; add.u64 %b, %b, %a; st.global.u32 [%b+256], %x; ret;",
        emu_gpu_find("h200"));
    const double measured = 1602000.0 / 32, t = cycles(&k, 4096, 256, 0, 0);
    cr_expect(times(t, measured) <= 1.25, "%g cycles, measured %g", t, measured);
    kernel_free(&k);
}

/* Not of an address that lanes have computed for themselves, nor of operations for which the assembler has no sequence. */
Test(measured_things, other_atomics_on_one_word_are_made_by_each_lane)
{
    static const char
        *const each[] = {"red.global.add.u32 [%b], 1;",
                         "atom.global.exch.b32 %y, [%a], %y; st.global.u32 [%a+256], %y;",
                         "atom.global.max.u32 %y, [%a], %y; st.global.u32 [%a+256], %y;",
                         "red.global.add.u64 [%a], %a;"},
               *const once[] = {"red.global.max.u32 [%a], %y;", "red.global.add.u32 [%a], %y;",
                                "red.global.add.u64 [%a], 1;"};
    const double lanes = 132.0 * 256 * 1.45;
    char text[512];
    for (int k = 0; k < 7; k++) {
        snprintf(
            text, sizeof text,
            ".reg .u64 %%a, %%b; .reg .u32 %%x, %%y; ld.param.u64 %%a, [p]; mov.u32 %%y, %%tid.x;"
            "shr.u32 %%x, %%y, 10; mul.wide.u32 %%b, %%x, 4; add.u64 %%b, %%b, %%a; %s ret;",
            k < 4 ? each[k] : once[k - 4]);
        struct kernel x = kernel_new(text, emu_gpu_find("h200"));
        const double t = cycles(&x, 132, 256, 0, 0);
        if (k < 4) cr_expect(t >= lanes, "%s %g cycles, by lanes %g", each[k], t, lanes);
        else cr_expect(t <= lanes / 8, "%s %g cycles, by lanes %g", once[k - 4], t, lanes);
        kernel_free(&x);
    }
}

/* 32 warps of one CTA load words at such strides, all from the same 4 KB, which L1 has. Cycles of the H200 for a warp's load, of
 * `l1_32` in h200-cycles.csv: as many as lanes have words in one eighth of the banks. */
Test(measured_things, a_pass_of_l1_has_a_sector_of_each_of_four_banks)
{
    static const struct {
        uint32_t words;
        double cycles;
    } rows[] = {{4, 129.137 / 32}, {8, 256.641 / 32}, {16, 512.609 / 32}, {32, 1019.352 / 32}};
    enum { ROUNDS = 64 };
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b, %q; .reg .u32 %t, %n, %i, %x, %y, %v; .reg .pred %p; ld.param.u64 %a, [p];"
        "ld.param.u64 %q, [q]; cvt.u32.u64 %n, %q; shr.u64 %q, %q, 32; cvt.u32.u64 %x, %q;"
        "mov.u32 %t, %tid.x; and.b32 %t, %t, 31; mul.lo.u32 %t, %t, %x; mul.wide.u32 %b, %t, 4;"
        "add.u64 %a, %a, %b; mov.u32 %i, 0; mov.u32 %v, 0; L: ld.global.u32 %x, [%a];"
        "ld.global.u32 %y, [%a]; add.u32 %v, %v, %x; add.u32 %v, %v, %y; add.u32 %i, %i, 1;"
        "setp.lt.u32 %p, %i, %n; @%p bra L; st.global.u32 [%a+4096], %v; ret;",
        emu_gpu_find("h200"));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const uint64_t words = (uint64_t)rows[r].words << 32;
        const double t = (cycles(&k, 1, 1024, 0, words | (2 * ROUNDS)) -
                          cycles(&k, 1, 1024, 0, words | ROUNDS)) /
                         (2 * ROUNDS * 32);
        cr_expect(times(t, rows[r].cycles) <= 1.1, "%u words: %g cycles, measured %g",
                  rows[r].words, t, rows[r].cycles);
    }
    kernel_free(&k);
}

/* A lane follows pointers from element to element of what the host has copied, as `pointer_chase` does: 200 of 65,536 elements
 * (256 KB) took 75,687 cycles on an H200 (h200.csv, "1 1 65536 200"), 378 each. An element in L2 takes 281 and one in DRAM 595
 * (`chase` of h200-cycles.csv), with some instructions around. A copy of 64 KB is in L2. */
static double follow(uint32_t elements, uint32_t steps)
{
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b, %q; .reg .u32 %n, %i, %x; .reg .pred %p; ld.param.u64 %a, [p];"
        "ld.param.u64 %q, [q]; cvt.u32.u64 %n, %q; mov.u32 %i, 0; mov.u32 %x, 0; L:"
        "mul.wide.u32 %b, %x, 4; add.u64 %b, %a, %b; ld.global.u32 %x, [%b];"
        "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L; st.global.u32 [%a], %x; ret;",
        emu_gpu_find("h200"));
    uint32_t *next = malloc(elements * sizeof *next);
    for (uint32_t i = 0; i < elements; i++) next[i] = (i * 0x41c64e6d + 12345) % elements;
    cr_assert(emu_copy_in(k.emu, k.params[0], next, elements * sizeof *next));
    const double t = cycles(&k, 1, 1, 0, steps);
    kernel_free(&k);
    free(next);
    return t;
}

Test(measured_things, a_large_copy_is_in_l2_in_part)
{
    const double large = follow(65536, 200) / 200, small = follow(16384, 200) / 200;
    cr_expect(times(large, 378) <= 1.1, "of 256 KB %g cycles a step", large);
    cr_expect(small <= 281 * 1.1, "of 64 KB %g cycles a step", small);
}

/* A chain of the instruction in a loop, as `heddle-suite cycles` has it: cycles of one of them. */
static double of_chain(const char *instruction, uint32_t threads)
{
    enum { STEPS = 8, ROUNDS = 64 };
    char text[1024];
    size_t at = (size_t)snprintf(
        text, sizeof text,
        ".reg .u64 %%a, %%q; .reg .u32 %%n, %%i, %%x; .reg .f32 %%f, %%g; .reg .pred %%p; mov.u32 %%x, 0;"
        "ld.param.u64 %%a, [p]; ld.param.u64 %%q, [q]; cvt.u32.u64 %%n, %%q; mov.u32 %%i, 0;"
        "mov.f32 %%f, 0f3fc00000; mov.f32 %%g, 0f3f800000; L:");
    for (int i = 0; i < STEPS; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s", instruction);
    snprintf(text + at, sizeof text - at,
             "add.u32 %%i, %%i, 1; setp.lt.u32 %%p, %%i, %%n; @%%p bra L;"
             "st.global.f32 [%%a], %%f; ret;");
    struct kernel k = kernel_new(text, emu_gpu_find("h200"));
    const double t = (cycles(&k, 1, threads, 0, 2 * ROUNDS) - cycles(&k, 1, threads, 0, ROUNDS)) /
                     (STEPS * ROUNDS);
    kernel_free(&k);
    return t;
}

Test(measured_things, a_fence_takes_a_trip_to_l2)
{
    const double alone = column_of("latency", "fence_gpu", CYCLES),
                 exchange = column_of("atomic_exch", "one_lane", CYCLES),
                 fence = of_chain("membar.gl;", 32),
                 strong = of_chain("atom.relaxed.gpu.global.exch.b32 %x, [%a], %x;", 1),
                 release = of_chain("atom.release.gpu.global.exch.b32 %x, [%a], %x;", 1);
    cr_expect(times(fence, alone) <= 1.1, "%g cycles, measured %g", fence, alone);
    cr_expect(times(strong, exchange) <= 1.15, "%g cycles, measured %g", strong, exchange);
    /* Of the system's scope: what the host sees, too. */
    const double system = column_of("latency", "fence_sys", CYCLES),
                 both = of_chain("fence.acq_rel.sys;", 32),
                 released = of_chain("atom.release.sys.global.exch.b32 %x, [%a], %x;", 1);
    cr_expect(times(both, system) <= 1.1, "%g cycles, measured %g", both, system);
    cr_expect(times(released, system + exchange) <= 1.15, "%g cycles, measured %g", released,
              system + exchange);
    /* ptxas makes a fence of the release. */
    cr_expect(times(release, alone + exchange) <= 1.15, "%g cycles, measured %g", release,
              alone + exchange);
}

/* Of one warp, and of 32: 8 for each scheduler's part of the unit. These never take less than the unit does. They take more in the
 * model where few warps keep a unit busy: it lets the oldest ones issue first, so that the last ones are alone. */
Test(measured_things, roots_and_divisions_take_the_cycles_of_their_sequences)
{
    static const struct {
        const char *name, *instruction;
        enum ptx_cost cost;
    } rows[] = {{"divide_rn", "div.rn.f32 %f, %g, %f;", PTX_COST_FDIV_RN},
                {"sqrt_rn", "sqrt.rn.f32 %f, %f;", PTX_COST_FSQRT_RN},
                {"rcp_rn", "rcp.rn.f32 %f, %f;", PTX_COST_FRCP_RN},
                {"sqrt", "sqrt.approx.f32 %f, %f;", PTX_COST_SFU},
                {"ex2", "ex2.approx.f32 %f, %f;", PTX_COST_SFU}};
    struct timing_machine m;
    (void)machine_of(emu_gpu_find("h200"), &m);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const double one = column_of("latency", rows[r].name, CYCLES),
                     all = column_of("busy", rows[r].name, CYCLES),
                     a = of_chain(rows[r].instruction, 32), b = of_chain(rows[r].instruction, 1024),
                     unit = 8 * m.interval[rows[r].cost];
        cr_expect(times(a, one) <= 1.1, "%s %g cycles, measured %g", rows[r].instruction, a, one);
        cr_expect(times(unit, all) <= 1.02,
                  "%s: the unit takes %g cycles for 32 warps, measured %g", rows[r].instruction,
                  unit, all);
        cr_expect(b >= 0.97 * all && b <= 2 * all, "%s of 32 warps %g cycles, measured %g",
                  rows[r].instruction, b, all);
    }
}

/* Divisions and square roots of f64 are one class: it is between both. */
Test(measured_things, f64_divisions_and_roots_take_about_what_they_took)
{
    static const char *const names[] = {"divide_f64", "sqrt_f64"};
    struct timing_machine m;
    (void)machine_of(emu_gpu_find("h200"), &m);
    for (size_t i = 0; i < 2; i++) {
        const double one = column_of("latency", names[i], CYCLES),
                     all = column_of("busy", names[i], CYCLES), latency = m.latency[PTX_COST_DDIV],
                     unit = 8 * m.interval[PTX_COST_DDIV];
        cr_expect(times(latency, one) <= 1.2, "%s: %g cycles, measured %g", names[i], latency, one);
        cr_expect(times(unit, all) <= 1.05, "%s: %g cycles for 32 warps, measured %g", names[i],
                  unit, all);
    }
}

/* A warp's chain of loads of constants, of which lanes name one address or 32; then four and eight warps, whose loads do not
 * wait for each other. Their cycles are of `constant_memory` (h200.csv): 14,583 for 40 rounds of four warps, 16,632 for 24 of
 * eight, of which a launch without loads takes 3,000. */
#define FOUR(x) x x x x
Test(measured_things, a_load_of_constants_takes_as_many_requests_as_addresses)
{
    static const char *const text =
        ".version 8.7\n.target sm_90\n.address_size 64\n.const .align 4 .b32 table[1024];\n"
        ".visible .entry k(.param .u64 p, .param .u64 q) {\n"
        ".reg .u64 %a, %b, %e, %q; .reg .u32 %n, %i, %k, %x, %y, %r<4>; .reg .pred %p;"
        "ld.param.u64 %a, [p]; ld.param.u64 %q, [q]; cvt.u32.u64 %n, %q; shr.u64 %q, %q, 32;"
        "cvt.u32.u64 %k, %q; mov.u32 %x, %tid.x; and.b32 %x, %x, 31; mul.lo.u32 %x, %x, %k; mul.wide.u32 %e, %x, 4;"
        "mov.u64 %b, table; add.u64 %b, %b, %e; mov.u32 %y, 0; mov.u32 %i, 0; L:";
    static const char *const end = "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L;"
                                   "st.global.u32 [%a], %y; ret; }\n";
    char chain[2048], separate[2048];
    snprintf(chain, sizeof chain, "%s%s%s", text,
             FOUR(FOUR("ld.const.u32 %x, [%b]; cvt.u64.u32 %e, %x; add.u64 %b, %b, %e;")), end);
    snprintf(separate, sizeof separate,
             "%sld.const.u32 %%x, [%%b]; ld.const.u32 %%r1, [%%b]; ld.const.u32 %%r2, [%%b];"
             "ld.const.u32 %%r3, [%%b]; add.u32 %%y, %%y, %%x; add.u32 %%y, %%y, %%r1;"
             "add.u32 %%y, %%y, %%r2; add.u32 %%y, %%y, %%r3;%s",
             text, end);
    static const char *const names[] = {"lanes_1", "lanes_32"};
    for (uint64_t k = 0; k < 2; k++) {
        struct kernel x = kernel_of_module(chain, emu_gpu_find("h200"));
        const double t = (cycles(&x, 1, 32, 0, k << 32 | 32) - cycles(&x, 1, 32, 0, k << 32 | 16)) /
                         (16 * 16),
                     measured = column_of("constant", names[k], CYCLES);
        cr_expect(times(t, measured) <= 1.2, "%s: %g cycles, measured %g", names[k], t, measured);
        kernel_free(&x);
    }
    struct kernel x = kernel_of_module(separate, emu_gpu_find("h200"));
    const double four = cycles(&x, 16, 128, 0, UINT64_C(1) << 32 | 10),
                 eight = cycles(&x, 60, 256, 0, UINT64_C(1) << 32 | 6);
    cr_expect(times(four, 14583 - 3000) <= 1.2, "four warps: %g cycles", four);
    cr_expect(times(eight, 16632 - 3000) <= 1.2, "eight warps: %g cycles", eight);
    kernel_free(&x);
}

/* The assembler moves nothing over the branch to the slow path, so two that do not depend on each other take the time of both:
 * `coulomb` has eight in a row, each a root and then a division, and an H200 takes 1,250 cycles for them (h200.csv). */
Test(measured_things, a_warp_issues_nothing_during_a_division)
{
    const double one = of_chain("sqrt.rn.f32 %f, %f;", 32),
                 two = of_chain("sqrt.rn.f32 %f, %f; rcp.rn.f32 %g, %g;", 32),
                 both = column_of("latency", "sqrt_rn", CYCLES) +
                        column_of("latency", "rcp_rn", CYCLES),
                 overlapped = of_chain("sqrt.approx.f32 %f, %f; rcp.approx.f32 %g, %g;", 32);
    cr_expect(times(two, both) <= 1.1, "%g cycles, one alone %g", two, one);
    cr_expect(overlapped <= 1.5 * column_of("latency", "sqrt", CYCLES), "%g cycles", overlapped);
}

/* Counters under locks: a lane of each CTA, 8 times; the measured ones of the CTA that took longest. Warps of different CTAs
 * are in each other's way, or each has a lock of its own. */
Test(measured_things, locks_take_the_time_of_those_that_have_them)
{
    static const struct {
        const char *name;
        uint32_t ctas, locks;
    } rows[] = {{"one_1_cta", 1, 1},
                {"one_8_ctas", 8, 1},
                {"one_132_ctas", 132, 1},
                {"each_132_ctas", 132, 132}};
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b; .reg .u32 %t, %n, %i, %v; .reg .pred %p; ld.param.u64 %a, [p];"
        "ld.param.u32 %n, [q]; mov.u32 %t, %tid.x; setp.ne.u32 %p, %t, 0; @%p ret;"
        "mov.u32 %t, %ctaid.x; rem.u32 %t, %t, %n; mul.wide.u32 %b, %t, 256; add.u64 %a, %a, %b;"
        "mov.u32 %i, 0; L: atom.global.cas.b32 %v, [%a], 0, 1; setp.ne.u32 %p, %v, 0; @%p bra L;"
        "membar.gl; ld.volatile.global.u32 %v, [%a+128]; add.u32 %v, %v, 1;"
        "st.volatile.global.u32 [%a+128], %v; membar.gl; atom.global.exch.b32 %v, [%a], 0;"
        "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 8; @%p bra L; ret;",
        emu_gpu_find("h200"));
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const double t = cycles(&k, rows[r].ctas, 32, 0, rows[r].locks),
                     most = column_of("lock", rows[r].name, MOST);
        cr_expect(times(t, most) <= 1.5, "%s: %g cycles, measured %g", rows[r].name, t, most);
    }
    kernel_free(&k);
}
