/* tests/support/matrix.h: matrices spread over the lanes of a warp, for tests/unit/emu_matrix.c and emu_wmma.c: elements of all
 * types, the index formulas of the PTX ISA (9.7.14.5, 9.7.14.6), the text of a kernel with one instruction, and products
 * computed plainly: small values exactly (any order gives the same), wild ones by the rule that emu/ops/simd_matrix.c states. */
#ifndef HEDDLE_TESTS_SUPPORT_MATRIX_H
#define HEDDLE_TESTS_SUPPORT_MATRIX_H

#include "base/rng.h"
#include "tests/support/emu.h"

#include "ptx/ptx.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements ------------------------------------------------------------------------------------ */

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, U4, B1, F32, S32, F64 };
static const struct {
    const char *name;
    int bits, exponent, fraction, bias;
} types[] = {[F16] = {"f16", 16, 5, 10, 15},    [BF16] = {"bf16", 16, 8, 7, 127},
             [TF32] = {"tf32", 32, 8, 10, 127}, [E4M3] = {"e4m3", 8, 4, 3, 7},
             [E5M2] = {"e5m2", 8, 5, 2, 15},    [S8] = {"s8", 8, 0, 0, 0},
             [U8] = {"u8", 8, 0, 0, 0},         [S4] = {"s4", 4, 0, 0, 0},
             [U4] = {"u4", 4, 0, 0, 0},         [B1] = {"b1", 1, 0, 0, 0},
             [F32] = {"f32", 32, 8, 23, 127},   [S32] = {"s32", 32, 0, 0, 0},
             [F64] = {"f64", 64, 11, 52, 1023}};

static inline bool is_float(enum type t)
{
    return types[t].exponent != 0;
}

static inline double value_of(enum type t, uint64_t bits)
{
    int width = types[t].bits, f = types[t].fraction, e = types[t].exponent;
    if (t == F64) {
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    if (!e) {
        bool sign = t == S8 || t == S4 || t == S32;
        int64_t v = (int64_t)(bits & ((1ull << width) - 1));
        return (double)(sign && v >> (width - 1) ? v - (1ll << width) : v);
    }
    if (t == TF32) bits >>= 13;
    int64_t m = (int64_t)(bits & ((1ull << f) - 1)), x = (int64_t)(bits >> f & ((1ull << e) - 1));
    bool negative = bits >> (e + f) & 1;
    double v;
    if (t == E4M3)
        v = x == 15 && m == 7 ? NAN
            : x               ? ldexp((double)(m + 8), (int)x - 10)
                              : ldexp((double)m, -9);
    else if (x == (1 << e) - 1) v = m ? NAN : INFINITY;
    else v = ldexp((double)(x ? m + (1ll << f) : m), (int)(x ? x : 1) - types[t].bias - f);
    return negative ? -v : v;
}

/* Any bits; or, small, a number near 1 with few digits, whose sums of products double holds exactly. */
static inline uint64_t element(enum type t, bool small, uint64_t *s)
{
    uint64_t r = rng_next(s), all = types[t].bits == 64 ? ~0ull : (1ull << types[t].bits) - 1;
    if (!is_float(t)) return r & all;
    if (!small) { /* more of what is special */
        uint64_t q = rng_next(s) & 15, sign = 1ull << (types[t].bits - 1);
        if (q == 0) return r & sign;
        if (q == 1) return r & all & ((1ull << types[t].fraction) - 1);
        return r & all;
    }
    int f = t == TF32 ? 23 : types[t].fraction;
    uint64_t x = (uint64_t)(types[t].bias - 2) + (r >> 60) % 5, m = r & ((1ull << f) - 1);
    if (t == F64) m &= ~0ull << 30;
    return (r >> 59 & 1) << (types[t].bits - 1) | x << f |
           m; /* tf32: with rubbish in its low bits */
}

static inline uint32_t bits_f32(double x)
{
    float f = (float)x;
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return x != x ? 0x7fffffff : b;
}

static inline uint32_t bits_f16(double x)
{
    if (x != x) return 0x7fff;
    uint32_t sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (x >= 65520) return sign | 0x7c00;
    int e;
    frexp(x, &e);
    int scale = e - 11 < -24 ? -24 : e - 11;
    uint32_t n = (uint32_t)nearbyint(ldexp(x, -scale)); /* ties to even */
    if (n == 0) return sign;
    if (scale == -24) return sign | n; /* subnormal, or the least normal */
    if (n == 2048) n = 1024, scale++;
    return sign | (uint32_t)(scale + 25) << 10 | (n - 1024);
}

/* ---- fragments: the formulas of the ISA ---------------------------------------------------------- */

struct spot {
    int row, col;
};

static inline struct spot a_place(int m, int k, int bits, int lane, int i)
{
    int group = lane >> 2, t = lane % 4;
    if (m == 8) /* m8n8k4 .f64, m8n8k16, m8n8k32, m8n8k128 */
        return (struct spot){group, bits == 64 ? t : t * (32 / bits) + i};
    if (bits >= 32 && k == 4) return (struct spot){i == 0 ? group : group + 8, t};
    if (bits >= 32 && k == 8)
        return (struct spot){i % 2 == 0 ? group : group + 8, i < 2 ? t : t + 4};
    if (bits == 64 && k == 16)
        return (struct spot){i % 2 == 0 ? group : group + 8,
                             i % 2 == 0 ? i * 2 + t : i * 2 - 2 + t};
    if (bits == 16 && k == 8) return (struct spot){i < 2 ? group : group + 8, t * 2 + (i & 1)};
    if (bits == 16 && k == 16)
        return (struct spot){i < 2 || (i >= 4 && i < 6) ? group : group + 8,
                             i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
    if (bits == 8 && k == 16) return (struct spot){i < 4 ? group : group + 8, t * 4 + (i & 3)};
    if (bits == 8 && k == 32)
        return (struct spot){i < 4 || (i >= 8 && i < 12) ? group : group + 8,
                             i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
    if (bits == 4 && k == 32) return (struct spot){i < 8 ? group : group + 8, t * 8 + (i & 7)};
    if (bits == 4 && k == 64)
        return (struct spot){i < 8 || (i >= 16 && i < 24) ? group : group + 8,
                             i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
    if (bits == 1 && k == 128) return (struct spot){i < 32 ? group : group + 8, t * 32 + (i & 31)};
    if (bits == 1 && k == 256)
        return (struct spot){i < 32 || (i >= 64 && i < 96) ? group : group + 8,
                             i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128};
    cr_assert_fail("no such shape");
    return (struct spot){0, 0};
}

static inline struct spot b_place(int k, int bits, int lane, int i)
{
    int group = lane >> 2, t = lane % 4;
    switch (bits) {
    case 64:
    case 32: return (struct spot){t + 4 * i, group};
    case 16: return (struct spot){t * 2 + (i & 1) + i / 2 * 8, group};
    case 8: return (struct spot){t * 4 + (i & 3) + i / 4 * 16, group};
    case 4: return (struct spot){t * 8 + (i & 7) + i / 8 * 32, group};
    default: return (struct spot){t * 32 + (i & 31) + i / 32 * 128, group};
    }
    (void)k;
}

static inline struct spot c_place(int lane, int i)
{
    return (struct spot){(lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

/* ---- running one instruction --------------------------------------------------------------------- */

enum { WARPS = 2, THREADS = 32 * WARPS, REGS = 8 };

struct frag { /* of a block; 64 bits each, of which the kernel uses 32 unless it is f64 */
    int regs;
    enum type type;
    uint64_t word[REGS][THREADS];
};

static inline int per(enum type t)
{
    return types[t].bits >= 32 ? 1 : 32 / types[t].bits;
}

static inline void put(struct frag *f, int thread, int i, uint64_t bits)
{
    f->word[i / per(f->type)][thread] |= bits << i % per(f->type) * types[f->type].bits;
}

static inline uint64_t get(const struct frag *f, int thread, int i)
{
    uint64_t w = f->word[i / per(f->type)][thread] >> i % per(f->type) * types[f->type].bits;
    return types[f->type].bits == 64 ? w : w & ((1ull << types[f->type].bits) - 1);
}

static char *text;
static size_t text_size;
enum { TEXT = 1 << 18 };
static inline void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_size += (size_t)vsnprintf(text + text_size, TEXT - text_size, format, args);
    va_end(args);
}

static inline void begin(const char *version, const char *target)
{
    if (!text) text = malloc(TEXT);
    text_size = 0;
    say(".version %s\n.target %s\n.address_size 64\n", version, target);
}

/* "{%a0, %a1}" */
static inline void say_vector(const char *name, int n)
{
    say("{");
    for (int i = 0; i < n; i++) say("%s%%%s%d", i ? ", " : "", name, i);
    say("}");
}

static inline void say_load(const char *name, const struct frag *f)
{
    bool wide = f->type == F64;
    say("ld.param.u64 %%rd1, [%s];\nadd.s64 %%rd1, %%rd1, %%rd0;\n", name);
    for (int r = 0; r < f->regs; r++) {
        if (wide) say("ld.global.f64 %%%s%d, [%%rd1+%d];\n", name, r, r * THREADS * 8);
        else
            say("ld.global.%s %%%s%d, [%%rd1+%d];\n", f->type == F32 ? "f32" : "b32", name, r,
                r * THREADS * 8);
    }
}

static const char *reg_type(enum type t)
{
    return t == F64 ? ".f64" : t == F32 ? ".f32" : ".b32";
}

/* `op` d, a, b, c [, e, selector]; with a guard if `guard` is not NULL: "p" is true where the metadata's bit 0 is. */
static inline void run_mma(const char *version, const char *target, const char *op, struct frag *d,
                           struct frag *a, struct frag *b, struct frag *c, struct frag *e,
                           int selector)
{
    begin(version, target);
    say(".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e)\n{\n"
        ".reg .b64 %%rd<4>;\n.reg .b32 %%r<4>, %%e<2>;\n.reg %s %%a<8>;\n.reg %s %%b<8>;\n.reg %s %%c<8>;\n"
        ".reg %s %%d<8>;\n"
        "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 8;\n",
        reg_type(a->type), reg_type(b->type), reg_type(c->type), reg_type(d->type));
    say_load("a", a);
    say_load("b", b);
    say_load("c", c);
    if (e) say_load("e", e);
    say("%s ", op);
    say_vector("d", d->regs);
    say(", ");
    say_vector("a", a->regs);
    say(", ");
    say_vector("b", b->regs);
    say(", ");
    say_vector("c", c->regs);
    if (e) say(", %%e0, %d", selector);
    say(";\nld.param.u64 %%rd1, [d];\nadd.s64 %%rd1, %%rd1, %%rd0;\n");
    for (int r = 0; r < d->regs; r++)
        say("st.global.%s [%%rd1+%d], %%d%d;\n", reg_type(d->type) + 1, r * THREADS * 8, r);
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = THREADS};
    r.args[0] = emu_in(&r, a->word, sizeof a->word);
    r.args[1] = emu_in(&r, b->word, sizeof b->word);
    r.args[2] = emu_in(&r, c->word, sizeof c->word);
    r.args[3] = emu_out(&r, d->word, sizeof d->word);
    if (e) r.args[4] = emu_in(&r, e->word, sizeof e->word);
    cr_assert(emu_run(&r), "%s\n%s", op, r.fault);
}

/* ---- products ------------------------------------------------------------------------------------ */

enum op { MULTIPLY, XOR, AND };
struct product { /* of one warp */
    int m, n, k;
    enum type a, b, c, d;
    enum op op;
    bool saturate, small;
    enum {
        EVERY_NUMBER,
        FULL_SUMS,
        FINITE,
        FINITE_AND_FAR,
        ZEROS_AND_GREAT, /* often without a product beside a small C */
        ONE_SIGN,        /* of all products, and each C near 8 to 1000 times the greatest of them */
        FEW_BITS, /* 8 bits of a significand, or one more; C a multiple, up to 2^22, or not quite */
    } range;      /* of f16, bf16, tf32 and f32 */
    int draw;     /* which of several matrices of a range */
    int round;    /* of f64: FE_.. */
    uint64_t am[32][256], bm[256][32], cm[32][32];
    int at[32][256], kept; /* sparse: which k the kept elements of A are at; 0: dense */
};

static double (*volatile host_fma)(double, double, double) = fma;

static inline uint64_t quiet(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b | 1ull << 51;
}

/* The exponent of x, that of subnormal numbers of a type with less exponents. */
static inline int exponent_of(double x, int least)
{
    const int e = ilogb(x);
    return e < least ? least : e;
}

/* f16, bf16 and tf32 with an f32 result, as a GPU of compute capability 9.0 adds them up: tests/hardware/h200.bits. Products and
 * C are cut to 25 bits below the greatest exponent, then their sum to f32; 0 is positive. All are finite. */
static inline uint64_t cut_sum(const double *a, const double *b, int n, double c, int least)
{
    int most = INT_MIN;
    if (c != 0) most = exponent_of(c, -126);
    for (int i = 0; i < n; i++) {
        if (a[i] == 0 || b[i] == 0) continue;
        const int e = exponent_of(a[i], least) + exponent_of(b[i], least);
        if (e > most) most = e;
    }
    if (most == INT_MIN) return 0;
    int64_t sum = (int64_t)ldexp(c, 25 - most);
    for (int i = 0; i < n; i++) sum += (int64_t)ldexp(a[i] * b[i], 25 - most);
    const double s = ldexp((double)sum, most - 25);
    if (fabs(s) >= 0x1p128) return s < 0 ? 0xff800000 : 0x7f800000;
    fesetround(FE_TOWARDZERO);
    volatile float f = (float)*(const volatile double *)&s;
    fesetround(FE_TONEAREST);
    return f == 0 ? 0 : bits_f32((double)f);
}

static inline uint64_t expected(const struct product *x, int row, int col)
{
    int n = x->kept ? x->kept : x->k;
    if (x->d == F64) {
        double s = value_of(F64, x->cm[row][col]);
        fesetround(x->round);
        for (int i = 0; i < n; i++) {
            double p = value_of(F64, x->am[row][i]), q = value_of(F64, x->bm[i][col]),
                   r = host_fma(p, q, s);
            uint64_t nan = p != p   ? quiet(p)
                           : q != q ? quiet(q)
                           : s != s ? quiet(s)
                                    : 0xfff8000000000000;
            if (r != r) memcpy(&r, &nan, sizeof r);
            s = r;
        }
        fesetround(FE_TONEAREST);
        uint64_t b;
        memcpy(&b, &s, sizeof b);
        return b;
    }
    if (x->op != MULTIPLY) {
        int64_t s = (int32_t)x->cm[row][col];
        for (int i = 0; i < n; i++)
            s += x->op == XOR ? x->am[row][i] ^ x->bm[i][col] : x->am[row][i] & x->bm[i][col];
        return (uint32_t)s;
    }
    if (x->d == S32) {
        int64_t s = (int32_t)x->cm[row][col];
        for (int i = 0; i < n; i++)
            s += (int64_t)value_of(x->a, x->am[row][i]) *
                 (int64_t)value_of(x->b, x->bm[x->kept ? x->at[row][i] : i][col]);
        if (x->saturate) s = s > INT32_MAX ? INT32_MAX : s < INT32_MIN ? INT32_MIN : s;
        return (uint32_t)s;
    }
    double s = value_of(x->c, x->cm[row][col]);
    long double exact = 0;
    for (int i = 0; i < n; i++)
        s += value_of(x->a, x->am[row][i]) *
             value_of(x->b, x->bm[x->kept ? x->at[row][i] : i][col]);
    for (int i = n - 1; i >= 0; i--)
        exact += (long double)value_of(x->a, x->am[row][i]) *
                 (long double)value_of(x->b, x->bm[x->kept ? x->at[row][i] : i][col]);
    if (x->small) {
        exact += (long double)value_of(x->c, x->cm[row][col]);
        cr_assert_eq((long double)s, exact, "the test's own values are not small");
    }
    uint64_t r = x->d == F16 ? bits_f16(s) : bits_f32(s);
    const bool quads = x->a == F16 && x->k == 4; /* m8n8k4 */
    if (x->d == F32 && !quads && (x->a == F16 || x->a == BF16 || x->a == TF32) && s - s == 0) {
        double a[64], b[64];
        for (int i = 0; i < n; i++) {
            a[i] = value_of(x->a, x->am[row][i]);
            b[i] = value_of(x->b, x->bm[x->kept ? x->at[row][i] : i][col]);
        }
        r = cut_sum(a, b, n, value_of(x->c, x->cm[row][col]), x->a == F16 ? -14 : -126);
    }
    if (x->saturate && s != s) return 0;
    if (x->saturate && x->d == F16 && (r & 0x7fff) == 0x7c00) r--;
    if (x->saturate && x->d == F32 && (r & 0x7fffffff) == 0x7f800000) r--;
    return r;
}

/* An element of A or B in x->range: all bits of the significand set, so that sums become as great as they can; any finite f16,
 * and of the other types what lies between 2^-43 and 2^42, or a little outside of it, too. */
static inline uint64_t ranged(const struct product *x, uint64_t *seed)
{
    const int bits = x->a == F16 ? 10 : x->a == BF16 ? 7 : 10;
    const int most = x->a == F16          ? 30
                     : x->range == FINITE ? 168
                                          : 172,
              least = x->a == F16          ? 0
                      : x->range == FINITE ? 84
                                           : 80;
    const uint64_t sign = rng_next(seed) % 2, all = (1u << bits) - 1;
    uint64_t e = (uint64_t)least + rng_next(seed) % (uint64_t)(most - least + 1),
             fraction = rng_next(seed) & all;
    if (x->range == FULL_SUMS) e = x->a == F16 ? 15 : 127, fraction = all;
    else if (x->range == ZEROS_AND_GREAT && x->a != F16) e = 127 + 41;
    if (x->range != FULL_SUMS && rng_next(seed) % 16 < (x->range == ZEROS_AND_GREAT ? 15 : 1))
        e = fraction = 0;
    const uint64_t v = (x->range == FULL_SUMS && rng_next(seed) % 8 ? 0 : sign)
                           << (bits + (x->a == F16 ? 5 : 8)) |
                       e << bits | fraction;
    return x->a == TF32 ? v << 13 : v;
}

static inline uint64_t ranged_c(const struct product *x, uint64_t *seed)
{
    const uint64_t r = rng_next(seed);
    if (x->range == FULL_SUMS) return 0x3fffffff + (r % 4 << 23);
    if (r % 8 == 0) return r >> 8 & 0x80000000; /* zeros */
    if (x->range == ZEROS_AND_GREAT) return (r >> 8 & 0x807fffff) | (1 + (r >> 40) % 60) << 23;
    if (r % 8 == 1) return r >> 8 & 0x807fffff; /* subnormal */
    return (r >> 8 & 0x807fffff) | (60 + (r >> 40) % 140)
                                       << 23; /* some greater than all products */
}

/* n * 2^scale as f16, bf16 or tf32 with a sign. It is a number that the type has, and not subnormal. */
static inline uint64_t encode(enum type t, bool negative, unsigned n, int scale)
{
    const int f = types[t].fraction, sign = types[t].exponent + f;
    if (!n) return (uint64_t)negative << sign;
    const int e = 31 - __builtin_clz(n);
    const uint64_t v = (uint64_t)negative << sign | (uint64_t)(e + scale + types[t].bias) << f |
                       (((uint64_t)n << f >> e) & ((1u << f) - 1));
    return t == TF32 ? v << 13 : v;
}

static inline uint64_t bits_of(double x)
{
    const float f = (float)x;
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return b;
}

/* ONE_SIGN: of A and of B; the greatest exponents are 2^0, and half of the significands as great as they can be. C is between
 * 2^3 and 2^10, its exponent less than 2 from the least. FEW_BITS as it says. */
static inline uint64_t factor(const struct product *x, bool negative, int scale, uint64_t *seed)
{
    const uint64_t r = rng_next(seed);
    const unsigned all = (2u << types[x->a].fraction) - 1;
    if (x->range == ONE_SIGN && x->draw % 4 == 0) /* the greatest sums */
        return encode(x->a, negative, all - (unsigned)(r >> 8 & 15), scale - types[x->a].fraction);
    if (r % 8 == 0) return encode(x->a, negative, 0, 0);
    if (x->range == ONE_SIGN) {
        const unsigned n = r >> 8 & 1 ? all : (all / 2 + 1) | (r >> 16 & all);
        return encode(x->a, negative, n,
                      scale - types[x->a].fraction - (r >> 3 & 1 ? (int)(r >> 40) % 8 : 0));
    }
    const bool more = x->draw % 4 == 3 && r >> 40 & 1 && x->a != BF16;
    return encode(x->a, r >> 48 & 1, more ? 0x101 | (r >> 8 & 0xfe) : r >> 8 & 0xff, scale - more);
}

static inline void fill_chains(struct product *x, uint64_t *seed)
{
    const uint64_t r = rng_next(seed);
    const bool minus_a = r & 1, minus_b = r >> 1 & 1;
    const int far = x->a == F16 ? 1 : 4, a = (int)(r >> 8 & 3) * far - 4,
              b = (int)(r >> 16 & 3) * far - 4, least = 3 + (int)((r >> 24) % 8);
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->k; j++) x->am[i][j] = factor(x, minus_a, a, seed);
    for (int i = 0; i < x->k; i++)
        for (int j = 0; j < x->n; j++) x->bm[i][j] = factor(x, minus_b, b, seed);
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->n; j++) {
            const uint64_t q = rng_next(seed);
            const double sign = q & 1 ? -1 : 1, fraction = (double)(q >> 40) * 0x1p-24;
            if (x->range == ONE_SIGN)
                x->cm[i][j] = bits_of(sign * ldexp(1 + (q & 2 ? 0x1.fffffep-1 : fraction),
                                                   a + b + least + (int)(q >> 8 & 1)));
            else if (x->draw % 2)
                x->cm[i][j] = bits_of(sign *
                                      ldexp((double)((1 << 22) - 1 + (x->draw % 8 == 5)), a + b));
            else
                x->cm[i][j] = bits_of(
                    sign * ldexp((double)(q >> 42) + (x->draw % 8 == 6 ? 0.5 : 0), a + b));
        }
}

static inline void fill_product(struct product *x, uint64_t *seed)
{
    if (x->range >= ONE_SIGN) {
        fill_chains(x, seed);
        return;
    }
    if (x->range) {
        for (int i = 0; i < x->m; i++)
            for (int j = 0; j < x->k; j++) x->am[i][j] = ranged(x, seed);
        for (int i = 0; i < x->k; i++)
            for (int j = 0; j < x->n; j++) x->bm[i][j] = ranged(x, seed);
        for (int i = 0; i < x->m; i++)
            for (int j = 0; j < x->n; j++) x->cm[i][j] = ranged_c(x, seed);
        return;
    }
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->k; j++) x->am[i][j] = element(x->a, x->small, seed);
    for (int i = 0; i < x->k; i++)
        for (int j = 0; j < x->n; j++) x->bm[i][j] = element(x->b, x->small, seed);
    for (int i = 0; i < x->m; i++)
        for (int j = 0; j < x->n; j++) x->cm[i][j] = element(x->c, x->small, seed);
}

static inline void expect_product(const struct product *x, int row, int col, uint64_t got,
                                  const char *op)
{
    uint64_t want = expected(x, row, col);
    if (got != want)
        cr_assert_fail("%s: row %d column %d: %llx, not %llx", op, row, col,
                       (unsigned long long)got, (unsigned long long)want);
}

#endif
