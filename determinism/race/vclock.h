/* determinism/race/vclock.h: what a thread knows to have happened, as a vector clock.
 *
 * A grid has millions of threads, and mostly a thread knows nothing of other CTAs, or all of some of them. So
 * a clock is a tree over the CTAs; a leaf lists the parts of one CTA that are known, each up to a time. A part
 * is a thread, a warp (all its lanes), the CTA (all its threads), or what is not a thread but has a time of
 * its own: an mbarrier, by its phases. Clocks never change, and trees that are equal are one: what two
 * clocks have in common costs nothing when they are joined. A clock of few parts is a plain list of them. Where two
 * that are large would be joined, as with many locks, that is put off: the result remembers both, and what is asked
 * of it is asked of them.
 *
 *     clock_learn(t, &c, news);                           // c becomes what both know
 *     if (clock_covers(t, c, cta, thread, warp, when)) ...
 *     clock_drop(t, c);
 *
 * NULL is the clock that knows nothing. */
#ifndef HEDDLE_DETERMINISM_RACE_VCLOCK_H
#define HEDDLE_DETERMINISM_RACE_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { /* parts */
       PART_THREAD = 0,
       PART_MBARRIER = 1 << 16, /* as many as shared memory has room for */
       PART_WARP = 1 << 11,
       PART_CTA = 1 << 12
};

struct clock_entry { /* the part's time up to `when`, inclusive */
    uint32_t part, when;
};

enum { CLOCK_SIZES = 3 };
struct clock;
struct clock_tree {       /* of a launch */
    unsigned depth;       /* levels of 16 above the leaves */
    struct clock **table; /* all trees, by what is in them */
    uint32_t count, cap;  /* cap: a power of two, or 0 */
    uint64_t time;        /* counts joins that were put off, */
    uint64_t asked;       /* and questions */
    struct clock **todo;  /* room for going through them */
    uint32_t todo_cap;
    uint64_t clocks;                         /* that there are, each of about 200 bytes at most */
    struct clock *spare[CLOCK_SIZES];        /* room for more, */
    struct clock_block *blocks[CLOCK_SIZES]; /* in these: the first one is in use, */
    struct clock_block *empty[CLOCK_SIZES];  /* in these nothing is */
};
void clock_tree_begin(struct clock_tree *t, uint32_t ctas); /* there are no clocks */
/* Ends all clocks at once, whoever has them. */
void clock_tree_clear(struct clock_tree *t);
void clock_tree_end(struct clock_tree *t);

/* Knows of one CTA. `list` has at least one entry, each part once, in ascending order. */
struct clock *clock_of(struct clock_tree *t, uint32_t cta, const struct clock_entry *list,
                       uint32_t count);
/* What a thread of that warp lets be known: these entries, the first of which is its own, and what it knows; NULL is
 * nothing. No two of them have the same time of one thread. */
struct clock *clock_after(struct clock_tree *t, struct clock *known, uint32_t cta, uint32_t warp,
                          const struct clock_entry *list, uint32_t count);
/* *a joined with b; b stays the caller's. */
void clock_learn(struct clock_tree *t, struct clock **a, struct clock *b);
struct clock *clock_keep(struct clock *c);
void clock_drop_one(struct clock_tree *t, struct clock *c); /* that is not NULL */
static inline void clock_drop(struct clock_tree *t, struct clock *c)
{
    if (c) clock_drop_one(t, c);
}

/* Whether what the part did at `when` is known. `warp`: that a thread is in; of an mbarrier UINT32_MAX. `since`:
 * t->time when it was done or earlier. */
bool clock_covers(struct clock_tree *t, struct clock *c, uint32_t cta, uint32_t part, uint32_t warp,
                  uint32_t when, uint64_t since);

#endif
