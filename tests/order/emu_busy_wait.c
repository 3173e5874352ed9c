/* Rounds of warps that wait are left out where nobody counts (emu/progress/busy_wait.c): that must make no difference. */
#include <criterion/criterion.h>

#include "determinism/orders.h"
#include "emu/emu.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 64, GRID = 3, BLOCK = 64, SEEDS = SANITIZED ? 2 : 5 };

static const char *const orders[] = {"dab", "dab:level=warp", "dab:scheduler=gtar",
                                     "dab:distribution=any"};
enum { ORDERS = sizeof orders / sizeof *orders };

/* %r1: the thread, %r2: the CTA, %r4: the thread of all, %d1: the words, %d2: of the warp.
 *
 * MIX: what is in word 6 then depends on who came first. */
#define MIX                                                                                        \
    "ld.global.u32 %r6, [%d1+24]; mad.lo.u32 %r6, %r6, 7, %r4; add.u32 %r6, %r6, 1;\n"             \
    "st.global.u32 [%d1+24], %r6;\n"
/* CTA 0 counts up in word 2, with much else to do, and sets word 0 at the end, then word 1. */
#define CALL                                                                                       \
    "setp.ne.u32 %p1, %r2, 0; @%p1 bra again; mov.u32 %r5, 0;\n"                                   \
    "more: st.volatile.global.u32 [%d1+8], %r5; add.u32 %r5, %r5, 256; mov.u32 %r7, 0;\n"          \
    "much: " MIX "add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 30; @%p1 bra much;\n"                 \
    "setp.lt.u32 %p1, %r5, 25600; @%p1 bra more; st.volatile.global.u32 [%d1], 5;\n"               \
    "add.u32 %r5, %r5, 1; st.volatile.global.u32 [%d1+8], %r5;\n"                                  \
    "st.volatile.global.u32 [%d1+4], 7; bra end;\n"
#define ADD /* and the lock goes to the next */                                                    \
    "ld.volatile.global.u32 %r6, [%d1+4]; mad.lo.u32 %r6, %r6, 3, %r4;\n"                          \
    "st.volatile.global.u32 [%d1+4], %r6; membar.gl;\n"

static const struct {
    const char *name, *body;
} kernels[] = {
    {"a lock that each thread has its number in",
     "mov.u32 %r8, 1; add.u32 %r9, %r4, 1000;\n"
     "again: atom.global.cas.b32 %r3, [%d1], %r4, %r9; setp.ne.s32 %p1, %r3, %r4; @%p1 bra on;\n" ADD
     "add.u32 %r7, %r4, 1; atom.global.exch.b32 %r3, [%d1], %r7; mov.u32 %r8, 0;\n"
     "on: setp.ne.s32 %p1, %r8, 0; @%p1 bra again;"},
    {"the same of 8 bytes, looked at before it is taken",
     "mov.u32 %r8, 1; cvt.u64.u32 %d5, %r4; add.u64 %d6, %d5, 1000;\n"
     "again: ld.volatile.global.u64 %d3, [%d1]; setp.ne.u64 %p1, %d3, %d5; @%p1 bra on;\n"
     "atom.global.cas.b64 %d3, [%d1], %d5, %d6; setp.ne.u64 %p1, %d3, %d5; @%p1 bra on;\n"
     "ld.volatile.global.u32 %r6, [%d1+8]; mad.lo.u32 %r6, %r6, 3, %r4;\n"
     "st.volatile.global.u32 [%d1+8], %r6; membar.gl;\n"
     "add.u64 %d5, %d5, 1; atom.global.exch.b64 %d3, [%d1], %d5; mov.u32 %r8, 0;\n"
     "on: setp.ne.s32 %p1, %r8, 0; @%p1 bra again;"},
    {"a lock of one thread of each warp, by exchange",
     "and.b32 %r5, %r1, 31; setp.ne.u32 %p1, %r5, 0; @%p1 bra end;\n"
     "again: atom.global.exch.b32 %r3, [%d1], 1; setp.ne.u32 %p1, %r3, 0; @%p1 bra again;\n" ADD
     "atom.global.exch.b32 %r3, [%d1], 0;"},
    {"a word that is not 0",
     CALL "again: ld.volatile.global.u32 %r3, [%d1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra again;"},
    {"a word that changes, but for its last bits", CALL
     "again: ld.volatile.global.u32 %r3, [%d1+8]; and.b32 %r3, %r3, 255; setp.eq.u32 %p1, %r3, 0;\n"
     "@%p1 bra again;"},
    {"a word that is one of two",
     CALL "again: ld.volatile.global.u32 %r3, [%d1+8]; setp.eq.u32 %p1, %r3, 512;\n"
          "setp.eq.u32 %p2, %r3, 25601; or.pred %p1, %p1, %p2; @!%p1 bra again;"},
    {"a word of each lane, with pauses",
     CALL "again: and.b32 %r5, %r1, 1; mul.wide.u32 %d3, %r5, 4; add.u64 %d3, %d1, %d3;\n"
          "look: ld.volatile.global.u32 %r3, [%d3]; mov.u32 %r7, 0;\n"
          "pause: add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 200; @%p1 bra pause;\n"
          "setp.eq.u32 %p1, %r3, 0; @%p1 bra look;"},
    {"a word that changes, and is no 7", CALL
     "again: ld.volatile.global.u32 %r3, [%d1+8]; and.b32 %r6, %r3, 255; setp.ne.u32 %p1, %r3, 7;\n"
     "setp.eq.u32 %p2, %r6, 0; and.pred %p1, %p1, %p2; @%p1 bra again;"},
    {"a word that they change themselves",
     "again: atom.global.add.u32 %r3, [%d2], 1; setp.lt.u32 %p1, %r3, 3000; mov.u32 %r3, 0;\n"
     "@%p1 bra again;"},
    {"a word beside the one that it looks at",
     CALL "again: ld.volatile.global.u32 %r3, [%d1+16]; ld.global.u32 %r6, [%d1+4];\n"
          "setp.eq.u32 %p1, %r3, %r6; @%p1 bra again;"},
    {"a number of rounds", CALL
     "again: mov.u32 %r7, 0;\n"
     "look: ld.volatile.global.u32 %r3, [%d1+16]; add.u32 %r7, %r7, 1;\n"
     "setp.ne.u32 %p1, %r3, 1; setp.lt.u32 %p2, %r7, 50; and.pred %p1, %p1, %p2; @%p1 bra look;"},
    {"a time", CALL
     "again: ld.volatile.global.u32 %r3, [%d1+16]; mov.u32 %r7, %clock;\n"
     "setp.ne.u32 %p1, %r3, 1; setp.lt.u32 %p2, %r7, 500; and.pred %p1, %p1, %p2; @%p1 bra again;"},
};

/* At the end each warp writes down how long it has taken. */
static void run(const char *body, const char *order, uint64_t seed, bool count, uint32_t *words,
                struct emu_run *r)
{
    char text[3000];
    snprintf(
        text, sizeof text,
        ".reg .b64 %%d<9>; .reg .b32 %%r<16>; .reg .pred %%p<6>;\n"
        "ld.param.u64 %%d1, [p]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x;\n"
        "mad.lo.u32 %%r4, %%r2, %d, %%r1; shr.u32 %%r6, %%r4, 5; mul.wide.u32 %%d2, %%r6, 4;\n"
        "add.u64 %%d2, %%d1, %%d2; add.u64 %%d2, %%d2, 64;\n"
        "%s\nend: bar.warp.sync 0xffffffff; mov.u32 %%r6, %%clock; st.global.u32 [%%d2+64], %%r6; ret;",
        BLOCK, body);
    memset(words, 0, WORDS * sizeof *words);
    *r = (struct emu_run){.ptx = emu_ptx(".param .u64 p", text),
                          .grid = GRID,
                          .block = BLOCK,
                          .once = true,
                          .config = {.sms = 2, .count = count, .max_instructions = 1 << 24}};
    r->args[0] = emu_inout(r, words, WORDS * sizeof *words);
    char *why;
    struct orders *o = orders_new(order, seed, &why);
    cr_assert(o, "%s", why);
    r->config.order = orders_get(o);
    cr_assert(emu_run(r), "%s: %s", order, r->fault);
    orders_free(o);
}

Test(emu_spins, makes_no_difference)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (uint64_t i = 0; i < (uint64_t)ORDERS * SEEDS; i++) {
            const char *order = orders[i % ORDERS];
            uint32_t some[WORDS], all[WORDS];
            static struct emu_run a, b;
            run(kernels[k].body, order, i, true, all, &b);
            run(kernels[k].body, order, i, false, some, &a);
            cr_expect(memcmp(some, all, sizeof some) == 0, "%s, %s, seed %d: other words",
                      kernels[k].name, order, (int)i);
            cr_expect(a.warp_instructions == b.warp_instructions &&
                          a.thread_instructions == b.thread_instructions,
                      "%s, %s, seed %d: %llu warp instructions, %llu if they are counted",
                      kernels[k].name, order, (int)i, (unsigned long long)a.warp_instructions,
                      (unsigned long long)b.warp_instructions);
        }
}
