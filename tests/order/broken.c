/* The broken programs of tests/broken/broken.def: `random` gives each of them away, by every strategy that is offered for it.
 * docs/orders.md has a table of how many seeds that takes (make broken). */
#include "tests/support/broken.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(broken, .timeout = 120);

Test(broken, random_shows_a_wrong_result_of_each)
{
    struct broken_bench *b = broken_bench_new();
    for (size_t i = 0; i < broken_count; i++)
        cr_expect(broken_first_wrong(b, i, "random", 1000), "%s: %s", broken_programs[i].kernel,
                  broken_programs[i].bug);
    broken_bench_free(b);
}

Test(broken, the_strategy_conflicts_shows_a_wrong_result_of_each)
{
    struct broken_bench *b = broken_bench_new();
    for (size_t i = 0; i < broken_count; i++)
        cr_expect(broken_first_wrong(b, i, "random:strategy=conflicts", 300), "%s",
                  broken_programs[i].kernel);
    broken_bench_free(b);
}

/* `random` stands for any GPU: what an H200 showed (tests/broken/h200.tsv) it shows within as many tries, or within 50. */
Test(broken, random_is_not_behind_a_gpu)
{
    struct broken_bench *b = broken_bench_new();
    struct broken_measured gpu = {0};
    cr_assert(broken_read_measured("tests/broken/h200.tsv", &gpu));
    for (size_t i = 0; i < broken_count; i++) {
        const uint64_t wrong = gpu.alone[i] > gpu.beside[i] ? gpu.alone[i] : gpu.beside[i];
        const uint64_t tries = wrong ? gpu.launches / wrong : 0, seeds = tries < 50 ? 50 : tries;
        if (!wrong) continue;
        cr_expect(broken_first_wrong(b, i, "random", seeds), "%s: wrong in %llu of %llu launches",
                  broken_programs[i].kernel, (unsigned long long)wrong,
                  (unsigned long long)gpu.launches);
    }
    broken_bench_free(b);
}

/* The bugs are seldom seen: without an order most of the programs are right. (Not one whose writer does not wait.) */
Test(broken, most_are_right_without_an_order)
{
    struct broken_bench *b = broken_bench_new();
    size_t right = 0;
    for (size_t i = 0; i < broken_count; i++) {
        uint32_t result = 0;
        right += broken_run(b, i, NULL, 0, &result) && result == broken_programs[i].right;
    }
    cr_expect_geq(right, broken_count - 6, "%zu of %zu", right, broken_count);
    broken_bench_free(b);
}

/* Speculation takes reductions of one kind for free of conflicts; of the CTA's scope they are not atomic between CTAs. */
Test(broken, atomics_of_a_cta_are_lost_without_a_switch)
{
    struct broken_bench *b = broken_bench_new();
    for (size_t i = 0; i < broken_count; i++) {
        if (strcmp(broken_programs[i].kernel, "atomic_of_cta") != 0) continue;
        cr_expect_gt(broken_count_wrong(b, i, "random", 50), 25);
        cr_expect_eq(broken_count_wrong(b, i, "random:scopes=off", 50), 0);
        cr_expect_eq(broken_count_wrong(b, i, "gpudet", 50), 0);
    }
    broken_bench_free(b);
}
