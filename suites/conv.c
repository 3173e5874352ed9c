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

/* The layers of DAB's table III: filters, channels, side of the image, 1 or 9 taps. The number of regions that CTAs
 * divide the filters into follows the paper: 18 in layer 2 of cnv2_x (VI-B1), one in cnv2_3, 4 in cnv3_3 (VI-B2); elsewhere
 * a region of 2048 weights for each CTA. How many pixels a CTA has is not published; with these the atomics per instruction
 * of one image are within 20 % of table III. */
static const struct layer {
    uint32_t filters, channels, side, taps, sections, chunk;
} layers[] = {
    {64, 256, 56, 1, 8, 392},    {64, 64, 56, 9, 18, 294},   {256, 64, 56, 1, 1, 252},
    {128, 512, 28, 1, 32, 266},  {128, 128, 28, 9, 72, 196}, {512, 128, 28, 1, 4, 196},
    {256, 1024, 14, 1, 128, 98}, {256, 256, 14, 9, 288, 98}, {1024, 256, 14, 1, 128, 98},
};

/* The exact gradient of a weight, and the sum of the sizes of what is added. */
static double exact(const struct layer *l, uint32_t images, const float *in, const float *error,
                    size_t weight, double *size)
{
    const size_t pixels = (size_t)l->side * l->side, columns = (size_t)l->channels * l->taps;
    const size_t k = weight / columns, channel = weight % columns / l->taps, tap = weight % l->taps;
    const int side = (int)l->side, up = l->taps == 9 ? (int)(tap / 3) - 1 : 0;
    const int left = l->taps == 9 ? (int)(tap % 3) - 1 : 0;
    double want = 0;
    *size = 0;
    for (size_t image = 0; image < images; image++)
        for (int row = 0; row < side; row++)
            for (int at = 0; at < side; at++) {
                if (row + up < 0 || row + up >= side || at + left < 0 || at + left >= side)
                    continue;
                const double x =
                    (double)error[(image * l->filters + k) * pixels + (size_t)(row * side + at)] *
                    (double)in[(image * l->channels + channel) * pixels +
                               (size_t)((row + up) * side + at + left)];
                want += x;
                *size += fabs(x);
            }
    return want;
}

void suite_run_conv_filter(struct suite_context *ctx)
{
    struct layer l = {64, 64, 14, 9, 18, 98}; /* a small one, unless the run names a layer */
    if (suite_has_input(ctx)) l = layers[suite_input(ctx)];
    const size_t named = suite_number(ctx, "images");
    if (named > 4096) suite_fail(ctx, "at most 4096 images, not %zu", named);
    uint32_t images = (uint32_t)(named ? named : suite_pick(ctx, 1, 4, 16)),
             pixels = l.side * l.side;
    const size_t weights = (size_t)l.filters * l.channels * l.taps;
    const unsigned ctas = l.sections * (unsigned)suite_blocks((size_t)images * pixels, l.chunk);
    /* the host computes so many weights only, spread evenly */
    const size_t checked = 4096, step = weights > checked ? weights / checked | 1 : 1;
    struct suite_random r = suite_random(ctx->seed);
    float *in = numbers(ctx, &r, (size_t)images * l.channels * pixels);
    float *error = numbers(ctx, &r, (size_t)images * l.filters * pixels);
    float *got = suite_host(ctx, float, weights);
    CUdeviceptr di = suite_upload(ctx, in, (size_t)images * l.channels * pixels * sizeof *in);
    CUdeviceptr de = suite_upload(ctx, error, (size_t)images * l.filters * pixels * sizeof *error);
    CUdeviceptr dg = suite_alloc(ctx, weights * sizeof *got);
    const char *const kernel = suite_has_input(ctx) ? "conv_layer" : "conv_filter";
    suite_launch(ctx, suite_kernel(ctx, kernel), suite_1d(ctas), suite_1d(256), 0, &l.filters,
                 &l.channels, &l.side, &l.taps, &images, &l.sections, &l.chunk, &di, &de, &dg);
    suite_read(ctx, got, dg, weights * sizeof *got);
    const double n = (double)pixels * images;
    for (size_t i = 0; i < weights; i += step) {
        double size, want = exact(&l, images, in, error, i, &size);
        if (!(fabs((double)got[i] - want) <= ldexp(size * n, -24) * 1.5))
            suite_fail(ctx, "gradient[%zu] is %.9g, should be near %.9g", i, (double)got[i], want);
    }
}
