/* determinism/dab/internal.h: the data structures and functions that the files of dab share.
 *
 * The paper's algorithm:
 *     dab.c         accesses that are executed at once or wait for a flush; decisions when no warp can run
 *     schedulers.c  determinism-aware scheduling: which warp reduces next (IV-C)
 *     warps.c       sleeping and waking
 *     buffer.c      atomic buffers with fusion (IV-B, IV-E)
 *     flush.c       the way from buffers through the network to memory partitions (IV-D)
 *     options.c     options, names of counts
 * Fast paths with the same results:
 *     flush_at_once.c  a flush without the network
 *     sector_buffer.c  buffers by sectors of memory
 *
 * dab.c calls all others; schedulers.c calls warps.c; flush.c calls flush_at_once.c; no file calls back. */
#ifndef HEDDLE_DETERMINISM_DAB_INTERNAL_H
#define HEDDLE_DETERMINISM_DAB_INTERNAL_H

#include "determinism/dab/dab.h"
#include "determinism/hardware/atomic_buffer.h"
#include "determinism/hardware/dab_options.h"
#include "determinism/hardware/flush.h"
#include "determinism/orders.h"
#include "emu/atomic.h"
#include "emu/order_fast.h"

#include <stdbool.h>

enum { DAB_NONE = -1 };

/* ---- buffers ---------------------------------------------------------------------------------------- */

/* An entry (IV-B): a lane's reduction of 1, 2, 4 or 8 elements, at most 16 bytes, aligned to their size. */
struct dab_entry {
    uint64_t address;
    uint8_t data[8]; /* the operand; operands of more than 8 bytes are in dab_buffer.wide */
    uint8_t op, type, width, count;
    int32_t before;  /* the previous entry in the same block of memory (dab_buffer.grain) */
    uint32_t issuer; /* index in the buffer's issuers */
    uint32_t next;   /* next entry of its transaction */
};
enum { DAB_SECTOR = ATOMIC_BUFFER_SECTOR };
/* Entries of one sector and one kind, at most one of each word. */
struct dab_sector {
    uint64_t sector; /* address / DAB_SECTOR */
    struct dab_record {
        uint32_t before; /* the previous record of the same sector; 0: none */
        uint16_t kind;   /* dab_kind_of() */
        uint8_t width;
        uint8_t has; /* a bit for each 4 bytes that belong to an entry */
    } is;
    uint8_t data[DAB_SECTOR]; /* the operands, each at the offset of its word */
};
static inline uint16_t dab_kind_of(uint8_t op, uint8_t type)
{
    return (uint16_t)(op | type << 8);
}
static inline uint8_t dab_op_of(uint16_t kind)
{
    return (uint8_t)kind;
}
static inline uint8_t dab_type_of(uint16_t kind)
{
    return (uint8_t)(kind >> 8);
}
struct dab_buffer {
    struct dab_entry *entries; /* not used if the entries are in `sectors` */
    uint32_t count, cap;
    /* For each entry: an operand of more than 8 bytes. The new value of a compare-and-swap is at offset 32. */
    uint8_t (*wide)[48];
    struct emu_issuer *issuers;
    uint32_t issuer_count, issuer_cap;
    /* hash table with open addressing: block of memory -> 1 + its latest entry; NULL: none yet */
    uint32_t *table;
    uint32_t slots;             /* of the table: a power of two */
    uint32_t grain;             /* log2 of the bytes of a block; no entry is in two blocks */
    bool order_matters;         /* some entries overlap and do not commute */
    bool mixed;                 /* entries differ in operation, type or size */
    struct dab_sector *sectors; /* sectors[0] is not used */
    uint32_t sector_count, sector_cap;
    uint16_t kind; /* kind of all sectors, unless `mixed` */
};
static inline bool dab_is_wide(uint8_t op, uint32_t bytes)
{
    return bytes > 8 || op == ATOMIC_CAS;
}
/* The operand of an entry. */
static inline uint8_t *dab_data(const struct dab_buffer *b, struct dab_entry *e)
{
    return dab_is_wide(e->op, (uint32_t)e->width * e->count) ? b->wide[e - b->entries] : e->data;
}

/* Adds the lanes' reductions, the lowest lane first (IV-B). *fused: number of lanes that were fused with entries
 * (IV-E). false: the reductions do not fit in `most` entries, and nothing has changed. An instruction with more entries
 * than any buffer fits an empty one. */
bool dab_buffer_add(struct dab_buffer *b, const struct emu_access *a, uint32_t most, bool fuse,
                    uint32_t *fused);
void dab_buffer_clear(struct dab_buffer *b);
struct dab_buffer *dab_buffer_copy(const struct dab_buffer *b);
void dab_buffer_free(struct dab_buffer *b);
/* sector_buffer.c: as dab_buffer_add, with entries in `sectors`: for words of 4 or 8 bytes of the lowest lanes,
 * adjacent in memory, and no compare-and-swaps. Issuers are not kept. */
struct dab_index {         /* index of the sectors of the buffer that was filled last */
    struct dab_buffer *of; /* NULL: the index is empty */
    uint32_t *table;       /* hash table with open addressing: sector -> its latest record, or 0 */
    uint32_t slots;        /* of the table: a power of two */
};
bool dab_sectors_add(struct dab_buffer *b, struct dab_index *x, const struct emu_access *a,
                     uint32_t most, bool fuse);
void dab_sectors_clear(struct dab_buffer *b, struct dab_index *x);

/* ---- counts ----------------------------------------------------------------------------------------- */

enum dab_reason { DAB_FULL, DAB_ATOM, DAB_FENCE, DAB_BARRIER, DAB_EXIT, DAB_REASONS };
struct dab_counts { /* only uint64_t, in the order of their names in options.c */
    uint64_t flushes[DAB_REASONS];
    uint64_t reductions;   /* lanes that reduced */
    uint64_t entries;      /* entries that were flushed */
    uint64_t fused;        /* lanes that were fused with an entry (IV-E) */
    uint64_t transactions; /* transactions of flushes */
    uint64_t coalesced;    /* entries that shared the transaction of another entry (IV-F) */
    uint64_t messages;     /* pre-flush messages (IV-D) */
    uint64_t early;        /* transactions that arrived before their turn */
    uint64_t waiting;      /* the most transactions in flush buffers at one time */
    uint64_t turns;        /* reductions that waited for their warp's turn (IV-C) */
    uint64_t rounds;       /* rounds in which atomics and strong accesses were executed in order */
    uint64_t ordered;      /* accesses that were executed in such rounds */
    uint64_t shared;       /* accesses of shared memory that waited for a turn */
};
enum { DAB_NUMBERS = sizeof(struct dab_counts) / sizeof(uint64_t) };

/* ---- the network and memory ------------------------------------------------------------------------- */

struct dab_net; /* transactions that were sent and have not reached memory */

struct dab_net *dab_net_new(const struct dab_options *o, uint32_t sms, uint64_t *random,
                            struct dab_counts *counts);
/* A launch begins: no transactions are in the network. by_sector: buffers are filled by sectors. */
void dab_net_begin(struct dab_net *n, struct emu_machine *m, bool by_sector);
/* Sends the entries of a buffer, which must not change until all of them have arrived. */
void dab_net_send(struct dab_net *n, uint32_t sm, struct dab_buffer *b);
/* Ends a flush of all buffers that were sent since the last call: all their transactions arrive. With `overlap` buffers
 * were copied, and transactions may arrive later. */
void dab_net_flush(struct dab_net *n);
void dab_net_arrive_one(struct dab_net *n); /* one transaction arrives */
void dab_net_drain(struct dab_net *n);      /* all sent transactions arrive */
void dab_net_free(struct dab_net *n);

/* ---- warps ------------------------------------------------------------------------------------------ */

/* A hardware warp, in order of SM and number on the SM. */
struct dab_warp {
    /* 1 + emu_warp.serial of the last instruction that was allowed to proceed */
    uint64_t instruction_seq;
    uint32_t instruction_pc;      /* pc of that instruction, whose further accesses proceed, too */
    uint32_t cta, slot, warp, sm; /* the current warp */
    uint32_t sched, place;        /* its scheduler, and its index in that scheduler's ring */
    uint32_t batch;               /* 1 + batch of its last CTA; 0: none */
    uint32_t batches;             /* number of CTAs that are assigned to its slot */
    uint32_t failed_tests;        /* successive failed tests of an mbarrier */
    /* last interval between flushes in which the warp added an entry */
    uint32_t filled;
    /* SRR, GTRR: number of future turns whose instructions it has already issued */
    uint32_t ahead;
    uint8_t why; /* enum dab_reason of `pending` */
    uint8_t barrier;
    bool lives : 1;               /* false: the warp has exited, or there is none */
    bool wants : 1;               /* the warp sleeps until its turn to reduce */
    bool is_full : 1;             /* the buffer has no space for its reduction */
    bool waits_for_smem_turn : 1; /* the warp sleeps until its turn at shared memory */
    bool pending : 1;             /* the warp sleeps until the next flush */
    bool ordered : 1; /* also until the ordered accesses of earlier warps have been executed */
    bool granted : 1; /* the warp's ordered access may be executed now */
    bool chained : 1; /* pending; will be granted without another flush */
    bool tests_mbarrier : 1; /* the warp sleeps before it tests an mbarrier again */
    bool test_failed : 1;
    bool at_barrier : 1;
    /* SRR: the warp has been at a barrier since the last idle point */
    bool left_round : 1;
    bool in_round : 1;     /* GTAR: the warp belongs to the current round */
    bool admitted : 1;     /* after batches were given up: the warp may reduce */
    bool waits_inside : 1; /* the warp has issued an instruction that is not yet executed */
    bool exits : 1;        /* the warp has exited; the exit takes effect after `ahead` more turns */
};
/* A warp scheduler: its ring has the hardware warps of its SM whose numbers are equal modulo the number of
 * schedulers. */
struct dab_sched {
    /* index in `warps` of the ring's first warp; number of warps in the ring */
    uint32_t first, size;
    uint32_t turn;    /* index in the ring of the warp that may reduce next */
    int32_t last;     /* index in the ring of the warp that reduced last; DAB_NONE */
    uint32_t batch;   /* 1 + the batch whose atomics are executed */
    uint32_t batches; /* number of batches */
    uint32_t left;    /* warps of the batch that have not exited, if `counted` */
    bool counted;
    bool touched;   /* the scheduler's state has changed since the last flush */
    bool strict;    /* SRR, GTRR: round robin of all instructions */
    bool round;     /* GTAR: a round is in progress */
    bool issued;    /* SRR: the warp of `turn` has been picked */
    uint32_t skips; /* SRR: number of turns since then that were passed without a pick */
};
/* memory blocks that are kept from launch to launch */
enum dab_allocation {
    DAB_DEAL,
    DAB_DEALT,
    DAB_DUE,
    DAB_FIRST,
    DAB_WARPS,
    DAB_SLEEPING,
    DAB_CHAIN,
    DAB_SCHEDS,
    DAB_TOUCHED,
    DAB_STUCK,
    DAB_HOLDING,
    DAB_SMEM_TURN,
    DAB_ALLOCATIONS
};
struct dab_memory {
    void *at;
    size_t size; /* bytes */
};

/* ---- the order, by who uses it ---------------------------------------------------------------------- */

struct dab_ctas {        /* deterministic CTA distribution (IV-C5) */
    bool fixed;          /* CTAs are assigned to slots; false: the adversary places them */
    uint32_t used_slots; /* slots below this number may get a CTA */
    uint32_t used_sms;   /* number of SMs that may get a CTA */
    uint32_t per_sm;     /* hardware warps of each SM */
    /* Number of slots to which CTAs are assigned: a whole number of clusters, on the first `sms` SMs. */
    uint32_t usable;
    uint32_t *deal;                      /* CTA c goes to slot deal[c % usable] */
    uint32_t *dealt;                     /* next CTA of each slot; beyond the last CTA: none */
    uint32_t *first;                     /* index in `warps` of the first warp of each slot */
    uint32_t *due, due_first, due_count; /* a ring of free slots that get another CTA */
    uint32_t clusters_placed;
};
struct dab_store { /* the atomic buffers (IV-B, IV-C) */
    struct dab_buffer *list;
    uint32_t count, capacity;
    uint64_t *holding; /* set of buffers with entries */
    uint32_t held;     /* number of entries in all buffers */
    bool by_sector;    /* entries are kept by sectors (sector_buffer.c) */
    struct dab_index index;
};
/* The first from `at` on that holds something, and below `until`; `until`: none. */
uint32_t dab_next_holding(const struct dab_store *s, uint32_t at, uint32_t until);

struct dab_waits {         /* warps that cannot run, by the event that they wait for */
    uint64_t *sleeping;    /* set of the warps that the next four members count */
    uint32_t full;         /* warps that wait for a free entry of a buffer */
    uint32_t pending;      /* warps that wait for a flush */
    uint32_t smem_waiters; /* warps that wait for their turn at shared memory */
    uint32_t mbarrier_waiters;
    uint32_t at_barriers;
    uint32_t pending_for[DAB_REASONS]; /* `pending`, by reason */
    /* the warp whose turn it is, by the first slot of a CTA or cluster */
    uint32_t *smem_turn;
    /* warps whose ordered accesses are granted one after another */
    uint32_t *chain, chain_count, chain_at;
    /* all mbarrier waiters have tested their mbarrier since one was changed or passed */
    bool all_tested;
    uint32_t idle_tests; /* number of idle points at which mbarriers were only tested again */
    struct dab_warp *going_to_sleep;
    struct dab_warp *wake_later; /* the warp to wake as soon as it sleeps */
    bool woke_in_pick;           /* the last pick() has woken it */
};
/* SRR, GTRR: a turn is one instruction, also if that had to wait, since whether it waits may be the adversary's choice.
 * After the turn the warp continues up to the next instruction that others can observe, so that later turns of the warp
 * have nothing to execute. */
struct dab_ahead {
    bool on;
    /* the warp that was picked last in strict order and has not stopped; NULL: none */
    struct dab_warp *warp;
    uint64_t serial; /* emu_warp.serial before the instruction of the current turn */
    bool freed;      /* a slot is free for another CTA */
};
struct dab_adversary { /* the decisions that depend on the seed */
    uint64_t seed, launches;
    /* state of the random numbers; restarted at each launch, since some launches run without the order */
    uint64_t random;
    uint32_t burst, bias_draws;
    /* Distance of the chosen warp from the end of the list of ready warps, as a fraction of the list in units of 2^-32.
     * SRR, GTRR: the scheduler that was picked last is asked first; 0: any scheduler. */
    uint64_t bias;
    uint32_t picks;
    uint32_t window;      /* no CTA begins while at least so many warps are ready */
    uint32_t window_ctas; /* number of CTAs until `window` is drawn anew */
};
struct dab {
    struct dab_options options;
    struct emu_order order;
    struct emu_machine *m;
    struct emu_shape shape;
    struct dab_warp *warps;
    uint32_t warp_count;
    struct dab_sched *scheds;
    uint32_t sched_count;
    uint64_t *stuck;      /* SRR, GTRR: set of schedulers without a warp that can be picked */
    uint32_t stuck_picks; /* number of picks since then */
    /* list of schedulers whose state has changed since the last flush */
    uint32_t *touched, touched_count;
    bool any_waited; /* some warp has reached an access that may have to wait */
    uint32_t
        rule; /* scheduling rule of this launch: that of the options, unless the launch has clusters */
    bool batched;          /* CTAs run in batches (IV-C5) */
    bool batches_given_up; /* batches have been given up */
    uint32_t interval;     /* number of the interval between flushes: 1, 2, ... */
    /* The last interval in which a warp exited, or no warp waited for an ordered atomic. */
    uint32_t last_progress;
    struct dab_ctas ctas;
    struct dab_store store;
    struct dab_waits waits;
    struct dab_adversary adversary;
    struct dab_ahead ahead;
    struct dab_net *net;
    uint32_t net_sms; /* number of SMs of `net` */
    struct dab_counts counts;
    struct dab_memory allocations[DAB_ALLOCATIONS];
};

static inline struct dab_warp *dab_warp(const struct dab *d, const struct emu_warp *who)
{
    return &d->warps[d->ctas.first[who->slot] + who->warp];
}
static inline struct dab_buffer *dab_buffer_of(const struct dab *d, const struct dab_warp *w)
{
    return &d->store.list[d->options.level == DAB_WARP ? (uint32_t)(w - d->warps) : w->sched];
}
/* Marks that a warp of the scheduler may be picked. */
static inline void dab_unstick(struct dab *d, uint32_t sched)
{
    d->stuck[sched / 64] &= ~(UINT64_C(1) << sched % 64);
}
static inline void dab_touch(struct dab *d, struct dab_sched *q)
{
    dab_unstick(d, (uint32_t)(q - d->scheds));
    if (q->touched) return;
    q->touched = true;
    d->touched[d->touched_count++] = (uint32_t)(q - d->scheds);
}

/* ---- warps.c: sleeping and waking -------------------------------------------------------------------- */

struct emu_warp dab_identity(const struct dab_warp *w);
/* The warp is about to sleep for one of the reasons of struct dab_waits. */
static inline void dab_mark_sleeping(struct dab *d, const struct dab_warp *w)
{
    const size_t at = (size_t)(w - d->warps);
    d->waits.sleeping[at / 64] |= UINT64_C(1) << at % 64;
}
/* The index of the first warp from `at` on that sleeps for such a reason; the number of warps: none. */
uint32_t dab_next_sleeping(const struct dab *d, uint32_t at);
void dab_set_full(struct dab *d, struct dab_warp *w);
void dab_set_pending(struct dab *d, struct dab_warp *w, uint8_t why, bool ordered);
/* Wakes the warp: its event has occurred. */
void dab_wake(struct dab *d, struct dab_warp *w);

/* ---- turns ------------------------------------------------------------------------------------------ */

/* The scheduling rule of the launch that begins. */
uint32_t dab_rule_of(const struct dab *d);
bool dab_may_reduce(struct dab *d, const struct dab_warp *w);
void dab_reduced(struct dab *d, struct dab_warp *w);
/* The warp's state has changed: it wants to reduce, waits for a flush, has exited, or is new. Wakes warps of its
 * scheduler that may now reduce. */
void dab_scheduler_update(struct dab *d, const struct dab_warp *w);
/* The warp begins; the warp has exited. */
void dab_scheduler_add(struct dab *d, struct dab_warp *w);
void dab_scheduler_remove(struct dab *d, struct dab_warp *w);
/* At an idle point: turns skip warps that wait at barriers or, with `all`, for anything. Whether some warp can run
 * now. */
bool dab_skip_turns(struct dab *d, bool all);
void dab_schedulers_flushed(struct dab *d); /* wakes the warps that waited for the flush */
/* dab_batches_block: whether some warp waits for its batch. dab_give_up_batches: gives batches up and wakes such warps;
 * whether there were any. */
bool dab_batches_block(const struct dab *d);
bool dab_give_up_batches(struct dab *d);
/* SRR, GTRR: the index of a ready warp whose turn it is; negative: none. */
int dab_pick_strict(struct dab *d, const struct emu_warp *ready, size_t count);
/* dab.c: executes the exit of a warp that ran ahead, at its turn. */
void dab_end_ahead(struct dab *d, struct dab_warp *w);

/* ---- options ---------------------------------------------------------------------------------------- */

extern const struct order_option dab_option_list[DAB_OPTIONS];
extern const char *const dab_number_names[DAB_NUMBERS];
char *dab_conflict(const void *options);
enum order_promise dab_promise(const void *options);
void dab_storage(const void *options, const struct emu_gpu *gpu, struct order_storage *out);

#endif
