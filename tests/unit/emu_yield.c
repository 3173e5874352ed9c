/* Lanes of one warp that wait for each other make progress on sm_70 and later (CUDA C++ Programming Guide, "Independent
 * Thread Scheduling"). The results follow from the kernels' texts. */
#include "determinism/orders.h"
#include "emu/emu.h"
#include "emu/gpu.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define HEAD                                                                                       \
    ".reg .u64 %d<6>; .reg .u32 %r<12>; .reg .u16 %h<4>; .reg .pred %p<6>;\n"                      \
    "ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x;\n"                   \
    "mov.u32 %r2, %ctaid.x; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2; and.b32 %r3, %r1, 31;\n"
#define COUNT "red.global.add.u32 [%d1+128], 1;\n" /* word 32: how many threads came here */
#define WAIT(load) "again: " load " setp.eq.u32 %p1, %r4, 0; @%p1 bra again;\n"

static const struct {
    const char *what, *body;
    uint32_t grid, block, count; /* what word 32 must be */
} cases[] = {
    {"a lock whose release is behind the loop",
     HEAD
     "spin: atom.global.cas.b32 %r4, [%d1], 0, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra spin;\n"
     "membar.gl; ld.volatile.global.u32 %r5, [%d1+128]; add.u32 %r5, %r5, 1;\n"
     "st.volatile.global.u32 [%d1+128], %r5; membar.gl; atom.global.exch.b32 %r4, [%d1], 0; ret;",
     3, 70, 210},
    {"the other lanes of the warp set the flag, wherever the paths lie",
     HEAD "setp.lt.u32 %p2, %r3, 16; @%p2 bra set;\n" WAIT("ld.volatile.global.u32 %r4, [%d2];")
         COUNT "ret;\nset: st.volatile.global.u32 [%d2], 1;\n" COUNT "ret;",
     20, 64, 20 * 64},
    {"the same the other way round",
     HEAD "setp.ge.u32 %p2, %r3, 16; @%p2 bra set;\n" WAIT("ld.volatile.global.u32 %r4, [%d2];")
         COUNT "ret;\nset: st.volatile.global.u32 [%d2], 1;\n" COUNT "ret;",
     20, 64, 20 * 64},
    {"a loop that counts its rounds never comes back to a state",
     ".shared .u32 flag[4];" HEAD
     "shr.u32 %r5, %r1, 5; mov.u32 %r6, flag; mad.lo.u32 %r6, %r5, 4, %r6; st.shared.u32 [%r6], 0;\n"
     "bar.sync 0; mov.u32 %r7, 0; setp.eq.u32 %p2, %r3, 31; @%p2 bra set;\n"
     "again: add.u32 %r7, %r7, 1; ld.volatile.shared.u32 %r4, [%r6]; setp.eq.u32 %p1, %r4, 0;\n"
     "@%p1 bra again; bra both;\nset: st.volatile.shared.u32 [%r6], 1;\n"
     "both: bar.warp.sync -1;\n" COUNT "ret;",
     2, 64, 128},
    {"shuffles behind the loop have all lanes",
     HEAD "setp.eq.u32 %p2, %r3, 7; @%p2 bra set;\n" WAIT(
         "ld.volatile.global.u32 %r4, [%d2];") "bra both;\nset: st.volatile.global.u32 [%d2], 1;\n"
                                               "both: shfl.sync.bfly.b32 %r5, %r3, 31, 31, -1; add.u32 %r5, %r5, %r3;\n"
                                               "red.global.add.u32 [%d1+128], %r5; ret;", /* lane + its mirror: 31 */
     3, 96, 3 * 96 * 31},
    {"a barrier for all threads, which lanes of a warp come to by two ways",
     HEAD "setp.lt.u32 %p2, %r3, 16; @%p2 bra other; barrier.sync 0;\n" COUNT
          "ret;\nother: barrier.sync 0;\n" COUNT "ret;",
     2, 64, 128},
    {"an mbarrier that the other lanes arrive at",
     ".shared .b64 bar;" HEAD
     "mov.u32 %r5, bar; setp.eq.u32 %p3, %r1, 0; @%p3 mbarrier.init.shared.b64 [%r5], 16; bar.sync 0;\n"
     "setp.lt.u32 %p2, %r3, 16; @!%p2 bra arrive;\n"
     "again: mbarrier.try_wait.parity.shared.b64 %p1, [%r5], 0; @!%p1 bra again;\n" COUNT
     "ret;\narrive: mbarrier.arrive.shared.b64 %d3, [%r5];\n" COUNT "ret;",
     2, 32, 64},
    {"plain loads between pauses",
     HEAD
     "setp.eq.u32 %p2, %r3, 5; @%p2 bra set;\n" WAIT("nanosleep.u32 20; ld.global.u32 %r4, [%d2];")
         COUNT "ret;\nset: st.global.u32 [%d2], 1;\n" COUNT "ret;",
     2, 32, 64},
    {"warps that run together meet at bar.warp.sync by two ways, once another warp has waited",
     ".shared .u32 word[8];" HEAD
     "shr.u32 %r5, %r1, 5; mov.u32 %r6, word; mad.lo.u32 %r6, %r5, 4, %r6; st.shared.u32 [%r6], 0;\n"
     "setp.ge.u32 %p3, %r1, 32; @%p3 bra ready; setp.eq.u32 %p2, %r3, 7; @%p2 bra set;\n" WAIT(
         "ld.volatile.global.u32 %r4, [%d2];") "bra ready;\nset: st.volatile.global.u32 [%d2], 1;\n"
                                               "ready: barrier.sync 0; setp.lt.u32 %p2, %r3, 16; @%p2 bra store;\n"
                                               "bar.warp.sync -1; ld.volatile.shared.u32 %r4, [%r6]; red.global.add.u32 [%d1+128], %r4; ret;\n"
                                               "store: st.volatile.shared.u32 [%r6], 1; bar.warp.sync -1; ret;",
     2, 256, 2 * 256 / 2},
    {"a wait by pauses that grow without end",
     HEAD
     "mov.u32 %r7, 1; setp.eq.u32 %p2, %r3, 5; @%p2 bra set;\n"
     "again: nanosleep.u32 %r7; mad.lo.u32 %r7, %r7, 3, 1; ld.acquire.gpu.global.u32 %r4, [%d2];\n"
     "setp.eq.u32 %p1, %r4, 0; @%p1 bra again; bra both;\nset: st.release.gpu.global.u32 [%d2], 1;\n"
     "both: " COUNT "ret;",
     2, 32, 64},
};

static struct emu_run run_of(size_t i, enum emu_divergence divergence, uint32_t words[64])
{
    memset(words, 0, 64 * sizeof *words);
    struct emu_run r = {.ptx = emu_ptx(".param .u64 p", cases[i].body),
                        .grid = cases[i].grid,
                        .block = cases[i].block,
                        .in_turn = true};
    r.config.divergence = divergence;
    r.config.max_instructions = 400000000;
    r.args[0] = emu_inout(&r, words, 64 * sizeof *words);
    return r;
}

Test(emu_yield, lanes_that_wait_for_each_other_make_progress)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned its = 0; its < 2; its++) {
            uint32_t words[64];
            struct emu_run r = run_of(i, its ? EMU_ITS : EMU_YIELD, words);
            cr_expect(emu_run(&r), "%s: %s", cases[i].what, r.fault);
            cr_expect(words[32] == cases[i].count, "%s, its %u: %u, not %u", cases[i].what, its,
                      words[32], cases[i].count);
        }
}

Test(emu_yield, so_do_they_under_random)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed < (SANITIZED ? 2 : 3); seed++) {
            uint32_t words[64];
            struct emu_run r = run_of(i, EMU_YIELD, words);
            char *why;
            struct orders *o = orders_new("random", seed, &why);
            cr_assert(o, "%s", why);
            r.config.order = orders_get(o);
            r.once = true;
            cr_expect(emu_run(&r), "%s, seed %u: %s", cases[i].what, (unsigned)seed, r.fault);
            cr_expect_eq(words[32], cases[i].count, "%s, seed %u: %u", cases[i].what,
                         (unsigned)seed, words[32]);
            orders_free(o);
        }
}

/* The guarantee is sm_70's: a module for an older GPU, and an older GPU, have the SIMT stack alone. */
Test(emu_yield, older_targets_and_gpus_have_the_stack)
{
    for (unsigned k = 0; k < 2; k++) {
        uint32_t words[64];
        char text[4096];
        struct emu_run r = run_of(0, EMU_YIELD, words);
        snprintf(text, sizeof text, "%s", r.ptx);
        char *target = strstr(text, "sm_90");
        memcpy(target, k ? "sm_70" : "sm_60", 5);
        r.ptx = text;
        r.once = true;
        cr_expect_eq(emu_run(&r), k, "%s", r.fault);
        if (!k) cr_expect_eq(r.kind, EMU_DEADLOCK);
    }
    uint32_t words[64];
    struct emu_run r = run_of(0, EMU_YIELD, words);
    r.config.gpu = emu_gpu_find("p100"); /* 6.0 */
    r.once = true;
    cr_expect(!emu_run(&r) && r.kind == EMU_DEADLOCK, "%s", r.fault);
    r = run_of(0, EMU_STACK, words);
    r.once = true;
    cr_expect(!emu_run(&r) && r.kind == EMU_DEADLOCK, "%s", r.fault);
}

/* A lane that waits for what no lane will do deadlocks in any case. `random`: under this order, too. */
static void expect_deadlock(enum emu_divergence divergence, bool random)
{
    uint32_t words[64] = {0};
    char *why;
    struct orders *o = random ? orders_new("random", 1, &why) : NULL;
    struct emu_run r = {
        .ptx = emu_ptx(".param .u64 p", HEAD "setp.eq.u32 %p2, %r3, 5; @%p2 bra end;\n" WAIT(
                                            "ld.volatile.global.u32 %r4, [%d2];") "end: ret;"),
        .grid = 2,
        .block = 64,
        .once = true};
    r.config.divergence = divergence;
    r.config.order = orders_get(o);
    r.config.timeout = 60;
    r.args[0] = emu_inout(&r, words, sizeof words);
    cr_expect(!emu_run(&r) && r.kind == EMU_DEADLOCK, "divergence %d, random %d: %s", divergence,
              random, r.fault);
    orders_free(o);
}

Test(emu_yield, a_deadlock_stays_one)
{
    for (int random = 0; random < 2; random++) {
        expect_deadlock(EMU_YIELD, random);
        expect_deadlock(EMU_ITS, random);
    }
}

/* The CTAs that yield, and when, do not depend on the number of host threads. */
Test(emu_yield, host_threads_make_no_difference)
{
    static const size_t shared = 3;
    uint64_t instructions[2];
    for (unsigned k = 0; k < 2; k++) {
        uint32_t words[64];
        struct emu_run r = run_of(shared, EMU_YIELD, words);
        r.grid = 9;
        r.once = true;
        r.config.count = true;
        r.config.threads = k ? 3 : 1;
        cr_expect(emu_run(&r), "%s", r.fault);
        cr_expect_eq(words[32], 9 * 64);
        instructions[k] = r.warp_instructions;
    }
    cr_expect_eq(instructions[0], instructions[1]);
}
