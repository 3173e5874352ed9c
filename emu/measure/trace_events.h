/* emu/measure/trace_events.h: reading what emu/trace_events.h writes, frame by frame, for emu/measure/trace_file.c. */
#ifndef HEDDLE_EMU_MEASURE_TRACE_EVENTS_H
#define HEDDLE_EMU_MEASURE_TRACE_EVENTS_H

#include "emu/trace_events.h"
#include "emu/trace_file.h"

struct arena;
struct cursor;
struct emu_trace;

/* The plain bytes of a TRACE_FRAME_EVENTS_BEGIN. false: something in it cannot be. The launch is in the arena. */
bool trace_get_launch(struct cursor *c, struct arena *a, const struct emu_trace *code,
                      struct trace_launch *l);
/* Gives to `to` (NULL: to nobody) what a TRACE_FRAME_EVENTS has, and adds to *sums. false: something in it cannot be. */
bool trace_replay(struct cursor c, const struct trace_launch *l, const struct emu_observer *to,
                  struct trace_events_sums *sums);

#endif
