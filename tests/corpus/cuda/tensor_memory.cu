// sm_100a tensor memory: tcgen05 alloc/ld/st/cp/shift/mma/commit/fence/wait, elect.sync, cluster launch control.
// KEEP: 100a
// ARCH: 100a 103a
#include <cuda/ptx>

namespace ptx = cuda::ptx;

__device__ bool elected()
{
    unsigned p;
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 lane;\n\telect.sync lane|p, 0xffffffff;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(p));
    return p;
}

extern "C" __global__ void __launch_bounds__(128) product(float *out, unsigned idesc, uint64_t da, uint64_t db)
{
    __shared__ unsigned base;
    __shared__ uint64_t bar;
    if (threadIdx.x < 32) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &base, 64u);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    }
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&bar, 1);
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    unsigned t = base;
    if (threadIdx.x < 32 && elected()) {
        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, t, da, db, idesc, false);
        ptx::tcgen05_mma(ptx::kind_tf32, ptx::cta_group_1, t, da, db, idesc, true);
        ptx::tcgen05_mma(ptx::kind_f8f6f4, ptx::cta_group_1, t, da, db, idesc, true);
        ptx::tcgen05_mma(ptx::kind_i8, ptx::cta_group_1, t, da, db, idesc, true);
        ptx::tcgen05_mma_tmem_a(ptx::kind_f16, ptx::cta_group_1, t, t + 32, db, idesc, true);
        ptx::tcgen05_mma_block_scale_vec_1x(ptx::kind_mxf8f6f4, ptx::cta_group_1, t, da, db, idesc, t + 16, t + 20, true);
        ptx::tcgen05_mma_block_scale_vec_2x(ptx::kind_mxf4, ptx::cta_group_1, t, da, db, idesc, t + 16, t + 20, true);
        ptx::tcgen05_mma_ws_collector_b0_fill(ptx::cta_group_1, ptx::kind_f16, t, da, db, idesc, true);
        ptx::tcgen05_cp_128x256b(ptx::cta_group_1, t, da);
        ptx::tcgen05_cp_4x256b(ptx::cta_group_1, t, da);
        ptx::tcgen05_cp_32x128b_warpx4_b8x16_b4x16_p64(ptx::cta_group_1, t, da);
        ptx::tcgen05_shift_down(ptx::cta_group_1, t);
        ptx::tcgen05_commit(ptx::cta_group_1, &bar);
        ptx::tcgen05_commit_multicast(ptx::cta_group_1, &bar, (uint16_t)1);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0))
        ;
    unsigned a[1], b[4], c[8], d[32];
    ptx::tcgen05_ld_32x32b(a, t);
    ptx::tcgen05_ld_16x64b(b, t);
    ptx::tcgen05_ld_16x128b(c, t);
    ptx::tcgen05_ld_16x256b(d, t);
    ptx::tcgen05_ld_16x32bx2(b, t, ptx::n32_t<4>());
    ptx::tcgen05_ld_32x32b_pack_16b(c, t);
    ptx::tcgen05_wait_ld();
    ptx::tcgen05_st_32x32b(t, b);
    ptx::tcgen05_st_16x128b_unpack_16b(t, c);
    ptx::tcgen05_wait_st();
    out[threadIdx.x] = a[0] + b[3] + c[7] + d[31];
    __syncthreads();
    if (threadIdx.x < 32)
        ptx::tcgen05_dealloc(ptx::cta_group_1, t, 64u);
}

extern "C" __global__ void __cluster_dims__(2) paired(uint64_t da, uint64_t db, unsigned idesc)
{
    __shared__ unsigned base;
    __shared__ uint64_t bar;
    ptx::tcgen05_alloc(ptx::cta_group_2, &base, 128u);
    __syncthreads();
    if (elected()) {
        ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_2, base, da, db, idesc, true);
        ptx::tcgen05_cp_64x128b_warpx2_02_13(ptx::cta_group_2, base, da);
        ptx::tcgen05_commit(ptx::cta_group_2, &bar);
        uint32_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        ptx::tcgen05_mma(ptx::kind_tf32, ptx::cta_group_2, base, da, db, idesc, lanes, true);
    }
    ptx::tcgen05_dealloc(ptx::cta_group_2, base, 128u);
}

extern "C" __global__ void stealing(int *work)
{
    __shared__ uint4 answer;
    __shared__ uint64_t bar;
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::clusterlaunchcontrol_try_cancel(&answer, &bar);
        ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &bar, 16);
    }
    while (!ptx::mbarrier_try_wait_parity(&bar, 0))
        ;
    if (ptx::clusterlaunchcontrol_query_cancel_is_canceled(answer))
        work[ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(answer)]++;
    extern __shared__ __align__(16) char big[];
    ptx::st_bulk(big, 4096, ptx::n32_t<0>());
}
