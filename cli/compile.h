/* cli/compile.h: compiles a CUDA source file that is a target, with nvcc. */
#ifndef HEDDLE_CLI_COMPILE_H
#define HEDDLE_CLI_COMPILE_H

#include <stdbool.h>

struct arena;

bool compile_is_source(const char *path); /* "sum.cu" */

/* Compiles a source with the shared runtime, line numbers, and PTX for the highest capability up to `capability` (90: 9.0)
 * that the compiler supports; the user gives further options in NVCC_APPEND_FLAGS. The compiler is NVCC of the environment,
 * or the first nvcc of PATH, CUDA_HOME/bin and /usr/local/cuda/bin. Returns EXIT_FINE and *program, a path in a new
 * temporary folder; or, after a message of the compiler or of `heddle COMMAND`, EXIT_INPUT (the source has errors) or
 * EXIT_USAGE. */
int compile_program(struct arena *a, const char *command, const char *source, unsigned capability,
                    char **program);
void compile_remove(const char *program); /* removes the program and its folder */

#endif
