/* Accesses of a kernel before its griddepcontrol.wait (cuda/early.h). */
#include "cuda/early.h"
#include "cuda/touched.h"

#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>

enum { BARRIERS = 16 };

struct warp {                      /* masks of lanes */
    uint32_t behind, at[BARRIERS]; /* who wait at a barrier */
};
struct cta {
    bool any, said;     /* some thread has waited; has let other grids begin */
    uint32_t passes_on; /* barriers that some thread came to that is behind: bits */
    struct warp *warps;
};
struct early {
    struct emu_observer observer;
    struct touched *touched;
    struct cta *ctas;
    struct emu_extent extent;
    uint32_t warps, grids; /* of a CTA; that have begun: behind the first those that it launches */
    bool any, waited_first;
};

static void start(void *self, struct emu_machine *m)
{
    struct early *e = self;
    if (e->grids++) return;
    e->extent = emu_machine_extent(m);
    e->warps = (e->extent.threads + 31) / 32;
    e->ctas = calloc(e->extent.ctas, sizeof *e->ctas);
    if (!e->ctas) abort();
}

static struct cta *cta_of(struct early *e, const struct emu_warp *who)
{
    struct cta *c = &e->ctas[who->cta];
    if (!c->warps) c->warps = calloc(e->warps, sizeof *c->warps);
    if (!c->warps) abort();
    return c;
}

static void end_cta(struct early *e, const struct emu_warp *who)
{
    free(e->ctas[who->cta].warps);
    e->ctas[who->cta].warps = NULL;
}

static void barrier(struct cta *c, const struct emu_sync *s)
{
    struct warp *w = &c->warps[s->who->warp];
    if (w->behind & s->lanes) c->passes_on |= 1u << s->id;
    if (s->flags & EMU_ACQUIRE) w->at[s->id] |= s->lanes;
}

static void barrier_done(const struct early *e, struct cta *c, uint32_t id)
{
    for (uint32_t w = 0; w < e->warps; w++) {
        if (c->passes_on >> id & 1) c->warps[w].behind |= c->warps[w].at[id];
        c->warps[w].at[id] = 0;
    }
    c->passes_on &= ~(1u << id);
}

static void wait_for_grids(struct early *e, struct cta *c, const struct emu_sync *s)
{
    c->warps[s->who->warp].behind |= s->lanes;
    e->waited_first |= !c->said;
    c->any = e->any = true;
}

/* A cluster's CTAs have numbers that nothing is said of here: all of the grid stand for them. */
static void sync(void *self, const struct emu_sync *s)
{
    struct early *e = self;
    if (e->grids > 1) return;
    if (s->kind == EMU_SYNC_CTA_EXIT) {
        end_cta(e, s->who);
        return;
    }
    struct cta *c = cta_of(e, s->who);
    struct warp *w = &c->warps[s->who->warp];
    switch (s->kind) {
    case EMU_SYNC_GRIDS:
        if (s->op == EMU_GRIDS_WAIT) wait_for_grids(e, c, s);
        else c->said = true;
        break;
    case EMU_SYNC_BARRIER: barrier(c, s); break;
    case EMU_SYNC_BARRIER_DONE: barrier_done(e, c, s->id); break;
    case EMU_SYNC_WARP:
        if (w->behind & s->lanes) w->behind |= s->lanes;
        break;
    case EMU_SYNC_FENCE:
    case EMU_SYNC_MBARRIER_DONE:
    case EMU_SYNC_CLUSTER_WAIT:
        if (e->any) w->behind |= s->lanes;
        break;
    default: break;
    }
}

static void access(void *self, const struct emu_access *a)
{
    struct early *e = self;
    if (e->grids > 1) return;
    struct warp *w = &cta_of(e, a->who)->warps[a->who->warp];
    if (e->any && a->flags & EMU_ACQUIRE) w->behind |= a->lanes;
    struct emu_access early = *a;
    early.lanes &= ~w->behind;
    if (!early.lanes) return;
    if (early.lanes != a->lanes) {
        early.contiguous = false;
        early.rows = 0;
        early.common_bits = 0;
    }
    const struct emu_observer *o = touched_observer(e->touched);
    o->access(o->self, &early);
}

/* Grids that the kernel launches are behind it, as far as this goes: nothing of them counts. */
static const struct emu_observer *nested(void *self)
{
    static const struct emu_observer nothing = {.ignores_data = true, .nested = nested};
    (void)self;
    return &nothing;
}

struct early *early_new(void)
{
    struct early *e = calloc(1, sizeof *e);
    if (!e) abort();
    e->touched = touched_new();
    e->observer = (struct emu_observer){.self = e,
                                        .ignores_data = true,
                                        .nested = nested,
                                        .begin = start,
                                        .access = access,
                                        .sync = sync};
    return e;
}

void early_free(struct early *e)
{
    if (!e) return;
    for (uint32_t i = 0; e->ctas && i < e->extent.ctas; i++) free(e->ctas[i].warps);
    free(e->ctas);
    touched_free(e->touched);
    free(e);
}

const struct emu_observer *early_observer(struct early *e)
{
    return &e->observer;
}

const struct touched *early_touched(const struct early *e)
{
    return e->touched;
}

bool early_is_open(const struct early *e)
{
    return !e->waited_first;
}
