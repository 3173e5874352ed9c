/* Loops that the assembler unrolls, in the timing model: bounds from the machine's latencies and bandwidths. */
#include "model/unroll.h"
#include "emu/trace.h"
#include "model/schedule.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"
#include "tests/support/timing.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

typedef uint32_t u32;

#define BEGIN                                                                                       \
    ".reg .u64 %a, %b, %c; .reg .u32 %i, %n, %r, %s; .reg .f32 %f, %g; .reg .pred %q;"              \
    ".shared .b8 sh[4096]; ld.param.u64 %a, [p]; mov.u32 %i, 0; mov.u32 %r, %tid.x; mov.u32 %s, 0;" \
    "mov.f32 %f, 0f00000000; mov.u32 %n, %ntid.y;"
/* The limit depends on a register that is no constant for the assembler. */
#define ROUNDS(n) "mul.lo.u32 %n, %n, " n ";"
#define CLOSE                                                                                      \
    "add.u32 %i, %i, 1; setp.lt.u32 %q, %i, %n; @%q bra L; st.global.f32 [%a+8388608], %f; ret;"
#define SUM                                                                                        \
    "L: mul.wide.u32 %b, %i, 128; add.u64 %c, %a, %b; ld.global.f32 %g, [%c]; add.f32 %f, %f, %g;"

struct times {
    double before, kept,
        after; /* cycles, without and with unrolling, with as many instructions and with fewer */
    u32 blocks, groups; /* block words of the first warp; those of blocks that were made */
};

static u32 block_words(const struct emu_trace *t, u32 from)
{
    const struct trace_warp *w = &t->ctas[0]->warps[0];
    u32 n = 0;
    for (u32 at = 0; at < w->count;) {
        const u32 word = w->words[at];
        if ((word & 3) != TRACE_BLOCK) at += 1 + trace_access_words(w->words + at);
        else n += TRACE_BLOCK_OF(word) >= from, at++;
    }
    return n;
}

static double run(const struct emu_trace *t, const struct timing_machine *m, uint64_t *instructions)
{
    struct schedule s;
    struct timing_result r;
    schedule_take(t, &s);
    timing_run(&s.trace, m, 1, 16384, &r);
    schedule_free(&s);
    *instructions = r.instructions;
    return r.cycles;
}

static struct times times_on(const char *body, const struct timing_machine *m)
{
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.sms = 1, .threads = 1});
    const struct emu_trace *t = trace_of(&d, 1, 32);
    struct unroll u;
    struct times out;
    uint64_t before, after;
    unroll_take(t, true, &u);
    out.before = run(t, m, &before);
    out.kept = run(&u.trace, m, &after);
    cr_expect(eq(u64, before, after));
    unroll_free(&u);
    unroll_take(t, false, &u);
    out.after = run(&u.trace, m, &after);
    /* rounds that do not end their group have no comparison and no branch */
    cr_expect(eq(u64, before - after, 2 * (block_words(t, 0) - block_words(&u.trace, 0))));
    out.blocks = block_words(t, 0), out.groups = block_words(&u.trace, t->block_count);
    cr_expect(u.trace.ctas[0]->warps[0].count + out.blocks ==
              t->ctas[0]->warps[0].count + block_words(&u.trace, 0));
    unroll_free(&u);
    device_free(&d);
    return out;
}

static struct times times_of(const char *body)
{
    struct timing_machine m = machine_new();
    m.l1.global = false; /* a load takes 30 + 100 + 1 cycles, from L2 and from DRAM alike */
    m.dram_latency = 1, m.dram_interval = 0.01;
    return times_on(body, &m);
}

/* Loads of 64 rounds, each of a line of its own, that all lanes name. */
Test(unroll_time, a_sum_has_four_loads_under_way)
{
    const struct times t = times_of(BEGIN ROUNDS("64") SUM CLOSE);
    cr_expect(eq(u32, t.groups, 16));
    cr_expect(ge(dbl, t.before, 64 * 131.0));
    /* at most four times as fast, and not faster than a load behind the other four times, and than issue */
    cr_expect(ge(dbl, t.after, 16 * 131.0));
    cr_expect(ge(dbl, t.after, 64 * 5.0));
    cr_expect(le(dbl, t.after, t.kept));
    cr_expect(le(dbl, t.kept, 0.5 * t.before));
}

/* A port that moves a sector in 50 cycles, 4 sectors a line: 64 * 200 cycles whatever the order. */
Test(unroll_time, bandwidth_stays)
{
    struct timing_machine m = machine_new();
    m.l1.global = false, m.port_sectors = 0.02;
    const struct times t = times_on(
        BEGIN ROUNDS(
            "64") "mul.lo.u32 %s, %r, 4; cvt.u64.u32 %b, %s; add.u64 %a, %a, %b;" SUM CLOSE,
        &m);
    cr_expect(eq(u32, t.groups, 16));
    cr_expect(ge(dbl, t.after, 64 * 200.0));
    cr_expect(le(dbl, t.after, t.before));
}

/* Each address is what the load before gave. */
Test(unroll_time, a_chain_of_loads_gains_nothing)
{
    const struct times t = times_of(BEGIN ROUNDS(
        "64") "L: mul.wide.u32 %b, %s, 128; add.u64 %c, %a, %b; ld.global.u32 %s, [%c];" CLOSE);
    cr_expect(eq(u32, t.groups, 16));
    cr_expect(ge(dbl, t.after, 64 * (131.0 + 20))); /* and two instructions of 10 cycles */
    cr_expect(ge(dbl, t.after, 0.9 * t.before));    /* branches were in between */
}

/* One chain of two loads for each round, four rounds side by side. */
Test(unroll_time, loads_through_an_index_are_under_way_together)
{
    const struct times t = times_of(BEGIN ROUNDS(
        "64") "L: mul.wide.u32 %b, %i, 128; add.u64 %c, %a, %b; ld.global.u32 %s, [%c];"
              "mul.wide.u32 %b, %s, 4; add.u64 %c, %a, %b; ld.global.f32 %g, [%c]; add.f32 %f, %f, %g;" CLOSE);
    cr_expect(ge(dbl, t.before, 64 * 262.0));
    cr_expect(ge(dbl, t.after, 16 * 262.0));
    cr_expect(le(dbl, t.after, 0.5 * t.before));
}

/* ptxas does not unroll these: a store to memory that the loop loads, a pragma, an atomic. And stores to shared memory do no harm. */
Test(unroll_time, other_loops_are_as_they_were)
{
    static const char *const bodies[] = {
        BEGIN ROUNDS("64") SUM "st.global.f32 [%a+4194304], %g;" CLOSE,
        BEGIN ROUNDS(
            "64") "L: .pragma \"nounroll\"; ld.global.f32 %g, [%a]; add.f32 %f, %f, %g;" CLOSE,
        BEGIN ROUNDS("64") SUM "red.global.add.f32 [%a+4194304], %g;" CLOSE};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        const struct times t = times_of(bodies[i]);
        cr_expect(eq(u32, t.groups, 0));
        cr_expect(eq(dbl, t.after, t.before));
    }
    const struct times shared = times_of(BEGIN ROUNDS("64") SUM
                                         "mov.u32 %s, sh; st.shared.f32 [%s], %g;" CLOSE);
    cr_expect(eq(u32, shared.groups, 16));
    cr_expect(le(dbl, shared.after, 0.5 * shared.before));
}

/* Machine code has groups of four while a lane has four rounds left, then one of two for the lanes that have two or three left,
 * then one round for those with an odd number. `limit`: of a lane, %r its number. */
#define SUM_FORMAT                                                                                 \
    "L: mul.wide.u32 %%b, %%i, 128; add.u64 %%c, %%a, %%b; ld.global.f32 %%g, [%%c];"              \
    "add.f32 %%f, %%f, %%g; add.u32 %%i, %%i, 1; setp.%s.u32 %%q, %%i, %%n; @%%q bra L; ret;"
static u32 groups_of_lanes(const char *limit, const char *compare, u32 *blocks)
{
    char body[2000];
    snprintf(body, sizeof body, "%s%s" SUM_FORMAT, BEGIN, limit, compare);
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.sms = 1, .threads = 1});
    const struct emu_trace *t = trace_of(&d, 1, 32);
    struct unroll u;
    unroll_take(t, false, &u);
    /* the block before the loop, and the one behind it */
    *blocks = block_words(&u.trace, 0) - 2;
    const u32 groups = block_words(&u.trace, t->block_count);
    unroll_free(&u);
    device_free(&d);
    return groups;
}

Test(unroll_time, lanes_have_their_last_rounds_together)
{
    static const struct {
        const char *limit, *compare;
        u32 blocks; /* of the loop */
    } cases[] = {
        {"mul.lo.u32 %n, %n, 8;", "lt", 2},                 /* 4 4 */
        {"mul.lo.u32 %n, %n, 11;", "lt", 4},                /* 4 4 2 1 */
        {"and.b32 %n, %r, 3; add.u32 %n, %n, 5;", "lt", 4}, /* 5 to 8: 4 4 2 1 */
        {"and.b32 %n, %r, 2; add.u32 %n, %n, 6;", "lt", 3}, /* 6, 8: 4 4 2 */
        {"and.b32 %n, %r, 1; add.u32 %n, %n, 1;", "lt", 2}, /* 1, 2: 2 1 */
        {"mul.lo.u32 %n, %n, 7;", "ne", 4},                 /* 4 1 1 1 */
        {"and.b32 %n, %r, 3; add.u32 %n, %n, 5;", "ne", 5}, /* 5 to 8: 4 4 1 1 1 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        u32 blocks;
        (void)groups_of_lanes(cases[i].limit, cases[i].compare, &blocks);
        cr_expect(blocks == cases[i].blocks, "%s: %u groups, not %u", cases[i].limit, blocks,
                  cases[i].blocks);
    }
}
