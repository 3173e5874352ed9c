/* cloth, cloth_opt: a cloth that hangs from two corners. The host computes the same steps one spring after another; the
 * positions must be equal bit for bit, as the sums of a spring's pulls are integers. */
#include "suites/suite.h"

#include <math.h>

enum { EACH = 8, UNIT = 65536, BLOCK = 128 };

struct cloth {
    uint32_t side, particles, springs;
    uint32_t *fixed, *a, *b; /* a, b: the ends of each spring */
    float *rest;
    float *at[3], *old[3];
    int32_t *move[3];
};

static void add_spring(struct cloth *c, uint32_t x, uint32_t y, int dx, int dy)
{
    const int64_t to_x = (int64_t)x + dx, to_y = (int64_t)y + dy;
    if (to_x < 0 || to_x >= c->side || to_y >= c->side) return;
    c->a[c->springs] = y * c->side + x;
    c->b[c->springs] = (uint32_t)to_y * c->side + (uint32_t)to_x;
    c->rest[c->springs++] = dx && dy ? sqrtf(2) : 1;
}

/* Along rows, columns and both diagonals. Of each kind first those that begin at even places, then the others, so that
 * springs beside each other have no particle in common. */
static void add_springs(struct cloth *c)
{
    static const int way[4][2] = {{1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    for (int k = 0; k < 4; k++)
        for (uint32_t odd = 0; odd < 2; odd++)
            for (uint32_t y = 0; y < c->side; y++)
                for (uint32_t x = 0; x < c->side; x++)
                    if ((way[k][1] ? y : x) % 2 == odd) add_spring(c, x, y, way[k][0], way[k][1]);
}

static struct cloth make(struct suite_context *ctx)
{
    struct cloth c = {.side = (uint32_t)suite_pick(ctx, 96, 512, 1024)};
    struct suite_random r = suite_random(ctx->seed);
    c.particles = c.side * c.side;
    c.fixed = suite_host(ctx, uint32_t, c.particles);
    c.a = suite_host(ctx, uint32_t, 4 * c.particles);
    c.b = suite_host(ctx, uint32_t, 4 * c.particles);
    c.rest = suite_host(ctx, float, 4 * c.particles);
    for (int k = 0; k < 3; k++) {
        c.at[k] = suite_host(ctx, float, c.particles);
        c.old[k] = suite_host(ctx, float, c.particles);
        c.move[k] = suite_host(ctx, int32_t, c.particles);
    }
    for (uint32_t i = 0; i < c.particles; i++) {
        const uint32_t row = i / c.side;
        c.at[0][i] = (float)(i % c.side);
        c.at[1][i] = (float)row;
        for (int k = 0; k < 3; k++) {
            c.at[k][i] += 0.1F * suite_random_float(&r);
            c.old[k][i] = c.at[k][i];
        }
    }
    c.fixed[c.particles - c.side] = c.fixed[c.particles - 1] = 1;
    add_springs(&c);
    return c;
}

static void host_integrate(struct cloth *c)
{
    static const float pull[3] = {0, -0.002F, 0.0005F};
    for (uint32_t i = 0; i < c->particles; i++)
        for (int k = 0; k < 3 && !c->fixed[i]; k++) {
            const float p = c->at[k][i];
            c->at[k][i] = p + (p - c->old[k][i]) * 0.99F + pull[k];
            c->old[k][i] = p;
        }
}

static void host_solve(struct cloth *c)
{
    for (uint32_t i = 0; i < c->springs; i++) {
        const uint32_t a = c->a[i], b = c->b[i];
        float d[3];
        for (int k = 0; k < 3; k++) d[k] = c->at[k][b] - c->at[k][a];
        const float length = sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        const float share = 0.5F * UNIT * (length - c->rest[i]) / length;
        for (int k = 0; k < 3; k++) {
            const int32_t m = (int32_t)lrintf(d[k] * share);
            c->move[k][a] += m;
            c->move[k][b] -= m;
        }
    }
}

static void host_write_back(struct cloth *c)
{
    for (uint32_t i = 0; i < c->particles; i++)
        for (int k = 0; k < 3; k++) {
            if (!c->fixed[i]) c->at[k][i] += (float)c->move[k][i] * (0.25F / UNIT);
            c->move[k][i] = 0;
        }
}

/* integrate, solve, solve with plain accesses, write back */
static void run(struct suite_context *ctx, const char *const kernels[4])
{
    const char *const solve = kernels[suite_has_input(ctx) ? 2 : 1];
    struct cloth c = make(ctx);
    const size_t bytes = c.particles * sizeof(float), ends = c.springs * sizeof(uint32_t);
    CUdeviceptr at[3], old[3], move[3], fixed = suite_upload(ctx, c.fixed, bytes);
    CUdeviceptr a = suite_upload(ctx, c.a, ends), b = suite_upload(ctx, c.b, ends);
    CUdeviceptr rest = suite_upload(ctx, c.rest, ends), locks = suite_alloc(ctx, bytes);
    for (int k = 0; k < 3; k++) {
        at[k] = suite_upload(ctx, c.at[k], bytes);
        old[k] = suite_upload(ctx, c.old[k], bytes);
        move[k] = suite_alloc(ctx, bytes);
    }
    const struct suite_dim of_particles = suite_1d(
        (unsigned)suite_blocks(c.particles, EACH * BLOCK));
    const struct suite_dim of_springs = suite_1d((unsigned)suite_blocks(c.springs, EACH * BLOCK));
    for (size_t step = suite_pick(ctx, 2, 8, 20); step > 0; step--) {
        suite_launch(ctx, suite_kernel(ctx, kernels[0]), of_particles, suite_1d(BLOCK), 0,
                     &c.particles, &fixed, &at[0], &at[1], &at[2], &old[0], &old[1], &old[2]);
        suite_launch(ctx, suite_kernel(ctx, solve), of_springs, suite_1d(BLOCK), 0, &c.springs, &a,
                     &b, &rest, &at[0], &at[1], &at[2], &locks, &move[0], &move[1], &move[2]);
        suite_launch(ctx, suite_kernel(ctx, kernels[3]), of_particles, suite_1d(BLOCK), 0,
                     &c.particles, &fixed, &move[0], &move[1], &move[2], &at[0], &at[1], &at[2]);
        host_integrate(&c);
        host_solve(&c);
        host_write_back(&c);
    }
    float *got = suite_host(ctx, float, c.particles);
    static const char *const names[3] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++) {
        suite_read(ctx, got, at[k], bytes);
        suite_verify_f32(ctx, names[k], got, c.at[k], c.particles);
    }
}

void suite_run_cloth(struct suite_context *ctx)
{
    static const char *const kernels[4] = {"cloth_integrate", "cloth_solve", "cloth_solve_plain",
                                           "cloth_write_back"};
    run(ctx, kernels);
}

void suite_run_cloth_opt(struct suite_context *ctx)
{
    static const char *const kernels[4] = {"cloth_integrate_opt", "cloth_solve_opt",
                                           "cloth_solve_opt_plain", "cloth_write_back_opt"};
    run(ctx, kernels);
}
