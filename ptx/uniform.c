/* Uniformity analysis: which values the lanes of a warp share. ptx/flow.h has the rules.
 *
 * First, each use of a register is mapped to its reaching definition: a value. Nearly all registers have
 * one definition that dominates their reads and need no further work; the others are converted to static
 * single assignment form (Cytron et al., 1991), with phis at the iterated dominance frontiers. Then the
 * analysis iterates over the blocks in reverse postorder until a fixed point: values rise from "unknown"
 * through enum ptx_spread. A branch whose condition is not uniform marks the blocks where paths from two of
 * its targets first join (blocks whose immediate dominator, among the blocks that the branch reaches, is the
 * branch itself), and the loops that lanes can leave, or iterate in, at different times. */
#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/form.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <string.h>

enum { UNKNOWN = 0xff }; /* a spread: nothing has reached this value yet */

struct fact {       /* what is known of a value */
    int64_t stride; /* AFFINE; of a known constant: its value */
    uint8_t spread, assumes;
    bool known; /* GRID: a constant whose value is known */
};

struct phi {
    uint32_t block, reg, value;
    uint32_t args; /* in `args`: one value for each predecessor of the block */
    uint32_t next; /* the next phi of its block, plus 1 */
};

enum kind { /* how an instruction makes its results from its operands */
            PURE,
            COPY,
            ADD,
            SUB,
            NEG,
            SHL,
            MUL,
            MUL_WIDE,
            MAD,
            MAD_WIDE,
            CONVERT,
            SELECT,
            OWN_CTA,
            LOAD,
            FETCH,
            ACTIVE,
            VOTE,
            SHUFFLE,
            ELECT,
            BARRIER,
            SEPARATE,
};

struct state {
    struct arena *scratch;
    const struct ptx_flow *f;
    const struct ptx_cfg *g;
    uint8_t kind[PTX_FORM_COUNT];
    uint64_t reqntid[3];   /* 0: not given */
    bool local_is_generic; /* a generic address may be one of .local */

    struct fact *facts; /* by value */
    uint32_t *home;     /* by value: the block that defines it */
    size_t value_count, value_cap, home_cap;
    uint32_t *value; /* by use */
    uint32_t *old;   /* by use that writes without PTX_USE_KILL: what it may keep */
    struct phi *phis;
    size_t phi_count, phi_cap;
    uint32_t *first_phi; /* by block, plus 1 */
    uint32_t *args;
    size_t arg_count, arg_cap;

    uint8_t *branch;              /* by block: enum ptx_spread of the decision at its end */
    uint8_t *meet;                /* by block: how different the ways are that meet here */
    uint8_t *leave;               /* by loop: how different the lanes' trips are */
    uint8_t *torn;                /* by loop: likewise, and they may meet again inside */
    uint32_t *loop_in, *loop_out; /* by loop: a range that holds those of inner loops */
    uint8_t tangled;              /* likewise, of all irreducible cycles */
    bool any_torn, changed;

    struct fact *seen;        /* by use: what was found last */
    uint32_t *entry;          /* by register: VALUE_ENTRY or VALUE_PARAM */
    uint32_t *node, *node_of; /* by block: its node in the region number node_of */
    uint32_t regions;         /* looked at so far */
    uint64_t work, limit;     /* steps taken, and allowed */
};

enum { VALUE_ENTRY, VALUE_PARAM }; /* what registers hold on entry; .reg parameters */

static bool tired(const struct state *s)
{
    return s->work > s->limit;
}

/* ---- facts ------------------------------------------------------------------------------------- */

static const struct fact varying = {.spread = PTX_SPREAD_VARYING};

static struct fact shared_by(unsigned spread)
{
    return (struct fact){.spread = (uint8_t)spread};
}

static struct fact constant(int64_t value)
{
    return (struct fact){.stride = value, .spread = PTX_SPREAD_GRID, .known = true};
}

static int64_t narrow(uint64_t bits, unsigned width)
{
    if (width >= 64) return (int64_t)bits;
    uint64_t sign = UINT64_C(1) << (width - 1);
    bits &= sign * 2 - 1;
    return (int64_t)((bits ^ sign) - sign);
}

/* base + stride * lane, or what it is if the stride is 0. */
static struct fact affine(uint64_t stride, unsigned width, unsigned assumes)
{
    int64_t step = narrow(stride, width);
    return (struct fact){.stride = step,
                         .assumes = (uint8_t)assumes,
                         .spread = step ? PTX_SPREAD_AFFINE : PTX_SPREAD_WARP};
}

/* A value that is one or the other, the same choice for all. */
static struct fact either(struct fact a, struct fact b)
{
    if (a.spread == UNKNOWN) return b;
    if (b.spread == UNKNOWN) return a;
    struct fact r = {.spread = a.spread > b.spread ? a.spread : b.spread};
    r.assumes = a.assumes | b.assumes;
    if (a.known && b.known && a.stride == b.stride) return a;
    if (r.spread == PTX_SPREAD_AFFINE) {
        if (a.spread == b.spread && a.stride == b.stride) r.stride = a.stride;
        else r.spread = PTX_SPREAD_VARYING;
    }
    if (r.spread == PTX_SPREAD_VARYING) r.assumes = 0;
    return r;
}

/* A value that was chosen by something which is only so far the same. */
static struct fact chosen_by(struct fact a, unsigned spread, unsigned assumes)
{
    if (a.spread == UNKNOWN || spread == UNKNOWN) return shared_by(UNKNOWN);
    if (spread == PTX_SPREAD_GRID && !assumes) return a;
    if (spread > PTX_SPREAD_WARP || a.spread == PTX_SPREAD_VARYING) return varying;
    a.known = false;
    if (a.spread < PTX_SPREAD_AFFINE) a.stride = 0;
    if (a.spread < spread) a.spread = (uint8_t)spread;
    a.assumes |= (uint8_t)assumes;
    return a;
}

/* Any function of two values. */
static struct fact both(struct fact a, struct fact b)
{
    if (a.spread == UNKNOWN || b.spread == UNKNOWN) return shared_by(UNKNOWN);
    if (a.spread > PTX_SPREAD_WARP || b.spread > PTX_SPREAD_WARP) return varying;
    return (struct fact){.spread = a.spread > b.spread ? a.spread : b.spread,
                         .assumes = a.assumes | b.assumes};
}

static uint64_t step(struct fact a)
{
    return a.spread == PTX_SPREAD_AFFINE ? (uint64_t)a.stride : 0;
}

static struct fact sum(struct fact a, struct fact b, bool minus, unsigned width)
{
    if (a.spread == UNKNOWN || b.spread == UNKNOWN) return shared_by(UNKNOWN);
    if (a.spread == PTX_SPREAD_VARYING || b.spread == PTX_SPREAD_VARYING) return varying;
    uint64_t x = (uint64_t)a.stride, y = (uint64_t)b.stride;
    if (a.known && b.known) return constant(narrow(minus ? x - y : x + y, width));
    if (a.spread <= PTX_SPREAD_WARP && b.spread <= PTX_SPREAD_WARP) return both(a, b);
    return affine(minus ? step(a) - step(b) : step(a) + step(b), width, a.assumes | b.assumes);
}

static struct fact product(struct fact a, struct fact b, unsigned width)
{
    if (a.spread == UNKNOWN || b.spread == UNKNOWN) return shared_by(UNKNOWN);
    uint64_t x = (uint64_t)a.stride, y = (uint64_t)b.stride;
    if (a.known && b.known) return constant(narrow(x * y, width));
    if (a.spread == PTX_SPREAD_AFFINE && b.known) return affine(x * y, width, a.assumes);
    if (b.spread == PTX_SPREAD_AFFINE && a.known) return affine(x * y, width, b.assumes);
    return both(a, b);
}

/* A value of `from` in a wider or narrower type. */
static struct fact converted(struct fact a, enum ptx_type from, enum ptx_type to)
{
    unsigned have = ptx_types[from].bits, want = ptx_types[to].bits;
    if (a.known) {
        uint64_t bits = (uint64_t)narrow((uint64_t)a.stride, have);
        if (ptx_types[from].kind == PTX_UINT && have < 64) bits &= (UINT64_C(1) << have) - 1;
        return constant(narrow(bits, want));
    }
    if (a.spread == PTX_SPREAD_AFFINE && have != want)
        return affine((uint64_t)a.stride, want, a.assumes | PTX_ASSUMES_NO_WRAP);
    return a;
}

/* ---- special registers ------------------------------------------------------------------------- */

static bool named(const struct ptx_sym *sym, const char *name)
{
    return sym->name->length == strlen(name) && memcmp(sym->name->text, name, strlen(name)) == 0;
}

static bool starts(const struct ptx_sym *sym, const char *prefix)
{
    size_t n = strlen(prefix);
    return sym->name->length >= n && memcmp(sym->name->text, prefix, n) == 0;
}

/* Whether rows are known to be whole warps: 1 yes, 0 no, -1 nothing is known. */
static int rows(const struct state *s)
{
    const uint64_t *n = s->reqntid;
    if (!n[0]) return -1;
    return n[0] % 32 == 0 || (n[1] == 1 && n[2] == 1);
}

static struct fact special(const struct state *s, const struct ptx_opnd *o)
{
    const struct ptx_sym *sym = o->sym;
    if (named(sym, "%tid")) {
        int whole = rows(s);
        unsigned assumes = whole < 0 ? (unsigned)PTX_ASSUMES_ROWS : 0;
        if (o->sel == PTX_SEL_W) return constant(0);
        if (o->sel >= PTX_SEL_X && o->sel <= PTX_SEL_Z && s->reqntid[o->sel - PTX_SEL_X] == 1)
            return constant(0);
        if (whole == 0 || o->sel == PTX_SEL_NONE) return varying;
        if (o->sel == PTX_SEL_X) return affine(1, 32, assumes);
        return (struct fact){.spread = PTX_SPREAD_WARP, .assumes = (uint8_t)assumes};
    }
    if (named(sym, "%ntid") && s->reqntid[0] && o->sel >= PTX_SEL_X && o->sel <= PTX_SEL_Z)
        return constant((int64_t)s->reqntid[o->sel - PTX_SEL_X]);
    if (named(sym, "%laneid")) return affine(1, 32, 0);
    if (named(sym, "%warpid") || named(sym, "%smid")) return shared_by(PTX_SPREAD_WARP);
    if (named(sym, "%ctaid") || named(sym, "%clusterid") || named(sym, "%cluster_ctaid") ||
        named(sym, "%cluster_ctarank"))
        return shared_by(PTX_SPREAD_CTA);
    if (starts(sym, "%lanemask") || starts(sym, "%clock") || starts(sym, "%globaltimer") ||
        starts(sym, "%pm"))
        return varying;
    return shared_by(PTX_SPREAD_GRID);
}

/* ---- kinds ------------------------------------------------------------------------------------- */

/* A form that is in no table here shares nothing among lanes unless its row says that it only computes. */
static enum kind kind_of(enum ptx_form form)
{
    static const struct {
        enum ptx_form form;
        enum kind kind;
    } rows_by_form[] = {
        {PTX_F_mov, COPY},          {PTX_F_mov_f, COPY},        {PTX_F_mov_pred, COPY},
        {PTX_F_mov_b128, COPY},     {PTX_F_cvta, COPY},         {PTX_F_cvta_to, COPY},
        {PTX_F_add_int, ADD},       {PTX_F_sub_int, SUB},       {PTX_F_neg_int, NEG},
        {PTX_F_shl, SHL},           {PTX_F_mul_lo, MUL},        {PTX_F_mul_wide, MUL_WIDE},
        {PTX_F_mad_lo, MAD},        {PTX_F_mad_wide, MAD_WIDE}, {PTX_F_cvt_int, CONVERT},
        {PTX_F_selp, SELECT},       {PTX_F_mapa, OWN_CTA},      {PTX_F_getctarank, OWN_CTA},
        {PTX_F_activemask, ACTIVE}, {PTX_F_elect, ELECT},
    };
    static const struct {
        const char *name;
        enum kind kind;
    } rows_by_name[] = {
        {"ld", LOAD},
        {"ldu", LOAD},
        {"tex", FETCH},
        {"tex.base", FETCH},
        {"tex.level", FETCH},
        {"tex.grad", FETCH},
        {"tld4", FETCH},
        {"suld.b", FETCH},
        {"vote", VOTE},
        {"redux", VOTE},
        {"shfl", SHUFFLE},
        {"bar.red", BARRIER},
        {"bar.cta.red", BARRIER},
        {"barrier.red", BARRIER},
        {"barrier.cta.red", BARRIER},
        {"isspacep", OWN_CTA}, /* .shared */
        {"txq", PURE},
        {"txq.level", PURE},
        {"suq", PURE},
        {"mbarrier.pending_count", PURE},
    };
    const struct ptx_form_info *info = &ptx_forms[form];
    for (size_t i = 0; i < sizeof rows_by_form / sizeof *rows_by_form; i++)
        if (rows_by_form[i].form == form) return rows_by_form[i].kind;
    for (size_t i = 0; i < sizeof rows_by_name / sizeof *rows_by_name; i++)
        if (strcmp(rows_by_name[i].name, info->name) == 0) return rows_by_name[i].kind;
    if (form == PTX_F_match_all) return VOTE;
    return ptx_form_computes(form) ? PURE : SEPARATE;
}

static void find_kinds(struct state *s)
{
    for (int i = 0; i < PTX_FORM_COUNT; i++) s->kind[i] = (uint8_t)kind_of((enum ptx_form)i);
}

/* Whether generic addresses may lie in .local: where some are made, or come from a caller. */
static bool makes_local_generic(const struct ptx_func *func)
{
    if (!func->is_entry) return true;
    for (size_t i = 0; i < func->body->count; i++) {
        const struct ptx_stmt *stmt = &func->body->stmts[i];
        if (stmt->kind != PTX_STMT_INST) continue;
        const struct ptx_op *op = stmt->inst->op;
        enum ptx_form form = ptx_op_form(op);
        if (form == PTX_F_alloca || form == PTX_F_stacksave) return true;
        if (form == PTX_F_cvta && ptx_op_has(op, "local")) return true;
        if (op->space != PTX_SPACE_GENERIC) continue;
        for (unsigned k = 0; k < stmt->inst->count; k++) { /* ld.u32 x, [local variable] */
            const struct ptx_opnd *o = &stmt->inst->opnds[k];
            const struct ptx_opnd *base = ptx_opnd_base(o);
            if (base->kind == PTX_OPND_SYM && base->sym->space == PTX_SPACE_LOCAL) return true;
        }
    }
    return false;
}

/* ---- values ------------------------------------------------------------------------------------ */

static uint32_t add_value(struct state *s, uint32_t block)
{
    size_t n = s->value_count;
    s->facts = arena_grow(s->scratch, s->facts, n, &s->value_cap, n + 1, sizeof *s->facts);
    s->home = arena_grow(s->scratch, s->home, n, &s->home_cap, n + 1, sizeof *s->home);
    s->facts[n] = shared_by(UNKNOWN);
    s->home[n] = block;
    return (uint32_t)s->value_count++;
}

struct writer {     /* of a register */
    uint32_t count; /* writes */
    uint32_t use;   /* the last one */
    bool several;   /* not one definition that dominates every read */
    bool crosses;   /* a block reads it that did not write it before */
};

/* Which registers need more than their one definition; gives every write its value. */
static struct writer *find_writers(struct state *s)
{
    const struct ptx_flow *f = s->f;
    const struct ptx_cfg *g = s->g;
    struct writer *w = arena_array(s->scratch, struct writer, f->reg_count);
    uint32_t *block_of = arena_array(s->scratch, uint32_t, f->use_count);
    uint32_t *killed = arena_array(s->scratch, uint32_t, f->reg_count); /* in this block, plus 1 */
    for (uint32_t i = 0; i < f->param_count; i++) w[f->params[i]].several = true;
    for (uint32_t i = 0; i < g->code_count; i++) {
        if (!ptx_cfg_reachable(g, i)) continue;
        const struct ptx_block *b = &g->blocks[i];
        for (uint32_t u = f->use_at[b->first]; u < f->use_at[b->end]; u++) {
            struct writer *r = &w[f->uses[u].reg];
            unsigned how = f->uses[u].how;
            block_of[u] = i;
            if (!(how & PTX_USE_KILL) && killed[f->uses[u].reg] != i + 1) r->crosses = true;
            if (!(how & PTX_USE_WRITE)) continue;
            s->value[u] = add_value(s, i);
            if (r->count++ || !(how & PTX_USE_KILL)) r->several = true;
            r->use = u;
            if (how & PTX_USE_KILL) killed[f->uses[u].reg] = i + 1;
        }
    }
    for (uint32_t i = 0; i < g->code_count; i++) {
        if (!ptx_cfg_reachable(g, i)) continue;
        const struct ptx_block *b = &g->blocks[i];
        for (uint32_t u = f->use_at[b->first]; u < f->use_at[b->end]; u++) {
            struct writer *r = &w[f->uses[u].reg];
            if (!(f->uses[u].how & PTX_USE_READ) || r->several) continue;
            bool after = r->count &&
                         (block_of[r->use] == i ? r->use < u
                                                : ptx_cfg_dominates(g, block_of[r->use], i));
            if (after) s->value[u] = s->value[r->use];
            else if (r->count) r->several = true;
        }
    }
    return w;
}

struct frontier { /* dominance frontiers: of block b, to[at[b]] .. to[at[b + 1] - 1] */
    uint32_t *at, *to;
};

static uint32_t reachable_preds(const struct ptx_cfg *g, uint32_t block)
{
    uint32_t n = block == 0;
    for (uint32_t e = 0; e < g->blocks[block].pred_count; e++)
        n += ptx_cfg_reachable(g, g->preds[g->blocks[block].pred + e]);
    return n;
}

static struct frontier find_frontiers(struct state *s)
{
    const struct ptx_cfg *g = s->g;
    struct frontier d = {.at = arena_array(s->scratch, uint32_t, (size_t)g->count + 1)};
    uint32_t *last = arena_array(s->scratch, uint32_t,
                                 g->count); /* join that was added last, plus 1 */
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < g->order_count; i++) {
            uint32_t j = g->order[i], stop = g->blocks[j].idom;
            if (reachable_preds(g, j) < 2) continue;
            for (uint32_t e = 0; e < g->blocks[j].pred_count; e++) {
                uint32_t x = g->preds[g->blocks[j].pred + e];
                if (!ptx_cfg_reachable(g, x)) continue;
                for (; x != stop && x != PTX_NONE && last[x] != j + 1; x = g->blocks[x].idom) {
                    last[x] = j + 1;
                    if (pass) d.to[--d.at[x]] = j;
                    else d.at[x]++;
                    if (s->work++ > s->limit) return d;
                }
            }
        }
        if (pass) break;
        uint32_t total = 0;
        for (uint32_t i = 0; i <= g->count; i++) {
            if (i < g->count) total += d.at[i];
            d.at[i] = total;
        }
        d.to = arena_array(s->scratch, uint32_t, total);
        memset(last, 0, g->count * sizeof *last);
    }
    return d;
}

static void add_phi(struct state *s, uint32_t block, uint32_t reg)
{
    uint32_t preds = s->g->blocks[block].pred_count;
    size_t n = s->phi_count, m = s->arg_count;
    s->phis = arena_grow(s->scratch, s->phis, n, &s->phi_cap, n + 1, sizeof *s->phis);
    s->args = arena_grow(s->scratch, s->args, m, &s->arg_cap, m + preds, sizeof *s->args);
    s->phis[n] = (struct phi){block, reg, add_value(s, block), (uint32_t)m, s->first_phi[block]};
    for (uint32_t i = 0; i < preds; i++) s->args[m + i] = PTX_NONE;
    s->arg_count += preds;
    s->phi_count++;
    s->first_phi[block] = (uint32_t)s->phi_count;
    s->work += 4 + preds;
}

/* A phi for each register with several definitions wherever two of them meet. */
static void place_phis(struct state *s, const struct writer *w)
{
    const struct ptx_flow *f = s->f;
    const struct ptx_cfg *g = s->g;
    struct frontier d = find_frontiers(s);
    if (tired(s)) return;
    /* The blocks that write each such register. */
    uint32_t *at = arena_array(s->scratch, uint32_t, (size_t)f->reg_count + 1);
    uint32_t *mark = arena_array(s->scratch, uint32_t, f->reg_count);
    uint32_t *blocks = NULL, total = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < g->code_count; i++) {
            const struct ptx_block *b = &g->blocks[i];
            if (!ptx_cfg_reachable(g, i)) continue;
            for (uint32_t u = f->use_at[b->first]; u < f->use_at[b->end]; u++) {
                uint32_t r = f->uses[u].reg;
                if (!(f->uses[u].how & PTX_USE_WRITE) || !w[r].several || !w[r].crosses) continue;
                if (mark[r] == i + 1) continue;
                mark[r] = i + 1;
                if (pass) blocks[--at[r]] = i;
                else at[r]++;
            }
        }
        if (pass) break;
        for (uint32_t r = 0; r <= f->reg_count; r++) {
            if (r < f->reg_count) total += at[r];
            at[r] = total;
        }
        blocks = arena_array(s->scratch, uint32_t, total);
        memset(mark, 0, f->reg_count * sizeof *mark);
    }
    uint32_t *has = arena_array(s->scratch, uint32_t, g->count); /* register with a phi, plus 1 */
    uint32_t *todo = arena_array(s->scratch, uint32_t, g->count), depth;
    uint32_t *queued = arena_array(s->scratch, uint32_t, g->count);
    for (uint32_t r = 0; r < f->reg_count; r++) {
        depth = 0;
        for (uint32_t k = at[r]; k < at[r + 1]; k++) {
            queued[blocks[k]] = r + 1;
            todo[depth++] = blocks[k];
        }
        while (depth && !tired(s)) {
            uint32_t x = todo[--depth];
            for (uint32_t k = d.at[x]; k < d.at[x + 1]; k++) {
                uint32_t j = d.to[k];
                s->work++;
                if (has[j] == r + 1 || j == g->exit) continue;
                has[j] = r + 1;
                add_phi(s, j, r);
                if (queued[j] == r + 1) continue;
                queued[j] = r + 1;
                todo[depth++] = j;
            }
        }
    }
}

struct undo {
    uint32_t reg, value;
};

struct naming { /* which value each register holds, on the way down the dominator tree */
    uint32_t *now;
    struct undo *log;
    size_t log_count, log_cap;
};

static void set_now(struct state *s, struct naming *n, uint32_t reg, uint32_t value)
{
    n->log = arena_grow(s->scratch, n->log, n->log_count, &n->log_cap, n->log_count + 1,
                        sizeof *n->log);
    n->log[n->log_count++] = (struct undo){reg, n->now[reg]};
    n->now[reg] = value;
}

static void name_block(struct state *s, struct naming *n, const struct writer *w, uint32_t block,
                       const uint32_t *slot)
{
    const struct ptx_flow *f = s->f;
    const struct ptx_cfg *g = s->g;
    const struct ptx_block *b = &g->blocks[block];
    for (uint32_t k = s->first_phi[block]; k; k = s->phis[k - 1].next)
        set_now(s, n, s->phis[k - 1].reg, s->phis[k - 1].value);
    if (block < g->code_count) {
        for (uint32_t u = f->use_at[b->first]; u < f->use_at[b->end]; u++) {
            uint32_t r = f->uses[u].reg;
            if (!w[r].several) continue;
            if (f->uses[u].how & PTX_USE_READ) {
                s->value[u] = n->now[r];
                continue;
            }
            if (!(f->uses[u].how & PTX_USE_KILL)) s->old[u] = n->now[r];
            set_now(s, n, r, s->value[u]);
        }
    }
    for (uint32_t e = 0; e < b->succ_count; e++) {
        uint32_t j = g->succs[b->succ + e];
        for (uint32_t k = s->first_phi[j]; k; k = s->phis[k - 1].next)
            s->args[s->phis[k - 1].args + slot[b->succ + e]] = n->now[s->phis[k - 1].reg];
    }
}

static void name_values(struct state *s, const struct writer *w)
{
    const struct ptx_cfg *g = s->g;
    struct naming n = {.now = arena_array(s->scratch, uint32_t, s->f->reg_count)};
    memcpy(n.now, s->entry, s->f->reg_count * sizeof *n.now);
    /* By edge: which predecessor of its target it makes its source. */
    uint32_t *slot = arena_array(s->scratch, uint32_t, g->edge_count);
    uint32_t *filled = arena_array(s->scratch, uint32_t, g->count);
    for (uint32_t i = 0; i < g->count; i++)
        for (uint32_t e = 0; e < g->blocks[i].succ_count; e++) {
            uint32_t edge = g->blocks[i].succ + e;
            slot[edge] = filled[g->succs[edge]]++; /* both lists ascend */
        }
    uint32_t *by_dom = arena_array(s->scratch, uint32_t, g->order_count);
    for (uint32_t i = 0; i < g->order_count; i++)
        by_dom[g->blocks[g->order[i]].dom_in] = g->order[i];
    uint32_t *open = arena_array(s->scratch, uint32_t, g->order_count), depth = 0;
    size_t *log_at = arena_array(s->scratch, size_t, g->order_count);
    for (uint32_t i = 0; i < g->order_count; i++) {
        uint32_t x = by_dom[i];
        while (depth && g->blocks[open[depth - 1]].dom_out <= i) {
            depth--;
            while (n.log_count > log_at[depth]) {
                n.log_count--;
                n.now[n.log[n.log_count].reg] = n.log[n.log_count].value;
            }
        }
        log_at[depth] = n.log_count;
        open[depth++] = x;
        name_block(s, &n, w, x, slot);
    }
}

/* ---- where lanes part and meet ----------------------------------------------------------------- */

static void raise_level(struct state *s, uint8_t *level, unsigned to)
{
    if (*level >= to) return;
    *level = (uint8_t)to;
    s->changed = true;
}

/* The blocks that b's lanes may be in before they meet at its post-dominator, as a graph of its own:
 * node 0 is b where the lanes part, node 1 is b if they come back to it. */
struct region {
    struct ptx_graph graph;
    uint32_t *block; /* by node */
};

static struct region find_region(struct state *s, struct arena *a, uint32_t b)
{
    const struct ptx_cfg *g = s->g;
    struct region r = {0};
    size_t cap = 0, edge_cap = 0, at_cap = 0, edges = 0;
    uint32_t count = 2;
    r.block = arena_grow(a, NULL, 0, &cap, 2, sizeof *r.block);
    r.block[0] = r.block[1] = b;
    s->regions++;
    s->node[b] = 1;
    s->node_of[b] = s->regions;
    for (uint32_t x = 0; x < count; x++) {
        r.graph.out_at = arena_grow(a, r.graph.out_at, x, &at_cap, (size_t)x + 2,
                                    sizeof *r.graph.out_at);
        r.graph.out_at[x] = (uint32_t)edges;
        s->work += 8;
        if (x == 1 || r.block[x] == g->blocks[b].ipdom) continue;
        const struct ptx_block *p = &g->blocks[r.block[x]];
        for (uint32_t e = 0; e < p->succ_count; e++) {
            uint32_t y = g->succs[p->succ + e];
            if (s->node_of[y] != s->regions) {
                r.block = arena_grow(a, r.block, count, &cap, (size_t)count + 1, sizeof *r.block);
                r.block[count] = y;
                s->node_of[y] = s->regions;
                s->node[y] = count++;
            }
            r.graph.out = arena_grow(a, r.graph.out, edges, &edge_cap, edges + 1,
                                     sizeof *r.graph.out);
            r.graph.out[edges++] = s->node[y];
            s->work += 8;
        }
    }
    r.graph.out_at[count] = (uint32_t)edges;
    r.graph.count = count;
    ptx_graph_reverse(a, &r.graph);
    return r;
}

static bool within(const struct state *s, uint32_t loop, uint32_t block)
{
    uint32_t l = s->g->blocks[block].loop;
    return l != PTX_NONE && s->loop_in[loop] <= s->loop_in[l] && s->loop_in[l] < s->loop_out[loop];
}

static void part(struct state *s, uint32_t b, unsigned spread)
{
    const struct ptx_cfg *g = s->g;
    struct arena *a = arena_new();
    struct region r = find_region(s, a, b);
    uint32_t *idom = arena_array(a, uint32_t, r.graph.count);
    uint32_t *walk = arena_array(a, uint32_t, r.graph.count);
    uint32_t *top = arena_array(a, uint32_t, r.graph.count); /* the dominator right below b */
    uint32_t count = ptx_graph_dominators(a, &r.graph, 0, idom, walk);
    for (uint32_t i = 1; i < count; i++)
        top[walk[i]] = idom[walk[i]] == 0 ? walk[i] : top[idom[walk[i]]];
    uint32_t meet = g->blocks[b].ipdom;
    for (uint32_t x = 1; x < r.graph.count; x++) {
        uint32_t block = r.block[x], ways = 0;
        for (uint32_t e = r.graph.in_at[x]; idom[x] == 0 && e < r.graph.in_at[x + 1]; e++)
            ways += r.graph.in[e] == 0 || top[r.graph.in[e]] != x;
        if (ways > 1) raise_level(s, &s->meet[block], spread);
        if (g->blocks[block].irreducible) raise_level(s, &s->tangled, spread);
        uint32_t loop = g->blocks[block].loop;
        if (block == meet || loop == PTX_NONE || g->loops[loop].header != block) continue;
        if ((x == 1 && idom[x] == PTX_NONE) || !within(s, loop, b)) continue;
        raise_level(s, &s->leave[loop], spread);
        if (meet == g->exit || !within(s, loop, meet)) continue;
        raise_level(s, &s->torn[loop], spread);
        s->any_torn = true;
    }
    arena_free(a);
}

static void decide(struct state *s, uint32_t block, struct fact by)
{
    if (by.spread == UNKNOWN) return;
    unsigned spread = by.spread > PTX_SPREAD_WARP ? PTX_SPREAD_VARYING : by.spread;
    if (s->g->blocks[block].succ_count < 2 || s->branch[block] >= spread) return;
    s->branch[block] = (uint8_t)spread;
    s->changed = true;
    part(s, block, spread);
}

/* ---- one instruction --------------------------------------------------------------------------- */

/* A value as block `block` sees it: from outside the loop it was made in, or round a torn one, lanes
 * see different trips. */
static struct fact look(struct state *s, uint32_t value, uint32_t block)
{
    struct fact a = s->facts[value];
    if (value <= VALUE_PARAM || a.known) return a;
    const struct ptx_block *home = &s->g->blocks[s->home[value]];
    if (home->irreducible) a = chosen_by(a, s->tangled, 0);
    for (uint32_t l = home->loop; l != PTX_NONE; l = s->g->loops[l].parent) {
        bool inside = within(s, l, block);
        if (inside && !s->any_torn) break;
        a = chosen_by(a, inside ? s->torn[l] : s->leave[l], 0);
        s->work++;
    }
    return a;
}

static void learn(struct state *s, uint32_t value, struct fact a)
{
    struct fact *have = &s->facts[value], now = either(*have, a);
    if (now.spread == have->spread && now.stride == have->stride && now.known == have->known &&
        now.assumes == have->assumes)
        return;
    *have = now;
    s->changed = true;
}

struct operands { /* of one instruction: what the first few are, and what all that are read share */
    struct fact of[5], all, address, guard;
};

static struct fact operand_fact(const struct state *s, const struct ptx_opnd *o)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_SREG: return special(s, o);
    case PTX_OPND_INT: return constant((int64_t)o->bits);
    default: return shared_by(PTX_SPREAD_GRID);
    }
}

static struct operands read_operands(struct state *s, uint32_t stmt, uint32_t block)
{
    const struct ptx_inst *inst = s->f->func->body->stmts[stmt].inst;
    struct fact grid = shared_by(PTX_SPREAD_GRID);
    struct operands in = {.all = grid, .address = grid, .guard = grid};
    for (unsigned i = 0; i < inst->count; i++) {
        struct fact a = operand_fact(s, &inst->opnds[i]);
        if (i < 5) in.of[i] = a;
        in.all = both(in.all, a);
        if (inst->opnds[i].kind != PTX_OPND_VEC) continue;
        for (uint32_t k = 0; k < inst->opnds[i].count; k++) /* mov.b64 x, {%tid.x, y} */
            if (inst->opnds[i].elem[k].kind == PTX_OPND_SREG)
                in.all = both(in.all, special(s, &inst->opnds[i].elem[k]));
    }
    for (uint32_t u = s->f->use_at[stmt]; u < s->f->use_at[stmt + 1]; u++) {
        const struct ptx_use *use = &s->f->uses[u];
        if (!(use->how & PTX_USE_READ)) continue;
        struct fact a = s->seen[u] = look(s, s->value[u], block);
        if (use->how & PTX_USE_GUARD) {
            in.guard = a;
            continue;
        }
        const struct ptx_opnd *o = use->opnd < inst->count ? &inst->opnds[use->opnd] : NULL;
        if (o && o->kind == PTX_OPND_REG && o->offset && !o->sel) /* register+constant */
            a = both(a, shared_by(PTX_SPREAD_GRID));
        if (use->opnd < 5) in.of[use->opnd] = a;
        if (use->how & PTX_USE_ADDRESS) in.address = both(in.address, a);
        in.all = both(in.all, a);
    }
    return in;
}

static struct fact loaded(const struct state *s, const struct ptx_inst *inst, struct fact address)
{
    const struct ptx_op *op = inst->op;
    const struct ptx_opnd *from = ptx_opnd_base(&inst->opnds[1]);
    if (address.spread == UNKNOWN) return address;
    if (address.spread > PTX_SPREAD_WARP) return varying;
    address.known = false;
    address.stride = 0;
    if (op->form->effects & (PTX_FENCE | PTX_EFFECT)) return varying;
    if (strcmp(op->form->name, "ldu") == 0 || ptx_op_has(op, "nc")) return address;
    const struct ptx_sym *sym = NULL;
    if (from->kind == PTX_OPND_SYM) sym = from->sym;
    struct fact warp = both(address, shared_by(PTX_SPREAD_WARP));
    switch ((enum ptx_space)op->space) {
    case PTX_SPACE_CONST: return address;
    case PTX_SPACE_PARAM: { /* a kernel's own, or what a call gave back */
        const struct ptx_func *func = s->f->func;
        bool own = !sym || (sym->at > func->at && sym->at < func->body_at);
        return func->is_entry && own ? address : varying;
    }
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER: return warp;
    case PTX_SPACE_GENERIC: return s->local_is_generic ? varying : warp;
    default: return varying;
    }
}

/* What the lanes of one mask find out together. */
static struct fact agreed(struct fact mask)
{
    if (mask.spread == UNKNOWN) return mask;
    if (mask.spread > PTX_SPREAD_WARP) return varying;
    return (struct fact){.spread = PTX_SPREAD_WARP, .assumes = mask.assumes};
}

static struct fact shuffled(const struct ptx_op *op, const struct operands *in)
{
    if (in->of[1].spread == UNKNOWN || in->of[2].spread == UNKNOWN) return shared_by(UNKNOWN);
    if (in->of[1].spread <= PTX_SPREAD_WARP) return agreed(in->of[1]);
    bool whole = in->of[3].known && (in->of[3].stride >> 8 & 31) == 0; /* one segment of 32 lanes */
    return ptx_op_has(op, "idx") && whole ? agreed(in->of[2]) : varying;
}

/* What the first result shares (and the second, `other`). */
static struct fact result(const struct state *s, const struct ptx_inst *inst,
                          const struct operands *in, struct fact *other)
{
    const struct ptx_op *op = inst->op;
    unsigned width = ptx_types[op->type[0]].bits;
    const struct fact *of = in->of;
    *other = varying;
    switch ((enum kind)s->kind[ptx_op_form(op)]) {
    case PURE: return *other = in->all;
    case COPY: return inst->opnds[1].kind == PTX_OPND_ADDR ? in->all : of[1]; /* mov x, g[i] */
    case ADD: return sum(of[1], of[2], false, width);
    case SUB: return sum(of[1], of[2], true, width);
    case NEG: return sum(constant(0), of[1], true, width);
    case SHL:
        if (of[2].known && of[2].stride >= 0 && of[2].stride < (int64_t)width)
            return product(of[1], constant((int64_t)(UINT64_C(1) << of[2].stride)), width);
        return in->all;
    case MUL: return product(of[1], of[2], width);
    case MAD: return sum(product(of[1], of[2], width), of[3], false, width);
    case MUL_WIDE:
    case MAD_WIDE: {
        enum ptx_type wide = width == 16 ? PTX_s32 : PTX_s64, from = (enum ptx_type)op->type[0];
        struct fact r = product(converted(of[1], from, wide), converted(of[2], from, wide),
                                2 * width);
        return inst->count > 3 ? sum(r, of[3], false, 2 * width) : r;
    }
    case CONVERT: return converted(of[1], (enum ptx_type)op->type[1], (enum ptx_type)op->type[0]);
    case SELECT: return chosen_by(either(of[1], of[2]), of[3].spread, of[3].assumes);
    case OWN_CTA: return both(in->all, shared_by(PTX_SPREAD_CTA));
    case LOAD: return loaded(s, inst, in->address);
    case FETCH: return *other = both(in->all, shared_by(PTX_SPREAD_WARP));
    case ACTIVE: return shared_by(PTX_SPREAD_WARP);
    case VOTE:
        if (inst->count < 3)
            return shared_by(PTX_SPREAD_WARP); /* without .sync: the active lanes */
        return *other = agreed(of[2]);
    case SHUFFLE: return shuffled(op, in);
    case ELECT: return agreed(of[1]);
    case BARRIER: return shared_by(inst->count > 3 ? PTX_SPREAD_WARP : PTX_SPREAD_CTA);
    case SEPARATE: break;
    }
    return varying;
}

static void run_statement(struct state *s, uint32_t stmt, uint32_t block)
{
    const struct ptx_flow *f = s->f;
    const struct ptx_inst *inst = f->func->body->stmts[stmt].inst;
    if (f->func->body->stmts[stmt].kind != PTX_STMT_INST) return;
    s->work += 1 + f->use_at[stmt + 1] - f->use_at[stmt];
    struct operands in = read_operands(s, stmt, block);
    if (stmt == s->g->blocks[block].term) {
        bool index = ptx_op_form(inst->op) == PTX_F_brx_idx;
        struct fact by = index ? both(in.of[0], in.guard) : in.guard;
        if (in.guard.spread > PTX_SPREAD_WARP && in.guard.spread != UNKNOWN) by = varying;
        decide(s, block, by);
    }
    struct fact other, first = result(s, inst, &in, &other);
    bool pair = inst->count && inst->opnds[0].kind == PTX_OPND_PAIR;
    bool behind = false; /* the first of a pair has been seen */
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++) {
        const struct ptx_use *use = &f->uses[u];
        if (!(use->how & PTX_USE_WRITE)) continue;
        bool sink = pair && inst->opnds[0].elem[0].kind == PTX_OPND_SINK;
        struct fact a = pair && (behind || sink) ? other : first;
        if (pair && inst->opnds[0].elem[0].kind == PTX_OPND_VEC) a = both(first, other);
        behind = true;
        bool vector = use->reg < f->reg_count - 1 && f->func->body->regs[use->reg]->vec > 1;
        if (vector && a.spread == PTX_SPREAD_AFFINE) a = varying;
        if (vector) a.known = false, a.stride = 0;
        if (!(use->how & PTX_USE_KILL)) {
            struct fact old = look(s, s->old[u], block);
            a = chosen_by(either(a, old), in.guard.spread, in.guard.assumes);
        }
        learn(s, s->value[u], a);
    }
}

static void run_phi(struct state *s, const struct phi *p)
{
    const struct ptx_block *b = &s->g->blocks[p->block];
    struct fact a = shared_by(UNKNOWN);
    uint32_t one = PTX_NONE;
    bool same = true;
    for (uint32_t i = 0; i <= b->pred_count; i++) {
        uint32_t v; /* at the entry, what the register holds there comes as well */
        if (i < b->pred_count) v = s->args[p->args + i];
        else if (p->block == 0) v = s->entry[p->reg];
        else break;
        s->work++;
        if (v == PTX_NONE || v == p->value) continue;
        if (one != PTX_NONE && v != one) same = false;
        one = v;
        a = either(a, look(s, v, p->block));
    }
    if (!same) a = chosen_by(a, s->meet[p->block], 0);
    learn(s, p->value, a);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void number_loops(struct state *s)
{
    const struct ptx_cfg *g = s->g;
    uint32_t n = g->loop_count;
    s->loop_in = arena_array(s->scratch, uint32_t, n);
    s->loop_out = arena_array(s->scratch, uint32_t, n);
    uint32_t *size = arena_array(s->scratch, uint32_t, n),
             *used = arena_array(s->scratch, uint32_t, n);
    uint32_t top = 0;
    for (uint32_t l = n; l-- > 0;) {
        size[l]++;
        if (g->loops[l].parent != PTX_NONE) size[g->loops[l].parent] += size[l];
    }
    for (uint32_t l = 0; l < n; l++) {
        uint32_t up = g->loops[l].parent;
        s->loop_in[l] = up == PTX_NONE ? top : s->loop_in[up] + 1 + used[up];
        if (up == PTX_NONE) top += size[l];
        else used[up] += size[l];
        s->loop_out[l] = s->loop_in[l] + size[l];
    }
}

static void give_up(struct state *s, struct ptx_uniform *out)
{
    const struct ptx_cfg *g = s->g;
    out->coarse = true;
    for (uint32_t u = 0; u < s->f->use_count; u++)
        out->uses[u] = (struct ptx_variation){.spread = PTX_SPREAD_VARYING};
    for (uint32_t i = 0; i < g->count; i++)
        out->branch[i] = g->blocks[i].succ_count > 1 ? PTX_SPREAD_VARYING : PTX_SPREAD_GRID;
}

static void solve(struct state *s)
{
    const struct ptx_cfg *g = s->g;
    struct writer *w = find_writers(s);
    place_phis(s, w);
    if (tired(s)) return;
    name_values(s, w);
    do {
        s->changed = false;
        for (uint32_t i = 0; i < g->order_count && !tired(s); i++) {
            uint32_t x = g->order[i];
            for (uint32_t k = s->first_phi[x]; k; k = s->phis[k - 1].next)
                run_phi(s, &s->phis[k - 1]);
            for (uint32_t t = g->blocks[x].first; t < g->blocks[x].end; t++) run_statement(s, t, x);
        }
    } while (s->changed && !tired(s));
}

struct ptx_uniform *ptx_uniform_new(struct arena *arena, const struct ptx_flow *f)
{
    const struct ptx_cfg *g = f->cfg;
    struct ptx_uniform *out = arena_alloc(arena, sizeof *out);
    out->flow = f;
    out->uses = arena_array(arena, struct ptx_variation, f->use_count);
    out->branch = arena_array(arena, uint8_t, g->count);
    struct state s = {.scratch = arena_new(), .f = f, .g = g, .branch = out->branch};
    s.limit = (UINT64_C(1) << 27) + 64 * ((uint64_t)f->use_count + g->edge_count);
    find_kinds(&s);
    s.local_is_generic = makes_local_generic(f->func);
    for (const struct ptx_directive *d = f->func->directives; d; d = d->next)
        if (strcmp(d->word, "reqntid") == 0)
            for (unsigned i = 0; i < 3; i++) s.reqntid[i] = i < d->count ? d->value[i] : 1;
    s.value = arena_array(s.scratch, uint32_t, f->use_count);
    s.old = arena_array(s.scratch, uint32_t, f->use_count);
    s.seen = arena_array(s.scratch, struct fact, f->use_count);
    s.first_phi = arena_array(s.scratch, uint32_t, g->count);
    s.node = arena_array(s.scratch, uint32_t, g->count);
    s.node_of = arena_array(s.scratch, uint32_t, g->count);
    s.entry = arena_array(s.scratch, uint32_t, f->reg_count);
    for (uint32_t i = 0; i < f->param_count; i++) s.entry[f->params[i]] = VALUE_PARAM;
    s.meet = arena_array(s.scratch, uint8_t, g->count);
    s.leave = arena_array(s.scratch, uint8_t, g->loop_count);
    s.torn = arena_array(s.scratch, uint8_t, g->loop_count);
    number_loops(&s);
    add_value(&s, 0);
    add_value(&s, 0);
    s.facts[VALUE_ENTRY] = shared_by(PTX_SPREAD_GRID);
    s.facts[VALUE_PARAM] = varying;
    bool hubs = g->exit > g->code_count; /* idom leaves them out, so phis cannot be placed */
    if (!hubs) solve(&s);
    if (hubs || tired(&s)) {
        give_up(&s, out);
    } else {
        for (uint32_t u = 0; u < f->use_count; u++) {
            struct fact a = f->uses[u].how & PTX_USE_READ ? s.seen[u] : s.facts[s.value[u]];
            if (a.spread == UNKNOWN) continue; /* nothing ever comes here */
            out->uses[u] = (struct ptx_variation){.spread = a.spread, .assumes = a.assumes};
            if (a.spread == PTX_SPREAD_AFFINE) out->uses[u].stride = a.stride;
        }
    }
    arena_free(s.scratch);
    return out;
}
