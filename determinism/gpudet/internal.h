/* determinism/gpudet/internal.h: between the files of gpudet.
 *
 *     gpudet.c          quanta: who runs, where parallel mode ends, CTAs in slots
 *     serialised.c    warps that run one after another
 *     log.c      store buffers and their Bloom filters
 *     in_place.c     store buffers in short
 *     log_arena.c     the memory that they are in
 *     commit.c   what stays of them in memory
 *     serial.c   atomics
 *     options.c  options, names of counts */
#ifndef HEDDLE_DETERMINISM_GPUDET_INTERNAL_H
#define HEDDLE_DETERMINISM_GPUDET_INTERNAL_H

#include "base/rng.h"
#include "determinism/gpudet/gpudet.h"
#include "determinism/hardware/gpudet_options.h"
#include "determinism/hardware/write_log.h"
#include "determinism/hardware/z_unit.h"
#include "determinism/orders.h"
#include "emu/order_fast.h"

#include <stdbool.h>
#include <stddef.h>

enum { GPUDET_CHUNK = WRITE_LOG_CHUNK, GPUDET_LANES = 32, GPUDET_CLUSTER = 16 };

/* ---- counts ----------------------------------------------------------------------------------------- */

#define GPUDET_ENDS(X)                                                                             \
    X(LIMIT, limit)                                                                                \
    X(ATOMIC, atomic)                                                                              \
    X(FENCE, fence)                                                                                \
    X(STRONG, strong)                                                                              \
    X(BARRIER, barrier)                                                                            \
    X(EXIT, exit)                                                                                  \
    X(WAIT, wait)                                                                                  \
    X(LOG, log)                                                                                    \
    X(RUNTIME, runtime)
enum gpudet_end { /* why parallel mode ended for a warp */
#define END(ID, name) GPUDET_END_##ID,
                  GPUDET_ENDS(END)
#undef END
                      GPUDET_END_COUNT
};
struct gpudet_counts { /* of a launch; options.c has their names */
    uint64_t quanta;
    uint64_t end[GPUDET_END_COUNT];
    uint64_t passed,
        held; /* barriers completed: gone on at once; held up, for stores were in logs */
    uint64_t queries, hits, false_hits, walked;
    uint64_t entries, longest; /* of logs at commit */
    uint64_t z_hits, z_misses, z_evictions, z_blocked, z_full;
    uint64_t locks, spins;
    uint64_t serial, atomics, reductions, rounds; /* serial: quanta with any */
};

/* ---- a warp's log ----------------------------------------------------------------------------------- */

struct gpudet_entry { /* bytes of one chunk that one instruction stored */
    uint64_t chunk;   /* address / CHUNK */
    uint64_t mask[2]; /* which bytes */
    const struct emu_issuer *by;
    struct gpudet_entry *next; /* of the log */
    /* Once it is in the index: the one before it of this chunk, and the bytes of that and all before it. */
    struct gpudet_entry *same;
    uint64_t older[2];
    uint32_t first; /* the byte of the chunk that data begins with */
    uint8_t data[];
};
struct gpudet_store;
struct gpudet_log { /* all that it points to is in the quantum's room */
    uint32_t count, index_size;
    struct gpudet_store *first,
        *last; /* in place of all that follows, with gpudet.swaps; then count is an upper bound */
    struct gpudet_entry *oldest, *newest, *indexed; /* indexed: the last one that is in the index */
    struct gpudet_entry **index;                    /* by hash of the chunk, the newest of each */
    uint64_t *bloom;    /* bits; NULL: nobody counts what it lets pass */
    uint64_t low, high; /* addresses: all it has lies in low .. high - 1 */
};
/* Memory that is taken bit by bit and given back as a whole. */
struct gpudet_block {
    struct gpudet_block *next;
    size_t size;
    uint64_t words[];
};
struct gpudet_room {
    struct gpudet_block *blocks, *now;
    uint8_t *at;
    size_t left;
};
void *gpudet_room_take(struct gpudet_room *r, size_t size); /* aligned for uint64_t, not zeroed */
void gpudet_room_clear(struct gpudet_room *r);
void gpudet_room_free(struct gpudet_room *r);

/* ---- atomics ---------------------------------------------------------------------------------------- */

struct gpudet_request {
    uint64_t serial; /* instruction: by these, */
    uint32_t pc, lanes;
    uint8_t kind, op, type, width, count;
    bool done, taken; /* results are there; the warp has them */
    struct emu_issuer by;
    uint64_t address[GPUDET_LANES];
    uint32_t size, room; /* bytes of a lane's data; in `words` */
    /* Of the lanes that take part, in their order: addresses, data, old values (`size` bytes each). */
    uint64_t words[];
};

/* ---- warps, in hardware's order --------------------------------------------------------------------- */

enum gpudet_state {
    GPUDET_NONE,    /* nobody's there, or the warp has ended */
    GPUDET_RUNS,    /* its parallel mode goes on */
    GPUDET_BARRIER, /* it waits at one of its CTA */
    GPUDET_WAITS,   /* for something else */
    GPUDET_ENDED,   /* its parallel mode is over */
    GPUDET_STATES
};
struct gpudet_warp {
    /* In two lines of the host's caches: what each quantum looks at, of thousands. */
    _Alignas(64) struct emu_warp who; /* of the CTA that is there, or was */
    uint32_t number;                  /* its place */
    uint8_t state, barrier;
    bool fresh;             /* it has not been picked since its CTA began */
    bool stored;            /* to global memory, in the quantum, since its CTA began */
    bool calls;             /* the device runtime, now */
    bool asks;              /* with swaps: it sleeps at an atomic that is whole */
    bool passes;            /* it goes on at the instruction which ended its parallel mode: */
    uint32_t pass_pc;       /* this, */
    uint64_t pass_serial;   /* when it had issued so many */
    uint64_t quantum;       /* that `start`, `used` and `stored` are of: gpudet_refresh */
    uint64_t serial, start; /* issued: as far as is known; when the quantum began, or its CTA */
    uint64_t used;          /* instructions of the quantum, before `start` */
    uint64_t turn;          /* serial when its turn began */
    struct gpudet_log log;
    uint64_t tried;    /* WAITS: unit->moves when it had its turn, */
    uint32_t waited;   /* and the quanta that it has waited so */
    uint32_t waits_at; /* the instruction where it was last found waiting */
    uint32_t asked, request_room;
    struct gpudet_request **requests; /* the first `asked` are in use; NULL: none yet */
    struct gpudet_request **later;    /* reductions by bulk copies, likewise */
    uint32_t later_count, later_room;
};
_Static_assert(offsetof(struct gpudet_warp, log.newest) <= 128, "two lines");
struct gpudet_unit { /* by slot, of a cluster by that of its first CTA */
    uint32_t slots[GPUDET_CLUSTER], slot_count;
    uint32_t cursor; /* whose turn it is: of all warps of its slots */
    uint64_t moves;
    bool running;
};
struct gpudet_slot {
    bool live;
    uint32_t first; /* warp of the CTA: place in `warps` */
    uint32_t unit;
    uint32_t share; /* place in `pending` of what it takes next */
};

struct gpudet_zline { /* a chunk that is being committed */
    uint64_t chunk;
    uint64_t mask[2];
    uint32_t stamp;
    uint32_t owner; /* warp; once several have stored to it, MIXED + place in `depths` */
};
enum { GPUDET_MIXED = 1 << 30 };
struct gpudet_partition;
struct gpudet_sender { /* a log that is being committed, or some of it */
    const struct gpudet_entry *next;
    uint32_t warp, left;
};

struct gpudet {
    struct gpudet_options options;
    struct emu_order order;
    struct gpudet_counts n;
    uint64_t random;
    uint64_t launches; /* so far, and the seed */
    struct emu_machine *m;
    struct emu_shape shape;
    struct bloom bloom; /* the shape of Bloom filters */
    uint32_t warp_count;
    bool in_turn;    /* warps of a unit run one after another */
    bool speculates; /* emu_launch_traits.speculates */
    bool windowed;   /* the adversary chooses among a few CTAs at a time */
    bool counted;    /* somebody asks for `n` */
    bool sorted;     /* nobody can tell who goes on when, and when requests arrive, */
    bool swaps;      /* nor how logs work */
    bool moved;      /* anything has happened in this quantum */
    bool open;       /* CTAs may begin: parallel mode; */
    bool begins;     /* a quantum does */
    bool reseated;   /* CTAs have begun or ended since shares were dealt */
    uint64_t quantum;
    uint32_t stay;      /* draws for which the adversary still favours */
    uint64_t favourite; /* who is so far from the last that may go on, in 2^-32 of them */
    struct gpudet_warp *warps;
    struct gpudet_slot *slots;
    struct gpudet_unit *units;
    uint32_t warp_room, slot_room;
    struct gpudet_warp *last;         /* picked */
    struct gpudet_warp *inside;       /* with swaps: whose stores are in memory; NULL: nobody's */
    uint32_t last_unit;               /* of the CTA that began last */
    uint32_t in_state[GPUDET_STATES]; /* warps; of NONE: meaningless */
    /* Warps (places in `warps`) by what they have to do when parallel mode ends; sets in words of 64. */
    uint32_t *writers, *callers;
    uint32_t writer_count, caller_count;
    /* How many callers have had their turn, of those that come before the quantum begins. */
    uint32_t calling, called;
    uint64_t *askers;
    uint32_t *serving; /* askers in the order in which it is their turn */
    bool
        told_in_turn; /* they go on in that order, each by its atomic alone, before the quantum begins: */
    uint32_t served, shown; /* so many, of whom so many have */
    bool asks;              /* anybody does */
    uint64_t *storing;      /* writers while their logs are sorted */
    uint64_t *stopped;      /* those who go on in the next quantum, and some who do not */
    uint64_t *turns;        /* units (slots) of these */
    uint64_t *hungry;       /* slots that are free and have a CTA to take */
    uint32_t *pending, pending_count, pending_room, taken, stride;
    uint32_t first;          /* nothing before it is pending */
    struct gpudet_room room; /* of the logs of a quantum */
    struct gpudet_sender *senders;
    struct gpudet_zline *lines;
    uint32_t line_room, line_count;
    uint32_t stamp; /* of the commit: lines with others are free */
    uint32_t (*depths)[GPUDET_CHUNK];
    uint32_t depth_count, depth_room;
    struct gpudet_partition *partitions;
};
#define GPUDET_TAKEN UINT32_MAX

static inline uint32_t gpudet_below(struct gpudet *g, uint32_t n)
{
    return rng_below(&g->random, n);
}

/* A warp's place in `warps` is hardware's number of it: by SM, slot of the SM, number in the CTA. */
static inline struct gpudet_warp *gpudet_warp_at(const struct gpudet *g, uint32_t slot,
                                                 uint32_t warp)
{
    return &g->warps[g->slots[slot].first + warp];
}
static inline void gpudet_become(struct gpudet *g, struct gpudet_warp *w, enum gpudet_state state)
{
    g->in_state[w->state]--;
    g->in_state[state]++;
    w->state = (uint8_t)state;
}

static inline void gpudet_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}
static inline void gpudet_remove(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << i % 64);
}
/* For i of the set, ascending, of `count` that could be in it; i may be removed. */
#define GPUDET_EACH(i, set, count)                                                                 \
    for (uint32_t w_ = 0; w_ < ((count) + 63) / 64; w_++)                                          \
        for (uint64_t m_ = (set)[w_], i = 0;                                                       \
             m_ && (i = 64 * (uint64_t)w_ + (uint64_t)__builtin_ctzll(m_), true); m_ &= m_ - 1)
/* It has stopped, and goes on in the next quantum. */
static inline void gpudet_go_on(struct gpudet *g, struct gpudet_warp *w)
{
    gpudet_remove(g->stopped, w->number);
    gpudet_become(g, w, GPUDET_RUNS);
    emu_machine_wake(g->m, &w->who);
}
void *gpudet_grow(void *list, uint32_t need, uint32_t *room, size_t size);

/* serialised.c: whose turn it is. */
void gpudet_unit_begin(struct gpudet *g, struct gpudet_unit *u); /* a quantum */
void gpudet_unit_next(struct gpudet *g, struct gpudet_unit *u);
struct gpudet_warp *gpudet_unit_now(const struct gpudet *g, const struct gpudet_unit *u);
struct gpudet_unit *gpudet_unit_of(const struct gpudet *g, const struct gpudet_warp *w);

/* log.c */
bool gpudet_log_fits(const struct gpudet *g, struct gpudet_log *l);
uint32_t gpudet_log_chunks(const struct emu_access *a); /* entries that the store would take */
void gpudet_log_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
/* What the warp sees: true where it has stored some of it; then a->result is filled in. */
bool gpudet_log_load(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
/* The first bytes of a mask, at most 64, that lie side by side; they are taken from it. false: there are none. */
static inline bool gpudet_take_run(uint64_t mask[2], uint32_t *from, uint32_t *size)
{
    const uint32_t h = !mask[0];
    if (!mask[h]) return false;
    const uint32_t at = (uint32_t)__builtin_ctzll(mask[h]);
    const uint64_t rest = ~(mask[h] >> at);
    *from = 64 * h + at;
    *size = rest ? (uint32_t)__builtin_ctzll(rest) : 64;
    mask[h] = at + *size >= 64 ? 0 : mask[h] >> (at + *size) << (at + *size);
    return true;
}

/* in_place.c, with swaps. The warp, which is inside, is about to store: */
void gpudet_swap_keep(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
uint32_t gpudet_swap_entries(struct gpudet_log *l); /* makes `count` exact */
void gpudet_swap_to(struct gpudet *g, struct gpudet_warp *w);
void gpudet_swap_commit(const struct gpudet_log *l); /* nobody is inside */

/* commit.c: all logs, which are empty then. */
void gpudet_commit(struct gpudet *g);
void gpudet_commit_begin(struct gpudet *g); /* a launch */
void gpudet_commit_free(struct gpudet *g);

/* serial.c: DONE if it was carried out in serial mode, else it is kept for that, and the warp sleeps. */
enum emu_verdict gpudet_serial_ask(struct gpudet *g, struct gpudet_warp *w,
                                   const struct emu_access *a);
void gpudet_serial_later(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
void gpudet_serial_run(struct gpudet *g);
void gpudet_serial_free(struct gpudet_warp *w);

/* options.c */
char *gpudet_conflict(const void *options);
enum order_promise gpudet_promise(const void *options);
void gpudet_numbers(void *self, void (*tell)(void *to, const char *name, uint64_t value), void *to);
extern const struct order_option gpudet_option_list[GPUDET_OPTIONS];

#endif
