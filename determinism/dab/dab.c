/* The order of determinism/dab/dab.h. */
#define _GNU_SOURCE
#include "determinism/dab/dab.h"

#include "base/rng.h"
#include "determinism/dab/internal.h"
#include "determinism/orders.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONG = 256, /* steps of a burst, at most */
    MOST_VAIN = 1 << 20,
    PATIENCE = 1 << 7, /* flushes at which nothing gets on: then there are no batches any more */
    MOST_MISSES = 64,  /* of a wait at an mbarrier: then its time is up */
    RETRY = 1 << 10,   /* picks before those who wait so are tried again */
    MOST_STAY = 16,    /* picks between two choices */
    MOST_MOODS = 64,   /* CTAs between two choices */
    COMPANIES = 9,
    LOOK_ROWS = 2,  /* in a chain: so far ahead the host fetches registers, */
    LOOK_AHEAD = 5, /* and what it takes to find them */
};

/* Instructions are issued in strict order, by some schedulers at least. */
static bool is_strict(const struct dab *d)
{
    return d->options.level == DAB_SCHEDULER && d->order.step == EMU_STEP_INSTRUCTION;
}

/* ---- sleeping --------------------------------------------------------------------------------------- */

static struct emu_warp who_is(const struct dab_warp *w)
{
    return (struct emu_warp){.cta = w->cta, .warp = w->warp, .sm = w->sm, .slot = w->slot};
}

static void wake(struct dab *d, const struct dab_warp *w)
{
    const struct emu_warp who = who_is(w);
    emu_machine_wake(d->m, &who);
}

/* `full`, `shared`, `pending` or `spins` is about to be set. */
static void sleeps(struct dab *d, const struct dab_warp *w)
{
    const size_t at = (size_t)(w - d->warps);
    d->sleeping[at / 64] |= UINT64_C(1) << at % 64;
}

/* The first from `at` on that sleeps so; their number: none. */
static uint32_t next_sleeping(const struct dab *d, uint32_t at)
{
    while (at < d->warp_count) {
        const uint64_t rest = d->sleeping[at / 64] >> at % 64;
        if (rest) return at + (uint32_t)__builtin_ctzll(rest);
        at = (at | 63) + 1;
    }
    return d->warp_count;
}

static void set_full(struct dab *d, struct dab_warp *w)
{
    sleeps(d, w);
    d->full += !w->full;
    w->full = true;
}

static void set_pending(struct dab *d, struct dab_warp *w, uint8_t why, bool alone)
{
    sleeps(d, w);
    d->stirred = true;
    d->pending += !w->pending;
    d->pending_for[why]++;
    if (w->pending) d->pending_for[w->why]--;
    w->pending = true;
    w->why = why;
    w->alone = alone;
}

void dab_wake(struct dab *d, struct dab_warp *w)
{
    const size_t at = (size_t)(w - d->warps);
    d->full -= w->full;
    d->shared -= w->shared;
    d->spinning -= w->spins;
    d->sleeping[at / 64] &= ~(UINT64_C(1) << at % 64);
    if (w->pending) {
        d->pending--;
        d->pending_for[w->why]--;
        dab_touch(d, &d->scheds[w->sched]);
    }
    w->wants = w->full = w->shared = w->pending = w->spins = w->chained = false;
    if (w == d->now) d->now = NULL;
    else wake(d, w);
}

/* What it was about to do is not done; unless that it waits makes it its turn. */
static enum emu_verdict asleep(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *s = &d->scheds[w->sched];
    const bool strict = s->strict;
    s->issued = false;
    d->now = w;
    dab_settle(d, w);
    const bool goes = !d->now;
    d->now = NULL;
    if (!goes) return EMU_SLEEP;
    if (s->strict == strict) return EMU_PROCEED;
    d->late = w; /* the round robin begins, and somebody else may be first */
    return EMU_SLEEP;
}

static bool wake_late(struct dab *d)
{
    if (!d->late) return false;
    wake(d, d->late);
    d->late = NULL;
    return true;
}

/* Another piece of an instruction that was told of and goes on. */
static bool is_told(const struct dab_warp *w, const struct emu_access *a)
{
    return w->told_at == a->who->serial + 1 && w->told_pc == a->pc;
}
static void tell(struct dab_warp *w, const struct emu_access *a)
{
    w->told_at = a->who->serial + 1;
    w->told_pc = a->pc;
}

/* ---- what waits for a flush ------------------------------------------------------------------------- */

/* The host fetches what those behind the next in the chain will look at. */
static void look_ahead(const struct dab *d)
{
    for (uint32_t n = LOOK_ROWS; n <= LOOK_AHEAD && d->chain_at + n < d->chain_count;
         n += LOOK_AHEAD - LOOK_ROWS) {
        const struct emu_warp who = who_is(&d->warps[d->chain[d->chain_at + n]]);
        emu_machine_prefetch(d->m, &who, n == LOOK_ROWS);
    }
}

/* The next one of those that are done one after another. */
static bool grant_next(struct dab *d)
{
    while (d->chain_at < d->chain_count) {
        struct dab_warp *w = &d->warps[d->chain[d->chain_at++]];
        if (!w->pending) continue;
        w->granted = true;
        look_ahead(d);
        dab_wake(d, w);
        return true;
    }
    return false;
}

/* Whether the warp may do now what is done in a fixed order. */
static bool in_order(struct dab *d, struct dab_warp *w)
{
    if (!w->granted) {
        set_pending(d, w, DAB_ATOM, true);
        return false;
    }
    w->granted = false;
    d->counts.ordered++;
    grant_next(d);
    return true;
}

/* Fences and barriers. */
static enum emu_verdict fence(struct dab *d, struct dab_warp *w, uint8_t why)
{
    if (w->filled != d->interval) return EMU_PROCEED;
    set_pending(d, w, why, false);
    return asleep(d, w);
}

/* ---- accesses --------------------------------------------------------------------------------------- */

static void flush_cluster(struct dab *d, uint32_t sm);

static void hold(struct dab *d, const struct dab_buffer *b)
{
    const size_t at = (size_t)(b - d->buffers);
    d->holding[at / 64] |= UINT64_C(1) << at % 64;
}

static bool add(struct dab *d, struct dab_buffer *b, const struct emu_access *a, uint32_t most,
                uint32_t *fused)
{
    return d->by_sector ? dab_sectors_add(b, &d->index, a, most, d->options.fusion)
                        : dab_buffer_add(b, a, most, d->options.fusion, fused);
}

static enum emu_verdict reduce(struct dab *d, struct dab_warp *w, const struct emu_access *a)
{
    struct dab_buffer *b = dab_buffer_of(d, w);
    const bool piece = is_told(w, a);
    uint32_t fused = 0, before = b->count;
    d->stirred = true;
    if (!piece && !dab_may_reduce(d, w)) {
        w->wants = true;
        if (asleep(d, w) == EMU_SLEEP) {
            d->counts.turns++;
            return EMU_SLEEP;
        }
    }
    if (!add(d, b, a, piece ? UINT32_MAX : d->options.entries, &fused)) {
        if (!d->options.independent) {
            w->wants = true;
            set_full(d, w);
            return asleep(d, w);
        }
        flush_cluster(d, w->sm);
        before = 0;
        add(d, b, a, UINT32_MAX, &fused);
    }
    tell(w, a);
    d->counts.fused += fused;
    d->held += b->count - before;
    if (!before) hold(d, b);
    d->counts.reductions += emu_lanes_of(a->lanes);
    w->filled = d->interval;
    if (!piece) dab_reduced(d, w);
    return EMU_DONE;
}

/* ---- shared memory: the warps of a crew reach the same. They are those of a CTA; of a cluster, whose CTAs are in
 * slots side by side (unless they are anywhere, and nothing is promised) ---------------------------------- */

static uint32_t crew_slots(const struct dab *d)
{
    return d->fixed ? d->shape.cluster : 1;
}
static uint32_t crew_of(const struct dab *d, uint32_t slot) /* its first slot */
{
    return slot - slot % crew_slots(d);
}
static struct dab_warp *in_crew(const struct dab *d, uint32_t crew, uint32_t i)
{
    if (crew_slots(d) == 1) return &d->warps[d->first[crew] + i];
    return &d->warps[d->first[crew + i / d->shape.warps_per_cta] + i % d->shape.warps_per_cta];
}

/* The turn goes to the next that has not ended. */
static void pass_shared(struct dab *d, uint32_t crew)
{
    uint32_t *turn = &d->shared_turn[crew];
    const uint32_t warps = crew_slots(d) * d->shape.warps_per_cta;
    for (uint32_t n = 0; n < warps; n++, *turn = (*turn + 1) % warps) {
        struct dab_warp *w = in_crew(d, crew, *turn);
        if (!w->lives) continue;
        if (w->shared) dab_wake(d, w);
        return;
    }
}

static enum emu_verdict shared(struct dab *d, struct dab_warp *w, const struct emu_access *a)
{
    const uint32_t warps = crew_slots(d) * d->shape.warps_per_cta;
    if (d->shape.shared_commutes || warps == 1) return EMU_PROCEED;
    if (is_told(w, a)) return EMU_PROCEED;
    const uint32_t crew = crew_of(d, a->who->slot),
                   i = (a->who->slot - crew) * d->shape.warps_per_cta + a->who->warp;
    if (d->shared_turn[crew] != i) {
        sleeps(d, w);
        d->shared += !w->shared;
        w->shared = true;
        d->counts.shared++;
        d->scheds[w->sched].issued = false;
        return EMU_SLEEP;
    }
    tell(w, a);
    d->shared_turn[crew] = (i + 1) % warps;
    pass_shared(d, crew);
    return EMU_PROCEED;
}

static enum emu_verdict access(void *self, const struct emu_access *a)
{
    struct dab *d = self;
    struct dab_warp *w = dab_warp(d, a->who);
    const bool async = a->flags & EMU_ASYNC, stays = a->kind == EMU_RED || a->kind == EMU_ATOMIC;
    if (async && !stays) return EMU_PROCEED;
    if (a->space != PTX_SPACE_GLOBAL) return shared(d, w, a);
    if (!async && (a->kind == EMU_RED || (stays && a->flags & EMU_DEAD_RESULT)))
        return reduce(d, w, a);
    if (is_told(w, a)) return EMU_PROCEED;
    if (!in_order(d, w)) return asleep(d, w);
    tell(w, a);
    return EMU_PROCEED;
}

/* ---- fences, barriers, ends ------------------------------------------------------------------------- */

static void cta_starts(struct dab *d, const struct emu_warp *who)
{
    struct dab_warp *first = &d->warps[d->first[who->slot]];
    d->shared_turn[who->slot] = 0;
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
        struct dab_warp *w = &first[i];
        d->at_barriers -= w->at_barrier;
        *w = (struct dab_warp){.cta = who->cta,
                               .slot = who->slot,
                               .warp = i,
                               .sm = who->sm,
                               .sched = w->sched,
                               .place = w->place,
                               .batch = w->batch + 1,
                               .batches = w->batches,
                               .filled = w->filled};
    }
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) dab_begins(d, &first[i]);
}

static void warp_ends(struct dab *d, struct dab_warp *w)
{
    if (!w->lives) return;
    dab_ends(d, w);
    if (!d->shape.shared_commutes) pass_shared(d, crew_of(d, w->slot));
}

static void barrier_is_done(struct dab *d, const struct emu_warp *who, uint32_t id)
{
    struct dab_warp *first = &d->warps[d->first[who->slot]];
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
        struct dab_warp *w = &first[i];
        if (!w->at_barrier || w->barrier != id) continue;
        w->at_barrier = false;
        d->at_barriers--;
    }
}

static enum emu_verdict look_at_mbarrier(struct dab *d, struct dab_warp *w)
{
    if (w->filled == d->interval) return fence(d, w, DAB_BARRIER);
    if (!w->missed) return EMU_PROCEED;
    w->missed = false;
    sleeps(d, w);
    d->spinning += !w->spins;
    w->spins = true;
    d->scheds[w->sched].issued = false;
    return EMU_SLEEP;
}

/* Whether CTAs begin in the slots that are due. */
static bool are_due(const struct dab *d)
{
    return d->fixed && d->shape.cluster == 1;
}

/* The slot gets another CTA, behind those that others get. */
static void wait_for_cta(struct dab *d, uint32_t slot)
{
    const uint32_t at = d->due_first + d->due_count++;
    d->due[at < d->used_slots ? at : at - d->used_slots] = slot;
}
static uint32_t next_due(struct dab *d)
{
    const uint32_t slot = d->due[d->due_first];
    if (++d->due_first == d->used_slots) d->due_first = 0;
    d->due_count--;
    return slot;
}

static enum emu_verdict sync(void *self, const struct emu_sync *s)
{
    struct dab *d = self;
    if (s->kind == EMU_SYNC_CTA_START) {
        cta_starts(d, s->who);
        return EMU_PROCEED;
    }
    struct dab_warp *w = dab_warp(d, s->who);
    enum emu_verdict v = EMU_PROCEED;
    switch (s->kind) {
    case EMU_SYNC_FENCE: return s->op ? EMU_PROCEED : fence(d, w, DAB_FENCE);
    case EMU_SYNC_CLUSTER: return fence(d, w, DAB_BARRIER);
    case EMU_SYNC_BARRIER:
        v = fence(d, w, DAB_BARRIER);
        if (v != EMU_PROCEED || !(s->flags & EMU_ACQUIRE)) return v;
        d->at_barriers += !w->at_barrier;
        w->at_barrier = true;
        w->barrier = (uint8_t)s->id;
        w->away = d->scheds[w->sched].strict;
        return v;
    case EMU_SYNC_BARRIER_DONE: barrier_is_done(d, s->who, s->id); return v;
    case EMU_SYNC_MBARRIER: return look_at_mbarrier(d, w);
    case EMU_SYNC_MBARRIER_DONE:
        w->missed = s->op == EMU_MBARRIER_PENDING;
        d->looked &= w->missed;
        w->misses = w->missed ? w->misses + 1 : 0;
        return v;
    case EMU_SYNC_RUNTIME: return in_order(d, w) ? EMU_PROCEED : asleep(d, w);
    case EMU_SYNC_WARP_EXIT: warp_ends(d, w); return v;
    case EMU_SYNC_CTA_EXIT:
        for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) warp_ends(d, w + i - w->warp);
        if (are_due(d) && d->dealt[w->slot] < d->shape.ctas) wait_for_cta(d, w->slot);
        return v;
    default: return v;
    }
}

/* ---- no warp can go on ------------------------------------------------------------------------------ */

/* The first from `at` on that holds something, and below `until`; `until`: none. */
static uint32_t next_holding(const struct dab *d, uint32_t at, uint32_t until)
{
    while (at < until) {
        const uint64_t rest = d->holding[at / 64] >> at % 64;
        if (rest) at += (uint32_t)__builtin_ctzll(rest);
        if (rest) break;
        at = (at | 63) + 1;
    }
    return at < until ? at : until;
}

static void clear(struct dab *d, struct dab_buffer *b)
{
    if (d->by_sector) dab_sectors_clear(b, &d->index);
    else dab_buffer_clear(b);
}

/* What these buffers hold is a flush. */
static void empty(struct dab *d, uint32_t from, uint32_t until)
{
    const uint32_t of_sm = d->buffer_count / d->used_sms;
    for (uint32_t i = from; (i = next_holding(d, i, until)) < until; i++)
        dab_net_send(d->net, i / of_sm, &d->buffers[i]);
    dab_net_flush(d->net);
    for (uint32_t i = from; (i = next_holding(d, i, until)) < until; i++) {
        d->holding[i / 64] &= ~(UINT64_C(1) << i % 64);
        d->held -= d->buffers[i].count;
        clear(d, &d->buffers[i]);
    }
}

/* independent: what one cluster of SMs holds, as soon as one of its buffers is full. */
static void flush_cluster(struct dab *d, uint32_t sm)
{
    const uint32_t size = d->options.sms_per_cluster, from = sm / size * size,
                   until = from + size < d->used_sms ? from + size : d->used_sms,
                   of_sm = d->buffer_count / d->used_sms;
    empty(d, from * of_sm, until * of_sm);
    d->counts.flushes[DAB_FULL]++;
}

static enum dab_reason reason(const struct dab *d)
{
    if (d->full) return DAB_FULL;
    enum dab_reason r = DAB_FULL;
    while (r < DAB_EXIT && !d->pending_for[r]) r++;
    return r;
}

/* Everything that is in buffers, then those who waited for it. */
static void flush(struct dab *d)
{
    const enum dab_reason why = reason(d);
    const bool warps_fill = d->options.level == DAB_WARP || d->options.scheduler == DAB_ANY;
    d->counts.flushes[why] += d->held != 0;
    empty(d, 0, d->held ? d->buffer_count : 0);
    if (why != DAB_FULL || d->pending) dab_net_all(d->net);
    if (!d->pending_for[DAB_ATOM]) d->got_on = d->interval;
    d->interval++;
    d->chain_count = d->chain_at = 0;
    for (uint32_t i = 0; (i = next_sleeping(d, i)) < d->warp_count; i++) {
        struct dab_warp *w = &d->warps[i];
        if (w->full) {
            d->full--;
            w->full = false;
            if (warps_fill || d->scheds[w->sched].strict) dab_wake(d, w);
            else d->sleeping[i / 64] &= ~(UINT64_C(1) << i % 64);
        }
        if (!w->pending) continue;
        if ((w->chained = w->alone)) d->chain[d->chain_count++] = i;
        else dab_wake(d, w);
    }
    d->counts.rounds += d->chain_count != 0;
    dab_turns_flushed(d);
    grant_next(d);
}

/* The turn of a crew goes to one that waits for it. */
static bool pass_over(struct dab *d, uint32_t crew, bool all)
{
    uint32_t *turn = &d->shared_turn[crew];
    const uint32_t warps = crew_slots(d) * d->shape.warps_per_cta;
    bool wanted = false;
    for (uint32_t i = 0; i < warps; i++) wanted |= in_crew(d, crew, i)->shared;
    for (uint32_t n = 0; wanted && n < warps; n++, *turn = (*turn + 1) % warps) {
        struct dab_warp *h = in_crew(d, crew, *turn);
        if (h->shared) return dab_wake(d, h), true;
        if (h->lives && !h->at_barrier && !all) return false;
    }
    return false;
}

/* Turns pass those who are at a barrier; or all who wait for something else. */
static bool unstick_shared(struct dab *d, bool all)
{
    bool any = false;
    const uint32_t step = crew_slots(d);
    if (!d->shared) return false;
    for (uint32_t slot = 0; slot + step <= d->used_slots; slot += step)
        any |= pass_over(d, slot, all);
    return any;
}

static bool pass_turns(struct dab *d, bool all)
{
    bool any = dab_unstick(d, all);
    any |= unstick_shared(d, all);
    if (any) d->vain = 0;
    return any;
}

static void wake_spinning(struct dab *d)
{
    for (uint32_t i = 0; d->spinning && (i = next_sleeping(d, i)) < d->warp_count; i++) {
        struct dab_warp *w = &d->warps[i];
        const struct emu_warp who = who_is(w);
        if (!w->spins) continue;
        if (w->misses > MOST_MISSES) emu_machine_time_out(d->m, &who);
        dab_wake(d, w);
    }
}

static bool idle(void *self)
{
    struct dab *d = self;
    if (wake_late(d) || grant_next(d)) return true;
    if (d->woken) { /* by the pick() that found nobody */
        d->woken = false;
        return true;
    }
    if (d->spinning && !d->looked) { /* what they wait for may be there */
        d->looked = true;
        wake_spinning(d);
        return true;
    }
    if (pass_turns(d, false)) return true;
    if (d->held || d->pending || d->full) {
        d->vain = 0;
        if (d->loose || d->interval - d->got_on >= PATIENCE) dab_let_in(d);
        flush(d);
        return true;
    }
    dab_net_all(d->net);
    if (pass_turns(d, true)) return true;
    if (dab_let_in(d)) {
        flush(d);
        return true;
    }
    if (!d->spinning || d->vain++ == MOST_VAIN) return false;
    wake_spinning(d);
    return true;
}

/* What is in buffers stays there while warps go on. */
static void quiesce(void *self)
{
    const struct dab *d = self;
    dab_net_all(d->net);
}

static bool will_wake(void *self)
{
    return dab_holds_back(self);
}

/* ---- the adversary ---------------------------------------------------------------------------------- */

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct dab *d = self;
    if (d->options.overlap && rng_below(&d->chance, 4) == 0) dab_net_some(d->net);
    *burst = 1;
    if (d->spinning && ++d->picks % RETRY == 0) wake_spinning(d);
    d->woken = wake_late(d); /* comes behind those of this list */
    if (is_strict(d)) {
        d->burst = (uint32_t)rng_next(&d->chance);
        return dab_pick_strict(d, ready, count);
    }
    if (!d->stay--) {
        const uint64_t chance = rng_next(&d->chance);
        d->stay = chance % MOST_STAY;
        d->favourite = chance >> 8 & 3 ? 0 : chance >> 32;
        d->burst = 1 + rng_below(&d->chance, chance >> 16 & 3 ? LONG : 4);
    }
    *burst = d->burst;
    return (int)(count - 1 - (d->favourite * count >> 32));
}

/* Whether so few warps can go on that the adversary lets the next CTA begin. */
static bool is_lonely(struct dab *d)
{
    size_t count;
    emu_machine_ready(d->m, &count);
    if (is_strict(d)) return true;
    if (count >= d->company) return false;
    if (!d->moods--) {
        d->moods = rng_below(&d->chance, MOST_MOODS);
        d->company = 1u << rng_below(&d->chance, COMPANIES);
    }
    return true;
}

/* CTAs wait until a flush has emptied the buffers of the warps that were in their slot. */
static bool is_held_up(const struct dab *d, uint32_t slot)
{
    const struct dab_warp *first = &d->warps[d->first[slot]];
    bool any = false;
    for (uint32_t i = 0; d->options.level == DAB_WARP && i < d->shape.warps_per_cta; i++)
        any |= dab_buffer_of(d, &first[i])->count != 0;
    return any;
}

/* Clusters into the slots that they are dealt to, when all of the batch before have ended: a batch at once, so that
 * none is in the place of one that has ended. */
static int place_cluster(struct dab *d, size_t count)
{
    if (!d->fixed && !is_lonely(d)) return -1;
    const uint32_t of_batch = d->usable / d->shape.cluster;
    if (d->fixed && d->clusters_placed % of_batch == 0 && count < d->shape.slots) return -1;
    d->clusters_placed++;
    return d->fixed ? 0 : (int)rng_below(&d->chance, (uint32_t)count);
}

static int place(void *self, const uint32_t *free_slots, size_t count, uint32_t *cta)
{
    struct dab *d = self;
    if (d->shape.cluster > 1) return place_cluster(d, count);
    if (!is_lonely(d)) return -1;
    if (!d->fixed) return (int)rng_below(&d->chance, (uint32_t)count);
    uint32_t tried = 0;
    while (tried < d->due_count && is_held_up(d, d->due[d->due_first])) {
        wait_for_cta(d, next_due(d));
        tried++;
    }
    if (tried == d->due_count) return -1;
    const uint32_t slot = next_due(d);
    *cta = d->dealt[slot];
    d->dealt[slot] += d->usable;
    size_t low = 0, high = count;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (free_slots[middle] <= slot) low = middle;
        else high = middle;
    }
    return (int)low;
}

/* Which warp goes on makes no difference where warps have nothing in common but what they reduce: in the round robin of
 * instructions it depends on how many there are in between. */
static bool is_any_pick_alike(const struct dab *d)
{
    return !is_strict(d) && dab_promise(&d->options) != ORDER_NO_PROMISE;
}

static unsigned wants_of(void *self, const struct emu_launch_traits *next)
{
    struct dab *d = self;
    d->launches++;
    if (next->observed) return d->order.wants;
    return d->order.wants | EMU_SKIP_COMMUTING_SHARED |
           (next->counted ? 0
                          : EMU_SKIP_IF_CONFLICT_FREE | EMU_BRIEF_RETRIES |
                                (is_any_pick_alike(d) ? EMU_DEFER_REDUCTIONS : 0));
}
static const struct emu_order_fast fast = {.wants = wants_of};

/* ---- launches --------------------------------------------------------------------------------------- */

static void *zeros(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

/* Zeros, in memory that is kept for the next launch. */
static void *room(struct dab *d, enum dab_room which, size_t count, size_t size)
{
    struct dab_memory *m = &d->rooms[which];
    const size_t need = (count ? count : 1) * size;
    if (need <= m->size) return memset(m->at, 0, need);
    free(m->at);
    m->size = need;
    return m->at = zeros(need, 1);
}

/* Those that CTAs never come to are left out: mostly there are many, and few CTAs. */
static void deal(struct dab *d)
{
    const uint32_t sms = d->shape.sms,
                   gate = d->options.sms && d->options.sms < sms && d->shape.cluster == 1
                              ? d->options.sms
                              : sms;
    d->usable = d->shape.slots / sms * gate;
    d->usable -= d->usable % d->shape.cluster;
    const uint32_t some = d->fixed && d->shape.ctas < d->usable ? d->shape.ctas
                                                                : d->usable; /* that are dealt to */
    d->used_slots = some ? (some - 1) / gate * sms + (some - 1) % gate + 1 : 0;
    if (!d->fixed || d->shape.cluster > 1) d->used_slots = d->shape.slots;
    d->deal = room(d, DAB_DEAL, some, sizeof *d->deal);
    d->dealt = room(d, DAB_DEALT, d->used_slots, sizeof *d->dealt);
    for (uint32_t s = 0, i = 0, on_sm = 0; s < d->used_slots; s++) {
        const bool is_dealt = on_sm < gate && i < d->usable;
        d->dealt[s] = is_dealt ? i : UINT32_MAX;
        if (is_dealt && i < some) d->deal[i] = s;
        i += is_dealt;
        if (++on_sm == sms) on_sm = 0;
    }
}

static void begin_warps(struct dab *d)
{
    const uint32_t slots = d->used_slots, sms = d->shape.sms, schedulers = d->shape.schedulers,
                   of_cta = d->shape.warps_per_cta;
    d->per_sm = (slots + sms - 1) / sms * of_cta;
    d->used_sms = slots < sms ? slots : sms;
    d->warp_count = d->per_sm * d->used_sms;
    d->warps = room(d, DAB_WARPS, d->warp_count, sizeof *d->warps);
    d->sleeping = room(d, DAB_SLEEPING, d->warp_count / 64 + 1, sizeof *d->sleeping);
    d->chain = room(d, DAB_CHAIN, d->warp_count, sizeof *d->chain);
    d->first = room(d, DAB_FIRST, slots, sizeof *d->first);
    d->shared_turn = room(d, DAB_SHARED_TURN, slots, sizeof *d->shared_turn);
    d->due = room(d, DAB_DUE, slots, sizeof *d->due);
    d->due_first = d->due_count = 0;
    for (uint32_t sm = 0; sm < d->used_sms; sm++) {
        struct dab_warp *const first = &d->warps[sm * d->per_sm];
        for (uint32_t i = 0, k = 0, place = 0; i < d->per_sm; i++) {
            first[i].sched = sm * schedulers + k;
            first[i].place = place;
            if (++k == schedulers) k = 0, place++;
        }
        for (uint32_t s = sm, at = 0; s < slots; s += sms, at += of_cta) {
            d->first[s] = sm * d->per_sm + at;
            if (are_due(d) && d->dealt[s] < d->shape.ctas) d->due[d->due_count++] = s;
        }
    }
    for (uint32_t i = 0; i < d->usable && i < d->shape.ctas; i++) /* place in the deal */
        for (uint32_t k = 0; k < of_cta; k++)
            d->warps[d->first[d->deal[i]] + k].batches = (d->shape.ctas - 1 - i) / d->usable + 1;
}

static void begin_schedulers(struct dab *d)
{
    const uint32_t schedulers = d->shape.schedulers;
    d->sched_count = d->used_sms * schedulers;
    d->scheds = room(d, DAB_SCHEDS, d->sched_count, sizeof *d->scheds);
    d->touched = room(d, DAB_TOUCHED, d->sched_count, sizeof *d->touched);
    for (uint32_t s = 0; s < d->sched_count; s++) {
        const uint32_t sm = s / schedulers, k = s % schedulers;
        struct dab_sched *q = &d->scheds[s];
        *q = (struct dab_sched){
            .first = sm * d->per_sm + k,
            .size = d->per_sm <= k ? 0 : (d->per_sm - k + schedulers - 1) / schedulers,
            .last = DAB_NONE,
            .batch = 1,
            .strict = d->options.scheduler == DAB_SRR};
        for (uint32_t i = 0; i < q->size; i++) {
            const uint32_t batches = d->warps[q->first + i * schedulers].batches;
            if (batches > q->batches) q->batches = batches;
        }
    }
}

static void begin_buffers(struct dab *d)
{
    const uint32_t count = d->options.level == DAB_WARP ? d->warp_count : d->sched_count;
    if (count > d->buffer_cap) {
        d->buffers = realloc(d->buffers, count * sizeof *d->buffers);
        if (!d->buffers) abort();
        memset(d->buffers + d->buffer_cap, 0, (count - d->buffer_cap) * sizeof *d->buffers);
        d->buffer_cap = count;
    }
    d->buffer_count = count;
    d->holding = room(d, DAB_HOLDING, count / 64 + 1, sizeof *d->holding);
    d->held = 0;
}

static void begin(void *self, struct emu_machine *m)
{
    struct dab *d = self;
    d->m = m;
    d->shape = emu_machine_shape(m);
    d->chance = rng_mix(d->seed + d->launches * RNG_STEP);
    d->fixed = !d->options.distribution;
    d->batched = d->fixed && d->options.batches;
    d->by_sector = emu_machine_is_deferred(m) && d->options.coalescing && !d->options.offset;
    deal(d);
    begin_warps(d);
    begin_schedulers(d);
    begin_buffers(d);
    memset(&d->counts, 0, sizeof d->counts);
    memset(d->pending_for, 0, sizeof d->pending_for);
    d->full = d->shared = d->pending = d->spinning = d->at_barriers = d->vain = 0;
    d->clusters_placed = d->touched_count = d->chain_count = d->chain_at = d->stay = d->moods = 0;
    d->favourite = 0;
    d->company = 1;
    d->now = d->late = NULL;
    d->woken = d->looked = d->stirred = false;
    d->interval = d->got_on = 1;
    d->loose = false;
    if (d->net_sms != d->shape.sms) {
        dab_net_free(d->net);
        d->net_sms = d->shape.sms;
        d->net = dab_net_new(&d->options, d->shape.sms, &d->chance, &d->counts);
    }
    dab_net_begin(d->net, m, d->by_sector);
}

static void end(void *self)
{
    struct dab *d = self;
    for (uint32_t i = 0; d->held && i < d->buffer_count; i++) clear(d, &d->buffers[i]);
}

static void numbers(void *self, void (*tell_it)(void *to, const char *name, uint64_t value),
                    void *to)
{
    const struct dab *d = self;
    uint64_t n[DAB_NUMBERS];
    memcpy(n, &d->counts, sizeof n);
    for (int i = 0; i < DAB_NUMBERS; i++) tell_it(to, dab_number_names[i], n[i]);
}

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct dab *d = zeros(1, sizeof *d);
    d->options = *(const struct dab_options *)options;
    d->seed = rng_mix(seed);
    const bool strict = d->options.scheduler == DAB_SRR || d->options.scheduler == DAB_GTRR;
    d->order = (struct emu_order){.self = d,
                                  .name = dab_kind.name,
                                  .step = strict ? EMU_STEP_INSTRUCTION : EMU_STEP_EVENT,
                                  .fast = &fast,
                                  .begin = begin,
                                  .pick = pick,
                                  .place_any = place,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle,
                                  .end = end,
                                  .quiesce = quiesce,
                                  .will_wake = will_wake,
                                  .numbers = numbers};
    return &d->order;
}

static void release(struct emu_order *o)
{
    struct dab *d = o->self;
    for (uint32_t i = 0; i < d->buffer_cap; i++) dab_buffer_free(&d->buffers[i]);
    free(d->buffers);
    free(d->index.table);
    dab_net_free(d->net);
    for (int i = 0; i < DAB_ROOMS; i++) free(d->rooms[i].at);
    free(d);
}

const struct order_kind dab_kind = {
    .name = "dab",
    .what =
        "deterministic atomic buffering (MICRO 2020): one result for every seed, for programs without data races "
        "whose kernels access an address by atomics alone or not at all",
    .options = dab_option_list,
    .option_count = DAB_OPTIONS,
    .size = sizeof(struct dab_options),
    .stack_only = true,
    .conflict = dab_conflict,
    .promise = dab_promise,
    .make = make,
    .free = release,
};
