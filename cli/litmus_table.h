/* cli/litmus_table.h: `heddle run suite:litmus --table`: litmus tests under an order, with the outcomes of many seeds. */
#ifndef HEDDLE_CLI_LITMUS_TABLE_H
#define HEDDLE_CLI_LITMUS_TABLE_H

struct heddle_device_options;
struct report;
struct run_options;

/* Runs the tests that the target names (suite:litmus, or suite:litmus:PATTERN) under the device's order, `random` if it
 * has none, from the device's seed on, and prints a histogram of each to stdout. Errors of the command line are in the
 * options' diags; the report gets the status: EXIT_DIFFERS if the model does not allow an outcome that was seen. */
void litmus_table_run(struct run_options *o, const struct heddle_device_options *device,
                      struct report *r);

#endif
