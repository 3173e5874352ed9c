/* emu/trace_file.h: launches and their traces in a file, so that the timing model can be run on
 * them repeatedly.
 *
 *     trace_file_run(f, "saxpy 4096");                       // the name of the run that the next launches belong to
 *     for (const struct emu_counts *c = report->counts; c; c = c->next) trace_file_add(f, c);
 *
 *     struct trace_file in = {.file = f, .arena = a};        // owns what is read
 *     while ((c = trace_file_next(&in)))
 *         printf("%s: %s\n", in.run, c->kernel);
 *     if (in.why) ...                                        // the file is damaged
 *
 * The file has what model/launch_estimate.h needs of a launch: its shape, its GPU, the sums of its
 * counters, its trace, and the forms of its instructions. Its numbers have the host's layout, and
 * only the same version of Heddle reads it. */
#ifndef HEDDLE_EMU_TRACE_FILE_H
#define HEDDLE_EMU_TRACE_FILE_H

#include "emu/counts.h"

#include <stdbool.h>
#include <stdio.h>

struct arena;

/* false: it could not be written. */
bool trace_file_run(FILE *to, const char *run);
/* A launch without a trace, or under an order, is left out. */
bool trace_file_add(FILE *to, const struct emu_counts *c);

struct trace_file {
    FILE *file;
    struct arena *arena;
    const char *run; /* of the launch that was read last */
    uint32_t launch; /* which of its run on that GPU, from 0 */
    const char *why; /* the error in the file; NULL: none */
};
/* NULL: the end, or an error (`why`). */
const struct emu_counts *trace_file_next(struct trace_file *f);

#endif
