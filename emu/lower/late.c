/* Which loads an order may execute late (EMU_LATER): those that are followed by a store before the first instruction
 * that needs their result.
 *
 * The PTX memory model ("Memory Consistency Model") permits that a load takes place after later accesses of its thread
 * to other addresses, unless they depend on the load or another operation orders them. Such a load is pending from its
 * position to the first statement of the basic block that reads or writes its result, or that may order accesses: all
 * statements except arithmetic and loads and stores that neither acquire nor release. A micro-operation ld_late before
 * that statement executes the load if it is still pending. Accesses between the two compare their addresses with those
 * of the pending loads (mem_desc.pending); if they overlap, the load is executed first.
 *
 * A load without a following store is not made late: other threads cannot distinguish a late load from a load of a
 * newer value. */
#include "emu/lower/context.h"

#include "base/arena.h"
#include "ptx/cfg.h"
#include "ptx/flow.h"
#include "ptx/form.h"

#include <string.h>

struct pending {
    u32 load; /* its statement */
    bool has_store, is_open;
    u32 steps; /* accesses behind it */
    u32 row;   /* plus one; 0: none yet */
};

static bool is_load(const struct ptx_inst *i)
{
    return ptx_op_is_passing_load(i->op);
}

static bool is_store(const struct ptx_inst *i)
{
    return ptx_op_is_passing_store(i->op);
}

/* Whether loads may stay pending over it. Not over an access under a guard: lanes that it switches off may have loads
 * pending, too. */
static bool can_be_passed(const struct ptx_inst *i)
{
    const struct ptx_form_info *const form = i->op->form;
    if (is_load(i) || is_store(i)) return !i->guard;
    return !form->effects && (form->unit <= PTX_UNIT_VIDEO || form->unit == PTX_UNIT_MISC);
}

static bool is_seen_by_others(unsigned space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC || space == PTX_SPACE_SHARED ||
           space == PTX_SPACE_SHARED_CLUSTER;
}

static const struct ptx_opnd *result(const struct ptx_inst *i, u32 k)
{
    const struct ptx_opnd *o = &i->opnds[0];
    return o->kind == PTX_OPND_VEC ? &o->elem[k] : o;
}

static u32 results(const struct ptx_inst *i)
{
    return i->opnds[0].kind == PTX_OPND_VEC ? i->opnds[0].count : 1;
}

static u32 owner(const struct lower *L, u32 reg)
{
    return L->regs[reg].alias ? L->regs[reg].alias - 1 : reg;
}

/* Whether it may be pending at all. Its result must be whole registers, as wide as what is loaded. */
static bool is_candidate(const struct lower *L, const struct ptx_inst *i)
{
    if (!is_load(i) || i->guard || !is_seen_by_others(i->op->space)) return false;
    if (i->op->space != PTX_SPACE_GLOBAL && !(L->watched & LOWER_SHARED)) return false;
    for (u32 k = 0; k < results(i); k++) {
        const struct ptx_opnd *o = result(i, k);
        if (o->kind != PTX_OPND_REG || o->sel || o->sym->vec > 1) return false;
        const struct lower_reg *r = &L->regs[o->sym->id];
        if (r->bytes > 8 || r->bytes != lower_type_bytes(i->op->type[0]) || r->fixed || r->alias)
            return false;
    }
    return true;
}

/* Whether statement s reads or writes a result of the load at statement `load`. */
static bool needs(const struct lower *L, u32 s, u32 load)
{
    const struct ptx_flow *f = L->flow;
    const struct ptx_inst *i = L->body->stmts[load].inst;
    for (u32 u = f->use_at[s]; u < f->use_at[s + 1]; u++)
        for (u32 k = 0; k < results(i); k++)
            if (owner(L, f->uses[u].reg) == result(i, k)->sym->id) return true;
    return false;
}

/* The load can be pending up to `until`. It is kept if that makes a difference, and if until then no other register has the
 * row of its result. */
static void close_at(struct lower *L, struct pending *p, u32 until)
{
    const struct ptx_inst *i = L->body->stmts[p->load].inst;
    p->is_open = false;
    if (!p->has_store) return;
    for (u32 k = 0; k < results(i); k++)
        if (L->regs[result(i, k)->sym->id].last + 1 < until) return;
    if (!p->row) p->row = lower_new_rows(L, 8, 1) + 1;
    L->late.list = arena_grow(L->scratch, L->late.list, L->late.count, &L->late.cap,
                              L->late.count + 1u, sizeof *L->late.list);
    L->late.list[L->late.count++] = (struct lower_late){p->load, until, p->row - 1, p->steps, NULL};
    L->late.of[p->load] = L->late.count;
}

static void look_at(struct lower *L, struct pending p[LOWER_PENDING], u32 s)
{
    const struct ptx_inst *i = L->body->stmts[s].inst;
    const bool passes = can_be_passed(i),
               is_access = (is_load(i) || is_store(i)) && is_seen_by_others(i->op->space);
    for (u32 k = 0; k < LOWER_PENDING; k++) {
        if (!p[k].is_open) continue;
        if (!passes || needs(L, s, p[k].load)) {
            close_at(L, &p[k], s);
            continue;
        }
        p[k].steps += is_access;
        p[k].has_store |= is_access && is_store(i);
    }
    if (!is_candidate(L, i)) return;
    for (u32 k = 0; k < LOWER_PENDING; k++) {
        if (p[k].is_open) continue;
        p[k].is_open = true;
        p[k].has_store = false;
        p[k].steps = 0;
        p[k].load = s;
        return;
    }
}

void lower_find_late(struct lower *L)
{
    const struct ptx_cfg *g = L->cfg;
    struct pending p[LOWER_PENDING] = {0};
    if (!(L->watched & LOWER_LATE)) return;
    L->late.of = arena_array(L->scratch, u32, L->body->count + 1);
    for (u32 b = 0; b < g->code_count; b++) {
        if (!ptx_cfg_reachable(g, b)) continue;
        for (u32 s = g->blocks[b].first; s < g->blocks[b].end; s++)
            if (L->body->stmts[s].kind == PTX_STMT_INST && L->body->stmts[s].inst->op &&
                !L->known.skip[s] && L->known.needed[s])
                look_at(L, p, s);
        for (u32 k = 0; k < LOWER_PENDING; k++)
            if (p[k].is_open) close_at(L, &p[k], g->blocks[b].end);
    }
}

bool lower_may_be_late(const struct lower *L, u32 *row, u32 *steps)
{
    const u32 n = L->late.of ? L->late.of[L->stmt] : 0;
    if (!n) return false;
    *row = L->late.list[n - 1].row;
    *steps = L->late.list[n - 1].steps;
    return true;
}

void lower_is_late(struct lower *L, const struct emu_uop *load, u32 row)
{
    const u32 n = L->late.of[L->stmt] - 1;
    struct emu_uop *u = lower_alloc(L, sizeof *u);
    *u = *load;
    u->run = L->ops[UOP_ld_late];
    u->id = UOP_ld_late;
    u->a = row;
    u->x = 8;
    u->imm = -1; /* the row has addresses plus one */
    L->late.list[n].uop = u;
    L->late.open[L->late.open_count++] = n;
}

const struct emu_uop *const *lower_pending_loads(struct lower *L, u32 *count)
{
    const struct emu_uop **list = NULL;
    *count = 0;
    for (u32 i = 0; i < L->late.open_count; i++) {
        const struct lower_late *w = &L->late.list[L->late.open[i]];
        if (w->load == L->stmt) continue;
        if (!list) list = lower_alloc(L, LOWER_PENDING * sizeof *list);
        list[(*count)++] = w->uop;
    }
    return list;
}

void lower_late_before(struct lower *L, u32 s)
{
    for (; L->late.next < L->late.count && L->late.list[L->late.next].until <= s; L->late.next++) {
        const struct emu_uop *u = L->late.list[L->late.next].uop;
        u32 left = 0;
        for (u32 i = 0; i < L->late.open_count; i++)
            if (L->late.open[i] != L->late.next) L->late.open[left++] = L->late.open[i];
        L->late.open_count = left;
        if (u) *lower_emit(L, UOP_ld_late, 0, 0, 0, 0) = *u;
    }
}
