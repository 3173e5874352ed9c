/* bank: the balances do not depend on the order of the transfers. */
#include "suites/suite.h"

struct transfer {
    uint32_t from, to;
    int32_t amount;
};

void suite_run_bank(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 17, 1 << 23, 1 << 25);
    uint32_t accounts = (uint32_t)suite_pick(ctx, 8000, 200000, 1000000);
    struct suite_random r = suite_random(ctx->seed);
    struct transfer *t = suite_host(ctx, struct transfer, n);
    uint32_t *want = suite_host(ctx, uint32_t, accounts),
             *got = suite_host(ctx, uint32_t, accounts);
    for (uint32_t i = 0; i < accounts; i++) want[i] = 1000 + suite_random_below(&r, 1000);
    CUdeviceptr balance = suite_upload(ctx, want, accounts * sizeof *want);
    CUdeviceptr locks = suite_alloc(ctx, accounts * sizeof *want);
    for (uint32_t i = 0; i < n; i++) {
        t[i].from = suite_random_below(&r, accounts);
        t[i].to = suite_random_below(&r, accounts - 1);
        t[i].to += t[i].to >= t[i].from; /* another account */
        t[i].amount = (int32_t)suite_random_below(&r, 100);
        want[t[i].from] -= (uint32_t)t[i].amount;
        want[t[i].to] += (uint32_t)t[i].amount;
    }
    CUdeviceptr transfers = suite_upload(ctx, t, n * sizeof *t);
    suite_launch(ctx, suite_kernel(ctx, "bank"), suite_1d((unsigned)suite_blocks(n, 128)),
                 suite_1d(128), 0, &n, &transfers, &locks, &balance);
    suite_read(ctx, got, balance, accounts * sizeof *got);
    suite_verify_u32(ctx, "balance", got, want, accounts);
    suite_read(ctx, got, locks, accounts * sizeof *got);
    for (uint32_t i = 0; i < accounts; i++)
        if (got[i]) suite_fail(ctx, "the lock of account %u is taken", i);
}
