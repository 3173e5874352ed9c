/* cli/run_program.h: executables as targets, with Heddle's CUDA libraries in place of those of a
 * GPU. */
#ifndef HEDDLE_CLI_RUN_PROGRAM_H
#define HEDDLE_CLI_RUN_PROGRAM_H

#include "cli/run_options.h"

struct event_stream;
struct report;

struct program_target {
    char **argv;           /* the program and its arguments, NULL behind them */
    const char *name;      /* as it was called: of a source, that */
    const char *libraries; /* the folder of Heddle's */
    bool compiled;         /* from its source: it goes when it is released */
};
/* The folder of libcuda.so.1: where this program was built or installed. NULL: there is none. */
const char *program_libraries(struct arena *a);
/* Looks whether it can run, and compiles a source first. argv stays the caller's, and may be
 * changed. EXIT_FINE, or after a message of `heddle COMMAND` another status. `estimated`: the GPU
 * may be older than all PTX. */
int program_find(const struct run_options *o, const char *command, char **argv, bool estimated,
                 struct program_target *out);
void program_release(const struct program_target *p);
/* Changes this process' environment into the program's: where libraries are, and the settings among
 * the options. */
void program_environment(const struct program_target *p, const struct run_options *o);
/* The same for a program whose host accesses are checked: libcuda.so.1 comes before libc, whose system calls it knows
 * (cuda/interposed). */
void program_preload(void);

/* `heddle run PROGRAM ARGUMENTS...`. argv: the program and its arguments, NULL behind them. The
 * exit status: the program's, 128 and the signal that ended it, or EXIT_FAULT if Heddle found
 * something. The report, whose `counts` have begun, is printed as is asked for; with JSON what the
 * program prints is in there. `events`: the stream of `heddle estimate` or `heddle communication`, in
 * which the program is to report, too; NULL: a stream of its own. */
int program_run(const struct run_options *o, char **argv, struct report *r,
                struct event_stream *events);

#endif
