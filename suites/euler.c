/* euler: flow over a flat mesh of four-sided elements whose numbers are mixed within windows, so that neighbours are near
 * but not next to each other. The lower edge is a wall, the others are far fields. */
#include "suites/suite.h"

#include <math.h>

enum { FACES = 4, VARIABLES = 5, WALL = -1, FAR_FIELD = -2, BLOCK = 192, WINDOW = 64 };
static const float gamma_of_air = 1.4F, smoothing = 0.2F;

struct mesh {
    int elements, *neighbour;
    float *normal, *area, far_field[VARIABLES];
};

struct state {
    float density, momentum[3], energy, velocity[3], pressure, speed, sound;
};

static struct state state_of(const float *v, size_t stride)
{
    struct state s = {.density = v[0], .energy = v[4 * stride]};
    float squares = 0;
    for (size_t i = 0; i < 3; i++) {
        s.momentum[i] = v[(1 + i) * stride];
        s.velocity[i] = s.momentum[i] / s.density;
        squares = fmaf(s.velocity[i], s.velocity[i], squares);
    }
    s.pressure = (gamma_of_air - 1) * (s.energy - 0.5F * s.density * squares);
    s.speed = sqrtf(squares);
    s.sound = sqrtf(gamma_of_air * s.pressure / s.density);
    return s;
}

static void add_face(const struct state *a, const struct state *b, const float *n, bool viscous,
                     float *sum)
{
    if (viscous) {
        float squares = 0;
        for (int i = 0; i < 3; i++) squares = fmaf(n[i], n[i], squares);
        const float k = -sqrtf(squares) * smoothing * 0.5F *
                        (a->speed + b->speed + a->sound + b->sound);
        sum[0] = fmaf(k, a->density - b->density, sum[0]);
        for (int i = 0; i < 3; i++)
            sum[1 + i] = fmaf(k, a->momentum[i] - b->momentum[i], sum[1 + i]);
        sum[4] = fmaf(k, a->energy - b->energy, sum[4]);
    }
    for (int i = 0; i < 3; i++) {
        const float k = 0.5F * n[i];
        sum[0] = fmaf(k, b->momentum[i] + a->momentum[i], sum[0]);
        for (int j = 0; j < 3; j++) {
            float through = fmaf(b->velocity[i], b->momentum[j], a->velocity[i] * a->momentum[j]);
            if (i == j) through += b->pressure + a->pressure;
            sum[1 + j] = fmaf(k, through, sum[1 + j]);
        }
        sum[4] = fmaf(k,
                      fmaf(b->velocity[i], b->energy + b->pressure,
                           a->velocity[i] * (a->energy + a->pressure)),
                      sum[4]);
    }
}

static void host_flux(const struct mesh *m, const float *variable, float *flux)
{
    const size_t elements = (size_t)m->elements;
    const struct state far = state_of(m->far_field, 1);
    for (size_t e = 0; e < elements; e++) {
        const struct state a = state_of(&variable[e], elements);
        float sum[VARIABLES] = {0};
        for (size_t f = 0; f < FACES; f++) {
            const int other = m->neighbour[f * elements + e];
            float n[3];
            for (size_t i = 0; i < 3; i++) n[i] = m->normal[(f * 3 + i) * elements + e];
            if (other == WALL) {
                for (int i = 0; i < 3; i++) sum[1 + i] = fmaf(n[i], a.pressure, sum[1 + i]);
            } else {
                const struct state b = other < 0 ? far : state_of(&variable[other], elements);
                add_face(&a, &b, n, other >= 0, sum);
            }
        }
        for (size_t v = 0; v < VARIABLES; v++) flux[v * elements + e] = sum[v];
    }
}

static void host_step(const struct mesh *m, float *variable, float *old, float *factor, float *flux)
{
    const size_t elements = (size_t)m->elements;
    for (size_t i = 0; i < VARIABLES * elements; i++) old[i] = variable[i];
    for (size_t e = 0; e < elements; e++) {
        const struct state s = state_of(&variable[e], elements);
        factor[e] = 0.5F / (sqrtf(m->area[e]) * (s.speed + s.sound));
    }
    for (int stage = 1; stage <= 3; stage++) {
        host_flux(m, variable, flux);
        for (size_t i = 0; i < VARIABLES * elements; i++) {
            const float k = factor[i % elements] / (float)(4 - stage);
            variable[i] = old[i] + k * flux[i];
        }
    }
}

/* A grid of side x side, whose place p is element number[p]. */
static struct mesh make_mesh(struct suite_context *ctx, struct suite_random *r, int side)
{
    struct mesh m = {.elements = side * side};
    const size_t elements = (size_t)m.elements;
    int *number = suite_host(ctx, int, elements);
    m.neighbour = suite_host(ctx, int, FACES *elements);
    m.normal = suite_host(ctx, float, 3 * FACES * elements);
    m.area = suite_host(ctx, float, elements);
    for (int p = 0; p < m.elements; p++) number[p] = p;
    for (int p = 0; p < m.elements; p++) {
        const int first = p / WINDOW * WINDOW, behind = first + WINDOW;
        const int end = behind < m.elements ? behind : m.elements;
        const int other = p + (int)suite_random_below(r, (uint32_t)(end - p)), old = number[p];
        number[p] = number[other];
        number[other] = old;
    }
    static const int dx[FACES] = {-1, 1, 0, 0}, dy[FACES] = {0, 0, -1, 1};
    for (int p = 0; p < m.elements; p++) {
        const size_t e = (size_t)number[p];
        m.area[e] = 1 + 0.1F * suite_random_float(r);
        for (size_t f = 0; f < FACES; f++) {
            const int x = p % side + dx[f], y = p / side + dy[f];
            const bool inside = x >= 0 && y >= 0 && x < side && y < side;
            m.neighbour[f * elements + e] = inside  ? number[y * side + x]
                                            : y < 0 ? WALL
                                                    : FAR_FIELD;
            const float normal[3] = {-0.9F * (float)dx[f], -1.1F * (float)dy[f],
                                     -0.02F * (float)(dx[f] + dy[f])};
            for (size_t i = 0; i < 3; i++) m.normal[(f * 3 + i) * elements + e] = normal[i];
        }
    }
    /* density 1.4, pressure 1, Mach 1.2 along x */
    const float density = 1.4F, speed = 1.2F, pressure = 1;
    m.far_field[0] = density;
    m.far_field[1] = density * speed;
    m.far_field[4] = 0.5F * density * speed * speed + pressure / (gamma_of_air - 1);
    return m;
}

void suite_run_euler(struct suite_context *ctx)
{
    struct suite_random r = suite_random(ctx->seed);
    struct mesh m = make_mesh(ctx, &r, (int)suite_pick(ctx, 64, 312, 440));
    const size_t elements = (size_t)m.elements, n = VARIABLES * elements, bytes = n * sizeof(float);
    float *variable = suite_host(ctx, float, n), *old = suite_host(ctx, float, n);
    float *flux = suite_host(ctx, float, n), *factor = suite_host(ctx, float, elements);
    for (size_t i = 0; i < n; i++)
        variable[i] = m.far_field[i / elements] * (1 + 0.01F * suite_random_float(&r));
    CUdeviceptr neighbour = suite_upload(ctx, m.neighbour, FACES * elements * sizeof(int));
    CUdeviceptr normal = suite_upload(ctx, m.normal, 3 * FACES * elements * sizeof(float));
    CUdeviceptr area = suite_upload(ctx, m.area, elements * sizeof(float));
    CUdeviceptr now = suite_upload(ctx, variable, bytes), before = suite_alloc(ctx, bytes);
    CUdeviceptr fluxes = suite_alloc(ctx, bytes);
    CUdeviceptr factors = suite_alloc(ctx, elements * sizeof(float));
    const struct state far = state_of(m.far_field, 1);
    suite_constant(ctx, "far_field", &far, sizeof far);
    const struct suite_dim grid = suite_1d((unsigned)suite_blocks(elements, BLOCK));
    for (size_t step = suite_pick(ctx, 2, 8, 40); step > 0; step--) {
        suite_check(ctx, cuMemcpyDtoD(before, now, bytes));
        suite_launch(ctx, suite_kernel(ctx, "euler_step_factor"), grid, suite_1d(BLOCK), 0,
                     &m.elements, &now, &area, &factors);
        for (int stage = 1; stage <= 3; stage++) {
            suite_launch(ctx, suite_kernel(ctx, "euler_flux"), grid, suite_1d(BLOCK), 0,
                         &m.elements, &neighbour, &normal, &now, &fluxes);
            suite_launch(ctx, suite_kernel(ctx, "euler_time_step"), grid, suite_1d(BLOCK), 0,
                         &stage, &m.elements, &before, &factors, &fluxes, &now);
        }
        host_step(&m, variable, old, factor, flux);
    }
    suite_read(ctx, old, now, bytes);
    suite_verify_f32(ctx, "variables", old, variable, n);
}
