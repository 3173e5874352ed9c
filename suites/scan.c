/* Prefix sums. */
#include "suites/suite.h"

enum { THREADS = 256, BLOCK = 2 * THREADS };

struct input {
    uint32_t n;
    uint32_t *in, *want;
};

static struct input make(struct suite_context *ctx)
{
    struct input s = {
        .n = (uint32_t)suite_pick(ctx, (1 << 17) - 77, (1 << 24) - 77, (1 << 24) - 77)};
    struct suite_random r = suite_random(ctx->seed);
    uint32_t sum = 0;
    s.in = suite_host(ctx, uint32_t, s.n);
    s.want = suite_host(ctx, uint32_t, s.n);
    for (uint32_t i = 0; i < s.n; i++) {
        s.in[i] = (uint32_t)suite_random_u64(&r);
        s.want[i] = sum;
        sum += s.in[i];
    }
    return s;
}

static void verify(struct suite_context *ctx, const struct input *s, CUdeviceptr to)
{
    suite_read(ctx, s->in, to, s->n * sizeof *s->in);
    suite_verify_u32(ctx, "prefix sum", s->in, s->want, s->n);
}

/* Each level scans the sums of the blocks of the one below. */
static void scan_level(struct suite_context *ctx, uint32_t n, CUdeviceptr in, CUdeviceptr out)
{
    unsigned blocks = (unsigned)suite_blocks(n, BLOCK);
    CUdeviceptr sums = suite_alloc(ctx, blocks * sizeof(uint32_t));
    suite_launch(ctx, suite_kernel(ctx, "scan_block"), suite_1d(blocks), suite_1d(THREADS), 0, &n,
                 &in, &out, &sums);
    if (blocks > 1) {
        scan_level(ctx, blocks, sums, sums);
        suite_launch(ctx, suite_kernel(ctx, "scan_add"), suite_1d(blocks), suite_1d(THREADS), 0, &n,
                     &out, &sums);
    }
    suite_release(ctx, sums);
}

void suite_run_scan_blocks(struct suite_context *ctx)
{
    struct input s = make(ctx);
    CUdeviceptr from = suite_upload(ctx, s.in, s.n * sizeof *s.in);
    CUdeviceptr to = suite_alloc(ctx, s.n * sizeof *s.in);
    for (size_t i = suite_pick(ctx, 1, 1, 10); i > 0; i--) scan_level(ctx, s.n, from, to);
    verify(ctx, &s, to);
}

void suite_run_scan_lookback(struct suite_context *ctx)
{
    struct input s = make(ctx);
    unsigned blocks = (unsigned)suite_blocks(s.n, THREADS);
    CUdeviceptr from = suite_upload(ctx, s.in, s.n * sizeof *s.in);
    CUdeviceptr to = suite_alloc(ctx, s.n * sizeof *s.in);
    CUdeviceptr ticket = suite_alloc(ctx, sizeof(uint32_t));
    CUdeviceptr states = suite_alloc(ctx, blocks * sizeof(uint64_t));
    for (size_t i = suite_pick(ctx, 1, 1, 10); i > 0; i--) {
        suite_zero(ctx, ticket, sizeof(uint32_t));
        suite_zero(ctx, states, blocks * sizeof(uint64_t));
        suite_launch(ctx, suite_kernel(ctx, "scan_lookback"), suite_1d(blocks), suite_1d(THREADS),
                     0, &s.n, &from, &to, &ticket, &states);
    }
    verify(ctx, &s, to);
}
