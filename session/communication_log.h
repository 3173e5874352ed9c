/* session/communication_log.h: the communication of CTAs (determinism/communication/communication.h) in a process that
 * runs kernels, for the process that started it. The process that runs gets the observer by session/run_observer.h.
 *
 *     event_stream_want(s, communication_log_wish(unit));           // in the process that starts the run
 *     const struct communication_result *r = communication_log_read(arena, s);   // when the run has ended
 *
 * The result is the stream's attachment: no other event may be written behind it. */
#ifndef HEDDLE_SESSION_COMMUNICATION_LOG_H
#define HEDDLE_SESSION_COMMUNICATION_LOG_H

#include "determinism/communication/communication.h"

struct arena;
struct event_stream;

/* The wish for a result of that unit, for event_stream_want(). */
unsigned communication_log_wish(enum communication_unit unit);

/* In the process that runs. NULL: not wanted */
struct communication *communication_log_open(const struct event_stream *s);
/* Writes the result, and frees it. */
void communication_log_end(struct communication *c, struct event_stream *s);

/* NULL: no process has written one. */
const struct communication_result *communication_log_read(struct arena *a,
                                                          const struct event_stream *s);

#endif
