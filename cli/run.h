/* cli/run.h: one run of the target that the options name. */
#ifndef HEDDLE_CLI_RUN_H
#define HEDDLE_CLI_RUN_H

#include "cli/run_options.h"

struct report;

/* Runs the target. Its messages, results and exit code go into the report; the caller has set the report's `arena`,
 * `kind` and `name`. */
void run_target(struct report *r, struct run_options *o);

/* Executes `heddle run` with these words; the user did not type the `added` words behind the first. `events`: a stream
 * that may want EVENTS_ESTIMATES, EVENTS_COMMUNICATION and EVENTS_ACCESSES (session/event_stream.h); NULL: none. */
struct event_stream;
int run_command(int argc, char **argv, int added, struct event_stream *events);

const char *run_target_name(enum run_target kind); /* "ptx", "job", "suite" */

#endif
