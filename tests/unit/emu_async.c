/* Asynchronous copies and mbarriers. */
#include "emu/ops/async.h"
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* ---- mbarriers alone, against a model that is nothing but the ISA's words ---------------------- */

struct model {
    long pending, expected, tx, phase;
};

static void model_completes(struct model *m)
{
    if (m->pending == 0 && m->tx == 0) {
        m->phase++;
        m->pending = m->expected;
    }
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

Test(emu_async, mbarriers_follow_the_model)
{
    uint32_t seed = 1;
    for (int run = 0; run < 2000; run++) {
        struct model m = {0};
        uint64_t bar = next(&seed), state = 0;
        uint32_t count = 1 + next(&seed) % 6;
        long state_phase = -10, state_pending = 0;
        cr_assert_null(mbarrier_init(&bar, count));
        m.pending = m.expected = count;
        for (int step = 0; step < 60; step++) {
            uint32_t n = next(&seed) % 3, tx = next(&seed) % 3 * 16;
            const char *wrong = NULL;
            bool bad = false;
            switch (next(&seed) % 6) {
            case 0:
                wrong = mbarrier_expect(&bar, tx);
                m.tx += tx;
                model_completes(&m);
                break;
            case 1:
                wrong = mbarrier_complete(&bar, tx);
                m.tx -= tx;
                model_completes(&m);
                break;
            case 2:
                if (n == m.expected) continue; /* undefined */
                bad = n == 0 || n > m.pending || n > m.expected;
                wrong = mbarrier_arrive(&bar, n, true, false, false);
                if (bad) break;
                m.expected -= n;
                m.pending -= n;
                model_completes(&m);
                break;
            case 3:
                bad = n == 0 || n > m.pending || (n == m.pending && m.tx == 0);
                state = bad ? state : bar;
                if (!bad) state_phase = m.phase, state_pending = m.pending;
                wrong = mbarrier_arrive(&bar, n, false, true, false);
                if (!bad) m.pending -= n;
                break;
            case 4: /* announced first: nothing changes */
                wrong = mbarrier_arrive(&bar, 1, false, false, true);
                break;
            default:
                bad = n == 0 || n > m.pending;
                if (!bad) state = bar, state_phase = m.phase, state_pending = m.pending;
                wrong = mbarrier_arrive(&bar, n, false, false, false);
                if (bad) break;
                m.pending -= n;
                model_completes(&m);
            }
            cr_assert((wrong != NULL) == bad, "run %d step %d: %s", run, step, wrong);
            bool complete;
            for (uint32_t parity = 0; parity < 2; parity++) {
                cr_assert_null(mbarrier_test_parity(&bar, parity, &complete));
                cr_assert(complete == ((m.phase & 1) != parity), "run %d step %d: parity", run,
                          step);
            }
            if (state_phase == m.phase || state_phase == m.phase - 1) {
                cr_assert_null(mbarrier_test(&bar, state, &complete));
                cr_assert(complete == (state_phase != m.phase), "run %d step %d: state", run, step);
                cr_assert(mbarrier_pending(state) == state_pending);
            }
        }
        cr_assert_null(mbarrier_inval(&bar));
        cr_assert(mbarrier_arrive(&bar, 1, false, false, false));
    }
}

Test(emu_async, mbarriers_have_limits)
{
    uint64_t bar = 0;
    bool complete;
    cr_expect(mbarrier_init(&bar, 0) && mbarrier_init(&bar, 1 << 20));
    cr_expect(mbarrier_expect(&bar, 0) && mbarrier_inval(&bar), "there is none");
    cr_expect(mbarrier_test_parity(&bar, 0, &complete) && mbarrier_test(&bar, 0, &complete));
    cr_expect_null(mbarrier_init(&bar, MBARRIER_MAX));
    cr_expect(mbarrier_arrive(&bar, 1, false, false, true), "one more than there can be");
    cr_expect_null(mbarrier_expect(&bar, MBARRIER_MAX));
    cr_expect(mbarrier_expect(&bar, 1) != NULL);
    cr_expect_null(mbarrier_complete(&bar, MBARRIER_MAX));
    cr_expect_null(mbarrier_complete(&bar, MBARRIER_MAX));
    cr_expect(mbarrier_complete(&bar, 1) && mbarrier_complete(&bar, UINT32_MAX));
    uint64_t old = bar;
    cr_expect_null(mbarrier_init(&bar, 1));
    old = bar;
    for (int i = 0; i < 2; i++) cr_expect_null(mbarrier_arrive(&bar, 1, false, false, false));
    cr_expect(mbarrier_test(&bar, old, &complete), "two phases ago");
}

/* ---- cp.async ---------------------------------------------------------------------------------- */

Test(emu_async, copies_by_threads)
{
    enum { N = 114 }; /* three whole warps and a part */
    uint8_t from[N * 16], out[N * 16];
    for (int i = 0; i < N * 16; i++) from[i] = (uint8_t)(i * 7 + 1);
    static const char *const ops[] = {"ca", "cg"};
    static const char *const hints[] = {"", ".L2::128B", ".L2::cache_hint"};
    for (int size = 4; size <= 16; size *= 2)
        for (int cg = 0; cg < (size == 16 ? 2 : 1); cg++)
            /* whole, part by register, part by constant, ignored or not, all by constant, likewise in reverse */
            for (int how = 0; how < 6; how++) {
                char body[3000], last[60] = "";
                if (how == 1) strcpy(last, ", %r3");
                if (how == 2) snprintf(last, sizeof last, ", %d", size / 2);
                if (how == 3) strcpy(last, ", %p1");
                if (how >= 4) snprintf(last, sizeof last, ", %d", size);
                const char *hint = hints[(size + how) / 4 % 3];
                if (strstr(hint, "hint")) strcat(last, ", %d9");
                snprintf(
                    body, sizeof body,
                    ".reg .b64 %%d<10>; .reg .b32 %%r<9>; .reg .pred %%p<3>; .reg .b8 %%x<2>;\n"
                    ".shared .align 16 .b8 s[%d];\n"
                    "ld.param.u64 %%d0, [from]; ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; setp.ne.u32 %%p2, %%r1, %%r1;\n"
                    "mul.wide.u32 %%d2, %%r1, %d; add.u64 %%d3, %%d0, %%d2; add.u64 %%d4, %%d1, %%d2;\n"
                    "mov.u64 %%d5, s; add.u64 %%d5, %%d5, %%d2; mov.u64 %%d6, -1;\n"
                    "sub.u32 %%r6, %d, %%r1; mul.wide.u32 %%d7, %%r6, %d; %s add.u64 %%d3, %%d0, %%d7;\n"
                    "mov.u32 %%r5, -1; st.shared.u32 [%%d5], %%r5; st.shared.u32 [%%d5+%d], %%r5;\n" /* this must go */
                    "st.shared.u32 [%%d5+%d], %%r5; st.shared.u32 [%%d5+%d], %%r5;\n"
                    "rem.u32 %%r3, %%r1, %d; setp.eq.u32 %%p1, %%r3, 1;\n"
                    "createpolicy.fractional.L2::evict_last.b64 %%d9, 0.5;\n"
                    "cp.async.%s.shared.global%s [%%d5], [%%d3], %d%s;\n"
                    "cp.async.commit_group;\ncp.async.wait_group 0;\ncp.async.wait_all;\n",
                    N * 16, size, N - 1, size, how == 5 ? "" : "@%p2", size > 4 ? 4 : 0,
                    size > 8 ? 8 : 0, size > 8 ? 12 : 0, size + 1, ops[cg], hint, size, last);
                for (int k = 0; k < size; k += 4) {
                    char line[100];
                    snprintf(line, sizeof line,
                             "ld.shared.u32 %%r4, [%%d5+%d]; st.global.u32 [%%d4+%d], %%r4;\n", k,
                             k);
                    strcat(body, line);
                }
                strcat(body, "ret;\n");
                struct emu_run r = {.ptx = emu_ptx(".param .u64 from, .param .u64 out", body),
                                    .block = N};
                r.args[0] = emu_in(&r, from, (size_t)(N * size));
                r.args[1] = emu_out(&r, out, (size_t)(N * size));
                cr_assert(emu_run(&r), "%d %d %d: %s", size, cg, how, r.fault);
                for (int t = 0; t < N; t++) {
                    int n = how == 0              ? size
                            : how == 1            ? t % (size + 1)
                            : how == 2            ? size / 2
                            : how >= 4            ? size
                            : t % (size + 1) == 1 ? 0
                                                  : size;
                    const uint8_t *want = from + (how == 5 ? N - 1 - t : t) * size;
                    for (int k = 0; k < size; k++)
                        cr_assert(out[t * size + k] == (k < n ? want[k] : 0),
                                  "%d %d %d: thread %d byte %d", size, cg, how, t, k);
                }
            }
}

/* PTX ISA, cp.async: of the source only so many bytes are read. What lies behind them may be nobody's, or not be written. */
Test(emu_async, copies_of_parts_read_no_more)
{
    for (int bytes = 1; bytes < 16; bytes++) {
        uint8_t from[48 + 15], out[64], want[64] = {0};
        for (int i = 0; i < 63; i++) from[i] = (uint8_t)(i * 5 + 3);
        for (int t = 0; t < 4; t++)
            memcpy(want + 16 * t, from + 16 * t, (size_t)(t < 3 ? 16 : bytes));
        char body[800];
        snprintf(
            body, sizeof body,
            ".reg .b64 %%d<4>; .reg .b32 %%r<9>; .reg .pred %%p<2>; .shared .align 16 .b8 s[64];"
            " ld.param.u64 %%d0, [from]; ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x;"
            " setp.eq.u32 %%p1, %%r1, 3; selp.b32 %%r2, %d, 16, %%p1; mul.wide.u32 %%d2, %%r1, 16;"
            " add.u64 %%d0, %%d0, %%d2; add.u64 %%d1, %%d1, %%d2; mov.u32 %%r3, s;"
            " mad.lo.u32 %%r3, %%r1, 16, %%r3; cp.async.cg.shared.global [%%r3], [%%d0], 16, %%r2;"
            " cp.async.wait_all; ld.shared.v4.b32 {%%r4, %%r5, %%r6, %%r7}, [%%r3];"
            " st.global.v4.b32 [%%d1], {%%r4, %%r5, %%r6, %%r7}; ret;",
            bytes);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 from, .param .u64 out", body),
                            .block = 4,
                            .config.checks = EMU_CHECK_INIT};
        r.args[0] = emu_in(&r, from, (size_t)(48 + bytes));
        r.args[1] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%d: %s", bytes, r.fault);
        cr_expect(!r.findings, "%d: %s", bytes, r.finding);
        cr_expect(!memcmp(out, want, sizeof out), "%d", bytes);
    }
}

/* ---- a ring of mbarriers ----------------------------------------------------------------------- */

/* Warp 0 copies tiles, the others add them up: full and empty barriers by turns, so that a group of warps in
 * lockstep cannot stay together. */
static void check_pipeline(const char *wait)
{
    enum { TILES = 20, TILE = 32, STAGES = 3 };
    uint32_t in[TILES * TILE], out[96];
    for (uint32_t i = 0; i < TILES * TILE; i++) in[i] = i * 2654435761u;
    char body[6000];
    snprintf(
        body, sizeof body,
        ".reg .b64 %%d<20>; .reg .b32 %%r<30>; .reg .pred %%p<6>;\n"
        ".shared .align 16 .b8 tile[%d]; .shared .align 8 .b64 full[%d]; .shared .align 8 .b64 empty[%d];\n"
        "ld.param.u64 %%d0, [in]; ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x;\n"
        "mov.u32 %%r2, full; mov.u32 %%r3, empty; mov.u32 %%r4, tile;\n"
        "setp.eq.u32 %%p1, %%r1, 0;\n@!%%p1 bra ready;\n"
        "mov.u32 %%r5, 0;\ninit:\nshl.b32 %%r6, %%r5, 3; add.u32 %%r7, %%r2, %%r6; add.u32 %%r8, %%r3, %%r6;\n"
        "mbarrier.init.shared.b64 [%%r7], 1; mbarrier.init.shared::cta.b64 [%%r8], 96;\n"
        "add.u32 %%r5, %%r5, 1; setp.lt.u32 %%p2, %%r5, %d;\n@%%p2 bra init;\n"
        "fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;\n"
        "ready:\nbar.sync 0;\n"
        "mov.u32 %%r5, 0; mov.u32 %%r9, 0; mov.u32 %%r10, 0;\n" /* tile, stage, parity */
        "setp.lt.u32 %%p1, %%r1, 32;\n@!%%p1 bra consumer;\n"
        "setp.eq.u32 %%p1, %%r1, 0;\n@!%%p1 bra end;\n"
        "producer:\nshl.b32 %%r6, %%r9, 3; add.u32 %%r7, %%r2, %%r6; add.u32 %%r8, %%r3, %%r6;\n"
        "xor.b32 %%r11, %%r10, 1;\nwait_empty:\n"
        "mbarrier.%s.parity.shared.b64 %%p2, [%%r8], %%r11;\n@!%%p2 bra wait_empty;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [%%r7], %d;\n"
        "mad.lo.u32 %%r12, %%r9, %d, %%r4; mul.wide.u32 %%d2, %%r5, %d; add.u64 %%d2, %%d2, %%d0;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r12], [%%d2], %d, [%%r7];\n"
        "add.u32 %%r9, %%r9, 1; setp.eq.u32 %%p3, %%r9, %d; @%%p3 mov.u32 %%r9, 0; @%%p3 xor.b32 %%r10, %%r10, 1;\n"
        "add.u32 %%r5, %%r5, 1; setp.lt.u32 %%p2, %%r5, %d;\n@%%p2 bra producer;\nbra end;\n"
        "consumer:\nmov.u32 %%r20, 0;\nnext:\n"
        "shl.b32 %%r6, %%r9, 3; add.u32 %%r7, %%r2, %%r6; add.u32 %%r8, %%r3, %%r6;\nwait_full:\n"
        "mbarrier.%s.parity.shared.b64 %%p2, [%%r7], %%r10;\n@!%%p2 bra wait_full;\n"
        "mad.lo.u32 %%r12, %%r9, %d, %%r4; and.b32 %%r13, %%r1, 31; mad.lo.u32 %%r12, %%r13, 4, %%r12;\n"
        "ld.shared.u32 %%r14, [%%r12]; add.u32 %%r20, %%r20, %%r14;\n"
        "mbarrier.arrive.shared.b64 %%d5, [%%r8];\n"
        "add.u32 %%r9, %%r9, 1; setp.eq.u32 %%p3, %%r9, %d; @%%p3 mov.u32 %%r9, 0; @%%p3 xor.b32 %%r10, %%r10, 1;\n"
        "add.u32 %%r5, %%r5, 1; setp.lt.u32 %%p2, %%r5, %d;\n@%%p2 bra next;\n"
        "sub.u32 %%r15, %%r1, 32; mul.wide.u32 %%d3, %%r15, 4; add.u64 %%d3, %%d3, %%d1; st.global.u32 [%%d3], %%r20;\n"
        "end:\nret;\n",
        STAGES * TILE * 4, STAGES, STAGES, STAGES, wait, TILE * 4, TILE * 4, TILE * 4, TILE * 4,
        STAGES, TILES, wait, TILE * 4, STAGES, TILES);
    struct emu_run r = {.ptx = emu_ptx(".param .u64 in, .param .u64 out", body), .block = 128};
    r.config.max_instructions = 1000000;
    r.args[0] = emu_in(&r, in, sizeof in);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s: %s", wait, r.fault);
    for (uint32_t t = 0; t < 96; t++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < TILES; k++) sum += in[k * TILE + t % 32];
        cr_assert(out[t] == sum, "%s: thread %u: %x, want %x", wait, t, out[t], sum);
    }
}

Test(emu_async, pipelines_by_try_wait)
{
    check_pipeline("try_wait");
}
Test(emu_async, pipelines_by_test_wait)
{
    check_pipeline("test_wait");
}

/* A thread that only arrives when a test has said that it would wait: alone, and while another warp spins
 * for what it does then. */
Test(emu_async, try_wait_gives_up_when_nothing_else_can_go_on)
{
    for (uint32_t warps = 1; warps <= 2; warps++) {
        uint32_t out[3] = {0};
        struct emu_run r = {.block = 32 * warps};
        r.ptx = emu_ptx(
            ".param .u64 out",
            ".reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p<6>; .shared .align 8 .b64 bar; "
            ".shared .u32 flag;\n"
            "ld.param.u64 %d1, [out]; mov.u32 %r1, bar; mov.u32 %r2, %tid.x; mov.u32 %r4, 0;\n"
            "setp.eq.u32 %p1, %r2, 0; setp.eq.u32 %p4, %r2, 32;\n"
            "@%p1 mbarrier.init.shared.b64 [%r1], 1; @%p1 st.shared.u32 [flag], 0; bar.sync 0;\n"
            "@%p4 bra spin; @!%p1 bra end;\n"
            "again:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0; @%p2 bra done;\n"
            "add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 3; @%p3 bra again;\n"
            "mbarrier.arrive.shared.b64 %d2, [%r1]; st.volatile.shared.u32 [flag], 7; bra again;\n"
            "done:\nst.global.u32 [%d1], %r4; bra end;\n"
            "spin:\nld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %p2, %r3, 0; @%p2 bra spin;\n"
            "st.global.u32 [%d1+4], %r3;\nend:\nret;\n");
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%s", r.fault);
        cr_expect(out[0] == 3 && out[1] == (warps - 1) * 7, "%u %u", out[0], out[1]);
    }
}

/* All threads exchange values through shared memory, phase after phase, with states. */
Test(emu_async, threads_meet_at_an_mbarrier)
{
    enum { N = 100, PHASES = 5 };
    uint32_t out[N * 2];
    static const char body[] =
        ".reg .b64 %d<20>; .reg .b32 %r<30>; .reg .pred %p<6>;\n"
        ".shared .align 8 .b64 bar; .shared .b32 cell[100];\n"
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, cell; mov.u64 %d2, bar; cvta.shared.u64 %d2, %d2;\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.b64 [%d2], 100;\nbar.sync 0;\n"
        "mad.lo.u32 %r3, %r1, 4, %r2; add.u32 %r4, %r1, 37; rem.u32 %r4, %r4, 100; mad.lo.u32 %r4, %r4, 4, %r2;\n"
        "mov.u32 %r5, 0; mov.u32 %r6, 1; mov.u32 %r10, 0;\n"
        "again:\nadd.u32 %r7, %r6, %r1; st.shared.u32 [%r3], %r7;\n"
        "mbarrier.arrive.release.cta.b64 %d3, [%d2];\n"
        "wait1:\nmbarrier.test_wait.acquire.cta.b64 %p2, [%d2], %d3;\n@!%p2 bra wait1;\n"
        "ld.shared.u32 %r8, [%r4]; mad.lo.u32 %r6, %r8, 3, %r6;\n"
        "mbarrier.arrive.b64 %d3, [%d2];\n"
        "wait2:\nmbarrier.try_wait.b64 %p2, [%d2], %d3, 100;\n@!%p2 bra wait2;\n"
        "add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, 5;\n@%p3 bra again;\n"
        "mul.wide.u32 %d4, %r1, 8; add.u64 %d4, %d4, %d1; st.global.u32 [%d4], %r6;\n"
        /* everyone but thread 0 leaves; then thread 0 alone is a phase */
        "setp.eq.u32 %p1, %r1, 0;\n@!%p1 mbarrier.arrive_drop.b64 _, [%d2];\nbar.sync 0;\n@!%p1 bra end;\n"
        "mbarrier.arrive.noComplete.release.cta.b64 %d5, [%d2], 1;\nbra end;\n"
        "end:\nret;\n";
    struct emu_run r = {.ptx = emu_ptx(".param .u64 out", body), .block = N};
    r.config.max_instructions = 1000000;
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_expect(!emu_run(&r) && r.kind == EMU_BARRIER, ".noComplete that completes: %s", r.fault);
    char other[4000];
    snprintf(other, sizeof other, "%s", body);
    char *at = strstr(other, "mbarrier.arrive.noComplete");
    strcpy(
        at,
        "mbarrier.arrive.b64 %d5, [%d2];\nmbarrier.pending_count.b64 %r9, %d5;\n"
        "mbarrier.arrive.b64 %d6, [%d2];\nmbarrier.pending_count.b64 %r10, %d6; mad.lo.u32 %r9, %r9, 100, %r10;\n"
        "st.global.u32 [%d4+4], %r9; mbarrier.inval.b64 [%d2];\nend:\nret;\n");
    struct emu_run q = {.ptx = emu_ptx(".param .u64 out", other), .block = N};
    q.config.max_instructions = 1000000;
    q.args[0] = emu_out(&q, out, sizeof out);
    cr_assert(emu_run(&q), "%s", q.fault);
    uint32_t v[N], w[N];
    for (uint32_t t = 0; t < N; t++) v[t] = 1;
    for (int k = 0; k < PHASES; k++) {
        for (uint32_t t = 0; t < N; t++) w[t] = v[t] + t;
        for (uint32_t t = 0; t < N; t++) v[t] += 3 * w[(t + 37) % N];
    }
    for (uint32_t t = 0; t < N; t++)
        cr_assert(out[2 * t] == v[t], "thread %u: %u, want %u", t, out[2 * t], v[t]);
    cr_expect(out[1] == 101, "one arrival is pending each time: %u", out[1]);
}

/* cp.async's own arrivals. */
Test(emu_async, copies_arrive)
{
    enum { N = 64 };
    uint32_t in[N], out[N];
    for (uint32_t i = 0; i < N; i++) in[i] = i * i + 5;
    static const char body[] =
        ".reg .b64 %d<20>; .reg .b32 %r<30>; .reg .pred %p<6>;\n"
        ".shared .align 8 .b64 bars[2]; .shared .align 16 .b32 cell[64];\n"
        "ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, cell; mov.u32 %r3, bars;\n"
        "setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [%r3], 64;\n@%p1 mbarrier.init.shared.b64 [%r3+8], 128;\nbar.sync 0;\n"
        "mul.wide.u32 %d2, %r1, 4; add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2; mad.lo.u32 %r4, %r1, 4, %r2;\n"
        "cp.async.ca.shared.global [%r4], [%d0], 4;\n"
        "cp.async.mbarrier.arrive.shared.b64 [%r3];\n" /* changes nothing */
        "mbarrier.arrive.shared.b64 %d5, [%r3];\n"
        "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3+8];\n" /* counts */
        "mbarrier.arrive.shared.b64 _, [%r3+8];\n"
        "w1:\nmbarrier.test_wait.shared.b64 %p2, [%r3], %d5;\n@!%p2 bra w1;\n"
        "w2:\nmbarrier.test_wait.parity.shared.b64 %p2, [%r3+8], 0;\n@!%p2 bra w2;\n"
        "xor.b32 %r5, %r1, 63; mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u32 %r6, [%r5]; st.global.u32 [%d1], %r6;\nret;\n";
    struct emu_run r = {.ptx = emu_ptx(".param .u64 in, .param .u64 out", body), .block = N};
    r.config.max_instructions = 1000000;
    r.args[0] = emu_in(&r, in, sizeof in);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t t = 0; t < N; t++) cr_assert(out[t] == in[t ^ 63], "thread %u", t);
}

/* ---- bulk copies and reductions to global memory ----------------------------------------------- */

Test(emu_async, bulk_reductions)
{
    static const struct {
        const char *op;
        uint32_t width;
        uint64_t memory, operand, want;
    } cases[] = {
        {"add.u32", 4, 0xfffffffe, 3, 1},
        {"add.s32", 4, 0x7fffffff, 1, 0x80000000},
        {"add.u64", 8, 0xffffffff, 1, 0x100000000},
        {"add.f32", 4, 0x00400000, 0x00300000, 0x00700000}, /* unlike red, keeps subnormals */
        {"add.f64", 8, 0x3ff0000000000000, 0x3ff8000000000000, 0x4004000000000000},
        {"add.noftz.f16", 2, 0x0001, 0x3c00, 0x3c00},
        {"add.noftz.bf16", 2, 0x3f80, 0x3f80, 0x4000},
        {"min.u32", 4, 5, 0x80000000, 5},
        {"min.s32", 4, 5, 0x80000000, 0x80000000},
        {"max.u64", 8, 5, 0x8000000000000000, 0x8000000000000000},
        {"max.s64", 8, 5, 0x8000000000000000, 5},
        {"min.f16", 2, 0x0000, 0x8000, 0x8000},
        {"max.bf16", 2, 0x7fc0, 0xc000, 0xc000},
        {"inc.u32", 4, 7, 7, 0},
        {"dec.u32", 4, 9, 7, 7},
        {"and.b32", 4, 0xff00ff, 0xffff, 0xff},
        {"or.b64", 8, 0xff00, 0xff000000000000ff, 0xff0000000000ffff},
        {"xor.b32", 4, 0xffff, 0xff, 0xff00}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum { BYTES = 64 };
        uint8_t mem[BYTES + 16], in[BYTES], want[BYTES + 16];
        uint32_t w = cases[i].width;
        memset(mem, 0x55, sizeof mem);
        for (uint32_t k = 0; k < BYTES; k += w) {
            memcpy(mem + k, &cases[i].memory, w);
            memcpy(in + k, &cases[i].operand, w);
        }
        memcpy(want, mem, sizeof want);
        for (uint32_t k = 0; k < BYTES; k += w) memcpy(want + k, &cases[i].want, w);
        char body[2000];
        snprintf(
            body, sizeof body,
            ".reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .pred %%p;\n.shared .align 16 .b8 s[64];\n"
            "ld.param.u64 %%d0, [in]; ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, s;\n"
            "mul.wide.u32 %%d2, %%r1, 4; add.u64 %%d2, %%d2, %%d0; mad.lo.u32 %%r3, %%r1, 4, %%r2;\n"
            "ld.global.u32 %%r4, [%%d2]; st.shared.u32 [%%r3], %%r4;\nfence.proxy.async;\nbar.sync 0;\n"
            "setp.eq.u32 %%p, %%r1, 3;\n"
            "@%%p cp.reduce.async.bulk.global.shared::cta.bulk_group.%s [%%d1], [%%r2], 64;\n"
            "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\nret;\n",
            cases[i].op);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 in, .param .u64 out", body), .block = 16};
        r.args[0] = emu_in(&r, in, sizeof in);
        r.args[1] = emu_inout(&r, mem, sizeof mem);
        cr_assert(emu_run(&r), "%s: %s", cases[i].op, r.fault);
        cr_expect(memcmp(mem, want, sizeof mem) == 0, "%s: %02x%02x%02x%02x", cases[i].op, mem[3],
                  mem[2], mem[1], mem[0]);
    }
}

Test(emu_async, bulk_stores)
{
    uint32_t out[20];
    static const char body[] =
        ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p;\n.shared .align 16 .b32 s[16];\n"
        "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2;\n"
        "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nsetp.lt.u32 %p, %r1, 2;\n@!%p bra end;\n"
        "mul.wide.u32 %d2, %r1, 32; add.u64 %d2, %d2, %d1; mad.lo.u32 %r4, %r1, -16, %r2;\n"
        "add.u32 %r4, %r4, 16; cp.async.bulk.global.shared::cta.bulk_group [%d2+16], [%r4], 16;\n"
        "mov.u32 %r5, 0; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r4], %r5;\n"
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nend:\nret;\n";
    struct emu_run r = {.ptx = emu_ptx(".param .u64 out", body), .block = 16};
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    static const uint32_t want[20] = {0, 0, 0, 0, 4, 5, 6, 7, 0, 0, 0, 0, 0, 1, 2, 3};
    cr_expect(memcmp(out, want, sizeof out) == 0);
}

/* ---- clusters ---------------------------------------------------------------------------------- */

/* Four CTAs: arrivals, stores, reductions and copies into the next CTA, and a multicast. */
Test(emu_async, clusters)
{
    static const char body[] =
        ".reg .b64 %d<20>; .reg .b32 %r<40>; .reg .pred %p<6>; .reg .b16 %h<3>;\n"
        ".shared .align 8 .b64 bars[4]; .shared .align 16 .b32 cell[64];\n"
        "ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank;\n"
        "mov.u32 %r3, bars; mov.u32 %r4, cell; setp.eq.u32 %p1, %r1, 0;\n@!%p1 bra ready;\n"
        "mbarrier.init.shared.b64 [%r3], 32;\n"   /* arrivals from the CTA before */
        "mbarrier.init.shared.b64 [%r3+8], 1;\n"  /* bytes from the CTA before */
        "mbarrier.init.shared.b64 [%r3+16], 1;\n" /* the multicast's */
        "mbarrier.init.shared.b64 [%r3+24], 1;\n" /* the bulk copy's */
        "mbarrier.arrive.expect_tx.shared.b64 _, [%r3+8], 532;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3+16], 32;\n"
        "mbarrier.arrive.expect_tx.relaxed.cta.shared.b64 _, [%r3+24], 32;\n"
        "st.shared.u32 [%r4+128], 5; mov.u32 %r5, 7; st.shared.u32 [%r4+128], %r5;\n"
        "ready:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "add.u32 %r6, %r2, 1; and.b32 %r6, %r6, 3;\n" /* the next rank */
        "mapa.shared::cluster.u32 %r10, %r3, %r6; mapa.shared::cluster.u32 %r11, %r4, %r6;\n"
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r10];\n"
        /* 32 threads store 4 bytes, 4 store 16 and each of these 4 add 4 */
        "shl.b32 %r7, %r1, 2; add.u32 %r12, %r11, %r7; shl.b32 %r8, %r2, 8; add.u32 %r8, %r8, %r1;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r12], %r8, [%r10+8];\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r11+128], %r1, [%r10+8];\n"
        "setp.eq.u32 %p2, %r1, 9;\n@%p2 st.async.mbarrier::complete_tx::bytes.shared::cluster.v4.b32 [%r11+144], {%r1, %r2, %r8, %r1}, [%r10+8];\n"
        "@%p2 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.inc.u32 [%r11+160], %r1, [%r10+8];\n"
        "@%p2 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%r10+8], 4;\n"
        "@%p2 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r10+8], 4;\n"
        "mov.u64 %d8, bars; cvta.shared.u64 %d8, %d8; mapa.u64 %d9, %d8, %r6;\n"
        "@%p2 mbarrier.expect_tx.b64 [%d9+8], 244;\n@%p2 mbarrier.complete_tx.b64 [%d9+8], 244;\n"
        /* CTA 2 sends in[0..7] to CTAs 0, 2 and 3; CTA 1's barrier gets its bytes by hand */
        "setp.eq.u32 %p3, %r2, 2; and.pred %p3, %p3, %p1; mov.u16 %h1, 13;\n"
        "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r4+192], [%d0], 32, [%r3+16], %h1;\n"
        "setp.eq.u32 %p4, %r2, 1; and.pred %p4, %p4, %p1;\n@%p4 mbarrier.complete_tx.shared.b64 [%r3+16], 32;\n"
        /* everyone waits */
        "w1:\nmbarrier.try_wait.parity.acquire.cluster.shared.b64 %p2, [%r3], 0;\n@!%p2 bra w1;\n"
        "w2:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r3+8], 0;\n@!%p2 bra w2;\n"
        "w3:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r3+16], 0;\n@!%p2 bra w3;\n"
        /* what came goes on to the next CTA's cell 56 */
        "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r11+224], [%r4], 32, [%r10+24];\n"
        "w4:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r3+24], 0;\n@!%p2 bra w4;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "@%p1 mbarrier.init.shared.b64 [%r3], 1;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 16;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
        "@%p1 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r11+224], [%r4], 16, [%r10];\n"
        "w5:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;\n@!%p2 bra w5;\n"
        "add.u32 %r13, %r4, %r7; ld.shared.u32 %r14, [%r13]; ld.shared.u32 %r15, [%r13+128];\n"
        "shl.b32 %r16, %r2, 6; add.u32 %r16, %r16, %r1; mul.wide.u32 %d4, %r16, 4; add.u64 %d4, %d4, %d1;\n"
        "st.global.u32 [%d4], %r14; st.global.u32 [%d4+128], %r15;\n"
        "barrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n";
    uint32_t in[8], out[4 * 64], want[4 * 64] = {0};
    for (uint32_t i = 0; i < 8; i++) in[i] = 1000 + i;
    char text[8000];
    snprintf(text, sizeof text, "%s", body);
    memset(strstr(text, "st.shared.u32 [%r4+128], 5;"), ' ', 27);
    /* 32 * 4 + 32 * 4 + 16 + 4, and 256 that are never expected: 532 - 276 */
    struct emu_run r = {.ptx = emu_ptx(".param .u64 in, .param .u64 out", text),
                        .grid = 4,
                        .block = 32,
                        .cluster = 4};
    char *tx = strstr(text, "532");
    memcpy(tx, "276", 3);
    r.ptx = emu_ptx(".param .u64 in, .param .u64 out", text);
    r.config.max_instructions = 1000000;
    r.args[0] = emu_in(&r, in, sizeof in);
    r.args[1] = emu_out(&r, out, sizeof out);
    for (uint32_t c = 0; c < 4; c++) {
        uint32_t *w = want + c * 64, from = (c + 3) % 4;
        for (uint32_t i = 0; i < 32; i++) w[i] = from * 256 + i;
        w[32] = 7 + 31 * 32 / 2;
        w[36] = 9, w[37] = from, w[38] = from * 256 + 9, w[39] = 9;
        w[40] = 1;
        for (uint32_t i = 0; c != 1 && i < 8; i++) w[48 + i] = in[i];
        for (uint32_t i = 0; i < 8; i++) w[56 + i] = (from + 3) % 4 * 256 + i;
        for (uint32_t i = 0; i < 4; i++) w[56 + i] *= 2;
    }
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 4 * 64; i++)
        cr_assert(out[i] == want[i], "CTA %u cell %u: %u, want %u", i / 64, i % 64, out[i],
                  want[i]);
}

/* What one CTA does to words of another: reductions by threads and in bulk, on every kind of operand. */
Test(emu_async, reductions_in_another_cta)
{
    static const struct {
        const char *op;
        uint32_t memory, operand, want;
    } cases[] = {
        {"add.u32", 0xfffffffe, 5, 3},
        {"add.s32", 7, 0xfffffff8, 0xffffffff},
        {"inc.u32", 7, 7, 0},
        {"inc.u32", 6, 7, 7},
        {"dec.u32", 0, 7, 7},
        {"dec.u32", 9, 7, 7},
        {"dec.u32", 5, 7, 4},
        {"min.u32", 0x80000000, 5, 5},
        {"min.s32", 0x80000000, 5, 0x80000000},
        {"max.u32", 0x80000000, 5, 0x80000000},
        {"max.s32", 0x80000000, 5, 5},
        {"and.b32", 0xff00ff, 0xffff, 0xff},
        {"or.b32", 0xff00, 0xf0f0, 0xfff0},
        {"xor.b32", 0xffff, 0xff, 0xff00},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int bulk = 0; bulk < 2; bulk++) {
            char body[3000], send[400];
            if (bulk)
                snprintf(
                    send, sizeof send,
                    "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.%s [%%r6], [%%r3+32], 32, [%%r5];\n",
                    cases[i].op);
            else
                snprintf(
                    send, sizeof send,
                    "red.async.relaxed.cluster%s.mbarrier::complete_tx::bytes.%s [%s+20], %%r9, [%s];\n",
                    i % 2 ? ".shared::cluster" : "", cases[i].op, i % 2 ? "%r6" : "%d3",
                    i % 2 ? "%r5" : "%d4");
            /* Thread 0 of CTA 1 sends to CTA 0, where 8 words lie that the bulk reduction takes all. */
            snprintf(
                body, sizeof body,
                ".reg .b64 %%d<6>; .reg .b32 %%r<20>; .reg .pred %%p<4>;\n"
                ".shared .align 8 .b64 bar; .shared .align 16 .b32 cell[16];\n"
                "ld.param.u64 %%d1, [out]; ld.param.u32 %%r8, [memory]; ld.param.u32 %%r9, [operand];\n"
                "mov.u32 %%r1, %%tid.x; mov.u32 %%r2, bar; mov.u32 %%r3, cell; mov.u32 %%r4, %%cluster_ctarank;\n"
                "mad.lo.u32 %%r7, %%r1, 4, %%r3; st.shared.u32 [%%r7], %%r8; st.shared.u32 [%%r7+32], %%r9;\n"
                "setp.eq.u32 %%p1, %%r1, 0; setp.eq.u32 %%p2, %%r4, 1;\n"
                "@%%p1 mbarrier.init.shared.b64 [%%r2], 1;\n"
                "@%%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%%r2], %d;\nfence.proxy.async;\n"
                "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                "@!%%p2 bra wait;\n@!%%p1 bra end;\n"
                "mapa.shared::cluster.u32 %%r5, %%r2, 0; mapa.shared::cluster.u32 %%r6, %%r3, 0;\n"
                "mov.u64 %%d3, cell; cvta.shared.u64 %%d3, %%d3; mapa.u64 %%d3, %%d3, 0;\n"
                "mov.u64 %%d4, bar; cvta.shared.u64 %%d4, %%d4; mapa.u64 %%d4, %%d4, 0;\n%sbra end;\n"
                "wait:\nmbarrier.try_wait.parity.shared.b64 %%p3, [%%r2], 0;\n@!%%p3 bra wait;\n"
                "ld.shared.u32 %%r10, [%%r7]; mul.wide.u32 %%d2, %%r1, 4; add.u64 %%d2, %%d2, %%d1; st.global.u32 [%%d2], %%r10;\n"
                "end:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n",
                bulk ? 32 : 4, send);
            uint32_t out[8];
            struct emu_run r = {
                .ptx = emu_ptx(".param .u64 out, .param .u32 memory, .param .u32 operand", body),
                .grid = 2,
                .block = 8,
                .cluster = 2};
            r.config.max_instructions = 100000;
            r.args[0] = emu_out(&r, out, sizeof out);
            r.args[1] = cases[i].memory;
            r.args[2] = cases[i].operand;
            cr_assert(emu_run(&r), "%s: %s", send, r.fault);
            for (int k = 0; k < 8; k++) {
                uint32_t want = bulk || k == 5 ? cases[i].want : cases[i].memory;
                cr_expect(out[k] == want, "%s word %d: %x, not %x", send, k, out[k], want);
            }
        }
}

/* A copy that is said to end in the own CTA. */
Test(emu_async, bulk_loads_of_the_own_cta)
{
    uint32_t in[16], out[16];
    for (uint32_t i = 0; i < 16; i++) in[i] = i * i + 3;
    static const char text[] =
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b64 %d<6>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
        ".shared .align 8 .b64 bar; .shared .align 16 .b32 cell[16];\n"
        "ld.param.u64 %d0, [in]; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, cell;\n"
        "mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], 99; setp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 mbarrier.init.shared.b64 [%r2], 1;\n@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 48;\n"
        "bar.sync 0;\n"
        "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r3], [%d0+16], 48, [%r2];\n"
        "wait:\nmbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n@!%p2 bra wait;\n"
        "ld.shared.u32 %r5, [%r4]; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r5;\nret;\n}\n";
    struct emu_run r = {.ptx = text, .block = 16};
    r.args[0] = emu_in(&r, in, sizeof in);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 16; i++)
        cr_expect(out[i] == (i < 12 ? in[i + 4] : 99), "word %u: %u", i, out[i]);
}

/* ---- what is wrong ----------------------------------------------------------------------------- */

static void check_fault(const char *inst, enum emu_fault_kind kind)
{
    char body[1000];
    uint32_t mem[16] = {0};
    snprintf(
        body, sizeof body,
        ".reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .pred %%p<3>;\n.shared .align 16 .b8 s[64];\n"
        "ld.param.u64 %%d0, [mem]; mov.u32 %%r1, s; mov.u32 %%r2, 20;\n%s\nret;\n",
        inst);
    struct emu_run r = {.ptx = emu_ptx(".param .u64 mem", body), .block = 1};
    r.args[0] = emu_inout(&r, mem, sizeof mem);
    cr_expect(!emu_run(&r), "%s runs", inst);
    cr_expect(r.kind == kind, "%s: %s", inst, r.fault);
}

Test(emu_async, faults)
{
    check_fault("cp.async.ca.shared.global [%r1+2], [%d0], 4;", EMU_MISALIGNED);
    check_fault("cp.async.ca.shared.global [%r1], [%d0+4], 8;", EMU_MISALIGNED);
    check_fault("cp.async.cg.shared.global [%r1+64], [%d0], 16;", EMU_OUT_OF_BOUNDS);
    check_fault("cp.async.cg.shared.global [%r1], [%d0+64], 16;", EMU_OUT_OF_BOUNDS);
    check_fault("cp.async.cg.shared.global [%r1], [%d0], 16, %r2;", EMU_OUT_OF_BOUNDS);
    check_fault("mbarrier.arrive.shared.b64 %d1, [%r1];", EMU_BARRIER);
    check_fault("mbarrier.init.shared.b64 [%r1+4], 1;", EMU_MISALIGNED);
    check_fault("mbarrier.init.b64 [%d0], 1;", EMU_WRONG_SPACE);
    check_fault("mov.u32 %r3, 0; mbarrier.init.shared.b64 [%r1], %r3;", EMU_BARRIER);
    check_fault("mbarrier.init.shared.b64 [%r1], 1; mbarrier.arrive.shared.b64 %d1, [%r1], 2;",
                EMU_BARRIER);
    check_fault(
        "mbarrier.init.shared.b64 [%r1], 1; mbarrier.inval.shared.b64 [%r1]; mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;",
        EMU_BARRIER);
    check_fault(
        "mbarrier.init.shared.b64 [%r1], 1; mov.u64 %d1, 5; mbarrier.test_wait.shared.b64 %p1, [%r1], %d1;",
        EMU_BARRIER);
    check_fault("cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], %r2;", EMU_MISALIGNED);
    check_fault("mov.u32 %r2, 80; cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], %r2;",
                EMU_OUT_OF_BOUNDS);
    check_fault("mov.u32 %r2, -16; cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], %r2;",
                EMU_OUT_OF_BOUNDS);
    check_fault(
        "mbarrier.init.shared.b64 [%r1], 1;\nw:\nmbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n@!%p1 bra w;",
        EMU_DEADLOCK);
}

/* libcu++'s cp_async_mbarrier_arrive gives a 32-bit address in .shared without naming the space; ptxas takes it. */
Test(emu_async, arrivals_of_copies_without_a_space)
{
    uint32_t out[32];
    struct emu_run r = {.block = 32};
    r.ptx = emu_ptx(
        ".param .u64 out",
        ".shared .align 8 .b64 pad, bar; .reg .b32 %a, %t, %v; .reg .b64 %o; .reg .pred %p;\n"
        "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %o, %t, 4, %o;\n"
        "mov.u32 %a, pad; mov.u32 %a, bar; setp.eq.u32 %p, %t, 0;\n"
        "@%p mbarrier.init.shared.b64 [%a], 32;\nbar.sync 0;\n"
        "cp.async.mbarrier.arrive.noinc.b64 [%a];\n"
        "L: mbarrier.try_wait.parity.shared.b64 %p, [%a], 0; @!%p bra L;\n"
        "st.global.u32 [%o], 42; ret;");
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int t = 0; t < 32; t++) cr_expect(out[t] == 42, "%d: %u", t, out[t]);
}

/* After mbarrier.inval PTX leaves open what operations do. A second one, as of libcu++'s destructors, does nothing and is a
 * finding; others end the launch, and say why. */
Test(emu_async, mbarriers_that_were_invalidated)
{
    static const struct {
        const char *then;
        bool ends;
    } cases[] = {{"mbarrier.inval.shared.b64 [bar];", false},
                 {"mbarrier.inval.shared.b64 [bar]; mbarrier.init.shared.b64 [bar], 1; "
                  "mbarrier.arrive.shared.b64 %s, [bar];",
                  false},
                 {"mbarrier.arrive.shared.b64 %s, [bar];", true},
                 {"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4;", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400];
        snprintf(body, sizeof body,
                 ".shared .align 8 .b64 bar; .reg .b64 %%s;\nmbarrier.init.shared.b64 [bar], 1;\n"
                 "mbarrier.inval.shared.b64 [bar];\n%s\nret;",
                 cases[i].then);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 x", body), .block = 1};
        const bool ran = emu_run(&r);
        cr_expect(ran == !cases[i].ends, "%s: %s", cases[i].then, r.fault);
        if (cases[i].ends)
            cr_expect(strstr(r.fault, "was invalidated (mbarrier.inval)"), "%s", r.fault);
        r.config.checks = EMU_CHECK_SYNC;
        r.once = true;
        emu_run(&r);
        cr_expect(cases[i].ends || (r.findings == 1 && r.finding_kind == EMU_BARRIER), "%s: %zu",
                  cases[i].then, r.findings);
    }
}

/* Cache policies have the bits that CUDA's headers spell out (CUTLASS, TMA::CacheHintSm90), so that programs can compare. */
Test(emu_async, cache_policies)
{
    static const char *const policies[] = {
        "fractional.L2::evict_first.b64 %c, 1.0",
        "fractional.L2::evict_last.b64 %c, 1.0",
        "fractional.L2::evict_normal.b64 %c, 1.0",
        "fractional.L2::evict_first.b64 %c",
        "fractional.L2::evict_unchanged.b64 %c, 1.0",
        "fractional.L2::evict_first.b64 %c, 0.5",
        "fractional.L2::evict_last.L2::evict_unchanged.b64 %c, 1.0",
        "range.global.L2::evict_last.b64 %c, [%o], 16, 64"};
    static const uint64_t wanted[] = {0x12f0000000000000, 0x14f0000000000000, 0x16f0000000000000,
                                      0x12f0000000000000};
    enum { N = sizeof policies / sizeof *policies };
    uint64_t out[N];
    for (size_t i = 0; i < N; i++) {
        char body[300];
        snprintf(body, sizeof body,
                 ".reg .b64 %%c, %%o; ld.param.u64 %%o, [out];\ncreatepolicy.%s;\n"
                 "st.global.u64 [%%o], %%c; ret;",
                 policies[i]);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 out", body), .block = 1};
        r.args[0] = emu_out(&r, &out[i], sizeof out[i]);
        cr_assert(emu_run(&r), "%s: %s", policies[i], r.fault);
        if (i < sizeof wanted / sizeof *wanted)
            cr_expect(out[i] == wanted[i], "%s: %llx", policies[i], (unsigned long long)out[i]);
        for (size_t k = 0; k < i; k++)
            cr_expect(out[k] != out[i] || i == 3, "%s: as %s", policies[i], policies[k]);
    }
}
