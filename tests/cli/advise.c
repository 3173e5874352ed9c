/* heddle advise: what is promised for the slow variant of a workload is what the fast one saves. */
#define _GNU_SOURCE
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(advise, .timeout = 120);

static json_t *document(const char *words)
{
    char command[500];
    const char *program = getenv("HEDDLE");
    snprintf(command, sizeof command, "%s %s --format=json 2>/dev/null",
             program ? program : "./heddle", words);
    FILE *p = popen(command, "r");
    json_t *d = json_loadf(p, 0, NULL);
    const int status = pclose(p);
    cr_assert(d != NULL && status == 0, "%s", command);
    return d;
}

static double cycles_of(const char *workload)
{
    char words[200];
    snprintf(words, sizeof words, "estimate suite:%s --gpu titanv", workload);
    json_t *d = document(words), *gpu = json_array_get(json_object_get(d, "gpus"), 0);
    const double cycles = json_number_value(
        json_object_get(json_object_get(gpu, "total"), "cycles"));
    json_decref(d);
    cr_assert(cycles > 0);
    return cycles;
}

/* The first advice, by its name; `before` and `after` for each access. */
static double saved(const char *workload, const char *want, double before, double after)
{
    char words[200];
    snprintf(words, sizeof words, "advise suite:%s --gpu titanv", workload);
    json_t *d = document(words), *first = json_array_get(json_object_get(d, "advice"), 0);
    cr_assert(first != NULL, "no advice for %s", workload);
    const double n = json_number_value(json_object_get(first, "accesses")),
                 cycles = json_number_value(json_object_get(first, "saved_cycles"));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(first, "advice")), (char *)want));
    cr_expect(eq(dbl, json_number_value(json_object_get(first, "before")) / n, before));
    cr_expect(eq(dbl, json_number_value(json_object_get(first, "after")) / n, after));
    json_decref(d);
    return cycles;
}

/* A column of 32 floats: 32 sectors, where a row has 4; and 32 passes of shared memory, where padding leaves 1. */
Test(advise, promises_what_the_better_transpose_saves)
{
    const double best = cycles_of("transpose_padded"), naive = cycles_of("transpose_naive") - best,
                 tiled = cycles_of("transpose_tiled") - best;
    const double of_naive = saved("transpose_naive", "coalesce", 32, 4),
                 of_tiled = saved("transpose_tiled", "bank-conflicts", 32, 1);
    cr_expect(of_naive > naive * 2 / 3 && of_naive < naive * 4 / 3, "%g, not %g", of_naive, naive);
    cr_expect(of_tiled > tiled * 2 / 3 && of_tiled < tiled * 4 / 3, "%g, not %g", of_tiled, tiled);
}

/* Atomics of a warp on few bins, in global memory and in shared memory. */
Test(advise, promises_what_a_histogram_in_shared_memory_saves)
{
    const double difference = cycles_of("histogram_global") - cycles_of("histogram_shared");
    json_t *d = document("advise suite:histogram_global --gpu titanv"),
           *list = json_object_get(d, "advice"), *first = json_array_get(list, 0);
    const double cycles = json_number_value(json_object_get(first, "saved_cycles"));
    cr_expect(eq(sz, json_array_size(list), 1));
    cr_expect(eq(str, (char *)json_string_value(json_object_get(first, "advice")), "atomics"));
    cr_expect(cycles > difference * 2 / 3 && cycles < difference * 4 / 3, "%g, not %g", cycles,
              difference);
    json_decref(d);
}

Test(advise, is_silent_where_nothing_is_to_gain)
{
    static const char *const workloads[] = {"transpose_padded", "saxpy", "reduce_shuffle"};
    for (size_t i = 0; i < 3; i++) {
        char words[200];
        snprintf(words, sizeof words, "advise suite:%s --gpu titanv", workloads[i]);
        json_t *d = document(words);
        cr_expect(eq(sz, json_array_size(json_object_get(d, "advice")), 0), "%s", workloads[i]);
        json_decref(d);
    }
}

Test(advise, wrong_calls_are_refused)
{
    static const char *const calls[] = {
        "advise", "advise suite:saxpy --from a.hdt", "advise suite:saxpy --gpu titanv,gv100",
        "advise suite:saxpy --order dab", "advise suite:saxpy --format csv"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char command[300];
        const char *program = getenv("HEDDLE");
        snprintf(command, sizeof command, "%s %s >/dev/null 2>&1", program ? program : "./heddle",
                 calls[i]);
        const int status = system(command), code = WEXITSTATUS(status);
        cr_expect(eq(int, code, 2), "%s", calls[i]);
    }
}
