/* emu/sched/ordered.h: the state of a launch that runs under an order, for the files that run it.
 *
 *     ordered.c                        the loop: asks the order for a warp and runs a burst of that warp
 *     residency.c                      CTAs in the slots of SMs: when they begin and end
 *     order_memory.c, order_warps.c    the functions of emu/order.h and emu/order_fast.h
 *     prefetch.c                       data that the host prefetches for warps that will run soon
 *     emu/progress/livelock_attempt.c  when a livelock proof is attempted
 *
 * A warp that can run is in the queue READY, from which the order picks. A warp that waits for something other than a
 * CTA barrier (an mbarrier, other contexts of the warp) is in WAITING; it is retried when READY is empty, and
 * periodically. Warps that wait at CTA barriers, sleep or are done are in no queue. */
#ifndef HEDDLE_EMU_SCHED_ORDERED_H
#define HEDDLE_EMU_SCHED_ORDERED_H

#include "emu/order_fast.h"
#include "emu/sched/launch_context.h"
#include "emu/sched/notify.h"

#include <string.h>

enum { NOWHERE, READY, WAITING, QUEUES };

struct queue {
    struct emu_group **group; /* NULL: a warp of a CTA that has not begun */
    struct emu_warp *warp;    /* READY: the warps, for pick() */
    u32 count, cap;
};
struct sm_slot {       /* a slot of an SM */
    struct slot *slot; /* NULL: the CTA has not begun, or the slot has none */
    u32 linear;        /* linear index of the CTA */
    bool taken;
};
struct ordered {
    struct host_worker *h;
    const struct emu_order *order;
    /* By slot. The slots of a cluster are taken until all CTAs of the cluster have ended. */
    struct sm_slot *sm_slots;
    struct slot *spare; /* cta_arena */
    /* place in READY of warps of CTAs that have not begun, by slot and warp */
    u32 *queue_at;
    u32 *vacant_space; /* memory for `vacant`: slot_count entries */
    u32 *vacant;       /* the free slots, ascending */
    u32 slot_count, vacant_count;
    u32 most_warps; /* most warps that are resident at once */
    u32 next;       /* number of clusters that have been placed */
    u32 live;       /* number of CTAs that have been placed and have not ended */
    struct queue queue[QUEUES];
    u32 turn; /* position of the default order in READY */
    /* CTAs are placed only when no warp can run, or after PATIENCE turns for each ready warp */
    bool lazy;
    u32 turns;  /* turns since the last CTA was placed */
    bool moved; /* something has changed since waiting warps were last retried */
    bool over;
    struct livelock_proof livelock;
    u64 bursts;
    /* in bursts: begin of the next attempt; when this attempt is given up */
    u64 look_at, look_until;
    u64 looked_at, began_at;     /* in bursts: last check of all warps; begin of this attempt */
    u32 phases;                  /* calls of idle() in this attempt */
    bool settled;                /* the order was quiesced when this attempt began */
    bool drains_observed;        /* emu_machine_drains_observed */
    struct emu_bound last_bound; /* the allocation of the last buffered store */
    /* mem_releases when last_bound was found: it is valid while that is unchanged */
    u64 releases;
};

static inline u32 *queue_at(struct ordered *o, const struct queue *q, u32 at)
{
    if (q->group[at]) return &q->group[at]->turn.queue_at;
    return &o->queue_at[(size_t)q->warp[at].slot * o->h->ctx->m->warps_per_cta + q->warp[at].warp];
}

static inline void append(struct ordered *o, u8 which, struct emu_group *g, struct emu_warp who)
{
    struct queue *q = &o->queue[which];
    if (q->count == q->cap) {
        const struct queue was = *q;
        struct cta_arena *const cta_arena = o->h->ctx->m->cta_arena;
        q->cap = was.cap ? 2 * was.cap : o->most_warps;
        q->group =
            (struct emu_group **)(void *)cta_arena_take(cta_arena, q->cap * sizeof *q->group).at;
        q->warp = (struct emu_warp *)(void *)cta_arena_take(cta_arena, q->cap * sizeof *q->warp).at;
        if (was.count) memcpy(q->group, was.group, was.count * sizeof *q->group);
        if (was.count) memcpy(q->warp, was.warp, was.count * sizeof *q->warp);
    }
    q->group[q->count] = g;
    q->warp[q->count] = who;
    *queue_at(o, q, q->count) = q->count;
    q->count++;
}

static inline void enqueue(struct ordered *o, u8 which, struct emu_group *g)
{
    g->turn.queue = which;
    const bool waits = g->state == GROUP_WAIT;
    append(o, which, g,
           (struct emu_warp){g->cta->linear, g->first, g->cta->sm, g->cta->slot, emu_serial(g),
                             waits, waits ? g->pc->pc : 0});
}

static inline void dequeue(struct ordered *o, struct emu_group *g)
{
    struct queue *q = &o->queue[g->turn.queue];
    if (g->turn.queue == NOWHERE) return;
    const u32 at = g->turn.queue_at, last = --q->count;
    q->group[at] = q->group[last];
    q->warp[at] = q->warp[last];
    *queue_at(o, q, at) = at;
    g->turn.queue = NOWHERE;
}

/* Moves the group to the queue of its state. A group that waits may be in READY or WAITING: see try_waiting. */
static inline void sort_in(struct ordered *o, struct emu_group *g)
{
    u8 want = NOWHERE;
    if (!g->turn.asleep && g->state == GROUP_READY) want = READY;
    if (!g->turn.asleep && g->state == GROUP_WAIT) want = g->turn.queue ? g->turn.queue : WAITING;
    if (g->turn.queue != want) {
        dequeue(o, g);
        if (want != NOWHERE) enqueue(o, want, g);
    } else if (want == READY) {
        o->queue[READY].warp[g->turn.queue_at].serial = emu_serial(g);
        o->queue[READY].warp[g->turn.queue_at].waits = false;
    }
}

static inline void look_through(struct ordered *o, struct emu_cta *c)
{
    c->stirred = false;
    for (u32 k = 0; k < c->group_count; k++) sort_in(o, &c->groups[c->group_at[k]]);
}

/* The CTA of the warp. NULL: the CTA has not begun, or has ended. */
static inline struct emu_cta *cta_of(const struct emu_machine *m, const struct emu_warp *who)
{
    const struct ordered *o = m->ordered;
    struct slot *p = o && who->slot < o->slot_count ? o->sm_slots[who->slot].slot : NULL;
    return p && p->cta.linear == who->cta ? &p->cta : NULL;
}

/* Iterates over the contexts of a warp; *at is 0 at first. NULL: no more contexts. */
static inline struct emu_group *next_context(const struct emu_cta *c, u32 warp, u32 *at)
{
    if (c->context_count == c->warps) return (*at)++ ? NULL : &c->groups[warp];
    while (*at < c->group_count) {
        struct emu_group *g = &c->groups[c->group_at[(*at)++]];
        if (g->first == warp) return g;
    }
    return NULL;
}

/* The current attempt of a livelock proof, which must be informed of changes of memory. NULL: none. */
static inline struct livelock_proof *livelock_proof_of(const struct emu_machine *m)
{
    return m->ordered ? m->ordered->h->livelock : NULL;
}

/* ---- residency.c ------------------------------------------------------------------------------------ */

/* Begins the CTA that has been placed in a slot. residency_begin_queued: its warps are in READY already. */
struct slot *residency_begin(struct ordered *o, u32 slot);
void residency_begin_queued(struct ordered *o, u32 slot);
/* Places CTAs while there are free slots and the order admits CTAs. */
void residency_place(struct ordered *o);
/* For orders without place(): places CTAs, since a running warp may wait for a CTA that has not been placed. */
void residency_place_beside(struct ordered *o);
/* A CTA has ended: frees its slot, so that the next CTA may be placed. */
void residency_cta_ended(struct ordered *o, struct emu_cta *c);
void residency_init(struct ordered *o);

/* ---- prefetch.c -------------------------------------------------------------------------------------- */

/* Prefetches the rows that the warp reads first when it runs. */
void prefetch_rows(const struct emu_group *g);

/* ---- emu/progress/livelock_attempt.c ------------------------------------------------------------------ */

/* To be called after each burst. Whether it is proved that no warp can ever make progress. */
bool livelock_attempt(struct ordered *o);

#endif
