/* tests/support/floats.h: float arithmetic for tests, written plainly: what the host's processor computes under
 * fesetround, and formats by their definition. */
#ifndef HEDDLE_TESTS_SUPPORT_FLOATS_H
#define HEDDLE_TESTS_SUPPORT_FLOATS_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { RN, RZ, RM, RP };
static const char *const roundings[] = {".rn", ".rz", ".rm", ".rp"};
static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
enum { FTZ = 1, SAT = 2, RELU = 4, OOB = 8, NAN_WINS = 16, XORSIGN = 32, ABSOLUTE = 64 };

static inline float f32(uint64_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static inline uint32_t bits32(float f)
{
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}
static inline double f64(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static inline uint64_t bits64(double d)
{
    uint64_t b;
    memcpy(&b, &d, sizeof b);
    return b;
}

static inline float flush(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}
static inline float saturate(float x)
{
    return isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x;
}
static inline uint64_t out32(float x, int mods)
{
    if (mods & FTZ) x = flush(x);
    if (mods & SAT) x = saturate(x);
    return isnan(x) ? 0x7fffffff : bits32(x);
}
static inline float in32(uint64_t bits, int mods)
{
    float x = f32(bits);
    return mods & FTZ ? flush(x) : x;
}

static inline uint64_t out64(double r, double a, double b, double c)
{
    if (!isnan(r)) return bits64(r);
    double n = isnan(a) ? a : isnan(b) ? b : c;
    return isnan(n) ? bits64(n) | UINT64_C(1) << 51 : UINT64_C(0xfff8000000000000);
}

/* One operation under a rounding mode, by the host. */
static inline float host32(char op, int rnd, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, r;
    fesetround(modes[rnd]);
    r = op == '+'   ? x + y
        : op == '-' ? x - y
        : op == '*' ? x * y
        : op == '/' ? x / y
        : op == 's' ? sqrtf(x)
                    : fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}
static inline double host64(char op, int rnd, double a, double b, double c)
{
    volatile double x = a, y = b, z = c, r;
    fesetround(modes[rnd]);
    r = op == '+'   ? x + y
        : op == '-' ? x - y
        : op == '*' ? x * y
        : op == '/' ? x / y
        : op == 's' ? sqrt(x)
                    : fma(x, y, z);
    fesetround(FE_TONEAREST);
    return r;
}

static const uint64_t edges32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0xbf7fffff, 0x3f000000, 0x40000000,
    0xc0000000, 0x40490fdb, 0x34000000, 0x33800000, 0x4b000000, 0x4b7fffff, 0xcb800001, 0x7f000000,
    0x7e800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001,
    0x42f6e979, 0xc2c80000, 0x1e3ce508, 0x9f800000};
static const uint64_t edges64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x800fffffffffffff,
    0x0010000000000000, 0x8010000000000001, 0x3ff0000000000000, 0xbff0000000000000,
    0x3ff0000000000001, 0x3fefffffffffffff, 0x3fe0000000000000, 0xc000000000000000,
    0x400921fb54442d18, 0x3ca0000000000000, 0x4330000000000000, 0xc340000000000001,
    0x7fe0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001,
    0xfff4000000000000, 0x1ff0000000000000, 0x200123456789abcd, 0x380fffffe0000000,
    0x36a0000000000000, 0x47efffffefffffff};
static const uint64_t edges16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff,
    0x3555, 0x4248, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x7fff, 0x3f80, 0xbf80,
    0x3f81, 0x007f, 0x0080, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0xff81, 0x7ff7, 0xfff7, 0x5640, 0x2e66};
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A binary format: widths of exponent and fraction. Codes are magnitudes with the sign above them. */
struct format {
    int exponent, fraction;
    bool ieee; /* the highest exponent is infinity and NaN */
};
static inline struct format format_of(int x) /* 'h': f16, 'b': bf16, 't': tf32 */
{
    return x == 'h' ? (struct format){5, 10, true} : (struct format){8, x == 't' ? 10 : 7, true};
}
static inline double decode(struct format f, uint64_t code)
{
    int bias = (1 << (f.exponent - 1)) - 1,
        e = (int)(code >> f.fraction & ((1u << f.exponent) - 1));
    double m = (double)(code & ((1u << f.fraction) - 1)), v;
    if (f.ieee && e == (1 << f.exponent) - 1) v = m != 0 ? NAN : INFINITY;
    else v = e ? ldexp(1 + ldexp(m, -f.fraction), e - bias) : ldexp(m, 1 - bias - f.fraction);
    return code >> (f.exponent + f.fraction) & 1 ? -v : v;
}
static inline double half_value(int x, uint64_t h)
{
    return decode(format_of(x), h);
}

/* A double, which must be exact or rounded to odd, as a format of IEEE kind; NaN: all ones but the sign.
 * Rounding RNA: ties away from zero. */
enum { RNA = 4 };
static inline uint64_t encode(struct format f, double v, int rnd)
{
    int bias = (1 << (f.exponent - 1)) - 1, e;
    uint64_t sign = signbit(v) ? (uint64_t)1 << (f.exponent + f.fraction) : 0;
    uint64_t inf = (((uint64_t)1 << f.exponent) - 1) << f.fraction;
    if (isnan(v)) return ((uint64_t)1 << (f.exponent + f.fraction)) - 1;
    if (isinf(v)) return sign | inf;
    frexp(v, &e);
    if (e - 1 < 1 - bias) e = 2 - bias;
    volatile double scaled = ldexp(v, f.fraction - (e - 1)); /* in units of the last place */
    volatile double whole = round(scaled);
    if (rnd != RNA) {
        fesetround(modes[rnd]);
        whole = nearbyint(scaled);
        fesetround(FE_TONEAREST);
    }
    uint64_t m = (uint64_t)fabs(whole), one = (uint64_t)1 << f.fraction; /* m up to 2 * one */
    uint64_t code = m >= one ? ((uint64_t)(e - 1 + bias) << f.fraction) + m - one : m;
    if (code < inf) return sign | code;
    bool stays = rnd == RZ || (rnd == RM && !sign) || (rnd == RP && sign);
    return sign | (stays ? inf - 1 : inf);
}
static inline uint64_t half_of(int x, double v, int rnd)
{
    return encode(format_of(x), v, rnd);
}

/* x rounded to odd as a double. */
static inline double odd_of(long double x)
{
    volatile long double v = x;
    fesetround(FE_TOWARDZERO);
    volatile double d = (double)v;
    fesetround(FE_TONEAREST);
    return (long double)d == v || isnan(d) ? d : f64(bits64(d) | 1);
}

#endif
