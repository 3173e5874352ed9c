/* determinism/history.h: who accessed which bytes last, for observers of accesses.
 *
 * An *event* is what one warp did with one instruction at one time (clock), as often as it did. A *tag* names
 * an event and a lane. A *cell* stands for four bytes, or for one where a page of memory was accessed by less,
 * and holds the last writes and reads: none, one tag, or a set of tags that nothing orders. Cells of global
 * memory lie in pages that are made when they are touched and forgotten with the launch. */
#ifndef HEDDLE_DETERMINISM_HISTORY_H
#define HEDDLE_DETERMINISM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVENT_STRONG = 1,
    EVENT_PENDING = 2, /* asynchronous, and nobody has waited for it */
    EVENT_MBARRIER =
        4, /* asynchronous: done when the phase `clock` of mbarrier `part` of CTA `owner` is */
    EVENT_BULK = 8, /* by the way of bulk copies */
};
struct event {
    uint64_t born; /* clock_tree.time when it first happened */
    uint32_t cta, pc;
    uint32_t clock; /* of its lanes when it happened */
    uint32_t
        mask; /* lanes that did it together to the same bytes, bit 0 the one that a tag names; 0: alone */
    uint32_t owner, part;
    uint32_t pending; /* PENDING: lanes that have not waited */
    uint8_t warp;
    uint8_t kind;  /* enum emu_access_kind */
    uint8_t flags; /* above */
    uint8_t scope; /* STRONG */
    uint8_t width; /* of an element */
};

enum { EVENTS_MOST = 1 << 26, HISTORY = 15 };
struct events {
    struct event *list; /* [0] is nobody's */
    uint32_t count, cap;
};
/* Its number; 0: there are EVENTS_MOST. */
uint32_t events_add(struct events *e, const struct event *event);

typedef uint32_t tag; /* 0: none */
#define TAG_SET 0x80000000u
static inline tag tag_of(uint32_t event, uint32_t lane)
{
    return event << 5 | lane;
}

struct set { /* of tags */
    uint8_t count;
    uint8_t
        strong; /* all are strong writes of so many bytes, by CTA `cta` (UINT32_MAX: several), in this scope
                     * or wider. 0: unknown */
    uint8_t scope;
    uint32_t cta;
    uint32_t full_cta,
        full_base; /* of reads: the CTA and its base when it was seen to be full of what was since */
    tag list[HISTORY];
};
struct cell {
    tag write, read; /* or TAG_SET and the number of a set */
};

enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS };
struct page {
    uint32_t launch; /* that its cells are of */
    uint32_t shift;  /* bytes of a cell: 1 << shift, 2 or 0 */
    struct cell *cells;
    struct page *next; /* in any order */
};
struct shadow { /* of a range of memory from 0 on */
    struct page **pages, *first;
    uint64_t count;
    uint32_t launch;
    bool mapped;
    struct set *sets;
    uint32_t set_count, set_cap, free_set;
};

void shadow_begin(struct shadow *s, uint64_t bytes);
void shadow_forget(struct shadow *s); /* all that happened */
void shadow_end(struct shadow *s);

/* The page of an address. `fine`: its cells must be of single bytes. NULL: beyond the range. */
struct page *shadow_page_slow(struct shadow *s, uint64_t address, bool fine);
static inline struct page *shadow_page(struct shadow *s, uint64_t address, bool fine)
{
    if (address >> PAGE_BITS >= s->count) return NULL;
    struct page *p = s->pages[address >> PAGE_BITS];
    if (p && p->launch == s->launch && (!fine || !p->shift)) return p;
    return shadow_page_slow(s, address, fine);
}

static inline struct set *shadow_set(const struct shadow *s, tag half)
{
    return half & TAG_SET ? &s->sets[half & ~TAG_SET] : NULL;
}

/* The tags in a cell's half, one after the other; `one` is for those that are one. */
static inline uint32_t shadow_tags(const struct shadow *s, const tag *half, const tag **list)
{
    if (!(*half & TAG_SET) || !s->sets) {
        *list = half;
        return *half != 0;
    }
    const struct set *set = &s->sets[*half & ~TAG_SET];
    *list = set->list;
    return set->count;
}
/* Makes the half hold these tags, of which there are HISTORY at most. */
void shadow_put(struct shadow *s, tag *half, const tag *list, uint32_t count);

#endif
