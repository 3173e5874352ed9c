/* determinism/race/strong_log.h: the last strong accesses of a memory, in their order.
 *
 * The race detector looks here, when two accesses would race, for a strong read that has observed
 * the write (cells.h, "observation order"). That is rare, and strong accesses are frequent: so an
 * access is only appended, and the search does the work. The log is a ring: the oldest entries are
 * lost. The entries of one bucket of addresses are linked, the newest first. A read is not appended
 * again if its thread has read the place with the same instruction since the last write there. */
#ifndef HEDDLE_DETERMINISM_RACE_STRONG_LOG_H
#define HEDDLE_DETERMINISM_RACE_STRONG_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRONG_BUCKETS = 1024, STRONG_READS = 1024 };
struct strong_log {
    struct strong_entry {
        uint64_t at;     /* address of the first byte */
        uint32_t who;    /* a tag (history.h) */
        uint32_t before; /* number of the bucket's entry before it; 0: none */
    } * list;            /* entry n is list[n % size]. Numbers start at 1 */
    uint32_t count, first,
        size; /* those from `first` to `count` are valid, if at most `size` ago */
    struct strong_bucket {
        uint32_t last, last_write; /* entries */
    } * buckets;
    struct strong_read {
        uint64_t at;
        uint32_t who, entry;
    } * reads; /* a cache of what has been read, by address and tag */
};

void strong_log_begin(struct strong_log *g, uint32_t size); /* size: a power of two */
void strong_log_forget(struct strong_log *g);               /* all entries */
void strong_log_end(struct strong_log *g);

static inline uint32_t strong_hash(uint64_t at, uint32_t who)
{
    return (uint32_t)((at / 2 ^ (uint64_t)who << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

/* An entry, or NULL if it is lost. */
static inline const struct strong_entry *strong_log_entry(const struct strong_log *g, uint32_t n)
{
    return n >= g->first && n && g->count - n < g->size ? &g->list[n % g->size] : NULL;
}

static inline uint32_t strong_log_last(const struct strong_log *g, uint64_t at)
{
    return g->buckets ? g->buckets[strong_hash(at, 0) % STRONG_BUCKETS].last : 0;
}

void strong_log_start(struct strong_log *g); /* allocates it */
static inline void strong_log_add(struct strong_log *g, uint64_t at, uint32_t who, bool writes)
{
    if (!g->buckets) strong_log_start(g);
    if (g->count == UINT32_MAX) return;
    struct strong_bucket *b = &g->buckets[strong_hash(at, 0) % STRONG_BUCKETS];
    const uint32_t n = g->count + 1;
    if (!writes) {
        struct strong_read *r = &g->reads[strong_hash(at, who) % STRONG_READS];
        if (r->at == at && r->who == who && r->entry > b->last_write && r->entry >= g->first &&
            g->count - r->entry < g->size)
            return;
        *r = (struct strong_read){at, who, n};
    } else b->last_write = n;
    g->list[n % g->size] = (struct strong_entry){at, who, b->last};
    b->last = g->count = n;
}

#endif
