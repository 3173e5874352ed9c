/* Functions of the driver API with the signatures of older headers (older.ld has those where only the name differs). */
#include "cuda/driver.h"
#include "cuda/exact_names.h"

/* Before CUDA 12 it ends before `kern`. */
struct CUDA_KERNEL_NODE_PARAMS_v1 {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
};
enum { KERNEL_NODE_V1 = sizeof(struct CUDA_KERNEL_NODE_PARAMS_v1) };
static_assert(KERNEL_NODE_V1 == offsetof(CUDA_KERNEL_NODE_PARAMS, kern), "the first part");

/* NULL, or `out` as the newer functions have it. */
static const CUDA_KERNEL_NODE_PARAMS *widen(const struct CUDA_KERNEL_NODE_PARAMS_v1 *p,
                                            CUDA_KERNEL_NODE_PARAMS *out)
{
    *out = (CUDA_KERNEL_NODE_PARAMS){0};
    if (p) memcpy((void *)out, (const void *)p, KERNEL_NODE_V1);
    return p ? out : NULL;
}

#pragma GCC visibility push(default)
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const struct CUDA_KERNEL_NODE_PARAMS_v1 *p);
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const struct CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS wide;
    return cuGraphAddKernelNode_v2(node, graph, dependencies, count, widen(p, &wide));
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const struct CUDA_KERNEL_NODE_PARAMS_v1 *p);
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const struct CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS wide;
    return cuGraphKernelNodeSetParams_v2(node, widen(p, &wide));
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const struct CUDA_KERNEL_NODE_PARAMS_v1 *p);
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const struct CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS wide;
    return cuGraphExecKernelNodeSetParams_v2(exec, node, widen(p, &wide));
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, struct CUDA_KERNEL_NODE_PARAMS_v1 *p);
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, struct CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS wide = {0};
    const CUresult r = cuGraphKernelNodeGetParams_v2(node, p ? &wide : NULL);
    if (r != CUDA_SUCCESS || !p) return r;
    if (!wide.func) wide.func = (CUfunction)wide.kern;
    memcpy((void *)p, (const void *)&wide, KERNEL_NODE_V1);
    return r;
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id)
{
    return cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id);
CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id)
{
    return cuStreamGetCaptureInfo(stream ? stream : CU_STREAM_PER_THREAD, status, id);
}

/* Before CUDA 13 a batch says which of its copies has failed; SIZE_MAX: that is not known. */
CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *indices, size_t n,
                            size_t *failed, CUstream stream)
{
    const CUresult r = cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, indices, n,
                                             stream);
    if (r != CUDA_SUCCESS && failed) *failed = SIZE_MAX;
    return r;
}

CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed,
                              unsigned long long flags, CUstream stream)
{
    const CUresult r = cuMemcpy3DBatchAsync_v2(count, list, flags, stream);
    if (r != CUDA_SUCCESS && failed) *failed = SIZE_MAX;
    return r;
}
#pragma GCC visibility pop
