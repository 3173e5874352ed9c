/* The race detector: accesses. detector.h says what times and minds are. */
#include "determinism/race/cells.h"

#include "emu/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ------------------------------------------------------------------------------------------- */

static struct event event_of(const struct look *k, uint32_t when, uint32_t mask)
{
    return (struct event){.born = k->born < UINT32_MAX ? (uint32_t)k->born : UINT32_MAX,
                          .cta = k->c->index,
                          .pc = k->a->pc,
                          .clock = when,
                          .mask = mask,
                          .warp = (uint8_t)k->warp,
                          .kind = k->a->kind,
                          .flags = (uint8_t)((k->strong ? EVENT_STRONG : 0) |
                                             (k->a->flags & EMU_BULK ? EVENT_BULK : 0)),
                          .scope = k->a->scope,
                          .width = (uint8_t)k->width};
}

/* 0: there are too many. */
static uint32_t add_event(const struct look *k, const struct event *e)
{
    const uint32_t number = k->r->happened < k->r->limits.events ? events_add(k->events, e) : 0;
    if (number) k->r->happened++;
    else race_give_up(k->r);
    return number;
}

static uint32_t event(struct look *k, uint32_t when, uint32_t mask)
{
    const uint8_t space = !k->home ? 0 : k->home == k->c ? 1 : 2;
    struct recent *n = &k->w->recent[(k->a->pc ^ mask >> 7 ^ mask << 3) % RECENT];
    if (n->event && n->pc == k->a->pc && n->cta == k->c->index && n->when == when &&
        n->mask == mask && n->kind == k->a->kind && n->space == space && space < 2)
        return n->event;
    const struct event e = event_of(k, when, mask);
    *n = (struct recent){.pc = k->a->pc,
                         .cta = k->c->index,
                         .when = when,
                         .mask = mask,
                         .event = add_event(k, &e),
                         .kind = k->a->kind,
                         .space = space};
    return n->event;
}

static void remember_copy(struct look *k, uint32_t number, uint32_t lane)
{
    struct warp *w = k->w;
    const bool bulk = k->a->flags & EMU_BULK;
    const uint32_t group = w->groups[bulk][lane];
    struct copies *last = w->copies && w->copy_count ? &w->copies[w->copy_count - 1] : NULL;
    if (last && last->event == number && last->events == k->events && last->group == group) {
        last->lanes |= 1u << lane;
        return;
    }
    if (!w->copies || w->copy_count == w->copy_cap) {
        w->copy_cap = w->copy_cap ? 2 * w->copy_cap : 16;
        w->copies = realloc(w->copies, w->copy_cap * sizeof *w->copies);
        if (!w->copies) abort();
    }
    w->copies[w->copy_count++] = (struct copies){.event = number,
                                                 .lanes = 1u << lane,
                                                 .group = group,
                                                 .events = k->events,
                                                 .bulk = bulk,
                                                 .read = k->a->kind == EMU_LOAD};
}

/* An asynchronous access: of nobody until it is waited for. */
static uint32_t async_event(struct look *k, uint32_t lane)
{
    struct warp *w = k->w;
    struct event e = event_of(k, w->when[lane], 0);
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
        e.clock = m->phase + 1;
    } else {
        e.flags |= EVENT_PENDING;
        e.pending = 1u << lane;
    }
    const bool again = w->copy_event && w->copy_events == k->events &&
                       w->copy_serial == k->a->who->serial;
    struct event *last = again ? &k->events->list[w->copy_event] : NULL;
    if (last && last->pc == e.pc && last->kind == e.kind && last->flags == e.flags &&
        last->owner == e.owner && last->part == e.part && last->clock == e.clock) {
        last->pending |= e.pending;
    } else {
        w->copy_event = add_event(k, &e);
        w->copy_events = k->events;
        w->copy_serial = k->a->who->serial;
    }
    if (e.flags & EVENT_PENDING && w->copy_event) remember_copy(k, w->copy_event, lane);
    return w->copy_event;
}

/* ---- accesses ----------------------------------------------------------------------------------------- */

/* The lane's address in its shadow, and in `home` whose shared memory it lies in. */
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

static void enter(struct look *k, struct cta *home)
{
    k->home = home;
    k->shadow = home ? &home->shared : &k->r->global;
    k->events = home ? &home->events : &k->r->events;
    k->notes = home ? &home->notes : &k->r->notes;
}

/* Where the lane's bytes are in the memory that they are in. */
static uint64_t place_of(struct look *k, uint32_t lane)
{
    if (k->one) return k->a->address[lane] - k->from;
    struct cta *home;
    const uint64_t at = resolve(k->r, k->c, k->a, k->a->address[lane], &home);
    enter(k, home);
    return at;
}

static void find_memory(struct look *k)
{
    const struct emu_access *a = k->a;
    const bool shared = a->space != PTX_SPACE_GLOBAL;
    const uint64_t first = a->address[__builtin_ctz(a->lanes)];
    k->one = true;
    k->from = !shared ? MEM_GLOBAL : first >= MEM_SHARED ? MEM_SHARED : 0;
    for (uint32_t m = a->lanes; shared && k->r->extent.cluster > 1 && m; m &= m - 1)
        k->one &= a->address[__builtin_ctz(m)] - k->from < MEM_SHARED_WINDOW;
    if (k->one) enter(k, shared ? k->c : NULL);
}

static void look_at(struct look *k, uint32_t lane, uint32_t mask, uint64_t address, uint32_t size)
{
    const bool alone = !(mask & (mask - 1));
    const uint32_t number = k->a->flags & EMU_ASYNC
                                ? async_event(k, lane)
                                : event(k, k->w->when[lane], alone ? 0 : mask >> lane);
    if (number) touch(k, tag_of(number, lane), mask, address, size);
}

/* The lanes from this one on that read the same bytes, and are at the same time. */
static uint32_t fellows(const struct look *k, uint32_t left, uint32_t lane)
{
    uint32_t mask = 1u << lane;
    if (k->a->kind != EMU_LOAD || k->a->flags & EMU_ASYNC) return mask;
    for (left &= left - 1; left; left &= left - 1) {
        const uint32_t l = (uint32_t)__builtin_ctz(left);
        if (k->a->address[l] != k->a->address[lane]) break;
        if (k->w->when[l] == k->w->when[lane]) mask |= 1u << l;
    }
    return mask;
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

/* Whether what the span tells of happened before the same cells are touched by `what`: by all its lanes, or
 * one. */
static inline bool is_before(struct look *k, uint32_t span, uint32_t what, bool all)
{
    const uint32_t number = span >> 6;
    if (number == k->known) return true;
    if (number != k->own) {
        if (known_to_all(k, number)) {
            k->known = number;
            return true;
        }
        if (!is_own(k, number)) return false;
    }
    return (span & 63) == (what & 63) && !(all && k->events->list[what >> 6].mask);
}

/* Adds the span, or the cells to one that is there. false: there are too many. */
static bool add_span(struct look *k, struct page *p, uint32_t row, struct span own)
{
    struct row *r = p->rows[row] ? shadow_at(k->shadow, p->rows[row]) : NULL;
    const uint32_t from = r && !k->writes ? r->writes : 0, to = !r          ? 0
                                                                : k->writes ? r->writes
                                                                            : r->count;
    for (uint32_t i = to; i-- > from;)
        if (r->list[i].what == own.what) {
            r->list[i].cells |= own.cells;
            return true;
        }
    r = shadow_row(k->shadow, p, row);
    if (!r) return false;
    if (k->writes) {
        memmove(&r->list[r->writes + 1], &r->list[r->writes],
                (size_t)(r->count - r->writes) * sizeof own);
        r->list[r->writes++] = own;
        r->count++;
    } else r->list[r->count++] = own;
    return true;
}

/* What the access leaves of the row's spans. false: it is not after all of them, or there were too many readers. */
static bool sift_row(struct look *k, struct row *r, struct span own)
{
    for (uint32_t i = 0; i < (k->writes ? r->count : r->writes); i++)
        if (r->list[i].cells & own.cells &&
            (k->aside || !is_before(k, r->list[i].what, own.what, true)))
            return false;
    uint32_t n = k->writes ? 0 : r->writes, writes = r->writes;
    for (uint32_t i = n; i < r->count; i++) {
        struct span *s = &r->list[i];
        if (s->cells & own.cells && s->what != own.what &&
            (k->writes || is_before(k, s->what, own.what, false)))
            s->cells &= ~own.cells;
        if (s->cells) r->list[n++] = *s;
        else if (i < r->writes) writes--;
    }
    r->writes = (uint16_t)writes;
    r->count = (uint16_t)n;
    return true;
}

/* As many reads of each of these cells are remembered as there may be. */
static bool is_crowded(const struct row *r, uint32_t cells)
{
    uint32_t n = 0;
    for (uint32_t i = r->writes; i < r->count; i++) n += (cells & ~r->list[i].cells) == 0;
    return n >= HISTORY;
}

/* All cells of a row were touched by what is known, and are written: it is as good as new. */
static bool mend(struct look *k, struct page *p, uint32_t row)
{
    if (p->shift != 2) return false;
    for (uint32_t i = 0; i < ROW_WORDS; i++) {
        const struct cell *c = &p->cells[row * ROW_WORDS + i];
        if (!is_known(k, c->write, LANES) || !is_known(k, c->read, LANES)) return false;
    }
    shadow_mend(k->shadow, p, row);
    return true;
}

enum { SINGLES = 1 }; /* spans of a row that has more are not for single words */

/* The lanes' words as a span. false: the row has come apart. */
static bool touch_row(struct look *k, struct page *p, uint32_t row, struct span own)
{
    if (p->apart >> row & 1 && (!k->writes || own.cells != ~0u || !mend(k, p, row))) return false;
    struct row *r = p->rows[row] ? shadow_at(k->shadow, p->rows[row]) : NULL;
    const bool single = !(own.cells & (own.cells - 1));
    if (r && ((single && r->count >= SINGLES) || !sift_row(k, r, own))) {
        shadow_split(k->shadow, p, row);
        return false;
    }
    if (r && !k->writes && r->count >= HISTORY && is_crowded(r, own.cells)) return true;
    if (add_span(k, p, row, own)) return true;
    shadow_split(k->shadow, p, row);
    return false;
}

/* ---- whole warps -------------------------------------------------------------------------------------- */

/* Whether lanes 16-31 read the words that lanes 0-15 do, as of a tile's row. */
static bool is_twice(const struct emu_access *a)
{
    uint64_t differ = 0;
    for (uint32_t l = 0; l < 16; l++) differ |= a->address[l] ^ a->address[l + 16];
    return !differ && a->address[0] != a->address[1];
}

/* Lanes whose words lie behind the words of the lanes before them, and are not read by the next lane, too. */
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

/* How many lanes from this one on are in one run. */
static uint32_t run_at(uint32_t runs, uint32_t lane)
{
    const uint64_t more = ~((uint64_t)runs >> 1 >> lane);
    return 1 + (uint32_t)__builtin_ctzll(more);
}

/* A word of a row that has come apart, of a weak access. */
static inline void touch_word(struct look *k, tag own, uint32_t mask, struct cell *cell,
                              uint64_t at)
{
    const uint32_t lane = own % LANES;
    if (k->writes) {
        write_weakly(k, own, lane, cell, at);
        return;
    }
    if (k->aside && cell->write) {
        read_cell(k, own, mask, cell, at);
        return;
    }
    if (mask & (mask - 1)) { /* a lane's own write is another's to the rest */
        if (!is_known(k, cell->write, lane) || (cell->write && cell->write >> 5 == k->own)) {
            read_cell(k, own, mask, cell, at);
            return;
        }
    } else race_with(k, own, lane, cell->write, at);
    if (is_known(k, cell->read, lane)) {
        shadow_clear(k->shadow, &cell->read);
        cell->read = own;
    } else remember_read(k, own, cell);
}

/* The lanes from this one on that are all at one time and read the same bytes. */
static inline uint32_t readers(const struct emu_access *a, uint32_t left, uint32_t lane)
{
    uint32_t mask = 1u << lane;
    if (!~a->common_bits) return left;
    for (left &= left - 1; left && a->address[__builtin_ctz(left)] == a->address[lane];
         left &= left - 1)
        mask |= left & -left;
    return mask;
}

/* Words of weak accesses, one or more for each lane; what is not plain goes the long way. */
static bool whole_warp(struct look *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    const bool shared = k->home;
    const uint32_t when = k->w->when[__builtin_ctz(a->lanes)];
    if (k->strong || size & 3 || a->flags & EMU_ASYNC || !k->one ||
        !race_is_one_time(k->w, a->lanes))
        return false;
    const bool twice = a->lanes == ~0u && !k->writes && is_twice(a);
    const uint32_t number = event(k, when, twice ? 0x10001 : 0);
    if (!number) return true;
    const bool flags = k->writes && k->flagged;
    const uint32_t lanes = twice ? 0xffff : a->lanes;
    /* Whether lanes lie in rows at all is looked at for the first row that has not come apart; or for all, as those
     * that are written side by side may become as good as new. */
    const bool words = size == 4 && !flags, mends = k->writes && (a->contiguous || !a->common_bits);
    uint32_t runs = words && mends ? runs_of(a, lanes) : 0;
    bool looked = !words || mends;
    uint32_t singly = flags || size > 4 ? ~0u : 0; /* lanes whose rows have come apart */
    uint64_t page_at = UINT64_MAX;
    struct page *page = NULL;
    for (uint32_t left = lanes, next; left; left = next) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t at = a->address[lane] - k->from;
        next = left & (left - 1);
        if (at >> PAGE_BITS != page_at) {
            page = shadow_page(k->shadow, at, false);
            page_at = at >> PAGE_BITS;
        }
        if (!page) continue;
        tag own = tag_of(number, lane);
        uint32_t mask = (twice ? 0x10001u : 1u) << lane;
        if (!twice && !k->writes && next && a->address[__builtin_ctz(next)] == a->address[lane]) {
            mask = readers(a, left, lane);
            next = left & ~mask;
            const uint32_t together = event(k, when, mask >> lane);
            if (!together) return true;
            own = tag_of(together, lane);
        }
        const uint32_t row = (uint32_t)(at % PAGE) / 4 / ROW_WORDS;
        const bool apart = page->apart >> row & 1;
        if (apart && words && page->shift == 2 && !((runs | runs >> 1) >> lane & 1)) {
            touch_word(k, own, mask, &page->cells[at % PAGE / 4], at);
            continue;
        }
        if (!looked) runs = runs_of(a, lanes);
        looked = true;
        const bool in_run = (runs | runs >> 1) & ~singly & 1u << lane;
        if (!(singly >> lane & 1) && !(apart && (!k->writes || !in_run))) {
            const uint32_t cell = (uint32_t)(at % PAGE) / 4 % ROW_WORDS;
            const uint32_t most = ROW_WORDS - cell, run = run_at(runs, lane),
                           count = run < most ? run : most, all = UINT32_MAX >> (ROW_WORDS - count);
            if (touch_row(k, page, row,
                          (struct span){span_what(own >> 5, lane, cell), all << cell})) {
                if (count > 1) next &= ~(all << lane);
                continue;
            }
            singly |= all << lane;
        }
        if (page->shift != 2 || flags) {
            touch(k, own, mask, at, size);
            for (uint32_t o = 0; flags && o < size; o++)
                race_unflag(k->r, k->home, (shared ? at + 1 : at + MEM_GLOBAL) + o);
            continue;
        }
        for (uint32_t o = 0; o < size; o += 4)
            touch_word(k, own, mask, shadow_cell(k->shadow, page, at + o), at + o);
    }
    return true;
}

/* Strong writes of words that neither release nor acquire anything: atomics that count or add up. */
static bool strong_words(struct look *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    const bool plain = !k->flagged && !k->w->mind && !(a->flags & (EMU_RELEASE | EMU_ASYNC));
    if (!k->strong || !plain || !k->one || a->kind == EMU_LOAD || a->op == ATOMIC_CAS ||
        size != 4 || !race_is_one_time(k->w, a->lanes))
        return false;
    const uint32_t number = event(k, k->w->when[__builtin_ctz(a->lanes)], 0);
    for (uint32_t m = number ? a->lanes : 0; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[lane] - k->from;
        struct page *page = shadow_page(k->shadow, at, false);
        if (!page) continue;
        if (page->shift == 2)
            write_cell(k, tag_of(number, lane), lane, shadow_cell(k->shadow, page, at), at);
        else touch(k, tag_of(number, lane), 1u << lane, at, size);
    }
    return true;
}

static void set_ahead(const struct shadow *s, tag half)
{
    const struct set *set = shadow_set(s, half);
    if (set) __builtin_prefetch(set);
}

/* Locks and what they protect lie far apart: the host reads what is known of all lanes' places at once. */
static void look_ahead(const struct look *k)
{
    if (!k->one || k->home || !k->strong) return;
    for (int was_read = 0; was_read < 2; was_read++)
        for (uint32_t m = k->a->lanes & (k->a->lanes - 1); m; m &= m - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(m);
            const uint64_t at = k->a->address[lane] - MEM_GLOBAL;
            const struct page *p = at >> PAGE_BITS < k->shadow->count
                                       ? k->shadow->pages[at >> PAGE_BITS]
                                       : NULL;
            const struct cell *cell = p && p->cells ? &p->cells[at % PAGE >> p->shift] : NULL;
            if (p && p->launch == k->shadow->launch) race_flag_ahead(k->r, p, at, was_read);
            if (!was_read) {
                if (cell) __builtin_prefetch(cell);
                for (size_t i = 0; k->w->mind && i < sizeof *k->w->mind; i += 64)
                    __builtin_prefetch((const char *)&k->w->mind[lane] + i);
            } else if (cell && p->launch == k->shadow->launch) {
                set_ahead(k->shadow, cell->write);
                set_ahead(k->shadow, cell->read);
            }
        }
}

/* Words side by side that are all of one row, which has not come apart, and of which nothing was put off. false: it is
 * not that, or the row has come apart. */
static bool whole_row(struct look *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    const uint64_t at = a->address[0] - k->from;
    if (!a->contiguous || size != 4 || a->rows & (a->rows - 1) || !a->rows || k->strong ||
        a->kind > EMU_STORE || a->flags & EMU_ASYNC || !race_is_one_time(k->w, ~0u))
        return false;
    struct page *p = shadow_page(k->shadow, at, false);
    const uint32_t row = (uint32_t)__builtin_ctz(a->rows);
    if (!p || p->apart & a->rows || (k->home ? k->home->flags.count : p->flagged & a->rows))
        return false;
    for (int i = 0; i < NOTE_KINDS; i++) {
        if (p->noted_in == k->notes->number && p->noted[i] & a->rows) return false;
        if (k->writes || i != NOTE_READ) p->closed[i] |= a->rows;
    }
    const uint32_t number = event(k, k->w->when[0], 0);
    return !number || touch_row(k, p, row, (struct span){span_what(number, 0, 0), ~0u});
}

void race_look_through(struct look *k, uint32_t size, look_followed *then)
{
    const struct emu_access *a = k->a;
    if (whole_warp(k, size) || strong_words(k, size)) return;
    look_ahead(k);
    const uint32_t writing = a->kind == EMU_LOAD ? 0 : ~race_failing(a);
    for (uint32_t left = a->lanes, mask; left; left &= ~mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        mask = fellows(k, left, lane);
        k->writes = writing >> lane & 1;
        const uint64_t at = place_of(k, lane);
        look_at(k, lane, mask, at, size);
        if (!then) continue;
        then(k, mask, at);
        race_look_up(k); /* the lane may have learned something */
    }
}

/* ---- words that release and acquire ----------------------------------------------------------------------- */

/* The pages of the lanes' words, which the host begins to read; locks and what they protect lie far apart. false: they
 * are no words, or something was put off that has to be looked at before. */
static bool find_words(struct look *k, struct page **pages)
{
    const struct emu_access *a = k->a;
    uint64_t number = 0;
    struct page *p = NULL;
    k->flagged = false;
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = a->address[lane] - k->from;
        const uint32_t word = (uint32_t)(at % PAGE) / 4, row = 1u << word / ROW_WORDS;
        if (!p || at >> PAGE_BITS != number) {
            p = shadow_page(k->shadow, at, false);
            if (!p || p->shift != 2) return false;
            number = at >> PAGE_BITS;
        }
        if (at & 3 || (p->noted_in == k->notes->number &&
                       (p->noted[NOTE_READ] | p->noted[NOTE_WORDS] | p->noted[NOTE_DOUBLES]) & row))
            return false;
        pages[lane] = p;
        k->flagged |= p->flagged & row;
        if (p->cells) __builtin_prefetch(&p->cells[word]);
        race_flag_ahead(k->r, p, at, false);
        for (size_t i = 0; k->w->mind && i < sizeof *k->w->mind; i += 64)
            __builtin_prefetch((const char *)&k->w->mind[lane] + i);
    }
    return true;
}

/* Nothing more of their rows is put off. */
static void close_words(const struct look *k, struct page *const *pages)
{
    for (uint32_t m = k->a->lanes; m; m &= m - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(m);
        const uint64_t at = k->a->address[lane] - k->from;
        const uint32_t word = (uint32_t)(at % PAGE) / 4, row = 1u << word / ROW_WORDS;
        struct page *p = pages[lane];
        if (k->writes) p->closed[NOTE_READ] |= row;
        p->closed[NOTE_WORDS] |= row;
        p->closed[NOTE_DOUBLES] |= row;
        if (p->apart & row) {
            set_ahead(k->shadow, p->cells[word].write);
            set_ahead(k->shadow, p->cells[word].read);
        }
        race_flag_ahead(k->r, p, at, true);
    }
}

/* Strong accesses of words of global memory that cannot wait, as of locks and what they protect. */
static bool lock_words(struct look *k)
{
    const struct emu_access *a = k->a;
    const bool orders = a->flags & (EMU_ACQUIRE | EMU_RELEASE) || k->w->mind || k->c->know,
               adds = a->kind > EMU_STORE && a->op != ATOMIC_CAS;
    struct page *pages[LANES];
    if (!k->strong || k->home || a->width != 4 || a->count != 1 || a->flags & EMU_ASYNC ||
        (adds && !orders) || !find_words(k, pages))
        return false;
    close_words(k, pages);
    const uint32_t writing = a->kind == EMU_LOAD ? 0 : ~race_failing(a);
    uint32_t number = 0, last = 0,
             before = 0; /* the event of the lanes before: when, and together with whom */
    for (uint32_t left = a->lanes, mask; left; left &= ~mask) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const uint64_t at = a->address[lane] - k->from;
        mask = fellows(k, left, lane);
        k->writes = writing >> lane & 1;
        const uint32_t when = k->w->when[lane], together = mask & (mask - 1) ? mask >> lane : 0;
        if (!number || when != last || together != before) number = event(k, when, together);
        last = when, before = together;
        const tag own = tag_of(number, lane);
        struct cell *cell = shadow_cell(k->shadow, pages[lane], at);
        if (number && k->writes) write_cell(k, own, lane, cell, at);
        else if (number) read_cell(k, own, mask, cell, at);
        if (!k->flagged && !k->w->mind && !(a->flags & EMU_RELEASE)) continue;
        for (uint32_t m = mask; m; m &= m - 1)
            race_flag(k->r, k->c, k->w, (uint32_t)__builtin_ctz(m), a, k->writes,
                      race_flag_in(k->r, pages[lane], at + MEM_GLOBAL), NULL, at + MEM_GLOBAL);
        race_look_up(k);
    }
    return true;
}

/* ---- every access -------------------------------------------------------------------------------------- */

static void each(struct race *r, const struct emu_access *a, look_followed *then)
{
    struct cta *c = race_cta(r, a->who->cta);
    const bool added = a->flags & EMU_ASYNC && a->kind == EMU_RED;
    struct look k = {.r = r,
                     .a = a,
                     .c = c,
                     .w = race_warp(c, a->who->warp),
                     .warp = a->who->warp,
                     .width = race_width(a),
                     .born = r->tree.time,
                     .writes = a->kind != EMU_LOAD,
                     .strong = a->flags & EMU_RELAXED || added,
                     .flagged = true,
                     .aside = a->flags & EMU_NONCOHERENT && a->space == PTX_SPACE_GLOBAL};
    const uint32_t size = (uint32_t)a->width * a->count;
    race_look_up(&k);
    find_memory(&k);
    if (k.one && ((then && lock_words(&k)) || whole_row(&k, size) || race_put_off(&k, size)))
        return;
    race_look_through(&k, size, then);
}

void race_look(struct race *r, const struct emu_access *a)
{
    each(r, a, NULL);
}

static void flag_lanes(struct look *k, uint32_t mask, uint64_t at)
{
    const struct emu_access *a = k->a;
    const uint64_t key = k->home ? at + 1 : at + MEM_GLOBAL;
    if (a->flags & EMU_ASYNC && a->kind == EMU_RED) return; /* it is part of no pattern */
    if (k->strong && (k->flagged || k->w->mind || a->flags & EMU_RELEASE))
        for (uint32_t m = mask; m; m &= m - 1)
            for (uint32_t e = 0; e < a->count; e++) {
                const uint64_t one = key + e * a->width;
                race_flag(k->r, k->c, k->w, (uint32_t)__builtin_ctz(m), a, k->writes,
                          race_flag_at(k->r, k->home, one), k->home, one);
            }
    else if (!k->strong && k->writes && k->flagged)
        for (uint32_t o = 0; o < (uint32_t)a->width * a->count; o++)
            race_unflag(k->r, k->home, key + o);
}

void race_access(void *self, const struct emu_access *a)
{
    struct race *r = self;
    if (r->given_up || race_note(r, a)) return;
    if (a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER ||
        a->space == PTX_SPACE_GLOBAL)
        each(r, a, flag_lanes);
    if (r->tree.clocks > r->limits.clocks) race_give_up(r);
}
