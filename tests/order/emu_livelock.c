/* Kernels that never end under an order get a message (emu/progress/livelock.c), and those that take long are not. */
#include <criterion/criterion.h>

#include "determinism/orders.h"
#include "emu/emu.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16, SEEDS = SANITIZED ? 1 : 2 };

/* Sanitized, each kernel runs under one of them, and each of them has a kernel. */
static const char *const orders[] = {
    "random",
    "random:strategy=pct:late-stores=off",
    "gpudet",
    "gpudet:bta=off:dwp=off:quantum=1000",
    "gpudet:step=instruction:shared=any",
    "dab",
    "dab:level=warp",
    "dab:scheduler=srr",
    "dab:scheduler=gtar",
};
enum { ORDERS = sizeof orders / sizeof *orders, ORDER_STEP = SANITIZED ? ORDERS : 1 };

struct kernel {
    const char *name, *body;
    uint32_t grid, block;
};

/* %r1: the thread, %r2: the CTA, %d1: the words. */
static struct emu_run of(const struct kernel *k, uint32_t *words)
{
    char body[2000];
    snprintf(
        body, sizeof body,
        ".reg .b64 %%d<8>; .reg .b32 %%r<16>; .reg .pred %%p<6>; .shared .align 8 .b64 bar;\n"
        ".shared .u32 flag;\nld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x;\n"
        "%s\nend: ret;",
        k->body);
    memset(words, 0, WORDS * sizeof *words);
    struct emu_run r = {.ptx = emu_ptx(".param .u64 p", body),
                        .grid = k->grid,
                        .block = k->block,
                        .once = true,
                        .config = {.sms = 1, .max_instructions = 1 << 28}};
    r.args[0] = emu_inout(&r, words, WORDS * sizeof *words);
    return r;
}

static bool run(struct emu_run *r, const char *order, uint64_t seed)
{
    char *why;
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(o, "%s", why);
    r->config.order = orders_get(o);
    const bool ok = emu_run(r);
    orders_free(o);
    return ok;
}

#define WAIT(load)                                                                                 \
    "again: " load " setp.eq.u32 %p1, %r3, 0; @%p1 bra again;\n" /* for a word that is not 0 */

static const struct kernel stuck[] = {
    {"plain loads", WAIT("ld.global.u32 %r3, [%d1];"), 3, 64},
    {"volatile loads", WAIT("ld.volatile.global.u32 %r3, [%d1];"), 3, 64},
    {"loads with acquire", WAIT("ld.acquire.gpu.global.u32 %r3, [%d1];"), 2, 32},
    {"a flag in shared memory",
     "mov.u32 %r4, 0; st.volatile.shared.u32 [flag], %r4;\n" WAIT(
         "ld.volatile.shared.u32 %r3, [flag];"),
     2, 64},
    {"a lock that nobody gives back",
     "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 bra end;\n"
     "again: atom.global.cas.b32 %r3, [%d1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra again;",
     2, 64},
    {"a lock, with pauses that grow",
     "mov.u32 %r5, 8;\nagain: atom.global.cas.b32 %r3, [%d1], 0, 1; setp.ne.u32 %p1, %r3, 0;\n"
     "@!%p1 bra end; nanosleep.u32 %r5; shl.b32 %r5, %r5, 1; min.u32 %r5, %r5, 256; bra again;",
     2, 1},
    {"two locks the other way round",
     "xor.b32 %r4, %r2, 1; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2;\n"
     "mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d1, %d3;\n"
     "atom.global.exch.b32 %r3, [%d2], 1;\n"
     "wait: ld.volatile.global.u32 %r3, [%d3]; setp.eq.u32 %p1, %r3, 0; @%p1 bra wait;\n"
     "again: atom.global.cas.b32 %r3, [%d3], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra again;",
     2, 1},
    {"a flag of a CTA that cannot be resident",
     "setp.lt.u32 %p1, %r2, 40; @%p1 bra again; st.volatile.global.u32 [%d1], 1; bra end;\n" WAIT(
         "ld.volatile.global.u32 %r3, [%d1];"),
     41, 32},
    {"a word that nobody changes, and reductions of CTAs that come later",
     "setp.eq.u32 %p1, %r2, 0; st.global.u32 [%d1+8], %r2; @%p1 bra again;\n"
     "red.global.add.u32 [%d1+4], 1; bra end;\n" WAIT("ld.volatile.global.u32 %r3, [%d1];"),
     70, 32},
    {"a barrier that one never comes to",
     "setp.ge.u32 %p1, %r1, 32; @%p1 bra again; bar.sync 0; bra end;\n" WAIT(
         "ld.global.u32 %r3, [%d1];"),
     1, 64},
    {"an mbarrier that nobody arrives at",
     "mov.u32 %r4, bar; setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [%r4], 1; bar.sync 0;\n"
     "again: mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 0; @!%p1 bra again;",
     1, 64},
};

Test(emu_rounds, ends_what_goes_round_for_ever)
{
    for (size_t k = 0; k < sizeof stuck / sizeof *stuck; k++)
        for (size_t o = k % ORDER_STEP; o < ORDERS; o += ORDER_STEP) {
            uint32_t words[WORDS];
            struct emu_run r = of(&stuck[k], words);
            cr_expect(!run(&r, orders[o], o + 1) && r.kind == EMU_DEADLOCK, "%s, %s: %s",
                      stuck[k].name, orders[o], r.kind ? r.fault : "it ended");
            cr_expect(strncmp(r.fault, "deadlock: no warp will ever go on; warp ", 40) == 0,
                      "%s, %s: %s", stuck[k].name, orders[o], r.fault);
            cr_expect(strncmp(orders[o], "random", 6) == 0 || !strstr(r.fault, "--divergence"),
                      "%s, %s: %s", stuck[k].name, orders[o], r.fault);
        }
}

/* Whom batches hold back sleeps on where no flush ever comes. */
Test(emu_rounds, ends_what_goes_round_beside_sleepers)
{
    static const struct kernel k = {
        "plain loads, and reductions of CTAs that come later",
        "setp.eq.u32 %p1, %r2, 0; st.global.u32 [%d1+8], %r2; @%p1 bra again;\n"
        "setp.lt.u32 %p1, %r2, 32; @%p1 bra end; red.global.add.u32 [%d1+4], 1; bra end;\n" WAIT(
            "ld.global.u32 %r3, [%d1];"),
        70, 32};
    static const char *const some[] = {"dab", "dab:scheduler=gtar"};
    for (size_t o = 0; o < (SANITIZED ? 1 : sizeof some / sizeof *some); o++) {
        uint32_t words[WORDS];
        struct emu_run r = of(&k, words);
        cr_expect(!run(&r, some[o], o + 1) && r.kind == EMU_DEADLOCK, "%s: %s", some[o],
                  r.kind ? r.fault : "it ended");
    }
}

/* %r4: 1 for one thread of each warp. */
#define ONE "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 bra end;\n"

static const struct kernel slow[] = {
    {"a spin lock",
     ONE
     "mov.u32 %r5, 0;\nnext:\n"
     "again: atom.acquire.gpu.global.cas.b32 %r3, [%d1], 0, 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra again;\n"
     "ld.volatile.global.u32 %r6, [%d1+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%d1+4], %r6;\n"
     "atom.release.gpu.global.exch.b32 %r3, [%d1], 0;\n"
     "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 60; @%p1 bra next;",
     4, 64},
    {"tickets",
     ONE
     "mov.u32 %r5, 0;\nnext: atom.global.add.u32 %r7, [%d1], 1;\n"
     "again: ld.acquire.gpu.global.u32 %r3, [%d1+8]; setp.ne.u32 %p1, %r3, %r7; @%p1 bra again;\n"
     "ld.volatile.global.u32 %r6, [%d1+4]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%d1+4], %r6;\n"
     "add.u32 %r7, %r7, 1; st.release.gpu.global.u32 [%d1+8], %r7;\n"
     "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 60; @%p1 bra next;",
     4, 64},
    {"one who computes for long before it tells the others",
     "setp.ne.u32 %p1, %r2, 0; @%p1 bra again; mov.u32 %r5, 0;\n"
     "more: mad.lo.u32 %r6, %r6, 5, 3; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 400000; @%p1 bra more;\n"
     "mov.u32 %r6, 480; st.volatile.global.u32 [%d1+4], %r6; st.volatile.global.u32 [%d1], 1; bra end;\n" WAIT(
         "ld.volatile.global.u32 %r3, [%d1];"),
     3, 32},
    {"one who computes in rounds that are long",
     "setp.ne.u32 %p1, %r2, 0; @%p1 bra again; mov.u32 %r5, 0; mov.u32 %r6, 0;\n"
     "more: add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 30000; @%p2 bra more; mov.u32 %r6, 0;\n"
     "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 20; @%p1 bra more;\n"
     "mov.u32 %r6, 480; st.volatile.global.u32 [%d1+4], %r6; st.volatile.global.u32 [%d1], 1; bra end;\n" WAIT(
         "ld.volatile.global.u32 %r3, [%d1];"),
     3, 32},
    {"one who counts in memory",
     "setp.ne.u32 %p1, %r2, 0; @%p1 bra again;\n"
     "more: atom.global.add.u32 %r6, [%d1+8], 1; setp.lt.u32 %p2, %r6, 5000; mov.u32 %r6, 0; @%p2 bra more;\n"
     "mov.u32 %r6, 480; st.volatile.global.u32 [%d1+4], %r6; st.volatile.global.u32 [%d1], 1; bra end;\n" WAIT(
         "ld.volatile.global.u32 %r3, [%d1];"),
     2, 32},
    {"one who looks at a clock",
     "setp.ne.u32 %p1, %r2, 0; @%p1 bra again;\n"
     "more: mov.u64 %d3, %clock64; setp.lt.u64 %p1, %d3, 1000000; mov.u64 %d3, 0; @%p1 bra more;\n"
     "mov.u32 %r6, 480; st.volatile.global.u32 [%d1+4], %r6; st.volatile.global.u32 [%d1], 1; bra end;\n" WAIT(
         "ld.volatile.global.u32 %r3, [%d1];"),
     2, 32},
    {"there and back",
     ONE
     "xor.b32 %r4, %r2, 1; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2;\n"
     "mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d1, %d3; sub.u32 %r5, 480, %r2; mov.u32 %r7, 0;\n"
     "next: add.u32 %r7, %r7, 1; setp.gt.u32 %p1, %r7, 480; @%p1 bra end;\n"
     "setp.eq.u32 %p2, %r2, 1; @%p2 bra back; st.volatile.global.u32 [%d2], %r7;\n"
     "wait: ld.volatile.global.u32 %r3, [%d3]; setp.ne.u32 %p1, %r3, %r7; @%p1 bra wait; bra next;\n"
     "back: ld.volatile.global.u32 %r3, [%d3]; setp.ne.u32 %p1, %r3, %r7; @%p1 bra back;\n"
     "st.volatile.global.u32 [%d2], %r7; bra next;",
     2, 32},
    {"a flag of the last CTA that can be resident",
     "setp.lt.u32 %p1, %r2, 31; @%p1 bra again;\n"
     "mov.u32 %r6, 480; st.volatile.global.u32 [%d1+4], %r6; st.volatile.global.u32 [%d1], 1; bra end;\n" WAIT(
         "ld.volatile.global.u32 %r3, [%d1];"),
     60, 32},
    {"an mbarrier whose waits are counted",
     "mov.u32 %r4, bar; setp.eq.u32 %p2, %r1, 0; setp.eq.u32 %p4, %r1, 32; mov.u32 %r5, 0;\n"
     "@%p2 mbarrier.init.shared.b64 [%r4], 1; @%p2 st.shared.u32 [flag], 0; bar.sync 0;\n"
     "@%p4 bra spin; @!%p2 bra end;\n"
     "again: mbarrier.try_wait.parity.shared.b64 %p1, [%r4], 0; @%p1 bra done; add.u32 %r5, %r5, 1;\n"
     "setp.lt.u32 %p3, %r5, 3; @%p3 bra again;\n"
     "mbarrier.arrive.shared.b64 %d2, [%r4]; st.volatile.shared.u32 [flag], 7; bra again;\n"
     "done: mul.lo.u32 %r5, %r5, 160; st.volatile.global.u32 [%d1+4], %r5; bra end;\n"
     "spin: ld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %p1, %r3, 0; @%p1 bra spin;",
     1, 64},
};

Test(emu_rounds, lets_go_on_what_takes_long)
{
    for (size_t k = 0; k < sizeof slow / sizeof *slow; k++)
        for (size_t o = k % ORDER_STEP; o < ORDERS; o += ORDER_STEP)
            for (uint64_t seed = 1; seed <= SEEDS; seed++) {
                uint32_t words[WORDS];
                struct emu_run r = of(&slow[k], words);
                cr_expect(run(&r, orders[o], seed) && words[1] == 480, "%s, %s, seed %u: %u %s",
                          slow[k].name, orders[o], (unsigned)seed, words[1], r.fault);
            }
}
