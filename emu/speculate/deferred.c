/* The log of deferred reductions, and its replay under the order (deferred.h). */
#define _GNU_SOURCE
#include "emu/speculate/deferred.h"

#include "emu/memory.h"
#include "emu/order_fast.h"
#include "emu/sched/launch_context.h"
#include "emu/speculate/speculation.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16, MUCH = 1 << 18, NOBODY = -1 };
static const u64 most_bytes = UINT64_C(256) << 20;

struct list { /* of a warp's events */
    struct deferred_event *first, *last;
};
struct deferred_block {
    struct deferred_block *next;
    u32 added; /* events: by the host thread that fills it */
    u32 done;  /* those that the order has been given: by the replay */
};
struct log_writer { /* a host thread's */
    struct deferred_block *now;
    u8 *at, *end;        /* free space in `now` */
    atomic_size_t fresh; /* bytes of what came since the order was last given some */
    u8 padding[64];
};
struct deferred_log {
    const struct emu_machine *m;
    const struct emu_config *config;
    struct deferred_replay *replay; /* NULL: the order has heard of nothing */
    struct list *warps;             /* of all the grid, each by the host thread that runs it */
    struct log_writer *writers;
    u32 writer_count;
    pthread_mutex_t lock;               /* of what follows */
    struct deferred_block *full, *free; /* full: no more is added to them */
    u64 bytes;                          /* of all blocks */
};

static u8 *take(const struct emu_machine *m, u64 size, bool cleared)
{
    const struct cta_block r = cta_arena_take(m->cta_arena, size);
    if (cleared) cta_block_clear(&r, r.at, size);
    return r.at;
}

struct deferred_log *deferred_log_new(const struct emu_machine *m, const struct emu_config *config)
{
    struct deferred_log *r = (struct deferred_log *)(void *)take(m, sizeof *r, true);
    const u64 size = (u64)m->cta_count * m->warps_per_cta * sizeof *r->warps;
    if (size > most_bytes) return NULL;
    r->m = m;
    r->config = config;
    r->bytes = size;
    pthread_mutex_init(&r->lock, NULL);
    r->warps = (struct list *)(void *)take(m, size, true);
    return r;
}

void deferred_log_thread(struct deferred_log *r)
{
    r->writers = realloc(r->writers, (r->writer_count + 1) * sizeof *r->writers);
    if (!r->writers) abort();
    struct log_writer *const w = &r->writers[r->writer_count++];
    memset(w, 0, sizeof *w);
    atomic_init(&w->fresh, 0);
}

static bool next_block(struct deferred_log *r, struct log_writer *w)
{
    pthread_mutex_lock(&r->lock);
    struct deferred_block *b = r->free;
    if (w->now) {
        w->now->next = r->full;
        r->full = w->now;
        w->now = NULL;
    }
    if (b) r->free = b->next;
    else if ((r->bytes += BLOCK) <= most_bytes)
        b = (struct deferred_block *)(void *)take(r->m, BLOCK, false);
    pthread_mutex_unlock(&r->lock);
    w->at = w->end = NULL;
    if (!b) return false;
    *b = (struct deferred_block){0};
    w->now = b;
    w->at = (u8 *)(b + 1);
    w->end = (u8 *)b + BLOCK;
    return true;
}

/* Blocks whose events have all been replayed may be filled anew. */
static void reuse_blocks(struct deferred_log *r)
{
    pthread_mutex_lock(&r->lock);
    for (struct deferred_block **at = &r->full, *b; (b = *at);) {
        if (b->done < b->added) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        b->next = r->free;
        r->free = b;
    }
    pthread_mutex_unlock(&r->lock);
}

struct deferred_event *deferred_log_add(struct deferred_log *r, u32 thread, const struct emu_cta *c,
                                        u32 warp, u32 lanes, u32 width)
{
    const u64 size = (sizeof(struct deferred_event) + lanes * (sizeof(u64) + width) + sizeof(u64) -
                      1) /
                     sizeof(u64) * sizeof(u64);
    struct log_writer *const to = &r->writers[thread];
    if ((u64)(to->end - to->at) < size && !next_block(r, to)) return NULL;
    struct deferred_event *e = (struct deferred_event *)(void *)to->at;
    struct list *w = &r->warps[(size_t)c->linear * r->m->warps_per_cta + warp];
    to->at += size;
    atomic_store_explicit(&to->fresh, atomic_load_explicit(&to->fresh, memory_order_relaxed) + size,
                          memory_order_relaxed);
    to->now->added++;
    if (w->last) w->last->next = e;
    else w->first = e;
    w->last = e;
    *e = (struct deferred_event){.of = to->now, .count = (u8)lanes, .width = (u8)width};
    return e;
}

bool deferred_log_is_large(const struct deferred_log *r)
{
    size_t fresh = 0;
    for (u32 t = 0; t < r->writer_count; t++)
        fresh += atomic_load_explicit(&r->writers[t].fresh, memory_order_relaxed);
    return fresh > MUCH;
}

/* ---- the replay --------------------------------------------------------------------------------- */

struct part { /* a warp in its slot */
    struct deferred_event *next;
    u32 slot, warp, sm, scheduler;
    i32 behind; /* the next one of its scheduler that is ready */
    u32 serial; /* so many have been done */
    u8 barrier;
    bool asleep, waits; /* waits: at a barrier */
};
struct cta_slot { /* a slot */
    u32 linear;
    u32 living, waiting; /* warps; those at the barrier */
    bool taken;
    bool begun; /* its warps have their lists */
};
struct ready { /* warps of a scheduler, the first to come first */
    i32 first, last;
    bool listed;
};
struct deferred_replay {
    struct emu_machine m;
    struct launch_context ctx;
    struct deferred_log *log;
    const struct emu_order *order;
    u32 slots, per_cta, next, live;
    u32 known;          /* the first so many CTAs have all of their lists */
    struct part *parts; /* by slot and warp */
    struct cta_slot *places;
    u32 *vacant, vacant_count; /* free slots, ascending */
    struct ready *ready;       /* by scheduler */
    u32 *some, some_count;     /* schedulers that may have somebody */
    u32 ready_count;
    struct emu_bound bound; /* where the order last reduced */
};

static struct emu_warp who_is(const struct deferred_replay *p, const struct part *w)
{
    return (struct emu_warp){.cta = p->places[w->slot].linear,
                             .warp = w->warp,
                             .sm = w->sm,
                             .slot = w->slot,
                             .serial = w->serial};
}

/* Those of a scheduler fill the host's caches with the same: they go on one after another. */
static void make_ready(struct deferred_replay *p, u32 part)
{
    const u32 s = p->parts[part].scheduler;
    struct ready *q = &p->ready[s];
    p->parts[part].behind = NOBODY;
    if (q->first == NOBODY) q->first = (i32)part;
    else p->parts[q->last].behind = (i32)part;
    q->last = (i32)part;
    p->ready_count++;
    if (!q->listed) p->some[p->some_count++] = s;
    q->listed = true;
}

static void wake(struct emu_machine *m, const struct emu_warp *who)
{
    struct deferred_replay *const p = m->replay;
    const u32 at = who->slot * p->per_cta + who->warp;
    struct part *w = &p->parts[at];
    if (!w->asleep || p->places[who->slot].linear != who->cta) return;
    w->asleep = false;
    make_ready(p, at);
}

static u32 ready_count(const struct emu_machine *m)
{
    return m->replay->ready_count;
}

static u8 *host_bytes(struct emu_machine *m, u64 address, u64 size)
{
    struct deferred_replay *const p = m->replay;
    struct emu_bound *const last = &p->bound;
    if (address < last->low || address > last->high || last->high - address < size) {
        const struct mem_block *b = mem_find(p->m.mem, address, size);
        if (!b) return NULL;
        *last = (struct emu_bound){b->address, b->address + b->size, b->host};
    }
    return last->host + (address - last->low);
}

static enum emu_verdict notify(const struct deferred_replay *p, const struct emu_sync *s)
{
    return p->order->sync ? p->order->sync(p->order->self, s) : EMU_PROCEED;
}
static void tell_of(const struct deferred_replay *p, u32 slot, u32 warp, u8 kind, u32 id)
{
    const struct emu_warp who = who_is(p, &p->parts[(size_t)slot * p->per_cta + warp]);
    notify(p, &(struct emu_sync){.kind = kind, .who = &who, .id = id});
}

static void begin_parts(struct deferred_replay *p, u32 slot)
{
    const u32 sm = slot % p->m.sms, on_sm = slot / p->m.sms * p->per_cta;
    struct part *const list = &p->parts[(size_t)slot * p->per_cta];
    for (u32 w = 0; w < p->per_cta; w++)
        list[w] = (struct part){.slot = slot,
                                .warp = w,
                                .sm = sm,
                                .scheduler = sm * p->m.schedulers + (on_sm + w) % p->m.schedulers};
}

/* A CTA into a slot, if the order wants. */
static bool place_one(struct deferred_replay *p)
{
    const struct emu_order *o = p->order;
    u32 linear = p->next;
    if (linear == p->m.cta_count || !p->vacant_count) return false;
    const int at = o->place_any ? o->place_any(o->self, p->vacant, p->vacant_count, &linear)
                                : o->place(o->self, linear, p->vacant, p->vacant_count);
    if (at < 0) return false;
    const u32 slot = p->vacant[at];
    memmove(p->vacant + at, p->vacant + at + 1, (--p->vacant_count - (u32)at) * sizeof *p->vacant);
    p->next++;
    p->live++;
    p->places[slot] = (struct cta_slot){.linear = linear, .living = p->per_cta, .taken = true};
    begin_parts(p, slot);
    tell_of(p, slot, 0, EMU_SYNC_CTA_START, 0);
    for (u32 w = 0; w < p->per_cta; w++) make_ready(p, slot * p->per_cta + w);
    return true;
}

static void vacate(struct deferred_replay *p, u32 slot)
{
    u32 at = p->vacant_count++;
    for (; at && p->vacant[at - 1] > slot; at--) p->vacant[at] = p->vacant[at - 1];
    p->vacant[at] = slot;
    p->places[slot].taken = false;
    p->live--;
}

/* All that live are there. */
static void look_at_barrier(struct deferred_replay *p, u32 slot, u32 id)
{
    struct cta_slot *const at = &p->places[slot];
    if (!at->waiting || at->waiting < at->living) return;
    at->waiting = 0;
    tell_of(p, slot, 0, EMU_SYNC_BARRIER_DONE, id);
    for (u32 i = slot * p->per_cta, w = 0; w < p->per_cta; w++, i++) {
        if (!p->parts[i].waits) continue;
        p->parts[i].waits = false;
        make_ready(p, i);
    }
}

static void end_warp(struct deferred_replay *p, u32 slot, u32 warp)
{
    struct cta_slot *const at = &p->places[slot];
    struct part *const list = &p->parts[slot * p->per_cta];
    u32 id = 0;
    at->living--;
    tell_of(p, slot, warp, EMU_SYNC_WARP_EXIT, 0);
    for (u32 w = 0; w < p->per_cta; w++)
        if (list[w].waits) id = list[w].barrier;
    look_at_barrier(p, slot, id);
    if (at->living) return;
    tell_of(p, slot, 0, EMU_SYNC_CTA_EXIT, 0);
    vacate(p, slot);
    while (place_one(p)) {
    }
}

static enum emu_verdict reduce(struct deferred_replay *p, struct deferred_event *e,
                               const struct emu_warp *who)
{
    struct emu_access a = {.who = who,
                           .kind = e->dead ? EMU_ATOMIC : EMU_RED,
                           .space = PTX_SPACE_GLOBAL,
                           .flags = e->flags,
                           .scope = e->scope,
                           .op = e->op,
                           .type = e->type,
                           .width = e->width,
                           .count = 1,
                           .lanes = e->count == LANES ? ~0u : (1u << e->count) - 1,
                           .address = deferred_addresses(e),
                           .data = deferred_operands(e),
                           .stride = e->width,
                           .standalone = true};
    const enum emu_verdict v = p->order->access(p->order->self, &a);
    for (u32 l = 0; v == EMU_PROCEED && l < e->count; l++)
        emu_machine_reduce(&p->m, emu_issuer(&a), a.address[l], a.op, a.type,
                           a.data + (size_t)l * e->width, NULL);
    return v;
}

static void begin_lists(struct deferred_replay *p, u32 slot)
{
    const struct list *lists = &p->log->warps[(size_t)p->places[slot].linear * p->per_cta];
    for (u32 w = 0; w < p->per_cta; w++) p->parts[slot * p->per_cta + w].next = lists[w].first;
    p->places[slot].begun = true;
}

/* What the warp does next. */
static void step(struct deferred_replay *p, u32 part)
{
    struct part *const w = &p->parts[part];
    struct deferred_event *const e = w->next;
    if (!e) {
        end_warp(p, w->slot, w->warp);
        return;
    }
    const struct emu_warp who = who_is(p, w);
    enum emu_verdict v;
    if (e->kind == DEFERRED_REDUCE) v = reduce(p, e, &who);
    else {
        const bool bar = e->kind == DEFERRED_BARRIER;
        v = notify(p, &(struct emu_sync){.who = &who,
                                         .kind = bar ? EMU_SYNC_BARRIER : EMU_SYNC_FENCE,
                                         .scope = e->scope,
                                         .flags = e->flags,
                                         .sc = !bar && e->dead,
                                         .id = bar ? e->op : 0,
                                         .lanes = ~0u});
    }
    if (v == EMU_SLEEP) {
        w->asleep = true;
        return;
    }
    const bool waits = e->kind == DEFERRED_BARRIER;
    const u8 id = e->op;
    w->next = e->next;
    w->serial++;
    e->of->done++;
    if (!waits) {
        make_ready(p, part);
        return;
    }
    w->waits = true;
    w->barrier = id;
    p->places[w->slot].waiting++;
    look_at_barrier(p, w->slot, id);
}

/* Somebody of the scheduler that is listed last; NOBODY: it is not known yet what that one does. */
static i32 choose(struct deferred_replay *p)
{
    for (;;) {
        struct ready *q = &p->ready[p->some[p->some_count - 1]];
        if (q->first == NOBODY) {
            q->listed = false;
            p->some_count--;
            continue;
        }
        const i32 part = q->first;
        const u32 slot = p->parts[part].slot;
        if (!p->places[slot].begun) {
            if (p->places[slot].linear >= p->known) return NOBODY;
            begin_lists(p, slot);
        }
        q->first = p->parts[part].behind;
        if (q->first != NOBODY) __builtin_prefetch(p->parts[q->first].next);
        p->ready_count--;
        return part;
    }
}

static struct deferred_replay *begin(struct deferred_log *r)
{
    const struct emu_machine *m = r->m;
    struct deferred_replay *p = (struct deferred_replay *)(void *)take(m, sizeof *p, true);
    p->m = *m;
    p->m.replay = p;
    p->m.speculation = &deferred_replay_speculation;
    p->ctx.config = r->config;
    p->m.context = &p->ctx;
    p->log = r;
    p->order = m->launch->order;
    p->per_cta = m->warps_per_cta;
    p->slots = m->sms * m->slots_per_sm;
    p->parts = (struct part *)(void *)take(m, (u64)p->slots * p->per_cta * sizeof *p->parts, false);
    p->places = (struct cta_slot *)(void *)take(m, p->slots * sizeof *p->places, true);
    p->vacant = (u32 *)(void *)take(m, p->slots * sizeof *p->vacant, false);
    p->vacant_count = p->slots;
    for (u32 s = 0; s < p->slots; s++) p->vacant[s] = s;
    const u32 schedulers = m->sms * m->schedulers;
    p->ready = (struct ready *)(void *)take(m, schedulers * sizeof *p->ready, false);
    p->some = (u32 *)(void *)take(m, schedulers * sizeof *p->some, false);
    for (u32 s = 0; s < schedulers; s++) p->ready[s] = (struct ready){NOBODY, NOBODY, false};
    if (p->order->begin) p->order->begin(p->order->self, &p->m);
    return p;
}

/* false: it comes to no end. */
static bool go_on(struct deferred_log *r, u32 ctas)
{
    if (!r->replay) r->replay = begin(r);
    struct deferred_replay *const p = r->replay;
    const struct emu_order *const o = p->order;
    p->known = ctas;
    for (u32 t = 0; t < r->writer_count; t++)
        atomic_store_explicit(&r->writers[t].fresh, 0, memory_order_relaxed);
    while (p->live || p->next < p->m.cta_count) {
        if (p->ready_count) {
            const i32 part = choose(p);
            if (part == NOBODY) return true;
            step(p, (u32)part);
        } else if (!place_one(p) && !(o->idle && o->idle(o->self))) return false;
    }
    return true;
}

void deferred_log_replay(struct deferred_log *r, u32 ctas)
{
    go_on(r, ctas);
    reuse_blocks(r);
}

bool deferred_log_end(struct deferred_log *r, bool all)
{
    const bool ends = !all || go_on(r, r->m->cta_count);
    const struct emu_order *const o = r->m->launch->order;
    if (all && ends && o->idle) o->idle(o->self);
    if (r->replay && o->end) o->end(o->self);
    free(r->writers);
    pthread_mutex_destroy(&r->lock);
    return ends;
}

const struct speculation deferred_replay_speculation = {.name = "deferred reductions",
                                                        .wake = wake,
                                                        .ready_count = ready_count,
                                                        .host_bytes = host_bytes};
