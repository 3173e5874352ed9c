/* cli/counts.h: the outputs of `heddle run` from the counts of its launches: --counts=FILE, --profile and --fidelity. */
#ifndef HEDDLE_CLI_COUNTS_H
#define HEDDLE_CLI_COUNTS_H

#include "base/replace.h"

#include "emu/counts.h"
#include "emu/fidelity.h"
#include "emu/profile.h"
#include "emu/trace_file.h"
#include "model/estimate_cache.h"

#include <jansson.h>

struct event_stream;

struct counts {
    const char *path; /* the file of --counts; NULL: not asked for */
    struct replacement file;
    struct emu_counts_writer writer;
    struct emu_profile *profile;   /* for --profile; NULL: not asked for */
    struct emu_fidelity *fidelity; /* for --fidelity; NULL: not asked for */
    bool list_fidelity;            /* set before counts_begin(): same effect as --fidelity */
    /* For `heddle estimate`: the stream that gets an EVENT_ESTIMATE for each grid; NULL: none. */
    struct event_stream *estimates;
    const char *traces; /* the file to which each grid is added (emu/trace_file.h); NULL: none */
    struct trace_writer writer_of_traces;
    struct estimate_cache *times; /* used if `estimates` is not NULL */
    struct estimate_queue *queue; /* between counts_overlap() and counts_settle(); else NULL */
};

/* path may be NULL. false: the file cannot be written, and errno has the error. */
bool counts_begin(struct counts *c, const char *path, bool profile, bool fidelity);
/* Adds a launch. c and counts may be NULL. `ended`: the launch ended without a fault. */
void counts_launch(struct counts *c, const struct emu_counts *counts, bool ended);
/* With estimates: until counts_settle() estimates are computed while the next launches run. GPU and order must stay valid
 * until then. c may be NULL. */
void counts_overlap(struct counts *c);
void counts_settle(struct counts *c);
/* Writes the file if `ok`; else an existing file is unchanged. false: it could not be written, and errno has the error. */
bool counts_end(struct counts *c, bool ok);
void counts_free(struct counts *c);

bool counts_profiling(const struct counts *c); /* c may be NULL */
void counts_print(const struct counts *c);     /* profile, fidelity as tables; c may be NULL */
json_t *counts_profile_json(const struct counts *c);

#endif
