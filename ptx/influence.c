/* What the value of a register may influence: control flow, addresses, synchronisation, memory (ptx/flow.h).
 *
 * Each register has a set of enum ptx_influence. A read adds to the set of the register that it reads: a guard or the
 * index of a branch adds CONTROL, the base of an address or a coordinate of a texture adds ADDRESS, the operands of
 * barriers and the lane masks of .sync instructions add SYNC, a stored value or an argument of a call adds MEMORY. Any other
 * read adds the sets of the registers that the instruction writes. The analysis is flow-insensitive: all statements that
 * read a register count. Sets only grow, so the iteration reaches a fixed point.
 *
 * The analysis follows neither data through memory and calls (MEMORY marks these values) nor implicit flows: which value a
 * register gets because a branch was taken. The condition of that branch has CONTROL. */
#include "ptx/flow.h"

#include "base/arena.h"
#include "ptx/ptx.h"

#include <string.h>

const char *ptx_influence_name(unsigned bit)
{
    switch (bit) {
    case PTX_INFLUENCE_CONTROL: return "control flow";
    case PTX_INFLUENCE_ADDRESS: return "address";
    case PTX_INFLUENCE_SYNC: return "synchronisation";
    default: return "memory";
    }
}

/* Whether the last operand names lanes or threads that take part. */
static bool is_lane_mask(const struct ptx_inst *i, unsigned opnd)
{
    static const char *const forms[] = {"shfl", "vote", "match", "redux", "elect"};
    if (opnd + 1u != i->count || !ptx_op_has(i->op, "sync")) return false;
    for (size_t k = 0; k < sizeof forms / sizeof *forms; k++)
        if (strcmp(i->op->form->name, forms[k]) == 0) return true;
    return false;
}

/* What a read does by itself; *flows: the registers that the instruction writes depend on it. */
static unsigned of_read(const struct ptx_inst *i, const struct ptx_use *u, bool *flows)
{
    const struct ptx_form_info *form = i->op->form;
    *flows = true;
    if (u->how & PTX_USE_GUARD) return PTX_INFLUENCE_CONTROL;
    const struct ptx_opnd *o = u->opnd < i->count ? &i->opnds[u->opnd] : NULL;
    if (u->how & PTX_USE_ADDRESS || (o && o->kind == PTX_OPND_BRACKET))
        return PTX_INFLUENCE_ADDRESS;
    if (ptx_inst_is_call(i)) /* the callee, or its arguments */
        return o == ptx_inst_call(i).callee ? PTX_INFLUENCE_CONTROL : PTX_INFLUENCE_MEMORY;
    if (form->effects & PTX_FLOW) return PTX_INFLUENCE_CONTROL;
    if (is_lane_mask(i, u->opnd)) return PTX_INFLUENCE_SYNC;
    if (form->unit == PTX_UNIT_SYNC) {
        const bool reduced = strstr(form->name, ".red") && u->opnd + 1u == i->count;
        return reduced ? 0 : PTX_INFLUENCE_SYNC;
    }
    if (form->effects & (PTX_WRITES | PTX_ATOMIC)) {
        *flows = false;
        return PTX_INFLUENCE_MEMORY;
    }
    return 0;
}

static bool learn(uint8_t *regs, const struct ptx_flow *f, size_t s)
{
    const struct ptx_inst *i = f->func->body->stmts[s].inst;
    unsigned written = 0;
    bool changed = false, flows;
    for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++)
        if (f->uses[u].how & PTX_USE_WRITE) written |= regs[f->uses[u].reg];
    for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
        if (!(f->uses[u].how & PTX_USE_READ)) continue;
        uint8_t *have = &regs[f->uses[u].reg];
        const unsigned own = of_read(i, &f->uses[u], &flows),
                       now = *have | own | (flows ? written : 0);
        changed |= now != *have;
        *have = (uint8_t)now;
    }
    return changed;
}

uint8_t *ptx_flow_influence(struct arena *arena, const struct ptx_flow *f)
{
    const struct ptx_body *body = f->func->body;
    uint8_t *by_stmt = arena_array(arena, uint8_t, body->count + 1);
    struct arena *scratch = arena_new();
    uint8_t *regs = arena_array(scratch, uint8_t, f->reg_count + 1);
    for (uint32_t i = 0; i < f->result_count; i++) regs[f->results[i]] = PTX_INFLUENCE_MEMORY;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t s = body->count; s-- > 0;)
            if (body->stmts[s].kind == PTX_STMT_INST) changed |= learn(regs, f, s);
    }
    for (size_t s = 0; s < body->count; s++)
        for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++)
            if (f->uses[u].how & PTX_USE_WRITE) by_stmt[s] |= regs[f->uses[u].reg];
    arena_free(scratch);
    return by_stmt;
}
