/* Moves, selection, packing and unpacking, conversion of addresses between state spaces. */
#include "emu/lower/float.h"

#include "ptx/ptx.h"

#include <string.h>

static u32 mov_of(unsigned bytes)
{
    return bytes == 2 ? UOP_mov_u16 : bytes == 4 ? UOP_mov_u32 : UOP_mov_u64;
}

static void copy(struct lower *L, u32 d, u32 a, unsigned bytes)
{
    lower_emit(L, mov_of(bytes), d, a, 0, 0);
    if (bytes == 16) lower_emit(L, UOP_mov_u64, d + ROW * 8, a + ROW * 8, 0, 0);
}

static bool mov(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0];
    u32 a = lower_source(L, &i->opnds[1], t);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    copy(L, d.row, a, lower_type_bytes(t));
    lower_finish(L, &d);
    return true;
}

/* mov.v2, mov.v4: component by component; the source may be a vector register written without one. */
static struct ptx_opnd component(const struct ptx_opnd *o, u32 k)
{
    if (o->kind == PTX_OPND_VEC) return o->elem[k];
    struct ptx_opnd e = *o;
    e.sel = (u8)(PTX_SEL_X + k);
    return e;
}
static bool mov_vec(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    u32 rows[4], count = i->op->vec;
    if (count > 4) return lower_refuse(L, "vectors of more than four");
    for (u32 k = 0; k < count; k++) {
        struct ptx_opnd o = component(&i->opnds[1], k);
        u32 a = lower_source(L, &o, t);
        rows[k] = lower_temp(L, n);
        copy(L, rows[k], a, n);
    }
    for (u32 k = 0; k < count; k++) {
        struct ptx_opnd o = component(&i->opnds[0], k);
        struct lower_dest d = lower_dest(L, &o, t);
        copy(L, d.row, rows[k], n);
        lower_finish(L, &d);
    }
    return true;
}

static unsigned bits_type(unsigned bits)
{
    return bits == 8 ? PTX_b8 : bits == 16 ? PTX_b16 : bits == 32 ? PTX_b32 : PTX_b64;
}

/* Two rows of n bits (in their rows' low bits) -> one of 2n. */
static u32 pair(struct lower *L, unsigned bits, u32 low, u32 high)
{
    u32 d = lower_temp(L, bits / 4);
    lower_emit(L,
               bits == 8    ? UOP_pack_u8x2
               : bits == 16 ? UOP_pack_u16x2
                            : UOP_pack_u32x2,
               d, low, high, 0);
    return d;
}

static bool pack(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], bits = ptx_types[t].bits;
    const struct ptx_opnd *v = &i->opnds[1];
    u32 n = v->count, rows[4];
    if (v->kind != PTX_OPND_VEC || (n != 2 && n != 4))
        return lower_refuse(L, "a vector of two or four was expected");
    for (u32 k = 0; k < n; k++) rows[k] = lower_source(L, &v->elem[k], bits_type(bits / n));
    if (n == 4 && bits <= 128) {
        rows[0] = pair(L, bits / 4, rows[0], rows[1]);
        rows[1] = pair(L, bits / 4, rows[2], rows[3]);
    }
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    if (bits == 128) {
        u32 both = lower_temp(L, 16); /* the destination may be among the sources */
        copy(L, both, rows[0], 8);
        copy(L, both + ROW * 8, rows[1], 8);
        copy(L, d.row, both, 16);
    } else copy(L, d.row, pair(L, bits / 2, rows[0], rows[1]), bits / 8);
    lower_finish(L, &d);
    return true;
}

/* Bits from `shift` on of a row of `bytes`, n bits of them. */
static u32 part(struct lower *L, u32 row, unsigned bytes, u32 shift, unsigned n)
{
    if (bytes == 16) {
        row += shift / 64 * ROW * 8;
        shift %= 64;
        bytes = 8;
        if (n == 64) return row;
    }
    u32 d = lower_temp(L, n <= 16 ? 2 : n / 8);
    unsigned id = n == 32      ? UOP_unpack_u32_u64
                  : n == 16    ? bytes == 8 ? UOP_unpack_u16_u64 : UOP_unpack_u16_u32
                  : bytes == 4 ? UOP_unpack_u8_u32
                               : UOP_unpack_u8_u16;
    lower_emit(L, id, d, row, 0, 0)->x = (u8)shift;
    return d;
}

static bool unpack(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], bits = ptx_types[t].bits;
    const struct ptx_opnd *v = &i->opnds[0];
    u32 n = v->count, rows[4];
    if (v->kind != PTX_OPND_VEC || (n != 2 && n != 4))
        return lower_refuse(L, "a vector of two or four was expected");
    u32 a = lower_source(L, &i->opnds[1], t);
    for (u32 k = 0; k < n; k++) rows[k] = part(L, a, lower_type_bytes(t), k * bits / n, bits / n);
    if (bits == 128 && n == 2) { /* the parts are rows of the source, which may be written below */
        for (u32 k = 0; k < 2; k++) {
            u32 r = lower_temp(L, 8);
            copy(L, r, rows[k], 8);
            rows[k] = r;
        }
    }
    for (u32 k = 0; k < n; k++) {
        if (v->elem[k].kind == PTX_OPND_SINK) continue;
        struct lower_dest d = lower_dest(L, &v->elem[k], bits_type(bits / n));
        copy(L, d.row, rows[k], bits / n <= 16 ? 2 : bits / n / 8);
        lower_finish(L, &d);
    }
    return true;
}

static bool selp(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    u32 c = lower_predicate(L, &i->opnds[3]);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    lower_emit(L, n == 2 ? UOP_selp_u16 : n == 4 ? UOP_selp_u32 : UOP_selp_u64, d.row, a, b, c);
    lower_finish(L, &d);
    return true;
}

static bool slct(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    u32 a = lower_source(L, &i->opnds[1], t), b = lower_source(L, &i->opnds[2], t);
    u32 c = lower_source(L, &i->opnds[3], lower_data(L) ? PTX_f32 : PTX_s32), p = lower_temp(L, 4);
    lower_emit(L,
               !lower_data(L)            ? UOP_not_negative_s32
               : lower_flushes(L, i->op) ? UOP_not_negative_ftz_f32
                                         : UOP_not_negative_f32,
               p, c, 0, 0);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    lower_emit(L, n == 2 ? UOP_selp_u16 : n == 4 ? UOP_selp_u32 : UOP_selp_u64, d.row, a, b, p);
    lower_finish(L, &d);
    return true;
}

/* ---- addresses -------------------------------------------------------------------------------------- */

/* Where a space begins in the generic one. A function's parameters lie in .local memory. */
static u64 window_of(const struct lower *L, const struct ptx_op *op)
{
    if (op->space == PTX_SPACE_LOCAL) return MEM_LOCAL;
    if (op->space == PTX_SPACE_PARAM || ptx_op_has(op, "param") || ptx_op_has(op, "param::entry"))
        return lower_is_kernel(L) ? MEM_PARAM : MEM_LOCAL;
    return 0;
}

static bool cvta(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    bool to = lower_data(L);
    u32 a = lower_source(L, &i->opnds[1], t);
    struct lower_dest d = lower_dest(L, &i->opnds[0], t);
    if (i->op->space == PTX_SPACE_SHARED || i->op->space == PTX_SPACE_SHARED_CLUSTER) {
        struct emu_uop *u = lower_emit(L, UOP_window, d.row, a, 0, 0);
        u->x = to;
        u->y = (u8)n;
    } else {
        u64 window = window_of(L, i->op);
        struct emu_uop *u = lower_emit(
            L, window ? n == 8 ? UOP_offset_u64 : UOP_offset_u32 : mov_of(n), d.row, a, 0, 0);
        u->bits = to ? -window : window;
    }
    lower_finish(L, &d);
    return true;
}

static bool isspacep(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = lower_data(L);
    u64 low, size;
    switch (i->op->space) {
    case PTX_SPACE_SHARED: low = size = 0; break;
    case PTX_SPACE_SHARED_CLUSTER: low = MEM_SHARED, size = MEM_LOCAL - MEM_SHARED; break;
    case PTX_SPACE_LOCAL: low = MEM_LOCAL, size = MEM_PARAM - MEM_LOCAL; break;
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST: low = size = 0; break;
    default: low = MEM_PARAM, size = MEM_CODE - MEM_PARAM;
    }
    u32 a = lower_source(L, &i->opnds[1], t);
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_pred);
    if (!size) {
        struct emu_uop *s = lower_emit(L, UOP_space, d.row, a, 0, 0);
        s->x = i->op->space == PTX_SPACE_CONST ? 1 : i->op->space == PTX_SPACE_SHARED ? 2 : 0;
        s->y = (u8)lower_type_bytes(t);
        return true;
    }
    struct emu_uop *u = lower_emit(L, t == PTX_u64 ? UOP_within_u64 : UOP_within_u32, d.row, a, 0,
                                   0);
    u->bits = low;
    u->e = (u32)size;
    return true;
}

/* mapa, getctarank: addresses of shared memory of a cluster. */
static bool mapa(struct lower *L, const struct ptx_inst *i)
{
    unsigned t = i->op->type[0], n = lower_type_bytes(t);
    bool rank = lower_data(L);
    u32 a = lower_source(L, &i->opnds[1], t), b = rank ? 0 : lower_source(L, &i->opnds[2], PTX_u32);
    struct lower_dest d = lower_dest(L, &i->opnds[0], rank ? PTX_u32 : t);
    struct emu_uop *u = lower_emit(L, UOP_window, d.row, a, b, 0);
    u->x = rank ? 3 : 2;
    u->y = (u8)n;
    u->z = i->op->space != PTX_SPACE_SHARED_CLUSTER;
    lower_finish(L, &d);
    return true;
}

const struct lower_rule lower_move_rules[] = {{PTX_F_mov, mov, 0},
                                              {PTX_F_mov_f, mov, 0},
                                              {PTX_F_mov_pred, mov, 0},
                                              {PTX_F_mov_b128, mov, 0},
                                              {PTX_F_pack16, pack, 0},
                                              {PTX_F_pack32_2, pack, 0},
                                              {PTX_F_pack32_4, pack, 0},
                                              {PTX_F_pack64_2, pack, 0},
                                              {PTX_F_pack64_4, pack, 0},
                                              {PTX_F_pack128_2, pack, 0},
                                              {PTX_F_pack128_4, pack, 0},
                                              {PTX_F_unpack16, unpack, 0},
                                              {PTX_F_unpack32_2, unpack, 0},
                                              {PTX_F_unpack32_4, unpack, 0},
                                              {PTX_F_unpack64_2, unpack, 0},
                                              {PTX_F_unpack64_4, unpack, 0},
                                              {PTX_F_unpack128_2, unpack, 0},
                                              {PTX_F_unpack128_4, unpack, 0},
                                              {PTX_F_mov_vec, mov_vec, 0},
                                              {PTX_F_mov_vec_f, mov_vec, 0},
                                              {PTX_F_selp, selp, 0},
                                              {PTX_F_slct, slct, 0},
                                              {PTX_F_slct_f32, slct, 1},
                                              {PTX_F_cvta, cvta, 0},
                                              {PTX_F_cvta_to, cvta, 1},
                                              {PTX_F_isspacep_64, isspacep, PTX_u64},
                                              {PTX_F_isspacep_32, isspacep, PTX_u32},
                                              {PTX_F_mapa, mapa, 0},
                                              {PTX_F_getctarank, mapa, 1},
                                              {0, NULL, 0}};
