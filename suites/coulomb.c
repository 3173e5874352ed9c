/* coulomb: the potential of point charges on a slice of a grid; two launches, each adds half of the charges. Its input
 * "ispass" is one launch of the grid of CP in table 1 of Bakhoda et al. (ISPASS 2009, the thesis's source of the program):
 * 8 by 32 CTAs of 16 by 8 threads, with approximate reciprocal square roots, and as many charges as make about
 * the table's 126 million instructions (117). */
#include "suites/suite.h"

#include <math.h>

enum { BLOCK_X = 16, BLOCK_Y = 8, POINTS = 8, ATOMS = 4000, ISPASS_ATOMS = 90 };

struct atom {
    float x, y, z2, charge;
};

static float spacing = 0.1F;

static void place_atoms(struct suite_random *r, struct atom *atoms, int count, int width,
                        int height)
{
    for (int i = 0; i < count; i++) {
        const float z = 0.05F + suite_random_float(r);
        atoms[i] = (struct atom){(float)width * spacing * suite_random_float(r),
                                 (float)height * spacing * suite_random_float(r), z * z,
                                 2 * suite_random_float(r) - 1};
    }
}

/* Adds the charges in the order of the kernel. */
static void host_add(const struct atom *atoms, int count, int width, int height, float *potential)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int k = x / BLOCK_X % POINTS; /* which of its thread's points it is */
            float sum = 0;
            for (int i = 0; i < count; i++) {
                const float dy = spacing * (float)y - atoms[i].y, rest = dy * dy + atoms[i].z2;
                float dx = spacing * (float)(x - k * BLOCK_X) - atoms[i].x;
                for (int j = 0; j < k; j++) dx += spacing * (float)BLOCK_X;
                sum += atoms[i].charge / sqrtf(dx * dx + rest);
            }
            potential[y * width + x] += sum;
        }
}

/* An approximate reciprocal square root is off by at most 2^-22.9 (PTX ISA, rsqrt.approx.f32), each sum by 2^-24. */
static void verify_near(struct suite_context *ctx, const struct atom *atoms, int count, int width,
                        size_t n, const float *got)
{
    for (size_t p = 0; p < n; p++) {
        const size_t column = p % (size_t)width, row = p / (size_t)width;
        const double x = spacing * (double)column, y = spacing * (double)row;
        double want = 0, size = 0;
        for (int i = 0; i < count; i++) {
            const double dx = x - (double)atoms[i].x, dy = y - (double)atoms[i].y,
                         one = (double)atoms[i].charge /
                               sqrt(dx * dx + dy * dy + (double)atoms[i].z2);
            want += one, size += fabs(one);
        }
        /* positions are sums of some roundings, too, of numbers below 128: at most 2^-18 of a distance of 0.05 */
        if (!(fabs((double)got[p] - want) <= size * ldexp(1, -12)))
            suite_fail(ctx, "potential[%zu] is %.9g, should be near %.9g", p, (double)got[p], want);
    }
}

static void run_ispass(struct suite_context *ctx)
{
    int width = 8 * BLOCK_X * POINTS, count = ISPASS_ATOMS;
    const int height = 32 * BLOCK_Y;
    const size_t n = (size_t)width * (size_t)height;
    struct suite_random r = suite_random(ctx->seed);
    struct atom *atoms = suite_host(ctx, struct atom, ATOMS);
    float *got = suite_host(ctx, float, n);
    CUdeviceptr potential = suite_alloc(ctx, n * sizeof *got);
    place_atoms(&r, atoms, count, width, height);
    suite_constant(ctx, "atoms", atoms, ATOMS * sizeof *atoms);
    suite_launch(ctx, suite_kernel(ctx, "coulomb_slice_approximate"), suite_2d(8, 32),
                 suite_2d(BLOCK_X, BLOCK_Y), 0, &count, &spacing, &width, &potential);
    suite_read(ctx, got, potential, n * sizeof *got);
    verify_near(ctx, atoms, count, width, n, got);
}

void suite_run_coulomb(struct suite_context *ctx)
{
    if (suite_has_input(ctx)) {
        run_ispass(ctx);
        return;
    }
    int width = (int)suite_pick(ctx, 512, 512, 1024);
    const int height = (int)suite_pick(ctx, 256, 512, 1024);
    int count = (int)suite_pick(ctx, 20, 280, 700);
    const size_t n = (size_t)width * (size_t)height, bytes = n * sizeof(float);
    struct suite_random r = suite_random(ctx->seed);
    struct atom *atoms = suite_host(ctx, struct atom, ATOMS);
    float *want = suite_host(ctx, float, n), *got = suite_host(ctx, float, n);
    CUdeviceptr potential = suite_alloc(ctx, bytes);
    for (int launch = 0; launch < 2; launch++) {
        place_atoms(&r, atoms, count, width, height);
        suite_constant(ctx, "atoms", atoms, ATOMS * sizeof *atoms);
        suite_launch(ctx, suite_kernel(ctx, "coulomb_slice"),
                     suite_2d((unsigned)width / (BLOCK_X * POINTS), (unsigned)height / BLOCK_Y),
                     suite_2d(BLOCK_X, BLOCK_Y), 0, &count, &spacing, &width, &potential);
        host_add(atoms, count, width, height, want);
    }
    suite_read(ctx, got, potential, bytes);
    suite_verify_f32(ctx, "potential", got, want, n);
}
