/* Graphs: nodes and edges, copies, user objects. */
#define _GNU_SOURCE
#include "cuda/graph.h"
#include "cuda/queue.h"

#include <stdlib.h>

/* ---- edges ------------------------------------------------------------------------------------------ */

static size_t find_edge(const struct edges *e, const struct CUgraphNode_st *node)
{
    size_t i = 0;
    while (i < e->count && e->at[i].node != node) i++;
    return i;
}

static void add_edge(struct edges *e, struct CUgraphNode_st *node, CUgraphEdgeData data)
{
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 4;
        e->at = realloc(e->at, e->capacity * sizeof *e->at);
        if (!e->at) abort();
    }
    e->at[e->count++] = (struct edge){node, data};
}

static void remove_edge(struct edges *e, const struct CUgraphNode_st *node)
{
    const size_t i = find_edge(e, node);
    memmove(&e->at[i], &e->at[i + 1], (--e->count - i) * sizeof *e->at);
}

static void connect_nodes(struct CUgraphNode_st *from, struct CUgraphNode_st *to,
                          CUgraphEdgeData data)
{
    add_edge(&from->out, to, data);
    add_edge(&to->in, from, data);
}

static void disconnect(struct CUgraphNode_st *from, struct CUgraphNode_st *to)
{
    remove_edge(&from->out, to);
    remove_edge(&to->in, from);
}

/* ---- orders ----------------------------------------------------------------------------------------- */

/* From there backwards; each node is looked at once. */
bool *graph_before(const struct CUgraphNode_st *node)
{
    const struct CUgraph_st *g = node->graph;
    bool *seen = calloc(g->count, sizeof *seen);
    const struct CUgraphNode_st **next = calloc(g->count, sizeof *next);
    size_t count = 0;
    if (!seen || !next) abort();
    next[count++] = node;
    while (count) {
        const struct CUgraphNode_st *n = next[--count];
        for (size_t i = 0; i < n->in.count; i++) {
            const struct CUgraphNode_st *before = n->in.at[i].node;
            if (seen[before->index]) continue;
            seen[before->index] = true;
            next[count++] = before;
        }
    }
    free((void *)next);
    return seen;
}

bool graph_is_behind(const struct CUgraphNode_st *node, const struct CUgraphNode_st *other)
{
    bool *before = graph_before(node);
    const bool found = before[other->index];
    free(before);
    return found;
}

static bool are_inner_ordered(const struct work *w)
{
    if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) return graph_is_ordered(w->graph);
    bool ok = true;
    if (w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        for (unsigned i = 0; i < w->conditional.params.size; i++)
            ok &= graph_is_ordered(w->conditional.params.phGraph_out[i]);
    return ok;
}

/* Takes away nodes with nothing before them until there are none. */
bool graph_is_ordered(const struct CUgraph_st *g)
{
    size_t *waits = calloc(g->count + 1, sizeof *waits), *next = calloc(g->count + 1, sizeof *next);
    size_t count = 0, done = 0;
    bool ok = true;
    if (!waits || !next) abort();
    for (size_t i = 0; i < g->count; i++) {
        waits[i] = g->nodes[i]->in.count;
        if (!waits[i]) next[count++] = i;
        ok &= are_inner_ordered(&g->nodes[i]->work);
    }
    while (count) {
        const struct CUgraphNode_st *n = g->nodes[next[--count]];
        done++;
        for (size_t i = 0; i < n->out.count; i++)
            if (--waits[n->out.at[i].node->index] == 0) next[count++] = n->out.at[i].node->index;
    }
    free(waits);
    free(next);
    return ok && done == g->count;
}

/* ---- graphs and nodes ------------------------------------------------------------------------------- */

struct CUgraph_st *graph_new(struct CUctx_st *c)
{
    struct CUgraph_st *g = object_new(OBJECT_GRAPH, sizeof *g);
    g->context = c;
    g->id = ++driver.serial;
    return g;
}

CUresult graph_check(CUgraph g)
{
    return object_check(g, OBJECT_GRAPH) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct CUgraphNode_st *node_new(struct CUgraph_st *g, struct work *w)
{
    struct CUgraphNode_st *n = object_new(OBJECT_NODE, sizeof *n);
    if (g->count == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 8;
        g->nodes = realloc((void *)g->nodes, g->capacity * sizeof *g->nodes);
        if (!g->nodes) abort();
    }
    n->graph = g;
    n->index = g->count;
    n->id = ++driver.serial;
    n->work = *w;
    g->nodes[g->count++] = n;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return n;
}

static void node_drop(struct CUgraphNode_st *n)
{
    work_end(&n->work);
    free(n->in.at);
    free(n->out.at);
    object_destroy(&n->object);
}

CUresult graph_check_place(CUgraph g, const CUgraphNode *dependencies, size_t count,
                           const CUgraphNode *out)
{
    CUresult r = graph_check(g);
    if (!out || (count && !dependencies)) r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        if (!object_check(dependencies[i], OBJECT_NODE) || dependencies[i]->graph != g)
            r = CUDA_ERROR_INVALID_VALUE;
        for (size_t k = 0; k < i; k++)
            if (dependencies[k] == dependencies[i]) r = CUDA_ERROR_INVALID_VALUE;
    }
    return r;
}

CUresult graph_add(struct CUgraph_st *g, const CUgraphNode *dependencies,
                   const CUgraphEdgeData *data, size_t count, struct work *w, CUgraphNode *out)
{
    const CUresult r = graph_check_place(g, dependencies, count, out);
    if (r != CUDA_SUCCESS) {
        work_end(w);
        return r;
    }
    struct CUgraphNode_st *n = node_new(g, w);
    for (size_t i = 0; i < count; i++)
        connect_nodes(dependencies[i], n, data ? data[i] : (CUgraphEdgeData){0});
    *out = n;
    return CUDA_SUCCESS;
}

static void copy_held(struct CUgraph_st *to, const struct CUgraph_st *g);
static void release_held(struct CUgraph_st *g);

struct CUgraph_st *graph_copy(const struct CUgraph_st *g)
{
    struct CUgraph_st *to = graph_new(g->context);
    to->owned = true;
    to->original = g->id;
    for (size_t i = 0; i < g->count; i++) {
        struct work w = work_clone(&g->nodes[i]->work);
        struct CUgraphNode_st *n = node_new(to, &w);
        n->original = g->nodes[i]->id;
        n->disabled = g->nodes[i]->disabled;
    }
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->nodes[i]->in.count; k++)
            connect_nodes(to->nodes[g->nodes[i]->in.at[k].node->index], to->nodes[i],
                          g->nodes[i]->in.at[k].data);
    if (g->value_count) {
        to->values = malloc(g->value_count * sizeof *g->values);
        if (!to->values) abort();
        memcpy(to->values, g->values, g->value_count * sizeof *g->values);
        to->value_count = g->value_count;
    }
    copy_held(to, g);
    return to;
}

struct CUgraphNode_st *graph_copy_of(const struct CUgraph_st *g, const struct CUgraphNode_st *node)
{
    size_t from = 0, to = g->count; /* originals rise with their copies */
    while (from < to) {
        const size_t mid = from + (to - from) / 2;
        if (g->nodes[mid]->original < node->id) from = mid + 1;
        else to = mid;
    }
    return from < g->count && g->nodes[from]->original == node->id ? g->nodes[from] : NULL;
}

/* What the one is a copy of is what the other is. */
static void copy_originals(struct CUgraph_st *to, const struct CUgraph_st *g)
{
    to->original = g->original;
    for (size_t i = 0; i < g->count; i++) {
        const struct work *w = &g->nodes[i]->work, *t = &to->nodes[i]->work;
        to->nodes[i]->original = g->nodes[i]->original;
        if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) copy_originals(t->graph, w->graph);
        if (w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            for (unsigned k = 0; k < w->conditional.params.size; k++)
                copy_originals(t->conditional.params.phGraph_out[k],
                               w->conditional.params.phGraph_out[k]);
    }
}

void graph_detach(struct CUgraphExec_st *x)
{
    struct CUgraph_st *before = x->graph;
    if (!before->users) return;
    x->graph = graph_copy(before);
    copy_originals(x->graph, before);
    x->graph->last = before->last; /* its launches still come one after another */
    before->last = NULL;
    graph_drop(before);
}

/* While it runs it stays. */
void graph_drop(struct CUgraph_st *g)
{
    if (!g) return;
    g->dropped = true;
    g->object.kind = OBJECT_NONE;
    if (g->users) return;
    for (size_t i = 0; i < g->count; i++) node_drop(g->nodes[i]);
    free((void *)g->nodes);
    free(g->values);
    operation_release(g->last);
    release_held(g);
    object_reuse(&g->object);
}

void graph_drop_all(struct CUctx_st *c)
{
    for (struct object *o = driver.objects.all[OBJECT_EXEC - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUgraphExec_st *x = (struct CUgraphExec_st *)o;
        if (o->kind != OBJECT_EXEC || (c && x->graph->context != c)) continue;
        graph_drop(x->graph);
        object_destroy(o);
    }
    for (struct object *o = driver.objects.all[OBJECT_GRAPH - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUgraph_st *g = (struct CUgraph_st *)o;
        if (o->kind == OBJECT_GRAPH && !g->owned && (!c || g->context == c)) graph_drop(g);
    }
}

/* ---- user objects ------------------------------------------------------------------------------------ */

struct CUuserObject_st {
    struct object object;
    void *pointer;
    CUhostFn destroy;
    unsigned count;
};

static void user_release(struct CUuserObject_st *u, unsigned count)
{
    u->count -= count;
    if (u->count) return;
    const CUhostFn destroy = u->destroy;
    void *const pointer = u->pointer;
    object_destroy(&u->object);
    driver_host_function(true);
    driver_unlock();
    destroy(pointer);
    driver_lock();
    driver_host_function(false);
}

static void hold(struct CUgraph_st *g, struct CUuserObject_st *u, unsigned count)
{
    size_t i = 0;
    while (i < g->held_count && g->held[i].object != u) i++;
    if (i == g->held_count) {
        g->held = realloc(g->held, (i + 1) * sizeof *g->held);
        if (!g->held) abort();
        g->held[g->held_count++] = (struct held){u, 0};
    }
    g->held[i].count += count;
}

static void copy_held(struct CUgraph_st *to, const struct CUgraph_st *g)
{
    for (size_t i = 0; i < g->held_count; i++) {
        g->held[i].object->count += g->held[i].count;
        hold(to, g->held[i].object, g->held[i].count);
    }
}

static void release_held(struct CUgraph_st *g)
{
    struct held *held = g->held;
    const size_t count = g->held_count;
    g->held = NULL;
    g->held_count = 0;
    for (size_t i = 0; i < count; i++) user_release(held[i].object, held[i].count);
    free(held);
}

CUresult cuUserObjectCreate(CUuserObject *object, void *pointer, CUhostFn destroy, unsigned count,
                            unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!object || !destroy || !count || count > INT32_MAX ||
                              flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUuserObject_st *u = object_new(OBJECT_USER, sizeof *u);
    u->pointer = pointer;
    u->destroy = destroy;
    u->count = count;
    *object = u;
    return driver_end(CUDA_SUCCESS);
}

static CUresult begin_user(CUuserObject object, unsigned count)
{
    struct CUctx_st *c;
    const CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return r;
    return object_check(object, OBJECT_USER) && count && count <= INT32_MAX
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count)
{
    const CUresult r = begin_user(object, count);
    if (r == CUDA_SUCCESS) object->count += count;
    return driver_end(r);
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count)
{
    CUresult r = begin_user(object, count);
    if (r == CUDA_SUCCESS && count > object->count) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) user_release(object, count);
    return driver_end(r);
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags)
{
    CUresult r = begin_user(object, count);
    if (r == CUDA_SUCCESS) r = graph_check(graph);
    if (r == CUDA_SUCCESS && flags > CU_GRAPH_USER_OBJECT_MOVE) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags && count > object->count) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!flags) object->count += count;
    hold(graph, object, count);
    return driver_end(CUDA_SUCCESS);
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count)
{
    CUresult r = begin_user(object, count);
    if (r == CUDA_SUCCESS) r = graph_check(graph);
    for (size_t i = 0; r == CUDA_SUCCESS && i < graph->held_count; i++) {
        struct held *h = &graph->held[i];
        if (h->object != object) continue;
        if (count > h->count) return driver_end(CUDA_ERROR_INVALID_VALUE);
        h->count -= count;
        if (!h->count) *h = graph->held[--graph->held_count];
        user_release(object, count);
        return driver_end(CUDA_SUCCESS);
    }
    return driver_end(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
}

/* ---- the calls: graphs -------------------------------------------------------------------------------- */

static CUresult begin_graph(CUgraph graph)
{
    struct CUctx_st *c;
    const CUresult r = driver_begin(&c);
    return r == CUDA_SUCCESS ? graph_check(graph) : r;
}

static CUresult begin_node(CUgraphNode node)
{
    struct CUctx_st *c;
    const CUresult r = driver_begin(&c);
    return r == CUDA_SUCCESS && !object_check(node, OBJECT_NODE) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!graph || flags)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *graph = graph_new(c);
    return driver_end(r);
}

CUresult cuGraphDestroy(CUgraph graph)
{
    CUresult r = begin_graph(graph);
    if (r == CUDA_SUCCESS && graph->owned) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) graph_drop(graph);
    return driver_end(r);
}

/* Of memory or conditions. */
static bool has_single_nodes(const struct CUgraph_st *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
            g->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
            g->nodes[i]->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            return true;
    return false;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
    CUresult r = begin_graph(graph);
    if (r == CUDA_SUCCESS && !clone) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && has_single_nodes(graph)) r = CUDA_ERROR_NOT_SUPPORTED;
    if (r == CUDA_SUCCESS) {
        *clone = graph_copy(graph);
        (*clone)->owned = false;
    }
    return driver_end(r);
}

CUresult cuGraphNodeFindInClone(CUgraphNode *node, CUgraphNode original, CUgraph clone)
{
    CUresult r = begin_graph(clone);
    if (r == CUDA_SUCCESS && (!node || !object_check(original, OBJECT_NODE)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !(*node = graph_copy_of(clone, original)))
        r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

/* Of no list, the count; else as many as there are, and NULL behind them. */
static CUresult give_nodes(const struct CUgraph_st *g, bool roots, CUgraphNode *nodes,
                           size_t *count)
{
    size_t n = 0;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < g->count; i++) {
        if (roots && g->nodes[i]->in.count) continue;
        if (nodes && n < *count) nodes[n] = g->nodes[i];
        n++;
    }
    for (size_t i = n; nodes && i < *count; i++) nodes[i] = NULL;
    if (!nodes || n < *count) *count = n;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CUresult r = begin_graph(graph);
    if (r == CUDA_SUCCESS) r = give_nodes(graph, false, nodes, count);
    return driver_end(r);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CUresult r = begin_graph(graph);
    if (r == CUDA_SUCCESS) r = give_nodes(graph, true, nodes, count);
    return driver_end(r);
}

static bool is_plain(CUgraphEdgeData d)
{
    return !d.from_port && !d.to_port && !d.type;
}

struct edge_list { /* where a call wants edges */
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    size_t capacity, count;
    bool lossy;
};

static void give_edge(struct edge_list *l, CUgraphNode from, CUgraphNode to, CUgraphEdgeData data)
{
    if ((l->from || l->to) && l->count < l->capacity) {
        if (l->from) l->from[l->count] = from;
        if (l->to) l->to[l->count] = to;
        if (l->data) l->data[l->count] = data;
        l->lossy |= !l->data && !is_plain(data);
    }
    l->count++;
}

static CUresult end_edges(const struct edge_list *l, size_t *count)
{
    for (size_t i = l->count; (l->from || l->to) && i < l->capacity; i++) {
        if (l->from) l->from[i] = NULL;
        if (l->to) l->to[i] = NULL;
    }
    if ((!l->from && !l->to) || l->count < l->capacity) *count = l->count;
    return driver_end(l->lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, size_t *count)
{
    CUresult r = begin_graph(graph);
    if (r == CUDA_SUCCESS && (!count || !from != !to || (data && !from)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct edge_list l = {.from = from, .to = to, .data = data, .capacity = from ? *count : 0};
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->out.count; k++)
            give_edge(&l, graph->nodes[i], graph->nodes[i]->out.at[k].node,
                      graph->nodes[i]->out.at[k].data);
    return end_edges(&l, count);
}

#undef cuGraphGetEdges
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

static CUresult give_neighbours(CUgraphNode node, bool before, CUgraphNode *nodes,
                                CUgraphEdgeData *data, size_t *count)
{
    CUresult r = begin_node(node);
    if (r == CUDA_SUCCESS && (!count || (data && !nodes))) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    const struct edges *e = before ? &node->in : &node->out;
    struct edge_list l = {.from = nodes, .data = data, .capacity = nodes ? *count : 0};
    for (size_t i = 0; i < e->count; i++) give_edge(&l, e->at[i].node, NULL, e->at[i].data);
    return end_edges(&l, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                       size_t *count)
{
    return give_neighbours(node, true, nodes, data, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                         CUgraphEdgeData *data, size_t *count)
{
    return give_neighbours(node, false, nodes, data, count);
}

#undef cuGraphNodeGetDependencies
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return give_neighbours(node, true, nodes, NULL, count);
}

#undef cuGraphNodeGetDependentNodes
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return give_neighbours(node, false, nodes, NULL, count);
}

/* Two nodes of the graph; whether there is an edge from the one to the other is as it should be. */
static bool is_pair(const struct CUgraph_st *g, CUgraphNode from, CUgraphNode to, bool connected)
{
    return object_check(from, OBJECT_NODE) && object_check(to, OBJECT_NODE) && from->graph == g &&
           to->graph == g && from != to &&
           (find_edge(&from->out, to) < from->out.count) == connected;
}

static CUresult begin_pairs(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            size_t count, bool connected)
{
    CUresult r = begin_graph(graph);
    if (r == CUDA_SUCCESS && count && (!from || !to)) r = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (!is_pair(graph, from[i], to[i], connected)) r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count)
{
    CUresult r = begin_pairs(graph, from, to, count, false);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (is_pair(graph, from[i], to[i], false)) /* and not twice in the list */
            connect_nodes(from[i], to[i], data ? data[i] : (CUgraphEdgeData){0});
    return driver_end(r);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t count)
{
    (void)data; /* there is one edge at most between two nodes */
    CUresult r = begin_pairs(graph, from, to, count, true);
    for (size_t i = 0; r == CUDA_SUCCESS && i < count; i++)
        if (is_pair(graph, from[i], to[i], true)) disconnect(from[i], to[i]);
    return driver_end(r);
}

#undef cuGraphAddDependencies
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

#undef cuGraphRemoveDependencies
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count)
{
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    CUresult r = begin_node(node);
    if (r == CUDA_SUCCESS && !type) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *type = node->work.type;
    return driver_end(r);
}

/* Memory of a graph keeps the graph as it is, as CUDA has it. */
CUresult cuGraphDestroyNode(CUgraphNode node)
{
    CUresult r = begin_node(node);
    if (r == CUDA_SUCCESS && (node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
                              node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE))
        r = CUDA_ERROR_NOT_SUPPORTED;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUgraph_st *g = node->graph;
    while (node->in.count) disconnect(node->in.at[0].node, node);
    while (node->out.count) disconnect(node, node->out.at[0].node);
    g->count--;
    for (size_t i = node->index; i < g->count; i++) {
        g->nodes[i] = g->nodes[i + 1];
        g->nodes[i]->index = i;
    }
    node_drop(node);
    return driver_end(CUDA_SUCCESS);
}
