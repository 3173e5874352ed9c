/* Speculation (emu/speculate/speculation.h) changes no result: every workload but those that wait long for locks, under
 * every order, leaves the same memory after each launch with and without it. */
#include "tests/support/support.h"
#include "tests/support/workload.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#ifdef __OPTIMIZE__
enum { EVERY = THINNED }; /* of the workloads */
#else
enum { EVERY = 5 };
#endif

/* How often each execution occurs with speculation, in all workloads. */
static void compare(const char *order, uint64_t total[EMU_EXECUTION_COUNT])
{
    /* With sanitizers not those that spin at a lock for long. */
    for (size_t i = EVERY - 1; i < suite_count(); i += EVERY) {
        const struct suite_workload *w = suite_at(i);
        if (workload_waits_long(w->name)) continue;
        uint64_t on, off, plain[EMU_EXECUTION_COUNT] = {0};
        struct suite_result r = workload_run_with(w->name, order, 3, true, &on, total);
        cr_expect(r.passed, "%s, %s: %s", w->name, order, r.message);
        r = workload_run_with(w->name, order, 3, false, &off, plain);
        cr_expect(r.passed, "%s, %s, without speculation: %s", w->name, order, r.message);
        cr_expect(on == off, "%s, %s: %" PRIx64 ", without speculation %" PRIx64, w->name, order,
                  on, off);
        for (int e = 0; e < EMU_EXECUTION_COUNT; e++)
            cr_expect((plain[e] != 0) == (e == EMU_ORDERED), "%s, %s: %s", w->name, order,
                      emu_execution_name((enum emu_execution)e));
    }
}

Test(speculation, changes_no_digest_under_gpudet, .timeout = 900)
{
    uint64_t n[EMU_EXECUTION_COUNT] = {0};
    compare("gpudet", n);
    cr_expect(n[EMU_CONFLICT_FREE] && n[EMU_ROLLED_BACK] && n[EMU_ORDERED]);
    cr_expect(!n[EMU_NATIVE] && !n[EMU_DEFERRED_REDUCTIONS]);
}

Test(speculation, changes_no_digest_under_dab, .timeout = 900)
{
    uint64_t n[EMU_EXECUTION_COUNT] = {0};
    compare("dab", n);
    cr_expect(n[EMU_CONFLICT_FREE] && n[EMU_ROLLED_BACK] && n[EMU_ORDERED]);
    cr_expect(!n[EMU_NATIVE] && n[EMU_DEFERRED_REDUCTIONS]);
}

Test(speculation, changes_no_digest_under_random, .timeout = 900)
{
    uint64_t n[EMU_EXECUTION_COUNT] = {0};
    compare("random", n);
    cr_expect(n[EMU_CONFLICT_FREE] && n[EMU_ROLLED_BACK] && n[EMU_ORDERED]);
    cr_expect(!n[EMU_NATIVE] && !n[EMU_DEFERRED_REDUCTIONS]);
}
