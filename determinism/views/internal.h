/* determinism/views/internal.h: the state of views.h, for views.c and sync.c. */
#ifndef HEDDLE_DETERMINISM_VIEWS_INTERNAL_H
#define HEDDLE_DETERMINISM_VIEWS_INTERNAL_H

#include "determinism/views/history.h"
#include "determinism/views/views.h"

enum { JOINED = 32 };
struct warp_views { /* a resident warp */
    uint32_t cta, writer;
    struct view now; /* what precedes its next operation */
    /* What a fence will add: strong reads have read it from releases of the CTA, or of others. */
    struct view acquired, acquired_wide;
    uint32_t stores;              /* and atomics, so far */
    uint64_t last_edge;           /* what it read last, for views.execution */
    uint64_t last_acquired;       /* the publication that was joined last, and how */
    uint64_t joined[JOINED];      /* shared views that were joined, and to what: by hash, 0: none */
    struct publication *released; /* by its last fences; NULL: none */
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
    uint64_t now; /* messages and other events */
    /* The sum of hashes of what each load read and each store came behind. A sum, so that the sequence of accesses that have
     * nothing to do with each other makes no difference. */
    uint64_t execution;
    uint64_t access; /* how many accesses there have been */
    struct histories histories;
    struct warp_views *warps; /* by slot and warp */
    struct cta_views *ctas;   /* by slot */
    struct view sc;
    bool has_fences; /* some warp has released something */
    bool widened;    /* a view of a CTA that has ended was (struct view) */
    size_t warp_capacity, cta_capacity;
};

static inline struct warp_views *views_of_warp(struct views *v, const struct emu_warp *who)
{
    return &v->warps[(size_t)who->slot * v->shape.warps_per_cta + who->warp];
}
static inline bool views_is_wide(const struct views *v, uint8_t scope)
{
    return scope != EMU_SCOPE_CTA || v->settings.ignores_scopes;
}
/* What a release of the warp publishes now: its view, and all that it has written. */
static inline void views_of_release(const struct views *v, const struct warp_views *g,
                                    struct view *out)
{
    view_copy(out, &g->now);
    view_add_writer(out, g->writer, v->now);
}

#endif
