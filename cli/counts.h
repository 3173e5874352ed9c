/* cli/counts.h: what `heddle run` does with the counts of its launches: --counts=FILE, --profile and --fidelity. */
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
    const char *path; /* of --counts; NULL: not asked for */
    struct replacement file;
    struct emu_counts_writer writer;
    struct emu_profile *profile;   /* of --profile; NULL: not asked for */
    struct emu_fidelity *fidelity; /* of --fidelity; NULL: not asked for */
    bool list_fidelity;            /* before counts_begin(): as if --fidelity were given */
    struct event_stream
        *estimates;     /* where `heddle estimate` wants EVENT_ESTIMATE of each grid; NULL */
    const char *traces; /* to which it wants each grid added (emu/trace_file.h); NULL */
    struct trace_writer writer_of_traces;
    struct estimate_cache *times; /* with estimates */
    struct estimate_queue *queue; /* between counts_overlap() and counts_settle(); else NULL */
};

/* path may be NULL. false: the file cannot be written, and errno says why. */
bool counts_begin(struct counts *c, const char *path, bool profile, bool fidelity);
/* c and counts may be NULL. `ended`: the launch reached its end. */
void counts_launch(struct counts *c, const struct emu_counts *counts, bool ended);
/* With estimates: from now on until counts_settle() they are computed while the next launches run. Before that, neither the
 * GPU nor the order may go. c may be NULL. */
void counts_overlap(struct counts *c);
void counts_settle(struct counts *c);
/* The file is there when `ok`; else it is as it was. false: it could not be written, and errno says why. */
bool counts_end(struct counts *c, bool ok);
void counts_free(struct counts *c);

bool counts_profiling(const struct counts *c); /* c may be NULL */
void counts_print(const struct counts *c); /* the profile, the fidelity as tables; c may be NULL */
json_t *counts_profile_json(const struct counts *c);

#endif
