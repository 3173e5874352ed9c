/* Graphs and stream capture: calls of the driver API with the runtime's parameters. */
#include "cuda/runtime/runtime.h"

#include <string.h>

/* ---- graphs, nodes, edges --------------------------------------------------------------------------- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    RUNTIME_CALL(cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    RUNTIME_CALL(cuGraphDestroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    RUNTIME_CALL(cuGraphClone(clone, graph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                     cudaGraph_t clone)
{
    RUNTIME_CALL(cuGraphNodeFindInClone(node, original, clone));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, int *type)
{
    RUNTIME_CALL(cuGraphNodeGetType(node, (CUgraphNodeType *)type));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    RUNTIME_CALL(cuGraphGetNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    RUNTIME_CALL(cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    RUNTIME_CALL(cuGraphDestroyNode(node));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
    RUNTIME_CALL(cuGraphDebugDotPrint(graph, path, flags));
}

#if CUDART_VERSION >= 13000
#define EDGE_DATA const cudaGraphEdgeData *data,
#define EDGE_DATA_OUT cudaGraphEdgeData *data,
#define DATA data
#else
#define EDGE_DATA
#define EDGE_DATA_OUT
#define DATA NULL
#endif

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              EDGE_DATA_OUT size_t *count)
{
    RUNTIME_CALL(cuGraphGetEdges(graph, from, to, DATA, count));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         EDGE_DATA_OUT size_t *count)
{
    RUNTIME_CALL(cuGraphNodeGetDependencies(node, nodes, DATA, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           EDGE_DATA_OUT size_t *count)
{
    RUNTIME_CALL(cuGraphNodeGetDependentNodes(node, nodes, DATA, count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, EDGE_DATA size_t count)
{
    RUNTIME_CALL(cuGraphAddDependencies(graph, from, to, DATA, count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, EDGE_DATA size_t count)
{
    RUNTIME_CALL(cuGraphRemoveDependencies(graph, from, to, DATA, count));
}

/* ---- parameters ------------------------------------------------------------------------------------- */

static unsigned kernel_of(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out)
{
    CUfunction f = NULL;
    if (!p) return cudaErrorInvalidValue;
    const unsigned r = runtime_function(p->func, &f);
    *out = (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                     .gridDimX = p->gridDim.x,
                                     .gridDimY = p->gridDim.y,
                                     .gridDimZ = p->gridDim.z,
                                     .blockDimX = p->blockDim.x,
                                     .blockDimY = p->blockDim.y,
                                     .blockDimZ = p->blockDim.z,
                                     .sharedMemBytes = p->sharedMemBytes,
                                     .kernelParams = p->kernelParams,
                                     .extra = p->extra};
    return r;
}

static unsigned fill_of(const struct cudaMemsetParams *p, CUDA_MEMSET_NODE_PARAMS *out)
{
    if (!p) return cudaErrorInvalidValue;
    *out = (CUDA_MEMSET_NODE_PARAMS){runtime_address(p->dst), p->pitch, p->value,
                                     p->elementSize,          p->width, p->height};
    return cudaSuccess;
}

/* The runtime counts as the driver does, but for the kinds that only the one has. */
static unsigned params_of(const struct cudaGraphNodeParams *p, CUgraphNodeParams *out)
{
    unsigned r = cudaSuccess;
    if (!p) return cudaErrorInvalidValue;
    *out = (CUgraphNodeParams){.type = (CUgraphNodeType)p->type};
    switch (out->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: r = kernel_of(&p->kernel, &out->kernel); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        r = runtime_copy(&p->memcpy.copyParams, &out->memcpy.copyParams);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET: r = fill_of(&p->memset, &out->memset.fill); break;
    case CU_GRAPH_NODE_TYPE_HOST: out->host = p->host; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: out->graph = p->graph; break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: out->eventWait.event = p->eventWait.event; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: out->alloc = p->alloc; break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: out->free.dptr = runtime_address(p->free.dptr); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        out->conditional.handle = p->conditional.handle;
        out->conditional.type = (CUgraphConditionalNodeType)p->conditional.type;
        out->conditional.size = p->conditional.size;
        break;
    default: break;
    }
    return r;
}

static unsigned add_node(cudaGraphNode_t *node, cudaGraph_t graph,
                         const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *data,
                         size_t count, struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams q;
    unsigned r = params_of(p, &q);
    if (r == cudaSuccess) r = cuGraphAddNode(node, graph, dependencies, data, count, &q);
    if (r != cudaSuccess) return r;
    if (q.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) p->alloc.dptr = q.alloc.dptr;
    if (q.type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        p->conditional.phGraph_out = q.conditional.phGraph_out;
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                             const cudaGraphNode_t *dependencies, EDGE_DATA size_t count,
                             struct cudaGraphNodeParams *params)
{
    RUNTIME_CALL(add_node(node, graph, dependencies, DATA, count, params));
}

static unsigned set_params(cudaGraphExec_t exec, cudaGraphNode_t node,
                           const struct cudaGraphNodeParams *p)
{
    CUgraphNodeParams q;
    const unsigned r = params_of(p, &q);
    if (r != cudaSuccess) return r;
    return exec ? cuGraphExecNodeSetParams(exec, node, &q) : cuGraphNodeSetParams(node, &q);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    RUNTIME_CALL(set_params(NULL, node, params));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *params)
{
    RUNTIME_CALL(exec ? set_params(exec, node, params) : (unsigned)cudaErrorInvalidValue);
}

/* The call with `q`, which is made of the parameters `p`. */
#define CONVERTED(type, convert, call)                                                             \
    do {                                                                                           \
        type q;                                                                                    \
        unsigned made = runtime_begin();                                                           \
        if (made == cudaSuccess) made = convert(p, &q);                                            \
        return runtime_done(made != cudaSuccess ? made : (unsigned)(call));                        \
    } while (0)

/* ---- kernels ---------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddKernelNode(GRAPH_BEHIND, const struct cudaKernelNodeParams *p)
{
    CONVERTED(CUDA_KERNEL_NODE_PARAMS, kernel_of,
              cuGraphAddKernelNode(node, graph, dependencies, count, &q));
}

static unsigned get_kernel(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    const unsigned r = p ? cuGraphKernelNodeGetParams(node, &q) : CUDA_ERROR_INVALID_VALUE;
    if (r != cudaSuccess) return r;
    *p = (struct cudaKernelNodeParams){
        .func = (void *)runtime_host_of(q.func ? q.func : (CUfunction)q.kern),
        .gridDim = {q.gridDimX, q.gridDimY, q.gridDimZ},
        .blockDim = {q.blockDimX, q.blockDimY, q.blockDimZ},
        .sharedMemBytes = q.sharedMemBytes,
        .kernelParams = q.kernelParams};
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *p)
{
    RUNTIME_CALL(get_kernel(node, p));
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *p)
{
    CONVERTED(CUDA_KERNEL_NODE_PARAMS, kernel_of, cuGraphKernelNodeSetParams(node, &q));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p)
{
    CONVERTED(CUDA_KERNEL_NODE_PARAMS, kernel_of, cuGraphExecKernelNodeSetParams(exec, node, &q));
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    RUNTIME_CALL(cuGraphKernelNodeCopyAttributes(to, from));
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int id,
                                            cudaLaunchAttributeValue *value)
{
    RUNTIME_CALL(cuGraphKernelNodeGetAttribute(node, (CUlaunchAttributeID)id, value));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int id,
                                            const cudaLaunchAttributeValue *value)
{
    RUNTIME_CALL(cuGraphKernelNodeSetAttribute(node, (CUlaunchAttributeID)id, value));
}

/* ---- copies ----------------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemcpyNode(GRAPH_BEHIND, const struct cudaMemcpy3DParms *p)
{
    CONVERTED(CUDA_MEMCPY3D, runtime_copy,
              cuGraphAddMemcpyNode(node, graph, dependencies, count, &q, NULL));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *p)
{
    CONVERTED(CUDA_MEMCPY3D, runtime_copy, cuGraphMemcpyNodeSetParams(node, &q));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *p)
{
    CONVERTED(CUDA_MEMCPY3D, runtime_copy, cuGraphExecMemcpyNodeSetParams(exec, node, &q, NULL));
}

static unsigned get_copy(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D q;
    const unsigned r = p ? cuGraphMemcpyNodeGetParams(node, &q) : CUDA_ERROR_INVALID_VALUE;
    return r == cudaSuccess ? runtime_copy_back(&q, p) : r;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *p)
{
    RUNTIME_CALL(get_copy(node, p));
}

static struct cudaMemcpy3DParms line(void *to, const void *from, size_t size,
                                     enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.srcPtr = {(void *)from, size, size, 1},
                                      .dstPtr = {to, size, size, 1},
                                      .extent = {size, 1, 1},
                                      .kind = kind};
}

cudaError_t cudaGraphAddMemcpyNode1D(GRAPH_BEHIND, void *to, const void *from, size_t size,
                                     enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms p = line(to, from, size, kind);
    return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &p);
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t size, enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms p = line(to, from, size, kind);
    return cudaGraphMemcpyNodeSetParams(node, &p);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t size,
                                               enum cudaMemcpyKind kind)
{
    const struct cudaMemcpy3DParms p = line(to, from, size, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &p);
}

/* The call with `part`, where the symbol's bytes are. */
#define OF_SYMBOL(symbol, call)                                                                    \
    do {                                                                                           \
        void *part = NULL;                                                                         \
        unsigned found = runtime_begin();                                                          \
        if (found == cudaSuccess) found = runtime_part_of(symbol, size, offset, &part);            \
        return found == cudaSuccess ? (call) : runtime_done(found);                                \
    } while (0)

cudaError_t cudaGraphAddMemcpyNodeToSymbol(GRAPH_BEHIND, const void *symbol, const void *from,
                                           size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    OF_SYMBOL(symbol,
              cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, part, from, size, kind));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(GRAPH_BEHIND, void *to, const void *symbol,
                                             size_t size, size_t offset, enum cudaMemcpyKind kind)
{
    OF_SYMBOL(symbol,
              cudaGraphAddMemcpyNode1D(node, graph, dependencies, count, to, part, size, kind));
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t size, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    OF_SYMBOL(symbol, cudaGraphMemcpyNodeSetParams1D(node, part, from, size, kind));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t size, size_t offset,
                                                   enum cudaMemcpyKind kind)
{
    OF_SYMBOL(symbol, cudaGraphMemcpyNodeSetParams1D(node, to, part, size, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t size, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    OF_SYMBOL(symbol, cudaGraphExecMemcpyNodeSetParams1D(exec, node, part, from, size, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t size,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    OF_SYMBOL(symbol, cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, part, size, kind));
}

/* ---- fills, host functions ---------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemsetNode(GRAPH_BEHIND, const struct cudaMemsetParams *p)
{
    CONVERTED(CUDA_MEMSET_NODE_PARAMS, fill_of,
              cuGraphAddMemsetNode(node, graph, dependencies, count, &q, NULL));
}

static unsigned get_fill(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    CUDA_MEMSET_NODE_PARAMS q;
    const unsigned r = p ? cuGraphMemsetNodeGetParams(node, &q) : CUDA_ERROR_INVALID_VALUE;
    if (r != cudaSuccess) return r;
    *p = (struct cudaMemsetParams){NULL, q.pitch, q.value, q.elementSize, q.width, q.height};
    memcpy(&p->dst, &q.dst, sizeof p->dst);
    return cudaSuccess;
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *p)
{
    RUNTIME_CALL(get_fill(node, p));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *p)
{
    CONVERTED(CUDA_MEMSET_NODE_PARAMS, fill_of, cuGraphMemsetNodeSetParams(node, &q));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *p)
{
    CONVERTED(CUDA_MEMSET_NODE_PARAMS, fill_of,
              cuGraphExecMemsetNodeSetParams(exec, node, &q, NULL));
}

cudaError_t cudaGraphAddHostNode(GRAPH_BEHIND, const CUDA_HOST_NODE_PARAMS *p)
{
    RUNTIME_CALL(cuGraphAddHostNode(node, graph, dependencies, count, p));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, CUDA_HOST_NODE_PARAMS *p)
{
    RUNTIME_CALL(cuGraphHostNodeGetParams(node, p));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const CUDA_HOST_NODE_PARAMS *p)
{
    RUNTIME_CALL(cuGraphHostNodeSetParams(node, p));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const CUDA_HOST_NODE_PARAMS *p)
{
    RUNTIME_CALL(cuGraphExecHostNodeSetParams(exec, node, p));
}

/* ---- graphs in graphs, nothing, events, memory, conditionals --------------------------------------------- */

cudaError_t cudaGraphAddChildGraphNode(GRAPH_BEHIND, cudaGraph_t child)
{
    RUNTIME_CALL(cuGraphAddChildGraphNode(node, graph, dependencies, count, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    RUNTIME_CALL(cuGraphChildGraphNodeGetGraph(node, graph));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child)
{
    RUNTIME_CALL(cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

cudaError_t cudaGraphAddEmptyNode(GRAPH_BEHIND)
{
    RUNTIME_CALL(cuGraphAddEmptyNode(node, graph, dependencies, count));
}

cudaError_t cudaGraphAddEventRecordNode(GRAPH_BEHIND, cudaEvent_t event)
{
    RUNTIME_CALL(cuGraphAddEventRecordNode(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    RUNTIME_CALL(cuGraphEventRecordNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RUNTIME_CALL(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event)
{
    RUNTIME_CALL(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphAddEventWaitNode(GRAPH_BEHIND, cudaEvent_t event)
{
    RUNTIME_CALL(cuGraphAddEventWaitNode(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    RUNTIME_CALL(cuGraphEventWaitNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    RUNTIME_CALL(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event)
{
    RUNTIME_CALL(cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void *value)
{
    RUNTIME_CALL(cuDeviceGetGraphMemAttribute(device, attribute, value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, CUgraphMem_attribute attribute, void *value)
{
    RUNTIME_CALL(cuDeviceSetGraphMemAttribute(device, attribute, value));
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    RUNTIME_CALL(cuDeviceGraphMemTrim(device));
}

cudaError_t cudaGraphAddMemAllocNode(GRAPH_BEHIND, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    RUNTIME_CALL(cuGraphAddMemAllocNode(node, graph, dependencies, count, p));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, CUDA_MEM_ALLOC_NODE_PARAMS *p)
{
    RUNTIME_CALL(cuGraphMemAllocNodeGetParams(node, p));
}

cudaError_t cudaGraphAddMemFreeNode(GRAPH_BEHIND, void *address)
{
    RUNTIME_CALL(cuGraphAddMemFreeNode(node, graph, dependencies, count, runtime_address(address)));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *address)
{
    RUNTIME_CALL(cuGraphMemFreeNodeGetParams(node, (CUdeviceptr *)address));
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                             unsigned value, unsigned flags)
{
    RUNTIME_CALL(cuGraphConditionalHandleCreate((CUgraphConditionalHandle *)handle, graph, NULL,
                                                value, flags));
}

/* ---- executables ---------------------------------------------------------------------------------------- */

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    RUNTIME_CALL(cuGraphInstantiateWithFlags(exec, graph, flags));
}

#if CUDART_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                CUgraphExecUpdateResultInfo *info)
{
    RUNTIME_CALL(cuGraphExecUpdate(exec, graph, info));
}
#else
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 cudaGraphNode_t *error_node, char *log, size_t log_size)
{
    RUNTIME_CALL(cuGraphInstantiate_v2(exec, graph, error_node, log, log_size));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphNode_t *error_node, CUgraphExecUpdateResult *result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    unsigned r = runtime_begin();
    if (r == cudaSuccess) r = cuGraphExecUpdate(exec, graph, &info);
    if (error_node) *error_node = info.errorNode;
    if (result) *result = info.result;
    return runtime_done(r);
}
#endif

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    RUNTIME_CALL(cuGraphInstantiateWithParams(exec, graph, params));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    RUNTIME_CALL(cuGraphExecGetFlags(exec, (uint64_t *)flags));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    RUNTIME_CALL(cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    RUNTIME_CALL(cuGraphUpload(exec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    RUNTIME_CALL(cuGraphLaunch(exec, stream));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled)
{
    RUNTIME_CALL(cuGraphNodeSetEnabled(exec, node, enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled)
{
    RUNTIME_CALL(cuGraphNodeGetEnabled(exec, node, enabled));
}

/* ---- user objects ---------------------------------------------------------------------------------------- */

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *pointer, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags)
{
    RUNTIME_CALL(cuUserObjectCreate(object, pointer, destroy, count, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
    RUNTIME_CALL(cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
    RUNTIME_CALL(cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags)
{
    RUNTIME_CALL(cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    RUNTIME_CALL(cuGraphReleaseUserObject(graph, object, count));
}

/* ---- capture ---------------------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode)
{
    RUNTIME_CALL(cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *data, size_t count, int mode)
{
    RUNTIME_CALL(cuStreamBeginCaptureToGraph(stream, graph, dependencies, data, count,
                                             (CUstreamCaptureMode)mode));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    RUNTIME_CALL(cuStreamEndCapture(stream, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, int *status)
{
    RUNTIME_CALL(cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(int *mode)
{
    RUNTIME_CALL(cuThreadExchangeStreamCaptureMode((CUstreamCaptureMode *)mode));
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **data, size_t *count)
{
    RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (uint64_t *)id,
                                        graph, dependencies, data, count));
}
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, int *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                        size_t *count)
{
    RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (uint64_t *)id,
                                        graph, dependencies, NULL, count));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, int *status, unsigned long long *id)
{
    return cudaStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}
#endif

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                EDGE_DATA size_t count, unsigned flags)
{
    RUNTIME_CALL(cuStreamUpdateCaptureDependencies(stream, dependencies, DATA, count, flags));
}

#if CUDART_VERSION < 13000
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *data,
                                size_t count, struct cudaGraphNodeParams *params)
{
    RUNTIME_CALL(add_node(node, graph, dependencies, data, count, params));
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *data, size_t *count)
{
    RUNTIME_CALL(cuGraphGetEdges(graph, from, to, data, count));
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                            cudaGraphEdgeData *data, size_t *count)
{
    RUNTIME_CALL(cuGraphNodeGetDependencies(node, nodes, data, count));
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                              cudaGraphEdgeData *data, size_t *count)
{
    RUNTIME_CALL(cuGraphNodeGetDependentNodes(node, nodes, data, count));
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                        size_t count)
{
    RUNTIME_CALL(cuGraphAddDependencies(graph, from, to, data, count));
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                           size_t count)
{
    RUNTIME_CALL(cuGraphRemoveDependencies(graph, from, to, data, count));
}

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, int *status, unsigned long long *id,
                                        cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                        const cudaGraphEdgeData **data, size_t *count)
{
    RUNTIME_CALL(cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, (uint64_t *)id,
                                        graph, dependencies, data, count));
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream,
                                                   cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *data, size_t count,
                                                   unsigned flags)
{
    RUNTIME_CALL(cuStreamUpdateCaptureDependencies(stream, dependencies, data, count, flags));
}
#endif
