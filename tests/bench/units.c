/* How fast instructions of units beside the arithmetic ones run: texture and surface fetches, matrix products,
 * asynchronous and wide copies to shared memory, clocks. A part of `make bench`.
 *
 *     units [suites/ptx/bench_units.ptx [KERNEL [ISA]]]
 *
 * Printed is the median of RUNS runs on one core, in 10^9 thread-instructions per second of processor time. ISA is a
 * number of enum emu_isa. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/diag.h"
#include "emu/emu.h"
#include "emu/memory.h"
#include "emu/order.h"
#include "emu/texture.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, WIDTH = 512, WORDS = 1 << 20 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct ptx_module *read_module(const char *path)
{
    static char text[1 << 20];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    const size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    static struct source source;
    static struct diags diags;
    struct arena *arena = arena_new();
    source = (struct source){path, text, (uint32_t)n};
    diags = (struct diags){.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    ptx_module_check(m);
    return m;
}

/* ---- data ---------------------------------------------------------------------------------------- */

static void see_memory(void *self, struct emu_machine *m)
{
    *(struct mem **)self = m->mem;
}

/* The device's memory: what an observer of a launch of an empty kernel sees. */
static struct mem *memory_of(struct emu *e, struct emu_image *image)
{
    struct mem *m = NULL;
    struct emu_observer o = {.self = &m, .begin = see_memory};
    const struct emu_observer *list = &o;
    struct emu_launch l = {
        .grid = {1, 1, 1}, .block = {1, 1, 1}, .observers = &list, .observer_count = 1};
    emu_launch(e, emu_kernel_find(image, "empty"), &l);
    return m;
}

struct texels {
    u32 width, height;
    u8 channels, bits, kind, address;
    bool linear_filter, normalised, as_float, linear;
    u64 pitch;
};

/* A texture object, or a surface object. Its texels are a sequence of numbers. */
static u64 object(struct mem *m, const struct texels *k, bool surface)
{
    struct texture t;
    memset(&t, 0, sizeof t);
    t.memory = (struct texture_memory){.width = k->width,
                                       .height = k->height,
                                       .channels = k->channels,
                                       .bits = k->bits,
                                       .kind = k->kind,
                                       .linear = k->linear,
                                       .pitch = k->pitch};
    t.sampler = (struct texture_sampler){.address = {k->address, k->address, k->address},
                                         .linear_filter = k->linear_filter,
                                         .normalised = k->normalised};
    t.as_float = k->as_float;
    const char *why = texture_layout(&t.memory);
    if (!why) {
        t.memory.address = mem_alloc(m, t.memory.bytes, 0, "texels", false, false);
        for (u64 i = 0; i < t.memory.bytes; i += 4) {
            const float f = (float)(i % 1021) * 0.25f;
            const u32 word = (u32)i * 2654435761u;
            memcpy(mem_bytes(m, t.memory.address + i),
                   k->kind == TEXTURE_FLOAT ? (const void *)&f : &word, 4);
        }
        const u64 handle = surface ? surface_create(m, &t.memory, &why)
                                   : texture_create(m, &t, &why);
        if (handle) return handle;
    }
    fprintf(stderr, "units: %s\n", why);
    exit(1);
}

struct machine {
    struct emu *emu;
    struct emu_image *image;
    u64 out, in, nearest, pitched, linear, fetch, surface;
};

static struct machine start(struct ptx_module *m, const struct emu_config *config)
{
    struct machine d = {.emu = emu_new(config)};
    char *why = NULL;
    d.image = emu_load(d.emu, &m, 1, &why);
    if (!d.image) {
        fprintf(stderr, "units: %s\n", why);
        exit(1);
    }
    struct mem *mem = memory_of(d.emu, d.image);
    d.out = emu_alloc(d.emu, WORDS * 16, "out"), d.in = emu_alloc(d.emu, WORDS * 4, "in");
    for (u64 i = 0; i < WORDS; i++) { /* halves near 1 */
        const u32 word = (u32)(i * 2654435761u & 0x03ff03ff) | 0x38003800;
        memcpy(mem_bytes(mem, d.in + i * 4), &word, 4);
    }
    const struct texels floats = {.width = WIDTH,
                                  .height = WIDTH,
                                  .channels = 1,
                                  .bits = 32,
                                  .kind = TEXTURE_FLOAT,
                                  .address = TEXTURE_CLAMP};
    struct texels pitched = floats, words = floats;
    pitched.linear = true, pitched.pitch = WIDTH * 4 + 256;
    words.kind = TEXTURE_UINT;
    d.nearest = object(mem, &floats, false);
    d.pitched = object(mem, &pitched, false);
    d.surface = object(mem, &words, true);
    words.width = 1 << 16, words.height = 0, words.linear = true;
    d.fetch = object(mem, &words, false);
    d.linear = object(mem,
                      &(struct texels){.width = WIDTH,
                                       .height = WIDTH,
                                       .channels = 4,
                                       .bits = 8,
                                       .kind = TEXTURE_UINT,
                                       .address = TEXTURE_WRAP,
                                       .linear_filter = true,
                                       .normalised = true,
                                       .as_float = true},
                      false);
    return d;
}

/* ---- kernels ------------------------------------------------------------------------------------- */

enum { NEAREST, PITCHED, LINEAR, FETCH, SURFACE, GEMM, MMA, ASYNC, WIDE, CLOCKS, COUNT };
static const struct {
    const char *row, *kernel;
} kernels[COUNT] = {
    {"texture, nearest", "texture_nearest"},
    {"texture, pitched", "texture_nearest"},
    {"texture, bilinear", "texture_linear"},
    {"tex1Dfetch", "texture_fetch"},
    {"surface", "surface"},
    {"wmma GEMM", "wmma_gemm"},
    {"mma", "mma"},
    {"cp.async, 16 bytes", "copy_async"},
    {"copy, 16 bytes", "copy_wide"},
    {"clock", "clocks"},
};

static const struct emu_report *run(const struct machine *d, int k)
{
    struct emu_launch l = {.grid = {16, 1, 1}, .block = {256, 1, 1}};
    u64 p[4] = {d->out};
    if (k <= LINEAR || k == SURFACE) {
        l.grid[0] = WIDTH / 32, l.grid[1] = WIDTH / 8 / 4;
        l.block[0] = 32, l.block[1] = 8;
    }
    switch (k) {
    case NEAREST: p[1] = d->nearest, p[2] = WIDTH; break;
    case PITCHED: p[1] = d->pitched, p[2] = WIDTH; break;
    case LINEAR: p[1] = d->linear, p[2] = WIDTH; break;
    case FETCH: p[1] = d->fetch, p[2] = 0xffff; break;
    case SURFACE: p[0] = d->surface, p[1] = 4; break;
    case GEMM: p[1] = d->in, p[2] = d->in + WORDS, p[3] = 256, l.grid[0] = 32; break;
    case ASYNC:
    case WIDE: p[1] = d->in, p[2] = 128; break;
    default: p[1] = k == MMA ? 64 : 4096;
    }
    l.params = p, l.params_size = k == GEMM                                 ? 28
                                  : k == SURFACE || k == MMA || k == CLOCKS ? 12
                                                                            : 20;
    const struct emu_report *r = emu_launch(d->emu, emu_kernel_find(d->image, kernels[k].kernel),
                                            &l);
    if (r->fault.kind) {
        fprintf(stderr, "units: %s: %s", kernels[k].row, r->fault.text);
        exit(1);
    }
    return r;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "suites/ptx/bench_units.ptx",
               *only = argc > 2 && *argv[2] ? argv[2] : NULL;
    const enum emu_isa isa = argc > 3 ? (enum emu_isa)atoi(argv[3]) : EMU_ISA_BEST;
    struct ptx_module *m = read_module(path);
    enum { COUNTED, PLAIN, MODES };
    const struct machine machines[MODES] = {
        [COUNTED] = start(m, &(struct emu_config){.count = true, .threads = 1, .isa = isa}),
        [PLAIN] = start(m, &(struct emu_config){.threads = 1, .isa = isa})};
    printf("%-19s %12s | counts Gti/s | no counts Gti/s\n", "instructions", "thread-instr");
    for (int k = 0; k < COUNT; k++) {
        if (only && strcmp(only, kernels[k].row) != 0) continue;
        double t[MODES][RUNS];
        uint64_t instructions = 0;
        for (int r = -1; r < RUNS; r++) /* one more, to warm up */
            for (int i = 0; i < MODES; i++) {
                const double from = now();
                const uint64_t counted = run(&machines[i], k)->thread_instructions;
                if (i == COUNTED) instructions = counted;
                if (r >= 0) t[i][r] = now() - from;
            }
        printf("%-19s %12llu |", kernels[k].row, (unsigned long long)instructions);
        for (int i = 0; i < MODES; i++) {
            qsort(t[i], RUNS, sizeof *t[i], by_value);
            printf(" %12.3f %s", (double)instructions * 1e-9 / t[i][RUNS / 2], i ? "\n" : "|");
        }
    }
    return 0;
}
