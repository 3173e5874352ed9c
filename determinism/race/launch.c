/* The race detector: a launch and its CTAs. */
#include "determinism/race/access.h"

#include <stdlib.h>
#include <string.h>

struct cta *race_cta_slow(struct race *r, uint32_t index)
{
    struct cta **at = &r->ctas, *c;
    for (; (c = *at); at = &c->next)
        if (c->index == index) {
            *at = c->next; /* to the front */
            c->next = r->ctas;
            return r->ctas = c;
        }
    if ((c = r->spare)) r->spare = c->next;
    else {
        c = calloc(1, sizeof *c);
        if (!c) abort();
        c->warps = calloc(r->warps, sizeof *c->warps);
        if (!c->warps) abort();
        shadow_begin(&c->shared, r->extent.shared, &c->events);
        r->cta_count++;
    }
    c->index = index;
    c->cluster = r->extent.cluster > 1 ? emu_machine_cluster_cta(r->machine, index, 0) : index;
    c->base = c->top = 1;
    for (uint32_t w = 0; w < r->warps; w++) {
        const uint32_t n = r->extent.threads - w * LANES;
        c->warps[w].exist = c->present[w] = n >= LANES ? ~0u : (1u << n) - 1;
    }
    c->next = r->ctas;
    return r->ctas = c;
}

void race_move_on(const struct cta *c, struct warp *w)
{
    for (uint32_t l = 0; l < LANES; l++) w->when[l] = c->base;
    w->base = w->since = c->base;
    w->even = true;
}

void race_begin_minds(struct warp *w)
{
    w->mind = calloc(LANES, sizeof *w->mind);
    if (!w->mind) abort();
}

static void free_cta(struct race *r, struct cta *c)
{
    race_cta_end(r, c);
    shadow_end(&c->shared);
    events_end(&c->events);
    notes_free(&c->notes);
    free(c->flags.list);
    free(c->owns.list);
    free(c->mbarriers);
    free(c->left);
    for (uint32_t w = 0; w < r->warps; w++) free(c->warps[w].copies);
    free(c->warps);
    free(c);
}

/* All that the last launch left. */
static void forget(struct race *r)
{
    for (struct cta *c = r->ctas, *next; c; c = next) next = c->next, free_cta(r, c);
    for (struct cta *c = r->spare, *next; c; c = next) next = c->next, free_cta(r, c);
    for (struct group *g = r->groups, *next; g; g = next) {
        next = g->next;
        clock_drop(&r->tree, g->arrived);
        clock_drop(&r->tree, g->done);
        free(g);
    }
    race_flags_forget(r);
    clock_tree_clear(&r->tree);
    notes_clear(&r->notes);
    memset(r->its_warp.recent, 0, sizeof r->its_warp.recent);
    memset(r->again, 0, sizeof r->again);
    free(r->eager);
    r->eager = NULL;
    r->ctas = r->spare = NULL;
    r->cta_count = 0;
    r->groups = NULL;
    r->events.count = 0;
    r->happened = 0;
    r->given_up = false;
}

static void begin(void *self, struct emu_machine *m)
{
    struct race *r = self;
    forget(r);
    r->machine = m;
    r->extent = emu_machine_extent(m);
    r->copies = emu_machine_copies(m);
    r->lowest = emu_machine_has_narrow_scopes(m) ? 0 : LEVELS - 1;
    r->warps = (r->extent.threads + LANES - 1) / LANES;
    r->eager = calloc(emu_machine_location_count(m), sizeof *r->eager);
    if (!r->eager) abort();
    clock_tree_begin(&r->tree, r->extent.ctas);
    if (!r->events.list) events_reserve(&r->events);
    if (!r->notes.room) notes_reserve(&r->notes);
    if (!r->mapped) shadow_begin(&r->global, r->extent.memory, &r->events);
    else shadow_forget(&r->global);
    r->mapped = true;
}

static void end(void *self)
{
    struct race *r = self;
    race_count_reports(r);
    forget(r);
}

struct race *race_new(void)
{
    struct race *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->limits = (struct race_limits){EVENTS_MOST - 1, CLOCKS_MOST};
    r->observer = (struct emu_observer){.self = r,
                                        .ignores_data = true,
                                        .skips_conflict_free = true,
                                        .in_commit_order = true,
                                        .begin = begin,
                                        .access = race_access,
                                        .sync = race_sync,
                                        .drained = race_drained,
                                        .end = end};
    return r;
}

void race_limit(struct race *r, struct race_limits l)
{
    r->limits = l;
}

void race_free(struct race *r)
{
    if (!r) return;
    forget(r);
    if (r->mapped) shadow_end(&r->global);
    events_end(&r->events);
    notes_free(&r->notes);
    free(r->places.list);
    free(r->late.list);
    clock_tree_end(&r->tree);
    free(r);
}

const struct emu_observer *race_observer(struct race *r)
{
    return &r->observer;
}
