/* The memory order `random` (determinism/random.h): a seeded adversary that stands for a GPU of today.
 *
 * The callbacks of struct emu_order are here. pick() and place() choose the next warp and slot. access() buffers stores
 * (store_buffer) and answers loads, maybe from a stale line (l1_line). sync() drains store buffers and invalidates lines
 * where PTX's memory model demands it. docs/random.md describes the order for its users.
 *
 * Invariants. Every choice of a launch is drawn from one generator, in the order in which its one host thread asks: the
 * seed and the launch's number determine the run. Launches that the order does not see (EMU_SKIP_IF_CONFLICT_FREE) change
 * nothing for others. Loads never see a value that the memory model does not allow. */
#include "determinism/random.h"

#include "base/rng.h"
#include "determinism/orders.h"
#include "emu/order_fast.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BUFFERED = 48,                /* stores that a warp buffers; with more, some are drained */
    CAPACITY = MOST_BUFFERED + 2 * 32, /* with those of one instruction: 32 lanes, 64 bytes each */
    SECTOR_BYTES = 32,                 /* of a line of L1; a buffered store lies in one sector */
    MOST_HOLDERS = 64, /* if more warps buffer stores when a CTA exits, the CTA's are drained */
    L1_LINES = 256,    /* of an SM */
    BUCKETS = 256,     /* of a warp's buffered stores, by sector */
    NONE = CAPACITY,   /* in place of the number of a buffered store */
    PCT_RIVALS = 32,   /* PCT: warps that are compared */
    PCT_CHANGES = 3,   /* PCT: times that priorities change in PCT_SPAN picks */
    PCT_SPAN = 1 << 12,
    FIRST_WINDOW = 8,       /* CTAs that are resident at first, or 2, 4 or 8 times as many */
    WINDOW_PICKS = 1 << 12, /* picks after which more are, if none exits */
};
static_assert(CAPACITY <= UINT8_MAX, "the number of a buffered store is a byte");

struct buffered_store { /* adjacent bytes of one sector that lanes of one instruction stored */
    alignas(64) uint64_t address;
    uint64_t serial; /* with pc: of the instruction */
    uint32_t pc;
    uint8_t data[SECTOR_BYTES];
};
/* The stores of a warp that other warps do not see yet. Small members come first: they lie in few of the host's cache
 * lines. */
struct store_buffer {
    struct store_buffer *next;    /* of those that are not in use */
    uint32_t cta, warp, slot, sm; /* whose it is */
    uint32_t holder_index;        /* in random_order.holders */
    uint32_t count;
    uint32_t fenced;           /* a fence orders so many of the oldest before all others */
    uint8_t by_age[CAPACITY];  /* numbers of stores, the oldest first; behind them, free numbers */
    uint8_t youngest[BUCKETS]; /* by sector; NONE: there is none */
    struct store_mask {
        uint32_t bytes; /* which bytes of the sector it has: adjacent ones */
        uint8_t older;  /* the next older store of its bucket, or NONE */
    } masks[CAPACITY];  /* by number */
    struct buffered_store stores[CAPACITY];
};
struct l1_line {
    uint64_t sector; /* address / SECTOR_BYTES */
    uint32_t filled; /* which of its bytes it has */
    uint32_t age;    /* valid while it equals its SM's age */
    uint8_t data[SECTOR_BYTES];
};
struct sm {
    struct l1_line *lines; /* NULL: none yet */
    uint32_t age;          /* how often all lines have been invalidated */
};

struct random_order {
    struct random_options options;
    struct emu_order order;
    uint64_t seed, launches, state; /* state: begins anew with each launch */
    struct emu_machine *m;
    struct emu_shape shape;
    enum random_strategy strategy;       /* of the launch */
    struct store_buffer **store_buffers; /* by slot and warp; NULL: empty */
    struct store_buffer **holders;       /* all that are in use */
    struct store_buffer *spare;          /* a list of the others */
    uint32_t holder_count;
    size_t warp_capacity; /* of store_buffers and holders */
    size_t sm_capacity;   /* of sms */
    struct sm *sms;
    uint32_t drain_one_in; /* one of so many picks drains a store */
    uint32_t
        fresh_one_in; /* one of so many loads reads memory instead of a stale line; 0: loads are never stale */
    uint32_t lagging_sm; /* RANDOM_LAG */
    uint32_t window;     /* CTAs that may be resident; it grows while none of them exits */
    uint32_t resident;
    uint64_t grow_at; /* picks */
    uint64_t picks;
    uint64_t salt;                /* PCT: priorities are a hash with it, */
    uint64_t change[PCT_CHANGES]; /* which changes at these picks of each PCT_SPAN */
};

static uint64_t draw(struct random_order *r)
{
    return rng_next(&r->state);
}
static uint32_t below(struct random_order *r, uint32_t n)
{
    return rng_below(&r->state, n);
}
static bool one_in(struct random_order *r, uint32_t n)
{
    return n && !below(r, n);
}

/* The number of bytes from `at` on that lie in one sector, at most `most`. */
static uint32_t bytes_in_sector(uint64_t at, uint64_t most)
{
    const uint32_t n = SECTOR_BYTES - (uint32_t)(at % SECTOR_BYTES);
    return n < most ? n : (uint32_t)most;
}

/* memcpy, with the usual sizes inline. */
static void copy(void *to, const void *from, uint32_t size)
{
    if (size == 4) memcpy(to, from, 4);
    else if (size == SECTOR_BYTES) memcpy(to, from, SECTOR_BYTES);
    else memcpy(to, from, size);
}

/* ---- L1: what an SM has read ---------------------------------------------------------------------------- */

static struct l1_line *l1_line_of(const struct sm *sm, uint64_t sector)
{
    return sm->lines ? &sm->lines[(sector ^ sector >> 8) % L1_LINES] : NULL;
}

static bool l1_has(const struct sm *sm, const struct l1_line *l, uint64_t sector)
{
    return l->sector == sector && l->age == sm->age;
}

static void l1_invalidate(struct sm *sm)
{
    if (++sm->age) return;
    if (sm->lines) memset(sm->lines, 0, L1_LINES * sizeof *sm->lines);
    sm->age = 1;
}

static uint32_t bytes_of(uint64_t address, uint32_t size)
{
    return (uint32_t)(((UINT64_C(1) << size) - 1) << address % SECTOR_BYTES);
}

/* How many adjacent bytes these are. */
static uint32_t size_of(uint32_t bytes)
{
    return 32 - (uint32_t)__builtin_clz(bytes) - (uint32_t)__builtin_ctz(bytes);
}

/* A load of `size` bytes of one sector, where `data` is what memory holds: it may see what the SM has read before (L1 caches
 * are not coherent) instead. */
static void l1_read_maybe_stale(struct random_order *r, struct sm *sm, uint64_t address, void *data,
                                uint32_t size)
{
    const uint64_t sector = address / SECTOR_BYTES;
    const uint32_t want = bytes_of(address, size);
    if (!sm->lines && !(sm->lines = calloc(L1_LINES, sizeof *sm->lines))) abort();
    struct l1_line *l = l1_line_of(sm, sector);
    if (!l1_has(sm, l, sector)) {
        l->sector = sector;
        l->age = sm->age;
        l->filled = 0;
    } else if (!(want & ~l->filled) && !one_in(r, r->fresh_one_in)) {
        copy(data, l->data + address % SECTOR_BYTES, size);
        return;
    }
    copy(l->data + address % SECTOR_BYTES, data, size);
    l->filled |= want;
}

/* ---- store buffers --------------------------------------------------------------------------- */

static struct store_buffer **place_of(const struct random_order *r, uint32_t slot, uint32_t warp)
{
    return &r->store_buffers[(size_t)slot * r->shape.warps_per_cta + warp];
}

static struct store_buffer *store_buffer_of(const struct random_order *r,
                                            const struct emu_warp *who)
{
    return *place_of(r, who->slot, who->warp);
}

/* Not in use, and empty. */
static struct store_buffer *store_buffer_new(void)
{
    struct store_buffer *w = aligned_alloc(alignof(struct store_buffer), sizeof *w);
    if (!w) abort();
    w->count = w->fenced = 0;
    for (uint32_t i = 0; i < CAPACITY; i++) w->by_age[i] = (uint8_t)i;
    memset(w->youngest, NONE, sizeof w->youngest);
    return w;
}

static struct store_buffer *store_buffer_acquire(struct random_order *r, const struct emu_warp *who)
{
    struct store_buffer *w = r->spare;
    if (w) r->spare = w->next;
    else w = store_buffer_new();
    w->cta = who->cta;
    w->warp = who->warp;
    w->slot = who->slot;
    w->sm = who->sm;
    w->holder_index = r->holder_count;
    return *place_of(r, w->slot, w->warp) = r->holders[r->holder_count++] = w;
}

static void store_buffer_release(struct random_order *r, struct store_buffer *w)
{
    struct store_buffer *last = r->holders[--r->holder_count];
    r->holders[w->holder_index] = last;
    last->holder_index = w->holder_index;
    *place_of(r, w->slot, w->warp) = NULL;
    w->next = r->spare;
    r->spare = w;
}

static uint8_t *bucket_of(struct store_buffer *w, uint64_t sector)
{
    const uint32_t low = (uint32_t)sector;
    return &w->youngest[(low ^ low >> 8 ^ low >> 16) % BUCKETS];
}

/* Drains the store that is `at` by age: it becomes visible. With the last one the buffer itself is released. */
static void drain_at(struct random_order *r, struct store_buffer *w, uint32_t at)
{
    const uint8_t number = w->by_age[at];
    const struct buffered_store *h = &w->stores[number];
    const uint64_t sector = h->address / SECTOR_BYTES;
    const uint32_t bytes = w->masks[number].bytes, size = size_of(bytes);
    uint8_t *link = bucket_of(w, sector);
    while (*link != number) link = &w->masks[*link].older;
    *link = w->masks[number].older;
    w->count--;
    w->fenced -= at < w->fenced;
    memmove(w->by_age + at, w->by_age + at + 1, w->count - at);
    w->by_age[w->count] = number;
    if (!w->count) store_buffer_release(r, w);
    emu_machine_store(
        r->m, (struct emu_issuer){w->cta, w->warp, h->pc, .kind = EMU_STORE, .serial = h->serial},
        h->address, h->data, size);
    const struct sm *sm = &r->sms[w->sm];
    struct l1_line *l = l1_line_of(sm, sector);
    if (!l || !l1_has(sm, l, sector)) return;
    copy(l->data + h->address % SECTOR_BYTES, h->data, size);
    l->filled |= bytes;
}

/* Drains one store that no older one overlaps. */
static void drain_one_store(struct random_order *r, struct store_buffer *w)
{
    uint32_t at = below(r, w->fenced ? w->fenced : w->count);
    const uint8_t number = w->by_age[at];
    uint32_t bytes = w->masks[number].bytes;
    for (uint8_t i = w->masks[number].older; i != NONE; i = w->masks[i].older) {
        if (!(w->masks[i].bytes & bytes)) continue;
        if (w->stores[i].address / SECTOR_BYTES != w->stores[number].address / SECTOR_BYTES)
            continue;
        bytes = w->masks[i].bytes;
        while (w->by_age[at] != i) at--;
    }
    drain_at(r, w, at);
}

static void drain_all_stores(struct random_order *r, const struct emu_warp *who)
{
    for (struct store_buffer *w; (w = store_buffer_of(r, who));) drain_one_store(r, w);
}

/* Drains one store, and what a fence orders before it. */
static void drain_some_stores(struct random_order *r, struct store_buffer *w)
{
    for (uint32_t n = w->fenced + (w->count > w->fenced); n; n--) drain_one_store(r, w);
}

/* Drains the stores before the last fence. */
static void drain_fenced_stores(struct random_order *r, const struct emu_warp *who)
{
    for (struct store_buffer *w; (w = store_buffer_of(r, who)) && w->fenced;) drain_one_store(r, w);
}

/* A fence that is not .sc: stores before it become visible before later writes, but maybe after later loads. */
static void fence_stores(struct random_order *r, const struct emu_warp *who)
{
    drain_fenced_stores(r, who);
    struct store_buffer *w = store_buffer_of(r, who);
    if (w) w->fenced = w->count;
}

/* Drains the stores that have some of these bytes. */
static void drain_overlapping(struct random_order *r, const struct emu_warp *who, uint64_t address,
                              uint32_t size)
{
    for (uint32_t o = 0, n; o < size; o += n) {
        struct store_buffer *w = store_buffer_of(r, who);
        const uint64_t from = address + o, sector = from / SECTOR_BYTES;
        n = bytes_in_sector(from, size - o);
        if (!w || *bucket_of(w, sector) == NONE) continue;
        for (uint32_t at = 0; at < w->count;) {
            const uint8_t i = w->by_age[at];
            if (w->masks[i].bytes & bytes_of(from, n) &&
                w->stores[i].address / SECTOR_BYTES == sector)
                drain_at(r, w, at);
            else at++;
        }
    }
}

/* `from`: how many stores there were before this instruction. */
static void buffer_bytes(struct store_buffer *w, uint32_t from, const struct emu_access *a,
                         uint64_t address, const uint8_t *data, uint32_t size)
{
    if (w->count > from && address % SECTOR_BYTES) {
        const uint8_t last = w->by_age[w->count - 1];
        const uint32_t has = size_of(w->masks[last].bytes);
        if (w->stores[last].address + has == address) {
            copy(w->stores[last].data + has, data, size);
            w->masks[last].bytes |= bytes_of(address, size);
            return;
        }
    }
    assert(w->count < CAPACITY);
    const uint8_t number = w->by_age[w->count++];
    uint8_t *youngest = bucket_of(w, address / SECTOR_BYTES);
    struct buffered_store *h = &w->stores[number];
    h->address = address;
    h->serial = a->who->serial;
    h->pc = a->pc;
    copy(h->data, data, size);
    w->masks[number].bytes = bytes_of(address, size);
    w->masks[number].older = *youngest;
    *youngest = number;
}

/* ---- accesses --------------------------------------------------------------------------------------- */

struct reader {             /* a warp that loads */
    struct sm *sm;          /* NULL: its loads are not stale */
    struct store_buffer *w; /* its own; NULL: empty */
};

/* What it sees of `size` bytes of one sector. */
static void load(struct random_order *r, const struct reader *by, uint64_t address, uint8_t *data,
                 uint32_t size)
{
    struct store_buffer *w = by->w;
    if (by->sm) l1_read_maybe_stale(r, by->sm, address, data, size);
    if (!w) return;
    uint32_t left = bytes_of(address, size); /* of the sector, not yet found in a younger store */
    for (uint8_t i = *bucket_of(w, address / SECTOR_BYTES); i != NONE && left;
         i = w->masks[i].older) {
        const struct buffered_store *h = &w->stores[i];
        uint32_t has = left & w->masks[i].bytes;
        if (!has || h->address / SECTOR_BYTES != address / SECTOR_BYTES) continue;
        left &= ~has;
        while (has) {
            const uint32_t first = (uint32_t)__builtin_ctz(has),
                           n = (uint32_t)__builtin_ctzll(~((uint64_t)has >> first));
            copy(data + first - address % SECTOR_BYTES, h->data + first - h->address % SECTOR_BYTES,
                 n);
            has &= ~bytes_of(first, n);
        }
    }
}

/* Lanes that load adjacent bytes, or the same ones, see one sector at one moment. */
struct run {
    uint64_t first; /* address */
    uint32_t size;
    struct part {
        uint8_t *to;
        uint32_t at, size; /* in the run */
    } parts[SECTOR_BYTES];
    uint32_t count;
    uint8_t data[SECTOR_BYTES];
};

static void load_run(struct random_order *r, const struct reader *by, struct run *run)
{
    if (run->size) load(r, by, run->first, run->data, run->size);
    for (uint32_t p = 0; p < run->count; p++)
        copy(run->parts[p].to, run->data + run->parts[p].at, run->parts[p].size);
    run->size = run->count = 0;
}

static void load_lanes(struct random_order *r, const struct emu_access *a, const struct reader *by,
                       uint32_t size)
{
    struct run run;
    run.first = run.size = run.count = 0;
    emu_machine_fetch(r->m, a);
    if (a->stride == size && a->contiguous) {
        const uint64_t from = a->address[0], bytes = (uint64_t)size * 32;
        for (uint64_t o = 0, n; o < bytes; o += n) {
            n = bytes_in_sector(from + o, bytes - o);
            load(r, by, from + o, a->result + o, (uint32_t)n);
        }
        return;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0, n; o < size; o += n) {
            uint8_t *to = a->result + a->stride * l + o;
            const uint64_t at = a->address[l] + o;
            n = bytes_in_sector(at, size - o);
            const bool next = at == run.first + run.size && at % SECTOR_BYTES,
                       same = at >= run.first && at + n <= run.first + run.size;
            if (run.size && !next && !same) load_run(r, by, &run);
            if (!run.size) run.first = at;
            run.parts[run.count++] = (struct part){to, (uint32_t)(at - run.first), n};
            if (same) continue;
            copy(run.data + run.size, to, n);
            run.size += n;
        }
    }
    load_run(r, by, &run);
}

static void buffer_lanes(struct random_order *r, const struct emu_access *a, uint32_t size)
{
    struct store_buffer *w = store_buffer_of(r, a->who);
    if (!w) w = store_buffer_acquire(r, a->who);
    const uint32_t from = w->count;
    const bool is_run = a->stride == size && a->contiguous;
    const uint32_t bytes = is_run ? 32 * size : size;
    for (uint32_t m = is_run ? 1 : a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0, n; o < bytes; o += n) {
            n = bytes_in_sector(a->address[l] + o, bytes - o);
            buffer_bytes(w, from, a, a->address[l] + o, a->data + a->stride * l + o, n);
        }
    }
}

/* The lines of the SM's L1 that it accesses are invalid. */
static void invalidate_lines(struct random_order *r, const struct emu_access *a, uint32_t size)
{
    const struct sm *sm = &r->sms[a->who->sm];
    if (!sm->lines) return;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        for (uint64_t sector = at / SECTOR_BYTES; sector <= (at + size - 1) / SECTOR_BYTES;
             sector++) {
            struct l1_line *l = l1_line_of(sm, sector);
            if (l1_has(sm, l, sector)) l->age = 0;
        }
    }
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct random_order *r = self;
    const uint32_t size = (uint32_t)a->width * a->count;
    const bool store_mask = a->kind == EMU_STORE && !(a->flags & (EMU_RELEASE | EMU_ASYNC));
    const bool seen = a->kind == EMU_LOAD && !(a->flags & (EMU_ASYNC | EMU_NONCOHERENT));
    const bool waits = store_mask && a->space == PTX_SPACE_GLOBAL; /* and is behind them itself */
    if (a->kind != EMU_LOAD && !(waits && r->options.late_stores)) drain_fenced_stores(r, a->who);
    if (a->space != PTX_SPACE_GLOBAL) return EMU_PROCEED;
    if (a->flags & EMU_RELEASE) drain_all_stores(r, a->who);
    if (a->flags & EMU_ACQUIRE) l1_invalidate(&r->sms[a->who->sm]);
    if (seen) {
        const bool strong = a->flags & EMU_RELAXED;
        if (strong) invalidate_lines(r, a, size); /* no later plain load may see an older value */
        const struct reader by = {r->fresh_one_in && !strong ? &r->sms[a->who->sm] : NULL,
                                  store_buffer_of(r, a->who)};
        if (!by.sm && !by.w) return EMU_PROCEED;
        load_lanes(r, a, &by, size);
        return EMU_DONE;
    }
    if (store_mask && r->options.late_stores) {
        buffer_lanes(r, a, size);
        for (struct store_buffer *w; (w = store_buffer_of(r, a->who)) && w->count > MOST_BUFFERED;)
            drain_one_store(r, w);
        return EMU_DONE;
    }
    for (uint32_t m = store_buffer_of(r, a->who) ? a->lanes : 0; m; m &= m - 1)
        drain_overlapping(r, a->who, a->address[__builtin_ctz(m)], size);
    if (a->kind != EMU_LOAD) invalidate_lines(r, a, size);
    return EMU_PROCEED;
}

static void drain_cta(struct random_order *r, const struct emu_warp *cta)
{
    for (uint32_t w = 0; w < r->shape.warps_per_cta; w++) {
        struct emu_warp who = *cta;
        who.warp = w;
        drain_all_stores(r, &who);
    }
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct random_order *r = self;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (s->sc || s->op) drain_all_stores(r, s->who);
        else fence_stores(r, s->who);
        l1_invalidate(&r->sms[s->who->sm]);
        break;
    case EMU_SYNC_RUNTIME: /* it reads memory itself: texts, parameters */
    case EMU_SYNC_BARRIER:
    case EMU_SYNC_WARP:
    case EMU_SYNC_CLUSTER_ARRIVE:
    case EMU_SYNC_MBARRIER: drain_all_stores(r, s->who); break;
    case EMU_SYNC_CLUSTER_WAIT:
    case EMU_SYNC_MBARRIER_DONE: l1_invalidate(&r->sms[s->who->sm]); break;
    case EMU_SYNC_CTA_EXIT: /* its stores may be late, but not those of too many CTAs */
        r->resident--;
        if (r->holder_count > MOST_HOLDERS) drain_cta(r, s->who);
        break;
    case EMU_SYNC_CTA_START:
        drain_cta(r, s->who);
        break; /* the slot's last CTA may have left stores */
    default: break;
    }
    return EMU_PROCEED;
}

/* ---- which warp goes on ------------------------------------------------------------------------------------ */

static uint64_t priority(const struct random_order *r, const struct emu_warp *w)
{
    uint64_t z = (((uint64_t)w->cta << 32 | w->warp) ^ r->salt) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 29) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 32;
}

/* Of PCT_RIVALS warps from `from` on, the one of the highest priority. */
static uint32_t most_urgent(const struct random_order *r, const struct emu_warp *ready, uint32_t n,
                            uint32_t from)
{
    uint32_t best = from;
    uint64_t most = priority(r, &ready[from]);
    for (uint32_t k = 1, i = from; k < n && k < PCT_RIVALS; k++) {
        if (++i == n) i = 0;
        const uint64_t p = priority(r, &ready[i]);
        if (p <= most) continue;
        most = p;
        best = i;
    }
    return best;
}

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct random_order *r = self;
    const uint32_t n = (uint32_t)count;
    uint32_t i = below(r, n);
    r->picks++;
    if (r->holder_count && one_in(r, r->drain_one_in))
        drain_some_stores(r, r->holders[below(r, r->holder_count)]);
    *burst = one_in(r, 2) ? 1 : 1 + below(r, 16);
    switch (r->strategy) {
    case RANDOM_PCT:
        *burst = 32;
        for (int c = 0; c < PCT_CHANGES; c++)
            if (r->picks % PCT_SPAN == r->change[c]) r->salt = draw(r);
        if (one_in(r, 16))
            break; /* else a warp that busy-waits for another one might do so for ever */
        i = most_urgent(r, ready, n, i);
        break;
    case RANDOM_BURSTY: *burst = 1u << below(r, 11); break;
    case RANDOM_LAG:
        if (r->picks % PCT_SPAN == 1) r->lagging_sm = ready[i].sm;
        for (int k = 0; k < 8 && ready[i].sm == r->lagging_sm; k++) i = below(r, n);
        break;
    default: break;
    }
    return (int)i;
}

/* A window of few CTAs at a time runs much faster than all that fit, and its warps interact as often. CTAs that wait for
 * others do not exit: then the window grows. */
static int place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct random_order *r = self;
    (void)cta, (void)free_slots;
    if (r->resident >= r->window) {
        if (r->picks < r->grow_at) return -1;
        r->window *= 2;
    }
    r->grow_at = r->picks + WINDOW_PICKS;
    r->resident += r->shape.cluster;
    return (int)below(r, (uint32_t)count);
}

static bool idle(void *self)
{
    struct random_order *r = self;
    const bool any = r->holder_count > 0;
    r->grow_at = 0; /* a warp may wait for a CTA that is not resident */
    while (r->holder_count) drain_one_store(r, r->holders[below(r, r->holder_count)]);
    return any;
}

/* The memory that a launch of this shape needs; earlier launches leave theirs. */
static void reserve(struct random_order *r)
{
    const size_t warps = (size_t)r->shape.slots * r->shape.warps_per_cta;
    if (warps > r->warp_capacity) {
        free((void *)r->store_buffers);
        free((void *)r->holders);
        r->store_buffers = (struct store_buffer **)calloc(warps, sizeof *r->store_buffers);
        r->holders = (struct store_buffer **)calloc(warps, sizeof *r->holders);
        r->warp_capacity = warps;
    }
    if (r->shape.sms > r->sm_capacity) {
        r->sms = realloc(r->sms, r->shape.sms * sizeof *r->sms);
        if (r->sms)
            memset(r->sms + r->sm_capacity, 0, (r->shape.sms - r->sm_capacity) * sizeof *r->sms);
        r->sm_capacity = r->shape.sms;
    }
    if (!r->store_buffers || !r->holders || !r->sms) abort();
}

static void quiesce(void *self)
{
    struct random_order *r = self;
    idle(r);
    for (uint32_t s = 0; s < r->shape.sms; s++) l1_invalidate(&r->sms[s]);
}

static unsigned wants_of(void *self, const struct emu_launch_traits *next)
{
    struct random_order *r = self;
    r->launches++;
    return r->order.wants | (next->counted || next->observed ? 0 : EMU_SKIP_IF_CONFLICT_FREE);
}
static const struct emu_order_fast fast = {.wants = wants_of};

static void begin(void *self, struct emu_machine *m)
{
    static const uint32_t drain_choices[] = {2, 16, 128, 1024}, fresh_choices[] = {2, 8, 64};
    struct random_order *r = self;
    r->m = m;
    r->shape = emu_machine_shape(m);
    r->state = rng_mix(r->seed + r->launches * RNG_STEP);
    reserve(r);
    for (uint32_t s = 0; s < r->shape.sms; s++) l1_invalidate(&r->sms[s]);
    r->strategy = (enum random_strategy)r->options.strategy;
    if (r->strategy == RANDOM_ANY)
        r->strategy = (enum random_strategy)(1 + below(r, RANDOM_STRATEGIES - 1));
    r->drain_one_in = drain_choices[below(r, 4)];
    r->fresh_one_in = fresh_choices[below(r, 3)];
    if (!r->options.stale_loads) r->fresh_one_in = 0;
    r->salt = draw(r);
    r->picks = r->grow_at = 0;
    r->resident = 0;
    r->window = (uint32_t)FIRST_WINDOW << below(r, 4);
    if (one_in(r, 8)) r->window = 1u << below(r, 6);
    if (one_in(r, 8)) r->window = r->shape.slots;
    if (r->window < r->shape.cluster) r->window = r->shape.cluster;
    for (int c = 0; c < PCT_CHANGES; c++) r->change[c] = below(r, PCT_SPAN);
}

/* A launch that has failed leaves buffered stores. */
static void end(void *self)
{
    struct random_order *r = self;
    while (r->holder_count) {
        struct store_buffer *w = r->holders[0];
        w->count = 0;
        memset(w->youngest, NONE, sizeof w->youngest);
        store_buffer_release(r, w);
    }
}

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct random_order *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->options = *(const struct random_options *)options;
    r->seed = rng_mix(seed);
    r->order = (struct emu_order){.self = r,
                                  .name = random_kind.name,
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                  .step = EMU_STEP_EVENT,
                                  .fast = &fast,
                                  .begin = begin,
                                  .pick = pick,
                                  .place = place,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle,
                                  .end = end,
                                  .quiesce = quiesce};
    return &r->order;
}

static void release(struct emu_order *o)
{
    struct random_order *r = o->self;
    for (struct store_buffer *w = r->spare, *next; w; w = next) next = w->next, free(w);
    for (size_t s = 0; s < r->sm_capacity; s++) free(r->sms[s].lines);
    free((void *)r->store_buffers);
    free((void *)r->holders);
    free(r->sms);
    free(r);
}

static const char *const strategies[] = {"any", "uniform", "pct", "bursty", "lag", NULL};
static_assert(sizeof strategies / sizeof *strategies == RANDOM_STRATEGIES + 1, "each has a name");

static const struct order_option option_list[] = {
    {"strategy",
     "which warp goes on: warps alike; by priorities that seldom change; in long runs; one SM far behind; any of "
     "these, by the seed",
     offsetof(struct random_options, strategy), .words = strategies, .preset = RANDOM_ANY},
    {"late-stores", "stores become visible late, and in another order than they were made",
     offsetof(struct random_options, late_stores), .words = order_off_on, .preset = 1},
    {"stale-loads", "plain loads may see what their SM has read before",
     offsetof(struct random_options, stale_loads), .words = order_off_on, .preset = 1},
};

const struct order_kind random_kind = {
    .name = "random",
    .what =
        "as a GPU of today may do it: CTAs on SMs, warps, when stores become visible and what loads see "
        "are chosen by chance, within PTX's memory model",
    .options = option_list,
    .option_count = sizeof option_list / sizeof *option_list,
    .size = sizeof(struct random_options),
    .recorded = true,
    .make = make,
    .free = release,
};
