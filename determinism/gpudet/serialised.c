/* Warps of gpudet that run one after another: those of a CTA, or of a cluster. One of them is awake. */
#include "determinism/gpudet/internal.h"

static struct gpudet_warp *warp_at(const struct gpudet *g, const struct gpudet_unit *u, uint32_t k)
{
    const uint32_t n = g->shape.warps_per_cta;
    return gpudet_warp_at(g, u->slots[k / n], k % n);
}

struct gpudet_warp *gpudet_unit_now(const struct gpudet *g, const struct gpudet_unit *u)
{
    return warp_at(g, u, u->cursor);
}

struct gpudet_unit *gpudet_unit_of(const struct gpudet *g, const struct gpudet_warp *w)
{
    return &g->units[g->slots[w->who.slot].unit];
}

/* One that waits has another turn only if others have moved since. */
void gpudet_unit_next(struct gpudet *g, struct gpudet_unit *u)
{
    const uint32_t count = u->slot_count * g->shape.warps_per_cta;
    for (uint32_t k = 0; k < count; k++) {
        if (++u->cursor >= count) u->cursor = 0;
        struct gpudet_warp *w = warp_at(g, u, u->cursor);
        if (w->state != GPUDET_RUNS && (w->state != GPUDET_WAITS || w->tried == u->moves)) continue;
        gpudet_become(g, w, GPUDET_RUNS);
        w->turn = w->serial;
        u->running = true;
        emu_machine_wake(g->m, &w->who);
        return;
    }
    u->running = false;
}

void gpudet_unit_begin(struct gpudet *g, struct gpudet_unit *u)
{
    u->cursor = u->slot_count * g->shape.warps_per_cta - 1;
    u->moves++;
    gpudet_unit_next(g, u);
}
