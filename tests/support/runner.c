/* Runs the tests that Criterion's macros define, each in a process of its own. Criterion's own runner starts a new program for
 * each, which loads forty libraries and relocates 700,000 addresses: longer than most tests take. This one forks, before
 * anything of the library has run, so that each test finds the same state as in a new program. Where tests have parameters,
 * each parameter is a test.
 *
 * Criterion's library still compares and makes messages. Its functions that speak to its runner are defined here again and
 * take precedence: a failed assertion is printed by the test's own process, and noted in memory that it shares with the runner.
 *
 * A test passes if its process ends by itself with status 0, behind the end of the test, and no assertion failed. What
 * the sanitizers find ends it with another status. */
#define _GNU_SOURCE
#include "tests/support/runner.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <criterion/new/assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a test's process tells the runner. */
struct outcome {
    bool failed, ended;
    char skipped[200]; /* why */
};

struct run {
    const struct criterion_test *test;
    const struct criterion_suite *suite; /* NULL: it has none */
    void *parameter;
};

struct job {
    pid_t pid; /* 0: none */
    const struct run *run;
    struct outcome *outcome;
    double began;
    bool late;
};

extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];
/* A program without suites has no such section. */
extern struct criterion_suite *__start_cr_sts[] __attribute__((weak)),
    *__stop_cr_sts[] __attribute__((weak));

/* Of the process of a test. */
static const struct run *current;
static struct outcome *outcome;
static jmp_buf aborted;

/* One write() for each message: tests run beside each other. */
static void say(const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    const int length = vasprintf(&text, format, list);
    va_end(list);
    fflush(stdout);
    if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0) abort();
    free(text);
}

static void failed_at(const char *file, size_t line, const char *message)
{
    outcome->failed = true;
    say("[----] %s:%zu: Assertion Failed\n[----]   %s\n", file, line, message);
}

void criterion_send_assert(struct criterion_assert_stats *stats)
{
    if (!stats->passed) failed_at(stats->file, stats->line, stats->message);
}

/* The parts that do not hold, with their operands. */
static void print_parts(FILE *f, const struct cri_assert_node *node)
{
    if (node->repr && !node->pass) {
        fprintf(f, "\n[----]     %s%s%s", node->repr, node->message ? ": " : "",
                node->message ? node->message : "");
        for (size_t i = 0; i < CRI_ASSERT_MAX_PARAMS && node->params[i].name; i++)
            if (node->params[i].type == CRI_ASSERT_RT_STR)
                fprintf(f, "\n[----]       %s: %s", node->params[i].name,
                        (char *)node->params[i].data);
    }
    for (uint32_t i = 0; i < node->nchild; i++) print_parts(f, &node->children[i]);
}

void cri_assert_node_send(const char *file, size_t line, struct cri_assert_node *tree)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f) abort();
    fputs(tree->message ? tree->message : "", f);
    print_parts(f, tree);
    fclose(f);
    failed_at(file, line, text);
    free(text);
}

/* Nobody wants the number of those that hold, which threads would count in one word. */
void cri_asserts_passed_incr(void)
{
}

void criterion_abort_test(void)
{
    longjmp(aborted, 1);
}

void criterion_skip_test(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(outcome->skipped, sizeof outcome->skipped, format, list);
    va_end(list);
    exit(0);
}

void criterion_test_die(const char *message, ...)
{
    va_list list;
    va_start(list, message);
    vfprintf(stderr, message, list);
    va_end(list);
    abort();
}

void cr_log(enum criterion_severity severity, const char *message, ...)
{
    if (severity == CR_LOG_INFO) return;
    char *text = NULL;
    va_list list;
    va_start(list, message);
    if (vasprintf(&text, message, list) >= 0)
        say("[%s] %s\n", severity == CR_LOG_ERROR ? "ERR " : "WARN", text);
    va_end(list);
    free(text);
}

void criterion_internal_test_setup(void)
{
    if (setjmp(aborted)) abort();
    if (current->suite && current->suite->data->init) current->suite->data->init();
    if (current->test->data->init) current->test->data->init();
}

void criterion_internal_test_main(void (*function)(void))
{
    if (setjmp(aborted)) return;
    if (current->test->data->param_) ((void (*)(void *))function)(current->parameter);
    else function();
}

void criterion_internal_test_teardown(void)
{
    if (setjmp(aborted)) return;
    if (current->test->data->fini) current->test->data->fini();
    if (current->suite && current->suite->data->fini) current->suite->data->fini();
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void begin(struct job *j, const struct run *r, const sigset_t *signals)
{
    *j->outcome = (struct outcome){0};
    j->run = r;
    j->late = false;
    j->began = now();
    fflush(NULL);
    j->pid = fork();
    if (j->pid < 0) {
        perror("fork");
        exit(2);
    }
    if (j->pid) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, signals, NULL);
    current = r;
    outcome = j->outcome;
    r->test->test();
    outcome->ended = true;
    exit(0);
}

static double timeout_of(const struct run *r)
{
    return r->test->data->timeout > 0 ? r->test->data->timeout
           : r->suite                 ? r->suite->data->timeout
                                      : 0;
}

/* What became of a test; says so if it did not pass. */
static void end(const struct job *j, int status, const struct rusage *usage,
                const struct tests_options *options, struct tests_result *result)
{
    const char *category = j->run->test->category, *name = j->run->test->name;
    const double took = now() - j->began;
    const bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) ||
                         !(j->outcome->ended || *j->outcome->skipped);
    const bool failed = crashed || j->outcome->failed;
    if (*j->outcome->skipped && !failed) {
        say("[SKIP] %s::%s: %s\n", category, name, j->outcome->skipped);
        result->skipped++;
        return;
    }
    result->passing += !failed;
    result->failing += failed;
    result->crashing += crashed;
    if (j->late) say("[----] %s::%s: timed out after %g s\n", category, name, timeout_of(j->run));
    else if (crashed && WIFSIGNALED(status))
        say("[----] %s:%u: %s::%s: caught signal %d (%s)\n", j->run->test->data->file_,
            j->run->test->data->line_, category, name, WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    else if (crashed)
        say("[----] %s:%u: %s::%s: the process ended with status %d%s\n", j->run->test->data->file_,
            j->run->test->data->line_, category, name, WEXITSTATUS(status),
            j->outcome->ended ? " behind the test" : "");
    if (failed || options->verbose) {
        fflush(stdout);
        say("[%s] %s::%s: (%.2fs)\n", failed ? "FAIL" : "PASS", category, name, took);
    }
    if (options->times) {
        const double used = (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
                            1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
        fprintf(options->times, "%.3f %.3f %s/%s\n", used, took, category, name);
    }
}

/* Waits until a test ends, or is late and is killed. */
static struct job *wait_for_one(struct job *jobs, size_t count, const sigset_t *child, int *status,
                                struct rusage *usage)
{
    for (;;) {
        const pid_t pid = wait4(-1, status, WNOHANG, usage);
        for (size_t i = 0; pid > 0 && i < count; i++)
            if (jobs[i].pid == pid) return &jobs[i];
        if (pid > 0) continue; /* a process that a test left */
        for (size_t i = 0; i < count; i++) {
            const double timeout = jobs[i].pid ? timeout_of(jobs[i].run) : 0;
            if (timeout > 0 && now() - jobs[i].began > timeout && !jobs[i].late) {
                jobs[i].late = true;
                kill(jobs[i].pid, SIGKILL);
            }
        }
        sigtimedwait(child, NULL, &(struct timespec){.tv_sec = 1});
    }
}

static int by_name(const void *a, const void *b)
{
    const struct criterion_test *x = ((const struct run *)a)->test,
                                *y = ((const struct run *)b)->test;
    const int c = strcmp(x->category, y->category);
    return c ? c : strcmp(x->name, y->name);
}

/* Those that the pattern wants, in the order of their names. */
static struct run *find(const char *pattern, bool disabled, size_t *count)
{
    struct run *all = NULL;
    *count = 0;
    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++) {
        const struct criterion_suite *suite = NULL;
        for (struct criterion_suite **s = __start_cr_sts; s < __stop_cr_sts; s++)
            if (*s && strcmp((*s)->name, (*t)->category) == 0) suite = *s;
        if (pattern && fnmatch(pattern, (*t)->data->identifier_, FNM_EXTMATCH) != 0) continue;
        if (!disabled && ((*t)->data->disabled || (suite && suite->data->disabled))) continue;
        struct criterion_test_params p = {.length = 1};
        if ((*t)->data->param_) p = (*t)->data->param_();
        all = realloc(all, (*count + p.length) * sizeof *all);
        if (!all) abort();
        for (size_t i = 0; i < p.length; i++)
            all[(*count)++] = (struct run){*t, suite,
                                           p.params ? (char *)p.params + i * p.size : NULL};
    }
    if (*count) qsort(all, *count, sizeof *all, by_name);
    return all;
}

struct tests_result tests_run(const struct tests_options *options)
{
    size_t count;
    struct run *runs = find(options->pattern, options->disabled, &count);
    struct tests_result result = {.tested = count};
    if (options->list) {
        for (size_t i = 0; i < count; i++)
            printf("%s/%s\n", runs[i].test->category, runs[i].test->name);
        free(runs);
        return result;
    }
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t width = options->jobs ? options->jobs : cores > 0 ? (size_t)cores : 1;
    struct job *jobs = calloc(width, sizeof *jobs);
    struct outcome *all = mmap(NULL, width * sizeof *all, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!jobs || all == MAP_FAILED) abort();
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    size_t next = 0, running = 0;
    for (size_t i = 0; i < width; i++) jobs[i].outcome = &all[i];
    while (running || next < count) {
        struct job *free_job = NULL;
        for (size_t i = 0; i < width; i++)
            if (!jobs[i].pid) free_job = &jobs[i];
        if (free_job && next < count) {
            begin(free_job, &runs[next++], &before);
            running++;
            continue;
        }
        int status;
        struct rusage usage;
        struct job *j = wait_for_one(jobs, width, &child, &status, &usage);
        end(j, status, &usage, options, &result);
        j->pid = 0;
        running--;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    munmap(all, width * sizeof *all);
    free(jobs);
    free(runs);
    return result;
}
