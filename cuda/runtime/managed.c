/* Managed memory: calls of the driver API, which has the same structures and numbers. */
#include "cuda/runtime/runtime.h"

cudaError_t cudaMallocManaged(void **out, size_t size, unsigned flags)
{
    CUdeviceptr address = 0;
    if (!out) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(runtime_give(cuMemAllocManaged(&address, size, flags), &address, out));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *address, size_t length,
                                     unsigned flags)
{
    RUNTIME_CALL(cuStreamAttachMemAsync(stream, runtime_address(address), length, flags));
}

cudaError_t cudaMemAdvise(const void *address, size_t size, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    RUNTIME_CALL(cuMemAdvise(runtime_address(address), size, (CUmem_advise)advice, location));
}

cudaError_t cudaMemPrefetchAsync(const void *address, size_t size, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    RUNTIME_CALL(cuMemPrefetchAsync(runtime_address(address), size, location, flags, stream));
}

/* Addresses are pointers here and numbers there, of one size. */
cudaError_t cudaMemPrefetchBatchAsync(void **addresses, size_t *sizes, size_t count,
                                      struct cudaMemLocation *locations, size_t *from, size_t n,
                                      unsigned long long flags, cudaStream_t stream)
{
    RUNTIME_CALL(cuMemPrefetchBatchAsync((CUdeviceptr *)addresses, sizes, count, locations, from, n,
                                         flags, stream));
}

cudaError_t cudaMemDiscardBatchAsync(void **addresses, size_t *sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream)
{
    RUNTIME_CALL(cuMemDiscardBatchAsync((CUdeviceptr *)addresses, sizes, count, flags, stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **addresses, size_t *sizes, size_t count,
                                                struct cudaMemLocation *locations, size_t *from,
                                                size_t n, unsigned long long flags,
                                                cudaStream_t stream)
{
    RUNTIME_CALL(cuMemDiscardAndPrefetchBatchAsync((CUdeviceptr *)addresses, sizes, count,
                                                   locations, from, n, flags, stream));
}

cudaError_t cudaMemRangeGetAttribute(void *out, size_t size, enum cudaMemRangeAttribute attribute,
                                     const void *address, size_t count)
{
    RUNTIME_CALL(cuMemRangeGetAttribute(out, size, (CUmem_range_attribute)attribute,
                                        runtime_address(address), count));
}

cudaError_t cudaMemRangeGetAttributes(void **out, size_t *sizes,
                                      enum cudaMemRangeAttribute *attributes, size_t count,
                                      const void *address, size_t size)
{
    RUNTIME_CALL(cuMemRangeGetAttributes(out, sizes, (CUmem_range_attribute *)attributes, count,
                                         runtime_address(address), size));
}
