/* session/communication_log.h: carries the communication of CTAs (determinism/communication/communication.h) from the
 * process that runs kernels to the process that started it. session/run_observer.h creates the observer in the process
 * that runs kernels.
 *
 *     event_stream_want(s, communication_log_wish(unit));           // in the process that starts the run
 *     const struct communication_result *r = communication_log_read(arena, s);   // when the run has ended
 *
 * The result is the stream's attachment: no event may be written after it. */
#ifndef HEDDLE_SESSION_COMMUNICATION_LOG_H
#define HEDDLE_SESSION_COMMUNICATION_LOG_H

#include "determinism/communication/communication.h"

struct arena;
struct event_stream;

/* The bits of enum events_wanted that ask for a result of this unit, for event_stream_want(). */
unsigned communication_log_wish(enum communication_unit unit);

/* In the process that runs kernels: a new observer. NULL: the stream does not ask for one. */
struct communication *communication_log_open(const struct event_stream *s);
/* Writes the result to the stream, and frees c. */
void communication_log_end(struct communication *c, struct event_stream *s);

/* The result, in the arena. NULL: no process has written one. */
const struct communication_result *communication_log_read(struct arena *a,
                                                          const struct event_stream *s);

#endif
