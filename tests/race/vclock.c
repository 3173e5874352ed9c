/* determinism/race/vclock.h: vector clocks, against plain arrays of epochs. */
#include "determinism/race/vclock.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CTAS = 20, EACH = 40, THREADS = CTAS * EACH, LOCKS = 24, TIMES = 64, STEPS = 3000 };

struct vector {
    uint32_t of[THREADS];
};
struct party { /* a thread or a lock, with its clock in both forms */
    struct vclock *clock;
    struct vector plain;
};

static struct party threads[THREADS], locks[LOCKS];
static uint64_t done_at[THREADS]
                       [TIMES]; /* vclock_store.joins at the end of each epoch of a thread */

static void acquire_from(struct vclock_store *t, struct party *to, const struct party *from)
{
    vclock_join(t, &to->clock, from->clock);
    for (uint32_t i = 0; i < THREADS; i++)
        if (from->plain.of[i] > to->plain.of[i]) to->plain.of[i] = from->plain.of[i];
}

/* The thread releases its clock at the lock, in place of what was there or (passes_on) in addition. */
static void release(struct vclock_store *t, uint32_t thread, struct party *lock, uint32_t epoch,
                    bool passes_on)
{
    struct party published = threads[thread];
    const struct vclock_release own = {
        .cta = thread / EACH, .thread = thread % EACH, .epoch = epoch};
    published.clock = vclock_extend(t, threads[thread].clock, &own);
    if (published.plain.of[thread] < epoch) published.plain.of[thread] = epoch;
    if (!passes_on) {
        vclock_unref(t, lock->clock);
        *lock = (struct party){0};
    }
    acquire_from(t, lock, &published);
    vclock_unref(t, published.clock);
}

static void drop_all(struct vclock_store *t)
{
    for (uint32_t i = 0; i < THREADS; i++) vclock_unref(t, threads[i].clock);
    for (uint32_t i = 0; i < LOCKS; i++) vclock_unref(t, locks[i].clock);
    memset(threads, 0, sizeof threads);
    memset(locks, 0, sizeof locks);
}

enum {
    OFTEN = 100,
    TREE_BYTES = CTAS * (EACH * 8 + 64) + 3 * 256
}; /* of leaves for all threads, and inner nodes */

/* Threads acquire none, one or two locks and release one or two. With few threads clocks stay small. Of three
 * queries two are quick. Returns how many of these were cut. `condensed` (or NULL): the clocks
 * are condensed all OFTEN steps, and the bytes are added that this frees; then threads may count as knowing more, but not
 * what nobody has released. */
static uint32_t play(uint64_t seed, uint32_t active, uint32_t lock_count, uint64_t *condensed)
{
    const bool condenses = condensed;
    struct vclock_store t = {0};
    uint64_t r = seed;
    uint32_t now[THREADS], wrong = 0, cuts = 0;
    for (uint32_t i = 0; i < THREADS; i++) now[i] = 1;
    vclock_store_begin(&t, CTAS, EACH);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t thread = rng_below(&r, active) * (THREADS / active);
        struct party *const both[] = {&locks[rng_below(&r, lock_count)],
                                      &locks[rng_below(&r, lock_count)]};
        if (now[thread] >= TIMES) continue;
        const bool acquires = rng_below(&r, 3); /* otherwise it releases what it knew before */
        for (uint32_t i = 0; acquires && i <= step % 2; i++)
            acquire_from(&t, &threads[thread], both[i]);
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t of = rng_below(&r, active) * (THREADS / active);
            if (of == thread || now[of] == 1) continue;
            const uint32_t epoch = 1 + rng_below(&r, now[of] - 1);
            const bool knows = threads[thread].plain.of[of] >= epoch;
            t.effort = (enum vclock_effort)(i % 3);
            t.cut = false;
            const bool covers = vclock_covers(&t, threads[thread].clock, of / EACH, of % EACH,
                                              of % EACH / 32, epoch, done_at[of][epoch]);
            /* A search that is cut finds nothing. */
            wrong += t.cut ? covers : condenses ? knows && !covers : covers != knows;
            cuts += t.cut;
            t.effort = VCLOCK_ALL;
            wrong += vclock_covers(&t, threads[thread].clock, of / EACH, of % EACH, of % EACH / 32,
                                   now[of], t.joins);
        }
        done_at[thread][now[thread]] = t.joins;
        for (uint32_t i = 0; i <= step % 2; i++)
            release(&t, thread, both[i], now[thread], rng_below(&r, 3) == 0);
        now[thread]++;
        const uint64_t size = t.bytes;
        if (!condenses || step % OFTEN) continue;
        vclock_condense(&t);
        cr_expect_leq(t.bytes, size + TREE_BYTES); /* the tree may be larger than few clocks are */
        if (t.bytes < size) *condensed += size - t.bytes;
    }
    cr_expect_eq(wrong, 0, "seed %u, %u threads, %u locks: %u wrong", (unsigned)seed, active,
                 lock_count, wrong);
    drop_all(&t);
    cr_expect_eq(t.live, 0, "%u clocks are left", (unsigned)t.live);
    vclock_store_end(&t);
    return cuts;
}

Test(vclock, threads_know_what_they_learned_and_no_more)
{
    uint32_t cuts = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        cuts += play(seed, THREADS, LOCKS, NULL);
        cuts += play(seed, THREADS, 1, NULL);
        cuts += play(seed, 100, LOCKS, NULL);
        cuts += play(seed, 16, 3, NULL);
    }
    cr_expect_gt(cuts, 0, "no quick search was cut");
}

Test(vclock, condensed_clocks_forget_nothing_that_is_known)
{
    uint64_t condensed = 0;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        play(seed, THREADS, LOCKS, &condensed);
        play(seed, THREADS, 1, &condensed);
        play(seed, 100, LOCKS, &condensed);
    }
    cr_expect_gt(condensed, 1000000, "%u bytes were freed", (unsigned)condensed);
}
