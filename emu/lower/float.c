/* Rules of single and double precision, and of comparisons of floats. */
#include "emu/lower/float.h"

/* ---- arithmetic --------------------------------------------------------------------------------- */

/* d = id(sources 1 .. n), all of one type. */
static struct emu_uop *emit_n(struct lower *L, const struct ptx_inst *i, unsigned n, unsigned type,
                              unsigned id)
{
    u32 s[3] = {0};
    for (unsigned k = 0; k < n; k++) s[k] = lower_source(L, &i->opnds[1 + k], type);
    struct lower_dest d = lower_dest(L, &i->opnds[0], type);
    return lower_emit(L, id, d.row, s[0], s[1], s[2]); /* never wider: nothing to finish */
}

enum { ADD, SUB, MUL, DIV, RCP, SQRT, FMA };
static const struct {
    u16 f32, ftz_f32, any_f32, f64, any_f64, f32x2, any_f32x2;
    u8 sources;
} rounded[] = {
#define ROW(op)                                                                                    \
    UOP_##op##_f32, UOP_##op##_ftz_f32, UOP_##op##_any_f32, UOP_##op##_f64, UOP_##op##_any_f64
    [ADD] = {ROW(add), UOP_add_f32x2, UOP_add_any_f32x2, 2},
    [SUB] = {ROW(sub), UOP_sub_f32x2, UOP_sub_any_f32x2, 2},
    [MUL] = {ROW(mul), UOP_mul_f32x2, UOP_mul_any_f32x2, 2},
    [FMA] = {ROW(fma), UOP_fma_f32x2, UOP_fma_any_f32x2, 3},
    [DIV] = {ROW(div), 0, 0, 2},
    [RCP] = {ROW(rcp), 0, 0, 1},
    [SQRT] = {ROW(sqrt), 0, 0, 1},
#undef ROW
};

static bool lower_f32(struct lower *L, const struct ptx_inst *i)
{
    u32 op = lower_data(L);
    u8 rnd = lower_rounding(i->op), mods = lower_clamps(i->op);
    bool ftz = lower_flushes(L, i->op);
    unsigned id = rnd != FP_RN || mods ? rounded[op].any_f32
                  : ftz                ? rounded[op].ftz_f32
                                       : rounded[op].f32;
    struct emu_uop *u = emit_n(L, i, rounded[op].sources, PTX_f32, id);
    u->x = rnd;
    u->y = (u8)(mods | (ftz ? FP_MOD_FTZ : 0));
    return true;
}

/* rcp.rnd.ftz.f64 is accepted and means rcp.rnd.f64. */
static bool lower_f64(struct lower *L, const struct ptx_inst *i)
{
    u32 op = lower_data(L);
    u8 rnd = lower_rounding(i->op);
    if (!lower_has_f64(L, i->op)) return false;
    unsigned id = rnd != FP_RN ? rounded[op].any_f64 : rounded[op].f64;
    emit_n(L, i, rounded[op].sources, PTX_f64, id)->x = rnd;
    return true;
}

static bool lower_f32x2(struct lower *L, const struct ptx_inst *i)
{
    u32 op = lower_data(L);
    u8 rnd = lower_rounding(i->op);
    bool ftz = ptx_op_has(i->op, "ftz");
    unsigned id = rnd != FP_RN || ftz ? rounded[op].any_f32x2 : rounded[op].f32x2;
    struct emu_uop *u = emit_n(L, i, rounded[op].sources, PTX_b64, id);
    u->x = rnd;
    u->y = ftz ? FP_MOD_FTZ : 0;
    return true;
}

static bool lower_mad_1x(struct lower *L, const struct ptx_inst *i)
{
    emit_n(L, i, 3, PTX_f32, UOP_mad_1x_f32)->y = lower_clamps(i->op);
    return true;
}

/* f32 with one or two half operands: those are made f32 first. */
static bool lower_mixed(struct lower *L, const struct ptx_inst *i)
{
    u32 op = lower_data(L), s[3] = {0};
    bool bf16 = i->op->type[1] == PTX_bf16;
    u8 rnd = lower_rounding(i->op), mods = lower_clamps(i->op);
    unsigned n = rounded[op].sources;
    for (unsigned k = 0; k + 1 < n; k++) {
        u32 half = lower_source(L, &i->opnds[1 + k], i->op->type[1]);
        s[k] = lower_temp(L, 4);
        lower_emit(L, bf16 ? UOP_f32_bf16 : UOP_f32_f16, s[k], half, 0, 0);
    }
    s[n - 1] = lower_source(L, &i->opnds[n], PTX_f32);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_f32);
    unsigned id = rnd != FP_RN || mods ? rounded[op].any_f32 : rounded[op].f32;
    struct emu_uop *u = lower_emit(L, id, d.row, s[0], s[1], s[2]);
    u->x = rnd;
    u->y = mods;
    return true;
}

/* ---- what is not rounded, and approximations ------------------------------------------------------ */

enum {
    ABS,
    NEG,
    RCP_APPROX,
    SQRT_APPROX,
    RSQRT_APPROX,
    EX2,
    LG2,
    TANH,
    SIN,
    COS, /* of one */
    COPYSIGN,
    DIV_APPROX,
    DIV_FULL, /* of two */
    OLD = 64, /* the form of PTX ISA 1.3 and before: .approx.ftz */
};
static const struct {
    u16 f32, ftz_f32, f64, ftz_f64;
} plain[] = {
    [ABS] = {UOP_abs_f32, UOP_abs_ftz_f32, UOP_abs_f64, 0},
    [NEG] = {UOP_neg_f32, UOP_neg_ftz_f32, UOP_neg_f64, 0},
    [RCP_APPROX] = {UOP_rcp_approx_f32, UOP_rcp_approx_ftz_f32, 0, UOP_rcp_approx_ftz_f64},
    [SQRT_APPROX] = {UOP_sqrt_approx_f32, UOP_sqrt_approx_ftz_f32, 0, 0},
    [RSQRT_APPROX] = {UOP_rsqrt_approx_f32, UOP_rsqrt_approx_ftz_f32, UOP_rsqrt_approx_f64,
                      UOP_rsqrt_approx_ftz_f64},
    [EX2] = {UOP_ex2_approx_f32, UOP_ex2_approx_ftz_f32, 0, 0},
    [LG2] = {UOP_lg2_approx_f32, UOP_lg2_approx_ftz_f32, 0, 0},
    [TANH] = {UOP_tanh_approx_f32, 0, 0, 0},
    [SIN] = {UOP_sin_approx_f32, UOP_sin_approx_f32, 0, 0},
    [COS] = {UOP_cos_approx_f32, UOP_cos_approx_f32, 0, 0},
    [COPYSIGN] = {UOP_copysign_f32, 0, UOP_copysign_f64, 0},
    [DIV_APPROX] = {UOP_div_approx_f32, UOP_div_approx_ftz_f32, 0, 0},
    [DIV_FULL] = {UOP_div_full_f32, UOP_div_full_ftz_f32, 0, 0},
};

static bool lower_plain(struct lower *L, const struct ptx_inst *i)
{
    u32 op = lower_data(L) & ~(u32)OLD;
    unsigned type = i->op->type[0], n = op >= COPYSIGN ? 2 : 1, id;
    if (type == PTX_f64 && !lower_has_f64(L, i->op)) return false;
    bool ftz = type == PTX_f64 ? ptx_op_has(i->op, "ftz")
                               : lower_data(L) & OLD || lower_flushes(L, i->op);
    if (op == DIV_APPROX && ptx_op_has(i->op, "full")) op = DIV_FULL;
    if (type == PTX_f64) id = ftz ? plain[op].ftz_f64 : plain[op].f64;
    else id = ftz ? plain[op].ftz_f32 : plain[op].f32;
    emit_n(L, i, n, type, id)->x = ftz;
    return true;
}

/* div and sqrt of PTX ISA 1.3 and before. */
static bool lower_old(struct lower *L, const struct ptx_inst *i)
{
    u32 op = lower_data(L);
    if (i->op->type[0] == PTX_f64) {
        if (!lower_has_f64(L, i->op)) return false;
        emit_n(L, i, rounded[op].sources, PTX_f64, rounded[op].f64);
    } else {
        emit_n(L, i, rounded[op].sources, PTX_f32,
               op == DIV ? UOP_div_approx_ftz_f32 : UOP_sqrt_approx_ftz_f32);
    }
    return true;
}

/* min and max. The data says which; .NaN and .xorsign.abs choose among the rows. */
enum { MIN, MAX };
static unsigned extreme(const struct ptx_op *op, u32 which, bool xorsign, bool ftz)
{
#define FOUR(name)                                                                                 \
    {                                                                                              \
        {UOP_##name##_f32, UOP_##name##_ftz_f32},                                                  \
        {                                                                                          \
            UOP_##name##_xorsign_f32, UOP_##name##_xorsign_ftz_f32                                 \
        }                                                                                          \
    }
    static const u16 ids[2][2][2][2] = {{FOUR(min), FOUR(min_nan)}, {FOUR(max), FOUR(max_nan)}};
#undef FOUR
    return ids[which][ptx_op_has(op, "NaN")][xorsign][ftz];
}

static bool lower_extreme(struct lower *L, const struct ptx_inst *i)
{
    if (i->op->type[0] == PTX_f64) {
        if (!lower_has_f64(L, i->op)) return false;
        emit_n(L, i, 2, PTX_f64, lower_data(L) == MIN ? UOP_min_f64 : UOP_max_f64);
        return true;
    }
    emit_n(L, i, 2, PTX_f32,
           extreme(i->op, lower_data(L), ptx_op_has(i->op, "xorsign"), lower_flushes(L, i->op)));
    return true;
}

/* Of three: of the first two, then of that and the third. */
static bool lower_extreme3(struct lower *L, const struct ptx_inst *i)
{
    unsigned id = extreme(i->op, lower_data(L), false, ptx_op_has(i->op, "ftz"));
    u32 s[3];
    for (unsigned k = 0; k < 3; k++) {
        s[k] = lower_source(L, &i->opnds[1 + k], PTX_f32);
        if (!ptx_op_has(i->op, "abs")) continue;
        u32 magnitude = lower_temp(L, 4);
        lower_emit(L, UOP_abs_f32, magnitude, s[k], 0, 0);
        s[k] = magnitude;
    }
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_f32);
    u32 two = lower_temp(L, 4);
    lower_emit(L, id, two, s[0], s[1], 0);
    lower_emit(L, id, d.row, two, s[2], 0);
    return true;
}

static bool lower_testp(struct lower *L, const struct ptx_inst *i)
{
    static const struct {
        const char *word;
        u16 f32, f64;
    } tests[] = {
#define TEST(name) {#name, UOP_testp_##name##_f32, UOP_testp_##name##_f64}
        TEST(finite), TEST(infinite), TEST(number), TEST(notanumber),
        TEST(normal), TEST(subnormal)
#undef TEST
    };
    bool wide = i->op->type[0] == PTX_f64;
    u32 a = lower_source(L, &i->opnds[1], i->op->type[0]);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_pred);
    for (size_t k = 0; k < sizeof tests / sizeof *tests; k++)
        if (ptx_op_has(i->op, tests[k].word))
            lower_emit(L, wide ? tests[k].f64 : tests[k].f32, d.row, a, 0, 0);
    return true;
}

/* ---- comparison ----------------------------------------------------------------------------------- */

enum compared { COMPARED_F32, COMPARED_FTZ_F32, COMPARED_F64, COMPARED_F16, COMPARED_BF16 };

/* Emits the comparison into the row d. */
static void compare(struct lower *L, const struct ptx_op *op, enum compared type, u32 d, u32 a,
                    u32 b)
{
    static const struct {
        const char *word;
        bool swap;
        u16 id[5];
    } rows[] = {
#define ROW(word, swap, name)                                                                      \
    {                                                                                              \
        word, swap,                                                                                \
        {                                                                                          \
            UOP_##name##_f32, UOP_##name##_ftz_f32, UOP_##name##_f64, UOP_##name##_f16,            \
                UOP_##name##_bf16                                                                  \
        }                                                                                          \
    }
        ROW("eq", false, eq),   ROW("ne", false, ne),   ROW("lt", false, lt),
        ROW("le", false, le),   ROW("gt", true, lt),    ROW("ge", true, le),
        ROW("equ", false, equ), ROW("neu", false, neu), ROW("ltu", false, ltu),
        ROW("leu", false, leu), ROW("gtu", true, ltu),  ROW("geu", true, leu),
        ROW("num", false, num), ROW("nan", false, nan),
#undef ROW
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (ptx_op_has(op, rows[k].word)) {
            bool swap = rows[k].swap;
            lower_emit(L, rows[k].id[type], d, swap ? b : a, swap ? a : b, 0);
            return;
        }
}

/* The boolean operation an opcode names: its row for the result, and for the result turned round; 0:
 * none. */
static unsigned combination(const struct ptx_op *op, bool inverted)
{
    if (ptx_op_has(op, "and")) return inverted ? UOP_cmp_not_and : UOP_cmp_and;
    if (ptx_op_has(op, "or")) return inverted ? UOP_cmp_not_or : UOP_cmp_or;
    if (ptx_op_has(op, "xor")) return inverted ? UOP_cmp_not_xor : UOP_cmp_xor;
    return 0;
}

/* What set and setp of scalars begin with: the comparison, in row d if nothing follows. `combine`: with
 * the predicate operand. */
static bool compared(struct lower *L, const struct ptx_inst *i, unsigned type, u32 a, u32 b, u32 d)
{
    enum compared c = type == PTX_f64    ? COMPARED_F64
                      : type == PTX_f16  ? COMPARED_F16
                      : type == PTX_bf16 ? COMPARED_BF16
                                         : COMPARED_F32;
    if (c == COMPARED_F64 && !lower_has_f64(L, i->op)) return false;
    if (c == COMPARED_F32 && lower_flushes(L, i->op)) c = COMPARED_FTZ_F32;
    if (c == COMPARED_F16 && ptx_op_has(i->op, "ftz")) {
        u32 x = lower_temp(L, 2), y = lower_temp(L, 2);
        lower_emit(L, UOP_ftz_f16, x, a, 0, 0);
        lower_emit(L, UOP_ftz_f16, y, b, 0, 0);
        a = x, b = y;
    }
    compare(L, i->op, c, d, a, b);
    return true;
}

static bool lower_setp(struct lower *L, const struct ptx_inst *i)
{
    unsigned type = i->op->type[0], with = combination(i->op, false);
    const struct ptx_opnd *o = &i->opnds[0];
    bool pair = o->kind == PTX_OPND_PAIR;
    u32 a = lower_source(L, &i->opnds[1], type), b = lower_source(L, &i->opnds[2], type);
    struct lower_dest p = lower_dest(L, pair ? &o->elem[0] : o, PTX_pred);
    if (!with && !pair) return compared(L, i, type, a, b, p.row);
    u32 t = lower_temp(L, 4);
    if (!compared(L, i, type, a, b, t)) return false;
    u32 c = with ? lower_predicate(L, &i->opnds[3]) : 0;
    u32 first = pair ? lower_temp(L, 4) : p.row; /* p may be c */
    if (with) lower_emit(L, with, first, t, c, 0);
    if (!pair) return true;
    struct lower_dest q = lower_dest(L, &o->elem[1], PTX_pred);
    if (with) lower_emit(L, combination(i->op, true), q.row, t, c, 0);
    else lower_emit(L, UOP_not_pred, q.row, t, 0, 0);
    lower_emit(L, UOP_cvt_copy_u32, p.row, with ? first : t, 0, 0);
    return true;
}

/* A comparison's value as bits of the type: 1.0 of a float, ones of an integer. */
static u64 true_bits(unsigned type)
{
    switch (type) {
    case PTX_f32: return 0x3f800000;
    case PTX_f16: return 0x3c00;
    case PTX_f16x2: return 0x3c003c00;
    case PTX_bf16: return 0x3f80;
    case PTX_bf16x2: return 0x3f803f80;
    default: return UINT32_MAX;
    }
}

static bool lower_set(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], type = i->op->type[1], with = combination(i->op, false);
    u32 a = lower_source(L, &i->opnds[1], type), b = lower_source(L, &i->opnds[2], type);
    u32 c = with ? lower_predicate(L, &i->opnds[3]) : 0, t = lower_temp(L, 4);
    if (!compared(L, i, type, a, b, t)) return false;
    if (with) lower_emit(L, with, t, t, c, 0);
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    unsigned id = lower_type_bytes(to) == 2 ? UOP_cmp_bits_u16 : UOP_cmp_bits_u32;
    lower_emit(L, id, d.row, t, 0, 0)->imm = (i64)true_bits(to);
    return true;
}

/* Both halves of f16x2 or bf16x2: t[0] of the lower, t[1] of the upper, combined with the predicate. */
static bool compare_halves(struct lower *L, const struct ptx_inst *i, unsigned type, u32 t[2])
{
    unsigned half = type == PTX_f16x2 ? PTX_f16 : PTX_bf16, with = combination(i->op, false);
    u32 a = lower_source(L, &i->opnds[1], type), b = lower_source(L, &i->opnds[2], type);
    u32 c = with ? lower_predicate(L, &i->opnds[3]) : 0;
    for (int k = 0; k < 2; k++) {
        u32 x = lower_temp(L, 2), y = lower_temp(L, 2);
        lower_emit(L, k ? UOP_half_high : UOP_half_low, x, a, 0, 0);
        lower_emit(L, k ? UOP_half_high : UOP_half_low, y, b, 0, 0);
        t[k] = lower_temp(L, 4);
        compared(L, i, half, x, y, t[k]);
        if (with) lower_emit(L, with, t[k], t[k], c, 0);
    }
    return true;
}

static bool lower_setp_halves(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_opnd *o = &i->opnds[0];
    u32 t[2];
    compare_halves(L, i, i->op->type[0], t);
    for (u32 k = 0; k < (o->kind == PTX_OPND_PAIR ? 2u : 1u); k++) {
        struct lower_dest d = lower_dest(L, o->kind == PTX_OPND_PAIR ? &o->elem[k] : o, PTX_pred);
        lower_emit(L, UOP_cvt_copy_u32, d.row, t[k], 0, 0);
    }
    return true;
}

static bool lower_set_halves(struct lower *L, const struct ptx_inst *i)
{
    u32 t[2];
    compare_halves(L, i, i->op->type[1], t);
    struct lower_dest d = lower_dest(L, &i->opnds[0], i->op->type[0]);
    lower_emit(L, UOP_cmp_bits_pair, d.row, t[0], t[1], 0)->imm = (i64)true_bits(i->op->type[0]);
    return true;
}

const struct lower_rule lower_float_rules[] = {
    {PTX_F_testp, lower_testp, 0},
    {PTX_F_copysign, lower_plain, COPYSIGN},
    {PTX_F_add_f32, lower_f32, ADD},
    {PTX_F_sub_f32, lower_f32, SUB},
    {PTX_F_mul_f32, lower_f32, MUL},
    {PTX_F_fma_f32, lower_f32, FMA},
    {PTX_F_mad_f32, lower_f32, FMA},
    {PTX_F_mad_f32_1x, lower_mad_1x, 0},
    {PTX_F_mad_f32_old, lower_f32, FMA},
    {PTX_F_add_f64, lower_f64, ADD},
    {PTX_F_sub_f64, lower_f64, SUB},
    {PTX_F_mul_f64, lower_f64, MUL},
    {PTX_F_fma_f64, lower_f64, FMA},
    {PTX_F_mad_f64, lower_f64, FMA},
    {PTX_F_mad_f64_old, lower_f64, FMA},
    {PTX_F_add_f32x2, lower_f32x2, ADD},
    {PTX_F_sub_f32x2, lower_f32x2, SUB},
    {PTX_F_mul_f32x2, lower_f32x2, MUL},
    {PTX_F_fma_f32x2, lower_f32x2, FMA},
    {PTX_F_abs_f32, lower_plain, ABS},
    {PTX_F_neg_f32, lower_plain, NEG},
    {PTX_F_min_f32, lower_extreme, MIN},
    {PTX_F_max_f32, lower_extreme, MAX},
    {PTX_F_min_f32_xor, lower_extreme, MIN},
    {PTX_F_max_f32_xor, lower_extreme, MAX},
    {PTX_F_min3_f32, lower_extreme3, MIN},
    {PTX_F_max3_f32, lower_extreme3, MAX},
    {PTX_F_abs_f64, lower_plain, ABS},
    {PTX_F_neg_f64, lower_plain, NEG},
    {PTX_F_min_f64, lower_extreme, MIN},
    {PTX_F_max_f64, lower_extreme, MAX},
    {PTX_F_div_approx, lower_plain, DIV_APPROX},
    {PTX_F_div_f32, lower_f32, DIV},
    {PTX_F_div_f64, lower_f64, DIV},
    {PTX_F_div_old, lower_old, DIV},
    {PTX_F_rcp_approx, lower_plain, RCP_APPROX},
    {PTX_F_rcp_f32, lower_f32, RCP},
    {PTX_F_rcp_f64, lower_f64, RCP},
    {PTX_F_rcp_ftz_f64, lower_plain, RCP_APPROX},
    {PTX_F_rcp_old, lower_plain, RCP_APPROX | OLD},
    {PTX_F_sqrt_approx, lower_plain, SQRT_APPROX},
    {PTX_F_sqrt_f32, lower_f32, SQRT},
    {PTX_F_sqrt_f64, lower_f64, SQRT},
    {PTX_F_sqrt_old, lower_old, SQRT},
    {PTX_F_rsqrt_f32, lower_plain, RSQRT_APPROX},
    {PTX_F_rsqrt_f64, lower_plain, RSQRT_APPROX},
    {PTX_F_rsqrt_old, lower_plain, RSQRT_APPROX | OLD},
    {PTX_F_sin, lower_plain, SIN},
    {PTX_F_sin_old, lower_plain, SIN | OLD},
    {PTX_F_cos, lower_plain, COS},
    {PTX_F_cos_old, lower_plain, COS | OLD},
    {PTX_F_lg2, lower_plain, LG2},
    {PTX_F_lg2_old, lower_plain, LG2 | OLD},
    {PTX_F_ex2, lower_plain, EX2},
    {PTX_F_ex2_old, lower_plain, EX2 | OLD},
    {PTX_F_tanh_f32, lower_plain, TANH},
    {PTX_F_add_f32_f16, lower_mixed, ADD},
    {PTX_F_sub_f32_f16, lower_mixed, SUB},
    {PTX_F_fma_f32_f16, lower_mixed, FMA},
    {PTX_F_add_f32_bf16, lower_mixed, ADD},
    {PTX_F_sub_f32_bf16, lower_mixed, SUB},
    {PTX_F_fma_f32_bf16, lower_mixed, FMA},
    {PTX_F_setp_f32, lower_setp, 0},
    {PTX_F_setp_f64, lower_setp, 0},
    {PTX_F_setp_f16, lower_setp, 0},
    {PTX_F_setp_bf16, lower_setp, 0},
    {PTX_F_setp_f16x2, lower_setp_halves, 0},
    {PTX_F_setp_bf16x2, lower_setp_halves, 0},
    {PTX_F_set_f32, lower_set, 0},
    {PTX_F_set_f64, lower_set, 0},
    {PTX_F_set_f16, lower_set, 0},
    {PTX_F_set_bf16, lower_set, 0},
    {PTX_F_set_f16x2, lower_set_halves, 0},
    {PTX_F_set_bf16x2, lower_set_halves, 0},
    {PTX_F_setb_f, lower_set, 0},
    {PTX_F_setb_h, lower_set, 0},
    {0, NULL, 0},
};
