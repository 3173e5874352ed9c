/* Products of matrices: mma, mma.sp, wmma.mma.
 *
 * The ISA leaves open how sums of floating point products are rounded ("at least single precision", in any order, with
 * any rounding). With f16, bf16 and tf32 elements and an f32 result, sums are computed as on an H200
 * (docs/hardware.md): all products of an element and its C are truncated to multiples of 2^(e - 25), where e is the
 * largest of their exponents and the exponent of a product is the sum of its factors' exponents; these are summed
 * exactly, and the sum is truncated to f32. In all other cases products are exact, the sum is taken in f64, starting
 * from C, by ascending k, and rounded to nearest once at the end. f64 products are a chain of fma of the instruction's
 * rounding, likewise from C by ascending k. Results that are NaN are canonical; of f64 as for fma. Inputs and results
 * may be subnormal. tf32 inputs are truncated to their 19 bits. Integer sums are exact: products of at most 128
 * elements of 8 bits fit f64 easily, so integers go the same way. */
#include "emu/ops/lane.h"

#include "emu/ops/fp.h"
#include "emu/ops/matrix_chain.h"
#include "emu/ops/matrix_lanes.h"
#include "emu/ops/matrixops.h"
#include "ptx/ptx.h"

#include <string.h>

enum { MAX_A = 1024, MAX_B = 1024, MAX_C = 256 };

/* A product in the making. B and C are in tiles of 8 columns. A is in strips of 8 rows, and a strip in the blocks of 8 rows
 * that registers hold: the elements of a register stay in their order. Of a sparse A the elements that are there. */
struct work {
    _Alignas(64) f64 a[MAX_A]; /* a[strip][block][8][k of the block] */
    _Alignas(64) f64 b[MAX_B]; /* b[tile][k][8] */
    _Alignas(64) f64 c[MAX_C]; /* c[tile][row][8] */
    u8 pick[16][64];           /* sparse: the k of a[row][i] */
};

/* ---- elements ------------------------------------------------------------------------------------ */

enum { MOST = 8 * LANES }; /* elements of a register of all lanes */

/* A register of all lanes with elements of 8 bits or less, or tf32 -> its elements in order, E of each lane. Returns 4E, how
 * many a group has. */
static inline u32 elements32(const struct emu_group *g, unsigned type, u32 row, u32 w,
                             f32 *restrict f)
{
    u32 masked[LANES];
    u16 h[MOST / 2];
    const u32 *p = take32(g, row, w, masked);
    const u8 *byte = (const u8 *)p; /* the host is little-endian, as the guest is */
    switch (type) {
    case PTX_tf32: CONVERT(LANES, f[i], fp_float32(p[i] & 0xffffe000u)) return 4;
    case PTX_e5m2: /* the upper half of f16 */
        CONVERT(4 * LANES, h[i], (u16)(byte[i] << 8))
        from_f16(h, 4 * LANES, f);
        return 16;
    case PTX_e4m3: /* the same, but for one bit of exponent, and there is no infinity */
        CONVERT(4 * LANES, h[i], (u16)((byte[i] & 0x80) << 8 | (byte[i] & 0x7f) << 7))
        from_f16(h, 4 * LANES, f);
        CONVERT(4 * LANES, f[i], f[i] * 256.0f)
        CONVERT(4 * LANES, f[i], fp_float32((byte[i] & 0x7f) == 0x7f ? FP_NAN32 : fp_bits32(f[i])))
        return 16;
    case PTX_s8: CONVERT(4 * LANES, f[i], (f32)(i8)byte[i]) return 16;
    case PTX_u8: CONVERT(4 * LANES, f[i], (f32)byte[i]) return 16;
    default: /* s4, u4: two nibbles of a byte to the bytes of a half */
        CONVERT(4 * LANES, h[i], (u16)((byte[i] & 15) | byte[i] >> 4 << 8))
        byte = (const u8 *)h;
        if (type == PTX_s4) CONVERT(8 * LANES, f[i], (f32)((byte[i] ^ 8) - 8))
        else CONVERT(8 * LANES, f[i], (f32)byte[i])
        return 32;
    }
}

/* 64 elements of f16 or bf16 in double. */
static inline void from_halves(const u16 *restrict h, unsigned type, f64 *restrict out)
{
#if defined __F16C__
    for (int i = 0; i < 2 * LANES; i += 8) {
        const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(h + i));
        const __m256 f = type == PTX_f16
                             ? _mm256_cvtph_ps(v)
                             : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
        _mm256_storeu_pd(out + i, _mm256_cvtps_pd(_mm256_castps256_ps128(f)));
        _mm256_storeu_pd(out + i + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(f, 1)));
    }
#else
    f32 f[2 * LANES];
    if (type == PTX_f16) from_f16(h, 2 * LANES, f);
    else CONVERT(2 * LANES, f[i], fp_float32((u32)h[i] << 16))
    CONVERT(2 * LANES, out[i], (f64)f[i])
#endif
}

/* Elements as elements32() has them, in double; also of f64. */
static inline u32 elements(const struct emu_group *g, unsigned type, u32 row, u32 w,
                           f64 *restrict out)
{
    f32 f[MOST];
    u32 masked[LANES];
    u64 wide[LANES];
    if (type == PTX_f64) {
        memcpy(out, take64(g, row, w, wide), LANES * sizeof(f64));
        return 4;
    }
    if (type == PTX_f16 || type == PTX_bf16) {
        from_halves((const u16 *)take32(g, row, w, masked), type, out);
        return 8;
    }
    const u32 n = elements32(g, type, row, w, f);
    CONVERT((int)n * 8, out[i], (f64)f[i])
    return n;
}

static u32 kept(const struct mma_desc *d)
{
    return d->sparse ? d->k / 2u : d->k;
}

static void read_a(const struct emu_group *g, const struct mma_desc *d, u32 w, struct work *x)
{
    const u32 k = kept(d);
    for (u32 r = 0, row = 0, at = 0; row < d->m; r++) {
        const u32 half = d->m == 8 ? 0 : r % 2 * 8,
                  n = elements(g, d->a, d->a_rows[r], w, x->a + (row + half) * k + at * 8);
        if (d->m > 8 && !half) continue;
        at += n;
        if (at < k) continue;
        at = 0;
        row += d->m == 8 ? 8 : 16;
    }
}

static void read_b(const struct emu_group *g, const struct mma_desc *d, u32 w, struct work *x)
{
    f32 f[MOST], rows[MOST];
    u16 half[2 * LANES];
    u32 masked[LANES];
    f64 e[LANES], *b = x->b;
    for (u32 r = 0, done = 0, n; done < (u32)d->n * d->k; r++, b += n * TILE, done += n * TILE)
        if (d->b == PTX_f64) {
            n = elements(g, PTX_f64, d->b_rows[r], w, e);
            for (u32 j = 0; j < n; j++)
                for (u32 i = 0; i < TILE; i++) b[j * TILE + i] = e[i * n + j];
        } else if (d->b == PTX_f16 || d->b == PTX_bf16) {
            n = 8;
            transpose_halves((const u16 *)take32(g, d->b_rows[r], w, masked), half);
            from_halves(half, d->b, b);
        } else {
            n = elements32(g, d->b, d->b_rows[r], w, f);
            transpose(f, n, rows);
            CONVERT((int)n * TILE, b[i], (f64)rows[i])
        }
}

/* Which k the elements of a sparse A are at: 9.7.14.6.1. Two 2-bit indices for each chunk of a row: of 4
 * elements, two of which are there; of 8 four-bit ones in pairs; of 2 of tf32, one of which is there (as
 * two halves of the 4: 0b0100 the first, 0b1110 the second). Where they are kept (figures of 9.7.14.6.2):
 * types of 16 and 32 bits: rows 0-7 in the low halves, rows 8-15 in the high halves of a group's
 *     metadata, each thread that the selector names has four chunks of both rows
 * 8 and 4 bits: a thread has eight chunks of one row, odd threads of the row 8 further down. */
static void read_meta(const struct emu_group *g, const struct mma_desc *d, u32 w, struct work *x)
{
    u32 masked[LANES];
    const u32 *meta = take32(g, d->meta, w, masked);
    const bool wide = ptx_types[d->a].bits >= 16;
    const u32 size = d->a == PTX_tf32 ? 2 : ptx_types[d->a].bits == 4 ? 8 : 4, chunks = d->k / size;
    const u32 holders = wide ? chunks / 4 : chunks / 4; /* threads of a group that have some */
    for (u32 row = 0; row < 16; row++)
        for (u32 q = 0; q < chunks; q++) {
            const u32 thread = d->selector * holders + (wide ? q / 4 : q / 8 * 2 + row / 8);
            const u32 shift = wide ? row / 8 * 16 + q % 4 * 4 : q % 8 * 4;
            const u32 two = meta[(row % 8 * 4 + thread) % LANES] >> shift;
            const u32 first = two & 3, second = two >> 2 & 3;
            u8 *p = x->pick[row] + q * (size / 2);
            if (size == 2) p[0] = (u8)(q * 2 + first / 2);
            if (size == 4) {
                p[0] = (u8)(q * 4 + first);
                p[1] = (u8)(q * 4 + second);
            }
            if (size == 8)
                for (u32 j = 0; j < 4; j++)
                    p[j] = (u8)(q * 8 + (j < 2 ? first : second) * 2 + j % 2);
        }
}

/* C's blocks of 8 rows and 8 columns: by row pairs of blocks as the instruction has them. Calls with the
 * number of the block among registers and where it is in `c`. */
static inline f64 *block_at(struct work *x, const struct mma_desc *d, u32 block)
{
    const u32 tiles = d->n / TILE;
    if (d->m == 8) return x->c + block * 64;
    const u32 half = block % 2, tile = block / 2 % tiles, row = block / 2 / tiles * 16 + half * 8;
    return x->c + (tile * d->m + row) * TILE;
}

static void read_c(const struct emu_group *g, const struct mma_desc *d, u32 w, struct work *x)
{
    const u32 blocks = d->m * d->n / 64u;
    for (u32 block = 0; block < blocks; block++) {
        f64 *c = block_at(x, d, block);
        u32 masked[LANES], more[LANES], both[2 * LANES];
        u64 wide[LANES];
        if (d->c == PTX_f16) {
            elements(g, PTX_f16, d->c_rows[block], w, c);
        } else if (d->c == PTX_f64) {
            for (u32 h = 0; h < 2; h++) {
                const u64 *p = take64(g, d->c_rows[2 * block + h], w, wide);
                for (u32 l = 0; l < LANES; l++) c[2 * l + h] = fp_float64(p[l]);
            }
        } else {
            const u32 *p = take32(g, d->c_rows[2 * block], w, masked),
                      *q = take32(g, d->c_rows[2 * block + 1], w, more);
            LANE_LOOP for (int l = 0; l < LANES; l++) both[2 * l] = p[l], both[2 * l + 1] = q[l];
            if (d->c == PTX_f32) CONVERT(2 * LANES, c[i], (f64)fp_float32(both[i]))
            else CONVERT(2 * LANES, c[i], (f64)(i32)both[i])
        }
    }
}

static inline u32 to_s32(f64 x) /* |x| < 2^33 */
{
    return (u32)(u64)(i64)x;
}

static inline u32 to_s32_sat(f64 x)
{
    x = x > INT32_MAX ? INT32_MAX : x;
    return (u32)(i32)(x < INT32_MIN ? INT32_MIN : x);
}

/* Rounded to odd with the bits of f32; what is too small for that or too great stays so for f16. */
static inline f32 to_odd32(f64 x)
{
    const u64 low = 0x1fffffff, b = fp_bits64(x);
    return (f32)fp_float64((b | ((b & low) + low)) & ~low);
}

/* The nearest f16 to each, canonical if NaN. */
static inline void to_f16(const f64 *restrict c, int n, u16 *restrict h)
{
#if defined __F16C__
    f32 f[2 * LANES];
    CONVERT(n, f[i], to_odd32(c[i]))
    for (int i = 0; i < n; i += 8)
        _mm_storeu_si128((__m128i *)(void *)(h + i), _mm256_cvtps_ph(_mm256_loadu_ps(f + i), 0));
    CONVERT(n, h[i], (h[i] & 0x7fff) > 0x7c00 ? FP_NAN16 : h[i])
#else
    CONVERT(n, h[i], fp_f16_from_f32(to_odd32(c[i]), FP_RN))
#endif
}

static inline u32 to_f32(f64 x)
{
    u32 b = fp_bits32((f32)x);
    return (b & 0x7fffffffu) > 0x7f800000u ? FP_NAN32 : b;
}

/* .satfinite of the old wmma.mma: infinity becomes the greatest number, NaN +0. */
static inline u16 saturate_f16(u16 h)
{
    return fp_is_nan_f16(h) ? 0 : fp_satfinite_f16(h);
}

static inline u32 saturate_f32(u32 b)
{
    u32 m = b & 0x7fffffffu;
    return m > 0x7f800000u ? 0 : m == 0x7f800000u ? b - 1 : b;
}

/* The block of 64 sums -> registers: f16 one, two elements a lane; others two, an element a lane. */
static void results(unsigned type, bool saturate, const f64 *restrict c, u32 (*restrict v)[LANES])
{
    u32 all[2 * LANES];
    if (type == PTX_f16) {
        u16 half[2 * LANES];
        to_f16(c, 2 * LANES, half);
        if (saturate) CONVERT(2 * LANES, half[i], saturate_f16(half[i]))
        memcpy(v[0], half, sizeof half);
        return;
    }
    if (type == PTX_f32) {
        CONVERT(2 * LANES, all[i], to_f32(c[i]))
        if (saturate) CONVERT(2 * LANES, all[i], saturate_f32(all[i]))
    } else {
        if (saturate) CONVERT(2 * LANES, all[i], to_s32_sat(c[i]))
        else CONVERT(2 * LANES, all[i], to_s32(c[i]))
    }
    LANE_LOOP for (int l = 0; l < LANES; l++) v[0][l] = all[2 * l], v[1][l] = all[2 * l + 1];
}

static void write_d(struct emu_group *g, const struct mma_desc *d, u32 w, struct work *x)
{
    const u32 blocks = d->m * d->n / 64u;
    for (u32 i = 0; i < blocks; i++) {
        const f64 *c = block_at(x, d, i);
        u32 v[2][LANES];
        u64 wide[2][LANES];
        if (d->d == PTX_f64) {
            for (u32 l = 0; l < LANES; l++) {
                wide[0][l] = fp_bits64(c[2 * l]);
                wide[1][l] = fp_bits64(c[2 * l + 1]);
            }
            give64(g, d->d_rows[2 * i], w, wide[0]);
            give64(g, d->d_rows[2 * i + 1], w, wide[1]);
            continue;
        }
        results(d->d, d->saturate, c, v);
        if (d->d == PTX_f16) {
            give32(g, d->d_rows[i], w, v[0]);
        } else {
            give32(g, d->d_rows[2 * i], w, v[0]);
            give32(g, d->d_rows[2 * i + 1], w, v[1]);
        }
    }
}

/* ---- products ------------------------------------------------------------------------------------ */

/* x * y + z. Where the product is exact it does not matter whether that is one operation or two. */
#if defined __AVX512F__
enum { WIDE = 8, ROWS = 8 };
typedef __m512d vector;
#define FMA(x, y, z) _mm512_fmadd_pd(x, y, z)
#define SPLAT(x) _mm512_set1_pd(x)
#define MAX(x, y) _mm512_max_pd(x, y)
/* Without optimisation gcc's header is a macro that passes a mask with another sign. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline vector cut_all(vector x)
{
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}
#pragma GCC diagnostic pop
#define CUT(x) cut_all(x)
#elif defined __FMA__
enum { WIDE = 4, ROWS = 4 };
typedef __m256d vector;
#define FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#define SPLAT(x) _mm256_set1_pd(x)
#define MAX(x, y) _mm256_max_pd(x, y)
#define CUT(x) _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#else
enum { WIDE = 2, ROWS = 2 };
typedef f64 vector __attribute__((vector_size(16), may_alias));
#define FMA(x, y, z) ((x) * (y) + (z))
#define SPLAT(x) ((vector){x, x})
#define MAX(x, y) ((vector){(x)[0] > (y)[0] ? (x)[0] : (y)[0], (x)[1] > (y)[1] ? (x)[1] : (y)[1]})
#define CUT(x) ((vector){cut((x)[0]), cut((x)[1])})
#endif
enum { VECTORS = TILE / WIDE };

/* c[8] += a[k] * b[pick ? pick[k] : k][8] for each of m rows, in the order of k. A's blocks have n elements of a row. */
static inline void multiply(const f64 *a, u32 m, u32 k, u32 n, const f64 *b, f64 *c,
                            const u8 (*pick)[64])
{
    for (u32 row = 0; row < m; row += ROWS, c += ROWS * TILE) {
        const f64 *from = a + row / 8 * 8 * k + row % 8 * n;
        vector s[ROWS][VECTORS];
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++) s[r][v] = *(const vector *)(c + r * TILE + v * WIDE);
        for (u32 first = 0; first < k; first += n, from += 8 * n)
            for (u32 i = 0; i < n; i++)
                for (int r = 0; r < ROWS; r++) {
                    const u32 at = first + i;
                    const f64 *p = b + TILE * (pick ? pick[row + (u32)r][at] : at);
                    const vector y = SPLAT(from[(u32)r * n + i]);
                    for (int v = 0; v < VECTORS; v++)
                        s[r][v] = FMA(y, *(const vector *)(p + v * WIDE), s[r][v]);
                }
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < VECTORS; v++) *(vector *)(c + r * TILE + v * WIDE) = s[r][v];
    }
}

/* 2 to the exponent of x, that of the format's subnormal numbers if it is less than the least normal one; 0 for 0. */
static inline f64 power_of(f64 x, f64 least)
{
    f64 p = fp_float64(fp_bits64(x) & 0x7ff0000000000000u);
    p = p < least ? least : p;
    return x == 0 ? 0 : p;
}

static void powers(const struct mma_desc *d, const f64 *restrict x, u32 n, f64 *restrict out)
{
    const f64 least = d->a == PTX_f16 ? 0x1p-14 : 0x1p-126;
    CONVERT((int)n, out[i], power_of(x[i], least))
}

/* x without its fraction, |x| < 2^51 */
static inline f64 cut(f64 x)
{
#if defined __SSE4_1__
    return __builtin_trunc(x);
#else
    const f64 near = x + 0x1.8p52 - 0x1.8p52; /* the nearest, one too far from 0 if it is farther */
    const f64 far = __builtin_fabs(near) > __builtin_fabs(x) ? 1.0 : 0.0;
    return near - __builtin_copysign(far, x);
#endif
}

/* Cut to f32. */
static inline f64 cut32(f64 x)
{
    const f64 normal = fp_float64(fp_bits64(x) & ~(u64)0x1fffffff), tiny = x * 0x1p149;
    return __builtin_fabs(x) >= 0x1p-126 ? normal : cut(tiny) * 0x1p-149;
}

/* As multiply(), from the sums in `from`, each product and these cut to 25 bits below the greatest power of two in them. Where a
 * sum in c, which multiply() made, is no number, it stays. */
static inline void multiply_cut(const struct mma_desc *d, const f64 *a, const f64 *a_powers, u32 n,
                                const f64 *b, const f64 *from, f64 *c, const u8 (*pick)[64])
{
    const u32 m = d->m, k = kept(d);
    _Alignas(64) f64 b_powers[MAX_B];
    powers(d, b, d->k * (u32)TILE, b_powers);
    f64 most[ROWS * TILE], scale[ROWS * TILE], sums[ROWS * TILE];
    for (u32 row = 0; row < m; row += ROWS, from += ROWS * TILE, c += ROWS * TILE) {
        const u32 begin = row / 8 * 8 * k + row % 8 * n;
        vector s[ROWS][VECTORS], by[ROWS][VECTORS];
        CONVERT(ROWS * TILE, most[i], power_of(from[i], 0x1p-126))
        memcpy(s, most, sizeof s);
        for (u32 first = 0, at = begin; first < k; first += n, at += 8 * n)
            for (u32 i = 0; i < n; i++) UNROLL for (int r = 0; r < ROWS; r++)
                {
                    const f64 *p = b_powers +
                                   TILE * (pick ? pick[row + (u32)r][first + i] : first + i);
                    const vector y = SPLAT(a_powers[at + (u32)r * n + i]);
                    for (int v = 0; v < VECTORS; v++)
                        s[r][v] = MAX(y * *(const vector *)(p + v * WIDE), s[r][v]);
                }
        memcpy(most, s, sizeof s);
        CONVERT(ROWS * TILE, scale[i], most[i] == 0 ? 0 : 0x1p25 / most[i])
        CONVERT(ROWS * TILE, sums[i], cut(from[i] * scale[i]))
        memcpy(s, sums, sizeof s);
        memcpy(by, scale, sizeof by);
        for (u32 first = 0, at = begin; first < k; first += n, at += 8 * n)
            for (u32 i = 0; i < n; i++) UNROLL for (int r = 0; r < ROWS; r++)
                {
                    const f64 *p = b + TILE * (pick ? pick[row + (u32)r][first + i] : first + i);
                    const vector y = SPLAT(a[at + (u32)r * n + i]);
                    for (int v = 0; v < VECTORS; v++)
                        s[r][v] += CUT(y * *(const vector *)(p + v * WIDE) * by[r][v]);
                }
        memcpy(sums, s, sizeof s);
        CONVERT(ROWS * TILE, sums[i], cut32(sums[i] * (most[i] * 0x1p-25)) + 0.0) /* never -0 */
        CONVERT(ROWS * TILE, c[i], c[i] - c[i] == 0 ? sums[i] : c[i])
    }
}

/* How many elements a thread group's four lanes hold of a row of A in one register. */
static u32 block_width(unsigned type)
{
    return type == PTX_f64 ? 4 : type == PTX_tf32 ? 4 : 128 / ptx_types[type].bits;
}

static void note(struct emu_group *g, const struct emu_uop *in, u32 w);

/* Whether products are cut: of types that tensor cores of sm_90 have themselves, and as far as h200.bits has them. */
static bool is_cut(const struct mma_desc *d)
{
    return d->d == PTX_f32 && (d->a == PTX_f16 || d->a == PTX_bf16 || d->a == PTX_tf32);
}

/* The sums of d->n columns, in place of C. */
static void products(const struct mma_desc *d, struct work *x)
{
    const u32 k = kept(d), m = d->m, wide = block_width(d->a);
    const u8(*pick)[64] = (const u8(*)[64])x->pick;
    _Alignas(64) f64 a_powers[MAX_A], from[MAX_C];
    if (!is_cut(d)) {
        if (d->sparse) multiply(x->a, m, k, wide, x->b, x->c, pick);
        for (u32 t = 0; !d->sparse && t < d->n / (u32)TILE; t++)
            multiply(x->a, m, k, wide, x->b + t * k * TILE, x->c + t * m * TILE, NULL);
        return;
    }
    memcpy(from, x->c, (size_t)m * d->n * sizeof *from);
    powers(d, x->a, m * k, a_powers);
    if (d->sparse) {
        multiply(x->a, m, k, wide, x->b, x->c, pick);
        multiply_cut(d, x->a, a_powers, wide, x->b, from, x->c, pick);
    }
    for (u32 t = 0; !d->sparse && t < d->n / (u32)TILE; t++) {
        const f64 *b = x->b + t * k * TILE;
        multiply(x->a, m, k, wide, b, x->c + t * m * TILE, NULL);
        multiply_cut(d, x->a, a_powers, wide, b, from + t * m * TILE, x->c + t * m * TILE, NULL);
    }
}

OP(mma_mixed)
{
    const struct mma_desc *d = in->ext;
    struct work x;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        if (is_cut(d) && cut_products(g, d, w)) continue;
        read_a(g, d, w, &x);
        read_b(g, d, w, &x);
        read_c(g, d, w, &x);
        if (d->sparse) read_meta(g, d, w, &x);
        products(d, &x);
        write_d(g, d, w, &x);
    }
    return in + 1;
}

/* One element of an f64 product. `a`: the first element of the row, of which a block has four. */
static f64 chain(const f64 *a, const f64 *b, f64 c, u32 k, enum fp_rnd rnd)
{
    for (u32 i = 0; i < k; i++) c = fp_fma64(a[i / 4 * 32 + i % 4], b[i * TILE], c, rnd);
    return c;
}

OP(mma_f64)
{
    const struct mma_desc *d = in->ext;
    struct work x;
    const u32 k = d->k, m = d->m;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        read_a(g, d, w, &x);
        read_b(g, d, w, &x);
        read_c(g, d, w, &x);
        bool done = false;
#if defined __FMA__
        done = d->rnd == FP_RN;
        if (done) multiply(x.a, m, k, 4, x.b, x.c, NULL);
        for (u32 i = 0; done && i < m * TILE; i++) done = x.c[i] == x.c[i];
        if (!done) read_c(g, d, w, &x); /* which NaN it is: once more, one by one */
#endif
        if (!done)
            for (u32 i = 0; i < m * TILE; i++)
                x.c[i] = chain(x.a + i / 64 * 8 * k + i / TILE % 8 * 4, x.b + i % TILE, x.c[i], k,
                               (enum fp_rnd)d->rnd);
        write_d(g, d, w, &x);
    }
    return in + 1;
}

static inline u32 popc(u32 a)
{
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    return ((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

#define COUNT(BITS)                                                                                \
    for (u32 row = 0; row < m; row++)                                                              \
        for (u32 i = 0; i < words; i++)                                                            \
            LANE_LOOP for (int n = 0; n < TILE; n++) s[row][n] += popc(BITS);

/* 32 elements a word: register r has the words of 4 threads of k, rows or columns g. */
OP(mma_b1)
{
    const struct mma_desc *d = in->ext;
    const u32 words = d->k / 32u, m = d->m;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        u32 a[16][8], b[8][TILE], s[16][TILE] = {{0}}, masked[LANES], v[4][LANES];
        for (u32 r = 0; r < m * words / LANES; r++) {
            const u32 *p = take32(g, d->a_rows[r], w, masked);
            const u32 half = m == 8 ? 0 : r % 2 * 8, at = (m == 8 ? r : r / 2) * 4;
            for (u32 l = 0; l < LANES; l++) a[half + l / 4][at + l % 4] = p[l];
        }
        for (u32 r = 0; r < words / 4; r++) {
            const u32 *p = take32(g, d->b_rows[r], w, masked);
            for (u32 l = 0; l < LANES; l++) b[r * 4 + l % 4][l / 4] = p[l];
        }
        if (d->conjunction) COUNT(a[row][i] & b[i][n])
        else COUNT(a[row][i] ^ b[i][n])
        for (u32 i = 0; i < m / 4; i++) {
            const u32 *p = take32(g, d->c_rows[i], w, masked);
            for (u32 l = 0; l < LANES; l++)
                v[i][l] = p[l] + s[i / 2 * 8 + l / 4][l % 4 * 2 + i % 2];
        }
        for (u32 i = 0; i < m / 4; i++) give32(g, d->d_rows[i], w, v[i]);
    }
    return in + 1;
}

/* m8n8k4.f16: four products, each of four lanes from 4q and four from 4q + 16 (9.7.14.5.1). */
OP(mma_quads)
{
    const struct mma_desc *d = in->ext;
    for (u32 w = 0; w < g->warps; w++) {
        if (!g->exec[w]) continue;
        note(g, in, w);
        _Alignas(64) f64 a[4][32], b[4][32], c[4][64];
        f64 e[MOST];
        u32 masked[LANES], v[8][LANES];
        for (u32 r = 0; r < 2; r++) {
            elements(g, PTX_f16, d->a_rows[r], w, e);
            for (u32 i = 0; i < 2 * LANES; i++) {
                u32 l = i / 2, q = l % 16 / 4, high = l / 16 * 4, at = r * 2 + i % 2;
                if (d->a_col) a[q][(high + at) * 4 + l % 4] = e[i];
                else a[q][(high + l % 4) * 4 + at] = e[i];
            }
            elements(g, PTX_f16, d->b_rows[r], w, e);
            for (u32 i = 0; i < 2 * LANES; i++) {
                u32 l = i / 2, q = l % 16 / 4, high = l / 16 * 4, at = r * 2 + i % 2;
                if (d->b_col) b[q][at * TILE + high + l % 4] = e[i];
                else b[q][l % 4 * TILE + high + at] = e[i];
            }
        }
#define F32_ROW(l, i) (((l)&1) + ((i)&2) + (l) / 16 * 4)
#define F32_COL(l, i) (((i)&4) + ((l)&2) + ((i)&1))
        if (d->c == PTX_f16)
            for (u32 r = 0; r < 4; r++) {
                elements(g, PTX_f16, d->c_rows[r], w, e);
                for (u32 i = 0; i < 2 * LANES; i++) {
                    u32 l = i / 2;
                    c[l % 16 / 4][(l / 16 * 4 + l % 4) * TILE + r * 2 + i % 2] = e[i];
                }
            }
        else
            for (u32 i = 0; i < 8; i++) {
                const u32 *p = take32(g, d->c_rows[i], w, masked);
                for (u32 l = 0; l < LANES; l++)
                    c[l % 16 / 4][F32_ROW(l, i) * TILE + F32_COL(l, i)] = (f64)fp_float32(p[l]);
            }
        for (u32 q = 0; q < 4; q++) {
            u32 s[2][LANES];
            multiply(a[q], 8, 4, 4, b[q], c[q], NULL);
            results(d->d, false, c[q], s); /* of a row: columns 0 2 4 6 and 1 3 5 7; f16: all */
            for (u32 half = 0; half < 8; half += 4)
                for (u32 t = 0; t < 4; t++) {
                    const u32 l = half * 4 + q * 4 + t;
                    for (u32 i = 0; i < 4 && d->d == PTX_f16; i++)
                        v[i][l] = s[0][(half + t) * 4 + i];
                    for (u32 i = 0; i < 8 && d->d != PTX_f16; i++)
                        v[i][l] = s[i % 2][F32_ROW(l, i) * 4 + F32_COL(l, i) / 2];
                }
        }
        for (u32 r = 0; r < (d->d == PTX_f16 ? 4 : 8); r++) give32(g, d->d_rows[r], w, v[r]);
    }
    return in + 1;
}

/* For the check of synchronisation: every lane of the warp is wanted. */
static void note(struct emu_group *g, const struct emu_uop *in, u32 w)
{
    if (g->alive[w] & ~g->exec[w]) emu_note_sync(g, in, w, ~0u);
}
