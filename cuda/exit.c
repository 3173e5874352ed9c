/* The end of a program that uses the libraries without the command line: the last line and the exit status are those
 * of `heddle run`.
 *
 * The C library calls a function of on_exit() with the status of the program, the first that was registered as the
 * last. So this one is registered when the library is loaded, and runs after the program's own functions and static
 * destructors. A process that the program made by fork() ends as it is. The library is linked with -z nodelete: the
 * function must be there at the end, also of a program that has closed the library. */
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
