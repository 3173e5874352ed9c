/* determinism/reads.h: reads of one shadow memory that the race detector has put off.
 *
 * A read races with nothing but writes. So what warps read of rows that nobody has written is only noted down, in
 * order, and looked at when somebody does write to one of those rows: most constant inputs, and tiles in shared
 * memory between two barriers, never are. A note has all that looking at it later needs.
 *
 *     struct read *n = reads_add(&c->reads, count);       // to be filled in
 *     for (n = NULL; (n = reads_next(&c->reads, n));) ...
 *     reads_clear(&c->reads);                              */
#ifndef HEDDLE_DETERMINISM_READS_H
#define HEDDLE_DETERMINISM_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct read {       /* of a warp's lanes, all at one time */
    uint64_t born;  /* clock_tree.time */
    uint64_t first; /* address of the first lane's bytes, from the shadow's beginning on */
    uint32_t cta, pc, lanes, when;
    uint32_t cta_base, warp_base; /* what was before was known to all of the CTA, of the warp */
    uint8_t warp, size, width;    /* bytes of a lane, of an element */
    bool run;                     /* all lanes, one behind the other */
    uint32_t count;
    int32_t
        from_first[]; /* by lane, LANES of them; or if `count` is 0, all read the same or a run */
};

struct reads {
    unsigned char *room;
    size_t size, cap;
    uint64_t number; /* of the list: what marks of pages are of. Goes up when it is cleared */
};

enum {
    READS_SHARED = 1 << 20, /* bytes of notes; those of more are looked at, and begin afresh */
    READS_GLOBAL = 1 << 28
};

struct read *reads_add(struct reads *r, uint32_t count);
struct read *reads_next(const struct reads *r,
                        const struct read *last); /* NULL: before the first; the end */
static inline void reads_clear(struct reads *r)
{
    r->size = 0;
    r->number++;
}
void reads_free(struct reads *r);

#endif
