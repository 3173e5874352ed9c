/* Atomics that do not commute. The order is anything; that every thread came once is not. */
#include "suites/suite.h"

#define NONE UINT32_MAX

struct loads {
    uint32_t n, *key, *in;
    uint32_t keys;
    CUdeviceptr dkey, din;
    unsigned blocks;
};

static struct loads start(struct suite_context *ctx, uint32_t n, uint32_t keys)
{
    struct loads l = {.n = n, .keys = keys, .blocks = (unsigned)suite_blocks(n, 256)};
    struct suite_random r = suite_random(ctx->seed);
    l.key = suite_host(ctx, uint32_t, n);
    l.in = suite_host(ctx, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        l.key[i] = suite_random_below(&r, keys);
        l.in[i] = (uint32_t)suite_random_u64(&r);
    }
    l.dkey = suite_upload(ctx, l.key, n * sizeof *l.key);
    l.din = suite_upload(ctx, l.in, n * sizeof *l.in);
    return l;
}

/* From each head the chain leads over every thread of the key, once. */
void suite_run_order_exchange(struct suite_context *ctx)
{
    struct loads l = start(ctx, (uint32_t)suite_pick(ctx, 1 << 16, 1 << 22, 1 << 22), 512);
    size_t bytes = l.n * sizeof(uint32_t);
    uint32_t *prev = suite_host(ctx, uint32_t, l.n), *head = suite_host(ctx, uint32_t, l.keys);
    CUdeviceptr dp = suite_alloc(ctx, bytes), dh = suite_alloc(ctx, l.keys * sizeof *head);
    for (size_t i = 0; i < suite_pick(ctx, 1, 16, 160); i++) {
        suite_check(ctx, cuMemsetD32(dh, NONE, l.keys));
        suite_launch(ctx, suite_kernel(ctx, "order_exchange"), suite_1d(l.blocks), suite_1d(256), 0,
                     &l.n, &l.dkey, &dh, &dp);
    }
    suite_read(ctx, prev, dp, bytes);
    suite_read(ctx, head, dh, l.keys * sizeof *head);
    uint32_t seen = 0;
    for (uint32_t k = 0; k < l.keys; k++)
        for (uint32_t at = head[k]; at != NONE; at = prev[at]) {
            if (at >= l.n || l.key[at] != k || seen == l.n)
                suite_fail(ctx, "the chain of key %u holds %u", k, at);
            seen++;
        }
    if (seen != l.n) suite_fail(ctx, "%u threads are in chains, should be %u", seen, l.n);
}

void suite_run_order_mixed(struct suite_context *ctx)
{
    struct loads l = start(ctx, (uint32_t)suite_pick(ctx, 1 << 16, 1 << 25, 1 << 26), 512);
    size_t bytes = l.keys * sizeof(uint32_t);
    uint32_t *word = suite_host(ctx, uint32_t, l.keys), *lap = suite_host(ctx, uint32_t, l.keys);
    uint32_t *last = suite_host(ctx, uint32_t, l.keys), *want = suite_host(ctx, uint32_t, l.keys);
    uint32_t *count = suite_host(ctx, uint32_t, l.keys),
             launches = (uint32_t)suite_pick(ctx, 1, 1, 5);
    CUdeviceptr dw = suite_alloc(ctx, bytes), dl = suite_alloc(ctx, bytes);
    CUdeviceptr dlast = suite_alloc(ctx, bytes);
    suite_check(ctx, cuMemsetD32(dlast, NONE, l.keys));
    for (uint32_t i = 0; i < launches; i++)
        suite_launch(ctx, suite_kernel(ctx, "order_mixed"), suite_1d(l.blocks), suite_1d(256), 0,
                     &l.n, &l.dkey, &l.din, &dw, &dl, &dlast);
    suite_read(ctx, word, dw, bytes);
    suite_read(ctx, lap, dl, bytes);
    suite_read(ctx, last, dlast, bytes);
    /* The lowest byte has exclusive ors alone, and the bit above it changes as often as in any order. */
    for (uint32_t i = 0; i < l.n; i++) {
        want[l.key[i]] ^= l.in[i] & (i % 2 ? 256 : 511);
        count[l.key[i]]++;
    }
    for (uint32_t k = 0; k < l.keys; k++) {
        uint32_t should = launches % 2 ? want[k] : 0;
        if ((word[k] & 511) != should)
            suite_fail(ctx, "word[%u] ends in 0x%03x, should end in 0x%03x", k, word[k] & 511,
                       should);
        if (lap[k] > 99 || (count[k] == 1 && launches == 1 && lap[k] != 1))
            suite_fail(ctx, "lap[%u] is %u after %u steps", k, lap[k], count[k] * launches);
        if (count[k] ? last[k] >= l.n || l.key[last[k]] != k : last[k] != NONE)
            suite_fail(ctx, "last[%u] is %u, which has another key", k, last[k]);
    }
}

void suite_run_append(struct suite_context *ctx)
{
    struct loads l = start(ctx, (uint32_t)suite_pick(ctx, 1 << 16, 1 << 25, 1 << 25), 1);
    uint32_t *queue = suite_host(ctx, uint32_t, l.n), *times = suite_host(ctx, uint32_t, l.n);
    uint32_t count = 0, want = 0;
    CUdeviceptr dq = suite_alloc(ctx, l.n * sizeof *queue), dc = suite_alloc(ctx, sizeof count);
    for (size_t i = 0; i < suite_pick(ctx, 1, 2, 20); i++) {
        suite_zero(ctx, dc, sizeof count);
        suite_launch(ctx, suite_kernel(ctx, "append"), suite_1d(l.blocks), suite_1d(256), 0, &l.n,
                     &l.din, &dc, &dq);
    }
    suite_read(ctx, &count, dc, sizeof count);
    suite_read(ctx, queue, dq, l.n * sizeof *queue);
    for (uint32_t i = 0; i < l.n; i++) want += l.in[i] % 2;
    if (count != want) suite_fail(ctx, "%u elements are queued, should be %u", count, want);
    for (uint32_t i = 0; i < l.n; i++)
        if (i >= count ? queue[i] != 0
                       : queue[i] >= l.n || l.in[queue[i]] % 2 == 0 || times[queue[i]]++)
            suite_fail(ctx, "place %u of the queue holds %u", i, queue[i]);
}
