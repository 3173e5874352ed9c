#include "ptx/unroll.h"

#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/isa.h"
#include "ptx/ptx.h"

#include <string.h>

typedef uint32_t u32;

enum {
    ROUNDS = 4,
    MOST = 49,       /* of a body that waits for global memory */
    MOST_SHORT = 19, /* of another */
    MOST_KNOWN = 250 /* of all rounds that become one, of a known number */
};

struct loop {
    const struct ptx_flow *f;
    u32 first, end, branch; /* its statements; the one that closes it */
};

static const struct ptx_inst *inst_of(const struct ptx_flow *f, u32 stmt)
{
    const struct ptx_stmt *s = &f->func->body->stmts[stmt];
    return s->kind == PTX_STMT_INST && s->inst->op ? s->inst : NULL;
}

static bool is_named(const struct ptx_inst *i, const char *name)
{
    return strcmp(i->op->form->name, name) == 0;
}

static bool writes(const struct ptx_flow *f, u32 stmt, u32 reg)
{
    for (u32 u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++)
        if (f->uses[u].reg == reg && f->uses[u].how & PTX_USE_WRITE) return true;
    return false;
}

/* How many statements of [first, end) write the register; `which`: the last of them. */
static u32 writers(const struct ptx_flow *f, u32 first, u32 end, u32 reg, u32 *which)
{
    u32 n = 0;
    for (u32 s = first; s < end; s++)
        if (writes(f, s, reg)) n++, *which = s;
    return n;
}

static bool is_register(const struct ptx_opnd *o)
{
    return o->kind == PTX_OPND_REG && !o->negated && o->sel == PTX_SEL_NONE;
}

/* ---- the counter ------------------------------------------------------------------------------------------------ */

/* Whether the register gets itself and a constant in each round, perhaps by way of another (`next = i + 1; i = next`). */
static bool counts(const struct loop *l, u32 reg)
{
    u32 at = 0, from = 0;
    if (writers(l->f, l->first, l->end, reg, &at) != 1) return false;
    const struct ptx_inst *i = inst_of(l->f, at);
    if (!i || i->count < 2) return false;
    if (is_named(i, "mov") && is_register(&i->opnds[1])) {
        const u32 other = i->opnds[1].sym->id;
        if (writers(l->f, l->first, l->end, other, &from) != 1 || from > at) return false;
        i = inst_of(l->f, from);
    }
    if (!i || i->count != 3 || !(is_named(i, "add") || is_named(i, "sub")) ||
        i->opnds[2].kind != PTX_OPND_INT || !is_register(&i->opnds[1]))
        return false;
    const u32 source = i->opnds[1].sym->id;
    if (source == reg) return true;
    /* The register that is compared is the sum, and the counter gets it behind. */
    u32 back = 0;
    if (writers(l->f, l->first, l->end, source, &back) != 1) return false;
    const struct ptx_inst *copy = inst_of(l->f, back);
    return copy && is_named(copy, "mov") && is_register(&copy->opnds[1]) &&
           copy->opnds[1].sym->id == reg;
}

/* Whether it is a literal, or a register with no other value outside of the loop. */
static bool is_constant(const struct loop *l, const struct ptx_opnd *o, bool counter)
{
    const u32 all = (u32)l->f->func->body->count;
    u32 at = 0, behind = 0;
    if (o->kind == PTX_OPND_INT) return true;
    if (!is_register(o)) return false;
    const u32 before = writers(l->f, 0, l->first, o->sym->id, &at);
    if (before != 1 || writers(l->f, l->end, all, o->sym->id, &behind)) return false;
    if (!counter && writers(l->f, l->first, l->end, o->sym->id, &behind)) return false;
    const struct ptx_inst *i = inst_of(l->f, at);
    return i && !i->guard && is_named(i, "mov") && i->opnds[1].kind == PTX_OPND_INT;
}

struct limit {   /* how the loop ends */
    bool known;  /* after a number of rounds that the assembler can compute */
    bool equals; /* the counter is compared for equality */
};

/* Whether a counter alone ends the loop. */
static bool find_limit(const struct loop *l, struct limit *out)
{
    const struct ptx_inst *branch = inst_of(l->f, l->branch);
    u32 at = 0, unused = 0;
    if (!branch || !is_named(branch, "bra") || !branch->guard || branch->guard_not) return false;
    if (writers(l->f, l->first, l->end, branch->guard->id, &at) != 1) return false;
    const struct ptx_inst *test = inst_of(l->f, at);
    if (!test || test->guard || !is_named(test, "setp") || test->count != 3) return false;
    const uint8_t kind = ptx_types[test->op->type[0]].kind;
    if (kind != PTX_UINT && kind != PTX_SINT && kind != PTX_BITS) return false;
    for (u32 k = 1; k <= 2; k++) {
        const struct ptx_opnd *counter = &test->opnds[k], *other = &test->opnds[3 - k];
        if (!is_register(counter) || !counts(l, counter->sym->id)) continue;
        if (other->kind != PTX_OPND_INT &&
            (!is_register(other) || writers(l->f, l->first, l->end, other->sym->id, &unused)))
            continue;
        out->known = is_constant(l, counter, true) && is_constant(l, other, false);
        out->equals = ptx_op_has(test->op, "ne") || ptx_op_has(test->op, "eq");
        return true;
    }
    return false;
}

/* ---- the body --------------------------------------------------------------------------------------------------- */

enum { GLOBAL = 1, SHARED = 2, LOCAL = 4, UNCHANGED = 8 };

static u32 memory_of(const struct ptx_op *op)
{
    if (ptx_op_has(op, "param") || ptx_op_has(op, "const")) return UNCHANGED;
    if (ptx_op_has(op, "global")) return GLOBAL;
    if (ptx_op_has(op, "local")) return LOCAL;
    if (ptx_op_has(op, "shared") || ptx_op_has(op, "shared::cta")) return SHARED;
    return GLOBAL | SHARED | LOCAL;
}

static bool is_wide(const struct ptx_op *op)
{
    return op->form->unit == PTX_UNIT_IALU && ptx_types[op->type[0]].bits == 64;
}

/* Whether a 64-bit sum has the product before it for an operand: both are one instruction. */
static bool is_fused(const struct loop *l, u32 stmt)
{
    for (u32 u = l->f->use_at[stmt]; u < l->f->use_at[stmt + 1]; u++) {
        u32 at = 0;
        if (!(l->f->uses[u].how & PTX_USE_READ) ||
            writers(l->f, l->first, l->end, l->f->uses[u].reg, &at) != 1)
            continue;
        const struct ptx_inst *i = inst_of(l->f, at);
        if (i && is_named(i, "mul.wide")) return true;
    }
    return false;
}

/* Instructions of machine code. */
static u32 cost_of(const struct loop *l, u32 stmt)
{
    const struct ptx_op *op = inst_of(l->f, stmt)->op;
    switch (op->form->cost) {
    case PTX_COST_MEMORY: return 2;
    case PTX_COST_IDIV: return 16;
    case PTX_COST_FDIV: return 15;
    case PTX_COST_SFU: return ptx_op_has(op, "ftz") ? 1 : ptx_op_has(op, "sqrt") ? 6 : 4;
    default: break;
    }
    if (op->form->unit == PTX_UNIT_MOVE) return 0;
    if (is_wide(op)) return is_named(inst_of(l->f, stmt), "add") && is_fused(l, stmt) ? 0 : 2;
    return 1;
}

static bool is_allowed(const struct ptx_inst *i)
{
    const u32 not = PTX_ATOMIC | PTX_FENCE | PTX_BARRIER | PTX_LANES | PTX_EFFECT | PTX_FLOW;
    const u32 cost = i->op->form->cost;
    return !(i->op->form->effects & not ) && !i->guard && cost != PTX_COST_FDIV_RN &&
           cost != PTX_COST_FSQRT_RN && cost != PTX_COST_FRCP_RN && cost != PTX_COST_DDIV &&
           cost != PTX_COST_TENSOR && strncmp(i->op->text, "cp.", 3) != 0;
}

/* Whether each register that the statement writes gets a whole new value. */
static bool kills(const struct ptx_flow *f, u32 stmt)
{
    for (u32 u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++)
        if (f->uses[u].how & PTX_USE_WRITE && !(f->uses[u].how & PTX_USE_KILL)) return false;
    return true;
}

/* The instructions of machine code, 0: it is not unrolled, because of what is in it, how many there are, or because it loads
 * nothing. */
static u32 body_cost(const struct loop *l)
{
    u32 loaded = 0, stored = 0, cost = 1, shared = 0; /* the branch */
    for (u32 s = l->first; s < l->end; s++) {
        const struct ptx_stmt *stmt = &l->f->func->body->stmts[s];
        if (stmt->kind == PTX_STMT_PRAGMA && stmt->directive->text &&
            strncmp(stmt->directive->text, "nounroll", 8) == 0)
            return 0;
        if (stmt->kind != PTX_STMT_INST || s == l->branch) continue;
        const struct ptx_inst *i = inst_of(l->f, s);
        if (!i || !is_allowed(i) || !kills(l->f, s)) return 0;
        const u32 effects = i->op->form->effects, memory = memory_of(i->op);
        if (effects & PTX_READS) loaded |= memory;
        if (effects & PTX_WRITES) stored |= memory;
        shared += effects & PTX_READS && memory == SHARED;
        cost += cost_of(l, s);
    }
    loaded &= ~(u32)UNCHANGED;
    if (!loaded || loaded & stored) return 0;
    if (cost > MOST) return 0;
    if (loaded & (GLOBAL | LOCAL)) return cost;
    return cost - 2 * shared <= MOST_SHORT + 3 * shared ? cost : 0;
}

static uint8_t unrolled(const struct loop *l)
{
    struct limit limit = {false};
    const u32 cost = find_limit(l, &limit) ? body_cost(l) : 0;
    if (!cost) return 0;
    if (!limit.known) return PTX_UNROLL(ROUNDS, limit.equals ? PTX_UNROLL_ONES : PTX_UNROLL_HALVES);
    const u32 rounds = MOST_KNOWN / cost;
    return PTX_UNROLL(rounds < 63 ? rounds : 63, PTX_UNROLL_WHOLE);
}

const uint8_t *ptx_find_unrolled(struct arena *arena, const struct ptx_flow *f)
{
    const struct ptx_cfg *g = f->cfg;
    uint8_t *found = NULL;
    for (u32 k = 0; k < g->loop_count; k++) {
        if (g->loops[k].blocks != 1) continue;
        const struct ptx_block *b = &g->blocks[g->loops[k].header];
        if (b->term == PTX_NONE || b->irreducible) continue;
        const struct loop l = {f, b->first, b->end, b->term};
        const uint8_t rounds = unrolled(&l);
        if (!rounds) continue;
        if (!found) found = arena_array(arena, uint8_t, f->func->body->count);
        found[b->term] = rounds;
    }
    return found;
}
