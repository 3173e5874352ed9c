/* cli/check_program.h: CUDA programs as targets of `heddle check`. */
#ifndef HEDDLE_CLI_CHECK_PROGRAM_H
#define HEDDLE_CLI_CHECK_PROGRAM_H

#include "cli/check.h"

static inline bool check_of_program(const struct check *c)
{
    return c->request.options->kind == TARGET_PROGRAM;
}

/* The child's part: becomes the program, with an environment in which Heddle's libraries do what the task says, and
 * stdin from nowhere. Two runs have all addresses in common, those of the host too, as programs copy such to the
 * device. */
void check_program_begin(const struct check *c, const struct check_task *t)
    __attribute__((noreturn));

/* The parent's: `status` as waitpid has it, and what the program printed, into what was read of its run log. */
void check_program_end(const struct check *c, const struct check_task *t, struct check_run *r,
                       int status);
/* The last lines of what it printed. */
const char *check_program_said(const struct check *c, int file);

#endif
