/* GPUDet in the timing model: when quanta end, and what write logs, commits and serial mode cost.
 *
 * Functions here are the hooks of `struct timing_order_hooks`. Sections of Jooybar's thesis (2013) stand with the
 * mechanisms in model/timing_order.h. The write log's Bloom filter and the Z unit are those of determinism/hardware/,
 * which the order itself uses for counting. */
#include "model/timing_internal.h"

#include "determinism/hardware/write_log.h"
#include "determinism/hardware/z_unit.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAP = 1 << 16, /* chunks of which depths are in L2, or locks are had: the last of those alike */
    DEPTH_LINES = 0x40000000u, /* as memory has depths */
    WHOLE = 4,                 /* sectors of a line */
    HEADER = 1,                /* sectors of a request for address, mask, depth */
};
#define LOG_LINES 0xc0000000u /* as L1 has logs */
#define TAKEN UINT32_MAX

enum why { RUNS, LIMIT, BARRIER, ATOMIC, OTHER }; /* parallel mode is over */

struct entry {
    uint32_t line;
    uint8_t sectors;
};
struct log {
    struct entry *entries;
    uint32_t count, cap, sent;
    uint64_t *bloom;
};
struct hardware_warp {
    uint8_t why;   /* enum why */
    bool stops;    /* behind the barrier that is complete */
    bool stored;   /* in the quantum, since its CTA began */
    uint32_t used; /* instructions of the quantum */
    double ready;  /* of one that is held */
    struct log log;
};
enum step { SEND, COMPARE, WRITE, LOCK, READ, STORE, UNLOCK };
struct request { /* an entry on its way: what comes next, and when */
    double when;
    uint32_t number; /* in the order in which they were made */
    uint8_t what;    /* enum step */
    uint32_t warp;   /* SEND: any of its SM */
    struct entry entry;
};
struct written { /* under locks: of a chunk, the store of the smallest depth in a quantum */
    uint32_t line, sectors, warp, quantum;
};
struct partition {
    double free; /* when its Z unit takes the next request */
    struct z_unit unit;
};
struct gpudet {
    struct gpudet_options o;
    double z_interval;
    struct bloom bloom; /* the shape of Bloom filters */
    uint8_t *kinds;
    struct hardware_warp *warps;
    uint32_t *pending, pending_count; /* CTAs that have not begun: places in the trace, TAKEN */
    uint32_t *share, stride;          /* by slot: place in `pending` of the next one */
    bool begins, serial, moved;
    struct partition *partitions;
    uint32_t *known;         /* chunks of which depths have been in L2, and one */
    uint32_t *locked;        /* by chunk: the one whose lock is had, and one */
    struct written *written; /* likewise */
    uint32_t *senders, *sender_count,
        *sender_at;           /* warps by SM that have entries; whose turn it is */
    struct request *requests; /* a heap, the earliest first */
    uint32_t request_count, request_cap, numbers;
    double end;   /* of the commit: when the last answer is back */
    double begun; /* the quantum */
};

static struct gpudet *gpudet_of(const struct timing *c)
{
    return c->order;
}

static struct hardware_warp *at(const struct timing *c, const struct timing_warp *w)
{
    return &gpudet_of(c)->warps[timing_warp_index(c, w)];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- CTAs ------------------------------------------------------------------------------------------------- */

/* In hardware's order of slots: the first of each SM, the second ... */
static uint32_t nth_slot(const struct timing *c, uint32_t n)
{
    return n % c->sms * c->slots + n / c->sms;
}

static void deal_shares(struct timing *c)
{
    struct gpudet *g = gpudet_of(c);
    uint32_t n = 0, rank = 0;
    for (uint32_t i = 0; i < g->pending_count; i++)
        if (g->pending[i] != TAKEN) g->pending[n++] = g->pending[i];
    g->pending_count = n;
    g->stride = c->sms * c->slots;
    for (uint32_t busy = 0; busy < 2; busy++)
        for (uint32_t s = 0; s < g->stride; s++)
            if ((c->ctas[nth_slot(c, s)].live != 0) == busy) g->share[nth_slot(c, s)] = rank++;
}

static bool deal(struct timing *c, uint32_t slot, uint32_t *cta)
{
    struct gpudet *g = gpudet_of(c);
    uint32_t *next = &g->share[slot];
    if (*next >= g->pending_count || (!g->o.dwp && !g->begins)) return false;
    *cta = g->pending[*next];
    g->pending[*next] = TAKEN;
    *next += g->stride;
    return true;
}

static void placed(struct timing *c, uint32_t slot)
{
    for (uint32_t k = 0; k < c->warps_per_cta; k++) {
        struct hardware_warp *h = &gpudet_of(c)->warps[slot * c->warps_per_cta + k];
        h->why = RUNS;
        h->stops = h->stored = false;
    }
}

/* ---- where parallel mode ends ------------------------------------------------------------------------------ */

/* At the instruction itself. */
static enum why stops_at(const struct timing *c, const struct timing_warp *w)
{
    const struct gpudet *g = gpudet_of(c);
    const enum timing_kind kind = g->kinds[w->inst];
    if (kind == TIMING_PLAIN) return RUNS;
    if (kind == TIMING_FENCE) return OTHER;
    if (!timing_global_words(c, w)) return RUNS;
    if (kind == TIMING_REDUCTION || kind == TIMING_FETCHING) return ATOMIC;
    if (kind == TIMING_STRONG) return OTHER;
    return write_log_is_full(at(c, w)->log.count, g->o.log) ? OTHER : RUNS;
}

static void hold(struct timing *c, struct timing_warp *w, enum why why)
{
    struct hardware_warp *h = at(c, w);
    h->why = (uint8_t)why;
    h->ready = *w->ready;
    *w->ready = TIMING_NEVER;
    gpudet_of(c)->moved = true;
}

static void look(struct timing *c, struct timing_warp *w, double now)
{
    struct hardware_warp *h = at(c, w);
    (void)now;
    enum why why = h->stops ? BARRIER : RUNS;
    if (!why && w->entered && h->used >= gpudet_of(c)->o.quantum) why = LIMIT;
    h->stops = false;
    if (!why) h->used += w->entered, why = stops_at(c, w);
    if (why) hold(c, w, why);
}

static void barrier(struct timing *c, uint32_t slot)
{
    struct gpudet *g = gpudet_of(c);
    bool stored = false;
    for (uint32_t k = 0; k < c->warps_per_cta; k++)
        stored |= g->warps[slot * c->warps_per_cta + k].stored;
    g->moved = true;
    if (g->o.bta && !stored) return;
    for (uint32_t k = 0; k < c->warps_per_cta; k++)
        g->warps[slot * c->warps_per_cta + k].stops = c->warps[slot * c->warps_per_cta + k].waits;
}

static void ended(struct timing *c, struct timing_warp *w, double now)
{
    (void)w, (void)now;
    gpudet_of(c)->moved = true;
    gpudet_of(c)->begins = false;
}

/* ---- write logs ---------------------------------------------------------------------------------------------- */

static void append(const struct gpudet *g, struct log *l, const struct trace_line *n)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->entries = realloc(l->entries, l->cap * sizeof *l->entries);
        if (!l->entries) abort();
    }
    if (!l->bloom) l->bloom = timing_calloc(bloom_words(g->o.bloom), sizeof *l->bloom);
    l->entries[l->count++] = (struct entry){n->line, n->sectors};
    bloom_add(&g->bloom, l->bloom, n->line);
}

static void forget(const struct gpudet *g, struct log *l)
{
    if (!l->count) return;
    memset(l->bloom, 0, bloom_words(g->o.bloom) * sizeof *l->bloom);
    l->count = l->sent = 0;
}

/* The entry's data, and its address and mask. */
static void store(struct timing *c, struct timing_warp *w, const struct trace_line *n, double now)
{
    const struct gpudet *g = gpudet_of(c);
    struct hardware_warp *h = at(c, w);
    const double data = c->m->l1.whole ? 1 : timing_popcount(n->sectors) / c->m->l1.sectors;
    const uint32_t line = timing_warp_index(c, w) * g->o.log + h->log.count;
    timing_reserve(&c->mem.load_store[w->sm], now, data + 1);
    timing_fill_l1(c, w->sm, LOG_LINES | (2 * line & ~LOG_LINES), now);
    timing_fill_l1(c, w->sm, LOG_LINES | ((2 * line + 1) & ~LOG_LINES), now);
    append(g, &h->log, n);
    h->stored = true;
}

/* Whether the warp itself has stored to all of these sectors. */
static bool holds(const struct log *l, const struct trace_line *n)
{
    uint32_t left = n->sectors;
    for (uint32_t i = l->count; left && i-- > 0;)
        if (l->entries[i].line == n->line) left &= ~(uint32_t)l->entries[i].sectors;
    return !left;
}

static void search(struct timing *c, const struct timing_warp *w, uint32_t entries, double now,
                   struct timing_access *a)
{
    const double begun = timing_reserve(&c->mem.load_store[w->sm], now, entries),
                 done = begun + entries + c->m->l1.latency;
    if (done > a->done) *a = (struct timing_access){done, TIMING_LOG};
}

static bool access(struct timing *c, struct timing_warp *w, uint32_t inst, double now,
                   struct timing_access *a)
{
    const struct gpudet *g = gpudet_of(c);
    const uint32_t *words = w->trace->words + w->at;
    const struct trace_line *n = w->cta_trace->lines + words[1];
    const uint32_t count = TRACE_SIZE_N(words[2]);
    const struct log *l = &at(c, w)->log;
    uint32_t walked = 0;
    bool all = true;
    (void)inst;
    if (g->serial || !count || n->how == COUNT_ATOMIC) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (n[i].how == COUNT_STORE) store(c, w, &n[i], now);
        else if (!l->count || !bloom_may_have(&g->bloom, l->bloom, n[i].line)) all = false;
        else walked += l->count, all &= holds(l, &n[i]);
    }
    if (walked) search(c, w, walked, now, a);
    return all;
}

/* ---- commit mode ----------------------------------------------------------------------------------------------- */

/* When the chunk's depths are in L2: the first time they come from DRAM. */
static double in_l2(struct timing *c, uint32_t slice, uint32_t line, double now)
{
    uint32_t *known = &gpudet_of(c)->known[timing_hash(line) % MAP];
    const bool is_new = *known != line + 1;
    *known = line + 1;
    return is_new ? timing_from_dram(c, slice, line | DEPTH_LINES, WHOLE, now) : now;
}

/* When the depths that a Z cache lacks are there. The line goes to L2 first if another chunk's depths are in it. */
static double fetch_depths(struct timing *c, uint32_t slice, uint32_t line, bool evicts, double now)
{
    const struct gpudet *g = gpudet_of(c);
    const double sectors = evicts ? 2 * WHOLE : WHOLE, there = now + g->o.fetch * g->z_interval;
    timing_reserve(&c->mem.slice[slice], now, sectors * c->m->l2_interval / c->mem.fraction);
    return later(there, in_l2(c, slice, line, now));
}

/* When the unit is done with it. */
static double compare(struct timing *c, struct partition *p, uint32_t slice, uint32_t line,
                      double now)
{
    struct gpudet *g = gpudet_of(c);
    const double cycle = g->z_interval,
                 begun = timing_reserve(&p->free, z_unit_admit(&p->unit, now),
                                        cycle / c->mem.fraction);
    const struct z_lookup z = z_unit_lookup(&p->unit, line, begun);
    const double start = z.hit ? z.start : fetch_depths(c, slice, line, z.evicted, z.start);
    z_unit_complete(&p->unit, z.line, begun, start + cycle);
    return start + cycle;
}

static double written(struct timing *c, uint32_t slice, uint32_t sectors, double now)
{
    const double time = sectors * c->m->l2_interval;
    return timing_reserve(&c->mem.slice[slice], now, time / c->mem.fraction) + time +
           c->m->l2_latency / 2;
}

static bool before(const struct request *a, const struct request *b)
{
    return a->when != b->when ? a->when < b->when : a->number < b->number;
}

static void push(struct gpudet *g, enum step what, double when, uint32_t warp, struct entry e)
{
    if (g->request_count == g->request_cap) {
        g->request_cap = g->request_cap ? 2 * g->request_cap : 256;
        g->requests = realloc(g->requests, g->request_cap * sizeof *g->requests);
        if (!g->requests) abort();
    }
    const struct request r = {when, g->numbers++, (uint8_t)what, warp, e};
    uint32_t i = g->request_count++;
    for (; i && before(&r, &g->requests[(i - 1) / 2]); i = (i - 1) / 2)
        g->requests[i] = g->requests[(i - 1) / 2];
    g->requests[i] = r;
}

static struct request pop(struct gpudet *g)
{
    const struct request first = g->requests[0], last = g->requests[--g->request_count];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < g->request_count; i = k) {
        if (k + 1 < g->request_count && before(&g->requests[k + 1], &g->requests[k])) k++;
        if (!before(&g->requests[k], &last)) break;
        g->requests[i] = g->requests[k];
    }
    g->requests[i] = last;
    return first;
}

/* The SM's next entry, of its warps in turn, is read from L1 and goes to the partition. */
static void send_next(struct timing *c, struct gpudet *g, const struct request *r)
{
    const uint32_t sm = r->warp / c->warps_per_sm;
    uint32_t *senders = g->senders + sm * c->warps_per_sm, *count = &g->sender_count[sm];
    if (!*count) return;
    const uint32_t at = g->sender_at[sm] % *count, warp = senders[at];
    struct log *l = &g->warps[warp].log;
    const struct entry e = l->entries[l->sent++];
    if (l->sent == l->count) senders[at] = senders[--*count];
    else g->sender_at[sm] = at + 1;
    const double read = timing_reserve(&c->mem.load_store[sm], r->when, 2);
    push(g, COMPARE,
         timing_send(c, sm, timing_popcount(e.sectors) + HEADER, read + c->m->l1.latency), warp, e);
    push(g, SEND, c->mem.load_store[sm], warp, e);
}

/* To L2 and back. */
static double trip(struct timing *c, uint32_t sm, uint32_t slice, uint32_t sectors, double service,
                   double now)
{
    const double there = timing_send(c, sm, 1, now),
                 done = timing_reserve(&c->mem.slice[slice], there, service / c->mem.fraction) +
                        service;
    return timing_reserve(&c->mem.port_in[sm % c->mem.ports], done, sectors / c->m->port_sectors) +
           c->m->l2_latency / 2;
}

/* Whether a store of a smaller depth, by a warp before this one, to all of these sectors has been committed in this quantum. */
static bool is_covered(const struct timing *c, const struct gpudet *g, const struct request *r)
{
    const struct written *w = &g->written[timing_hash(r->entry.line) % MAP];
    return w->line == r->entry.line && w->quantum == c->out->quanta && w->warp < r->warp &&
           !(r->entry.sectors & ~w->sectors);
}

static void note_written(const struct timing *c, struct gpudet *g, const struct request *r)
{
    struct written *w = &g->written[timing_hash(r->entry.line) % MAP];
    if (w->line == r->entry.line && w->quantum == c->out->quanta && w->warp < r->warp) return;
    *w = (struct written){r->entry.line, r->entry.sectors, r->warp, (uint32_t)c->out->quanta};
}

/* The warp's next entry begins at this time. */
static void begin_next(struct gpudet *g, uint32_t warp, double now)
{
    struct log *l = &g->warps[warp].log;
    if (l->sent == l->count) return;
    push(g, LOCK, now, warp, l->entries[l->sent]);
    l->sent++;
}

/* Whoever finds the lock taken tries again when the answer has come. */
static void try_lock(struct timing *c, struct gpudet *g, const struct request *r, uint32_t slice)
{
    uint32_t *owner = &g->locked[timing_hash(r->entry.line) % MAP];
    const double answer = trip(c, r->warp / c->warps_per_sm, slice, 1, c->m->atomic.interval,
                               r->when);
    if (g->o.losers == GPUDET_SKIP && is_covered(c, g, r)) {
        g->end = later(g->end, answer);
        begin_next(g, r->warp, answer);
        return;
    }
    const bool free = *owner != r->entry.line + 1;
    if (free) *owner = r->entry.line + 1;
    push(g, free ? READ : LOCK, answer, r->warp, r->entry);
}

static void unlock(struct timing *c, struct gpudet *g, const struct request *r)
{
    g->locked[timing_hash(r->entry.line) % MAP] = 0;
    note_written(c, g, r);
    g->end = later(g->end, r->when + c->m->l2_latency / 2);
    begin_next(g, r->warp, r->when);
}

static void go_step(struct timing *c, const struct request *r)
{
    struct gpudet *g = gpudet_of(c);
    const uint32_t slice = timing_slice_of(&c->mem.l2_map, r->entry.line),
                   sm = r->warp / c->warps_per_sm, sectors = timing_popcount(r->entry.sectors);
    struct partition *p = &g->partitions[slice / (c->m->slices / c->m->channels)];
    switch ((enum step)r->what) {
    case SEND: send_next(c, g, r); break;
    case COMPARE:
        push(g, WRITE, compare(c, p, slice, r->entry.line, r->when), r->warp, r->entry);
        break;
    case WRITE: g->end = later(g->end, written(c, slice, sectors, r->when)); break;
    case LOCK: try_lock(c, g, r, slice); break;
    case READ:
        push(g, STORE,
             later(trip(c, sm, slice, WHOLE, WHOLE * c->m->l2_interval, r->when),
                   in_l2(c, slice, r->entry.line, r->when) + c->m->l2_latency / 2),
             r->warp, r->entry);
        break;
    case STORE: /* data, depths, and the lock behind them */
        push(g, UNLOCK, timing_send(c, sm, sectors + WHOLE + 1, r->when), r->warp, r->entry);
        break;
    case UNLOCK: unlock(c, g, r); break;
    }
}

/* Who has entries, and where they begin. */
static void line_up(struct timing *c, double now)
{
    struct gpudet *g = gpudet_of(c);
    const struct entry none = {0};
    memset(g->sender_count, 0, c->sms * sizeof *g->sender_count);
    for (uint32_t i = 0; i < c->sms * c->warps_per_sm; i++) {
        const struct log *l = &g->warps[i].log;
        const uint32_t sm = i / c->warps_per_sm;
        if (!l->count) continue;
        if (g->o.commit == GPUDET_LOCKS)
            for (uint32_t k = 0; k < g->o.overlap && k < l->count; k++)
                begin_next(g, i, now + c->m->l1.latency);
        else if (!g->sender_count[sm]) push(g, SEND, now, i, none);
        g->senders[sm * c->warps_per_sm + g->sender_count[sm]++] = i;
    }
}

/* When the last answer is back. */
static double commit(struct timing *c, double now)
{
    struct gpudet *g = gpudet_of(c);
    g->end = now;
    line_up(c, now);
    while (g->request_count) {
        const struct request r = pop(g);
        go_step(c, &r);
    }
    timing_empty_l1(c);
    return g->end;
}

/* ---- serial mode -------------------------------------------------------------------------------------------------
 * */

/* When all SMs know that a mode is over. */
static double behind_barrier(const struct timing *c, double now)
{
    return now + gpudet_of(c)->o.barrier;
}

static double carry_out(struct timing *c, double now)
{
    struct gpudet *g = gpudet_of(c);
    double end = now, begun = now;
    uint32_t last = UINT32_MAX;
    g->serial = true;
    for (uint32_t i = 0; i < c->sms * c->warps_per_sm; i++) {
        struct timing_warp *w = &c->warps[i];
        if (g->warps[i].why != ATOMIC) continue;
        if (g->o.serial != GPUDET_CU || w->sm != last) begun = end;
        last = w->sm;
        end = later(end, timing_access_memory(c, w, w->inst, begun).done);
    }
    g->serial = false;
    return last == UINT32_MAX ? now : behind_barrier(c, now + (end - now) / c->mem.fraction);
}

/* ---- quanta
 * -------------------------------------------------------------------------------------------------------- */

static double parallel_end(const struct timing *c)
{
    double end = c->end;
    for (uint32_t s = 0; s < c->scheduler_count; s++) end = later(end, c->schedulers[s].last);
    for (uint32_t i = 0; i < c->sms * c->warps_per_sm; i++)
        if (gpudet_of(c)->warps[i].why == ATOMIC) end = later(end, gpudet_of(c)->warps[i].ready);
    return end;
}

static bool has_warps(const struct timing *c, const struct timing_scheduler *s)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (c->warps[s->warps[k]].live) return true;
    return false;
}

static void account_lapse(struct timing *c, uint32_t scheduler, double parallel, double committed,
                          double end)
{
    const struct timing_scheduler *s = &c->schedulers[scheduler];
    const double announced = parallel + gpudet_of(c)->o.barrier;
    time_lapse_part(c, scheduler, has_warps(c, s) ? TIMING_QUANTUM : TIMING_IDLE, s->last,
                    parallel);
    time_lapse_part(c, scheduler, TIMING_QUANTUM, parallel, announced);
    time_lapse_part(c, scheduler, TIMING_COMMIT, announced, committed);
    time_lapse_part(c, scheduler, TIMING_SERIAL, committed, end);
}

static void account(struct timing *c, double parallel, double committed, double end)
{
    const double barrier = gpudet_of(c)->o.barrier;
    for (uint32_t i = 0; i < c->scheduler_count; i++) {
        struct timing_scheduler *s = &c->schedulers[i];
        s->part[has_warps(c, s) ? TIMING_QUANTUM : TIMING_IDLE] += parallel - s->last;
        s->part[TIMING_QUANTUM] += barrier;
        s->part[TIMING_COMMIT] += committed - (parallel + barrier);
        s->part[TIMING_SERIAL] += end - committed;
        if (c->lapse) account_lapse(c, i, parallel, committed, end);
        s->last = end;
    }
    if (c->lapse) {
        time_lapse_mode(c, LAPSE_PARALLEL, 0, c->sms, gpudet_of(c)->begun, parallel);
        time_lapse_mode(c, LAPSE_COMMIT, 0, c->sms, parallel, committed);
        time_lapse_mode(c, LAPSE_SERIAL, 0, c->sms, committed, end);
    }
    c->end = gpudet_of(c)->begun = end;
}

static void go_on(struct timing *c, struct timing_warp *w, double now)
{
    struct hardware_warp *h = at(c, w);
    const enum why was = h->why;
    h->why = RUNS;
    if (was == RUNS) return;
    if (was == LIMIT || was == BARRIER) {
        h->used = w->entered;
        h->why = (uint8_t)stops_at(c, w);
        gpudet_of(c)->moved |= h->why != RUNS;
    }
    if (h->why == RUNS) timing_release_warp(c, w, h->ready, now, TIMING_QUANTUM);
}

static void begin_quantum(struct timing *c, double now)
{
    struct gpudet *g = gpudet_of(c);
    g->moved = false;
    for (uint32_t i = 0; i < c->sms * c->warps_per_sm; i++) {
        g->warps[i].used = 0;
        g->warps[i].stored = false;
        forget(g, &g->warps[i].log);
        go_on(c, &c->warps[i], now);
    }
    deal_shares(c);
    g->begins = true;
    for (uint32_t s = 0; s < c->sms * c->slots; s++)
        if (!c->ctas[nth_slot(c, s)].live) timing_place_cta(c, nth_slot(c, s), now, TIMING_START);
    g->begins = false;
}

static bool idle(struct timing *c)
{
    if (!gpudet_of(c)->moved) return false;
    c->out->quanta++;
    const double parallel = parallel_end(c),
                 committed = behind_barrier(c, commit(c, behind_barrier(c, parallel))),
                 end = carry_out(c, committed);
    account(c, parallel, committed, end);
    begin_quantum(c, end);
    return true;
}

/* ---- launches ----------------------------------------------------------------------------------------------------
 * */

static void begin(struct timing *c, const struct timing_order *o)
{
    struct gpudet *g = timing_calloc(1, sizeof *g);
    const uint32_t warps = c->sms * c->warps_per_sm;
    c->order = g;
    g->o = o->gpudet;
    if (!g->o.overlap) g->o.overlap = 1; /* a trace of a version without this option */
    g->z_interval = o->z_interval;
    g->bloom = bloom_of(g->o.bloom, g->o.subarrays, BLOOM_HASH_LINE);
    g->kinds = timing_kinds(c->t);
    g->warps = timing_calloc(warps, sizeof *g->warps);
    g->senders = timing_calloc(warps, sizeof *g->senders);
    g->pending = timing_calloc(c->t->cta_count, sizeof *g->pending);
    g->pending_count = c->t->cta_count;
    for (uint32_t i = 0; i < g->pending_count; i++) g->pending[i] = i;
    g->share = timing_calloc((size_t)c->sms * c->slots, sizeof *g->share);
    g->partitions = timing_calloc(c->m->channels, sizeof *g->partitions);
    for (uint32_t p = 0; p < c->m->channels; p++)
        z_unit_init(&g->partitions[p].unit, g->o.zcache, g->o.ways, g->o.requests, true);
    g->known = timing_calloc(MAP, sizeof *g->known);
    g->locked = timing_calloc(MAP, sizeof *g->locked);
    g->written = timing_calloc(MAP, sizeof *g->written);
    g->sender_count = timing_calloc(c->sms, sizeof *g->sender_count);
    g->sender_at = timing_calloc(c->sms, sizeof *g->sender_at);
    deal_shares(c);
    g->begins = true;
}

static void end(struct timing *c)
{
    struct gpudet *g = c->order;
    for (uint32_t i = 0; i < c->sms * c->warps_per_sm; i++) {
        free(g->warps[i].log.entries);
        free(g->warps[i].log.bloom);
    }
    for (uint32_t p = 0; p < c->m->channels; p++) z_unit_free(&g->partitions[p].unit);
    void *all[] = {g->kinds, g->warps,      g->senders, g->sender_count, g->sender_at, g->pending,
                   g->share, g->partitions, g->known,   g->locked,       g->written,   g->requests,
                   g};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

const struct timing_order_hooks timing_gpudet_hooks = {.begin = begin,
                                                       .end = end,
                                                       .deal = deal,
                                                       .placed = placed,
                                                       .look = look,
                                                       .access = access,
                                                       .barrier = barrier,
                                                       .ended = ended,
                                                       .idle = idle};
