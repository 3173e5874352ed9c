/* emu/ops/lane.h: makes handlers of the LANE1, LANE2 and LANE3 rows of a uops_*.def.
 *
 * A row has an expression for one lane; the handler computes it for the lanes of a row of registers. Every
 * emu/ops/simd_*.c is compiled once for each host instruction set (the Makefile passes -DISA=portable, avx2 or avx512;
 * OP_NAME puts it into the handler's name). The file of a family of arithmetic has only these lines:
 *
 *     #include "emu/ops/lane.h"
 *     #define LANE1 LANE_HANDLER1
 *     #define LANE2 LANE_HANDLER2
 *     #define LANE3 LANE_HANDLER3
 *     #define FAST(name)
 *     #define WARP(name)
 *     #include "emu/ops/uops_int.def"
 *
 * Every loop has 32 independent iterations, so compilers vectorise it. emu/lower/ depends on the order of the rows, and
 * asserts it. */
#ifndef HEDDLE_EMU_OPS_LANE_H
#define HEDDLE_EMU_OPS_LANE_H

#include "emu/ops/exec.h"
#include "emu/ops/memops.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifndef ISA
#define ISA portable
#endif
#define LANE_PASTE2(isa, name) emu_op_##isa##_##name
#define LANE_PASTE(isa, name) LANE_PASTE2(isa, name)
#define OP_NAME(name) LANE_PASTE(ISA, name)
/* The functions that count accesses, compiled for the same instruction set (emu/measure/count.h). */
#define COUNTING_PASTE2(isa) emu_counting_##isa
#define COUNTING_PASTE(isa) COUNTING_PASTE2(isa)
#define COUNTING COUNTING_PASTE(ISA)
#define CACHE_CARRY_OUT_PASTE2(isa) cache_carry_out_##isa
#define CACHE_CARRY_OUT_PASTE(isa) CACHE_CARRY_OUT_PASTE2(isa)
#define CACHE_CARRY_OUT CACHE_CARRY_OUT_PASTE(ISA)
#define CACHE_FILL_PASTE2(isa) cache_fill_##isa
#define CACHE_FILL_PASTE(isa) CACHE_FILL_PASTE2(isa)
#define CACHE_FILL CACHE_FILL_PASTE(ISA)

#define REACH_SURFACE_PASTE2(isa) emu_reach_surface_##isa
#define REACH_SURFACE_PASTE(isa) REACH_SURFACE_PASTE2(isa)
#define REACH_SURFACE REACH_SURFACE_PASTE(ISA)

#define SPREAD_MASKS_PASTE2(isa) emu_spread_masks_##isa
#define SPREAD_MASKS_PASTE(isa) SPREAD_MASKS_PASTE2(isa)
#define SPREAD_MASKS SPREAD_MASKS_PASTE(ISA)

#define FIND_LANES_PASTE2(isa) emu_find_lanes_##isa
#define FIND_LANES_PASTE(isa) FIND_LANES_PASTE2(isa)
#define FIND_LANES FIND_LANES_PASTE(ISA)

/* The head of a handler: OP(ld_global_u32) { ... } */
#define OP(name)                                                                                   \
    const struct emu_uop *OP_NAME(name)(struct emu_group * g, const struct emu_uop *in);           \
    const struct emu_uop *OP_NAME(name)(struct emu_group * g, const struct emu_uop *in)

#if defined __clang__
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#define LANE_HALF_LOOP LANE_LOOP
#else
#define LANE_LOOP _Pragma("GCC ivdep")
/* For loops of 16 iterations: without this gcc unrolls them completely before it tries to vectorise. */
#define LANE_HALF_LOOP _Pragma("GCC unroll 1") LANE_LOOP
#endif

#define LANE_ROW(T, row)                                                                           \
    ((T *)(void *)(sizeof(T) == 8   ? g->r64 + (row)                                               \
                   : sizeof(T) == 4 ? g->r32 + (row)                                               \
                                    : g->r16 + (row)))

#if defined __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Vectors of the host's vector width. Wider ones would be passed and reduced through memory. */
#if defined __AVX512F__
enum { HOST_BYTES = 64 };
#elif defined __AVX2__
enum { HOST_BYTES = 32 };
#else
enum { HOST_BYTES = 16 };
#endif
enum { HOST_64 = HOST_BYTES / 8, HOST_32 = HOST_BYTES / 4 }; /* elements */
typedef u64 host64 __attribute__((vector_size(HOST_BYTES), may_alias));
typedef u32 host32 __attribute__((vector_size(HOST_BYTES), may_alias));

static inline bool any(host64 v)
{
#if defined __AVX512F__
    return _mm512_test_epi64_mask((__m512i)v, (__m512i)v) != 0;
#elif defined __AVX2__
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    return (v[0] | v[1]) != 0;
#endif
}

static const _Alignas(64) u64 numbers_64[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static const _Alignas(64) u32 numbers_32[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                8, 9, 10, 11, 12, 13, 14, 15};

/* The bits in which `count` addresses differ from the sequence first, first + step, first + 2 step, ... */
static inline __attribute__((always_inline)) host64 off_run_64(const u64 *at, const u32 count,
                                                               u64 first, const u64 step)
{
    const host64 *const v = (const host64 *)(const void *)at;
    host64 want = *(const host64 *)(const void *)numbers_64 * step + first, off = {0};
    UNROLL for (u32 i = 0; i < count / HOST_64; i++)
    {
        off |= v[i] ^ want;
        want += step * HOST_64;
    }
    return off;
}
static inline __attribute__((always_inline)) host64 off_run_32(const u32 *at, const u32 count,
                                                               u32 first, const u32 step)
{
    const host32 *const v = (const host32 *)(const void *)at;
    host32 want = *(const host32 *)(const void *)numbers_32 * step + first, off = {0};
    UNROLL for (u32 i = 0; i < count / HOST_32; i++)
    {
        off |= v[i] ^ want;
        want += step * HOST_32;
    }
    return (host64)off;
}

/* Computes the addresses of a warp's lanes for a load, store or reduction. */
static inline __attribute__((always_inline)) void
uop_addresses(const struct emu_group *g, const struct emu_uop *in, u32 w, u32 space, u64 *at)
{
    if (in->x == 8) {
        const u64 *p = (const u64 *)(const void *)(g->r64 + in->a) + w * LANES;
        LANE_LOOP for (int l = 0; l < LANES; l++) at[l] = p[l] + (u64)in->imm;
    } else if (in->x == 4) {
        const u32 *p = (const u32 *)(const void *)(g->r32 + in->a) + w * LANES;
        if (space_wraps(space))
            LANE_LOOP for (int l = 0; l < LANES; l++) at[l] = p[l] + (u32)in->imm;
        else LANE_LOOP for (int l = 0; l < LANES; l++) at[l] = (u64)p[l] + (u64)in->imm;
    } else
        for (int l = 0; l < LANES; l++) at[l] = (u64)in->imm;
}

/* The loop over warps and lanes. STEP moves the operands' pointers to the next warp, LOAD declares the
 * operands of lane l. */
#define LANE_BODY(D, STEP, LOAD, ...)                                                              \
    D *lane_d = LANE_ROW(D, in->d);                                                                \
    const u32 lane_warps = g->warps;                                                               \
    if (g->full) {                                                                                 \
        for (u32 w = 0; w < lane_warps; w++, lane_d += LANES STEP) {                               \
            LANE_LOOP for (int l = 0; l < LANES; l++)                                              \
            {                                                                                      \
                LOAD lane_d[l] = (D)(__VA_ARGS__);                                                 \
            }                                                                                      \
        }                                                                                          \
        return in + 1;                                                                             \
    }                                                                                              \
    const u32 *lane_on = g->lane;                                                                  \
    for (u32 w = 0; w < lane_warps; w++, lane_d += LANES, lane_on += LANES STEP) {                 \
        if (!g->exec[w]) continue;                                                                 \
        LANE_LOOP for (int l = 0; l < LANES; l++)                                                  \
        {                                                                                          \
            LOAD const D lane_new = (D)(__VA_ARGS__);                                              \
            lane_d[l] = lane_on[l] ? lane_new : lane_d[l];                                         \
        }                                                                                          \
    }                                                                                              \
    return in + 1;

#define LANE_A , lane_a += LANES
#define LANE_AB LANE_A, lane_b += LANES
#define LANE_ABC LANE_AB, lane_c += LANES
#define LANE_HANDLER1(name, D, A, ...)                                                             \
    OP(name)                                                                                       \
    {                                                                                              \
        const A *lane_a = LANE_ROW(const A, in->a);                                                \
        LANE_BODY(D, LANE_A, const A a = lane_a[l];, __VA_ARGS__)                                  \
    }
#define LANE_HANDLER2(name, D, A, B, ...)                                                          \
    OP(name)                                                                                       \
    {                                                                                              \
        const A *lane_a = LANE_ROW(const A, in->a);                                                \
        const B *lane_b = LANE_ROW(const B, in->b);                                                \
        LANE_BODY(D, LANE_AB, const A a = lane_a[l]; const B b = lane_b[l];, __VA_ARGS__)          \
    }
#define LANE_HANDLER3(name, D, A, B, C, ...)                                                       \
    OP(name)                                                                                       \
    {                                                                                              \
        const A *lane_a = LANE_ROW(const A, in->a);                                                \
        const B *lane_b = LANE_ROW(const B, in->b);                                                \
        const C *lane_c = LANE_ROW(const C, in->c);                                                \
        LANE_BODY(D, LANE_ABC, const A a = lane_a[l]; const B b = lane_b[l];                       \
                  const C c = lane_c[l];, __VA_ARGS__)                                             \
    }

#endif
