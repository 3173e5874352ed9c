/* emu/ops/fp.h: the arithmetic of PTX on floating point values.
 *
 *     float d = fp_sat32(fp_ftz32(fp_fma32(fp_ftz32(a), fp_ftz32(b), fp_ftz32(c), FP_RZ)));
 *                                                        // fma.rz.ftz.sat.f32 d, a, b, c;
 *     uint16_t h = fp_f16_from_f32(x, FP_RN);            // cvt.rn.f16.f32 h, x;
 *
 * Everything is a pure function of its arguments: no rounding mode of the host, no errno, no libm
 * result that IEEE 754 does not define; the bits are the same on every host, compiler and level of
 * optimisation (-ffp-contract=off, no -ffast-math). Approximations: emu/ops/approx.h.
 *
 * Functions that matter in loops over lanes are inline and have no branches once the rounding is a
 * constant. clang turns every such loop into vectors; gcc does with -fno-trapping-math (or it will not
 * compute what a select may discard) and -fno-math-errno (for sqrt), which change no bit.
 *
 * Modifiers are functions around an operation, in the order of the example: .ftz on each input,
 * the operation, .ftz on its result (after rounding), .sat or .relu.
 *
 * NaN. Sections 9.7.3 and 9.7.4 of the PTX ISA: single and half precision give an unspecified NaN,
 * here always the canonical one of .relu and .NaN (0x7fffffff, f16 and bf16 0x7fff), which is what
 * the hardware gives. "NaN payloads are supported for double-precision instructions": an f64 result
 * is the first operand that is a NaN, made quiet; where no operand is one it is FP_NAN64, CUDA's
 * CUDART_NAN (math_constants.h), whatever the host would have produced. */
#ifndef HEDDLE_EMU_OPS_FP_H
#define HEDDLE_EMU_OPS_FP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* How to round; for a conversion to an integer or an integral value, .rni .rzi .rmi .rpi. */
enum fp_rnd {
    FP_RN,  /* to nearest, ties to even */
    FP_RZ,  /* towards zero */
    FP_RM,  /* towards minus infinity */
    FP_RP,  /* towards plus infinity */
    FP_RNA, /* to nearest, ties away from zero: only fp_tf32_from_f32 takes it */
};

enum { FP_NAN16 = 0x7fff }; /* f16 and bf16 */
#define FP_NAN32 0x7fffffffu
#define FP_NAN64 0xfff8000000000000u

/* ---- bits -------------------------------------------------------------------------------------- */

static inline uint32_t fp_bits32(float x)
{
    uint32_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline float fp_float32(uint32_t b)
{
    float x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline uint64_t fp_bits64(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double fp_float64(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

static inline bool fp_is_nan32(float x)
{
    return x != x;
}

static inline bool fp_is_nan64(double x)
{
    return x != x;
}

static inline bool fp_is_nan_f16(uint16_t h)
{
    return (h & 0x7fff) > 0x7c00;
}

static inline bool fp_is_nan_bf16(uint16_t h)
{
    return (h & 0x7fff) > 0x7f80;
}

/* ---- modifiers --------------------------------------------------------------------------------- */

/* Any NaN becomes the canonical one. */
static inline float fp_canon32(float x)
{
    return fp_float32(x != x ? FP_NAN32 : fp_bits32(x));
}

static inline uint64_t fp_quiet64(double x)
{
    return fp_bits64(x) | 0x0008000000000000u;
}

/* The f64 result r of an operation on a, b, c with the NaN that PTX gives, if it is one. */
static inline double fp_nan64_1(double r, double a)
{
    uint64_t n = a != a ? fp_quiet64(a) : FP_NAN64;
    return fp_float64(r != r ? n : fp_bits64(r));
}

static inline double fp_nan64_2(double r, double a, double b)
{
    uint64_t n = b != b ? fp_quiet64(b) : FP_NAN64;
    n = a != a ? fp_quiet64(a) : n;
    return fp_float64(r != r ? n : fp_bits64(r));
}

static inline double fp_nan64_3(double r, double a, double b, double c)
{
    uint64_t n = c != c ? fp_quiet64(c) : FP_NAN64;
    n = b != b ? fp_quiet64(b) : n;
    n = a != a ? fp_quiet64(a) : n;
    return fp_float64(r != r ? n : fp_bits64(r));
}

/* .ftz: a subnormal becomes a zero of its sign. */
static inline float fp_ftz32(float x)
{
    uint32_t b = fp_bits32(x);
    return fp_float32((b & 0x7f800000u) == 0 ? b & 0x80000000u : b);
}

static inline uint16_t fp_ftz_f16(uint16_t h)
{
    return (uint16_t)((h & 0x7c00) == 0 ? h & 0x8000 : h);
}

static inline uint16_t fp_ftz_bf16(uint16_t h)
{
    return (uint16_t)((h & 0x7f80) == 0 ? h & 0x8000 : h);
}

/* .sat: into [+0.0, 1.0], a NaN becomes +0.0. */
static inline float fp_sat32(float x)
{
    float y = x < 1.0f ? x : 1.0f;
    return x > 0.0f ? y : 0.0f;
}

static inline double fp_sat64(double x)
{
    double y = x < 1.0 ? x : 1.0;
    return x > 0.0 ? y : 0.0;
}

static inline uint16_t fp_sat_f16(uint16_t h) /* positive values order like their bits */
{
    uint16_t y = h < 0x3c00 ? h : 0x3c00;
    return h <= 0x7c00 ? y : 0;
}

static inline uint16_t fp_sat_bf16(uint16_t h)
{
    uint16_t y = h < 0x3f80 ? h : 0x3f80;
    return h <= 0x7f80 ? y : 0;
}

/* .relu: what is negative (-0.0 too) becomes +0.0, a NaN the canonical NaN. */
static inline float fp_relu32(float x)
{
    uint32_t b = fp_bits32(x);
    return fp_float32(x != x ? FP_NAN32 : b >> 31 ? 0 : b);
}

static inline uint16_t fp_relu_f16(uint16_t h)
{
    uint16_t y = h & 0x8000 ? 0 : h;
    return fp_is_nan_f16(h) ? FP_NAN16 : y;
}

static inline uint16_t fp_relu_bf16(uint16_t h)
{
    uint16_t y = h & 0x8000 ? 0 : h;
    return fp_is_nan_bf16(h) ? FP_NAN16 : y;
}

/* ---- rounding to f32 --------------------------------------------------------------------------- */

/* Returns a value rounded to odd: s is the double nearest to that value, and the sign of err says on which side of s
 * the value lies. Rounding the result to 50 bits or less, in any direction, gives the same as rounding the value
 * itself. */
static inline double fp_odd64(double s, double err)
{
    uint64_t b = fp_bits64(s);
    uint64_t away = (err < 0) == (s < 0) ? 1 : UINT64_MAX;
    uint64_t step = err < 0 || err > 0 ? away : 0; /* a NaN is no error: s is infinite or NaN */
    return fp_float64(b + ((b & 1) == 0 ? step : 0));
}

/* a + b rounded to odd. */
static inline double fp_add_odd64(double a, double b)
{
    double s = a + b, t = s - a;
    return fp_odd64(s, (a - (s - t)) + (b - t));
}

/* x rounded to odd as f32, the first step of a conversion through f32 to a smaller format. */
static inline float fp_odd32(double x)
{
    float f = (float)x;
    uint32_t b = fp_bits32(f);
    double back = f, mag = back < 0 ? -back : back, want = x < 0 ? -x : x;
    uint32_t cut = mag > want ? b - 1 : b; /* towards zero; infinity becomes the greatest number */
    return fp_float32(back < x || back > x ? cut | 1 : b);
}

/* cvt.rnd.f32.f64, except for NaN. */
static inline float fp_round32(double x, enum fp_rnd rnd)
{
    float f = (float)x;
    if (rnd == FP_RN) return f;
    uint32_t b = fp_bits32(f), neg = b >> 31;
    double back = f;
    uint32_t low = back < x;  /* what nearest gave lies below x */
    uint32_t high = back > x; /* or above */
    uint32_t inward = rnd == FP_RZ   ? (neg ? low : high)
                      : rnd == FP_RM ? high & (neg ^ 1)
                                     : low & neg;
    uint32_t outward = rnd == FP_RZ ? 0 : rnd == FP_RM ? high & neg : low & (neg ^ 1);
    return fp_float32(b + outward - inward);
}

static inline float fp_f32_from_f64(double x, enum fp_rnd rnd)
{
    return fp_canon32(fp_round32(x, rnd));
}

/* cvt.f64.f32: a NaN keeps its sign and payload, and becomes quiet. */
static inline double fp_f64_from_f32(float x)
{
    uint64_t b = fp_bits32(x);
    uint64_t n = (b & 0x80000000u) << 32 | 0x7ff8000000000000u | (b & 0x7fffffu) << 29;
    return fp_float64(x != x ? n : fp_bits64((double)x));
}

/* ---- f32 arithmetic: add, sub, mul, fma, div, rcp, sqrt ---------------------------------------- */

/* The sum of a and b of which s is the value without a sign: x + -x is -0 under .rm. */
static inline float fp_zero_sum32(float r, double s, uint32_t signs, enum fp_rnd rnd)
{
    return rnd == FP_RM && s == 0 ? fp_float32(signs & 0x80000000u) : r;
}

static inline float fp_add32(float a, float b, enum fp_rnd rnd)
{
    if (rnd == FP_RN) return fp_canon32(a + b);
    double s = fp_add_odd64(a, b);
    return fp_canon32(fp_zero_sum32(fp_round32(s, rnd), s, fp_bits32(a) | fp_bits32(b), rnd));
}

static inline float fp_sub32(float a, float b, enum fp_rnd rnd)
{
    if (rnd == FP_RN) return fp_canon32(a - b);
    return fp_add32(a, -b, rnd);
}

static inline float fp_mul32(float a, float b, enum fp_rnd rnd)
{
    if (rnd == FP_RN) return fp_canon32(a * b);
    return fp_canon32(fp_round32((double)a * (double)b, rnd)); /* exact in double */
}

static inline float fp_fma32(float a, float b, float c, enum fp_rnd rnd)
{
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if (rnd == FP_RN) return fp_canon32(__builtin_fmaf(a, b, c));
#endif
    double p = (double)a * (double)b, s = fp_add_odd64(p, c);
    uint32_t signs = (uint32_t)(fp_bits64(p) >> 32) | fp_bits32(c);
    return fp_canon32(fp_zero_sum32(fp_round32(s, rnd), s, signs, rnd));
}

static inline float fp_div32(float a, float b, enum fp_rnd rnd)
{
    if (rnd == FP_RN) return fp_canon32(a / b);
    double q = (double)a / (double)b, r = __builtin_fma(-q, b, a);
    return fp_canon32(fp_round32(fp_odd64(q, b < 0 ? -r : r), rnd));
}

static inline float fp_rcp32(float a, enum fp_rnd rnd)
{
    return fp_div32(1.0f, a, rnd);
}

static inline float fp_sqrt32(float a, enum fp_rnd rnd)
{
    if (rnd == FP_RN) return fp_canon32(__builtin_sqrtf(a));
    double s = __builtin_sqrt((double)a);
    return fp_canon32(fp_round32(fp_odd64(s, __builtin_fma(-s, s, a)), rnd));
}

/* ---- f64 arithmetic ---------------------------------------------------------------------------- */

double fp_add64_directed(double a, double b, enum fp_rnd rnd); /* these give any NaN, */
double fp_mul64_directed(double a, double b, enum fp_rnd rnd); /* and take FP_RN too   */
double fp_fma64_directed(double a, double b, double c, enum fp_rnd rnd);
double fp_div64_directed(double a, double b, enum fp_rnd rnd);
double fp_sqrt64_directed(double a, enum fp_rnd rnd);

static inline double fp_add64(double a, double b, enum fp_rnd rnd)
{
    return fp_nan64_2(rnd == FP_RN ? a + b : fp_add64_directed(a, b, rnd), a, b);
}

static inline double fp_sub64(double a, double b, enum fp_rnd rnd)
{
    return fp_nan64_2(rnd == FP_RN ? a - b : fp_add64_directed(a, -b, rnd), a, b);
}

static inline double fp_mul64(double a, double b, enum fp_rnd rnd)
{
    return fp_nan64_2(rnd == FP_RN ? a * b : fp_mul64_directed(a, b, rnd), a, b);
}

static inline double fp_fma64(double a, double b, double c, enum fp_rnd rnd)
{
    double r = rnd == FP_RN ? __builtin_fma(a, b, c) : fp_fma64_directed(a, b, c, rnd);
    return fp_nan64_3(r, a, b, c);
}

static inline double fp_div64(double a, double b, enum fp_rnd rnd)
{
    return fp_nan64_2(rnd == FP_RN ? a / b : fp_div64_directed(a, b, rnd), a, b);
}

static inline double fp_rcp64(double a, enum fp_rnd rnd)
{
    return fp_div64(1.0, a, rnd);
}

static inline double fp_sqrt64(double a, enum fp_rnd rnd)
{
    return fp_nan64_1(rnd == FP_RN ? __builtin_sqrt(a) : fp_sqrt64_directed(a, rnd), a);
}

/* ---- abs, neg, copysign, testp ----------------------------------------------------------------- */

static inline float fp_abs32(float x)
{
    return fp_canon32(fp_float32(fp_bits32(x) & 0x7fffffffu));
}

static inline float fp_neg32(float x)
{
    return fp_canon32(fp_float32(fp_bits32(x) ^ 0x80000000u));
}

static inline double fp_abs64(double x) /* "For abs.f64, NaN input is passed through unchanged" */
{
    uint64_t b = fp_bits64(x);
    return fp_float64(x != x ? b : b & INT64_MAX);
}

static inline double fp_neg64(double x) /* of a NaN, only the sign changes */
{
    return fp_float64(fp_bits64(x) ^ 0x8000000000000000u);
}

static inline uint16_t fp_abs_f16(uint16_t h)
{
    return fp_is_nan_f16(h) ? FP_NAN16 : h & 0x7fff;
}

static inline uint16_t fp_neg_f16(uint16_t h)
{
    return fp_is_nan_f16(h) ? FP_NAN16 : h ^ 0x8000;
}

static inline uint16_t fp_abs_bf16(uint16_t h)
{
    return fp_is_nan_bf16(h) ? FP_NAN16 : h & 0x7fff;
}

static inline uint16_t fp_neg_bf16(uint16_t h)
{
    return fp_is_nan_bf16(h) ? FP_NAN16 : h ^ 0x8000;
}

/* copysign d, a, b: b with the sign of a. */
static inline float fp_copysign32(float a, float b)
{
    return fp_float32((fp_bits32(a) & 0x80000000u) | (fp_bits32(b) & 0x7fffffffu));
}

static inline double fp_copysign64(double a, double b)
{
    return fp_float64((fp_bits64(a) & ~(uint64_t)INT64_MAX) | (fp_bits64(b) & INT64_MAX));
}

enum fp_testp {
    FP_IS_FINITE,
    FP_IS_INFINITE,
    FP_IS_NUMBER,
    FP_IS_NOTANUMBER,
    FP_IS_NORMAL, /* zeros are normal */
    FP_IS_SUBNORMAL,
};

static inline bool fp_testp32(float x, enum fp_testp what)
{
    uint32_t m = fp_bits32(x) & 0x7fffffffu;
    bool subnormal = m - 1 < 0x7fffffu;
    switch (what) {
    case FP_IS_FINITE: return m < 0x7f800000u;
    case FP_IS_INFINITE: return m == 0x7f800000u;
    case FP_IS_NUMBER: return m <= 0x7f800000u;
    case FP_IS_NOTANUMBER: return m > 0x7f800000u;
    case FP_IS_NORMAL: return m < 0x7f800000u && !subnormal;
    case FP_IS_SUBNORMAL: return subnormal;
    }
    return false;
}

static inline bool fp_testp64(double x, enum fp_testp what)
{
    uint64_t m = fp_bits64(x) & INT64_MAX, inf = 0x7ff0000000000000u;
    bool subnormal = m - 1 < 0xfffffffffffffu;
    switch (what) {
    case FP_IS_FINITE: return m < inf;
    case FP_IS_INFINITE: return m == inf;
    case FP_IS_NUMBER: return m <= inf;
    case FP_IS_NOTANUMBER: return m > inf;
    case FP_IS_NORMAL: return m < inf && !subnormal;
    case FP_IS_SUBNORMAL: return subnormal;
    }
    return false;
}

/* ---- min, max ---------------------------------------------------------------------------------- */

/* If one operand is a NaN, the result is the other one; -0.0 < +0.0. The variants: _nan (.NaN: a NaN wins), _xorsign
 * (.xorsign.abs: of the magnitudes, with the exclusive or of the signs unless the result is NaN). */
static inline float fp_min32(float a, float b)
{
    uint32_t x = fp_bits32(a), y = fp_bits32(b);
    uint32_t r = a < b ? x : y;
    r = a == b ? x | y : r; /* equal, so the same bits, or zeros */
    r = a != a ? y : r;
    r = b != b ? x : r;
    return fp_canon32(fp_float32(r));
}

static inline float fp_max32(float a, float b)
{
    uint32_t x = fp_bits32(a), y = fp_bits32(b);
    uint32_t r = a > b ? x : y;
    r = a == b ? x & y : r;
    r = a != a ? y : r;
    r = b != b ? x : r;
    return fp_canon32(fp_float32(r));
}

static inline float fp_min_nan32(float a, float b)
{
    return fp_float32(a != a || b != b ? FP_NAN32 : fp_bits32(fp_min32(a, b)));
}

static inline float fp_max_nan32(float a, float b)
{
    return fp_float32(a != a || b != b ? FP_NAN32 : fp_bits32(fp_max32(a, b)));
}

static inline float fp_xorsign32(float r, float a, float b) /* r: the minimum of magnitudes */
{
    uint32_t sign = (fp_bits32(a) ^ fp_bits32(b)) & 0x80000000u;
    return fp_float32(r != r ? FP_NAN32 : fp_bits32(r) | sign);
}

static inline float fp_min_xorsign32(float a, float b)
{
    return fp_xorsign32(fp_min32(fp_abs32(a), fp_abs32(b)), a, b);
}

static inline float fp_max_xorsign32(float a, float b)
{
    return fp_xorsign32(fp_max32(fp_abs32(a), fp_abs32(b)), a, b);
}

static inline float fp_min_nan_xorsign32(float a, float b)
{
    return fp_xorsign32(fp_min_nan32(fp_abs32(a), fp_abs32(b)), a, b);
}

static inline float fp_max_nan_xorsign32(float a, float b)
{
    return fp_xorsign32(fp_max_nan32(fp_abs32(a), fp_abs32(b)), a, b);
}

static inline double fp_min64(double a, double b)
{
    uint64_t x = fp_bits64(a), y = fp_bits64(b);
    uint64_t r = a < b ? x : y;
    r = a == b ? x | y : r;
    r = a != a ? y : r;
    r = b != b ? x : r;
    return fp_nan64_2(fp_float64(r), a, b);
}

static inline double fp_max64(double a, double b)
{
    uint64_t x = fp_bits64(a), y = fp_bits64(b);
    uint64_t r = a > b ? x : y;
    r = a == b ? x & y : r;
    r = a != a ? y : r;
    r = b != b ? x : r;
    return fp_nan64_2(fp_float64(r), a, b);
}

/* f16 and bf16 differ in their `inf`, above which NaNs begin. The bits of numbers, inverted for negative numbers, have
 * the order of the numbers, with -0 before +0. */
static inline uint16_t fp_least16(uint16_t a, uint16_t b, bool greatest, bool nan, uint16_t inf)
{
    bool na = (a & 0x7fff) > inf, nb = (b & 0x7fff) > inf;
    uint16_t x = a & 0x8000 ? (uint16_t)~a : a | 0x8000, y = b & 0x8000 ? (uint16_t)~b : b | 0x8000;
    uint16_t r = (x < y) != greatest ? a : b;
    r = na ? b : r;
    r = nb ? a : r;
    return (na && nb) || (nan && (na || nb)) ? FP_NAN16 : r;
}

static inline uint16_t fp_least_xor16(uint16_t a, uint16_t b, bool greatest, bool nan, uint16_t inf)
{
    uint16_t r = fp_least16(a & 0x7fff, b & 0x7fff, greatest, nan, inf);
    return r > inf ? FP_NAN16 : r | ((a ^ b) & 0x8000);
}

#define FP_LEAST16(type, inf)                                                                      \
    static inline uint16_t fp_min_##type(uint16_t a, uint16_t b)                                   \
    {                                                                                              \
        return fp_least16(a, b, false, false, inf);                                                \
    }                                                                                              \
    static inline uint16_t fp_max_##type(uint16_t a, uint16_t b)                                   \
    {                                                                                              \
        return fp_least16(a, b, true, false, inf);                                                 \
    }                                                                                              \
    static inline uint16_t fp_min_nan_##type(uint16_t a, uint16_t b)                               \
    {                                                                                              \
        return fp_least16(a, b, false, true, inf);                                                 \
    }                                                                                              \
    static inline uint16_t fp_max_nan_##type(uint16_t a, uint16_t b)                               \
    {                                                                                              \
        return fp_least16(a, b, true, true, inf);                                                  \
    }                                                                                              \
    static inline uint16_t fp_min_xorsign_##type(uint16_t a, uint16_t b)                           \
    {                                                                                              \
        return fp_least_xor16(a, b, false, false, inf);                                            \
    }                                                                                              \
    static inline uint16_t fp_max_xorsign_##type(uint16_t a, uint16_t b)                           \
    {                                                                                              \
        return fp_least_xor16(a, b, true, false, inf);                                             \
    }                                                                                              \
    static inline uint16_t fp_min_nan_xorsign_##type(uint16_t a, uint16_t b)                       \
    {                                                                                              \
        return fp_least_xor16(a, b, false, true, inf);                                             \
    }                                                                                              \
    static inline uint16_t fp_max_nan_xorsign_##type(uint16_t a, uint16_t b)                       \
    {                                                                                              \
        return fp_least_xor16(a, b, true, true, inf);                                              \
    }
FP_LEAST16(f16, 0x7c00)
FP_LEAST16(bf16, 0x7f80)
#undef FP_LEAST16

/* ---- f16, bf16, tf32 --------------------------------------------------------------------------- */

static inline float fp_f32_from_f16(uint16_t h)
{
    uint32_t m = h & 0x7fffu, s = (h & 0x8000u) << 16;
    uint32_t normal = (m << 13) + (112u << 23);
    /* subnormal: put the bits behind the leading one of 2^-14, take that one away */
    uint32_t small = fp_bits32(fp_float32((m << 13) + (113u << 23)) - 0x1p-14f);
    uint32_t r = s | (m < 0x0400 ? small : normal);
    r = m == 0x7c00 ? s | 0x7f800000u : r;
    return fp_float32(m > 0x7c00 ? FP_NAN32 : r);
}

static inline float fp_f32_from_bf16(uint16_t h)
{
    return fp_canon32(fp_float32((uint32_t)h << 16));
}

/* A conversion rounds to nearest and then, if that was in the wrong direction, goes one step back. */
static inline uint16_t fp_step16(uint16_t h, float back, float x, enum fp_rnd rnd)
{
    uint32_t neg = h >> 15, low = back < x;
    uint32_t high = back > x;
    uint32_t inward = rnd == FP_RZ   ? (neg ? low : high)
                      : rnd == FP_RM ? high & (neg ^ 1)
                                     : low & neg;
    uint32_t outward = rnd == FP_RZ ? 0 : rnd == FP_RM ? high & neg : low & (neg ^ 1);
    return (uint16_t)(h + outward - inward);
}

static inline uint16_t fp_f16_from_f32(float x, enum fp_rnd rnd)
{
    uint32_t b = fp_bits32(x), s = b >> 16 & 0x8000u, m = b & 0x7fffffffu;
    uint32_t normal = (m - (112u << 23) + 0xfffu + (m >> 13 & 1)) >> 13;
    uint32_t small = fp_bits32(fp_float32(m) + 0.5f) - fp_bits32(0.5f); /* the sum rounds */
    uint32_t r = m < (113u << 23) ? small : normal;
    r = m >= 0x47800000u ? 0x7c00u : r;
    uint16_t h = (uint16_t)(m > 0x7f800000u ? FP_NAN16 : s | r);
    return rnd == FP_RN ? h : fp_step16(h, fp_f32_from_f16(h), x, rnd);
}

static inline uint16_t fp_bf16_from_f32(float x, enum fp_rnd rnd)
{
    uint32_t b = fp_bits32(x), m = b & 0x7fffffffu;
    uint32_t r = (b + 0x7fffu + (b >> 16 & 1)) >> 16;
    uint16_t h = (uint16_t)(m > 0x7f800000u ? FP_NAN16 : r);
    return rnd == FP_RN ? h : fp_step16(h, fp_float32((uint32_t)h << 16), x, rnd);
}

static inline uint16_t fp_f16_from_f64(double x, enum fp_rnd rnd)
{
    return fp_f16_from_f32(fp_odd32(x), rnd);
}

static inline uint16_t fp_bf16_from_f64(double x, enum fp_rnd rnd)
{
    return fp_bf16_from_f32(fp_odd32(x), rnd);
}

/* cvt.f64.f16 and .bf16. Their NaN is 0x7fff, so f64's is what fp_f64_from_f32 makes of 0x7fffffff. */
static inline double fp_f64_from_f16(uint16_t h)
{
    return fp_f64_from_f32(fp_f32_from_f16(h));
}

static inline double fp_f64_from_bf16(uint16_t h)
{
    return fp_f64_from_f32(fp_f32_from_bf16(h));
}

/* .satfinite: infinity becomes the largest number. Applying it to the source or after rounding gives the same
 * result. */
static inline uint16_t fp_satfinite_f16(uint16_t h)
{
    return (uint16_t)((h & 0x7fff) == 0x7c00 ? h - 1 : h);
}

static inline uint16_t fp_satfinite_bf16(uint16_t h)
{
    return (uint16_t)((h & 0x7fff) == 0x7f80 ? h - 1 : h);
}

/* cvt.rnd.tf32.f32: eight bits of exponent, ten of fraction, thirteen zeros. FP_RN, FP_RZ, FP_RNA. */
static inline uint32_t fp_tf32_from_f32(float x, enum fp_rnd rnd)
{
    uint32_t b = fp_bits32(x), m = b & 0x7fffffffu;
    uint32_t up = rnd == FP_RN ? 0xfffu + (b >> 13 & 1) : rnd == FP_RNA ? 0x1000u : 0;
    return m > 0x7f800000u ? FP_NAN32 : (b + up) & 0xffffe000u;
}

static inline uint32_t fp_satfinite_tf32(uint32_t b)
{
    return (b & 0x7fffffffu) == 0x7f800000u ? b - 0x2000u : b;
}

/* Arithmetic, each result rounded once. .ftz, .sat and .relu are functions above. */
static inline uint16_t fp_add_f16(uint16_t a, uint16_t b) /* 24 bits >= 2 * 11 + 2: f32 will do */
{
    return fp_f16_from_f32(fp_f32_from_f16(a) + fp_f32_from_f16(b), FP_RN);
}

static inline uint16_t fp_sub_f16(uint16_t a, uint16_t b)
{
    return fp_f16_from_f32(fp_f32_from_f16(a) - fp_f32_from_f16(b), FP_RN);
}

static inline uint16_t fp_mul_f16(uint16_t a, uint16_t b)
{
    return fp_f16_from_f32(fp_f32_from_f16(a) * fp_f32_from_f16(b), FP_RN);
}

static inline uint16_t fp_fma_f16(uint16_t a, uint16_t b, uint16_t c)
{
    double p = (double)fp_f32_from_f16(a) * (double)fp_f32_from_f16(b);
    return fp_f16_from_f64(fp_add_odd64(p, fp_f32_from_f16(c)), FP_RN);
}

static inline uint16_t fp_add_bf16(uint16_t a, uint16_t b)
{
    return fp_bf16_from_f32(fp_f32_from_bf16(a) + fp_f32_from_bf16(b), FP_RN);
}

static inline uint16_t fp_sub_bf16(uint16_t a, uint16_t b)
{
    return fp_bf16_from_f32(fp_f32_from_bf16(a) - fp_f32_from_bf16(b), FP_RN);
}

/* The product is exact in f32 where it can round to anything but zero. */
static inline uint16_t fp_mul_bf16(uint16_t a, uint16_t b)
{
    return fp_bf16_from_f32(fp_f32_from_bf16(a) * fp_f32_from_bf16(b), FP_RN);
}

static inline uint16_t fp_fma_bf16(uint16_t a, uint16_t b, uint16_t c, enum fp_rnd rnd)
{
    double p = (double)fp_f32_from_bf16(a) * (double)fp_f32_from_bf16(b);
    float z = fp_f32_from_bf16(c);
    double s = fp_add_odd64(p, z);
    uint16_t zero = (uint16_t)((fp_bits64(p) >> 48 | c) & 0x8000u);
    return rnd == FP_RM && s == 0 ? zero : fp_bf16_from_f64(s, rnd);
}

/* fma.oob (9.7.4.4): +0.0 if a or b is the NaN, of either sign, that tensor copies write for elements out of bounds.
 * The ISA does not define its bits; hardware writes 0x7ff7. c is ignored. */
static inline bool fp_oob16(uint16_t a, uint16_t b)
{
    return (a & 0x7fff) == 0x7ff7 || (b & 0x7fff) == 0x7ff7;
}

/* ---- comparison -------------------------------------------------------------------------------- */

/* The ordered comparisons are false on NaN, the unordered (..U) true. f16 and bf16 compare as f32. */
enum fp_cmp {
    FP_CMP_EQ,
    FP_CMP_NE,
    FP_CMP_LT,
    FP_CMP_LE,
    FP_CMP_GT,
    FP_CMP_GE,
    FP_CMP_EQU,
    FP_CMP_NEU,
    FP_CMP_LTU,
    FP_CMP_LEU,
    FP_CMP_GTU,
    FP_CMP_GEU,
    FP_CMP_NUM,
    FP_CMP_NAN,
};

static inline bool fp_cmp64(double a, double b, enum fp_cmp cmp)
{
    switch (cmp) {
    case FP_CMP_EQ: return a == b;
    case FP_CMP_NE: return a < b || a > b;
    case FP_CMP_LT: return a < b;
    case FP_CMP_LE: return a <= b;
    case FP_CMP_GT: return a > b;
    case FP_CMP_GE: return a >= b;
    case FP_CMP_EQU: return !(a < b || a > b);
    case FP_CMP_NEU: return a != b;
    case FP_CMP_LTU: return !(a >= b);
    case FP_CMP_LEU: return !(a > b);
    case FP_CMP_GTU: return !(a <= b);
    case FP_CMP_GEU: return !(a < b);
    case FP_CMP_NUM: return a == a && b == b;
    case FP_CMP_NAN: return a != a || b != b;
    }
    return false;
}

static inline bool fp_cmp32(float a, float b, enum fp_cmp cmp)
{
    switch (cmp) {
    case FP_CMP_EQ: return a == b;
    case FP_CMP_NE: return a < b || a > b;
    case FP_CMP_LT: return a < b;
    case FP_CMP_LE: return a <= b;
    case FP_CMP_GT: return a > b;
    case FP_CMP_GE: return a >= b;
    case FP_CMP_EQU: return !(a < b || a > b);
    case FP_CMP_NEU: return a != b;
    case FP_CMP_LTU: return !(a >= b);
    case FP_CMP_LEU: return !(a > b);
    case FP_CMP_GTU: return !(a <= b);
    case FP_CMP_GEU: return !(a < b);
    case FP_CMP_NUM: return a == a && b == b;
    case FP_CMP_NAN: return a != a || b != b;
    }
    return false;
}

/* ---- to integral values and integers ----------------------------------------------------------- */

/* cvt.rni.f32.f32 and so on: integral, of the sign of x. */
static inline float fp_rint32(float x, enum fp_rnd rnd)
{
    float m = fp_float32(fp_bits32(x) & 0x7fffffffu);
    float n = fp_copysign32(x, (m + 0x1p23f) - 0x1p23f); /* the sum has no place for a fraction */
    float one = fp_copysign32(x, 1.0f);
    if (rnd == FP_RZ) n = (n < 0 ? -n : n) > m ? n - one : n;
    if (rnd == FP_RM) n = n > x ? n - 1.0f : n;
    if (rnd == FP_RP) n = n < x ? n + 1.0f : n;
    return fp_canon32(m < 0x1p23f ? fp_copysign32(x, n) : x);
}

static inline double fp_rint64(double x, enum fp_rnd rnd)
{
    double m = fp_float64(fp_bits64(x) & INT64_MAX);
    double n = fp_copysign64(x, (m + 0x1p52) - 0x1p52);
    double one = fp_copysign64(x, 1.0);
    if (rnd == FP_RZ) n = (n < 0 ? -n : n) > m ? n - one : n;
    if (rnd == FP_RM) n = n > x ? n - 1.0 : n;
    if (rnd == FP_RP) n = n < x ? n + 1.0 : n;
    return fp_nan64_1(m < 0x1p52 ? fp_copysign64(x, n) : x, x);
}

static inline uint16_t fp_rint_f16(uint16_t h, enum fp_rnd rnd)
{
    return fp_f16_from_f32(fp_rint32(fp_f32_from_f16(h), rnd), FP_RN);
}

static inline uint16_t fp_rint_bf16(uint16_t h, enum fp_rnd rnd)
{
    return fp_bf16_from_f32(fp_rint32(fp_f32_from_bf16(h), rnd), FP_RN);
}

/* Floats to integers: rounded, then clamped to the range of the result. A NaN becomes 0 if the
 * source is not f64 and the result not 64 bits wide, else the bit 1 << (width - 1) (9.7.9.21 cvt,
 * Integer Notes). From f16 and bf16: through f32, which is exact. */
#define FP_TO_INT(type, ctype, lo, hi, width)                                                      \
    static inline ctype fp_##type##_from_f32(float x, enum fp_rnd rnd)                             \
    {                                                                                              \
        double d = (double)fp_rint32(x, rnd);                                                      \
        d = d > (lo) ? d : (lo);                                                                   \
        d = d < (hi) ? d : (hi);                                                                   \
        return (ctype)(x != x ? 0 : d);                                                            \
    }                                                                                              \
    static inline ctype fp_##type##_from_f64(double x, enum fp_rnd rnd)                            \
    {                                                                                              \
        double d = fp_rint64(x, rnd);                                                              \
        d = d > (lo) ? d : (lo);                                                                   \
        d = d < (hi) ? d : (hi);                                                                   \
        double nan = (lo) < 0 ? (lo) : (double)((uint64_t)1 << ((width)-1));                       \
        return (ctype)(x != x ? nan : d);                                                          \
    }
FP_TO_INT(u8, uint8_t, 0.0, 255.0, 8)
FP_TO_INT(s8, int8_t, -128.0, 127.0, 8)
FP_TO_INT(u16, uint16_t, 0.0, 65535.0, 16)
FP_TO_INT(s16, int16_t, -32768.0, 32767.0, 16)
FP_TO_INT(u32, uint32_t, 0.0, 4294967295.0, 32)
FP_TO_INT(s32, int32_t, -2147483648.0, 2147483647.0, 32)
#undef FP_TO_INT

static inline int64_t fp_s64_from_f64(double x, enum fp_rnd rnd)
{
    double d = fp_rint64(x, rnd);
    bool fits = d >= -0x1p63 && d < 0x1p63;
    int64_t r = (int64_t)(fits ? d : 0);
    return fits ? r : d > 0 ? INT64_MAX : INT64_MIN;
}

static inline uint64_t fp_u64_from_f64(double x, enum fp_rnd rnd)
{
    double d = fp_rint64(x, rnd);
    bool fits = d >= 0 && d < 0x1p64;
    uint64_t r = (uint64_t)(fits ? d : 0);
    uint64_t beyond = x != x ? (uint64_t)1 << 63 : d > 0 ? UINT64_MAX : 0;
    return fits ? r : beyond;
}

static inline int64_t fp_s64_from_f32(float x, enum fp_rnd rnd)
{
    return fp_s64_from_f64((double)x, rnd);
}

static inline uint64_t fp_u64_from_f32(float x, enum fp_rnd rnd)
{
    return fp_u64_from_f64((double)x, rnd);
}

/* ---- from integers ----------------------------------------------------------------------------- */

/* Eight and sixteen bits go through 32; f64 takes 32 bits exactly. */
static inline float fp_f32_from_s32(int32_t i, enum fp_rnd rnd)
{
    return rnd == FP_RN ? (float)i : fp_round32((double)i, rnd);
}

static inline float fp_f32_from_u32(uint32_t i, enum fp_rnd rnd)
{
    return rnd == FP_RN ? (float)i : fp_round32((double)i, rnd);
}

/* i rounded to odd. */
static inline double fp_odd_from_u64(uint64_t i)
{
    uint64_t jammed = (i & ~(uint64_t)0x7ff) | ((i & 0x7ff) != 0 ? 0x800 : 0);
    return (double)(i >> 53 ? jammed : i);
}

static inline double fp_odd_from_s64(int64_t i)
{
    double d = fp_odd_from_u64(i < 0 ? 0 - (uint64_t)i : (uint64_t)i);
    return i < 0 ? -d : d;
}

static inline float fp_f32_from_s64(int64_t i, enum fp_rnd rnd)
{
    return fp_round32(fp_odd_from_s64(i), rnd);
}

static inline float fp_f32_from_u64(uint64_t i, enum fp_rnd rnd)
{
    return fp_round32(fp_odd_from_u64(i), rnd);
}

double fp_f64_from_s64(int64_t i, enum fp_rnd rnd);
double fp_f64_from_u64(uint64_t i, enum fp_rnd rnd);

static inline uint16_t fp_f16_from_s64(int64_t i, enum fp_rnd rnd)
{
    return fp_f16_from_f64(fp_odd_from_s64(i), rnd);
}

static inline uint16_t fp_f16_from_u64(uint64_t i, enum fp_rnd rnd)
{
    return fp_f16_from_f64(fp_odd_from_u64(i), rnd);
}

static inline uint16_t fp_bf16_from_s64(int64_t i, enum fp_rnd rnd)
{
    return fp_bf16_from_f64(fp_odd_from_s64(i), rnd);
}

static inline uint16_t fp_bf16_from_u64(uint64_t i, enum fp_rnd rnd)
{
    return fp_bf16_from_f64(fp_odd_from_u64(i), rnd);
}

/* ---- eight bits and less ----------------------------------------------------------------------- */

/* Values are in the low bits. e4m3 has NaNs (0x7f, 0xff) and no infinities, e5m2 both; e2m3, e3m2
 * and e2m1 neither. Decoding is exact, a NaN becomes FP_NAN32. */
float fp_f32_from_e4m3(uint8_t v);
float fp_f32_from_e5m2(uint8_t v);
float fp_f32_from_e2m3(uint8_t v);
float fp_f32_from_e3m2(uint8_t v);
float fp_f32_from_e2m1(uint8_t v);
float fp_f32_from_ue8m0(uint8_t v); /* 2^(v - 127), 255 is NaN */

/* cvt.rn.satfinite{.relu}: values beyond the largest number become that number. A NaN becomes 0x7f, or in formats
 * without NaN the largest number. */
uint8_t fp_e4m3_from_f32(float x, bool relu);
uint8_t fp_e5m2_from_f32(float x, bool relu);
uint8_t fp_e2m3_from_f32(float x, bool relu);
uint8_t fp_e3m2_from_f32(float x, bool relu);
uint8_t fp_e2m1_from_f32(float x, bool relu);

/* cvt.rz and .rp to .ue8m0. The sign is ignored (the ISA does not define negative values; cuda_fp8.hpp ignores the
 * sign). Values that are too large become 254 with .satfinite, else NaN. */
uint8_t fp_ue8m0_from_f32(float x, enum fp_rnd rnd, bool satfinite);

/* cvt.rs: `random` is added to the bits that are cut off, and the carry decides whether to round away from zero; its
 * highest bit has the weight of the highest bit that is cut off. The functions read its low 13 (f16) or 16 bits, which
 * are, of the operand rbits: for f16 and bf16 rbits >> 16 for the value that goes to the upper half of d and rbits for
 * the other; for four values see below. .satfinite of f16 and bf16, and their .relu, are functions above. */
uint16_t fp_f16_from_f32_rs(float x, uint32_t random);
uint16_t fp_bf16_from_f32_rs(float x, uint32_t random);
uint8_t fp_e4m3_from_f32_rs(float x, uint32_t random, bool relu);
uint8_t fp_e5m2_from_f32_rs(float x, uint32_t random, bool relu);
uint8_t fp_e2m3_from_f32_rs(float x, uint32_t random, bool relu);
uint8_t fp_e3m2_from_f32_rs(float x, uint32_t random, bool relu);
uint8_t fp_e2m1_from_f32_rs(float x, uint32_t random, bool relu);

/* The random bits of one of four values; place 0 is what goes to the lowest bits of d (operand f), 3
 * the highest (a). The ISA says which 16 bits of rbits belong to e and f and which to a and b; that
 * the upper value of a pair takes them in reverse has been measured on sm_100a for .e4m3x4 (see
 * FlashInfer's conversion.cuh) and is assumed for the rest. */
uint32_t fp_rs_bits8(uint32_t rbits, unsigned place); /* .e4m3x4 .e5m2x4 .e2m3x4 .e3m2x4 */
uint32_t fp_rs_bits4(uint32_t rbits, unsigned place); /* .e2m1x4 */

#endif
