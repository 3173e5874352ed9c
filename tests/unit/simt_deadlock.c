/* The static warning of SIMT deadlocks, against executions: each kernel is launched with one warp, under the SIMT stack and
 * with independent thread scheduling. What hangs in the first and ends in the second must have a warning; what ends in
 * both must have none. */
#include "emu/emu.h"
#include "heddle.h"
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD                                                                                       \
    ".reg .u64 %d<6>; .reg .u32 %r<12>; .reg .pred %p<6>;\n"                                       \
    "ld.param.u64 %d1, [p]; cvta.to.global.u64 %d1, %d1; add.u64 %d2, %d1, 64;\n"                  \
    "mov.u32 %r1, %tid.x; mov.u32 %r9, 0;\n"
#define CRITICAL                                                                                   \
    "ld.volatile.global.u32 %r3, [%d2]; add.u32 %r3, %r3, 1; st.volatile.global.u32 [%d2], %r3;\n"
#define RELEASE "atom.global.exch.b32 %r4, [%d1], 0;\n"

static const struct {
    const char *what, *body;
    bool hangs;
} cases[] = {
    {"while (atomicCAS(lock, 0, 1)); critical; atomicExch(lock, 0)",
     HEAD
     "spin: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n" CRITICAL
         RELEASE "ret;",
     true},
    {"the lock is released by a plain store",
     HEAD
     "spin: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n" CRITICAL
     "st.volatile.global.u32 [%d1], 0; ret;",
     true},
    {"while (atomicExch(lock, 1)); ... atomicExch(lock, 0)",
     HEAD
     "spin: atom.global.exch.b32 %r2, [%d1], 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n" CRITICAL
         RELEASE "ret;",
     true},
    {"if (atomicCAS() == 0) { ...; release; break; } in an endless loop: the critical section lies behind the loop",
     HEAD
     "spin: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra got; bra spin;\n"
     "got: " CRITICAL RELEASE "ret;",
     true},
    {"while (!done) if (atomicCAS() == 0) { ...; release; done = true; }",
     HEAD
     "spin: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra skip;\n" CRITICAL
         RELEASE "mov.u32 %r9, 1;\nskip: setp.eq.u32 %p2, %r9, 0; @%p2 bra spin; ret;",
     false},
    {"one lane of the warp takes the lock",
     HEAD
     "setp.ne.u32 %p3, %r1, 0; @%p3 bra done;\n"
     "spin: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n" CRITICAL
         RELEASE "done: ret;",
     false},
    {"a loop over elements ends at a 0, and stores behind it",
     HEAD
     "mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d1, %d3; mov.u64 %d5, %d4;\n"
     "next: ld.global.u32 %r2, [%d4]; add.u64 %d4, %d4, 4; setp.ne.u32 %p1, %r2, 0; @%p1 bra next;\n"
     "st.global.u32 [%d5], 1; ret;",
     false},
    {"if (lane 0) flag = 1; else while (!flag);",
     HEAD
     "setp.eq.u32 %p3, %r1, 0; @%p3 bra set;\n"
     "wait: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait; bra done;\n"
     "set: st.volatile.global.u32 [%d1], 1;\ndone: ret;",
     true},
    {"flag = 1 before the loop",
     HEAD "setp.ne.u32 %p3, %r1, 0; @%p3 bra wait; st.volatile.global.u32 [%d1], 1;\n"
          "wait: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait; ret;",
     false},
    {"a lock in shared memory",
     ".shared .u32 lock;" HEAD "setp.ne.u32 %p3, %r1, 0; @%p3 bra spin; st.shared.u32 [lock], 0;\n"
     "spin: atom.shared.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n" CRITICAL
     "atom.shared.exch.b32 %r4, [lock], 0; ret;",
     true},
    {"lane 0 of the warp, by tid & 31",
     HEAD
     "and.b32 %r10, %r1, 31; setp.ne.u32 %p3, %r10, 0; @%p3 bra done;\n"
     "spin: atom.global.cas.b32 %r2, [%d1], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra spin;\n" CRITICAL
         RELEASE "done: ret;",
     false},
    {"a lock-free update by atomicCAS, and a store behind it",
     HEAD
     "ld.volatile.global.u32 %r5, [%d1];\n"
     "again: mov.u32 %r6, %r5; add.u32 %r7, %r6, 3; atom.global.cas.b32 %r5, [%d1], %r6, %r7;\n"
     "setp.ne.u32 %p1, %r5, %r6; @%p1 bra again; red.global.add.u32 [%d1], 1; ret;",
     false},
    {"a queue of work: the loop ends when an atomicAdd gives a high number",
     HEAD "next: atom.global.add.u32 %r2, [%d1], 1; setp.lt.u32 %p1, %r2, 100; @%p1 bra next;\n"
          "red.global.add.u32 [%d1], 1; ret;",
     false},
    {"another place is stored behind the loop",
     HEAD
     ".reg .u64 %q; ld.param.u64 %q, [q]; setp.ne.u32 %p3, %r1, 0; @%p3 bra wait; st.volatile.global.u32 [%d1], 1;\n"
     "wait: atom.global.or.b32 %r2, [%d1], 0; setp.eq.u32 %p1, %r2, 0; @%p1 bra wait;\n"
     "st.global.u32 [%q], 1; ret;",
     false},
};

static const char *text_of(size_t i)
{
    return emu_ptx(".param .u64 p, .param .u64 q", cases[i].body);
}

static bool ends(size_t i, enum emu_divergence divergence)
{
    uint32_t words[64] = {0}, other[4] = {0};
    struct emu_run r = {.ptx = text_of(i), .grid = 1, .block = 32, .once = true, .in_turn = true};
    r.config.divergence = divergence;
    r.config.max_instructions = 200000;
    r.args[0] = emu_inout(&r, words, sizeof words);
    r.args[1] = emu_inout(&r, other, sizeof other);
    return emu_run(&r);
}

Test(simt_deadlock, warns_of_what_hangs)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct heddle_options how = {.max_errors = 50, .simt_deadlock = true};
        const char *text = text_of(i);
        struct heddle_module *m = heddle_module_read("k.ptx", text, strlen(text), &how);
        cr_assert(heddle_module_ok(m), "%s: %s", cases[i].what, heddle_module_messages_text(m));
        const bool warned = strstr(heddle_module_messages_text(m), "SIMT deadlock") != NULL;
        cr_expect_eq(warned, cases[i].hangs, "%s: %s", cases[i].what,
                     warned ? heddle_module_messages_text(m) : "no warning");
        cr_expect_eq(!ends(i, EMU_STACK), cases[i].hangs, "%s: the execution", cases[i].what);
        cr_expect(ends(i, EMU_ITS), "%s: with independent thread scheduling", cases[i].what);
        heddle_module_free(m);
    }
}

/* Without the option there is no such warning, and with it the module is still right. */
Test(simt_deadlock, is_an_option)
{
    const char *text = text_of(0);
    struct heddle_module *m = heddle_module_read("k.ptx", text, strlen(text), NULL);
    cr_expect_eq(heddle_module_warning_count(m), 0);
    heddle_module_free(m);
    const struct heddle_options how = {.max_errors = 50, .simt_deadlock = true};
    m = heddle_module_read("k.ptx", text, strlen(text), &how);
    cr_expect_eq(heddle_module_warning_count(m), 1);
    cr_expect(heddle_module_ok(m));
    heddle_module_free(m);
}
