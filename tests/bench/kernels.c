/* The seven kernels of suites/ptx/bench.ptx and what they work on. */
#define _GNU_SOURCE
#include "tests/bench/kernels.h"

#include "base/arena.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAXPY, MATMUL, MANDELBROT, BFS, HISTOGRAM, CRYPTO, STRIDED };
enum {
    N = 1 << 20,
    DIM = 256,
    WIDTH = 512,
    HEIGHT = 256,
    LIMIT = 256,
    NODES = 1 << 16,
    DEGREE = 8,
    ROUNDS = 64
};

static float fx[N], fy[N], fy2[N], ma[DIM * DIM], mb[DIM * DIM], mc[DIM * DIM];
static unsigned pixels[WIDTH * HEIGHT], level[NODES], next_level[NODES], first[NODES + 1],
    edges[NODES * DEGREE], bins[256], words[N];
static unsigned char bytes[4 * N];

const char *const bench_names[BENCH_COUNT] = {"saxpy",     "matmul", "mandelbrot", "bfs",
                                              "histogram", "crypto", "strided"};

void bench_native(int k)
{
    switch (k) {
    case SAXPY: native_saxpy(fy, fx, 2.5f, N); break;
    case MATMUL: native_matmul(mc, ma, mb, DIM); break;
    case MANDELBROT: native_mandelbrot(pixels, WIDTH, HEIGHT, LIMIT); break;
    case BFS: native_bfs(next_level, level, first, edges, NODES); break;
    case HISTOGRAM: native_histogram(bins, bytes, sizeof bytes); break;
    case CRYPTO: native_crypto(words, N / 4, ROUNDS); break;
    default: native_of_strided(words, N, 33, N / 16);
    }
}

static uint64_t upload(struct emu *e, const void *data, size_t size, const char *name)
{
    uint64_t at = emu_alloc(e, size, name);
    emu_copy_in(e, at, data, size);
    return at;
}

struct bench_machine bench_start(struct ptx_module *m, const struct emu_config *config)
{
    struct bench_machine d = {.emu = emu_new(config)};
    char *why = NULL;
    d.image = emu_load(d.emu, &m, 1, &why);
    if (!d.image) {
        fprintf(stderr, "bench: %s\n", why);
        exit(1);
    }
    d.x = upload(d.emu, fx, sizeof fx, "x"), d.y = upload(d.emu, fy, sizeof fy, "y");
    d.a = upload(d.emu, ma, sizeof ma, "a"), d.b = upload(d.emu, mb, sizeof mb, "b"),
    d.c = upload(d.emu, mc, sizeof mc, "c");
    d.pixels = upload(d.emu, pixels, sizeof pixels, "pixels");
    d.level = upload(d.emu, level, sizeof level, "level"),
    d.next = upload(d.emu, next_level, sizeof next_level, "next");
    d.first = upload(d.emu, first, sizeof first, "first"),
    d.edges = upload(d.emu, edges, sizeof edges, "edges");
    d.bins = upload(d.emu, bins, sizeof bins, "bins"),
    d.bytes = upload(d.emu, bytes, sizeof bytes, "bytes");
    d.words = upload(d.emu, words, sizeof words, "words");
    return d;
}

const struct emu_report *bench_run(struct bench_machine *d, int k, const struct emu_launch *how)
{
    struct emu_launch l = *how;
    memcpy(l.grid, (uint32_t[]){1, 1, 1}, sizeof l.grid);
    memcpy(l.block, (uint32_t[]){256, 1, 1}, sizeof l.block);
    uint8_t p[64] = {0};
    size_t at = 0;
#define ARG(type, value)                                                                           \
    do {                                                                                           \
        type v_ = (value);                                                                         \
        at = (at + sizeof v_ - 1) / sizeof v_ * sizeof v_;                                         \
        memcpy(p + at, &v_, sizeof v_);                                                            \
        at += sizeof v_;                                                                           \
    } while (0)
    switch (k) {
    case SAXPY:
        ARG(uint64_t, d->y);
        ARG(uint64_t, d->x);
        ARG(float, 2.5f);
        ARG(unsigned, N);
        l.grid[0] = N / 256;
        break;
    case MATMUL:
        ARG(uint64_t, d->c);
        ARG(uint64_t, d->a);
        ARG(uint64_t, d->b);
        ARG(int, DIM);
        l.grid[0] = l.grid[1] = DIM / 16, l.block[0] = l.block[1] = 16;
        break;
    case MANDELBROT:
        ARG(uint64_t, d->pixels);
        ARG(int, WIDTH);
        ARG(int, HEIGHT);
        ARG(int, LIMIT);
        l.block[0] = 32, l.block[1] = 8, l.grid[0] = WIDTH / 32, l.grid[1] = HEIGHT / 8;
        break;
    case BFS:
        ARG(uint64_t, d->next);
        ARG(uint64_t, d->level);
        ARG(uint64_t, d->first);
        ARG(uint64_t, d->edges);
        ARG(unsigned, NODES);
        l.grid[0] = NODES / 256;
        break;
    case HISTOGRAM:
        ARG(uint64_t, d->bins);
        ARG(uint64_t, d->bytes);
        ARG(unsigned, sizeof bytes);
        l.grid[0] = 64;
        break;
    case CRYPTO:
        ARG(uint64_t, d->words);
        ARG(unsigned, N / 4);
        ARG(int, ROUNDS);
        l.grid[0] = N / 4 / 256;
        break;
    default:
        ARG(uint64_t, d->words);
        ARG(unsigned, N);
        ARG(unsigned, 33);
        l.grid[0] = N / 16 / 256;
    }
    l.params = p;
    l.params_size = (uint32_t)at;
    const struct emu_report *r = emu_launch(d->emu, emu_kernel_find(d->image, bench_names[k]), &l);
    if (r->fault.kind) {
        fprintf(stderr, "bench: %s: %s", bench_names[k], r->fault.text);
        exit(1);
    }
    return r;
}

struct ptx_module *bench_module(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        exit(1);
    }
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    struct arena *arena = arena_new();
    static struct source source;
    source = (struct source){path, text, (uint32_t)n};
    static struct diags diags;
    diags = (struct diags){.arena = arena, .source = &source};
    struct ptx_module *m = ptx_module_parse(arena, &source, &diags);
    ptx_module_check(m);
    unsigned seed = 1;
    for (int i = 0; i < N; i++)
        fx[i] = (float)i * 0.5f, fy[i] = fy2[i] = (float)i, words[i] = (unsigned)i;
    for (int i = 0; i < DIM * DIM; i++) ma[i] = (float)(i % 17), mb[i] = (float)(i % 13);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
    for (unsigned i = 0; i < NODES; i++) level[i] = i % 5 ? ~0u : i % 7, first[i] = i * DEGREE;
    first[NODES] = NODES * DEGREE;
    for (unsigned i = 0; i < NODES * DEGREE; i++)
        edges[i] = (seed = seed * 1664525 + 1013904223) >> 16;
    return m;
}
