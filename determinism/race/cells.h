/* determinism/race/cells.h: the rules of the race detector for one cell. Part of race.c; a header,
 * so that it is inlined.
 *
 * Two accesses race if one of them is a write, neither happened before the other, and they are not
 * morally strong (PTX: "races", "morally strong operations"). The rules for a cell are those of
 * FastTrack (Flanagan and Freund, PLDI 2009, section 3): an access is compared with the cell's last
 * writes, a write with its last reads as well; then it is added, and replaces the tags that
 * happened before it. As there, whatever races with a replaced access races with the access that
 * replaced it, too. One rule is added: a strong access does not replace a tag if a third, strong
 * access could race with the replaced one and be morally strong with the new one (is_subsumed()).
 *
 * A set of tags has at most HISTORY (15) of them. When it is full of tags that must stay, a further
 * read is not added, and a further strong write replaces the last one: a race with it can be
 * missed. */
#ifndef HEDDLE_DETERMINISM_RACE_CELLS_H
#define HEDDLE_DETERMINISM_RACE_CELLS_H

#include "determinism/race/access.h"

/* ---- happens-before
 * ---------------------------------------------------------------------------- */

/* Whether the thread had not ended before the last barrier, or ended after `epoch`: then the
 * barrier epoch covers it. */
static bool met_barrier(const struct cta *c, uint32_t thread, uint32_t epoch)
{
    return !c->has_early_exits || c->present[thread / LANES] >> thread % LANES & 1 ||
           epoch < c->exit_epoch[thread];
}

/* Whether what lane `its_lane` did in the event happened before the access of `lane`. */
static bool happens_before(const struct access *k, const struct event *e, uint32_t its_lane,
                           uint32_t lane)
{
    const uint32_t thread = e->warp * LANES + its_lane;
    if (e->cta == k->c->index) {
        const bool same_warp = e->warp == k->warp;
        if (same_warp && its_lane == lane) return true;
        if (e->epoch < (same_warp ? k->w->barrier_epoch : k->c->barrier_epoch) &&
            met_barrier(k->c, thread, e->epoch))
            return true;
    }
    struct vclock *vc = thread_vclock(k->c, k->w, lane);
    return vc && vclock_covers(&k->r->vclocks, vc, e->cta, thread, e->warp, e->epoch, e->joins);
}

/* A bulk copy uses the async proxy. It is ordered after a generic store only by a proxy fence: of
 * the storing thread after the store, or of the copying thread when the store happened before (PTX:
 * "proxies"). Not checked for stores of other CTAs. */
static bool is_fenced(const struct access *k, const struct event *e, uint32_t its_lane,
                      uint32_t lane)
{
    if (!(k->a->flags & EMU_BULK) || e->flags & EVENT_BULK || e->kind == EMU_LOAD ||
        e->cta != k->c->index || e->epoch < k->w->proxy_cta_epoch[lane])
        return true;
    struct event fence = *e;
    for (uint32_t i = 0; i < PROXY_FENCES; i++) {
        fence.epoch = k->c->warps[e->warp].proxy_fence[i][its_lane];
        if (fence.epoch < e->epoch) return false;
        if (happens_before(k, &fence, its_lane, lane)) return true;
    }
    return true; /* earlier fences are not kept */
}

/* Whether the event happened before the access for all lanes of the warp, by the barrier epochs
 * alone. */
static inline bool known_to_all(const struct access *k, uint32_t number)
{
    const struct event *e = &k->events->list[number];
    if (e->cta != k->cta || e->flags & (EVENT_PENDING | EVENT_MBARRIER)) return false;
    return e->epoch < (e->warp == k->warp ? k->warp_epoch : k->barrier_epoch);
}

/* Likewise for all tags of the set. */
static inline bool all_known(const struct access *k, const struct tag_set *set)
{
    return set->cta == k->cta && set->latest < k->barrier_epoch;
}

/* For asynchronous events, and events that several lanes share. */
static bool complex_happens_before(const struct access *k, tag t, uint32_t lane)
{
    const struct event *e = &k->events->list[t >> 5];
    const uint32_t its_lane = t % LANES;
    if (e->flags & EVENT_PENDING && e->pending >> its_lane & 1) return false;
    if (e->flags & EVENT_MBARRIER) {
        struct vclock *vc = thread_vclock(k->c, k->w, lane);
        return vc && vclock_covers(&k->r->vclocks, vc, e->owner, PART_MBARRIER + e->part,
                                   UINT32_MAX, e->epoch, e->joins);
    }
    if (e->flags & EVENT_PENDING || !e->mask)
        return happens_before(k, e, its_lane, lane) && is_fenced(k, e, its_lane, lane);
    if (known_to_all(k, t >> 5)) return true;
    for (uint32_t m = e->mask << its_lane; m; m &= m - 1)
        if (!happens_before(k, e, (uint32_t)__builtin_ctz(m), lane)) return false;
    return true;
}

static bool same_cluster(const struct access *k, uint32_t cta)
{
    return k->r->extent.cluster > 1 &&
           emu_machine_cluster_cta(k->r->machine, cta, 0) == k->c->cluster;
}

/* PTX, "morally strong operations": both strong, of equal width, and each thread is in the scope of
 * the other. */
static bool morally_strong(const struct access *k, const struct event *e)
{
    if (!k->strong || !(e->flags & EVENT_STRONG) || e->width != k->width) return false;
    const uint32_t scope = e->scope < k->a->scope ? e->scope : k->a->scope; /* of both */
    return e->cta == k->c->index || scope >= EMU_SCOPE_GPU ||
           (scope == EMU_SCOPE_CLUSTER && same_cluster(k, e->cta));
}

/* Whether the event is of this warp, with one lane for each cell; then it becomes k->own_event. */
static inline bool is_own(struct access *k, uint32_t number)
{
    const struct event *e = &k->events->list[number];
    if (e->cta != k->c->index || e->warp != k->warp || e->mask ||
        e->flags & (EVENT_PENDING | EVENT_MBARRIER))
        return false;
    k->own_event = number;
    return true;
}

/* Whether what the tag names happened before the access, by the barrier epochs or because the lane
 * did it itself. */
static inline bool is_known(struct access *k, tag t, uint32_t lane)
{
    const uint32_t number = t >> 5;
    if (!t || number == k->known_event) return true;
    if (t & TAG_SET) return all_known(k, shadow_set(k->shadow, t));
    if (number == k->own_event) return t % LANES == lane;
    if (known_to_all(k, number)) {
        k->known_event = number;
        return true;
    }
    return is_own(k, number) && t % LANES == lane;
}

/* Whether what the tag names happened before the lane's access: all rules. */
static inline bool tag_happens_before(struct access *k, tag t, uint32_t lane)
{
    const struct event *e = &k->events->list[t >> 5];
    const uint8_t later = EVENT_PENDING | EVENT_MBARRIER | EVENT_BULK;
    if (t >> 5 == k->known_event) return true;
    if (e->flags & later || e->mask || k->a->flags & EMU_BULK)
        return complex_happens_before(k, t, lane);
    if (e->cta == k->cta) {
        if (e->epoch < (e->warp == k->warp ? k->warp_epoch : k->barrier_epoch)) {
            k->known_event = t >> 5;
            return true;
        }
        if (e->warp == k->warp && t % LANES == lane) return true;
    }
    return k->has_vc && happens_before(k, e, t % LANES, lane);
}

/* Whether the access is morally strong with all that is in the set. */
static inline bool all_strong(const struct access *k, const struct tag_set *set)
{
    if (!k->strong || set->strong != k->width) return false;
    return set->cta == k->cta || (set->scope >= EMU_SCOPE_GPU && k->a->scope >= EMU_SCOPE_GPU);
}

static inline struct reported_pair *pair_with(const struct access *k, tag other)
{
    const uint32_t pc = k->a->pc, pc2 = k->events->list[other >> 5].pc;
    return &k->r->reported[((pc << 16 ^ pc2) * 0x9e3779b1u >> 24) % REPORTED_PAIRS];
}

/* Whether the access's instruction and that of the tag are known to race. */
static inline bool is_reported(const struct access *k, tag other)
{
    const struct reported_pair *n = pair_with(k, other);
    return n->known && n->pc == k->a->pc && n->pc2 == k->events->list[other >> 5].pc;
}

/* ---- observation order
 * --------------------------------------------------------------------------------- */

/* PTX, "causality order": a write comes before what is ordered after a strong read that has
 * observed it, although no synchronisation orders the two. So a thread may access a word weakly
 * after it has read it strongly. This concerns that one write, not what its thread did before, so
 * it is no matter of vector clocks. Before two accesses are reported, the log of strong accesses
 * (strong_log.h) is searched for such a read. It observes the write that it read and, through
 * read-modify-writes, those before. A reduction (red) passes observations on to those who read its
 * result, but is no read itself (PTX, "operation types"). */

/* Whether a read by `own` observes the write: it is morally strong with it, or of the same lane. */
static bool observes(const struct access *k, tag own, tag write)
{
    const struct event *r = &k->events->list[own >> 5], *w = &k->events->list[write >> 5];
    const uint32_t scope = r->scope < w->scope ? r->scope : w->scope;
    if (r->width != w->width || (r->flags | w->flags) & ~EVENT_STRONG) return false;
    if (r->cta == w->cta && r->warp == w->warp && own % LANES == write % LANES) return true;
    if (!(r->flags & w->flags & EVENT_STRONG)) return false;
    return r->cta == w->cta || scope >= EMU_SCOPE_GPU ||
           (scope == EMU_SCOPE_CLUSTER && k->r->extent.cluster > 1 &&
            emu_machine_cluster_cta(k->r->machine, r->cta, 0) ==
                emu_machine_cluster_cta(k->r->machine, w->cta, 0));
}

/* Logs a strong access, after its check. An element of several cells is logged with its first one. */
static inline void log_strong(const struct access *k, tag own, uint64_t address)
{
    if (address & (k->width - 1u) || k->a->flags & EMU_ASYNC) return;
    strong_log_add(&k->shadow->strong, address << 1 | k->writes, own, k->writes);
}

/* Before a strong write: logs the cell's weak write, if it is alone, as its thread may continue
 * it. */
static inline void log_weak(const struct access *k, tag writes, uint64_t address)
{
    if (!writes || writes & TAG_SET || k->events->list[writes >> 5].flags & EVENT_STRONG) return;
    log_strong(k, writes, address);
}

/* Whether one of the lanes that the tag names did it before the lane's access. */
static bool any_happened_before(const struct access *k, tag who, uint32_t lane)
{
    const struct event *e = &k->events->list[who >> 5];
    const uint32_t its_lane = who % LANES;
    for (uint32_t m = e->mask ? e->mask << its_lane : 1u << its_lane; m; m &= m - 1)
        if (happens_before(k, e, (uint32_t)__builtin_ctz(m), lane)) return true;
    return false;
}

enum { SEARCH_MOST = 1 << 13 }; /* entries between a write and the end of the log, at its address */

/* Whether a strong read that happened before the lane's access has observed the write. false if the
 * log no longer has the write. */
__attribute__((noinline)) static bool is_observed(const struct access *k, tag write, uint32_t lane,
                                                  uint64_t address)
{
    const struct event *w = &k->events->list[write >> 5];
    const struct strong_log *g = &k->shadow->strong;
    const struct strong_entry *e;
    uint32_t later[SEARCH_MOST], n = 0;
    if (w->kind == EMU_LOAD || w->flags & (EVENT_PENDING | EVENT_MBARRIER) || k->noncoherent_read ||
        k->a->flags & EMU_ASYNC || is_reported(k, write))
        return false;
    address &= ~(uint64_t)(w->width - 1u);
    uint32_t i = strong_log_last(g, address << 1);
    for (; (e = strong_log_entry(g, i)) && n < SEARCH_MOST; i = e->before) {
        if (e->at >> 1 != address) continue;
        if (e->at & 1 && e->who == write) break;
        later[n++] = i;
    }
    while (e && n < SEARCH_MOST && n--) {
        e = strong_log_entry(g, later[n]);
        const struct event *next = &k->events->list[e->who >> 5];
        const bool sees = next->kind != EMU_STORE && observes(k, e->who, write);
        if (sees && next->kind != EMU_RED && any_happened_before(k, e->who, lane)) return true;
        if (!(e->at & 1)) continue;
        if (!sees) return false;
        write = e->who;
    }
    return false;
}

/* ---- reports
 * ------------------------------------------------------------------------------------------ */

static inline void report(struct access *k, tag own, tag other, uint32_t lane, uint64_t address)
{
    struct reported_pair *n = pair_with(k, other);
    k->reported = true;
    if (is_reported(k, other)) n->uncounted++;
    else race_report(k, own, other, lane, address, n);
}
/* ---- cells
 * -------------------------------------------------------------------------------------------- */

/* Whether this access can replace an event that happened before it: what races with that event must
 * race with this access, too. Always for a weak access. A strong one is morally strong with later
 * strong accesses, with which the event may race; so the event must be strong in the same way, or
 * before a barrier of the CTA. */
static bool is_subsumed(const struct access *k, const struct event *e)
{
    if (!k->strong) return true;
    if (e->cta != k->c->index) return false;
    if (e->flags & EVENT_STRONG && e->width == k->width && e->scope >= k->a->scope) return true;
    return k->home && k->r->extent.cluster == 1 && e->epoch < k->c->barrier_epoch &&
           !k->c->has_early_exits;
}

enum { FEW_TAGS = 3 };

/* Where no instruction of the kernel has a narrower scope than the GPU, a strong access replaces
 * those of other CTAs, too, if there are few: then the data that a lock protects has the tags of its
 * last holder alone. */
static bool replaces_few(const struct access *k)
{
    return k->strong && k->has_vc && k->r->lowest_level == LEVELS - 1;
}

/* Whether the access can replace a tag so, and a short search of the vector clocks shows that it
 * happened before. */
static bool is_replaced_lately(struct access *k, tag t, uint32_t lane)
{
    const struct event *e = &k->events->list[t >> 5];
    struct vclock_store *clocks = &k->r->vclocks;
    const enum vclock_effort effort = clocks->effort;
    const bool cut = clocks->cut, alike = e->flags & EVENT_STRONG && e->width == k->width;
    if (!alike && !is_subsumed(k, e)) return false;
    clocks->effort = VCLOCK_NEARBY;
    const bool before = tag_happens_before(k, t, lane);
    clocks->effort = effort;
    clocks->cut = cut;
    return before;
}

/* The set was found full of tags that must stay, since the last barrier of the CTA. */
static bool is_known_full(const struct access *k, const struct tag_set *set)
{
    return set->full_epoch == k->c->barrier_epoch && set->full_cta == k->c->index;
}

/* Whether to search a full set for tags that can be replaced. Where no barrier says when that may
 * have changed, every 16th time. */
static bool should_prune(struct access *k, tag half)
{
    const struct tag_set *set = shadow_set(k->shadow, half);
    if (!set || set->count < HISTORY) return replaces_few(k) && (!set || set->count <= FEW_TAGS);
    if (k->has_vc || (set->full_epoch && set->full_cta != k->c->index))
        return ++k->r->prune_counter % 16 == 0;
    return !is_known_full(k, set);
}

/* Copies the tags that the lane's write does not replace. Reports those that race with it, and
 * drops them. */
static uint32_t filter_tags(struct access *k, tag own, uint32_t lane, const tag *half, bool prune,
                            uint64_t address, tag *left)
{
    const tag *list;
    const uint32_t count = shadow_tags(k->shadow, half, &list);
    const bool few = prune && replaces_few(k) && count <= FEW_TAGS;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct event *e = &k->events->list[list[i] >> 5];
        if (list[i] == own) continue;
        const bool strong = morally_strong(k, e);
        if (strong && few) {
            if (!is_replaced_lately(k, list[i], lane)) left[n++] = list[i];
            continue;
        }
        const bool subsumed = is_subsumed(k, e);
        const bool before = (strong ? prune && subsumed : true) &&
                            tag_happens_before(k, list[i], lane);
        /* Such an order does not go on over further strong reads, so the tag must stay. */
        const bool keep = before ? !subsumed : strong || is_observed(k, list[i], lane, address);
        if (keep) left[n++] = list[i];
        else if (!before) report(k, own, list[i], lane, address);
    }
    return n;
}

enum { SEARCHES_MOST = 1 << 16 }; /* tags of an archive that strong writes look at in all */

/* Reports the archived reads that race with the lane's write; after a strong one all others stay. */
__attribute__((noinline)) static void race_with_archive(struct access *k, tag own, uint32_t lane,
                                                        struct tag_set *set, uint64_t address)
{
    struct archive_block *b = shadow_at(k->shadow, shadow_archive(set));
    const bool tired = k->strong && (b->searched += b->total) > SEARCHES_MOST;
    for (;; b = shadow_at(k->shadow, b->next)) {
        for (uint32_t i = 0; i < b->count; i++) {
            const tag t = b->list[i];
            if (t != own && !morally_strong(k, &k->events->list[t >> 5]) &&
                !tag_happens_before(k, t, lane) && !is_observed(k, t, lane, address))
                report(k, own, t, lane, address);
        }
        if (!b->next) break;
    }
    if (tired) shadow_forget_archive(k->shadow, set);
}

static bool has_tag(const struct tag_set *set, tag t)
{
    const tag *list = set->list;
    uint32_t is = 0, i = 0;
    for (; i + 4 <= set->count; i += 4)
        is |= (list[i] == t) | (list[i + 1] == t) | (list[i + 2] == t) | (list[i + 3] == t);
    for (; i < set->count; i++) is |= list[i] == t;
    return is;
}

static void mark_full(const struct access *k, struct tag_set *set)
{
    set->full_epoch = k->c->barrier_epoch;
    set->full_cta = k->c->index;
}

/* Fast path: all tags of the set are morally strong with the write, and there are no reads. */
static bool add_strong(struct access *k, tag own, struct cell *cell, bool prune)
{
    const struct tag_set *set = shadow_set(k->shadow, cell->write);
    if (!set || !all_strong(k, set) || cell->read) return false;
    if (has_tag(set, own)) return true;
    if (prune) return false;
    shadow_add(k->shadow, &cell->write, own);
    return true;
}

static void remove_tag(struct tag_set *set, tag t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        set->list[n] = set->list[i];
        n += set->list[i] != t;
    }
    set->count = (uint8_t)n;
}

/* Fast path: all tags of the half are morally strong with the write, so all stay. */
static bool keeps_all(struct access *k, tag own, tag *half, bool prune)
{
    struct tag_set *set = shadow_set(k->shadow, *half);
    if (prune || (*half && !(set && all_strong(k, set)))) return false;
    if (!set) return true;
    if (has_tag(set, own)) remove_tag(set, own);
    set->full_epoch = 0; /* it may no longer be full */
    if (!set->count) shadow_keep(k->shadow, half, NULL, 0);
    return true;
}

static inline void race_with_one(struct access *k, tag own, uint32_t lane, tag other,
                                 uint64_t address)
{
    if (other != own && !tag_happens_before(k, other, lane) &&
        !is_observed(k, other, lane, address))
        report(k, own, other, lane, address);
}

__attribute__((noinline)) static void race_with_set(struct access *k, tag own, uint32_t lane,
                                                    struct tag_set *set, uint64_t address)
{
    if (all_known(k, set)) return;
    for (uint32_t i = 0; i < set->count; i++) race_with_one(k, own, lane, set->list[i], address);
    if (shadow_archive(set)) race_with_archive(k, own, lane, set, address);
}

/* Reports the tags that did not happen before the lane's weak access. */
static inline void race_with(struct access *k, tag own, uint32_t lane, tag half, uint64_t address)
{
    if (half & TAG_SET) race_with_set(k, own, lane, shadow_set(k->shadow, half), address);
    else if (half) race_with_one(k, own, lane, half, address);
}

/* A weak write replaces everything. */
static inline void write_weakly(struct access *k, tag own, uint32_t lane, struct cell *cell,
                                uint64_t address)
{
    race_with(k, own, lane, cell->write, address);
    race_with(k, own, lane, cell->read, address);
    shadow_clear(k->shadow, &cell->write);
    shadow_clear(k->shadow, &cell->read);
    cell->write = own;
}

static void write_strongly(struct access *k, tag own, uint32_t lane, struct cell *cell, bool prune,
                           uint64_t address)
{
    tag left[HISTORY + 1], reads[HISTORY];
    k->reported = false;
    bool full;
    if (cell->write & TAG_SET && keeps_all(k, own, &cell->write, prune)) {
        const struct tag_set *set = shadow_set(k->shadow, cell->write);
        full = set && set->count == HISTORY;
        shadow_add(k->shadow, &cell->write, own);
    } else {
        uint32_t n = filter_tags(k, own, lane, &cell->write, prune, address, left);
        full = n == HISTORY;
        if (full) n--;
        left[n++] = own;
        shadow_put(k->shadow, &cell->write, left, n);
    }
    prune = should_prune(k, cell->read);
    if (!keeps_all(k, own, &cell->read, prune)) {
        struct tag_set *set = shadow_set(k->shadow, cell->read);
        if (shadow_archive(set)) race_with_archive(k, own, lane, set, address);
        const uint32_t n = filter_tags(k, own, lane, &cell->read, prune, address, reads);
        shadow_keep(k->shadow, &cell->read, reads, n);
    }
    if (k->reported) { /* one report for these bytes is enough */
        shadow_put(k->shadow, &cell->write, &own, 1);
        shadow_put(k->shadow, &cell->read, NULL, 0);
    } else if (full && !k->has_vc) mark_full(k, shadow_set(k->shadow, cell->write));
}

/* Whether the tag is of an atomic operation that the atomic operation of this access has observed, and that it replaces:
 * what comes after this one comes after the other, too (PTX, "observation order": it goes on over atomic operations), and
 * both are morally strong with the same accesses. So a lock word has one tag, although nothing orders its releases. */
static inline bool continues_atomic(const struct access *k, tag t)
{
    const struct event *e = &k->events->list[t >> 5];
    return k->a->kind == EMU_ATOMIC && !(t & TAG_SET) && e->kind == EMU_ATOMIC &&
           e->flags == EVENT_STRONG && e->width == k->width && !k->r->has_copies &&
           k->r->lowest_level == LEVELS - 1;
}

/* Whether a strong write replaces the tag, which is no set, as the few of a lock's data (replaces_few()). */
static inline bool replaces_one(struct access *k, tag own, tag t, uint32_t lane)
{
    return !t || t == own ||
           (!(t & TAG_SET) && morally_strong(k, &k->events->list[t >> 5]) &&
            is_replaced_lately(k, t, lane));
}

static void write_cell_strongly(struct access *k, tag own, uint32_t lane, struct cell *cell,
                                uint64_t address)
{
    log_weak(k, cell->write, address);
    if (!cell->read && (!cell->write || continues_atomic(k, cell->write))) cell->write = own;
    else if (cell->write == own && !cell->read) {
    } else if (replaces_few(k) && replaces_one(k, own, cell->write, lane) &&
               replaces_one(k, own, cell->read, lane))
        cell->write = own, cell->read = 0;
    else {
        const bool prune = should_prune(k, cell->write);
        if (!add_strong(k, own, cell, prune)) write_strongly(k, own, lane, cell, prune, address);
    }
    log_strong(k, own, address);
}

static void write_cell(struct access *k, tag own, uint32_t lane, struct cell *cell,
                       uint64_t address)
{
    if (k->strong) write_cell_strongly(k, own, lane, cell, address);
    else if (!cell->write && !cell->read) cell->write = own;
    else if (cell->write != own || cell->read) write_weakly(k, own, lane, cell, address);
}

/* Whether the set is full, and its first and last tag must stay (a cheap guess for all). */
static bool is_full(const struct access *k, const struct tag_set *set)
{
    return set->count == HISTORY && !known_to_all(k, set->list[0] >> 5) &&
           !known_to_all(k, set->list[HISTORY - 1] >> 5);
}

/* Copies the reads that a read of this lane does not replace; `quick`: and perhaps others, of which
 * a short search of the vector clocks does not show that they happened before. */
static uint32_t unordered_reads(struct access *k, const struct cell *cell, uint32_t lane,
                                bool quick, tag *left)
{
    const tag *list;
    const uint32_t reads = shadow_tags(k->shadow, &cell->read, &list);
    uint32_t n = 0;
    const bool few = replaces_few(k) && reads <= FEW_TAGS;
    k->r->vclocks.effort = quick ? VCLOCK_SOME : VCLOCK_ALL;
    k->r->vclocks.cut = false;
    for (uint32_t i = 0; i < reads; i++)
        if (few ? !is_replaced_lately(k, list[i], lane)
                : !is_subsumed(k, &k->events->list[list[i] >> 5]) ||
                      !tag_happens_before(k, list[i], lane))
            left[n++] = list[i];
    k->r->vclocks.effort = VCLOCK_ALL;
    return n;
}

/* Adds the read to the cell. */
static void remember_read(struct access *k, tag own, struct cell *cell)
{
    tag left[HISTORY + 1];
    const uint32_t lane = own % LANES;
    struct tag_set *set = shadow_set(k->shadow, cell->read);
    uint32_t n = 0;
    if (!cell->read) cell->read = own;
    if (cell->read == own) return;
    if (!set && replaces_few(k) && is_replaced_lately(k, cell->read, lane)) {
        cell->read = own;
        return;
    }
    if (set && has_tag(set, own)) return;
    if (set && (is_known_full(k, set) || is_full(k, set))) {
        mark_full(k, set);
        shadow_add_read(k->shadow, &cell->read, own);
        return;
    }
    if (set && set->count < HISTORY && !known_to_all(k, set->list[set->count - 1] >> 5)) {
        shadow_add(k->shadow, &cell->read, own);
        return;
    }
    n = unordered_reads(k, cell, lane, true, left);
    if (n == HISTORY && k->r->vclocks.cut) n = unordered_reads(k, cell, lane, false, left);
    if (n == HISTORY) {
        shadow_add_read(k->shadow, &cell->read, own);
        return;
    }
    left[n++] = own;
    shadow_keep(k->shadow, &cell->read, left, n);
}

/* A read by the lanes `mask`; `own` names the first. */
static void read_cell(struct access *k, tag own, uint32_t mask, struct cell *cell, uint64_t address)
{
    const tag *list;
    const struct tag_set *set = shadow_set(k->shadow, cell->write);
    const uint32_t writes = set && all_strong(k, set) ? 0
                                                      : shadow_tags(k->shadow, &cell->write, &list);
    for (uint32_t i = 0; i < writes; i++) {
        const bool known = known_to_all(k, list[i] >> 5) && !(k->a->flags & EMU_BULK) &&
                           !k->noncoherent_read;
        for (uint32_t m = known ? 0 : mask; m; m &= m - 1) {
            const uint32_t l = (uint32_t)__builtin_ctz(m);
            if (morally_strong(k, &k->events->list[list[i] >> 5]) ||
                (!k->noncoherent_read && tag_happens_before(k, list[i], l)) ||
                is_observed(k, list[i], l, address))
                continue;
            report(k, own, list[i], l, address);
            break;
        }
    }
    remember_read(k, own, cell);
    if (k->strong && cell->write) log_strong(k, own, address);
}

static void touch(struct access *k, tag own, uint32_t mask, uint64_t address, uint32_t size)
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
