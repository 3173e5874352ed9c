/* The order of determinism/dab.h. */
#define _GNU_SOURCE
#include "determinism/dab.h"

#include "base/rng.h"
#include "determinism/dab_parts.h"
#include "determinism/orders.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONG = 256, /* steps of a burst, at most */
    MOST_VAIN = 1 << 20,
    MOST_MISSES = 64, /* of a wait at an mbarrier: then its time is up */
    RETRY = 1 << 10,  /* picks before those who wait so are tried again */
};

/* ---- sleeping --------------------------------------------------------------------------------------- */

void dab_wake(struct dab *d, struct dab_warp *w)
{
    d->full -= w->full;
    d->pending -= w->pending;
    d->spinning -= w->spins;
    w->wants = w->full = w->shared = w->pending = w->spins = false;
    if (w == d->now) d->now = NULL;
    else emu_machine_wake(d->m, &w->who);
}

static void set_pending(struct dab *d, struct dab_warp *w, uint8_t why, bool alone)
{
    d->pending += !w->pending;
    w->pending = true;
    w->why = why;
    w->alone = alone;
}

/* What it was about to do is not done; unless that it waits makes it its turn. */
static enum emu_verdict asleep(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *s = &d->scheds[dab_sched_of(d, w)];
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
    emu_machine_wake(d->m, &d->late->who);
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

/* The next one of those that are done one after another. */
static bool grant_next(struct dab *d)
{
    while (d->chain_at < d->chain_count) {
        struct dab_warp *w = &d->warps[d->chain[d->chain_at++]];
        if (!w->pending) continue;
        w->granted = true;
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

static enum emu_verdict reduce(struct dab *d, struct dab_warp *w, const struct emu_access *a)
{
    struct dab_buffer *b = dab_buffer_of(d, w);
    const bool fuse = d->options.fusion;
    const bool piece = is_told(w, a);
    if (!piece && !dab_may_reduce(d, w)) {
        w->wants = true;
        if (asleep(d, w) == EMU_SLEEP) {
            d->counts.turns++;
            return EMU_SLEEP;
        }
    }
    if (!piece && !dab_buffer_fits(b, a, d->options.entries, fuse)) {
        if (d->options.independent) flush_cluster(d, w->who.sm);
        else {
            w->wants = true;
            d->full += !w->full;
            w->full = true;
            return asleep(d, w);
        }
    }
    tell(w, a);
    const uint32_t before = b->count;
    d->counts.fused += dab_buffer_add(b, a, fuse);
    d->held += b->count - before;
    d->counts.reductions += (uint64_t)__builtin_popcount(a->lanes);
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
    const uint32_t slot = crew + i / d->shape.warps_per_cta;
    return dab_warp(d, &(struct emu_warp){.slot = slot,
                                          .sm = slot % d->shape.sms,
                                          .warp = i % d->shape.warps_per_cta});
}

/* The turn goes to the next that has not ended. */
static void pass_shared(struct dab *d, uint32_t crew)
{
    uint32_t *turn = &d->shared_turn[crew];
    const uint32_t warps = crew_slots(d) * d->shape.warps_per_cta;
    for (uint32_t n = 0; n < warps; n++, *turn = (*turn + 1) % warps) {
        struct dab_warp *w = in_crew(d, crew, *turn);
        if (w->ended) continue;
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
        w->shared = true;
        d->counts.shared++;
        d->scheds[dab_sched_of(d, w)].issued = false;
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
    if (a->space != PTX_SPACE_GLOBAL) return async ? EMU_PROCEED : shared(d, w, a);
    if (async && !stays) return EMU_PROCEED;
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
    if (who->sm >= d->used_sms) d->used_sms = who->sm + 1;
    d->shared_turn[who->slot] = 0;
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
        struct emu_warp at = *who;
        at.warp = i;
        struct dab_warp *w = dab_warp(d, &at);
        *w = (struct dab_warp){.who = at, .batch = w->batch + 1, .filled = w->filled};
    }
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
        struct emu_warp at = *who;
        at.warp = i;
        dab_settle(d, dab_warp(d, &at));
    }
}

static void warp_ends(struct dab *d, struct dab_warp *w)
{
    if (w->ended) return;
    w->ended = true;
    dab_settle(d, w);
    pass_shared(d, crew_of(d, w->who.slot));
}

static void barrier_is_done(struct dab *d, const struct emu_warp *who, uint32_t id)
{
    struct emu_warp at = *who;
    for (at.warp = 0; at.warp < d->shape.warps_per_cta; at.warp++) {
        struct dab_warp *w = dab_warp(d, &at);
        if (w->at_barrier && w->barrier == id) w->at_barrier = false;
    }
}

static enum emu_verdict look_at_mbarrier(struct dab *d, struct dab_warp *w)
{
    if (w->filled == d->interval) return fence(d, w, DAB_BARRIER);
    if (!w->missed) return EMU_PROCEED;
    w->missed = false;
    d->spinning += !w->spins;
    w->spins = true;
    d->scheds[dab_sched_of(d, w)].issued = false;
    return EMU_SLEEP;
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
        w->at_barrier = true;
        w->barrier = (uint8_t)s->id;
        w->away = d->scheds[dab_sched_of(d, w)].strict;
        return v;
    case EMU_SYNC_BARRIER_DONE: barrier_is_done(d, s->who, s->id); return v;
    case EMU_SYNC_MBARRIER: return look_at_mbarrier(d, w);
    case EMU_SYNC_MBARRIER_DONE:
        w->missed = s->op == EMU_MBARRIER_NOT_YET;
        d->looked &= w->missed;
        w->misses = w->missed ? w->misses + 1 : 0;
        return v;
    case EMU_SYNC_RUNTIME: return in_order(d, w) ? EMU_PROCEED : asleep(d, w);
    case EMU_SYNC_WARP_EXIT: warp_ends(d, w); return v;
    case EMU_SYNC_CTA_EXIT:
        for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
            struct emu_warp at = *s->who;
            at.warp = i;
            warp_ends(d, dab_warp(d, &at));
        }
        return v;
    default: return v;
    }
}

/* ---- no warp can go on ------------------------------------------------------------------------------ */

static void empty(struct dab *d, uint32_t sm)
{
    const uint32_t of_sm = d->buffer_count / d->shape.sms;
    for (uint32_t i = 0; i < of_sm; i++) {
        struct dab_buffer *b = &d->buffers[(size_t)sm * of_sm + i];
        if (!b->count) continue;
        dab_net_send(d->net, sm, b);
        d->held -= b->count;
        dab_buffer_clear(b);
    }
}

/* independent: what one cluster of SMs holds, as soon as one of its buffers is full. */
static void flush_cluster(struct dab *d, uint32_t sm)
{
    const uint32_t size = d->options.sms_per_cluster, from = sm / size * size;
    for (uint32_t i = from; i < from + size && i < d->used_sms; i++) empty(d, i);
    d->counts.flushes[DAB_FULL]++;
    dab_net_flush(d->net);
}

static enum dab_reason reason(const struct dab *d)
{
    bool is[DAB_REASONS] = {[DAB_FULL] = d->full, [DAB_EXIT] = true};
    for (uint32_t i = 0; d->pending && i < d->used_sms * d->per_sm; i++)
        if (d->warps[i].pending) is[d->warps[i].why] = true;
    enum dab_reason r = DAB_FULL;
    while (!is[r]) r++;
    return r;
}

/* Everything that is in buffers, then those who waited for it. */
static void flush(struct dab *d)
{
    const enum dab_reason why = reason(d);
    d->counts.flushes[why] += d->held != 0;
    for (uint32_t sm = 0; d->held && sm < d->used_sms; sm++) empty(d, sm);
    dab_net_flush(d->net);
    if (why != DAB_FULL || d->pending) dab_net_all(d->net);
    d->interval++;
    d->chain_count = d->chain_at = 0;
    for (uint32_t i = 0; i < d->used_sms * d->per_sm; i++) {
        struct dab_warp *w = &d->warps[i];
        if (w->full) {
            d->full--;
            w->full = false;
            if (d->options.level == DAB_WARP || d->options.scheduler == DAB_ANY ||
                d->scheds[dab_sched_of(d, w)].strict)
                dab_wake(d, w);
        }
        if (!w->pending) continue;
        if (w->alone) d->chain[d->chain_count++] = i;
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
        if (!h->ended && !h->at_barrier && !all) return false;
    }
    return false;
}

/* Turns pass those who are at a barrier; or all who wait for something else. */
static bool unstick_shared(struct dab *d, bool all)
{
    bool any = false;
    const uint32_t step = crew_slots(d);
    if (d->shape.shared_commutes) return false;
    for (uint32_t slot = 0; slot + step <= d->shape.slots; slot += step)
        if (slot % d->shape.sms < d->used_sms) any |= pass_over(d, slot, all);
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
    for (uint32_t i = 0; d->spinning && i < d->used_sms * d->per_sm; i++) {
        struct dab_warp *w = &d->warps[i];
        if (!w->spins) continue;
        if (w->misses > MOST_MISSES) emu_machine_time_out(d->m, &w->who);
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
        flush(d);
        return true;
    }
    dab_net_all(d->net);
    if (pass_turns(d, true)) return true;
    if (!d->spinning || d->vain++ == MOST_VAIN) return false;
    wake_spinning(d);
    return true;
}

/* What is in buffers stays there while warps go on. */
static void settle(void *self)
{
    const struct dab *d = self;
    dab_net_all(d->net);
}

/* ---- the adversary ---------------------------------------------------------------------------------- */

static int pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct dab *d = self;
    const uint32_t chance = (uint32_t)rng_next(&d->chance);
    if (d->options.overlap && chance >> 24 < 64) dab_net_some(d->net);
    *burst = 1;
    if (d->spinning && ++d->picks % RETRY == 0) wake_spinning(d);
    d->woken = wake_late(d); /* comes behind those of this list */
    if (d->options.level == DAB_SCHEDULER && d->order.step == EMU_STEP_INSTRUCTION) {
        d->burst = chance;
        return dab_pick_strict(d, ready, count);
    }
    /* the same place of the list, mostly: a warp that goes on stays there */
    if (!d->stay-- || d->favourite >= count) {
        d->favourite = (size_t)((uint64_t)chance * count >> 32);
        d->stay = rng_below(&d->chance, 16);
        d->burst = 1 + rng_below(&d->chance, rng_below(&d->chance, 4) ? LONG : 4);
    }
    *burst = d->burst;
    return (int)d->favourite;
}

static int place(void *self, uint32_t cta, const uint32_t *free_slots, size_t count)
{
    struct dab *d = self;
    if (d->shape.cluster > 1) {
        const uint32_t of_batch = d->usable / d->shape.cluster;
        if (d->fixed && d->clusters_placed % of_batch == 0 && count < d->shape.slots) return -1;
        d->clusters_placed++;
        return d->fixed ? 0 : (int)rng_below(&d->chance, (uint32_t)count);
    }
    if (!d->fixed) return (int)rng_below(&d->chance, (uint32_t)count);
    const uint32_t slot = d->deal[cta % d->usable];
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (free_slots[middle] < slot) low = middle + 1;
        else high = middle;
    }
    if (low == count || free_slots[low] != slot) return -1;
    if (d->options.level != DAB_WARP) return (int)low;
    const struct dab_warp *w = dab_warp(
        d, &(struct emu_warp){.slot = slot, .sm = slot % d->shape.sms});
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++)
        if (dab_buffer_of(d, &w[i])->count)
            return -1; /* warps stay until their buffer is flushed */
    return (int)low;
}

/* ---- launches --------------------------------------------------------------------------------------- */

static void *zeros(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

static void deal(struct dab *d)
{
    const uint32_t gate = d->options.sms && d->shape.cluster == 1 ? d->options.sms : d->shape.sms;
    d->deal = zeros(d->shape.slots, sizeof *d->deal);
    d->dealt = zeros(d->shape.slots, sizeof *d->dealt);
    d->usable = 0;
    for (uint32_t s = 0; s < d->shape.slots; s++) {
        d->dealt[s] = UINT32_MAX;
        if (s % d->shape.sms >= gate) continue;
        d->dealt[s] = d->usable;
        d->deal[d->usable++] = s;
    }
    while (d->usable % d->shape.cluster) d->dealt[d->deal[--d->usable]] = UINT32_MAX;
}

static void begin(void *self, struct emu_machine *m)
{
    struct dab *d = self;
    d->m = m;
    d->shape = emu_machine_shape(m);
    d->fixed = !d->options.distribution;
    d->per_sm = (d->shape.slots + d->shape.sms - 1) / d->shape.sms * d->shape.warps_per_cta;
    const size_t warps = (size_t)d->per_sm * d->shape.sms,
                 scheds = (size_t)d->shape.sms * d->shape.schedulers;
    d->warps = zeros(warps, sizeof *d->warps);
    d->chain = zeros(warps, sizeof *d->chain);
    d->scheds = zeros(scheds, sizeof *d->scheds);
    d->buffer_count = (uint32_t)(d->options.level == DAB_WARP ? warps : scheds);
    d->buffers = zeros(d->buffer_count, sizeof *d->buffers);
    d->shared_turn = zeros(d->shape.slots, sizeof *d->shared_turn);
    for (size_t w = 0; w < warps; w++) d->warps[w].ended = true;
    for (size_t s = 0; s < scheds; s++)
        d->scheds[s] = (struct dab_sched){
            .last = DAB_NONE, .batch = 1, .strict = d->options.scheduler == DAB_SRR};
    deal(d);
    memset(&d->counts, 0, sizeof d->counts);
    d->clusters_placed = d->used_sms = d->held = d->full = d->pending = d->spinning = d->vain = 0;
    d->chain_count = d->chain_at = d->stay = 0;
    d->favourite = 0;
    d->now = d->late = NULL;
    d->woken = d->looked = false;
    d->interval = 1;
    d->net = dab_net_new(&d->options, d->shape.sms, m, &d->chance, &d->counts);
}

static void end(void *self)
{
    struct dab *d = self;
    for (uint32_t i = 0; i < d->buffer_count; i++) dab_buffer_free(&d->buffers[i]);
    dab_net_free(d->net);
    free(d->warps);
    free(d->chain);
    free(d->scheds);
    free(d->buffers);
    free(d->shared_turn);
    free(d->deal);
    free(d->dealt);
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
    d->chance = rng_mix(seed + RNG_STEP);
    const bool strict = d->options.scheduler == DAB_SRR || d->options.scheduler == DAB_GTRR;
    d->order = (struct emu_order){.self = d,
                                  .name = dab_kind.name,
                                  .step = strict ? EMU_STEP_INSTRUCTION : EMU_STEP_TOLD,
                                  .begin = begin,
                                  .pick = pick,
                                  .place = place,
                                  .access = access,
                                  .sync = sync,
                                  .idle = idle,
                                  .end = end,
                                  .settle = settle,
                                  .numbers = numbers};
    return &d->order;
}

static void release(struct emu_order *o)
{
    free(o->self);
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
