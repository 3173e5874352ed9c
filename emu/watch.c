/* Orders and observers: where a watched launch tells them what happens (emu/order.h). */
#include "emu/watch.h"

#include "emu/launch.h"

#include <string.h>

static struct emu_warp warp_of(const struct emu_group *g)
{
    return (struct emu_warp){g->cta->linear, g->first, g->cta->sm, g->cta->slot, g->instructions};
}

bool emu_watch_access(struct emu_group *g, const struct emu_uop *in, struct emu_access *a,
                      enum emu_verdict *verdict)
{
    const struct emu_launch *l = g->worker->machine->launch;
    struct emu_warp who = warp_of(g);
    a->who = &who;
    *verdict = l->order && l->order->access ? l->order->access(l->order->self, a) : EMU_PROCEED;
    if (*verdict == EMU_SLEEP) {
        a->who = NULL;
        g->pc = in;
        g->state = GROUP_WAIT;
        return false;
    }
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->access) l->observers[i]->access(l->observers[i]->self, a);
    a->who = NULL;
    return true;
}

bool emu_watch_sync(struct emu_group *g, const struct emu_uop *in, struct emu_sync *s)
{
    const struct emu_launch *l = g->worker->machine->launch;
    struct emu_warp who = warp_of(g);
    s->who = &who;
    s->pc = in->pc;
    s->lanes = g->exec[0];
    if (l->order && l->order->sync && l->order->sync(l->order->self, s) == EMU_SLEEP) {
        s->who = NULL;
        g->pc = in;
        g->state = GROUP_WAIT;
        return false;
    }
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->sync) l->observers[i]->sync(l->observers[i]->self, s);
    s->who = NULL;
    return true;
}

const struct emu_uop *emu_op_issue(struct emu_group *g, const struct emu_uop *in)
{
    const struct emu_launch *l = g->worker->machine->launch;
    struct emu_warp who = warp_of(g);
    for (size_t i = 0; i < l->observer_count; i++)
        if (l->observers[i]->issue)
            l->observers[i]->issue(l->observers[i]->self, &who, in->pc, g->exec[0]);
    return in + 1;
}

const struct emu_uop *emu_op_fence(struct emu_group *g, const struct emu_uop *in)
{
    /* In native order what a warp stored is in memory already. */
    struct emu_sync s = {.kind = EMU_SYNC_FENCE, .scope = in->x, .flags = in->y};
    if (g->worker->machine->watched && !emu_watch_sync(g, in, &s)) return NULL;
    return in + 1;
}
