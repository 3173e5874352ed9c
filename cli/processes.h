/* cli/processes.h: processes of this host that a command runs, several at a time: signals, beginning and end.
 *
 *     process_signals_begin();
 *     struct process p;
 *     if (process_begin(&p, true, 60)) run();          // the child: never comes back
 *     while (p.pid && !process_stop() && !process_ended(&p, &status)) process_sleep(0.2);
 *     process_end(&p);
 *     process_signals_end();
 *
 * Sweeps (sweep_processes.c), `heddle check` (check_pool.c) and `heddle reproduce` run theirs so. */
#ifndef HEDDLE_CLI_PROCESSES_H
#define HEDDLE_CLI_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

/* Between these two calls SIGINT, SIGTERM, SIGUSR1 and SIGCHLD arrive in process_sleep() alone. They nest. */
void process_signals_begin(void);
void process_signals_end(void);
/* The signal that asked for an end: SIGINT, SIGTERM or SIGUSR1; 0: none did. */
int process_stop(void);
/* Sleeps until a signal comes, at most so long. */
void process_sleep(double seconds);
/* Seconds of the host's monotonic clock. */
double process_now(void);

struct process {
    pid_t pid;       /* 0: there is none */
    bool group;      /* it leads a group of its own, with all that it starts */
    bool late;       /* it was ended because its time was over */
    double deadline; /* by process_now(); INFINITY: none */
};

/* true: this is the new process, in which signals do what they do by default, and none is blocked. It ends with its parent.
 * false: this is the old one, with p->pid, or 0 and errno. `seconds`: that it may take; 0: any. */
bool process_begin(struct process *p, bool group, double seconds);
/* Whether it has ended, now or because its time is over: with its status as of waitpid(). Then p->pid is 0, and nothing of
 * its group is left. Does not wait. */
bool process_ended(struct process *p, int *status);
/* Ends it, with its group, and waits for that. Nothing happens if there is none. */
void process_end(struct process *p);

#endif
