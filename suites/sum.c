/* One sum of floats. Atomics add in any order, so there the sum is only near the exact one; a tree and
 * the ticket locks add in an order of their own, which the host repeats bit for bit. */
#include "suites/suite.h"

#include <math.h>

enum { THREADS = 128 };

/* Of sizes that differ by a factor of 2^12, so that the order of additions shows. */
static float *numbers(struct suite_context *ctx, uint32_t n)
{
    struct suite_random r = suite_random(ctx->seed);
    float *x = suite_host(ctx, float, n);
    for (uint32_t i = 0; i < n; i++)
        x[i] = (suite_random_float(&r) - 0.25F) * (float)(1u << suite_random_below(&r, 13));
    return x;
}

void suite_run_sum_atomic(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_count_of(ctx, 1 << 16, 1 << 22, 1 << 22);
    size_t launches = suite_pick(ctx, 1, 20, 200);
    float *in = numbers(ctx, n), got = 0;
    double sum = 0, size = 0;
    CUdeviceptr di = suite_upload(ctx, in, n * sizeof *in), ds = suite_alloc(ctx, sizeof got);
    for (size_t i = 0; i < launches; i++) {
        suite_zero(ctx, ds, sizeof got);
        suite_launch(ctx, suite_kernel(ctx, "sum_atomic"),
                     suite_1d((unsigned)suite_blocks(n, THREADS)), suite_1d(THREADS), 0, &n, &di,
                     &ds);
    }
    suite_read(ctx, &got, ds, sizeof got);
    for (uint32_t i = 0; i < n; i++) {
        sum += (double)in[i];
        size += fabs((double)in[i]);
    }
    /* n - 1 additions, each wrong by 2^-24 of a partial sum at most, and a little more. */
    if (!(fabs((double)got - sum) <= ldexp(size * n, -24) * 1.5))
        suite_fail(ctx, "the sum is %.9g, should be near %.9g", (double)got, sum);
    suite_note(ctx, "%.9g, exact is %.9g", (double)got, sum);
}

void suite_run_sum_tree(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 16, 1 << 24, 1 << 24);
    size_t times = suite_pick(ctx, 1, 2, 20);
    float *in = numbers(ctx, n), part[THREADS], got = 0;
    CUdeviceptr di = suite_upload(ctx, in, n * sizeof *in), level[2], from = di;
    for (int i = 0; i < 2; i++)
        level[i] = suite_alloc(ctx, suite_blocks(n, 2 * THREADS) * sizeof *in);
    for (size_t k = 0; k < times; k++) {
        from = di;
        for (uint32_t m = n, which = 0, blocks; m > 1; m = blocks, which ^= 1) {
            blocks = (uint32_t)suite_blocks(m, 2 * THREADS);
            suite_launch(ctx, suite_kernel(ctx, "sum_tree"), suite_1d(blocks), suite_1d(THREADS), 0,
                         &m, &from, &level[which]);
            from = level[which];
        }
    }
    suite_read(ctx, &got, from, sizeof got);
    for (uint32_t m = n, blocks; m > 1; m = blocks) {
        blocks = (uint32_t)suite_blocks(m, 2 * THREADS);
        for (uint32_t b = 0; b < blocks; b++) {
            for (uint32_t t = 0; t < THREADS; t++) {
                uint32_t i = b * 2 * THREADS + t;
                part[t] = (i < m ? in[i] : 0) + (i + THREADS < m ? in[i + THREADS] : 0);
            }
            for (uint32_t half = THREADS / 2; half > 0; half /= 2)
                for (uint32_t t = 0; t < half; t++) part[t] += part[t + half];
            in[b] = part[0];
        }
    }
    suite_verify_f32(ctx, "sum", &got, in, 1);
}

static void locked(struct suite_context *ctx, const char *kernel)
{
    uint32_t n = (uint32_t)suite_count_of(ctx, 2000, 500000, 5000000);
    uint32_t lock;
    float *in = numbers(ctx, n), got = 0, want = 0;
    CUdeviceptr di = suite_upload(ctx, in, n * sizeof *in), ds = suite_alloc(ctx, sizeof got);
    CUdeviceptr dl = suite_alloc(ctx, sizeof lock);
    suite_launch(ctx, suite_kernel(ctx, kernel), suite_1d((unsigned)suite_blocks(n, THREADS)),
                 suite_1d(THREADS), 0, &n, &di, &dl, &ds);
    suite_read(ctx, &lock, dl, sizeof lock);
    suite_read(ctx, &got, ds, sizeof got);
    if (lock != 2 * n) suite_fail(ctx, "the lock is at %u, should be at %u", lock, 2 * n);
    for (uint32_t i = 0; i < n; i++) want += in[i];
    suite_verify_f32(ctx, "sum", &got, &want, 1);
}

void suite_run_sum_lock(struct suite_context *ctx)
{
    locked(ctx, "sum_lock");
}

void suite_run_sum_lock_backoff(struct suite_context *ctx)
{
    locked(ctx, "sum_lock_backoff");
}

void suite_run_sum_lock_test(struct suite_context *ctx)
{
    locked(ctx, "sum_lock_test");
}
