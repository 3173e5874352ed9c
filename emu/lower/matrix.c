/* mma, mma.sp, wmma, ldmatrix, stmatrix, movmatrix. */
#include "emu/lower/lower.h"

#include "emu/ops/fp.h"
#include "emu/ops/matrixops.h"

#include <string.h>

/* The opcode's mMnNkK. */
struct shape {
    u32 m, n, k;
};
static struct shape shape_of(const struct ptx_op *op)
{
    struct shape s;
    return ptx_op_matrix(op, &s.m, &s.n, &s.k) ? s : (struct shape){8, 8, 4};
}

/* Elements of vectors, with or without braces. */
static const struct ptx_opnd *element(const struct ptx_opnd *o, u32 n)
{
    return o->kind == PTX_OPND_VEC ? &o->elem[n] : o;
}

static u32 elements(const struct ptx_opnd *o)
{
    return o->kind == PTX_OPND_VEC ? o->count : 1;
}

/* The type of a register that holds elements of a type. */
static unsigned register_type(unsigned type)
{
    return type == PTX_f64 || type == PTX_f32 || type == PTX_s32 ? type : PTX_b32;
}

static bool sources(struct lower *L, const struct ptx_opnd *o, unsigned type, u32 *rows)
{
    if (elements(o) > MMA_REGS) return lower_refuse(L, "more registers than a matrix has");
    for (u32 n = 0; n < elements(o); n++)
        rows[n] = lower_source(L, element(o, n), register_type(type));
    return true;
}

struct results {
    struct lower_dest d[MMA_REGS];
    u32 count;
};
static bool results(struct lower *L, const struct ptx_opnd *o, unsigned type, u32 *rows,
                    struct results *r)
{
    r->count = elements(o);
    if (r->count > MMA_REGS) return lower_refuse(L, "more registers than a matrix has");
    for (u32 n = 0; n < r->count; n++) {
        r->d[n] = lower_dest(L, element(o, n), register_type(type));
        rows[n] = r->d[n].row;
    }
    return true;
}

static void finish(struct lower *L, const struct results *r)
{
    for (u32 n = 0; n < r->count; n++) lower_finish(L, &r->d[n]);
}

/* ---- products ------------------------------------------------------------------------------------ */

static enum fp_rnd rounding(const struct ptx_op *op)
{
    return ptx_op_has(op, "rz")   ? FP_RZ
           : ptx_op_has(op, "rm") ? FP_RM
           : ptx_op_has(op, "rp") ? FP_RP
                                  : FP_RN;
}

/* The layouts of A and B: two words, in this order. */
static void layouts(const struct ptx_op *op, struct mma_desc *d)
{
    u32 n = 0;
    const char *end = op->text + op->text_length;
    for (const char *p = op->text; p + 4 <= end; p++) {
        bool row = memcmp(p, ".row", 4) == 0, col = memcmp(p, ".col", 4) == 0;
        if (!row && !col) continue;
        if (n++ == 0) d->a_col = col;
        else d->b_col = col;
    }
}

/* data: a wmma.mma that names only D and C, which are f16 or f32; A and B are f16. */
enum { TYPES_DABC, TYPES_DC };

static bool lower_mma(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    struct shape s = shape_of(op);
    struct mma_desc *d = lower_alloc(L, sizeof *d);
    d->m = (u8)s.m;
    d->n = (u8)s.n;
    d->k = (u16)s.k;
    d->d = op->type[0];
    d->a = d->b = PTX_f16;
    if (lower_data(L) == TYPES_DC) {
        d->c = op->type[1];
    } else {
        d->a = op->type[1];
        d->b = op->type[2];
        d->c = op->type[3];
    }
    d->saturate = ptx_op_has(op, "satfinite");
    d->rnd = (u8)rounding(op);
    d->conjunction = ptx_op_has(op, "and");
    d->sparse = ptx_op_has(op, "sp") || ptx_op_has(op, "sp::ordered_metadata");
    if (!sources(L, &i->opnds[1], d->a, d->a_rows)) return false;
    if (!sources(L, &i->opnds[2], d->b, d->b_rows)) return false;
    if (!sources(L, &i->opnds[3], d->c, d->c_rows)) return false;
    if (d->sparse) {
        d->meta = lower_source(L, &i->opnds[4], PTX_b32);
        d->selector = (u8)i->opnds[5].bits;
    }
    unsigned id = d->a == PTX_f64 ? UOP_mma_f64 : d->a == PTX_b1 ? UOP_mma_b1 : UOP_mma_mixed;
    if (s.m == 8 && s.k == 4 && d->a == PTX_f16) {
        layouts(op, d);
        id = UOP_mma_quads;
    }
    struct results r;
    if (!results(L, &i->opnds[0], d->d, d->d_rows, &r)) return false;
    lower_emit(L, id, 0, 0, 0, 0)->ext = d;
    finish(L, &r);
    return true;
}

/* ---- memory -------------------------------------------------------------------------------------- */

static bool address(struct lower *L, const struct ptx_opnd *o, const struct ptx_op *op,
                    struct matrix_desc *d)
{
    struct lower_address a = lower_address(L, o, op->space);
    if (a.is_local_param) return lower_refuse(L, "the matrix is not in global or shared memory");
    d->space = a.space;
    d->address = a.row;
    d->address_bytes = a.bytes;
    d->offset = a.offset;
    return true;
}

static void emit(struct lower *L, unsigned id, bool store, struct matrix_desc *d)
{
    u32 site = lower_site(L, store ? SITE_STORE : SITE_LOAD, d->space);
    struct emu_uop *u = lower_emit(L, id, 0, 0, 0, 0);
    u->ext = d;
    u->site = site;
}

static bool lower_ldmatrix(struct lower *L, const struct ptx_inst *i)
{
    bool store = lower_data(L);
    const struct ptx_opnd *regs = &i->opnds[store ? 1 : 0];
    struct matrix_desc *d = lower_alloc(L, sizeof *d);
    struct results r = {.count = 0};
    if (!address(L, &i->opnds[store ? 0 : 1], i->op, d)) return false;
    d->trans = ptx_op_has(i->op, "trans");
    d->regs = d->distinct = (u8)elements(regs);
    if (store ? !sources(L, regs, PTX_b32, d->rows) : !results(L, regs, PTX_b32, d->rows, &r))
        return false;
    emit(L, store ? UOP_stmatrix : UOP_ldmatrix, store, d);
    finish(L, &r);
    return true;
}

static bool lower_movmatrix(struct lower *L, const struct ptx_inst *i)
{
    u32 a = lower_source(L, element(&i->opnds[1], 0), PTX_b32);
    struct lower_dest d = lower_dest(L, element(&i->opnds[0], 0), PTX_b32);
    lower_emit(L, UOP_movmatrix, d.row, a, 0, 0);
    lower_finish(L, &d);
    return true;
}

enum part { PART_A, PART_B, PART_C, PART_D };

/* Where element e of a lane's register r is: emu/ops/matrixops.h. */
static void place_of(enum part part, const struct shape *s, u32 bits, u32 r, u32 l, u32 e, u32 *row,
                     u32 *col)
{
    u32 per = bits < 32 ? 32 / bits : 1, g = l / 4, k = l % 4 * per + e;
    if (part == PART_A) {
        u32 each = s->k / (4 * per) * (s->m == 8 ? 1 : 2), tile = r / each, at = r % each;
        *row = s->m == 8 ? g : tile * 16 + at % 2 * 8 + g;
        *col = (s->m == 8 ? at : at / 2) * 4 * per + k;
    } else if (part == PART_B) {
        u32 each = s->k / (4 * per);
        *row = r % each * 4 * per + k;
        *col = r / each * 8 + g;
    } else {
        u32 block = bits == 16 ? r : r / 2, h = bits == 16 ? e : r % 2, tiles = s->n / 8;
        *row = s->m == 8 ? g : block / 2 / tiles * 16 + block % 2 * 8 + g;
        *col = (s->m == 8 ? block : block / 2 % tiles) * 8 + l % 4 * 2 + h;
    }
}

static void place_all(struct lower *L, struct matrix_desc *d, enum part part, const struct shape *s,
                      bool col)
{
    u32 per = d->bits < 32 ? 32u / d->bits : 1;
    u32 step = (part == PART_B) == col ? per : 1; /* side by side in memory, too */
    d->piece = (u8)(step * d->bits / 8);
    d->pieces = (u8)(per / step);
    struct matrix_place *p = lower_alloc(L, sizeof *p * d->distinct * LANES * d->pieces);
    d->places = p;
    for (u32 r = 0; r < d->distinct; r++)
        for (u32 l = 0; l < LANES; l++)
            for (u32 e = 0; e < per; e += step, p++) {
                u32 row, column;
                place_of(part, s, d->bits, r, l, e, &row, &column);
                p->line = (u8)(col ? column : row);
                p->from = (u8)((col ? row : column) * d->bits / 8);
            }
}

/* Whether piece e of lane l of register r lies where a form says, given where the register's lines begin. */
static bool has_form(const struct matrix_desc *d, enum matrix_form form)
{
    const u32 step = form == MATRIX_PAIRS ? 2 : 1;
    if (d->bits == 64 || d->distinct % step || d->piece * d->pieces != 4 ||
        d->piece != (form == MATRIX_COLUMNS ? 2 : 4))
        return false;
    for (u32 r = 0; r < d->distinct; r++)
        for (u32 l = 0; l < LANES; l++)
            for (u32 e = 0; e < d->pieces; e++) {
                const struct matrix_place *first = &d->places[r / step * step * LANES * d->pieces],
                                          *p = &d->places[(r * LANES + l) * d->pieces + e];
                const u32 line = form == MATRIX_COLUMNS ? l % 4 * 2 + e : l / 4,
                          from = form == MATRIX_ROWS      ? l % 4 * 4
                                 : form == MATRIX_COLUMNS ? l / 4 * 2
                                                          : l % 4 * 8 + r % 2 * 4;
                if (p->line != first->line + line || p->from != first->from + from) return false;
            }
    return true;
}

static void find_form(struct matrix_desc *d)
{
    d->form = MATRIX_PIECES;
    for (int form = MATRIX_ROWS; form <= MATRIX_PAIRS; form++)
        if (has_form(d, (enum matrix_form)form)) d->form = (u8)form;
    for (u32 r = 0; r < d->distinct; r++) {
        const struct matrix_place *p = &d->places[r * LANES * d->pieces];
        d->blocks[r] = (struct matrix_block){p->line, p->from};
    }
}

static bool lower_wmma_memory(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    enum part part = (enum part)lower_data(L);
    bool store = part == PART_D, col = ptx_op_has(op, "col");
    struct shape s = shape_of(op);
    const struct ptx_opnd *regs = &i->opnds[store ? 1 : 0];
    struct matrix_desc *d = lower_alloc(L, sizeof *d);
    struct results r = {.count = 0};
    unsigned type = op->type[0];
    u32 rows = part == PART_B ? s.k : s.m, cols = part == PART_A ? s.k : s.n;
    if (!address(L, &i->opnds[store ? 0 : 1], op, d)) return false;
    d->bits = (u8)(type == PTX_tf32 ? 32 : ptx_types[type].bits);
    d->lines = (u8)(col ? cols : rows);
    d->length = (u8)(col ? rows : cols);
    d->regs = (u8)elements(regs);
    d->distinct = (u8)(rows * cols / LANES * d->bits / (d->bits == 64 ? 64 : 32));
    if (d->distinct > d->regs) return lower_refuse(L, "fewer registers than the matrix needs");
    if (i->count > 2) {
        d->has_stride = true;
        d->stride = lower_source(L, &i->opnds[2], PTX_u32);
    }
    if (store ? !sources(L, regs, type, d->rows) : !results(L, regs, type, d->rows, &r))
        return false;
    place_all(L, d, part, &s, col);
    find_form(d);
    emit(L, store ? UOP_wmma_store : UOP_wmma_load, store, d);
    finish(L, &r);
    return true;
}

#define LOAD_AB(id)                                                                                \
    {PTX_F_wmma_load_##id##_a, lower_wmma_memory, PART_A},                                         \
    {                                                                                              \
        PTX_F_wmma_load_##id##_b, lower_wmma_memory, PART_B                                        \
    }
#define LOAD_STORE(id)                                                                             \
    {PTX_F_wmma_load_##id, lower_wmma_memory, PART_C},                                             \
    {                                                                                              \
        PTX_F_wmma_store_##id, lower_wmma_memory, PART_D                                           \
    }
#define MMA(id)                                                                                    \
    {                                                                                              \
        PTX_F_##id, lower_mma, TYPES_DABC                                                          \
    }
const struct lower_rule lower_matrix_rules[] = {
    LOAD_AB(f16),
    LOAD_AB(bf16),
    LOAD_AB(tf32),
    LOAD_AB(f64),
    LOAD_AB(i8),
    {PTX_F_wmma_load_i8_m_a, lower_wmma_memory, PART_A},
    {PTX_F_wmma_load_i8_m_b, lower_wmma_memory, PART_B},
    {PTX_F_wmma_load_i8_n_a, lower_wmma_memory, PART_A},
    {PTX_F_wmma_load_i8_n_b, lower_wmma_memory, PART_B},
    LOAD_AB(i4),
    LOAD_AB(b1),
    LOAD_STORE(c_f16),
    LOAD_STORE(c_f32),
    LOAD_STORE(c_s32),
    LOAD_STORE(c_f64),
    {PTX_F_wmma_load_old_a, lower_wmma_memory, PART_A},
    {PTX_F_wmma_load_old_b, lower_wmma_memory, PART_B},
    {PTX_F_wmma_load_old_c, lower_wmma_memory, PART_C},
    {PTX_F_wmma_store_old, lower_wmma_memory, PART_D},
    {PTX_F_wmma_f16, lower_mma, TYPES_DC},
    {PTX_F_wmma_f16_sat, lower_mma, TYPES_DC},
    {PTX_F_wmma_old, lower_mma, TYPES_DC},
    MMA(wmma_bf16),
    MMA(wmma_tf32),
    MMA(wmma_f64),
    MMA(wmma_s8),
    MMA(wmma_u8),
    MMA(wmma_s4),
    MMA(wmma_u4),
    MMA(wmma_b1),
    {PTX_F_ldmatrix, lower_ldmatrix, 0},
    {PTX_F_stmatrix, lower_ldmatrix, 1},
    {PTX_F_movmatrix, lower_movmatrix, 0},
    MMA(mma_m8n8k4_f16),
    MMA(mma_m8n8k4_f32_f16),
    MMA(mma_m8n8k4_f32),
    MMA(mma_f16),
    MMA(mma_f16_f32),
    MMA(mma_bf16),
    MMA(mma_tf32),
    MMA(mma_f64),
    MMA(mma_i8),
    MMA(mma_i4),
    MMA(mma_b1_m8),
    MMA(mma_b1),
    MMA(mma_f8_f16),
    MMA(mma_f8_f32),
    MMA(mma_sp_f16_k16),
    MMA(mma_sp_f16_k32),
    MMA(mma_sp_f16_f32_k16),
    MMA(mma_sp_f16_f32_k32),
    MMA(mma_sp_bf16_k16),
    MMA(mma_sp_bf16_k32),
    MMA(mma_sp_tf32_k8),
    MMA(mma_sp_tf32_k16),
    MMA(mma_sp_i8_k32),
    MMA(mma_sp_i8_k64),
    MMA(mma_sp_i4_k64),
    MMA(mma_sp_i4_k128),
    MMA(mma_sp_f8),
    {0, NULL, 0},
};
