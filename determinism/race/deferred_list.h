/* determinism/race/deferred_list.h: accesses of one shadow memory that the race detector has put off.
 *
 * A read races with nothing but writes, and a strong read-modify-write with nothing that is like it. So what warps
 * read of rows that nobody has written, and what they add to rows that nobody touches in another way, is only noted
 * down, in order, and looked at when somebody does: which for most constant inputs, for tiles in shared memory
 * between two barriers, and for histograms never happens. A note has all that looking at it later needs.
 *
 *     struct note *n = notes_add(&c->notes, NOTE_RUN);    // to be filled in
 *     for (n = NULL; (n = notes_next(&c->notes, n));) ...
 *     notes_clear(&c->notes);                              */
#ifndef HEDDLE_DETERMINISM_RACE_DEFERRED_LIST_H
#define HEDDLE_DETERMINISM_RACE_DEFERRED_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum note_how {
    NOTE_SAME, /* all lanes the same bytes */
    NOTE_RUN,  /* all lanes, one behind the other */
    NOTE_NEAR, /* in one page */
    NOTE_FAR,
};
struct note {       /* of a warp's lanes, all at one time */
    uint64_t born;  /* clock_tree.time */
    uint64_t first; /* address of the first lane's bytes, from the shadow's beginning on */
    uint32_t cta, pc, lanes, when;
    uint32_t cta_base, warp_base; /* what was before was known to all of the CTA, of the warp */
    uint8_t warp, size, width;    /* bytes of a lane, of an element */
    uint8_t kind, scope; /* enum emu_access_kind; it is strong in that scope if it is no LOAD */
    uint8_t how;         /* enum note_how */
    /* NEAR, by lane: the lower bits of its address; those above a page's are as of `first`. FAR: how far it is from
     * `first`, int32_t in two of these. */
    uint16_t at[];
};
_Static_assert(sizeof(struct note) == 48 && _Alignof(struct note) == 8, "they lie side by side");

struct notes {
    unsigned char *room;
    size_t size, cap;
    bool reserved;   /* for all that there may be */
    uint64_t number; /* of the list: what marks of pages are of. Goes up when it is cleared */
};

enum { NOTES_MOST = 1 << 28 }; /* bytes; if there are more they are looked at, and begin afresh */

void notes_reserve(struct notes *notes); /* a list that has none: it will never move */
struct note *notes_add_slow(struct notes *notes, enum note_how how);
static inline size_t note_size(enum note_how how)
{
    const uint32_t count = how == NOTE_FAR ? 64 : how == NOTE_NEAR ? 32 : 0;
    return sizeof(struct note) + count * sizeof(uint16_t);
}
static inline struct note *notes_add(struct notes *notes, enum note_how how)
{
    const size_t size = note_size(how);
    if (notes->size + size > notes->cap) return notes_add_slow(notes, how);
    struct note *n = (struct note *)(void *)(notes->room + notes->size);
    notes->size += size;
    n->how = (uint8_t)how;
    return n;
}
struct note *notes_next(const struct notes *notes,
                        const struct note *last); /* NULL: before the first; the end */
static inline void notes_clear(struct notes *notes)
{
    notes->size = 0;
    notes->number++;
}
void notes_free(struct notes *notes);

#endif
