/* Views at fences, barriers, and when CTAs begin. */
#include "determinism/views/internal.h"

#include <string.h>

/* The fence begins release patterns: later strong writes publish the view. A fence of the CTA's scope leaves what a wider
 * one before it has published to other CTAs. */
static void release(struct views *v, struct warp_views *g, bool wide)
{
    struct publication *p = publication_new(&v->histories.pool), *old = g->released;
    struct shared_view *narrow = shared_view_new(&v->histories.pool);
    views_of_release(v, g, &narrow->view);
    publication_begin(p, (struct published){.cta = g->cta,
                                            .narrow = narrow,
                                            .wide = shared_view_reference(wide  ? narrow
                                                                          : old ? old->by[0].wide
                                                                                : NULL)});
    publication_release(&v->histories.pool, old);
    g->released = p;
    v->has_fences = true;
}

static void fence(struct views *v, struct warp_views *g, const struct emu_sync *s)
{
    const bool wide = views_is_wide(v, s->scope);
    view_join(&g->now, &g->acquired);
    if (wide) view_join(&g->now, &g->acquired_wide);
    if (s->sc) { /* a total order of the fences that are morally strong */
        struct view *cta = &v->ctas[s->who->slot].sc, out;
        view_join(&g->now, cta);
        if (wide) view_join(&g->now, &v->sc);
        views_of_release(v, g, &out);
        view_join(cta, &out);
        if (wide) view_join(&v->sc, &out);
    }
    release(v, g, wide);
}

static void arrive(struct views *v, struct warp_views *g, const struct emu_sync *s)
{
    struct view out;
    struct cta_views *c = &v->ctas[s->who->slot];
    views_of_release(v, g, &out);
    view_join(&c->barriers[s->id % BARRIERS].released, &out);
    if (s->flags & EMU_ACQUIRE)
        c->barriers[s->id % BARRIERS].waiting |= UINT64_C(1) << s->who->warp % 64;
}

static void complete(struct views *v, const struct emu_sync *s)
{
    struct cta_views *c = &v->ctas[s->who->slot];
    struct view *released = &c->barriers[s->id % BARRIERS].released;
    struct emu_warp who = *s->who;
    for (who.warp = 0; who.warp < v->shape.warps_per_cta; who.warp++)
        if (c->barriers[s->id % BARRIERS].waiting >> who.warp % 64 & 1)
            view_join(&views_of_warp(v, &who)->now, released);
    view_clear(released);
    c->barriers[s->id % BARRIERS].waiting = 0;
}

static void begin_cta(struct views *v, const struct emu_warp *cta)
{
    struct cta_views *c = &v->ctas[cta->slot];
    struct emu_warp who = *cta;
    view_clear(&c->sc);
    for (uint32_t b = 0; b < BARRIERS; b++) {
        view_clear(&c->barriers[b].released);
        c->barriers[b].waiting = 0;
    }
    for (who.warp = 0; who.warp < v->shape.warps_per_cta; who.warp++) {
        struct warp_views *g = views_of_warp(v, &who);
        bool *const begun = &v->begun[g - v->warps];
        if (!*begun) *g = (struct warp_views){0};
        *begun = true;
        g->cta = who.cta;
        g->writer = who.cta * v->shape.warps_per_cta + who.warp;
        publication_release(&v->histories.pool, g->released);
        g->released = NULL;
        g->last_acquired = g->last_edge = 0;
        memset(g->joined, 0, sizeof g->joined);
        g->stores = 0;
        v->widened |= g->now.widened || g->acquired.widened || g->acquired_wide.widened;
        view_clear(&g->now);
        view_clear(&g->acquired);
        view_clear(&g->acquired_wide);
    }
}

void views_sync(struct views *v, const struct emu_sync *s)
{
    v->now++;
    if (s->kind == EMU_SYNC_CTA_START) {
        begin_cta(v, s->who);
        return;
    }
    struct warp_views *g = views_of_warp(v, s->who);
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        fence(v, g, s);
        if (s->op) view_add_all(&g->now, v->now); /* between proxies */
        break;
    case EMU_SYNC_BARRIER: arrive(v, g, s); break;
    case EMU_SYNC_BARRIER_DONE: complete(v, s); break;
    case EMU_SYNC_ASYNC_WAIT:
    case EMU_SYNC_RUNTIME:
    case EMU_SYNC_GRIDS:
    case EMU_SYNC_MBARRIER_DONE:
    case EMU_SYNC_CLUSTER_WAIT: view_add_all(&g->now, v->now); break;
    default: break;
    }
}
