/* Caches: made, and given the accesses of CTAs in their turn. */
#include "emu/measure/cache.h"

#include "emu/measure/count.h"
#include "emu/trace.h"

#include <stdlib.h>
#include <string.h>

static u32 sets_of(u32 bytes, u32 ways)
{
    return bytes / (ways * LINE) ? bytes / (ways * LINE) : 1;
}

static void clear(struct cache *c)
{
    struct cache_set empty = {0};
    for (u32 i = 0; i < CACHE_WAYS; i++) {
        empty.tag[i] = UINT32_MAX;
        /* One that is not there never becomes the oldest: only its own use would clear the bit. */
        empty.older[i] = (u16)(i < c->ways ? (1u << i) - 1 : 1u << i);
    }
    for (u32 i = 0; i < c->sets; i++) c->set[i] = empty;
}

struct cache *cache_new(uint32_t bytes, uint32_t ways)
{
    struct cache *c = malloc(sizeof *c);
    if (!c) abort();
    c->ways = ways && ways < CACHE_WAYS ? ways : CACHE_WAYS;
    c->sets = sets_of(bytes, c->ways);
    c->set = aligned_alloc(_Alignof(struct cache_set), c->sets * sizeof *c->set);
    if (!c->set) abort();
    clear(c);
    return c;
}

void cache_free(struct cache *c)
{
    if (c) free(c->set);
    free(c);
}

void cache_begin_l1(struct caches *c, uint32_t sm)
{
    struct cache **l1 = &c->l1[sm];
    if (*l1 && (*l1)->sets == sets_of(c->l1_bytes, CACHE_WAYS)) clear(*l1);
    else {
        cache_free(*l1);
        *l1 = cache_new(c->l1_bytes, CACHE_WAYS);
    }
    c->l1_begun[sm] = true;
}

void cache_grow(struct cache_port *p)
{
    p->cap = p->cap ? 2 * p->cap : 4 * CACHE_BATCH;
    p->notes = realloc(p->notes, p->cap * sizeof *p->notes);
    if (!p->notes) abort();
}

/* Some are not for the trace, or for no cache. */
static void settle_mixed(struct cache_port *p, const u64 *notes, size_t count)
{
    struct trace_cta *t = p->trace;
    u64 some[CACHE_BATCH + 1];
    struct trace_note told[CACHE_BATCH];
    u32 to[CACHE_BATCH]; /* its place in the trace, from 1 on */
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const u64 note = notes[i];
        if (!(note & CACHE_NOTE_AROUND)) {
            some[n] = note;
            to[n++] = note & CACHE_NOTE_TRACED ? ++t->settled : 0;
            continue;
        }
        const u32 sectors = CACHE_NOTE_SECTORS(note);
        t->notes[t->settled++] = (struct trace_note){.line = CACHE_NOTE_LINE(note),
                                                     .sectors = (u8)sectors,
                                                     .how = TRACE_AROUND,
                                                     .from_l2 = (u8)__builtin_popcount(sectors)};
    }
    if (n) p->caches->carry_out(p->caches, p->sm, some, n, told);
    for (size_t i = 0; i < n; i++)
        if (to[i]) t->notes[to[i] - 1] = told[i];
}

static void settle_traced(struct cache_port *p, u64 *notes, size_t count)
{
    struct trace_cta *t = p->trace;
    for (size_t n; count; notes += n, count -= n) {
        u64 all = CACHE_NOTE_TRACED, some = 0;
        n = count < CACHE_BATCH ? count : CACHE_BATCH;
        trace_room_for_notes(t, t->settled + (u32)n);
        for (size_t i = 0; i < n; i++) all &= notes[i], some |= notes[i];
        if (!all || some & CACHE_NOTE_AROUND) {
            settle_mixed(p, notes, n);
            continue;
        }
        p->caches->carry_out(p->caches, p->sm, notes, n, &t->notes[t->settled]);
        t->settled += (u32)n;
    }
}

void cache_settle(struct cache_port *p)
{
    if (p->count && p->trace) settle_traced(p, p->notes, p->count);
    else if (p->count) p->caches->carry_out(p->caches, p->sm, p->notes, p->count, NULL);
    p->count = 0;
}

void cache_take(struct cache_port *p, u64 *notes, size_t count)
{
    if (p->now && count >= CACHE_BATCH / 2) { /* from where they are */
        cache_settle(p);
        settle_traced(p, notes, count);
    } else if (count) {
        while (p->cap - p->count < count + 1) cache_grow(p);
        memcpy(&p->notes[p->count], notes, count * sizeof *notes);
        cache_noted(p, count);
    }
}

size_t cache_run(struct cache_port *p, uint64_t as, uint32_t first, uint32_t last)
{
    for (u32 line = first / 4; line <= last / 4; line++) {
        u32 sectors = 15;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        *cache_room(p) = as | (u64)line << 32 | sectors;
        cache_noted(p, 1);
    }
    return last / 4 - first / 4 + 1;
}
