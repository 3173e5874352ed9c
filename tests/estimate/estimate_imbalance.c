/* Estimates of launches whose warps do different amounts of work, or different things one after another. The bounds are
 * chains of loads: each takes the latency of the GPU's configuration at least, whatever else runs. */
#include "emu/trace.h"
#include "tests/support/timed_kernel.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

/* Warp 0 of the CTA q >> 32 makes as many loads as q says, each of the address that the one before loaded; they hit in
 * L1, but for the first. All other warps make one. */
static const char one_long_warp[] =
    ".reg .u64 %a, %q, %h; .reg .u32 %t, %c, %x, %i, %n, %v; .reg .pred %p, %r;"
    "ld.param.u64 %a, [p]; ld.param.u64 %q, [q]; cvt.u32.u64 %n, %q; shr.u64 %h, %q, 32;"
    "cvt.u32.u64 %x, %h; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %i, 0;"
    "setp.ne.u32 %p, %c, %x; setp.ge.u32 %r, %t, 32; or.pred %p, %p, %r; @%p mov.u32 %n, 1;"
    "L: ld.global.u32 %v, [%a]; cvt.u64.u32 %h, %v; add.u64 %a, %a, %h;"
    "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %n; @%p bra L; st.global.u32 [%a], %v; ret;";

Test(imbalance, one_long_warp_takes_the_time_of_its_chain)
{
    static const char *const names[] = {"titanv", "gtx480", "a100"};
    static const uint32_t grids[] = {8, 64, 512, 4096};
    enum { LOADS = 2000 };
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(names[g]);
        struct kernel k = kernel_new(one_long_warp, gpu);
        const double least = LOADS * gpu->l1_latency;
        for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
            const uint32_t last = grids[i] - 1, places[] = {0, last / 2, last};
            const double others = cycles(&k, grids[i], 256, 0, 1);
            double first = 0;
            for (size_t at = 0; at < 3; at++) {
                const double took = cycles(&k, grids[i], 256, 0,
                                           (uint64_t)places[at] << 32 | LOADS);
                cr_expect(took >= least, "%s, %u CTAs, CTA %u: %g cycles, the chain takes %g",
                          names[g], grids[i], places[at], took, least);
                if (!at) first = took;
                cr_expect(fabs(took - first) <= 0.05 * first + others,
                          "%s, %u CTAs, CTA %u: %g cycles, at the first place %g", names[g],
                          grids[i], places[at], took, first);
            }
        }
        kernel_free(&k);
    }
}

/* Twice the loads in the long warp take twice the time of its chain. */
Test(imbalance, more_work_in_one_cta_never_takes_less)
{
    struct kernel k = kernel_new(one_long_warp, emu_gpu_find("titanv"));
    (void)cycles(&k, 4096, 256, 0, 1);
    double last = 0;
    for (uint64_t loads = 1; loads <= 1 << 17; loads *= 2) {
        const double took = cycles(&k, 4096, 256, 0, (uint64_t)77 << 32 | loads);
        cr_expect(took >= last * 0.99, "%d loads take %g cycles, half as many %g", (int)loads, took,
                  last);
        cr_expect(loads < 4096 || took < 2.1 * last, "%d loads: %g and %g", (int)loads, took, last);
        last = took;
    }
    kernel_free(&k);
}

/* 256 threads fill q words, with a remainder each, so that most of the instructions are in the first phase. Then thread
 * 0 makes 2,000 loads from L2 in a chain. */
static const char fill_then_chase[] =
    ".reg .u64 %a, %b, %h; .reg .u32 %t, %n, %i, %v; .reg .pred %p;"
    "ld.param.u64 %a, [p]; ld.param.u32 %n, [q]; mov.u32 %t, %tid.x; mov.u32 %i, %t;"
    "F: mul.wide.u32 %h, %i, 4; add.u64 %b, %a, %h; mov.u32 %v, 0; st.global.u32 [%b], %v;"
    "add.u32 %i, %i, 256; setp.lt.u32 %p, %i, %n; @%p bra F;"
    "bar.sync 0; setp.ne.u32 %p, %t, 0; @%p bra E; mov.u32 %i, 0;"
    "C: ld.global.cg.u32 %v, [%a]; cvt.u64.u32 %h, %v; add.u64 %a, %a, %h;"
    "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 2000; @%p bra C; st.global.u32 [%a], %v;"
    "E: ret;";

Test(imbalance, a_serial_tail_is_not_lost)
{
    static const char *const names[] = {"titanv", "gtx480", "a100"};
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(names[g]);
        struct kernel k = kernel_new(fill_then_chase, gpu);
        const double least = 2000 * gpu->l2_latency * 0.85; /* fits have shorter ones */
        double last = 0;
        for (uint64_t words = 1 << 18; words <= 1 << 24; words *= 4) {
            const double took = cycles(&k, 1, 256, 0, words);
            cr_expect(took >= least, "%s, %d words: %g cycles, the chain takes %g", names[g],
                      (int)words, took, least);
            cr_expect(took >= last * 0.99, "%s, %d words: %g cycles, fewer take %g", names[g],
                      (int)words, took, last);
            last = took;
        }
        kernel_free(&k);
    }
}

/* 512 CTAs of 8 warps: in each turn one of the warps runs through a chain of additions, then all meet at a barrier. */
static const char phases_of_all_warps[] =
    ".reg .u32 %t, %w, %e, %n, %i, %v; .reg .u64 %a; .reg .pred %p;"
    "ld.param.u64 %a, [p]; ld.param.u32 %n, [q]; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5;"
    "mov.u32 %e, 0; mov.u32 %v, 0;"
    "L: and.b32 %i, %e, 7; setp.ne.u32 %p, %i, %w; @%p bra B; mov.u32 %i, 0;"
    "C: add.u32 %v, %v, %t; add.u32 %v, %v, %i; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 16; @%p bra C;"
    "B: bar.sync 0; add.u32 %e, %e, 1; setp.lt.u32 %p, %e, %n; @%p bra L;"
    "st.global.u32 [%a], %v; ret;";

Test(imbalance, warps_with_barriers_are_executed_to_their_end)
{
    struct kernel k = kernel_new(phases_of_all_warps, emu_gpu_find("titanv"));
    double last = 0;
    for (uint64_t turns = 8; turns <= (SANITIZED ? 64 : 512); turns *= 2) {
        const double took = cycles(&k, 512, 256, 0, turns);
        cr_expect(took >= last * 0.99, "%d turns take %g cycles, fewer %g", (int)turns, took, last);
        last = took;
    }
    kernel_free(&k);
}

/* Of a grid that is 16 CTAs wide, those of column q load 16 lines from memory, each thread its own and one after the other,
 * the others compute. */
static const char one_column_loads[] =
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %q, %i, %v; .reg .pred %p;"
    "ld.param.u64 %a, [p]; ld.param.u32 %q, [q]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;"
    "mov.u32 %n, %ntid.x; mad.lo.u32 %n, %c, %n, %t; and.b32 %n, %n, 0x3ffff; mul.wide.u32 %b, %n, 32;"
    "add.u64 %a, %a, %b; mov.u32 %i, 0; mov.u32 %v, %t; and.b32 %c, %c, 15; setp.ne.u32 %p, %c, %q;"
    "@%p bra C; L: ld.global.cg.u32 %v, [%a]; and.b32 %v, %v, 0; cvt.u64.u32 %b, %v;"
    "add.u64 %a, %a, %b; add.u64 %a, %a, 8388608; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 15; @%p bra L; bra E;"
    "C: mad.lo.u32 %v, %v, %v, %i; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 16; @%p bra C;"
    "E: st.global.u32 [%a], %v; ret;";

/* All columns are alike but for the one, whichever it is; 80 SMs are a multiple of 16. A sixteenth of about 120 traced CTAs
 * is 7 or 8 of them: one more or less changes what they take by a seventh. */
Test(imbalance, which_column_of_a_grid_is_long_makes_no_difference)
{
    static const char *const names[] = {"titanv", "a100"};
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        struct kernel k = kernel_new(one_column_loads, emu_gpu_find(names[g]));
        double least = HUGE_VAL, most = 0;
        for (uint64_t column = 0; column < 16; column += 3) {
            const double took = cycles(&k, 16 * 80, 256, 0, column);
            least = fmin(least, took), most = fmax(most, took);
        }
        cr_expect(most <= 1.2 * least, "%s: %g to %g cycles", names[g], least, most);
        kernel_free(&k);
    }
}

/* Each thread of q counts 4 times on one word. A slice carries out one lane's step after another. (Of a warp's additions
 * machine code makes one.) */
static const char one_hot_word[] = ".reg .u64 %a; ld.param.u64 %a, [p];"
                                   "red.global.inc.u32 [%a], 9; red.global.inc.u32 [%a], 9;"
                                   "red.global.inc.u32 [%a], 9; red.global.inc.u32 [%a], 9; ret;";

Test(imbalance, a_hot_word_is_as_slow_in_a_large_grid)
{
    static const char *const names[] = {"titanv", "gtx480", "a100"};
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        struct kernel k = kernel_new(one_hot_word, emu_gpu_find(names[g]));
        struct timing_machine m;
        double last = 0;
        (void)machine_of(emu_gpu_find(names[g]), &m);
        for (uint32_t grid = 64; grid <= 4096; grid *= 4) {
            const double took = cycles(&k, grid, 256, 0, 0),
                         least = grid * 256.0 * 4 * m.atomic.interval;
            cr_expect(took >= 0.98 * least, "%s, %u CTAs: %g cycles, the word takes %g", names[g],
                      grid, took, least);
            cr_expect(took >= last * 3.5, "%s, %u CTAs: %g cycles, a quarter takes %g", names[g],
                      grid, took, last);
            last = took;
        }
        kernel_free(&k);
    }
}

/* Each warp adds 4 times to its word of q words, one every 256 bytes. Several words share a slice of L2, which carries out one
 * addition after another. So twice the CTAs take twice as long, however many of them are traced. */
static const char hot_words[] =
    ".reg .u64 %a, %b; .reg .u32 %t, %c, %n, %w; ld.param.u64 %a, [p]; ld.param.u32 %w, [q];"
    "mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %c, %n, %t;"
    "shr.u32 %t, %t, 5; rem.u32 %t, %t, %w; mul.wide.u32 %b, %t, 256; add.u64 %a, %a, %b;"
    "red.global.add.u32 [%a], 1; red.global.add.u32 [%a], 1;"
    "red.global.add.u32 [%a], 1; red.global.add.u32 [%a], 1; ret;";

Test(imbalance, several_hot_words_are_as_slow_in_a_large_grid)
{
    static const char *const names[] = {"titanv", "a100", "gv100"};
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        struct kernel k = kernel_new(hot_words, emu_gpu_find(names[g]));
        for (uint64_t words = 8; words <= 32; words *= 2) {
            double last = 0;
            for (uint32_t grid = 128; grid <= 2048; grid *= 2) {
                const double took = cycles(&k, grid, 128, 0, words);
                cr_expect(last <= 0 || fabs(took / last - 2) <= 0.2,
                          "%s, %d words, %u CTAs: %g cycles, half of them take %g", names[g],
                          (int)words, grid, took, last);
                last = took;
            }
        }
        kernel_free(&k);
    }
}

/* All lanes try 8 times to exchange a value that the word does not have: nothing changes, and nobody waits for another
 * one's round trip. */
static const char failing_swaps[] =
    ".reg .u64 %a; .reg .u32 %v, %i; .reg .pred %p; ld.param.u64 %a, [p]; mov.u32 %i, 0;"
    "L: atom.global.cas.b32 %v, [%a], 7, 1; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 8; @%p bra L;"
    "st.global.u32 [%a+64], %v; ret;";
static const char adding_swaps[] =
    ".reg .u64 %a; .reg .u32 %v, %o, %n; .reg .pred %p; ld.param.u64 %a, [p];"
    "ld.global.cg.u32 %v, [%a]; L: mov.u32 %o, %v; add.u32 %n, %o, 1;"
    "atom.global.cas.b32 %v, [%a], %o, %n; setp.ne.u32 %p, %v, %o; @%p bra L; ret;";

Test(imbalance, only_swaps_that_succeed_wait_for_each_other)
{
    const struct emu_gpu *gpu = emu_gpu_find("titanv");
    enum { CTAS = 16 };
    struct kernel fail = kernel_new(failing_swaps, gpu), hot = kernel_new(one_hot_word, gpu),
                  add = kernel_new(adding_swaps, gpu);
    const double failing = cycles(&fail, CTAS, 256, 0, 0), plain = cycles(&hot, CTAS, 256, 0, 0),
                 adding = cycles(&add, CTAS, 32, 0, 0), least = CTAS * 32 * 0.85 * gpu->l2_latency;
    cr_expect(failing < 2.5 * plain, "8 swaps that fail take %g cycles, 4 additions %g", failing,
              plain);
    cr_expect(adding > least, "%g cycles, round trips one after another take %g", adding, least);
    kernel_free(&fail);
    kernel_free(&hot);
    kernel_free(&add);
}
/* Thread 0 of each CTA takes a lock, adds to a word in L2, waits for the sum to be there and releases the lock. */
#define ONE_LOCK(attempt)                                                                          \
    ".reg .u64 %a; .reg .u32 %v, %t; .reg .pred %p; ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;"     \
    "setp.ne.u32 %p, %t, 0; @%p ret;"                                                              \
    "L: " attempt "; setp.ne.u32 %p, %v, 0; @%p bra L;"                                            \
    "membar.gl; ld.volatile.global.u32 %v, [%a+512]; add.u32 %v, %v, 1;"                           \
    "st.volatile.global.u32 [%a+512], %v; membar.gl; atom.global.exch.b32 %v, [%a], 0; ret;"
static const char one_lock[] = ONE_LOCK("atom.global.cas.b32 %v, [%a], 0, 1"),
                  exchanged_lock[] = ONE_LOCK("atom.global.exch.b32 %v, [%a], 1");

/* The lock is tried in each round of a loop that goes on until the sum was added to. */
static const char tried_lock[] =
    ".reg .u64 %a; .reg .u32 %v, %t; .reg .pred %p; ld.param.u64 %a, [p]; mov.u32 %t, %tid.x;"
    "setp.ne.u32 %p, %t, 0; @%p ret;"
    "L: atom.global.exch.b32 %v, [%a], 1; setp.ne.u32 %p, %v, 0; @%p bra M;"
    "membar.gl; ld.volatile.global.u32 %v, [%a+512]; add.u32 %v, %v, 1; add.u32 %t, %t, 1;"
    "st.volatile.global.u32 [%a+512], %v; membar.gl; st.volatile.global.u32 [%a], 0;"
    "M: setp.eq.u32 %p, %t, 0; @%p bra L; ret;";

/* In the lock, a load, a store and the release go to L2 one after another, and the next one's swap does. */
static void expect_one_after_another(const char *body)
{
    static const char *const names[] = {"titanv", "a100", "gtx480"};
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(names[g]);
        struct kernel k = kernel_new(body, gpu);
        double last = 0;
        for (uint32_t grid = 16; grid <= 1024; grid *= 4) {
            const double took = cycles(&k, grid, 32, 0, 0), least = grid * 2.5 * gpu->l2_latency;
            cr_expect(took >= least, "%s, %u CTAs: %g cycles, the lock takes %g", names[g], grid,
                      took, least);
            cr_expect(took >= 3 * last, "%s, %u CTAs: %g cycles, a quarter %g", names[g], grid,
                      took, last);
            last = took;
        }
        kernel_free(&k);
    }
}

Test(imbalance, a_lock_is_held_by_one_warp_at_a_time)
{
    expect_one_after_another(one_lock);
}

/* In the emulator's order hardly any CTA finds the lock taken. */
Test(imbalance, a_lock_by_exchange_is_held_by_one_warp_at_a_time)
{
    expect_one_after_another(exchanged_lock);
    expect_one_after_another(tried_lock);
}

/* All lanes of each CTA have a word of their own, and exchange it. That is no lock, and no two wait for each other. */
Test(imbalance, exchanges_of_own_words_wait_for_nobody)
{
    struct kernel k = kernel_new(
        ".reg .u64 %a, %b; .reg .u32 %v, %t; .reg .pred %p; ld.param.u64 %a, [p]; mov.u32 %t, %ctaid.x;"
        "mul.wide.u32 %b, %t, 256; add.u64 %a, %a, %b; mov.u32 %t, %tid.x; mul.wide.u32 %b, %t, 4;"
        "add.u64 %a, %a, %b; L: atom.global.exch.b32 %v, [%a], 1; setp.ne.u32 %p, %v, 0; @%p bra L;"
        "st.volatile.global.u32 [%a], 0; ret;",
        emu_gpu_find("a100"));
    const double one = cycles(&k, 1, 32, 0, 0), many = cycles(&k, 64, 32, 0, 0);
    cr_expect(many <= 1.5 * one, "64 CTAs take %g cycles, one %g", many, one);
    kernel_free(&k);
}

/* n lanes contend for one lock: while one has it, the others try again and again, and each attempt keeps the lock's slice busy
 * for so long. Whoever holds the lock releases it behind one attempt of each of the r lanes that still wait, but for those that
 * are on their way meanwhile: n(n - 1)/2 attempts in all. In the lock, five instructions at most wait behind them: two fences, a
 * load, a store and the release. */
static void expect_attempts(const char *body)
{
    static const uint32_t lanes[] = {64, 1024, 2048};
    const struct emu_gpu *h200 = emu_gpu_find("h200");
    const double each = 1.45, trip = h200->atomic_latency;
    struct emu_gpu free = *h200;
    cr_assert(eq(dbl, h200->l2_attempt, each));
    free.l2_attempt = 0;
    struct kernel a = kernel_new(body, h200), b = kernel_new(body, &free);
    for (int i = 0; i < 3; i++) {
        const double n = lanes[i], all = each * n * (n - 1) / 2,
                     more = cycles(&a, lanes[i], 32, 0, 0) - cycles(&b, lanes[i], 32, 0, 0);
        if (n * each < trip) /* each is back before the last one of the others has arrived */
            cr_expect(more > -1e-6 && more < 1e-6, "%g lanes: %g cycles more", n, more);
        else
            cr_expect(more >= all - n * trip && more <= 5 * all,
                      "%g lanes: %g cycles more, attempts take %g", n, more, all);
    }
    kernel_free(&a);
    kernel_free(&b);
}

Test(imbalance, lanes_that_fail_to_take_a_lock_occupy_its_slice)
{
    expect_attempts(one_lock);
}

Test(imbalance, lanes_that_fail_to_exchange_a_lock_occupy_its_slice)
{
    expect_attempts(exchanged_lock);
}

/* The fit of this GPU has none of it, unless a file asks for it. */
Test(imbalance, attempts_are_switched_by_the_file_of_the_gpu)
{
    struct emu_gpu g = *emu_gpu_find("titanv");
    cr_assert(eq(dbl, g.l2_attempt, 0));
    struct kernel a = kernel_new(one_lock, &g);
    const double without = cycles(&a, 1024, 32, 0, 0);
    kernel_free(&a);
    g.l2_attempt = 2;
    struct kernel b = kernel_new(one_lock, &g);
    const double with = cycles(&b, 1024, 32, 0, 0);
    kernel_free(&b);
    cr_expect(with - without >= 2.0 * 1024 * 1023 / 2 - 1024 * g.atomic_latency,
              "%g cycles, without %g", with, without);
}

/* CTA c waits for a flag that CTA c - 1 stores after 200 multiplications of its own, of 4 cycles each at least. In the
 * emulator's order no CTA goes round the loop. */
static const char flags[] =
    ".reg .u64 %a, %h; .reg .u32 %v, %c, %i; .reg .pred %p; ld.param.u64 %a, [p]; mov.u32 %c, %ctaid.x;"
    "mul.wide.u32 %h, %c, 128; add.u64 %a, %a, %h; setp.eq.u32 %p, %c, 0; @%p bra FIRST;"
    "L: ld.volatile.global.u32 %v, [%a]; setp.eq.u32 %p, %v, 0; @%p bra L;"
    "FIRST: mov.u32 %i, 0; mov.u32 %v, %c;"
    "M: mad.lo.u32 %v, %v, %v, %i; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 200; @%p bra M;"
    "membar.gl; or.b32 %v, %v, 1; st.volatile.global.u32 [%a+128], %v; ret;";

/* Of a launch of so many CTAs of 32 threads. */
static const struct emu_counts *counts_of_grid(struct kernel *k, uint32_t grid)
{
    const struct emu_launch l = {.grid = {grid, 1, 1},
                                 .block = {32, 1, 1},
                                 .params = k->params,
                                 .params_size = sizeof k->params};
    const struct emu_report *r = emu_launch(k->emu, emu_kernel_at(k->image, 0), &l);
    cr_assert(r->fault.kind == EMU_OK, "%s", r->fault.text);
    return r->counts;
}

static struct launch_estimate estimate_of_grid(struct kernel *k, uint32_t grid)
{
    struct launch_estimate t;
    cr_assert(launch_estimate_of(counts_of_grid(k, grid), &t));
    return t;
}

/* Such a loop ends by any value but 0: which store has ended it is not known for sure, and a note says so. */
Test(imbalance, a_chain_of_flags_takes_the_time_of_all_that_wait)
{
    enum { CTAS = 16, LEAST = CTAS * 200 * 4 };
    struct kernel k = kernel_new(flags, emu_gpu_find("titanv"));
    const struct launch_estimate t = estimate_of_grid(&k, CTAS);
    const bool noted = t.warnings & LAUNCH_WAITS;
    cr_expect(noted);
    cr_expect(t.cycles >= LEAST, "%g cycles, %d are the least", t.cycles, LEAST);
    cr_expect(t.high >= 16 * t.cycles, "%g to %g cycles", t.low, t.high);
    kernel_free(&k);
}

/* CTA c has ticket c, or, in the order of `q`, another one of its own: it waits until the word is its ticket, makes four
 * loads from L2 one after another, and stores the next ticket. */
static const char tickets[] =
    ".reg .u64 %a, %b, %h; .reg .u32 %v, %c, %q; .reg .pred %p; ld.param.u64 %a, [p]; ld.param.u32 %q, [q];"
    "mov.u32 %c, %ctaid.x; xor.b32 %c, %c, %q;"
    "L: ld.volatile.global.u32 %v, [%a]; setp.ne.u32 %p, %v, %c; @%p bra L; add.u64 %b, %a, 4096;"
    "ld.volatile.global.u32 %v, [%b]; cvt.u64.u32 %h, %v; add.u64 %b, %b, %h;"
    "ld.volatile.global.u32 %v, [%b]; cvt.u64.u32 %h, %v; add.u64 %b, %b, %h;"
    "ld.volatile.global.u32 %v, [%b]; cvt.u64.u32 %h, %v; add.u64 %b, %b, %h;"
    "ld.volatile.global.u32 %v, [%b]; add.u32 %v, %v, %c; add.u32 %v, %v, 1;"
    "st.volatile.global.u32 [%a], %v; ret;";

/* One after another: the load that finds the ticket, and four more, each with the latency of L2. */
Test(imbalance, tickets_are_served_one_after_another)
{
    static const char *const names[] = {"titanv", "gv100", "h200"};
    static const uint64_t orders[] = {0, 1, 3, 63};
    enum { CTAS = 64 };
    for (size_t g = 0; g < sizeof names / sizeof *names; g++) {
        const struct emu_gpu *gpu = emu_gpu_find(names[g]);
        const double least = CTAS * 5 * gpu->l2_latency;
        double first = 0;
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
            struct kernel k = kernel_new(tickets, gpu);
            k.params[1] = orders[o];
            const struct launch_estimate t = estimate_of_grid(&k, CTAS);
            const bool noted = t.warnings & LAUNCH_WAITS;
            cr_expect(noted);
            cr_expect(t.cycles >= least && t.cycles <= 2 * least,
                      "%s, order %d: %g cycles, the loads take %g", names[g], (int)orders[o],
                      t.cycles, least);
            if (!o) first = t.cycles;
            cr_expect(fabs(t.cycles - first) <= 0.05 * first, "%s, order %d: %g cycles and %g",
                      names[g], (int)orders[o], t.cycles, first);
            cr_expect(t.high < 16 * t.cycles, "%g to %g cycles", t.low, t.high);
            kernel_free(&k);
        }
    }
}

/* Two CTAs: the second one makes step i when the first has made its own; each step has 200 multiplications. In the emulator the
 * first one makes all its steps at once. `q`: steps. */
static const char steps[] =
    ".reg .u64 %a; .reg .u32 %v, %c, %i, %n, %k; .reg .pred %p, %f; ld.param.u64 %a, [p]; ld.param.u32 %n, [q];"
    "mov.u32 %c, %ctaid.x; setp.eq.u32 %f, %c, 0; mov.u32 %k, 0;"
    "S: add.u32 %k, %k, 1; @%f bra WORK;"
    "L: ld.volatile.global.u32 %v, [%a]; setp.lt.u32 %p, %v, %k; @%p bra L;"
    "WORK: mov.u32 %i, 0; mov.u32 %v, %c;"
    "M: mad.lo.u32 %v, %v, %v, %i; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 200; @%p bra M;"
    "membar.gl; @%f st.volatile.global.u32 [%a], %k; setp.lt.u32 %p, %k, %n; @%p bra S;"
    "st.global.u32 [%a+512], %v; ret;";

/* The second CTA is one step behind: the time is that of one CTA and one step more, neither of one alone nor of both one
 * after another. */
Test(imbalance, steps_of_two_ctas_overlap)
{
    enum { STEPS = 20 };
    struct kernel k = kernel_new(steps, emu_gpu_find("titanv"));
    k.params[1] = STEPS;
    const double one = estimate_of_grid(&k, 1).cycles, both = estimate_of_grid(&k, 2).cycles;
    struct timing_machine m;
    (void)machine_of(emu_gpu_find("titanv"), &m);
    const double step = (one - m.start) / STEPS;
    cr_expect(step >= 200 * 4, "%g cycles for a step", step);
    cr_expect(both >= one + step / 2 && both <= one + 4 * step, "%g cycles, the first alone %g",
              both, one);
    kernel_free(&k);
}

/* In the emulator no CTA finds the lock taken: which of those that wait is next is not known. */
Test(imbalance, locks_by_exchanges_have_a_wide_interval)
{
    struct kernel k = kernel_new(exchanged_lock, emu_gpu_find("titanv"));
    const struct launch_estimate t = estimate_of_grid(&k, 16);
    cr_expect(t.high >= 16 * t.cycles, "%g to %g cycles", t.low, t.high);
    kernel_free(&k);
}

/* As one from a file of before version 5. */
Test(imbalance, a_trace_that_does_not_say_which_loads_poll_has_a_wide_interval)
{
    struct kernel k = kernel_new(tickets, emu_gpu_find("titanv"));
    struct launch_estimate t;
    struct emu_counts counts = *counts_of_grid(&k, 16);
    struct emu_trace trace = *counts.trace;
    struct trace_inst insts[64];
    cr_assert(trace.inst_count <= 64);
    for (uint32_t i = 0; i < trace.inst_count; i++) {
        insts[i] = trace.insts[i];
        insts[i].handoff = TRACE_HANDOFF_NONE;
    }
    trace.insts = insts;
    counts.trace = &trace;
    cr_assert(launch_estimate_of(&counts, &t));
    cr_expect(t.high >= 16 * t.cycles, "%g to %g cycles", t.low, t.high);
    kernel_free(&k);
}

/* A trace of a part of the CTAs lacks stores that others wait for: nothing waits, and the note and the interval say so. */
Test(imbalance, tickets_of_a_sample_are_not_followed)
{
    struct kernel k = kernel_new(tickets, emu_gpu_find("titanv"));
    const struct launch_estimate t = estimate_of_grid(&k, 8192);
    cr_expect(t.high >= 16 * t.cycles, "%g to %g cycles", t.low, t.high);
    kernel_free(&k);
}
