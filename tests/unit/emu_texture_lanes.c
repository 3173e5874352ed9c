/* Fetches of 32 lanes at once (emu/ops/simd_texture.c) against texture_fetch(), which tests/unit/emu_texture.c compares with the
 * CUDA programming guide: random textures, samplers and coordinates, with NaN, infinities and subnormal numbers among both
 * coordinates and texels. Counts are compared with those of an observed launch, whose lanes fetch one by one. */
#include "emu/memory.h"
#include "emu/order.h"
#include "emu/texture.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "emu/counts.h"
#include "ptx/ptx.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 96,
    WORDS = 8
}; /* of each thread: x, y, z, layer, three offsets, whether it fetches */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t as_bits(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

/* ---- one kernel for each geometry, type of results and of coordinates, with and without offsets ---- */

static const struct {
    const char *name, *coordinates;
    u32 dims;
    bool layered;
    const char *offsets;
} geometries[] = {{"1d", "{%x0}", 1, false, "%r4"},
                  {"2d", "{%x0,%x1}", 2, false, "{%r4,%r5}"},
                  {"3d", "{%x0,%x1,%x2,%x2}", 3, false, "{%r4,%r5,%r6,%r6}"},
                  {"a1d", "{%r3,%x0}", 1, true, "%r4"},
                  {"a2d", "{%r3,%x0,%x1,%x1}", 2, true, "{%r4,%r5}"}};
enum { GEOMETRIES = 5 };

static void kernel(struct buf *b, int geometry, const char *type, bool integers, bool offset)
{
    const bool f16 = strcmp(type, "f16") == 0;
    buf_printf(
        b,
        ".visible .entry k_%s_%s_%d_%d(.param .u64 tex, .param .u64 in, .param .u64 out)\n{\n"
        ".reg .b64 %%d<9>; .reg .b32 %%r<30>; .reg .f32 %%f<9>; .reg .b16 %%h<9>; .reg .pred %%p<4>;\n"
        "ld.param.u64 %%d0, [tex]; ld.param.u64 %%d1, [in]; ld.param.u64 %%d2, [out];\n"
        "mov.u32 %%r10, %%tid.x; mul.wide.u32 %%d3, %%r10, 32; add.u64 %%d1, %%d1, %%d3;\n"
        "mul.wide.u32 %%d3, %%r10, 16; add.u64 %%d2, %%d2, %%d3;\n"
        "ld.global.v4.u32 {%%r0,%%r1,%%r2,%%r3}, [%%d1]; ld.global.v4.u32 {%%r4,%%r5,%%r6,%%r7}, [%%d1+16];\n"
        "mov.b32 %%f0, %%r0; mov.b32 %%f1, %%r1; mov.b32 %%f2, %%r2;\n"
        "mov.u32 %%r20, -1; mov.u32 %%r21, -1; mov.u32 %%r22, -1; mov.u32 %%r23, -1;\n"
        "mov.b16 %%h0, -1; mov.b16 %%h1, -1; mov.b16 %%h2, -1; mov.b16 %%h3, -1;\n"
        "setp.ne.u32 %%p0, %%r7, 0;\n@!%%p0 bra done;\n",
        geometries[geometry].name, type, integers, offset);
    const char *results = f16 ? "{%h0,%h1,%h2,%h3}" : "{%r20,%r21,%r22,%r23}";
    buf_printf(b, "tex.%s.v4.%s.%s %s, [%%d0, ", geometries[geometry].name, type,
               integers ? "s32" : "f32", results);
    for (const char *c = geometries[geometry].coordinates; *c; c++)
        buf_printf(b, "%c", *c != 'x' ? *c : integers ? 'r' : 'f');
    buf_printf(b, "]%s%s;\ndone:\n", offset ? ", " : "",
               offset ? geometries[geometry].offsets : "");
    buf_printf(b, "%s\nret;\n}\n",
               f16 ? "st.global.v4.b16 [%d2], {%h0,%h1,%h2,%h3};"
                   : "st.global.v4.b32 [%d2], {%r20,%r21,%r22,%r23};");
}

struct device {
    struct arena *arena;
    struct buf text;
    struct source source;
    struct diags diags;
    struct ptx_module *module;
    struct emu *emu;
    struct emu_image *image;
    struct mem *mem;
    uint64_t in, out;
};

static void see_memory(void *self, struct emu_machine *m)
{
    *(struct mem **)self = m->mem;
}

static void see_nothing(void *self, const struct emu_access *a)
{
    (void)self, (void)a;
}

static const struct emu_report *launch(struct device *d, const char *name, uint64_t handle,
                                       uint32_t threads, const struct emu_observer *o)
{
    const uint64_t params[3] = {handle, d->in, d->out};
    struct emu_launch l = {.grid = {1, 1, 1},
                           .block = {threads, 1, 1},
                           .params = params,
                           .params_size = handle ? 24 : 0,
                           .observers = o ? &o : NULL,
                           .observer_count = o != NULL};
    return emu_launch(d->emu, emu_kernel_find(d->image, name), &l);
}

static void start(struct device *d, const struct emu_config *c)
{
    memset(d, 0, sizeof *d);
    d->arena = arena_new();
    buf_printf(&d->text, ".version 8.7\n.target sm_90\n.address_size 64\n"
                         ".visible .entry empty() { ret; }\n");
    for (int i = 0; i < GEOMETRIES; i++)
        for (int k = 0; k < 4; k++) {
            kernel(&d->text, i, "f32", k & 1, k & 2);
            kernel(&d->text, i, "u32", k & 1, k & 2);
            if (!(k & 2)) kernel(&d->text, i, "f16", k & 1, false);
        }
    d->source = (struct source){"test.ptx", d->text.data, (uint32_t)d->text.size};
    d->diags = (struct diags){.arena = d->arena, .source = &d->source};
    d->module = ptx_module_parse(d->arena, &d->source, &d->diags);
    ptx_module_check(d->module);
    if (d->diags.errors) {
        struct buf b = {0};
        diags_render(&d->diags, &b);
        cr_assert_fail("%s", b.data);
    }
    d->emu = emu_new(c);
    char *why = NULL;
    d->image = emu_load(d->emu, &d->module, 1, &why);
    cr_assert(d->image, "%s", why);
    d->in = emu_alloc(d->emu, THREADS * WORDS * 4, "in");
    d->out = emu_alloc(d->emu, THREADS * 16, "out");
    launch(d, "empty", 0, 1, &(struct emu_observer){.self = &d->mem, .begin = see_memory});
    cr_assert(d->mem);
}

static void stop(struct device *d)
{
    emu_unload(d->image);
    emu_free(d->emu);
    ptx_module_end(d->module);
    arena_free(d->arena);
    buf_free(&d->text);
}

/* ---- random textures, samplers and coordinates ---------------------------------------------------- */

static const uint32_t special[] = {
    0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 1,
    0x80000001, 0x007fffff, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f000000,
    0x4e800000, 0xce800001, 0x4f000000, 0xcf000000, 0x5a000000, 0x59800001, 0xd9800000, 0x33800000};
enum { SPECIAL = sizeof special / sizeof *special };

static uint32_t any_bits(uint32_t *seed)
{
    return next(seed) << 16 ^ next(seed);
}

static struct texture any_texture(struct device *d, uint32_t *seed, int geometry, uint8_t **base)
{
    static const u32 sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 33, 64};
    struct texture t;
    memset(&t, 0, sizeof t);
    struct texture_memory *m = &t.memory;
    const u32 dims = geometries[geometry].dims;
    m->width = sizes[next(seed) % 10];
    m->height = dims > 1 ? sizes[next(seed) % 10] : 0;
    m->depth = dims > 2 ? sizes[next(seed) % 8] : 0;
    m->layered = geometries[geometry].layered;
    m->layers = m->layered ? 1 + next(seed) % 5 : 0;
    m->channels = (u8)(1 << next(seed) % 3);
    do {
        m->bits = (u8)(8 << next(seed) % 3), m->kind = (u8)(next(seed) % 5);
    } while ((m->kind == TEXTURE_FLOAT && m->bits == 8) ||
             (m->kind > TEXTURE_FLOAT && m->bits == 32));
    m->linear = dims < 3 && !m->layered && next(seed) % 3 == 0;
    if (dims == 2 && m->linear && next(seed) % 2) m->pitch = m->width * 16 + 48;
    cr_assert_null(texture_layout(m));
    t.as_float = m->kind <= TEXTURE_SINT && m->bits <= 16 && next(seed) % 2;
    t.srgb = m->bits == 8 && next(seed) % 3 == 0 &&
             (m->kind == TEXTURE_UNORM || (m->kind == TEXTURE_UINT && t.as_float));
    const bool floats = m->kind >= TEXTURE_FLOAT || t.as_float;
    for (int i = 0; i < 3; i++) t.sampler.address[i] = (u8)(next(seed) % 4);
    t.sampler.linear_filter = floats && next(seed) % 2;
    t.sampler.normalised = next(seed) % 2;
    for (int i = 0; i < 4; i++) {
        const uint32_t b = next(seed) % 4 ? as_bits((float)(i32)(next(seed) % 1000) - 300)
                                          : special[next(seed) % SPECIAL];
        memcpy(&t.border[i], &b, 4);
    }
    m->address = mem_alloc(d->mem, m->bytes, 0, "texels", false, false);
    *base = mem_bytes(d->mem, m->address);
    for (u64 i = 0; i < m->bytes; i++) (*base)[i] = (uint8_t)next(seed);
    if (m->kind == TEXTURE_FLOAT && m->bits == 32)
        for (u64 i = 0; i + 4 <= m->bytes; i += 4) {
            const uint32_t b = next(seed) % 8
                                   ? as_bits(((float)next(seed) - 8e6f) / (float)(1 + next(seed)))
                                   : special[next(seed) % SPECIAL];
            memcpy(*base + i, &b, 4);
        }
    return t;
}

static uint32_t any_coordinate(uint32_t *seed, bool integers, bool normalised, u32 size)
{
    if (next(seed) % 8 == 0) return integers ? any_bits(seed) : special[next(seed) % SPECIAL];
    if (integers) return next(seed) % (size + 8) - 4;
    const float far = next(seed) % 8 ? 1.25f : 20;
    const float c = ((float)next(seed) / 0x1p24f * 2 - 0.5f) * far;
    if (next(seed) % 4 == 0) /* at the middle or edge of a texel */
        return as_bits((float)(i32)(c * 2 * (float)size) / 2 / (normalised ? (float)size : 1));
    return as_bits(normalised ? c : c * (float)size);
}

/* The bits that a lane reads. */
static void expected(const struct texture *t, const uint8_t *base, const uint32_t *in, int geometry,
                     bool integers, bool offset, uint32_t out[4])
{
    struct texture_point p = {.integers = integers, .mode = TEXTURE_BASE};
    for (u32 i = 0; i < geometries[geometry].dims; i++) {
        p.at[i] = (i32)in[i];
        memcpy(&p.coord[i], &in[i], 4);
        if (offset) p.offset[i] = (i32)in[4 + i];
    }
    if (integers) memset(p.coord, 0, sizeof p.coord);
    p.layer = geometries[geometry].layered ? in[3] : 0;
    texture_fetch(t, &t->sampler, base, &p, out);
}

static void one_texture(struct device *d, uint32_t *seed)
{
    const int geometry = (int)(next(seed) % GEOMETRIES);
    const bool integers = next(seed) % 3 == 0, offset = next(seed) % 3 == 0, all = next(seed) % 2;
    uint8_t *base;
    struct texture t = any_texture(d, seed, geometry, &base);
    const bool floats = t.memory.kind >= TEXTURE_FLOAT || t.as_float,
               f16 = floats && !offset && next(seed) % 8 == 0;
    const char *why;
    const uint64_t handle = texture_create(d->mem, &t, &why);
    cr_assert(handle, "%s", why);
    char name[40];
    snprintf(name, sizeof name, "k_%s_%s_%d_%d", geometries[geometry].name,
             f16      ? "f16"
             : floats ? "f32"
                      : "u32",
             integers, offset);
    uint32_t in[THREADS][WORDS], out[2][THREADS][4];
    for (int l = 0; l < THREADS; l++) {
        const u32 size[3] = {t.memory.width, t.memory.height, t.memory.depth};
        for (int i = 0; i < 3; i++)
            in[l][i] = any_coordinate(seed, integers, t.sampler.normalised, size[i]);
        in[l][3] = next(seed) % 7;
        in[l][7] = all || next(seed) % 3;
        for (int i = 4; i < 7; i++) /* of lanes that fetch nothing: anything */
            in[l][i] = in[l][7] ? next(seed) % 16 - 8 : any_bits(seed);
    }
    cr_assert(emu_copy_in(d->emu, d->in, in, sizeof in));
    struct buf counts[2] = {{0}};
    for (int observed = 0; observed < 2; observed++) {
        const struct emu_report *r = launch(d, name, handle, THREADS,
                                            observed ? &(struct emu_observer){.access = see_nothing}
                                                     : NULL);
        cr_assert(!r->fault.kind, "%s: %s", name, r->fault.text);
        cr_assert(emu_copy_out(d->emu, out[observed], d->out, sizeof out[observed]));
        if (r->counts) emu_counts_json(&counts[observed], r->counts, 0);
    }
    for (int l = 0; l < THREADS; l++) {
        uint32_t want[4] = {~0u, ~0u, ~0u, ~0u};
        if (f16) {
            cr_assert(memcmp(out[0][l], out[1][l], 16) == 0, "%s, lane %d", name, l);
            continue;
        }
        if (in[l][7]) expected(&t, base, in[l], geometry, integers, offset, want);
        for (int observed = 0; observed < 2; observed++)
            cr_assert(
                memcmp(want, out[observed][l], 16) == 0,
                "%s%s, %ux%ux%u texels of %u x %u bits, kind %u, as float %d, modes %u %u %u, linear %d, "
                "normalised %d, lane %d at %08x %08x %08x, layer %u, offset %d %d %d: "
                "%08x %08x %08x %08x, want %08x %08x %08x %08x",
                name, observed ? ", observed" : "", t.memory.width, t.memory.height, t.memory.depth,
                t.memory.channels, t.memory.bits, t.memory.kind, t.as_float, t.sampler.address[0],
                t.sampler.address[1], t.sampler.address[2], t.sampler.linear_filter,
                t.sampler.normalised, l, in[l][0], in[l][1], in[l][2], in[l][3], (i32)in[l][4],
                (i32)in[l][5], (i32)in[l][6], out[observed][l][0], out[observed][l][1],
                out[observed][l][2], out[observed][l][3], want[0], want[1], want[2], want[3]);
    }
    cr_assert((counts[0].data == NULL) == (counts[1].data == NULL));
    if (counts[0].data) cr_assert_str_eq(counts[0].data, counts[1].data, "counts of %s", name);
    buf_free(&counts[0]), buf_free(&counts[1]);
    texture_destroy(d->mem, handle);
    mem_release(d->mem, t.memory.address);
}

static void many(enum emu_isa isa, unsigned group_warps, bool count)
{
    struct device d;
    uint32_t seed = 17 + isa;
    start(&d, &(struct emu_config){.isa = isa, .group_warps = group_warps, .count = count});
    for (int k = 0; k < 400; k++) one_texture(&d, &seed);
    stop(&d);
}

Test(emu_texture_lanes, equal_each_lane)
{
    many(EMU_ISA_BEST, 4, true);
}

Test(emu_texture_lanes, equal_each_lane_portable)
{
    many(EMU_ISA_PORTABLE, 1, false);
}

Test(emu_texture_lanes, equal_each_lane_avx2)
{
    many(EMU_ISA_AVX2, 4, false);
}
