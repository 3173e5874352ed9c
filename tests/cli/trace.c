/* heddle trace record|info|check|dump, and heddle estimate --from. */
#define _GNU_SOURCE
#include "tests/support/command.h"
#include "tests/support/nested_ptx.h"
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(trace_command, .init = command_set_up, .fini = command_tear_down, .timeout = 120);

static void record(const char *options)
{
    char words[200];
    snprintf(words, sizeof words,
             "trace record suite:transpose_naive %s --output %%s/a.hdt >/dev/null", options);
    free(command_heddle(words, 0));
}

Test(trace_command, an_estimate_from_a_file_is_that_of_the_run)
{
    static const char *const options[] = {"--gpu gv100", "--gpu titanv --order gpudet"};
    for (size_t i = 0; i < 2; i++) {
        char words[200];
        record(options[i]);
        snprintf(words, sizeof words, "estimate suite:transpose_naive %s --format=csv 2>/dev/null",
                 options[i]);
        char *live = command_heddle(words, 0),
             *later = command_heddle("estimate --from %s/a.hdt --format=csv", 0);
        cr_expect(eq(str, later, live));
        free(live);
        free(later);
    }
}

/* A file may have several orders: each GPU's launches name theirs. */
Test(trace_command, estimates_from_a_file_name_their_order)
{
    free(command_heddle("estimate suite:saxpy --traces %s/o.hdt", 0));
    free(command_heddle("estimate suite:saxpy --order gpudet --traces %s/o.hdt", 0));
    char *all = command_heddle("estimate --from %s/o.hdt --format=json", 0);
    const char *first = strstr(all, "\"gpu\": \"titanv\",\n      \"order\": \"native\"");
    cr_expect(first && strstr(first, "\"gpu\": \"titanv\",\n      \"order\": \"gpudet\""), "%s",
              all);
    free(all);
    all = command_heddle("estimate --from %s/o.hdt", 0);
    cr_expect(strstr(all, "  native\n") != NULL && strstr(all, "  gpudet\n"), "%s", all);
    free(all);
}

/* Grids that kernels launch run beside their parents, also in a file: a parent of 3 CTAs that launch a child and wait for it, and
 * another one. */
Test(trace_command, grids_that_kernels_launch_are_estimated_together)
{
    static const char text[] =
        DECLARE START ENTRY("child") " st.global.u32 [%d1], %r1; ret;\n}\n" ENTRY(
            "parent") " mov.u64 %d3, child;\n" LAUNCH("%d3", "9", "64", "0", "%d1", "%r2")
            WAIT LAUNCH("%d3", "2", "32", "0", "%d1", "%r2") " ret;\n}\n";
    char path[300];
    snprintf(path, sizeof path, "%s/w.ptx", command_folder);
    FILE *f = fopen(path, "w");
    cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0);
#define CALL                                                                                       \
    "%s/w.ptx --kernel parent --grid 3 --block 1 --arg buf:u32[16]=zero --arg 0 --gpu titanv"
    free(command_heddle("trace record " CALL " --output %s/a.hdt >/dev/null", 0));
    char *live = command_heddle("estimate " CALL " --format=csv 2>/dev/null", 0),
         *later = command_heddle("estimate --from %s/a.hdt --format=csv 2>/dev/null", 0);
    cr_expect(eq(str, later, live));
    int rows = 0;
    for (const char *p = later; (p = strstr(p, ",child,")); p++) rows++;
    cr_expect(eq(int, rows, 6));
    free(live);
    free(later);
}

/* The digest is that of sha256sum; a conversion keeps where the trace came from. */
Test(trace_command, a_trace_says_what_it_was_made_from)
{
    int status;
    char *sum = command_output("sha256sum docs/guide/total.ptx", &status);
    cr_assert(status == 0 && strlen(sum) > 64);
    char line[100];
    snprintf(line, sizeof line, "\nsha256 %.64s  total.ptx\n", sum);
    static const char *const addresses[] = {"", "--addresses "};
    for (int i = 0; i < 2; i++) {
        char words[300];
        snprintf(words, sizeof words,
                 "trace record %s--gpu titanv --output %%s/a.hdt docs/guide/total.ptx --block 256 "
                 "--arg 'x=buf:f32[256]=const(1)' --arg 'result=buf:f32[1]' >/dev/null",
                 addresses[i]);
        free(command_heddle(words, 0));
        free(command_heddle("trace convert %s/a.hdt --format hdt --output %s/b.hdt", 0));
        char *info = command_heddle("trace info %s/a.hdt", 0),
             *converted = command_heddle("trace info %s/b.hdt", 0);
        cr_expect(strstr(info, line) && strstr(info, "\nrecorded by Heddle "), "%s", info);
        cr_expect(strstr(converted, line) != NULL, "%s", converted);
        free(info);
        free(converted);
    }
    free(sum);
}

Test(trace_command, what_is_printed_is_what_was_run)
{
    record("--gpu gv100");
    char *info = command_heddle("trace info %s/a.hdt", 0),
         *check = command_heddle("trace check %s/a.hdt", 0),
         *dump = command_heddle("trace dump --launch 1 --cta 0 --warp 3 %s/a.hdt", 0);
    cr_expect(strstr(info, "run: suite:transpose_naive") != NULL, "%s", info);
    cr_expect(strstr(info, "3 launches") && strstr(info, " 96256 "), "%s", info);
    cr_expect(strstr(check, "frames are whole") != NULL);
    cr_expect(strstr(dump, "launch 1: transpose_naive, gv100, native") == dump, "%s", dump);
    cr_expect(strstr(dump, " CTA 0\n  warp 3: ") && !strstr(dump, "warp 2") &&
              !strstr(dump, "CTA 1"));
    /* Threads of a warp read 32 floats in a row: one line; and write a column: 32 lines, one sector each. */
    char *load = strstr(dump, "ld.global.f32 lanes=32 0x"),
         *store = strstr(dump, "st.global.f32 lanes=32 0x");
    cr_assert(load && store, "%s", dump);
    cr_expect(strncmp(strchr(load, '/'), "/f\n", 3) == 0, "%.60s", load);
    int lines = 0;
    for (const char *p = store; *p != '\n'; p++) lines += *p == '/';
    cr_expect(eq(int, lines, 32));
    free(info);
    free(check);
    free(dump);
}

Test(trace_command, a_file_that_is_cut_off_is_refused)
{
    char path[100];
    record("--gpu gv100");
    snprintf(path, sizeof path, "%s/a.hdt", command_folder);
    cr_assert(truncate(path, 30000) == 0);
    char *said = command_heddle("trace check %s/a.hdt", 1);
    cr_expect(strstr(said, "it is cut off or damaged") != NULL, "%s", said);
    free(said);
    free(command_heddle("trace info %s/a.hdt", 1));
    free(command_heddle("estimate --from %s/a.hdt", 1));
    free(command_heddle("report --from %s/a.hdt --output %s/r.html", 1));
    free(command_heddle("trace check %s/none.hdt", 2));
    free(command_heddle("trace check", 2));
    free(command_heddle("estimate --from %s/a.hdt suite:saxpy", 2));
    free(command_heddle("trace record suite:saxpy --gpu gv100,titanv", 2));
}

/* suite:saxpy launches twice with 262,144 threads of two loads and a store. */
Test(trace_command, accesses_are_recorded_in_the_thesis_s_formats)
{
    char path[100];
    struct stat st;
    free(command_heddle("trace record --format memtrace1 suite:saxpy -o %s/a.trc", 0));
    snprintf(path, sizeof path, "%s/a.trc", command_folder);
    cr_assert(stat(path, &st) == 0);
    cr_expect(eq(u64, (uint64_t)st.st_size, 2 + 2 * (6 + 24 + UINT64_C(24) * 3 * 262144)));
    free(command_heddle("trace record --format=memtrace3 --order random suite:saxpy -o %s/a.trc",
                        0));
    cr_assert(stat(path, &st) == 0);
    cr_expect(st.st_size > 10 + 2 * 8 && st.st_size < 2 * 3 * 262144);
    char *said = command_heddle("trace record --format x suite:saxpy -o %s/a.trc", 2);
    cr_expect(strstr(said, "--format is hdt, memtrace1, memtrace3 or accelsim, not 'x'") != NULL,
              "%s", said);
    free(said);
    free(command_heddle("trace record --format memtrace3 suite:saxpy -o %s/none/a.trc", 2));
}

/* A column of 32 floats in shared memory and a row of global memory: what is chosen is recorded. */
Test(trace_command, launches_ctas_and_spaces_are_chosen)
{
    static const struct {
        const char *options;
        size_t kernels, records; /* of a lane */
    } cases[] = {
        /* 512 x 512 elements, loaded and stored, in three launches */
        {"--launch 1", 1, 2 * 512 * 512},
        {"--launch 0-1 --cta 3", 2, 2 * 2 * 1024},
        {"--launch 2 --cta 0-1 --space shared", 1, 2 * 2 * 1024},
        {"--launch 2-9 --cta 0-1 --space local", 1, 0},
    };
    for (size_t i = 0; i < 4; i++) {
        char words[300];
        snprintf(words, sizeof words,
                 "trace record suite:transpose_tiled --format memtrace1 %s -o %%s/a.trc 2>&1",
                 cases[i].options);
        free(command_heddle(words, 0));
        int status;
        char *size = command_output("wc -c < %s/a.trc", &status);
        /* "\x18\n", then for each launch its name and LF, records and a record of zeros */
        const size_t want = 2 + cases[i].kernels * (sizeof "transpose_tiled" + 24) +
                            24 * cases[i].records;
        cr_expect(eq(sz, (size_t)atoll(size), want), "%s", cases[i].options);
        free(size);
    }
}

Test(trace_command, what_cannot_be_chosen_is_refused)
{
    static const char *const words[] = {
        "trace record suite:saxpy --launch 1 -o %s/a 2>&1",
        "trace record suite:saxpy --format accelsim --cta 1 -o %s/a 2>&1",
        "trace record suite:saxpy --format memtrace3 --cta 3-1 -o %s/a 2>&1",
        "trace record suite:saxpy --format memtrace3 --space texture -o %s/a 2>&1"};
    for (size_t i = 0; i < 4; i++) free(command_heddle(words[i], 2));
}

/* Under an order both record the same sequence of accesses. The launch of sgemm_16 has several frames of events. */
Test(trace_command, what_is_converted_is_what_would_have_been_recorded)
{
    static const struct {
        const char *target, *format;
    } cases[] = {{"reduce_atomic --order random", "memtrace1"},
                 {"sgemm_16 --order dab", "memtrace3"},
                 {"reduce_atomic --order random", "accelsim"}};
    int status;
    for (size_t i = SANITIZED ? 2 : 0; i < 3; i++) {
        const char *format = cases[i].format;
        char words[300];
        snprintf(words, sizeof words, "trace record suite:%s --addresses -o %%s/a.hdt 2>&1",
                 cases[i].target);
        free(command_heddle(words, 0));
        char *info = command_heddle("trace info %s/a.hdt", 0), *frames = strstr(info, " CTAs, ");
        cr_expect(frames && atoi(frames + 7) >= (i == 1 ? 8 : 7), "%s", info);
        free(info);
        snprintf(words, sizeof words, "trace record suite:%s --format %s -o %%s/want.%s 2>&1",
                 cases[i].target, format, format);
        free(command_heddle(words, 0));
        snprintf(words, sizeof words, "trace convert %%s/a.hdt --format %s -o %%s/got.%s 2>&1",
                 format, format);
        free(command_heddle(words, 0));
        snprintf(words, sizeof words, "diff -rq %%s/want.%s %%s/got.%s", format, format);
        free(command_output(words, &status));
        cr_expect(eq(int, status, 0), "%s", format);
    }
    free(command_heddle("trace record suite:saxpy --addresses -o %s/a.hdt", 0));
    free(command_heddle("trace convert %s/a.hdt --format memtrace1 --launch 1 --cta 3 -o %s/one",
                        0));
    char *size = command_output("wc -c < %s/one", &status);
    cr_expect(
        eq(int, atoi(size), 2 + 6 + 24 + 24 * 3 * 256)); /* 256 threads, two loads and a store */
    free(size);
}

Test(trace_command, traces_without_addresses_are_not_converted)
{
    record("--gpu gv100");
    char *said = command_heddle("trace convert %s/a.hdt --format memtrace3 -o %s/a.trc 2>&1", 1);
    cr_expect(strstr(said, "3 of 3 launches") && strstr(said, "trace record --addresses"), "%s",
              said);
    free(said);
    free(command_heddle("trace record suite:saxpy --addresses -o %s/b.hdt", 0));
    said = command_heddle("estimate --from %s/b.hdt 2>&1", 1);
    cr_expect(strstr(said, "recorded with --addresses") != NULL, "%s", said);
    free(said);
    free(command_heddle("trace convert %s/b.hdt --format memtrace2 -o %s/a.trc 2>&1", 2));
    free(command_heddle("trace convert %s/b.hdt --format accelsim --cta 1 -o %s/a.trc 2>&1", 2));
    free(command_heddle("trace convert %s/b.hdt -o %s/a.trc 2>&1", 2));
    free(command_heddle("trace convert %s/none.hdt --format hdt -o %s/a.trc 2>&1", 2));
    free(command_heddle("trace record suite:saxpy --addresses --cta 1 -o %s/b.hdt 2>&1", 2));
    free(command_heddle("trace record suite:saxpy --addresses --format accelsim -o %s/b 2>&1", 2));
}

/* What is whole of a file that was cut off becomes a file with an index; its first launches are the same. */
Test(trace_command, whole_launches_are_saved)
{
    char path[100];
    struct stat st;
    int status;
    record("--gpu gv100");
    free(command_heddle("trace dump --launch 0 --cta 3 %s/a.hdt > %s/want", 0));
    snprintf(path, sizeof path, "%s/a.hdt", command_folder);
    cr_assert(stat(path, &st) == 0 && truncate(path, st.st_size / 2) == 0);
    free(command_heddle("trace check %s/a.hdt 2>&1", 1));
    free(command_heddle("trace convert %s/a.hdt --format hdt -o %s/b.hdt 2>&1", 1));
    char *check = command_heddle("trace check %s/b.hdt", 0),
         *info = command_heddle("trace info %s/b.hdt", 0);
    cr_expect(strstr(info, "run: suite:transpose_naive") && strstr(info, " 1 launches"), "%s",
              info);
    free(command_heddle("trace dump --launch 0 --cta 3 %s/b.hdt > %s/got", 0));
    free(command_output("cmp %s/want %s/got", &status));
    cr_expect(eq(int, status, 0));
    free(check);
    free(info);
}

/* The file of a recording ends with an index: cut off between two launches, it is found out, and dump reads only the launch
 * that it prints. */
Test(trace_command, the_index_says_whether_a_file_is_complete)
{
    char path[100];
    struct stat st;
    record("--gpu gv100");
    snprintf(path, sizeof path, "%s/a.hdt", command_folder);
    cr_assert(stat(path, &st) == 0 && truncate(path, st.st_size - 22) == 0); /* the trailer */
    char *said = command_heddle("trace check %s/a.hdt 2>&1", 1);
    cr_expect(strstr(said, "its index is missing") != NULL, "%s", said);
    free(said);
    record("--gpu gv100");
    FILE *f = fopen(path, "r+b");
    cr_assert(f && fseek(f, 5000, SEEK_SET) == 0 && fputc('x', f) == 'x' && fputc('x', f) == 'x');
    fclose(f); /* in the first launch */
    free(command_heddle("trace dump --launch 0 %s/a.hdt > %s/0 2>&1", 1));
    free(command_heddle("trace dump --launch 2 %s/a.hdt > %s/2", 0));
    free(command_heddle("trace info %s/a.hdt", 0));
    free(command_heddle("trace check %s/a.hdt 2>&1", 1));
}

/* What is not there is no success. */
Test(trace_command, empty_files_and_absent_launches_are_reported)
{
    free(command_output(": >%s/empty.hdt", &(int){0}));
    char *said = command_heddle("trace check %s/empty.hdt", 1);
    cr_expect(strstr(said, "empty.hdt' is empty") != NULL, "%s", said);
    free(said);
    free(command_heddle("trace info %s/empty.hdt", 1));
    record("");
    said = command_heddle("trace dump --launch 99 %s/a.hdt", 1);
    cr_expect(strstr(said, "there is no launch 99") != NULL, "%s", said);
    free(said);
}

Test(trace_command, sums_are_of_one_file)
{
    record("");
    char *one = command_heddle("trace info %s/a.hdt", 0),
         *two = command_heddle("trace info %s/a.hdt %s/a.hdt", 0);
    const size_t n = strlen(one);
    cr_expect(strlen(two) == 2 * n && memcmp(two, one, n) == 0 && memcmp(two + n, one, n) == 0,
              "%s\n%s", one, two);
    free(one);
    free(two);
}
