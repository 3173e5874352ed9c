/* emu/ops/matrix_lanes.h: elements of matrices in the lanes of a warp: registers of all lanes, conversions, transposition.
 * For simd_matrix.c, matrix_cut.h and matrix_chain.h. */
#ifndef HEDDLE_EMU_OPS_MATRIX_LANES_H
#define HEDDLE_EMU_OPS_MATRIX_LANES_H

#include "emu/ops/lane.h"

#include "emu/ops/fp.h"

#include <string.h>
#if defined __SSE2__
#include <immintrin.h>
#endif

enum { TILE = 8 }; /* rows or columns of a register of all lanes */

/* The warp's part of a row of r32, with zeros for inactive lanes. */
static inline const u32 *take32(const struct emu_group *g, u32 row, u32 w, u32 *masked)
{
    const u32 *p = (const u32 *)(const void *)(g->r32 + row) + w * LANES, exec = g->exec[w];
    if (exec == ~0u) return p;
    for (int l = 0; l < LANES; l++) masked[l] = exec >> l & 1 ? p[l] : 0;
    return masked;
}

static inline const u64 *take64(const struct emu_group *g, u32 row, u32 w, u64 *masked)
{
    const u64 *p = (const u64 *)(const void *)(g->r64 + row) + w * LANES;
    u32 exec = g->exec[w];
    if (exec == ~0u) return p;
    for (int l = 0; l < LANES; l++) masked[l] = exec >> l & 1 ? p[l] : 0;
    return masked;
}

static inline void give32(struct emu_group *g, u32 row, u32 w, const u32 *v)
{
    u32 *p = (u32 *)(void *)(g->r32 + row) + w * LANES, exec = g->exec[w];
    if (exec == ~0u) memcpy(p, v, LANES * sizeof *p);
    else
        for (int l = 0; l < LANES; l++) p[l] = exec >> l & 1 ? v[l] : p[l];
}

static inline void give64(struct emu_group *g, u32 row, u32 w, const u64 *v)
{
    u64 *p = (u64 *)(void *)(g->r64 + row) + w * LANES;
    u32 exec = g->exec[w];
    for (int l = 0; l < LANES; l++) p[l] = exec >> l & 1 ? v[l] : p[l];
}

/* One loop for each step, so that compilers vectorise it. */
#define CONVERT(n, OUT, IN) LANE_LOOP for (int i = 0; i < (n); i++) OUT = (IN);

/* Converts n f16, a multiple of 16. A NaN becomes some NaN. */
static inline void from_f16(const u16 *restrict h, int n, f32 *restrict f)
{
#if defined __AVX512F__
    for (int i = 0; i < n; i += 16)
        _mm512_storeu_ps(
            f + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(h + i))));
#elif defined __F16C__
    for (int i = 0; i < n; i += 8)
        _mm256_storeu_ps(f + i,
                         _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(h + i))));
#else
    CONVERT(n, f[i], fp_float32((h[i] & 0x7fffu) << 13) * 0x1p112f) /* exact, infinity aside */
    CONVERT(n, f[i],
            fp_float32(fp_bits32(f[i]) | (h[i] & 0x8000u) << 16 |
                       ((h[i] & 0x7c00) == 0x7c00 ? 0x7f800000u : 0)))
#endif
}

/* 8 columns of n elements each -> n rows of 8. n is a multiple of 4. */
static inline void transpose(const f32 *restrict f, u32 n, f32 *restrict out)
{
#if defined __SSE2__
    for (u32 j = 0; j < n; j += 4)
        for (u32 i = 0; i < TILE; i += 4) {
            __m128 v[4];
            for (u32 k = 0; k < 4; k++) v[k] = _mm_loadu_ps(f + (i + k) * n + j);
            _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]);
            for (u32 k = 0; k < 4; k++) _mm_storeu_ps(out + (j + k) * TILE + i, v[k]);
        }
#else
    for (u32 j = 0; j < n; j++)
        for (u32 i = 0; i < TILE; i++) out[j * TILE + i] = f[i * n + j];
#endif
}

/* 8 columns of 8 halves each -> 8 rows. */
static inline void transpose_halves(const u16 *restrict h, u16 *restrict out)
{
#if defined __SSE2__
    __m128i a[8], b[8];
    memcpy(a, h, sizeof a);
    for (int step = 0; step < 3; step++) { /* columns i and i + 4, half by half */
        for (int i = 0; i < 4; i++) {
            b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
            b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
        }
        memcpy(a, b, sizeof a);
    }
    memcpy(out, a, sizeof a);
#else
    for (int i = 0; i < 64; i++) out[i] = h[i % 8 * 8 + i / 8];
#endif
}

#endif
