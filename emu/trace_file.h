/* emu/trace_file.h: launches with their traces in a file, to be put on a clock again and again.
 *
 *     trace_file_run(f, "saxpy 4096");                       // of what the launches behind it are
 *     for (const struct emu_counts *c = report->counts; c; c = c->next) trace_file_add(f, c);
 *
 *     struct trace_file in = {.file = f, .arena = a};        // owns what is read
 *     while ((c = trace_file_next(&in)))
 *         printf("%s: %s\n", in.run, c->kernel);
 *     if (in.why) ...                                        // the file is not whole
 *
 * What is kept of a launch is what model/launch_estimate.h asks for: its shape, its GPU, the sums of its counts and
 * its trace; of instructions their forms. Files are as this host has its numbers, and for the same version of
 * Heddle. */
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
    const char *why; /* what is wrong with the file; NULL: nothing */
};
/* NULL: it ends, or see `why`. */
const struct emu_counts *trace_file_next(struct trace_file *f);

#endif
