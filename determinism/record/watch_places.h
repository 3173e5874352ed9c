/* determinism/record/watch_places.h: places that somebody wants to see written, as text.
 *
 *     struct watch x;
 *     if (watch_read(&x, where, &diags)) ...                            // "counter[2..5]:f32"
 *     if (watch_find(&x, emu, &target, &n)) watch_begin(&x, &target, writes, &diags);     // before a launch
 *     watch_print(&x, write, &text);                                    // of each write that is told
 *
 * WHERE is an address (0x...) or a name: of a module variable, of an allocation as reports name it ("cuMemAlloc #3");
 * behind it [INDEX] or [FIRST..LAST], and :TYPE where the elements are not u32. */
#ifndef HEDDLE_DETERMINISM_RECORD_WATCH_PLACES_H
#define HEDDLE_DETERMINISM_RECORD_WATCH_PLACES_H

#include "base/value.h"
#include "determinism/record/writes.h"
#include "emu/emu.h"

struct buf;
struct diags;

struct watch {
    struct piece where, name; /* all of it; without index and type */
    uint64_t address;         /* that was given; and that of what was found */
    const struct value_type *type;
    uint64_t first, last, seen;
    bool indexed, found;
};
struct watch_target {
    uint64_t address, size;
    const struct value_type *type; /* NULL: not known */
};

bool watch_read(struct watch *x, struct piece where, struct diags *d);
bool watch_by_address(const struct watch *x);
bool watch_is(const struct watch *x, const char *name);

/* The next that it means among what is allocated, from the `from`-th allocation on (by address there is one). */
bool watch_find(const struct watch *x, struct emu *e, size_t *from, struct watch_target *t);
/* From the next launch on. false after an error: an element that is not there, or too much of them. */
bool watch_begin(struct watch *x, const struct watch_target *t, struct writes *w, struct diags *d);
/* The error for what was never found; e may be NULL. */
void watch_missing(const struct watch *x, struct emu *e, struct diags *d);

/* "cost[17]": as it was given, with the element's own index; and the whole line of a write. */
void watch_label(const struct watch *x, uint64_t element, struct buf *out);
void watch_print(const struct watch *x, const struct write *e, struct buf *out);

#endif
