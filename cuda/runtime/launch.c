/* Launches, and attributes of kernels. */
#include "cuda/runtime/runtime.h"

enum { MOST_PUSHED = 16 };
static _Thread_local struct { /* <<<...>>> that are on their way to their stubs */
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[MOST_PUSHED];
static _Thread_local unsigned depth;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (depth == MOST_PUSHED) return runtime_done(cudaErrorLaunchMaxDepthExceeded);
    pushed[depth].grid = grid;
    pushed[depth].block = block;
    pushed[depth].shared = shared;
    pushed[depth++].stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!depth) return runtime_done(cudaErrorMissingConfiguration);
    depth--;
    *grid = pushed[depth].grid;
    *block = pushed[depth].block;
    *shared = pushed[depth].shared;
    *(cudaStream_t *)stream = pushed[depth].stream;
    return cudaSuccess;
}

/* The driver calls shapes that cannot be an invalid value. */
static bool is_shape(dim3 grid, dim3 block)
{
    return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 0x7fffffff &&
           grid.y <= 65535 && grid.z <= 65535 && block.x <= 1024 && block.y <= 1024 &&
           block.z <= 64 && (size_t)block.x * block.y * block.z <= 1024;
}

static cudaError_t launch(const void *function, const CUlaunchConfig *g, void **args)
{
    CUfunction f = NULL;
    unsigned r = runtime_begin();
    if (r == CUDA_SUCCESS) r = runtime_function(function, &f);
    if (r == CUDA_SUCCESS && !is_shape((dim3){g->gridDimX, g->gridDimY, g->gridDimZ},
                                       (dim3){g->blockDimX, g->blockDimY, g->blockDimZ}))
        r = cudaErrorInvalidConfiguration;
    if (r == CUDA_SUCCESS) r = cuLaunchKernelEx(g, f, args, NULL);
    return runtime_done(r);
}

static CUlaunchConfig config_of(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    return (CUlaunchConfig){grid.x,
                            grid.y,
                            grid.z,
                            block.x,
                            block.y,
                            block.z,
                            shared > UINT32_MAX ? UINT32_MAX : (unsigned)shared,
                            stream,
                            NULL,
                            0};
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                             size_t shared, cudaStream_t stream)
{
    const CUlaunchConfig g = config_of(grid, block, shared, stream);
    return launch(function, &g, args);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    return cudaGetKernel(kernel, host);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    CUlaunchAttribute together = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    CUlaunchConfig g = config_of(grid, block, shared, stream);
    g.attrs = &together;
    g.numAttrs = 1;
    return launch(function, &g, args);
}

static CUlaunchConfig driver_config(const cudaLaunchConfig_t *config)
{
    CUlaunchConfig g = config_of(config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                 config->stream);
    g.attrs = config->attrs;
    g.numAttrs = config->numAttrs;
    return g;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    if (!config) return runtime_done(cudaErrorInvalidValue);
    const CUlaunchConfig g = driver_config(config);
    return launch(function, &g, args);
}

/* ---- kernels --------------------------------------------------------------------------------------------- */

/* The call with `f` for the function. */
#define FUNCTION_CALL(function, call)                                                              \
    do {                                                                                           \
        CUfunction f = NULL;                                                                       \
        unsigned found = runtime_begin();                                                          \
        if (found == cudaSuccess) found = runtime_function(function, &f);                          \
        return runtime_done(found != cudaSuccess ? found : (unsigned)(call));                      \
    } while (0)

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *function)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    FUNCTION_CALL(function, (*out = f, CUDA_SUCCESS));
}

cudaError_t cudaGetKernel(cudaKernel_t *out, const void *function)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    FUNCTION_CALL(function, (*out = (cudaKernel_t)f, CUDA_SUCCESS));
}

cudaError_t cudaFuncGetName(const char **name, const void *function)
{
    FUNCTION_CALL(function, cuFuncGetName(name, f));
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t i, size_t *offset, size_t *size)
{
    FUNCTION_CALL(function, cuFuncGetParamInfo(f, i, offset, size));
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value)
{
    FUNCTION_CALL(function, cuFuncSetAttribute(f, (CUfunction_attribute)attribute, value));
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config)
{
    FUNCTION_CALL(function, cuFuncSetCacheConfig(f, (CUfunc_cache)config));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config)
{
    FUNCTION_CALL(function, cuFuncSetSharedMemConfig(f, (CUsharedconfig)config));
}

static CUresult attributes_of(CUfunction f, struct cudaFuncAttributes *a)
{
    int shared = 0, constant = 0, local = 0;
    const struct {
        CUfunction_attribute number;
        int *to;
    } rows[] = {
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &shared},
        {CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &constant},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &local},
        {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &a->maxThreadsPerBlock},
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &a->numRegs},
        {CU_FUNC_ATTRIBUTE_PTX_VERSION, &a->ptxVersion},
        {CU_FUNC_ATTRIBUTE_BINARY_VERSION, &a->binaryVersion},
        {CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, &a->cacheModeCA},
        {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &a->maxDynamicSharedSizeBytes},
        {CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &a->preferredShmemCarveout},
#if CUDART_VERSION >= 12000
        {CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, &a->clusterDimMustBeSet},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &a->requiredClusterWidth},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &a->requiredClusterHeight},
        {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &a->requiredClusterDepth},
        {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
         &a->clusterSchedulingPolicyPreference},
        {CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &a->nonPortableClusterSizeAllowed},
#endif
    };
    CUresult r = CUDA_SUCCESS;
    *a = (struct cudaFuncAttributes){0};
    for (size_t i = 0; r == CUDA_SUCCESS && i < sizeof rows / sizeof *rows; i++)
        r = cuFuncGetAttribute(rows[i].to, rows[i].number, f);
    a->sharedSizeBytes = (size_t)shared;
    a->constSizeBytes = (size_t)constant;
    a->localSizeBytes = (size_t)local;
    return r;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *function)
{
    if (!out) return runtime_done(cudaErrorInvalidValue);
    FUNCTION_CALL(function, attributes_of(f, out));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *function, int block,
                                                                   size_t shared, unsigned flags)
{
    FUNCTION_CALL(function, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, block,
                                                                                 shared, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
                                                          int block, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block, shared,
                                                                  0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function,
                                                      int blocks, int block)
{
    FUNCTION_CALL(function, cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, block));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *function,
                                           const cudaLaunchConfig_t *config)
{
    if (!config) return runtime_done(cudaErrorInvalidValue);
    const CUlaunchConfig g = driver_config(config);
    FUNCTION_CALL(function, cuOccupancyMaxActiveClusters(clusters, f, &g));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *function,
                                                 const cudaLaunchConfig_t *config)
{
    if (!config) return runtime_done(cudaErrorInvalidValue);
    const CUlaunchConfig g = driver_config(config);
    FUNCTION_CALL(function, cuOccupancyMaxPotentialClusterSize(size, f, &g));
}
