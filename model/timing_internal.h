/* model/timing_internal.h: the parts of the timing model (model/timing.h), among themselves.
 *
 *     timing.c             one run: the loop over events, sums
 *     timing_code.c        what instructions cost: class, unit, registers, matrix work
 *     timing_sm.c          warps, CTAs, barriers, schedulers, instruction cache
 *     timing_memory.c      shared memory, L1, network, L2, DRAM, atomics
 *     timing_hops.c        hops between partitions of a distributed memory
 *     timing_l1.c          what L1 has
 *     timing_async.c       asynchronous copies, and what waits for them
 *     timing_lock.c        locks that warps take with compare-and-swaps or exchanges
 *     timing_poll.c        loads that wait for what other warps store
 *     timing_order.c       which instructions an order treats in its own way
 *     timing_gpudet.c      GPUDet: quanta, write logs, commits, serial mode
 *     timing_dab.c         DAB: buffers of reductions, turns, flushes
 *     timing_storage.c     memory of one run
 *     time_lapse.c         what the run did over time
 *     issue_bins.c         how many issue slots were used over time, in few columns
 *
 * `struct timing` is one run. Time is in cycles of the SMs' clock. A resource that serves one request after another
 * (a unit, a port, a slice, a channel) is a double: the cycle in which it is free again (timing_reserve). There is no
 * queue of events. Each scheduler knows the cycle in which it may issue next, a tree has the least of them over SMs,
 * and an issue computes at once when its results will be there. So requests reach a resource in the order of their
 * issue, not of their arrival.
 *
 * An instruction in a window of a trace stands for `fold` instructions of the warp, one after the other. It occupies
 * each unit and each part of the memory system so many times as long, and its latencies are so many times as long.
 * So warps with windows of one level contend as they would without, at a slower pace. */
#ifndef HEDDLE_MODEL_TIMING_INTERNAL_H
#define HEDDLE_MODEL_TIMING_INTERNAL_H

#include "emu/trace.h"
#include "model/time_lapse.h"
#include "model/timing.h"
#include "model/timing_order.h"

#include <math.h>
#include <stddef.h>

#define TIMING_NEVER HUGE_VAL

struct timing;

/* What schedulers look at of warps: those of one scheduler stand side by side (timing_warp.place). */
struct timing_next {
    double *ready; /* its registers are there, it may issue; TIMING_NEVER: it waits, or has ended */
    uint32_t *age;
    uint8_t *unit; /* enum timing_unit, of the next instruction */
    uint32_t each; /* even: places of a scheduler; those without a warp are never ready */
};

struct timing_warp {
    /* what each issue asks for */
    uint32_t inst, left; /* the next instruction, and how many of its block are left with it */
    uint8_t part;        /* enum timing_part: what `ready` waits for */
    uint8_t class;       /* of the next instruction */
    bool live;
    uint32_t entered; /* instructions of the block that begins with it; 0: none does */
    double fold;      /* so many executions are meant by one of the block, */
    double *ready;    /* struct timing_next */
    double *regs;
    uint8_t *reg_parts;
    double begun, over;          /* its first issue; when all that it asked of memory is done */
    uint32_t cta, sm, scheduler; /* slot of its CTA; scheduler of the device */
    uint32_t place;              /* in struct timing_next */
    const struct trace_warp *trace;
    const struct trace_cta *cta_trace;
    uint32_t at;                        /* word */
    uint32_t line;                      /* of instructions, that it has last: its number and one */
    bool waits;                         /* at a barrier */
    struct timing_lock *holds, *awaits; /* NULL: none (timing_lock.c) */
    uint32_t attempt; /* the word, and one, of its access of which this is known: */
    uint32_t takes;   /* the element that is a lock; UINT32_MAX: none is */
    uint32_t polls;   /* TRACE_POLL_WORD of the lane that waits; 0: none (timing_poll.c) */
    uint8_t lanes;    /* active ones; of a trace that says so */
    bool unsynced;    /* barriers of the block are left out of the trace */
    double rest;      /* in windows: by 2^level times this */
};

struct timing_cta { /* a slot of an SM */
    uint32_t live, arrived;
    uint32_t partition; /* that it is beside, where hops are counted */
    double ends;
};

struct timing_scheduler {
    double unit[TIMING_UNITS]; /* when those that it issues to are free */
    double last;               /* behind the last issue */
    uint32_t *warps, count;    /* slots of warps */
    uint32_t first;            /* of its warps in struct timing_next */
    uint32_t recent;
    bool strict;   /* it issues from one warp alone: */
    uint32_t turn; /* this one */
    /* The warp that is to issue at the scheduler's time, while no warp and no unit changes. */
    bool planned;
    uint32_t plan;
    double plan_later; /* timing_choice.later */
    double part[TIMING_PARTS], by_unit[TIMING_UNITS];
};

struct timing_line {
    uint32_t tag;
    uint8_t sectors;
    double used, filled;
};

enum timing_kind { /* of instructions, for orders */
                   TIMING_PLAIN,
                   TIMING_STORE,
                   TIMING_STRONG, /* volatile, relaxed, acquire, release */
                   TIMING_FENCE,
                   TIMING_REDUCTION, /* nobody reads its result */
                   TIMING_FETCHING,  /* an atomic of which the result is read */
};
uint8_t *timing_kinds(const struct emu_trace *t); /* by instruction; to be freed */

struct timing_access { /* of one instruction: what of it is done when */
    double done;
    uint8_t part;
};

/* What an order changes. */
struct timing_order_hooks {
    void (*begin)(struct timing *c, const struct timing_order *o);
    void (*end)(struct timing *c);
    /* The next CTA of the slot: place in the trace. false: none now. */
    bool (*deal)(struct timing *c, uint32_t slot, uint32_t *cta);
    void (*placed)(struct timing *c, uint32_t slot); /* it has begun there */
    /* The warp's next instruction is known, and when its registers are there: it may be
     * held: ready becomes TIMING_NEVER. */
    void (*look)(struct timing *c, struct timing_warp *w, double now);
    /* An access to global memory, the trace's word of which is at w->at. true: that is all of it. */
    bool (*access)(struct timing *c, struct timing_warp *w, uint32_t inst, double now,
                   struct timing_access *a);
    /* All have come to the barrier of the CTA in the slot. May be NULL. */
    void (*barrier)(struct timing *c, uint32_t slot);
    void (*ended)(struct timing *c, struct timing_warp *w, double now);
    /* No warp can go on: the order makes one able to. false: there is nothing that it could do. */
    bool (*idle)(struct timing *c);
};
extern const struct timing_order_hooks timing_gpudet_hooks, timing_dab_hooks;

struct timing_sm_key { /* of an SM: the least of its schedulers */
    double when;
    uint32_t sm;
};

struct timing_choice { /* of an SM: what it issues next */
    bool made;
    uint32_t scheduler, warp; /* of the device; of the scheduler */
    double later;             /* when another one of the scheduler may be able to */
};

enum { BANK_ROWS = 8 };
struct timing_bank { /* of DRAM */
    double free;     /* when it can open another row */
    double opened[BANK_ROWS];
    uint32_t row[BANK_ROWS], last; /* those that were opened last */
};

/* x % n without dividing (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019). */
struct timing_divisor {
    uint64_t inverse;
    uint32_t n;
};
static inline struct timing_divisor timing_divisor(uint32_t n)
{
    return (struct timing_divisor){UINT64_MAX / n + 1, n};
}
static inline uint32_t timing_remainder(uint32_t x, struct timing_divisor by)
{
    return (uint32_t)((unsigned __int128)(by.inverse * x) * by.n >> 64);
}

struct timing_slices { /* of L2: which one a line is in */
    uint32_t chunk;    /* lines of a channel side by side: 2 to this power */
    struct timing_divisor channels, per_channel;
    bool hashed; /* as of the timing_machine */
};

struct timing_events { /* by a hash of their names: of as many as `map` says */
    struct timing_event {
        uint32_t name; /* one more than its number; 0: none */
        double when;
    } * of;
    uint8_t *seen; /* pieces that are in use: the others have anything in them */
};

struct timing_inst {  /* an instruction, as far as each issue of it asks */
    uint32_t reg;     /* its place in reg_of: those read, then those written */
    uint16_t four[4]; /* the first four of these; where it has fewer, one that is never written */
    uint16_t reads, all; /* with those written */
    uint8_t class, unit;
    bool fence;    /* the warp waits until all that it has stored is in L2 */
    bool release;  /* the same before it; for nothing, if the machine's fences take no time */
    bool system;   /* either is of the scope of the system */
    bool sequence; /* in machine code it ends with a branch: the warp goes on when it is done */
    bool floats;   /* an atomic on floating-point numbers */
    bool combined; /* one lane makes the atomic for all */
    bool reduces;  /* L2 answers the atomic with nothing */
    bool swaps;    /* it is a compare-and-swap */
    bool locks, by_exchange; /* it may take locks; so does an exchange (timing_lock.c) */
};

struct timing_code { /* the instructions of the trace */
    struct timing_inst *insts;
    uint8_t *steps; /* by instruction: of asynchronous copies; NULL: there are none */
    double *
        matrices; /* by instruction: its multiply-adds, in those of PTX_COST_TENSOR; NULL: no matrix instructions */
    const uint32_t *reg_of; /* as emu_trace.regs, below `regs` */
    uint32_t *folded;       /* that, if the trace has more; else NULL */
    uint32_t regs;          /* registers of a warp that have times */
};

struct timing_l1_state { /* of each SM, one after the other (timing_l1.c) */
    uint32_t sets, ways, lines, chains;
    struct timing_divisor by_sets;
    bool *seen;        /* by SM: it is in use: the others have anything in them */
    uint32_t *evicted; /* by SM: lines, so far */
    uint32_t *chain;
    struct timing_l1_set *set;
    struct timing_l1_line *line;
};

struct timing_lock;
struct timing_polled;
struct timing_memory { /* the memory system, as far as these SMs have a part in it */
    const struct timing_share
        *sampled; /* the SMs stand for all; NULL: they are all, or have their part of everything */
    double fraction;                  /* of the network and L2 that the SMs have */
    uint32_t slices, channels, ports; /* that the SMs have, */
    double slice_rate, channel_rate;  /* of what these can do */
    uint32_t next_slice;              /* sampled: slices take requests in turn */
    struct timing_slices l2_map;      /* which slice of the GPU has a line */
    double row_span; /* bytes of addresses whose rows are side by side, one in each channel */
    /* when each takes its next request */
    double network, *load_store, *constants, *port_in, *port_out, *slice, *channel;
    double *all_slices;   /* sampled: for what SMs ask of the same lines */
    const double *crowds; /* struct timing_share; */
    double *crowded;      /* when each slice of the GPU takes its next atomic */
    struct timing_bank *banks;
    struct timing_l1_state l1;
    struct timing_lock *locks;         /* NULL: no instruction takes one */
    uint32_t lock_waiters;             /* warps that wait for one, */
    uint64_t *lock_waits;              /* and which: a bit for each */
    uint32_t *attempts;                /* by slice: their lanes; NULL: they occupy nothing */
    const struct timing_warp *holder;  /* of a lock, whose access this is; NULL: of none */
    struct timing_polled *polled;      /* by bucket; NULL: no load waits for stores */
    uint32_t *polled_loops;            /* by warp and bucket: loops that have ended */
    uint32_t poll_waiters;             /* warps that do, */
    uint64_t *poll_waits;              /* and which: a bit for each */
    uint32_t event_slots;              /* of each of these */
    const struct timing_hops *hops;    /* NULL: none are counted */
    double way;                        /* cycles of those to the line that is asked for */
    struct timing_events fills, swaps; /* lines from DRAM: when they are in L2; elements: when a
                                         compare-and-swap was through */
};

struct timing_block;
struct timing_storage { /* what the arrays of a run are in */
    struct timing_block *blocks;
    size_t taken; /* bytes */
};

struct timing { /* one run */
    const struct emu_trace *t;
    const struct timing_machine *m;
    struct timing_result *out;
    struct issue_bins issued;
    struct time_lapse *lapse; /* what gets what happens over time; NULL: nothing does */
    const struct timing_order_hooks *hooks; /* of the order; NULL: native */
    void *order;                            /* what it keeps */
    double issue_cycles;                    /* of a scheduler, for an instruction */
    double
        fold; /* the instruction that is issued stands for so many in a row (emu/trace.h, windows) */
    double end; /* of the last CTA so far */
    /* sizes: SMs, slots for CTAs of an SM, warps of a CTA, of an SM, schedulers of all */
    uint32_t sms, slots, warps_per_cta, warps_per_sm, scheduler_count;
    struct timing_code code;
    struct timing_memory mem;
    struct timing_storage storage;
    /* warps and schedulers */
    struct timing_warp *warps;
    struct timing_next next;
    double *issues; /* of a scheduler's warps */
    struct timing_cta *ctas;
    struct timing_scheduler *schedulers;
    double
        *turns; /* by scheduler: when a warp of it may be able to issue; TIMING_NEVER: none may */
    /* No warp of another SM makes warps of an SM go on: a scheduler's next turn is known when it has issued. */
    bool foresees;
    uint32_t *scheduler_warps;
    double *reg_times; /* of all warps */
    uint8_t *reg_parts;
    struct timing_copies *copies;   /* by warp */
    struct timing_batches *batches; /* by slot of a CTA */
    struct timing_line *fetched;    /* lines of instructions that SMs have */
    uint32_t next_cta, age;         /* of the trace, the next to be placed; of the next warp */
    double dispatcher;              /* when the GPU can start another CTA in place of one */
    /* which SM goes next */
    struct timing_sm_key *key;     /* a tree of the least, of equals the first: leaves are SMs */
    struct timing_choice *choices; /* by SM */
    uint32_t leaves, running;      /* the SM whose turn it is */
    uint32_t stepping;             /* the scheduler whose turn it is */
    double woken;                  /* when it is to have one again, at the latest */
};

/* ---- timing_storage.c --------------------------------------------------------------------------------------- */

struct timing_storage timing_storage(void);
void *timing_take(struct timing_storage *s, size_t count, size_t size); /* zeros */
void *timing_take_raw(struct timing_storage *s, size_t count,
                      size_t size);              /* anything may be in it */
void timing_give_back(struct timing_storage *s); /* all of it */
void *timing_calloc(size_t count, size_t size);  /* zeros, to be freed; aborts without memory */

/* ---- small things ----------------------------------------------------------------------------------------- */

/* A resource that is free from *free on serves a request of `now` for `interval`. Returns when it begins. */
static inline double timing_reserve(double *free, double now, double interval)
{
    const double at = *free > now ? *free : now;
    *free = at + interval;
    return at;
}
/* A bijection of 32 bits that mixes well: "lowbias32" (Wellons, "Prospecting for Hash Functions", 2018). */
static inline uint32_t timing_hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}
/* Of a line's sectors how many. (Baseline x86 has no instruction for it.) */
static inline uint32_t timing_popcount(uint32_t sectors)
{
    return (uint32_t)(UINT64_C(0x4332322132212110) >> 4 * sectors & 15);
}
static inline bool timing_is_load(const struct trace_line *n)
{
    return n->how == COUNT_LOAD || n->how == COUNT_LOAD_L2;
}
static inline uint32_t timing_warp_index(const struct timing *c, const struct timing_warp *w)
{
    return (uint32_t)(w - c->warps);
}
/* Sets of warps, a bit for each. */
static inline void timing_set_add(uint64_t *set, uint32_t warp)
{
    set[warp / 64] |= UINT64_C(1) << warp % 64;
}
static inline void timing_set_remove(uint64_t *set, uint32_t warp)
{
    set[warp / 64] &= ~(UINT64_C(1) << warp % 64);
}
/* The first one of the set from that warp on. `count`: there is none. */
static inline uint32_t timing_set_next(const uint64_t *set, uint32_t warp, uint32_t count)
{
    if (warp >= count) return count;
    uint64_t word = set[warp / 64] >> warp % 64;
    if (word) return warp + (uint32_t)__builtin_ctzll(word);
    for (warp = (warp / 64 + 1) * 64; warp < count; warp += 64) {
        word = set[warp / 64];
        if (word) return warp + (uint32_t)__builtin_ctzll(word);
    }
    return count;
}
/* Whether a word of the trace begins an access of that instruction. */
static inline bool timing_is_access_of(const struct emu_trace *t, uint32_t word, uint32_t inst)
{
    return (word & 3) != TRACE_BLOCK && t->site_inst[word >> 2] == inst;
}

/* ---- timing_code.c ------------------------------------------------------------------------------------------ */

void timing_prepare_code(struct timing *c);

/* ---- timing_memory.c ---------------------------------------------------------------------------------------- */

/* How much of the memory system the SMs of the trace have; then all that it needs. */
void timing_prepare_memory(struct timing *c, const struct timing_share *share, uint32_t l1_bytes);
struct timing_slices timing_slices_of(const struct timing_machine *m);
static inline uint32_t timing_slice_of(const struct timing_slices *s, uint32_t line)
{
    const uint32_t chunk = line >> s->chunk, per = s->per_channel.n;
    if (!s->hashed) return chunk % s->channels.n * per + chunk / s->channels.n % per;
    return timing_remainder(timing_hash(chunk), s->channels) * per +
           timing_remainder(line, s->per_channel);
}
/* A request of so many sectors' size on its way from an SM: when it is at its slice. */
double timing_send(struct timing *c, uint32_t sm, double sectors, double now);
/* Sectors of a line from DRAM: when they are in L2. */
double timing_from_dram(struct timing *c, uint32_t slice, uint32_t line, uint32_t sectors,
                        double now);
/* The accesses that the trace has of the warp's instruction, from w->at on: when the last one is done. */
struct timing_access timing_access_memory(struct timing *c, struct timing_warp *w, uint32_t inst,
                                          double now);
/* The words of the trace that say what the next instruction does in global memory; NULL: nothing. */
const uint32_t *timing_global_words(const struct timing *c, const struct timing_warp *w);
/* ---- timing_hops.c ------------------------------------------------------------------------------------------ */

/* The partition that the CTA is beside. 0 where hops are not counted. */
uint32_t timing_partition_of(const struct timing *c, const struct trace_cta *cta);
/* The warp asks for the line: its hops are counted, and c->mem.way is what they take. */
void timing_count_hops(struct timing *c, const struct timing_warp *w, const struct trace_line *n);

/* ---- timing_l1.c -------------------------------------------------------------------------------------------- */

void timing_l1_prepare(struct timing *c, uint32_t bytes); /* empty */
/* The line, which is used; NULL: it is not there. */
struct timing_line *timing_l1_find(const struct timing *c, uint32_t sm, uint32_t line);
/* The line: in the place of the least recently used one of its set, without any sectors, if it was not there. */
struct timing_line *timing_l1_take(const struct timing *c, uint32_t sm, uint32_t line);
/* A line comes into L1 that an SM writes for itself. */
void timing_fill_l1(const struct timing *c, uint32_t sm, uint32_t line, double now);
void timing_empty_l1(struct timing *c);

/* ---- timing_sm.c -------------------------------------------------------------------------------------------- */

void timing_prepare_sms(struct timing *c);
/* Gives CTAs to the slot from `now` on, until one of them has traced instructions. */
void timing_place_cta(struct timing *c, uint32_t slot, double now, enum timing_part part);
/* The SM whose scheduler issues next, and what follows as far as other SMs have no part in it. */
void timing_run_sm(struct timing *c, uint32_t sm, double now);
/* No warp can go on, as traces end in the middle: all that wait at a barrier go on. false: there are none. */
bool timing_unblock(struct timing *c, double now);
/* The warp does not issue until it is let go: from `when` on, if its registers are there. It has waited for `part` if
 * that is later. */
void timing_release_warp(struct timing *c, struct timing_warp *w, double ready, double when,
                         enum timing_part part);

/* ---- timing_lock.c ---------------------------------------------------------------------------------------- */

void timing_prepare_locks(struct timing *c);
/* Whether the instruction is an atomic by which warps may take locks. */
bool timing_may_take_lock(const struct emu_trace *t, uint32_t inst);
/* Whether the warp's next instruction, an access to memory, takes a lock that another warp has. Then the warp must not
 * issue until the lock is released. Else the warp has the lock from now on. */
bool timing_lock_waits(struct timing *c, struct timing_warp *w);
/* An access of the warp was done: if it releases the lock, those that wait go on. */
void timing_lock_written(struct timing *c, struct timing_warp *w, const uint32_t *word,
                         double done);
void timing_lock_ended(struct timing *c, struct timing_warp *w, double now); /* the warp */
/* Cycles that a request of the warp waits in the slice behind the attempts of those that wait for locks of it. */
double timing_lock_queue(const struct timing *c, const struct timing_warp *w, uint32_t slice);
/* The same of a fence, which is done when all slices have answered. */
double timing_lock_queues(const struct timing *c, const struct timing_warp *w);
/* No warp can go on: those that wait for locks do. false: there are none. */
bool timing_lock_unblock(struct timing *c, double now);

/* ---- timing_poll.c ---------------------------------------------------------------------------------------- */

void timing_prepare_polls(struct timing *c);
/* Whether the warp's next instruction polls for stores that have not been executed. Then the warp must not issue until
 * timing_publish() lets it go. Else *when: the stores that it polls for are in L2; if that is not later than `now`, the
 * instruction must be issued. */
bool timing_poll_waits(struct timing *c, struct timing_warp *w, double now, double *when);
/* An access of the warp's instruction is in L2 at `done`: if warps poll for it, they go on then. */
void timing_publish(struct timing *c, const struct timing_warp *w, uint32_t inst, double done);
/* No warp can go on: those that poll do. false: there are none. */
bool timing_poll_unblock(struct timing *c, double now);

/* ---- timing_async.c --------------------------------------------------------------------------------------- */

/* What instructions have to do with asynchronous copies. false: there are none. */
bool timing_async_steps(const struct emu_trace *t, uint8_t *steps);
size_t timing_async_size(size_t *of_cta); /* of a warp's timing_copies, of a CTA's timing_batches */
void timing_async_place(const struct timing *c, uint32_t slot);
/* The instruction has been issued, what it does itself is `done` then: until when the warp waits for copies. */
struct timing_access timing_async(struct timing *c, struct timing_warp *w, uint32_t inst,
                                  struct timing_access done);
/* The next instruction is known: the warp sleeps if nobody has begun to copy what it waits for. */
void timing_async_sleep(struct timing *c, struct timing_warp *w, uint32_t inst);
/* Nobody can go on: those of the CTA that sleep do. */
bool timing_async_wake(struct timing *c, uint32_t slot, double now);

#endif
