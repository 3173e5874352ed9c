/* shfl, vote, match, redux, activemask, elect; nanosleep and pmevent, which have no effect. */
#include "emu/lower/lower.h"

#include "emu/lower/context.h"
#include "emu/ops/warpops.h"

/* Whether a row of r32 holds a constant: a literal, or a register that is only ever one. */
static bool constant_of(const struct lower *L, u32 row, u32 *value)
{
    for (u32 k = 0; k < L->fills.count; k++) {
        const struct emu_fill *f = &L->fills.list[k];
        if (f->row != row || f->width != 4 || f->kind != FILL_BITS) continue;
        *value = (u32)f->bits;
        return true;
    }
    return false;
}

static bool source_constant(struct lower *L, const struct ptx_opnd *o, u32 *row, u32 *value)
{
    if (o->kind == PTX_OPND_INT) {
        *value = (u32)o->bits;
        return true;
    }
    *row = lower_source(L, o, PTX_u32);
    return constant_of(L, *row, value);
}

struct mask { /* of .sync: uop->x and imm */
    u8 kind;
    u32 at;
};

/* The member mask is operand `n`, if there is one. */
static struct mask mask_of(struct lower *L, const struct ptx_inst *i, unsigned n)
{
    struct mask m = {WARP_MASK_NONE, ~0u};
    if (i->count <= n) return m;
    u32 row, value;
    if (source_constant(L, &i->opnds[n], &row, &value))
        return (struct mask){WARP_MASK_CONST, value};
    return (struct mask){WARP_MASK_ROW, row};
}

/* d or d|p. */
struct results {
    struct lower_dest d, p;
    bool has_p;
};
static struct results results_of(struct lower *L, const struct ptx_opnd *o, unsigned type)
{
    struct results r = {.has_p = false};
    bool pair = o->kind == PTX_OPND_PAIR;
    r.d = lower_dest(L, pair ? &o->elem[0] : o, type);
    if (pair && o->elem[1].kind != PTX_OPND_SINK) {
        r.has_p = true;
        r.p = lower_dest(L, &o->elem[1], PTX_pred);
    }
    return r;
}

static struct emu_uop *emit(struct lower *L, unsigned id, const struct results *r, u32 a, u32 b,
                            u32 c, struct mask m)
{
    struct emu_uop *u = lower_emit(L, id, r->d.row, a, b, c);
    u->x = m.kind;
    u->imm = (i64)m.at;
    u->n = r->has_p;
    u->e = r->has_p ? r->p.row : 0;
    return u;
}

static void finish(struct lower *L, const struct results *r)
{
    lower_finish(L, &r->d);
    if (r->has_p) lower_finish(L, &r->p);
}

static bool lower_shfl(struct lower *L, const struct ptx_inst *i)
{
    enum shfl_mode mode = ptx_op_has(i->op, "up")     ? SHFL_UP
                          : ptx_op_has(i->op, "down") ? SHFL_DOWN
                          : ptx_op_has(i->op, "bfly") ? SHFL_BFLY
                                                      : SHFL_IDX;
    static const u16 by_rows[] = {UOP_shfl_up, UOP_shfl_down, UOP_shfl_bfly, UOP_shfl_idx};
    u32 a = lower_source(L, &i->opnds[1], PTX_b32), b = 0, c = 0, by = 0, clamp = 0;
    bool fixed = source_constant(L, &i->opnds[2], &b, &by);
    fixed = source_constant(L, &i->opnds[3], &c, &clamp) && fixed;
    if (!fixed) {
        b = lower_source(L, &i->opnds[2], PTX_u32);
        c = lower_source(L, &i->opnds[3], PTX_u32);
    }
    struct mask m = mask_of(L, i, 4);
    struct results r = results_of(L, &i->opnds[0], PTX_b32);
    if (!fixed) {
        emit(L, by_rows[mode], &r, a, b, c, m);
        finish(L, &r);
        return true;
    }
    struct shfl_desc *s = lower_alloc(L, sizeof *s);
    for (u32 l = 0; l < LANES; l++) {
        bool take;
        s->src[l] = warp_shfl_source(mode, l, by, clamp, &take);
        s->take[l] = take ? ~0u : 0;
    }
    emit(L, UOP_shfl, &r, a, 0, 0, m)->ext = s;
    finish(L, &r);
    return true;
}

/* data: ballot. */
static bool lower_vote(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    bool ballot = lower_data(L);
    unsigned id = ballot                  ? UOP_ballot
                  : ptx_op_has(op, "all") ? UOP_vote_all
                  : ptx_op_has(op, "any") ? UOP_vote_any
                                          : UOP_vote_uni;
    u32 a = lower_predicate(L, &i->opnds[1]);
    struct mask m = mask_of(L, i, 2);
    struct results r = results_of(L, &i->opnds[0], ballot ? PTX_b32 : PTX_pred);
    emit(L, id, &r, a, 0, 0, m);
    finish(L, &r);
    return true;
}

static bool lower_match(struct lower *L, const struct ptx_inst *i)
{
    bool all = lower_data(L), wide = i->op->type[0] == PTX_b64;
    u32 a = lower_source(L, &i->opnds[1], i->op->type[0]);
    struct mask m = mask_of(L, i, 2);
    struct results r = results_of(L, &i->opnds[0], PTX_u32);
    unsigned id = all    ? wide ? UOP_match_all_u64 : UOP_match_all_u32
                  : wide ? UOP_match_any_u64
                         : UOP_match_any_u32;
    emit(L, id, &r, a, 0, 0, m);
    finish(L, &r);
    return true;
}

static bool lower_redux(struct lower *L, const struct ptx_inst *i)
{
    const struct ptx_op *op = i->op;
    bool sign = op->type[0] == PTX_s32;
    unsigned id = ptx_op_has(op, "add")   ? UOP_redux_add
                  : ptx_op_has(op, "and") ? UOP_redux_and
                  : ptx_op_has(op, "or")  ? UOP_redux_or
                  : ptx_op_has(op, "xor") ? UOP_redux_xor
                  : ptx_op_has(op, "min") ? sign ? UOP_redux_min_i32 : UOP_redux_min_u32
                  : sign                  ? UOP_redux_max_i32
                                          : UOP_redux_max_u32;
    u32 a = lower_source(L, &i->opnds[1], PTX_u32);
    struct mask m = mask_of(L, i, 2);
    struct results r = results_of(L, &i->opnds[0], PTX_u32);
    emit(L, id, &r, a, 0, 0, m);
    finish(L, &r);
    return true;
}

static bool lower_elect(struct lower *L, const struct ptx_inst *i)
{
    struct mask m = mask_of(L, i, 1);
    const struct ptx_opnd *o = &i->opnds[0];
    struct results r = results_of(L, o, PTX_u32);
    if (!r.has_p) { /* written all the same */
        r.has_p = true;
        r.p = (struct lower_dest){.row = lower_temp(L, 4), .type = PTX_pred};
    }
    emit(L, UOP_elect, &r, 0, 0, 0, m);
    finish(L, &r);
    return true;
}

static bool lower_activemask(struct lower *L, const struct ptx_inst *i)
{
    struct lower_dest d = lower_dest(L, &i->opnds[0], PTX_b32);
    lower_emit(L, UOP_activemask, d.row, 0, 0, 0);
    lower_finish(L, &d);
    return true;
}

static bool lower_nothing(struct lower *L, const struct ptx_inst *i)
{
    (void)L;
    (void)i;
    return true;
}

const struct lower_rule lower_warp_rules[] = {
    {PTX_F_shfl_sync, lower_shfl, 0},
    {PTX_F_shfl, lower_shfl, 0},
    {PTX_F_shfl_late, lower_shfl, 0},
    {PTX_F_vote_sync, lower_vote, 0},
    {PTX_F_vote, lower_vote, 0},
    {PTX_F_vote_late, lower_vote, 0},
    {PTX_F_ballot_sync, lower_vote, 1},
    {PTX_F_ballot, lower_vote, 1},
    {PTX_F_ballot_late, lower_vote, 1},
    {PTX_F_match_any, lower_match, 0},
    {PTX_F_match_all, lower_match, 1},
    {PTX_F_redux_int, lower_redux, 0},
    {PTX_F_redux_bits, lower_redux, 0},
    {PTX_F_activemask, lower_activemask, 0},
    {PTX_F_elect, lower_elect, 0},
    {PTX_F_nanosleep, lower_nothing, 0},
    {PTX_F_pmevent, lower_nothing, 0},
    {PTX_F_pmevent_mask, lower_nothing, 0},
    {0, NULL, 0},
};
