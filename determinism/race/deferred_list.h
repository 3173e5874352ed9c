/* determinism/race/deferred_list.h: accesses whose check is deferred.
 *
 * A read can race with writes only, and a strong read-modify-write only with accesses of another
 * kind. So the detector does not update the shadow memory for a read of lines that no thread has
 * written, nor for atomic additions to lines that are touched in no other way. It appends the
 * access to this list, with all that a later check needs (epochs, lanes, addresses), and replays
 * the list in order when an access of another kind touches one of the lines. That never happens to
 * most constant inputs, to tiles in shared memory between two barriers, and to histograms.
 *
 *     struct deferred_access *n = deferred_add(&c->deferred, DEFERRED_FAR); // then fill it in
 *     for (n = NULL; (n = deferred_next(&c->deferred, n));) ...
 *     deferred_clear(&c->deferred);
 *
 * There is one list for global memory and one for the shared memory of each CTA. deferred.c decides
 * what is deferred. */
#ifndef HEDDLE_DETERMINISM_RACE_DEFERRED_LIST_H
#define HEDDLE_DETERMINISM_RACE_DEFERRED_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum deferred_layout {                      /* of the lanes' addresses */
                       DEFERRED_SAME,       /* all lanes the same bytes */
                       DEFERRED_CONTIGUOUS, /* all 32 lanes, adjacent in the order of lanes */
                       DEFERRED_IN_PAGE,    /* in one page */
                       DEFERRED_FAR,
};
struct deferred_access { /* of lanes of a warp that are all at one epoch */
    uint64_t joins;      /* vclock_store.joins at the time of the access */
    uint64_t first;      /* address of the first lane's bytes, relative to the shadow memory */
    uint32_t cta, pc, lanes, epoch;
    uint32_t cta_epoch, warp_epoch; /* the barrier epochs of the CTA and the warp; 0: unknown */
    uint8_t warp, size, width;      /* size: bytes of a lane; width: bytes of an element */
    uint8_t kind, scope; /* enum emu_access_kind; if it is no LOAD, it is strong in that scope */
    uint8_t layout;      /* enum deferred_layout */
    /* IN_PAGE: the low 16 bits of each lane's address. FAR: int32_t offsets from `first`, two of
     * these for each. */
    uint16_t at[];
};
_Static_assert(sizeof(struct deferred_access) == 48 && _Alignof(struct deferred_access) == 8,
               "entries of the list are adjacent");

struct deferred_list {
    unsigned char *bytes;
    size_t size, cap;
    bool reserved;   /* address space for DEFERRED_MOST bytes is reserved: the list never moves */
    uint64_t number; /* goes up when the list is cleared, so that page.deferred marks expire */
};

enum { DEFERRED_MOST = 1 << 28 }; /* bytes; a list that grows beyond is replayed and cleared */

void deferred_reserve(struct deferred_list *deferred); /* an empty list */
struct deferred_access *deferred_add_slow(struct deferred_list *deferred,
                                          enum deferred_layout layout);
static inline size_t deferred_size(enum deferred_layout layout)
{
    const uint32_t count = layout == DEFERRED_FAR ? 64 : layout == DEFERRED_IN_PAGE ? 32 : 0;
    return sizeof(struct deferred_access) + count * sizeof(uint16_t);
}
static inline struct deferred_access *deferred_add(struct deferred_list *deferred,
                                                   enum deferred_layout layout)
{
    const size_t size = deferred_size(layout);
    if (deferred->size + size > deferred->cap) return deferred_add_slow(deferred, layout);
    struct deferred_access *n = (struct deferred_access *)(void *)(deferred->bytes +
                                                                   deferred->size);
    deferred->size += size;
    n->layout = (uint8_t)layout;
    return n;
}
/* last: NULL for the first entry. Returns NULL at the end. */
struct deferred_access *deferred_next(const struct deferred_list *deferred,
                                      const struct deferred_access *last);
static inline void deferred_clear(struct deferred_list *deferred)
{
    deferred->size = 0;
    deferred->number++;
}
void deferred_free(struct deferred_list *deferred);

#endif
