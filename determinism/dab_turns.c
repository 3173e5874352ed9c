/* Schedulers of dab: in which order the warps of one fill its buffer. Each rule is its own (section IV-C):
 *
 *  srr   every instruction is issued in turn; those at barriers are passed over, others are waited for.
 *  gtrr  any order until all warps are at their first atomic or have ended; from then on as srr.
 *  gtar  any order between atomics. When all warps are at one or have ended they do one each, in turn: a round.
 *  gwat  any order between atomics. One warp has the token, may do an atomic, and hands the token on.
 *
 * Warps that wait for a flush or have ended are not waited for: that lasts until a flush, and a flush waits for all.
 * A warp at a barrier is waited for: when it goes on depends on other schedulers. Where nobody can go on it is passed
 * over (dab_unstick). For the same reason srr has a warp back that was at a barrier only when nobody else can go on.
 *
 * CTAs come in batches, one to a slot: a scheduler does the atomics of the next when all warps of one have ended. */
#include "determinism/dab_parts.h"

#include <stdlib.h>

static uint32_t ring_size(const struct dab *d, uint32_t s)
{
    const uint32_t first = s % d->shape.schedulers;
    return d->per_sm <= first ? 0
                              : (d->per_sm - first + d->shape.schedulers - 1) / d->shape.schedulers;
}
/* The place after i, which may be -1; the ring is not empty. */
static uint32_t after_in_ring(const struct dab *d, uint32_t s, int32_t i)
{
    return (uint32_t)(i + 1) < ring_size(d, s) ? (uint32_t)(i + 1) : 0;
}
static struct dab_warp *in_ring(const struct dab *d, uint32_t s, uint32_t i)
{
    return &d->warps[(size_t)(s / d->shape.schedulers) * d->per_sm + s % d->shape.schedulers +
                     (size_t)i * d->shape.schedulers];
}
static uint32_t place_in_ring(const struct dab *d, const struct dab_warp *w)
{
    return (uint32_t)(w - d->warps) % d->per_sm / d->shape.schedulers;
}

/* Whether a CTA of a batch comes to the warp's slot. */
static bool is_due(const struct dab *d, const struct dab_warp *w, uint32_t batch)
{
    const uint32_t at = (uint32_t)(w - d->warps), sm = at / d->per_sm,
                   slot = at % d->per_sm / d->shape.warps_per_cta * d->shape.sms + sm;
    return d->dealt[slot] != UINT32_MAX &&
           (uint64_t)(batch - 1) * d->usable + d->dealt[slot] < d->shape.ctas;
}

enum part { OVER, COMING, THERE }; /* of a warp in its scheduler's batch */

static enum part part_of(const struct dab *d, uint32_t s, const struct dab_warp *w)
{
    const uint32_t batch = d->scheds[s].batch;
    if (!d->fixed || !d->options.batches) return w->ended ? OVER : THERE;
    if (w->batch == batch) return w->ended ? OVER : THERE;
    return w->batch < batch && is_due(d, w, batch) ? COMING : OVER;
}

/* Goes on to the next batch if this one is over; false: there is nothing more to come. */
static bool batch_is_on(struct dab *d, uint32_t s)
{
    const uint32_t size = ring_size(d, s);
    for (;;) {
        bool due = false;
        for (uint32_t i = 0; i < size; i++) {
            if (part_of(d, s, in_ring(d, s, i)) != OVER) return true;
            due |= is_due(d, in_ring(d, s, i), d->scheds[s].batch + 1);
        }
        if (!d->fixed || !d->options.batches || !due) return false;
        d->scheds[s].batch++;
        d->scheds[s].turn = 0;
        d->scheds[s].last = DAB_NONE;
        d->scheds[s].round = d->scheds[s].issued = false;
    }
}

/* Whether a warp need not be waited for until there was a flush. */
static bool is_out(const struct dab *d, uint32_t s, const struct dab_warp *w)
{
    return part_of(d, s, w) == OVER || w->pending;
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

static void pass_token(struct dab *d, uint32_t s)
{
    struct dab_sched *q = &d->scheds[s];
    const uint32_t size = ring_size(d, s);
    for (uint32_t n = 0; n < size && is_out(d, s, in_ring(d, s, q->turn)); n++)
        q->turn = (q->turn + 1) % size;
    if (!is_out(d, s, in_ring(d, s, q->turn))) let_reduce(d, in_ring(d, s, q->turn));
}

/* ---- gtar ------------------------------------------------------------------------------------------- */

static void begin_round(struct dab *d, uint32_t s)
{
    struct dab_sched *q = &d->scheds[s];
    for (uint32_t i = 0, size = ring_size(d, s); i < size; i++) {
        struct dab_warp *w = in_ring(d, s, i);
        w->in_round = part_of(d, s, w) == THERE && w->wants;
        q->round |= w->in_round;
    }
    q->turn = 0;
}

/* To the next of the round. */
static void go_round(struct dab *d, uint32_t s)
{
    struct dab_sched *q = &d->scheds[s];
    const uint32_t size = ring_size(d, s);
    while (q->turn < size && !in_ring(d, s, q->turn)->in_round) q->turn++;
    if (q->turn < size) let_reduce(d, in_ring(d, s, q->turn));
    else q->round = false;
}

static bool all_are_there(const struct dab *d, uint32_t s)
{
    for (uint32_t i = 0, size = ring_size(d, s); i < size; i++) {
        const struct dab_warp *w = in_ring(d, s, i);
        if (!w->wants && !is_out(d, s, w)) return false;
        if (part_of(d, s, w) == COMING) return false;
    }
    return true;
}

/* ---- gtrr, srr -------------------------------------------------------------------------------------- */

static void be_strict(struct dab *d, uint32_t s)
{
    struct dab_sched *q = &d->scheds[s];
    q->strict = true;
    q->turn = 0;
    q->issued = false;
    for (uint32_t i = 0, size = ring_size(d, s); i < size; i++) {
        struct dab_warp *w = in_ring(d, s, i);
        w->away = w->at_barrier;
        if (part_of(d, s, w) == THERE) let_reduce(d, w);
    }
}

static bool is_passed_over(const struct dab *d, uint32_t s, const struct dab_warp *w)
{
    return part_of(d, s, w) == OVER || w->away || (w->pending && w->why == DAB_BARRIER);
}

static void next_in_ring(struct dab *d, uint32_t s)
{
    struct dab_sched *q = &d->scheds[s];
    const uint32_t size = ring_size(d, s);
    q->issued = false;
    for (uint32_t n = 0; n < size; n++) {
        q->turn = (q->turn + 1) % size;
        if (!is_passed_over(d, s, in_ring(d, s, q->turn))) return;
    }
}

int dab_pick_strict(struct dab *d, const struct emu_warp *ready, size_t count)
{
    const size_t from = (size_t)(d->burst % count);
    for (size_t n = 0; n < count; n++) {
        const size_t i = from + n < count ? from + n : from + n - count;
        struct dab_warp *w = dab_warp(d, &ready[i]);
        const uint32_t s = dab_sched_of(d, w);
        struct dab_sched *q = &d->scheds[s];
        if (!q->strict) {
            if (!w->wants) return (int)i;
            continue;
        }
        if (w->away || part_of(d, s, w) != THERE) {
            if (!batch_is_on(d, s) || part_of(d, s, w) != THERE || w->away) continue;
        }
        struct dab_warp *h = in_ring(d, s, q->turn);
        if (q->issued || is_passed_over(d, s, h)) next_in_ring(d, s);
        if (in_ring(d, s, q->turn) != w) continue;
        q->issued = true;
        if (!ready[i].waits) q->skips = 0;
        return (int)i;
    }
    return -1;
}

/* ---- for all ---------------------------------------------------------------------------------------- */

bool dab_may_reduce(struct dab *d, const struct dab_warp *w)
{
    const uint32_t s = dab_sched_of(d, w);
    const struct dab_sched *q = &d->scheds[s];
    if (!is_ordered(d)) return true;
    if (!batch_is_on(d, s) || part_of(d, s, w) != THERE) return false;
    switch (d->options.scheduler) {
    case DAB_GWAT: return q->turn == place_in_ring(d, w);
    case DAB_GTAR: return q->round && w->in_round && q->turn == place_in_ring(d, w);
    default: return q->strict;
    }
}

void dab_reduced(struct dab *d, struct dab_warp *w)
{
    const uint32_t s = dab_sched_of(d, w);
    struct dab_sched *q = &d->scheds[s];
    if (!is_ordered(d)) return;
    q->last = (int32_t)place_in_ring(d, w);
    if (d->options.scheduler == DAB_GWAT) {
        q->turn = after_in_ring(d, s, (int32_t)q->turn);
        pass_token(d, s);
    } else if (d->options.scheduler == DAB_GTAR) {
        w->in_round = false;
        go_round(d, s);
    }
}

void dab_settle(struct dab *d, const struct dab_warp *w)
{
    const uint32_t s = dab_sched_of(d, w);
    struct dab_sched *q = &d->scheds[s];
    if (!is_ordered(d) || !batch_is_on(d, s)) return;
    switch (d->options.scheduler) {
    case DAB_GWAT: pass_token(d, s); break;
    case DAB_GTAR:
        if (!q->round && all_are_there(d, s)) begin_round(d, s);
        if (q->round) go_round(d, s);
        break;
    case DAB_GTRR:
        if (!q->strict && all_are_there(d, s)) be_strict(d, s);
        break;
    default: break;
    }
}

/* The next that waits for its turn and has room, behind one that is at a barrier; or that waits for anything. */
static bool skip_to_next(struct dab *d, uint32_t s, bool all)
{
    struct dab_sched *q = &d->scheds[s];
    const uint32_t size = ring_size(d, s);
    if (!in_ring(d, s, q->turn)->at_barrier && !all) return false;
    for (uint32_t n = 1; n < size; n++) {
        struct dab_warp *w = in_ring(d, s, (q->turn + n) % size);
        if (is_out(d, s, w) || ((w->at_barrier || all) && !w->wants)) continue;
        q->turn = (q->turn + n) % size;
        const bool goes = w->wants && !w->full;
        let_reduce(d, w);
        return goes;
    }
    return false;
}

static bool unstick_strict(struct dab *d, uint32_t s)
{
    struct dab_sched *q = &d->scheds[s];
    const uint32_t size = ring_size(d, s);
    bool back = false, other = false;
    for (uint32_t i = 0; i < size; i++) {
        struct dab_warp *w = in_ring(d, s, i);
        back |= w->away && !w->at_barrier && !w->ended && !w->pending;
        if (!w->at_barrier) w->away = false;
        other |= i != q->turn && part_of(d, s, w) == THERE && !w->pending && !w->wants &&
                 !w->shared && !w->away;
    }
    if (back) return true;
    /* whose turn it is waits for something that nobody has told of (an mbarrier) */
    const struct dab_warp *h = in_ring(d, s, q->turn);
    if (!other || h->pending || h->full || q->skips >= size) return false;
    q->skips++;
    next_in_ring(d, s);
    return true;
}

bool dab_unstick(struct dab *d, bool all)
{
    bool any = false;
    if (!is_ordered(d)) return false;
    for (uint32_t s = 0; s < d->used_sms * d->shape.schedulers; s++) {
        struct dab_sched *q = &d->scheds[s];
        if (!ring_size(d, s) || !batch_is_on(d, s)) continue;
        switch (d->options.scheduler) {
        case DAB_GWAT: any |= skip_to_next(d, s, all); break;
        case DAB_GTAR:
            if (q->round) break;
            begin_round(d, s);
            if (!q->round) break;
            go_round(d, s);
            any = true;
            break;
        default:
            if (q->strict) any |= unstick_strict(d, s);
            else {
                bool waits = false;
                for (uint32_t i = 0; i < ring_size(d, s); i++)
                    waits |= part_of(d, s, in_ring(d, s, i)) == THERE && in_ring(d, s, i)->wants;
                if (waits) be_strict(d, s);
                any |= waits;
            }
        }
    }
    return any;
}

void dab_turns_flushed(struct dab *d)
{
    for (uint32_t s = 0; is_ordered(d) && s < d->used_sms * d->shape.schedulers; s++) {
        struct dab_sched *q = &d->scheds[s];
        if (!ring_size(d, s) || !batch_is_on(d, s)) continue;
        if (d->options.scheduler == DAB_GWAT) {
            q->turn = after_in_ring(d, s, q->last);
            pass_token(d, s);
        }
        if (d->options.scheduler == DAB_GTAR && q->round) go_round(d, s);
    }
}
