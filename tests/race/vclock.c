/* determinism/race/vclock.h: what threads know of each other, against plain vectors of times. */
#include "determinism/race/vclock.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

enum { CTAS = 20, EACH = 40, THREADS = CTAS * EACH, LOCKS = 24, TIMES = 64, STEPS = 3000 };

struct vector {
    uint32_t of[THREADS];
};
struct knower { /* a thread, or what was released at a lock */
    struct clock *clock;
    struct vector plain;
};

static struct knower threads[THREADS], locks[LOCKS];
static uint64_t done_at[THREADS]
                       [TIMES]; /* the tree's time when a thread's own moved on from that */

static void learn(struct clock_tree *t, struct knower *to, const struct knower *from)
{
    clock_learn(t, &to->clock, from->clock);
    for (uint32_t i = 0; i < THREADS; i++)
        if (from->plain.of[i] > to->plain.of[i]) to->plain.of[i] = from->plain.of[i];
}

/* The thread's time, and all that it knows, is at the lock: alone, or with what was there. */
static void release(struct clock_tree *t, uint32_t thread, struct knower *lock, uint32_t when,
                    bool passes_on)
{
    struct knower news = threads[thread];
    const struct clock_entry own = {thread % EACH, when};
    news.clock = clock_after(t, threads[thread].clock, thread / EACH, thread % EACH / 32, &own, 1);
    if (news.plain.of[thread] < when) news.plain.of[thread] = when;
    if (!passes_on) {
        clock_drop(t, lock->clock);
        *lock = (struct knower){0};
    }
    learn(t, lock, &news);
    clock_drop(t, news.clock);
}

static void drop_all(struct clock_tree *t)
{
    for (uint32_t i = 0; i < THREADS; i++) clock_drop(t, threads[i].clock);
    for (uint32_t i = 0; i < LOCKS; i++) clock_drop(t, locks[i].clock);
    memset(threads, 0, sizeof threads);
    memset(locks, 0, sizeof locks);
}

/* Threads take one lock or two and give them back; few of them know little, many know long histories. */
static void play(uint64_t seed, uint32_t active, uint32_t lock_count)
{
    struct clock_tree t = {0};
    uint64_t r = seed;
    uint32_t now[THREADS], wrong = 0;
    for (uint32_t i = 0; i < THREADS; i++) now[i] = 1;
    clock_tree_begin(&t, CTAS);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t thread = rng_below(&r, active) * (THREADS / active);
        struct knower *const both[] = {&locks[rng_below(&r, lock_count)],
                                       &locks[rng_below(&r, lock_count)]};
        if (now[thread] >= TIMES) continue;
        for (uint32_t i = 0; i <= step % 2; i++) learn(&t, &threads[thread], both[i]);
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t of = rng_below(&r, active) * (THREADS / active);
            if (of == thread || now[of] == 1) continue;
            const uint32_t when = 1 + rng_below(&r, now[of] - 1);
            wrong += clock_covers(&t, threads[thread].clock, of / EACH, of % EACH, of % EACH / 32,
                                  when,
                                  done_at[of][when]) != (threads[thread].plain.of[of] >= when);
        }
        done_at[thread][now[thread]] = t.time;
        for (uint32_t i = 0; i <= step % 2; i++)
            release(&t, thread, both[i], now[thread], rng_below(&r, 3) == 0);
        now[thread]++;
    }
    cr_expect_eq(wrong, 0, "seed %u, %u threads, %u locks: %u wrong", (unsigned)seed, active,
                 lock_count, wrong);
    drop_all(&t);
    cr_expect_eq(t.clocks, 0, "%u clocks are left", (unsigned)t.clocks);
    clock_tree_end(&t);
}

Test(knowledge, threads_know_what_they_learned_and_no_more)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        play(seed, THREADS, LOCKS);
        play(seed, THREADS, 1);
        play(seed, 100, LOCKS);
        play(seed, 16, 3);
    }
}
