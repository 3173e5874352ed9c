/* The arithmetic of emu/ops/fp.h against references that work another way: the host's rounding modes,
 * exact long integers, long double and its functions, and the tables of the PTX ISA. */
#include "emu/ops/fp.h"
#include "base/rng.h"
#include "emu/ops/approx.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* One failure is enough, and says what to try: criterion is too slow for millions of successes. */
#define SAME(got, want, ...)                                                                       \
    do {                                                                                           \
        unsigned long long same_got = (got), same_want = (want);                                   \
        if (same_got != same_want) {                                                               \
            char same_text[200];                                                                   \
            snprintf(same_text, sizeof same_text, __VA_ARGS__);                                    \
            cr_assert_fail("%s: %llx, want %llx", same_text, same_got, same_want);                 \
        }                                                                                          \
    } while (0)

static const enum fp_rnd directions[] = {FP_RN, FP_RZ, FP_RM, FP_RP};
static const char *const direction_name[] = {"rn", "rz", "rm", "rp", "rna"};

static const uint32_t edges32[] = {
    0,          1,          2,          3,          0x000fffff, 0x00400000, 0x007ffffe,
    0x007fffff, 0x00800000, 0x00800001, 0x00ffffff, 0x01000000, 0x33000000, 0x33000001,
    0x33800000, 0x34000000, 0x38800000, 0x3effffff, 0x3f000000, 0x3f000001, 0x3f7fffff,
    0x3f800000, 0x3f800001, 0x3fc00000, 0x40000000, 0x40400000, 0x40490fdb, 0x4b000001,
    0x4b7fffff, 0x4f000000, 0x5f000000, 0x7e800000, 0x7effffff, 0x7f000000, 0x7f000001,
    0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff};
static const uint64_t edges64[] = {
    0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x0000000000000003,
    0x0008000000000000, 0x000ffffffffffffe, 0x000fffffffffffff, 0x0010000000000000,
    0x0010000000000001, 0x001fffffffffffff, 0x0020000000000000, 0x3690000000000000,
    0x36a0000000000000, 0x3810000000000000, 0x3ca0000000000000, 0x3cb0000000000000,
    0x3fdfffffffffffff, 0x3fe0000000000000, 0x3fe0000000000001, 0x3fefffffffffffff,
    0x3ff0000000000000, 0x3ff0000000000001, 0x3ff8000000000000, 0x4008000000000000,
    0x433fffffffffffff, 0x4340000000000000, 0x43e0000000000000, 0x7fd0000000000000,
    0x7fe0000000000001, 0x7feffffffffffffe, 0x7fefffffffffffff, 0x7ff0000000000000,
    0x7ff0000000000001, 0x7ff8000000000000, 0x7ff8000000001234, 0x7fffffffffffffff};

/* An edge of either sign, or random bits, or random bits with an exponent near 1. */
static float pick32(uint64_t *s)
{
    uint64_t r = rng_next(s);
    uint32_t b = (uint32_t)(r >> 32);
    switch (r & 3) {
    case 0: return fp_float32(edges32[b % COUNT(edges32)] | (uint32_t)(r & 4) << 29);
    case 1: return fp_float32(b);
    default: return fp_float32((b & 0x807fffffu) | (uint32_t)(120 + (r >> 3) % 16) << 23);
    }
}

static double pick64(uint64_t *s)
{
    uint64_t r = rng_next(s), b = rng_next(s);
    switch (r & 3) {
    case 0: return fp_float64(edges64[b % COUNT(edges64)] | r >> 2 << 63);
    case 1: return fp_float64(b);
    default: return fp_float64((b & 0x800fffffffffffffu) | (uint64_t)(990 + (r >> 3) % 64) << 52);
    }
}

/* ---- f32 and f64 against the host -------------------------------------------------------------- */

enum op { ADD, SUB, MUL, FMA, DIV, RCP, SQRT, OPS };
static const char *const op_name[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt"};

static void host_rounds(enum fp_rnd rnd)
{
    static const int mode[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    fesetround(mode[rnd]);
}

static float host32(enum op op, float x, float y, float z, enum fp_rnd rnd)
{
    volatile float a = x, b = y, c = z, r = 0;
    host_rounds(rnd);
    switch (op) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case FMA: r = fmaf(a, b, c); break;
    case DIV: r = a / b; break;
    case RCP: r = 1.0f / a; break;
    default: r = sqrtf(a); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static float ours32(enum op op, float a, float b, float c, enum fp_rnd rnd)
{
    switch (op) {
    case ADD: return fp_add32(a, b, rnd);
    case SUB: return fp_sub32(a, b, rnd);
    case MUL: return fp_mul32(a, b, rnd);
    case FMA: return fp_fma32(a, b, c, rnd);
    case DIV: return fp_div32(a, b, rnd);
    case RCP: return fp_rcp32(a, rnd);
    default: return fp_sqrt32(a, rnd);
    }
}

static double host64(enum op op, double x, double y, double z, enum fp_rnd rnd)
{
    volatile double a = x, b = y, c = z, r = 0;
    host_rounds(rnd);
    switch (op) {
    case ADD: r = a + b; break;
    case SUB: r = a - b; break;
    case MUL: r = a * b; break;
    case FMA: r = fma(a, b, c); break;
    case DIV: r = a / b; break;
    case RCP: r = 1.0 / a; break;
    default: r = sqrt(a); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static double ours64(enum op op, double a, double b, double c, enum fp_rnd rnd)
{
    switch (op) {
    case ADD: return fp_add64(a, b, rnd);
    case SUB: return fp_sub64(a, b, rnd);
    case MUL: return fp_mul64(a, b, rnd);
    case FMA: return fp_fma64(a, b, c, rnd);
    case DIV: return fp_div64(a, b, rnd);
    case RCP: return fp_rcp64(a, rnd);
    default: return fp_sqrt64(a, rnd);
    }
}

static void check32(enum op op, float a, float b, float c)
{
    for (size_t i = 0; i < COUNT(directions); i++) {
        float want = host32(op, a, b, c, directions[i]);
        SAME(fp_bits32(ours32(op, a, b, c, directions[i])),
             isnan(want) ? FP_NAN32 : fp_bits32(want), "%s.%s.f32 %a %a %a", op_name[op],
             direction_name[directions[i]], a, b, c);
    }
}

static void check64(enum op op, double a, double b, double c)
{
    for (size_t i = 0; i < COUNT(directions); i++) {
        uint64_t want = fp_bits64(host64(op, a, b, c, directions[i]));
        if (isnan(fp_float64(want))) {
            want = FP_NAN64;
            if (op == FMA && isnan(c)) want = fp_bits64(c) | (uint64_t)1 << 51;
            if (op != RCP && op != SQRT && isnan(b)) want = fp_bits64(b) | (uint64_t)1 << 51;
            if (isnan(a)) want = fp_bits64(a) | (uint64_t)1 << 51;
        }
        SAME(fp_bits64(ours64(op, a, b, c, directions[i])), want, "%s.%s.f64 %a %a %a", op_name[op],
             direction_name[directions[i]], a, b, c);
    }
}

Test(fp, f32_rounds_as_the_host)
{
    for (enum op op = 0; op < OPS; op++)
        for (size_t i = 0; i < 4 * COUNT(edges32) * COUNT(edges32); i++) {
            size_t j = i / 4;
            uint32_t a = edges32[j % COUNT(edges32)], b = edges32[j / COUNT(edges32)];
            a |= (uint32_t)(i & 1) << 31, b |= (uint32_t)(i & 2) << 30;
            check32(op, fp_float32(a), fp_float32(b), fp_float32(edges32[i % COUNT(edges32)]));
            check32(op, fp_float32(a), 1.0f, fp_float32(b));
        }
    uint64_t s = 1;
    for (enum op op = 0; op < OPS; op++)
        for (int i = 0; i < 200000; i++) {
            float a = pick32(&s), b = pick32(&s), c = pick32(&s);
            if (op == FMA && i % 4 == 0) c = -a * b; /* cancels all but the rounding error */
            if (op == SQRT) a = fabsf(a);
            check32(op, a, b, c);
        }
}

Test(fp, f64_rounds_as_the_host)
{
    for (enum op op = 0; op < OPS; op++)
        for (size_t i = 0; i < 4 * COUNT(edges64) * COUNT(edges64); i++) {
            size_t j = i / 4;
            uint64_t a = edges64[j % COUNT(edges64)], b = edges64[j / COUNT(edges64)];
            a |= (uint64_t)(i & 1) << 63, b |= (uint64_t)(i & 2) << 62;
            check64(op, fp_float64(a), fp_float64(b), fp_float64(edges64[i % COUNT(edges64)]));
            check64(op, fp_float64(a), 1.0, fp_float64(b));
        }
    uint64_t s = 2;
    for (enum op op = 0; op < OPS; op++)
        for (int i = 0; i < 200000; i++) {
            double a = pick64(&s), b = pick64(&s), c = pick64(&s);
            if (op == FMA && i % 4 == 0) c = -a * b;
            if (op == FMA && i % 4 == 1) c = ldexp(c, (int)(rng_next(&s) % 240) - 120);
            if (op == SQRT) a = fabs(a);
            check64(op, a, b, c);
        }
}

Test(fp, nans_of_f64_keep_the_first_payload)
{
    double n1 = fp_float64(0x7ff0000000000001), n2 = fp_float64(0xfff8000000000002);
    SAME(fp_bits64(fp_add64(n1, n2, FP_RN)), 0x7ff8000000000001, "add n1 n2");
    SAME(fp_bits64(fp_add64(1.0, n2, FP_RZ)), 0xfff8000000000002, "add 1 n2");
    SAME(fp_bits64(fp_sub64(1.0, n2, FP_RM)), 0xfff8000000000002, "sub 1 n2");
    SAME(fp_bits64(fp_fma64(0.0, INFINITY, n1, FP_RN)), 0x7ff8000000000001, "fma 0 inf n1");
    SAME(fp_bits64(fp_add64(INFINITY, -INFINITY, FP_RN)), FP_NAN64, "inf - inf");
    SAME(fp_bits64(fp_sqrt64(-1.0, FP_RP)), FP_NAN64, "sqrt -1");
    SAME(fp_bits64(fp_min64(n1, n2)), 0x7ff8000000000001, "min n1 n2");
    SAME(fp_bits64(fp_abs64(n2)), 0xfff8000000000002, "abs n2");
    SAME(fp_bits64(fp_neg64(n2)), 0x7ff8000000000002, "neg n2");
    SAME(fp_bits64(fp_rint64(n1, FP_RN)), 0x7ff8000000000001, "cvt.rni n1");
    SAME(fp_bits64(fp_f64_from_f32(fp_float32(0xff800001))), 0xfff8000020000000, "cvt.f64.f32");
    SAME(fp_bits64(fp_f64_from_f16(0xfc01)), 0x7fffffffe0000000, "cvt.f64.f16");
    SAME(fp_bits64(fp_f64_from_bf16(0xff81)), 0x7fffffffe0000000, "cvt.f64.bf16");
    SAME(fp_bits32(fp_f32_from_f64(n2, FP_RM)), FP_NAN32, "cvt.f32.f64");
}

/* ---- the reference for formats: long double ---------------------------------------------------- */

struct shape {
    int p, emin, emax; /* bits of precision, exponents of normal numbers */
};
static const struct shape f32 = {24, -126, 127}, f64 = {53, -1022, 1023}, f16 = {11, -14, 15},
                          bf16 = {8, -126, 127}, tf32 = {11, -126, 127};

static long double greatest(struct shape f)
{
    return ldexpl(2.0L - ldexpl(1.0L, 1 - f.p), f.emax);
}

/* x, which long double holds exactly, as IEEE 754 rounds it. */
static long double rounded(long double x, struct shape f, enum fp_rnd rnd)
{
    if (x == 0 || isinf(x) || isnan(x)) return x;
    int e = ilogbl(x);
    long double unit = ldexpl(1.0L, (e < f.emin ? f.emin : e) - (f.p - 1));
    long double n = x / unit, below = floorl(n), d = n - below, r = below;
    switch (rnd) {
    case FP_RN: r = d > 0.5L || (d == 0.5L && fmodl(below, 2.0L) != 0) ? below + 1 : below; break;
    case FP_RNA: r = d > 0.5L || (d == 0.5L && x > 0) ? below + 1 : below; break;
    case FP_RZ: r = truncl(n); break;
    case FP_RM: break;
    case FP_RP: r = ceill(n); break;
    }
    r = copysignl(r * unit, x);
    if (fabsl(r) <= greatest(f)) return r;
    bool infinite = rnd == FP_RN || rnd == FP_RNA || rnd == (x > 0 ? FP_RP : FP_RM);
    return copysignl(infinite ? INFINITY : greatest(f), x);
}

/* The value of a format's code. */
static long double value(uint32_t v, int exponent, int fraction, int bias)
{
    long double sign = v >> (exponent + fraction) & 1 ? -1.0L : 1.0L;
    int e = (int)(v >> fraction & ((1u << exponent) - 1));
    long double m = v & ((1u << fraction) - 1);
    return sign * (e ? ldexpl(m + ldexpl(1, fraction), e - bias - fraction)
                     : ldexpl(m, 1 - bias - fraction));
}

static long double value_f16(uint32_t h)
{
    return (h & 0x7fff) == 0x7c00 ? (h & 0x8000 ? -INFINITY : INFINITY) : value(h, 5, 10, 15);
}

static uint16_t code_f16(long double x)
{
    return (uint16_t)(isnan(x)
                          ? 0x7fff
                          : (signbit(x) ? 0x8000 : 0) |
                                (isinf(x)              ? 0x7c00
                                 : fabsl(x) < 0x1p-14L ? (int)ldexpl(fabsl(x), 24)
                                                       : (int)ldexpl(fabsl(x), 10 - ilogbl(x)) -
                                                             1024 + ((ilogbl(x) + 15) << 10)));
}

static uint16_t code_bf16(long double x)
{
    return isnan(x) ? 0x7fff : (uint16_t)(fp_bits32((float)x) >> 16);
}

Test(fp, every_half_decodes_and_encodes)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        bool nan = (h & 0x7fff) > 0x7c00;
        float want = nan ? NAN : (float)value_f16(h);
        SAME(fp_bits32(fp_f32_from_f16((uint16_t)h)), nan ? FP_NAN32 : fp_bits32(want), "f16 %x",
             h);
        for (size_t i = 0; i < COUNT(directions); i++)
            SAME(fp_f16_from_f32(want, directions[i]), nan ? 0x7fff : h, "%x", h);
        nan = (h & 0x7fff) > 0x7f80;
        want = fp_float32(h << 16);
        SAME(fp_bits32(fp_f32_from_bf16((uint16_t)h)), nan ? FP_NAN32 : fp_bits32(want), "%x", h);
        for (size_t i = 0; i < COUNT(directions); i++)
            SAME(fp_bf16_from_f32(want, directions[i]), nan ? 0x7fff : h, "bf16 %x", h);
    }
}

/* Conversions of x, of which d is the exact double and f a float, if there is one. */
static void check_conversions(double x)
{
    for (size_t i = 0; i < COUNT(directions); i++) {
        enum fp_rnd rnd = directions[i];
        const char *name = direction_name[rnd];
        SAME(fp_f16_from_f64(x, rnd), code_f16(rounded(x, f16, rnd)), "f16.%s.f64 %a", name, x);
        SAME(fp_bf16_from_f64(x, rnd), code_bf16(rounded(x, bf16, rnd)), "bf16.%s.f64 %a", name, x);
        float f = (float)rounded(x, f32, rnd);
        SAME(fp_bits32(fp_f32_from_f64(x, rnd)), isnan(f) ? FP_NAN32 : fp_bits32(f),
             "f32.%s.f64 %a", name, x);
        if ((double)(float)x != x && !isnan(x)) continue;
        f = (float)x;
        SAME(fp_f16_from_f32(f, rnd), code_f16(rounded(x, f16, rnd)), "f16.%s.f32 %a", name, x);
        SAME(fp_bf16_from_f32(f, rnd), code_bf16(rounded(x, bf16, rnd)), "bf16.%s.f32 %a", name, x);
    }
    static const enum fp_rnd tf32_rounds[] = {FP_RN, FP_RZ, FP_RNA};
    float f = (float)x;
    for (size_t i = 0; i < COUNT(tf32_rounds); i++) {
        float want = (float)rounded(f, tf32, tf32_rounds[i]);
        uint32_t got = fp_tf32_from_f32(f, tf32_rounds[i]);
        SAME(got, isnan(f) ? FP_NAN32 : fp_bits32(want), "tf32.%s %a", direction_name[i], x);
        float most = copysignf(0x1.ffcp127f, f);
        SAME(fp_satfinite_tf32(got), isinf(want) ? fp_bits32(most) : got, "tf32 satfinite %a", x);
    }
}

Test(fp, conversions_round_once)
{
    for (size_t i = 0; i < COUNT(edges64); i++) {
        check_conversions(fp_float64(edges64[i]));
        check_conversions(-fp_float64(edges64[i]));
    }
    /* every f16 and bf16, the middles above them, and what lies right beside both */
    for (uint32_t h = 0; h < 0x10000; h += SANITIZED ? 7 : 1) {
        if ((h & 0x7fff) < 0x7c00) {
            double x = (double)value_f16(h), next = (double)value_f16(h + 1);
            if ((h & 0x7fff) == 0x7bff) next = copysign(65536.0, x);
            double points[] = {x, (x + next) / 2};
            for (size_t i = 0; i < COUNT(points); i++) {
                check_conversions(points[i]);
                check_conversions((double)nextafterf((float)points[i], INFINITY));
                check_conversions((double)nextafterf((float)points[i], -INFINITY));
                check_conversions(nextafter(points[i], INFINITY));
                check_conversions(nextafter(points[i], -INFINITY));
            }
        }
        if (h % 5 == 0 && (h & 0x7fff) < 0x7f80) {
            check_conversions(fp_float32(h << 16));
            check_conversions(fp_float32(h << 16 | 0x8000));
            check_conversions(fp_float32(h << 16 | 0x8001));
            check_conversions(fp_float32(h << 16 | 0x7fff));
            check_conversions(nextafter(fp_float32(h << 16 | 0x8000), 0));
        }
    }
    uint64_t s = 3;
    for (int i = 0; i < 100000; i++) {
        check_conversions(pick64(&s));
        check_conversions(pick32(&s));
        check_conversions(ldexp(pick64(&s), -1060)); /* among the subnormals of f32 and f64 */
    }
}

Test(fp, satfinite_is_the_greatest_number)
{
    SAME(fp_satfinite_f16(0x7c00), 0x7bff, "f16 inf");
    SAME(fp_satfinite_f16(0xfc00), 0xfbff, "f16 -inf");
    SAME(fp_satfinite_f16(0x7fff), 0x7fff, "f16 nan");
    SAME(fp_satfinite_f16(0x7bff), 0x7bff, "f16 max");
    SAME(fp_satfinite_bf16(0x7f80), 0x7f7f, "bf16 inf");
    SAME(fp_satfinite_bf16(0xff80), 0xff7f, "bf16 -inf");
    SAME(fp_satfinite_bf16(0x7fff), 0x7fff, "bf16 nan");
    SAME(fp_satfinite_tf32(FP_NAN32), FP_NAN32, "tf32 nan");
}

/* ---- small formats ----------------------------------------------------------------------------- */

struct small {
    const char *name;
    int exponent, fraction, bias;
    uint8_t max, nan;
    float (*decode)(uint8_t);
    uint8_t (*encode)(float, bool);
    uint8_t (*stochastic)(float, uint32_t, bool);
};
#define FUNCTIONS(name) fp_f32_from_##name, fp_##name##_from_f32, fp_##name##_from_f32_rs
static const struct small smalls[] = {
    {"e4m3", 4, 3, 7, 0x7e, 0x7f, FUNCTIONS(e4m3)}, {"e5m2", 5, 2, 15, 0x7b, 0x7f, FUNCTIONS(e5m2)},
    {"e2m3", 2, 3, 1, 0x1f, 0x1f, FUNCTIONS(e2m3)}, {"e3m2", 3, 2, 3, 0x1f, 0x1f, FUNCTIONS(e3m2)},
    {"e2m1", 2, 1, 1, 0x07, 0x07, FUNCTIONS(e2m1)},
};

/* The nearest code by trying all: of two as near, the even one. */
static uint8_t nearest(const struct small *f, float x)
{
    if (isnan(x)) return f->nan;
    unsigned best = 0;
    long double least = INFINITY;
    for (unsigned m = 0; m <= f->max; m++) {
        long double d = fabsl(value(m, f->exponent, f->fraction, f->bias) - fabsl((long double)x));
        if (d < least || (d == least && m % 2 == 0)) least = d, best = m;
    }
    if (fabsf(x) > value(f->max, f->exponent, f->fraction, f->bias)) best = f->max;
    return (uint8_t)(best | (signbit(x) ? 1u << (f->exponent + f->fraction) : 0));
}

static uint8_t relu(const struct small *f, uint8_t v)
{
    return v != f->nan && v >> (f->exponent + f->fraction) & 1 ? 0 : v;
}

Test(fp, small_formats_are_exact_and_nearest)
{
    for (size_t k = 0; k < COUNT(smalls); k++) {
        const struct small *f = &smalls[k];
        unsigned sign = 1u << (f->exponent + f->fraction);
        for (unsigned v = 0; v < 2 * sign; v++) {
            float x = f->decode((uint8_t)v);
            if ((v & (sign - 1)) > f->max) {
                float want = k == 1 && (v & 0x7f) == 0x7c ? v & 0x80 ? -INFINITY : INFINITY : NAN;
                SAME(fp_bits32(x), isnan(want) ? FP_NAN32 : fp_bits32(want), "%s %x", f->name, v);
                continue;
            }
            float want = (float)value(v, f->exponent, f->fraction, f->bias);
            SAME(fp_bits32(x), fp_bits32(want), "%s %x", f->name, v);
            float next = (float)value((v & (sign - 1)) + 1, f->exponent, f->fraction, f->bias);
            float mid = (fabsf(x) + next) / 2 * (v & sign ? -1.0f : 1.0f);
            float points[] = {x, mid, nextafterf(mid, 0), nextafterf(mid, 1e9f), nextafterf(x, 0)};
            for (size_t i = 0; i < COUNT(points); i++)
                SAME(f->encode(points[i], false), nearest(f, points[i]), "%s %a", f->name,
                     points[i]);
        }
        uint64_t s = 4;
        for (int i = 0; i < 20000; i++) {
            float x = pick32(&s);
            SAME(f->encode(x, false), nearest(f, x), "%s %a", f->name, x);
            SAME(f->encode(x, true), relu(f, nearest(f, x)), "%s relu %a", f->name, x);
        }
    }
}

Test(fp, ue8m0)
{
    for (unsigned v = 0; v < 255; v++) {
        float x = fp_f32_from_ue8m0((uint8_t)v);
        SAME(fp_bits32(x), fp_bits32(ldexpf(1.0f, (int)v - 127)), "%x", v);
        SAME(fp_ue8m0_from_f32(x, FP_RZ, true), v, "rz %x", v);
        SAME(fp_ue8m0_from_f32(-x, FP_RP, true), v, "rp %x", v);
        float up = nextafterf(x, INFINITY), down = nextafterf(x, 0);
        SAME(fp_ue8m0_from_f32(up, FP_RZ, true), v, "rz up %x", v);
        SAME(fp_ue8m0_from_f32(up, FP_RP, true), v < 254 ? v + 1 : 254, "rp up %x", v);
        SAME(fp_ue8m0_from_f32(up, FP_RP, false), v + 1, "rp up %x", v);
        SAME(fp_ue8m0_from_f32(down, FP_RZ, true), v ? v - 1 : 0, "rz down %x", v);
        SAME(fp_ue8m0_from_f32(down, FP_RP, true), v, "rp down %x", v);
    }
    SAME(fp_bits32(fp_f32_from_ue8m0(255)), FP_NAN32, "255");
    SAME(fp_ue8m0_from_f32(NAN, FP_RZ, true), 255, "nan");
    SAME(fp_ue8m0_from_f32(0.0f, FP_RP, true), 0, "0");
    SAME(fp_ue8m0_from_f32(INFINITY, FP_RZ, true), 254, "inf satfinite");
    SAME(fp_ue8m0_from_f32(INFINITY, FP_RP, false), 255, "inf");
}

/* A stochastic conversion goes away from zero for as many of all random bits as the bits that fall
 * off say, and then for the greater ones. */
Test(fp, stochastic_rounding_carries)
{
    uint64_t s = 5;
    for (size_t k = 0; k < COUNT(smalls); k++)
        for (int i = 0; i < 200000; i++) {
            const struct small *f = &smalls[k];
            uint32_t random = (uint32_t)rng_next(&s);
            float x = pick32(&s);
            if (isnan(x) || fabsf(x) > f->decode(f->max)) {
                SAME(f->stochastic(x, random, false), nearest(f, x), "%s %a", f->name, x);
                continue;
            }
            unsigned m = 0; /* the code below |x| */
            while (m < f->max && f->decode((uint8_t)(m + 1)) <= fabsf(x)) m++;
            long double low = value(m, f->exponent, f->fraction, f->bias);
            long double high = value(m + 1, f->exponent, f->fraction, f->bias);
            long double fell = floorl((fabsl((long double)x) - low) / (high - low) * 65536.0L);
            if (fell + (random & 0xffff) >= 65536.0L && m < f->max) m++;
            uint8_t want = (uint8_t)(m | (signbit(x) ? 1u << (f->exponent + f->fraction) : 0));
            SAME(f->stochastic(x, random, false), want, "%s %a %x", f->name, x, random);
            SAME(f->stochastic(x, random, true), relu(f, want), "%s relu %a", f->name, x);
        }
    for (int i = 0; i < 200000; i++) {
        uint32_t random = (uint32_t)rng_next(&s);
        float x = pick32(&s), m = fabsf(x);
        uint32_t b = fp_bits32(m) + (random & 0xffff);
        uint16_t sign = signbit(x) ? 0x8000 : 0;
        uint16_t want = isnan(x) ? 0x7fff : isinf(x) ? 0x7f80 | sign : (uint16_t)(b >> 16 | sign);
        SAME(fp_bf16_from_f32_rs(x, random), want, "bf16 %a %x", x, random);
        if (!(m >= 0x1p-14f && m < 65504.0f)) continue;
        b = fp_bits32(m) + (random & 0x1fff);
        SAME(fp_f16_from_f32_rs(x, random), ((b >> 13) - (112u << 10)) | sign, "f16 %a %x", x,
             random);
    }
    SAME(fp_f16_from_f32_rs(0x1.8p-25f, 0x0800), 1,
         "three quarters of the smallest f16, a quarter");
    SAME(fp_f16_from_f32_rs(0x1.8p-25f, 0x07ff), 0, "and just below");
    SAME(fp_f16_from_f32_rs(1e6f, 0), 0x7c00, "f16 overflow");
    SAME(fp_rs_bits8(0x12345678, 0), 0x5678, "f");
    SAME(fp_rs_bits8(0x12345678, 1), 0x1e6a, "e");
    SAME(fp_rs_bits8(0x12345678, 2), 0x1234, "b");
    SAME(fp_rs_bits8(0x12345678, 3), 0x2c48, "a");
    SAME(fp_rs_bits4(0x12345678, 0), 0x3478, "f");
    SAME(fp_rs_bits4(0x12345678, 1), 0x1e2c, "e");
    SAME(fp_rs_bits4(0x12345678, 2), 0x1256, "b");
    SAME(fp_rs_bits4(0x12345678, 3), 0x6a48, "a");
}

/* ---- integers ---------------------------------------------------------------------------------- */

static long double integral(long double x, enum fp_rnd rnd)
{
    long double f = floorl(x), d = x - f, r = f;
    if (rnd == FP_RN) r = d > 0.5L || (d == 0.5L && fmodl(f, 2.0L) != 0) ? f + 1 : f;
    if (rnd == FP_RZ) r = truncl(x);
    if (rnd == FP_RP) r = ceill(x);
    return copysignl(r, x);
}

static uint64_t clamped(long double x, unsigned width, bool is_signed, bool wide)
{
    uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    if (isnan(x)) return wide || width == 64 ? (uint64_t)1 << (width - 1) : 0;
    long double low = is_signed ? -ldexpl(1, (int)width - 1) : 0;
    long double high = ldexpl(1, (int)width - is_signed) - 1;
    x = x < low ? low : x > high ? high : x;
    return (x < 0 ? 0 - (uint64_t)-x : (uint64_t)x) & mask;
}

static void check_integers(double x)
{
    for (size_t i = 0; i < COUNT(directions); i++) {
        enum fp_rnd r = directions[i];
        long double n = integral(x, r);
        const char *name = direction_name[r];
        SAME((uint8_t)fp_u8_from_f64(x, r), clamped(n, 8, false, true), "u8.%s.f64 %a", name, x);
        SAME((uint8_t)fp_s8_from_f64(x, r), clamped(n, 8, true, true), "s8.%s.f64 %a", name, x);
        SAME((uint16_t)fp_u16_from_f64(x, r), clamped(n, 16, false, true), "u16.%s.f64 %a", name,
             x);
        SAME((uint16_t)fp_s16_from_f64(x, r), clamped(n, 16, true, true), "s16.%s.f64 %a", name, x);
        SAME((uint32_t)fp_u32_from_f64(x, r), clamped(n, 32, false, true), "u32.%s.f64 %a", name,
             x);
        SAME((uint32_t)fp_s32_from_f64(x, r), clamped(n, 32, true, true), "s32.%s.f64 %a", name, x);
        SAME(fp_u64_from_f64(x, r), clamped(n, 64, false, true), "u64.%s.f64 %a", name, x);
        SAME((uint64_t)fp_s64_from_f64(x, r), clamped(n, 64, true, true), "s64.%s.f64 %a", name, x);
        if (!isnan(x))
            SAME(fp_bits64(fp_rint64(x, r)), fp_bits64((double)n), "f64.%s.f64 %a", name, x);
        float f = (float)x;
        n = integral(f, r);
        SAME((uint8_t)fp_u8_from_f32(f, r), clamped(n, 8, false, false), "u8.%s.f32 %a", name, f);
        SAME((uint8_t)fp_s8_from_f32(f, r), clamped(n, 8, true, false), "s8.%s.f32 %a", name, f);
        SAME((uint16_t)fp_u16_from_f32(f, r), clamped(n, 16, false, false), "u16.%s.f32 %a", name,
             f);
        SAME((uint16_t)fp_s16_from_f32(f, r), clamped(n, 16, true, false), "s16.%s.f32 %a", name,
             f);
        SAME((uint32_t)fp_u32_from_f32(f, r), clamped(n, 32, false, false), "u32.%s.f32 %a", name,
             f);
        SAME((uint32_t)fp_s32_from_f32(f, r), clamped(n, 32, true, false), "s32.%s.f32 %a", name,
             f);
        SAME(fp_u64_from_f32(f, r), clamped(n, 64, false, false), "u64.%s.f32 %a", name, f);
        SAME((uint64_t)fp_s64_from_f32(f, r), clamped(n, 64, true, false), "s64.%s.f32 %a", name,
             f);
        uint32_t want = isnan(f) ? FP_NAN32 : fp_bits32((float)n);
        SAME(fp_bits32(fp_rint32(f, r)), want, "f32.%s.f32 %a", name, f);
    }
}

Test(fp, floats_to_integers)
{
    for (size_t i = 0; i < COUNT(edges64); i++) {
        check_integers(fp_float64(edges64[i]));
        check_integers(-fp_float64(edges64[i]));
    }
    for (int bits = 0; bits <= 65; bits++)
        for (int half = -6; half <= 6; half++) {
            check_integers(ldexp(1, bits) + half * 0.5);
            check_integers(-ldexp(1, bits) + half * 0.5);
            check_integers(nextafter(ldexp(1, bits) + half * 0.5, 0));
            check_integers(nextafter(ldexp(1, bits) + half * 0.5, INFINITY));
        }
    uint64_t s = 6;
    for (int i = 0; i < 100000; i++) {
        check_integers(pick64(&s));
        check_integers(ldexp(pick32(&s), (int)(rng_next(&s) % 64)));
    }
    for (uint32_t h = 0; h < 0x10000; h++)
        for (size_t i = 0; i < COUNT(directions); i++) {
            enum fp_rnd rnd = directions[i];
            uint16_t want = code_f16(integral(fp_f32_from_f16((uint16_t)h), rnd));
            SAME(fp_rint_f16((uint16_t)h, rnd), want, "f16.%s %x", direction_name[i], h);
            want = code_bf16(integral(fp_f32_from_bf16((uint16_t)h), rnd));
            SAME(fp_rint_bf16((uint16_t)h, rnd), want, "bf16.%s %x", direction_name[i], h);
        }
}

static void check_from_integers(uint64_t u)
{
    int64_t n = (int64_t)u;
    int32_t n32 = (int32_t)(uint32_t)u;
    for (size_t i = 0; i < COUNT(directions); i++) {
        enum fp_rnd r = directions[i];
        SAME(fp_bits32(fp_f32_from_u64(u, r)), fp_bits32((float)rounded(u, f32, r)), "f32.u64 %lx",
             (long)u);
        SAME(fp_bits32(fp_f32_from_s64(n, r)), fp_bits32((float)rounded(n, f32, r)), "f32.s64 %lx",
             (long)u);
        SAME(fp_bits32(fp_f32_from_u32((uint32_t)u, r)),
             fp_bits32((float)rounded((uint32_t)u, f32, r)), "f32.u32 %lx", (long)u);
        SAME(fp_bits32(fp_f32_from_s32(n32, r)), fp_bits32((float)rounded(n32, f32, r)),
             "f32.s32 %lx", (long)u);
        SAME(fp_bits64(fp_f64_from_u64(u, r)), fp_bits64((double)rounded(u, f64, r)), "f64.u64 %lx",
             (long)u);
        SAME(fp_bits64(fp_f64_from_s64(n, r)), fp_bits64((double)rounded(n, f64, r)), "f64.s64 %lx",
             (long)u);
        SAME(fp_f16_from_u64(u, r), code_f16(rounded(u, f16, r)), "f16.u64 %lx", (long)u);
        SAME(fp_f16_from_s64(n, r), code_f16(rounded(n, f16, r)), "f16.s64 %lx", (long)u);
        SAME(fp_bf16_from_u64(u, r), code_bf16(rounded(u, bf16, r)), "bf16.u64 %lx", (long)u);
        SAME(fp_bf16_from_s64(n, r), code_bf16(rounded(n, bf16, r)), "bf16.s64 %lx", (long)u);
    }
}

Test(fp, integers_to_floats)
{
    for (unsigned a = 0; a < 64; a++)
        for (unsigned b = 0; b <= a; b++)
            for (uint64_t d = 0; d < 5; d++) {
                check_from_integers(((uint64_t)1 << a) + ((uint64_t)1 << b) + d - 2);
                check_from_integers(((uint64_t)1 << a) - ((uint64_t)1 << b) + d - 2);
            }
    uint64_t s = 7;
    for (int i = 0; i < 200000 / THINNED; i++) {
        uint64_t r = rng_next(&s);
        check_from_integers(r >> rng_next(&s) % 64);
        check_from_integers(0 - (r >> rng_next(&s) % 64));
    }
}

/* ---- f16 and bf16 ------------------------------------------------------------------------------ */

/* An exact sum of products of f16 or bf16: a fixed point number, its lowest bit 2^-320. */
enum { WORDS = 20 };
struct exact {
    uint32_t w[WORDS];
    bool neg;
};

static void exact_add(struct exact *e, uint64_t m, int place, bool neg) /* m < 2^24, m * 2^place */
{
    struct exact v = {.neg = neg};
    int at = place + 320;
    m <<= at % 32;
    v.w[at / 32] = (uint32_t)m, v.w[at / 32 + 1] = (uint32_t)(m >> 32);
    int order = 0;
    for (int i = WORDS - 1; i >= 0 && !order; i--) order = e->w[i] < v.w[i] ? -1 : e->w[i] > v.w[i];
    if (e->neg == neg) {
        uint64_t carry = 0;
        for (int i = 0; i < WORDS; i++) {
            carry += (uint64_t)e->w[i] + v.w[i];
            e->w[i] = (uint32_t)carry, carry >>= 32;
        }
    } else {
        const struct exact big = order < 0 ? v : *e, small = order < 0 ? *e : v;
        int64_t borrow = 0;
        for (int i = 0; i < WORDS; i++) {
            borrow += (int64_t)big.w[i] - (int64_t)small.w[i];
            e->w[i] = (uint32_t)borrow, borrow >>= 32;
        }
        e->neg = big.neg;
    }
}

/* As a long double in which one bit stands for all bits that do not fit: good for rounding to 32 bits and less. */
static long double exact_value(const struct exact *e)
{
    int top = WORDS - 1;
    while (top > 1 && !e->w[top]) top--;
    bool rest = false;
    for (int i = 0; i < top - 1; i++) rest = rest || e->w[i];
    long double v = ((long double)e->w[top] * 0x1p32L + (e->w[top - 1] | rest));
    return (e->neg ? -1 : 1) * ldexpl(v, (top - 1) * 32 - 320);
}

struct half {
    uint32_t inf;
    int fraction, bias;
};
static const struct half half_f16 = {0x7c00, 10, 15}, half_bf16 = {0x7f80, 7, 127};

static uint64_t significand(const struct half *f, uint32_t h, int *place)
{
    int e = (int)((h & 0x7fff) >> f->fraction);
    uint64_t m = h & ((1u << f->fraction) - 1);
    if (e) m |= (uint64_t)1 << f->fraction, e--;
    *place = e + 1 - f->bias - f->fraction;
    return m;
}

static long double half_value(const struct half *f, uint32_t h)
{
    return f == &half_f16 ? value_f16(h) : fp_float32(h << 16);
}

/* a * b + c rounded once. */
static uint16_t half_fma(const struct half *f, uint32_t a, uint32_t b, uint32_t c, enum fp_rnd rnd)
{
    uint32_t parts[] = {a & 0x7fff, b & 0x7fff, c & 0x7fff};
    bool finite = true;
    for (int i = 0; i < 3; i++) {
        if (parts[i] > f->inf) return 0x7fff;
        finite = finite && parts[i] < f->inf;
    }
    long double sum;
    if (finite) {
        int pa, pb, pc;
        uint64_t ma = significand(f, a, &pa), mb = significand(f, b, &pb);
        uint64_t mc = significand(f, c, &pc);
        struct exact e = {.neg = (a ^ b) >> 15 & 1};
        exact_add(&e, ma * mb, pa + pb, e.neg);
        exact_add(&e, mc, pc, c >> 15 & 1);
        sum = exact_value(&e);
        if (sum == 0) { /* exactly: the sign is a rule of its own */
            bool sp = (a ^ b) >> 15 & 1, sc = c >> 15 & 1;
            bool neg = sp == sc ? sp : rnd == FP_RM;
            return neg ? 0x8000 : 0;
        }
    } else {
        sum = half_value(f, a) * half_value(f, b) + half_value(f, c);
    }
    return f == &half_f16 ? code_f16(rounded(sum, f16, rnd)) : code_bf16(rounded(sum, bf16, rnd));
}

static uint16_t pick16(uint64_t *s, const struct half *f)
{
    uint64_t r = rng_next(s);
    uint16_t h = (uint16_t)(r >> 32), sign = (uint16_t)(r >> 16 & 0x8000);
    const uint16_t edges[] = {0,
                              1,
                              2,
                              (uint16_t)((1u << f->fraction) - 1),
                              (uint16_t)(1u << f->fraction),
                              (uint16_t)((unsigned)f->bias << f->fraction),
                              (uint16_t)(((unsigned)f->bias << f->fraction) + 1),
                              (uint16_t)(f->inf - 1),
                              (uint16_t)f->inf,
                              0x7fff};
    if ((r & 7) == 0) return edges[h % COUNT(edges)] | sign;
    if (r & 1) return h;
    unsigned e = (unsigned)f->bias - 8 + (unsigned)(r >> 3) % 16;
    return (uint16_t)(sign | e << f->fraction | (h & ((1u << f->fraction) - 1)));
}

static void check_half(uint16_t a, uint16_t b, uint16_t c)
{
    const struct half *f = &half_f16;
    const uint16_t one = 0x3c00, one_b = 0x3f80;
    SAME(fp_add_f16(a, b), half_fma(f, a, one, b, FP_RN), "add.f16 %x %x", a, b);
    SAME(fp_sub_f16(a, b), half_fma(f, b, one | 0x8000, a, FP_RN), "sub.f16 %x %x", a, b);
    SAME(fp_mul_f16(a, b), half_fma(f, a, b, (a ^ b) & 0x8000, FP_RN), "mul.f16 %x %x", a, b);
    SAME(fp_fma_f16(a, b, c), half_fma(f, a, b, c, FP_RN), "fma.f16 %x %x %x", a, b, c);
    f = &half_bf16;
    SAME(fp_add_bf16(a, b), half_fma(f, a, one_b, b, FP_RN), "add.bf16 %x %x", a, b);
    SAME(fp_sub_bf16(a, b), half_fma(f, b, one_b | 0x8000, a, FP_RN), "sub.bf16 %x %x", a, b);
    SAME(fp_mul_bf16(a, b), half_fma(f, a, b, (a ^ b) & 0x8000, FP_RN), "mul.bf16 %x %x", a, b);
    for (size_t i = 0; i < COUNT(directions); i++)
        SAME(fp_fma_bf16(a, b, c, directions[i]), half_fma(f, a, b, c, directions[i]),
             "fma.%s.bf16 %x %x %x", direction_name[i], a, b, c);
}

Test(fp, halves_round_once)
{
    uint64_t s = 8;
    for (int i = 0; i < 150000; i++) {
        const struct half *f = i & 1 ? &half_f16 : &half_bf16;
        uint16_t a = pick16(&s, f), b = pick16(&s, f), c = pick16(&s, f);
        if (i % 8 == 0) c = f == &half_f16 ? fp_mul_f16(a, b ^ 0x8000) : fp_mul_bf16(a, b ^ 0x8000);
        check_half(a, b, c);
    }
}

Test(fp, out_of_bounds_nan_is_seen)
{
    cr_expect(fp_oob16(0x7ff7, 0x3c00));
    cr_expect(fp_oob16(0x3c00, 0xfff7));
    cr_expect(!fp_oob16(0x7fff, 0x7ff6));
}

Test(fp, modifiers)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t v = (uint16_t)h;
        for (int k = 0; k < 2; k++) {
            const struct half *f = k ? &half_bf16 : &half_f16;
            long double x = half_value(f, h);
            bool nan = (h & 0x7fff) > f->inf, small = (h & 0x7fff) < 1u << f->fraction;
            uint16_t one = k ? 0x3f80 : 0x3c00;
            uint16_t ftz = small ? v & 0x8000 : v;
            SAME(k ? fp_ftz_bf16(v) : fp_ftz_f16(v), ftz, "ftz %x", h);
            uint16_t sat = nan || !(x > 0) ? 0 : x > 1 ? one : v;
            SAME(k ? fp_sat_bf16(v) : fp_sat_f16(v), sat, "sat %x", h);
            uint16_t pos = nan ? 0x7fff : x > 0 ? v : 0;
            SAME(k ? fp_relu_bf16(v) : fp_relu_f16(v), pos, "relu %x", h);
            SAME(k ? fp_abs_bf16(v) : fp_abs_f16(v), nan ? 0x7fff : h & 0x7fff, "abs %x", h);
            SAME(k ? fp_neg_bf16(v) : fp_neg_f16(v), nan ? 0x7fff : h ^ 0x8000, "neg %x", h);
            SAME(k ? fp_is_nan_bf16(v) : fp_is_nan_f16(v), nan, "nan %x", h);
        }
    }
    uint64_t s = 9;
    for (int i = 0; i < 100000; i++) {
        float x = pick32(&s);
        uint32_t b = fp_bits32(x), n = FP_NAN32;
        bool nan = isnan(x), small = fpclassify(x) == FP_SUBNORMAL;
        SAME(fp_bits32(fp_canon32(x)), nan ? n : b, "canon %a", x);
        SAME(fp_bits32(fp_ftz32(x)), small ? b & 0x80000000 : b, "ftz %a", x);
        SAME(fp_bits32(fp_sat32(x)), fp_bits32(x > 1 ? 1 : x > 0 ? x : 0), "sat %a", x);
        SAME(fp_bits32(fp_relu32(x)), nan ? n : x > 0 ? b : 0, "relu %a", x);
        SAME(fp_bits32(fp_abs32(x)), nan ? n : b & 0x7fffffff, "abs %a", x);
        SAME(fp_bits32(fp_neg32(x)), nan ? n : b ^ 0x80000000, "neg %a", x);
        SAME(fp_is_nan32(x), nan, "nan %a", x);
        SAME(fp_testp32(x, FP_IS_FINITE), isfinite(x) != 0, "finite %a", x);
        SAME(fp_testp32(x, FP_IS_INFINITE), isinf(x) != 0, "infinite %a", x);
        SAME(fp_testp32(x, FP_IS_NUMBER), !nan, "number %a", x);
        SAME(fp_testp32(x, FP_IS_NOTANUMBER), nan, "notanumber %a", x);
        SAME(fp_testp32(x, FP_IS_NORMAL), isnormal(x) || x == 0, "normal %a", x);
        SAME(fp_testp32(x, FP_IS_SUBNORMAL), small, "subnormal %a", x);
        float y = pick32(&s);
        SAME(fp_bits32(fp_copysign32(x, y)), fp_bits32(copysignf(y, x)), "copysign %a %a", x, y);
        double d = pick64(&s), e = pick64(&s);
        uint64_t c = fp_bits64(d);
        nan = isnan(d), small = fpclassify(d) == FP_SUBNORMAL;
        SAME(fp_bits64(fp_sat64(d)), fp_bits64(d > 1 ? 1 : d > 0 ? d : 0), "sat %a", d);
        SAME(fp_bits64(fp_abs64(d)), nan ? c : c & INT64_MAX, "abs %a", d);
        SAME(fp_bits64(fp_neg64(d)), c ^ (uint64_t)1 << 63, "neg %a", d);
        SAME(fp_is_nan64(d), nan, "nan %a", d);
        SAME(fp_testp64(d, FP_IS_FINITE), isfinite(d) != 0, "finite %a", d);
        SAME(fp_testp64(d, FP_IS_INFINITE), isinf(d) != 0, "infinite %a", d);
        SAME(fp_testp64(d, FP_IS_NUMBER), !nan, "number %a", d);
        SAME(fp_testp64(d, FP_IS_NOTANUMBER), nan, "notanumber %a", d);
        SAME(fp_testp64(d, FP_IS_NORMAL), isnormal(d) || d == 0, "normal %a", d);
        SAME(fp_testp64(d, FP_IS_SUBNORMAL), small, "subnormal %a", d);
        SAME(fp_bits64(fp_copysign64(d, e)), fp_bits64(copysign(e, d)), "copysign %a %a", d, e);
    }
}

/* ---- min, max, compare ------------------------------------------------------------------------- */

/* The semantics of 9.7.3.11 min, 9.7.3.12 max, as the ISA writes them, and -0 < +0. */
static float isa_least(float a, float b, bool max, bool nan, bool xorsign)
{
    bool sign = signbit(a) != signbit(b);
    float d;
    if (xorsign) a = fabsf(a), b = fabsf(b);
    if (isnan(a) && isnan(b)) return fp_float32(FP_NAN32);
    if (nan && (isnan(a) || isnan(b))) return fp_float32(FP_NAN32);
    if (isnan(a)) d = b;
    else if (isnan(b)) d = a;
    else if (a == 0 && b == 0) d = (signbit(a) != 0) == !max ? a : b;
    else d = max ? (a > b ? a : b) : (a < b ? a : b);
    return xorsign ? copysignf(d, sign ? -1.0f : 1.0f) : d;
}

static uint16_t isa_least16(uint16_t a, uint16_t b, int which, const struct half *f)
{
    float x = f == &half_f16 ? fp_f32_from_f16(a) : fp_f32_from_bf16(a);
    float y = f == &half_f16 ? fp_f32_from_f16(b) : fp_f32_from_bf16(b);
    /* the sign of a NaN counts in .xorsign, and decoding loses it */
    float d = isa_least(copysignf(x, a & 0x8000 ? -1 : 1), copysignf(y, b & 0x8000 ? -1 : 1),
                        which & 1, which & 2, which & 4);
    return f == &half_f16 ? code_f16(d) : code_bf16(d);
}

Test(fp, min_and_max)
{
    static float (*const f32s[])(float, float) = {
        fp_min32,         fp_max32,         fp_min_nan32,         fp_max_nan32,
        fp_min_xorsign32, fp_max_xorsign32, fp_min_nan_xorsign32, fp_max_nan_xorsign32};
    static uint16_t (*const f16s[])(uint16_t, uint16_t) = {
        fp_min_f16,         fp_max_f16,         fp_min_nan_f16,         fp_max_nan_f16,
        fp_min_xorsign_f16, fp_max_xorsign_f16, fp_min_nan_xorsign_f16, fp_max_nan_xorsign_f16};
    static uint16_t (*const bf16s[])(uint16_t, uint16_t) = {
        fp_min_bf16,         fp_max_bf16,         fp_min_nan_bf16,         fp_max_nan_bf16,
        fp_min_xorsign_bf16, fp_max_xorsign_bf16, fp_min_nan_xorsign_bf16, fp_max_nan_xorsign_bf16};
    uint64_t s = 10;
    for (int i = 0; i < 200000; i++) {
        float a = pick32(&s), b = i % 8 ? pick32(&s) : -a;
        if (i % 16 == 1) a = 0.0f, b = -0.0f;
        if (i % 16 == 2) a = -0.0f, b = 0.0f;
        uint16_t g = pick16(&s, &half_f16), h = i % 8 ? pick16(&s, &half_f16) : g ^ 0x8000;
        for (int k = 0; k < 8; k++) {
            SAME(fp_bits32(f32s[k](a, b)), fp_bits32(isa_least(a, b, k & 1, k & 2, k & 4)),
                 "min/max %d %a %a", k, a, b);
            SAME(f16s[k](g, h), isa_least16(g, h, k, &half_f16), "f16 %d %x %x", k, g, h);
            SAME(bf16s[k](g, h), isa_least16(g, h, k, &half_bf16), "bf16 %d %x %x", k, g, h);
        }
        double x = a, y = b;
        if (isnan(x) && isnan(y)) continue;
        SAME(fp_bits64(fp_min64(x, y)), fp_bits64(isa_least(a, b, false, false, false)), "min.f64");
        SAME(fp_bits64(fp_max64(x, y)), fp_bits64(isa_least(a, b, true, false, false)), "max.f64");
    }
}

Test(fp, comparisons)
{
    const double values[] = {-INFINITY, -1.0, -0.0, 0.0, 1.0, INFINITY, NAN};
    for (size_t i = 0; i < COUNT(values); i++)
        for (size_t j = 0; j < COUNT(values); j++) {
            double a = values[i], b = values[j];
            bool nan = isnan(a) || isnan(b);
            int order = nan || a == b ? 0 : a < b ? -1 : 1;
            const bool numbers[] = {order == 0, order != 0, order<0, order <= 0, order> 0,
                                    order >= 0};
            for (int c = 0; c <= FP_CMP_NAN; c++) {
                bool want = c == FP_CMP_NUM   ? !nan
                            : c == FP_CMP_NAN ? nan
                            : nan             ? c >= FP_CMP_EQU
                                              : numbers[c % 6];
                SAME(fp_cmp64(a, b, (enum fp_cmp)c), want, "%d %a %a", c, a, b);
                SAME(fp_cmp32((float)a, (float)b, (enum fp_cmp)c), want, "%d %a %a", c, a, b);
            }
        }
}

/* ---- approximations ---------------------------------------------------------------------------- */

/* The tables of 9.7.3.13 to .22 and 9.7.4.9, .10; subnormals as without .ftz. */
struct special {
    const char *name;
    float (*f)(float);
    float minus_inf, minus_normal, minus_zero, zero, inf;
};

Test(fp, approximations_of_special_values)
{
    static const struct special table[] = {
        {"rcp", fp_rcp_approx32, -0.0f, -0.5f, -INFINITY, INFINITY, 0.0f},
        {"sqrt", fp_sqrt_approx32, NAN, NAN, -0.0f, 0.0f, INFINITY},
        {"rsqrt", fp_rsqrt_approx32, NAN, NAN, -INFINITY, INFINITY, 0.0f},
        {"sin", fp_sin_approx32, NAN, -0x1.d18f6ep-1f, -0.0f, 0.0f, NAN},
        {"cos", fp_cos_approx32, NAN, -0x1.aa2266p-2f, 1.0f, 1.0f, NAN},
        {"sin near", fp_sin_near32, NAN, -0x1.d18f6ep-1f, -0.0f, 0.0f, NAN},
        {"cos near", fp_cos_near32, NAN, -0x1.aa2266p-2f, 1.0f, 1.0f, NAN},
        {"lg2", fp_lg2_approx32, NAN, NAN, -INFINITY, -INFINITY, INFINITY},
        {"ex2", fp_ex2_approx32, 0.0f, 0.25f, 1.0f, 1.0f, INFINITY},
        {"tanh", fp_tanh_approx32, -1.0f, -0x1.ed9506p-1f, -0.0f, 0.0f, 1.0f},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        const struct special *t = &table[i];
        const float in[] = {-INFINITY, -2.0f, -0.0f, 0.0f, INFINITY, NAN};
        const float want[] = {t->minus_inf, t->minus_normal, t->minus_zero, t->zero, t->inf, NAN};
        for (size_t k = 0; k < COUNT(in); k++)
            SAME(fp_bits32(t->f(in[k])), fp_bits32(fp_canon32(want[k])), "%s %a", t->name, in[k]);
    }
    SAME(fp_tanh_approx_f16(0xfc00), 0xbc00, "tanh.f16 -inf");
    SAME(fp_tanh_approx_f16(0x8000), 0x8000, "tanh.f16 -0");
    SAME(fp_tanh_approx_f16(0x7c00), 0x3c00, "tanh.f16 inf");
    SAME(fp_tanh_approx_f16(0xfe00), 0x7fff, "tanh.f16 nan");
    SAME(fp_tanh_approx_bf16(0xff80), 0xbf80, "tanh.bf16 -inf");
    SAME(fp_tanh_approx_bf16(0x8000), 0x8000, "tanh.bf16 -0");
    SAME(fp_tanh_approx_bf16(0x7fc0), 0x7fff, "tanh.bf16 nan");
    SAME(fp_ex2_approx_f16(0xfc00), 0, "ex2.f16 -inf");
    SAME(fp_ex2_approx_f16(0x8000), 0x3c00, "ex2.f16 -0");
    SAME(fp_ex2_approx_f16(0x7c00), 0x7c00, "ex2.f16 inf");
    SAME(fp_ex2_approx_f16(0xfc01), 0x7fff, "ex2.f16 nan");
    SAME(fp_ex2_approx_bf16(0xff80), 0, "ex2.bf16 -inf");
    SAME(fp_ex2_approx_bf16(0x8000), 0x3f80, "ex2.bf16 -0");
    SAME(fp_ex2_approx_bf16(0x7f80), 0x7f80, "ex2.bf16 inf");
    SAME(fp_ex2_approx_bf16(0x7f81), 0x7fff, "ex2.bf16 nan");
    /* 9.7.3.8 div */
    SAME(fp_bits32(fp_div_approx32(INFINITY, 0x1.8p126f)), FP_NAN32, "inf / great");
    SAME(fp_bits32(fp_div_approx32(0x1p127f, -0x1.8p126f)), 0x80000000, "1 / great");
    SAME(fp_bits32(fp_div_approx32(0x1p126f, 0x1p126f)), 0x3f800000, "2^126 / 2^126");
    SAME(fp_bits32(fp_div_approx32(-1.0f, 0.0f)), 0xff800000, "-1 / 0");
    SAME(fp_bits32(fp_div_approx32(0.0f, 0.0f)), FP_NAN32, "0 / 0");
    SAME(fp_bits32(fp_div_approx32(INFINITY, -INFINITY)), FP_NAN32, "inf / inf");
    SAME(fp_bits32(fp_div_full32(0x1p127f, 0x1.8p126f)), 0x3faaaaab, "full");
    /* 9.7.3.14 and .17: upper words */
    static const struct {
        uint64_t in, rcp, rsqrt;
    } upper[] = {
        {0xfff0000000000000, 0x8000000000000000, 0x7fffffff00000000},
        {0x800fffffffffffff, 0xfff0000000000000, 0xfff0000000000000},
        {0x8000000000000000, 0xfff0000000000000, 0xfff0000000000000},
        {0x0000000000000000, 0x7ff0000000000000, 0x7ff0000000000000},
        {0x000fffffffffffff, 0x7ff0000000000000, 0x7ff0000000000000},
        {0x7ff0000000000000, 0x0000000000000000, 0x0000000000000000},
        {0xfff8000000000123, 0x7fffffff00000000, 0x7fffffff00000000},
        {0x4000000012345678, 0x3fe0000000000000, 0x3fe6a09e00000000},
        {0x4008000000000000, 0x3fd5555500000000, 0x3fe279a700000000},
        {0xc008000000000000, 0xbfd5555500000000, 0x7fffffff00000000},
        {0x7fd8000000000000, 0x0000000000000000, 0x1ffa20bd00000000}, /* 1/x is subnormal */
    };
    for (size_t i = 0; i < COUNT(upper); i++) {
        double x = fp_float64(upper[i].in);
        SAME(fp_bits64(fp_rcp_approx_ftz64(x)), upper[i].rcp, "rcp.ftz.f64 %a", x);
        SAME(fp_bits64(fp_rsqrt_approx_ftz64(x)), upper[i].rsqrt, "rsqrt.ftz.f64 %a", x);
    }
}

/* The distance of y from the exact want in units of y's last place. */
static long double ulps(float y, long double want)
{
    if (y == want || (isinf(y) && fabsl(want) >= 0x1.ffffffp127L)) return 0;
    int e = fabsl(want) < 0x1p-126L ? -126 : ilogbl(want);
    return fabsl((long double)y - want) / ldexpl(1, e - 23);
}

static long double ref_ex2(long double x)
{
    return exp2l(x);
}

static long double ref_rcp(long double x)
{
    return 1 / x;
}

static long double ref_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}

Test(fp, approximations_are_nearly_exact)
{
    static const struct {
        const char *name;
        float (*f)(float);
        long double (*ref)(long double);
        float from, to; /* exponents of x */
        bool sign;
    } table[] = {
        {"rcp", fp_rcp_approx32, ref_rcp, -149, 128, true},
        {"rsqrt", fp_rsqrt_approx32, ref_rsqrt, -149, 128, false},
        {"sqrt", fp_sqrt_approx32, sqrtl, -149, 128, false},
        {"ex2", fp_ex2_approx32, ref_ex2, -30, 8, true},
        {"lg2", fp_lg2_approx32, log2l, -149, 128, false},
        {"sin", fp_sin_approx32, sinl, -149, 128, true},
        {"cos", fp_cos_approx32, cosl, -149, 128, true},
        {"tanh", fp_tanh_approx32, tanhl, -149, 8, true},
    };
    for (size_t i = 0; i < COUNT(table); i++) {
        uint64_t s = 11;
        for (int k = 0; k < 150000; k++) {
            uint64_t r = rng_next(&s);
            int span = (int)(table[i].to - table[i].from);
            double m = 1 + (double)(r >> 41) * 0x1p-23;
            float x = (float)ldexp(m, (int)table[i].from + (int)(r % (uint64_t)span));
            if (k % 4 == 0) x = (float)ldexp(m, (int)(r % 5) - 2); /* around 1 */
            if (table[i].sign && r >> 40 & 1) x = -x;
            long double want = table[i].ref(x), error = ulps(table[i].f(x), want);
            cr_assert(error <= 0.5001L, "%s %a: %a, want %La, %.5Lf ulp", table[i].name, x,
                      table[i].f(x), want, error);
        }
    }
    uint64_t s = 12;
    for (int k = 0; k < 100000; k++) {
        float x = fp_float32(0x3f000000 + (uint32_t)(rng_next(&s) % 0x4900000));
        x *= k & 1 ? 1.0f : -1.0f; /* 1/2 to 2^18: the reductions meet */
        SAME(fp_bits32(fp_sin_approx32(x)), fp_bits32(fp_trig_far32(x, 0)), "sin %a", x);
        SAME(fp_bits32(fp_cos_approx32(x)), fp_bits32(fp_trig_far32(x, 1)), "cos %a", x);
    }
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t v = (uint16_t)h;
        if (!fp_is_nan_f16(v)) {
            long double x = value_f16(h), want = exp2l(x);
            long double ex2 = value_f16(fp_ex2_approx_f16(v)),
                        tanh_ = value_f16(fp_tanh_approx_f16(v));
            SAME(code_f16(ex2), code_f16(rounded(want, f16, FP_RN)), "ex2.f16 %x", h);
            SAME(code_f16(tanh_), code_f16(rounded(tanhl(x), f16, FP_RN)), "tanh.f16 %x", h);
        }
        if (!fp_is_nan_bf16(v)) {
            long double x = fp_float32(h << 16), want = exp2l(x);
            SAME(fp_ex2_approx_bf16(v), code_bf16(rounded(want, bf16, FP_RN)), "ex2.bf16 %x", h);
            SAME(fp_tanh_approx_bf16(v), code_bf16(rounded(tanhl(x), bf16, FP_RN)), "tanh.bf16 %x",
                 h);
        }
    }
    for (int k = 0; k < 100000; k++) {
        double x = fabs(pick64(&s));
        if (isnan(x) || isinf(x) || x == 0) continue;
        long double want = 1 / sqrtl(x), error = fabsl(fp_rsqrt_approx64(x) / want - 1);
        cr_assert(error < 0x1p-52L, "rsqrt.f64 %a", x);
        double y = fp_rsqrt_approx_ftz64(x), z = fp_rcp_approx_ftz64(x);
        double u = fp_float64(fp_bits64(x) & 0xffffffff00000000u);
        if (!(u >= 0x1p-1022)) continue;
        cr_assert(fabsl(y * sqrtl(u) - 1) < 0x1p-20L, "rsqrt.ftz.f64 %a", x);
        cr_assert(u > 0x1p1021 || fabsl((long double)z * u - 1) < 0x1p-20L, "rcp.ftz.f64 %a", x);
        cr_assert(((fp_bits64(y) | fp_bits64(z)) & 0xffffffffu) == 0, "lower word of %a", x);
    }
    for (int k = 0; k < 200000; k++) {
        float a = pick32(&s), b = pick32(&s), want = host32(DIV, a, b, 0, FP_RN);
        SAME(fp_bits32(fp_div_full32(a, b)), fp_bits32(fp_canon32(want)), "div.full %a %a", a, b);
        if (fabsf(b) <= 0x1p126f)
            SAME(fp_bits32(fp_div_approx32(a, b)), fp_bits32(fp_canon32(want)), "div %a %a", a, b);
    }
}

/* What the approximations return is part of the interface: it may not depend on host or compiler,
 * nor change unnoticed. */
Test(fp, approximations_have_the_same_bits_everywhere)
{
    float (*const functions[])(float) = {fp_rsqrt_approx32, fp_sin_approx32, fp_cos_approx32,
                                         fp_lg2_approx32,   fp_ex2_approx32, fp_tanh_approx32};
    static const uint64_t golden[] = {0x0d4e675f2ad7ddba, 0xe94e2f7414eddba7, 0x442a55708d13815f,
                                      0x0e8e99e8c5f657f9, 0x7c1067ef65b49f66, 0xdce42bf9a4744a63};
    for (size_t k = 0; k < COUNT(functions); k++) {
        uint64_t s = 13, digest = 0;
        for (int i = 0; i < 500000; i++) {
            float x = pick32(&s);
            digest = (digest ^ fp_bits32(functions[k](x))) * 0x100000001b3u;
            digest ^= digest >> 29;
        }
        SAME(digest, golden[k], "function %zu", k);
    }
}
