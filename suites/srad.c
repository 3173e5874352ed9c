/* srad: diffusion that keeps edges. Before each step the host reads the image and computes the speckle of a region of
 * it, as the published programs do. */
#include "suites/suite.h"

enum { BLOCK = 16 };

struct image {
    int width, height;
    float *pixel, *north, *south, *west, *east, *coefficient;
};

/* The squared coefficient of variation of the upper left quarter. */
static float speckle(const struct image *m)
{
    const int w = m->width / 2, h = m->height / 2;
    float sum = 0, squares = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const float p = m->pixel[y * m->width + x];
            sum += p;
            squares += p * p;
        }
    const float mean = sum / (float)(w * h);
    return (squares / (float)(w * h) - mean * mean) / (mean * mean);
}

static void host_step(struct image *m, float q0, float rate)
{
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++) {
            const int i = y * m->width + x;
            const float *p = m->pixel, here = p[i];
            const float n = p[y > 0 ? i - m->width : i] - here;
            const float s = p[y < m->height - 1 ? i + m->width : i] - here;
            const float w = p[x > 0 ? i - 1 : i] - here, e = p[x < m->width - 1 ? i + 1 : i] - here;
            const float gradient = (n * n + s * s + w * w + e * e) / (here * here);
            const float laplacian = (n + s + w + e) / here, divisor = 1 + 0.25F * laplacian;
            const float q = (0.5F * gradient - 0.0625F * (laplacian * laplacian)) /
                            (divisor * divisor);
            const float c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
            m->north[i] = n, m->south[i] = s, m->west[i] = w, m->east[i] = e;
            m->coefficient[i] = c < 0 ? 0 : c > 1 ? 1 : c;
        }
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++) {
            const int i = y * m->width + x;
            const float *c = m->coefficient;
            const float south = c[y < m->height - 1 ? i + m->width : i];
            const float east = c[x < m->width - 1 ? i + 1 : i];
            const float divergence = c[i] * m->north[i] + south * m->south[i] + c[i] * m->west[i] +
                                     east * m->east[i];
            m->pixel[i] += 0.25F * rate * divergence;
        }
}

void suite_run_srad(struct suite_context *ctx)
{
    const int side = (int)suite_pick(ctx, 192, 1024, 2048);
    const float rate = 0.5F;
    struct image m = {.width = side, .height = side};
    const size_t n = (size_t)side * (size_t)side, bytes = n * sizeof(float);
    float **const planes[] = {&m.pixel, &m.north, &m.south, &m.west, &m.east, &m.coefficient};
    for (size_t k = 0; k < sizeof planes / sizeof *planes; k++)
        *planes[k] = suite_host(ctx, float, n);
    struct suite_random r = suite_random(ctx->seed);
    for (size_t i = 0; i < n; i++) m.pixel[i] = 1 + suite_random_float(&r);
    struct image read = m;
    read.pixel = suite_host(ctx, float, n);
    CUdeviceptr image = suite_upload(ctx, m.pixel, bytes), north = suite_alloc(ctx, bytes);
    CUdeviceptr south = suite_alloc(ctx, bytes), west = suite_alloc(ctx, bytes);
    CUdeviceptr east = suite_alloc(ctx, bytes), coefficient = suite_alloc(ctx, bytes);
    const struct suite_dim grid = suite_2d((unsigned)side / BLOCK, (unsigned)side / BLOCK);
    for (size_t step = suite_pick(ctx, 2, 8, 20); step > 0; step--) {
        suite_read(ctx, read.pixel, image, bytes);
        const float q0 = speckle(&read);
        suite_launch(ctx, suite_kernel(ctx, "srad_coefficients"), grid, suite_2d(BLOCK, BLOCK), 0,
                     &m.width, &m.height, (void *)&q0, &image, &north, &south, &west, &east,
                     &coefficient);
        suite_launch(ctx, suite_kernel(ctx, "srad_update"), grid, suite_2d(BLOCK, BLOCK), 0,
                     &m.width, &m.height, (void *)&rate, &north, &south, &west, &east, &coefficient,
                     &image);
        host_step(&m, speckle(&m), rate);
    }
    suite_read(ctx, read.pixel, image, bytes);
    suite_verify_f32(ctx, "image", read.pixel, m.pixel, n);
}
