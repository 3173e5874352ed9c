#define _GNU_SOURCE
#include "cli/processes.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop; /* the signal that asks for an end */
static sigset_t outside;           /* what was blocked before */
static unsigned depth;             /* of begin and end */
static const int signals[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD};
enum { SIGNALS = sizeof signals / sizeof *signals };
static struct sigaction before[SIGNALS];

static void on_signal(int signal)
{
    if (signal != SIGCHLD) stop = signal;
}

void process_signals_begin(void)
{
    struct sigaction how = {.sa_handler = on_signal};
    sigset_t ours;
    if (depth++) return;
    sigemptyset(&how.sa_mask);
    sigemptyset(&ours);
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &how, &before[i]);
        sigaddset(&ours, signals[i]);
    }
    sigprocmask(SIG_BLOCK, &ours, &outside);
}

void process_signals_end(void)
{
    if (--depth) return;
    for (size_t i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &outside, NULL);
}

int process_stop(void)
{
    return stop;
}

void process_sleep(double seconds)
{
    const struct timespec most = {(time_t)seconds,
                                  (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)ppoll(NULL, 0, &most, &outside);
}

double process_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In the child, where all signals are still blocked. A signal to the parent's group ends the parent, no child with a group of
 * its own: what came before it left is discarded. */
static void be_child(bool group)
{
    sigset_t none;
    if (group) (void)setpgid(0, 0);
    for (size_t i = 0; i < SIGNALS; i++) {
        if (group) (void)signal(signals[i], SIG_IGN); /* discards it */
        (void)signal(signals[i], SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

bool process_begin(struct process *p, bool group, double seconds)
{
    (void)fflush(NULL);
    *p = (struct process){.group = group};
    p->deadline = seconds > 0 ? process_now() + seconds : INFINITY;
    const pid_t pid = fork();
    if (pid == 0) {
        be_child(group);
        return true;
    }
    if (pid < 0) return false;
    if (group) (void)setpgid(pid, pid); /* whoever is first */
    p->pid = pid;
    return false;
}

static void kill_all(const struct process *p)
{
    if (p->group) (void)kill(-p->pid, SIGKILL);
    (void)kill(p->pid, SIGKILL);
}

bool process_ended(struct process *p, int *status)
{
    pid_t ended = waitpid(p->pid, status, WNOHANG);
    if (!ended && !p->late && process_now() > p->deadline) {
        p->late = true;
        kill_all(p);
        ended = waitpid(p->pid, status, 0);
    }
    if (ended != p->pid) return false;
    if (p->group) (void)kill(-p->pid, SIGKILL); /* what it has started */
    p->pid = 0;
    return true;
}

void process_end(struct process *p)
{
    if (!p->pid) return;
    kill_all(p);
    (void)waitpid(p->pid, NULL, 0);
    p->pid = 0;
}
