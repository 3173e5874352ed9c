/* Caches: made, and given the accesses of CTAs in their turn. */
#include "emu/cache.h"

#include "emu/count.h"
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

void cache_trace(struct cache_port *p, size_t count)
{
    if (p->trace->off) return;
    for (uint64_t *n = &p->notes[p->count]; count--; n++) {
        trace_note(p->trace, (struct trace_note){.line = CACHE_NOTE_LINE(*n),
                                                 .sectors = (u8)CACHE_NOTE_SECTORS(*n),
                                                 .how = (u8)CACHE_NOTE_HOW(*n)});
        *n |= CACHE_NOTE_TRACED;
    }
}

/* One by one, to see what each comes to. */
static void settle_traced(struct cache_port *p)
{
    struct trace_cta *t = p->trace;
    for (size_t i = 0; i < p->count; i++) {
        const struct cache_events *e = &p->caches->sm[p->sm], was = *e;
        const bool traced = p->notes[i] & CACHE_NOTE_TRACED;
        p->notes[i] &= ~CACHE_NOTE_TRACED;
        p->caches->carry_out(p->caches, p->sm, &p->notes[i], 1);
        if (!traced) continue;
        while (t->notes[t->settled].how == TRACE_AROUND) t->settled++;
        struct trace_note *n = &t->notes[t->settled++];
        n->from_l2 = (u8)(e->l2_loads - was.l2_loads + (e->l2_atomics - was.l2_atomics));
        n->from_dram = (u8)(e->dram_reads - was.dram_reads);
    }
}

void cache_settle(struct cache_port *p)
{
    if (p->count && p->trace) settle_traced(p);
    else if (p->count) p->caches->carry_out(p->caches, p->sm, p->notes, p->count);
    p->count = 0;
}

void cache_run(struct cache_port *p, uint32_t site, uint32_t how, uint32_t first, uint32_t last)
{
    for (u32 line = first / 4; line <= last / 4; line++) {
        u32 sectors = 15;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        *cache_room(p) = CACHE_NOTE(site, how, line, sectors);
        cache_noted(p, 1);
    }
}
