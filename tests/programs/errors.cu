// Errors, each as CUDA documents it, and the thread's last error.
#include "self.cuh"

__global__ void empty() {}
__global__ void __launch_bounds__(64) bounded() {}
__global__ void shared(int *out)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = 1;
    if (out) *out = tile[threadIdx.x];
}
__constant__ int constant[4];

#define LAST(error, launch)                                                                                            \
    do {                                                                                                               \
        launch;                                                                                                        \
        FAILS(error, cudaPeekAtLastError());                                                                           \
        FAILS(error, cudaGetLastError());                                                                              \
        FAILS(cudaSuccess, cudaGetLastError());                                                                        \
    } while (0)

int main()
{
    void *p = nullptr, *q = nullptr;
    int host[16] = {0}, devices = 0, value = 0;
    OK(cudaGetDeviceCount(&devices));
    CHECK(devices == 1);
    LAST(cudaErrorInvalidConfiguration, (empty<<<0, 1>>>()));
    LAST(cudaErrorInvalidConfiguration, (empty<<<1, 0>>>()));
    LAST(cudaErrorInvalidConfiguration, (empty<<<1, 1025>>>()));
    LAST(cudaErrorInvalidConfiguration, (empty<<<dim3(1, 65536), 1>>>()));
    LAST(cudaErrorInvalidConfiguration, (empty<<<1, dim3(1, 1, 65)>>>()));
    LAST(cudaErrorInvalidValue, (bounded<<<1, 65>>>()));
    LAST(cudaErrorInvalidValue, (shared<<<1, 1, 1 << 20>>>(nullptr)));
    bounded<<<1, 64>>>();
    OK(cudaGetLastError());

    LAST(cudaErrorMemoryAllocation, FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50)));
    OK(cudaMalloc(&p, 64));
    OK(cudaMalloc(&q, 0));
    CHECK(q == nullptr);
    OK(cudaFree(nullptr));
    LAST(cudaErrorInvalidValue, FAILS(cudaErrorInvalidValue, cudaMemcpy(nullptr, host, 4, cudaMemcpyHostToDevice)));
    LAST(cudaErrorInvalidValue, FAILS(cudaErrorInvalidValue, cudaMemcpy(p, host, 65, cudaMemcpyHostToDevice)));
    LAST(cudaErrorInvalidMemcpyDirection,
         FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(p, host, 4, (cudaMemcpyKind)17)));
    LAST(cudaErrorInvalidValue, FAILS(cudaErrorInvalidValue, cudaMemset(p, 0, 65)));
    LAST(cudaErrorInvalidPitchValue,
         FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(p, 4, host, 16, 8, 2, cudaMemcpyHostToDevice)));
    OK(cudaMemcpy(p, host, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(p, host, 0, cudaMemcpyHostToDevice));
    OK(cudaFree(p));
    LAST(cudaErrorInvalidValue, FAILS(cudaErrorInvalidValue, cudaFree(p)));
    LAST(cudaErrorInvalidValue, FAILS(cudaErrorInvalidValue, cudaFree(host)));

    LAST(cudaErrorInvalidSymbol, FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host, host, 4)));
    LAST(cudaErrorInvalidValue, FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(constant, host, 20)));
    LAST(cudaErrorInvalidDevice, FAILS(cudaErrorInvalidDevice, cudaSetDevice(1)));
    LAST(cudaErrorInvalidDevice, FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 7)));
    cudaFuncAttributes attributes;
    LAST(cudaErrorInvalidDeviceFunction,
         FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, (const void *)host)));
    LAST(cudaErrorInvalidDeviceFunction,
         FAILS(cudaErrorInvalidDeviceFunction, cudaLaunchKernel((const void *)main, 1, 1, nullptr, 0, nullptr)));
    cudaPointerAttributes where;
    OK(cudaPointerGetAttributes(&where, host));
    CHECK(where.type == cudaMemoryTypeUnregistered);

    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)12345), "unrecognized error code") == 0);

    OK(cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    shared<<<1, 1, 60000>>>(nullptr);
    OK(cudaGetLastError());
    return verdict();
}
