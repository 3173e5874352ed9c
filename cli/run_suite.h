/* cli/run_suite.h: `heddle run suite:NAME[:SIZE]`. */
#ifndef HEDDLE_CLI_RUN_SUITE_H
#define HEDDLE_CLI_RUN_SUITE_H

struct heddle_device_options;
struct report;
struct run_options;
struct suite_workload;

/* Runs the workload that the target names; returns an exit code. Errors of the input are in the options' diags. */
int suite_target_run(struct run_options *o, const struct heddle_device_options *device,
                     struct report *r);

/* An error message if the graph (NULL: none given) does not fit the workload; the caller frees it. NULL: no error. */
char *workload_graph_check(const struct suite_workload *w, const char *graph);

/* The inputs that the workload's name may have, as the beginning of a message; the caller frees it. */
char *workload_inputs(const struct suite_workload *w);

/* The name of a workload that is nearest to this one; NULL: none is near. */
const char *workload_nearest(const char *name);

#endif
