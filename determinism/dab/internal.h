/* determinism/dab/internal.h: what the files of dab share.
 *
 *     dab.c          the order: what warps may do at once, what waits, what happens when none can go on
 *     schedulers.c    schedulers: whose atomic is next
 *     buffer.c   a buffer: room, fusion
 *     sector_buffer.c  the same, by sectors of memory
 *     flush.c    from buffers through the network to the partitions of memory */
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

/* A lane's reduction: 1, 2, 4 or 8 elements, at most 16 bytes, at a multiple of their size. */
struct dab_entry {
    uint64_t address;
    uint8_t data[8]; /* or in `wide` of the buffer */
    uint8_t op, type, width, count;
    int32_t before;  /* the entry before it in the same place of memory */
    uint32_t author; /* of the buffer */
    uint32_t next;   /* on the way: in its transaction */
};
enum { DAB_SECTOR = ATOMIC_BUFFER_SECTOR };
/* Entries that lie in one, of one kind, at most one of a word. */
struct dab_sector {
    uint64_t sector; /* address / DAB_SECTOR */
    struct dab_record {
        uint32_t before; /* the latest one before it of the same sector; 0: there is none */
        uint16_t kind;   /* dab_kind_of() */
        uint8_t width;
        uint8_t has; /* bits of 4 bytes each: some entry has them */
    } is;
    uint8_t data[DAB_SECTOR]; /* the operands, where the words are */
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
    uint8_t (*wide)[48]; /* by entry: more than 8 bytes; of compare-and-swap the new value at 32 */
    struct emu_issuer *authors;
    uint32_t author_count, author_cap;
    uint32_t *table; /* place in memory -> 1 + the latest entry there: open addressing, */
    uint32_t slots;  /* of so many, a power of two; NULL: none yet */
    uint32_t grain;  /* bits of an address that a place leaves open: no entry reaches into two */
    bool unlike;     /* entries whose order counts meet at an address */
    bool mixed;      /* entries differ in operation, type or size */
    struct dab_sector *sectors; /* the first is none */
    uint32_t sector_count, sector_cap;
    uint16_t kind; /* of all of these, unless it is `mixed`, or some do not fuse */
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

/* Lane by lane, the lowest first; *fused: how many were fused with what was there. false: they find no room in `most`
 * entries, and nothing has changed. What no buffer could hold fits an empty one. */
bool dab_buffer_add(struct dab_buffer *b, const struct emu_access *a, uint32_t most, bool fuse,
                    uint32_t *fused);
void dab_buffer_clear(struct dab_buffer *b);
struct dab_buffer *dab_buffer_copy(const struct dab_buffer *b);
void dab_buffer_free(struct dab_buffer *b);
/* The same with what it holds in `sectors`: words of 4 or 8 bytes, no compare-and-swaps, of the first lanes of a warp, side
 * by side; and nobody asks who reduced. */
struct
    dab_index { /* of the sectors of a buffer: mostly one is filled for a while, then another one */
    struct dab_buffer *of; /* NULL: it is empty */
    uint32_t *table;       /* sector -> the latest record of it, or 0: open addressing, */
    uint32_t slots;        /* of so many, a power of two */
};
bool dab_sectors_add(struct dab_buffer *b, struct dab_index *x, const struct emu_access *a,
                     uint32_t most, bool fuse);
void dab_sectors_clear(struct dab_buffer *b, struct dab_index *x);

/* ---- counts ----------------------------------------------------------------------------------------- */

enum dab_reason { DAB_FULL, DAB_ATOM, DAB_FENCE, DAB_BARRIER, DAB_EXIT, DAB_REASONS };
struct dab_counts { /* numbers alone, in the order of their names in options.c */
    uint64_t flushes[DAB_REASONS];
    uint64_t reductions, entries,
        fused; /* lanes that reduced; entries flushed; lanes that were fused */
    uint64_t transactions, coalesced,
        messages;            /* of flushes; entries that went with another; pre-flush */
    uint64_t early, waiting; /* transactions that came before their turn; the most at once */
    uint64_t turns, rounds, ordered; /* waited for a turn; rounds of, and atomics done in order */
    uint64_t shared;                 /* accesses of shared memory that waited for a turn */
};
enum { DAB_NUMBERS = sizeof(struct dab_counts) / sizeof(uint64_t) };

/* ---- the network and memory ------------------------------------------------------------------------- */

struct dab_net; /* what is on its way to memory */

struct dab_net *dab_net_new(const struct dab_options *o, uint32_t sms, uint64_t *chance,
                            struct dab_counts *counts);
/* A launch begins: nothing is on its way. by_sector: so buffers are filled. */
void dab_net_begin(struct dab_net *n, struct emu_machine *m, bool by_sector);
/* Puts what a buffer holds on its way; it stays as it is until it has arrived. */
void dab_net_send(struct dab_net *n, uint32_t sm, struct dab_buffer *b);
/* What was sent since the last call is a flush: all of it arrives, or (overlap: of what was sent there are copies) may do
 * so later. */
void dab_net_flush(struct dab_net *n);
void dab_net_some(struct dab_net *n); /* one of those that are on their way arrives */
void dab_net_all(struct dab_net *n);
void dab_net_free(struct dab_net *n);

/* ---- warps ------------------------------------------------------------------------------------------ */

/* A hardware warp: a place for a warp on an SM, in order of SM and number there. */
struct dab_warp {
    uint64_t
        told_at; /* 1 + the serial of the last instruction that was told of and did not sleep, */
    uint32_t told_pc;   /* and where that is: one may be told of in pieces */
    uint32_t cta, slot; /* who is there */
    uint32_t warp, sm;
    uint32_t sched, place; /* its scheduler, and its place in the ring of that */
    uint32_t batch;        /* 1 + that of the CTA that is or was there last; 0: none was */
    uint32_t batches;      /* as many CTAs are dealt to its slot */
    uint32_t misses;       /* looks at an mbarrier in vain, in turn */
    uint32_t filled;       /* the interval between flushes in which it last filled a buffer */
    uint8_t why;           /* enum dab_reason, of `pending` */
    uint8_t barrier;
    bool lives : 1;   /* false: it has ended, or there is none */
    bool wants : 1;   /* sleeps: it is not its turn to reduce, or */
    bool full : 1;    /* there is no room */
    bool shared : 1;  /* sleeps until its turn in its crew */
    bool pending : 1; /* sleeps until there was a flush, */
    bool alone : 1; /* and is then granted its instruction when those before it have done theirs */
    bool granted : 1;
    bool chained : 1;           /* pending, and its turn will come without another flush */
    bool spins : 1, missed : 1; /* sleeps, for an mbarrier; the last look at one was in vain */
    bool at_barrier : 1;        /* waits there */
    bool away : 1;     /* SRR: has been at a barrier since the last time that no warp could go on */
    bool in_round : 1; /* GTAR */
    bool let_in : 1;   /* where batches have been given up: does its atomics */
};
/* Of an SM, with the hardware warps of one number modulo the schedulers: its ring. */
struct dab_sched {
    uint32_t first, size; /* the first of them; how many */
    uint32_t turn;        /* whose, in the ring */
    int32_t last;         /* who was the last to reduce; DAB_NONE */
    uint32_t batch;       /* 1 + that whose atomics it does, */
    uint32_t batches;     /* of so many, */
    uint32_t left;        /* and its warps that have not ended, if */
    bool counted;
    bool touched;   /* since the last flush */
    bool strict;    /* round robin of all instructions */
    bool round;     /* GTAR: one is being done */
    bool issued;    /* SRR: `turn` has been picked */
    uint32_t skips; /* SRR: since then, in vain */
};
enum dab_room { /* what is kept from launch to launch */
                DAB_DEAL,
                DAB_DEALT,
                DAB_DUE,
                DAB_FIRST,
                DAB_WARPS,
                DAB_SLEEPING,
                DAB_CHAIN,
                DAB_SCHEDS,
                DAB_TOUCHED,
                DAB_HOLDING,
                DAB_SHARED_TURN,
                DAB_ROOMS
};
struct dab_memory {
    void *at;
    size_t size; /* bytes */
};
struct dab {
    struct dab_options options;
    struct emu_order order;
    uint64_t seed, launches,
        chance; /* chance: begins anew with each launch, as others may go without the order */
    struct emu_machine *m;
    struct emu_shape shape;
    uint32_t used_slots;       /* those below may get a CTA */
    uint32_t used_sms, per_sm; /* SMs, and hardware warps of each, that may get a CTA */
    uint32_t
        usable; /* slots that CTAs are dealt to, a whole number of clusters; those of the first `sms` */
    uint32_t *dealt; /* by slot: the next CTA that comes there; those beyond the last do not */
    uint32_t *due, due_first, due_count; /* slots that are free and get another CTA: a ring */
    uint32_t *deal;                      /* the slot of CTA c is deal[c % usable] */
    uint32_t *first;                     /* by slot: the place of its first warp in `warps` */
    bool fixed;                          /* CTAs are dealt so, */
    bool batched, loose;                 /* and in batches, which have been given up */
    bool stirred;                        /* some warp has come to what may have to wait */
    bool by_sector;                      /* buffers are filled so, */
    struct dab_index index;              /* with this */
    uint32_t clusters_placed;
    struct dab_warp *warps;
    uint32_t warp_count;
    uint64_t *sleeping; /* bits of warps: `full`, `shared`, `pending` or `spins` */
    struct dab_sched *scheds;
    uint32_t sched_count;
    uint32_t *touched, touched_count; /* schedulers */
    struct dab_buffer *buffers;
    uint32_t buffer_count, buffer_cap;
    uint64_t *holding;     /* bits of buffers that hold something */
    uint32_t *shared_turn; /* by the first slot of a crew: its warp */
    uint32_t interval;     /* between flushes: 1, 2, ... */
    uint32_t got_on;       /* that in which a warp ended, or none waited to do an atomic in order */
    uint32_t held;         /* entries in all buffers */
    uint32_t full, shared, spinning, at_barriers; /* warps that are */
    uint32_t pending, pending_for[DAB_REASONS];
    uint32_t vain; /* times that only mbarriers were looked at */
    bool looked;   /* all that spin have, since one was changed or passed */
    uint32_t *chain, chain_count, chain_at; /* warps to be granted their instruction */
    uint32_t burst, stay;                   /* of the adversary */
    uint32_t picks;
    uint64_t favourite;          /* how far from the latest that may go on, in 2^-32 of them */
    uint32_t company,            /* warps that can go on before the next CTA begins, */
        moods;                   /* for so many CTAs */
    struct dab_warp *now, *late; /* about to sleep; to be woken when it does, */
    bool woken;                  /* which has been done in the last pick() */
    struct dab_net *net;
    uint32_t net_sms; /* for so many */
    struct dab_counts counts;
    struct dab_memory rooms[DAB_ROOMS];
};

static inline struct dab_warp *dab_warp(const struct dab *d, const struct emu_warp *who)
{
    return &d->warps[d->first[who->slot] + who->warp];
}
static inline struct dab_buffer *dab_buffer_of(const struct dab *d, const struct dab_warp *w)
{
    return &d->buffers[d->options.level == DAB_WARP ? (uint32_t)(w - d->warps) : w->sched];
}
void dab_wake(struct dab *d, struct dab_warp *w);

/* ---- turns ------------------------------------------------------------------------------------------ */

bool dab_may_reduce(struct dab *d, const struct dab_warp *w);
void dab_reduced(struct dab *d, struct dab_warp *w);
void dab_touch(struct dab *d, struct dab_sched *q);
/* The warp's state has changed: it wants to reduce, waits for a flush, has ended, or is new. Others may go on. */
void dab_settle(struct dab *d, const struct dab_warp *w);
/* It begins, or has ended. */
void dab_begins(struct dab *d, struct dab_warp *w);
void dab_ends(struct dab *d, struct dab_warp *w);
/* No warp can go on: turns pass those that wait at barriers, or (all) for anything. Whether one can now. */
bool dab_unstick(struct dab *d, bool all);
void dab_turns_flushed(struct dab *d); /* those that waited for it go on */
/* Whether batches hold a warp back; gives them up, and lets in whom they hold back: whether there was one. */
bool dab_holds_back(const struct dab *d);
bool dab_let_in(struct dab *d);
/* SRR: whose turn it is, of those that are ready: its index; negative: none. */
int dab_pick_strict(struct dab *d, const struct emu_warp *ready, size_t count);

/* ---- options ---------------------------------------------------------------------------------------- */

extern const struct order_option dab_option_list[DAB_OPTIONS];
extern const char *const dab_number_names[DAB_NUMBERS];
char *dab_conflict(const void *options);
enum order_promise dab_promise(const void *options);

#endif
