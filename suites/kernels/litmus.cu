// Litmus tests: a few threads, two words x and y, two accesses a thread; which results come together?
// Accesses are volatile, so each is made, once, and is whole; nothing orders those to different words but
// the fences that a kernel has or has not.
enum { MP, SB, LB, IRIW, CORR };
enum { X = 0, Y = 32, WORDS = 64 }; // x and y lie in lines of their own

template <bool GRID, bool FENCED> __device__ void fence()
{
    if (FENCED && GRID) __threadfence();
    if (FENCED && !GRID) __threadfence_block();
}

// Instance i of the test. The roles of one instance are threads of different blocks, or of different warps
// of one block; which block or warp has which role changes, so none of them comes always first.
template <int TEST, bool GRID, bool FENCED> __device__ void litmus(unsigned *words, unsigned *results)
{
    const unsigned roles = TEST == IRIW ? 4 : 2;
    unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32;
    unsigned unit = GRID ? blockIdx.x : blockIdx.x * warps + warp;
    unsigned group = unit / roles, role = (unit + group) % roles;
    unsigned i = GRID ? group * blockDim.x + threadIdx.x : group * 32 + threadIdx.x % 32;
    volatile unsigned *x = &words[i * WORDS + X], *y = &words[i * WORDS + Y];
    unsigned *r = &results[i * 4], a, b;
    if (TEST == MP && role == 0) {
        *x = 1;
        fence<GRID, FENCED>();
        *y = 1;
    } else if (TEST == MP) {
        a = *y;
        fence<GRID, FENCED>();
        b = *x;
        r[0] = a;
        r[1] = b;
    } else if (TEST == SB) {
        *(role == 0 ? x : y) = 1;
        fence<GRID, FENCED>();
        r[role] = *(role == 0 ? y : x);
    } else if (TEST == LB) {
        a = *(role == 0 ? x : y);
        fence<GRID, FENCED>();
        *(role == 0 ? y : x) = 1;
        r[role] = a;
    } else if (TEST == IRIW && role < 2) {
        *(role == 0 ? x : y) = 1;
    } else if (TEST == IRIW) {
        a = *(role == 2 ? x : y);
        fence<GRID, FENCED>();
        b = *(role == 2 ? y : x);
        r[2 * role - 4] = a;
        r[2 * role - 3] = b;
    } else if (role == 0) {
        *x = 1;
    } else {
        a = *x;
        fence<GRID, FENCED>();
        b = *x;
        r[0] = a;
        r[1] = b;
    }
}

#define LITMUS(name, test)                                                                         \
    extern "C" __global__ void name##_block(unsigned *words, unsigned *results)                    \
    {                                                                                              \
        litmus<test, false, false>(words, results);                                                \
    }                                                                                              \
    extern "C" __global__ void name##_block_fenced(unsigned *words, unsigned *results)             \
    {                                                                                              \
        litmus<test, false, true>(words, results);                                                 \
    }                                                                                              \
    extern "C" __global__ void name##_grid(unsigned *words, unsigned *results)                     \
    {                                                                                              \
        litmus<test, true, false>(words, results);                                                 \
    }                                                                                              \
    extern "C" __global__ void name##_grid_fenced(unsigned *words, unsigned *results)              \
    {                                                                                              \
        litmus<test, true, true>(words, results);                                                  \
    }
LITMUS(mp, MP)
LITMUS(sb, SB)
LITMUS(lb, LB)
LITMUS(iriw, IRIW)
LITMUS(corr, CORR)

// counts[outcome]: how often the four results of an instance, as bits, were that.
extern "C" __global__ void litmus_count(unsigned n, const unsigned *results, unsigned *counts)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned *r = &results[i * 4];
    atomicAdd(&counts[(r[0] | r[1] << 1 | r[2] << 2 | r[3] << 3) & 15], 1);
}
