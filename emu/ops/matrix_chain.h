/* emu/ops/matrix_chain.h: products of dense matrices of f16, bf16 and tf32 whose sums are truncated to f32
 * (simd_matrix.c has the rule), by chains of fused multiply-adds in f32. It handles two cases, tried in this order;
 * other products use matrix_cut.h.
 *
 * All products have one sign, and each C is greater than all products: its exponent e is at least 4 above the sum E of the
 * greatest exponents of A and B. Then e is the exponent that products are cut by, to multiples of u = 2^(e - 25). A chain starts
 * at m = 2^(e - 2) = 2^23 u with the sign of the products. f32 has steps of u from there up to 2^24 u, so a multiply-add that is
 * rounded toward zero cuts its product and adds the rest. A product is less than 2^(E + 2), or 2^(27 - (e - E)) u, so chains of
 * 2^(e - E - 4) products stay below 2^24 u. C is a multiple of 4u. With a chain for all products, D is C plus what the chain
 * added, rounded toward zero: that is the exact sum, cut to f32. With several, what they added is summed as integers, as
 * matrix_cut.h does.
 *
 * Or nothing is cut, for all is small: A's elements are multiples of 2^s less than 2^(s + 8), B's of 2^t less than 2^(t + 8), and
 * C's of v = 2^(s + t) less than 2^22 v. Then any sum is less than 2^22 v + 16 * 2^16 v < 2^24 v, and so a chain from C is exact.
 * Its greatest exponent is at most 22 above that of v, so the cut at 25 below it changes nothing. */
#ifndef HEDDLE_EMU_OPS_MATRIX_CHAIN_H
#define HEDDLE_EMU_OPS_MATRIX_CHAIN_H

#include "emu/ops/matrix_cut.h"

#if defined __SSE2__

/* How many products a chain has. */
enum chain { CHAIN_NONE = -1, CHAIN_EXACT = 0, CHAIN_1 = 1, CHAIN_4 = 4, CHAIN_ALL = CUT_K };
enum { CHAIN_LEAST = 27, CHAIN_MOST = 251 /* exponent fields of C: units and sums are normal */ };

/* Without AVX-512 the rounding is the host's mode, from chain_begin() to chain_end(). In between the compiler may not move what
 * reads or writes memory out. */
#if defined __AVX512BW__
#define CHAIN_RZ (_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define CHAIN_FMA(x, y, z)                                                                         \
    ((cut_f32)_mm512_fmadd_round_ps((__m512)(x), (__m512)(y), (__m512)(z), CHAIN_RZ))
#define CHAIN_ADD(x, y) ((cut_f32)_mm512_add_round_ps((__m512)(x), (__m512)(y), CHAIN_RZ))
#define CHAIN_MIN32(x, y) ((cut_i32)_mm512_min_epi32((__m512i)(x), (__m512i)(y)))
#define CHAIN_MAX32(x, y) ((cut_i32)_mm512_max_epi32((__m512i)(x), (__m512i)(y)))
/* Whether an element of x is less than that of y. */
#define CHAIN_ANY_LESS(x, y) (_mm512_cmplt_epi32_mask((__m512i)(x), (__m512i)(y)) != 0)
static inline u32 chain_begin(void)
{
    return 0;
}
static inline void chain_end(u32 mode)
{
    (void)mode;
}
#else
#if defined __AVX2__
#define CHAIN_FMA(x, y, z) ((cut_f32)_mm256_fmadd_ps((__m256)(x), (__m256)(y), (__m256)(z)))
#define CHAIN_MIN32(x, y) ((cut_i32)_mm256_min_epi32((__m256i)(x), (__m256i)(y)))
#define CHAIN_MAX32(x, y) ((cut_i32)_mm256_max_epi32((__m256i)(x), (__m256i)(y)))
#else /* a product is exact, or less than 2^-126, where it is cut to multiples of 2^-149, of which u is one */
#define CHAIN_FMA(x, y, z) ((x) * (y) + (z))
#define CHAIN_MIN32(x, y) (((x) & ((x) < (y))) | ((y) & ~((x) < (y))))
#define CHAIN_MAX32(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#endif
#define CHAIN_ADD(x, y) ((x) + (y))
#define CHAIN_ANY_LESS(x, y) cut_any((cut_i16)((x) < (y)))
static inline u32 chain_begin(void)
{
    const u32 mode = _mm_getcsr();
    _mm_setcsr(mode | _MM_ROUND_TOWARD_ZERO);
    __asm__ volatile("" ::: "memory");
    return mode;
}
static inline void chain_end(u32 mode)
{
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(mode);
}
#endif

/* The elements of D of `groups` times a few rows, in `tiles` tiles. `sign`: that of products. */
static inline __attribute__((always_inline)) void
chain_tiles(struct cut_work *x, const struct mma_desc *d, u32 row, u32 tile, const u32 groups,
            const u32 tiles, const enum chain length, i32 sign)
{
    enum { MOST_GROUPS = 4, MOST_VECTORS = 4 };
    const u32 vectors = 2 * tiles, parts = d->m == 8 ? 1 : 2;
    cut_f32 s[MOST_GROUPS][MOST_VECTORS], m[MOST_GROUPS][MOST_VECTORS];
    cut_u32 total[MOST_GROUPS][MOST_VECTORS];
#define CHAIN_EACH UNROLL for (u32 i = 0; i < groups; i++) UNROLL for (u32 v = 0; v < vectors; v++)
#define CHAIN_REGISTER (2 * ((tile + v / 2) * parts + (row + i * CUT_GROUP) / TILE) + v % 2)
#define CHAIN_LANE ((row + i * CUT_GROUP) % TILE * 4)
#define CHAIN_C cut_load(x->c[CHAIN_REGISTER] + CHAIN_LANE)
    CHAIN_EACH
    {
        const cut_i32 c = (cut_i32)CHAIN_C;
        m[i][v] = length == CHAIN_EXACT ? (cut_f32)c
                                        : (cut_f32)(((c & 0x7f800000) - (2 << 23)) | sign);
        s[i][v] = m[i][v];
        total[i][v] = (cut_u32){0};
    }
#define CHAIN_FLUSH                                                                                \
    CHAIN_EACH                                                                                     \
    {                                                                                              \
        total[i][v] += (cut_u32)s[i][v];                                                           \
        s[i][v] = m[i][v];                                                                         \
    }
#define CHAIN_STEP(j)                                                                              \
    {                                                                                              \
        cut_f32 b[MOST_VECTORS];                                                                   \
        UNROLL for (u32 v = 0; v < vectors; v++)                                                   \
            b[v] = CUT_QUAD(x->b[tile + v / 2][4 * k + j] + v % 2 * 4);                            \
        UNROLL for (u32 i = 0; i < groups; i++)                                                    \
        {                                                                                          \
            const cut_f32 a = CUT_PICK(some[i], j);                                                \
            UNROLL for (u32 v = 0; v < vectors; v++) s[i][v] = CHAIN_FMA(a, b[v], s[i][v]);        \
        }                                                                                          \
        if (length == CHAIN_1 || (length == CHAIN_4 && (j) == 3)) CHAIN_FLUSH                      \
    }
    for (u32 k = 0; k < d->k / 4u; k++) {
        cut_f32 some[MOST_GROUPS];
        UNROLL for (u32 i = 0; i < groups; i++)
            some[i] = *(const cut_f32 *)(const void *)x->a[k][row + i * CUT_GROUP];
        CHAIN_STEP(0)
        CHAIN_STEP(1)
        CHAIN_STEP(2)
        CHAIN_STEP(3)
    }
#undef CHAIN_STEP
#undef CHAIN_FLUSH
    CHAIN_EACH
    {
        const cut_f32 c = (cut_f32)CHAIN_C;
        cut_f32 sum;
        if (length == CHAIN_EXACT) sum = s[i][v] + 0.0f; /* never -0 */
        else if (length == CHAIN_ALL) sum = CHAIN_ADD(c, s[i][v] - m[i][v]);
        else {
            const u32 chains = d->k / (u32)length;
            const cut_i32 minus = (cut_i32){0} + (sign >> 31),
                          size = (cut_i32)(total[i][v] - chains * (cut_u32)m[i][v]),
                          scale = (cut_i32)((279u << 23) - ((cut_u32)c & 0x7f800000u));
            const cut_i32 all = __builtin_convertvector(c * (cut_f32)scale, cut_i32) +
                                ((size ^ minus) - minus);
            sum = cut_to_f32(all) * (cut_f32)((254 << 23) - scale);
        }
        *(cut_f32 *)(void *)(x->d[CHAIN_REGISTER] + CHAIN_LANE) = sum;
    }
#undef CHAIN_EACH
#undef CHAIN_REGISTER
#undef CHAIN_LANE
#undef CHAIN_C
}

static inline __attribute__((always_inline)) void
chain_rows(struct cut_work *x, const struct mma_desc *d, const enum chain length, i32 sign)
{
    const u32 rows = d->m == 8 ? 8 : 16;
    if (d->n == 8)
        for (u32 row = 0; row < rows; row += 4 * CUT_GROUP)
            chain_tiles(x, d, row, 0, 4, 1, length, sign);
    else
        for (u32 row = 0; row < rows; row += 2 * CUT_GROUP)
            for (u32 tile = 0; tile < d->n / (u32)TILE; tile += 2)
                chain_tiles(x, d, row, tile, 2, 2, length, sign);
}

/* Properties of all elements of A or B. */
struct chain_range {
    /* exponent of the largest element, at least that of subnormal numbers; CHAIN_INFINITE with infinity or NaN */
    i32 exponent;
    bool positive, negative; /* some elements have no sign; some have a sign */
};
enum { CHAIN_INFINITE = 1000 };

static inline struct chain_range chain_range(const struct cut_bounds *s, unsigned type)
{
    const cut_u32 lanes = (cut_u32){0} + (type == PTX_tf32 ? 0xffff0000u : ~0u);
    const cut_i16 mask = (cut_i16)lanes, sign = mask & INT16_MIN, rest = mask & INT16_MAX;
    const i32 bits = type == PTX_f16 ? 10 : 7, infinite = type == PTX_f16 ? 31 : 255,
              field = cut_greatest(CUT_MAX16(s->with_sign & rest, s->without & rest)) >> bits;
    return (struct chain_range){.exponent = field == infinite ? CHAIN_INFINITE
                                                              : (field ? field : 1) - infinite / 2,
                                .positive = cut_any(~s->with_sign & sign),
                                .negative = cut_any(s->without & sign)};
}

/* Whether vectors of elements less than 2^(s + 23) are multiples of 2^s. */
static inline bool chain_multiples(const f32 *p, u32 n, i32 s)
{
    const cut_f32 far = (cut_f32)((cut_u32){0} + ((u32)(s + 150) << 23 | 1u << 22));
    cut_i32 differ = {0};
    for (u32 i = 0; i < n; i += CUT_WIDTH) {
        const cut_f32 v = (cut_f32)cut_load(p + i);
        differ |= (v + far) - far != v;
    }
    return !cut_any((cut_i16)differ);
}

/* Whether nothing would be cut, as said above. a, b: exponents of the greatest elements; c: bits of the greatest of C. */
static inline bool chain_is_exact(const struct cut_work *x, const struct mma_desc *d, i32 a, i32 b,
                                  cut_i32 c)
{
    const u32 rows = d->m == 8 ? 8 : 16, tiles = d->n / (u32)TILE, registers = tiles * rows / 4;
    if (a < CUT_LEAST || a > CUT_MOST || b < CUT_LEAST || b > CUT_MOST ||
        CHAIN_ANY_LESS((cut_i32){0} + ((a + b - 14 + 22 + 127) << 23) - 1, c))
        return false;
    for (u32 k = 0; k < d->k / 4u; k++)
        if (!chain_multiples(x->a[k][0], rows * 4, a - 7)) return false;
    for (u32 i = 0; i < tiles; i++)
        if (!chain_multiples(x->b[i][0], d->k * (u32)TILE, b - 7)) return false;
    for (u32 i = 0; i < registers; i++)
        if (!chain_multiples(x->c[i], LANES, a + b - 14)) return false;
    return true;
}

/* Whether the vector's elements have at least this exponent field. */
static inline bool chain_reaches(cut_i32 c, i32 field)
{
    return !CHAIN_ANY_LESS(c, (cut_i32){0} + (field << 23));
}

static inline enum chain chain_length(const struct cut_work *x, const struct mma_desc *d,
                                      struct chain_range a, struct chain_range b)
{
    const i32 of_products = a.exponent + b.exponent + 127;
    const u32 registers = d->n / (u32)TILE * (d->m == 8 ? 2 : 4);
    cut_i32 least = (cut_i32){0} + 0x7fffffff, most = {0};
    for (u32 i = 0; i < registers; i++) UNROLL for (u32 l = 0; l < LANES; l += CUT_WIDTH)
        {
            const cut_i32 c = (cut_i32)cut_load(x->c[i] + l) & 0x7fffffff;
            least = CHAIN_MIN32(least, c), most = CHAIN_MAX32(most, c);
        }
    if (of_products + 4 <= CHAIN_MOST &&
        chain_reaches(least, of_products + 4 > CHAIN_LEAST ? of_products + 4 : CHAIN_LEAST) &&
        !CHAIN_ANY_LESS((cut_i32){0} + ((CHAIN_MOST + 1) << 23) - 1, most) &&
        a.positive != a.negative && b.positive != b.negative) {
        const i32 all = of_products + (d->k > 8 ? 8 : 7);
        return all <= CHAIN_MOST && chain_reaches(least, all)                           ? CHAIN_ALL
               : of_products + 6 <= CHAIN_MOST && chain_reaches(least, of_products + 6) ? CHAIN_4
                                                                                        : CHAIN_1;
    }
    return chain_is_exact(x, d, a.exponent, b.exponent, most) ? CHAIN_EXACT : CHAIN_NONE;
}

/* Computes D of a strip. false: neither case applies. */
static __attribute__((noinline)) bool chain_products(struct cut_work *x, const struct mma_desc *d,
                                                     const struct cut_bounds *of_a,
                                                     const struct cut_bounds *of_b)
{
    const struct chain_range a = chain_range(of_a, d->a), b = chain_range(of_b, d->a);
    const enum chain length = chain_length(x, d, a, b);
    const i32 sign = a.negative != b.negative ? INT32_MIN : 0;
    if (length == CHAIN_NONE) return false;
    const u32 mode = chain_begin();
    switch (length) {
    case CHAIN_EXACT: chain_rows(x, d, CHAIN_EXACT, 0); break;
    case CHAIN_1: chain_rows(x, d, CHAIN_1, sign); break;
    case CHAIN_4: chain_rows(x, d, CHAIN_4, sign); break;
    default: chain_rows(x, d, CHAIN_ALL, sign); break;
    }
    chain_end(mode);
    return true;
}

#else
static inline bool chain_products(struct cut_work *x, const struct mma_desc *d,
                                  const struct cut_bounds *a, const struct cut_bounds *b)
{
    (void)x, (void)d, (void)a, (void)b;
    return false;
}
#endif

/* D = A B + C of warp w. false, and nothing is written: an element is out of range, or A is sparse. D is f32; A and B are of
 * f16, bf16 or tf32; C may be f16. */
static inline bool cut_products(struct emu_group *g, const struct mma_desc *d, u32 w)
{
    struct cut_work x[2];
    const u32 strips = d->m == 32 ? 2 : 1, registers = d->k / (d->a == PTX_tf32 ? 4u : 8u) * 2,
              count = d->n / (u32)TILE * (d->m == 8 ? 2 : 4);
    if (d->sparse) return false;
    for (u32 s = 0; s < strips; s++) {
        struct cut_bounds a, b;
        cut_read_a(g, d, w, s * registers, &x[s], &a);
        cut_read_b(g, d, w, &x[s], &b);
        cut_read_c(g, d, w, s * count, &x[s]);
        if (chain_products(&x[s], d, &a, &b)) continue;
        if (!cut_read_a_exponents(g, d, w, s * registers, &x[s]) ||
            !cut_read_b_exponents(g, d, w, &x[s]) || !cut_columns(&x[s], d))
            return false;
    }
    for (u32 s = 0; s < strips; s++)
        for (u32 i = 0; i < count; i++)
            give32(g, d->d_rows[s * count + i], w, (const u32 *)(const void *)x[s].d[i]);
    return true;
}

#endif
