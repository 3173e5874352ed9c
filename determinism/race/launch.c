/* The race detector: the begin and end of launches and CTAs, and the observer itself. */
#include "determinism/race/access.h"

#include "base/pages.h"

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
    c->barrier_epoch = c->latest_epoch = 1;
    for (uint32_t w = 0; w < r->warps; w++) {
        const uint32_t n = r->extent.threads - w * LANES;
        c->warps[w].members = c->present[w] = n >= LANES ? ~0u : (1u << n) - 1;
    }
    c->next = r->ctas;
    return r->ctas = c;
}

void race_sync_epochs(const struct cta *c, struct warp *w)
{
    for (uint32_t l = 0; l < LANES; l++) w->epoch[l] = c->barrier_epoch;
    w->barrier_epoch = w->cta_epoch = c->barrier_epoch;
    w->same_epoch = true;
}

void race_begin_thread_vcs(struct warp *w)
{
    w->thread_vc = calloc(LANES, sizeof *w->thread_vc);
    if (!w->thread_vc) abort();
}

static void free_cta(struct race *r, struct cta *c)
{
    race_cta_end(r, c);
    shadow_end(&c->shared);
    events_end(&c->events);
    deferred_free(&c->deferred);
    free(c->flags.list);
    free(c->own_releases.list);
    free(c->mbarriers);
    free(c->exit_epoch);
    for (uint32_t w = 0; w < r->warps; w++) free(c->warps[w].copies);
    free(c->warps);
    free(c);
}

/* Frees the state of the last launch. The end of a launch orders everything, so nothing of it is
 * needed. */
static void forget(struct race *r)
{
    for (struct cta *c = r->ctas, *next; c; c = next) next = c->next, free_cta(r, c);
    for (struct cta *c = r->spare, *next; c; c = next) next = c->next, free_cta(r, c);
    for (struct cluster_state *g = r->clusters, *next; g; g = next) {
        next = g->next;
        vclock_unref(&r->vclocks, g->arrived);
        vclock_unref(&r->vclocks, g->done);
        free(g);
    }
    race_flags_forget(r);
    vclock_store_clear(&r->vclocks);
    deferred_clear(&r->deferred);
    memset(r->replay_warp.recent, 0, sizeof r->replay_warp.recent);
    memset(r->reported, 0, sizeof r->reported);
    free(r->never_defer);
    r->never_defer = NULL;
    r->ctas = r->spare = NULL;
    r->cta_count = 0;
    r->clusters = NULL;
    r->events.count = 0;
    r->event_count = 0;
    r->gave_up = false;
}

static void race_on_begin(void *self, struct emu_machine *m)
{
    struct race *r = self;
    forget(r);
    r->machine = m;
    r->condensed = 0;
    r->extent = emu_machine_extent(m);
    r->has_copies = emu_machine_copies(m);
    r->lowest_level = emu_machine_has_narrow_scopes(m) ? 0 : LEVELS - 1;
    r->warps = (r->extent.threads + LANES - 1) / LANES;
    r->never_defer = calloc(emu_machine_location_count(m), sizeof *r->never_defer);
    if (!r->never_defer) abort();
    vclock_store_begin(&r->vclocks, r->extent.ctas, r->extent.threads);
    if (!r->events.list) events_reserve(&r->events);
    if (!r->deferred.bytes) deferred_reserve(&r->deferred);
    if (!r->mapped) shadow_begin(&r->global, r->extent.memory, &r->events);
    else shadow_forget(&r->global);
    r->mapped = true;
}

static void race_on_end(void *self)
{
    struct race *r = self;
    race_count_reports(r);
    forget(r);
}

/* What a grid and the grids that it waits for have in common, emu/device/check_grids.c compares. */
static const struct emu_observer *race_on_nested(void *self)
{
    struct race *r = self;
    if (!r->nested) r->nested = race_new();
    r->nested->limits = r->limits;
    return &r->nested->observer;
}

struct race *race_new(void)
{
    struct race *r = calloc(1, sizeof *r);
    if (!r) abort();
    r->limits = (struct race_limits){EVENTS_MOST - 1, VCLOCK_BYTES_MOST};
    r->observer = (struct emu_observer){.self = r,
                                        .ignores_data = true,
                                        .skips_conflict_free = true,
                                        .in_commit_order = true,
                                        .nested = race_on_nested,
                                        .begin = race_on_begin,
                                        .access = race_access,
                                        .sync = race_sync,
                                        .drained = race_drained,
                                        .end = race_on_end};
    return r;
}

void race_limit(struct race *r, struct race_limits l)
{
    r->limits = l;
}

uint64_t race_condensed(const struct race *r)
{
    return r->condensed + (r->nested ? race_condensed(r->nested) : 0);
}

void race_free(struct race *r)
{
    if (!r) return;
    race_free(r->nested);
    forget(r);
    if (r->mapped) shadow_end(&r->global);
    events_end(&r->events);
    deferred_free(&r->deferred);
    pages_free(r->flag_pool.list, (size_t)FLAGS_MOST * sizeof *r->flag_pool.list);
    pages_free(r->narrow_pool.list, (size_t)FLAGS_MOST * sizeof *r->narrow_pool.list);
    free(r->before_buffered.list);
    vclock_store_end(&r->vclocks);
    free(r);
}

const struct emu_observer *race_observer(struct race *r)
{
    return &r->observer;
}
