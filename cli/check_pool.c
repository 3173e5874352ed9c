/* The processes of `heddle check`: one for each run; at most request.jobs run concurrently. */
#define _GNU_SOURCE
#include "cli/check_program.h"

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/memory_file.h"
#include "cli/processes.h"
#include "cli/terminal.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
    struct process process; /* of pid 0: free */
    struct check_row *row;
    struct check_run *run;
    struct check_task task;
};

struct pool {
    struct check *check;
    struct worker *workers;
    size_t row, run; /* the next one to be begun */
    size_t race;     /* likewise, of those that look for races */
    size_t ended;
    struct steps steps;
};

bool check_calm(void)
{
    process_signals_end();
    return process_stop() != 0;
}

static bool begin(const struct check *c, struct worker *w)
{
    w->task.events = event_stream_new();
    if (w->task.events) run_log_ask(w->task.events, &w->task.log_task);
    if (w->task.events && w->task.fidelity) event_stream_want(w->task.events, EVENTS_FIDELITY);
    w->task.err = memfd_create("heddle-run", MFD_CLOEXEC);
    if (w->task.events && w->task.err >= 0 &&
        process_begin(&w->process, check_of_program(c), c->request.run_timeout))
        check_child(c, &w->task);
    if (w->process.pid) return true;
    event_stream_close(w->task.events);
    w->task.events = NULL;
    if (w->task.err >= 0) close(w->task.err);
    return false;
}

static void close_files(struct worker *w)
{
    event_stream_close(w->task.events);
    w->task.events = NULL;
    close(w->task.err);
}

static void died(const struct check *c, const struct worker *w, int status)
{
    size_t size;
    *w->run = (struct check_run){.state = RUN_DIED,
                                 .fidelity = w->run->fidelity,
                                 .status = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                                 .fault = {"", "", "", 0, 0, false}};
    const char *said = memory_file_read(c->arena, w->task.err, 0, &size);
    const char *how = w->run->status ? strsignal(w->run->status) : "without a result";
    w->run->messages = arena_printf(c->arena, "the process of the run ended: %s\n%s", how, said);
}

/* It was ended because it took too long: what it was at. */
static void late(const struct check *c, const struct worker *w)
{
    struct check_run *r = w->run;
    size_t size;
    const char *where = r->going ? arena_printf(c->arena, "kernel '%s' was running", r->going)
                                 : "no kernel was running";
    const char *before = r->gone ? arena_printf(c->arena, "%zu launch%s ended, the last of '%s'",
                                                r->over, r->over == 1 ? " had" : "es had", r->gone)
                                 : "none had ended";
    r->state = RUN_LATE;
    r->status = EXIT_LIMIT;
    if (!*r->fault.kind) {
        r->fault.kind = "timeout";
        r->fault.kernel = r->going ? r->going : "";
    }
    r->messages = arena_printf(
        c->arena, "%sthe run was ended after %g s (--run-timeout): %s; %s\n%s", r->messages,
        c->request.run_timeout, where, before,
        check_of_program(c) ? check_program_said(c, w->task.err)
                            : memory_file_read(c->arena, w->task.err, 0, &size));
}

/* Takes in what the process left. */
static void take(struct check *c, struct worker *w, int status)
{
    const bool whole = check_run_read(c->arena, w->task.events, w->run);
    if (w->process.late) late(c, w);
    else if (check_of_program(c)) check_program_end(c, &w->task, w->run, status);
    else if (whole && WIFEXITED(status) && WEXITSTATUS(status) == 0) w->run->state = RUN_ENDED;
    else died(c, w, status);
    close_files(w);
}

/* ---- which run is next ---------------------------------------------------------------------------- */

static bool next(struct pool *p, struct worker *w)
{
    struct check *c = p->check;
    w->row = NULL;
    while (p->race < c->races.wanted && c->races.runs[p->race].state >= RUN_ENDED) p->race++;
    for (; p->row < c->row_count; p->row++, p->run = 0) {
        struct check_row *row = &c->rows[p->row];
        if (p->run < row->wanted) {
            w->row = row;
            w->run = &row->runs[p->run];
            w->task = (struct check_task){.order = row->order,
                                          .seed = check_seed(c, p->run),
                                          .fidelity = c->request.fidelity && row->reference &&
                                                      !p->run};
            p->run++;
            break;
        }
        if (p->race < c->races.wanted) break; /* behind the reference */
    }
    if (!w->row) {
        if (p->race >= c->races.wanted) return false;
        w->run = &c->races.runs[p->race];
        w->task = check_races_task(c, p->race++);
    }
    w->run->state = RUN_GOES;
    return true;
}

static void progress(struct pool *p)
{
    const struct check *c = p->check;
    size_t all = c->races.wanted;
    for (size_t i = 0; i < c->row_count; i++) all += c->rows[i].wanted;
    steps_tell(&p->steps, p->ended, all);
}

static void stop(struct worker *w)
{
    process_end(&w->process);
    if (w->run) w->run->state = RUN_WAITS;
    close_files(w);
}

/* Those that nobody wants any more. */
static void stop_needless(struct pool *p, bool all)
{
    for (size_t i = 0; i < p->check->request.jobs; i++) {
        struct worker *w = &p->workers[i];
        if (!w->process.pid) continue;
        const struct check_races *races = &p->check->races;
        const size_t number = (size_t)(w->run - (w->row ? w->row->runs : races->runs));
        if (all || number >= (w->row ? w->row->wanted : races->wanted)) stop(w);
    }
}

static bool fill(struct pool *p)
{
    bool any = false;
    for (size_t i = 0; i < p->check->request.jobs; i++) {
        struct worker *w = &p->workers[i];
        if (!w->process.pid && next(p, w) && !begin(p->check, w)) {
            *w->run = (struct check_run){.state = RUN_DIED,
                                         .messages = "cannot start a process\n",
                                         .fault = {"", "", "", 0, 0, false}};
        }
        any |= w->process.pid != 0;
    }
    return any;
}

/* Seconds until the first deadline, at most an hour. */
static double time_left(const struct worker *w, size_t count)
{
    double first = process_now() + 3600;
    for (size_t i = 0; i < count; i++)
        if (w[i].process.pid) first = fmin(first, w[i].process.deadline);
    return fmax(first - process_now(), 0);
}

/* Takes one whose process has ended, or whose time was up; NULL: there is none. */
static struct worker *ended(struct worker *w, size_t count, int *status)
{
    for (size_t i = 0; i < count; i++)
        if (w[i].process.pid && process_ended(&w[i].process, status)) return &w[i];
    return NULL;
}

/* The same, and sleeps until there is one; NULL: somebody asked for an end. Signals come only in sleep, so that none is
 * missed between a look and sleep. */
static struct worker *await(struct worker *w, size_t count, int *status)
{
    for (;;) {
        struct worker *one = ended(w, count, status);
        if (one || process_stop()) return one;
        process_sleep(time_left(w, count));
    }
}

void check_pool(struct check *c)
{
    struct pool p = {.check = c};
    p.workers = arena_array(c->arena, struct worker, c->request.jobs);
    steps_begin(&p.steps, "runs");
    process_signals_begin();
    while (!process_stop() && fill(&p)) {
        int status;
        progress(&p);
        struct worker *w = await(p.workers, c->request.jobs, &status);
        if (!w) continue;
        take(c, w, status);
        p.ended++;
        if (check_bad_call(c)) break;
        if (w->row) check_row_look(c, w->row);
        else check_races_look(c);
        stop_needless(&p, false);
    }
    c->interrupted = process_stop() != 0;
    stop_needless(&p, true);
    steps_end(&p.steps);
}

/* Waits until it has ended. false: not well, or somebody asked for an end. */
static bool ends_well(struct worker *w)
{
    int status = SIGKILL;
    if (!w->process.pid) return false;
    if (!await(w, 1, &status)) process_end(&w->process);
    close(w->task.err);
    return !w->process.late && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool check_pair(const struct check *c, struct check_task *first, struct check_task *second)
{
    struct worker w[2] = {{.task = *first}, {.task = *second}};
    const bool together = c->request.jobs > 1;
    bool good = true;
    for (int i = 0; i < 2; i++) {
        good &= begin(c, &w[i]);
        if (!together) good &= ends_well(&w[i]);
    }
    for (int i = 0; i < 2 && together; i++) good &= ends_well(&w[i]);
    first->events = w[0].task.events;
    second->events = w[1].task.events;
    return good;
}
