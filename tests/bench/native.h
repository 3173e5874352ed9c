/* tests/bench/native.h: the kernels of suites/kernels/bench.cu in C, as a compiler makes the best of them for the host. */
#ifndef HEDDLE_TESTS_BENCH_NATIVE_H
#define HEDDLE_TESTS_BENCH_NATIVE_H

void native_saxpy(float *y, const float *x, float a, unsigned n);
void native_matmul(float *c, const float *a, const float *b, int n);
void native_mandelbrot(unsigned *out, int width, int height, int limit);
void native_bfs(unsigned *next, const unsigned *level, const unsigned *first, const unsigned *edges,
                unsigned n);
void native_histogram(unsigned *out, const unsigned char *in, unsigned n);
void native_crypto(unsigned *data, unsigned n, int rounds);
void native_of_strided(unsigned *out, unsigned n, unsigned stride, unsigned threads);

#endif
