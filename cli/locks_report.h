/* cli/locks_report.h: `heddle run --locks`: prints the words that threads contend for (determinism/locks/locks.h), from the
 * events of the processes. */
#ifndef HEDDLE_CLI_LOCKS_REPORT_H
#define HEDDLE_CLI_LOCKS_REPORT_H

#include <jansson.h>

struct event;
struct event_stream;
struct locks;

/* Adds an event; ignores other kinds. k NULL: no effect. */
void locks_report_add(struct locks *k, const struct event *e);
/* Adds all events of a stream. */
void locks_report_read(struct locks *k, const struct event_stream *s);

void locks_report_print(struct locks *k); /* prints a table; NULL is allowed */
json_t *locks_report_json(struct locks *k);

#endif
