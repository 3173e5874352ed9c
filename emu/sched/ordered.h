/* emu/sched/ordered.h: the state of a launch that runs under an order, for the files that run it.
 *
 *     ordered.c                        the loop: asks the order for a warp and runs a burst of it
 *     residency.c                      CTAs in the slots of SMs: when they begin and end
 *     order_memory.c, order_warps.c    the functions of emu/order.h and emu/order_fast.h
 *     prefetch.c                       what the host prefetches for warps that will run soon
 *     emu/progress/livelock_attempt.c  when a livelock proof is attempted
 *
 * A warp that can run is in the queue READY, from which the order picks. A warp that waits for something other than a
 * barrier (an mbarrier, other contexts of the warp) is in WAITING; it is tried again when READY is empty, and now and
 * then. Warps at barriers, asleep or done are in no queue. */
#ifndef HEDDLE_EMU_SCHED_ORDERED_H
#define HEDDLE_EMU_SCHED_ORDERED_H

#include "emu/order_fast.h"
#include "emu/sched/launch_context.h"
#include "emu/sched/notify.h"

#include <string.h>

enum { NOWHERE, READY, WAITING, QUEUES };

struct queue {
    struct emu_group **group; /* NULL: of a CTA that has not begun */
    struct emu_warp *warp;    /* READY: who they are */
    u32 count, cap;
};
struct sm_slot {       /* a slot of an SM */
    struct slot *slot; /* NULL: the CTA has not begun, or there is none */
    u32 linear;        /* the CTA */
    bool taken;
};
struct ordered {
    struct host_worker *h;
    const struct emu_order *order;
    struct sm_slot *sm_slots; /* by slot; of a cluster they are taken until all of it has ended */
    struct slot *spare;       /* cta_arena */
    u32 *queue_at;            /* by slot and warp, of CTAs that have not begun */
    u32 *vacant_space;        /* slot_count places, */
    u32 *vacant;              /* and among them the free slots, ascending */
    u32 slot_count, vacant_count;
    u32 most_warps; /* that are resident at once */
    u32 next;       /* clusters that have been placed */
    u32 live;       /* CTAs that have been placed and not ended */
    struct queue queue[QUEUES];
    u32 turn;   /* where the default order stands in READY */
    bool lazy;  /* CTAs are placed when there is nothing else to do, or after PATIENCE: */
    u32 turns;  /* since the last one was */
    bool moved; /* something has changed since waiting warps were tried */
    bool over;
    struct livelock_proof livelock;
    u64 bursts;
    u64 look_at, look_until; /* bursts: when the next attempt begins; when this one is given up */
    u64 looked_at, began_at; /* when who goes round was looked for last; when this attempt began */
    u32 phases;              /* idle() in this attempt */
    bool settled;            /* the order was when it began */
    bool drains_observed;    /* emu_machine_drains_observed */
    struct emu_bound last_bound; /* the allocation that it last stored to, */
    u64 releases;                /* valid until more memory is released than this: mem_releases */
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

/* Into the queue that its state asks for. One that waits may be in either: see try_waiting. */
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

/* NULL: it has not begun, or is gone. */
static inline struct emu_cta *cta_of(const struct emu_machine *m, const struct emu_warp *who)
{
    const struct ordered *o = m->ordered;
    struct slot *p = o && who->slot < o->slot_count ? o->sm_slots[who->slot].slot : NULL;
    return p && p->cta.linear == who->cta ? &p->cta : NULL;
}

/* The contexts of a warp, one after the other: *at is 0 at first. NULL: no more. */
static inline struct emu_group *next_context(const struct emu_cta *c, u32 warp, u32 *at)
{
    if (c->context_count == c->warps) return (*at)++ ? NULL : &c->groups[warp];
    while (*at < c->group_count) {
        struct emu_group *g = &c->groups[c->group_at[(*at)++]];
        if (g->first == warp) return g;
    }
    return NULL;
}

/* Somebody looks whether memory changes. */
static inline struct livelock_proof *livelock_proof_of(const struct emu_machine *m)
{
    return m->ordered ? m->ordered->h->livelock : NULL;
}

/* ---- residency.c ------------------------------------------------------------------------------------ */

/* Begins the CTA that has been placed into a slot; _queued: its warps are in READY already. */
struct slot *residency_begin(struct ordered *o, u32 slot);
void residency_begin_queued(struct ordered *o, u32 slot);
/* Places as many CTAs as there are slots for and the order wants. */
void residency_place(struct ordered *o);
/* Under an order that places nothing itself: a running warp may wait for a CTA that has not been placed. */
void residency_place_beside(struct ordered *o);
/* A CTA has ended: its slot is free, and the next may be placed. */
void residency_cta_ended(struct ordered *o, struct emu_cta *c);
void residency_init(struct ordered *o);

/* ---- prefetch.c -------------------------------------------------------------------------------------- */

/* The rows that the warp reads first when it runs. */
void prefetch_rows(const struct emu_group *g);

/* ---- emu/progress/livelock_attempt.c ------------------------------------------------------------------ */

/* After each burst. Whether it is proved that no warp will ever get any further. */
bool livelock_attempt(struct ordered *o);

#endif
