/* The hardware of GPUDet and DAB (determinism/hardware/): Bloom filter, Z unit, atomic buffer, order of a flush. */
#include "base/rng.h"
#include "determinism/hardware/atomic_buffer.h"
#include "determinism/hardware/flush.h"
#include "determinism/hardware/write_log.h"
#include "determinism/hardware/z_unit.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

Test(hardware, a_log_is_full_when_a_store_may_not_fit_unless_it_is_empty)
{
    cr_expect(not(write_log_is_full(0, 10)));
    cr_expect(not(write_log_is_full(64, 128)));
    cr_expect(write_log_is_full(65, 128));
}

Test(hardware, a_bloom_filter_misses_nothing_and_lets_little_pass)
{
    static const enum bloom_hash hashes[] = {BLOOM_HASH_CHUNK, BLOOM_HASH_LINE};
    for (size_t h = 0; h < 2; h++) {
        const struct bloom f = bloom_of(1024, 4, hashes[h]);
        uint64_t filter[16] = {0}, random = 3;
        uint32_t passed = 0;
        cr_assert(eq(sz, bloom_words(1024), 16));
        for (uint64_t i = 0; i < 32; i++) bloom_add(&f, filter, 1000 + 3 * i);
        for (uint64_t i = 0; i < 32; i++) cr_expect(bloom_may_have(&f, filter, 1000 + 3 * i));
        for (int i = 0; i < 1000; i++)
            passed += bloom_may_have(&f, filter, 5000 + rng_below(&random, 1u << 24));
        cr_expect(lt(u32, passed, 20), "hash %zu", h);
    }
}

/* A request for the chunk that comes at `now` and takes `work` cycles: when it is done. */
static double request(struct z_unit *u, uint64_t chunk, double now, double work, struct z_lookup *z)
{
    const double start = z_unit_admit(u, now);
    *z = z_unit_lookup(u, chunk, start);
    z_unit_complete(u, z->line, start, z->start + work);
    return z->start + work;
}

Test(hardware, a_z_unit_locks_lines_and_evicts_none_that_is_locked)
{
    struct z_unit u;
    struct z_lookup z;
    z_unit_init(&u, 2 * WRITE_LOG_CHUNK, 2, 8, false); /* one set of two lines */
    cr_expect(eq(dbl, request(&u, 1, 0, 100, &z), 100.0));
    cr_expect(not(z.hit || z.blocked || z.evicted));
    cr_expect(eq(dbl, request(&u, 1, 1, 1, &z), 101.0));
    cr_expect(z.hit && z.blocked);
    request(&u, 2, 2, 1, &z);
    cr_expect(eq(dbl, request(&u, 3, 10, 1, &z), 11.0)); /* in place of 2: 1 is locked */
    cr_expect(z.evicted && !z.blocked);
    cr_expect(eq(dbl, request(&u, 1, 200, 1, &z), 201.0));
    cr_expect(z.hit && !z.blocked);
    request(&u, 3, 202, 100, &z);
    request(&u, 1, 203, 50, &z);
    cr_expect(eq(dbl, request(&u, 4, 204, 1, &z), 254.0)); /* both are locked */
    cr_expect(z.blocked && z.evicted);
    z_unit_free(&u);
}

Test(hardware, a_request_buffer_holds_so_many_requests)
{
    for (int in_order = 0; in_order < 2; in_order++) {
        struct z_unit u;
        struct z_lookup z;
        z_unit_init(&u, 16 * WRITE_LOG_CHUNK, 4, 2, in_order);
        request(&u, 1, 0, 100, &z);
        request(&u, 2, 1, 10, &z);
        cr_expect(eq(dbl, request(&u, 3, 2, 1, &z), in_order ? 101.0 : 12.0));
        z_unit_reset(&u);
        cr_expect(eq(dbl, request(&u, 1, 0, 1, &z), 1.0));
        cr_expect(not(z.hit));
        z_unit_free(&u);
    }
}

Test(hardware, a_buffer_takes_what_fits_or_what_an_empty_one_must)
{
    cr_expect(atomic_buffer_fits(0, 32, 8));
    cr_expect(atomic_buffer_fits(3, 8, 8));
    cr_expect(not(atomic_buffer_fits(3, 9, 8)));
    cr_expect(eq(u32, atomic_buffer_first(true, 0, 33), 32));
    cr_expect(eq(u32, atomic_buffer_first(true, 1, 33), 0));
    cr_expect(eq(u32, atomic_buffer_first(true, 2, 32), 0));
    cr_expect(eq(u32, atomic_buffer_first(false, 0, 64), 0));
}

Test(hardware, partitions_take_one_transaction_of_each_sm_in_turn)
{
    const struct flush_turn turns[] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 2}};
    for (size_t i = 0; i < 6; i++)
        for (size_t k = 0; k < 6; k++) {
            const int c = flush_turn_compare(turns[i], turns[k]);
            const bool as_listed = (c < 0) == (i < k) && (c > 0) == (i > k);
            cr_expect(as_listed);
        }
    cr_expect(eq(u64, flush_messages(40, 24), 960));
}
