/* determinism/gpudet/internal.h: what the files of gpudet share.
 *
 * The paper's algorithm:
 *     gpudet.c       quanta: which warp runs, where parallel mode ends, CTAs in slots (thesis 4.2)
 *     serialised.c   warps that share memory run one after another (4.6)
 *     log.c          write logs and Bloom filters (4.3)
 *     commit.c       commit mode: Z units or locks (4.4)
 *     serial.c       serial mode: atomics (4.5)
 *     options.c      options, names of counts
 * Fast paths with the same results:
 *     fast.c         biased choices, commit in order of depth
 *     in_place.c     stores to memory with an undo log
 *     log_arena.c    the memory of write logs
 *
 * Files include no other file's functions in a circle: gpudet.c calls all others, fast.c calls commit.c and in_place.c,
 * in_place.c calls log.c. */
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
#include <stdlib.h>

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
enum gpudet_end { /* why parallel mode ended for a warp (thesis 4.2, figure 4.2) */
#define END(ID, name) GPUDET_END_##ID,
                  GPUDET_ENDS(END)
#undef END
                      GPUDET_END_COUNT
};
struct gpudet_counts { /* of a launch; options.c has their names */
    uint64_t quanta;
    uint64_t end[GPUDET_END_COUNT];
    uint64_t passed; /* barriers that a CTA passed within the quantum (4.2.1) */
    uint64_t held;   /* barriers where it could not: one of its warps had stored */
    uint64_t queries, hits, false_hits; /* of Bloom filters */
    uint64_t walked;                    /* log entries that loads searched */
    uint64_t entries, longest;          /* of logs at commit */
    uint64_t z_hits, z_misses, z_evictions, z_blocked, z_full;
    uint64_t locks, spins;
    uint64_t serial; /* quanta with a serial mode */
    uint64_t atomics, reductions, rounds;
};

/* ---- a warp's write log (thesis 4.3) ----------------------------------------------------------------------------------- */

struct gpudet_entry { /* bytes of one chunk that one instruction stored */
    uint64_t chunk;   /* address / CHUNK */
    uint64_t mask[2]; /* which bytes */
    const struct emu_issuer *by;
    struct gpudet_entry *next; /* of the log */
    /* Once it is in the index: the entry before it of the same chunk, and the bytes that this one and all before it
     * have. */
    struct gpudet_entry *same;
    uint64_t older[2];
    uint32_t first; /* the byte of the chunk that data begins with */
    uint8_t data[];
};
struct gpudet_undo;
struct gpudet_log { /* all that it points to is in the quantum's arena */
    uint32_t count; /* entries; with in-place stores an upper bound */
    uint32_t index_size;
    struct gpudet_undo *first, *last; /* with in-place stores, instead of all members below */
    struct gpudet_entry *oldest, *newest;
    struct gpudet_entry *indexed; /* the last entry that is in the index */
    struct gpudet_entry **index;  /* by a hash of the chunk: the newest entry of each */
    uint64_t *bloom;              /* NULL: nothing is counted */
    uint64_t low, high;           /* all its bytes have addresses of low .. high - 1 */
};
/* Memory that is allocated piece by piece and freed as a whole. */
struct gpudet_block {
    struct gpudet_block *next;
    size_t size;
    uint64_t words[];
};
struct gpudet_arena {
    struct gpudet_block *blocks, *now;
    uint8_t *at;
    size_t left;
};
void *gpudet_arena_alloc(struct gpudet_arena *r,
                         size_t size); /* aligned for uint64_t, not zeroed */
void gpudet_arena_reset(struct gpudet_arena *r);
void gpudet_arena_free(struct gpudet_arena *r);

/* ---- atomics (thesis 4.5) -------------------------------------------------------------------------------- */

struct gpudet_request { /* an access that waits for serial mode */
    uint64_t issue_seq; /* with pc: which execution of the instruction */
    uint32_t pc, lanes;
    uint8_t kind, op, type, width, count;
    bool done, taken; /* serial mode has executed it; the warp has read its results */
    struct emu_issuer by;
    uint32_t size;     /* bytes of a lane's data */
    uint32_t capacity; /* bytes of `words` */
    /* Of the lanes that take part, in their order: addresses, data, old values (`size` bytes each). */
    uint64_t words[];
};

/* ---- warps, in the order of hardware warp numbers ----------------------------------------------------------- */

enum gpudet_state {
    GPUDET_NONE,    /* there is no warp, or it has ended */
    GPUDET_RUNS,    /* its parallel mode goes on */
    GPUDET_BARRIER, /* it waits at a barrier of its CTA */
    GPUDET_WAITS,   /* it waits for an mbarrier or its cluster */
    GPUDET_ENDED,   /* its parallel mode is over */
    GPUDET_STATES
};
struct gpudet_warp {
    /* The first members lie in two cache lines of the host: every quantum reads them, of thousands of warps. */
    _Alignas(64) struct emu_warp who; /* of the CTA that is there, or was */
    uint32_t number;                  /* hardware's: the index in `warps` */
    uint8_t state;                    /* enum gpudet_state */
    uint8_t barrier;                  /* BARRIER: which */
    bool just_started;                /* it has not been picked since its CTA began */
    bool stored;                      /* to global memory, in this quantum, since its CTA began */
    bool calls;                       /* it is to call the device runtime next */
    bool atomic_in_place;             /* fast path: it sleeps at a standalone atomic */
    bool resumes;        /* it continues at the instruction that ended its parallel mode: */
    uint32_t resume_pc;  /* at this place, */
    uint64_t resume_seq; /* with this issue_seq */
    uint64_t quantum;    /* that `start`, `used` and `stored` belong to */
    uint64_t issue_seq;  /* instructions issued, as far as is known */
    uint64_t start;      /* issue_seq when the quantum or the CTA began */
    uint64_t used;       /* instructions of the quantum, before `start` */
    uint64_t turn;       /* issue_seq when its turn began */
    struct gpudet_log log;
    uint64_t tried;    /* WAITS: group->advances when it had its turn */
    uint32_t waited;   /* WAITS: quanta since then */
    uint32_t waits_at; /* the instruction where it was last found waiting */
    uint32_t request_count, request_capacity;
    struct gpudet_request **requests; /* the first `request_count` are in use; NULL: none yet */
    struct gpudet_request **bulk_reductions; /* reductions by bulk copies, likewise */
    uint32_t bulk_count, bulk_capacity;
};
_Static_assert(offsetof(struct gpudet_warp, log.newest) <= 128, "two cache lines");
struct
    gpudet_group { /* a CTA or cluster whose warps run one after another: by the slot of its first CTA */
    uint32_t slots[GPUDET_CLUSTER], slot_count;
    uint32_t cursor;   /* whose turn it is, of all warps of its slots */
    uint64_t advances; /* how often one of its warps has got further */
    bool running;
};
struct gpudet_slot {
    bool live;
    uint32_t first; /* the CTA's first warp: index in `warps` */
    uint32_t group;
    uint32_t share; /* index in `pending` of the CTA that it takes next */
};

/* ---- commit (thesis 4.4) ------------------------------------------------------------------------------------- */

struct gpudet_depth_line { /* the depths of a chunk that is being committed */
    uint64_t chunk;
    uint64_t mask[2]; /* bytes that were written in this commit */
    uint32_t stamp;
    uint32_t
        writer; /* the only warp that has stored; of several: GPUDET_SEVERAL + index in `depths` */
};
enum { GPUDET_SEVERAL = 1 << 30 };
struct gpudet_partition;
struct gpudet_sender { /* a log that is being committed, or some of it */
    const struct gpudet_entry *next;
    uint32_t warp, left;
};

/* ---- the order, by who uses it ------------------------------------------------------------------------------- */

struct gpudet_ctas { /* gpudet.c: CTAs that have not begun, and who takes them (thesis 4.2.2) */
    uint32_t *pending, pending_count, pending_capacity;
    uint32_t taken;       /* so many of them are GPUDET_TAKEN */
    uint32_t first;       /* all before it are taken */
    uint32_t stride;      /* from one of a slot's CTAs to its next */
    uint64_t *free_slots; /* set: slots that are free and have a CTA to take */
    bool slots_changed;   /* CTAs have begun or ended since they were dealt */
};
struct gpudet_serial_mode { /* serial.c: serial mode (thesis 4.5) */
    uint64_t *warps;        /* set: warps that have something to execute */
    uint32_t *order;        /* these, in the order in which they are executed */
    bool any;               /* the set is not empty */
    /* For an observer of atomics: warps continue in that order, each by its atomic alone, before the quantum begins. */
    bool observed;
    uint32_t observed_count, observed_next;
};
struct gpudet_commit_mode { /* commit.c: commit mode (thesis 4.4) */
    struct gpudet_sender *senders;
    struct gpudet_depth_line *lines; /* by a hash of the chunk */
    uint32_t line_capacity, line_count;
    uint32_t stamp; /* of this commit: lines with another one are free */
    uint32_t (*depths)[GPUDET_CHUNK];
    uint32_t depth_count, depth_capacity;
    struct gpudet_partition *partitions;
};
struct gpudet_fast { /* fast.c, in_place.c: same bits, less work */
    uint64_t launches;
    bool speculates; /* emu_launch_traits.speculates */
    bool windowed;   /* the adversary chooses among the warps of a few CTAs at a time */
    bool
        order_unobservable; /* nobody can observe which warp runs when, nor when requests arrive, */
    bool stores_in_place;   /* nor how write logs work: stores go to memory, with an undo log */
    uint32_t bias_draws;    /* choices until the bias is drawn anew */
    uint64_t
        bias; /* how far from the last of the ready warps the chosen one is, in 2^-32 of them */
    struct gpudet_warp *in_memory; /* in place: the warp whose stores are in memory; NULL: none */
    uint64_t *storing;             /* set: writers, while they are sorted */
};
struct gpudet {
    struct gpudet_options options;
    struct emu_order order;
    struct gpudet_counts n;
    uint64_t random; /* the adversary's */
    struct emu_machine *m;
    struct emu_shape shape;
    struct bloom bloom; /* the shape of Bloom filters */
    bool counted;       /* `n` is reported */
    bool serialised;    /* warps of a group run one after another */
    uint64_t quantum;
    bool open;     /* parallel mode: CTAs may begin */
    bool begins;   /* the quantum begins */
    bool progress; /* something has happened in this quantum */
    struct gpudet_warp *warps;
    struct gpudet_slot *slots;
    struct gpudet_group *groups;
    uint32_t warp_count, warp_capacity, slot_capacity;
    struct gpudet_warp *last;         /* the warp that was picked last */
    uint32_t last_group;              /* of the CTA that began last */
    uint32_t in_state[GPUDET_STATES]; /* warps in each state; of NONE: meaningless */
    uint32_t *writers, writer_count;  /* warps whose logs hold something */
    uint32_t *runtime_callers,
        runtime_caller_count; /* warps that wait to call the device runtime */
    uint32_t calling,
        called; /* of these, `called` call before the quantum begins; `calling` have had their turn */
    uint64_t *stopped; /* set: warps that continue in the next quantum, and some that do not */
    uint64_t *turns;   /* set: groups of these */
    struct gpudet_arena arena; /* of the logs of a quantum */
    struct gpudet_ctas ctas;
    struct gpudet_serial_mode serial;
    struct gpudet_commit_mode commit;
    struct gpudet_fast fast;
};
#define GPUDET_TAKEN UINT32_MAX

/* The list with space for `need` elements. */
static inline void *gpudet_grow(void *list, uint32_t need, uint32_t *capacity, size_t size)
{
    if (need <= *capacity) return list;
    while (*capacity < need) *capacity = *capacity ? 2 * *capacity : 16;
    list = realloc(list, *capacity * size);
    if (!list) abort();
    return list;
}

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
static inline void gpudet_set_state(struct gpudet *g, struct gpudet_warp *w,
                                    enum gpudet_state state)
{
    g->in_state[w->state]--;
    g->in_state[state]++;
    w->state = (uint8_t)state;
}

static inline void gpudet_set_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}
static inline void gpudet_set_remove(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << i % 64);
}
/* For i of the set, ascending, of `count` that could be in it; i may be removed. */
#define GPUDET_EACH(i, set, count)                                                                 \
    for (uint32_t w_ = 0; w_ < ((count) + 63) / 64; w_++)                                          \
        for (uint64_t m_ = (set)[w_], i = 0;                                                       \
             m_ && (i = 64 * (uint64_t)w_ + (uint64_t)__builtin_ctzll(m_), true); m_ &= m_ - 1)
/* It has stopped, and goes on in the next quantum. */
static inline void gpudet_resume(struct gpudet *g, struct gpudet_warp *w)
{
    gpudet_set_remove(g->stopped, w->number);
    gpudet_set_state(g, w, GPUDET_RUNS);
    emu_machine_wake(g->m, &w->who);
}

/* serialised.c: whose turn it is. */
void gpudet_group_begin(struct gpudet *g, struct gpudet_group *u); /* a quantum */
void gpudet_group_next(struct gpudet *g, struct gpudet_group *u);
struct gpudet_warp *gpudet_group_current(const struct gpudet *g, const struct gpudet_group *u);
struct gpudet_group *gpudet_group_of(const struct gpudet *g, const struct gpudet_warp *w);

/* log.c */
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

/* commit.c: commits all logs, which are empty then. */
void gpudet_commit(struct gpudet *g);
void gpudet_commit_begin(struct gpudet *g); /* a launch */
void gpudet_commit_free(struct gpudet *g);
/* Writes the bytes of the entry that pass. */
void gpudet_commit_bytes(struct gpudet *g, const struct gpudet_entry *e, uint64_t pass[2]);

/* fast.c */
unsigned gpudet_fast_wants(void *self, const struct emu_launch_traits *next);
void gpudet_fast_begin(struct gpudet *g);
bool gpudet_fast_window_is_full(const struct gpudet *g);
uint32_t gpudet_fast_choose(struct gpudet *g, uint32_t count); /* one of so many ready warps */
/* Fetches what the warps before the i-th, which mostly run next, will need. */
void gpudet_fast_prefetch(const struct gpudet *g, const struct emu_warp *ready, uint32_t i);
void gpudet_fast_commit(struct gpudet *g); /* in place of gpudet_commit */

/* in_place.c, with stores_in_place. The warp, whose stores are in memory, is about to store: */
void gpudet_in_place_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
uint32_t gpudet_in_place_entries(struct gpudet_log *l); /* makes `count` exact */
/* From now on the stores of this warp are in memory; NULL: of no warp. */
void gpudet_in_place_switch(struct gpudet *g, struct gpudet_warp *w);
void gpudet_in_place_commit(const struct gpudet_log *l); /* the stores of no warp are in memory */

/* serial.c: DONE if it was carried out in serial mode, else it is kept for that, and the warp sleeps. */
enum emu_verdict gpudet_serial_request(struct gpudet *g, struct gpudet_warp *w,
                                       const struct emu_access *a);
void gpudet_serial_defer_reduction(struct gpudet *g, struct gpudet_warp *w,
                                   const struct emu_access *a);
void gpudet_serial_run(struct gpudet *g);
void gpudet_serial_free(struct gpudet_warp *w);

/* options.c */
char *gpudet_conflict(const void *options);
enum order_promise gpudet_promise(const void *options);
void gpudet_storage(const void *options, const struct emu_gpu *gpu, struct order_storage *out);
void gpudet_numbers(void *self, void (*add)(void *to, const char *name, uint64_t value), void *to);
extern const struct order_option gpudet_option_list[GPUDET_OPTIONS];

#endif
