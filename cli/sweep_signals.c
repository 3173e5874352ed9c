/* Signals and time of a sweep. */
#define _GNU_SOURCE
#include "cli/sweep_workers.h"

#include <poll.h>
#include <time.h>

static volatile sig_atomic_t stop; /* the signal that asks for an end */
static sigset_t outside;           /* what was blocked before */
static unsigned depth;             /* of begin and end */

static void on_signal(int signal)
{
    if (signal != SIGCHLD) stop = signal;
}

void sweep_signals_begin(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD};
    struct sigaction how = {.sa_handler = on_signal};
    sigset_t ours;
    if (depth++) return;
    sigemptyset(&how.sa_mask);
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaction(signals[i], &how, NULL);
        sigaddset(&ours, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &ours, &outside);
}

void sweep_signals_end(void)
{
    if (--depth == 0) sigprocmask(SIG_SETMASK, &outside, NULL);
}

int sweep_stop(void)
{
    return stop;
}

void sweep_sleep(double seconds)
{
    const struct timespec most = {(time_t)seconds,
                                  (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)ppoll(NULL, 0, &most, &outside);
}

double sweep_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
