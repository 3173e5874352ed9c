/* mma, mma.sp, wmma, ldmatrix and their kin: whole matrices are spread over the lanes as the index
 * formulas of the PTX ISA say (9.7.14.5, 9.7.14.6), multiplied by one instruction, and gathered again.
 * The products are computed plainly: small values exactly (any order gives the same), wild ones by the
 * rule that emu/ops/simd_matrix.c states. */
#include "base/rng.h"
#include "tests/support/emu.h"

#include "base/arena.h"
#include "base/diag.h"
#include "emu/order.h"
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

static bool is_float(enum type t)
{
    return types[t].exponent != 0;
}

static double value_of(enum type t, uint64_t bits)
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
static uint64_t element(enum type t, bool small, uint64_t *s)
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

static uint32_t bits_f32(double x)
{
    float f = (float)x;
    uint32_t b;
    memcpy(&b, &f, sizeof b);
    return x != x ? 0x7fffffff : b;
}

static uint32_t bits_f16(double x)
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

static struct spot a_place(int m, int k, int bits, int lane, int i)
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

static struct spot b_place(int k, int bits, int lane, int i)
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

static struct spot c_place(int lane, int i)
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

static int per(enum type t)
{
    return types[t].bits >= 32 ? 1 : 32 / types[t].bits;
}

static void put(struct frag *f, int thread, int i, uint64_t bits)
{
    f->word[i / per(f->type)][thread] |= bits << i % per(f->type) * types[f->type].bits;
}

static uint64_t get(const struct frag *f, int thread, int i)
{
    uint64_t w = f->word[i / per(f->type)][thread] >> i % per(f->type) * types[f->type].bits;
    return types[f->type].bits == 64 ? w : w & ((1ull << types[f->type].bits) - 1);
}

static char *text;
static size_t text_size;
enum { TEXT = 1 << 18 };
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    text_size += (size_t)vsnprintf(text + text_size, TEXT - text_size, format, args);
    va_end(args);
}

static void begin(const char *version, const char *target)
{
    if (!text) text = malloc(TEXT);
    text_size = 0;
    say(".version %s\n.target %s\n.address_size 64\n", version, target);
}

/* "{%a0, %a1}" */
static void say_vector(const char *name, int n)
{
    say("{");
    for (int i = 0; i < n; i++) say("%s%%%s%d", i ? ", " : "", name, i);
    say("}");
}

static void say_load(const char *name, const struct frag *f)
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
static void run_mma(const char *version, const char *target, const char *op, struct frag *d,
                    struct frag *a, struct frag *b, struct frag *c, struct frag *e, int selector)
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
    enum { EVERY_NUMBER, FULL_SUMS, FINITE, FINITE_AND_FAR } range; /* of f16, bf16, tf32 and f32 */
    int round;                                                      /* of f64: FE_.. */
    uint64_t am[32][256], bm[256][32], cm[32][32];
    int at[32][256], kept; /* sparse: which k the kept elements of A are at; 0: dense */
};

static double (*volatile host_fma)(double, double, double) = fma;

static uint64_t quiet(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b | 1ull << 51;
}

/* The exponent of x, that of subnormal numbers of a type with less exponents. */
static int exponent_of(double x, int least)
{
    const int e = ilogb(x);
    return e < least ? least : e;
}

/* f16, bf16 and tf32 with an f32 result, as a GPU of compute capability 9.0 adds them up: tests/hardware/h200.bits. Products and
 * C are cut to 25 bits below the greatest exponent, then their sum to f32; 0 is positive. All are finite. */
static uint64_t cut_sum(const double *a, const double *b, int n, double c, int least)
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

static uint64_t expected(const struct product *x, int row, int col)
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
 * and of the other types what lies between 2^-50 and 2^61, or a little outside of it, too. */
static uint64_t ranged(const struct product *x, uint64_t *seed)
{
    const int bits = x->a == F16 ? 10 : x->a == BF16 ? 7 : 10;
    const int most = x->a == F16          ? 30
                     : x->range == FINITE ? 187
                                          : 190,
              least = x->a == F16          ? 0
                      : x->range == FINITE ? 77
                                           : 74;
    const uint64_t sign = rng_next(seed) % 2, all = (1u << bits) - 1;
    uint64_t e = (uint64_t)least + rng_next(seed) % (uint64_t)(most - least + 1),
             fraction = rng_next(seed) & all;
    if (x->range == FULL_SUMS) e = x->a == F16 ? 15 : 127, fraction = all;
    else if (rng_next(seed) % 16 == 0) e = fraction = 0;
    const uint64_t v = (x->range == FULL_SUMS && rng_next(seed) % 8 ? 0 : sign)
                           << (bits + (x->a == F16 ? 5 : 8)) |
                       e << bits | fraction;
    return x->a == TF32 ? v << 13 : v;
}

static uint64_t ranged_c(const struct product *x, uint64_t *seed)
{
    const uint64_t r = rng_next(seed);
    if (x->range == FULL_SUMS) return 0x3fffffff + (r % 4 << 23);
    if (r % 8 == 0) return r >> 8 & 0x80000000; /* zeros */
    if (r % 8 == 1) return r >> 8 & 0x807fffff; /* subnormal */
    return (r >> 8 & 0x807fffff) | (60 + (r >> 40) % 140)
                                       << 23; /* some greater than all products */
}

static void fill_product(struct product *x, uint64_t *seed)
{
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

static void expect_product(const struct product *x, int row, int col, uint64_t got, const char *op)
{
    uint64_t want = expected(x, row, col);
    if (got != want)
        cr_assert_fail("%s: row %d column %d: %llx, not %llx", op, row, col,
                       (unsigned long long)got, (unsigned long long)want);
}

static struct product products[WARPS];

/* A dense or sparse mma of type words, shapes and so on; `extra` stands where .satfinite or the rounding does. */
static void check_mma(const char *version, const char *op, struct product like, int select_range)
{
    uint64_t seed = (uint64_t)like.m * 1000 + (uint64_t)like.k * 100 + like.a * 10 + like.d +
                    like.small;
    for (const char *p = op; *p; p++) seed = seed * 31 + (unsigned char)*p;
    struct frag a = {.type = like.a}, b = {.type = like.b}, c = {.type = like.c},
                d = {.type = like.d}, e = {.regs = 1, .type = S32};
    int kept = like.kept ? like.kept : like.k;
    a.regs = like.m * kept / 32 / per(like.a);
    b.regs = like.k * 8 / 32 / per(like.b);
    c.regs = like.m * 8 / 32 / per(like.c);
    d.regs = like.m * 8 / 32 / per(like.d);
    int selector = select_range ? (int)(rng_next(&seed) % (uint64_t)select_range) : 0;
    for (int t = 0; t < THREADS; t++) e.word[0][t] = (uint32_t)rng_next(&seed);
    for (int w = 0; w < WARPS; w++) {
        struct product *x = &products[w];
        *x = like;
        fill_product(x, &seed);
        for (int l = 0; l < 32; l++) {
            int t = w * 32 + l;
            for (int i = 0; i < a.regs * per(a.type); i++) {
                struct spot p = a_place(like.m, kept, types[a.type].bits, l, i);
                put(&a, t, i, x->am[p.row][p.col]);
            }
            for (int i = 0; i < b.regs * per(b.type); i++) {
                struct spot p = b_place(like.k, types[b.type].bits, l, i);
                put(&b, t, i, x->bm[p.row][p.col]);
            }
            for (int i = 0; i < c.regs * per(c.type); i++) {
                struct spot p = c_place(l, i);
                put(&c, t, i, x->cm[p.row][p.col]);
            }
        }
        if (!like.kept) continue;
        /* Which of a chunk are there: two of four, for four-bit types two pairs of four; of tf32 one of two. */
        int bits = types[like.a].bits, size = bits == 32 ? 2 : bits == 4 ? 8 : 4;
        bool ordered = strstr(op, "ordered") != NULL;
        for (int row = 0; row < 16; row++)
            for (int q = 0; q < like.k / size; q++) {
                int i = (int)(rng_next(&seed) % 4),
                    j = (int)((unsigned)i + 1 + rng_next(&seed) % 3) % 4;
                if (ordered && i > j) {
                    int swap = i;
                    i = j;
                    j = swap;
                }
                if (size == 2) i = i < 2 ? 0 : 2, j = i + 1; /* 0b0100, 0b1110 */
                int *at = &x->at[row][q * size / 2];
                if (size == 2) at[0] = q * 2 + i / 2;
                if (size == 4) at[0] = q * 4 + i, at[1] = q * 4 + j;
                if (size == 8)
                    at[0] = q * 8 + i * 2, at[1] = at[0] + 1, at[2] = q * 8 + j * 2,
                    at[3] = at[2] + 1;
                /* Figures 119, 122, 125, 127: T0: [3..0] [7..4] [11..8] [15..12] for four chunks of row g,
                 * [19..16] and so on of row g + 8; T1 for the next four chunks. Figures 129, 136, 137, 139,
                 * 146, 147: T0 has eight chunks of row g, T1 of row g + 8, T2 and T3 the next eight. */
                int threads = like.k / size / 4, holder, shift;
                if (bits >= 16) holder = q / 4, shift = row / 8 * 16 + q % 4 * 4;
                else holder = row / 8 + q / 8 * 2, shift = q % 8 * 4;
                uint64_t *word = &e.word[0][w * 32 + row % 8 * 4 + selector * threads + holder];
                *word = (*word & ~(15ull << shift)) | (uint64_t)(i | j << 2) << shift;
            }
    }
    run_mma(version, "sm_90", op, &d, &a, &b, &c, like.kept ? &e : NULL, selector);
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < d.regs * per(d.type); i++) {
            struct spot p = c_place(t % 32, i);
            expect_product(&products[t / 32], p.row, p.col, get(&d, t, i), op);
        }
}

static void check_dense(const char *extra, int m, int k, enum type d, enum type a, enum type b,
                        enum type c, const char *end)
{
    char op[200];
    snprintf(op, sizeof op, "mma.sync.aligned.m%dn8k%d.row.col%s.%s.%s.%s.%s%s", m, k, extra,
             types[d].name, types[a].name, types[b].name, types[c].name, end);
    struct product x = {.m = m,
                        .n = 8,
                        .k = k,
                        .a = a,
                        .b = b,
                        .c = c,
                        .d = d,
                        .saturate = !strcmp(extra, ".satfinite")};
    x.op = strstr(end, ".xor") ? XOR : strstr(end, ".and") ? AND : MULTIPLY;
    x.round = !strcmp(extra, ".rz")   ? FE_TOWARDZERO
              : !strcmp(extra, ".rm") ? FE_DOWNWARD
              : !strcmp(extra, ".rp") ? FE_UPWARD
                                      : FE_TONEAREST;
    for (int small = 0; small < 2; small++) {
        x.small = small;
        check_mma("8.7", op, x, 0);
    }
}

Test(emu_matrix, mma_f16_bf16_tf32)
{
    for (int k = 8; k <= 16; k += 8) {
        check_dense("", 16, k, F16, F16, F16, F16, "");
        check_dense("", 16, k, F32, F16, F16, F32, "");
        check_dense("", 16, k, F32, BF16, BF16, F32, "");
    }
    check_dense("", 16, 4, F32, TF32, TF32, F32, "");
    check_dense("", 16, 8, F32, TF32, TF32, F32, "");
}

/* Where products are computed with integers, and around where they are not. */
Test(emu_matrix, mma_cut_of_finite_numbers)
{
    static const struct {
        enum type type;
        int k;
    } cases[] = {{F16, 8}, {F16, 16}, {BF16, 8}, {BF16, 16}, {TF32, 4}, {TF32, 8}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int range = FULL_SUMS; range <= FINITE_AND_FAR; range++) {
            char op[200];
            const char *name = types[cases[i].type].name;
            snprintf(op, sizeof op, "mma.sync.aligned.m16n8k%d.row.col.f32.%s.%s.f32", cases[i].k,
                     name, name);
            check_mma("8.7", op,
                      (struct product){.m = 16,
                                       .n = 8,
                                       .k = cases[i].k,
                                       .a = cases[i].type,
                                       .b = cases[i].type,
                                       .c = F32,
                                       .d = F32,
                                       .range = (unsigned)range},
                      0);
        }
}

Test(emu_matrix, mma_f8)
{
    static const enum type f8[] = {E4M3, E5M2};
    for (int i = 0; i < 4; i++)
        for (int k = 16; k <= 32; k += 16) {
            check_dense("", 16, k, F32, f8[i / 2], f8[i % 2], F32, "");
            check_dense("", 16, k, F16, f8[i / 2], f8[i % 2], F16, "");
        }
}

Test(emu_matrix, mma_f64)
{
    static const char *const rounding[] = {"", ".rn", ".rz", ".rm", ".rp"};
    for (int i = 0; i < 5; i++) {
        check_dense(rounding[i], 8, 4, F64, F64, F64, F64, "");
        for (int k = 4; k <= 16; k *= 2) check_dense(rounding[i], 16, k, F64, F64, F64, F64, "");
    }
}

Test(emu_matrix, mma_integers)
{
    static const enum type eight[] = {S8, U8}, four[] = {S4, U4};
    static const struct {
        int m, k;
    } shapes[] = {{8, 16}, {16, 16}, {16, 32}};
    for (int i = 0; i < 4; i++)
        for (int s = 0; s < 3; s++)
            for (int sat = 0; sat < 2; sat++) {
                const char *extra = sat ? ".satfinite" : "";
                check_dense(extra, shapes[s].m, shapes[s].k, S32, eight[i / 2], eight[i % 2], S32,
                            "");
                check_dense(extra, shapes[s].m, shapes[s].k * 2, S32, four[i / 2], four[i % 2], S32,
                            "");
            }
}

/* Sums beyond 32 bits: C at the ends of the range, all products of one sign. */
Test(emu_matrix, integers_wrap_or_saturate)
{
    for (int sat = 0; sat < 2; sat++) {
        struct frag a = {.regs = 4, .type = S8}, b = {.regs = 2, .type = U8},
                    c = {.regs = 4, .type = S32}, d = {.regs = 4, .type = S32};
        for (int t = 0; t < THREADS; t++) {
            for (int r = 0; r < 4; r++)
                a.word[r][t] = t < 32 ? 0x80808080 : 0x7f7f7f7f,
                c.word[r][t] = t < 32 ? 0x80000000 + (r == 0 ? 40000000u : 0) : 0x7fffffff;
            b.word[0][t] = b.word[1][t] = 0xffffffff;
        }
        run_mma("8.0", "sm_80",
                sat ? "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32"
                    : "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
                &d, &a, &b, &c, NULL, 0);
        for (int t = 0; t < THREADS; t++)
            for (int r = 0; r < 4; r++) {
                int64_t sum = (int64_t)(int32_t)c.word[r][t] + 32ll * 255 * (t < 32 ? -128 : 127);
                if (sat) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
                cr_assert_eq((uint32_t)d.word[r][t], (uint32_t)sum);
            }
    }
}

Test(emu_matrix, mma_bits)
{
    static const char *const end[] = {".xor.popc", ".and.popc"};
    for (int i = 0; i < 2; i++) {
        check_dense("", 8, 128, S32, B1, B1, S32, end[i]);
        check_dense("", 16, 128, S32, B1, B1, S32, end[i]);
        check_dense("", 16, 256, S32, B1, B1, S32, end[i]);
    }
}

static void check_sparse(int k, enum type d, enum type a, enum type b, enum type c, int selectors)
{
    for (int way = 0; way < 8; way++) {
        bool saturate = d == S32 && way & 4;
        char op[200];
        snprintf(op, sizeof op, "mma.sp%s.sync.aligned.m16n8k%d.row.col%s.%s.%s.%s.%s",
                 way & 1 ? "::ordered_metadata" : "", k, saturate ? ".satfinite" : "",
                 types[d].name, types[a].name, types[b].name, types[c].name);
        struct product x = {.m = 16,
                            .n = 8,
                            .k = k,
                            .a = a,
                            .b = b,
                            .c = c,
                            .d = d,
                            .kept = k / 2,
                            .small = way & 2,
                            .saturate = saturate};
        check_mma("8.7", op, x, selectors);
    }
}

Test(emu_matrix, mma_sparse)
{
    for (int more = 0; more < 2; more++) {
        int selectors = more ? 2 : 4;
        check_sparse(16 << more, F16, F16, F16, F16, selectors);
        check_sparse(16 << more, F32, F16, F16, F32, selectors);
        check_sparse(16 << more, F32, BF16, BF16, F32, selectors);
        check_sparse(8 << more, F32, TF32, TF32, F32, selectors);
        static const enum type eight[] = {S8, U8}, four[] = {S4, U4}, f8[] = {E4M3, E5M2};
        selectors = more ? 1 : 2;
        for (int i = 0; i < 4; i++) {
            check_sparse(32 << more, S32, eight[i / 2], eight[i % 2], S32, selectors);
            check_sparse(64 << more, S32, four[i / 2], four[i % 2], S32, selectors);
            if (more) check_sparse(64, F32, f8[i / 2], f8[i % 2], F32, 1);
        }
    }
}

/* Four products at once, each of lanes 4q..4q+3 and 4q+16..4q+19. */
Test(emu_matrix, mma_m8n8k4_f16)
{
    static struct product quads[WARPS * 4];
    for (int way = 0; way < 24; way++) {
        bool a_col = way & 1, b_col = way & 2;
        bool small = way & 4;
        enum type d = way / 8 == 0 ? F16 : F32, c = way / 8 == 2 ? F32 : F16;
        char op[200];
        snprintf(op, sizeof op, "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s",
                 a_col ? "col" : "row", b_col ? "col" : "row", types[d].name, types[c].name);
        uint64_t seed = (uint64_t)way;
        struct frag fa = {.regs = 2, .type = F16}, fb = {.regs = 2, .type = F16},
                    fc = {.regs = c == F16 ? 4 : 8, .type = c},
                    fd = {.regs = d == F16 ? 4 : 8, .type = d};
        for (int q = 0; q < WARPS * 4; q++) {
            quads[q] = (struct product){
                .m = 8, .n = 8, .k = 4, .a = F16, .b = F16, .c = c, .d = d, .small = small};
            fill_product(&quads[q], &seed);
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int t = 0; t < THREADS; t++) {
                int lane = t % 32;
                struct product *x = &quads[t / 32 * 4 + lane % 16 / 4];
                int high = lane < 16 ? 0 : 4;
                for (int i = 0; i < 4 && !pass; i++) {
                    int row = a_col ? i % 4 + high : lane % 4 + high, col = a_col ? lane % 4 : i;
                    put(&fa, t, i, x->am[row][col]);
                    row = b_col ? i : lane % 4;
                    col = b_col ? lane % 4 + high : i + high;
                    put(&fb, t, i, x->bm[row][col]);
                }
                for (int i = 0; i < 8; i++) {
                    enum type which = pass ? d : c;
                    int row = lane % 4 + high, col = i;
                    if (which == F32) {
                        row = (lane & 1) + (i & 2) + high;
                        col = (i & 4) + (lane & 2) + (i & 1);
                    }
                    if (pass) expect_product(x, row, col, get(&fd, t, i), op);
                    else put(&fc, t, i, x->cm[row][col]);
                }
            }
            if (!pass) run_mma("7.0", "sm_70", op, &fd, &fa, &fb, &fc, NULL, 0);
        }
    }
}

/* ---- ldmatrix, stmatrix, movmatrix --------------------------------------------------------------- */

enum { BYTES = 16384 };

/* Copies BYTES from parameter `in` to shared memory `sm` and, at the end, back to `out`. 32 threads. */
static void say_shared_in(void)
{
    say("mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\nld.param.u64 %%rd1, [in];\nadd.s64 %%rd1, %%rd1, %%rd0;\n"
        "mov.u32 %%r1, sm;\nshl.b32 %%r2, %%r0, 2;\nadd.u32 %%r1, %%r1, %%r2;\n");
    for (int i = 0; i < BYTES; i += 128)
        say("ld.global.u32 %%r3, [%%rd1+%d];\nst.shared.u32 [%%r1+%d], %%r3;\n", i, i);
}
static void say_shared_out(void)
{
    say("ld.param.u64 %%rd1, [out];\nadd.s64 %%rd1, %%rd1, %%rd0;\n");
    for (int i = 0; i < BYTES; i += 128)
        say("ld.shared.u32 %%r3, [%%r1+%d];\nst.global.u32 [%%rd1+%d], %%r3;\n", i, i);
}

/* Each lane's address is `sm` + its word of `at`; registers %v0.. are loaded from and stored to `v`. */
static bool run_matrix(const char *op, int regs, bool store, bool generic, const uint16_t *memory,
                       uint16_t *after, const uint32_t *at, uint32_t (*v)[32], struct emu_run *r)
{
    begin("8.0", "sm_90");
    say(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 at, .param .u64 v)\n{\n"
        ".reg .b64 %%rd<10>;\n.reg .b32 %%r<10>, %%v<8>;\n.shared .align 128 .b8 sm[%d];\n",
        BYTES);
    say_shared_in();
    say("ld.param.u64 %%rd2, [at];\nadd.s64 %%rd2, %%rd2, %%rd0;\nld.global.u32 %%r4, [%%rd2];\nmov.u32 %%r5, sm;\n"
        "add.u32 %%r4, %%r4, %%r5;\ncvt.u64.u32 %%rd3, %%r4;\ncvta.shared.u64 %%rd3, %%rd3;\n"
        "ld.param.u64 %%rd4, [v];\nadd.s64 %%rd4, %%rd4, %%rd0;\n");
    for (int i = 0; i < regs; i++) say("ld.global.u32 %%v%d, [%%rd4+%d];\n", i, i * 128);
    const char *address = generic ? "%rd3" : "%r4";
    say("%s ", op);
    if (store) say("[%s+16], ", address);
    say_vector("v", regs);
    if (!store) say(", [%s+16]", address);
    say(";\n");
    for (int i = 0; i < regs; i++) say("st.global.u32 [%%rd4+%d], %%v%d;\n", i * 128, i);
    say_shared_out();
    say("ret;\n}\n");
    *r = (struct emu_run){.ptx = text, .grid = 1, .block = 32};
    r->args[0] = emu_in(r, memory, BYTES);
    r->args[1] = emu_out(r, after, BYTES);
    r->args[2] = emu_in(r, at, 32 * 4);
    r->args[3] = emu_inout(r, v, (size_t)regs * 128);
    return emu_run(r);
}

Test(emu_matrix, ldmatrix_and_stmatrix)
{
    uint64_t seed = 1;
    for (int way = 0; way < 24; way++) {
        bool store = way & 1, trans = way & 2, generic = way & 4;
        int n = 1 << way / 8;
        static uint16_t memory[BYTES / 2], after[BYTES / 2], want[BYTES / 2];
        uint32_t at[32], v[4][32], before[4][32];
        for (int i = 0; i < BYTES / 2; i++) memory[i] = want[i] = (uint16_t)rng_next(&seed);
        for (int l = 0; l < 32; l++)
            at[l] = ((uint32_t)l * 7 % 32 * 5 + 3) * 16;     /* apart, in no order */
        for (int l = n * 8; l < 32; l++) at[l] = 0x7fffffff; /* nobody looks at these */
        for (int i = 0; i < 4; i++)
            for (int l = 0; l < 32; l++) v[i][l] = before[i][l] = (uint32_t)rng_next(&seed);
        char op[200];
        snprintf(op, sizeof op, "%s.sync.aligned.m8n8.x%d%s%s.b16", store ? "stmatrix" : "ldmatrix",
                 n, trans ? ".trans" : "",
                 generic   ? ""
                 : way & 8 ? ".shared"
                           : ".shared::cta");
        struct emu_run r;
        cr_assert(run_matrix(op, n, store, generic, memory, after, at, v, &r), "%s\n%s", op,
                  r.fault);
        for (int i = 0; i < n; i++)
            for (int l = 0; l < 32; l++)
                for (int h = 0; h < 2; h++) {
                    int row = l / 4, col = l % 4 * 2 + h; /* of the fragment */
                    uint32_t place = at[i * 8 + (trans ? col : row)] / 2 + 8 +
                                     (uint32_t)(trans ? row : col);
                    if (store) want[place] = (uint16_t)(before[i][l] >> h * 16);
                    else
                        cr_assert_eq((uint16_t)(v[i][l] >> h * 16), memory[place],
                                     "%s: matrix %d lane %d", op, i, l);
                }
        cr_assert(!memcmp(after, want, BYTES), "%s: memory", op);
    }
}

Test(emu_matrix, rows_must_be_in_shared_memory)
{
    static uint16_t memory[BYTES / 2], after[BYTES / 2];
    uint32_t at[32], v[4][32] = {{0}};
    struct emu_run r;
    const char *op = "ldmatrix.sync.aligned.m8n8.x4.shared.b16";
    for (int l = 0; l < 32; l++) at[l] = (uint32_t)l * 16;
    cr_assert(run_matrix(op, 4, false, false, memory, after, at, v, &r), "%s", r.fault);
    at[17] = 8;
    cr_assert_not(run_matrix(op, 4, false, false, memory, after, at, v, &r));
    cr_assert_eq(r.kind, EMU_MISALIGNED, "%s", r.fault);
    cr_assert_eq(r.where.thread[0], 17);
    at[17] = BYTES - 16;
    cr_assert_not(run_matrix(op, 4, false, false, memory, after, at, v, &r));
    cr_assert_eq(r.kind, EMU_OUT_OF_BOUNDS, "%s", r.fault);
    cr_assert_not(run_matrix("stmatrix.sync.aligned.m8n8.x4.shared.b16", 4, true, false, memory,
                             after, at, v, &r));
    cr_assert_eq(r.kind, EMU_OUT_OF_BOUNDS, "%s", r.fault);
    at[17] = 0xf0000000; /* as a generic address it is global memory */
    cr_assert_not(
        run_matrix("ldmatrix.sync.aligned.m8n8.x4.b16", 4, false, true, memory, after, at, v, &r));
    cr_assert_eq(r.kind, EMU_WRONG_SPACE, "%s", r.fault);
}

Test(emu_matrix, movmatrix_transposes)
{
    uint64_t seed = 2;
    uint32_t v[32], out[32];
    for (int l = 0; l < 32; l++) v[l] = (uint32_t)rng_next(&seed);
    begin("8.0", "sm_90");
    say(".visible .entry k(.param .u64 v, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n"
        "mov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\nld.param.u64 %%rd1, [v];\nadd.s64 %%rd1, %%rd1, %%rd0;\n"
        "ld.global.u32 %%r1, [%%rd1];\nmovmatrix.sync.aligned.m8n8.trans.b16 %%r1, %%r1;\n"
        "ld.param.u64 %%rd1, [out];\nadd.s64 %%rd1, %%rd1, %%rd0;\nst.global.u32 [%%rd1], %%r1;\nret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    r.args[0] = emu_in(&r, v, sizeof v);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int row = 0; row < 8; row++)
        for (int col = 0; col < 8; col++) {
            uint32_t from = v[row * 4 + col / 2] >> col % 2 * 16 & 0xffff,
                     to = out[col * 4 + row / 2] >> row % 2 * 16 & 0xffff;
            cr_assert_eq(to, from, "row %d column %d", row, col);
        }
}

/* ---- wmma ---------------------------------------------------------------------------------------- */

struct wmma {
    const char *version, *target;
    int m, n, k;
    enum type ab, c, d;
    bool a_col, b_col, c_col, d_col;
    int regs_a, regs_b;
    int pad;           /* elements more than a line has; 0: no stride is given */
    const char *space; /* ".global", ".shared", "" */
    const char *mma;   /* words between wmma.mma and the shape, and behind the types */
    const char *tail;
    bool old, dc_only; /* no .aligned; only D's and C's types are named */
};

struct memory {       /* of one matrix: lines with padding; sub-byte elements low first */
    int offset, line; /* in bytes; bytes of a line with its padding */
    bool col;
    int bits;
};

static uint8_t bytes[16384], result[16384];

static uint64_t *none;
static void poke(const struct memory *q, int row, int col, uint64_t bits)
{
    int line = q->col ? col : row, from = q->col ? row : col,
        at = (q->offset + line * q->line) * 8 + from * q->bits;
    for (int i = 0; i < q->bits; i++) {
        uint8_t *b = &bytes[(at + i) / 8], one = (uint8_t)(1 << (at + i) % 8);
        *b = (uint8_t)(bits >> i & 1 ? *b | one : *b & ~one);
    }
    (void)none;
}
static uint64_t peek(const struct memory *q, int row, int col)
{
    int line = q->col ? col : row, from = q->col ? row : col,
        at = (q->offset + line * q->line) * 8 + from * q->bits;
    uint64_t v = 0;
    for (int i = 0; i < q->bits; i++)
        v |= (uint64_t)(result[(at + i) / 8] >> (at + i) % 8 & 1) << i;
    return v;
}

static struct memory lay(int *top, int rows, int cols, bool col, int bits, int pad)
{
    int lines = col ? cols : rows, length = col ? rows : cols;
    struct memory q = {.offset = *top, .line = (length + pad) * bits / 8, .col = col, .bits = bits};
    *top += lines * q.line;
    *top = (*top + 255) / 256 * 256;
    return q;
}

static void check_wmma(struct wmma f, bool small)
{
    static struct product x;
    x = (struct product){.m = f.m,
                         .n = f.n,
                         .k = f.k,
                         .a = f.ab,
                         .b = f.ab,
                         .c = f.c,
                         .d = f.d,
                         .small = small,
                         .saturate = strstr(f.tail, "satfinite") != NULL,
                         .round = FE_TONEAREST};
    x.op = strstr(f.mma, "xor") ? XOR : strstr(f.mma, "and") ? AND : MULTIPLY;
    x.round = strstr(f.tail, ".rz") || strstr(f.mma, ".rz") ? FE_TOWARDZERO : FE_TONEAREST;
    uint64_t seed = (uint64_t)f.m * 7 + (uint64_t)f.ab * 3 + (uint64_t)f.a_col +
                    2 * (uint64_t)f.b_col + (uint64_t)f.pad;
    fill_product(&x, &seed);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)rng_next(&seed);
    int top = 0, bits = types[f.ab].bits, pad = f.pad;
    struct memory a = lay(&top, f.m, f.k, f.a_col, bits, pad * 16 / bits * (bits < 16 ? 1 : 1)),
                  b = lay(&top, f.k, f.n, f.b_col, bits, pad * 16 / bits),
                  c = lay(&top, f.m, f.n, f.c_col, types[f.c].bits, pad),
                  d = lay(&top, f.m, f.n, f.d_col, types[f.d].bits, pad);
    cr_assert_lt(top, (int)sizeof bytes);
    for (int i = 0; i < f.m; i++)
        for (int j = 0; j < f.k; j++) poke(&a, i, j, x.am[i][j]);
    for (int i = 0; i < f.k; i++)
        for (int j = 0; j < f.n; j++) poke(&b, i, j, x.bm[i][j]);
    for (int i = 0; i < f.m; i++)
        for (int j = 0; j < f.n; j++) poke(&c, i, j, x.cm[i][j]);
    int regs_c = f.m * f.n / 32 / per(f.c), regs_d = f.m * f.n / 32 / per(f.d);
    const char *aligned = f.old ? "" : ".aligned";
    bool shared = !strcmp(f.space, ".shared");
    char shape[40], stride[4][30] = {""};
    snprintf(shape, sizeof shape, ".m%dn%dk%d", f.m, f.n, f.k);
    const struct memory *all[] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; i++)
        if (pad) snprintf(stride[i], sizeof stride[i], ", %d", all[i]->line * 8 / all[i]->bits);
    begin(f.version, f.target);
    say(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<10>;\n.reg .b32 %%r<10>;\n"
        ".reg .u32 %%s;\n.reg %s %%a<8>, %%b<8>;\n.reg %s %%c<8>;\n.reg %s %%d<8>;\n",
        reg_type(f.ab == TF32 ? S32 : f.ab), reg_type(f.c), reg_type(f.d));
    if (shared) {
        say(".shared .align 256 .b8 sm[%d];\n", BYTES);
        cr_assert_leq(top, BYTES);
        say_shared_in();
        say("mov.u64 %%rd5, sm;\nmov.u64 %%rd6, sm;\n");
    } else say("ld.param.u64 %%rd5, [in];\nld.param.u64 %%rd6, [out];\n");
    say("wmma.load.a.sync%s%s%s%s.%s ", aligned, f.a_col ? ".col" : ".row", shape, f.space,
        types[f.ab].name);
    say_vector("a", f.regs_a);
    say(", [%%rd5+%d]%s;\n", a.offset, stride[0]);
    say("wmma.load.b.sync%s%s%s%s.%s ", aligned, f.b_col ? ".col" : ".row", shape, f.space,
        types[f.ab].name);
    say_vector("b", f.regs_b);
    say(", [%%rd5+%d]%s;\n", b.offset, stride[1]);
    if (pad) say("mov.u32 %%s%s;\n", stride[2]); /* a register for once */
    say("wmma.load.c.sync%s%s%s%s.%s ", aligned, f.c_col ? ".col" : ".row", shape, f.space,
        types[f.c].name);
    say_vector("c", regs_c);
    say(", [%%rd5+%d]%s;\n", c.offset, pad ? ", %s" : "");
    say("wmma.mma%s.sync%s%s%s%s", f.mma, aligned, f.a_col ? ".col" : ".row",
        f.b_col ? ".col" : ".row", shape);
    if (f.dc_only) say(".%s.%s%s ", types[f.d].name, types[f.c].name, f.tail);
    else if (f.ab == F64) say("%s.f64.f64.f64.f64 ", f.tail);
    else
        say(".%s.%s.%s.%s%s ", types[f.d].name, types[f.ab].name, types[f.ab].name, types[f.c].name,
            f.tail);
    say_vector("d", regs_d);
    say(", ");
    say_vector("a", f.regs_a);
    say(", ");
    say_vector("b", f.regs_b);
    say(", ");
    say_vector("c", regs_c);
    say(";\nwmma.store.d.sync%s%s%s%s.%s [%%rd6+%d], ", aligned, f.d_col ? ".col" : ".row", shape,
        f.space, types[f.d].name, d.offset);
    say_vector("d", regs_d);
    say("%s;\n", stride[3]);
    if (shared) say_shared_out();
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    memcpy(result, bytes, sizeof bytes);
    r.args[0] = emu_in(&r, bytes, shared ? BYTES : sizeof bytes);
    r.args[1] = emu_inout(&r, result, shared ? BYTES : sizeof result);
    cr_assert(emu_run(&r), "%s\n%s", text, r.fault);
    char name[200];
    snprintf(name, sizeof name, "wmma%s %s %s pad %d%s", shape, types[f.ab].name, types[f.d].name,
             f.pad, f.space);
    for (int i = 0; i < f.m; i++)
        for (int j = 0; j < f.n; j++) expect_product(&x, i, j, peek(&d, i, j), name);
    /* nothing else was written */
    memcpy(bytes + d.offset, result + d.offset, (size_t)((d.col ? f.n : f.m) * d.line));
    for (int i = 0; i < (d.col ? f.n : f.m) && pad; i++)
        for (int j = (d.col ? f.m : f.n) * d.bits / 8; j < d.line; j++)
            bytes[d.offset + i * d.line + j] = result[d.offset + i * d.line + j];
    cr_assert(!memcmp(bytes, result, (size_t)(shared ? BYTES : (int)sizeof bytes)),
              "%s: memory beside D", name);
}

static const struct {
    int m, n, k;
} wmma_shapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};

Test(emu_matrix, wmma_f16, .timeout = 300)
{
    static const char *const spaces[] = {".global", ".shared", ""};
    for (int way = 0; way < 48; way++) {
        int s = way % 3;
        struct wmma f = {.version = "6.3",
                         .target = "sm_70",
                         .m = wmma_shapes[s].m,
                         .n = wmma_shapes[s].n,
                         .k = 16,
                         .ab = F16,
                         .c = way & 1 ? F16 : F32,
                         .d = way & 2 ? F16 : F32,
                         .a_col = way & 4,
                         .b_col = way & 8,
                         .c_col = way & 16,
                         .d_col = !(way & 4),
                         .regs_a = 8,
                         .regs_b = 8,
                         .pad = way % 5 == 0 ? 0 : 8,
                         .space = spaces[way / 3 % 3],
                         .mma = "",
                         .tail = way % 7 == 0 ? ".satfinite" : "",
                         .dc_only = true};
        if (way % 4 == 1) f.version = "6.1", f.old = true;
        check_wmma(f, way % 2);
    }
}

Test(emu_matrix, wmma_bf16_tf32_f64)
{
    for (int way = 0; way < 16; way++) {
        struct wmma f = {.version = "8.0",
                         .target = "sm_80",
                         .ab = BF16,
                         .c = F32,
                         .d = F32,
                         .k = 16,
                         .a_col = way & 1,
                         .b_col = way & 2,
                         .c_col = way & 4,
                         .d_col = way & 2,
                         .pad = way & 8 ? 16 : 0,
                         .space = way & 1 ? ".shared" : ".global",
                         .mma = "",
                         .tail = ""};
        for (int s = 0; s < 3; s++) {
            f.m = wmma_shapes[s].m;
            f.n = wmma_shapes[s].n;
            f.regs_a = f.m * 16 / 64;
            f.regs_b = f.n * 16 / 64;
            check_wmma(f, way & 1);
        }
        f.ab = TF32;
        f.m = f.n = 16;
        f.k = 8;
        f.regs_a = f.regs_b = 4;
        check_wmma(f, way & 1);
        f.ab = f.c = f.d = F64;
        f.m = f.n = 8;
        f.k = 4;
        f.regs_a = f.regs_b = 1;
        f.tail = way & 2 ? ".rz" : "";
        check_wmma(f, way & 1);
    }
}

Test(emu_matrix, wmma_integers)
{
    for (int way = 0; way < 32; way++) {
        struct wmma f = {.version = "8.0",
                         .target = "sm_80",
                         .c = S32,
                         .d = S32,
                         .a_col = way & 1,
                         .b_col = way & 2,
                         .c_col = way & 4,
                         .d_col = way & 1,
                         .pad = way & 8 ? 16 : 0,
                         .space = way & 4 ? "" : ".shared",
                         .mma = "",
                         .tail = way & 16 ? ".satfinite" : ""};
        for (int s = 0; s < 3; s++) {
            f.ab = way & 2 ? S8 : U8;
            f.m = wmma_shapes[s].m;
            f.n = wmma_shapes[s].n;
            f.k = 16;
            f.regs_a = f.m * 16 / 128;
            f.regs_b = f.n * 16 / 128;
            check_wmma(f, true);
        }
        f.a_col = false;
        f.b_col = true;
        f.m = f.n = 8;
        f.regs_a = f.regs_b = 1;
        f.ab = way & 2 ? S4 : U4;
        f.k = 32;
        check_wmma(f, true);
        f.ab = B1;
        f.k = 128;
        f.mma = way & 1 ? ".xor.popc" : ".and.popc";
        f.tail = "";
        check_wmma(f, true);
    }
}

/* The fragment that code sees: as of mma, and an f16 one of A or B that needs fewer than eight registers twice. */
Test(emu_matrix, wmma_fragments)
{
    uint16_t matrix[256];
    uint32_t out[2][8][32];
    for (int i = 0; i < 256; i++) matrix[i] = (uint16_t)i;
    begin("7.0", "sm_80");
    say(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>, %%a<8>, %%b<8>;\n"
        "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\n"
        "add.s64 %%rd2, %%rd2, %%rd0;\nwmma.load.a.sync.aligned.row.m16n16k16.global.f16 ");
    say_vector("a", 8);
    say(", [%%rd1];\nwmma.load.b.sync.aligned.row.m16n16k16.global.f16 ");
    say_vector("b", 8);
    say(", [%%rd1];\n");
    for (int i = 0; i < 8; i++)
        say("st.global.u32 [%%rd2+%d], %%a%d;\nst.global.u32 [%%rd2+%d], %%b%d;\n", i * 128, i,
            1024 + i * 128, i);
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    r.args[0] = emu_in(&r, matrix, sizeof matrix);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 16; i++) {
            struct spot p = a_place(16, 16, 16, l, i % 8), q = b_place(16, 16, l, i % 4);
            cr_assert_eq(out[0][i / 2][l] >> i % 2 * 16 & 0xffff, (uint32_t)(p.row * 16 + p.col),
                         "A: lane %d element %d", l, i);
            cr_assert_eq(out[1][i / 2][l] >> i % 2 * 16 & 0xffff,
                         (uint32_t)(q.row * 16 + q.col + i % 8 / 4 * 8), "B: lane %d element %d", l,
                         i);
        }
}

/* Lanes that are not here hold zeros, and get nothing. */
Test(emu_matrix, absent_lanes_count_as_zero)
{
    uint32_t in[32], out[4][32];
    for (int l = 0; l < 32; l++) in[l] = 0x3c003c00; /* 1, 1 */
    begin("7.0", "sm_80");
    say(".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n.reg .f32 %%d<4>;\n.reg .pred p;\n"
        "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\n"
        "add.s64 %%rd2, %%rd2, %%rd0;\nadd.s64 %%rd1, %%rd1, %%rd0;\nld.global.u32 %%r1, [%%rd1];\nsetp.lt.u32 p, %%r0, 16;\n"
        "mov.f32 %%d0, 0f40000000;\nmov.f32 %%d1, 0f40000000;\nmov.f32 %%d2, 0f40000000;\nmov.f32 %%d3, 0f40000000;\n"
        "@p mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%%d0,%%d1,%%d2,%%d3}, {%%r1,%%r1}, {%%r1}, {%%d0,%%d1,%%d2,%%d3};\n");
    for (int i = 0; i < 4; i++) say("st.global.f32 [%%rd2+%d], %%d%d;\n", i * 128, i);
    say("ret;\n}\n");
    struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
    r.args[0] = emu_in(&r, in, sizeof in);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 4; i++) {
            /* lanes 0-15 have rows 0-3 and 8-11 of A, and columns 0-3 of B */
            int col = l % 4 * 2 + i % 2;
            float want = l >= 16 || col >= 4 ? 2.0f : 10.0f, got;
            memcpy(&got, &out[i][l], 4);
            cr_assert_eq(got, want, "lane %d element %d: %g", l, i, got);
        }
}

/* Lanes with addresses and strides of their own, and lanes that stay away: each moves its own elements. */
Test(emu_matrix, wmma_lane_by_lane)
{
    enum { HALVES = 2048 };
    static uint16_t in[HALVES], stored[HALVES];
    uint32_t out[8][32];
    for (int way = 0; way < 8; way++) {
        bool own = way & 1, some = way & 2, col = way & 4;
        for (int i = 0; i < HALVES; i++) in[i] = (uint16_t)(i * 31), stored[i] = 0;
        begin("7.0", "sm_80");
        say(".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 st)\n{\n.reg .b64 %%rd<6>;\n"
            ".reg .b32 %%r<6>, %%a<8>;\n.reg .pred p;\nld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\n"
            "ld.param.u64 %%rd3, [st];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%rd0, %%r0, 4;\n"
            "add.s64 %%rd2, %%rd2, %%rd0;\nsetp.lt.u32 p, %%r0, 20;\nmov.u32 %%r1, 16;\n");
        for (int i = 0; i < 4; i++) say("mov.u32 %%a%d, 0x%x;\n", i, 0x10001 * i);
        if (own)
            say("and.b32 %%r2, %%r0, 1;\nmul.wide.u32 %%rd4, %%r2, 2048;\nadd.s64 %%rd1, %%rd1, %%rd4;\n"
                "add.s64 %%rd3, %%rd3, %%rd4;\nmul.lo.u32 %%r2, %%r2, 8;\nadd.u32 %%r1, %%r1, %%r2;\n");
        say("%s wmma.load.c.sync.aligned.%s.m16n16k16.global.f16 ", some ? "@p" : "",
            col ? "col" : "row");
        say_vector("a", 4);
        say(", [%%rd1], %%r1;\n%s wmma.store.d.sync.aligned.%s.m16n16k16.f16 [%%rd3], ",
            some ? "@p" : "", col ? "col" : "row");
        say_vector("a", 4);
        say(", %%r1;\n");
        for (int i = 0; i < 4; i++) say("st.global.u32 [%%rd2+%d], %%a%d;\n", i * 128, i);
        say("ret;\n}\n");
        struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
        r.args[0] = emu_in(&r, in, sizeof in);
        r.args[1] = emu_out(&r, out, sizeof out);
        r.args[2] = emu_out(&r, stored, sizeof stored);
        cr_assert(emu_run(&r), "%s", r.fault);
        static uint16_t want[HALVES];
        memset(want, 0, sizeof want);
        for (int l = 0; l < 32; l++)
            for (int i = 0; i < 8; i++) {
                struct spot p = c_place(l, i % 4);
                int row = p.row, column = p.col + i / 4 * 8, stride = own ? 16 + l % 2 * 8 : 16;
                int at = (own ? l % 2 * 1024 : 0) +
                         (col ? column * stride + row : row * stride + column);
                uint32_t expect = (uint32_t)(i / 2);
                if (!some || l < 20) expect = want[at] = in[at];
                cr_assert_eq(out[i / 2][l] >> i % 2 * 16 & 0xffff, expect,
                             "way %d lane %d element %d", way, l, i);
            }
        cr_assert(!memcmp(want, stored, sizeof want), "way %d", way);
    }
}

Test(emu_matrix, wmma_faults)
{
    static const struct {
        const char *body;
        enum emu_fault_kind kind;
    } cases[] = {
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1+32];", EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1], 0x7fffffff;",
         EMU_MISALIGNED},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1], 0x70000000;",
         EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1], 0xfffffff0;",
         EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 V8, [%rd1+2];", EMU_MISALIGNED},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 V8, [%rd4];", EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 V8, [sm];", EMU_OUT_OF_BOUNDS},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 V8, [%rd3];", EMU_WRONG_SPACE},
        {"wmma.load.c.sync.aligned.row.m16n16k16.f16 V4, [%rd1];\n"
         "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [sm+16], V4;",
         EMU_OUT_OF_BOUNDS},
        {"wmma.load.c.sync.aligned.row.m16n16k16.f16 V4, [%rd1];\n"
         "wmma.store.d.sync.aligned.row.m16n16k16.f16 [%rd5], V4;",
         EMU_READ_ONLY},
    };
    static uint8_t memory[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[400] = "";
        for (const char *p = cases[i].body; *p; p++) {
            size_t n = strlen(body);
            if (!strncmp(p, "V8", 2)) strcat(body, "{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}"), p++;
            else if (!strncmp(p, "V4", 2)) strcat(body, "{%a0,%a1,%a2,%a3}"), p++;
            else body[n] = *p, body[n + 1] = '\0';
        }
        begin("7.0", "sm_80");
        say(".const .align 32 .b8 fixed[512];\n"
            ".visible .entry k(.param .u64 in)\n{\n.reg .b64 %%rd<6>;\n.reg .b32 %%a<8>;\n.local .align 32 .b8 own[512];\n"
            ".shared .align 32 .b8 sm[256];\nld.param.u64 %%rd1, [in];\nmov.u64 %%rd2, own;\ncvta.local.u64 %%rd3, %%rd2;\n"
            "mov.u64 %%rd4, 0;\nmov.u64 %%rd5, fixed;\ncvta.const.u64 %%rd5, %%rd5;\n"
            "%s\nst.global.u32 [%%rd1], %%a0;\nret;\n}\n",
            body);
        struct emu_run r = {.ptx = text, .grid = 1, .block = 32};
        r.args[0] = emu_in(&r, memory, sizeof memory);
        cr_expect_not(emu_run(&r), "%s", cases[i].body);
        cr_expect_eq(r.kind, cases[i].kind, "%s\n%d: %s", cases[i].body, (int)r.kind, r.fault);
    }
}

/* ---- orders and observers ------------------------------------------------------------------------ */

struct seen { /* bytes that accesses named, of a buffer at `low` or of shared memory */
    uint64_t low;
    uint8_t read[2048], written[2048], shared_read[2048];
    unsigned accesses;
    bool hold; /* stores are not carried out */
};

static void see(struct seen *s, const struct emu_access *a)
{
    s->accesses++;
    for (int l = 0; l < 32; l++)
        for (int i = 0; a->lanes >> l & 1 && i < a->width * a->count; i++) {
            uint64_t at = a->address[l] + (uint64_t)i - s->low;
            uint64_t shared = a->address[l] + (uint64_t)i - 0x01000000;
            if (at < sizeof s->read) (a->kind == EMU_LOAD ? s->read : s->written)[at]++;
            else if (shared < sizeof s->shared_read && a->kind == EMU_LOAD)
                s->shared_read[shared]++;
        }
}
static void observe(void *self, const struct emu_access *a)
{
    see(self, a);
}
static enum emu_verdict decide(void *self, const struct emu_access *a)
{
    struct seen *s = self;
    if (!s->hold || a->address[0] < s->low) return EMU_PROCEED;
    for (int l = 0; a->kind == EMU_LOAD && l < 32; l++)
        memset(a->result + a->stride * (unsigned)l, 0x11, (size_t)a->width * a->count);
    return EMU_DONE;
}

static void run_watched(uint8_t *memory, struct seen *s, bool order)
{
    struct arena *arena = arena_new();
    struct source source = {"test.ptx", text, (uint32_t)strlen(text)};
    struct diags diags = {.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    cr_assert(ptx_module_check(m));
    struct emu *e = emu_new(&(struct emu_config){.threads = 1});
    char *why = NULL;
    struct emu_image *im = emu_load(e, &m, 1, &why);
    cr_assert(im, "%s", why);
    uint64_t at = s->low = emu_alloc(e, 2048, "buffer");
    emu_copy_in(e, at, memory, 2048);
    struct emu_observer o = {.self = s, .access = observe};
    struct emu_order decides = {
        .self = s, .wants = EMU_WANT_LOADS | EMU_WANT_STORES, .access = decide};
    const struct emu_observer *observers[] = {&o};
    struct emu_launch l = {.grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .params = &at,
                           .params_size = 8,
                           .observers = observers,
                           .observer_count = 1,
                           .order = order ? &decides : NULL};
    const struct emu_report *r = emu_launch(e, emu_kernel_at(im, 0), &l);
    cr_assert_eq(r->fault.kind, EMU_OK, "%s", r->fault.text);
    emu_copy_out(e, memory, at, 2048);
    emu_unload(im);
    emu_free(e);
    ptx_module_end(m);
    arena_free(arena);
}

/* What is named are the bytes of the matrix, each once, and they get there as without an observer. */
Test(emu_matrix, accesses_are_told)
{
    begin("8.0", "sm_90");
    say(".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd<6>;\n.reg .b32 %%a<8>, %%r<4>;\n.shared .align 32 .b8 sm[1024];\n"
        "ld.param.u64 %%rd1, [p];\nmov.u32 %%r0, %%tid.x;\nshl.b32 %%r1, %%r0, 4;\nmov.u32 %%r2, sm;\nadd.u32 %%r2, %%r2, %%r1;\n"
        "wmma.load.c.sync.aligned.col.m16n16k16.global.f16 {%%a0, %%a1, %%a2, %%a3}, [%%rd1], 24;\n"
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%%r2], {%%a0, %%a1, %%a2, %%a3};\n"
        "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%%a2, %%a3}, [%%r2];\n"
        "wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%%rd1+1024], {%%a2, %%a3, %%a0, %%a1}, 16;\nret;\n}\n");
    static uint8_t memory[2048], before[2048];
    uint64_t seed = 3;
    for (int i = 0; i < 2048; i++) memory[i] = before[i] = (uint8_t)rng_next(&seed);
    static struct seen s;
    run_watched(memory, &s, false);
    cr_assert_eq(s.accesses, 4);
    for (int i = 0; i < 1024; i++) {
        cr_assert_eq(s.read[i], i / 48 < 16 && i % 48 < 32, "byte %d read", i);
        cr_assert_eq(s.written[i + 1024], i < 512, "byte %d written", i);
        cr_assert_eq(s.shared_read[i], i < 256, "byte %d of shared memory", i);
    }
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 16; col++) {
            int to = 1024 + (row * 16 + col) * 2, from = (col % 8 * 24 + row) * 2;
            cr_assert_eq(memory[to], before[from], "row %d column %d", row, col);
            cr_assert_eq(memory[to + 1], before[from + 1], "row %d column %d", row, col);
        }
    /* an order that answers loads and keeps stores to itself */
    memcpy(memory, before, sizeof memory);
    s = (struct seen){.hold = true};
    run_watched(memory, &s, true);
    cr_assert(!memcmp(memory, before, sizeof memory));
}
