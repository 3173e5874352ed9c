/* heddle measure. No GPU is there: Heddle's own libcuda.so.1 is the driver, whose events, where launches are estimated, go by
 * the estimates. So what is measured must be what was estimated. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "calibrate/traces.h"
#include "emu/counts.h"
#include "model/launch_estimate.h"
#include "session/event_stream.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char program[1000], libraries[1000], folder[] = "/tmp/heddle-measure-XXXXXX";

static void setup(void)
{
    const char *named = getenv("HEDDLE");
    char *own = realpath(named ? named : "./heddle", NULL);
    cr_assert(own && mkdtemp(folder));
    snprintf(program, sizeof program, "%s", own);
    *strrchr(own, '/') = '\0';
    snprintf(libraries, sizeof libraries, "%s%s", own, named ? "" : "/build/gcc-release");
    free(own);
}

static void teardown(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_expect(eq(int, system(command), 0));
}
TestSuite(measure, .init = setup, .fini = teardown);

/* %P is the program, %L the folder of its libraries, %D one for files. */
static int call(const char *words, char *said, size_t size)
{
    char command[4000], *to = command;
    for (const char *p = words; *p; p++) {
        const char *what = *p != '%'     ? NULL
                           : p[1] == 'P' ? program
                           : p[1] == 'L' ? libraries
                                         : folder;
        if (what) to += sprintf(to, "%s", what), p++;
        else *to++ = *p;
    }
    strcpy(to, " 2>&1");
    FILE *f = popen(command, "r");
    cr_assert(f != NULL);
    said[fread(said, 1, size - 1, f)] = '\0';
    const int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void want_libraries(void)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/heddle-suite", libraries);
    if (access(path, X_OK) != 0) cr_skip_test("heddle-suite is not built");
}

static double number_behind(const char *text, const char *words)
{
    const char *at = strstr(text, words);
    cr_assert(at != NULL, "no '%s' in %s", words, text);
    return strtod(at + strlen(words), NULL);
}

/* Rows that heddle calibrate reads, each with the trace of its launch, whose time it is less the empty kernel's. */
/* Whether one of the estimates is of that kernel and as long. */
static bool is_estimated(const struct event_stream *events, const char *kernel, double us)
{
    struct buf bytes = {0};
    struct event_reader r = event_reader_open(events, &bytes);
    bool found = false;
    for (struct event e; event_next(&r, &e);)
        found |= e.kind == EVENT_ESTIMATE && strcmp(e.estimate.kernel, kernel) == 0 &&
                 fabs(us - e.estimate.seconds * 1e6) < 2e-3;
    buf_free(&bytes);
    return found;
}

Test(measure, finds_the_times_of_the_driver_that_it_is_given)
{
    static char said[1 << 16];
    struct traces traces = {.arena = arena_new()};
    struct rows rows = {.gpu = emu_gpu_find("titanv"), .arena = traces.arena};
    struct buf text = {0}, why = {0};
    char path[100];
    want_libraries();
    struct event_stream *const events = event_stream_new();
    cr_assert(events != NULL);
    event_stream_want(events, EVENTS_ESTIMATES);
    cr_assert(event_stream_pass_on(events));
    cr_assert(eq(int,
                 call("HEDDLE_GPU=titanv %P measure sum_tree scan_blocks segment_sum "
                      "--repeat 2 --driver %L/libcuda.so.1 --output %D/mine.csv",
                      said, sizeof said),
                 0),
              "%s", said);
    unsetenv(EVENT_STREAM_VARIABLE);
    for (const char *const *w =
             (const char *const[]){"sum_tree", "scan_blocks", "segment_sum", NULL};
         *w; w++) {
        char words[200];
        snprintf(words, sizeof words,
                 "%%P estimate --gpu titanv --traces %%D/traces suite:%s:small", *w);
        cr_assert(eq(int, call(words, said, sizeof said), 0), "%s", said);
    }
    snprintf(path, sizeof path, "%s/mine.csv", folder);
    cr_assert(buf_add_file(&text, path, 1 << 20));
    const struct source source = {"mine.csv", text.data, (uint32_t)text.size};
    struct diags d = {.arena = traces.arena, .source = &source};
    cr_assert(rows_read(&rows, &d));
    snprintf(path, sizeof path, "%s/traces", folder);
    cr_assert(traces_read(&traces, path) == NULL);
    const struct emu_counts **launch = arena_array(traces.arena, const struct emu_counts *,
                                                   rows.count);
    const size_t count = rows.count;
    cr_assert(traces_match(&traces, &rows, launch, &why), "%s", why.data);
    cr_expect(rows.count == count && count == traces.count && count >= 4);
    cr_expect(eq(sz, rows.application_count, 3));
    cr_expect(strstr(text.data, "TITAN V") && strstr(text.data, "80 SMs"));
    const double mhz = number_behind(text.data, "SM clock "),
                 empty = number_behind(text.data, "between events less ");
    cr_expect(mhz > 0 && empty >= 0 && empty < 1);
    for (size_t i = 0; i < rows.count; i++) {
        struct launch_estimate t;
        cr_assert(launch_estimate_of(launch[i], &t));
        const double us = rows.list[i].counters.cycles / mhz + empty;
        cr_expect(is_estimated(events, t.kernel, us), "%s: %g us measured", rows.list[i].run, us);
        /* In the other process memory lies elsewhere, and other lines meet in a slice. */
        cr_expect(fabs(us / 1e6 / t.seconds - 1) < 1e-3, "%s: %g us measured, %g estimated",
                  rows.list[i].run, us, t.seconds * 1e6);
    }
    buf_free(&text);
    arena_free(traces.arena);
}

Test(measure, says_what_is_missing)
{
    static const struct {
        const char *words;
        int status;
        const char *says;
    } cases[] = {
        {"%P measure saxpi", 2, "there is no workload 'saxpi'; did you mean 'saxpy'?"},
        {"%P measure --size=huge", 2, "--size is small, medium or large, not 'huge'"},
        {"%P measure --repeat=0", 2, "--repeat is at least 1"},
        {"%P measure --repeat=x", 2, "--repeat"},
        {"%P measure --order=dab", 2, "unknown option '--order=dab'"},
        {"%P measure --driver %D/libcuda.so.1", 1, "libcuda.so.1: cannot open shared object file"},
    };
    static char said[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect(eq(int, call(cases[i].words, said, sizeof said), cases[i].status), "%s", said);
        cr_expect(strstr(said, cases[i].says) != NULL, "%s: %s", cases[i].words, said);
    }
}

/* Else its times would be taken for a GPU's. */
Test(measure, does_not_take_heddles_library_for_a_driver)
{
    static char said[4096];
    want_libraries();
    cr_expect(eq(int, call("LD_LIBRARY_PATH=%L %P measure saxpy", said, sizeof said), 1));
    cr_expect(strstr(said, "is Heddle's own, not a driver's") != NULL, "%s", said);
}

/* A driver without a device is reported in its own words. */
Test(measure, tells_what_the_driver_says)
{
    static char said[4096];
    want_libraries();
    cr_expect(
        eq(int,
           call("HEDDLE_GPU=nothing %P measure saxpy --driver %L/libcuda.so.1", said, sizeof said),
           1));
    cr_expect(strstr(said, "heddle measure: cuInit: CUDA_ERROR_") != NULL, "%s", said);
}
