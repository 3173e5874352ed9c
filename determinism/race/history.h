/* determinism/race/history.h: shadow memory: the last accesses of each byte.
 *
 * An *event* is what one warp did with one instruction in one epoch, however often. A *tag* is an
 * event and a lane: it plays the part of FastTrack's epoch c@t (Flanagan and Freund, PLDI 2009,
 * section 3), with the instruction as well, for the report. A *cell* is the shadow of four bytes,
 * or of one byte in pages that have narrower accesses. It holds the last writes and the last reads:
 * no tag, one tag, or a set of tags that are not ordered among themselves. FastTrack needs one
 * write and a read epoch or read vector; here writes can be several, because morally strong writes
 * do not race.
 *
 * Warps mostly access adjacent words, lane by lane. So the shadow of 32 adjacent words, a *shadow
 * line* (128 bytes of memory), starts without cells. It has *spans* instead: an event, a mask of
 * the words that it touched, and the lane that touched the first one; word i + 1 was touched by the
 * next lane. A line is *split* into cells when an access does not fit a span, and merged again when
 * a whole warp overwrites all its words.
 *
 * A set has at most HISTORY tags, which are searched at each access. Further reads go into the set's *archive*, which only a
 * write searches: FastTrack's read vector, in the order of the reads.
 *
 * Lines and cells lie in pages of 4 KiB of memory. A page is created by the first access. All pages
 * expire at once when the shadow's `launch` number goes up. The lines of a page also have marks of
 * the deferred accesses (deferred_list.h) and of the flags (detector.h) in them.
 *
 * race.c and atomicity.c each have shadow memory of their own. */
#ifndef HEDDLE_DETERMINISM_RACE_HISTORY_H
#define HEDDLE_DETERMINISM_RACE_HISTORY_H

#include "determinism/race/strong_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    EVENT_STRONG = 1,
    EVENT_PENDING = 2, /* asynchronous, and its thread has not waited for it */
    /* Asynchronous: complete when phase `epoch` of mbarrier `part` of CTA `owner` is. */
    EVENT_MBARRIER = 4,
    EVENT_BULK = 8, /* of a bulk copy, which uses the async proxy */
};
struct event {
    uint32_t joins; /* vclock_store.joins when it first happened, or UINT32_MAX if that is less */
    uint32_t cta, pc;
    uint32_t epoch; /* of its lanes */
    union {
        uint32_t
            mask; /* lanes that read the same bytes together, bit 0 is the tag's lane; 0: alone */
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
_Static_assert(sizeof(struct event) == 32, "there are up to EVENTS_MOST of them");

enum { EVENTS_MOST = 1 << 26, HISTORY = 15 };
struct events {
    struct event *list; /* [0] is unused */
    uint32_t count, cap;
    bool reserved; /* address space for EVENTS_MOST is reserved: the list never moves */
};
void events_reserve(struct events *e); /* an empty list */
void events_end(struct events *e);
/* Returns its number; 0: there are EVENTS_MOST. */
uint32_t events_add(struct events *e, const struct event *event);

typedef uint32_t tag; /* event << 5 | lane; 0: none */
#define TAG_SET 0x80000000u
static inline tag tag_of(uint32_t event, uint32_t lane)
{
    return event << 5 | lane;
}

enum { UNIT = 16, MOST_UNITS = 32, FEW = 3 }; /* bytes */
struct tag_set {
    uint8_t count, capacity; /* capacity: FEW, 7 or HISTORY */
    /* All are strong accesses of this many bytes, by CTA `cta` (UINT32_MAX: several), in `scope` or
     * wider. 0: not all. */
    uint8_t strong;
    uint8_t scope;
    uint32_t cta;
    /* All are of CTA `cta`, at this epoch or earlier, and none is asynchronous. UINT32_MAX:
     * unknown. */
    uint32_t latest;
    /* The CTA and its barrier epoch at which the set was found full of tags that must stay. */
    uint32_t full_cta, full_epoch;
    tag list[];
};
_Static_assert(sizeof(struct tag_set) == 20, "with FEW tags it is two units, with HISTORY five");
/* Reads of a set of capacity HISTORY that it has no slot for. The set's summary is also of these. */
enum {
    FIRST_UNITS = 4, /* of an archive's first block, and of others */
    MORE_UNITS = 16,
    ARCHIVE_MOST = 4096, /* tags */
    LATELY = 1 << 12
};
struct archive_block {
    uint32_t next;     /* unit of the block that was filled before; 0: none */
    uint32_t count;    /* tags in `list`, */
    uint32_t total;    /* in this block and those before: at most ARCHIVE_MOST */
    uint32_t searched; /* tags that strong writes have looked at */
    tag list[];
};
_Static_assert(sizeof(struct archive_block) == UNIT, "the tags fill whole units");
struct cell {
    tag write, read; /* or TAG_SET and the number of a set */
};

struct vclock;
struct flag { /* of an address in which a thread has released something: detector.h */
    struct vclock *released; /* at the level of the GPU */
    uint32_t chain;          /* unchanged while `released` only grows (read-modify-writes) */
    union {
        /* Where no scope is narrower than .gpu: a strong write of a word here, if it is known, so that its event need not be
         * looked at; 0: none. */
        tag last_write;
        uint32_t
            narrow; /* where there are narrower ones: the number of its levels below the GPU (narrow_pool) */
    };
    uint32_t
        next; /* global memory: the number of the next flag in the word, or of the next unused one */
    uint8_t byte;    /* global memory: 1 + its byte in the word. 0: unused */
    bool was_atomic; /* the last write was an atomic operation with a result, */
    /* in so many epochs after the release of its thread that made `released`. LATER_MOST: not known. */
    uint8_t later;
};
enum { LATER_MOST = UINT8_MAX };
/* A word of a line with flags: its cell, if cells are words, beside its flag, so that an access touches one line of the host's
 * cache. */
struct word {
    struct cell cell;
    struct flag flag;
};
_Static_assert(sizeof(struct word) == 32, "a line of the cache has two");

enum { SPAN_LANE = 31, SPANS_MOST = 63 };
struct span {
    uint32_t what;  /* event << 6 | SPAN_LANE + the lane that would touch the line's first word */
    uint32_t cells; /* mask of the words that it touched; the lane of each is 0 .. 31 */
};
struct shadow_line {
    uint16_t writes, count, capacity; /* the first ones are writes, no two of the same word */
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

enum { /* what kind of access can be deferred (deferred_list.h): */
       DEFER_READ,
       DEFER_RMW32, /* strong read-modify-writes, by width */
       DEFER_RMW64,
       DEFER_KINDS
};
enum { PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, LINE_WORDS = 32, LINES = PAGE / 4 / LINE_WORDS };
struct page {
    /* The shadow's when it was last used; older: the page has expired. */
    _Alignas(64) uint64_t launch;
    uint32_t shift;   /* bytes of a cell: 1 << shift, where shift is 2 or 0 */
    uint32_t split;   /* mask of the lines that are split into cells; all, if cells are bytes */
    uint32_t flagged; /* global memory: mask of lines with a flag */
    uint32_t
        settled; /* those of them that are split into words and in which no access is deferred any more */
    uint32_t words[LINES]; /* flagged: the number of the line's first word, of shadow.words */
    struct cell *cells;
    bool byte_cells; /* `cells` has one for each byte */
    /* Masks of lines of 128 bytes, also where cells are bytes: */
    uint32_t no_defer[DEFER_KINDS]; /* accesses of this kind are no longer deferred */
    uint32_t
        deferred[DEFER_KINDS]; /* the deferred list of number `deferred_in` has such accesses */
    uint64_t deferred_in;
    uint32_t conflicting;  /* during a replay: the lines that caused it */
    uint32_t lines[LINES]; /* not split: unit of the line's spans; 0: no access */
    struct page *next;     /* in any order */
};
struct shadow { /* of a range of memory that starts at 0 */
    struct page **pages, *first;
    uint64_t count;
    uint64_t launch;
    const struct events *events; /* that the tags name; NULL: no sets and no lines */
    bool mapped; /* `pages` has addresses of its own, and so has the arena: it never moves */
    struct cell
        *cells; /* mapped: of the pages, in large pages of the host; NULL: there are none yet */
    uint64_t cells_used;
    struct word *words; /* of lines with flags */
    struct strong_log strong;
    unsigned char
        *arena; /* of tag sets and lines, in units; a free one has the number of the next */
    uint32_t units, units_cap, vacant[MOST_UNITS + 1];
    uint32_t archived;   /* units of archives: at most ARCHIVES_MOST */
    uint32_t generation; /* goes up when an archive is freed */
    struct archived {    /* reads that were archived lately; by hash */
        uint32_t archive, generation;
        tag one;
    } * lately;
};
enum { ARCHIVES_MOST = 1 << 22 }; /* 64 MiB */

void shadow_begin(struct shadow *s, uint64_t bytes, const struct events *events);
void shadow_forget(struct shadow *s); /* all accesses */
void shadow_end(struct shadow *s);

/* The page of an address. `fine`: its cells must be bytes. NULL: beyond the range. */
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
    return s->arena + (uint64_t)unit * UNIT;
}

/* The word of an address in a line with flags. */
static inline struct word *shadow_word(const struct shadow *s, const struct page *p,
                                       uint64_t address)
{
    const uint32_t word = (uint32_t)(address % PAGE) / 4;
    return &s->words[p->words[word / LINE_WORDS] + word % LINE_WORDS];
}
/* The cell of an address in a line that is split. */
static inline struct cell *shadow_cell_at(const struct shadow *s, const struct page *p,
                                          uint64_t address)
{
    const uint32_t line = (uint32_t)(address % PAGE) / 4 / LINE_WORDS;
    return p->flagged >> line & 1 && p->shift ? &shadow_word(s, p, address)->cell
                                              : &p->cells[address % PAGE >> p->shift];
}
/* Splits the line into cells. */
void shadow_split(struct shadow *s, struct page *p, uint32_t line);
static inline struct cell *shadow_cell(struct shadow *s, struct page *p, uint64_t address)
{
    const uint32_t line = (uint32_t)(address % PAGE) / 4 / LINE_WORDS;
    if (!(p->split >> line & 1)) shadow_split(s, p, line);
    return shadow_cell_at(s, p, address);
}
/* Marks the line as flagged. Its words begin at that number; they have no flags. */
void shadow_mark_flags(const struct shadow *s, struct page *p, uint32_t line, uint32_t number);
/* With capacity for one more span. NULL: there are SPANS_MOST. */
struct shadow_line *shadow_line_reserve(struct shadow *s, struct page *p, uint32_t line);
/* Makes cells whose contents are no longer needed a line again. */
void shadow_merge(struct shadow *s, struct page *p, uint32_t line);

static inline struct tag_set *shadow_set(const struct shadow *s, tag half)
{
    return half & TAG_SET ? shadow_at(s, half & ~TAG_SET) : NULL;
}

/* The tags of one half of a cell (its writes or its reads). */
static inline uint32_t shadow_tags(const struct shadow *s, const tag *half, const tag **list)
{
    const struct tag_set *set = shadow_set(s, *half);
    *list = set ? set->list : half;
    return set ? set->count : *half != 0;
}
/* The unit of the archive's block that was filled last; 0: none. */
static inline uint32_t shadow_archive(const struct tag_set *set)
{
    return set && set->capacity == HISTORY ? set->list[HISTORY] : 0;
}
/* Makes the half hold these tags, at most HISTORY, and no archive. */
void shadow_put(struct shadow *s, tag *half, const tag *list, uint32_t count);
/* Likewise, but its archive stays. */
void shadow_keep(struct shadow *s, tag *half, const tag *list, uint32_t count);
/* Adds a tag; in a half that has HISTORY it replaces the last one. A set may move. */
void shadow_add(struct shadow *s, tag *half, tag one);
/* The same of reads; in a half that has HISTORY it goes into the archive. Not where the limits above are reached. */
void shadow_add_read(struct shadow *s, tag *half, tag one);
/* Frees the archive of the set, if there is one. */
void shadow_forget_archive(struct shadow *s, struct tag_set *set);
static inline void shadow_clear(struct shadow *s, tag *half)
{
    if (*half & TAG_SET) shadow_put(s, half, NULL, 0);
    *half = 0;
}

#endif
