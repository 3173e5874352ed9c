/* Rows of a function's registers, and offsets of its .local variables.
 *
 * A register that is written once, by a move of a value that does not change (a constant, a kernel parameter, a special
 * register, another such register), uses the row of that value (`alias`). Other registers share a row if their live
 * ranges do not overlap: a live range extends from the first to the last occurrence in the text, and further in loops.
 * Divergent lanes do not conflict, since each lane writes to its own column. */
#include "emu/lower/context.h"

#include "base/arena.h"
#include "emu/device/image.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"

#include <stdlib.h>

/* ---- what registers are ------------------------------------------------------------------------- */

/* Whether control that reaches statement b has passed statement a. */
static bool passed(const struct lower *L, u32 a, u32 b)
{
    u32 p = ptx_cfg_block_of(L->cfg, a), q = ptx_cfg_block_of(L->cfg, b);
    if (!ptx_cfg_reachable(L->cfg, p) || !ptx_cfg_reachable(L->cfg, q)) return false;
    return p == q ? a < b : ptx_cfg_dominates(L->cfg, p, q);
}

static bool is_identity(const struct ptx_inst *i)
{
    switch (ptx_op_form(i->op)) {
    case PTX_F_mov:
    case PTX_F_mov_f: return true;
    case PTX_F_cvta:
    case PTX_F_cvta_to: return i->op->space == PTX_SPACE_GLOBAL || i->op->space == PTX_SPACE_CONST;
    default: return false;
    }
}

/* What find_aliases() knows of a function's writes, by register. */
struct writes {
    u32 *count, *where; /* a partial or conditional write counts as two */
    bool *once;         /* written once, and every read comes after that write */
};

static struct writes find_writes(struct lower *L)
{
    const struct ptx_flow *f = L->flow;
    const u32 n = f->reg_count;
    struct writes w = {arena_array(L->scratch, u32, n), arena_array(L->scratch, u32, n),
                       arena_array(L->scratch, bool, n)};
    for (u32 s = 0; s < L->body->count; s++)
        for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++)
            if (f->uses[u].how & PTX_USE_WRITE) {
                w.count[f->uses[u].reg] += f->uses[u].how & PTX_USE_KILL ? 1 : 2;
                w.where[f->uses[u].reg] = s;
            }
    for (u32 i = 0; i < f->param_count; i++) w.count[f->params[i]] += 2;
    for (u32 i = 0; i < f->result_count; i++) w.count[f->results[i]] += 2;
    for (u32 r = 0; r < n; r++) w.once[r] = w.count[r] == 1;
    for (u32 s = 0; s < L->body->count; s++)
        for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
            const u32 r = f->uses[u].reg;
            if (w.once[r] && !(f->uses[u].how & PTX_USE_WRITE) && !passed(L, w.where[r], s))
                w.once[r] = false;
        }
    return w;
}

/* Whether a move's source is the same in a lane from a CTA's start to its end. */
static bool is_fixed_source(const struct ptx_opnd *o, unsigned bytes)
{
    switch (o->kind) {
    case PTX_OPND_SREG:
        return lower_special_of(o->sym, lower_component_of(o)) < SPECIAL_CLOCK &&
               lower_type_bytes(o->sym->type) == bytes;
    case PTX_OPND_INT:
    case PTX_OPND_FLOAT:
    case PTX_OPND_F32:
    case PTX_OPND_F64:
    case PTX_OPND_SYM: return true;
    default: return false;
    }
}

/* A move from a register becomes another name of it; of a kernel, one from a constant a row filled at a CTA's start. */
static void alias_move(struct lower *L, const struct writes *w, const struct ptx_inst *i,
                       unsigned bytes)
{
    const struct ptx_sym *d = i->opnds[0].sym;
    const struct ptx_opnd *o = &i->opnds[1];
    struct lower_reg *r = &L->regs[d->id];
    if (o->kind == PTX_OPND_REG) {
        if (o->offset) return; /* an addition */
        const struct ptx_sym *from = o->sym;
        if (from->vec <= 1 && !o->sel && L->regs[from->id].bytes == bytes && w->once[from->id] &&
            w->once[d->id] && from->id != d->id)
            r->alias = from->id + 1;
    } else if (L->code->is_entry && is_fixed_source(o, bytes)) {
        r->row = lower_source(L, o, i->op->type[0]);
        r->fixed = true;
    }
}

/* A load of a kernel parameter becomes a row filled at a CTA's start. */
static void fix_param(struct lower *L, const struct ptx_inst *i, unsigned bytes)
{
    const struct ptx_opnd *o = &i->opnds[1];
    if (ptx_opnd_base(o)->kind != PTX_OPND_SYM || o->count > 1) return;
    const struct ptx_sym *p = ptx_opnd_base(o)->sym;
    if (p->kind != PTX_SYM_VAR || p->space != PTX_SPACE_PARAM || p->var->role != PTX_PARAM_KERNEL)
        return;
    const i64 at = (i64)lower_local_offset(L, p) + ptx_opnd_offset(o);
    if (at < 0 || at % bytes || (u64)at + bytes > L->params_size) return;
    struct lower_reg *r = &L->regs[i->opnds[0].sym->id];
    r->row = lower_fill_row(L, FILL_PARAM, (u64)at, bytes, false);
    r->fixed = true;
}

static bool loads_param(const struct ptx_inst *i)
{
    return ptx_op_form(i->op) == PTX_F_ld && i->op->space == PTX_SPACE_PARAM &&
           ptx_types[i->op->type[0]].bits >= 16;
}

/* Instructions that need no micro-operation: their result is another register's row, or is filled in before a CTA
 * starts. */
static void find_aliases(struct lower *L)
{
    const struct ptx_stmt *stmts = L->body->stmts;
    const struct writes w = find_writes(L);
    for (u32 s = 0; s < L->body->count; s++) {
        if (stmts[s].kind != PTX_STMT_INST) continue;
        const struct ptx_inst *i = stmts[s].inst;
        if (!i->op || i->guard || i->count < 2 || i->opnds[0].kind != PTX_OPND_REG ||
            i->opnds[0].sel)
            continue;
        const struct ptx_sym *d = i->opnds[0].sym;
        if (d->vec > 1 || w.count[d->id] != 1) continue;
        const struct lower_reg *r = &L->regs[d->id];
        const unsigned bytes = lower_type_bytes(i->op->type[0]);
        if (bytes != r->bytes || bytes > 8) continue;
        if (is_identity(i)) alias_move(L, &w, i, bytes);
        else if (L->code->is_entry && loads_param(i)) fix_param(L, i, bytes);
        if (r->alias || r->fixed) L->known.skip[s] = true;
    }
    for (u32 r = 0; r < L->flow->reg_count; r++) /* to the end of each chain */
        while (L->regs[r].alias && L->regs[L->regs[r].alias - 1].alias)
            L->regs[r].alias = L->regs[L->regs[r].alias - 1].alias;
}

/* What find_lives() knows of a register's places beside the first and the last. */
struct places {
    u32 *def;    /* the first place, if it is a whole write */
    bool *clean; /* ... that all other places come after */
};

/* Calls see(..., register, whole write) for every place where a register is read or written: of a statement, reads
 * before writes. */
static void each_place(struct lower *L, struct places *p,
                       void (*see)(struct lower *L, struct places *p, u32 s, u32 reg, bool whole))
{
    const struct ptx_flow *f = L->flow;
    for (u32 s = 0; s < L->body->count; s++)
        for (int writing = 0; writing < 2; writing++)
            for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
                const bool write = f->uses[u].how & PTX_USE_WRITE;
                if (write != (writing == 1)) continue;
                u32 r = f->uses[u].reg;
                if (L->regs[r].alias) r = L->regs[r].alias - 1;
                see(L, p, s, r, f->uses[u].how & PTX_USE_KILL);
            }
}

static void see_first_and_last(struct lower *L, struct places *p, u32 s, u32 reg, bool whole)
{
    struct lower_reg *r = &L->regs[reg];
    if (r->first == UINT32_MAX) {
        r->first = s;
        p->def[reg] = s;
        p->clean[reg] = whole;
    }
    r->last = s;
}

static void see_whether_clean(struct lower *L, struct places *p, u32 s, u32 reg, bool whole)
{
    (void)whole;
    if (p->clean[reg] && s != p->def[reg] && !passed(L, p->def[reg], s)) p->clean[reg] = false;
}

/* Ways back: from the end of a block to the beginning of an earlier one. */
struct back {
    u32 from, to;
};
struct backs {
    struct back *list;
    size_t count, cap;
};

static void add_back(struct lower *L, struct backs *b, u32 from, u32 to)
{
    b->list = arena_grow(L->scratch, b->list, b->count, &b->cap, b->count + 1, sizeof *b->list);
    b->list[b->count++] = (struct back){from, to};
}

static struct backs find_backs(struct lower *L)
{
    const struct ptx_cfg *g = L->cfg;
    struct backs backs = {0};
    for (u32 b = 0; b < g->code_count; b++) {
        if (!ptx_cfg_reachable(g, b)) continue;
        for (u32 e = 0; e < g->blocks[b].succ_count; e++) {
            const u32 t = g->succs[g->blocks[b].succ + e];
            if (t >= g->code_count) { /* a hub: its targets may lie anywhere before */
                if (t != g->exit) add_back(L, &backs, g->blocks[g->code_count - 1].end, 0);
            } else if (t <= b) {
                add_back(L, &backs, g->blocks[b].end, g->blocks[t].first);
            }
        }
    }
    return backs;
}

/* Extends a register's life over a way back that it lies across. false: it needs no extension. */
static bool extend(struct lower_reg *x, const struct back *back, bool clean, u32 def)
{
    const u32 lo = back->to, hi = back->from;
    if (x->last < lo || x->first > hi || (x->first <= lo && x->last >= hi)) return false;
    if (clean && x->first >= lo && def == x->first) return false; /* written anew in each turn */
    if (x->first > lo) x->first = lo;
    if (x->last < hi) x->last = hi;
    return true;
}

/* A register lives from its first to its last place, and over every loop that it lies across. */
static void find_lives(struct lower *L)
{
    const struct ptx_flow *f = L->flow;
    struct lower_reg *regs = L->regs;
    for (u32 r = 0; r < f->reg_count; r++) regs[r].first = UINT32_MAX;
    struct places p = {arena_array(L->scratch, u32, f->reg_count),
                       arena_array(L->scratch, bool, f->reg_count)};
    each_place(L, &p, see_first_and_last);
    each_place(L, &p, see_whether_clean);
    for (u32 i = 0; i < f->param_count; i++)
        regs[f->params[i]].first = 0, regs[f->params[i]].last = UINT32_MAX;
    for (u32 i = 0; i < f->result_count; i++)
        regs[f->results[i]].first = 0, regs[f->results[i]].last = UINT32_MAX;
    const struct backs backs = find_backs(L);
    for (bool changed = backs.count > 0; changed;) {
        changed = false;
        for (u32 r = 0; r < f->reg_count; r++) {
            if (regs[r].first == UINT32_MAX || regs[r].alias || regs[r].fixed) continue;
            for (size_t k = 0; k < backs.count; k++)
                changed |= extend(&regs[r], &backs.list[k], p.clean[r], p.def[r]);
        }
    }
}

static int by_first(const void *a, const void *b)
{
    const struct lower_reg *const *p = a, *const *q = b;
    if ((*p)->first != (*q)->first) return (*p)->first < (*q)->first ? -1 : 1;
    return *p < *q ? -1 : 1;
}

static void give_rows(struct lower *L)
{
    u32 n = L->flow->reg_count;
    struct lower_reg **order = arena_array(L->scratch, struct lower_reg *, n);
    u32 count = 0;
    for (u32 r = 0; r < n; r++) {
        struct lower_reg *x = &L->regs[r];
        if (x->alias || x->fixed || x->first == UINT32_MAX) continue;
        if (x->vec > 1 || x->bytes == 16) x->row = lower_new_rows(L, x->bytes, x->vec);
        else order[count++] = x;
    }
    qsort(order, count, sizeof *order, by_first);
    struct {
        u32 *rows;
        size_t count, cap;
    } spare[3] = {0};
    struct lower_reg **live = arena_array(L->scratch, struct lower_reg *, count);
    u32 live_count = 0;
    for (u32 i = 0; i < count; i++) {
        struct lower_reg *x = order[i];
        u32 kept = 0;
        for (u32 k = 0; k < live_count; k++) {
            if (live[k]->last >= x->first) {
                live[kept++] = live[k];
                continue;
            }
            int c = live[k]->bytes == 8 ? 2 : live[k]->bytes == 4 ? 1 : 0;
            spare[c].rows = arena_grow(L->scratch, spare[c].rows, spare[c].count, &spare[c].cap,
                                       spare[c].count + 1, sizeof(u32));
            spare[c].rows[spare[c].count++] = live[k]->row;
        }
        live_count = kept;
        int c = x->bytes == 8 ? 2 : x->bytes == 4 ? 1 : 0;
        x->row = spare[c].count ? spare[c].rows[--spare[c].count] : lower_new_rows(L, x->bytes, 1);
        live[live_count++] = x;
    }
    for (u32 r = 0; r < n; r++)
        if (L->regs[r].alias) L->regs[r].row = L->regs[L->regs[r].alias - 1].row;
}

/* .local variables and .param variables of a function and its calls: offsets in the .local frame. Of a
 * kernel's parameters: in the parameter block. */
static void add_local(struct lower *L, const struct ptx_sym *s, u32 offset)
{
    L->locals.list = arena_grow(L->scratch, L->locals.list, L->locals.count, &L->locals.cap,
                                L->locals.count + 1, sizeof *L->locals.list);
    u32 *head = &L->locals.head[s->at % LOWER_HASH];
    L->locals.list[L->locals.count] = (struct lower_local){s, offset, *head};
    *head = (u32)++L->locals.count;
}

static void place_local(struct lower *L, const struct ptx_var *v, u64 *top)
{
    u64 align = ptx_var_align(v), size = ptx_var_size(v);
    if (align < 4) align = 4;
    *top = (*top + align - 1) / align * align;
    if (size > MEM_MAX_LOCAL || *top + size > MEM_MAX_LOCAL) {
        L->too_large = true;
        return;
    }
    add_local(L, v->sym, (u32)*top);
    *top += size;
}

struct ptx_var **lower_kernel_params(struct arena *a, const struct ptx_func *f, size_t *count)
{
    const struct ptx_proto *p = &f->proto;
    size_t n = f->body ? f->body->count : 0;
    struct ptx_var **list = arena_array(a, struct ptx_var *, p->param_count + n);
    *count = 0;
    for (u32 i = 0; i < p->param_count; i++) list[(*count)++] = p->params[i];
    for (size_t s = 0; s < n; s++)
        if (f->body->stmts[s].kind == PTX_STMT_VAR &&
            f->body->stmts[s].var->role == PTX_PARAM_KERNEL)
            list[(*count)++] = f->body->stmts[s].var;
    return list;
}

/* Variables of modules in .local (PTX before 3.0): every thread has its own, before the kernel's frame. */
void lower_place_module_locals(struct lower_driver *D)
{
    u64 top = 0;
    for (size_t i = 0; i < D->image->program->count; i++) {
        const struct ptx_module *m = D->image->program->modules[i];
        for (size_t k = 0; k < m->var_count; k++) {
            const struct ptx_var *v = m->vars[k];
            if (v->sym->space != PTX_SPACE_LOCAL) continue;
            u64 align = ptx_var_align(v) < 4 ? 4 : ptx_var_align(v), size = ptx_var_size(v);
            top = (top + align - 1) / align * align;
            if (size > MEM_MAX_LOCAL || top + size > MEM_MAX_LOCAL) {
                D->failed = "the .local variables of its modules are too large";
                return;
            }
            D->module_locals = arena_grow(D->arena, D->module_locals, D->module_local_count,
                                          &D->module_local_cap, D->module_local_count + 1,
                                          sizeof *D->module_locals);
            D->module_locals[D->module_local_count++] = (struct lower_local){v->sym, (u32)top, 0};
            top += size;
        }
    }
    D->module_local = (top + 15) / 16 * 16;
}

void lower_find_locals(struct lower *L)
{
    const struct ptx_proto *p = &L->func->proto;
    u64 top = L->code->is_entry ? L->driver->module_local : 0;
    if (L->code->is_entry) {
        struct image_params q;
        char *why = NULL;
        size_t count;
        struct ptx_var **params = lower_kernel_params(L->scratch, L->func, &count);
        if (!image_params_layout(L->scratch, params, count, MEM_MAX_PARAMS, &q, &why)) {
            L->driver->failed = arena_printf(L->arena, "%s", why);
            free(why);
            return;
        }
        for (u32 i = 0; i < q.count; i++) add_local(L, q.list[i].var->sym, q.list[i].offset);
        L->params_size = q.size;
    } else {
        for (u32 i = 0; i < p->ret_count; i++)
            if (!p->rets[i]->in_reg) place_local(L, p->rets[i], &top);
        for (u32 i = 0; i < p->param_count; i++)
            if (!p->params[i]->in_reg) place_local(L, p->params[i], &top);
    }
    for (size_t s = 0; s < L->body->count; s++) {
        const struct ptx_stmt *t = &L->body->stmts[s];
        if (t->kind != PTX_STMT_VAR) continue;
        if (t->var->role == PTX_PARAM_KERNEL) continue;
        if (t->var->sym->space == PTX_SPACE_LOCAL || t->var->sym->space == PTX_SPACE_PARAM)
            place_local(L, t->var, &top);
        char *why = NULL;
        if (!image_place(L->image, L->code->module, t->var, &why)) {
            L->driver->failed = arena_printf(L->driver->arena, "%s", why);
            free(why);
        }
    }
    L->code->frame.local = (u32)((top + 15) / 16 * 16);
}

void lower_find_registers(struct lower *L)
{
    u32 n = L->flow->reg_count;
    L->regs = arena_array(L->scratch, struct lower_reg, n);
    for (u32 r = 0; r + 1 < n; r++) {
        const struct ptx_sym *s = L->body->regs[r];
        L->regs[r].bytes = (u8)lower_type_bytes(s->type);
        L->regs[r].vec = s->vec ? s->vec : 1;
    }
    L->regs[n - 1] = (struct lower_reg){.bytes = 4, .vec = 1};
    find_aliases(L);
    find_lives(L);
    give_rows(L);
}
