/* The order of determinism/random.h.
 *
 * Every choice of a launch is drawn from one generator, in the order in which its one host thread asks: the seed and
 * the launch's number are a run. Launches that are left out (EMU_SKIP_IF_CONFLICT_FREE) change nothing for others. */
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
    MOST_HELD = 48,            /* stores that a warp keeps: then some become visible */
    MOST = MOST_HELD + 2 * 32, /* while an instruction of 32 lanes, 64 bytes each, is told of */
    PIECE = 32,     /* bytes of a store that are kept together, and of a line of L1: a sector */
    MOST_BUSY = 64, /* warps that keep stores when a CTA ends: more, and its own do not */
    LINES = 256,    /* of an SM's L1 */
    BUCKETS = 256,  /* of pieces that a warp keeps */
    NONE = MOST,    /* in place of a store's number */
    RIVALS = 32,    /* PCT: the warps that are compared */
    ROOM = 8,       /* CTAs that are let in at first, or 2, 4 or 8 times that, where not all are */
    GROW = 1 << 12, /* picks before more are */
    CHANGES = 3,    /* moments at which priorities change, in SPAN picks */
    SPAN = 1 << 12,
};
static_assert(MOST <= UINT8_MAX, "a store's number is a byte");

struct held { /* bytes that lanes of one instruction stored side by side; they lie in one piece */
    alignas(64) uint64_t address;
    uint64_t serial; /* with pc: of the instruction */
    uint32_t pc;
    uint8_t data[PIECE];
};
struct stores { /* that a warp keeps; what is small comes first, in few of the host's cache lines */
    struct stores *next;          /* of those that nobody has */
    uint32_t cta, warp, slot, sm; /* whose they are, */
    uint32_t busy_at;             /* and place in `busy` */
    uint32_t count;
    uint32_t fenced;      /* so many of the oldest become visible before all others, by a fence */
    uint8_t by_age[MOST]; /* their numbers, the oldest first; behind them, those that are free */
    uint8_t youngest[BUCKETS]; /* by piece; NONE: none is kept */
    struct kept {
        uint32_t bytes; /* which of the piece's it has, side by side */
        uint8_t older;  /* the next older one of its bucket, or NONE */
    } kept[MOST];       /* by number */
    struct held held[MOST];
};
struct line {
    uint64_t piece;  /* address / PIECE */
    uint32_t filled; /* which of its bytes it has */
    uint32_t age;    /* it is empty unless this is its SM's */
    uint8_t data[PIECE];
};
struct sm {
    struct line *lines; /* NULL: none yet */
    uint32_t age;       /* times that it has forgotten all */
};

struct random_order {
    struct random_options options;
    struct emu_order order;
    uint64_t seed, launches, state; /* state: begins anew with each launch */
    struct emu_machine *m;
    struct emu_shape shape;
    enum random_strategy strategy; /* of the launch */
    struct stores **stores;        /* by slot and number in the CTA; NULL: none are kept */
    struct stores **busy, *spare;  /* all that there are; that nobody has */
    uint32_t busy_count;
    size_t warp_room, sm_room; /* of stores and busy; of sms */
    struct sm *sms;
    uint32_t drain; /* one of so many picks makes a store visible, */
    uint32_t stale; /* one of so many loads does not see what is old; 0: none does */
    uint32_t slow;  /* LAG: the SM */
    uint32_t room;  /* CTAs that may be resident; it grows while none of them ends */
    uint32_t resident;
    uint64_t grow_at; /* picks */
    uint64_t picks, salt, change[CHANGES];
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

/* The number of bytes from `at` on that lie in one piece, at most `most`. */
static uint32_t in_piece(uint64_t at, uint64_t most)
{
    const uint32_t n = PIECE - (uint32_t)(at % PIECE);
    return n < most ? n : (uint32_t)most;
}

/* memcpy, for what is copied most. */
static void copy(void *to, const void *from, uint32_t size)
{
    if (size == 4) memcpy(to, from, 4);
    else if (size == PIECE) memcpy(to, from, PIECE);
    else memcpy(to, from, size);
}

/* ---- what an SM has read ---------------------------------------------------------------------------- */

static struct line *line_of(const struct sm *sm, uint64_t piece)
{
    return sm->lines ? &sm->lines[(piece ^ piece >> 8) % LINES] : NULL;
}

static bool holds(const struct sm *sm, const struct line *l, uint64_t piece)
{
    return l->piece == piece && l->age == sm->age;
}

static void forget(struct sm *sm)
{
    if (++sm->age) return;
    if (sm->lines) memset(sm->lines, 0, LINES * sizeof *sm->lines);
    sm->age = 1;
}

static uint32_t bytes_of(uint64_t address, uint32_t size)
{
    return (uint32_t)(((UINT64_C(1) << size) - 1) << address % PIECE);
}

/* How many bytes side by side these are. */
static uint32_t size_of(uint32_t bytes)
{
    return 32 - (uint32_t)__builtin_clz(bytes) - (uint32_t)__builtin_ctz(bytes);
}

/* What a load of `size` bytes of one piece sees, where `data` is what memory holds. */
static void look(struct random_order *r, struct sm *sm, uint64_t address, void *data, uint32_t size)
{
    const uint64_t piece = address / PIECE;
    const uint32_t want = bytes_of(address, size);
    if (!sm->lines && !(sm->lines = calloc(LINES, sizeof *sm->lines))) abort();
    struct line *l = line_of(sm, piece);
    if (!holds(sm, l, piece)) {
        l->piece = piece;
        l->age = sm->age;
        l->filled = 0;
    } else if (!(want & ~l->filled) && !one_in(r, r->stale)) {
        copy(data, l->data + address % PIECE, size);
        return;
    }
    copy(l->data + address % PIECE, data, size);
    l->filled |= want;
}

/* ---- stores that are kept --------------------------------------------------------------------------- */

static struct stores **place_of(const struct random_order *r, uint32_t slot, uint32_t warp)
{
    return &r->stores[(size_t)slot * r->shape.warps_per_cta + warp];
}

static struct stores *stores_of(const struct random_order *r, const struct emu_warp *who)
{
    return *place_of(r, who->slot, who->warp);
}

/* Of nobody, and empty. */
static struct stores *stores_make(void)
{
    struct stores *w = aligned_alloc(alignof(struct stores), sizeof *w);
    if (!w) abort();
    w->count = w->fenced = 0;
    for (uint32_t i = 0; i < MOST; i++) w->by_age[i] = (uint8_t)i;
    memset(w->youngest, NONE, sizeof w->youngest);
    return w;
}

static struct stores *stores_take(struct random_order *r, const struct emu_warp *who)
{
    struct stores *w = r->spare;
    if (w) r->spare = w->next;
    else w = stores_make();
    w->cta = who->cta;
    w->warp = who->warp;
    w->slot = who->slot;
    w->sm = who->sm;
    w->busy_at = r->busy_count;
    return *place_of(r, w->slot, w->warp) = r->busy[r->busy_count++] = w;
}

static void stores_give(struct random_order *r, struct stores *w)
{
    struct stores *last = r->busy[--r->busy_count];
    r->busy[w->busy_at] = last;
    last->busy_at = w->busy_at;
    *place_of(r, w->slot, w->warp) = NULL;
    w->next = r->spare;
    r->spare = w;
}

static uint8_t *bucket(struct stores *w, uint64_t piece)
{
    const uint32_t low = (uint32_t)piece;
    return &w->youngest[(low ^ low >> 8 ^ low >> 16) % BUCKETS];
}

/* The one that is `at` by age. The last of them gives `w` itself back. */
static void take_out(struct random_order *r, struct stores *w, uint32_t at)
{
    const uint8_t number = w->by_age[at];
    const struct held *h = &w->held[number];
    const uint64_t piece = h->address / PIECE;
    const uint32_t bytes = w->kept[number].bytes, size = size_of(bytes);
    uint8_t *link = bucket(w, piece);
    while (*link != number) link = &w->kept[*link].older;
    *link = w->kept[number].older;
    w->count--;
    w->fenced -= at < w->fenced;
    memmove(w->by_age + at, w->by_age + at + 1, w->count - at);
    w->by_age[w->count] = number;
    if (!w->count) stores_give(r, w);
    emu_machine_store(
        r->m, (struct emu_issuer){w->cta, w->warp, h->pc, .kind = EMU_STORE, .serial = h->serial},
        h->address, h->data, size);
    const struct sm *sm = &r->sms[w->sm];
    struct line *l = line_of(sm, piece);
    if (!l || !holds(sm, l, piece)) return;
    copy(l->data + h->address % PIECE, h->data, size);
    l->filled |= bytes;
}

/* Makes one visible that no older one overlaps. */
static void show_one(struct random_order *r, struct stores *w)
{
    uint32_t at = below(r, w->fenced ? w->fenced : w->count);
    const uint8_t number = w->by_age[at];
    uint32_t bytes = w->kept[number].bytes;
    for (uint8_t i = w->kept[number].older; i != NONE; i = w->kept[i].older) {
        if (!(w->kept[i].bytes & bytes)) continue;
        if (w->held[i].address / PIECE != w->held[number].address / PIECE) continue;
        bytes = w->kept[i].bytes;
        while (w->by_age[at] != i) at--;
    }
    take_out(r, w, at);
}

static void show_all(struct random_order *r, const struct emu_warp *who)
{
    for (struct stores *w; (w = stores_of(r, who));) show_one(r, w);
}

/* One, and what has to come before it. */
static void show_some(struct random_order *r, struct stores *w)
{
    for (uint32_t n = w->fenced + (w->count > w->fenced); n; n--) show_one(r, w);
}

/* Those that the last fence came behind. */
static void show_fenced(struct random_order *r, const struct emu_warp *who)
{
    for (struct stores *w; (w = stores_of(r, who)) && w->fenced;) show_one(r, w);
}

/* A fence that is not .sc: what was stored before it comes before what is written from now on, but may come after what
 * is read. */
static void fence_stores(struct random_order *r, const struct emu_warp *who)
{
    show_fenced(r, who);
    struct stores *w = stores_of(r, who);
    if (w) w->fenced = w->count;
}

/* Those that have some of these bytes. */
static void show_bytes(struct random_order *r, const struct emu_warp *who, uint64_t address,
                       uint32_t size)
{
    for (uint32_t o = 0, n; o < size; o += n) {
        struct stores *w = stores_of(r, who);
        const uint64_t from = address + o, piece = from / PIECE;
        n = in_piece(from, size - o);
        if (!w || *bucket(w, piece) == NONE) continue;
        for (uint32_t at = 0; at < w->count;) {
            const uint8_t i = w->by_age[at];
            if (w->kept[i].bytes & bytes_of(from, n) && w->held[i].address / PIECE == piece)
                take_out(r, w, at);
            else at++;
        }
    }
}

/* `from`: how many there were before this instruction. */
static void keep(struct stores *w, uint32_t from, const struct emu_access *a, uint64_t address,
                 const uint8_t *data, uint32_t size)
{
    if (w->count > from && address % PIECE) {
        const uint8_t last = w->by_age[w->count - 1];
        const uint32_t has = size_of(w->kept[last].bytes);
        if (w->held[last].address + has == address) {
            copy(w->held[last].data + has, data, size);
            w->kept[last].bytes |= bytes_of(address, size);
            return;
        }
    }
    assert(w->count < MOST);
    const uint8_t number = w->by_age[w->count++];
    uint8_t *youngest = bucket(w, address / PIECE);
    struct held *h = &w->held[number];
    h->address = address;
    h->serial = a->who->serial;
    h->pc = a->pc;
    copy(h->data, data, size);
    w->kept[number].bytes = bytes_of(address, size);
    w->kept[number].older = *youngest;
    *youngest = number;
}

/* ---- accesses --------------------------------------------------------------------------------------- */

struct reader {       /* a warp that loads */
    struct sm *sm;    /* NULL: it does not see what its SM has read */
    struct stores *w; /* that it keeps; NULL: none */
};

/* What it sees of `size` bytes of one piece. */
static void load(struct random_order *r, const struct reader *by, uint64_t address, uint8_t *data,
                 uint32_t size)
{
    struct stores *w = by->w;
    if (by->sm) look(r, by->sm, address, data, size);
    if (!w) return;
    uint32_t left = bytes_of(address, size); /* of the piece, not yet found in a younger one */
    for (uint8_t i = *bucket(w, address / PIECE); i != NONE && left; i = w->kept[i].older) {
        const struct held *h = &w->held[i];
        uint32_t has = left & w->kept[i].bytes;
        if (!has || h->address / PIECE != address / PIECE) continue;
        left &= ~has;
        while (has) {
            const uint32_t first = (uint32_t)__builtin_ctz(has),
                           n = (uint32_t)__builtin_ctzll(~((uint64_t)has >> first));
            copy(data + first - address % PIECE, h->data + first - h->address % PIECE, n);
            has &= ~bytes_of(first, n);
        }
    }
}

/* Lanes that load side by side, or the same, see one piece at one moment. */
struct run {
    uint64_t first; /* address */
    uint32_t size;
    struct part {
        uint8_t *to;
        uint32_t at, size; /* in the run */
    } parts[PIECE];
    uint32_t count;
    uint8_t data[PIECE];
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
            n = in_piece(from + o, bytes - o);
            load(r, by, from + o, a->result + o, (uint32_t)n);
        }
        return;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0, n; o < size; o += n) {
            uint8_t *to = a->result + a->stride * l + o;
            const uint64_t at = a->address[l] + o;
            n = in_piece(at, size - o);
            const bool next = at == run.first + run.size && at % PIECE,
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

static void keep_lanes(struct random_order *r, const struct emu_access *a, uint32_t size)
{
    struct stores *w = stores_of(r, a->who);
    if (!w) w = stores_take(r, a->who);
    const uint32_t from = w->count;
    const bool is_run = a->stride == size && a->contiguous;
    const uint32_t bytes = is_run ? 32 * size : size;
    for (uint32_t m = is_run ? 1 : a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0, n; o < bytes; o += n) {
            n = in_piece(a->address[l] + o, bytes - o);
            keep(w, from, a, a->address[l] + o, a->data + a->stride * l + o, n);
        }
    }
}

/* What it changes is no longer as its SM has read it. */
static void change_lines(struct random_order *r, const struct emu_access *a, uint32_t size)
{
    const struct sm *sm = &r->sms[a->who->sm];
    if (!sm->lines) return;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        for (uint64_t piece = at / PIECE; piece <= (at + size - 1) / PIECE; piece++) {
            struct line *l = line_of(sm, piece);
            if (holds(sm, l, piece)) l->age = 0;
        }
    }
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct random_order *r = self;
    const uint32_t size = (uint32_t)a->width * a->count;
    const bool kept = a->kind == EMU_STORE && !(a->flags & (EMU_RELEASE | EMU_ASYNC));
    const bool seen = a->kind == EMU_LOAD && !(a->flags & (EMU_ASYNC | EMU_NONCOHERENT));
    const bool waits = kept && a->space == PTX_SPACE_GLOBAL; /* and is behind them itself */
    if (a->kind != EMU_LOAD && !(waits && r->options.late_stores)) show_fenced(r, a->who);
    if (a->space != PTX_SPACE_GLOBAL) return EMU_PROCEED;
    if (a->flags & EMU_RELEASE) show_all(r, a->who);
    if (a->flags & EMU_ACQUIRE) forget(&r->sms[a->who->sm]);
    if (seen) {
        const bool strong = a->flags & EMU_RELAXED;
        const struct reader by = {r->stale && !strong ? &r->sms[a->who->sm] : NULL,
                                  stores_of(r, a->who)};
        if (!by.sm && !by.w) return EMU_PROCEED;
        load_lanes(r, a, &by, size);
        return EMU_DONE;
    }
    if (kept && r->options.late_stores) {
        keep_lanes(r, a, size);
        for (struct stores *w; (w = stores_of(r, a->who)) && w->count > MOST_HELD;) show_one(r, w);
        return EMU_DONE;
    }
    for (uint32_t m = stores_of(r, a->who) ? a->lanes : 0; m; m &= m - 1)
        show_bytes(r, a->who, a->address[__builtin_ctz(m)], size);
    if (a->kind != EMU_LOAD) change_lines(r, a, size);
    return EMU_PROCEED;
}

static void show_cta(struct random_order *r, const struct emu_warp *cta)
{
    for (uint32_t w = 0; w < r->shape.warps_per_cta; w++) {
        struct emu_warp who = *cta;
        who.warp = w;
        show_all(r, &who);
    }
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct random_order *r = self;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (s->sc || s->op) show_all(r, s->who);
        else fence_stores(r, s->who);
        forget(&r->sms[s->who->sm]);
        break;
    case EMU_SYNC_RUNTIME: /* it reads memory itself: texts, parameters */
    case EMU_SYNC_BARRIER:
    case EMU_SYNC_WARP:
    case EMU_SYNC_CLUSTER_ARRIVE:
    case EMU_SYNC_MBARRIER: show_all(r, s->who); break;
    case EMU_SYNC_CLUSTER_WAIT:
    case EMU_SYNC_MBARRIER_DONE: forget(&r->sms[s->who->sm]); break;
    case EMU_SYNC_CTA_EXIT: /* what it leaves may be late, but not all of all CTAs */
        r->resident--;
        if (r->busy_count > MOST_BUSY) show_cta(r, s->who);
        break;
    case EMU_SYNC_CTA_START:
        show_cta(r, s->who);
        break; /* the slot's last CTA may have left some */
    default: break;
    }
    return EMU_PROCEED;
}

/* ---- who goes on ------------------------------------------------------------------------------------ */

static uint64_t priority(const struct random_order *r, const struct emu_warp *w)
{
    uint64_t z = (((uint64_t)w->cta << 32 | w->warp) ^ r->salt) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 29) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 32;
}

/* Of those from `from` on. */
static uint32_t most_urgent(const struct random_order *r, const struct emu_warp *ready, uint32_t n,
                            uint32_t from)
{
    uint32_t best = from;
    uint64_t most = priority(r, &ready[from]);
    for (uint32_t k = 1, i = from; k < n && k < RIVALS; k++) {
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
    if (r->busy_count && one_in(r, r->drain)) show_some(r, r->busy[below(r, r->busy_count)]);
    *burst = one_in(r, 2) ? 1 : 1 + below(r, 16);
    switch (r->strategy) {
    case RANDOM_PCT:
        *burst = 32;
        for (int c = 0; c < CHANGES; c++)
            if (r->picks % SPAN == r->change[c]) r->salt = draw(r);
        if (one_in(r, 16)) break; /* or one that spins for another would do so for ever */
        i = most_urgent(r, ready, n, i);
        break;
    case RANDOM_BURSTY: *burst = 1u << below(r, 11); break;
    case RANDOM_LAG:
        if (r->picks % SPAN == 1) r->slow = ready[i].sm;
        for (int k = 0; k < 8 && ready[i].sm == r->slow; k++) i = below(r, n);
        break;
    default: break;
    }
    return (int)i;
}

/* Few CTAs at a time run much faster than all that there is room for, and meet as often. Those that wait for
 * others do not end: then more are let in. */
static int place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct random_order *r = self;
    (void)cta, (void)free_slots;
    if (r->resident >= r->room) {
        if (r->picks < r->grow_at) return -1;
        r->room *= 2;
    }
    r->grow_at = r->picks + GROW;
    r->resident += r->shape.cluster;
    return (int)below(r, (uint32_t)count);
}

static bool idle(void *self)
{
    struct random_order *r = self;
    const bool any = r->busy_count > 0;
    r->grow_at = 0; /* who waits may wait for one that is not there */
    while (r->busy_count) show_one(r, r->busy[below(r, r->busy_count)]);
    return any;
}

/* What a launch of this shape needs, of which earlier ones leave theirs. */
static void make_room(struct random_order *r)
{
    const size_t warps = (size_t)r->shape.slots * r->shape.warps_per_cta;
    if (warps > r->warp_room) {
        free((void *)r->stores);
        free((void *)r->busy);
        r->stores = (struct stores **)calloc(warps, sizeof *r->stores);
        r->busy = (struct stores **)calloc(warps, sizeof *r->busy);
        r->warp_room = warps;
    }
    if (r->shape.sms > r->sm_room) {
        r->sms = realloc(r->sms, r->shape.sms * sizeof *r->sms);
        if (r->sms) memset(r->sms + r->sm_room, 0, (r->shape.sms - r->sm_room) * sizeof *r->sms);
        r->sm_room = r->shape.sms;
    }
    if (!r->stores || !r->busy || !r->sms) abort();
}

static void quiesce(void *self)
{
    struct random_order *r = self;
    idle(r);
    for (uint32_t s = 0; s < r->shape.sms; s++) forget(&r->sms[s]);
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
    static const uint32_t drains[] = {2, 16, 128, 1024}, stales[] = {2, 8, 64};
    struct random_order *r = self;
    r->m = m;
    r->shape = emu_machine_shape(m);
    r->state = rng_mix(r->seed + r->launches * RNG_STEP);
    make_room(r);
    for (uint32_t s = 0; s < r->shape.sms; s++) forget(&r->sms[s]);
    r->strategy = (enum random_strategy)r->options.strategy;
    if (r->strategy == RANDOM_ANY)
        r->strategy = (enum random_strategy)(1 + below(r, RANDOM_STRATEGIES - 1));
    r->drain = drains[below(r, 4)];
    r->stale = stales[below(r, 3)];
    if (!r->options.stale_loads) r->stale = 0;
    r->salt = draw(r);
    r->picks = r->grow_at = 0;
    r->resident = 0;
    r->room = (uint32_t)ROOM << below(r, 4);
    if (one_in(r, 8)) r->room = 1u << below(r, 6);
    if (one_in(r, 8)) r->room = r->shape.slots;
    if (r->room < r->shape.cluster) r->room = r->shape.cluster;
    for (int c = 0; c < CHANGES; c++) r->change[c] = below(r, SPAN);
}

/* A launch that has failed leaves stores. */
static void end(void *self)
{
    struct random_order *r = self;
    while (r->busy_count) {
        struct stores *w = r->busy[0];
        w->count = 0;
        memset(w->youngest, NONE, sizeof w->youngest);
        stores_give(r, w);
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
    for (struct stores *w = r->spare, *next; w; w = next) next = w->next, free(w);
    for (size_t s = 0; s < r->sm_room; s++) free(r->sms[s].lines);
    free((void *)r->stores);
    free((void *)r->busy);
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
