/* coulomb: the potential of point charges on a slice of a grid; two launches, each adds half of the charges. */
#include "suites/suite.h"

#include <math.h>

enum { BLOCK_X = 16, BLOCK_Y = 8, POINTS = 8, ATOMS = 4000 };

struct atom {
    float x, y, z2, charge;
};

static float spacing = 0.1F;

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

void suite_run_coulomb(struct suite_context *ctx)
{
    int width = (int)suite_pick(ctx, 512, 512, 1024);
    const int height = (int)suite_pick(ctx, 256, 512, 1024);
    int count = (int)suite_pick(ctx, 20, 280, 700);
    const size_t n = (size_t)width * (size_t)height, bytes = n * sizeof(float);
    struct suite_random r = suite_random(ctx->seed);
    struct atom *atoms = suite_host(ctx, struct atom, ATOMS);
    float *want = suite_host(ctx, float, n), *got = suite_host(ctx, float, n);
    CUdeviceptr potential = suite_alloc(ctx, bytes);
    for (int launch = 0; launch < 2; launch++) {
        for (int i = 0; i < count; i++) {
            const float z = 0.05F + suite_random_float(&r);
            atoms[i] = (struct atom){(float)width * spacing * suite_random_float(&r),
                                     (float)height * spacing * suite_random_float(&r), z * z,
                                     2 * suite_random_float(&r) - 1};
        }
        suite_constant(ctx, "atoms", atoms, ATOMS * sizeof *atoms);
        suite_launch(ctx, suite_kernel(ctx, "coulomb_slice"),
                     suite_2d((unsigned)width / (BLOCK_X * POINTS), (unsigned)height / BLOCK_Y),
                     suite_2d(BLOCK_X, BLOCK_Y), 0, &count, &spacing, &width, &potential);
        host_add(atoms, count, width, height, want);
    }
    suite_read(ctx, got, potential, bytes);
    suite_verify_f32(ctx, "potential", got, want, n);
}
