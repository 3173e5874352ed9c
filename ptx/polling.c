#include "ptx/polling.h"

#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/form.h"
#include "ptx/ptx.h"

#include <string.h>

static const struct ptx_inst *inst_of(const struct ptx_flow *f, uint32_t stmt)
{
    const struct ptx_stmt *s = &f->func->body->stmts[stmt];
    return s->kind == PTX_STMT_INST && s->inst->op ? s->inst : NULL;
}

static bool is_polled(const struct ptx_inst *i)
{
    if (!i || ptx_op_has(i->op, "shared") || ptx_op_has(i->op, "shared::cta")) return false;
    const unsigned effects = i->op->form->effects;
    const bool loads = i->op->form->unit == PTX_UNIT_MEM && effects & PTX_READS;
    return (loads && ptx_op_is_strong(i->op)) ||
           (effects & PTX_ATOMIC && ptx_op_has(i->op, "exch"));
}

/* Marks what the statement writes if it is the load or reads something marked. Returns whether a mark is new. */
static bool follow(const struct ptx_flow *f, uint32_t stmt, bool is_load, bool *marked)
{
    bool from = is_load, any = false;
    const struct ptx_use *uses = f->uses;
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++)
        from |= uses[u].how & PTX_USE_READ && !(uses[u].how & PTX_USE_ADDRESS) &&
                marked[uses[u].reg];
    for (uint32_t u = f->use_at[stmt]; from && u < f->use_at[stmt + 1]; u++) {
        if (!(uses[u].how & PTX_USE_WRITE) || marked[uses[u].reg]) continue;
        marked[uses[u].reg] = any = true;
    }
    return any;
}

/* Whether the block's end decides by a marked register whether control leaves the loop. */
static bool leaves_by(const struct ptx_flow *f, uint32_t loop, uint32_t block, const bool *marked)
{
    const struct ptx_block *b = &f->cfg->blocks[block];
    const struct ptx_inst *i = b->term == PTX_NONE ? NULL : inst_of(f, b->term);
    if (!i || !i->guard || !marked[i->guard->id]) return false;
    for (uint32_t s = 0; s < b->succ_count; s++)
        if (!ptx_cfg_in_loop(f->cfg, loop, f->cfg->succs[b->succ + s])) return true;
    return false;
}

uint32_t ptx_loop_exit_by(const struct ptx_flow *f, uint32_t loop, uint32_t load, bool *marked)
{
    const struct ptx_cfg *g = f->cfg;
    memset(marked, 0, f->reg_count * sizeof *marked);
    for (bool any = true; any;) {
        any = false;
        for (uint32_t b = g->loops[loop].header; b < g->code_count; b++) {
            if (!ptx_cfg_in_loop(g, loop, b)) continue;
            for (uint32_t s = g->blocks[b].first; s < g->blocks[b].end; s++)
                if (inst_of(f, s)) any |= follow(f, s, s == load, marked);
            if (leaves_by(f, loop, b, marked)) return b;
        }
    }
    return PTX_NONE;
}

static bool reads_or_writes(const struct ptx_flow *f, uint32_t stmt, uint32_t reg, unsigned how)
{
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++)
        if (f->uses[u].reg == reg && f->uses[u].how & how && !(f->uses[u].how & PTX_USE_ADDRESS))
            return true;
    return false;
}

static bool is_written(const struct ptx_flow *f, uint32_t loop, uint32_t reg)
{
    const struct ptx_cfg *g = f->cfg;
    for (uint32_t b = g->loops[loop].header; b < g->code_count; b++)
        for (uint32_t s = g->blocks[b].first; ptx_cfg_in_loop(g, loop, b) && s < g->blocks[b].end;
             s++)
            if (reads_or_writes(f, s, reg, PTX_USE_WRITE)) return true;
    return false;
}

/* Whether the loop writes what the statement reads beside what the load gives; of the load itself, its address. */
static bool varies(const struct ptx_flow *f, uint32_t loop, uint32_t load, uint32_t stmt)
{
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++) {
        const uint32_t reg = f->uses[u].reg;
        if (!(f->uses[u].how & PTX_USE_READ)) continue;
        if (stmt != load && reads_or_writes(f, load, reg, PTX_USE_WRITE)) continue;
        if (is_written(f, loop, reg)) return true;
    }
    return false;
}

/* How the loop decides at the block's end: by one comparison of the loaded value itself, or otherwise. */
static enum ptx_poll decision(const struct ptx_flow *f, uint32_t loop, uint32_t load,
                              uint32_t block)
{
    const struct ptx_block *b = &f->cfg->blocks[block];
    const struct ptx_inst *end = inst_of(f, b->term), *compare = NULL;
    uint32_t at = 0;
    bool direct = false;
    if (varies(f, loop, load, load)) return PTX_POLL_MOVING;
    for (uint32_t s = b->first; s < b->end; s++) {
        if (!reads_or_writes(f, s, end->guard->id, PTX_USE_WRITE)) continue;
        compare = inst_of(f, s), direct = false, at = s;
        for (uint32_t u = f->use_at[load]; u < f->use_at[load + 1]; u++)
            direct |= f->uses[u].how & PTX_USE_WRITE &&
                      reads_or_writes(f, s, f->uses[u].reg, PTX_USE_READ);
    }
    const bool equal = compare && ptx_op_has(compare->op, "eq"),
               unequal = compare && ptx_op_has(compare->op, "ne");
    if (!direct || compare->guard || strcmp(compare->op->form->name, "setp") != 0 ||
        !(equal || unequal) || block + 1 >= f->cfg->code_count || varies(f, loop, load, at))
        return PTX_POLL_ANY;
    const bool goes_on_by_branch = !ptx_cfg_in_loop(f->cfg, loop, block + 1),
               goes_on_if_true = goes_on_by_branch != end->guard_not;
    return goes_on_if_true == unequal ? PTX_POLL_VALUE : PTX_POLL_ANY;
}

/* Whether a lock may be taken by the exchange: each round writes the same value to the same place, and a branch of the loop depends
 * on what was there. `marked`: what does (ptx_loop_exit_by()). */
static bool tries_lock(const struct ptx_flow *f, uint32_t loop, uint32_t stmt, const bool *marked)
{
    const struct ptx_cfg *g = f->cfg;
    if (!(inst_of(f, stmt)->op->form->effects & PTX_ATOMIC) || varies(f, loop, stmt, stmt))
        return false;
    for (uint32_t b = g->loops[loop].header; b < g->code_count; b++) {
        const struct ptx_block *x = &g->blocks[b];
        const struct ptx_inst *i = x->term == PTX_NONE ? NULL : inst_of(f, x->term);
        if (ptx_cfg_in_loop(g, loop, b) && i && i->guard && marked[i->guard->id]) return true;
    }
    return false;
}

const uint8_t *ptx_find_polls(struct arena *arena, const struct ptx_flow *f)
{
    const struct ptx_cfg *g = f->cfg;
    bool *marked = NULL;
    uint8_t *found = NULL;
    for (uint32_t b = 0; b < g->code_count; b++) {
        const uint32_t loop = g->blocks[b].loop;
        for (uint32_t s = g->blocks[b].first; loop != PTX_NONE && s < g->blocks[b].end; s++) {
            if (!is_polled(inst_of(f, s))) continue;
            if (!marked) marked = arena_array(arena, bool, f->reg_count + 1);
            const uint32_t exit = ptx_loop_exit_by(f, loop, s, marked);
            if (exit == PTX_NONE && !tries_lock(f, loop, s, marked)) continue;
            if (!found) found = arena_array(arena, uint8_t, f->func->body->count);
            found[s] = (uint8_t)(exit == PTX_NONE ? PTX_POLL_ANY : decision(f, loop, s, exit));
        }
    }
    return found;
}

const bool *ptx_find_polling_loops(struct arena *arena, const struct ptx_flow *f,
                                   const uint8_t *polls)
{
    const struct ptx_cfg *g = f->cfg;
    bool *in = arena_array(arena, bool, f->func->body->count);
    for (uint32_t b = 0; b < g->code_count; b++) {
        bool any = false;
        for (uint32_t s = g->blocks[b].first; s < g->blocks[b].end; s++) any |= polls[s] != 0;
        for (uint32_t k = g->blocks[b].loop == PTX_NONE ? g->code_count : 0;
             any && k < g->code_count; k++)
            for (uint32_t s = g->blocks[k].first;
                 ptx_cfg_in_loop(g, g->blocks[b].loop, k) && s < g->blocks[k].end; s++)
                in[s] = true;
    }
    return in;
}

bool ptx_polls(struct arena *arena, const struct ptx_flow *f)
{
    return ptx_find_polls(arena, f) != NULL;
}
