/* bank: the balances do not depend on the order of the transfers. */
#include "suites/suite.h"

struct transfer {
    uint32_t from, to;
    int32_t amount;
};

struct account { /* of the published program */
    uint32_t lock, balance;
};

/* The transfers; `balance` becomes what they leave of it. */
static struct transfer *make_transfers(struct suite_context *ctx, struct suite_random *r,
                                       uint32_t n, uint32_t accounts, uint32_t *balance)
{
    struct transfer *t = suite_host(ctx, struct transfer, n);
    for (uint32_t i = 0; i < n; i++) {
        t[i].from = suite_random_below(r, accounts);
        t[i].to = suite_random_below(r, accounts - 1);
        t[i].to += t[i].to >= t[i].from; /* another account */
        t[i].amount = (int32_t)suite_random_below(r, 100);
        balance[t[i].from] -= (uint32_t)t[i].amount;
        balance[t[i].to] += (uint32_t)t[i].amount;
    }
    return t;
}

/* The numbers of the program that was published with KILO TM: a million accounts, 122,880 transfers by 120 CTAs of 192
 * threads. */
static void run_published(struct suite_context *ctx)
{
    enum { ACCOUNTS = 1000000, TRANSFERS = 122880, CTAS = 120, THREADS = 192 };
    uint32_t n = TRANSFERS;
    struct suite_random r = suite_random(ctx->seed);
    struct account *account = suite_host(ctx, struct account, ACCOUNTS);
    uint32_t *want = suite_host(ctx, uint32_t, ACCOUNTS),
             *got = suite_host(ctx, uint32_t, ACCOUNTS);
    for (uint32_t i = 0; i < ACCOUNTS; i++)
        want[i] = account[i].balance = 1000 + suite_random_below(&r, 1000);
    CUdeviceptr accounts = suite_upload(ctx, account, ACCOUNTS * sizeof *account);
    const struct transfer *t = make_transfers(ctx, &r, n, ACCOUNTS, want);
    CUdeviceptr transfers = suite_upload(ctx, t, n * sizeof *t);
    suite_launch(ctx, suite_kernel(ctx, "bank_published"), suite_1d(CTAS), suite_1d(THREADS), 0, &n,
                 &transfers, &accounts);
    suite_read(ctx, account, accounts, ACCOUNTS * sizeof *account);
    for (uint32_t i = 0; i < ACCOUNTS; i++) {
        got[i] = account[i].balance;
        if (account[i].lock) suite_fail(ctx, "the lock of account %u is taken", i);
    }
    suite_verify_u32(ctx, "balance", got, want, ACCOUNTS);
}

void suite_run_bank(struct suite_context *ctx)
{
    if (suite_has_input(ctx)) {
        run_published(ctx);
        return;
    }
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 17, 1 << 23, 1 << 25);
    uint32_t accounts = (uint32_t)suite_pick(ctx, 8000, 200000, 1000000);
    struct suite_random r = suite_random(ctx->seed);
    uint32_t *want = suite_host(ctx, uint32_t, accounts),
             *got = suite_host(ctx, uint32_t, accounts);
    for (uint32_t i = 0; i < accounts; i++) want[i] = 1000 + suite_random_below(&r, 1000);
    CUdeviceptr balance = suite_upload(ctx, want, accounts * sizeof *want);
    CUdeviceptr locks = suite_alloc(ctx, accounts * sizeof *want);
    const struct transfer *t = make_transfers(ctx, &r, n, accounts, want);
    CUdeviceptr transfers = suite_upload(ctx, t, n * sizeof *t);
    suite_launch(ctx, suite_kernel(ctx, "bank"), suite_1d((unsigned)suite_blocks(n, 128)),
                 suite_1d(128), 0, &n, &transfers, &locks, &balance);
    suite_read(ctx, got, balance, accounts * sizeof *got);
    suite_verify_u32(ctx, "balance", got, want, accounts);
    suite_read(ctx, got, locks, accounts * sizeof *got);
    for (uint32_t i = 0; i < accounts; i++)
        if (got[i]) suite_fail(ctx, "the lock of account %u is taken", i);
}
