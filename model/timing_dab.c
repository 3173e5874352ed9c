/* DAB in the timing model: which warp may put a reduction into a buffer, what buffers hold, and what a flush costs.
 *
 * Functions here are the hooks of `struct timing_order_hooks`. Sections of Chou et al. (MICRO 2020) stand with the
 * mechanisms in model/timing_order.h. The atomic buffer and the order of a flush are those of determinism/hardware/,
 * which the order itself uses for counting. */
#include "model/timing_internal.h"

#include "determinism/hardware/atomic_buffer.h"
#include "determinism/hardware/flush.h"

#include "ptx/isa.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR_ELEMENTS = ATOMIC_BUFFER_SECTOR / 4, WHOLE = 4 /* sectors of a line */ };

enum why {
    RUNS,
    WANTS,
    FULL,
    FLUSHED,
    ALONE
}; /* it is held: for its turn; a free entry; a flush; a flush and its turn */

struct reduction {    /* an entry of a buffer */
    uint32_t element; /* of 4 bytes */
    const struct ptx_op *op;
    bool from_dram;
};
struct buffer {
    struct reduction *entries;
    uint32_t count, cap;
};
struct hardware_warp {
    uint8_t why;           /* enum why */
    bool in_round, filled; /* GTAR; its reductions are in a buffer */
    uint32_t batch;
    double ready;
};
struct turns {      /* of a scheduler */
    uint32_t at;    /* place in its ring */
    bool round;     /* GTAR: one is being done */
    double granted; /* behind the last grant */
    double closed;  /* when nothing more could be added */
};
struct transaction {
    uint32_t sm, number, slice, line, rounds; /* number: among those of its SM at that slice */
    bool from_dram;
    double arrives;
};
struct dab {
    struct dab_options o;
    uint8_t *kinds;
    struct hardware_warp *warps;
    struct turns *turns;
    struct buffer *buffers;
    uint32_t buffer_count, usable;
    uint32_t *given; /* by slot: CTAs that it was given */
    uint32_t *sent;  /* by SM and slice */
    struct transaction *list;
    uint32_t count, cap;
    bool alone; /* an atomic is carried out now */
};

static struct dab *dab_of(const struct timing *c)
{
    return c->order;
}

static struct hardware_warp *at(const struct timing *c, const struct timing_warp *w)
{
    return &dab_of(c)->warps[timing_warp_index(c, w)];
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* ---- CTAs: CTA c of the trace to slot c modulo those that are used ------------------------------------------ */

static bool deal(struct timing *c, uint32_t slot, uint32_t *cta)
{
    struct dab *d = dab_of(c);
    const uint32_t sm = slot / c->slots, sms = d->usable / c->slots;
    if (sm >= sms) return false;
    *cta = d->given[slot] * d->usable + slot % c->slots * sms + sm;
    if (*cta >= c->t->cta_count) return false;
    d->given[slot]++;
    return true;
}

static void placed(struct timing *c, uint32_t slot)
{
    for (uint32_t k = 0; k < c->warps_per_cta; k++) {
        struct hardware_warp *h = &dab_of(c)->warps[slot * c->warps_per_cta + k];
        h->why = RUNS;
        h->in_round = h->filled = false;
        h->batch = dab_of(c)->given[slot];
    }
}

/* ---- buffers -------------------------------------------------------------------------------------------------- */

static struct buffer *buffer_of(const struct timing *c, const struct timing_warp *w)
{
    return &dab_of(c)->buffers[(dab_of(c)->o.level == DAB_WARP) ? timing_warp_index(c, w)
                                                                : w->scheduler];
}

static bool has(const struct buffer *b, uint32_t element, const struct ptx_op *op)
{
    for (uint32_t i = 0; i < b->count; i++)
        if (b->entries[i].element == element && b->entries[i].op == op) return true;
    return false;
}

/* The lanes of an access of the warp's instruction. false: there is no space for them, and nothing has changed. */
static bool add(const struct timing *c, const struct timing_warp *w, uint32_t inst,
                const uint32_t *words)
{
    const struct dab *d = dab_of(c);
    struct buffer *b = buffer_of(c, w);
    const uint32_t lanes = words[2] & TRACE_ELEMENTS ? TRACE_SIZE_LANES(words[2]) : 0,
                   had = b->count;
    const bool from_dram = w->cta_trace->lines[words[1]].from_dram;
    if (b->cap < had + lanes) {
        b->cap = had + 2 * lanes;
        b->entries = realloc(b->entries, b->cap * sizeof *b->entries);
        if (!b->entries) abort();
    }
    for (uint32_t l = 0; l < lanes; l++) {
        const struct reduction r = {words[3 + l], c->t->insts[inst].op, from_dram};
        if (!d->o.fusion || !has(b, r.element, r.op)) b->entries[b->count++] = r;
    }
    if (atomic_buffer_fits(had, b->count, d->o.entries)) return true;
    b->count = had;
    return false;
}

/* ---- turns ------------------------------------------------------------------------------------------------------
 * */

static struct timing_warp *in_ring(const struct timing *c, const struct timing_scheduler *s,
                                   uint32_t k)
{
    return &c->warps[s->warps[k % s->count]];
}

/* The batch whose atomics the scheduler does. */
static uint32_t batch_of(const struct timing *c, const struct timing_scheduler *s)
{
    uint32_t batch = UINT32_MAX;
    if (!dab_of(c)->o.batches) return batch;
    for (uint32_t k = 0; k < s->count; k++) {
        const struct timing_warp *w = in_ring(c, s, k);
        if (w->live && at(c, w)->batch < batch) batch = at(c, w)->batch;
    }
    return batch;
}

static bool may_want(const struct timing *c, const struct timing_warp *w, uint32_t batch)
{
    return w->live && at(c, w)->batch <= batch;
}

/* false: there is no space. */
static bool grant(struct timing *c, struct timing_warp *w, struct turns *t)
{
    struct hardware_warp *h = at(c, w);
    const double when = later(t->granted, h->ready);
    if (!dab_of(c)->o.independent && !add(c, w, w->inst, timing_global_words(c, w))) {
        h->why = FULL;
        t->closed = when;
        return false;
    }
    t->granted = when + 1;
    h->why = RUNS;
    h->in_round = false;
    h->filled = true;
    timing_release_warp(c, w, h->ready, when, TIMING_TURN);
    return true;
}

/* The token goes round; `past`: also past those that wait at barriers. */
static bool pass_token(struct timing *c, struct timing_scheduler *s, struct turns *t, bool past)
{
    const uint32_t batch = batch_of(c, s);
    bool any = false;
    for (uint32_t k = 0; k < s->count; t->at = (t->at + 1) % s->count) {
        struct timing_warp *w = in_ring(c, s, t->at);
        if (!may_want(c, w, batch) || (past && w->waits)) {
            k++;
            continue;
        }
        if (at(c, w)->why != WANTS || !grant(c, w, t)) break;
        any = true;
        k = 0;
    }
    return any;
}

/* A round begins when all want to reduce who can. */
static void begin_round(const struct timing *c, const struct timing_scheduler *s, struct turns *t,
                        bool past)
{
    const uint32_t batch = batch_of(c, s);
    bool any = false;
    for (uint32_t k = 0; k < s->count; k++) {
        const struct timing_warp *w = in_ring(c, s, k);
        if (!may_want(c, w, batch) || (past && w->waits)) continue;
        if (at(c, w)->why != WANTS) return;
        t->granted = later(t->granted, at(c, w)->ready);
        any = true;
    }
    for (uint32_t k = 0; any && k < s->count; k++)
        at(c, in_ring(c, s, k))->in_round = at(c, in_ring(c, s, k))->why == WANTS &&
                                            may_want(c, in_ring(c, s, k), batch);
    t->round = any;
}

static bool go_round(struct timing *c, struct timing_scheduler *s, struct turns *t, bool past)
{
    bool any = false;
    for (;;) {
        if (!t->round) begin_round(c, s, t, past);
        if (!t->round) return any;
        for (uint32_t k = 0; k < s->count; k++) {
            struct timing_warp *w = in_ring(c, s, k);
            if (!w->live || !at(c, w)->in_round) continue;
            if (at(c, w)->why != WANTS || !grant(c, w, t)) return any;
            any = true;
        }
        t->round = false;
    }
}

/* As they come. */
static bool let_all(struct timing *c, struct timing_scheduler *s, struct turns *t)
{
    const double from = t->granted;
    bool any = false;
    for (uint32_t k = 0; k < s->count; k++) {
        struct timing_warp *w = in_ring(c, s, k);
        if (w->live && at(c, w)->why == WANTS) any |= grant(c, w, t);
        t->granted = from;
    }
    return any;
}

/* Those of the scheduler whose turn it is go on. Whether any does. */
static bool settle(struct timing *c, uint32_t scheduler, bool past)
{
    struct dab *d = dab_of(c);
    struct timing_scheduler *s = &c->schedulers[scheduler];
    struct turns *t = &d->turns[scheduler];
    if ((d->o.level == DAB_WARP) || d->o.scheduler == DAB_ANY || s->strict) return let_all(c, s, t);
    if (d->o.scheduler == DAB_GWAT) return pass_token(c, s, t, past);
    if (d->o.scheduler == DAB_GTAR) return go_round(c, s, t, past);
    begin_round(c, s, t, past);
    s->strict = t->round; /* GTRR: from its first atomics on */
    return s->strict && let_all(c, s, t);
}

static void flush_cluster(struct timing *c, uint32_t sm, double now);

static void hold(struct timing_warp *w, struct hardware_warp *h, enum why why)
{
    h->why = (uint8_t)why;
    h->ready = *w->ready;
    *w->ready = TIMING_NEVER;
}

static void look(struct timing *c, struct timing_warp *w, double now)
{
    struct hardware_warp *h = at(c, w);
    const enum timing_kind kind = dab_of(c)->kinds[w->inst];
    (void)now;
    if (kind == TIMING_REDUCTION && timing_global_words(c, w)) {
        hold(w, h, WANTS);
        settle(c, w->scheduler, false);
    } else if ((kind == TIMING_FETCHING || kind == TIMING_STRONG) && timing_global_words(c, w))
        hold(w, h, ALONE);
    else if ((kind == TIMING_FENCE || w->class == PTX_COST_BARRIER) && h->filled) {
        hold(w, h, FLUSHED);
        if (dab_of(c)->o.independent) flush_cluster(c, w->sm, h->ready);
    }
}

static void ended(struct timing *c, struct timing_warp *w, double now)
{
    (void)now;
    settle(c, w->scheduler, false);
}

/* ---- flushes ------------------------------------------------------------------------------------------------------
 * */

/* The transaction of this buffer that takes the entry, too. NULL: none. */
static struct transaction *with_sector(struct dab *d, uint32_t from, const struct reduction *list,
                                       uint32_t at, const uint32_t *sectors)
{
    for (uint32_t i = from; d->o.coalescing && i < d->count; i++)
        if (sectors[i - from] == list[at].element / SECTOR_ELEMENTS) return &d->list[i];
    return NULL;
}

/* How many entries before it are of the same element: the slice does one after another. */
static uint32_t round_of(const struct reduction *list, uint32_t at)
{
    uint32_t n = 1;
    for (uint32_t i = 0; i < at; i++) n += list[i].element == list[at].element;
    return n;
}

static struct transaction *new_transaction(struct timing *c, uint32_t sm, const struct reduction *r)
{
    struct dab *d = dab_of(c);
    if (d->count == d->cap) {
        d->cap = d->cap ? 2 * d->cap : 1024;
        d->list = realloc(d->list, d->cap * sizeof *d->list);
        if (!d->list) abort();
    }
    const uint32_t line = r->element / (4 * SECTOR_ELEMENTS),
                   slice = timing_slice_of(&c->mem.l2_map, line);
    struct transaction *t = &d->list[d->count++];
    *t = (struct transaction){.sm = sm,
                              .number = d->sent[sm * c->m->slices + slice]++,
                              .slice = slice,
                              .line = line,
                              .rounds = 1,
                              .from_dram = r->from_dram};
    return t;
}

static void pack(struct timing *c, uint32_t sm, struct buffer *b)
{
    struct dab *d = dab_of(c);
    const uint32_t from = d->count, skip = atomic_buffer_first(d->o.offset, sm, b->count);
    uint32_t *sectors = timing_calloc(b->count, sizeof *sectors);
    for (uint32_t k = 0; k < b->count; k++) {
        const uint32_t i = (k + skip) % b->count;
        struct transaction *const t = with_sector(d, from, b->entries, i, sectors);
        if (!t) {
            (void)new_transaction(c, sm, &b->entries[i]);
            sectors[d->count - 1 - from] = b->entries[i].element / SECTOR_ELEMENTS;
        } else {
            const uint32_t rounds = d->o.fusion ? 1 : round_of(b->entries, i);
            if (rounds > t->rounds) t->rounds = rounds;
        }
    }
    b->count = 0;
    free(sectors);
}

/* SMs side by side. */
static int by_number(const void *a, const void *b)
{
    const struct transaction *x = a, *y = b;
    if (x->slice != y->slice) return x->slice < y->slice ? -1 : 1;
    return flush_turn_compare((struct flush_turn){x->number, x->sm},
                              (struct flush_turn){y->number, y->sm});
}
static int by_arrival(const void *a, const void *b)
{
    const struct transaction *x = a, *y = b;
    if (x->arrives != y->arrives) return x->arrives < y->arrives ? -1 : 1;
    return by_number(a, b);
}

/* The SMs whose next transaction waits, the earliest first: a binary heap. */
struct queue_head {
    double ready;
    uint32_t sm;
};

static bool goes_before(struct queue_head a, struct queue_head b)
{
    return a.ready != b.ready ? a.ready < b.ready : a.sm < b.sm;
}

/* heap[0] has become later: it goes down to its place. */
static void sift_down(struct queue_head *heap, uint32_t count)
{
    const struct queue_head moved = heap[0];
    uint32_t i = 0;
    for (uint32_t k; (k = 2 * i + 1) < count; i = k) {
        if (k + 1 < count && goes_before(heap[k + 1], heap[k])) k++;
        if (!goes_before(heap[k], moved)) break;
        heap[i] = heap[k];
    }
    heap[i] = moved;
}

/* They stand in `list` SM by SM. Those of an SM are in one queue before the crossbar: the first waits until its slice
 * takes it, and holds up those behind it for other slices. This is the congestion that offset flushing avoids (VI-B2). A
 * slice takes one in an interval. */
static void send_all(struct timing *c, double now)
{
    struct dab *d = dab_of(c);
    const double interval = c->m->l2_interval / c->mem.fraction, way = c->m->l2_latency / 2;
    uint32_t *next = timing_calloc(c->sms + 1, sizeof *next),
             *end = timing_calloc(c->sms, sizeof *end), count = 0;
    double *free_at = timing_calloc(c->m->slices, sizeof *free_at);
    struct queue_head *heap = timing_calloc(c->sms, sizeof *heap);
    for (uint32_t i = 0; i < d->count; i++) end[d->list[i].sm] = i + 1;
    for (uint32_t i = d->count; i-- > 0;) next[d->list[i].sm] = i;
    for (uint32_t sm = 0; sm < c->sms; sm++)
        if (end[sm]) heap[count++] = (struct queue_head){now, sm};
    while (count) {
        const uint32_t sm = heap[0].sm;
        struct transaction *t = &d->list[next[sm]++];
        double *taken = &free_at[t->slice];
        t->arrives = later(timing_send(c, sm, 1, heap[0].ready), *taken);
        *taken = t->arrives + interval;
        heap[0].ready = later(heap[0].ready, t->arrives - way);
        if (next[sm] == end[sm]) heap[0] = heap[--count];
        sift_down(heap, count);
    }
    free(next);
    free(end);
    free(free_at);
    free(heap);
}

/* It comes before its turn and waits in L2: what the slice does for it besides. */
static double queued(struct timing *c, const struct transaction *t)
{
    (void)timing_from_dram(c, t->slice, t->line, WHOLE, t->arrives);
    return 2 * c->m->l2_interval;
}

/* The slices carry them out, in the order of the list: when the last answer is back. */
static double carry_out(struct timing *c, double now)
{
    const struct dab *d = dab_of(c);
    double end = now, before = now, last = now; /* of the slice: when all so far have come */
    for (uint32_t i = 0; i < d->count; i++) {
        const struct transaction *t = &d->list[i];
        const bool turn = d->o.reorder && i && t[-1].slice == t->slice;
        if (!turn) last = now;
        const bool early = d->o.reorder && t->arrives < last;
        last = later(last, t->arrives);
        const double service = t->rounds * c->m->atomic.interval +
                               (early && d->o.queue == DAB_L2_QUEUE ? queued(c, t) : 0),
                     from = later(t->arrives, turn ? later(before, now) : now);
        before = timing_reserve(&c->mem.slice[t->slice], from, service / c->mem.fraction);
        double done = before + service;
        if (t->from_dram) done = timing_from_dram(c, t->slice, t->line, 1, done);
        end = later(end, done + c->m->atomic.latency + c->m->l2_latency / 2);
    }
    return end;
}

/* What one cluster sends while others go on: when the last answer is back. Others may need the slices before the last
 * transaction has come, and a resource is reserved in the order of time alone: so slices are reserved for when the first one
 * comes. */
static double carry_out_beside(struct timing *c, double now)
{
    const struct dab *d = dab_of(c);
    const double way = c->m->l2_latency / 2;
    double end = now;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct transaction *t = &d->list[i];
        const double service = t->rounds * c->m->atomic.interval / c->mem.fraction,
                     sent = timing_reserve(&c->mem.port_out[t->sm % c->mem.ports], now,
                                           1 / c->m->port_requests),
                     at = timing_reserve(&c->mem.slice[t->slice], now + way, service);
        double done = later(at, sent + way) + service;
        if (t->from_dram)
            done = later(done, timing_from_dram(c, t->slice, t->line, 1, at + service));
        end = later(end, done + c->m->atomic.latency + way);
    }
    return end;
}

/* Clusters announce to slices what to expect: when the last one knows. */
static double announce(struct timing *c, uint32_t first, uint32_t last, double now)
{
    double end = now;
    for (uint32_t sm = first; sm < last; sm++)
        if (sm < c->mem.ports) end = later(end, timing_send(c, sm, c->m->slices, now));
    return end;
}

/* The buffers of these SMs: when all answers are back. */
static double flush(struct timing *c, uint32_t first, uint32_t last, double now)
{
    struct dab *d = dab_of(c);
    const uint32_t each = d->buffer_count / c->sms;
    d->count = 0;
    memset(d->sent, 0, (size_t)c->sms * c->m->slices * sizeof *d->sent);
    for (uint32_t b = first * each; b < last * each; b++)
        if (d->buffers[b].count) pack(c, b / each, &d->buffers[b]);
    if (!d->count) return now;
    c->out->flushes++;
    const double announced = d->o.reorder ? announce(c, first, last, now) : now;
    double end;
    if (d->o.independent) end = carry_out_beside(c, now);
    else {
        send_all(c, now);
        qsort(d->list, d->count, sizeof *d->list, d->o.reorder ? by_number : by_arrival);
        end = carry_out(c, announced);
    }
    c->end = later(c->end, end);
    return d->o.overlap ? announced : end;
}

/* ---- when no warp can go on
 * ---------------------------------------------------------------------------------------- */

/* When nothing more could be added to the scheduler's buffers. */
static double closed(const struct timing *c, uint32_t scheduler)
{
    const struct dab *d = dab_of(c);
    const struct timing_scheduler *s = &c->schedulers[scheduler];
    double last = later(s->last, d->turns[scheduler].closed);
    for (uint32_t k = 0; k < s->count; k++) {
        const struct timing_warp *w = in_ring(c, s, k);
        if (w->live && at(c, w)->why == FULL && !(d->o.level == DAB_WARP))
            return d->turns[scheduler].closed;
        if (w->live && at(c, w)->why != RUNS) last = later(last, at(c, w)->ready);
    }
    return last;
}

static bool is_due(const struct timing *c, uint32_t first, uint32_t last)
{
    const struct dab *d = dab_of(c);
    const uint32_t each = d->buffer_count / c->sms;
    for (uint32_t b = first * each; b < last * each; b++)
        if (d->buffers[b].count) return true;
    for (uint32_t i = first * c->warps_per_sm; i < last * c->warps_per_sm; i++)
        if (c->warps[i].live && d->warps[i].why > WANTS) return true;
    return false;
}

static bool has_warps(const struct timing *c, const struct timing_scheduler *s)
{
    for (uint32_t k = 0; k < s->count; k++)
        if (c->warps[s->warps[k]].live) return true;
    return false;
}

static void account(struct timing *c, uint32_t scheduler, double begun, double end)
{
    struct timing_scheduler *s = &c->schedulers[scheduler];
    if (s->last < begun) {
        const enum timing_part waits = has_warps(c, s) ? TIMING_FULL : TIMING_IDLE;
        s->part[waits] += begun - s->last;
        if (c->lapse) time_lapse_part(c, scheduler, waits, s->last, begun);
        s->last = begun;
    }
    if (s->last < end) {
        s->part[TIMING_FLUSH] += end - s->last;
        if (c->lapse) time_lapse_part(c, scheduler, TIMING_FLUSH, s->last, end);
        s->last = end;
    }
}

static void go_on(struct timing *c, struct timing_warp *w, double now)
{
    struct hardware_warp *h = at(c, w);
    h->filled = false;
    if (!w->live) return;
    if (h->why == FULL) h->why = WANTS;
    if (h->why != FLUSHED) return;
    h->why = RUNS;
    timing_release_warp(c, w, h->ready, now, TIMING_FLUSH);
}

/* Those that wait to be alone, one after another. */
static void let_alone(struct timing *c, uint32_t first, uint32_t last, double now)
{
    double then = now;
    for (uint32_t i = first * c->warps_per_sm; i < last * c->warps_per_sm; i++) {
        struct timing_warp *w = &c->warps[i];
        struct hardware_warp *h = at(c, w);
        if (!w->live || h->why != ALONE) continue;
        const double begun = later(then, h->ready),
                     done = timing_access_memory(c, w, w->inst, begun).done;
        h->why = RUNS;
        then = begun + (done - begun) / c->mem.fraction;
        timing_release_warp(c, w, h->ready, then, TIMING_SERIAL);
    }
}

static void flush_some(struct timing *c, uint32_t first, uint32_t last)
{
    struct dab *d = dab_of(c);
    const uint32_t each = c->m->schedulers;
    double begun = 0;
    for (uint32_t s = first * each; s < last * each; s++) begun = later(begun, closed(c, s));
    const double end = flush(c, first, last, begun);
    if (c->lapse) time_lapse_mode(c, LAPSE_FLUSH, first, last - first, begun, end);
    for (uint32_t s = first * each; s < last * each; s++) {
        account(c, s, begun, end);
        d->turns[s].closed = d->turns[s].granted = end;
    }
    for (uint32_t i = first * c->warps_per_sm; i < last * c->warps_per_sm; i++)
        go_on(c, &c->warps[i], end);
    for (uint32_t s = first * each; s < last * each; s++) settle(c, s, false);
    let_alone(c, first, last, end);
}

/* NR-CIF (VI-B4): this SM's cluster flushes now, whatever its warps and others do. */
static void flush_cluster(struct timing *c, uint32_t sm, double now)
{
    struct dab *d = dab_of(c);
    const uint32_t size = d->o.sms_per_cluster, each = c->m->schedulers, first = sm / size * size,
                   last = first + size < c->sms ? first + size : c->sms;
    const double end = flush(c, first, last, now);
    if (c->lapse) time_lapse_mode(c, LAPSE_FLUSH, first, last - first, now, end);
    for (uint32_t s = first * each; s < last * each; s++)
        d->turns[s].granted = later(d->turns[s].granted, end);
    for (uint32_t i = first * c->warps_per_sm; i < last * c->warps_per_sm; i++)
        go_on(c, &c->warps[i], end);
    let_alone(c, first, last, end);
}

/* A reduction has gone to its buffer when it was granted. Where clusters are independent it goes there when it issues, so
 * that flushes come in the order of time. */
static bool access(struct timing *c, struct timing_warp *w, uint32_t inst, double now,
                   struct timing_access *a)
{
    (void)a;
    if (dab_of(c)->kinds[inst] != TIMING_REDUCTION) return false;
    if (!dab_of(c)->o.independent) return true;
    const uint32_t *words = w->trace->words + w->at;
    if (!add(c, w, inst, words)) {
        flush_cluster(c, w->sm, now);
        (void)add(c, w, inst, words);
    }
    at(c, w)->filled = true;
    return true;
}

static bool idle(struct timing *c)
{
    const uint32_t step = dab_of(c)->o.independent ? dab_of(c)->o.sms_per_cluster : c->sms;
    bool any = false;
    for (uint32_t s = 0; s < c->scheduler_count; s++) any |= settle(c, s, true);
    if (any) return true;
    for (uint32_t sm = 0; sm < c->sms; sm += step) {
        const uint32_t last = sm + step < c->sms ? sm + step : c->sms;
        if (!is_due(c, sm, last)) continue;
        flush_some(c, sm, last);
        any = true;
    }
    return any;
}

/* ---- launches
 * ------------------------------------------------------------------------------------------------------ */

static void begin(struct timing *c, const struct timing_order *o)
{
    struct dab *d = timing_calloc(1, sizeof *d);
    const uint32_t warps = c->sms * c->warps_per_sm,
                   part = (uint32_t)(o->dab.sms * c->mem.fraction + 0.5),
                   sms = o->dab.sms && part < c->sms ? (part ? part : 1) : c->sms;
    c->order = d;
    d->o = o->dab;
    d->kinds = timing_kinds(c->t);
    d->warps = timing_calloc(warps, sizeof *d->warps);
    d->turns = timing_calloc(c->scheduler_count, sizeof *d->turns);
    d->buffer_count = (d->o.level == DAB_WARP) ? warps : c->scheduler_count;
    d->buffers = timing_calloc(d->buffer_count, sizeof *d->buffers);
    d->usable = sms * c->slots;
    d->given = timing_calloc((size_t)c->sms * c->slots, sizeof *d->given);
    d->sent = timing_calloc((size_t)c->sms * c->m->slices, sizeof *d->sent);
    for (uint32_t s = 0; s < c->scheduler_count; s++)
        c->schedulers[s].strict = d->o.scheduler == DAB_SRR && !(d->o.level == DAB_WARP);
}

static void end(struct timing *c)
{
    struct dab *d = c->order;
    for (uint32_t i = 0; i < d->buffer_count; i++) free(d->buffers[i].entries);
    void *all[] = {d->kinds, d->warps, d->turns, d->buffers, d->given, d->sent, d->list, d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

const struct timing_order_hooks timing_dab_hooks = {.begin = begin,
                                                    .end = end,
                                                    .deal = deal,
                                                    .placed = placed,
                                                    .look = look,
                                                    .access = access,
                                                    .ended = ended,
                                                    .idle = idle};
