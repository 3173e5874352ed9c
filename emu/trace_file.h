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

enum {
    TRACE_FILE_VERSION =
        6, /* 5: GPUs have no optional numbers; 4: blocks have no lanes; 3: grids do not say who launched them; 2: no frames behind TRACE_FRAME_END; all are read, too */
    TRACE_FRAME_MOST = 256 << 20 /* bytes of a frame, decompressed */
};

enum trace_frame {
    TRACE_FRAME_RUN = 1,      /* name of a run, version of Heddle, digests of its files */
    TRACE_FRAME_CODE,         /* instructions, blocks, sites, for the launches that follow */
    TRACE_FRAME_LAUNCH,       /* shape, GPU, order, counters */
    TRACE_FRAME_CTA,          /* words and lines of one CTA */
    TRACE_FRAME_END,          /* of a launch: how many CTAs it has, digest of its frames */
    TRACE_FRAME_EVENTS_BEGIN, /* a launch of which every instruction is there (emu/trace_events.h) */
    TRACE_FRAME_EVENTS,       /* instructions and accesses of it */
    TRACE_FRAME_EVENTS_END,   /* its numbers of frames, instructions, accesses; digest */
    TRACE_FRAME_INDEX,        /* where each launch and each CTA begins */
    TRACE_FRAME_TRAILER, /* where the index begins; not compressed, always TRACE_TRAILER bytes */
    TRACE_FRAMES
};

struct trace_writer {
    FILE *file;
    bool promises; /* the head says that an index will be at the end, once all is written */
    bool begun;    /* the file has a head */
    uint32_t code; /* checksum of the code frame before; 0: none */
};
/* Makes the tables that readers and writers share in a process. A caller that forks calls it before, so that it is done
 * once and not by each. */
void trace_file_prepare(void);
/* Where the launches that follow come from. */
struct trace_input {
    const char *file, *digest; /* as the user named it; SHA-256 in hexadecimal digits */
};
struct trace_origin {
    const char *run;     /* target and arguments */
    const char *version; /* of the Heddle that recorded it; NULL: this one */
    const struct trace_input *inputs;
    size_t input_count; /* files that target and arguments name */
};
/* false: it could not be written. */
bool trace_file_origin(struct trace_writer *w, const struct trace_origin *o);
/* The same of a run without files. */
bool trace_file_run(struct trace_writer *w, const char *run);
/* A launch without a trace is left out. */
bool trace_file_add(struct trace_writer *w, const struct emu_counts *c);

struct trace_events_sums {
    uint64_t instructions, accesses; /* of warps */
};
struct trace_events_sink;

struct trace_file {
    FILE *file;
    struct arena *arena;
    const struct trace_events_sink
        *sink; /* gets launches with events; NULL: they are only checked */
    /* Before each frame, with its place in the file; NULL: no callback. */
    void (*progress)(void *self, uint64_t at);
    void *progress_self;
    const char *run; /* of the launch that was read last; NULL: the file names none */
    const struct trace_origin *origin; /* of that; NULL: likewise */
    uint32_t launch;                   /* which of its run on that GPU, from 0 */
    const char *why;                   /* the error in the file; NULL: none */
    uint64_t events;                   /* launches with events that were read */
    uint64_t frames;                   /* that were read */
    uint64_t bytes, full;              /* of these, as they are in the file and decompressed */
    bool one; /* trace_file_next() also returns (NULL, no `why`) behind each launch with events */
    bool promised; /* the head promises an index */
    bool indexed;  /* at the end: the last frames are an index and its trailer */
    /* between calls: */
    bool begun;
    const struct emu_trace *code;
    long at; /* where the frame that was read last begins */
    uint64_t index_at;
};
/* The next launch with a trace; launches with events go to the sink. NULL: the end, or an error (`why`). */
const struct emu_counts *trace_file_next(struct trace_file *f);

/* ---- the index ------------------------------------------------------------------------------------------ */

struct trace_index_cta {
    uint32_t linear;
    uint64_t begin; /* where its frame begins */
};
struct trace_index_entry {
    bool events;        /* else it has a trace */
    uint32_t launch;    /* as trace_file.launch, or trace_launch.number */
    uint64_t run, code; /* where the frames that hold for it begin; run 0: there is none */
    uint64_t begin;     /* where the launch begins */
    const char *kernel;
    const char *gpu, *order; /* of events: "" */
    uint64_t ctas, traced;   /* of the grid; in the file */
    uint64_t instructions;   /* of warps, of the launch */
    uint64_t recorded;       /* that are in the file; of events: accesses */
    /* `traced` of them, in the order of the file; NULL: events, or an index of before CTAs were in it. */
    struct trace_index_cta *cta;
};
struct trace_index {
    struct trace_index_entry *list;
    size_t count;
    uint64_t frames, bytes; /* before the index */
};
/* Adds an index of all launches to the end of a file that was opened for reading and writing. Only the frames that begin
 * and end launches are decompressed. *launches: how many it has. false: it could not be written,
 * or the file is damaged. */
bool trace_index_add(FILE *f, size_t *launches);
/* The index at the end of a file, in f->arena. NULL: there is none, or (f->why) it is damaged. The file is at its begin
 * again. */
const struct trace_index *trace_index_read(struct trace_file *f);
/* The next trace_file_next() reads this launch. false: the index is wrong (f->why). */
bool trace_file_seek(struct trace_file *f, const struct trace_index_entry *e);
/* This launch with that CTA alone, number `cta` of e->cta: no other CTA is read, and so the digest of the launch is not
 * looked at. NULL: f->why. */
const struct emu_counts *trace_file_cta(struct trace_file *f, const struct trace_index_entry *e,
                                        uint64_t cta);

#endif
