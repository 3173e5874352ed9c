/* Estimates how many registers per thread ptxas assigns, from liveness (live.c) and a model of how ptxas orders the
 * instructions of a block. `heddle ptx` prints the estimate, and occupancy is computed from it. */
#include "base/arena.h"
#include "ptx/flow.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- registers per thread: the model -----------------------------------------------------------
 *
 * ptxas reorders a block to keep loads and long operations in flight, and does so as long as that
 * costs no occupancy. The model does likewise. It takes the instructions of a block in any order that
 * respects their operands and the order of memory accesses, one a cycle, from the first `window` that
 * are left:
 *   while fewer than `budget` registers are in use, the one with the longest way to the end of the
 *   block, minus what it would have to wait for its operands;
 *   else one that frees registers or takes none, else the next in the order of the text.
 * A memory instruction reads its operands late: their registers are free only `read_delay` cycles
 * after it. Values that an instruction finds elsewhere need no register: constants, addresses of
 * variables, kernel parameters (constant bank), %ntid, and what cvta makes of them; but operands of
 * memory instructions must be in registers while they are read, and serve others there as well.
 * The result is the most that is in use in any block, at least what the text's own order needs if
 * that is above the budget, plus `base`. Dead instructions do not count. */
static const struct model {
    uint32_t base;       /* the stack pointer; addresses and wide values want even numbers */
    uint32_t budget;     /* registers a thread has where an SM is full: 65536 / 2048 */
    uint32_t most;       /* that an instruction can name */
    uint32_t call;       /* least where code outside the module or behind a pointer is called: what
                          * the ABI lets a callee destroy */
    uint32_t file;       /* 32-bit registers of an SM */
    uint32_t unit;       /* registers are given to threads in such multiples */
    uint32_t window;     /* instructions that are looked at */
    uint32_t read_delay; /* cycles */
    uint32_t stall;      /* a cycle of waiting weighs as much as this many of the way to the end */
} model = {
    .base = 4,
    .budget = 32,
    .most = 255,
    .call = 24,
    .file = 65536,
    .unit = 8,
    .window = 64,
    .read_delay = 20,
    .stall = 20,
};

/* Cycles until a result can be used, as a compiler might assume; rough on purpose. */
static uint32_t latency_of(const struct ptx_op *op)
{
    static const uint8_t by_unit[PTX_UNIT_COUNT] = {
        [PTX_UNIT_IALU] = 5, [PTX_UNIT_IMUL] = 5,    [PTX_UNIT_IDIV] = 60, [PTX_UNIT_FP16] = 5,
        [PTX_UNIT_FP32] = 5, [PTX_UNIT_FP64] = 10,   [PTX_UNIT_SFU] = 18,  [PTX_UNIT_CVT] = 8,
        [PTX_UNIT_MOVE] = 5, [PTX_UNIT_VIDEO] = 5,   [PTX_UNIT_MEM] = 80,  [PTX_UNIT_ATOM] = 80,
        [PTX_UNIT_TEX] = 80, [PTX_UNIT_TENSOR] = 30, [PTX_UNIT_WARP] = 22, [PTX_UNIT_SYNC] = 5,
        [PTX_UNIT_CTRL] = 5, [PTX_UNIT_MISC] = 5,
    };
    if (op->form->unit != PTX_UNIT_MEM) return by_unit[op->form->unit];
    if (!(op->form->effects & PTX_READS)) return 1;
    if (op->space == PTX_SPACE_PARAM || op->space == PTX_SPACE_CONST) return 6;
    return op->space == PTX_SPACE_SHARED ? 24 : by_unit[PTX_UNIT_MEM];
}

/* Whether its operands must be registers, read late. */
static bool reads_late(const struct ptx_op *op)
{
    switch (op->form->unit) {
    case PTX_UNIT_MEM: return op->space != PTX_SPACE_PARAM;
    case PTX_UNIT_ATOM:
    case PTX_UNIT_TEX:
    case PTX_UNIT_TENSOR: return true;
    default: return false;
    }
}

/* ---- values that need no register -------------------------------------------------------------- */

static bool is_kernel_param(const struct ptx_func *func, const struct ptx_sym *sym)
{
    return func->is_entry && sym->kind == PTX_SYM_VAR && sym->space == PTX_SPACE_PARAM &&
           sym->at > func->at && sym->at < func->body_at;
}

static bool is_free(const struct ptx_func *func, const struct ptx_inst *inst, const bool *free_reg)
{
    const char *name = inst->op->form->name;
    if (inst->guard || inst->count != 2 || inst->opnds[0].kind != PTX_OPND_REG) return false;
    const struct ptx_opnd *from = &inst->opnds[1];
    if (strcmp(name, "ld") == 0)
        return inst->op->space == PTX_SPACE_PARAM && from->count < 2 &&
               ptx_opnd_base(from)->kind == PTX_OPND_SYM &&
               is_kernel_param(func, ptx_opnd_base(from)->sym);
    if (strcmp(name, "mov") != 0 && strcmp(name, "cvta") != 0 && strcmp(name, "cvta.to") != 0)
        return false;
    if (from->kind == PTX_OPND_REG) return free_reg[from->sym->id];
    if (from->kind == PTX_OPND_SREG) {
        const struct ptx_name *n = from->sym->name;
        return (n->length >= 5 && memcmp(n->text, "%ntid", 5) == 0) ||
               (n->length >= 7 && memcmp(n->text, "%nctaid", 7) == 0);
    }
    return from->kind != PTX_OPND_VEC;
}

/* Registers that are written once, with such a value. */
static bool *free_registers(struct arena *arena, const struct ptx_flow *f)
{
    const struct ptx_body *body = f->func->body;
    bool *is = arena_array(arena, bool, f->reg_count);
    uint8_t *writes = arena_array(arena, uint8_t, f->reg_count);
    for (uint32_t u = 0; u < f->use_count; u++)
        if (f->uses[u].how & PTX_USE_WRITE && writes[f->uses[u].reg] < 2) writes[f->uses[u].reg]++;
    for (size_t s = 0; s < body->count; s++) {
        if (body->stmts[s].kind != PTX_STMT_INST) continue;
        const struct ptx_inst *inst = body->stmts[s].inst;
        if (!is_free(f->func, inst, is)) continue;
        uint32_t r = inst->opnds[0].sym->id;
        is[r] = writes[r] == 1;
    }
    return is;
}

/* ---- the order of a block ---------------------------------------------------------------------- */

struct value { /* one definition of a register, or what it held at the start of the block */
    uint32_t width, uses; /* uses that are still to come */
    uint32_t reader;      /* the last node that was seen to read it */
    uint32_t until;       /* of a value that needs no register of its own: up to which cycle one
                          * holds it all the same; 0: none does */
    bool out;             /* live at the end of the block */
};

struct node {
    const struct ptx_op *op;
    uint32_t width;              /* of its results */
    uint32_t loose, loose_count; /* in `lists`: values that must be put into registers for it */
    uint32_t reads, read_count;  /* likewise: other values */
    uint32_t writes, write_count;
    uint32_t edge;         /* first of `links` to the nodes that wait for this one */
    uint32_t waits;        /* for how many others */
    uint32_t ready, way;   /* cycle its operands are there; longest way to the end */
    uint32_t next, before; /* neighbours among those left, in the order of the text */
};

struct link {
    uint32_t to, next;
};

struct schedule {
    struct arena *arena;
    const struct ptx_flow *f;
    const struct ptx_live *live; /* without what is dead or free */
    const bool *needed, *is_free;
    uint32_t budget;
    struct node *nodes;
    struct value *values;
    struct link *links;
    uint32_t *lists, *loads;
    struct release {
        uint32_t at, width, value; /* value: PTX_NONE, or one that needs no register of its own */
    } * releases;
    size_t node_count, node_cap, value_count, value_cap, link_count, link_cap, list_count, list_cap,
        load_cap, release_cap;
    uint32_t *value_of, *stamp; /* by register: its value, if its stamp is the block's */
    bool *alive;                /* by register: whether what it holds is live, up to where we are */
    uint32_t *writer;           /* by value: its node, or PTX_NONE */
    size_t writer_cap;
    uint32_t base; /* live through the whole block, untouched */
};

static uint32_t add_value(struct schedule *s, uint32_t width, uint32_t writer)
{
    size_t n = s->value_count;
    s->values = arena_grow(s->arena, s->values, n, &s->value_cap, n + 1, sizeof *s->values);
    s->writer = arena_grow(s->arena, s->writer, n, &s->writer_cap, n + 1, sizeof *s->writer);
    s->values[n] = (struct value){.width = width, .reader = PTX_NONE};
    s->writer[n] = writer;
    return (uint32_t)s->value_count++;
}

static void add_to_list(struct schedule *s, uint32_t value)
{
    size_t n = s->list_count;
    s->lists = arena_grow(s->arena, s->lists, n, &s->list_cap, n + 1, sizeof *s->lists);
    s->lists[s->list_count++] = value;
}

static void add_wait(struct schedule *s, uint32_t from, uint32_t to)
{
    size_t n = s->link_count;
    s->links = arena_grow(s->arena, s->links, n, &s->link_cap, n + 1, sizeof *s->links);
    s->links[n] = (struct link){to, s->nodes[from].edge};
    s->nodes[from].edge = (uint32_t)n;
    s->nodes[to].waits++;
    s->link_count++;
}

static void read_value(struct schedule *s, uint32_t k, uint32_t reg)
{
    uint32_t v = s->value_of[reg];
    if (s->values[v].reader == k) return;
    s->values[v].reader = k;
    s->values[v].uses++;
    add_to_list(s, v);
    s->nodes[k].read_count++;
    if (s->writer[v] != PTX_NONE) add_wait(s, s->writer[v], k);
}

/* The registers of one statement as values. */
static void add_values(struct schedule *s, uint32_t k, uint32_t stmt, uint32_t stamp)
{
    const struct ptx_flow *f = s->f;
    bool late = reads_late(s->nodes[k].op);
    s->nodes[k].loose = (uint32_t)s->list_count;
    for (uint32_t u = f->use_at[stmt]; late && u < f->use_at[stmt + 1]; u++) {
        const struct ptx_use *use = &f->uses[u];
        if (!s->is_free[use->reg] || !(use->how & PTX_USE_READ)) continue;
        if (s->stamp[use->reg] != stamp) {
            s->stamp[use->reg] = stamp;
            s->value_of[use->reg] = add_value(s, ptx_flow_width(f, use->reg).regs, k);
        }
        add_to_list(s, s->value_of[use->reg]);
        s->nodes[k].loose_count++;
    }
    s->nodes[k].reads = (uint32_t)s->list_count;
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++) {
        const struct ptx_use *use = &f->uses[u];
        uint32_t width = ptx_flow_width(f, use->reg).regs;
        if (s->is_free[use->reg]) continue;
        if (use->how & PTX_USE_KILL) continue;
        if (s->stamp[use->reg] != stamp) {
            s->stamp[use->reg] = stamp;
            s->value_of[use->reg] = add_value(s, width, PTX_NONE);
            s->alive[use->reg] = true;
        }
        read_value(s, k, use->reg);
        if (s->live->fate[u] & PTX_FATE_LAST) s->alive[use->reg] = false;
    }
    s->nodes[k].writes = (uint32_t)s->list_count;
    for (uint32_t u = f->use_at[stmt]; u < f->use_at[stmt + 1]; u++) {
        const struct ptx_use *use = &f->uses[u];
        if (!(use->how & PTX_USE_WRITE) || s->is_free[use->reg]) continue;
        uint32_t width = ptx_flow_width(f, use->reg).regs;
        s->stamp[use->reg] = stamp;
        s->value_of[use->reg] = add_value(s, width, k);
        s->alive[use->reg] = !(s->live->fate[u] & PTX_FATE_DEAD);
        s->nodes[k].width += width;
        s->nodes[k].write_count++;
        add_to_list(s, s->value_of[use->reg]);
    }
}

/* Loads keep behind the last store, stores behind the loads as well; so do calls, barriers and what
 * has other effects. Parameters, constants and .nc loads keep no order. */
static void add_order(struct schedule *s, uint32_t k, uint32_t stmt, uint32_t *store,
                      uint32_t *load_count)
{
    const struct ptx_op *op = s->nodes[k].op;
    unsigned effects = op->form->effects;
    if (effects & PTX_READS &&
        (op->space == PTX_SPACE_PARAM || op->space == PTX_SPACE_CONST || ptx_op_has(op, "nc")))
        return;
    bool stores = ptx_flow_has_effect(s->f, stmt);
    if (!stores && !(effects & PTX_READS)) return;
    if (*store != PTX_NONE) add_wait(s, *store, k);
    if (!stores) {
        s->loads = arena_grow(s->arena, s->loads, *load_count, &s->load_cap,
                              (size_t)*load_count + 1, sizeof *s->loads);
        s->loads[(*load_count)++] = k;
        return;
    }
    for (uint32_t i = 0; i < *load_count; i++) add_wait(s, s->loads[i], k);
    *load_count = 0;
    *store = k;
}

/* The block as nodes and values. `stamp` names the block. */
static void read_block(struct schedule *s, uint32_t block, uint32_t stamp)
{
    const struct ptx_block *b = &s->f->cfg->blocks[block];
    const struct ptx_body *body = s->f->func->body;
    uint32_t store = PTX_NONE, load_count = 0;
    s->node_count = s->value_count = s->link_count = s->list_count = 0;
    for (uint32_t stmt = b->first; stmt < b->end; stmt++) {
        if (body->stmts[stmt].kind != PTX_STMT_INST || !s->needed[stmt]) continue;
        size_t k = s->node_count;
        s->nodes = arena_grow(s->arena, s->nodes, k, &s->node_cap, k + 1, sizeof *s->nodes);
        s->nodes[k] = (struct node){.op = body->stmts[stmt].inst->op, .edge = PTX_NONE};
        s->node_count++;
        add_values(s, (uint32_t)k, stmt, stamp);
        if (stmt != b->term) add_order(s, (uint32_t)k, stmt, &store, &load_count);
    }
    uint32_t through = s->live->out[block].regs;
    for (uint32_t stmt = b->first; stmt < b->end; stmt++) {
        if (body->stmts[stmt].kind != PTX_STMT_INST || !s->needed[stmt]) continue;
        for (uint32_t u = s->f->use_at[stmt]; u < s->f->use_at[stmt + 1]; u++) {
            uint32_t r = s->f->uses[u].reg;
            if (s->is_free[r] || !s->alive[r]) continue;
            s->alive[r] = false; /* once */
            struct value *v = &s->values[s->value_of[r]];
            v->out = true;
            assert(through >= v->width);
            through -= v->width;
        }
    }
    s->base = through;
    for (size_t k = s->node_count; k-- > 0;) {
        struct node *x = &s->nodes[k];
        uint32_t way = 0;
        for (uint32_t e = x->edge; e != PTX_NONE; e = s->links[e].next)
            if (s->nodes[s->links[e].to].way > way) way = s->nodes[s->links[e].to].way;
        x->way = way + latency_of(x->op);
        /* A block so long that this would overflow has no latency left to hide. */
        if (x->way > UINT32_MAX / 2) x->way = UINT32_MAX / 2;
    }
}

/* Registers that the instruction frees by reading values for the last time. */
static uint32_t frees(const struct schedule *s, const struct node *x)
{
    uint32_t width = 0;
    for (uint32_t i = 0; i < x->read_count; i++) {
        const struct value *v = &s->values[s->lists[x->reads + i]];
        if (v->uses == 1 && !v->out) width += v->width;
    }
    return width;
}

/* The best of the first instructions that are left: head is the first. */
static uint32_t choose(const struct schedule *s, uint32_t head, uint32_t used, uint32_t now,
                       bool *over)
{
    int64_t best = INT64_MIN;
    uint32_t which = PTX_NONE, seen = 0;
    for (uint32_t i = head; i != PTX_NONE && seen < model.window; i = s->nodes[i].next, seen++) {
        const struct node *x = &s->nodes[i];
        if (x->waits) continue;
        int64_t grow = (int64_t)x->width - frees(s, x), score;
        int64_t stall = x->ready > now ? x->ready - now : 0;
        if (grow > 0 && used + grow > s->budget) score = INT64_MIN / 2 - seen;
        else if (used >= s->budget) score = -10000 * grow - stall;
        else score = (int64_t)x->way - model.stall * stall;
        if (which != PTX_NONE && score <= best) continue;
        which = i;
        best = score;
    }
    *over = best <= INT64_MIN / 2;
    return which;
}

/* All instructions of the block in the list, and the registers in use before the first. */
static uint32_t begin_block(struct schedule *s)
{
    const uint32_t n = (uint32_t)s->node_count;
    uint32_t used = s->base;
    for (size_t v = 0; v < s->value_count; v++)
        if (s->writer[v] == PTX_NONE) used += s->values[v].width;
    for (uint32_t k = 0; k < n; k++) {
        s->nodes[k].next = k + 1 < n ? k + 1 : PTX_NONE;
        s->nodes[k].before = k ? k - 1 : PTX_NONE;
    }
    s->releases = arena_grow(s->arena, s->releases, 0, &s->release_cap, n + s->list_count,
                             sizeof *s->releases);
    return used;
}

/* Takes an instruction out of the list; those that wait for it are ready when it is done. */
static void issue_node(struct schedule *s, const struct node *x, uint32_t *head, uint32_t now)
{
    const uint32_t done = now + latency_of(x->op);
    for (uint32_t e = x->edge; e != PTX_NONE; e = s->links[e].next) {
        struct node *y = &s->nodes[s->links[e].to];
        y->waits--;
        if (y->ready < done) y->ready = done;
    }
    if (x->before != PTX_NONE) s->nodes[x->before].next = x->next;
    else *head = x->next;
    if (x->next != PTX_NONE) s->nodes[x->next].before = x->before;
}

/* Runs the block and returns the most registers in use. */
static uint32_t run_block(struct schedule *s, bool in_order)
{
    uint32_t left = (uint32_t)s->node_count, now = 0, head = left ? 0 : PTX_NONE,
             used = begin_block(s);
    size_t first = 0, last = 0; /* of the releases that are under way */
    uint32_t most = used;
    while (left) {
        for (; first < last && s->releases[first].at <= now; first++) {
            const struct release *r = &s->releases[first];
            if (r->value != PTX_NONE) {
                if (s->values[r->value].until != r->at) continue; /* needed again since */
                s->values[r->value].until = 0;
            }
            used -= r->width;
        }
        bool over = false; /* whatever comes next, it takes more than there is */
        uint32_t k = in_order ? head : choose(s, head, used, now, &over);
        assert(k != PTX_NONE);      /* what stands first waits for nothing that is left */
        if (over && first < last) { /* registers will be free soon */
            now = s->releases[first].at;
            continue;
        }
        struct node *x = &s->nodes[k];
        if (x->ready > now) now = x->ready;
        uint32_t freed = frees(s, x);
        bool late = reads_late(x->op);
        for (uint32_t i = 0; i < x->loose_count; i++) {
            uint32_t value = s->lists[x->loose + i];
            struct value *v = &s->values[value];
            if (!v->until) used += v->width;
            if (v->until == now + model.read_delay) continue; /* twice in one instruction */
            v->until = now + model.read_delay;
            s->releases[last++] = (struct release){v->until, v->width, value};
        }
        used += x->width;
        uint32_t peak = late ? used : used - freed; /* else a result may take an operand's place */
        if (peak > most) most = peak;
        for (uint32_t i = 0; i < x->read_count; i++) s->values[s->lists[x->reads + i]].uses--;
        if (late && freed && !in_order)
            s->releases[last++] = (struct release){now + model.read_delay, freed, PTX_NONE};
        else used -= freed;
        for (uint32_t i = 0; i < x->write_count; i++) {
            const struct value *v = &s->values[s->lists[x->writes + i]];
            if (v->uses == 0 && !v->out) used -= v->width;
        }
        issue_node(s, x, &head, now);
        now++;
        left--;
    }
    return most;
}

/* ---- a function, a module ---------------------------------------------------------------------- */

/* What the directives of a kernel leave to a thread. */
static uint32_t register_limit(const struct ptx_func *func)
{
    uint64_t limit = model.most, threads = 0, ctas = 1;
    for (const struct ptx_directive *d = func->directives; d; d = d->next) {
        uint64_t product = 1;
        for (unsigned i = 0; i < d->count; i++)
            product = d->value[i] > 1024 ? 1024 : product * d->value[i];
        if (strcmp(d->word, "maxnreg") == 0 && d->count && d->value[0] < limit) limit = d->value[0];
        if (strcmp(d->word, "maxntid") == 0 || strcmp(d->word, "reqntid") == 0) threads = product;
        if (strcmp(d->word, "minnctapersm") == 0 && d->count) ctas = d->value[0];
    }
    if (threads && threads <= 1024 && ctas && ctas <= 1024) {
        uint64_t each = model.file / ((threads + 31) / 32 * 32 * ctas) / model.unit * model.unit;
        if (each < limit) limit = each;
    }
    uint32_t least = model.base + model.unit;
    return limit < least ? least : (uint32_t)limit;
}

static struct ptx_registers estimate_function(const struct ptx_func *func)
{
    struct ptx_registers r = {.known = true, .limit = register_limit(func)};
    struct arena *scratch = arena_new();
    const struct ptx_cfg *g = ptx_cfg_new(scratch, func);
    struct ptx_flow *f = ptx_flow_new(scratch, g);
    bool *needed = ptx_flow_needed(scratch, f, false);
    r.live = ptx_live_new(scratch, f, NULL)->most;

    struct schedule s = {.arena = scratch, .f = f, .needed = needed};
    s.is_free = free_registers(scratch, f);
    struct ptx_flow lean = *f; /* the same, without the registers that are free */
    lean.uses = arena_array(scratch, struct ptx_use, f->use_count);
    for (uint32_t u = 0; u < f->use_count; u++) {
        lean.uses[u] = f->uses[u];
        if (s.is_free[f->uses[u].reg]) lean.uses[u].how = 0;
    }
    s.live = ptx_live_new(scratch, &lean, needed);
    s.value_of = arena_array(scratch, uint32_t, f->reg_count);
    s.stamp = arena_array(scratch, uint32_t, f->reg_count);
    s.alive = arena_array(scratch, bool, f->reg_count);
    s.budget = (r.limit < model.budget ? r.limit : model.budget) - model.base;
    uint32_t most = 0;
    for (uint32_t i = 0; i < g->code_count; i++) {
        if (!ptx_cfg_reachable(g, i)) continue;
        read_block(&s, i, i + 1);
        uint32_t text = run_block(&s, true);
        read_block(&s, i, g->code_count + i + 1);
        uint32_t free_order = run_block(&s, false);
        uint32_t bound = text > s.budget ? text : s.budget;
        if (free_order > bound) free_order = bound;
        if (free_order > most) most = free_order;
    }
    r.own = r.registers = most + model.base;
    arena_free(scratch);
    return r;
}

/* Functions by the place of their heads, so that a callee is found. */
struct func_at {
    uint32_t at, index; /* in the text; in m->funcs */
};

static int by_offset(const void *p, const void *q)
{
    const struct func_at *a = p, *b = q;
    return a->at < b->at ? -1 : a->at > b->at;
}

static uint32_t find_func(const struct func_at *places, size_t count, const struct ptx_func *func)
{
    const struct func_at key = {.at = func->at};
    const struct func_at *p = bsearch(&key, places, count, sizeof *places, by_offset);
    return p ? p->index : PTX_NONE;
}

/* Who calls whom, by place in m->funcs; who calls what is not there has out[i] set. */
static struct ptx_graph call_graph(struct arena *scratch, const struct ptx_module *m, bool *out)
{
    uint32_t n = (uint32_t)m->func_count;
    struct func_at *places = arena_array(scratch, struct func_at, 2 * (size_t)n);
    size_t count = 0, cap = 0, edges = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_func *func = m->funcs[i];
        places[count++] = (struct func_at){func->at, i};
        if (func->definition) places[count++] = (struct func_at){func->definition->at, i};
    }
    if (count) qsort(places, count, sizeof *places, by_offset);
    struct ptx_graph g = {.count = n, .out_at = arena_array(scratch, uint32_t, (size_t)n + 1)};
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_func *func = m->funcs[i]->definition ? m->funcs[i]->definition
                                                              : m->funcs[i];
        g.out_at[i] = (uint32_t)edges;
        for (size_t s = 0; func->body && s < func->body->count; s++) {
            const struct ptx_stmt *stmt = &func->body->stmts[s];
            if (stmt->kind != PTX_STMT_INST || !ptx_inst_is_call(stmt->inst)) continue;
            const struct ptx_func *callee = ptx_inst_call(stmt->inst).func;
            uint32_t to = callee && callee->body ? find_func(places, count, callee) : PTX_NONE;
            if (to == PTX_NONE) {
                out[i] = true;
                continue;
            }
            g.out = arena_grow(scratch, g.out, edges, &cap, edges + 1, sizeof *g.out);
            g.out[edges++] = to;
        }
    }
    g.out_at[n] = (uint32_t)edges;
    ptx_graph_reverse(scratch, &g);
    return g;
}

struct ptx_registers *ptx_registers_estimate(struct arena *arena, const struct ptx_module *m)
{
    uint32_t n = (uint32_t)m->func_count, depth = 0;
    struct ptx_registers *r = arena_array(arena, struct ptx_registers, n);
    struct arena *scratch = arena_new();
    bool *out = arena_array(scratch, bool, n);
    struct ptx_graph calls = call_graph(scratch, m, out);
    uint32_t *stack = arena_array(scratch, uint32_t, n);
    uint32_t *want = arena_array(scratch, uint32_t, n); /* registers, callees not counted */
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_func *func = m->funcs[i]->definition ? m->funcs[i]->definition
                                                              : m->funcs[i];
        if (!func->body) continue;
        r[i] = estimate_function(func);
        want[i] = out[i] && r[i].own < model.call ? model.call : r[i].own;
    }
    /* From the largest down: each gives its number to all that call it and have none yet. */
    bool *has = arena_array(scratch, bool, n);
    uint32_t top = 0;
    for (uint32_t i = 0; i < n; i++)
        if (want[i] > top) top = want[i];
    uint32_t *first = arena_array(scratch, uint32_t,
                                  (size_t)top + 1); /* chains by `want`, plus 1 */
    uint32_t *next = arena_array(scratch, uint32_t, n);
    for (uint32_t i = n; i-- > 0;) {
        next[i] = first[want[i]];
        first[want[i]] = i + 1;
    }
    for (uint32_t level = top; level > 0; level--) {
        for (uint32_t i = first[level]; i; i = next[i - 1]) {
            if (has[i - 1]) continue;
            has[i - 1] = true;
            stack[depth++] = i - 1;
        }
        while (depth) {
            uint32_t x = stack[--depth];
            r[x].registers = level;
            for (uint32_t e = calls.in_at[x]; e < calls.in_at[x + 1]; e++) {
                uint32_t y = calls.in[e];
                if (has[y]) continue;
                has[y] = true;
                stack[depth++] = y;
            }
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        r[i].spills = r[i].own > r[i].limit;
        if (r[i].registers > r[i].limit) r[i].registers = r[i].limit;
    }
    arena_free(scratch);
    return r;
}

static const struct ptx_func *defined(const struct ptx_func *func)
{
    return func->definition ? func->definition : func;
}

struct reached {
    struct arena *arena;
    const struct ptx_func **list;
    size_t count, cap;
};

static void reach(struct reached *r, const struct ptx_func *func)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->list[i] == func) return;
    r->list = arena_grow(r->arena, r->list, r->count, &r->cap, r->count + 1, sizeof *r->list);
    r->list[r->count++] = func;
}

/* false: it calls what is not there, too. */
static bool reach_callees(struct reached *r, const struct ptx_func *func)
{
    bool known = true;
    for (size_t s = 0; s < func->body->count; s++) {
        const struct ptx_stmt *stmt = &func->body->stmts[s];
        if (stmt->kind != PTX_STMT_INST || !ptx_inst_is_call(stmt->inst)) continue;
        const struct ptx_func *callee = ptx_inst_call(stmt->inst).func;
        if (callee && callee->body) reach(r, defined(callee));
        else known = false;
    }
    return known;
}

struct ptx_registers ptx_registers_of(const struct ptx_func *func)
{
    struct ptx_registers r = {0};
    struct reached reached = {.arena = arena_new()};
    uint32_t most = 0;
    if (defined(func)->body) reach(&reached, defined(func));
    for (size_t i = 0; i < reached.count; i++) {
        const struct ptx_registers one = estimate_function(reached.list[i]);
        uint32_t want = one.own;
        if (!reach_callees(&reached, reached.list[i]) && want < model.call) want = model.call;
        if (want > most) most = want;
        if (i == 0) r = one;
    }
    r.spills = r.own > r.limit;
    r.registers = most < r.limit ? most : r.limit;
    arena_free(reached.arena);
    return r;
}
