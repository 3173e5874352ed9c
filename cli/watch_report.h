/* cli/watch_report.h: what `heddle run --watch WHERE` prints: every write to the elements that the user named.
 *
 * WHERE is an address (0x...) or a name: of a buffer as --expect has it, of a module variable, of an allocation as
 * reports name it ("cuMemAlloc #3"); behind it [INDEX] or [FIRST..LAST], and :TYPE where the elements are not of the
 * buffer's type, or not u32. */
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
    struct diags *diags; /* whose source is the command line */
    struct report *report;
    struct writes *writes; /* NULL: --watch was not given */
    struct watch_place *list;
    size_t count, cap;
    size_t *place_of; /* by place of the observer: its index in `list` */
    json_t *events;   /* with --format=json */
    uint64_t left_out;
};

/* The options' --watch. false after errors. */
bool watch_report_read(struct watch_report *w, struct run_options *o, struct report *r);
void watch_report_free(struct watch_report *w);

/* Before a launch: looks for the places that were not found yet, among the job's buffers (NULL: no job) and what is allocated.
 * false after an error: an element that is not there. */
bool watch_report_find(struct watch_report *w, struct emu *e, const struct job *job);
/* An error for each place that was never found. */
void watch_report_check_found(struct watch_report *w, struct emu *e);
const struct emu_observer *
watch_report_observer(const struct watch_report *w); /* NULL: nothing is watched. w may be NULL */

/* A write that the process of a CUDA program has reported, with --format=json. */
void watch_report_add_event(struct watch_report *w, const struct event *e);

/* At the end. w may be NULL. */
void watch_report_print(
    const struct watch_report *w); /* the places that were found and never written to */
json_t *watch_report_json(const struct watch_report *w); /* NULL: nothing was watched */

#endif
