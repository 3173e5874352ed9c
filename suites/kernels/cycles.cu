// The kernels of `heddle-suite cycles` (suites/cycles.def): each CTA says how many cycles of %clock64 it took for what
// it measures. All take the same arguments: memory, where cycles go (one number for each CTA), n rounds, and two
// parameters. Instructions that count are inline PTX in loops that are not unrolled.
typedef unsigned u32;
typedef unsigned long long u64;

#define KERNEL(name) extern "C" __global__ void name(u32 *memory, u64 *out, u32 n, u32 k, u32 size)
#define BEGIN                                                                                      \
    __syncthreads();                                                                               \
    const u64 begun = clock64();
#define END(result)                                                                                \
    __syncthreads();                                                                               \
    const u64 ended = clock64();                                                                   \
    if (threadIdx.x == 0) out[blockIdx.x] = ended - begun;                                         \
    if (u32(result) == 0x9e3779b9u) memory[0] = 1;
#define LOOP _Pragma("unroll 1") for (u32 i = 0; i < n; i++)
#define R4(s) s s s s
#define R16(s) R4(s) R4(s) R4(s) R4(s)

static __device__ __forceinline__ u32 global_id()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- instructions: a chain of 16 steps a round, each of which needs the one before -----------------------------------

#define CHAIN_U32(name, step)                                                                      \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        u32 x = threadIdx.x + k, a = size * 2 + 0xfffff001u, b = k * 4 + 3;                        \
        BEGIN LOOP asm volatile(R16(step) : "+r"(x) : "r"(a), "r"(b));                             \
        END(x)                                                                                     \
    }
#define CHAIN_U64(name, step)                                                                      \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        u64 x = threadIdx.x + k, a = size * 2 + 0xfffffffffffff001ull, b = k * 4 + 3;              \
        BEGIN LOOP asm volatile(R16(step) : "+l"(x) : "l"(a), "l"(b));                             \
        END(x)                                                                                     \
    }
#define CHAIN_F32(name, step)                                                                      \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        float x = 1 + float(threadIdx.x + k) * 0.001f, a = 0.5f + float(size + 1),                 \
              b = float(k) + 0.25f;                                                                \
        BEGIN LOOP asm volatile(R16(step) : "+f"(x) : "f"(a), "f"(b));                             \
        END(__float_as_uint(x))                                                                    \
    }
#define CHAIN_F64(name, step)                                                                      \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        double x = 1 + double(threadIdx.x + k) * 0.001, a = 0.5 + double(size + 1),                \
               b = double(k) + 0.25;                                                               \
        BEGIN LOOP asm volatile(R16(step) : "+d"(x) : "d"(a), "d"(b));                             \
        END(__double_as_longlong(x))                                                               \
    }
KERNEL(cycles_clock) // nothing between two readings, n times
{
    u64 least = ~0ull;
    LOOP
    {
        const u64 begun = clock64(), ended = clock64();
        if (ended - begun < least) least = ended - begun;
    }
    out[blockIdx.x] = least * n;
}
CHAIN_U32(cycles_add_xor, "add.u32 %0, %0, %1; xor.b32 %0, %0, %2;\n")
CHAIN_U32(cycles_mad, "mad.lo.u32 %0, %0, %1, %2;\n")
CHAIN_U32(cycles_mul_hi, "mul.hi.u32 %0, %0, %1;\n")
CHAIN_U32(cycles_lop3, "lop3.b32 %0, %0, %1, %2, 0x96; add.u32 %0, %0, %2;\n")
CHAIN_U32(cycles_shf, "shf.l.wrap.b32 %0, %0, %1, 7; add.u32 %0, %0, %2;\n")
CHAIN_U32(cycles_shift, "shl.b32 %0, %0, %2; xor.b32 %0, %0, %1;\n")
CHAIN_U32(cycles_prmt, "prmt.b32 %0, %0, %1, %2;\n")
CHAIN_U32(cycles_popc, "popc.b32 %0, %0;\n")
CHAIN_U32(cycles_clz, "clz.b32 %0, %0;\n")
CHAIN_U32(cycles_brev, "brev.b32 %0, %0; add.u32 %0, %0, %1;\n")
CHAIN_U32(cycles_min_max, "min.s32 %0, %0, %1; add.u32 %0, %0, %2;\n")
CHAIN_U32(cycles_dp4a, "dp4a.u32.u32 %0, %0, %1, %0;\n")
CHAIN_U32(cycles_setp_selp, "{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.u32 %0, %2, %1, p; }\n")
CHAIN_U32(cycles_predicated, "{ .reg .pred p; setp.lt.u32 p, %0, %1; @p add.u32 %0, %0, %2; }\n")
CHAIN_U32(cycles_divide_u32, "div.u32 %0, %1, %0; add.u32 %0, %0, %2;\n")
CHAIN_U32(cycles_divide_s32, "div.s32 %0, %1, %0; or.b32 %0, %0, %2;\n")
CHAIN_U32(cycles_remainder_u32, "rem.u32 %0, %1, %0; add.u32 %0, %0, %2;\n")
CHAIN_U64(cycles_add_u64, "add.u64 %0, %0, %1; xor.b64 %0, %0, %2;\n")
CHAIN_U64(cycles_mul_u64, "mul.lo.u64 %0, %0, %1;\n")
CHAIN_U64(cycles_divide_u64, "div.u64 %0, %1, %0; add.u64 %0, %0, %2;\n")
CHAIN_F32(cycles_add_f32, "add.rn.f32 %0, %0, %1;\n")
CHAIN_F32(cycles_mul_f32, "mul.rn.f32 %0, %0, %1;\n")
CHAIN_F32(cycles_fma_f32, "fma.rn.f32 %0, %0, %1, %2;\n")
CHAIN_F32(cycles_fma_two, "fma.rn.f32 %0, %0, %1, %0;\n")
CHAIN_F32(cycles_min_f32, "min.f32 %0, %0, %1; add.f32 %0, %0, %2;\n")
CHAIN_F32(cycles_rcp, "rcp.approx.ftz.f32 %0, %0; add.rn.ftz.f32 %0, %0, %1;\n")
CHAIN_F32(cycles_sqrt, "sqrt.approx.ftz.f32 %0, %0;\n")
CHAIN_F32(cycles_rsqrt, "rsqrt.approx.ftz.f32 %0, %0;\n")
CHAIN_F32(cycles_sin, "sin.approx.ftz.f32 %0, %0;\n")
CHAIN_F32(cycles_ex2, "ex2.approx.ftz.f32 %0, %0;\n")
CHAIN_F32(cycles_lg2, "lg2.approx.ftz.f32 %0, %0;\n")
CHAIN_F32(cycles_tanh, "tanh.approx.f32 %0, %0;\n")
CHAIN_F32(cycles_divide_rn, "div.rn.f32 %0, %1, %0;\n")
CHAIN_F32(cycles_divide_full, "div.full.f32 %0, %1, %0;\n")
CHAIN_F32(cycles_sqrt_rn, "sqrt.rn.f32 %0, %0;\n")
CHAIN_F32(cycles_rcp_rn, "rcp.rn.f32 %0, %0;\n")
CHAIN_F64(cycles_add_f64, "add.rn.f64 %0, %0, %1;\n")
CHAIN_F64(cycles_mul_f64, "mul.rn.f64 %0, %0, %1;\n")
CHAIN_F64(cycles_fma_f64, "fma.rn.f64 %0, %0, %1, %2;\n")
CHAIN_F64(cycles_divide_f64, "div.rn.f64 %0, %1, %0;\n")
CHAIN_F64(cycles_sqrt_f64, "sqrt.rn.f64 %0, %0;\n")
CHAIN_U32(
    cycles_fma_f16,
    "{ .reg .b16 x, y; .reg .b16 z; mov.b32 {x, y}, %0; mov.b32 {z, y}, %1; fma.rn.f16 x, x, z, z; mov.b32 %0, {x, x}; }\n")
CHAIN_U32(cycles_fma_f16x2, "fma.rn.f16x2 %0, %0, %1, %2;\n")
CHAIN_U32(cycles_add_f16x2, "add.rn.f16x2 %0, %0, %1;\n")
CHAIN_U32(cycles_fma_bf16x2, "fma.rn.bf16x2 %0, %0, %1, %2;\n")
CHAIN_U32(cycles_from_u32, "{ .reg .f32 f; cvt.rn.f32.u32 f, %0; mov.b32 %0, f; }\n")
CHAIN_U32(cycles_to_u32, "{ .reg .f32 f; mov.b32 f, %0; cvt.rzi.u32.f32 %0, f; }\n")
CHAIN_U32(
    cycles_convert_f16,
    "{ .reg .b16 h, g; .reg .f32 f; mov.b32 {h, g}, %0; cvt.f32.f16 f, h; cvt.rn.f16.f32 h, f; mov.b32 %0, {h, g}; }\n")
CHAIN_U64(
    cycles_convert_f64,
    "{ .reg .f64 f; .reg .f32 g; mov.b64 f, %0; cvt.rn.f32.f64 g, f; cvt.f64.f32 f, g; mov.b64 %0, f; }\n")
CHAIN_U32(cycles_convert_s8, "cvt.s32.s8 %0, %0; add.u32 %0, %0, %1;\n")
CHAIN_U32(cycles_shuffle, "shfl.sync.idx.b32 %0, %0, %0, 31, 0xffffffff;\n")
CHAIN_U32(cycles_vote,
          "{ .reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff; }\n")
CHAIN_U32(cycles_match, "match.any.sync.b32 %0, %0, 0xffffffff;\n")
CHAIN_U32(cycles_redux, "redux.sync.add.u32 %0, %0, 0xffffffff;\n")
CHAIN_U32(cycles_syncwarp, "bar.warp.sync 0xffffffff; add.u32 %0, %0, %1;\n")
CHAIN_U32(cycles_barrier, "bar.sync 0;\n")
CHAIN_U32(cycles_fence_cta, "fence.acq_rel.cta;\n")
CHAIN_U32(cycles_fence_gpu, "fence.acq_rel.gpu;\n")
CHAIN_U32(cycles_fence_sys, "fence.acq_rel.sys;\n")

KERNEL(
    cycles_branch_divergent) // half of the lanes each way, sides that no compiler predicates away
{
    u32 x = threadIdx.x * (k & 1), y = 1;
    BEGIN LOOP
    {
        if ((x + i) & 1)
            asm volatile(R4("mad.lo.u32 %0, %0, %0, 3;\n")
                             R4("xor.b32 %0, %0, 5; mad.lo.u32 %0, %0, %0, 1;\n")
                         : "+r"(y));
        else
            asm volatile(R4("mad.lo.u32 %0, %0, %0, 7;\n")
                             R4("xor.b32 %0, %0, 9; mad.lo.u32 %0, %0, %0, 2;\n")
                         : "+r"(y));
    }
    END(y)
}

// ---- shared and constant memory -----------------------------------------------------------------------------------------

__shared__ u32 words[8192];
__constant__ u32 zeros[1024];

static __device__ __forceinline__ u32 shared_at(u32 word)
{
    return u32(__cvta_generic_to_shared(words + word));
}

KERNEL(cycles_shared) // lanes load k words apart, each from the address that the load before gave
{
    u32 x = shared_at(threadIdx.x * k & 8191);
    for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = shared_at(i);
    BEGIN LOOP asm volatile(R16("ld.shared.u32 %0, [%0];\n") : "+r"(x)::"memory");
    END(x)
}
KERNEL(cycles_shared_64) // two words a lane; `size` lanes load the same
{
    u32 x = shared_at(threadIdx.x / size * 2 * k & 8190), y = 0;
    for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = shared_at(i);
    BEGIN LOOP asm volatile(R16("ld.shared.v2.u32 {%0, %1}, [%0];\n") : "+r"(x), "+r"(y)::"memory");
    END(x + y)
}
KERNEL(cycles_shared_128) // four words a lane; `size` lanes load the same
{
    u32 x = shared_at(threadIdx.x / size * 4 * k & 8188), y = 0, z = 0, w = 0;
    for (u32 i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = shared_at(i);
    BEGIN LOOP asm volatile(R16("ld.shared.v4.u32 {%0, %1, %2, %3}, [%0];\n")
                            : "+r"(x), "+r"(y), "+r"(z), "+r"(w)::"memory");
    END(x + y + z + w)
}
KERNEL(cycles_shared_store) // k words apart, in two places in turn
{
    u32 x = shared_at(threadIdx.x * k & 4095);
    BEGIN LOOP asm volatile(R16("st.shared.u32 [%0], %0; xor.b32 %0, %0, 16384;\n")
                            : "+r"(x)::"memory");
    END(x)
}
#define SHARED_ATOMIC(name, instruction)                                                           \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        u32 x = 1, at = shared_at(threadIdx.x * k & 8191);                                         \
        BEGIN LOOP asm volatile(R16(instruction) : "+r"(x) : "r"(at) : "memory");                  \
        END(x)                                                                                     \
    }
SHARED_ATOMIC(cycles_shared_add, "atom.shared.add.u32 %0, [%1], %0;\n")
SHARED_ATOMIC(cycles_shared_red, "red.shared.add.u32 [%1], %0;\n")
SHARED_ATOMIC(cycles_shared_min, "atom.shared.min.u32 %0, [%1], %0;\n")
SHARED_ATOMIC(cycles_shared_cas, "atom.shared.cas.b32 %0, [%1], %0, 3;\n")
SHARED_ATOMIC(cycles_shared_exch, "atom.shared.exch.b32 %0, [%1], %0;\n")
SHARED_ATOMIC(cycles_shared_add_f32,
              "{ .reg .f32 f; mov.b32 f, %0; atom.shared.add.f32 f, [%1], f; mov.b32 %0, f; }\n")

KERNEL(cycles_constant) // each address from the load before
{
    u32 x = 0;
    BEGIN LOOP asm volatile(
        R16("{ .reg .b32 t; mov.b32 t, zeros; add.u32 t, t, %0; ld.const.u32 %0, [t]; }\n")
        : "+r"(x)::"memory");
    END(x + zeros[k & 1023])
}
KERNEL(cycles_constant_lanes) // k words between lanes: as many requests as there are addresses
{
    u32 x = threadIdx.x * k * 4 & 4092;
    BEGIN LOOP asm volatile(
        R16("{ .reg .b32 t; mov.b32 t, zeros; add.u32 t, t, %1; ld.const.u32 t, [t]; add.u32 %0, %0, t; }\n")
        : "+r"(x)
        : "r"(x)
        : "memory");
    END(x + zeros[k & 1023])
}

// ---- global memory -------------------------------------------------------------------------------------------------------

// A cycle through size bytes, k apart: in order (n = 1) or through all of them in one that looks random. Not measured.
KERNEL(cycles_fill)
{
    const u32 count = size / k;
    const u64 base = u64(memory);
    for (u32 i = global_id(); i < count; i += gridDim.x * blockDim.x)
        *(u64 *)(base + u64(i) * k) = base + u64((n == 1 ? i + 1 : i * 0x41c64e6du + 12345u) &
                                                 (count - 1)) *
                                                 k;
    if (threadIdx.x == 0) out[blockIdx.x] = 0;
}
#define CHASE(name, load)                                                                          \
    KERNEL(name) /* after k steps that are not counted */                                          \
    {                                                                                              \
        u64 x = u64(memory);                                                                       \
        _Pragma("unroll 1") for (u32 i = 0; i < k; i++) asm volatile(load : "+l"(x)::"memory");    \
        BEGIN LOOP asm volatile(R16(load) : "+l"(x)::"memory");                                    \
        END(x)                                                                                     \
    }
CHASE(cycles_chase_ca, "ld.global.ca.u64 %0, [%0];\n")
CHASE(cycles_chase_cg, "ld.global.cg.u64 %0, [%0];\n")

// Each of n lines, k bytes apart, alone: the cycles of its load, in 32 bits behind those of CTAs. The store to shared
// memory waits for the load.
KERNEL(cycles_lines)
{
    u32 *each = (u32 *)(out + 65536);
    volatile u32 *const shared = words;
    const u64 base = u64(memory);
    const u32 count = size / k;
    BEGIN LOOP
    {
        const u64 at = base + u64((i * 0x41c64e6du + 12345u) & (count - 1)) * k;
        u32 v;
        const u64 from = clock64();
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
        shared[i & 1023] = v;
        const u64 to = clock64();
        each[i] = u32(to - from);
    }
    END(0)
}

// All threads: loads that need nothing of each other, lanes k words apart; warps after each other in size words.
#define PATTERN(name, type, load, use)                                                             \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        u32 sum = 0;                                                                               \
        const u32 mask = size - 1;                                                                 \
        const u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;                                \
        const u32 at = lane * k + warp * 32;                                                       \
        for (u32 i = threadIdx.x * 4; i < size; i += blockDim.x * 4) sum += memory[i];             \
        BEGIN LOOP                                                                                 \
        {                                                                                          \
            _Pragma("unroll") for (u32 j = 0; j < 8; j++)                                          \
            {                                                                                      \
                type v;                                                                            \
                asm volatile(load                                                                  \
                             : "=r"(v.x)use(v)                                                     \
                             : "l"(memory + ((at + (i * 8 + j) * 64) & mask))                      \
                             : "memory");                                                          \
                sum += v.x;                                                                        \
            }                                                                                      \
        }                                                                                          \
        END(sum)                                                                                   \
    }
struct one {
    u32 x;
};
struct two {
    u32 x, y;
};
struct four {
    u32 x, y, z, w;
};
#define NO_MORE(v)
#define ONE_MORE(v) , "=r"(v.y)
#define THREE_MORE(v) , "=r"(v.y), "=r"(v.z), "=r"(v.w)
PATTERN(cycles_l1_32, one, "ld.global.ca.u32 %0, [%1];", NO_MORE)
PATTERN(cycles_l1_64, two, "ld.global.ca.v2.u32 {%0, %1}, [%2];", ONE_MORE)
PATTERN(cycles_l1_128, four, "ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];", THREE_MORE)
PATTERN(cycles_l2_32, one, "ld.global.cg.u32 %0, [%1];", NO_MORE)

// Rows of k bytes, one a lane, read along from L1: 16 words of each, in no order that could be merged.
KERNEL(cycles_rows)
{
    u32 sum = 0;
    const u64 row = u64(memory) + u64(global_id() & (size - 1)) * k;
    BEGIN LOOP
#pragma unroll
        for (u32 j = 0; j < 16; j++)
    {
        u32 v;
        asm volatile("ld.global.ca.u32 %0, [%1];"
                     : "=r"(v)
                     : "l"(row + (i * 7 + j * 5 & 15) * 4)
                     : "memory");
        sum += v;
    }
    END(sum)
}
// Stores: 8 a round, lanes k words apart.
KERNEL(cycles_store)
{
    const u32 mask = size - 1, at = (threadIdx.x & 31) * k + threadIdx.x / 32 * 32;
    BEGIN LOOP
#pragma unroll
        for (u32 j = 0; j < 8; j++) asm volatile(
            "st.global.u32 [%0], %1;" ::"l"(memory + ((at + (i * 8 + j) * 64) & mask)),
            "r"(i) : "memory");
    END(n)
}

// Streams: the grid moves through size KB, each thread 16 bytes at a time; n rounds of eight.
#define STREAM_AT ((u64(i * 8 + j) * gridDim.x * blockDim.x + global_id()) * 16 & bytes)
KERNEL(cycles_read)
{
    u32 sum = 0;
    const u64 bytes = u64(size) * 1024 - 1;
    BEGIN LOOP
    {
        four v[8];
#pragma unroll
        for (u32 j = 0; j < 8; j++)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[j].x), "=r"(v[j].y), "=r"(v[j].z), "=r"(v[j].w)
                         : "l"(u64(memory) + STREAM_AT)
                         : "memory");
#pragma unroll
        for (u32 j = 0; j < 8; j++) sum += v[j].x ^ v[j].w;
    }
    END(sum)
}
KERNEL(cycles_write)
{
    const u64 bytes = u64(size) * 1024 - 1;
    BEGIN LOOP
#pragma unroll
        for (u32 j = 0; j < 8; j++) asm volatile(
            "st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(u64(memory) + STREAM_AT),
            "r"(i) : "memory");
    END(k)
}
KERNEL(cycles_copy) // to k MB further on
{
    const u64 bytes = u64(size) * 1024 - 1;
    BEGIN LOOP
    {
        four v[8];
#pragma unroll
        for (u32 j = 0; j < 8; j++)
            asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(v[j].x), "=r"(v[j].y), "=r"(v[j].z), "=r"(v[j].w)
                         : "l"(u64(memory) + STREAM_AT)
                         : "memory");
#pragma unroll
        for (u32 j = 0; j < 8; j++)
            asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(
                             u64(memory) + u64(k) * 1048576 + STREAM_AT),
                         "r"(v[j].x), "r"(v[j].y), "r"(v[j].z), "r"(v[j].w)
                         : "memory");
    }
    END(k)
}
// Single sectors in no order: n rounds of eight loads of a word.
KERNEL(cycles_random)
{
    u32 sum = 0, at = global_id() * 2654435761u + k;
    const u32 sectors = size * 32u - 1; // size KB
    BEGIN LOOP
    {
        u32 v[8];
#pragma unroll
        for (u32 j = 0; j < 8; j++) {
            at = at * 1664525u + 1013904223u;
            asm volatile("ld.global.cg.u32 %0, [%1];"
                         : "=r"(v[j])
                         : "l"(u64(memory) + u64(at >> 4 & sectors) * 32)
                         : "memory");
        }
#pragma unroll
        for (u32 j = 0; j < 8; j++) sum += v[j];
    }
    END(sum)
}

// ---- atomics on global memory: 4 a round. Lanes are k words apart, warps size words --------------------------------------

#define ATOMIC(name, instruction)                                                                  \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        u32 x = 1;                                                                                 \
        const u64 at = u64(memory + (threadIdx.x & 31) * k + u64(global_id() / 32) * size);        \
        BEGIN LOOP asm volatile(R4(instruction) : "+r"(x) : "l"(at) : "memory");                   \
        END(x)                                                                                     \
    }
ATOMIC(cycles_atomic_add, "atom.global.add.u32 %0, [%1], %0;\n")
ATOMIC(cycles_atomic_red, "red.global.add.u32 [%1], %0;\n")
ATOMIC(cycles_atomic_red_f32, "{ .reg .f32 f; mov.b32 f, %0; red.global.add.f32 [%1], f; }\n")
ATOMIC(cycles_atomic_add_f32,
       "{ .reg .f32 f; mov.b32 f, %0; atom.global.add.f32 f, [%1], f; mov.b32 %0, f; }\n")
ATOMIC(cycles_atomic_cas, "atom.global.cas.b32 %0, [%1], %0, 5;\n")
ATOMIC(cycles_atomic_exch, "atom.global.exch.b32 %0, [%1], %0;\n")
ATOMIC(cycles_atomic_max, "red.global.max.u32 [%1], %0;\n")
ATOMIC(cycles_atomic_red_f16x2, "red.global.add.noftz.f16x2 [%1], %0;\n")
KERNEL(cycles_atomic_red_u64)
{
    const u64 at = u64(memory + (threadIdx.x & 31) * k * 2 + u64(global_id() / 32) * size), x = 1;
    BEGIN LOOP asm volatile(R4("red.global.add.u64 [%0], %1;\n")::"l"(at), "l"(x) : "memory");
    END(n)
}
KERNEL(cycles_atomic_red_f64)
{
    const u64 at = u64(memory + (threadIdx.x & 31) * k * 2 + u64(global_id() / 32) * size);
    const double x = 1;
    BEGIN LOOP asm volatile(R4("red.global.add.f64 [%0], %1;\n")::"l"(at), "d"(x) : "memory");
    END(n)
}

// ---- matrices and copies to shared memory ----------------------------------------------------------------------------------

#define MMA4(name, shape, a, b)                                                                    \
    KERNEL(name) /* the sum is a chain */                                                          \
    {                                                                                              \
        u32 d[4] = {threadIdx.x, k, 2, 3}, u = k, v = size;                                        \
        BEGIN LOOP asm volatile(                                                                   \
            R4("mma.sync.aligned." shape " {%0, %1, %2, %3}, " a ", " b ", {%0, %1, %2, %3};\n")   \
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                       \
            : "r"(u), "r"(v));                                                                     \
        END(d[0] + d[1] + d[2] + d[3])                                                             \
    }
#define MMA4F(name, shape, a, b)                                                                   \
    KERNEL(name)                                                                                   \
    {                                                                                              \
        float d[4] = {float(threadIdx.x), float(k), 2, 3};                                         \
        u32 u = k, v = size;                                                                       \
        BEGIN LOOP asm volatile(                                                                   \
            R4("mma.sync.aligned." shape " {%0, %1, %2, %3}, " a ", " b ", {%0, %1, %2, %3};\n")   \
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                       \
            : "r"(u), "r"(v));                                                                     \
        END(__float_as_uint(d[0] + d[1] + d[2] + d[3]))                                            \
    }
MMA4F(cycles_mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", "{%4, %5, %4, %5}", "{%4, %5}")
MMA4F(cycles_mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", "{%4, %5, %4, %5}", "{%4, %5}")
MMA4F(cycles_mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", "{%4, %5, %4, %5}", "{%4, %5}")
MMA4F(cycles_mma_f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", "{%4, %5}", "{%5}")
MMA4(cycles_mma_s8, "m16n8k32.row.col.s32.s8.s8.s32", "{%4, %5, %4, %5}", "{%4, %5}")
KERNEL(cycles_mma_f16_f16)
{
    u32 d[2] = {threadIdx.x, k}, u = k, v = size;
    BEGIN LOOP asm volatile(
        R4("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %2, %3}, {%2, %3}, {%0, %1};\n")
        : "+r"(d[0]), "+r"(d[1])
        : "r"(u), "r"(v));
    END(d[0] + d[1])
}
KERNEL(cycles_mma_f64)
{
    double d[2] = {double(threadIdx.x), double(k)}, u = k, v = size;
    BEGIN LOOP asm volatile(
        R4("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};\n")
        : "+d"(d[0]), "+d"(d[1])
        : "d"(u), "d"(v));
    END(__double_as_longlong(d[0] + d[1]))
}
KERNEL(cycles_ldmatrix) // x4; rows of 16 bytes after each other
{
    u32 x = shared_at(0), y = 0, z = 0, w = 0;
    for (u32 i = threadIdx.x; i < 8192; i += blockDim.x)
        words[i] = shared_at((threadIdx.x & 31) * 4);
    __syncthreads();
    x = shared_at((threadIdx.x & 31) * 4);
    BEGIN LOOP asm volatile(
        R16("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n")
        : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
        : "r"(shared_at((threadIdx.x & 31) * 4) + (x & 0))
        : "memory");
    END(x + y + z + w)
}
KERNEL(
    cycles_copy_async) // four copies of 16 bytes a thread, then the wait for them; size KB of memory
{
    const u32 to = shared_at((threadIdx.x * 4) & 8188);
    const u64 bytes = u64(size) * 1024 - 1;
    BEGIN LOOP
    {
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to),
                         "l"(u64(memory) +
                             ((u64(i * 4 + j) * gridDim.x * blockDim.x + global_id()) * 16 & bytes))
                         : "memory");
        asm volatile("cp.async.commit_group; cp.async.wait_group 0;" ::: "memory");
    }
    END(k)
}

// ---- launches: what a whole grid takes ----------------------------------------------------------------------------------------

KERNEL(cycles_empty)
{
}
KERNEL(cycles_straight) // a thousand instructions and more after each other, once for each of n
{
    u32 x = threadIdx.x, a = size + 7;
    BEGIN LOOP asm volatile(R16(R16(R4("mad.lo.u32 %0, %0, %1, %0; xor.b32 %0, %0, %1;\n")))
                            : "+r"(x)
                            : "r"(a));
    END(x)
}
KERNEL(cycles_heavy) // one warp, of CTA k, makes n dependent loads that hit L1; the others one
{
    u64 x = u64(memory) + u64(threadIdx.x / 32 + blockIdx.x * 8 & 1023) * 128;
    const u32 rounds = blockIdx.x == k && threadIdx.x < 32 ? n : 1;
    BEGIN
#pragma unroll 1
    for (u32 i = 0; i < rounds; i++) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(x)::"memory");
    END(x)
}
// One CTA fills size bytes with a cycle, lines apart, then one thread follows it n steps.
KERNEL(cycles_phases)
{
    const u64 base = u64(memory);
    const u32 count = size / 128;
    const u64 begun = clock64();
#pragma unroll 1
    for (u32 i = threadIdx.x; i < count; i += blockDim.x)
        *(u64 *)(base + u64(i) * 128) = base + u64((i * 0x41c64e6du + 12345u) & (count - 1)) * 128;
    __syncthreads();
    u64 x = base;
    if (threadIdx.x == 0) {
#pragma unroll 1
        for (u32 i = 0; i < n; i++) asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(x)::"memory");
        out[blockIdx.x] = clock64() - begun;
    }
    if (x == 1) memory[0] = 1;
}
KERNEL(cycles_hot) // n atomics a thread on k words
{
    const u64 at = u64(memory + global_id() % k);
    BEGIN LOOP asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(i) : "memory");
    END(n)
}
KERNEL(
    cycles_hash) // n keys a thread, by compare-and-swap with linear probing, into a table of size words, which is empty
{
    u32 key = global_id() * n + 1, put = 0;
    BEGIN LOOP
    {
        u32 at = (key + i) * 2654435761u;
        for (;; at++) {
            const u32 before = atomicCAS(memory + (at & (size - 1)), 0u, key + i);
            put++;
            if (before == 0 || before == key + i) break;
        }
    }
    END(put)
}
// A counter under a lock: warps' first threads, n times each; the lock is word 32 * (CTA % k).
KERNEL(cycles_lock)
{
    u32 *lock = memory + 64 * (blockIdx.x % k);
    BEGIN
    if (threadIdx.x % 32 == 0) LOOP
        {
            while (atomicCAS(lock, 0u, 1u) != 0u) {
            }
            __threadfence();
            volatile u32 *count = lock + 32;
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0u);
        }
    END(n)
}
KERNEL(
    cycles_flag) // CTA after CTA: each waits until the one before has set its flag; the flags are zero
{
    volatile u32 *flags = memory;
    BEGIN
    if (threadIdx.x == 0) {
        if (blockIdx.x)
            while (flags[(blockIdx.x - 1) * 32] == 0) {
            }
        __threadfence();
        flags[blockIdx.x * 32] = 1;
    }
    END(n)
}
KERNEL(cycles_zero) // size words. Not measured
{
    for (u32 i = global_id(); i < size; i += gridDim.x * blockDim.x) memory[i] = 0;
    if (threadIdx.x == 0) out[blockIdx.x] = 0;
}
