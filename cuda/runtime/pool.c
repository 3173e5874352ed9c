/* Memory pools: calls of the driver API, which has the same structures and numbers. */
#include "cuda/runtime/runtime.h"

/* Nothing is NULL, and that is no error. */
static unsigned allocate(void **out, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    CUdeviceptr address = 0;
    if (!out) return cudaErrorInvalidValue;
    if (!size) return *out = NULL, cudaSuccess;
    return runtime_give(cuMemAllocFromPoolAsync(&address, size, pool, stream), &address, out);
}

cudaError_t cudaMallocFromPoolAsync(void **out, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    RUNTIME_CALL(allocate(out, size, pool, stream));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    RUNTIME_CALL(cuMemPoolCreate(pool, props));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    RUNTIME_CALL(cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    RUNTIME_CALL(cuMemPoolTrimTo(pool, keep));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    RUNTIME_CALL(cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    RUNTIME_CALL(cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                 size_t count)
{
    RUNTIME_CALL(cuMemPoolSetAccess(pool, list, count));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *location)
{
    RUNTIME_CALL(cuMemPoolGetAccess((CUmemAccess_flags *)flags, pool, location));
}

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                               enum cudaMemAllocationHandleType type,
                                               unsigned flags)
{
    RUNTIME_CALL(
        cuMemPoolExportToShareableHandle(handle, pool, (CUmemAllocationHandleType)type, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                 enum cudaMemAllocationHandleType type,
                                                 unsigned flags)
{
    RUNTIME_CALL(
        cuMemPoolImportFromShareableHandle(pool, handle, (CUmemAllocationHandleType)type, flags));
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *data, void *address)
{
    RUNTIME_CALL(cuMemPoolExportPointer(data, runtime_address(address)));
}

cudaError_t cudaMemPoolImportPointer(void **address, cudaMemPool_t pool,
                                     struct cudaMemPoolPtrExportData *data)
{
    RUNTIME_CALL(cuMemPoolImportPointer((CUdeviceptr *)address, pool, data));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    RUNTIME_CALL(cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    RUNTIME_CALL(cuDeviceGetMemPool(pool, device));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    RUNTIME_CALL(cuDeviceSetMemPool(device, pool));
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    RUNTIME_CALL(cuMemGetDefaultMemPool(pool, location, (CUmemAllocationType)type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                              enum cudaMemAllocationType type)
{
    RUNTIME_CALL(cuMemGetMemPool(pool, location, (CUmemAllocationType)type));
}

cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location, enum cudaMemAllocationType type,
                              cudaMemPool_t pool)
{
    RUNTIME_CALL(cuMemSetMemPool(location, (CUmemAllocationType)type, pool));
}
