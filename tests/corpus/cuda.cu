// The sources for nvcc 13, which it compiles with its own headers. A line `// ==== NAME ====` begins each file;
// generate.sh takes them apart.
// ==== cuda/address_spaces.cu ====
// isspacep predicates, cvta to and from each space, generic pointers that may be any space, grid-constant parameters.
struct Table {
    int v[20];
    double w;
};

__device__ int global_value;
__constant__ int constant_value[8] = {3, 1, 4, 1, 5, 9, 2, 6};

__device__ __noinline__ int classify(const void *p)
{
    return __isGlobal(p) | __isShared(p) << 1 | __isConstant(p) << 2 | __isLocal(p) << 3 | __isGridConstant(p) << 4;
}

extern "C" __global__ void predicates(const __grid_constant__ Table t, int *o, int i)
{
    __shared__ int s[8];
    int l[8];
    l[i & 7] = i;
    s[i & 7] = i;
    o[0] = classify(&global_value);
    o[1] = classify(&constant_value[i]);
    o[2] = classify(&s[i]);
    o[3] = classify(&l[i]);
    o[4] = classify(&t.v[i]);
    o[5] = l[(i + 1) & 7] + t.v[i];
}

extern "C" __global__ void conversions(void *p, long long *o)
{
    o[0] = __cvta_generic_to_global(p);
    o[1] = __cvta_generic_to_shared(p);
    o[2] = __cvta_generic_to_local(p);
    o[3] = __cvta_generic_to_constant(p);
    o[4] = (long long)__cvta_global_to_generic(o[0]);
    o[5] = (long long)__cvta_shared_to_generic(o[1]);
    o[6] = (long long)__cvta_local_to_generic(o[2]);
    o[7] = (long long)__cvta_constant_to_generic(o[3]);
}

extern "C" __global__ void mixed(int *g, int k, double *d)
{
    __shared__ int s[64];
    int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = i * k;
    s[threadIdx.x] = k;
    __syncthreads();
    int *p = k == 0 ? g : k == 1 ? s : k == 2 ? local : &global_value;
    *p += 5;
    const int *q = k > 5 ? constant_value : p;
    g[1] = *q + local[k & 15];
    memcpy(d, local, sizeof local);
    memset(s, 0x55, sizeof s);
    *(char *)(s + 3) = 7;
}
// ==== cuda/async_copy.cu ====
// cp.async of each size and cache mode with src-size and ignore-src, commit/wait groups, mbarrier by inline asm (sm_80 forms).
// KEEP: 80 90
// ARCH: 80 90 100
#include <cuda_pipeline.h>

extern "C" __global__ void pipelined(const float4 *in, float4 *out, int n)
{
    __shared__ float4 s[3][64];
    int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        __pipeline_memcpy_async(&s[i][t], &in[i * 64 + t], 16);
        __pipeline_commit();
    }
    for (int i = 2; i < n; i++) {
        __pipeline_memcpy_async(&s[i % 3][t], &in[i * 64 + t], 16, i & 1 ? 0 : 8);
        __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        out[(i - 2) * 64 + t] = s[(i - 2) % 3][63 - t];
    }
    __pipeline_wait_prior(0);
}

extern "C" __global__ void forms(const char *g, char *o, int k)
{
    __shared__ __align__(16) char s[512];
    unsigned d = (unsigned)__cvta_generic_to_shared(s);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(d), "l"(g) : "memory");
    asm volatile("cp.async.ca.shared.global [%0+8], [%1+8], 8;" ::"r"(d), "l"(g) : "memory");
    asm volatile("cp.async.cg.shared.global [%0+16], [%1+16], 16;" ::"r"(d), "l"(g) : "memory");
    asm volatile("cp.async.ca.shared.global.L2::128B [%0+32], [%1+32], 16;" ::"r"(d), "l"(g) : "memory");
    asm volatile("cp.async.cg.shared.global.L2::256B [%0+48], [%1+48], 16, %2;" ::"r"(d), "l"(g), "r"(k) : "memory");
    asm volatile("cp.async.cg.shared.global.L2::64B [%0+64], [%1+64], 16, 12;" ::"r"(d), "l"(g) : "memory");
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\tcp.async.ca.shared.global [%0+80], [%1+80], 4, p;\n\t}" ::"r"(d), "l"(g), "r"(k)
                 : "memory");
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0+96], [%1+96], 16, %2;" ::"r"(d), "l"(g), "l"(policy) : "memory");
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 1;\n\tcp.async.wait_all;" ::: "memory");
    o[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void barrier(const int *g, int *o)
{
    __shared__ int s[64];
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), d = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(blockDim.x) : "memory");
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(d), "l"(g + threadIdx.x) : "memory");
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(b) : "memory");
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(b) : "memory");
    unsigned long long state;
    unsigned pending;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    asm volatile("{\n\t.reg .pred done;\n"
                 "again:\n\tmbarrier.test_wait.shared.b64 done, [%0], %1;\n\t@!done bra again;\n\t}" ::"r"(b), "l"(state)
                 : "memory");
    asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 1;" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
    o[threadIdx.x] = s[threadIdx.x ^ 1] + pending;
}
// ==== cuda/atomic_builtins.cu ====
// __nv_atomic_* builtins: every memory order and thread scope, so ld/st/atom/fence with .relaxed/.acquire/.release/.acq_rel.
// KEEP: 75 90
#define SCOPES(f) f(__NV_THREAD_SCOPE_BLOCK) f(__NV_THREAD_SCOPE_DEVICE) f(__NV_THREAD_SCOPE_SYSTEM)

extern "C" __global__ void loads(int *p, long long *q, short *h, unsigned char *c, int *o)
{
#define LOAD(s)                                                                                                        \
    o[0] += __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED, s);                                                             \
    o[1] += __nv_atomic_load_n(p + 1, __NV_ATOMIC_ACQUIRE, s);                                                         \
    o[2] += __nv_atomic_load_n(q, __NV_ATOMIC_SEQ_CST, s);                                                             \
    o[3] += __nv_atomic_load_n(h, __NV_ATOMIC_ACQUIRE, s);                                                             \
    o[4] += __nv_atomic_load_n(c, __NV_ATOMIC_RELAXED, s);
    SCOPES(LOAD)
}

extern "C" __global__ void stores(int *p, long long *q, short *h, unsigned char *c, int v)
{
#define STORE(s)                                                                                                       \
    __nv_atomic_store_n(p, v, __NV_ATOMIC_RELAXED, s);                                                                 \
    __nv_atomic_store_n(p + 1, v, __NV_ATOMIC_RELEASE, s);                                                             \
    __nv_atomic_store_n(q, v, __NV_ATOMIC_SEQ_CST, s);                                                                 \
    __nv_atomic_store_n(h, v, __NV_ATOMIC_RELEASE, s);                                                                 \
    __nv_atomic_store_n(c, v, __NV_ATOMIC_RELAXED, s);
    SCOPES(STORE)
}

extern "C" __global__ void updates(int *p, unsigned long long *q, float *f, int v, int *o)
{
#define UPDATE(s)                                                                                                      \
    o[0] += __nv_atomic_fetch_add(p, v, __NV_ATOMIC_RELAXED, s);                                                       \
    o[1] += __nv_atomic_fetch_sub(p, v, __NV_ATOMIC_ACQUIRE, s);                                                       \
    o[2] += __nv_atomic_fetch_and(p, v, __NV_ATOMIC_RELEASE, s);                                                       \
    o[3] += __nv_atomic_fetch_or(p, v, __NV_ATOMIC_ACQ_REL, s);                                                        \
    o[4] += __nv_atomic_fetch_xor(q, (unsigned long long)v, __NV_ATOMIC_SEQ_CST, s);                                   \
    o[5] += __nv_atomic_fetch_min(p, v, __NV_ATOMIC_RELAXED, s);                                                       \
    o[6] += __nv_atomic_fetch_max(q, (unsigned long long)v, __NV_ATOMIC_ACQ_REL, s);                                   \
    o[7] += __nv_atomic_exchange_n(p, v, __NV_ATOMIC_ACQUIRE, s);                                                      \
    o[8] += __nv_atomic_fetch_add(f, 1.0f, __NV_ATOMIC_RELEASE, s);                                                    \
    {                                                                                                                  \
        int e = v;                                                                                                     \
        o[9] += __nv_atomic_compare_exchange_n(p, &e, 2, 0, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE, s);              \
        o[10] += e;                                                                                                    \
    }                                                                                                                  \
    __nv_atomic_add(p, v, __NV_ATOMIC_RELAXED, s);                                                                     \
    __nv_atomic_or(p, v, __NV_ATOMIC_RELEASE, s);                                                                      \
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, s);                                                                  \
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, s);
    SCOPES(UPDATE)
}

extern "C" __global__ void subword(short *h, unsigned char *c, int *o)
{
    short e = 1;
    o[0] = __nv_atomic_compare_exchange_n(h, &e, (short)2, 0, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    o[1] = e;
}

extern "C" __global__ void wide(unsigned __int128 *p)
{
#if __CUDA_ARCH__ >= 900
    p[1] = __nv_atomic_load_n(p, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store_n(p + 2, p[3], __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    p[4] = __nv_atomic_exchange_n(p + 5, p[6], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
#endif
}
// ==== cuda/atomics.cu ====
// The atomic intrinsics: all operations and types, _block and _system scopes, results used (atom) and dropped (red).
// KEEP: 75 90
template <typename T>
__device__ void integer(T *p, T v, T *o)
{
    o[0] = atomicAdd(p, v);
    o[1] = atomicExch(p + 1, v);
    o[2] = atomicMin(p + 2, v);
    o[3] = atomicMax(p + 3, v);
    o[4] = atomicAnd(p + 4, v);
    o[5] = atomicOr(p + 5, v);
    o[6] = atomicXor(p + 6, v);
    o[7] = atomicCAS(p + 7, v, v + 1);
    atomicAdd(p + 8, v);
    atomicMin(p + 9, v);
    atomicMax(p + 10, v);
    atomicAnd(p + 11, v);
    atomicOr(p + 12, v);
    atomicXor(p + 13, v);
    o[8] = atomicAdd_block(p, v);
    o[9] = atomicExch_system(p + 1, v);
    o[10] = atomicMin_block(p + 2, v);
    o[11] = atomicCAS_system(p + 7, v, v + 1);
    atomicMax_system(p + 10, v);
    atomicXor_block(p + 13, v);
}

extern "C" __global__ void on_global(int *i, unsigned *u, unsigned long long *l, int v)
{
    integer<int>(i, v, i + 64);
    integer<unsigned>(u, v, u + 64);
    integer<unsigned long long>(l, v, l + 64);
    u[100] = atomicInc(u, 7);
    u[101] = atomicDec(u, 7);
    u[102] = atomicSub(u, 7);
    atomicInc(u + 1, 9);
    atomicDec_system(u + 1, 9);
    long long *s = (long long *)l;
    s[200] = atomicMin(s, -5ll);
    s[201] = atomicMax(s, 5ll);
}

extern "C" __global__ void on_shared(int *out, float *fout)
{
    __shared__ int si[32];
    __shared__ unsigned long long sl[32];
    __shared__ float sf[4];
    __shared__ double sd[4];
    integer<int>(si, threadIdx.x, out);
    integer<unsigned long long>(sl, threadIdx.x, (unsigned long long *)out + 64);
    fout[0] = atomicAdd(sf, 1.5f);
    fout[1] = atomicExch(sf + 1, 2.5f);
    fout[2] = atomicAdd(sd, 1.5);
    atomicAdd(sf + 2, 1.0f);
    atomicAdd(sd + 2, 1.0);
    __syncthreads();
    out[300] = si[3];
}

extern "C" __global__ void floats(float *f, double *d, float *o)
{
    o[0] = atomicAdd(f, 1.0f);
    o[1] = atomicExch(f + 1, 2.0f);
    o[2] = atomicAdd(d, 1.0);
    atomicAdd(f + 2, 3.0f);
    atomicAdd(d + 2, 3.0);
    atomicAdd_system(f + 3, 4.0f);
    atomicAdd_block(d + 3, 4.0);
#if __CUDA_ARCH__ >= 900
    atomicAdd((float2 *)(f + 8), make_float2(1, 2));
    atomicAdd((float4 *)(f + 12), make_float4(1, 2, 3, 4));
    float4 r = atomicAdd((float4 *)(f + 16), make_float4(1, 2, 3, 4));
    o[3] = r.x + r.w;
#endif
}

extern "C" __global__ void on_generic(int *g, int pick, int *o)
{
    __shared__ int s[4];
    int *p = pick ? g : s;
    o[0] = atomicAdd(p, 1);
    atomicMax(p + 1, 2);
    o[1] = atomicCAS((unsigned short *)p + 3, (unsigned short)1, (unsigned short)2);
}

struct __align__(16) Pair { unsigned long long a, b; };

extern "C" __global__ void cas128(Pair *p, Pair *o)
{
#if __CUDA_ARCH__ >= 900
    o[0] = atomicCAS(p, o[1], o[2]);
    o[3] = atomicExch(p + 1, o[4]);
#endif
}
// ==== cuda/bfloat.cu ====
// cuda_bf16.h: arithmetic, packed pairs, conversions, min/max with NaN, relu, atomics; emulated before sm_80/sm_90.
// KEEP: 75 80 90
#include <cuda_bf16.h>

#if __CUDA_ARCH__ < 800
#define __hfma(x, y, z) __hadd(__hmul(x, y), z)
#define __hfma2(x, y, z) __hadd2(__hmul2(x, y), z)
#define __hfma_relu(x, y, z) __hmax(__hfma(x, y, z), y)
#define __hfma2_relu(x, y, z) __hmax2(__hfma2(x, y, z), y)
#endif

extern "C" __global__ void scalar(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *o, int *p)
{
    int t = threadIdx.x;
    __nv_bfloat16 x = a[t], y = b[t];
    o += t * 32;
    o[0] = __hadd(x, y);
    o[1] = __hsub(x, y);
    o[2] = __hmul(x, y);
    o[3] = __hdiv(x, y);
    o[4] = __hfma(x, y, o[0]);
    o[5] = __hadd_sat(x, y);
    o[6] = __hneg(x);
    o[7] = __habs(x);
    o[8] = hsqrt(x);
    o[9] = hexp2(x);
    o[10] = htanh(x);
    o[11] = hfloor(x);
    o[12] = __hmin(x, y);
    o[13] = __hmax_nan(x, y);
    o[14] = __hfma_relu(x, y, o[1]);
    o[15] = __float2bfloat16_rz(__bfloat162float(x) + 1);
    o[16] = __float2bfloat16_ru(__bfloat162float(y) + 1);
    o[17] = __int2bfloat16_rn(p[8]);
    o[18] = __ull2bfloat16_rd(p[9]);
    o[19] = __double2bfloat16(p[10] * 0.3);
    p[0] = __heq(x, y);
    p[1] = __hltu(x, y);
    p[2] = __bfloat162int_rd(x);
    p[3] = __bfloat162ushort_rz(x);
    p[4] = (int)__bfloat162ll_ru(x);
    p[5] = __hisnan(x) + __hisinf(y);
    atomicAdd(o + 20, x);
}

extern "C" __global__ void packed(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *o, unsigned *m)
{
    int t = threadIdx.x;
    __nv_bfloat162 x = a[t], y = b[t];
    o += t * 16;
    o[0] = __hadd2(x, y);
    o[1] = __hmul2(x, y);
    o[2] = __hfma2(x, y, o[0]);
    o[3] = __hmin2(x, y);
    o[4] = __hmax2_nan(x, y);
    o[5] = __habs2(x);
    o[6] = __hfma2_relu(x, y, o[1]);
    o[7] = __floats2bfloat162_rn(m[4] * 0.5f, m[5] * 0.25f);
    o[8] = h2log(x);
    o[9] = __heq2(x, y);
    m[0] = __hgtu2_mask(x, y);
    m[1] = __hbgt2(x, y);
    float2 f = __bfloat1622float2(x);
    m[2] = f.x > f.y;
    atomicAdd(o + 10, x);
    o[11] = __shfl_down_sync(~0u, x, 4);
}

extern "C" __global__ void mixed(const uint4 *in, float4 *out)
{
    uint4 w = in[threadIdx.x];
    const __nv_bfloat162 *p = (const __nv_bfloat162 *)&w;
    float2 a = __bfloat1622float2(p[0]), b = __bfloat1622float2(p[1]);
    float2 c = __bfloat1622float2(p[2]), d = __bfloat1622float2(p[3]);
    out[threadIdx.x] = make_float4(a.x + c.x, a.y * c.y, b.x - d.x, b.y / d.y);
}
// ==== cuda/blackwell.cu ====
// sm_100 scalar additions: packed fp32 (add/mul/fma.f32x2), three-input min/max, redux.f32, cvt with stochastic rounding, 256-bit loads.
// ARCH: 100a 103a
extern "C" __global__ void pairs(unsigned long long *p, float *f, unsigned *u)
{
    unsigned long long a = p[0], b = p[1], c = p[2], r;
    asm("add.rn.f32x2 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    p[3] = r;
    asm("mul.rz.ftz.f32x2 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    p[4] = r;
    asm("fma.rn.f32x2 %0, %1, %2, %3;" : "=l"(r) : "l"(a), "l"(b), "l"(c));
    p[5] = r;
    asm("sub.rm.f32x2 %0, %1, %2;" : "=l"(r) : "l"(a), "l"(b));
    p[6] = r;
    float x = f[0], y = f[1], z = f[2], s;
    asm("min.f32 %0, %1, %2, %3;" : "=f"(s) : "f"(x), "f"(y), "f"(z));
    f[3] = s;
    asm("max.ftz.NaN.abs.f32 %0, %1, %2, %3;" : "=f"(s) : "f"(x), "f"(y), "f"(z));
    f[4] = s;
    asm volatile("redux.sync.min.f32 %0, %1, 0xffffffff;" : "=f"(s) : "f"(x));
    f[5] = s;
    asm volatile("redux.sync.max.abs.NaN.f32 %0, %1, 0xffffffff;" : "=f"(s) : "f"(x));
    f[6] = s;
    unsigned q;
    asm("cvt.rs.f16x2.f32 %0, %1, %2, %3;" : "=r"(q) : "f"(x), "f"(y), "r"(u[0]));
    u[1] = q;
    asm("cvt.rs.satfinite.e4m3x4.f32 %0, {%1, %2, %3, %1}, %4;" : "=r"(q) : "f"(x), "f"(y), "f"(z), "r"(u[0]));
    u[2] = q;
    asm("cvt.rz.tf32.f32 %0, %1;" : "=r"(q) : "f"(x));
    u[3] = q;
    asm("add.f32.f16 %0, %1, %2;" : "=f"(s) : "h"((short)q), "f"(y));
    f[7] = s;
    asm("fma.rn.f32.bf16 %0, %1, %1, %2;" : "=f"(s) : "h"((short)q), "f"(y));
    f[8] = s;
    asm volatile("ld.global.v8.b32 {%0, _, _, _, _, _, _, %1}, [%2];" : "=r"(u[8]), "=r"(u[9]) : "l"(p));
    asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}
// ==== cuda/bulk_copy.cu ====
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
// ==== cuda/cache_hints.cu ====
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
// ==== cuda/calls.cu ====
// Function pointers, recursion, virtual calls, noinline functions with struct arguments and results, variadic calls.
// KEEP: 80 100
struct Big {
    int a[7];
    double b;
    char c;
};

__device__ __noinline__ Big bump(Big x, int k)
{
    x.a[k % 7] += k;
    x.b *= 1.5;
    x.c = (char)k;
    return x;
}

__device__ __noinline__ long long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n != 0 && even(n - 1); }

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

struct Shape {
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual void scale(float) {}
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3.14159f * r * r; }
    __device__ void scale(float k) override { r *= k; }
};
struct Rect : Shape {
    float w, h;
    __device__ Rect(float w, float h) : w(w), h(h) {}
    __device__ float area() const override { return w * h; }
};

extern "C" __global__ void shapes(float *o, int kind)
{
    Circle c(o[0]);
    Rect r(o[1], o[2]);
    Shape *s = kind ? (Shape *)&c : (Shape *)&r;
    s->scale(2);
    o[threadIdx.x] = s->area();
    Shape *heap = kind > 2 ? (Shape *)new Circle(1) : (Shape *)new Rect(2, 3);
    o[threadIdx.x + 32] = heap->area();
    delete heap;
}

typedef float (*Fn)(float, int);
__device__ __noinline__ float f0(float x, int k) { return x + k; }
__device__ __noinline__ float f1(float x, int k) { return x * k; }
__device__ __noinline__ float f2(float x, int) { return -x; }

extern "C" __global__ void pointers(float *o, int which, Fn given)
{
    Fn f = which == 0 ? f0 : which == 1 ? f1 : f2;
    o[0] = f(o[1], which);
    o[2] = given(o[3], 7);
}

__device__ __noinline__ void swap_pair(int &a, int &b, short s, unsigned char u, bool p, long long l)
{
    int t = a + s + u + p + (int)l;
    a = b;
    b = t;
}

__device__ __noinline__ float4 vector(float2 a, double2 b, char4 c) { return make_float4(a.x + c.x, a.y, b.x, b.y + c.w); }
__device__ __noinline__ unsigned __int128 wide(unsigned __int128 x) { return x * 3; }
struct One { char c; };
__device__ __noinline__ One one(One o) { return One{(char)(o.c + 1)}; }
struct Three { char c[3]; };
__device__ __noinline__ Three three(Three t) { t.c[0] ^= t.c[2]; return t; }

extern "C" __global__ void values(Big *b, int k, float4 *v, unsigned __int128 *w)
{
    *b = bump(bump(*b, k), k + 1);
    b->a[0] += (int)fib(k) + even(k) + ackermann(2, k & 3);
    int x = b->a[1], y = b->a[2];
    swap_pair(x, y, (short)k, (unsigned char)k, k > 0, k);
    b->a[1] = x;
    b->a[2] = y;
    *v = vector(make_float2(k, 1), make_double2(k, 2), make_char4(1, 2, 3, k));
    *w = wide(*w);
    b->c = one(One{b->c}).c + three(Three{{1, 2, (char)k}}).c[0];
}
// ==== cuda/cipher.cu ====
// A table-driven block cipher round: __constant__ byte and word tables, bfe/bfi, rotates (shf), prmt, xor trees.
__constant__ unsigned char sbox[256] = {
    99,  124, 119, 123, 242, 107, 111, 197, 48,  1,   103, 43,  254, 215, 171, 118, 202, 130, 201, 125, 250, 89,
    71,  240, 173, 212, 162, 175, 156, 164, 114, 192, 183, 253, 147, 38,  54,  63,  247, 204, 52,  165, 229, 241,
    113, 216, 49,  21,  4,   199, 35,  195, 24,  150, 5,   154, 7,   18,  128, 226, 235, 39,  178, 117};
__constant__ unsigned round_word[10] = {0x01000000u, 0x02000000u, 0x04000000u, 0x08000000u, 0x10000000u,
                                        0x20000000u, 0x40000000u, 0x80000000u, 0x1b000000u, 0x36000000u};
__device__ unsigned key_schedule[44];

__device__ unsigned rotl(unsigned x, int k) { return x << k | x >> (32 - k); }

__device__ unsigned substitute(unsigned x)
{
    return sbox[x & 255] | sbox[x >> 8 & 255] << 8 | sbox[x >> 16 & 255] << 16 | (unsigned)sbox[x >> 24] << 24;
}

__device__ unsigned mix(unsigned x)
{
    unsigned twice = (x & 0x7f7f7f7fu) << 1 ^ ((x & 0x80808080u) >> 7) * 0x1b;
    return twice ^ rotl(x ^ twice, 8) ^ rotl(x, 16) ^ rotl(x, 24);
}

extern "C" __global__ void expand_key(const uint4 *key)
{
    unsigned *w = key_schedule;
    w[0] = key->x;
    w[1] = key->y;
    w[2] = key->z;
    w[3] = key->w;
    for (int i = 4; i < 44; i++) {
        unsigned t = w[i - 1];
        if (i % 4 == 0)
            t = substitute(rotl(t, 8)) ^ round_word[i / 4 - 1];
        w[i] = w[i - 4] ^ t;
    }
}

extern "C" __global__ void encrypt(const uint4 *in, uint4 *out, int n)
{
    __shared__ unsigned key[44];
    if (threadIdx.x < 44)
        key[threadIdx.x] = key_schedule[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint4 s = in[i];
    for (int r = 0; r < 10; r++) {
        s.x ^= key[4 * r];
        s.y ^= key[4 * r + 1];
        s.z ^= key[4 * r + 2];
        s.w ^= key[4 * r + 3];
        unsigned a = substitute(s.x & 0xffu | s.y & 0xff00u | s.z & 0xff0000u | s.w & 0xff000000u);
        unsigned b = substitute(s.y & 0xffu | s.z & 0xff00u | s.w & 0xff0000u | s.x & 0xff000000u);
        unsigned c = substitute(s.z & 0xffu | s.w & 0xff00u | s.x & 0xff0000u | s.y & 0xff000000u);
        unsigned d = substitute(s.w & 0xffu | s.x & 0xff00u | s.y & 0xff0000u | s.z & 0xff000000u);
        s = r < 9 ? make_uint4(mix(a), mix(b), mix(c), mix(d)) : make_uint4(a, b, c, d);
    }
    s.x ^= key[40];
    s.y ^= key[41];
    s.z ^= key[42];
    s.w ^= key[43];
    out[i] = s;
}
// ==== cuda/clusters.cu ====
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
// ==== cuda/constants.cu ====
// Initialised variables: __constant__/__device__ tables, structs, strings, pointers to other variables and to functions.
// KEEP: 75 90
struct Node {
    const char *name;
    const Node *next;
    double weight;
    short tags[3];
    bool leaf;
};

__device__ const char text[] = "heddle\n\t\"quoted\" \\ \x01\xff";
__device__ float matrix[3][4] = {{1, 2, 3, 4}, {0.5f, -0.25f, 1e30f}, {__builtin_inff(), -0.0f, 1e-40f, 3.14159274f}};
__device__ long long big[4] = {-1, 0x7fffffffffffffffLL, -0x7fffffffffffffffLL - 1, 42};
__constant__ unsigned char bytes[300] = {1, 2, 3, 255};
__constant__ double coefficient = 0.1;
extern __device__ const Node tail;
__device__ const Node head = {text + 2, &tail, 1.5, {1, -2, 3}, false};
__device__ const Node tail = {text, nullptr, -2.25, {7}, true};
__device__ const Node *list[3] = {&head, &tail, nullptr};
__constant__ int *where = nullptr;
__device__ int target[16] = {9};
__device__ int *const inside = target + 5;
__device__ unsigned long long uninitialised[64];
__device__ __align__(64) int aligned = 7;

__device__ int plus(int a, int b) { return a + b; }
__device__ int times(int a, int b) { return a * b; }
typedef int (*Op)(int, int);
__device__ Op table[2] = {plus, times};
__constant__ Op fixed[2] = {times, plus};

union Bits {
    float f;
    unsigned u;
};
__device__ Bits bits = {1.0f};
struct Empty {};
__device__ Empty nothing;
__device__ volatile int noisy = 1;
__device__ bool flags[5] = {true, false, true};
__device__ char16_t wide[] = u"ab";

extern "C" __global__ void walk(double *o, int i)
{
    double sum = coefficient + matrix[i % 3][i & 3] + bytes[i] + big[i & 3];
    for (const Node *n = list[i & 1]; n; n = n->next)
        sum += n->weight * n->tags[i % 3] + n->name[0] + n->leaf;
    sum += table[i & 1](i, 3) + fixed[i & 1](i, 4);
    sum += *inside + (where ? *where : 0) + uninitialised[i] + aligned + bits.u + noisy + flags[i % 5] + wide[i & 1];
    *o = sum;
    noisy = i;
    nothing = Empty{};
}
// ==== cuda/control_flow.cu ====
// Control flow: deep loop nests, breaks and continues across levels, goto, irreducible loops, divergent barriers, early exits.
extern "C" __global__ void nest(int *o, int a, int b, int c, int d)
{
    int s = 0;
    for (int i = 0; i < a; i++) {
        if (i % 7 == 3)
            continue;
        for (int j = i; j < b; j += 2) {
            for (int k = b; k > 0; k /= 2) {
                int m = k;
                while (m != 1) {
                    m = m & 1 ? 3 * m + 1 : m / 2;
                    if (++s > 100000)
                        goto out;
                }
                if ((s & 1023) == 77)
                    break;
                do {
                    s += o[m & 63];
                } while (++m < c);
            }
            if (s == d)
                return;
        }
    }
out:
    o[threadIdx.x] = s;
}

extern "C" __global__ void irreducible(int *o, int n)
{
    int i = 0, s = 0;
    if (n & 1)
        goto middle;
top:
    s += o[i];
    if (s > 1000)
        goto end;
middle:
    s ^= o[i + 1];
    i += 2;
    if (i < n)
        goto top;
    if (s & 1) {
        i = 1;
        s++;
        goto middle;
    }
end:
    o[0] = s;
}

extern "C" __global__ void divergent(int *o, const int *in)
{
    int v = in[threadIdx.x];
    if (v & 1) {
        if (v & 2)
            o[0] = v;
        else if (v & 4)
            o[1] = v;
        __syncwarp();
    } else {
        if (v > 10 && (v < 20 || in[v] > 3) && !(in[v + 1] == 5))
            return;
        o[2] = v > 0 ? v < 100 ? v : 100 : 0;
    }
    o[3] = __shfl_sync(~0u, v, 0);
}

extern "C" __global__ void named_barriers(float *x)
{
    __shared__ float s[128];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = x[threadIdx.x];
        asm volatile("bar.arrive 1, 128;" ::: "memory");
        asm volatile("barrier.sync 2, 128;" ::: "memory");
        x[threadIdx.x] = s[threadIdx.x + 64];
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        s[threadIdx.x] = s[threadIdx.x - 64] * 2;
        asm volatile("barrier.arrive 2, 128;" ::: "memory");
    }
    int r;
    asm volatile("{ .reg .pred p, q; setp.gt.f32 p, %1, 0f00000000; barrier.red.or.pred q, 3, p; selp.s32 %0, 1, 0, q; }" : "=r"(r) : "f"(x[0]) : "memory");
    asm volatile("{ .reg .pred p; setp.gt.f32 p, %1, 0f00000000; barrier.red.popc.aligned.u32 %0, 4, 128, p; }" : "=r"(r) : "f"(x[r]) : "memory");
    x[1] = r;
    asm volatile("barrier.cta.sync.aligned %0;" ::"r"(r & 7) : "memory");
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
// ==== cuda/conversions.cu ====
// cvt between all integer and floating types: widths, signs, rounding (rni/rzi/rmi/rpi, rn/rz/rm/rp), bit casts.
// KEEP: 75 100
template <typename S, typename D>
__device__ void cast(const void *in, void *out, int k)
{
    ((D *)out)[k] = (D)((const S *)in)[threadIdx.x];
}

template <typename S>
__device__ void from(const void *in, char *out)
{
    cast<S, signed char>(in, out, 0);
    cast<S, unsigned char>(in, out + 64, 0);
    cast<S, short>(in, out + 128, 0);
    cast<S, unsigned short>(in, out + 192, 0);
    cast<S, int>(in, out + 256, 0);
    cast<S, unsigned>(in, out + 320, 0);
    cast<S, long long>(in, out + 384, 0);
    cast<S, unsigned long long>(in, out + 448, 0);
    cast<S, float>(in, out + 512, 0);
    cast<S, double>(in, out + 576, 0);
    cast<S, bool>(in, out + 640, 0);
}

extern "C" __global__ void all_types(const void *in, char *out)
{
    from<signed char>(in, out);
    from<unsigned char>(in, out + 1024);
    from<short>(in, out + 2048);
    from<unsigned short>(in, out + 3072);
    from<int>(in, out + 4096);
    from<unsigned>(in, out + 5120);
    from<long long>(in, out + 6144);
    from<unsigned long long>(in, out + 7168);
    from<float>(in, out + 8192);
    from<double>(in, out + 9216);
    from<bool>(in, out + 10240);
}

#define ROUNDS(f, i) o[i] = f##_rn(x), o[i + 1] = f##_rz(x), o[i + 2] = f##_ru(x), o[i + 3] = f##_rd(x)
extern "C" __global__ void to_integers(const float *a, const double *d, long long *o)
{
    {
        float x = a[threadIdx.x];
        ROUNDS(__float2int, 0);
        ROUNDS(__float2uint, 4);
        ROUNDS(__float2ll, 8);
        ROUNDS(__float2ull, 12);
        o[32] = __float_as_int(x);
        o[33] = __float_as_uint(x);
        o[34] = lrintf(x);
        o[35] = llroundf(x);
    }
    {
        double x = d[threadIdx.x];
        ROUNDS(__double2int, 16);
        ROUNDS(__double2uint, 20);
        ROUNDS(__double2ll, 24);
        ROUNDS(__double2ull, 28);
        o[36] = lrint(x);
        o[37] = llround(x);
    }
}

extern "C" __global__ void to_floats(const int *a, const long long *b, float *o, double *p)
{
    {
        int x = a[threadIdx.x];
        ROUNDS(__int2float, 0);
        ROUNDS(__uint2float, 4);
        p[0] = __int2double_rn(x);
        p[1] = __uint2double_rn(x);
        o[20] = __int_as_float(x);
    }
    {
        long long x = b[threadIdx.x];
        ROUNDS(__ll2float, 8);
        ROUNDS(__ull2float, 12);
        p[2] = __ll2double_rn(x), p[3] = __ll2double_rz(x), p[4] = __ll2double_ru(x), p[5] = __ll2double_rd(x);
        p[6] = __ull2double_rn(x), p[7] = __ull2double_rz(x), p[8] = __ull2double_ru(x), p[9] = __ull2double_rd(x);
        double x2 = __longlong_as_double(x);
        o[16] = __double2float_rn(x2), o[17] = __double2float_rz(x2), o[18] = __double2float_ru(x2),
        o[19] = __double2float_rd(x2);
    }
}
// ==== cuda/cub_block.cu ====
// CUB warp- and block-level collectives: reduce, scan, radix sort, histogram, exchange, load/store with several policies.
// KEEP: 75
#include <cub/cub.cuh>

extern "C" __global__ void collectives(const int *in, int *out)
{
    using Reduce = cub::BlockReduce<int, 128>;
    using Scan = cub::BlockScan<int, 128>;
    using WarpReduce = cub::WarpReduce<float>;
    using WarpScan = cub::WarpScan<int>;
    __shared__ union {
        Reduce::TempStorage reduce;
        Scan::TempStorage scan;
        WarpReduce::TempStorage warp[4];
        WarpScan::TempStorage warp_scan[4];
    } temp;
    int v = in[threadIdx.x];
    int sum = Reduce(temp.reduce).Sum(v);
    __syncthreads();
    int before, total;
    Scan(temp.scan).ExclusiveSum(v, before, total);
    __syncthreads();
    float w = WarpReduce(temp.warp[threadIdx.x / 32]).Sum((float)v);
    __syncthreads();
    int inclusive;
    WarpScan(temp.warp_scan[threadIdx.x / 32]).InclusiveSum(v, inclusive);
    out[threadIdx.x] = sum + before + total + (int)w + inclusive;
}

extern "C" __global__ void sort(const unsigned *in, unsigned *out)
{
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
    using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        Load::TempStorage load;
        Sort::TempStorage sort;
        Store::TempStorage store;
    } temp;
    unsigned item[4];
    Load(temp.load).Load(in + blockIdx.x * 512, item);
    __syncthreads();
    Sort(temp.sort).Sort(item);
    __syncthreads();
    Store(temp.store).Store(out + blockIdx.x * 512, item);
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins)
{
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>;
    __shared__ Histogram::TempStorage temp;
    __shared__ unsigned local[256];
    unsigned char item[4];
    cub::LoadDirectStriped<128>(threadIdx.x, in + blockIdx.x * 512, item);
    Histogram(temp).Histogram(item, local);
    __syncthreads();
    bins[threadIdx.x] += local[threadIdx.x] + local[threadIdx.x + 128];
}

extern "C" __global__ void merge(int *keys, short *values)
{
    using Merge = cub::WarpMergeSort<int, 2, 32, short>;
    __shared__ Merge::TempStorage temp;
    int k[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
    short v[2] = {values[threadIdx.x * 2], values[threadIdx.x * 2 + 1]};
    Merge(temp).Sort(k, v, [](int a, int b) { return a > b; });
    keys[threadIdx.x * 2] = k[0];
    values[threadIdx.x * 2 + 1] = v[1];
}
// ==== cuda/cub_device.cu ====
// CUB device-wide algorithms, reduce and scan: decoupled look-back kernels, policies, many template instances.
// KEEP: 90
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

void run(void *temp, size_t bytes, const int *in, int *out, const float *f, float *g, int n)
{
    cub::DeviceReduce::Sum(temp, bytes, in, out, n);
    cub::DeviceReduce::ArgMin(temp, bytes, f, g, out, n);
    cub::DeviceScan::ExclusiveSum(temp, bytes, in, out, n);
    cub::DeviceSelect::Flagged(temp, bytes, f, in, g, out, n);
}
// ==== cuda/cub_one_scan.cu ====
// One CUB device-wide scan: a single decoupled look-back kernel with its policies.
// KEEP: 80
#include <cub/device/device_scan.cuh>

void run(void *temp, size_t bytes, const int *in, int *out, int n)
{
    cub::DeviceScan::InclusiveSum(temp, bytes, in, out, n);
}
// ==== cuda/cub_radix.cu ====
// CUB device-wide radix sort: the onesweep kernels for one key type (very large functions).
// KEEP: 100
#include <cub/device/device_radix_sort.cuh>

void run(void *temp, size_t bytes, const unsigned *in, unsigned *out, int n)
{
    cub::DeviceRadixSort::SortKeys(temp, bytes, in, out, n);
}
// ==== cuda/cuda_std.cu ====
// cuda::std types in device code: complex, optional, variant, tuple, array, span, bit, mdspan, chrono, charconv-like loops.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/mdspan>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/variant>

namespace cs = cuda::std;

extern "C" __global__ void complexes(cs::complex<float> *f, cs::complex<double> *d)
{
    int t = threadIdx.x;
    f[t] = f[t] * f[t + 1] + f[t] / f[t + 2];
    d[t] = d[t] * d[t + 1] - cs::conj(d[t + 2]);
    f[t + 3].real(cs::abs(f[t]));
}

__device__ __noinline__ cs::optional<int> find(cs::span<const int> s, int v)
{
    for (size_t i = 0; i < s.size(); i++)
        if (s[i] == v)
            return (int)i;
    return cs::nullopt;
}

using Shape = cs::variant<int, float, double>;
__device__ __noinline__ double value(const Shape &s)
{
    return cs::visit([](auto x) { return (double)x * 2; }, s);
}

extern "C" __global__ void types(const int *p, int n, double *o)
{
    auto at = find({p, (size_t)n}, 7);
    Shape s = at ? Shape(*at) : Shape(2.5f);
    if (n > 5)
        s = 1.25;
    o[0] = value(s);
    cs::array<int, 4> a = {p[0], p[1], p[2], p[3]};
    auto [x, y] = cs::make_tuple(a[n & 3], cs::popcount((unsigned)a[1]));
    o[1] = x + y + cs::countl_zero((unsigned)a[2]) + cs::bit_ceil((unsigned)a[3]) + cs::rotl((unsigned)a[0], 3);
    cs::mdspan<double, cs::extents<int, cs::dynamic_extent, 8>> m(o + 8, n);
    for (int i = 0; i < m.extent(0); i++)
        for (int j = 0; j < m.extent(1); j++)
            m(i, j) = i * j;
    o[2] = cs::bit_cast<long long>(o[3]) + cs::hypot(o[4], o[5]);
    auto begin = cs::chrono::system_clock::now();
    o[3] = (double)begin.time_since_epoch().count();
}
// ==== cuda/curand_device.cu ====
// cuRAND device generators: XORWOW, MRG32k3a, Philox, Sobol; uniform, normal, log-normal and Poisson; skip-ahead tables.
// KEEP: 80
#include <curand_kernel.h>

extern "C" __global__ void xorwow(curandStateXORWOW_t *s, float *f, double *d, int n)
{
    curandStateXORWOW_t r = s[threadIdx.x];
    float sum = 0;
    for (int i = 0; i < n; i++)
        sum += curand_uniform(&r) + curand_normal(&r) + curand_log_normal(&r, 0.0f, 1.0f);
    f[threadIdx.x] = sum + curand(&r);
    d[threadIdx.x] = curand_uniform_double(&r) + curand_normal_double(&r);
    s[threadIdx.x] = r;
}

extern "C" __global__ void philox(unsigned long long seed, float4 *f, uint4 *u)
{
    curandStatePhilox4_32_10_t r;
    curand_init(seed, threadIdx.x, 0, &r);
    u[threadIdx.x] = curand4(&r);
    f[threadIdx.x] = curand_normal4(&r);
    f[threadIdx.x + 32] = curand_uniform4(&r);
}

extern "C" __global__ void mrg(curandStateMRG32k3a_t *s, double *d)
{
    curandStateMRG32k3a_t r = s[threadIdx.x];
    d[threadIdx.x] = curand_uniform_double(&r) + curand(&r);
    s[threadIdx.x] = r;
}

extern "C" __global__ void sobol(curandStateSobol32_t *s, float *f)
{
    f[threadIdx.x] = curand_uniform(&s[threadIdx.x]);
    f[threadIdx.x + 32] = curand_normal(&s[threadIdx.x]);
}

extern "C" __global__ void seed(curandStateXORWOW_t *s, unsigned long long k) { curand_init(k, threadIdx.x, 0, &s[threadIdx.x]); }
// ==== cuda/debug_info.cu ====
// Debug builds: -G (.section .debug_*, unoptimised code), -lineinfo (.loc with inlined_at), and --source-in-ptx.
// VARIANT: full -G
// VARIANT: lines -lineinfo
// VARIANT: source -lineinfo --source-in-ptx
// KEEP: 75 full=no lines=80 source=90
struct Point {
    float x, y;
    __device__ float dot(const Point &o) const { return x * o.x + y * o.y; }
};

__device__ Point origin = {1, 2};

__device__ inline float inner(const Point &p, int k)
{
    float s = 0;
    for (int i = 0; i < k; i++)
        s += p.dot(origin) * i;
    return s;
}

__device__ __noinline__ float outer(Point p, int k) { return inner(p, k) + inner(Point{p.y, p.x}, k + 1); }

extern "C" __global__ void kernel(const Point *in, float *out, int n)
{
    __shared__ float total;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (i < n) {
        float v = outer(in[i], 3);
        switch (i & 3) {
        case 0: v += 1; break;
        case 1: v *= 2; break;
        case 2: v = -v; break;
        default: v = sqrtf(v);
        }
        atomicAdd(&total, v);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}
// ==== cuda/dependent_launch.cu ====
// Programmatic dependent launch: griddepcontrol.wait and launch_dependents, also through the runtime's device functions.
// ARCH: 90 100
extern "C" __global__ void producer(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i * 0.5f;
    cudaTriggerProgrammaticLaunchCompletion();
}

extern "C" __global__ void consumer(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float bias = i * 2.0f;
    cudaGridDependencySynchronize();
    if (i < n)
        out[i] = in[i] + bias;
}

extern "C" __global__ void both(float *data)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    data[threadIdx.x] += 1;
    asm volatile("griddepcontrol.launch_dependents;");
}
// ==== cuda/dot_products.cu ====
// dp4a and dp2a in every signedness, with and without accumulation chains.
extern "C" __global__ void dots(const int *a, const int *b, int *o)
{
    int t = threadIdx.x, x = a[t], y = b[t];
    unsigned ux = x, uy = y;
    o += t * 16;
    o[0] = __dp4a(x, y, 1);
    o[1] = __dp4a(ux, uy, 1u);
    o[2] = __dp2a_lo(x, y, 2);
    o[3] = __dp2a_hi(x, y, 2);
    o[4] = __dp2a_lo(ux, uy, 2u);
    o[5] = __dp2a_hi(ux, uy, 2u);
    char4 c = *(char4 *)&x, d = *(char4 *)&y;
    o[6] = __dp4a(c, d, o[0]);
    uchar4 uc = *(uchar4 *)&x, ud = *(uchar4 *)&y;
    o[7] = __dp4a(uc, ud, (unsigned)o[1]);
    short2 s = *(short2 *)&x;
    o[8] = __dp2a_lo(s, d, o[2]);
    int m;
    asm("dp4a.s32.u32 %0, %1, %2, %3;" : "=r"(m) : "r"(x), "r"(uy), "r"(3));
    o[9] = m;
    asm("dp2a.hi.u32.s32 %0, %1, %2, %3;" : "=r"(m) : "r"(ux), "r"(y), "r"(-3));
    o[10] = m;
}

extern "C" __global__ void conv1d(const char4 *in, const char4 *kernel, int *out, int taps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i + taps > n)
        return;
#pragma unroll 8
    for (int k = 0; k < taps; k++)
        sum = __dp4a(in[i + k], kernel[k], sum);
    out[i] = sum;
}
// ==== cuda/double_rounding.cu ====
// fp64 rounding-mode intrinsics, comparisons, bit access (mov.b64 {lo,hi}) and special constants in hex floats.
// KEEP: 80
#define FOUR(f, i, ...) o[i] = f##_rn(__VA_ARGS__), o[i + 1] = f##_rz(__VA_ARGS__), o[i + 2] = f##_ru(__VA_ARGS__), o[i + 3] = f##_rd(__VA_ARGS__)
extern "C" __global__ void rounded(const double *a, const double *b, const double *c, double *o)
{
    int t = threadIdx.x;
    double x = a[t], y = b[t], z = c[t];
    o += t * 64;
    FOUR(__dadd, 0, x, y);
    FOUR(__dsub, 4, x, y);
    FOUR(__dmul, 8, x, y);
    FOUR(__fma, 12, x, y, z);
    FOUR(__ddiv, 16, x, y);
    FOUR(__drcp, 20, x);
    FOUR(__dsqrt, 24, x);
    o[28] = rsqrt(x);
    o[29] = x / y;
    o[30] = sqrt(x);
    o[31] = fabs(x);
    o[32] = fmin(x, y);
    o[33] = fmax(x, y);
    o[34] = floor(x);
    o[35] = ceil(x);
    o[36] = trunc(x);
    o[37] = rint(x);
    o[38] = round(x);
    o[39] = copysign(x, y);
    o[40] = __hiloint2double(__double2loint(x), __double2hiint(y));
    o[41] = __longlong_as_double(__double_as_longlong(x) ^ 1);
    o[42] = isnan(x) ? 1e308 : isinf(y) ? -0.0 : 4.9e-324;
    o[43] = x <= y ? x : -y;
    o[44] = 0.1;
    o[45] = 1.0 / 0.0;
    o[46] = __longlong_as_double(0x7ff8000000000000ll);
    o[47] = ldexp(x, 3);
    int e;
    o[48] = frexp(x, &e) + e;
    o[49] = modf(x, &o[50]);
    o[51] = logb(x) + ilogb(y);
    o[52] = nextafter(x, y);
    o[53] = signbit(x);
}
// ==== cuda/dynamic_parallelism.cu ====
// Dynamic parallelism: child launches through cudaGetParameterBuffer/cudaLaunchDevice, tail and fire-and-forget streams.
// KEEP: 75 90
// FLAGS: -rdc=true
__global__ void child(int *data, int depth);

__global__ void quicksort(int *data, int lo, int hi)
{
    if (hi - lo < 2)
        return;
    int pivot = data[(lo + hi) / 2], i = lo, j = hi - 1;
    while (i <= j) {
        while (data[i] < pivot)
            i++;
        while (data[j] > pivot)
            j--;
        if (i <= j) {
            int t = data[i];
            data[i++] = data[j];
            data[j--] = t;
        }
    }
    quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, lo, j + 1);
    quicksort<<<1, 1, 0, cudaStreamTailLaunch>>>(data, i, hi);
}

__global__ void child(int *data, int depth)
{
    data[threadIdx.x] += depth;
    if (depth > 0 && threadIdx.x == 0)
        child<<<dim3(1, 1, 1), dim3(32, 1, 1), 128>>>(data, depth - 1);
}

extern "C" __global__ void parent(int *data)
{
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    child<<<1, 32, 0, s>>>(data, 3);
    data[40] = cudaGetLastError();
    cudaMemcpyAsync(data + 64, data, 128, cudaMemcpyDeviceToDevice, s);
    cudaStreamDestroy(s);
}
// ==== cuda/float_rounding.cu ====
// fp32 rounding-mode intrinsics, approximate functions and saturation; built plain, fast and with single options.
// KEEP: 75 100 ftz=90 fast=80 nofma=75
// VARIANT: ftz -ftz=true
// VARIANT: fast -use_fast_math
// VARIANT: nofma -fmad=false -prec-div=false -prec-sqrt=false
#define FOUR(f, i, ...) o[i] = f##_rn(__VA_ARGS__), o[i + 1] = f##_rz(__VA_ARGS__), o[i + 2] = f##_ru(__VA_ARGS__), o[i + 3] = f##_rd(__VA_ARGS__)
extern "C" __global__ void rounded(const float *a, const float *b, const float *c, float *o)
{
    int t = threadIdx.x;
    float x = a[t], y = b[t], z = c[t];
    o += t * 64;
    FOUR(__fadd, 0, x, y);
    FOUR(__fsub, 4, x, y);
    FOUR(__fmul, 8, x, y);
    FOUR(__fmaf, 12, x, y, z);
    FOUR(__fdiv, 16, x, y);
    FOUR(__frcp, 20, x);
    FOUR(__fsqrt, 24, x);
    o[28] = __frsqrt_rn(x);
    o[29] = __saturatef(x);
    o[30] = __fdividef(x, y);
    o[31] = __expf(x);
    o[32] = __exp10f(x);
    o[33] = __logf(x);
    o[34] = __log2f(x);
    o[35] = __log10f(x);
    o[36] = __sinf(x);
    o[37] = __cosf(x);
    o[38] = __tanf(x);
    o[39] = __powf(x, y);
    __sincosf(x, &o[40], &o[41]);
    o[42] = fmaf(x, y, -z);
    o[43] = __saturatef(x + y);
    o[44] = __saturatef(x * y + z);
    FOUR(__fmaf_ieee, 45, x, y, z);
    o[49] = __tanhf(x);
}

extern "C" __global__ void plain(const float *a, const float *b, float *o)
{
    int t = threadIdx.x;
    float x = a[t], y = b[t];
    o += t * 32;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x / y;
    o[4] = 1.0f / y;
    o[5] = sqrtf(x);
    o[6] = rsqrtf(x);
    o[7] = fabsf(x);
    o[8] = -x;
    o[9] = fminf(x, y);
    o[10] = fmaxf(x, y);
    o[11] = floorf(x);
    o[12] = ceilf(x);
    o[13] = truncf(x);
    o[14] = rintf(x);
    o[15] = roundf(x);
    o[16] = copysignf(x, y);
    o[17] = x < y;
    o[18] = isnan(x);
    o[19] = isinf(x);
    o[20] = isfinite(x);
    o[21] = signbit(x);
    o[22] = x * y + 1.0f;
    o[23] = exp2f(x);
    o[24] = !(x >= y) ? 1.0f : 2.0f;
    o[25] = x != y ? x : 0.0f;
    o[26] = fdimf(x, y);
    o[27] = nearbyintf(x);
}
// ==== cuda/fractal.cu ====
// Mandelbrot and Julia sets: data-dependent loop exits, fp64 and fixed-point 64-bit arithmetic, mul.wide, log2.
extern "C" __global__ void mandelbrot(unsigned char *out, int w, int h, double x0, double y0, double step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    double cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0;
    int i = 0;
    while (x * x + y * y <= 4.0 && i < limit) {
        double t = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = t;
        i++;
    }
    out[py * w + px] = i == limit ? 0 : 1 + i % 255;
}

extern "C" __global__ void mandelbrot_fixed(unsigned short *out, int w, int h, int x0, int y0, int step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    int cx = x0 + px * step, cy = y0 + py * step, x = 0, y = 0, i;
    for (i = 0; i < limit; i++) {
        long long xx = (long long)x * x >> 28, yy = (long long)y * y >> 28;
        if (xx + yy > (4LL << 28))
            break;
        int t = (int)(xx - yy) + cx;
        y = (int)((long long)x * y >> 27) + cy;
        x = t;
    }
    out[py * w + px] = i;
}

extern "C" __global__ void julia_smooth(float *out, int w, int h, float2 c)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float x = 3.0f * px / w - 1.5f, y = 2.0f * py / h - 1.0f, m;
    int i = 0;
    do {
        float t = x * x - y * y + c.x;
        y = 2 * x * y + c.y;
        x = t;
        m = x * x + y * y;
    } while (m < 256.0f && ++i < 500);
    out[py * w + px] = i - log2f(log2f(m)) + 3.0f;
}
// ==== cuda/geometry.cu ====
// A small ray tracer: structs with operators, recursion turned into loops, constant-memory scene, fast and precise maths.
// VARIANT: fast -use_fast_math
struct V {
    float x, y, z;
};
__device__ V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ V operator-(V a, V b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ V operator*(V a, float k) { return {a.x * k, a.y * k, a.z * k}; }
__device__ float dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ V unit(V a) { return a * rsqrtf(dot(a, a)); }

struct Sphere {
    V centre;
    float radius;
    V colour;
    float mirror;
};
__constant__ Sphere scene[5] = {{{0, 0, 5}, 1, {1, 0, 0}, 0.3f}, {{2, 0, 6}, 1.5f, {0, 1, 0}, 0.1f}, {{-2, 1, 4}, 0.5f, {0, 0, 1}, 0.8f}};
__constant__ int spheres = 3;

__device__ int hit(V from, V dir, float &nearest)
{
    int which = -1;
    for (int i = 0; i < spheres; i++) {
        V c = scene[i].centre - from;
        float b = dot(c, dir), d = b * b - dot(c, c) + scene[i].radius * scene[i].radius;
        if (d < 0)
            continue;
        float t = b - sqrtf(d);
        if (t > 1e-3f && t < nearest) {
            nearest = t;
            which = i;
        }
    }
    return which;
}

extern "C" __global__ void render(uchar4 *out, int w, int h, V light, int bounces)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    V from = {0, 0, 0}, dir = unit({(px - w / 2) / (float)h, (py - h / 2) / (float)h, 1}), colour = {0, 0, 0};
    float weight = 1;
    for (int i = 0; i <= bounces && weight > 0.01f; i++) {
        float t = 1e20f;
        int s = hit(from, dir, t);
        if (s < 0) {
            colour = colour + V{0.2f, 0.3f, 0.5f} * (weight * (0.5f + 0.5f * dir.y));
            break;
        }
        V p = from + dir * t, n = unit(p - scene[s].centre), l = unit(light - p);
        float shade = fmaxf(0.0f, dot(n, l)) + powf(fmaxf(0.0f, dot(unit(l - dir), n)), 32.0f), far = 1e20f;
        if (hit(p, l, far) >= 0)
            shade = 0.1f;
        colour = colour + scene[s].colour * (weight * shade * (1 - scene[s].mirror));
        weight *= scene[s].mirror;
        from = p;
        dir = dir - n * (2 * dot(dir, n));
    }
    out[py * w + px] = make_uchar4(255 * __saturatef(colour.x), 255 * __saturatef(colour.y), 255 * __saturatef(colour.z), 255);
}
// ==== cuda/groups.cu ====
// Cooperative groups: tiles, coalesced and labelled groups, reduce, scan, invoke_one, memcpy_async, multi-warp tiles.
// KEEP: 75 90
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *in, int *out)
{
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(warp);
    auto dynamic = cg::tiled_partition(block, 16);
    int v = in[block.thread_rank()];
    out[0] = warp.shfl(v, 3) + warp.shfl_up(v, 1) + quad.shfl_xor(v, 2) + quad.shfl_down(v, 1);
    out[1] = quad.any(v) + quad.all(v) + quad.ballot(v) + warp.match_any(v);
    out[2] = dynamic.thread_rank() + quad.meta_group_rank() + quad.meta_group_size();
    dynamic.sync();
    quad.sync();
    block.sync();
    int pred;
    out[3] = warp.match_all(v, pred) + pred;
    double d = quad.shfl(v * 0.5, 0);
    out[4] = (int)d;
    cg::invoke_one(warp, [&] { out[5] = v; });
}

extern "C" __global__ void coalesced(int *counter, int *slots, const int *in)
{
    int v = in[threadIdx.x];
    if (v > 3) {
        cg::coalesced_group g = cg::coalesced_threads();
        int base;
        if (g.thread_rank() == 0)
            base = atomicAdd(counter, g.size());
        base = g.shfl(base, 0);
        slots[base + g.thread_rank()] = v;
        auto same = cg::labeled_partition(g, v);
        slots[0] = cg::reduce(same, v, cg::plus<int>());
        auto two = cg::binary_partition(g, v & 1);
        slots[1] = two.size();
        slots[2] = cg::exclusive_scan(g, v);
    }
}

extern "C" __global__ void collectives(const int *in, int *out, float *f)
{
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int v = in[threadIdx.x];
    out[0] = cg::reduce(warp, v, cg::plus<int>());
    out[1] = cg::reduce(warp, v, cg::less<int>());
    out[2] = cg::reduce(warp, (unsigned)v, cg::bit_xor<unsigned>());
    f[0] = cg::reduce(warp, v * 0.5f, cg::greater<float>());
    out[3] = cg::inclusive_scan(warp, v);
    out[4] = cg::exclusive_scan(warp, v, cg::bit_or<int>());
    out[5] = cg::inclusive_scan(warp, v, [](int a, int b) { return a > b ? a : b; });
    cg::reduce_update_async(warp, *(cuda::atomic<int, cuda::thread_scope_device> *)(out + 6), v, cg::plus<int>());
}

extern "C" __global__ void copies(const int *in, int *out)
{
    __shared__ int local[512];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, local, in, sizeof local);
    cg::wait(block);
    out[block.thread_rank()] = local[511 - block.thread_rank()];
    cg::memcpy_async(block, local, in + 512, cuda::aligned_size_t<16>(1024));
    cg::wait_prior<0>(block);
    out[block.thread_rank()] += local[block.thread_rank()];
}

extern "C" __global__ void split_barrier(int *out)
{
    auto block = cg::this_thread_block();
    auto token = block.barrier_arrive();
    out[block.thread_index().x] = block.group_dim().x + block.dim_threads().y;
    block.barrier_wait(std::move(token));
}

extern "C" __global__ void whole_grid(int *data)
{
    auto grid = cg::this_grid();
    for (int i = 0; i < 3; i++) {
        data[grid.thread_rank()] = data[grid.size() - 1 - grid.thread_rank()] + i;
        grid.sync();
    }
    data[0] = grid.num_blocks() + grid.block_rank();
}
// ==== cuda/half.cu ====
// cuda_fp16.h: scalar and packed arithmetic, comparisons, fma.relu, conversions in all roundings, ex2/tanh approx, atomics.
// KEEP: 75 100
#include <cuda_fp16.h>

extern "C" __global__ void scalar(const __half *a, const __half *b, __half *o, int *p)
{
    int t = threadIdx.x;
    __half x = a[t], y = b[t];
    o += t * 48;
    o[0] = __hadd(x, y);
    o[1] = __hsub(x, y);
    o[2] = __hmul(x, y);
    o[3] = __hdiv(x, y);
    o[4] = __hfma(x, y, o[0]);
    o[5] = __hadd_sat(x, y);
    o[6] = __hmul_sat(x, y);
    o[7] = __hfma_sat(x, y, o[0]);
    o[8] = __hneg(x);
    o[9] = __habs(x);
    o[10] = hsqrt(x);
    o[11] = hrsqrt(x);
    o[12] = hrcp(x);
    o[13] = hexp(x);
    o[14] = hexp2(x);
    o[15] = hlog(x);
    o[16] = hsin(x);
    o[17] = hfloor(x);
    o[18] = hceil(x);
    o[19] = hrint(x);
    o[20] = htrunc(x);
    o[21] = __hmin(x, y);
    o[22] = __hmax(x, y);
    o[23] = __hmax_nan(x, y);
    o[24] = __hfma_relu(x, y, o[1]);
    o[25] = htanh_approx(x);
    o[26] = __shfl_xor_sync(~0u, x, 1);
    o[27] = __ldg(&a[t + 1]);
    p[0] = __heq(x, y);
    p[1] = __hltu(x, y);
    p[2] = __hgt(x, y);
    p[3] = __hisnan(x);
    p[4] = __hisinf(x);
    p[5] = __hge(x, y) && __hneu(x, y);
    atomicAdd(o + 28, x);
}

extern "C" __global__ void packed(const __half2 *a, const __half2 *b, __half2 *o, unsigned *m)
{
    int t = threadIdx.x;
    __half2 x = a[t], y = b[t];
    o += t * 32;
    o[0] = __hadd2(x, y);
    o[1] = __hsub2(x, y);
    o[2] = __hmul2(x, y);
    o[3] = __h2div(x, y);
    o[4] = __hfma2(x, y, o[0]);
    o[5] = __hadd2_sat(x, y);
    o[6] = __hneg2(x);
    o[7] = __habs2(x);
    o[8] = __hmin2(x, y);
    o[9] = __hmax2_nan(x, y);
    o[10] = h2exp2(x);
    o[11] = __heq2(x, y);
    o[12] = __hltu2(x, y);
    o[13] = __lows2half2(x, y);
    o[14] = __highs2half2(x, y);
    o[15] = __lowhigh2highlow(x);
    o[16] = __hfma2_relu(x, y, o[1]);
    o[17] = __hcmadd(x, y, o[2]);
    m[0] = __heq2_mask(x, y);
    m[1] = __hgtu2_mask(x, y);
    m[2] = __hbeq2(x, y) + __hbltu2(x, y);
    atomicAdd(o + 18, x);
}

#define ROUNDS(f, i) o[i] = f##_rn(x), o[i + 1] = f##_rz(x), o[i + 2] = f##_ru(x), o[i + 3] = f##_rd(x)
extern "C" __global__ void convert(const float *f, __half *o, long long *q, const double *d)
{
    {
        float x = f[threadIdx.x];
        ROUNDS(__float2half, 0);
        ((__half2 *)o)[20] = __floats2half2_rn(x, -x);
    }
    {
        int x = (int)q[0];
        ROUNDS(__int2half, 4);
        ROUNDS(__uint2half, 8);
        ROUNDS(__short2half, 12);
        ROUNDS(__ushort2half, 16);
    }
    {
        long long x = q[1];
        ROUNDS(__ll2half, 20);
        ROUNDS(__ull2half, 24);
    }
    o[28] = __double2half(d[0]);
    {
        __half x = o[30];
        long long *o = q + 2;
        ROUNDS(__half2int, 0);
        ROUNDS(__half2uint, 4);
        ROUNDS(__half2short, 8);
        ROUNDS(__half2ll, 12);
        ROUNDS(__half2ull, 16);
        o[20] = __half2float(x) > 1;
        o[21] = __half_as_short(x);
        o[22] = __half2char_rz(x);
    }
}

extern "C" __global__ void hgemv(const __half2 *m, const __half2 *v, __half *out, int n)
{
    __half2 s = __float2half2_rn(0.0f);
    for (int i = threadIdx.x; i < n; i += 32)
        s = __hfma2(m[blockIdx.x * n + i], v[i], s);
    __half r = __low2half(s) + __high2half(s);
    for (int d = 16; d; d /= 2)
        r += __shfl_down_sync(~0u, r, d);
    if (threadIdx.x == 0)
        out[blockIdx.x] = r;
}
// ==== cuda/hashtable.cu ====
// Open-addressing hash table with 32-, 64- and 16-bit compare-and-swap: atom.cas, atom.exch, probing loops.
struct Slot {
    unsigned key, value;
};
constexpr unsigned EMPTY = 0xffffffffu;

__device__ unsigned hash(unsigned k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    return k ^ k >> 16;
}

extern "C" __global__ void insert(Slot *table, unsigned mask, const unsigned *keys, const unsigned *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (unsigned at = hash(keys[i]);; at++) {
        Slot *s = &table[at & mask];
        unsigned old = atomicCAS(&s->key, EMPTY, keys[i]);
        if (old == EMPTY || old == keys[i]) {
            atomicExch(&s->value, values[i]);
            return;
        }
    }
}

extern "C" __global__ void insert_packed(unsigned long long *table, unsigned mask, const unsigned *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long want = (unsigned long long)keys[i] << 32 | i;
    unsigned at = hash(keys[i]) & mask;
    while (true) {
        unsigned long long old = atomicCAS(&table[at], ~0ull, want);
        if (old == ~0ull || old >> 32 == keys[i])
            break;
        at = (at + 1) & mask;
    }
}

extern "C" __global__ void insert_small(unsigned short *table, unsigned mask, const unsigned short *keys, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned at = keys[i] & mask;
    while (atomicCAS(&table[at], (unsigned short)0, keys[i]) != 0)
        at = (at + 1) & mask;
}

extern "C" __global__ void lookup(const Slot *table, unsigned mask, const unsigned *keys, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned found = EMPTY;
    for (unsigned at = hash(keys[i]); table[at & mask].key != EMPTY; at++)
        if (table[at & mask].key == keys[i]) {
            found = table[at & mask].value;
            break;
        }
    out[i] = found;
}
// ==== cuda/histogram.cu ====
// Histogram with private shared bins: atom.shared.add / red.global.add, byte extraction, v4 loads.
extern "C" __global__ void histogram256(const uchar4 *in, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uchar4 c = in[i];
        atomicAdd(&local[c.x], 1u);
        atomicAdd(&local[c.y], 1u);
        atomicAdd(&local[c.z], 1u);
        atomicAdd(&local[c.w], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (local[i])
            atomicAdd(&bins[i], local[i]);
}

extern "C" __global__ void histogram_float(const float *in, unsigned long long *bins, float lo, float width, int count, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int b = __float2int_rd((in[i] - lo) / width);
    b = min(max(b, 0), count - 1);
    atomicAdd(&bins[b], 1ull);
}
// ==== cuda/inline_asm.cu ====
// Inline asm of many operand kinds: 8/16/32/64-bit, f32/f64, predicates, immediates, memory clobbers, labels, vectors.
// KEEP: 75 90
extern "C" __global__ void operands(int *o, long long *l, float *f, double *d, short *h)
{
    int a = o[0], b = o[1], r;
    asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    asm volatile("{ .reg .s32 t; mul.lo.s32 t, %1, %1; add.s32 %0, t, %2; }" : "=r"(r) : "r"(r), "n"(42));
    o[2] = r;
    short s;
    asm("add.s16 %0, %1, 5;" : "=h"(s) : "h"(h[0]));
    h[1] = s;
    asm("fma.rn.f32 %0, %1, %1, 0f3F800000;" : "=f"(f[1]) : "f"(f[0]));
    asm("fma.rn.f64 %0, %1, %1, 0d3FF0000000000000;" : "=d"(d[1]) : "d"(d[0]));
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(l[1]) : "r"(a), "r"(b), "l"(l[0]));
    asm("{ .reg .pred p, q; setp.lt.s32 p|q, %1, %2; @p mov.s32 %0, 1; @q mov.s32 %0, 2; @!p bra done_%=; add.s32 %0, %0, %1; done_%=: }"
        : "=r"(r) : "r"(a), "r"(b));
    o[3] = r;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(o[4]), "=r"(o[5]) : "l"(l[0]));
    asm("mov.b64 %0, {%1, %2};" : "=l"(l[2]) : "r"(a), "r"(b));
    asm("mov.b32 %0, {%1, %2};" : "=r"(r) : "h"(h[0]), "h"(s));
    o[6] = r;
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2+8];" : "=r"(o[7]), "=r"(o[8]) : "l"(o) : "memory");
}

extern "C" __global__ void bits(unsigned *o)
{
    unsigned x = o[0], y = o[1], z = o[2], r;
#define OP3(i, text) asm(text " %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z)); o[i] = r;
#define OP2(i, text) asm(text " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); o[i] = r;
#define OP1(i, text) asm(text " %0, %1;" : "=r"(r) : "r"(x)); o[i] = r;
    OP3(3, "bfe.u32") OP3(4, "bfe.s32") OP3(5, "shf.l.wrap.b32") OP3(6, "shf.r.clamp.b32") OP3(7, "prmt.b32")
    OP3(8, "prmt.b32.f4e") OP3(9, "prmt.b32.b4e") OP3(10, "prmt.b32.rc8") OP3(11, "prmt.b32.ecl") OP3(12, "prmt.b32.ecr") OP3(13, "prmt.b32.rc16")
    OP3(14, "mad24.lo.u32") OP3(15, "mad24.hi.s32") OP3(16, "mad.hi.u32") OP3(17, "mad.lo.s32") OP3(18, "sad.u32") OP3(19, "mad.hi.sat.s32")
    OP2(20, "mul24.hi.s32") OP2(21, "add.sat.s32") OP2(22, "sub.sat.s32") OP2(23, "shl.b32") OP2(24, "bmsk.clamp.b32") OP2(25, "bmsk.wrap.b32")
    OP2(26, "szext.clamp.u32") OP2(27, "szext.wrap.s32") 
    OP1(29, "bfind.u32") OP1(30, "bfind.shiftamt.s32") OP1(31, "not.b32") OP1(32, "cnot.b32") OP1(33, "brev.b32") OP1(34, "popc.b32") OP1(35, "clz.b32")
    asm("bfi.b32 %0, %1, %2, 4, 8;" : "=r"(r) : "r"(x), "r"(y));
    o[36] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[37] = r;
    asm("{ .reg .pred p, q; setp.eq.u32 q, %1, 0; lop3.or.b32 %0|p, %1, %2, %3, 0x96, q; @p add.u32 %0, %0, 1; }" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[38] = r;
    asm("fns.b32 %0, %1, %2, 3;" : "=r"(r) : "r"(x), "r"(y));
    o[39] = r;
    asm("{ .reg .pred p; setp.eq.u32 p, %2, 0; setp.ne.and.u32 p, %1, %2, !p; selp.b32 %0, %1, %2, p; }" : "=r"(r) : "r"(x), "r"(y));
    asm("slct.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(z));
    o[40] = r;
    asm("set.lt.and.u32.s32 %0, %1, %2, 1;" : "=r"(r) : "r"(x), "r"(y));
    asm("set.gt.u32.f32 %0, %1, %2;" : "=r"(r) : "f"((float)x), "f"((float)y));
    o[41] = r;
}

extern "C" __global__ void floats(float *f, double *d, unsigned *o)
{
    float x = f[0], y = f[1], r;
    unsigned u;
#define F2(i, text) asm(text " %0, %1, %2;" : "=f"(r) : "f"(x), "f"(y)); f[i] = r;
#define F1(i, text) asm(text " %0, %1;" : "=f"(r) : "f"(x)); f[i] = r;
    F2(2, "add.rz.ftz.sat.f32") F2(3, "sub.f32") F2(4, "mul.rm.f32") F2(5, "div.approx.f32") F2(6, "div.full.ftz.f32") F2(7, "div.rp.f32")
    F2(8, "min.f32") F2(9, "max.ftz.f32") F2(10, "copysign.f32")
    F1(11, "rcp.approx.ftz.f32") F1(12, "rcp.rz.f32") F1(13, "sqrt.approx.f32") F1(14, "sqrt.rp.ftz.f32") F1(15, "rsqrt.approx.f32")
    F1(16, "sin.approx.f32") F1(17, "cos.approx.ftz.f32") F1(18, "lg2.approx.f32") F1(19, "ex2.approx.ftz.f32") F1(20, "tanh.approx.f32")
    F1(21, "abs.ftz.f32") F1(22, "neg.f32") F1(23, "cvt.rni.ftz.f32.f32") F1(24, "cvt.rpi.sat.f32.f32")
#if __CUDA_ARCH__ >= 860
    F2(25, "min.NaN.f32") F2(26, "max.ftz.NaN.xorsign.abs.f32")
#endif
#define TEST(i, k) asm("{ .reg .pred p; testp." #k ".f32 p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "f"(x)); o[i] = u;
    TEST(0, finite) TEST(1, infinite) TEST(2, number) TEST(3, notanumber) TEST(4, normal) TEST(5, subnormal)
    double p = d[0], q;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(q) : "d"(p));
    d[1] = q;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(q) : "d"(p));
    d[2] = q;
    asm("rsqrt.approx.f64 %0, %1;" : "=d"(q) : "d"(p));
    d[3] = q;
#define CMP(i, k) asm("{ .reg .pred p; setp." #k ".ftz.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }" : "=r"(u) : "f"(x), "f"(y)); o[i] = u;
    CMP(6, eq) CMP(7, ne) CMP(8, lt) CMP(9, le) CMP(10, gt) CMP(11, ge) CMP(12, equ) CMP(13, neu) CMP(14, ltu) CMP(15, leu) CMP(16, gtu)
    CMP(17, geu) CMP(18, num) CMP(19, nan)
}

extern "C" __global__ void repeated(float *f, int n)
{
    for (int i = 0; i < n; i++) {
#pragma unroll
        for (int j = 0; j < 5; j++)
            asm volatile("{\n\t.reg .pred p;\n\t.reg .f32 t;\n\tsetp.gt.f32 p, %0, 0f00000000;\n\t@p bra skip_%=;\n\tneg.f32 t, %0;\n\tmov.f32 %0, t;\nskip_%=:\n\t}" : "+f"(f[j]));
#pragma unroll 1
        for (int j = 0; j < 5; j++)
            asm volatile("// a comment in asm\n\tst.global.wt.f32 [%0], %1; /* and another */" ::"l"(f + j), "f"(1.0f) : "memory");
    }
}
// ==== cuda/int128.cu ====
// 128-bit integers and carry chains: add.cc/addc/subc, mad.hi.cc, 128-bit shifts, division through a call, big numbers.
typedef unsigned __int128 u128;
typedef __int128 i128;

extern "C" __global__ void arithmetic(const u128 *a, const u128 *b, u128 *o, int s)
{
    int t = threadIdx.x;
    u128 x = a[t], y = b[t];
    o += t * 16;
    o[0] = x + y;
    o[1] = x - y;
    o[2] = x * y;
    o[3] = x << s;
    o[4] = x >> s;
    o[5] = (i128)x >> s;
    o[6] = x & y;
    o[7] = x | y;
    o[8] = x ^ y;
    o[9] = x < y ? x : y;
    o[10] = -x;
    o[11] = (i128)x < (i128)y;
    o[12] = (u128)(unsigned long long)x * (unsigned long long)y;
}

extern "C" __global__ void division(const u128 *a, const u128 *b, u128 *o)
{
    int t = threadIdx.x;
    o[4 * t] = a[t] / b[t];
    o[4 * t + 1] = a[t] % b[t];
    o[4 * t + 2] = (i128)a[t] / (i128)b[t];
    o[4 * t + 3] = (i128)a[t] % (i128)b[t];
}

extern "C" __global__ void convert(const double *d, u128 *o, double *e)
{
    int t = threadIdx.x;
    o[t] = (u128)d[t];
    e[t] = (double)(i128)o[t];
}

extern "C" __global__ void add256(const unsigned *a, const unsigned *b, unsigned *o)
{
    unsigned r[8];
    asm("add.cc.u32 %0, %8, %16;\n\t"
        "addc.cc.u32 %1, %9, %17;\n\t"
        "addc.cc.u32 %2, %10, %18;\n\t"
        "addc.cc.u32 %3, %11, %19;\n\t"
        "addc.cc.u32 %4, %12, %20;\n\t"
        "addc.cc.u32 %5, %13, %21;\n\t"
        "addc.cc.u32 %6, %14, %22;\n\t"
        "addc.u32 %7, %15, %23;"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]),
          "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]));
    for (int i = 0; i < 8; i++)
        o[i] = r[i];
}

extern "C" __global__ void mul64(const unsigned *a, unsigned *o)
{
    unsigned lo, mid, hi, top;
    asm("mul.lo.u32 %0, %4, %6;\n\t"
        "mul.hi.u32 %1, %4, %6;\n\t"
        "mad.lo.cc.u32 %1, %5, %6, %1;\n\t"
        "madc.hi.u32 %2, %5, %6, 0;\n\t"
        "mad.lo.cc.u32 %1, %4, %7, %1;\n\t"
        "madc.hi.cc.u32 %2, %4, %7, %2;\n\t"
        "addc.u32 %3, 0, 0;\n\t"
        "mad.lo.cc.u32 %2, %5, %7, %2;\n\t"
        "madc.hi.u32 %3, %5, %7, %3;"
        : "=&r"(lo), "=&r"(mid), "=&r"(hi), "=&r"(top)
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    o[0] = lo;
    o[1] = mid;
    o[2] = hi;
    o[3] = top;
    unsigned long long d, e;
    unsigned long long p = a[4], q = a[5];
    asm("sub.cc.u64 %0, %2, %3;\n\tsubc.u64 %1, %3, %2;" : "=&l"(d), "=l"(e) : "l"(p), "l"(q));
    o[4] = (unsigned)d;
    o[5] = (unsigned)e;
}
// ==== cuda/integer_ops.cu ====
// Integer intrinsics: mul24, mul.hi, sad, brev, clz, ffs, popc, prmt, shf, bfe, abs, min/max, div and rem of all widths.
// KEEP: 80 100
extern "C" __global__ void signed32(const int *a, const int *b, int *o)
{
    int t = threadIdx.x, x = a[t], y = b[t];
    o += t * 32;
    o[0] = __mul24(x, y);
    o[1] = __mulhi(x, y);
    o[2] = __sad(x, y, 7);
    o[3] = __clz(x);
    o[4] = __ffs(x);
    o[5] = abs(x);
    o[6] = min(x, y);
    o[7] = max(x, y);
    o[8] = x / y;
    o[9] = x % y;
    o[10] = x >> (y & 31);
    o[11] = x << (y & 31);
    o[12] = __hadd(x, y);
    o[13] = __rhadd(x, y);
    o[14] = x / 7;
    o[15] = x % 10;
    o[16] = -x;
    o[17] = ~x;
    o[18] = x < y ? x ^ y : x & y;
    o[19] = !x;
    o[20] = x & ~y;
    o[21] = (x & y) | (~x & o[0]);
}

extern "C" __global__ void unsigned32(const unsigned *a, const unsigned *b, unsigned *o)
{
    unsigned t = threadIdx.x, x = a[t], y = b[t];
    o += t * 32;
    o[0] = __umul24(x, y);
    o[1] = __umulhi(x, y);
    o[2] = __usad(x, y, 7u);
    o[3] = __brev(x);
    o[4] = __popc(x);
    o[5] = __byte_perm(x, y, 0x5140);
    o[6] = __byte_perm(x, y, o[0]);
    o[7] = __funnelshift_l(x, y, 5);
    o[8] = __funnelshift_r(x, y, o[1]);
    o[9] = __funnelshift_lc(x, y, o[1]);
    o[10] = __funnelshift_rc(x, y, 40);
    o[11] = x / y;
    o[12] = x % y;
    o[13] = x / 1000003u;
    o[14] = umin(x, y);
    o[15] = umax(x, y);
    o[16] = __uhadd(x, y);
    o[17] = __urhadd(x, y);
    o[18] = x >> 3 & 0x1f;
    o[19] = (x & ~0xff0u) | (y & 0xff) << 4;
    o[20] = x < y;
    o[21] = __fns(x, 4, 2);
}

extern "C" __global__ void wide(const long long *a, const unsigned long long *b, long long *o, int s)
{
    int t = threadIdx.x;
    long long x = a[t];
    unsigned long long y = b[t];
    o += t * 32;
    o[0] = x * (long long)y;
    o[1] = __mul64hi(x, (long long)y);
    o[2] = __umul64hi((unsigned long long)x, y);
    o[3] = __clzll(x);
    o[4] = __ffsll(x);
    o[5] = __popcll(y);
    o[6] = __brevll(y);
    o[7] = llabs(x);
    o[8] = x / (long long)(y | 1);
    o[9] = x % (long long)(y | 1);
    o[10] = y / 10;
    o[11] = y % (unsigned long long)(x | 1);
    o[12] = x >> s;
    o[13] = y >> s;
    o[14] = x << s;
    o[15] = llmin(x, (long long)y);
    o[16] = ullmax(x, y);
    o[17] = (long long)(int)x * (int)y;
    o[18] = (unsigned long long)(unsigned)x * (unsigned)y;
    o[19] = (long long)(int)x * (int)y + x;
    o[20] = x == (long long)y ? ~x : -x;
}

extern "C" __global__ void narrow(const short *a, const unsigned char *b, short *o, signed char *p)
{
    int t = threadIdx.x;
    short x = a[t];
    unsigned char y = b[t];
    o[t] = x * y + (x >> 3);
    o[t + 64] = x / (short)(y | 1);
    o[t + 128] = x < (short)y ? x : -x;
    p[t] = (signed char)x - (signed char)y;
    p[t + 64] = y / 3;
    p[t + 128] = (signed char)y >> 2;
    o[t + 192] = (unsigned short)x >> 5;
    o[t + 256] = x & 0x0ff0;
}
// ==== cuda/interpreter.cu ====
// Switch-heavy bytecode interpreter: dense and sparse switches as compare trees and, in one variant, as brx.idx jump tables.
// VARIANT: tables -Xcicc -jump-table-density=1
enum { PUSH, ADD, SUB, MUL, DIV, MOD, AND, OR, XOR, SHL, SHR, NEG, NOT, DUP, SWAP, DROP, JMP, JZ, JNZ, LOAD, STORE, LT, EQ, HALT, ROT, OVER, MIN, MAX };

extern "C" __global__ void run(const int *code, int *memory, int *result, int fuel)
{
    int stack[32], sp = 0, pc = 0;
    int *mem = memory + threadIdx.x * 64;
    while (fuel-- > 0) {
        int op = code[pc++];
        int a = sp > 0 ? stack[(sp - 1) & 31] : 0, b = sp > 1 ? stack[(sp - 2) & 31] : 0;
#define BINARY(e) sp--; stack[(sp - 1) & 31] = (e); break
        switch (op) {
        case PUSH: stack[sp++ & 31] = code[pc++]; break;
        case ADD: BINARY(b + a);
        case SUB: BINARY(b - a);
        case MUL: BINARY(b * a);
        case DIV: BINARY(a ? b / a : 0);
        case MOD: BINARY(a ? b % a : 0);
        case AND: BINARY(b & a);
        case OR: BINARY(b | a);
        case XOR: BINARY(b ^ a);
        case SHL: BINARY(b << (a & 31));
        case SHR: BINARY(b >> (a & 31));
        case LT: BINARY(b < a);
        case EQ: BINARY(b == a);
        case MIN: BINARY(min(a, b));
        case MAX: BINARY(max(a, b));
        case NEG: stack[(sp - 1) & 31] = -a; break;
        case NOT: stack[(sp - 1) & 31] = ~a; break;
        case DUP: stack[sp++ & 31] = a; break;
        case OVER: stack[sp++ & 31] = b; break;
        case SWAP: stack[(sp - 1) & 31] = b; stack[(sp - 2) & 31] = a; break;
        case ROT: { int c = stack[(sp - 3) & 31]; stack[(sp - 3) & 31] = b; stack[(sp - 2) & 31] = a; stack[(sp - 1) & 31] = c; } break;
        case DROP: sp--; break;
        case JMP: pc = code[pc]; break;
        case JZ: sp--; pc = a == 0 ? code[pc] : pc + 1; break;
        case JNZ: sp--; pc = a != 0 ? code[pc] : pc + 1; break;
        case LOAD: stack[(sp - 1) & 31] = mem[a & 63]; break;
        case STORE: sp -= 2; mem[a & 63] = b; break;
        case HALT: result[threadIdx.x] = a; return;
        default: result[threadIdx.x] = -1; return;
        }
    }
    result[threadIdx.x] = stack[0];
}

extern "C" __global__ void sparse_switch(const int *in, int *out)
{
    int r;
    switch (in[threadIdx.x]) {
    case -1000000: r = 1; break;
    case 0: r = 2; break;
    case 7: case 8: case 9: r = in[1]; break;
    case 500: r = in[2] * 3; break;
    case 65536: r = 5; break;
    case 0x7fffffff: r = 6; break;
    default: r = 0;
    }
    out[threadIdx.x] = r;
}

extern "C" __global__ void state_machine(const char *text, int n, int *tokens)
{
    int state = 0, count = 0;
    for (int i = 0; i < n; i++) {
        char c = text[i];
        switch (state) {
        case 0: state = c >= '0' && c <= '9' ? 1 : c == '"' ? 2 : c == '/' ? 4 : c == ' ' ? 0 : 5; break;
        case 1: if (c < '0' || c > '9') { count++; state = 0; } break;
        case 2: state = c == '\\' ? 3 : c == '"' ? (count++, 0) : 2; break;
        case 3: state = 2; break;
        case 4: if (c == '\n') state = 0; break;
        case 5: if (c == ' ') { count++; state = 0; } else if (c == '"') goto quote; break;
        quote: state = 2; break;
        }
    }
    tokens[threadIdx.x] = count;
}
// ==== cuda/launch_bounds.cu ====
// Performance directives: .maxntid, .minnctapersm, .maxnreg, .reqntid, .maxclusterrank, .reqnctapercluster, big parameters.
// KEEP: 75 90
// ARCH: 75 80 90 100
struct Params {
    float matrix[4][4];
    int counts[3];
    char name[13];
    const float *data;
};

extern "C" __global__ void __launch_bounds__(256) bound1(float *x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void __launch_bounds__(128, 4) bound2(float *x) { x[threadIdx.x] *= 3; }
extern "C" __global__ void __maxnreg__(32) registers(float *x) { x[threadIdx.x] *= 4; }
extern "C" __global__ void by_value(Params p, char c, short s, double d, float3 v, bool b, float *x)
{
    x[c] = p.matrix[s & 3][threadIdx.x & 3] * d + v.y + p.counts[c % 3] + p.name[s % 13] + p.data[3] + b;
}
extern "C" __global__ void constant(const __grid_constant__ Params p, float *x)
{
    const float *row = p.matrix[threadIdx.x & 3];
    x[threadIdx.x] = row[x[0] > 0 ? 1 : 2];
}
extern "C" __global__ void restricted(const int *__restrict__ a, int *__restrict__ b) { b[threadIdx.x] = a[threadIdx.x] + a[0]; }
extern "C" __global__ void nothing() {}
struct Large { int v[1000]; };
extern "C" __global__ void full(const __grid_constant__ Large big, int *o) { *o = big.v[*o]; }

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void __launch_bounds__(64, 2, 4) clustered(float *x) { x[threadIdx.x] += 1; }
extern "C" __global__ void __cluster_dims__(2, 2, 1) fixed_cluster(float *x) { x[threadIdx.x] += 2; }
extern "C" __global__ void __block_size__((128, 2, 1)) sized(float *x) { x[threadIdx.x] += 3; }
extern "C" __global__ void __block_size__((64, 1, 1), (2, 1, 1)) sized_cluster(float *x) { x[threadIdx.x] += 4; }
#endif
// ==== cuda/libcxx_atomics.cu ====
// libcu++ atomics: cuda::atomic_ref of many types, orders and scopes, wait/notify, fences, sub-word CAS loops.
// KEEP: 75 90
#include <cuda/atomic>

using cuda::atomic;
using cuda::atomic_ref;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
using cuda::thread_scope;
using cuda::thread_scope_block;
using cuda::thread_scope_device;
using cuda::thread_scope_system;

template <typename T, thread_scope S>
__device__ T all(T *p, T v)
{
    atomic_ref<T, S> a(*p);
    T r = a.load(memory_order_acquire);
    a.store(v, memory_order_release);
    r += a.exchange(v, memory_order_acq_rel);
    T expected = v;
    if (a.compare_exchange_strong(expected, v + 1, memory_order_acq_rel, memory_order_relaxed))
        r++;
    a.compare_exchange_weak(expected, v + 2);
    r += a.fetch_add(v, memory_order_relaxed);
    r -= a.fetch_sub(v);
    r += a.fetch_min(v, memory_order_relaxed);
    r += a.fetch_max(v, memory_order_release);
    return r;
}

extern "C" __global__ void types(char *c, short *s, int *i, long long *l, float *f, double *d)
{
    *c = all<char, thread_scope_device>(c, 1);
    *s = all<short, thread_scope_block>(s, 2);
    *i = all<int, thread_scope_system>(i, 3);
    *l = all<long long, thread_scope_device>(l, 4);
    *f = all<float, thread_scope_device>(f, 5);
    *d = all<double, thread_scope_block>(d, 6);
}

extern "C" __global__ void bits(unsigned *u, unsigned char *c)
{
    atomic_ref<unsigned, thread_scope_device> a(*u);
    u[1] = a.fetch_and(7) + a.fetch_or(9, memory_order_relaxed) + a.fetch_xor(3, memory_order_seq_cst);
    atomic_ref<unsigned char, thread_scope_system> b(*c);
    c[1] = b.fetch_or(0x80) ^ b.fetch_and(0x7f, memory_order_acquire);
    u[2] = ++a + a++;
}

__device__ atomic<int, thread_scope_device> flag{0};

extern "C" __global__ void message(int *data)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        cuda::atomic_thread_fence(memory_order_seq_cst, thread_scope_device);
        flag.store(1, memory_order_release);
        flag.notify_all();
    } else {
        flag.wait(0, memory_order_acquire);
        data[threadIdx.x + 32] = data[threadIdx.x];
    }
}

extern "C" __global__ void pointers(int **p, int *q)
{
    atomic_ref<int *, thread_scope_device> a(*p);
    int *old = a.fetch_add(4);
    *old = 5;
    a.store(q, memory_order_relaxed);
}
// ==== cuda/libcxx_sync.cu ====
// libcu++ barrier, latch, semaphores and cuda::pipeline in shared and global memory: mbarrier, try_wait loops, cp.async.
// KEEP: 75 80 90
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cooperative_groups.h>

#pragma nv_diag_suppress static_var_with_dynamic_init

extern "C" __global__ void block_barrier(int *data)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        auto token = bar.arrive();
        data[threadIdx.x] += i;
        bar.wait(std::move(token));
    }
    bar.arrive_and_wait();
    bar.arrive_and_drop();
}

extern "C" __global__ void staged_copy(const int4 *in, int4 *out, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) int4 buffer[256];
    if (threadIdx.x == 0)
        init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&buffer[threadIdx.x], &in[blockIdx.x * 256 + threadIdx.x], cuda::aligned_size_t<16>(16), bar);
    bar.arrive_and_wait();
    out[blockIdx.x * 256 + threadIdx.x] = buffer[255 - threadIdx.x];
}

extern "C" __global__ void thread_pipeline(const float4 *in, float4 *out, int n)
{
    __shared__ float4 stage[2][128];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    pipe.producer_acquire();
    cuda::memcpy_async(&stage[0][t], &in[t], cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
    for (int i = 1; i < n; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[i & 1][t], &in[i * 128 + t], cuda::aligned_size_t<16>(16), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        out[(i - 1) * 128 + t] = stage[(i - 1) & 1][t];
        pipe.consumer_release();
    }
    pipe.consumer_wait();
    out[(n - 1) * 128 + t] = stage[(n - 1) & 1][t];
    pipe.consumer_release();
}

extern "C" __global__ void block_pipeline(const int *in, int *out, int n)
{
    auto block = cooperative_groups::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    extern __shared__ int tile[];
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < n; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tile, in + i * 256, 256 * sizeof(int), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        block.sync();
        out[i * 256 + threadIdx.x] = tile[255 - threadIdx.x];
        block.sync();
        pipe.consumer_release();
    }
}

__device__ cuda::counting_semaphore<cuda::thread_scope_device, 4> pool{4};
__device__ cuda::latch<cuda::thread_scope_device> gate{64};

extern "C" __global__ void limited(int *data)
{
    pool.acquire();
    data[blockIdx.x]++;
    pool.release();
    gate.arrive_and_wait();
    if (pool.try_acquire()) {
        data[1]++;
        pool.release();
    }
    gate.count_down();
    data[2] = gate.try_wait();
}
// ==== cuda/link_library.cu ====
// Second half of the two-file program of link_main.cu: defines what that uses and uses what that defines.
// KEEP: 75 90
// FLAGS: -rdc=true
struct Pair {
    int a;
    double b;
};

extern __device__ int helper(int x);
extern __device__ int main_value;
__device__ int shared_counter = 5;
__constant__ float shared_scale[4] = {1, 2, 3, 4};
static __device__ int private_value = 4;
static __device__ __noinline__ int twice(int x) { return helper(x) - private_value; }
__device__ int (*chosen)(int) = helper;
extern __shared__ int common_shared[];

__device__ float library_scale(float x, int i) { return x * shared_scale[i] + main_value; }
__device__ Pair make_pair(int a, double b) { return Pair{twice(a), b * common_shared[1]}; }
__device__ __attribute__((weak)) int optional(int x) { return x; }
extern "C" __global__ void second(int *o) { o[0] = optional(helper(o[1])) + main_value; }
// ==== cuda/link_main.cu ====
// First half of a two-file program: calls functions and reads variables that link_library.cu defines (.extern).
// KEEP: 75 90
// FLAGS: -rdc=true
struct Pair {
    int a;
    double b;
};

extern __device__ int shared_counter;
extern __constant__ float shared_scale[4];
extern __device__ float library_scale(float x, int i);
extern __device__ Pair make_pair(int a, double b);
extern __device__ int (*chosen)(int);
__device__ int helper(int x) { return x * 2 + 1; }
__device__ int main_value = 17;
static __device__ int private_value = 3;
__device__ __noinline__ static int twice(int x) { return x + x + private_value; }
extern __shared__ int common_shared[];

extern "C" __global__ void start(float *f, Pair *p, int *o)
{
    common_shared[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    f[0] = library_scale(f[1], o[0] & 3) * shared_scale[1];
    *p = make_pair(o[1], f[2]);
    atomicAdd(&shared_counter, twice(o[2]));
    o[3] = chosen(o[4]) + common_shared[0];
}
// ==== cuda/linkage.cu ====
// Linkage kinds: __nv_weak, static and anonymous-namespace symbols, templates (.weak), inline functions, C++ name mangling.
// KEEP: 80 rdc=75
// VARIANT: rdc -rdc=true
// FLAGS: --extended-lambda
template <typename T, int N>
struct Vec {
    T v[N];
    __device__ __noinline__ T sum() const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += v[i];
        return s;
    }
};

namespace outer {
namespace {
__device__ int hidden = 4;
__device__ __noinline__ int hide(int x) { return x * hidden; }
}
struct Op {
    __device__ __noinline__ int operator()(int a, long b) const { return a - (int)b; }
    __device__ __noinline__ Op &operator+=(int) { return *this; }
};
}

static __device__ float local_value = 2;
static __device__ __noinline__ float only_here(float x) { return x + local_value; }
__device__ __noinline__ __attribute__((weak)) int replaceable(int x) { return x + 1; }
inline __device__ __noinline__ int many(int x) { return x ^ 5; }
template <typename T> __device__ T shared_template = T(7);
template <int K> __global__ void unrolled(int *o)
{
#pragma unroll
    for (int i = 0; i < K; i++)
        o[i] += i;
}
template __global__ void unrolled<3>(int *);
template <typename... A> __global__ void pack(float *o, A... a) { *o = (float(a) + ...); }
template __global__ void pack<int, char, double>(float *, int, char, double);
extern "C" __device__ __noinline__ int plain_name(int x) { return many(x) + replaceable(x); }

__global__ void use(float *f, int *o, const Vec<int, 5> *a, const Vec<double, 2> *b)
{
    outer::Op op;
    op += 2;
    f[0] = only_here(f[1]) + shared_template<float>;
    o[0] = outer::hide(o[1]) + plain_name(o[2]) + op(3, 4) + a->sum() + (int)b->sum() + shared_template<int>;
    auto lambda = [=](int k) { return k * o[3]; };
    o[4] = lambda(9);
    static int kept = 11;
    o[5] = kept++;
    __shared__ int local[4];
    local[threadIdx.x & 3] = o[6];
    __syncthreads();
    o[7] = local[0];
}

template <typename F> __global__ void apply(F f, int *o, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        o[i] = f(i);
}

void host(int *o, int k)
{
    apply<<<1, 32>>>([=] __device__(int i) { return i * k; }, o, 10);
    auto g = [k] __host__ __device__(int i) { return i + k; };
    apply<<<1, 32>>>(g, o, 10);
}
// ==== cuda/local_arrays.cu ====
// Local memory: dynamically indexed arrays of several types, a depot per function, queues, union punning, byte copies.
struct Item {
    int key;
    short weight;
    char tag;
};

extern "C" __global__ void eight_queens(int n, int *count)
{
    int column[16], row = 0, found = 0;
    column[0] = threadIdx.x % n;
    int first = column[0];
    while (row >= 0) {
        bool ok = column[row] < n;
        for (int i = 0; ok && i < row; i++)
            if (column[i] == column[row] || abs(column[i] - column[row]) == row - i)
                ok = false;
        if (ok && row == n - 1) {
            found++;
            ok = false;
        }
        if (ok)
            column[++row] = 0;
        else {
            while (row >= 0 && ++column[row] >= n && row > 0)
                row--;
            if (row == 0 && column[0] != first)
                break;
        }
    }
    atomicAdd(count, found);
}

__device__ __noinline__ void fill(Item *p, int n, int seed)
{
    for (int i = 0; i < n; i++) {
        p[i].key = seed * i;
        p[i].weight = (short)(seed - i);
        p[i].tag = (char)i;
    }
}

extern "C" __global__ void records(int *o, int i, int j)
{
    Item items[10], other[10];
    fill(items, 10, i);
    fill(other, 10, j);
    items[i % 10] = other[j % 10];
    char bytes[33];
    for (int k = 0; k < 33; k++)
        bytes[k] = (char)(k * i);
    double wide[4] = {1, 2, 3, (double)i};
    short half[6] = {};
    half[i % 6] = (short)j;
    o[0] = items[j % 10].key + items[j % 10].weight + items[3].tag + bytes[j % 33] + (int)wide[j & 3] + half[j % 6];
    union {
        long long l;
        unsigned char c[8];
    } u;
    u.l = i * 1234567890123ll;
    o[1] = u.c[j & 7];
}
// ==== cuda/locks.cu ====
// Bank accounts under spin locks: atomicCAS/atomicExch with __threadfence, ordering, volatile accesses, nanosleep.
struct Account {
    int lock;
    volatile long long balance;
    unsigned transfers;
};

__device__ void acquire(int *lock)
{
    unsigned ns = 8;
    while (atomicCAS(lock, 0, 1) != 0) {
        __nanosleep(ns);
        if (ns < 256)
            ns *= 2;
    }
    __threadfence();
}

__device__ void release(int *lock)
{
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void transfer(Account *bank, const int2 *orders, const int *amounts, int n, int *refused)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int from = orders[i].x, to = orders[i].y;
    if (from == to)
        return;
    int first = min(from, to), second = max(from, to);
    acquire(&bank[first].lock);
    acquire(&bank[second].lock);
    if (bank[from].balance >= amounts[i]) {
        bank[from].balance -= amounts[i];
        bank[to].balance += amounts[i];
        bank[from].transfers++;
        bank[to].transfers++;
    } else {
        atomicInc((unsigned *)refused, 0xffffffffu);
    }
    release(&bank[second].lock);
    release(&bank[first].lock);
}

extern "C" __global__ void audit(const Account *bank, int n, unsigned long long *total)
{
    unsigned long long sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += bank[i].balance;
    atomicAdd(total, sum);
    __threadfence_system();
    __threadfence_block();
}
// ==== cuda/managed.cu ====
// __managed__ variables (.attribute(.managed)), zero-copy style pointers and system-scope fences.
__managed__ int counter = 3;
__managed__ float4 points[64];
__device__ __managed__ struct {
    int n;
    double total;
} summary;

extern "C" __global__ void update(int k)
{
    int t = threadIdx.x;
    points[t] = make_float4(t, t * 2, t * 3, k);
    atomicAdd_system(&counter, k);
    __threadfence_system();
    if (t == 0) {
        summary.n = counter;
        summary.total = points[k & 63].x;
    }
}
// ==== cuda/math_double.cu ====
// The fp64 math library: elementary functions, Payne-Hanek reduction through a call, pow, gamma and error functions.
// KEEP: 90
#define F(i, e) case i: r = e; break
extern "C" __global__ void math(const int *op, const double *a, const double *b, double *o, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    double x = a[t], y = b[t], r = 0, s, c;
    switch (*op) {
    F(0, sin(x));
    F(1, cos(x));
    F(2, tan(x));
    F(3, asin(x));
    F(4, atan2(x, y));
    F(5, sinh(x));
    F(6, tanh(x));
    F(7, exp(x));
    F(8, exp2(x));
    F(9, exp10(x));
    F(10, log(x));
    F(11, log2(x));
    F(12, log10(x));
    F(13, log1p(x));
    F(14, pow(x, y));
    F(15, cbrt(x));
    F(16, hypot(x, y));
    F(17, erf(x));
    F(18, erfc(x));
    F(19, lgamma(x));
    F(20, tgamma(x));
    F(21, fmod(x, y));
    F(22, remainder(x, y));
    F(23, (sincos(x, &s, &c), s * c));
    F(24, (sincospi(x, &s, &c), s - c));
    F(25, expm1(x));
    F(26, normcdf(x));
    F(27, j0(x));
    }
    o[t] = r;
}
// ==== cuda/math_float.cu ====
// The fp32 math library: trigonometric with slow-path reduction, exponentials, special functions, remainders.
// VARIANT: fast -use_fast_math
// KEEP: 80 fast=75
#define F(i, e) case i: r = e; break
extern "C" __global__ void math(const int *op, const float *a, const float *b, float *o, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    float x = a[t], y = b[t], r = 0, s, c;
    int q;
    switch (*op) {
    F(0, sinf(x));
    F(1, cosf(x));
    F(2, tanf(x));
    F(3, asinf(x));
    F(4, acosf(x));
    F(5, atanf(x));
    F(6, atan2f(x, y));
    F(7, sinhf(x));
    F(8, coshf(x));
    F(9, tanhf(x));
    F(10, asinhf(x));
    F(11, acoshf(x));
    F(12, atanhf(x));
    F(13, expf(x));
    F(14, exp2f(x));
    F(15, exp10f(x));
    F(16, expm1f(x));
    F(17, logf(x));
    F(18, log2f(x));
    F(19, log10f(x));
    F(20, log1pf(x));
    F(21, powf(x, y));
    F(22, cbrtf(x));
    F(23, rcbrtf(x));
    F(24, hypotf(x, y));
    F(25, rhypotf(x, y));
    F(26, erff(x));
    F(27, erfcf(x));
    F(28, erfcxf(x));
    F(29, erfinvf(x));
    F(30, erfcinvf(x));
    F(31, normcdff(x));
    F(32, normcdfinvf(x));
    F(33, lgammaf(x));
    F(34, tgammaf(x));
    F(35, j0f(x));
    F(36, y1f(x));
    F(37, jnf(3, x));
    F(38, cyl_bessel_i0f(x));
    F(39, fmodf(x, y));
    F(40, remainderf(x, y));
    F(41, remquof(x, y, &q) + q);
    F(42, sinpif(x));
    F(43, cospif(x));
    F(44, (sincosf(x, &s, &c), s * c));
    F(45, (sincospif(x, &s, &c), s - c));
    F(46, ldexpf(x, 5));
    F(47, scalbnf(x, -5));
    F(48, norm3df(x, y, 1.0f));
    F(49, nextafterf(x, y));
    F(50, fmaf(x, y, 1.5f));
    }
    o[t] = r;
}
// ==== cuda/matmul.cu ====
// Tiled matrix product: static shared arrays, bar.sync, unrolled fma chains, predicated edges.
// KEEP: 75 100
constexpr int TILE = 16;

template <typename T>
__device__ void product(const T *a, const T *b, T *c, int m, int n, int k)
{
    __shared__ T as[TILE][TILE];
    __shared__ T bs[TILE][TILE + 1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    T sum = 0;
    for (int t = 0; t < (k + TILE - 1) / TILE; t++) {
        int ac = t * TILE + tx, br = t * TILE + ty;
        as[ty][tx] = row < m && ac < k ? a[row * k + ac] : T(0);
        bs[ty][tx] = br < k && col < n ? b[br * n + col] : T(0);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; i++)
            sum += as[ty][i] * bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

extern "C" __global__ void dgemm(const double *a, const double *b, double *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}

extern "C" __global__ void igemm(const int *a, const int *b, int *c, int m, int n, int k)
{
    product(a, b, c, m, n, k);
}
// ==== cuda/minmax_relu.cu ====
// DPX intrinsics: three-way min/max, relu, add-then-max, packed 16x2 forms, and min/max that report the winner.
// KEEP: 80 90
extern "C" __global__ void dpx(const int *a, const int *b, const int *c, int *o, bool *w)
{
    int t = threadIdx.x, x = a[t], y = b[t], z = c[t];
    unsigned ux = x, uy = y, uz = z;
    o += t * 64;
    w += t * 16;
    o[0] = __vimax3_s32(x, y, z);
    o[1] = __vimin3_s32(x, y, z);
    o[2] = __vimax3_u32(ux, uy, uz);
    o[3] = __vimin3_u32(ux, uy, uz);
    o[4] = __vimax3_s32_relu(x, y, z);
    o[5] = __vimin3_s32_relu(x, y, z);
    o[6] = __vimax_s32_relu(x, y);
    o[7] = __vimin_s32_relu(x, y);
    o[8] = __viaddmax_s32(x, y, z);
    o[9] = __viaddmin_s32(x, y, z);
    o[10] = __viaddmax_u32(ux, uy, uz);
    o[11] = __viaddmin_u32(ux, uy, uz);
    o[12] = __viaddmax_s32_relu(x, y, z);
    o[13] = __viaddmin_s32_relu(x, y, z);
    o[14] = __vimax3_s16x2(ux, uy, uz);
    o[15] = __vimin3_s16x2(ux, uy, uz);
    o[16] = __vimax3_u16x2(ux, uy, uz);
    o[17] = __vimin3_u16x2(ux, uy, uz);
    o[18] = __vimax3_s16x2_relu(ux, uy, uz);
    o[19] = __vimin3_s16x2_relu(ux, uy, uz);
    o[20] = __vimax_s16x2_relu(ux, uy);
    o[21] = __vimin_s16x2_relu(ux, uy);
    o[22] = __viaddmax_s16x2(ux, uy, uz);
    o[23] = __viaddmin_u16x2(ux, uy, uz);
    o[24] = __viaddmax_s16x2_relu(ux, uy, uz);
    o[25] = __vibmax_s32(x, y, &w[0]);
    o[26] = __vibmin_s32(x, y, &w[1]);
    o[27] = __vibmax_u32(ux, uy, &w[2]);
    o[28] = __vibmin_u32(ux, uy, &w[3]);
    o[29] = __vibmax_s16x2(ux, uy, &w[4], &w[5]);
    o[30] = __vibmin_u16x2(ux, uy, &w[6], &w[7]);
}

extern "C" __global__ void smith_waterman(const signed char *a, const signed char *b, int *h, int n, int m)
{
    int row = threadIdx.x, best = 0, left = 0;
    for (int j = 0; j < m; j++) {
        int up = __shfl_up_sync(~0u, left, 1), diag = __shfl_up_sync(~0u, best, 1);
        int s = a[row] == b[j] ? 2 : -1;
        left = __vimax3_s32_relu(diag + s, up - 1, left - 1);
        best = max(best, left);
        h[row * m + j] = left;
    }
}
// ==== cuda/mma_sync.cu ====
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
// ==== cuda/multimem.cu ====
// sm_90 odds and ends: multimem.ld_reduce/red/st, packed-float reductions, st.async, redux.f32, 128-bit moves and atomics.
// KEEP: 90a
// ARCH: 90a 100a
extern "C" __global__ void multi(float *p, unsigned *u, float *o)
{
    float a, b, c, d;
    unsigned r;
    asm volatile("multimem.ld_reduce.relaxed.gpu.global.add.f32 %0, [%1];" : "=f"(a) : "l"(p) : "memory");
    asm volatile("multimem.ld_reduce.weak.global.add.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(p) : "memory");
    asm volatile("multimem.ld_reduce.acquire.sys.global.add.acc::f32.f16x2 %0, [%1];" : "=r"(r) : "l"(u) : "memory");
    asm volatile("multimem.red.release.sys.global.add.v2.bf16x2 [%0], {%1, %1};" ::"l"(u), "r"(r) : "memory");
    asm volatile("multimem.red.relaxed.gpu.global.min.u32 [%0], %1;" ::"l"(u), "r"(r) : "memory");
    asm volatile("multimem.st.release.gpu.global.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(a), "f"(b) : "memory");
    o[0] = a + b + c + d + r;
}

extern "C" __global__ void packed(float *p, unsigned *u, float *o)
{
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"(1.0f), "f"(2.0f) : "memory");
    asm volatile("red.relaxed.gpu.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(u), "r"(5) : "memory");
    asm volatile("red.global.max.noftz.v8.bf16 [%0], {%1, %1, %1, %1, %1, %1, %1, %1};" ::"l"(u), "h"((short)5) : "memory");
    float a, b;
    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%0, %1};" : "=f"(a), "=f"(b) : "l"(p) : "memory");
    unsigned h;
    asm volatile("atom.global.add.noftz.bf16x2 %0, [%1], %2;" : "=r"(h) : "l"(u), "r"(7) : "memory");
    o[0] = a + b + h;
    asm volatile("{\n\t.reg .b128 x, y;\n\tmov.b128 x, {%1, %1};\n\tatom.exch.relaxed.gpu.global.b128 y, [%0], x;\n\tst.relaxed.sys.global.b128 [%0+16], y;\n\t}" ::"l"(u), "l"(3ull) : "memory");
}
// ==== cuda/nbody.cu ====
// All-pairs gravity, plain and with -use_fast_math: rsqrt, sqrt.rn versus sqrt.approx, div forms, .ftz.
// VARIANT: fast -use_fast_math
extern "C" __global__ void forces(const float4 *body, float4 *accel, int n, float eps)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[min(i, n - 1)];
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < n; base += 256) {
        tile[threadIdx.x] = base + threadIdx.x < n ? body[base + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 256; j++) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
            float r2 = dx * dx + dy * dy + dz * dz + eps;
            float inv = rsqrtf(r2);
            float f = tile[j].w * inv * inv * inv;
            ax += f * dx;
            ay += f * dy;
            az += f * dz;
        }
        __syncthreads();
    }
    if (i < n)
        accel[i] = make_float4(ax, ay, az, sqrtf(ax * ax + ay * ay + az * az) / me.w);
}

extern "C" __global__ void energy(const float4 *body, const float3 *speed, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float3 v = speed[i];
    double e = 0.5 * body[i].w * ((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z);
    for (int j = 0; j < i; j++) {
        double dx = body[i].x - body[j].x, dy = body[i].y - body[j].y, dz = body[i].z - body[j].z;
        e -= body[i].w * body[j].w / sqrt(dx * dx + dy * dy + dz * dz);
    }
    atomicAdd(out, (float)e > 0 ? e : -e);
}
// ==== cuda/poisson.cu ====
// Poisson variates through cuRAND: double math library inside rejection loops.
// KEEP: no
#include <curand_kernel.h>

extern "C" __global__ void poisson(curandStatePhilox4_32_10_t *s, unsigned *o, double lambda)
{
    o[threadIdx.x] = curand_poisson(&s[threadIdx.x], lambda);
}
// ==== cuda/printing.cu ====
// printf, assert, malloc/free, alloca, variadic marshalling through vprintf, __trap, brkpt: calls to the device runtime.
// KEEP: 75 90
#include <cassert>
#include <cstdio>

extern "C" __global__ void report(const double *x, int n)
{
    int i = threadIdx.x;
    assert(i < n && "index in range");
    printf("%d: %f %s %c %lld %p\n", i, x[i], i ? "more" : "first", 'x', (long long)n << 33, x);
    printf("no arguments\n");
}

extern "C" __global__ void heap(int n, int **out)
{
    int *p = (int *)malloc(n * sizeof(int));
    if (!p) {
        __trap();
    }
    for (int i = 0; i < n; i++)
        p[i] = i;
    out[threadIdx.x] = p;
    if (n > 100)
        free(p);
    else if (n > 50)
        __brkpt();
    double *q = new double[n];
    q[0] = 1;
    out[0][0] += (int)q[n - 1];
    delete[] q;
}

extern "C" __global__ void stack(int n, int *out)
{
    char *p = (char *)alloca(n);
    int *q = (int *)__builtin_alloca(n * 4);
    for (int i = 0; i < n; i++) {
        p[i] = (char)i;
        q[i] = i * i;
    }
    out[threadIdx.x] = p[out[0]] + q[out[1]];
}

extern "C" __global__ void ends(int k)
{
    if (k == 0)
        asm volatile("exit;");
    if (k == 1)
        asm volatile("trap;");
    if (k == 2)
        asm volatile("brkpt;");
    if (k == 3)
        __builtin_unreachable();
}
// ==== cuda/reduction.cu ====
// Block reductions by shared-memory tree and by shuffles: shfl.sync.down/bfly, bar.sync, extern shared memory.
extern __shared__ float dynamic[];

extern "C" __global__ void reduce_tree(const float *in, float *out, int n)
{
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x * 2 + t;
    float v = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n)
        v += in[i + blockDim.x];
    dynamic[t] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            dynamic[t] += dynamic[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = dynamic[0];
}

template <typename T, typename Op>
__device__ T warp_reduce(T v, Op op)
{
#pragma unroll
    for (int d = 16; d; d >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

template <typename T, typename Op>
__device__ T block_reduce(T v, T identity, Op op)
{
    __shared__ T partial[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_reduce(v, op);
    if (lane == 0)
        partial[warp] = v;
    __syncthreads();
    v = lane < blockDim.x >> 5 ? partial[lane] : identity;
    return warp == 0 ? warp_reduce(v, op) : v;
}

extern "C" __global__ void reduce_sum(const double *in, double *out, int n)
{
    double v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += in[i];
    v = block_reduce(v, 0.0, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0)
        out[blockIdx.x] = v;
}

extern "C" __global__ void reduce_max(const int *in, int *out, int n)
{
    int v = -2147483647 - 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v = max(v, in[i]);
    v = block_reduce(v, -2147483647 - 1, [](int a, int b) { return max(a, b); });
    if (threadIdx.x == 0)
        atomicMax(out, v);
}

extern "C" __global__ void reduce_xor(const unsigned long long *in, unsigned long long *out, int n)
{
    unsigned long long v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v ^= in[i];
    v = block_reduce(v, 0ull, [](unsigned long long a, unsigned long long b) { return a ^ b; });
    if (threadIdx.x == 0)
        atomicXor(out, v);
}
// ==== cuda/register_pressure.cu ====
// Large straight-line kernels: a fully unrolled 8x8 DCT, a 12x12 register-tiled product and a long hash: many live values.
// KEEP: 80
constexpr int T = 8;
extern "C" __global__ void dct8x8(const float *in, float *out)
{
    float b[T][T];
    const float *p = in + blockIdx.x * T * T;
#pragma unroll
    for (int i = 0; i < T * T; i++)
        b[i / T][i % T] = p[i];
    constexpr float c[8] = {0.35355339f, 0.49039264f, 0.46193977f, 0.41573481f, 0.35355339f, 0.27778512f, 0.19134172f, 0.09754516f};
#pragma unroll
    for (int pass = 0; pass < 2; pass++)
#pragma unroll
        for (int r = 0; r < T; r++) {
            float v[T];
#pragma unroll
            for (int k = 0; k < T; k++) {
                v[k] = 0;
#pragma unroll
                for (int x = 0; x < T; x++) {
                    int angle = (2 * x + 1) * k & 31, a = angle & 15;
                    float w = a <= 8 ? (a == 8 ? 0.0f : c[a]) : -c[16 - a];
                    v[k] += (pass ? b[x][r] : b[r][x]) * (angle & 16 ? -w : w);
                }
            }
#pragma unroll
            for (int k = 0; k < T; k++)
                (pass ? b[k][r] : b[r][k]) = v[k];
        }
#pragma unroll
    for (int i = 0; i < T * T; i++)
        out[blockIdx.x * T * T + i] = b[i / T][i % T];
}

extern "C" __global__ void tile12(const float *a, const float *b, float *c, int k)
{
    float acc[12][12] = {};
    for (int i = 0; i < k; i++) {
        float x[12], y[12];
#pragma unroll
        for (int j = 0; j < 12; j++) {
            x[j] = a[i * 12 + j];
            y[j] = b[i * 12 + j];
        }
#pragma unroll
        for (int r = 0; r < 12; r++)
#pragma unroll
            for (int s = 0; s < 12; s++)
                acc[r][s] = fmaf(x[r], y[s], acc[r][s]);
    }
#pragma unroll
    for (int i = 0; i < 144; i++)
        c[threadIdx.x * 144 + i] = acc[i / 12][i % 12];
}

extern "C" __global__ void digest(const unsigned *in, unsigned *out)
{
    unsigned w[64], s[8];
#pragma unroll
    for (int i = 0; i < 16; i++)
        w[i] = in[i];
#pragma unroll
    for (int i = 16; i < 64; i++) {
        unsigned x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (__funnelshift_r(x, x, 7) ^ __funnelshift_r(x, x, 18) ^ x >> 3) +
               (__funnelshift_r(y, y, 17) ^ __funnelshift_r(y, y, 19) ^ y >> 10);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        s[i] = out[i];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        unsigned e = s[4], a = s[0];
        unsigned t = s[7] + (__funnelshift_r(e, e, 6) ^ __funnelshift_r(e, e, 11) ^ __funnelshift_r(e, e, 25)) + ((e & s[5]) ^ (~e & s[6])) + w[i] + i * 0x9e3779b9u;
        unsigned u = (__funnelshift_r(a, a, 2) ^ __funnelshift_r(a, a, 13) ^ __funnelshift_r(a, a, 22)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6], s[6] = s[5], s[5] = e, s[4] = s[3] + t, s[3] = s[2], s[2] = s[1], s[1] = a, s[0] = t + u;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        out[i] += s[i];
}
// ==== cuda/saxpy.cu ====
// Grid-stride saxpy in four element types: ld/st.global, fma, cvta.to.global, simple loops.
template <typename T>
__device__ void axpy(int n, T a, const T *x, T *y)
{
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) { axpy(n, a, x, y); }
extern "C" __global__ void daxpy(int n, double a, const double *x, double *y) { axpy(n, a, x, y); }
extern "C" __global__ void iaxpy(int n, int a, const int *x, int *y) { axpy(n, a, x, y); }
extern "C" __global__ void laxpy(int n, long long a, const long long *x, long long *y) { axpy(n, a, x, y); }

extern "C" __global__ void saxpy_restrict(int n, float a, const float4 *__restrict__ x, float4 *__restrict__ y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 u = x[i], v = y[i];
    v.x += a * u.x;
    v.y += a * u.y;
    v.z += a * u.z;
    v.w += a * u.w;
    y[i] = v;
}
// ==== cuda/scan.cu ====
// Prefix sums: shfl.sync.up with its predicate, Blelloch tree in shared memory, decoupled look-back with membar.
extern "C" __global__ void scan_warp(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    for (int d = 1; d < 32; d <<= 1) {
        int u = __shfl_up_sync(0xffffffffu, v, d);
        if ((threadIdx.x & 31) >= d)
            v += u;
    }
    if (i < n)
        out[i] = v;
}

extern "C" __global__ void scan_tree(int *data, int n)
{
    extern __shared__ int temp[];
    int t = threadIdx.x, offset = 1;
    temp[2 * t] = data[2 * t];
    temp[2 * t + 1] = data[2 * t + 1];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (t == 0)
        temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            int x = temp[a];
            temp[a] = temp[b];
            temp[b] += x;
        }
    }
    __syncthreads();
    data[2 * t] = temp[2 * t];
    data[2 * t + 1] = temp[2 * t + 1];
}

struct Partial {
    int flag;
    int value;
};

extern "C" __global__ void scan_lookback(const int *in, int *out, volatile Partial *state, unsigned *ticket, int n)
{
    __shared__ unsigned block;
    __shared__ int prefix;
    __shared__ int sums[1024];
    int t = threadIdx.x;
    if (t == 0)
        block = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = block * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        int u = t >= d ? sums[t - d] : 0;
        __syncthreads();
        sums[t] += u;
        __syncthreads();
    }
    if (t == blockDim.x - 1) {
        int total = sums[t], before = 0;
        state[block].value = total;
        __threadfence();
        state[block].flag = 1;
        for (int b = (int)block - 1; b >= 0;) {
            int flag = state[b].flag;
            if (flag == 0)
                continue;
            __threadfence();
            before += state[b].value;
            if (flag == 2)
                break;
            b--;
        }
        state[block].value = before + total;
        __threadfence();
        state[block].flag = 2;
        prefix = before;
    }
    __syncthreads();
    if (i < n)
        out[i] = sums[t] + prefix;
}
// ==== cuda/simd_video.cu ====
// SIMD-in-word video intrinsics: __vadd4, __vabsdiff2, __vset..., __vsad..., saturating and averaging forms.
// KEEP: 75
#define BOTH(op, i) o[i] = __v##op##2(x, y), o[i + 1] = __v##op##4(x, y)
#define ONE(op, i) o[i] = __v##op##2(x), o[i + 1] = __v##op##4(x)
extern "C" __global__ void simd(const unsigned *a, const unsigned *b, unsigned *o)
{
    int t = threadIdx.x;
    unsigned x = a[t], y = b[t];
    o += t * 96;
    BOTH(add, 0);
    BOTH(addss, 2);
    BOTH(addus, 4);
    BOTH(sub, 6);
    BOTH(subss, 8);
    BOTH(subus, 10);
    BOTH(absdiffu, 12);
    BOTH(absdiffs, 14);
    BOTH(avgu, 16);
    BOTH(avgs, 18);
    BOTH(haddu, 20);
    BOTH(maxu, 22);
    BOTH(maxs, 24);
    BOTH(minu, 26);
    BOTH(mins, 28);
    BOTH(seteq, 30);
    BOTH(setges, 32);
    BOTH(setgtu, 34);
    BOTH(setleu, 36);
    BOTH(setlts, 38);
    BOTH(setne, 40);
    BOTH(cmpeq, 42);
    BOTH(cmpges, 44);
    BOTH(cmpgtu, 46);
    BOTH(cmplts, 48);
    BOTH(cmpne, 50);
    BOTH(sads, 52);
    BOTH(sadu, 54);
    ONE(abs, 56);
    ONE(absss, 58);
    ONE(neg, 60);
    ONE(negss, 62);
}
// ==== cuda/small_floats.cu ====
// cuda_fp8.h, cuda_fp6.h and cuda_fp4.h conversions: cvt.e4m3x2/e5m2x2/e2m3x2/e3m2x2/e2m1x2/ue8m0x2 where the target has them.
// KEEP: 75 89 100f
// ARCH: 75 80 89 90 100 100a 100f 120a
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void fp8(const float *f, const __half2 *h, const __nv_bfloat162 *b, unsigned *o, float *r)
{
    float x = f[0], y = f[1];
    float2 xy = make_float2(x, y);
    o[0] = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    o[1] = __nv_cvt_float_to_fp8(y, __NV_NOSAT, __NV_E5M2);
    o[2] = __nv_cvt_float2_to_fp8x2(xy, __NV_SATFINITE, __NV_E4M3);
    o[3] = __nv_cvt_float2_to_fp8x2(xy, __NV_SATFINITE, __NV_E5M2);
    o[4] = __nv_cvt_halfraw2_to_fp8x2(h[0], __NV_SATFINITE, __NV_E4M3);
    o[5] = __nv_cvt_bfloat16raw2_to_fp8x2(b[0], __NV_SATFINITE, __NV_E5M2);
    o[6] = __nv_cvt_double_to_fp8(r[9], __NV_SATFINITE, __NV_E4M3);
    o[7] = __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf);
    o[8] = __nv_cvt_float2_to_e8m0x2(xy, __NV_SATFINITE, cudaRoundZero);
    __nv_fp8_e4m3 e(x);
    __nv_fp8_e5m2 g(y);
    __nv_fp8x4_e4m3 four(make_float4(x, y, -x, -y));
    r[0] = float(e);
    r[1] = float(g);
    float4 back = float4(four);
    r[2] = back.x + back.y + back.z + back.w;
    __nv_fp8_e8m0 u(x);
    r[3] = float(u);
    r[4] = float(__half(__nv_cvt_fp8_to_halfraw(o[10], __NV_E5M2)));
    __half2 h2 = __nv_cvt_fp8x2_to_halfraw2(o[11], __NV_E4M3);
    r[5] = __low2float(h2) * __high2float(h2);
}

extern "C" __global__ void fp6(const float2 *f, const __half2 *h, unsigned *o, float *r)
{
    o[0] = __nv_cvt_float2_to_fp6x2(f[0], __NV_E2M3, cudaRoundNearest);
    o[1] = __nv_cvt_float2_to_fp6x2(f[1], __NV_E3M2, cudaRoundNearest);
    o[2] = __nv_cvt_halfraw2_to_fp6x2(h[0], __NV_E2M3, cudaRoundNearest);
    o[3] = __nv_cvt_float_to_fp6(f[2].x, __NV_E3M2, cudaRoundNearest);
    __half2 a = __nv_cvt_fp6x2_to_halfraw2(o[4], __NV_E2M3);
    r[0] = __low2float(a) + __high2float(a);
    __nv_fp6_e3m2 s(r[4]);
    r[1] = float(s);
}

extern "C" __global__ void fp4(const float2 *f, const __half2 *h, unsigned *o, float *r)
{
    o[0] = __nv_cvt_float2_to_fp4x2(f[0], __NV_E2M1, cudaRoundNearest);
    o[1] = __nv_cvt_halfraw2_to_fp4x2(h[0], __NV_E2M1, cudaRoundNearest);
    o[2] = __nv_cvt_float_to_fp4(f[1].x, __NV_E2M1, cudaRoundNearest);
    __half2 a = __nv_cvt_fp4x2_to_halfraw2(o[3], __NV_E2M1);
    r[0] = __low2float(a) - __high2float(a);
    __nv_fp4x4_e2m1 four(make_float4(r[1], r[2], r[3], r[4]));
    float4 back = float4(four);
    r[5] = back.x * back.w;
}
// ==== cuda/sorting.cu ====
// Sorting networks and merges: bitonic in shared memory, odd-even by shuffles, local-array insertion sort, binary search.
extern "C" __global__ void bitonic(unsigned *data)
{
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    s[t] = data[blockIdx.x * 1024 + t];
    for (unsigned k = 2; k <= 1024; k <<= 1)
        for (unsigned j = k >> 1; j; j >>= 1) {
            __syncthreads();
            unsigned o = t ^ j;
            if (o > t && (s[t] > s[o]) == ((t & k) == 0)) {
                unsigned x = s[t];
                s[t] = s[o];
                s[o] = x;
            }
        }
    __syncthreads();
    data[blockIdx.x * 1024 + t] = s[t];
}

extern "C" __global__ void odd_even(float *data)
{
    int lane = threadIdx.x & 31;
    float v = data[blockIdx.x * blockDim.x + threadIdx.x];
    for (int phase = 0; phase < 32; phase++) {
        int partner = (lane & 1) == (phase & 1) ? lane + 1 : lane - 1;
        float o = __shfl_sync(0xffffffffu, v, partner);
        if (partner >= 0 && partner < 32)
            v = partner > lane ? fminf(v, o) : fmaxf(v, o);
    }
    data[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

extern "C" __global__ void insertion(double *data, int per)
{
    double a[24];
    double *d = data + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * per;
    int n = min(per, 24);
    for (int i = 0; i < n; i++) {
        double x = d[i];
        int j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
    for (int i = 0; i < n; i++)
        d[i] = a[i];
}

extern "C" __global__ void merge_path(const int *a, int na, const int *b, int nb, int *out)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= na + nb)
        return;
    int lo = max(0, k - nb), hi = min(k, na);
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (a[mid] <= b[k - mid - 1])
            lo = mid + 1;
        else
            hi = mid;
    }
    int j = k - lo;
    out[k] = j >= nb || (lo < na && a[lo] <= b[j]) ? a[lo] : b[j];
}
// ==== cuda/sparse.cu ====
// CSR matrix-vector product and breadth-first search: indirect loads, nested loops, atomicCAS, atomicMin.
extern "C" __global__ void spmv_scalar(int rows, const int *ptr, const int *col, const double *val, const double *x, double *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    double sum = 0;
    for (int j = ptr[r]; j < ptr[r + 1]; j++)
        sum += val[j] * __ldg(x + col[j]);
    y[r] = sum;
}

extern "C" __global__ void spmv_warp(int rows, const int *__restrict__ ptr, const int *__restrict__ col,
                                     const float *__restrict__ val, const float *__restrict__ x, float *__restrict__ y)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize, lane = threadIdx.x % warpSize;
    if (r >= rows)
        return;
    float sum = 0;
    for (int j = ptr[r] + lane; j < ptr[r + 1]; j += warpSize)
        sum = fmaf(val[j], x[col[j]], sum);
    for (int d = warpSize / 2; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0)
        y[r] = sum;
}

extern "C" __global__ void bfs_step(const int *ptr, const int *edge, int *level, const int *front, int size, int *next,
                                    int *next_size, int depth)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= size)
        return;
    int v = front[t];
    for (int j = ptr[v]; j < ptr[v + 1]; j++) {
        int w = edge[j];
        if (atomicCAS(&level[w], -1, depth) == -1)
            next[atomicAdd(next_size, 1)] = w;
    }
}

extern "C" __global__ void relax(const int *ptr, const int *edge, const int *cost, int *dist, int n, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || dist[v] == 0x7fffffff)
        return;
    for (int j = ptr[v]; j < ptr[v + 1]; j++)
        if (atomicMin(&dist[edge[j]], dist[v] + cost[j]) > dist[v] + cost[j])
            *changed = 1;
}
// ==== cuda/special_registers.cu ====
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
// ==== cuda/stencil.cu ====
// 2D and 3D stencils: halo tiles in shared memory, __constant__ coefficients, uniform branches, register queues.
__constant__ float weight[9] = {0.0625f, 0.125f, 0.0625f, 0.125f, 0.25f, 0.125f, 0.0625f, 0.125f, 0.0625f};

extern "C" __global__ void blur3x3(const float *in, float *out, int w, int h)
{
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x - 1, y = blockIdx.y * 16 + threadIdx.y - 1;
    int cx = min(max(x, 0), w - 1), cy = min(max(y, 0), h - 1);
    tile[threadIdx.y][threadIdx.x] = in[cy * w + cx];
    __syncthreads();
    if (threadIdx.x == 0 || threadIdx.x == 17 || threadIdx.y == 0 || threadIdx.y == 17 || x >= w || y >= h)
        return;
    float s = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            s += weight[j * 3 + i] * tile[threadIdx.y + j - 1][threadIdx.x + i - 1];
    out[y * w + x] = s;
}

extern "C" __global__ void wave3d(const double *in, const double *old, double *out, int nx, int ny, int nz, double c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 2;
    int y = blockIdx.y * blockDim.y + threadIdx.y + 2;
    if (x >= nx - 2 || y >= ny - 2)
        return;
    size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x + 2 * plane;
    double b2 = in[at - 2 * plane], b1 = in[at - plane], here = in[at], f1 = in[at + plane];
    for (int z = 2; z < nz - 2; z++, at += plane) {
        double f2 = in[at + 2 * plane];
        double lap = -7.5 * here + 4.0 / 3 * (b1 + f1 + in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]) -
                     1.0 / 12 * (b2 + f2 + in[at - 2] + in[at + 2] + in[at - 2 * nx] + in[at + 2 * nx]);
        out[at] = 2 * here - old[at] + c * lap;
        b2 = b1;
        b1 = here;
        here = f1;
        f1 = f2;
    }
}

extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int n = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            if (i || j)
                n += in[(y + j + h) % h * w + (x + i + w) % w];
    out[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}
// ==== cuda/surfaces.cu ====
// Surface objects: suld/sust of each geometry, element width, vector size and boundary mode, sured, suq.
// KEEP: 80
template <typename T>
__device__ void copy2d(cudaSurfaceObject_t a, cudaSurfaceObject_t b, int x, int y)
{
    T v;
    surf2Dread(&v, a, x * (int)sizeof(T), y, cudaBoundaryModeTrap);
    surf2Dwrite(v, b, x * (int)sizeof(T), y, cudaBoundaryModeClamp);
    surf2Dread(&v, a, x * (int)sizeof(T), y + 1, cudaBoundaryModeZero);
    surf2Dwrite(v, b, x * (int)sizeof(T), y + 1, cudaBoundaryModeZero);
}

extern "C" __global__ void widths(cudaSurfaceObject_t a, cudaSurfaceObject_t b)
{
    int x = threadIdx.x, y = threadIdx.y;
    copy2d<char>(a, b, x, y);
    copy2d<short>(a, b, x, y);
    copy2d<int>(a, b, x, y);
    copy2d<long long>(a, b, x, y);
    copy2d<float>(a, b, x, y);
    copy2d<uchar2>(a, b, x, y);
    copy2d<ushort2>(a, b, x, y);
    copy2d<uint2>(a, b, x, y);
    copy2d<longlong2>(a, b, x, y);
    copy2d<uchar4>(a, b, x, y);
    copy2d<ushort4>(a, b, x, y);
    copy2d<float4>(a, b, x, y);
}

extern "C" __global__ void shapes(cudaSurfaceObject_t a, cudaSurfaceObject_t b)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    surf1Dwrite(surf1Dread<int>(a, x * 4), b, x * 4);
    surf3Dwrite(surf3Dread<float4>(a, x * 16, y, z), b, x * 16, y, z);
    surf1DLayeredwrite(surf1DLayeredread<short2>(a, x * 4, 2), b, x * 4, 3);
    surf2DLayeredwrite(surf2DLayeredread<uint4>(a, x * 16, y, 2), b, x * 16, y, 3);
    surfCubemapwrite(surfCubemapread<float>(a, x * 4, y, 5), b, x * 4, y, 0);
    surfCubemapLayeredwrite(surfCubemapLayeredread<uchar4>(a, x * 4, y, 7), b, x * 4, y, 1);
}

extern "C" __global__ void direct(cudaSurfaceObject_t s, int *o)
{
    int x = threadIdx.x, w;
    asm volatile("sured.b.add.2d.s32.clamp [%0, {%1, %1}], %2;" ::"l"(s), "r"(x), "r"(3) : "memory");
    asm volatile("sured.p.max.1d.b32.trap [%0, {%1}], %2;" ::"l"(s), "r"(x), "r"(3) : "memory");
    asm volatile("sust.p.2d.v4.b32.trap [%0, {%1, %1}], {%2, %2, %2, %2};" ::"l"(s), "r"(x), "r"(3) : "memory");
    asm volatile("suq.width.b32 %0, [%1];" : "=r"(w) : "l"(s));
    o[x] = w;
    asm volatile("suld.b.a1d.b32.zero %0, [%1, {%2, %3}];" : "=r"(w) : "l"(s), "r"(1), "r"(x * 4));
    o[x + 64] = w;
}
// ==== cuda/tensor_memory.cu ====
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
// ==== cuda/textures.cu ====
// Texture objects: tex of each geometry and element type, lod, grad, gather (tld4), layered, cube, integer coordinates.
// KEEP: 75 90
extern "C" __global__ void fetches(cudaTextureObject_t t, float4 *o, float u, float v, float w)
{
    o += threadIdx.x * 32;
    o[0].x = tex1Dfetch<float>(t, threadIdx.x);
    o[1] = tex1Dfetch<float4>(t, threadIdx.x);
    o[2].x = tex1D<float>(t, u);
    o[3] = tex2D<float4>(t, u, v);
    o[4] = tex3D<float4>(t, u, v, w);
    o[5] = tex1DLayered<float4>(t, u, 2);
    o[6] = tex2DLayered<float4>(t, u, v, 3);
    o[7] = texCubemap<float4>(t, u, v, w);
    o[8] = texCubemapLayered<float4>(t, u, v, w, 1);
    o[9] = tex1DLod<float4>(t, u, w);
    o[10] = tex2DLod<float4>(t, u, v, w);
    o[11] = tex3DLod<float4>(t, u, v, w, 1.5f);
    o[12] = tex2DLayeredLod<float4>(t, u, v, 1, w);
    o[13] = texCubemapLod<float4>(t, u, v, w, 2.0f);
    o[14] = tex1DGrad<float4>(t, u, v, w);
    o[15] = tex2DGrad<float4>(t, u, v, make_float2(u, w), make_float2(v, w));
    o[16] = tex3DGrad<float4>(t, u, v, w, make_float4(u, v, w, 0), make_float4(w, v, u, 0));
    o[17] = tex2DLayeredGrad<float4>(t, u, v, 1, make_float2(u, w), make_float2(v, w));
    o[18] = tex2Dgather<float4>(t, u, v);
    o[19] = tex2Dgather<float4>(t, u, v, 1);
    o[20] = tex2Dgather<float4>(t, u, v, 2);
    o[21] = tex2Dgather<float4>(t, u, v, 3);
    o[22] = texCubemapGrad<float4>(t, u, v, w, make_float4(u, v, w, 0), make_float4(w, v, u, 0));
}

extern "C" __global__ void integers(cudaTextureObject_t t, int4 *o, float u, float v)
{
    o[0] = tex2D<int4>(t, u, v);
    uint4 a = tex2D<uint4>(t, u, v);
    char4 b = tex2D<char4>(t, u, v);
    ushort2 c = tex2D<ushort2>(t, u, v);
    unsigned char d = tex2D<unsigned char>(t, u, v);
    int2 e = tex1Dfetch<int2>(t, 5);
    uint4 f = tex2Dgather<uint4>(t, u, v, 1);
    o[1] = make_int4(a.x + a.w, b.y, c.y, d);
    o[2] = make_int4(e.x, e.y, f.x, f.w);
}

extern "C" __global__ void sparse(cudaTextureObject_t t, float4 *o, float u, float v)
{
    bool resident;
    o[0] = tex2D<float4>(t, u, v, &resident);
    o[1].x = resident;
    o[2] = tex2DLod<float4>(t, u, v, 1.0f, &resident);
    o[3].x = resident;
    o[4] = tex3D<float4>(t, u, v, u, &resident);
    o[5].x = resident;
}

extern "C" __global__ void multisample(cudaTextureObject_t t, float4 *o, int x, int y)
{
    float4 r;
    asm volatile("tex.2dms.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "r"(1), "r"(x), "r"(y));
    o[0] = r;
    asm volatile("tex.a2dms.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5, %5, %6, %7}];" : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w) : "l"(t), "r"(1), "r"(x), "r"(y));
    o[1] = r;
    unsigned long long w;
    asm volatile("txq.width.b32 %0, [%1];" : "=r"(x) : "l"(t));
    asm volatile("txq.level.height.b32 %0, [%1], %2;" : "=r"(y) : "l"(t), "r"(1));
    o[2].x = x + y;
    unsigned q;
    asm volatile("txq.num_samples.b32 %0, [%1];" : "=r"(q) : "l"(t));
    asm volatile("tld4.g.2d.v4.u32.f32 {%0, _, _, _}, [%1, {%2, %2}];" : "=r"(q) : "l"(t), "f"(0.5f));
    w = q;
    o[2].y = w;
}
// ==== cuda/thrust_calls.cu ====
// Thrust from the host side: transform, reduce, unique, partition: the CUDA back end's kernels.
// KEEP: 75
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>
#include <thrust/unique.h>

struct Square {
    __device__ float operator()(float x) const { return x * x; }
};

float run(float *p, float *q, int n)
{
    thrust::transform(thrust::device, p, p + n, q, Square());
    thrust::inclusive_scan(thrust::device, q, q + n, p);
    float *end = thrust::unique(thrust::device, p, p + n);
    return thrust::reduce(thrust::device, p, end);
}
// ==== cuda/thrust_small.cu ====
// Thrust called inside a kernel (sequential policy) and one for_each kernel: templates over iterators.
// FLAGS: --extended-lambda
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

extern "C" __global__ void inside(int *p, int n, int *o)
{
    int *mine = p + threadIdx.x * n;
    thrust::sort(thrust::seq, mine, mine + n);
    int *end = thrust::unique(thrust::seq, mine, mine + n);
    o[threadIdx.x] = thrust::reduce(thrust::seq, mine, end, 0);
}

void run(float *p, int n)
{
    thrust::for_each_n(thrust::device, thrust::counting_iterator<int>(0), n, [=] __device__(int i) { p[i] = p[i] * 2 + i; });
}
// ==== cuda/thrust_sort.cu ====
// Thrust sort of a struct by a comparison: the merge-sort kernels.
// KEEP: 80
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

struct Item {
    int key;
    float value;
};
struct Less {
    __host__ __device__ bool operator()(const Item &a, const Item &b) const { return a.key < b.key; }
};

void run(Item *p, int n) { thrust::stable_sort(thrust::device, p, p + n, Less()); }
// ==== cuda/transpose.cu ====
// Matrix transpose through padded shared tiles of several element sizes: b8/b16/b32/b64/v4 shared accesses.
template <typename T, int TILE, int ROWS>
__device__ void transpose(const T *in, T *out, int w, int h)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < TILE; j += ROWS)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void transpose8(const unsigned char *in, unsigned char *out, int w, int h)
{
    transpose<unsigned char, 32, 8>(in, out, w, h);
}
extern "C" __global__ void transpose16(const short *in, short *out, int w, int h)
{
    transpose<short, 32, 8>(in, out, w, h);
}
extern "C" __global__ void transpose32(const float *in, float *out, int w, int h)
{
    transpose<float, 32, 8>(in, out, w, h);
}
extern "C" __global__ void transpose64(const double *in, double *out, int w, int h)
{
    transpose<double, 16, 8>(in, out, w, h);
}
extern "C" __global__ void transpose128(const float4 *in, float4 *out, int w, int h)
{
    transpose<float4, 16, 16>(in, out, w, h);
}
// ==== cuda/volatiles.cu ====
// volatile accesses of every width and space, vector loads and stores of every legal type, unaligned structs (byte pieces).
// KEEP: 80 100
extern "C" __global__ void widths(volatile char *c, volatile short *s, volatile int *i, volatile long long *l, volatile float *f, volatile double *d)
{
    __shared__ volatile int vs[4];
    volatile int local[4];
    c[1] = c[0];
    s[1] = s[0];
    i[1] = i[0];
    l[1] = l[0];
    f[1] = f[0];
    d[1] = d[0];
    ((volatile unsigned char *)c)[3] = ((volatile unsigned char *)c)[2] + 1;
    ((volatile unsigned short *)s)[3] = ((volatile unsigned short *)s)[2] >> 1;
    vs[i[2] & 3] = i[3];
    local[i[4] & 3] = vs[i[5] & 3];
    i[6] = local[i[7] & 3];
    volatile int4 *v = (volatile int4 *)i;
    v[3].x = v[2].y;
}

template <typename T>
__device__ void move(const void *p, void *q, int k)
{
    T t = ((const T *)p)[threadIdx.x];
    ((T *)q)[threadIdx.x + k] = t;
    __shared__ T s[32];
    s[threadIdx.x] = t;
    __syncthreads();
    ((T *)q)[threadIdx.x] = s[31 - threadIdx.x];
}

extern "C" __global__ void vectors(const void *p, void *q, int k)
{
#define V(t) move<t>(p, q, k);
    V(char1) V(char2) V(char3) V(char4) V(uchar2) V(uchar4) V(short2) V(short3) V(short4) V(ushort4) V(int2) V(int3) V(int4) V(uint2)
    V(longlong2) V(ulonglong2) V(float2) V(float3) V(float4) V(double2) V(double3) V(double4_16a) V(longlong4_32a)
}

struct __attribute__((packed)) Odd {
    char a;
    int b;
    double c;
    short d;
};

extern "C" __global__ void packed(Odd *o, int k)
{
    o[k].b += o[k].a;
    o[k].c *= 2;
    o[k].d = (short)o[k + 1].b;
}

struct __align__(8) Eight { short a, b, c, d; };
struct __align__(16) Sixteen { double a; int b; char c[4]; };
struct Fields { unsigned a : 3, b : 9, c : 20; int d : 5; long long e : 40; };
extern "C" __global__ void structs(Eight *e, Sixteen *s, Fields *f, int k)
{
    e[k] = e[k + 1];
    s[k] = s[k + 1];
    s[k].c[1] = 3;
    f[k].a = k;
    f[k].b += f[k].c;
    f[k].d = f[k + 1].d - 1;
    f[k].e = f[k + 1].e * 3;
}
// ==== cuda/warp.cu ====
// Warp intrinsics: shfl of all widths and modes, vote, ballot, match, redux, activemask, syncwarp, lane masks.
// KEEP: 75 80
extern "C" __global__ void shuffles(const int *in, int *o, double *d, long long *l)
{
    int t = threadIdx.x, v = in[t];
    o += t * 16;
    o[0] = __shfl_sync(~0u, v, 3);
    o[1] = __shfl_sync(~0u, v, t + 1, 8);
    o[2] = __shfl_up_sync(~0u, v, 2);
    o[3] = __shfl_up_sync(0xffff, v, 1, 16);
    o[4] = __shfl_down_sync(~0u, v, 4, 4);
    o[5] = __shfl_xor_sync(~0u, v, 1);
    o[6] = __shfl_xor_sync(__activemask(), v, v & 31);
    d[t] = __shfl_sync(~0u, d[t], v);
    l[t] = __shfl_down_sync(~0u, l[t], 1);
    o[7] = __float_as_int(__shfl_sync(~0u, __int_as_float(v), 5));
}

extern "C" __global__ void votes(const int *in, unsigned *o)
{
    int t = threadIdx.x, v = in[t];
    o += t * 16;
    o[0] = __all_sync(~0u, v > 0);
    o[1] = __any_sync(~0u, v < 0);
    o[2] = __uni_sync(~0u, v == 1);
    o[3] = __ballot_sync(~0u, v & 1);
    o[4] = __activemask();
    o[5] = __match_any_sync(~0u, v);
    int pred;
    o[6] = __match_all_sync(~0u, v, &pred);
    o[7] = pred;
    o[8] = __match_any_sync(~0u, (long long)v << 20);
    o[9] = __match_all_sync(~0u, (unsigned long long)v * 3, &pred) + pred;
    if (v & 1) {
        o[10] = __ballot_sync(__activemask(), 1);
        __syncwarp(__activemask());
    }
    __syncwarp();
    o[11] = __ballot_sync(v, v == 5);
    o[12] = __popc(o[3] & ((1u << (t & 31)) - 1));
}

extern "C" __global__ void reduces(const int *in, unsigned *o)
{
#if __CUDA_ARCH__ >= 800
    int t = threadIdx.x, v = in[t];
    o += t * 8;
    o[0] = __reduce_add_sync(~0u, v);
    o[1] = __reduce_add_sync(~0u, (unsigned)v);
    o[2] = __reduce_min_sync(~0u, v);
    o[3] = __reduce_max_sync(~0u, v);
    o[4] = __reduce_min_sync(~0u, (unsigned)v);
    o[5] = __reduce_and_sync(~0u, (unsigned)v);
    o[6] = __reduce_or_sync(__activemask(), (unsigned)v);
    o[7] = __reduce_xor_sync(~0u, (unsigned)v);
#endif
}

extern "C" __global__ void barriers(int *o, const int *in)
{
    int v = in[threadIdx.x];
    o[0] = __syncthreads_count(v);
    o[1] = __syncthreads_and(v);
    o[2] = __syncthreads_or(v);
    __nanosleep(100);
    __nanosleep(v);
}
// ==== cuda/wgmma.cu ====
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
// ==== cuda/wmma.cu ====
// mma.h fragments of every shape and element type: wmma.load/mma/store with row/col layouts, shared and global tiles.
// KEEP: 75 80
// ARCH: 75 80 90 100
#include <mma.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

using namespace nvcuda;

template <int M, int N, int K, typename A, typename C, typename LA, typename LB>
__device__ void one(const A *a, const A *b, C *c, wmma::layout_t layout)
{
    wmma::fragment<wmma::matrix_a, M, N, K, A, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, A, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fill_fragment(fc, C(0));
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::load_matrix_sync(fc, c, N, layout);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, layout);
}

using row = wmma::row_major;
using col = wmma::col_major;

extern "C" __global__ void halves(const half *a, const half *b, half *c, float *d)
{
    one<16, 16, 16, half, half, row, col>(a, b, c, wmma::mem_row_major);
    one<16, 16, 16, half, float, row, row>(a, b, d, wmma::mem_col_major);
    one<32, 8, 16, half, half, col, row>(a, b, c, wmma::mem_row_major);
    one<32, 8, 16, half, float, col, col>(a, b, d, wmma::mem_row_major);
    one<8, 32, 16, half, half, row, col>(a, b, c, wmma::mem_col_major);
    one<8, 32, 16, half, float, row, row>(a, b, d, wmma::mem_row_major);
}

extern "C" __global__ void integers(const signed char *a, const unsigned char *b, int *c)
{
    one<16, 16, 16, signed char, int, row, col>(a, a, c, wmma::mem_row_major);
    one<16, 16, 16, unsigned char, int, col, row>(b, b, c, wmma::mem_col_major);
    one<32, 8, 16, signed char, int, row, col>(a, a, c, wmma::mem_row_major);
    one<8, 32, 16, unsigned char, int, row, col>(b, b, c, wmma::mem_row_major);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 900
extern "C" __global__ void tiny(const void *a, int *c)
{
    namespace x = wmma::experimental;
    wmma::fragment<wmma::matrix_a, 8, 8, 32, x::precision::s4, row> sa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, x::precision::s4, col> sb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> sc;
    wmma::load_matrix_sync(sa, a, 32);
    wmma::load_matrix_sync(sb, a, 32);
    wmma::fill_fragment(sc, 0);
    wmma::mma_sync(sc, sa, sb, sc);
    wmma::store_matrix_sync(c, sc, 8, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 8, 8, 128, x::precision::b1, row> ba;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, x::precision::b1, col> bb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> bc;
    wmma::load_matrix_sync(ba, a, 128);
    wmma::load_matrix_sync(bb, a, 128);
    wmma::fill_fragment(bc, 0);
    wmma::bmma_sync(bc, ba, bb, bc, x::bmmaBitOpXOR, x::bmmaAccumulateOpPOPC);
    wmma::store_matrix_sync(c + 64, bc, 8, wmma::mem_col_major);
}
#endif

extern "C" __global__ void newer(const __nv_bfloat16 *b, const float *f, const double *d, float *o, double *q)
{
#if __CUDA_ARCH__ >= 800
    one<16, 16, 16, __nv_bfloat16, float, row, col>(b, b, o, wmma::mem_row_major);
    one<32, 8, 16, __nv_bfloat16, float, col, row>(b, b, o, wmma::mem_row_major);
    one<8, 32, 16, __nv_bfloat16, float, row, row>(b, b, o, wmma::mem_col_major);
    one<8, 8, 4, double, double, row, col>(d, d, q, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, row> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, col> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::load_matrix_sync(fa, f, 8);
    wmma::load_matrix_sync(fb, f, 8);
    for (int i = 0; i < fa.num_elements; i++)
        fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    wmma::fill_fragment(fc, 0.0f);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(o, fc, 16, wmma::mem_row_major);
#endif
}

extern "C" __global__ void shared_gemm(const half *a, const half *b, float *c, int k)
{
    __shared__ half sa[16 * 16], sb[16 * 16];
    __shared__ float sc[16 * 16];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        for (int j = threadIdx.x; j < 256; j += 32) {
            sa[j] = a[j / 16 * k + i + j % 16];
            sb[j] = b[(i + j / 16) * 16 + j % 16];
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, row> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, row> fb;
        wmma::load_matrix_sync(fa, sa, 16);
        wmma::load_matrix_sync(fb, sb, 16);
        wmma::mma_sync(acc, fa, fb, acc);
    }
    wmma::store_matrix_sync(sc, acc, 16, wmma::mem_row_major);
    for (int j = threadIdx.x; j < 256; j += 32)
        c[j] = sc[j];
}
