/* determinism/clock.h: what a thread knows to have happened, as a vector clock.
 *
 * A grid has millions of threads, and mostly a thread knows nothing of other CTAs, or all of some of them. So
 * a clock is a tree over the CTAs; a leaf lists the parts of one CTA that are known, each up to a time. A part
 * is a thread, a warp (all its lanes), the CTA (all its threads), or what is not a thread but has a time of
 * its own: an mbarrier, by its phases. Clocks never change and share what they have in common, so that
 * a clock joined with what it has already learned is itself.
 *
 *     struct clock *c = clock_join(t, known, news);       // a reference of its own
 *     if (clock_covers(t, c, cta, thread, warp, when)) ...
 *     clock_drop(t, c);
 *
 * NULL is the clock that knows nothing. */
#ifndef HEDDLE_DETERMINISM_CLOCK_H
#define HEDDLE_DETERMINISM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { /* parts */
       PART_THREAD = 0,
       PART_MBARRIER = 1 << 10,
       PART_WARP = 1 << 11,
       PART_CTA = 1 << 12
};

struct clock_entry { /* the part's time up to `when`, inclusive */
    uint32_t part, when;
};

struct clock;
struct clock_tree { /* of a launch */
    unsigned depth; /* levels of 16 above the leaves */
};
void clock_tree_begin(struct clock_tree *t, uint32_t ctas);

/* Knows of one CTA. `list` has at least one entry, each part once, in ascending order. */
struct clock *clock_of(const struct clock_tree *t, uint32_t cta, const struct clock_entry *list,
                       uint32_t count);
struct clock *clock_join(const struct clock_tree *t, struct clock *a, struct clock *b);
/* *a joined with b; b stays the caller's. */
void clock_learn(const struct clock_tree *t, struct clock **a, struct clock *b);
struct clock *clock_keep(struct clock *c);
void clock_drop(const struct clock_tree *t, struct clock *c);

/* Whether what the part did at `when` is known. `warp`: that a thread is in; of an mbarrier UINT32_MAX. */
bool clock_covers(const struct clock_tree *t, const struct clock *c, uint32_t cta, uint32_t part,
                  uint32_t warp, uint32_t when);

#endif
