/* determinism/views/internal.h: the state of views.h, for views.c and sync.c. */
#ifndef HEDDLE_DETERMINISM_VIEWS_INTERNAL_H
#define HEDDLE_DETERMINISM_VIEWS_INTERNAL_H

#include "determinism/views/history.h"
#include "determinism/views/views.h"

struct agent { /* a resident warp */
    uint32_t cta, writer;
    bool has_released, has_released_wide;
    struct view now; /* what precedes its next operation */
    /* What a fence will add: strong reads have read it from releases of the CTA, or of others. */
    struct view acquired, acquired_wide;
    struct view released, released_wide; /* by its last fences */
};
enum { BARRIERS = 16 };
struct cta_views { /* of a slot */
    struct view sc;
    struct {
        struct view released;
        uint64_t waiting; /* warps */
    } barriers[BARRIERS];
};

struct views {
    struct emu_machine *m;
    struct emu_shape shape;
    struct views_settings settings;
    uint64_t *state;
    uint64_t now, access; /* accesses and messages; the number of this access */
    struct histories histories;
    struct agent *agents;   /* by slot and warp */
    struct cta_views *ctas; /* by slot */
    struct view sc;
    size_t agent_capacity, cta_capacity;
};

static inline struct agent *views_agent(struct views *v, const struct emu_warp *who)
{
    return &v->agents[(size_t)who->slot * v->shape.warps_per_cta + who->warp];
}
static inline bool views_is_wide(const struct views *v, uint8_t scope)
{
    return scope != EMU_SCOPE_CTA || v->settings.ignores_scopes;
}
/* What the warp's next release publishes: its view, and all that it has written. */
static inline struct view views_of_release(const struct views *v, const struct agent *g)
{
    struct view w = g->now;
    view_add_writer(&w, g->writer, v->now);
    return w;
}

#endif
