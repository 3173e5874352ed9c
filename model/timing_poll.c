/* Loads that poll: such a load reads what another warp has stored, so it is not done before that store is in L2.
 *
 * The emulator knows which stores came before a load; a trace has their number (enum trace_handoff in emu/trace.h). Where one
 * value alone ends the loop, the load needs all of them. Else some of them may have come too early to matter: a producer may
 * be far ahead in the emulator. Then the n-th loop of a warp that polls a place needs n stores at most, since a flag that is
 * waited for again has mostly changed in between. So a flag, a ticket or a step takes the time of the warp that is awaited, on
 * the modelled machine. The order in which warps publish to one place is not kept, only how many have: where several warps
 * store to one bucket, another one than in the emulator's run may end the wait. A barrier of the grid that counts its threads
 * in the word that they poll waits too short.
 *
 * How often a loop goes round depends on when the store comes, so a trace has the last round alone (trace_poll()). It begins
 * when the store is in L2 and takes a whole round trip, which is what loads in a row take on average from a random time on:
 * half a round until the next load reaches L2, and half a trip back. That the other rounds load L2, too, is not modelled, and
 * neither are loops that poll by an atomic exchange, but for locks (timing_lock.c).
 *
 * Nothing waits in traces that are sampled: the stores that a load waits for may not be there. */
#include "model/timing_internal.h"

#include "emu/trace.h"

typedef uint32_t u32;

/* Slots for warps and buckets, by a hash: two that meet in one count together. */
enum { LOOPS = 1 << 16 };

struct timing_polled { /* a bucket of elements */
    u32 published;     /* lanes */
    double when;       /* the last of them: in L2 */
};

bool timing_follows_polls(const struct emu_trace *t)
{
    return t->polls && t->recorded == t->instructions && !t->cut && t->sms_traced == t->sms;
}

/* What the lanes of the warp's next instruction name, if it publishes or polls. NULL: it does not. */
static const u32 *lanes_of(const struct timing *c, const struct timing_warp *w, u32 inst,
                           bool polls, u32 *count)
{
    const u32 *word = w->trace->words + w->at;
    const u32 handoff = c->t->insts[inst].handoff;
    if (!handoff || polls != (handoff >= TRACE_POLLS_ANY) || w->at >= w->trace->count ||
        (*word & 3) != TRACE_GLOBAL || !(word[2] & TRACE_ELEMENTS) ||
        !timing_is_access_of(c->t, *word, inst))
        return NULL;
    *count = TRACE_SIZE_LANES(word[2]);
    return word + 3;
}

/* The loops of the warp that polled the bucket and have ended. */
static u32 *loops_of(const struct timing *c, const struct timing_warp *w, u32 bucket)
{
    const u32 warp = w->cta_trace->linear * c->warps_per_cta +
                     (u32)(w->trace - w->cta_trace->warps);
    return &c->mem.polled_loops[timing_hash(warp * TRACE_POLL_BUCKETS + bucket) & (LOOPS - 1)];
}

/* How many lanes must have published to the bucket of the word. */
static u32 needed(const struct timing *c, const struct timing_warp *w, u32 word)
{
    const u32 n = TRACE_POLL_COUNT_OF(word);
    if (c->t->insts[w->inst].handoff == TRACE_POLLS_VALUE) return n;
    const u32 loops = *loops_of(c, w, TRACE_POLL_BUCKET_OF(word));
    return n < loops + 1 ? n : loops + 1;
}

bool timing_poll_waits(struct timing *c, struct timing_warp *w, double now, double *when)
{
    u32 count = 0;
    const u32 *lanes = lanes_of(c, w, w->inst, true, &count);
    *when = 0;
    for (u32 l = 0; lanes && l < count; l++) {
        const u32 bucket = TRACE_POLL_BUCKET_OF(lanes[l]), n = needed(c, w, lanes[l]);
        const struct timing_polled *p = &c->mem.polled[bucket];
        if (p->published < n) {
            w->polls = TRACE_POLL_WORD(bucket, n);
            c->mem.poll_waiters++;
            timing_set_add(c->mem.poll_waits, timing_warp_index(c, w));
            return true;
        }
        if (p->published == n && p->when > *when) *when = p->when;
    }
    for (u32 l = 0; lanes && *when <= now && l < count; l++) /* it is issued */
        if (!l || TRACE_POLL_BUCKET_OF(lanes[l]) != TRACE_POLL_BUCKET_OF(lanes[l - 1]))
            ++*loops_of(c, w, TRACE_POLL_BUCKET_OF(lanes[l]));
    return false;
}

static void let_go(struct timing *c, struct timing_warp *w, double when)
{
    w->polls = 0;
    c->mem.poll_waiters--;
    timing_set_remove(c->mem.poll_waits, timing_warp_index(c, w));
    timing_release_warp(c, w, when, when, TIMING_L2);
    w->part = TIMING_L2;
}

void timing_publish(struct timing *c, const struct timing_warp *w, u32 inst, double done)
{
    u32 count = 0;
    const u32 *lanes = lanes_of(c, w, inst, false, &count);
    for (u32 l = 0; lanes && l < count; l++) {
        struct timing_polled *p = &c->mem.polled[trace_poll_bucket(lanes[l] & ~TRACE_SWAPPED)];
        p->published++;
        if (done > p->when) p->when = done;
    }
    if (!lanes || !c->mem.poll_waiters) return;
    const u32 all = c->sms * c->warps_per_sm;
    for (u32 k = 0; (k = timing_set_next(c->mem.poll_waits, k, all)) < all; k++) {
        struct timing_warp *other = &c->warps[k];
        const struct timing_polled *p = &c->mem.polled[TRACE_POLL_BUCKET_OF(other->polls)];
        if (p->published >= TRACE_POLL_COUNT_OF(other->polls)) let_go(c, other, p->when);
    }
}

bool timing_poll_unblock(struct timing *c, double now)
{
    const bool any = c->mem.poll_waiters;
    if (any) c->out->polls = false;
    const u32 all = c->sms * c->warps_per_sm;
    for (u32 k = 0; any && (k = timing_set_next(c->mem.poll_waits, k, all)) < all; k++) {
        struct timing_polled *p = &c->mem.polled[TRACE_POLL_BUCKET_OF(c->warps[k].polls)];
        p->published = TRACE_POLL_COUNT_OF(c->warps[k].polls);
        let_go(c, &c->warps[k], now);
    }
    return any;
}

/* Whether the instruction may poll in a way that is not followed, or not for sure. */
static bool is_unsure(const struct trace_inst *i)
{
    return i->handoff == TRACE_POLLS_ANY || i->handoff == TRACE_POLLS_MOVING ||
           (i->handoff == TRACE_PUBLISHES && ptx_op_has(i->op, "exch") && !i->dead_result);
}

void timing_prepare_polls(struct timing *c)
{
    if (c->hooks || !timing_follows_polls(c->t)) return;
    c->mem.polled = timing_take(&c->storage, TRACE_POLL_BUCKETS, sizeof *c->mem.polled);
    c->mem.poll_waits = timing_take(&c->storage, c->sms * c->warps_per_sm / 64 + 1,
                                    sizeof(uint64_t));
    c->mem.polled_loops = timing_take(&c->storage, LOOPS, sizeof *c->mem.polled_loops);
    bool sure = true, any = false; /* files of before version 5 do not say which loads poll */
    for (u32 i = 0; i < c->t->inst_count; i++) {
        any |= c->t->insts[i].handoff == TRACE_POLLS_VALUE;
        sure &= !is_unsure(&c->t->insts[i]);
    }
    c->out->polls = any && sure;
}
