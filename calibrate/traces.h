/* calibrate/traces.h: matches traces with measured launches.
 *
 *     struct traces t = {.arena = a};
 *     const char *why = traces_read(&t, "all.traces");          // once for each file
 *     if (!traces_match(&t, &rows, launch, &out)) ...            // launch[i] is the trace of rows.list[i]
 */
#ifndef HEDDLE_CALIBRATE_TRACES_H
#define HEDDLE_CALIBRATE_TRACES_H

#include "calibrate/rows.h"

struct buf;
struct emu_counts;

struct traces {
    struct arena *arena;
    struct trace_of {
        const char *run; /* as in struct row */
        uint32_t launch;
        const struct emu_counts *counts;
    } * list;
    size_t count, cap;
};

/* Reads a file of traces. Returns NULL, or an error message. */
const char *traces_read(struct traces *t, const char *path);

/* Finds the trace of each row, by run, launch and GPU. Removes rows without a trace, and appends their names to `said`.
 * false: no row is left. */
bool traces_match(const struct traces *t, struct rows *rows, const struct emu_counts **launch,
                  struct buf *said);

#endif
