// mma.sync by inline asm: fp16/bf16/tf32/fp64/int8/int4/b1 shapes, layouts, .satfinite, ldmatrix and movmatrix.
// KEEP: 75 80 90 120a
// ARCH: 75 80 90 120a
__device__ unsigned R(const unsigned *p, int i) { return p[i * 32 + threadIdx.x]; }

extern "C" __global__ void turing(const unsigned *p, float *f, int *n, unsigned *h)
{
    unsigned a0 = R(p, 0), a1 = R(p, 1), b0 = R(p, 2), b1 = R(p, 3), a2 = R(p, 4), a3 = R(p, 5);
    float d0 = 0, d1 = 1, d2 = 2, d3 = 3;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "r"(a0), "r"(a1), "r"(b0));
    unsigned c0 = 0, c1 = 0;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(c0), "+r"(c1) : "r"(a0), "r"(a1), "r"(b0));
    int i0 = 0, i1 = 0;
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(i0), "+r"(i1) : "r"(a0), "r"(b0));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.satfinite.s32.u8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(i0), "+r"(i1) : "r"(a0), "r"(b0));
    asm volatile("mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(i0), "+r"(i1) : "r"(a0), "r"(b0));
    asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%0, %1}, {%2}, {%3}, {%0, %1};" : "+r"(i0), "+r"(i1) : "r"(a0), "r"(b0));
    f[threadIdx.x] = d0 + d1 + d2 + d3;
    n[threadIdx.x] = i0 + i1;
    h[threadIdx.x] = c0 ^ c1 ^ b1 ^ a2 ^ a3;
}

extern "C" __global__ void ampere(const unsigned *p, float *f, int *n, double *q)
{
#if __CUDA_ARCH__ >= 800
    unsigned a0 = R(p, 0), a1 = R(p, 1), a2 = R(p, 2), a3 = R(p, 3), b0 = R(p, 4), b1 = R(p, 5);
    float d0 = 0, d1 = 1, d2 = 2, d3 = 3;
#define F4 "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
#define A4 "r"(a0), "r"(a1), "r"(a2), "r"(a3)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : F4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : F4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : F4 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : F4 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : F4 : A4, "r"(b0), "r"(b1));
    int i0 = 0, i1 = 0, i2 = 0, i3 = 0;
#define I4 "+r"(i0), "+r"(i1), "+r"(i2), "+r"(i3)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : I4 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : I4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : I4 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : I4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : I4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : I4 : "r"(a0), "r"(a1), "r"(b0));
    asm volatile("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%8,%9}, {%0,%1,%2,%3}, %10, 0x0;"
                 : F4 : A4, "r"(b0), "r"(b1), "r"(0x44444444));
    double e0 = 0, e1 = 0, x = q[threadIdx.x], y = q[threadIdx.x + 32];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(e0), "+d"(e1) : "d"(x), "d"(y));
#if __CUDA_ARCH__ >= 900
    double e2 = 0, e3 = 0;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%4,%5}, {%4,%5}, {%0,%1,%2,%3};"
                 : "+d"(e0), "+d"(e1), "+d"(e2), "+d"(e3) : "d"(x), "d"(y));
    e0 += e2 * e3;
#endif
#if __CUDA_ARCH__ >= 890
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : F4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" : F4 : "r"(a0), "r"(a1), "r"(b0));
#endif
#if __CUDA_ARCH__ >= 1200
    asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" : F4 : A4, "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 1}, {%10}, {0, 1};" : F4 : A4, "r"(b0), "r"(b1), "r"(a0));
    asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
                 "{%8,%9}, {%0,%1,%2,%3}, {%10}, {0, 0}, {%10}, {0, 0};" : F4 : A4, "r"(b0), "r"(b1), "r"(a0));
#endif
    f[threadIdx.x] = d0 + d1 + d2 + d3;
    n[threadIdx.x] = i0 + i1 + i2 + i3;
    q[threadIdx.x] = e0 + e1;
#endif
}

extern "C" __global__ void matrices(unsigned *p)
{
    __shared__ __align__(16) unsigned s[256];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(s + threadIdx.x % 8 * 4), r0, r1, r2, r3, m;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r0) : "r"(at) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(r1), "=r"(r2) : "r"(at) : "memory");
    p[0] = r0 + r1 + r2;
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared::cta.b16 {%0, %1, %2, %3}, [%4+16];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at) : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(m) : "r"(r0));
#if __CUDA_ARCH__ >= 900
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(r0), "r"(r1), "r"(r2), "r"(r3) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at), "r"(m) : "memory");
#endif
#if __CUDA_ARCH__ >= 1200
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "r"(at) : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%0, %1}, [%2];" : "=r"(r2), "=r"(r3) : "r"(at) : "memory");
    asm volatile("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(at), "r"(m) : "memory");
#endif
    p[threadIdx.x] = r0 ^ r1 ^ r2 ^ r3 ^ m ^ s[0];
}
