/* emu/cache.h: a functional model of a GPU's caches: which sectors hit, not when.
 *
 * Each SM has an L1, all share an L2, both of 128-byte lines with 32-byte sectors, 16 ways, least
 * recently used, their sets chosen by a hash of the line. L1 takes loads, is written through and gives a
 * stored sector no place; atomics and loads that ask for it go to L2. L2 takes everything and writes back
 * what is dirty when it gives a line up. L1 begins each launch empty, L2 stays between launches.
 *
 * CTAs go through the caches one after the other, in linear order, each with its accesses as it makes
 * them. A CTA that runs before its turn (on another host thread) notes what it accesses, and the notes
 * are carried out in its turn: so the numbers do not depend on the number of threads. */
#ifndef HEDDLE_EMU_CACHE_H
#define HEDDLE_EMU_CACHE_H

#include "emu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CACHE_WAYS = 16, CACHE_BATCH = 32 /* lines that are looked up together, at most */ };

struct cache_set {
    _Alignas(128) uint32_t tag[CACHE_WAYS]; /* number of the line */
    uint16_t older[CACHE_WAYS];             /* bit j of way i: way j was used before it */
    uint8_t
        state[CACHE_WAYS]; /* valid sectors, a bit each, above them which of them are dirty; a line
                                * without any is not there */
};
struct cache {
    uint32_t sets;
    struct cache_set *set;
};

struct cache_events { /* sectors */
#define CACHE(field, name, text) uint64_t field;
#include "emu/counts.def"
};

/* Part of an access: the number of a line below, its sectors from bit 32, a bit each. */
#define CACHE_LINE(line, sectors) ((uint64_t)(sectors) << 32 | (line))

struct caches;
typedef void cache_lines(struct caches *c, uint32_t sm, uint32_t site, uint32_t how,
                         const uint64_t *lines, uint32_t n);

struct caches { /* of a launch */
    const struct emu_gpu *gpu;
    uint32_t l1_bytes; /* what shared memory leaves of it */
    uint32_t sms;
    struct cache **l1;              /* by SM, kept between launches; NULL: not used yet */
    bool *l1_begun;                 /* by SM: it was emptied for this launch */
    struct cache *l2;               /* the device's */
    struct cache_events *sm, *site; /* by SM, by site */
    uint32_t site_count;
    cache_lines *lines; /* one access, compiled for this host: CACHE_BATCH lines at most */
};

struct cache *cache_new(uint32_t bytes); /* empty */
void cache_free(struct cache *c);        /* NULL is allowed */
void cache_begin_l1(struct caches *c, uint32_t sm);

/* What the loads, stores and atomics of one CTA go through. */
struct cache_port {
    struct caches *caches;
    uint32_t sm;
    bool now;        /* it is the CTA's turn; else accesses are noted */
    uint64_t *notes; /* malloc'd */
    size_t count, cap;
};
/* Carries out what was noted. */
void cache_settle(struct cache_port *p);

/* One access; `how`: enum count_how. */
void cache_access(struct cache_port *p, uint32_t site, uint32_t how, const uint64_t *lines,
                  uint32_t n);
/* To sectors first .. last (numbers from the beginning of global memory). */
void cache_run(struct cache_port *p, uint32_t site, uint32_t how, uint32_t first, uint32_t last);

#endif
