/* determinism/views/internal.h: the state of views.h, for views.c and sync.c. */
#ifndef HEDDLE_DETERMINISM_VIEWS_INTERNAL_H
#define HEDDLE_DETERMINISM_VIEWS_INTERNAL_H

#include "determinism/views/history.h"
#include "determinism/views/views.h"

enum { JOINED = 32 };
struct warp_views { /* a resident warp */
    uint32_t cta, writer;
    struct view now; /* the writes that precede its next operation in causality order */
    /* Views that a fence will add: strong reads have read them from releases of threads of the CTA, or of other
     * threads. */
    struct view acquired, acquired_wide;
    uint32_t stores;        /* number of stores and atomics so far */
    uint64_t last_edge;     /* the last read, for views.execution */
    uint64_t last_acquired; /* the publication that was joined last, and in which way */
    /* shared views that were joined, with the view that they were joined to, by hash; 0: none */
    uint64_t joined[JOINED];
    struct publication *released; /* the publication of its last fences; NULL: none */
};
enum { BARRIERS = 16 };
struct cta_views { /* views of the CTA in a slot */
    struct view sc;
    struct {
        struct view released;
        uint64_t waiting; /* mask of the waiting warps */
    } barriers[BARRIERS];
};

struct views {
    struct emu_machine *m;
    struct emu_shape shape;
    struct views_settings settings;
    uint64_t *state;
    uint64_t now; /* time: number of messages and other events so far */
    /* The sum of hashes of the message that each load read and of the message that each store follows. It is a sum, so
     * that it does not depend on the sequence of independent accesses. */
    uint64_t execution;
    uint64_t access; /* number of accesses so far */
    struct histories histories;
    struct warp_views *warps; /* views of each warp, by slot and warp */
    bool *begun;              /* by slot and warp: false where the views were never set */
    struct cta_views *ctas;   /* views of each CTA, by slot */
    struct view sc;
    bool has_fences; /* some warp has executed a release */
    bool widened;    /* a view of a CTA that has ended was widened (struct view) */
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
/* Sets `out` to the view that a release of the warp publishes now: its view, and all its own writes. */
static inline void views_of_release(const struct views *v, const struct warp_views *g,
                                    struct view *out)
{
    view_copy(out, &g->now);
    view_add_writer(out, g->writer, v->now);
}

#endif
