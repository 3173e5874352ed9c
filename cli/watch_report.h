/* cli/watch_report.h: `heddle run --watch WHERE`: prints each write to the elements that the user names.
 *
 * WHERE is an address (0x...) or a name: that of a buffer as in --expect, of a module variable, or of an allocation as in
 * reports ("cuMemAlloc #3"). [INDEX] or [FIRST..LAST] may follow, and :TYPE if the elements do not have the type of the
 * buffer, or u32. */
#ifndef HEDDLE_CLI_WATCH_REPORT_H
#define HEDDLE_CLI_WATCH_REPORT_H

#include "cli/run_options.h"

#include "determinism/record/watch_places.h"
#include "emu/emu.h"

#include <jansson.h>

struct job;
struct report;
struct event;

struct watch_report {
    struct arena *arena;
    struct diags *diags; /* the source is the command line */
    struct report *report;
    struct writes *writes; /* NULL: --watch was not given */
    struct watch_place *list;
    size_t count, cap;
    size_t *place_of;  /* for each place of the observer its index in `list` */
    json_t *events;    /* the writes, with --format=json */
    uint64_t left_out; /* number of writes that were not recorded */
};

/* Reads the options --watch. false after errors. */
bool watch_report_read(struct watch_report *w, struct run_options *o, struct report *r);
void watch_report_free(struct watch_report *w);

/* To be called before a launch: looks for places that were not found yet among the job's buffers (job NULL: none) and the
 * allocations. false after an error: an element does not exist. */
bool watch_report_find(struct watch_report *w, struct emu *e, const struct job *job);
/* Reports an error for each place that was never found. */
void watch_report_check_found(struct watch_report *w, struct emu *e);
const struct emu_observer *
watch_report_observer(const struct watch_report *w); /* NULL: nothing is watched. w may be NULL */

/* With --format=json: adds a write that the process of a CUDA program has reported. */
void watch_report_add_event(struct watch_report *w, const struct event *e);

/* To be called at the end of the run. w may be NULL. */
void watch_report_print(
    const struct watch_report *w); /* the places that were found and never written to */
json_t *watch_report_json(const struct watch_report *w); /* NULL: nothing was watched */

#endif
