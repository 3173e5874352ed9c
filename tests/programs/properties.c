/* What programs of CUDA 11 and 12 ask for under their names: structures of their sizes, and nothing behind them. */
#include "cuda/runtime/runtime_api.h"

#include <stdio.h>
#include <string.h>

#undef cudaGetDeviceProperties
#undef cudaMemAdvise
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device);
cudaError_t cudaMemAdvise(const void *address, size_t size, enum cudaMemoryAdvise advice,
                          int device);
cudaError_t cudaThreadSynchronize(void);

int main(void)
{
    enum { SIZE_IN_11 = 728, MULTIPROCESSORS = 16, CLOCK = 13 };
    const enum cudaMemoryAdvise preferred = (enum cudaMemoryAdvise)3;
    struct cudaDeviceProp all, first;
    int sms = 0, clock = 0, version = 0, bad = 0;
    void *memory = NULL;
    memset(&first, 0x55, sizeof first);
    bad += cudaGetDeviceProperties(&first, 0) != cudaSuccess;
    for (size_t i = SIZE_IN_11; i < sizeof first; i++) bad += ((char *)&first)[i] != 0x55;
    bad += cudaGetDeviceProperties_v2(&all, 0) != cudaSuccess;
    bad += memcmp(&all, &first, SIZE_IN_11) != 0;
    bad += cudaDeviceGetAttribute(&sms, (enum cudaDeviceAttr)MULTIPROCESSORS, 0) != cudaSuccess;
    bad += cudaDeviceGetAttribute(&clock, (enum cudaDeviceAttr)CLOCK, 0) != cudaSuccess;
    bad += first.multiProcessorCount != sms || first.clockRate != clock || first.warpSize != 32;
    bad += all.reserved[62] != 0;
    bad += cudaRuntimeGetVersion(&version) != cudaSuccess || version != CUDART_VERSION;
    bad += cudaMallocManaged(&memory, 4096, 1) != cudaSuccess;
    bad += cudaMemAdvise(memory, 4096, preferred, 0) != cudaSuccess;
    bad += cudaMemAdvise(memory, 4096, preferred, -1) != cudaSuccess;
    bad += cudaMemAdvise(memory, 4096, preferred, 7) == cudaSuccess;
    bad += cudaThreadSynchronize() != cudaSuccess;
    printf("%d wrong\n", bad);
    return bad;
}
