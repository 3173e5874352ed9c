/* cli/lapse.h: the time lapses of a run's launches, for all outputs of `heddle report`.
 *
 *     const struct lapse_sink *sinks[] = {&csv, &html};
 *     struct lapse_source s = {.trace = "app.hdt", .gpu = "gv100", .order = "native"};
 *     const char *why = lapse_read(&s, sinks, 2, &n);    // NULL: all launches went to all sinks
 *
 * lapse_read() reads a trace file (emu/trace_file.h) launch by launch. The timing model executes each launch with a time
 * lapse (model/time_lapse.h), and every sink gets the lapse. The last four lapses are kept, because equal launches
 * (model/estimate_cache.h) share one; others are freed. */
#ifndef HEDDLE_CLI_LAPSE_H
#define HEDDLE_CLI_LAPSE_H

#include "emu/counts.h"
#include "model/launch_estimate.h"
#include "model/time_lapse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct event_operation;

struct lapse_source {  /* a run: the target on one GPU, under one order */
    const char *trace; /* path of the trace file */
    /* As the user named them; NULL: the launches of the file have them. */
    const char *gpu, *order;
    double interval; /* length of an interval in cycles; 0: chosen by the run */
    bool all_sms;    /* execute all traced SMs; no SMs stand for others */
    bool issues;     /* record each issue of each warp */
    uint32_t number; /* number of the run, from 0 */
    /* CUDA program: the operations of its host, streams and copies (session/event_stream.h); else NULL, 0. */
    const struct event_operation *operations;
    size_t operation_count;
    const struct launch_estimate *launches; /* estimates of their launches, in the same order */
    size_t launch_count;
};

struct lapse_launch {
    const struct lapse_source *run;
    uint32_t number; /* number of the launch in the run, from 0 */
    const struct emu_counts *counts;
    const struct launch_estimate *estimate;
    const struct time_lapse *lapse;
    const struct lapse_whole *whole;
    /* Begin of the launch in seconds, on the timeline of the operations; without operations the sum of earlier launches. */
    double begin;
};

struct lapse_sink { /* an output; any function may be NULL */
    void *self;
    void (*begin)(void *self, const struct lapse_source *run);
    void (*launch)(void *self, const struct lapse_launch *l);
    void (*end)(void *self, const struct lapse_source *run);
};

/* Reads a run. Returns NULL, or an error message about the file. *launches becomes the number of estimated launches. */
const char *lapse_read(const struct lapse_source *run, const struct lapse_sink *const *sinks,
                       size_t count, size_t *launches);

/* Writes the name of an operation: "copy to the device, 4096 bytes"; for a launch its kernel. `launches`: number of earlier
 * launches. */
void lapse_operation_name(const struct lapse_source *run, const struct event_operation *o,
                          size_t launches, char *name, size_t size);
/* The numbers of the streams of a run's operations, ascending. The caller frees the array. */
uint32_t *lapse_streams(const struct lapse_source *run, size_t *count);
/* Appends ticks as cycles, exactly: a whole number, or a decimal fraction with all digits. */
void lapse_put_ticks(struct buf *out, uint64_t ticks);
/* Write ticks as cycles, and a whole number, without a NUL; at most LAPSE_TICKS_TEXT characters. Return the end of the
 * text. (A time lapse has a million numbers: printf() took half the time of `heddle report --csv`.) */
enum { LAPSE_TICKS_TEXT = 32 };
char *lapse_ticks_text(char *to, uint64_t ticks);
char *lapse_number_text(char *to, uint64_t x);
/* Appends text as a JSON string with quotes; also escapes '<', '>' and '&', so that it may be part of HTML. */
void lapse_put_json(struct buf *out, const char *text);
/* The name of a column of an SM's row: "issue", ..., "instructions", "l1_hits", "l1_misses", "resident". */
const char *lapse_column_name(unsigned column);

#endif
