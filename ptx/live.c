/* Uses and definitions of registers, dead code, and live ranges (ptx/flow.h). */
#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- uses -------------------------------------------------------------------------------------- */

struct collect {
    struct arena *arena;
    struct ptx_use *uses;
    size_t count, cap;
};

static void add_use(struct collect *c, uint32_t reg, unsigned opnd, unsigned how, unsigned sel)
{
    c->uses = arena_grow(c->arena, c->uses, c->count, &c->cap, c->count + 1, sizeof *c->uses);
    c->uses[c->count++] = (struct ptx_use){reg, (uint16_t)opnd, (uint8_t)how, (uint8_t)sel};
    assert(c->count < PTX_NONE);
}

/* The registers of an operand. The parser lets operands nest PTX_MAX_NESTING deep. */
static void add_opnd(struct collect *c, const struct ptx_opnd *o, unsigned opnd, unsigned how)
{
    switch ((enum ptx_opnd_kind)o->kind) {
    case PTX_OPND_REG: {
        bool part = o->sym->vec > 1 && o->sel != PTX_SEL_NONE && o->sel < PTX_SEL_B0;
        add_use(c, o->sym->id, opnd, part ? how & ~(unsigned)PTX_USE_KILL : how, o->sel);
        return;
    }
    case PTX_OPND_ADDR:
        for (uint32_t i = 0; how & PTX_USE_READ && i < (o->indexed ? 2u : 1u); i++)
            add_opnd(c, &o->elem[i], opnd, PTX_USE_READ | PTX_USE_ADDRESS);
        return;
    case PTX_OPND_BRACKET:
        if (!(how & PTX_USE_READ)) return;
        break;
    case PTX_OPND_VEC:
    case PTX_OPND_LIST:
    case PTX_OPND_PAIR: break;
    default: return;
    }
    for (uint32_t i = 0; i < o->count; i++) add_opnd(c, &o->elem[i], opnd, how);
}

/* The carry flag is no operand: the opcode says whether it is read or written. */
static unsigned carry_use(const struct ptx_op *op)
{
    if (!(op->form->effects & PTX_EFFECT)) return 0;
    if (op->form->unit != PTX_UNIT_IALU && op->form->unit != PTX_UNIT_IMUL) return 0;
    static const char *const readers[] = {"addc", "subc", "madc.lo", "madc.hi"};
    unsigned how = ptx_op_has(op, "cc") ? PTX_USE_WRITE : 0;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(op->form->name, readers[i]) == 0) how |= PTX_USE_READ;
    return how;
}

/* wgmma adds to its result in place. */
static bool reads_result(const struct ptx_op *op)
{
    return op->form->unit == PTX_UNIT_TENSOR && strncmp(op->form->name, "wgmma.mma_async", 15) == 0;
}

static void add_inst(struct collect *c, const struct ptx_inst *inst, uint32_t carry)
{
    const struct ptx_op *op = inst->op;
    assert(op); /* the module has no errors */
    unsigned write = inst->guard ? PTX_USE_WRITE : PTX_USE_WRITE | PTX_USE_KILL;
    if (inst->guard)
        add_use(c, inst->guard->id, inst->count, PTX_USE_READ | PTX_USE_GUARD, PTX_SEL_NONE);
    if (ptx_op_form(op) == PTX_F_call) {
        struct ptx_call call = ptx_inst_call(inst);
        for (unsigned i = 0; i < inst->count; i++)
            if (&inst->opnds[i] != call.results) add_opnd(c, &inst->opnds[i], i, PTX_USE_READ);
        if (call.results) add_opnd(c, call.results, 0, write);
        return;
    }
    unsigned flag = carry_use(op), n = inst->count;
    for (unsigned i = 0; i < n; i++) {
        bool written = i < op->shape_count && op->shapes[i].flags & PTX_WRITTEN;
        if (!written || (i == 0 && reads_result(op))) add_opnd(c, &inst->opnds[i], i, PTX_USE_READ);
    }
    if (flag & PTX_USE_READ) add_use(c, carry, n, PTX_USE_READ, PTX_SEL_NONE);
    for (unsigned i = 0; i < n; i++)
        if (i < op->shape_count && op->shapes[i].flags & PTX_WRITTEN)
            add_opnd(c, &inst->opnds[i], i, write);
    if (flag & PTX_USE_WRITE) add_use(c, carry, n, write, PTX_SEL_NONE);
}

static uint32_t registers_of(struct arena *arena, struct ptx_var *const *vars, unsigned n,
                             uint32_t **ids)
{
    uint32_t count = 0;
    *ids = arena_array(arena, uint32_t, n);
    for (unsigned i = 0; i < n; i++)
        if (vars[i]->in_reg) (*ids)[count++] = vars[i]->sym->id;
    return count;
}

struct ptx_flow *ptx_flow_new(struct arena *arena, const struct ptx_cfg *cfg)
{
    struct ptx_flow *f = arena_alloc(arena, sizeof *f);
    const struct ptx_body *body = cfg->func->body;
    const struct ptx_proto *proto = &cfg->func->proto;
    struct arena *scratch = arena_new();
    struct collect c = {.arena = scratch};
    f->func = cfg->func;
    f->cfg = cfg;
    f->reg_count = (uint32_t)body->reg_count + 1;
    f->use_at = arena_array(arena, uint32_t, body->count + 1);
    for (size_t s = 0; s < body->count; s++) {
        f->use_at[s] = (uint32_t)c.count;
        if (body->stmts[s].kind == PTX_STMT_INST)
            add_inst(&c, body->stmts[s].inst, f->reg_count - 1);
    }
    f->use_at[body->count] = f->use_count = (uint32_t)c.count;
    f->uses = arena_array(arena, struct ptx_use, c.count);
    if (c.count) memcpy(f->uses, c.uses, c.count * sizeof *c.uses);
    f->param_count = registers_of(arena, proto->params, proto->param_count, &f->params);
    f->result_count = registers_of(arena, proto->rets, proto->ret_count, &f->results);
    arena_free(scratch);
    return f;
}

struct ptx_pressure ptx_flow_width(const struct ptx_flow *f, uint32_t reg)
{
    if (reg == f->reg_count - 1) return (struct ptx_pressure){.preds = 1};
    const struct ptx_sym *sym = f->func->body->regs[reg];
    unsigned bits = ptx_types[sym->type].bits;
    if (ptx_types[sym->type].kind == PTX_PRED) return (struct ptx_pressure){.preds = 1};
    return (struct ptx_pressure){.regs = (bits + 31) / 32 * sym->vec};
}

/* ---- uses by register -------------------------------------------------------------------------- */

/* The uses of each register in the order of the text. */
struct by_reg {
    uint32_t *at; /* by register, and one more: into `use` */
    uint32_t *use;
    uint32_t *stmt; /* by use */
};

static struct by_reg sort_uses(struct arena *arena, const struct ptx_flow *f)
{
    struct by_reg b = {.at = arena_array(arena, uint32_t, (size_t)f->reg_count + 1),
                       .use = arena_array(arena, uint32_t, f->use_count),
                       .stmt = arena_array(arena, uint32_t, f->use_count)};
    size_t n = f->func->body->count;
    for (uint32_t u = 0; u < f->use_count; u++) b.at[f->uses[u].reg]++;
    uint32_t sum = 0;
    for (uint32_t r = 0; r < f->reg_count; r++) b.at[r] = sum += b.at[r];
    b.at[f->reg_count] = sum;
    for (size_t s = n; s-- > 0;)
        for (uint32_t u = f->use_at[s + 1]; u-- > f->use_at[s];) {
            b.use[--b.at[f->uses[u].reg]] = u;
            b.stmt[u] = (uint32_t)s;
        }
    return b;
}

/* ---- what is needed ---------------------------------------------------------------------------- */

bool ptx_flow_has_effect(const struct ptx_flow *f, size_t s)
{
    const struct ptx_inst *inst = f->func->body->stmts[s].inst;
    unsigned effects = PTX_WRITES | PTX_ATOMIC | PTX_FENCE | PTX_BARRIER | PTX_FLOW;
    if (!carry_use(inst->op)) effects |= PTX_EFFECT;
    if (inst->op->form->effects & effects) return true;
    for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++)
        if (f->uses[u].how & PTX_USE_WRITE) return false;
    return true; /* it writes nothing, so it does something else */
}

/* Parameters are always there. */
static bool loads_memory(const struct ptx_op *op)
{
    return op->form->effects & PTX_READS && op->space != PTX_SPACE_PARAM;
}

bool *ptx_flow_needed(struct arena *arena, const struct ptx_flow *f, bool loads)
{
    const struct ptx_body *body = f->func->body;
    struct arena *scratch = arena_new();
    bool *needed = arena_array(arena, bool, body->count);
    struct by_reg by = sort_uses(scratch, f);
    bool *wanted = arena_array(scratch, bool, f->reg_count); /* registers */
    uint32_t *todo = arena_array(scratch, uint32_t, f->reg_count), depth = 0;
    for (uint32_t i = 0; i < f->result_count; i++) {
        if (wanted[f->results[i]]) continue;
        wanted[f->results[i]] = true;
        todo[depth++] = f->results[i];
    }
    /* A new statement asks for the registers it reads, a new register for the statements that write it. */
    size_t next = 0;
    while (depth || next < body->count) {
        uint32_t from = 0, to = 0, reg = PTX_NONE;
        if (depth) {
            reg = todo[--depth];
            from = by.at[reg];
            to = by.at[reg + 1];
        } else {
            size_t s = next++;
            if (body->stmts[s].kind != PTX_STMT_INST || needed[s]) continue;
            if (!ptx_flow_has_effect(f, s) && !(loads && loads_memory(body->stmts[s].inst->op)))
                continue;
            needed[s] = true;
            for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
                uint32_t r = f->uses[u].reg;
                if (!(f->uses[u].how & PTX_USE_READ) || wanted[r]) continue;
                wanted[r] = true;
                todo[depth++] = r;
            }
        }
        for (uint32_t k = from; k < to; k++) {
            uint32_t s = by.stmt[by.use[k]];
            if (!(f->uses[by.use[k]].how & PTX_USE_WRITE) || needed[s]) continue;
            needed[s] = true;
            for (uint32_t u = f->use_at[s]; u < f->use_at[s + 1]; u++) {
                uint32_t r = f->uses[u].reg;
                if (!(f->uses[u].how & PTX_USE_READ) || wanted[r]) continue;
                wanted[r] = true;
                todo[depth++] = r;
            }
        }
    }
    arena_free(scratch);
    return needed;
}

/* ---- liveness ---------------------------------------------------------------------------------- */

enum { WORDS = 4, BATCH = 64 * WORDS, PLANES = 6 };

struct set { /* of the registers of a batch */
    uint64_t w[WORDS];
};

static void set_add(struct set *s, uint32_t i)
{
    s->w[i / 64] |= UINT64_C(1) << i % 64;
}

static bool set_has(const struct set *s, uint32_t i)
{
    return s->w[i / 64] >> i % 64 & 1;
}

/* Registers first .. first + size - 1. */
struct batch {
    const struct ptx_flow *f;
    const struct by_reg *by;
    const bool *counts;
    const uint32_t *block_of; /* by statement */
    uint32_t first, size;
    struct set *in, *out, *kill; /* by block; empty but for those in `seen` */
    uint32_t *seen, seen_count;
    bool *is_seen, *is_queued;
    uint32_t *queue, queue_count;
    struct set plane[PLANES], preds; /* the registers whose width has bit k set; the predicates */
};

static void see(struct batch *b, uint32_t block)
{
    if (b->is_seen[block]) return;
    b->is_seen[block] = true;
    b->seen[b->seen_count++] = block;
}

/* More is live at the end of a block. */
static void raise(struct batch *b, uint32_t block, const struct set *more)
{
    uint64_t changed = 0;
    see(b, block);
    for (int i = 0; i < WORDS; i++) {
        uint64_t out = b->out[block].w[i] | more->w[i];
        uint64_t in = b->in[block].w[i] | (out & ~b->kill[block].w[i]);
        changed |= in ^ b->in[block].w[i];
        b->out[block].w[i] = out;
        b->in[block].w[i] = in;
    }
    if (!changed || b->is_queued[block]) return;
    b->is_queued[block] = true;
    b->queue[b->queue_count++] = block;
}

static bool counts(const struct batch *b, uint32_t use)
{
    return !b->counts || b->counts[b->by->stmt[use]];
}

/* What each block itself says: its first use of a register decides whether it is live at its start. */
static void gather(struct batch *b)
{
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t decided = PTX_NONE;
        for (uint32_t k = b->by->at[b->first + i]; k < b->by->at[b->first + i + 1]; k++) {
            uint32_t use = b->by->use[k], block = b->block_of[b->by->stmt[use]];
            unsigned how = b->f->uses[use].how;
            if (block == decided || !counts(b, use) || !(how & (PTX_USE_READ | PTX_USE_KILL)))
                continue;
            decided = block;
            see(b, block);
            set_add(how & PTX_USE_READ ? &b->in[block] : &b->kill[block], i);
        }
    }
    for (uint32_t i = 0; i < b->seen_count; i++) {
        b->is_queued[b->seen[i]] = true;
        b->queue[b->queue_count++] = b->seen[i];
    }
}

static void spread(struct batch *b)
{
    const struct ptx_cfg *g = b->f->cfg;
    for (uint32_t i = 0; i < b->f->result_count; i++) {
        uint32_t r = b->f->results[i];
        if (r < b->first || r - b->first >= b->size) continue;
        const struct ptx_block *exit = &g->blocks[g->exit];
        struct set one = {{0}};
        set_add(&one, r - b->first);
        for (uint32_t e = 0; e < exit->pred_count; e++) {
            uint32_t p = g->preds[exit->pred + e];
            if (g->blocks[p].leave & PTX_LEAVE_RETURN) raise(b, p, &one);
        }
    }
    while (b->queue_count) {
        uint32_t block = b->queue[--b->queue_count];
        const struct ptx_block *p = &g->blocks[block];
        b->is_queued[block] = false;
        for (uint32_t e = 0; e < p->pred_count; e++) {
            struct set in = b->in[block]; /* a block may precede itself */
            raise(b, g->preds[p->pred + e], &in);
        }
    }
}

static void settle(const struct batch *b, uint8_t *fate)
{
    for (uint32_t i = 0; i < b->size; i++) {
        uint32_t at = PTX_NONE;
        bool live = false;
        for (uint32_t k = b->by->at[b->first + i + 1]; k-- > b->by->at[b->first + i];) {
            uint32_t use = b->by->use[k], block = b->block_of[b->by->stmt[use]];
            unsigned how = b->f->uses[use].how;
            if (!counts(b, use)) continue;
            if (block != at) live = set_has(&b->out[block], i);
            at = block;
            if (how & PTX_USE_WRITE && !live) fate[use] |= PTX_FATE_DEAD;
            if (how & PTX_USE_KILL) live = false;
            if (how & PTX_USE_READ) {
                if (!live) fate[use] |= PTX_FATE_LAST;
                live = true;
            }
        }
    }
}

static uint32_t count_bits(uint64_t word)
{
    return word ? (uint32_t)__builtin_popcountll(word) : 0; /* mostly none */
}

static void weigh(const struct batch *b, const struct set *s, struct ptx_pressure *p)
{
    for (int i = 0; i < WORDS; i++) {
        if (!s->w[i]) continue;
        for (unsigned k = 0; k < PLANES; k++)
            p->regs += count_bits(s->w[i] & b->plane[k].w[i]) << k;
        p->preds += count_bits(s->w[i] & b->preds.w[i]);
    }
}

static void solve(struct batch *b, struct ptx_live *live)
{
    memset(b->plane, 0, sizeof b->plane);
    b->preds = (struct set){{0}};
    for (uint32_t i = 0; i < b->size; i++) {
        struct ptx_pressure width = ptx_flow_width(b->f, b->first + i);
        assert(width.regs < 1u << PLANES && width.preds <= 1);
        for (unsigned k = 0; k < PLANES; k++)
            if (width.regs >> k & 1) set_add(&b->plane[k], i);
        if (width.preds) set_add(&b->preds, i);
    }
    gather(b);
    spread(b);
    settle(b, live->fate);
    for (uint32_t i = 0; i < b->seen_count; i++) {
        uint32_t block = b->seen[i];
        weigh(b, &b->in[block], &live->in[block]);
        weigh(b, &b->out[block], &live->out[block]);
        b->in[block] = b->out[block] = b->kill[block] = (struct set){{0}};
        b->is_seen[block] = false;
    }
    b->seen_count = 0;
}

static void note(struct ptx_live *live, struct ptx_pressure now, uint32_t stmt)
{
    if (now.regs > live->most.regs) {
        live->most.regs = now.regs;
        live->most_at = stmt;
    }
    if (now.preds > live->most.preds) live->most.preds = now.preds;
}

/* Backwards through a block. A value that nobody reads needs a register where it is written, too; a register
 * that an instruction writes twice takes it once (`written` by register: the last such statement). */
static void find_most(struct ptx_live *live, uint32_t block, const bool *counts, uint32_t *written)
{
    const struct ptx_flow *f = live->flow;
    struct ptx_pressure now = live->out[block];
    if (f->cfg->blocks[block].end > f->cfg->blocks[block].first)
        note(live, now, f->cfg->blocks[block].end - 1);
    for (uint32_t s = f->cfg->blocks[block].end; s-- > f->cfg->blocks[block].first;) {
        if (f->use_at[s] == f->use_at[s + 1] || (counts && !counts[s])) continue;
        struct ptx_pressure after = now;
        for (uint32_t u = f->use_at[s + 1]; u-- > f->use_at[s];) {
            struct ptx_pressure width = ptx_flow_width(f, f->uses[u].reg);
            if (f->uses[u].how & PTX_USE_WRITE) {
                if (written[f->uses[u].reg] == s + 1) continue;
                written[f->uses[u].reg] = s + 1;
            }
            if (live->fate[u] & PTX_FATE_DEAD) {
                after.regs += width.regs;
                after.preds += width.preds;
            } else if (f->uses[u].how & PTX_USE_KILL) {
                now.regs -= width.regs;
                now.preds -= width.preds;
            }
            if (live->fate[u] & PTX_FATE_LAST) {
                now.regs += width.regs;
                now.preds += width.preds;
            }
        }
        note(live, after, s);
        note(live, now, s);
    }
}

struct ptx_live *ptx_live_new(struct arena *arena, const struct ptx_flow *f, const bool *counts)
{
    const struct ptx_cfg *g = f->cfg;
    const struct ptx_body *body = f->func->body;
    struct arena *scratch = arena_new();
    struct ptx_live *live = arena_alloc(arena, sizeof *live);
    live->flow = f;
    live->fate = arena_array(arena, uint8_t, f->use_count);
    live->in = arena_array(arena, struct ptx_pressure, g->count);
    live->out = arena_array(arena, struct ptx_pressure, g->count);
    live->most_at = PTX_NONE;
    uint32_t *block_of = arena_array(scratch, uint32_t, body->count);
    for (uint32_t i = 0; i < g->code_count; i++)
        for (uint32_t s = g->blocks[i].first; s < g->blocks[i].end; s++) block_of[s] = i;
    struct by_reg by = sort_uses(scratch, f);
    struct batch b = {.f = f, .by = &by, .counts = counts, .block_of = block_of};
    b.in = arena_array(scratch, struct set, g->count);
    b.out = arena_array(scratch, struct set, g->count);
    b.kill = arena_array(scratch, struct set, g->count);
    b.seen = arena_array(scratch, uint32_t, g->count);
    b.queue = arena_array(scratch, uint32_t, g->count);
    b.is_seen = arena_array(scratch, bool, g->count);
    b.is_queued = arena_array(scratch, bool, g->count);
    for (b.first = 0; b.first < f->reg_count; b.first += BATCH) {
        b.size = f->reg_count - b.first < BATCH ? f->reg_count - b.first : BATCH;
        solve(&b, live);
    }
    uint32_t *written = arena_array(scratch, uint32_t, f->reg_count);
    for (uint32_t i = 0; i < g->code_count; i++)
        if (ptx_cfg_reachable(g, i)) find_most(live, i, counts, written);
    arena_free(scratch);
    return live;
}

uint32_t ptx_live_dead_atoms(struct arena *arena, const struct ptx_live *live, uint32_t **stmts)
{
    const struct ptx_flow *f = live->flow;
    const struct ptx_body *body = f->func->body;
    uint32_t count = 0;
    size_t cap = 0;
    *stmts = NULL;
    for (uint32_t s = 0; s < body->count; s++) {
        if (body->stmts[s].kind != PTX_STMT_INST) continue;
        const struct ptx_form_info *form = body->stmts[s].inst->op->form;
        bool dead = form->unit == PTX_UNIT_ATOM && strcmp(form->name, "atom") == 0;
        for (uint32_t u = f->use_at[s]; dead && u < f->use_at[s + 1]; u++)
            if (f->uses[u].how & PTX_USE_WRITE && !(live->fate[u] & PTX_FATE_DEAD)) dead = false;
        if (!dead) continue;
        *stmts = arena_grow(arena, *stmts, count, &cap, count + 1, sizeof **stmts);
        (*stmts)[count++] = s;
    }
    return count;
}
