/* The race detector: what orders accesses. detector.h says what times and minds are. */
#include "determinism/race/detector.h"

#include "emu/memory.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* ---- times -------------------------------------------------------------------------------------------- */

/* What all of the CTA know, where some threads ended and were not at its last barrier: for each warp, or thread of
 * a warp that lost some. `list` has room for all; returns how many are used. */
static uint32_t bases(const struct race *r, const struct cta *c, struct clock_entry *list)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < r->warps; w++) {
        const uint32_t exist = c->warps[w].exist;
        for (uint32_t m = c->present[w] == exist ? 0 : exist; m; m &= m - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(m), thread = w * LANES + l;
            const bool here = c->present[w] >> l & 1;
            list[n++] = (struct clock_entry){thread, (here ? c->base : c->left[thread]) - 1};
        }
    }
    for (uint32_t w = 0; w < r->warps; w++)
        if (c->present[w] == c->warps[w].exist)
            list[n++] = (struct clock_entry){PART_WARP + w, c->base - 1};
    return n;
}

/* What is known of all of the warp, and of all of the CTA, behind `n` entries; but for what says nothing more. */
static uint32_t add_bases(struct clock_entry *list, uint32_t n, uint32_t warp, uint32_t its,
                          uint32_t all)
{
    if (its > all) list[n++] = (struct clock_entry){PART_WARP + warp, its};
    if (all) list[n++] = (struct clock_entry){PART_CTA, all};
    return n;
}

/* What these lanes let be known when they synchronise now: what they did, and what they know. */
static struct clock *news(struct race *r, const struct cta *c, struct warp *w, uint32_t lanes)
{
    struct clock_entry list[LANES + 2];
    const uint32_t warp = (uint32_t)(w - c->warps);
    uint32_t n = 0, least = UINT32_MAX;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->when[l] < least) least = w->when[l];
    }
    const bool all = lanes == w->exist, /* of whom all is known up to the least */
        whole = c->present[warp] == w->exist;
    if (!all) least = w->base - 1;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        if (w->when[l] > least || !whole)
            list[n++] = (struct clock_entry){warp * LANES + l, w->when[l]};
    }
    n = add_bases(list, n, warp, whole ? least : 0, c->gone ? 0 : c->base - 1);
    struct clock *k = clock_of(&r->tree, c->index, list, n), *last = NULL;
    if (c->gone) {
        struct clock_entry others[WARPS * LANES];
        struct clock *base = clock_of(&r->tree, c->index, others, bases(r, c, others));
        clock_learn(&r->tree, &k, base);
        clock_drop(&r->tree, base);
    }
    clock_learn(&r->tree, &k, c->know);
    for (uint32_t m = w->mind ? lanes : 0; m; m &= m - 1) {
        struct clock *own = w->mind[__builtin_ctz(m)].know;
        if (own != last) clock_learn(&r->tree, &k, own);
        last = own;
    }
    return k;
}

/* Time moves on for these lanes: what they do from now on is not in their news. */
static void tick(struct cta *c, struct warp *w, uint32_t lanes)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        uint32_t *when = &w->when[__builtin_ctz(m)];
        if (++*when > c->top) c->top = *when;
    }
    w->even &= lanes == w->exist;
}

static void learn(struct race *r, const struct cta *c, struct warp *w, uint32_t lane,
                  struct clock *k)
{
    if (!k) return;
    struct mind *m = race_mind(w, lane);
    if (!m->know) m->know = clock_keep(c->know);
    clock_learn(&r->tree, &m->know, k);
}

static void learn_all(struct race *r, const struct cta *c, struct warp *w, uint32_t lanes,
                      struct clock *k)
{
    for (uint32_t m = lanes; m; m &= m - 1) learn(r, c, w, (uint32_t)__builtin_ctz(m), k);
}

/* ---- barriers ----------------------------------------------------------------------------------------- */

static void forget_shared(struct race *r, struct cta *c)
{
    shadow_forget(&c->shared);
    notes_clear(&c->notes);
    if (c->events.count) r->happened -= c->events.count - 1; /* [0] is nobody */
    c->events.count = 0;
}

/* All that live have met: from now on all is known to all of what was before. So nothing can race with that in shared
 * memory but an asynchronous copy, and what a thread that ended did. */
static void meet(struct race *r, struct cta *c, const uint32_t *here)
{
    for (uint32_t w = 0; w < r->warps; w++) {
        const struct warp *warp = &c->warps[w];
        const uint32_t known = here[w] && warp->since == c->base ? warp->base
                                                                 : c->base; /* to the others */
        for (uint32_t m = c->present[w] & ~here[w]; m; m &= m - 1) {        /* they have ended */
            if (!c->left) c->left = calloc(r->warps * LANES, sizeof *c->left);
            if (!c->left) abort();
            c->left[w * LANES + (uint32_t)__builtin_ctz(m)] = known;
            c->gone = true;
        }
        c->present[w] = here[w];
        struct mind *mind = c->warps[w].mind;
        for (uint32_t l = 0; mind && l < LANES; l++) {
            if (here[w] >> l & 1) clock_learn(&r->tree, &c->know, mind[l].know);
            clock_drop(&r->tree, mind[l].know);
            mind[l].know = NULL;
        }
    }
    c->base = ++c->top;
    if (!c->gone && !r->copies && r->extent.cluster <= 1) forget_shared(r, c);
}

static void arrive(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    const uint32_t id = s->id % BARRIERS;
    c->met |= 1u << id;
    if (s->flags & EMU_ACQUIRE) {
        c->barriers[id].waiting[s->who->warp] |= s->lanes;
        c->barriers[id].count += (uint32_t)__builtin_popcount(s->lanes);
        return;
    }
    struct clock *k = news(r, c, w, s->lanes);
    clock_learn(&r->tree, &c->barriers[id].arrived, k);
    clock_drop(&r->tree, k);
    c->barriers[id].only_arrived = true;
    tick(c, w, s->lanes);
}

static void complete(struct race *r, struct cta *c, const struct emu_sync *s)
{
    const uint32_t id = s->id % BARRIERS;
    uint32_t here[WARPS];
    memcpy(here, c->barriers[id].waiting, sizeof here);
    struct clock *k = c->barriers[id].arrived;
    const bool all = !c->barriers[id].only_arrived && c->barriers[id].count == s->count;
    memset(&c->barriers[id], 0, sizeof c->barriers[id]);
    c->met &= ~(1u << id);
    if (all) {
        meet(r, c, here);
        return;
    }
    for (uint32_t w = 0; w < r->warps; w++) {
        if (!here[w]) continue;
        struct clock *own = news(r, c, race_warp(c, w), here[w]);
        clock_learn(&r->tree, &k, own);
        clock_drop(&r->tree, own);
    }
    for (uint32_t w = 0; w < r->warps; w++) {
        learn_all(r, c, race_warp(c, w), here[w], k);
        tick(c, &c->warps[w], here[w]);
    }
    clock_drop(&r->tree, k);
}

static void meet_warp(struct race *r, struct cta *c, struct warp *w, uint32_t lanes)
{
    if (lanes == w->exist && !w->mind) {
        uint32_t latest = 0;
        for (uint32_t l = 0; l < LANES; l++)
            if (w->when[l] > latest) latest = w->when[l];
        w->base = ++latest;
        for (uint32_t l = 0; l < LANES; l++) w->when[l] = latest;
        w->even = true;
        if (latest > c->top) c->top = latest;
        return;
    }
    struct clock *k = news(r, c, w, lanes);
    learn_all(r, c, w, lanes, k);
    clock_drop(&r->tree, k);
    tick(c, w, lanes);
}

static uint32_t level_of(uint32_t scope)
{
    return scope < LEVELS ? scope : LEVELS - 1;
}

/* What a fence of the thread let be known. */
static struct clock *news_of_fence(struct race *r, const struct cta *c, const struct warp *w,
                                   uint32_t lane, struct release_fence *f)
{
    const uint32_t warp = (uint32_t)(w - c->warps);
    if (f->news) return clock_keep(f->news);
    struct clock_entry list[3] = {{warp * LANES + lane, f->when}};
    const uint32_t n = add_bases(list, 1, warp, f->warp - 1, f->cta - 1);
    struct clock *k = clock_after(&r->tree, f->know, c->index, warp, list, n);
    f->news = clock_keep(k);
    return k;
}

/* The thread's last release fence that reaches the level; NULL: there was none. */
static struct release_fence *fence_for(struct mind *m, uint32_t level)
{
    if (!m || !m->fenced) return NULL;
    if (level_of(m->fence.scope) >= level) return &m->fence;
    for (uint32_t i = level; m->wider && i < LEVELS; i++) /* the narrower, the later */
        if (m->wider[i].when) return &m->wider[i];
    return NULL;
}

static void forget_fence(struct race *r, struct release_fence *f)
{
    clock_drop(&r->tree, f->know);
    clock_drop(&r->tree, f->news);
    *f = (struct release_fence){0};
}

/* Another fence is about to be the last one: of those before it, what reaches further stays. */
static void put_fence_by(struct race *r, struct mind *m, uint32_t level)
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
}

/* What the lanes release by arriving: what they did, or if they arrive relaxed, before their last fence that reaches
 * the level. */
static void arrive_at(struct race *r, struct cta *c, struct warp *w, const struct emu_sync *s,
                      uint32_t level, struct clock **arrived)
{
    if (s->flags & EMU_RELEASE) {
        struct clock *k = news(r, c, w, s->lanes);
        clock_learn(&r->tree, arrived, k);
        clock_drop(&r->tree, k);
        tick(c, w, s->lanes);
        return;
    }
    for (uint32_t m = w->mind ? s->lanes : 0; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        struct release_fence *f = fence_for(&w->mind[l], level);
        if (!f) continue;
        struct clock *k = news_of_fence(r, c, w, l, f);
        clock_learn(&r->tree, arrived, k);
        clock_drop(&r->tree, k);
    }
}

static struct group *group_of(struct race *r, const struct cta *c)
{
    struct group *g = r->groups;
    while (g && g->index != c->cluster) g = g->next;
    if (g) return g;
    g = calloc(1, sizeof *g);
    if (!g) abort();
    g->index = c->cluster;
    g->left = r->extent.cluster;
    g->next = r->groups;
    return r->groups = g;
}

static void cluster(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct group *g = group_of(r, c);
    struct warp *w = race_warp(c, s->who->warp);
    if (s->kind == EMU_SYNC_CLUSTER_DONE) {
        clock_drop(&r->tree, g->done);
        g->done = g->arrived;
        g->arrived = NULL;
    } else if (s->kind == EMU_SYNC_CLUSTER_WAIT) learn_all(r, c, w, s->lanes, g->done);
    else arrive_at(r, c, w, s, level_of(s->scope), &g->arrived);
}

/* ---- fences and flags ----------------------------------------------------------------------------------- */

/* All that strong reads read is acquired. */
static void take_learned(struct race *r, const struct cta *c, struct warp *w, uint32_t lane)
{
    struct mind *m = &w->mind[lane];
    for (uint32_t i = 0; i < LEARNED; i++)
        if (!(m->taken >> i & 1)) learn(r, c, w, lane, m->learned[i]);
    m->taken = (1u << LEARNED) - 1;
}

static void fence(struct race *r, struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    for (uint32_t m = s->lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        struct mind *mind = race_mind(w, l);
        for (uint32_t i = r->lowest; s->flags & EMU_ACQUIRE && i <= level_of(s->scope); i++)
            if (i == r->lowest || mind->seen[i] != mind->seen[i - 1])
                learn(r, c, w, l, mind->seen[i]);
        if (s->flags & EMU_ACQUIRE && level_of(s->scope) == LEVELS - 1) take_learned(r, c, w, l);
        for (uint32_t i = 0; i < LEARNED; i++) {
            clock_drop(&r->tree, mind->replaced[i]);
            mind->replaced[i] = NULL;
        }
        mind->before = 0;
        if (!(s->flags & EMU_RELEASE)) continue;
        if (s->flags & EMU_ACQUIRE && level_of(s->scope) == LEVELS - 1)
            mind->before = (1u << LEARNED) - 1;
        put_fence_by(r, mind, level_of(s->scope));
        mind->fenced = true;
        mind->fence = (struct release_fence){.scope = s->scope,
                                             .know = c->gone ? news(r, c, w, 1u << l)
                                                             : clock_keep(mind_know(c, w, l)),
                                             .when = w->when[l],
                                             .warp = c->gone ? 1 : w->base,
                                             .cta = c->gone ? 1 : c->base};
    }
    if (s->flags & EMU_RELEASE) tick(c, w, s->lanes);
}

static void fence_proxies(struct cta *c, struct warp *w, uint32_t lanes)
{
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(m);
        for (uint32_t i = PROXY_FENCES - 1; i; i--) w->proxy_fence[i][l] = w->proxy_fence[i - 1][l];
        w->proxy_fence[0][l] = w->when[l];
        w->proxy_base[l] = c->base;
    }
    w->moved = true;
    tick(c, w, lanes);
}

static struct own *slot_of_own(const struct owns *o, uint64_t address, uint32_t home,
                               uint32_t thread)
{
    uint64_t h = address * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ h >> 32 ^ thread ^ (uint64_t)home << 32) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = (uint32_t)(h >> 32);; i++) {
        struct own *own = &o->list[i & (o->cap - 1)];
        if (!own->address ||
            (own->address == address && own->thread == thread && own->home == home))
            return own;
    }
}

static const struct own *find_own(const struct owns *o, uint64_t address, uint32_t home,
                                  uint32_t thread)
{
    const struct own *own = o->count ? slot_of_own(o, address, home, thread) : NULL;
    return own && own->address ? own : NULL;
}

/* The thread has released that at the place, in scopes up to the level: it has all that it released before. */
static void keep_own(struct race *r, struct owns *o, uint64_t address, uint32_t home,
                     uint32_t thread, struct clock *released, uint32_t level)
{
    if (2 * (o->count + 1) > o->cap) {
        struct owns bigger = {.cap = o->cap ? 2 * o->cap : 16, .count = o->count};
        bigger.list = calloc(bigger.cap, sizeof *bigger.list);
        if (!bigger.list) abort();
        for (uint32_t i = 0; i < o->cap; i++) {
            const struct own *own = &o->list[i];
            if (own->address) *slot_of_own(&bigger, own->address, own->home, own->thread) = *own;
        }
        free(o->list);
        *o = bigger;
    }
    struct own *own = slot_of_own(o, address, home, thread);
    o->count += !own->address;
    own->address = address;
    own->home = home;
    own->thread = thread;
    for (uint32_t i = r->lowest; i <= level; i++) {
        clock_drop(&r->tree, own->released[i]);
        own->released[i] = clock_keep(released);
    }
}

static void clear_owns(struct race *r, struct owns *o)
{
    for (uint32_t i = 0; i < o->cap && o->count; i++) {
        if (!o->list[i].address) continue;
        for (uint32_t k = 0; k < LEVELS; k++) clock_drop(&r->tree, o->list[i].released[k]);
        o->list[i] = (struct own){0};
        o->count--;
    }
}

static bool same_group(const struct flag *f, const struct cta *c, uint32_t level)
{
    return level == 0 ? f->id[0] == c->index : level == 1 ? f->id[1] == c->cluster : true;
}

/* The same at two levels mostly comes to the same: to[level] learns what to[level - 1] did. */
static void learn_again(struct race *r, struct clock **to, uint32_t level)
{
    clock_drop(&r->tree, to[level]);
    to[level] = clock_keep(to[level - 1]);
}

/* What was read later of a chain has all that was read of it before. */
static void remember_learned(struct race *r, struct mind *m, struct clock *now, uint32_t chain)
{
    uint32_t at = m->turn % LEARNED;
    bool newer = false;
    for (uint32_t i = 0; i < LEARNED; i++) {
        if (m->learned[i] == now) return;
        if (!m->learned[i] || m->chain[i] != chain) continue;
        at = i;
        newer = true;
    }
    if (!newer) {
        m->turn++;
        if (!(m->taken >> at & 1)) clock_learn(&r->tree, &m->seen[LEVELS - 1], m->learned[at]);
    }
    if (m->before >> at & 1) m->replaced[at] = m->learned[at];
    else clock_drop(&r->tree, m->learned[at]);
    m->learned[at] = clock_keep(now);
    m->chain[at] = chain;
    m->taken &= (uint8_t) ~(1u << at);
    m->before &= (uint8_t) ~(1u << at);
}

static void acquire(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                    const struct emu_access *a, const struct flag *f)
{
    const struct clock *seen = NULL, *released = NULL; /* of the level before */
    for (uint32_t i = r->lowest; i <= level_of(a->scope); i++) {
        struct clock *now = same_group(f, c, i) ? f->released[i] : NULL;
        if (!now) {
            released = NULL;
            continue;
        }
        struct mind *m = race_mind(w, lane);
        const bool again = released == now;
        if (a->flags & EMU_ACQUIRE && !again) learn(r, c, w, lane, now);
        /* An acquire fence that is wider than this read may come, too. */
        released = now;
        if (i == LEVELS - 1) {
            remember_learned(r, m, now, f->chain[i]);
            continue;
        }
        const bool alike = again && seen == m->seen[i],
                   newer = !m->seen[i] || m->seen_chain[i] == f->chain[i];
        seen = m->seen[i];
        m->seen_chain[i] = newer ? f->chain[i] : 0;
        if (seen == now) continue;
        if (newer) {
            clock_drop(&r->tree, m->seen[i]);
            m->seen[i] = clock_keep(now);
        } else if (alike) learn_again(r, m->seen, i);
        else clock_learn(&r->tree, &m->seen[i], now);
    }
}

static bool has_acquired(const struct mind *m, const struct clock *c)
{
    bool has = false;
    for (uint32_t i = 0; i < LEARNED; i++)
        has |= m->replaced[i] == c || (m->before >> i & 1 && m->learned[i] == c);
    return has;
}

/* A strong write takes the place of what was released here, but a read-modify-write passes it on. */
static void release(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                    const struct emu_access *a, struct cta *home, struct flag *f, uint64_t address)
{
    const uint32_t thread = (uint32_t)(w - c->warps) * LANES + lane, top = level_of(a->scope);
    struct mind *mind = w->mind ? &w->mind[lane] : NULL;
    const bool passes_on = a->kind != EMU_STORE, releases = a->flags & EMU_RELEASE;
    const bool fenced = mind && mind->fenced;
    const uint32_t whose = home ? home->index : UINT32_MAX;
    const struct own *own = releases ? NULL : find_own(&c->owns, address, whose, thread);
    if (!f && !releases && !fenced && !own) return;
    if (!f) f = race_begin_flag(r, home, address);
    if (!f) return;
    struct clock *now = releases ? news(r, c, w, 1u << lane) : NULL;
    struct clock *before = NULL;                /* what the level's fence let be known */
    const struct clock *last = NULL;            /* at the level before: what there was, */
    const struct release_fence *learned = NULL; /* and what of these was added to it */
    const struct clock *passed = NULL;
    bool any = false;
    for (uint32_t i = r->lowest; i < LEVELS; i++) {
        if (i > top || !passes_on || !same_group(f, c, i)) {
            clock_drop(&r->tree, f->released[i]);
            f->released[i] = NULL;
            f->chain[i] = ++r->chains;
        }
        if (i > top) continue;
        const struct clock *was = f->released[i];
        struct clock *passes = own ? own->released[i] : NULL;
        struct release_fence *fence = fence_for(mind, i);
        const bool alike = i > r->lowest && was == last && fence == learned && passes == passed;
        if (fence != learned) {
            clock_drop(&r->tree, before);
            before = fence ? news_of_fence(r, c, w, lane, fence) : NULL;
        }
        last = was, learned = fence, passed = passes;
        if (alike) {
            learn_again(r, f->released, i);
            continue;
        }
        clock_learn(&r->tree, &f->released[i], now);
        if (fence) {
            const bool newest = fence == &mind->fence;
            if (newest && f->released[i] && has_acquired(mind, f->released[i])) {
                clock_drop(&r->tree, f->released[i]);
                f->released[i] = clock_keep(before);
            } else clock_learn(&r->tree, &f->released[i], before);
        }
        clock_learn(&r->tree, &f->released[i], passes);
        any |= f->released[i] != NULL;
    }
    if (releases) keep_own(r, &c->owns, address, whose, thread, now, top);
    clock_drop(&r->tree, now);
    clock_drop(&r->tree, before);
    f->id[0] = c->index;
    f->id[1] = c->cluster;
    if (releases) tick(c, w, 1u << lane);
    if (!any) race_end_flag(r, home, f);
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

/* Lanes come one after the other: each finds what the last of those before it left that did not fail there. */
uint32_t race_failing(const struct emu_access *a)
{
    const uint8_t *left[LANES]; /* by those that did not fail, and where */
    uint64_t where[LANES];
    uint32_t count = 0, fail = 0;
    if (a->kind != EMU_ATOMIC || a->op != ATOMIC_CAS || !a->result || !a->data) return 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint8_t *own = a->data + a->stride * lane;
        uint32_t i = 0;
        while (i < count && where[i] != a->address[lane]) i++;
        if (!same(i < count ? left[i] : a->result + a->stride * lane, own, a->width)) {
            fail |= 1u << lane;
            continue;
        }
        where[i] = a->address[lane];
        left[i] = own + 32;
        count += i == count;
    }
    return fail;
}

/* A strong store that the order keeps back: until it is shown, others read what was there. (Of several to one place the
 * last that is told counts as the one that stays.) */
static void release_late(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
                         const struct emu_access *a, struct flag *f, uint64_t address)
{
    struct flag was = {.address = address};
    if (race_late_flag(r, address)) {
        release(r, c, w, lane, a, NULL, f, address);
        return;
    }
    if (f) was = *f;
    for (uint32_t i = 0; i < LEVELS; i++) was.released[i] = clock_keep(was.released[i]);
    release(r, c, w, lane, a, NULL, f, address);
    if (f || race_flag_at(r, NULL, address)) race_add_late(r, &was);
}

void race_flag(struct race *r, struct cta *c, struct warp *w, uint32_t lane,
               const struct emu_access *a, bool writes, struct flag *f, struct cta *home,
               uint64_t address)
{
    if (a->kind == EMU_LOAD || a->kind == EMU_ATOMIC) {
        const struct flag *late = home || !r->late.count ? NULL : race_late_flag(r, address);
        if (late || f) acquire(r, c, w, lane, a, late ? late : f);
    }
    if (writes && a->buffered && a->kind == EMU_STORE && !home)
        release_late(r, c, w, lane, a, f, address);
    else if (writes) release(r, c, w, lane, a, home, f, address);
}

/* ---- asynchronous copies ------------------------------------------------------------------------------ */

/* The copy is the thread's own from now on. */
static void waited(struct warp *w, struct copies *p, uint32_t lanes)
{
    struct event *e = &p->events->list[p->event];
    p->lanes &= ~lanes;
    e->pending &= ~lanes;
    if (!e->pending) e->flags &= (uint8_t)~EVENT_PENDING;
    e->clock = w->when[__builtin_ctz(lanes)];
}

static void wait_for_copies(struct cta *c, const struct emu_sync *s)
{
    struct warp *w = race_warp(c, s->who->warp);
    const bool bulk = s->flags & EMU_BULK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->copy_count; i++) {
        struct copies *p = &w->copies[i];
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

/* The copies that the lane began are done when the mbarrier's phase is. */
static void hand_over(struct warp *w, uint32_t lane, const struct cta *home, uint32_t slot,
                      const struct mbarrier *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->copy_count; i++) {
        struct copies *p = &w->copies[i];
        if (!p->bulk && p->lanes >> lane & 1) {
            struct event *e = &p->events->list[p->event];
            p->lanes &= ~(1u << lane);
            e->pending &= ~(1u << lane);
            e->flags = (uint8_t)((e->flags & ~(e->pending ? 0 : EVENT_PENDING)) | EVENT_MBARRIER);
            e->owner = home->index;
            e->part = (uint16_t)slot;
            e->clock = b->phase + 1;
        }
        if (p->lanes) w->copies[n++] = *p;
    }
    w->copy_count = n;
}

static void end_phase(struct race *r, const struct cta *home, uint32_t slot, struct mbarrier *b)
{
    const struct clock_entry own = {PART_MBARRIER + slot, ++b->phase};
    struct clock *k = clock_of(&r->tree, home->index, &own, 1);
    clock_learn(&r->tree, &b->done[NEAR], k);
    clock_drop(&r->tree, k);
    for (uint32_t i = 0; i < SIDES; i++) {
        clock_learn(&r->tree, &b->done[i], b->arrived[i]);
        clock_drop(&r->tree, b->arrived[i]);
        b->arrived[i] = NULL;
    }
}

static void empty_mbarrier(struct race *r, struct mbarrier *b)
{
    for (uint32_t i = 0; i < SIDES; i++) {
        clock_drop(&r->tree, b->arrived[i]);
        clock_drop(&r->tree, b->done[i]);
        b->arrived[i] = b->done[i] = NULL;
    }
}

/* A wait of scope .cta acquires of its own CTA alone. Relaxed, it leaves that to a fence, which reaches as far. */
static void pass_mbarrier(struct race *r, const struct cta *c, struct warp *w,
                          const struct emu_sync *s, const struct mbarrier *b)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(s->lanes);
    for (uint32_t side = NEAR; side < (s->scope > EMU_SCOPE_CTA ? SIDES : FAR); side++) {
        if (s->flags & EMU_ACQUIRE) {
            learn(r, c, w, lane, b->done[side]);
            continue;
        }
        struct mind *m = race_mind(w, lane);
        for (uint32_t i = side; i < LEVELS; i++) {
            m->seen_chain[i] = 0;
            clock_learn(&r->tree, &m->seen[i], b->done[side]);
        }
    }
}

/* An arrival of scope .cta reaches nobody in another CTA, where those are who wait. */
static void arrive_at_mbarrier(struct race *r, struct cta *c, struct warp *w,
                               const struct emu_sync *s, const struct cta *home, struct mbarrier *b)
{
    if (home == c) arrive_at(r, c, w, s, level_of(EMU_SCOPE_CTA), &b->arrived[NEAR]);
    else if (s->scope > EMU_SCOPE_CTA) arrive_at(r, c, w, s, level_of(s->scope), &b->arrived[FAR]);
}

/* It is accessed like a strong word, but for its beginning and end. */
static void access_mbarrier(struct race *r, const struct emu_sync *s)
{
    const bool weak = s->op == EMU_MBARRIER_INIT || s->op == EMU_MBARRIER_INVALIDATE;
    const bool waits = s->op == EMU_MBARRIER_PASSED || s->op == EMU_MBARRIER_PENDING;
    uint64_t at[LANES];
    at[__builtin_ctz(s->lanes)] = s->address + MEM_SHARED;
    race_look(r, &(struct emu_access){.who = s->who,
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

/* ---- events --------------------------------------------------------------------------------------------- */

/* Events that are recent say of which CTA they are. */
static void forget_warp(struct warp *w)
{
    free(w->mind);
    w->mind = NULL;
    w->base = w->since = 0;
    w->copy_count = 0;
    w->copy_event = 0;
    if (!w->moved) return;
    memset(w->proxy_fence, 0, sizeof w->proxy_fence);
    memset(w->proxy_base, 0, sizeof w->proxy_base);
    memset(w->groups, 0, sizeof w->groups);
    w->moved = false;
}

void race_cta_end(struct race *r, struct cta *c)
{
    for (uint32_t w = 0; w < r->warps; w++) {
        struct warp *warp = &c->warps[w];
        for (uint32_t l = 0; warp->mind && l < LANES; l++) {
            struct mind *m = &warp->mind[l];
            clock_drop(&r->tree, m->know);
            forget_fence(r, &m->fence);
            for (uint32_t i = 0; m->wider && i < LEVELS; i++) forget_fence(r, &m->wider[i]);
            free(m->wider);
            for (uint32_t i = 0; i < LEARNED; i++) {
                clock_drop(&r->tree, m->learned[i]);
                clock_drop(&r->tree, m->replaced[i]);
            }
            for (uint32_t i = 0; i < LEVELS; i++) clock_drop(&r->tree, m->seen[i]);
        }
        forget_warp(warp);
    }
    for (uint32_t i = 0; i < BARRIERS; i++) {
        if (!(c->met >> i & 1)) continue;
        clock_drop(&r->tree, c->barriers[i].arrived);
        memset(&c->barriers[i], 0, sizeof c->barriers[i]);
    }
    c->met = 0;
    for (uint32_t i = 0; i < c->mbarrier_count; i++) empty_mbarrier(r, &c->mbarriers[i]);
    c->mbarrier_count = 0;
    clock_drop(&r->tree, c->know);
    c->know = NULL;
    race_flags_clear(r, &c->flags);
    clear_owns(r, &c->owns);
    forget_shared(r, c);
    free(c->left);
    c->left = NULL;
    c->gone = false;
}

static void end_cta(struct race *r, uint32_t index)
{
    struct cta *c = race_cta(r, index);
    r->ctas = c->next; /* it is the first now */
    race_cta_end(r, c);
    c->next = r->spare;
    r->spare = c;
}

void race_sync(void *self, const struct emu_sync *s)
{
    struct race *r = self;
    if (r->given_up && s->kind != EMU_SYNC_CTA_EXIT) return;
    struct cta *c = race_cta(r, s->who->cta);
    struct warp *w = race_warp(c, s->who->warp);
    switch (s->kind) {
    case EMU_SYNC_FENCE:
        if (s->op) fence_proxies(c, w, s->lanes);
        else fence(r, c, s);
        break;
    case EMU_SYNC_BARRIER: arrive(r, c, s); break;
    case EMU_SYNC_BARRIER_DONE: complete(r, c, s); break;
    case EMU_SYNC_WARP: meet_warp(r, c, w, s->lanes); break;
    case EMU_SYNC_CTA_EXIT: end_cta(r, s->who->cta); break;
    case EMU_SYNC_ASYNC_COMMIT:
        for (uint32_t m = s->lanes; m; m &= m - 1)
            w->groups[(s->flags & EMU_BULK) != 0][__builtin_ctz(m)]++;
        w->moved = true;
        break;
    case EMU_SYNC_ASYNC_WAIT: wait_for_copies(c, s); break;
    case EMU_SYNC_MBARRIER_DONE: mbarrier(r, c, s); break;
    case EMU_SYNC_CLUSTER_ARRIVE:
    case EMU_SYNC_CLUSTER_DONE:
    case EMU_SYNC_CLUSTER_WAIT: cluster(r, c, s); break;
    default: break;
    }
    if (r->tree.clocks > r->limits.clocks) race_give_up(r);
}
