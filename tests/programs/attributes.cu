// What is known of the device and of kernels: properties, attributes, occupancy.
#include "self.cuh"

__global__ void __launch_bounds__(128, 2) kernel(double *out, char c)
{
    __shared__ double tile[128];
    tile[threadIdx.x] = c;
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
__global__ void dynamic(int *out)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void local(int *out, int at)
{
    int room[64];
    for (int i = 0; i < 64; i++) room[i] = i * at;
    *out = room[at % 64];
}

struct bytes_of_block {
    __host__ __device__ size_t operator()(int threads) const { return threads * sizeof(int); }
};

int main()
{
    cudaDeviceProp p;
    cudaFuncAttributes a;
    int value = 0, device = -1, blocks = 0, least = 0, size = 0;
    size_t free = 0, total = 0, limit = 0, available = 0;
    OK(cudaGetDevice(&device));
    OK(cudaGetDeviceProperties(&p, 0));
    CHECK(device == 0 && strlen(p.name) > 0 && p.warpSize == 32 && p.major >= 5);
    CHECK(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64 && p.maxGridSize[0] == 2147483647);
    CHECK(p.totalConstMem == 65536 && p.sharedMemPerBlock == 49152);
    const struct {
        cudaDeviceAttr attribute;
        long long want;
    } same[] = {{cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
                {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
                {cudaDevAttrComputeCapabilityMajor, p.major},
                {cudaDevAttrComputeCapabilityMinor, p.minor},
                {cudaDevAttrMaxSharedMemoryPerBlock, (long long)p.sharedMemPerBlock},
                {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)p.sharedMemPerBlockOptin},
                {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
                {cudaDevAttrWarpSize, p.warpSize},
                {cudaDevAttrL2CacheSize, p.l2CacheSize},
                {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
                {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
                {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
                {cudaDevAttrUnifiedAddressing, p.unifiedAddressing},
                {cudaDevAttrConcurrentKernels, p.concurrentKernels}};
    for (const auto &s : same) {
        OK(cudaDeviceGetAttribute(&value, s.attribute, 0));
        CHECK(value == s.want);
    }
    OK(cudaMemGetInfo(&free, &total));
    CHECK(free <= total && total == p.totalGlobalMem);
    OK(cudaDriverGetVersion(&value));
    CHECK(value >= CUDART_VERSION);
    OK(cudaRuntimeGetVersion(&value));
    CHECK(value / 1000 == CUDART_VERSION / 1000);

    OK(cudaFuncGetAttributes(&a, kernel));
    CHECK(a.sharedSizeBytes == 1024 && a.maxThreadsPerBlock == 128 && a.numRegs > 0 && a.ptxVersion >= 50);
    CHECK(a.binaryVersion >= a.ptxVersion);
    OK(cudaFuncGetAttributes(&a, local));
    CHECK(a.localSizeBytes >= 256 && a.maxThreadsPerBlock == 1024);
    OK(cudaFuncGetAttributes(&a, dynamic));
    CHECK(a.sharedSizeBytes == 0 && a.maxDynamicSharedSizeBytes == 49152);
    OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000));
    OK(cudaFuncGetAttributes(&a, dynamic));
    CHECK(a.maxDynamicSharedSizeBytes == 50000);
    OK(cudaFuncSetCacheConfig(dynamic, cudaFuncCachePreferShared));

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0));
    CHECK(blocks >= 2 && blocks * 128 <= p.maxThreadsPerMultiProcessor);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, dynamic, 32, 40000));
    CHECK(blocks == (int)(p.sharedMemPerMultiprocessor / (40000 + p.reservedSharedMemPerBlock)));
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, kernel, 0, 0));
    CHECK(size > 0 && size <= 128 && least >= p.multiProcessorCount);
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least, &size, dynamic, bytes_of_block()));
    CHECK(size > 0 && size <= 1024);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&available, dynamic, 1, 128));
    CHECK(available > 0 && available <= p.sharedMemPerMultiprocessor);

    OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 8 << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
    CHECK(limit == 16 << 20);
    int can = 1;
    char bus[32];
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&value, bus));
    CHECK(value == 0);
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0);
    return verdict();
}
