/* calibrate/traces.h: which trace is of which measured launch.
 *
 *     struct traces t = {.arena = a};
 *     const char *why = traces_read(&t, "all.traces");          // once for each file
 *     if (!traces_match(&t, &rows, launch, &out)) ...            // launch[i] is of rows.list[i]
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

/* NULL, or what is wrong with the file. */
const char *traces_read(struct traces *t, const char *path);

/* Rows without a trace of their run and launch on their GPU are left out, and named in `said`. false: none is left. */
bool traces_match(const struct traces *t, struct rows *rows, const struct emu_counts **launch,
                  struct buf *said);

#endif
