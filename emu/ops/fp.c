/* The functions of emu/ops/fp.h that are not used in loops over lanes: f64 with directed rounding, computed with
 * integers, and the formats of eight bits and less. */
#include "emu/ops/fp.h"

typedef unsigned __int128 u128; /* a name, for `unsigned __int128` does not fit on a line */

/* ---- f64 --------------------------------------------------------------------------------------- */

#define INF64 0x7ff0000000000000u
#define SIGN64 0x8000000000000000u

/* A finite f64 that is not zero: m * 2^e, m with its highest bit at 52. */
struct number {
    bool neg;
    int e;
    uint64_t m;
};

static bool is_plain(double x)
{
    return x != 0 && (fp_bits64(x) & INF64) != INF64;
}

static struct number unpack(double x)
{
    uint64_t b = fp_bits64(x), m = b & 0xfffffffffffffu;
    int e = (int)(b >> 52 & 0x7ff);
    if (e) return (struct number){b >> 63, e - 1075, m | (uint64_t)1 << 52};
    int up = __builtin_clzll(m) - 11;
    return (struct number){b >> 63, -1074 - up, m << up};
}

static int bits_of(u128 m)
{
    uint64_t high = (uint64_t)(m >> 64);
    return high ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)m);
}

/* m with its highest bit at 125, which leaves two bits for a carry; *e follows. */
static u128 normalise(u128 m, int *e)
{
    int up = 126 - bits_of(m);
    *e -= up;
    return m << up;
}

static bool goes_up(bool neg, bool odd, bool more_than_half, bool half, enum fp_rnd rnd, bool exact)
{
    switch (rnd) {
    case FP_RN: return more_than_half || (half && odd);
    case FP_RNA: return more_than_half || half;
    case FP_RM: return neg && !exact;
    case FP_RP: return !neg && !exact;
    case FP_RZ: break;
    }
    return false;
}

/* m * 2^e rounded, m not zero. The lowest bit may stand for all that is below it if m is long. */
static double pack(bool neg, u128 m, int e, enum fp_rnd rnd)
{
    int q = e + bits_of(m) - 53; /* the exponent of the last place */
    if (q < -1074) q = -1074;
    int off = q - e;
    u128 kept = off <= 0 ? m << -off : off < 128 ? m >> off : 0;
    if (off > 0) {
        u128 lost = off < 128 ? m - (kept << off) : m;
        u128 half = off <= 128 ? (u128)1 << (off - 1) : 0; /* 0: more than the whole of m */
        bool more = half && lost > half, tie = half && lost == half;
        kept += goes_up(neg, kept & 1, more, tie, rnd, lost == 0);
    }
    uint64_t b = ((uint64_t)(q + 1074) << 52) + (uint64_t)kept;
    if (q + 1074 >= 2047 || b >= INF64) { /* what overflows is not nearest to anything */
        bool infinite = rnd == FP_RN || rnd == FP_RNA || (neg ? rnd == FP_RM : rnd == FP_RP);
        b = infinite ? INF64 : INF64 - 1;
    }
    return fp_float64(b | (neg ? SIGN64 : 0));
}

/* The value beside s, or s itself, that a directed rounding wants: the exact one is s + err. */
static double step(double s, double err, enum fp_rnd rnd)
{
    bool neg = fp_bits64(s) >> 63, low = err > 0, high = err < 0;
    uint64_t b = fp_bits64(s);
    if (rnd == FP_RZ) return fp_float64(b - (neg ? low : high));
    if (rnd == FP_RM) return fp_float64(neg ? b + high : b - high);
    if (rnd == FP_RP) return fp_float64(neg ? b - low : b + low);
    return s;
}

double fp_add64_directed(double a, double b, enum fp_rnd rnd)
{
    double s = a + b, t = s - a, err = (a - (s - t)) + (b - t); /* exact */
    if (s == 0 && rnd == FP_RM) return fp_float64((fp_bits64(a) | fp_bits64(b)) & SIGN64);
    if (is_plain(a) && is_plain(b) && (fp_bits64(s) & INF64) == INF64) err = s > 0 ? -1 : 1;
    return step(s, err, rnd);
}

double fp_mul64_directed(double a, double b, enum fp_rnd rnd)
{
    if (!is_plain(a) || !is_plain(b)) return a * b;
    struct number x = unpack(a), y = unpack(b);
    return pack(x.neg != y.neg, (u128)x.m * y.m, x.e + y.e, rnd);
}

double fp_div64_directed(double a, double b, enum fp_rnd rnd)
{
    if (!is_plain(a) || !is_plain(b)) return a / b;
    struct number x = unpack(a), y = unpack(b);
    u128 n = (u128)x.m << 64, q = n / y.m;
    return pack(x.neg != y.neg, q | (q * y.m != n), x.e - y.e - 64, rnd);
}

double fp_fma64_directed(double a, double b, double c, enum fp_rnd rnd)
{
    if (!is_plain(a) || !is_plain(b)) return fp_add64_directed(a * b, c, rnd);
    if (c == 0) return fp_mul64_directed(a, b, rnd);
    if (!is_plain(c)) return c;
    struct number x = unpack(a), y = unpack(b), z = unpack(c);
    int e = x.e + y.e, ez = z.e;
    bool neg = x.neg != y.neg, minus = neg != z.neg;
    u128 big = normalise((u128)x.m * y.m, &e), small = normalise(z.m, &ez);
    if (ez > e || (ez == e && small > big)) {
        u128 m = big;
        big = small, small = m;
        int i = e;
        e = ez, ez = i;
        neg = z.neg;
    }
    int down = e - ez; /* what is shifted out is kept as one bit, far below the last place */
    u128 rest = down < 128 ? small >> down : 0;
    bool lost = down < 128 ? rest << down != small : true;
    rest |= lost;
    u128 m = minus ? big - rest : big + rest;
    if (m == 0) return rnd == FP_RM ? -0.0 : 0.0;
    return pack(neg, m, e, rnd);
}

double fp_sqrt64_directed(double a, enum fp_rnd rnd)
{
    double s = __builtin_sqrt(a);
    bool tiny = a < 0x1p-500; /* the square of s would be */
    double x = tiny ? a * 0x1p600 : a, y = tiny ? s * 0x1p300 : s;
    return is_plain(a) && a > 0 ? step(s, __builtin_fma(-y, y, x), rnd) : s;
}

double fp_f64_from_u64(uint64_t i, enum fp_rnd rnd)
{
    return i ? pack(false, i, 0, rnd) : 0.0;
}

double fp_f64_from_s64(int64_t i, enum fp_rnd rnd)
{
    if (i == 0) return 0.0;
    return pack(i < 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, 0, rnd);
}

/* ---- small formats ----------------------------------------------------------------------------- */

/* 5.2.3 Alternate Floating-Point Data Formats, 5.2.5 Packed Floating Point Data Types. */
struct format {
    int exponent, fraction; /* widths */
    int low;                /* the exponent of the smallest normal number */
    uint32_t max, nan;      /* magnitudes: the greatest number, what a NaN becomes */
};

static const struct format f16 = {5, 10, -14, 0x7bff, 0x7fff};
static const struct format bf16 = {8, 7, -126, 0x7f7f, 0x7fff};
static const struct format e4m3 = {4, 3, -6, 0x7e, 0x7f};
static const struct format e5m2 = {5, 2, -14, 0x7b, 0x7f};
static const struct format e2m3 = {2, 3, 0, 0x1f, 0x1f};
static const struct format e3m2 = {3, 2, -2, 0x1f, 0x1f};
static const struct format e2m1 = {2, 1, 0, 0x7, 0x7};

enum { NEAREST = 0 }; /* instead of the width of the random bits */

/* The magnitude of x, which is not a NaN, in format f as if its exponent had no end. */
static uint32_t encode(const struct format *f, float x, uint32_t random, int width)
{
    uint32_t b = fp_bits32(x) & 0x7fffffffu;
    int e = (int)(b >> 23) - 127;
    uint32_t m = e < -126 ? b : (b & 0x7fffffu) | 0x800000u;
    if (e < -126) e = -126;
    int top = e < f->low ? f->low : e;
    int off = 23 - f->fraction + (top - e); /* the bits that fall off, one or more */
    uint32_t kept = off < 32 ? m >> off : 0;
    uint32_t lost = off < 32 ? m - (kept << off) : m, up;
    if (width == NEAREST) {
        uint32_t half = off <= 24 ? (uint32_t)1 << (off - 1) : UINT32_MAX;
        up = lost > half || (lost == half && (kept & 1));
    } else {
        int less = off - width;
        uint32_t high = less < 0 ? lost << -less : less < 32 ? lost >> less : 0;
        up = (high + (random & (((uint32_t)1 << width) - 1))) >> width;
    }
    return ((uint32_t)(top - f->low) << f->fraction) + kept + up;
}

static uint8_t encode_small(const struct format *f, float x, bool relu, uint32_t random, int width)
{
    if (x != x) return (uint8_t)f->nan;
    uint32_t sign = fp_bits32(x) >> 31;
    if (sign && relu) return 0;
    uint32_t m = encode(f, x, random, width);
    if (m > f->max) m = f->max;
    return (uint8_t)(sign << (f->exponent + f->fraction) | m);
}

static float decode(const struct format *f, uint32_t v)
{
    uint32_t sign = v >> (f->exponent + f->fraction) & 1;
    uint32_t m = v & (((uint32_t)1 << (f->exponent + f->fraction)) - 1);
    uint32_t e = m >> f->fraction, fraction = m & (((uint32_t)1 << f->fraction) - 1);
    if (e) fraction |= (uint32_t)1 << f->fraction, e--;
    int place = (int)e + f->low - f->fraction; /* of the last bit; far from f32's limits */
    float x = (float)fraction * fp_float32((uint32_t)(place + 127) << 23);
    return sign ? -x : x;
}

float fp_f32_from_e4m3(uint8_t v)
{
    return (v & 0x7f) == 0x7f ? fp_float32(FP_NAN32) : decode(&e4m3, v);
}

float fp_f32_from_e5m2(uint8_t v)
{
    return fp_f32_from_f16((uint16_t)(v << 8));
}

float fp_f32_from_e2m3(uint8_t v)
{
    return decode(&e2m3, v);
}

float fp_f32_from_e3m2(uint8_t v)
{
    return decode(&e3m2, v);
}

float fp_f32_from_e2m1(uint8_t v)
{
    return decode(&e2m1, v);
}

float fp_f32_from_ue8m0(uint8_t v)
{
    if (v == 0xff) return fp_float32(FP_NAN32);
    return fp_float32(v ? (uint32_t)v << 23 : 0x400000u);
}

uint8_t fp_ue8m0_from_f32(float x, enum fp_rnd rnd, bool satfinite)
{
    uint32_t m = fp_bits32(x) & 0x7fffffffu, e = m >> 23;
    if (m > 0x7f800000u) return 0xff;
    /* below 2^-126 the values are 0 .. 2^-127, which is code 0, and from there up to code 1 */
    bool above = e ? (m & 0x7fffffu) != 0 : m > 0x400000u;
    if (rnd == FP_RP && above) e++;
    return (uint8_t)(satfinite && e == 0xff ? 0xfe : e);
}

#define ENCODE(name)                                                                               \
    uint8_t fp_##name##_from_f32(float x, bool relu)                                               \
    {                                                                                              \
        return encode_small(&(name), x, relu, 0, NEAREST);                                         \
    }                                                                                              \
    uint8_t fp_##name##_from_f32_rs(float x, uint32_t random, bool relu)                           \
    {                                                                                              \
        return encode_small(&(name), x, relu, random, 16);                                         \
    }
ENCODE(e4m3)
ENCODE(e5m2)
ENCODE(e2m3)
ENCODE(e3m2)
ENCODE(e2m1)

static uint16_t encode_half(const struct format *f, float x, uint32_t random, int width)
{
    if (x != x) return (uint16_t)f->nan;
    uint32_t m = encode(f, x, random, width);
    if (m > f->max) m = f->max + 1; /* infinity */
    return (uint16_t)(fp_bits32(x) >> 31 << 15 | m);
}

uint16_t fp_f16_from_f32_rs(float x, uint32_t random)
{
    return encode_half(&f16, x, random, 13);
}

uint16_t fp_bf16_from_f32_rs(float x, uint32_t random)
{
    return encode_half(&bf16, x, random, 16);
}

static uint32_t reverse16(uint32_t v)
{
    v = (v & 0x5555u) << 1 | (v >> 1 & 0x5555u);
    v = (v & 0x3333u) << 2 | (v >> 2 & 0x3333u);
    v = (v & 0x0f0fu) << 4 | (v >> 4 & 0x0f0fu);
    return (v & 0x00ffu) << 8 | (v >> 8 & 0x00ffu);
}

uint32_t fp_rs_bits8(uint32_t rbits, unsigned place)
{
    uint32_t pair = place < 2 ? rbits & 0xffffu : rbits >> 16;
    return place & 1 ? reverse16(pair) : pair;
}

uint32_t fp_rs_bits4(uint32_t rbits, unsigned place)
{
    uint32_t r = place < 2 ? rbits : rbits >> 8;
    uint32_t pair = (r >> 8 & 0xff00u) | (r & 0xffu);
    return place & 1 ? reverse16(pair) : pair;
}
