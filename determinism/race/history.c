/* Shadow memory: events, tag sets, lines and pages. history.h describes them. */
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

enum { SMALL = 1 << 20 }; /* bytes of a page directory that is allocated with calloc */
enum { MUCH = 1 << 20 };  /* more bytes than shared memory has: a longer log */

void shadow_begin(struct shadow *s, uint64_t bytes, const struct events *events)
{
    *s = (struct shadow){.count = (bytes + PAGE - 1) >> PAGE_BITS, .launch = 1, .events = events};
    const size_t size = (s->count + 1) * sizeof(struct page *);
    s->mapped = size > SMALL;
    strong_log_begin(&s->strong, bytes > MUCH ? 1u << 18 : 1u << 12);
    if (s->mapped) s->pages = pages_new(size, PAGES_SPARSE);
    else s->pages = calloc(1, size);
    if (!s->pages) abort();
}

void shadow_forget(struct shadow *s)
{
    s->launch++;
    strong_log_forget(&s->strong);
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
    free(s->arena);
    strong_log_end(&s->strong);
    *s = (struct shadow){0};
}

/* ---- the arena of sets and lines ------------------------------------------------------------- */

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
        s->arena = realloc(s->arena, (size_t)s->units_cap * UNIT);
        if (!s->arena) abort();
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

static uint32_t set_units(uint32_t capacity)
{
    return (uint32_t)((sizeof(struct tag_set) + capacity * sizeof(tag)) / UNIT);
}

static uint32_t line_units(uint32_t capacity)
{
    return (capacity + 1) / 2;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void free_set(struct shadow *s, tag half)
{
    const struct tag_set *set = shadow_set(s, half);
    if (set) give(s, half & ~TAG_SET, set_units(set->capacity));
}

static tag new_set(struct shadow *s, uint32_t count)
{
    const uint32_t capacity = count <= FEW ? FEW : count <= 7 ? 7 : HISTORY;
    const tag to = TAG_SET | take(s, set_units(capacity));
    *shadow_set(s, to) = (struct tag_set){.capacity = (uint8_t)capacity};
    return to;
}

/* Updates the summary of the set for one more tag. */
static void summarise(const struct shadow *s, struct tag_set *set, tag one)
{
    const struct event *e = &s->events->list[one >> 5];
    if (set->cta != e->cta) set->cta = UINT32_MAX;
    if (!(e->flags & EVENT_STRONG) || e->width != set->strong) set->strong = 0;
    if (e->scope < set->scope) set->scope = e->scope;
    if (e->flags & (EVENT_PENDING | EVENT_MBARRIER)) set->latest = UINT32_MAX;
    else if (e->epoch > set->latest) set->latest = e->epoch;
}

void shadow_put(struct shadow *s, tag *half, const tag *list, uint32_t count)
{
    tag to = count == 1 ? list[0] : 0;
    if (count > 1) {
        to = new_set(s, count);
        struct tag_set *set = shadow_set(s, to);
        set->count = (uint8_t)count;
        const struct event *first = &s->events->list[list[0] >> 5];
        set->cta = first->cta;
        set->strong = first->width;
        set->scope = first->scope;
        for (uint32_t i = 0; i < count; i++) {
            set->list[i] = list[i];
            summarise(s, set, list[i]);
        }
    }
    free_set(s, *half);
    *half = to;
}

void shadow_add(struct shadow *s, tag *half, tag one)
{
    struct tag_set *set = shadow_set(s, *half);
    if (!set) {
        const tag both[] = {*half, one};
        shadow_put(s, half, *half ? both : &one, *half ? 2 : 1);
        return;
    }
    if (set->count == HISTORY) set->count--;
    else if (set->count == set->capacity) {
        const tag from = *half, to = new_set(s, set->count + 1u);
        const struct tag_set *old = shadow_set(s, from);
        set = shadow_set(s, to);
        const uint8_t capacity = set->capacity;
        memcpy(set, old, sizeof *set + old->count * sizeof(tag));
        set->capacity = capacity;
        free_set(s, from);
        *half = to;
    }
    set->list[set->count++] = one;
    summarise(s, set, one);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static struct cell *cells_of(uint32_t shift)
{
    struct cell *c = calloc(PAGE >> shift, sizeof *c);
    if (!c) abort();
    return c;
}

void shadow_split(struct shadow *s, struct page *p, uint32_t line)
{
    const uint32_t n = p->lines[line];
    if (!p->cells) p->cells = cells_of(2);
    struct cell *cells = &p->cells[line * LINE_WORDS];
    memset(cells, 0, LINE_WORDS * sizeof *cells);
    p->split |= 1u << line;
    p->lines[line] = 0;
    if (!n) return;
    const struct shadow_line *r = shadow_at(s, n);
    const uint32_t count = r->count, writes = r->writes, capacity = r->capacity;
    for (uint32_t i = 0; i < count; i++) {
        r = shadow_at(s, n); /* shadow_add() may move it */
        const struct span span = r->list[i];
        for (uint32_t m = span.cells; m; m &= m - 1) {
            const uint32_t cell = (uint32_t)__builtin_ctz(m);
            shadow_add(s, i < writes ? &cells[cell].write : &cells[cell].read,
                       span_tag(span, cell));
        }
    }
    give(s, n, line_units(capacity));
}

struct shadow_line *shadow_line_reserve(struct shadow *s, struct page *p, uint32_t line)
{
    const uint32_t old = p->lines[line];
    struct shadow_line *r = old ? shadow_at(s, old) : NULL;
    if (r && r->count < r->capacity) return r;
    if (r && r->capacity == SPANS_MOST) return NULL;
    const uint32_t capacity = r ? 2u * r->capacity + 1 : FEW, n = take(s, line_units(capacity));
    r = shadow_at(s, n);
    *r = (struct shadow_line){0};
    if (old) {
        const struct shadow_line *from = shadow_at(s, old);
        memcpy(r, from, sizeof *r + from->count * sizeof *from->list);
        give(s, old, line_units(from->capacity));
    }
    r->capacity = (uint16_t)capacity;
    p->lines[line] = n;
    return r;
}

void shadow_merge(struct shadow *s, struct page *p, uint32_t line)
{
    for (uint32_t i = line * LINE_WORDS; i < (line + 1) * LINE_WORDS; i++) {
        free_set(s, p->cells[i].write);
        free_set(s, p->cells[i].read);
    }
    p->split &= ~(1u << line);
    p->lines[line] = 0;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void copy_half(struct shadow *s, tag *to, tag from)
{
    const tag *list;
    tag one[HISTORY];
    uint32_t n = shadow_tags(s, &from, &list);
    memcpy(one, list, n * sizeof *one);
    shadow_put(s, to, one, n);
}

/* Cells of words become cells of bytes, which inherit their tags. */
static void make_fine(struct shadow *s, struct page *p)
{
    for (uint32_t line = 0; line < LINES; line++)
        if (!(p->split >> line & 1)) shadow_split(s, p, line);
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
    p->byte_cells = true;
    free(coarse);
}

/* A new or expired page: no accesses. */
static void empty(const struct shadow *s, struct page *p, bool fine)
{
    fine |= p->byte_cells; /* a page that had byte cells will have them again */
    memset(p->lines, 0, sizeof p->lines);
    memset(p->no_defer, 0, sizeof p->no_defer);
    p->deferred_in = 0;
    p->flagged = 0;
    p->shift = fine ? 0 : 2;
    p->split = fine || !s->events ? ~0u : 0;
    if (fine && !p->byte_cells) {
        free(p->cells);
        p->cells = NULL;
        p->byte_cells = true;
    }
    if (!p->cells && p->split) p->cells = cells_of(p->shift);
    else if (p->split) memset(p->cells, 0, (PAGE >> p->shift) * sizeof *p->cells);
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
