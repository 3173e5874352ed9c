/* Static detection of SIMT deadlocks: see simt_deadlock.h. */
#include "ptx/simt_deadlock.h"

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/flow.h"
#include "ptx/polling.h"
#include "ptx/ptx.h"

#include <string.h>

enum { MOST_ORIGINS = 16 };

struct search { /* in one function */
    struct arena *arena;
    const struct ptx_module *m;
    const struct ptx_flow *f;
    const struct ptx_uniform *u;
    bool *marked, *seen; /* scratch: by register */
    bool *reached;       /* likewise: by block */
    uint32_t *todo;      /* likewise: registers or blocks */
};

static const struct ptx_inst *inst_of(const struct ptx_flow *f, uint32_t stmt)
{
    const struct ptx_stmt *s = &f->func->body->stmts[stmt];
    return s->kind == PTX_STMT_INST && s->inst->op ? s->inst : NULL;
}

/* Memory that other threads reach: global, shared or generic. */
static bool is_common(const struct ptx_inst *i)
{
    static const char *const own[] = {"param", "local", "const", "nc"};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (ptx_op_has(i->op, own[k])) return false;
    return i->op->form->unit == PTX_UNIT_MEM || i->op->form->unit == PTX_UNIT_ATOM;
}

static bool has_effect(const struct ptx_inst *i, unsigned effects)
{
    return i && is_common(i) && (i->op->form->effects & effects);
}

/* ---- what an address is made of -------------------------------------------------------------------------- */

struct origins {
    const void *of[MOST_ORIGINS]; /* symbols of parameters and variables, statements of loads */
    size_t count;
    bool unknown; /* there are more */
};

static void add_origin(struct origins *o, const void *what)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->of[i] == what) return;
    if (o->count == MOST_ORIGINS) o->unknown = true;
    else o->of[o->count++] = what;
}

/* Names among the operands: mov %rd1, lock; ld.param.u64 %rd1, [p]. */
static bool add_names(struct origins *o, const struct ptx_inst *i)
{
    bool any = false;
    for (uint16_t k = 0; k < i->count; k++) {
        const struct ptx_opnd *base = ptx_opnd_base(&i->opnds[k]);
        if (base->kind != PTX_OPND_SYM) continue;
        add_origin(o, base->sym);
        any = true;
    }
    return any;
}

static uint32_t width_of(const struct ptx_flow *f, uint32_t reg)
{
    if (reg >= f->func->body->reg_count) return 0;
    return ptx_types[f->func->body->regs[reg]->type].bits;
}

/* What the statement gives one of its results: a name, a loaded value, or what it reads. */
static size_t follow_write(const struct search *s, uint32_t stmt, uint32_t width, struct origins *o,
                           size_t count)
{
    const struct ptx_flow *f = s->f;
    const struct ptx_inst *i = inst_of(f, stmt);
    if (!i || add_names(o, i)) return count;
    if (i->op->form->effects & (PTX_READS | PTX_ATOMIC)) {
        add_origin(o, i);
        return count;
    }
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++) {
        const struct ptx_use *use = &f->uses[u];
        if (!(use->how & PTX_USE_READ) || s->seen[use->reg] || width_of(f, use->reg) != width)
            continue;
        s->seen[use->reg] = true;
        s->todo[count++] = use->reg;
    }
    return count;
}

/* Where the address of a statement's access comes from. Only registers as wide as the address are followed: an index
 * that is widened is none. */
static struct origins origins_of(const struct search *s, uint32_t stmt)
{
    const struct ptx_flow *f = s->f;
    struct origins o = {.count = 0};
    size_t count = 0;
    memset(s->seen, 0, f->reg_count * sizeof *s->seen);
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++)
        if (f->uses[u].how & PTX_USE_ADDRESS && !s->seen[f->uses[u].reg]) {
            s->seen[f->uses[u].reg] = true;
            s->todo[count++] = f->uses[u].reg;
        }
    if (!count) (void)add_names(&o, inst_of(f, stmt));
    while (count) {
        const uint32_t reg = s->todo[--count], width = width_of(f, reg);
        for (uint32_t w = 0; w < f->func->body->count; w++)
            for (uint32_t u = f->use_at[w]; u < f->use_at[w + 1]; u++)
                if (f->uses[u].reg == reg && f->uses[u].how & PTX_USE_WRITE)
                    count = follow_write(s, w, width, &o, count);
    }
    return o;
}

static bool may_be_equal(const struct origins *a, const struct origins *b)
{
    if (a->unknown || b->unknown) return true;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (a->of[i] == b->of[k]) return true;
    return !a->count && !b->count;
}

/* ---- which blocks lie where ---------------------------------------------------------------------------------- */

/* Marks the blocks that control may reach from `from`, itself included, without passing `end`. */
static void reach(const struct search *s, uint32_t from, uint32_t end)
{
    const struct ptx_cfg *g = s->f->cfg;
    size_t count = 0;
    memset(s->reached, 0, g->count * sizeof *s->reached);
    if (from == PTX_NONE || from == end) return;
    s->reached[from] = true;
    s->todo[count++] = from;
    while (count) {
        const struct ptx_block *b = &g->blocks[s->todo[--count]];
        for (uint32_t k = 0; k < b->succ_count; k++) {
            const uint32_t next = g->succs[b->succ + k];
            if (next == end || s->reached[next]) continue;
            s->reached[next] = true;
            s->todo[count++] = next;
        }
    }
}

/* The statement that writes a register, if it is one. */
static uint32_t only_write(const struct ptx_flow *f, uint32_t reg)
{
    uint32_t found = PTX_NONE;
    for (uint32_t w = 0; w < f->func->body->count; w++)
        for (uint32_t u = f->use_at[w]; u < f->use_at[w + 1]; u++) {
            if (f->uses[u].reg != reg || !(f->uses[u].how & PTX_USE_WRITE)) continue;
            if (found != PTX_NONE) return PTX_NONE;
            found = w;
        }
    return found;
}

/* A read of a value that each lane of a warp has another of: tid.x, or laneid = tid.x & 31. */
static bool differs_by_lane(const struct search *s, uint32_t use)
{
    const struct ptx_flow *f = s->f;
    if (s->u->uses[use].spread == PTX_SPREAD_AFFINE) return true;
    const uint32_t w = only_write(f, f->uses[use].reg);
    const struct ptx_inst *i = w == PTX_NONE ? NULL : inst_of(f, w);
    if (!i || strcmp(i->op->form->name, "and") != 0 || i->count != 3) return false;
    if (i->opnds[2].kind != PTX_OPND_INT || (i->opnds[2].bits & 31) != 31) return false;
    for (uint32_t u = f->use_at[w]; u < f->use_at[w + 1]; u++)
        if (f->uses[u].how & PTX_USE_READ)
            return s->u->uses[u].spread == PTX_SPREAD_AFFINE && s->u->uses[u].stride % 2 != 0;
    return false;
}

/* Whether the statement compares such a value with one that all lanes have: 1 for eq, -1 for ne; 0: it does not. */
static int compares_lanes(const struct search *s, uint32_t stmt)
{
    const struct ptx_inst *i = stmt == PTX_NONE ? NULL : inst_of(s->f, stmt);
    if (!i || strcmp(i->op->form->name, "setp") != 0) return 0;
    const int sign = ptx_op_has(i->op, "eq") ? 1 : ptx_op_has(i->op, "ne") ? -1 : 0;
    unsigned lanes = 0, others = 0;
    for (uint32_t u = s->f->use_at[stmt]; u < s->f->use_at[stmt + 1]; u++) {
        if (!(s->f->uses[u].how & PTX_USE_READ)) continue;
        if (differs_by_lane(s, u)) lanes++;
        else if (s->u->uses[u].spread > PTX_SPREAD_WARP) others++;
    }
    return lanes == 1 && !others ? sign : 0;
}

/* Whether control comes to a block over one edge alone, or back from what it dominates. */
static bool has_one_entry(const struct ptx_cfg *g, uint32_t b)
{
    unsigned entries = 0;
    for (uint32_t k = 0; k < g->blocks[b].pred_count; k++) {
        const uint32_t p = g->preds[g->blocks[b].pred + k];
        entries += ptx_cfg_reachable(g, p) && !ptx_cfg_dominates(g, b, p);
    }
    return entries == 1;
}

/* Whether at most one lane of a warp comes to the block: behind the equal side of such a comparison. */
static bool has_one_lane(const struct search *s, uint32_t block)
{
    const struct ptx_cfg *g = s->f->cfg;
    for (uint32_t b = block, d; (d = g->blocks[b].idom) != PTX_NONE; b = d) {
        const struct ptx_block *from = &g->blocks[d];
        const struct ptx_inst *i = from->term == PTX_NONE ? NULL : inst_of(s->f, from->term);
        if (!i || !i->guard || from->succ_count != 2) continue;
        const int equal = compares_lanes(s, only_write(s->f, i->guard->id));
        /* The last successor is where control goes if the guard is false. */
        const uint32_t taken = g->succs[from->succ], next = g->succs[from->succ + 1];
        const uint32_t when_equal = (equal > 0) != i->guard_not ? taken : next;
        if (equal && ptx_cfg_reachable(g, when_equal) && ptx_cfg_dominates(g, when_equal, block) &&
            has_one_entry(g, when_equal))
            return true;
    }
    return false;
}

/* ---- loops ----------------------------------------------------------------------------------------------------- */

/* Whether the loop writes a register that the statement reads in one of its operands. */
static bool changes_in(const struct search *s, uint32_t loop, uint32_t stmt, bool address,
                       uint16_t operand)
{
    const struct ptx_flow *f = s->f;
    for (uint32_t a = f->use_at[stmt]; a < f->use_at[stmt + 1]; a++) {
        const struct ptx_use *read = &f->uses[a];
        if (!(read->how & PTX_USE_READ)) continue;
        if (address ? !(read->how & PTX_USE_ADDRESS) : read->opnd != operand) continue;
        for (uint32_t w = 0; w < f->func->body->count; w++) {
            if (!inst_of(f, w) || !ptx_cfg_in_loop(f->cfg, loop, ptx_cfg_block_of(f->cfg, w)))
                continue;
            for (uint32_t u = f->use_at[w]; u < f->use_at[w + 1]; u++)
                if (f->uses[u].how & PTX_USE_WRITE && f->uses[u].reg == read->reg) return true;
        }
    }
    return false;
}

/* An atomic by which locks are taken and flags are read: exch; or, and; add of 0; cas with the same comparand each time.
 * A cas whose comparand is what it read before is a lock-free update: no lane waits for a store behind the loop. */
static bool waits_by_atomic(const struct search *s, uint32_t loop, uint32_t stmt)
{
    const struct ptx_inst *i = inst_of(s->f, stmt);
    const struct ptx_opnd *operand = i->count > 2 ? &i->opnds[2] : NULL;
    if (ptx_op_has(i->op, "cas")) return !changes_in(s, loop, stmt, false, 2);
    if (ptx_op_has(i->op, "add")) return operand && operand->kind == PTX_OPND_INT && !operand->bits;
    return ptx_op_has(i->op, "exch") || ptx_op_has(i->op, "or") || ptx_op_has(i->op, "and");
}

/* A read of a place that stays the same while the loop goes round. */
static bool may_be_awaited(const struct search *s, uint32_t loop, uint32_t stmt)
{
    const struct ptx_inst *i = inst_of(s->f, stmt);
    if (!has_effect(i, PTX_READS | PTX_ATOMIC) || changes_in(s, loop, stmt, true, 0)) return false;
    return !(i->op->form->effects & PTX_ATOMIC) || waits_by_atomic(s, loop, stmt);
}

/* A store that may change what is awaited, in the blocks that are marked and not in the loop; PTX_NONE: none. */
static uint32_t release_in(const struct search *s, uint32_t loop, uint32_t load,
                           const struct origins *awaited)
{
    const struct ptx_flow *f = s->f;
    for (uint32_t b = 0; b < f->cfg->code_count; b++) {
        if (!s->reached[b] || ptx_cfg_in_loop(f->cfg, loop, b)) continue;
        for (uint32_t w = f->cfg->blocks[b].first; w < f->cfg->blocks[b].end; w++) {
            if (w == load || !has_effect(inst_of(f, w), PTX_WRITES | PTX_ATOMIC)) continue;
            const struct origins to = origins_of(s, w);
            if (may_be_equal(awaited, &to)) return w;
        }
    }
    return PTX_NONE;
}

/* Whether the loop itself stores where it reads: lanes that leave it have then released what they took. */
static bool stores_inside(const struct search *s, uint32_t loop, uint32_t load,
                          const struct origins *awaited)
{
    const struct ptx_flow *f = s->f;
    for (uint32_t b = 0; b < f->cfg->code_count; b++) {
        if (!ptx_cfg_reachable(f->cfg, b) || !ptx_cfg_in_loop(f->cfg, loop, b)) continue;
        for (uint32_t w = f->cfg->blocks[b].first; w < f->cfg->blocks[b].end; w++) {
            if (w == load || !has_effect(inst_of(f, w), PTX_WRITES | PTX_ATOMIC)) continue;
            const struct origins to = origins_of(s, w);
            if (may_be_equal(awaited, &to)) return true;
        }
    }
    return false;
}

/* A store on the other side of a branch that lanes may take both ways, before these sides meet. */
static uint32_t release_beside(const struct search *s, uint32_t loop, uint32_t load,
                               const struct origins *awaited)
{
    const struct ptx_cfg *g = s->f->cfg;
    const uint32_t header = g->loops[loop].header;
    for (uint32_t d = g->blocks[header].idom; d != PTX_NONE; d = g->blocks[d].idom) {
        const struct ptx_block *b = &g->blocks[d];
        uint32_t found = PTX_NONE;
        bool loops = false; /* the loop is on one of the sides, not behind them */
        if (b->succ_count < 2 || s->u->branch[d] <= PTX_SPREAD_WARP || has_one_lane(s, d)) continue;
        for (uint32_t k = 0; k < b->succ_count; k++) {
            reach(s, g->succs[b->succ + k], b->rejoin);
            if (s->reached[header]) loops = true;
            else if (found == PTX_NONE) found = release_in(s, loop, load, awaited);
        }
        if (loops && found != PTX_NONE) return found;
    }
    return PTX_NONE;
}

static void report(const struct search *s, uint32_t load, uint32_t release, bool beside)
{
    const struct ptx_inst *i = inst_of(s->f, load), *r = inst_of(s->f, release);
    const uint32_t length = (uint32_t)strlen(i->op->form->name);
    diag_warning(
        s->m->diags, i->at, length,
        "SIMT deadlock: the loop goes round until this value changes, and lanes of the same "
        "warp may wait to change it");
    diag_note(s->m->diags, r->at, (uint32_t)strlen(r->op->form->name),
              beside
                  ? "this may change it, on the other side of a branch: the warp may execute the "
                    "loop first"
                  : "this may change it, but lanes that left the loop wait for the others before "
                    "they come here");
    diag_note(s->m->diags, i->at, length,
              beside ? "store before the branch, or let other warps wait"
                     : "let the loop contain the store: while (!done) if (atomicCAS(lock, 0, 1) == "
                       "0) { ...; atomicExch(lock, 0); done = true; }");
}

/* Whether the value that the statement reads makes its loop a finding, which is then reported. */
static bool check(const struct search *s, uint32_t loop, uint32_t load)
{
    const struct ptx_cfg *g = s->f->cfg;
    const uint32_t exit = ptx_loop_exit_by(s->f, loop, load, s->marked);
    if (exit == PTX_NONE) return false;
    const struct origins awaited = origins_of(s, load);
    uint32_t release = PTX_NONE;
    if (stores_inside(s, loop, load, &awaited)) return false;
    if (s->u->branch[exit] > PTX_SPREAD_WARP && !has_one_lane(s, g->loops[loop].header)) {
        reach(s, g->blocks[exit].rejoin, PTX_NONE);
        release = release_in(s, loop, load, &awaited);
    }
    const bool beside = release == PTX_NONE;
    if (beside) release = release_beside(s, loop, load, &awaited);
    if (release != PTX_NONE) report(s, load, release, beside);
    return release != PTX_NONE;
}

static size_t check_function(struct arena *arena, const struct ptx_module *m,
                             const struct ptx_func *func)
{
    struct ptx_cfg *g = ptx_cfg_new(arena, func);
    if (!g->loop_count) return 0;
    struct ptx_flow *f = ptx_flow_new(arena, g);
    const uint32_t most = g->count > f->reg_count ? g->count : f->reg_count;
    const struct search s = {.arena = arena,
                             .m = m,
                             .f = f,
                             .u = ptx_uniform_new(arena, f),
                             .marked = arena_array(arena, bool, f->reg_count + 1),
                             .seen = arena_array(arena, bool, f->reg_count + 1),
                             .reached = arena_array(arena, bool, g->count + 1),
                             .todo = arena_array(arena, uint32_t, most + 1)};
    size_t found = 0;
    bool *done = arena_array(arena, bool, g->loop_count);
    for (uint32_t b = 0; b < g->code_count; b++) {
        const uint32_t loop = g->blocks[b].loop;
        if (loop == PTX_NONE || !ptx_cfg_reachable(g, b)) continue;
        for (uint32_t w = g->blocks[b].first; w < g->blocks[b].end && !done[loop]; w++)
            if (may_be_awaited(&s, loop, w) && check(&s, loop, w)) {
                done[loop] = true;
                found++;
            }
    }
    return found;
}

size_t ptx_simt_deadlock(const struct ptx_module *m)
{
    size_t found = 0;
    for (size_t i = 0; i < m->func_count; i++) {
        if (!m->funcs[i]->body) continue;
        struct arena *scratch = arena_new();
        found += check_function(scratch, m, m->funcs[i]);
        arena_free(scratch);
    }
    return found;
}
