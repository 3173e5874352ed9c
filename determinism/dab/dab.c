/* Deterministic Atomic Buffering (Chou et al., MICRO 2020, section IV): which accesses are executed at once or wait,
 * and the decisions when no warp can run. determinism/dab/dab.h is an overview.
 *
 * The callbacks of struct emu_order are here. dab_on_access() adds reductions to a buffer (buffer.c) if it is the
 * warp's turn (schedulers.c) and there is space. Warps at other accesses whose results depend on the order of warps
 * sleep until dab_on_idle(), which is called when no warp can run. dab_on_idle() passes turns on, flushes buffers
 * (flush.c), and grants ordered accesses one after another.
 *
 * Invariant. Between two calls of dab_on_idle() the effects of a warp's instructions do not depend on when they are
 * issued. So the state at each call of dab_on_idle(), and the decisions made there, do not depend on the adversary,
 * which chooses in dab_pick() and dab_place(). */
#define _GNU_SOURCE
#include "determinism/dab/dab.h"

#include "base/rng.h"
#include "determinism/dab/internal.h"
#include "determinism/orders.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_BURST = 256,       /* steps of a burst, at most */
    MOST_IDLE_TESTS = 1 << 20, /* then the launch is deadlocked */
    MOST_STALLED_FLUSHES =
        1 << 7,             /* flushes in succession without progress: then batches are given up */
    MOST_FAILED_TESTS = 64, /* of a wait at an mbarrier: then it times out */
    MBARRIER_RETRY = 1 << 10, /* picks before waits at mbarriers are tried again */
    MOST_BIAS_DRAWS = 16,     /* picks between two choices */
    MOST_WINDOW_CTAS = 64,    /* CTAs between two choices */
    WINDOW_SIZES = 9,
    AHEAD = 256,        /* instructions of a warp in strict order before it is picked again */
    PREFETCH_NEXT = 2,  /* so far ahead in a chain registers are prefetched, */
    PREFETCH_LATER = 5, /* and what it takes to find them */
};

/* Instructions are issued in strict order, by some schedulers at least. */
static bool is_strict(const struct dab *d)
{
    return d->options.level == DAB_SCHEDULER && (d->rule == DAB_SRR || d->rule == DAB_GTRR);
}

/* ---- sleeping --------------------------------------------------------------------------------------- */

/* The warp sleeps instead of what it was about to do; unless it has its turn because it waits. */
static enum emu_verdict put_to_sleep(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *s = &d->scheds[w->sched];
    const bool strict = s->strict;
    s->issued = false;
    d->waits.going_to_sleep = w;
    dab_scheduler_update(d, w);
    const bool goes = !d->waits.going_to_sleep;
    d->waits.going_to_sleep = NULL;
    if (!goes) return EMU_SLEEP;
    if (s->strict == strict) return EMU_PROCEED;
    d->waits.wake_later = w; /* the round robin begins, and somebody else may be first */
    return EMU_SLEEP;
}

static bool wake_deferred(struct dab *d)
{
    if (!d->waits.wake_later) return false;
    const struct emu_warp who = dab_identity(d->waits.wake_later);
    emu_machine_wake(d->m, &who);
    d->waits.wake_later = NULL;
    return true;
}

/* Another piece of an instruction that has begun. */
static bool is_same_instruction(const struct dab_warp *w, const struct emu_access *a)
{
    return w->instruction_seq == a->who->serial + 1 && w->instruction_pc == a->pc;
}
static void remember_instruction(struct dab_warp *w, const struct emu_access *a)
{
    w->instruction_seq = a->who->serial + 1;
    w->instruction_pc = a->pc;
}

/* ---- running ahead in strict order ------------------------------------------------------------------ */

/* 1: the instruction whose turn it is; more: so many turns later. 0: the order of turns does not matter. */
static uint64_t turn_of(const struct dab *d, const struct dab_warp *w, uint64_t serial)
{
    return d->ahead.warp == w ? serial - d->ahead.serial : 0;
}

/* Whether the warp is at an instruction whose turn has not come, and which others can observe: it waits until then. */
static bool stops(struct dab *d, struct dab_warp *w, const struct emu_warp *who)
{
    const uint64_t turn = turn_of(d, w, who->serial);
    if (turn < 2) return false;
    w->ahead = (uint32_t)turn - 2;
    d->ahead.warp = NULL;
    d->waits.wake_later = w; /* it is picked in its turn */
    return true;
}

/* The burst of the warp that was picked last has ended before it came to such an instruction. */
static void settle_burst(struct dab *d, const struct emu_warp *ready)
{
    struct dab_warp *w = d->ahead.warp;
    d->ahead.warp = NULL;
    if (!w) return;
    const struct emu_warp who = dab_identity(w);
    const int i = emu_machine_ready_place(d->m, &who);
    if (i >= 0) w->ahead = (uint32_t)(ready[i].serial - d->ahead.serial - 1);
}

/* The ready warp has its turn. */
static void begin_burst(struct dab *d, const struct emu_warp *who, uint32_t *burst)
{
    struct dab_warp *w = dab_warp(d, who);
    const bool inside = w->waits_inside || who->waits;
    w->waits_inside = false;
    if (!d->ahead.on) return;
    if (d->options.ahead) *burst = AHEAD;
    if (!d->scheds[w->sched].strict) return;
    d->ahead.warp = w;
    d->ahead.serial = who->serial - inside;
}

/* ---- what waits for a flush ------------------------------------------------------------------------- */

/* The host fetches what those behind the next in the chain will look at. */
static void prefetch_chain(const struct dab *d)
{
    for (uint32_t n = PREFETCH_NEXT;
         n <= PREFETCH_LATER && d->waits.chain_at + n < d->waits.chain_count;
         n += PREFETCH_LATER - PREFETCH_NEXT) {
        const struct emu_warp who = dab_identity(&d->warps[d->waits.chain[d->waits.chain_at + n]]);
        emu_machine_prefetch(d->m, &who, n == PREFETCH_NEXT);
    }
}

/* The next one of those that are done one after another. */
static bool grant_next(struct dab *d)
{
    while (d->waits.chain_at < d->waits.chain_count) {
        struct dab_warp *w = &d->warps[d->waits.chain[d->waits.chain_at++]];
        if (!w->pending) continue;
        w->granted = true;
        prefetch_chain(d);
        dab_wake(d, w);
        return true;
    }
    return false;
}

/* Whether the warp may do now what is done in a fixed order. */
static bool may_run_in_order(struct dab *d, struct dab_warp *w)
{
    if (!w->granted) {
        dab_set_pending(d, w, DAB_ATOM, true);
        return false;
    }
    w->granted = false;
    d->counts.ordered++;
    grant_next(d);
    return true;
}

/* Fences and barriers. */
static enum emu_verdict wait_for_flush(struct dab *d, struct dab_warp *w, uint8_t why)
{
    if (w->filled != d->interval) return EMU_PROCEED;
    dab_set_pending(d, w, why, false);
    return put_to_sleep(d, w);
}

/* ---- accesses --------------------------------------------------------------------------------------- */

static void flush_cluster(struct dab *d, uint32_t sm);

static void mark_holding(struct dab *d, const struct dab_buffer *b)
{
    const size_t at = (size_t)(b - d->store.list);
    d->store.holding[at / 64] |= UINT64_C(1) << at % 64;
}

static bool add(struct dab *d, struct dab_buffer *b, const struct emu_access *a, uint32_t most,
                uint32_t *fused)
{
    return d->store.by_sector ? dab_sectors_add(b, &d->store.index, a, most, d->options.fusion)
                              : dab_buffer_add(b, a, most, d->options.fusion, fused);
}

static enum emu_verdict buffer_reduction(struct dab *d, struct dab_warp *w,
                                         const struct emu_access *a)
{
    struct dab_buffer *b = dab_buffer_of(d, w);
    const bool piece = is_same_instruction(w, a);
    uint32_t fused = 0, before = b->count;
    if (!piece && stops(d, w, a->who)) return EMU_SLEEP;
    d->any_waited = true;
    if (!piece && !dab_may_reduce(d, w)) {
        w->wants = true;
        if (put_to_sleep(d, w) == EMU_SLEEP) {
            d->counts.turns++;
            return EMU_SLEEP;
        }
    }
    if (!add(d, b, a, piece ? UINT32_MAX : d->options.entries, &fused)) {
        if (!d->options.independent) {
            w->wants = true;
            dab_set_full(d, w);
            return put_to_sleep(d, w);
        }
        flush_cluster(d, w->sm);
        before = 0;
        add(d, b, a, UINT32_MAX, &fused);
    }
    remember_instruction(w, a);
    d->counts.fused += fused;
    d->store.held += b->count - before;
    if (!before) mark_holding(d, b);
    d->counts.reductions += emu_lanes_of(a->lanes);
    w->filled = d->interval;
    if (!piece) dab_reduced(d, w);
    return EMU_DONE;
}

/* ---- shared memory: the warps of a group reach the same. They are those of a CTA; of a cluster, whose CTAs are in
 * slots side by side (unless they are anywhere, and nothing is promised) ---------------------------------- */

static uint32_t group_slots(const struct dab *d)
{
    return d->ctas.fixed ? d->shape.cluster : 1;
}
static uint32_t group_of(const struct dab *d, uint32_t slot) /* its first slot */
{
    return slot - slot % group_slots(d);
}
static struct dab_warp *warp_in_group(const struct dab *d, uint32_t group, uint32_t i)
{
    if (group_slots(d) == 1) return &d->warps[d->ctas.first[group] + i];
    return &d->warps[d->ctas.first[group + i / d->shape.warps_per_cta] +
                     i % d->shape.warps_per_cta];
}

/* The turn goes to the next that has not ended. */
static void pass_smem_turn(struct dab *d, uint32_t group)
{
    uint32_t *turn = &d->waits.smem_turn[group];
    const uint32_t warps = group_slots(d) * d->shape.warps_per_cta;
    for (uint32_t n = 0; n < warps; n++, *turn = (*turn + 1) % warps) {
        struct dab_warp *w = warp_in_group(d, group, *turn);
        if (!w->lives) continue;
        if (w->waits_for_smem_turn) dab_wake(d, w);
        return;
    }
}

/* Whether it is not the turn of the warp: then it sleeps until it is. */
static bool waits_for_smem(struct dab *d, struct dab_warp *w, const struct emu_warp *who)
{
    const uint32_t group = group_of(d, who->slot),
                   i = (who->slot - group) * d->shape.warps_per_cta + who->warp;
    if (d->waits.smem_turn[group] == i) return false;
    dab_mark_sleeping(d, w);
    d->waits.smem_waiters += !w->waits_for_smem_turn;
    w->waits_for_smem_turn = true;
    d->counts.shared++;
    d->scheds[w->sched].issued = false;
    return true;
}

static bool smem_has_turns(const struct dab *d)
{
    return !d->shape.shared_commutes && group_slots(d) * d->shape.warps_per_cta > 1;
}

/* Of an instruction that accesses global memory, too, that comes first, and takes place in the warp's turn here. */
static enum emu_verdict access_shared(struct dab *d, struct dab_warp *w, const struct emu_access *a)
{
    if (!smem_has_turns(d)) return EMU_PROCEED;
    const bool same = is_same_instruction(w, a);
    if (same && !a->split) return EMU_PROCEED;
    if (!same && (stops(d, w, a->who) || waits_for_smem(d, w, a->who))) return EMU_SLEEP;
    const uint32_t group = group_of(d, a->who->slot);
    if (w == warp_in_group(d, group, d->waits.smem_turn[group])) {
        d->waits.smem_turn[group] = (d->waits.smem_turn[group] + 1) %
                                    (group_slots(d) * d->shape.warps_per_cta);
        pass_smem_turn(d, group);
    }
    remember_instruction(w, a);
    return EMU_PROCEED;
}

static enum emu_verdict verdict_of(struct dab *d, struct dab_warp *w, const struct emu_access *a)
{
    const bool async = a->flags & EMU_ASYNC, stays = a->kind == EMU_RED || a->kind == EMU_ATOMIC;
    if (async && !stays) return EMU_PROCEED;
    if (a->space != PTX_SPACE_GLOBAL) return access_shared(d, w, a);
    if (a->split && smem_has_turns(d) && !is_same_instruction(w, a) &&
        (stops(d, w, a->who) || waits_for_smem(d, w, a->who)))
        return EMU_SLEEP;
    if (!async && (a->kind == EMU_RED || (stays && a->flags & EMU_DEAD_RESULT)))
        return buffer_reduction(d, w, a);
    if (is_same_instruction(w, a)) return EMU_PROCEED;
    if (stops(d, w, a->who)) return EMU_SLEEP;
    if (!may_run_in_order(d, w)) return put_to_sleep(d, w);
    remember_instruction(w, a);
    return EMU_PROCEED;
}

static enum emu_verdict dab_on_access(void *self, const struct emu_access *a)
{
    struct dab *d = self;
    struct dab_warp *w = dab_warp(d, a->who);
    const enum emu_verdict v = verdict_of(d, w, a);
    w->waits_inside = v == EMU_SLEEP;
    return v;
}

/* ---- fences, barriers, ends ------------------------------------------------------------------------- */

static void start_cta(struct dab *d, const struct emu_warp *who)
{
    struct dab_warp *first = &d->warps[d->ctas.first[who->slot]];
    d->waits.smem_turn[who->slot] = 0;
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
        struct dab_warp *w = &first[i];
        d->waits.at_barriers -= w->at_barrier;
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
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) dab_scheduler_add(d, &first[i]);
}

static void end_warp(struct dab *d, struct dab_warp *w)
{
    if (!w->lives) return;
    dab_scheduler_remove(d, w);
    if (!d->shape.shared_commutes) pass_smem_turn(d, group_of(d, w->slot));
}

static void complete_barrier(struct dab *d, const struct emu_warp *who, uint32_t id)
{
    struct dab_warp *first = &d->warps[d->ctas.first[who->slot]];
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++) {
        struct dab_warp *w = &first[i];
        if (!w->at_barrier || w->barrier != id) continue;
        w->at_barrier = false;
        d->waits.at_barriers--;
        dab_unstick(d, w->sched);
    }
}

static enum emu_verdict test_mbarrier(struct dab *d, struct dab_warp *w)
{
    if (w->filled == d->interval) return wait_for_flush(d, w, DAB_BARRIER);
    if (!w->test_failed) return EMU_PROCEED;
    w->test_failed = false;
    dab_mark_sleeping(d, w);
    d->waits.mbarrier_waiters += !w->tests_mbarrier;
    w->tests_mbarrier = true;
    d->scheds[w->sched].issued = false;
    return EMU_SLEEP;
}

/* Whether CTAs begin in the slots that are due. */
static bool has_due_slots(const struct dab *d)
{
    return d->ctas.fixed && d->shape.cluster == 1;
}

/* The slot gets another CTA, behind those that others get. */
static void queue_slot(struct dab *d, uint32_t slot)
{
    const uint32_t at = d->ctas.due_first + d->ctas.due_count++;
    d->ctas.due[at < d->ctas.used_slots ? at : at - d->ctas.used_slots] = slot;
}
static uint32_t next_due_slot(struct dab *d)
{
    const uint32_t slot = d->ctas.due[d->ctas.due_first];
    if (++d->ctas.due_first == d->ctas.used_slots) d->ctas.due_first = 0;
    d->ctas.due_count--;
    return slot;
}

/* No warp of the CTA is left, and its slot gets another. */
static void end_cta(struct dab *d, const struct dab_warp *w)
{
    if (has_due_slots(d) && d->ctas.dealt[w->slot] < d->shape.ctas) queue_slot(d, w->slot);
}

/* A warp that has run ahead to its end exits when its turn comes, for the order at least. */
static void exit_warp(struct dab *d, struct dab_warp *w, const struct emu_warp *who)
{
    const uint64_t turn = turn_of(d, w, who->serial);
    d->ahead.warp = NULL;
    if (turn >= 2) {
        w->exits = true;
        w->ahead = (uint32_t)turn - 2;
    } else end_warp(d, w);
}

static void exit_cta(struct dab *d, const struct dab_warp *any)
{
    struct dab_warp *first = &d->warps[d->ctas.first[any->slot]];
    bool all = true;
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++)
        if (first[i].exits) all = false;
        else end_warp(d, &first[i]);
    if (all) end_cta(d, any);
}

void dab_end_ahead(struct dab *d, struct dab_warp *w)
{
    const struct dab_warp *first = &d->warps[d->ctas.first[w->slot]];
    w->exits = false;
    end_warp(d, w);
    for (uint32_t i = 0; i < d->shape.warps_per_cta; i++)
        if (first[i].lives) return;
    end_cta(d, w);
    d->ahead.freed = true;
}

/* Whether others observe when the warp does it. What has happened already is not asked about. */
static bool is_observed(const struct dab *d, const struct dab_warp *w, const struct emu_sync *s)
{
    switch (s->kind) {
    case EMU_SYNC_FENCE: return !s->op && w->filled == d->interval;
    case EMU_SYNC_CLUSTER:
    case EMU_SYNC_BARRIER:
    case EMU_SYNC_MBARRIER:
    case EMU_SYNC_RUNTIME: return true;
    default: return false;
    }
}

static enum emu_verdict verdict_of_sync(struct dab *d, struct dab_warp *w, const struct emu_sync *s)
{
    enum emu_verdict v = EMU_PROCEED;
    if (is_observed(d, w, s) && stops(d, w, s->who)) return EMU_SLEEP;
    switch (s->kind) {
    case EMU_SYNC_FENCE: return s->op ? EMU_PROCEED : wait_for_flush(d, w, DAB_FENCE);
    case EMU_SYNC_CLUSTER: return wait_for_flush(d, w, DAB_BARRIER);
    case EMU_SYNC_BARRIER:
        v = wait_for_flush(d, w, DAB_BARRIER);
        if (v != EMU_PROCEED || !(s->flags & EMU_ACQUIRE)) return v;
        d->waits.at_barriers += !w->at_barrier;
        w->at_barrier = true;
        w->barrier = (uint8_t)s->id;
        w->left_round = d->scheds[w->sched].strict;
        return v;
    case EMU_SYNC_BARRIER_DONE: complete_barrier(d, s->who, s->id); return v;
    case EMU_SYNC_MBARRIER: return test_mbarrier(d, w);
    case EMU_SYNC_MBARRIER_DONE:
        w->test_failed = s->op == EMU_MBARRIER_PENDING;
        d->waits.all_tested &= w->test_failed;
        w->failed_tests = w->test_failed ? w->failed_tests + 1 : 0;
        return v;
    case EMU_SYNC_RUNTIME: return may_run_in_order(d, w) ? EMU_PROCEED : put_to_sleep(d, w);
    case EMU_SYNC_WARP_EXIT: exit_warp(d, w, s->who); return v;
    case EMU_SYNC_CTA_EXIT: exit_cta(d, w); return v;
    default: return v;
    }
}

static enum emu_verdict dab_on_sync(void *self, const struct emu_sync *s)
{
    struct dab *d = self;
    if (s->kind == EMU_SYNC_CTA_START) {
        start_cta(d, s->who);
        return EMU_PROCEED;
    }
    struct dab_warp *w = dab_warp(d, s->who);
    const enum emu_verdict v = verdict_of_sync(d, w, s);
    w->waits_inside |= v == EMU_SLEEP;
    return v;
}

/* ---- no warp can go on ------------------------------------------------------------------------------ */

static void clear_buffer(struct dab *d, struct dab_buffer *b)
{
    if (d->store.by_sector) dab_sectors_clear(b, &d->store.index);
    else dab_buffer_clear(b);
}

/* What these buffers hold is a flush. */
static void drain_buffers(struct dab *d, uint32_t from, uint32_t until)
{
    const uint32_t of_sm = d->store.count / d->ctas.used_sms;
    for (uint32_t i = from; (i = dab_next_holding(&d->store, i, until)) < until; i++)
        dab_net_send(d->net, i / of_sm, &d->store.list[i]);
    dab_net_flush(d->net);
    for (uint32_t i = from; (i = dab_next_holding(&d->store, i, until)) < until; i++) {
        d->store.holding[i / 64] &= ~(UINT64_C(1) << i % 64);
        d->store.held -= d->store.list[i].count;
        clear_buffer(d, &d->store.list[i]);
    }
}

/* independent: what one cluster of SMs holds, as soon as one of its buffers is full. */
static void flush_cluster(struct dab *d, uint32_t sm)
{
    const uint32_t size = d->options.sms_per_cluster, from = sm / size * size,
                   until = from + size < d->ctas.used_sms ? from + size : d->ctas.used_sms,
                   of_sm = d->store.count / d->ctas.used_sms;
    drain_buffers(d, from * of_sm, until * of_sm);
    d->counts.flushes[DAB_FULL]++;
}

static enum dab_reason flush_reason(const struct dab *d)
{
    if (d->waits.full) return DAB_FULL;
    enum dab_reason r = DAB_FULL;
    while (r < DAB_EXIT && !d->waits.pending_for[r]) r++;
    return r;
}

/* Everything that is in buffers, then those who waited for it. */
static void flush(struct dab *d)
{
    const enum dab_reason why = flush_reason(d);
    const bool warps_fill = d->options.level == DAB_WARP || d->rule == DAB_ANY;
    d->counts.flushes[why] += d->store.held != 0;
    drain_buffers(d, 0, d->store.held ? d->store.count : 0);
    if (why != DAB_FULL || d->waits.pending) dab_net_drain(d->net);
    if (!d->waits.pending_for[DAB_ATOM]) d->last_progress = d->interval;
    d->interval++;
    d->waits.chain_count = d->waits.chain_at = 0;
    for (uint32_t i = 0; (i = dab_next_sleeping(d, i)) < d->warp_count; i++) {
        struct dab_warp *w = &d->warps[i];
        if (w->is_full) {
            d->waits.full--;
            w->is_full = false;
            if (warps_fill || d->scheds[w->sched].strict) dab_wake(d, w);
            else d->waits.sleeping[i / 64] &= ~(UINT64_C(1) << i % 64);
        }
        if (!w->pending) continue;
        if ((w->chained = w->ordered)) d->waits.chain[d->waits.chain_count++] = i;
        else dab_wake(d, w);
    }
    d->counts.rounds += d->waits.chain_count != 0;
    dab_schedulers_flushed(d);
    grant_next(d);
}

/* The turn of a group of warps goes to one that waits for it. */
static bool offer_smem_turn(struct dab *d, uint32_t group, bool all)
{
    uint32_t *turn = &d->waits.smem_turn[group];
    const uint32_t warps = group_slots(d) * d->shape.warps_per_cta;
    bool wanted = false;
    for (uint32_t i = 0; i < warps; i++) wanted |= warp_in_group(d, group, i)->waits_for_smem_turn;
    for (uint32_t n = 0; wanted && n < warps; n++, *turn = (*turn + 1) % warps) {
        struct dab_warp *h = warp_in_group(d, group, *turn);
        if (h->waits_for_smem_turn) return dab_wake(d, h), true;
        if (h->lives && !h->at_barrier && !all) return false;
    }
    return false;
}

/* Turns pass those who are at a barrier; or all who wait for something else. */
static bool skip_smem_turns(struct dab *d, bool all)
{
    bool any = false;
    const uint32_t step = group_slots(d);
    if (!d->waits.smem_waiters) return false;
    for (uint32_t slot = 0; slot + step <= d->ctas.used_slots; slot += step)
        any |= offer_smem_turn(d, slot, all);
    return any;
}

static bool skip_turns(struct dab *d, bool all)
{
    bool any = dab_skip_turns(d, all);
    any |= skip_smem_turns(d, all);
    if (any) d->waits.idle_tests = 0;
    return any;
}

static void wake_mbarrier_waiters(struct dab *d)
{
    for (uint32_t i = 0; d->waits.mbarrier_waiters && (i = dab_next_sleeping(d, i)) < d->warp_count;
         i++) {
        struct dab_warp *w = &d->warps[i];
        const struct emu_warp who = dab_identity(w);
        if (!w->tests_mbarrier) continue;
        if (w->failed_tests > MOST_FAILED_TESTS) emu_machine_time_out(d->m, &who);
        dab_wake(d, w);
    }
}

/* No warp is ready, but some have run ahead: their turns pass. Whether one is ready then. */
static bool spend_turns(struct dab *d)
{
    size_t count;
    const struct emu_warp *ready = emu_machine_ready(d->m, &count);
    d->ahead.warp = NULL;
    if (!d->ahead.on || count) return false;
    dab_pick_strict(d, ready, 0);
    if (d->ahead.freed) emu_machine_place_ctas(d->m);
    d->ahead.freed = false;
    emu_machine_ready(d->m, &count);
    return count != 0;
}

static bool dab_on_idle(void *self)
{
    struct dab *d = self;
    if (is_strict(d) && spend_turns(d)) return true;
    if (wake_deferred(d) || grant_next(d)) return true;
    if (d->waits.woke_in_pick) { /* by the dab_pick() that found nobody */
        d->waits.woke_in_pick = false;
        return true;
    }
    if (d->waits.mbarrier_waiters && !d->waits.all_tested) { /* what they wait for may be there */
        d->waits.all_tested = true;
        wake_mbarrier_waiters(d);
        return true;
    }
    if (skip_turns(d, false)) return true;
    if (d->store.held || d->waits.pending || d->waits.full) {
        d->waits.idle_tests = 0;
        if (d->batches_given_up || d->interval - d->last_progress >= MOST_STALLED_FLUSHES)
            dab_give_up_batches(d);
        flush(d);
        return true;
    }
    dab_net_drain(d->net);
    if (skip_turns(d, true)) return true;
    if (dab_give_up_batches(d)) {
        flush(d);
        return true;
    }
    if (!d->waits.mbarrier_waiters || d->waits.idle_tests++ == MOST_IDLE_TESTS) return false;
    wake_mbarrier_waiters(d);
    return true;
}

/* What is in buffers stays there while warps go on. */
static void drain_network(void *self)
{
    const struct dab *d = self;
    dab_net_drain(d->net);
}

static bool will_wake(void *self)
{
    return dab_batches_block(self);
}

/* ---- the adversary ---------------------------------------------------------------------------------- */

static int dab_pick(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst)
{
    struct dab *d = self;
    if (d->options.overlap && rng_below(&d->adversary.random, 4) == 0) dab_net_arrive_one(d->net);
    *burst = 1;
    if (d->waits.mbarrier_waiters && ++d->adversary.picks % MBARRIER_RETRY == 0)
        wake_mbarrier_waiters(d);
    d->waits.woke_in_pick = wake_deferred(d); /* comes behind those of this list */
    if (is_strict(d)) {
        if (d->ahead.freed) emu_machine_place_ctas(d->m);
        d->ahead.freed = false;
        ready = emu_machine_ready(d->m, &count);
        settle_burst(d, ready);
        if (!d->adversary.bias_draws--) {
            const uint64_t random = rng_next(&d->adversary.random);
            d->adversary.bias_draws = random % MOST_BIAS_DRAWS;
            d->adversary.bias = random >> 8 & 3;
            d->adversary.burst = (uint32_t)(random >> 32);
        }
        if (!d->adversary.bias) d->adversary.burst = (uint32_t)rng_next(&d->adversary.random);
        const int i = dab_pick_strict(d, ready, count);
        if (i >= 0) begin_burst(d, &ready[i], burst);
        return i;
    }
    if (!d->adversary.bias_draws--) {
        const uint64_t random = rng_next(&d->adversary.random);
        d->adversary.bias_draws = random % MOST_BIAS_DRAWS;
        d->adversary.bias = random >> 8 & 3 ? 0 : random >> 32;
        d->adversary.burst = 1 +
                             rng_below(&d->adversary.random, random >> 16 & 3 ? LONGEST_BURST : 4);
    }
    *burst = d->adversary.burst;
    return (int)(count - 1 - (d->adversary.bias * count >> 32));
}

/* Whether so few warps can go on that the adversary lets the next CTA begin. */
static bool window_is_open(struct dab *d)
{
    size_t count;
    emu_machine_ready(d->m, &count);
    if (is_strict(d)) return true;
    if (count >= d->adversary.window) return false;
    if (!d->adversary.window_ctas--) {
        d->adversary.window_ctas = rng_below(&d->adversary.random, MOST_WINDOW_CTAS);
        d->adversary.window = 1u << rng_below(&d->adversary.random, WINDOW_SIZES);
    }
    return true;
}

/* CTAs wait until a flush has emptied the buffers of the warps that were in their slot. */
static bool slot_holds_entries(const struct dab *d, uint32_t slot)
{
    const struct dab_warp *first = &d->warps[d->ctas.first[slot]];
    bool any = false;
    for (uint32_t i = 0; d->options.level == DAB_WARP && i < d->shape.warps_per_cta; i++)
        any |= dab_buffer_of(d, &first[i])->count != 0;
    return any;
}

/* Clusters into the slots that they are dealt to, when all of the batch before have ended: a batch at once, so that
 * none is in the place of one that has ended. */
static int place_cluster(struct dab *d, size_t count)
{
    if (!d->ctas.fixed && !window_is_open(d)) return -1;
    const uint32_t of_batch = d->ctas.usable / d->shape.cluster;
    if (d->ctas.fixed && d->ctas.clusters_placed % of_batch == 0 && count < d->shape.slots)
        return -1;
    d->ctas.clusters_placed++;
    return d->ctas.fixed ? 0 : (int)rng_below(&d->adversary.random, (uint32_t)count);
}

static int dab_place(void *self, const uint32_t *free_slots, size_t count, uint32_t *cta)
{
    struct dab *d = self;
    if (d->shape.cluster > 1) return place_cluster(d, count);
    if (!window_is_open(d)) return -1;
    if (!d->ctas.fixed) return (int)rng_below(&d->adversary.random, (uint32_t)count);
    uint32_t tried = 0;
    while (tried < d->ctas.due_count && slot_holds_entries(d, d->ctas.due[d->ctas.due_first])) {
        queue_slot(d, next_due_slot(d));
        tried++;
    }
    if (tried == d->ctas.due_count) return -1;
    const uint32_t slot = next_due_slot(d);
    *cta = d->ctas.dealt[slot];
    d->ctas.dealt[slot] += d->ctas.usable;
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
static bool warp_choice_is_irrelevant(const struct dab *d)
{
    return d->order.step == EMU_STEP_EVENT && dab_promise(&d->options) != ORDER_NO_PROMISE;
}

static unsigned wants_of(void *self, const struct emu_launch_traits *next)
{
    struct dab *d = self;
    d->adversary.launches++;
    if (next->observed) return d->order.wants;
    return d->order.wants | EMU_SKIP_COMMUTING_SHARED |
           (next->counted ? 0
                          : EMU_SKIP_IF_CONFLICT_FREE | EMU_BRIEF_RETRIES |
                                (warp_choice_is_irrelevant(d) ? EMU_DEFER_REDUCTIONS : 0));
}
static const struct emu_order_fast fast = {.wants = wants_of};

/* ---- launches --------------------------------------------------------------------------------------- */

static void *zeroed(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) abort();
    return p;
}

/* Zeros, in memory that is kept for the next launch. */
static void *allocate(struct dab *d, enum dab_allocation which, size_t count, size_t size)
{
    struct dab_memory *m = &d->allocations[which];
    const size_t need = (count ? count : 1) * size;
    if (need <= m->size) return memset(m->at, 0, need);
    free(m->at);
    m->size = need;
    return m->at = zeroed(need, 1);
}

/* Those that CTAs never come to are left out: mostly there are many, and few CTAs. */
static void distribute_slots(struct dab *d)
{
    const uint32_t sms = d->shape.sms,
                   gate = d->options.sms && d->options.sms < sms && d->shape.cluster == 1
                              ? d->options.sms
                              : sms;
    d->ctas.usable = d->shape.slots / sms * gate;
    d->ctas.usable -= d->ctas.usable % d->shape.cluster;
    const uint32_t some = d->ctas.fixed && d->shape.ctas < d->ctas.usable
                              ? d->shape.ctas
                              : d->ctas.usable; /* that are dealt to */
    d->ctas.used_slots = some ? (some - 1) / gate * sms + (some - 1) % gate + 1 : 0;
    if (!d->ctas.fixed || d->shape.cluster > 1) d->ctas.used_slots = d->shape.slots;
    d->ctas.deal = allocate(d, DAB_DEAL, some, sizeof *d->ctas.deal);
    d->ctas.dealt = allocate(d, DAB_DEALT, d->ctas.used_slots, sizeof *d->ctas.dealt);
    for (uint32_t s = 0, i = 0, on_sm = 0; s < d->ctas.used_slots; s++) {
        const bool is_dealt = on_sm < gate && i < d->ctas.usable;
        d->ctas.dealt[s] = is_dealt ? i : UINT32_MAX;
        if (is_dealt && i < some) d->ctas.deal[i] = s;
        i += is_dealt;
        if (++on_sm == sms) on_sm = 0;
    }
}

static void begin_warps(struct dab *d)
{
    const uint32_t slots = d->ctas.used_slots, sms = d->shape.sms, schedulers = d->shape.schedulers,
                   of_cta = d->shape.warps_per_cta;
    d->ctas.per_sm = (slots + sms - 1) / sms * of_cta;
    d->ctas.used_sms = slots < sms ? slots : sms;
    d->warp_count = d->ctas.per_sm * d->ctas.used_sms;
    d->warps = allocate(d, DAB_WARPS, d->warp_count, sizeof *d->warps);
    d->waits.sleeping = allocate(d, DAB_SLEEPING, d->warp_count / 64 + 1,
                                 sizeof *d->waits.sleeping);
    d->waits.chain = allocate(d, DAB_CHAIN, d->warp_count, sizeof *d->waits.chain);
    d->ctas.first = allocate(d, DAB_FIRST, slots, sizeof *d->ctas.first);
    d->waits.smem_turn = allocate(d, DAB_SMEM_TURN, slots, sizeof *d->waits.smem_turn);
    d->ctas.due = allocate(d, DAB_DUE, slots, sizeof *d->ctas.due);
    d->ctas.due_first = d->ctas.due_count = 0;
    for (uint32_t sm = 0; sm < d->ctas.used_sms; sm++) {
        struct dab_warp *const first = &d->warps[sm * d->ctas.per_sm];
        for (uint32_t i = 0, k = 0, place = 0; i < d->ctas.per_sm; i++) {
            first[i].sched = sm * schedulers + k;
            first[i].place = place;
            if (++k == schedulers) k = 0, place++;
        }
        for (uint32_t s = sm, at = 0; s < slots; s += sms, at += of_cta) {
            d->ctas.first[s] = sm * d->ctas.per_sm + at;
            if (has_due_slots(d) && d->ctas.dealt[s] < d->shape.ctas)
                d->ctas.due[d->ctas.due_count++] = s;
        }
    }
    for (uint32_t i = 0; i < d->ctas.usable && i < d->shape.ctas; i++) /* place in the deal */
        for (uint32_t k = 0; k < of_cta; k++)
            d->warps[d->ctas.first[d->ctas.deal[i]] + k].batches = (d->shape.ctas - 1 - i) /
                                                                       d->ctas.usable +
                                                                   1;
}

static void begin_schedulers(struct dab *d)
{
    const uint32_t schedulers = d->shape.schedulers;
    d->sched_count = d->ctas.used_sms * schedulers;
    d->scheds = allocate(d, DAB_SCHEDS, d->sched_count, sizeof *d->scheds);
    d->touched = allocate(d, DAB_TOUCHED, d->sched_count, sizeof *d->touched);
    d->stuck = allocate(d, DAB_STUCK, d->sched_count / 64 + 1, sizeof *d->stuck);
    d->stuck_picks = 0;
    for (uint32_t s = 0; s < d->sched_count; s++) {
        const uint32_t sm = s / schedulers, k = s % schedulers;
        struct dab_sched *q = &d->scheds[s];
        *q = (struct dab_sched){
            .first = sm * d->ctas.per_sm + k,
            .size = d->ctas.per_sm <= k ? 0 : (d->ctas.per_sm - k + schedulers - 1) / schedulers,
            .last = DAB_NONE,
            .batch = 1,
            .strict = d->rule == DAB_SRR};
        for (uint32_t i = 0; i < q->size; i++) {
            const uint32_t batches = d->warps[q->first + i * schedulers].batches;
            if (batches > q->batches) q->batches = batches;
        }
    }
}

static void begin_buffers(struct dab *d)
{
    const uint32_t count = d->options.level == DAB_WARP ? d->warp_count : d->sched_count;
    if (count > d->store.capacity) {
        d->store.list = realloc(d->store.list, count * sizeof *d->store.list);
        if (!d->store.list) abort();
        memset(d->store.list + d->store.capacity, 0,
               (count - d->store.capacity) * sizeof *d->store.list);
        d->store.capacity = count;
    }
    d->store.count = count;
    d->store.holding = allocate(d, DAB_HOLDING, count / 64 + 1, sizeof *d->store.holding);
    d->store.held = 0;
}

static void dab_on_begin(void *self, struct emu_machine *m)
{
    struct dab *d = self;
    d->m = m;
    d->shape = emu_machine_shape(m);
    d->rule = dab_rule_of(d);
    d->adversary.random = rng_mix(d->adversary.seed + d->adversary.launches * RNG_STEP);
    d->ctas.fixed = !d->options.distribution;
    d->batched = d->ctas.fixed && d->options.batches;
    d->ahead = (struct dab_ahead){.on = is_strict(d) &&
                                        dab_promise(&d->options) != ORDER_NO_PROMISE};
    d->store.by_sector = emu_machine_is_deferred(m) && d->options.coalescing && !d->options.offset;
    distribute_slots(d);
    begin_warps(d);
    begin_schedulers(d);
    begin_buffers(d);
    memset(&d->counts, 0, sizeof d->counts);
    memset(d->waits.pending_for, 0, sizeof d->waits.pending_for);
    d->waits.full = d->waits.smem_waiters = d->waits.pending = d->waits.mbarrier_waiters =
        d->waits.at_barriers = d->waits.idle_tests = 0;
    d->ctas.clusters_placed = d->touched_count = d->waits.chain_count = d->waits.chain_at =
        d->adversary.bias_draws = d->adversary.window_ctas = 0;
    d->adversary.bias = 0;
    d->adversary.window = 1;
    d->waits.going_to_sleep = d->waits.wake_later = NULL;
    d->waits.woke_in_pick = d->waits.all_tested = d->any_waited = false;
    d->interval = d->last_progress = 1;
    d->batches_given_up = false;
    if (d->net_sms != d->shape.sms) {
        dab_net_free(d->net);
        d->net_sms = d->shape.sms;
        d->net = dab_net_new(&d->options, d->shape.sms, &d->adversary.random, &d->counts);
    }
    dab_net_begin(d->net, m, d->store.by_sector);
}

static void dab_on_end(void *self)
{
    struct dab *d = self;
    for (uint32_t i = 0; d->store.held && i < d->store.count; i++)
        clear_buffer(d, &d->store.list[i]);
}

static void numbers(void *self, void (*tell_it)(void *to, const char *name, uint64_t value),
                    void *to)
{
    const struct dab *d = self;
    uint64_t n[DAB_NUMBERS];
    memcpy(n, &d->counts, sizeof n);
    for (int i = 0; i < DAB_NUMBERS; i++) tell_it(to, dab_number_names[i], n[i]);
}

static const struct emu_order_livelock livelock = {.quiesce = drain_network,
                                                   .will_wake = will_wake};

static struct emu_order *make(const void *options, uint64_t seed)
{
    struct dab *d = zeroed(1, sizeof *d);
    d->options = *(const struct dab_options *)options;
    d->adversary.seed = rng_mix(seed);
    const bool strict = d->options.scheduler == DAB_SRR || d->options.scheduler == DAB_GTRR;
    d->order = (struct emu_order){.self = d,
                                  .name = dab_kind.name,
                                  .step = strict ? EMU_STEP_INSTRUCTION : EMU_STEP_EVENT,
                                  .fast = &fast,
                                  .begin = dab_on_begin,
                                  .pick = dab_pick,
                                  .place_any = dab_place,
                                  .access = dab_on_access,
                                  .sync = dab_on_sync,
                                  .idle = dab_on_idle,
                                  .end = dab_on_end,
                                  .livelock = &livelock,
                                  .numbers = numbers};
    return &d->order;
}

static void release(struct emu_order *o)
{
    struct dab *d = o->self;
    for (uint32_t i = 0; i < d->store.capacity; i++) dab_buffer_free(&d->store.list[i]);
    free(d->store.list);
    free(d->store.index.table);
    dab_net_free(d->net);
    for (int i = 0; i < DAB_ALLOCATIONS; i++) free(d->allocations[i].at);
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
    .nests = true,
    .conflict = dab_conflict,
    .promise = dab_promise,
    .storage = dab_storage,
    .make = make,
    .free = release,
};
