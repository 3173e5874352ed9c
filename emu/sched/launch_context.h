/* emu/sched/launch_context.h: the state of a running launch (struct launch_context) and of its host threads (struct
 * host_worker), for the files that run it.
 *
 *     launch.c        host threads, the loop over CTAs and groups
 *     its.c, yield.c  independent thread scheduling, and when a CTA switches to it
 *     ordered.c       the loop of a launch under an order (ordered.h lists its parts)
 *     cta.c           memory of a CTA and its initial state
 *     frames.c        rows that CTAs share
 *     cta_arena.c     memory that is reused from launch to launch
 *     deliver.c       output that becomes visible in the order of CTAs
 *     fault.c         texts of faults
 *     emu/progress/   deadlock and livelock proofs, busy-wait elision
 *     emu/speculate/  speculation, attached by struct speculation */
#ifndef HEDDLE_EMU_SCHED_LAUNCH_CONTEXT_H
#define HEDDLE_EMU_SCHED_LAUNCH_CONTEXT_H

#include "base/buf.h"
#include "emu/cta_arena.h"
#include "emu/measure/cache.h"
#include "emu/measure/trace_turns.h"
#include "emu/sched/frames.h"
#include "emu/sched/launch.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    MOST_CLUSTER = 16, /* CTAs of a cluster */
    OUTBOX_ROWS = 256,
    /* Distance in bytes between data that different host threads write: the host prefetches cache lines in pairs. */
    LINE_PAIR = 128,
    INSTRUCTIONS_PER_EVENT = 32 /* most instructions for each unit of a burst of EMU_STEP_EVENT */
};
#define WORKER_ENDED UINT32_MAX

struct red { /* a reduction that is deferred until its CTA's turn */
    u64 address;
    u8 op, type;
    u8 operand[32];
};
struct emu_outbox {
    u32 cta;
    struct red *reds;
    size_t red_count, red_cap;
    struct buf text;
    struct cache_port port;  /* the CTA's requests to the caches */
    size_t bytes;            /* size of all members' contents, bytes */
    struct emu_outbox *next; /* next outbox of the row, of a later CTA */
};

/* The memory of a resident CTA is a block of the CTA arena that begins with this structure. */
struct slot {
    struct emu_cta cta;
    struct cta_block block;
    struct slot *next;
    u32 turns;
    struct cache_port port;
    struct trace_cta *trace;     /* trace of the CTA; NULL: not traced */
    struct trace_turns turns_of; /* for traced CTAs whose warps run in lockstep */
};

struct livelock_proof { /* the attempt to prove a livelock under an order */
    u32 number;         /* number of the attempt */
    u32 budget;         /* number of state comparisons that may still fail; at 0 the attempt ends */
    bool changed; /* memory or another part of the state has changed: the attempt has failed */
};

struct host_worker { /* a host thread */
    struct emu_worker worker;
    struct launch_context *ctx;
    struct emu_site **sites;         /* by SM */
    struct emu_block_count **blocks; /* by SM */
    u64 *ctas;                       /* number of ended CTAs of each SM */
    struct slot *resident, *spare;
    const struct emu_cta *model; /* the first CTA that began; NULL: none yet */
    u64 stuck_state;             /* state of the groups at the last time-out of their waits */
    u32 time_outs;               /* number of such time-outs */
    u32 passes;                  /* passes over the resident CTAs in which no CTA began or ended */
    bool saw_clock;              /* the last deadlock check found a group that reads a clock */
    /* instructions of its groups when the first of the successive checks with saw_clock was made; 0: none */
    u64 since;
    /* epoch in which its CTAs cannot make progress unless memory changes; 0: they may */
    atomic_uint stuck;
    struct slot **last; /* end of the list `resident` */
    u64 instructions;
    struct livelock_proof *livelock; /* NULL: no attempt runs */
    struct frames *frames;           /* NULL: slots have rows of their own */
    bool elides_busy_waits;          /* busy_wait_speculation is attached */
    /* CTAs (clusters) that it has taken and not begun: batch .. batch_end - 1 */
    u32 batch, batch_end;
    u32 ended_word;        /* word of ctx->ended that ended_bits belongs to */
    u64 ended_bits;        /* bits of ended CTAs that are not yet set in that word */
    u8 padding[LINE_PAIR]; /* separates the data of the next host worker */
};

struct launch_context {
    _Alignas(LINE_PAIR)
        u8 before[2 * LINE_PAIR]; /* distance from the stack below, which changes often */
    _Alignas(LINE_PAIR) struct emu_machine *m;
    const struct emu_config *config;
    /* Data that all host workers read, data that they change often, and the surrounding stack are in separate cache
     * lines of the host. */
    /* first CTA, or cluster, that no host worker has taken */
    _Alignas(LINE_PAIR) atomic_uint next;
    _Alignas(LINE_PAIR) atomic_uint stop_at; /* CTAs from this one on need not run */
    atomic_bool give_up;
    atomic_bool in_turn; /* some output waits for `deliver`, which must be kept up to date */
    /* incremented when the CTAs of a host thread stop or resume making progress */
    atomic_uint epoch;
    atomic_bool is_deadlock; /* the launch is deadlocked; each host thread reports its first CTA */
    _Alignas(LINE_PAIR) pthread_mutex_t lock;
    pthread_mutex_t turn; /* the host thread that holds it advances `deliver` */
    atomic_ullong *ended; /* a bit for each CTA */
    struct outbox_row {
        struct emu_outbox *first, *last; /* first NULL: none */
        /* output that is not yet delivered, by CTA modulo OUTBOX_ROWS */
    } outboxes[OUTBOX_ROWS];
    struct emu_outbox *spare_outboxes;
    atomic_size_t waiting; /* bytes in all outboxes */
    atomic_uint outbox_count;
    atomic_uint deliver; /* the CTA whose output is delivered next */
    _Alignas(LINE_PAIR) u64 limit;
    struct emu_fault fault;
    u32 fault_cta;
    atomic_ullong busy_waits; /* struct launch_counts */
    atomic_ullong spent;
    double deadline;
    double started, reported; /* when config->progress was last called */
    struct host_worker *workers;
    u32 worker_count;
    /* Output is not deferred: there is one host thread, and CTAs may communicate. */
    bool at_once;
    struct arena *arena;
};

/* The host worker that runs the group. */
static inline struct host_worker *host_worker_of(const struct emu_group *g)
{
    return (struct host_worker *)g->worker;
}

/* Allocates memory for a CTA of the launch from m->cta_arena. Its rows are zeros, except rows that are always written
 * before they are read. */
struct slot *slot_new(struct host_worker *h);
/* Frees memory of the slot that is outside of its block. */
void slot_destroy(struct slot *p);
/* Initialises the slot for a CTA that begins, whatever CTA was there before. */
void slot_begin(struct host_worker *h, struct slot *p, u32 linear, u32 sm);
/* Connects the CTAs of a cluster, given by rank, after they have begun. */
void slot_join_cluster(struct slot *const *slots, const struct emu_machine *m);

/* The size of the rows of GROUP warps, bytes. */
size_t slot_bundle_size(const struct emu_frame *f);
/* Whether the contents of the row depend on the CTA. */
bool slot_fills_by_cta(const struct emu_fill *f);
/* Moves the rows of the CTA's warps to `rows`, a memory of the size of a set, with number `set` in frames.owner. The
 * rows are initialised as for a CTA that begins. */
void slot_move_rows(struct emu_cta *c, const struct frames *f, u8 *rows, u32 set);
/* Fills a row whose contents depend on the CTA, for one warp. */
void slot_fill_warp(struct emu_group *g, const struct emu_fill *f);

/* The linear index of the CTA with that rank in a cluster. */
u32 slot_of_cluster(const struct emu_machine *m, u32 cluster, u32 rank);

/* Runs a launch with an order, in place of launch.c's loop. */
void ordered_run(struct host_worker *h);

/* Functions that both loops use. */
/* Begins the trace of a CTA. NULL: the CTA is not traced. */
struct trace_cta *launch_trace_of(struct host_worker *h, u32 linear);
void launch_tell_cta(const struct emu_machine *m, const struct emu_cta *c, u8 kind);
/* Runs a group until it stops; if it is done, decrements cta->running. false: the group still waits at the same
 * instruction. */
bool launch_run_group(struct host_worker *h, struct emu_group *g);
/* Adds the executed instructions to the launch's. true: the limit of instructions or of time is exceeded. */
bool launch_over_limit(struct host_worker *h);
/* Raises a fault of the CTA, which cannot end (EMU_DEADLOCK) or not within the limits (EMU_LIMIT). */
void launch_stop(struct slot *p, enum emu_fault_kind kind);

/* To be called before each turn of a CTA: selects the counters and cache requests of the CTA. */
void deliver_count_for(struct host_worker *h, struct slot *p);
/* Whether the deferred output is so large that only the first resident CTA may run. */
bool deliver_is_full(struct launch_context *ctx);
/* Waits while the deferred output is too large, unless the next CTA to deliver is one of this host worker's. */
void deliver_wait(struct host_worker *h, const struct slot *p);
/* The CTA has ended: its output becomes visible as soon as that of all earlier CTAs has. */
void deliver_ended(struct host_worker *h, struct slot *p);
/* Publishes which CTAs of this host thread have ended. */
void deliver_publish_ended(struct host_worker *h);
/* The launch has ended: frees output that was not delivered. */
void deliver_end(struct launch_context *ctx);

/* Whether it is proved that no CTA of any host thread can make progress. Runs every group for some steps. */
bool deadlock_proved(struct host_worker *h);
/* Appends which global memory the polling warps of a CTA read, and which threads could write it. */
void deadlock_describe_polled(struct buf *b, const struct emu_cta *c);
/* No group can run: lets every mbarrier.try_wait time out. false: no group waits at one, or the state is the same as at
 * the previous time-out. */
bool deadlock_time_out(struct host_worker *h);

/* A hash of the state of a group without memory. */
u64 deadlock_state(const struct emu_group *g);
/* A hash of the 32-bit and 64-bit registers of its first lane: if it differs, so does the state. */
u64 deadlock_glance(const struct emu_group *g);
/* The bytes that an atomic may change, before its execution: */
struct deadlock_bytes { /* one element of each active lane */
    const u8 *at[GROUP * LANES];
    u8 was[GROUP * LANES][64];
    u32 count, size;
};
/* Copies the bytes. false: they are not accessible, or change later. */
bool deadlock_remember(const struct emu_group *g, const struct emu_uop *in,
                       struct deadlock_bytes *b);
bool deadlock_as_it_was(const struct deadlock_bytes *b);

/* Begins an attempt to prove that all warps repeat their states; `budget`: number of state comparisons that may
 * fail. */
void livelock_begin(struct livelock_proof *r, u32 budget);
/* Runs a group until it stops, and watches its states. */
void livelock_run(struct livelock_proof *r, struct emu_group *g);
/* Whether the group repeats its state or waits for others. `sleepers_stay`: a group that has slept during the whole
 * attempt counts as waiting. */
bool livelock_done(const struct livelock_proof *r, const struct emu_group *g, bool sleepers_stay);

#endif
