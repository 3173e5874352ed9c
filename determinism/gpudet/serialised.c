/* Warps of GPUDet that run one after another: those of a CTA, or of a cluster, that share memory or barriers. (The
 * thesis leaves races in shared memory open, 4.6, and proposes a fixed order, 8.1.2: this is one.) One warp of the
 * group is awake. It runs until it stops; then the next warp by number runs. */
#include "determinism/gpudet/internal.h"

static struct gpudet_warp *warp_at(const struct gpudet *g, const struct gpudet_group *u, uint32_t k)
{
    const uint32_t n = g->shape.warps_per_cta;
    return gpudet_warp_at(g, u->slots[k / n], k % n);
}

struct gpudet_warp *gpudet_group_current(const struct gpudet *g, const struct gpudet_group *u)
{
    return warp_at(g, u, u->cursor);
}

struct gpudet_group *gpudet_group_of(const struct gpudet *g, const struct gpudet_warp *w)
{
    return &g->groups[g->slots[w->who.slot].group];
}

/* A warp that waits has another turn only if others have got further since. */
void gpudet_group_next(struct gpudet *g, struct gpudet_group *u)
{
    const uint32_t count = u->slot_count * g->shape.warps_per_cta;
    for (uint32_t k = 0; k < count; k++) {
        if (++u->cursor >= count) u->cursor = 0;
        struct gpudet_warp *w = warp_at(g, u, u->cursor);
        if (w->state != GPUDET_RUNS && (w->state != GPUDET_WAITS || w->tried == u->advances))
            continue;
        gpudet_set_state(g, w, GPUDET_RUNS);
        w->turn = w->issue_seq;
        u->running = true;
        emu_machine_wake(g->m, &w->who);
        return;
    }
    u->running = false;
}

void gpudet_group_begin(struct gpudet *g, struct gpudet_group *u)
{
    u->cursor = u->slot_count * g->shape.warps_per_cta - 1;
    u->advances++;
    gpudet_group_next(g, u);
}
