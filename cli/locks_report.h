/* cli/locks_report.h: `heddle run --locks`: words that threads contend for (determinism/locks/locks.h), from the events of the
 * processes that ran. */
#ifndef HEDDLE_CLI_LOCKS_REPORT_H
#define HEDDLE_CLI_LOCKS_REPORT_H

#include <jansson.h>

struct event;
struct event_stream;
struct locks;

/* Adds an event of another kind to nothing. `k` NULL: none is asked for. */
void locks_report_add(struct locks *k, const struct event *e);
/* All events of the stream. */
void locks_report_read(struct locks *k, const struct event_stream *s);

void locks_report_print(struct locks *k); /* a table; NULL is allowed */
json_t *locks_report_json(struct locks *k);

#endif
