/* Determinism-aware scheduling of DAB (MICRO 2020, section IV-C): in which order the warps of one scheduler fill its
 * atomic buffer. Each rule is implemented by itself:
 *
 *  srr   strict round robin (IV-C1). Warps issue every instruction in turn. Turns skip warps at barriers, and wait for all
 *        others.
 *  gtrr  greedy then round robin (IV-C2). Any order until all warps are at their first atomic or have exited; from then on
 *        srr. The warps of a batch (below) issue no instruction before the previous batch ends: otherwise the adversary
 *        would choose how many they issue before the round robin.
 *  gtar  greedy then atomic round robin (IV-C3). Any order between atomics. When all warps are at an atomic or have exited,
 *        each executes one atomic, in turn: a round.
 *  gwat  greedy with atomic token (IV-C4). Any order between atomics. The warp with the token may execute an atomic, and
 *        then passes the token on.
 *
 * The rules are of a time before clusters. In a launch with clusters srr and gtrr give way to gtar: a warp that waits at its
 * cluster's barrier has turns in vain, and how many is the adversary's choice.
 *
 * dab.c asks whether a warp may reduce (dab_may_reduce) and reports what warps do. A rule wakes the warp whose turn it
 * is.
 *
 * Turns do not wait for warps that have exited or wait for a flush: these stay so until a flush, and a flush waits for
 * all warps. Turns do wait for a warp at a barrier, because the time of its release depends on other schedulers; when
 * no warp can run, it is skipped (dab_skip_turns). For the same reason srr readmits a warp that was at a barrier only
 * when no other warp can run.
 *
 * Batches (IV-C5). A batch has one CTA for each slot: a scheduler executes the atomics of the next batch when all warps
 * of the current batch have exited. Atomics with a live result do not wait for batches (they are executed in a fixed
 * order anyway). So a warp may take a lock that a warp of the previous batch needs, and release it by a reduction,
 * which waits for that batch: a deadlock that the paper does not treat. If warps have waited to execute such atomics at
 * many successive flushes, and no warp has exited, batches are given up: all warps that wait at that idle point are
 * admitted. The set of these warps does not depend on the adversary. */
#include "determinism/dab/internal.h"

#include <stdlib.h>
#include <string.h>

enum { UNSTICK = 256 }; /* picks */

uint32_t dab_rule_of(const struct dab *d)
{
    const uint32_t rule = d->options.scheduler;
    return d->shape.cluster != 1 && (rule == DAB_SRR || rule == DAB_GTRR) ? (uint32_t)DAB_GTAR
                                                                          : rule;
}

/* The place after i, which may be -1. */
static uint32_t after_in_ring(const struct dab_sched *q, int32_t i)
{
    return (uint32_t)(i + 1) < q->size ? (uint32_t)(i + 1) : 0;
}
static struct dab_warp *in_ring(const struct dab *d, const struct dab_sched *q, uint32_t i)
{
    return &d->warps[q->first + i * d->shape.schedulers];
}

enum batch_state { DONE, NOT_BEGUN, ACTIVE }; /* of a warp in its scheduler's batch */

static enum batch_state batch_state_of(const struct dab *d, const struct dab_sched *q,
                                       const struct dab_warp *w)
{
    if (d->batches_given_up) return w->lives && w->admitted ? ACTIVE : DONE;
    if (!d->batched || w->batch == q->batch) return w->lives ? ACTIVE : DONE;
    return w->batch < q->batch && w->batches >= q->batch ? NOT_BEGUN : DONE;
}

static void count_remaining(const struct dab *d, struct dab_sched *q)
{
    q->counted = true;
    q->left = 0;
    for (uint32_t i = 0; i < q->size; i++)
        q->left += batch_state_of(d, q, in_ring(d, q, i)) != DONE;
}

/* Goes on to the next batch if this one is over; false: there is nothing more to come. */
static bool advance_batch(const struct dab *d, struct dab_sched *q)
{
    if (!q->counted) count_remaining(d, q);
    while (!q->left) {
        if (!d->batched || d->batches_given_up || q->batch >= q->batches) return false;
        q->batch++;
        q->turn = 0;
        q->last = DAB_NONE;
        q->round = q->issued = false;
        count_remaining(d, q);
    }
    return true;
}

/* Whether a warp need not be waited for until there was a flush. One whose turn comes after the last flush must be: when
 * it does is the adversary's. */
static bool need_not_wait_for(const struct dab *d, const struct dab_sched *q,
                              const struct dab_warp *w)
{
    return batch_state_of(d, q, w) == DONE || (w->pending && !w->chained);
}

static void allow_reduction(struct dab *d, struct dab_warp *w)
{
    if (w->wants && !w->is_full) dab_wake(d, w);
}

static bool is_ordered(const struct dab *d)
{
    return d->options.level == DAB_SCHEDULER && d->rule != DAB_ANY;
}

/* ---- gwat ------------------------------------------------------------------------------------------- */

static void pass_token(struct dab *d, struct dab_sched *q)
{
    for (uint32_t n = 0; n < q->size && need_not_wait_for(d, q, in_ring(d, q, q->turn)); n++)
        q->turn = after_in_ring(q, (int32_t)q->turn);
    if (!need_not_wait_for(d, q, in_ring(d, q, q->turn)))
        allow_reduction(d, in_ring(d, q, q->turn));
}

/* ---- gtar ------------------------------------------------------------------------------------------- */

static void begin_round(struct dab *d, struct dab_sched *q)
{
    for (uint32_t i = 0; i < q->size; i++) {
        struct dab_warp *w = in_ring(d, q, i);
        w->in_round = batch_state_of(d, q, w) == ACTIVE && w->wants;
        q->round |= w->in_round;
    }
    q->turn = 0;
}

/* To the next of the round. */
static void continue_round(struct dab *d, struct dab_sched *q)
{
    while (q->turn < q->size && !in_ring(d, q, q->turn)->in_round) q->turn++;
    if (q->turn < q->size) allow_reduction(d, in_ring(d, q, q->turn));
    else q->round = false;
}

static bool all_at_atomic(const struct dab *d, const struct dab_sched *q)
{
    for (uint32_t i = 0; i < q->size; i++) {
        const struct dab_warp *w = in_ring(d, q, i);
        if (!w->wants && !need_not_wait_for(d, q, w)) return false;
        if (batch_state_of(d, q, w) == NOT_BEGUN) return false;
    }
    return true;
}

/* ---- gtrr, srr -------------------------------------------------------------------------------------- */

static void begin_strict(struct dab *d, struct dab_sched *q)
{
    q->strict = true;
    q->turn = 0;
    q->issued = false;
    for (uint32_t i = 0; i < q->size; i++) {
        struct dab_warp *w = in_ring(d, q, i);
        w->left_round = w->at_barrier;
        if (batch_state_of(d, q, w) == ACTIVE) allow_reduction(d, w);
    }
}

static bool is_skipped(const struct dab *d, const struct dab_sched *q, const struct dab_warp *w)
{
    return batch_state_of(d, q, w) == DONE || w->left_round ||
           (w->pending && w->why == DAB_BARRIER);
}

/* The place of the warp that the turn passes on to. */
static uint32_t next_in_ring(const struct dab *d, const struct dab_sched *q)
{
    uint32_t turn = q->turn;
    for (uint32_t n = 0; n < q->size; n++) {
        turn = after_in_ring(q, (int32_t)turn);
        if (!is_skipped(d, q, in_ring(d, q, turn))) break;
    }
    return turn;
}

static void pass_turn(struct dab_sched *q, uint32_t turn)
{
    q->turn = turn;
    q->issued = false;
}

static int ready_place(const struct dab *d, const struct dab_warp *w)
{
    const struct emu_warp who = dab_identity(w);
    return w->lives ? emu_machine_ready_place(d->m, &who) : -1;
}

/* Before the round robin: any warp that is ready and not at an atomic. */
static int pick_greedily(const struct dab *d, const struct dab_sched *q)
{
    const uint32_t from = d->adversary.burst % q->size;
    for (uint32_t n = 0; n < q->size; n++) {
        const struct dab_warp *w = in_ring(d, q, (from + n) % q->size);
        const int i = batch_state_of(d, q, w) == ACTIVE && !w->wants ? ready_place(d, w) : -1;
        if (i >= 0) return i;
    }
    return -1;
}

/* It has issued the instruction of its next turn already. */
static bool is_ahead(const struct dab_warp *w)
{
    return w->ahead || w->exits;
}

static bool any_ready(const struct dab *d, const struct dab_sched *q)
{
    for (uint32_t i = 0; i < q->size; i++) {
        const struct dab_warp *w = in_ring(d, q, i);
        if (batch_state_of(d, q, w) == ACTIVE && !w->left_round &&
            (is_ahead(w) || ready_place(d, w) >= 0))
            return true;
    }
    return false;
}

/* The turn goes to an instruction that the warp has issued already. */
static void spend_turn(struct dab *d, struct dab_sched *q, struct dab_warp *w)
{
    q->issued = true;
    q->skips = 0;
    if (w->ahead) w->ahead--;
    else dab_end_ahead(d, w);
}

/* The turn passes on when a warp of the scheduler is ready: so when it does is not the adversary's
 * choice. */
static int pick_in_turn(struct dab *d, struct dab_sched *q, const struct emu_warp *ready)
{
    while (advance_batch(d, q)) {
        const bool passes = q->issued || is_skipped(d, q, in_ring(d, q, q->turn));
        const uint32_t turn = passes ? next_in_ring(d, q) : q->turn;
        struct dab_warp *w = in_ring(d, q, turn);
        const bool may = batch_state_of(d, q, w) == ACTIVE && !w->left_round;
        const int i = may && !is_ahead(w) ? ready_place(d, w) : -1;
        if (passes && (i >= 0 || any_ready(d, q))) pass_turn(q, turn);
        if (i >= 0) {
            q->issued = true;
            if (!ready[i].waits) q->skips = 0;
            return i;
        }
        if (!may || !is_ahead(w)) return -1;
        spend_turn(d, q, w);
    }
    return -1;
}

/* The first scheduler from `at` on that is not stuck, and below `until`; `until`: none. */
static uint32_t next_not_stuck(const struct dab *d, uint32_t at, uint32_t until)
{
    while (at < until) {
        const uint64_t rest = ~d->stuck[at / 64] >> at % 64;
        if (rest) at += (uint32_t)__builtin_ctzll(rest);
        if (rest) break;
        at = (at | 63) + 1;
    }
    return at < until ? at : until;
}

static int pick_between(struct dab *d, const struct emu_warp *ready, uint32_t from, uint32_t until)
{
    for (uint32_t s = from; (s = next_not_stuck(d, s, until)) < until; s++) {
        struct dab_sched *q = &d->scheds[s];
        int i = -1;
        if (q->size && q->strict) i = pick_in_turn(d, q, ready);
        else if (q->size && advance_batch(d, q)) i = pick_greedily(d, q);
        if (i >= 0) {
            d->adversary.burst = s; /* may go on */
            return i;
        }
        d->stuck[s / 64] |= UINT64_C(1) << s % 64;
    }
    return -1;
}

static int pick_from(struct dab *d, const struct emu_warp *ready, uint32_t from)
{
    const int i = pick_between(d, ready, from, d->sched_count);
    return i >= 0 ? i : pick_between(d, ready, 0, from);
}

/* A scheduler of which no warp can be picked is looked at again when one of its warps has been
 * woken, and now and then: the order is not notified of those that wait for something else. */
int dab_pick_strict(struct dab *d, const struct emu_warp *ready, size_t count)
{
    const uint32_t from = d->adversary.burst % d->sched_count;
    const bool all = ++d->stuck_picks == UNSTICK;
    int i = all ? -1 : pick_from(d, ready, from);
    if (i >= 0) return i;
    d->stuck_picks = 0;
    for (size_t n = 0; n < count; n++) dab_unstick(d, dab_warp(d, &ready[n])->sched);
    return pick_from(d, ready, from);
}

/* ---- for all ---------------------------------------------------------------------------------------- */

bool dab_may_reduce(struct dab *d, const struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (!is_ordered(d)) return true;
    if (!advance_batch(d, q) || batch_state_of(d, q, w) != ACTIVE) return false;
    switch (d->rule) {
    case DAB_GWAT: return q->turn == w->place;
    case DAB_GTAR: return q->round && w->in_round && q->turn == w->place;
    default: return q->strict;
    }
}

void dab_reduced(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (!is_ordered(d)) return;
    dab_touch(d, q);
    q->last = (int32_t)w->place;
    if (d->rule == DAB_GWAT) {
        q->turn = after_in_ring(q, (int32_t)q->turn);
        pass_token(d, q);
    } else if (d->rule == DAB_GTAR) {
        w->in_round = false;
        continue_round(d, q);
    }
}

void dab_scheduler_update(struct dab *d, const struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (!is_ordered(d)) return;
    dab_touch(d, q);
    if (!advance_batch(d, q)) return;
    switch (d->rule) {
    case DAB_GWAT: pass_token(d, q); break;
    case DAB_GTAR:
        if (!q->round && all_at_atomic(d, q)) begin_round(d, q);
        if (q->round) continue_round(d, q);
        break;
    case DAB_GTRR:
        if (!q->strict && all_at_atomic(d, q)) begin_strict(d, q);
        break;
    default: break;
    }
}

void dab_scheduler_add(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    w->lives = true;
    dab_unstick(d, w->sched);
    if (d->batched) return; /* it has been waited for */
    q->left += q->counted;
    if (d->any_waited) dab_scheduler_update(d, w);
}

void dab_scheduler_remove(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (q->counted && batch_state_of(d, q, w) == ACTIVE) q->left--;
    w->lives = false;
    dab_unstick(d, w->sched);
    d->last_progress = d->interval;
    if (d->any_waited) dab_scheduler_update(d, w);
}

/* The token waits for one that has not begun, perhaps because those that it is to follow wait for this one. */
static bool is_blocked_by_batch(const struct dab *d, const struct dab_sched *q,
                                const struct dab_warp *w)
{
    const bool may_run = d->rule == DAB_GWAT || d->rule == DAB_GTAR;
    if (!w->lives || (may_run && !w->wants)) return false;
    if (batch_state_of(d, q, w) == DONE) return true;
    return d->rule == DAB_GWAT && !w->is_full &&
           batch_state_of(d, q, in_ring(d, q, q->turn)) == NOT_BEGUN;
}

bool dab_batches_block(const struct dab *d)
{
    for (uint32_t s = 0; d->batched && is_ordered(d) && s < d->sched_count; s++)
        for (uint32_t i = 0; i < d->scheds[s].size; i++)
            if (is_blocked_by_batch(d, &d->scheds[s], in_ring(d, &d->scheds[s], i))) return true;
    return false;
}

bool dab_give_up_batches(struct dab *d)
{
    if (!dab_batches_block(d)) return false;
    for (uint32_t s = 0; s < d->sched_count; s++) {
        struct dab_sched *q = &d->scheds[s];
        for (uint32_t i = 0; i < q->size; i++) {
            struct dab_warp *w = in_ring(d, q, i);
            w->admitted = w->lives &&
                          (batch_state_of(d, q, w) == ACTIVE || is_blocked_by_batch(d, q, w));
        }
        q->counted = false;
        dab_touch(d, q);
    }
    d->batches_given_up = true;
    return true;
}

/* The next that waits for its turn and whose entries fit, behind one that is at a barrier; or that waits for anything. */
static bool skip_to_next(struct dab *d, struct dab_sched *q, bool all)
{
    if (!in_ring(d, q, q->turn)->at_barrier && !all) return false;
    for (uint32_t n = 1; n < q->size; n++) {
        struct dab_warp *w = in_ring(d, q, (q->turn + n) % q->size);
        if (need_not_wait_for(d, q, w) || ((w->at_barrier || all) && !w->wants)) continue;
        q->turn = (q->turn + n) % q->size;
        dab_touch(d, q);
        const bool goes = w->wants && !w->is_full;
        allow_reduction(d, w);
        return goes;
    }
    return false;
}

static bool skip_strict(struct dab *d, struct dab_sched *q)
{
    bool back = false, other = false;
    for (uint32_t i = 0; i < q->size; i++) {
        struct dab_warp *w = in_ring(d, q, i);
        const bool was_early = batch_state_of(d, q, w) == ACTIVE && w->wants && !w->is_full;
        if (was_early)
            allow_reduction(d, w); /* it came to its first before its batch and the round robin */
        back |= was_early || (w->left_round && !w->at_barrier && w->lives && !w->pending);
        if (!w->at_barrier) w->left_round = false;
        other |= i != q->turn && batch_state_of(d, q, w) == ACTIVE && !w->pending && !w->wants &&
                 !w->waits_for_smem_turn && !w->left_round;
    }
    if (back) return true;
    /* whose turn it is waits for something that the order is not notified of (an mbarrier) */
    const struct dab_warp *h = in_ring(d, q, q->turn);
    if (!other || h->pending || h->is_full || q->skips >= q->size) return false;
    q->skips++;
    pass_turn(q, next_in_ring(d, q));
    return true;
}

bool dab_skip_turns(struct dab *d, bool all)
{
    const bool gwat = d->rule == DAB_GWAT;
    bool any = false;
    if (!is_ordered(d) || (gwat && !(all ? d->any_waited : d->waits.at_barriers != 0)))
        return false;
    for (uint32_t s = 0; s < d->sched_count; s++) {
        struct dab_sched *q = &d->scheds[s];
        if (!q->size || !advance_batch(d, q)) continue;
        switch (d->rule) {
        case DAB_GWAT: any |= skip_to_next(d, q, all); break;
        case DAB_GTAR:
            if (q->round) break;
            begin_round(d, q);
            if (!q->round) break;
            continue_round(d, q);
            any = true;
            break;
        default:
            if (q->strict) {
                const bool skips = skip_strict(d, q);
                if (skips) dab_unstick(d, s);
                any |= skips;
            } else {
                bool waits = false;
                for (uint32_t i = 0; i < q->size; i++)
                    waits |= batch_state_of(d, q, in_ring(d, q, i)) == ACTIVE &&
                             in_ring(d, q, i)->wants;
                if (waits) begin_strict(d, q);
                if (waits) dab_unstick(d, s);
                any |= waits;
            }
        }
    }
    return any;
}

void dab_schedulers_flushed(struct dab *d)
{
    for (uint32_t i = 0; i < d->touched_count; i++) {
        struct dab_sched *q = &d->scheds[d->touched[i]];
        q->touched = false;
        if (!advance_batch(d, q)) continue;
        if (d->rule == DAB_GWAT) {
            q->turn = after_in_ring(q, q->last);
            pass_token(d, q);
        }
        if (d->rule == DAB_GTAR && q->round) continue_round(d, q);
    }
    d->touched_count = 0;
}
