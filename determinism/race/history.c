/* Events, and the cells that name them. */
#include "determinism/race/history.h"

#include "base/pages.h"

#include <stdlib.h>
#include <string.h>

void events_reserve(struct events *e)
{
    e->list = pages_new(EVENTS_MOST * sizeof *e->list, PAGES_DENSE);
    e->cap = EVENTS_MOST;
    e->reserved = true;
}

void events_end(struct events *e)
{
    if (e->reserved) pages_free(e->list, EVENTS_MOST * sizeof *e->list);
    else free(e->list);
    *e = (struct events){0};
}

uint32_t events_add(struct events *e, const struct event *event)
{
    if (!e->count) e->count = 1;
    if (e->count >= EVENTS_MOST) return 0;
    if (e->count >= e->cap) {
        e->cap = e->cap ? e->cap * 2 : 1024;
        e->list = realloc(e->list, e->cap * sizeof *e->list);
        if (!e->list) abort();
    }
    e->list[e->count] = *event;
    return e->count++;
}

enum { SMALL = 1 << 20 }; /* bytes of a directory that is simply allocated */

void shadow_begin(struct shadow *s, uint64_t bytes, const struct events *events)
{
    *s = (struct shadow){.count = (bytes + PAGE - 1) >> PAGE_BITS, .launch = 1, .events = events};
    const size_t size = (s->count + 1) * sizeof(struct page *);
    s->mapped = size > SMALL;
    if (s->mapped) s->pages = pages_new(size, PAGES_SPARSE);
    else s->pages = calloc(1, size);
    if (!s->pages) abort();
}

void shadow_forget(struct shadow *s)
{
    s->launch++;
    s->units = 0;
    memset(s->vacant, 0, sizeof s->vacant);
}

void shadow_end(struct shadow *s)
{
    for (struct page *p = s->first, *next; p; p = next) {
        next = p->next;
        free(p->cells);
        free(p->flags);
        free(p);
    }
    if (s->mapped) pages_free((void *)s->pages, (s->count + 1) * sizeof(struct page *));
    else free((void *)s->pages);
    free(s->room);
    *s = (struct shadow){0};
}

/* ---- room for sets and rows ----------------------------------------------------------------------------- */

static uint32_t take(struct shadow *s, uint32_t units)
{
    uint32_t n = s->vacant[units];
    if (n) {
        memcpy(&s->vacant[units], shadow_at(s, n), sizeof n);
        return n;
    }
    if (!s->units) s->units = 1; /* 0 is none */
    if (s->units + units > s->units_cap) {
        s->units_cap = s->units_cap ? s->units_cap * 2 : 1024;
        s->room = realloc(s->room, (size_t)s->units_cap * UNIT);
        if (!s->room) abort();
    }
    n = s->units;
    s->units += units;
    return n;
}

static void give(struct shadow *s, uint32_t n, uint32_t units)
{
    memcpy(shadow_at(s, n), &s->vacant[units], sizeof n);
    s->vacant[units] = n;
}

static uint32_t set_units(uint32_t room)
{
    return (uint32_t)((sizeof(struct set) + room * sizeof(tag)) / UNIT);
}

static uint32_t row_units(uint32_t room)
{
    return (room + 1) / 2;
}

/* ---- sets ------------------------------------------------------------------------------------------------ */

static void free_set(struct shadow *s, tag half)
{
    const struct set *set = shadow_set(s, half);
    if (set) give(s, half & ~TAG_SET, set_units(set->room));
}

static tag new_set(struct shadow *s, uint32_t count)
{
    const uint32_t room = count <= FEW ? FEW : count <= 7 ? 7 : HISTORY;
    const tag to = TAG_SET | take(s, set_units(room));
    *shadow_set(s, to) = (struct set){.room = (uint8_t)room};
    return to;
}

/* One more tag is in the set. */
static void describe(const struct shadow *s, struct set *set, tag one)
{
    const struct event *e = &s->events->list[one >> 5];
    if (set->cta != e->cta) set->cta = UINT32_MAX;
    if (!(e->flags & EVENT_STRONG) || e->width != set->strong) set->strong = 0;
    if (e->scope < set->scope) set->scope = e->scope;
    if (e->flags & (EVENT_PENDING | EVENT_MBARRIER)) set->latest = UINT32_MAX;
    else if (e->clock > set->latest) set->latest = e->clock;
}

void shadow_put(struct shadow *s, tag *half, const tag *list, uint32_t count)
{
    tag to = count == 1 ? list[0] : 0;
    if (count > 1) {
        to = new_set(s, count);
        struct set *set = shadow_set(s, to);
        set->count = (uint8_t)count;
        const struct event *first = &s->events->list[list[0] >> 5];
        set->cta = first->cta;
        set->strong = first->width;
        set->scope = first->scope;
        for (uint32_t i = 0; i < count; i++) {
            set->list[i] = list[i];
            describe(s, set, list[i]);
        }
    }
    free_set(s, *half);
    *half = to;
}

void shadow_add(struct shadow *s, tag *half, tag one)
{
    struct set *set = shadow_set(s, *half);
    if (!set) {
        const tag both[] = {*half, one};
        shadow_put(s, half, *half ? both : &one, *half ? 2 : 1);
        return;
    }
    if (set->count == HISTORY) set->count--;
    else if (set->count == set->room) {
        const tag from = *half, to = new_set(s, set->count + 1u);
        const struct set *old = shadow_set(s, from);
        set = shadow_set(s, to);
        const uint8_t room = set->room;
        memcpy(set, old, sizeof *set + old->count * sizeof(tag));
        set->room = room;
        free_set(s, from);
        *half = to;
    }
    set->list[set->count++] = one;
    describe(s, set, one);
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static struct cell *cells_of(uint32_t shift)
{
    struct cell *c = calloc(PAGE >> shift, sizeof *c);
    if (!c) abort();
    return c;
}

void shadow_split(struct shadow *s, struct page *p, uint32_t row)
{
    const uint32_t n = p->rows[row];
    if (!p->cells) p->cells = cells_of(2);
    struct cell *cells = &p->cells[row * ROW_WORDS];
    memset(cells, 0, ROW_WORDS * sizeof *cells);
    p->apart |= 1u << row;
    p->rows[row] = 0;
    if (!n) return;
    const struct row *r = shadow_at(s, n);
    const uint32_t count = r->count, writes = r->writes, room = r->room;
    for (uint32_t i = 0; i < count; i++) {
        r = shadow_at(s, n); /* it moves */
        const struct span span = r->list[i];
        for (uint32_t m = span.cells; m; m &= m - 1) {
            const uint32_t cell = (uint32_t)__builtin_ctz(m);
            shadow_add(s, i < writes ? &cells[cell].write : &cells[cell].read,
                       span_tag(span, cell));
        }
    }
    give(s, n, row_units(room));
}

struct row *shadow_row(struct shadow *s, struct page *p, uint32_t row)
{
    const uint32_t old = p->rows[row];
    struct row *r = old ? shadow_at(s, old) : NULL;
    if (r && r->count < r->room) return r;
    if (r && r->room == SPANS_MOST) return NULL;
    const uint32_t room = r ? 2u * r->room + 1 : FEW, n = take(s, row_units(room));
    r = shadow_at(s, n);
    *r = (struct row){0};
    if (old) {
        const struct row *from = shadow_at(s, old);
        memcpy(r, from, sizeof *r + from->count * sizeof *from->list);
        give(s, old, row_units(from->room));
    }
    r->room = (uint16_t)room;
    p->rows[row] = n;
    return r;
}

void shadow_mend(struct shadow *s, struct page *p, uint32_t row)
{
    for (uint32_t i = row * ROW_WORDS; i < (row + 1) * ROW_WORDS; i++) {
        free_set(s, p->cells[i].write);
        free_set(s, p->cells[i].read);
    }
    p->apart &= ~(1u << row);
    p->rows[row] = 0;
}

/* ---- pages ----------------------------------------------------------------------------------------------- */

static void copy_half(struct shadow *s, tag *to, tag from)
{
    const tag *list;
    tag one[HISTORY];
    uint32_t n = shadow_tags(s, &from, &list);
    memcpy(one, list, n * sizeof *one);
    shadow_put(s, to, one, n);
}

/* Each byte gets what the four had. */
static void make_fine(struct shadow *s, struct page *p)
{
    for (uint32_t row = 0; row < ROWS; row++)
        if (!(p->apart >> row & 1)) shadow_split(s, p, row);
    struct cell *coarse = p->cells;
    p->cells = cells_of(0);
    for (uint32_t i = 0; i < PAGE; i++) {
        copy_half(s, &p->cells[i].write, coarse[i / 4].write);
        copy_half(s, &p->cells[i].read, coarse[i / 4].read);
    }
    for (uint32_t i = 0; i < PAGE / 4; i++) {
        free_set(s, coarse[i].write);
        free_set(s, coarse[i].read);
    }
    p->shift = 0;
    p->roomy = true;
    free(coarse);
}

/* Nothing happened there. */
static void empty(const struct shadow *s, struct page *p, bool fine)
{
    fine |= p->roomy; /* it will be again */
    memset(p->rows, 0, sizeof p->rows);
    memset(p->closed, 0, sizeof p->closed);
    p->noted_in = 0;
    p->flagged = 0;
    p->shift = fine ? 0 : 2;
    p->apart = fine || !s->events ? ~0u : 0;
    if (fine && !p->roomy) {
        free(p->cells);
        p->cells = NULL;
        p->roomy = true;
    }
    if (!p->cells && p->apart) p->cells = cells_of(p->shift);
    else if (p->apart) memset(p->cells, 0, (PAGE >> p->shift) * sizeof *p->cells);
}

struct page *shadow_page_slow(struct shadow *s, uint64_t address, bool fine)
{
    struct page **at = &s->pages[address >> PAGE_BITS], *p = *at;
    if (!p) {
        p = *at = calloc(1, sizeof *p);
        if (!p) abort();
        p->next = s->first;
        s->first = p;
    }
    if (p->launch != s->launch) empty(s, p, fine);
    else if (fine && p->shift) make_fine(s, p);
    p->launch = s->launch;
    return p;
}
