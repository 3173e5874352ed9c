/* tests/bench/kernels.h: the seven kernels of suites/ptx/bench.ptx, as benchmarks run them. */
#ifndef HEDDLE_BENCH_KERNELS_H
#define HEDDLE_BENCH_KERNELS_H

#include "emu/emu.h"

enum { BENCH_COUNT = 7 };
extern const char *const bench_names[BENCH_COUNT];

struct bench_machine { /* a device with the kernels and their data */
    struct emu *emu;
    struct emu_image *image;
    uint64_t x, y, a, b, c, pixels, level, next, first, edges, bins, bytes, words;
};
struct ptx_module *bench_module(const char *path); /* reads it, and makes the data */
struct bench_machine bench_start(struct ptx_module *m, const struct emu_config *config);
/* Runs kernel k; `how` has the order and the observers. A fault ends the program. */
const struct emu_report *bench_run(struct bench_machine *d, int k, const struct emu_launch *how);
void bench_native(int k); /* the same, compiled for the host */

/* The same in C, as a compiler makes the best of them for the host (native.c). */
void native_saxpy(float *y, const float *x, float a, unsigned n);
void native_matmul(float *c, const float *a, const float *b, int n);
void native_mandelbrot(unsigned *out, int width, int height, int limit);
void native_bfs(unsigned *next, const unsigned *level, const unsigned *first, const unsigned *edges,
                unsigned n);
void native_histogram(unsigned *out, const unsigned char *in, unsigned n);
void native_crypto(unsigned *data, unsigned n, int rounds);
void native_of_strided(unsigned *out, unsigned n, unsigned stride, unsigned threads);

#endif
