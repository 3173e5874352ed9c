/* Float instructions and comparisons, executed, against plain C: what the host's processor computes under
 * fesetround, and formats written out by their definition. */
#include "tests/support/batch.h"
#include "tests/support/emu.h"
#include "tests/support/floats.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct batch singles(const char *target)
{
    struct batch b = {.target = target};
    batch_rows(&b, edges32, COUNT(edges32), 700, 32);
    return b;
}

/* ---- f32 and f64 -------------------------------------------------------------------------------- */

static uint64_t add32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('+', c->x, in32(in[0], c->y), in32(in[1], c->y), 0), c->y);
}
static uint64_t sub32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('-', c->x, in32(in[0], c->y), in32(in[1], c->y), 0), c->y);
}
static uint64_t mul32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('*', c->x, in32(in[0], c->y), in32(in[1], c->y), 0), c->y);
}
static uint64_t div32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('/', c->x, in32(in[0], c->y), in32(in[1], c->y), 0), c->y);
}
static uint64_t rcp32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('/', c->x, 1, in32(in[0], c->y), 0), c->y);
}
static uint64_t sqrt32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('s', c->x, in32(in[0], c->y), 0, 0), c->y);
}
static uint64_t fma32(const struct batch_case *c, const uint64_t *in)
{
    return out32(host32('f', c->x, in32(in[0], c->y), in32(in[1], c->y), in32(in[2], c->y)), c->y);
}

Test(emu_float, f32_rounds)
{
    struct batch b = singles("sm_90");
    for (int r = -1; r < 4; r++)
        for (int m = 0; m < 4; m++) {
            const char *rnd = r < 0 ? "" : roundings[r];
            const char *ftz = m & FTZ ? ".ftz" : "", *sat = m & SAT ? ".sat" : "";
            int x = r < 0 ? RN : r;
            batch_add(&b, 'f', add32, x, m, "add%s%s%s.f32 %%fo, %%f1, %%f2", rnd, ftz, sat);
            batch_add(&b, 'f', sub32, x, m, "sub%s%s%s.f32 %%fo, %%f1, %%f2", rnd, ftz, sat);
            batch_add(&b, 'f', mul32, x, m, "mul%s%s%s.f32 %%fo, %%f1, %%f2", rnd, ftz, sat);
            if (r < 0) continue;
            batch_add(&b, 'f', fma32, x, m, "fma%s%s%s.f32 %%fo, %%f1, %%f2, %%f3", rnd, ftz, sat);
            batch_add(&b, 'f', fma32, x, m, "mad%s%s%s.f32 %%fo, %%f1, %%f2, %%f3", rnd, ftz, sat);
            if (m & SAT) continue;
            batch_add(&b, 'f', div32, x, m, "div%s%s.f32 %%fo, %%f1, %%f2", rnd, ftz);
            batch_add(&b, 'f', rcp32, x, m, "rcp%s%s.f32 %%fo, %%f1", rnd, ftz);
            batch_add(&b, 'f', sqrt32, x, m, "sqrt%s%s.f32 %%fo, %%f1", rnd, ftz);
        }
    batch_run(&b);
}

Test(emu_float, operands_may_be_results_and_constants)
{
    struct batch b = singles("sm_90");
    batch_add(&b, 'f', sub32, RN, 0, "mov.f32 %%fo, %%f2; sub.f32 %%fo, %%f1, %%fo");
    batch_add(&b, 'f', sub32, RZ, FTZ, "mov.f32 %%fo, %%f1; sub.rz.ftz.f32 %%fo, %%fo, %%f2");
    batch_add(&b, 'f', fma32, RN, 0, "mov.f32 %%fo, %%f3; fma.rn.f32 %%fo, %%f1, %%f2, %%fo");
    batch_add(&b, 'f', rcp32, RN, 0, "div.rn.f32 %%fo, 0f3F800000, %%f1");
    batch_add(&b, 'f', rcp32, RM, 0, "div.rm.f32 %%fo, 1.0, %%f1");
    batch_run(&b);
}

static uint64_t add64(const struct batch_case *c, const uint64_t *in)
{
    return out64(host64('+', c->x, f64(in[0]), f64(in[1]), 0), f64(in[0]), f64(in[1]), 0);
}
static uint64_t sub64(const struct batch_case *c, const uint64_t *in)
{
    return out64(host64('-', c->x, f64(in[0]), f64(in[1]), 0), f64(in[0]), f64(in[1]), 0);
}
static uint64_t mul64(const struct batch_case *c, const uint64_t *in)
{
    return out64(host64('*', c->x, f64(in[0]), f64(in[1]), 0), f64(in[0]), f64(in[1]), 0);
}
static uint64_t div64(const struct batch_case *c, const uint64_t *in)
{
    return out64(host64('/', c->x, f64(in[0]), f64(in[1]), 0), f64(in[0]), f64(in[1]), 0);
}
static uint64_t rcp64(const struct batch_case *c, const uint64_t *in)
{
    return out64(host64('/', c->x, 1, f64(in[0]), 0), f64(in[0]), 0, 0);
}
static uint64_t sqrt64(const struct batch_case *c, const uint64_t *in)
{
    return out64(host64('s', c->x, f64(in[0]), 0, 0), f64(in[0]), 0, 0);
}
static uint64_t fma64(const struct batch_case *c, const uint64_t *in)
{
    double x = f64(in[0]), y = f64(in[1]), z = f64(in[2]);
    return out64(host64('f', c->x, x, y, z), x, y, z);
}
static uint64_t neg64(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    return in[0] ^ UINT64_C(1) << 63;
}
static uint64_t abs64(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    return isnan(f64(in[0])) ? in[0] : in[0] & INT64_MAX;
}
static uint64_t copysign64(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    return bits64(copysign(f64(in[1]), signbit(f64(in[0])) ? -1 : 1));
}
static uint64_t least64(const struct batch_case *c, const uint64_t *in)
{
    double a = f64(in[0]), b = f64(in[1]);
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? out64(NAN, a, b, 0) : isnan(a) ? in[1] : in[0];
    bool a_less = a < b || (a == b && signbit(a) && !signbit(b));
    return a_less != (c->x != 0) ? in[0] : in[1];
}

Test(emu_float, f64)
{
    struct batch b = {.target = "sm_90"};
    batch_rows(&b, edges64, COUNT(edges64), 600, 64);
    for (int r = -1; r < 4; r++) {
        const char *rnd = r < 0 ? "" : roundings[r];
        int x = r < 0 ? RN : r;
        batch_add(&b, 'd', add64, x, 0, "add%s.f64 %%do, %%d1, %%d2", rnd);
        batch_add(&b, 'd', sub64, x, 0, "sub%s.f64 %%do, %%d1, %%d2", rnd);
        batch_add(&b, 'd', mul64, x, 0, "mul%s.f64 %%do, %%d1, %%d2", rnd);
        if (r < 0) continue;
        batch_add(&b, 'd', fma64, x, 0, "fma%s.f64 %%do, %%d1, %%d2, %%d3", rnd);
        batch_add(&b, 'd', fma64, x, 0, "mad%s.f64 %%do, %%d1, %%d2, %%d3", rnd);
        batch_add(&b, 'd', div64, x, 0, "div%s.f64 %%do, %%d1, %%d2", rnd);
        batch_add(&b, 'd', rcp64, x, 0, "rcp%s.f64 %%do, %%d1", rnd);
        batch_add(&b, 'd', sqrt64, x, 0, "sqrt%s.f64 %%do, %%d1", rnd);
    }
    batch_add(&b, 'd', rcp64, RN, 0,
              "rcp.rn.ftz.f64 %%do, %%d1"); /* ptxas takes it, and makes the same of it */
    batch_add(&b, 'd', neg64, 0, 0, "neg.f64 %%do, %%d1");
    batch_add(&b, 'd', abs64, 0, 0, "abs.f64 %%do, %%d1");
    batch_add(&b, 'd', copysign64, 0, 0, "copysign.f64 %%do, %%d1, %%d2");
    batch_add(&b, 'd', least64, 0, 0, "min.f64 %%do, %%d1, %%d2");
    batch_add(&b, 'd', least64, 1, 0, "max.f64 %%do, %%d1, %%d2");
    batch_run(&b);
}

static uint64_t neg32(const struct batch_case *c, const uint64_t *in)
{
    return out32(-in32(in[0], c->y), c->y);
}
static uint64_t abs32(const struct batch_case *c, const uint64_t *in)
{
    return out32(fabsf(in32(in[0], c->y)), c->y);
}
static uint64_t copysign32(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    return (in[0] & 0x80000000) | (in[1] & 0x7fffffff);
}

/* min_num, min_nan and their max, as the ISA writes them; x: max. */
static float least(float a, float b, int x, int mods)
{
    if (isnan(a) && isnan(b)) return NAN;
    if ((isnan(a) || isnan(b)) && mods & NAN_WINS) return NAN;
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    bool a_less = a < b || (a == b && signbit(a) && !signbit(b));
    return a_less != (x != 0) ? a : b;
}
static uint64_t least32(const struct batch_case *c, const uint64_t *in)
{
    float a = in32(in[0], c->y), b = in32(in[1], c->y);
    bool sign = signbit(a) != signbit(b);
    if (!(c->y & XORSIGN)) return out32(least(a, b, c->x, c->y), c->y);
    float r = least(fabsf(a), fabsf(b), c->x, c->y);
    return out32(isnan(r) ? r : sign ? -r : r, c->y);
}
static uint64_t least3(const struct batch_case *c, const uint64_t *in)
{
    float v[3];
    for (int k = 0; k < 3; k++)
        v[k] = c->y & ABSOLUTE ? fabsf(in32(in[k], c->y)) : in32(in[k], c->y);
    return out32(least(least(v[0], v[1], c->x, c->y), v[2], c->x, c->y), c->y);
}

Test(emu_float, signs_and_extremes)
{
    struct batch b = singles("sm_100");
    for (int m = 0; m < 2; m++) {
        const char *ftz = m ? ".ftz" : "";
        batch_add(&b, 'f', neg32, 0, m, "neg%s.f32 %%fo, %%f1", ftz);
        batch_add(&b, 'f', abs32, 0, m, "abs%s.f32 %%fo, %%f1", ftz);
        for (int n = 0; n < 2; n++)
            for (int x = 0; x < 2; x++) {
                const char *name = x ? "max" : "min", *nan = n ? ".NaN" : "";
                int mods = m | (n ? NAN_WINS : 0);
                batch_add(&b, 'f', least32, x, mods, "%s%s%s.f32 %%fo, %%f1, %%f2", name, ftz, nan);
                batch_add(&b, 'f', least32, x, mods | XORSIGN,
                          "%s%s%s.xorsign.abs.f32 %%fo, %%f1, %%f2", name, ftz, nan);
                batch_add(&b, 'f', least3, x, mods, "%s%s%s.f32 %%fo, %%f1, %%f2, %%f3", name, ftz,
                          nan);
                batch_add(&b, 'f', least3, x, mods | ABSOLUTE,
                          "%s%s%s.abs.f32 %%fo, %%f1, %%f2, %%f3", name, ftz, nan);
            }
    }
    batch_add(&b, 'f', copysign32, 0, 0, "copysign.f32 %%fo, %%f1, %%f2");
    batch_run(&b);
}

static uint64_t tested(const struct batch_case *c, const uint64_t *in)
{
    double v = c->y ? f64(in[0]) : f32(in[0]);
    int k = c->y ? fpclassify(f64(in[0])) : fpclassify(f32(in[0]));
    bool zero_or_normal = k == FP_ZERO || k == FP_NORMAL;
    switch (c->x) {
    case 0: return isfinite(v);
    case 1: return isinf(v) != 0;
    case 2: return !isnan(v);
    case 3: return isnan(v);
    case 4: return zero_or_normal;
    default: return k == FP_SUBNORMAL;
    }
}

Test(emu_float, testp)
{
    static const char *const names[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
    struct batch b = singles("sm_90"), d = {.target = "sm_90"};
    batch_rows(&d, edges64, COUNT(edges64), 600, 64);
    for (int k = 0; k < 6; k++) {
        batch_add(&b, 'p', tested, k, 0, "testp.%s.f32 %%po, %%f1", names[k]);
        batch_add(&d, 'p', tested, k, 1, "testp.%s.f64 %%po, %%d1", names[k]);
    }
    batch_run(&b);
    batch_run(&d);
}

/* Two at once: row words hold two values; the cases of one are asked twice. */
static uint64_t both32(const struct batch_case *c, const uint64_t *in)
{
    static const char ops[] = "+-*f";
    uint64_t r = 0;
    for (int k = 0; k < 2; k++) {
        float v[3];
        for (int n = 0; n < 3; n++) v[n] = in32(in[n] >> 32 * k & 0xffffffff, c->y);
        r |= out32(host32(ops[c->x / 4], c->x % 4, v[0], v[1], v[2]), c->y) << 32 * k;
    }
    return r;
}

Test(emu_float, f32x2)
{
    static const char *const names[] = {"add", "sub", "mul", "fma"};
    struct batch b = {.target = "sm_100"};
    for (size_t i = 0; i < 1500; i++) {
        uint64_t v[3];
        for (int k = 0; k < 3; k++)
            v[k] = edges32[batch_random() % COUNT(edges32)] |
                   edges32[batch_random() % COUNT(edges32)] << 32;
        if (i % 3 == 0) v[i / 3 % 3] = batch_random();
        batch_row(&b, v[0], v[1], v[2]);
    }
    for (int op = 0; op < 4; op++)
        for (int r = 0; r < 4; r++)
            for (int m = 0; m < 2; m++)
                batch_add(&b, 'l', both32, 4 * op + r, m, "%s%s%s.f32x2 %%lo, %%l1, %%l2%s",
                          names[op], r || op == 3 ? roundings[r] : "", m ? ".ftz" : "",
                          op == 3 ? ", %l3" : "");
    batch_run(&b);
}

/* ---- approximations ------------------------------------------------------------------------------ */

static uint64_t approximate(const struct batch_case *c, const uint64_t *in)
{
    double x = in32(in[0], c->y), y = in32(in[1], c->y), r;
    switch (c->x) {
    case 0: r = 1 / x; break;
    case 1: r = sqrt(x); break;
    case 2: r = 1 / sqrt(x); break;
    case 3: r = sin(x); break;
    case 4: r = cos(x); break;
    case 5: r = log2(x); break;
    case 6: r = exp2(x); break;
    case 7: r = tanh(x); break;
    case 8:
        r = x / y;
        if (fabs(y) > 0x1p126)
            r = isinf(x) || isnan(x) || isnan(y) ? NAN : copysign(0, x * copysign(1, y));
        break;
    default: r = x / y;
    }
    return out32((float)r, c->y);
}

Test(emu_float, approximations)
{
    static const struct {
        const char *name;
        int which;
    } of_one[] = {{"rcp", 0}, {"sqrt", 1}, {"rsqrt", 2}, {"sin", 3},
                  {"cos", 4}, {"lg2", 5},  {"ex2", 6}};
    struct batch b = singles("sm_90");
    for (int i = 0; i < 400; i++)
        batch_row(&b, bits32((float)(i - 200) * 0.37f), bits32(0.01f * (float)i), 0);
    for (int m = 0; m < 2; m++) {
        const char *ftz = m ? ".ftz" : "";
        for (size_t k = 0; k < COUNT(of_one); k++)
            batch_add(&b, 'f', approximate, of_one[k].which, m, "%s.approx%s.f32 %%fo, %%f1",
                      of_one[k].name, ftz)
                ->tolerance = 0x1p-22;
        batch_add(&b, 'f', approximate, 8, m, "div.approx%s.f32 %%fo, %%f1, %%f2", ftz)->tolerance =
            0x1p-22;
        batch_add(&b, 'f', approximate, 9, m, "div.full%s.f32 %%fo, %%f1, %%f2", ftz)->tolerance =
            0x1p-22;
    }
    batch_add(&b, 'f', approximate, 7, 0, "tanh.approx.f32 %%fo, %%f1")->tolerance = 0x1p-22;
    batch_run(&b);
}

static uint64_t upper64(const struct batch_case *c, const uint64_t *in)
{
    double x = f64(in[0] & UINT64_C(0xffffffff00000000));
    if (fpclassify(x) == FP_SUBNORMAL) x = copysign(0, x);
    double r = c->x == 0 ? 1 / x : 1 / sqrt(x);
    if (isnan(r)) return UINT64_C(0x7fffffff00000000);
    return fpclassify(r) == FP_SUBNORMAL ? bits64(copysign(0, r)) : bits64(r);
}
static uint64_t rsqrt64(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    double x = f64(in[0]);
    return out64((double)(1 / sqrtl(x)), x, 0, 0);
}

Test(emu_float, approximations_of_f64)
{
    struct batch b = {.target = "sm_90"};
    batch_rows(&b, edges64, COUNT(edges64), 600, 64);
    batch_add(&b, 'd', upper64, 0, 0, "rcp.approx.ftz.f64 %%do, %%d1")->tolerance = 0x1p-20;
    batch_add(&b, 'd', upper64, 1, 0, "rsqrt.approx.ftz.f64 %%do, %%d1")->tolerance = 0x1p-20;
    batch_add(&b, 'd', rsqrt64, 0, 0, "rsqrt.approx.f64 %%do, %%d1")->tolerance = 0x1p-51;
    batch_run(&b);
}

/* ---- half precision ------------------------------------------------------------------------------ */

static double half_in(int x, uint64_t h, int mods)
{
    double v = half_value(x, h);
    return mods & FTZ && fabs(v) < 0x1p-14 ? copysign(0, v) : v;
}
static uint64_t half_out(int x, uint64_t h, int mods)
{
    double v = half_value(x, h);
    uint64_t one = x == 'h' ? 0x3c00 : 0x3f80;
    if (mods & FTZ && fabs(v) < 0x1p-14) h &= 0x8000;
    if (mods & SAT) h = isnan(v) || signbit(v) ? 0 : v > 1 ? one : h;
    if (mods & RELU) h = isnan(v) ? 0x7fff : signbit(v) ? 0 : h;
    return isnan(half_value(x, h)) ? 0x7fff : h;
}

/* a * b + c of halves. Of f16 it fits into __float128; of bf16 it is rounded to odd by the host as f32. */
static uint64_t half_fma(int x, double a, double b, double c, int rnd)
{
    if (x == 'h') {
        double r = a * b + c; /* for infinities and NaN */
        if (!isfinite(r)) return half_of(x, r, rnd);
        __float128 exact = (__float128)(a * b) + (__float128)c;
        double d = (double)exact;
        if (d == 0) return half_of(x, a * b + c, rnd);
        __float128 rest = exact - (__float128)d;
        if (rest != 0 && !(bits64(d) & 1))
            d = f64(bits64(d) + ((rest > 0) == (d > 0) ? 1 : UINT64_MAX));
        return half_of(x, d, rnd);
    }
    volatile float p = (float)a, q = (float)b, s = (float)c;
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_ALL_EXCEPT);
    volatile float r = fmaf(p, q, s);
    bool inexact = fetestexcept(FE_INEXACT);
    fesetround(FE_TONEAREST);
    if (r == 0 && !inexact) r = host32('f', rnd, p, q, s); /* the sign of a zero */
    uint32_t odd = bits32(r);
    if (inexact) odd |= 1;
    return half_of(x, f32(odd), rnd);
}

/* x: operation, y: mods | rounding << 8 | format << 16. */
static uint64_t half_op(const struct batch_case *c, uint64_t a, uint64_t b, uint64_t z)
{
    int x = c->y >> 16, rnd = c->y >> 8 & 3, mods = c->y & 0xff;
    double p = half_in(x, a, mods), q = half_in(x, b, mods), s = half_in(x, z, mods), r;
    uint64_t sign = (a ^ b) & 0x8000, h;
    if (mods & OOB && ((a & 0x7fff) == 0x7ff7 || (b & 0x7fff) == 0x7ff7)) return 0;
    switch (c->x) {
    case '+': h = x == 'h' ? half_of(x, p + q, rnd) : half_fma(x, p, 1, q, rnd); break;
    case '-': h = x == 'h' ? half_of(x, p - q, rnd) : half_fma(x, p, 1, -q, rnd); break;
    case '*': h = half_of(x, p * q, rnd); break;
    case 'f': h = half_fma(x, p, q, s, rnd); break;
    case 'a': h = half_of(x, fabs(p), RN); break;
    case 'n': h = half_of(x, -p, RN); break;
    case 't': h = half_of(x, tanh(p), RN); break;
    case '2': h = half_of(x, exp2(p), RN); break;
    default: /* < or > */
        if (mods & XORSIGN) p = fabs(p), q = fabs(q);
        r = least((float)p, (float)q, c->x == '>', mods);
        h = half_of(x, r, RN);
        if (mods & XORSIGN && !isnan(r)) h |= sign;
    }
    return half_out(x, h, mods);
}
static uint64_t half_one(const struct batch_case *c, const uint64_t *in)
{
    return half_op(c, in[0] & 0xffff, in[1] & 0xffff, in[2] & 0xffff);
}
static uint64_t half_two(const struct batch_case *c, const uint64_t *in)
{
    uint64_t low = half_one(c, in);
    return low | half_op(c, in[0] >> 16 & 0xffff, in[1] >> 16 & 0xffff, in[2] >> 16 & 0xffff) << 16;
}

/* One instruction in its four types, as far as `types` ("hHbB", capitals: two at once) goes. */
static void halves(struct batch *b, const char *types, int op, int rnd, int mods, const char *name,
                   int operands)
{
    for (const char *t = types; *t; t++) {
        bool two = *t == 'H' || *t == 'B';
        int x = *t == 'h' || *t == 'H' ? 'h' : 'b';
        char reg = two ? 'r' : 'h';
        const char *type = *t == 'h' ? "f16" : *t == 'H' ? "f16x2" : *t == 'b' ? "bf16" : "bf16x2";
        char list[64] = "";
        for (int k = 1; k <= operands; k++) sprintf(list + strlen(list), ", %%%c%d", reg, k);
        batch_add(b, reg, two ? half_two : half_one, op, mods | rnd << 8 | x << 16, "%s.%s %%%co%s",
                  name, type, reg, list);
    }
}

static struct batch half_rows(const char *target)
{
    struct batch b = {.target = target};
    for (size_t i = 0; i < COUNT(edges16); i++)
        for (size_t k = 0; k < COUNT(edges16); k++) {
            uint64_t v[3] = {edges16[i], edges16[k], edges16[batch_random() % COUNT(edges16)]};
            for (int n = 0; n < 3; n++)
                v[n] |= (batch_random() % 2 ? edges16[(i + k + (size_t)n) % COUNT(edges16)]
                                            : batch_random() & 0xffff)
                        << 16;
            batch_row(&b, v[0], v[1], v[2]);
        }
    for (int i = 0; i < 800; i++)
        batch_row(&b, batch_random() >> 32, batch_random() >> 32, batch_random() >> 32);
    for (int i = 0; i < 400; i++) { /* of like size */
        uint64_t near = 0x3c003c00;
        batch_row(&b, near ^ (batch_random() & 0x8fff8fff), near ^ (batch_random() & 0x8fff8fff),
                  near ^ (batch_random() & 0x8fff8fff));
    }
    return b;
}

Test(emu_float, half_arithmetic)
{
    struct batch b = half_rows("sm_90");
    for (int m = 0; m < 4; m++)
        for (int r = 0; r < 2; r++) {
            char name[64];
            const char *mods[] = {"", ".ftz", ".sat", ".ftz.sat"};
            static const char *const names[] = {"add", "sub", "mul"};
            for (int k = 0; k < 3; k++) {
                sprintf(name, "%s%s%s", names[k], r ? ".rn" : "", mods[m]);
                halves(&b, m ? "hH" : "hHbB", "+-*"[k], RN, m, name, 2);
            }
            sprintf(name, "fma.rn%s", mods[m]);
            if (!r) halves(&b, "hH", 'f', RN, m, name, 3);
        }
    halves(&b, "hH", 'f', RN, RELU, "fma.rn.relu", 3);
    halves(&b, "hH", 'f', RN, RELU | FTZ, "fma.rn.ftz.relu", 3);
    halves(&b, "hH", 'f', RN, OOB, "fma.rn.oob", 3);
    halves(&b, "hH", 'f', RN, OOB | SAT, "fma.rn.oob.sat", 3);
    halves(&b, "hH", 'f', RN, OOB | RELU, "fma.rn.oob.relu", 3);
    halves(&b, "bB", 'f', RN, 0, "fma.rn", 3);
    halves(&b, "bB", 'f', RN, RELU, "fma.rn.relu", 3);
    halves(&b, "bB", 'f', RN, OOB, "fma.rn.oob", 3);
    halves(&b, "bB", 'f', RN, RELU | OOB, "fma.rn.oob.relu", 3);
    batch_run(&b);
}

Test(emu_float, fma_of_bf16_rounds_to_nearest_alone)
{
    struct emu_run r = {
        .ptx = emu_ptx(".param .u64 p",
                       ".reg .b16 %h; .reg .b64 %rd1; mov.b16 %h, 1; fma.rz.bf16 %h, %h, %h, %h; "
                       "ld.param.u64 %rd1, [p]; st.global.b16 [%rd1], %h;"),
        .block = 1};
    uint64_t x = 0;
    r.args[0] = emu_out(&r, &x, sizeof x);
    cr_expect(!emu_run(&r) && r.kind == EMU_UNSUPPORTED && strstr(r.fault, "nearest"), "%s",
              r.fault);
}

Test(emu_float, half_others)
{
    struct batch b = half_rows("sm_90");
    halves(&b, "hHbB", 'a', RN, 0, "abs", 1);
    halves(&b, "hH", 'a', RN, FTZ, "abs.ftz", 1);
    halves(&b, "hHbB", 'n', RN, 0, "neg", 1);
    halves(&b, "hH", 'n', RN, FTZ, "neg.ftz", 1);
    for (int n = 0; n < 2; n++)
        for (int x = 0; x < 2; x++)
            for (int s = 0; s < 2; s++)
                for (int f = 0; f < 2; f++) {
                    char name[64];
                    sprintf(name, "%s%s%s%s", x ? "max" : "min", f ? ".ftz" : "", n ? ".NaN" : "",
                            s ? ".xorsign.abs" : "");
                    halves(&b, f ? "hH" : "hHbB", x ? '>' : '<', RN,
                           (f ? FTZ : 0) | (n ? NAN_WINS : 0) | (s ? XORSIGN : 0), name, 2);
                }
    halves(&b, "hHbB", 't', RN, 0, "tanh.approx", 1); /* here correctly rounded, all but always */
    halves(&b, "hH", '2', RN, 0, "ex2.approx", 1);
    batch_run(&b);
}

/* .ftz of bf16: subnormals are those of f32. */
static uint64_t ex2_bf16(const struct batch_case *c, const uint64_t *in)
{
    uint64_t r = 0;
    for (int k = 0; k < (c->x ? 2 : 1); k++) {
        uint64_t h = half_of('b', exp2(half_value('b', in[0] >> 16 * k & 0xffff)), RN);
        r |= ((h & 0x7f80) == 0 ? h & 0x8000 : h) << 16 * k;
    }
    return r;
}

Test(emu_float, ex2_of_bf16)
{
    struct batch b = half_rows("sm_90");
    for (uint64_t k = 0; k < 64; k++) batch_row(&b, 0xc2f0 + k, 0, 0); /* to subnormal results */
    batch_add(&b, 'h', ex2_bf16, 0, 0, "ex2.approx.ftz.bf16 %%ho, %%h1");
    batch_add(&b, 'r', ex2_bf16, 1, 0, "ex2.approx.ftz.bf16x2 %%ro, %%r1");
    batch_run(&b);
}

/* x: add, sub, fma and the rounding; y: SAT | format << 8. */
static uint64_t mixed(const struct batch_case *c, const uint64_t *in)
{
    float a = (float)half_value(c->y >> 8, in[0] & 0xffff),
          b = (float)half_value(c->y >> 8, in[1] & 0xffff);
    float z = f32(in[2]);
    float r = c->x / 4 == 2 ? host32('f', c->x % 4, a, b, z)
                            : host32("+-"[c->x / 4], c -> x % 4, a, z, 0);
    return out32(r, c->y & 0xff);
}

Test(emu_float, mixed_precision)
{
    static const char *const names[] = {"add", "sub", "fma"};
    struct batch b = half_rows("sm_100");
    for (size_t i = 0; i < b.row_count; i += 2) b.rows[i][2] = edges32[i / 2 % COUNT(edges32)];
    for (int op = 0; op < 3; op++)
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 2; s++)
                for (int t = 0; t < 2; t++)
                    batch_add(&b, 'f', mixed, 4 * op + r, (s ? SAT : 0) | (t ? 'b' : 'h') << 8,
                              "%s%s%s.f32.%s %%fo, %%h1, %s%%f3", names[op],
                              r || op == 2 ? roundings[r] : "", s ? ".sat" : "", t ? "bf16" : "f16",
                              op == 2 ? "%h2, " : "");
    batch_run(&b);
}

/* ---- comparison ---------------------------------------------------------------------------------- */

static const char *const comparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
static bool holds(int k, double a, double b)
{
    bool unordered = isnan(a) || isnan(b);
    switch (k) {
    case 0: return !unordered && a == b;
    case 1: return !unordered && a != b;
    case 2: return !unordered && a < b;
    case 3: return !unordered && a <= b;
    case 4: return !unordered && a > b;
    case 5: return !unordered && a >= b;
    case 6: return unordered || a == b;
    case 7: return unordered || a != b;
    case 8: return unordered || a < b;
    case 9: return unordered || a <= b;
    case 10: return unordered || a > b;
    case 11: return unordered || a >= b;
    case 12: return !unordered;
    default: return unordered;
    }
}
enum { NONE, AND, OR, XOR };
static const char *const booleans[] = {"", ".and", ".or", ".xor"};
static bool combine(int op, bool t, bool c)
{
    return op == AND ? t && c : op == OR ? t || c : op == XOR ? t != c : t;
}

/* y: FTZ | boolean << 8 | negated << 12 | type << 16 (f d h b) | what comes out << 24 */
static double operand(const struct batch_case *c, uint64_t word, int half)
{
    int type = c->y >> 16 & 0xff, mods = c->y & 0xff;
    if (type == 'd') return f64(word);
    if (type == 'f') return in32(word, mods);
    return half_in(type, word >> 16 * half & 0xffff, mods);
}
static bool outcome(const struct batch_case *c, const uint64_t *in, int half, bool inverted)
{
    bool t = holds(c->x, operand(c, in[0], half), operand(c, in[1], half)) != inverted;
    bool p = (f32(in[2]) > 0) != (c->y >> 12 & 1);
    return combine(c->y >> 8 & 3, t, p);
}
static uint64_t setp1(const struct batch_case *c, const uint64_t *in)
{
    return outcome(c, in, 0, false);
}
static uint64_t setp2(const struct batch_case *c, const uint64_t *in)
{
    return outcome(c, in, 0, false) | (uint64_t)outcome(c, in, 0, true) << 32;
}
static uint64_t setp_halves(const struct batch_case *c, const uint64_t *in)
{
    return outcome(c, in, 0, false) | (uint64_t)outcome(c, in, 1, false) << 32;
}
static uint64_t set1(const struct batch_case *c, const uint64_t *in)
{
    static const uint64_t values[] = {0xffffffff, 0xffff, 0x3f800000, 0x3c00, 0x3f80};
    return outcome(c, in, 0, false) ? values[c->y >> 24] : 0;
}
static uint64_t set_halves(const struct batch_case *c, const uint64_t *in)
{
    static const uint64_t values[] = {0xffff, 0x3c00, 0x3f80};
    uint64_t v = values[c->y >> 24];
    return (outcome(c, in, 0, false) ? v : 0) | (outcome(c, in, 1, false) ? v << 16 : 0);
}

static struct batch compared_rows(int type)
{
    if (type == 'h' || type == 'b') {
        struct batch b = half_rows("sm_90");
        for (size_t i = 0; i < b.row_count; i += 5) b.rows[i][1] = b.rows[i][0];
        for (size_t i = 0; i < b.row_count; i++)
            b.rows[i][2] = i * 5 % 7 < 3 ? 0x3f800000 : 0x80000000;
        return b;
    }
    struct batch b = {.target = "sm_90"};
    if (type == 'f') batch_rows(&b, edges32, COUNT(edges32), 300, 32);
    else batch_rows(&b, edges64, COUNT(edges64), 300, 64);
    for (size_t i = 0; i < b.row_count; i++) b.rows[i][2] = i * 5 % 7 < 3 ? 0x3f800000 : 0x80000000;
    return b;
}

static void compare_type(int type, const char *name, char reg, bool flushable)
{
    struct batch b = compared_rows(type);
    for (int k = 0; k < 14; k++)
        for (int m = 0; m <= (flushable ? 1 : 0); m++)
            for (int op = 0; op < 4; op++) {
                const char *ftz = m ? ".ftz" : "", *cmp = comparisons[k], *with = op ? ", %p1" : "";
                int y = m | op << 8 | type << 16;
                batch_add(&b, 'p', setp1, k, y, "setp.%s%s%s.%s %%po, %%%c1, %%%c2%s", cmp,
                          booleans[op], ftz, name, reg, reg, with);
                if (op)
                    batch_add(&b, 'p', setp1, k, y | 1 << 12,
                              "setp.%s%s%s.%s %%po, %%%c1, %%%c2, !%%p1", cmp, booleans[op], ftz,
                              name, reg, reg);
                if (reg != 'h')
                    batch_add(&b, 'q', setp2, k, y, "setp.%s%s%s.%s %%po|%%qo, %%%c1, %%%c2%s", cmp,
                              booleans[op], ftz, name, reg, reg, with);
                batch_add(&b, 'r', set1, k, y, "set.%s%s%s.%s.%s %%ro, %%%c1, %%%c2%s", cmp,
                          booleans[op], ftz, op % 2 ? "s32" : "u32", name, reg, reg, with);
                if (reg == 'h')
                    batch_add(&b, 'h', set1, k, y | 1 << 24,
                              "set.%s%s%s.%s.%s %%ho, %%%c1, %%%c2%s", cmp, booleans[op], ftz,
                              op % 2 ? "s16" : "u16", name, reg, reg, with);
                else
                    batch_add(&b, 'f', set1, k, y | 2 << 24,
                              "set.%s%s%s.f32.%s %%fo, %%%c1, %%%c2%s", cmp, booleans[op], ftz,
                              name, reg, reg, with);
                if (type != 'b')
                    batch_add(&b, 'h', set1, k, y | 3 << 24,
                              "set.%s%s%s.f16.%s %%ho, %%%c1, %%%c2%s", cmp, booleans[op], ftz,
                              name, reg, reg, with);
                if (!m)
                    batch_add(&b, 'h', set1, k, y | 4 << 24,
                              "set.%s%s.bf16.%s %%ho, %%%c1, %%%c2%s", cmp, booleans[op], name, reg,
                              reg, with);
            }
    batch_run(&b);
}

Test(emu_float, compare_f32)
{
    compare_type('f', "f32", 'f', true);
}
Test(emu_float, compare_f64)
{
    compare_type('d', "f64", 'd', false);
}
Test(emu_float, compare_f16)
{
    compare_type('h', "f16", 'h', true);
}
Test(emu_float, compare_bf16)
{
    compare_type('b', "bf16", 'h', false);
}

Test(emu_float, compare_pairs_of_halves)
{
    struct batch b = compared_rows('h');
    for (int t = 0; t < 2; t++)
        for (int k = 0; k < 14; k++)
            for (int op = 0; op < 4; op++) {
                const char *cmp = comparisons[k], *with = op ? ", %p1" : "",
                           *type = t ? "bf16x2" : "f16x2";
                const char *ftz = t == 0 && (k + op) % 2 ? ".ftz" : "";
                int y = (*ftz ? FTZ : 0) | op << 8 | (t ? 'b' : 'h') << 16;
                batch_add(&b, 'q', setp_halves, k, y, "setp.%s%s%s.%s %%po|%%qo, %%r1, %%r2%s", cmp,
                          booleans[op], ftz, type, with);
                batch_add(&b, 'r', set_halves, k, y | (t ? 2 : 1) << 24,
                          "set.%s%s%s.%s.%s %%ro, %%r1, %%r2%s", cmp, booleans[op], ftz, type, type,
                          with);
                batch_add(&b, 'r', set_halves, k, y, "set.%s%s%s.%s.%s %%ro, %%r1, %%r2%s", cmp,
                          booleans[op], ftz, op % 2 ? "s32" : "u32", type, with);
            }
    batch_run(&b);
}

Test(emu_float, setp_writes_where_it_reads)
{
    struct batch b = compared_rows('f');
    int y = OR << 8 | 'f' << 16;
    batch_add(&b, 'q', setp2, 2, y,
              "mov.pred %%po, %%p1; setp.lt.or.f32 %%po|%%qo, %%f1, %%f2, %%po");
    batch_add(&b, 'q', setp2, 2, y,
              "mov.pred %%qo, %%p1; setp.lt.or.f32 %%po|%%qo, %%f1, %%f2, %%qo");
    batch_add(&b, 'p', setp1, 3, 'f' << 16, "setp.le.f32 %%po|_, %%f1, %%f2");
    batch_run(&b);
}

/* ---- sm_1x and old PTX ------------------------------------------------------------------------------ */

/* mad.f32 of sm_1x: the product cut to 24 bits, unless c is zero. */
static uint64_t mad_1x(const struct batch_case *c, const uint64_t *in)
{
    float a = in32(in[0], FTZ), b = in32(in[1], FTZ), z = in32(in[2], FTZ);
    double product = (double)a * b;
    if (z == 0) return out32(flush(a * b) + z, c->y | FTZ);
    if (!isfinite(product) || !isfinite(z)) return out32((float)(product + z), c->y | FTZ);
    int e;
    double m = frexp(product, &e); /* and its sum with z rounds once: through long double, to odd */
    volatile long double x = (long double)ldexp(trunc(ldexp(m, 24)), e - 24), y = z, sum;
    fesetround(FE_TOWARDZERO);
    feclearexcept(FE_ALL_EXCEPT);
    sum = x + y;
    bool inexact = fetestexcept(FE_INEXACT);
    fesetround(FE_TONEAREST);
    double d = odd_of(sum);
    if (inexact && d == sum) d = f64(bits64(d) | 1);
    return out32((float)d, c->y | FTZ);
}

/* slct chooses by the sign of its third operand, where a subnormal one counts as 0 and a NaN as negative. */
static uint64_t chosen(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    return (uint32_t)(in32(in[2], FTZ) >= 0 ? in[0] : in[1]);
}

Test(emu_float, sm_1x_flushes)
{
    struct batch b = singles("sm_13");
    b.version = "1.4";
    for (int i = 0; i < 300; i++) /* sums that cancel */
        batch_row(&b, 0x3f800000 | batch_random() >> 41, 0x3f800000 | batch_random() >> 41,
                  0xbf800000 | batch_random() >> 41);
    batch_add(&b, 'f', add32, RN, FTZ, "add.f32 %%fo, %%f1, %%f2");
    batch_add(&b, 'f', sub32, RZ, FTZ, "sub.rz.f32 %%fo, %%f1, %%f2");
    batch_add(&b, 'f', mul32, RN, FTZ | SAT, "mul.sat.f32 %%fo, %%f1, %%f2");
    batch_add(&b, 'f', mad_1x, 0, 0, "mad.f32 %%fo, %%f1, %%f2, %%f3");
    batch_add(&b, 'f', mad_1x, 0, SAT, "mad.sat.f32 %%fo, %%f1, %%f2, %%f3");
    batch_add(&b, 'f', abs32, 0, FTZ, "abs.f32 %%fo, %%f1");
    batch_add(&b, 'f', least32, 0, FTZ, "min.f32 %%fo, %%f1, %%f2");
    batch_add(&b, 'f', approximate, 0, FTZ, "rcp.approx.f32 %%fo, %%f1")->tolerance = 0x1p-22;
    batch_add(&b, 'p', setp1, 2, FTZ | 'f' << 16, "setp.lt.f32 %%po, %%f1, %%f2");
    batch_add(&b, 'f', chosen, 0, 0, "slct.f32.f32 %%fo, %%f1, %%f2, %%f3");
    batch_add(&b, 'd', add64, RN, 0, "add.f64 %%do, %%d1, %%d2"); /* f64 keeps its subnormals */
    batch_run(&b);
}

Test(emu_float, instructions_without_modifiers)
{
    static const char *const names[] = {"rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"};
    struct batch b = singles("sm_13"), d = {.target = "sm_13", .version = "1.3"};
    b.version = "1.3";
    for (int k = 0; k < 7; k++)
        batch_add(&b, 'f', approximate, k, FTZ, "%s.f32 %%fo, %%f1", names[k])->tolerance = 0x1p-22;
    batch_add(&b, 'f', approximate, 8, FTZ, "div.f32 %%fo, %%f1, %%f2")->tolerance = 0x1p-22;
    batch_run(&b);
    batch_rows(&d, edges64, COUNT(edges64), 200, 64);
    batch_add(&d, 'd', div64, RN, 0, "div.f64 %%do, %%d1, %%d2");
    batch_add(&d, 'd', sqrt64, RN, 0, "sqrt.f64 %%do, %%d1");
    batch_add(&d, 'd', fma64, RN, 0, "mad.f64 %%do, %%d1, %%d2, %%d3");
    batch_add(&d, 'd', rsqrt64, RN, 0, "rsqrt.f64 %%do, %%d1")->tolerance = 0x1p-51;
    batch_run(&d);
}

Test(emu_float, mad_without_rounding_is_fma)
{
    struct batch b = singles("sm_20");
    b.version = "3.1";
    batch_add(&b, 'f', fma32, RN, 0, "mad.f32 %%fo, %%f1, %%f2, %%f3");
    batch_add(&b, 'f', fma32, RN, FTZ | SAT, "mad.ftz.sat.f32 %%fo, %%f1, %%f2, %%f3");
    batch_run(&b);
}

Test(emu_float, f64_below_sm_13_is_refused)
{
    struct emu_run r = {
        .ptx =
            ".version 1.4\n.target sm_11, map_f64_to_f32\n.entry k(.param .u32 p)\n{\n"
            ".reg .f64 %d<3>;\n.reg .u32 %a;\nld.param.u32 %a, [p];\n"
            "ld.global.f64 %d0, [%a];\nadd.f64 %d0, %d0, %d0;\nst.global.f64 [%a], %d0;\nexit;\n}\n",
        .block = 1};
    double x = 1;
    r.args[0] = emu_inout(&r, &x, sizeof x);
    cr_expect(!emu_run(&r));
    cr_expect(r.kind == EMU_UNSUPPORTED && strstr(r.fault, "sm_13"), "%s", r.fault);
}
