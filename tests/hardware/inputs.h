/* tests/hardware/inputs.h: the operands that the kernels of kernels.h are given, the same on every machine: of each type
 * edge values, and random ones near each other, near the limits and anywhere. */
#ifndef HEDDLE_TESTS_HARDWARE_INPUTS_H
#define HEDDLE_TESTS_HARDWARE_INPUTS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t input_mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A binary floating-point format: bits of exponent and of fraction. */
struct input_format {
    const char *name;
    unsigned e, m;
};
static inline const struct input_format *input_format(const char *type)
{
    static const struct input_format formats[] = {{"f16", 5, 10},  {"bf16", 8, 7},  {"f32", 8, 23},
                                                  {"f64", 11, 52}, {"tf32", 8, 23}, {"e4m3", 4, 3},
                                                  {"e5m2", 5, 2}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, type)) return &formats[i];
    return NULL;
}

/* sign, exponent relative to 1.0 and fraction; cut to the format */
static inline uint64_t input_float(const struct input_format *f, unsigned sign, int exponent,
                                   uint64_t fraction)
{
    const int bias = (1 << (f->e - 1)) - 1, top = (1 << f->e) - 1;
    const uint64_t mask = (UINT64_C(1) << f->m) - 1;
    uint64_t r;
    if (exponent + bias >= top) r = (uint64_t)top << f->m;
    else if (exponent + bias <= 0) {
        const int shift = 1 - (exponent + bias);
        const uint64_t full = (fraction & mask) | (UINT64_C(1) << f->m);
        r = shift > (int)f->m ? 0 : full >> shift;
    } else r = (uint64_t)(exponent + bias) << f->m | (fraction & mask);
    return r | (uint64_t)sign << (f->e + f->m);
}

enum { INPUT_EDGES = 64 };
static inline uint64_t input_edge(const struct input_format *f, unsigned k)
{
    const uint64_t mask = (UINT64_C(1) << f->m) - 1, half = UINT64_C(1) << (f->m - 1);
    const int bias = (1 << (f->e - 1)) - 1;
    const unsigned sign = k & 1;
    const uint64_t s = (uint64_t)sign << (f->e + f->m), inf = (uint64_t)((1 << f->e) - 1) << f->m;
    static const signed char integers[] = {6, 7, 14, 15, 30, 31, 62, 63};
    k >>= 1;
    switch (k) {
    case 0: return s;
    case 1: return s | 1;
    case 2: return s | mask;
    case 3: return s | (mask + 1);
    case 4: return s | (mask + 2);
    case 5: return s | half;
    case 6: return input_float(f, sign, -1, mask);
    case 7: return input_float(f, sign, 0, 0);
    case 8: return input_float(f, sign, 0, 1);
    case 9: return input_float(f, sign, -1, 0);
    case 10: return input_float(f, sign, 0, half);
    case 11: return input_float(f, sign, 1, half);
    case 12: return s | (inf - 1);
    case 13: return s | (inf - 2);
    case 14: return s | inf;
    case 15: return s | inf | half;
    case 16: return s | inf | 1;
    case 17: return s | inf | half | (mask & 0x55555);
    case 18: return s | inf | mask;
    case 19: return input_float(f, sign, (int)f->m, 1);
    case 20: return input_float(f, sign, (int)f->m - 1, 1);
    case 21: return input_float(f, sign, (int)f->m - 1, 3);
    case 22: return input_float(f, sign, -bias + (int)f->m + 2, 0);
    case 23: return input_float(f, sign, -(int)f->m - 1, 0);
    default:
        k -= 24;
        return k & 1 ? input_float(f, sign, integers[k & 7], mask)
                     : input_float(f, sign, integers[k & 7] + 1, 0);
    }
}

/* mode 0: an edge, 1: any bits, 2 .. : exponents near each other, far, small, large */
static inline uint64_t input_number(const struct input_format *f, unsigned mode, uint64_t h)
{
    const int bias = (1 << (f->e - 1)) - 1;
    const uint64_t mask = (UINT64_C(1) << f->m) - 1;
    const unsigned sign = h & 1;
    uint64_t fraction = input_mix(h);
    switch (h >> 1 & 7) {
    case 0: fraction = UINT64_C(1) << (h >> 8) % f->m; break;
    case 1: fraction = mask - (h >> 8 & 1); break;
    case 2: fraction = 0; break;
    case 3: fraction &= mask << f->m / 2; break;
    default: break;
    }
    h >>= 16;
    switch (mode) {
    case 0: return input_edge(f, (unsigned)(h % INPUT_EDGES));
    case 1: return input_mix(h) >> (63 - f->e - f->m); /* any bits */
    case 2: return input_float(f, sign, (int)(h % 5) - 2, fraction);
    case 3: return input_float(f, sign, (int)(h % (2 * f->m + 7)) - (int)f->m - 3, fraction);
    case 4: return input_float(f, sign, (int)(h % (f->m + 4)) - bias - (int)f->m, fraction);
    case 5:
        return input_float(f, sign, -bias / 2 + (int)(h % (2 * f->m + 4)) - (int)f->m - 2,
                           fraction);
    case 6: return input_float(f, sign, bias / 2 + (int)(h % 5) - 2, fraction);
    default: return input_float(f, sign, bias - (int)(h % 4), fraction);
    }
}

static inline uint64_t input_integer(uint64_t h)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     8,
                                     15,
                                     16,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     65,
                                     127,
                                     128,
                                     255,
                                     256,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffff,
                                     0x800000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x100000000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000};
    const uint64_t r = input_mix(h);
    uint64_t v;
    switch (h % 8) {
    case 0:
    case 1: v = edges[r % (sizeof edges / sizeof *edges)]; break;
    case 2: v = r % 70; break;
    case 3: v = UINT64_C(1) << r % 64; break;
    case 4: v = r >> (r % 61); break;
    default: v = r; break;
    }
    if (h >> 8 & 1) v = -v;
    if ((h >> 9 & 7) == 0) v = ~v;
    return v;
}

/* A number for a matrix: products that cancel, that differ much, that leave the range. */
static inline uint64_t input_element(const struct input_format *f, unsigned mode, uint64_t h)
{
    const uint64_t fraction = input_mix(h);
    const unsigned sign = h & 1;
    h >>= 8;
    static const signed char far[] = {0, 0, 5, -5, 3, -3, 7, -7};
    switch (mode) {
    case 0: { /* small integers */
        static const signed char e[] = {0, 1, 0, 2, 1, 0, 2, 1};
        return h % 9 == 0
                   ? 0
                   : input_float(f, sign, e[h % 8], h >> 8 & 1 ? UINT64_C(1) << (f->m - 1) : 0);
    }
    case 1: return input_float(f, sign, (int)(h % 3) - 1, fraction);
    case 2: return input_float(f, sign, (int)(h % 9) - 4, fraction);
    case 3: return input_float(f, sign, (int)(h % 17) - 8, fraction);
    case 4: return input_float(f, sign, far[h % 8], fraction & ~UINT64_C(7));
    case 5: return input_number(f, 1, fraction);
    case 6: return input_number(f, h % 3 ? 4 : 7, fraction);
    case 7: return input_number(f, 0, fraction);
    case 8: return h % 4 ? 0 : input_float(f, sign, (int)(h >> 8) % 13 - 6, fraction);
    default: return input_number(f, h % 16 ? 3 : 0, fraction);
    }
}

struct input_slot {
    char type[16];
    int piece, meta;
};
struct input_case {
    char form[64], memory[16];
    unsigned sources, results;
    struct input_slot source[256], result[256];
};

static inline int input_starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static inline unsigned input_bits(const char *type)
{
    const struct input_format *f = input_format(type);
    if (f) return f->e + f->m + 1;
    if (!strcmp(type, "pred")) return 1;
    return (unsigned)strtoul(type + 1, NULL, 10);
}

/* How many threads a case has. */
static inline unsigned input_count(const struct input_case *c)
{
    if (c->sources && c->source[0].piece) return 2048;
    if (c->memory[0] != '-') return 1024;
    if (c->sources == 1) {
        const unsigned bits = input_bits(c->source[0].type);
        if (input_starts(c->form, "match") || input_starts(c->form, "redux")) return 4096;
        if (!strcmp(c->source[0].type, "f16x2") || !strcmp(c->source[0].type, "bf16x2"))
            return 65536;
        return bits <= 16 || !strcmp(c->source[0].type, "f32") ? 65536 : 16384;
    }
    if (input_starts(c->form, "set") || c->form[0] == 'v') return 2048;
    return input_format(c->source[0].type) ? 8192 : 4096;
}

static inline uint64_t input_piece(const struct input_case *c, const struct input_slot *slot,
                                   unsigned thread, uint64_t h)
{
    const unsigned mode = thread / 32 % 10;
    const char *t = slot->type;
    const struct input_format *f = input_format(t);
    (void)c;
    if (!f) { /* integers and bits */
        if (!strcmp(t, "s32")) return mode % 3 == 0 ? input_integer(h) : input_mix(h) % 2000 - 1000;
        return mode % 4 == 3 ? (h & 1 ? 0x7f7f7f7f : 0x80808080) : input_mix(h);
    }
    if (f->e + f->m + 1 >= 32) {
        const uint64_t v = input_element(f, mode, input_mix(h));
        return !strcmp(t, "tf32") && thread / 32 % 2 ? v & ~UINT64_C(0x1fff) : v;
    }
    const unsigned bits = f->e + f->m + 1;
    uint64_t v = 0;
    for (unsigned at = 0; at < 32; at += bits)
        v |= input_element(f, mode, input_mix(h + at * 77)) << at;
    return v;
}

static inline uint64_t input_plain(const char *type, unsigned mode, uint64_t h)
{
    const struct input_format *f = input_format(type);
    const char *x2 = strstr(type, "x2");
    if (f) return input_number(f, mode, h);
    if (x2 || strstr(type, "x4")) {
        char of[16] = {0};
        memcpy(of, type, strlen(type) - 2);
        const unsigned bits = input_bits(of);
        if (!strcmp(of, "u16") || !strcmp(of, "s16"))
            return (input_integer(h) & 0xffff) | (input_integer(input_mix(h)) & 0xffff) << 16;
        return input_plain(of, mode, h) | input_plain(of, mode, input_mix(h)) << bits;
    }
    return input_integer(h);
}

/* Source `s` of a thread; s == c->sources and above: the eight bytes of its memory. */
static inline uint64_t input(const struct input_case *c, unsigned count, unsigned thread,
                             unsigned s)
{
    static const unsigned char modes[] = {0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6, 7};
    const uint64_t h = input_mix(input_mix(thread) + s * UINT64_C(0x1234567));
    const unsigned mode = modes[input_mix(thread + 77777) % 16];
    if (s >= c->sources) {
        const char *type = c->memory;
        if (input_format(type)) {
            uint64_t v = 0;
            const unsigned bits = input_bits(type);
            for (unsigned at = 0; at < 64; at += bits)
                v |= input_plain(type, mode, input_mix(h + at)) << at;
            return v;
        }
        if (strstr(type, "x2"))
            return input_plain(type, mode, h) | input_plain(type, mode, input_mix(h)) << 32;
        return input_integer(h);
    }
    const struct input_slot *slot = &c->source[s];
    if (slot->meta) {
        static const unsigned char pairs[] = {4, 8, 9, 12, 13, 14}, ones[] = {4, 14};
        uint64_t v = 0, r = h;
        for (unsigned i = 0; i < 32; i += 4, r = input_mix(r))
            v |= (uint64_t)(strcmp(c->source[0].type, "tf32") ? pairs[r % 6] : ones[r % 2]) << i;
        return v;
    }
    if (slot->piece) return input_piece(c, slot, thread, h);
    if (input_starts(c->form, "atom_cas") && s == 0 && h >> 40 & 1)
        return input(c, count, thread, c->sources);
    if (input_starts(c->form, "match") || input_starts(c->form, "redux"))
        return input_integer(input_mix(thread / 32 * 8 + h % (1 + thread / 32 % 7)));
    if (c->sources == 1 && count == 65536) {
        const unsigned bits = input_bits(slot->type);
        if (strstr(slot->type, "x2")) return thread | (uint64_t)(thread * 40503u + 12345u) << 16;
        if (bits <= 16) return thread;
        const struct input_format *f = input_format(slot->type);
        if (thread < INPUT_EDGES) return input_edge(f, thread);
        if (thread & 1) return (uint64_t)thread << 16 | (h & 0xffff);
        return input_number(f, mode, h);
    }
    if (c->sources >= 2 && count == 8192 && thread < INPUT_EDGES * INPUT_EDGES && s < 2) {
        const unsigned k = s ? thread / INPUT_EDGES : thread % INPUT_EDGES;
        const struct input_format *f = input_format(slot->type);
        if (f) return input_edge(f, k);
        if (!strcmp(slot->type, "f16x2") || !strcmp(slot->type, "bf16x2")) {
            f = input_format(slot->type[0] == 'f' ? "f16" : "bf16");
            return input_edge(f, k) | input_edge(f, (k * 37 + 11 * s) % INPUT_EDGES) << 16;
        }
    }
    return input_plain(slot->type, mode, h);
}

#endif
