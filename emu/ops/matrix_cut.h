/* emu/ops/matrix_cut.h: products of dense matrices of f16, bf16 and tf32 whose sums are cut to f32 (simd_matrix.c has the
 * rule), in f32 and integers.
 *
 * A product of two such elements has 22 bits at most, so it is exact in f32 unless it leaves f32's range. It is multiplied by
 * 2^(25 - e), e the greatest exponent of its element of D, and converted to an integer, which cuts it. It is less than 2^27
 * then (each factor is less than 2 of its power of two), and the sum of 16 of them, at most
 * 16 * (2 - 2^-10)^2 * 2^25 = 2^31 - 2^21 + 2^9, fits 32 bits. C is cut likewise, and added in f64, where all of this is exact.
 *
 * 16 rows of one column of D are computed together: A is kept by k, B by column, C and D by column. Exponents are added with
 * the formats' bias, as 16-bit numbers, for two k at a time; a zero's exponent is so small that a sum with it never counts.
 *
 * What is not exact so, is left to simd_matrix.c: infinity, NaN, and elements of bf16 and tf32 that are less than 2^-50 or at
 * least 2^61, of which products and their multiples might leave the range of f32. */
#ifndef HEDDLE_EMU_OPS_MATRIX_CUT_H
#define HEDDLE_EMU_OPS_MATRIX_CUT_H

#include "emu/ops/matrix_lanes.h"
#include "emu/ops/matrixops.h"
#include "ptx/ptx.h"

enum { CUT_ROWS = 16, CUT_K = 16, CUT_COLUMNS = 32, CUT_NONE = -8192 /* exponent of 0 */ };

#if defined __AVX512BW__
enum { CUT_BYTES = 64 };
#define CUT_MAX16(x, y) ((cut_i16)_mm512_max_epi16((__m512i)(x), (__m512i)(y)))
#elif defined __AVX2__
enum { CUT_BYTES = 32 };
#define CUT_MAX16(x, y) ((cut_i16)_mm256_max_epi16((__m256i)(x), (__m256i)(y)))
#else
enum { CUT_BYTES = 16 };
#if defined __SSE2__
#define CUT_MAX16(x, y) ((cut_i16)_mm_max_epi16((__m128i)(x), (__m128i)(y)))
#else
#define CUT_MAX16(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#endif
#endif
typedef f32 cut_f32 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef i32 cut_i32 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef u32 cut_u32 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef i16 cut_i16 __attribute__((vector_size(CUT_BYTES), may_alias));
enum { CUT_WIDTH = CUT_BYTES / 4, CUT_VECTORS = CUT_ROWS / CUT_WIDTH };

/* A strip of 16 rows of A and C, all of B, and what becomes D. */
struct cut_work {
    _Alignas(64) f32 a[CUT_K][CUT_ROWS];
    _Alignas(64) i16 a_exponents[CUT_K / 2][CUT_ROWS][2];
    _Alignas(64) f32 c[CUT_COLUMNS][CUT_ROWS]; /* becomes what is left of it */
    _Alignas(64) i32 sums[CUT_COLUMNS][CUT_ROWS];
    _Alignas(64) f32 units[CUT_COLUMNS][CUT_ROWS]; /* what a sum counts: 2^(e - 25) */
    _Alignas(64) f32 b[CUT_COLUMNS * CUT_K];       /* [column][k] */
    _Alignas(64) i16 b_exponents[CUT_COLUMNS * CUT_K];
};

/* A block of 4x4 words, transposed. */
static inline void turn4(const f32 *from, u32 from_stride, f32 *to, u32 to_stride)
{
#if defined __SSE2__
    __m128 v[4];
    for (u32 i = 0; i < 4; i++) v[i] = _mm_loadu_ps(from + i * from_stride);
    _MM_TRANSPOSE4_PS(v[0], v[1], v[2], v[3]);
    for (u32 i = 0; i < 4; i++) _mm_storeu_ps(to + i * to_stride, v[i]);
#else
    for (u32 i = 0; i < 4; i++)
        for (u32 j = 0; j < 4; j++) memcpy(to + j * to_stride + i, from + i * from_stride + j, 4);
#endif
}

/* A register of all lanes, 8 rows of 4 words, as 4 rows of 8; and back. */
static inline void turn_out(const f32 *words, f32 *to, u32 stride)
{
    turn4(words, 4, to, stride);
    turn4(words + 16, 4, to + 4, stride);
}
static inline void turn_back(const f32 *from, u32 stride, f32 *words)
{
    turn4(from, stride, words, 4);
    turn4(from + 4, stride, words + 16, 4);
}

/* Biased exponents of n halves, in the place of f16's or bf16's; n fills vectors. Returns whether one is out of range. */
static inline bool cut_exponents(const u16 *h, int n, bool is_f16, i16 *e)
{
    const i16 shift = is_f16 ? 10 : 7, mask = is_f16 ? 31 : 255;
    const i16 least = is_f16 ? 0 : 127 - 50, most = is_f16 ? 30 : 127 + 60;
    cut_i16 bad = {0};
    for (int i = 0; i < n; i += CUT_BYTES / 2) {
        const cut_i16 bits = *(const cut_i16 *)(const void *)(h + i),
                      field = (bits >> shift) & mask, zero = (bits & 0x7fff) == 0;
        bad |= ((field < least) | (field > most)) & ~zero;
        *(cut_i16 *)(e + i) = ((field - (field == 0)) & ~zero) | (CUT_NONE & zero);
    }
    u32 any = 0;
    for (int i = 0; i < CUT_WIDTH; i++) any |= ((cut_u32)bad)[i];
    return any;
}

/* tf32's bits with the exponent and its zeros where bf16 has them. */
static inline u16 cut_upper(u32 word)
{
    return (u16)(word >> 16 | ((word & 0xe000) != 0));
}

static inline void cut_values(const u16 *restrict h, int n, bool is_f16, f32 *restrict f)
{
    if (is_f16) from_f16(h, n, f);
    else CONVERT(n, f[i], fp_float32((u32)h[i] << 16))
}

/* Whether the strip of A that begins with register `first` is in range. */
static inline bool cut_read_a(const struct emu_group *g, const struct mma_desc *d, u32 w, u32 first,
                              struct cut_work *x)
{
    _Alignas(64) u16 halves[CUT_K][CUT_ROWS];
    _Alignas(64) i16 e[CUT_K][CUT_ROWS];
    u16 block[2 * LANES];
    u32 room[LANES];
    const u32 k = d->k, parts = d->m == 8 ? 1 : 2, wide = d->a == PTX_tf32 ? 4 : 8;
    if (parts == 1) memset(x->a, 0, sizeof x->a), memset(halves, 0, sizeof halves);
    for (u32 at = 0, r = first; at < k; at += wide)
        for (u32 part = 0; part < parts; part++, r++) {
            const u32 *p = take32(g, d->a_rows[r], w, room);
            if (d->a == PTX_tf32) {
                turn_out((const f32 *)(const void *)p, x->a[at] + part * TILE, CUT_ROWS);
                continue;
            }
            transpose_halves((const u16 *)p, block);
            for (u32 i = 0; i < TILE; i++)
                memcpy(halves[at + i] + part * TILE, block + i * TILE, TILE * sizeof *block);
        }
    const int n = (int)k * CUT_ROWS;
    u16 *h = halves[0];
    f32 *f = x->a[0];
    if (d->a == PTX_tf32) {
        const u32 *bits = (const u32 *)(const void *)f;
        CONVERT(n, h[i], cut_upper(bits[i]))
        CONVERT(n, f[i], fp_float32(bits[i] & 0xffffe000u))
    } else cut_values(h, n, d->a == PTX_f16, f);
    if (cut_exponents(h, n, d->a == PTX_f16, e[0])) return false;
    for (u32 i = 0; i < k / 2; i++) {
        u32 *pairs = (u32 *)(void *)x->a_exponents[i];
        LANE_HALF_LOOP for (int row = 0; row < CUT_ROWS; row++)
            pairs[row] = (u16)e[2 * i][row] | (u32)(u16)e[2 * i + 1][row] << 16;
    }
    return true;
}

static inline bool cut_read_b(const struct emu_group *g, const struct mma_desc *d, u32 w,
                              struct cut_work *x)
{
    _Alignas(64) u16 h[CUT_COLUMNS * CUT_K];
    u32 room[LANES];
    const u32 k = d->k, wide = d->a == PTX_tf32 ? 4 : 8;
    for (u32 first = 0, r = 0; first < d->n; first += TILE)
        for (u32 at = 0; at < k; at += wide, r++) {
            const u32 *p = take32(g, d->b_rows[r], w, room);
            for (u32 i = 0; i < TILE; i++)
                if (d->a == PTX_tf32) memcpy(x->b + (first + i) * k + at, p + i * 4, 16);
                else memcpy(h + (first + i) * k + at, p + i * 4, 16);
        }
    const int n = (int)(d->n * k);
    if (d->a == PTX_tf32) {
        const u32 *bits = (const u32 *)(const void *)x->b;
        CONVERT(n, h[i], cut_upper(bits[i]))
        CONVERT(n, x->b[i], fp_float32(bits[i] & 0xffffe000u))
    } else cut_values(h, n, d->a == PTX_f16, x->b);
    return !cut_exponents(h, n, d->a == PTX_f16, x->b_exponents);
}

/* The block of 8x8 elements of C and D among those of a strip: parts above each other, then tiles side by side. */
static inline f32 *cut_block(struct cut_work *x, const struct mma_desc *d, u32 i)
{
    return d->m == 8 ? x->c[i * TILE] : x->c[i / 2 * TILE] + i % 2 * TILE;
}

static inline u32 cut_blocks(const struct mma_desc *d)
{
    return (u32)d->n / TILE * (d->m == 8 ? 1 : 2);
}

static inline bool cut_read_c(const struct emu_group *g, const struct mma_desc *d, u32 w, u32 first,
                              struct cut_work *x)
{
    u32 room[LANES], more[LANES], bad = 0;
    f32 f[2 * LANES];
    if (d->m == 8) memset(x->c, 0, sizeof x->c);
    for (u32 i = 0; i < cut_blocks(d); i++) {
        f32 *c = cut_block(x, d, i);
        if (d->c == PTX_f16) {
            from_f16((const u16 *)take32(g, d->c_rows[first + i], w, room), 2 * LANES, f);
            for (u32 at = 0; at < TILE; at += 4)
                for (u32 row = 0; row < TILE; row += 4)
                    turn4(f + row * TILE + at, TILE, c + at * CUT_ROWS + row, CUT_ROWS);
            continue;
        }
        const u32 *p = take32(g, d->c_rows[2 * (first + i)], w, room),
                  *q = take32(g, d->c_rows[2 * (first + i) + 1], w, more);
        turn_out((const f32 *)(const void *)p, c, 2 * CUT_ROWS);
        turn_out((const f32 *)(const void *)q, c + CUT_ROWS, 2 * CUT_ROWS);
    }
    const u32 *bits = (const u32 *)(const void *)x->c[0];
    const int n = d->n * CUT_ROWS;
    LANE_LOOP for (int i = 0; i < n; i++) bad |= (bits[i] & 0x7f800000u) == 0x7f800000u;
    return !bad;
}

/* The sums of one column, what is left of its C, and the units. `bias`: what the sum of two exponents has too much. */
static inline __attribute__((always_inline)) void cut_column(struct cut_work *x, const u32 k,
                                                             u32 column, i32 bias)
{
    const f32 *b = x->b + column * k;
    const i16 *b_exponents = x->b_exponents + column * k;
    for (u32 v = 0; v < CUT_VECTORS; v++) {
        const u32 row = v * CUT_WIDTH;
        cut_i16 most = (cut_i16){0} + 2 * CUT_NONE;
        UNROLL for (u32 i = 0; i < k / 2; i++)
        {
            i32 pair;
            memcpy(&pair, b_exponents + 2 * i, sizeof pair);
            const cut_i16 sum = *(const cut_i16 *)x->a_exponents[i][row] +
                                (cut_i16)((cut_i32){0} + pair);
            most = CUT_MAX16(most, sum);
        }
        most = CUT_MAX16(most, (cut_i16)((cut_u32)most >> 16));
        cut_i32 e = (cut_i32)((cut_u32)most << 16) >> 16;
        const cut_f32 c = *(const cut_f32 *)(x->c[column] + row);
        const cut_i32 c_bits = (cut_i32)c & 0x7fffffff, c_field = c_bits >> 23;
        const cut_i32 zero = c_bits == 0,
                      c_e = ((c_field - (c_field == 0) + (bias - 127)) & ~zero) | (CUT_NONE & zero);
        const cut_i32 none = e<CUT_NONE / 2, c_greater = c_e> e;
        e = (c_e & c_greater) | (e & ~c_greater);
        const cut_i32 low = e < bias - 100; /* only where there is no product */
        e = ((bias - 100) & low) | (e & ~low);
        const cut_f32 scale = (cut_f32)((152 + bias - e) << 23),
                      unit = (cut_f32)((102 - bias + e) << 23);
        cut_i32 sum = {0};
        UNROLL for (u32 i = 0; i < k; i++) sum += __builtin_convertvector(
            *(const cut_f32 *)(x->a[i] + row) * b[i] * scale, cut_i32);
        const cut_f32 cut_c = __builtin_convertvector(__builtin_convertvector(c * scale, cut_i32),
                                                      cut_f32) *
                              unit;
        *(cut_i32 *)(x->c[column] + row) = ((cut_i32)c & none) | ((cut_i32)cut_c & ~none);
        *(cut_i32 *)(x->sums[column] + row) = sum;
        *(cut_f32 *)(x->units[column] + row) = unit;
    }
}

static inline void cut_columns(struct cut_work *x, u32 k, u32 n, i32 bias)
{
    for (u32 i = 0; i < n; i++)
        if (k == 16) cut_column(x, 16, i, bias);
        else if (k == 8) cut_column(x, 8, i, bias);
        else cut_column(x, k, i, bias);
}

/* The sums, cut to f32, in the place of C. Never -0. None is less than 2^-125 but a C that is left alone. */
static inline void cut_finish(struct cut_work *x, int n)
{
    const i32 *sums = x->sums[0];
    const f32 *units = x->units[0];
    f32 *c = x->c[0];
    LANE_LOOP for (int i = 0; i < n; i++)
    {
        const f64 sum = (f64)sums[i] * (f64)units[i] + (f64)c[i];
        c[i] = (f32)fp_float64(fp_bits64(sum) & ~(u64)0x1fffffff);
    }
}

static inline void cut_write_d(struct emu_group *g, const struct mma_desc *d, u32 w, u32 first,
                               struct cut_work *x)
{
    u32 v[LANES];
    for (u32 i = 0; i < cut_blocks(d); i++)
        for (u32 odd = 0; odd < 2; odd++) {
            turn_back(cut_block(x, d, i) + odd * CUT_ROWS, 2 * CUT_ROWS, (f32 *)(void *)v);
            give32(g, d->d_rows[2 * (first + i) + odd], w, v);
        }
}

/* D = A B + C of warp w. false, and nothing is written: an element is out of range, or A is sparse. D is f32; A and B are of
 * f16, bf16 or tf32; C may be f16. */
static inline bool cut_products(struct emu_group *g, const struct mma_desc *d, u32 w)
{
    struct cut_work x[2];
    const u32 strips = d->m == 32 ? 2 : 1, registers = d->k / (d->a == PTX_tf32 ? 4u : 8u) * 2;
    if (d->sparse) return false;
    for (u32 s = 0; s < strips; s++) {
        if (!cut_read_a(g, d, w, s * registers, &x[s]) || !cut_read_b(g, d, w, &x[s]) ||
            !cut_read_c(g, d, w, s * cut_blocks(d), &x[s]))
            return false;
        cut_columns(&x[s], d->k, d->n, d->a == PTX_f16 ? 30 : 254);
        cut_finish(&x[s], d->n * CUT_ROWS);
    }
    for (u32 s = 0; s < strips; s++) cut_write_d(g, d, w, s * cut_blocks(d), &x[s]);
    return true;
}

#endif
