/* ptx/unroll.h: which loops ptxas 13.0 unrolls for sm_90, as its machine code shows: for each of these bodies the kernel below was
 * assembled, and the loads of its loop were counted. */
#include "ptx/unroll.h"
#include "ptx/flow.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define LOAD                                                                                       \
    "mul.wide.s32 %b, %i, 4; add.s64 %c, %a, %b; ld.global.f32 %f2, [%c]; add.f32 %f1, %f1, %f2;"
#define LOAD_SHARED                                                                                \
    "and.b32 %r1, %i, 1023; shl.b32 %r1, %r1, 2; mov.u32 %r2, sh; add.s32 %r1, %r1, %r2;"          \
    "ld.shared.f32 %f2, [%r1]; add.f32 %f1, %f1, %f2;"
#define STORE "st.global.f32 [%d], %f1;"
#define COUNT "add.s32 %i, %i, 32; setp.lt.s32 %p, %i, %n; @%p bra L;"
#define FOUR PTX_UNROLL(4, PTX_UNROLL_HALVES)
#define FMA "fma.rn.f32 %f1, %f1, %f1, %f2;"
#define FMA_3 FMA FMA FMA
#define FMA_9 FMA_3 FMA_3 FMA_3
#define FMA_42 FMA_9 FMA_9 FMA_9 FMA_9 FMA_3 FMA_3

static const struct {
    const char *body;
    uint8_t unrolled;
} cases[] = {
    {"L:" LOAD COUNT, FOUR},
    /* as large as the body may be: ptxas unrolls with 42 multiply-adds, not with 43; with 15 of shared memory, not with 16 */
    {"L:" LOAD FMA_42 COUNT, FOUR},
    {"L:" LOAD FMA_42 FMA COUNT, 0},
    {"L:" LOAD_SHARED FMA_9 FMA_3 FMA_3 COUNT, FOUR},
    {"L:" LOAD_SHARED FMA_9 FMA_3 FMA_3 FMA COUNT, 0},
    /* a load whose address another one gives, one that waits for the round before */
    {"L: mul.wide.s32 %b, %i, 4; add.s64 %c, %a, %b; ld.global.u32 %r1, [%c]; mul.wide.s32 %b, %r1, 4;"
     "add.s64 %c, %d, %b; ld.global.f32 %f2, [%c]; add.f32 %f1, %f1, %f2;" COUNT,
     FOUR},
    {"L: mul.wide.s32 %b, %r1, 4; add.s64 %c, %a, %b; ld.global.u32 %r1, [%c];" COUNT, FOUR},
    /* stores: to other memory alone, and whatever the address */
    {"L:" LOAD "mov.u32 %r1, sh; st.shared.f32 [%r1], %f2;" COUNT, FOUR},
    {"L:" LOAD_SHARED STORE COUNT, FOUR},
    {"L:" LOAD STORE COUNT, 0},
    {"L: ld.global.nc.f32 %f2, [%a]; add.f32 %f1, %f1, %f2;" STORE COUNT, 0},
    {"L: ld.f32 %f2, [%a]; mov.u32 %r1, sh; st.shared.f32 [%r1], %f2;" COUNT, 0},
    {"L:" LOAD_SHARED "st.shared.f32 [%r1+64], %f1;" COUNT, 0},
    /* what must not be there */
    {"L:" LOAD "bar.sync 0;" COUNT, 0},
    {"L:" LOAD "red.global.add.f32 [%d], %f2;" COUNT, 0},
    {"L:" LOAD "membar.cta;" COUNT, 0},
    {"L:" LOAD "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;" COUNT, 0},
    {"L:" LOAD "sqrt.rn.f32 %f1, %f1;" COUNT, 0},
    {"L:" LOAD "div.rn.f32 %f1, %f1, %f2;" COUNT, 0},
    {"L: .pragma \"nounroll\";" LOAD COUNT, 0},
    /* how it ends */
    {"L:" LOAD "add.s32 %i, %i, 32; setp.ne.s32 %p, %i, %n; @%p bra L;",
     PTX_UNROLL(4, PTX_UNROLL_ONES)},
    {"L:" LOAD "add.s32 %i, %i, 1; add.s32 %n, %n, -1; setp.gt.s32 %p, %n, 0; @%p bra L;", FOUR},
    {"L:" LOAD "add.s32 %r1, %i, 32; setp.lt.s32 %p, %r1, %n; mov.u32 %i, %r1; @%p bra L;", FOUR},
    {"L: ld.global.f32 %f2, [%a]; add.f32 %f1, %f1, %f2; add.s64 %a, %a, 4; setp.lt.u64 %p, %a, %d; @%p bra L;",
     FOUR},
    {"L:" LOAD "add.s32 %i, %i, %r2; setp.lt.s32 %p, %i, %n; @%p bra L;", 0},
    {"L:" LOAD "shl.b32 %i, %i, 1; setp.lt.s32 %p, %i, %n; @%p bra L;", 0},
    {"L:" LOAD "ld.global.u32 %n, [%d];" COUNT, 0},
    {"L:" LOAD "setp.eq.f32 %q, %f2, 0f00000000; @%q bra E;" COUNT "E:", 0},
    {"L: mul.wide.s32 %b, %r1, 4; add.s64 %c, %a, %b; ld.global.u32 %r1, [%c]; setp.ne.s32 %p, %r1, 0; @%p bra L;",
     0},
    {"L:" LOAD "add.s32 %i, %i, 32; setp.ge.s32 %p, %i, %n; @!%p bra L;", 0},
    /* of a known number of rounds as many as make 250 instructions: this one has seven */
    {"L: mul.wide.s32 %b, %r1, 4; add.s64 %c, %a, %b; ld.global.f32 %f2, [%c]; add.f32 %f1, %f1, %f2;"
     "add.s32 %r1, %r1, 1; setp.lt.s32 %p, %r1, 1000; @%p bra L;",
     PTX_UNROLL(35, PTX_UNROLL_WHOLE)},
};

Test(unroll, loops_are_those_that_ptxas_unrolls)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[8192];
        snprintf(
            text, sizeof text,
            ".version 8.0\n.target sm_80\n.address_size 64\n"
            ".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 z)\n"
            "{ .reg .pred %%p, %%q; .reg .b32 %%i, %%n, %%r<3>; .reg .f32 %%f<3>; .reg .b64 %%a, %%b, %%c, %%d;"
            ".shared .b8 sh[8192]; ld.param.u64 %%a, [x]; ld.param.u64 %%d, [y]; ld.param.u32 %%n, [z];"
            "mov.u32 %%i, %%tid.x; mov.u32 %%r1, 0; mov.u32 %%r2, %%n; mov.f32 %%f1, 0f00000000;"
            "%s st.global.f32 [%%d], %%f1; ret; }",
            cases[i].body);
        struct parsed *p = parse_text("test.ptx", text, strlen(text));
        cr_assert(p->ok, "%s: %s", cases[i].body, first_error(p));
        const struct ptx_flow *f = ptx_flow_new(p->arena,
                                                ptx_cfg_new(p->arena, p->module->funcs[0]));
        const uint8_t *found = ptx_find_unrolled(p->arena, f);
        uint8_t most = 0;
        for (size_t s = 0; found && s < f->func->body->count; s++)
            if (found[s]) most = found[s];
        cr_expect(most == cases[i].unrolled, "%s: %u rounds (%u), not %u (%u)", cases[i].body,
                  PTX_UNROLL_ROUNDS(most), PTX_UNROLL_REST(most),
                  PTX_UNROLL_ROUNDS(cases[i].unrolled), PTX_UNROLL_REST(cases[i].unrolled));
        parsed_free(p);
    }
}
