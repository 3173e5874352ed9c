#define _GNU_SOURCE
/* What the fuzzer of the emulator (tests/fuzz/fuzz_emu.c) has found, cut down. */
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Registers that may be read before they are written start as zeros in every CTA: those of a warp must
 * be cleared before the next one's are filled, not after. */
Test(emu_found, warps_that_start_alone_keep_their_special_registers)
{
    uint32_t out[4 * 128];
    struct emu_run r = {.grid = 4, .block = 128, .config.threads = 1};
    r.ptx = emu_ptx(".param .u64 out",
                    ".reg .u64 %d<4>; .reg .u32 %r<6>;\nld.param.u64 %d1, [out];\n"
                    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x;\n"
                    "mad.lo.u32 %r1, %r1, %r3, %r2; mul.wide.u32 %d2, %r1, 4;\n"
                    "add.u64 %d1, %d1, %d2; add.u32 %r1, %r1, %r5;\n"
                    "st.global.u32 [%d1], %r1;\nadd.u32 %r5, %r1, 1;\nret;\n");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 4 * 128; i++) cr_assert(out[i] == i, "%u: %u", i, out[i]);
}

/* What a CTA does to memory after a reduction that waits for its turn must come after it. */
Test(emu_found, reductions_come_before_what_follows_them)
{
    enum { CTAS = 64 };
    static const char *const then[] = {"st.global.u32 [%d1], 5;", "red.global.add.u32 [%d1], 5;"};
    static const uint32_t want[] = {5, 12};
    for (int k = 0; k < 2; k++)
        for (unsigned threads = 1; threads <= 4; threads += 3) {
            uint32_t a[CTAS];
            for (int i = 0; i < CTAS; i++) a[i] = 8;
            char body[600];
            snprintf(body, sizeof body,
                     ".reg .u64 %%d<4>; .reg .u32 %%r<2>;\nld.param.u64 %%d1, [a];\n"
                     "mov.u32 %%r1, %%ctaid.x; mul.wide.u32 %%d3, %%r1, 4;\n"
                     "add.u64 %%d1, %%d1, %%d3; red.global.dec.u32 [%%d1], 9;\n%s\nret;",
                     then[k]);
            struct emu_run r = {
                .grid = CTAS, .block = 1, .config = {.threads = threads}, .mixes = k == 0};
            r.ptx = emu_ptx(".param .u64 a", body);
            r.args[0] = emu_inout(&r, a, sizeof a);
            cr_assert(emu_run(&r), "%s", r.fault);
            for (int i = 0; i < CTAS; i++)
                cr_assert(a[i] == want[k], "%u threads, CTA %d: %u", threads, i, a[i]);
        }
}

/* Warps whose lanes a guard all switches off go on behind it when their group is split there. */
Test(emu_found, warps_that_a_guard_switches_off_go_on)
{
    uint32_t out[128];
    struct emu_run r = {.block = 128};
    r.ptx = emu_ptx(".param .u64 out",
                    ".reg .u64 %d<4>; .reg .u32 %r<6>; .reg .pred %p<3>;\n"
                    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
                    "add.u64 %d1, %d1, %d2; setp.lt.u32 %p1, %r1, 64;\n"
                    "@%p1 bar.sync 1, 64;\nst.global.u32 [%d1], 7;\nret;\n");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 128; i++) cr_assert(out[i] == 7, "%u: %u", i, out[i]);
}

/* Likewise lanes, where the others come together as independent threads: they may come last. */
Test(emu_found, lanes_that_a_guard_switches_off_go_on)
{
    uint32_t out[64];
    struct emu_run r = {.block = 64, .config.divergence = EMU_ITS};
    r.ptx = emu_ptx(".param .u64 out",
                    ".reg .u64 %d<4>; .reg .u32 %r<6>; .reg .pred %p<3>;\n"
                    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;\n"
                    "add.u64 %d1, %d1, %d2; setp.gt.u32 %p1, %r1, 40;\n"
                    "@%p1 shfl.sync.idx.b32 %r2, %r1, 15, 31, -1;\n"
                    "@!%p1 shfl.sync.idx.b32 %r2, %r1, 3, 31, -1;\n"
                    "st.global.u32 [%d1], %r1;\nret;\n");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 64; i++) cr_assert(out[i] == i, "%u: %u", i, out[i]);
}

/* Independent threads: one half of a warp waits at a barrier, or for an mbarrier, that the other half has
 * yet to come to. */
Test(emu_found, halves_of_a_warp_wait_for_each_other)
{
    static const char *const waits[] = {
        "@%p1 bra high;\nbar.sync 1, 32;\nbra.uni both;\nhigh:\nbar.sync 1, 32;\nboth:\n",
        "@%p1 bra high;\nbar.sync 0;\nbra.uni both;\nhigh:\nbar.sync 0;\nboth:\n",
        "mbarrier.init.shared.b64 [m], 16;\nbar.warp.sync -1;\n@%p1 bra high;\n"
        "again: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0;\n@!%p2 bra again;\nbra both;\n"
        "high: mbarrier.arrive.shared.b64 %d3, [m];\nboth:\n"};
    for (size_t k = 0; k < 3; k++) {
        uint32_t out[32];
        char body[800];
        snprintf(body, sizeof body,
                 ".reg .u64 %%d<4>; .reg .u32 %%r<6>; .reg .pred %%p<3>; .shared .b64 m;\n"
                 "ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d2, %%r1, 4;\n"
                 "add.u64 %%d1, %%d1, %%d2; setp.gt.u32 %%p1, %%r1, 15;\n%s"
                 "st.global.u32 [%%d1], %%r1;\nret;\n",
                 waits[k]);
        struct emu_run r = {.block = 32, .config.divergence = EMU_ITS};
        r.ptx = emu_ptx(".param .u64 out", body);
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%zu: %s", k, r.fault);
        for (uint32_t i = 0; i < 32; i++) cr_assert(out[i] == i, "%zu, %u: %u", k, i, out[i]);
    }
}

/* Generic addresses of one warp that lie in different spaces, in a launch that is watched. */
Test(emu_found, a_check_gets_accesses_of_each_space)
{
    static const char *const accesses[] = {"atom.add.u32 %r2, [%d1], 1;",
                                           "ld.u32 %r2, [%d1]; st.u32 [%d1], %r2;",
                                           "st.u32 [%d1], %r1;"};
    for (unsigned k = 0; k < 6; k++) {
        uint32_t x[32] = {0};
        char body[800];
        snprintf(body, sizeof body,
                 ".reg .u64 %%d<4>; .reg .u32 %%r<6>; .reg .pred %%p<3>; .shared .b32 s[32];\n"
                 "ld.param.u64 %%d1, [x]; cvta.to.global.u64 %%d1, %%d1; mov.u32 %%r1, %%tid.x;\n"
                 "mul.wide.u32 %%d2, %%r1, 4; add.u64 %%d1, %%d1, %%d2;\n"
                 "mov.u64 %%d3, s; cvta.shared.u64 %%d3, %%d3; add.u64 %%d3, %%d3, %%d2;\n"
                 "and.b32 %%r3, %%r1, 1; setp.eq.u32 %%p1, %%r3, %u;\n@%%p1 mov.u64 %%d1, %%d3;\n"
                 "%s\nret;\n",
                 k % 2, accesses[k / 2]); /* the first lane's is in one, then in the other */
        struct emu_run r = {.block = 32, .once = true, .config.checks = EMU_CHECK_INIT};
        r.ptx = emu_ptx(".param .u64 x", body);
        r.args[0] = emu_inout(&r, x, sizeof x);
        cr_assert(emu_run(&r), "%u: %s", k, r.fault);
        cr_expect(r.findings == (k < 4), "%u: %zu findings", k, r.findings);
    }
}

/* Looking for a deadlock runs instructions, which count like others. */
Test(emu_found, counts_agree_with_the_limit)
{
    uint64_t counts[2];
    for (int count = 0; count < 2; count++) {
        struct emu_run r = {.block = 64, .once = true, .config.count = count};
        r.ptx = emu_ptx("", ".reg .u32 %r<3>; .reg .pred %p<2>;\nmov.u32 %r1, 50; membar.gl;\n"
                            "again: bar.sync 0; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;\n"
                            "@%p1 bra again;\nret;\n");
        r.config.group_warps = 1;
        cr_assert(emu_run(&r), "%s", r.fault);
        counts[count] = r.warp_instructions;
    }
    cr_expect(counts[0] == counts[1], "%llu, counted %llu", (unsigned long long)counts[0],
              (unsigned long long)counts[1]);
}

/* A CTA that was begun beside another one prints in the end as it goes, after what has waited. */
Test(emu_found, what_waited_for_its_turn_comes_first)
{
    for (unsigned threads = 1; threads < 3; threads++) {
        struct emu_run r = {.in_turn = true, .grid = 2, .block = 1, .config.threads = threads};
        r.ptx = ".version 8.7\n.target sm_90\n.address_size 64\n"
                ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
                ".global .align 1 .b8 text[3] = {37, 117, 0};\n" /* %u */
                ".func say(.reg .b32 what)\n{\n.reg .b64 %d<2>; .local .align 8 .b8 v[8];\n"
                ".param .b64 a, b; .param .b32 n;\nst.local.u32 [v], what;\n"
                "mov.u64 %d0, text; cvta.global.u64 %d0, %d0; st.param.b64 [a], %d0;\n"
                "mov.u64 %d1, v; cvta.local.u64 %d1, %d1; st.param.b64 [b], %d1;\n"
                "call (n), vprintf, (a, b);\nret;\n}\n"
                ".visible .entry k()\n{\n.reg .b32 %r<3>; .reg .pred %p<2>;\n"
                "mov.u32 %r0, %ctaid.x; call say, (%r0);\n"
                "mad.lo.u32 %r1, %r0, 400000, 600000;\n" /* long enough for the second to begin */
                "again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;\n@%p1 bra again;\n"
                "add.u32 %r0, %r0, 2; call say, (%r0);\nret;\n}\n";
        cr_assert(emu_run(&r), "%s", r.fault);
        cr_expect(strcmp(r.printed, "0213") == 0, "%u threads: %s", threads, r.printed);
    }
}

/* Instructions that do much are not many: the time is looked at nevertheless. */
Test(emu_found, long_copies_end_in_time)
{
    struct emu_run r = {.block = 1024, .once = true, .config.timeout = 0.1};
    static char g[65536];
    r.args[0] = emu_out(&r, g, sizeof g);
    r.ptx = emu_ptx(".param .u64 g",
                    ".reg .b64 %d<2>; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
                    ".shared .align 16 .b8 s[32768];\nld.param.u64 %d0, [g];\nagain:\n"
                    "cp.async.bulk.global.shared::cta.bulk_group [%d0], [s], 32768;\n"
                    "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 60000;\n@%p1 bra again;\nret;\n");
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    cr_expect(!emu_run(&r) && r.kind == EMU_LIMIT, "%s", r.fault);
    clock_gettime(CLOCK_MONOTONIC, &to);
    cr_expect(to.tv_sec - from.tv_sec < 3, "%ld s", (long)(to.tv_sec - from.tv_sec));
}

/* What printf makes of two arguments, the first an int, and returns. */
static uint32_t printed(const char *format, int32_t a, int32_t b, char out[64])
{
    static char ptx[4096];
    uint32_t n = 0;
    size_t at = (size_t)snprintf(
        ptx, sizeof ptx,
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
        ".global .align 1 .b8 text[%zu] = {",
        strlen(format) + 1);
    for (const char *c = format; *c; c++)
        at += (size_t)snprintf(ptx + at, sizeof ptx - at, "%d, ", *c);
    snprintf(
        ptx + at, sizeof ptx - at,
        "0};\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %%d<3>; .reg .b32 %%r;\n"
        ".local .align 8 .b8 v[8]; st.local.u32 [v], %d; st.local.u32 [v + 4], %d;\n"
        "mov.u64 %%d0, text; cvta.global.u64 %%d0, %%d0; mov.u64 %%d1, v; cvta.local.u64 %%d1, %%d1;\n"
        "{ .param .b64 x, y; .param .b32 n; st.param.b64 [x], %%d0; st.param.b64 [y], %%d1;\n"
        "call (n), vprintf, (x, y); ld.param.b32 %%r, [n]; }\n"
        "ld.param.u64 %%d2, [out]; st.global.u32 [%%d2], %%r; ret;\n}\n",
        a, b);
    struct emu_run r = {.ptx = ptx, .grid = 1, .block = 1};
    r.args[0] = emu_out(&r, &n, sizeof n);
    cr_assert(emu_run(&r), "%s", r.fault);
    snprintf(out, 64, "%.63s", r.printed);
    return n;
}

/* Against the C library's, and the number of the arguments that it took (CUDA programming guide, Formatted Output). */
Test(emu_found, printf_says_how_many_arguments_it_took)
{
    static const struct {
        const char *format;
        uint32_t taken;
    } cases[] = {{"%d %%", 1}, {"%*d|", 2},    {"%hd %hhd", 2}, {"%hx %hhu", 2},
                 {"%u%X", 2},  {"nothing", 0}, {"%-5d|%05d", 2}};
    char got[64], want[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t n = printed(cases[i].format, 12, -70000, got);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
        snprintf(want, sizeof want, cases[i].format, 12, -70000);
#pragma GCC diagnostic pop
        cr_expect_str_eq(got, want);
        cr_expect(n == cases[i].taken, "%s: %u", cases[i].format, n);
    }
}

/* A difference that is followed by addc, as in nvcc's division of 128-bit integers: the carry of a + ~b + 1 is what says
 * that nothing was borrowed. Likewise subc behind a sum: it borrows where there was no carry. */
Test(emu_found, a_carry_is_no_borrow)
{
    uint32_t out[4];
    struct emu_run r = {
        .ptx = emu_ptx(".param .u64 out",
                       ".reg .b32 %r<6>; .reg .b64 %rd1; ld.param.u64 %rd1, [out]; mov.u32 %r0, 7;"
                       " sub.cc.u32 %r1, %r0, 5; addc.u32 %r1, 0, 0;"
                       " sub.cc.u32 %r2, 5, %r0; addc.u32 %r2, 0, 0;"
                       " add.cc.u32 %r3, %r0, 1; subc.u32 %r3, 0, 0;"
                       " add.cc.u32 %r4, %r0, -1; subc.u32 %r4, 0, 0;"
                       " st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};"),
        .grid = 1,
        .block = 1};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(out[0] == 1 && out[1] == 0 && out[2] == UINT32_MAX && out[3] == 0, "%u %u %u %u",
              out[0], out[1], out[2], out[3]);
}
