/* Caches: creation, and the requests of CTAs in linear order. */
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
    p->requests = realloc(p->requests, p->cap * sizeof *p->requests);
    if (!p->requests) abort();
}

/* Some are not for the trace, or for no cache. */
static void resolve_mixed(struct cache_port *p, const u64 *requests, size_t count)
{
    struct trace_cta *t = p->trace;
    u64 some[CACHE_BATCH + 1];
    struct trace_line traced[CACHE_BATCH];
    u32 to[CACHE_BATCH]; /* its place in the trace, from 1 on */
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const u64 request = requests[i];
        if (!(request & CACHE_REQUEST_UNCACHED)) {
            some[n] = request;
            to[n++] = request & CACHE_REQUEST_TRACED ? ++t->resolved : 0;
            continue;
        }
        const u32 sectors = CACHE_REQUEST_SECTORS(request);
        t->lines[t->resolved++] = (struct trace_line){.line = CACHE_REQUEST_LINE(request),
                                                      .sectors = (u8)sectors,
                                                      .how = TRACE_UNCACHED,
                                                      .from_l2 = (u8)__builtin_popcount(sectors)};
    }
    if (n) p->caches->carry_out(p->caches, p->sm, some, n, traced);
    for (size_t i = 0; i < n; i++)
        if (to[i]) t->lines[to[i] - 1] = traced[i];
}

static void resolve_traced(struct cache_port *p, u64 *requests, size_t count)
{
    struct trace_cta *t = p->trace;
    for (size_t n; count; requests += n, count -= n) {
        u64 all = CACHE_REQUEST_TRACED, some = 0;
        n = count < CACHE_BATCH ? count : CACHE_BATCH;
        for (size_t i = 0; i < n; i++) all &= requests[i], some |= requests[i];
        if (!(some & (CACHE_REQUEST_TRACED | CACHE_REQUEST_UNCACHED))) {
            p->caches->carry_out(p->caches, p->sm, requests, n, NULL);
            continue;
        }
        trace_reserve_lines(t, t->resolved + (u32)n);
        if (!all || some & CACHE_REQUEST_UNCACHED) {
            resolve_mixed(p, requests, n);
            continue;
        }
        p->caches->carry_out(p->caches, p->sm, requests, n, &t->lines[t->resolved]);
        t->resolved += (u32)n;
    }
}

void cache_resolve(struct cache_port *p)
{
    if (p->count && p->trace) resolve_traced(p, p->requests, p->count);
    else if (p->count) p->caches->carry_out(p->caches, p->sm, p->requests, p->count, NULL);
    p->count = 0;
}

void cache_append(struct cache_port *p, u64 *requests, size_t count)
{
    if (p->now && count >= CACHE_BATCH / 2) { /* from where they are */
        cache_resolve(p);
        resolve_traced(p, requests, count);
    } else if (count) {
        while (p->cap - p->count < count + 1) cache_grow(p);
        memcpy(&p->requests[p->count], requests, count * sizeof *requests);
        cache_queued(p, count);
    }
}

size_t cache_run(struct cache_port *p, uint64_t as, uint32_t first, uint32_t last)
{
    for (u32 line = first / 4; line <= last / 4; line++) {
        u32 sectors = 15;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        *cache_reserve(p) = as | (u64)line << 32 | sectors;
        cache_queued(p, 1);
    }
    return last / 4 - first / 4 + 1;
}
