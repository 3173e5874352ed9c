/* cli/run_suite.h: `heddle run suite:NAME[:SIZE]`. */
#ifndef HEDDLE_CLI_RUN_SUITE_H
#define HEDDLE_CLI_RUN_SUITE_H

struct heddle_device_options;
struct report;
struct run_options;
struct suite_workload;

/* Runs the workload that the target names; an exit code. Errors of the input are in the options' diags. */
int suite_target_run(struct run_options *o, const struct heddle_device_options *device,
                     struct report *r);

/* What is wrong with a graph (NULL: none) for this workload: for free(); NULL: nothing. */
char *workload_graph_check(const struct suite_workload *w, const char *graph);

/* What may stand behind the workload's name, as the beginning of a message: for free(). */
char *workload_inputs(const struct suite_workload *w);

/* The workload whose name is nearest to this one; NULL: none is near. */
const char *workload_nearest(const char *name);

#endif
