/* When a livelock proof (livelock.c) is attempted under an order, and when it is complete.
 *
 * Called by emu/sched/ordered.c after each burst. An attempt observes all warps. It fails when memory or a barrier
 * changes, or a warp exits. It succeeds when every warp has been in the same state twice or waits for others; then the
 * order drains its buffers (emu_order_livelock.quiesce) and a second attempt must succeed, too. Attempts begin after
 * FIRST_LOOK bursts, and again each time the number of bursts has doubled, so that they cost a constant share. */
#define _GNU_SOURCE
#include "emu/sched/ordered.h"

enum {
    FIRST_LOOK = 1 << 12, /* bursts before the first attempt */
    LOOK = 1 << 8,        /* bursts between two looks at all warps */
    LEAST_LOOK = 1 << 12, /* bursts of an attempt, at least */
    BUDGET = 1 << 8,      /* states that may be compared in vain, at least, */
    SHARE = 32,           /* and one more for so many bursts until then */
    LEAST_PHASES =
        2, /* under an order in phases: whole ones and the one that the attempt began in */
};

static void begin_look(struct ordered *o, bool settled)
{
    const u64 some = o->bursts / SHARE;
    livelock_begin(&o->livelock, some < BUDGET       ? BUDGET
                                 : some < UINT32_MAX ? (u32)some
                                                     : UINT32_MAX);
    o->began_at = o->looked_at = o->bursts;
    o->phases = 0;
    o->settled = settled;
    o->h->livelock = &o->livelock;
}

static void end_look(struct ordered *o)
{
    o->h->livelock = NULL;
    o->look_at = 2 * o->bursts;
}

static bool all_go_round(const struct ordered *o)
{
    const struct emu_order_livelock *by = o->order->livelock;
    if (by->in_phases && o->phases < LEAST_PHASES) return false;
    for (u32 s = 0; s < o->slot_count; s++) {
        if (!o->sm_slots[s].taken) continue;
        if (!o->sm_slots[s].slot) return false;
        const struct emu_cta *c = &o->sm_slots[s].slot->cta;
        for (u32 k = 0; k < c->group_count; k++)
            if (!livelock_done(&o->livelock, &c->groups[c->group_at[k]], !by->in_phases))
                return false;
    }
    return !(o->phases && by->will_wake && by->will_wake(o->order->self));
}

/* What the order holds may change something, and so may CTAs that it lets in. */
static bool settle(struct ordered *o)
{
    const u32 placed = o->next;
    o->order->livelock->quiesce(o->order->self);
    residency_place(o);
    return !o->livelock.changed && o->next == placed;
}

/* While warps are looked at. Whether they all go round for ever. */
static bool look(struct ordered *o)
{
    if (o->livelock.changed || !o->livelock.budget || o->bursts > o->look_until) {
        end_look(o);
        return false;
    }
    if (o->bursts < o->looked_at + LOOK) return false;
    o->looked_at = o->bursts;
    if (o->bursts < o->began_at + LEAST_LOOK || !all_go_round(o)) return false;
    if (!settle(o)) {
        end_look(o);
        return false;
    }
    const bool proved = o->settled;
    begin_look(o, true);
    return proved;
}

bool livelock_attempt(struct ordered *o)
{
    o->bursts++;
    if (!o->look_at) o->look_at = FIRST_LOOK;
    if (o->h->livelock) return look(o);
    if (o->bursts >= o->look_at && o->order->livelock) {
        o->look_until = o->bursts + o->bursts / 2 + 4 * LEAST_LOOK;
        begin_look(o, false);
    }
    return false;
}
