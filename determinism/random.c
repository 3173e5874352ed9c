/* The order of determinism/random.h.
 *
 * Every choice is drawn from one generator, in the order in which the one host thread of the launch asks: a seed
 * is a run. */
#include "determinism/random.h"

#include "base/rng.h"
#include "determinism/orders.h"
#include "emu/order.h"
#include "ptx/ptx.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_HELD = 48, /* stores that a warp keeps: then some become visible */
    PIECE = 32,     /* bytes of a store that are kept together, and of a line of L1: a sector */
    LINES = 256,    /* of an SM's L1 */
    CHANGES = 3,    /* moments at which priorities change, in SPAN picks */
    SPAN = 1 << 12,
};

struct held { /* bytes that lanes of one instruction stored side by side; they lie in one piece */
    struct emu_author by;
    uint64_t address;
    uint32_t size;
    uint8_t data[PIECE];
};
struct warp {
    struct held *held; /* by age */
    uint32_t count, cap;
    uint32_t busy_at; /* place in `busy`, if count */
};
struct line {
    uint64_t piece;  /* address / PIECE; 0: none */
    uint32_t filled; /* which of its bytes it has */
    uint8_t data[PIECE];
};
struct sm {
    struct line *lines; /* NULL: none yet */
    bool any;
};

struct random_order {
    struct random_options options;
    struct emu_order order;
    uint64_t state;
    struct emu_machine *m;
    struct emu_shape shape;
    enum random_strategy strategy; /* of the launch */
    struct warp *warps;            /* by slot and number in the CTA */
    uint32_t *busy, busy_count;    /* warps that keep stores */
    struct sm *sms;
    uint32_t drain; /* one of so many picks makes a store visible, */
    uint32_t stale; /* one of so many loads does not see what is old; 0: none does */
    uint32_t slow;  /* LAG: the SM */
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

/* ---- what an SM has read ---------------------------------------------------------------------------- */

static struct line *line_of(const struct random_order *r, uint32_t sm, uint64_t address)
{
    const uint64_t piece = address / PIECE;
    return r->sms[sm].lines ? &r->sms[sm].lines[(piece ^ piece >> 8) % LINES] : NULL;
}

static void forget(struct random_order *r, uint32_t sm)
{
    if (r->sms[sm].any) memset(r->sms[sm].lines, 0, LINES * sizeof(struct line));
    r->sms[sm].any = false;
}

static uint32_t bytes_of(uint64_t address, uint32_t size)
{
    return (uint32_t)(((UINT64_C(1) << size) - 1) << address % PIECE);
}

/* What a load of `size` bytes of one piece sees. */
static void look(struct random_order *r, uint32_t sm, uint64_t address, void *data, uint32_t size)
{
    const uint32_t want = bytes_of(address, size);
    if (!r->sms[sm].lines) {
        r->sms[sm].lines = calloc(LINES, sizeof(struct line));
        if (!r->sms[sm].lines) abort();
    }
    struct line *l = line_of(r, sm, address);
    if (l->piece == address / PIECE && !(want & ~l->filled) && !one_in(r, r->stale)) {
        memcpy(data, l->data + address % PIECE, size);
        return;
    }
    emu_machine_load(r->m, address, data, size);
    if (l->piece != address / PIECE) *l = (struct line){.piece = address / PIECE};
    memcpy(l->data + address % PIECE, data, size);
    l->filled |= want;
    r->sms[sm].any = true;
}

/* ---- stores that are kept --------------------------------------------------------------------------- */

static struct warp *warp_of(const struct random_order *r, const struct emu_warp *who)
{
    return &r->warps[(size_t)who->slot * r->shape.warps_per_cta + who->warp];
}

static void take_out(struct random_order *r, struct warp *w, uint32_t i)
{
    const struct held h = w->held[i];
    const uint32_t sm = (uint32_t)(w - r->warps) / r->shape.warps_per_cta % r->shape.sms;
    memmove(w->held + i, w->held + i + 1, (w->count - i - 1) * sizeof h);
    if (!--w->count) {
        const uint32_t last = r->busy[--r->busy_count];
        r->busy[w->busy_at] = last;
        r->warps[last].busy_at = w->busy_at;
    }
    emu_machine_store(r->m, h.by, h.address, h.data, h.size);
    struct line *l = line_of(r, sm, h.address);
    if (!l || l->piece != h.address / PIECE) return;
    memcpy(l->data + h.address % PIECE, h.data, h.size);
    l->filled |= bytes_of(h.address, h.size);
}

static bool overlap(const struct held *h, uint64_t address, uint64_t size)
{
    return h->address < address + size && address < h->address + h->size;
}

/* Makes one visible that no older one overlaps. */
static void show_one(struct random_order *r, struct warp *w)
{
    uint32_t i = below(r, w->count);
    for (uint32_t k = 0; k < i; k++)
        if (overlap(&w->held[k], w->held[i].address, w->held[i].size)) {
            i = k;
            k = UINT32_MAX; /* and what overlaps that */
        }
    take_out(r, w, i);
}

static void show_all(struct random_order *r, struct warp *w)
{
    while (w->count) show_one(r, w);
}

static void show_bytes(struct random_order *r, struct warp *w, uint64_t address, uint64_t size)
{
    for (uint32_t i = 0; i < w->count;)
        if (overlap(&w->held[i], address, size)) take_out(r, w, i);
        else i++;
}

/* `from`: the first that this instruction has kept. */
static void keep(struct random_order *r, struct warp *w, uint32_t from, const struct emu_access *a,
                 uint64_t address, const uint8_t *data, uint32_t size)
{
    struct held *last = w->count > from ? &w->held[w->count - 1] : NULL;
    if (last && last->address + last->size == address && address % PIECE) {
        memcpy(last->data + last->size, data, size);
        last->size += size;
        return;
    }
    if (w->count == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 32;
        w->held = realloc(w->held, w->cap * sizeof *w->held);
        if (!w->held) abort();
    }
    if (!w->count) {
        w->busy_at = r->busy_count;
        r->busy[r->busy_count++] = (uint32_t)(w - r->warps);
    }
    struct held *h = &w->held[w->count++];
    h->by = emu_author(a);
    h->address = address;
    h->size = size;
    memcpy(h->data, data, size);
}

/* ---- accesses --------------------------------------------------------------------------------------- */

/* What a warp sees of `size` bytes of one piece. */
static void load(struct random_order *r, const struct emu_access *a, uint64_t address,
                 uint8_t *data, uint32_t size)
{
    const struct warp *w = warp_of(r, a->who);
    const bool strong = a->flags & (EMU_VOLATILE | EMU_ACQUIRE | EMU_RELAXED);
    if (!strong && r->stale) look(r, a->who->sm, address, data, size);
    for (uint32_t i = 0; i < w->count; i++) { /* its own stores, the youngest last */
        const struct held *h = &w->held[i];
        for (uint32_t b = 0; overlap(h, address, size) && b < h->size; b++)
            if (h->address + b - address < size) data[h->address + b - address] = h->data[b];
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

static void load_run(struct random_order *r, const struct emu_access *a, struct run *run)
{
    if (run->size) load(r, a, run->first, run->data, run->size);
    for (uint32_t p = 0; p < run->count; p++)
        memcpy(run->parts[p].to, run->data + run->parts[p].at, run->parts[p].size);
    run->size = run->count = 0;
}

static void load_lanes(struct random_order *r, const struct emu_access *a, uint32_t size)
{
    struct run run = {0};
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t o = 0, n; o < size; o += n) {
            uint8_t *to = a->result + a->stride * l + o;
            const uint64_t at = a->address[l] + o;
            n = PIECE - (uint32_t)(at % PIECE);
            if (n > size - o) n = size - o;
            const bool next = at == run.first + run.size && at % PIECE,
                       same = at >= run.first && at + n <= run.first + run.size;
            if (run.size && !next && !same) load_run(r, a, &run);
            if (!run.size) run.first = at;
            run.parts[run.count++] = (struct part){to, (uint32_t)(at - run.first), n};
            if (same) continue;
            memcpy(run.data + run.size, to, n);
            run.size += n;
        }
    }
    load_run(r, a, &run);
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct random_order *r = self;
    struct warp *w = warp_of(r, a->who);
    const uint32_t size = (uint32_t)a->width * a->count;
    const bool kept = a->kind == EMU_STORE && !(a->flags & (EMU_RELEASE | EMU_ASYNC));
    const bool seen = a->kind == EMU_LOAD && !(a->flags & (EMU_ASYNC | EMU_UNCHANGING));
    if (a->space != PTX_SPACE_GLOBAL) return EMU_PROCEED;
    if (a->flags & EMU_RELEASE) show_all(r, w);
    if (a->flags & EMU_ACQUIRE) forget(r, a->who->sm);
    if (seen) {
        emu_machine_fetch(r->m, a);
        load_lanes(r, a, size);
        return EMU_DONE;
    }
    const uint32_t from = w->count;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[l];
        if (kept && r->options.late_stores) {
            for (uint32_t o = 0, n; o < size; o += n) {
                n = PIECE - (uint32_t)((at + o) % PIECE);
                if (n > size - o) n = size - o;
                keep(r, w, from, a, at + o, a->data + a->stride * l + o, n);
            }
        } else if (w->count) show_bytes(r, w, at, size);
        if (a->kind == EMU_LOAD || (kept && r->options.late_stores)) continue;
        for (uint64_t o = at / PIECE; o <= (at + size - 1) / PIECE; o++) { /* what it changes */
            struct line *line = line_of(r, a->who->sm, o * PIECE);
            if (line && line->piece == o) *line = (struct line){0};
        }
    }
    while (w->count > MOST_HELD) show_one(r, w);
    return kept && r->options.late_stores ? EMU_DONE : EMU_PROCEED;
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct random_order *r = self;
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        show_all(r, warp_of(r, s->who));
        forget(r, s->who->sm);
        break;
    case EMU_SYNC_BARRIER:
    case EMU_SYNC_WARP:
    case EMU_SYNC_CLUSTER_ARRIVE:
    case EMU_SYNC_MBARRIER: show_all(r, warp_of(r, s->who)); break;
    case EMU_SYNC_CLUSTER_WAIT:
    case EMU_SYNC_MBARRIER_DONE: forget(r, s->who->sm); break;
    case EMU_SYNC_CTA_START: /* the slot's last CTA may have left some */
        for (uint32_t w = 0; w < r->shape.warps_per_cta; w++) {
            struct emu_warp who = *s->who;
            who.warp = w;
            show_all(r, warp_of(r, &who));
        }
        break;
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

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct random_order *r = self;
    const uint32_t n = (uint32_t)count;
    uint32_t i = below(r, n);
    r->picks++;
    if (r->busy_count && one_in(r, r->drain))
        show_one(r, &r->warps[r->busy[below(r, r->busy_count)]]);
    *burst = one_in(r, 2) ? 1 : 1 + below(r, 16);
    switch (r->strategy) {
    case RANDOM_PCT:
        *burst = 32;
        for (int c = 0; c < CHANGES; c++)
            if (r->picks % SPAN == r->change[c]) r->salt = draw(r);
        if (one_in(r, 16)) break; /* or one that spins for another would do so for ever */
        for (uint32_t k = 0; k < n; k++)
            if (priority(r, &ready[k]) > priority(r, &ready[i])) i = k;
        break;
    case RANDOM_BURSTY: *burst = 1u << below(r, 11); break;
    case RANDOM_LAG:
        if (r->picks % SPAN == 0) r->slow = below(r, r->shape.sms);
        for (int k = 0; k < 8 && ready[i].sm == r->slow; k++) i = below(r, n);
        break;
    default: break;
    }
    return (int)i;
}

static int place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    (void)cta, (void)free_slots;
    return (int)below(self, (uint32_t)count);
}

static bool idle(void *self)
{
    struct random_order *r = self;
    const bool any = r->busy_count > 0;
    while (r->busy_count) show_one(r, &r->warps[r->busy[below(r, r->busy_count)]]);
    return any;
}

static void begin(void *self, struct emu_machine *m)
{
    static const uint32_t drains[] = {2, 16, 128, 1024}, stales[] = {2, 8, 64};
    struct random_order *r = self;
    r->m = m;
    r->shape = emu_machine_shape(m);
    const size_t warps = (size_t)r->shape.slots * r->shape.warps_per_cta;
    r->warps = calloc(warps, sizeof *r->warps);
    r->busy = calloc(warps, sizeof *r->busy);
    r->sms = calloc(r->shape.sms, sizeof *r->sms);
    if (!r->warps || !r->busy || !r->sms) abort();
    r->busy_count = 0;
    r->strategy = (enum random_strategy)r->options.strategy;
    if (r->strategy == RANDOM_ANY)
        r->strategy = (enum random_strategy)(1 + below(r, RANDOM_STRATEGIES - 1));
    r->drain = drains[below(r, 4)];
    r->stale = stales[below(r, 3)];
    if (!r->options.stale_loads) r->stale = 0;
    r->slow = below(r, r->shape.sms);
    r->salt = draw(r);
    r->picks = 0;
    for (int c = 0; c < CHANGES; c++) r->change[c] = below(r, SPAN);
}

static void end(void *self)
{
    struct random_order *r = self;
    for (size_t w = 0; w < (size_t)r->shape.slots * r->shape.warps_per_cta; w++)
        free(r->warps[w].held);
    for (uint32_t s = 0; s < r->shape.sms; s++) free(r->sms[s].lines);
    free(r->warps);
    free(r->busy);
    free(r->sms);
}

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct random_order *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->options = *(const struct random_options *)options;
    r->state = seed * UINT64_C(0xd1342543de82ef95) + 1;
    r->order = (struct emu_order){.self = r,
                                  .name = random_kind.name,
                                  .wants = EMU_WANT_LOADS | EMU_WANT_STORES,
                                  .begin = begin,
                                  .pick = pick,
                                  .place = place,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle,
                                  .end = end};
    return &r->order;
}

static void release(struct emu_order *o)
{
    free(o->self);
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
    .make = make,
    .free = release,
};
