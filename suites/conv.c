/* Gradient of a convolution's weights: sums of products, in any order of the parts. */
#include "suites/suite.h"

#include <math.h>

enum { TILE = 16, CHUNK = 196 };

static float *numbers(struct suite_context *ctx, struct suite_random *r, size_t n)
{
    float *x = suite_host(ctx, float, n);
    for (size_t i = 0; i < n; i++) x[i] = suite_random_float(r) - 0.5F;
    return x;
}

/* medium: four images through layer 1 of block cnv2_x in the DAB paper's table III. */
void suite_run_conv_gradient(struct suite_context *ctx)
{
    uint32_t channels = (uint32_t)suite_pick(ctx, 64, 256, 256), filters = 64;
    uint32_t pixels = (uint32_t)suite_pick(ctx, 4 * CHUNK, 3136, 3136);
    size_t images = suite_pick(ctx, 1, 4, 40), weights = (size_t)filters * channels;
    struct suite_random r = suite_random(ctx->seed);
    float *in = numbers(ctx, &r, (size_t)channels * pixels);
    float *error = numbers(ctx, &r, (size_t)filters * pixels);
    float *got = suite_host(ctx, float, weights);
    CUdeviceptr di = suite_upload(ctx, in, (size_t)channels * pixels * sizeof *in);
    CUdeviceptr de = suite_upload(ctx, error, (size_t)filters * pixels * sizeof *error);
    CUdeviceptr dg = suite_alloc(ctx, weights * sizeof *got);
    for (size_t i = 0; i < images; i++)
        suite_launch(ctx, suite_kernel(ctx, "conv_gradient"),
                     ((struct suite_dim){channels / TILE, filters / TILE, pixels / CHUNK}),
                     suite_2d(TILE, TILE), 0, &channels, &pixels, &di, &de, &dg);
    suite_read(ctx, got, dg, weights * sizeof *got);
    double n = (double)pixels * (double)images, worst = 0;
    for (size_t i = 0; i < weights; i++) {
        const float *a = &error[i / channels * pixels], *b = &in[i % channels * pixels];
        double want = 0, size = 0;
        for (uint32_t p = 0; p < pixels; p++) {
            want += (double)a[p] * (double)b[p] * (double)images;
            size += fabs((double)a[p] * (double)b[p]) * (double)images;
        }
        double off = fabs((double)got[i] - want);
        if (!(off <= ldexp(size * n, -24) * 1.5))
            suite_fail(ctx, "gradient[%zu] is %.9g, should be near %.9g", i, (double)got[i], want);
        if (off > worst) worst = off;
    }
    suite_note(ctx, "at most %.3g from the exact sums", worst);
}
