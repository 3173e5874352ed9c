/* determinism/views/history.h: the writes to a sector of memory, in coherence order, that some thread may still read.
 *
 * A sector is 32 bytes of global memory or of the shared memory of a CTA. Its history has a base, the sector's contents
 * before the first message, and messages in coherence order, the newest last. A message is the bytes that one
 * instruction of one warp wrote. Memory has the values after the newest message; every other message has a copy of the
 * whole sector after its write.
 *
 *     struct history *h = histories_find(&all, key);           // NULL: every thread reads memory
 *     if (!h) h = histories_add(&all, key, memory, now);
 *     struct message *m = history_push(&all, h, memory);       // before the bytes change: the newest message
 *
 * A history may be dropped at any time: then every thread reads memory, which the model always allows. The table has a
 * fixed size; a sector that needs the entry of another one drops that one's history. */
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
    uint64_t born; /* unique */
    /* late store: until this access number, only threads whose view contains the message see it */
    uint64_t visible;
    uint64_t access; /* number of the access that wrote it (views.access) */
    /* order: number among the writer's stores and atomics, from 1 on */
    uint32_t writer, cta, order;
    uint32_t bytes; /* mask of the sector's bytes that were written */
    bool is_strong, is_wide /* its scope is larger than the CTA */, is_atomic;
    bool reads_old; /* an atomic that read an older message than its predecessor */
    bool is_blind;  /* neither the written value nor the thread depends on the previous contents */
    struct publication *published; /* NULL: none */
    /* the sector after this write; undefined for the newest message */
    uint8_t data[SECTOR_BYTES];
};
struct history {
    uint32_t count;
    struct message messages[HISTORY_DEPTH];
};
struct histories {
    uint64_t keys[HISTORY_COUNT]; /* 0: free */
    struct history *table;
    uint32_t used;
    uint64_t lost; /* time when a history with publications was last dropped */
    bool replaced; /* a sector has taken the entry of another one */
    struct publication_pool pool;
};

void histories_begin(struct histories *all); /* without histories */
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
/* Adds a history without messages. `now`: the time of dropping a history that it replaces. */
struct history *histories_add(struct histories *all, uint64_t key, uint64_t now);
void histories_drop(struct histories *all, uint64_t key, uint64_t now);
void histories_drop_all(struct histories *all, uint64_t now);

/* Appends a zeroed message after the newest. memory: the sector before the write. If there are too many messages, the
 * oldest becomes the base. */
struct message *history_push(struct histories *all, struct history *h,
                             const uint8_t memory[SECTOR_BYTES]);
/* Inserts a message before message `at`, zeroed except for `data`, which is that of the previous message. The array
 * must have space. */
struct message *history_insert(struct history *h, uint32_t at);

#endif
