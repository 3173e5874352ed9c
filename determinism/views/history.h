/* determinism/views/history.h: the writes to a sector of memory, in coherence order, that some thread may still read.
 *
 * A sector is 32 bytes of global memory or of the shared memory of a CTA. Its history has a base, which is what was there
 * before, and messages: each the bytes that one instruction of one warp wrote, in coherence order, the newest last. Memory
 * has the values after the newest message; every other message keeps a copy of the whole sector after it.
 *
 *     struct history *h = histories_find(&all, key);           // NULL: everyone reads memory
 *     if (!h) h = histories_add(&all, key, memory, now);
 *     struct message *m = history_push(&all, h, memory);       // before the bytes change: the newest message
 *
 * A history may be dropped at any time: then every thread reads memory, which the model always allows. The table is of a
 * fixed size; a sector that needs the place of another one drops that one. */
#ifndef HEDDLE_DETERMINISM_VIEWS_HISTORY_H
#define HEDDLE_DETERMINISM_VIEWS_HISTORY_H

#include "determinism/views/view.h"

#include <stddef.h>

enum {
    SECTOR_BYTES = 32,
    HISTORY_DEPTH = 6,    /* messages, with the base */
    HISTORY_COUNT = 4096, /* sectors; a power of two */
};
#define HISTORY_NOBODY UINT32_MAX /* the writer of a base */

struct message {
    uint64_t born;    /* unique */
    uint64_t visible; /* until that access, threads that need not see it do not: a late store */
    uint64_t access;  /* of its instruction */
    uint32_t writer, cta, order; /* order: among the writer's stores and atomics, from 1 on */
    uint32_t bytes;              /* of the sector */
    bool is_strong, is_wide /* its scope is more than the CTA */, is_atomic;
    bool reads_old; /* an atomic that has read an older message than the one before it */
    bool is_blind;  /* it does not depend on what was there before, nor does the thread */
    struct publication *published; /* NULL: nothing */
    uint8_t data[SECTOR_BYTES];    /* the sector after it; of the newest one undefined */
};
struct history {
    uint32_t count;
    struct message messages[HISTORY_DEPTH];
};
struct histories {
    uint64_t keys[HISTORY_COUNT]; /* 0: free */
    struct history *table;
    uint32_t used;
    uint64_t lost; /* the last time that a history with publications was dropped */
    bool replaced; /* a sector has taken the place of another one */
    struct publication_pool pool;
};

void histories_begin(struct histories *all); /* with none */
void histories_free(struct histories *all);

static inline uint32_t histories_index(uint64_t key)
{
    return (uint32_t)(key ^ key >> 11 ^ key >> 22 ^ key >> 33) % HISTORY_COUNT;
}
static inline struct history *histories_find(const struct histories *all, uint64_t key)
{
    const uint32_t i = histories_index(key);
    return all->keys[i] == key ? &all->table[i] : NULL;
}
/* A history with a base of these 32 bytes; `now` is when another one that it replaces is lost. */
struct history *histories_add(struct histories *all, uint64_t key, uint64_t now);
void histories_drop(struct histories *all, uint64_t key, uint64_t now);
void histories_drop_all(struct histories *all, uint64_t now);

/* A message behind the newest, zeroed. memory: the sector as it is before it. If there are too many, the oldest one becomes
 * the base. */
struct message *history_push(struct histories *all, struct history *h,
                             const uint8_t memory[SECTOR_BYTES]);
/* A message before the message `at`, zeroed but for data, which is that of the one before it. The array is large enough. */
struct message *history_insert(struct history *h, uint32_t at);

#endif
