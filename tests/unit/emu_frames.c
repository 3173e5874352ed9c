/* Rows that warps under an order have by turns (emu/sched/frames.h). */
#include <criterion/criterion.h>

#include "base/buf.h"
#include "tests/support/emu.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CTAS = 160, THREADS = 128, WIDE = 34, WORDS = 40, HALVES = 6, ALL = CTAS * THREADS };

/* Registers of each kind that are made before and needed behind an atomic where half of the lanes wait for the others,
 * which sleep, and a barrier that hands a number to all; more rows than 64. `turns`: atomics before that, at each of which
 * an order may give another warp its turn. */
static void write_body(struct buf *b, int turns)
{
    buf_puts(b, ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<64>; .reg .b64 %d<64>;\n"
                "ld.param.u64 %d40, [p0]; ld.param.u64 %d41, [p1];\n"
                "mov.u32 %r50, %tid.x; mov.u32 %r51, %ctaid.x; mov.u32 %r52, %ntid.x;\n"
                "mad.lo.u32 %r53, %r51, %r52, %r50;\n");
    for (int i = 0; i < WORDS; i++)
        buf_printf(b, "mad.lo.u32 %%r%d, %%r53, %d, %d;\n", i, 2 * i + 3, i);
    for (int i = 0; i < WIDE; i++)
        buf_printf(b, "mul.wide.u32 %%d%d, %%r%d, %d;\n", i, i, 1000003 + i);
    for (int i = 0; i < HALVES; i++) buf_printf(b, "cvt.u16.u32 %%h%d, %%r%d;\n", i, i + 3);
    if (turns)
        buf_printf(b,
                   "mov.u32 %%r63, 0;\n"
                   "TURN: atom.global.max.u32 %%r40, [%%d41+4], 0; add.u32 %%r63, %%r63, 1;\n"
                   "setp.lt.u32 %%p2, %%r63, %d; @%%p2 bra TURN;\n",
                   turns);
    /* what odd lanes need stands before what even ones do, who go first */
    buf_puts(b, "and.b32 %r54, %r50, 1; setp.eq.u32 %p0, %r54, 0; mov.u32 %r55, 0;\n"
                "add.u32 %r61, %r53, 11; add.u32 %r62, %r53, 13;\n"
                "bra START;\n"
                "ODD: atom.global.add.u32 %r55, [%d41], 0; add.u32 %r55, %r55, %r61; bra JOIN;\n"
                "START: @!%p0 bra ODD;\n"
                "add.u32 %r55, %r62, 7; atom.global.max.u32 %r56, [%d41+4], 0;\n"
                "add.u32 %r55, %r55, %r56;\n"
                "JOIN: setp.eq.u32 %p1, %r54, 1;\n"
                "bar.red.popc.u32 %r57, 0, %p1;\n"
                "add.u32 %r58, %r55, %r57;\n");
    for (int i = 0; i < WORDS; i++) buf_printf(b, "mad.lo.u32 %%r58, %%r58, 31, %%r%d;\n", i);
    for (int i = 0; i < WIDE; i++)
        buf_printf(b,
                   "mad.lo.u64 %%d42, %%d%d, %d, %d; cvt.u32.u64 %%r59, %%d42; shr.u64 %%d42, "
                   "%%d42, 32; cvt.u32.u64 %%r60, %%d42; mad.lo.u32 %%r58, %%r58, 31, %%r59; "
                   "mad.lo.u32 %%r58, %%r58, 31, %%r60;\n",
                   i, 3, i);
    for (int i = 0; i < HALVES; i++)
        buf_printf(b, "cvt.u32.u16 %%r59, %%h%d; mad.lo.u32 %%r58, %%r58, 31, %%r59;\n", i);
    buf_puts(b, "mad.lo.u32 %r58, %r58, 31, %r51;\n"
                "mul.wide.u32 %d43, %r53, 4; add.u64 %d44, %d40, %d43;\n"
                "st.global.u32 [%d44], %r58; ret;\n");
}

static uint32_t expected(uint32_t thread)
{
    uint32_t r[WORDS], x;
    uint64_t d[WIDE];
    for (uint32_t i = 0; i < WORDS; i++) r[i] = thread * (2 * i + 3) + i;
    for (uint32_t i = 0; i < WIDE; i++) d[i] = (uint64_t)r[i] * (1000003 + i);
    x = (thread % 2 ? 5 + thread + 11 : thread + 13 + 7 + 9) + THREADS / 2;
    for (uint32_t i = 0; i < WORDS; i++) x = x * 31 + r[i];
    for (uint32_t i = 0; i < WIDE; i++) {
        const uint64_t y = d[i] * 3 + i;
        x = (x * 31 + (uint32_t)y) * 31 + (uint32_t)(y >> 32);
    }
    for (uint32_t i = 0; i < HALVES; i++) x = x * 31 + (uint16_t)r[i + 3];
    return x * 31 + thread / THREADS;
}

static void expect_kept(int turns)
{
    static uint32_t out[ALL];
    uint32_t words[2] = {5, 9};
    struct buf body = {0};
    write_body(&body, turns);
    struct emu_run r = {.ptx = emu_ptx(".param .u64 p0, .param .u64 p1", body.data),
                        .grid = CTAS,
                        .block = THREADS};
    r.args[0] = emu_out(&r, out, sizeof out);
    r.args[1] = emu_inout(&r, words, sizeof words);
    cr_assert(emu_run(&r), "%s", r.fault);
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < ALL; t++) wrong += out[t] != expected(t);
    cr_expect(wrong == 0, "%u of %d", wrong, ALL);
    buf_free(&body);
}

Test(emu_frames, keep_what_warps_need)
{
    expect_kept(0);
}

/* Turns of three instructions: CTAs get rows of their own after some of them. */
Test(emu_frames, keep_what_warps_need_in_short_turns)
{
    expect_kept(12);
}
