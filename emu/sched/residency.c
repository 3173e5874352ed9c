/* CTAs in the slots of SMs, under an order.
 *
 * The order places a CTA into a free slot. Its warps are in the queue READY at once, but the CTA gets rows and shared
 * memory (struct slot) only when one of its warps is chosen for the first time. The memory of an ended CTA is reused
 * for the next one that begins: CTAs that run to their end one by one use the same memory, which is in the host's
 * caches. The CTAs of a cluster begin at once, because they access each other's shared memory. */
#define _GNU_SOURCE
#include "emu/sched/ordered.h"

#include <assert.h>

enum {
    PATIENCE =
        16 /* under an order that neither picks nor places: turns of each warp before another CTA is placed */
};

static struct emu_warp warp_in(const struct ordered *o, u32 slot, u32 warp)
{
    return (struct emu_warp){.cta = o->sm_slots[slot].linear,
                             .warp = warp,
                             .sm = slot % o->h->ctx->m->sms,
                             .slot = slot};
}

/* The CTA in the slot begins. */
struct slot *residency_begin(struct ordered *o, u32 slot)
{
    struct sm_slot *at = &o->sm_slots[slot];
    if ((at->slot = o->spare)) o->spare = at->slot->next;
    else at->slot = slot_new(o->h);
    struct emu_cta *c = &at->slot->cta;
    c->slot = slot;
    at->slot->trace = launch_trace_of(o->h, at->linear);
    slot_begin(o->h, at->slot, at->linear, slot % o->h->ctx->m->sms);
    return at->slot;
}

/* One that is in the queue. */
void residency_begin_queued(struct ordered *o, u32 slot)
{
    struct emu_cta *c = &residency_begin(o, slot)->cta;
    struct queue *q = &o->queue[READY];
    for (u32 w = 0; w < c->warps; w++) {
        struct emu_group *g = &c->groups[w];
        g->turn.queue = READY;
        g->turn.queue_at = o->queue_at[(size_t)slot * c->warps + w];
        q->group[g->turn.queue_at] = g;
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
    const bool ahead = o->vacant > o->vacant_space,
               after = o->vacant + o->vacant_count <= o->vacant_space + o->slot_count;
    u32 *const list = o->vacant;
    if (ahead && (at < behind || !after)) memmove(--o->vacant, list, at * sizeof *list);
    else memmove(list + at + 1, list + at, behind * sizeof *list);
    o->vacant[at] = slot;
}

static u32 take_vacant(struct ordered *o, u32 at, u32 linear)
{
    const u32 slot = o->vacant[at];
    remove_vacant(o, at);
    o->sm_slots[slot] = (struct sm_slot){.linear = linear, .taken = true};
    o->live++;
    return slot;
}

/* The lowest on the SM where the CTA would be were all slots taken in turn; else the lowest of all. */
static int default_place(const struct ordered *o, u32 linear)
{
    const u32 sms = o->h->ctx->m->sms;
    for (u32 slot = linear % sms; slot < o->slot_count; slot += sms)
        if (!o->sm_slots[slot].taken) return (int)vacant_at(o, slot);
    return 0;
}

/* The CTAs of a cluster begin at once: they see each other. */
static void begin_cluster(struct ordered *o, const u32 *slot)
{
    const struct emu_machine *m = o->h->ctx->m;
    struct slot *cta_arena[MOST_CLUSTER];
    for (u32 r = 0; r < m->cluster_size; r++) cta_arena[r] = residency_begin(o, slot[r]);
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
void residency_place(struct ordered *o)
{
    while (may_place(o) && !(o->lazy && o->queue[READY].count))
        if (!place_one(o)) return;
}

/* Who runs may wait for one that has not been placed. */
void residency_place_beside(struct ordered *o)
{
    if (o->turns++ <= PATIENCE * o->queue[READY].count) return;
    o->turns = 0;
    if (may_place(o)) place_one(o);
}

static void vacate(struct ordered *o, u32 slot)
{
    insert_vacant(o, slot);
    struct sm_slot *p = &o->sm_slots[slot];
    if (p->slot->port.now) cache_resolve(&p->slot->port);
    p->slot->next = o->spare;
    o->spare = p->slot;
    *p = (struct sm_slot){0};
}

void residency_cta_ended(struct ordered *o, struct emu_cta *c)
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
    residency_place(o);
}

/* For as many CTAs as there can be at once; in memory that the next launch finds again, like cta_arena. */
void residency_init(struct ordered *o)
{
    const struct emu_machine *m = o->h->ctx->m;
    const size_t slots = o->slot_count;
    const u32 ctas = m->cta_count < o->slot_count ? m->cta_count : o->slot_count;
    o->most_warps = ctas * m->warps_per_cta;
    o->h->frames = frames_new(m, o->h->ctx->arena, ctas);
    const struct cta_block sm_slots = cta_arena_take(m->cta_arena, slots * sizeof *o->sm_slots);
    cta_block_clear(&sm_slots, sm_slots.at, slots * sizeof *o->sm_slots);
    o->sm_slots = (struct sm_slot *)(void *)sm_slots.at;
    o->queue_at =
        (u32 *)(void *)cta_arena_take(m->cta_arena, slots * m->warps_per_cta * sizeof(u32)).at;
    o->vacant_space = (u32 *)(void *)cta_arena_take(m->cta_arena, slots * sizeof(u32)).at;
    o->vacant = o->vacant_space;
    for (u32 s = 0; s < o->slot_count; s++) o->vacant_space[s] = s;
    o->vacant_count = o->slot_count;
}
