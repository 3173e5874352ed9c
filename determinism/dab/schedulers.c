/* Schedulers of dab: in which order the warps of one fill its buffer. Each rule is its own (section IV-C):
 *
 *  srr   every instruction is issued in turn; those at barriers are passed over, others are waited for.
 *  gtrr  any order until all warps are at their first atomic or have ended; from then on as srr. A batch (below) waits
 *        for the one before with all it does: how far it came before the round robin would be the adversary's.
 *  gtar  any order between atomics. When all warps are at one or have ended they do one each, in turn: a round.
 *  gwat  any order between atomics. One warp has the token, may do an atomic, and hands the token on.
 *
 * Warps that wait for a flush or have ended are not waited for: that lasts until a flush, and a flush waits for all.
 * A warp at a barrier is waited for: when it goes on depends on other schedulers. Where nobody can go on it is passed
 * over (dab_unstick). For the same reason srr has a warp back that was at a barrier only when nobody else can go on.
 *
 * CTAs come in batches, one to a slot: a scheduler does the atomics of the next when all warps of one have ended.
 * Atomics whose result is read wait for no batch (they are done in a fixed order as it is). So a warp may take a lock
 * that one of the batch before wants, and have to wait for that batch with giving it back. Where warps have waited to do
 * such atomics at many flushes in turn, and none has ended, there are no batches any more: warps that wait where no warp
 * can go on are let in then. Who these are does not depend on the adversary. */
#include "determinism/dab/internal.h"

#include <stdlib.h>

/* The place after i, which may be -1. */
static uint32_t after_in_ring(const struct dab_sched *q, int32_t i)
{
    return (uint32_t)(i + 1) < q->size ? (uint32_t)(i + 1) : 0;
}
static struct dab_warp *in_ring(const struct dab *d, const struct dab_sched *q, uint32_t i)
{
    return &d->warps[q->first + i * d->shape.schedulers];
}

enum part { OVER, COMING, THERE }; /* of a warp in its scheduler's batch */

static enum part part_of(const struct dab *d, const struct dab_sched *q, const struct dab_warp *w)
{
    if (d->loose) return w->lives && w->let_in ? THERE : OVER;
    if (!d->batched || w->batch == q->batch) return w->lives ? THERE : OVER;
    return w->batch < q->batch && w->batches >= q->batch ? COMING : OVER;
}

static void count_left(const struct dab *d, struct dab_sched *q)
{
    q->counted = true;
    q->left = 0;
    for (uint32_t i = 0; i < q->size; i++) q->left += part_of(d, q, in_ring(d, q, i)) != OVER;
}

/* Goes on to the next batch if this one is over; false: there is nothing more to come. */
static bool batch_is_on(const struct dab *d, struct dab_sched *q)
{
    if (!q->counted) count_left(d, q);
    while (!q->left) {
        if (!d->batched || d->loose || q->batch >= q->batches) return false;
        q->batch++;
        q->turn = 0;
        q->last = DAB_NONE;
        q->round = q->issued = false;
        count_left(d, q);
    }
    return true;
}

void dab_touch(struct dab *d, struct dab_sched *q)
{
    if (q->touched) return;
    q->touched = true;
    d->touched[d->touched_count++] = (uint32_t)(q - d->scheds);
}

/* Whether a warp need not be waited for until there was a flush. One whose turn comes after the last flush must be: when
 * it does is the adversary's. */
static bool is_out(const struct dab *d, const struct dab_sched *q, const struct dab_warp *w)
{
    return part_of(d, q, w) == OVER || (w->pending && !w->chained);
}

static void let_reduce(struct dab *d, struct dab_warp *w)
{
    if (w->wants && !w->full) dab_wake(d, w);
}

static bool is_ordered(const struct dab *d)
{
    return d->options.level == DAB_SCHEDULER && d->options.scheduler != DAB_ANY;
}

/* ---- gwat ------------------------------------------------------------------------------------------- */

static void pass_token(struct dab *d, struct dab_sched *q)
{
    for (uint32_t n = 0; n < q->size && is_out(d, q, in_ring(d, q, q->turn)); n++)
        q->turn = after_in_ring(q, (int32_t)q->turn);
    if (!is_out(d, q, in_ring(d, q, q->turn))) let_reduce(d, in_ring(d, q, q->turn));
}

/* ---- gtar ------------------------------------------------------------------------------------------- */

static void begin_round(struct dab *d, struct dab_sched *q)
{
    for (uint32_t i = 0; i < q->size; i++) {
        struct dab_warp *w = in_ring(d, q, i);
        w->in_round = part_of(d, q, w) == THERE && w->wants;
        q->round |= w->in_round;
    }
    q->turn = 0;
}

/* To the next of the round. */
static void go_round(struct dab *d, struct dab_sched *q)
{
    while (q->turn < q->size && !in_ring(d, q, q->turn)->in_round) q->turn++;
    if (q->turn < q->size) let_reduce(d, in_ring(d, q, q->turn));
    else q->round = false;
}

static bool all_are_there(const struct dab *d, const struct dab_sched *q)
{
    for (uint32_t i = 0; i < q->size; i++) {
        const struct dab_warp *w = in_ring(d, q, i);
        if (!w->wants && !is_out(d, q, w)) return false;
        if (part_of(d, q, w) == COMING) return false;
    }
    return true;
}

/* ---- gtrr, srr -------------------------------------------------------------------------------------- */

static void be_strict(struct dab *d, struct dab_sched *q)
{
    q->strict = true;
    q->turn = 0;
    q->issued = false;
    for (uint32_t i = 0; i < q->size; i++) {
        struct dab_warp *w = in_ring(d, q, i);
        w->away = w->at_barrier;
        if (part_of(d, q, w) == THERE) let_reduce(d, w);
    }
}

static bool is_passed_over(const struct dab *d, const struct dab_sched *q, const struct dab_warp *w)
{
    return part_of(d, q, w) == OVER || w->away || (w->pending && w->why == DAB_BARRIER);
}

static void next_in_ring(struct dab *d, struct dab_sched *q)
{
    q->issued = false;
    for (uint32_t n = 0; n < q->size; n++) {
        q->turn = after_in_ring(q, (int32_t)q->turn);
        if (!is_passed_over(d, q, in_ring(d, q, q->turn))) return;
    }
}

int dab_pick_strict(struct dab *d, const struct emu_warp *ready, size_t count)
{
    const size_t from = (size_t)(d->burst % count);
    for (size_t n = 0; n < count; n++) {
        const size_t i = from + n < count ? from + n : from + n - count;
        struct dab_warp *w = dab_warp(d, &ready[i]);
        struct dab_sched *q = &d->scheds[w->sched];
        if (part_of(d, q, w) != THERE && (!batch_is_on(d, q) || part_of(d, q, w) != THERE))
            continue;
        if (!q->strict) {
            if (!w->wants) return (int)i;
            continue;
        }
        if (w->away) continue;
        struct dab_warp *h = in_ring(d, q, q->turn);
        if (q->issued || is_passed_over(d, q, h)) next_in_ring(d, q);
        if (in_ring(d, q, q->turn) != w) continue;
        q->issued = true;
        if (!ready[i].waits) q->skips = 0;
        return (int)i;
    }
    return -1;
}

/* ---- for all ---------------------------------------------------------------------------------------- */

bool dab_may_reduce(struct dab *d, const struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (!is_ordered(d)) return true;
    if (!batch_is_on(d, q) || part_of(d, q, w) != THERE) return false;
    switch (d->options.scheduler) {
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
    if (d->options.scheduler == DAB_GWAT) {
        q->turn = after_in_ring(q, (int32_t)q->turn);
        pass_token(d, q);
    } else if (d->options.scheduler == DAB_GTAR) {
        w->in_round = false;
        go_round(d, q);
    }
}

void dab_settle(struct dab *d, const struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (!is_ordered(d)) return;
    dab_touch(d, q);
    if (!batch_is_on(d, q)) return;
    switch (d->options.scheduler) {
    case DAB_GWAT: pass_token(d, q); break;
    case DAB_GTAR:
        if (!q->round && all_are_there(d, q)) begin_round(d, q);
        if (q->round) go_round(d, q);
        break;
    case DAB_GTRR:
        if (!q->strict && all_are_there(d, q)) be_strict(d, q);
        break;
    default: break;
    }
}

void dab_begins(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    w->lives = true;
    if (d->batched) return; /* it has been waited for */
    q->left += q->counted;
    if (d->stirred) dab_settle(d, w);
}

void dab_ends(struct dab *d, struct dab_warp *w)
{
    struct dab_sched *q = &d->scheds[w->sched];
    if (q->counted && part_of(d, q, w) == THERE) q->left--;
    w->lives = false;
    d->got_on = d->interval;
    if (d->stirred) dab_settle(d, w);
}

/* The token waits for one that has not begun, perhaps because those that it is to follow wait for this one. */
static bool is_held_back(const struct dab *d, const struct dab_sched *q, const struct dab_warp *w)
{
    const bool may_run = d->options.scheduler == DAB_GWAT || d->options.scheduler == DAB_GTAR;
    if (!w->lives || (may_run && !w->wants)) return false;
    if (part_of(d, q, w) == OVER) return true;
    return d->options.scheduler == DAB_GWAT && !w->full &&
           part_of(d, q, in_ring(d, q, q->turn)) == COMING;
}

bool dab_holds_back(const struct dab *d)
{
    for (uint32_t s = 0; d->batched && is_ordered(d) && s < d->sched_count; s++)
        for (uint32_t i = 0; i < d->scheds[s].size; i++)
            if (is_held_back(d, &d->scheds[s], in_ring(d, &d->scheds[s], i))) return true;
    return false;
}

bool dab_let_in(struct dab *d)
{
    if (!dab_holds_back(d)) return false;
    for (uint32_t s = 0; s < d->sched_count; s++) {
        struct dab_sched *q = &d->scheds[s];
        for (uint32_t i = 0; i < q->size; i++) {
            struct dab_warp *w = in_ring(d, q, i);
            w->let_in = w->lives && (part_of(d, q, w) == THERE || is_held_back(d, q, w));
        }
        q->counted = false;
        dab_touch(d, q);
    }
    d->loose = true;
    return true;
}

/* The next that waits for its turn and has room, behind one that is at a barrier; or that waits for anything. */
static bool skip_to_next(struct dab *d, struct dab_sched *q, bool all)
{
    if (!in_ring(d, q, q->turn)->at_barrier && !all) return false;
    for (uint32_t n = 1; n < q->size; n++) {
        struct dab_warp *w = in_ring(d, q, (q->turn + n) % q->size);
        if (is_out(d, q, w) || ((w->at_barrier || all) && !w->wants)) continue;
        q->turn = (q->turn + n) % q->size;
        dab_touch(d, q);
        const bool goes = w->wants && !w->full;
        let_reduce(d, w);
        return goes;
    }
    return false;
}

static bool unstick_strict(struct dab *d, struct dab_sched *q)
{
    bool back = false, other = false;
    for (uint32_t i = 0; i < q->size; i++) {
        struct dab_warp *w = in_ring(d, q, i);
        const bool was_early = part_of(d, q, w) == THERE && w->wants && !w->full;
        if (was_early)
            let_reduce(d, w); /* it came to its first before its batch and the round robin */
        back |= was_early || (w->away && !w->at_barrier && w->lives && !w->pending);
        if (!w->at_barrier) w->away = false;
        other |= i != q->turn && part_of(d, q, w) == THERE && !w->pending && !w->wants &&
                 !w->shared && !w->away;
    }
    if (back) return true;
    /* whose turn it is waits for something that nobody has told of (an mbarrier) */
    const struct dab_warp *h = in_ring(d, q, q->turn);
    if (!other || h->pending || h->full || q->skips >= q->size) return false;
    q->skips++;
    next_in_ring(d, q);
    return true;
}

bool dab_unstick(struct dab *d, bool all)
{
    const bool gwat = d->options.scheduler == DAB_GWAT;
    bool any = false;
    if (!is_ordered(d) || (gwat && !(all ? d->stirred : d->at_barriers != 0))) return false;
    for (uint32_t s = 0; s < d->sched_count; s++) {
        struct dab_sched *q = &d->scheds[s];
        if (!q->size || !batch_is_on(d, q)) continue;
        switch (d->options.scheduler) {
        case DAB_GWAT: any |= skip_to_next(d, q, all); break;
        case DAB_GTAR:
            if (q->round) break;
            begin_round(d, q);
            if (!q->round) break;
            go_round(d, q);
            any = true;
            break;
        default:
            if (q->strict) any |= unstick_strict(d, q);
            else {
                bool waits = false;
                for (uint32_t i = 0; i < q->size; i++)
                    waits |= part_of(d, q, in_ring(d, q, i)) == THERE && in_ring(d, q, i)->wants;
                if (waits) be_strict(d, q);
                any |= waits;
            }
        }
    }
    return any;
}

void dab_turns_flushed(struct dab *d)
{
    for (uint32_t i = 0; i < d->touched_count; i++) {
        struct dab_sched *q = &d->scheds[d->touched[i]];
        q->touched = false;
        if (!batch_is_on(d, q)) continue;
        if (d->options.scheduler == DAB_GWAT) {
            q->turn = after_in_ring(q, q->last);
            pass_token(d, q);
        }
        if (d->options.scheduler == DAB_GTAR && q->round) go_round(d, q);
    }
    d->touched_count = 0;
}
