/* heddle run TARGET: runs a kernel file, a job file, a workload or a program. */
#define _GNU_SOURCE
#include "cli/run.h"
#include "cli/command.h"
#include "cli/counts.h"
#include "cli/job_file.h"
#include "cli/litmus_table.h"
#include "cli/locks_report.h"
#include "cli/placement_report.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/report.h"
#include "cli/run_options.h"
#include "cli/run_program.h"
#include "cli/run_suite.h"
#include "cli/watch_report.h"
#include "cuda/outcome.h"
#include "determinism/locks/locks.h"
#include "determinism/orders.h"
#include "emu/order.h"
#include "session/event_stream.h"
#include "session/run_observer.h"

#include "base/arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOB_TEXT = 16 << 20 };

static void say(struct report *r, struct diags *d)
{
    struct buf text = {0};
    diags_render(d, &text);
    report_say(r, text.data ? text.data : "");
    buf_free(&text);
}

/* Errors of the command line. */
static void bad_call(struct report *r, struct run_options *o)
{
    say(r, &o->diags);
    report_fail(r, EXIT_USAGE, "Try 'heddle %s --help'.\n", o->command);
}

/* A seed for an order that draws nothing is a mistake. */
static bool seed_fits(struct run_options *o, const struct settings *s)
{
    for (size_t i = 0; i < o->count; i++) {
        const struct piece name = o->list[i].name;
        if (!piece_is(name, "seed")) continue;
        if (s->order && strcmp(s->order, heddle_order(0).name) != 0) return true;
        diag_error(&o->diags, name.at, name.length,
                   "--seed needs a random order, but this is %s: add --order random%s",
                   heddle_order(0).name,
                   o->kind == TARGET_SUITE ? ", or do you mean --data-seed, for the inputs?" : "");
        return false;
    }
    return true;
}

/* Orders that go by warps do not go with lanes that go their own ways. */
static bool divergence_fits(struct run_options *o, const struct settings *s)
{
    const struct order_kind *kind = NULL;
    if (s->independent_threads && s->order) free(orders_check(s->order, &kind));
    for (size_t i = 0; kind && kind->stack_only && i < o->count; i++) {
        const struct piece name = o->list[i].name;
        if (!piece_is(name, "order") && !piece_is(name, "divergence")) continue;
        diag_error(&o->diags, name.at, name.length, EMU_STACK_ONLY, kind->name);
        return false;
    }
    return true;
}

/* A limit of files that kernels do not have. */
static bool files_fit(struct run_options *o, const struct settings *s)
{
    for (size_t i = 0; i < o->count && !s->files; i++) {
        const struct piece name = o->list[i].name;
        if (!piece_is(name, "files-bytes")) continue;
        diag_error(&o->diags, name.at, name.length,
                   "--files-bytes limits what kernels write to files: add --files DIR");
        return false;
    }
    return true;
}

static bool settings_fit(struct run_options *o, const struct settings *s)
{
    return seed_fits(o, s) && divergence_fits(o, s) && files_fit(o, s);
}

static void run_kernel_file(struct report *r, struct run_options *o, const struct settings *s,
                            const struct heddle_device_options *device)
{
    struct job job = {
        .arena = o->arena, .diags = &o->diags, .folder = "", .settings = *s, .device = *device};
    bool ok = settings_fit(o, s) && job_of_options(&job, o);
    if (ok) ok = job_add_results(&job, o);
    if (ok) job_run(&job, r);
    else bad_call(r, o);
}

/* The text of a job file. NULL after a message. */
static const char *read_text(struct report *r, struct run_options *o, const char *path,
                             uint32_t *size)
{
    struct buf text = {0};
    const char *all = NULL;
    if (buf_add_file(&text, path, MOST_JOB_TEXT))
        all = arena_copy(o->arena, text.data ? text.data : "", text.size);
    else if (errno == EFBIG)
        report_fail(r, EXIT_INPUT, "%s: error: a job file has at most %d MiB\n", path,
                    MOST_JOB_TEXT >> 20);
    else report_fail(r, EXIT_USAGE, "%s: error: cannot read: %s\n", path, strerror(errno));
    *size = (uint32_t)text.size;
    buf_free(&text);
    return all;
}

static void run_job_file(struct report *r, struct run_options *o, const struct settings *s,
                         const struct heddle_device_options *device)
{
    struct source source = {.name = r->name};
    struct diags diags = {.arena = o->arena, .source = &source, .max_errors = 20};
    const char *slash = strrchr(r->name, '/');
    size_t folder = slash ? (size_t)(slash - r->name) + 1 : 0;
    struct job job = {.arena = o->arena,
                      .diags = &diags,
                      .folder = arena_copy(o->arena, r->name, folder),
                      .settings = *s,
                      .device = *device};
    source.text = read_text(r, o, r->name, &source.length);
    if (!source.text) return;
    if (!job_read(&job)) {
        say(r, &diags);
        r->status = EXIT_INPUT;
        return;
    }
    /* Once more, over the job's; there were no errors before. */
    (void)run_options_settings(o, &job.settings);
    job.diags = &o->diags;
    bool ok = settings_fit(o, &job.settings) && job_add_results(&job, o);
    job.diags = &diags;
    if (ok) job_run(&job, r);
    else bad_call(r, o);
}

static bool begin_counts(struct report *r, const struct run_options *o,
                         struct heddle_device_options *device)
{
    const struct run_option *file = run_option_find(o, OPTION_COUNTS);
    const bool profile = run_option_find(o, OPTION_PROFILE) != NULL,
               fidelity = run_option_find(o, OPTION_FIDELITY) || r->counts->list_fidelity;
    const char *path = file ? arena_copy(o->arena, file->value.text, file->value.length) : NULL;
    device->trace = r->counts->estimates || r->counts->traces;
    device->caches = path || profile || device->trace;
    device->count = device->caches || fidelity;
    device->phases = path != NULL;
    if (counts_begin(r->counts, path, profile, fidelity)) return true;
    report_fail(r, EXIT_USAGE, "heddle run: cannot write '%s': %s\n", path, strerror(errno));
    return false;
}

static void end_counts(struct report *r)
{
    const bool ran = r->row_count || r->status == EXIT_FINE;
    if (!counts_end(r->counts, ran))
        report_fail(r, EXIT_USAGE, "heddle run: cannot write '%s': %s\n", r->counts->path,
                    strerror(errno));
}

const char *run_target_name(enum run_target kind)
{
    return kind == TARGET_PROGRAM ? "program"
           : kind == TARGET_SUITE ? "suite"
           : kind == TARGET_JOB   ? "job"
                                  : "ptx";
}

void run_target(struct report *r, struct run_options *o)
{
    struct heddle_device_options device = {.print = report_printed, .print_self = r};
    struct settings settings = {0};
    if (!run_options_settings(o, &settings)) {
        bad_call(r, o);
        return;
    }
    if ((r->placement && !placement_report_read(r->placement, o)) ||
        (r->watches && !watch_report_read(r->watches, o, r)) ||
        (r->recording && !recording_read(r->recording, o, r))) {
        bad_call(r, o);
        return;
    }
    if (r->progress) progress_set_up(r->progress, &device);
    if (r->counts && !begin_counts(r, o, &device)) return;
    if (o->kind == TARGET_SUITE) {
        settings_to_device(&settings, &device);
        if (run_option_find(o, OPTION_TABLE) || run_option_find(o, OPTION_SEEDS) ||
            run_option_find(o, OPTION_EXHAUSTIVE))
            litmus_table_run(o, &device, r);
        else if (settings_fit(o, &settings)) suite_target_run(o, &device, r);
        if (o->diags.errors) bad_call(r, o);
    } else if (o->kind == TARGET_JOB) run_job_file(r, o, &settings, &device);
    else run_kernel_file(r, o, &settings, &device);
}

/* Its process counts, and writes --counts itself. */
static int run_program(struct run_options *o, char **argv, struct report *r,
                       struct event_stream *events)
{
    struct settings settings = {0};
    struct heddle_device_options device = {0};
    struct buf text = {0};
    const bool ok = run_options_settings(o, &settings) && settings_fit(o, &settings);
    settings_to_device(&settings, &device);
    if (ok && watch_report_read(r->watches, o, r) && recording_read(r->recording, o, r)) {
        (void)counts_begin(r->counts, NULL, run_option_find(o, OPTION_PROFILE) != NULL,
                           run_option_find(o, OPTION_FIDELITY) != NULL);
        const int status = recording_of_program(r->recording, &device)
                               ? program_run(o, argv, r, events)
                               : r->status;
        recording_end(r->recording);
        counts_free(r->counts);
        watch_report_free(r->watches);
        return status;
    }
    diags_render(&o->diags, &text);
    fprintf(stderr, "%sTry 'heddle %s --help'.\n", text.data, o->command);
    buf_free(&text);
    return EXIT_USAGE;
}

static int run_command_line(int argc, char **argv)
{
    return run_command(argc, argv, 0, NULL);
}

/* Another command has the run made, and prints what it wants of it: what these options ask for would be lost. */
static bool others_fit(struct run_options *o, bool estimating)
{
    bool fits = true;
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        const bool map = x->id >= OPTION_MEMORY_MAP && x->id <= OPTION_HOP_CYCLES;
        if (x->id != OPTION_PROFILE && (!map || estimating)) continue;
        diag_error(&o->diags, x->name.at, x->name.length, "--%.*s is for 'heddle run' alone%s",
                   (int)x->name.length, x->name.text, map ? ", and 'heddle estimate'" : "");
        fits = false;
    }
    return fits;
}

int run_command(int argc, char **argv, int added, struct event_stream *events)
{
    struct arena *arena = arena_new();
    struct run_options o = {.arena = arena, .added = added};
    struct progress progress;
    const bool estimating = event_stream_wants(events, EVENTS_ESTIMATES),
               tracing = estimating || event_stream_wants(events, EVENTS_TRACES);
    struct counts counts = {.list_fidelity = event_stream_wants(events, EVENTS_FIDELITY),
                            .estimates = estimating ? events : NULL,
                            .traces = tracing ? getenv(CUDA_TRACES) : NULL};
    struct watch_report watches = {0};
    struct recording recording = {0};
    struct placement_report placement = {.estimates = estimating};
    bool ok = run_options_read(&o, argc, argv) && (!events || others_fit(&o, estimating));
    struct report r = {
        .arena = arena,
        .json = o.json,
        .quiet = o.quiet,
        .kind = run_target_name(o.kind),
        .name = arena_copy(arena, o.target.text ? o.target.text : "", o.target.length),
        .counts = &counts,
        .watches = &watches,
        .placement = &placement,
        .recording = &recording};
    report_begin(&r);
    if (ok && run_option_find(&o, OPTION_LOCKS)) r.locks = locks_new();
    if (ok && o.kind == TARGET_PROGRAM) {
        counts.estimates = NULL; /* the program's process writes them */
        const int status = run_program(&o, argv + o.rest, &r, events);
        locks_free(r.locks);
        arena_free(arena);
        return status;
    }
    struct event_stream *const own = r.locks && !events ? event_stream_new() : NULL;
    if (!events) events = own;
    if (r.locks && events) event_stream_want(events, EVENTS_LOCKS);
    r.run_observer = run_observer_open(events);
    r.progress = &progress;
    progress_begin(&progress);
    if (ok) run_target(&r, &o);
    else bad_call(&r, &o);
    run_observer_end(r.run_observer, events);
    if (event_stream_wants(events, EVENTS_FIDELITY)) event_write_fidelity(events, counts.fidelity);
    if (events) locks_report_read(r.locks, events);
    recording_end(&recording);
    end_counts(&r);
    int status = report_end(&r);
    counts_free(&counts);
    watch_report_free(&watches);
    placement_report_free(&placement);
    locks_free(r.locks);
    event_stream_close(own);
    arena_free(arena);
    return status;
}

const struct command command_run = {
    .name = "run",
    .summary = "run a kernel, a job file, a workload or a CUDA program",
    .usage = "run TARGET [options]\nrun [options] [--] PROGRAM [arguments]",
    .description =
        "TARGET is a kernel file (FILE.ptx; '-' is standard input), a job file (FILE.yaml or "
        "FILE.yml, as "
        "docs/job-files.md describes it), or suite:NAME[:SIZE], a workload of 'heddle suite "
        "list'.\n"
        "PROGRAM is an executable that uses CUDA's shared runtime (nvcc -cudart shared; CUDA 11, "
        "12 or 13) or the "
        "driver API, or a source FILE.cu, which nvcc compiles first. It runs with Heddle's CUDA "
        "libraries. Words "
        "behind it are its arguments; a warning is printed if the first of them is an option of Heddle, unless "
        "'--' stands before the program. The exit status is that of the program, unless Heddle "
        "found an error.",
    .options = run_options_table,
    .option_count = RUN_OPTION_COUNT,
    .is_program = run_is_program,
    .exit_status =
        "The first of these that applies:\n"
        "  0  success\n"
        "  1  errors in the input\n"
        "  2  a wrong call, a file that cannot be read or written, no memory, or a program whose "
        "device\n"
        "     could not be created\n"
        "  3  a kernel faulted or cannot be launched, or a check found an error\n"
        "  4  results differ from those expected\n"
        "  5  a kernel or a loop did not terminate",
    .examples = "  heddle run suites/ptx/saxpy.ptx --grid 4 --block 256 --arg 1000 --arg f32:2 \\\n"
                "      --arg 'buf:f32[1000]=iota' --arg 'y=buf:f32[1000]=const(1)' \\\n"
                "      --expect 'y=iota(1, 2)'\n"
                "  heddle run --check memory,race ./app arguments",
    .run = run_command_line,
};
