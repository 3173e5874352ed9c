/* Stencils, back and forth between two grids. */
#include "suites/suite.h"

#include <math.h>
#include <string.h>

static float *random_grid(struct suite_context *ctx, size_t n)
{
    struct suite_random r = suite_random(ctx->seed);
    float *g = suite_host(ctx, float, n);
    for (size_t i = 0; i < n; i++) g[i] = suite_random_float(&r);
    return g;
}

/* d 1: two dimensions */
static void step(int w, int h, int d, float c0, float c1, const float *in, float *out)
{
    int area = w * h;
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int i = z * area + y * w + x;
                if (x == 0 || y == 0 || x == w - 1 || y == h - 1 ||
                    (d > 1 && (z == 0 || z == d - 1))) {
                    out[i] = in[i];
                    continue;
                }
                float sum = in[i - 1] + in[i + 1] + in[i - w] + in[i + w];
                if (d > 1) sum = sum + in[i - area] + in[i + area];
                out[i] = fmaf(c1, sum, c0 * in[i]);
            }
}

static void stencil(struct suite_context *ctx, const char *kernel, int w, int h, int d,
                    size_t steps)
{
    size_t n = (size_t)w * (size_t)h * (size_t)d, bytes = n * sizeof(float);
    float c0 = d > 1 ? 0.4F : 0.5F, c1 = d > 1 ? 0.1F : 0.125F;
    float *a = random_grid(ctx, n), *b = suite_host(ctx, float, n),
          *got = suite_host(ctx, float, n);
    CUdeviceptr from = suite_upload(ctx, a, bytes), to = suite_alloc(ctx, bytes);
    CUfunction f = suite_kernel(ctx, kernel);
    struct suite_dim grid = suite_2d((unsigned)(w + 31) / 32, (unsigned)(h + 7) / 8);
    for (size_t s = 0; s < steps; s++) {
        if (d > 1) suite_launch(ctx, f, grid, suite_2d(32, 8), 0, &w, &h, &d, &c0, &c1, &from, &to);
        else suite_launch(ctx, f, grid, suite_2d(32, 8), 0, &w, &h, &c0, &c1, &from, &to);
        CUdeviceptr device = from;
        from = to;
        to = device;
        step(w, h, d, c0, c1, a, b);
        float *host = a;
        a = b;
        b = host;
    }
    suite_read(ctx, got, from, bytes);
    suite_verify_f32(ctx, "cell", got, a, n);
}

void suite_run_stencil_2d(struct suite_context *ctx)
{
    int n = (int)suite_pick(ctx, 250, 1000, 2000);
    stencil(ctx, "stencil_2d", n, n + 6, 1, suite_pick(ctx, 5, 20, 45));
}

void suite_run_stencil_3d(struct suite_context *ctx)
{
    int n = (int)suite_pick(ctx, 60, 120, 250);
    stencil(ctx, "stencil_3d", n, n + 1, n / 2, suite_pick(ctx, 4, 40, 45));
}

/* All steps in one launch: CTAs wait for their neighbours' flags. */
void suite_run_stencil_flags(struct suite_context *ctx)
{
    int w = (int)suite_pick(ctx, 256, 1024, 1024), rows = (int)suite_pick(ctx, 8, 32, 64);
    int ctas = (int)suite_pick(ctx, 13, 30, 30), steps = (int)suite_pick(ctx, 20, 60, 300);
    int h = ctas * rows - rows / 2; /* the last one has fewer */
    const size_t n = (size_t)w * (size_t)h, bytes = n * sizeof(float);
    float c0 = 0.5F, c1 = 0.125F, *a = random_grid(ctx, n);
    float *b = suite_host(ctx, float, n), *got = suite_host(ctx, float, n);
    CUdeviceptr first = suite_upload(ctx, a, bytes), second = suite_alloc(ctx, bytes);
    CUdeviceptr done = suite_alloc(ctx, (size_t)ctas * sizeof(uint32_t));
    suite_launch(ctx, suite_kernel(ctx, "stencil_flags"), suite_1d((unsigned)ctas), suite_1d(256),
                 0, &w, &h, &rows, &steps, &c0, &c1, &first, &second, &done);
    for (int s = 0; s < steps; s++) {
        step(w, h, 1, c0, c1, a, b);
        float *swap = a;
        a = b;
        b = swap;
    }
    suite_read(ctx, got, steps % 2 ? second : first, bytes);
    suite_verify_f32(ctx, "cell", got, a, n);
}
