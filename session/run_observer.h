/* session/run_observer.h: the observer of launches that the command line asks for in the process that runs kernels, for
 * `heddle communication`, `heddle trace record --format memtrace3` and `heddle run --locks`.
 *
 *     run_observer_want_accesses(s, "memtrace3", &filter, path);        // in the process that starts the run, or
 *     event_stream_want(s, communication_log_wish(unit));
 *
 *     struct run_observer *o = run_observer_open(s);           // in the process that runs
 *     run_observer_device(o, e);                               // before the first copy
 *     run_observer_stream(o, 2);                               // the CUDA stream of the launches from now on
 *     run_observer_join(o, &launch);                           // before each launch
 *     run_observer_end(o, s);
 *
 * All functions accept NULL as the observer and do nothing then. */
#ifndef HEDDLE_SESSION_RUN_OBSERVER_H
#define HEDDLE_SESSION_RUN_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

struct access_trace_filter;
struct emu;
struct emu_launch;
struct event_stream;
struct run_observer;

/* Asks for a file of accesses (determinism/record/access_trace.h). Sets HEDDLE_ACCESS_TRACE for processes that are
 * started from now on. false: there is no such format. */
bool run_observer_want_accesses(struct event_stream *s, const char *format,
                                const struct access_trace_filter *filter, const char *path);

struct run_observer *run_observer_open(struct event_stream *s); /* NULL: the stream asks for none */
void run_observer_device(struct run_observer *o, struct emu *e);
/* Adds the observer to the launch. The launch's list of observers is valid until the next call. */
void run_observer_join(struct run_observer *o, struct emu_launch *l);
void run_observer_stream(struct run_observer *o, uint32_t stream);
/* Writes the result to the stream, and frees the observer. A file that cannot be written is reported on standard error
 * and counted in event_totals.bad_recording. */
void run_observer_end(struct run_observer *o, struct event_stream *s);

#endif
