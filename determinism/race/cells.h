/* determinism/race/cells.h: what is remembered of the bytes of a cell, and what races with it. Of race.c, whose accesses go
 * through all of it: so it is inline. */
#ifndef HEDDLE_DETERMINISM_RACE_CELLS_H
#define HEDDLE_DETERMINISM_RACE_CELLS_H

#include "determinism/race/access.h"

/* ---- whether it is ordered ---------------------------------------------------------------------------- */

/* A thread that ended was at no barrier afterwards. */
static bool was_there(const struct cta *c, uint32_t thread, uint32_t when)
{
    return !c->gone || c->present[thread / LANES] >> thread % LANES & 1 || when < c->left[thread];
}

static bool knows(const struct look *k, const struct event *e, uint32_t its_lane, uint32_t lane)
{
    const uint32_t thread = e->warp * LANES + its_lane;
    if (e->cta == k->c->index) {
        const bool same_warp = e->warp == k->warp;
        if (same_warp && its_lane == lane) return true;
        if (e->clock < (same_warp ? k->w->base : k->c->base) && was_there(k->c, thread, e->clock))
            return true;
    }
    struct clock *know = mind_know(k->c, k->w, lane);
    return know && clock_covers(&k->r->tree, know, e->cta, thread, e->warp, e->clock, e->born);
}

/* A bulk copy goes around the way of other accesses: it sees what a thread stored when that thread has fenced
 * the proxies, or the one that copies when it knew of the store. (Of other CTAs this is not looked at.) */
static bool is_fenced(const struct look *k, const struct event *e, uint32_t its_lane, uint32_t lane)
{
    if (!(k->a->flags & EMU_BULK) || e->flags & EVENT_BULK || e->kind == EMU_LOAD ||
        e->cta != k->c->index || e->clock < k->w->proxy_base[lane])
        return true;
    struct event fence = *e;
    for (uint32_t i = 0; i < PROXY_FENCES; i++) {
        fence.clock = k->c->warps[e->warp].proxy_fence[i][its_lane];
        if (fence.clock < e->clock) return false;
        if (knows(k, &fence, its_lane, lane)) return true;
    }
    return true; /* those before are forgotten */
}

/* Whether all of the event is known to every lane of the warp, as what was before the last barrier is. */
static inline bool known_to_all(const struct look *k, uint32_t number)
{
    const struct event *e = &k->events->list[number];
    if (e->cta != k->cta || e->flags & (EVENT_PENDING | EVENT_MBARRIER)) return false;
    return e->clock < (e->warp == k->warp ? k->warp_base : k->base);
}

/* Likewise of all that is in the set. */
static inline bool all_known(const struct look *k, const struct set *set)
{
    return set->cta == k->cta && set->latest < k->base;
}

static bool ordered_by_more(const struct look *k, tag t, uint32_t lane)
{
    const struct event *e = &k->events->list[t >> 5];
    const uint32_t its_lane = t % LANES;
    if (e->flags & EVENT_PENDING && e->pending >> its_lane & 1) return false;
    if (e->flags & EVENT_MBARRIER) {
        struct clock *know = mind_know(k->c, k->w, lane);
        return know && clock_covers(&k->r->tree, know, e->owner, PART_MBARRIER + e->part,
                                    UINT32_MAX, e->clock, e->born);
    }
    if (e->flags & EVENT_PENDING || !e->mask)
        return knows(k, e, its_lane, lane) && is_fenced(k, e, its_lane, lane);
    if (known_to_all(k, t >> 5)) return true;
    for (uint32_t m = e->mask << its_lane; m; m &= m - 1)
        if (!knows(k, e, (uint32_t)__builtin_ctz(m), lane)) return false;
    return true;
}

static bool same_cluster(const struct look *k, uint32_t cta)
{
    return k->r->extent.cluster > 1 &&
           emu_machine_cluster_cta(k->r->machine, cta, 0) == k->c->cluster;
}

static bool morally_strong(const struct look *k, const struct event *e)
{
    if (!k->strong || !(e->flags & EVENT_STRONG) || e->width != k->width) return false;
    const uint32_t scope = e->scope < k->a->scope ? e->scope : k->a->scope; /* of both */
    return e->cta == k->c->index || scope >= EMU_SCOPE_GPU ||
           (scope == EMU_SCOPE_CLUSTER && same_cluster(k, e->cta));
}

/* Whether it is the warp's own, with a lane for each cell; then it is remembered as that. */
static inline bool is_own(struct look *k, uint32_t number)
{
    const struct event *e = &k->events->list[number];
    if (e->cta != k->c->index || e->warp != k->warp || e->mask ||
        e->flags & (EVENT_PENDING | EVENT_MBARRIER))
        return false;
    k->own = number;
    return true;
}

static inline bool is_known(struct look *k, tag t, uint32_t lane)
{
    const uint32_t number = t >> 5;
    if (!t || number == k->known) return true;
    if (t & TAG_SET) return all_known(k, shadow_set(k->shadow, t));
    if (number == k->own) return t % LANES == lane;
    if (known_to_all(k, number)) {
        k->known = number;
        return true;
    }
    return is_own(k, number) && t % LANES == lane;
}

/* Whether what the tag names happened before the lane's access. */
static inline bool comes_before(struct look *k, tag t, uint32_t lane)
{
    const struct event *e = &k->events->list[t >> 5];
    const uint8_t later = EVENT_PENDING | EVENT_MBARRIER | EVENT_BULK;
    if (t >> 5 == k->known) return true;
    if (e->flags & later || e->mask || k->a->flags & EMU_BULK) return ordered_by_more(k, t, lane);
    if (e->cta == k->cta) {
        if (e->clock < (e->warp == k->warp ? k->warp_base : k->base)) {
            k->known = t >> 5;
            return true;
        }
        if (e->warp == k->warp && t % LANES == lane) return true;
    }
    return k->more && knows(k, e, t % LANES, lane);
}

/* Whether the access is morally strong with all that is in the set. */
static inline bool all_strong(const struct look *k, const struct set *set)
{
    if (!k->strong || set->strong != k->width) return false;
    return set->cta == k->cta || (set->scope >= EMU_SCOPE_GPU && k->a->scope >= EMU_SCOPE_GPU);
}

/* ---- reports ------------------------------------------------------------------------------------------ */

static inline void report(struct look *k, tag own, tag other, uint32_t lane, uint64_t address)
{
    const uint32_t pc = k->a->pc, pc2 = k->events->list[other >> 5].pc;
    struct again *n = &k->r->again[((pc << 16 ^ pc2) * 0x9e3779b1u >> 24) % AGAIN];
    k->reported = true;
    if (n->known && n->pc == pc && n->pc2 == pc2) n->more++;
    else race_tell(k, own, other, lane, address, n);
}
/* ---- cells -------------------------------------------------------------------------------------------- */

/* Whether an event that this access comes after need not be remembered: who races with it races with this one,
 * too. Not so where this one is strong: with another strong access that comes after neither it would not. */
static bool may_go(const struct look *k, const struct event *e)
{
    if (!k->strong) return true;
    if (e->cta != k->c->index) return false;
    if (e->flags & EVENT_STRONG && e->width == k->width && e->scope >= k->a->scope) return true;
    return k->home && k->r->extent.cluster == 1 && e->clock < k->c->base && !k->c->gone;
}

/* Since the CTA's last barrier it was seen that the set has no room, and that none of what is in it can go. */
static bool is_stuck(const struct look *k, const struct set *set)
{
    return set->full_base == k->c->base && set->full_cta == k->c->index;
}

/* Whether it is looked at that some of what could stay could go: of many strong accesses that nothing orders only now
 * and then, where no barrier tells when that may have changed. */
static bool is_tidied(struct look *k, tag half)
{
    const struct set *set = shadow_set(k->shadow, half);
    if (!set || set->count < HISTORY) return false;
    if (k->more || (set->full_base && set->full_cta != k->c->index)) return ++k->r->turn % 16 == 0;
    return !is_stuck(k, set);
}

/* What the lane's write leaves of the half's tags. What races with it is reported, and goes. */
static uint32_t sift(struct look *k, tag own, uint32_t lane, const tag *half, bool tidy,
                     uint64_t address, tag *left)
{
    const tag *list;
    const uint32_t count = shadow_tags(k->shadow, half, &list);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct event *e = &k->events->list[list[i] >> 5];
        if (list[i] == own) continue;
        const bool fine = morally_strong(k, e);
        const bool going = may_go(k, e);
        const bool before = (fine ? tidy && going : true) && comes_before(k, list[i], lane);
        const bool stays = before ? !going : fine;
        if (stays) left[n++] = list[i];
        else if (!before) report(k, own, list[i], lane, address);
    }
    return n;
}

static bool has_tag(const struct set *set, tag t)
{
    const tag *list = set->list;
    uint32_t is = 0, i = 0;
    for (; i + 4 <= set->count; i += 4)
        is |= (list[i] == t) | (list[i + 1] == t) | (list[i + 2] == t) | (list[i + 3] == t);
    for (; i < set->count; i++) is |= list[i] == t;
    return is;
}

static void mark_stuck(const struct look *k, struct set *set)
{
    set->full_base = k->c->base;
    set->full_cta = k->c->index;
}

/* What is in the set is morally strong with one more write, and there are no reads. */
static bool add_strong(struct look *k, tag own, struct cell *cell, bool tidy)
{
    const struct set *set = shadow_set(k->shadow, cell->write);
    if (!set || !all_strong(k, set) || cell->read) return false;
    if (has_tag(set, own)) return true;
    if (tidy) return false;
    shadow_add(k->shadow, &cell->write, own);
    return true;
}

static void remove_tag(struct set *set, tag t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        set->list[n] = set->list[i];
        n += set->list[i] != t;
    }
    set->count = (uint8_t)n;
}

/* The half's tags, of which all are morally strong with the write, stay. */
static bool all_stay(struct look *k, tag own, tag *half, bool tidy)
{
    struct set *set = shadow_set(k->shadow, *half);
    if (tidy || (*half && !(set && all_strong(k, set)))) return false;
    if (!set) return true;
    if (has_tag(set, own)) remove_tag(set, own);
    set->full_base = 0; /* it may have room */
    if (!set->count) shadow_clear(k->shadow, half);
    return true;
}

static inline void race_with_one(struct look *k, tag own, uint32_t lane, tag other,
                                 uint64_t address)
{
    if (other != own && !comes_before(k, other, lane)) report(k, own, other, lane, address);
}

__attribute__((noinline)) static void race_with_set(struct look *k, tag own, uint32_t lane,
                                                    const struct set *set, uint64_t address)
{
    if (all_known(k, set)) return;
    for (uint32_t i = 0; i < set->count; i++) race_with_one(k, own, lane, set->list[i], address);
}

/* Reports what is not before the lane's weak access. */
static inline void race_with(struct look *k, tag own, uint32_t lane, tag half, uint64_t address)
{
    if (half & TAG_SET) race_with_set(k, own, lane, shadow_set(k->shadow, half), address);
    else if (half) race_with_one(k, own, lane, half, address);
}

/* Of what was there before nothing need be remembered after that. */
static inline void write_weakly(struct look *k, tag own, uint32_t lane, struct cell *cell,
                                uint64_t address)
{
    race_with(k, own, lane, cell->write, address);
    race_with(k, own, lane, cell->read, address);
    shadow_clear(k->shadow, &cell->write);
    shadow_clear(k->shadow, &cell->read);
    cell->write = own;
}

static void write_strongly(struct look *k, tag own, uint32_t lane, struct cell *cell, bool tidy,
                           uint64_t address)
{
    tag left[HISTORY + 1], reads[HISTORY];
    k->reported = false;
    bool stuck;
    if (cell->write & TAG_SET && all_stay(k, own, &cell->write, tidy)) {
        const struct set *set = shadow_set(k->shadow, cell->write);
        stuck = set && set->count == HISTORY;
        shadow_add(k->shadow, &cell->write, own);
    } else {
        uint32_t n = sift(k, own, lane, &cell->write, tidy, address, left);
        stuck = n == HISTORY;
        if (stuck) n--;
        left[n++] = own;
        shadow_put(k->shadow, &cell->write, left, n);
    }
    tidy = is_tidied(k, cell->read);
    if (!all_stay(k, own, &cell->read, tidy)) {
        const uint32_t n = sift(k, own, lane, &cell->read, tidy, address, reads);
        shadow_put(k->shadow, &cell->read, reads, n);
    }
    if (k->reported) { /* once is enough */
        shadow_put(k->shadow, &cell->write, &own, 1);
        shadow_put(k->shadow, &cell->read, NULL, 0);
    } else if (stuck && !k->more) mark_stuck(k, shadow_set(k->shadow, cell->write));
}

static void write_cell(struct look *k, tag own, uint32_t lane, struct cell *cell, uint64_t address)
{
    if (!cell->write && !cell->read) {
        cell->write = own;
        return;
    }
    if (cell->write == own && !cell->read) return;
    if (!k->strong) {
        write_weakly(k, own, lane, cell, address);
        return;
    }
    const bool tidy = is_tidied(k, cell->write);
    if (!add_strong(k, own, cell, tidy)) write_strongly(k, own, lane, cell, tidy, address);
}

/* Whether the set has no room, and none of what is in it can go. */
static bool is_full(const struct look *k, const struct set *set)
{
    return set->count == HISTORY && !known_to_all(k, set->list[0] >> 5) &&
           !known_to_all(k, set->list[HISTORY - 1] >> 5);
}

static void remember_read(struct look *k, tag own, struct cell *cell)
{
    const tag *list;
    tag left[HISTORY + 1];
    const uint32_t lane = own % LANES;
    struct set *set = shadow_set(k->shadow, cell->read);
    uint32_t n = 0;
    if (!cell->read) cell->read = own;
    if (cell->read == own) return;
    if (set && is_stuck(k, set)) return;
    if (set && has_tag(set, own)) return;
    if (set && is_full(k, set)) {
        mark_stuck(k, set);
        return;
    }
    if (set && set->count < HISTORY && !known_to_all(k, set->list[set->count - 1] >> 5)) {
        shadow_add(k->shadow, &cell->read, own);
        return;
    }
    const uint32_t reads = shadow_tags(k->shadow, &cell->read, &list);
    for (uint32_t i = 0; i < reads; i++)
        if (!may_go(k, &k->events->list[list[i] >> 5]) || !comes_before(k, list[i], lane))
            left[n++] = list[i];
    if (n == HISTORY) return;
    left[n++] = own;
    shadow_put(k->shadow, &cell->read, left, n);
}

/* `mask`: the lanes that read these bytes; `own` names the first. */
static void read_cell(struct look *k, tag own, uint32_t mask, struct cell *cell, uint64_t address)
{
    const tag *list;
    const struct set *set = shadow_set(k->shadow, cell->write);
    const uint32_t writes = set && all_strong(k, set) ? 0
                                                      : shadow_tags(k->shadow, &cell->write, &list);
    for (uint32_t i = 0; i < writes; i++) {
        const bool known = known_to_all(k, list[i] >> 5) && !(k->a->flags & EMU_BULK) && !k->aside;
        for (uint32_t m = known ? 0 : mask; m; m &= m - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(m);
            if (morally_strong(k, &k->events->list[list[i] >> 5]) ||
                (!k->aside && comes_before(k, list[i], l)))
                continue;
            report(k, own, list[i], l, address);
            break;
        }
    }
    remember_read(k, own, cell);
}

static void touch(struct look *k, tag own, uint32_t mask, uint64_t address, uint32_t size)
{
    const bool fine = (address | size) & 3;
    for (uint32_t o = 0; o < size;) {
        struct page *p = shadow_page(k->shadow, address + o, fine);
        if (!p) return;
        struct cell *cell = shadow_cell(k->shadow, p, address + o);
        if (k->writes) write_cell(k, own, own % LANES, cell, address + o);
        else read_cell(k, own, mask, cell, address + o);
        o += 1u << p->shift;
    }
}

#endif
