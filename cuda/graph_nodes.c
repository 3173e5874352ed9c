/* Creates, queries and changes nodes of graphs. A call for nodes of one type is the call for nodes of any type, with the
 * parameters in the union. */
#include "cuda/graph.h"
#include "cuda/queue.h"

#include <stdlib.h>

/* ---- conditionals ----------------------------------------------------------------------------------- */

/* A handle is the address of four bytes that kernels write. */
CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                        CUcontext context, unsigned value, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    (void)context;
    if (r == CUDA_SUCCESS) r = graph_check(graph);
    if (r == CUDA_SUCCESS && (!handle || flags > CU_GRAPH_COND_ASSIGN_DEFAULT))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    const uint64_t at = emu_alloc(driver.emu, 4, "conditional handle of a graph");
    if (!at) return driver_end(CUDA_ERROR_OUT_OF_MEMORY);
    emu_copy_in(driver.emu, at, &value, 4);
    graph->values = realloc(graph->values, (graph->value_count + 1) * sizeof *graph->values);
    if (!graph->values) abort();
    graph->values[graph->value_count++] = (struct graph_value){at, value, flags};
    *handle = at;
    return driver_end(CUDA_SUCCESS);
}

static bool has_value(const struct CUgraph_st *g, CUgraphConditionalHandle handle)
{
    for (size_t i = 0; i < g->value_count; i++)
        if (g->values[i].handle == handle) return true;
    return false;
}

static CUresult make_conditional(struct work *w, struct CUctx_st *c, struct CUgraph_st *g,
                                 CUDA_CONDITIONAL_NODE_PARAMS *p)
{
    static const unsigned most[] = {[CU_GRAPH_COND_TYPE_IF] = 2,
                                    [CU_GRAPH_COND_TYPE_WHILE] = 1,
                                    [CU_GRAPH_COND_TYPE_SWITCH] = 1024};
    if (!has_value(g, p->handle) || (unsigned)p->type > CU_GRAPH_COND_TYPE_SWITCH || !p->size ||
        p->size > most[p->type])
        return CUDA_ERROR_INVALID_VALUE;
    p->phGraph_out = calloc(p->size, sizeof(CUgraph));
    if (!p->phGraph_out) abort();
    for (unsigned i = 0; i < p->size; i++) {
        struct CUgraph_st *body = p->phGraph_out[i] = graph_new(c);
        body->owned = true;
        body->values = malloc(g->value_count * sizeof *g->values); /* for conditionals inside it */
        if (!body->values) abort();
        memcpy(body->values, g->values, g->value_count * sizeof *g->values);
        body->value_count = g->value_count;
    }
    *w = (struct work){
        .type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .context = c, .conditional.params = *p};
    return CUDA_SUCCESS;
}

/* ---- any type --------------------------------------------------------------------------------------- */

static CUresult make_kernel(struct work *w, struct CUctx_st *c, const CUDA_KERNEL_NODE_PARAMS *p)
{
    CUfunction f = p->func ? p->func : (CUfunction)p->kern;
    const CUlaunchConfig g = {
        p->gridDimX,  p->gridDimY,       p->gridDimZ, p->blockDimX, p->blockDimY,
        p->blockDimZ, p->sharedMemBytes, NULL,        NULL,         0};
    const CUresult r = work_kernel(w, c, &g, f, p->kernelParams, p->extra, false);
    if (r == CUDA_SUCCESS && !p->func) w->kernel.named = p->kern;
    return r;
}

static CUresult make_child(struct work *w, struct CUctx_st *c, const struct CUgraph_st *g,
                           const CUDA_CHILD_GRAPH_NODE_PARAMS *p)
{
    if (graph_check(p->graph) != CUDA_SUCCESS || p->graph == g || p->ownership < 0 ||
        p->ownership > 1 || (p->ownership && p->graph->owned))
        return CUDA_ERROR_INVALID_VALUE;
    *w = (struct work){.type = CU_GRAPH_NODE_TYPE_GRAPH, .context = c, .graph = p->graph};
    if (p->ownership) p->graph->owned = true;
    else w->graph = graph_copy(p->graph);
    return CUDA_SUCCESS;
}

/* The operation of a node of `g`. What CUDA gives back in the parameters is set. */
static CUresult make(struct work *w, struct CUctx_st *c, struct CUgraph_st *g, CUgraphNodeParams *p)
{
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return make_kernel(w, c, &p->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return work_copy(w, c, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: return work_fill(w, c, &p->memset.fill);
    case CU_GRAPH_NODE_TYPE_HOST: return work_host(w, c, &p->host);
    case CU_GRAPH_NODE_TYPE_GRAPH: return make_child(w, c, g, &p->graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        *w = (struct work){.type = p->type, .context = c};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return work_event(w, c, p->type, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return graph_memory_work(w, c, p->alloc.bytesize, &p->alloc.dptr);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        if (!graph_memory_is(p->free.dptr)) return CUDA_ERROR_INVALID_VALUE;
        *w = (struct work){.type = p->type, .context = c, .free = p->free.dptr};
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return work_batch(w, c, p->memOp.count, p->memOp.paramArray, p->memOp.flags);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return make_conditional(w, c, g, &p->conditional);
    default: return CUDA_ERROR_NOT_SUPPORTED; /* semaphores of other interfaces */
    }
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params)
{
    struct CUctx_st *c;
    struct work w;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS) r = graph_check_place(graph, dependencies, count, node);
    if (r == CUDA_SUCCESS && !params) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = make(&w, c, graph, params);
    if (r == CUDA_SUCCESS) r = graph_add(graph, dependencies, data, count, &w, node);
    return driver_end(r);
}

#undef cuGraphAddNode
CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                        size_t count, CUgraphNodeParams *params)
{
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, params);
}

/* Another operation of the same type. Nothing else of a node changes. */
static CUresult replace(struct CUctx_st *c, struct CUgraphNode_st *n, CUgraphNodeParams *p)
{
    struct work w;
    if (!p || p->type != n->work.type) return CUDA_ERROR_INVALID_VALUE;
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || p->type == CU_GRAPH_NODE_TYPE_MEM_FREE ||
        p->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return CUDA_ERROR_NOT_SUPPORTED;
    const CUresult r = make(&w, c, n->graph, p);
    if (r != CUDA_SUCCESS) return r;
    if (p->type == CU_GRAPH_NODE_TYPE_KERNEL) {
        w.kernel.cooperative = n->work.kernel.cooperative;
        for (unsigned i = 0; i < n->work.kernel.attr_count; i++)
            work_kernel_set_attribute(&w, n->work.kernel.attrs[i].id,
                                      &n->work.kernel.attrs[i].value);
    }
    struct work before = n->work; /* its end may call functions of the host */
    n->work = w;
    work_end(&before);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && !object_check(node, OBJECT_NODE)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = replace(c, node, params);
    return driver_end(r);
}

/* The executable's copy of that node, in whatever graph inside it. */
static struct CUgraphNode_st *find_copy(const struct CUgraph_st *g, const struct CUgraphNode_st *n)
{
    struct CUgraphNode_st *found = graph_copy_of(g, n);
    for (size_t i = 0; !found && i < g->count; i++) {
        const struct work *w = &g->nodes[i]->work;
        if (w->type == CU_GRAPH_NODE_TYPE_GRAPH) found = find_copy(w->graph, n);
        if (w->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
            for (unsigned k = 0; !found && k < w->conditional.params.size; k++)
                found = find_copy(w->conditional.params.phGraph_out[k], n);
    }
    return found;
}

/* What has been launched stays as it is. */
static CUresult begin_exec(CUgraphExec exec, CUgraphNode node, struct CUctx_st **c,
                           struct CUgraphNode_st **copy)
{
    CUresult r = driver_begin(c);
    if (r == CUDA_SUCCESS && (!object_check(exec, OBJECT_EXEC) || !object_check(node, OBJECT_NODE)))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) graph_detach(exec);
    if (r == CUDA_SUCCESS && !(*copy = find_copy(exec->graph, node))) r = CUDA_ERROR_INVALID_VALUE;
    return r;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    struct CUctx_st *c;
    struct CUgraphNode_st *copy;
    CUresult r = begin_exec(exec, node, &c, &copy);
    if (r == CUDA_SUCCESS) r = replace(c, copy, params);
    return driver_end(r);
}

static bool can_be_disabled(const struct CUgraphNode_st *n)
{
    return n->work.type <= CU_GRAPH_NODE_TYPE_MEMSET;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled)
{
    struct CUctx_st *c;
    struct CUgraphNode_st *copy;
    CUresult r = begin_exec(exec, node, &c, &copy);
    if (r == CUDA_SUCCESS && !can_be_disabled(copy)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) copy->disabled = !enabled;
    return driver_end(r);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    struct CUctx_st *c;
    struct CUgraphNode_st *copy;
    CUresult r = begin_exec(exec, node, &c, &copy);
    if (r == CUDA_SUCCESS && (!enabled || !can_be_disabled(copy))) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *enabled = !copy->disabled;
    return driver_end(r);
}

/* begin, and the node is of that type and there is a place for the answer */
static CUresult begin_type(CUgraphNode node, CUgraphNodeType type, const void *place)
{
    struct CUctx_st *c;
    const CUresult r = driver_begin(&c);
    if (r != CUDA_SUCCESS) return r;
    return object_check(node, OBJECT_NODE) && node->work.type == type && place
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_KERNEL, p);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const struct work_kernel *k = &node->work.kernel;
    *p = (CUDA_KERNEL_NODE_PARAMS){.func = k->named ? NULL : k->function,
                                   .gridDimX = k->grid[0],
                                   .gridDimY = k->grid[1],
                                   .gridDimZ = k->grid[2],
                                   .blockDimX = k->block[0],
                                   .blockDimY = k->block[1],
                                   .blockDimZ = k->block[2],
                                   .sharedMemBytes = k->shared,
                                   .kernelParams = work_kernel_pointers(&node->work),
                                   .kern = k->named,
                                   .ctx = node->work.context};
    return driver_end(CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p};
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *p};
    return cuGraphExecNodeSetParams(exec, node, &q);
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    CUresult r = begin_type(to, CU_GRAPH_NODE_TYPE_KERNEL, to);
    if (r == CUDA_SUCCESS &&
        (!object_check(from, OBJECT_NODE) || from->work.type != CU_GRAPH_NODE_TYPE_KERNEL))
        r = CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; r == CUDA_SUCCESS && i < from->work.kernel.attr_count; i++)
        work_kernel_set_attribute(&to->work, from->work.kernel.attrs[i].id,
                                  &from->work.kernel.attrs[i].value);
    return driver_end(r);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       CUlaunchAttributeValue *value)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_KERNEL, value);
    if (r != CUDA_SUCCESS) return driver_end(r);
    const CUlaunchAttributeValue *set = work_kernel_attribute(&node->work, id);
    if (set) *value = *set;
    else *value = (CUlaunchAttributeValue){.pad = {0}};
    if (!set && id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value->cooperative = node->work.kernel.cooperative;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue *value)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_KERNEL, value);
    if (r == CUDA_SUCCESS) work_kernel_set_attribute(&node->work, id, value);
    return driver_end(r);
}

/* ---- copies, fills, host functions ------------------------------------------------------------------ */

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMCPY3D *p, CUcontext context)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {0, 0, context, *p}};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *p)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_MEMCPY, p);
    if (r == CUDA_SUCCESS) *p = node->work.copy;
    return driver_end(r);
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy.copyParams = *p};
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p,
                                        CUcontext context)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy = {0, 0, context, *p}};
    return cuGraphExecNodeSetParams(exec, node, &q);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .memset = {*p, context}};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_MEMSET, p);
    if (r == CUDA_SUCCESS) *p = node->work.fill;
    return driver_end(r);
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .memset.fill = *p};
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .memset = {*p, context}};
    return cuGraphExecNodeSetParams(exec, node, &q);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = *p};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *p)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_HOST, p);
    if (r == CUDA_SUCCESS)
        *p = (CUDA_HOST_NODE_PARAMS){node->work.host.what.function, node->work.host.what.data};
    return driver_end(r);
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = *p};
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = *p};
    return cuGraphExecNodeSetParams(exec, node, &q);
}

/* ---- graphs in graphs, nothing, events ------------------------------------------------------------------ */

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, CUgraph child)
{
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = child};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_GRAPH, graph);
    if (r == CUDA_SUCCESS) *graph = node->work.graph;
    return driver_end(r);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child)
{
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = child};
    return cuGraphExecNodeSetParams(exec, node, &q);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t count)
{
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

static CUgraphNodeParams of_event(CUgraphNodeType type, CUevent event)
{
    return (CUgraphNodeParams){.type = type, .eventWait.event = event};
}

static CUresult event_of(CUgraphNode node, CUgraphNodeType type, CUevent *event)
{
    const CUresult r = begin_type(node, type, (const void *)event);
    if (r == CUDA_SUCCESS) *event = node->work.event;
    return driver_end(r);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph,
                                   const CUgraphNode *dependencies, size_t count, CUevent event)
{
    CUgraphNodeParams q = of_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return event_of(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event)
{
    CUgraphNodeParams q = of_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    CUgraphNodeParams q = of_event(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
    return cuGraphExecNodeSetParams(exec, node, &q);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, CUevent event)
{
    CUgraphNodeParams q = of_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event)
{
    return event_of(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event)
{
    CUgraphNodeParams q = of_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event)
{
    CUgraphNodeParams q = of_event(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
    return cuGraphExecNodeSetParams(exec, node, &q);
}

/* ---- memory, values in memory ----------------------------------------------------------------------------- */

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = *p};
    const CUresult r = cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
    if (r == CUDA_SUCCESS) p->dptr = q.alloc.dptr;
    return r;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, p);
    if (r == CUDA_SUCCESS) *p = node->work.alloc.params;
    return driver_end(r);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t count, CUdeviceptr address)
{
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = address};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_MEM_FREE, address);
    if (r == CUDA_SUCCESS) *address = node->work.free;
    return driver_end(r);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *p};
    return cuGraphAddNode_v2(node, graph, dependencies, NULL, count, &q);
}

CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    const CUresult r = begin_type(node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, p);
    if (r == CUDA_SUCCESS)
        *p = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = node->work.context,
                                             .count = node->work.batch.count,
                                             .paramArray = node->work.batch.ops};
    return driver_end(r);
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *p};
    return cuGraphNodeSetParams(node, &q);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    if (!p) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    CUgraphNodeParams q = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, .memOp = *p};
    return cuGraphExecNodeSetParams(exec, node, &q);
}
