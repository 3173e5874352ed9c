/* Matrix products. Of a large one, 256 rows are computed on the host, chosen by the seed. */
#include "suites/suite.h"

#include <math.h>
#include <string.h>

static void sgemm(struct suite_context *ctx, const char *kernel, struct suite_dim block,
                  uint32_t tile)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 128, 640, 1408);
    size_t all = (size_t)n * n, rows = n < 256 || ctx->size != SUITE_LARGE ? n : 256;
    struct suite_random r = suite_random(ctx->seed);
    float *a = suite_host(ctx, float, all), *b = suite_host(ctx, float, all);
    float *c = suite_host(ctx, float, all), *want = suite_host(ctx, float, n);
    for (size_t i = 0; i < all; i++) {
        a[i] = suite_random_float(&r) - 0.5F;
        b[i] = suite_random_float(&r) - 0.5F;
    }
    CUdeviceptr da = suite_upload(ctx, a, all * sizeof *a),
                db = suite_upload(ctx, b, all * sizeof *b);
    CUdeviceptr dc = suite_alloc(ctx, all * sizeof *c);
    suite_launch(ctx, suite_kernel(ctx, kernel), suite_2d(n / tile, n / tile), block, 0, &n, &da,
                 &db, &dc);
    suite_read(ctx, c, dc, all * sizeof *c);
    for (size_t i = 0; i < rows; i++) {
        size_t y = rows == n ? i : suite_random_below(&r, n);
        memset(want, 0, n * sizeof *want);
        for (size_t k = 0; k < n; k++)
            for (size_t x = 0; x < n; x++) want[x] = fmaf(a[y * n + k], b[k * n + x], want[x]);
        char what[32] = "row of c";
        suite_verify_f32(ctx, what, c + y * n, want, n);
    }
    if (rows < n) suite_note(ctx, "verified %zu of %u rows", rows, n);
}

void suite_run_sgemm_16(struct suite_context *ctx)
{
    sgemm(ctx, "sgemm_16", suite_2d(16, 16), 16);
}

void suite_run_sgemm_32(struct suite_context *ctx)
{
    sgemm(ctx, "sgemm_32", suite_2d(32, 8), 32);
}

void suite_run_sgemm_naive(struct suite_context *ctx)
{
    sgemm(ctx, "sgemm_naive", suite_2d(16, 16), 16);
}
