/* Sets of bytes: ranges of copies and fills, and pages of bits for what kernels touch. */
#include "cuda/touched.h"

#include "emu/order.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, WORDS = PAGE / 64 };

struct range {
    uint64_t from, to;
    enum touched_how how;
};
struct page {
    uint64_t number; /* address / PAGE */
    uint64_t bits[TOUCHED_WAYS][WORDS];
};
struct touched {
    struct emu_observer observer;
    struct range *ranges;
    size_t range_count, range_room;
    struct page **pages; /* a table with holes, of page_room places: a power of two */
    size_t page_count, page_room;
    struct page *last;
};

/* ---- sets ------------------------------------------------------------------------------------------- */

void touched_free(struct touched *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->page_room; i++) free(t->pages[i]);
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
    if (t->range_count == t->range_room) {
        t->range_room = t->range_room ? 2 * t->range_room : 4;
        t->ranges = realloc(t->ranges, t->range_room * sizeof *t->ranges);
        if (!t->ranges) abort();
    }
    t->ranges[t->range_count++] = (struct range){address, address + size, how};
}

static size_t place_of(const struct touched *t, uint64_t number)
{
    size_t i = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->page_room - 1);
    while (t->pages[i] && t->pages[i]->number != number) i = (i + 1) & (t->page_room - 1);
    return i;
}

static struct page *find_page(const struct touched *t, uint64_t number)
{
    return t->page_room ? t->pages[place_of(t, number)] : NULL;
}

static void grow(struct touched *t)
{
    struct page **old = t->pages;
    const size_t room = t->page_room;
    t->page_room = room ? 2 * room : 16;
    t->pages = calloc(t->page_room, sizeof *t->pages);
    if (!t->pages) abort();
    for (size_t i = 0; i < room; i++)
        if (old[i]) t->pages[place_of(t, old[i]->number)] = old[i];
    free((void *)old);
}

static struct page *page_at(struct touched *t, uint64_t number)
{
    if (t->last && t->last->number == number) return t->last;
    if (2 * t->page_count >= t->page_room) grow(t);
    const size_t i = place_of(t, number);
    if (!t->pages[i]) {
        t->pages[i] = calloc(1, sizeof *t->pages[i]);
        if (!t->pages[i]) abort();
        t->pages[i]->number = number;
        t->page_count++;
    }
    return t->last = t->pages[i];
}

static void touch(struct touched *t, uint64_t address, uint32_t size, enum touched_how how)
{
    while (size) {
        const uint32_t at = (uint32_t)(address % PAGE), bit = at % 64;
        const uint32_t n = size < 64 - bit ? size : 64 - bit;
        const uint64_t mask = UINT64_MAX >> (64 - n) << bit;
        page_at(t, address / PAGE)->bits[how][at / 64] |= mask;
        address += n;
        size -= n;
    }
}

static void access(void *self, const struct emu_access *a)
{
    if (a->space != PTX_SPACE_GLOBAL) return;
    const enum touched_how how = a->kind == EMU_LOAD
                                     ? a->flags & EMU_RELAXED ? TOUCHED_ATOMIC : TOUCHED_READ
                                 : a->kind == EMU_STORE && !(a->flags & EMU_RELAXED)
                                     ? TOUCHED_WRITE
                                     : TOUCHED_ATOMIC;
    for (uint32_t m = a->lanes; m; m &= m - 1)
        touch(self, a->address[__builtin_ctz(m)], (uint32_t)a->width * a->count, how);
}

struct touched *touched_new(void)
{
    struct touched *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->observer = (struct emu_observer){.self = t, .blind = true, .access = access};
    return t;
}

const struct emu_observer *touched_observer(struct touched *t)
{
    return &t->observer;
}

/* ---- where two sets meet ---------------------------------------------------------------------------- */

static bool conflict(enum touched_how a, enum touched_how b)
{
    return a == TOUCHED_WRITE || b == TOUCHED_WRITE || a != b;
}

static int writes(enum touched_how one, enum touched_how other)
{
    return (one == TOUCHED_WRITE) + (other == TOUCHED_WRITE);
}

static void meet(struct touched_meeting *out, bool *any, uint64_t address, enum touched_how one,
                 enum touched_how other)
{
    if (*any && (out->address < address ||
                 (out->address == address && writes(out->one, out->other) >= writes(one, other))))
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
static uint64_t first_in(const struct page *p, enum touched_how how, uint64_t from, uint64_t to)
{
    const uint64_t base = p->number * PAGE;
    for (uint32_t w = 0; w < WORDS; w++)
        for (uint64_t m = p->bits[how][w]; m; m &= m - 1) {
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
        for (size_t k = 0; k < pages->page_room; k++) {
            const struct range *x = &ranges->ranges[i];
            const struct page *p = pages->pages[k];
            if (!p || p->number * PAGE >= x->to || (p->number + 1) * PAGE <= x->from) continue;
            for (enum touched_how how = 0; how < TOUCHED_WAYS; how++) {
                const uint64_t at = conflict(x->how, how) ? first_in(p, how, x->from, x->to)
                                                          : UINT64_MAX;
                if (at != UINT64_MAX)
                    meet(out, any, at, swapped ? how : x->how, swapped ? x->how : how);
            }
        }
}

static void meet_pages(const struct page *x, const struct page *y, struct touched_meeting *out,
                       bool *any)
{
    for (uint32_t w = 0; w < WORDS; w++)
        for (enum touched_how a = 0; a < TOUCHED_WAYS; a++)
            for (enum touched_how b = 0; b < TOUCHED_WAYS; b++) {
                const uint64_t m = conflict(a, b) ? x->bits[a][w] & y->bits[b][w] : 0;
                if (m)
                    meet(out, any, x->number * PAGE + 64 * w + (unsigned)__builtin_ctzll(m), a, b);
            }
}

bool touched_meet(const struct touched *one, const struct touched *other,
                  struct touched_meeting *out)
{
    bool any = false;
    meet_ranges(one, other, out, &any);
    meet_range_and_pages(one, other, false, out, &any);
    meet_range_and_pages(other, one, true, out, &any);
    for (size_t i = 0; i < one->page_room; i++) {
        const struct page *p = one->pages[i], *q = p ? find_page(other, p->number) : NULL;
        if (q) meet_pages(p, q, out, &any);
    }
    return any;
}
