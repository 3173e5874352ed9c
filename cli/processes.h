/* cli/processes.h: child processes of a command, several at a time: signals, start and end.
 *
 *     process_signals_begin();
 *     struct process p;
 *     if (process_begin(&p, true, 60)) run();          // in the child process; does not return
 *     while (p.pid && !process_stop() && !process_ended(&p, &status)) process_sleep(0.2);
 *     process_end(&p);
 *     process_signals_end();
 *
 * Callers: sweeps (sweep_processes.c), `heddle check` (check_pool.c) and `heddle reproduce`. */
#ifndef HEDDLE_CLI_PROCESSES_H
#define HEDDLE_CLI_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

/* Between these two calls SIGINT, SIGTERM, SIGUSR1 and SIGCHLD are delivered only in process_sleep(). The calls nest. */
void process_signals_begin(void);
void process_signals_end(void);
/* The signal that asks the command to stop: SIGINT, SIGTERM or SIGUSR1; 0: none. */
int process_stop(void);
/* Sleeps until a signal is delivered, at most so many seconds. */
void process_sleep(double seconds);
/* The host's monotonic clock in seconds. */
double process_now(void);

struct process {
    pid_t pid;       /* 0: no process */
    bool group;      /* the process and its children are in a process group of their own */
    bool late;       /* the process was killed at its deadline */
    double deadline; /* by process_now(); INFINITY: none */
};

/* Starts a process. Returns true in the child, where signals have their default actions, none is blocked, and which is killed
 * when its parent ends. Returns false in the parent, with p->pid; or with pid 0 and errno after an error. `seconds`: its time
 * limit; 0: none. */
bool process_begin(struct process *p, bool group, double seconds);
/* Whether the process has ended, with its *status as of waitpid(); kills it at its deadline. After true p->pid is 0, and no
 * process of its group is left. Does not wait. */
bool process_ended(struct process *p, int *status);
/* Kills the process and its group, and waits for its end. No effect if there is no process. */
void process_end(struct process *p);

#endif
