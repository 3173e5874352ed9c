/* cli/run.h: what the options name, run once. */
#ifndef HEDDLE_CLI_RUN_H
#define HEDDLE_CLI_RUN_H

#include "cli/run_options.h"

struct report;

/* All that it says and its exit code go into the report, whose parts `arena`, `kind` and `name` are
 * set. */
void run_target(struct report *r, struct run_options *o);

/* `heddle run` with these words, of which so many behind the first are no user's. `events`: a
 * stream that gets what it wants of EVENTS_ESTIMATES, EVENTS_COMMUNICATION and EVENTS_ACCESSES (session/event_stream.h); NULL: none. */
struct event_stream;
int run_command(int argc, char **argv, int added, struct event_stream *events);

const char *run_target_name(enum run_target kind); /* "ptx", "job", "suite" */

#endif
