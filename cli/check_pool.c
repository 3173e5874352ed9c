/* The processes of `heddle check`: each run has its own, as many at a time as there are jobs. */
#define _GNU_SOURCE
#include "cli/check_program.h"

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/memory_file.h"
#include "cli/terminal.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct worker {
    pid_t pid; /* 0: free */
    struct check_row *row;
    struct check_run *run;
    struct check_task task;
    double deadline; /* by now_is(); INFINITY: there is none */
    bool late;       /* it was ended because of that */
};

struct pool {
    struct check *check;
    struct worker *workers;
    size_t row, run; /* the next one to be begun */
    size_t race;     /* likewise, of those that look for races */
    size_t ended;
    struct steps steps;
};

/* Of this file alone: a handler of signals has no other way to report. */
static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
    if (signal != SIGCHLD) interrupted = 1;
}

/* Signals come only while await() sleeps, so that none is missed between a look and sleep. */
static sigset_t outside;

static void set_handlers(void (*handler)(int))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGCHLD};
    struct sigaction how = {.sa_handler = handler};
    sigset_t ours;
    sigemptyset(&how.sa_mask);
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &how, NULL);
        sigaddset(&ours, signals[i]);
    }
    if (handler == SIG_DFL) sigprocmask(SIG_SETMASK, &outside, NULL);
    else sigprocmask(SIG_BLOCK, &ours, &outside);
}

bool check_calm(void)
{
    set_handlers(SIG_DFL);
    return interrupted != 0;
}

static double now_is(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* As waitpid; 0: there was an interrupt, or it is the deadline. */
static pid_t await(pid_t pid, int *status, double deadline)
{
    enum { LONGEST = 3600 }; /* of one sleep */
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        const double left = fmin(deadline - now_is(), LONGEST);
        if (ended || interrupted || left <= 0) return ended;
        const struct timespec sleep = {(time_t)left, (long)(1e9 * (left - floor(left)))};
        (void)ppoll(NULL, 0, &sleep, &outside);
    }
}

static bool begin(const struct check *c, struct worker *w)
{
    w->task.events = event_stream_new();
    if (w->task.events) run_log_ask(w->task.events, &w->task.log_task);
    if (w->task.events && w->task.fidelity) event_stream_want(w->task.events, EVENTS_FIDELITY);
    w->task.err = memfd_create("heddle-run", MFD_CLOEXEC);
    (void)fflush(stdout);
    (void)fflush(stderr);
    w->pid = !w->task.events || w->task.err < 0 ? -1 : fork();
    if (w->pid == 0) {
        set_handlers(SIG_DFL);
        check_child(c, &w->task);
    }
    if (w->pid > 0 && check_of_program(c)) (void)setpgid(w->pid, w->pid);
    w->deadline = c->request.run_timeout > 0 ? now_is() + c->request.run_timeout : INFINITY;
    w->late = false;
    if (w->pid > 0) return true;
    event_stream_close(w->task.events);
    w->task.events = NULL;
    if (w->task.err >= 0) close(w->task.err);
    w->pid = 0;
    return false;
}

static void close_files(struct worker *w)
{
    event_stream_close(w->task.events);
    w->task.events = NULL;
    close(w->task.err);
    w->pid = 0;
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
    if (w->late) late(c, w);
    else if (check_of_program(c)) check_program_end(c, &w->task, w->run, status);
    else if (whole && WIFEXITED(status) && WEXITSTATUS(status) == 0) w->run->state = RUN_ENDED;
    else died(c, w, status);
    close_files(w);
}

/* With all that a program has started. */
static void end(const struct check *c, pid_t pid)
{
    kill(check_of_program(c) ? -pid : pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

/* ---- which run is next ---------------------------------------------------------------------------- */

static bool next(struct pool *p, struct worker *w)
{
    struct check *c = p->check;
    w->row = NULL;
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
        while (p->race < c->races.wanted && c->races.runs[p->race].state >= RUN_ENDED) p->race++;
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

static void stop(const struct check *c, struct worker *w)
{
    end(c, w->pid);
    if (w->run) w->run->state = RUN_WAITS;
    close_files(w);
}

/* Those that nobody wants any more. */
static void stop_needless(struct pool *p, bool all)
{
    for (size_t i = 0; i < p->check->request.jobs; i++) {
        struct worker *w = &p->workers[i];
        if (!w->pid) continue;
        const struct check_races *races = &p->check->races;
        const size_t number = (size_t)(w->run - (w->row ? w->row->runs : races->runs));
        if (all || number >= (w->row ? w->row->wanted : races->wanted)) stop(p->check, w);
    }
}

static struct worker *of_process(struct pool *p, pid_t pid)
{
    for (size_t i = 0; i < p->check->request.jobs; i++)
        if (p->workers[i].pid == pid) return &p->workers[i];
    return NULL;
}

static bool fill(struct pool *p)
{
    bool any = false;
    for (size_t i = 0; i < p->check->request.jobs; i++) {
        struct worker *w = &p->workers[i];
        if (!w->pid && next(p, w) && !begin(p->check, w)) {
            *w->run = (struct check_run){.state = RUN_DIED,
                                         .messages = "cannot start a process\n",
                                         .fault = {"", "", "", 0, 0, false}};
        }
        any |= w->pid > 0;
    }
    return any;
}

static double next_deadline(const struct pool *p)
{
    double first = INFINITY;
    for (size_t i = 0; i < p->check->request.jobs; i++)
        if (p->workers[i].pid) first = fmin(first, p->workers[i].deadline);
    return first;
}

/* One whose time is up, and it is ended; NULL: there is none. It may have ended by itself meanwhile. */
static struct worker *overdue(struct pool *p, int *status)
{
    const double now = now_is();
    for (size_t i = 0; i < p->check->request.jobs; i++) {
        struct worker *w = &p->workers[i];
        if (!w->pid || w->deadline > now) continue;
        w->late = waitpid(w->pid, status, WNOHANG) == 0;
        if (w->late) end(p->check, w->pid);
        return w;
    }
    return NULL;
}

void check_pool(struct check *c)
{
    struct pool p = {.check = c};
    p.workers = arena_array(c->arena, struct worker, c->request.jobs);
    steps_begin(&p.steps, "runs");
    set_handlers(interrupt);
    while (!interrupted && fill(&p)) {
        int status;
        progress(&p);
        pid_t pid = await(-1, &status, next_deadline(&p));
        struct worker *w = pid > 0        ? of_process(&p, pid)
                           : !interrupted ? overdue(&p, &status)
                                          : NULL;
        if (!w) continue;
        take(c, w, status);
        p.ended++;
        if (check_bad_call(c)) break;
        if (w->row) check_row_look(c, w->row);
        else check_races_look(c);
        stop_needless(&p, false);
    }
    c->interrupted = interrupted != 0;
    stop_needless(&p, true);
    steps_end(&p.steps);
}

bool check_pair(const struct check *c, struct check_task *first, struct check_task *second)
{
    struct worker w[2] = {{.task = *first}, {.task = *second}};
    bool good = true;
    for (int i = 0; i < 2; i++) {
        good &= begin(c, &w[i]);
        if (c->request.jobs > 1 && i == 0) continue;
        for (int k = c->request.jobs > 1 ? 0 : i; k <= i; k++) {
            int status = 0;
            if (w[k].pid > 0 && await(w[k].pid, &status, w[k].deadline) != w[k].pid) {
                end(c, w[k].pid);
                status = SIGKILL;
            }
            good &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
            if (w[k].pid) close(w[k].task.err);
        }
    }
    first->events = w[0].task.events;
    second->events = w[1].task.events;
    return good;
}
