/* determinism/dab/net.h: the network of a flush, for flush.c and flush_at_once.c. */
#ifndef HEDDLE_DETERMINISM_DAB_NET_H
#define HEDDLE_DETERMINISM_DAB_NET_H

#include "base/rng.h"
#include "determinism/dab/internal.h"

#include <stdlib.h>

enum {
    INTERLEAVE = 256, /* consecutive bytes of memory in one partition */
};
#define NONE UINT32_MAX

struct transaction { /* entries of one sector (IV-F) */
    struct dab_buffer *from;
    uint32_t first, last; /* first and last entry; entries are linked by `next` */
    uint32_t partition;
    uint32_t after; /* next transaction of the SM */
};
struct sm_send_queue { /* transactions that an SM has sent and that have not arrived */
    uint32_t first, last;
    uint32_t at; /* index in `active` */
};
struct partition_queue { /* transactions of one SM for one partition in this flush */
    uint32_t expected, done;
    uint32_t first, last; /* transactions in the flush buffer */
    uint32_t next_sm;     /* ring of the SMs that have more transactions for this partition */
};
struct sent_buffer {
    struct dab_buffer *from;
    uint32_t sm;
};
struct sector_slot { /* entry of a hash table of the sectors of one buffer */
    uint64_t sector;
    uint32_t stamp; /* differs from dab_net.stamp: an entry of an earlier buffer */
    uint32_t is;    /* index of its transaction */
};
struct partition {
    uint32_t turn; /* the SM whose transaction is next; NONE: all are executed */
    uint32_t last; /* the previous SM in the ring */
    uint32_t waiting;
};

struct dab_net {
    const struct dab_options *options;
    struct emu_machine *m;
    uint64_t *random;
    struct dab_counts *counts;
    uint32_t sms, clusters;
    struct transaction *transactions;
    uint32_t transaction_count, transaction_cap;
    struct dab_buffer **copies; /* copies of buffers whose transactions have not arrived */
    uint32_t copy_count, copy_cap;
    struct sm_send_queue *send_queues;
    uint32_t *active, active_count;           /* list of SMs that have sent transactions */
    struct partition_queue *partition_queues; /* [partition][SM] */
    struct partition *partitions;
    uint32_t waiting; /* number of transactions in all flush buffers */
    /* hash table of the buffer that is being sent, with open addressing */
    struct sector_slot *sectors;
    uint32_t sector_slots, stamp;
    /* Members of flush_at_once.c: */
    bool at_once;
    struct sent_buffer *sent_buffer;
    uint32_t sent_count, sent_cap;
    uint32_t *left; /* number of transactions of each SM of `active` */
    /* number of transactions of one SM for each partition */
    uint32_t *queued;
    /* for each entry: the place of its transaction in the queue */
    uint32_t *place, place_cap;
    /* for each place: index of its first element in `list` */
    uint32_t *first, first_cap, place_count;
    struct emu_reduction *list; /* elements in the order of execution */
    uint32_t list_cap;
    bool by_sector;                  /* buffers have sectors instead of entries */
    const struct dab_sector **order; /* the sectors in the order of execution */
    uint32_t order_cap;
    uint64_t inverse; /* 2^64 / partitions */
};

/* The partition of an address. */
static inline uint32_t dab_net_partition_of(const struct dab_net *n, uint64_t address)
{
    const uint64_t row = address / INTERLEAVE, by = n->options->partitions;
    if (by == 1) return 0;
    const uint64_t rest = row - (uint64_t)((unsigned __int128)row * n->inverse >> 64) * by;
    return (uint32_t)(rest < by ? rest : rest - by);
}

static inline void *dab_net_grow(void *list, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap) return list;
    if (!*cap) *cap = 256;
    while (*cap <= count) *cap *= 2;
    list = realloc(list, *cap * size);
    if (!list) abort();
    return list;
}

static inline void dab_net_clear_sectors(struct dab_net *n, uint32_t entries)
{
    if (n->sector_slots < 2 * entries) {
        free(n->sectors);
        for (n->sector_slots = 256; n->sector_slots < 2 * entries;) n->sector_slots *= 2;
        n->sectors = calloc(n->sector_slots, sizeof *n->sectors);
        if (!n->sectors) abort();
        n->stamp = 0;
    }
    n->stamp++;
}

/* Finds the sector's entry in the table, or creates it: *is_new. Branch predictors cannot predict which of the two it
 * is. */
static inline struct sector_slot *dab_net_find_sector(struct dab_net *n, uint64_t address,
                                                      bool *is_new)
{
    const uint64_t sector = address / DAB_SECTOR;
    struct sector_slot *const list = n->sectors;
    const uint32_t stamp = n->stamp, last = n->sector_slots - 1;
    uint32_t i = (uint32_t)((sector * RNG_STEP) >> 32) & last;
    while ((list[i].stamp == stamp) & (list[i].sector != sector)) i = (i + 1) & last;
    *is_new = list[i].stamp != stamp;
    list[i].sector = sector;
    list[i].stamp = stamp;
    return &list[i];
}

/* The index of the first entry to send: SMs with even numbers may begin in the middle. */
static inline uint32_t dab_net_first_entry(const struct dab_net *n, uint32_t sm,
                                           const struct dab_buffer *b)
{
    return b->order_matters ? 0 : atomic_buffer_first(n->options->offset, sm, b->count);
}

/* flush_at_once.c: executes the sent transactions in the order in which the partitions would execute them. */
void dab_net_flush_at_once(struct dab_net *n);

#endif
