/* Indices that occur more than once: the last writer of one is any of its writers, and a sum of floats is
 * as near to the exact one as any order of its additions brings it. */
#include "suites/suite.h"

#include <math.h>
#include <string.h>

#define NONE UINT32_MAX

enum { WIDTH = 32 }; /* of the rows of index_add */

/* Half of the indices are one of eight, so that writers meet. */
static uint32_t *indices(struct suite_context *ctx, struct suite_random *r, uint32_t n,
                         uint32_t out)
{
    uint32_t *index = suite_host(ctx, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) index[i] = suite_random_below(r, i % 2 ? out : 8);
    return index;
}

/* Numbers of either sign and of sizes that differ by a factor of 2^12, so that the order of additions shows. */
static float *numbers(struct suite_context *ctx, struct suite_random *r, size_t n)
{
    float *x = suite_host(ctx, float, n);
    for (size_t i = 0; i < n; i++)
        x[i] = (suite_random_float(r) - 0.5F) * (float)(1u << suite_random_below(r, 13));
    return x;
}

void suite_run_scatter_last(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 16, 1 << 26, 1 << 26), size = n / 4;
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *index = indices(ctx, &r, n, size), *out = suite_host(ctx, uint32_t, size);
    uint8_t *written = suite_host(ctx, uint8_t, size);
    CUdeviceptr di = suite_upload(ctx, index, n * sizeof *index);
    CUdeviceptr dout = suite_alloc(ctx, size * sizeof *out);
    suite_check(ctx, cuMemsetD32(dout, NONE, size));
    for (size_t i = 0; i < suite_pick(ctx, 1, 1, 10); i++)
        suite_launch(ctx, suite_kernel(ctx, "scatter_last"),
                     suite_1d((unsigned)suite_blocks(n, 256)), suite_1d(256), 0, &n, &di, &dout);
    suite_read(ctx, out, dout, size * sizeof *out);
    for (uint32_t i = 0; i < n; i++) written[index[i]] = 1;
    for (uint32_t k = 0; k < size; k++)
        if (written[k] ? out[k] >= n || index[out[k]] != k : out[k] != NONE)
            suite_fail(ctx, "out[%u] is %u, which does not go there", k, out[k]);
}

/* What each sum should be, and how far any order of its additions can be from that: n - 1 additions, each
 * wrong by 2^-24 of a partial sum, which is no larger than the sum of the sizes, and a little more. */
struct bound {
    double sum, size;
    uint32_t count;
};

static void verify(struct suite_context *ctx, const float *got, const struct bound *want, size_t n)
{
    double worst = 0;
    for (size_t k = 0; k < n; k++) {
        double off = fabs((double)got[k] - want[k].sum);
        double most = ldexp(want[k].size * want[k].count, -24) * 1.5;
        if (!(off <= most))
            suite_fail(ctx, "sum[%zu] is %.9g, should be %.9g, no farther than %.3g", k,
                       (double)got[k], want[k].sum, most);
        if (off > worst) worst = off;
    }
    suite_note(ctx, "at most %.3g from the exact sums", worst);
}

static void into(struct bound *b, float x, size_t times)
{
    b->sum += (double)x * (double)times;
    b->size += fabs((double)x) * (double)times;
    b->count += (uint32_t)times;
}

void suite_run_index_add(struct suite_context *ctx)
{
    uint32_t rows = (uint32_t)suite_pick(ctx, 1 << 11, 1 << 20, 1 << 20), size = 256;
    size_t times = suite_pick(ctx, 1, 2, 20);
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *index = indices(ctx, &r, rows, size);
    float *in = numbers(ctx, &r, (size_t)rows * WIDTH), *got = suite_host(ctx, float, size *WIDTH);
    struct bound *want = suite_host(ctx, struct bound, size * WIDTH);
    CUdeviceptr di = suite_upload(ctx, index, rows * sizeof *index);
    CUdeviceptr din = suite_upload(ctx, in, (size_t)rows * WIDTH * sizeof *in);
    CUdeviceptr dout = suite_alloc(ctx, size * WIDTH * sizeof *got);
    for (size_t i = 0; i < times; i++)
        suite_launch(ctx, suite_kernel(ctx, "index_add"),
                     suite_1d((unsigned)suite_blocks((size_t)rows * WIDTH, 256)), suite_1d(256), 0,
                     &rows, &di, &din, &dout);
    suite_read(ctx, got, dout, size * WIDTH * sizeof *got);
    for (size_t i = 0; i < (size_t)rows * WIDTH; i++)
        into(&want[index[i / WIDTH] * WIDTH + i % WIDTH], in[i], times);
    verify(ctx, got, want, size * WIDTH);
}

void suite_run_segment_sum(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 16, 1 << 25, 1 << 25), segments = 1000;
    size_t times = suite_pick(ctx, 1, 2, 20);
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *segment = indices(ctx, &r, n, segments);
    float *in = numbers(ctx, &r, n), *got = suite_host(ctx, float, segments);
    struct bound *want = suite_host(ctx, struct bound, segments);
    CUdeviceptr ds = suite_upload(ctx, segment, n * sizeof *segment);
    CUdeviceptr din = suite_upload(ctx, in, n * sizeof *in);
    CUdeviceptr dout = suite_alloc(ctx, segments * sizeof *got);
    for (size_t i = 0; i < times; i++)
        suite_launch(ctx, suite_kernel(ctx, "segment_sum"),
                     suite_1d((unsigned)suite_blocks(n, 256)), suite_1d(256), 0, &n, &ds, &din,
                     &dout);
    suite_read(ctx, got, dout, segments * sizeof *got);
    for (uint32_t i = 0; i < n; i++) into(&want[segment[i]], in[i], times);
    verify(ctx, got, want, segments);
}
