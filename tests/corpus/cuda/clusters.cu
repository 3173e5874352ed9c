// Thread-block clusters: __cluster_dims__, barrier.cluster, mapa, distributed shared memory, cluster special registers.
// KEEP: 90 120
// ARCH: 90 100 120
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) histogram(const int *in, int *out, int bins, int n)
{
    extern __shared__ int local[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < bins; i += blockDim.x)
        local[i] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank(); i < n; i += cluster.size()) {
        int b = in[i];
        int *remote = cluster.map_shared_rank(local, b / bins % cluster.num_blocks());
        atomicAdd(remote + b % bins, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < bins; i += blockDim.x)
        atomicAdd(out + cluster.block_rank() * bins + i, local[i]);
}

extern "C" __global__ void ring(int *out)
{
    __shared__ int value;
    auto cluster = cg::this_cluster();
    value = cluster.block_rank();
    auto token = cluster.barrier_arrive();
    dim3 d = cluster.dim_blocks(), x = cluster.block_index();
    cluster.barrier_wait(std::move(token));
    int *next = cluster.map_shared_rank(&value, (cluster.block_rank() + 1) % cluster.num_blocks());
    out[cluster.block_rank()] = *next + d.x + x.x + cluster.query_shared_rank(next);
    cluster.sync();
}

extern "C" __global__ void __launch_bounds__(128, 2, 8) bounded(float *o)
{
    __shared__ float s[128];
    s[threadIdx.x] = o[threadIdx.x];
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    unsigned here = (unsigned)__cvta_generic_to_shared(s + threadIdx.x), there, rank, n;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank ^ 1));
    float v;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
    asm volatile("barrier.cluster.arrive.relaxed;\n\tbarrier.cluster.wait;" ::: "memory");
    unsigned r2;
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r2) : "r"(there));
    unsigned long long g = (unsigned long long)(s + threadIdx.x), g2;
    asm("mapa.u64 %0, %1, %2;" : "=l"(g2) : "l"(g), "r"(0));
    asm volatile("st.shared::cluster.f32 [%0+4], %1;" ::"r"(there), "f"(v) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(there), "r"(n) : "memory");
    o[threadIdx.x] = v + r2 + (__isClusterShared((void *)g2) ? 1 : 0);
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
}
#if __CUDA_ARCH__ < 900 && defined(__CUDA_ARCH__)
#error clusters need sm_90
#endif
