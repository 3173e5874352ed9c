#define _GNU_SOURCE
#include "cli/check_program.h"

#include "base/arena.h"
#include "cli/check_output.h"
#include "cli/cli.h"
#include "cli/memory_file.h"
#include "cli/run_program.h"
#include "cuda/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the program's process ------------------------------------------------------------------------------- */

static void give_up(const struct check *c, const char *what)
{
    fprintf(stderr, "cannot run '%s': %s: %s\n", c->request.name, what, strerror(errno));
    _exit(EXIT_USAGE);
}

/* Settings of this run. The stack lies below the environment: it has one size in all runs. */
static void set_run(const struct check *c, const struct check_task *t)
{
    enum { SIZE = 1024 };
    char seed[24], padding[SIZE + 1];
    const char *ours = t->checks ? t->checks : "",
               *checks = c->request.checks ? c->request.checks : "";
    char *both = arena_printf(c->arena, "%s%s%s", checks, *checks && *ours ? "," : "", ours);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)t->seed);
    setenv("HEDDLE_ORDER", t->order, 1);
    setenv("HEDDLE_SEED", seed, 1);
    setenv("HEDDLE_CHECK", both, 1);
    setenv("HEDDLE_THREADS", "1", 1);
    if (!event_stream_pass_on(t->events)) give_up(c, "no memory");
    const char *events = getenv(EVENT_STREAM_VARIABLE);
    const size_t used = strlen(t->order) + strlen(seed) + strlen(both) +
                        (events ? strlen(events) : 0);
    memset(padding, '-', SIZE);
    padding[used < SIZE ? SIZE - used : 0] = '\0';
    setenv("HEDDLE_PADDING", padding, 1);
}

void check_program_begin(const struct check *c, const struct check_task *t)
{
    const int nowhere = open("/dev/null", O_RDONLY | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setpgid(0, 0);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(t->err, STDOUT_FILENO);
    (void)dup2(t->err, STDERR_FILENO);
    (void)personality(ADDR_NO_RANDOMIZE); /* where it is forbidden, it is not */
    program_environment(&c->request.program, c->request.options);
    program_preload(); /* in all runs: they are to have the same addresses */
    set_run(c, t);
    execv(c->request.program.argv[0], c->request.program.argv);
    give_up(c, "exec");
    _exit(EXIT_USAGE);
}

/* ---- what came of it ------------------------------------------------------------------------------------- */

enum { LAST_LINES = 10, MOST_TAIL = 1 << 14 };

const char *check_program_said(const struct check *c, int file)
{
    size_t size;
    const char *all = memory_file_read(c->arena, file, 0, &size);
    size_t from = size, lines = 0;
    while (from && size - from < MOST_TAIL) {
        if (all[from - 1] == '\n' && from < size && ++lines == LAST_LINES) break;
        from--;
    }
    return from < size ? arena_printf(c->arena, "its last lines:\n%s", all + from)
                       : "it printed nothing\n";
}

/* What the table and the exit status call it. */
static int status_of(const struct check *c, const struct check_run *r, int exit)
{
    if (r->status) return r->status; /* it got no device */
    if (*r->fault.kind) return r->fault.limit ? EXIT_LIMIT : EXIT_FAULT;
    if (r->found) return EXIT_FAULT;
    if (!r->launch_count) return EXIT_INPUT;
    if (r->absent && run_option_find(c->request.options, OPTION_REQUIRE_SUPPORTED))
        return EXIT_INPUT;
    return exit ? EXIT_DIFFERS : EXIT_FINE;
}

void check_program_end(const struct check *c, const struct check_task *t, struct check_run *r,
                       int status)
{
    const bool killed = WIFSIGNALED(status);
    const int exit = killed ? 0 : WEXITSTATUS(status);
    const char *how = killed
                          ? arena_printf(c->arena, "the program was ended by a signal: %s",
                                         strsignal(WTERMSIG(status)))
                          : arena_printf(c->arena, "the program ended with exit status %d", exit);
    r->state = killed ? RUN_DIED : RUN_ENDED;
    check_output_read(c, t->err, r);
    r->status = killed ? WTERMSIG(status) : status_of(c, r, exit);
    if (!check_run_failed(r)) return;
    r->messages = arena_printf(c->arena, "%s%s%s; %s", r->messages, how,
                               r->launch_count ? "" : " and has launched no kernel",
                               check_program_said(c, t->err));
}
