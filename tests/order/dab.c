/* Deterministic atomic buffering: what it promises, how it comes about, and that each part of it is needed
 * (determinism/dab/dab.h). Sums of floats tell in which order they were made. */
#include <criterion/criterion.h>

#include "base/rng.h"
#include "determinism/orders.h"
#include "emu/counts.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"
#include "tests/support/workload.h"

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
        cr_expect(workload_is_one(atomic_ones[i], "dab", workload_seeds(20 / THINNED)), "%s",
                  atomic_ones[i]);
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
             i += workload_seeds(0) ? 1 : 3 * THINNED)
            cr_expect(workload_is_one(atomic_ones[i], orders[o], workload_seeds(2)), "%s %s",
                      orders[o], atomic_ones[i]);
}

/* Locks: all is atomics with results, and plain accesses in between. */
Test(dab, gives_one_result_under_locks, .timeout = 3000)
{
    static const struct {
        const char *workload, *order;
    } rows[] = {
        {"sum_lock_backoff", "dab"},
        {"sum_lock_backoff", "dab:level=warp"},
        {"sum_lock_test", "dab:scheduler=gtar"},
        {"sum_lock_test", "dab:scheduler=gtrr"},
        {"sum_lock_test", "dab:scheduler=srr"},
        {"ticket", "dab"},
        {"ticket", "dab:scheduler=srr"},
        {"ticket", "dab:level=warp"},
        {"hash_probe", "dab"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i += THINNED)
        cr_expect(workload_is_one(rows[i].workload, rows[i].order, workload_seeds(2)), "%s %s",
                  rows[i].workload, rows[i].order);
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

struct stand { /* a kernel and a buffer of zeros on a GPU of four SMs */
    struct parsed *parsed;
    struct orders *orders;
    struct emu *e;
    struct emu_image *im;
    uint64_t buffer;
};

static struct stand set_up(const char *text, const char *order, uint64_t seed,
                           struct emu_config config)
{
    char *why = NULL;
    struct stand s = {.parsed = parse_text("test.ptx", text, strlen(text))};
    cr_assert(s.parsed->ok, "%s", first_error(s.parsed));
    s.orders = orders_new(order, seed, &why);
    cr_assert(s.orders, "%s", why);
    config.sms = 4;
    s.e = emu_new(&config);
    s.im = emu_load(s.e, &s.parsed->module, 1, &why);
    cr_assert(s.im, "%s", why);
    s.buffer = emu_alloc(s.e, WORDS * 4, "buffer");
    return s;
}

/* Launches k(buffer), as `how` says. */
static const struct emu_report *launch(const struct stand *s, struct emu_launch how)
{
    how.params = &s->buffer;
    how.params_size = sizeof s->buffer;
    how.order = orders_get(s->orders);
    return emu_launch(s->e, emu_kernel_at(s->im, 0), &how);
}

static void tear_down(struct stand *s)
{
    emu_unload(s->im);
    emu_free(s->e);
    orders_free(s->orders);
    parsed_free(s->parsed);
}

static struct outcome run_clusters(const char *text, const char *order, uint64_t seed,
                                   uint32_t grid, uint32_t block, uint32_t cluster)
{
    struct outcome out = {0};
    struct stand s = set_up(
        text, order, seed,
        (struct emu_config){
            .max_instructions = 1000000, .count = true, .print = print, .print_self = out.printed});
    const struct emu_report *r = launch(&s, (struct emu_launch){.grid = {grid, 1, 1},
                                                                .block = {block, 1, 1},
                                                                .cluster = {cluster, 1, 1}});
    cr_assert_eq(r->fault.kind, EMU_OK, "%s: %s", order, r->fault.text);
    emu_copy_out(s.e, out.words, s.buffer, sizeof out.words);
    for (size_t i = 0; i < r->counts->number_count && i < 32; i++) {
        snprintf(out.numbers[i].name, sizeof out.numbers[i].name, "%s", r->counts->numbers[i].name);
        out.numbers[i].value = r->counts->numbers[i].value;
        out.count++;
    }
    tear_down(&s);
    return out;
}

static struct outcome run(const char *text, const char *order, uint64_t seed, uint32_t grid,
                          uint32_t block)
{
    return run_clusters(text, order, seed, grid, block, 1);
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

static const char *const schedulers[] = {"dab", "dab:scheduler=gtar", "dab:scheduler=gtrr",
                                         "dab:scheduler=srr", "dab:level=warp"};
enum { SCHEDULERS = sizeof schedulers / sizeof *schedulers };

/* 24 CTAs in 8 slots count under a lock, given back by an exchange that nobody reads: that is for batches, taking it
 * is not. Who comes in a slot while others of the batch before still want the lock must be able to give it back. */
Test(dab, gives_locks_back_before_a_batch_is_over, .timeout = 120)
{
    static const char body[] = HEAD
        "setp.ne.u32 %p1, %r1, 0; @%p1 ret;\n"
        "again: atom.global.cas.b32 %r4, [%d1], 0, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra again;\n"
        "membar.gl; ld.volatile.global.u32 %r5, [%d1+4]; mul.wide.u32 %d2, %r5, 4;\n"
        "add.u64 %d2, %d1, %d2; st.volatile.global.u32 [%d2+8], %r2; add.u32 %r5, %r5, 1;\n"
        "st.volatile.global.u32 [%d1+4], %r5; membar.gl; atom.global.exch.b32 %r4, [%d1], 0; ret;";
    const char *text = emu_ptx(".param .u64 p", body);
    for (size_t o = 0; o < SCHEDULERS; o++) {
        const struct outcome first = run(text, schedulers[o], 1, 24, 1024);
        uint32_t came = 0;
        for (uint32_t n = 0; n < 24; n++) came |= 1u << first.words[2 + n];
        cr_expect(first.words[0] == 0 && first.words[1] == 24 && came == 0xffffff, "%s: %u, %x",
                  schedulers[o], first.words[1], came);
        for (uint64_t seed = 2; seed <= 6; seed++) {
            const struct outcome other = run(text, schedulers[o], seed, 24, 1024);
            cr_expect_arr_eq(other.words, first.words, sizeof first.words, "%s, seed %u",
                             schedulers[o], (unsigned)seed);
        }
    }
}

/* CTA 12 comes to SM 0, where 0 is and 4 was, and raises a flag by a reduction. CTA 0 waits for it: with warp 0, so
 * that the batch of scheduler 0 is not over; or with warp 1, so that it is, and those that CTA 12 is to follow in it do
 * not come. */
Test(dab, goes_on_where_a_batch_waits_for_the_next, .timeout = 120)
{
    static const char body[] = HEAD
        "setp.eq.u32 %p1, %r2, 0; @%p1 bra waits; setp.ne.u32 %p1, %r2, 12; @%p1 ret;\n"
        "setp.eq.u32 %p1, %r1, 0; @%p1 red.global.add.u32 [%d1], 7; ret;\n"
        "waits: setp.ne.u32 %p1, %r1, WHO; @%p1 ret;\n"
        "again: ld.acquire.gpu.global.u32 %r4, [%d1]; setp.eq.u32 %p2, %r4, 0; @%p2 bra again;\n"
        "st.global.u32 [%d1+4], %r4; ret;";
    static const char *const who[] = {"0", "32"};
    for (size_t i = 0; i < 2; i++) {
        char with[sizeof body];
        const char *at = strstr(body, "WHO");
        snprintf(with, sizeof with, "%.*s%s%s", (int)(at - body), body, who[i], at + 3);
        for (size_t o = 0; o < SCHEDULERS; o++) {
            const struct outcome got = run(emu_ptx(".param .u64 p", with), schedulers[o], o, 16,
                                           1024);
            cr_expect(got.words[0] == 7 && got.words[1] == 7, "%s, %s", who[i], schedulers[o]);
        }
    }
}

/* CTA 12 comes where 4 was, and to its first reduction while CTA 0, of the batch before, is on its way to its own. */
Test(dab, goes_on_behind_a_batch_in_round_robin, .timeout = 120)
{
    static const char body[] = HEAD
        "setp.ne.u32 %p1, %r1, 0; @%p1 ret; setp.eq.u32 %p1, %r2, 0; @%p1 bra more;\n"
        "setp.eq.u32 %p1, %r2, 12; @%p1 bra adds; ret;\n"
        "more: " WAIT "setp.lt.u32 %p1, %r3, 1000; @%p1 bra more;\n"
        "adds: red.global.add.u32 [%d1], 1; ret;";
    const char *text = emu_ptx(".param .u64 p", body);
    for (size_t o = 0; o < SCHEDULERS; o++)
        for (uint64_t seed = 1; seed <= 8; seed++)
            cr_expect_eq(run(text, schedulers[o], seed, 16, 1024).words[0], 2, "%s, seed %u",
                         schedulers[o], (unsigned)seed);
}

/* CTAs 20 and 24 are of the batch behind CTA 0's, and begin where others have ended. Who of them exchanges last is not to
 * depend on how far they come until CTA 0 has exchanged. */
Test(dab, gives_the_same_however_early_a_batch_begins, .timeout = 120)
{
    static const char body[] = HEAD
        "setp.ne.u32 %p1, %r1, 0; @%p1 ret; mov.u32 %r4, 300;\n"
        "setp.eq.u32 %p1, %r2, 0; @%p1 bra more;\n"
        "mov.u32 %r4, 700; setp.eq.u32 %p1, %r2, 20; @%p1 bra more;\n"
        "mov.u32 %r4, 690; setp.eq.u32 %p1, %r2, 24; @%p1 bra more; ret;\n"
        "more: " WAIT "setp.lt.u32 %p1, %r3, %r4; @%p1 bra more;\n"
        "atom.global.exch.b32 %r5, [%d1], %r2; ret;";
    const char *text = emu_ptx(".param .u64 p", body);
    for (size_t o = 0; o < SCHEDULERS; o++) {
        const uint32_t first = run(text, schedulers[o], 1, 32, 512).words[0];
        for (uint64_t seed = 2; seed <= 16; seed++)
            cr_expect_eq(run(text, schedulers[o], seed, 32, 512).words[0], first, "%s, seed %u",
                         schedulers[o], (unsigned)seed);
    }
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

/* ---- what else there is to reduce with, and to wait for ------------------------------------------------- */

/* 6 CTAs of 160 threads. %r4 and %f1 differ by thread. Words from 16 on tell in which order it was done; those
 * before do not, and are known. */
#define MIXED                                                                                      \
    HEAD ".reg .b32 %s<9>; .reg .b64 %x<9>; .reg .f64 %g<3>; .reg .b128 %q<3>; .shared .align 8 "  \
         ".b64 m; .shared .f32 sum;\n"                                                             \
         "mad.lo.u32 %r4, %r2, 7919, %r1; cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, "             \
         "0f3dcccccd; cvt.f64.f32 %g1, %f1; mov.f32 %f2, " ONE "; mov.u32 %s1, m;\n"               \
         "mov.f64 %g2, 0d3ff0000000000000;\n"
#define TELL "red.global.add.f32 [%d1+64], %f1;\n"
#define FIRST(what) "setp.ne.u32 %p3, %r1, 0; @%p3 bra " what ";\n"

static const struct {
    const char *name, *body;
    uint32_t cluster, want[4]; /* words from the first on, up to one that is 0 */
} rows_of_kinds[] = {
    {"f16x2",
     "mov.b32 %s2, 0x3c003c00; red.global.add.noftz.f16x2 [%d1], %s2;\n" /* 960 times 1 */
     "and.b32 %s3, %r4, 0x0fff; or.b32 %s3, %s3, 0x3c002000;\n"
     "red.global.add.noftz.f16x2 [%d1+64], %s3;",
     1,
     {0x63806380}},
    {"bf16x2",
     "and.b32 %s2, %r1, 7; setp.eq.u32 %p1, %s2, 0; mov.b32 %s2, 0x3f803f80;\n" /* 120 times 1 */
     "@%p1 red.global.add.noftz.bf16x2 [%d1], %s2;\n"
     "and.b32 %s3, %r4, 0x01ff; or.b32 %s3, %s3, 0x3f803c00;\n"
     "red.global.add.noftz.bf16x2 [%d1+64], %s3;",
     1,
     {0x42f042f0}},
    {"v2.f32",
     "red.global.v2.f32.add [%d1], {%f2, %f2}; red.global.v2.f32.add [%d1+64], {%f1, %f2};",
     1,
     {0x44700000, 0x44700000}},
    {"v4.f32",
     "red.global.v4.f32.add [%d1], {%f2, %f2, %f2, %f2};\n"
     "red.global.v4.f32.add [%d1+64], {%f1, %f2, %f1, %f1}; red.global.add.f32 [%d1+72], %f2;",
     1,
     {0x44700000, 0x44700000, 0x44700000, 0x44700000}},
    {"f64", /* 960 is 0x408e000000000000 */
     "red.global.add.f64 [%d1+8], %g2; red.global.add.u32 [%d1], 1; red.global.add.u32 [%d1+4], 2;\n"
     "mul.f64 %g1, %g1, 0d3fb999999999999a; red.global.add.f64 [%d1+64], %g1;",
     1,
     {960, 1920}},
    {"b128", /* who was last there, by an exchange whose result is dead and one whose result is not */
     "red.global.add.u32 [%d1], 1; cvt.u64.u32 %x1, %r4; mov.b128 %q1, {%x1, %x1};\n"
     "atom.global.exch.b128 %q2, [%d1+64], %q1; atom.global.exch.b128 %q2, [%d1+80], %q1;\n"
     "mov.b128 {%x2, %x3}, %q2; red.global.xor.b64 [%d1+96], %x2;",
     1,
     {960}},
    {"vector atom",
     "red.global.add.u32 [%d1], 1; atom.global.v2.f32.add {%f2, %f3}, [%d1+64], {%f1, %f1};\n"
     "red.global.add.f32 [%d1+72], %f2;",
     1,
     {960}},
    {"cluster", /* a barrier of the cluster between two reductions, and one to its first CTA */
     "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.f32 [sum], 0f00000000;\n"
     "red.global.add.u32 [%d1], 1; " TELL "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "mov.u32 %s2, sum; mapa.shared::cluster.u32 %s3, %s2, 0;\n"
     "red.shared::cluster.add.f32 [%s3], %f1; " TELL
     "barrier.cluster.arrive; barrier.cluster.wait;\n"
     "@%p1 ld.shared.f32 %f3, [sum]; @%p1 red.global.add.f32 [%d1+68], %f3;\n"
     "@%p1 red.global.add.u32 [%d1+4], 1;",
     2,
     {960, 6}},
    {"red.async", /* all to the first CTA, which hears of each: counters that turn over at other values */
     ".shared .b32 cell; " FIRST(
         "made") "mbarrier.init.shared.b64 [%s1], 1; st.shared.u32 [cell], 0;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 %x1, [%s1], 1280; made:\n"
                 "barrier.cluster.arrive; barrier.cluster.wait; red.global.add.u32 [%d1], 1;\n"
                 "mov.u32 %s2, cell; mapa.shared::cluster.u32 %s3, %s2, 0; mapa.shared::cluster.u32 %s4, %s1, 0;\n"
                 "and.b32 %s5, %r1, 36; add.u32 %s5, %s5, 9;\n"
                 "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%s3], %s5, [%s4];\n"
                 "barrier.cluster.arrive; barrier.cluster.wait;\n" FIRST(
                     "past") "mov.u32 %s6, %cluster_ctarank; setp.ne.u32 %p2, %s6, 0; @%p2 bra past;\n"
                             "again: mbarrier.try_wait.shared.b64 %p1, [%s1], %x1; @!%p1 bra again;\n"
                             "ld.shared.u32 %s7, [cell]; red.global.add.u32 [%d1+64], %s7; mul.wide.u32 %x2, %r2, 4;\n"
                             "add.u64 %d2, %d1, %x2; st.global.u32 [%d2+128], %s7; red.global.add.u32 [%d1+4], 1; past:",
     2,
     {960, 3}},
    {"cp.reduce.async.bulk", /* likewise a warp four words */
     ".shared .align 16 .b32 cell[4], from[20]; " FIRST(
         "made") "mbarrier.init.shared.b64 [%s1], 1; st.shared.u32 [cell], 0;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 %x1, [%s1], 160; made:\n"
                 "barrier.cluster.arrive; barrier.cluster.wait; red.global.add.u32 [%d1], 1;\n"
                 "mov.u32 %s2, cell; mapa.shared::cluster.u32 %s3, %s2, 0; mapa.shared::cluster.u32 %s4, %s1, 0;\n"
                 "and.b32 %s5, %r1, 31; setp.ne.u32 %p1, %s5, 0; @%p1 bra sent; shr.u32 %s5, %r1, 1; mov.u32 %s6, from;\n"
                 "add.u32 %s6, %s6, %s5; mov.u32 %s7, %cluster_ctarank; add.u32 %s7, %s7, 2; shr.u32 %s5, %s5, 4;\n"
                 "add.u32 %s7, %s7, %s5; st.shared.u32 [%s6], %s7; fence.proxy.async;\n"
                 "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.inc.u32 [%s3], [%s6], 16, [%s4];\n"
                 "sent: barrier.cluster.arrive; barrier.cluster.wait;\n" FIRST(
                     "past") "mov.u32 %s6, %cluster_ctarank; setp.ne.u32 %p2, %s6, 0; @%p2 bra past;\n"
                             "again: mbarrier.try_wait.shared.b64 %p1, [%s1], %x1; @!%p1 bra again;\n"
                             "ld.shared.u32 %s7, [cell]; mul.wide.u32 %x2, %r2, 4;\n"
                             "add.u64 %d2, %d1, %x2; st.global.u32 [%d2+128], %s7; red.global.add.u32 [%d1+4], 1; past:",
     2,
     {960, 3}},
    {"mbarrier", /* all arrive and wait, then reduce once more */
     FIRST("made") "mbarrier.init.shared.b64 [%s1], 160; made: bar.sync 0;\n" TELL
                   "mbarrier.arrive.shared.b64 %x1, [%s1];\n"
                   "again: mbarrier.try_wait.shared.b64 %p1, [%s1], %x1; @!%p1 bra again;\n"
                   "red.global.add.u32 [%d1], 1; " TELL,
     1,
     {960}},
    {"named barriers", /* of warps 0 and 1, of 2 and 3; warp 4 goes its own way */
     TELL "shr.u32 %s2, %r1, 6; add.u32 %s3, %s2, 1; setp.gt.u32 %p1, %s2, 1; @%p1 bra past;\n"
          "bar.sync %s3, 64; " TELL "red.global.add.u32 [%d1+4], 1; bar.sync %s3, 64;\n"
          "past: red.global.add.u32 [%d1], 1; " TELL,
     1,
     {960, 768}},
    {"arrive and wait", /* warps 0 to 3 tell warp 4 that they have reduced */
     TELL "setp.ge.u32 %p1, %r1, 128; @%p1 bra waits; bar.arrive 3, 160; " TELL "bra past;\n"
          "waits: bar.sync 3, 160; " TELL "past: red.global.add.u32 [%d1], 1;",
     1,
     {960}},
};

Test(dab, gives_one_result_for_all_kinds, .timeout = 300)
{
    static const char *const orders[] = {"dab",
                                         "dab:fusion=off",
                                         "dab:scheduler=gtar",
                                         "dab:scheduler=gtrr",
                                         "dab:scheduler=srr",
                                         "dab:scheduler=srr:fusion=off",
                                         "dab:level=warp",
                                         "dab:level=warp:fusion=off:entries=32"};
    for (size_t i = 0; i < sizeof rows_of_kinds / sizeof *rows_of_kinds; i++) {
        char body[3000];
        snprintf(body, sizeof body, "%s%s ret;", MIXED, rows_of_kinds[i].body);
        const char *text = emu_ptx(".param .u64 p", body), *name = rows_of_kinds[i].name;
        bool varies = false;
        struct outcome first = {0};
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
            for (uint64_t seed = 1; seed <= workload_seeds(6); seed++) {
                const struct outcome got = run_clusters(text, orders[o], seed, 6, 160,
                                                        rows_of_kinds[i].cluster);
                if (seed == 1) first = got;
                for (int w = 0; w < 4 && rows_of_kinds[i].want[w]; w++)
                    cr_expect_eq(got.words[w], rows_of_kinds[i].want[w], "%s, %s: word %d is %x",
                                 name, orders[o], w, got.words[w]);
                cr_assert(memcmp(got.words, first.words, sizeof got.words) == 0, "%s, %s, seed %u",
                          name, orders[o], (unsigned)seed);
            }
        for (uint64_t seed = 1; seed <= 10 && !varies; seed++) {
            const struct outcome got = run_clusters(text, "random", seed, 6, 160,
                                                    rows_of_kinds[i].cluster);
            if (seed == 1) first = got;
            varies = memcmp(got.words, first.words, sizeof got.words) != 0;
        }
        cr_expect(varies, "%s has one result by chance", name);
    }
}

/* ---- whoever looks ---------------------------------------------------------------------------------- */

/* Reductions of all kinds, wherever they meet, and what races with them. %r4 differs by thread, and by what was seen. */
static const char *const statements[] = {
    "red.global.add.u32 [%d2], %r4;\n",
    "red.global.add.f32 [%d2], %f1;\n",
    "red.global.add.f32 [%d2], %f1;\n",
    "red.global.xor.b32 [%d2], %r4;\n",
    "red.global.max.s32 [%d2], %r4;\n",
    "red.global.inc.u32 [%d2], %r4;\n",
    "atom.global.exch.b32 %r6, [%d2], %r4;\n",
    "atom.global.cas.b32 %r6, [%d2], %r5, %r4;\n",
    "red.global.add.noftz.f16x2 [%d2], %r4;\n",
    "red.global.add.u64 [%d3], %d0;\n",
    "red.global.add.f64 [%d3], %g1;\n",
    "red.global.v2.f32.add [%d3], {%f1, %f1};\n",
    "atom.global.add.u32 %r6, [%d2], %r4; xor.b32 %r4, %r4, %r6;\n",
    "atom.global.cas.b32 %r6, [%d2], %r5, %r4; xor.b32 %r4, %r4, %r6;\n",
    "st.global.u32 [%d2], %r4;\n",
    "ld.global.u32 %r6, [%d2]; add.u32 %r4, %r4, %r6;\n",
    "red.shared.add.u32 [%r7], %r4;\n",
    "bar.sync 0;\n",
    "membar.gl;\n",
};
enum { STATEMENTS = sizeof statements / sizeof *statements, RACES = 5 /* the last so many */ };

static void random_body(uint64_t seed, char *body, size_t size)
{
    const bool few = rng_below(&seed, 2); /* kinds: so that all commute, now and then */
    const uint32_t kind = rng_below(&seed, STATEMENTS - RACES), kinds = few ? 1 : STATEMENTS;
    size_t n = (size_t)snprintf(body, size, "%s",
                                HEAD ".reg .f64 %g<2>; .shared .b32 tile[64];\n"
                                     "mad.lo.u32 %r4, %r2, 7919, %r1; cvt.u64.u32 %d0, %r4;\n"
                                     "cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, 0f3dcccccd;\n"
                                     "cvt.f64.f32 %g1, %f1;\n");
    for (uint32_t i = 0; i < 12; i++) {
        const char *what = statements[(kind + rng_below(&seed, kinds)) % STATEMENTS];
        if (i % 4 == 3) what = statements[STATEMENTS - RACES + rng_below(&seed, RACES)];
        const uint32_t by = 2 * rng_below(&seed, 64) + 1, shift = rng_below(&seed, 5);
        n += (size_t)snprintf(
            body + n, size - n,
            "mad.lo.u32 %%r5, %%r1, %u, %%r2; shr.u32 %%r5, %%r5, %u; and.b32 %%r5, %%r5, 62;\n"
            "mul.wide.u32 %%d3, %%r5, 4; add.u64 %%d3, %%d1, %%d3; add.u64 %%d2, %%d3, %u;\n"
            "shl.b32 %%r7, %%r5, 2; mov.u32 %%r8, tile; add.u32 %%r7, %%r7, %%r8;\n%s",
            by, shift, 4 * rng_below(&seed, 2), what);
    }
    snprintf(body + n, size - n, "ld.shared.u32 %%r6, [%%r7]; st.global.u32 [%%d2], %%r6; ret;");
}

struct looks {
    bool counted, drains,
        watched; /* drains: an observer of what is drained; watched: of all accesses */
};

static void look(void *self, const struct emu_access *a)
{
    *(uint64_t *)self += a->lanes;
}
static void look_shown(void *self, const struct emu_drained *a)
{
    *(uint64_t *)self += a->size;
}

/* What two launches leave: the second begins where the adversary is then. */
static uint64_t left_by(const char *text, const char *order, uint64_t seed, struct looks looks,
                        void *seen)
{
    struct stand s = set_up(text, order, seed, (struct emu_config){.count = looks.counted});
    const struct emu_observer observer = {.self = seen,
                                          .ignores_data = true,
                                          .access = looks.watched ? look : NULL,
                                          .drained = looks.drains ? look_shown : NULL};
    const struct emu_observer *const list[] = {&observer};
    for (int i = 0; i < 2; i++) {
        const struct emu_report *r = launch(
            &s, (struct emu_launch){.grid = {24, 1, 1},
                                    .block = {160, 1, 1},
                                    .observers = list,
                                    .observer_count = looks.watched || looks.drains});
        cr_assert_eq(r->fault.kind, EMU_OK, "%s: %s\n%s", order, r->fault.text, text);
    }
    const uint64_t digest = emu_digest(s.e);
    tear_down(&s);
    return digest;
}

/* The bits of programs with races, too, depend on the seed alone: not on who counts or watches, for whom buffers are
 * emptied by other means. */
Test(dab, gives_the_same_whoever_looks, .timeout = 300)
{
    static const char *const orders[] = {"dab",
                                         "dab:fusion=off",
                                         "dab:coalescing=off",
                                         "dab:offset=on:entries=256",
                                         "dab:offset=on:entries=48:fusion=off:coalescing=off",
                                         "dab:partitions=1:sms-per-cluster=1",
                                         "dab:scheduler=gtar",
                                         "dab:scheduler=srr",
                                         "dab:level=warp",
                                         "dab:reorder=off:overlap=on"};
    static const struct looks looks[] = {{.counted = true}, {.drains = true}, {.watched = true}};
    enum { ORDERS = sizeof orders / sizeof *orders, BODIES = SANITIZED ? 2 * ORDERS : 6 * ORDERS };
    unsigned differ = 0;
    uint64_t seen[4] = {0};
    for (uint64_t seed = 1; seed <= BODIES; seed++) {
        char body[5000];
        random_body(seed, body, sizeof body);
        const char *text = emu_ptx(".param .u64 p", body), *order = orders[seed % ORDERS];
        const uint64_t alone = left_by(text, order, seed, (struct looks){0}, &seen[3]);
        for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
            cr_expect_eq(left_by(text, order, seed, looks[i], &seen[i]), alone,
                         "%s, seed %u, %zu: %s", order, (unsigned)seed, i, body);
        differ += left_by(text, order, seed + 1, (struct looks){0}, &seen[3]) != alone;
    }
    cr_expect(differ > BODIES / 4, "only %u differ by the seed", differ);
    /* The first launch goes without the order where nobody looks, the second finds ones, and has races. */
    static const char second[] = HEAD
        "setp.ge.u32 %p1, %r1, 32; @%p1 ret; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %d1;\n"
        "ld.global.u32 %r5, [%d2+32]; st.global.u32 [%d2+32], 1; setp.ne.u32 %p1, %r5, 0;\n"
        "@%p1 st.global.u32 [%d1], %r2; @%p1 ld.global.u32 %r6, [%d1];\n"
        "@%p1 st.global.u32 [%d2+32], %r6; ret;";
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const char *text = emu_ptx(".param .u64 p", second);
        const uint64_t alone = left_by(text, "dab", seed, (struct looks){0}, &seen[3]);
        for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
            cr_expect_eq(left_by(text, "dab", seed, looks[i], &seen[i]), alone, "seed %u, %zu",
                         (unsigned)seed, i);
    }
    cr_expect(!seen[0] && seen[1] && seen[2] && !seen[3]);
}

/* Reductions in loops of a length of their own, between waits of all kinds, and warps that end early. What atomics return
 * steers further ones. No data races. clusters: with barriers of the cluster among the waits. */
static void random_turns(uint64_t seed, bool clusters, char *body, size_t size)
{
    static const char *const waits[] = {
        "bar.sync 0;\n",
        "membar.gl;\n",
        "atom.global.add.u32 %r6, [%d2], 3; and.b32 %r6, %r6, 7; add.u32 %r3, %r3, %r6;\n",
        "atom.shared.exch.b32 %r6, [%r7], %r4; and.b32 %r6, %r6, 3; add.u32 %r3, %r3, %r6;\n",
        "setp.gt.u32 %p2, %r1, 128; @%p2 ret;\n",
        "barrier.cluster.arrive; barrier.cluster.wait;\n",
    };
    const uint32_t kinds = sizeof waits / sizeof *waits - !clusters;
    size_t n = (size_t)snprintf(body, size, "%s",
                                HEAD ".reg .f64 %g<2>; .shared .b32 tile[64];\n"
                                     "mad.lo.u32 %r4, %r2, 7919, %r1; cvt.u64.u32 %d0, %r4;\n"
                                     "cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, 0f3dcccccd;\n"
                                     "cvt.f64.f32 %g1, %f1;\n");
    for (uint32_t i = 0; i < 10; i++) {
        const char *what = i % 3 == 2 ? waits[rng_below(&seed, kinds)]
                                      : statements[rng_below(&seed, STATEMENTS - RACES)];
        n += (size_t)snprintf(
            body + n, size - n,
            "mad.lo.u32 %%r5, %%r1, %u, %%r2; shr.u32 %%r5, %%r5, %u; and.b32 %%r5, %%r5, 62;\n"
            "mul.wide.u32 %%d3, %%r5, 4; add.u64 %%d3, %%d1, %%d3; add.u64 %%d2, %%d3, %u;\n"
            "shl.b32 %%r7, %%r5, 2; mov.u32 %%r8, tile; add.u32 %%r7, %%r7, %%r8;\n"
            "shr.u32 %%r8, %%r1, 5; mad.lo.u32 %%r3, %%r8, %u, %%r3; and.b32 %%r3, %%r3, 31;\n"
            "l%u: sub.u32 %%r3, %%r3, 1; setp.gt.s32 %%p1, %%r3, 0; @%%p1 bra l%u;\n%s",
            2 * rng_below(&seed, 64) + 1, rng_below(&seed, 5), 4 * rng_below(&seed, 2),
            rng_below(&seed, 9), i, i, what);
    }
    snprintf(body + n, size - n, "ret;");
}

static uint64_t left_by_turns(const char *text, const char *order, uint64_t seed, uint32_t grid,
                              uint32_t cluster)
{
    struct stand s = set_up(text, order, seed, (struct emu_config){0});
    const struct emu_report *r = launch(&s, (struct emu_launch){.grid = {grid, 1, 1},
                                                                .block = {224, 1, 1},
                                                                .cluster = {cluster, 1, 1}});
    cr_assert_eq(r->fault.kind, EMU_OK, "%s: %s\n%s", order, r->fault.text, text);
    const uint64_t digest = emu_digest(s.e);
    tear_down(&s);
    return digest;
}

/* How often a warp tries a barrier of its cluster is the adversary's choice, and nobody's result. */
Test(dab, gives_one_result_where_clusters_wait, .timeout = 300)
{
    static const char *const rules[] = {"gwat", "gtar", "gtrr", "srr"};
    for (uint64_t seed = 1; seed <= 24 / THINNED; seed++) {
        char body[5000], order[40];
        random_turns(seed, true, body, sizeof body);
        const char *text = emu_ptx(".param .u64 p", body);
        uint64_t rounds = 0; /* what gtar leaves */
        for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
            const uint32_t cluster = seed % 2 ? 4 : 2, grid = 12;
            snprintf(order, sizeof order, "dab:scheduler=%s", rules[i]);
            const uint64_t first = left_by_turns(text, order, seed, grid, cluster);
            if (i == 1) rounds = first;
            cr_expect(!i || first == rounds, "%s is gtar here, seed %u", order, (unsigned)seed);
            for (uint64_t other = 1; other <= 3; other++)
                cr_expect_eq(left_by_turns(text, order, seed + other, grid, cluster), first,
                             "%s, seed %u", order, (unsigned)seed);
        }
    }
}

/* In strict round robin a turn is one instruction, whoever had to wait at it, and at a barrier whoever came last. Warps
 * execute before their turn what no other warp observes: in order of turns, one instruction at a time, the result is the
 * same. */
Test(dab, goes_by_turns_however_warps_wait, .timeout = 300)
{
    static const char *const orders[][2] = {
        {"dab:scheduler=srr", "dab:scheduler=srr:ahead=off"},
        {"dab:scheduler=gtrr", "dab:scheduler=gtrr:ahead=off"},
        {"dab:scheduler=srr:fusion=off:entries=40",
         "dab:scheduler=srr:fusion=off:entries=40:ahead=off"},
    };
    enum { ORDERS = sizeof orders / sizeof *orders };
    unsigned differ = 0;
    for (uint64_t seed = 1; seed <= 60 / THINNED; seed++) {
        char body[5000];
        random_turns(seed, false, body, sizeof body);
        const char *text = emu_ptx(".param .u64 p", body), *const *o = orders[seed % ORDERS];
        const uint32_t grid = seed % 4 ? 9 : 90; /* 90 CTAs are two batches */
        const uint64_t strict = left_by_turns(text, o[1], seed + 1, grid, 1);
        cr_expect_eq(left_by_turns(text, o[0], seed, grid, 1), strict, "%s, seed %u: %s", o[0],
                     (unsigned)seed, body);
        differ += left_by_turns(text, "dab", seed, grid, 1) != strict;
    }
    cr_expect(differ * THINNED > 20, "only %u differ by the rule", differ);
}

static const char *const by_rule[] = {"dab", "dab:scheduler=gtar", "dab:scheduler=gtrr",
                                      "dab:scheduler=srr", "dab:level=warp"};
enum { RULES = sizeof by_rule / sizeof *by_rule };

/* Turns meet waits of other kinds: whose turn it is waits for one who waits for the turn. Scheduler 0 has warps 0 and
 * 4. Word 0 counts; word 1 has what was last in shared memory. */
static const struct {
    const char *name, *body;
    uint32_t cluster, count;
} crossing[] = {
    {"shared memory's turn is at an mbarrier",
     "setp.lt.u32 %p1, %r1, 32; @%p1 bra waits;\n"
     "atom.shared.exch.b32 %s2, [sum], %r1; atom.shared.exch.b32 %s2, [sum], %r1;\n"
     "mbarrier.arrive.shared.b64 %x1, [%s1]; ret;\n"
     "waits: mbarrier.try_wait.parity.shared.b64 %p1, [%s1], 0; @!%p1 bra waits;\n"
     "red.global.add.u32 [%d1], 1; ld.shared.u32 %s3, [sum]; st.global.u32 [%d1+4], %s3;",
     1, 64},
    {"shared memory's turn is at the cluster's barrier",
     "setp.lt.u32 %p1, %r1, 32; @%p1 bra waits;\n"
     "atom.shared.exch.b32 %s2, [sum], %r1; atom.shared.exch.b32 %s2, [sum], %r1;\n"
     "waits: barrier.cluster.arrive; barrier.cluster.wait; red.global.add.u32 [%d1], 1;\n"
     "ld.shared.u32 %s3, [sum]; st.global.u32 [%d1+4], %s3;",
     2, 320},
    {"shared memory's turn is where the token is wanted",
     "setp.ge.u32 %p1, %r1, 128; @%p1 bra four; setp.ge.u32 %p1, %r1, 32; @%p1 ret;\n"
     "red.global.add.u32 [%d1], 1; red.global.add.u32 [%d1], 1;\n"
     "atom.shared.exch.b32 %s2, [sum], %r1; ret;\n"
     "four: atom.shared.exch.b32 %s2, [sum], %r1; red.global.add.u32 [%d1], 1;\n"
     "red.global.add.u32 [%d1+4], 0;",
     1, 192},
    {"the token is at an mbarrier",
     "setp.lt.u32 %p1, %r1, 32; @%p1 bra waits; setp.lt.u32 %p1, %r1, 128; @%p1 ret;\n"
     "red.global.add.u32 [%d1], 1; red.global.add.u32 [%d1], 1;\n"
     "mbarrier.arrive.shared.b64 %x1, [%s1]; ret;\n"
     "waits: mbarrier.try_wait.parity.shared.b64 %p1, [%s1], 0; @!%p1 bra waits;\n"
     "red.global.add.u32 [%d1], 1;",
     1, 192},
    {"the token is at the cluster's barrier",
     "setp.lt.u32 %p1, %r1, 128; @%p1 bra waits;\n"
     "red.global.add.u32 [%d1], 1; red.global.add.u32 [%d1], 1;\n"
     "waits: barrier.cluster.arrive; barrier.cluster.wait; red.global.add.u32 [%d1], 1;",
     2, 448},
};

Test(dab, goes_on_where_turns_and_waits_cross, .timeout = 120)
{
    for (size_t i = 0; i < sizeof crossing / sizeof *crossing; i++) {
        char body[3000];
        const uint32_t block = i ? 160 : 64;
        snprintf(body, sizeof body, "%s%s%s ret;", MIXED,
                 FIRST("made") "mbarrier.init.shared.b64 [%s1], 32; made: bar.sync 0;\n",
                 crossing[i].body);
        const char *text = emu_ptx(".param .u64 p", body);
        for (size_t o = 0; o < RULES; o++) {
            uint32_t last = 0;
            for (uint64_t seed = 1; seed <= 4; seed++) {
                const struct outcome got = run_clusters(text, by_rule[o], seed, 2, block,
                                                        crossing[i].cluster);
                cr_assert_eq(got.words[0], crossing[i].count, "%s, %s: %u", crossing[i].name,
                             by_rule[o], got.words[0]);
                if (seed == 1) last = got.words[1];
                cr_assert_eq(got.words[1], last, "%s, %s", crossing[i].name, by_rule[o]);
            }
        }
    }
}

/* Lanes of one atomic access shared and global memory, and the next one shared memory alone. */
Test(dab, orders_shared_memory_beside_global, .timeout = 120)
{
    static const char *const kinds[] = {"atom.exch.b32 %r6, [%d2], %r1;\n",
                                        "atom.add.f32 %f1, [%d2], %f2; mov.b32 %r6, %f1;\n",
                                        "red.add.f32 [%d2], %f2;\n"};
    static const char form[] =
        ".shared .b32 cell; mov.u64 %%d3, cell; cvta.shared.u64 %%d3, %%d3; and.b32 %%r4, %%r1, 31;\n"
        "setp.lt.u32 %%p1, %%r4, 20; add.u64 %%d0, %%d1, 128; selp.b64 %%d2, %%d3, %%d0, %%p1;\n"
        "mad.lo.u32 %%r5, %%r2, 977, %%r1; cvt.rn.f32.u32 %%f2, %%r5; mul.f32 %%f2, %%f2, 0f3dcccccd;\n"
        "mov.u32 %%r6, 0; setp.ne.u32 %%p2, %%r1, 0; @!%%p2 st.shared.u32 [cell], 0; bar.sync 0;\n"
        "again: %s mad.lo.u32 %%r6, %%r6, %%r5, 1; red.global.add.u32 [%%d1], %%r6;\n"
        "atom.shared.add.f32 %%f1, [cell], %%f2; mov.b32 %%r6, %%f1; mad.lo.u32 %%r6, %%r6, %%r5, 3;\n"
        "red.global.add.u32 [%%d1+4], %%r6; add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p2, %%r3, 3; @%%p2 bra again; ret;";
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < RULES; i++) {
            char body[3000];
            const int n = snprintf(body, sizeof body, "%s", HEAD);
            snprintf(body + n, sizeof body - (size_t)n, form, kinds[k]);
            const char *text = emu_ptx(".param .u64 p", body);
            const uint64_t first = left_by_turns(text, by_rule[i], 1, 6, 1);
            for (uint64_t seed = 2; seed <= 8; seed++)
                cr_expect_eq(left_by_turns(text, by_rule[i], seed, 6, 1), first, "%s: %s",
                             by_rule[i], kinds[k]);
        }
}

/* Clusters that end soon: others are in their own slots all the same, and have their turns there. */
Test(dab, puts_clusters_where_they_are_dealt_to, .timeout = 120)
{
    const char *text = emu_ptx(".param .u64 p",
                               ".reg .b64 %d<2>; .reg .b32 %r<2>; ld.param.u64 %d1, [p];\n"
                               "barrier.cluster.arrive; barrier.cluster.wait;\n"
                               "red.global.add.u32 [%d1], 1; ret;");
    for (uint64_t seed = 1; seed <= 20; seed++)
        cr_assert_eq(run_clusters(text, "dab", seed, 12, 64, 2).words[0], 768, "seed %d",
                     (int)seed);
}

/* Many more than there are slots for. */
Test(dab, takes_as_many_ctas_as_come, .timeout = 120)
{
    const char *text = emu_ptx(
        ".param .u64 p",
        ".reg .b64 %d<2>; ld.param.u64 %d1, [p]; red.global.add.u32 [%d1], 1; ret;");
    cr_expect_eq(run(text, "dab", 1, 4000, 32).words[0], 128000);
    cr_expect_eq(run(text, "dab:distribution=any", 1, 4000, 32).words[0], 128000);
    cr_expect_eq(run_clusters(text, "dab", 1, 4000, 32, 2).words[0], 128000);
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
        {"dab:offset=on:entries=32", "entries=33"},
        {"dab:reorder=off:queue=l2", "leave out one of them"},
        {"dab:overlap=on", "add reorder=off"},
        {"dab:independent=on", "add reorder=off"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *why = orders_check(rows[i].order, NULL);
        cr_expect(why && strstr(why, rows[i].why), "%s: %s", rows[i].order, why ? why : "nothing");
        free(why);
    }
    cr_expect_null(orders_check("dab:reorder=off:overlap=on:independent=on", NULL));
    cr_expect_null(orders_check("dab:offset=on:entries=33:queue=l2", NULL));
}

/* Five warps draw numbers, one after the other; then 0 adds 2^24 and -2^24, and 4, of the same scheduler, one twice. In
 * turn that is 1. It was 2 if 0 came to its second before 4 had drawn. */
Test(dab, waits_for_those_whose_atomics_are_done_in_order)
{
    static const char *const orders[] = {"dab", "dab:scheduler=gtar", "dab:fusion=off"};
    const char *text = emu_ptx(
        ".param .u64 p", HEAD
        "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 ret;\n"
        "mul.wide.u32 %d2, %r1, 4; shr.u64 %d2, %d2, 5; add.u64 %d2, %d2, %d1;\n"
        "atom.global.add.u32 %r5, [%d1+4], 1; st.global.u32 [%d2+8], %r5;\n"
        "setp.eq.u32 %p1, %r1, 0; @%p1 bra first; setp.ne.u32 %p1, %r1, 128; @%p1 ret;\n" ADD(ONE)
            ADD(ONE) "ret; first: " ADD(BIG) ADD(MINUS_BIG) "ret;");
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            const struct outcome o = run(text, orders[i], seed, 1, 160);
            cr_expect_eq(sum_of(&o), 1, "%s: %g", orders[i], (double)sum_of(&o));
            for (uint32_t w = 0; w < 5; w++) cr_expect_eq(o.words[2 + w], w);
        }
}
