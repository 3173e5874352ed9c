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
