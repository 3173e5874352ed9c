/* The device: its choice, properties and limits. */
#include "cuda/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

cudaError_t cudaGetDeviceCount(int *count)
{
    RUNTIME_CALL(cuDeviceGetCount(count));
}

static CUresult exists(int device)
{
    CUdevice d;
    return cuDeviceGet(&d, device);
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(cuCtxGetDevice(device));
}

cudaError_t cudaSetDevice(int device)
{
    const cudaError_t r = runtime_done(runtime_begin());
    if (r != cudaSuccess) return r;
    const CUresult there = exists(device);
    return runtime_done(there == CUDA_SUCCESS ? runtime_use_primary() : there);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags; /* how the host waits: it never does */
    RUNTIME_CALL(exists(device));
}

static unsigned all_exist(const int *devices, int count)
{
    if (!devices && count) return cudaErrorInvalidValue;
    for (int i = 0; i < count; i++)
        if (exists(devices[i]) != CUDA_SUCCESS) return cudaErrorInvalidDevice;
    return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    RUNTIME_CALL(all_exist(devices, count));
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *want)
{
    if (!device || !want) return runtime_done(cudaErrorInvalidValue);
    *device = 0;
    RUNTIME_CALL(CUDA_SUCCESS);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    int active;
    if (!flags) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(cuDevicePrimaryCtxGetState(0, flags, &active));
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    RUNTIME_CALL(cuDevicePrimaryCtxSetFlags(0, flags));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    RUNTIME_CALL(cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    RUNTIME_CALL(cuDeviceGetPCIBusId(id, length, device));
}

static unsigned by_bus(int *device, const char *id)
{
    char own[32];
    const CUresult r = cuDeviceGetPCIBusId(own, sizeof own, 0);
    if (r != CUDA_SUCCESS) return r;
    if (strcmp(id, own) != 0) return cudaErrorInvalidDevice;
    return *device = 0, cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    if (!device || !id) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(by_bus(device, id));
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    RUNTIME_CALL(cuDeviceCanAccessPeer(can, device, peer));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute, int from,
                                      int to)
{
    RUNTIME_CALL(cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, from, to));
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned *out, const unsigned *operations,
                                                unsigned count, int device)
{
    RUNTIME_CALL(cuDeviceGetHostAtomicCapabilities(out, operations, count, device));
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned *out, const unsigned *operations,
                                               unsigned count, int from, int to)
{
    RUNTIME_CALL(cuDeviceGetP2PAtomicCapabilities(out, operations, count, from, to));
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    RUNTIME_CALL(cuCtxResetPersistingL2Cache());
}

/* There is one device, and no device is its own peer. */
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)peer, (void)flags;
    return runtime_done(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    return runtime_done(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceSynchronize(void)
{
    RUNTIME_CALL(cuCtxSynchronize());
}

static CUresult reset(void)
{
    const CUresult r = cuDevicePrimaryCtxReset(0);
    if (r == CUDA_SUCCESS) runtime_forget_modules();
    return r;
}

cudaError_t cudaDeviceReset(void)
{
    RUNTIME_CALL(reset());
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RUNTIME_CALL(cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    RUNTIME_CALL(cuCtxGetLimit(value, (CUlimit)limit));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    RUNTIME_CALL(cuCtxSetCacheConfig((CUfunc_cache)config));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    RUNTIME_CALL(cuCtxGetCacheConfig((CUfunc_cache *)config));
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    RUNTIME_CALL(cuCtxSetSharedMemConfig((CUsharedconfig)config));
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    RUNTIME_CALL(cuCtxGetSharedMemConfig((CUsharedconfig *)config));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    RUNTIME_CALL(cuCtxGetStreamPriorityRange(least, greatest));
}

/* ---- properties ----------------------------------------------------------------------------------------- */

#define AT(field) offsetof(struct cudaDeviceProp, field)
static const struct {
    int attribute; /* of CUdevice_attribute: its number in CUDA 13 */
    unsigned at;
    bool wide; /* size_t, else int */
} properties[] = {
#if CUDART_VERSION >= 13000
    {131, AT(deviceNumaId), false},
    {134, AT(hostNumaId), false},
#else
    {13, AT(clockRate), false},
    {15, AT(deviceOverlap), false},
    {17, AT(kernelExecTimeoutEnabled), false},
    {20, AT(computeMode), false},
    {36, AT(memoryClockRate), false},
    {69, AT(maxTexture1DLinear), false},
    {87, AT(singleToDoublePrecisionPerfRatio), false},
    {96, AT(cooperativeMultiDeviceLaunch), false},
#endif
    {1, AT(maxThreadsPerBlock), false},
    {2, AT(maxThreadsDim[0]), false},
    {3, AT(maxThreadsDim[1]), false},
    {4, AT(maxThreadsDim[2]), false},
    {5, AT(maxGridSize[0]), false},
    {6, AT(maxGridSize[1]), false},
    {7, AT(maxGridSize[2]), false},
    {8, AT(sharedMemPerBlock), true},
    {9, AT(totalConstMem), true},
    {10, AT(warpSize), false},
    {11, AT(memPitch), true},
    {12, AT(regsPerBlock), false},
    {14, AT(textureAlignment), true},
    {16, AT(multiProcessorCount), false},
    {18, AT(integrated), false},
    {19, AT(canMapHostMemory), false},
    {21, AT(maxTexture1D), false},
    {22, AT(maxTexture2D[0]), false},
    {23, AT(maxTexture2D[1]), false},
    {24, AT(maxTexture3D[0]), false},
    {25, AT(maxTexture3D[1]), false},
    {26, AT(maxTexture3D[2]), false},
    {30, AT(surfaceAlignment), true},
    {31, AT(concurrentKernels), false},
    {32, AT(ECCEnabled), false},
    {33, AT(pciBusID), false},
    {34, AT(pciDeviceID), false},
    {35, AT(tccDriver), false},
    {37, AT(memoryBusWidth), false},
    {38, AT(l2CacheSize), false},
    {39, AT(maxThreadsPerMultiProcessor), false},
    {40, AT(asyncEngineCount), false},
    {41, AT(unifiedAddressing), false},
    {50, AT(pciDomainID), false},
    {51, AT(texturePitchAlignment), true},
    {75, AT(major), false},
    {76, AT(minor), false},
    {78, AT(streamPrioritiesSupported), false},
    {79, AT(globalL1CacheSupported), false},
    {80, AT(localL1CacheSupported), false},
    {81, AT(sharedMemPerMultiprocessor), true},
    {82, AT(regsPerMultiprocessor), false},
    {83, AT(managedMemory), false},
    {89, AT(concurrentManagedAccess), false},
    {99, AT(hostRegisterSupported), false},
    {95, AT(cooperativeLaunch), false},
    {97, AT(sharedMemPerBlockOptin), true},
    {106, AT(maxBlocksPerMultiProcessor), false},
    {111, AT(reservedSharedMemPerBlock), true},
    {115, AT(memoryPoolsSupported), false},
    {120, AT(clusterLaunch), false},
    {77, AT(maxTexture1DMipmap), false},
    {73, AT(maxTexture2DMipmap[0]), false},
    {74, AT(maxTexture2DMipmap[1]), false},
    {70, AT(maxTexture2DLinear[0]), false},
    {71, AT(maxTexture2DLinear[1]), false},
    {72, AT(maxTexture2DLinear[2]), false},
    {45, AT(maxTexture2DGather[0]), false},
    {46, AT(maxTexture2DGather[1]), false},
    {47, AT(maxTexture3DAlt[0]), false},
    {48, AT(maxTexture3DAlt[1]), false},
    {49, AT(maxTexture3DAlt[2]), false},
    {52, AT(maxTextureCubemap), false},
    {42, AT(maxTexture1DLayered[0]), false},
    {43, AT(maxTexture1DLayered[1]), false},
    {27, AT(maxTexture2DLayered[0]), false},
    {28, AT(maxTexture2DLayered[1]), false},
    {29, AT(maxTexture2DLayered[2]), false},
    {53, AT(maxTextureCubemapLayered[0]), false},
    {54, AT(maxTextureCubemapLayered[1]), false},
    {55, AT(maxSurface1D), false},
    {56, AT(maxSurface2D[0]), false},
    {57, AT(maxSurface2D[1]), false},
    {58, AT(maxSurface3D[0]), false},
    {59, AT(maxSurface3D[1]), false},
    {60, AT(maxSurface3D[2]), false},
    {61, AT(maxSurface1DLayered[0]), false},
    {62, AT(maxSurface1DLayered[1]), false},
    {63, AT(maxSurface2DLayered[0]), false},
    {64, AT(maxSurface2DLayered[1]), false},
    {65, AT(maxSurface2DLayered[2]), false},
    {66, AT(maxSurfaceCubemap), false},
    {67, AT(maxSurfaceCubemapLayered[0]), false},
    {68, AT(maxSurfaceCubemapLayered[1]), false},
    {90, AT(computePreemptionSupported), false},
};

static CUresult describe(struct cudaDeviceProp *p, int device)
{
    CUuuid uuid;
    CUresult r = exists(device);
    memset(p, 0, sizeof *p);
    if (r == CUDA_SUCCESS) r = cuDeviceGetName(p->name, sizeof p->name, device);
    if (r == CUDA_SUCCESS) r = cuDeviceGetUuid(&uuid, device);
    if (r == CUDA_SUCCESS) memcpy(&p->uuid, &uuid, sizeof uuid);
    if (r == CUDA_SUCCESS) r = cuDeviceTotalMem(&p->totalGlobalMem, device);
    for (size_t i = 0; r == CUDA_SUCCESS && i < sizeof properties / sizeof *properties; i++) {
        int value = 0;
        r = cuDeviceGetAttribute(&value, (CUdevice_attribute)properties[i].attribute, device);
        char *to = (char *)p + properties[i].at;
        const size_t wide = (size_t)value;
        memcpy(to, properties[i].wide ? (const void *)&wide : (const void *)&value,
               properties[i].wide ? sizeof wide : sizeof value);
    }
    return r;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    if (!p) return runtime_done(cudaErrorInvalidValue);
    RUNTIME_CALL(describe(p, device));
}
