/* determinism/race/history.h: who accessed which bytes last, for observers of accesses.
 *
 * An *event* is what one warp did with one instruction at one time (clock), as often as it did. A *tag* names
 * an event and a lane. A *cell* stands for four bytes, or for one where a page of memory was accessed by less,
 * and holds the last writes and reads: none, one tag, or a set of tags that nothing orders. Cells lie in pages
 * that are made when they are touched and forgotten all at once.
 *
 * Mostly warps access words side by side, lane by lane. So a *row*, 32 words, has no cells of its own at first but
 * *spans*: an event, the cells that it touched, and the lane that touched the first one; the next cell was the next
 * lane's. A row of which spans cannot tell the story comes apart into cells. */
#ifndef HEDDLE_DETERMINISM_RACE_HISTORY_H
#define HEDDLE_DETERMINISM_RACE_HISTORY_H

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
    uint32_t born; /* clock_tree.time when it first happened, or UINT32_MAX if that is less */
    uint32_t cta, pc;
    uint32_t clock; /* of its lanes when it happened */
    union {
        uint32_t
            mask; /* lanes that did it together to the same bytes, bit 0 the one that a tag names; 0: alone */
        uint32_t pending; /* PENDING: lanes that have not waited */
    };
    uint32_t owner;
    uint16_t part;
    uint8_t warp;
    uint8_t kind;  /* enum emu_access_kind */
    uint8_t flags; /* above */
    uint8_t scope; /* STRONG */
    uint8_t width; /* of an element */
};
_Static_assert(sizeof(struct event) == 32, "there are many");

enum { EVENTS_MOST = 1 << 26, HISTORY = 15 };
struct events {
    struct event *list; /* [0] is nobody's */
    uint32_t count, cap;
    bool reserved; /* for all that there may be: cap is EVENTS_MOST */
};
void events_reserve(struct events *e); /* of an empty list: it will never move */
void events_end(struct events *e);
/* Its number; 0: there are EVENTS_MOST. */
uint32_t events_add(struct events *e, const struct event *event);

typedef uint32_t tag; /* 0: none */
#define TAG_SET 0x80000000u
static inline tag tag_of(uint32_t event, uint32_t lane)
{
    return event << 5 | lane;
}

enum { UNIT = 16, MOST_UNITS = 16, FEW = 3 }; /* bytes */
struct set {                                  /* of tags */
    uint8_t count, room;                      /* FEW, 7 or HISTORY */
    uint8_t
        strong; /* all are strong accesses of so many bytes, by CTA `cta` (UINT32_MAX: several), in this scope
                     * or wider. 0: some are not */
    uint8_t scope;
    uint32_t cta;
    uint32_t
        latest; /* all are of CTA `cta`, happened at this time of theirs or before, and nobody has to wait for
                     * any. UINT32_MAX: unknown */
    uint32_t full_cta,
        full_base; /* the CTA and its base when it was seen to be full of what was since */
    tag list[];
};
_Static_assert(sizeof(struct set) == 20, "with FEW tags it is two units, with HISTORY five");
struct cell {
    tag write, read; /* or TAG_SET and the number of a set */
};

enum { SPAN_LANE = 31, SPANS_MOST = 31 };
struct span {
    uint32_t what;  /* event << 6 | SPAN_LANE + lane of the row's first cell, were it touched */
    uint32_t cells; /* that it did touch: of each bit the lane is 0 .. 31 */
};
struct row {
    uint16_t writes, count, room; /* the first ones are writes, no two of the same cell */
    struct span list[];
};
static inline uint32_t span_what(uint32_t event, uint32_t lane, uint32_t cell)
{
    return event << 6 | (SPAN_LANE + lane - cell);
}
static inline tag span_tag(struct span s, uint32_t cell)
{
    return tag_of(s.what >> 6, (s.what & 63) + cell - SPAN_LANE);
}

enum {
    NOTE_READ,
    NOTE_WORDS,
    NOTE_DOUBLES,
    NOTE_KINDS
}; /* deferred_list.h; of strong accesses by width */
enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, ROW_WORDS = 32, ROWS = PAGE / 4 / ROW_WORDS };
struct page {
    uint64_t launch; /* that it is of */
    uint32_t shift;  /* bytes of a cell: 1 << shift, 2 or 0 */
    uint32_t apart;  /* rows that have come apart into cells; of those of single bytes all */
    struct cell *cells;
    bool roomy; /* there is room for a cell for each byte */
    /* Rows of 128 bytes, also where cells are of one: */
    uint32_t closed[NOTE_KINDS]; /* of which nothing more can be put off as that, */
    uint32_t noted[NOTE_KINDS];  /* of which something is, in the notes of that number, */
    uint64_t noted_in;           /* else nothing is */
    uint32_t flagged;            /* of global memory: in which somebody released something, */
    uint32_t *flags;     /* and of their words: what, for the detector; NULL: there are none */
    uint32_t struck;     /* of those, when notes are looked at: why */
    uint32_t rows[ROWS]; /* those that have not: where it is; 0: nothing happened there */
    struct page *next;   /* in any order */
};
struct shadow { /* of a range of memory from 0 on */
    struct page **pages, *first;
    uint64_t count;
    uint64_t launch;
    const struct events *events; /* that tags are of; NULL: there are neither sets nor rows */
    bool mapped;
    unsigned char *room; /* of sets and rows, by unit; those that are free say which was before */
    uint32_t units, units_cap, vacant[MOST_UNITS + 1];
};

void shadow_begin(struct shadow *s, uint64_t bytes, const struct events *events);
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

static inline void *shadow_at(const struct shadow *s, uint32_t unit)
{
    return s->room + (uint64_t)unit * UNIT;
}

/* Has the row come apart. */
void shadow_split(struct shadow *s, struct page *p, uint32_t row);
static inline struct cell *shadow_cell(struct shadow *s, struct page *p, uint64_t address)
{
    const uint32_t row = (uint32_t)(address % PAGE) / 4 / ROW_WORDS;
    if (!(p->apart >> row & 1)) shadow_split(s, p, row);
    return &p->cells[address % PAGE >> p->shift];
}
/* With room for one more span. NULL: there are SPANS_MOST. */
struct row *shadow_row(struct shadow *s, struct page *p, uint32_t row);
/* A row of cells of which nothing is to be remembered. */
void shadow_mend(struct shadow *s, struct page *p, uint32_t row);

static inline struct set *shadow_set(const struct shadow *s, tag half)
{
    return half & TAG_SET ? shadow_at(s, half & ~TAG_SET) : NULL;
}

/* The tags in a cell's half, one after the other; `one` is for those that are one. */
static inline uint32_t shadow_tags(const struct shadow *s, const tag *half, const tag **list)
{
    const struct set *set = shadow_set(s, *half);
    *list = set ? set->list : half;
    return set ? set->count : *half != 0;
}
/* Makes the half hold these tags, of which there are HISTORY at most. */
void shadow_put(struct shadow *s, tag *half, const tag *list, uint32_t count);
/* One more; of a half that has HISTORY in the place of the last. A set may move. */
void shadow_add(struct shadow *s, tag *half, tag one);
static inline void shadow_clear(struct shadow *s, tag *half)
{
    if (*half & TAG_SET) shadow_put(s, half, NULL, 0);
    *half = 0;
}

#endif
