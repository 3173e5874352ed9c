/* cli/run_program.h: executables as targets. They run with Heddle's CUDA libraries instead of
 * NVIDIA's. */
#ifndef HEDDLE_CLI_RUN_PROGRAM_H
#define HEDDLE_CLI_RUN_PROGRAM_H

#include "cli/run_options.h"

struct event_stream;
struct report;

struct program_target {
    char **argv;           /* the program and its arguments, NULL behind them */
    const char *name;      /* the name that the user gave: the program, or its source file */
    const char *libraries; /* the folder of Heddle's CUDA libraries */
    bool compiled;         /* compiled from a source; program_release() removes it */
};
/* The folder of Heddle's libcuda.so.1, next to where heddle was built or installed. NULL: not found. */
const char *program_libraries(struct arena *a);
/* Compiles the target if it is a source, and checks whether it can run. The caller owns argv, which the
 * function may change. Returns EXIT_FINE, or another status after a message of `heddle COMMAND`.
 * `estimated`: the GPU may be older than all PTX of the program. */
int program_find(const struct run_options *o, const char *command, char **argv, bool estimated,
                 struct program_target *out);
void program_release(const struct program_target *p);
/* Sets the environment of this process for the program: the path of the libraries, and the settings among
 * the options. */
void program_environment(const struct program_target *p, const struct run_options *o);
/* The same for a program whose host accesses are checked: preloads libcuda.so.1, which interposes libc's system calls
 * (cuda/interposed). */
void program_preload(void);

/* Executes `heddle run PROGRAM ARGUMENTS...`. argv: the program and its arguments, NULL behind them. Returns
 * the exit status: that of the program, 128 plus the signal that ended it, or EXIT_FAULT if Heddle found
 * an error. Prints the report, whose `counts` have begun, in the requested format; a JSON document has the
 * program's output. `events`: the stream of `heddle estimate` or `heddle communication`, in which the
 * program reports as well; NULL: the run makes its own stream. */
int program_run(const struct run_options *o, char **argv, struct report *r,
                struct event_stream *events);

#endif
