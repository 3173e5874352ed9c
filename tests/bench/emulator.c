/* How fast kernels run, against the same algorithms compiled for the host: `make bench`.
 *
 * Each kernel runs RUNS times in turns with its native twin, in one process on one core; printed are
 * medians. "2 threads" is the speed of two host threads against one, without counts. */
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

static struct machine start(struct ptx_module *m, const struct emu_config *config, enum emu_isa isa)
{
    struct emu_config c = *config;
    c.isa = isa;
    struct machine d = {.emu = emu_new(&c)};
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

/* What is measured: the last is the native twin. */
enum { CACHES, COUNTS, PLAIN, TWO_THREADS, NATIVE, MODES };

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "suites/ptx/bench.ptx",
               *only = argc > 2 ? argv[2] : NULL;
    enum emu_isa isa = argc > 3 ? (enum emu_isa)atoi(argv[3]) : EMU_ISA_BEST;
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
    struct machine machines[NATIVE] = {
        [CACHES] = start(m, &(struct emu_config){.count = true, .caches = true, .threads = 1}, isa),
        [COUNTS] = start(m, &(struct emu_config){.count = true, .threads = 1}, isa),
        [PLAIN] = start(m, &(struct emu_config){.threads = 1}, isa),
        [TWO_THREADS] = start(m, &(struct emu_config){.threads = 2}, isa)};
    printf("%-11s %12s | %-17s | %-17s | %-17s | %s\n", "kernel", "thread-instr",
           "counts and caches", "counts", "no counts", "2 threads");
    printf("%-11s %12s |  Gti/s  of native |  Gti/s  of native |  Gti/s  of native |\n", "", "");
    double geo[NATIVE][2] = {0};
    int shown = 0;
    for (int k = 0; k < COUNT; k++) {
        if (only && strcmp(only, names[k]) != 0) continue;
        double t[MODES][RUNS], mid[MODES];
        uint64_t instructions = 0;
        for (int r = -1; r < RUNS; r++) /* one more, to warm up */
            for (int i = 0; i < MODES; i++) {
                double from = now();
                if (i == NATIVE) native(k);
                else {
                    uint64_t counted = emulate(&machines[i], k)->thread_instructions;
                    if (i == COUNTS) instructions = counted;
                }
                if (r >= 0) t[i][r] = now() - from;
            }
        for (int i = 0; i < MODES; i++) mid[i] = median(t[i]);
        double g = (double)instructions * 1e-9;
        printf("%-11s %12llu |", names[k], (unsigned long long)instructions);
        for (int i = 0; i < TWO_THREADS; i++) {
            printf(" %6.2f %10.3f |", g / mid[i], mid[NATIVE] / mid[i]);
            geo[i][0] += log(g / mid[i]), geo[i][1] += log(mid[NATIVE] / mid[i]);
        }
        printf(" %.2f x\n", mid[PLAIN] / mid[TWO_THREADS]);
        geo[TWO_THREADS][0] += log(mid[PLAIN] / mid[TWO_THREADS]);
        shown++;
    }
    printf("%-11s %12s |", "geomean", "");
    for (int i = 0; i < TWO_THREADS && shown; i++)
        printf(" %6.2f %10.3f |", exp(geo[i][0] / shown), exp(geo[i][1] / shown));
    printf(" %.2f x\n", shown ? exp(geo[TWO_THREADS][0] / shown) : 0);
    return 0;
}
