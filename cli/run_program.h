/* cli/run_program.h: `heddle run PROGRAM ARGUMENTS...`: an executable, with Heddle's CUDA libraries in place of those
 * of a GPU. */
#ifndef HEDDLE_CLI_RUN_PROGRAM_H
#define HEDDLE_CLI_RUN_PROGRAM_H

#include "cli/run_options.h"

/* argv: the program and its arguments, NULL behind them. The exit status: the program's, 128 and the signal that
 * ended it, or EXIT_FAULT if Heddle found something. */
int program_run(const struct run_options *o, char **argv);

#endif
