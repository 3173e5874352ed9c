/* Tags of L1 and L2, and what an access does to them. */
#include "emu/cache.h"

#include "emu/count.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { WAYS = 16, EMPTY = -1 };

struct set {
    _Alignas(64) u32 tag[WAYS];  /* number of the line */
    u64 order;                   /* ways, four bits each, the last used one lowest */
    u8 valid[WAYS], dirty[WAYS]; /* sectors, a bit each; a line without any is not there */
};

struct cache {
    u32 sets;
    struct set *set;
};

struct cache *cache_new(uint32_t bytes)
{
    struct cache *c = malloc(sizeof *c);
    if (!c) abort();
    c->sets = bytes / (WAYS * LINE) ? bytes / (WAYS * LINE) : 1;
    c->set = aligned_alloc(64, c->sets * sizeof *c->set);
    if (!c->set) abort();
    memset(c->set, 0, c->sets * sizeof *c->set);
    for (u32 i = 0; i < c->sets; i++) {
        memset(c->set[i].tag, 0xff, sizeof c->set[i].tag);
        c->set[i].order = UINT64_C(0xfedcba9876543210);
    }
    return c;
}

void cache_free(struct cache *c)
{
    if (c) free(c->set);
    free(c);
}

static struct set *set_of(const struct cache *c, u32 line)
{
    return &c->set[(u64)(line * 0x9e3779b1u) * c->sets >> 32];
}

/* The ways with that tag: bit i. */
static u32 match(const struct set *s, u32 line)
{
#ifdef __SSE2__
    const __m128i want = _mm_set1_epi32((int)line), *t = (const __m128i *)(const void *)s->tag;
    const __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(t[0], want), _mm_cmpeq_epi32(t[1], want)),
                  b = _mm_packs_epi32(_mm_cmpeq_epi32(t[2], want), _mm_cmpeq_epi32(t[3], want));
    return (u32)_mm_movemask_epi8(_mm_packs_epi16(a, b));
#else
    u32 m = 0;
    for (u32 i = 0; i < WAYS; i++) m |= (u32)(s->tag[i] == line) << i;
    return m;
#endif
}

/* Makes a way the last used one. */
static inline void touch(struct set *s, u32 way)
{
    const u64 ones = UINT64_C(0x1111111111111111), x = s->order ^ ones * way;
    const u32 at = (u32)__builtin_ctzll((x - ones) & ~x & ones << 3) & ~3u; /* its place, in bits */
    const u64 below = ((u64)1 << at) - 1;
    s->order = (s->order & ~(below << 4 | 15)) | (s->order & below) << 4 | way;
}

/* The way that holds the line, or the one it gets: then *gone are the dirty sectors that had to go. */
static inline u32 find(struct set *s, u32 line, u32 *gone)
{
    const u32 hit = match(s, line);
    *gone = 0;
    if (hit) {
        const u32 way = (u32)__builtin_ctz(hit);
        if ((s->order & 15) != way) touch(s, way);
        return way;
    }
    const u32 way = (u32)(s->order >> 60);
    s->order = s->order << 4 | way;
    *gone = s->dirty[way];
    s->tag[way] = line;
    s->valid[way] = s->dirty[way] = 0;
    return way;
}

static u32 count4(u32 sectors)
{
    return (u32)(0x4332322132212110 >> sectors * 4) & 7;
}

static inline void load_l2(struct caches *c, struct cache_events *e, struct cache_events *site,
                           u32 line, u32 sectors)
{
    struct set *s = set_of(c->l2, line);
    u32 gone;
    const u32 way = find(s, line, &gone);
    const u32 hits = count4(sectors & s->valid[way]), all = count4(sectors);
    s->valid[way] |= (u8)sectors;
    e->l2_loads += all, site->l2_loads += all;
    e->l2_load_hits += hits, site->l2_load_hits += hits;
    e->dram_reads += all - hits, site->dram_reads += all - hits;
    e->dram_writes += count4(gone);
}

static inline void store_l2(struct caches *c, struct cache_events *e, struct cache_events *site,
                            u32 line, u32 sectors, bool atomic)
{
    struct set *s = set_of(c->l2, line);
    u32 gone;
    const u32 way = find(s, line, &gone), all = count4(sectors);
    if (atomic) {
        const u32 misses = count4(sectors & ~(u32)s->valid[way]);
        e->l2_atomics += all, site->l2_atomics += all;
        e->dram_reads += misses, site->dram_reads += misses;
    } else e->l2_stores += all, site->l2_stores += all;
    s->valid[way] |= (u8)sectors;
    s->dirty[way] |= (u8)sectors;
    e->dram_writes += count4(gone);
}

/* One line's sectors. */
static inline void access_line(struct caches *c, u32 sm, u32 site_number, u32 how, u32 line,
                               u32 sectors)
{
    struct cache_events *e = &c->sm[sm], *site = &c->site[site_number];
    if (how == COUNT_LOAD_L2) {
        load_l2(c, e, site, line, sectors);
        return;
    }
    if (!c->l1[sm]) c->l1[sm] = cache_new(c->l1_bytes);
    struct set *s = set_of(c->l1[sm], line);
    if (how == COUNT_LOAD) {
        u32 gone;
        const u32 way = find(s, line, &gone), misses = sectors & ~(u32)s->valid[way];
        const u32 all = count4(sectors), hits = all - count4(misses);
        s->valid[way] |= (u8)sectors;
        e->l1 += all, site->l1 += all;
        e->l1_hits += hits, site->l1_hits += hits;
        if (misses) load_l2(c, e, site, line, misses);
        return;
    }
    if (how == COUNT_ATOMIC) { /* done in L2: what L1 has is old */
        const u32 hit = match(s, line);
        if (hit) s->valid[__builtin_ctz(hit)] &= (u8)~sectors;
    }
    store_l2(c, e, site, line, sectors, how == COUNT_ATOMIC);
}

/* A note: line in the upper half, then the site, how, and the sectors. */
enum { NOTE_SITES = 1 << 26 };

static void note(struct cache_port *p, u32 site, u32 how, u32 line, u32 sectors)
{
    if (p->now) {
        access_line(p->caches, p->sm, site, how, line, sectors);
        return;
    }
    if (p->count == p->cap) {
        p->cap = p->cap ? 2 * p->cap : 1024;
        p->notes = realloc(p->notes, p->cap * sizeof *p->notes);
        if (!p->notes) abort();
    }
    p->notes[p->count++] = (u64)line << 32 | (site & (NOTE_SITES - 1)) << 6 | how << 4 | sectors;
}

void cache_settle(struct cache_port *p)
{
    for (size_t i = 0; i < p->count; i++) {
        const u64 n = p->notes[i];
        access_line(p->caches, p->sm, (u32)n >> 6, (u32)n >> 4 & 3, (u32)(n >> 32), (u32)n & 15);
    }
    p->count = 0;
}

void cache_run(struct cache_port *p, uint32_t site, uint32_t how, uint32_t first, uint32_t last)
{
    for (u32 line = first / 4; line <= last / 4; line++) {
        u32 sectors = 15;
        if (line == first / 4) sectors &= 15u << first % 4;
        if (line == last / 4) sectors &= 15u >> (3 - last % 4);
        note(p, site, how, line, sectors);
    }
}

void cache_sectors(struct cache_port *p, uint32_t site, uint32_t how, const uint32_t *sector,
                   uint32_t mask)
{
    while (mask) { /* lanes side by side often share a line */
        const u32 line = sector[__builtin_ctz(mask)] / 4;
        u32 sectors = 0;
        for (; mask && sector[__builtin_ctz(mask)] / 4 == line; mask &= mask - 1)
            sectors |= 1u << sector[__builtin_ctz(mask)] % 4;
        note(p, site, how, line, sectors);
    }
}
