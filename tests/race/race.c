/* The race detector and the check of atomicity: small kernels with the lines that race. */
#include "determinism/race/race.h"
#include "base/arena.h"
#include "base/diag.h"
#include "determinism/orders.h"
#include "emu/emu.h"
#include "emu/order.h"
#include "ptx/ptx.h"
#include "tests/support/emu.h"
#include "tests/support/races.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 4096 };

/* A kernel for sm_90 whose body finds: %t thread, %c CTA, %g global word of the thread, %m global memory, %s shared
 * word of the thread, %n that of thread ^ 32, %x that of thread ^ 1. Lines that race end in //a. */
static const char head[] =
    ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory)%s\n{\n"
    ".shared .align 16 .b32 words[1024];\n.shared .align 8 .b64 bar;\n"
    ".reg .b32 %%t, %%c, %%s, %%n, %%x, %%b, %%r<10>;\n.reg .b64 %%m, %%g, %%d<10>;\n.reg .pred %%p<10>;\n"
    "ld.param.u64 %%m, [memory];\nmov.u32 %%t, %%tid.x;\nmov.u32 %%c, %%ctaid.x;\nmov.u32 %%r0, %%ntid.x;\nmad.lo.u32 %%r0, %%c, %%r0, %%t;\n"
    "mad.wide.u32 %%g, %%r0, 4, %%m;\nmov.u32 %%s, words;\nmov.u32 %%b, bar;\nxor.b32 %%n, %%t, 32;\n"
    "xor.b32 %%x, %%t, 1;\nmad.lo.u32 %%n, %%n, 4, %%s;\nmad.lo.u32 %%x, %%x, 4, %%s;\n"
    "mad.lo.u32 %%s, %%t, 4, %%s;\nsetp.eq.u32 %%p0, %%t, 0;\nsetp.eq.u32 %%p1, %%c, 0;\nshr.u32 %%r9, %%t, 5;\n"
    "setp.eq.u32 %%p2, %%r9, 0;\nmov.u32 %%r2, 0;\nmov.u32 %%r3, 0;\n%s\nadd.u32 %%r2, %%r2, %%r3;\n"
    "st.global.u32 [%%g+8192], %%r2;\nret;\n}\n";

struct row {
    const char *name;
    uint32_t grid, block;
    const char *body;
    const char *directives; /* of the kernel; NULL: none */
};

/* The pairs of lines that end in //a, //b ...: one line races with itself. */
static size_t expected(const char *text, struct emu_found *out)
{
    size_t n = 0;
    for (char letter = 'a'; letter <= 'd'; letter++) {
        uint32_t line = 1, first = 0, last = 0;
        for (const char *p = text; *p; line += *p++ == '\n')
            if (p[0] == '/' && p[1] == '/' && p[2] == letter) {
                if (!first) first = line;
                last = line;
            }
        if (first) out[n++] = (struct emu_found){.line = first, .line2 = last};
    }
    return n;
}

static void run(const struct row *row, enum emu_divergence divergence, unsigned checks)
{
    static uint32_t memory[WORDS];
    static char text[1 << 14];
    struct emu_found want[16] = {{0}};
    snprintf(text, sizeof text, head, row->directives ? row->directives : "", row->body);
    struct emu_run r = {
        .ptx = text, .kernel = "k", .grid = row->grid, .block = row->block, .once = true};
    r.config.checks = checks;
    r.config.divergence = divergence;
    r.config.timeout = 10;
    memset(memory, 0, sizeof memory);
    r.args[0] = emu_inout(&r, memory, sizeof memory);
    cr_expect(emu_run(&r), "%s: %s", row->name, r.fault);
    size_t n = expected(text, want);
    cr_expect(r.findings == n, "%s: %zu findings, not %zu\n%s", row->name, r.findings, n,
              r.finding);
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < r.findings; k++)
            found |= (r.found[k].line == want[i].line && r.found[k].line2 == want[i].line2) ||
                     (r.found[k].line == want[i].line2 && r.found[k].line2 == want[i].line);
        cr_expect(found, "%s: not lines %u and %u\n%s", row->name, want[i].line, want[i].line2,
                  r.finding);
    }
}

static void each(const struct row *rows, size_t count, unsigned checks)
{
    for (size_t i = 0; i < count; i++) {
        run(&rows[i], EMU_STACK, checks);
        run(&rows[i], EMU_ITS, checks);
    }
}
#define EACH(rows, checks) each(rows, sizeof(rows) / sizeof *(rows), checks)

Test(race, barriers_order_a_cta)
{
    static const struct row rows[] = {
        {"no barrier", 1, 64, "st.shared.u32 [%s], %t; //a\nld.shared.u32 %r2, [%n]; //a", NULL},
        {"barrier", 1, 64, "st.shared.u32 [%s], %t;\nbar.sync 0;\nld.shared.u32 %r2, [%n];", NULL},
        {"the next store", 1, 64,
         "bar.sync 0;\nld.shared.u32 %r2, [%n]; //a\nst.shared.u32 [%s], %t; //a", NULL},
        {"global", 2, 64, "st.global.u32 [%m], %t; //a", NULL},
        {"arrive", 1, 64,
         "@%p2 bra A;\nbar.sync 1, 64;\nld.shared.u32 %r2, [%n];\nbra E;\n"
         "A:\nst.shared.u32 [%s], %t;\nbar.arrive 1, 64;\nE:",
         NULL},
        {"arrived before the store", 1, 64,
         "@%p2 bra A;\nbar.sync 1, 64;\nld.shared.u32 %r2, [%n]; //a\nbra E;\n"
         "A:\nbar.arrive 1, 64;\nst.shared.u32 [%s], %t; //a\nE:",
         NULL},
        {"ended before the barrier", 1, 64,
         "st.shared.u32 [%s], %t; //a\n@%p2 exit;\nbar.sync 0;\nld.shared.u32 %r2, [%n]; //a",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

/* PTX ISA, bar.warp.sync: it waits until all threads of the mask have executed a bar.warp.sync with the same mask; since
 * sm_70 not the same instruction. On the SIMT stack one path passes it before the other comes (docs/races.md). */
Test(race, lanes_meet_at_different_warp_barriers)
{
    static const struct row rows[] = {
        {"by two paths, masks in other registers", 1, 32,
         "and.b32 %r4, %t, 16;\nsetp.ne.u32 %p3, %r4, 0;\nmov.u32 %r5, %t;\nmov.u32 %r6, %t;\n@%p3 bra A;\n"
         "mov.u32 %r5, -1;\nbar.warp.sync %r5;\nxor.b32 %r4, %s, 64;\nld.shared.u32 %r2, [%r4];\nbra E;\n"
         "A:\nst.shared.u32 [%s], %t;\nmov.u32 %r6, -1;\nbar.warp.sync %r6;\n"
         "E:\nadd.u32 %r3, %r5, %r6;",
         NULL},
        {"the store behind one of them", 1, 32,
         "and.b32 %r4, %t, 16;\nsetp.ne.u32 %p3, %r4, 0;\n@%p3 bra A;\nbar.warp.sync -1;\n"
         "xor.b32 %r4, %s, 64;\nld.shared.u32 %r2, [%r4]; //a\nbra E;\n"
         "A:\nbar.warp.sync -1;\nst.shared.u32 [%s], %t; //a\nE:",
         NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) run(&rows[i], EMU_ITS, EMU_CHECK_RACE);
}

Test(race, lanes_of_a_warp_are_threads)
{
    static const struct row rows[] = {
        {"no barrier", 1, 32, "st.shared.u32 [%s], %t; //a\nld.shared.u32 %r2, [%x]; //a", NULL},
        {"a shuffle is none", 1, 32,
         "st.shared.u32 [%s], %t; //a\nshfl.sync.idx.b32 %r3, %t, 0, 31, -1;\nld.shared.u32 %r2, [%x]; //a",
         NULL},
        {"barrier", 1, 32, "st.shared.u32 [%s], %t;\nbar.warp.sync -1;\nld.shared.u32 %r2, [%x];",
         NULL},
        {"of pairs", 1, 32,
         "st.shared.u32 [%s], %t;\nand.b32 %r3, %t, 30;\nshl.b32 %r3, 3, %r3;\nbar.warp.sync %r3;\n"
         "ld.shared.u32 %r2, [%x];",
         NULL},
        {"of other pairs", 1, 32,
         "st.shared.u32 [%s], %t; //a\nand.b32 %r3, %t, 15;\nmov.u32 %r4, 65537;\nshl.b32 %r3, %r4, %r3;\n"
         "bar.warp.sync %r3;\nld.shared.u32 %r2, [%x]; //a",
         NULL},
        {"one store, other values", 1, 32, "st.global.u32 [%m], %t; //a", NULL},
        {"one store, one value", 1, 32, "st.global.u32 [%m], 7; //a", NULL},
        {"own word", 1, 32, "st.shared.u32 [%s], %t;\nld.shared.u32 %r2, [%s];", NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

/* PTX, "observation order": an atomic operation observes those before it at its word, and nothing else does. CTAs run
 * one after another; %p3: it is the last one. */
Test(race, atomics_observe_all_atomics_before_them)
{
#define LAST "setp.eq.u32 %p3, %c, 3;\nsetp.eq.u32 %p4, %c, 1;\n"
    static const struct row rows[] = {
        {"a plain load behind an atomic", 4, 1,
         LAST "atom.relaxed.gpu.global.add.u32 %r2, [%m], 1;\n@%p3 ld.global.u32 %r3, [%m];", NULL},
        {"a plain store behind an exchange", 4, 1,
         LAST "atom.relaxed.gpu.global.exch.b32 %r2, [%m], 1;\n@%p3 st.global.u32 [%m], 7;", NULL},
        {"behind a reduction, which observes nothing", 4, 1,
         LAST "@!%p3 atom.relaxed.gpu.global.add.u32 %r2, [%m], 1; //a\n"
              "@%p3 red.relaxed.gpu.global.add.u32 [%m], 1;\n@%p3 ld.global.u32 %r3, [%m]; //a",
         NULL},
        {"behind nothing", 4, 1,
         LAST "@!%p3 atom.relaxed.gpu.global.add.u32 %r2, [%m], 1; //a\n"
              "@%p3 ld.global.u32 %r3, [%m]; //a",
         NULL},
        {"a plain store behind nothing", 4, 1,
         LAST "@!%p3 atom.relaxed.gpu.global.exch.b32 %r2, [%m], 1; //a\n"
              "@%p3 st.global.u32 [%m], 7; //a",
         NULL},
        {"a store between them, which observes nothing", 4, 1,
         LAST
         "setp.eq.u32 %p5, %c, 0;\n@%p5 atom.relaxed.gpu.global.add.u32 %r2, [%m], 1; //a\n"
         "@%p4 st.relaxed.gpu.global.u32 [%m], 1;\n"
         "@%p3 atom.relaxed.gpu.global.add.u32 %r2, [%m], 1;\n@%p3 ld.global.u32 %r3, [%m]; //a",
         NULL},
        {"a compare-and-swap that fails, which observes, but writes nothing", 4, 1,
         LAST "setp.eq.u32 %p5, %c, 0;\n@%p5 atom.relaxed.gpu.global.exch.b32 %r2, [%m], 1; //a\n"
              "@%p4 atom.relaxed.gpu.global.cas.b32 %r2, [%m], 7, 8;\n"
              "@%p3 ld.global.u32 %r3, [%m]; //a",
         NULL},
        {"words of another width", 4, 1,
         LAST "@!%p3 atom.relaxed.gpu.global.exch.b32 %r2, [%m], 1; //a\n"
              "@%p3 atom.relaxed.gpu.global.exch.b64 %d1, [%m], 1; //a",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
#undef LAST
}

/* CTA 0 does the body's upper part, and CTA 1 the lower one when it has read a 1 at %m+N. */
#define WAIT_AT(n)                                                                                 \
    "\nbra E;\nW:\nld.acquire.gpu.global.u16 %r3, [%m+" n                                          \
    "];\nsetp.eq.u32 %p3, %r3, 0;\n@%p3 bra W;\n"

Test(race, flags_of_one_word_are_independent)
{
    static const struct row rows[] = {
        {"the lower half", 2, 1,
         "@!%p1 bra W;\nst.release.gpu.global.u16 [%m+256], 1;\nst.global.u32 [%m], 7; //a\n"
         "st.release.gpu.global.u16 [%m+258], 1;" WAIT_AT("256") "ld.global.u32 %r2, [%m]; //a\nE:",
         NULL},
        {"the upper half", 2, 1,
         "@!%p1 bra W;\nst.release.gpu.global.u16 [%m+256], 1;\nst.global.u32 [%m], 7;\n"
         "st.release.gpu.global.u16 [%m+258], 1;" WAIT_AT("258") "ld.global.u32 %r2, [%m];\nE:",
         NULL},
        {"the older one ends", 2, 1,
         "@!%p1 bra W;\nst.release.gpu.global.u16 [%m+256], 1;\nst.global.u32 [%m], 7;\n"
         "st.global.u16 [%m+256], 2;\n"
         "st.release.gpu.global.u16 [%m+258], 1;" WAIT_AT("258") "ld.global.u32 %r2, [%m];\nE:",
         NULL},
        {"the newer one ends", 2, 1,
         "@!%p1 bra W;\nst.relaxed.gpu.global.u16 [%m+258], 0;\nst.global.u32 [%m], 7;\n"
         "st.release.gpu.global.u16 [%m+258], 1;\nst.release.gpu.global.u16 [%m+256], 1;\n"
         "st.global.u16 [%m+256], 2;" WAIT_AT("258") "ld.global.u32 %r2, [%m];\nE:",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

Test(race, bytes_are_independent)
{
    static const struct row rows[] = {
        {"a row of one of two pages", 2, 32,
         "@!%p1 bra W;\nmad.wide.u32 %d1, %t, 256, %m;\n"
         "R:\nld.global.u32 %r2, [%d1]; //a\nadd.u64 %d1, %d1, 128;\nadd.u32 %r3, %r3, 1;\n"
         "setp.lt.u32 %p3, %r3, 2;\n@%p3 bra R;\nbra E;\n"
         "W:\n@%p0 st.global.u32 [%m+384], %t; //a\nE:",
         NULL},
        {"own bytes", 2, 64,
         "cvt.u64.u32 %d1, %r0;\nadd.u64 %d1, %m, %d1;\nst.global.u8 [%d1], %t;\n"
         "ld.global.u8 %r2, [%d1];",
         NULL},
        {"the word around them", 1, 64,
         "cvt.u64.u32 %d1, %r0;\nadd.u64 %d1, %m, %d1;\nst.global.u8 [%d1], %t; //a\n@!%p0 bra E;\n"
         "ld.global.u32 %r2, [%m]; //a\nE:",
         NULL},
        {"word before bytes", 1, 64,
         "@!%p0 bra B;\nst.global.u32 [%m], %t; //a\nB:\ncvt.u64.u32 %d1, %r0;\nadd.u64 %d1, %m, %d1;\n"
         "@%p2 bra E;\nld.global.u8 %r2, [%d1+-30]; //a\nE:",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

/* CTA 0 writes word 64 and raises a flag in word 0; CTA 1 waits for it and reads. */
#define WRITER "@!%p0 bra E;\n@!%p1 bra R;\n"
#define READER "bra E;\nR:\n"
#define DATA "st.global.u32 [%m+256], 7;"
#define LOOK "ld.global.u32 %r3, [%m+256];"

Test(race, flags_order_ctas)
{
    static const struct row rows[] = {
        {"release and acquire", 2, 32,
         WRITER DATA
         "\nst.release.gpu.global.u32 [%m], 1;\n" READER
         "L:\nld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         "\nE:",
         NULL},
        {"a compare-and-swap that fails, as it does again", 2, 32,
         WRITER DATA
         " //a\nst.relaxed.gpu.global.u32 [%m], 7;\nmov.u32 %r4, 0;\n"
         "C:\natom.release.gpu.global.cas.b32 %r2, [%m], 0, 1;\nadd.u32 %r4, %r4, 1;\n"
         "setp.lt.u32 %p4, %r4, 3;\n@%p4 bra C;\n" READER
         "L:\nld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"a relaxed flag", 2, 32,
         WRITER DATA
         " //a\nst.relaxed.gpu.global.u32 [%m], 1;\n" READER
         "L:\nld.relaxed.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"a plain flag", 2, 32,
         WRITER DATA
         " //a\nfence.acq_rel.gpu;\nst.global.u32 [%m], 1; //b\n" READER
         "L:\nld.acquire.gpu.global.u32 %r2, [%m]; //b\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"fences", 2, 32,
         WRITER DATA
         "\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%m], 1;\n" READER
         "L:\nld.volatile.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n"
         "membar.gl;\n" LOOK "\nE:",
         NULL},
        {"one fence", 2, 32,
         WRITER DATA
         " //a\nfence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 [%m], 1;\n" READER
         "L:\nld.relaxed.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"a fence of the CTA", 2, 32,
         WRITER DATA
         " //a\nfence.acq_rel.cta;\nst.relaxed.gpu.global.u32 [%m], 1;\n" READER
         "L:\nld.relaxed.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n"
         "fence.acq_rel.gpu;\n" LOOK " //a\nE:",
         NULL},
        {"the wrong side of the fence", 2, 32,
         WRITER
         "fence.acq_rel.gpu;\n" DATA " //a\nst.relaxed.gpu.global.u32 [%m], 1;\n" READER
         "L:\nld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"the flag of the CTA", 2, 32,
         WRITER DATA
         " //a\nst.release.cta.global.u32 [%m], 1; //b\n" READER
         "L:\nld.acquire.gpu.global.u32 %r2, [%m]; //b\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"read-modify-writes pass it on", 3, 32,
         "@!%p0 bra E;\n@%p1 st.global.u32 [%m+256], 7;\n@%p1 atom.add.release.gpu.global.u32 %r2, [%m], 1;\n"
         "@%p1 bra E;\nsetp.eq.u32 %p4, %c, 1;\n@%p4 atom.add.relaxed.gpu.global.u32 %r2, [%m], 1;\n@%p4 bra E;\n"
         "L:\nld.acquire.gpu.global.u32 %r2, [%m];\nsetp.lt.u32 %p3, %r2, 2;\n@%p3 bra L;\n" LOOK
         "\nE:",
         NULL},
        {"a store does not", 3, 32,
         "@!%p0 bra E;\n@%p1 st.global.u32 [%m+256], 7; //a\n@%p1 st.release.gpu.global.u32 [%m], 1;\n"
         "@%p1 bra E;\nsetp.eq.u32 %p4, %c, 1;\n@!%p4 bra L;\nW:\nld.relaxed.gpu.global.u32 %r2, [%m];\n"
         "setp.eq.u32 %p3, %r2, 0;\n@%p3 bra W;\nst.relaxed.gpu.global.u32 [%m], 2;\nbra E;\n"
         "L:\nld.acquire.gpu.global.u32 %r2, [%m];\nsetp.ne.u32 %p3, %r2, 2;\n@%p3 bra L;\n" LOOK
         " //a\nE:",
         NULL},
        {"a reduction reads nothing", 2, 32,
         WRITER DATA " //a\nst.release.gpu.global.u32 [%m], 1;\n" READER
                     "red.relaxed.gpu.global.add.u32 [%m], 1;\nfence.acq_rel.gpu;\n" LOOK
                     " //a\nE:",
         NULL},
        {"a swap that fails writes nothing", 2, 32,
         "atom.relaxed.cta.global.cas.b32 %r2, [%m], 5, 7;\nld.global.u32 %r3, [%m];", NULL},
        {"a swap that does not", 2, 32,
         "@!%p0 bra E;\n@%p1 atom.relaxed.gpu.global.cas.b32 %r2, [%m], 0, 7; //a\n"
         "@!%p1 ld.global.u32 %r3, [%m]; //a\nE:",
         NULL},
        {"a read that sees a strong write is ordered after it", 2, 32,
         "@!%p0 bra E;\natom.relaxed.gpu.global.cas.b32 %r2, [%m], 0, 7;\nld.global.u32 %r3, [%m];\nE:",
         NULL},
        {"what precedes that write is not", 2, 32,
         WRITER DATA
         " //a\nst.relaxed.gpu.global.u32 [%m], 1;\n" READER
         "W:\nld.relaxed.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra W;\n" LOOK
         " //a\nE:",
         NULL},
        {"also through atomics", 3, 32,
         "@!%p0 bra E;\nsetp.eq.u32 %p4, %c, 2;\n@!%p4 atom.add.relaxed.gpu.global.u32 %r2, [%m], 1;\n"
         "@!%p4 bra E;\nL:\nld.relaxed.gpu.global.u32 %r2, [%m];\nsetp.lt.u32 %p3, %r2, 2;\n@%p3 bra L;\n"
         "st.global.u32 [%m], 0;\nE:",
         NULL},
        {"not through a store", 3, 32,
         "@!%p0 bra E;\nsetp.eq.u32 %p4, %c, 1;\nsetp.eq.u32 %p5, %c, 2;\n@%p1 st.relaxed.gpu.global.u32 [%m], 1; //a\n"
         "@%p1 bra E;\n@!%p4 bra L;\nW:\nld.relaxed.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra W;\n"
         "st.relaxed.gpu.global.u32 [%m], 2;\nbra E;\nL:\nld.relaxed.gpu.global.u32 %r2, [%m];\n"
         "setp.ne.u32 %p3, %r2, 2;\n@%p3 bra L;\nld.global.u32 %r2, [%m]; //a\nE:",
         NULL},
        {"a reduction sees no write", 2, 32,
         WRITER "st.relaxed.gpu.global.u32 [%m], 1; //a\n" READER
                "red.relaxed.gpu.global.add.u32 [%m], 1;\nld.global.u32 %r3, [%m]; //a\nE:",
         NULL},
        {"an acquire is ordered after what precedes the release", 2, 32,
         WRITER "st.global.u32 [%m], 0;\nst.release.gpu.global.u32 [%m], 1;\n" READER
                "L:\nld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n"
                "atom.acquire.gpu.global.exch.b32 %r2, [%m], 3;\nE:",
         NULL},
        {"atomics do not race", 4, 64, "red.global.add.u32 [%m], 1;", NULL},
        {"but with plain reads", 4, 64,
         "red.global.add.u32 [%m], 1; //a\nld.global.u32 %r2, [%m]; //a", NULL},
        {"nor of two scopes", 2, 32,
         "@!%p0 bra E;\n@%p1 red.relaxed.cta.global.add.u32 [%m], 1; //a\n"
         "@!%p1 red.relaxed.gpu.global.add.u32 [%m], 1; //a\nE:",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

/* A read by others must be remembered behind many that order the write: of other CTAs, or of the writing thread. */
Test(race, no_read_is_forgotten)
{
#define READ "ld.global.u32 %r3, [%m+512];\n"
#define READ8 READ READ READ READ READ READ READ READ
    static const struct row rows[] = {
        {"one of 19 readers does not say that it has read", 20, 1,
         "@!%p1 bra R;\nst.global.u32 [%m+512], 1;\nst.release.gpu.global.u32 [%m], 1;\n"
         "L: ld.acquire.gpu.global.u32 %r2, [%m+128];\nsetp.lt.u32 %p3, %r2, 18;\n@%p3 bra L;\n"
         "st.global.u32 [%m+512], 2; //a\nbra E;\n"
         "R: ld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra R;\n"
         "ld.global.u32 %r3, [%m+512]; //a\nsetp.eq.u32 %p3, %c, 17;\n"
         "@!%p3 red.release.gpu.global.add.u32 [%m+128], 1;\nE:",
         NULL},
        {"all of 19 readers say so", 20, 1,
         "@!%p1 bra R;\nst.global.u32 [%m+512], 1;\nst.release.gpu.global.u32 [%m], 1;\n"
         "L: ld.acquire.gpu.global.u32 %r2, [%m+128];\nsetp.lt.u32 %p3, %r2, 19;\n@%p3 bra L;\n"
         "st.global.u32 [%m+512], 2;\nbra E;\n"
         "R: ld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra R;\n"
         "ld.global.u32 %r3, [%m+512];\nred.release.gpu.global.add.u32 [%m+128], 1;\nE:",
         NULL},
        {"the writer has read at 16 places", 2, 1,
         "@!%p1 bra R;\nst.global.u32 [%m+512], 1;\n" READ8 READ8
         "st.release.gpu.global.u32 [%m], 1;\n"
         "L: ld.relaxed.gpu.global.u32 %r2, [%m+128];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra L;\n"
         "st.global.u32 [%m+512], 2; //a\nbra E;\n"
         "R: ld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra R;\n"
         "ld.global.u32 %r3, [%m+512]; //a\nst.relaxed.gpu.global.u32 [%m+128], 1;\nE:",
         NULL},
        {"a strong write finds it, too", 20, 1,
         "@!%p1 bra R;\nst.global.u32 [%m+512], 1;\nst.release.gpu.global.u32 [%m], 1;\n"
         "L: ld.acquire.gpu.global.u32 %r2, [%m+128];\nsetp.lt.u32 %p3, %r2, 18;\n@%p3 bra L;\n"
         "red.relaxed.gpu.global.add.u32 [%m+512], 2; //a\nbra E;\n"
         "R: ld.acquire.gpu.global.u32 %r2, [%m];\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra R;\n"
         "ld.global.u32 %r3, [%m+512]; //a\nsetp.eq.u32 %p3, %c, 17;\n"
         "@!%p3 red.release.gpu.global.add.u32 [%m+128], 1;\nE:",
         NULL},
        {"whole lines, which 40 warps read", 1, 1024,
         "setp.ne.u32 %p3, %r9, 31;\n@!%p3 bra W;\nbar.sync 1;\n"
         "and.b32 %r4, %t, 31;\nmad.wide.u32 %d1, %r4, 4, %m;\nld.global.u32 %r3, [%d1+512]; //a\n"
         "setp.eq.u32 %p4, %r9, 30;\n@%p4 bra E;\nbar.arrive 2, 992;\nbra E;\n"
         "W: and.b32 %r4, %t, 31;\nmad.wide.u32 %d1, %r4, 4, %m;\nst.global.u32 [%d1+512], %t;\n"
         "bar.sync 1;\nbar.sync 2, 992;\nst.global.u32 [%d1+512], %t; //a\nE:",
         NULL},
    };
    each(rows, sizeof rows / sizeof *rows, EMU_CHECK_RACE);
}

Test(race, copies_are_done_when_waited_for)
{
#define COPY "cp.async.ca.shared.global [%s], [%g], 4;"
    static const struct row rows[] = {
        {"waited", 1, 64,
         COPY
         "\ncp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\nld.shared.u32 %r2, [%n];",
         NULL},
        {"own, not waited", 1, 64,
         COPY " //a\ncp.async.commit_group;\nld.shared.u32 %r2, [%s]; //a", NULL},
        {"one group is left", 1, 64,
         COPY " //a\ncp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r2, [%s]; //a",
         NULL},
        {"the other group", 1, 64,
         COPY "\ncp.async.commit_group;\ncp.async.ca.shared.global [%s+2048], [%g], 4;\n"
              "cp.async.commit_group;\ncp.async.wait_group 1;\nld.shared.u32 %r2, [%s];",
         NULL},
        {"not committed", 1, 64, COPY " //a\ncp.async.wait_group 0;\nld.shared.u32 %r2, [%s]; //a",
         NULL},
        {"all", 1, 64, COPY "\ncp.async.wait_all;\nld.shared.u32 %r2, [%s];", NULL},
        {"others' copies", 1, 64, COPY " //a\ncp.async.wait_all;\nld.shared.u32 %r2, [%n]; //a",
         NULL},
        {"bytes that the copy does not read", 2, 1,
         "@!%p1 bra R;\ncp.async.ca.shared.global [%s], [%m], 16, 8;\ncp.async.wait_all;\nbra E;\n"
         "R: st.global.u32 [%m+8], 1;\nE:",
         NULL},
        {"bytes that it reads", 2, 1,
         "@!%p1 bra R;\ncp.async.ca.shared.global [%s], [%m], 16, 9; //a\ncp.async.wait_all;\nbra E;\n"
         "R: st.global.u32 [%m+8], 1; //a\nE:",
         NULL},
        {"a source that is ignored", 2, 1,
         "@!%p1 bra R;\ncp.async.ca.shared.global [%s], [%m], 16, %p1;\ncp.async.wait_all;\nbra E;\n"
         "R: st.global.u32 [%m+8], 1;\nE:",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

Test(race, mbarriers_order_phases)
{
#define INIT "@!%p0 bra I;\nmbarrier.init.shared.b64 [%b], 64;\nI:\nbar.sync 0;\n"
#define WAIT "W:\nmbarrier.try_wait.parity.shared.b64 %p3, [%b], 0;\n@!%p3 bra W;\n"
    static const struct row rows[] = {
        {"arrive and wait", 1, 64,
         INIT "st.shared.u32 [%s], %t;\nmbarrier.arrive.shared.b64 %d1, [%b];\n" WAIT
              "ld.shared.u32 %r2, [%n];",
         NULL},
        {"not waited", 1, 64,
         INIT "st.shared.u32 [%s], %t; //a\nmbarrier.arrive.shared.b64 %d1, [%b];\n"
              "ld.shared.u32 %r2, [%n]; //a",
         NULL},
        {"arrived too early", 1, 64,
         INIT "mbarrier.arrive.shared.b64 %d1, [%b];\nst.shared.u32 [%s], %t; //a\n" WAIT
              "ld.shared.u32 %r2, [%n]; //a",
         NULL},
        {"init and arrivals", 1, 64,
         "@!%p0 bra I;\nmbarrier.init.shared.b64 [%b], 64; //a\nI:\nmbarrier.arrive.shared.b64 %d1, [%b]; //a",
         NULL},
        {"of copies", 1, 64,
         INIT
         "cp.async.ca.shared.global [%s], [%g], 4;\ncp.async.mbarrier.arrive.noinc.shared.b64 [%b];\n" WAIT
         "ld.shared.u32 %r2, [%n];",
         NULL},
        {"of copies, not waited", 1, 64,
         INIT
         "cp.async.ca.shared.global [%s], [%g], 4; //a\ncp.async.mbarrier.arrive.noinc.shared.b64 [%b];\n"
         "bar.sync 0;\nld.shared.u32 %r2, [%n]; //a",
         NULL},
        {"of bulk copies", 1, 64,
         "@!%p0 bra I;\nmbarrier.init.shared.b64 [%b], 1;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [%b], 256;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%m], 256, [%b];\nI:\nbar.sync 0;\n" WAIT
         "ld.shared.u32 %r2, [%n];",
         NULL},
        {"the other way", 1, 64,
         "st.shared.u32 [%s], %t;\nfence.proxy.async;\nbar.sync 0;\n@!%p0 bra E;\n"
         "cp.async.bulk.global.shared::cta.bulk_group [%m], [%s], 256;\nE:",
         NULL},
        {"the other way, no fence", 1, 64,
         "st.shared.u32 [%s], %t; //a\nbar.sync 0;\n@!%p0 bra E;\n"
         "cp.async.bulk.global.shared::cta.bulk_group [%m], [%s], 256; //a\nE:",
         NULL},
        {"of bulk copies, not waited", 1, 64,
         "@!%p0 bra I;\nmbarrier.init.shared.b64 [%b], 1;\nmbarrier.arrive.expect_tx.shared.b64 %d1, [%b], 256;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%m], 256, [%b]; //a\nI:\n"
         "bar.sync 0;\nld.shared.u32 %r2, [%n]; //a",
         NULL},
    };
    EACH(rows, EMU_CHECK_RACE);
}

Test(race, clusters_meet)
{
#define FAR "xor.b32 %r3, %c, 1;\nmapa.shared::cluster.u32 %r4, %s, %r3;\n"
    static const char two[] = ".reqnctapercluster 2, 1, 1";
    static const struct row rows[] = {
        {"arrive and wait", 2, 32,
         FAR "st.shared.u32 [%s], %t;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"
             "ld.shared::cluster.u32 %r2, [%r4];",
         two},
        {"relaxed", 2, 32,
         FAR "st.shared.u32 [%s], %t; //a\nbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
             "ld.shared::cluster.u32 %r2, [%r4]; //a",
         two},
        {"relaxed behind a fence", 2, 32,
         FAR
         "st.shared.u32 [%s], %t;\nfence.acq_rel.cluster;\nbarrier.cluster.arrive.relaxed;\nbarrier.cluster.wait;\n"
         "ld.shared::cluster.u32 %r2, [%r4];",
         two},
        {"no barrier", 2, 32,
         FAR
         "barrier.cluster.arrive;\nbarrier.cluster.wait;\nst.shared.u32 [%s], %t; //a\n"
         "ld.shared::cluster.u32 %r2, [%r4]; //a\nbarrier.cluster.arrive;\nbarrier.cluster.wait;",
         two},
    };
    EACH(rows, EMU_CHECK_RACE);
}

Test(race, both_accesses_are_reported)
{
    static uint32_t memory[WORDS];
    struct emu_run r = {.ptx = emu_ptx(".param .u64 p",
                                       ".reg .b64 %d;\n.reg .b32 %c;\nld.param.u64 %d, [p];\n"
                                       "mov.u32 %c, %ctaid.x;\nst.global.u32 [%d+8], %c;"),
                        .grid = 9,
                        .block = 1,
                        .once = true};
    r.config.checks = EMU_CHECK_RACE;
    r.args[0] = emu_inout(&r, memory, sizeof memory);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(r.findings == 1 && r.finding_kind == EMU_RACE && r.finding_count == 8);
    cr_expect_str_eq(
        r.finding,
        "race: two unordered accesses to global memory at 0x20000008\n"
        "  write of 4 bytes\n  at test.ptx:10:1 in k\n     st.global.u32 [%d+8], %c;\n"
        "  by thread (0,0,0) of CTA (1,0,0) of kernel 'k'\n"
        "  and write of 4 bytes\n  at test.ptx:10:1 in k\n     st.global.u32 [%d+8], %c;\n"
        "  by thread (0,0,0) of CTA (0,0,0) of kernel 'k'\n"
        "  8 bytes into 'buffer' (16384 bytes at 0x20000000)\n");
}

Test(race, atomicity_wants_one_way)
{
    static const struct row rows[] = {
        {"both", 1, 64, "st.global.u32 [%g], 0; //a\nbar.sync 0;\nred.global.add.u32 [%g], 1; //a",
         NULL},
        {"ordered reads", 1, 64,
         "red.global.add.u32 [%m], 1; //a\nbar.sync 0;\nld.global.u32 %r2, [%m]; //a", NULL},
        {"strong reads", 1, 64, "red.global.add.u32 [%m], 1;\nld.relaxed.gpu.global.u32 %r2, [%m];",
         NULL},
        {"neighbours", 1, 64, "red.global.add.u32 [%m], 1;\nst.global.u32 [%g+4], 1;", NULL},
        {"shared memory", 1, 64, "st.shared.u32 [%s], 1;\nred.shared.add.u32 [%s], 1;", NULL},
        {"a word of a row", 1, 64,
         "st.global.u32 [%g], 0; //a\nbar.sync 0;\nred.global.add.u32 [%m+132], 1; //a", NULL},
        {"a row over a word", 1, 64,
         "red.global.add.u32 [%m+132], 1; //a\nbar.sync 0;\nld.global.u32 %r2, [%g]; //a", NULL},
        {"a byte of a row", 1, 64,
         "red.global.add.u32 [%g], 1; //a\nbar.sync 0;\nst.global.u8 [%m+7], 1; //a", NULL},
        {"rows again and again", 1, 64,
         "st.global.u32 [%g], 0;\nld.global.u32 %r2, [%g];\nred.global.add.u32 [%g+256], 1;\n"
         "red.global.add.u32 [%g+256], 1;",
         NULL},
    };
    EACH(rows, EMU_CHECK_ATOMICITY);
}

/* ---- limits ------------------------------------------------------------------------------------------- */

/* Every thread passes a value on by a flag; at the end all CTAs write one word. */
static const char writes_one_word[] = ".reg .b64 %d<3>; .reg .b32 %r<5>;\n"
                                      "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
                                      "mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1;\n"
                                      "atom.acq_rel.gpu.global.add.u32 %r2, [%d2+64], 1;\n"
                                      "bar.sync 0; st.global.u32 [%d1], %r2;";

/* Every thread writes two words under the locks of both. */
#define TAKES_TWO_LOCKS(KIND)                                                                            \
    ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .pred %q;\n"                                                 \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 %r3, %r1, 64, %r2;\n" \
    "rem.u32 %r4, %r3, 7; mul.wide.u32 %d2, %r4, 4; add.u64 %d2, %d2, %d1;\n"                            \
    "rem.u32 %r4, %r3, 9; mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d1;\n"                            \
    "mov.u32 %r5, 0;\n"                                                                                  \
    "again: atom.global.cas.b32 %r6, [%d2], 0, 1; setp.ne.u32 %q, %r6, 0; @%q bra next;\n"               \
    "atom.global.cas.b32 %r6, [%d3+28], 0, 1; setp.ne.u32 %q, %r6, 0; @%q bra back;\n"                   \
    "membar.gl;\n"                                                                                       \
    "ld" KIND ".global.u32 %r7, [%d2+64]; add.u32 %r7, %r7, 1; st" KIND                                  \
    ".global.u32 [%d2+64], %r7;\n"                                                                       \
    "ld" KIND ".global.u32 %r7, [%d3+92]; add.u32 %r7, %r7, 1; st" KIND                                  \
    ".global.u32 [%d3+92], %r7;\n"                                                                       \
    "membar.gl; mov.u32 %r5, 1; atom.global.exch.b32 %r6, [%d3+28], 0;\n"                                \
    "back: atom.global.exch.b32 %r6, [%d2], 0;\n"                                                        \
    "next: setp.eq.u32 %q, %r5, 0; @%q bra again;\n"

static uint64_t condensed; /* how often, in the last launch of find_within() */

/* Runs a kernel with CTAs of 64 threads. The number of findings, and the first one's text. */
static size_t find_within(const char *body, uint32_t ctas, const struct race_limits *limits,
                          char *first, size_t size)
{
    const char *text = emu_ptx(".param .u64 p", body);
    struct arena *arena = arena_new();
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.threads = 1});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    const uint64_t at = emu_alloc(e, 1024, "buffer");
    struct race *r = race_new();
    if (limits) race_limit(r, *limits);
    const struct emu_observer *list[] = {race_observer(r)};
    const struct emu_launch l = {.grid = {ctas, 1, 1},
                                 .block = {64, 1, 1},
                                 .params = &at,
                                 .params_size = 8,
                                 .observers = list,
                                 .observer_count = 1};
    const struct emu_report *report = emu_launch(e, emu_kernel_at(im, 0), &l);
    cr_assert_eq(report->fault.kind, EMU_OK);
    const size_t count = report->finding_count;
    snprintf(first, size, "%s", count ? report->findings[0].text : "");
    condensed = race_condensed(r);
    cr_expect(!count || report->findings[0].kind == EMU_RACE);
    race_free(r);
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
    return count;
}

/* That it looks no further is said. */
Test(race, gives_up_aloud)
{
    char text[512];
    cr_expect_eq(find_within(writes_one_word, 4, NULL, text, sizeof text), 1);
    cr_expect(strstr(text, "two unordered accesses"), "%s", text);
    cr_expect_eq(
        find_within(writes_one_word, 4, &(struct race_limits){1, UINT64_MAX}, text, sizeof text),
        1);
    cr_expect(strstr(text, "stopped after 1 events of this launch"), "%s", text);
    cr_expect_eq(
        find_within(writes_one_word, 4, &(struct race_limits){UINT32_MAX, 3}, text, sizeof text),
        1);
    cr_expect(strstr(text, "stopped after "), "%s", text);
}

/* 16,384 critical sections make a clock each, of 64 bytes; a fifth of that must do. */
Test(race, contended_locks_take_bounded_memory)
{
    const struct race_limits little = {UINT32_MAX, 200 << 10};
    char text[512];
    cr_expect_eq(find_within(TAKES_TWO_LOCKS(""), 256, NULL, text, sizeof text), 0, "%s", text);
    cr_expect_eq(condensed, 0);
    cr_expect_eq(find_within(TAKES_TWO_LOCKS(""), 256, &little, text, sizeof text), 0, "%s", text);
    cr_expect_gt(condensed, 0);
    /* The last CTAs write one word after they have given the locks back. */
    const char *late = TAKES_TWO_LOCKS(
        "") "setp.lt.u32 %q, %r1, 250; @%q bra end; st.global.u32 [%d1+192], %r1; end:";
    cr_expect_eq(find_within(late, 256, NULL, text, sizeof text), 1, "%s", text);
    cr_expect_eq(find_within(late, 256, &little, text, sizeof text), 1, "%s", text);
    cr_expect(strstr(text, "two unordered accesses"), "%s", text);
}

/* The last holder's accesses replace those of earlier ones, and stand for them. */
Test(race, strong_accesses_under_locks_race_with_weak_ones_without)
{
    char text[512];
    const char *strong = TAKES_TWO_LOCKS(".volatile");
    cr_expect_eq(find_within(strong, 32, NULL, text, sizeof text), 0, "%s", text);
    const char *late = TAKES_TWO_LOCKS(
        ".volatile") "setp.lt.u32 %q, %r1, 31; @%q bra end; ld.global.u32 %r7, [%d2+64]; end:";
    cr_expect_eq(find_within(late, 32, NULL, text, sizeof text), 1, "%s", text);
    cr_expect(strstr(text, "two unordered accesses"), "%s", text);
    const char *first = TAKES_TWO_LOCKS(
        ".volatile") "setp.ne.u32 %q, %r1, 0; @%q bra end; st.global.u32 [%d3+92], %r1; end:";
    cr_expect_geq(find_within(first, 32, NULL, text, sizeof text), 1, "%s", text);
}

/* CTAs 0 and 1 write a word strongly; CTA 2 reads it weakly after the write of CTA 1, which does not stand for the other. */
Test(race, a_strong_access_replaces_only_what_it_comes_after)
{
    char text[512];
    const char *body =
        ".reg .b64 %d1; .reg .b32 %r<3>; .reg .pred %q;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n"
        "setp.ne.u32 %q, %r2, 0; @%q bra end;\n"
        "setp.eq.u32 %q, %r1, 1; @%q bra one; setp.eq.u32 %q, %r1, 2; @%q bra two;\n"
        "st.relaxed.gpu.global.u32 [%d1], 1; bra end;\n"
        "one: fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d1], 2;\n"
        "fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d1+128], 1; bra end;\n"
        "two: ld.relaxed.gpu.global.u32 %r2, [%d1+128]; setp.eq.u32 %q, %r2, 0; @%q bra two;\n"
        "fence.acq_rel.gpu; ld.global.u32 %r2, [%d1]; end:";
    cr_expect_eq(find_within(body, 3, NULL, text, sizeof text), 1, "%s", text);
}

/* ---- the labelled kernels ---------------------------------------------------------------------------- */

static bool is_reported(const struct emu_run *r, const struct race_pair *p)
{
    for (size_t i = 0; i < r->findings; i++)
        if ((r->found[i].line == p->first && r->found[i].line2 == p->second) ||
            (r->found[i].line == p->second && r->found[i].line2 == p->first))
            return true;
    return false;
}

Test(race, labelled_kernels_have_the_races_that_their_marks_say, .timeout = 120)
{
    static uint8_t memory[RACE_MEMORY];
    for (size_t i = 0; i < race_case_count; i++) {
        const struct race_case *c = &race_cases[i];
        struct race_file f = race_file(c);
        for (int its = 0; its < 2; its++) {
            struct emu_run r = {.ptx = f.text,
                                .kernel = c->kernel,
                                .grid = c->grid,
                                .block = c->block,
                                .once = true};
            r.config.divergence = its ? EMU_ITS : EMU_STACK;
            r.config.timeout = 10;
            r.config.checks = EMU_CHECK_RACE;
            memset(memory, 0, sizeof memory);
            r.args[0] = emu_inout(&r, memory, sizeof memory);
            cr_expect(emu_run(&r), "%s: %s", c->kernel, r.fault);
            cr_expect(r.findings == f.count, "%s (%s): %zu races, not %zu\n%s", c->kernel, c->why,
                      r.findings, f.count, r.finding);
            for (size_t k = 0; k < f.count; k++)
                cr_expect(is_reported(&r, &f.pairs[k]), "%s (%s): not lines %u and %u\n%s",
                          c->kernel, c->why, f.pairs[k].first, f.pairs[k].second, r.finding);
        }
        race_file_free(&f);
    }
}

/* The races that are found under an order, the text of the first; *word: what is 512 bytes into its memory then, if
 * somebody asks. The kernel must end. */
static size_t find_under(const struct race_case *c, const struct race_file *f, const char *order,
                         uint64_t seed, char *first, size_t size, uint32_t *word)
{
    char *why = NULL;
    struct parsed *p = parse_text(f->path, f->text, f->length);
    cr_assert(p->ok, "%s: %s", f->path, first_error(p));
    struct emu *e = emu_new(&(struct emu_config){.threads = 1, .timeout = 10});
    struct emu_image *im = emu_load(e, &p->module, 1, &why);
    cr_assert(im, "%s", why);
    struct emu_kernel *k = emu_kernel_find(im, c->kernel);
    cr_assert(k, "%s", c->kernel);
    const uint64_t at = emu_alloc(e, RACE_MEMORY, "buffer");
    struct race *race = race_new();
    struct orders *orders = orders_new(order, seed, &why);
    cr_assert(orders, "%s", why);
    const struct emu_observer *list[] = {race_observer(race)};
    const struct emu_launch l = {.grid = {c->grid, 1, 1},
                                 .block = {c->block, 1, 1},
                                 .params = &at,
                                 .params_size = 8,
                                 .order = orders_get(orders),
                                 .observers = list,
                                 .observer_count = 1};
    size_t count = 0;
    for (uint32_t i = 0; i < c->launches; i++) {
        const struct emu_report *r = emu_launch(e, k, &l);
        cr_expect_eq(r->fault.kind, EMU_OK, "%s: %s", c->kernel, r->fault.text);
        if (!count) snprintf(first, size, "%s", r->finding_count ? r->findings[0].text : "");
        count += r->finding_count;
    }
    if (word) cr_assert(emu_copy_out(e, word, at + 512, sizeof *word));
    orders_free(orders);
    race_free(race);
    emu_unload(im);
    emu_free(e);
    parsed_free(p);
    return count;
}

/* Whose turn it is an order decides, and the detector goes by that. (Racy ones may wait for each other by chance.) */
Test(race, kernels_free_of_races_have_none_under_orders, .timeout = 120)
{
    static const char *const orders[] = {"gpudet", "gpudet:serial=any", "dab", "random"};
    char text[1024];
    for (size_t i = 0; i < race_case_count; i++) {
        const struct race_case *c = &race_cases[i];
        struct race_file f = race_file(c);
        for (size_t o = 0; !c->racy && o < sizeof orders / sizeof *orders; o++) {
            const size_t n = find_under(c, &f, orders[o], 1 + i, text, sizeof text, NULL);
            cr_expect_eq(n, 0, "%s, %s (%s): %zu races\n%s", orders[o], c->kernel, c->why, n, text);
        }
        race_file_free(&f);
    }
}

/* Who reads a flag before the store is in memory has read nothing of it, however early the order was notified of that. The reader
 * looks at the message alone if it has not seen the flag. */
static const char unseen[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 memory)\n{\n"
    ".reg .pred %%p<4>; .reg .b32 %%r<9>; .reg .b64 %%d;\nld.param.u64 %%d, [memory];\n"
    "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%tid.x;\nsetp.ne.u32 %%p1, %%r2, 0; @%%p1 ret;\n"
    "setp.ne.u32 %%p2, %%r1, 0; @%%p2 bra reader;\nst.global.u32 [%%d], 1;\n%s\nret;\n"
    "reader: mov.u32 %%r5, 0;\nagain: add.u32 %%r5, %%r5, 1; setp.lt.u32 %%p3, %%r5, %u; @%%p3 bra again;\n%s\n"
    "st.global.u32 [%%d+512], %%r3;\nsetp.eq.u32 %%p3, %%r3, 1; @%%p3 ret;\n"
    "ld.global.u32 %%r4, [%%d];\nst.global.u32 [%%d+516], %%r4;\nret;\n}\n";

Test(race, flags_count_when_they_are_in_memory, .timeout = 120)
{
    static const struct {
        const char *write, *read;
    } ways[] = {
        {"st.release.gpu.global.u32 [%d+256], 1;", "ld.acquire.gpu.global.u32 %r3, [%d+256];"},
        {"fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%d+256], 1;",
         "ld.relaxed.gpu.global.u32 %r3, [%d+256]; fence.acq_rel.gpu;"}};
    /* The detector takes each strong load for one of the newest write (docs/races.md): random may return an older one. */
    static const char *const orders[] = {"gpudet", "gpudet:quantum=20",
                                         "random:late-stores=off:stale-strong=off", "dab"};
    const struct race_case c = {.file = "", .kernel = "k", .grid = 2, .block = 32, .launches = 1};
    unsigned missed[4] = {0};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (uint32_t loops = 1; loops < 40; loops += 9) {
            char text[2048], reported[1024];
            snprintf(text, sizeof text, unseen, ways[i].write, loops, ways[i].read);
            const struct race_file f = {.path = "k.ptx", .text = text, .length = strlen(text)};
            for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
                for (uint64_t seed = 1; seed <= 12; seed++) {
                    uint32_t seen;
                    const size_t n = find_under(&c, &f, orders[o], seed, reported, sizeof reported,
                                                &seen);
                    cr_expect_eq(n, !seen, "%s, seed %llu, %u loops, %s: %zu races, flag %u",
                                 orders[o], (unsigned long long)seed, loops, ways[i].write, n,
                                 seen);
                    missed[o] += !seen;
                }
        }
    cr_expect(missed[0] && missed[2], "%u, %u", missed[0], missed[2]);
}
