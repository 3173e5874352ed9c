/* Deterministic atomic buffering: what it promises, how it comes about, and that each part of it is needed
 * (determinism/dab.h). Sums of floats tell in which order they were made. */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/emu.h"
#include "tests/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- workloads -------------------------------------------------------------------------------------- */

static const char *const atomic_ones[] = {
    "sum_atomic", "pagerank",         "centrality",       "conv_gradient",  "segment_sum",
    "index_add",  "histogram_global", "order_mixed",      "order_exchange", "reduce_atomic",
    "sum_lock",   "append",           "histogram_shared",
};
enum { ATOMIC_ONES = sizeof atomic_ones / sizeof *atomic_ones };

Test(dab, gives_one_result_for_every_seed, .timeout = 3000)
{
    for (size_t i = 0; i < ATOMIC_ONES; i++)
        cr_expect(workload_is_one(atomic_ones[i], "dab", workload_seeds(20)), "%s", atomic_ones[i]);
}

Test(dab, gives_one_result_by_every_rule, .timeout = 3000)
{
    static const char *const orders[] = {
        "dab:fusion=off",
        "dab:scheduler=gtar",
        "dab:scheduler=gtar:fusion=off",
        "dab:scheduler=gtrr",
        "dab:scheduler=gtrr:fusion=off",
        "dab:scheduler=srr",
        "dab:scheduler=srr:fusion=off",
        "dab:level=warp",
        "dab:level=warp:fusion=off",
        "dab:offset=on:coalescing=off:entries=256",
        "dab:sms=72:partitions=7:sms-per-cluster=5",
    };
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (size_t i = workload_seeds(0) ? 0 : o % 3; i < ATOMIC_ONES;
             i += workload_seeds(0) ? 1 : 3)
            cr_expect(workload_is_one(atomic_ones[i], orders[o], workload_seeds(2)), "%s %s",
                      orders[o], atomic_ones[i]);
}

/* Each part is needed: without it results differ. */
Test(dab, needs_each_of_its_parts, .timeout = 600)
{
    static const struct {
        const char *workload, *order;
    } rows[] = {
        {"sum_atomic", "random"},
        {"sum_atomic", "dab:reorder=off"},
        {"sum_atomic", "dab:reorder=off:overlap=on"},
        {"sum_atomic", "dab:reorder=off:independent=on"},
        {"sum_atomic", "dab:distribution=any"},
        {"centrality", "dab:sms=2:batches=off"},
        {"pagerank", "dab:scheduler=any"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect(!workload_is_one(rows[i].workload, rows[i].order, 20), "%s %s", rows[i].workload,
                  rows[i].order);
}

/* ---- small kernels ---------------------------------------------------------------------------------- */

enum { WORDS = 64 };

struct outcome {
    uint32_t words[WORDS];
    struct {
        char name[40];
        uint64_t value;
    } numbers[32];
    size_t count;
    char printed[256];
};

static void print(void *self, const char *text, size_t length)
{
    strncat(self, text, length);
}

/* The outcome of k(buffer of zeros) on a GPU of four SMs. */
static struct outcome run(const char *text, const char *order, uint64_t seed, uint32_t grid,
                          uint32_t block)
{
    char *why = NULL;
    struct outcome out = {0};
    struct arena *arena = arena_new();
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(o, "%s", why);
    struct emu *e = emu_new(&(struct emu_config){.max_instructions = 1000000,
                                                 .sms = 4,
                                                 .count = true,
                                                 .print = print,
                                                 .print_self = out.printed});
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    uint64_t at = emu_alloc(e, sizeof out.words, "buffer");
    emu_copy_in(e, at, out.words, sizeof out.words);
    struct emu_launch l = {.grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .params = &at,
                           .params_size = 8,
                           .order = orders_get(o)};
    const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s: %s", order, r->fault.text);
    emu_copy_out(e, out.words, at, sizeof out.words);
    for (size_t i = 0; i < r->counts->number_count && i < 32; i++) {
        snprintf(out.numbers[i].name, sizeof out.numbers[i].name, "%s", r->counts->numbers[i].name);
        out.numbers[i].value = r->counts->numbers[i].value;
        out.count++;
    }
    emu_unload(im);
    emu_free(e);
    orders_free(o);
    ptx_module_end(m);
    arena_free(arena);
    return out;
}

static uint64_t number(const struct outcome *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->numbers[i].name, name) == 0) return o->numbers[i].value;
    cr_assert(false, "no number '%s'", name);
    return 0;
}

static float sum_of(const struct outcome *o)
{
    float f;
    memcpy(&f, o->words, sizeof f);
    return f;
}

#define BIG "0f4b800000"       /* 2^24: one more is lost */
#define MINUS_BIG "0fcb800000" /* -2^24 */
#define ONE "0f3f800000"
#define ADD(x) "red.global.add.f32 [%d1], " x ";\n"
#define WAIT "add.u32 %r3, %r3, 1;\n"
#define HEAD                                                                                       \
    ".reg .b64 %d<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .pred %p<4>;\n"                       \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, 0;\n"

/* Warps 0 and 4 share scheduler 0 of 4. Warp 0 waits, adds 2^24, waits, adds -2^24; warp 4 adds one twice, at once.
 *   gwat, gtar   in turn: 2^24, +1 (lost), -2^24, +1: 1
 *   gtrr         in turn at the first, then by instructions: 2^24, +1, +1 (both lost), -2^24: 0
 *   srr          by instructions: +1, +1, 2^24, -2^24: 2
 *   level=warp   one buffer after the other: 2^24, -2^24, +1, +1: 2 */
Test(dab, fills_buffers_by_its_rules)
{
    static const char body[] = HEAD
        "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 ret;\n"
        "setp.eq.u32 %p2, %r1, 0; @%p2 bra first; setp.ne.u32 %p3, %r1, 128; @%p3 ret;\n" ADD(ONE)
            ADD(ONE) "ret;\n"
                     "first: " WAIT WAIT WAIT WAIT WAIT WAIT ADD(BIG)
                         WAIT WAIT WAIT WAIT ADD(MINUS_BIG) "ret;";
    static const struct {
        const char *order;
        float sum;
    } rows[] = {
        {"dab", 1},
        {"dab:fusion=off", 1},
        {"dab:scheduler=gtar:fusion=off", 1},
        {"dab:scheduler=gtrr:fusion=off", 0},
        {"dab:scheduler=srr:fusion=off", 2},
        {"dab:level=warp:fusion=off", 2},
    };
    const char *text = emu_ptx(".param .u64 p", body);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t seed = 1; seed <= 10; seed++) {
            struct outcome o = run(text, rows[i].order, seed, 1, 160);
            cr_expect_eq(sum_of(&o), rows[i].sum, "%s, seed %u: %g", rows[i].order, (unsigned)seed,
                         (double)sum_of(&o));
        }
}

/* CTA c is on SM c. SM 0 holds 2^24, SM 1 +1 and +1, SM 2 -2^24: one of each in turn is 2^24, +1 (lost), -2^24, +1. */
Test(dab, flushes_one_sm_after_another)
{
    static const char body[] = HEAD
        "setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n"
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra zero; setp.eq.u32 %p3, %r2, 2; @%p3 bra two;\n" ADD(ONE)
            ADD(ONE) "ret; zero: " ADD(BIG) "ret; two: " ADD(MINUS_BIG) "ret;";
    const char *text = emu_ptx(".param .u64 p", body);
    bool other = false;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct outcome o = run(text, "dab:fusion=off:coalescing=off", seed, 3, 32);
        cr_expect_eq(sum_of(&o), 1, "seed %u: %g", (unsigned)seed, (double)sum_of(&o));
        o = run(text, "dab:fusion=off:coalescing=off:reorder=off", seed, 3, 32);
        other |= sum_of(&o) != 1;
    }
    cr_expect(other, "as they arrive the sum differs");
}

/* 64 CTAs in 8 slots; CTA c adds 1 + c % 5 times. Without batches it depends on when a CTA has ended. */
Test(dab, needs_batches, .timeout = 120)
{
    static const char body[] = HEAD
        "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 ret;\n"
        "rem.u32 %r5, %r2, 5; mad.lo.u32 %r6, %r2, 7919, %r1; cvt.rn.f32.u32 %f1, %r6;\n"
        "mul.f32 %f1, %f1, 0f3dcccccd;\n"
        "again: red.global.add.f32 [%d1], %f1; setp.ge.u32 %p2, %r3, %r5;\n"
        "add.u32 %r3, %r3, 1; @!%p2 bra again; ret;";
    const char *text = emu_ptx(".param .u64 p", body);
    const uint32_t with = run(text, "dab", 1, 64, 1024).words[0];
    const uint32_t without = run(text, "dab:batches=off", 1, 64, 1024).words[0];
    bool differs = false;
    for (uint64_t seed = 2; seed <= 12; seed++) {
        cr_expect_eq(run(text, "dab", seed, 64, 1024).words[0], with, "seed %u", (unsigned)seed);
        differs |= run(text, "dab:batches=off", seed, 64, 1024).words[0] != without;
    }
    cr_expect(differs);
}

/* 32 lanes add to 8 words of one sector, twice; CTAs 0 and 1. */
Test(dab, counts_what_it_does)
{
    static const char body[] = HEAD
        "and.b32 %r4, %r1, 7; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d1, %d2;\n"
        "red.global.add.u32 [%d2], 1; red.global.add.u32 [%d2], 1; ret;";
    static const struct {
        const char *order;
        uint64_t entries, fused, transactions, coalesced, full, exit;
    } rows[] = {
        {"dab", 16, 112, 2, 14, 0, 1},
        {"dab:coalescing=off", 16, 112, 16, 0, 0, 1},
        {"dab:fusion=off", 128, 0, 2, 126, 0, 1},
        {"dab:fusion=off:entries=32", 128, 0, 4, 124, 1, 1},
        {"dab:fusion=off:level=warp:entries=32", 128, 0, 4, 124, 1, 1},
    };
    const char *text = emu_ptx(".param .u64 p", body);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o = run(text, rows[i].order, 1, 2, 32);
        for (int w = 0; w < 8; w++) cr_expect_eq(o.words[w], 16, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.reductions"), 128);
        cr_expect_eq(number(&o, "dab.entries"), rows[i].entries, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.fused"), rows[i].fused, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.transactions"), rows[i].transactions, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.coalesced"), rows[i].coalesced, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.flushes.full"), rows[i].full, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.flushes.exit"), rows[i].exit, "%s", rows[i].order);
        cr_expect_eq(number(&o, "dab.pre_flush"), 48 * (rows[i].full + rows[i].exit));
    }
}

/* A fence, a barrier and an atomic that returns flush what their warp holds; with nothing held they cost nothing. */
Test(dab, flushes_for_who_asks)
{
    static const struct {
        const char *body, *number;
        uint64_t value;
    } rows[] = {
        {"red.global.add.u32 [%d1], 1; membar.gl;", "dab.flushes.fence", 1},
        {"membar.gl; red.global.add.u32 [%d1], 1;", "dab.flushes.fence", 0},
        {"red.global.add.u32 [%d1], 1; bar.sync 0;", "dab.flushes.barrier", 1},
        {"bar.sync 0; red.global.add.u32 [%d1], 1;", "dab.flushes.barrier", 0},
        {"red.global.add.u32 [%d1], 1; atom.global.add.u32 %r5, [%d1+4], 1;\n"
         "st.global.u32 [%d1+8], %r5;",
         "dab.flushes.atom", 1},
        {"ld.volatile.global.u32 %r5, [%d1]; st.global.u32 [%d1+8], %r5;", "dab.ordered.rounds", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[1024];
        snprintf(body, sizeof body, "%s%s ret;", HEAD, rows[i].body);
        struct outcome o = run(emu_ptx(".param .u64 p", body), "dab", 1, 1, 64);
        cr_expect_eq(number(&o, rows[i].number), rows[i].value, "%s: %u", rows[i].body,
                     (unsigned)number(&o, rows[i].number));
    }
}

/* What is not alike keeps the order of the program: exch, then add, then exch; and it is seen by the atomic. */
Test(dab, keeps_the_order_of_a_thread)
{
    static const char body[] = HEAD
        "setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n"
        "atom.global.exch.b32 %r4, [%d1], 5; red.global.add.u32 [%d1], 1;\n"
        "atom.global.exch.b32 %r4, [%d1], 7; red.global.add.u32 [%d1], 1;\n"
        "red.global.inc.u32 [%d1], 8; red.global.inc.u32 [%d1], 8;\n" /* 9, then 0 */
        "atom.global.add.u32 %r5, [%d1], 100; st.global.u32 [%d1+4], %r5; ret;";
    static const char *const orders[] = {"dab", "dab:fusion=off", "dab:offset=on:fusion=off",
                                         "dab:level=warp", "dab:scheduler=srr"};
    const char *text = emu_ptx(".param .u64 p", body);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct outcome o = run(text, orders[i], 3, 1, 32);
        cr_expect(o.words[1] == 1 && o.words[0] == 101, "%s: %u, %u", orders[i], o.words[1],
                  o.words[0]);
    }
}

/* Warps of a CTA take turns at atomics of shared memory, and at printing. */
Test(dab, orders_shared_memory_and_printing)
{
    static const char text[] =
        ".version 8.7\n.target sm_90\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .b8 format[4] = {37, 117, 32, 0};\n" /* "%u " */
        ".visible .entry k(.param .u64 p)\n{\n.shared .u32 x; .local .align 8 .b8 args[8];\n" HEAD
        "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 ret; shr.u32 %r5, %r1, 5;\n"
        "st.local.u32 [args], %r5; mov.u64 %d2, format; cvta.global.u64 %d2, %d2;\n"
        "mov.u64 %d3, args; cvta.local.u64 %d3, %d3;\n"
        "{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %d2;\n"
        "st.param.b64 [a], %d3; call.uni (r), vprintf, (f, a); }\n"
        "atom.shared.exch.b32 %r6, [x], %r5; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2;\n"
        "st.global.u32 [%d2], %r6; ret;\n}\n";
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct outcome o = run(text, "dab", seed, 1, 256);
        cr_expect_str_eq(o.printed, "0 1 2 3 4 5 6 7 ");
        for (uint32_t w = 1; w < 8; w++)
            cr_expect_eq(o.words[w], w - 1, "seed %u, warp %u: %u", (unsigned)seed, w, o.words[w]);
    }
}

Test(dab, says_which_options_exclude_each_other)
{
    static const struct {
        const char *order, *why;
    } rows[] = {
        {"dab:level=warp:scheduler=srr", "leave out scheduler"},
        {"dab:level=warp:entries=31", "entries=32"},
        {"dab:level=warp:batches=off", "leave out batches=off"},
        {"dab:distribution=any:batches=off", "leave out batches=off"},
        {"dab:distribution=any:sms=72", "leave out one of them"},
        {"dab:overlap=on", "add reorder=off"},
        {"dab:independent=on", "add reorder=off"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *why = orders_check(rows[i].order, NULL);
        cr_expect(why && strstr(why, rows[i].why), "%s: %s", rows[i].order, why ? why : "nothing");
        free(why);
    }
    cr_expect_null(orders_check("dab:reorder=off:overlap=on:independent=on", NULL));
}
