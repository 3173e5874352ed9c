// sm_90a warpgroup matrix products by inline asm: wgmma.mma_async of several types, from shared and registers, setmaxnreg.
// ARCH: 90a
__device__ unsigned long long descriptor(const void *p)
{
    unsigned long long a = __cvta_generic_to_shared(p);
    return (a & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

extern "C" __global__ void __launch_bounds__(128) products(float *out, int *iout)
{
    __shared__ __align__(1024) char a[8192];
    __shared__ __align__(1024) char b[8192];
    unsigned long long da = descriptor(a), db = descriptor(b);
    float d[4] = {0, 0, 0, 0};
    int e[4] = {0, 0, 0, 0};
    unsigned h[2] = {0, 0}, r[4] = {threadIdx.x, 1, 2, 3};
#define F "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %6, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n\t}"
                 : F : "l"(da), "l"(db), "r"(1));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, 1, -1, 1, 0, 1;" : F : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;" : F : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%0, %1, %2, %3}, %4, %5, 1, 1, 1;" : F : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : F : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %1}, %2, %3, 1, 1, 1, 0, 0;" : "+r"(h[0]), "+r"(h[1]) : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8.satfinite {%0, %1, %2, %3}, %4, %5, 1;"
                 : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3]) : "l"(da), "l"(db));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {%0, %1, %2, %3}, %4, %5, 1;"
                 : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3]) : "l"(da), "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + __uint_as_float(h[0] + h[1]);
    iout[threadIdx.x] = e[0] + e[1] + e[2] + e[3];
}

extern "C" __global__ void __launch_bounds__(256) specialised(float *out)
{
    __shared__ __align__(1024) char a[16384];
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        out[threadIdx.x] = 1;
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        float d[16];
        for (int i = 0; i < 16; i++)
            d[i] = i;
        unsigned long long da = descriptor(a);
        asm volatile("wgmma.fence.sync.aligned;");
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, "
                     "%16, %16, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
                       "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
                     : "l"(da));
        asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
        for (int i = 0; i < 16; i++)
            out[threadIdx.x * 16 + i] = d[i];
    }
}
