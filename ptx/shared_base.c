/* Finds the .shared variable from whose address the address of an access was computed.
 *
 * Each register has a fact: its value depends on the address of no shared variable, of one, or of several (or of unknown
 * ones). The analysis is flow-insensitive: all writes of a register count. nvcc writes nearly every register once. Facts
 * only grow (none, one, many), so a few iterations reach the fixed point.
 *
 * A value loaded from memory counts as none, because indices are loaded far more often than addresses. So the result can
 * be wrong only for addresses that were stored to memory and loaded again. */
#include "ptx/flow.h"

#include "base/arena.h"
#include "ptx/ptx.h"

#include <string.h>

enum kind { UNKNOWN, NONE, ONE, MANY };

struct base {
    enum kind kind;
    const struct ptx_var *var; /* ONE */
};

static struct base joined(struct base a, struct base b)
{
    if (a.kind == UNKNOWN) return b;
    if (b.kind == UNKNOWN || (a.kind == b.kind && a.var == b.var)) return a;
    return (struct base){MANY, NULL};
}

/* Of a sum: an address and an offset are an address. */
static struct base sum(struct base a, struct base b)
{
    if (a.kind == NONE || b.kind == UNKNOWN) return a.kind == NONE ? b : a;
    if (b.kind == NONE || a.kind == UNKNOWN) return b.kind == NONE ? a : b;
    return (struct base){MANY, NULL};
}

/* Of any other result: if an address went into it, nobody knows what it is. */
static struct base mixed(struct base a, struct base b)
{
    if (a.kind == UNKNOWN || b.kind == UNKNOWN) return (struct base){UNKNOWN, NULL};
    if (a.kind == NONE && b.kind == NONE) return a;
    return (struct base){MANY, NULL};
}

static struct base of_operand(const struct base *regs, const struct ptx_opnd *o)
{
    const struct base none = {NONE, NULL};
    struct base b = none;
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_REG: return regs[o->sym->id];
    case PTX_OPND_SYM:
        if (o->sym->kind != PTX_SYM_VAR || o->sym->space != PTX_SPACE_SHARED) return none;
        return (struct base){ONE, o->sym->var};
    case PTX_OPND_ADDR: return of_operand(regs, &o->elem[0]);
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
    case PTX_OPND_PAIR:
        for (uint32_t i = 0; i < o->count; i++) b = mixed(b, of_operand(regs, &o->elem[i]));
        return b;
    default: return none;
    }
}

static bool is(const struct ptx_inst *i, const char *name)
{
    return strcmp(i->op->form->name, name) == 0;
}

/* What an instruction's results are. */
static struct base result(const struct base *regs, const struct ptx_inst *i)
{
    const struct ptx_opnd *o = i->opnds;
    if (i->op->form->effects & (PTX_READS | PTX_ATOMIC | PTX_FLOW))
        return (struct base){NONE, NULL};
    if (i->count == 2 && (is(i, "mov") || is(i, "cvta") || is(i, "cvta.to") || is(i, "cvt")))
        return of_operand(regs, &o[1]);
    if (i->count == 3 && (is(i, "add") || is(i, "or")))
        return sum(of_operand(regs, &o[1]), of_operand(regs, &o[2]));
    if (i->count == 3 && is(i, "sub")) {
        const struct base a = of_operand(regs, &o[1]), b = of_operand(regs, &o[2]);
        if (a.kind == ONE && b.kind == ONE) return (struct base){NONE, NULL}; /* a distance */
        return b.kind == NONE ? a : mixed(a, b);
    }
    if (i->count == 4 && (is(i, "mad.lo") || is(i, "mad.wide"))) {
        const struct base product = mixed(of_operand(regs, &o[1]), of_operand(regs, &o[2]));
        return sum(product, of_operand(regs, &o[3]));
    }
    if (i->count == 4 && is(i, "selp"))
        return joined(of_operand(regs, &o[1]), of_operand(regs, &o[2]));
    struct base b = {NONE, NULL};
    for (unsigned k = 1; k < i->count; k++) b = mixed(b, of_operand(regs, &o[k]));
    return b;
}

static bool learn(struct base *regs, const struct ptx_flow *f, size_t s)
{
    bool changed = false;
    const struct base r = result(regs, f->func->body->stmts[s].inst);
    for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
        if (!(f->uses[u].how & PTX_USE_WRITE)) continue;
        struct base *have = &regs[f->uses[u].reg];
        const struct base now = joined(*have, r);
        changed |= now.kind != have->kind || now.var != have->var;
        *have = now;
    }
    return changed;
}

const struct ptx_var **ptx_flow_shared_bases(struct arena *arena, const struct ptx_flow *f)
{
    const struct ptx_body *body = f->func->body;
    const struct ptx_var **bases = arena_array(arena, const struct ptx_var *, body->count + 1);
    struct arena *scratch = arena_new();
    struct base *regs = arena_array(scratch, struct base, f->reg_count + 1);
    for (uint32_t i = 0; i < f->param_count; i++) regs[f->params[i]].kind = MANY;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t s = 0; s < body->count; s++)
            if (body->stmts[s].kind == PTX_STMT_INST) changed |= learn(regs, f, s);
    }
    for (size_t s = 0; s < body->count; s++) {
        if (body->stmts[s].kind != PTX_STMT_INST) continue;
        const struct ptx_inst *i = body->stmts[s].inst;
        if (!(i->op->form->effects & (PTX_READS | PTX_WRITES | PTX_ATOMIC))) continue;
        for (unsigned k = 0; k < i->count && !bases[s]; k++) {
            const struct ptx_opnd *o = &i->opnds[k];
            if (o->kind != PTX_OPND_ADDR && !(o->kind == PTX_OPND_SYM && o->indexed)) continue;
            const struct base b = of_operand(regs, o);
            if (b.kind == ONE) bases[s] = b.var;
        }
    }
    arena_free(scratch);
    return bases;
}
