/* Fetches of textures against the formulas of the CUDA programming guide, written down plainly and computed exactly. Their
 * instructions are in emu_texture_kernels.c. */
#include "emu/texture.h"
#include "tests/support/emu.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static float as_float(uint32_t b)
{
    float f;
    memcpy(&f, &b, 4);
    return f;
}

static uint32_t as_bits(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

static long long floor_of(double x)
{
    long long i = (long long)x;
    return (double)i > x ? i - 1 : i;
}

/* ---- one direction, by the book ---------------------------------------------------------------- */

/* Texel i of a texture of n that goes on for ever in a way; -1: the border. */
static long long book_texel(long long i, int n, int mode)
{
    if (mode == TEXTURE_WRAP) {
        while (i < 0) i += n;
        return i % n;
    }
    if (mode == TEXTURE_MIRROR) {
        while (i < 0) i += 2 * n;
        i %= 2 * n;
        return i < n ? i : 2 * n - 1 - i;
    }
    if (i >= 0 && i < n) return i;
    return mode == TEXTURE_BORDER ? -1 : i < 0 ? 0 : n - 1;
}

struct book {
    long long texel[2];
    double weight[2];
};

static struct book book_axis(float c, int n, int mode, bool normalised, bool linear, int offset)
{
    if (!normalised && mode != TEXTURE_BORDER) mode = TEXTURE_CLAMP;
    double x = normalised ? (double)c * n : c;
    struct book b = {{0, 0}, {1, 0}};
    long long i;
    if (linear) {
        x -= 0.5;
        i = floor_of(x);
        double alpha = (double)floor_of((x - (double)i) * 256 + 0.5) / 256; /* 1.8 fixed point */
        b.weight[0] = 1 - alpha;
        b.weight[1] = alpha;
    } else i = floor_of(x);
    b.texel[0] = book_texel(i + offset, n, mode);
    b.texel[1] = book_texel(i + 1 + offset, n, mode);
    return b;
}

/* ---- texture_fetch ----------------------------------------------------------------------------- */

static struct texture new_texture(int w, int h, int d, int layers, int channels, int bits, int kind)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory.width = (u32)w, t.memory.height = (u32)h, t.memory.depth = (u32)d;
    t.memory.layers = (u32)layers;
    t.memory.layered = layers != 0;
    t.memory.channels = (u8)channels, t.memory.bits = (u8)bits, t.memory.kind = (u8)kind;
    const char *why = texture_layout(&t.memory);
    cr_assert_null(why, "%s", why);
    return t;
}

static const float coordinates[] = {0,      0.5f,    0.49f,  1,       1.25f,        1.5f,
                                    2.998f, 2.9985f, 3,      3.5f,    4.999f,       5,
                                    6.75f,  -0.25f,  -0.5f,  -1.25f,  -7.125f,      100.5f,
                                    0.001f, 0.999f,  0.125f, -0.999f, 1.0009765625f};

Test(emu_texture, filters_by_the_book)
{
    static const int sizes[][3] = {{1, 0, 0}, {5, 0, 0}, {4, 3, 0}, {1, 7, 0}, {3, 4, 5}};
    uint32_t seed = 5;
    for (size_t z = 0; z < COUNT(sizes); z++) {
        const int *size = sizes[z], dims = size[2] ? 3 : size[1] ? 2 : 1;
        struct texture t = new_texture(size[0], size[1], size[2], 0, 1, 32, TEXTURE_FLOAT);
        uint8_t *base = calloc(1, t.memory.bytes);
        int n[3] = {size[0], size[1] ? size[1] : 1, size[2] ? size[2] : 1};
        for (int k = 0; k < n[0] * n[1] * n[2]; k++) { /* exact in all sums */
            float v = (float)(int)(next(&seed) % 512) - 200;
            memcpy(base + texture_offset(&t.memory, 0, 0, (u32)(k % n[0]), (u32)(k / n[0] % n[1]),
                                         (u32)(k / n[0] / n[1])),
                   &v, 4);
        }
        t.border[0] = 37;
        for (int k = 0; k < 4000; k++) {
            struct texture_sampler s = {.linear_filter = k & 1, .normalised = k & 2};
            struct texture_point p = {.mode = TEXTURE_BASE};
            struct book b[3] = {{{0, 0}, {1, 0}}, {{0, 0}, {1, 0}}, {{0, 0}, {1, 0}}};
            for (int i = 0; i < dims; i++) {
                s.address[i] = (u8)(next(&seed) & 3);
                p.coord[i] = coordinates[next(&seed) % COUNT(coordinates)];
                p.offset[i] = k & 4 ? (int)(next(&seed) % 16) - 8 : 0;
                b[i] = book_axis(p.coord[i], n[i], s.address[i], s.normalised, s.linear_filter,
                                 p.offset[i]);
            }
            long double sum = 0;
            for (int c = 0; c < 8; c++) {
                long long x = b[0].texel[c & 1], y = b[1].texel[c >> 1 & 1], w = b[2].texel[c >> 2];
                float v = 37;
                if (x >= 0 && y >= 0 && w >= 0)
                    memcpy(&v, base + texture_offset(&t.memory, 0, 0, (u32)x, (u32)y, (u32)w), 4);
                sum += (long double)(b[0].weight[c & 1] * b[1].weight[c >> 1 & 1] *
                                     b[2].weight[c >> 2]) *
                       v;
            }
            u32 out[4];
            texture_fetch(&t, &s, base, &p, out);
            cr_assert(
                as_float(out[0]) == (float)sum,
                "%d x %d x %d at %g %g %g, modes %d %d %d, linear %d, normalised %d: %g, want %g",
                n[0], n[1], n[2], p.coord[0], p.coord[1], p.coord[2], s.address[0], s.address[1],
                s.address[2], s.linear_filter, s.normalised, as_float(out[0]), (double)sum);
            cr_assert(out[1] == 0 && out[2] == 0 && out[3] == 0);
        }
        free(base);
    }
}

Test(emu_texture, coordinates_that_are_no_numbers)
{
    static const uint32_t odd[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff,
                                   0x00000001, 0x80000001, 0x4f000000, 0xcf000000, 0x5f000000};
    struct texture t = new_texture(3, 3, 0, 0, 1, 8, TEXTURE_UINT);
    uint8_t *base = calloc(1, t.memory.bytes);
    memset(base, 1, t.memory.bytes);
    for (int mode = 0; mode < 4; mode++)
        for (size_t i = 0; i < COUNT(odd); i++)
            for (int how = 0; how < 4; how++) {
                struct texture_sampler s = {.address = {(u8)mode, (u8)mode, (u8)mode},
                                            .linear_filter = how & 1,
                                            .normalised = how & 2};
                struct texture_point p = {.coord = {as_float(odd[i]), as_float(odd[i])}};
                u32 out[4];
                t.as_float = how & 1;
                texture_fetch(&t, &s, base, &p, out);
                p.mode = TEXTURE_GATHER;
                texture_fetch(&t, &s, base, &p, out);
                p = (struct texture_point){
                    .integers = true, .at = {INT32_MIN, INT32_MAX}, .offset = {-8, 7}};
                texture_fetch(&t, &s, base, &p, out);
            }
    free(base);
}

Test(emu_texture, formats)
{
    static const struct {
        int bits, kind;
        bool as_float, srgb;
        uint32_t raw, want;
    } cases[] = {{8, TEXTURE_UINT, false, false, 0x80, 0x80},
                 {8, TEXTURE_SINT, false, false, 0x80, 0xffffff80},
                 {16, TEXTURE_UINT, false, false, 0xffff, 0xffff},
                 {16, TEXTURE_SINT, false, false, 0xffff, 0xffffffff},
                 {32, TEXTURE_SINT, false, false, 0x80000001, 0x80000001},
                 {8, TEXTURE_UINT, true, false, 255, 0x3f800000},
                 {8, TEXTURE_UINT, true, false, 1, 0x3b808081},
                 {8, TEXTURE_UNORM, false, false, 127, 0x3efefeff},
                 {8, TEXTURE_SINT, true, false, 0x80, 0xbf800000},
                 {8, TEXTURE_SINT, true, false, 0x81, 0xbf800000},
                 {8, TEXTURE_SNORM, false, false, 1, 0x3c010204},
                 {16, TEXTURE_UINT, true, false, 0xffff, 0x3f800000},
                 {16, TEXTURE_UINT, true, false, 1, 0x37800080},
                 {16, TEXTURE_SNORM, false, false, 0x8000, 0xbf800000},
                 {16, TEXTURE_FLOAT, false, false, 0x3c00, 0x3f800000},
                 {16, TEXTURE_FLOAT, false, false, 0x0001, 0x33800000},
                 {32, TEXTURE_FLOAT, false, false, 0x7f800001, 0x7f800001}, /* as it is */
                 {8, TEXTURE_UINT, true, true, 0, 0},
                 {8, TEXTURE_UINT, true, true, 255, 0x3f800000},
                 {8, TEXTURE_UINT, true, true, 188, 0x3f00a0e4 /* 0.502886 */},
                 {8, TEXTURE_UNORM, false, true, 10, 0x3b46eb61}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int channels = 1; channels <= 4; channels *= 2) {
            struct texture t = new_texture(2, 0, 0, 0, channels, cases[i].bits, cases[i].kind);
            uint8_t base[64] = {0};
            t.as_float = cases[i].as_float;
            t.srgb = cases[i].srgb;
            for (int c = 0; c < channels; c++)
                memcpy(base + (channels + c) * cases[i].bits / 8, &cases[i].raw,
                       (size_t)cases[i].bits / 8);
            struct texture_point p = {.coord = {1.5f}};
            u32 out[4];
            texture_fetch(&t, &t.sampler, base, &p, out);
            for (int c = 0; c < 4; c++) {
                uint32_t want = c < channels ? cases[i].want : 0; /* as an H200 */
                if (cases[i].srgb && c == 3 && channels == 4)
                    want = as_bits((float)cases[i].raw / 255.0f);
                if (cases[i].raw == 188) { /* the formula's value, by any pow */
                    cr_expect(c >= channels || c == 3 ||
                              (as_float(out[c]) > 0.50288f && as_float(out[c]) < 0.50289f));
                    continue;
                }
                cr_expect(out[c] == want, "case %zu, %d channels: channel %d is %x, want %x", i,
                          channels, c, out[c], want);
            }
        }
}

Test(emu_texture, levels)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory = (struct texture_memory){
        .width = 8, .height = 4, .levels = 4, .channels = 1, .bits = 32, .kind = TEXTURE_FLOAT};
    cr_assert_null(texture_layout(&t.memory));
    static const u32 sizes[4][2] = {{8, 4}, {4, 2}, {2, 1}, {1, 1}};
    uint8_t *base = calloc(1, t.memory.bytes);
    for (u32 l = 0; l < 4; l++) {
        cr_expect(t.memory.level[l].width == sizes[l][0] &&
                  t.memory.level[l].height == sizes[l][1]);
        for (u32 k = 0; k < sizes[l][0] * sizes[l][1]; k++) {
            float v = (float)(l * 100);
            memcpy(base + texture_offset(&t.memory, l, 0, k % sizes[l][0], k / sizes[l][0], 0), &v,
                   4);
        }
    }
    t.level_max = 15;
    t.sampler.normalised = true;
    static const struct {
        float level;
        float nearest, linear;
    } cases[] = {{0, 0, 0},     {0.25f, 0, 25}, {0.5f, 100, 50}, {1.75f, 200, 175},
                 {3, 300, 300}, {9, 300, 300},  {-3, 0, 0},      {2.9990f, 300, 300}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int linear = 0; linear < 4; linear++) {
            struct texture_point p = {
                .mode = TEXTURE_AT_LEVEL, .level = cases[i].level, .coord = {0.4f, 0.6f}};
            struct texture_sampler s = t.sampler;
            u32 out[4];
            s.linear_levels = linear & 1;
            s.linear_filter = linear & 2;
            texture_fetch(&t, &s, base, &p, out);
            float want = linear & 1 ? cases[i].linear : cases[i].nearest;
            cr_expect(as_float(out[0]) == want, "level %g, linear %d: %g, want %g", cases[i].level,
                      linear, as_float(out[0]), want);
            /* the same by a gradient of 2 ^ level texels in x, or in y */
            for (int d = 0; d < 2; d++) {
                double g = 1;
                if (cases[i].level != 0 && cases[i].level != 3 && cases[i].level != 9 &&
                    cases[i].level != -3)
                    continue;
                for (float l = cases[i].level; l > 0; l--) g *= 2;
                for (float l = cases[i].level; l < 0; l++) g /= 2;
                p.mode = TEXTURE_GRADIENT;
                p.gradient[d][d] = (float)(g / (d ? 4 : 8));
                texture_fetch(&t, &s, base, &p, out);
                cr_expect(as_float(out[0]) == want, "gradient %g: %g, want %g", g, as_float(out[0]),
                          want);
                p.gradient[d][d] = 0;
            }
        }
    t.level_bias = 1, t.level_min = 1.5f, t.level_max = 2;
    struct texture_point p = {.mode = TEXTURE_AT_LEVEL, .level = 0, .coord = {0.4f, 0.6f}};
    struct texture_sampler s = {.linear_levels = true, .normalised = true};
    u32 out[4];
    texture_fetch(&t, &s, base, &p, out);
    cr_expect(as_float(out[0]) == 150);
    p.level = 7;
    texture_fetch(&t, &s, base, &p, out);
    cr_expect(as_float(out[0]) == 200);
    p = (struct texture_point){
        .mode = TEXTURE_AT_LEVEL, .integers = true, .level = 2, .at = {1, 0}};
    texture_fetch(&t, &s, base, &p, out);
    cr_expect(as_float(out[0]) == 200);
    free(base);
}

/* The table of the guide's section on cubemaps: face, m, s, t for the major axis. */
Test(emu_texture, cubes)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory = (struct texture_memory){.width = 4,
                                       .height = 4,
                                       .layers = 12,
                                       .layered = true,
                                       .cube = true,
                                       .channels = 1,
                                       .bits = 32,
                                       .kind = TEXTURE_UINT};
    cr_assert_null(texture_layout(&t.memory));
    uint8_t *base = calloc(1, t.memory.bytes);
    for (u32 k = 0; k < 12 * 16; k++)
        memcpy(base + texture_offset(&t.memory, 0, k / 16, k % 4, k / 4 % 4, 0), &k, 4);
    uint32_t seed = 9;
    for (int k = 0; k < 3000; k++) {
        float v[3];
        for (int i = 0; i < 3; i++) v[i] = ((float)(int)(next(&seed) % 2000) - 1000) / 512;
        float x = v[0], y = v[1], z = v[2], a[3];
        for (int i = 0; i < 3; i++) a[i] = v[i] < 0 ? -v[i] : v[i];
        if (a[0] == a[1] || a[1] == a[2] || a[0] == a[2]) continue;
        int face;
        float m, s, tt;
        if (a[0] > a[1] && a[0] > a[2]) {
            if (x > 0) face = 0, m = x, s = -z, tt = -y;
            else face = 1, m = -x, s = z, tt = -y;
        } else if (a[1] > a[2]) {
            if (y > 0) face = 2, m = y, s = x, tt = z;
            else face = 3, m = -y, s = x, tt = -z;
        } else if (z > 0) face = 4, m = z, s = x, tt = -y;
        else face = 5, m = -z, s = -x, tt = -y;
        long long column = floor_of(((double)s / m + 1) / 2 * 4),
                  row = floor_of(((double)tt / m + 1) / 2 * 4);
        if (column > 3) column = 3;
        if (row > 3) row = 3;
        struct texture_point p = {.coord = {x, y, z}, .layer = (u32)(k % 3)};
        u32 out[4], cube = k % 3 ? 1 : 0;
        texture_fetch(&t, &t.sampler, base, &p, out);
        cr_assert(out[0] == (cube * 6 + (u32)face) * 16 + (u32)row * 4 + (u32)column,
                  "%g %g %g: %u", x, y, z, out[0]);
    }
    free(base);
}

Test(emu_texture, gathers)
{
    struct texture t = new_texture(4, 4, 0, 0, 2, 16, TEXTURE_UINT);
    uint8_t *base = calloc(1, t.memory.bytes);
    for (u32 k = 0; k < 16; k++) {
        uint16_t v[2] = {(uint16_t)k, (uint16_t)(100 + k)};
        memcpy(base + texture_offset(&t.memory, 0, 0, k % 4, k / 4, 0), v, 4);
    }
    struct texture_sampler s = {.address = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP}};
    struct texture_point p = {.mode = TEXTURE_GATHER, .coord = {2.2f, 1.7f}, .component = 1};
    u32 out[4];
    texture_fetch(&t, &s, base, &p,
                  out); /* columns 1 and 2, rows 1 and 2: lower left first, counter-clockwise */
    cr_expect(out[0] == 109 && out[1] == 110 && out[2] == 106 && out[3] == 105, "%u %u %u %u",
              out[0], out[1], out[2], out[3]);
    p = (struct texture_point){.mode = TEXTURE_GATHER, .coord = {0, 4}, .component = 3};
    texture_fetch(&t, &s, base, &p, out);
    cr_expect(out[0] == 0 && out[3] == 0, "what there is not");
    p.component = 0;
    texture_fetch(&t, &s, base, &p, out);
    cr_expect(out[0] == 12 && out[1] == 12 && out[2] == 12 && out[3] == 12);
    free(base);
}

Test(emu_texture, refuses)
{
    struct mem *m = mem_new(1 << 20);
    struct texture t = new_texture(4, 4, 0, 0, 1, 8, TEXTURE_UINT);
    const char *why;
    t.memory.address = mem_alloc(m, t.memory.bytes, 0, "array", false, false);
    uint64_t h = texture_create(m, &t, &why);
    cr_assert(h, "%s", why);
    cr_expect(texture_find(m, h) && !surface_find(m, h) && !texture_find(m, h + 256) &&
              !texture_find(m, t.memory.address));
    cr_expect(texture_destroy(m, h) && !texture_find(m, h) && !texture_destroy(m, h));
    t.sampler.linear_filter = true;
    cr_expect(!texture_create(m, &t, &why), "integers cannot be filtered");
    t.as_float = true;
    h = texture_create(m, &t, &why);
    cr_expect(h && texture_find(m, h)->sampler.linear_filter);
    t.memory.address += 1;
    cr_expect(!texture_create(m, &t, &why), "no memory there");
    t.memory.width = 0;
    cr_expect(texture_layout(&t.memory) != NULL);
    t.memory = (struct texture_memory){
        .width = 1 << 28, .height = 1 << 28, .depth = 1 << 28, .channels = 4, .bits = 32};
    cr_expect(texture_layout(&t.memory) != NULL);
    t.memory = (struct texture_memory){
        .width = 4, .height = 5, .layers = 6, .cube = true, .channels = 4, .bits = 32};
    cr_expect(texture_layout(&t.memory) != NULL);
    mem_free(m);
}
