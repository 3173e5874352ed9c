/* Litmus tests as kernels of many instances: litmus.h says how. */
#include "tests/hardware/litmus.h"

#include "base/buf.h"

#include <stdlib.h>

enum { LANES = HARDWARE_LITMUS_LANES };

/* The place of a thread among those of its CTA. */
static uint32_t slot_of(const struct litmus *t, uint32_t thread)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < thread; i++) n += t->cta[i] == t->cta[thread];
    return n;
}

struct hardware_litmus_size hardware_litmus_size(const struct litmus *t)
{
    struct hardware_litmus_size s = {1, 1};
    for (uint32_t i = 0; i < t->threads; i++) {
        if (t->cta[i] + 1 > s.ctas) s.ctas = t->cta[i] + 1;
        if (slot_of(t, i) + 1 > s.slots) s.slots = slot_of(t, i) + 1;
    }
    return s;
}

static void print_op(struct buf *out, const struct litmus *t, uint32_t thread,
                     const struct litmus_op *op)
{
    static const char *const names[] = {"ld", "st", "atom", "atom", "red", "fence"};
    static const char *const strengths[] = {"weak",    "volatile", "relaxed", "acquire",
                                            "release", "acq_rel",  "sc"};
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys"};
    static const char *const types[] = {".u32", ".u32", ".exch.b32", ".add.u32", ".add.u32"};
    if (op->kind == LITMUS_BARRIER) abort();
    buf_printf(out, "\t%s.%s", names[op->kind], strengths[op->strength]);
    if (op->strength > LITMUS_VOLATILE) buf_printf(out, ".%s", scopes[op->scope]);
    if (op->kind == LITMUS_FENCE) {
        buf_puts(out, ";\n");
        return;
    }
    buf_printf(out, ".%s%s ", t->shared ? "shared" : "global", types[op->kind]);
    if (op->result >= 0) buf_printf(out, "%%v%d, ", op->result);
    buf_printf(out, "[%%%c%d]", t->shared ? 's' : 'a', op->location);
    int first = -1;
    for (uint32_t k = t->count[thread]; k-- > 0;)
        if (t->ops[thread][k].result >= 0) first = t->ops[thread][k].result;
    if (op->kind != LITMUS_LOAD) {
        if (op->from >= 0) buf_printf(out, ", %%v%d", first + op->from);
        else buf_printf(out, ", %u", op->value);
    }
    buf_puts(out, ";\n");
}

void hardware_litmus_ptx(struct buf *out, unsigned number, const struct litmus *t)
{
    const uint32_t ctas = hardware_litmus_size(t).ctas;
    buf_printf(
        out,
        ".visible .entry t%u(.param .u64 mem, .param .u64 ls, .param .u64 is, .param .u64 res, .param .u32 n, .param .u32 mul,\n"
        "\t.param .u64 cnt, .param .u32 seed, .param .u32 warm)\n{\n"
        "\t.reg .pred %%q<4>;\n\t.reg .b32 %%i<16>, %%v<17>, %%s<4>;\n\t.reg .b64 %%a<4>, %%d<6>;\n",
        number);
    if (t->shared)
        buf_printf(out, "\t.shared .align 16 .b8 places[%u];\n", 4 * LANES * LITMUS_LOCATIONS);
    buf_printf(
        out,
        "\tmov.u32 %%i0, %%tid.x;\n\tmov.u32 %%i1, %%ctaid.x;\n\trem.u32 %%i2, %%i1, %u;\n\tdiv.u32 %%i3, %%i1, %u;\n"
        "\tshr.u32 %%i4, %%i0, 6;\n\tand.b32 %%i0, %%i0, 63;\n\tshl.b32 %%i2, %%i2, 8;\n\tor.b32 %%i2, %%i2, %%i4;\n\tmov.u32 %%i5, 99;\n",
        ctas, ctas);
    for (uint32_t i = 0; i < t->threads; i++)
        buf_printf(out, "\tsetp.eq.u32 %%q0, %%i2, %u;\n\t@%%q0 mov.u32 %%i5, %u;\n",
                   t->cta[i] << 8 | slot_of(t, i), i);
    buf_puts(
        out,
        "\tsetp.eq.u32 %q0, %i5, 99;\n\t@%q0 bra DONE;\n"
        "\tld.param.u32 %i6, [mul];\n\tshl.b32 %i7, %i5, 3;\n\tshr.u32 %i6, %i6, %i7;\n\tand.b32 %i6, %i6, 63;\n\tor.b32 %i6, %i6, 1;\n"
        "\tmul.lo.u32 %i6, %i6, %i0;\n\tand.b32 %i6, %i6, 63;\n" /* the instance in the group */
        "\tmad.lo.u32 %i8, %i3, 64, %i6;\n"                      /* the instance */
        "\tld.param.u64 %d0, [mem];\n\tld.param.u64 %d1, [ls];\n\tld.param.u64 %d2, [is];\n\tcvt.u64.u32 %d3, %i8;\n"
        "\tmad.lo.u64 %a0, %d2, %d3, %d0;\n\tadd.u64 %a1, %a0, %d1;\n\tadd.u64 %a2, %a1, %d1;\n\tadd.u64 %a3, %a2, %d1;\n"
        "\tld.param.u64 %d4, [res];\n\tmul.wide.u32 %d3, %i8, 4;\n\tadd.u64 %d4, %d4, %d3;\n\tld.param.u32 %i9, [n];\n");
    if (t->shared) {
        buf_puts(out, "\tmov.u32 %s0, places;\n\tmad.lo.u32 %s0, %i6, 4, %s0;\n");
        for (unsigned l = 1; l < LITMUS_LOCATIONS; l++)
            buf_printf(out, "\tadd.u32 %%s%u, %%s0, %u;\n", l, l * 4 * LANES);
        for (unsigned l = 0; l < t->locations; l++)
            buf_printf(out, "\tst.volatile.shared.u32 [%%s%u], 0;\n", l);
        buf_puts(out, "\tbar.sync 1;\n");
    }
    /* neighbours of its locations come into the caches */
    if (!t->shared) {
        buf_puts(
            out,
            "\tld.param.u32 %i10, [warm];\n\tsetp.eq.u32 %q0, %i10, 0;\n\t@%q0 bra COLD;\n\tmov.u32 %i11, 0;\n");
        for (unsigned l = 0; l < t->locations; l++)
            buf_printf(
                out,
                "\txor.b64 %%d5, %%a%u, 4;\n\tld.global.u32 %%i12, [%%d5];\n\tor.b32 %%i11, %%i11, %%i12;\n",
                l);
        buf_puts(
            out,
            "\tsetp.eq.u32 %q1, %i11, 0x12345678;\n\t@%q1 st.global.u32 [%d4], %i11;\nCOLD:\n");
    }
    /* all roles of a warp of instances wait for each other, not for ever */
    buf_printf(
        out,
        "\tand.b32 %%i10, %%i0, 31;\n\tsetp.ne.u32 %%q0, %%i10, 0;\n\t@%%q0 bra READY;\n"
        "\tld.param.u64 %%d5, [cnt];\n\tshr.u32 %%i11, %%i0, 5;\n\tmad.lo.u32 %%i11, %%i3, 2, %%i11;\n\tmul.wide.u32 %%d3, %%i11, 4;\n\tadd.u64 %%d5, %%d5, %%d3;\n"
        "\tatom.relaxed.gpu.global.add.u32 %%i12, [%%d5], 1;\n\tmov.u32 %%i13, 0;\n"
        "WAIT:\n\tld.relaxed.gpu.global.u32 %%i12, [%%d5];\n\tadd.u32 %%i13, %%i13, 1;\n\tsetp.ge.u32 %%q1, %%i12, %u;\n\t@%%q1 bra READY;\n"
        "\tsetp.lt.u32 %%q1, %%i13, 200;\n\t@%%q1 bra WAIT;\nREADY:\n\tbar.warp.sync -1;\n",
        t->threads);
    /* a random delay: of at most the upper 16 bits of the seed */
    buf_puts(
        out,
        "\tld.param.u32 %i10, [seed];\n\tshr.u32 %i14, %i10, 16;\n\tshr.u32 %i11, %i0, 5;\n\tmad.lo.u32 %i11, %i5, 2, %i11;\n\tmad.lo.u32 %i11, %i3, 8, %i11;\n"
        "\txor.b32 %i11, %i11, %i10;\n\tmul.lo.u32 %i11, %i11, 0x9e3779b1;\n\tshr.u32 %i12, %i11, 15;\n\txor.b32 %i11, %i11, %i12;\n\tmul.lo.u32 %i11, %i11, 0x85ebca77;\n"
        "\tshr.u32 %i11, %i11, 8;\n\tand.b32 %i11, %i11, %i14;\n\tsetp.eq.u32 %q0, %i11, 0;\n\t@%q0 bra GO;\n\tmov.u32 %i12, %clock;\n"
        "LATE:\n\tmov.u32 %i13, %clock;\n\tsub.u32 %i13, %i13, %i12;\n\tsetp.lt.u32 %q0, %i13, %i11;\n\t@%q0 bra LATE;\nGO:\n");
    for (uint32_t i = 0; i < t->threads; i++)
        buf_printf(out, "\tsetp.eq.u32 %%q0, %%i5, %u;\n\t@%%q0 bra ROLE%u;\n", i, i);
    buf_puts(out, "\tbra DONE;\n");
    for (uint32_t i = 0; i < t->threads; i++) {
        buf_printf(out, "ROLE%u:\n", i);
        for (uint32_t k = 0; k < t->count[i]; k++) print_op(out, t, i, &t->ops[i][k]);
        for (uint32_t k = 0; k < t->count[i]; k++)
            if (t->ops[i][k].result >= 0)
                buf_printf(
                    out,
                    "\tmul.lo.u32 %%i10, %%i9, %d;\n\tmul.wide.u32 %%d3, %%i10, 4;\n\tadd.u64 %%d3, %%d3, %%d4;\n\tst.global.u32 [%%d3], %%v%d;\n",
                    t->ops[i][k].result, t->ops[i][k].result);
        if (t->shared) {
            buf_puts(out, "\tbar.sync 2;\n");
            for (uint32_t l = 0; !i && l < t->locations; l++)
                buf_printf(
                    out,
                    "\tld.volatile.shared.u32 %%i11, [%%s%u];\n\tmul.lo.u32 %%i10, %%i9, %u;\n\tmul.wide.u32 %%d3, %%i10, 4;\n\tadd.u64 %%d3, %%d3, %%d4;\n\tst.global.u32 [%%d3], %%i11;\n",
                    l, 16 + l);
        }
        buf_puts(out, "\tbra DONE;\n");
    }
    buf_puts(out, "DONE:\n\tret;\n}\n");
}
