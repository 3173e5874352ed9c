/* Rules of cvt and cvt.pack. Registers may be wider than the types here: lower_source truncates sources, and
 * lower_finish extends results; one rule handles all conversions between integers. */
#include "emu/lower/float.h"

static unsigned bits_of(unsigned type)
{
    return ptx_types[type].bits;
}

/* Which type of integer row holds a type: 16 bits also for those of 8. */
enum row { ROW_U16, ROW_I16, ROW_U32, ROW_I32, ROW_U64, ROW_I64, ROW_COUNT };
static enum row row_of(unsigned type)
{
    unsigned bits = bits_of(type);
    return (enum row)((bits <= 16   ? ROW_U16
                       : bits == 32 ? ROW_U32
                                    : ROW_U64) +
                      lower_type_signed(type));
}

/* u8 s8 u16 s16 u32 s32 u64 s64 -> 0 .. 7 */
static unsigned index_of(unsigned type)
{
    unsigned bits = bits_of(type);
    return (bits == 8 ? 0u : bits == 16 ? 2u : bits == 32 ? 4u : 6u) + lower_type_signed(type);
}

/* ---- between integers ----------------------------------------------------------------------------- */

/* The row that extends the low n bits of one of `from` bytes to `to` bytes. */
static unsigned extension(unsigned n, bool sign, unsigned from, unsigned to)
{
    static const u16 bytes[2][3][3] = {/* of 8 bits, by sign, from, to */
                                       {{UOP_cut_u8_u16, UOP_cvt_u8_u16_u32, UOP_cvt_u8_u16_u64},
                                        {UOP_cut_u8_u32, UOP_cvt_u8_u32_u32, UOP_cvt_u8_u32_u64},
                                        {UOP_cut_u8_u64, UOP_cvt_u8_u64_u32, UOP_cvt_u8_u64_u64}},
                                       {{UOP_cut_i8_u16, UOP_cvt_i8_u16_u32, UOP_cvt_i8_u16_u64},
                                        {UOP_cut_i8_u32, UOP_cvt_i8_u32_u32, UOP_cvt_i8_u32_u64},
                                        {UOP_cut_i8_u64, UOP_cvt_i8_u64_u32, UOP_cvt_i8_u64_u64}}};
    static const u16 halves[2][3][3] = {
        {{UOP_cvt_copy_u16, UOP_ext_u16_u32, UOP_ext_u16_u64},
         {UOP_cut_u16_u32, UOP_cvt_u16_u32_u32, UOP_cvt_u16_u32_u64},
         {UOP_cut_u16_u64, UOP_cvt_u16_u64_u32, UOP_cvt_u16_u64_u64}},
        {{UOP_cvt_copy_u16, UOP_ext_i16_u32, UOP_ext_i16_u64},
         {UOP_cut_u16_u32, UOP_cvt_i16_u32_u32, UOP_cvt_i16_u32_u64},
         {UOP_cut_u16_u64, UOP_cvt_i16_u64_u32, UOP_cvt_i16_u64_u64}}};
    unsigned f = from == 8 ? 2 : from == 4 ? 1 : 0, t = to == 8 ? 2 : to == 4 ? 1 : 0;
    if (n == 8) return bytes[sign][f][t];
    if (n == 16) return halves[sign][f][t];
    if (n == 64) return UOP_copy_u64;
    if (t == 1) return f == 1 ? UOP_cvt_copy_u32 : UOP_cut_u32_u64;
    if (f == 1) return sign ? UOP_ext_i32_u64 : UOP_ext_u32_u64;
    return sign ? UOP_cvt_i32_u64_u64 : UOP_cvt_u32_u64_u64;
}

/* The bytes of a register's row; 0: it is none. Of 128 bits the lower half is a row as any other. */
static unsigned register_bytes(const struct ptx_opnd *o)
{
    unsigned bytes = o->kind == PTX_OPND_REG ? lower_type_bytes(o->sym->type) : 0;
    return bytes == 16 ? 8 : bytes;
}

static bool is_128(const struct ptx_opnd *o)
{
    return o->kind == PTX_OPND_REG && ptx_types[o->sym->type].bits == 128;
}

static unsigned bits_type(unsigned bytes)
{
    return bytes == 8 ? PTX_b64 : bytes == 4 ? PTX_b32 : PTX_b16;
}

/* lower_source, also of registers of 128 bits. */
static u32 source(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    if (!is_128(o)) return lower_source(L, o, type);
    u32 low = lower_source(L, o, PTX_b128), bytes = lower_type_bytes(type);
    if (bytes == 8) return low;
    u32 t = lower_temp(L, bytes);
    lower_emit(L, extension(bits_of(type), lower_type_signed(type), 8, bytes), t, low, 0, 0);
    return t;
}

static bool lower_int(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], from = i->op->type[1];
    unsigned in = register_bytes(&i->opnds[1]);
    unsigned out = is_128(&i->opnds[0]) ? 0 : register_bytes(&i->opnds[0]);
    u32 a = is_128(&i->opnds[1]) ? lower_source(L, &i->opnds[1], PTX_b128)
                                 : lower_source(L, &i->opnds[1], in ? bits_type(in) : from);
    if (!in) in = lower_type_bytes(from);
    bool grows = bits_of(to) > bits_of(from);
    unsigned n = grows ? bits_of(from) : bits_of(to);
    bool sign = lower_type_signed(grows ? from : to);
    /* What grows with its sign to an unsigned type stops growing so at that type's width. */
    bool whole = !(grows && sign && !lower_type_signed(to) && out * 8 > bits_of(to));
    struct lower_dest d = lower_dest(L, &i->opnds[0], out && whole ? bits_type(out) : to);
    lower_emit(L, extension(n, sign, in, out && whole ? out : lower_type_bytes(to)), d.row, a, 0,
               0);
    lower_finish(L, &d);
    return true;
}

static bool lower_sat_int(struct lower *L, const struct ptx_inst *i)
{
    static const u16 ids[8][ROW_COUNT] = {
        {UOP_sat_u8_u16, UOP_sat_u8_i16, UOP_sat_u8_u32, UOP_sat_u8_i32, UOP_sat_u8_u64,
         UOP_sat_u8_i64},
        {UOP_sat_s8_u16, UOP_sat_s8_i16, UOP_sat_s8_u32, UOP_sat_s8_i32, UOP_sat_s8_u64,
         UOP_sat_s8_i64},
        {0, UOP_sat_u16_i16, UOP_sat_u16_u32, UOP_sat_u16_i32, UOP_sat_u16_u64, UOP_sat_u16_i64},
        {UOP_sat_s16_u16, 0, UOP_sat_s16_u32, UOP_sat_s16_i32, UOP_sat_s16_u64, UOP_sat_s16_i64},
        {0, UOP_sat_u32_i16, 0, UOP_sat_u32_i32, UOP_sat_u32_u64, UOP_sat_u32_i64},
        {0, 0, UOP_sat_s32_u32, 0, UOP_sat_s32_u64, UOP_sat_s32_i64},
        {0, UOP_sat_u64_i16, 0, UOP_sat_u64_i32, 0, UOP_sat_u64_i64},
        {0, 0, 0, 0, UOP_sat_s64_u64, 0},
    };
    unsigned to = i->op->type[0], from = i->op->type[1], id = ids[index_of(to)][row_of(from)];
    if (!id) return lower_refuse(L, "'%.*s' cannot saturate", (int)i->op->text_length, i->op->text);
    u32 a = source(L, &i->opnds[1], from);
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    lower_emit(L, id, d.row, a, 0, 0);
    lower_finish(L, &d);
    return true;
}

/* ---- modifiers -------------------------------------------------------------------------------------- */

/* .ftz, or sm_1x, where f32 is always flushed; but up to PTX ISA 1.4 not beside 64-bit types: of floats
 * f64 on either side, of integers as the result. */
static bool flushes(const struct lower *L, const struct ptx_op *op)
{
    const struct ptx_module *m = lower_module(L);
    if (ptx_op_has(op, "ftz")) return true;
    if (m->target.sm >= 20) return false;
    return m->version > 14 || (bits_of(op->type[0]) < 64 && op->type[1] != PTX_f64);
}

static bool both_exist(struct lower *L, const struct ptx_op *op)
{
    return (op->type[0] != PTX_f64 && op->type[1] != PTX_f64) || lower_has_f64(L, op);
}

static struct emu_uop *convert(struct lower *L, unsigned id, u32 d, u32 a, u8 rnd, u8 mods)
{
    struct emu_uop *u = lower_emit(L, id, d, a, 0, 0);
    u->x = rnd;
    u->y = mods;
    return u;
}

/* .sat on a float result that is already in its row. */
static void saturate(struct lower *L, const struct ptx_op *op, u32 d)
{
    if (!ptx_op_has(op, "sat")) return;
    lower_emit(L,
               op->type[0] == PTX_f64   ? UOP_sat_f64
               : op->type[0] == PTX_f32 ? UOP_sat_f32
                                        : UOP_sat_f16,
               d, d, 0, 0);
}

/* A half as f32, in a temporary. */
static u32 single(struct lower *L, unsigned type, u32 half)
{
    u32 t = lower_temp(L, 4);
    lower_emit(L, type == PTX_f16 ? UOP_f32_f16 : UOP_f32_bf16, t, half, 0, 0);
    return t;
}

/* ---- floats and integers ---------------------------------------------------------------------------- */

static bool lower_to_int(struct lower *L, const struct ptx_inst *i)
{
#define ROW(type)                                                                                  \
    {                                                                                              \
        UOP_##type##_rzi_f32, UOP_##type##_rzi_f64, UOP_##type##_any_f32, UOP_##type##_any_f64     \
    }
    static const u16 ids[8][4] = {ROW(u8),  ROW(s8),  ROW(u16), ROW(s16),
                                  ROW(u32), ROW(s32), ROW(u64), ROW(s64)};
#undef ROW
    unsigned to = i->op->type[0], from = i->op->type[1];
    u8 rnd = lower_rounding(i->op);
    if (!both_exist(L, i->op)) return false;
    u32 a = source(L, &i->opnds[1], from);
    if (from == PTX_f16 || from == PTX_bf16) a = single(L, from, a);
    /* Flushed or not, what rounds to nearest or to zero becomes zero. */
    u8 mods = from == PTX_f32 && (rnd == FP_RM || rnd == FP_RP) && flushes(L, i->op) ? FP_MOD_FTZ
                                                                                     : 0;
    bool wide = from == PTX_f64;
    unsigned id = ids[index_of(to)][(rnd == FP_RZ ? 0 : 2) + wide];
    if (to == PTX_s32 && !wide && !mods && rnd != FP_RZ)
        id = rnd == FP_RN ? UOP_s32_rni_f32 : rnd == FP_RM ? UOP_s32_rmi_f32 : UOP_s32_rpi_f32;
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    convert(L, id, d.row, a, rnd, mods);
    lower_finish(L, &d);
    return true;
}

static bool lower_from_int(struct lower *L, const struct ptx_inst *i)
{
    static const u16 nearest[2][ROW_COUNT] = {
        {UOP_f32_u16, UOP_f32_i16, UOP_f32_u32, UOP_f32_i32, UOP_f32_u64, UOP_f32_i64},
        {UOP_f64_u16, UOP_f64_i16, UOP_f64_u32, UOP_f64_i32, UOP_f64_u64, UOP_f64_i64}};
    static const u16 any[2][ROW_COUNT] = {
        /* 16 bits are exact, and to f64 32 */
        {UOP_f32_u16, UOP_f32_i16, UOP_f32_any_u32, UOP_f32_any_i32, UOP_f32_any_u64,
         UOP_f32_any_i64},
        {UOP_f64_u16, UOP_f64_i16, UOP_f64_u32, UOP_f64_i32, UOP_f64_any_u64, UOP_f64_any_i64}};
    unsigned to = i->op->type[0], from = i->op->type[1];
    enum row r = row_of(from);
    u8 rnd = lower_rounding(i->op);
    if (!both_exist(L, i->op)) return false;
    u32 a = source(L, &i->opnds[1], from);
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    if (to == PTX_f32 || to == PTX_f64) {
        bool wide = to == PTX_f64;
        convert(L, rnd == FP_RN ? nearest[wide][r] : any[wide][r], d.row, a, rnd, 0);
    } else if (r >= ROW_U64) {
        unsigned id = to == PTX_f16  ? r == ROW_U64 ? UOP_f16_any_u64 : UOP_f16_any_i64
                      : r == ROW_U64 ? UOP_bf16_any_u64
                                     : UOP_bf16_any_i64;
        convert(L, id, d.row, a, rnd, 0);
    } else if (to == PTX_f16) { /* what f32 does not hold exactly is beyond f16 */
        u32 t = lower_temp(L, 4);
        lower_emit(L, nearest[0][r], t, a, 0, 0);
        convert(L, rnd == FP_RN ? UOP_f16_f32 : UOP_f16_any_f32, d.row, t, rnd, 0);
    } else if (r <= ROW_I16) {
        u32 t = lower_temp(L, 4);
        lower_emit(L, nearest[0][r], t, a, 0, 0);
        convert(L, rnd == FP_RN ? UOP_bf16_f32 : UOP_bf16_any_f32, d.row, t, rnd, 0);
    } else {
        u32 t = lower_temp(L, 8);
        lower_emit(L, nearest[1][r], t, a, 0, 0);
        convert(L, UOP_bf16_any_f64, d.row, t, rnd, 0);
    }
    saturate(L, i->op, d.row);
    lower_finish(L, &d);
    return true;
}

/* ---- between floats --------------------------------------------------------------------------------- */

static bool is_integral(const struct ptx_op *op)
{
    return ptx_op_has(op, "rni") || ptx_op_has(op, "rzi") || ptx_op_has(op, "rmi") ||
           ptx_op_has(op, "rpi");
}

/* To the same type. Without any modifier cvt.f32.f32 and cvt.f64.f64 are moves, as ptxas has it; those
 * of halves make a NaN the canonical one. */
static bool lower_same(struct lower *L, const struct ptx_inst *i)
{
    static const u16 single_rows[] = {UOP_rni_f32, UOP_rzi_f32, UOP_rmi_f32, UOP_rpi_f32};
    static const u16 double_rows[] = {UOP_rni_f64, UOP_rzi_f64, UOP_rmi_f64, UOP_rpi_f64};
    unsigned type = i->op->type[0];
    u8 rnd = lower_rounding(i->op);
    bool integral = is_integral(i->op), sat = ptx_op_has(i->op, "sat");
    if (!both_exist(L, i->op)) return false;
    u32 a = source(L, &i->opnds[1], type);
    struct lower_dest d = lower_dest(L, &i->opnds[0], type);
    bool ftz = type == PTX_f32 && flushes(L, i->op);
    if (ftz && (integral || !sat)) {
        u32 t = integral ? lower_temp(L, 4) : d.row;
        lower_emit(L, UOP_ftz_f32, t, a, 0, 0);
        a = t;
    }
    if (integral)
        convert(L,
                type == PTX_f32   ? single_rows[rnd & 3]
                : type == PTX_f64 ? double_rows[rnd & 3]
                : type == PTX_f16 ? UOP_rint_f16
                                  : UOP_rint_bf16,
                d.row, a, rnd, 0);
    else if (sat)
        lower_emit(L,
                   type == PTX_f64   ? UOP_sat_f64
                   : type == PTX_f16 ? UOP_sat_f16
                   : ftz             ? UOP_sat_ftz_f32
                                     : UOP_sat_f32,
                   d.row, a, 0, 0);
    else if (!ftz)
        lower_emit(L,
                   type == PTX_f32   ? UOP_cvt_copy_u32
                   : type == PTX_f64 ? UOP_copy_u64
                   : type == PTX_f16 ? UOP_canon_f16
                                     : UOP_canon_bf16,
                   d.row, a, 0, 0);
    if (integral) saturate(L, i->op, d.row);
    lower_finish(L, &d);
    return true;
}

/* To a wider type: exact. */
static bool lower_widen(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], from = i->op->type[1];
    if (!both_exist(L, i->op)) return false;
    bool ftz = flushes(L, i->op);
    u32 a = source(L, &i->opnds[1], from);
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    unsigned id = from == PTX_f32   ? ftz ? UOP_f64_ftz_f32 : UOP_f64_f32
                  : from == PTX_f16 ? to == PTX_f32 ? UOP_f32_f16 : UOP_f64_f16
                  : to == PTX_f32   ? UOP_f32_bf16
                                    : UOP_f64_bf16;
    lower_emit(L, id, d.row, a, 0, 0);
    if (from == PTX_bf16 && to == PTX_f32 && ftz) lower_emit(L, UOP_ftz_f32, d.row, d.row, 0, 0);
    saturate(L, i->op, d.row);
    lower_finish(L, &d);
    return true;
}

/* To a narrower one, and between f16 and bf16. */
static bool lower_narrow(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], from = i->op->type[1];
    u8 rnd = lower_rounding(i->op), mods = lower_clamps(i->op);
    if (!both_exist(L, i->op)) return false;
    bool ftz = (from == PTX_f32 || to == PTX_f32) && flushes(L, i->op),
         near = rnd == FP_RN && !mods;
    u32 a = source(L, &i->opnds[1], from);
    if (from == PTX_f16 || from == PTX_bf16) a = single(L, from, a);
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    if (from == PTX_f64) {
        unsigned id = to == PTX_f16    ? UOP_f16_any_f64
                      : to == PTX_bf16 ? UOP_bf16_any_f64
                      : !near          ? UOP_f32_any_f64
                      : ftz            ? UOP_f32_ftz_f64
                                       : UOP_f32_f64;
        convert(L, id, d.row, a, rnd, (u8)(mods | (ftz ? FP_MOD_FTZ : 0)));
    } else if (to == PTX_bf16) {
        convert(L, near && !ftz ? UOP_bf16_f32 : UOP_bf16_any_f32, d.row, a, rnd,
                (u8)(mods | (ftz ? FP_MOD_FTZ : 0)));
    } else {
        if (ftz && (rnd == FP_RM || rnd == FP_RP)) { /* else such an operand becomes zero anyway */
            u32 t = lower_temp(L, 4);
            lower_emit(L, UOP_ftz_f32, t, a, 0, 0);
            a = t;
        }
        convert(L, near ? UOP_f16_f32 : UOP_f16_any_f32, d.row, a, rnd, mods);
    }
    lower_finish(L, &d);
    return true;
}

static bool lower_tf32(struct lower *L, const struct ptx_inst *i)
{
    u32 a = source(L, &i->opnds[1], PTX_f32);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_tf32);
    convert(L, UOP_tf32_f32, d.row, a, lower_rounding(i->op), lower_clamps(i->op));
    return true;
}

/* Two f32 to f16x2 or bf16x2. */
static bool lower_pair(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0];
    bool half = to == PTX_f16x2, random = ptx_op_has(i->op, "rs");
    u8 rnd = lower_rounding(i->op), mods = lower_clamps(i->op);
    u32 a = source(L, &i->opnds[1], PTX_f32), b = source(L, &i->opnds[2], PTX_f32);
    u32 bits = random ? source(L, &i->opnds[3], PTX_b32) : 0;
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    unsigned id = random                 ? half ? UOP_f16x2_rs_f32 : UOP_bf16x2_rs_f32
                  : rnd != FP_RN || mods ? half ? UOP_f16x2_any_f32 : UOP_bf16x2_any_f32
                  : half                 ? UOP_f16x2_f32
                                         : UOP_bf16x2_f32;
    struct emu_uop *u = lower_emit(L, id, d.row, a, b, bits);
    u->x = rnd;
    u->y = mods;
    lower_finish(L, &d);
    return true;
}

/* ---- eight bits and less ---------------------------------------------------------------------------- */

/* The rows of a small format: from two f32, from f16x2, to f16x2, at random. */
struct small_rows {
    u8 x2, x4; /* its types */
    u16 from_f32, from_f16x2, to_f16x2, random;
};
static const struct small_rows small[] = {
#define ROW(type)                                                                                  \
    {                                                                                              \
        PTX_##type##x2, PTX_##type##x4, UOP_##type##x2_f32, UOP_##type##x2_f16x2,                  \
            UOP_f16x2_##type##x2, UOP_##type##_rs_f32                                              \
    }
    ROW(e4m3), ROW(e5m2), ROW(e2m3), ROW(e3m2), ROW(e2m1)
#undef ROW
};

static const struct small_rows *rows_of(unsigned type)
{
    for (size_t k = 0; k < sizeof small / sizeof *small; k++)
        if (small[k].x2 == type || small[k].x4 == type) return &small[k];
    return NULL;
}

static bool lower_small(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], from = i->op->type[1];
    u8 relu = lower_clamps(i->op) & FP_MOD_RELU;
    u32 a = source(L, &i->opnds[1], from);
    u32 b = from == PTX_f32 ? source(L, &i->opnds[2], from) : 0;
    unsigned id = to == PTX_f16x2     ? rows_of(from)->to_f16x2
                  : from == PTX_f16x2 ? rows_of(to)->from_f16x2
                                      : rows_of(to)->from_f32;
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    lower_emit(L, id, d.row, a, b, 0)->y = relu;
    lower_finish(L, &d);
    return true;
}

static bool lower_random_small(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0];
    const struct ptx_opnd *v = &i->opnds[1];
    u32 s[4], t[2], bits = source(L, &i->opnds[2], PTX_b32);
    for (u32 k = 0; k < 4; k++) {
        struct ptx_opnd part = v->kind == PTX_OPND_VEC ? v->elem[k] : *v; /* or a vector register */
        if (v->kind != PTX_OPND_VEC) part.sel = (u8)(PTX_SEL_X + k);
        s[k] = source(L, &part, PTX_f32);
    }
    for (u32 k = 0; k < 2; k++) {
        t[k] = lower_temp(L, 2);
        struct emu_uop *u = lower_emit(L, rows_of(to)->random, t[k], s[k ? 2 : 0], s[k ? 3 : 1],
                                       bits);
        u->x = (u8)(3 - 2 * k);
        u->y = lower_clamps(i->op) & FP_MOD_RELU;
    }
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    lower_emit(L, to == PTX_e2m1x4 ? UOP_cvt_join_u16 : UOP_cvt_join_u32, d.row, t[0], t[1], 0);
    lower_finish(L, &d);
    return true;
}

static bool lower_ue8m0(struct lower *L, const struct ptx_inst *i)
{
    unsigned to = i->op->type[0], from = i->op->type[1];
    u32 a = source(L, &i->opnds[1], from);
    u32 b = from == PTX_f32 ? source(L, &i->opnds[2], from) : 0;
    unsigned id = to == PTX_bf16x2  ? UOP_bf16x2_ue8m0x2
                  : from == PTX_f32 ? UOP_ue8m0x2_f32
                                    : UOP_ue8m0x2_bf16x2;
    struct lower_dest d = lower_dest(L, &i->opnds[0], to);
    struct emu_uop *u = lower_emit(L, id, d.row, a, b, 0);
    u->x = lower_rounding(i->op);
    u->y = ptx_op_has(i->op, "satfinite");
    lower_finish(L, &d);
    return true;
}

/* cvt.pack: the result is unsigned, whatever the types say. */
static bool lower_pack(struct lower *L, const struct ptx_inst *i)
{
    unsigned type = i->op->type[0];
    bool one = bits_of(type) < 16;
    u32 a = source(L, &i->opnds[1], PTX_s32), b = source(L, &i->opnds[2], PTX_s32);
    u32 c = one ? source(L, &i->opnds[3], PTX_b32) : 0;
    bool sign = ptx_types[type].name[0] == 's';
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_u32);
    struct emu_uop *u = lower_emit(L, one ? UOP_cvt_pack : UOP_cvt_pack_16, d.row, a, b, c);
    u->x = (u8)bits_of(type);
    u->y = sign;
    lower_finish(L, &d);
    return true;
}

const struct lower_rule lower_cvt_rules[] = {
    {PTX_F_cvt_int, lower_int, 0},
    {PTX_F_cvt_sat_u8, lower_sat_int, 0},
    {PTX_F_cvt_sat_u16, lower_sat_int, 0},
    {PTX_F_cvt_sat_u32, lower_sat_int, 0},
    {PTX_F_cvt_sat_u64, lower_sat_int, 0},
    {PTX_F_cvt_sat_s8, lower_sat_int, 0},
    {PTX_F_cvt_sat_s16, lower_sat_int, 0},
    {PTX_F_cvt_sat_s32, lower_sat_int, 0},
    {PTX_F_cvt_sat_s64, lower_sat_int, 0},
    {PTX_F_cvt_f16_i, lower_from_int, 0},
    {PTX_F_cvt_f32_i, lower_from_int, 0},
    {PTX_F_cvt_f32_i8, lower_from_int, 0},
    {PTX_F_cvt_f64_i, lower_from_int, 0},
    {PTX_F_cvt_bf16_i, lower_from_int, 0},
    {PTX_F_cvt_i_f16, lower_to_int, 0},
    {PTX_F_cvt_i_f32, lower_to_int, 0},
    {PTX_F_cvt_i64_f32, lower_to_int, 0},
    {PTX_F_cvt_i_f64, lower_to_int, 0},
    {PTX_F_cvt_i_bf16, lower_to_int, 0},
    {PTX_F_cvt_f16, lower_same, 0},
    {PTX_F_cvt_f32, lower_same, 0},
    {PTX_F_cvt_f64, lower_same, 0},
    {PTX_F_cvt_bf16, lower_same, 0},
    {PTX_F_cvt_f32_f16, lower_widen, 0},
    {PTX_F_cvt_f64_f16, lower_widen, 0},
    {PTX_F_cvt_f64_f32, lower_widen, 0},
    {PTX_F_cvt_f32_bf16, lower_widen, 0},
    {PTX_F_cvt_f64_bf16, lower_widen, 0},
    {PTX_F_cvt_f16_f32, lower_narrow, 0},
    {PTX_F_cvt_f16_f32s, lower_narrow, 0},
    {PTX_F_cvt_f16_f64, lower_narrow, 0},
    {PTX_F_cvt_f32_f64, lower_narrow, 0},
    {PTX_F_cvt_bf16_f32, lower_narrow, 0},
    {PTX_F_cvt_bf16_f32s, lower_narrow, 0},
    {PTX_F_cvt_bf16_f64, lower_narrow, 0},
    {PTX_F_cvt_f16_bf16, lower_narrow, 0},
    {PTX_F_cvt_bf16_f16, lower_narrow, 0},
    {PTX_F_cvt_f16x2, lower_pair, 0},
    {PTX_F_cvt_bf16x2, lower_pair, 0},
    {PTX_F_cvt_f16x2_rs, lower_pair, 0},
    {PTX_F_cvt_bf16x2_rs, lower_pair, 0},
    {PTX_F_cvt_tf32, lower_tf32, 0},
    {PTX_F_cvt_tf32_rn, lower_tf32, 0},
    {PTX_F_cvt_f8_89, lower_small, 0},
    {PTX_F_cvt_f8, lower_small, 0},
    {PTX_F_cvt_f8_f16x2_89, lower_small, 0},
    {PTX_F_cvt_f8_f16x2, lower_small, 0},
    {PTX_F_cvt_f16x2_f8_89, lower_small, 0},
    {PTX_F_cvt_f16x2_f8, lower_small, 0},
    {PTX_F_cvt_f6, lower_small, 0},
    {PTX_F_cvt_f4_f16x2, lower_small, 0},
    {PTX_F_cvt_f16x2_f6, lower_small, 0},
    {PTX_F_cvt_ue8m0, lower_ue8m0, 0},
    {PTX_F_cvt_ue8m0_b, lower_ue8m0, 0},
    {PTX_F_cvt_bf16x2_u, lower_ue8m0, 0},
    {PTX_F_cvt_x4_rs, lower_random_small, 0},
    {PTX_F_cvt_pack, lower_pack, 0},
    {PTX_F_cvt_pack_b, lower_pack, 0},
    {0, NULL, 0},
};
