/* Hash tables. What the order of insertion leaves open (which slot, which place in a chain) may be
 * anything; what is in the table may not. */
#include "suites/suite.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define UNUSED (UINT32_MAX - 1)

static uint32_t mix(uint32_t key)
{
    key ^= key >> 16;
    key *= 0x7feb352dU;
    key ^= key >> 15;
    key *= 0x846ca68bU;
    return key ^ key >> 16;
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* n keys, about a quarter of them again; and sorted. */
static void make_keys(struct suite_context *ctx, uint32_t n, uint32_t *keys, uint32_t *sorted)
{
    struct suite_random r = suite_random(ctx->seed);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = i && suite_random_below(&r, 4) == 0 ? keys[suite_random_below(&r, i)]
                                                      : suite_random_below(&r, UNUSED);
    memcpy(sorted, keys, n * sizeof *keys);
    qsort(sorted, n, sizeof *sorted, by_value);
}

void suite_run_hash_chain(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 17, 1 << 23, 1 << 25), buckets = n / 4 - 1;
    size_t bytes = n * sizeof(uint32_t);
    uint32_t *keys = suite_host(ctx, uint32_t, n), *sorted = suite_host(ctx, uint32_t, n);
    uint32_t *next = suite_host(ctx, uint32_t, n), *heads = suite_host(ctx, uint32_t, buckets);
    uint32_t *found = suite_host(ctx, uint32_t, n), *locks = suite_host(ctx, uint32_t, buckets);
    size_t kept = 0, distinct = 0;
    make_keys(ctx, n, keys, sorted);
    CUdeviceptr dk = suite_upload(ctx, keys, bytes), dl = suite_alloc(ctx, buckets * sizeof *locks);
    CUdeviceptr dh = suite_alloc(ctx, buckets * sizeof *heads), dn = suite_alloc(ctx, bytes);
    suite_check(ctx, cuMemsetD32(dh, NONE, buckets));
    suite_check(ctx, cuMemsetD32(dn, UNUSED, n));
    const char *const kernel = suite_has_input(ctx) ? "hash_chain_plain" : "hash_chain";
    suite_launch(ctx, suite_kernel(ctx, kernel), suite_1d((unsigned)suite_blocks(n, 128)),
                 suite_1d(128), 0, &n, &dk, &buckets, &dl, &dh, &dn);
    suite_read(ctx, heads, dh, buckets * sizeof *heads);
    suite_read(ctx, locks, dl, buckets * sizeof *locks);
    suite_read(ctx, next, dn, bytes);
    for (uint32_t b = 0; b < buckets; b++) {
        if (locks[b]) suite_fail(ctx, "the lock of bucket %u is taken", b);
        for (uint32_t at = heads[b]; at != NONE; at = next[at]) {
            if (at >= n || kept == n) suite_fail(ctx, "the chain of bucket %u does not end", b);
            if (mix(keys[at]) % buckets != b)
                suite_fail(ctx, "key %u is in bucket %u", keys[at], b);
            found[kept++] = keys[at];
        }
    }
    qsort(found, kept, sizeof *found, by_value);
    for (uint32_t i = 0; i < n; i++)
        if (!i || sorted[i] != sorted[i - 1]) sorted[distinct++] = sorted[i];
    if (kept != distinct) suite_fail(ctx, "%zu nodes are in chains, should be %zu", kept, distinct);
    suite_verify_u32(ctx, "sorted key", found, sorted, distinct);
}

void suite_run_hash_probe(struct suite_context *ctx)
{
    uint32_t n = (uint32_t)suite_pick(ctx, 1 << 17, 1 << 22, 1 << 23), mask = 2 * n - 1;
    size_t launches = suite_pick(ctx, 1, 4, 20);
    uint32_t *keys = suite_host(ctx, uint32_t, n), *sorted = suite_host(ctx, uint32_t, n);
    uint32_t *slots = suite_host(ctx, uint32_t, (size_t)mask + 1);
    uint32_t *counts = suite_host(ctx, uint32_t, (size_t)mask + 1);
    size_t bytes = ((size_t)mask + 1) * sizeof *slots, distinct = 0, used = 0;
    make_keys(ctx, n, keys, sorted);
    CUdeviceptr dk = suite_upload(ctx, keys, n * sizeof *keys), ds = suite_alloc(ctx, bytes);
    CUdeviceptr dc = suite_alloc(ctx, bytes);
    suite_check(ctx, cuMemsetD32(ds, NONE, (size_t)mask + 1));
    for (size_t i = 0; i < launches; i++)
        suite_launch(ctx, suite_kernel(ctx, "hash_probe"), suite_1d((unsigned)suite_blocks(n, 256)),
                     suite_1d(256), 0, &n, &dk, &mask, &ds, &dc);
    suite_read(ctx, slots, ds, bytes);
    suite_read(ctx, counts, dc, bytes);
    for (size_t i = 0; i <= mask; i++) used += slots[i] != NONE;
    for (size_t i = 0, same; i < n; i += same, distinct++) {
        for (same = 1; i + same < n && sorted[i + same] == sorted[i];) same++;
        uint32_t at = mix(sorted[i]) & mask;
        while (slots[at] != sorted[i]) {
            if (slots[at] == NONE) suite_fail(ctx, "key %u is not found", sorted[i]);
            at = (at + 1) & mask;
        }
        if (counts[at] != same * launches)
            suite_fail(ctx, "key %u came %u times, should be %zu", sorted[i], counts[at],
                       same * launches);
    }
    if (used != distinct) suite_fail(ctx, "%zu slots are in use, should be %zu", used, distinct);
}
