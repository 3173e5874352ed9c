/* nbody. After each step the host computes the same one from what the device had before it; of large
 * runs it does 256 bodies, chosen by the seed. */
#include "suites/suite.h"

#include <math.h>

struct body {
    float x, y, z, w;
};

static void host_step(size_t n, float dt, const struct body *all, size_t i, struct body *p,
                      struct body *v)
{
    float ax = 0, ay = 0, az = 0;
    *p = all[i];
    for (size_t k = 0; k < n; k++) {
        float dx = all[k].x - p->x, dy = all[k].y - p->y, dz = all[k].z - p->z;
        float d2 = fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 1e-4F)));
        float f = all[k].w / (d2 * sqrtf(d2));
        ax = fmaf(f, dx, ax);
        ay = fmaf(f, dy, ay);
        az = fmaf(f, dz, az);
    }
    v->x = fmaf(ax, dt, v->x);
    v->y = fmaf(ay, dt, v->y);
    v->z = fmaf(az, dt, v->z);
    p->x = fmaf(v->x, dt, p->x);
    p->y = fmaf(v->y, dt, p->y);
    p->z = fmaf(v->z, dt, p->z);
}

void suite_run_nbody(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 640, 2048, 8192);
    size_t steps = suite_pick(ctx, 1, 12, 7), bytes = n * sizeof(struct body);
    size_t checked = ctx->size == SUITE_LARGE ? 256 : n;
    float dt = 1e-3F;
    struct suite_random r = suite_random(ctx->seed);
    struct body *p = suite_host(ctx, struct body, n), *v = suite_host(ctx, struct body, n);
    struct body *q = suite_host(ctx, struct body, n), *u = suite_host(ctx, struct body, n);
    for (uint32_t i = 0; i < n; i++) {
        p[i].x = suite_random_float(&r) - 0.5F;
        p[i].y = suite_random_float(&r) - 0.5F;
        p[i].z = suite_random_float(&r) - 0.5F;
        p[i].w = suite_random_float(&r);
    }
    CUdeviceptr from = suite_upload(ctx, p, bytes), to = suite_alloc(ctx, bytes);
    CUdeviceptr velocity = suite_alloc(ctx, bytes);
    for (size_t s = 0; s < steps; s++) {
        suite_launch(ctx, suite_kernel(ctx, "nbody"), suite_1d(n / 128), suite_1d(128), 0, &n, &dt,
                     &from, &to, &velocity);
        suite_read(ctx, q, to, bytes);
        suite_read(ctx, u, velocity, bytes);
        for (size_t k = 0; k < checked; k++) {
            size_t i = checked == n ? k : suite_random_below(&r, n);
            struct body want = {0}, speed = v[i];
            host_step(n, dt, p, i, &want, &speed);
            suite_verify_f32(ctx, "position", &q[i].x, &want.x, 4);
            suite_verify_f32(ctx, "velocity", &u[i].x, &speed.x, 4);
        }
        struct body *host = p;
        p = q;
        q = host;
        host = v;
        v = u;
        u = host;
        CUdeviceptr device = from;
        from = to;
        to = device;
    }
    if (checked < n) suite_note(ctx, "verified %zu of %u bodies of each step", checked, n);
}
