/* determinism/gpudet/internal.h: the data structures and functions that the files of gpudet share.
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
 * Calls between the files have no cycle: gpudet.c calls all others, fast.c calls commit.c and in_place.c, in_place.c
 * calls log.c. */
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
struct gpudet_counts { /* counters of a launch; options.c has their names */
    uint64_t quanta;
    uint64_t end[GPUDET_END_COUNT];
    uint64_t passed; /* barriers that a CTA passed within a quantum (4.2.1) */
    uint64_t held;   /* barriers that a CTA could not pass, since one of its warps had stored */
    uint64_t queries, hits, false_hits; /* queries, hits and false hits of Bloom filters */
    uint64_t walked;                    /* log entries that loads searched */
    uint64_t entries, longest;          /* entries of all logs at commit; of the longest log */
    uint64_t z_hits, z_misses, z_evictions, z_blocked, z_full;
    uint64_t locks, spins;
    uint64_t serial; /* number of quanta with a serial mode */
    uint64_t atomics, reductions, rounds;
};

/* ---- a warp's write log (thesis 4.3) --------------------------------------------------------------------------------- */

struct gpudet_entry { /* bytes of one chunk that one instruction stored */
    uint64_t chunk;   /* address / CHUNK */
    uint64_t mask[2]; /* bytes of the chunk that the entry has */
    const struct emu_issuer *by;
    struct gpudet_entry *next; /* next entry of the log */
    /* Set when the entry is in the index: the previous entry of the same chunk, and the bytes that this and all
     * previous entries have. */
    struct gpudet_entry *same;
    uint64_t older[2];
    uint32_t first; /* the byte of the chunk that data begins with */
    uint8_t data[];
};
struct gpudet_undo;
struct gpudet_log { /* all its pointers point into the quantum's arena */
    uint32_t count; /* number of entries; with in-place stores an upper bound */
    uint32_t index_size;
    struct gpudet_undo *first, *last; /* with in-place stores, in place of all members below */
    struct gpudet_entry *oldest, *newest;
    struct gpudet_entry *indexed; /* the last entry that is in the index */
    struct gpudet_entry **index;  /* the newest entry of each chunk, by a hash of the chunk */
    uint64_t *bloom;              /* the Bloom filter; NULL: events are not counted */
    uint64_t low, high;           /* all addresses of its bytes are in low .. high - 1 */
};
/* An arena: memory that is allocated in parts and freed as a whole. */
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
    uint64_t issue_seq; /* identifies, with pc, the execution of the instruction */
    uint32_t pc, lanes;
    uint8_t kind, op, type, width, count;
    /* done: serial mode has executed the access; taken: the warp has read its results */
    bool done, taken;
    bool reported; /* observers know of the access (gpudet_serial_mode.observed) */
    struct emu_issuer by;
    uint32_t size;     /* bytes of a lane's data */
    uint32_t capacity; /* bytes of `words` */
    /* Addresses, data and old values (`size` bytes each) of the lanes that take part, in the order of lanes. */
    uint64_t words[];
};

/* ---- warps, in the order of hardware warp numbers ----------------------------------------------------------- */

enum gpudet_state {
    GPUDET_NONE,    /* there is no warp, or it has exited */
    GPUDET_RUNS,    /* the warp is in parallel mode */
    GPUDET_BARRIER, /* the warp waits at a barrier of its CTA */
    GPUDET_WAITS,   /* the warp waits for an mbarrier or its cluster */
    GPUDET_ENDED,   /* the warp's parallel mode has ended */
    GPUDET_STATES
};
struct gpudet_warp {
    /* The first members are in two cache lines of the host: each quantum reads them for thousands of warps. */
    _Alignas(64) struct emu_warp who; /* the warp of the current or last CTA of the slot */
    uint32_t number;                  /* hardware warp number: the index in `warps` */
    uint8_t state;                    /* enum gpudet_state */
    uint8_t barrier;                  /* BARRIER: number of the barrier */
    bool just_started;                /* the warp has not been picked since its CTA began */
    /* the warp has stored to global memory in this quantum, since its CTA began */
    bool stored;
    bool calls;           /* the warp is about to call the device runtime, */
    bool reports;         /* or to report its atomic to observers */
    bool atomic_in_place; /* fast path: the warp sleeps at a standalone atomic */
    /* The warp resumes at the instruction that ended its parallel mode, which resume_pc and resume_seq identify. */
    bool resumes;
    uint32_t resume_pc;  /* `pc` of that instruction */
    uint64_t resume_seq; /* issue_seq of that instruction */
    uint64_t quantum;    /* quantum to which `start`, `used` and `stored` belong */
    uint64_t issue_seq;  /* number of issued instructions, as far as known */
    uint64_t start;      /* issue_seq when the quantum or the CTA began */
    uint64_t used;       /* instructions of the quantum before `start` */
    uint64_t turn;       /* issue_seq when the warp's turn began */
    struct gpudet_log log;
    uint64_t tried;    /* WAITS: group->advances at the warp's last turn */
    uint32_t waited;   /* WAITS: number of quanta since then */
    uint32_t waits_at; /* instruction at which the warp was last found waiting */
    uint32_t request_count, request_capacity;
    /* the first `request_count` entries are in use; NULL: none yet */
    struct gpudet_request **requests;
    struct gpudet_request **bulk_reductions; /* reductions by bulk copies, likewise */
    uint32_t bulk_count, bulk_capacity;
};
_Static_assert(offsetof(struct gpudet_warp, log.newest) <= 128, "two cache lines");
/* A CTA or cluster whose warps run one after another; indexed by the slot of its first CTA. */
struct gpudet_group {
    uint32_t slots[GPUDET_CLUSTER], slot_count;
    uint32_t cursor;   /* number of the warp whose turn it is, among all warps of its slots */
    uint64_t advances; /* incremented when one of its warps makes progress */
    bool running;
};
struct gpudet_slot {
    bool live;
    uint32_t first; /* index in `warps` of the CTA's first warp */
    uint32_t group;
    uint32_t share; /* index in `pending` of the next CTA of the slot */
};

/* ---- commit (thesis 4.4) ------------------------------------------------------------------------------------- */

struct gpudet_depth_line { /* depths of a chunk in commit mode */
    uint64_t chunk;
    uint64_t mask[2]; /* bytes written in this commit */
    uint32_t stamp;
    /* The only warp that has stored to the chunk; if several have: GPUDET_SEVERAL + index in `depths`. */
    uint32_t writer;
};
enum { GPUDET_SEVERAL = 1 << 30 };
struct gpudet_partition;
struct gpudet_sender { /* a log, or a part of one, that is being committed */
    const struct gpudet_entry *next;
    uint32_t warp, left;
};

/* ---- the order, by who uses it ------------------------------------------------------------------------------- */

struct gpudet_ctas { /* gpudet.c: CTAs that have not begun, and their slots (thesis 4.2.2) */
    uint32_t *pending, pending_count, pending_capacity;
    uint32_t taken;       /* number of entries that are GPUDET_TAKEN */
    uint32_t first;       /* all entries before this one are taken */
    uint32_t stride;      /* distance in `pending` from one CTA of a slot to its next */
    uint64_t *free_slots; /* set of free slots that have a CTA to start */
    bool slots_changed;   /* CTAs have begun or ended since the assignment */
};
struct gpudet_serial_mode { /* serial.c: serial mode (thesis 4.5) */
    uint64_t *warps;        /* set of warps with requests */
    uint32_t *order;        /* the same warps, in the order of execution */
    bool any;               /* the set is not empty */
    /* For an observer of atomics: before the quantum begins, each of these warps reports its atomic, in that order. */
    bool observed;
    uint32_t observed_count, observed_next;
};
struct gpudet_commit_mode { /* commit.c: commit mode (thesis 4.4) */
    struct gpudet_sender *senders;
    struct gpudet_depth_line *lines; /* hash table by chunk */
    uint32_t line_capacity, line_count;
    uint32_t stamp; /* stamp of this commit; lines with another stamp are free */
    uint32_t (*depths)[GPUDET_CHUNK];
    uint32_t depth_count, depth_capacity;
    struct gpudet_partition *partitions;
};
struct gpudet_fast { /* fast.c, in_place.c: faster paths with the same results */
    uint64_t launches;
    bool speculates; /* emu_launch_traits.speculates */
    bool windowed;   /* the adversary chooses among the warps of a few CTAs at a time */
    /* No observer and no counter depends on the interleaving of warps or on the arrival of requests. */
    bool order_unobservable;
    /* Nor on the contents of write logs: stores go to memory, with an undo log. */
    bool stores_in_place;
    uint32_t bias_draws; /* number of choices until the bias is drawn anew */
    /* distance of the chosen warp from the end of the list of ready warps, as a fraction of the list in units of
     * 2^-32 */
    uint64_t bias;
    /* in-place stores: the warp whose stores are in memory; NULL: none */
    struct gpudet_warp *in_memory;
    uint64_t *storing; /* set of writers, while they are sorted */
};
struct gpudet {
    struct gpudet_options options;
    struct emu_order order;
    struct gpudet_counts n;
    uint64_t random; /* state of the adversary's random numbers */
    struct emu_machine *m;
    struct emu_shape shape;
    struct bloom bloom; /* the shape of Bloom filters */
    bool counted;       /* `n` is reported */
    bool serialised;    /* the warps of a group run one after another */
    uint64_t quantum;
    bool open;     /* parallel mode: CTAs may begin */
    bool begins;   /* a quantum is beginning */
    bool progress; /* some warp has made progress in this quantum */
    struct gpudet_warp *warps;
    struct gpudet_slot *slots;
    struct gpudet_group *groups;
    uint32_t warp_count, warp_capacity, slot_capacity;
    struct gpudet_warp *last;         /* the warp that was picked last */
    uint32_t last_group;              /* group of the CTA that began last */
    uint32_t in_state[GPUDET_STATES]; /* number of warps in each state; not maintained for NONE */
    uint32_t *writers, writer_count;  /* warps with entries in their logs */
    uint32_t *runtime_callers,
        runtime_caller_count; /* warps that wait to call the device runtime */
    /* number of these warps that call before the quantum begins (`called`), and that have had their turn (`calling`) */
    uint32_t calling, called;
    uint64_t *stopped;         /* set that includes all warps that resume in the next quantum */
    uint64_t *turns;           /* set of groups of these warps */
    struct gpudet_arena arena; /* memory of the logs of a quantum */
    struct gpudet_ctas ctas;
    struct gpudet_serial_mode serial;
    struct gpudet_commit_mode commit;
    struct gpudet_fast fast;
};
#define GPUDET_TAKEN UINT32_MAX

/* Returns the list, reallocated if necessary, with space for `need` elements. */
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

/* A warp's index in `warps` is its hardware warp number: by SM, slot of the SM, number in the CTA. */
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
/* Loops over the elements i of a set of numbers below `count`, ascending. The body may remove i. */
#define GPUDET_EACH(i, set, count)                                                                 \
    for (uint32_t w_ = 0; w_ < ((count) + 63) / 64; w_++)                                          \
        for (uint64_t m_ = (set)[w_], i = 0;                                                       \
             m_ && (i = 64 * (uint64_t)w_ + (uint64_t)__builtin_ctzll(m_), true); m_ &= m_ - 1)
/* The warp has stopped and resumes in the next quantum. */
static inline void gpudet_resume(struct gpudet *g, struct gpudet_warp *w)
{
    gpudet_set_remove(g->stopped, w->number);
    gpudet_set_state(g, w, GPUDET_RUNS);
    emu_machine_wake(g->m, &w->who);
}

/* serialised.c: the turns of the warps of a group. */
void gpudet_group_begin(struct gpudet *g, struct gpudet_group *u); /* a quantum begins */
void gpudet_group_next(struct gpudet *g, struct gpudet_group *u);
struct gpudet_warp *gpudet_group_current(const struct gpudet *g, const struct gpudet_group *u);
struct gpudet_group *gpudet_group_of(const struct gpudet *g, const struct gpudet_warp *w);

/* log.c */
/* number of entries that the store would add */
uint32_t gpudet_log_chunks(const struct emu_access *a);
void gpudet_log_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
/* Searches the log for a load. true: the log has some of its bytes, and a->result is set. */
bool gpudet_log_load(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
/* Removes the first run of adjacent bytes, at most 64, from a mask. false: the mask is empty. */
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

/* commit.c: commits all logs and empties them. */
void gpudet_commit(struct gpudet *g);
void gpudet_commit_begin(struct gpudet *g); /* a launch begins */
void gpudet_commit_free(struct gpudet *g);
/* Writes the bytes of the entry that are in the mask `pass`. */
void gpudet_commit_bytes(struct gpudet *g, const struct gpudet_entry *e, uint64_t pass[2]);

/* fast.c */
unsigned gpudet_fast_wants(void *self, const struct emu_launch_traits *next);
void gpudet_fast_begin(struct gpudet *g);
bool gpudet_fast_window_is_full(const struct gpudet *g);
/* the index of one of `count` ready warps */
uint32_t gpudet_fast_choose(struct gpudet *g, uint32_t count);
/* Prefetches data of the warps before the i-th, which mostly run next. */
void gpudet_fast_prefetch(const struct gpudet *g, const struct emu_warp *ready, uint32_t i);
void gpudet_fast_commit(struct gpudet *g); /* in place of gpudet_commit */

/* in_place.c, with stores_in_place. To be called before a store of the warp, whose stores are in memory. */
void gpudet_in_place_store(struct gpudet *g, struct gpudet_warp *w, const struct emu_access *a);
uint32_t gpudet_in_place_entries(struct gpudet_log *l); /* makes `count` exact */
/* Undoes the stores of the previous warp and puts those of `w` into memory; NULL: of no warp. */
void gpudet_in_place_switch(struct gpudet *g, struct gpudet_warp *w);
/* to be called while no warp's stores are in memory */
void gpudet_in_place_commit(const struct gpudet_log *l);

/* serial.c: DONE if serial mode has executed the access; else the access is queued for serial mode, and the warp
 * sleeps. */
enum emu_verdict gpudet_serial_request(struct gpudet *g, struct gpudet_warp *w,
                                       const struct emu_access *a);
void gpudet_serial_defer_reduction(struct gpudet *g, struct gpudet_warp *w,
                                   const struct emu_access *a);
void gpudet_serial_run(struct gpudet *g);
/* Whether the warp has an atomic that serial mode has executed and that observers do not know of; the next reports it. */
bool gpudet_serial_has_unreported(const struct gpudet_warp *w);
void gpudet_serial_report(struct gpudet *g, const struct gpudet_warp *w,
                          const struct emu_access *a);
void gpudet_serial_free(struct gpudet_warp *w);

/* options.c */
char *gpudet_conflict(const void *options);
enum order_promise gpudet_promise(const void *options);
void gpudet_storage(const void *options, const struct emu_gpu *gpu, struct order_storage *out);
void gpudet_numbers(void *self, void (*add)(void *to, const char *name, uint64_t value), void *to);
extern const struct order_option gpudet_option_list[GPUDET_OPTIONS];

#endif
