/* Sums. The host adds floats in the order of the kernels, so the sums are the same bits. */
#include "suites/suite.h"

enum { THREADS = 256, BLOCKS = 64 };

static void of_threads(float *part, size_t block, size_t n, const float *in)
{
    for (size_t t = 0; t < THREADS; t++) {
        part[t] = 0;
        for (size_t i = block * THREADS + t; i < n; i += (size_t)BLOCKS * THREADS) part[t] += in[i];
    }
}

/* part[t] += part[t + half] for halves from `from` down; what lies behind `count` is 0. */
static float fold(float *part, size_t from, size_t count)
{
    for (size_t half = from; half > 0; half /= 2)
        for (size_t t = 0; t < half; t++) part[t] += t + half < count ? part[t + half] : 0;
    return part[0];
}

static float shared_sum(float *part)
{
    return fold(part, THREADS / 2, THREADS);
}

static float shuffled_sum(float *part)
{
    float warps[THREADS / 32];
    for (size_t w = 0; w < THREADS / 32; w++) warps[w] = fold(part + 32 * w, 16, 32);
    return fold(warps, THREADS / 64, THREADS / 32);
}

static void reduce(struct suite_context *ctx, const char *kernel, float (*sum)(float *part))
{
    uint32_t n = (uint32_t)suite_pick(ctx, (1 << 20) - 5, (1 << 25) - 5, (1 << 25) - 5);
    size_t launches = suite_pick(ctx, 1, 5, 50);
    struct suite_random r = suite_random(ctx->seed);
    float *in = suite_host(ctx, float, n), got[BLOCKS], want[BLOCKS], part[THREADS];
    for (uint32_t i = 0; i < n; i++) in[i] = suite_random_float(&r) - 0.25F;
    CUdeviceptr from = suite_upload(ctx, in, n * sizeof *in);
    CUdeviceptr to = suite_alloc(ctx, sizeof got);
    CUfunction f = suite_kernel(ctx, kernel);
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, f, suite_1d(BLOCKS), suite_1d(THREADS), 0, &n, &from, &to);
    suite_read(ctx, got, to, sizeof got);
    for (size_t b = 0; b < BLOCKS; b++) {
        of_threads(part, b, n, in);
        want[b] = sum(part);
    }
    suite_verify_f32(ctx, "sum of block", got, want, BLOCKS);
}

void suite_run_reduce_shared(struct suite_context *ctx)
{
    reduce(ctx, "reduce_shared", shared_sum);
}

void suite_run_reduce_shuffle(struct suite_context *ctx)
{
    reduce(ctx, "reduce_shuffle", shuffled_sum);
}

void suite_run_reduce_atomic(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, (1 << 20) - 5, (1 << 25) - 5, (1 << 25) - 5);
    size_t launches = suite_pick(ctx, 1, 5, 50);
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *in = suite_host(ctx, uint32_t, n);
    uint64_t want = 0, got;
    for (uint32_t i = 0; i < n; i++) {
        in[i] = (uint32_t)suite_random_u64(&r);
        want += in[i] * launches;
    }
    CUdeviceptr from = suite_upload(ctx, in, n * sizeof *in), to = suite_alloc(ctx, sizeof got);
    CUfunction f = suite_kernel(ctx, "reduce_atomic");
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, f, suite_1d(BLOCKS), suite_1d(THREADS), 0, &n, &from, &to);
    suite_read(ctx, &got, to, sizeof got);
    if (got != want)
        suite_fail(ctx, "the sum is %llu, should be %llu", (unsigned long long)got,
                   (unsigned long long)want);
}
