/* The end of a program that uses the libraries without the command line: prints the last line of `heddle run`, and
 * exits with its status.
 *
 * The C library calls functions of on_exit() with the exit status of the program, in reverse order of registration.
 * This one is registered when the library is loaded, so it runs after the program's own functions and static
 * destructors. A child process made by fork() exits with its own status. The library is linked with -z nodelete, because
 * the function must exist at the end even if the program has closed the library. */
#define _GNU_SOURCE
#include "cuda/driver.h"

#include "session/event_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* As `heddle run` has it: cli/cli.h. */
enum { STATUS_INPUT = 1, STATUS_USAGE = 2, STATUS_FAULT = 3, STATUS_LIMIT = 5 };

static pid_t process;

static void end(int own_status, void *unused)
{
    (void)own_status, (void)unused;
    const struct event_totals *t = event_stream_totals(NULL);
    if (driver.configured || driver.reports.events || process != getpid()) return;
    const bool bad = t->faults || t->findings || t->rejected || t->bad_recording || t->bad_output;
    if (bad || driver.config.checks) event_totals_print(t, stderr);
    if (!bad) return;
    (void)fflush(NULL);
    _exit(t->faults > t->endless || t->findings ? STATUS_FAULT
          : t->endless                          ? STATUS_LIMIT
          : t->bad_output                       ? STATUS_USAGE
                                                : STATUS_INPUT);
}

__attribute__((constructor)) static void begin(void)
{
    process = getpid();
    (void)on_exit(end, NULL); /* where there is no memory for it, the status is the program's own */
}
