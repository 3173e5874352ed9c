/* Breadth-first search from one node or several, one after the other. */
#include "suites/graph.h"
#include "suites/suite.h"

#include <string.h>

#define NONE UINT32_MAX

struct search {
    const struct graph *g;
    uint32_t nodes;
    uint32_t *cost, *parent; /* as the device left them */
    uint32_t *want, *queue;  /* distances, computed here */
    CUdeviceptr row, column, active, visited, updating, dcost, dparent, over;
    unsigned blocks;
    uint32_t wrong, early; /* of a racy search: nodes with a cost that is too high, too low */
    size_t reached;
};

static void reference(struct search *s, uint32_t source)
{
    const struct graph *g = s->g;
    size_t from = 0, to = 0;
    memset(s->want, 0xff, g->nodes * sizeof *s->want);
    s->want[source] = 0;
    s->queue[to++] = source;
    while (from < to) {
        uint32_t t = s->queue[from++];
        for (size_t i = g->row[t]; i < g->row[t + 1]; i++)
            if (s->want[g->column[i]] == NONE) {
                s->want[g->column[i]] = s->want[t] + 1;
                s->queue[to++] = g->column[i];
            }
    }
}

/* Memory for searches in graphs of so many nodes and edges. */
static struct search make(struct suite_context *ctx, uint32_t nodes, uint32_t edges)
{
    size_t bytes = nodes * sizeof(uint32_t);
    struct search s = {.nodes = nodes, .blocks = (unsigned)suite_blocks(nodes, 256)};
    s.cost = suite_host(ctx, uint32_t, nodes);
    s.parent = suite_host(ctx, uint32_t, nodes);
    s.want = suite_host(ctx, uint32_t, nodes);
    s.queue = suite_host(ctx, uint32_t, nodes);
    s.row = suite_alloc(ctx, bytes + sizeof(uint32_t));
    s.column = suite_alloc(ctx, edges * sizeof(uint32_t));
    s.active = suite_alloc(ctx, bytes);
    s.visited = suite_alloc(ctx, bytes);
    s.updating = suite_alloc(ctx, bytes);
    s.dcost = suite_alloc(ctx, bytes);
    s.dparent = suite_alloc(ctx, bytes);
    s.over = suite_alloc(ctx, sizeof(uint32_t));
    return s;
}

static void load(struct suite_context *ctx, struct search *s, const struct graph *g)
{
    s->g = g;
    suite_write(ctx, s->row, g->row, (g->nodes + (size_t)1) * sizeof(uint32_t));
    suite_write(ctx, s->column, g->column, g->edges * sizeof(uint32_t));
}

static void free_graph(void *g)
{
    graph_free(g);
}

/* The graph that the ISPASS 2009 and Rodinia programs come with has 65,536 nodes and 393,216 edges, the two directions
 * of each counted; ends are any nodes. This one is made to the same numbers; graph=2 and more are others. */
static struct graph *graph65536(struct suite_context *ctx)
{
    enum { NODES = 65536 };
    const size_t which = suite_number(ctx, "graph");
    struct graph *g = graph_undirected(NODES, 3 * NODES, ctx->seed + (which ? which - 1 : 0));
    suite_at_end(ctx, free_graph, g);
    return g;
}

static struct search start(struct suite_context *ctx)
{
    struct graph *g = suite_has_input(ctx) || suite_number(ctx, "graph")
                          ? graph65536(ctx)
                          : graph_for(ctx, 15, (size_t)8 << suite_pick(ctx, 15, 19, 19));
    struct search s = make(ctx, g->nodes, g->edges);
    load(ctx, &s, g);
    return s;
}

static void mark(struct suite_context *ctx, CUdeviceptr flags, uint32_t node, uint32_t value)
{
    suite_write(ctx, flags + node * sizeof value, &value, sizeof value);
}

static void search(struct suite_context *ctx, struct search *s, const char *kernel, uint32_t source)
{
    uint32_t nodes = s->g->nodes;
    size_t bytes = nodes * sizeof(uint32_t);
    bool racy = strcmp(kernel, "bfs_racy") == 0;
    CUfunction f = suite_kernel(ctx, kernel), advance = suite_kernel(ctx, "bfs_advance");
    suite_zero(ctx, s->active, bytes);
    suite_zero(ctx, s->visited, bytes);
    suite_zero(ctx, s->updating, bytes);
    suite_check(ctx, cuMemsetD32(s->dcost, NONE, nodes));
    suite_check(ctx, cuMemsetD32(s->dparent, NONE, nodes));
    mark(ctx, s->active, source, 1);
    mark(ctx, s->visited, source, 1);
    mark(ctx, s->dcost, source, 0);
    /* A level takes at least one node, so a search that goes on for longer is broken. */
    for (uint32_t level = 0, over = 1; over; level++) {
        if (level > nodes) suite_fail(ctx, "the search does not end");
        suite_zero(ctx, s->over, sizeof over);
        if (racy)
            suite_launch(ctx, f, suite_1d(s->blocks), suite_1d(256), 0, &nodes, &s->row, &s->column,
                         &s->active, &s->visited, &s->dcost, &s->over);
        else {
            suite_launch(ctx, f, suite_1d(s->blocks), suite_1d(256), 0, &nodes, &s->row, &s->column,
                         &s->active, &s->visited, &s->updating, &s->dcost, &s->dparent);
            suite_launch(ctx, advance, suite_1d(s->blocks), suite_1d(256), 0, &nodes, &s->active,
                         &s->visited, &s->updating, &s->over);
        }
        suite_read(ctx, &over, s->over, sizeof over);
    }
    suite_read(ctx, s->cost, s->dcost, bytes);
    suite_read(ctx, s->parent, s->dparent, bytes);
    reference(s, source);
}

/* Searches from sources chosen by the seed; `check` looks at what each left. */
static void searches(struct suite_context *ctx, struct search *s, const char *kernel,
                     void (*check)(struct suite_context *ctx, struct search *s))
{
    size_t count = suite_pick(ctx, 1, 6, 60);
    struct suite_random r = suite_random(ctx->seed + 2);
    for (size_t i = 0; i < count; i++) {
        uint32_t source = suite_random_below(&r, s->g->nodes);
        for (int tries = 0; tries < 64 && s->g->row[source] == s->g->row[source + 1]; tries++)
            source = suite_random_below(&r, s->g->nodes);
        search(ctx, s, kernel, source);
        check(ctx, s);
    }
}

/* A racy search reaches the right nodes. Some costs are higher than the distance, by ways that are not the
 * shortest. Where memory lets the flag of a node be seen before the cost that was stored ahead of it, that
 * node goes on from ~0, and costs are lower, too. */
static void check_racy(struct suite_context *ctx, struct search *s)
{
    for (uint32_t i = 0; i < s->g->nodes; i++) {
        if ((s->cost[i] == NONE) != (s->want[i] == NONE))
            suite_fail(ctx, "cost[%u] is %u, the distance is %u", i, s->cost[i], s->want[i]);
        s->wrong += s->cost[i] > s->want[i];
        s->early += s->cost[i] < s->want[i];
        s->reached += s->cost[i] != NONE;
    }
}

static void note(struct suite_context *ctx, const struct search *s)
{
    suite_note(ctx, "%u of %zu costs are higher than the distance, %u lower", s->wrong, s->reached,
               s->early);
}

static bool leads(const struct graph *g, uint32_t from, uint32_t to)
{
    for (size_t i = g->row[from]; i < g->row[from + 1]; i++)
        if (g->column[i] == to) return true;
    return false;
}

static void check_parent(struct suite_context *ctx, struct search *s)
{
    suite_verify_u32(ctx, "cost", s->cost, s->want, s->g->nodes);
    for (uint32_t i = 0; i < s->g->nodes; i++) {
        uint32_t p = s->parent[i], cost = s->cost[i];
        if (cost == 0 || cost == NONE
                ? p != NONE
                : p >= s->g->nodes || s->cost[p] + 1 != cost || !leads(s->g, p, i))
            suite_fail(ctx, "parent[%u] is %u, which is none", i, p);
    }
}

static void check_fixed(struct suite_context *ctx, struct search *s)
{
    const struct graph *g = s->g;
    uint32_t *parent = s->queue;
    suite_verify_u32(ctx, "cost", s->cost, s->want, g->nodes);
    memset(parent, 0xff, g->nodes * sizeof *parent);
    for (uint32_t t = 0; t < g->nodes; t++)
        for (size_t i = g->row[t]; s->want[t] != NONE && i < g->row[t + 1]; i++)
            if (s->want[g->column[i]] == s->want[t] + 1 && parent[g->column[i]] == NONE)
                parent[g->column[i]] = t;
    suite_verify_u32(ctx, "parent", s->parent, parent, g->nodes);
}

void suite_run_bfs_racy(struct suite_context *ctx)
{
    struct search s = start(ctx);
    searches(ctx, &s, "bfs_racy", check_racy);
    note(ctx, &s);
}

/* A node of the largest part of an undirected graph. */
static uint32_t in_largest(struct search *s)
{
    const struct graph *g = s->g;
    size_t most = 0;
    uint32_t best = 0;
    memset(s->want, 0, g->nodes * sizeof *s->want);
    for (uint32_t first = 0; first < g->nodes; first++) {
        size_t from = 0, to = 0;
        if (!s->want[first]) s->queue[to++] = first;
        s->want[first] = 1;
        while (from < to) {
            uint32_t t = s->queue[from++];
            for (size_t i = g->row[t]; i < g->row[t + 1]; i++)
                if (!s->want[g->column[i]]) {
                    s->want[g->column[i]] = 1;
                    s->queue[to++] = g->column[i];
                }
        }
        if (to > most) most = to, best = first;
    }
    return best;
}

static void search_sparse(struct suite_context *ctx, struct search *s, uint32_t edges,
                          uint64_t seed)
{
    struct graph *g = graph_undirected(s->nodes, edges, seed);
    if (!g) suite_fail(ctx, "out of host memory: a graph of %u edges", edges);
    suite_at_end(ctx, free_graph, g);
    load(ctx, s, g);
    search(ctx, s, "bfs_racy", in_largest(s));
    check_racy(ctx, s);
}

/* The graphs of the GPUDet thesis, figure 1.1: 65,536 nodes, 24,000 to 42,000 edges that go both ways.
 * From 32,768 on, one part holds most of what is connected, and searches have many results. A small run
 * has the densest graph, a medium one each, a large one ten of each. "edges=E:graph=G": one graph of E edges (42,000),
 * another one for each G (1). */
void suite_run_bfs_sparse(struct suite_context *ctx)
{
    enum { NODES = 65536, STEP = 2000, LEAST = 24000, MOST = 42000 };
    const uint32_t named = (uint32_t)suite_number(ctx, "edges"), one = named ? named : MOST;
    const uint64_t graph = suite_number(ctx, "graph");
    struct search s = make(ctx, NODES, 2 * (named ? named : MOST));
    struct suite_random r = suite_random(ctx->seed + 3);
    if (named || graph) {
        r.state ^= (graph ? graph : 1) << 32 | one;
        search_sparse(ctx, &s, one, suite_random_u64(&r));
    } else {
        const uint32_t least = (uint32_t)suite_pick(ctx, MOST, LEAST, LEAST);
        const size_t each = suite_pick(ctx, 1, 1, 10);
        for (uint32_t edges = least; edges <= MOST; edges += STEP)
            for (size_t i = 0; i < each; i++) search_sparse(ctx, &s, edges, suite_random_u64(&r));
    }
    note(ctx, &s);
}

void suite_run_bfs_parent(struct suite_context *ctx)
{
    struct search s = start(ctx);
    searches(ctx, &s, "bfs_expand", check_parent);
}

void suite_run_bfs_fixed(struct suite_context *ctx)
{
    struct search s = start(ctx);
    searches(ctx, &s, "bfs_expand_min", check_fixed);
}
