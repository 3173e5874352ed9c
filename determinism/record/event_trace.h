/* determinism/record/event_trace.h: an observer that writes every instruction and access to a `.hdt` file
 * (emu/trace_events.h), which `heddle trace convert` converts to the formats of access_trace.h and accelsim_trace.h.
 *
 *     struct event_trace *t = event_trace_new("app.hdt", first, last);
 *     ... launches with event_trace_observer(t) among their observers
 *     char *why = event_trace_end(t);                  // NULL: all is written
 *
 * Frames are appended to the file, which may already exist. */
#ifndef HEDDLE_DETERMINISM_RECORD_EVENT_TRACE_H
#define HEDDLE_DETERMINISM_RECORD_EVENT_TRACE_H

#include <stdint.h>

struct emu_observer;
struct event_trace;

/* Launches `first` to `last`, numbered from 0 on, are written. */
struct event_trace *event_trace_new(const char *path, uint32_t first, uint32_t last);
/* sets the stream of the launches from now on */
void event_trace_stream(struct event_trace *t, uint32_t stream);
const struct emu_observer *event_trace_observer(struct event_trace *t);
/* Frees the trace. Returns the first error, which the caller frees; NULL: no error. */
char *event_trace_end(struct event_trace *t);

#endif
