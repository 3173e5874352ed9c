// Cache operators and hints: __ldg/__ldcg/__ldcs/__ldlu/__ldcv, __stwb/__stcg/__stcs/__stwt, prefetch, L1/L2 eviction priorities.
// KEEP: 75 80 100
// ARCH: 75 80 90 100
#include <cuda/annotated_ptr>
#include <cuda/discard_memory>

template <typename T>
__device__ void hints(const T *p, T *q)
{
    int t = threadIdx.x;
    q[0] = __ldg(p + t);
    q[1] = __ldcg(p + t);
    q[2] = __ldca(p + t);
    q[3] = __ldcs(p + t);
    q[4] = __ldlu(p + t);
    q[5] = __ldcv(p + t);
    __stwb(q + 6, q[0]);
    __stcg(q + 7, q[1]);
    __stcs(q + 8, q[2]);
    __stwt(q + 9, q[3]);
}

extern "C" __global__ void types(const char *c, char *d)
{
#define T(t) hints((const t *)c, (t *)d);
    T(signed char) T(unsigned char) T(short) T(unsigned short) T(int) T(unsigned) T(long long) T(unsigned long long) T(float) T(double)
    T(char2) T(short2) T(ushort2) T(int2) T(uint2) T(float2) T(longlong2) T(double2) T(char4) T(uchar4) T(short4) T(int4) T(uint4) T(float4)
}

extern "C" __global__ void assembly(const float *p, float *q, unsigned long long *o)
{
    float a, b, c, d;
    asm volatile("prefetch.global.L1 [%0];\n\tprefetch.global.L2 [%0+128];\n\tprefetch.L1 [%0];\n\tprefetchu.L1 [%0];" ::"l"(p));
    asm volatile("ld.global.L1::evict_first.f32 %0, [%1];" : "=f"(a) : "l"(p));
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p));
    asm volatile("ld.global.L2::128B.f32 %0, [%1];" : "=f"(b) : "l"(p + 1));
    asm volatile("st.global.L1::evict_last.f32 [%0], %1;" ::"l"(q), "f"(a + b + c + d) : "memory");
#if __CUDA_ARCH__ >= 800
    unsigned long long h;
    asm volatile("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0, 0.25;" : "=l"(h));
    o[0] = h;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v2.f32 {%0, %1}, [%2], %3;" : "=f"(a), "=f"(b) : "l"(p), "l"(h));
    asm volatile("st.global.L1::no_allocate.L2::cache_hint.v2.f32 [%0], {%1, %2}, %3;" ::"l"(q + 2), "f"(a), "f"(b), "l"(h) : "memory");
    asm volatile("createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %0, [%1], 1024, 4096;" : "=l"(h) : "l"(p));
    asm volatile("createpolicy.cvt.L2.b64 %0, 0x14F0000000000000;" : "=l"(h));
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(q) : "memory");
    asm volatile("discard.global.L2 [%0], 128;" ::"l"(q + 32) : "memory");
    asm volatile("prefetch.global.L2::evict_last [%0];\n\tprefetch.global.L2::evict_normal [%0];" ::"l"(p));
    asm volatile("red.global.add.L2::cache_hint.u32 [%0], 3, %1;" ::"l"(q + 64), "l"(h) : "memory");
#endif
#if __CUDA_ARCH__ >= 1000
    asm volatile("ld.global.nc.L2::evict_first.v8.f32 {%0, %1, %2, %3, _, _, _, _}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p));
    asm volatile("st.global.v4.b64 [%0], {%1, %1, %1, %1};" ::"l"(q), "l"(o) : "memory");
    q[9] = a + b + c + d;
#endif
}

extern "C" __global__ void annotated(const int *p, int *q)
{
    cuda::annotated_ptr<const int, cuda::access_property::persisting> in(p);
    cuda::annotated_ptr<int, cuda::access_property::streaming> out(q);
    out[threadIdx.x] = in[threadIdx.x];
    cuda::discard_memory(q + 1024, 1024);
}
