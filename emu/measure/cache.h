/* emu/measure/cache.h: a functional model of a GPU's caches: which sectors hit, not when.
 *
 * Each SM has an L1, all share an L2, both of 128-byte lines with 32-byte sectors, 16 ways (L2: fewer, if the
 * GPU has fewer), least recently used, their sets chosen by a hash of the line. L1 takes loads, is written through and gives a
 * stored sector no place; atomics and loads that ask for it go to L2. L2 takes everything and writes back
 * what is dirty when it gives a line up. L1 begins each launch empty, L2 stays between launches.
 *
 * CTAs go through the caches one after the other, in linear order, each with its accesses as it makes
 * them. Accesses are noted, and carried out in the CTA's turn; if it runs before (on another host thread)
 * all of them wait. So the numbers do not depend on the number of threads. */
#ifndef HEDDLE_EMU_MEASURE_CACHE_H
#define HEDDLE_EMU_MEASURE_CACHE_H

#include "emu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_WAYS = 16, CACHE_BATCH = 64 /* lines that are looked up together */ };

struct cache_set {
    _Alignas(128) uint32_t tag[CACHE_WAYS]; /* number of the line */
    uint16_t older[CACHE_WAYS];             /* bit j of way i: way j was used before it */
    uint8_t
        state[CACHE_WAYS]; /* valid sectors, a bit each, above them which of them are dirty; a line
                                * without any is not there */
};
struct cache {
    uint32_t sets, ways;
    struct cache_set *set;
};

struct cache_events { /* sectors */
#define CACHE(field, name, text) uint64_t field;
#include "emu/counts.def"
};

/* What is noted of an access, one for each line: the line's number, the site, how (enum count_how), the
 * sectors, a bit each. */
#define CACHE_NOTE(site, how, line, sectors)                                                       \
    ((uint64_t)(line) << 32 | ((site)&0x3ffffff) << 6 | (how) << 4 | (sectors))
#define CACHE_NOTE_LINE(note) ((uint32_t)((note) >> 32))
#define CACHE_NOTE_SITE(note) ((uint32_t)(note) >> 6 & 0xffffff)
#define CACHE_NOTE_HOW(note) ((uint32_t)(note) >> 4 & 3)
#define CACHE_NOTE_SECTORS(note) ((uint32_t)(note)&15)

/* In those of an access that a trace has, too; and of these in those that no cache is asked for: .local memory. There are
 * fewer sites than that. */
#define CACHE_NOTE_TRACED (UINT64_C(1) << 31)
#define CACHE_NOTE_AROUND (UINT64_C(1) << 30)

struct caches;
struct trace_note;
/* `told`: as many notes of a trace, what each came to; NULL: nobody asks. */
typedef void cache_carry_out(struct caches *c, uint32_t sm, uint64_t *notes, size_t count,
                             struct trace_note *told);
struct cache;
/* Sectors first .. last are written to L2 by nobody's SM. */
typedef void cache_fill(struct cache *l2, uint32_t first, uint32_t last);

struct caches { /* of a launch */
    const struct emu_gpu *gpu;
    uint32_t l1_bytes; /* what shared memory leaves of it */
    uint32_t sms;
    struct cache **l1;              /* by SM, kept between launches; NULL: not used yet */
    bool *l1_begun;                 /* by SM: it was emptied for this launch */
    struct cache *l2;               /* the device's */
    struct cache_events *sm, *site; /* by SM, by site */
    uint32_t site_count;
    cache_carry_out *carry_out; /* compiled for this host: simd_cache.c */
};

struct cache *cache_new(uint32_t bytes,
                        uint32_t ways); /* empty; 0 or more than CACHE_WAYS: these */
void cache_free(struct cache *c);       /* NULL is allowed */
void cache_begin_l1(struct caches *c, uint32_t sm);

/* What the loads, stores and atomics of one CTA go through. */
struct cache_port {
    struct caches *caches;
    struct trace_cta *trace; /* that is told of its notes what they came to; NULL: none */
    uint32_t sm;
    bool now;        /* it is the CTA's turn: notes are carried out when there are CACHE_BATCH */
    uint64_t *notes; /* malloc'd */
    size_t count, cap;
};
/* Carries out what was noted. */
void cache_settle(struct cache_port *p);

/* Notes that were made elsewhere; there is room for one behind them. */
void cache_take(struct cache_port *p, uint64_t *notes, size_t count);

void cache_grow(struct cache_port *p);
/* Where the next notes go: room for 32, and as much again behind them. */
static inline uint64_t *cache_room(struct cache_port *p)
{
    if (p->cap - p->count < 64) cache_grow(p);
    return &p->notes[p->count];
}
static inline void cache_noted(struct cache_port *p, size_t count)
{
    p->count += count;
    if (p->now && p->count >= CACHE_BATCH) cache_settle(p);
}
/* An access to sectors first .. last (numbers from the beginning of global memory); `as`: a note but for line and
 * sectors. How many notes that were. */
size_t cache_run(struct cache_port *p, uint64_t as, uint32_t first, uint32_t last);

#endif
