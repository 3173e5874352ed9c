/* `heddle check --exhaustive`: all choices of the order random. */
#include "base/buf.h"
#include "tests/support/command.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(check_search, .init = command_enter, .fini = command_leave, .timeout = 120);

static const char kernels[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
#define KERNEL(name, text)                                                                         \
    ".visible .entry " name                                                                        \
    "(.param .u64 n)\n{\n.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"                    \
    "ld.param.u64 %d1, [n]; mov.u32 %r7, %ctaid.x;\n" text "ret;\n}\n"
    KERNEL("lossy", "ld.relaxed.gpu.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1;\n"
                    "st.relaxed.gpu.global.u32 [%d1], %r1;\n")
        KERNEL("plain",
               "ld.global.u32 %r1, [%d1]; add.u32 %r1, %r1, 1; st.global.u32 [%d1], %r1;\n")
            KERNEL("exact", "red.global.add.u32 [%d1], 1;\n") KERNEL(
                "separate",
                "mul.wide.u32 %d2, %r7, 32; add.u64 %d2, %d1, %d2; st.global.u32 [%d2], %r7;\n"
                "ld.global.u32 %r1, [%d2]; add.u32 %r1, %r1, 1; st.global.u32 [%d2], %r1;\n")
    /* CTA 1 copies the data if it sees the flag, else it writes 5. */
    KERNEL("passed",
           "setp.ne.u32 %p1, %r7, 0; @%p1 bra R; st.global.u32 [%d1], 7;\n"
           "st.release.gpu.global.u32 [%d1+32], 1; ret;\n"
           "R: mov.u32 %r2, 5; ld.acquire.gpu.global.u32 %r1, [%d1+32]; setp.eq.u32 %p2, %r1, 0;\n"
           "@%p2 bra E; ld.global.u32 %r2, [%d1];\nE: st.global.u32 [%d1+64], %r2;\n")
        KERNEL(
            "dropped",
            "setp.ne.u32 %p1, %r7, 0; @%p1 bra R; st.global.u32 [%d1], 7;\n"
            "st.relaxed.gpu.global.u32 [%d1+32], 1; ret;\n"
            "R: mov.u32 %r2, 5; ld.acquire.gpu.global.u32 %r1, [%d1+32]; setp.eq.u32 %p2, %r1, 0;\n"
            "@%p2 bra E; ld.global.u32 %r2, [%d1];\nE: st.global.u32 [%d1+64], %r2;\n")
            KERNEL("clock", "mov.u32 %r1, %clock; st.global.u32 [%d1], %r1;\n") KERNEL(
                "waits",
                "setp.ne.u32 %p1, %r7, 0; @%p1 bra R; st.relaxed.gpu.global.u32 [%d1], 1; ret;\n"
                "R: ld.relaxed.gpu.global.u32 %r1, [%d1]; setp.eq.u32 %p2, %r1, 0; @%p2 bra R;\n")
                KERNEL(
                    "crossed",
                    "mov.u32 %r1, 1; mov.u32 %r2, 2; setp.ne.u32 %p1, %r7, 0; @%p1 bra R;\n"
                    "st.relaxed.gpu.global.u32 [%d1], %r1; st.relaxed.gpu.global.u32 [%d1+32], %r2; ret;\n"
                    "R: st.relaxed.gpu.global.u32 [%d1+32], %r1; st.relaxed.gpu.global.u32 [%d1], %r2;\n")
                    KERNEL("first", "setp.ne.u32 %p1, %r7, 0; @%p1 ret; st.global.u32 [%d1], 1;\n")
                        KERNEL("outside", "st.global.u32 [%d1+4096], 1;\n");

/* The document; the test ends here if the exit status is another one. */
static json_t *search(const char *kernel, unsigned ctas, unsigned threads, const char *more,
                      int want)
{
    char words[512];
    struct buf out = {0};
    command_write("k.ptx", kernels);
    snprintf(words, sizeof words,
             "check k.ptx --kernel %s --grid %u --block %u --arg 'n=buf:u32[64]=zero' --exhaustive "
             "--format=json %s",
             kernel, ctas, threads, more);
    const int status = command_run(words, &out);
    cr_assert_eq(status, want, "%s: %d\n%s", words, status, out.data);
    json_t *doc = json_loads(out.data, 0, NULL);
    cr_assert(doc, "%s", out.data);
    buf_free(&out);
    return doc;
}

static json_t *part(json_t *doc, const char *name)
{
    return json_object_get(json_object_get(doc, "exhaustive"), name);
}

/* Counts by reasoning: n CTAs that read and write lose all but 1 .. n of their additions; 64-byte atomics lose none; a value
 * behind a release and an acquire is seen or the flag is not. Executions of `exact` are the orders of its CTAs. */
Test(check_search, finds_all_results_of_small_kernels)
{
    static const struct {
        const char *kernel;
        unsigned ctas, threads, results, executions; /* executions 0: not reckoned */
    } rows[] = {
        {"lossy", 1, 1, 1, 1},    {"lossy", 2, 1, 2, 0},
        {"lossy", 3, 1, 3, 0},    {"plain", 2, 1, 2, 0},
        {"exact", 2, 1, 1, 2},    {"exact", 4, 1, 1, 24},
        {"separate", 8, 1, 1, 1}, {"passed", 2, 1, 2, 0},
        {"crossed", 2, 1, 4, 0}, /* 2+2W: both may be 1 */
        {"dropped", 2, 1, 3, 0}, /* also the flag without the data */
        {"lossy", 1, 64, 2, 0},  /* two warps */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *doc = search(rows[i].kernel, rows[i].ctas, rows[i].threads, "",
                             rows[i].results > 1 ? 6 : 0);
        cr_expect_eq(json_array_size(part(doc, "results")), rows[i].results, "%s of %u: %zu",
                     rows[i].kernel, rows[i].ctas, json_array_size(part(doc, "results")));
        cr_expect(json_is_true(part(doc, "complete")), "%s", rows[i].kernel);
        const json_int_t n = json_integer_value(part(doc, "executions"));
        cr_expect(!rows[i].executions || n == rows[i].executions, "%s: %d", rows[i].kernel, (int)n);
        json_decref(doc);
    }
}

/* Whether the search has found the result. */
static bool has_digest(json_t *results, const char *digest)
{
    size_t i;
    json_t *r;
    json_array_foreach(results, i, r) if (!strcmp(json_string_value(json_object_get(r, "digest")),
                                                  digest)) return true;
    return false;
}

Test(check_search, finds_what_seeds_find)
{
    static const char *const names[] = {"lossy", "dropped", "plain"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char words[256];
        struct buf out = {0};
        json_t *doc = search(names[k], 2, 1, "", 6);
        snprintf(
            words, sizeof words,
            "check k.ptx --kernel %s --grid 2 --block 1 --arg 'n=buf:u32[64]=zero' --order random --runs 60 "
            "--stop never --no-race --format=json",
            names[k]);
        (void)command_run(words, &out);
        json_t *seeds = json_loads(out.data, 0, NULL), *r;
        size_t i;
        cr_assert(seeds, "%s", out.data);
        json_t *found = json_object_get(json_array_get(json_object_get(seeds, "orders"), 1),
                                        "results");
        cr_expect_gt(json_array_size(found), 1, "%s", out.data);
        json_array_foreach(found, i, r) cr_expect(
            has_digest(part(doc, "results"), json_string_value(json_object_get(r, "digest"))), "%s",
            names[k]);
        json_decref(seeds);
        json_decref(doc);
        buf_free(&out);
    }
}

Test(check_search, says_why_there_is_no_proof)
{
    static const struct {
        const char *kernel, *more, *why;
        unsigned ctas;
        int status;
    } rows[] = {
        {"clock", "", "reads a clock", 1, 5},
        {"exact", "--runs 5", "limit of 5 runs", 3, 5},
        {"exact", "--search-time 0.2", "limit of 0.2 s", 12, 5},
        {"waits", "--runs 300", "limit of 300 runs", 2, 5},
        {"first", "", "more CTAs than fit", 10000, 5},
        {"lossy", "--runs 9", "limit of 9 runs", 3, 6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *doc = search(rows[i].kernel, rows[i].ctas, 1, rows[i].more, rows[i].status);
        const char *why = json_string_value(part(doc, "missing"));
        cr_expect(why && strstr(why, rows[i].why), "%s: %s", rows[i].kernel, why ? why : "none");
        cr_expect(json_is_false(part(doc, "complete")), "%s", rows[i].kernel);
        json_decref(doc);
    }
}

Test(check_search, a_run_that_fails_ends_it)
{
    json_t *doc = search("outside", 1, 1, "", 3);
    cr_expect(strstr(json_string_value(part(doc, "failure")), "out of bounds"));
    cr_expect_str_eq(json_string_value(json_object_get(doc, "verdict")), "failed");
    json_decref(doc);
}

Test(check_search, recordings_repeat_the_results)
{
    struct buf out = {0};
    json_t *doc = search("lossy", 3, 1, "--recordings found", 6), *r;
    bool seen[4] = {false};
    size_t i;
    json_array_foreach(part(doc, "results"), i, r)
    {
        char words[512];
        const char *replay = json_string_value(json_object_get(r, "replay"));
        uint32_t value = 0;
        cr_assert(replay && !strncmp(replay, "heddle ", 7), "%s", replay);
        snprintf(words, sizeof words, "%s --dump n=n.bin", replay + 7);
        cr_expect_eq(command_run(words, &out), 0, "%s: %s", words, out.data);
        FILE *f = fopen("n.bin", "rb");
        cr_assert(f && fread(&value, sizeof value, 1, f) == 1);
        (void)fclose(f);
        cr_expect(value >= 1 && value <= 3 && !seen[value], "%u", value);
        if (value < 4) seen[value] = true;
    }
    cr_expect(seen[1] && seen[2] && seen[3]);
    json_decref(doc);
    buf_free(&out);
}

Test(check_search, refuses_what_has_no_meaning)
{
    static const struct {
        const char *words, *says;
    } rows[] = {
        {"check k.ptx --kernel exact --exhaustive --order gpudet",
         "--order does not go with --exhaustive"},
        {"check k.ptx --kernel exact --exhaustive --chance 1%",
         "--chance does not go with --exhaustive"},
        {"check k.ptx --kernel exact --recordings here", "add --exhaustive"},
        {"check k.ptx --kernel exact --exhaustive --format=github",
         "--exhaustive prints text or json"},
        {"check --exhaustive /bin/true", "exhaustive"},
    };
    command_write("k.ptx", kernels);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf out = {0};
        cr_expect_eq(command_run(rows[i].words, &out), 2, "%s: %s", rows[i].words, out.data);
        cr_expect(out.data && strstr(out.data, rows[i].says), "%s: %s", rows[i].words, out.data);
        buf_free(&out);
    }
}
