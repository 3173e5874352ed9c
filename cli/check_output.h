/* cli/check_output.h: what the host part of a program prints, in the runs of `heddle check`.
 *
 * Kernels and copies may all be right while the host reads memory too early: then only what the program prints differs
 * between runs. Outputs are compared line by line without the lines that --ignore-output names, and without those that
 * seem to contain a time or a rate, which differ between runs of any program. If the native runs print differently
 * themselves, outputs are not compared, and the check says so. */
#ifndef HEDDLE_CLI_CHECK_OUTPUT_H
#define HEDDLE_CLI_CHECK_OUTPUT_H

#include "cli/check.h"

/* Reads the values of --ignore-output (POSIX extended regular expressions); false after an error. */
bool check_output_options(struct check *c);
/* Frees what check_output_options() compiled; it may not have been called. */
void check_output_free(struct check *c);
/* The run has ended, and all that it printed is in `file`: sets r->output and r->output_text. */
void check_output_read(const struct check *c, int file, struct check_run *r);
/* All runs have ended: sets c->output. */
void check_output_compare(struct check *c);
/* As lines of the report. With `details`, the lines that differ. */
void check_output_print(const struct check *c, bool details);

#endif
