/* emu/ops/approx.h: the approximate functions of PTX (.approx, .full).
 *
 *     float y = fp_ftz32(fp_ex2_approx32(fp_ftz32(x)));     // ex2.approx.ftz.f32 y, x;
 *
 * The ISA bounds the error of these functions; their exact results depend on the hardware. Here each has one result,
 * the same on every host: rcp, sqrt and div round correctly; rsqrt, ex2, lg2, sin, cos and tanh are evaluated in double
 * to about 2^-40 and rounded once, which is the correctly rounded value except for a few inputs in ten thousand. Only
 * +, -, *, / and sqrt of IEEE 754 are used. The functions have no branches and no calls, except sine and cosine of
 * large arguments: a loop over lanes uses their _near variants, and recomputes lanes for which fp_trig_is_far32 is
 * true.
 *
 * The caller applies .ftz, as for all functions of emu/ops/fp.h; the results for subnormals are then those of the
 * tables in the ISA's sections. The f16 and bf16 forms round the value in double once. */
#ifndef HEDDLE_EMU_OPS_APPROX_H
#define HEDDLE_EMU_OPS_APPROX_H

#include "emu/ops/fp.h"

/* rcp.approx.f32 (9.7.3.13): at most 1 ulp; here correctly rounded. */
static inline float fp_rcp_approx32(float x)
{
    return fp_canon32(1.0f / x);
}

/* sqrt.approx.f32 (9.7.3.15): relative error at most 2^-23; here correctly rounded. */
static inline float fp_sqrt_approx32(float x)
{
    return fp_canon32(__builtin_sqrtf(x));
}

/* rsqrt.approx.f32 (9.7.3.16): relative error at most 2^-22.9. */
static inline float fp_rsqrt_approx32(float x)
{
    return fp_canon32((float)(1.0 / __builtin_sqrt((double)x)));
}

/* div.approx.f32 (9.7.3.8), computed as a * (1 / b): at most 2 ulp for |b| in [2^-126, 2^126]. Above,
 * 1 / b counts as zero: NaN if a is infinite, else a zero of the sign. Here a / b elsewhere. */
static inline float fp_div_approx32(float a, float b)
{
    float m = fp_float32(fp_bits32(b) & 0x7fffffffu);
    float zero = fp_copysign32(b, 0.0f);
    return fp_canon32(m > 0x1p126f ? a * zero : a / b);
}

/* div.full.f32 (9.7.3.8): at most 2 ulp everywhere; here correctly rounded. */
static inline float fp_div_full32(float a, float b)
{
    return fp_canon32(a / b);
}

/* 2^x as a double for |x| below 1000: 2^n from bits, 2^r on [-1/2, 1/2] a polynomial (2^-50). */
static inline double fp_exp2_core(double x)
{
    double t = x + 0x1.8p52, n = t - 0x1.8p52, r = x - n; /* t ends in the bits of n */
    double p = 0x1.e5e9f548e5725p-28;
    p = p * r + 0x1.b6571de2f2351p-24;
    p = p * r + 0x1.62bfe46117445p-20;
    p = p * r + 0x1.ffcb76789860fp-17;
    p = p * r + 0x1.4309130378460p-13;
    p = p * r + 0x1.5d87fe908f88ap-10;
    p = p * r + 0x1.3b2ab6fba385fp-7;
    p = p * r + 0x1.c6b08d7044119p-5;
    p = p * r + 0x1.ebfbdff82c590p-3;
    p = p * r + 0x1.62e42fefa39f7p-1;
    double scale = fp_float64((fp_bits64(t) << 52) + 0x3ff0000000000000u);
    return (p * r + 1.0) * scale;
}

static inline double fp_exp2_float(float x) /* of any float; a NaN gives anything */
{
    double d = x < 200.0f ? (double)x : 200.0;
    return fp_exp2_core(d > -200.0 ? d : -200.0);
}

/* ex2.approx.f32 (9.7.3.21): at most 2 ulp from the correctly rounded result. */
static inline float fp_ex2_approx32(float x)
{
    float y = (float)fp_exp2_float(x);
    return fp_float32(x != x ? FP_NAN32 : fp_bits32(y));
}

/* lg2.approx.f32 (9.7.3.20): absolute error at most 2^-22 in (0.5, 2), else relative. Here relative
 * everywhere: log2 m = s P(s^2), s = (m - 1) / (m + 1), for m in [sqrt 1/2, sqrt 2) (2^-59). */
static inline float fp_lg2_approx32(float x)
{
    uint64_t b = fp_bits64((double)x); /* subnormals of f32 are normal in double */
    uint64_t bias = b + (0x3ff0000000000000u - 0x3fe6a09e00000000u);
    double e = fp_float64((bias >> 52) | 0x4330000000000000u) - (0x1p52 + 1023.0);
    double m = fp_float64((bias & 0xfffffffffffffu) + 0x3fe6a09e00000000u);
    double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p = 0x1.b609d0c666c12p-3;
    p = p * q + 0x1.c462a4f3f70c9p-3;
    p = p * q + 0x1.0ca1974fb723dp-2;
    p = p * q + 0x1.484afa7696a2cp-2;
    p = p * q + 0x1.a61762d905284p-2;
    p = p * q + 0x1.2776c50ee23acp-1;
    p = p * q + 0x1.ec709dc3a0486p-1;
    p = p * q + 0x1.71547652b82fep+1;
    uint32_t y = fp_bits32((float)(p * s + e));
    uint32_t ib = fp_bits32(x);
    y = ib == 0x7f800000u ? ib : y;                /* +Inf */
    y = ib > 0x7f800000u ? FP_NAN32 : y;           /* NaN, negative */
    y = (ib & 0x7fffffffu) == 0 ? 0xff800000u : y; /* both zeros */
    return fp_float32(y);
}

/* sin and cos of r + 0 in [-pi/4, pi/4], to 2^-55. */
static inline double fp_sin_core(double r)
{
    double t = r * r, p = 0x1.5e0333e3ccba1p-33;
    p = p * t - 0x1.ae5ff4f957b14p-26;
    p = p * t + 0x1.71de3781495ffp-19;
    p = p * t - 0x1.a01a019e73325p-13;
    p = p * t + 0x1.1111111110b6cp-7;
    p = p * t - 0x1.5555555555555p-3;
    return r + r * (t * p);
}

static inline double fp_cos_core(double r)
{
    double t = r * r, p = -0x1.9075bb66967d4p-37;
    p = p * t + 0x1.1eeb5de1e2b95p-29;
    p = p * t - 0x1.27e4fa0d3726cp-22;
    p = p * t + 0x1.a01a019f4671dp-16;
    p = p * t - 0x1.6c16c16c16944p-10;
    p = p * t + 0x1.5555555555555p-5;
    return 1.0 - 0.5 * t + t * t * p;
}

/* The sine of r + q pi/2, for the cosine q + 1. Only the low two bits of q matter. */
static inline float fp_quadrant32(double r, uint64_t q)
{
    double v = (q & 1) != 0 ? fp_cos_core(r) : fp_sin_core(r);
    return fp_float32(fp_bits32((float)v) ^ (uint32_t)(q & 2) << 30);
}

/* Up to this magnitude x - n pi/2 is done in three steps of which two are exact. */
#define FP_TRIG_NEAR 0x1p20f

static inline float fp_trig_near32(float x, uint64_t shift)
{
    double d = x, t = d * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = t - 0x1.8p52;
    double r = d - n * 0x1.921fb544p+0 - n * 0x1.0b4611a6p-34 - n * 0x1.3198a2e037073p-69;
    return fp_quadrant32(r, fp_bits64(t) + shift);
}

/* sin.approx.f32, cos.approx.f32 (9.7.3.18, 9.7.3.19): absolute error at most 2^-20.5 in [-2pi, 2pi]
 * and 2^-14.7 in [-100pi, 100pi], beyond "best effort". Here within 1 ulp for every float. */
static inline float fp_sin_near32(float x) /* |x| <= FP_TRIG_NEAR, infinite or NaN */
{
    uint32_t m = fp_bits32(x) & 0x7fffffffu, y = fp_bits32(fp_trig_near32(x, 0));
    y = m == 0 ? fp_bits32(x) : y;
    return fp_float32(m >= 0x7f800000u ? FP_NAN32 : y);
}

static inline float fp_cos_near32(float x)
{
    uint32_t m = fp_bits32(x) & 0x7fffffffu, y = fp_bits32(fp_trig_near32(x, 1));
    return fp_float32(m >= 0x7f800000u ? FP_NAN32 : y);
}

float fp_trig_far32(float x, unsigned shift); /* the sine of x + shift pi/2 for every finite x */

static inline bool fp_trig_is_far32(float x)
{
    uint32_t m = fp_bits32(x) & 0x7fffffffu;
    return m > fp_bits32(FP_TRIG_NEAR) && m < 0x7f800000u;
}

static inline float fp_sin_approx32(float x)
{
    return fp_trig_is_far32(x) ? fp_trig_far32(x, 0) : fp_sin_near32(x);
}

static inline float fp_cos_approx32(float x)
{
    return fp_trig_is_far32(x) ? fp_trig_far32(x, 1) : fp_cos_near32(x);
}

/* tanh in double of any float but a NaN: (1 - t) / (1 + t), t = e^(-2|x|); near 0 its series. */
static inline double fp_tanh_core(float x)
{
    double m = (double)fp_float32(fp_bits32(x) & 0x7fffffffu), q = m * m;
    double t = fp_exp2_core((m < 50.0 ? m : 50.0) * -0x1.71547652b82fep+1);
    double series = m + m * q *
                            (q * (0x1.1111111111111p-3 - q * 0x1.ba1ba1ba1ba1cp-5) -
                             0x1.5555555555555p-2);
    return fp_copysign64((double)x, m < 0x1p-6 ? series : (1.0 - t) / (1.0 + t));
}

/* tanh.approx.f32 (9.7.3.22): relative error at most 2^-11. Subnormals come out as they go in. */
static inline float fp_tanh_approx32(float x)
{
    return fp_float32(x != x ? FP_NAN32 : fp_bits32((float)fp_tanh_core(x)));
}

/* tanh.approx.f16, .bf16 (9.7.4.9): absolute error at most 2^-10.987, 2^-8. */
static inline uint16_t fp_tanh_approx_f16(uint16_t h)
{
    uint16_t y = fp_f16_from_f64(fp_tanh_core(fp_f32_from_f16(h)), FP_RN);
    return fp_is_nan_f16(h) ? FP_NAN16 : y;
}

static inline uint16_t fp_tanh_approx_bf16(uint16_t h)
{
    uint16_t y = fp_bf16_from_f64(fp_tanh_core(fp_f32_from_bf16(h)), FP_RN);
    return fp_is_nan_bf16(h) ? FP_NAN16 : y;
}

/* ex2.approx.f16, ex2.approx.ftz.bf16 (9.7.4.10): relative error at most 2^-9.9, 2^-7. The .ftz of
 * bf16 is the caller's. */
static inline uint16_t fp_ex2_approx_f16(uint16_t h)
{
    uint16_t y = fp_f16_from_f64(fp_exp2_float(fp_f32_from_f16(h)), FP_RN);
    return fp_is_nan_f16(h) ? FP_NAN16 : y;
}

static inline uint16_t fp_ex2_approx_bf16(uint16_t h)
{
    uint16_t y = fp_bf16_from_f64(fp_exp2_float(fp_f32_from_bf16(h)), FP_RN);
    return fp_is_nan_bf16(h) ? FP_NAN16 : y;
}

/* rsqrt.approx.f64 (9.7.3.16): two roundings, within 1 ulp. */
static inline double fp_rsqrt_approx64(double x)
{
    return fp_nan64_1(1.0 / __builtin_sqrt(x), x);
}

/* rcp.approx.ftz.f64, rsqrt.approx.ftz.f64 (9.7.3.14, 9.7.3.17): of the upper word of x alone, with
 * subnormals flushed; the result rounds to the upper word, the lower is zero. NaN: 0x7fffffff. */
static inline double fp_upper64(double x)
{
    uint64_t b = fp_bits64(x) & 0xffffffff00000000u;
    return fp_float64((b & 0x7ff0000000000000u) == 0 ? b & 0x8000000000000000u : b);
}

static inline double fp_to_upper64(double y)
{
    uint64_t b = fp_bits64(y);
    uint64_t r = (b + 0x7fffffffu + (b >> 32 & 1)) & 0xffffffff00000000u;
    r = (r & 0x7ff0000000000000u) == 0 ? r & 0x8000000000000000u : r;
    return fp_float64(y != y ? 0x7fffffff00000000u : r);
}

static inline double fp_rcp_approx_ftz64(double x)
{
    return fp_to_upper64(1.0 / fp_upper64(x));
}

static inline double fp_rsqrt_approx_ftz64(double x)
{
    return fp_to_upper64(1.0 / __builtin_sqrt(fp_upper64(x)));
}

#endif
