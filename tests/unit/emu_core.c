/* Launches as a whole: threads, locks inside a warp, deadlocks, faults. */
#include <criterion/criterion.h>

#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <string.h>
#include <sys/resource.h>

/* A CTA reads back what it has reduced: the sum must be there, on any number of host threads. */
Test(emu_core, a_cta_sees_its_own_float_reductions)
{
    enum { CTAS = 64 };
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        float part[CTAS] = {0}, out[CTAS] = {0};
        struct emu_run r = {.grid = CTAS, .block = 64, .config = {.threads = threads}};
        r.ptx = emu_ptx(".param .u64 a, .param .u64 b",
                        ".reg .u64 %d<4>; .reg .u32 %r<2>; .reg .f32 %f<3>;\n"
                        "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b];\n"
                        "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d3, %r1, 4;\n"
                        "add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;\n"
                        "mov.f32 %f1, 0f3F800000; red.global.add.f32 [%d1], %f1; bar.sync 0;\n"
                        "ld.global.f32 %f2, [%d1]; st.global.f32 [%d2], %f2; ret;");
        r.args[0] = emu_in(&r, part, sizeof part);
        r.args[1] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%s", r.fault);
        for (int i = 0; i < CTAS; i++)
            cr_assert(out[i] == 64, "%u threads, CTA %d: %g", threads, i, out[i]);
    }
}

/* Each thread takes a lock in a loop of its own: the lane that has it waits, under a SIMT stack, for the
 * lanes that want it. */
static const char spin_lock[] =
    ".reg .u64 %d<3>; .reg .u32 %r<6>; .reg .pred %p1;\n"
    "ld.param.u64 %d1, [lock]; ld.param.u64 %d2, [sum];\n"
    "again:\natom.global.cas.b32 %r1, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra again;\n"
    "membar.gl; ld.volatile.global.u32 %r2, [%d2]; mov.u32 %r3, %tid.x; add.u32 %r2, %r2, %r3;\n"
    "st.volatile.global.u32 [%d2], %r2; membar.gl;\natom.global.exch.b32 %r4, [%d1], 0;\nret;\n";

static struct emu_run lock_run(uint32_t *lock, uint32_t *sum)
{
    struct emu_run r = {.ptx = emu_ptx(".param .u64 lock, .param .u64 sum", spin_lock),
                        .block = 64};
    r.args[0] = emu_inout(&r, lock, sizeof *lock);
    r.args[1] = emu_inout(&r, sum, sizeof *sum);
    return r;
}

Test(emu_core, a_lock_inside_a_warp_deadlocks_on_the_stack)
{
    uint32_t lock = 0, sum = 0;
    struct emu_run r = lock_run(&lock, &sum);
    cr_expect(emu_run(&r) == false);
    cr_expect(r.kind == EMU_DEADLOCK, "%s", r.fault);
    cr_expect(strstr(r.fault, "lanes wait at line") && strstr(r.fault, "--divergence=its"), "%s",
              r.fault);
}

Test(emu_core, independent_threads_pass_a_lock_inside_a_warp)
{
    uint32_t lock = 0, sum = 0;
    struct emu_run r = lock_run(&lock, &sum);
    r.config.divergence = EMU_ITS;
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(sum == 63 * 64 / 2 && lock == 0, "%u %u", sum, lock);
}

/* CTA 0 waits for a flag that the last CTA sets. */
Test(emu_core, a_cta_may_wait_for_a_later_one)
{
    uint32_t flag = 0, out[4] = {0};
    struct emu_run r = {.grid = 4, .block = 32};
    r.ptx = emu_ptx(
        ".param .u64 flag, .param .u64 out",
        ".reg .u64 %d<4>; .reg .u32 %r<4>; .reg .pred %p<3>;\n"
        "ld.param.u64 %d1, [flag]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x;\n"
        "setp.eq.u32 %p1, %r1, 3;\n@%p1 st.relaxed.gpu.global.u32 [%d1], 7;\n"
        "wait:\nld.acquire.gpu.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0;\n@%p2 bra wait;\n"
        "mul.wide.u32 %d3, %r1, 4; add.u64 %d2, %d2, %d3; st.global.u32 [%d2], %r2;\nret;\n");
    r.args[0] = emu_inout(&r, &flag, sizeof flag);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int i = 0; i < 4; i++) cr_expect(out[i] == 7, "CTA %d: %u", i, out[i]);
}

Test(emu_core, a_fault_names_thread_line_and_allocation)
{
    uint32_t x[32] = {0};
    struct emu_run r = {.grid = 2, .block = 32};
    r.ptx = emu_ptx(
        ".param .u64 x",
        ".reg .u64 %d<4>; .reg .u32 %r<4>;\nld.param.u64 %d1, [x];\n"
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r1, %r1, 32, %r2;\n"
        "mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2;\nst.global.u32 [%d1], %r1;\nret;\n");
    r.args[0] = emu_inout(&r, x, sizeof x);
    cr_expect(emu_run(&r) == false);
    cr_expect(r.kind == EMU_OUT_OF_BOUNDS);
    cr_expect(r.where.cta[0] == 1 && r.where.thread[0] == 0, "CTA %u thread %u", r.where.cta[0],
              r.where.thread[0]);
    cr_expect(r.where.line == 10, "line %u", r.where.line);
    cr_expect(strstr(r.fault, "0 bytes behind the end of 'buffer' (128 bytes"), "%s", r.fault);
}

Test(emu_core, reads_of_what_nobody_wrote_are_found)
{
    struct emu_run r = {.block = 32, .once = true, .config = {.checks = EMU_CHECK_INIT}};
    uint32_t out[32];
    r.ptx = emu_ptx(
        ".param .u64 out",
        ".reg .u64 %d<4>; .reg .u32 %r<4>; .shared .u32 s[32];\n"
        "ld.param.u64 %d1, [out]; ld.shared.u32 %r1, [s];\nst.global.u32 [%d1], %r1;\nret;\n");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(r.findings == 1 && r.finding_kind == EMU_UNINITIALISED, "%zu findings", r.findings);
}

/* CTA 0 goes round `loops` times before it reduces, the others run ahead of it: what they leave for their turn
 * may not take memory without bound. */
static struct emu_run ahead_of_a_slow_cta(unsigned threads, uint32_t loops, uint32_t step)
{
    struct emu_run r = {.grid = 600, .block = 256, .once = true, .config = {.threads = threads}};
    r.ptx = emu_ptx(".param .u64 sum, .param .u64 loops, .param .u64 step",
                    ".reg .b64 %d; .reg .b32 %r<9>; .reg .f32 %f; .reg .pred %p;\n"
                    "ld.param.u64 %d, [sum]; ld.param.u32 %r1, [loops]; ld.param.u32 %r2, [step];\n"
                    "mov.u32 %r3, %ctaid.x; setp.ne.u32 %p, %r3, 0; @%p bra rest; mov.u32 %r4, 0;\n"
                    "loop: add.u32 %r4, %r4, %r2; setp.ne.u32 %p, %r4, %r1; @%p bra loop;\n"
                    "rest: mov.u32 %r4, 0; cvt.rn.f32.u32 %f, %r3;\n"
                    "again: red.global.add.f32 [%d], %f;\n"
                    "add.u32 %r4, %r4, 1; setp.ne.u32 %p, %r4, 100; @%p bra again; ret;");
    r.args[1] = loops;
    r.args[2] = step;
    return r;
}

static long most_memory(void) /* KiB */
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return u.ru_maxrss;
}

Test(emu_core, what_waits_for_a_slow_cta_is_bounded)
{
    for (unsigned threads = SANITIZED ? 2 : 1; threads <= 2; threads++) {
        float sum = 0, want = 0;
        for (int cta = 0; cta < 600; cta++)
            for (int i = 0; i < 256 * 100; i++) want += (float)cta;
        struct emu_run r = ahead_of_a_slow_cta(threads, 8000000 / THINNED, 1);
        r.args[0] = emu_inout(&r, &sum, sizeof sum);
        long before = most_memory();
        cr_assert(emu_run(&r), "%s", r.fault);
        cr_expect(sum == want, "%u threads: %g, not %g", threads, sum, want);
        cr_expect(SANITIZED || most_memory() - before < 500 * 1024, "%u threads: %ld MiB", threads,
                  (most_memory() - before) / 1024);
    }
}

Test(emu_core, a_cta_that_others_wait_for_may_not_spin)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        float sum = 0;
        struct emu_run r = ahead_of_a_slow_cta(threads, 1, 0);
        r.args[0] = emu_inout(&r, &sum, sizeof sum);
        cr_expect(!emu_run(&r));
        cr_expect(r.kind == EMU_DEADLOCK, "%u threads: %s", threads, r.fault);
    }
}
