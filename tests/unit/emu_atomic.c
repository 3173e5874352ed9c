#define _GNU_SOURCE /* strtok_r */
/* Atomics and reductions: every operation and type in every space, on values at the edges of what they
 * can hold, against references that compute in wider types. */
#include "emu/atomic.h"
#include "tests/support/emu.h"
#include "tests/support/support.h"

#include "ptx/isa.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- references -------------------------------------------------------------------------------- */

/* The value of a number with that many bits of exponent and fraction; inf counts as what would follow. */
static double small_value(uint16_t h, int exponent, int fraction)
{
    int bias = (1 << (exponent - 1)) - 1, e = h >> fraction & ((1 << exponent) - 1);
    double m = h & ((1 << fraction) - 1), v = e ? m + (1 << fraction) : m;
    for (int k = (e ? e : 1) - bias - fraction; k; k += k < 0 ? 1 : -1) v = k < 0 ? v / 2 : v * 2;
    return h & 0x8000 ? -v : v;
}

/* The nearest, of two the one with an even fraction: values rise with their bits. */
static uint16_t small_nearest(double x, int exponent, int fraction)
{
    uint16_t low = 0, high = (uint16_t)(((1 << exponent) - 1) << fraction), sign = 0;
    if (x < 0 || (x == 0 && 1 / x < 0)) sign = 0x8000, x = -x;
    if (x >= small_value(high, exponent, fraction)) return high | sign;
    while (high - low > 1) {
        uint16_t mid = (uint16_t)((low + high) / 2);
        if (small_value(mid, exponent, fraction) <= x) low = mid;
        else high = mid;
    }
    double below = x - small_value(low, exponent, fraction),
           above = small_value(high, exponent, fraction) - x;
    return (below < above || (below == above && !(low & 1)) ? low : high) | sign;
}

static uint16_t ref_half(const char *op, uint16_t m, uint16_t b, bool bf)
{
    int exponent = bf ? 8 : 5, fraction = bf ? 7 : 10;
    uint16_t inf = bf ? 0x7f80 : 0x7c00;
    bool nm = (m & 0x7fff) > inf, nb = (b & 0x7fff) > inf;
    double x = small_value(m, exponent, fraction), y = small_value(b, exponent, fraction);
    if (strcmp(op, "add") == 0) {
        bool im = (m & 0x7fff) == inf, ib = (b & 0x7fff) == inf;
        if (nm || nb || (im && ib && m != b)) return 0x7fff;
        if (im) return m;
        if (ib) return b;
        return small_nearest(x + y, exponent, fraction);
    }
    if (nm && nb) return 0x7fff;
    if (nm || nb) return nm ? b : m;
    bool less = x < y || (x == y && m & 0x8000);
    return (strcmp(op, "min") == 0) == less ? m : b;
}

static double as_double(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static uint32_t flush(uint32_t b)
{
    float f = as_float(b), a = f < 0 ? -f : f;
    return a < 0x1p-126f ? b & 0x80000000 : b;
}

static uint32_t ref_add32(uint32_t m, uint32_t b, bool ftz)
{
    if (ftz) m = flush(m), b = flush(b);
    double s = (double)as_float(m) + (double)as_float(b); /* 53 bits >= 2 * 24 + 2: rounds once */
    if (s != s) return 0x7fffffff;
    float f = (float)s;
    uint32_t r;
    memcpy(&r, &f, 4);
    return ftz ? flush(r) : r;
}

static uint64_t ref_add64(uint64_t m, uint64_t b)
{
    double x = as_double(m), y = as_double(b), s = x + y;
    if (x != x) return m | UINT64_C(1) << 51;
    if (y != y) return b | UINT64_C(1) << 51;
    if (s != s) return UINT64_C(0xfff8000000000000);
    memcpy(&m, &s, 8);
    return m;
}

/* m op b, elements of at most 64 bits in the low bits. */
static uint64_t reference(const char *op, const char *type, uint64_t m, uint64_t b, uint64_t c,
                          bool global)
{
    bool bf = type[0] == 'b' && type[1] == 'f';
    if (strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0)
        return ref_half(op, (uint16_t)m, (uint16_t)b, bf);
    if (strcmp(type, "f16x2") == 0 || strcmp(type, "bf16x2") == 0)
        return ref_half(op, (uint16_t)m, (uint16_t)b, bf) |
               (uint64_t)ref_half(op, (uint16_t)(m >> 16), (uint16_t)(b >> 16), bf) << 16;
    if (strcmp(type, "f32") == 0) return ref_add32((uint32_t)m, (uint32_t)b, global);
    if (strcmp(type, "f64") == 0) return ref_add64(m, b);
    int bits = atoi(type + 1);
    uint64_t mask = bits == 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
    __int128 x = (__int128)m, y = (__int128)b;
    if (type[0] == 's') {
        x = bits == 64 ? (__int128)(int64_t)m : (__int128)(int32_t)m;
        y = bits == 64 ? (__int128)(int64_t)b : (__int128)(int32_t)b;
    }
    __int128 r = 0;
    if (strcmp(op, "add") == 0) r = x + y;
    else if (strcmp(op, "min") == 0) r = x < y ? x : y;
    else if (strcmp(op, "max") == 0) r = x > y ? x : y;
    else if (strcmp(op, "inc") == 0) r = x >= y ? 0 : x + 1;
    else if (strcmp(op, "dec") == 0) r = x == 0 || x > y ? y : x - 1;
    else if (strcmp(op, "and") == 0) r = x & y;
    else if (strcmp(op, "or") == 0) r = x | y;
    else if (strcmp(op, "xor") == 0) r = x ^ y;
    else if (strcmp(op, "exch") == 0) r = y;
    else if (strcmp(op, "cas") == 0) r = m == c ? y : x; /* d, [a], c, b */
    else cr_assert_fail("%s", op);
    return (uint64_t)r & mask;
}

/* ---- values ------------------------------------------------------------------------------------ */

static const uint64_t ints[] = {0,
                                1,
                                2,
                                3,
                                0x7fff,
                                0x8000,
                                0xffff,
                                0x7ffffffe,
                                0x7fffffff,
                                0x80000000,
                                0x80000001,
                                0xfffffffe,
                                0xffffffff,
                                0x100000000,
                                0x7fffffffffffffff,
                                0x8000000000000000,
                                0xffffffffffffffff,
                                0xdeadbeef12345678};
static const uint64_t floats[] = {
    0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x3f800000, 0xbf800000, 0x3f800001, 0x33800000, 0x33800001, 0x7f7fffff, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7fc00001, 0x7f800001, 0x4b800000, 0x40490fdb};
static const uint64_t doubles[] = {0,
                                   0x8000000000000000,
                                   1,
                                   0x8000000000000001,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x8010000000000000,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x3ca0000000000000,
                                   0x3ff0000000000001,
                                   0x7fefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000123,
                                   0x7ff0000000000001,
                                   0x400921fb54442d18};
static const uint64_t halves[] = {0,      0x8000, 1,      0x8001, 0x03ff, 0x0400, 0x8400,
                                  0x3c00, 0xbc00, 0x3c01, 0x1000, 0x7bff, 0xfbff, 0x7c00,
                                  0xfc00, 0x7c01, 0x7f80, 0xff80, 0x7f81, 0x7fff, 0x007f,
                                  0x0080, 0x3f80, 0xbf80, 0x7f7f, 0x4248};

static uint64_t pick(const char *type, uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    uint32_t n = *seed >> 8;
#define OF(a) (a)[n % COUNT(a)]
    if (strcmp(type, "f32") == 0) return OF(floats);
    if (strcmp(type, "f64") == 0) return OF(doubles);
    if (strstr(type, "16x2")) return OF(halves) | halves[n / 64 % COUNT(halves)] << 16;
    if (strstr(type, "f16")) return OF(halves);
    return OF(ints);
}

/* ---- one element ------------------------------------------------------------------------------- */

static const struct {
    const char *op, *types;
} operations[] = {{"add", "u32 s32 u64 f32 f64 f16 bf16 f16x2 bf16x2"},
                  {"min", "u32 s32 u64 s64"},
                  {"max", "u32 s32 u64 s64"},
                  {"inc", "u32"},
                  {"dec", "u32"},
                  {"and", "b32 b64"},
                  {"or", "b32 b64"},
                  {"xor", "b32 b64"},
                  {"exch", "b32 b64"},
                  {"cas", "b16 b32 b64"}};

enum { CELLS = 8, THREADS = 75 };
enum where { GLOBAL, SHARED, ANY_GLOBAL, ANY_SHARED, WHERES };
enum how { RESULT, DEAD, RED, HOWS };

static uint32_t width_of(const char *type)
{
    if (strstr(type, "x2")) return 4;
    return (uint32_t)atoi(type + (type[1] == 'f' ? 2 : 1)) / 8;
}

static void put(uint8_t *at, uint32_t width, uint64_t v)
{
    memcpy(at, &v, width);
}

static uint64_t get(const uint8_t *at, uint32_t width)
{
    uint64_t v = 0;
    memcpy(&v, at, width);
    return v;
}

static const char *one_kernel(const char *op, const char *type, enum where where, enum how how,
                              uint32_t width)
{
    static char body[4000];
    bool half = strstr(type, "f16"), cas = strcmp(op, "cas") == 0;
    char opcode[100], inst[200];
    snprintf(opcode, sizeof opcode, "%s%s.%s%s.%s", how == RED ? "red" : "atom",
             where == GLOBAL   ? ".global"
             : where == SHARED ? ".shared"
                               : "",
             op, half ? ".noftz" : "", type);
    snprintf(inst, sizeof inst, "%s %s [%%d9], %s;", opcode,
             how == RESULT ? "%v0,"
             : how == DEAD ? "_,"
                           : "",
             cas ? "%v2, %v1" : "%v1");
    snprintf(body, sizeof body,
             ".reg .b64 %%d<20>; .reg .b32 %%r<9>; .reg .b%u %%v<5>; .reg .pred %%p<3>;\n"
             ".shared .align 16 .b8 cells[%u];\n"
             "ld.param.u64 %%d0, [mem]; ld.param.u64 %%d1, [cell]; ld.param.u64 %%d2, [val];\n"
             "ld.param.u64 %%d3, [cmp]; ld.param.u64 %%d4, [out];\n"
             "mov.u32 %%r1, %%tid.x;\n"
             "mul.wide.u32 %%d5, %%r1, 4; add.u64 %%d1, %%d1, %%d5; ld.global.u32 %%r2, [%%d1];\n"
             "mul.wide.u32 %%d6, %%r1, %u; mul.wide.u32 %%d7, %%r2, %u;\n"
             "add.u64 %%d2, %%d2, %%d6; add.u64 %%d3, %%d3, %%d6; add.u64 %%d4, %%d4, %%d6;\n"
             "ld.global.b%u %%v1, [%%d2]; ld.global.b%u %%v2, [%%d3]; mov.b%u %%v0, 0;\n"
             "add.u64 %%d8, %%d0, %%d6; mov.u64 %%d10, cells; add.u64 %%d11, %%d10, %%d6;\n"
             "setp.lt.u32 %%p1, %%r1, %u;\n"
             "@%%p1 ld.global.b%u %%v3, [%%d8];\n@%%p1 st.shared.b%u [%%d11], %%v3;\nbar.sync 0;\n"
             "%s add.u64 %%d9, %s, %%d7;\n"
             "%s\n"
             "st.global.b%u [%%d4], %%v0;\nbar.sync 0;\n"
             "@%%p1 ld.shared.b%u %%v3, [%%d11];\n@%%p1 st.global.b%u [%%d8], %%v3;\nret;\n",
             width * 8, CELLS * 16, width, width, width * 8, width * 8, width * 8, CELLS, width * 8,
             width * 8, where == ANY_SHARED ? "cvta.shared.u64 %d10, %d10;" : "",
             where == GLOBAL || where == ANY_GLOBAL ? "%d0" : "%d10", inst, width * 8, width * 8,
             width * 8);
    if (where == GLOBAL || where == ANY_GLOBAL) { /* nothing is copied */
        memset(strstr(body, "bar.sync 0;"), ' ', 11);
        strcpy(strstr(body, "bar.sync 0;"), "ret;\n");
    }
    return emu_ptx(
        ".param .u64 mem, .param .u64 cell, .param .u64 val, .param .u64 cmp, .param .u64 out",
        body);
}

static void check_one(const char *op, const char *type, enum where where, enum how how)
{
    uint32_t width = width_of(type), seed = 7;
    uint8_t mem[CELLS * 8], want[CELLS * 8], val[THREADS * 8], cmp[THREADS * 8], out[THREADS * 8];
    uint8_t want_out[THREADS * 8] = {0};
    uint32_t cell[THREADS];
    bool global = where == GLOBAL || where == ANY_GLOBAL;
    /* Behind a barrier warps go on in any order. */
    const uint32_t threads = global ? THREADS : 29;
    for (uint32_t i = 0; i < CELLS; i++) put(mem + i * width, width, pick(type, &seed));
    memcpy(want, mem, sizeof want);
    for (uint32_t t = 0; t < threads; t++) {
        seed = seed * 1664525u + 1013904223u;
        cell[t] = seed >> 20 & (CELLS - 1);
        put(val + t * width, width, pick(type, &seed));
        uint64_t b = get(val + t * width, width), m = get(want + cell[t] * width, width);
        uint64_t c = t % 3 ? m : pick(type, &seed); /* mostly what is there: it is swapped */
        put(cmp + t * width, width, c);
        c = get(cmp + t * width, width);
        if (how == RESULT) put(want_out + t * width, width, m);
        put(want + cell[t] * width, width, reference(op, type, m, b, c, global));
    }
    struct emu_run r = {
        .in_turn = true, .ptx = one_kernel(op, type, where, how, width), .block = threads};
    r.args[0] = emu_inout(&r, mem, CELLS * width);
    r.args[1] = emu_in(&r, cell, sizeof cell);
    r.args[2] = emu_in(&r, val, THREADS * width);
    r.args[3] = emu_in(&r, cmp, THREADS * width);
    r.args[4] = emu_out(&r, out, THREADS * width);
    bool ok = emu_run(&r);
    cr_assert(ok, "%s.%s, %d, %d: %s", op, type, where, how, r.fault);
    for (uint32_t i = 0; i < CELLS; i++)
        cr_assert(get(mem + i * width, width) == get(want + i * width, width),
                  "%s.%s, %d, %d: cell %u is %llx, want %llx", op, type, where, how, i,
                  (unsigned long long)get(mem + i * width, width),
                  (unsigned long long)get(want + i * width, width));
    for (uint32_t t = 0; t < threads; t++)
        cr_assert(get(out + t * width, width) == get(want_out + t * width, width),
                  "%s.%s, %d, %d: thread %u got %llx, want %llx", op, type, where, how, t,
                  (unsigned long long)get(out + t * width, width),
                  (unsigned long long)get(want_out + t * width, width));
}

static void check_operations(enum where where)
{
    for (size_t i = 0; i < COUNT(operations); i++) {
        char types[100], *save = NULL;
        snprintf(types, sizeof types, "%s", operations[i].types);
        for (char *t = strtok_r(types, " ", &save); t; t = strtok_r(NULL, " ", &save))
            for (int how = 0; how < HOWS; how++) {
                const char *op = operations[i].op;
                if (how == RED && (strcmp(op, "exch") == 0 || strcmp(op, "cas") == 0)) continue;
                check_one(op, t, where, (enum how)how);
            }
    }
}

Test(emu_atomic, global)
{
    check_operations(GLOBAL);
}
Test(emu_atomic, shared)
{
    check_operations(SHARED);
}
Test(emu_atomic, generic_addresses_of_global_memory)
{
    check_operations(ANY_GLOBAL);
}
Test(emu_atomic, generic_addresses_of_shared_memory)
{
    check_operations(ANY_SHARED);
}

/* ---- vectors and 128 bits ---------------------------------------------------------------------- */

static void check_vector(const char *op, const char *type, uint32_t count, bool red)
{
    static char body[4000];
    uint32_t width = width_of(type), seed = 3;
    enum { N = 40, PLACES = 4 };
    uint8_t mem[PLACES * 16], want[PLACES * 16], val[N * 16], out[N * 16], want_out[N * 16] = {0};
    uint32_t cell[N];
    for (uint32_t i = 0; i < PLACES * count; i++) put(mem + i * width, width, pick(type, &seed));
    memcpy(want, mem, sizeof want);
    for (uint32_t t = 0; t < N; t++) {
        cell[t] = t * 5 / 3 % PLACES;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t at = (cell[t] * count + k) * width, mine = (t * count + k) * width;
            put(val + mine, width, pick(type, &seed));
            uint64_t m = get(want + at, width);
            if (!red) put(want_out + mine, width, m);
            put(want + at, width, reference(op, type, m, get(val + mine, width), 0, true));
        }
    }
    char vec[100] = "", loads[400] = "", stores[400] = "";
    for (uint32_t k = 0; k < count; k++) {
        snprintf(vec + strlen(vec), sizeof vec - strlen(vec), "%s%%v%u", k ? ", " : "", k);
        snprintf(loads + strlen(loads), sizeof loads - strlen(loads),
                 "ld.global.b%u %%v%u, [%%d2+%u];\n", width * 8, k, k * width);
        snprintf(stores + strlen(stores), sizeof stores - strlen(stores),
                 "st.global.b%u [%%d3+%u], %%v%u;\n", width * 8, k * width, k);
    }
    snprintf(body, sizeof body,
             ".reg .b64 %%d<9>; .reg .b32 %%r<3>; .reg .b%u %%v<8>;\n"
             "ld.param.u64 %%d0, [mem]; ld.param.u64 %%d1, [cell]; ld.param.u64 %%d2, [val];\n"
             "ld.param.u64 %%d3, [out]; mov.u32 %%r1, %%tid.x;\n"
             "mul.wide.u32 %%d4, %%r1, 4; add.u64 %%d1, %%d1, %%d4; ld.global.u32 %%r2, [%%d1];\n"
             "mul.wide.u32 %%d5, %%r2, %u; add.u64 %%d0, %%d0, %%d5;\n"
             "mul.wide.u32 %%d6, %%r1, %u; add.u64 %%d2, %%d2, %%d6; add.u64 %%d3, %%d3, %%d6;\n"
             "%s%s.%s.v%u.%s%s.%s %s%s%s [%%d0], {%s};\n%s\nret;\n",
             width * 8, width * count, width * count, loads, red ? "red" : "atom",
             red ? "global" : "global.gpu", count, op, strcmp(type, "f32") ? ".noftz" : "", type,
             red ? "" : "{", red ? "" : vec, red ? "" : "},", vec, red ? "" : stores);
    struct emu_run r = {
        .in_turn = true,
        .ptx = emu_ptx(".param .u64 mem, .param .u64 cell, .param .u64 val, .param .u64 out", body),
        .block = N};
    r.args[0] = emu_inout(&r, mem, PLACES * count * width);
    r.args[1] = emu_in(&r, cell, sizeof cell);
    r.args[2] = emu_in(&r, val, N * count * width);
    r.args[3] = emu_out(&r, out, N * count * width);
    cr_assert(emu_run(&r), "v%u.%s.%s: %s", count, op, type, r.fault);
    cr_assert(memcmp(mem, want, PLACES * count * width) == 0, "v%u.%s.%s: memory", count, op, type);
    cr_assert(memcmp(out, want_out, N * count * width) == 0, "v%u.%s.%s: results", count, op, type);
}

Test(emu_atomic, vectors)
{
    static const char *const ops[] = {"add", "min", "max"};
    static const char *const types[] = {"f16", "bf16", "f16x2", "bf16x2"};
    for (int red = 0; red < 2; red++) {
        check_vector("add", "f32", 2, red);
        check_vector("add", "f32", 4, red);
        for (size_t o = 0; o < COUNT(ops); o++)
            for (size_t t = 0; t < COUNT(types); t++)
                for (uint32_t n = 2; n <= (t < 2 ? 8u : 4u); n *= 2)
                    check_vector(ops[o], types[t], n, red);
    }
}

Test(emu_atomic, of_128_bits)
{
    static const char body[] =
        ".reg .b64 %d<9>; .reg .b32 %r<3>; .reg .b128 %q<4>; .reg .b64 %x<8>;\n"
        ".shared .align 16 .b128 s[2];\n"
        "ld.param.u64 %d0, [mem]; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; cvt.u64.u32 %x0, %r1;\n"
        "mul.wide.u32 %d2, %r1, 64; add.u64 %d1, %d1, %d2;\n"
        "add.u64 %x1, %x0, 1; mov.u64 %x2, 0; mov.b128 %q0, {%x0, %x2}; mov.b128 %q1, {%x1, %x0};\n"
        "atom.global.exch.b128 %q2, [%d0], %q1;\n"
        "mov.b128 {%x3, %x4}, %q2; st.global.u64 [%d1], %x3; st.global.u64 [%d1+8], %x4;\n"
        /* compare with {tid, 0}: at 16 there is {5, 0} */
        "atom.global.cas.b128 %q2, [%d0+16], %q0, %q1;\n"
        "mov.b128 {%x3, %x4}, %q2; st.global.u64 [%d1+16], %x3; st.global.u64 [%d1+24], %x4;\n"
        "mov.b128 %q3, {%x2, %x2}; mov.u64 %d3, s;\n"
        "atom.shared.exch.b128 %q3, [%d3], %q3;\nbar.sync 0;\n"
        "atom.shared.cas.b128 %q2, [%d3], %q0, %q1;\n" /* {0, 0} -> {1, 0} -> {2, 1} stays */
        "mov.b128 {%x3, %x4}, %q2; st.global.u64 [%d1+32], %x3; st.global.u64 [%d1+40], %x4;\n"
        "ret;\n";
    enum { N = 31 };
    uint64_t mem[4] = {77, 88, 5, 0}, out[N * 8];
    struct emu_run r = {
        .in_turn = true, .ptx = emu_ptx(".param .u64 mem, .param .u64 out", body), .block = N};
    r.args[0] = emu_inout(&r, mem, sizeof mem);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    uint64_t a[2] = {77, 88}, b[2] = {5, 0}, s[2] = {0, 0};
    for (uint64_t t = 0; t < N; t++) {
        const uint64_t *o = out + t * 8;
        cr_assert(o[0] == a[0] && o[1] == a[1], "exch: thread %d", (int)t);
        a[0] = t + 1, a[1] = t;
        cr_assert(o[2] == b[0] && o[3] == b[1], "cas: thread %d got {%d, %d}", (int)t, (int)o[2],
                  (int)o[3]);
        if (b[0] == t && b[1] == 0) b[0] = t + 1, b[1] = t;
        cr_assert(o[4] == s[0] && o[5] == s[1], "shared cas: thread %d", (int)t);
        if (s[0] == t && s[1] == 0) s[0] = t + 1, s[1] = t;
    }
    cr_expect(mem[0] == a[0] && mem[1] == a[1] && mem[2] == b[0] && mem[3] == b[1]);
}

/* ---- many CTAs --------------------------------------------------------------------------------- */

/* Reductions of all kinds whose results nobody reads: the same bytes for any number of host threads, as if
 * CTAs came one after the other. */
Test(emu_atomic, reductions_of_many_ctas)
{
    static const char body[] =
        ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .f64 %g<3>;\n"
        "ld.param.u64 %d0, [mem]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
        "mad.lo.u32 %r4, %r2, %r3, %r1; cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, 0f3DCCCCCD;\n"
        "red.global.add.f32 [%d0], %f1;\n"
        "cvt.f64.f32 %g1, %f1; red.global.add.f64 [%d0+8], %g1;\n"
        "red.global.add.u32 [%d0+16], %r4;\n"
        "xor.b32 %r5, %r4, 0x5555; red.global.xor.b32 [%d0+20], %r5;\n"
        "red.global.max.s32 [%d0+24], %r5; red.global.min.u32 [%d0+28], %r5;\n"
        "red.global.inc.u32 [%d0+32], 1000; atom.global.exch.b32 %r6, [%d0+36], %r4;\n"
        "cvt.u64.u32 %d2, %r4; red.global.add.u64 [%d0+40], %d2;\n"
        "atom.global.cas.b32 %r7, [%d0+48], %r4, %r5;\n"
        "red.global.add.u32 [%d0+52], 1;\nret;\n";
    enum { CTAS = 50, SIZE = 96 };
    struct {
        float f;
        uint32_t pad;
        double g;
        uint32_t sum, x;
        int32_t most;
        uint32_t least, inc, exch;
        uint64_t wide;
        uint32_t cas, ones;
    } want = {.least = ~0u, .most = INT32_MIN}, start = want;
    for (uint32_t i = 0; i < CTAS * SIZE; i++) {
        float f = (float)i * as_float(0x3dcccccd);
        uint32_t y = i ^ 0x5555;
        want.f += f;
        want.g += (double)f;
        want.sum += i;
        want.x ^= y;
        if ((int32_t)y > want.most) want.most = (int32_t)y;
        if (y < want.least) want.least = y;
        want.inc = want.inc >= 1000 ? 0 : want.inc + 1;
        want.exch = i;
        want.wide += i;
        if (want.cas == i) want.cas = y;
        want.ones++;
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        __typeof__(want) got = start;
        struct emu_run r = {
            .in_turn = true, .ptx = emu_ptx(".param .u64 mem", body), .grid = CTAS, .block = SIZE};
        r.config.threads = threads;
        r.args[0] = emu_inout(&r, &got, sizeof got);
        cr_assert(emu_run(&r), "%u threads: %s", threads, r.fault);
        cr_expect(
            memcmp(&got, &want, sizeof got) == 0,
            "%u threads: %a %a, %a %a, %u %u, %x %x, %d %d, %u %u, %u %u, %u %u, %llu %llu, %x %x, %u %u",
            threads, got.f, want.f, got.g, want.g, got.sum, want.sum, got.x, want.x, got.most,
            want.most, got.least, want.least, got.inc, want.inc, got.exch, want.exch,
            (unsigned long long)got.wide, (unsigned long long)want.wide, got.cas, want.cas,
            got.ones, want.ones);
    }
}

/* Reductions of two kinds at one address: each commutes with its like, but not with the other. */
Test(emu_atomic, kinds_that_meet_are_done_in_turn)
{
    static const char body[] =
        ".reg .b64 %d<3>; .reg .b32 %r<9>; .reg .pred %p;\n"
        "ld.param.u64 %d0, [mem]; mov.u32 %r2, %ctaid.x;\n"
        "mov.u32 %r3, 0;\n"
        "loop: add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 20000; @%p bra loop;\n"
        "xor.b32 %r4, %r2, 1; shl.b32 %r4, %r4, 6;\n"
        "red.global.max.u32 [%d0], %r4; red.global.add.u32 [%d0], %r2;\nret;\n";
    enum { CTAS = 64 };
    uint32_t want = 0;
    for (uint32_t i = 0; i < CTAS; i++) {
        const uint32_t x = (i ^ 1) << 6;
        want = (want > x ? want : x) + i;
    }
    for (unsigned threads = 1; threads <= 4; threads++) {
        uint32_t got = 0;
        struct emu_run r = {
            .in_turn = true, .ptx = emu_ptx(".param .u64 mem", body), .grid = CTAS, .block = 1};
        r.config.threads = threads;
        r.args[0] = emu_inout(&r, &got, sizeof got);
        cr_assert(emu_run(&r), "%u threads: %s", threads, r.fault);
        cr_expect(got == want, "%u threads: %u, not %u", threads, got, want);
    }
}

/* Integers that go to memory at once, from several host threads. */
Test(emu_atomic, counters_of_many_ctas)
{
    static const char body[] =
        ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p;\n"
        "ld.param.u64 %d0, [mem]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3; mul.wide.u32 %d1, %r2, 16; add.u64 %d1, %d1, %d0;\n"
        "mov.u32 %r3, 0; mov.u64 %d2, 3;\nagain:\n"
        "red.global.add.u32 [%d1], 1; red.global.add.u64 [%d1+8], %d2; red.global.add.u32 [%d0+64], %r1; red.add.u32 [%d1+4], 2;\n"
        "add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 100;\n@%p bra again;\nret;\n";
    enum { CTAS = 300 };
    uint32_t mem[17] = {0};
    struct emu_run r = {.ptx = emu_ptx(".param .u64 mem", body), .grid = CTAS, .block = 64};
    r.config.threads = 4;
    r.args[0] = emu_inout(&r, mem, sizeof mem);
    cr_assert(emu_run(&r), "%s", r.fault);
    for (int i = 0; i < 4; i++) {
        uint64_t wide;
        memcpy(&wide, mem + 4 * i + 2, 8);
        cr_expect(mem[4 * i] == CTAS * 1600 && mem[4 * i + 1] == CTAS * 3200 && wide == CTAS * 4800,
                  "%u %u %llu", mem[4 * i], mem[4 * i + 1], (unsigned long long)wide);
    }
    cr_expect(mem[16] == CTAS * 100 * (63 * 64 / 2), "%u", mem[16]);
}

/* Whoever reads or writes what it has reduced, by whatever instruction, finds it reduced, on each host thread (combine.h). */
Test(emu_atomic, own_reductions_are_there)
{
    static const char *const reads[] = {
        "ld.global.u32 %r4, [%d1];",
        "ld.u32 %r4, [%d1];",
        "ld.global.v2.u32 {%r4, %r8}, [%d1];",
        "ld.global.b8 %r4, [%d1];",
        "@%p ld.global.u32 %r4, [%d1]; @!%p ld.global.u32 %r4, [%d1];",
        "cp.async.ca.shared.global [%r6], [%d1], 4; cp.async.wait_all; ld.shared.u32 %r4, [%r6];",
        "ld.global.u32 %r4, [%d1]; st.global.u32 [%d1], %r4;",
        "st.global.u32 [%d1], %r3; ld.global.u32 %r4, [%d1];",
        /* lane 0 from another allocation */
        "and.b32 %r7, %r2, 31; setp.eq.u32 %q, %r7, 0; selp.b64 %d3, %d2, %d1, %q; ld.global.u32 %r4, [%d3]; selp.b32 %r4, %r3, %r4, %q;",
    };
    enum { CTAS = 40, SIZE = 64, TIMES = 3 };
    for (size_t i = 0; i < COUNT(reads); i++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            uint32_t words[CTAS * SIZE][2], seen[CTAS * SIZE];
            char body[2000];
            memset(words, 0, sizeof words);
            snprintf(
                body, sizeof body,
                ".reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .pred %%p, %%q; .shared .b32 s[64];\n"
                "ld.param.u64 %%d0, [mem]; ld.param.u64 %%d2, [out]; mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%tid.x;\n"
                "mad.lo.u32 %%r1, %%r1, 64, %%r2; setp.lt.u32 %%p, %%r2, 7; mov.u32 %%r5, 0;\n"
                "mov.u32 %%r6, s; mad.lo.u32 %%r6, %%r2, 4, %%r6;\n"
                "mad.wide.u32 %%d1, %%r1, 8, %%d0; mad.wide.u32 %%d2, %%r1, 4, %%d2; mov.u32 %%r3, 0;\n"
                "again: %s\n"
                "mad.lo.u32 %%r5, %%r5, 10, %%r4;\n"
                "red.global.add.u32 [%%d1], 1;\n"
                "add.u32 %%r3, %%r3, 1; setp.lt.u32 %%q, %%r3, 3; @%%q bra again;\n"
                "st.global.u32 [%%d2], %%r5;\nret;\n",
                reads[i]);
            struct emu_run r = {.ptx = emu_ptx(".param .u64 mem, .param .u64 out", body),
                                .mixes = true,
                                .grid = CTAS,
                                .block = SIZE};
            r.config.threads = threads;
            r.args[0] = emu_inout(&r, words, sizeof words);
            r.args[1] = emu_out(&r, seen, sizeof seen);
            cr_assert(emu_run(&r), "%s: %s", reads[i], r.fault);
            for (int t = 0; t < CTAS * SIZE; t++)
                cr_assert(seen[t] == 12 && words[t][0] == TIMES && words[t][1] == 0,
                          "%s, %u threads: thread %d sees %u, %u", reads[i], threads, t, seen[t],
                          words[t][0]);
        }
}

/* Few words and many, of more allocations than are kept track of. */
Test(emu_atomic, reductions_of_one_kind)
{
    static const char *const kinds[] = {"add.u32", "min.s32", "max.u32", "and.b32",
                                        "or.b32",  "xor.b32", "add.u64", "max.s64"};
    enum { CTAS = 30, SIZE = 128, BUFFERS = 12, WORDS = 3000 };
    static uint64_t words[BUFFERS][WORDS], want[BUFFERS][WORDS];
    static const char params[] =
        ".param .u64 a0, .param .u64 a1, .param .u64 a2, .param .u64 a3, .param .u64 a4, .param .u64 a5, "
        ".param .u64 a6, .param .u64 a7, .param .u64 a8, .param .u64 a9, .param .u64 a10, .param .u64 a11";
    for (size_t i = 0; i < COUNT(kinds); i += THINNED)
        for (unsigned few = 0; few < 2; few++) {
            char body[6000];
            const bool wide = strstr(kinds[i], "64");
            int n = snprintf(
                body, sizeof body,
                ".reg .b64 %%d<9>, %%v; .reg .b32 %%r<9>; .reg .pred %%p, %%q;\n"
                "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%tid.x; mad.lo.u32 %%r1, %%r1, %d, %%r2;\n"
                "mul.lo.u32 %%r1, %%r1, 0x9E3779B1; mov.u32 %%r3, 0;\n"
                "again: mad.lo.u32 %%r1, %%r1, 1664525, 1013904223; shr.u32 %%r4, %%r1, 8;\n"
                "rem.u32 %%r4, %%r4, %d; mul.wide.u32 %%d1, %%r4, 8;\n"
                "xor.b32 %%r5, %%r1, 0x5a5a5a5a; cvt.s64.s32 %%v, %%r5;\n",
                SIZE, few ? 40 : WORDS);
            for (int b = 0; b < BUFFERS; b++)
                n += snprintf(
                    body + n, sizeof body - (size_t)n,
                    "ld.param.u64 %%d0, [a%d]; add.u64 %%d2, %%d0, %%d1; red.global.%s [%%d2], %s;\n",
                    b, kinds[i], wide ? "%v" : "%r5");
            snprintf(body + n, sizeof body - (size_t)n,
                     "add.u32 %%r3, %%r3, 1; setp.lt.u32 %%q, %%r3, 20; @%%q bra again;\nret;\n");
            for (unsigned threads = 1; threads <= 4; threads += 3) {
                struct emu_run r = {.ptx = emu_ptx(params, body), .grid = CTAS, .block = SIZE};
                r.config.threads = threads;
                for (int b = 0; b < BUFFERS; b++) {
                    for (int w = 0; w < WORDS; w++) words[b][w] = 0x1000 * (uint64_t)w;
                    r.args[b] = emu_inout(&r, words[b], sizeof words[b]);
                }
                cr_assert(emu_run(&r), "%s: %s", kinds[i], r.fault);
                if (threads == 1) memcpy(want, words, sizeof want);
                cr_assert(memcmp(want, words, sizeof want) == 0, "%s of %s words: not the same",
                          kinds[i], few ? "few" : "many");
            }
        }
}

/* A counter whose values are used: each CTA gets numbers of its own. */
Test(emu_atomic, tickets)
{
    static const char body[] =
        ".reg .b64 %d<9>; .reg .b32 %r<9>;\n"
        "ld.param.u64 %d0, [mem]; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
        "mad.lo.u32 %r4, %r2, 64, %r1;\n"
        "atom.global.add.u32 %r5, [%d0], 1;\n"
        "mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2; atom.global.add.u32 %r6, [%d2], %r4;\n"
        "add.u32 %r6, %r6, 1; red.global.add.u32 [%d2], 1;\nret;\n";
    enum { CTAS = 20 };
    uint32_t counter = 0, out[CTAS * 64];
    struct emu_run r = {.in_turn = true,
                        .ptx = emu_ptx(".param .u64 mem, .param .u64 out", body),
                        .grid = CTAS,
                        .block = 64};
    r.config.threads = 4;
    r.args[0] = emu_inout(&r, &counter, 4);
    r.args[1] = emu_out(&r, out, sizeof out);
    cr_assert(emu_run(&r), "%s", r.fault);
    cr_expect(counter == CTAS * 64);
    for (uint32_t i = 0; i < CTAS * 64; i++) cr_assert(out[i] == i + 1, "%u: %u", i, out[i]);
}

/* ---- what is wrong ----------------------------------------------------------------------------- */

static void check_fault(const char *decl, const char *inst, enum emu_fault_kind kind)
{
    char body[1000];
    uint32_t mem[16] = {0};
    snprintf(body, sizeof body,
             ".reg .b64 %%d<9>; .reg .b32 %%r<9>; .reg .f32 %%f<9>; .reg .b64 %%x;\n%s\n"
             "ld.param.u64 %%d0, [mem]; mov.u32 %%r1, 1; mov.f32 %%f1, 0f3F800000;\n%s\nret;\n",
             decl, inst);
    struct emu_run r = {.ptx = emu_ptx(".param .u64 mem", body), .block = 32};
    r.args[0] = emu_inout(&r, mem, sizeof mem);
    cr_expect(!emu_run(&r), "%s runs", inst);
    cr_expect(r.kind == kind, "%s: %s", inst, r.fault);
}

Test(emu_atomic, faults)
{
    check_fault("", "atom.global.add.u32 %r2, [%d0+2], %r1;", EMU_MISALIGNED);
    check_fault("", "red.global.add.u32 [%d0+64], %r1;", EMU_OUT_OF_BOUNDS);
    check_fault("", "red.global.add.f32 [%d0+64], %f1;", EMU_OUT_OF_BOUNDS);
    check_fault("", "red.add.u32 [%d0+0xffff0000], %r1;", EMU_OUT_OF_BOUNDS);
    check_fault("", "mov.u64 %d1, 0; atom.add.u32 %r2, [%d1], %r1;", EMU_OUT_OF_BOUNDS);
    check_fault("", "mov.u64 %d1, -4; atom.add.u32 %r2, [%d1], %r1;", EMU_OUT_OF_BOUNDS);
    check_fault(".shared .b32 s[4];", "atom.shared.add.u32 %r2, [s+16], %r1;", EMU_OUT_OF_BOUNDS);
    check_fault(".shared .b32 s[4];", "atom.shared.add.u32 %r2, [s+-4], %r1;", EMU_OUT_OF_BOUNDS);
    check_fault(".shared .b32 s[4];", "atom.shared.exch.b64 %x, [s+4], %d0;", EMU_MISALIGNED);
    check_fault(".shared .align 8 .b32 s[4];",
                "mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; red.v2.f32.add [%d1], {%f1, %f1};",
                EMU_WRONG_SPACE);
    check_fault("", "red.global.v4.f32.add [%d0+8], {%f1, %f1, %f1, %f1};", EMU_MISALIGNED);
}

/* ---- the functions alone ----------------------------------------------------------------------- */

static unsigned type_named(const char *name)
{
    return ptx_type_find(name, strlen(name));
}

/* All pairs of values. */
Test(emu_atomic, every_pair)
{
    static const char *const ops[] = {
        [ATOMIC_ADD] = "add",   [ATOMIC_MIN] = "min", [ATOMIC_MAX] = "max", [ATOMIC_INC] = "inc",
        [ATOMIC_DEC] = "dec",   [ATOMIC_AND] = "and", [ATOMIC_OR] = "or",   [ATOMIC_XOR] = "xor",
        [ATOMIC_EXCH] = "exch", [ATOMIC_CAS] = "cas"};
    static const char *const types[] = {"u32", "s32", "u64", "s64",  "b16",   "b32",   "b64",
                                        "f32", "f64", "f16", "bf16", "f16x2", "bf16x2"};
    unsigned known = 0;
    for (unsigned op = 0; op < ATOMIC_COUNT; op++)
        for (size_t t = 0; t < COUNT(types); t++) {
            const char *type = types[t];
            unsigned id = type_named(type);
            if (!atomic_function(op, id)) continue;
            known++;
            uint64_t mask = width_of(type) == 8 ? ~(uint64_t)0
                                                : ((uint64_t)1 << width_of(type) * 8) - 1;
            bool ftz = op == ATOMIC_ADD_FTZ;
            const uint64_t *v = strcmp(type, "f32") == 0   ? floats
                                : strcmp(type, "f64") == 0 ? doubles
                                : strstr(type, "f16")      ? halves
                                                           : ints;
            size_t n = v == floats    ? COUNT(floats)
                       : v == doubles ? COUNT(doubles)
                       : v == halves  ? COUNT(halves)
                                      : COUNT(ints);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++) {
                    uint64_t m = v[i], b = v[j], c = v[(i + j) / 2 % n], got, old = 0;
                    if (strstr(type, "x2")) m |= v[j] << 16, b |= v[(i * 7 + 3) % n] << 16;
                    m &= mask, b &= mask, c &= mask, got = m;
                    atomic_apply(op, id, &got, &b, &c, &old);
                    uint64_t want = reference(ftz ? "add" : ops[op], type, m, b, c, ftz);
                    cr_assert(got == want && old == m, "%s.%s of %llx, %llx: %llx, want %llx",
                              ftz ? "add.ftz" : ops[op], type, (unsigned long long)m,
                              (unsigned long long)b, (unsigned long long)got,
                              (unsigned long long)want);
                    if (!atomic_commutes(op, id)) continue;
                    uint64_t other = m;
                    atomic_apply(op, id, &other, &c, NULL, NULL);
                    atomic_apply(op, id, &other, &b, NULL, NULL);
                    atomic_apply(op, id, &got, &c, NULL, NULL);
                    cr_assert(other == got, "%s.%s does not commute", ops[op], type);
                }
        }
    cr_expect(known == 60, "%u", known);
}

Test(emu_atomic, flushes_by_itself)
{
    uint32_t m = 0x00400000, b = 0x80200000, old = 0;
    atomic_apply(ATOMIC_ADD_FTZ, PTX_f32, &m, &b, NULL, &old);
    cr_expect(m == 0 && old == 0x00400000, "%x", m);
    m = 0x00400000;
    atomic_apply(ATOMIC_ADD, PTX_f32, &m, &b, NULL, NULL);
    cr_expect(m == 0x00200000, "%x", m);
    uint32_t packed[2] = {0x00200000, 9};
    atomic_apply_packed(ATOMIC_CAS, PTX_b32, &m, packed);
    cr_expect(m == 9 && atomic_packed_bytes(ATOMIC_CAS, PTX_b128) == 32);
}
