/* determinism/dab/internal.h: what the files of dab share.
 *
 * The paper's algorithm:
 *     dab.c         what warps may do at once, what waits for a flush, what happens when no warp can go on
 *     schedulers.c  determinism-aware scheduling: which warp reduces next (IV-C)
 *     warps.c       sleeping and waking
 *     buffer.c      atomic buffers with fusion (IV-B, IV-E)
 *     flush.c       from buffers through the network to memory partitions (IV-D)
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
    uint8_t data[8]; /* the operand; a wide one is in dab_buffer.wide */
    uint8_t op, type, width, count;
    int32_t before;  /* the entry before it in the same block of memory (dab_buffer.grain) */
    uint32_t issuer; /* index in the buffer's issuers */
    uint32_t next;   /* in its transaction */
};
enum { DAB_SECTOR = ATOMIC_BUFFER_SECTOR };
/* Entries of one sector and one kind, at most one of each word. */
struct dab_sector {
    uint64_t sector; /* address / DAB_SECTOR */
    struct dab_record {
        uint32_t before; /* the latest record before it of the same sector; 0: none */
        uint16_t kind;   /* dab_kind_of() */
        uint8_t width;
        uint8_t has; /* a bit for each 4 bytes: an entry has them */
    } is;
    uint8_t data[DAB_SECTOR]; /* the operands, each at its word's place */
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
    struct dab_entry *entries; /* or they are in `sectors` */
    uint32_t count, cap;
    uint8_t (*wide)
        [48]; /* by entry: operands of more than 8 bytes; the new value of a compare-and-swap is at 32 */
    struct emu_issuer *issuers;
    uint32_t issuer_count, issuer_cap;
    uint32_t *table; /* block of memory -> 1 + its latest entry: open addressing; NULL: none yet */
    uint32_t slots;  /* of the table: a power of two */
    uint32_t grain;  /* log2 of the bytes of a block: no entry lies in two */
    bool order_matters;         /* some entries overlap and do not commute */
    bool mixed;                 /* entries differ in operation, type or size */
    struct dab_sector *sectors; /* from the second one on */
    uint32_t sector_count, sector_cap;
    uint16_t kind; /* of all sectors, unless `mixed` */
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

/* Adds the lanes' reductions, the lowest lane first (IV-B). *fused: how many lanes were fused with entries (IV-E). false:
 * they do not fit in `most` entries, and nothing has changed. What no buffer could hold fits an empty one. */
bool dab_buffer_add(struct dab_buffer *b, const struct emu_access *a, uint32_t most, bool fuse,
                    uint32_t *fused);
void dab_buffer_clear(struct dab_buffer *b);
struct dab_buffer *dab_buffer_copy(const struct dab_buffer *b);
void dab_buffer_free(struct dab_buffer *b);
/* sector_buffer.c: the same with entries in `sectors`: words of 4 or 8 bytes, no compare-and-swaps, of the lowest lanes,
 * adjacent; the issuers are not needed. */
struct dab_index {         /* of one buffer's sectors, the one that was filled last */
    struct dab_buffer *of; /* NULL: the index is empty */
    uint32_t *table;       /* sector -> its latest record, or 0: open addressing */
    uint32_t slots;        /* of the table: a power of two */
};
bool dab_sectors_add(struct dab_buffer *b, struct dab_index *x, const struct emu_access *a,
                     uint32_t most, bool fuse);
void dab_sectors_clear(struct dab_buffer *b, struct dab_index *x);

/* ---- counts ----------------------------------------------------------------------------------------- */

enum dab_reason { DAB_FULL, DAB_ATOM, DAB_FENCE, DAB_BARRIER, DAB_EXIT, DAB_REASONS };
struct dab_counts { /* numbers alone, in the order of their names in options.c */
    uint64_t flushes[DAB_REASONS];
    uint64_t reductions;   /* lanes that reduced */
    uint64_t entries;      /* that were flushed */
    uint64_t fused;        /* lanes that were fused with an entry (IV-E) */
    uint64_t transactions; /* of flushes */
    uint64_t coalesced;    /* entries that went with another one's transaction (IV-F) */
    uint64_t messages;     /* pre-flush messages (IV-D) */
    uint64_t early;        /* transactions that arrived before their turn */
    uint64_t waiting;      /* the most of them in flush buffers at once */
    uint64_t turns;        /* reductions that waited for their warp's turn (IV-C) */
    uint64_t rounds;       /* of atomics and strong accesses that were executed in order */
    uint64_t ordered;      /* these accesses */
    uint64_t shared;       /* accesses of shared memory that waited for a turn */
};
enum { DAB_NUMBERS = sizeof(struct dab_counts) / sizeof(uint64_t) };

/* ---- the network and memory ------------------------------------------------------------------------- */

struct dab_net; /* transactions on their way to memory */

struct dab_net *dab_net_new(const struct dab_options *o, uint32_t sms, uint64_t *random,
                            struct dab_counts *counts);
/* A launch begins: nothing is on its way. by_sector: buffers are filled by sectors. */
void dab_net_begin(struct dab_net *n, struct emu_machine *m, bool by_sector);
/* Sends what a buffer holds. The buffer must not change until all of it has arrived. */
void dab_net_send(struct dab_net *n, uint32_t sm, struct dab_buffer *b);
/* What was sent since the last call is one flush: all of it arrives. With `overlap` buffers were copied, and it may arrive
 * later. */
void dab_net_flush(struct dab_net *n);
void dab_net_arrive_one(struct dab_net *n); /* one transaction */
void dab_net_drain(struct dab_net *n);      /* all that are on their way */
void dab_net_free(struct dab_net *n);

/* ---- warps ------------------------------------------------------------------------------------------ */

/* A hardware warp, in order of SM and number on the SM. */
struct dab_warp {
    uint64_t instruction_seq; /* 1 + serial of the last instruction that was allowed to proceed, */
    uint32_t instruction_pc;  /* and its place: further pieces of it proceed, too */
    uint32_t cta, slot, warp, sm; /* the warp that is there */
    uint32_t sched, place;        /* its scheduler, and its index in that scheduler's ring */
    uint32_t batch;               /* 1 + the batch of its last CTA; 0: there was none */
    uint32_t batches;             /* CTAs that are dealt to its slot */
    uint32_t failed_tests;        /* of an mbarrier, in succession */
    uint32_t filled;              /* the last interval between flushes in which it added an entry */
    uint32_t ahead;               /* SRR, GTRR: turns whose instruction it has issued already */
    uint8_t why;                  /* enum dab_reason, of `pending` */
    uint8_t barrier;
    bool lives : 1;               /* false: it has exited, or there is none */
    bool wants : 1;               /* it sleeps until its turn to reduce */
    bool is_full : 1;             /* its reduction finds no space in the buffer */
    bool waits_for_smem_turn : 1; /* it sleeps until its turn at shared memory */
    bool pending : 1;             /* it sleeps until the next flush, */
    bool ordered : 1; /* and until the ordered accesses of warps before it have been executed */
    bool granted : 1; /* its ordered access may be executed now */
    bool chained : 1; /* pending, and will be granted without another flush */
    bool tests_mbarrier : 1; /* it sleeps before it tests an mbarrier again */
    bool test_failed : 1;
    bool at_barrier : 1;
    bool
        left_round : 1; /* SRR: it has been at a barrier since the last time that no warp could go on */
    bool in_round : 1;     /* GTAR: it belongs to the round */
    bool admitted : 1;     /* where batches have been given up: it may reduce */
    bool waits_inside : 1; /* it has issued an instruction that it has not carried out */
    bool exits : 1;        /* it has exited, which counts from the turn after `ahead` ones */
};
/* A warp scheduler: its ring has the hardware warps of its SM with one number modulo the schedulers. */
struct dab_sched {
    uint32_t first, size; /* the ring's first warp, and how many there are */
    uint32_t turn;        /* index in the ring: who may reduce next */
    int32_t last;         /* index in the ring: who reduced last; DAB_NONE */
    uint32_t batch;       /* 1 + the batch whose atomics it does, */
    uint32_t batches;     /* of so many */
    uint32_t left;        /* warps of the batch that have not exited, if `counted` */
    bool counted;
    bool touched;   /* since the last flush */
    bool strict;    /* SRR, GTRR: round robin of all instructions */
    bool round;     /* GTAR: a round goes on */
    bool issued;    /* SRR: `turn` has been picked */
    uint32_t skips; /* SRR: how often the turn was passed on in vain since */
};
/* memory that is kept from launch to launch */
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
    bool fixed;          /* CTAs are dealt to slots; false: the adversary places them */
    uint32_t used_slots; /* slots below this one may get a CTA */
    uint32_t used_sms;   /* SMs that may, */
    uint32_t per_sm;     /* and hardware warps of each */
    uint32_t
        usable; /* slots that CTAs are dealt to: a whole number of clusters, of the first `sms` */
    uint32_t *deal;                      /* CTA c goes to slot deal[c % usable] */
    uint32_t *dealt;                     /* by slot: its next CTA; beyond the last one: none */
    uint32_t *first;                     /* by slot: the index of its first warp in `warps` */
    uint32_t *due, due_first, due_count; /* a ring of free slots that get another CTA */
    uint32_t clusters_placed;
};
struct dab_store { /* the atomic buffers (IV-B, IV-C) */
    struct dab_buffer *list;
    uint32_t count, capacity;
    uint64_t *holding; /* set: buffers that hold something */
    uint32_t held;     /* entries in all of them */
    bool by_sector;    /* entries are kept by sectors (sector_buffer.c), */
    struct dab_index index;
};
struct dab_waits {         /* warps that cannot go on, by what they wait for */
    uint64_t *sleeping;    /* set: the warps that the next four count */
    uint32_t full;         /* so many wait for a free entry of a buffer, */
    uint32_t pending;      /* for a flush, */
    uint32_t smem_waiters; /* for their turn at shared memory, */
    uint32_t mbarrier_waiters;
    uint32_t at_barriers;
    uint32_t pending_for[DAB_REASONS]; /* `pending`, by reason */
    uint32_t *smem_turn;               /* by the first slot of a group: whose turn it is */
    uint32_t *chain, chain_count,
        chain_at;        /* warps that are granted their instruction one after another */
    bool all_tested;     /* all mbarrier waiters have tested it since one was changed or passed */
    uint32_t idle_tests; /* times that nothing was left but to test mbarriers again */
    struct dab_warp *going_to_sleep;
    struct dab_warp *wake_later; /* is to be woken when it sleeps, */
    bool woke_in_pick;           /* which the last pick() has done */
};
/* SRR, GTRR: a turn is one instruction, also where it had to wait: whether it had to may be the adversary's choice. A warp
 * goes on after it up to an instruction that others can observe. So later turns have nothing to execute. */
struct dab_ahead {
    bool on;
    struct dab_warp *warp; /* was picked last in strict order, and has not stopped; NULL: none */
    uint64_t serial;       /* of the instruction before the one whose turn it is */
    bool freed;            /* a slot is due */
};
struct dab_adversary { /* what the seed decides */
    uint64_t seed, launches;
    uint64_t random; /* begins anew with each launch: others may go without the order */
    uint32_t burst, bias_draws;
    uint64_t bias; /* how far from the last of the ready warps the chosen one is, in 2^-32 of them.
               * SRR, GTRR: the scheduler that was picked last is asked first; 0: any */
    uint32_t picks;
    uint32_t window;      /* no CTA begins while so many warps are ready; */
    uint32_t window_ctas; /* drawn anew after so many CTAs */
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
    uint64_t *stuck;      /* SRR, GTRR: set of schedulers of which no warp could be picked, */
    uint32_t stuck_picks; /* since so many picks */
    uint32_t *touched,
        touched_count;     /* schedulers that something has changed for since the last flush */
    bool any_waited;       /* a warp has come to what may have to wait */
    bool batched;          /* CTAs come in batches (IV-C5), */
    bool batches_given_up; /* which have been given up */
    uint32_t interval;     /* between flushes: 1, 2, ... */
    uint32_t
        last_progress; /* the last interval in which a warp ended, or none waited for an ordered atomic */
    struct dab_ctas ctas;
    struct dab_store store;
    struct dab_waits waits;
    struct dab_adversary adversary;
    struct dab_ahead ahead;
    struct dab_net *net;
    uint32_t net_sms; /* for so many */
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
/* A warp of the scheduler may be picked now. */
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
/* It is about to sleep for one of the reasons of struct dab_waits. */
static inline void dab_mark_sleeping(struct dab *d, const struct dab_warp *w)
{
    const size_t at = (size_t)(w - d->warps);
    d->waits.sleeping[at / 64] |= UINT64_C(1) << at % 64;
}
/* The first from `at` on that sleeps so; the number of warps: none. */
uint32_t dab_next_sleeping(const struct dab *d, uint32_t at);
void dab_set_full(struct dab *d, struct dab_warp *w);
void dab_set_pending(struct dab *d, struct dab_warp *w, uint8_t why, bool ordered);
/* Whatever it waits for is there. */
void dab_wake(struct dab *d, struct dab_warp *w);

/* ---- turns ------------------------------------------------------------------------------------------ */

bool dab_may_reduce(struct dab *d, const struct dab_warp *w);
void dab_reduced(struct dab *d, struct dab_warp *w);
/* The warp's state has changed: it wants to reduce, waits for a flush, has ended, or is new. Others may go on. */
void dab_scheduler_update(struct dab *d, const struct dab_warp *w);
/* It begins, or has ended. */
void dab_scheduler_add(struct dab *d, struct dab_warp *w);
void dab_scheduler_remove(struct dab *d, struct dab_warp *w);
/* No warp can go on: turns pass those that wait at barriers, or (all) for anything. Whether one can now. */
bool dab_skip_turns(struct dab *d, bool all);
void dab_schedulers_flushed(struct dab *d); /* those that waited for it go on */
/* Whether batches hold a warp back; gives them up, and lets in whom they hold back: whether there was one. */
bool dab_batches_block(const struct dab *d);
bool dab_give_up_batches(struct dab *d);
/* SRR, GTRR: a warp whose turn it is, of those that are ready: its index; negative: none. */
int dab_pick_strict(struct dab *d, const struct emu_warp *ready, size_t count);
/* dab.c: the turn of the exit of a warp that ran ahead. */
void dab_end_ahead(struct dab *d, struct dab_warp *w);

/* ---- options ---------------------------------------------------------------------------------------- */

extern const struct order_option dab_option_list[DAB_OPTIONS];
extern const char *const dab_number_names[DAB_NUMBERS];
char *dab_conflict(const void *options);
enum order_promise dab_promise(const void *options);
void dab_storage(const void *options, const struct emu_gpu *gpu, struct order_storage *out);

#endif
