/* Views at fences, barriers, and when CTAs begin. */
#include "determinism/views/internal.h"

static void fence(struct views *v, struct agent *g, const struct emu_sync *s)
{
    const bool wide = views_is_wide(v, s->scope);
    view_join(&g->now, &g->acquired);
    if (wide) view_join(&g->now, &g->acquired_wide);
    if (s->sc) { /* a total order of the fences that are morally strong */
        struct view *cta = &v->ctas[s->who->slot].sc;
        view_join(&g->now, cta);
        if (wide) view_join(&g->now, &v->sc);
        const struct view out = views_of_release(v, g);
        view_join(cta, &out);
        if (wide) view_join(&v->sc, &out);
    }
    g->released = views_of_release(v, g);
    g->has_released = true;
    if (!wide) return;
    g->released_wide = g->released;
    g->has_released_wide = true;
}

static void arrive(struct views *v, struct agent *g, const struct emu_sync *s)
{
    const struct view out = views_of_release(v, g);
    struct cta_views *c = &v->ctas[s->who->slot];
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
            view_join(&views_agent(v, &who)->now, released);
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
        struct agent *g = views_agent(v, &who);
        g->cta = who.cta;
        g->writer = who.cta * v->shape.warps_per_cta + who.warp;
        g->has_released = g->has_released_wide = false;
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
    struct agent *g = views_agent(v, s->who);
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
