/* mandelbrot: the whole set. */
#include "suites/suite.h"

#include <math.h>

void suite_run_mandelbrot(struct suite_context *ctx)
{
    uint32_t w = (uint32_t)suite_pick(ctx, 120, 700, 1500), h = w - 1;
    uint32_t most = (uint32_t)suite_pick(ctx, 250, 800, 2000);
    struct suite_random r = suite_random(ctx->seed);
    float left = -2.0F - 0.1F * suite_random_float(&r), top = -1.25F, step = 2.5F / (float)w;
    size_t n = (size_t)w * h;
    uint32_t *want = suite_host(ctx, uint32_t, n), *got = suite_host(ctx, uint32_t, n);
    CUdeviceptr out = suite_alloc(ctx, n * sizeof *got);
    suite_launch(ctx, suite_kernel(ctx, "mandelbrot"), suite_2d((w + 15) / 16, (h + 15) / 16),
                 suite_2d(16, 16), 0, &w, &h, &left, &top, &step, &most, &out);
    for (uint32_t py = 0; py < h; py++)
        for (uint32_t px = 0; px < w; px++) {
            float cx = fmaf((float)px, step, left), cy = fmaf((float)py, step, top), x = 0, y = 0;
            uint32_t i = 0;
            for (; i < most; i++) {
                float x2 = x * x, y2 = y * y;
                if (x2 + y2 > 4.0F) break;
                y = fmaf(2.0F * x, y, cy);
                x = x2 - y2 + cx;
            }
            want[(size_t)py * w + px] = i;
        }
    suite_read(ctx, got, out, n * sizeof *got);
    suite_verify_u32(ctx, "pixel", got, want, n);
}
