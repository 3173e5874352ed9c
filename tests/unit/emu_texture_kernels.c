/* Textures and surfaces in kernels: every instruction form against texture_fetch (tests/unit/emu_texture.c), surfaces against
 * a plain array, faults, and what observers get. */
#include "emu/memory.h"
#include "emu/order.h"
#include "emu/texture.h"
#include "tests/support/emu.h"
#include "tests/support/executed_forms.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- kernels ----------------------------------------------------------------------------------- */

/* A device with one module. */
struct device {
    struct arena *arena;
    struct source source;
    struct diags diags;
    struct ptx_module *module;
    struct emu *emu;
    struct mem *mem;
    struct emu_image *image;
    uint64_t out;
    struct seen *seen; /* NULL: nobody watches */
    char fault[2000];
    enum emu_fault_kind kind;
};

static void see_memory(void *self, struct emu_machine *m)
{
    *(struct mem **)self = m->mem;
}

static void start(struct device *d, const char *ptx, unsigned way)
{
    memset(d, 0, sizeof *d);
    d->arena = arena_new();
    d->source = (struct source){"test.ptx", ptx, (uint32_t)strlen(ptx)};
    d->diags = (struct diags){.arena = d->arena, .source = &d->source};
    d->module = ptx_module_parse(d->arena, &d->source, &d->diags);
    ptx_module_check(d->module);
    if (d->diags.errors) {
        struct buf b = {0};
        diags_render(&d->diags, &b);
        cr_assert_fail("%s", b.data);
    }
    struct emu_config c = {.isa = way & 1 ? EMU_ISA_PORTABLE : EMU_ISA_BEST,
                           .group_warps = way & 2 ? 1 : 4,
                           .count = way == 0};
    d->emu = emu_new(&c);
    char *why;
    d->image = emu_load(d->emu, &d->module, 1, &why);
    cr_assert(d->image, "%s", why);
    d->out = emu_alloc(d->emu, 65536, "out");
    /* The device's memory: what an observer of a launch of an empty kernel sees. */
    struct emu_observer o = {.self = &d->mem, .begin = see_memory};
    const struct emu_observer *list = &o;
    struct emu_launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .observers = &list, .observer_count = 1};
    emu_launch(d->emu, emu_kernel_find(d->image, "empty"), &l);
    cr_assert(d->mem);
}

static void stop(struct device *d)
{
    emu_unload(d->image);
    emu_free(d->emu);
    ptx_module_end(d->module);
    arena_free(d->arena);
}

/* What an observer saw, as text. */
struct seen {
    char text[4000];
};

static void see_access(void *self, const struct emu_access *a)
{
    static const char *const kinds[] = {"load", "store", "atomic", "red"};
    struct seen *s = self;
    uint64_t sum = 0;
    unsigned lanes = 0;
    for (int l = 0; l < 32; l++)
        if (a->lanes >> l & 1) {
            uint32_t v = 0;
            const uint8_t *d = a->kind == EMU_LOAD ? a->result : a->data;
            memcpy(&v, d + a->stride * (unsigned)l, a->width < 4 ? a->width : 4);
            sum += v;
            lanes++;
        }
    size_t n = strlen(s->text);
    snprintf(s->text + n, sizeof s->text - n, "%s%s %s %ux%u by %u: %llu;",
             a->flags & EMU_ASYNC ? "async " : "", kinds[a->kind],
             ptx_space_name((enum ptx_space)a->space), a->count, a->width, lanes,
             (unsigned long long)sum);
}

static void see_sync(void *self, const struct emu_sync *y)
{
    struct seen *s = self;
    size_t n = strlen(s->text);
    if (y->kind == EMU_SYNC_MBARRIER || y->kind == EMU_SYNC_ASYNC_COMMIT ||
        y->kind == EMU_SYNC_ASYNC_WAIT)
        snprintf(s->text + n, sizeof s->text - n, "%s;",
                 y->kind == EMU_SYNC_MBARRIER       ? "mbarrier"
                 : y->kind == EMU_SYNC_ASYNC_COMMIT ? "commit"
                                                    : "wait");
}

/* Launches `k` with a handle and the output buffer. */
static bool run(struct device *d, const char *kernel, uint64_t handle, uint32_t block, void *out,
                size_t size)
{
    uint64_t params[2] = {handle, d->out};
    struct emu_launch l = {
        .grid = {1, 1, 1}, .block = {block, 1, 1}, .params = params, .params_size = 16};
    struct emu_observer o = {.self = d->seen, .access = see_access, .sync = see_sync};
    const struct emu_observer *list = &o;
    if (d->seen) l.observers = &list, l.observer_count = 1;
    const struct emu_report *r = emu_launch(d->emu, emu_kernel_find(d->image, kernel), &l);
    if (r->counts && !r->fault.kind) ran_add(d->module, r->counts);
    d->kind = r->fault.kind;
    snprintf(d->fault, sizeof d->fault, "%s", r->fault.kind ? r->fault.text : "");
    cr_assert(emu_copy_out(d->emu, out, d->out, size));
    return !r->fault.kind;
}

static const char *module(const char *head, const char *decl, const char *params, const char *body)
{
    static char text[20000];
    snprintf(
        text, sizeof text,
        ".version 8.7\n.target sm_90%s\n.address_size 64\n%s\n.visible .entry empty() { ret; }\n"
        ".visible .entry k(%s, .param .u64 out)\n{\n.reg .b64 %%d<20>; .reg .b32 %%r<40>; .reg .f32 %%f<20>; .reg .b16 %%h<20>;\n"
        ".reg .pred %%p<4>;\nld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x;\n%s\nret;\n}\n",
        head, decl, params, body);
    return text;
}

/* A texture whose texel (x, y, z, layer) of level l is l * 10000 + layer * 1000 + z * 100 + y * 10 + x,
 * other channels 0.25 more each. */
static struct texture fill_texture(struct device *d, u32 w, u32 h, u32 depth, u32 layers, bool cube,
                                   u32 levels, int channels)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory = (struct texture_memory){.width = w,
                                       .height = h,
                                       .depth = depth,
                                       .layers = layers,
                                       .layered = layers && (!cube || layers > 6),
                                       .cube = cube,
                                       .levels = levels,
                                       .channels = (u8)channels,
                                       .bits = 32,
                                       .kind = TEXTURE_FLOAT};
    cr_assert_null(texture_layout(&t.memory));
    t.level_max = 15;
    t.memory.address = mem_alloc(d->mem, t.memory.bytes, 0, "array", false, false);
    uint8_t *base = mem_base(d->mem) + (t.memory.address - MEM_GLOBAL);
    for (u32 v = 0; v < (levels ? levels : 1); v++)
        for (u32 l = 0; l < (layers ? layers : 1); l++)
            for (u32 z = 0; z < t.memory.level[v].depth; z++)
                for (u32 y = 0; y < t.memory.level[v].height; y++)
                    for (u32 x = 0; x < t.memory.level[v].width; x++)
                        for (int c = 0; c < channels; c++) {
                            float f = (float)(v * 10000 + l * 1000 + z * 100 + y * 10 + x) +
                                      (float)c * 0.25f;
                            memcpy(base + texture_offset(&t.memory, v, l, x, y, z) + c * 4, &f, 4);
                        }
    return t;
}

static uint64_t handle_of(struct device *d, const struct texture *t)
{
    const char *why;
    uint64_t h = texture_create(d->mem, t, &why);
    cr_assert(h, "%s", why);
    return h;
}

Test(emu_texture, every_geometry)
{
    static const struct {
        const char *inst;
        u32 w, h, d, layers;
        bool cube;
        u32 levels;
        float want[4];
    } cases[] = {
        {"tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10}];",
         8,
         0,
         0,
         0,
         false,
         0,
         {2, 2.25f, 2.5f, 2.75f}},
        {"tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, %f10];",
         8,
         0,
         0,
         0,
         false,
         0,
         {2, 2.25f, 2.5f, 2.75f}},
        {"tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r3}];",
         8,
         0,
         0,
         0,
         false,
         0,
         {3, 3.25f, 3.5f, 3.75f}},
        {"tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r3}], {%r2};",
         8,
         0,
         0,
         0,
         false,
         0,
         {5, 5.25f, 5.5f, 5.75f}},
        {"tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r3}], %r2;",
         8,
         0,
         0,
         0,
         false,
         0,
         {5, 5.25f, 5.5f, 5.75f}},
        {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11}];",
         8,
         8,
         0,
         0,
         false,
         0,
         {32, 32.25f, 32.5f, 32.75f}},
        {"tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r3,%r2}];",
         8,
         8,
         0,
         0,
         false,
         0,
         {23, 23.25f, 23.5f, 23.75f}},
        {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}|%p1, [%d0, {%f10,%f11}], {%r2,%r3}; @!%p1 mov.f32 %f0, 0f00000000;",
         8,
         8,
         0,
         0,
         false,
         0,
         {64, 64.25f, 64.5f, 64.75f}},
        {"tex.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11,%f12,%f13}];",
         8,
         8,
         8,
         0,
         false,
         0,
         {432, 432.25f, 432.5f, 432.75f}},
        {"tex.3d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r3,%r2,%r4,%r4}];",
         8,
         8,
         8,
         0,
         false,
         0,
         {423, 423.25f, 423.5f, 423.75f}},
        {"tex.a1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%r4,%f10}];",
         8,
         0,
         0,
         5,
         false,
         0,
         {4002, 4002.25f, 4002.5f, 4002.75f}},
        {"tex.a2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%r4,%f10,%f11,%f11}];",
         8,
         8,
         0,
         5,
         false,
         0,
         {4032, 4032.25f, 4032.5f, 4032.75f}},
        {"tex.a2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r9,%r3,%r2,%r2}];",
         8,
         8,
         0,
         5,
         false,
         0,
         {4023, 4023.25f, 4023.5f, 4023.75f}},
        {"tex.cube.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f14,%f14,%f14}];",
         4,
         4,
         0,
         6,
         true,
         0,
         {22, 22.25f, 22.5f, 22.75f}},
        {"neg.f32 %f10, %f12; tex.acube.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%r1,%f14,%f14,%f10}];",
         4,
         4,
         0,
         12,
         true,
         0,
         {5022, 5022.25f, 5022.5f, 5022.75f}},
        {"tex.base.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11}];",
         8,
         8,
         0,
         0,
         false,
         4,
         {32, 32.25f, 32.5f, 32.75f}},
        {"tex.level.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11}], %f15;",
         8,
         8,
         0,
         0,
         false,
         4,
         {10032, 10032.25f, 10032.5f, 10032.75f}},
        {"tex.level.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r3,%r2}], %r2;",
         16,
         16,
         0,
         0,
         false,
         4,
         {20023, 20023.25f, 20023.5f, 20023.75f}},
        {"tex.grad.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11}], {%f14,%f15}, {%f16,%f14};",
         8,
         8,
         0,
         0,
         false,
         3,
         {10032, 10032.25f, 10032.5f, 10032.75f}},
        {"tex.grad.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11,%f12,%f12}], {%f14,%f15,%f14,%f12}, {%f14,%f14,%f14,%f14};",
         8,
         8,
         8,
         0,
         false,
         3,
         {432, 432.25f, 432.5f, 432.75f}},
        {"tex.grad.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10}], {%f16}, {%f14};",
         8,
         0,
         0,
         0,
         false,
         3,
         {10002, 10002.25f, 10002.5f, 10002.75f}},
        {"tex.2d.v4.f16.f32 {%h0,%h1,%h2,%h3}, [%d0, {%f10,%f11}]; cvt.f32.f16 %f0, %h0; cvt.f32.f16 %f1, %h1; cvt.f32.f16 %f2, %h2; cvt.f32.f16 %f3, %h3;",
         8,
         8,
         0,
         0,
         false,
         0,
         {32, 32.25f, 32.5f, 32.75f}},
        {"tex.2d.v2.f16x2.f32 {%r5,%r6}, [%d0, {%f10,%f11}]; mov.b32 {%h0,%h1}, %r5; mov.b32 {%h2,%h3}, %r6; cvt.f32.f16 %f0, %h0; cvt.f32.f16 %f1, %h1; cvt.f32.f16 %f2, %h2; cvt.f32.f16 %f3, %h3;",
         8,
         8,
         0,
         0,
         false,
         0,
         {32, 32.25f, 32.5f, 32.75f}},
        {"tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f10,%f11}];",
         8,
         8,
         0,
         0,
         false,
         0,
         {32, 33, 23, 22}},
        {"tld4.g.a2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%r2,%f10,%f11,%f11}], {%r2,%r2};",
         8,
         8,
         0,
         3,
         false,
         0,
         {2054.25f, 2055.25f, 2045.25f, 2044.25f}},
        {"tld4.b.cube.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f14,%f10,%f14,%f14}];",
         4,
         4,
         0,
         6,
         true,
         0,
         {2021.5f, 2022.5f, 2012.5f, 2011.5f}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[2000];
        snprintf(
            body, sizeof body,
            "ld.param.u64 %%d0, [tex]; mov.u32 %%r2, 2; mov.u32 %%r3, 3; mov.u32 %%r4, 4; mov.u32 %%r9, 9;\n"
            "mov.f32 %%f10, 0f40266666; mov.f32 %%f11, 0f404CCCCD; mov.f32 %%f12, 0f409CCCCD; mov.f32 %%f13, 0f42C80000;\n" /* 2.6 3.2 4.9 */
            "mov.f32 %%f14, 0f00000000; mov.f32 %%f15, 0f3F8CCCCD; mov.f32 %%f16, 0f40000000;\n" /* 0 1.1 2 */
            "%s\nmul.wide.u32 %%d2, %%r1, 16; add.u64 %%d1, %%d1, %%d2;\n"
            "st.global.v4.f32 [%%d1], {%%f0,%%f1,%%f2,%%f3};",
            cases[i].inst);
        for (unsigned way = 0; way < 4; way++) {
            struct device d;
            start(&d, module("", "", ".param .u64 tex", body), way);
            struct texture t = fill_texture(&d, cases[i].w, cases[i].h, cases[i].d, cases[i].layers,
                                            cases[i].cube, cases[i].levels, 4);
            for (int k = 0; k < 3; k++) t.sampler.address[k] = TEXTURE_CLAMP;
            float out[40][4];
            cr_assert(run(&d, "k", handle_of(&d, &t), 40, out, sizeof out), "%s: %s", cases[i].inst,
                      d.fault);
            for (int l = 0; l < 40; l++) {
                bool second = strstr(cases[i].inst, "acube") &&
                              l == 0; /* its index is the thread's number */
                for (int c = 0; c < 4; c++)
                    cr_assert(out[l][c] ==
                                  cases[i].want[c] +
                                      (strstr(cases[i].inst, "acube") && !second ? 6000 : 0),
                              "%s: thread %d: %g %g %g %g", cases[i].inst, l, out[l][0], out[l][1],
                              out[l][2], out[l][3]);
            }
            stop(&d);
        }
    }
}

/* A number that a half can hold, the nearest to v. */
static float to_half(float v)
{
    float step = 1;
    while (fabsf(v) >= 2048 * step) step *= 2;
    while (fabsf(v) < 1024 * step) step /= 2;
    return rintf(v / step) * step;
}

/* Every way to ask for a level, every shape, both results and both coordinates, with offsets and residence.
 * The texel that comes is said by its number, as fill_texture makes it; (x, y, z) = (2, 3, 1). */
static const struct {
    const char *shape, *floats, *integers,
        *gradient; /* integers "": there are none; gradient: two texels */
    u32 w, h, d, layers;
    bool cube;
    float texel, smaller,
        offset; /* of level 0, of level 1, how far the offset {1, 2, 1} is; 0: none */
} shapes[] = {
    {"1d", "%f1", "%r2", "{%f4}", 32, 0, 0, 0, false, 2, 10002, 1},
    {"2d", "{%f1,%f2}", "{%r2,%r3}", "{%f4,%f9}", 32, 32, 0, 0, false, 32, 10032, 21},
    {"3d", "{%f1,%f2,%f3,%f3}", "{%r2,%r3,%r4,%r4}", "{%f4,%f9,%f9,%f9}", 32, 32, 32, 0, false, 132,
     10132, 121},
    {"a1d", "{%r3,%f1}", "{%r3,%r2}", "{%f4}", 32, 0, 0, 5, false, 3002, 13002, 1},
    {"a2d", "{%r3,%f1,%f2,%f2}", "{%r3,%r2,%r3,%r3}", "{%f4,%f9}", 32, 32, 0, 5, false, 3032, 13032,
     21},
    /* towards +z: face 4, on which x goes from 0 to 1 as x does from -1 to 1, and y as -y does; at 3/8 and 5/8
     * that is 11/16 and 3/16 of 8 texels and of 4 */
    {"cube", "{%f5,%f6,%f7,%f7}", "", "{%f8,%f9,%f9,%f9}", 8, 8, 0, 6, true, 4015, 14002, 0},
    {"acube", "{%r4,%f5,%f6,%f7}", "", "{%f8,%f9,%f9,%f9}", 8, 8, 0, 12, true, 10015, 20002, 0},
};
enum { SHAPES = COUNT(shapes) };
static const struct {
    const char *word;
    bool integers;
    u32 level; /* that it takes of three */
} asks[] = {{"", true, 0}, {".base", true, 0}, {".level", true, 1}, {".grad", false, 1}};

static void ask(size_t m, size_t k, bool pair, bool integers, int more)
{
    char body[3000], operands[300], inst[500];
    const bool offset = more && shapes[k].offset != 0, resident = more;
    snprintf(operands, sizeof operands, "[%%d0, %s]%s",
             integers ? shapes[k].integers : shapes[k].floats,
             m != 2     ? ""
             : integers ? ", %r4"
                        : ", %f3");
    for (int i = 0; m == 3 && i < 2; i++)
        snprintf(operands + strlen(operands), 100, ", %s", shapes[k].gradient);
    if (offset)
        strcat(operands, strstr(shapes[k].shape, "1d")   ? ", %r4"
                         : strstr(shapes[k].shape, "2d") ? ", {%r4,%r2}"
                                                         : ", {%r4,%r2,%r4,%r4}");
    snprintf(inst, sizeof inst, "tex%s.%s.%s.%s %s%s, %s;", asks[m].word, shapes[k].shape,
             pair ? "v2.f16x2" : "v4.f32", integers ? "s32" : "f32",
             pair ? "{%r10,%r11}" : "{%f10,%f11,%f12,%f13}", resident ? "|%p1" : "", operands);
    snprintf(
        body, sizeof body,
        "ld.param.u64 %%d0, [tex]; mov.u32 %%r2, 2; mov.u32 %%r3, 3; mov.u32 %%r4, 1;\n"
        "mov.f32 %%f1, 0f40133333; mov.f32 %%f2, 0f40533333; mov.f32 %%f3, 0f3F800000; mov.f32 %%f4, 0f40000000;\n" /* 2.3 3.3 1 2 */
        "mov.f32 %%f5, 0f3EC00000; mov.f32 %%f6, 0f3F200000; mov.f32 %%f7, 0f3F800000; mov.f32 %%f8, 0f3F000000; mov.f32 %%f9, 0f00000000;\n" /* 3/8 5/8 1 1/2 0 */
        "setp.ne.u32 %%p1, %%r2, 2;\n%s\n%s%s"
        "mul.wide.u32 %%d2, %%r1, 20; add.u64 %%d1, %%d1, %%d2; selp.b32 %%r5, 1, 0, %%p1;\n"
        "st.global.f32 [%%d1], %%f10; st.global.f32 [%%d1+4], %%f11; st.global.f32 [%%d1+8], %%f12;\n"
        "st.global.f32 [%%d1+12], %%f13; st.global.u32 [%%d1+16], %%r5;",
        inst,
        pair ? "mov.b32 {%h0,%h1}, %r10; mov.b32 {%h2,%h3}, %r11; cvt.f32.f16 %f10, %h0; " : "",
        pair ? "cvt.f32.f16 %f11, %h1; cvt.f32.f16 %f12, %h2; cvt.f32.f16 %f13, %h3;\n" : "");
    for (unsigned way = 0; way < 4; way++) {
        struct device d;
        start(&d, module("", "", ".param .u64 tex", body), way);
        struct texture t = fill_texture(&d, shapes[k].w, shapes[k].h, shapes[k].d, shapes[k].layers,
                                        shapes[k].cube, 3, 4);
        for (int i = 0; i < 3; i++) t.sampler.address[i] = TEXTURE_CLAMP;
        struct {
            float texel[4];
            uint32_t resident;
        } out[40];
        cr_assert(run(&d, "k", handle_of(&d, &t), 40, out, sizeof out), "%s: %s", inst, d.fault);
        for (int l = 0; l < 40; l++) {
            cr_assert(out[l].resident == resident, "%s", inst);
            for (int c = 0; c < 4; c++) {
                float want = (asks[m].level ? shapes[k].smaller : shapes[k].texel) +
                             (offset ? shapes[k].offset : 0) + (float)c * 0.25F;
                cr_assert(out[l].texel[c] == (pair ? to_half(want) : want),
                          "%s: thread %d: %g %g %g %g, channel %d not %g", inst, l, out[l].texel[0],
                          out[l].texel[1], out[l].texel[2], out[l].texel[3], c, want);
            }
        }
        stop(&d);
    }
}

Test(emu_texture, every_form)
{
    for (size_t m = 0; m < COUNT(asks); m++)
        for (size_t k = 0; k < SHAPES; k++)
            for (int n = 0; n < 8; n++) {
                bool integers = n & 1;
                if (integers && (!asks[m].integers || !*shapes[k].integers)) continue;
                ask(m, k, n & 2, integers, n & 4);
            }
}

Test(emu_texture, references_parameters_and_samplers)
{
    struct device d;
    float out[8];
    /* a reference that something is bound to, by name and by address */
    static const char by_name[] =
        "tex.1d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [ref, {%r1}]; st.global.f32 [%d1], %f0;\n"
        "mov.u64 %d5, ref; tex.1d.v4.f32.s32 {%f4,%f1,%f2,%f3}, [%d5, {%r1}]; st.global.f32 [%d1+4], %f4;";
    start(&d, module("", ".global .texref ref;", ".param .u64 unused", by_name), 0);
    struct texture t = fill_texture(&d, 8, 0, 0, 0, false, 0, 1);
    uint64_t ref = emu_variable(d.image, "ref", NULL);
    cr_expect(!run(&d, "k", 0, 1, out, 8) && strstr(d.fault, "nothing is bound"), "%s", d.fault);
    cr_assert(ref && !texture_bind(d.mem, ref, 12345) && !texture_bind(d.mem, d.out, 0));
    float seven = 7;
    memcpy(mem_base(d.mem) + (t.memory.address - MEM_GLOBAL), &seven, 4);
    cr_assert(texture_bind(d.mem, ref, handle_of(&d, &t)));
    cr_assert(run(&d, "k", 0, 1, out, 8), "%s", d.fault);
    cr_expect(out[0] == 7 && out[1] == 7);
    stop(&d);
    /* a parameter that is a reference; a sampler of the module's */
    start(
        &d,
        module(
            ", texmode_independent",
            ".global .samplerref smp = { addr_mode_0 = clamp_to_border, addr_mode_1 = mirror, filter_mode = linear, force_unnormalized_coords = 1 };\n"
            ".global .samplerref plain;",
            ".param .texref tex",
            "mov.f32 %f5, 0f40000000; tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [tex, smp, {%f5}]; st.global.f32 [%d1], %f0;\n"
            "mov.f32 %f5, 0f3E800000; tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [tex, plain, {%f5}]; st.global.f32 [%d1+4], %f0;\n"
            "txq.addr_mode_0.b32 %r2, [smp]; txq.addr_mode_1.b32 %r3, [smp]; txq.filter_mode.b32 %r4, [smp]; txq.force_unnormalized_coords.b32 %r5, [smp];\n"
            "st.global.u32 [%d1+8], %r2; st.global.u32 [%d1+12], %r3; st.global.u32 [%d1+16], %r4; st.global.u32 [%d1+20], %r5;"),
        0);
    t = fill_texture(&d, 8, 0, 0, 0, false, 0, 1);
    t.sampler.normalised = true;
    cr_assert(run(&d, "k", handle_of(&d, &t), 1, out, 24), "%s", d.fault);
    uint32_t q[4];
    memcpy(q, out + 2, 16);
    cr_expect(out[0] == 1.5f && out[1] == 2, "%g %g", out[0], out[1]);
    cr_expect(q[0] == 4 && q[1] == 1 && q[2] == 1 && q[3] == 1, "%u %u %u %u", q[0], q[1], q[2],
              q[3]);
    stop(&d);
}

/* PTX ISA, "Vectors as Operands": a vector register stands for the list of its components, also where coordinates do, and
 * before the predicate of a result. ptxas takes all of these. */
Test(emu_texture, vector_registers_hold_coordinates_and_results)
{
    static const struct {
        const char *body;
        float want[4];
    } cases[] = {
        {"tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d2, at]; mov.v4.f32 four, {%f0,%f1,%f2,%f3};",
         {23, 23.25f, 23.5f, 23.75f}},
        {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d2, here]; mov.v4.f32 four, {%f0,%f1,%f2,%f3};",
         {12, 12.25f, 12.5f, 12.75f}},
        {"tex.2d.v4.f32.s32 four, [%d2, {3, 2}];", {23, 23.25f, 23.5f, 23.75f}},
        {"tex.2d.v4.f32.s32 four|%p1, [%d2, at];", {23, 23.25f, 23.5f, 23.75f}},
        {"tld4.r.2d.v4.f32.f32 four, [%d2, here];", {21, 22, 12, 11}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct device d;
        char body[1000];
        float out[4];
        snprintf(body, sizeof body,
                 ".reg .v2 .s32 at; .reg .v2 .f32 here; .reg .v4 .f32 four; ld.param.u64 %%d2, [p];"
                 " mov.u32 at.x, 3; mov.u32 at.y, 2; mov.f32 here.x, 0f40100000;"
                 " mov.f32 here.y, 0f3FE00000;"
                 "\n%s\n st.global.v4.f32 [%%d1], four;",
                 cases[k].body);
        start(&d, module("", "", ".param .u64 p", body), 0);
        struct texture t = fill_texture(&d, 8, 4, 0, 0, false, 0, 4);
        cr_assert(run(&d, "k", handle_of(&d, &t), 1, out, sizeof out), "%s: %s", cases[k].body,
                  d.fault);
        for (int c = 0; c < 4; c++)
            cr_expect(out[c] == cases[k].want[c], "%s: channel %d: %g, not %g", cases[k].body, c,
                      out[c], cases[k].want[c]);
        stop(&d);
    }
}

Test(emu_texture, queries)
{
    static const struct {
        const char *query;
        uint32_t want;
    } cases[] = {{"txq.width", 16},
                 {"txq.height", 8},
                 {"txq.depth", 0},
                 {"txq.channel_data_type", 0x10de},
                 {"txq.channel_order", 0x10b2},
                 {"txq.normalized_coords", 1},
                 {"txq.array_size", 3},
                 {"txq.num_mipmap_levels", 2},
                 {"txq.num_samples", 0},
                 {"txq.filter_mode", 1},
                 {"txq.addr_mode_0", 1},
                 {"txq.addr_mode_1", 3},
                 {"txq.addr_mode_2", 0}};
    char body[3000] = "ld.param.u64 %d0, [tex]; mov.u32 %r3, 1;\n";
    for (size_t i = 0; i < COUNT(cases); i++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "%s.b32 %%r2, [%%d0]; st.global.u32 [%%d1+%zu], %%r2;\n", cases[i].query, 4 * i);
    strcat(body, "txq.level.width.b32 %r2, [%d0], %r3; st.global.u32 [%d1+100], %r2;");
    struct device d;
    start(&d, module("", "", ".param .u64 tex", body), 0);
    struct texture t = fill_texture(&d, 16, 8, 0, 3, false, 2, 2);
    t.sampler = (struct texture_sampler){.address = {TEXTURE_MIRROR, TEXTURE_CLAMP, TEXTURE_WRAP},
                                         .linear_filter = true,
                                         .normalised = true};
    uint32_t out[26];
    cr_assert(run(&d, "k", handle_of(&d, &t), 1, out, sizeof out), "%s", d.fault);
    for (size_t i = 0; i < COUNT(cases); i++)
        cr_expect(out[i] == cases[i].want, "%s: %x", cases[i].query, out[i]);
    cr_expect(out[25] == 8);
    stop(&d);
}

/* ---- surfaces ---------------------------------------------------------------------------------- */

static uint64_t new_surface(struct device *d, u32 w, u32 h, u32 depth, u32 layers, int channels,
                            int bits, int kind, uint8_t **base, struct texture_memory *out)
{
    struct texture_memory m = {.width = w,
                               .height = h,
                               .depth = depth,
                               .layers = layers,
                               .layered = layers != 0,
                               .channels = (u8)channels,
                               .bits = (u8)bits,
                               .kind = (u8)kind};
    const char *why = texture_layout(&m);
    cr_assert_null(why, "%s", why);
    m.address = mem_alloc(d->mem, m.bytes, 0, "surface", false, false);
    *base = mem_base(d->mem) + (m.address - MEM_GLOBAL);
    for (u64 i = 0; i < m.bytes; i++) (*base)[i] = (uint8_t)(i * 37 + 11);
    uint64_t h2 = surface_create(d->mem, &m, &why);
    cr_assert(h2, "%s", why);
    *out = m;
    return h2;
}

Test(emu_texture, surfaces_load_and_store)
{
    static const struct {
        const char *geometry, *at; /* %r2 = 8 (bytes), 2, 1, 3: x y z layer */
        u32 h, d, layers;
        u32 y, z, layer;
    } shapes[] = {{"1d", "{%r2}", 0, 0, 0, 0, 0, 0},
                  {"2d", "{%r2,%r3}", 4, 0, 0, 2, 0, 0},
                  {"3d", "{%r2,%r3,%r4,%r4}", 4, 3, 0, 2, 1, 0},
                  {"a1d", "{%r5,%r2}", 0, 0, 5, 0, 0, 3},
                  {"a2d", "{%r5,%r2,%r3,%r3}", 4, 0, 5, 2, 0, 3}};
    static const struct {
        const char *vec;
        int count, bits;
    } sizes[] = {{"", 1, 8},     {"", 1, 16},    {"", 1, 32},   {"", 1, 64},   {".v2", 2, 8},
                 {".v2", 2, 16}, {".v2", 2, 32}, {".v4", 4, 8}, {".v4", 4, 16}};
    for (size_t s = 0; s < COUNT(shapes); s++)
        for (size_t z = 0; z < COUNT(sizes); z++) {
            char body[2000], list[100] = "", store[300] = "", add[200] = "";
            int bits = sizes[z].bits, reg = bits < 16 ? 16 : bits;
            const char *r = reg == 16 ? "h" : reg == 32 ? "r1" : "d1";
            snprintf(list, sizeof list, "%s", sizes[z].count > 1 ? "{" : "");
            for (int k = 0; k < sizes[z].count; k++) {
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%%%s%d", k ? "," : "",
                         r, k);
                snprintf(store + strlen(store), sizeof store - strlen(store),
                         "st.global.b%d [%%d1+%d], %%%s%d;\n", bits, k * bits / 8, r, k);
                snprintf(add + strlen(add), sizeof add - strlen(add),
                         "xor.b%d %%%s%d, %%%s%d, -1;\n", reg, r, k, r, k);
            }
            if (sizes[z].count > 1) strcat(list, "}");
            snprintf(
                body, sizeof body,
                "ld.param.u64 %%d0, [surf]; mov.u32 %%r2, 8; mov.u32 %%r3, 2; mov.u32 %%r4, 1; mov.u32 %%r5, 3;\n"
                "suld.b.%s%s.b%d.trap %s, [%%d0, %s];\n%s%ssust.b.%s%s.b%d.trap [%%d0, %s], %s;",
                shapes[s].geometry, sizes[z].vec, bits, list, shapes[s].at, store, add,
                shapes[s].geometry, sizes[z].vec, bits, shapes[s].at, list);
            struct device d;
            start(&d, module("", "", ".param .u64 surf", body), (unsigned)z & 3);
            uint8_t *base, out[16], before[16];
            struct texture_memory m;
            uint64_t h = new_surface(&d, 6, shapes[s].h, shapes[s].d, shapes[s].layers, 1, 32,
                                     TEXTURE_UINT, &base, &m);
            u32 n = (u32)(sizes[z].count * bits / 8);
            uint8_t *at = base +
                          texture_offset(&m, 0, shapes[s].layer, 2, shapes[s].y, shapes[s].z);
            memcpy(before, at, 16);
            cr_assert(run(&d, "k", h, 1, out, sizeof out), "%s: %s", body, d.fault);
            cr_expect(memcmp(out, before, n) == 0, "%s", body);
            for (u32 k = 0; k < 16; k++) {
                uint8_t want = k < n ? before[k] ^ 0xff : before[k];
                cr_expect(at[k] == want, "%s: byte %u", body, k);
            }
            stop(&d);
        }
}

/* Two warps, of which some lanes are off, load texels in an order of their own and store them, two lanes at one place: the
 * later one stays. Some lie outside of the row. */
Test(emu_texture, surfaces_of_whole_warps)
{
    static const struct {
        const char *type, *list;
        int channels, bits; /* of the surface */
    } forms[] = {{"b8", "%h0", 1, 8},
                 {"b16", "%h0", 1, 16},
                 {"b32", "%r20", 1, 32},
                 {"v2.b16", "{%h0,%h1}", 2, 16},
                 {"v4.b32", "{%r20,%r21,%r22,%r23}", 4, 32},
                 {"v2.b64", "{%d10,%d11}", 4, 32}};
    enum { SIDE = 8, THREADS = 64 };
    for (size_t f = 0; f < COUNT(forms); f++)
        for (unsigned way = 0; way < 8; way++) {
            const uint32_t texel = (uint32_t)(forms[f].channels * forms[f].bits / 8),
                           shift = way & 4 ? 5 : 0; /* texels to the right */
            char body[2000];
            snprintf(
                body, sizeof body,
                "ld.param.u64 %%d0, [surf]; mul.lo.u32 %%r2, %%r1, 37; and.b32 %%r2, %%r2, 63; and.b32 %%r3, %%r2, 7;\n"
                "add.u32 %%r3, %%r3, %u; mul.lo.u32 %%r3, %%r3, %u; shr.u32 %%r4, %%r2, 3; and.b32 %%r5, %%r4, 6; add.u32 %%r5, %%r5, 8;\n"
                "rem.u32 %%r6, %%r1, 5; setp.ne.u32 %%p1, %%r6, 2;\n"
                "@%%p1 suld.b.2d.%s.%s %s, [%%d0, {%%r3,%%r4}];\n@%%p1 sust.b.2d.%s.%s [%%d0, {%%r3,%%r5}], %s;",
                shift, texel, forms[f].type, shift ? "zero" : "trap", forms[f].list, forms[f].type,
                shift ? "zero" : "trap", forms[f].list);
            struct device d;
            start(&d, module("", "", ".param .u64 surf", body), way & 3);
            uint8_t *base, want[8192], out[4];
            struct texture_memory m;
            uint64_t h = new_surface(&d, SIDE, 2 * SIDE, 0, 0, forms[f].channels, forms[f].bits,
                                     TEXTURE_UINT, &base, &m);
            cr_assert(m.bytes <= sizeof want);
            memcpy(want, base, m.bytes);
            for (uint32_t t = 0; t < THREADS; t++) {
                const uint32_t p = t * 37 % 64, x = p % 8 + shift, y = p / 8;
                if (t % 5 == 2 || x >= SIDE) continue;
                memcpy(want + texture_offset(&m, 0, 0, x, 8 + (y & ~1u), 0),
                       base + texture_offset(&m, 0, 0, x, y, 0), texel);
            }
            cr_assert(run(&d, "k", h, THREADS, out, sizeof out), "%s: %s", body, d.fault);
            for (uint64_t i = 0; i < m.bytes; i++)
                cr_assert(base[i] == want[i], "%s, way %u: byte %llu", body, way,
                          (unsigned long long)i);
            stop(&d);
        }
}

/* x in bytes of a row of 24, y of 4 rows: what is outside. */
Test(emu_texture, surfaces_end)
{
    static const struct {
        int x, y, clamped_x, clamped_y; /* -1: inside */
    } cases[] = {{-4, 1, 0, 1}, {24, 1, 20, 1}, {1000, 9, 20, 3},
                 {4, -1, 4, 0}, {4, 4, 4, 3},   {8, 2, -1, 0}};
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int mode = 0; mode < 3; mode++) {
            static const char *const names[] = {"trap", "clamp", "zero"};
            char body[1000];
            snprintf(
                body, sizeof body,
                "ld.param.u64 %%d0, [surf]; mov.u32 %%r2, %d; mov.u32 %%r3, %d; mov.u32 %%r5, 0xabcdef;\n"
                "suld.b.2d.b32.%s %%r4, [%%d0, {%%r2,%%r3}]; st.global.u32 [%%d1], %%r4; sust.b.2d.b32.%s [%%d0, {%%r2,%%r3}], %%r5;",
                cases[i].x, cases[i].y, names[mode], names[mode]);
            struct device d;
            start(&d, module("", "", ".param .u64 surf", body), 0);
            uint8_t *base, before[1024];
            struct texture_memory m;
            uint32_t out, stored = 0xabcdef;
            uint64_t h = new_surface(&d, 6, 4, 0, 0, 1, 32, TEXTURE_UINT, &base, &m);
            memcpy(before, base, m.bytes);
            bool outside = cases[i].clamped_x >= 0, ok = run(&d, "k", h, 1, &out, 4);
            if (outside && mode == 0) {
                cr_expect(!ok && d.kind == EMU_OUT_OF_BOUNDS, "%s", body);
            } else {
                cr_assert(ok, "%s: %s", body, d.fault);
                u32 x = (u32)(outside ? cases[i].clamped_x : cases[i].x),
                    y = (u32)(outside ? cases[i].clamped_y : cases[i].y);
                u64 at = texture_offset(&m, 0, 0, x / 4, y, 0);
                if (outside && mode == 2) cr_expect(out == 0);
                else {
                    cr_expect(memcmp(&out, before + at, 4) == 0, "%s", body);
                    memcpy(before + at, &stored, 4);
                }
                cr_expect(memcmp(base, before, m.bytes) == 0, "%s", body);
            }
            stop(&d);
        }
}

Test(emu_texture, surfaces_take_samples)
{
    static const struct {
        int channels, bits, kind;
        uint32_t in[4];
        uint32_t want[4];
    } cases[] = {
        {1, 8, TEXTURE_UINT, {300, 0, 0, 0}, {255}},
        {2, 8, TEXTURE_SINT, {(uint32_t)-300, 5, 0, 0}, {0x80, 5}},
        {4, 16, TEXTURE_UINT, {1, 2, 0xffffffff, 4}, {1, 2, 0xffff, 4}},
        {4, 32, TEXTURE_FLOAT, {0x3f800000, 2, 3, 0x7f800001}, {0x3f800000, 2, 3, 0x7f800001}},
        {4, 16, TEXTURE_FLOAT, {0x3f800000, 0x33800000, 0xc7800000, 0}, {0x3c00, 1, 0xfc00, 0}},
        {4, 8, TEXTURE_UNORM, {0x3f800000, 0x3f000000, 0xbf800000, 0x7fc00000}, {255, 128, 0, 0}},
        {2, 16, TEXTURE_SNORM, {0xc0000000, 0x3f800000, 0, 0}, {0x8001, 0x7fff}}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[1000];
        snprintf(
            body, sizeof body,
            "ld.param.u64 %%d0, [surf]; mov.u32 %%r2, 3; mov.u32 %%r3, 1; mov.u32 %%r4, %u; mov.u32 %%r5, %u; mov.u32 %%r6, %u; mov.u32 %%r7, %u;\n"
            "sust.p.2d.v4.b32.trap [%%d0, {%%r2,%%r3}], {%%r4,%%r5,%%r6,%%r7};\nsuq.width.b32 %%r8, [%%d0]; suq.memory_layout.b32 %%r9, [%%d0];\n"
            "suq.array_size.b32 %%r10, [%%d0]; st.global.u32 [%%d1], %%r8; st.global.u32 [%%d1+4], %%r9; st.global.u32 [%%d1+8], %%r10;",
            cases[i].in[0], cases[i].in[1], cases[i].in[2], cases[i].in[3]);
        struct device d;
        start(&d, module("", "", ".param .u64 surf", body), 0);
        uint8_t *base, before[1024];
        struct texture_memory m;
        uint32_t out[3];
        uint64_t h = new_surface(&d, 6, 4, 0, 0, cases[i].channels, cases[i].bits, cases[i].kind,
                                 &base, &m);
        memcpy(before, base, m.bytes);
        cr_assert(run(&d, "k", h, 1, out, 12), "%s: %s", body, d.fault);
        cr_expect(out[0] == 6 && out[1] == 0 && out[2] == 0);
        u64 at = texture_offset(&m, 0, 0, 3, 1, 0);
        for (int c = 0; c < cases[i].channels; c++)
            memcpy(before + at + (u32)(c * cases[i].bits / 8), &cases[i].want[c],
                   (size_t)cases[i].bits / 8);
        cr_expect(memcmp(base, before, m.bytes) == 0, "case %zu: %02x %02x %02x %02x", i, base[at],
                  base[at + 1], base[at + 2], base[at + 3]);
        stop(&d);
    }
}

Test(emu_texture, surfaces_reduce)
{
    static const struct {
        const char *op;
        int bytes, kind;
        bool samples;
        uint64_t memory, operand, want; /* twice */
    } cases[] = {{"add.2d.u32", 4, TEXTURE_UINT, false, 0xfffffffe, 3, 4},
                 {"add.2d.u64", 8, TEXTURE_UINT, false, 0xfffffffe, 3, 0x100000004},
                 {"min.2d.s32", 4, TEXTURE_UINT, false, 5, 0xffffffff, 0xffffffff},
                 {"max.2d.u32", 4, TEXTURE_UINT, false, 5, 0xffffffff, 0xffffffff},
                 {"min.2d.s64", 8, TEXTURE_UINT, false, 5, ~(uint64_t)0, ~(uint64_t)0},
                 {"and.2d.b32", 4, TEXTURE_UINT, false, 0xff, 0x3c, 0x3c},
                 {"or.2d.b32", 4, TEXTURE_UINT, false, 0xf0, 0x3c, 0xfc},
                 {"max.2d.b32", 4, TEXTURE_SINT, true, 5, 0xffffffff, 5},
                 {"max.2d.b32", 4, TEXTURE_UINT, true, 5, 0xffffffff, 0xffffffff},
                 {"add.2d.b32", 4, TEXTURE_SINT, true, 5, 7, 19},
                 {"min.2d.b64", 8, TEXTURE_SINT, true, 5, ~(uint64_t)0, ~(uint64_t)0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[1000];
        int x = cases[i].samples ? 1 : cases[i].bytes;
        snprintf(
            body, sizeof body,
            "ld.param.u64 %%d0, [surf]; mov.u32 %%r2, %d; mov.u32 %%r3, 1; mov.u64 %%d4, 0x%llx; cvt.u32.u64 %%r4, %%d4;\n"
            "sured.%c.%s.trap [%%d0, {%%r2,%%r3}], %s;",
            x, (unsigned long long)cases[i].operand, cases[i].samples ? 'p' : 'b', cases[i].op,
            cases[i].bytes == 8 ? "%d4" : "%r4");
        struct device d;
        start(&d, module("", "", ".param .u64 surf", body), 0);
        uint8_t *base;
        struct texture_memory m;
        uint64_t h = new_surface(&d, 6, 4, 0, 0, cases[i].bytes == 8 ? 2 : 1, 32, cases[i].kind,
                                 &base, &m),
                 out, got = 0;
        uint8_t *at = base + m.level[0].pitch + (u32)cases[i].bytes;
        memcpy(at, &cases[i].memory, (size_t)cases[i].bytes);
        cr_assert(run(&d, "k", h, 2, &out, 8), "%s: %s", body, d.fault);
        memcpy(&got, at, (size_t)cases[i].bytes);
        cr_expect(got == cases[i].want, "%s: %llx", cases[i].op, (unsigned long long)got);
        stop(&d);
    }
}

Test(emu_texture, faults)
{
    static const struct {
        const char *inst;
        enum emu_fault_kind kind;
    } cases[] = {
        {"mov.u64 %d0, 0; tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f4}];",
         EMU_OUT_OF_BOUNDS},
        {"mov.u64 %d0, -1; tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f4}];",
         EMU_OUT_OF_BOUNDS},
        {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d1, {%f4,%f4}];", EMU_OUT_OF_BOUNDS},
        {"add.u64 %d0, %d0, 8; tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f4}];",
         EMU_OUT_OF_BOUNDS},
        {"tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4}];", EMU_WRONG_SPACE},
        {"tex.a2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%r2,%f4,%f4,%f4}];", EMU_WRONG_SPACE},
        {"mov.u32 %r2, 8; tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f4}], {%r2,%r2};",
         EMU_OUT_OF_BOUNDS},
        {"suld.b.2d.b32.trap %r3, [%d0, {%r2,%r2}];", EMU_OUT_OF_BOUNDS},
        {"tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4,%f4}], %f4;", EMU_UNSUPPORTED},
        {"tex.2dms.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r2,%r2,%r2,%r2}];", EMU_UNSUPPORTED}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char body[1000];
        snprintf(body, sizeof body,
                 "ld.param.u64 %%d0, [tex]; mov.f32 %%f4, 0f00000000; mov.u32 %%r2, 0;\n%s\n%s",
                 cases[i].inst,
                 strstr(cases[i].inst, "suld") ? "st.global.u32 [%d1], %r3;"
                                               : "st.global.f32 [%d1], %f0;");
        struct device d;
        start(&d, module("", "", ".param .u64 tex", body), 0);
        struct texture t = fill_texture(&d, 4, 4, 0, 0, false, 0, 1);
        uint32_t out;
        cr_expect(!run(&d, "k", handle_of(&d, &t), 1, &out, 4), "%s runs", cases[i].inst);
        cr_expect(d.kind == cases[i].kind, "%s: %s", cases[i].inst, d.fault);
        stop(&d);
    }
    /* memory that went */
    struct device d;
    start(
        &d,
        module(
            "", "", ".param .u64 tex",
            "ld.param.u64 %d0, [tex]; tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [%d0, {%r1,%r1}]; st.global.f32 [%d1], %f0;"),
        0);
    struct texture t = fill_texture(&d, 4, 4, 0, 0, false, 0, 1);
    uint64_t h = handle_of(&d, &t);
    uint32_t out;
    cr_expect(run(&d, "k", h, 1, &out, 4), "%s", d.fault);
    mem_release(d.mem, t.memory.address);
    cr_expect(!run(&d, "k", h, 1, &out, 4) && d.kind == EMU_FREED, "%s", d.fault);
    texture_destroy(d.mem, h);
    cr_expect(!run(&d, "k", h, 1, &out, 4) && strstr(d.fault, "no texture object"), "%s", d.fault);
    stop(&d);
}

/* ---- those who watch --------------------------------------------------------------------------- */

/* Atomics, asynchronous copies and surfaces of a watched launch: reported, and done as ever. */
Test(emu_texture, observers_are_notified)
{
    static const char body[] =
        "ld.param.u64 %d0, [surf]; mov.u32 %r2, 4; mov.u32 %r3, 1; mov.u32 %r10, s; mov.u32 %r11, bar; setp.eq.u32 %p1, %r1, 0;\n"
        "red.global.add.u32 [%d1], %r1; atom.global.add.u32 %r4, [%d1], %r2; st.global.u32 [%d1+8], %r4;\n"
        "atom.shared.cas.b32 %r4, [%r10], 0, %r2; st.global.u32 [%d1+12], %r4; mov.f32 %f0, 0f3F800000;\n"
        "red.global.add.f32 [%d1+4], %f0; red.global.v2.f32.add [%d1+32], {%f0, %f0};\n"
        "mad.lo.u32 %r5, %r1, 16, %r10; cp.async.ca.shared.global [%r5], [%d1], 4, 2; cp.async.cg.shared.global [%r5+64], [%d1+32], 16;\n"
        "cp.async.commit_group; cp.async.wait_all;\n"
        "@%p1 mbarrier.init.shared.b64 [%r11], 4;\nbar.warp.sync -1;\nmbarrier.arrive.shared.b64 %d5, [%r11];\n"
        "w:\nmbarrier.try_wait.shared.b64 %p2, [%r11], %d5;\n@!%p2 bra w;\n"
        "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1+64], [%r10+64], 32;\n@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\n"
        "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1+64], [%r10], 16;\n"
        "sust.b.2d.b32.trap [%d0, {%r2,%r3}], %r2; suld.b.2d.b32.trap %r6, [%d0, {%r2,%r3}]; st.global.u32 [%d1+16], %r6;\n"
        "@%p1 sured.b.add.2d.u32.trap [%d0, {%r2,%r3}], %r2;\n@%p1 sust.p.2d.b32.zero [%d0, {%r3,%r3}], %r2;";
    static const char decl[] = ".shared .align 16 .b8 s[128]; .shared .align 8 .b64 bar;";
    /* of what differs: four lanes add 0 .. 3, then 4 each; float sums; 2 bytes of the sum 22; 1.0f pairs */
    static const char want[] =
        "red global 1x4 by 4: 6;atomic global 1x4 by 4: 16;store global 1x4 by 4: 48;atomic shared 1x4 by 4: 0;"
        "store global 1x4 by 4: 12;red global 1x4 by 4: 4261412864;red global 2x4 by 4: 4261412864;"
        "async load global 1x2 by 4: 88;async store shared 1x4 by 4: 88;async load global 1x16 by 4: 4328521728;"
        "async store shared 1x16 by 4: 4328521728;commit;wait;mbarrier;mbarrier;mbarrier;"
        "async load shared 1x16 by 1: 1082130432;async store global 1x16 by 1: 1082130432;"
        "async load shared 1x16 by 1: 1082130432;async store global 1x16 by 1: 1082130432;commit;wait;"
        "async load shared 1x4 by 1: 22;async red global 1x4 by 1: 22;async load shared 1x4 by 1: 0;async red global 1x4 by 1: 0;"
        "async load shared 1x4 by 1: 0;async red global 1x4 by 1: 0;async load shared 1x4 by 1: 0;async red global 1x4 by 1: 0;"
        "store global 1x4 by 1: 4;store global 1x4 by 1: 4;store global 1x4 by 1: 4;store global 1x4 by 1: 4;"
        "load global 1x4 by 1: 4;load global 1x4 by 1: 4;load global 1x4 by 1: 4;load global 1x4 by 1: 4;"
        "store global 1x4 by 4: 16;red global 1x4 by 1: 4;store global 1x4 by 1: 4;";
    uint8_t out[2][96], memory[2][1024];
    for (int watched = 0; watched < 2; watched++) {
        struct device d;
        struct seen seen = {""};
        uint8_t *base;
        struct texture_memory m;
        start(&d, module("", decl, ".param .u64 surf", body), 0);
        uint64_t h = new_surface(&d, 6, 4, 0, 0, 1, 32, TEXTURE_UINT, &base, &m);
        if (watched) d.seen = &seen;
        cr_assert(run(&d, "k", h, 4, out[watched], 96), "%s", d.fault);
        memset(memory[watched], 0, sizeof memory[watched]);
        memcpy(memory[watched], base, m.bytes);
        if (watched) {
            size_t at = 0;
            while (want[at] && want[at] == seen.text[at]) at++;
            cr_expect(strcmp(want, seen.text) == 0, "from %zu: %s", at,
                      seen.text + (at > 30 ? at - 30 : 0));
        }
        stop(&d);
    }
    cr_expect(memcmp(out[0], out[1], 96) == 0 && memcmp(memory[0], memory[1], 1024) == 0);
}
