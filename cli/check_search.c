/* heddle check --exhaustive: makes the search and prints its result. */
#define _GNU_SOURCE
#include "cli/check_search.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/replace.h"
#include "cli/cli.h"
#include "cli/json.h"
#include "cli/run.h"
#include "determinism/exhaustive.h"
#include "determinism/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RESULTS = 64, RESULTS_SHOWN = 8, VERSION = 5 };

/* What the process of the search leaves, in memory that it shares with its parent. */
struct search_outcome {
    uint64_t runs; /* that ended well */
    uint64_t
        last; /* of them, since the search began anew: those that are complete if `missing` is empty */
    uint32_t result_count;
    bool more_results; /* than there is place for */
    struct search_result {
        uint64_t id, runs;
        bool recorded;
    } results[RESULTS];
    char missing[256]; /* why it is no proof; "": it is one */
    int status;        /* of the run that failed, or of the search itself: an enum exit_code */
    char messages[4096];
    bool ended; /* the process came to its end */
};

struct search {
    const struct check *check;
    struct exhaustive *x;
    struct search_outcome *out;
};

/* ---- the process of the search ------------------------------------------------------------------------------ */

static void fail(struct search *s, int status, const char *text)
{
    s->out->status = status;
    snprintf(s->out->messages, sizeof s->out->messages, "%s", text);
}

static char *recording_name(const struct search *s, struct arena *a, size_t result)
{
    return arena_printf(a, "%s/result-%zu.hdr", s->check->request.search.directory, result + 1);
}

static struct search_result *result_of(struct search_outcome *o, uint64_t id)
{
    for (uint32_t i = 0; i < o->result_count; i++)
        if (o->results[i].id == id) return &o->results[i];
    if (o->result_count == RESULTS) {
        o->more_results = true;
        return NULL;
    }
    o->results[o->result_count] = (struct search_result){.id = id};
    return &o->results[o->result_count++];
}

/* One run under this order; false: it failed. */
static bool run_under(struct search *s, struct arena *a, const struct emu_order *order,
                      uint64_t *id)
{
    struct check_task task = {.order = "native", .events = event_stream_new()};
    struct check_run run;
    if (!task.events) {
        fail(s, EXIT_FAULT, "heddle check: cannot make the file of a run's events\n");
        return false;
    }
    run_log_ask(task.events, &task.log_task);
    (void)check_run_here(s->check, &task, order);
    const bool whole = check_run_read(a, task.events, &run);
    event_stream_close(task.events);
    *id = run.id;
    if (whole && run.status == EXIT_FINE) return true;
    fail(s, whole ? run.status : EXIT_FAULT, run.messages);
    return false;
}

/* One run and its recording, which stays if its result is new. */
static bool record_run(struct search *s, struct arena *a, uint64_t *id)
{
    struct replacement f;
    const size_t next = s->out->result_count;
    const bool open = next < RESULTS && replacement_open(&f, recording_name(s, a, next));
    if (next < RESULTS && !open) {
        fail(s, EXIT_USAGE,
             arena_printf(a, "heddle check: cannot write '%s': %s\n", recording_name(s, a, next),
                          strerror(errno)));
        (void)replacement_close(&f, false);
        return false;
    }
    struct recorder *r = open ? recorder_new(exhaustive_order(s->x), "exhaustive", f.out) : NULL;
    bool good = run_under(s, a, r ? recorder_order(r) : exhaustive_order(s->x), id);
    const bool written = r && recorder_end(r);
    bool is_new = good && open;
    for (uint32_t i = 0; i < next; i++) is_new &= s->out->results[i].id != *id;
    if (!open) return good;
    const bool kept = replacement_close(&f, written && is_new);
    if (!is_new || kept) return good;
    fail(s, EXIT_USAGE,
         arena_printf(a, "heddle check: cannot write '%s': %s\n", recording_name(s, a, next),
                      strerror(errno)));
    return false;
}

static double now_is(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void search(struct search *s)
{
    const struct check_search *want = &s->check->request.search;
    struct search_outcome *o = s->out;
    const double deadline = now_is() + want->most_seconds;
    bool more = true;
    while (more && o->runs < want->most_runs && now_is() < deadline) {
        struct arena *a = arena_new();
        uint64_t id = 0;
        const bool good = want->directory ? record_run(s, a, &id)
                                          : run_under(s, a, exhaustive_order(s->x), &id);
        arena_free(a);
        if (!good) return;
        o->runs++;
        struct search_result *r = result_of(o, id);
        if (r) r->runs++, r->recorded = want->directory != NULL;
        more = exhaustive_next(s->x);
    }
    o->last = exhaustive_runs(s->x);
    const char *why = more ? NULL : exhaustive_missing(s->x);
    if (why) snprintf(o->missing, sizeof o->missing, "%s", why);
    else if (more && o->runs >= want->most_runs)
        snprintf(o->missing, sizeof o->missing, "the limit of %zu runs was reached (--runs)",
                 want->most_runs);
    else if (more)
        snprintf(o->missing, sizeof o->missing, "the limit of %g s was reached (--search-time)",
                 want->most_seconds);
}

static void search_child(const struct check *c, struct search_outcome *o)
{
    struct search s = {.check = c, .x = exhaustive_new(), .out = o};
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    search(&s);
    exhaustive_free(s.x);
    o->ended = true;
    _exit(0);
}

/* ---- printing --------------------------------------------------------------------------------------------------- */

#define NEVER_SHOWN                                                                                      \
    "random shows less than PTX allows: no loads that come after later stores, no atomics out of order " \
    "(docs/random.md, Limitations)"

static const char *replay(const struct check *c, const struct search_outcome *o, uint32_t i)
{
    if (!o->results[i].recorded) return NULL;
    const struct search s = {.check = c};
    return check_replay_command(c, recording_name(&s, c->arena, i));
}

static const char *verdict_of_search(const struct search_outcome *o)
{
    return o->status             ? "failed"
           : o->result_count > 1 ? "nondeterministic"
           : o->missing[0] != 0  ? "unknown"
                                 : "deterministic";
}

static int status_of_search(const struct search_outcome *o)
{
    return o->status             ? o->status
           : o->result_count > 1 ? EXIT_NONDETERMINISTIC
           : o->missing[0] != 0  ? EXIT_LIMIT
                                 : EXIT_FINE;
}

static void print_result(const struct check *c, const struct search_outcome *o, uint32_t i)
{
    const struct search_result *r = &o->results[i];
    const char *again = replay(c, o, i);
    printf("result %u: %016llx, in %llu of %llu runs%s%s\n", i + 1, (unsigned long long)r->id,
           (unsigned long long)r->runs, (unsigned long long)o->runs,
           again ? ", the first of them\n  " : "", again ? again : "");
}

static void print_text(const struct check *c, const struct search_outcome *o)
{
    const unsigned long long runs = o->runs, last = o->last;
    const bool several = o->result_count > 1;
    const char *ending = !several ? "" : o->more_results ? "s or more" : "s";
    for (uint32_t i = 0; several && i < o->result_count && i < RESULTS_SHOWN; i++)
        print_result(c, o, i);
    if (o->result_count > RESULTS_SHOWN)
        printf("... and %u more\n", o->result_count - RESULTS_SHOWN);
    if (several && !c->request.search.directory)
        printf("--recordings DIRECTORY writes a recording of each result\n");
    if (o->status) printf("a run failed, number %llu of the search:\n%s", runs + 1, o->messages);
    else if (!o->missing[0])
        printf("all %llu executions under random gave %u result%s: proved for this input\n", last,
               o->result_count, ending);
    else
        printf("%llu run%s gave %u result%s; %s: %s\n", runs, runs == 1 ? "" : "s", o->result_count,
               ending, several ? "there may be more" : "this is no proof", o->missing);
    if (!o->status) printf(NEVER_SHOWN "\n");
    printf("%s: %s\n", c->request.name, verdict_of_search(o));
}

static void print_json(const struct check *c, const struct search_outcome *o)
{
    json_t *doc = json_object(), *target = json_object(), *x = json_object(), *list = json_array();
    json_object_set_new(target, "kind", json_string(run_target_name(c->request.options->kind)));
    json_object_set_new(target, "name", json_text(c->request.name));
    for (uint32_t i = 0; i < o->result_count; i++) {
        json_t *r = json_object();
        const char *again = replay(c, o, i);
        json_object_set_new(r, "digest", json_hex(o->results[i].id));
        json_object_set_new(r, "runs", json_count(o->results[i].runs));
        json_object_set_new(r, "replay", again ? json_text(again) : json_null());
        json_array_append_new(list, r);
    }
    json_object_set_new(x, "runs", json_count(o->runs));
    json_object_set_new(x, "executions", json_count(o->last));
    json_object_set_new(x, "complete", json_boolean(!o->missing[0] && !o->status));
    json_object_set_new(x, "missing", o->missing[0] ? json_text(o->missing) : json_null());
    json_object_set_new(x, "failure", o->status ? json_text(o->messages) : json_null());
    json_object_set_new(x, "more_results", json_boolean(o->more_results));
    json_object_set_new(x, "results", list);
    json_object_set_new(doc, "version", json_integer(VERSION));
    json_object_set_new(doc, "target", target);
    json_object_set_new(doc, "verdict", json_string(verdict_of_search(o)));
    json_object_set_new(doc, "exit_status", json_integer(status_of_search(o)));
    json_object_set_new(doc, "exhaustive", x);
    json_dumpf(doc, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(doc);
}

int check_search(const struct check *c)
{
    const char *directory = c->request.search.directory;
    if (directory && mkdir(directory, 0777) && errno != EEXIST) {
        fprintf(stderr, "heddle check: cannot make the directory '%s': %s\n", directory,
                strerror(errno));
        return EXIT_USAGE;
    }
    struct search_outcome *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o == MAP_FAILED) abort();
    (void)fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) search_child(c, o);
    int how = 0;
    while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR) {
    }
    if (!o->ended) {
        o->status = EXIT_FAULT;
        snprintf(o->messages, sizeof o->messages, "the process of the search ended: %s\n",
                 pid > 0 && WIFSIGNALED(how) ? strsignal(WTERMSIG(how)) : "without a result");
    }
    const int status = status_of_search(o);
    if (status == EXIT_USAGE || status == EXIT_INPUT) (void)fputs(o->messages, stderr);
    else if (c->request.format == CHECK_JSON) print_json(c, o);
    else print_text(c, o);
    (void)munmap(o, sizeof *o);
    return status;
}
