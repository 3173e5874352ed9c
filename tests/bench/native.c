/* Compiled with -O3 -march=native. */
#include "tests/bench/kernels.h"

void native_saxpy(float *restrict y, const float *restrict x, float a, unsigned n)
{
    for (unsigned i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void native_matmul(float *restrict c, const float *restrict a, const float *restrict b, int n)
{
    for (int row = 0; row < n; row++) {
        for (int col = 0; col < n; col++) c[row * n + col] = 0;
        for (int k = 0; k < n; k++)
            for (int col = 0; col < n; col++) c[row * n + col] += a[row * n + k] * b[k * n + col];
    }
}

void native_mandelbrot(unsigned *out, int width, int height, int limit)
{
    enum { V = 16 }; /* as many pixels at once as a vector has */
    for (int py = 0; py < height; py++)
        for (int p0 = 0; p0 < width; p0 += V) {
            float cx[V], x[V], y[V], cy = -1.0f + 2.0f * (float)py / (float)height;
            int n[V], on[V];
            for (int v = 0; v < V; v++) {
                cx[v] = -2.0f + 3.0f * (float)(p0 + v) / (float)width;
                x[v] = y[v] = 0;
                n[v] = 0;
                on[v] = 1;
            }
            for (int i = 0, any = 1; i < limit && any; i++) {
                any = 0;
                for (int v = 0; v < V; v++) {
                    float xx = x[v] * x[v], yy = y[v] * y[v];
                    on[v] &= xx + yy < 4.0f;
                    float t = xx - yy + cx[v], u = 2 * x[v] * y[v] + cy;
                    y[v] = on[v] ? u : y[v];
                    x[v] = on[v] ? t : x[v];
                    n[v] += on[v];
                    any |= on[v];
                }
            }
            for (int v = 0; v < V && p0 + v < width; v++) out[py * width + p0 + v] = (unsigned)n[v];
        }
}

void native_bfs(unsigned *next, const unsigned *level, const unsigned *first, const unsigned *edges,
                unsigned n)
{
    for (unsigned v = 0; v < n; v++) {
        unsigned best = level[v];
        for (unsigned e = first[v]; e < first[v + 1]; e++) {
            unsigned l = level[edges[e]];
            if (l != ~0u && l + 1 < best) best = l + 1;
        }
        next[v] = best;
    }
}

void native_histogram(unsigned *out, const unsigned char *in, unsigned n)
{
    for (unsigned i = 0; i < n; i++) out[in[i]]++;
}

void native_crypto(unsigned *data, unsigned n, int rounds)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned a = data[i], b = a ^ 0x9e3779b9u, c = i, d = 0x7f4a7c15u;
        for (int r = 0; r < rounds; r++) {
            a += b, d ^= a, d = d << 16 | d >> 16;
            c += d, b ^= c, b = b << 12 | b >> 20;
            a += b, d ^= a, d = d << 8 | d >> 24;
            c += d, b ^= c, b = b << 7 | b >> 25;
        }
        data[i] = a ^ b ^ c ^ d;
    }
}

void native_of_strided(unsigned *out, unsigned n, unsigned stride, unsigned threads)
{
    for (unsigned i = 0; i < threads; i++)
        for (unsigned k = 0; k < 16; k++) out[(i * stride + k) % n] = i + k;
}
