/* saxpy: several launches in a row on the same vectors. */
#include "suites/suite.h"

#include <math.h>

void suite_run_saxpy(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 18, 1 << 22, 1 << 24);
    size_t launches = suite_pick(ctx, 2, 14, 35);
    float a = 1.0F / 3;
    struct suite_random r = suite_random(ctx->seed);
    float *x = suite_host(ctx, float, n), *y = suite_host(ctx, float, n);
    for (uint32_t i = 0; i < n; i++) {
        x[i] = suite_random_float(&r);
        y[i] = suite_random_float(&r) - 1;
    }
    CUdeviceptr dx = suite_upload(ctx, x, n * sizeof *x), dy = suite_upload(ctx, y, n * sizeof *y);
    CUfunction f = suite_kernel(ctx, "saxpy");
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, f, suite_1d((unsigned)suite_blocks(n, 256)), suite_1d(256), 0, &n, &a,
                     &dx, &dy);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < launches; k++) y[i] = fmaf(a, x[i], y[i]);
    float *got = suite_host(ctx, float, n);
    suite_read(ctx, got, dy, n * sizeof *got);
    suite_verify_f32(ctx, "y", got, y, n);
}
