// Every special register by inline asm, and the built-in variables; clock, globaltimer, pm counters, lane masks.
// KEEP: 75 90
#define S32(name) { unsigned v; asm volatile("mov.u32 %0, %%" #name ";" : "=r"(v)); *o++ = v; }
#define S64(name) { unsigned long long v; asm volatile("mov.u64 %0, %%" #name ";" : "=l"(v)); *o++ = v; }
extern "C" __global__ void all(unsigned long long *o)
{
    S32(tid.x) S32(tid.y) S32(tid.z) S32(ntid.x) S32(ntid.y) S32(ntid.z)
    S32(ctaid.x) S32(ctaid.y) S32(ctaid.z) S32(nctaid.x) S32(nctaid.y) S32(nctaid.z)
    S32(laneid) S32(warpid) S32(nwarpid) S32(smid) S32(nsmid) S64(gridid)
    S32(lanemask_eq) S32(lanemask_le) S32(lanemask_lt) S32(lanemask_ge) S32(lanemask_gt)
    S32(clock) S32(clock_hi) S64(clock64) S64(globaltimer) S32(globaltimer_lo) S32(globaltimer_hi)
    S32(pm0) S32(pm1) S32(pm2) S32(pm3) S32(pm4) S32(pm5) S32(pm6) S32(pm7)
    S64(pm0_64) S64(pm1_64) S64(pm7_64)
    S32(envreg0) S32(envreg1) S32(envreg31)
    S32(total_smem_size) S32(dynamic_smem_size)
#if __CUDA_ARCH__ >= 800
    S32(reserved_smem_offset_begin) S32(reserved_smem_offset_end) S32(reserved_smem_offset_cap) S32(reserved_smem_offset_0)
#endif
    S64(current_graph_exec)
#if __CUDA_ARCH__ >= 900
    S32(aggr_smem_size)
    S32(clusterid.x) S32(nclusterid.y) S32(cluster_ctaid.z) S32(cluster_nctaid.x) S32(cluster_ctarank) S32(cluster_nctarank)
    { unsigned v; asm volatile("{\n\t.reg .pred p;\n\tmov.pred p, %%is_explicit_cluster;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(v)); *o++ = v; }
#endif
    asm volatile("{\n\t.reg .v4 .u32 t;\n\t.reg .u32 u;\n\tmov.v4.u32 t, %%tid;\n\tmov.u32 u, t.y;\n\tst.u32 [%0], u;\n\t}" ::"l"(o) : "memory");
    asm volatile("pmevent 3;\n\tpmevent.mask 0xff;");
}

extern "C" __global__ void builtins(long long *o)
{
    o[0] = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.y;
    o[1] = blockIdx.x + blockIdx.y * gridDim.x + blockIdx.z * gridDim.y + gridDim.z;
    o[2] = warpSize;
    o[3] = clock();
    o[4] = clock64();
    __prof_trigger(2);
}
