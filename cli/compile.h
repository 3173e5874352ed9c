/* cli/compile.h: a CUDA source file as target: nvcc makes a program of it. */
#ifndef HEDDLE_CLI_COMPILE_H
#define HEDDLE_CLI_COMPILE_H

#include <stdbool.h>

struct arena;

bool compile_is_source(const char *path); /* "sum.cu" */

/* With the shared runtime, line numbers, and PTX for the highest capability (90: 9.0) up to this one that the compiler
 * knows; what else it wants stands in NVCC_APPEND_FLAGS. The compiler is NVCC of the environment, or the first nvcc of
 * PATH, CUDA_HOME/bin and /usr/local/cuda/bin. EXIT_FINE and the program's path, in a temporary folder of its own; or,
 * after the compiler's or another message of `heddle COMMAND`, EXIT_INPUT (it does not compile) or EXIT_USAGE. */
int compile_program(struct arena *a, const char *command, const char *source, unsigned capability,
                    char **program);
void compile_remove(const char *program); /* with its folder */

#endif
