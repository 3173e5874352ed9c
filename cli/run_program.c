/* Runs a CUDA program with Heddle's libraries instead of NVIDIA's (cli/run_program.h).
 *
 * program_find() compiles a .cu file, and checks whether the program can use the libraries. program_environment() sets
 * HEDDLE_* variables from the command line and puts the libraries first in LD_LIBRARY_PATH. program_run() forks, executes
 * the program, reads its events (session/event_stream.h) until it ends, and reports them. cuda/environment.c reads the
 * variables in the program. */
#define _GNU_SOURCE
#include "cli/run_program.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/replace.h"
#include "cli/cli.h"
#include "cli/compile.h"
#include "cli/counts.h"
#include "cli/job_file.h"
#include "cli/locks_report.h"
#include "cli/memory_file.h"
#include "cli/report.h"
#include "cli/watch_report.h"
#include "cuda/program.h"
#include "model/gpu_file.h"
#include "session/event_stream.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where `make` puts the libraries, seen from where it puts the program. */
#ifndef HEDDLE_BUILD
#define HEDDLE_BUILD "build/gcc-release"
#endif

/* ---- can it run ---------------------------------------------------------------------------------------- */

static bool is_there(const char *folder, const char *name)
{
    char path[4096];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           access(path, R_OK) == 0;
}

const char *program_libraries(struct arena *a)
{
    static const char *const places[] = {".", HEDDLE_BUILD, "../lib/heddle"};
    char own[2048], at[4096];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (!slash) return NULL;
    *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(at, sizeof at, "%s/%s", own, places[i]);
        if (is_there(at, "libcuda.so.1")) return arena_copy(a, at, strlen(at));
    }
    return NULL;
}

static int build_again(const char *command, const char *path, const struct program *p)
{
    fprintf(stderr, "heddle %s: '%s' %s\n", command, path,
            p->kind == PROGRAM_STATIC
                ? "contains NVIDIA's static runtime (nvcc's default), which needs a GPU's driver."
                : "contains no PTX, only machine code for certain GPUs.");
    fprintf(stderr, "Build it again with NVCC_APPEND_FLAGS=\"%s\" in the environment.\n",
            program_flags(p));
    return EXIT_INPUT;
}

/* EXIT_FINE, or after a message another status. */
static int look_at(const char *command, const char *path, const char *libraries)
{
    struct program p;
    char *why = NULL;
    if (!program_read(path, &p, &why)) {
        fprintf(stderr, "heddle %s: '%s': %s\n", command, path, why);
        free(why);
        return EXIT_USAGE;
    }
    if (p.kind == PROGRAM_STATIC || p.kind == PROGRAM_SASS) return build_again(command, path, &p);
    if (*p.runtime && !is_there(libraries, p.runtime)) {
        fprintf(
            stderr,
            "heddle %s: '%s' needs %s, which Heddle does not have: build it with nvcc 13, 12 or 11\n",
            command, path, p.runtime);
        return EXIT_INPUT;
    }
    return EXIT_FINE;
}

static bool is_gpu(const struct run_option *x)
{
    return x->name.length == 3 && memcmp(x->name.text, "gpu", 3) == 0;
}

/* Of the GPU that the program is to see. */
static unsigned capability(const struct run_options *o)
{
    const char *name = "h100"; /* what programs see by default */
    struct buf why = {0};      /* nothing: it was looked at when it was read */
    for (size_t i = 0; i < o->count; i++)
        if (is_gpu(&o->list[i]))
            name = arena_copy(o->arena, o->list[i].value.text, o->list[i].value.length);
    const struct emu_gpu *g = gpu_find(name, o->arena, &why);
    buf_free(&why);
    return g ? g->capability : 90;
}

int program_find(const struct run_options *o, const char *command, char **argv, bool estimated,
                 struct program_target *out)
{
    const char *const libraries = program_libraries(o->arena);
    *out = (struct program_target){argv, argv[0], libraries, false};
    if (!libraries)
        return usage_error(command,
                           "libcuda.so.1 is not beside this program, as built or installed");
    if (compile_is_source(argv[0])) {
        const int status = compile_program(o->arena, command, argv[0],
                                           estimated ? 90 : capability(o), &argv[0]);
        if (status != EXIT_FINE) return status;
        out->compiled = true;
    }
    const int status = look_at(command, argv[0], libraries);
    if (status != EXIT_FINE) program_release(out);
    return status;
}

void program_release(const struct program_target *p)
{
    if (p->compiled) compile_remove(p->argv[0]);
}

/* ---- its environment ------------------------------------------------------------------------------------- */

/* Whether the value is a file or folder: the program may go to another folder before it is opened. */
static bool names_file(const struct run_option *x, const char *value)
{
    if (is_gpu(x)) return gpu_is_file(value);
    if (piece_is(x->name, "suppress")) return strcmp(value, "none") != 0;
    return x->id == OPTION_COUNTS || piece_is(x->name, "files");
}

static void set_variable(const struct run_option *x, struct arena *a)
{
    char name[64] = "HEDDLE_";
    size_t n = strlen(name);
    for (size_t i = 0; i < x->name.length && n + 1 < sizeof name; i++)
        name[n++] = (char)(x->name.text[i] == '-' ? '_' : toupper((unsigned char)x->name.text[i]));
    name[n] = '\0';
    const char *value = arena_copy(a, x->value.text, x->value.length);
    if (names_file(x, value)) path_to_environment(name, value);
    else setenv(name, value, 1);
}

static void set_watches(const struct run_options *o)
{
    struct buf list = {0};
    for (size_t i = 0; i < o->count; i++) {
        if (o->list[i].id != OPTION_WATCH) continue;
        if (list.size) buf_putc(&list, ',');
        buf_add(&list, o->list[i].value.text, o->list[i].value.length);
    }
    if (list.size) setenv("HEDDLE_WATCH", list.data, 1);
    buf_free(&list);
}

void program_environment(const struct program_target *p, const struct run_options *o)
{
    const char *others = getenv("LD_LIBRARY_PATH");
    char text[8192];
    for (size_t i = 0; i < o->count; i++)
        if (o->list[i].id == OPTION_SETTING || o->list[i].id == OPTION_COUNTS)
            set_variable(&o->list[i], o->arena);
    set_watches(o);
    snprintf(text, sizeof text, "%s%s%s", p->libraries, others && *others ? ":" : "",
             others ? others : "");
    setenv("LD_LIBRARY_PATH", text, 1);
}

void program_preload(void)
{
    const char *others = getenv("LD_PRELOAD");
    char text[8192];
    snprintf(text, sizeof text, "libcuda.so.1%s%s", others && *others ? ":" : "",
             others ? others : "");
    setenv("LD_PRELOAD", text, 1);
}

static bool checks_host(void)
{
    const char *checks = getenv("HEDDLE_CHECK");
    return checks && (strstr(checks, "sync") || strstr(checks, "all"));
}

/* ---- the run --------------------------------------------------------------------------------------------- */

struct running {
    const struct run_options *o;
    struct report *report;
    struct program_target target;
    struct event_stream *events;
    int printed; /* a file; -1: none */
};

static bool prepare(struct running *r, struct event_stream *events)
{
    const struct counts *counts = r->report->counts;
    const bool profile = counts_profiling(counts), fidelity = counts && counts->fidelity;
    r->events = events ? events : event_stream_new();
    if (!r->events) return false;
    event_stream_want(r->events, EVENTS_TOTALS | (r->report->json ? EVENTS_LAUNCHES : 0u) |
                                     (profile ? EVENTS_PROFILE : 0u) |
                                     (fidelity ? EVENTS_FIDELITY : 0u) |
                                     (r->report->locks ? EVENTS_LOCKS : 0u));
    if (!event_stream_pass_on(r->events)) return false;
    return !r->report->json || (r->printed = memfd_create("heddle", 0)) >= 0;
}

/* The program's exit status, as a shell has it. */
static int run(const struct running *r)
{
    char *const *const argv = r->target.argv;
    int status;
    const pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* if this process is killed */
        if (r->printed >= 0) (void)dup2(r->printed, STDOUT_FILENO);
        if (checks_host()) program_preload();
        execv(argv[0], argv);
        fprintf(stderr, "heddle run: cannot run '%s': %s\n", argv[0], strerror(errno));
        _exit(EXIT_USAGE);
    }
    if (child < 0) return usage_error("run", "cannot start another process: %s", strerror(errno));
    signal(SIGINT, SIG_IGN); /* the terminal sends it to both; the program decides */
    signal(SIGQUIT, SIG_IGN);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
    fprintf(stderr, "heddle run: '%s' was ended by a signal: %s\n", r->target.name,
            strsignal(WTERMSIG(status)));
    return 128 + WTERMSIG(status);
}

/* ---- what it has reported --------------------------------------------------------------------------------- */

static void read_events(struct running *r)
{
    struct report *report = r->report;
    struct buf bytes = {0};
    struct event_reader reader = event_reader_open(r->events, &bytes);
    for (struct event e; event_next(&reader, &e);) switch (e.kind) {
        case EVENT_LAUNCH: /* its text was said when it happened */
            report_launch(report, &e.launch, NULL);
            break;
        case EVENT_MESSAGE: buf_puts(&report->messages, e.text); break;
        case EVENT_PROFILE_LINE: emu_profile_add_lines(report->counts->profile, &e.line, 1); break;
        case EVENT_FIDELITY:
            if (report->counts->fidelity)
                emu_fidelity_add_line(report->counts->fidelity, &e.fidelity);
            break;
        case EVENT_LOCK:
        case EVENT_LOCK_INSTRUCTIONS: locks_report_add(report->locks, &e); break;
        case EVENT_WRITE:
        case EVENT_WRITES_LEFT_OUT: watch_report_add_event(report->watches, &e); break;
        default: break; /* of `heddle estimate`, which reads them */
        }
    buf_free(&bytes);
}

/* Whether an option was given that a program without a device leaves undone; then it prints that. */
static bool left_undone(const struct running *r)
{
    static const enum run_option_id wanted[] = {OPTION_COUNTS, OPTION_RECORD, OPTION_REPLAY,
                                                OPTION_WATCH};
    bool any = false;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct run_option *x = run_option_find(r->o, wanted[i]);
        if (!x) continue;
        any = true;
        fprintf(stderr, "heddle run: '%s' has made no use of CUDA: nothing was done for --%.*s\n",
                r->target.name, (int)x->name.length, x->name.text);
    }
    return any;
}

/* Both ways end with the exit status. */
static int finish(struct running *r, int status)
{
    struct report *report = r->report;
    const struct event_totals *totals = event_stream_totals(r->events);
    read_events(r);
    if (totals->bad_recording || totals->rejected) report->status = EXIT_INPUT;
    if (!totals->devices && !totals->no_device && left_undone(r)) report->status = EXIT_INPUT;
    if (totals->absent && run_option_find(r->o, OPTION_REQUIRE_SUPPORTED))
        report->status = EXIT_INPUT;
    if (totals->bad_watch || totals->bad_output || totals->no_device) report->status = EXIT_USAGE;
    if (totals->endless) report->status = EXIT_LIMIT;
    if (totals->faults > totals->endless || totals->findings) report->status = EXIT_FAULT;
    if (report->json) {
        size_t size;
        const char *all = memory_file_read(r->o->arena, r->printed, 0, &size);
        buf_add(&report->printed, all, size);
        report->program_status = status;
        report->status = report_end(report);
    } else {
        locks_report_print(report->locks);
        counts_print(report->counts);
        report->status = finish_output("run", report->status);
        if (!report->quiet) event_totals_print(totals, stderr);
    }
    return report->status ? report->status : status;
}

int program_run(const struct run_options *o, char **argv, struct report *report,
                struct event_stream *events)
{
    struct running r = {.o = o, .report = report, .printed = -1};
    if (event_stream_wants(events, EVENTS_TRACES)) event_stream_want(events, EVENTS_ESTIMATES);
    int status = program_find(o, "run", argv, event_stream_wants(events, EVENTS_ESTIMATES),
                              &r.target);
    if (status != EXIT_FINE) return status;
    if (!prepare(&r, events)) return usage_error("run", "no memory: %s", strerror(errno));
    program_environment(&r.target, o);
    status = run(&r);
    program_release(&r.target);
    return finish(&r, status);
}
