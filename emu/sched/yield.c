/* See yield.h. */
#include "emu/sched/yield.h"

#include "emu/sched/control.h"

/* Where the lanes wait that wait longest: the lowest entry of the stack with any. NULL: nowhere. */
static const struct emu_uop *waiting_at(const struct emu_group *g)
{
    for (u32 d = 0; d < g->depth; d++) {
        const struct emu_entry *e = &g->stack[d];
        for (u32 w = 0; w < g->warps; w++)
            if (e->mask[w] & g->alive[w] & ~g->exec[w]) return e->pc;
    }
    return NULL;
}

bool yield_is_due(struct emu_group *g, bool waits, u32 patience)
{
    struct emu_cta *c = g->cta;
    if (!g->worker->machine->threads.yields || c->its) return false;
    const u32 mask = emu_waiting_lanes(g);
    const struct emu_uop *const at = mask ? waiting_at(g) : NULL;
    if (!at) {
        g->stays.count = 0;
        return false;
    }
    if (at != g->stays.at || mask != g->stays.mask) g->stays.count = 0;
    g->stays.at = at;
    g->stays.mask = mask;
    g->stays.count++;
    if (!waits && g->stays.count < patience) return false;
    c->its = true;
    return true;
}

bool yield_stuck(struct emu_cta *c)
{
    if (!c->groups[c->group_at[0]].worker->machine->threads.yields) return false;
    bool any = false;
    for (u32 k = 0, count = c->group_count; k < count; k++) {
        struct emu_group *g = &c->groups[c->group_at[k]];
        const bool stands = g->state == GROUP_READY || g->state == GROUP_WAIT ||
                            g->state == GROUP_BARRIER;
        if (!stands || g->turn.asleep || !g->depth || !emu_waiting_lanes(g)) continue;
        c->its = any = true;
        if (g->warps == 1) emu_its_part(g);
    }
    return any;
}
