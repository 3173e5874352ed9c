// TMA through cuda::ptx: bulk and tensor copies, reductions, mbarrier transactions, prefetch, proxies, tensormap edits.
// KEEP: 90a 100a
// ARCH: 90a 100a
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace ptx = cuda::ptx;
using u64 = unsigned long long;

struct __align__(64) Map { u64 word[16]; };

extern "C" __global__ void bulk(const int *in, int *out)
{
    __shared__ alignas(128) int s[256];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
        uint64_t token = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar, sizeof s);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s, in, sizeof s, &bar);
        while (!ptx::mbarrier_try_wait(&bar, token))
            ;
    }
    __syncthreads();
    s[threadIdx.x] *= 2;
    ptx::fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, s, sizeof s);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, (const int *)s, sizeof s);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_xor_op, (unsigned *)out, (const unsigned *)s, sizeof s);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, (int64_t *)out, (const int64_t *)s, sizeof s);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, (float *)out, (const float *)s, sizeof s);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, (__half *)out, (const __half *)s, sizeof s);
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_min, (__nv_bfloat16 *)out, (const __nv_bfloat16 *)s, sizeof s);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        ptx::cp_async_bulk_wait_group(ptx::n32_t<1>());
    }
}

template <int D>
__device__ void tensor(const Map &map, int *s, uint64_t *bar)
{
    int32_t c[D];
    for (int i = 0; i < D; i++)
        c[i] = blockIdx.x * 8 + i;
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c, bar);
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &map, c, s);
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &map, c, s);
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_and_op, &map, c, s);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, s, &map, c, bar, (uint16_t)3);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

extern "C" __global__ void tensors(const __grid_constant__ Map m1, const __grid_constant__ Map m2,
                                   const __grid_constant__ Map m3, const __grid_constant__ Map m4,
                                   const __grid_constant__ Map m5, int *out)
{
    __shared__ alignas(128) int s[1024];
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        tensor<1>(m1, s, &bar);
        tensor<2>(m2, s, &bar);
        tensor<3>(m3, s, &bar);
        tensor<4>(m4, s, &bar);
        tensor<5>(m5, s, &bar);
        asm volatile("prefetch.tensormap [%0];" ::"l"(&m1) : "memory");
        asm volatile("prefetch.param.tensormap [%0];" ::"l"(__cvta_generic_to_grid_constant(&m2)) : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&m2), "r"(0), "r"(8));
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(out));
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %3, "
                     "%3, %3}], [%2], {%4, %4};" ::"r"((unsigned)__cvta_generic_to_shared(s)), "l"(&m4),
                     "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"(0), "h"((short)1) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%3, "
                     "%4}], [%2], %5;" ::"r"((unsigned)__cvta_generic_to_shared(s)), "l"(&m2),
                     "r"((unsigned)__cvta_generic_to_shared(&bar)), "r"(0), "r"(1), "l"(0x1000000000000000ull) : "memory");
    }
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void __cluster_dims__(2) remote(int *out)
{
    __shared__ int value[4];
    __shared__ uint64_t bar;
    unsigned other = ptx::get_sreg_cluster_ctarank() ^ 1;
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    unsigned at = (unsigned)__cvta_generic_to_shared(value), rb = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(at) : "r"(other));
    asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(rb) : "r"(other));
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, 20);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(at), "r"(7), "r"(rb) : "memory");
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %1, %1, %1}, [%2];" ::"r"(at), "r"(7), "r"(rb) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(at), "r"(7), "r"(rb) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(rb) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 16;" ::"r"(rb) : "memory");
    asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], 16;" ::"r"(rb) : "memory");
    while (!ptx::mbarrier_try_wait_parity(&bar, 0))
        ;
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0, 1000))
        ;
    while (!ptx::mbarrier_test_wait_parity(&bar, 1))
        ;
    out[threadIdx.x] = value[threadIdx.x & 3];
}

extern "C" __global__ void fences()
{
    ptx::fence(ptx::sem_sc, ptx::scope_cta);
    ptx::fence(ptx::sem_acq_rel, ptx::scope_gpu);
    ptx::fence(ptx::sem_sc, ptx::scope_sys);
    ptx::fence(ptx::sem_acq_rel, ptx::scope_cluster);
    ptx::fence(ptx::sem_acquire, ptx::scope_gpu);
    ptx::fence(ptx::sem_release, ptx::scope_cluster);
    ptx::fence_proxy_alias();
    ptx::fence_proxy_async(ptx::space_global);
    ptx::fence_proxy_async(ptx::space_cluster);
    ptx::fence_proxy_tensormap_generic(ptx::sem_release, ptx::scope_gpu);
}

extern "C" __global__ void edit(Map *g, void *base)
{
    __shared__ Map s;
    s.word[threadIdx.x & 15] = g->word[threadIdx.x & 15];
    ptx::tensormap_replace_global_address(ptx::space_shared, &s, base);
    ptx::tensormap_replace_rank(ptx::space_shared, &s, 2u);
    ptx::tensormap_replace_box_dim(ptx::space_shared, &s, ptx::n32_t<0>(), 64);
    ptx::tensormap_replace_global_dim(ptx::space_global, g, ptx::n32_t<1>(), 128);
    ptx::tensormap_replace_global_stride(ptx::space_shared, &s, ptx::n32_t<0>(), (uint64_t)256);
    ptx::tensormap_replace_element_size(ptx::space_shared, &s, ptx::n32_t<0>(), 1);
    ptx::tensormap_replace_elemtype(ptx::space_shared, &s, ptx::n32_t<7>());
    ptx::tensormap_replace_interleave_layout(ptx::space_shared, &s, ptx::n32_t<0>());
    ptx::tensormap_replace_swizzle_mode(ptx::space_shared, &s, ptx::n32_t<3>());
    ptx::tensormap_replace_fill_mode(ptx::space_shared, &s, ptx::n32_t<0>());
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, g, &s, ptx::n32_t<128>());
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, g, ptx::n32_t<128>());
}
