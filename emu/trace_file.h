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
 * For each launch the file has its shape, its GPU, order and options, the sums of its counters, the counters of each
 * instruction with its line, the forms of its instructions, and its trace. One call appends a launch to the file;
 * several processes may append to one file, one after another. If a launch was cut off by a full disk or a killed
 * process, a reader stops there; earlier launches stay readable.
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
    /* Older versions are read, too. 5: GPUs have no optional numbers; 4: blocks have no lanes; 3: grids have no struct
     * emu_nesting; 2: no frames after TRACE_FRAME_END. */
    TRACE_FILE_VERSION = 6,
    TRACE_FRAME_MOST = 256 << 20 /* most bytes of a frame, decompressed */
};

enum trace_frame {
    TRACE_FRAME_RUN = 1,      /* name of a run, version of Heddle, digests of its files */
    TRACE_FRAME_CODE,         /* instructions, blocks, sites, for the launches that follow */
    TRACE_FRAME_LAUNCH,       /* shape, GPU, order, counters */
    TRACE_FRAME_CTA,          /* words and lines of one CTA */
    TRACE_FRAME_END,          /* end of a launch: number of its CTAs, digest of its frames */
    TRACE_FRAME_EVENTS_BEGIN, /* begin of a launch with every instruction (emu/trace_events.h) */
    TRACE_FRAME_EVENTS,       /* instructions and accesses of that launch */
    TRACE_FRAME_EVENTS_END,   /* numbers of its frames, instructions and accesses; digest */
    TRACE_FRAME_INDEX,        /* offset of each launch and each CTA in the file */
    TRACE_FRAME_TRAILER,      /* offset of the index; not compressed, always TRACE_TRAILER bytes */
    TRACE_FRAMES
};

struct trace_writer {
    FILE *file;
    bool promises; /* the file's head says that an index is at the end of a complete file */
    bool begun;    /* the file has a head */
    uint32_t code; /* checksum of the last code frame; 0: none */
};
/* Computes tables that readers and writers of a process share. A process that forks calls it before, so that its
 * children do not compute them again. */
void trace_file_prepare(void);
/* Origin of the launches that follow in the file. */
struct trace_input {
    const char *file, *digest; /* file name as the user gave it; SHA-256 in hexadecimal digits */
};
struct trace_origin {
    const char *run;     /* target and arguments */
    const char *version; /* version of the Heddle that recorded the launches; NULL: this one */
    const struct trace_input *inputs;
    size_t input_count; /* number of files that target and arguments name */
};
/* false: it could not be written. */
bool trace_file_origin(struct trace_writer *w, const struct trace_origin *o);
/* As trace_file_origin, for a run without files. */
bool trace_file_run(struct trace_writer *w, const char *run);
/* Appends a launch. No effect for a launch without a trace. false: it could not be written. */
bool trace_file_add(struct trace_writer *w, const struct emu_counts *c);

struct trace_events_sums {
    uint64_t instructions, accesses; /* instructions and accesses of warps */
};
struct trace_events_sink;

struct trace_file {
    FILE *file;
    struct arena *arena;
    /* receives launches with events; NULL: they are only checked */
    const struct trace_events_sink *sink;
    /* Called before each frame with its offset in the file. NULL: no callback. */
    void (*progress)(void *self, uint64_t at);
    void *progress_self;
    const char *run; /* run of the launch that was read last; NULL: the file names none */
    const struct trace_origin *origin; /* origin of that launch; NULL: likewise */
    uint32_t launch;                   /* number of the launch in its run on its GPU, from 0 on */
    const char *why;                   /* the error in the file; NULL: none */
    uint64_t events;                   /* number of launches with events that were read */
    uint64_t frames;                   /* number of frames that were read */
    uint64_t bytes, full;              /* bytes of these frames, in the file and decompressed */
    /* trace_file_next() also returns after each launch with events (result NULL, `why` NULL) */
    bool one;
    bool promised; /* the head promises an index */
    bool indexed;  /* at the end: the last frames are an index and its trailer */
    /* the following members belong to trace_file.c */
    bool begun;
    const struct emu_trace *code;
    long at; /* offset of the frame that was read last */
    uint64_t index_at;
};
/* The next launch with a trace; launches with events go to the sink. NULL: the end, or an error (`why`). */
const struct emu_counts *trace_file_next(struct trace_file *f);

/* ---- the index ------------------------------------------------------------------------------------------ */

struct trace_index_cta {
    uint32_t linear;
    uint64_t begin; /* offset of its frame */
};
struct trace_index_entry {
    bool events;        /* true: a launch with events; false: with a trace */
    uint32_t launch;    /* as trace_file.launch, or trace_launch.number */
    uint64_t run, code; /* offsets of its run frame and code frame; run 0: none */
    uint64_t begin;     /* offset of the launch */
    const char *kernel;
    const char *gpu, *order; /* "" for a launch with events */
    uint64_t ctas, traced;   /* CTAs of the grid; CTAs in the file */
    uint64_t instructions;   /* warp instructions of the launch */
    uint64_t recorded;       /* warp instructions in the file; for events: accesses */
    /* `traced` CTAs, in the order of the file. NULL: a launch with events, or an older index without CTAs. */
    struct trace_index_cta *cta;
};
struct trace_index {
    struct trace_index_entry *list;
    size_t count;
    uint64_t frames, bytes; /* frames and bytes before the index */
};
/* Appends an index of all launches to a file that was opened for reading and writing. Only frames that begin and end
 * launches are decompressed. *launches: number of launches. false: the index could not be written, or the file is
 * damaged. */
bool trace_index_add(FILE *f, size_t *launches);
/* Reads the index at the end of a file into f->arena, and rewinds the file. NULL: no index, or a damaged one
 * (f->why). */
const struct trace_index *trace_index_read(struct trace_file *f);
/* The next trace_file_next() reads this launch. false: the index is wrong (f->why). */
bool trace_file_seek(struct trace_file *f, const struct trace_index_entry *e);
/* Reads the launch with only one CTA, number `cta` of e->cta. No other CTA is read, so the digest of the launch is not
 * checked. NULL: error f->why. */
const struct emu_counts *trace_file_cta(struct trace_file *f, const struct trace_index_entry *e,
                                        uint64_t cta);

#endif
