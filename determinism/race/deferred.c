/* The race detector: accesses that can wait until somebody touches the same rows in another way (deferred_list.h). */
#include "determinism/race/access.h"

#include "emu/memory.h"

#include <string.h>

enum { ROW_BYTES = ROW_WORDS * 4, TOUCHED_MOST = 2 * LANES };
struct touched {
    struct page *page;
    uint32_t rows;
};

static void touch_rows(struct shadow *s, struct touched *list, uint32_t *n, uint64_t at,
                       uint32_t bytes)
{
    const uint64_t end = at + bytes - 1;
    for (uint64_t page = at >> PAGE_BITS; page <= end >> PAGE_BITS; page++) {
        const uint32_t first = page == at >> PAGE_BITS ? (uint32_t)(at % PAGE) / ROW_BYTES : 0,
                       last = page == end >> PAGE_BITS ? (uint32_t)(end % PAGE) / ROW_BYTES
                                                       : ROWS - 1,
                       rows = ~0u >> (ROWS - 1 - last) & ~0u << first;
        struct page *p = shadow_page(s, page << PAGE_BITS, false);
        if (!p) continue;
        if (*n && list[*n - 1].page == p) list[*n - 1].rows |= rows;
        else list[(*n)++] = (struct touched){p, rows};
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

/* Of lanes in one page. */
static uint32_t rows_in_page(const struct emu_access *a)
{
    uint32_t rows = 0;
    if (a->lanes == ~0u)
        for (uint32_t l = 0; l < LANES; l++) rows |= 1u << (a->address[l] / ROW_BYTES) % ROWS;
    else
        for (uint32_t m = a->lanes; m; m &= m - 1)
            rows |= 1u << (a->address[__builtin_ctz(m)] / ROW_BYTES) % ROWS;
    return rows;
}

/* The rows that the access touches. */
static uint32_t touched_rows(const struct look *k, uint32_t size, uint64_t differ,
                             struct touched *list)
{
    const struct emu_access *a = k->a;
    const uint64_t first = a->address[__builtin_ctz(a->lanes)] - k->from;
    const bool aligned = !(size & (size - 1)) && !((differ | first) & (size - 1));
    uint64_t last = UINT64_MAX;
    uint32_t n = 0;
    if (a->rows) {
        *list = (struct touched){shadow_page(k->shadow, first, false), a->rows};
        return list->page != NULL;
    }
    if (a->contiguous || !differ) {
        touch_rows(k->shadow, list, &n, first, a->contiguous ? LANES * size : size);
        return n;
    }
    if (aligned && differ < PAGE) {
        touch_rows(k->shadow, list, &n, first, size);
        if (n && differ >= ROW_BYTES) list->rows = rows_in_page(a);
        return n;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)] - k->from, row = at / ROW_BYTES;
        if (!aligned) {
            touch_rows(k->shadow, list, &n, at, size);
            continue;
        }
        if (row == last) continue;
        struct page *p = n && last / ROWS == row / ROWS ? list[n - 1].page
                                                        : shadow_page(k->shadow, at, false);
        if (!p) continue;
        if (!n || list[n - 1].page != p) list[n++] = (struct touched){p, 0};
        list[n - 1].rows |= 1u << row % ROWS;
        last = row;
    }
    return n;
}

static int note_of(bool strong, uint32_t size)
{
    return !strong ? NOTE_READ : size == 4 ? NOTE_WORDS : size == 8 ? NOTE_DOUBLES : NOTE_KINDS;
}

/* They were looked at, for an access that is or could have been of that kind of notes. */
static void close_rows(const struct touched *t, int kind, bool writes)
{
    for (int i = 0; i < NOTE_KINDS; i++)
        if (i != kind && (writes || i != NOTE_READ)) t->page->closed[i] |= t->rows;
}

static uint64_t address_in(const struct note *n, uint32_t lane)
{
    int32_t far;
    switch ((enum note_how)n->how) {
    case NOTE_RUN: return n->first + lane * n->size;
    case NOTE_NEAR: return (n->first & ~(uint64_t)(PAGE - 1)) | (n->at[lane] & (PAGE - 1));
    case NOTE_FAR: memcpy(&far, &n->at[2 * lane], sizeof far); return n->first + (uint64_t)far;
    case NOTE_SAME: break;
    }
    return n->first;
}

/* Looks at an access as it was then. */
static void look_at_note(const struct look *now, const struct note *n)
{
    struct race *r = now->r;
    struct warp *w = &r->its_warp;
    struct touched list[TOUCHED_MOST];
    uint64_t at[LANES];
    const bool run = n->how == NOTE_RUN;
    for (uint32_t l = 0; l < LANES; l++) at[l] = address_in(n, l);
    if (r->then.index != n->cta || r->its_number != n->warp) memset(w->recent, 0, sizeof w->recent);
    r->its_number = n->warp;
    r->then.index = n->cta;
    r->then.base = n->cta_base;
    w->base = n->warp_base;
    w->even = true;
    for (uint32_t l = 0; l < LANES; l++) w->when[l] = n->when;
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
    struct look k = *now;
    k.a = &a;
    k.c = &r->then;
    k.w = w;
    k.warp = n->warp;
    race_look_up(&k);
    k.home = now->home ? &r->then : NULL;
    k.from = 0;
    k.born = n->born;
    k.width = n->width;
    k.strong = k.writes = strong;
    k.flagged = k.aside = false; /* nobody had written there */
    for (uint32_t i = touched_rows(&k, n->size, run ? 0 : differences(&a), list); i--;) {
        if (list[i].page->struck & list[i].rows) r->eager[n->pc] = true;
        close_rows(&list[i], note_of(strong, n->size), strong);
    }
    race_look_through(&k, n->size, NULL);
}

/* Rows that were put off, but for notes of that kind. */
static uint32_t noted_but(const struct look *k, const struct touched *t, int kind)
{
    uint32_t rows = 0;
    if (t->page->noted_in != k->notes->number) return 0;
    for (int i = 0; i < NOTE_KINDS; i++) rows |= i == kind ? 0 : t->page->noted[i];
    return rows & t->rows;
}

/* Looks at all that was put off. What was in these rows is not put off any more. */
static void look_at_notes(const struct look *k, const struct touched *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) list[i].page->struck |= noted_but(k, &list[i], NOTE_KINDS);
    for (const struct note *n = NULL; (n = notes_next(k->notes, n));) look_at_note(k, n);
    for (uint32_t i = 0; i < count; i++) list[i].page->struck = 0;
    notes_clear(k->notes);
}

/* As what it could be put off. NOTE_KINDS: not at all. */
static int kind_of_note(const struct look *k, uint32_t size)
{
    const struct emu_access *a = k->a;
    if (a->flags & (EMU_ASYNC | EMU_ACQUIRE | EMU_RELEASE) || k->w->mind || k->c->know ||
        k->r->eager[a->pc] || !race_is_one_time(k->w, a->lanes) ||
        (k->home && k->r->extent.cluster > 1)) /* others may write there */
        return NOTE_KINDS;
    if (a->kind == EMU_LOAD) return k->strong ? NOTE_KINDS : NOTE_READ;
    const bool adds = (a->kind == EMU_ATOMIC || a->kind == EMU_RED) && a->op != ATOMIC_CAS;
    if (!adds || !k->strong || k->flagged || k->width != size ||
        (!k->home && a->scope < EMU_SCOPE_GPU))
        return NOTE_KINDS;
    return note_of(true, size);
}

static void copy_offsets(int32_t *restrict to, const uint64_t *restrict at, uint64_t first)
{
    for (uint32_t l = 0; l < LANES; l++) to[l] = (int32_t)((uint32_t)at[l] - (uint32_t)first);
}

static void note(struct notes *notes, const struct emu_access *a, const struct cta *c,
                 const struct warp *w, uint64_t born, uint64_t from, bool same)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(a->lanes);
    const uint64_t first = a->address[lane];
    const enum note_how how = a->contiguous ? NOTE_RUN
                              : same        ? NOTE_SAME
                              : a->rows     ? NOTE_NEAR
                                            : NOTE_FAR;
    struct note *n = notes_add(notes, how);
    n->born = born;
    n->first = first - from;
    n->cta = c->index;
    n->pc = a->pc;
    n->lanes = a->lanes;
    n->when = w->when[lane];
    n->cta_base = c->gone ? 0 : c->base;
    n->warp_base = c->gone ? 0 : w->base;
    n->warp = (uint8_t)a->who->warp;
    n->size = (uint8_t)(a->width * a->count);
    n->width = (uint8_t)race_width(a);
    n->kind = a->kind;
    n->scope = a->scope;
    if (how == NOTE_NEAR) memcpy(n->at, a->low16, LANES * sizeof *n->at);
    if (how == NOTE_FAR) {
        int32_t far[LANES];
        copy_offsets(far, a->address, first);
        memcpy(n->at, far, sizeof far);
    }
}

enum { FEW_NOTES = 1 << 15 }; /* bytes: of a CTA, with as many CTAs as there ever are */

static inline bool is_much(const struct race *r, const struct notes *notes, bool global)
{
    return notes->size > FEW_NOTES &&
           notes->size > (global ? NOTES_MOST : NOTES_MOST / r->cta_count);
}

static inline void mark_noted(const struct touched *t, const struct notes *notes, int kind)
{
    struct page *p = t->page;
    if (p->noted_in != notes->number) memset(p->noted, 0, sizeof p->noted);
    p->noted_in = notes->number;
    p->noted[kind] |= t->rows;
}

bool race_put_off(struct look *k, uint32_t size)
{
    struct touched list[TOUCHED_MOST];
    uint32_t closed = 0, noted = 0, flagged = 0;
    const uint64_t differ = k->a->contiguous ? 0 : differences(k->a);
    const uint32_t count = touched_rows(k, size, differ, list);
    for (uint32_t i = 0; i < count; i++) flagged |= list[i].page->flagged & list[i].rows;
    k->flagged = k->home ? k->home->flags.count || (k->strong && k->c->owns.count) : flagged;
    const int kind = differ >> 31 ? NOTE_KINDS : kind_of_note(k, size);
    for (uint32_t i = 0; i < count; i++) {
        closed |= kind == NOTE_KINDS ? 0 : list[i].page->closed[kind] & list[i].rows;
        noted |= noted_but(k, &list[i], kind);
    }
    const bool waits = kind != NOTE_KINDS && !closed && !noted;
    for (uint32_t i = 0; closed && i < count; i++) noted |= noted_but(k, &list[i], NOTE_KINDS);
    if (noted) look_at_notes(k, list, count);
    else if (waits && is_much(k->r, k->notes, !k->home)) look_at_notes(k, NULL, 0);
    for (uint32_t i = 0; i < count; i++)
        if (waits) mark_noted(&list[i], k->notes, kind);
        else close_rows(&list[i], NOTE_KINDS, k->writes);
    if (waits) note(k->notes, k->a, k->c, k->w, k->born, k->from, !differ);
    return waits;
}

/* The rows of lanes in several pages that nobody's bytes lie across. 0: some do, or are beyond the shadow. */
static uint32_t rows_of_lanes(struct shadow *s, const struct emu_access *a, uint64_t from,
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
        list[n - 1].rows |= 1u << at / ROW_BYTES % ROWS;
    }
    return n;
}

static inline bool may_be_noted(const struct touched *t, const struct notes *notes)
{
    const struct page *p = t->page;
    const uint32_t other = p->noted_in == notes->number
                               ? p->noted[NOTE_WORDS] | p->noted[NOTE_DOUBLES]
                               : 0;
    return !((p->closed[NOTE_READ] | other) & t->rows);
}

bool race_note(struct race *r, const struct emu_access *a)
{
    const uint8_t other = EMU_RELAXED | EMU_ACQUIRE | EMU_RELEASE | EMU_ASYNC;
    const bool global = a->space == PTX_SPACE_GLOBAL,
               shared = a->space == PTX_SPACE_SHARED || a->space == PTX_SPACE_SHARED_CLUSTER;
    if (!(global || shared) || a->kind != EMU_LOAD || a->flags & other || r->eager[a->pc] ||
        (shared && r->extent.cluster > 1))
        return false;
    struct cta *c = race_cta(r, a->who->cta);
    const struct warp *w = race_warp(c, a->who->warp);
    struct notes *notes = global ? &r->notes : &c->notes;
    if (w->mind || c->know || !w->even || is_much(r, notes, global)) return false;
    struct shadow *s = global ? &r->global : &c->shared;
    const uint64_t first = a->address[__builtin_ctz(a->lanes)],
                   from = global ? MEM_GLOBAL : first & MEM_SHARED;
    struct touched list[LANES];
    uint32_t n = 1;
    if (a->rows) list[0] = (struct touched){shadow_page(s, first - from, false), a->rows};
    else n = rows_of_lanes(s, a, from, list);
    if (!n || !list[0].page) return false;
    for (uint32_t i = 0; i < n; i++)
        if (!may_be_noted(&list[i], notes)) return false;
    for (uint32_t i = 0; i < n; i++) mark_noted(&list[i], notes, NOTE_READ);
    note(notes, a, c, w, r->tree.time, from, !~a->common_bits);
    return true;
}
