/* heddle advise: what is promised for the slow variant of a workload is what the fast one saves. Pairs that the suite does
 * not have are in tests/advise/pairs.cu. */
#define _GNU_SOURCE
#include "base/buf.h"
#include "tests/support/command.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(advise, .init = command_enter, .fini = command_leave, .timeout = 120);

static json_t *document(const char *words)
{
    char command[500];
    snprintf(command, sizeof command, "%s %s --format=json 2>/dev/null", command_program(), words);
    FILE *p = popen(command, "r");
    json_t *d = json_loadf(p, 0, NULL);
    const int status = pclose(p);
    cr_assert(d != NULL && status == 0, "%s", command);
    return d;
}

/* `target`: a workload of the suite, or a job file. */
static double cycles_on(const char *target, const char *on)
{
    char words[200];
    snprintf(words, sizeof words, "estimate %s --gpu %s", target, on);
    json_t *d = document(words), *gpu = json_array_get(json_object_get(d, "gpus"), 0);
    const double cycles = json_number_value(
        json_object_get(json_object_get(gpu, "total"), "cycles"));
    json_decref(d);
    cr_assert(cycles > 0);
    return cycles;
}

static double cycles_of(const char *target)
{
    return cycles_on(target, "titanv");
}

struct advised {
    double saved, accesses, before, after;
    double otherwise; /* saved by the other way; 0: none is named */
    char detail[200];
};

/* What is said about the target under that name: its first advice, or with `any` any of them. */
static struct advised advised_on(const char *target, const char *want, bool any, const char *on)
{
    char words[200];
    struct advised a = {0};
    bool found = false;
    snprintf(words, sizeof words, "advise %s --gpu %s", target, on);
    json_t *d = document(words), *list = json_object_get(d, "advice"), *x;
    size_t i;
    cr_expect(eq(int, (int)json_integer_value(json_object_get(d, "version")), 2));
    json_array_foreach(list, i, x)
    {
        if ((i && !any) || found ||
            strcmp(json_string_value(json_object_get(x, "advice")), want) != 0)
            continue;
        found = true;
        a.saved = json_number_value(json_object_get(x, "saved_cycles"));
        a.accesses = json_number_value(json_object_get(x, "accesses"));
        a.before = json_number_value(json_object_get(x, "before"));
        a.after = json_number_value(json_object_get(x, "after"));
        a.otherwise = json_number_value(
            json_object_get(json_object_get(x, "other_way"), "saved_cycles"));
        const char *detail = json_string_value(json_object_get(x, "detail"));
        snprintf(a.detail, sizeof a.detail, "%s", detail ? detail : "");
    }
    cr_assert(found, "no advice '%s' for %s", want, target);
    json_decref(d);
    return a;
}

static struct advised advised(const char *target, const char *want, bool any)
{
    return advised_on(target, want, any, "titanv");
}

/* Within a third of what the fast variant saves. */
static void expect_promise(const struct advised *a, const char *slow, const char *fast)
{
    if (SANITIZED) return; /* tests/estimate/ has sanitized estimates */
    const double difference = cycles_of(slow) - cycles_of(fast);
    cr_expect(a->saved > difference * 2 / 3 && a->saved < difference * 4 / 3,
              "%s: %g promised, %s saves %g", slow, a->saved, fast, difference);
}

/* A column of 32 floats: 32 sectors, where a row has 4; and 32 passes of shared memory, where padding leaves 1. */
Test(advise, promises_what_the_better_transpose_saves)
{
    const struct advised naive = advised("suite:transpose_naive", "coalesce", false),
                         tiled = advised("suite:transpose_tiled", "bank-conflicts", false);
    cr_expect(eq(dbl, naive.before, 32 * naive.accesses));
    cr_expect(eq(dbl, naive.after, 4 * naive.accesses));
    cr_expect(eq(dbl, tiled.before, 32 * tiled.accesses));
    cr_expect(eq(dbl, tiled.after, tiled.accesses));
    expect_promise(&naive, "suite:transpose_naive", "suite:transpose_padded");
    expect_promise(&tiled, "suite:transpose_tiled", "suite:transpose_padded");
}

/* Atomics of a warp on few bins, in global memory and in shared memory; and on one sum, or by a tree. */
Test(advise, promises_what_shared_memory_instead_of_atomics_saves)
{
    const struct advised bins = advised("suite:histogram_global", "atomics", false),
                         sum = advised("suite:sum_atomic", "atomics", false);
    expect_promise(&bins, "suite:histogram_global", "suite:histogram_shared");
    expect_promise(&sum, "suite:sum_atomic", "suite:sum_tree");
    cr_expect(eq(dbl, sum.before, 32 * sum.accesses)); /* all lanes of a warp add to one word */
    cr_expect(eq(dbl, sum.after, sum.accesses / 4));   /* 4 warps of a CTA would add once */
}

/* 8 warps of each of 64 CTAs add to one word, where one of each CTA would do. */
Test(advise, promises_what_a_reduction_in_shared_memory_saves)
{
    const struct advised a = advised("suite:reduce_atomic", "atomics", false);
    cr_expect(eq(dbl, a.accesses, 512));
    cr_expect(eq(dbl, a.after, 64));
    expect_promise(&a, "suite:reduce_atomic", "suite:reduce_shared");
}

/* append uses what its atomic returns, the place in the list: no sum by shuffles is promised for it. */
Test(advise, a_sum_by_shuffles_is_for_atomics_without_a_result)
{
    const struct advised places = advised("suite:append", "atomics", true),
                         sum = advised("suite:sum_atomic", "atomics", true);
    cr_expect(places.saved > 0 && places.otherwise == 0);
    cr_expect(sum.otherwise > 0);
}

/* A thread for each row, where the longest rows keep their warps: a warp for each row. */
Test(advise, promises_what_a_warp_for_each_row_saves)
{
    const struct advised a = advised("suite:spmv_scalar", "divergence", false);
    expect_promise(&a, "suite:spmv_scalar", "suite:spmv_vector");
}

/* 16 CTAs of 4 x as much work leave 64 of 80 SMs without any; tiles of 16 x 16 give 64 CTAs. */
Test(advise, promises_what_more_ctas_save)
{
    const struct advised a = advised("suite:sgemm_32", "grid", false);
    cr_expect(eq(dbl, a.before, 16));
    cr_expect(eq(dbl, a.after, 80));
    expect_promise(&a, "suite:sgemm_32", "suite:sgemm_16");
}

/* All pairs of workloads that differ in one idea. Of two kernels that do the same in different ways, one is the advice and
 * one its other way: the sums of reduce_shuffle's CTAs are made by shuffles, and sgemm_32's threads have four results. */
Test(advise, promises_of_all_pairs_are_within_a_third)
{
    static const struct {
        const char *slow, *fast, *advice, *on;
        bool other;
    } pairs[] = {
        {"suite:transpose_naive", "suite:transpose_tiled", "coalesce", "titanv", false},
        {"suite:transpose_naive", "suite:transpose_padded", "coalesce", "titanv", false},
        {"suite:transpose_tiled", "suite:transpose_padded", "bank-conflicts", "titanv", false},
        {"suite:spmv_scalar", "suite:spmv_vector", "divergence", "titanv", false},
        {"suite:reduce_atomic", "suite:reduce_shared", "atomics", "titanv", false},
        {"suite:reduce_atomic", "suite:reduce_shuffle", "atomics", "titanv", true},
        {"suite:histogram_global", "suite:histogram_shared", "atomics", "titanv", false},
        {"suite:sum_atomic", "suite:sum_tree", "atomics", "titanv", false},
        {"suite:sgemm_naive", "suite:sgemm_16", "tiles", "titanv", false},
        {"suite:sgemm_naive", "suite:sgemm_32", "tiles", "titanv", true},
        {"suite:sgemm_naive", "suite:sgemm_16", "tiles", "gtx480", false},
        {"suite:sgemm_naive", "suite:sgemm_32", "tiles", "gtx480", true},
        {"suite:sgemm_naive", "suite:sgemm_16", "tiles", "h200", false},
        {"suite:sgemm_naive", "suite:sgemm_32", "tiles", "h200", true},
        {"suite:sum_atomic", "suite:sum_tree", "atomics", "gv100", false},
        {"suite:sum_atomic", "suite:sum_tree", "atomics", "gv100", true},
    };
    if (SANITIZED) return;
    struct advised a = {0};
    double slow = 0;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *on = pairs[i].on;
        if (!i || strcmp(pairs[i].slow, pairs[i - 1].slow) != 0 ||
            strcmp(on, pairs[i - 1].on) != 0) {
            a = advised_on(pairs[i].slow, pairs[i].advice, false, on);
            slow = cycles_on(pairs[i].slow, on);
        }
        const double saves = slow - cycles_on(pairs[i].fast, on),
                     promised = pairs[i].other ? a.otherwise : a.saved;
        cr_expect(saves > 0);
        cr_expect(promised > saves * 2 / 3 && promised < saves * 4 / 3,
                  "%s on %s: %g promised, %s saves %g", pairs[i].slow, on, promised, pairs[i].fast,
                  saves);
    }
}

/* ---- pairs of tests/advise/pairs.cu ------------------------------------------------------------------------------ */

/* KERNEL.yaml: a job that launches the kernel. */
static void write_job(const char *kernel, const char *buffers, const char *grid, const char *block,
                      const char *arguments)
{
    char name[64], text[2000];
    snprintf(name, sizeof name, "%s.yaml", kernel);
    snprintf(text, sizeof text,
             "heddle: 1\nmodules: pairs.ptx\nbuffers:\n%ssteps:\n  - launch: %s\n    grid: [%s]\n"
             "    block: [%s]\n    args: [%s]\n",
             buffers, kernel, grid, block, arguments);
    command_write(name, text);
}

static char pairs_ptx[4096];
static void enter(void)
{
    cr_assert(realpath("tests/advise/pairs.ptx", pairs_ptx) != NULL);
    command_enter();
    cr_assert(symlink(pairs_ptx, "pairs.ptx") == 0);
}

TestSuite(advise_pairs, .init = enter, .fini = command_leave, .timeout = 120);

/* Of a product of 256 x 256 matrices: 16 lanes load one word of A; lanes load 16 words of B. Each sector of A has 8 words
 * of a row, which 8 iterations of 16 threads need, and of B 8 words of one iteration that 16 rows of threads need: in a
 * tile 0.25 sectors for each load of a warp, if each were loaded once; some are loaded again for another tile or window. */
Test(advise_pairs, tiles_for_redundant_loads)
{
    const char *buffers =
        "  a: {type: f32, count: 65536, fill: random(1)}\n"
        "  b: {type: f32, count: 65536, fill: random(2)}\n  c: {type: f32, count: 65536}\n";
    write_job("product_naive", buffers, "16, 16", "16, 16", "256, a, b, c");
    write_job("product_tiled", buffers, "16, 16", "16, 16", "256, a, b, c");
    const struct advised a = advised("product_naive.yaml", "tiles", false);
    cr_expect(eq(dbl, a.before, 2 * a.accesses));
    cr_expect(a.after >= 0.25 * a.accesses && a.after < 0.35 * a.accesses, "%g of %g", a.after,
              a.accesses);
    expect_promise(&a, "product_naive.yaml", "product_tiled.yaml");
    write_job("product_four", buffers, "8, 8", "16, 16", "256, a, b, c");
    const struct advised four = {.saved = a.otherwise};
    expect_promise(&four, "product_naive.yaml", "product_four.yaml");
}

/* 9 x 9 CTAs cannot be taken four by four, and warps of different lengths do not do the same. */
Test(advise_pairs, no_four_results_where_ctas_do_not_match)
{
    const char *buffers =
        "  a: {type: f32, count: 20736, fill: random(1)}\n"
        "  b: {type: f32, count: 20736, fill: random(2)}\n  c: {type: f32, count: 20736}\n";
    write_job("product_naive", buffers, "9, 9", "16, 16", "144, a, b, c");
    const struct advised a = advised("product_naive.yaml", "tiles", true);
    cr_expect(a.saved > 0 && a.otherwise == 0);
}

Test(advise_pairs, vectors_for_words_side_by_side)
{
    const char *buffers =
        "  in: {type: f32, count: 8192, fill: random(1)}\n  out: {type: f32, count: 40960}\n";
    write_job("four_loads", buffers, "160", "256", "64, in, out");
    write_job("one_load", buffers, "160", "256", "64, in, out");
    const struct advised a = advised("four_loads.yaml", "wider", false);
    cr_expect(eq(dbl, a.before, 4 * a.accesses));
    cr_expect(eq(dbl, a.after, a.accesses));
    expect_promise(&a, "four_loads.yaml", "one_load.yaml");
}

/* An SM of the TITAN V has 96 KiB: two CTAs with 48 KiB, three with 32 KiB. */
Test(advise_pairs, less_shared_memory_for_one_cta_more)
{
    const char *buffers =
        "  next: {type: u32, count: 1048576, fill: iota(4096)}\n  out: {type: u32, count: 122880}\n";
    write_job("chain_48k", buffers, "960", "128", "32, next, out");
    write_job("chain_32k", buffers, "960", "128", "32, next, out");
    const struct advised a = advised("chain_48k.yaml", "occupancy", false);
    cr_expect(eq(dbl, a.before, 2));
    cr_expect(eq(dbl, a.after, 3));
    cr_expect(strstr(a.detail, "shared memory: a CTA has 49152 bytes, 32768 or fewer") != NULL,
              "%s", a.detail);
    expect_promise(&a, "chain_48k.yaml", "chain_32k.yaml");
}

/* Rows of 0 to 15 elements, and each 37th of 600. */
Test(advise_pairs, lanes_for_long_rows)
{
    enum { ROWS = 2048 };
    struct buf begin = {0}, job = {0};
    uint32_t at = 0, x = 1;
    buf_puts(&begin, "0");
    for (uint32_t r = 0; r < ROWS; r++) {
        x = x * 1664525 + 1013904223;
        at += r % 37 ? x >> 28 : 600;
        buf_printf(&begin, ", %u", at);
    }
    for (int warps = 0; warps < 2; warps++) {
        const char *kernel = warps ? "rows_by_warp" : "rows_by_thread";
        char name[64];
        job.size = 0;
        buf_printf(
            &job,
            "heddle: 1\nmodules: pairs.ptx\nbuffers:\n  begin: {type: u32, fill: [%s]}\n"
            "  value: {type: f32, count: %u, fill: random(1)}\n  out: {type: f32, count: 2048}\n"
            "steps:\n  - launch: %s\n    grid: %u\n    block: 256\n    args: [2048, begin, value, out]\n",
            begin.data, at, kernel, warps ? ROWS / 8 : ROWS / 256);
        snprintf(name, sizeof name, "%s.yaml", kernel);
        command_write(name, job.data);
    }
    const struct advised a = advised("rows_by_thread.yaml", "divergence", false);
    expect_promise(&a, "rows_by_thread.yaml", "rows_by_warp.yaml");
    buf_free(&begin);
    buf_free(&job);
}

Test(advise_pairs, the_fast_ones_lack_nothing_of_it)
{
    const char *product = "  a: {type: f32, count: 65536}\n";
    write_job("product_tiled", product, "16, 16", "16, 16", "256, a, a, a");
    json_t *d = document("advise product_tiled.yaml --gpu titanv");
    cr_expect(eq(sz, json_array_size(json_object_get(d, "advice")), 0));
    json_decref(d);
}

/* Side by side are words of one sector: not those of two arrays, and not those that lanes read together. */
Test(advise_pairs, no_vectors_for_other_loads)
{
    static const char *const targets[] = {"suite:stencil_2d", "suite:spmv_scalar", "suite:saxpy"};
    for (size_t i = SANITIZED ? 2 : 0; i < 3; i++) {
        char words[200];
        snprintf(words, sizeof words, "advise %s --gpu titanv", targets[i]);
        json_t *d = document(words), *x;
        size_t k;
        json_array_foreach(json_object_get(d, "advice"), k, x)
            cr_expect(ne(str, (char *)json_string_value(json_object_get(x, "advice")), "wider"));
        json_decref(d);
    }
}

/* ---- silence, and wrong calls -------------------------------------------------------------------------------------- */

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

/* Nothing to gain would be wrong: nothing was looked at. */
Test(advise, without_launches_there_is_no_advice)
{
    struct buf out = {0};
    if (!SANITIZED) { /* sanitized libraries serve sanitized programs alone */
        cr_expect(eq(int, command_run("advise /bin/true", &out), 1));
        cr_expect(strstr(out.data, "there is no launch with a trace") != NULL, "%s", out.data);
    }
    cr_assert(eq(int, command_run("trace record --addresses -o a.hdt suite:saxpy", &out), 0));
    cr_expect(eq(int, command_run("advise --from a.hdt", &out), 1));
    cr_expect(strstr(out.data, "recorded with --addresses") != NULL, "%s", out.data);
    buf_free(&out);
}

Test(advise, wrong_calls_are_refused)
{
    static const char *const calls[] = {
        "advise", "advise suite:saxpy --from a.hdt", "advise suite:saxpy --gpu titanv,gv100",
        "advise suite:saxpy --order dab", "advise suite:saxpy --format csv"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char command[300];
        snprintf(command, sizeof command, "%s %s >/dev/null 2>&1", command_program(), calls[i]);
        const int status = system(command), code = WEXITSTATUS(status);
        cr_expect(eq(int, code, 2), "%s", calls[i]);
    }
}
