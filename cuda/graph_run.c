/* Executable graphs and their launches, which execute node by node, in an order that the edges allow. */
#include "cuda/capture.h"
#include "cuda/graph.h"
#include "cuda/queue.h"
#include "cuda/unordered.h"

#include <stdlib.h>

/* ---- running ------------------------------------------------------------------------------------ */

struct graph_run {
    struct CUgraph_st *graph;
    unsigned long long number; /* of all there have been */
    size_t depth;              /* graphs that it is in */
    struct graph_run **inner;  /* by node: of its child or body */
    size_t *waits, *ready; /* by node: nodes before it that are not done; those that can be done */
    size_t ready_count, left;
};

struct graph_run *graph_run_new(struct CUgraph_st *g, size_t depth)
{
    struct graph_run *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->graph = g;
    r->number = ++driver.serial;
    r->depth = depth;
    r->left = g->count;
    r->inner = calloc(g->count + 1, sizeof *r->inner);
    r->waits = calloc(g->count + 1, sizeof *r->waits);
    r->ready = calloc(g->count + 1, sizeof *r->ready);
    if (!r->inner || !r->waits || !r->ready) abort();
    for (size_t i = 0; i < g->count; i++) {
        r->waits[i] = g->nodes[i]->in.count;
        if (!r->waits[i]) r->ready[r->ready_count++] = i;
    }
    return r;
}

void graph_run_end(struct graph_run *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->graph->count; i++) graph_run_end(r->inner[i]);
    free((void *)r->inner);
    free(r->waits);
    free(r->ready);
    free(r);
}

bool graph_run_done(const struct graph_run *r)
{
    return !r->left;
}

static void finish(struct graph_run *r, size_t at)
{
    const struct CUgraphNode_st *n = r->graph->nodes[r->ready[at]];
    memmove(&r->ready[at], &r->ready[at + 1], (--r->ready_count - at) * sizeof *r->ready);
    for (size_t i = 0; i < n->out.count; i++)
        if (--r->waits[n->out.at[i].node->index] == 0)
            r->ready[r->ready_count++] = n->out.at[i].node->index;
    r->left--;
}

/* Which body is next; NULL: none. */
static struct CUgraph_st *body_of(const struct work *w)
{
    const CUDA_CONDITIONAL_NODE_PARAMS *p = &w->conditional.params;
    unsigned value = 0;
    (void)emu_copy_out(driver.emu, &value, p->handle, sizeof value);
    switch (p->type) {
    case CU_GRAPH_COND_TYPE_WHILE: return value ? p->phGraph_out[0] : NULL;
    case CU_GRAPH_COND_TYPE_SWITCH: return value < p->size ? p->phGraph_out[value] : NULL;
    default: return value ? p->phGraph_out[0] : p->size > 1 ? p->phGraph_out[1] : NULL;
    }
}

/* A step of the graph inside the node, from its first one on. *done: there is nothing left of it. */
static CUresult step_inside(struct graph_run *r, size_t index, bool *done)
{
    const struct work *w = &r->graph->nodes[index]->work;
    struct graph_run **in = &r->inner[index];
    const bool repeats = w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL &&
                         w->conditional.params.type == CU_GRAPH_COND_TYPE_WHILE;
    if (!*in) {
        struct CUgraph_st *g = w->type == CU_GRAPH_NODE_TYPE_GRAPH ? w->graph : body_of(w);
        *done = !g;
        if (!g) return CUDA_SUCCESS;
        *in = graph_run_new(g, r->depth + 1);
    }
    const CUresult result = graph_run_done(*in) ? CUDA_SUCCESS : graph_run_step(*in);
    const bool ended = graph_run_done(*in);
    if (ended) {
        graph_run_end(*in);
        *in = NULL;
    }
    *done = ended && !repeats;
    return result;
}

static CUresult step_node(struct graph_run *r, size_t index, bool *done)
{
    struct CUgraphNode_st *n = r->graph->nodes[index];
    *done = true;
    if (n->disabled) return CUDA_SUCCESS;
    unordered_node(r->depth, n, r->number);
    if (n->work.type == CU_GRAPH_NODE_TYPE_GRAPH || n->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return step_inside(r, index, done);
    if (n->work.type == CU_GRAPH_NODE_TYPE_WAIT_EVENT && !queue_event_has_come(n->work.event))
        return CUDA_ERROR_NOT_READY;
    return work_execute(&n->work);
}

CUresult graph_run_step(struct graph_run *r)
{
    size_t from = queue_choose((uint32_t)r->ready_count);
    for (size_t tried = 0; tried < r->ready_count; tried++) {
        const size_t at = (from + tried) % r->ready_count;
        bool done;
        const CUresult result = step_node(r, r->ready[at], &done);
        if (result == CUDA_ERROR_NOT_READY) continue;
        if (result != CUDA_SUCCESS) return result;
        if (done) finish(r, at);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_READY;
}

/* ---- executables -------------------------------------------------------------------------------- */

static CUresult instantiate(CUgraphExec *exec, CUgraph graph, uint64_t flags,
                            CUgraphInstantiateResult *why)
{
    *why = CUDA_GRAPH_INSTANTIATE_ERROR;
    if (!exec || graph_check(graph) != CUDA_SUCCESS || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
        *why = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!graph_is_ordered(graph)) {
        *why = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct CUgraphExec_st *x = object_new(OBJECT_EXEC, sizeof *x);
    x->graph = graph_copy(graph);
    x->flags = flags;
    *exec = x;
    *why = CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    struct CUctx_st *c;
    CUgraphInstantiateResult why;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS) r = instantiate(exec, graph, flags, &why);
    return driver_end(r);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !params) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    params->hErrNode_out = NULL;
    return driver_end(instantiate(exec, graph, params->flags, &params->result_out));
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                               size_t log_size)
{
    if (error_node) *error_node = NULL;
    if (log && log_size) *log = '\0';
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}

#undef cuGraphInstantiate
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                            size_t log_size)
{
    return cuGraphInstantiate_v2(exec, graph, error_node, log, log_size);
}

static CUresult begin_exec(CUgraphExec exec, struct CUctx_st **c)
{
    const CUresult r = driver_begin(c);
    return r == CUDA_SUCCESS && !object_check(exec, OBJECT_EXEC) ? CUDA_ERROR_INVALID_VALUE : r;
}

static CUresult begin_exec_on(CUgraphExec exec, CUstream stream, struct CUctx_st **c)
{
    const CUresult r = driver_begin_on(stream, c);
    return r == CUDA_SUCCESS && !object_check(exec, OBJECT_EXEC) ? CUDA_ERROR_INVALID_VALUE : r;
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, uint64_t *flags)
{
    struct CUctx_st *c;
    CUresult r = begin_exec(exec, &c);
    if (r == CUDA_SUCCESS && !flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *flags = exec->flags;
    return driver_end(r);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    struct CUctx_st *c;
    CUresult r = begin_exec(exec, &c);
    if (r != CUDA_SUCCESS) return driver_end(r);
    graph_drop(exec->graph);
    object_destroy(&exec->object);
    return driver_end(CUDA_SUCCESS);
}

/* Memory that a launch before leaves allocated stays so where it is to be freed and allocated again by this one; else the
 * launch is wrong. */
static CUresult check_memory(const struct CUgraphExec_st *x)
{
    if (x->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) return CUDA_SUCCESS;
    for (size_t i = 0; i < x->graph->count; i++) {
        const struct work *w = &x->graph->nodes[i]->work;
        if (w->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && graph_memory_is_asked(w->alloc.memory))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

void graph_begin(struct CUgraph_st *g)
{
    for (size_t i = 0; i < g->value_count; i++)
        if (g->values[i].flags & CU_GRAPH_COND_ASSIGN_DEFAULT)
            emu_copy_in(driver.emu, g->values[i].handle, &g->values[i].initial, 4);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    struct CUctx_st *c;
    struct work w = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUresult r = begin_exec_on(exec, stream, &c);
    struct CUstream_st *s = r == CUDA_SUCCESS ? stream_of(c, stream) : NULL;
    if (r == CUDA_SUCCESS && !s) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && !s->capture) r = check_memory(exec);
    if (r != CUDA_SUCCESS) return driver_end(r);
    w.context = c;
    w.launched = !s->capture; /* of a capture it becomes a child */
    w.graph = s->capture ? graph_copy(exec->graph) : exec->graph;
    if (w.launched) w.graph->users++;
    return stream_call(stream, r, c, &w, false);
}

/* There is nothing to bring anywhere. */
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = begin_exec_on(exec, stream, &c);
    if (r == CUDA_SUCCESS && !stream_of(c, stream)) r = CUDA_ERROR_INVALID_HANDLE;
    return driver_end(r);
}

/* ---- update ------------------------------------------------------------------------------------- */

static bool same_edges(const struct CUgraphNode_st *a, const struct CUgraphNode_st *b)
{
    if (a->in.count != b->in.count) return false;
    for (size_t i = 0; i < a->in.count; i++) {
        size_t k = 0;
        while (k < b->in.count && b->in.at[k].node->index != a->in.at[i].node->index) k++;
        if (k == b->in.count) return false;
    }
    return true;
}

static CUgraphExecUpdateResult compare_inside(const struct work *a, const struct work *b,
                                              CUgraphExecUpdateResultInfo *info);

static CUgraphExecUpdateResult compare(const struct CUgraph_st *a, const struct CUgraph_st *b,
                                       CUgraphExecUpdateResultInfo *info)
{
    if (a->count != b->count) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < a->count; i++) {
        const struct CUgraphNode_st *x = a->nodes[i], *y = b->nodes[i];
        info->errorNode = b->nodes[i];
        if (x->work.type != y->work.type) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        if (!same_edges(x, y)) return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
        const CUgraphExecUpdateResult r = compare_inside(&x->work, &y->work, info);
        if (r != CU_GRAPH_EXEC_UPDATE_SUCCESS) return r;
    }
    info->errorNode = NULL;
    return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUgraphExecUpdateResult compare_inside(const struct work *a, const struct work *b,
                                              CUgraphExecUpdateResultInfo *info)
{
    switch (a->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return a->copy.srcMemoryType == b->copy.srcMemoryType &&
                       a->copy.dstMemoryType == b->copy.dstMemoryType
                   ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                   : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    case CU_GRAPH_NODE_TYPE_GRAPH: return compare(a->graph, b->graph, info);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return a->alloc.memory == b->alloc.memory ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                  : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
        const CUDA_CONDITIONAL_NODE_PARAMS *p = &a->conditional.params, *q = &b->conditional.params;
        CUgraphExecUpdateResult r = CU_GRAPH_EXEC_UPDATE_SUCCESS;
        if (p->handle != q->handle || p->type != q->type || p->size != q->size)
            return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        for (unsigned i = 0; r == CU_GRAPH_EXEC_UPDATE_SUCCESS && i < p->size; i++)
            r = compare(p->phGraph_out[i], q->phGraph_out[i], info);
        return r;
    }
    default: return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
}

static void update(struct CUgraph_st *to, const struct CUgraph_st *from)
{
    for (size_t i = 0; i < to->count; i++) {
        struct work *t = &to->nodes[i]->work;
        const struct work *f = &from->nodes[i]->work;
        if (t->type == CU_GRAPH_NODE_TYPE_GRAPH) update(t->graph, f->graph);
        else if (t->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            for (unsigned k = 0; k < t->conditional.params.size; k++)
                update(t->conditional.params.phGraph_out[k], f->conditional.params.phGraph_out[k]);
        else {
            struct work copy = work_clone(f);
            work_end(t);
            *t = copy;
        }
    }
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    struct CUctx_st *c;
    CUresult r = begin_exec(exec, &c);
    if (r == CUDA_SUCCESS) r = graph_check(graph);
    if (r == CUDA_SUCCESS && !info) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    *info = (CUgraphExecUpdateResultInfo){0};
    info->result = graph_is_ordered(graph) ? compare(exec->graph, graph, info)
                                           : CU_GRAPH_EXEC_UPDATE_ERROR;
    if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return driver_end(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    graph_detach(exec);
    update(exec->graph, graph);
    return driver_end(CUDA_SUCCESS);
}

#undef cuGraphExecUpdate
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                           CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    const CUresult r = cuGraphExecUpdate_v2(exec, graph, &info);
    if (error_node) *error_node = info.errorNode;
    if (result) *result = info.result;
    return r;
}
