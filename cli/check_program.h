/* cli/check_program.h: CUDA programs as targets of `heddle check`. */
#ifndef HEDDLE_CLI_CHECK_PROGRAM_H
#define HEDDLE_CLI_CHECK_PROGRAM_H

#include "cli/check.h"

static inline bool check_of_program(const struct check *c)
{
    return c->request.options->kind == TARGET_PROGRAM;
}

/* In the child process: executes the program, with an environment in which Heddle's libraries do the task, and with empty
 * stdin. All runs have the same addresses, including those of the host, because programs copy host addresses to the
 * device. */
void check_program_begin(const struct check *c, const struct check_task *t)
    __attribute__((noreturn));

/* In the parent: adds the program's exit `status` (as of waitpid()) and its output to the run that was read from its events. */
void check_program_end(const struct check *c, const struct check_task *t, struct check_run *r,
                       int status);
/* The last lines of the program's output. */
const char *check_program_said(const struct check *c, int file);

#endif
