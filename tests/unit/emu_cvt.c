/* cvt and cvt.pack, executed, against plain C. */
#include "tests/support/batch.h"
#include "tests/support/floats.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- integers ------------------------------------------------------------------------------------ */

static const uint64_t integers[] = {0,
                                    1,
                                    2,
                                    3,
                                    0x7e,
                                    0x7f,
                                    0x80,
                                    0x81,
                                    0xfe,
                                    0xff,
                                    0x100,
                                    0x101,
                                    0x3ff,
                                    0x7fff,
                                    0x8000,
                                    0x8001,
                                    0xff7f,
                                    0xff80,
                                    0xffff,
                                    0x10000,
                                    0x12345,
                                    0xffff7f,
                                    0xffffff,
                                    0x1000001,
                                    0x1000003,
                                    0x7fffff7f,
                                    0x7fffff80,
                                    0x7fffffbf,
                                    0x7fffffff,
                                    0x80000000,
                                    0x80000001,
                                    0xffff7fff,
                                    0xffff8000,
                                    0xffffff7f,
                                    0xffffff80,
                                    0xffffffff,
                                    0x100000000,
                                    0x100000001,
                                    0xffffff8000000001,
                                    0x1fffffffffffff,
                                    0x20000000000001,
                                    0x20000000000003,
                                    0x7fffffffffffffff,
                                    0x7fffffbfffffffff,
                                    0x7ffffffffffffc00,
                                    0x8000000000000000,
                                    0x8000000000000001,
                                    0xffffffff7fffffff,
                                    0xffffffff80000000,
                                    0xffffffffffff7fff,
                                    0xffffffffffff8000,
                                    0xffffffffffffff7f,
                                    0xffffffffffffff80,
                                    0xffffffffffffffff,
                                    0xffffff7fffffffff,
                                    0xffffff8000000000,
                                    0xfffffffffffffbff,
                                    0xdeadbeefcafe4321};
static const char *const int_names[] = {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"};
static int bits_of(int type)
{
    return 8 << type / 2;
}
static __int128 int_value(int type, uint64_t word)
{
    int unused = 64 - bits_of(type);
    return type % 2 ? (__int128)((int64_t)(word << unused) >> unused)
                    : (__int128)(word << unused >> unused);
}
static __int128 clamp(int type, __int128 v)
{
    __int128 max = type % 2 ? ((__int128)1 << (bits_of(type) - 1)) - 1
                            : ((__int128)1 << bits_of(type)) - 1;
    __int128 min = type % 2 ? -max - 1 : 0;
    return v < min ? min : v > max ? max : v;
}
/* What a register of 8 << width bits holds when the type has been written to it. */
static uint64_t written(int type, __int128 v, int width)
{
    uint64_t low = (uint64_t)int_value(type, (uint64_t)v);
    return width == 3 ? low : low & (((uint64_t)1 << (8 << width)) - 1);
}
static const char registers[] = "chrl"; /* of 8 << k bits */

/* x: to | from << 4, y: width of the result | .sat << 4 */
static uint64_t int_to_int(const struct batch_case *c, const uint64_t *in)
{
    int to = c->x & 15, from = c->x >> 4;
    __int128 v = int_value(from, in[0]);
    return written(to, c->y >> 4 ? clamp(to, v) : v, c->y & 15);
}

static struct batch int_rows(void)
{
    struct batch b = {.target = "sm_90"};
    for (size_t i = 0; i < COUNT(integers); i++) batch_row(&b, integers[i], 0, 0);
    for (int i = 0; i < 300; i++) batch_row(&b, batch_random() >> batch_random() % 64, 0, 0);
    return b;
}

Test(emu_cvt, integers)
{
    struct batch b = int_rows();
    for (int to = 0; to < 8; to++)
        for (int from = 0; from < 8; from++)
            for (int in = from / 2; in < 4; in++)
                for (int out = to / 2; out < 4; out++) {
                    __int128 low = clamp(from, -((__int128)1 << 100)),
                             high = clamp(from, (__int128)1 << 100);
                    char d = registers[out], s = registers[in];
                    batch_add(&b, d, int_to_int, to | from << 4, out, "cvt.%s.%s %%%co, %%%c1",
                              int_names[to], int_names[from], d, s);
                    if (clamp(to, low) == low && clamp(to, high) == high) continue;
                    batch_add(&b, d, int_to_int, to | from << 4, out | 16,
                              "cvt.sat.%s.%s %%%co, %%%c1", int_names[to], int_names[from], d, s);
                }
    batch_run(&b);
}

Test(emu_cvt, constants_and_special_registers)
{
    struct batch b = {.target = "sm_90"};
    for (uint64_t i = 0; i < 64; i++)
        batch_row(&b, i == 63 ? 0xfffffffffffffff0 : 0xfffffffffffffff0, 0, 0);
    batch_add(&b, 'l', int_to_int, 7 | 1 << 4, 3, "cvt.s64.s8 %%lo, 240");
    batch_add(&b, 'l', int_to_int, 6 | 0 << 4, 3, "cvt.u64.u8 %%lo, -16");
    batch_add(&b, 'r', int_to_int, 4 | 2 << 4, 2, "cvt.u32.u16 %%ro, 65520");
    batch_run(&b);
}

/* ---- integers and floats ------------------------------------------------------------------------- */

/* A wide integer as a float of type 'h' 'b' 'f' 'd'. */
static uint64_t int_as(int type, __int128 v, int rnd, bool sat)
{
    volatile long double x = (long double)v; /* 64 bits are enough */
    if (sat) x = x < 0 ? 0 : x > 1 ? 1 : x;
    if (type == 'h' || type == 'b') return half_of(type, odd_of(x), rnd);
    fesetround(modes[rnd]);
    volatile float f = (float)x;
    volatile double d = (double)x;
    fesetround(FE_TONEAREST);
    return type == 'f' ? bits32(f) : bits64(d);
}
/* x: from | rounding << 4 | .sat << 8, y: type */
static uint64_t int_to_float(const struct batch_case *c, const uint64_t *in)
{
    return int_as(c->y, int_value(c->x & 15, in[0]), c->x >> 4 & 15, c->x >> 8);
}

static const char float_types[] = "hbfd";
static const char *const float_names[] = {"f16", "bf16", "f32", "f64"};
static const char narrow_register[] = "hhfd",
                  wide_register[] = "r\0l\0"; /* a wider one that may be used */

Test(emu_cvt, integers_to_floats)
{
    struct batch b = int_rows();
    for (int t = 0; t < 4; t++)
        for (int from = 0; from < 8; from++)
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 2; s++) {
                    char type = float_types[t], d = narrow_register[t], reg = registers[from / 2];
                    int x = from | r << 4 | s << 8;
                    if (s && type == 'b') continue;
                    batch_add(&b, d, int_to_float, x, type, "cvt%s%s%s.%s.%s %%%co, %%%c1",
                              roundings[r], type == 'f' && s ? ".ftz" : "", s ? ".sat" : "",
                              float_names[t], int_names[from], d, reg);
                    if (!wide_register[t]) continue;
                    d = wide_register[t];
                    batch_add(&b, d, int_to_float, x, type, "cvt%s%s.%s.%s %%%co, %%l1",
                              roundings[r], s ? ".sat" : "", float_names[t], int_names[from], d);
                }
    batch_run(&b);
}

static double value_of(int type, uint64_t word, int mods)
{
    return type == 'd'   ? f64(word)
           : type == 'f' ? in32(word, mods)
                         : half_value(type, word & 0xffff);
}
static double integral(double v, int rnd)
{
    fesetround(modes[rnd]);
    volatile double x = v, r = nearbyint(x);
    fesetround(FE_TONEAREST);
    return r;
}
/* x: to | rounding << 4 | width of the result << 8, y: type | FTZ << 8 */
static uint64_t float_to_int(const struct batch_case *c, const uint64_t *in)
{
    int to = c->x & 15, type = c->y & 0xff;
    double v = integral(value_of(type, in[0], c->y >> 8), c->x >> 4 & 15);
    __int128 r;
    if (isnan(v)) r = type == 'd' || to >= 6 ? (__int128)1 << (bits_of(to) - 1) : 0;
    else
        r = clamp(to, fabs(v) < 0x1p100 ? (__int128)v
                      : v < 0           ? -((__int128)1 << 100)
                                        : (__int128)1 << 100);
    return written(to, r, c->x >> 8);
}

static struct batch float_rows(int type)
{
    struct batch b = {.target = "sm_90"};
    if (type == 'h' || type == 'b') { /* all of them */
        for (uint64_t h = 0; h < 0x10000; h += h % 7 + THINNED)
            batch_row(&b, h | batch_random() << 16, 0, 0);
        return b;
    }
    size_t n = type == 'f' ? COUNT(edges32) : COUNT(edges64);
    for (size_t i = 0; i < n; i++) batch_row(&b, type == 'f' ? edges32[i] : edges64[i], 0, 0);
    for (int e = -3; e < 66; e++) /* around powers of two, halves, and ties of smaller formats */
        for (int k = -6; k <= 6; k++)
            for (int s = 0; s < 2; s++) {
                double v = ldexp(1, e) + k * (k % 2 ? 0.5 : 0.25);
                if (s) v = -v;
                batch_row(&b, type == 'f' ? bits32((float)v) : bits64(v), 0, 0);
            }
    for (int i = 0; i < 600; i++) {
        uint64_t w = batch_random();
        if (i % 3 == 0)
            w &= type == 'f' ? ~UINT64_C(0xfff) : ~UINT64_C(0x1fffffff); /* exact, or ties */
        if (i % 3 == 1) {                                                /* of moderate size */
            double v = ldexp((double)(w >> 11), -(int)(w % 90)) * (w & 0x400 ? -1 : 1);
            w = type == 'f' ? bits32((float)v) : bits64(v);
        }
        batch_row(&b, type == 'f' ? w & 0xffffffff : w, 0, 0);
    }
    for (int e = -160; e < 140; e++) { /* where f32, f16 and bf16 end */
        double v = ldexp(1 + (double)(batch_random() >> 12) * 0x1p-52, e) * (e % 2 ? -1 : 1);
        double w = ldexp((double)(batch_random() >> 55) + 0.5, e - 8);
        batch_row(&b, type == 'f' ? bits32((float)v) : bits64(v), 0, 0);
        batch_row(&b, type == 'f' ? bits32((float)w) : bits64(w), 0, 0);
    }
    return b;
}

static const char *const integral_roundings[] = {".rni", ".rzi", ".rmi", ".rpi"};

static void floats_to_ints(int t)
{
    char type = float_types[t];
    struct batch b = float_rows(type);
    for (int to = 0; to < 8; to++)
        for (int r = 0; r < 4; r++)
            for (int m = 0; m < (type == 'f' ? 2 : 1); m++) {
                const char *ftz = m ? ".ftz" : "", *sat = r == 1 && type != 'b' ? ".sat" : "";
                char d = registers[to / 2], s = narrow_register[t];
                batch_add(&b, d, float_to_int, to | r << 4 | to / 2 << 8, type | m << 8,
                          "cvt%s%s%s.%s.%s %%%co, %%%c1", integral_roundings[r], ftz, sat,
                          int_names[to], float_names[t], d, s);
                if (type == 'b') continue;
                s = wide_register[t] ? wide_register[t]
                                     : s; /* and the result sign- or zero-extended */
                batch_add(&b, 'l', float_to_int, to | r << 4 | 3 << 8, type | m << 8,
                          "cvt%s%s.%s.%s %%lo, %%%c1", integral_roundings[r], ftz, int_names[to],
                          float_names[t], s);
            }
    batch_run(&b);
}

Test(emu_cvt, f16_to_integers)
{
    floats_to_ints(0);
}
Test(emu_cvt, bf16_to_integers)
{
    floats_to_ints(1);
}
Test(emu_cvt, f32_to_integers)
{
    floats_to_ints(2);
}
Test(emu_cvt, f64_to_integers)
{
    floats_to_ints(3);
}

/* ---- between floats ------------------------------------------------------------------------------- */

enum { SATFINITE = 128, MOVES = 256, INTEGRAL = 512 };

static uint64_t half_clamped(int type, uint64_t h, int mods)
{
    double v = half_value(type, h);
    uint64_t inf = type == 'h' ? 0x7c00 : 0x7f80;
    if (mods & SATFINITE && isinf(v)) h = (h & 0x8000) | (inf - 1);
    if (mods & RELU) h = isnan(v) ? 0x7fff : signbit(v) ? 0 : h;
    if (mods & SAT) h = isnan(v) || signbit(v) ? 0 : v > 1 ? 0x3c00 : h;
    return h;
}
/* A value of one type as another. */
static uint64_t as(int to, int from, uint64_t word, int rnd, int mods)
{
    double v = value_of(from, word, mods);
    if (mods & INTEGRAL) v = integral(v, rnd);
    if (to == 'h' || to == 'b') return half_clamped(to, half_of(to, v, rnd), mods);
    if (to == 'f') {
        volatile double x = v;
        fesetround(modes[rnd]);
        volatile float f = (float)x;
        fesetround(FE_TONEAREST);
        return out32(f, mods);
    }
    if (mods & SAT) v = isnan(v) || v <= 0 ? 0 : v > 1 ? 1 : v;
    if (from == 'h' || from == 'b') return isnan(v) ? 0x7fffffffe0000000 : bits64(v);
    return bits64(v);
}
/* x: to | from << 8, y: rounding | mods << 4 */
static uint64_t float_to_float(const struct batch_case *c, const uint64_t *in)
{
    int from = c->x >> 8, to = c->x & 0xff, mods = c->y >> 4;
    uint64_t mask = from == 'd' ? UINT64_MAX : from == 'f' ? 0xffffffff : 0xffff;
    if (mods & MOVES) return from == 'b' && to == 'f' ? (in[0] & 0xffff) << 16 : in[0] & mask;
    return as(to, from, in[0], c->y & 15, mods);
}

static void convert(struct batch *b, int t, int f, int rnd, int mods, const char *words)
{
    char to = float_types[t], from = float_types[f], d = narrow_register[t], s = narrow_register[f];
    int x = to | from << 8, y = rnd | mods << 4;
    batch_add(b, d, float_to_float, x, y, "cvt%s.%s.%s %%%co, %%%c1", words, float_names[t],
              float_names[f], d, s);
    if (!wide_register[t] || !wide_register[f] || to == 'b' || from == 'b') return;
    d = wide_register[t], s = wide_register[f];
    batch_add(b, d, float_to_float, x, y, "cvt%s.%s.%s %%%co, %%%c1", words, float_names[t],
              float_names[f], d, s);
}

Test(emu_cvt, f16_to_floats)
{
    struct batch b = float_rows('h');
    convert(&b, 0, 0, RN, 0, "");
    convert(&b, 0, 0, RN, SAT, ".sat");
    for (int r = 0; r < 4; r++) {
        char words[32];
        convert(&b, 0, 0, r, INTEGRAL, integral_roundings[r]);
        sprintf(words, "%s.sat", integral_roundings[r]);
        convert(&b, 0, 0, r, INTEGRAL | SAT, words);
        convert(&b, 1, 0, r, 0, roundings[r]);
    }
    convert(&b, 1, 0, RN, 0, "");
    convert(&b, 2, 0, RN, 0, "");
    convert(&b, 2, 0, RN, FTZ, ".ftz");
    convert(&b, 2, 0, RN, SAT | FTZ, ".ftz.sat");
    convert(&b, 3, 0, RN, 0, "");
    convert(&b, 3, 0, RN, SAT, ".sat");
    batch_run(&b);
}

Test(emu_cvt, bf16_to_floats)
{
    struct batch b = float_rows('b');
    convert(&b, 1, 1, RN, 0, "");
    convert(&b, 0, 1, RN, 0, "");
    convert(&b, 2, 1, RN, MOVES, "");
    convert(&b, 2, 1, RN, FTZ, ".ftz");
    convert(&b, 3, 1, RN, 0, "");
    for (int r = 0; r < 4; r++) {
        convert(&b, 1, 1, r, INTEGRAL, integral_roundings[r]);
        convert(&b, 0, 1, r, 0, roundings[r]);
        convert(&b, 2, 1, r, MOVES, roundings[r]);
        convert(&b, 3, 1, r, 0, roundings[r]);
    }
    batch_run(&b);
}

Test(emu_cvt, f32_to_floats)
{
    struct batch b = float_rows('f');
    convert(&b, 2, 2, RN, MOVES, "");
    convert(&b, 2, 2, RN, FTZ, ".ftz");
    convert(&b, 2, 2, RN, SAT, ".sat");
    convert(&b, 2, 2, RN, SAT | FTZ, ".ftz.sat");
    convert(&b, 3, 2, RN, 0, "");
    convert(&b, 3, 2, RN, FTZ, ".ftz");
    convert(&b, 3, 2, RN, SAT, ".sat");
    for (int r = 0; r < 4; r++)
        for (int m = 0; m < 4; m++) {
            static const char *const mods[] = {"", ".ftz", ".sat", ".ftz.sat"};
            char words[40];
            sprintf(words, "%s%s", integral_roundings[r], mods[m]);
            convert(&b, 2, 2, r, INTEGRAL | m, words);
            sprintf(words, "%s%s", roundings[r], mods[m]);
            convert(&b, 0, 2, r, m, words);
            if (!(m & SAT)) convert(&b, 1, 2, r, m, words);
            if (r > RZ || !m) continue;
            sprintf(words, "%s%s%s", roundings[r], m & 1 ? ".satfinite" : "", m & 2 ? ".relu" : "");
            convert(&b, 0, 2, r, (m & 1 ? SATFINITE : 0) | (m & 2 ? RELU : 0), words);
            convert(&b, 1, 2, r, (m & 1 ? SATFINITE : 0) | (m & 2 ? RELU : 0), words);
        }
    batch_run(&b);
}

Test(emu_cvt, f64_to_floats)
{
    struct batch b = float_rows('d');
    convert(&b, 3, 3, RN, MOVES, "");
    convert(&b, 3, 3, RN, SAT, ".sat");
    for (int r = 0; r < 4; r++)
        for (int m = 0; m < 4; m++) {
            static const char *const mods[] = {"", ".ftz", ".sat", ".ftz.sat"};
            char words[40];
            sprintf(words, "%s%s", roundings[r], mods[m]);
            convert(&b, 2, 3, r, m, words);
            if (m & FTZ) continue;
            convert(&b, 0, 3, r, m, words);
            if (!m) convert(&b, 1, 3, r, m, words);
            sprintf(words, "%s%s", integral_roundings[r], mods[m]);
            convert(&b, 3, 3, r, INTEGRAL | m, words);
        }
    batch_run(&b);
}

/* x: rounding, y: mods */
static uint64_t to_tf32(const struct batch_case *c, const uint64_t *in)
{
    float v = f32(in[0]);
    uint64_t b = isnan(v) ? 0x7fffffff : encode(format_of('t'), v, c->x) << 13;
    if (c->y & SATFINITE && (b & 0x7fffffff) == 0x7f800000) b -= 1 << 13;
    return c->y & RELU && b >> 31 ? 0 : b;
}

Test(emu_cvt, tf32)
{
    struct batch b = float_rows('f');
    b.target = "sm_100";
    static const char *const names[] = {".rn", ".rz"};
    batch_add(&b, 'r', to_tf32, RNA, 0, "cvt.rna.tf32.f32 %%ro, %%f1");
    batch_add(&b, 'r', to_tf32, RNA, SATFINITE, "cvt.rna.satfinite.tf32.f32 %%ro, %%f1");
    for (int r = 0; r < 2; r++)
        for (int m = 0; m < 4; m++)
            batch_add(&b, 'r', to_tf32, r, (m & 1 ? SATFINITE : 0) | (m & 2 ? RELU : 0),
                      "cvt%s%s%s.tf32.f32 %%ro, %%f1", names[r], m & 1 ? ".satfinite" : "",
                      m & 2 ? ".relu" : "");
    batch_run(&b);
}

/* ---- several values in one register ----------------------------------------------------------------- */

static struct batch pair_rows(const char *target)
{
    struct batch b = float_rows('f');
    b.target = target;
    for (size_t i = 0; i < b.row_count; i++) b.rows[i][1] = b.rows[i * 7 % b.row_count][0];
    for (size_t i = 0; i < b.row_count; i++) b.rows[i][2] = batch_random() & 0xffffffff;
    return b;
}

/* x: type | rounding << 8, y: mods */
static uint64_t two_halves(const struct batch_case *c, const uint64_t *in)
{
    int type = c->x & 0xff, rnd = c->x >> 8;
    return as(type, 'f', in[0] & 0xffffffff, rnd, c->y) << 16 |
           as(type, 'f', in[1] & 0xffffffff, rnd, c->y);
}

/* A magnitude cut to a format, and up by one if the first `width` bits that fall off and the random ones
 * have a carry. */
static uint64_t stochastic(struct format f, float x, uint32_t random, int width)
{
    if (isnan(x)) return ((uint64_t)1 << (f.exponent + f.fraction)) - 1;
    double v = fabs((double)x);
    uint64_t low = f.ieee ? encode(f, v, RZ) : 0;
    if (!f.ieee) /* its greatest number is beyond x */
        while (decode(f, low + 1) <= v) low++;
    double gap = decode(f, low + 1) - decode(f, low);
    if (isinf(gap)) gap = decode(f, low) - decode(f, low - 1);
    double cut = floor(ldexp((v - decode(f, low)) / gap, width));
    if (isinf(x) || cut >= ldexp(1, width)) return low + (isinf(x) ? 0 : 1);
    return low + (cut + (random & ((1u << width) - 1)) >= ldexp(1, width));
}
static uint64_t two_random(const struct batch_case *c, const uint64_t *in)
{
    int type = c->x, width = type == 'h' ? 13 : 16;
    uint64_t r = 0;
    for (int k = 0; k < 2; k++) {
        float x = f32(in[1 - k]);
        uint64_t h = stochastic(format_of(type), x, (uint32_t)in[2] >> 16 * k, width);
        if (!isnan(x) && signbit(x)) h |= 0x8000;
        r |= half_clamped(type, h, c->y) << 16 * k;
    }
    return r;
}

Test(emu_cvt, pairs_of_halves)
{
    struct batch b = pair_rows("sm_100a");
    for (int t = 0; t < 2; t++)
        for (int m = 0; m < 4; m++) {
            int type = t ? 'b' : 'h', mods = (m & 1 ? SATFINITE : 0) | (m & 2 ? RELU : 0);
            const char *name = t ? "bf16x2" : "f16x2";
            const char *satfinite = m & 1 ? ".satfinite" : "", *relu = m & 2 ? ".relu" : "";
            for (int r = 0; r < 2; r++) {
                batch_add(&b, 'r', two_halves, type | r << 8, mods,
                          "cvt%s%s%s.%s.f32 %%ro, %%f1, %%f2", roundings[r], satfinite, relu, name);
                if (!t)
                    batch_add(&b, 'l', two_halves, type | r << 8, mods,
                              "cvt%s%s%s.%s.f32 %%lo, %%l1, %%l2", roundings[r], satfinite, relu,
                              name);
            }
            batch_add(&b, 'r', two_random, type, mods, "cvt.rs%s%s.%s.f32 %%ro, %%f1, %%f2, %%r3",
                      satfinite, relu, name);
        }
    batch_run(&b);
}

static const struct small {
    const char *name;
    struct format f;
    uint64_t max; /* magnitude of the greatest number */
    bool has_nan;
    int shift; /* of the upper value in a pair */
} smalls[] = {
    {"e4m3", {4, 3, false}, 0x7e, true, 8},  {"e5m2", {5, 2, true}, 0x7b, true, 8},
    {"e2m3", {2, 3, false}, 0x1f, false, 8}, {"e3m2", {3, 2, false}, 0x1f, false, 8},
    {"e2m1", {2, 1, false}, 0x07, false, 4},
};
static double small_value(const struct small *s, uint64_t code)
{
    uint64_t magnitude = code & (((uint64_t)1 << (s->f.exponent + s->f.fraction)) - 1);
    if (s->has_nan && magnitude > s->max && !(s->f.ieee && magnitude == s->max + 1)) return NAN;
    return decode(s->f, code & (2 * ((uint64_t)1 << (s->f.exponent + s->f.fraction)) - 1));
}
/* The nearest code, found by looking at all of them; of two the even one. */
static uint64_t small_of(const struct small *s, double v, bool relu)
{
    uint64_t best = 0, sign = signbit(v) ? (uint64_t)1 << (s->f.exponent + s->f.fraction) : 0;
    if (isnan(v)) return s->has_nan ? 0x7f : s->max;
    if (sign && relu) return 0;
    if (fabs(v) >= decode(s->f, s->max)) return sign | s->max;
    for (uint64_t k = 1; k <= s->max; k++) {
        double gap = fabs(fabs(v) - decode(s->f, k)), old = fabs(fabs(v) - decode(s->f, best));
        if (gap < old || (gap == old && k % 2 == 0)) best = k;
    }
    return sign | best;
}
/* x: which, y: relu */
static uint64_t small_from_f32(const struct batch_case *c, const uint64_t *in)
{
    const struct small *s = &smalls[c->x];
    return small_of(s, f32(in[0]), c->y) << s->shift | small_of(s, f32(in[1]), c->y);
}
static uint64_t small_from_halves(const struct batch_case *c, const uint64_t *in)
{
    const struct small *s = &smalls[c->x];
    return small_of(s, half_value('h', in[2] >> 16), c->y) << s->shift |
           small_of(s, half_value('h', in[2] & 0xffff), c->y);
}
static uint64_t halves_from_small(const struct batch_case *c, const uint64_t *in)
{
    const struct small *s = &smalls[c->x];
    uint64_t r = 0;
    for (int k = 0; k < 2; k++) {
        double v = small_value(s, in[2] >> s->shift * k & ((1u << s->shift) - 1));
        r |= half_clamped('h', half_of('h', v, RN), c->y ? RELU : 0) << 16 * k;
    }
    return r;
}
static uint32_t reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int k = 0; k < 16; k++) r |= (v >> k & 1) << (15 - k);
    return r;
}
static uint64_t four_random(const struct batch_case *c, const uint64_t *in)
{
    const struct small *s = &smalls[c->x];
    const float values[] = {f32(in[0]), f32(in[1]), f32(in[1]), f32(in[0])}; /* lowest first */
    uint32_t bits = (uint32_t)in[2];
    uint64_t r = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t random = k < 2 ? bits & 0xffff : bits >> 16;
        if (s->shift == 4)
            random = k < 2 ? (bits >> 8 & 0xff00) | (bits & 0xff)
                           : (bits >> 16 & 0xff00) | (bits >> 8 & 0xff);
        if (k % 2) random = reversed(random);
        uint64_t sign = signbit(values[k]) ? (uint64_t)1 << (s->f.exponent + s->f.fraction) : 0,
                 code;
        double v = fabs(values[k]);
        if (isnan(v)) code = s->has_nan ? 0x7f : s->max;
        else if (sign && c->y) code = 0;
        else if (v >= decode(s->f, s->max)) code = sign | s->max;
        else
            code = sign | stochastic((struct format){s->f.exponent, s->f.fraction, false}, (float)v,
                                     random, 16);
        r |= code << (s->shift == 4 ? 4 : 8) * k;
    }
    return r;
}

Test(emu_cvt, small_formats)
{
    struct batch b = pair_rows("sm_100a");
    for (size_t i = 0; i < b.row_count; i++) { /* most within reach */
        if (i % 4 == 0) continue;
        for (int k = 0; k < 2; k++)
            b.rows[i][k] = bits32((float)ldexp(
                (double)(batch_random() >> 56) * (i % 2 ? -0.25 : 0.5), (int)(i % 24) - 14));
        if (i % 4 == 1) b.rows[i][0] |= batch_random() & 0xfffff;
    }
    for (int x = 0; x < 5; x++)
        for (int relu = 0; relu < 2; relu++) {
            const char *name = smalls[x].name, *word = relu ? ".relu" : "";
            char d = x == 4 ? 'c' : 'h';
            batch_add(&b, d, small_from_f32, x, relu,
                      "cvt.rn.satfinite%s.%sx2.f32 %%%co, %%f1, %%f2", word, name, d);
            batch_add(&b, 'r', halves_from_small, x, relu, "cvt.rn%s.f16x2.%sx2 %%ro, %%%c3", word,
                      name, d);
            if (x != 2 && x != 3 && x != 4)
                batch_add(&b, d, small_from_halves, x, relu,
                          "cvt.rn.satfinite%s.%sx2.f16x2 %%%co, %%r3", word, name, d);
            batch_add(&b, x == 4 ? 'h' : 'r', four_random, x, relu,
                      "cvt.rs.satfinite%s.%sx4.f32 %%%co, {%%f1, %%f2, %%f2, %%f1}, %%r3", word,
                      name, x == 4 ? 'h' : 'r');
        }
    batch_add(&b, 'r', four_random, 0, 0,
              ".reg .v4 .f32 %%v; mov.v4.f32 %%v, {%%f1, %%f2, %%f2, %%f1}; "
              "cvt.rs.satfinite.e4m3x4.f32 %%ro, %%v, %%r3");
    batch_run(&b);
}

/* Before PTX ISA 8.1 they were for sm_90 alone; halves to 4 bits came last, for families of targets. */
Test(emu_cvt, small_formats_of_other_versions)
{
    struct batch b = pair_rows("sm_90"), f = pair_rows("sm_100f");
    b.version = "7.8";
    for (size_t i = 0; i < b.row_count; i++)
        for (int k = 0; k < 2; k++)
            if (i % 4)
                b.rows[i][k] = bits32((float)ldexp(
                    (double)(batch_random() >> 56) * (i % 2 ? -0.25 : 0.5), (int)(i % 24) - 14));
    for (int x = 0; x < 2; x++)
        for (int relu = 0; relu < 2; relu++) {
            const char *name = smalls[x].name, *word = relu ? ".relu" : "";
            batch_add(&b, 'h', small_from_f32, x, relu,
                      "cvt.rn.satfinite%s.%sx2.f32 %%ho, %%f1, %%f2", word, name);
            batch_add(&b, 'h', small_from_halves, x, relu,
                      "cvt.rn.satfinite%s.%sx2.f16x2 %%ho, %%r3", word, name);
            batch_add(&b, 'r', halves_from_small, x, relu, "cvt.rn%s.f16x2.%sx2 %%ro, %%h3", word,
                      name);
        }
    batch_run(&b);
    for (size_t i = 0; i < f.row_count; i++) /* halves within reach, most of them */
        if (i % 4) f.rows[i][2] &= 0xc7ffc7ff;
    for (int relu = 0; relu < 2; relu++)
        batch_add(&f, 'c', small_from_halves, 4, relu, "cvt.rn.satfinite%s.e2m1x2.f16x2 %%co, %%r3",
                  relu ? ".relu" : "");
    batch_run(&f);
}

/* x: .rp, y: .satfinite. The sign does not matter. */
static uint64_t exponent_of(double v, int up, int satfinite)
{
    if (isnan(v)) return 255;
    v = fabs(v);
    if (up) {
        for (int k = 0; k < 255; k++)
            if (ldexp(1, k - 127) >= v) return (uint64_t)k;
        return satfinite ? 254 : 255;
    }
    if (isinf(v)) return satfinite ? 254 : 255;
    for (int k = 254; k > 0; k--)
        if (ldexp(1, k - 127) <= v) return (uint64_t)k;
    return 0;
}
static uint64_t exponents_of_f32(const struct batch_case *c, const uint64_t *in)
{
    return exponent_of(f32(in[0]), c->x, c->y) << 8 | exponent_of(f32(in[1]), c->x, c->y);
}
static uint64_t exponents_of_bf16(const struct batch_case *c, const uint64_t *in)
{
    return exponent_of(half_value('b', in[2] >> 16), c->x, c->y) << 8 |
           exponent_of(half_value('b', in[2] & 0xffff), c->x, c->y);
}
static uint64_t powers(const struct batch_case *c, const uint64_t *in)
{
    (void)c;
    uint64_t r = 0;
    for (int k = 0; k < 2; k++) {
        int e = (int)(in[2] >> 8 * k & 0xff);
        r |= half_of('b', e == 255 ? NAN : ldexp(1, e - 127), RN) << 16 * k;
    }
    return r;
}

Test(emu_cvt, ue8m0)
{
    struct batch b = pair_rows("sm_100a");
    for (int x = 0; x < 2; x++)
        for (int s = 0; s < 2; s++) {
            const char *rnd = x ? ".rp" : ".rz", *satfinite = s ? ".satfinite" : "";
            batch_add(&b, 'h', exponents_of_f32, x, s, "cvt%s%s.ue8m0x2.f32 %%ho, %%f1, %%f2", rnd,
                      satfinite);
            batch_add(&b, 'h', exponents_of_bf16, x, s, "cvt%s%s.ue8m0x2.bf16x2 %%ho, %%r3", rnd,
                      satfinite);
        }
    batch_add(&b, 'r', powers, 0, 0, "cvt.rn.bf16x2.ue8m0x2 %%ro, %%h3");
    batch_run(&b);
}

/* x: bits, y: signed; the ISA's loop over bits. */
static uint64_t packed(const struct batch_case *c, const uint64_t *in)
{
    int64_t max = c->y ? ((int64_t)1 << (c->x - 1)) - 1 : ((int64_t)1 << c->x) - 1,
            min = c->y ? -max - 1 : 0;
    int64_t a = (int32_t)in[0], b = (int32_t)in[1];
    uint64_t ta = (uint64_t)(a < min   ? min
                             : a > max ? max
                                       : a),
             tb = (uint64_t)(b < min   ? min
                             : b > max ? max
                                       : b);
    uint64_t d = 0;
    for (int i = 0; i < c->x; i++) d |= (tb >> i & 1) << i | (ta >> i & 1) << (c->x + i);
    for (int i = 2 * c->x; i < 32; i++) d |= (in[2] >> (i - 2 * c->x) & 1) << i;
    return d;
}

Test(emu_cvt, pack)
{
    struct batch b = {.target = "sm_90"};
    batch_rows(&b, integers, COUNT(integers), 200, 64);
    for (int i = 0; i < 400; i++) {
        int shift = (int)(batch_random() % 30);
        batch_row(&b, (uint64_t)((int64_t)batch_random() >> (33 + shift)),
                  (uint64_t)((int64_t)batch_random() >> 50), batch_random());
    }
    for (int bits = 2; bits <= 16; bits *= 2)
        for (int s = 0; s < 2; s++) {
            const char *b32 = bits < 16 ? ".b32" : "", *c = bits < 16 ? ", %r3" : "";
            batch_add(&b, 'r', packed, bits, s, "cvt.pack.sat.%c%d.s32%s %%ro, %%r1, %%r2%s",
                      "us"[s], bits, b32, c);
            batch_add(&b, 'l', packed, bits, s, "cvt.pack.sat.%c%d.s32%s %%lo, %%l1, %%l2%s",
                      "us"[s], bits, b32, bits < 16 ? ", %l3" : "");
        }
    batch_run(&b);
}

/* ---- sm_1x ---------------------------------------------------------------------------------------- */

Test(emu_cvt, sm_1x_flushes)
{
    struct batch b = float_rows('f');
    b.target = "sm_13", b.version = "1.4"; /* not beside 64 bits yet */
    convert(&b, 2, 2, RN, FTZ, "");
    convert(&b, 2, 2, RM, FTZ | INTEGRAL, ".rmi");
    convert(&b, 0, 2, RP, FTZ, ".rp");
    convert(&b, 3, 2, RN, 0, "");
    batch_add(&b, 'r', float_to_int, 5 | RP << 4 | 2 << 8, 'f' | FTZ << 8,
              "cvt.rpi.s32.f32 %%ro, %%f1");
    batch_add(&b, 'l', float_to_int, 7 | RP << 4 | 3 << 8, 'f', "cvt.rpi.s64.f32 %%lo, %%f1");
    batch_run(&b);
    struct batch c = float_rows('f'), d = float_rows('d');
    c.target = d.target = "sm_13", c.version = d.version = "1.5";
    convert(&c, 3, 2, RN, FTZ, "");
    batch_add(&c, 'l', float_to_int, 7 | RP << 4 | 3 << 8, 'f' | FTZ << 8,
              "cvt.rpi.s64.f32 %%lo, %%f1");
    batch_run(&c);
    convert(&d, 2, 3, RN, FTZ, ".rn");
    batch_run(&d);
}

Test(emu_cvt, registers_of_128_bits)
{
    struct batch b = int_rows();
    batch_add(&b, 'r', int_to_int, 4 | 0 << 4, 2,
              ".reg .b128 %%q; mov.b128 %%q, {%%l1, %%l2}; cvt.u32.u8 %%ro, %%q");
    batch_add(&b, 'l', int_to_float, 5 | RZ << 4, 'd',
              "cvt.rz.f64.s32 %%do, %%q; mov.b64 %%lo, %%do");
    batch_add(&b, 'l', int_to_int, 7 | 4 << 4, 3,
              "cvt.s64.u32 %%q, %%l1; mov.b128 {%%lo, %%l3}, %%q");
    batch_run(&b);
}
