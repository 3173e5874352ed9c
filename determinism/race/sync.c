/* The race detector: synchronisation, which orders accesses (happens-before).
 *
 * race_sync() gets every barrier, fence and asynchronous operation from the emulator, and
 * race_sync_read() and race_sync_write() every strong access. They advance epochs, publish vector clocks (release) and
 * join them (acquire). The rules are those of the PTX memory consistency model: "release and
 * acquire patterns", "synchronizes-with", "base causality order" and "proxies". detector.h
 * describes epochs, thread clocks and flags. Nothing here looks at shadow memory, except that a
 * barrier of the whole CTA may drop the shadow of its shared memory. */
#include "determinism/race/detector.h"

#include "emu/memory.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* ---- epochs
 * ------------------------------------------------------------------------------------------- */

/* What all threads of a CTA with early exits know of each other: an entry for each warp, or for
 * each thread of a warp in which threads ended before the last barrier. `list` has capacity for all
 * threads. Returns the number of entries. */
static uint32_t barrier_entries(const struct race *r, const struct cta *c,
                                struct vclock_entry *list)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < r->warps; w++) {
        const uint32_t exist = c->warps[w].members;
        for (uint32_t m = c->present[w] == exist ? 0 : exist; m; m &= m - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(m), thread = w * LANES + l;
            const bool here = c->present[w] >> l & 1;
            list[n++] = (struct vclock_entry){
                thread, (here ? c->barrier_epoch : c->exit_epoch[thread]) - 1};
        }
    }
    for (uint32_t w = 0; w < r->warps; w++)
        if (c->present[w] == c->warps[w].members)
            list[n++] = (struct vclock_entry){PART_WARP + w, c->barrier_epoch - 1};
    return n;
}

/* Appends an entry for all of the warp, up to epoch `its`, and one for all of the CTA, up to epoch
 * `all`, to a list of `n` entries. Omits those that add nothing. */
static uint32_t add_barrier_entries(struct vclock_entry *list, uint32_t n, uint32_t warp,
                                    uint32_t its, uint32_t all)
{
    if (its > all) list[n++] = (struct vclock_entry){PART_WARP + warp, its};
    if (all) list[n++] = (struct vclock_entry){PART_CTA, all};
    return n;
}

/* The clock that these lanes publish when they release now: what they did and all that they know
 * (FastTrack, rule [FT RELEASE]). */
static struct vclock *release_vclock(struct race *r, const struct cta *c, struct warp *w,
                                     uint32_t lanes)
{
    struct vclock_entry list[LANES + 2];
    const uint32_t warp = (uint32_t)(w - c->warps);
    uint32_t n = 0, least = UINT32_MAX;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->epoch[l] < least) least = w->epoch[l];
    }
    const bool all = lanes == w->members, /* then the warp's entry can go up to the least epoch */
        whole = c->present[warp] == w->members;
    if (!all) least = w->barrier_epoch - 1;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->epoch[l] > least || !whole)
            list[n++] = (struct vclock_entry){warp * LANES + l, w->epoch[l]};
    }
    const uint32_t its = whole ? least : 0, of_cta = c->has_early_exits ? 0 : c->barrier_epoch - 1;
    if (n && !(lanes & (lanes - 1)) && !c->has_early_exits)
        return vclock_extend(&r->vclocks, thread_vclock(c, w, (uint32_t)__builtin_ctz(lanes)),
                             &(struct vclock_release){.cta = c->index,
                                                      .thread = list->part,
                                                      .epoch = list->epoch,
                                                      .warp_epoch = its,
                                                      .cta_epoch = of_cta});
    n = add_barrier_entries(list, n, warp, its, of_cta);
    struct vclock *k = vclock_of_cta(&r->vclocks, c->index, list, n), *last = NULL;
    if (c->has_early_exits) {
        struct vclock_entry others[WARPS * LANES];
        struct vclock *threads = vclock_of_cta(&r->vclocks, c->index, others,
                                               barrier_entries(r, c, others));
        vclock_join(&r->vclocks, &k, threads);
        vclock_unref(&r->vclocks, threads);
    }
    vclock_join(&r->vclocks, &k, c->vc);
    for (uint32_t m = w->thread_vc ? lanes : 0; m; m &= m - 1) {
        struct vclock *own = w->thread_vc[__builtin_ctz(m)].vc;
        if (own != last) vclock_join(&r->vclocks, &k, own);
        last = own;
    }
    return k;
}

/* The lanes enter a new epoch: what they do from now on is not in the clocks that they have
 * published. */
static void advance_epoch(struct cta *c, struct warp *w, uint32_t lanes)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t *epoch = &w->epoch[__builtin_ctz(m)];
        if (++*epoch > c->latest_epoch) c->latest_epoch = *epoch;
    }
    w->same_epoch &= lanes == w->members;
}

/* The lane acquires the clock: its contents happened before the lane's next access ([FT
 * ACQUIRE]). */
static void join_thread(struct race *r, const struct cta *c, struct warp *w, uint32_t lane,
                        struct vclock *k)
{
    if (!k) return;
    struct thread_vc *m = race_thread_vc(w, lane);
    if (!m->vc) m->vc = vclock_ref(c->vc);
    vclock_join(&r->vclocks, &m->vc, k);
}

static void join_lanes(struct race *r, const struct cta *c, struct warp *w, uint32_t lanes,
                       struct vclock *k)
{
    for (uint32_t m = lanes; m; m &= m - 1) join_thread(r, c, w, (uint32_t)__builtin_ctz(m), k);
}

/* ---- barriers
 * ----------------------------------------------------------------------------------------- */

static void forget_shared(struct race *r, struct cta *c)
{
    shadow_forget(&c->shared);
    deferred_clear(&c->deferred);
    if (c->events.count) r->event_count -= c->events.count - 1; /* [0] is unused */
    c->events.count = 0;
}

/* All living threads of the CTA have passed a barrier together: each knows all that the others did
 * before it. So nothing before the barrier can race with accesses to shared memory after it, except
 * asynchronous copies, accesses of other CTAs of the cluster, and accesses of threads that ended
 * before. `here`: masks of the lanes that passed. */
static void pass_cta_barrier(struct race *r, struct cta *c, const uint32_t *here)
{
    for (uint32_t w = 0; w < r->warps; w++) {
        const struct warp *warp = &c->warps[w];
        const uint32_t known = here[w] && warp->cta_epoch == c->barrier_epoch
                                   ? warp->barrier_epoch
                                   : c->barrier_epoch; /* of the exited threads, to the others */
        for (uint32_t m = c->present[w] & ~here[w]; m; m &= m - 1) { /* lanes that have ended */
            if (!c->exit_epoch) c->exit_epoch = calloc(r->warps * LANES, sizeof *c->exit_epoch);
            if (!c->exit_epoch) abort();
            c->exit_epoch[w * LANES + (uint32_t)__builtin_ctz(m)] = known;
            c->has_early_exits = true;
        }
        c->present[w] = here[w];
        struct thread_vc *thread_vc = c->warps[w].thread_vc;
        for (uint32_t l = 0; thread_vc && l < LANES; l++) {
            if (here[w] >> l & 1) vclock_join(&r->vclocks, &c->vc, thread_vc[l].vc);
            vclock_unref(&r->vclocks, thread_vc[l].vc);
            thread_vc[l].vc = NULL;
        }
    }
    c->barrier_epoch = ++c->latest_epoch;
    if (!c->has_early_exits && !r->has_copies && r->extent.cluster <= 1) forget_shared(r, c);
}

static void arrive(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    const uint32_t id = s->id % BARRIERS;
    c->active_barriers |= 1u << id;
    if (s->flags & EMU_ACQUIRE) {
        c->barriers[id].waiting[s->who->warp] |= s->lanes;
        c->barriers[id].count += (uint32_t)__builtin_popcount(s->lanes);
        return;
    }
    struct vclock *k = release_vclock(r, c, w, s->lanes);
    vclock_join(&r->vclocks, &c->barriers[id].arrived, k);
    vclock_unref(&r->vclocks, k);
    c->barriers[id].only_arrived = true;
    advance_epoch(c, w, s->lanes);
}

/* The barrier is complete. It orders all threads of the CTA if all waited at it, otherwise those
 * that took part. */
static void complete(struct race *r, struct cta *c, const struct emu_sync *s)
{
    const uint32_t id = s->id % BARRIERS;
    uint32_t here[WARPS];
    memcpy(here, c->barriers[id].waiting, sizeof here);
    struct vclock *k = c->barriers[id].arrived;
    const bool all = !c->barriers[id].only_arrived && c->barriers[id].count == s->count;
    memset(&c->barriers[id], 0, sizeof c->barriers[id]);
    c->active_barriers &= ~(1u << id);
    if (all) {
        pass_cta_barrier(r, c, here);
        return;
    }
    for (uint32_t w = 0; w < r->warps; w++) {
        if (!here[w]) continue;
        struct vclock *own = release_vclock(r, c, race_warp(c, w), here[w]);
        vclock_join(&r->vclocks, &k, own);
        vclock_unref(&r->vclocks, own);
    }
    for (uint32_t w = 0; w < r->warps; w++) {
        join_lanes(r, c, race_warp(c, w), here[w], k);
        advance_epoch(c, &c->warps[w], here[w]);
    }
    vclock_unref(&r->vclocks, k);
}

static void pass_warp_barrier(struct race *r, struct cta *c, struct warp *w, uint32_t lanes)
{
    if (lanes == w->members && !w->thread_vc) {
        uint32_t latest = 0;
        for (uint32_t l = 0; l < LANES; l++)
            if (w->epoch[l] > latest) latest = w->epoch[l];
        w->barrier_epoch = ++latest;
        for (uint32_t l = 0; l < LANES; l++) w->epoch[l] = latest;
        w->same_epoch = true;
        if (latest > c->latest_epoch) c->latest_epoch = latest;
        return;
    }
    struct vclock *k = release_vclock(r, c, w, lanes);
    join_lanes(r, c, w, lanes, k);
    vclock_unref(&r->vclocks, k);
    advance_epoch(c, w, lanes);
}

static uint32_t level_of(uint32_t scope)
{
    return scope < LEVELS ? scope : LEVELS - 1;
}

/* The clock that a release fence of the thread publishes, which the fence keeps. */
static struct vclock *fence_vclock(struct race *r, const struct cta *c, const struct warp *w,
                                   uint32_t lane, struct release_fence *f)
{
    const uint32_t warp = (uint32_t)(w - c->warps);
    if (f->published) return f->published;
    const struct vclock_release now = {.cta = c->index,
                                       .thread = warp * LANES + lane,
                                       .epoch = f->epoch,
                                       .warp_epoch = f->warp_epoch - 1,
                                       .cta_epoch = f->cta_epoch - 1};
    return f->published = vclock_extend(&r->vclocks, f->vc, &now);
}

/* The thread's last release fence whose scope includes the level; NULL: none. */
static struct release_fence *fence_for(struct thread_vc *m, uint32_t level)
{
    if (!m || !m->fenced) return NULL;
    if (level_of(m->fence.scope) >= level) return &m->fence;
    for (uint32_t i = level; m->wider && i < LEVELS; i++) /* narrower ones are later */
        if (m->wider[i].epoch) return &m->wider[i];
    return NULL;
}

static void forget_fence(struct race *r, struct release_fence *f)
{
    if (!f->epoch) return;
    vclock_unref(&r->vclocks, f->vc);
    vclock_unref(&r->vclocks, f->published);
    *f = (struct release_fence){0};
}

/* Before another fence becomes the last one: keeps those of wider scope. */
static void put_fence_by(struct race *r, struct thread_vc *m, uint32_t level)
{
    const uint32_t last = level_of(m->fence.scope);
    for (uint32_t i = 0; m->wider && i <= level; i++) forget_fence(r, &m->wider[i]);
    if (!m->fenced || last <= level) {
        forget_fence(r, &m->fence);
        return;
    }
    if (!m->wider) m->wider = calloc(LEVELS, sizeof *m->wider);
    if (!m->wider) abort();
    forget_fence(r, &m->wider[last]);
    m->wider[last] = m->fence;
    m->fence = (struct release_fence){0};
}

/* An arrival at an mbarrier or a cluster's barrier. With .release the lanes publish all that they
 * did; with .relaxed, what they did before their last fence whose scope includes the level. */
static void arrive_at(struct race *r, struct cta *c, struct warp *w, const struct emu_sync *s,
                      uint32_t level, struct vclock **arrived)
{
    if (s->flags & EMU_RELEASE) {
        struct vclock *k = release_vclock(r, c, w, s->lanes);
        vclock_join(&r->vclocks, arrived, k);
        vclock_unref(&r->vclocks, k);
        advance_epoch(c, w, s->lanes);
        return;
    }
    for (uint32_t m = w->thread_vc ? s->lanes : 0; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        struct release_fence *f = fence_for(&w->thread_vc[l], level);
        if (f) vclock_join(&r->vclocks, arrived, fence_vclock(r, c, w, l, f));
    }
}

static struct cluster_state *cluster_state_of(struct race *r, const struct cta *c)
{
    struct cluster_state *g = r->clusters;
    while (g && g->index != c->cluster) g = g->next;
    if (g) return g;
    g = calloc(1, sizeof *g);
    if (!g) abort();
    g->index = c->cluster;
    g->ctas_left = r->extent.cluster;
    g->next = r->clusters;
    return r->clusters = g;
}

static void cluster_barrier(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct cluster_state *g = cluster_state_of(r, c);
    struct warp *w = race_warp(c, s->who->warp);
    if (s->kind == EMU_SYNC_CLUSTER_DONE) {
        vclock_unref(&r->vclocks, g->done);
        g->done = g->arrived;
        g->arrived = NULL;
    } else if (s->kind == EMU_SYNC_CLUSTER_WAIT) join_lanes(r, c, w, s->lanes, g->done);
    else arrive_at(r, c, w, s, level_of(s->scope), &g->arrived);
}

/* ---- fences and flags
 * ----------------------------------------------------------------------------------- */

/* Acquires the clocks that strong reads of the thread have observed at the level of the GPU. */
static void acquire_observed(struct race *r, const struct cta *c, struct warp *w, uint32_t lane)
{
    struct thread_vc *m = &w->thread_vc[lane];
    if (m->acquired == (1u << LATEST_CHAINS) - 1) return;
    for (uint32_t i = 0; i < LATEST_CHAINS; i++)
        if (m->latest[i] && !(m->acquired >> i & 1)) join_thread(r, c, w, lane, m->latest[i]);
    m->acquired = (1u << LATEST_CHAINS) - 1;
}

/* Prefetches what acquire_observed() will look at. */
static void prefetch_observed(const struct warp *w, uint32_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        const struct thread_vc *m = &w->thread_vc[__builtin_ctz(lanes)];
        for (uint32_t i = 0; m->acquired != (1u << LATEST_CHAINS) - 1 && i < LATEST_CHAINS; i++)
            if (m->latest[i] && !(m->acquired >> i & 1)) vclock_prefetch(m->latest[i]);
    }
}

/* PTX: fence, membar. An acquire fence acquires what strong reads before it have observed in its
 * scope or narrower; a release fence starts a release pattern that a later strong write
 * completes. */
static void fence(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    if (s->flags & EMU_ACQUIRE && w->thread_vc) prefetch_observed(w, s->lanes);
    for (uint32_t m = s->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        struct thread_vc *thread_vc = race_thread_vc(w, l);
        for (uint32_t i = r->lowest_level; s->flags & EMU_ACQUIRE && i <= level_of(s->scope); i++)
            if (thread_vc->observed[i] &&
                (i == r->lowest_level || thread_vc->observed[i] != thread_vc->observed[i - 1]))
                join_thread(r, c, w, l, thread_vc->observed[i]);
        if (s->flags & EMU_ACQUIRE && level_of(s->scope) == LEVELS - 1)
            acquire_observed(r, c, w, l);
        for (uint32_t i = 0; thread_vc->has_replaced && i < LATEST_CHAINS; i++) {
            vclock_unref(&r->vclocks, thread_vc->replaced_before_fence[i]);
            thread_vc->replaced_before_fence[i] = NULL;
        }
        thread_vc->has_replaced = false;
        thread_vc->before_fence = 0;
        if (!(s->flags & EMU_RELEASE)) continue;
        if (s->flags & EMU_ACQUIRE && level_of(s->scope) == LEVELS - 1)
            thread_vc->before_fence = (1u << LATEST_CHAINS) - 1;
        put_fence_by(r, thread_vc, level_of(s->scope));
        struct release_fence *f = &thread_vc->fence;
        thread_vc->fenced = true;
        f->scope = s->scope;
        f->vc = c->has_early_exits ? release_vclock(r, c, w, 1u << l)
                                   : vclock_ref(thread_vclock(c, w, l));
        f->epoch = w->epoch[l];
        f->warp_epoch = c->has_early_exits ? 1 : w->barrier_epoch;
        f->cta_epoch = c->has_early_exits ? 1 : c->barrier_epoch;
    }
    if (s->flags & EMU_RELEASE) advance_epoch(c, w, s->lanes);
}

static void fence_proxies(struct cta *c, struct warp *w, uint32_t lanes)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t i = PROXY_FENCES - 1; i; i--) w->proxy_fence[i][l] = w->proxy_fence[i - 1][l];
        w->proxy_fence[0][l] = w->epoch[l];
        w->proxy_cta_epoch[l] = c->barrier_epoch;
    }
    w->async_used = true;
    advance_epoch(c, w, lanes);
}

/* Whether what was released at the flag at this level is visible to the CTA: its last release came
 * from the same CTA, the same cluster, or anywhere (inclusive scopes: PTX, "morally strong
 * operations"). */
static bool reaches(const struct race *r, const struct flag *f, const struct cta *c, uint32_t level)
{
    return level == LEVELS - 1 ||
           r->narrow_pool.list[f->narrow].id[level] == (level ? c->cluster : c->index);
}

/* The inputs of this level and the one below are the same, so the results are, too. */
static void join_same(struct race *r, struct vclock **to, struct vclock *below)
{
    vclock_unref(&r->vclocks, *to);
    *to = vclock_ref(below);
}

/* The thread has observed a clock at the level of the GPU. A later clock of a chain includes the
 * earlier ones, so only the latest of each chain is kept. */
static void remember_observed(struct race *r, struct thread_vc *m, struct vclock *now,
                              uint32_t chain)
{
    uint32_t at = m->next_slot % LATEST_CHAINS;
    bool newer = false;
    for (uint32_t i = 0; i < LATEST_CHAINS; i++) {
        if (m->latest[i] == now) return;
        if (!m->latest[i] || m->chain[i] != chain) continue;
        at = i;
        newer = true;
    }
    if (!newer) {
        m->next_slot++;
        if (m->latest[at] && !(m->acquired >> at & 1))
            vclock_join(&r->vclocks, &m->observed[LEVELS - 1], m->latest[at]);
    }
    if (m->before_fence >> at & 1) {
        m->replaced_before_fence[at] = m->latest[at];
        m->has_replaced = true;
    } else vclock_unref(&r->vclocks, m->latest[at]);
    m->latest[at] = vclock_ref(now);
    m->chain[at] = chain;
    m->acquired &= (uint8_t) ~(1u << at);
    m->before_fence &= (uint8_t) ~(1u << at);
}

/* acquire() where all scopes are .gpu or wider. What the thread knows already, as it holds the lock that protects this
 * address, is not observed again. */
static void acquire_at_gpu(struct race *r, const struct cta *c, struct warp *w, uint32_t lane,
                           const struct emu_access *a, const struct flag *f)
{
    struct vclock *now = f->released;
    if (!now) return;
    struct thread_vc *m = race_thread_vc(w, lane);
    if (a->flags & EMU_ACQUIRE) join_thread(r, c, w, lane, now);
    if (!vclock_clearly_includes(&r->vclocks, m->vc, now)) remember_observed(r, m, now, f->chain);
}

/* A strong read of the flag observes what was released there; with .acquire the thread acquires
 * it. */
static void acquire(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                    const struct emu_access *a, const struct flag *f)
{
    const struct vclock *seen = NULL, *released = NULL; /* of the level below */
    if (r->lowest_level == LEVELS - 1) {
        acquire_at_gpu(r, c, w, lane, a, f);
        return;
    }
    const struct narrow_levels *narrow = &r->narrow_pool.list[f->narrow];
    for (uint32_t i = r->lowest_level; i <= level_of(a->scope); i++) {
        const bool widest = i == LEVELS - 1;
        const uint32_t chain = widest ? f->chain : narrow->chain[i];
        struct vclock *now = !reaches(r, f, c, i) ? NULL
                             : widest             ? f->released
                                                  : narrow->released[i];
        if (!now) {
            released = NULL;
            continue;
        }
        struct thread_vc *m = race_thread_vc(w, lane);
        const bool again = released == now;
        if (a->flags & EMU_ACQUIRE && !again) join_thread(r, c, w, lane, now);
        /* Without .acquire, or for a later fence of wider scope: the clock counts as observed. */
        released = now;
        if (i == LEVELS - 1) {
            remember_observed(r, m, now, chain);
            continue;
        }
        const bool alike = again && seen == m->observed[i],
                   newer = !m->observed[i] || m->observed_chain[i] == chain;
        seen = m->observed[i];
        m->observed_chain[i] = newer ? chain : 0;
        if (seen == now) continue;
        if (newer) {
            vclock_unref(&r->vclocks, m->observed[i]);
            m->observed[i] = vclock_ref(now);
        } else if (alike) join_same(r, &m->observed[i], m->observed[i - 1]);
        else vclock_join(&r->vclocks, &m->observed[i], now);
    }
}

/* Whether the last fence of the thread acquired this clock, so that the clock that it publishes
 * includes it. */
static bool has_acquired_before_fence(const struct thread_vc *m, const struct vclock *c)
{
    bool has = false;
    for (uint32_t i = 0; i < LATEST_CHAINS; i++)
        has |= (m->latest[i] == c) & (m->before_fence >> i & 1);
    for (uint32_t i = 0; m->has_replaced && i < LATEST_CHAINS; i++)
        has |= m->replaced_before_fence[i] == c;
    return has;
}

/* Adds the clock that a fence published to what is released. If the fence had acquired all that is
 * there, its clock includes it and replaces it. */
static void join_fence(struct race *r, struct vclock **released, const struct thread_vc *thread_vc,
                       const struct release_fence *fence, struct vclock *published)
{
    const bool newest = fence == &thread_vc->fence;
    if (newest && *released && has_acquired_before_fence(thread_vc, *released)) {
        vclock_unref(&r->vclocks, *released);
        *released = vclock_ref(published);
    } else vclock_join(&r->vclocks, released, published);
}

/* The levels that this write does not continue start a new chain without a clock. */
static void end_chains(struct race *r, const struct cta *c, struct flag *f, uint32_t top,
                       bool passes_on)
{
    for (uint32_t i = r->lowest_level; i < LEVELS; i++) {
        struct vclock **released = race_released(r, f, i);
        if (i <= top && passes_on && reaches(r, f, c, i)) continue;
        vclock_unref(&r->vclocks, *released);
        *released = NULL;
        *race_chain(r, f, i) = ++r->chains;
    }
}

/* What release() adds to the flag where all scopes are .gpu or wider. `now`, `own`: NULL, or what it releases and
 * what it has released there. Returns whether the flag has a clock. */
static bool release_at_gpu(struct race *r, const struct cta *c, const struct warp *w, uint32_t lane,
                           bool passes_on, struct flag *f, struct vclock *now,
                           const struct own_release *own)
{
    struct vclock **to = &f->released;
    struct thread_vc *m = w->thread_vc ? &w->thread_vc[lane] : NULL;
    struct release_fence *fence = fence_for(m, LEVELS - 1);
    if (!passes_on) {
        vclock_unref(&r->vclocks, *to);
        *to = NULL;
        f->chain = ++r->chains;
    }
    vclock_join(&r->vclocks, to, now);
    if (fence) join_fence(r, to, m, fence, fence_vclock(r, c, w, lane, fence));
    if (own) vclock_join(&r->vclocks, to, own->released[LEVELS - 1]);
    return *to != NULL;
}

/* The levels of release(): adds to the flag at each of them up to `top`. The rest as for release_at_gpu(). */
static bool release_at_levels(struct race *r, const struct cta *c, const struct warp *w,
                              uint32_t lane, bool passes_on, struct flag *f, struct vclock *now,
                              const struct own_release *own, uint32_t top)
{
    struct thread_vc *thread_vc = w->thread_vc ? &w->thread_vc[lane] : NULL;
    struct vclock *published = NULL; /* by the fence of this level */
    /* The inputs of the level below; if they are the same, so is the result. */
    const struct vclock *last_was = NULL, *last_own = NULL;
    const struct release_fence *last_fence = NULL;
    bool any = false;
    end_chains(r, c, f, top, passes_on);
    for (uint32_t i = r->lowest_level; i <= top; i++) {
        struct vclock **to = race_released(r, f, i);
        const struct vclock *was = *to;
        struct vclock *own_released = own ? own->released[i] : NULL;
        struct release_fence *fence = fence_for(thread_vc, i);
        const bool alike = i > r->lowest_level && was == last_was && fence == last_fence &&
                           own_released == last_own;
        if (fence != last_fence) {
            published = fence ? fence_vclock(r, c, w, lane, fence) : NULL;
        }
        last_was = was, last_fence = fence, last_own = own_released;
        if (alike) {
            join_same(r, to, *race_released(r, f, i - 1));
            continue;
        }
        vclock_join(&r->vclocks, to, now);
        if (fence) join_fence(r, to, thread_vc, fence, published);
        vclock_join(&r->vclocks, to, own_released);
        any |= *to != NULL;
    }
    return any;
}

/* A strong write to an address that may be a flag. The flag gets, at each level up to the write's
 * scope:
 *   - with .release, all that the thread did and knows;
 *   - what the thread's last release fence published (a release pattern of fence and write);
 *   - what the thread released there before (own_release);
 *   - what was there, if the write is a read-modify-write: it continues the chain of releases. A
 *     store replaces it. */
static void release(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                    const struct emu_access *a, struct cta *home, struct flag *f, uint64_t address)
{
    const uint32_t thread = (uint32_t)(w - c->warps) * LANES + lane, top = level_of(a->scope);
    struct thread_vc *thread_vc = w->thread_vc ? &w->thread_vc[lane] : NULL;
    const bool releases = a->flags & EMU_RELEASE;
    const uint32_t whose = home ? home->index : UINT32_MAX;
    const struct own_release *own = releases ? NULL
                                             : race_own_release(&c->own_releases, address, whose,
                                                                thread);
    if (!f && !releases && !(thread_vc && thread_vc->fenced) && !own) return;
    if (!f) f = race_add_flag(r, home, address);
    if (!f) return;
    if (r->lowest_level == LEVELS - 1) f->last_write = 0;
    struct vclock *now = releases ? release_vclock(r, c, w, 1u << lane) : NULL;
    const bool passes_on = a->kind != EMU_STORE,
               any = r->lowest_level == LEVELS - 1 && top == LEVELS - 1
                         ? release_at_gpu(r, c, w, lane, passes_on, f, now, own)
                         : release_at_levels(r, c, w, lane, passes_on, f, now, own, top);
    if (releases) race_keep_release(r, &c->own_releases, address, whose, thread, now, top);
    vclock_unref(&r->vclocks, now);
    if (r->lowest_level < LEVELS - 1) {
        r->narrow_pool.list[f->narrow].id[0] = c->index;
        r->narrow_pool.list[f->narrow].id[1] = c->cluster;
    }
    if (releases) advance_epoch(c, w, 1u << lane);
    if (!any) race_remove_flag(r, home, f, address);
}

void race_sync_word(struct race *r, const struct cta *c, const struct warp *w, uint32_t lane,
                    const struct emu_access *a, struct flag *f, tag own)
{
    struct thread_vc *m = &w->thread_vc[lane];
    struct release_fence *fence = m->fenced && level_of(m->fence.scope) == LEVELS - 1
                                      ? &m->fence
                                      : fence_for(m, LEVELS - 1);
    struct vclock **to = &f->released;
    const bool passes_on = a->kind != EMU_STORE;
    uint32_t later = LATER_MOST;
    if (fence) {
        struct vclock *published = fence->published ? fence->published
                                                    : fence_vclock(r, c, w, lane, fence);
        if (passes_on) join_fence(r, to, m, fence, published);
        else if (*to != published) {
            vclock_unref(&r->vclocks, *to);
            *to = vclock_ref(published);
        }
        if (*to == published) later = w->epoch[lane] - fence->epoch;
    } else if (!passes_on) {
        vclock_unref(&r->vclocks, *to);
        *to = NULL;
    }
    if (!passes_on) f->chain = ++r->chains;
    f->last_write = own;
    f->was_atomic = a->kind == EMU_ATOMIC;
    f->later = (uint8_t)(later < LATER_MOST ? later : LATER_MOST);
    if (!*to) race_remove_flag(r, NULL, f, a->address[lane]);
}

static bool same(const uint8_t *a, const uint8_t *b, uint32_t width)
{
    if (width == 4) {
        uint32_t x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        return x == y;
    }
    return memcmp(a, b, width) == 0;
}

/* Lanes are carried out in order: each finds what the last successful one before it wrote to the
 * same address. */
uint32_t race_failing(const struct emu_access *a)
{
    const uint8_t *left[LANES]; /* by lanes that succeeded, and where */
    uint64_t where[LANES];
    uint32_t count = 0, fail = 0;
    uint64_t seen = 0; /* a bit for a hash of each of these addresses */
    if (a->kind != EMU_ATOMIC || a->op != ATOMIC_CAS || !a->result || !a->data) return 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint8_t *own = a->data + a->stride * lane;
        const uint64_t bit = UINT64_C(1) << (a->address[lane] * UINT64_C(0x9e3779b97f4a7c15) >> 58);
        uint32_t i = seen & bit ? 0 : count;
        while (i < count && where[i] != a->address[lane]) i++;
        if (!same(i < count ? left[i] : a->result + a->stride * lane, own, a->width)) {
            fail |= 1u << lane;
            continue;
        }
        where[i] = a->address[lane];
        left[i] = own + 32;
        seen |= bit;
        count += i == count;
    }
    return fail;
}

/* A strong store that the order buffers: until it is drained, other threads read what was there
 * before, so the flag's old state is saved for them. (Of several buffered stores to one address the
 * last one reported counts as the last.) */
static void release_buffered(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                             const struct emu_access *a, struct flag *f, uint64_t address)
{
    struct flag was = {0};
    if (race_flag_before_buffered(r, address)) {
        release(r, c, w, lane, a, NULL, f, address);
        return;
    }
    if (f) was = race_copy_flag(r, f);
    release(r, c, w, lane, a, NULL, f, address);
    if (f || race_flag_at(r, NULL, address)) race_save_flag(r, &was, address);
}

/* PTX, "acquire pattern": a reduction (red) begins none, although it reads. */
void race_sync_read(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                    const struct emu_access *a, const struct flag *f, const struct cta *home,
                    uint64_t address)
{
    if (a->kind != EMU_LOAD && a->kind != EMU_ATOMIC) return;
    const struct flag *before_buffered = home || !r->before_buffered.count
                                             ? NULL
                                             : race_flag_before_buffered(r, address);
    if (before_buffered || f) acquire(r, c, w, lane, a, before_buffered ? before_buffered : f);
}

void race_sync_write(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                     const struct emu_access *a, struct flag *f, struct cta *home, uint64_t address)
{
    if (a->buffered && a->kind == EMU_STORE && !home)
        release_buffered(r, c, w, lane, a, f, address);
    else release(r, c, w, lane, a, home, f, address);
}

/* ---- asynchronous copies
 * ------------------------------------------------------------------------------ */

/* The lanes have waited for the copy: it counts as an access of theirs in the current epoch. */
static void waited(struct warp *w, struct pending_copy *p, uint32_t lanes)
{
    struct event *e = &p->events->list[p->event];
    p->lanes &= ~lanes;
    e->pending &= ~lanes;
    if (!e->pending) e->flags &= (uint8_t)~EVENT_PENDING;
    e->epoch = w->epoch[__builtin_ctz(lanes)];
}

static void wait_for_copies(struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    const bool bulk = s->flags & EMU_BULK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->copy_count; i++) {
        struct pending_copy *p = &w->copies[i];
        uint32_t done = 0;
        for (uint32_t m = p->bulk == bulk && (!s->op || p->read) ? p->lanes & s->lanes : 0; m;
             m &= m - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(m), committed = w->groups[bulk][l];
            if (s->count == EMU_ALL_PENDING ||
                (committed > p->group && committed - p->group - 1 >= s->count))
                done |= 1u << l;
        }
        if (done) waited(w, p, done);
        if (p->lanes) w->copies[n++] = *p;
    }
    w->copy_count = n;
}

struct mbarrier *race_mbarrier(struct race *r, struct cta *home, uint32_t offset, uint32_t *slot)
{
    (void)r;
    for (uint32_t i = 0; i < home->mbarrier_count; i++)
        if (home->mbarriers[i].offset == offset) {
            *slot = i;
            return &home->mbarriers[i];
        }
    if (home->mbarrier_count == home->mbarrier_cap) {
        home->mbarrier_cap = home->mbarrier_cap ? 2 * home->mbarrier_cap : 8;
        home->mbarriers = realloc(home->mbarriers, home->mbarrier_cap * sizeof *home->mbarriers);
        if (!home->mbarriers) abort();
    }
    *slot = home->mbarrier_count;
    home->mbarriers[home->mbarrier_count] = (struct mbarrier){.offset = offset};
    return &home->mbarriers[home->mbarrier_count++];
}

/* cp.async.mbarrier.arrive: the lane's copies so far are complete when the mbarrier's phase is. */
static void hand_over(struct warp *w, uint32_t lane, const struct cta *home, uint32_t slot,
                      const struct mbarrier *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->copy_count; i++) {
        struct pending_copy *p = &w->copies[i];
        if (!p->bulk && p->lanes >> lane & 1) {
            struct event *e = &p->events->list[p->event];
            p->lanes &= ~(1u << lane);
            e->pending &= ~(1u << lane);
            e->flags = (uint8_t)((e->flags & ~(e->pending ? 0 : EVENT_PENDING)) | EVENT_MBARRIER);
            e->owner = home->index;
            e->part = (uint16_t)slot;
            e->epoch = b->phase + 1;
        }
        if (p->lanes) w->copies[n++] = *p;
    }
    w->copy_count = n;
}

static void end_phase(struct race *r, const struct cta *home, uint32_t slot, struct mbarrier *b)
{
    const struct vclock_entry own = {PART_MBARRIER + slot, ++b->phase};
    struct vclock *k = vclock_of_cta(&r->vclocks, home->index, &own, 1);
    vclock_join(&r->vclocks, &b->done[SAME_CTA], k);
    vclock_unref(&r->vclocks, k);
    for (uint32_t i = 0; i < SIDES; i++) {
        vclock_join(&r->vclocks, &b->done[i], b->arrived[i]);
        vclock_unref(&r->vclocks, b->arrived[i]);
        b->arrived[i] = NULL;
    }
}

static void empty_mbarrier(struct race *r, struct mbarrier *b)
{
    for (uint32_t i = 0; i < SIDES; i++) {
        vclock_unref(&r->vclocks, b->arrived[i]);
        vclock_unref(&r->vclocks, b->done[i]);
        b->arrived[i] = b->done[i] = NULL;
    }
}

/* A wait that found the phase complete. With scope .cta it acquires arrivals of the mbarrier's own
 * CTA only. A relaxed wait observes; a later fence acquires. */
static void pass_mbarrier(struct race *r, const struct cta *c, struct warp *w,
                          const struct emu_sync *s, const struct mbarrier *b)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(s->lanes);
    for (uint32_t side = SAME_CTA; side < (s->scope > EMU_SCOPE_CTA ? SIDES : OTHER_CTA); side++) {
        if (s->flags & EMU_ACQUIRE) {
            join_thread(r, c, w, lane, b->done[side]);
            continue;
        }
        struct thread_vc *m = race_thread_vc(w, lane);
        for (uint32_t i = side; i < LEVELS; i++) {
            m->observed_chain[i] = 0;
            vclock_join(&r->vclocks, &m->observed[i], b->done[side]);
        }
    }
}

/* An arrival from another CTA with scope .cta releases nothing: the waiting threads are outside its
 * scope. */
static void arrive_at_mbarrier(struct race *r, struct cta *c, struct warp *w,
                               const struct emu_sync *s, const struct cta *home, struct mbarrier *b)
{
    if (home == c) arrive_at(r, c, w, s, level_of(EMU_SCOPE_CTA), &b->arrived[SAME_CTA]);
    else if (s->scope > EMU_SCOPE_CTA)
        arrive_at(r, c, w, s, level_of(s->scope), &b->arrived[OTHER_CTA]);
}

/* The check of the mbarrier object itself: init and inval are weak writes, all else is strong. */
static void access_mbarrier(struct race *r, const struct emu_sync *s)
{
    const bool weak = s->op == EMU_MBARRIER_INIT || s->op == EMU_MBARRIER_INVALIDATE;
    const bool waits = s->op == EMU_MBARRIER_PASSED || s->op == EMU_MBARRIER_PENDING;
    uint64_t at[LANES];
    at[__builtin_ctz(s->lanes)] = s->address + MEM_SHARED;
    race_check(r, &(struct emu_access){.who = s->who,
                                       .kind = weak    ? EMU_STORE
                                               : waits ? EMU_LOAD
                                                       : EMU_RED,
                                       .space = PTX_SPACE_SHARED,
                                       .flags = weak ? 0 : EMU_RELAXED,
                                       .scope = EMU_SCOPE_CLUSTER,
                                       .width = 8,
                                       .count = 1,
                                       .lanes = s->lanes,
                                       .address = at,
                                       .pc = s->pc});
}

static void mbarrier(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    const uint32_t lane = (uint32_t)__builtin_ctz(s->lanes),
                   window = (uint32_t)(s->address / MEM_SHARED_WINDOW);
    struct cta *home = c;
    uint32_t slot;
    if (window) home = race_cta(r, emu_machine_cluster_cta(r->machine, c->index, window - 1));
    struct mbarrier *b = race_mbarrier(r, home, (uint32_t)(s->address % MEM_SHARED_WINDOW), &slot);
    access_mbarrier(r, s);
    if (s->op == EMU_MBARRIER_INIT || s->op == EMU_MBARRIER_INVALIDATE) empty_mbarrier(r, b);
    else if (s->op == EMU_MBARRIER_PASSED) pass_mbarrier(r, c, w, s, b);
    else if (s->op == EMU_MBARRIER_ARRIVE) arrive_at_mbarrier(r, c, w, s, home, b);
    else if (s->op == EMU_MBARRIER_ARRIVE_ASYNC) hand_over(w, lane, home, slot, b);
    if (s->phase[0] != s->phase[1] && s->op != EMU_MBARRIER_INIT) end_phase(r, home, slot, b);
}

/* ---- dispatch
 * ------------------------------------------------------------------------------------------- */

/* For the next CTA with this state. w->recent can stay: its entries have the CTA's number. */
static void forget_warp(struct warp *w)
{
    free(w->thread_vc);
    w->thread_vc = NULL;
    w->barrier_epoch = w->cta_epoch = 0;
    w->copy_count = 0;
    w->copy_event = 0;
    if (!w->async_used) return;
    memset(w->proxy_fence, 0, sizeof w->proxy_fence);
    memset(w->proxy_cta_epoch, 0, sizeof w->proxy_cta_epoch);
    memset(w->groups, 0, sizeof w->groups);
    w->async_used = false;
}

void race_cta_end(struct race *r, struct cta *c)
{
    for (uint32_t w = 0; w < r->warps; w++) {
        struct warp *warp = &c->warps[w];
        for (uint32_t l = 0; warp->thread_vc && l < LANES; l++) {
            struct thread_vc *m = &warp->thread_vc[l];
            vclock_unref(&r->vclocks, m->vc);
            forget_fence(r, &m->fence);
            for (uint32_t i = 0; m->wider && i < LEVELS; i++) forget_fence(r, &m->wider[i]);
            free(m->wider);
            for (uint32_t i = 0; m->next_slot && i < LATEST_CHAINS; i++)
                vclock_unref(&r->vclocks, m->latest[i]);
            for (uint32_t i = 0; m->has_replaced && i < LATEST_CHAINS; i++)
                vclock_unref(&r->vclocks, m->replaced_before_fence[i]);
            for (uint32_t i = 0; i < LEVELS; i++) vclock_unref(&r->vclocks, m->observed[i]);
        }
        forget_warp(warp);
    }
    for (uint32_t i = 0; i < BARRIERS; i++) {
        if (!(c->active_barriers >> i & 1)) continue;
        vclock_unref(&r->vclocks, c->barriers[i].arrived);
        memset(&c->barriers[i], 0, sizeof c->barriers[i]);
    }
    c->active_barriers = 0;
    for (uint32_t i = 0; i < c->mbarrier_count; i++) empty_mbarrier(r, &c->mbarriers[i]);
    c->mbarrier_count = 0;
    vclock_unref(&r->vclocks, c->vc);
    c->vc = NULL;
    race_flags_clear(r, &c->flags);
    race_clear_releases(r, &c->own_releases);
    forget_shared(r, c);
    free(c->exit_epoch);
    c->exit_epoch = NULL;
    c->has_early_exits = false;
}

static void end_cta(struct race *r, uint32_t index)
{
    struct cta *c = race_cta(r, index);
    r->ctas = c->next; /* race_cta() moved it to the front */
    race_cta_end(r, c);
    c->next = r->spare;
    r->spare = c;
}

void race_sync(void *self, const struct emu_sync *s)
{
    struct race *r = self;
    if (r->gave_up && s->kind != EMU_SYNC_CTA_EXIT) return;
    struct cta *c = race_cta(r, s->who->cta);
    struct warp *w = race_warp(c, s->who->warp);
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (s->op) fence_proxies(c, w, s->lanes);
        else fence(r, c, s);
        break;
    case EMU_SYNC_BARRIER: arrive(r, c, s); break;
    case EMU_SYNC_BARRIER_DONE: complete(r, c, s); break;
    case EMU_SYNC_WARP: pass_warp_barrier(r, c, w, s->lanes); break;
    case EMU_SYNC_CTA_EXIT: end_cta(r, s->who->cta); break;
    case EMU_SYNC_ASYNC_COMMIT:
        for (uint32_t m = s->lanes; m; m &= m - 1)
            w->groups[(s->flags & EMU_BULK) != 0][__builtin_ctz(m)]++;
        w->async_used = true;
        break;
    case EMU_SYNC_ASYNC_WAIT: wait_for_copies(c, s); break;
    case EMU_SYNC_MBARRIER_DONE: mbarrier(r, c, s); break;
    case EMU_SYNC_CLUSTER_ARRIVE:
    case EMU_SYNC_CLUSTER_DONE:
    case EMU_SYNC_CLUSTER_WAIT: cluster_barrier(r, c, s); break;
    default: break;
    }
    if (r->vclocks.bytes > r->limits.clock_bytes) race_shrink_clocks(r);
}
