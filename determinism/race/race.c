/* The race detector: the check of an access against the shadow memory.
 *
 * race_access() gets every access from the emulator. check_access() tries, in this order: deferring
 * the check (deferred.c); a fast path for the shapes that most accesses have; the general path,
 * byte by byte for each lane. All paths have the same result. A path either updates cells with the
 * rules of cells.h, or, where a warp accesses adjacent words, spans of a shadow line (history.h).
 * A strong access acquires before its check and releases after it (sync.c); a weak write removes
 * flags.
 *
 * Invariants. An event is created at most once for an instruction, warp and epoch, and the number
 * of events is limited (race_limits). Addresses are relative to the start of their shadow memory,
 * except where a comment says otherwise. */
#include "determinism/race/cells.h"

#include "emu/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- events
 * ------------------------------------------------------------------------------------------- */

static struct event event_of(const struct access *k, uint32_t epoch, uint32_t mask)
{
    return (struct event){.joins = k->joins < UINT32_MAX ? (uint32_t)k->joins : UINT32_MAX,
                          .cta = k->c->index,
                          .pc = k->a->pc,
                          .epoch = epoch,
                          .mask = mask,
                          .warp = (uint8_t)k->warp,
                          .kind = k->a->kind,
                          .flags = (uint8_t)((k->strong ? EVENT_STRONG : 0) |
                                             (k->a->flags & EMU_BULK ? EVENT_BULK : 0)),
                          .scope = k->a->scope,
                          .width = (uint8_t)k->width};
}

/* Returns its number; 0: the launch exceeds a limit. */
static uint32_t add_event(const struct access *k, const struct event *e)
{
    const uint32_t number = k->r->event_count < k->r->limits.events ? events_add(k->events, e) : 0;
    if (number) k->r->event_count++;
    else race_give_up(k->r);
    return number;
}

/* The event of the access in this epoch, new or from the cache. `mask`: see struct event. 0: as
 * add_event. */
static uint32_t event(struct access *k, uint32_t epoch, uint32_t mask)
{
    const uint8_t space = !k->home ? 0 : k->home == k->c ? 1 : 2;
    struct recent *n = &k->w->recent[(k->a->pc ^ mask >> 7 ^ mask << 3) % RECENT];
    if (n->event && n->pc == k->a->pc && n->cta == k->c->index && n->epoch == epoch &&
        n->mask == mask && n->kind == k->a->kind && n->space == space && space < 2)
        return n->event;
    const struct event e = event_of(k, epoch, mask);
    *n = (struct recent){.pc = k->a->pc,
                         .cta = k->c->index,
                         .epoch = epoch,
                         .mask = mask,
                         .event = add_event(k, &e),
                         .kind = k->a->kind,
                         .space = space};
    return n->event;
}

/* The lane has to wait for the copy (cp.async.wait_group, cp.async.bulk.wait_group). */
static void remember_copy(struct access *k, uint32_t number, uint32_t lane)
{
    struct warp *w = k->w;
    const bool bulk = k->a->flags & EMU_BULK;
    const uint32_t group = w->groups[bulk][lane];
    struct pending_copy *last = w->copies && w->copy_count ? &w->copies[w->copy_count - 1] : NULL;
    if (last && last->event == number && last->events == k->events && last->group == group) {
        last->lanes |= 1u << lane;
        return;
    }
    if (!w->copies || w->copy_count == w->copy_cap) {
        w->copy_cap = w->copy_cap ? 2 * w->copy_cap : 16;
        w->copies = realloc(w->copies, w->copy_cap * sizeof *w->copies);
        if (!w->copies) abort();
    }
    w->copies[w->copy_count++] = (struct pending_copy){.event = number,
                                                       .lanes = 1u << lane,
                                                       .group = group,
                                                       .events = k->events,
                                                       .bulk = bulk,
                                                       .read = k->a->kind == EMU_LOAD};
}

/* An asynchronous access: it is ordered before nothing until its thread or an mbarrier has waited
 * for it. */
static uint32_t async_event(struct access *k, uint32_t lane)
{
    struct warp *w = k->w;
    struct event e = event_of(k, w->epoch[lane], 0);
    if (k->a->mbarrier) {
        uint32_t slot;
        const uint64_t at = k->a->mbarrier - MEM_SHARED;
        struct cta *home = k->c;
        if (at / MEM_SHARED_WINDOW)
            home = race_cta(k->r, emu_machine_cluster_cta(k->r->machine, k->c->index,
                                                          (uint32_t)(at / MEM_SHARED_WINDOW) - 1));
        struct mbarrier *m = race_mbarrier(k->r, home, (uint32_t)(at % MEM_SHARED_WINDOW), &slot);
        e.flags |= EVENT_MBARRIER;
        e.owner = home->index;
        e.part = (uint16_t)slot;
        e.epoch = m->phase + 1;
    } else {
        e.flags |= EVENT_PENDING;
        e.pending = 1u << lane;
    }
    const bool again = w->copy_event && w->copy_events == k->events &&
                       w->copy_serial == k->a->who->serial;
    struct event *last = again ? &k->events->list[w->copy_event] : NULL;
    if (last && last->pc == e.pc && last->kind == e.kind && last->flags == e.flags &&
        last->owner == e.owner && last->part == e.part && last->epoch == e.epoch) {
        last->pending |= e.pending;
    } else {
        w->copy_event = add_event(k, &e);
        w->copy_events = k->events;
        w->copy_serial = k->a->who->serial;
    }
    if (e.flags & EVENT_PENDING && w->copy_event) remember_copy(k, w->copy_event, lane);
    return w->copy_event;
}

/* ---- accesses
 * ----------------------------------------------------------------------------------------- */

/* The lane's address in its shadow memory; *home: the CTA whose shared memory it is in, NULL:
 * global. */
static uint64_t resolve(struct race *r, struct cta *c, const struct emu_access *a, uint64_t at,
                        struct cta **home)
{
    *home = NULL;
    if (a->space == PTX_SPACE_GLOBAL) return at - MEM_GLOBAL;
    if (at >= MEM_SHARED) at -= MEM_SHARED;
    const uint64_t window = at / MEM_SHARED_WINDOW;
    *home = window
                ? race_cta(r, emu_machine_cluster_cta(r->machine, c->index, (uint32_t)window - 1))
                : c;
    return at % MEM_SHARED_WINDOW;
}

static void use_memory(struct access *k, struct cta *home)
{
    k->home = home;
    k->shadow = home ? &home->shared : &k->r->global;
    k->events = home ? &home->events : &k->r->events;
    k->deferred = home ? &home->deferred : &k->r->deferred;
}

/* The lane's address in its shadow memory, which becomes the current one. */
static uint64_t shadow_address(struct access *k, uint32_t lane)
{
    if (k->one_memory) return k->a->address[lane] - k->start;
    struct cta *home;
    const uint64_t at = resolve(k->r, k->c, k->a, k->a->address[lane], &home);
    use_memory(k, home);
    return at;
}

/* Sets one_memory and what depends on it. */
static void resolve_memory(struct access *k)
{
    const struct emu_access *a = k->a;
    const bool shared = a->space != PTX_SPACE_GLOBAL;
    const uint64_t first = a->address[__builtin_ctz(a->lanes)];
    k->one_memory = true;
    k->start = !shared ? MEM_GLOBAL : first >= MEM_SHARED ? MEM_SHARED : 0;
    for (uint32_t m = a->lanes; shared && k->r->extent.cluster > 1 && m; m &= m - 1)
        k->one_memory &= a->address[__builtin_ctz(m)] - k->start < MEM_SHARED_WINDOW;
    if (k->one_memory) use_memory(k, shared ? k->c : NULL);
}

static void check_bytes(struct access *k, uint32_t lane, uint32_t mask, uint64_t address,
                        uint32_t size)
{
    const bool alone = !(mask & (mask - 1));
    const uint32_t number = k->a->flags & EMU_ASYNC
                                ? async_event(k, lane)
                                : event(k, k->w->epoch[lane], alone ? 0 : mask >> lane);
    if (number) touch(k, tag_of(number, lane), mask, address, size);
}

/* The lanes from this one on that read the same bytes in the same epoch. */
static uint32_t lanes_of_same_read(const struct access *k, uint32_t left, uint32_t lane)
{
    uint32_t mask = 1u << lane;
    if (k->a->kind != EMU_LOAD || k->a->flags & EMU_ASYNC) return mask;
    for (left &= left - 1; left; left &= left - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(left);
        if (k->a->address[l] != k->a->address[lane]) break;
        if (k->w->epoch[l] == k->w->epoch[lane]) mask |= 1u << l;
    }
    return mask;
}

/* ---- lines
 * ---------------------------------------------------------------------------------------------- */

/* Whether the span's event happened before the current one, `what`, for each word that both touch.
 * `all`: for all lanes of `what`, if several share it. */
static inline bool span_happens_before(struct access *k, uint32_t span, uint32_t what, bool all)
{
    const uint32_t number = span >> 6;
    if (number == k->known_event) return true;
    if (number != k->own_event) {
        if (known_to_all(k, number)) {
            k->known_event = number;
            return true;
        }
        if (!is_own(k, number)) return false;
    }
    return (span & 63) == (what & 63) && !(all && k->events->list[what >> 6].mask);
}

/* Adds the span, or its words to a span of the same event. false: the line has SPANS_MOST. */
static bool add_span(struct access *k, struct page *p, uint32_t line, struct span own)
{
    struct shadow_line *r = p->lines[line] ? shadow_at(k->shadow, p->lines[line]) : NULL;
    const uint32_t from = r && !k->writes ? r->writes : 0, to = !r          ? 0
                                                                : k->writes ? r->writes
                                                                            : r->count;
    for (uint32_t i = to; i-- > from;)
        if (r->list[i].what == own.what) {
            r->list[i].cells |= own.cells;
            return true;
        }
    r = shadow_line_reserve(k->shadow, p, line);
    if (!r) return false;
    if (k->writes) {
        memmove(&r->list[r->writes + 1], &r->list[r->writes],
                (size_t)(r->count - r->writes) * sizeof own);
        r->list[r->writes++] = own;
        r->count++;
    } else r->list[r->count++] = own;
    return true;
}

/* Removes the words of `own` from spans that it replaces (FastTrack: a write replaces the epochs
 * that happened before it). false: a span that may race with the access did not happen before it;
 * the line is unchanged. */
static bool filter_line(struct access *k, struct shadow_line *r, struct span own)
{
    for (uint32_t i = 0; i < (k->writes ? r->count : r->writes); i++)
        if (r->list[i].cells & own.cells &&
            (k->noncoherent_read || !span_happens_before(k, r->list[i].what, own.what, true)))
            return false;
    uint32_t n = k->writes ? 0 : r->writes, writes = r->writes;
    for (uint32_t i = n; i < r->count; i++) {
        struct span *s = &r->list[i];
        if (s->cells & own.cells && s->what != own.what &&
            (k->writes || span_happens_before(k, s->what, own.what, false)))
            s->cells &= ~own.cells;
        if (s->cells) r->list[n++] = *s;
        else if (i < r->writes) writes--;
    }
    r->writes = (uint16_t)writes;
    r->count = (uint16_t)n;
    return true;
}

/* A warp writes all words of a split line. If all earlier accesses of it happened before, the cells
 * become a line again. */
static bool merge_line(struct access *k, struct page *p, uint32_t line)
{
    if (p->shift != 2) return false;
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        const struct cell *c = shadow_cell_at(k->shadow, p, (line * LINE_WORDS + i) * UINT64_C(4));
        if (!is_known(k, c->write, LANES) || !is_known(k, c->read, LANES)) return false;
    }
    shadow_merge(k->shadow, p, line);
    return true;
}

enum { SINGLES = 1 }; /* a line with that many spans is split by an access to a single word */

/* Checks the words of a span. false: the line is split, and the caller checks the cells. */
static bool touch_line(struct access *k, struct page *p, uint32_t line, struct span own)
{
    if (p->split >> line & 1 && (!k->writes || own.cells != ~0u || !merge_line(k, p, line)))
        return false;
    struct shadow_line *r = p->lines[line] ? shadow_at(k->shadow, p->lines[line]) : NULL;
    const bool single = !(own.cells & (own.cells - 1));
    if (r && ((single && r->count >= SINGLES) || !filter_line(k, r, own))) {
        shadow_split(k->shadow, p, line);
        return false;
    }
    if (add_span(k, p, line, own)) return true;
    shadow_split(k->shadow, p, line);
    return false;
}

/* ---- fast paths
 * -------------------------------------------------------------------------------------- */

/* Whether lanes 16-31 read the same words as lanes 0-15, as from a row of a 16 x 16 tile. */
static bool is_twice(const struct emu_access *a)
{
    uint64_t differ = 0;
    for (uint32_t l = 0; l < 16; l++) differ |= a->address[l] ^ a->address[l + 16];
    return !differ && a->address[0] != a->address[1];
}

/* Mask of lanes whose word follows the word of the lane before, and is not also read by the next
 * lane. */
static uint32_t runs_of(const struct emu_access *a, uint32_t lanes)
{
    uint32_t runs = 0, shared = 0;
    if (a->contiguous) return ~1u;
    for (uint32_t l = 1; l < LANES; l++) {
        const uint64_t step = a->address[l] - a->address[l - 1];
        runs |= (uint32_t)(step == 4) << l;
        shared |= (uint32_t)(step == 0) << (l - 1);
    }
    return runs & lanes & lanes << 1 & ~(shared & lanes >> 1);
}

/* The length of the run that starts at this lane. */
static uint32_t run_at(uint32_t runs, uint32_t lane)
{
    const uint64_t more = ~((uint64_t)runs >> 1 >> lane);
    return 1 + (uint32_t)__builtin_ctzll(more);
}

/* A weak access to a word of a split line. */
static inline void touch_word(struct access *k, tag own, uint32_t mask, struct cell *cell,
                              uint64_t at)
{
    const uint32_t lane = own % LANES;
    if (k->writes) {
        write_weakly(k, own, lane, cell, at);
        return;
    }
    if (k->noncoherent_read && cell->write) {
        read_cell(k, own, mask, cell, at);
        return;
    }
    if (mask &
        (mask -
         1)) { /* several lanes: one lane's own write is another thread's write to the others */
        if (!is_known(k, cell->write, lane) || (cell->write && cell->write >> 5 == k->own_event)) {
            read_cell(k, own, mask, cell, at);
            return;
        }
    } else race_with(k, own, lane, cell->write, at);
    if (is_known(k, cell->read, lane)) {
        shadow_clear(k->shadow, &cell->read);
        cell->read = own;
    } else remember_read(k, own, cell);
}

/* The lanes from this one on that read the same bytes; all lanes are at one epoch. */
static inline uint32_t readers(const struct emu_access *a, uint32_t left, uint32_t lane)
{
    uint32_t mask = 1u << lane;
    if (!~a->common_bits) return left;
    for (left &= left - 1; left && a->address[__builtin_ctz(left)] == a->address[lane];
         left &= left - 1)
        mask |= left & -left;
    return mask;
}

/* Weak accesses of words, while check_words() goes through the lanes. */
struct word_pass {
    uint32_t size;          /* bytes of a lane */
    uint32_t epoch, number; /* of the access, and its event */
    bool halves;            /* lanes 16-31 read what lanes 0-15 read */
    bool clears_flags;      /* a write to lines that may have flags */
    bool spans;             /* words may be checked as spans */
    uint32_t lanes;
    uint32_t runs; /* runs_of(), once runs_known */
    bool runs_known;
    uint32_t by_cells; /* lanes whose words are checked by cells */
    uint64_t page_number;
    struct page *page;
};

/* false: the launch exceeds a limit. */
static bool begin_words(struct access *k, uint32_t size, struct word_pass *p)
{
    const struct emu_access *a = k->a;
    p->size = size;
    p->epoch = k->w->epoch[__builtin_ctz(a->lanes)];
    p->halves = a->lanes == ~0u && !k->writes && is_twice(a);
    p->number = event(k, p->epoch, p->halves ? 0x10001 : 0);
    if (!p->number) return false;
    p->clears_flags = k->writes && k->flagged;
    p->lanes = p->halves ? 0xffff : a->lanes;
    p->spans = size == 4 && !p->clears_flags;
    /* Runs are computed for the first line that is not split; or at once for writes, as adjacent
     * ones may merge cells into a line. */
    const bool merges = k->writes && (a->contiguous || !a->common_bits);
    p->runs = p->spans && merges ? runs_of(a, p->lanes) : 0;
    p->runs_known = !p->spans || merges;
    p->by_cells = p->clears_flags || size > 4 ? ~0u : 0;
    p->page_number = UINT64_MAX;
    p->page = NULL;
    return true;
}

static inline struct page *page_of_word(struct access *k, struct word_pass *p, uint64_t at)
{
    if (at >> PAGE_BITS != p->page_number) {
        p->page = shadow_page(k->shadow, at, false);
        p->page_number = at >> PAGE_BITS;
    }
    return p->page;
}

/* Checks the run of words that starts at this lane as a span, as far as its line reaches. Returns
 * the lanes of these words; 0: the words must be checked by cells. */
static inline uint32_t check_span(struct access *k, struct word_pass *p, tag own, uint32_t lane,
                                  uint64_t at, bool split)
{
    const uint32_t line = (uint32_t)(at % PAGE) / 4 / LINE_WORDS;
    if (!p->runs_known) p->runs = runs_of(k->a, p->lanes);
    p->runs_known = true;
    const bool in_run = (p->runs | p->runs >> 1) & ~p->by_cells & 1u << lane;
    if (p->by_cells >> lane & 1 || (split && (!k->writes || !in_run))) return 0;
    const uint32_t cell = (uint32_t)(at % PAGE) / 4 % LINE_WORDS;
    const uint32_t most = LINE_WORDS - cell, run = run_at(p->runs, lane),
                   count = run < most ? run : most, all = UINT32_MAX >> (LINE_WORDS - count);
    const struct span span = {span_what(own >> 5, lane, cell), all << cell};
    if (touch_line(k, p->page, line, span)) return all << lane;
    p->by_cells |= all << lane;
    return 0;
}

static inline void check_cells(struct access *k, const struct word_pass *p, tag own, uint32_t mask,
                               uint64_t at)
{
    if (p->page->shift == 2 && !p->clears_flags) {
        for (uint32_t o = 0; o < p->size; o += 4)
            touch_word(k, own, mask, shadow_cell(k->shadow, p->page, at + o), at + o);
        return;
    }
    touch(k, own, mask, at, p->size);
    for (uint32_t o = 0; p->clears_flags && o < p->size; o++)
        race_clear_flag(k->r, k->home, (k->home ? at + 1 : at + MEM_GLOBAL) + o);
}

/* Weak accesses of one or more words for each lane. false: the access is something else. */
static bool check_words(struct access *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    struct word_pass p;
    if (k->strong || size & 3 || a->flags & EMU_ASYNC || !k->one_memory ||
        !race_same_epoch(k->w, a->lanes))
        return false;
    if (!begin_words(k, size, &p)) return true;
    for (uint32_t left = p.lanes, next; left; left = next) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t at = a->address[lane] - k->start;
        next = left & (left - 1);
        const struct page *page = page_of_word(k, &p, at);
        if (!page) continue;
        tag own = tag_of(p.number, lane);
        uint32_t mask = (p.halves ? 0x10001u : 1u) << lane;
        if (!p.halves && !k->writes && next &&
            a->address[__builtin_ctz(next)] == a->address[lane]) {
            mask = readers(a, left, lane);
            next = left & ~mask;
            const uint32_t together = event(k, p.epoch, mask >> lane);
            if (!together) return true;
            own = tag_of(together, lane);
        }
        const bool split = page->split >> ((uint32_t)(at % PAGE) / 4 / LINE_WORDS) & 1;
        if (split && p.spans && page->shift == 2 && !((p.runs | p.runs >> 1) >> lane & 1)) {
            touch_word(k, own, mask, shadow_cell_at(k->shadow, page, at), at);
            continue;
        }
        const uint32_t done = check_span(k, &p, own, lane, at, split);
        if (done) next &= ~done;
        else check_cells(k, &p, own, mask, at);
    }
    return true;
}

/* Strong read-modify-writes of words by warps that do not synchronise: counters, sums. */
static bool check_strong_adds(struct access *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    const bool plain = !k->flagged && !k->w->thread_vc && !(a->flags & (EMU_RELEASE | EMU_ASYNC));
    if (!k->strong || !plain || !k->one_memory || a->kind == EMU_LOAD || a->op == ATOMIC_CAS ||
        size != 4 || !race_same_epoch(k->w, a->lanes))
        return false;
    const uint32_t number = event(k, k->w->epoch[__builtin_ctz(a->lanes)], 0);
    for (uint32_t m = number ? a->lanes : 0; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[lane] - k->start;
        struct page *page = shadow_page(k->shadow, at, false);
        if (!page) continue;
        if (page->shift == 2)
            write_cell(k, tag_of(number, lane), lane, shadow_cell(k->shadow, page, at), at);
        else touch(k, tag_of(number, lane), 1u << lane, at, size);
    }
    return true;
}

static void prefetch_tags(const struct shadow *s, tag half)
{
    const struct tag_set *set = shadow_set(s, half);
    if (!set) {
        __builtin_prefetch(&s->events->list[half >> 5]);
        return;
    }
    __builtin_prefetch(set);
    __builtin_prefetch(&set->list[HISTORY]);
}

/* Locks and the data that they protect are scattered in memory: prefetches the shadow of all lanes'
 * addresses. */
static void prefetch_shadow(const struct access *k)
{
    if (!k->one_memory || k->home || !k->strong) return;
    for (int was_read = 0; was_read < 2; was_read++)
        for (uint32_t m = k->a->lanes & (k->a->lanes - 1); m; m &= m - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(m);
            const uint64_t at = k->a->address[lane] - MEM_GLOBAL;
            const struct page *p = at >> PAGE_BITS < k->shadow->count
                                       ? k->shadow->pages[at >> PAGE_BITS]
                                       : NULL;
            const struct cell *cell = p && p->cells && p->launch == k->shadow->launch
                                          ? shadow_cell_at(k->shadow, p, at)
                                          : NULL;
            if (!was_read) {
                if (cell) __builtin_prefetch(cell);
                for (size_t i = 0; k->w->thread_vc && i < sizeof *k->w->thread_vc; i += 64)
                    __builtin_prefetch((const char *)&k->w->thread_vc[lane] + i);
            } else if (cell) {
                prefetch_tags(k->shadow, cell->write);
                prefetch_tags(k->shadow, cell->read);
            }
        }
}

/* A weak access of a whole warp to exactly one line that is not split and has no deferred accesses.
 * false: it is none, or the line had to be split. */
static bool check_line(struct access *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    const uint64_t at = a->address[0] - k->start;
    if (!a->contiguous || size != 4 || a->rows & (a->rows - 1) || !a->rows || k->strong ||
        a->kind > EMU_STORE || a->flags & EMU_ASYNC || !race_same_epoch(k->w, ~0u))
        return false;
    struct page *p = shadow_page(k->shadow, at, false);
    const uint32_t line = (uint32_t)__builtin_ctz(a->rows);
    if (!p || p->split & a->rows || (k->home ? k->home->flags.count : p->flagged & a->rows))
        return false;
    for (int i = 0; i < DEFER_KINDS; i++) {
        if (p->deferred_in == k->deferred->number && p->deferred[i] & a->rows) return false;
        if (k->writes || i != DEFER_READ) p->no_defer[i] |= a->rows;
    }
    const uint32_t number = event(k, k->w->epoch[0], 0);
    return !number || touch_line(k, p, line, (struct span){span_what(number, 0, 0), ~0u});
}

/* Whether the strong access may acquire or release. cp.reduce.async is part of no release
 * pattern. */
static bool may_synchronise(const struct access *k)
{
    const bool reduces = k->a->flags & EMU_ASYNC && k->a->kind == EMU_RED;
    return k->strong && !reduces && (k->flagged || k->w->thread_vc || k->a->flags & EMU_RELEASE);
}

/* `at`: the address of the first lane's bytes in its shadow memory. */
static uint64_t flag_address(const struct access *k, uint64_t at)
{
    return k->home ? at + 1 : at + MEM_GLOBAL;
}

static void acquire_lanes(struct access *k, uint32_t mask, uint64_t at)
{
    const struct emu_access *a = k->a;
    for (uint32_t e = 0; e < a->count; e++) {
        const uint64_t one = flag_address(k, at) + e * a->width;
        const struct flag *f = race_flag_at(k->r, k->home, one);
        for (uint32_t m = mask; m; m &= m - 1)
            race_sync_read(k->r, k->c, k->w, (uint32_t)__builtin_ctz(m), a, f, k->home, one);
    }
    race_load_epochs(k); /* the lanes may have acquired something */
}

static void release_lanes(struct access *k, uint32_t mask, uint64_t at)
{
    const struct emu_access *a = k->a;
    for (uint32_t m = mask; m; m &= m - 1)
        for (uint32_t e = 0; e < a->count; e++) {
            const uint64_t one = flag_address(k, at) + e * a->width;
            race_sync_write(k->r, k->c, k->w, (uint32_t)__builtin_ctz(m), a,
                            race_flag_at(k->r, k->home, one), k->home, one);
        }
}

static void clear_flags(const struct access *k, uint64_t at)
{
    for (uint32_t o = 0; o < (uint32_t)k->a->width * k->a->count; o++)
        race_clear_flag(k->r, k->home, flag_address(k, at) + o);
}

void race_check_lanes(struct access *k, uint32_t size, bool synchronises)
{
    const struct emu_access *a = k->a;
    if (check_words(k, size) || check_strong_adds(k, size)) return;
    prefetch_shadow(k);
    const uint32_t writing = a->kind == EMU_LOAD ? 0 : ~race_failing(a);
    for (uint32_t left = a->lanes, mask; left; left &= ~mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        mask = lanes_of_same_read(k, left, lane);
        k->writes = writing >> lane & 1;
        const uint64_t at = shadow_address(k, lane);
        const bool orders = synchronises && may_synchronise(k);
        if (orders) acquire_lanes(k, mask, at);
        check_bytes(k, lane, mask, at, size);
        if (orders && k->writes) release_lanes(k, mask, at);
        if (synchronises && !k->strong && k->writes && k->flagged) clear_flags(k, at);
    }
}

/* ---- synchronising words
 * ----------------------------------------------------------------------- */

/* Finds the pages of the lanes' words and prefetches their shadow. false: a page has byte cells, an
 * address is not aligned, or a deferred access must be replayed first. */
static bool find_sync_words(struct access *k, struct page **pages)
{
    const struct emu_access *a = k->a;
    uint64_t number = 0;
    struct page *p = NULL;
    k->flagged = false;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[lane] - k->start;
        const uint32_t word = (uint32_t)(at % PAGE) / 4, line = 1u << word / LINE_WORDS;
        if (!p || at >> PAGE_BITS != number) {
            p = shadow_page(k->shadow, at, false);
            if (!p || p->shift != 2) return false;
            number = at >> PAGE_BITS;
        }
        if (at & 3 ||
            (p->deferred_in == k->deferred->number &&
             (p->deferred[DEFER_READ] | p->deferred[DEFER_RMW32] | p->deferred[DEFER_RMW64]) &
                 line))
            return false;
        pages[lane] = p;
        k->flagged |= p->flagged & line;
        if (p->flagged & line || p->cells) __builtin_prefetch(shadow_cell_at(k->shadow, p, at));
    }
    return true;
}

/* From now on accesses to these lines are not deferred. Prefetches the events of words that have no flag or, unless `knows`, whose flag
 * does not know them. */
static void stop_deferring_words(const struct access *k, struct page *const *pages, bool knows)
{
    for (uint32_t m = k->a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = k->a->address[lane] - k->start;
        const uint32_t word = (uint32_t)(at % PAGE) / 4, line = 1u << word / LINE_WORDS;
        struct page *p = pages[lane];
        if (k->writes) p->no_defer[DEFER_READ] |= line;
        p->no_defer[DEFER_RMW32] |= line;
        p->no_defer[DEFER_RMW64] |= line;
        p->settled |= p->flagged & p->split & p->no_defer[DEFER_READ] & line;
        if (p->split & line &&
            !(knows && p->flagged & line && shadow_word(k->shadow, p, at)->flag.byte)) {
            const struct cell *cell = shadow_cell_at(k->shadow, p, at);
            prefetch_tags(k->shadow, cell->write);
            prefetch_tags(k->shadow, cell->read);
        }
    }
}

/* Prefetches the clocks that were released at the lanes' words. */
static void prefetch_clocks(const struct access *k, struct page *const *pages)
{
    for (uint32_t m = k->flagged ? k->a->lanes : 0; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const struct flag *f = race_flag_in(k->r, pages[lane], k->a->address[lane]);
        if (f && f->released) __builtin_prefetch(f->released);
    }
}

/* Whether the tag is of a strong access of a word by the lane itself. */
static bool is_own_strong(struct access *k, tag t, uint32_t lane)
{
    if (t % LANES != lane || t & TAG_SET || (t >> 5 != k->own_event && !is_own(k, t >> 5)))
        return false;
    const struct event *e = &k->events->list[t >> 5];
    return e->flags == EVENT_STRONG && e->width == k->width;
}

/* Whether a fence of the thread has acquired the clock, and what its owner did up to `later` epochs afterwards: at a glance, true only
 * where vclock_follows() of the thread's clock is. */
static inline bool has_acquired(const struct thread_vc *m, const struct vclock *released,
                                uint32_t later)
{
    for (uint32_t i = 0; i < LATEST_CHAINS && m->acquired >> i; i++)
        if ((m->acquired >> i & 1) && vclock_is_later(m->latest[i], released, later)) return true;
    return false;
}

/* What one lane's read acquires and its check come to, for a word whose last write the flag there knows: without a look at events and
 * clocks, where the thread has acquired from the thread that wrote it, as it holds the lock of the word, or where an atomic operation
 * follows another one, as at the lock itself. false: neither is so, and nothing is done. */
__attribute__((always_inline)) static inline bool check_known_word(struct access *k, tag own,
                                                                   uint32_t lane, struct cell *cell,
                                                                   const struct flag *f,
                                                                   uint64_t at)
{
    if (!f->last_write || f->last_write != cell->write) return false;
    const bool continues = f->was_atomic && k->a->kind == EMU_ATOMIC && k->writes;
    const struct thread_vc *m = &k->w->thread_vc[lane];
    const uint32_t later = continues ? 0 : f->later;
    const bool follows = has_acquired(m, f->released, later) ||
                         vclock_follows(m->vc, f->released, later);
    if (!follows) {
        if (!continues || cell->read) return false;
        race_sync_read(k->r, k->c, k->w, lane, k->a, f, NULL, at + MEM_GLOBAL);
    }
    if (cell->read && (continues || !k->writes || !is_own_strong(k, cell->read, lane)))
        return false;
    cell->read = k->writes ? 0 : own;
    if (k->writes) {
        cell->write = own;
        log_strong(k, own, at);
    } /* A read that follows the write adds nothing to the order, so nobody has to find it in the log. */
    return true;
}

/* Whether the flags of these words may know their last writes (struct flag). */
static bool knows_last_writes(const struct access *k)
{
    const struct race *r = k->r;
    return r->lowest_level == LEVELS - 1 && !r->has_copies && !r->before_buffered.count &&
           !k->a->buffered && !(k->a->flags & (EMU_ACQUIRE | EMU_RELEASE)) &&
           !k->c->own_releases.count;
}

/* The check of one word that may acquire or release something, and that check_known_word() leaves. `own` names the first lane, `mask` all
 * lanes that read it. `f`: its flag, or NULL; `known`: the flag is to know the last write. */
static void check_sync_word(struct access *k, tag own, uint32_t mask, struct cell *cell,
                            struct flag *f, bool known)
{
    const struct emu_access *a = k->a;
    const uint32_t lane = own % LANES;
    const uint64_t at = a->address[lane] - k->start;
    for (uint32_t m = mask; m; m &= m - 1)
        race_sync_read(k->r, k->c, k->w, (uint32_t)__builtin_ctz(m), a, f, NULL, at + MEM_GLOBAL);
    k->has_vc |= k->w->thread_vc != NULL; /* the lane may have acquired something */
    if (k->writes) write_cell(k, own, lane, cell, at);
    else read_cell(k, own, mask, cell, at);
    if (k->writes && known) race_sync_word(k->r, k->c, k->w, lane, a, f, own);
    else if (k->writes) race_sync_write(k->r, k->c, k->w, lane, a, f, NULL, at + MEM_GLOBAL);
}

/* The check of one word. `orders`: it may acquire or release something. */
__attribute__((always_inline)) static inline void check_word(struct access *k, tag own,
                                                             uint32_t mask, struct cell *cell,
                                                             struct flag *f, bool orders,
                                                             bool known)
{
    const uint32_t lane = own % LANES;
    if (!orders && k->writes) write_cell(k, own, lane, cell, k->a->address[lane] - k->start);
    else if (!orders) read_cell(k, own, mask, cell, k->a->address[lane] - k->start);
    else if (!known || !check_known_word(k, own, lane, cell, f, k->a->address[lane] - k->start))
        check_sync_word(k, own, mask, cell, f, known);
    else if (k->writes) race_sync_word(k->r, k->c, k->w, lane, k->a, f, own);
}

/* Finds the words of the lanes, in settled lines, and prefetches them. false: some are not. */
static bool find_settled_words(const struct access *k, struct word **words)
{
    const struct shadow *s = k->shadow;
    uint64_t number = UINT64_MAX;
    const struct page *p = NULL;
    for (uint32_t m = k->a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = k->a->address[lane] - k->start;
        const uint32_t line = (uint32_t)(at % PAGE) / 4 / LINE_WORDS;
        if (!p || at >> PAGE_BITS != number) {
            number = at >> PAGE_BITS;
            p = number < s->count ? s->pages[number] : NULL;
            if (!p || p->launch != s->launch) return false;
        }
        if (at & 3 || !(p->settled >> line & 1)) return false;
        words[lane] = shadow_word(s, p, at);
        __builtin_prefetch(words[lane], 1);
    }
    return true;
}

/* check_sync_words() of words in settled lines by threads with clocks: most accesses under locks. false: not all are so. */
static bool check_settled_words(struct access *k)
{
    const struct emu_access *a = k->a;
    struct word *words[LANES];
    if (!k->w->thread_vc || !knows_last_writes(k) || !find_settled_words(k, words)) return false;
    const uint32_t writing = a->kind == EMU_LOAD ? 0 : ~race_failing(a);
    for (uint32_t m = a->kind == EMU_ATOMIC ? a->lanes : 0; m; m &= m - 1)
        __builtin_prefetch(words[__builtin_ctz(m)]->flag.released, 1);
    uint32_t number = 0, last = 0, before = 0; /* the last lane's event, its epoch and mask */
    for (uint32_t left = a->lanes, mask; left; left &= ~mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        struct word *word = words[lane];
        mask = a->kind == EMU_LOAD ? lanes_of_same_read(k, left, lane) : 1u << lane;
        k->writes = writing >> lane & 1;
        const uint32_t epoch = k->w->epoch[lane], together = mask & (mask - 1) ? mask >> lane : 0;
        if (!number || epoch != last || together != before) number = event(k, epoch, together);
        last = epoch, before = together;
        if (!number) return true;
        struct flag *f = word->flag.byte == 1 ? &word->flag
                                              : race_flag_at(k->r, NULL, a->address[lane]);
        check_word(k, tag_of(number, lane), mask, &word->cell, f, true, f && !together);
    }
    return true;
}

/* Strong accesses to words of global memory that synchronise: locks and the data that they
 * protect. */
static bool check_sync_words(struct access *k)
{
    const struct emu_access *a = k->a;
    const bool synchronises = a->flags & (EMU_ACQUIRE | EMU_RELEASE) || k->w->thread_vc || k->c->vc,
               adds = a->kind > EMU_STORE && a->op != ATOMIC_CAS;
    struct page *pages[LANES];
    if (!k->strong || k->home || a->width != 4 || a->count != 1 || a->flags & EMU_ASYNC ||
        (adds && !synchronises))
        return false;
    if (check_settled_words(k)) return true;
    if (!find_sync_words(k, pages)) return false;
    const bool knows = knows_last_writes(k);
    stop_deferring_words(k, pages, knows);
    if (!knows || a->kind == EMU_ATOMIC) prefetch_clocks(k, pages);
    const uint32_t writing = a->kind == EMU_LOAD ? 0 : ~race_failing(a);
    uint32_t number = 0, last = 0, before = 0; /* the last lane's event, its epoch and mask */
    for (uint32_t left = a->lanes, mask; left; left &= ~mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        mask = lanes_of_same_read(k, left, lane);
        k->writes = writing >> lane & 1;
        const bool orders = k->flagged || k->w->thread_vc || a->flags & EMU_RELEASE;
        struct flag *f = orders ? race_flag_in(k->r, pages[lane], a->address[lane]) : NULL;
        const uint32_t epoch = k->w->epoch[lane], together = mask & (mask - 1) ? mask >> lane : 0;
        if (!number || epoch != last || together != before) number = event(k, epoch, together);
        last = epoch, before = together;
        if (!number) return true;
        struct cell *cell = shadow_cell(k->shadow, pages[lane], a->address[lane] - k->start);
        check_word(k, tag_of(number, lane), mask, cell, f, orders,
                   knows && f && !together && k->w->thread_vc);
    }
    return true;
}

/* ---- every access
 * -------------------------------------------------------------------------------------- */

static void check_access(struct race *r, const struct emu_access *a, bool synchronises)
{
    struct cta *c = race_cta(r, a->who->cta);
    const bool added = a->flags & EMU_ASYNC && a->kind == EMU_RED;
    struct access k = {.r = r,
                       .a = a,
                       .c = c,
                       .w = race_warp(c, a->who->warp),
                       .warp = a->who->warp,
                       .width = race_width(a),
                       .joins = r->vclocks.joins,
                       .writes = a->kind != EMU_LOAD,
                       .strong = a->flags & EMU_RELAXED || added,
                       .flagged = true,
                       .noncoherent_read = a->flags & EMU_NONCOHERENT &&
                                           a->space == PTX_SPACE_GLOBAL};
    const uint32_t size = (uint32_t)a->width * a->count;
    race_load_epochs(&k);
    resolve_memory(&k);
    if (k.one_memory &&
        ((synchronises && check_sync_words(&k)) || check_line(&k, size) || race_defer(&k, size)))
        return;
    race_check_lanes(&k, size, synchronises);
}

void race_check(struct race *r, const struct emu_access *a)
{
    check_access(r, a, false);
}

void race_access(void *self, const struct emu_access *a)
{
    struct race *r = self;
    if (r->gave_up || race_defer_read(r, a)) return;
    if (a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER ||
        a->space == PTX_SPACE_GLOBAL)
        check_access(r, a, true);
    if (r->vclocks.bytes > r->limits.clock_bytes) race_shrink_clocks(r);
}
