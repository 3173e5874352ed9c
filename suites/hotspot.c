/* hotspot: two steps a launch. */
#include "suites/suite.h"

enum { BLOCK = 16, STEPS = 2, INNER = BLOCK - 2 * STEPS };

struct chip {
    int w, h;
    float step, rx, ry, rz;
};

static void host_step(const struct chip *c, const float *power, const float *in, float *out)
{
    for (int y = 0; y < c->h; y++)
        for (int x = 0; x < c->w; x++) {
            int i = y * c->w + x;
            float t = in[i];
            float south = in[y < c->h - 1 ? i + c->w : i], north = in[y > 0 ? i - c->w : i];
            float east = in[x < c->w - 1 ? i + 1 : i], west = in[x > 0 ? i - 1 : i];
            float vertical = (south + north - 2.0F * t) * c->ry;
            float horizontal = (east + west - 2.0F * t) * c->rx;
            out[i] = t + c->step * (power[i] + vertical + horizontal + (80.0F - t) * c->rz);
        }
}

void suite_run_hotspot(struct suite_context *ctx)
{
    int side = (int)suite_pick(ctx, 190, 1000, 2000);
    struct chip c = {side, side + 3, 0.01F, 0.1F, 0.125F, 0.03F};
    size_t n = (size_t)c.w * (size_t)c.h, bytes = n * sizeof(float);
    struct suite_random r = suite_random(ctx->seed);
    float *power = suite_host(ctx, float, n), *a = suite_host(ctx, float, n);
    float *b = suite_host(ctx, float, n);
    for (size_t i = 0; i < n; i++) {
        power[i] = suite_random_float(&r);
        a[i] = 320 + 20 * suite_random_float(&r);
    }
    CUdeviceptr dp = suite_upload(ctx, power, bytes), from = suite_upload(ctx, a, bytes);
    CUdeviceptr to = suite_alloc(ctx, bytes);
    struct suite_dim grid = suite_2d((unsigned)suite_blocks((size_t)c.w, INNER),
                                     (unsigned)suite_blocks((size_t)c.h, INNER));
    for (size_t i = suite_pick(ctx, 2, 8, 20); i > 0; i--) {
        suite_launch(ctx, suite_kernel(ctx, "hotspot"), grid, suite_2d(BLOCK, BLOCK), 0, &c.w, &c.h,
                     &c.step, &c.rx, &c.ry, &c.rz, &dp, &from, &to);
        CUdeviceptr device = from;
        from = to;
        to = device;
        host_step(&c, power, a, b);
        host_step(&c, power, b, a);
    }
    suite_read(ctx, b, from, bytes);
    suite_verify_f32(ctx, "temperature", b, a, n);
}
