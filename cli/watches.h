/* cli/watches.h: what `heddle run --watch WHERE` watches and prints: every write to some elements.
 *
 * WHERE is an address (0x...) or a name: of a buffer as --expect has it, of a module variable, of an allocation as
 * reports name it ("cuMemAlloc #3"); behind it [INDEX] or [FIRST..LAST], and :TYPE where the elements are not of the
 * buffer's type, or not u32. */
#ifndef HEDDLE_CLI_WATCHES_H
#define HEDDLE_CLI_WATCHES_H

#include "cli/run_options.h"

#include "determinism/record/watch_places.h"
#include "emu/emu.h"

#include <jansson.h>

struct job;
struct report;
struct told;

struct watches {
    struct arena *arena;
    struct diags *diags; /* whose source is the command line */
    struct report *report;
    struct writes *writes; /* NULL: --watch was not given */
    struct watch *list;
    size_t count, cap;
    size_t *place_of; /* of the observer's places: whose they are, in `list` */
    json_t *events;   /* with --format=json */
    uint64_t left_out;
};

/* The options' --watch. false after errors. */
bool watches_read(struct watches *w, struct run_options *o, struct report *r);
void watches_free(struct watches *w);

/* Before a launch: looks for what was not found yet, among the job's buffers (NULL: no job) and what is allocated.
 * false after an error: an element that is not there. */
bool watches_find(struct watches *w, struct emu *e, const struct job *job);
/* Errors for what was never found. */
void watches_missing(struct watches *w, struct emu *e);
const struct emu_observer *
watches_observer(const struct watches *w); /* NULL: nothing is watched. w may be NULL */

/* What the process of a program has told of, with --format=json. */
void watches_told(struct watches *w, const struct told *t);

/* At the end. w may be NULL. */
void watches_print(const struct watches *w);   /* what was there and nobody wrote to */
json_t *watches_json(const struct watches *w); /* NULL: nothing was watched */

#endif
