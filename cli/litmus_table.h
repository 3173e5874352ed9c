/* cli/litmus_table.h: `heddle run suite:litmus --table`: histograms of the outcomes of litmus tests under an order, over
 * many seeds. */
#ifndef HEDDLE_CLI_LITMUS_TABLE_H
#define HEDDLE_CLI_LITMUS_TABLE_H

struct heddle_device_options;
struct report;
struct run_options;

/* Runs the tests that the target names (suite:litmus, or suite:litmus:PATTERN) under the device's order (default:
 * `random`), from the device's seed on, and prints a histogram of each to stdout. Errors of the command line are in the
 * options' diags. Sets the status of the report: EXIT_DIFFERS if the memory model forbids an observed outcome. */
void litmus_table_run(struct run_options *o, const struct heddle_device_options *device,
                      struct report *r);

#endif
