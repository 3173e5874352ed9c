/* session/communication_log.h: the communication of CTAs (determinism/communication/communication.h) in a process that
 * runs kernels, for the process that started it.
 *
 *     event_stream_want(s, EVENTS_COMMUNICATION | ...);             // in the process that starts the run
 *
 *     struct communication_log *log = communication_log_open(s);    // in the process that runs
 *     communication_log_device(log, e);                             // before the first copy
 *     communication_log_join(log, &launch);                         // before each launch
 *     communication_log_end(log, s);
 *
 *     const struct communication_result *r = communication_log_read(arena, s);   // when the run has ended
 *
 * The result is the stream's attachment: no other event may be written behind it. NULL as a log is allowed, and does
 * nothing. */
#ifndef HEDDLE_SESSION_COMMUNICATION_LOG_H
#define HEDDLE_SESSION_COMMUNICATION_LOG_H

#include "determinism/communication/communication.h"

struct arena;
struct emu;
struct emu_launch;
struct event_stream;
struct communication_log;

/* The wish for a result of that unit, for event_stream_want(). */
unsigned communication_log_wish(enum communication_unit unit);

struct communication_log *
communication_log_open(const struct event_stream *s); /* NULL: not wanted */
void communication_log_device(struct communication_log *log, struct emu *e);
/* Adds the observer. The list is good until the next call. */
void communication_log_join(struct communication_log *log, struct emu_launch *l);
void communication_log_stream(struct communication_log *log, uint32_t stream);
/* Writes the result, and frees the log. */
void communication_log_end(struct communication_log *log, struct event_stream *s);

/* NULL: no process has written one. */
const struct communication_result *communication_log_read(struct arena *a,
                                                          const struct event_stream *s);

#endif
