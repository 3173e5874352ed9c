/* Results under an order do not depend on the number of host threads: a workload leaves the same memory after each launch,
 * and takes the same way of execution, on 1 and on 2, 4, 7 or 64 threads. Each order takes every third workload, so that
 * each workload is run, but for those that wait long for locks. */
#include "tests/support/support.h"
#include "tests/support/workload.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#ifdef __OPTIMIZE__
enum { EVERY = 3 * THINNED }; /* of the workloads */
#else
enum { EVERY = 15 };
#endif

/* Each workload is run on one thread and on one of the other numbers, which go round. */
static void compare(const char *order, size_t first)
{
    static const unsigned numbers[] = {2, 4, 7, 64};
    uint64_t seen[EMU_EXECUTION_COUNT] = {0};
    for (size_t i = first, n = 0; i < suite_count(); i += EVERY, n++) {
        const struct suite_workload *w = suite_at(i);
        if (workload_waits_long(w->name)) continue;
        const unsigned threads = numbers[n % (sizeof numbers / sizeof *numbers)];
        uint64_t one, many, ways[2][EMU_EXECUTION_COUNT] = {0};
        struct suite_result r = workload_run_on(1, w->name, order, 3, &one, ways[0]);
        cr_expect(r.passed, "%s, %s: %s", w->name, order, r.message);
        r = workload_run_on(threads, w->name, order, 3, &many, ways[1]);
        cr_expect(r.passed, "%s, %s, %u host threads: %s", w->name, order, threads, r.message);
        cr_expect(one == many, "%s, %s: %" PRIx64 ", on %u host threads %" PRIx64, w->name, order,
                  one, threads, many);
        for (int e = 0; e < EMU_EXECUTION_COUNT; e++) {
            cr_expect(ways[0][e] == ways[1][e], "%s, %s: %s %u times, on %u host threads %u times",
                      w->name, order, emu_execution_name((enum emu_execution)e),
                      (unsigned)ways[0][e], threads, (unsigned)ways[1][e]);
            seen[e] += ways[1][e];
        }
    }
    if (THINNED == 1) cr_expect(seen[EMU_CONFLICT_FREE] && seen[EMU_ORDERED]);
}

Test(host_threads, change_no_digest_under_gpudet, .timeout = 900)
{
    compare("gpudet", 0);
}

Test(host_threads, change_no_digest_under_dab, .timeout = 900)
{
    compare("dab", 1);
}

Test(host_threads, change_no_digest_under_random, .timeout = 900)
{
    compare("random", 2);
}
