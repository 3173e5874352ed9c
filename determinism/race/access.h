/* determinism/race/access.h: an access while the race detector looks at it, between race.c (what it means) and deferred.c
 * (whether that can wait). */
#ifndef HEDDLE_DETERMINISM_RACE_ACCESS_H
#define HEDDLE_DETERMINISM_RACE_ACCESS_H

#include "determinism/race/detector.h"

#include "ptx/ptx.h"

/* One access of a warp, while it is looked at. */
struct look {
    struct race *r;
    const struct emu_access *a;
    struct cta *c; /* whose thread it is, */
    struct warp *w;
    uint32_t warp;
    uint32_t cta, base,
        warp_base; /* its index, and the bases; 0: they say nothing of threads that are gone */
    bool more;     /* some lane may know more than the bases say */
    /* Most cells were last touched by an event that another cell of the access was touched by, too. Events: known to
     * all of the warp; of this warp, so that a lane knows its own part: */
    uint32_t known, own;
    struct cta *home; /* and in whose shared memory; NULL: global */
    struct shadow *shadow;
    struct events *events;
    struct notes *notes;
    bool one;       /* memory that all lanes access: then home and what follows are that's, */
    uint64_t from;  /* which begins there */
    uint64_t born;  /* clock_tree.time */
    uint32_t width; /* of an element that is accessed as one */
    bool strong, writes, reported;
    bool flagged; /* somebody may have released something in its rows */
    bool
        aside; /* a load of global memory by a cache that hears of no writes (.nc, tex), whatever orders them */
};

static inline bool race_is_one_time(const struct warp *w, uint32_t lanes)
{
    const uint32_t when = w->when[__builtin_ctz(lanes)];
    uint32_t differ = 0;
    if (w->even) return true;
    if (lanes == ~0u)
        for (uint32_t l = 0; l < LANES; l++) differ |= w->when[l] ^ when;
    else
        for (uint32_t m = lanes; m; m &= m - 1) differ |= w->when[__builtin_ctz(m)] ^ when;
    return !differ;
}

/* Of an element that is accessed as one. */
static inline uint32_t race_width(const struct emu_access *a)
{
    if (a->type == PTX_f16x2 || a->type == PTX_bf16x2) return a->width / 2u;
    return a->type == PTX_b128 ? 16 : a->width; /* which loads and stores tell of by halves */
}

/* What the warp knows, where it has looked or learned. */
static inline void race_look_up(struct look *k)
{
    const bool gone = k->c->gone;
    k->cta = k->c->index;
    k->base = gone ? 0 : k->c->base;
    k->warp_base = gone ? 0 : k->w->base;
    k->more = gone || k->w->mind || k->c->know;
    k->known = k->own = 0;
}

typedef void look_followed(struct look *k, uint32_t mask, uint64_t at);
/* What lanes do as one is looked at, then handed to `then` (NULL is allowed) unless it is of plain words. `size`: bytes
 * of a lane. */
void race_look_through(struct look *k, uint32_t size, look_followed *then);

/* report.c: of two events, the first the lane's that is looked at; `n` is where they are remembered. */
__attribute__((cold)) void race_tell(const struct look *k, tag own, tag other, uint32_t lane,
                                     uint64_t address, struct again *n);

/* deferred.c: whether an access of one memory can be looked at later, if ever. If not, what was put off where it
 * touches has been looked at. */
bool race_put_off(struct look *k, uint32_t size);
/* The same for what most accesses are, reads of rows that nobody has written, before there is a look. false: it is not
 * known whether it can wait. */
bool race_note(struct race *r, const struct emu_access *a);

#endif
