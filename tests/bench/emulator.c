/* How fast kernels run, against the same algorithms compiled for the host: `make bench`.
 *
 * Each kernel runs RUNS times in turns with its native twin, in one process on one core; printed are
 * medians. "counts" is with all event counts, "plain" without; "2 threads" is plain with two. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/diag.h"
#include "emu/emu.h"
#include "ptx/ptx.h"
#include "tests/bench/native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 7,
    N = 1 << 20,
    DIM = 256,
    WIDTH = 512,
    HEIGHT = 256,
    LIMIT = 256,
    NODES = 1 << 16,
    DEGREE = 8,
    ROUNDS = 64
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static float fx[N], fy[N], fy2[N], ma[DIM * DIM], mb[DIM * DIM], mc[DIM * DIM];
static unsigned pixels[WIDTH * HEIGHT], level[NODES], next_level[NODES], first[NODES + 1],
    edges[NODES * DEGREE], bins[256], words[N];
static unsigned char bytes[4 * N];

enum { SAXPY, MATMUL, MANDELBROT, BFS, HISTOGRAM, CRYPTO, STRIDED, COUNT };
static const char *const names[COUNT] = {"saxpy",     "matmul", "mandelbrot", "bfs",
                                         "histogram", "crypto", "strided"};

static void native(int k)
{
    switch (k) {
    case SAXPY: native_saxpy(fy, fx, 2.5f, N); break;
    case MATMUL: native_matmul(mc, ma, mb, DIM); break;
    case MANDELBROT: native_mandelbrot(pixels, WIDTH, HEIGHT, LIMIT); break;
    case BFS: native_bfs(next_level, level, first, edges, NODES); break;
    case HISTOGRAM: native_histogram(bins, bytes, sizeof bytes); break;
    case CRYPTO: native_crypto(words, N / 4, ROUNDS); break;
    default: native_strided(words, N, 33, N / 16);
    }
}

struct machine {
    struct emu *emu;
    struct emu_image *image;
    uint64_t x, y, a, b, c, pixels, level, next, first, edges, bins, bytes, words;
};

static uint64_t upload(struct emu *e, const void *data, size_t size, const char *name)
{
    uint64_t at = emu_alloc(e, size, name);
    emu_copy_in(e, at, data, size);
    return at;
}

static struct machine start(struct ptx_module *m, bool count, unsigned threads, enum emu_isa isa)
{
    struct machine d = {
        .emu = emu_new(&(struct emu_config){.count = count, .threads = threads, .isa = isa})};
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

static const struct emu_report *emulate(struct machine *d, int k)
{
    struct emu_launch l = {.grid = {1, 1, 1}, .block = {256, 1, 1}};
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
    const struct emu_report *r = emu_launch(d->emu, emu_kernel_find(d->image, names[k]), &l);
    if (r->fault.kind) {
        fprintf(stderr, "bench: %s: %s", names[k], r->fault.text);
        exit(1);
    }
    return r;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *v)
{
    qsort(v, RUNS, sizeof *v, by_value);
    return v[RUNS / 2];
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "suites/ptx/bench.ptx";
    enum emu_isa isa = argc > 2 ? (enum emu_isa)atoi(argv[2]) : EMU_ISA_BEST;
    FILE *f = fopen(path, "rb");
    if (!f) return perror(path), 1;
    static char text[1 << 20];
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    struct arena *arena = arena_new();
    struct source source = {path, text, (uint32_t)n};
    struct diags diags = {.arena = arena, .source = &source};
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
    struct machine counting = start(m, true, 1, isa), plain = start(m, false, 1, isa),
                   two = start(m, false, 2, isa);
    printf("%-11s %12s | %9s %9s | %9s %9s | %s\n", "kernel", "thread-instr", "Gti/s", "of native",
           "Gti/s", "of native", "2 threads");
    printf("%-11s %12s | %19s | %19s |\n", "", "", "all counts", "no counts");
    double geo[5] = {0};
    for (int k = 0; k < COUNT; k++) {
        double t[4][RUNS];
        uint64_t instructions = 0;
        emulate(&counting, k), emulate(&plain, k), emulate(&two, k), native(k);
        for (int r = 0; r < RUNS; r++) {
            double a = now();
            instructions = emulate(&counting, k)->thread_instructions;
            double b = now();
            emulate(&plain, k);
            double c = now();
            emulate(&two, k);
            double d = now();
            native(k);
            double e = now();
            t[0][r] = b - a, t[1][r] = c - b, t[2][r] = d - c, t[3][r] = e - d;
        }
        double c = median(t[0]), p = median(t[1]), w = median(t[2]), v = median(t[3]);
        double g = (double)instructions * 1e-9;
        printf("%-11s %12llu | %9.2f %9.3f | %9.2f %9.3f | %.2f x\n", names[k],
               (unsigned long long)instructions, g / c, v / c, g / p, v / p, p / w);
        geo[0] += log(g / c), geo[1] += log(v / c), geo[2] += log(g / p), geo[3] += log(v / p),
            geo[4] += log(p / w);
    }
    printf("%-11s %12s | %9.2f %9.3f | %9.2f %9.3f | %.2f x\n", "geomean", "", exp(geo[0] / COUNT),
           exp(geo[1] / COUNT), exp(geo[2] / COUNT), exp(geo[3] / COUNT), exp(geo[4] / COUNT));
    return 0;
}
