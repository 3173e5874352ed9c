// The kernels of `heddle bench` (suites/micro.def): each measures one rate. All take the same arguments: memory of
// 2^22 words, n iterations and a parameter k. Operations that count are inline PTX, so that a compiler neither adds
// nor removes any.
typedef unsigned u32;
constexpr u32 MASK = (1u << 22) - 1;

#define KERNEL(name) extern "C" __global__ void name(u32 *memory, u32 n, u32 k)
#define REPEAT8(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7)

static __device__ __forceinline__ u32 global_id()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- instructions: eight independent chains ------------------------------------------------------------------

KERNEL(micro_int)
{
    u32 x[8], a = k * 2 + 1;
    for (int c = 0; c < 8; c++) x[c] = global_id() + c;
#pragma unroll 1
    for (u32 i = 0; i < n; i += 4)
#pragma unroll
        for (int j = 0; j < 4; j++) {
#define STEP(c) asm volatile("mad.lo.u32 %0, %0, %1, %0;" : "+r"(x[c]) : "r"(a));
            REPEAT8(STEP)
#undef STEP
        }
    memory[global_id() & MASK] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

KERNEL(micro_fma)
{
    float x[8], a = 0.5f + 1.0f / float(k + 4);
    for (int c = 0; c < 8; c++) x[c] = float(global_id() + c);
#pragma unroll 1
    for (u32 i = 0; i < n; i += 4)
#pragma unroll
        for (int j = 0; j < 4; j++) {
#define STEP(c) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x[c]) : "f"(a));
            REPEAT8(STEP)
#undef STEP
        }
    float sum = 0;
    for (int c = 0; c < 8; c++) sum += x[c];
    memory[global_id() & MASK] = __float_as_uint(sum);
}

KERNEL(micro_sfu)
{
    float x[8];
    for (int c = 0; c < 8; c++) x[c] = float((global_id() + c + k) & 255) * 0.01f;
#pragma unroll 1
    for (u32 i = 0; i < n; i += 4)
#pragma unroll
        for (int j = 0; j < 4; j++) {
#define STEP(c) asm volatile("sin.approx.f32 %0, %0;" : "+f"(x[c]));
            REPEAT8(STEP)
#undef STEP
        }
    float sum = 0;
    for (int c = 0; c < 8; c++) sum += x[c];
    memory[global_id() & MASK] = __float_as_uint(sum);
}

KERNEL(micro_f64)
{
    double x[8], a = 0.5 + 1.0 / double(k + 4);
    for (int c = 0; c < 8; c++) x[c] = double(global_id() + c);
#pragma unroll 1
    for (u32 i = 0; i < n; i += 4)
#pragma unroll
        for (int j = 0; j < 4; j++) {
#define STEP(c) asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x[c]) : "d"(a));
            REPEAT8(STEP)
#undef STEP
        }
    double sum = 0;
    for (int c = 0; c < 8; c++) sum += x[c];
    memory[global_id() & MASK] = u32(__double_as_longlong(sum) >> 32);
}

KERNEL(micro_convert) // there and back: two conversions a step
{
    u32 x[8];
    for (int c = 0; c < 8; c++) x[c] = (global_id() + c + k) & 0xffff;
#pragma unroll 1
    for (u32 i = 0; i < n; i += 4)
#pragma unroll
        for (int j = 0; j < 4; j++) {
#define STEP(c)                                                                                    \
    asm volatile("{ .reg .f32 f; cvt.rn.f32.u32 f, %0; cvt.rzi.u32.f32 %0, f; }" : "+r"(x[c]));
            REPEAT8(STEP)
#undef STEP
        }
    memory[global_id() & MASK] = x[0] ^ x[1] ^ x[2] ^ x[3] ^ x[4] ^ x[5] ^ x[6] ^ x[7];
}

// ---- launches and barriers ---------------------------------------------------------------------------------------

KERNEL(micro_empty) {}

KERNEL(micro_barrier)
{
#pragma unroll 1
    for (u32 i = 0; i < n; i++) __syncthreads();
}

// A barrier of the whole grid, whose CTAs must all be resident (a cooperative launch): memory[0] counts arrivals and
// memory[1] is the number of barriers that are complete. Both keep their sum from launch to launch.
KERNEL(micro_grid_barrier)
{
    volatile u32 *complete = memory + 1;
#pragma unroll 1
    for (u32 i = 0; i < n; i++) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const u32 before = *complete;
            __threadfence();
            if (atomicAdd(memory, 1) == gridDim.x - 1) {
                memory[0] = 0;
                __threadfence();
                atomicAdd(memory + 1, 1);
            } else
                while (*complete == before) {}
            __threadfence();
        }
        __syncthreads();
    }
}

// ---- calls -----------------------------------------------------------------------------------------------------------

static __device__ __noinline__ u32 add_one(u32 x)
{
    asm volatile("add.u32 %0, %0, 1;" : "+r"(x));
    return x;
}
static __device__ __noinline__ u32 add_two(u32 x)
{
    asm volatile("add.u32 %0, %0, 2;" : "+r"(x));
    return x;
}
static __device__ __noinline__ u32 depth(u32 left)
{
    u32 below = left > 1 ? depth(left - 1) : 0;
    asm volatile("add.u32 %0, %0, 1;" : "+r"(below));
    return below;
}
typedef u32 (*function)(u32);
static __device__ function table[2] = {add_one, add_two};

KERNEL(micro_call_direct)
{
    u32 x = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) x = add_one(x);
    memory[global_id() & MASK] = x;
}

KERNEL(micro_call_indirect)
{
    u32 x = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) x = table[(i + k) & 1](x);
    memory[global_id() & MASK] = x;
}

KERNEL(micro_call_recursive) // k calls deep
{
    u32 x = 0;
#pragma unroll 1
    for (u32 i = 0; i < n; i++) x += depth(k);
    memory[global_id() & MASK] = x;
}

// ---- branches: a branch that counts has a side with an instruction that no compiler predicates away -----------------

#define BRANCH(condition, value)                                                                   \
    asm volatile("{\n"                                                                             \
                 "  .reg .pred p;\n"                                                               \
                 "  setp.ne.u32 p, %1, 0;\n"                                                       \
                 "  @p bra side;\n"                                                                \
                 "  add.u32 %0, %0, 1;\n"                                                          \
                 "  xor.b32 %0, %0, 5;\n"                                                          \
                 "side:\n"                                                                         \
                 "}\n"                                                                             \
                 : "+r"(value)                                                                     \
                 : "r"(u32(condition)))

KERNEL(micro_branch_uniform)
{
    u32 x = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) BRANCH((i + k) & 1, x);
    memory[global_id() & MASK] = x;
}

KERNEL(micro_branch_divergent)
{
    u32 x = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) BRANCH((i + threadIdx.x) & 1, x);
    memory[global_id() & MASK] = x;
}

// Each of the 32 lanes takes a side of its own: five branches, each inside of the one before.
KERNEL(micro_branch_32)
{
    u32 x = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++)
        switch ((threadIdx.x + i) & 31) {
#define SIDE(c)                                                                                    \
    case c: asm volatile("add.u32 %0, %0, " #c ";" : "+r"(x)); break;
#define SIDES(a, b, c, d) SIDE(a) SIDE(b) SIDE(c) SIDE(d)
            SIDES(0, 1, 2, 3) SIDES(4, 5, 6, 7) SIDES(8, 9, 10, 11) SIDES(12, 13, 14, 15)
            SIDES(16, 17, 18, 19) SIDES(20, 21, 22, 23) SIDES(24, 25, 26, 27) SIDES(28, 29, 30, 31)
        }
    memory[global_id() & MASK] = x;
}

KERNEL(micro_branch_nested) // three branches, each on the side of the one before that half of the lanes take
{
    u32 x = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++)
        asm volatile("{\n"
                     "  .reg .pred p;\n"
                     "  .reg .b32 t;\n"
                     "  and.b32 t, %1, 1;\n"
                     "  setp.ne.u32 p, t, 0;\n"
                     "  @p bra outer;\n"
                     "  and.b32 t, %1, 2;\n"
                     "  setp.ne.u32 p, t, 0;\n"
                     "  @p bra middle;\n"
                     "  and.b32 t, %1, 4;\n"
                     "  setp.ne.u32 p, t, 0;\n"
                     "  @p bra inner;\n"
                     "  add.u32 %0, %0, 1;\n"
                     "inner:\n"
                     "  add.u32 %0, %0, 2;\n"
                     "middle:\n"
                     "  add.u32 %0, %0, 3;\n"
                     "outer:\n"
                     "}\n"
                     : "+r"(x)
                     : "r"(threadIdx.x + i * 2 * k));
    memory[global_id() & MASK] = x;
}

// ---- memory ------------------------------------------------------------------------------------------------------------

__constant__ u32 constants[1024];

#define LOAD(space, result, address)                                                               \
    asm volatile("ld." space ".u32 %0, [%1];" : "=r"(result) : "l"(address) : "memory")

KERNEL(micro_global_coalesced)
{
    u32 x = 0, id = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) {
        u32 v;
        LOAD("global", v, memory + ((id + i * 1024) & MASK));
        x ^= v;
    }
    memory[id & MASK] = x;
}

KERNEL(micro_global_strided) // k words between lanes
{
    u32 x = 0, id = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) {
        u32 v;
        LOAD("global", v, memory + ((id * k + i) & MASK));
        x ^= v;
    }
    memory[id & MASK] = x;
}

KERNEL(micro_global_random)
{
    u32 x = 0, id = global_id(), at = id + k;
#pragma unroll 1
    for (u32 i = 0; i < n; i++) {
        u32 v;
        at = at * 1664525 + 1013904223;
        LOAD("global", v, memory + (at >> 10));
        x ^= v;
    }
    memory[id & MASK] = x;
}

KERNEL(micro_shared) // k words between lanes
{
    __shared__ u32 words[1024];
    u32 x = 0, id = global_id();
    words[threadIdx.x & 1023] = id;
    __syncthreads();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) {
        u32 v;
        LOAD("shared", v, __cvta_generic_to_shared(words + ((threadIdx.x * k + i) & 1023)));
        x ^= v;
    }
    memory[id & MASK] = x;
}

KERNEL(micro_constant)
{
    u32 x = 0, id = global_id();
#pragma unroll 1
    for (u32 i = 0; i < n; i++) {
        u32 v;
        LOAD("const", v, __cvta_generic_to_constant(constants + ((i + k) & 1023)));
        x ^= v;
    }
    memory[id & MASK] = x;
}

KERNEL(micro_atomic) // on memory[i] where k is 0, else each thread on a word of its own
{
    u32 id = global_id(), own = k ? id & MASK : 0;
#pragma unroll 1
    for (u32 i = 0; i < n; i++)
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(memory + own), "r"(i) : "memory");
}
