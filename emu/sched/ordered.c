/* A launch under an order: the loop that asks the order which warp issues next, and runs a burst of it.
 *
 * One host thread runs one warp at a time. launch.c calls ordered_run in place of its own loop; the order decides by
 * the callbacks of emu/order.h, and acts by the functions of order_memory.c and order_warps.c. The loop ends when all
 * CTAs have ended, at a fault, at a limit, when no warp can run (a deadlock), or when it is proved that no warp will
 * make progress (a livelock).
 *
 * Invariant: the sequence of questions to the order depends on the program and the order's answers alone. The loop does
 * not depend on any particular order, and does not access guest memory. */
#define _GNU_SOURCE
#include "emu/sched/ordered.h"

#include "base/arena.h"
#include "emu/sched/control.h"
#include "emu/sched/yield.h"
#include "emu/speculate/speculation.h"

#include <assert.h>

enum {
    TURN = 1 << 9,   /* instructions before waiting lanes become a context of their own (its.c) */
    RETRY = 1 << 10, /* bursts before warps that wait are tried again */
    BURST = 1 << 12, /* of an order that does not pick */
    MOST_BURST = 1 << 16,
    PATIENCE_YIELD = 1 << 8, /* bursts in which the same lanes wait on the stack (yield.h) */
    MOST_TRIES = 1 << 6,     /* of mbarrier.try_wait: then its time is up */
};

static bool try_waiting(struct ordered *o)
{
    struct queue *q = &o->queue[WAITING];
    if (!q->count || !o->moved) return false;
    o->moved = false;
    while (q->count) {
        struct emu_group *g = q->group[q->count - 1];
        dequeue(o, g);
        enqueue(o, READY, g);
    }
    return true;
}

/* The order says itself that it cannot go on. */
static bool is_wrong(struct ordered *o)
{
    struct launch_context *ctx = o->h->ctx;
    const char *why = o->order->failure ? o->order->failure(o->order->self) : NULL;
    if (!why) return false;
    ctx->fault = (struct emu_fault){.kind = EMU_BAD_ORDER};
    ctx->fault.text = arena_printf(ctx->arena, "%s: %s\n", emu_fault_name(EMU_BAD_ORDER), why);
    return o->over = true;
}

static void fail(struct ordered *o, enum emu_fault_kind kind)
{
    if (kind == EMU_DEADLOCK && is_wrong(o)) return;
    for (u32 s = 0; s < o->slot_count; s++) {
        const struct sm_slot *p = &o->sm_slots[s];
        if (!p->taken || (p->slot && !p->slot->cta.running)) continue;
        if (!p->slot) residency_begin(o, s);
        launch_stop(p->slot, kind);
        break;
    }
    o->over = true;
}

/* Whether lanes that waited on stacks can run now (yield.h). */
static bool yield_resident(struct ordered *o)
{
    bool any = false;
    for (u32 s = 0; s < o->slot_count; s++) {
        if (!o->sm_slots[s].slot) continue;
        struct emu_cta *const c = &o->sm_slots[s].slot->cta;
        if (!c->running || !yield_stuck(c)) continue;
        look_through(o, c);
        any = true;
    }
    o->moved |= any;
    o->livelock.changed |= any;
    return any;
}

/* No warp may run. Whether one may now. */
static bool find_work(struct ordered *o)
{
    if (try_waiting(o)) return true;
    const u32 placed = o->next; /* others may be ready, but the order wants none of them now */
    residency_place(o);
    if (o->next != placed) return true;
    if (o->order->idle && o->order->idle(o->order->self)) {
        o->moved = true;
        o->phases++;
        return true;
    }
    bool any = false; /* mbarrier.try_wait: its time runs out */
    for (u32 i = 0; i < o->queue[WAITING].count; i++) {
        struct emu_group *g = o->queue[WAITING].group[i];
        if (!g->time_is_up && emu_may_time_out(g->pc)) g->time_is_up = any = true;
    }
    o->moved |= any;
    return (any && try_waiting(o)) || yield_resident(o);
}

static struct emu_group *choose_group(struct ordered *o, u32 *burst)
{
    struct queue *q = &o->queue[READY];
    *burst = BURST;
    int i;
    if (o->order->pick) i = o->order->pick(o->order->self, q->warp, q->count, burst);
    else i = (int)(o->turn++ % q->count);
    if (i < 0) return NULL;
    assert((u32)i < q->count);
    *burst = *burst < 1 ? 1 : *burst > MOST_BURST ? MOST_BURST : *burst;
    if (!q->group[i]) residency_begin_queued(o, q->warp[i].slot);
    return q->group[i];
}

/* A warp that polls: the rest of its burst is known. false: it must be run. */
static bool elide(struct ordered *o, struct emu_group *g, u32 burst)
{
    const enum elided e = o->h->ctx->m->speculation->elide(o->h, g, burst);
    if (e == ELIDED_NOT) return false;
    o->moved = true;
    g->turn.tries = 0;
    if (e == ELIDED_READY) sort_in(o, g);
    else dequeue(o, g);
    return true;
}

static void run_group(struct ordered *o, struct emu_group *g, u32 burst)
{
    struct host_worker *h = o->h;
    struct emu_cta *c = g->cta;
    if (g->polling.known && elide(o, g, burst)) return;
    const struct emu_uop *const from = g->pc;
    deliver_count_for(h, o->sm_slots[c->slot].slot);
    g->turn.burst = burst;
    const u8 step = h->ctx->m->steps.step;
    if (c->its) { /* a turn goes on through bursts: at its end waiting lanes part */
        if (g->budget <= 0) g->budget = TURN;
    } else if (step == EMU_STEP_INSTRUCTION) g->budget = INT64_MAX / 2;
    else g->budget = step == EMU_STEP_BLOCK ? burst : INSTRUCTIONS_PER_EVENT * (i64)burst;
    frames_enter(h->frames, g);
    const bool did = launch_run_group(h, g);
    if (h->elides_busy_waits) h->ctx->m->speculation->stopped(g, from);
    o->moved |= did;
    if (c->stirred || g->state == GROUP_DONE) o->livelock.changed = true;
    g->turn.tries = did ? 0 : g->turn.tries + 1;
    if (g->turn.tries >= MOST_TRIES && emu_may_time_out(g->pc)) g->time_is_up = true;
    if (g->state == GROUP_FAULT) {
        o->over = true;
        return;
    }
    if (g->state == GROUP_READY) yield_is_due(g, false, PATIENCE_YIELD);
    if (g->state != GROUP_READY) dequeue(o, g);
    sort_in(o, g);
    if (c->stirred) look_through(o, c);
    if (!c->running) residency_cta_ended(o, c);
}

void ordered_run(struct host_worker *h)
{
    const struct emu_machine *m = h->ctx->m;
    struct ordered o = {.h = h, .order = m->launch->order, .slot_count = m->sms * m->slots_per_sm};
    o.lazy = !o.order->pick && !o.order->place && !o.order->place_any;
    o.drains_observed = emu_machine_drains_observed(m);
    speculation_attach(h);
    residency_init(&o);
    h->ctx->m->ordered = &o;
    if (o.order->begin) o.order->begin(o.order->self, h->ctx->m);
    residency_place(&o);
    for (u32 n = 0; !o.over && (o.live || o.next < m->cta_count / m->cluster_size); n++) {
        if (n % RETRY == 0) {
            if (launch_over_limit(h)) {
                fail(&o, EMU_LIMIT);
                break;
            }
            try_waiting(&o);
            if (!o.lazy) residency_place(&o);
        }
        if (o.lazy) residency_place_beside(&o);
        u32 burst;
        struct emu_group *g = o.queue[READY].count ? choose_group(&o, &burst) : NULL;
        if (g) run_group(&o, g, burst);
        else if (!find_work(&o)) fail(&o, EMU_DEADLOCK);
        if (!o.over && livelock_attempt(&o) && !yield_resident(&o)) fail(&o, EMU_DEADLOCK);
    }
    h->livelock = NULL;
    speculation_detach(h);
    if (!o.over && o.order->idle) o.order->idle(o.order->self);
    if (o.order->end) o.order->end(o.order->self);
    launch_over_limit(h);
    h->ctx->m->ordered = NULL;
    for (u32 s = 0; o.live && s < o.slot_count; s++)
        if (o.sm_slots[s].slot) slot_destroy(o.sm_slots[s].slot);
    for (struct slot *p = o.spare, *next; p; p = next) next = p->next, slot_destroy(p);
}
