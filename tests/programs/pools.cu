// Allocation in the order of streams, from default pools and pools of its own: checks itself.
#include <cstdint>
#include <cstdio>

__global__ void fill(int *p, int n, int value)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = value + i;
}

static int bad;

static uint64_t ask(cudaMemPool_t pool, cudaMemPoolAttr a)
{
    uint64_t value = 0;
    bad += cudaMemPoolGetAttribute(pool, a, &value) != cudaSuccess;
    return value;
}

static void from_default()
{
    cudaStream_t s;
    cudaMemPool_t pool, current;
    int *p, host[300];
    cudaStreamCreate(&s);
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaDeviceGetMemPool(&current, 0);
    bad += current != pool;
    cudaMallocAsync(&p, sizeof host, s);
    bad += ask(pool, cudaMemPoolAttrUsedMemCurrent) != sizeof host;
    fill<<<1, 128, 0, s>>>(p, 300, 7);
    cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, s);
    cudaFreeAsync(p, s);
    cudaStreamSynchronize(s);
    for (int i = 0; i < 300; i++) bad += host[i] != 7 + i;
    bad += ask(pool, cudaMemPoolAttrUsedMemCurrent) != 0 || ask(pool, cudaMemPoolAttrUsedMemHigh) != sizeof host;
    bad += ask(pool, cudaMemPoolAttrReservedMemCurrent) != 0;
    cudaStreamDestroy(s);
}

static void from_own()
{
    cudaMemPool_t pool, current;
    cudaMemPoolProps props = {};
    int *p, *q, host;
    uint64_t all = UINT64_MAX, one = 1;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaMemPoolCreate(&pool, &props);
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
    cudaDeviceSetMemPool(0, pool);
    cudaDeviceGetMemPool(&current, 0);
    bad += current != pool;
    cudaMallocAsync(&p, 1 << 20, 0);
    cudaMallocFromPoolAsync(&q, 3 << 20, pool, 0);
    bad += ask(pool, cudaMemPoolAttrUsedMemCurrent) != 4 << 20;
    fill<<<1, 32>>>(q, 100, 5);
    cudaMemcpy(&host, q + 99, 4, cudaMemcpyDeviceToHost);
    bad += host != 104;
    cudaFreeAsync(q, 0);
    cudaFree(p);
    cudaDeviceSynchronize();
    bad += ask(pool, cudaMemPoolAttrReservedMemCurrent) < 4 << 20; // as the threshold has it
    cudaMemPoolTrimTo(pool, 0);
    bad += ask(pool, cudaMemPoolAttrReservedMemCurrent) != 0;
    bad += cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one) != cudaErrorInvalidValue;
    cudaMemAccessFlags flags;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    cudaMemPoolGetAccess(&flags, pool, &here);
    bad += flags != cudaMemAccessFlagsProtReadWrite;
    bad += cudaMemPoolDestroy(pool) != cudaSuccess || cudaMemPoolDestroy(pool) != cudaErrorInvalidValue;
    bad += cudaMallocFromPoolAsync(&q, 8, pool, 0) != cudaErrorInvalidValue;
    cudaDeviceGetMemPool(&current, 0);
    bad += current == pool;
    cudaGetLastError();
}

int main()
{
    int supported;
    cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0);
    bad += supported != 1;
    from_default();
    from_own();
    printf("%d wrong, %s\n", bad, cudaGetErrorName(cudaGetLastError()));
    return bad || cudaPeekAtLastError() != cudaSuccess;
}
