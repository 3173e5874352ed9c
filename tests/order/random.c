/* The order that stands for today's GPU: what it may show, and what not (determinism/random.h). */
#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 64, SEEDS = 400 };

/* A device with one kernel of a buffer, launched again and again. */
struct bench {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *m;
    struct emu *e;
    struct emu_image *im;
    uint64_t at;
    uint32_t block; /* threads of a CTA; 0: one */
};

static void set_up(struct bench *b, const char *body)
{
    const char *text = emu_ptx(".param .u64 p", body);
    *b = (struct bench){.arena = arena_new(), .source = {"test.ptx", text, (uint32_t)strlen(text)}};
    b->diags = (struct diags){.arena = b->arena, .source = &b->source};
    b->m = ptx_module_parse(b->arena, &b->source, &b->diags);
    cr_assert(ptx_module_check(b->m));
    b->e = emu_new(&(struct emu_config){.max_instructions = 1000000, .sms = 4});
    char *why = NULL;
    b->im = emu_load(b->e, &b->m, 1, &why);
    cr_assert(b->im, "%s", why);
    b->at = emu_alloc(b->e, WORDS * 4, "buffer");
}

static void tear_down(struct bench *b)
{
    emu_unload(b->im);
    emu_free(b->e);
    ptx_module_end(b->m);
    arena_free(b->arena);
}

/* One launch, of what stands in `words` and leaves there what it left. */
static const struct emu_report *launch(struct bench *b, struct orders *r, uint32_t grid,
                                       uint32_t words[WORDS])
{
    emu_copy_in(b->e, b->at, words, WORDS * 4);
    struct emu_launch l = {.grid = {grid, 1, 1},
                           .block = {b->block ? b->block : 1, 1, 1},
                           .params = &b->at,
                           .params_size = 8,
                           .order = orders_get(r)};
    const struct emu_report *report = emu_launch(b->e, emu_kernel_at(b->im, 0), &l);
    emu_copy_out(b->e, words, b->at, WORDS * 4);
    return report;
}

/* One launch on zeros. */
static void run(struct bench *b, const char *order, uint64_t seed, uint32_t grid,
                uint32_t words[WORDS])
{
    char *why;
    struct orders *r = orders_new(order, seed, &why);
    cr_assert(r, "%s", why);
    memset(words, 0, WORDS * 4);
    const struct emu_report *report = launch(b, r, grid, words);
    cr_assert_eq(report->fault.kind, EMU_OK, "%s", report->fault.text);
    orders_free(r);
}

/* CTA 0: x = 1; FENCE; y = 1. CTA 1: r1 = y; FENCE; r2 = x. x at 0, y at 128 bytes, r1 and r2 at 4 and 8. CTA 1
 * has looked at both before. */
#define HEAD                                                                                       \
    ".reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"                                        \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0;\n"
#define PASSING(LD, FENCE)                                                                         \
    HEAD                                                                                           \
        "@!%p1 bra reader; mov.u32 %r2, 1;\n"                                                      \
        "st.global.u32 [%d1], %r2; " FENCE " st.volatile.global.u32 [%d1+128], %r2; ret;\n"        \
        "reader: " LD ".global.u32 %r6, [%d1]; ld.volatile.global.u32 %r3, [%d1+128]; " FENCE      \
        " " LD ".global.u32 %r4, [%d1];\n"                                                         \
        "st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4; st.global.u32 [%d1+12], %r6; ret;"
/* Each stores to its own and reads the other's. */
#define BUFFERING(FENCE)                                                                             \
    HEAD                                                                                             \
        "shl.b32 %r2, %r1, 7; cvt.u64.u32 %d2, %r2; add.u64 %d2, %d2, %d1; xor.b32 %r3, %r2, 128;\n" \
        "cvt.u64.u32 %d3, %r3; add.u64 %d3, %d3, %d1; mov.u32 %r4, 1;\n"                             \
        "st.volatile.global.u32 [%d2], %r4; " FENCE " ld.volatile.global.u32 %r5, [%d3];\n"          \
        "st.global.u32 [%d2+4], %r5; ret;"

struct outcomes {
    unsigned count[2][2]; /* r1, r2 */
};

static struct outcomes passing(const char *body, const char *order)
{
    struct bench b;
    struct outcomes seen = {0};
    uint32_t w[WORDS];
    set_up(&b, body);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&b, order, seed, 2, w);
        cr_assert(w[0] == 1 && w[32] == 1 && w[1] < 2 && w[2] < 2);
        seen.count[w[1]][w[2]]++;
    }
    tear_down(&b);
    return seen;
}

#define FENCE_GL "fence.acq_rel.gpu;"

/* Message passing: without fences the flag may be there before the data, by a late store alone and by an old
 * read alone; with fences never. */
Test(random_order, shows_that_a_fence_is_missing)
{
    struct outcomes s = passing(PASSING("ld", ""), "random");
    cr_expect(s.count[0][0] && s.count[0][1] && s.count[1][1]);
    cr_expect(s.count[1][0] > SEEDS / 50, "%u", s.count[1][0]);
    s = passing(PASSING("ld", ""), "random:stale-loads=off");
    cr_expect(s.count[1][0] > 0, "stores are late");
    s = passing(PASSING("ld", ""), "random:late-stores=off");
    cr_expect(s.count[1][0] > 0, "reads are old");
    s = passing(PASSING("ld", ""), "random:late-stores=off:stale-loads=off");
    cr_expect(s.count[1][0] == 0, "%u: sequentially consistent", s.count[1][0]);
    s = passing(PASSING("ld.volatile", ""), "random:late-stores=off:stale-strong=off");
    cr_expect(s.count[1][0] == 0, "strong reads are not old");
    s = passing(PASSING("ld.volatile", ""), "random:late-stores=off");
    cr_expect(s.count[1][0] > 0, "strong reads are old");
}

Test(random_order, keeps_what_fences_promise)
{
    static const char *const orders[] = {"random",
                                         "random:strategy=uniform",
                                         "random:strategy=pct",
                                         "random:strategy=bursty",
                                         "random:strategy=lag",
                                         "random:strategy=farthest"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct outcomes s = passing(PASSING("ld", FENCE_GL), orders[i]);
        cr_expect_eq(s.count[1][0], 0, "%s: %u", orders[i], s.count[1][0]);
        cr_expect(s.count[0][0] && s.count[1][1], "%s", orders[i]);
    }
}

/* Store buffering: both may read zero unless there is a fence. */
static unsigned both_zero(const char *body)
{
    struct bench b;
    uint32_t w[WORDS];
    unsigned n = 0;
    set_up(&b, body);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&b, "random", seed, 2, w);
        n += !w[1] && !w[33];
    }
    tear_down(&b);
    return n;
}

Test(random_order, buffers_stores)
{
    cr_expect(both_zero(BUFFERING("")) > 0);
    cr_expect_eq(both_zero(BUFFERING("fence.sc.gpu;")), 0);
    cr_expect_eq(both_zero(BUFFERING("membar.gl;")), 0);
    cr_expect(both_zero(BUFFERING("fence.acq_rel.gpu;")) > 0,
              "it does not order a load behind a store");
}

/* Two stores ahead of a fence may become visible in any order, and one behind it after both, relaxed or an atomic. */
Test(random_order, keeps_stores_ahead_of_a_fence_ahead)
{
    static const char *const flags[] = {
        "st.global.u32 [%d1+160], 1; st.global.u32 [%d1+192], 1; st.global.u32 [%d1+224], 1; st.relaxed.gpu.global.u32 [%d1+128], %r2;",
        "red.relaxed.gpu.global.add.u32 [%d1+128], 1;",
        "atom.relaxed.gpu.global.exch.b32 %r7, [%d1+128], %r2;",
        "st.relaxed.gpu.global.u32 [%d1+192], %r2; fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d1+128], %r2;",
    };
    unsigned differing = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct bench b;
        char body[1024];
        uint32_t w[WORDS];
        unsigned seen = 0;
        snprintf(body, sizeof body, "%s%s%s",
                 HEAD "@!%p1 bra reader; mov.u32 %r2, 1; st.global.u32 [%d1], %r2;\n"
                      "st.global.u32 [%d1+64], %r2; fence.acq_rel.gpu; ",
                 flags[i],
                 " ret;\nreader: ld.volatile.global.u32 %r3, [%d1+128]; fence.acq_rel.gpu;\n"
                 "ld.volatile.global.u32 %r4, [%d1]; ld.volatile.global.u32 %r5, [%d1+64];\n"
                 "st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4;\n"
                 "st.global.u32 [%d1+12], %r5; ret;");
        set_up(&b, body);
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            run(&b, "random", seed, 2, w);
            seen += w[1];
            differing += w[2] != w[3];
            cr_expect(!w[1] || (w[2] && w[3]), "%s: seed %u", flags[i], (unsigned)seed);
        }
        cr_expect(seen > 0, "%s", flags[i]);
        tear_down(&b);
    }
    cr_expect(differing > 0);
}

/* The same where the flag is in shared memory, which knows no late stores: two warps of a CTA. */
Test(random_order, keeps_stores_ahead_of_a_shared_flag)
{
    struct bench b;
    uint32_t w[WORDS];
    unsigned seen = 0;
    set_up(&b, ".shared .b32 flag; .reg .b64 %d<4>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
               "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32;\n"
               "st.volatile.shared.u32 [flag], 0; bar.sync 0; @%p1 bra reader;\n"
               "st.global.u32 [%d1], 1; fence.acq_rel.cta; st.volatile.shared.u32 [flag], 1; ret;\n"
               "reader: ld.volatile.shared.u32 %r3, [flag]; fence.acq_rel.cta;\n"
               "ld.volatile.global.u32 %r4, [%d1];\n"
               "st.global.u32 [%d1+4], %r3; st.global.u32 [%d1+8], %r4; ret;");
    b.block = 64;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&b, "random", seed, 1, w);
        seen += w[1];
        cr_expect(!w[1] || w[2], "seed %u", (unsigned)seed);
    }
    cr_expect(seen > 0);
    tear_down(&b);
}

/* A thread sees its own stores, in order, wherever they wait. */
Test(random_order, a_thread_sees_its_own_stores)
{
    struct bench b;
    uint32_t w[WORDS];
    set_up(
        &b, HEAD
        "mov.u32 %r2, 0x01020304; st.global.u32 [%d1], %r2; mov.u32 %r3, 9;\n"
        "st.global.u8 [%d1+1], %r3; st.global.u16 [%d1+2], %r3; ld.global.u32 %r4, [%d1];\n"
        "st.global.u32 [%d1+64], %r4; ld.global.u32 %r5, [%d1+64];\n"
        "atom.global.add.u32 %r6, [%d1], 1; add.u32 %r5, %r5, %r6; st.global.u32 [%d1+96], %r5; ret;");
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&b, "random", seed, 1, w);
        cr_assert_eq(w[0], 0x00090905, "seed %u: %x", (unsigned)seed, w[0]);
        cr_assert_eq(w[16], 0x00090904, "seed %u: %x", (unsigned)seed, w[16]);
        cr_assert_eq(w[24], 2 * 0x00090904, "seed %u: %x", (unsigned)seed, w[24]);
    }
    tear_down(&b);
}

/* Who draws which ticket: many answers, but one by seed. */
Test(random_order, is_decided_by_the_seed)
{
    struct bench b;
    uint32_t first[SEEDS][WORDS], again[WORDS];
    unsigned different = 0;
    set_up(&b, HEAD
           "atom.global.add.u32 %r2, [%d1], 1; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d2, %d1;\n"
           "st.global.u32 [%d2+4], %r1; ret;");
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        run(&b, "random", seed, 32, first[seed]);
        run(&b, "random", seed, 32, again);
        cr_assert(!memcmp(first[seed], again, sizeof again), "seed %u", seed);
        unsigned s = 0;
        while (s < seed && memcmp(first[s], first[seed], sizeof again) != 0) s++;
        different += s == seed;
    }
    cr_expect(different > SEEDS * 9 / 10, "%u", different);
    tear_down(&b);
}

/* What a launch has read is not old in the next one, and what a failed one has not made visible is gone. Both CTAs
 * copy word 0; where it is 9, they store to words that no other launch stores to, and fail. */
Test(random_order, launches_begin_afresh)
{
    struct bench b;
    unsigned late = 0;
    set_up(&b, HEAD "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; ld.global.u32 %r2, [%d1];\n"
                    "st.global.u32 [%d2+4], %r2; setp.eq.u32 %p1, %r2, 9;\n"
                    "@%p1 st.global.u32 [%d2+12], %r2; @%p1 trap; ret;");
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        char *why;
        struct orders *r = orders_new("random", seed, &why);
        cr_assert(r, "%s", why);
        for (uint32_t n = 1; n < 12; n++) {
            uint32_t w[WORDS] = {n};
            const bool failed = launch(&b, r, 2, w)->fault.kind != EMU_OK;
            cr_assert_eq(failed, n == 9);
            late += failed && !w[3] && !w[4];
            cr_assert(failed || (w[1] == n && w[2] == n && !w[3] && !w[4]),
                      "seed %u, launch %u: %u %u %u %u", (unsigned)seed, n, w[1], w[2], w[3], w[4]);
        }
        orders_free(r);
    }
    cr_expect(late > 0);
    tear_down(&b);
}

/* CTAs are let in a few at a time, but the first may still see what the last does. */
Test(random_order, the_first_cta_meets_the_last)
{
    enum { CTAS = 128 };
    struct bench b;
    uint32_t w[WORDS];
    unsigned met = 0;
    set_up(&b,
           HEAD "mov.u32 %r2, 1; setp.eq.u32 %p2, %r1, 127; @%p2 st.global.u32 [%d1], %r2;\n"
                "@%p1 ld.volatile.global.u32 %r3, [%d1]; @%p1 st.global.u32 [%d1+4], %r3; ret;");
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&b, "random", seed, CTAS, w);
        met += w[1];
    }
    cr_expect(met > SEEDS / 50 && met < SEEDS, "%u", met);
    tear_down(&b);
}

/* A strong read that sees a write orders it before the thread's later plain reads (causality order: observation, then
 * program order), and a barrier carries that to the other warps of the CTA. `block` 64: the last read is by warp 1. */
static void expect_no_way_back(const char *body, uint32_t block)
{
    struct bench b;
    uint32_t w[WORDS];
    unsigned seen = 0;
    set_up(&b, body);
    b.block = block;
    for (uint64_t seed = 1; seed <= 3 * SEEDS; seed++) {
        run(&b, "random", seed, 2, w);
        seen += !w[32] && w[33];
        cr_expect(!w[33] || w[34], "seed %u: %u %u %u", (unsigned)seed, w[32], w[33], w[34]);
    }
    cr_expect(seen > 0);
    tear_down(&b);
}

Test(random_order, a_plain_read_does_not_go_back_behind_a_strong_one)
{
    expect_no_way_back(HEAD "@%p1 bra writer; ld.weak.global.u32 %r2, [%d1];\n"
                            "ld.relaxed.gpu.global.u32 %r3, [%d1]; ld.weak.global.u32 %r4, [%d1];\n"
                            "st.global.u32 [%d1+128], %r2; st.global.u32 [%d1+132], %r3;\n"
                            "st.global.u32 [%d1+136], %r4; ret;\n"
                            "writer: st.relaxed.gpu.global.u32 [%d1], 1; ret;",
                       1);
    expect_no_way_back(
        HEAD "@%p1 bra writer; mov.u32 %r5, %tid.x; setp.ge.u32 %p2, %r5, 32;\n"
             "@!%p2 ld.weak.global.u32 %r2, [%d1];\n"
             "@!%p2 ld.relaxed.gpu.global.u32 %r3, [%d1]; bar.sync 0;\n"
             "@%p2 ld.weak.global.u32 %r4, [%d1]; @%p2 st.global.u32 [%d1+136], %r4;\n"
             "@!%p2 st.global.u32 [%d1+128], %r2; @!%p2 st.global.u32 [%d1+132], %r3; ret;\n"
             "writer: setp.ne.u32 %p2, %r1, 0; mov.u32 %r5, %tid.x;\n"
             "setp.eq.u32 %p2, %r5, 0; @%p2 st.relaxed.gpu.global.u32 [%d1], 1; ret;",
        64);
}

/* Eight warps each add 1 to one word of shared memory by a plain load and a plain store: updates are lost. */
Test(random_order, plain_updates_of_shared_memory_are_lost)
{
    static const char *const orders[] = {"random", "random:late-stores=off:stale-loads=off"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct bench b;
        uint32_t w[WORDS];
        unsigned lost = 0, all = 0;
        set_up(&b,
               HEAD ".shared .u32 n; mov.u32 %r2, %tid.x; and.b32 %r3, %r2, 31;\n"
                    "setp.ne.u32 %p2, %r3, 0; @%p2 bra done; st.shared.u32 [n], 0; bar.sync 0;\n"
                    "ld.shared.u32 %r4, [n]; add.u32 %r4, %r4, 1; st.shared.u32 [n], %r4;\n"
                    "bar.sync 0; ld.shared.u32 %r5, [n]; st.global.u32 [%d1], %r5;\ndone: ret;");
        b.block = 256;
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            run(&b, orders[i], seed, 1, w);
            cr_assert(w[0] >= 1 && w[0] <= 8, "%u", w[0]);
            lost += w[0] < 8;
            all += w[0] == 8;
        }
        cr_expect(lost > SEEDS / 20, "%s: %u", orders[i], lost);
        cr_expect(i == 0 || all > 0, "%s", orders[i]);
        tear_down(&b);
    }
}

/* The flag is 1, then 2. CTA 1 sees the 1 or it does not; how often makes no difference. */
Test(random_order, what_is_polled_counts_once_as_an_execution)
{
    struct bench b;
    uint64_t seen[WORDS];
    unsigned count = 0;
    set_up(&b, HEAD "@!%p1 bra reader; st.volatile.global.u32 [%d1], 1;\n"
                    "st.volatile.global.u32 [%d1], 2; ret;\n"
                    "reader: ld.volatile.global.u32 %r3, [%d1]; setp.ne.u32 %p2, %r3, 2;\n"
                    "@%p2 bra reader; ret;");
    for (uint64_t seed = 1; seed <= 200 && count < WORDS; seed++) {
        char *why;
        uint32_t w[WORDS] = {0};
        struct orders *r = orders_new("random", seed, &why);
        cr_assert_eq(launch(&b, r, 2, w)->fault.kind, EMU_OK);
        const uint64_t execution = orders_execution(orders_get(r));
        unsigned i = 0;
        while (i < count && seen[i] != execution) i++;
        if (i == count) seen[count++] = execution;
        orders_free(r);
    }
    cr_expect_eq(count, 2, "%u", count);
    tear_down(&b);
}
