/* The stream of events between the process that runs kernels and the command line. */
#define _GNU_SOURCE
#include "session/event_stream.h"
#include "session/run_log.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct buf bytes;
static struct event_stream *stream;

static void start(void)
{
    stream = event_stream_new();
    cr_assert(stream != NULL);
}

static void stop(void)
{
    event_stream_close(stream);
    buf_free(&bytes);
}

TestSuite(event_stream, .init = start, .fini = stop);

/* The stream's descriptor, as the other process finds it. */
static int file_of(const struct event_stream *s)
{
    cr_assert(event_stream_pass_on(s));
    return atoi(getenv(EVENT_STREAM_VARIABLE));
}

/* As another process opens it. */
static struct event_stream *again(void)
{
    cr_assert(event_stream_pass_on(stream));
    return event_stream_open(getenv(EVENT_STREAM_VARIABLE));
}

static struct event next(struct event_reader *r)
{
    struct event e;
    cr_assert(event_next(r, &e));
    return e;
}

Test(event_stream, carries_a_launch_record)
{
    const struct emu_launch launch = {
        .grid = {1, 2, 3}, .block = {4, 5, 6}, .cluster = {7, 8, 9}, .shared = 10};
    const struct emu_finding finding = {.text = "f"};
    const struct emu_counts counts = {.kernel = "k"};
    const struct emu_report report = {
        .fault = {.kind = EMU_LIMIT, .line = 11, .source_line = 12, .text = "no end\n"},
        .findings = &finding,
        .finding_count = 1,
        .suppressed = 13,
        .warp_instructions = 14,
        .thread_instructions = 15,
        .counts = &counts,
        .seconds = 1 / 3.0};
    const struct launch_record l = launch_record_of("kernel", &launch, &report);
    event_write(stream, &(struct event){.kind = EVENT_LAUNCH, .launch = l});
    struct event_reader r = event_reader_open(stream, &bytes);
    const struct event e = next(&r);
    const struct launch_record *got = &e.launch;
    cr_expect(e.kind == EVENT_LAUNCH);
    cr_expect(eq(str, (char *)got->kernel, "kernel"));
    for (unsigned i = 0; i < 3; i++)
        cr_expect(got->grid[i] == 1 + i && got->block[i] == 4 + i && got->cluster[i] == 7 + i);
    cr_expect(got->shared == 10 && got->fault == EMU_LIMIT && got->fault_line == 11);
    cr_expect(got->source_line == 12 && got->source_file == NULL && got->finding_count == 1);
    cr_expect(eq(str, (char *)got->fault_text, "no end\n"));
    cr_expect(got->suppressed == 13 && got->warp_instructions == 14);
    cr_expect(got->thread_instructions == 15 && got->seconds == 1 / 3.0);
    cr_expect(got->findings == NULL && got->counts == NULL, "pointers of another process");
    cr_expect(launch_record_endless(got));
    cr_expect(not(event_next(&r, &(struct event){0})));
}

Test(event_stream, carries_the_time_of_a_launch)
{
    struct event e = {.kind = EVENT_ESTIMATE};
    struct launch_estimate *t = &e.estimate;
    *t = (struct launch_estimate){.kernel = "k", .gpu = "g", .cycles = 1 / 3.0, .warnings = 5};
    for (int p = 0; p < TIMING_PARTS; p++) t->part[p] = p / 7.0;
    for (int u = 0; u < TIMING_UNITS; u++) t->by_unit[u] = u / 9.0;
    event_write(stream, &e);
    struct event_reader r = event_reader_open(stream, &bytes);
    const struct event got = next(&r);
    cr_expect(got.kind == EVENT_ESTIMATE && memcmp(&got.estimate, t, sizeof *t) == 0);
}

Test(event_stream, keeps_events_in_order_with_texts_that_may_be_absent)
{
    event_write(stream, &(struct event){.kind = EVENT_MESSAGE, .text = ""});
    event_write(stream, &(struct event){.kind = EVENT_WRITE,
                                        .write = {.address = 1, .label = "x", .type = "u32"}});
    event_write(stream, &(struct event){.kind = EVENT_WRITES_LEFT_OUT, .count = 7});
    event_write(stream, &(struct event){.kind = EVENT_PROFILE_LINE,
                                        .line = {.file = "a.cu", .line = 3, .warp = 9}});
    struct event_reader r = event_reader_open(stream, &bytes);
    struct event e = next(&r);
    cr_expect(e.kind == EVENT_MESSAGE && e.text && !*e.text);
    e = next(&r);
    cr_expect(e.kind == EVENT_WRITE && e.write.address == 1 && e.write.op == NULL);
    cr_expect(eq(str, (char *)e.write.label, "x"));
    cr_expect(eq(str, (char *)e.write.type, "u32"));
    e = next(&r);
    cr_expect(e.kind == EVENT_WRITES_LEFT_OUT && e.count == 7);
    e = next(&r);
    cr_expect(e.kind == EVENT_PROFILE_LINE && e.line.line == 3 && e.line.warp == 9);
    cr_expect(eq(str, (char *)e.line.file, "a.cu"));
    cr_expect(not(event_next(&r, &e)));
}

Test(event_stream, of_a_process_that_was_killed_can_be_read)
{
    event_stream_want(stream, EVENTS_LAUNCHES | EVENTS_TOTALS);
    cr_assert(event_stream_pass_on(stream));
    const pid_t child = fork();
    if (child == 0) {
        struct event_stream *s = event_stream_open(getenv(EVENT_STREAM_VARIABLE));
        struct launch_record l = {.kernel = "k", .fault_text = "", .warp_instructions = 5};
        if (!event_stream_wants(s, EVENTS_LAUNCHES) || event_stream_wants(s, EVENTS_ESTIMATES))
            _exit(1);
        for (int i = 0; i < 3; i++) {
            event_totals_add(event_stream_totals(s), &l);
            event_write(s, &(struct event){.kind = EVENT_LAUNCH, .launch = l});
        }
        abort();
    }
    int status;
    cr_assert(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    struct event_reader r = event_reader_open(stream, &bytes);
    for (int i = 0; i < 3; i++) cr_expect(eq(str, (char *)next(&r).launch.kernel, "k"));
    cr_expect(not(event_next(&r, &(struct event){0})));
    cr_expect(event_stream_totals(stream)->launches == 3);
    cr_expect(event_stream_totals(stream)->warp_instructions == 15);
}

/* Processes add to the same totals at once. */
Test(event_stream, totals_are_of_all_processes)
{
    enum { PROCESSES = 2, LAUNCHES = 2000000 };
    const struct launch_record l = {.kernel = "k", .warp_instructions = 3};
    pid_t process[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        process[p] = fork();
        if (process[p]) continue;
        struct event_stream *s = again();
        for (int i = 0; i < LAUNCHES; i++) event_totals_add(event_stream_totals(s), &l);
        _exit(0);
    }
    for (int p = 0; p < PROCESSES; p++) cr_assert(waitpid(process[p], NULL, 0) == process[p]);
    const struct event_totals *t = event_stream_totals(stream);
    cr_expect(eq(u64, t->launches, (uint64_t)PROCESSES * LAUNCHES));
    cr_expect(eq(u64, t->warp_instructions, (uint64_t)3 * PROCESSES * LAUNCHES));
}

Test(event_stream, ends_for_its_reader_where_an_event_was_cut_short)
{
    event_write(stream, &(struct event){.kind = EVENT_MESSAGE, .text = "first"});
    const off_t first = lseek(file_of(stream), 0, SEEK_END);
    event_write(stream, &(struct event){.kind = EVENT_MESSAGE, .text = "second"});
    const off_t all = lseek(file_of(stream), 0, SEEK_END);
    cr_assert(all > first);
    for (off_t size = all - 1; size >= first; size--) { /* what is cut off does not come back */
        cr_assert(ftruncate(file_of(stream), size) == 0);
        struct event_reader r = event_reader_open(stream, &bytes);
        cr_expect(eq(str, (char *)next(&r).text, "first"));
        cr_expect(not(event_next(&r, &(struct event){0})), "%d bytes", (int)size);
    }
}

Test(event_stream, is_none_of_another_version_or_of_another_file)
{
    static const char *const wrong[] = {NULL, "", "x", "-1", "99999999999", "1000000", "3x"};
    const int file = file_of(stream);
    struct event_stream *s = again();
    cr_assert(s != NULL);
    const uint32_t version = 0;
    cr_assert(pwrite(file, &version, sizeof version, 8) == sizeof version);
    cr_expect(again() == NULL);
    const uint32_t good[] = {1, 0}; /* the version, and sizes of other structures */
    cr_assert(pwrite(file, good, sizeof good, 8) == sizeof good);
    cr_expect(again() == NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_expect(event_stream_open(wrong[i]) == NULL, "%zu", i);
    char number[16];
    FILE *f = tmpfile();
    snprintf(number, sizeof number, "%d", fileno(f));
    cr_expect(event_stream_open(number) == NULL, "an empty file");
    fclose(f);
    event_stream_close(s);
}

Test(event_stream, is_not_needed_by_its_writer)
{
    event_write(NULL, &(struct event){.kind = EVENT_MESSAGE, .text = "nobody reads it"});
    cr_expect(not(event_stream_wants(NULL, ~0u)));
    event_stream_totals(NULL)->findings++;
    event_stream_close(NULL);
}

Test(event_stream, carries_what_a_run_log_has)
{
    const struct emu_finding f = {.kind = EMU_MIXED,
                                  .count = 1,
                                  .line = 2,
                                  .line2 = 3,
                                  .source_file = "a.cu",
                                  .source_line = 4,
                                  .text = "mixed\n"};
    event_write(stream, &(struct event){.kind = EVENT_LAUNCH_BEGIN, .text = "k"});
    event_write(stream, &(struct event){.kind = EVENT_FINDING, .finding = {"k", f}});
    event_write(stream, &(struct event){.kind = EVENT_DIGEST, .digest = {"k", 5}});
    event_write(stream, &(struct event){.kind = EVENT_END_DIGESTS, .end = {6, 7, 8, 9, 10}});
    event_write(stream, &(struct event){.kind = EVENT_STATUS, .count = 10});
    struct event_reader r = event_reader_open(stream, &bytes);
    struct event e = next(&r);
    cr_expect(e.kind == EVENT_LAUNCH_BEGIN);
    cr_expect(eq(str, (char *)e.text, "k"));
    e = next(&r);
    const struct emu_finding *got = &e.finding.found;
    cr_expect(e.kind == EVENT_FINDING && got->kind == EMU_MIXED && got->count == 1);
    cr_expect(got->line == 2 && got->line2 == 3 && got->source_line == 4);
    cr_expect(eq(str, (char *)e.finding.kernel, "k"));
    cr_expect(eq(str, (char *)got->source_file, "a.cu"));
    cr_expect(eq(str, (char *)got->text, "mixed\n"));
    cr_expect(got->source_file2 == NULL);
    e = next(&r);
    cr_expect(e.kind == EVENT_DIGEST && e.digest.memory == 5);
    cr_expect(eq(str, (char *)e.digest.kernel, "k"));
    e = next(&r);
    cr_expect(e.kind == EVENT_END_DIGESTS && e.end.other_launches == 6 && e.end.memory == 7);
    cr_expect(e.end.printed == 8 && e.end.copied == 9 && e.end.execution == 10);
    e = next(&r);
    cr_expect(e.kind == EVENT_STATUS && e.count == 10);
}

Test(event_stream, has_a_run_log_only_if_one_was_asked_for)
{
    cr_expect(run_log_open(NULL) == NULL);
    cr_expect(run_log_open(stream) == NULL);
    event_stream_want(stream, EVENTS_TOTALS | EVENTS_LAUNCHES);
    cr_expect(run_log_open(stream) == NULL);
    run_log_ask(stream, &(struct run_log_task){.work = RUN_LOG_WRITE_EVENTS});
    struct run_log *log = run_log_open(stream);
    cr_assert(log && run_log_writes_events(log));
    run_log_message(log, "m");
    run_log_end(log);
    struct event_reader r = event_reader_open(stream, &bytes);
    cr_expect(next(&r).kind == EVENT_MESSAGE);
    cr_expect(next(&r).kind == EVENT_END_DIGESTS);
}

Test(event_stream, ends_before_its_attachment)
{
    const uint64_t places[] = {16, 24};
    struct event_attachment a;
    run_log_ask(stream, &(struct run_log_task){.work = RUN_LOG_WRITE_LAST_WRITERS,
                                               .places = places,
                                               .place_count = 2});
    struct run_log *log = run_log_open(stream);
    cr_assert(log && !run_log_writes_events(log));
    run_log_message(log, "it writes none");
    cr_expect(not(event_stream_attachment(stream, &a)));
    a = event_stream_attach(stream);
    cr_expect(a.offset % 4096 == 0);
    cr_assert(pwrite(a.file, "bulk", 4, (off_t)a.offset) == 4);
    run_log_end(log);
    struct event_reader r = event_reader_open(stream, &bytes);
    struct event e = next(&r);
    cr_expect(e.kind == EVENT_TASK && e.task.place_count == 2);
    for (int i = 0; i < 2; i++) {
        e = next(&r);
        cr_expect(e.kind == EVENT_PLACE && e.count == places[i]);
    }
    cr_expect(not(event_next(&r, &e)));
    cr_expect(memmem(bytes.data, bytes.size, "bulk", 4) == NULL, "it is not read");
    struct event_attachment again;
    cr_expect(event_stream_attachment(stream, &again) && again.offset == a.offset);
}
