/* emu/ops/matrix_cut.h: products of dense matrices of f16, bf16 and tf32 whose sums are truncated to f32 (simd_matrix.c
 * has the rule), in f32 and integers.
 *
 * A product of two such elements has 22 bits at most, so it is exact in f32 unless it leaves f32's range. It is multiplied by
 * 2^(25 - e), e the greatest exponent of its element of D, and converted to an integer, which cuts it. It is less than 2^27
 * then (each factor is less than 2 of its power of two), and the sum of 16 of them, at most
 * 16 * (2 - 2^-10)^2 * 2^25 = 2^31 - 2^21 + 2^9, fits 32 bits. C is cut likewise, and is less than 2^26 then.
 *
 * Vectors are as registers are: a register of all lanes has 8 rows of C or D with four even, or four odd columns, so 16 bytes of
 * a vector are of one row, and nothing has to be turned but B. Exponents are bytes, of which a word has four k: the sum of two
 * is at most 82, and that of a zero's, -128, and another, at most -87, is less than that of any two numbers.
 *
 * matrix_chain.h has two shorter ways for elements that need no exponents of single products. They are tried first.
 *
 * What is not exact so, is left to simd_matrix.c: infinity, NaN, elements of bf16 and tf32 that are less than 2^-43 or at
 * least 2^42 (products and their multiples stay in the range of f32), and a sum with C of more than 32 bits. */
#ifndef HEDDLE_EMU_OPS_MATRIX_CUT_H
#define HEDDLE_EMU_OPS_MATRIX_CUT_H

#include "emu/ops/matrix_lanes.h"
#include "emu/ops/matrixops.h"
#include "ptx/ptx.h"

enum { CUT_ROWS = 16, CUT_K = 16, CUT_TILES = 4, CUT_REGS = 8 };
enum {
    CUT_LEAST = -43,
    CUT_MOST = 41,
    CUT_NONE = -128 /* exponents: the range of elements, and that of 0 */
};
enum { CUT_ALONE = -100 /* exponent of a C, or less, that has no products beside it */ };

#if defined __AVX512BW__
enum { CUT_BYTES = 64 };
#elif defined __AVX2__
enum { CUT_BYTES = 32 };
#else
enum { CUT_BYTES = 16 };
#endif
typedef f32 cut_f32 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef i32 cut_i32 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef u32 cut_u32 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef i16 cut_i16 __attribute__((vector_size(CUT_BYTES), may_alias));
typedef i8 cut_i8 __attribute__((vector_size(CUT_BYTES), may_alias));
enum { CUT_WIDTH = CUT_BYTES / 4, CUT_GROUP = CUT_BYTES / 16 /* rows of a vector */ };

/* Operations of vectors, each within 16 bytes: the sum of bytes, which stays at -128; the greater byte; the greater 16
 * bits, with or without a sign; two
 * vectors of 16, or 32 bits as one of half as many bits; bf16's first and last four as f32; four words for all; word j for all
 * four. */
#if defined __AVX512BW__
#define CUT_ADD8(x, y) ((cut_i8)_mm512_adds_epi8((__m512i)(x), (__m512i)(y)))
#define CUT_MAX8(x, y) ((cut_i8)_mm512_max_epi8((__m512i)(x), (__m512i)(y)))
#define CUT_MAX16(x, y) ((cut_i16)_mm512_max_epi16((__m512i)(x), (__m512i)(y)))
#define CUT_MAXU16(x, y) ((cut_i16)_mm512_max_epu16((__m512i)(x), (__m512i)(y)))
#define CUT_PACK8(x, y) ((cut_i8)_mm512_packs_epi16((__m512i)(x), (__m512i)(y)))
#define CUT_PACK16(x, y) ((cut_i16)_mm512_packs_epi32((__m512i)(x), (__m512i)(y)))
#define CUT_FIRST(h) ((cut_f32)_mm512_unpacklo_epi16(_mm512_setzero_si512(), (__m512i)(h)))
#define CUT_LAST(h) ((cut_f32)_mm512_unpackhi_epi16(_mm512_setzero_si512(), (__m512i)(h)))
#define CUT_QUAD(p) ((cut_f32)_mm512_broadcast_f32x4(_mm_load_ps(p)))
#define CUT_PICK(v, j) ((cut_f32)_mm512_permute_ps((__m512)(v), (j)*0x55))
#elif defined __AVX2__
#define CUT_ADD8(x, y) ((cut_i8)_mm256_adds_epi8((__m256i)(x), (__m256i)(y)))
#define CUT_MAX8(x, y) ((cut_i8)_mm256_max_epi8((__m256i)(x), (__m256i)(y)))
#define CUT_MAX16(x, y) ((cut_i16)_mm256_max_epi16((__m256i)(x), (__m256i)(y)))
#define CUT_MAXU16(x, y) ((cut_i16)_mm256_max_epu16((__m256i)(x), (__m256i)(y)))
#define CUT_PACK8(x, y) ((cut_i8)_mm256_packs_epi16((__m256i)(x), (__m256i)(y)))
#define CUT_PACK16(x, y) ((cut_i16)_mm256_packs_epi32((__m256i)(x), (__m256i)(y)))
#define CUT_FIRST(h) ((cut_f32)_mm256_unpacklo_epi16(_mm256_setzero_si256(), (__m256i)(h)))
#define CUT_LAST(h) ((cut_f32)_mm256_unpackhi_epi16(_mm256_setzero_si256(), (__m256i)(h)))
#define CUT_QUAD(p) ((cut_f32)_mm256_broadcast_ps((const __m128 *)(const void *)(p)))
#define CUT_PICK(v, j) ((cut_f32)_mm256_permute_ps((__m256)(v), (j)*0x55))
#elif defined __SSE2__
#define CUT_ADD8(x, y) ((cut_i8)_mm_adds_epi8((__m128i)(x), (__m128i)(y)))
#define CUT_MAX8(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#define CUT_MAX16(x, y) ((cut_i16)_mm_max_epi16((__m128i)(x), (__m128i)(y)))
#define CUT_MAXU16(x, y) (CUT_MAX16((x) ^ INT16_MIN, (y) ^ INT16_MIN) ^ INT16_MIN)
#define CUT_PACK8(x, y) ((cut_i8)_mm_packs_epi16((__m128i)(x), (__m128i)(y)))
#define CUT_PACK16(x, y) ((cut_i16)_mm_packs_epi32((__m128i)(x), (__m128i)(y)))
#define CUT_FIRST(h) ((cut_f32)_mm_unpacklo_epi16(_mm_setzero_si128(), (__m128i)(h)))
#define CUT_LAST(h) ((cut_f32)_mm_unpackhi_epi16(_mm_setzero_si128(), (__m128i)(h)))
#define CUT_QUAD(p) (*(const cut_f32 *)(const void *)(p))
#define CUT_PICK(v, j) ((cut_f32)_mm_shuffle_ps((__m128)(v), (__m128)(v), (j)*0x55))
#else
static inline cut_i8 cut_add8(cut_i8 x, cut_i8 y)
{
    for (int i = 0; i < 16; i++) {
        const int sum = x[i] + y[i];
        x[i] = (i8)(sum < CUT_NONE ? CUT_NONE : sum);
    }
    return x;
}
static inline cut_i8 cut_pack8(cut_i16 x, cut_i16 y)
{
    cut_i8 to;
    for (int i = 0; i < 8; i++) to[i] = (i8)x[i], to[8 + i] = (i8)y[i];
    return to;
}
static inline cut_i16 cut_pack16(cut_i32 x, cut_i32 y)
{
    cut_i16 to;
    for (int i = 0; i < 4; i++) to[i] = (i16)x[i], to[4 + i] = (i16)y[i];
    return to;
}
#define CUT_ADD8(x, y) cut_add8(x, y)
#define CUT_MAX8(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#define CUT_MAX16(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#define CUT_MAXU16(x, y) (CUT_MAX16((x) ^ INT16_MIN, (y) ^ INT16_MIN) ^ INT16_MIN)
#define CUT_PACK8(x, y) cut_pack8(x, y)
#define CUT_PACK16(x, y) cut_pack16(x, y)
#define CUT_FIRST(h)                                                                               \
    ((cut_f32)((cut_u32){(u16)(h)[0], (u16)(h)[1], (u16)(h)[2], (u16)(h)[3]} << 16))
#define CUT_LAST(h) ((cut_f32)((cut_u32){(u16)(h)[4], (u16)(h)[5], (u16)(h)[6], (u16)(h)[7]} << 16))
#define CUT_QUAD(p) (*(const cut_f32 *)(const void *)(p))
#define CUT_PICK(v, j) ((cut_f32){(v)[j], (v)[j], (v)[j], (v)[j]})
#endif

/* A strip of 16 rows of A, all of B, C and what becomes D. */
struct cut_work {
    _Alignas(64) f32 a[CUT_K / 4][CUT_ROWS][4];
    _Alignas(64) i8 a_exponents[CUT_ROWS][CUT_K];
    _Alignas(64) f32 b[CUT_TILES][CUT_K][TILE];               /* even columns, then odd ones */
    _Alignas(64) f32 b_exponents[CUT_TILES][CUT_K / 4][TILE]; /* bytes, of four k */
    _Alignas(64) f32 d[CUT_REGS][LANES];
    const f32 *c[CUT_REGS]; /* registers, or rows of `buffer` */
    _Alignas(64) f32 buffer[CUT_REGS][LANES];
};

static inline cut_i16 cut_load(const void *p)
{
    cut_i16 v;
    memcpy(&v, p, sizeof v);
    return v;
}

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

/* Exponents of halves of f16 or bf16; marks in `bad` which are out of range. */
static inline cut_i16 cut_exponents(cut_i16 bits, bool is_f16, cut_i16 *bad)
{
    const i16 shift = is_f16 ? 10 : 7, mask = is_f16 ? 31 : 255, bias = is_f16 ? 15 : 127;
    const i16 least = is_f16 ? 0 : (i16)(bias + CUT_LEAST),
              most = is_f16 ? 30 : (i16)(bias + CUT_MOST);
    const cut_i16 field = (bits >> shift) & mask, zero = (bits & 0x7fff) == 0;
    *bad |= ((field < least) | (field > most)) & ~zero;
    return ((field - (field == 0) - bias) & ~zero) | (CUT_NONE & zero);
}

/* tf32's bits but the sign, with the exponent and its zeros where bf16 has them. */
static inline cut_i32 cut_upper(cut_i32 word)
{
    return (word >> 16 & 0x7fff) | (((word & 0xe000) != 0) & 1);
}

/* Two blocks of 8 halves, or of four words of tf32, of a few rows of A or columns of B: their exponents. */
static inline cut_i8 cut_bytes(const void *p, const void *q, unsigned type, cut_i16 *bad)
{
    const cut_i16 none = {0}, h = cut_load(p), more = q ? cut_load(q) : none;
    if (type == PTX_tf32)
        return CUT_PACK8(
            cut_exponents(CUT_PACK16(cut_upper((cut_i32)h), cut_upper((cut_i32)more)), false, bad),
            none + CUT_NONE);
    return CUT_PACK8(cut_exponents(h, type == PTX_f16, bad),
                     cut_exponents(more, type == PTX_f16, bad));
}

static inline bool cut_any(cut_i16 v)
{
#if defined __AVX512BW__
    return _mm512_test_epi64_mask((__m512i)v, (__m512i)v);
#elif defined __AVX2__
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    u32 any = 0;
    for (int i = 0; i < CUT_WIDTH; i++) any |= ((cut_u32)v)[i];
    return any;
#endif
}

/* The upper 16 bits of the elements of A or B by lanes of vectors: the greatest as numbers with a sign, which is the greatest
 * element that is not negative if there is one, and as numbers without a sign, likewise of the negative ones. */
struct cut_bounds {
    cut_i16 with_sign, without;
};

static inline void cut_bound(struct cut_bounds *s, cut_i16 v)
{
    s->with_sign = CUT_MAX16(s->with_sign, v);
    s->without = CUT_MAXU16(s->without, v);
}

/* The greatest of elements that are not negative. */
static inline i32 cut_greatest(cut_i16 v)
{
#if defined __SSE2__
#if defined __AVX512BW__
    const __m256i half = _mm256_max_epi16(_mm512_castsi512_si256((__m512i)v),
                                          _mm512_extracti64x4_epi64((__m512i)v, 1));
#elif defined __AVX2__
    const __m256i half = (__m256i)v;
#endif
#if defined __AVX2__
    __m128i x = _mm_max_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
#else
    __m128i x = (__m128i)v;
#endif
    x = _mm_max_epi16(x, _mm_srli_si128(x, 8));
    x = _mm_max_epi16(x, _mm_srli_si128(x, 4));
    x = _mm_max_epi16(x, _mm_srli_si128(x, 2));
    return _mm_cvtsi128_si32(x) & 0xffff;
#else
    i32 most = 0;
    for (u32 i = 0; i < CUT_BYTES / 2; i++) most = v[i] > most ? v[i] : most;
    return most;
#endif
}

/* Eight halves of each of a few rows -> their first four, and their last four. */
static inline void cut_values(const void *p, bool is_f16, void *first, void *last)
{
    const cut_i16 h = cut_load(p);
    cut_f32 low, high;
    if (!is_f16) low = CUT_FIRST(h), high = CUT_LAST(h);
    else {
#if defined __AVX512BW__
        const __m512i v = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                                   (__m512i)h);
        low = (cut_f32)_mm512_cvtph_ps(_mm512_castsi512_si256(v));
        high = (cut_f32)_mm512_cvtph_ps(_mm512_extracti64x4_epi64(v, 1));
#elif defined __F16C__ && defined __AVX2__
        const __m256i v = _mm256_permute4x64_epi64((__m256i)h, 0xd8);
        low = (cut_f32)_mm256_cvtph_ps(_mm256_castsi256_si128(v));
        high = (cut_f32)_mm256_cvtph_ps(_mm256_extracti128_si256(v, 1));
#else /* exact, infinity aside */
#define WIDEN(x)                                                                                   \
    ((cut_f32)((cut_u32)((cut_f32)(((cut_u32)(x)&0x7fff0000u) >> 3) * 0x1p112f) |                  \
               ((cut_u32)(x)&0x80000000u)))
        low = WIDEN(CUT_FIRST(h)), high = WIDEN(CUT_LAST(h));
#undef WIDEN
#endif
    }
    *(cut_f32 *)first = low, *(cut_f32 *)last = high;
}

/* The strip of A that begins with register `first`. */
static inline __attribute__((always_inline)) void
cut_read_a_of(const struct emu_group *g, const struct mma_desc *d, const unsigned type, u32 w,
              u32 first, struct cut_work *x, struct cut_bounds *bounds)
{
    u32 buffer[LANES];
    const bool words = type == PTX_tf32;
    const u32 parts = d->m == 8 ? 1 : 2, registers = d->k / (words ? 4u : 8u) * parts;
    struct cut_bounds of = {(cut_i16){0} + INT16_MIN, {0}};
    for (u32 r = 0; r < registers; r++) {
        const u32 *const p = take32(g, d->a_rows[first + r], w, buffer);
        const u32 part = parts == 1 ? 0 : r % 2, block = parts == 1 ? r : r / 2;
        UNROLL for (u32 i = 0; i < TILE; i += CUT_GROUP)
        {
            const u32 row = part * TILE + i;
            const cut_i16 v = cut_load(p + i * 4);
            cut_bound(&of, v);
            if (words) *(cut_i32 *)(void *)x->a[block][row] = (cut_i32)v & (i32)0xffffe000;
            else
                cut_values(p + i * 4, type == PTX_f16, x->a[2 * block][row],
                           x->a[2 * block + 1][row]);
        }
    }
    *bounds = of;
}

static inline void cut_read_a(const struct emu_group *g, const struct mma_desc *d, u32 w, u32 first,
                              struct cut_work *x, struct cut_bounds *bounds)
{
    if (d->a == PTX_f16) cut_read_a_of(g, d, PTX_f16, w, first, x, bounds);
    else if (d->a == PTX_bf16) cut_read_a_of(g, d, PTX_bf16, w, first, x, bounds);
    else cut_read_a_of(g, d, PTX_tf32, w, first, x, bounds);
}

/* Exponents of the same. false: one is out of range. */
static inline bool cut_read_a_exponents(const struct emu_group *g, const struct mma_desc *d, u32 w,
                                        u32 first, struct cut_work *x)
{
    u32 buffer[2][LANES];
    cut_i16 bad = {0};
    const u32 parts = d->m == 8 ? 1 : 2, blocks = d->k / (d->a == PTX_tf32 ? 4u : 8u);
    for (u32 part = 0; part < parts; part++) {
        const u32 *p = take32(g, d->a_rows[first + part], w, buffer[0]),
                  *q = blocks < 2 ? NULL : take32(g, d->a_rows[first + parts + part], w, buffer[1]);
        for (u32 i = 0; i < TILE; i += CUT_GROUP)
            *(cut_i8 *)x->a_exponents[part * TILE + i] = cut_bytes(p + i * 4, q ? q + i * 4 : NULL,
                                                                   d->a, &bad);
    }
    return !cut_any(bad);
}

/* 8 columns of 8 halves each -> 8 rows, of even columns, then of odd ones. */
static inline void turn_halves(const u16 *h, u16 *out)
{
#if defined __AVX512BW__
    const __m512i a = _mm512_loadu_si512(h), b = _mm512_loadu_si512(h + 32);
    const __m512i first = _mm512_set_epi16(59, 43, 27, 11, 51, 35, 19, 3, 58, 42, 26, 10, 50, 34,
                                           18, 2, 57, 41, 25, 9, 49, 33, 17, 1, 56, 40, 24, 8, 48,
                                           32, 16, 0),
                  last = _mm512_add_epi16(first, _mm512_set1_epi16(4));
    _mm512_storeu_si512(out, _mm512_permutex2var_epi16(a, first, b));
    _mm512_storeu_si512(out + 32, _mm512_permutex2var_epi16(a, last, b));
#elif defined __SSE2__
    __m128i a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = _mm_loadu_si128((const __m128i *)(const void *)(h + (i % 4 * 2 + i / 4) * 8));
#define STEP(a, b)                                                                                 \
    for (int i = 0; i < 4; i++) /* columns i and i + 4, half by half */                            \
        b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]),                                             \
              b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
    STEP(a, b)
    STEP(b, a)
    STEP(a, b)
#undef STEP
    for (int i = 0; i < 8; i++) _mm_storeu_si128((__m128i *)(void *)(out + 8 * i), b[i]);
#else
    for (int i = 0; i < 64; i++) out[i] = h[(i % 4 * 2 + i / 4 % 2) * 8 + i / 8];
#endif
}

static inline __attribute__((always_inline)) void
cut_read_b_of(const struct emu_group *g, const struct mma_desc *d, const unsigned type, u32 w,
              struct cut_work *x, struct cut_bounds *bounds)
{
    u32 buffer[LANES];
    const bool words = type == PTX_tf32;
    const u32 blocks = d->k / (words ? 4u : 8u);
    struct cut_bounds of = {(cut_i16){0} + INT16_MIN, {0}};
    for (u32 tile = 0, r = 0; tile < d->n / (u32)TILE; tile++)
        for (u32 block = 0; block < blocks; block++, r++) {
            _Alignas(64) u32 v[LANES];
            const u32 *const p = take32(g, d->b_rows[r], w, buffer);
            UNROLL for (u32 l = 0; l < LANES; l += CUT_WIDTH) cut_bound(&of, cut_load(p + l));
            if (words) {
                f32 *const to = x->b[tile][block * 4];
                LANE_LOOP for (int l = 0; l < LANES; l++) v[l] = p[l] & 0xffffe000u;
                for (u32 odd = 0; odd < 2; odd++)
                    turn4((const f32 *)(const void *)v + odd * 4, 8, to + odd * 4, TILE);
            } else {
                u16 *const h = (u16 *)(void *)v;
                f32 *const to = x->b[tile][block * 8];
                turn_halves((const u16 *)p, h);
                if (type == PTX_f16) from_f16(h, 2 * LANES, to);
                else
                    LANE_LOOP for (int l = 0; l < 2 * LANES; l++)
                        to[l] = fp_float32((u32)h[l] << 16);
            }
        }
    *bounds = of;
}

static inline void cut_read_b(const struct emu_group *g, const struct mma_desc *d, u32 w,
                              struct cut_work *x, struct cut_bounds *bounds)
{
    if (d->a == PTX_f16) cut_read_b_of(g, d, PTX_f16, w, x, bounds);
    else if (d->a == PTX_bf16) cut_read_b_of(g, d, PTX_bf16, w, x, bounds);
    else cut_read_b_of(g, d, PTX_tf32, w, x, bounds);
}

static inline bool cut_read_b_exponents(const struct emu_group *g, const struct mma_desc *d, u32 w,
                                        struct cut_work *x)
{
    u32 buffer[2][LANES];
    cut_i16 bad = {0};
    const u32 blocks = d->k / (d->a == PTX_tf32 ? 4u : 8u);
    for (u32 tile = 0; tile < d->n / (u32)TILE; tile++) {
        _Alignas(64) i8 e[TILE][CUT_K];
        const u32 *p[2] = {take32(g, d->b_rows[tile * blocks], w, buffer[0]), NULL};
        if (blocks > 1) p[1] = take32(g, d->b_rows[tile * blocks + 1], w, buffer[1]);
        for (u32 i = 0; i < TILE; i += CUT_GROUP)
            *(cut_i8 *)e[i] = cut_bytes(p[0] + i * 4, p[1] ? p[1] + i * 4 : NULL, d->a, &bad);
        for (u32 odd = 0; odd < 2; odd++)
            turn4((const f32 *)(const void *)e[odd], 8, x->b_exponents[tile][0] + odd * 4, TILE);
    }
    return !cut_any(bad);
}

/* C's registers of all lanes: of 8 rows and the even, or the odd columns of a tile. */
static inline void cut_read_c(const struct emu_group *g, const struct mma_desc *d, u32 w, u32 first,
                              struct cut_work *x)
{
    const u32 count = d->n / (u32)TILE * (d->m == 8 ? 2 : 4);
    for (u32 i = 0; i < count; i++) {
        u32 *const buffer = (u32 *)(void *)x->buffer[i];
        if (d->c != PTX_f16) {
            x->c[i] = (const f32 *)(const void *)take32(g, d->c_rows[first + i], w, buffer);
            continue;
        }
        f32 f[2 * LANES];
        u32 words[LANES];
        from_f16((const u16 *)take32(g, d->c_rows[(first + i) / 2], w, words), 2 * LANES, f);
        for (u32 l = 0; l < LANES; l++) x->buffer[i][l] = f[2 * l + i % 2];
        x->c[i] = x->buffer[i];
    }
}

/* A sum, truncated to f32. */
static inline cut_f32 cut_to_f32(cut_i32 sum)
{
#if defined __AVX512BW__
    return (cut_f32)_mm512_cvt_roundepi32_ps((__m512i)sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
#else
    const cut_i32 minus = sum >> 31, size = (sum ^ minus) - minus;
    const cut_f32 near = __builtin_convertvector(size, cut_f32);
    const cut_i32 above = (cut_i32)((cut_u32)size -
                                    (cut_u32) __builtin_convertvector(near, cut_i32)) >>
                          31;
    return (cut_f32)(((cut_i32)near + above) | (minus & INT32_MIN));
#endif
}

/* The elements of D of a few rows, in `tiles` tiles. */
static inline __attribute__((always_inline)) void cut_tiles(struct cut_work *x, const u32 k,
                                                            u32 row, u32 tile, const u32 tiles,
                                                            u32 parts, cut_i16 *bad)
{
    enum { MOST_VECTORS = 4 };
    const u32 vectors = 2 * tiles, lane = row % TILE * 4, first = 2 * (tile * parts + row / TILE);
    const cut_f32 exponents = *(const cut_f32 *)(const void *)x->a_exponents[row];
    cut_i8 most[MOST_VECTORS];
    cut_i32 sum[MOST_VECTORS];
    cut_f32 scale[MOST_VECTORS];
    for (u32 v = 0; v < vectors; v++) most[v] = (cut_i8){0} + CUT_NONE;
#define EXPONENTS(i)                                                                               \
    if (4 * i < k) {                                                                               \
        const cut_i8 a = (cut_i8)CUT_PICK(exponents, i);                                           \
        for (u32 v = 0; v < vectors; v++)                                                          \
            most[v] = CUT_MAX8(                                                                    \
                most[v],                                                                           \
                CUT_ADD8(a, (cut_i8)CUT_QUAD(x->b_exponents[tile + v / 2][i] + v % 2 * 4)));       \
    }
    EXPONENTS(0)
    EXPONENTS(1)
    EXPONENTS(2)
    EXPONENTS(3)
#undef EXPONENTS
    for (u32 v = 0; v < vectors; v++) {
        const cut_i32 c = (cut_i32)cut_load(x->c[first + v / 2 * 2 * parts + v % 2] + lane);
        cut_i8 m = CUT_MAX8(most[v], (cut_i8)((cut_u32)most[v] << 16));
        m = CUT_MAX8(m, (cut_i8)((cut_u32)m << 8));
        const cut_i32 product = (cut_i32)m >> 24, none = product < 2 * CUT_LEAST,
                      field = (c & 0x7fffffff) >> 23, own = field - (field == 0) - 127,
                      greater = (own > product) | none;
        cut_i32 e = (own & greater) | (product & ~greater);
        const cut_i32 low = e < CUT_ALONE;
        e = (e & ~low) | (CUT_ALONE & low);
        *bad |= (cut_i16)(field == 255);
        scale[v] = (cut_f32)((152 - e) << 23);
        sum[v] = (cut_i32){0};
    }
#define PRODUCTS(i, j)                                                                             \
    {                                                                                              \
        const cut_f32 a = CUT_PICK(some, j);                                                       \
        for (u32 v = 0; v < vectors; v++)                                                          \
            sum[v] += __builtin_convertvector(                                                     \
                a * CUT_QUAD(x->b[tile + v / 2][4 * i + j] + v % 2 * 4) * scale[v], cut_i32);      \
    }
    UNROLL for (u32 i = 0; i < k / 4; i++)
    {
        const cut_f32 some = *(const cut_f32 *)(const void *)x->a[i][row];
        PRODUCTS(i, 0)
        PRODUCTS(i, 1)
        PRODUCTS(i, 2)
        PRODUCTS(i, 3)
    }
#undef PRODUCTS
    for (u32 v = 0; v < vectors; v++) {
        const u32 at = first + v / 2 * 2 * parts + v % 2;
        const cut_f32 c = (cut_f32)cut_load(x->c[at] + lane);
        const cut_i32 by = (cut_i32)scale[v],
                      cut_c = __builtin_convertvector(c * scale[v], cut_i32),
                      all = (cut_i32)((cut_u32)sum[v] + (cut_u32)cut_c),
                      alone = by == (152 - CUT_ALONE) << 23; /* there is no product */
        *bad |= (cut_i16)(((sum[v] ^ all) & (cut_c ^ all)) >> 31);
        const cut_f32 to = cut_to_f32(all) * (cut_f32)((254 << 23) - by), own = c + 0.0f;
        *(cut_i32 *)(void *)(x->d[at] + lane) = ((cut_i32)own & alone) | ((cut_i32)to & ~alone);
    }
}

static inline __attribute__((always_inline)) void
cut_rows(struct cut_work *x, const struct mma_desc *d, const u32 k, cut_i16 *bad)
{
    const u32 rows = d->m == 8 ? 8 : 16, parts = rows / TILE;
    for (u32 row = 0; row < rows; row += CUT_GROUP)
        if (d->n == 8) cut_tiles(x, k, row, 0, 1, parts, bad);
        else
            for (u32 tile = 0; tile < d->n / (u32)TILE; tile += 2)
                cut_tiles(x, k, row, tile, 2, parts, bad);
}

/* D of a strip. false: C is out of range, or a sum is. */
static inline bool cut_columns(struct cut_work *x, const struct mma_desc *d)
{
    cut_i16 bad = {0};
    if (d->k == 16) cut_rows(x, d, 16, &bad);
    else if (d->k == 8) cut_rows(x, d, 8, &bad);
    else cut_rows(x, d, 4, &bad);
    return !cut_any(bad);
}

#endif
