/* Functions for programs compiled with -default-stream per-thread: the NULL stream is the default stream of the calling
 * thread. Functions without a difference are aliases (per_thread.ld). */
#include "cuda/runtime/runtime.h"

#define OWN(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

#define ASYNCHRONOUS(name, parameters, arguments)                                                  \
    cudaError_t name##_ptsz parameters;                                                            \
    cudaError_t name##_ptsz parameters                                                             \
    {                                                                                              \
        return name arguments;                                                                     \
    }
#define SYNCHRONOUS(name, parameters, call)                                                        \
    cudaError_t name##_ptds parameters;                                                            \
    cudaError_t name##_ptds parameters                                                             \
    {                                                                                              \
        const cudaError_t r = call;                                                                \
        return r == cudaSuccess ? cudaStreamSynchronize(CU_STREAM_PER_THREAD) : r;                 \
    }

#pragma GCC visibility push(default)
// NOLINTBEGIN(bugprone-macro-parentheses,clang-diagnostic-reserved-identifier): lists of parameters
ASYNCHRONOUS(__cudaLaunchKernel,
             (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
              cudaStream_t s),
             (kernel, grid, block, args, shared, OWN(s)))
ASYNCHRONOUS(cudaLaunchKernel,
             (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
              cudaStream_t s),
             (function, grid, block, args, shared, OWN(s)))
ASYNCHRONOUS(cudaLaunchCooperativeKernel,
             (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
              cudaStream_t s),
             (function, grid, block, args, shared, OWN(s)))
ASYNCHRONOUS(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t function, void *data),
             (OWN(s), function, data))
ASYNCHRONOUS(cudaMallocAsync, (void **out, size_t size, cudaStream_t s), (out, size, OWN(s)))
ASYNCHRONOUS(cudaMallocFromPoolAsync, (void **out, size_t size, cudaMemPool_t pool, cudaStream_t s),
             (out, size, pool, OWN(s)))
ASYNCHRONOUS(cudaFreeAsync, (void *address, cudaStream_t s), (address, OWN(s)))
ASYNCHRONOUS(cudaMemcpyAsync,
             (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t s),
             (to, from, size, kind, OWN(s)))
ASYNCHRONOUS(cudaMemcpy2DAsync,
             (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
              size_t height, enum cudaMemcpyKind kind, cudaStream_t s),
             (to, to_pitch, from, from_pitch, width, height, kind, OWN(s)))
ASYNCHRONOUS(cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t s), (p, OWN(s)))
ASYNCHRONOUS(cudaMemcpyToSymbolAsync,
             (const void *symbol, const void *from, size_t size, size_t offset,
              enum cudaMemcpyKind kind, cudaStream_t s),
             (symbol, from, size, offset, kind, OWN(s)))
ASYNCHRONOUS(cudaMemcpyFromSymbolAsync,
             (void *to, const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind,
              cudaStream_t s),
             (to, symbol, size, offset, kind, OWN(s)))
ASYNCHRONOUS(cudaMemcpy2DToArrayAsync,
             (cudaArray_t to, size_t x, size_t y, const void *from, size_t from_pitch, size_t width,
              size_t height, enum cudaMemcpyKind kind, cudaStream_t s),
             (to, x, y, from, from_pitch, width, height, kind, OWN(s)))
ASYNCHRONOUS(cudaMemcpy2DFromArrayAsync,
             (void *to, size_t to_pitch, cudaArray_t from, size_t x, size_t y, size_t width,
              size_t height, enum cudaMemcpyKind kind, cudaStream_t s),
             (to, to_pitch, from, x, y, width, height, kind, OWN(s)))
ASYNCHRONOUS(cudaMemsetAsync, (void *to, int value, size_t size, cudaStream_t s),
             (to, value, size, OWN(s)))
ASYNCHRONOUS(cudaMemset2DAsync,
             (void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t s),
             (to, pitch, value, width, height, OWN(s)))
ASYNCHRONOUS(cudaStreamAddCallback,
             (cudaStream_t s, cudaStreamCallback_t callback, void *data, unsigned flags),
             (OWN(s), callback, data, flags))
ASYNCHRONOUS(cudaStreamGetFlags, (cudaStream_t s, unsigned *flags), (OWN(s), flags))
ASYNCHRONOUS(cudaStreamGetId, (cudaStream_t s, unsigned long long *id), (OWN(s), id))
ASYNCHRONOUS(cudaStreamGetPriority, (cudaStream_t s, int *priority), (OWN(s), priority))
ASYNCHRONOUS(cudaStreamGetAttribute, (cudaStream_t s, int id, cudaLaunchAttributeValue *value),
             (OWN(s), id, value))
ASYNCHRONOUS(cudaStreamSetAttribute,
             (cudaStream_t s, int id, const cudaLaunchAttributeValue *value), (OWN(s), id, value))
ASYNCHRONOUS(cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (OWN(to), OWN(from)))
ASYNCHRONOUS(cudaStreamQuery, (cudaStream_t s), (OWN(s)))
ASYNCHRONOUS(cudaStreamSynchronize, (cudaStream_t s), (OWN(s)))
ASYNCHRONOUS(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned flags),
             (OWN(s), event, flags))
ASYNCHRONOUS(cudaEventRecord, (cudaEvent_t event, cudaStream_t s), (event, OWN(s)))
ASYNCHRONOUS(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t s, unsigned flags),
             (event, OWN(s), flags))
ASYNCHRONOUS(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t s), (exec, OWN(s)))
ASYNCHRONOUS(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t s), (exec, OWN(s)))
ASYNCHRONOUS(cudaStreamBeginCapture, (cudaStream_t s, int mode), (OWN(s), mode))
ASYNCHRONOUS(cudaStreamBeginCaptureToGraph,
             (cudaStream_t s, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
              const cudaGraphEdgeData *data, size_t count, int mode),
             (OWN(s), graph, dependencies, data, count, mode))
ASYNCHRONOUS(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *graph), (OWN(s), graph))
ASYNCHRONOUS(cudaStreamIsCapturing, (cudaStream_t s, int *status), (OWN(s), status))

ASYNCHRONOUS(cudaMemcpy3DPeerAsync, (const struct cudaMemcpy3DPeerParms *p, cudaStream_t s),
             (p, OWN(s)))
ASYNCHRONOUS(cudaMemcpyToArrayAsync,
             (cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
              enum cudaMemcpyKind kind, cudaStream_t s),
             (to, x, y, from, size, kind, OWN(s)))
ASYNCHRONOUS(cudaMemcpyFromArrayAsync,
             (void *to, cudaArray_t from, size_t x, size_t y, size_t size, enum cudaMemcpyKind kind,
              cudaStream_t s),
             (to, from, x, y, size, kind, OWN(s)))
ASYNCHRONOUS(cudaMemset3DAsync,
             (struct cudaPitchedPtr memory, int value, struct cudaExtent extent, cudaStream_t s),
             (memory, value, extent, OWN(s)))
ASYNCHRONOUS(cudaMemcpyBatchAsync,
             (void *const *to, const void *const *from, const size_t *sizes, size_t count,
              struct cudaMemcpyAttributes *attributes, size_t *indices, size_t n, cudaStream_t s),
             (to, from, sizes, count, attributes, indices, n, OWN(s)))
ASYNCHRONOUS(cudaMemcpy3DBatchAsync,
             (size_t count, struct cudaMemcpy3DBatchOp *list, unsigned long long flags,
              cudaStream_t s),
             (count, list, flags, OWN(s)))

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                     void **args);
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
                                     void **args)
{
    if (!config) return cudaLaunchKernelExC(config, function, args);
    cudaLaunchConfig_t own = *config;
    own.stream = OWN(own.stream);
    return cudaLaunchKernelExC(&own, function, args);
}

#if CUDART_VERSION >= 13000
ASYNCHRONOUS(cudaStreamGetCaptureInfo,
             (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
              const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **data, size_t *count),
             (OWN(s), status, id, graph, dependencies, data, count))
ASYNCHRONOUS(cudaStreamUpdateCaptureDependencies,
             (cudaStream_t s, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *data,
              size_t count, unsigned flags),
             (OWN(s), dependencies, data, count, flags))
#else
ASYNCHRONOUS(cudaStreamGetCaptureInfo, (cudaStream_t s, int *status, unsigned long long *id),
             (OWN(s), status, id))
ASYNCHRONOUS(cudaStreamGetCaptureInfo_v2,
             (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
              const cudaGraphNode_t **dependencies, size_t *count),
             (OWN(s), status, id, graph, dependencies, count))
ASYNCHRONOUS(cudaStreamGetCaptureInfo_v3,
             (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *graph,
              const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **data, size_t *count),
             (OWN(s), status, id, graph, dependencies, data, count))
ASYNCHRONOUS(cudaStreamUpdateCaptureDependencies,
             (cudaStream_t s, cudaGraphNode_t *dependencies, size_t count, unsigned flags),
             (OWN(s), dependencies, count, flags))
ASYNCHRONOUS(cudaStreamUpdateCaptureDependencies_v2,
             (cudaStream_t s, cudaGraphNode_t *dependencies, const cudaGraphEdgeData *data,
              size_t count, unsigned flags),
             (OWN(s), dependencies, data, count, flags))
#endif

SYNCHRONOUS(cudaMemcpy, (void *to, const void *from, size_t size, enum cudaMemcpyKind kind),
            cudaMemcpyAsync(to, from, size, kind, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpy2D,
            (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
             size_t height, enum cudaMemcpyKind kind),
            cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                              CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpy3D, (const struct cudaMemcpy3DParms *p),
            cudaMemcpy3DAsync(p, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpyToSymbol,
            (const void *symbol, const void *from, size_t size, size_t offset,
             enum cudaMemcpyKind kind),
            cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpyFromSymbol,
            (void *to, const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind),
            cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpy2DToArray,
            (cudaArray_t to, size_t x, size_t y, const void *from, size_t from_pitch, size_t width,
             size_t height, enum cudaMemcpyKind kind),
            cudaMemcpy2DToArrayAsync(to, x, y, from, from_pitch, width, height, kind,
                                     CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpy2DFromArray,
            (void *to, size_t to_pitch, cudaArray_t from, size_t x, size_t y, size_t width,
             size_t height, enum cudaMemcpyKind kind),
            cudaMemcpy2DFromArrayAsync(to, to_pitch, from, x, y, width, height, kind,
                                       CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemset, (void *to, int value, size_t size),
            cudaMemsetAsync(to, value, size, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
            cudaMemset2DAsync(to, pitch, value, width, height, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p),
            cudaMemcpy3DPeerAsync(p, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpyToArray,
            (cudaArray_t to, size_t x, size_t y, const void *from, size_t size,
             enum cudaMemcpyKind kind),
            cudaMemcpyToArrayAsync(to, x, y, from, size, kind, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemcpyFromArray,
            (void *to, cudaArray_t from, size_t x, size_t y, size_t size, enum cudaMemcpyKind kind),
            cudaMemcpyFromArrayAsync(to, from, x, y, size, kind, CU_STREAM_PER_THREAD))
SYNCHRONOUS(cudaMemset3D, (struct cudaPitchedPtr memory, int value, struct cudaExtent extent),
            cudaMemset3DAsync(memory, value, extent, CU_STREAM_PER_THREAD))
// NOLINTEND(bugprone-macro-parentheses,clang-diagnostic-reserved-identifier)
#pragma GCC visibility pop
