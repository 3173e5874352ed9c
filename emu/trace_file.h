/* emu/trace_file.h: launches and their traces in a file, so that the timing model and reports can
 * be run on them repeatedly, on any host. The format `.hdt` is described in docs/formats.md.
 *
 *     struct trace_writer w = {.file = f};
 *     trace_file_run(&w, "saxpy 4096");              // the run that the next launches belong to
 *     for (const struct emu_counts *c = report->counts; c; c = c->next) trace_file_add(&w, c);
 *
 *     struct trace_file in = {.file = f, .arena = a};        // owns what is read
 *     while ((c = trace_file_next(&in)))
 *         printf("%s: %s\n", in.run, c->kernel);
 *     if (in.why) ...                                        // the file is damaged
 *
 * The file has of a launch: its shape, its GPU, order and options, the sums of its counters, the
 * counters of each instruction with its line, the forms of its instructions, and its trace. A launch
 * is added to the end of the file, by one call; several processes may add to one file, one after
 * the other. A launch that was cut off by a full disk or a killed process ends the file for the
 * reader; those before it stay readable.
 *
 * Any damage is found: frames have a checksum, and a reader checks each number that it uses as an
 * index or a size. Memory is bounded by TRACE_FRAME_MOST for each frame, and by the trace. */
#ifndef HEDDLE_EMU_TRACE_FILE_H
#define HEDDLE_EMU_TRACE_FILE_H

#include "emu/counts.h"

#include <stdbool.h>
#include <stdio.h>

struct arena;

enum { TRACE_FILE_VERSION = 2, TRACE_FRAME_MOST = 256 << 20 /* bytes of a frame, decompressed */ };

enum trace_frame {
    TRACE_FRAME_RUN = 1, /* name of a run, version of Heddle */
    TRACE_FRAME_CODE,    /* instructions, blocks, sites, for the launches that follow */
    TRACE_FRAME_LAUNCH,  /* shape, GPU, order, counters */
    TRACE_FRAME_CTA,     /* words and lines of one CTA */
    TRACE_FRAME_END,     /* of a launch: how many CTAs it has, digest of its frames */
    TRACE_FRAMES
};

struct trace_writer {
    FILE *file;
    bool begun;    /* the file has a head */
    uint32_t code; /* checksum of the code frame before; 0: none */
};
/* false: it could not be written. */
bool trace_file_run(struct trace_writer *w, const char *run);
/* A launch without a trace is left out. */
bool trace_file_add(struct trace_writer *w, const struct emu_counts *c);

struct trace_file {
    FILE *file;
    struct arena *arena;
    const char *run;      /* of the launch that was read last; NULL: the file names none */
    uint32_t launch;      /* which of its run on that GPU, from 0 */
    const char *why;      /* the error in the file; NULL: none */
    uint64_t frames;      /* that were read */
    uint64_t bytes, full; /* of these, as they are in the file and decompressed */
    /* between calls: */
    bool begun;
    const struct emu_trace *code;
};
/* NULL: the end, or an error (`why`). */
const struct emu_counts *trace_file_next(struct trace_file *f);

#endif
