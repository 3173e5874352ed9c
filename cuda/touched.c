/* Sets of bytes (cuda/touched.h): ranges for copies and fills, pages of bits for accesses of kernels. */
#include "cuda/touched.h"

#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 4096,
    WORDS = PAGE / 64,
    ROW_WORDS = 2,
    RECENT = 1024
}; /* rows: as emu_access.rows */

struct range {
    uint64_t from, to;
    enum touched_how how;
};
struct page { /* of what is touched in one way */
    uint64_t key;
    uint32_t full; /* rows of which every byte is */
    uint64_t bits[WORDS];
};
struct touched {
    struct emu_observer observer;
    struct range *ranges;
    size_t range_count, range_capacity;
    struct page **pages; /* a table with holes, of page_capacity places: a power of two */
    size_t page_count, page_capacity;
    struct recent {
        uint64_t key;
        struct page *page; /* NULL: none */
    } recent[RECENT];      /* recent_at() */
};

static uint64_t key_of(uint64_t number, enum touched_how how)
{
    return number * TOUCHED_WAYS + how;
}

static uint64_t base_of(const struct page *p)
{
    return p->key / TOUCHED_WAYS * PAGE;
}

static enum touched_how how_of(const struct page *p)
{
    return (enum touched_how)(p->key % TOUCHED_WAYS);
}

/* ---- sets ------------------------------------------------------------------------------------------- */

void touched_free(struct touched *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->page_capacity; i++) free(t->pages[i]);
    free((void *)t->pages);
    free(t->ranges);
    free(t);
}

void touched_range(struct touched *t, uint64_t address, uint64_t size, enum touched_how how)
{
    if (!size) return;
    if (t->range_count && t->ranges[t->range_count - 1].to == address &&
        t->ranges[t->range_count - 1].how == how) {
        t->ranges[t->range_count - 1].to += size;
        return;
    }
    if (t->range_count == t->range_capacity) {
        t->range_capacity = t->range_capacity ? 2 * t->range_capacity : 4;
        t->ranges = realloc(t->ranges, t->range_capacity * sizeof *t->ranges);
        if (!t->ranges) abort();
    }
    t->ranges[t->range_count++] = (struct range){address, address + size, how};
}

static size_t place_of(const struct touched *t, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->page_capacity - 1);
    while (t->pages[i] && t->pages[i]->key != key) i = (i + 1) & (t->page_capacity - 1);
    return i;
}

static const struct page *find_page(const struct touched *t, uint64_t key)
{
    return t->page_capacity ? t->pages[place_of(t, key)] : NULL;
}

static void grow(struct touched *t)
{
    struct page **old = t->pages;
    const size_t capacity = t->page_capacity;
    t->page_capacity = capacity ? 2 * capacity : 16;
    t->pages = calloc(t->page_capacity, sizeof *t->pages);
    if (!t->pages) abort();
    for (size_t i = 0; i < capacity; i++)
        if (old[i]) t->pages[place_of(t, old[i]->key)] = old[i];
    free((void *)old);
}

/* Pages that follow each other, as of an array, have places of their own for each way. */
static inline struct recent *recent_at(struct touched *t, uint64_t key)
{
    const uint64_t page = key / TOUCHED_WAYS, way = key % TOUCHED_WAYS;
    return &t->recent[(page + way * (RECENT / TOUCHED_WAYS)) % RECENT];
}

__attribute__((noinline)) static struct page *page_slow(struct touched *t, uint64_t key)
{
    struct recent *recent = recent_at(t, key);
    if (2 * t->page_count >= t->page_capacity) grow(t);
    const size_t i = place_of(t, key);
    if (!t->pages[i]) {
        t->pages[i] = calloc(1, sizeof *t->pages[i]);
        if (!t->pages[i]) abort();
        t->pages[i]->key = key;
        t->page_count++;
    }
    *recent = (struct recent){key, t->pages[i]};
    return recent->page;
}

static inline struct page *page_at(struct touched *t, uint64_t key)
{
    const struct recent *recent = recent_at(t, key);
    return recent->page && recent->key == key ? recent->page : page_slow(t, key);
}

static void touch(struct touched *t, uint64_t address, uint32_t size, enum touched_how how)
{
    while (size) {
        const uint32_t at = (uint32_t)(address % PAGE), bit = at % 64;
        const uint32_t n = size < 64 - bit ? size : 64 - bit;
        const uint64_t mask = UINT64_MAX >> (64 - n) << bit;
        page_at(t, key_of(address / PAGE, how))->bits[at / 64] |= mask;
        address += n;
        size -= n;
    }
}

/* Each lane's bytes, which lie in one word of bits. */
static void touch_words(struct touched *t, const struct emu_access *a, uint32_t size,
                        enum touched_how how)
{
    const uint64_t mask = UINT64_MAX >> (64 - size);
    const uint32_t lanes = ~a->common_bits ? a->lanes : a->lanes & -a->lanes;
    struct page *page = NULL;
    uint64_t number = UINT64_MAX;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const uint64_t at = a->address[__builtin_ctz(m)];
        if (!page || at / PAGE != number) page = page_at(t, key_of(number = at / PAGE, how));
        page->bits[at % PAGE / 64] |= mask << at % 64;
    }
}

/* Bytes of one page, of which there are some. */
static void touch_in_page(struct page *p, uint32_t at, uint32_t size)
{
    const uint32_t first = at / 64, last = (at + size - 1) / 64;
    const uint64_t from = UINT64_MAX << at % 64, to = UINT64_MAX >> (63 - (at + size - 1) % 64);
    if (first == last) {
        p->bits[first] |= from & to;
        return;
    }
    p->bits[first] |= from;
    for (uint32_t i = first + 1; i < last; i++) p->bits[i] = UINT64_MAX;
    p->bits[last] |= to;
}

static bool are_aligned(const struct emu_access *a, uint32_t size)
{
    const uint64_t first = a->address[__builtin_ctz(a->lanes)];
    return a->common_bits && size <= 64 && !(size & (size - 1)) &&
           !((first | ~a->common_bits) & (size - 1));
}

static void touch_lanes(struct touched *t, const struct emu_access *a, enum touched_how how)
{
    const uint32_t size = (uint32_t)a->width * a->count;
    if (a->contiguous) touch(t, a->address[0], 32 * size, how);
    else if (are_aligned(a, size)) touch_words(t, a, size, how);
    else
        for (uint32_t m = a->lanes; m; m &= m - 1)
            touch(t, a->address[__builtin_ctz(m)], size, how);
}

static enum touched_how how_of_access(uint8_t kind, uint8_t flags)
{
    const bool strong = flags & EMU_RELAXED;
    if (kind == EMU_LOAD) return strong ? TOUCHED_STRONG_READ : TOUCHED_READ;
    return kind == EMU_STORE && !strong ? TOUCHED_WRITE : TOUCHED_ATOMIC;
}

/* Mostly the same rows are touched again and again. */
static void access(void *self, const struct emu_access *a)
{
    if (a->space != PTX_SPACE_GLOBAL) return;
    const enum touched_how how = how_of_access(a->kind, a->flags);
    if (!a->rows) {
        touch_lanes(self, a, how);
        return;
    }
    struct page *p = page_at(self, key_of(a->address[__builtin_ctz(a->lanes)] / PAGE, how));
    if (!(a->rows & ~p->full)) return;
    if (a->contiguous)
        touch_in_page(p, (uint32_t)(a->address[0] % PAGE), 32 * (uint32_t)a->width * a->count);
    else touch_lanes(self, a, how);
    for (uint32_t m = a->rows; m; m &= m - 1) {
        const uint64_t *row = &p->bits[ROW_WORDS * (uint32_t)__builtin_ctz(m)];
        if (!~(row[0] & row[1])) p->full |= m & -m;
    }
}

static void footprint(void *self, uint64_t address, uint64_t size, uint8_t kind, uint8_t flags)
{
    const enum touched_how how = how_of_access(kind, flags);
    for (uint64_t n; size; size -= n, address += n) {
        const uint32_t at = (uint32_t)(address % PAGE);
        n = size < PAGE - at ? size : PAGE - at;
        touch_in_page(page_at(self, key_of(address / PAGE, how)), at, (uint32_t)n);
    }
}

static const struct emu_observer *nested(void *self)
{
    return &((struct touched *)self)->observer;
}

struct touched *touched_new(void)
{
    struct touched *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->observer = (struct emu_observer){.self = t,
                                        .ignores_data = true,
                                        .skips_conflict_free = true,
                                        .nested = nested,
                                        .access = access,
                                        .footprint = footprint};
    return t;
}

const struct emu_observer *touched_observer(struct touched *t)
{
    return &t->observer;
}

/* ---- where two sets meet ---------------------------------------------------------------------------- */

static bool conflict(enum touched_how a, enum touched_how b)
{
    return a == TOUCHED_WRITE || b == TOUCHED_WRITE || (a == TOUCHED_ATOMIC && b == TOUCHED_READ) ||
           (a == TOUCHED_READ && b == TOUCHED_ATOMIC);
}

/* Which of two ways to meet at one place is reported: the one with more writes, else by the ways themselves. */
static int rank(enum touched_how one, enum touched_how other)
{
    const int writes = (one == TOUCHED_WRITE) + (other == TOUCHED_WRITE);
    return (writes * TOUCHED_WAYS - (int)one) * TOUCHED_WAYS - (int)other;
}

static void meet(struct touched_meeting *out, bool *any, uint64_t address, enum touched_how one,
                 enum touched_how other)
{
    if (*any && (out->address < address ||
                 (out->address == address && rank(out->one, out->other) >= rank(one, other))))
        return;
    *out = (struct touched_meeting){address, one, other};
    *any = true;
}

static void meet_ranges(const struct touched *a, const struct touched *b,
                        struct touched_meeting *out, bool *any)
{
    for (size_t i = 0; i < a->range_count; i++)
        for (size_t k = 0; k < b->range_count; k++) {
            const struct range *x = &a->ranges[i], *y = &b->ranges[k];
            const uint64_t from = x->from > y->from ? x->from : y->from;
            if (from < x->to && from < y->to && conflict(x->how, y->how))
                meet(out, any, from, x->how, y->how);
        }
}

/* The first byte of a page's bits in [from, to); UINT64_MAX: none. */
static uint64_t first_in(const struct page *p, uint64_t from, uint64_t to)
{
    const uint64_t base = base_of(p);
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint64_t m = p->bits[w]; m; m &= m - 1) {
            const uint64_t at = base + 64 * w + (unsigned)__builtin_ctzll(m);
            if (at >= from && at < to) return at;
        }
    return UINT64_MAX;
}

/* `swapped`: the ranges are of the other one. */
static void meet_range_and_pages(const struct touched *ranges, const struct touched *pages,
                                 bool swapped, struct touched_meeting *out, bool *any)
{
    for (size_t i = 0; i < ranges->range_count; i++)
        for (size_t k = 0; k < pages->page_capacity; k++) {
            const struct range *x = &ranges->ranges[i];
            const struct page *p = pages->pages[k];
            if (!p || base_of(p) >= x->to || base_of(p) + PAGE <= x->from) continue;
            const enum touched_how how = how_of(p);
            const uint64_t at = conflict(x->how, how) ? first_in(p, x->from, x->to) : UINT64_MAX;
            if (at != UINT64_MAX)
                meet(out, any, at, swapped ? how : x->how, swapped ? x->how : how);
        }
}

static void meet_pages(const struct page *x, const struct page *y, struct touched_meeting *out,
                       bool *any)
{
    for (uint32_t w = 0; w < WORDS; w++) {
        const uint64_t m = x->bits[w] & y->bits[w];
        if (!m) continue;
        meet(out, any, base_of(x) + 64 * w + (unsigned)__builtin_ctzll(m), how_of(x), how_of(y));
        return;
    }
}

bool touched_meet(const struct touched *one, const struct touched *other,
                  struct touched_meeting *out)
{
    bool any = false;
    meet_ranges(one, other, out, &any);
    meet_range_and_pages(one, other, false, out, &any);
    meet_range_and_pages(other, one, true, out, &any);
    for (size_t i = 0; i < one->page_capacity; i++) {
        const struct page *p = one->pages[i];
        for (enum touched_how how = 0; p && how < TOUCHED_WAYS; how++) {
            const struct page *q = conflict(how_of(p), how)
                                       ? find_page(other, key_of(base_of(p) / PAGE, how))
                                       : NULL;
            if (q) meet_pages(p, q, out, &any);
        }
    }
    return any;
}

/* ---- asking --------------------------------------------------------------------------------------------- */

void touched_each(const struct touched *t,
                  void (*call)(void *self, uint64_t address, uint64_t size, enum touched_how how),
                  void *self)
{
    for (size_t i = 0; i < t->range_count; i++)
        call(self, t->ranges[i].from, t->ranges[i].to - t->ranges[i].from, t->ranges[i].how);
    for (size_t i = 0; i < t->page_capacity; i++)
        if (t->pages[i]) call(self, base_of(t->pages[i]), PAGE, how_of(t->pages[i]));
}

bool touched_has(const struct touched *t, uint64_t address, bool *writes)
{
    bool any = false;
    *writes = false;
    for (size_t i = 0; i < t->range_count; i++) {
        const struct range *r = &t->ranges[i];
        if (address < r->from || address >= r->to) continue;
        any = true;
        *writes |= r->how == TOUCHED_WRITE || r->how == TOUCHED_ATOMIC;
    }
    for (enum touched_how how = 0; how < TOUCHED_WAYS; how++) {
        const struct page *p = find_page(t, key_of(address / PAGE, how));
        if (!p || !(p->bits[address % PAGE / 64] >> address % 64 & 1)) continue;
        any = true;
        *writes |= how == TOUCHED_WRITE || how == TOUCHED_ATOMIC;
    }
    return any;
}
