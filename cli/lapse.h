/* cli/lapse.h: launches over time, for every output of `heddle report`.
 *
 *     const struct lapse_sink *sinks[] = {&csv, &html};
 *     struct lapse_source s = {.trace = "app.hdt", .gpu = "gv100", .order = "native"};
 *     const char *why = lapse_read(&s, sinks, 2);        // NULL: all launches went to all sinks
 *
 * A trace file (emu/trace_file.h) is read launch by launch. The timing model executes each with a time lapse
 * (model/time_lapse.h), every sink gets it, and it is freed, but for the last four: launches that are alike
 * (model/estimate_cache.h) share one. */
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
    const char *trace; /* path */
    const char *gpu,
        *order; /* as the user named them; NULL: of a file that was given, whose launches say */
    double interval; /* cycles; 0: chosen */
    bool all_sms;    /* no SMs stand for others */
    bool issues;     /* each issue of each warp is wanted */
    uint32_t number; /* of the run, from 0 */
    /* Of a CUDA program: what its host, streams and copies did (session/event_stream.h); else NULL, 0. */
    const struct event_operation *operations;
    size_t operation_count;
    const struct launch_estimate *launches; /* of them, in their order */
    size_t launch_count;
};

struct lapse_launch {
    const struct lapse_source *run;
    uint32_t number; /* in the run, from 0 */
    const struct emu_counts *counts;
    const struct launch_estimate *estimate;
    const struct time_lapse *lapse;
    const struct lapse_whole *whole;
    /* Seconds: when it begins on the timeline of the operations; without one the sum of the launches before. */
    double begin;
};

struct lapse_sink { /* an output; any function may be NULL */
    void *self;
    void (*begin)(void *self, const struct lapse_source *run);
    void (*launch)(void *self, const struct lapse_launch *l);
    void (*end)(void *self, const struct lapse_source *run);
};

/* NULL, or what is wrong with the file. `launches` gets how many were estimated. */
const char *lapse_read(const struct lapse_source *run, const struct lapse_sink *const *sinks,
                       size_t count, size_t *launches);

/* "copy to the device, 4096 bytes"; of a launch its kernel. `launches`: how many there were before. */
void lapse_operation_name(const struct lapse_source *run, const struct event_operation *o,
                          size_t launches, char *name, size_t size);
/* The streams that operations of the run are in, by number. The caller frees them. */
uint32_t *lapse_streams(const struct lapse_source *run, size_t *count);
/* Cycles as text, exactly: a whole number, or with as many digits as ticks have. */
void lapse_put_ticks(struct buf *out, uint64_t ticks);
/* The same without NUL, and a whole number; at most LAPSE_TICKS_TEXT characters. They return where the text ends. (A
 * time lapse has a million numbers: printf took half the time of `heddle report --csv`.) */
enum { LAPSE_TICKS_TEXT = 32 };
char *lapse_ticks_text(char *to, uint64_t ticks);
char *lapse_number_text(char *to, uint64_t x);
/* Text as JSON, with quotes; also '<', '>' and '&' are escaped, so that it may stand in HTML. */
void lapse_put_json(struct buf *out, const char *text);
/* The columns of a row of an SM by name: "issue", ..., "instructions", "l1_hits", "l1_misses", "resident". */
const char *lapse_column_name(unsigned column);

#endif
