/* emu/measure/cache.h: a functional model of a GPU's caches: which sectors hit, without times.
 *
 * Each SM has an L1, and all SMs share an L2. Both have lines of 128 bytes with sectors of 32
 * bytes, 16 ways (L2: fewer, if the GPU has fewer), least-recently-used replacement, and sets that
 * are chosen by a hash of the line. L1 holds loads; it is write-through and does not allocate on a
 * store. Atomics, and loads that bypass L1, go to L2. L2 is write-back and allocates on every
 * access. L1 is empty at the start of a launch; L2 keeps its contents between launches.
 *
 * The accesses of CTAs are applied to the caches one CTA after another, in linear order, each in program order.
 * Accesses become requests in the CTA's port. They are executed at the CTA's turn; requests of a CTA that runs earlier,
 * on another host thread, wait. So the counts do not depend on the number of host threads. */
#ifndef HEDDLE_EMU_MEASURE_CACHE_H
#define HEDDLE_EMU_MEASURE_CACHE_H

#include "emu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_WAYS = 16, CACHE_BATCH = 64 /* number of lines that are looked up together */ };

struct cache_set {
    _Alignas(128) uint32_t tag[CACHE_WAYS]; /* number of the line */
    uint16_t older[CACHE_WAYS];             /* bit j of way i: way j was used before it */
    /* Low bits: mask of valid sectors; above them: mask of dirty sectors. Without valid sectors the way is empty. */
    uint8_t state[CACHE_WAYS];
};
struct cache {
    uint32_t sets, ways;
    struct cache_set *set;
};

struct cache_events { /* sectors */
#define CACHE(field, name, text) uint64_t field;
#include "emu/counts.def"
};

/* A request, one for each line that an access touches: number of the line, site, enum count_how,
 * mask of sectors. */
#define CACHE_REQUEST(site, how, line, sectors)                                                    \
    ((uint64_t)(line) << 32 | ((site)&0x3ffffff) << 6 | (how) << 4 | (sectors))
#define CACHE_REQUEST_LINE(request) ((uint32_t)((request) >> 32))
#define CACHE_REQUEST_SITE(request) ((uint32_t)(request) >> 6 & 0xffffff)
#define CACHE_REQUEST_HOW(request) ((uint32_t)(request) >> 4 & 3)
#define CACHE_REQUEST_SECTORS(request) ((uint32_t)(request)&15)

/* Flags of a request, above the bits of all sites. TRACED: the access is also traced. UNCACHED: the access bypasses the
 * caches (.local memory; always traced). */
#define CACHE_REQUEST_TRACED (UINT64_C(1) << 31)
#define CACHE_REQUEST_UNCACHED (UINT64_C(1) << 30)

struct caches;
struct trace_line;
/* Executes the requests. `traced`: receives a trace_line for each request; NULL: not traced. */
typedef void cache_carry_out(struct caches *c, uint32_t sm, uint64_t *requests, size_t count,
                             struct trace_line *traced);
struct cache;
/* The host writes sectors first .. last: they are brought into L2. */
typedef void cache_fill(struct cache *l2, uint32_t first, uint32_t last);

struct caches { /* the caches of a launch */
    const struct emu_gpu *gpu;
    uint32_t l1_bytes; /* size of L1 without the part that is shared memory */
    uint32_t sms;
    struct cache **l1;              /* L1 of each SM, kept between launches; NULL: not used yet */
    bool *l1_begun;                 /* for each SM: its L1 was emptied for this launch */
    struct cache *l2;               /* the device's */
    struct cache_events *sm, *site; /* events of each SM, and of each site */
    uint32_t site_count;
    /* requests of atomics, by trace_atomic_bucket of the line; NULL: not counted */
    uint64_t *atomics;
    cache_carry_out *carry_out; /* compiled for this host: simd_cache.c */
};

/* Returns an empty cache. ways 0 or above CACHE_WAYS: CACHE_WAYS. */
struct cache *cache_new(uint32_t bytes, uint32_t ways);
void cache_free(struct cache *c); /* NULL is allowed */
void cache_begin_l1(struct caches *c, uint32_t sm);

/* The requests of one CTA that are not yet executed. */
struct cache_port {
    struct caches *caches;
    struct trace_cta *trace; /* gets the results of traced requests; NULL: none */
    uint32_t sm;
    /* it is the CTA's turn: requests are executed as soon as there are CACHE_BATCH */
    bool now;
    uint64_t *requests; /* malloc'd */
    size_t count, cap;
};
/* Executes the port's requests. */
void cache_resolve(struct cache_port *p);

/* Appends requests that were made elsewhere; the array has capacity for one more. */
void cache_append(struct cache_port *p, uint64_t *requests, size_t count);

void cache_grow(struct cache_port *p);
/* Memory for the next requests, at most 32; the array has capacity for 32 more. */
static inline uint64_t *cache_reserve(struct cache_port *p)
{
    if (p->cap - p->count < 64) cache_grow(p);
    return &p->requests[p->count];
}
static inline void cache_queued(struct cache_port *p, size_t count)
{
    p->count += count;
    if (p->now && p->count >= CACHE_BATCH) cache_resolve(p);
}
/* An access to sectors first .. last (numbered from the start of global memory). `as`: the request's bits without line
 * and sectors. Returns the number of requests. */
size_t cache_run(struct cache_port *p, uint64_t as, uint32_t first, uint32_t last);

#endif
