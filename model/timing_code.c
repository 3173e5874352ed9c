/* What instructions cost: their class and unit, their registers, and the work of matrix instructions.
 *
 * The class is in the instruction's row of the table of PTX (ptx/costs.def). A machine has a latency and an interval
 * for each class. These are computed once for the instructions of a trace, before the run. */
#include "model/timing_internal.h"

#include "emu/trace.h"
#include "ptx/isa.h"

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

enum { REGS = 4096 /* registers of a warp that have times of their own */ };

static const u8 unit_of_class[PTX_COST_COUNT] = {
#define COST(id, pipeline, text) TIMING_UNIT_##pipeline,
#include "ptx/costs.def"
};

/* A trace's entry without an instruction costs as a move does. */
static u8 cost_class(const struct ptx_op *op)
{
    return op ? op->form->cost : PTX_COST_ALU;
}

/* Multiply-adds of a matrix instruction, times what takes as long of f16: with half of A left out, half of them; of
 * small integers, more at once. */
static double matrix_work(const struct ptx_op *op, const struct timing_machine *m)
{
    unsigned rows, columns, depth;
    if (!ptx_op_matrix(op, &rows, &columns, &depth)) return 0;
    const u8 result = op->type[0], a = op->type_count > 2 ? op->type[1] : PTX_f16,
             bits = (u8)ptx_types[a].bits;
    const bool f16 = result == PTX_f16;
    const bool quads = rows == 8 && depth == 4 && a == PTX_f16; /* four of them */
    const enum timing_matrix kind = a == PTX_f64        ? TIMING_MATRIX_FP64
                                    : a == PTX_tf32     ? TIMING_MATRIX_TF32
                                    : result == PTX_s32 ? TIMING_MATRIX_INT8
                                    : bits == 8         ? TIMING_MATRIX_FP8
                                    : f16               ? TIMING_MATRIX_F16
                                                        : TIMING_MATRIX_F32;
    double work = (double)rows * columns * depth * (quads ? 4 : 1);
    if (ptx_op_has(op, "sp") || ptx_op_has(op, "sp::ordered_metadata")) work /= 2;
    if (kind == TIMING_MATRIX_INT8) work /= bits == 1 ? 8 : bits == 4 ? 2 : 1;
    if (kind == TIMING_MATRIX_FP8 && f16) work *= m->matrix[TIMING_MATRIX_F16];
    return m->matrix[kind] > 0 ? work * m->matrix[kind] : work;
}

static void prepare_matrices(struct timing *c)
{
    const struct emu_trace *t = c->t;
    for (u32 i = 0; i < t->inst_count; i++) {
        if (c->code.insts[i].class != PTX_COST_TENSOR) continue;
        if (!c->code.matrices)
            c->code.matrices = timing_take(&c->storage, t->inst_count, sizeof *c->code.matrices);
        c->code.matrices[i] = matrix_work(t->insts[i].op, c->m) / 2048;
    }
}

static void prepare_registers(struct timing *c)
{
    const struct emu_trace *t = c->t;
    u32 count = 0;
    const u32 never = t->reg_count < REGS ? t->reg_count : REGS; /* none that is written */
    c->code.regs = never + 1;
    c->code.reg_of = t->regs;
    if (t->reg_count > REGS) {
        for (u32 i = 0; i < t->inst_count; i++) {
            const struct trace_inst *x = &t->insts[i];
            if (x->reg + x->reads + x->writes > count) count = x->reg + x->reads + x->writes;
        }
        c->code.reg_of = c->code.folded = timing_take(&c->storage, count, sizeof(u32));
        for (u32 i = 0; i < count; i++) c->code.folded[i] = t->regs[i] % REGS;
    }
    for (u32 i = 0; i < t->inst_count; i++) {
        struct timing_inst *x = &c->code.insts[i];
        for (u32 k = 0; k < 4; k++)
            x->four[k] = (uint16_t)(k < x->all ? c->code.reg_of[x->reg + k] : never);
    }
}

static bool is_sequence(u8 class)
{
    return class == PTX_COST_FDIV_RN || class == PTX_COST_FSQRT_RN || class == PTX_COST_FRCP_RN;
}

/* A fence that other SMs can observe. (PTX ISA, "membar" and "fence": those of the scope of a CTA order what the SM does
 * itself.) */
static bool is_fence(const struct ptx_op *op)
{
    const enum ptx_form form = op ? ptx_op_form(op) : PTX_FORM_COUNT;
    return (form == PTX_F_membar || form == PTX_F_fence) && !ptx_op_has(op, "cta");
}

/* PTX ISA, "Memory Consistency Model": a release is a fence and then a strong access; so is it in machine code. */
static bool is_release(const struct ptx_op *op)
{
    return op && (ptx_op_has(op, "release") || ptx_op_has(op, "acq_rel")) &&
           !ptx_op_has(op, "cta") && op->form->cost == PTX_COST_MEMORY;
}

static bool is_on_floats(const struct ptx_op *op)
{
    static const char *const types[] = {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"};
    if (!op || !(op->form->effects & PTX_ATOMIC)) return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ptx_op_has(op, types[i])) return true;
    return false;
}

/* Of an atomic whose result nobody reads ptxas makes a reduction, which writes no register; but not of an exchange or a
 * compare-and-swap. */
static bool is_reduction(const struct trace_inst *i)
{
    return i->op && i->op->form->effects & PTX_ATOMIC && (i->dead_result || !i->writes) &&
           !ptx_op_has(i->op, "exch") && !ptx_op_has(i->op, "cas");
}

static void prepare_instructions(struct timing *c)
{
    c->code.insts = timing_take(&c->storage, c->t->inst_count, sizeof *c->code.insts);
    for (u32 k = 0; k < c->t->inst_count; k++) {
        const struct trace_inst *i = &c->t->insts[k];
        const u8 class = cost_class(i->op);
        const bool reduces = c->m->scheduled && is_reduction(i);
        c->code.insts[k] = (struct timing_inst){i->reg,
                                                {0},
                                                (uint16_t)i->reads,
                                                (uint16_t)(i->reads + (reduces ? 0 : i->writes)),
                                                class,
                                                unit_of_class[class],
                                                is_fence(i->op),
                                                c->m->fence_latency > 0 && is_release(i->op),
                                                i->op && ptx_op_has(i->op, "sys"),
                                                c->m->sequences && is_sequence(class),
                                                is_on_floats(i->op),
                                                c->m->scheduled && !c->hooks && i->combined,
                                                reduces,
                                                i->op && ptx_op_has(i->op, "cas"),
                                                false,
                                                false};
    }
}

void timing_prepare_code(struct timing *c)
{
    prepare_instructions(c);
    prepare_matrices(c);
    prepare_registers(c);
}
