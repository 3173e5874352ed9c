/* Gravity by Barnes and Hut, an octree whose cells are made under locks; the host walks a tree of its own. */
#include "suites/suite.h"

#include <math.h>

enum { EMPTY = -1, OCTANTS = 8, STACK = 256 };

static const float HALF = 4, NEAR = 0.5F, SOFT = 1e-3F, STEP = 1e-3F;

struct tree { /* of the host; nodes as in the kernels: below n a body, n + c is cell c */
    uint32_t n, most, cells;
    int *child;
    float *halves;
    float *x[3], *mass; /* of bodies and cells */
    float *a[3], *v[3]; /* of bodies */
};

static unsigned octant(const struct tree *t, const float middle[3], uint32_t body)
{
    unsigned o = 0;
    for (unsigned k = 0; k < 3; k++) o |= (t->x[k][body] >= middle[k] ? 1u : 0) << k;
    return o;
}

static float enter(float middle[3], float half, unsigned octant)
{
    half *= 0.5F;
    for (unsigned k = 0; k < 3; k++) middle[k] += octant >> k & 1 ? half : -half;
    return half;
}

static uint32_t new_cell(struct tree *t, float half)
{
    for (unsigned i = 0; i < OCTANTS; i++) t->child[t->cells * OCTANTS + i] = EMPTY;
    t->halves[t->cells] = half;
    return t->cells++;
}

static void insert(struct suite_context *ctx, struct tree *t, uint32_t body)
{
    float middle[3] = {0, 0, 0}, half = HALF;
    uint32_t cell = 0;
    for (;;) {
        int *at = &t->child[cell * OCTANTS + octant(t, middle, body)];
        const int there = *at;
        if (there == EMPTY) {
            *at = (int)body;
            return;
        }
        half = enter(middle, half, octant(t, middle, body));
        if (there >= (int)t->n) {
            cell = (uint32_t)there - t->n;
            continue;
        }
        if (t->cells == t->most) suite_fail(ctx, "too few cells: bodies are too near");
        cell = new_cell(t, half);
        *at = (int)(t->n + cell);
        t->child[cell * OCTANTS + octant(t, middle, (uint32_t)there)] = there;
    }
}

static void build(struct suite_context *ctx, struct tree *t)
{
    t->cells = 0;
    (void)new_cell(t, HALF);
    for (uint32_t i = 0; i < t->n; i++) insert(ctx, t, i);
    for (uint32_t c = t->cells; c-- > 0;) { /* children come behind their parent */
        float m = 0, sum[3] = {0, 0, 0};
        for (unsigned i = 0; i < OCTANTS; i++) {
            const int of = t->child[c * OCTANTS + i];
            if (of == EMPTY) continue;
            m += t->mass[of];
            for (unsigned k = 0; k < 3; k++) sum[k] = fmaf(t->mass[of], t->x[k][of], sum[k]);
        }
        t->mass[t->n + c] = m;
        for (unsigned k = 0; k < 3; k++) t->x[k][t->n + c] = sum[k] / m;
    }
}

static void pull(struct suite_context *ctx, struct tree *t, uint32_t body)
{
    int stack[STACK];
    unsigned depth = 0;
    float f[3] = {0, 0, 0};
    stack[depth++] = (int)t->n;
    while (depth) {
        const int node = stack[--depth];
        float d[3], d2 = SOFT;
        for (unsigned k = 3; k-- > 0;) {
            d[k] = t->x[k][node] - t->x[k][body];
            d2 = fmaf(d[k], d[k], d2);
        }
        if (node >= (int)t->n) {
            const uint32_t c = (uint32_t)node - t->n;
            const float edge = 2 * t->halves[c];
            if (edge * edge >= NEAR * NEAR * d2) {
                for (unsigned i = OCTANTS; i-- > 0;) {
                    const int of = t->child[c * OCTANTS + i];
                    if (of == EMPTY) continue;
                    if (depth == STACK) suite_fail(ctx, "the stack of the walk is full");
                    stack[depth++] = of;
                }
                continue;
            }
        }
        const float one = 1 / sqrtf(d2), by = t->mass[node] * one * one * one;
        for (unsigned k = 0; k < 3; k++) f[k] = fmaf(by, d[k], f[k]);
    }
    for (unsigned k = 0; k < 3; k++) t->a[k][body] = f[k];
}

static void advance(struct tree *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        for (unsigned k = 0; k < 3; k++) {
            t->v[k][i] = fmaf(t->a[k][i], STEP, t->v[k][i]);
            t->x[k][i] = fmaf(t->v[k][i], STEP, t->x[k][i]);
        }
}

/* Bodies in a ball around 0, denser in its middle. */
static struct tree bodies(struct suite_context *ctx, uint32_t n)
{
    struct tree t = {.n = n, .most = 4 * n};
    struct suite_random r = suite_random(ctx->seed);
    t.child = suite_host(ctx, int, (size_t)t.most *OCTANTS);
    t.halves = suite_host(ctx, float, t.most);
    t.mass = suite_host(ctx, float, n + t.most);
    for (unsigned k = 0; k < 3; k++) {
        t.x[k] = suite_host(ctx, float, n + t.most);
        t.a[k] = suite_host(ctx, float, n);
        t.v[k] = suite_host(ctx, float, n);
    }
    for (uint32_t i = 0; i < n; i++) {
        const float size = suite_random_float(&r);
        for (unsigned k = 0; k < 3; k++) {
            t.x[k][i] = size * (2 * suite_random_float(&r) - 1);
            t.v[k][i] = 0.1F * (suite_random_float(&r) - 0.5F);
        }
        t.mass[i] = (0.5F + suite_random_float(&r)) / (float)n;
    }
    return t;
}

struct device { /* what the kernels have */
    CUdeviceptr child, halves, used, ready, mass, x[3], a[3], v[3];
};

static void step(struct suite_context *ctx, const struct tree *t, struct device *d)
{
    uint32_t n = t->n, most = t->most;
    const unsigned blocks = (unsigned)suite_blocks(n, 256);
    float half = HALF, near = NEAR, soft = SOFT, dt = STEP;
    uint32_t used[2] = {1, 0}; /* the root */
    suite_check(ctx, cuMemsetD32(d->child, ~0u, (size_t)most * OCTANTS));
    suite_zero(ctx, d->ready, most * sizeof(uint32_t));
    suite_write(ctx, d->used, used, sizeof used);
    suite_write(ctx, d->halves, &half, sizeof half);
    suite_launch(ctx, suite_kernel(ctx, "bh_build"), suite_1d(blocks), suite_1d(256), 0, &n, &most,
                 &half, &d->x[0], &d->x[1], &d->x[2], &d->child, &d->halves, &d->used);
    suite_read(ctx, used, d->used, sizeof used);
    if (used[1] || used[0] != t->cells)
        suite_fail(ctx, "the tree has %u cells, not %u", used[0], t->cells);
    suite_launch(ctx, suite_kernel(ctx, "bh_masses"), suite_1d(4), suite_1d(256), 0, &n, &used[0],
                 &d->child, &d->x[0], &d->x[1], &d->x[2], &d->mass, &d->ready);
    suite_launch(ctx, suite_kernel(ctx, "bh_forces"), suite_1d(blocks), suite_1d(256), 0, &n, &near,
                 &soft, &d->child, &d->halves, &d->x[0], &d->x[1], &d->x[2], &d->mass, &d->a[0],
                 &d->a[1], &d->a[2]);
    suite_launch(ctx, suite_kernel(ctx, "bh_advance"), suite_1d(blocks), suite_1d(256), 0, &n, &dt,
                 &d->a[0], &d->a[1], &d->a[2], &d->x[0], &d->x[1], &d->x[2], &d->v[0], &d->v[1],
                 &d->v[2]);
}

void suite_run_barnes_hut(struct suite_context *ctx)
{
    const uint32_t n = (uint32_t)suite_count_of(ctx, 768, 1 << 14, 1 << 17);
    if (n > 1 << 22) suite_fail(ctx, "at most %d bodies, not %u", 1 << 22, n);
    const size_t steps = suite_pick(ctx, 2, 4, 4), all = (size_t)5 * n;
    struct tree t = bodies(ctx, n);
    struct device d = {.child = suite_alloc(ctx, (size_t)t.most * OCTANTS * sizeof(int)),
                       .halves = suite_alloc(ctx, t.most * sizeof(float)),
                       .used = suite_alloc(ctx, 2 * sizeof(uint32_t)),
                       .ready = suite_alloc(ctx, t.most * sizeof(uint32_t)),
                       .mass = suite_upload(ctx, t.mass, all * sizeof(float))};
    for (unsigned k = 0; k < 3; k++) {
        d.x[k] = suite_upload(ctx, t.x[k], all * sizeof(float));
        d.a[k] = suite_alloc(ctx, n * sizeof(float));
        d.v[k] = suite_upload(ctx, t.v[k], n * sizeof(float));
    }
    for (size_t s = 0; s < steps; s++) {
        build(ctx, &t);
        step(ctx, &t, &d);
        for (uint32_t i = 0; i < n; i++) pull(ctx, &t, i);
        advance(&t);
    }
    float *got = suite_host(ctx, float, n);
    for (unsigned k = 0; k < 3; k++) {
        static const char *const x[] = {"x", "y", "z"}, *const v[] = {"vx", "vy", "vz"};
        suite_read(ctx, got, d.x[k], n * sizeof *got);
        suite_verify_f32(ctx, x[k], got, t.x[k], n);
        suite_read(ctx, got, d.v[k], n * sizeof *got);
        suite_verify_f32(ctx, v[k], got, t.v[k], n);
    }
    suite_note(ctx, "%u cells", t.cells);
}
