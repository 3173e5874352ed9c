/* The race detector: deferring checks (deferred_list.h).
 *
 * race_defer() decides for an access; race_defer_read() is its fast path. An access is deferred if
 * no other kind of access has touched its lines, its warp is at one epoch, and it neither
 * synchronises nor belongs to a thread with a vector clock of its own: then its check needs only
 * the two barrier epochs, which the list keeps. An access of another kind to one of the lines
 * replays the whole list. The lines that caused the replay are not deferred again, and instructions
 * whose reads had to be replayed are not either (race.never_defer).
 *
 * Invariant: findings are the same with and without deferring, except for their order. */
#include "determinism/race/access.h"

#include "emu/memory.h"

#include <string.h>

enum { LINE_BYTES = LINE_WORDS * 4, TOUCHED_MOST = 2 * LANES };
struct touched {
    struct page *page;
    uint32_t lines;
};

static void touch_lines(struct shadow *s, struct touched *list, uint32_t *n, uint64_t at,
                        uint32_t bytes)
{
    const uint64_t end = at + bytes - 1;
    for (uint64_t page = at >> PAGE_BITS; page <= end >> PAGE_BITS; page++) {
        const uint32_t first = page == at >> PAGE_BITS ? (uint32_t)(at % PAGE) / LINE_BYTES : 0,
                       last = page == end >> PAGE_BITS ? (uint32_t)(end % PAGE) / LINE_BYTES
                                                       : LINES - 1,
                       lines = ~0u >> (LINES - 1 - last) & ~0u << first;
        struct page *p = shadow_page(s, page << PAGE_BITS, false);
        if (!p) continue;
        if (*n && list[*n - 1].page == p) list[*n - 1].lines |= lines;
        else list[(*n)++] = (struct touched){p, lines};
    }
}

/* The bits in which lanes' addresses differ. */
static uint64_t differences(const struct emu_access *a)
{
    const uint64_t first = a->address[__builtin_ctz(a->lanes)];
    uint64_t differ = 0;
    if (a->common_bits) return ~a->common_bits;
    if (a->lanes == ~0u)
        for (uint32_t l = 0; l < LANES; l++) differ |= a->address[l] ^ first;
    else
        for (uint32_t m = a->lanes; m; m &= m - 1) differ |= a->address[__builtin_ctz(m)] ^ first;
    return differ;
}

/* Mask of lines, of lanes in one page. */
static uint32_t lines_in_page(const struct emu_access *a)
{
    uint32_t lines = 0;
    if (a->lanes == ~0u)
        for (uint32_t l = 0; l < LANES; l++) lines |= 1u << (a->address[l] / LINE_BYTES) % LINES;
    else
        for (uint32_t m = a->lanes; m; m &= m - 1)
            lines |= 1u << (a->address[__builtin_ctz(m)] / LINE_BYTES) % LINES;
    return lines;
}

/* The lines that the access touches. */
static uint32_t touched_lines(const struct access *k, uint32_t size, uint64_t differ,
                              struct touched *list)
{
    const struct emu_access *a = k->a;
    const uint64_t first = a->address[__builtin_ctz(a->lanes)] - k->start;
    const bool aligned = !(size & (size - 1)) && !((differ | first) & (size - 1));
    uint64_t last = UINT64_MAX;
    uint32_t n = 0;
    if (a->rows) {
        *list = (struct touched){shadow_page(k->shadow, first, false), a->rows};
        return list->page != NULL;
    }
    if (a->contiguous || !differ) {
        touch_lines(k->shadow, list, &n, first, a->contiguous ? LANES * size : size);
        return n;
    }
    if (aligned && differ < PAGE) {
        touch_lines(k->shadow, list, &n, first, size);
        if (n && differ >= LINE_BYTES) list->lines = lines_in_page(a);
        return n;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)] - k->start, line = at / LINE_BYTES;
        if (!aligned) {
            touch_lines(k->shadow, list, &n, at, size);
            continue;
        }
        if (line == last) continue;
        struct page *p = n && last / LINES == line / LINES ? list[n - 1].page
                                                           : shadow_page(k->shadow, at, false);
        if (!p) continue;
        if (!n || list[n - 1].page != p) list[n++] = (struct touched){p, 0};
        list[n - 1].lines |= 1u << line % LINES;
        last = line;
    }
    return n;
}

static int kind_of_width(bool strong, uint32_t size)
{
    return !strong ? DEFER_READ : size == 4 ? DEFER_RMW32 : size == 8 ? DEFER_RMW64 : DEFER_KINDS;
}

/* The lines are checked at once from now on, except for deferrable accesses of `kind`. Reads do not
 * disturb reads. */
static void stop_deferring(const struct touched *t, int kind, bool writes)
{
    for (int i = 0; i < DEFER_KINDS; i++)
        if (i != kind && (writes || i != DEFER_READ)) t->page->no_defer[i] |= t->lines;
}

static uint64_t address_in(const struct deferred_access *n, uint32_t lane)
{
    int32_t far;
    switch ((enum deferred_layout)n->layout) {
    case DEFERRED_CONTIGUOUS: return n->first + lane * n->size;
    case DEFERRED_IN_PAGE: return (n->first & ~(uint64_t)(PAGE - 1)) | (n->at[lane] & (PAGE - 1));
    case DEFERRED_FAR: memcpy(&far, &n->at[2 * lane], sizeof far); return n->first + (uint64_t)far;
    case DEFERRED_SAME: break;
    }
    return n->first;
}

/* Checks a deferred access with the epochs that it had. */
static void replay(const struct access *now, const struct deferred_access *n)
{
    struct race *r = now->r;
    struct warp *w = &r->replay_warp;
    struct touched list[TOUCHED_MOST];
    uint64_t at[LANES];
    const bool run = n->layout == DEFERRED_CONTIGUOUS;
    for (uint32_t l = 0; l < LANES; l++) at[l] = address_in(n, l);
    if (r->replay_cta.index != n->cta || r->replay_warp_number != n->warp)
        memset(w->recent, 0, sizeof w->recent);
    r->replay_warp_number = n->warp;
    r->replay_cta.index = n->cta;
    r->replay_cta.barrier_epoch = n->cta_epoch;
    w->barrier_epoch = n->warp_epoch;
    w->same_epoch = true;
    for (uint32_t l = 0; l < LANES; l++) w->epoch[l] = n->epoch;
    const bool strong = n->kind != EMU_LOAD;
    const struct emu_access a = {.kind = n->kind,
                                 .flags = strong ? EMU_RELAXED : 0,
                                 .scope = n->scope,
                                 .width = n->width,
                                 .count = n->size / n->width,
                                 .lanes = n->lanes,
                                 .address = at,
                                 .contiguous = run,
                                 .pc = n->pc};
    struct access k = *now;
    k.a = &a;
    k.c = &r->replay_cta;
    k.w = w;
    k.warp = n->warp;
    race_load_epochs(&k);
    k.home = now->home ? &r->replay_cta : NULL;
    k.start = 0;
    k.joins = n->joins;
    k.width = n->width;
    k.strong = k.writes = strong;
    k.flagged = k.noncoherent_read = false; /* no thread had written there */
    for (uint32_t i = touched_lines(&k, n->size, run ? 0 : differences(&a), list); i--;) {
        if (list[i].page->conflicting & list[i].lines) r->never_defer[n->pc] = true;
        stop_deferring(&list[i], kind_of_width(strong, n->size), strong);
    }
    race_check_lanes(&k, n->size, false);
}

/* The lines with deferred accesses of other kinds. */
static uint32_t deferred_except(const struct access *k, const struct touched *t, int kind)
{
    uint32_t lines = 0;
    if (t->page->deferred_in != k->deferred->number) return 0;
    for (int i = 0; i < DEFER_KINDS; i++) lines |= i == kind ? 0 : t->page->deferred[i];
    return lines & t->lines;
}

/* Replays the list. The instructions with accesses to the lines of `list` are not deferred any
 * more. */
static void replay_all(const struct access *k, const struct touched *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        list[i].page->conflicting |= deferred_except(k, &list[i], DEFER_KINDS);
    for (const struct deferred_access *n = NULL; (n = deferred_next(k->deferred, n));) replay(k, n);
    for (uint32_t i = 0; i < count; i++) list[i].page->conflicting = 0;
    deferred_clear(k->deferred);
}

/* The kind as which the access can be deferred. DEFER_KINDS: it cannot. */
static int deferral_kind(const struct access *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    if (a->flags & (EMU_ASYNC | EMU_ACQUIRE | EMU_RELEASE) || k->w->thread_vc || k->c->vc ||
        k->r->never_defer[a->pc] || !race_same_epoch(k->w, a->lanes) ||
        (k->home && k->r->extent.cluster > 1)) /* other CTAs may write there */
        return DEFER_KINDS;
    if (a->kind == EMU_LOAD) return k->strong ? DEFER_KINDS : DEFER_READ;
    const bool adds = (a->kind == EMU_ATOMIC || a->kind == EMU_RED) && a->op != ATOMIC_CAS;
    if (!adds || !k->strong || k->flagged || k->width != size ||
        (!k->home && a->scope < EMU_SCOPE_GPU))
        return DEFER_KINDS;
    return kind_of_width(true, size);
}

static void copy_offsets(int32_t *restrict to, const uint64_t *restrict at, uint64_t first)
{
    for (uint32_t l = 0; l < LANES; l++) to[l] = (int32_t)((uint32_t)at[l] - (uint32_t)first);
}

static void defer(struct deferred_list *deferred, const struct emu_access *a, const struct cta *c,
                  const struct warp *w, uint64_t joins, uint64_t from, bool same)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(a->lanes);
    const uint64_t first = a->address[lane];
    const enum deferred_layout layout = a->contiguous ? DEFERRED_CONTIGUOUS
                                        : same        ? DEFERRED_SAME
                                        : a->rows     ? DEFERRED_IN_PAGE
                                                      : DEFERRED_FAR;
    struct deferred_access *n = deferred_add(deferred, layout);
    n->joins = joins;
    n->first = first - from;
    n->cta = c->index;
    n->pc = a->pc;
    n->lanes = a->lanes;
    n->epoch = w->epoch[lane];
    n->cta_epoch = c->has_early_exits ? 0 : c->barrier_epoch;
    n->warp_epoch = c->has_early_exits ? 0 : w->barrier_epoch;
    n->warp = (uint8_t)a->who->warp;
    n->size = (uint8_t)(a->width * a->count);
    n->width = (uint8_t)race_width(a);
    n->kind = a->kind;
    n->scope = a->scope;
    if (layout == DEFERRED_IN_PAGE) memcpy(n->at, a->low16, LANES * sizeof *n->at);
    if (layout == DEFERRED_FAR) {
        int32_t far[LANES];
        copy_offsets(far, a->address, first);
        memcpy(n->at, far, sizeof far);
    }
}

enum { FEW_DEFERRED = 1 << 15 }; /* bytes: a list this short may always grow */

static inline bool is_large(const struct race *r, const struct deferred_list *deferred, bool global)
{
    return deferred->size > FEW_DEFERRED &&
           deferred->size > (global ? DEFERRED_MOST : DEFERRED_MOST / r->cta_count);
}

static inline void mark_deferred(const struct touched *t, const struct deferred_list *deferred,
                                 int kind)
{
    struct page *p = t->page;
    if (p->deferred_in != deferred->number) memset(p->deferred, 0, sizeof p->deferred);
    p->deferred_in = deferred->number;
    p->deferred[kind] |= t->lines;
}

bool race_defer(struct access *k, uint32_t size)
{
    struct touched list[TOUCHED_MOST];
    uint32_t no_defer = 0, deferred = 0, flagged = 0;
    const uint64_t differ = k->a->contiguous ? 0 : differences(k->a);
    const uint32_t count = touched_lines(k, size, differ, list);
    for (uint32_t i = 0; i < count; i++) flagged |= list[i].page->flagged & list[i].lines;
    k->flagged = k->home ? k->home->flags.count || (k->strong && k->c->own_releases.count)
                         : flagged;
    const int kind = differ >> 31 ? DEFER_KINDS : deferral_kind(k, size);
    for (uint32_t i = 0; i < count; i++) {
        no_defer |= kind == DEFER_KINDS ? 0 : list[i].page->no_defer[kind] & list[i].lines;
        deferred |= deferred_except(k, &list[i], kind);
    }
    const bool waits = kind != DEFER_KINDS && !no_defer && !deferred;
    for (uint32_t i = 0; no_defer && i < count; i++)
        deferred |= deferred_except(k, &list[i], DEFER_KINDS);
    if (deferred) replay_all(k, list, count);
    else if (waits && is_large(k->r, k->deferred, !k->home)) replay_all(k, NULL, 0);
    for (uint32_t i = 0; i < count; i++)
        if (waits) mark_deferred(&list[i], k->deferred, kind);
        else stop_deferring(&list[i], DEFER_KINDS, k->writes);
    if (waits) defer(k->deferred, k->a, k->c, k->w, k->joins, k->start, !differ);
    return waits;
}

/* The lines of lanes in several pages. 0: a lane's bytes are in two lines, or beyond the shadow
 * memory. */
static uint32_t lines_of_lanes(struct shadow *s, const struct emu_access *a, uint64_t from,
                               struct touched *list)
{
    const uint64_t size = (uint64_t)a->width * a->count,
                   first = a->address[__builtin_ctz(a->lanes)];
    uint64_t last = UINT64_MAX;
    uint32_t n = 0;
    if (!a->common_bits || size & (size - 1) || (first | ~a->common_bits) & (size - 1) ||
        ~a->common_bits >> 31)
        return 0;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)] - from;
        if (at >> PAGE_BITS != last) {
            struct page *p = shadow_page(s, at, false);
            if (!p) return 0;
            last = at >> PAGE_BITS;
            list[n++] = (struct touched){p, 0};
        }
        list[n - 1].lines |= 1u << at / LINE_BYTES % LINES;
    }
    return n;
}

static inline bool may_be_deferred(const struct touched *t, const struct deferred_list *deferred)
{
    const struct page *p = t->page;
    const uint32_t other = p->deferred_in == deferred->number
                               ? p->deferred[DEFER_RMW32] | p->deferred[DEFER_RMW64]
                               : 0;
    return !((p->no_defer[DEFER_READ] | other) & t->lines);
}

bool race_defer_read(struct race *r, const struct emu_access *a)
{
    const uint8_t other = EMU_RELAXED | EMU_ACQUIRE | EMU_RELEASE | EMU_ASYNC;
    const bool global = a->space == PTX_SPACE_GLOBAL,
               shared = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER;
    if (!(global || shared) || a->kind != EMU_LOAD || a->flags & other || r->never_defer[a->pc] ||
        (shared && r->extent.cluster > 1))
        return false;
    struct cta *c = race_cta(r, a->who->cta);
    const struct warp *w = race_warp(c, a->who->warp);
    struct deferred_list *deferred = global ? &r->deferred : &c->deferred;
    if (w->thread_vc || c->vc || !w->same_epoch || is_large(r, deferred, global)) return false;
    struct shadow *s = global ? &r->global : &c->shared;
    const uint64_t first = a->address[__builtin_ctz(a->lanes)],
                   from = global ? MEM_GLOBAL : first & MEM_SHARED;
    struct touched list[LANES];
    uint32_t n = 1;
    if (a->rows) list[0] = (struct touched){shadow_page(s, first - from, false), a->rows};
    else n = lines_of_lanes(s, a, from, list);
    if (!n || !list[0].page) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!may_be_deferred(&list[i], deferred)) return false;
    for (uint32_t i = 0; i < n; i++) mark_deferred(&list[i], deferred, DEFER_READ);
    defer(deferred, a, c, w, r->vclocks.joins, from, !~a->common_bits);
    return true;
}
