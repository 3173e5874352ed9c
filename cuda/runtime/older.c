/* Functions of the runtimes of CUDA 11 and 12 that CUDA 13 lacks, or has with other parameters. */
#include "cuda/runtime/runtime.h"

#if CUDART_VERSION < 13000
#include <string.h>

#undef cudaGetDeviceProperties
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync

#pragma GCC visibility push(default)

/* 11 has not the last fields, and 12 keeps its function for what was compiled before. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    struct cudaDeviceProp all;
    const cudaError_t r = cudaGetDeviceProperties_v2(p ? &all : NULL, device);
    if (p && r == cudaSuccess)
        memcpy(p, &all, offsetof(struct cudaDeviceProp, hostRegisterSupported));
    return r;
}

/* A device, or -1 for the host. */
static struct cudaMemLocation place(int device)
{
    return (struct cudaMemLocation){device < 0 ? CU_MEM_LOCATION_TYPE_HOST
                                               : CU_MEM_LOCATION_TYPE_DEVICE,
                                    device < 0 ? 0 : device};
}

cudaError_t cudaMemAdvise(const void *address, size_t size, enum cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaMemAdvise(const void *address, size_t size, enum cudaMemoryAdvise advice,
                          int device)
{
    return cudaMemAdvise_v2(address, size, advice, place(device));
}

cudaError_t cudaMemPrefetchAsync(const void *address, size_t size, int device, cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync(const void *address, size_t size, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync_v2(address, size, place(device), 0, stream);
}

/* Doubles need no conversion on any device since compute capability 1.3. */
cudaError_t cudaSetDoubleForDevice(const double *d);
cudaError_t cudaSetDoubleForDevice(const double *d)
{
    return runtime_done(d ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDoubleForHost(const double *d);
cudaError_t cudaSetDoubleForHost(const double *d)
{
    return cudaSetDoubleForDevice(d);
}

/* One grid on each of several devices: of one there is no other to wait for. */
cudaError_t cudaLaunchCooperativeKernelMultiDevice(struct cudaLaunchParams *list, unsigned count,
                                                   unsigned flags)
{
    if (!list || !count || flags > 3) return runtime_done(cudaErrorInvalidValue);
    if (count > 1) return runtime_done(cudaErrorInvalidDevice); /* a device may be named once */
    return cudaLaunchCooperativeKernel(list->func, list->gridDim, list->blockDim, list->args,
                                       list->sharedMem, list->stream);
}

/* Files for a profiler that there is not. */
cudaError_t cudaProfilerInitialize(const char *config, const char *output, int mode);
cudaError_t cudaProfilerInitialize(const char *config, const char *output, int mode)
{
    return runtime_done(config && output && (unsigned)mode <= 1 ? cudaSuccess
                                                                : cudaErrorInvalidValue);
}
#pragma GCC visibility pop
#endif
