/* emu/measure/trace_code.h: contents of frames of `.hdt` files that emu/measure/trace_file.c, trace_events.c and
 * trace_index.c share. */
#ifndef HEDDLE_EMU_MEASURE_TRACE_CODE_H
#define HEDDLE_EMU_MEASURE_TRACE_CODE_H

#include "emu/measure/trace_codec.h"

struct arena;
struct emu_counts;
struct emu_trace;
struct trace_index;

void trace_put_code(struct buf *b, const struct emu_trace *t);
/* NULL: invalid contents. */
const struct emu_trace *trace_get_code(struct cursor c, struct arena *a);
/* Reads a launch without its CTAs. */
const struct emu_counts *trace_get_counts(struct cursor c, struct arena *a,
                                          const struct emu_trace *code);
const struct trace_index *trace_get_index(struct cursor *c, struct arena *a);
/* The offset of the index; 0: invalid contents. */
uint64_t trace_get_trailer(struct cursor *c);

#endif
