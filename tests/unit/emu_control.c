/* Flow of control, calls, barriers, clusters, the device runtime, limits and faults: kernels by hand. */
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

/* A kernel that leaves one word for each thread in `out`: %i is the thread's number in the grid, %o the
 * address of its word, %r1 what is stored at the end. Labels: DONE is where it is stored. */
static const char *words(const char *before, const char *body)
{
    static char text[4][1 << 16];
    static unsigned next;
    char *t = text[next++ % 4];
    snprintf(
        t, sizeof text[0],
        ".version 8.7\n.target sm_90\n.address_size 64\n%s\n"
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
        ".reg .b32 %%i, %%t, %%c, %%n, %%l, %%w, %%r<20>;\n.reg .b64 %%o, %%b, %%q, %%rd<20>;\n"
        ".reg .pred %%p<8>;\n"
        "ld.param.u64 %%b, [out];\nld.param.u64 %%q, [in];\nmov.u32 %%t, %%tid.x;\nmov.u32 %%c, %%ctaid.x;\n"
        "mov.u32 %%n, %%ntid.x;\nmov.u32 %%l, %%laneid;\nshr.u32 %%w, %%t, 5;\n"
        "mad.lo.u32 %%i, %%c, %%n, %%t;\nmad.wide.u32 %%o, %%i, 4, %%b;\nmov.u32 %%r1, 0;\n"
        "%s\nDONE:\nst.global.u32 [%%o], %%r1;\nret;\n}\n",
        before, body);
    return t;
}

struct words {
    struct emu_run run;
    uint32_t out[MOST], in[MOST];
    bool ok;
};
/* Runs it with so many CTAs and threads; `how` may be NULL. */
static struct words *run_words(const char *ptx, uint32_t grid, uint32_t block,
                               const struct emu_run *how)
{
    struct words *w = calloc(1, sizeof *w);
    if (how) w->run = *how;
    w->run.ptx = ptx;
    w->run.kernel = "k";
    w->run.grid = grid;
    w->run.block = block;
    memset(w->out, 0xee, sizeof w->out);
    for (uint32_t i = 0; i < MOST; i++) w->in[i] = i * 2654435761u;
    w->run.args[0] = emu_inout(&w->run, w->out, sizeof w->out);
    w->run.args[1] = emu_inout(&w->run, w->in, sizeof w->in);
    w->ok = emu_run(&w->run);
    return w;
}

/* Expects no fault and, of the threads, what f says. */
static void expect_words(const char *ptx, uint32_t grid, uint32_t block, uint32_t (*f)(uint32_t i))
{
    struct words *w = run_words(ptx, grid, block, NULL);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < grid * block; i++)
        cr_expect(w->out[i] == f(i), "thread %u: %u, not %u", i, w->out[i], f(i));
    free(w);
}

static uint32_t is_one(uint32_t i)
{
    (void)i;
    return 1;
}

/* Lanes that read a clock read one value; of lanes that do not, the register keeps its own. */
Test(emu_control, clocks_of_some_lanes)
{
    static const char *const lanes[] = {"setp.ge.u32 %p1, %l, 0;", "setp.gt.u32 %p1, %l, 4;",
                                        "setp.eq.u32 %p1, %l, 9;"};
    for (int k = 0; k < 3; k++) {
        char body[900];
        snprintf(body, sizeof body,
                 "mov.u32 %%r2, 7; mov.u64 %%rd2, 7; %s\n"
                 "mov.u64 %%rd4, %%clock64;\n@!%%p1 bra off;\n"
                 "mov.u32 %%r2, %%clock; mov.u64 %%rd2, %%clock64;\noff:\n"
                 "shfl.sync.idx.b32 %%r3, %%r2, 9, 31, -1; cvt.u32.u64 %%r5, %%rd2;\n"
                 "shfl.sync.idx.b32 %%r4, %%r5, 9, 31, -1; setp.lt.u64 %%p4, %%rd2, %%rd4;\n"
                 "@!%%p1 mov.u32 %%r3, 7; @!%%p1 mov.u32 %%r4, 7;\n"
                 "setp.eq.u32 %%p2, %%r2, %%r3; setp.eq.and.u32 %%p2, %%r5, %%r4, %%p2;\n"
                 "selp.u32 %%r1, 1, 0, %%p2; and.pred %%p4, %%p4, %%p1;\n"
                 "@%%p4 mov.u32 %%r1, 2;", /* a clock that runs backwards */
                 lanes[k]);
        expect_words(words("", body), 2, 96, is_one);
    }
}

/* Expects this fault, whose text has all of these parts in it. */
static void expect_fault(const char *ptx, uint32_t grid, uint32_t block, const struct emu_run *how,
                         enum emu_fault_kind kind, const char *const *parts)
{
    struct words *w = run_words(ptx, grid, block, how);
    cr_expect(!w->ok);
    cr_expect(w->run.kind == kind, "%s, not %s:\n%s", emu_fault_name(w->run.kind),
              emu_fault_name(kind), w->run.fault);
    for (; *parts; parts++)
        cr_expect(strstr(w->run.fault, *parts), "no '%s' in\n%s", *parts, w->run.fault);
    free(w);
}
#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- lanes that part ------------------------------------------------------------------------------- */

static uint32_t nested(uint32_t i)
{
    uint32_t r = 0;
    if (i & 1) {
        r += 1;
        if (i & 2) r += 10;
        else {
            r += 20;
            if (i & 4) return r + 7000;
            r += 100;
        }
        r += 1000;
    } else if (i & 8) r += 5;
    return r * 3;
}
Test(control, nested_branches)
{
    static const char body[] =
        "and.b32 %r2, %i, 1;\nand.b32 %r3, %i, 2;\nand.b32 %r4, %i, 4;\nand.b32 %r5, %i, 8;\n"
        "setp.ne.u32 %p1, %r2, 0;\nsetp.ne.u32 %p2, %r3, 0;\nsetp.ne.u32 %p3, %r4, 0;\n"
        "setp.ne.u32 %p4, %r5, 0;\n"
        "@!%p1 bra ELSE;\nadd.u32 %r1, %r1, 1;\n@!%p2 bra B;\nadd.u32 %r1, %r1, 10;\nbra C;\n"
        "B:\nadd.u32 %r1, %r1, 20;\n@!%p3 bra D;\nadd.u32 %r1, %r1, 7000;\nbra DONE;\n"
        "D:\nadd.u32 %r1, %r1, 100;\nC:\nadd.u32 %r1, %r1, 1000;\nbra ALL;\n"
        "ELSE:\n@!%p4 bra ALL;\nadd.u32 %r1, %r1, 5;\nALL:\nmul.lo.u32 %r1, %r1, 3;\n";
    for (uint32_t block = 1; block < 300; block += 37)
        expect_words(words("", body), 2, block, nested);
}

static uint32_t collatz(uint32_t i)
{
    uint32_t n = 0;
    for (uint64_t x = i + 1; x != 1; n++) x = x & 1 ? 3 * x + 1 : x / 2;
    return n;
}
Test(control, lanes_leave_a_loop_one_by_one)
{
    expect_words(
        words(
            "",
            "add.u32 %r2, %i, 1;\n"
            "L:\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 bra DONE;\nadd.u32 %r1, %r1, 1;\n"
            "and.b32 %r3, %r2, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra ODD;\nshr.u32 %r2, %r2, 1;\nbra L;\n"
            "ODD:\nmad.lo.u32 %r2, %r2, 3, 1;\nbra L;\n"),
        3, 250, collatz);
}

static uint32_t exits(uint32_t i)
{
    return i % 3 == 0 ? 0xeeeeeeee : i % 5 == 0 ? 0xeeeeeeee : i % 2 ? 11 : 22;
}
Test(control, threads_end_in_the_middle)
{
    expect_words(
        words("", "rem.u32 %r2, %i, 3;\nrem.u32 %r3, %i, 5;\nand.b32 %r4, %i, 1;\n"
                  "setp.eq.u32 %p1, %r2, 0;\nsetp.ne.u32 %p2, %r3, 0;\nsetp.eq.u32 %p3, %r4, 0;\n"
                  "@%p3 bra EVEN;\n@%p1 exit;\nmov.u32 %r1, 11;\n@!%p2 ret;\nbra DONE;\n"
                  "EVEN:\nmov.u32 %r1, 22;\n@!%p2 exit;\n@!%p1 bra DONE;\nret;\n"),
        2, 133, exits);
}

static uint32_t irreducible(uint32_t i)
{
    uint32_t r = 0, n = i & 7, a = 0, b = 0;
    bool middle = i & 8;
    for (;;) {
        if (!middle) a += n + 1;
        middle = false;
        b += 3;
        if (n-- == 0) break;
    }
    r = a * 1000 + b;
    return r;
}
Test(control, a_loop_with_two_entries)
{
    expect_words(
        words(
            "",
            "and.b32 %r2, %i, 7;\nand.b32 %r3, %i, 8;\nsetp.ne.u32 %p1, %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\n"
            "@%p1 bra MIDDLE;\nTOP:\nadd.u32 %r4, %r4, %r2;\nadd.u32 %r4, %r4, 1;\n"
            "MIDDLE:\nadd.u32 %r5, %r5, 3;\nsetp.ne.u32 %p2, %r2, 0;\nadd.u32 %r2, %r2, -1;\n@%p2 bra TOP;\n"
            "mad.lo.u32 %r1, %r4, 1000, %r5;\n"),
        1, 200, irreducible);
}

static uint32_t chosen(uint32_t i)
{
    static const uint32_t add[] = {1, 10, 100, 1000};
    uint32_t k = i % 5;
    return (k == 4 ? 0 : k == 1 ? add[1] + add[2] : add[k == 3 ? 0 : k]) + 7;
}
Test(control, a_branch_by_index_with_a_guard)
{
    expect_words(words("", "rem.u32 %r2, %i, 5;\nsetp.lt.u32 %p1, %r2, 4;\n"
                           "T: .branchtargets A, B, C, A;\n@%p1 brx.idx %r2, T;\nbra END;\n"
                           "A:\nadd.u32 %r1, %r1, 1;\nbra END;\nB:\nadd.u32 %r1, %r1, 10;\n"
                           "C:\nadd.u32 %r1, %r1, 100;\nEND:\nadd.u32 %r1, %r1, 7;\n"),
                 2, 130, chosen);
}
Test(control, a_branch_by_index_out_of_range)
{
    expect_fault(words("", "T: .branchtargets A, B;\nbrx.idx %t, T;\nA:\nmov.u32 %r1, 1;\nB:\n"), 1,
                 64, NULL, EMU_BAD_CALL,
                 PARTS("brx.idx: index 2 of 2 targets", "thread (2,0,0) of CTA (0,0,0)"));
}

/* ---- calls ------------------------------------------------------------------------------------------- */

static const char functions[] =
    ".func (.param .b32 r) twice (.param .b32 a)\n{\n.reg .b32 %x;\nld.param.b32 %x, [a];\nadd.u32 %x, %x, %x;\n"
    "st.param.b32 [r], %x;\nret;\n}\n"
    ".func (.param .b32 r) square (.param .b32 a)\n{\n.reg .b32 %x;\nld.param.b32 %x, [a];\nmul.lo.u32 %x, %x, %x;\n"
    "st.param.b32 [r], %x;\nret;\n}\n"
    ".func (.param .b32 r) fact (.param .b32 a)\n{\n.reg .b32 %x, %y;\n.reg .pred %p;\nld.param.b32 %x, [a];\n"
    "mov.u32 %y, 1;\nsetp.eq.u32 %p, %x, 0;\n@%p bra END;\nadd.u32 %y, %x, -1;\n"
    "{\n.param .b32 q, s;\nst.param.b32 [q], %y;\ncall (s), fact, (q);\nld.param.b32 %y, [s];\n}\n"
    "mul.lo.u32 %y, %y, %x;\nEND:\nst.param.b32 [r], %y;\nret;\n}\n"
    ".func (.param .align 8 .b8 r[16]) swap (.param .align 8 .b8 a[16])\n{\n.reg .b64 %x, %y;\n"
    "ld.param.v2.u64 {%x, %y}, [a];\nst.param.v2.u64 [r], {%y, %x};\nret;\n}\n";

static uint32_t called(uint32_t i)
{
    uint32_t f = 1;
    for (uint32_t k = 2; k <= i % 8; k++) f *= k;
    return 2 * i + f + i % 100;
}
Test(control, calls_of_every_kind)
{
    expect_words(
        words(
            functions,
            "{\n.param .b32 a, r;\nst.param.b32 [a], %i;\ncall (r), twice, (a);\nld.param.b32 %r1, [r];\n}\n"
            "and.b32 %r2, %i, 7;\n"
            "{\n.param .b32 a, r;\nst.param.b32 [a], %r2;\ncall (r), fact, (a);\nld.param.b32 %r3, [r];\n}\n"
            "add.u32 %r1, %r1, %r3;\n"
            "{\n.param .align 8 .b8 a[16], r[16];\nrem.u32 %r6, %i, 100;\nst.param.u64 [a], 77;\n"
            "cvt.u64.u32 %rd1, %r6;\nst.param.u64 [a+8], %rd1;\ncall (r), swap, (a);\nld.param.u64 %rd2, [r];\n}\n"
            "cvt.u32.u64 %r7, %rd2;\nadd.u32 %r1, %r1, %r7;\n"),
        2, 100, called);
}

/* Without the ABI, and so in a module of its own: it has no recursion and no calls by address. */
static uint32_t sum_times_difference(uint32_t i)
{
    return (i + 5) * (i - 5);
}
Test(control, calls_with_several_results)
{
    static const char both[] =
        ".func (.reg .b32 s, .reg .b32 d) both (.reg .b32 a, .reg .b32 b)\n{\nadd.u32 s, a, b;\nsub.u32 d, a, b;\nret;\n}\n";
    expect_words(words(both, "call (%r4, %r5), both, (%i, 5);\nmul.lo.u32 %r1, %r4, %r5;\n"), 2,
                 100, sum_times_difference);
}

static uint32_t by_address(uint32_t i)
{
    return i % 3 == 0 ? 2 * i : i % 3 == 1 ? i * i : 1;
}
Test(control, calls_by_address_differ_by_lane)
{
    expect_words(
        words(
            functions,
            "P: .callprototype (.param .b32 _) _ (.param .b32 _);\nmov.u64 %rd1, twice;\nmov.u64 %rd2, square;\n"
            "mov.u64 %rd3, fact;\nrem.u32 %r2, %i, 3;\nsetp.eq.u32 %p1, %r2, 1;\nsetp.eq.u32 %p2, %r2, 2;\n"
            "selp.b64 %rd1, %rd2, %rd1, %p1;\nselp.b64 %rd1, %rd3, %rd1, %p2;\nselp.b32 %r3, 0, %i, %p2;\n"
            "{\n.param .b32 a, r;\nst.param.b32 [a], %r3;\ncall (r), %rd1, (a), P;\nld.param.b32 %r1, [r];\n}\n"),
        2, 75, by_address);
}

/* Some lanes return from the function early, the rest end in it. */
static uint32_t half_ends(uint32_t i)
{
    return i % 2 ? 5 + i : 0xeeeeeeee;
}
Test(control, lanes_end_in_a_function_that_others_return_from)
{
    static const char f[] =
        ".func (.param .b32 r) f (.param .b32 a)\n{\n.reg .b32 %x, %y;\n.reg .pred %p;\nld.param.b32 %x, [a];\n"
        "add.u32 %y, %x, 5;\nst.param.b32 [r], %y;\nand.b32 %y, %x, 1;\nsetp.ne.u32 %p, %y, 0;\n@%p ret;\nexit;\n}\n";
    expect_words(
        words(
            f,
            "{\n.param .b32 a, r;\nst.param.b32 [a], %i;\ncall (r), f, (a);\nld.param.b32 %r1, [r];\n}\n"),
        2, 75, half_ends);
}

static uint32_t odd_return(uint32_t i)
{
    return i % 2 ? 3 : 0;
}
Test(control, a_call_of_what_does_not_return_with_a_guard)
{
    static const char f[] = ".func f ()\n.noreturn\n{\nexit;\n}\n";
    struct words *w = run_words(
        words(f, "and.b32 %r2, %i, 1;\nsetp.eq.u32 %p1, %r2, 0;\nst.global.u32 [%o], 0;\n"
                 "@%p1 call f;\nmov.u32 %r1, 3;\n"),
        2, 75, NULL);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < 150; i++) cr_expect_eq(w->out[i], odd_return(i));
    free(w);
}

Test(control, a_call_by_address_that_leads_nowhere)
{
    static const char call[] = "P: .callprototype _ ();\n%s\ncall %%rd1, P;\n";
    static const char *const targets[] = {"mov.u64 %rd1, 0;",          "mov.u64 %rd1, 0x10100008;",
                                          "mov.u64 %rd1, 0x101fffe0;", "cvt.u64.u32 %rd1, %i;",
                                          "mov.u64 %rd1, -16;",        "mov.u64 %rd1, k;",
                                          "mov.u64 %rd1, 0x20000000;"};
    for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
        char body[300];
        snprintf(body, sizeof body, call, targets[k]);
        expect_fault(words("", body), 1, 33, NULL, EMU_BAD_CALL, PARTS("indirect call of 0x"));
    }
    /* each number that the kernel itself may have */
    for (unsigned n = 0; n < 4; n++) {
        char body[300], to[50];
        snprintf(to, sizeof to, "mov.u64 %%rd1, %u;", 0x10100000 + 16 * n);
        snprintf(body, sizeof body, call, to);
        struct words *w = run_words(words("", body), 1, 33, NULL);
        cr_expect_eq(w->run.kind, EMU_BAD_CALL, "%s", w->run.fault);
        free(w);
    }
}

Test(control, recursion_without_end_is_a_fault)
{
    static const char f[] =
        ".func f ()\n{\n.local .b32 x[8];\nst.local.u32 [x], 1;\ncall f;\nld.local.u32 %r0, [x];\nret;\n}\n";
    char text[300];
    snprintf(text, sizeof text, ".func f ()\n{\n.reg .b32 %%r0;\n%s", strchr(f, '{') + 2);
    expect_fault(words(text, "setp.eq.u32 %p1, %t, 40;\n@%p1 call f;\n"), 1, 64, NULL,
                 EMU_STACK_OVERFLOW, PARTS("call of 'f': the stack is full", "thread (40,0,0)"));
}

static uint32_t on_the_stack(uint32_t i)
{
    return 3 * i + 100;
}
Test(control, memory_is_taken_from_the_stack)
{
    expect_words(
        words(
            "",
            "and.b32 %r2, %i, 7;\nadd.u32 %r2, %r2, 1;\nmul.wide.u32 %rd1, %r2, 16;\nstacksave.u64 %rd5;\n"
            "alloca.u64 %rd2, %rd1;\nalloca.u64 %rd3, 64, 32;\nst.local.u32 [%rd2+12], %i;\nst.local.u32 [%rd3], 100;\n"
            "cvta.local.u64 %rd4, %rd2;\nld.u32 %r3, [%rd4+12];\nld.local.u32 %r4, [%rd3];\nmad.lo.u32 %r1, %r3, 3, %r4;\n"
            "stackrestore.u64 %rd5;\n"),
        2, 75, on_the_stack);
    expect_fault(
        words("", "mov.u64 %rd1, 40000;\nalloca.u64 %rd2, %rd1;\nalloca.u64 %rd3, %rd1;\n"), 1, 32,
        NULL, EMU_STACK_OVERFLOW, PARTS("alloca of 40000 bytes", "thread (0,0,0)"));
    /* what was not taken cannot be reached */
    expect_fault(
        words(
            "",
            "mov.u64 %rd1, 16;\nalloca.u64 %rd2, %rd1;\nadd.u64 %rd2, %rd2, 65536;\nst.local.u32 [%rd2], 1;\n"),
        1, 32, NULL, EMU_OUT_OF_BOUNDS, PARTS("write of 4 bytes"));
}

/* A CTA begins with zeros in all that nothing was written to, whichever CTAs were in its place before: else
 * results would depend on the number of host threads. */
static uint32_t nothing(uint32_t i)
{
    (void)i;
    return 0;
}
Test(control, a_cta_sees_nothing_of_the_one_before)
{
    static const char leaves[] =
        ".func (.param .b32 r) f (.param .b32 a)\n{\n.local .b32 x[4];\n.reg .b32 %a, %u, %v;\n.reg .b64 %w;\n"
        ".reg .pred %p;\nld.param.b32 %a, [a];\nsetp.gt.u32 %p, %a, 100000;\n@%p mov.b32 %u, 1;\n"
        "@%p mov.b64 %w, 1;\ncvt.u32.u64 %v, %w;\nor.b32 %u, %u, %v;\nld.local.u32 %v, [x+8];\nor.b32 %u, %u, %v;\n"
        "st.param.b32 [r], %u;\nadd.u32 %u, %a, 7;\ncvt.u64.u32 %w, %u;\nst.local.u32 [x+8], %u;\n"
        "st.local.u64 [x], %w;\nret;\n}\n";
    expect_words(words(leaves, "{\n.param .b32 a, r;\nst.param.b32 [a], %i;\ncall (r), f, (a);\n"
                               "ld.param.b32 %r1, [r];\n}\n"),
                 40, 70, nothing);
    expect_words(words("",
                       "mov.u64 %rd1, 64;\nalloca.u64 %rd2, %rd1;\nld.local.u32 %r1, [%rd2+8];\n"
                       "add.u32 %r2, %i, 1;\nst.local.u32 [%rd2+8], %r2;\n"),
                 40, 70, nothing);
    expect_words(
        words("",
              "setp.gt.u32 %p1, %i, 100000;\n@%p1 mov.u32 %r2, 1;\nmov.u32 %r1, %r2;\n"
              "add.u32 %r2, %i, 1;\nmad.wide.u32 %rd1, %i, 4, %q;\nst.global.u32 [%rd1], %r2;\n"),
        40, 70, nothing);
}

/* ---- barriers ------------------------------------------------------------------------------------- */

/* Each thread leaves its number in .shared; then each reads another one's. */
static uint32_t neighbour(uint32_t i)
{
    uint32_t block = 107, t = i % block, c = i / block;
    return t % 3 == 2 && t > 64 ? 0xeeeeeeee : c * 1000 + (t + 41) % block;
}
Test(control, barrier_waits_for_all_that_have_not_ended)
{
    expect_words(
        words(
            ".shared .b32 s[107];\n",
            "mov.u32 %r2, s;\nmad.lo.u32 %r3, %t, 4, %r2;\nmad.lo.u32 %r4, %c, 1000, %t;\nst.shared.u32 [%r3], %r4;\n"
            "rem.u32 %r5, %t, 3;\nsetp.eq.u32 %p1, %r5, 2;\nsetp.gt.and.u32 %p1, %t, 64, %p1;\n@%p1 exit;\n"
            "bar.sync 0;\nadd.u32 %r5, %t, 41;\nrem.u32 %r5, %r5, %n;\nmad.lo.u32 %r3, %r5, 4, %r2;\nld.shared.u32 %r1, [%r3];\n"),
        3, 107, neighbour);
}

static uint32_t warp_one(uint32_t i)
{
    return i / 32 == 1 ? 0xeeeeeeee : 5;
}
Test(control, barrier_goes_on_when_the_last_ends)
{
    /* warp 1 takes its time and then ends */
    expect_words(
        words(
            "",
            "setp.eq.u32 %p1, %w, 1;\n@!%p1 bra WAIT;\nmov.u32 %r2, 1000;\nL:\nadd.u32 %r2, %r2, -1;\n"
            "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra L;\nexit;\nWAIT:\nbar.sync 0;\nmov.u32 %r1, 5;\n"),
        1, 128, warp_one);
}

/* Warps 0 and 1 make numbers, warps 2 and 3 take them, round after round: two barriers of 128 threads, at which one
 * side only arrives. The four warps are one group. */
static uint32_t taken(uint32_t i)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 5 && i >= 64; k++) sum += (i - 64) * 10 + k;
    return sum;
}
Test(control, producers_and_consumers)
{
    expect_words(
        words(
            ".shared .b32 s[64];\n",
            "mov.u32 %r2, s;\nand.b32 %r3, %t, 63;\nmad.lo.u32 %r4, %r3, 4, %r2;\nmov.u32 %r5, 0;\nsetp.lt.u32 %p1, %t, 64;\n"
            "@!%p1 bra TAKE;\n"
            "MAKE:\nmad.lo.u32 %r6, %r3, 10, %r5;\nst.shared.u32 [%r4], %r6;\nbar.arrive 1, 128;\nbar.sync 2, 128;\n"
            "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5;\n@%p2 bra MAKE;\nbra DONE;\n"
            "TAKE:\nbar.sync 1, 128;\nld.shared.u32 %r6, [%r4];\nadd.u32 %r1, %r1, %r6;\nbar.arrive 2, 128;\n"
            "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 5;\n@%p2 bra TAKE;\n"),
        1, 128, taken);
}

static uint32_t pairs(uint32_t i)
{
    return (i / 64) * 100 + (i ^ 32) % 128;
}
Test(control, barriers_by_number_for_some_warps)
{
    /* warps 0 and 1 meet at barrier 3, warps 2 and 3 at barrier 4: the number is in a register */
    expect_words(
        words(
            ".shared .b32 s[128];\n",
            "mov.u32 %r2, s;\nmad.lo.u32 %r4, %t, 4, %r2;\nst.shared.u32 [%r4], %t;\nshr.u32 %r5, %t, 6;\nadd.u32 %r5, %r5, 3;\n"
            "barrier.sync %r5, 64;\nxor.b32 %r6, %t, 32;\nmad.lo.u32 %r4, %r6, 4, %r2;\nld.shared.u32 %r1, [%r4];\n"
            "shr.u32 %r7, %t, 6;\nmad.lo.u32 %r1, %r7, 100, %r1;\n"),
        1, 128, pairs);
}

static uint32_t guarded(uint32_t i)
{
    uint32_t t = i % 128;
    return t < 64 ? t + 1 : t + 2;
}
Test(control, a_barrier_under_a_guard_that_differs_by_warp)
{
    /* only warps 0 and 1 take part: the others go on behind it */
    expect_words(
        words(
            "",
            "setp.lt.u32 %p1, %t, 64;\n@%p1 bar.sync 1, 64;\nadd.u32 %r1, %t, 2;\n@%p1 add.u32 %r1, %t, 1;\n"),
        1, 128, guarded);
    expect_words(
        words(
            "",
            "setp.lt.u32 %p1, %t, 64;\n@%p1 barrier.sync 1, 64;\nadd.u32 %r1, %t, 2;\n@%p1 add.u32 %r1, %t, 1;\nbar.sync 0;\n"),
        2, 128, guarded);
}

static uint32_t reduced(uint32_t i)
{
    uint32_t t = i % 75, count = 25, r = count;
    (void)t;
    r += 1000;   /* .or */
    r += 0;      /* .and */
    r += 100000; /* .and of what is true for all */
    return r;
}
Test(control, barriers_that_reduce)
{
    expect_words(
        words(
            "",
            "rem.u32 %r2, %t, 3;\nsetp.eq.u32 %p1, %r2, 0;\nsetp.lt.u32 %p2, %t, 75;\n"
            "bar.red.popc.u32 %r1, 0, %p1;\nbar.red.or.pred %p3, 1, %p1;\n@%p3 add.u32 %r1, %r1, 1000;\n"
            "barrier.red.and.pred %p4, 0, %p1;\n@%p4 add.u32 %r1, %r1, 10000;\n"
            "bar.red.and.pred %p5, 0, %p2;\n@%p5 add.u32 %r1, %r1, 100000;\n"),
        2, 75, reduced);
}

static uint32_t seven(uint32_t i)
{
    (void)i;
    return 7;
}
/* PTX ISA, barrier: without a thread count all threads of the CTA take part. So a count of all, in whole warps, goes with
 * it; bar.arrive must have one. */
Test(control, a_barrier_for_all_threads_by_number)
{
    static const char *const pairs[][2] = {{"bar.arrive 1, 96;", "bar.sync 1;"},
                                           {"barrier.arrive 1, 96;", "barrier.sync 1;"},
                                           {"bar.sync 1, 96;", "bar.sync 1;"},
                                           {"bar.sync 1;", "bar.sync 1, 96;"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char body[400];
        snprintf(body, sizeof body,
                 "mov.u32 %%r2, s;\nsetp.eq.u32 %%p1, %%w, 1;\n@%%p1 bra MAKE;\n%s\n"
                 "ld.shared.u32 %%r1, [%%r2];\nbra DONE;\nMAKE:\nmov.u32 %%r1, 7;\n"
                 "st.shared.u32 [%%r2], %%r1;\n%s\n",
                 pairs[i][1], pairs[i][0]);
        expect_words(words(".shared .b32 s;\n", body), 2, 80, seven);
    }
}

Test(control, barrier_misuse)
{
    expect_fault(words("", "bar.sync %t;\n"), 1, 32, NULL, EMU_BARRIER,
                 PARTS("lanes of a warp name different barriers"));
    expect_fault(words("", "add.u32 %r2, %w, 15;\nbar.sync %r2, 32;\n"), 1, 64, NULL, EMU_BARRIER,
                 PARTS("barrier 16: there are 16", "thread (32,0,0)"));
    expect_fault(words("", "add.u32 %r2, %c, 33;\nbarrier.sync 0, %r2;\n"), 1, 64, NULL,
                 EMU_BARRIER, PARTS("barrier 0 for 33 threads: no multiple of 32"));
    expect_fault(words("", "mov.u32 %r2, 0;\nbarrier.sync 0, %r2;\n"), 1, 64, NULL, EMU_BARRIER,
                 PARTS("barrier 0 for 0 threads"));
    expect_fault(
        words("", "setp.eq.u32 %p1, %w, 0;\n@%p1 bar.sync 2, 64;\n@!%p1 bar.sync 2, 96;\n"), 1, 96,
        NULL, EMU_BARRIER, PARTS("barrier 2 for 96 threads, which others wait at for 64"));
}

Test(control, a_barrier_that_nobody_completes)
{
    expect_fault(words("", "setp.eq.u32 %p1, %w, 0;\n@%p1 bar.sync 5, 64;\n"), 2, 96, NULL,
                 EMU_BARRIER,
                 PARTS("barrier 5: 32 threads wait, and no other can come", "CTA (0,0,0)",
                       "bar.sync 5, 64"));
    /* lanes of one warp at two barriers */
    expect_fault(
        words(
            "",
            "setp.lt.u32 %p1, %l, 16;\n@%p1 bra A;\nbarrier.sync 1;\nbra DONE;\nA:\nbarrier.sync 1;\n"),
        1, 32, NULL, EMU_BARRIER, PARTS("barrier 1: 16 threads wait", "--divergence=its"));
}

static uint32_t its_barrier(uint32_t i)
{
    return i % 32 < 16 ? 1 : 2;
}
Test(control, lanes_of_a_warp_come_to_a_barrier_by_two_ways)
{
    struct emu_run its = {.config = {.divergence = EMU_ITS}};
    struct words *w = run_words(
        words("",
              "setp.lt.u32 %p1, %l, 16;\n@%p1 bra A;\nbarrier.sync 1;\nmov.u32 %r1, 2;\nbra DONE;\n"
              "A:\nbarrier.sync 1;\nmov.u32 %r1, 1;\n"),
        2, 75, &its);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < 150; i++) cr_expect_eq(w->out[i], its_barrier(i % 75));
    free(w);
}

/* ---- threads that wait for each other ---------------------------------------------------------------- */

static uint32_t relay(uint32_t i)
{
    return i / 32 + 1;
}
Test(control, warps_of_a_group_spin_for_each_other)
{
    /* warp k waits until the warp behind it has spoken; the last one begins */
    expect_words(
        words(
            ".shared .b32 flag[8];\n",
            "mov.u32 %r2, flag;\nmad.lo.u32 %r3, %w, 4, %r2;\nshr.u32 %r4, %n, 5;\nadd.u32 %r4, %r4, -1;\nadd.u32 %r1, %w, 1;\n"
            "setp.eq.u32 %p1, %w, %r4;\n@%p1 bra SPEAK;\n"
            "L:\nld.volatile.shared.u32 %r5, [%r3+4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\n"
            "SPEAK:\nst.volatile.shared.u32 [%r3], 1;\n"),
        1, 128, relay);
    expect_words(
        words(
            ".shared .b32 flag[8];\n",
            "mov.u32 %r2, flag;\nmad.lo.u32 %r3, %w, 4, %r2;\nshr.u32 %r4, %n, 5;\nadd.u32 %r4, %r4, -1;\nadd.u32 %r1, %w, 1;\n"
            "setp.eq.u32 %p1, %w, 0;\n@%p1 bra SPEAK;\n"
            "L:\nld.volatile.shared.u32 %r5, [%r3+-4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\n"
            "SPEAK:\nst.volatile.shared.u32 [%r3], 1;\n"),
        1, 256, relay);
}

static uint32_t cta_plus(uint32_t i)
{
    return i / 64 + 3;
}
Test(control, ctas_spin_for_later_ctas)
{
    expect_words(
        words(
            ".global .u32 flag[64];\n",
            "mov.u64 %rd1, flag;\nmad.wide.u32 %rd1, %c, 4, %rd1;\nmov.u32 %r2, %nctaid.x;\nadd.u32 %r2, %r2, -1;\n"
            "add.u32 %r1, %c, 3;\nsetp.eq.u32 %p1, %c, %r2;\n@%p1 bra SPEAK;\n"
            "L:\nld.volatile.global.u32 %r5, [%rd1+4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\n"
            "SPEAK:\nst.volatile.global.u32 [%rd1], 1;\n"),
        20, 64, cta_plus);
    /* the same with plain accesses: nothing says that CTAs talk */
    expect_words(
        words(
            ".global .u32 flag[64];\n",
            "mov.u64 %rd1, flag;\nmad.wide.u32 %rd1, %c, 4, %rd1;\nmov.u32 %r2, %nctaid.x;\nadd.u32 %r2, %r2, -1;\n"
            "add.u32 %r1, %c, 3;\nsetp.eq.u32 %p1, %c, %r2;\n@%p1 bra SPEAK;\n"
            "L:\nld.global.u32 %r5, [%rd1+4];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\n"
            "SPEAK:\nst.global.u32 [%rd1], 1;\n"),
        4, 64, cta_plus);
}

static uint32_t all_ctas(uint32_t i)
{
    (void)i;
    return 12 * 13 / 2;
}
static const char grid_barrier[] =
    "mov.u64 %rd1, sum;\nmov.u64 %rd2, count;\nmov.u32 %r2, %nctaid.x;\nadd.u32 %r3, %c, 1;\nsetp.eq.u32 %p1, %t, 0;\n"
    "@!%p1 bra MEET;\nred.global.add.u32 [%rd1], %r3;\nmembar.gl;\natom.global.add.u32 %r4, [%rd2], 1;\n"
    "L:\nld.volatile.global.u32 %r5, [%rd2];\nsetp.lt.u32 %p2, %r5, %r2;\n@%p2 bra L;\nmembar.gl;\n"
    "MEET:\nbar.sync 0;\nld.volatile.global.u32 %r1, [%rd1];\n";
Test(control, a_barrier_of_the_grid_made_of_atomics)
{
    expect_words(words(".global .u32 sum, count;\n", grid_barrier), 12, 97, all_ctas);
}

/* CTAs begin one after the other, and each that waits has a turn when another one has begun: of 12 CTAs that are 12 * 13 / 2
 * turns. A turn of a CTA that polls in a loop of four instructions ends after a few rounds. */
Test(control, ctas_that_wait_for_each_other_poll_little)
{
    enum { CTAS = 12, TURNS = CTAS * (CTAS + 1) / 2, OF_A_TURN = 32, OF_A_CTA = 64 };
    struct emu_run run = {.once = true, .in_turn = true, .config.count = true};
    struct words *w = run_words(words(".global .u32 sum, count;\n", grid_barrier), CTAS, 64, &run);
    cr_assert(w->ok, "%s", w->run.fault);
    const unsigned long long n = w->run.warp_instructions;
    cr_expect(n < TURNS * OF_A_TURN + CTAS * OF_A_CTA, "%llu warp instructions", n);
    free(w);
}

/* ---- independent threads ------------------------------------------------------------------------------- */

static void expect_its(const char *ptx, uint32_t grid, uint32_t block, uint32_t (*f)(uint32_t i))
{
    struct emu_run its = {.config = {.divergence = EMU_ITS}};
    struct words *w = run_words(ptx, grid, block, &its);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < grid * block; i++)
        cr_expect(w->out[i] == f(i), "thread %u: %u, not %u", i, w->out[i], f(i));
    free(w);
}

Test(control, lanes_part_as_they_do_on_the_stack)
{
    expect_its(
        words(
            "",
            "add.u32 %r2, %i, 1;\n"
            "L:\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 bra DONE;\nadd.u32 %r1, %r1, 1;\n"
            "and.b32 %r3, %r2, 1;\nsetp.ne.u32 %p2, %r3, 0;\n@%p2 bra ODD;\nshr.u32 %r2, %r2, 1;\nbra L;\n"
            "ODD:\nmad.lo.u32 %r2, %r2, 3, 1;\nbra L;\n"),
        3, 250, collatz);
}

static uint32_t from_behind(uint32_t i)
{
    return 2 * (74 - i % 75) + 1;
}
static uint32_t from_front(uint32_t i)
{
    return 2 * (i % 75) + 1;
}
Test(control, each_lane_waits_for_another_one_of_its_warp)
{
    /* the value goes from thread to thread; where it begins, nobody waits */
    static const char body[] =
        "mov.u32 %%r2, s;\nmad.lo.u32 %%r3, %%t, 4, %%r2;\nmov.u32 %%r5, 1;\nsetp.eq.u32 %%p1, %%t, %d;\n@%%p1 bra SPEAK;\n"
        "L:\nld.volatile.shared.u32 %%r5, [%%r3+%d];\nsetp.eq.u32 %%p2, %%r5, 0;\n@%%p2 bra L;\nadd.u32 %%r5, %%r5, 2;\n"
        "SPEAK:\nst.volatile.shared.u32 [%%r3+8], %%r5;\nmov.u32 %%r1, %%r5;\n";
    char text[600];
    snprintf(text, sizeof text, body, 74, 12);
    expect_its(words(".shared .b32 s[80];\n", text), 2, 75, from_behind);
    snprintf(text, sizeof text, body, 0, 4);
    expect_its(words(".shared .b32 s[80];\n", text), 2, 75, from_front);
}

static uint32_t met(uint32_t i)
{
    uint32_t l = i % 75 % 32, others = i % 75 < 64 ? 32 : 11;
    bool low = l < 8;
    uint32_t r = low ? 8 : others - 8; /* how many of the same way */
    r += 100 * (low ? 7 - l : 8 + (others - 1 - l));
    return r + 10000 * others;
}
Test(control, lanes_meet_at_instructions_of_the_warp)
{
    /* two ways, each with votes and shuffles of its own lanes; lanes come to them one by one, out of a loop; then all */
    static const char body[] =
        "activemask.b32 %r10;\nsetp.lt.u32 %p1, %l, 8;\nmov.u32 %r2, %l;\n"
        "W:\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 bra OUT;\nadd.u32 %r2, %r2, -1;\nbra W;\nOUT:\n"
        "@%p1 bra LOW;\n"
        "and.b32 %r3, %r10, 0xffffff00;\nsetp.ge.u32 %p2, %l, 8;\nvote.sync.ballot.b32 %r4, %p2, %r3;\npopc.b32 %r5, %r4;\n"
        "popc.b32 %r6, %r10;\nadd.u32 %r6, %r6, 7;\nsub.u32 %r6, %r6, %l;\nshfl.sync.idx.b32 %r7, %l, %r6, 31, %r3;\nbra MEET;\n"
        "LOW:\nmov.u32 %r3, 0xff;\nvote.sync.ballot.b32 %r4, 1, %r3;\npopc.b32 %r5, %r4;\n"
        "sub.u32 %r6, 7, %l;\nshfl.sync.idx.b32 %r7, %l, %r6, 31, %r3;\n"
        "MEET:\nmad.lo.u32 %r1, %r7, 100, %r5;\nbar.warp.sync %r10;\nredux.sync.add.u32 %r8, 1, %r10;\n"
        "mad.lo.u32 %r1, %r8, 10000, %r1;\n";
    expect_its(words("", body), 2, 75, met);
    expect_words(words("", body), 2, 75, met);
}

static uint32_t under_a_guard(uint32_t i)
{
    uint32_t l = i % 32;
    return l % 3 ? 77 : l + 3 < 32 ? l + 3 : l;
}
Test(control, shuffles_under_a_guard)
{
    static const char body[] =
        "rem.u32 %r2, %l, 3;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r1, 77;\nactivemask.b32 %r9;\nvote.sync.ballot.b32 %r3, %p1, %r9;\n"
        "@%p1 shfl.sync.down.b32 %r1|%p2, %l, 3, 31, %r3;\n@%p1 bar.warp.sync %r3;\n";
    expect_words(words("", body), 2, 64, under_a_guard);
    expect_its(words("", body), 2, 64, under_a_guard);
}

static uint32_t locked(uint32_t i)
{
    (void)i;
    return 150 * 3;
}
Test(control, a_lock_taken_in_a_function)
{
    /* every thread of every CTA adds 3 under one lock; the last look is behind a barrier of the grid */
    static const char f[] =
        ".global .u32 lock, sum, count;\n"
        ".func f ()\n{\n.reg .b32 %a, %b;\n.reg .pred %p;\nL:\natom.acquire.gpu.global.cas.b32 %a, [lock], 0, 1;\n"
        "setp.ne.u32 %p, %a, 0;\n@%p bra L;\nld.volatile.global.u32 %b, [sum];\nadd.u32 %b, %b, 3;\n"
        "st.volatile.global.u32 [sum], %b;\natom.release.gpu.global.exch.b32 %a, [lock], 0;\nret;\n}\n";
    expect_its(
        words(f,
              "call f;\nred.global.add.u32 [count], 1;\nmov.u32 %r3, 150;\n"
              "W:\nld.volatile.global.u32 %r2, [count];\nsetp.ne.u32 %p1, %r2, %r3;\n@%p1 bra W;\n"
              "ld.volatile.global.u32 %r1, [sum];\n"),
        2, 75, locked);
}

static uint32_t two_waves(uint32_t i)
{
    uint32_t t = i % 75;
    return t % 2 ? 0xeeeeeeee : 40 + t;
}
Test(control, lanes_end_while_others_wait)
{
    /* odd lanes give the sign and end; even ones wait for it, and then at a barrier */
    expect_its(
        words(
            ".shared .b32 s[80];\n",
            "mov.u32 %r2, s;\nmad.lo.u32 %r3, %t, 4, %r2;\nand.b32 %r4, %t, 1;\nsetp.eq.u32 %p1, %r4, 1;\n@!%p1 bra EVEN;\n"
            "add.u32 %r5, %t, 39;\nst.volatile.shared.u32 [%r3+-4], %r5;\nexit;\n"
            "EVEN:\nsetp.eq.u32 %p3, %t, 74;\nmov.u32 %r1, 114;\n@%p3 bra B;\n"
            "L:\nld.volatile.shared.u32 %r1, [%r3];\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 bra L;\nB:\nbar.sync 0;\n"),
        2, 75, two_waves);
}

/* What it goes round is counted, and takes time in estimates. */
Test(control, a_warp_that_waits_for_another_cta_lets_it_go_on)
{
    static const char *const waits[] = {
        "L: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L;",
        "L: atom.global.cas.b32 %r2, [%d1], 7, 0; setp.ne.u32 %p2, %r2, 7; @%p2 bra L;",
        "L: ld.acquire.gpu.global.u32 %r2, [%d1]; setp.ne.u32 %p2, %r2, 0; @%p2 bra M; bra L; M:"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        char text[1000];
        uint32_t out[2] = {0};
        snprintf(text, sizeof text,
                 ".reg .b64 %%d<2>; .reg .b32 %%r<4>; .reg .pred %%p<3>; ld.param.u64 %%d1, [out];"
                 "mov.u32 %%r1, %%ctaid.x; setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra OTHER;\n%s\n"
                 "st.volatile.global.u32 [%%d1+4], 5; ret;\n"
                 "OTHER: st.volatile.global.u32 [%%d1], 7; ret;",
                 waits[i]);
        struct emu_run r = {.ptx = emu_ptx(".param .u64 out", text),
                            .grid = 2,
                            .block = 1,
                            .once = true,
                            .in_turn = true,
                            .config.count = true};
        r.args[0] = emu_out(&r, out, sizeof out);
        cr_assert(emu_run(&r), "%s", r.fault);
        cr_expect_eq(out[1], 5);
        cr_expect(r.warp_instructions < 600, "%llu", (unsigned long long)r.warp_instructions);
    }
}

/* ---- clusters ------------------------------------------------------------------------------------------- */

static uint32_t from_next(uint32_t i)
{
    uint32_t c = i / 40, t = i % 40, next = c / 4 * 4 + (c % 4 + 1) % 4;
    return next * 1000 + t;
}
static const char cluster_body[] =
    "mov.u32 %r2, s;\nmad.lo.u32 %r3, %t, 4, %r2;\nmad.lo.u32 %r4, %c, 1000, %t;\nst.shared.u32 [%r3], %r4;\n"
    "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
    "mov.u32 %r5, %cluster_ctarank;\nadd.u32 %r5, %r5, 1;\nmov.u32 %r6, %cluster_nctarank;\nrem.u32 %r5, %r5, %r6;\n"
    "mapa.shared::cluster.u32 %r7, %r3, %r5;\nld.shared::cluster.u32 %r1, [%r7];\n"
    "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
Test(control, a_cluster_shares_memory)
{
    struct emu_run how = {.cluster = 4};
    struct words *w = run_words(words(".shared .b32 s[64];\n", cluster_body), 12, 40, &how);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < 480; i++)
        cr_expect_eq(w->out[i], from_next(i), "thread %u: %u", i, w->out[i]);
    free(w);
}

/* Values go round the cluster, one hop for each barrier; all in one block, as unrolled loops have it. */
static uint32_t five_before(uint32_t i)
{
    const uint32_t c = i / 64;
    return (c / 4 * 4 + (c + 3) % 4) * 1000 + i % 64;
}
Test(control, a_cluster_waits_often_in_one_block)
{
    struct emu_run how = {.cluster = 4};
    char body[4000];
    int at = sprintf(body, "mov.u32 %%r2, s;\nmad.lo.u32 %%r3, %%t, 4, %%r2;\n"
                           "mad.lo.u32 %%r1, %%c, 1000, %%t;\nmov.u32 %%r5, %%cluster_ctarank;\n"
                           "add.u32 %%r5, %%r5, 1;\nand.b32 %%r5, %%r5, 3;\n"
                           "mapa.shared::cluster.u32 %%r7, %%r3, %%r5;\n");
    for (int hop = 0; hop < 5; hop++)
        at += sprintf(
            body + at,
            "st.shared::cluster.u32 [%%r7+%d], %%r1;\n"
            "barrier.cluster.arrive;\nbarrier.cluster.wait;\nld.shared.u32 %%r1, [%%r3+%d];\n",
            hop * 256, hop * 256);
    struct words *w = run_words(words(".shared .b32 s[320];\n", body), 8, 64, &how);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < 512; i++)
        cr_expect_eq(w->out[i], five_before(i), "thread %u: %u", i, w->out[i]);
    free(w);
}

/* if (t >= 21) return; __syncthreads(); : an assembler has them exit there and then, and so they are at no barrier. In
 * a function that the kernel calls, too; while lanes that are elsewhere come to a barrier of their own or never. */
Test(control, who_branches_to_the_end_holds_up_no_barrier)
{
    static const struct {
        const char *body;
        bool stuck;
    } cases[] = {
        {"@%p1 bra END; bar.sync 0; BODY END: ret;", false},
        {"@%p1 bra END; bar.sync 0; BODY bra END; OTHER: st.global.u32 [%d1], 1; END: ret;", false},
        {"@%p1 bra END; call meet; BODY END: ret;", false},
        {"@%p1 bra END; setp.gt.u32 %p2, %r1, 9; @%p2 bra OVER; OVER: bar.sync 0; BODY END: ret;",
         false},
        {"@%p1 bra END; @%p3 bra ONE; bar.sync 0; ONE: BODY END: ret;", true},
        {"@%p1 bra END; bar.sync 0; BODY END: st.global.u32 [%d1+128], %r1; ret;", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t block = 32; block <= 160; block += 128) {
            char text[2000], body[1000];
            const char *at = strstr(cases[i].body, "BODY");
            uint32_t out[64] = {0};
            snprintf(body, sizeof body,
                     "%.*sld.shared.u32 %%r3, [s]; st.global.u32 [%%d1], %%r3; %s",
                     (int)(at - cases[i].body), cases[i].body, at + 4);
            snprintf(
                text, sizeof text,
                ".version 8.0\n.target sm_80\n.address_size 64\n"
                ".func meet() { bar.sync 0; ret; }\n"
                ".entry k(.param .u64 out) {\n.shared .u32 s; .reg .b64 %%d<2>; .reg .b32 %%r<4>;"
                ".reg .pred %%p<4>; ld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x;\n"
                "mov.u32 %%r2, 7; st.shared.u32 [s], %%r2; setp.ge.u32 %%p1, %%r1, 21;"
                "setp.lt.u32 %%p3, %%r1, 3;\n%s\n}\n",
                body);
            struct emu_run r = {.ptx = text, .block = block};
            r.args[0] = emu_out(&r, out, sizeof out);
            const bool ran = emu_run(&r);
            cr_expect(ran == !cases[i].stuck, "%zu: %s", i, r.fault);
            if (ran) cr_expect_eq(out[0], 7);
            else cr_expect(strstr(r.fault, "barrier 0: "), "%s", r.fault);
        }
}

/* A barrier of a cluster counts those that have not ended: warps that arrive and end must not stand for others. */
static uint32_t after_the_cluster(uint32_t i)
{
    uint32_t c = i / 96, w = i % 96 / 32;
    return w == 0 ? 0xeeeeeeee : c % 2 == 1 && w == 2 ? 0xeeeeeeee : 7;
}
Test(control, threads_end_around_a_cluster_barrier)
{
    struct emu_run how = {.cluster = 2, .in_turn = true}; /* an exit releases nothing */
    /* warp 0 arrives and ends; in odd CTAs warp 2 works long and ends without arriving; the word that it stores before
     * is what the others read behind the barrier */
    struct words *w = run_words(
        words(
            ".global .u32 late[8];\n",
            "mov.u64 %rd1, late;\nshr.u32 %r9, %c, 1;\nmad.wide.u32 %rd1, %r9, 4, %rd1;\nand.b32 %r2, %c, 1;\nsetp.eq.u32 %p1, %r2, 1;\n"
            "setp.eq.and.u32 %p2, %w, 2, %p1;\n@%p2 bra LATE;\nbarrier.cluster.arrive;\nsetp.eq.u32 %p3, %w, 0;\n@%p3 exit;\n"
            "barrier.cluster.wait;\nld.volatile.global.u32 %r1, [%rd1];\nbra DONE;\n"
            "LATE:\nmov.u32 %r3, 5000;\nL:\nadd.u32 %r3, %r3, -1;\nsetp.ne.u32 %p4, %r3, 0;\n@%p4 bra L;\n"
            "st.volatile.global.u32 [%rd1], 7;\nexit;\n"),
        4, 96, &how);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < 4 * 96; i++)
        cr_expect_eq(w->out[i], after_the_cluster(i), "thread %u: %u", i, w->out[i]);
    free(w);
}

static uint32_t parted_arrive(uint32_t i)
{
    return i % 64 < 32 ? 9 : 0;
}
Test(control, lanes_of_a_warp_arrive_at_a_cluster_barrier_one_by_one)
{
    /* warp 0 of each CTA arrives by halves, and waits; warp 1 of CTA 1 comes late with what they read */
    struct emu_run how = {.cluster = 2};
    struct words *w = run_words(
        words(
            ".global .u32 late;\n",
            "setp.eq.u32 %p1, %w, 0;\n@!%p1 bra OTHER;\nsetp.lt.u32 %p2, %l, 16;\n@%p2 bra LOW;\nbarrier.cluster.arrive;\nbra WAIT;\n"
            "LOW:\nbarrier.cluster.arrive;\nWAIT:\nbarrier.cluster.wait;\nld.volatile.global.u32 %r1, [late];\nbra DONE;\n"
            "OTHER:\nmov.u32 %r3, 5000;\nL:\nadd.u32 %r3, %r3, -1;\nsetp.ne.u32 %p4, %r3, 0;\n@%p4 bra L;\n"
            "setp.eq.u32 %p5, %c, 1;\n@%p5 st.volatile.global.u32 [late], 9;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
        2, 64, &how);
    cr_assert(w->ok, "%s", w->run.fault);
    for (uint32_t i = 0; i < 128; i++)
        cr_expect_eq(w->out[i], parted_arrive(i), "thread %u: %u", i, w->out[i]);
    free(w);
}

Test(control, shared_memory_of_no_cta_of_the_cluster)
{
    struct emu_run how = {.cluster = 2};
    expect_fault(
        words(
            ".shared .b32 s[64];\n",
            "mov.u32 %r2, s;\nmapa.shared::cluster.u32 %r3, %r2, 2;\nld.shared::cluster.u32 %r1, [%r3];\n"),
        2, 32, &how, EMU_OUT_OF_BOUNDS, PARTS("read of 4 bytes", "thread (0,0,0) of CTA (0,0,0)"));
    expect_fault(
        words(
            ".shared .b32 s[64];\n",
            "mov.u32 %r2, s;\nmov.u32 %r4, -1;\nmapa.shared::cluster.u32 %r3, %r2, %r4;\nst.shared::cluster.u32 [%r3], 1;\n"),
        2, 32, &how, EMU_OUT_OF_BOUNDS, PARTS("write of 4 bytes"));
}

/* PTX ISA, state spaces: .shared is .shared::cta, the memory of the own CTA. Another one's is reached by .shared::cluster and by
 * generic addresses. */
Test(control, shared_memory_of_another_cta_needs_its_space)
{
    static const char *const there[] = {"ld.shared.u32 %r1, [%r3];",
                                        "ld.shared::cta.v2.u32 {%r1, %r4}, [%r3];",
                                        "st.shared.u32 [%r3], 1;",
                                        "st.volatile.shared.u32 [%r3], 1;",
                                        "atom.shared.add.u32 %r1, [%r3], 1;",
                                        "red.shared::cta.max.u32 [%r3], 1;",
                                        "mbarrier.arrive.shared.b64 %rd1, [%r3];"};
    char body[400];
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        struct emu_run how = {.cluster = 2};
        snprintf(body, sizeof body,
                 "mov.u32 %%r2, s;\nmapa.shared::cluster.u32 %%r3, %%r2, 1;\n%s\n", there[i]);
        expect_fault(words(".shared .align 8 .b32 s[64];\n", body), 2, 32, &how, EMU_OUT_OF_BOUNDS,
                     PARTS("shared memory of CTA 1 of the cluster", ".shared::cluster",
                           "thread (0,0,0) of CTA (0,0,0)"));
    }
}

/* The CTA that fails is named, not one that then waits for it for ever. */
Test(control, a_fault_is_that_of_the_cta_that_fails)
{
    struct emu_run how = {.cluster = 2};
    expect_fault(
        words(
            "",
            "setp.eq.u32 %p1, %c, 1;\n@%p1 trap;\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
        4, 64, &how, EMU_TRAP, PARTS("CTA (1,0,0)"));
    expect_fault(
        words(".global .u32 flag;\n",
              "setp.eq.u32 %p1, %c, 3;\n@%p1 trap;\nL:\nld.volatile.global.u32 %r5, [flag];\n"
              "setp.eq.u32 %p2, %r5, 0;\n@%p2 bra L;\n"),
        8, 64, NULL, EMU_TRAP, PARTS("CTA (3,0,0)"));
}

/* Vectors are handed over with all components, to the callee and back, by direct and indirect calls. */
Test(emu_control, functions_take_and_return_vectors)
{
    static const char *const kinds[] = {"u32", "s32", "u16"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int indirect = 0; indirect < 2; indirect++) {
            uint32_t out[32 * 6];
            char text[2600];
            const char *t = kinds[k];
            snprintf(
                text, sizeof text,
                ".version 8.0\n.target sm_80\n.address_size 64\n"
                ".func (.reg .v4 .%s r) turn(.reg .v4 .%s a, .reg .%s b)\n"
                "{ mov.%s r.x, a.y; mov.%s r.y, a.z; mov.%s r.z, a.w; add.%s r.w, a.x, b; ret; }\n"
                ".func (.reg .v2 .%s r) swap(.reg .v2 .%s a) { mov.%s r.x, a.y; mov.%s r.y, a.x; ret; }\n"
                ".entry k(.param .u64 out) { .reg .v4 .%s v, w; .reg .v2 .%s p, q; .reg .u32 t, x;\n"
                ".reg .u64 o, f; .reg .%s n; mov.u32 t, %%tid.x; cvt.%s.u32 n, t;\n"
                "add.%s v.x, n, 1; add.%s v.y, n, 2; add.%s v.z, n, 3; add.%s v.w, n, 4;\n"
                "add.%s p.x, n, 5; add.%s p.y, n, 6;\n"
                "P: .callprototype (.reg .v4 .%s r) _ (.reg .v4 .%s a, .reg .%s b);\n"
                "mov.u64 f, turn; %s\ncall (q), swap, (p);\n"
                "ld.param.u64 o, [out]; mad.wide.u32 o, t, 24, o;\n"
                "cvt.u32.%s x, w.x; st.global.u32 [o], x; cvt.u32.%s x, w.y; st.global.u32 [o+4], x;\n"
                "cvt.u32.%s x, w.z; st.global.u32 [o+8], x; cvt.u32.%s x, w.w; st.global.u32 [o+12], x;\n"
                "cvt.u32.%s x, q.x; st.global.u32 [o+16], x; cvt.u32.%s x, q.y; st.global.u32 [o+20], x;\n"
                "ret; }\n",
                t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t,
                indirect ? "call (w), f, (v, 100), P;" : "call (w), turn, (v, 100);", t, t, t, t, t,
                t);
            struct emu_run r = {.ptx = text, .block = 32};
            if (k == 2) { /* the ABI passes no .u16, but vectors of .b16 */
                for (char *c = text; (c = strstr(c, ".reg .u16 b")); c++)
                    memcpy(c, ".reg .b16 b", 11);
            }
            r.args[0] = emu_out(&r, out, sizeof out);
            cr_assert(emu_run(&r), "%s: %s", t, r.fault);
            for (uint32_t i = 0; i < 32; i++) {
                const uint32_t want[6] = {i + 2, i + 3, i + 4, i + 101, i + 6, i + 5};
                for (int c = 0; c < 6; c++)
                    cr_expect(out[i * 6 + (uint32_t)c] == want[c], "%s lane %u, %d: %u, not %u", t,
                              i, c, out[i * 6 + (uint32_t)c], want[c]);
            }
        }
}

/* Without the ABI, which several results end, functions take and return small values and predicates; a prototype needs no
 * semicolon; a register and a constant may stand in place of a register. */
Test(emu_control, functions_without_the_abi)
{
    uint32_t out[32 * 4];
    struct emu_run r = {.block = 32};
    r.ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
            ".func (.reg .u8 b, .reg .pred odd, .reg .s16 n) f(.reg .u16 x, .reg .pred p)\n"
            ".func (.reg .u8 b, .reg .pred odd, .reg .s16 n) f(.reg .u16 x, .reg .pred p)\n"
            "{ .reg .u16 y; cvt.u8.u16 b, x; and.b16 y, x, 1; setp.ne.u16 odd, y, 0;\n"
            "mov.s16 n, -3; @p mov.s16 n, -5; ret; }\n"
            ".entry k(.param .u64 out) { .reg .u32 t, v; .reg .u64 o; .reg .u16 x; .reg .u8 b;\n"
            ".reg .pred p, q; .reg .s16 n;\n"
            "mov.u32 t, %tid.x; cvt.u16.u32 x, t; add.u16 x, x, 250; setp.gt.u32 p, t, 15;\n"
            "call (b, q, n), f, (x, p);\n"
            "ld.param.u64 o, [out]; mad.wide.u32 o, t, 16, o;\n"
            "cvt.u32.u8 v, b; st.global.u32 [o], v; selp.u32 v, 1, 0, q; st.global.u32 [o+4], v;\n"
            "cvt.s32.s16 v, n; st.global.u32 [o+8], v; st.global.u32 [o+12], t+7;\nret; }\n";
    r.args[0] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t want[4] = {(i + 250) & 255, i & 1, (uint32_t)(i > 15 ? -5 : -3), i + 7};
        for (uint32_t c = 0; c < 4; c++)
            cr_expect(out[i * 4 + c] == want[c], "lane %u, %u: %u, not %u", i, c, out[i * 4 + c],
                      want[c]);
    }
}
