#include "emu/measure/trace_combined.h"

#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/isa.h"
#include "ptx/ptx.h"

#include <string.h>

typedef uint32_t u32;

static bool is_add(const struct ptx_op *op)
{
    return ptx_op_has(op, "add");
}

/* Whether the assembler has a sequence for it that lets one lane speak for all, if they name one word. */
static bool may_combine(const struct ptx_inst *i)
{
    static const char *const others[] = {"min", "max", "and", "or", "xor"};
    const struct ptx_op *op = i->op;
    if (!op || !(op->form->effects & PTX_ATOMIC) || !i->count) return false;
    const enum ptx_type_kind kind = (enum ptx_type_kind)ptx_types[op->type[0]].kind;
    const bool numbers = kind == PTX_UINT || kind == PTX_SINT || kind == PTX_BITS,
               literal = i->opnds[i->count - 1].kind == PTX_OPND_INT;
    if (!numbers) return false;
    if (ptx_types[op->type[0]].bits == 64) return is_add(op) && literal;
    if (ptx_types[op->type[0]].bits != 32) return false;
    if (is_add(op)) return true;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (ptx_op_has(op, others[k])) return true;
    return false;
}

static bool has_one_address(const struct ptx_flow *f, const struct ptx_uniform *u, u32 stmt)
{
    for (u32 k = f->use_at[stmt]; k < f->use_at[stmt + 1]; k++)
        if (f->uses[k].how & PTX_USE_ADDRESS && u->uses[k].spread > PTX_SPREAD_WARP) return false;
    return !u->coarse;
}

bool *trace_combined(struct arena *scratch, const struct ptx_flow *f)
{
    const struct ptx_body *body = f->func->body;
    const struct ptx_uniform *u = NULL;
    bool *out = NULL;
    for (u32 s = 0; s < body->count; s++) {
        if (body->stmts[s].kind != PTX_STMT_INST || !may_combine(body->stmts[s].inst)) continue;
        if (!u) u = ptx_uniform_new(scratch, f);
        if (!has_one_address(f, u, s)) continue;
        if (!out) out = arena_array(scratch, bool, body->count);
        out[s] = true;
    }
    return out;
}
