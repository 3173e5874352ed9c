/* The cost class of each row of the instruction table. */
#include "emu/gpu.h"
#include "emu/trace.h"
#include "model/machine.h"
#include "tests/support/emu.h"
#include "tests/support/forms.h"
#include "tests/support/support.h"
#include "tests/support/timing.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static const char *const cost_names[PTX_COST_COUNT] = {
#define COST(id, pipeline, text) #id,
#include "ptx/costs.def"
};

/* The classes that rows of a unit may have. The list is written here again, independently of the table: a row
 * whose class does not fit its unit is a slip of the pen. */
static const char *const classes_of_unit[PTX_UNIT_COUNT] = {
    [PTX_UNIT_IALU] = " ALU IADD IMAX ",
    [PTX_UNIT_IMUL] = " IMUL IMAD ",
    [PTX_UNIT_IDIV] = " IDIV ",
    [PTX_UNIT_FP16] = " HALF ALU ",
    [PTX_UNIT_FP32] = " FADD FMAX FMUL FMAD FDIV_RN FSQRT_RN FRCP_RN ALU ",
    [PTX_UNIT_FP64] = " DADD DMAX DMUL DMAD DDIV ALU ",
    [PTX_UNIT_SFU] = " SFU FDIV ",
    [PTX_UNIT_CVT] = " CONVERT ALU ",
    [PTX_UNIT_MOVE] = " ALU ",
    [PTX_UNIT_VIDEO] = " ALU ",
    [PTX_UNIT_MEM] = " MEMORY ",
    [PTX_UNIT_ATOM] = " MEMORY ",
    [PTX_UNIT_TEX] = " MEMORY ",
    [PTX_UNIT_TENSOR] = " TENSOR MEMORY SHUFFLE CONTROL ",
    [PTX_UNIT_WARP] = " SHUFFLE ",
    [PTX_UNIT_SYNC] = " CONTROL BARRIER ",
    [PTX_UNIT_CTRL] = " CONTROL ",
    [PTX_UNIT_MISC] = " ALU ",
};

Test(cost_class, every_row_has_one_that_fits_its_unit)
{
    for (int f = 0; f < PTX_FORM_COUNT; f++) {
        const struct ptx_form_info *form = &ptx_forms[f];
        cr_assert(form->cost < PTX_COST_COUNT, "%s", form->id);
        char word[32];
        snprintf(word, sizeof word, " %s ", cost_names[form->cost]);
        cr_expect(strstr(classes_of_unit[form->unit], word) != NULL, "%s is %s and costs as%s",
                  form->id, ptx_unit_name(form->unit), word);
    }
}

/* Rows of one name and one unit differ by modifiers and types only. Conversions cost by their types. */
static bool may_differ(const struct ptx_form_info *f)
{
    return f->unit == PTX_UNIT_CVT || f->unit == PTX_UNIT_TENSOR;
}

Test(cost_class, rows_of_one_name_and_unit_agree)
{
    for (int a = 0; a < PTX_FORM_COUNT; a++)
        for (int b = a + 1; b < PTX_FORM_COUNT; b++) {
            const struct ptx_form_info *f = &ptx_forms[a], *g = &ptx_forms[b];
            if (f->unit != g->unit || strcmp(f->name, g->name) != 0 || may_differ(f)) continue;
            cr_expect(f->cost == g->cost, "%s costs as %s, %s as %s", f->id, cost_names[f->cost],
                      g->id, cost_names[g->cost]);
        }
}

/* By hand. The groups are those of "Throughput of Native Arithmetic Instructions" (CUDA C++ Programming
 * Guide, Arithmetic Instructions) and of the chapters of the PTX ISA. */
static const struct {
    const char *opcode;
    enum ptx_cost cost;
} expected[] = {
    /* "32-bit bitwise AND, OR, XOR", "shift", "bit reverse, bit field extract", "compare, select" */
    {"and.b32", PTX_COST_ALU},
    {"shl.b32", PTX_COST_ALU},
    {"shf.l.wrap.b32", PTX_COST_ALU},
    {"lop3.b32", PTX_COST_ALU},
    {"prmt.b32", PTX_COST_ALU},
    {"popc.b32", PTX_COST_ALU},
    {"brev.b32", PTX_COST_ALU},
    {"bfe.u32", PTX_COST_ALU},
    {"setp.lt.s32", PTX_COST_ALU},
    {"setp.lt.f32", PTX_COST_ALU},
    {"setp.lt.f64", PTX_COST_ALU},
    {"setp.lt.f16", PTX_COST_ALU},
    {"set.lt.u32.f32", PTX_COST_ALU},
    {"selp.b32", PTX_COST_ALU},
    {"selp.f32", PTX_COST_ALU},
    {"selp.f64", PTX_COST_ALU},
    {"slct.f32.s32", PTX_COST_ALU},
    {"slct.f32.f32", PTX_COST_ALU},
    {"slct.ftz.u64.f32", PTX_COST_ALU},
    {"mov.b32", PTX_COST_ALU},
    {"cvta.global.u64", PTX_COST_ALU},
    {"abs.f32", PTX_COST_ALU}, /* a modifier of the operand in machine code */
    {"neg.f32", PTX_COST_ALU},
    {"copysign.f32", PTX_COST_ALU},
    {"testp.finite.f32", PTX_COST_ALU},
    {"abs.s32", PTX_COST_ALU},
    {"cvt.u32.u16", PTX_COST_ALU}, /* "between integers": a move */
    {"cvt.sat.u8.s32", PTX_COST_ALU},
    /* "32-bit integer add, extended-precision add, subtract, multiply, multiply-add" */
    {"add.s32", PTX_COST_IADD},
    {"add.s64", PTX_COST_IADD},
    {"sub.u32", PTX_COST_IADD},
    {"add.cc.u32", PTX_COST_IADD},
    {"subc.u32", PTX_COST_IADD},
    {"min.s32", PTX_COST_IMAX},
    {"max.u64", PTX_COST_IMAX},
    {"mul.lo.s32", PTX_COST_IMUL},
    {"mul.wide.u32", PTX_COST_IMUL},
    {"mad.lo.s32", PTX_COST_IMAD},
    {"madc.hi.u32", PTX_COST_IMAD},
    {"dp4a.s32.s32", PTX_COST_IMAD},
    {"div.s32", PTX_COST_IDIV},
    {"rem.u64", PTX_COST_IDIV},
    /* "32-bit floating-point add, multiply, multiply-add" */
    {"add.f32", PTX_COST_FADD},
    {"sub.rn.ftz.f32", PTX_COST_FADD},
    {"min.f32", PTX_COST_FMAX},
    {"mul.f32", PTX_COST_FMUL},
    {"fma.rn.f32", PTX_COST_FMAD},
    {"mad.rn.f32", PTX_COST_FMAD},
    {"div.rn.f32", PTX_COST_FDIV_RN},
    {"div.rz.ftz.f32", PTX_COST_FDIV_RN},
    {"div.full.f32", PTX_COST_FDIV},
    {"div.approx.f32", PTX_COST_FDIV},
    /* "64-bit floating-point add, multiply, multiply-add" */
    {"add.f64", PTX_COST_DADD},
    {"max.f64", PTX_COST_DMAX},
    {"mul.f64", PTX_COST_DMUL},
    {"fma.rn.f64", PTX_COST_DMAD},
    {"div.rn.f64", PTX_COST_DDIV},
    {"sqrt.rn.f64", PTX_COST_DDIV},
    {"rcp.rn.f64", PTX_COST_DDIV},
    /* "16-bit floating-point, half2", "16-bit bfloat16" */
    {"add.f16", PTX_COST_HALF},
    {"fma.rn.f16x2", PTX_COST_HALF},
    {"fma.rn.bf16x2", PTX_COST_HALF},
    {"max.f16", PTX_COST_HALF},
    /* "32-bit floating-point reciprocal, reciprocal square root, log, exp, sine, cosine" */
    {"rcp.approx.f32", PTX_COST_SFU},
    {"sqrt.approx.f32", PTX_COST_SFU},
    {"rcp.rn.f32", PTX_COST_FRCP_RN},
    {"sqrt.rn.f32", PTX_COST_FSQRT_RN},
    {"rsqrt.approx.f32", PTX_COST_SFU},
    {"ex2.approx.f32", PTX_COST_SFU},
    {"sin.approx.f32", PTX_COST_SFU},
    {"tanh.approx.f32", PTX_COST_SFU},
    /* "type conversions" */
    {"cvt.rn.f32.s32", PTX_COST_CONVERT},
    {"cvt.rzi.s32.f32", PTX_COST_CONVERT},
    {"cvt.f64.f32", PTX_COST_CONVERT},
    {"cvt.rn.f16x2.f32", PTX_COST_CONVERT},
    {"cvt.rn.satfinite.e4m3x2.f32", PTX_COST_CONVERT},
    /* "warp shuffle, warp vote, warp reduce, warp match" */
    {"shfl.sync.idx.b32", PTX_COST_SHUFFLE},
    {"vote.sync.ballot.b32", PTX_COST_SHUFFLE},
    {"redux.sync.add.s32", PTX_COST_SHUFFLE},
    {"match.any.sync.b32", PTX_COST_SHUFFLE},
    {"movmatrix.sync.aligned.m8n8.trans.b16", PTX_COST_SHUFFLE},
    /* matrices */
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", PTX_COST_TENSOR},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", PTX_COST_TENSOR},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", PTX_COST_MEMORY},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", PTX_COST_MEMORY},
    /* memory */
    {"ld.global.u32", PTX_COST_MEMORY},
    {"ld.param.u64", PTX_COST_MEMORY},
    {"st.shared.v4.f32", PTX_COST_MEMORY},
    {"cp.async.cg.shared.global", PTX_COST_MEMORY},
    {"atom.global.add.u32", PTX_COST_MEMORY},
    {"red.global.add.f32", PTX_COST_MEMORY},
    {"tex.2d.v4.f32.f32", PTX_COST_MEMORY},
    /* control and synchronisation */
    {"bra", PTX_COST_CONTROL},
    {"call.uni", PTX_COST_CONTROL},
    {"ret", PTX_COST_CONTROL},
    {"membar.gl", PTX_COST_CONTROL},
    {"fence.acq_rel.gpu", PTX_COST_CONTROL},
    {"bar.warp.sync", PTX_COST_CONTROL},
    {"bar.arrive", PTX_COST_CONTROL},
    {"mbarrier.try_wait.shared.b64", PTX_COST_CONTROL},
    {"cp.async.wait_group", PTX_COST_CONTROL},
    {"bar.sync", PTX_COST_BARRIER},
    {"barrier.cta.sync.aligned", PTX_COST_BARRIER},
    {"bar.red.popc.u32", PTX_COST_BARRIER},
    {"barrier.cluster.wait", PTX_COST_BARRIER},
};

Test(cost_class, is_what_the_manuals_group)
{
    struct arena *a = arena_new();
    struct ptx_isa *isa = ptx_isa_new(a, 88, 90, 'a');
    bool seen[PTX_COST_COUNT] = {false};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *text = expected[i].opcode;
        const struct ptx_op *op = ptx_isa_find(isa, text, (uint32_t)strlen(text));
        cr_assert(op && !op->gate, "%s", text);
        cr_expect(op->form->cost == expected[i].cost, "%s costs as %s, not as %s", text,
                  cost_names[op->form->cost], cost_names[expected[i].cost]);
        seen[op->form->cost] = true;
    }
    for (int c = 0; c < PTX_COST_COUNT; c++)
        cr_expect(seen[c], "no opcode costs as %s", cost_names[c]);
    arena_free(a);
}

/* Integers are converted to integers by moves; where a float takes part, the conversion pipeline is used. */
static void converts(void *cost, const struct ptx_op *op)
{
    bool floats = false;
    for (unsigned i = 0; i < op->type_count; i++) {
        const uint8_t t = op->type[i], kind = ptx_types[t].kind;
        const bool small_integer = t == PTX_u4 || t == PTX_s4 || t == PTX_u2 || t == PTX_s2;
        floats |= kind == PTX_FLOAT || (kind == PTX_PACK && !small_integer);
    }
    const enum ptx_cost is = *(const uint8_t *)cost,
                        should = floats ? PTX_COST_CONVERT : PTX_COST_ALU;
    cr_expect(is == should, "%.*s costs as %s", (int)op->text_length, op->text, cost_names[is]);
}

Test(cost_class, conversions_cost_by_their_types)
{
    for (int f = 0; f < PTX_FORM_COUNT; f++) {
        uint8_t cost = ptx_forms[f].cost;
        if (ptx_forms[f].unit == PTX_UNIT_CVT)
            form_spellings((enum ptx_form)f, "100a", converts, &cost);
    }
}

/* Cycles of a kernel of one warp with this instruction n times in a chain. */
static double cycles_of_chain(const struct emu_gpu *gpu, const char *instruction, int n)
{
    struct timing_machine m;
    machine_of(gpu, &m);
    char body[1 << 14];
    size_t at = (size_t)snprintf(body, sizeof body,
                                 ".reg .f32 %%f<3>; .reg .u64 %%a; .reg .pred %%p;"
                                 "ld.param.u64 %%a, [p]; mov.f32 %%f0, 0f3F800000;"
                                 "mov.f32 %%f1, 0f40000000; setp.lt.f32 %%p, %%f0, %%f1;\n");
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(body + at, sizeof body - at, "%s\n", instruction);
    snprintf(body + at, sizeof body - at, "st.global.f32 [%%a], %%f0; ret;\n");
    struct device d = device_new(emu_ptx(".param .u64 p", body),
                                 (struct emu_config){.sms = m.sms, .threads = 1});
    struct timing_result t;
    timing_run(trace_of(&d, 1, 32), &m, 1, 16384, &t);
    device_free(&d);
    return t.cycles;
}

static double cycles_of_100(const struct emu_gpu *gpu, const char *instruction)
{
    return cycles_of_chain(gpu, instruction, 200) - cycles_of_chain(gpu, instruction, 100);
}

/* GPGPU-Sim's configurations, to which these are fitted, have one latency and one interval for all that the unit of special
 * functions does. */
Test(cost_class, a_simulator_has_one_time_for_special_functions)
{
    static const char *const gpus[] = {"gtx480", "gtx480_thesis", "titanv", "gv100", "v100"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const struct emu_gpu *g = emu_gpu_find(gpus[i]);
        struct timing_machine m;
        cr_assert(g && machine_of(g, &m), "%s", gpus[i]);
        static const enum ptx_cost same[][2] = {{PTX_COST_FSQRT_RN, PTX_COST_SFU},
                                                {PTX_COST_FRCP_RN, PTX_COST_SFU},
                                                {PTX_COST_FDIV_RN, PTX_COST_FDIV}};
        for (int k = 0; k < 3; k++) {
            cr_expect_eq(m.latency[same[k][0]], m.latency[same[k][1]], "%s", gpus[i]);
            cr_expect_eq(m.interval[same[k][0]], m.interval[same[k][1]], "%s", gpus[i]);
        }
    }
}

Test(cost_class, a_selection_by_sign_takes_as_long_as_one_by_predicate)
{
    static const char *const gpus[] = {"titanv", "gtx1080", "a100", "h100"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const struct emu_gpu *g = emu_gpu_find(gpus[i]);
        cr_assert(g != NULL, "%s", gpus[i]);
        const double by_predicate = cycles_of_100(g, "selp.f32 %f0, %f0, %f1, %p;"),
                     by_float = cycles_of_100(g, "slct.f32.f32 %f0, %f0, %f1, %f0;");
        cr_expect(by_float > by_predicate - 1e-6 && by_float < by_predicate + 1e-6,
                  "%s: %g cycles, not %g", g->name, by_float, by_predicate);
    }
}
