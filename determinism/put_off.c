/* The race detector: accesses that can wait until somebody touches the same rows in another way (notes.h). */
#include "determinism/look.h"

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
    if (a->alike) return ~a->alike;
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
    if (a->run || !differ) {
        touch_rows(k->shadow, list, &n, first, a->run ? LANES * size : size);
        return n;
    }
    if (aligned && differ < PAGE) {
        touch_rows(k->shadow, list, &n, first, size);
        if (n && differ >= ROW_BYTES) list->rows = rows_in_page(a);
        return n;
    }
    for (uint32_t m = a->lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)] - k->from, row = at / ROW_BYTES;
        if (row == last && aligned) continue;
        if (last / ROWS == row / ROWS && n && aligned) list[n - 1].rows |= 1u << row % ROWS;
        else touch_rows(k->shadow, list, &n, at, size);
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

/* Looks at an access as it was then. */
static void look_at_note(const struct look *now, const struct note *n)
{
    struct race *r = now->r;
    struct warp *w = &r->its_warp;
    struct touched list[TOUCHED_MOST];
    uint64_t at[LANES];
    for (uint32_t l = 0; l < LANES; l++)
        at[l] = n->first + (n->run     ? l * n->size
                            : n->count ? (uint64_t)(int64_t)n->from_first[l]
                                       : 0);
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
                                 .run = n->run,
                                 .pc = n->pc};
    struct look k = *now;
    k.a = &a;
    k.c = &r->then;
    k.w = w;
    k.warp = n->warp;
    k.home = now->home ? &r->then : NULL;
    k.from = 0;
    k.born = n->born;
    k.width = n->width;
    k.strong = k.writes = strong;
    k.flagged = false;
    for (uint32_t i = touched_rows(&k, n->size, n->run ? 0 : differences(&a), list); i--;) {
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

static void note(const struct look *k, uint32_t size, uint64_t differ)
{
    const struct emu_access *a = k->a;
    const uint32_t lane = (uint32_t)__builtin_ctz(a->lanes);
    const uint64_t first = a->address[lane];
    struct note *n = notes_add(k->notes, a->run || !differ ? 0 : LANES);
    n->born = k->born;
    n->first = first - k->from;
    n->cta = k->c->index;
    n->pc = a->pc;
    n->lanes = a->lanes;
    n->when = k->w->when[lane];
    n->cta_base = k->c->gone ? 0 : k->c->base;
    n->warp_base = k->c->gone ? 0 : k->w->base;
    n->warp = (uint8_t)k->warp;
    n->size = (uint8_t)size;
    n->width = (uint8_t)k->width;
    n->kind = a->kind;
    n->scope = a->scope;
    n->run = a->run;
    if (n->count) copy_offsets(n->from_first, a->address, first);
}

static size_t most_notes(const struct look *k)
{
    return k->home ? NOTES_MOST / k->r->cta_count : NOTES_MOST;
}

static void mark_noted(const struct look *k, const struct touched *t, int kind)
{
    struct page *p = t->page;
    if (p->noted_in != k->notes->number) memset(p->noted, 0, sizeof p->noted);
    p->noted_in = k->notes->number;
    p->noted[kind] |= t->rows;
}

bool race_put_off(struct look *k, uint32_t size)
{
    struct touched list[TOUCHED_MOST];
    uint32_t closed = 0, noted = 0, flagged = 0;
    const uint64_t differ = k->a->run ? 0 : differences(k->a);
    const uint32_t count = touched_rows(k, size, differ, list);
    for (uint32_t i = 0; i < count; i++) flagged |= list[i].page->flagged & list[i].rows;
    k->flagged = k->home ? k->home->flags.count : flagged;
    const int kind = differ >> 31 ? NOTE_KINDS : kind_of_note(k, size);
    for (uint32_t i = 0; i < count; i++) {
        closed |= kind == NOTE_KINDS ? 0 : list[i].page->closed[kind] & list[i].rows;
        noted |= noted_but(k, &list[i], kind);
    }
    const bool waits = kind != NOTE_KINDS && !closed && !noted;
    for (uint32_t i = 0; closed && i < count; i++) noted |= noted_but(k, &list[i], NOTE_KINDS);
    if (noted) look_at_notes(k, list, count);
    else if (waits && k->notes->size > most_notes(k)) look_at_notes(k, NULL, 0);
    for (uint32_t i = 0; i < count; i++)
        if (waits) mark_noted(k, &list[i], kind);
        else close_rows(&list[i], NOTE_KINDS, k->writes);
    if (waits) note(k, size, differ);
    return waits;
}
