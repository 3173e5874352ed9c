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

enum { SMALL = 1 << 20 };      /* bytes of a page directory that is allocated with calloc */
enum { UNITS_MOST = 1 << 30 }; /* of a reserved arena: 16 GiB of addresses */
enum { MUCH = 1 << 20 };       /* more bytes than shared memory has: a longer log */
enum { CELLS_MOST = 1 << 30 }; /* 8 GiB of addresses; more are allocated by page */

void shadow_begin(struct shadow *s, uint64_t bytes, const struct events *events)
{
    *s = (struct shadow){.count = (bytes + PAGE - 1) >> PAGE_BITS, .launch = 1, .events = events};
    const size_t size = (s->count + 1) * sizeof(struct page *);
    s->mapped = size > SMALL;
    strong_log_begin(&s->strong, bytes > MUCH ? 1u << 18 : 1u << 12);
    if (s->mapped) {
        s->pages = pages_new(size, PAGES_SPARSE);
        s->arena = pages_new((size_t)UNITS_MOST * UNIT, PAGES_DENSE);
        s->units_cap = UNITS_MOST;
    } else s->pages = calloc(1, size);
    if (!s->pages) abort();
}

static struct cell *cells_of(struct shadow *s, uint32_t shift)
{
    const uint32_t count = PAGE >> shift;
    if (s->mapped && !s->cells) s->cells = pages_new(CELLS_MOST * sizeof *s->cells, PAGES_DENSE);
    if (s->cells && count <= CELLS_MOST - s->cells_used) {
        s->cells_used += count;
        return s->cells + s->cells_used - count;
    }
    struct cell *alone = calloc(count, sizeof *alone);
    if (!alone) abort();
    return alone;
}

/* Those of `cells` stay: a page gets cells at most twice. */
static void free_cells(const struct shadow *s, struct cell *c)
{
    if (!s->cells || c < s->cells || c >= s->cells + CELLS_MOST) free(c);
}

void shadow_forget(struct shadow *s)
{
    s->launch++;
    strong_log_forget(&s->strong);
    s->units = s->archived = 0;
    s->generation++;
    memset(s->vacant, 0, sizeof s->vacant);
}

void shadow_end(struct shadow *s)
{
    for (struct page *p = s->first, *next; p; p = next) {
        next = p->next;
        free_cells(s, p->cells);
        free(p);
    }
    if (s->cells) pages_free(s->cells, CELLS_MOST * sizeof *s->cells);
    if (s->mapped) pages_free((void *)s->pages, (s->count + 1) * sizeof(struct page *));
    else free((void *)s->pages);
    if (s->mapped) pages_free(s->arena, (size_t)UNITS_MOST * UNIT);
    else free(s->arena);
    free(s->lately);
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
        if (s->mapped) abort();
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
    const uint32_t bytes = (uint32_t)(sizeof(struct tag_set) + capacity * sizeof(tag));
    return (bytes + (capacity == HISTORY ? (uint32_t)sizeof(tag) : 0) + UNIT - 1) / UNIT;
}

static uint32_t line_units(uint32_t capacity)
{
    return (capacity + 1) / 2;
}

/* ---- sets ------------------------------------------------------------------------------------ */

static uint32_t block_units(const struct archive_block *b)
{
    return b->next ? MORE_UNITS : FIRST_UNITS;
}

static void free_block(struct shadow *s, uint32_t n)
{
    const uint32_t units = block_units(shadow_at(s, n));
    give(s, n, units);
    s->archived -= units;
}

static void free_blocks(struct shadow *s, uint32_t n)
{
    for (uint32_t next; n; n = next) {
        const struct archive_block *b = shadow_at(s, n);
        next = b->next;
        free_block(s, n);
    }
}

void shadow_forget_archive(struct shadow *s, struct tag_set *set)
{
    const uint32_t n = shadow_archive(set);
    if (!n) return;
    set->list[HISTORY] = 0;
    s->generation++;
    free_blocks(s, n);
}

static void free_set(struct shadow *s, tag half)
{
    struct tag_set *set = shadow_set(s, half);
    if (!set) return;
    shadow_forget_archive(s, set);
    give(s, half & ~TAG_SET, set_units(set->capacity));
}

static tag new_set(struct shadow *s, uint32_t count)
{
    const uint32_t capacity = count <= FEW ? FEW : count <= 7 ? 7 : HISTORY;
    const tag to = TAG_SET | take(s, set_units(capacity));
    struct tag_set *set = shadow_set(s, to);
    *set = (struct tag_set){.capacity = (uint8_t)capacity};
    if (capacity == HISTORY) set->list[HISTORY] = 0;
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

static struct archive_block *new_block(struct shadow *s, tag half)
{
    const uint32_t next = shadow_archive(shadow_set(s, half)),
                   units = next ? MORE_UNITS : FIRST_UNITS;
    if (s->archived + units > ARCHIVES_MOST) return NULL;
    const uint32_t n = take(s, units); /* the set may move */
    struct archive_block *b = shadow_at(s, n);
    const struct archive_block *last = next ? shadow_at(s, next) : NULL;
    *b = (struct archive_block){
        .next = next, .total = last ? last->total : 0, .searched = last ? last->searched : 0};
    shadow_set(s, half)->list[HISTORY] = n;
    s->archived += units;
    return b;
}

/* Whether the set's archive has the tag, as far as is known; then it is known. */
static bool was_archived(struct shadow *s, tag half, tag one)
{
    const uint32_t hash = ((half ^ one * 0x9e3779b1u) * 0x85ebca6bu) >> 20;
    if (!s->lately) s->lately = calloc(LATELY, sizeof *s->lately);
    if (!s->lately) abort();
    struct archived *r = &s->lately[hash % LATELY];
    if (r->archive == half && r->one == one && r->generation == s->generation) return true;
    *r = (struct archived){half, s->generation, one};
    return false;
}

void shadow_add_read(struct shadow *s, tag *half, tag one)
{
    struct tag_set *set = shadow_set(s, *half);
    if (!set || set->count < HISTORY) {
        shadow_add(s, half, one);
        return;
    }
    if (was_archived(s, *half, one)) return;
    const uint32_t n = shadow_archive(set);
    struct archive_block *b = n ? shadow_at(s, n) : NULL;
    if (b && b->total == ARCHIVE_MOST) return;
    if (!b || b->count == (block_units(b) - 1) * UNIT / sizeof(tag)) b = new_block(s, *half);
    if (!b) return;
    b->list[b->count++] = one;
    b->total++;
    summarise(s, shadow_set(s, *half), one);
}

/* A set without tags takes one out of its archive. */
static void refill(struct shadow *s, struct tag_set *set)
{
    const uint32_t n = shadow_archive(set);
    struct archive_block *b = shadow_at(s, n);
    set->list[set->count++] = b->list[--b->count];
    b->total--;
    s->generation++;
    if (b->count) return;
    set->list[HISTORY] = b->next;
    free_block(s, n);
}

void shadow_keep(struct shadow *s, tag *half, const tag *list, uint32_t count)
{
    struct tag_set *set = shadow_set(s, *half);
    if (!shadow_archive(set)) {
        shadow_put(s, half, list, count);
        return;
    }
    set->count = (uint8_t)count;
    set->full_epoch = 0;
    for (uint32_t i = 0; i < count; i++) {
        set->list[i] = list[i];
        summarise(s, set, list[i]);
    }
    if (!count) refill(s, set);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The cell of a word of the line. */
static struct cell *line_cell(const struct shadow *s, const struct page *p, uint32_t line,
                              uint32_t i)
{
    return shadow_cell_at(s, p, (line * LINE_WORDS + i) * UINT64_C(4));
}

void shadow_mark_flags(const struct shadow *s, struct page *p, uint32_t line, uint32_t number)
{
    for (uint32_t i = 0; p->shift && p->split >> line & 1 && i < LINE_WORDS; i++)
        s->words[number + i].cell = *line_cell(s, p, line, i);
    p->words[line] = number;
    p->flagged |= 1u << line;
}

void shadow_split(struct shadow *s, struct page *p, uint32_t line)
{
    const uint32_t n = p->lines[line];
    if (!p->cells) p->cells = cells_of(s, 2);
    for (uint32_t i = 0; i < LINE_WORDS; i++) *line_cell(s, p, line, i) = (struct cell){0};
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
            struct cell *c = line_cell(s, p, line, cell);
            if (i < writes) shadow_add(s, &c->write, span_tag(span, cell));
            else shadow_add_read(s, &c->read, span_tag(span, cell));
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
    for (uint32_t i = 0; i < LINE_WORDS; i++) {
        free_set(s, line_cell(s, p, line, i)->write);
        free_set(s, line_cell(s, p, line, i)->read);
    }
    p->split &= ~(1u << line);
    p->settled &= ~(1u << line);
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
    for (uint32_t at = shadow_archive(shadow_set(s, from)), next; at; at = next) {
        const struct archive_block *b = shadow_at(s, at);
        next = b->next;
        for (uint32_t i = 0, count = b->count; i < count; i++) {
            b = shadow_at(s, at); /* adding may move it */
            shadow_add_read(s, to, b->list[i]);
        }
    }
}

/* Cells of words become cells of bytes, which inherit their tags. */
static void make_fine(struct shadow *s, struct page *p)
{
    for (uint32_t line = 0; line < LINES; line++)
        if (!(p->split >> line & 1)) shadow_split(s, p, line);
    struct cell *coarse = p->cells;
    for (uint32_t i = 0; i < PAGE / 4; i++) coarse[i] = *shadow_cell_at(s, p, i * UINT64_C(4));
    p->cells = cells_of(s, 0);
    for (uint32_t i = 0; i < PAGE; i++) {
        copy_half(s, &p->cells[i].write, coarse[i / 4].write);
        copy_half(s, &p->cells[i].read, coarse[i / 4].read);
    }
    for (uint32_t i = 0; i < PAGE / 4; i++) {
        free_set(s, coarse[i].write);
        free_set(s, coarse[i].read);
    }
    p->shift = 0;
    p->settled = 0;
    p->byte_cells = true;
    free_cells(s, coarse);
}

/* A new or expired page: no accesses. */
static void empty(struct shadow *s, struct page *p, bool fine)
{
    fine |= p->byte_cells; /* a page that had byte cells will have them again */
    memset(p->lines, 0, sizeof p->lines);
    memset(p->no_defer, 0, sizeof p->no_defer);
    p->deferred_in = 0;
    p->flagged = p->settled = 0;
    p->shift = fine ? 0 : 2;
    p->split = fine || !s->events ? ~0u : 0;
    if (fine && !p->byte_cells) {
        free_cells(s, p->cells);
        p->cells = NULL;
        p->byte_cells = true;
    }
    if (!p->cells && p->split) p->cells = cells_of(s, p->shift);
    else if (p->split) memset(p->cells, 0, (PAGE >> p->shift) * sizeof *p->cells);
}

struct page *shadow_page_slow(struct shadow *s, uint64_t address, bool fine)
{
    struct page **at = &s->pages[address >> PAGE_BITS], *p = *at;
    if (!p) {
        p = *at = aligned_alloc(_Alignof(struct page), sizeof *p);
        if (!p) abort();
        *p = (struct page){0};
        p->next = s->first;
        s->first = p;
    }
    if (p->launch != s->launch) empty(s, p, fine);
    else if (fine && p->shift) make_fine(s, p);
    p->launch = s->launch;
    return p;
}
