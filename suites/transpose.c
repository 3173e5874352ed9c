/* Matrix transposes. */
#include "suites/suite.h"

static void transpose(struct suite_context *ctx, const char *kernel)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 512, 4096, 4096);
    size_t launches = suite_pick(ctx, 3, 6, 60), all = (size_t)n * n;
    struct suite_random r = suite_random(ctx->seed);
    float *in = suite_host(ctx, float, all), *want = suite_host(ctx, float, all);
    for (size_t y = 0; y < n; y++)
        for (size_t x = 0; x < n; x++) want[x * n + y] = in[y * n + x] = suite_random_float(&r);
    CUdeviceptr from = suite_upload(ctx, in, all * sizeof *in);
    CUdeviceptr to = suite_alloc(ctx, all * sizeof *in);
    CUfunction f = suite_kernel(ctx, kernel);
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, f, suite_2d(n / 32, n / 32), suite_2d(32, 8), 0, &n, &from, &to);
    suite_read(ctx, in, to, all * sizeof *in);
    suite_verify_f32(ctx, "out", in, want, all);
}

void suite_run_transpose_naive(struct suite_context *ctx)
{
    transpose(ctx, "transpose_naive");
}

void suite_run_transpose_tiled(struct suite_context *ctx)
{
    transpose(ctx, "transpose_tiled");
}

void suite_run_transpose_padded(struct suite_context *ctx)
{
    transpose(ctx, "transpose_padded");
}
