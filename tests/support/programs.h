/* tests/support/programs.h: CUDA programs that a test builds in a folder of its own and runs by the command line.
 *
 *     Test(..., .init = program_start_runs, .fini = program_stop)
 *     build_on_driver("app", "int main(void) { ... cuInit(0) ... }");       // C on cuda/cuda_api.h, linked with libcuda.so.1
 *     cr_expect_eq(sh("'%s' run ./app", heddle), 0, "%s", said.data);
 *     expect_output("0 faults");
 */
#ifndef HEDDLE_TESTS_SUPPORT_PROGRAMS_H
#define HEDDLE_TESTS_SUPPORT_PROGRAMS_H

#include "base/buf.h"

#include <stddef.h>

extern char folder[];   /* the test's own, in which sh() runs */
extern struct buf said; /* what the last command printed, errors too */
/* The command line, the folder of the CUDA libraries beside it, and the repository. */
extern char heddle[500], libraries[500], here[400];

/* Runs a command of the shell; its exit status, -1 if a signal ended it. */
__attribute__((format(printf, 1, 2))) int sh(const char *format, ...);

void program_start(void);      /* makes the folder */
void program_start_runs(void); /* likewise, or skips the test where the libraries are not built */
void program_stop(void);       /* removes it */

void expect_output(const char *part); /* of the last command */
size_t times(const char *text);       /* how often it is in there */
/* A file of the folder. */
void write_file(const char *name, const char *text, size_t size);
/* A program of C source, behind #include "cuda/cuda_api.h" and what the C library has; with -g. */
void build_on_driver(const char *name, const char *source);

#endif
