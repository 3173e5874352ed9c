/* Builds blocks, edges, dominators and loops, in the order in which ptx_cfg_new() calls the steps. */
#include "ptx/cfg.h"

#include "base/arena.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- instructions that matter here ------------------------------------------------------------- */

bool ptx_inst_is_call(const struct ptx_inst *inst)
{
    return inst->op && ptx_op_form(inst->op) == PTX_F_call;
}

struct ptx_call ptx_inst_call(const struct ptx_inst *inst)
{
    struct ptx_call c = {0};
    size_t i = 0, n = inst->count;
    const struct ptx_opnd *o = inst->opnds;
    if (i < n && o[i].kind == PTX_OPND_LIST) c.results = &o[i++];
    if (i < n && o[i].kind != PTX_OPND_LIST) c.callee = &o[i++];
    if (i < n && o[i].kind == PTX_OPND_LIST) c.arguments = &o[i++];
    if (c.callee && c.callee->kind == PTX_OPND_SYM && c.callee->sym->kind == PTX_SYM_FUNC) {
        c.func = c.callee->sym->func;
        if (c.func->alias_of) c.func = c.func->alias_of;
        if (c.func->definition) c.func = c.func->definition;
        c.proto = &c.func->proto;
    } else if (i < n && o[i].kind == PTX_OPND_LABEL && o[i].sym) {
        const struct ptx_sym *sym = o[i].sym;
        if (sym->kind == PTX_SYM_PROTO) c.proto = sym->proto;
        else if (sym->kind == PTX_SYM_TARGETS && sym->targets->calls && sym->targets->count) {
            c.proto = &sym->targets->labels[0].sym->func->proto;
            c.listed = true;
        }
    }
    return c;
}

/* How a statement ends a block: where control may go from there. */
struct ending {
    uint32_t stmt;
    uint32_t target;               /* statement, or PTX_NONE */
    const struct ptx_sym *targets; /* the list of a brx.idx, or NULL */
    uint8_t leave;                 /* enum ptx_leave */
    bool falls;                    /* or on behind it */
};

static bool find_ending(const struct ptx_stmt *s, struct ending *e)
{
    if (s->kind != PTX_STMT_INST) return false;
    const struct ptx_inst *inst = s->inst;
    assert(inst->op); /* the module has no errors */
    if (!(inst->op->form->effects & PTX_FLOW)) return false;
    *e = (struct ending){.target = PTX_NONE, .falls = inst->guard != NULL};
    switch (ptx_op_form(inst->op)) {
    case PTX_F_bra:
        assert(inst->opnds[0].sym);
        e->target = inst->opnds[0].sym->id;
        return true;
    case PTX_F_brx_idx:
        assert(inst->opnds[1].sym);
        e->targets = inst->opnds[1].sym;
        return true;
    case PTX_F_ret: e->leave = PTX_LEAVE_RETURN; return true;
    case PTX_F_exit: e->leave = PTX_LEAVE_EXIT; return true;
    case PTX_F_trap: e->leave = PTX_LEAVE_ABORT; return true;
    case PTX_F_call: {
        struct ptx_call c = ptx_inst_call(inst);
        e->leave = PTX_LEAVE_ABORT;
        return c.proto && c.proto->noreturn;
    }
    default: return false;
    }
}

/* ---- blocks ------------------------------------------------------------------------------------ */

struct build {
    struct arena *arena, *scratch;
    const struct ptx_body *body;
    struct ptx_cfg *g;
    struct ending *endings; /* in the order of the text */
    size_t ending_count;
    uint32_t *block_at; /* by statement: the block that starts there, or PTX_NONE */
};

static void find_blocks(struct build *b)
{
    const struct ptx_body *body = b->body;
    assert(body->count < PTX_NONE);
    uint32_t n = (uint32_t)body->count, count = 0;
    size_t cap = 0;
    bool *target = arena_array(b->scratch, bool, (size_t)n + 1);
    for (uint32_t s = 0; s < n; s++) {
        const struct ptx_stmt *stmt = &body->stmts[s];
        struct ending e;
        if (find_ending(stmt, &e)) {
            e.stmt = s;
            if (e.target != PTX_NONE) target[e.target] = true;
            b->endings = arena_grow(b->scratch, b->endings, b->ending_count, &cap,
                                    b->ending_count + 1, sizeof e);
            b->endings[b->ending_count++] = e;
        }
        /* A list is gone through where it stands: at brx.idx it would be once for each. */
        if (stmt->kind != PTX_STMT_TARGETS || stmt->sym->targets->calls) continue;
        const struct ptx_targets *t = stmt->sym->targets;
        for (uint32_t i = 0; i < t->count; i++) {
            assert(t->labels[i].sym);
            target[t->labels[i].sym->id] = true;
        }
    }
    b->block_at = arena_array(b->scratch, uint32_t, (size_t)n + 1);
    size_t next = 0;
    bool ended = false; /* an instruction would start a block */
    for (uint32_t s = 0; s < n; s++) {
        bool inst = body->stmts[s].kind == PTX_STMT_INST;
        bool starts = s == 0 || target[s] || (ended && inst);
        b->block_at[s] = starts ? count++ : PTX_NONE;
        if (starts) ended = false;
        if (next < b->ending_count && b->endings[next].stmt == s) {
            ended = true;
            next++;
        }
    }
    b->g->code_count = count ? count : 1; /* 1: an empty body */
}

/* `endings` by block: NULL where control only falls into the next. */
static void fill_blocks(struct build *b, const struct ending **endings)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = (uint32_t)b->body->count, at = 0;
    size_t next = 0;
    for (uint32_t s = 0; s < n; s++) {
        if (b->block_at[s] != PTX_NONE) {
            g->blocks[at].end = s;
            at = b->block_at[s];
            g->blocks[at].first = s;
        }
        if (next < b->ending_count && b->endings[next].stmt == s) endings[at] = &b->endings[next++];
    }
    g->blocks[at].end = n;
    for (uint32_t i = 0; i < g->count; i++) {
        g->blocks[i].term = i < g->code_count && endings[i] ? endings[i]->stmt : PTX_NONE;
        if (i >= g->code_count) g->blocks[i].first = g->blocks[i].end = n;
    }
}

/* ---- edges ------------------------------------------------------------------------------------- */

struct brx {       /* one brx.idx: which list it names */
    uint32_t list; /* the place of the list in the text */
    uint32_t block;
    const struct ptx_targets *targets;
};

static int by_list(const void *p, const void *q)
{
    const struct brx *a = p, *b = q;
    if (a->list != b->list) return a->list < b->list ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

struct edges { /* being collected */
    struct arena *arena;
    uint32_t *to;
    size_t count, cap;
    uint32_t *seen; /* by block: the last block that has an edge to it, plus 1 */
};

static void add_edge(struct edges *e, uint32_t from, uint32_t to)
{
    if (e->seen[to] == from + 1) return;
    e->seen[to] = from + 1;
    e->to = arena_grow(e->arena, e->to, e->count, &e->cap, e->count + 1, sizeof *e->to);
    e->to[e->count++] = to;
    assert(e->count < PTX_NONE);
}

static void add_targets(struct build *b, struct edges *e, uint32_t from,
                        const struct ptx_targets *t)
{
    for (uint32_t i = 0; i < t->count; i++) add_edge(e, from, b->block_at[t->labels[i].sym->id]);
}

/* Which brx.idx lead to a hub: hub_of by block, 0: none. Returns how many hubs there are. */
static uint32_t find_hubs(struct build *b, uint32_t *hub_of, const struct ptx_targets **hub_targets)
{
    struct brx *brx = arena_array(b->scratch, struct brx, b->ending_count);
    size_t count = 0, next = 0;
    uint32_t hubs = 0, at = 0;
    for (uint32_t s = 0; s < b->body->count && next < b->ending_count; s++) {
        if (b->block_at[s] != PTX_NONE) at = b->block_at[s];
        if (b->endings[next].stmt != s) continue;
        const struct ptx_sym *list = b->endings[next++].targets;
        if (list) brx[count++] = (struct brx){list->at, at, list->targets};
    }
    if (count) qsort(brx, count, sizeof *brx, by_list);
    uint64_t shared = 0;
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i; j < count && brx[j].list == brx[i].list; j++) {
        }
        uint64_t more = (uint64_t)(j - i) * brx[i].targets->count;
        if (j - i < 2) continue;
        if (shared + more <= PTX_CFG_SHARED) {
            shared += more;
            continue;
        }
        for (size_t k = i; k < j; k++) hub_of[brx[k].block] = b->g->code_count + hubs;
        hub_targets[hubs++] = brx[i].targets;
    }
    return hubs;
}

static void find_edges(struct build *b)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = g->code_count;
    uint32_t *hub_of = arena_array(b->scratch, uint32_t, n);
    const struct ptx_targets **hub_targets = arena_array(b->scratch, const struct ptx_targets *,
                                                         b->ending_count);
    uint32_t hubs = find_hubs(b, hub_of, hub_targets);
    g->count = n + hubs + 1;
    g->exit = n + hubs;
    g->blocks = arena_array(b->arena, struct ptx_block, g->count);
    const struct ending **endings = arena_array(b->scratch, const struct ending *, n);
    fill_blocks(b, endings);

    struct edges e = {.arena = b->scratch, .seen = arena_array(b->scratch, uint32_t, g->count)};
    for (uint32_t i = 0; i < n; i++) {
        struct ptx_block *block = &g->blocks[i];
        const struct ending *end = endings[i];
        bool falls = !end || end->falls;
        block->succ = (uint32_t)e.count;
        if (end && end->target != PTX_NONE) add_edge(&e, i, b->block_at[end->target]);
        if (hub_of[i]) add_edge(&e, i, hub_of[i]);
        else if (end && end->targets) add_targets(b, &e, i, end->targets->targets);
        if (end) block->leave = end->leave;
        if (falls && i + 1 == n) block->leave |= PTX_LEAVE_RETURN;
        if (block->leave) add_edge(&e, i, g->exit);
        if (falls && i + 1 < n) {
            /* What follows in the text is the last successor, even if it is a target as well. */
            if (e.seen[i + 1] == i + 1) {
                uint32_t from = block->succ;
                while (e.to[from] != i + 1) from++;
                memmove(&e.to[from], &e.to[from + 1], (e.count - from - 1) * sizeof *e.to);
                e.to[e.count - 1] = i + 1;
            } else {
                add_edge(&e, i, i + 1);
            }
        }
        block->succ_count = (uint32_t)e.count - block->succ;
    }
    for (uint32_t i = 0; i < hubs; i++) {
        struct ptx_block *hub = &g->blocks[n + i];
        hub->succ = (uint32_t)e.count;
        add_targets(b, &e, n + i, hub_targets[i]);
        hub->succ_count = (uint32_t)e.count - hub->succ;
    }
    g->blocks[g->exit].succ = (uint32_t)e.count;
    g->edge_count = (uint32_t)e.count;
    g->succs = arena_array(b->arena, uint32_t, e.count);
    if (e.count) memcpy(g->succs, e.to, e.count * sizeof *e.to);
}

/* ---- graphs ------------------------------------------------------------------------------------ */

void ptx_graph_reverse(struct arena *arena, struct ptx_graph *g)
{
    uint32_t n = g->count;
    g->in_at = arena_array(arena, uint32_t, (size_t)n + 1);
    g->in = arena_array(arena, uint32_t, g->out_at[n]);
    for (uint32_t e = 0; e < g->out_at[n]; e++) g->in_at[g->out[e]]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= n; i++) { /* in_at[i]: the end of i's edges, filled from behind */
        if (i < n) sum += g->in_at[i];
        g->in_at[i] = sum;
    }
    for (uint32_t i = n; i-- > 0;)
        for (uint32_t e = g->out_at[i + 1]; e-- > g->out_at[i];) g->in[--g->in_at[g->out[e]]] = i;
}

/* A depth-first walk: `node` in the order of first visit, `parent` by that order (node 0 has none),
 * `number` by node, PTX_NONE: not reached. `post`, if not NULL, gets the nodes in postorder. */
struct walk {
    uint32_t *node, *parent, *number, *post;
    uint32_t count;
};

static void walk_from(struct arena *scratch, const struct ptx_graph *g, uint32_t root,
                      struct walk *w)
{
    uint32_t n = g->count, depth = 0, posted = 0;
    w->node = arena_array(scratch, uint32_t, n);
    w->parent = arena_array(scratch, uint32_t, n);
    w->number = arena_array(scratch, uint32_t, n);
    memset(w->number, 0xff, n * sizeof *w->number);
    uint32_t *next = arena_array(scratch, uint32_t, n); /* by number: the edge to go on with */
    uint32_t *path = arena_array(scratch, uint32_t, n); /* numbers */
    w->count = 0;
    w->number[root] = w->count;
    w->node[w->count++] = root;
    next[0] = g->out_at[root];
    path[depth++] = 0;
    while (depth) {
        uint32_t at = path[depth - 1], x = w->node[at];
        if (next[at] == g->out_at[x + 1]) {
            depth--;
            if (w->post) w->post[posted++] = x;
            continue;
        }
        uint32_t y = g->out[next[at]++];
        if (w->number[y] != PTX_NONE) continue;
        uint32_t k = w->count++;
        w->number[y] = k;
        w->node[k] = y;
        w->parent[k] = at;
        next[k] = g->out_at[y];
        path[depth++] = k;
    }
}

struct forest { /* of Lengauer and Tarjan; all by number in the walk */
    uint32_t *ancestor, *label, *semi, *path;
};

/* The node with the smallest semidominator on the way from v up to the root of its tree, the root
 * left out. Shortens the way for the next question. */
static uint32_t smallest(struct forest *f, uint32_t v)
{
    if (f->ancestor[v] == PTX_NONE) return v;
    uint32_t n = 0;
    for (uint32_t x = v; f->ancestor[f->ancestor[x]] != PTX_NONE; x = f->ancestor[x])
        f->path[n++] = x;
    while (n > 0) {
        uint32_t x = f->path[--n], up = f->ancestor[x];
        if (f->semi[f->label[up]] < f->semi[f->label[x]]) f->label[x] = f->label[up];
        f->ancestor[x] = f->ancestor[up];
    }
    return f->label[v];
}

uint32_t ptx_graph_dominators(struct arena *scratch, const struct ptx_graph *g, uint32_t root,
                              uint32_t *idom, uint32_t *walk)
{
    struct walk w = {0};
    walk_from(scratch, g, root, &w);
    uint32_t n = w.count;
    struct forest f = {.ancestor = arena_array(scratch, uint32_t, n),
                       .label = arena_array(scratch, uint32_t, n),
                       .semi = arena_array(scratch, uint32_t, n),
                       .path = arena_array(scratch, uint32_t, n)};
    uint32_t *bucket = arena_array(scratch, uint32_t, n); /* first node with this semidominator */
    uint32_t *chain = arena_array(scratch, uint32_t, n);  /* the next one */
    uint32_t *dom = arena_array(scratch, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        f.ancestor[i] = bucket[i] = PTX_NONE;
        f.label[i] = f.semi[i] = i;
    }
    for (uint32_t i = n; i-- > 1;) {
        uint32_t x = w.node[i], up = w.parent[i];
        for (uint32_t e = g->in_at[x]; e < g->in_at[x + 1]; e++) {
            uint32_t v = w.number[g->in[e]];
            if (v == PTX_NONE) continue;
            uint32_t s = f.semi[smallest(&f, v)];
            if (s < f.semi[i]) f.semi[i] = s;
        }
        chain[i] = bucket[f.semi[i]];
        bucket[f.semi[i]] = i;
        f.ancestor[i] = up;
        for (uint32_t v = bucket[up]; v != PTX_NONE; v = chain[v]) {
            uint32_t u = smallest(&f, v);
            dom[v] = f.semi[u] < f.semi[v] ? u : up;
        }
        bucket[up] = PTX_NONE;
    }
    for (uint32_t i = 1; i < n; i++)
        if (dom[i] != f.semi[i]) dom[i] = dom[dom[i]];
    for (uint32_t i = 0; i < g->count; i++) idom[i] = PTX_NONE;
    for (uint32_t i = 1; i < n; i++) idom[w.node[i]] = w.node[dom[i]];
    if (walk)
        for (uint32_t i = 0; i < n; i++) walk[i] = w.node[i];
    return n;
}

/* Strongly connected components of the nodes that `keep` allows, without the edges that `drop` marks
 * (Tarjan). `component` by node; returns how many there are. */
static uint32_t components(struct arena *scratch, const struct ptx_graph *g, const bool *keep,
                           const bool *drop, uint32_t *component)
{
    uint32_t n = g->count, count = 0, clock = 0, depth = 0, held = 0;
    uint32_t *number = arena_array(scratch, uint32_t,
                                   n); /* order of visit plus 1; 0: not visited */
    uint32_t *low = arena_array(scratch, uint32_t, n);
    uint32_t *next = arena_array(scratch, uint32_t, n);
    uint32_t *path = arena_array(scratch, uint32_t, n);
    uint32_t *hold = arena_array(scratch, uint32_t, n); /* visited, component not known yet */
    memset(component, 0xff, n * sizeof *component);
    for (uint32_t root = 0; root < n; root++) {
        if (number[root] || !keep[root]) continue;
        path[depth++] = root;
        while (depth) {
            uint32_t x = path[depth - 1];
            if (!number[x]) {
                number[x] = low[x] = ++clock;
                next[x] = g->out_at[x];
                hold[held++] = x;
            }
            uint32_t down = PTX_NONE;
            while (down == PTX_NONE && next[x] < g->out_at[x + 1]) {
                uint32_t e = next[x]++, y = g->out[e];
                if (!keep[y] || (drop && drop[e])) continue;
                if (!number[y]) down = y;
                else if (component[y] == PTX_NONE && number[y] < low[x]) low[x] = number[y];
            }
            if (down != PTX_NONE) {
                path[depth++] = down;
                continue;
            }
            depth--;
            if (depth && low[x] < low[path[depth - 1]]) low[path[depth - 1]] = low[x];
            if (low[x] != number[x]) continue;
            uint32_t y;
            do {
                y = hold[--held];
                component[y] = count;
            } while (y != x);
            count++;
        }
    }
    return count;
}

/* Marks every node from which one of those on the stack, marked already, can be reached. */
static void mark_reaching(const struct ptx_graph *g, uint32_t *stack, uint32_t depth, bool *reaches)
{
    while (depth) {
        uint32_t x = stack[--depth];
        for (uint32_t e = g->in_at[x]; e < g->in_at[x + 1]; e++) {
            uint32_t y = g->in[e];
            if (reaches[y]) continue;
            reaches[y] = true;
            stack[depth++] = y;
        }
    }
}

/* ---- dominance --------------------------------------------------------------------------------- */

/* Places of the nodes in a tree such that a subtree is a range: walk has parents before children. */
static void number_tree(struct arena *scratch, const uint32_t *idom, const uint32_t *walk,
                        uint32_t count, uint32_t nodes, uint32_t *in, uint32_t *out)
{
    uint32_t *size = arena_array(scratch, uint32_t, nodes);
    uint32_t *used = arena_array(scratch, uint32_t, nodes);
    for (uint32_t i = count; i-- > 0;) {
        size[walk[i]]++;
        if (i) size[idom[walk[i]]] += size[walk[i]];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t x = walk[i];
        if (i) {
            uint32_t up = idom[x];
            in[x] = in[up] + 1 + used[up];
            used[up] += size[x];
        } else {
            in[x] = 0;
        }
        out[x] = in[x] + size[x];
    }
}

/* Replaces hubs as parents by their own parents. */
static void skip_hubs(const struct ptx_cfg *g, uint32_t *idom, const uint32_t *walk, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t up = idom[walk[i]];
        if (up >= g->code_count && up < g->exit) idom[walk[i]] = idom[up];
    }
}

static void find_dominators(struct build *b, const struct ptx_graph *graph)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = g->count;
    uint32_t *idom = arena_array(b->scratch, uint32_t, n);
    uint32_t *walk = arena_array(b->scratch, uint32_t, n);
    uint32_t *in = arena_array(b->scratch, uint32_t, n),
             *out = arena_array(b->scratch, uint32_t, n);
    uint32_t count = ptx_graph_dominators(b->scratch, graph, 0, idom, walk);
    number_tree(b->scratch, idom, walk, count, n, in, out);
    skip_hubs(g, idom, walk, count);
    for (uint32_t i = 0; i < n; i++) {
        g->blocks[i].idom = idom[i];
        g->blocks[i].dom_in = in[i];
        g->blocks[i].dom_out = out[i];
    }
    struct walk w = {.post = arena_array(b->scratch, uint32_t, n)};
    walk_from(b->scratch, graph, 0, &w);
    g->order_count = w.count;
    g->order = arena_array(b->arena, uint32_t, w.count);
    for (uint32_t i = 0; i < n; i++) g->blocks[i].rpo = PTX_NONE;
    for (uint32_t i = 0; i < w.count; i++) {
        uint32_t x = w.post[w.count - 1 - i];
        g->order[i] = x;
        g->blocks[x].rpo = i;
    }
}

/* The graph backwards: only the nodes that `keep` allows, with edges to the exit added for the nodes
 * that `leads` marks and left out for those that `no_exit` marks (either may be NULL). */
static struct ptx_graph backwards(struct build *b, const struct ptx_graph *graph, const bool *keep,
                                  const bool *leads, const bool *no_exit)
{
    uint32_t n = graph->count, exit = b->g->exit;
    struct ptx_graph back = {.count = n,
                             .out_at = arena_array(b->scratch, uint32_t, (size_t)n + 1)};
    back.out = arena_array(b->scratch, uint32_t, (size_t)graph->out_at[n] + n);
    uint32_t k = 0;
    for (uint32_t x = 0; x < n; x++) {
        back.out_at[x] = k;
        if (!keep[x]) continue;
        for (uint32_t e = graph->in_at[x]; e < graph->in_at[x + 1]; e++) {
            uint32_t y = graph->in[e];
            if (keep[y] && !(x == exit && no_exit && no_exit[y])) back.out[k++] = y;
        }
        if (x == exit && leads)
            for (uint32_t y = 0; y < n; y++)
                if (leads[y]) back.out[k++] = y;
    }
    back.out_at[n] = k;
    ptx_graph_reverse(b->scratch, &back);
    return back;
}

static void find_post_dominators(struct build *b, const struct ptx_graph *graph)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = g->count, endless = 0, stack_count = 0;
    bool *reaches = arena_array(b->scratch, bool, n), *keep = arena_array(b->scratch, bool, n);
    bool *leads = NULL;
    uint32_t *stack = arena_array(b->scratch, uint32_t, n);
    reaches[g->exit] = true;
    stack[stack_count++] = g->exit;
    mark_reaching(graph, stack, stack_count, reaches);
    for (uint32_t i = 0; i < n; i++) {
        keep[i] = !reaches[i];
        g->blocks[i].endless = keep[i];
        endless += keep[i];
    }
    if (endless) { /* the components that have no way out */
        uint32_t *component = arena_array(b->scratch, uint32_t, n);
        uint32_t count = components(b->scratch, graph, keep, NULL, component);
        bool *left = arena_array(b->scratch, bool, count);
        for (uint32_t x = 0; x < n; x++)
            for (uint32_t e = graph->out_at[x]; keep[x] && e < graph->out_at[x + 1]; e++)
                if (component[graph->out[e]] != component[x]) left[component[x]] = true;
        leads = arena_array(b->scratch, bool, n);
        for (uint32_t x = 0; x < n; x++) { /* the first block of each */
            if (!keep[x] || left[component[x]]) continue;
            leads[x] = true;
            left[component[x]] = true;
        }
    }
    for (uint32_t i = 0; i < n; i++) keep[i] = true;
    struct ptx_graph back = backwards(b, graph, keep, leads, NULL);
    uint32_t *idom = arena_array(b->scratch, uint32_t, n);
    uint32_t *walk = arena_array(b->scratch, uint32_t, n);
    uint32_t *in = arena_array(b->scratch, uint32_t, n),
             *out = arena_array(b->scratch, uint32_t, n);
    uint32_t count = ptx_graph_dominators(b->scratch, &back, g->exit, idom, walk);
    assert(count == n);
    number_tree(b->scratch, idom, walk, count, n, in, out);
    skip_hubs(g, idom, walk, count);
    for (uint32_t i = 0; i < n; i++) {
        g->blocks[i].ipdom = g->blocks[i].rejoin = idom[i];
        g->blocks[i].pdom_in = in[i];
        g->blocks[i].pdom_out = out[i];
    }
}

/* Where lanes meet if those that never return are not waited for. */
static void find_rejoins(struct build *b, const struct ptx_graph *graph)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = g->count, returns = 0;
    bool kernel = g->func->is_entry;
    uint8_t wanted = kernel ? PTX_LEAVE_RETURN | PTX_LEAVE_EXIT : PTX_LEAVE_RETURN;
    bool *reaches = arena_array(b->scratch, bool, n), *no_exit = arena_array(b->scratch, bool, n);
    uint32_t *stack = arena_array(b->scratch, uint32_t, n);
    for (uint32_t i = g->code_count; i-- > 0;) {
        const struct ptx_block *block = &g->blocks[i];
        no_exit[i] = true;
        if (!(block->leave & wanted) || !ptx_cfg_reachable(g, i) || (kernel && returns)) continue;
        no_exit[i] = false;
        reaches[i] = true;
        stack[returns++] = i;
    }
    if (!returns) return;
    mark_reaching(graph, stack, returns, reaches);
    bool differs = false;
    for (uint32_t i = 0; i < n && !differs; i++)
        for (uint32_t e = graph->out_at[i]; reaches[i] && e < graph->out_at[i + 1]; e++)
            if (graph->out[e] == g->exit ? no_exit[i] : !reaches[graph->out[e]]) differs = true;
    if (!differs) return;
    reaches[g->exit] = true;
    struct ptx_graph back = backwards(b, graph, reaches, NULL, no_exit);
    uint32_t *idom = arena_array(b->scratch, uint32_t, n);
    uint32_t *walk = arena_array(b->scratch, uint32_t, n);
    uint32_t count = ptx_graph_dominators(b->scratch, &back, g->exit, idom, walk);
    skip_hubs(g, idom, walk, count);
    for (uint32_t i = 1; i < count; i++) g->blocks[walk[i]].rejoin = idom[walk[i]];
}

/* ---- loops ------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *up, uint32_t x)
{
    while (up[x] != x) x = up[x] = up[up[x]];
    return x;
}

/* From the innermost headers out: what reaches a header's back edges backwards is its loop, and from
 * then on counts as one node, the header. */
static void find_loops(struct build *b)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = g->count, depth;
    uint32_t *by_dom = arena_array(b->scratch, uint32_t, n); /* the blocks in order of dom_in */
    uint32_t *up = arena_array(b->scratch, uint32_t, n),
             *inside = arena_array(b->scratch, uint32_t, n);
    uint32_t *stack = arena_array(b->scratch, uint32_t, (size_t)g->edge_count + 1);
    bool *header = arena_array(b->scratch, bool, n);
    for (uint32_t i = 0; i < n; i++) {
        up[i] = i;
        inside[i] = PTX_NONE; /* the header of the innermost loop around, i's own not counted */
        if (ptx_cfg_reachable(g, i)) by_dom[g->blocks[i].dom_in] = i;
    }
    for (uint32_t i = g->order_count; i-- > 0;) {
        uint32_t h = by_dom[i];
        depth = 0;
        for (uint32_t e = 0; e < g->blocks[h].pred_count; e++) {
            uint32_t p = g->preds[g->blocks[h].pred + e];
            if (!ptx_cfg_reachable(g, p) || !ptx_cfg_dominates(g, h, p)) continue;
            header[h] = true;
            stack[depth++] = find(up, p);
        }
        while (depth) {
            uint32_t x = stack[--depth];
            if (x == h || up[x] != x) continue;
            up[x] = h;
            inside[x] = h;
            for (uint32_t e = 0; e < g->blocks[x].pred_count; e++) {
                uint32_t p = g->preds[g->blocks[x].pred + e];
                if (ptx_cfg_reachable(g, p) && (p = find(up, p)) != h) stack[depth++] = p;
            }
        }
        g->loop_count += header[h];
    }
    g->loops = arena_array(b->arena, struct ptx_loop, g->loop_count);
    for (uint32_t i = 0; i < n; i++) g->blocks[i].loop = PTX_NONE;
    uint32_t k = 0;
    for (uint32_t i = 0; i < g->order_count; i++) {
        uint32_t x = g->order[i], h = inside[x];
        uint32_t around = h == PTX_NONE ? PTX_NONE : g->blocks[h].loop;
        g->blocks[x].loop = around;
        if (!header[x]) continue;
        uint32_t outer = around == PTX_NONE ? 0 : g->loops[around].depth;
        g->loops[k] = (struct ptx_loop){.header = x, .parent = around, .depth = outer + 1};
        g->blocks[x].loop = k++;
    }
    for (uint32_t i = 0; i < g->code_count; i++)
        if (g->blocks[i].loop != PTX_NONE) g->loops[g->blocks[i].loop].blocks++;
    for (uint32_t i = g->loop_count; i-- > 0;)
        if (g->loops[i].parent != PTX_NONE)
            g->loops[g->loops[i].parent].blocks += g->loops[i].blocks;
}

/* What is still cyclic without the edges back to headers. */
static void find_irreducible(struct build *b, const struct ptx_graph *graph)
{
    struct ptx_cfg *g = b->g;
    uint32_t n = g->count;
    bool *drop = arena_array(b->scratch, bool, g->edge_count),
         *keep = arena_array(b->scratch, bool, n);
    bool any = false;
    for (uint32_t x = 0; x < n; x++) {
        keep[x] = ptx_cfg_reachable(g, x);
        for (uint32_t e = graph->out_at[x]; keep[x] && e < graph->out_at[x + 1]; e++) {
            uint32_t y = graph->out[e];
            drop[e] = ptx_cfg_dominates(g, y, x);
            if (!drop[e] && g->blocks[y].rpo <= g->blocks[x].rpo) any = true;
        }
    }
    if (!any) return;
    uint32_t *component = arena_array(b->scratch, uint32_t, n);
    uint32_t count = components(b->scratch, graph, keep, drop, component);
    uint32_t *size = arena_array(b->scratch, uint32_t, count);
    for (uint32_t x = 0; x < n; x++)
        if (keep[x]) size[component[x]]++;
    for (uint32_t c = 0; c < count; c++) g->irreducible_count += size[c] > 1;
    for (uint32_t x = 0; x < n; x++) g->blocks[x].irreducible = keep[x] && size[component[x]] > 1;
}

/* ---- all of it --------------------------------------------------------------------------------- */

struct ptx_cfg *ptx_cfg_new(struct arena *arena, const struct ptx_func *func)
{
    if (func->definition) func = func->definition;
    assert(func->body);
    struct ptx_cfg *g = arena_alloc(arena, sizeof *g);
    struct build b = {.arena = arena, .scratch = arena_new(), .body = func->body, .g = g};
    g->func = func;
    find_blocks(&b);
    find_edges(&b);
    struct ptx_graph graph = {.count = g->count, .out = g->succs};
    graph.out_at = arena_array(b.scratch, uint32_t, (size_t)g->count + 1);
    for (uint32_t i = 0; i < g->count; i++) graph.out_at[i] = g->blocks[i].succ;
    graph.out_at[g->count] = g->edge_count;
    ptx_graph_reverse(b.scratch, &graph);
    g->preds = arena_array(arena, uint32_t, g->edge_count);
    if (g->edge_count) memcpy(g->preds, graph.in, g->edge_count * sizeof *g->preds);
    for (uint32_t i = 0; i < g->count; i++) {
        g->blocks[i].pred = graph.in_at[i];
        g->blocks[i].pred_count = graph.in_at[i + 1] - graph.in_at[i];
    }
    find_dominators(&b, &graph);
    find_post_dominators(&b, &graph);
    find_rejoins(&b, &graph);
    find_loops(&b);
    find_irreducible(&b, &graph);
    arena_free(b.scratch);
    return g;
}

uint32_t ptx_cfg_block_of(const struct ptx_cfg *g, uint32_t stmt)
{
    uint32_t low = 0, high = g->code_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (g->blocks[middle].first <= stmt) low = middle;
        else high = middle;
    }
    return low;
}

bool ptx_cfg_in_loop(const struct ptx_cfg *g, uint32_t loop, uint32_t b)
{
    if (loop == PTX_NONE) return true;
    uint32_t l = g->blocks[b].loop;
    while (l != PTX_NONE && l > loop) l = g->loops[l].parent;
    return l == loop;
}
