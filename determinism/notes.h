/* determinism/notes.h: accesses of one shadow memory that the race detector has put off.
 *
 * A read races with nothing but writes, and a strong read-modify-write with nothing that is like it. So what warps
 * read of rows that nobody has written, and what they add to rows that nobody touches in another way, is only noted
 * down, in order, and looked at when somebody does: which for most constant inputs, for tiles in shared memory
 * between two barriers, and for histograms never happens. A note has all that looking at it later needs.
 *
 *     struct note *n = notes_add(&c->notes, count);       // to be filled in
 *     for (n = NULL; (n = notes_next(&c->notes, n));) ...
 *     notes_clear(&c->notes);                              */
#ifndef HEDDLE_DETERMINISM_NOTES_H
#define HEDDLE_DETERMINISM_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct note {       /* of a warp's lanes, all at one time */
    uint64_t born;  /* clock_tree.time */
    uint64_t first; /* address of the first lane's bytes, from the shadow's beginning on */
    uint32_t cta, pc, lanes, when;
    uint32_t cta_base, warp_base; /* what was before was known to all of the CTA, of the warp */
    uint8_t warp, size, width;    /* bytes of a lane, of an element */
    uint8_t kind, scope; /* enum emu_access_kind; it is strong in that scope if it is no LOAD */
    bool run;            /* all lanes, one behind the other */
    uint32_t count;
    int32_t
        from_first[]; /* by lane, LANES of them; or if `count` is 0, all read the same or a run */
};

struct notes {
    unsigned char *room;
    size_t size, cap;
    uint64_t number; /* of the list: what marks of pages are of. Goes up when it is cleared */
};

enum { NOTES_MOST = 1 << 28 }; /* bytes; if there are more they are looked at, and begin afresh */

struct note *notes_add(struct notes *notes, uint32_t count);
struct note *notes_next(const struct notes *notes,
                        const struct note *last); /* NULL: before the first; the end */
static inline void notes_clear(struct notes *notes)
{
    notes->size = 0;
    notes->number++;
}
void notes_free(struct notes *notes);

#endif
