/* Integer arithmetic, bits, logic, shifts and comparison. A rule's data is the first micro-operation of a family,
 * whose members emu/ops/uops_int.def lists in the order of their types. The assertions at the end check that order. */
#include "emu/lower/lower.h"

#include <string.h>

/* Types by width alone: u16 u32 u64. */
static u32 by_width(unsigned type)
{
    unsigned n = lower_type_bytes(type);
    return n == 2 ? 0 : n == 4 ? 1 : 2;
}
/* By width and sign: u16 s16 u32 s32 u64 s64. */
static u32 by_type(unsigned type)
{
    return 2 * by_width(type) + lower_type_signed(type);
}

/* d = op(sources), the operands of type `type`, the result of type `result`. */
static struct emu_uop *operate(struct lower *L, const struct ptx_inst *i, u32 id, u32 sources,
                               unsigned type, unsigned result)
{
    u32 r[3] = {0};
    for (u32 k = 0; k < sources; k++) r[k] = lower_source(L, &i->opnds[1 + k], type);
    struct lower_dest d = lower_dest(L, &i->opnds[0], result);
    struct emu_uop *u = lower_emit(L, id, d.row, r[0], r[1], r[2]);
    if (!d.widen) return u;
    lower_finish(L, &d);
    return u;
}

static bool width2(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + by_width(t), 2, t, t);
    return true;
}
static bool width1(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + by_width(t), 1, t, t);
    return true;
}
static bool width3(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + by_width(t), 3, t, t);
    return true;
}
static bool typed2(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + by_type(t), 2, t, t);
    return true;
}
static bool typed3(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + by_type(t), 3, t, t);
    return true;
}
static bool as_is2(struct lower *L, const struct ptx_inst *i)
{
    operate(L, i, lower_data(L), 2, i->op->type[0], i->op->type[0]);
    return true;
}

static unsigned twice(unsigned type)
{
    switch (type) {
    case PTX_u16: return PTX_u32;
    case PTX_s16: return PTX_s32;
    case PTX_u32: return PTX_u64;
    default: return PTX_s64;
    }
}

static bool mul_wide(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], w = twice(t);
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    bool mad = lower_data(L) == UOP_madwide_u16;
    u32 c = mad ? lower_source(L, &i->opnds[3], w) : 0;
    struct lower_dest d = lower_dest(L, &i->opnds[0], w);
    lower_emit(L, lower_data(L) + by_type(t), d.row, a, b, c);
    lower_finish(L, &d);
    return true;
}

/* mad.hi, mad24 and the saturating ones: a product, then a sum. data: the product's family, and: */
enum {
    SIGN_ONLY = 1 << 16, /* the family has one micro-operation for each sign, not for each width */
    SATURATES = 1 << 17, /* the sum does */
    IN_CARRY = 1 << 18,  /* the sum adds the carry flag */
    OUT_CARRY = 1 << 19, /* and sets it */
    LOW = 1 << 20        /* of the product the low half */
};
static bool mul_add(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    u32 data = lower_data(L), id = data & 0xffff;
    id += data & LOW ? by_width(t) : data & SIGN_ONLY ? lower_type_signed(t) : by_type(t);
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    u32 c = lower_source(L, &i->opnds[3], t), product = lower_temp(L, n), carry = lower_carry(L);
    lower_emit(L, id, product, a, b, 0);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    u32 flag = 0;
    if (data & OUT_CARRY) {
        flag = lower_temp(L, 4);
        if (data & IN_CARRY)
            lower_emit(L, n == 8 ? UOP_carryc_u64 : UOP_carryc_u32, flag, product, c, carry);
        else lower_emit(L, n == 8 ? UOP_carry_u64 : UOP_carry_u32, flag, product, c, 0);
    }
    if (data & SATURATES && data & IN_CARRY)
        lower_emit(L, UOP_addcsat_s32, d.row, product, c, carry);
    else if (data & SATURATES) lower_emit(L, UOP_addsat_s32, d.row, product, c, 0);
    else if (data & IN_CARRY) lower_emit(L, UOP_addc_u16 + by_width(t), d.row, product, c, carry);
    else lower_emit(L, UOP_add_u16 + by_width(t), d.row, product, c, 0);
    if (data & OUT_CARRY) lower_emit(L, UOP_mov_u32, carry, flag, 0, 0);
    lower_finish(L, &d);
    return true;
}

/* add.cc, addc, sub.cc, subc. data: 1 subtracts, IN_CARRY, OUT_CARRY, SATURATES. */
static bool with_carry(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    u32 data = lower_data(L), carry = lower_carry(L), flag = 0;
    bool sub = data & 1;
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    if (data & OUT_CARRY) {
        flag = lower_temp(L, 4);
        u32 id = data & IN_CARRY ? (sub ? UOP_borrowc_u32 : UOP_carryc_u32)
                 : sub           ? UOP_borrow_u32
                                 : UOP_carry_u32;
        lower_emit(L, id + (n == 8), flag, a, b, carry);
    }
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    if (data & SATURATES)
        lower_emit(L, sub ? UOP_subcsat_s32 : UOP_addcsat_s32, d.row, a, b, carry);
    else if (data & IN_CARRY)
        lower_emit(L, (sub ? UOP_subc_u16 : UOP_addc_u16) + by_width(t), d.row, a, b, carry);
    else lower_emit(L, (sub ? UOP_sub_u16 : UOP_add_u16) + by_width(t), d.row, a, b, 0);
    if (data & OUT_CARRY) lower_emit(L, UOP_mov_u32, carry, flag, 0, 0);
    lower_finish(L, &d);
    return true;
}

static bool mul24(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + (u32)lower_type_signed(t), 2, t, t);
    return true;
}

static bool dot(struct lower *L, const struct ptx_inst *i)
{
    unsigned ta = i->op->type[0], tb = i->op->type[1];
    u32 data = lower_data(L);
    struct emu_uop *u = operate(L, i, data & 0xffff, 3, PTX_u32, PTX_u32);
    u->x = (u8)((lower_type_signed(ta) ? 1u : 0u) | (lower_type_signed(tb) ? 2u : 0u) |
                (data >> 16 & 1) << 2);
    return true;
}

static bool relu(struct lower *L, const struct ptx_inst *i)
{
    u32 a = lower_source(L, &i->opnds[1], PTX_s32), b = lower_source(L, &i->opnds[2], PTX_s32);
    u32 both = lower_temp(L, 4);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_s32);
    lower_emit(L, lower_data(L), both, a, b, 0);
    lower_emit(L, UOP_relu_s32, d.row, both, 0, 0);
    lower_finish(L, &d);
    return true;
}
/* data: the unsigned one, and behind 16 bits how far the signed one is from it. */
static bool halves(struct lower *L, const struct ptx_inst *i)
{
    u32 data = lower_data(L);
    operate(L, i, (data & 0xffff) + (i->op->type[0] == PTX_s16x2 ? data >> 16 : 0), 2, PTX_u32,
            PTX_u32);
    return true;
}

static bool count_bits(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    operate(L, i, lower_data(L) + (lower_type_bytes(t) == 8 ? 1u : 0), 1, t, PTX_u32);
    return true;
}
static bool bfind(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    struct emu_uop *u = operate(L, i, UOP_bfind_u32 + by_type(t) - 2, 1, t, PTX_u32);
    u->x = ptx_op_has(i->op, "shiftamt");
    return true;
}
static bool bfe(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], PTX_u32);
    u32 c = lower_source(L, &i->opnds[3], PTX_u32);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    lower_emit(L, UOP_bfe_u32 + by_type(t) - 2, d.row, a, b, c);
    lower_finish(L, &d);
    return true;
}
static bool bfi(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    u32 pos = lower_source(L, &i->opnds[3], PTX_u32), len = lower_source(L, &i->opnds[4], PTX_u32);
    u32 both = lower_temp(L, 4);
    lower_emit(L, UOP_pack_bytes, both, pos, len, 0);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    lower_emit(L, lower_type_bytes(t) == 8 ? UOP_bfi_u64 : UOP_bfi_u32, d.row, a, b, both);
    lower_finish(L, &d);
    return true;
}
static bool fns(struct lower *L, const struct ptx_inst *i)
{
    operate(L, i, UOP_fns, 3, PTX_b32, PTX_b32);
    return true;
}
static bool clamped(struct lower *L, const struct ptx_inst *i) /* bmsk, szext */
{
    struct emu_uop *u = operate(L, i, lower_data(L), 2, PTX_u32, PTX_u32);
    u->x = (u8)((ptx_op_has(i->op, "clamp") ? 1 : 0) | (lower_type_signed(i->op->type[0]) ? 2 : 0));
    return true;
}

static bool shift(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    bool right = lower_data(L) == UOP_shr_u16;
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], PTX_u32);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    lower_emit(L, lower_data(L) + (right ? by_type(t) : by_width(t)), d.row, a, b, 0);
    lower_finish(L, &d);
    return true;
}
static bool funnel(struct lower *L, const struct ptx_inst *i)
{
    bool clamp = ptx_op_has(i->op, "clamp");
    const struct ptx_opnd *a = &i->opnds[1], *b = &i->opnds[2];
    if (!clamp && a->kind == PTX_OPND_REG && b->kind == PTX_OPND_REG && a->sym == b->sym &&
        a->sel == b->sel) {
        u32 x = lower_source(L, a, PTX_u32), n = lower_source(L, &i->opnds[3], PTX_u32);
        struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_u32);
        lower_emit(L, lower_data(L) == UOP_shf_l_wrap ? UOP_rotl_u32 : UOP_rotr_u32, d.row, x, n,
                   0);
        lower_finish(L, &d);
        return true;
    }
    operate(L, i, lower_data(L) + (clamp ? 1 : 0), 3, PTX_u32, PTX_u32);
    return true;
}

/* The truth table that reads a as 0xf0, b as 0xcc, c as 0xaa. */
static u32 lop3_of(u32 lut)
{
    switch (lut) {
    case 0x96: return UOP_lop3_xor3;
    case 0x80: return UOP_lop3_and3;
    case 0xfe: return UOP_lop3_or3;
    case 0xe8: return UOP_lop3_majority;
    case 0xca: return UOP_lop3_choose;
    case 0xea: return UOP_lop3_and_or;
    case 0x6a: return UOP_lop3_and_xor;
    case 0x28: return UOP_lop3_xor_and;
    case 0xa8: return UOP_lop3_or_and;
    default: return UOP_lop3;
    }
}
static bool lop3(struct lower *L, const struct ptx_inst *i)
{
    bool tests = lower_data(L);
    const struct ptx_opnd *to = &i->opnds[0], *p = NULL;
    if (to->kind == PTX_OPND_PAIR) p = &to->elem[1], to = &to->elem[0];
    u32 r[3], lut = (u32)i->opnds[4].bits & 0xff;
    for (u32 k = 0; k < 3; k++) r[k] = lower_source(L, &i->opnds[1 + k], PTX_b32);
    u32 q = tests ? lower_predicate(L, &i->opnds[5]) : 0;
    struct lower_dest d = lower_dest(L, to, PTX_b32);
    u32 row = tests ? lower_temp(L, 4) : d.row;
    struct emu_uop *u = lower_emit(L, lop3_of(lut), row, r[0], r[1], r[2]);
    u->x = (u8)lut;
    if (tests) {
        struct lower_dest e = lower_dest(L, p, PTX_pred);
        lower_emit(L, UOP_mov_u32, d.row, row, 0, 0);
        u = lower_emit(L, UOP_lop3_test, e.row, row, q, 0);
        u->x = ptx_op_has(i->op, "and");
    }
    lower_finish(L, &d);
    return true;
}
static bool prmt(struct lower *L, const struct ptx_inst *i)
{
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    u32 mode = 6;
    for (u32 k = 0; k < 6; k++)
        if (ptx_op_has(i->op, modes[k])) mode = k;
    struct emu_uop *u = operate(L, i, mode < 6 ? UOP_prmt_mode : UOP_prmt, 3, PTX_b32, PTX_b32);
    u->x = (u8)mode;
    return true;
}

/* ---- comparison ----------------------------------------------------------------------------------- */

/* The comparison's micro-operation; lo ls hi hs are lt le gt ge. */
static u32 compare_of(const struct ptx_op *op, unsigned type)
{
    static const struct {
        const char *word;
        u32 first;
    } words[] = {{"eq", UOP_seteq_u16}, {"ne", UOP_setne_u16}, {"lt", UOP_setlt_u16},
                 {"lo", UOP_setlt_u16}, {"le", UOP_setle_u16}, {"ls", UOP_setle_u16},
                 {"gt", UOP_setgt_u16}, {"hi", UOP_setgt_u16}, {"ge", UOP_setge_u16},
                 {"hs", UOP_setge_u16}};
    for (u32 k = 0; k < sizeof words / sizeof *words; k++)
        if (ptx_op_has(op, words[k].word)) return words[k].first + by_type(type);
    return UOP_seteq_u16;
}

/* Joins a comparison's row with a predicate, as .and .or .xor say. */
static u32 join_predicate(struct lower *L, const struct ptx_op *op, u32 d, u32 row, u32 q)
{
    u32 id = ptx_op_has(op, "and") ? UOP_and_u32 : ptx_op_has(op, "or") ? UOP_or_u32 : UOP_xor_u32;
    lower_emit(L, id, d, row, q, 0);
    return d;
}

/* setp: the comparison's row goes to p, and its opposite to q, both joined with a predicate if there is one. */
static bool setp_results(struct lower *L, const struct ptx_inst *i, u32 row)
{
    const struct ptx_opnd *to = &i->opnds[0], *p = to, *q = NULL;
    if (to->kind == PTX_OPND_PAIR) p = &to->elem[0], q = &to->elem[1];
    bool joined = i->count > 3;
    u32 c = joined ? lower_predicate(L, &i->opnds[3]) : 0, opposite = 0, first = 0;
    if (q && q->kind != PTX_OPND_SINK) {
        opposite = lower_temp(L, 4);
        lower_emit(L, UOP_not_pred, opposite, row, 0, 0);
        if (joined) join_predicate(L, i->op, opposite, opposite, c);
    }
    if (p && p->kind != PTX_OPND_SINK) {
        first = lower_dest(L, p, PTX_pred).row;
        if (joined) join_predicate(L, i->op, first, row, c);
        else lower_emit(L, UOP_mov_u32, first, row, 0, 0);
    }
    if (q && q->kind != PTX_OPND_SINK)
        lower_emit(L, UOP_mov_u32, lower_dest(L, q, PTX_pred).row, opposite, 0, 0);
    return true;
}

static bool setp(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    if (i->count == 3 && i->opnds[0].kind == PTX_OPND_REG) {
        lower_emit(L, compare_of(i->op, t), lower_dest(L, &i->opnds[0], PTX_pred).row, a, b, 0);
        return true;
    }
    u32 row = lower_temp(L, 4);
    lower_emit(L, compare_of(i->op, t), row, a, b, 0);
    return setp_results(L, i, row);
}

/* set: a predicate's row becomes 0 or the type's truth: all ones, or 1.0. */
static bool set_result(struct lower *L, const struct ptx_inst *i, u32 row)
{
    unsigned t = i->op->type[0];
    if (i->count > 3) {
        u32 joined = lower_temp(L, 4);
        join_predicate(L, i->op, joined, row, lower_predicate(L, &i->opnds[3]));
        row = joined;
    }
    u32 truth = t == PTX_f32 ? 0x3f800000 : t == PTX_f16 ? 0x3c00 : t == PTX_bf16 ? 0x3f80 : ~0u;
    struct lower_dest d = lower_dest(L, &i->opnds[0], t == PTX_bf16 ? PTX_u16 : t);
    struct emu_uop *u = lower_emit(L, lower_type_bytes(t) == 2 ? UOP_pred_to_u16 : UOP_pred_to_u32,
                                   d.row, row, 0, 0);
    u->e = truth;
    lower_finish(L, &d);
    return true;
}

static bool set(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[1];
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t),
        row = lower_temp(L, 4);
    lower_emit(L, compare_of(i->op, t), row, a, b, 0);
    return set_result(L, i, row);
}

/* The order of the families in emu/ops/uops_int.def. */
#define FOLLOWS(next, before)                                                                      \
    _Static_assert((int)UOP_##next == (int)UOP_##before + 1,                                       \
                   "emu/ops/uops_int.def: " #next " must follow " #before)
/* u16 u32 u64, as by_width() has them */
#define BY_WIDTH(op)                                                                               \
    FOLLOWS(op##_u32, op##_u16);                                                                   \
    FOLLOWS(op##_u64, op##_u32)
/* s16 s32 s64, likewise */
#define BY_WIDTH_SIGNED(op)                                                                        \
    FOLLOWS(op##_s32, op##_s16);                                                                   \
    FOLLOWS(op##_s64, op##_s32)
/* u16 s16 u32 s32, as by_type() has them; and u32 s32 u64 s64 */
#define BY_TYPE_16_32(op)                                                                          \
    FOLLOWS(op##_s16, op##_u16);                                                                   \
    FOLLOWS(op##_u32, op##_s16);                                                                   \
    FOLLOWS(op##_s32, op##_u32)
#define BY_TYPE_32_64(op)                                                                          \
    FOLLOWS(op##_s32, op##_u32);                                                                   \
    FOLLOWS(op##_u64, op##_s32);                                                                   \
    FOLLOWS(op##_s64, op##_u64)
#define BY_TYPE(op)                                                                                \
    FOLLOWS(op##_s16, op##_u16);                                                                   \
    FOLLOWS(op##_u32, op##_s16);                                                                   \
    BY_TYPE_32_64(op)

BY_WIDTH(add);
BY_WIDTH(sub);
BY_WIDTH(mul);
BY_WIDTH(mad);
BY_WIDTH(addc);
BY_WIDTH(subc);
BY_WIDTH(and);
BY_WIDTH(or);
BY_WIDTH(xor);
BY_WIDTH(not );
BY_WIDTH(cnot);
BY_WIDTH(shl);
BY_WIDTH_SIGNED(abs);
BY_WIDTH_SIGNED(neg);
BY_TYPE_16_32(mulwide);
BY_TYPE_16_32(madwide);
BY_TYPE_32_64(bfind);
BY_TYPE_32_64(bfe);
BY_TYPE(mulhi);
BY_TYPE(sad);
BY_TYPE(div);
BY_TYPE(rem);
BY_TYPE(min);
BY_TYPE(max);
BY_TYPE(shr);
BY_TYPE(seteq);
BY_TYPE(setne);
BY_TYPE(setlt);
BY_TYPE(setle);
BY_TYPE(setgt);
BY_TYPE(setge);
FOLLOWS(mul24lo_s32, mul24lo_u32); /* mul24(), SIGN_ONLY in mul_add() */
FOLLOWS(mul24hi_s32, mul24hi_u32);
FOLLOWS(carry_u64, carry_u32); /* with_carry() */
FOLLOWS(carryc_u64, carryc_u32);
FOLLOWS(borrow_u64, borrow_u32);
FOLLOWS(borrowc_u64, borrowc_u32);
FOLLOWS(popc_u64, popc_u32); /* count_bits() */
FOLLOWS(clz_u64, clz_u32);
FOLLOWS(brev_u64, brev_u32);      /* by_width(), of u32 and u64 alone */
FOLLOWS(shf_l_clamp, shf_l_wrap); /* funnel() */
FOLLOWS(shf_r_clamp, shf_r_wrap);
_Static_assert(UOP_COUNT <= 1 << 16, "flags stand above the micro-operation in a rule's data");
_Static_assert((int)UOP_min_s16x2 > (int)UOP_min_u16x2 && (int)UOP_max_s16x2 > (int)UOP_max_u16x2,
               "FAR() has the distance between them");

#define FAR(a, b) ((UOP_##b - UOP_##a) << 16 | UOP_##a)
const struct lower_rule lower_int_rules[] = {
    {PTX_F_add_int, width2, UOP_add_u16},
    {PTX_F_add_sat, as_is2, UOP_addsat_s32},
    {PTX_F_add_x2, as_is2, UOP_add_x2},
    {PTX_F_sub_int, width2, UOP_sub_u16},
    {PTX_F_sub_sat, as_is2, UOP_subsat_s32},
    {PTX_F_mul_hi, typed2, UOP_mulhi_u16},
    {PTX_F_mul_lo, width2, UOP_mul_u16},
    {PTX_F_mul_wide, mul_wide, UOP_mulwide_u16},
    {PTX_F_mad_hi, mul_add, UOP_mulhi_u16},
    {PTX_F_mad_hi_sat, mul_add, UOP_mulhi_u16 | SATURATES},
    {PTX_F_mad_lo, width3, UOP_mad_u16},
    {PTX_F_mad_wide, mul_wide, UOP_madwide_u16},
    {PTX_F_mul24_hi, mul24, UOP_mul24hi_u32},
    {PTX_F_mul24_lo, mul24, UOP_mul24lo_u32},
    {PTX_F_mad24_hi, mul_add, UOP_mul24hi_u32 | SIGN_ONLY},
    {PTX_F_mad24_his, mul_add, UOP_mul24hi_u32 | SIGN_ONLY | SATURATES},
    {PTX_F_mad24_lo, mul_add, UOP_mul24lo_u32 | SIGN_ONLY},
    {PTX_F_dp4a, dot, UOP_dp4a},
    {PTX_F_dp2a_lo, dot, UOP_dp2a},
    {PTX_F_dp2a_hi, dot, UOP_dp2a | 1 << 16},
    {PTX_F_add_cc, with_carry, OUT_CARRY},
    {PTX_F_addc, with_carry, IN_CARRY},
    {PTX_F_addc_sat, with_carry, IN_CARRY | SATURATES},
    {PTX_F_addc_cc, with_carry, IN_CARRY | OUT_CARRY},
    {PTX_F_sub_cc, with_carry, 1 | OUT_CARRY},
    {PTX_F_subc, with_carry, 1 | IN_CARRY},
    {PTX_F_subc_sat, with_carry, 1 | IN_CARRY | SATURATES},
    {PTX_F_subc_cc, with_carry, 1 | IN_CARRY | OUT_CARRY},
    {PTX_F_mad_hi_cc, mul_add, UOP_mulhi_u16 | OUT_CARRY},
    {PTX_F_mad_lo_cc, mul_add, UOP_mul_u16 | LOW | OUT_CARRY},
    {PTX_F_madc_hi, mul_add, UOP_mulhi_u16 | IN_CARRY},
    {PTX_F_madc_hi_sat, mul_add, UOP_mulhi_u16 | IN_CARRY | SATURATES},
    {PTX_F_madc_lo, mul_add, UOP_mul_u16 | LOW | IN_CARRY},
    {PTX_F_madc_hi_cc, mul_add, UOP_mulhi_u16 | IN_CARRY | OUT_CARRY},
    {PTX_F_madc_lo_cc, mul_add, UOP_mul_u16 | LOW | IN_CARRY | OUT_CARRY},
    {PTX_F_sad, typed3, UOP_sad_u16},
    {PTX_F_div_int, typed2, UOP_div_u16},
    {PTX_F_rem, typed2, UOP_rem_u16},
    {PTX_F_abs_int, width1, UOP_abs_s16},
    {PTX_F_neg_int, width1, UOP_neg_s16},
    {PTX_F_min_int, typed2, UOP_min_u16},
    {PTX_F_min_relu, relu, UOP_min_s32},
    {PTX_F_min_x2, halves, FAR(min_u16x2, min_s16x2)},
    {PTX_F_min_x2_relu, as_is2, UOP_min_relu_s16x2},
    {PTX_F_max_int, typed2, UOP_max_u16},
    {PTX_F_max_relu, relu, UOP_max_s32},
    {PTX_F_max_x2, halves, FAR(max_u16x2, max_s16x2)},
    {PTX_F_max_x2_relu, as_is2, UOP_max_relu_s16x2},
    {PTX_F_popc, count_bits, UOP_popc_u32},
    {PTX_F_clz, count_bits, UOP_clz_u32},
    {PTX_F_bfind, bfind, 0},
    {PTX_F_fns, fns, 0},
    {PTX_F_brev, width1, UOP_brev_u32 - 1},
    {PTX_F_bfe, bfe, 0},
    {PTX_F_bfi, bfi, 0},
    {PTX_F_bmsk, clamped, UOP_bmsk},
    {PTX_F_szext, clamped, UOP_szext},
    {PTX_F_and, width2, UOP_and_u16},
    {PTX_F_or, width2, UOP_or_u16},
    {PTX_F_xor, width2, UOP_xor_u16},
    {PTX_F_not, width1, UOP_not_u16},
    {PTX_F_cnot, width1, UOP_cnot_u16},
    {PTX_F_lop3, lop3, 0},
    {PTX_F_lop3_bool, lop3, 1},
    {PTX_F_shf_l, funnel, UOP_shf_l_wrap},
    {PTX_F_shf_r, funnel, UOP_shf_r_wrap},
    {PTX_F_shl, shift, UOP_shl_u16},
    {PTX_F_shr, shift, UOP_shr_u16},
    {PTX_F_prmt, prmt, 0},
    {PTX_F_setp_u, setp, 0},
    {PTX_F_setp_s, setp, 0},
    {PTX_F_setp_b, setp, 0},
    {PTX_F_set_u, set, 0},
    {PTX_F_set_s, set, 0},
    {PTX_F_set_b, set, 0},
    {PTX_F_setb_u, set, 0},
    {PTX_F_setb_s, set, 0},
    {PTX_F_setb_b, set, 0},
    {0, NULL, 0},
};
