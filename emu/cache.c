/* Caches: made, and given the accesses of CTAs in their turn. */
#include "emu/cache.h"

#include "emu/count.h"

#include <stdlib.h>
#include <string.h>

static u32 sets_of(u32 bytes)
{
    return bytes / (CACHE_WAYS * LINE) ? bytes / (CACHE_WAYS * LINE) : 1;
}

static void clear(struct cache *c)
{
    struct cache_set empty = {0};
    for (u32 i = 0; i < CACHE_WAYS; i++) {
        empty.tag[i] = UINT32_MAX;
        empty.older[i] = (u16)((1u << i) - 1);
    }
    for (u32 i = 0; i < c->sets; i++) c->set[i] = empty;
}

struct cache *cache_new(uint32_t bytes)
{
    struct cache *c = malloc(sizeof *c);
    if (!c) abort();
    c->sets = sets_of(bytes);
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
    if (*l1 && (*l1)->sets == sets_of(c->l1_bytes)) clear(*l1);
    else {
        cache_free(*l1);
        *l1 = cache_new(c->l1_bytes);
    }
    c->l1_begun[sm] = true;
}

/* A note: the site, how and the number of lines; the lines. */
static void note(struct cache_port *p, u32 site, u32 how, const u64 *lines, u32 n)
{
    if (p->cap - p->count < n + 1) {
        p->cap = 2 * p->cap + 1024;
        p->notes = realloc(p->notes, p->cap * sizeof *p->notes);
        if (!p->notes) abort();
    }
    p->notes[p->count++] = (u64)site << 32 | how << 16 | n;
    memcpy(&p->notes[p->count], lines, n * sizeof *lines);
    p->count += n;
}

void cache_settle(struct cache_port *p)
{
    for (size_t i = 0; i < p->count;) {
        const u64 head = p->notes[i++];
        const u32 n = head & 0xffff;
        p->caches->lines(p->caches, p->sm, (u32)(head >> 32), head >> 16 & 0xffff, &p->notes[i], n);
        i += n;
    }
    p->count = 0;
}

void cache_access(struct cache_port *p, uint32_t site, uint32_t how, const uint64_t *lines,
                  uint32_t n)
{
    if (p->now) p->caches->lines(p->caches, p->sm, site, how, lines, n);
    else note(p, site, how, lines, n);
}

void cache_run(struct cache_port *p, uint32_t site, uint32_t how, uint32_t first, uint32_t last)
{
    u64 lines[CACHE_BATCH];
    u32 n = 0;
    for (u32 line = first / 4; line <= last / 4; line++) {
        u32 sectors = 15;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        lines[n++] = CACHE_LINE(line, sectors);
        if (n < CACHE_BATCH && line < last / 4) continue;
        cache_access(p, site, how, lines, n);
        n = 0;
    }
}
