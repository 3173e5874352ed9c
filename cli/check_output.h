/* cli/check_output.h: compares the output of the host part of a program between the runs of `heddle check`.
 *
 * Kernels and copies may be deterministic while the host reads memory too early: then only the program's output differs
 * between runs. The comparison is line by line, without lines that match --ignore-output, and without lines that
 * seem to contain a time or a rate, which differ between runs of any program. If the outputs of the native runs differ
 * already, other outputs are not compared, and the report says so. */
#ifndef HEDDLE_CLI_CHECK_OUTPUT_H
#define HEDDLE_CLI_CHECK_OUTPUT_H

#include "cli/check.h"

/* Reads the values of --ignore-output (POSIX extended regular expressions); false after an error. */
bool check_output_options(struct check *c);
/* Frees the regular expressions of check_output_options(); allowed without a call of it. */
void check_output_free(struct check *c);
/* To be called when the run has ended; `file` has its output: sets r->output and r->output_text. */
void check_output_read(const struct check *c, int file, struct check_run *r);
/* To be called when all runs have ended: sets c->output. */
void check_output_compare(struct check *c);
/* Prints the result as lines of the report; with `details` also the lines that differ. */
void check_output_print(const struct check *c, bool details);

#endif
