/* A launch with an order: CTAs in the slots of SMs, one warp at a time, and every choice is the order's.
 *
 * A CTA that has been placed stands in its slot, and its warps in the queue, but it has no room (struct slot: rows,
 * shared memory) and does not begin until one of its warps is chosen. Rooms that are left are given to the next:
 * CTAs that come to their end one by one use the same memory, which the host's caches have.
 *
 * Warps that may go on are in one queue, which the order picks from. Those that wait for something other
 * than a barrier (an mbarrier, lanes of their own) are in another and tried again when the first is empty,
 * and now and then. Those at barriers, asleep or done are in none. */
#define _GNU_SOURCE
#include "emu/sched/launch_context.h"

#include "base/arena.h"
#include "base/diag.h"
#include "emu/atomic.h"
#include "emu/device/image.h"
#include "emu/order_fast.h"
#include "emu/sched/control.h"
#include "emu/sched/notify.h"
#include "emu/speculate/speculation.h"

#include <assert.h>
#include <string.h>

enum {
    TURN = 1 << 9,   /* instructions before waiting lanes become a context of their own (its.c) */
    RETRY = 1 << 10, /* bursts before warps that wait are tried again */
    BURST = 1 << 12, /* of an order that does not pick */
    PATIENCE =
        16, /* of an order that neither picks nor places: turns of each warp before a CTA is placed beside
                        those that run */
    MOST_BURST = 1 << 16,
    MOST_TRIES = 1 << 6, /* of mbarrier.try_wait: then its time is up */
    /* The proof that all go round is tried after so many bursts, and twice, 4, 8, ... times that: */
    FIRST_LOOK = 1 << 12,
    LOOK = 1 << 8,        /* bursts before those who have not gone round are looked for again */
    LEAST_LOOK = 1 << 12, /* bursts that it takes at least; */
    BUDGET = 1 << 8,      /* states that may be compared in vain at least, */
    SHARE = 32,           /* and one for so many bursts until then */
    FEW = 64,             /* ready warps: what they will look at stays in the host's caches */
    LINE = 64,            /* bytes that the host fetches at once */
    AHEAD = 12,           /* operations whose rows it may fetch in advance */
    LEAST_PHASES = 2,     /* with an order in phases: whole ones and the one that it began in */
};
enum { NOWHERE, READY, WAITING, QUEUES };

struct queue {
    struct emu_group **group; /* NULL: of a CTA that has not begun */
    struct emu_warp *warp;    /* READY: who they are */
    u32 count, cap;
};
struct seat {          /* a slot of an SM */
    struct slot *room; /* NULL: the CTA has not begun, or there is none */
    u32 linear;        /* the CTA */
    bool taken;
};
struct ordered {
    struct host_worker *h;
    const struct emu_order *order;
    struct seat *seats;   /* by slot; of a cluster they are taken until all of it has ended */
    struct slot *spare;   /* cta_arena */
    u32 *queue_at;        /* by slot and warp, of CTAs that have not begun */
    u32 *room_for_vacant; /* slot_count places, */
    u32 *vacant;          /* and among them the free slots, ascending */
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
    bool shown;              /* somebody is told of what the order lets go of */
    struct emu_bound held;   /* the block where it last did, */
    u64 releases;            /* good until one more is released */
};

static u32 *queue_at(struct ordered *o, const struct queue *q, u32 at)
{
    if (q->group[at]) return &q->group[at]->queue_at;
    return &o->queue_at[(size_t)q->warp[at].slot * o->h->ctx->m->warps_per_cta + q->warp[at].warp];
}

static void append(struct ordered *o, u8 which, struct emu_group *g, struct emu_warp who)
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

static void enqueue(struct ordered *o, u8 which, struct emu_group *g)
{
    g->queue = which;
    const bool waits = g->state == GROUP_WAIT;
    append(o, which, g,
           (struct emu_warp){g->cta->linear, g->first, g->cta->sm, g->cta->slot, emu_serial(g),
                             waits, waits ? g->pc->pc : 0});
}

static void dequeue(struct ordered *o, struct emu_group *g)
{
    struct queue *q = &o->queue[g->queue];
    if (g->queue == NOWHERE) return;
    const u32 at = g->queue_at, last = --q->count;
    q->group[at] = q->group[last];
    q->warp[at] = q->warp[last];
    *queue_at(o, q, at) = at;
    g->queue = NOWHERE;
}

/* Into the queue that its state asks for. One that waits may be in either: see try_waiting. */
static void sort_in(struct ordered *o, struct emu_group *g)
{
    u8 want = NOWHERE;
    if (!g->asleep && g->state == GROUP_READY) want = READY;
    if (!g->asleep && g->state == GROUP_WAIT) want = g->queue ? g->queue : WAITING;
    if (g->queue != want) {
        dequeue(o, g);
        if (want != NOWHERE) enqueue(o, want, g);
    } else if (want == READY) {
        o->queue[READY].warp[g->queue_at].serial = emu_serial(g);
        o->queue[READY].warp[g->queue_at].waits = false;
    }
}

static void look_through(struct ordered *o, struct emu_cta *c)
{
    c->stirred = false;
    for (u32 k = 0; k < c->group_count; k++) sort_in(o, &c->groups[c->group_at[k]]);
}

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

/* ---- CTAs ------------------------------------------------------------------------------------------- */

static struct emu_warp warp_in(const struct ordered *o, u32 slot, u32 warp)
{
    return (struct emu_warp){
        .cta = o->seats[slot].linear, .warp = warp, .sm = slot % o->h->ctx->m->sms, .slot = slot};
}

/* The CTA in the slot begins. */
static struct slot *begin_in(struct ordered *o, u32 slot)
{
    struct seat *at = &o->seats[slot];
    if ((at->room = o->spare)) o->spare = at->room->next;
    else at->room = slot_new(o->h);
    struct emu_cta *c = &at->room->cta;
    c->slot = slot;
    at->room->trace = launch_trace_of(o->h, at->linear);
    slot_begin(o->h, at->room, at->linear, slot % o->h->ctx->m->sms);
    return at->room;
}

/* One that is in the queue. */
static void begin_queued(struct ordered *o, u32 slot)
{
    struct emu_cta *c = &begin_in(o, slot)->cta;
    struct queue *q = &o->queue[READY];
    for (u32 w = 0; w < c->warps; w++) {
        struct emu_group *g = &c->groups[w];
        g->queue = READY;
        g->queue_at = o->queue_at[(size_t)slot * c->warps + w];
        q->group[g->queue_at] = g;
    }
}

/* Where a free slot stands in the list, or would. */
static u32 vacant_at(const struct ordered *o, u32 slot)
{
    u32 low = 0, high = o->vacant_count;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        if (o->vacant[middle] < slot) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* The shorter part of the list makes way: mostly low slots come and go. */
static void remove_vacant(struct ordered *o, u32 at)
{
    const u32 behind = --o->vacant_count - at;
    u32 *const list = o->vacant;
    if (at < behind) memmove(++o->vacant, list, at * sizeof *list);
    else memmove(list + at, list + at + 1, behind * sizeof *list);
}

static void insert_vacant(struct ordered *o, u32 slot)
{
    const u32 at = vacant_at(o, slot), behind = o->vacant_count++ - at;
    const bool ahead = o->vacant > o->room_for_vacant,
               after = o->vacant + o->vacant_count <= o->room_for_vacant + o->slot_count;
    u32 *const list = o->vacant;
    if (ahead && (at < behind || !after)) memmove(--o->vacant, list, at * sizeof *list);
    else memmove(list + at + 1, list + at, behind * sizeof *list);
    o->vacant[at] = slot;
}

static u32 take_vacant(struct ordered *o, u32 at, u32 linear)
{
    const u32 slot = o->vacant[at];
    remove_vacant(o, at);
    o->seats[slot] = (struct seat){.linear = linear, .taken = true};
    o->live++;
    return slot;
}

/* The lowest on the SM where the CTA would be were all slots taken in turn; else the lowest of all. */
static int default_place(const struct ordered *o, u32 linear)
{
    const u32 sms = o->h->ctx->m->sms;
    for (u32 slot = linear % sms; slot < o->slot_count; slot += sms)
        if (!o->seats[slot].taken) return (int)vacant_at(o, slot);
    return 0;
}

/* The CTAs of a cluster begin at once: they see each other. */
static void begin_cluster(struct ordered *o, const u32 *slot)
{
    const struct emu_machine *m = o->h->ctx->m;
    struct slot *cta_arena[MOST_CLUSTER];
    for (u32 r = 0; r < m->cluster_size; r++) cta_arena[r] = begin_in(o, slot[r]);
    slot_join_cluster(cta_arena, m);
    for (u32 r = 0; r < m->cluster_size; r++) {
        look_through(o, &cta_arena[r]->cta);
        launch_tell_cta(m, &cta_arena[r]->cta, EMU_SYNC_CTA_START);
    }
}

/* A CTA or a cluster into slots, if the order wants. */
static bool place_one(struct ordered *o)
{
    const struct emu_machine *m = o->h->ctx->m;
    const struct emu_order *order = o->order;
    u32 number = o->next;
    int at;
    if (order->place_any) at = order->place_any(order->self, o->vacant, o->vacant_count, &number);
    else if (order->place)
        at = order->place(order->self, slot_of_cluster(m, number, 0), o->vacant, o->vacant_count);
    else at = default_place(o, slot_of_cluster(m, number, 0));
    if (at < 0) return false;
    assert((u32)at < o->vacant_count && number < m->cta_count / m->cluster_size);
    u32 slot[MOST_CLUSTER];
    slot[0] = take_vacant(o, (u32)at, slot_of_cluster(m, number, 0));
    for (u32 r = 1; r < m->cluster_size; r++)
        slot[r] = take_vacant(o, 0, slot_of_cluster(m, number, r));
    o->next++;
    if (m->cluster_size > 1) {
        begin_cluster(o, slot);
        return true;
    }
    const struct emu_warp first = warp_in(o, slot[0], 0);
    for (u32 w = m->warps_per_cta; w-- > 0;) append(o, READY, NULL, warp_in(o, slot[0], w));
    emu_notify_cta(m, &first, EMU_SYNC_CTA_START); /* an order may put warps to rest */
    return true;
}

static bool may_place(const struct ordered *o)
{
    const struct emu_machine *m = o->h->ctx->m;
    return o->next < m->cta_count / m->cluster_size && o->vacant_count >= m->cluster_size;
}

/* As many as there are slots for. */
static void place_some(struct ordered *o)
{
    while (may_place(o) && !(o->lazy && o->queue[READY].count))
        if (!place_one(o)) return;
}

/* Who runs may wait for one that has not been placed. */
static void place_beside(struct ordered *o)
{
    if (o->turns++ <= PATIENCE * o->queue[READY].count) return;
    o->turns = 0;
    if (may_place(o)) place_one(o);
}

static void vacate(struct ordered *o, u32 slot)
{
    insert_vacant(o, slot);
    struct seat *p = &o->seats[slot];
    if (p->room->port.now) cache_settle(&p->room->port);
    p->room->next = o->spare;
    o->spare = p->room;
    *p = (struct seat){0};
}

static void ended(struct ordered *o, struct emu_cta *c)
{
    launch_tell_cta(o->h->ctx->m, c, EMU_SYNC_CTA_EXIT);
    if (o->h->ctas) o->h->ctas[c->sm]++;
    o->live--;
    for (u32 r = 0; r < c->cluster_size; r++)
        if (c->cluster[r]->running) return; /* its shared memory may be asked for */
    u32 slot[MOST_CLUSTER];
    const u32 size = c->cluster_size;
    for (u32 r = 0; r < size; r++) slot[r] = c->cluster[r]->slot;
    for (u32 r = 0; r < size; r++) vacate(o, slot[r]);
    place_some(o);
}

/* ---- running ---------------------------------------------------------------------------------------- */

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
        const struct seat *p = &o->seats[s];
        if (!p->taken || (p->room && !p->room->cta.running)) continue;
        if (!p->room) begin_in(o, s);
        launch_stop(p->room, kind);
        break;
    }
    o->over = true;
}

/* No warp may run. Whether one may now. */
static bool find_work(struct ordered *o)
{
    if (try_waiting(o)) return true;
    const u32 placed = o->next; /* others may be ready, but the order wants none of them now */
    place_some(o);
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
    return any && try_waiting(o);
}

static struct emu_group *choose(struct ordered *o, u32 *burst)
{
    struct queue *q = &o->queue[READY];
    *burst = BURST;
    int i;
    if (o->order->pick) i = o->order->pick(o->order->self, q->warp, q->count, burst);
    else i = (int)(o->turn++ % q->count);
    if (i < 0) return NULL;
    assert((u32)i < q->count);
    *burst = *burst < 1 ? 1 : *burst > MOST_BURST ? MOST_BURST : *burst;
    if (!q->group[i]) begin_queued(o, q->warp[i].slot);
    return q->group[i];
}

/* A warp that polls: the rest of its burst is known. false: it must be run. */
static bool elide(struct ordered *o, struct emu_group *g, u32 burst)
{
    const enum elided e = o->h->ctx->m->speculation->elide(o->h, g, burst);
    if (e == ELIDED_NOT) return false;
    o->moved = true;
    g->tries = 0;
    if (e == ELIDED_READY) sort_in(o, g);
    else dequeue(o, g);
    return true;
}

static void run(struct ordered *o, struct emu_group *g, u32 burst)
{
    struct host_worker *h = o->h;
    struct emu_cta *c = g->cta;
    if (g->busy_wait_known && elide(o, g, burst)) return;
    const struct emu_uop *const from = g->pc;
    deliver_count_for(h, o->seats[c->slot].room);
    g->burst = burst;
    const u8 step = h->ctx->m->step;
    if (h->ctx->m->its) { /* a turn goes on through bursts: at its end waiting lanes part */
        if (g->budget <= 0) g->budget = TURN;
    } else if (step == EMU_STEP_INSTRUCTION) g->budget = INT64_MAX / 2;
    else g->budget = step == EMU_STEP_BLOCK ? burst : INSTRUCTIONS_PER_EVENT * (i64)burst;
    frames_enter(h->frames, g);
    const bool did = launch_run_group(h, g);
    if (h->elides_busy_waits) h->ctx->m->speculation->stopped(g, from);
    o->moved |= did;
    if (c->stirred || g->state == GROUP_DONE) o->livelock.changed = true;
    g->tries = did ? 0 : g->tries + 1;
    if (g->tries >= MOST_TRIES && emu_may_time_out(g->pc)) g->time_is_up = true;
    if (g->state == GROUP_FAULT) {
        o->over = true;
        return;
    }
    if (g->state != GROUP_READY) dequeue(o, g);
    sort_in(o, g);
    if (c->stirred) look_through(o, c);
    if (!c->running) ended(o, c);
}

/* For as many CTAs as there can be at once; in memory that the next launch finds again, like cta_arena. */
static void make_lists(struct ordered *o)
{
    const struct emu_machine *m = o->h->ctx->m;
    const size_t slots = o->slot_count;
    const u32 ctas = m->cta_count < o->slot_count ? m->cta_count : o->slot_count;
    o->most_warps = ctas * m->warps_per_cta;
    o->h->frames = frames_new(m, o->h->ctx->arena, ctas);
    const struct cta_block seats = cta_arena_take(m->cta_arena, slots * sizeof *o->seats);
    cta_block_clear(&seats, seats.at, slots * sizeof *o->seats);
    o->seats = (struct seat *)(void *)seats.at;
    o->queue_at =
        (u32 *)(void *)cta_arena_take(m->cta_arena, slots * m->warps_per_cta * sizeof(u32)).at;
    o->room_for_vacant = (u32 *)(void *)cta_arena_take(m->cta_arena, slots * sizeof(u32)).at;
    o->vacant = o->room_for_vacant;
    for (u32 s = 0; s < o->slot_count; s++) o->room_for_vacant[s] = s;
    o->vacant_count = o->slot_count;
}

/* ---- going round for ever --------------------------------------------------------------------------- */

static void begin_look(struct ordered *o, bool settled)
{
    const u64 some = o->bursts / SHARE;
    livelock_begin(&o->livelock, some < BUDGET       ? BUDGET
                                 : some < UINT32_MAX ? (u32)some
                                                     : UINT32_MAX);
    o->began_at = o->looked_at = o->bursts;
    o->phases = 0;
    o->settled = settled;
    o->h->livelock = &o->livelock;
}

static void end_look(struct ordered *o)
{
    o->h->livelock = NULL;
    o->look_at = 2 * o->bursts;
}

static bool all_go_round(const struct ordered *o)
{
    if (o->order->in_phases && o->phases < LEAST_PHASES) return false;
    for (u32 s = 0; s < o->slot_count; s++) {
        if (!o->seats[s].taken) continue;
        if (!o->seats[s].room) return false;
        const struct emu_cta *c = &o->seats[s].room->cta;
        for (u32 k = 0; k < c->group_count; k++)
            if (!livelock_done(&o->livelock, &c->groups[c->group_at[k]], !o->order->in_phases))
                return false;
    }
    return !(o->phases && o->order->will_wake && o->order->will_wake(o->order->self));
}

/* What the order holds may change something, and so may CTAs that it lets in. */
static bool settle(struct ordered *o)
{
    const u32 placed = o->next;
    o->order->quiesce(o->order->self);
    place_some(o);
    return !o->livelock.changed && o->next == placed;
}

/* While warps are looked at. Whether they all go round for ever. */
static bool look(struct ordered *o)
{
    if (o->livelock.changed || !o->livelock.budget || o->bursts > o->look_until) {
        end_look(o);
        return false;
    }
    if (o->bursts < o->looked_at + LOOK) return false;
    o->looked_at = o->bursts;
    if (o->bursts < o->began_at + LEAST_LOOK || !all_go_round(o)) return false;
    if (!settle(o)) {
        end_look(o);
        return false;
    }
    const bool proved = o->settled;
    begin_look(o, true);
    return proved;
}

static bool is_proved(struct ordered *o)
{
    o->bursts++;
    if (o->h->livelock) return look(o);
    if (o->bursts >= o->look_at && o->order->quiesce) {
        o->look_until = o->bursts + o->bursts / 2 + 4 * LEAST_LOOK;
        begin_look(o, false);
    }
    return false;
}

void ordered_run(struct host_worker *h)
{
    const struct emu_machine *m = h->ctx->m;
    struct ordered o = {.h = h, .order = m->launch->order, .slot_count = m->sms * m->slots_per_sm};
    o.look_at = FIRST_LOOK;
    o.lazy = !o.order->pick && !o.order->place && !o.order->place_any;
    o.shown = emu_machine_drains_observed(m);
    speculation_attach(h);
    make_lists(&o);
    h->ctx->m->ordered = &o;
    if (o.order->begin) o.order->begin(o.order->self, h->ctx->m);
    place_some(&o);
    for (u32 n = 0; !o.over && (o.live || o.next < m->cta_count / m->cluster_size); n++) {
        if (n % RETRY == 0) {
            if (launch_over_limit(h)) {
                fail(&o, EMU_LIMIT);
                break;
            }
            try_waiting(&o);
            if (!o.lazy) place_some(&o);
        }
        if (o.lazy) place_beside(&o);
        u32 burst;
        struct emu_group *g = o.queue[READY].count ? choose(&o, &burst) : NULL;
        if (g) run(&o, g, burst);
        else if (!find_work(&o)) fail(&o, EMU_DEADLOCK);
        if (!o.over && is_proved(&o)) fail(&o, EMU_DEADLOCK);
    }
    h->livelock = NULL;
    speculation_detach(h);
    if (!o.over && o.order->idle) o.order->idle(o.order->self);
    if (o.order->end) o.order->end(o.order->self);
    launch_over_limit(h);
    h->ctx->m->ordered = NULL;
    for (u32 s = 0; o.live && s < o.slot_count; s++)
        if (o.seats[s].room) slot_free(o.seats[s].room, m);
    for (struct slot *p = o.spare, *next; p; p = next) next = p->next, slot_free(p, m);
}

/* ---- for orders ------------------------------------------------------------------------------------- */

/* Somebody looks whether memory changes. */
static struct livelock_proof *livelock_proof_of(const struct emu_machine *m)
{
    return m->ordered ? m->ordered->h->livelock : NULL;
}

static u8 *held(struct emu_machine *m, u64 address, u64 size)
{
    if (m->replay) return m->speculation->host_bytes(m, address, size);
    if (!m->ordered) { /* a native launch that is watched */
        const struct mem_block *b = mem_find(m->mem, address, size);
        return b ? b->host + (address - b->address) : NULL;
    }
    struct emu_bound *last = &m->ordered->held;
    const u64 releases = mem_releases(m->mem);
    if (m->ordered->releases != releases || address < last->low || address > last->high ||
        last->high - address < size) {
        const struct mem_block *b = mem_find(m->mem, address, size);
        if (!b) return NULL;
        *last = (struct emu_bound){b->address, b->address + b->size, b->host};
        m->ordered->releases = releases;
    }
    return last->host + (address - last->low);
}

static void tell_shown(const struct emu_machine *m, const struct emu_drained *s)
{
    const struct emu_launch *l = m->launch;
    if (l->order->wrapper) l->order->wrapper->drained(l->order->self, s);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->drained) l->observers[i]->drained(l->observers[i]->self, s);
}

void emu_machine_store(struct emu_machine *m, struct emu_issuer by, uint64_t address,
                       const void *data, uint32_t size)
{
    u8 *p = held(m, address, size);
    if (!p) return;
    struct ordered *o = m->ordered;
    if (o->shown)
        tell_shown(m,
                   &(struct emu_drained){
                       .by = by, .address = address, .size = size, .data = data, .now = m->asked});
    if (o->h->livelock && memcmp(p, data, size) != 0) o->livelock.changed = true;
    memcpy(p, data, size);
}

bool emu_machine_load(struct emu_machine *m, uint64_t address, void *data, uint64_t size)
{
    const u8 *p = held(m, address, size);
    if (p) memcpy(data, p, size);
    else memset(data, 0, size);
    return p != NULL;
}

void emu_machine_fetch(struct emu_machine *m, const struct emu_access *a)
{
    const u32 size = (u32)a->width * a->count;
    const u8 *const base = mem_is_plain(m->mem) ? mem_base(m->mem) : NULL;
    if (a->stride == size && a->contiguous) {
        memcpy(a->result, mem_bytes(m->mem, a->address[0]), (size_t)LANES * size);
        return;
    }
    for (u32 left = a->lanes; left; left &= left - 1) {
        const u32 l = (u32)__builtin_ctz(left);
        u8 *to = a->result + a->stride * l;
        const u8 *from = base ? base + (a->address[l] - MEM_GLOBAL)
                              : mem_bytes(m->mem, a->address[l]);
        if (size == 4) memcpy(to, from, 4);
        else memcpy(to, from, size);
    }
}

void emu_machine_lane_pointers(struct emu_machine *m, const struct emu_access *a,
                               uint8_t *at[LANES])
{
    u8 *const base = mem_is_plain(m->mem) ? mem_base(m->mem) : NULL;
    u32 n = 0;
    for (u32 left = a->contiguous ? 1 : a->lanes; left; left &= left - 1) {
        const u64 address = a->address[__builtin_ctz(left)];
        at[n++] = base ? base + (address - MEM_GLOBAL) : mem_bytes(m->mem, address);
    }
}

bool emu_machine_allocation(struct emu_machine *m, uint64_t address, uint64_t size,
                            struct emu_host_range *out)
{
    const struct mem_block *b = mem_find(m->mem, address, size);
    if (b) *out = (struct emu_host_range){b->address, b->size, b->host};
    return b;
}

bool emu_machine_is_deferred(const struct emu_machine *m)
{
    return m->replay;
}

void emu_machine_reduce(struct emu_machine *m, struct emu_issuer by, uint64_t address, uint8_t op,
                        uint8_t type, const void *operand, void *old)
{
    const u8 *b = operand;
    const bool cas = op == ATOMIC_CAS;
    const u32 size = ptx_types[type].bits / 8u;
    u8 *p = held(m, address, size);
    if (!p) return;
    if (m->ordered && m->ordered->shown)
        tell_shown(m, &(struct emu_drained){.by = by,
                                            .address = address,
                                            .size = size,
                                            .reduces = true,
                                            .op = op,
                                            .type = type,
                                            .data = operand,
                                            .now = m->asked});
    struct livelock_proof *const looked_at = livelock_proof_of(m);
    u8 was[16];
    if (looked_at) memcpy(was, p, size);
    atomic_apply(op, type, p, cas ? b + 32 : b, cas ? b : NULL, old);
    if (looked_at && memcmp(was, p, size) != 0) looked_at->changed = true;
}

/* Some that are of one kind. */
struct alike {
    u8 op, type;
    u32 count;
    void *memory[LANES];
    const void *operand[LANES];
};

static void carry_out(struct alike *k)
{
    if (k->count) atomic_function_each(k->op, k->type)(k->memory, k->operand, k->count);
    k->count = 0;
}

static void add(struct emu_machine *m, struct alike *k, u64 address, const void *operand, u32 size)
{
    u8 *const p = held(m, address, size);
    if (!p) return;
    if (k->count == LANES) carry_out(k);
    __builtin_prefetch(p, 1);
    k->memory[k->count] = p;
    k->operand[k->count++] = operand;
}

void emu_machine_reduce_all(struct emu_machine *m, const struct emu_reduction *list, size_t count)
{
    struct alike some = {0};
    assert(!m->ordered || !m->ordered->shown);
    for (size_t i = 0; i < count; i++) {
        const struct emu_reduction *r = &list[i];
        const u32 size = ptx_types[r->type].bits / 8u;
        if (livelock_proof_of(m)) {
            emu_machine_reduce(m, (struct emu_issuer){0}, r->address, r->op, r->type, r->operand,
                               NULL);
            continue;
        }
        if (some.op != r->op || some.type != r->type || r->op == ATOMIC_CAS) carry_out(&some);
        some.op = r->op;
        some.type = r->type;
        if (r->op != ATOMIC_CAS) {
            add(m, &some, r->address, r->operand, size);
            continue;
        }
        const u8 *const b = r->operand;
        u8 *const p = held(m, r->address, size);
        if (p) atomic_function(r->op, r->type)(p, b + 32, b, NULL);
    }
    carry_out(&some);
}

void emu_machine_reduce_each(struct emu_machine *m, uint8_t op, uint8_t type,
                             const uint64_t *address, const void *operand, size_t stride,
                             size_t count)
{
    const u32 size = ptx_types[type].bits / 8u;
    struct alike some = {.op = op, .type = type};
    assert(!m->ordered || !m->ordered->shown);
    for (size_t i = 0; i < count; i++) {
        const u64 *const a = (const u64 *)(const void *)((const u8 *)address + stride * i);
        const u8 *const b = (const u8 *)operand + stride * i;
        if (livelock_proof_of(m))
            emu_machine_reduce(m, (struct emu_issuer){0}, *a, op, type, b, NULL);
        else add(m, &some, *a, b, size);
    }
    carry_out(&some);
}

void emu_machine_reduce_lanes(struct emu_machine *m, struct emu_issuer by, const uint64_t *address,
                              uint32_t lanes, uint8_t op, uint8_t type, const uint8_t *operands,
                              uint8_t *old, uint32_t stride)
{
    const bool cas = op == ATOMIC_CAS, watched = m->ordered->shown || m->ordered->h->livelock;
    const u32 size = ptx_types[type].bits / 8u;
    atomic_fn *const apply = atomic_function(op, type);
    for (u32 i = 0; lanes; i++, lanes &= lanes - 1) {
        const u8 *b = operands + (size_t)stride * i;
        u8 *const was = old + (size_t)stride * i;
        if (watched) {
            by.lane = (uint8_t)(1 + __builtin_ctz(lanes));
            emu_machine_reduce(m, by, address[i], op, type, b, was);
            continue;
        }
        u8 *p = held(m, address[i], size);
        if (p) apply(p, cas ? b + 32 : b, cas ? b : NULL, was);
    }
}

/* NULL: it has not begun, or is gone. */
static struct emu_cta *cta_of(const struct emu_machine *m, const struct emu_warp *who)
{
    const struct ordered *o = m->ordered;
    struct slot *p = o && who->slot < o->slot_count ? o->seats[who->slot].room : NULL;
    return p && p->cta.linear == who->cta ? &p->cta : NULL;
}

/* The contexts of a warp, one after the other: *at is 0 at first. NULL: no more. */
static struct emu_group *next_context(const struct emu_cta *c, u32 warp, u32 *at)
{
    if (c->context_count == c->warps) return (*at)++ ? NULL : &c->groups[warp];
    while (*at < c->group_count) {
        struct emu_group *g = &c->groups[c->group_at[(*at)++]];
        if (g->first == warp) return g;
    }
    return NULL;
}

static void fetch(const u8 *row, u32 bytes)
{
    for (u32 i = 0; i < bytes * LANES; i += LINE) __builtin_prefetch(row + i);
}

/* The rows of a warp that stands before an access that it was told to wait with: mostly others have had the host's
 * caches since. */
static bool fetch_operands(const struct emu_group *g, const struct emu_uop *in)
{
    const bool atomic = in->id == UOP_atom_watched;
    if (!atomic && in->id != UOP_ld_watched && in->id != UOP_st_watched) return false;
    if (in->x == 8) fetch(g->r64 + in->a, 8);
    else if (in->x == 4) fetch(g->r32 + in->a, 4);
    if (!atomic) return true;
    const u8 width = ((const struct atomic_desc *)in->ext)->width;
    if (width != 4) return true;
    fetch(g->r32 + in->b, 4);
    fetch(g->r32 + in->c, 4);
    return true;
}

/* The rows that the warp has put aside. false: they are where they belong. */
static bool fetch_aside(const struct emu_group *g)
{
    const struct frames *const f = host_worker_of(g)->frames;
    if (!f || f->owner[g->frame] == g) return false;
    const u32 rows = (u32)__builtin_popcountll(g->aside_rows);
    for (u32 i = 0; i < rows * LANES * 4; i += LINE) __builtin_prefetch(g->aside + i);
    return true;
}

static void fetch_rows(const struct emu_group *g)
{
    if (g->busy_wait_known) g->worker->machine->speculation->prefetch(g);
    else if (!fetch_aside(g)) fetch_operands(g, g->pc);
}

/* The rows of what stands behind that access, up to the next one. */
static void fetch_ahead(const struct emu_group *g)
{
    const struct emu_uop *const end = g->code->uops + g->code->uop_count;
    if (host_worker_of(g)->frames || g->busy_wait_known) return;
    for (const struct emu_uop *in = g->pc + 1; in < end && in <= g->pc + AHEAD; in++) {
        const u8 *const sizes = emu_row_sizes[in->id];
        const u32 row[4] = {in->d, in->a, in->b, in->c};
        if (fetch_operands(g, in)) return;
        for (u32 i = 0; i < 4 && sizes[i]; i++)
            fetch((sizes[i] == 8 ? g->r64 : sizes[i] == 4 ? g->r32 : g->r16) + row[i], sizes[i]);
    }
}

static void fetch_group(const struct emu_group *g)
{
    __builtin_prefetch(&g->r64);
    __builtin_prefetch(&g->pc);
    __builtin_prefetch(&g->asleep, 1);
}

void emu_machine_prefetch(const struct emu_machine *m, const struct emu_warp *who, bool next)
{
    const struct emu_cta *c = cta_of(m, who);
    if (!c || c->context_count != c->warps) return;
    const struct emu_group *g = &c->groups[who->warp];
    if (next) {
        fetch_rows(g);
        fetch_ahead(g);
        return;
    }
    fetch_group(g);
}

void emu_machine_prefetch_ready(const struct emu_machine *m, size_t i, bool next)
{
    const struct emu_group *g = m->ordered->queue[READY].group[i];
    if (!g) return;
    if (next) fetch_rows(g);
    else fetch_group(g);
}

static __attribute__((noinline)) void carry_out_looked_at(struct livelock_proof *r,
                                                          struct emu_group *g)
{
    const struct emu_uop *in = g->pc;
    const struct atomic_desc *v = in->ext;
    struct deadlock_bytes bytes;
    const bool kept = !r->changed && deadlock_remember(g, in, &bytes);
    g->pc = v->plain(g, in);
    if (!kept || !deadlock_as_it_was(&bytes)) r->changed = true;
}

void emu_machine_complete_atomic(struct emu_machine *m, const struct emu_warp *who)
{
    const struct emu_cta *c = cta_of(m, who);
    struct emu_group *g = &c->groups[who->warp];
    frames_enter(m->ordered->h->frames, g);
    assert(g->asleep && g->pc->id == UOP_atom_watched && c->context_count == c->warps);
    assert(!m->launch->observer_count && !m->ordered->shown && !g->worker->sites);
    if (m->ordered->h->livelock) {
        carry_out_looked_at(m->ordered->h->livelock, g);
        return;
    }
    const struct atomic_desc *v = g->pc->ext;
    g->pc = v->plain(g, g->pc);
}

void emu_machine_wake(struct emu_machine *m, const struct emu_warp *who)
{
    const struct emu_order *order = m->launch->order;
    if (m->replay) {
        m->speculation->wake(m, who);
        return;
    }
    if (order->wrapper) order->wrapper->woken(order->self, who);
    const struct emu_cta *c = cta_of(m, who);
    u32 at = 0;
    for (struct emu_group *g; c && (g = next_context(c, who->warp, &at));) {
        if (!g->asleep) continue;
        g->asleep = false;
        if (g->state == GROUP_WAIT) g->state = GROUP_READY;
        sort_in(m->ordered, g);
        if (m->ordered->queue[READY].count < FEW) fetch_rows(g);
    }
}

void emu_machine_sleep(struct emu_machine *m, const struct emu_warp *who)
{
    const struct seat *seat = &m->ordered->seats[who->slot];
    if (seat->taken && !seat->room && seat->linear == who->cta) begin_queued(m->ordered, who->slot);
    const struct emu_cta *c = cta_of(m, who);
    u32 at = 0;
    for (struct emu_group *g; c && (g = next_context(c, who->warp, &at));) {
        g->asleep = true;
        sort_in(m->ordered, g);
    }
}

const struct emu_warp *emu_machine_ready(const struct emu_machine *m, size_t *count)
{
    if (m->replay) {
        *count = m->speculation->ready_count(m);
        return NULL;
    }
    *count = m->ordered->queue[READY].count;
    return m->ordered->queue[READY].warp;
}

void emu_machine_place_ctas(struct emu_machine *m)
{
    place_some(m->ordered);
}

bool emu_machine_time_out(struct emu_machine *m, const struct emu_warp *who)
{
    const struct emu_cta *c = cta_of(m, who);
    bool any = false;
    u32 at = 0;
    for (struct emu_group *g; c && (g = next_context(c, who->warp, &at));) {
        if (g->state == GROUP_DONE || !emu_may_time_out(g->pc)) continue;
        g->time_is_up = any = true;
    }
    return any;
}

struct emu_shape emu_machine_shape(const struct emu_machine *m)
{
    return (struct emu_shape){.sms = m->sms,
                              .slots = m->sms * m->slots_per_sm,
                              .schedulers = m->schedulers,
                              .ctas = m->cta_count,
                              .warps_per_cta = m->warps_per_cta,
                              .cluster = m->cluster_size,
                              .shared_commutes = m->program->shared_commutes,
                              .warps_interact = m->shared_size || m->cluster_size > 1 ||
                                                m->program->uses_barriers};
}

bool emu_machine_is_counted(const struct emu_machine *m)
{
    return m->context->config->count;
}

bool emu_machine_drains_observed(const struct emu_machine *m)
{
    const struct emu_launch *l = m->launch;
    bool any = l->order->wrapper != NULL;
    for (size_t i = 0; i < l->observer_count; i++) any |= l->observers[i]->drained != NULL;
    return any;
}

struct emu_location emu_machine_location(const struct emu_machine *m, uint32_t pc)
{
    const struct emu_place_of *p = &m->program->places[pc];
    const struct ptx_module *module = m->image->program->modules[p->code->module];
    return (struct emu_location){p->code->name, p->source_file,
                                 source_place(module->source, p->at).line, p->source_line};
}
