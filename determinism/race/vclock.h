/* determinism/race/vclock.h: vector clocks for grids of millions of threads.
 *
 * A vector clock maps threads to epochs: it holds everything that happened before a point of the
 * execution (Mattern 1989; FastTrack, Flanagan and Freund, PLDI 2009, section 2.2). Entry (thread,
 * e) says that all events of the thread up to and including epoch e happened before.
 *
 * An array with an entry for each thread would be too large. A GPU thread mostly knows nothing of
 * other CTAs, or everything of some of them. So an entry names a *part* of a CTA: a thread, a warp
 * (all its lanes), the whole CTA, or an mbarrier, whose epochs are its phases. (BARRACUDA,
 * Eizenberg et al., PLDI 2017, compresses the clocks of warps for the same reason.) A clock has one
 * of three forms:
 *   - a list, if it has at most 16 entries;
 *   - a tree over the CTAs of the grid with a fan-out of 16, whose leaves list the parts of one
 *     CTA. Trees are immutable and interned: equal trees are one object, so a join of clocks that
 *     share subtrees is cheap;
 *   - a lazy join of two clocks, where a join of two large trees would be slow (many locks). A
 *     query on it is answered by queries on both operands. What a thread releases then is such a
 *     join, too, with a few entries of its own. What it releases until it acquires something again
 *     is one join, with an epoch for each release.
 *
 *     vclock_join(t, &c, released);                       // c := c joined with released
 *     if (vclock_covers(t, c, cta, thread, warp, epoch, 0)) ...
 *     vclock_unref(t, c);
 *
 * Clocks never change and count their references. NULL is the empty clock. */
#ifndef HEDDLE_DETERMINISM_RACE_VCLOCK_H
#define HEDDLE_DETERMINISM_RACE_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { /* parts of a CTA */
       PART_THREAD = 0,
       PART_MBARRIER = 1 << 16, /* as many as fit in shared memory */
       PART_WARP = 1 << 11,
       PART_CTA = 1 << 12
};

struct vclock_entry { /* the events of the part up to `epoch`, inclusive */
    uint32_t part, epoch;
};

enum { VCLOCK_SIZES = 3 };
enum vclock_effort {
    VCLOCK_ALL,   /* queries visit all lazy joins that may matter, */
    VCLOCK_SOME,  /* the latest 64 */
    VCLOCK_NEARBY /* or the releases that were joined last */
};
struct vclock;
struct node;                   /* of a clock */
struct vclock_store {          /* the clocks of a launch */
    uint32_t ctas, threads;    /* of the grid; of a CTA */
    unsigned depth;            /* levels of inner nodes above the leaves */
    struct node **table;       /* hash table of all trees, for interning */
    uint32_t count, cap;       /* of the table; cap: a power of two, or 0 */
    uint64_t joins;            /* lazy joins so far */
    uint32_t queries;          /* on lazy joins so far: marks the nodes that a query has visited */
    uint64_t horizon;          /* earlier lazy joins have been condensed */
    enum vclock_effort effort; /* of queries: with less they may answer no instead of yes, */
    bool cut;                  /* and then set this */
    struct vclock **worklist;
    uint32_t worklist_cap;
    uint64_t live, bytes;                      /* clocks that exist, and their size */
    struct node *spare[VCLOCK_SIZES];          /* free lists, by size */
    struct vclock_block *blocks[VCLOCK_SIZES]; /* memory for clocks; the first one is in use */
    struct vclock_block *empty[VCLOCK_SIZES];  /* blocks without clocks */
};
/* Of an empty store, for a grid of so many CTAs of so many threads each. */
void vclock_store_begin(struct vclock_store *t, uint32_t ctas, uint32_t threads);
/* Frees all clocks, whatever their references. */
void vclock_store_clear(struct vclock_store *t);
void vclock_store_end(struct vclock_store *t);

/* A clock of parts of one CTA. `list`: at least one entry, each part once, ascending. */
struct vclock *vclock_of_cta(struct vclock_store *t, uint32_t cta, const struct vclock_entry *list,
                             uint32_t count);
struct vclock_release {
    uint32_t cta, thread; /* of the CTA, of it */
    uint32_t epoch;       /* what the thread did up to it, */
    uint32_t warp_epoch;  /* what all of its warp did (0: nothing), */
    uint32_t cta_epoch;   /* and all of its CTA */
};
/* The clock that a thread releases, joined with `known` (may be NULL), all that it knows. No two clocks of one thread with
 * the same epoch differ. */
struct vclock *vclock_extend(struct vclock_store *t, struct vclock *known,
                             const struct vclock_release *now);
/* *a := *a joined with b. The caller keeps its reference to b. */
void vclock_join(struct vclock_store *t, struct vclock **a, struct vclock *b);
/* Whether a quick search shows that a includes all of b. a, b: may be NULL. */
bool vclock_clearly_includes(struct vclock_store *t, struct vclock *a, const struct vclock *b);
/* Whether a is the owner of the clock `released`, or has acquired a clock from it (both at a glance), and so includes what that thread did up
 * to `later` epochs after it released. */
bool vclock_follows(const struct vclock *a, const struct vclock *released, uint32_t later);
/* Prefetches what a join with the clock will look at. */
void vclock_prefetch(const struct vclock *c);
/* Clocks that a thread releases without acquiring anything in between lie in one node, a line of the host's cache that begins
 * with the count of its references (vclock.c). */
enum { VCLOCK_NODE = 64 };
static inline uint32_t *vclock_refs(struct vclock *c)
{
    return (uint32_t *)(void *)((char *)c - (uintptr_t)c % VCLOCK_NODE);
}
static inline struct vclock *vclock_ref(struct vclock *c)
{
    if (c) ++*vclock_refs(c);
    return c;
}
/* The same as vclock_follows() for one case: a is a clock of the thread that released. */
static inline bool vclock_is_later(const struct vclock *a, const struct vclock *released,
                                   uint32_t later)
{
    const uintptr_t at = (uintptr_t)released % VCLOCK_NODE,
                    step = (uintptr_t)a - (uintptr_t)released;
    return at && step >= later && step < VCLOCK_NODE - at;
}
/* Frees memory: lazy joins of the earlier half get one operand in common, a tree of all that any of
 * them says. Then vclock_covers() may be true where it was false, for what had been released
 * somewhere before the clock asked about was made; it is false nowhere where it was true. */
void vclock_condense(struct vclock_store *t);
void vclock_unref_one(struct vclock_store *t, struct vclock *c); /* not NULL */
static inline void vclock_unref(struct vclock_store *t, struct vclock *c)
{
    if (c && *vclock_refs(c) > 1) --*vclock_refs(c);
    else if (c) vclock_unref_one(t, c);
}

/* Whether what the part did at `epoch` is in the clock. `warp`: the warp of a thread; for an
 * mbarrier UINT32_MAX. `since`: t->joins when it was done, or earlier; lazy joins made before that
 * are not searched. */
bool vclock_covers(struct vclock_store *t, struct vclock *c, uint32_t cta, uint32_t part,
                   uint32_t warp, uint32_t epoch, uint64_t since);

#endif
