/* determinism/record/watch_places.h: reads the places that --watch and HEDDLE_WATCH name, finds
 * them in memory, and prints the writes to them.
 *
 *     struct watch_place x;
 *     if (watch_place_read(&x, where, &diags)) ...    // "counter[2..5]:f32"
 *     if (watch_place_find(&x, emu, &target, &n))       // before a launch
 *         watch_place_begin(&x, &target, writes, &diags);
 *     watch_place_print(&x, write, &text);     // for each write
 *
 * WHERE is an address (0x...), or the name of a module variable or of an allocation in reports ("cuMemAlloc #3"),
 * followed by an optional [INDEX] or [FIRST..LAST], and by :TYPE if the elements are not u32. */
#ifndef HEDDLE_DETERMINISM_RECORD_WATCH_PLACES_H
#define HEDDLE_DETERMINISM_RECORD_WATCH_PLACES_H

#include "base/value.h"
#include "determinism/record/writes.h"
#include "emu/emu.h"

struct buf;
struct diags;

struct watch_place {
    struct piece where, name; /* `where`: the whole text; `name`: the text without index and type */
    /* the address in the text; after watch_place_find, that of the allocation */
    uint64_t address;
    const struct value_type *type;
    uint64_t first, last, seen;
    bool indexed, found;
};
struct watch_range {
    uint64_t address, size;
    const struct value_type *type; /* NULL: unknown */
};

bool watch_place_read(struct watch_place *x, struct piece where, struct diags *d);
bool watch_place_is_address(const struct watch_place *x);
bool watch_place_has_name(const struct watch_place *x, const char *name);

/* The next allocation that the name matches, from number *from on. An address matches one
 * allocation. */
bool watch_place_find(const struct watch_place *x, struct emu *e, size_t *from,
                      struct watch_range *t);
/* Watches the place from the next launch on. false, with an error: the element does not exist, or there are too many
 * elements. */
bool watch_place_begin(struct watch_place *x, const struct watch_range *t, struct writes *w,
                       struct diags *d);
/* The error for a place that was never found; e may be NULL. */
void watch_place_report_missing(const struct watch_place *x, struct emu *e, struct diags *d);

/* watch_place_label appends the name with the element's own index, "cost[17]"; watch_place_print appends the whole line
 * of a write. */
void watch_place_label(const struct watch_place *x, uint64_t element, struct buf *out);
void watch_place_print(const struct watch_place *x, const struct write *e, struct buf *out);

#endif
