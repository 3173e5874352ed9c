/* Histograms of bytes; half of them are one of eight values, so that atomics meet. */
#include "suites/suite.h"

enum { BINS = 256, BLOCKS = 128 };

static void histogram(struct suite_context *ctx, const char *kernel)
{
    uint32_t words = (uint32_t)suite_pick(ctx, 1 << 18, 1 << 24, 1 << 24);
    size_t launches = suite_pick(ctx, 1, 3, 30);
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *in = suite_host(ctx, uint32_t, words), got[BINS], want[BINS] = {0};
    for (uint32_t i = 0; i < words; i++) {
        uint64_t x = suite_random_u64(&r);
        for (unsigned b = 0; b < 32; b += 8) {
            uint32_t value = (uint32_t)(x >> b & (x >> (b + 32) & 1 ? 255 : 7));
            in[i] |= value << b;
            want[value] += (uint32_t)launches;
        }
    }
    CUdeviceptr from = suite_upload(ctx, in, words * sizeof *in);
    CUdeviceptr to = suite_alloc(ctx, sizeof got);
    CUfunction f = suite_kernel(ctx, kernel);
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, f, suite_1d(BLOCKS), suite_1d(BINS), 0, &words, &from, &to);
    suite_read(ctx, got, to, sizeof got);
    suite_verify_u32(ctx, "bin", got, want, BINS);
}

void suite_run_histogram_shared(struct suite_context *ctx)
{
    histogram(ctx, "histogram_shared");
}

void suite_run_histogram_global(struct suite_context *ctx)
{
    histogram(ctx, "histogram_global");
}
