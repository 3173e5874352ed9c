/* Rules of half precision: f16, bf16 and pairs of them. */
#include "emu/lower/float.h"

/* The rows of an operation for .f16 .f16x2 .bf16 .bf16x2. */
#define ROWS(name) UOP_##name##_f16, UOP_##name##_f16x2, UOP_##name##_bf16, UOP_##name##_bf16x2

static unsigned column(unsigned type)
{
    return type == PTX_f16 ? 0 : type == PTX_f16x2 ? 1 : type == PTX_bf16 ? 2 : 3;
}

/* d = id(sources 1 .. n). */
static struct emu_uop *emit_n(struct lower *L, const struct ptx_inst *i, unsigned n, unsigned id)
{
    unsigned type = i->op->type[0];
    u32 s[3] = {0};
    for (unsigned k = 0; k < n; k++) s[k] = lower_source(L, &i->opnds[1 + k], type);
    struct lower_dest d = lower_dest(L, &i->opnds[0], type);
    return lower_emit(L, id, d.row, s[0], s[1], s[2]); /* never wider: nothing to finish */
}

enum { ADD, SUB, MUL, FMA };
static bool lower_rounded(struct lower *L, const struct ptx_inst *i)
{
    static const u16 ids[][4] = {{ROWS(add)}, {ROWS(sub)}, {ROWS(mul)}, {ROWS(fma)}};
    static const u16 any[][4] = {
        {UOP_add_any_f16, UOP_add_any_f16x2}, /* add, sub and mul of bf16 have no modifiers */
        {UOP_sub_any_f16, UOP_sub_any_f16x2},
        {UOP_mul_any_f16, UOP_mul_any_f16x2},
        {ROWS(fma_any)},
    };
    u32 op = lower_data(L);
    u8 mods = (u8)(lower_clamps(i->op) | (ptx_op_has(i->op, "ftz") ? FP_MOD_FTZ : 0));
    /* The ISA (9.7.4.4) knows .rn alone. ptxas takes all four of bf16, and makes something else of them. */
    if (lower_rounding(i->op) != FP_RN)
        return lower_refuse(L, "'%.*s' is not executed: half precision rounds to nearest",
                            (int)i->op->text_length, i->op->text);
    unsigned k = column(i->op->type[0]);
    emit_n(L, i, op == FMA ? 3 : 2, mods ? any[op][k] : ids[op][k])->y = mods;
    return true;
}

/* abs and neg: .ftz on the result is as good as on the operand. */
enum { ABS, NEG, TANH, EX2 };
static bool lower_unary(struct lower *L, const struct ptx_inst *i)
{
    static const u16 ids[][4] = {{ROWS(abs)}, {ROWS(neg)}, {ROWS(tanh)}, {ROWS(ex2)}};
    unsigned type = i->op->type[0];
    u32 op = lower_data(L), d = emit_n(L, i, 1, ids[op][column(type)])->d;
    if (op <= NEG && ptx_op_has(i->op, "ftz"))
        lower_emit(L, type == PTX_f16 ? UOP_ftz_f16 : UOP_ftz_f16x2, d, d, 0, 0);
    return true;
}

/* min and max give one of their operands: .ftz on those will do. */
enum { MIN, MAX };
static bool lower_extreme(struct lower *L, const struct ptx_inst *i)
{
    static const u16 ids[2][2][2][4] = {
        {{{ROWS(min)}, {ROWS(min_xorsign)}}, {{ROWS(min_nan)}, {ROWS(min_nan_xorsign)}}},
        {{{ROWS(max)}, {ROWS(max_xorsign)}}, {{ROWS(max_nan)}, {ROWS(max_nan_xorsign)}}},
    };
    unsigned type = i->op->type[0];
    u32 s[2];
    for (unsigned k = 0; k < 2; k++) {
        s[k] = lower_source(L, &i->opnds[1 + k], type);
        if (!ptx_op_has(i->op, "ftz")) continue;
        u32 flushed = lower_temp(L, lower_type_bytes(type));
        lower_emit(L, type == PTX_f16 ? UOP_ftz_f16 : UOP_ftz_f16x2, flushed, s[k], 0, 0);
        s[k] = flushed;
    }
    unsigned id =
        ids[lower_data(L)][ptx_op_has(i->op, "NaN")][ptx_op_has(i->op, "xorsign")][column(type)];
    struct lower_dest d = lower_dest(L, &i->opnds[0], type);
    lower_emit(L, id, d.row, s[0], s[1], 0);
    return true;
}

const struct lower_rule lower_half_rules[] = {
    {PTX_F_add_f16, lower_rounded, ADD},      {PTX_F_sub_f16, lower_rounded, SUB},
    {PTX_F_mul_f16, lower_rounded, MUL},      {PTX_F_add_bf16, lower_rounded, ADD},
    {PTX_F_sub_bf16, lower_rounded, SUB},     {PTX_F_mul_bf16, lower_rounded, MUL},
    {PTX_F_fma_f16, lower_rounded, FMA},      {PTX_F_fma_oob_f16, lower_rounded, FMA},
    {PTX_F_fma_bf16, lower_rounded, FMA},     {PTX_F_abs_f16, lower_unary, ABS},
    {PTX_F_abs_bf16, lower_unary, ABS},       {PTX_F_neg_f16, lower_unary, NEG},
    {PTX_F_neg_bf16, lower_unary, NEG},       {PTX_F_min_f16, lower_extreme, MIN},
    {PTX_F_max_f16, lower_extreme, MAX},      {PTX_F_min_f16_xor, lower_extreme, MIN},
    {PTX_F_max_f16_xor, lower_extreme, MAX},  {PTX_F_min_bf16, lower_extreme, MIN},
    {PTX_F_max_bf16, lower_extreme, MAX},     {PTX_F_min_bf16_xor, lower_extreme, MIN},
    {PTX_F_max_bf16_xor, lower_extreme, MAX}, {PTX_F_tanh_f16, lower_unary, TANH},
    {PTX_F_tanh_bf16, lower_unary, TANH},     {PTX_F_ex2_f16, lower_unary, EX2},
    {PTX_F_ex2_bf16, lower_unary, EX2},       {0, NULL, 0},
};
