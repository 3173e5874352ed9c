/* determinism/race/access.h: one access of a warp while the race detector checks it. race.c checks
 * it, cells.h has the rules, and deferred.c decides whether the check can be deferred. */
#ifndef HEDDLE_DETERMINISM_RACE_ACCESS_H
#define HEDDLE_DETERMINISM_RACE_ACCESS_H

#include "determinism/race/detector.h"

#include "ptx/ptx.h"

struct access {
    struct race *r;
    const struct emu_access *a;
    struct cta *c; /* of the accessing threads */
    struct warp *w;
    uint32_t warp;
    uint32_t cta, barrier_epoch, warp_epoch; /* of c and w; epochs are 0 if threads exited early */
    bool has_vc;                             /* a lane may know more than the barrier epochs say */
    /* A cache, as most cells of an access have the same last event: an event that all lanes of the
     * warp know; an event of this warp, of which each lane knows its own part. */
    uint32_t known_event, own_event;
    struct cta *home; /* whose shared memory it is; NULL: global memory */
    struct shadow *shadow;
    struct events *events;
    struct deferred_list *deferred;
    bool one_memory; /* all lanes access the same memory; then home and what follows are set */
    uint64_t start;  /* address at which that memory starts */
    uint64_t joins;  /* vclock_store.joins */
    uint32_t width;  /* of an element that is accessed as one */
    bool strong, writes, reported;
    bool flagged; /* there may be flags in its lines */
    /* A load of global memory by a cache that is not coherent (.nc, tex): no synchronisation orders
     * it after a write. */
    bool noncoherent_read;
};

/* Whether these lanes are at one epoch. */
static inline bool race_same_epoch(const struct warp *w, uint32_t lanes)
{
    const uint32_t epoch = w->epoch[__builtin_ctz(lanes)];
    uint32_t differ = 0;
    if (w->same_epoch) return true;
    if (lanes == ~0u)
        for (uint32_t l = 0; l < LANES; l++) differ |= w->epoch[l] ^ epoch;
    else
        for (uint32_t m = lanes; m; m &= m - 1) differ |= w->epoch[__builtin_ctz(m)] ^ epoch;
    return !differ;
}

/* Bytes of an element that is accessed as one. */
static inline uint32_t race_width(const struct emu_access *a)
{
    if (a->type == PTX_f16x2 || a->type == PTX_bf16x2) return a->width / 2u;
    return a->type == PTX_b128 ? 16
                               : a->width; /* loads and stores of b128 are reported by halves */
}

/* Loads the epochs of the CTA and the warp, at the start and after lanes have acquired
 * something. */
static inline void race_load_epochs(struct access *k)
{
    const bool early_exits = k->c->has_early_exits;
    k->cta = k->c->index;
    k->barrier_epoch = early_exits ? 0 : k->c->barrier_epoch;
    k->warp_epoch = early_exits ? 0 : k->w->barrier_epoch;
    k->has_vc = early_exits || k->w->thread_vc || k->c->vc;
    k->known_event = k->own_event = 0;
}

/* Checks the access. `size`: bytes of a lane. `synchronises`: each group of lanes that access the
 * same bytes acquires before its check and releases after it. */
void race_check_lanes(struct access *k, uint32_t size, bool synchronises);

/* report.c: reports two events; the first is of the lane that is checked. `n`: the cache entry of
 * the pair. */
__attribute__((cold)) void race_report(const struct access *k, tag own, tag other, uint32_t lane,
                                       uint64_t address, struct reported_pair *n);

/* deferred.c: defers the check of an access to one memory. false: it must be checked now, and the
 * deferred accesses to its lines have been replayed. */
bool race_defer(struct access *k, uint32_t size);
/* The same for most accesses: reads of lines that no thread has written. false: unknown, ask
 * race_defer(). */
bool race_defer_read(struct race *r, const struct emu_access *a);

#endif
