/* ticket: each warp is served once, and the sum it saw is that of those before it. */
#include "suites/suite.h"

void suite_run_ticket(struct suite_context *ctx)
{
    uint32_t warps = (uint32_t)suite_pick(ctx, 100, 5000, 20000), n = warps * 32 - 5;
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *in = suite_host(ctx, uint32_t, (size_t)warps * 32);
    uint32_t *order = suite_host(ctx, uint32_t, warps), *running = suite_host(ctx, uint32_t, warps);
    uint32_t *served = suite_host(ctx, uint32_t, warps), sum = 0, got;
    for (uint32_t i = 0; i < n; i++) in[i] = (uint32_t)suite_random_u64(&r);
    CUdeviceptr di = suite_upload(ctx, in, n * sizeof *in), lock = suite_alloc(ctx, 8);
    CUdeviceptr ds = suite_alloc(ctx, sizeof sum);
    CUdeviceptr dorder = suite_alloc(ctx, warps * sizeof *order);
    CUdeviceptr drunning = suite_alloc(ctx, warps * sizeof *running);
    suite_launch(ctx, suite_kernel(ctx, "ticket"), suite_1d((unsigned)suite_blocks(n, 128)),
                 suite_1d(128), 0, &n, &di, &lock, &ds, &dorder, &drunning);
    suite_read(ctx, order, dorder, warps * sizeof *order);
    suite_read(ctx, running, drunning, warps * sizeof *running);
    suite_read(ctx, &got, ds, sizeof got);
    for (uint32_t i = 0; i < warps; i++) {
        uint32_t w = order[i];
        if (w >= warps || served[w]++) suite_fail(ctx, "ticket %u was warp %u's", i, w);
        for (size_t lane = 0; lane < 32; lane++) sum += in[(size_t)w * 32 + lane];
        if (running[i] != sum)
            suite_fail(ctx, "the sum at ticket %u is %u, should be %u", i, running[i], sum);
    }
    if (got != sum) suite_fail(ctx, "the sum is %u, should be %u", got, sum);
}
