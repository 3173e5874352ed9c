/* emu/measure/trace_events.h: reads the frames that emu/trace_events.h writes, for emu/measure/trace_file.c. */
#ifndef HEDDLE_EMU_MEASURE_TRACE_EVENTS_H
#define HEDDLE_EMU_MEASURE_TRACE_EVENTS_H

#include "emu/trace_events.h"
#include "emu/trace_file.h"

struct arena;
struct cursor;
struct emu_trace;

/* Reads the plain bytes of a TRACE_FRAME_EVENTS_BEGIN; the launch is allocated in the arena. false: invalid
 * contents. */
bool trace_get_launch(struct cursor *c, struct arena *a, const struct emu_trace *code,
                      struct trace_launch *l);
/* Reports the events of a TRACE_FRAME_EVENTS to `to` (NULL: to no observer), and adds their numbers to *sums. false:
 * invalid contents. */
bool trace_replay(struct cursor c, const struct trace_launch *l, const struct emu_observer *to,
                  struct trace_events_sums *sums);

#endif
