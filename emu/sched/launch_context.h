/* emu/sched/launch_context.h: a launch while it runs (struct launch_context) and its host threads (struct host_worker), for
 * the files that run it.
 *
 *     launch.c        host threads, CTAs, turns
 *     its.c, yield.c  lanes that go their own ways, and when they begin to
 *     ordered.c       the same under an order (ordered.h lists its parts)
 *     cta.c           what a CTA is given and how it begins
 *     frames.c        rows that CTAs use by turns
 *     cta_arena.c     memory that is reused from launch to launch
 *     deliver.c       what becomes visible in the order of CTAs
 *     fault.c         faults in words
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
    LINE_PAIR =
        128, /* bytes between what different host threads write: the host fetches lines of its caches by pairs */
    INSTRUCTIONS_PER_EVENT = 32 /* that a burst of EMU_STEP_EVENT may have for each of its units */
};
#define WORKER_ENDED UINT32_MAX

struct red { /* a reduction that waits for its turn */
    u64 address;
    u8 op, type;
    u8 operand[32];
};
struct emu_outbox {
    u32 cta;
    struct red *reds;
    size_t red_count, red_cap;
    struct buf text;
    struct cache_port port;  /* what it notes of its accesses to memory */
    size_t bytes;            /* of all that */
    struct emu_outbox *next; /* of a row: of a later CTA */
};

/* The memory of a resident CTA (a block of the CTA arena), which begins with this structure. */
struct slot {
    struct emu_cta cta;
    struct cta_block block;
    struct slot *next;
    u32 turns;
    struct cache_port port;
    struct trace_cta *trace;     /* of the CTA; NULL: it is not traced */
    struct trace_turns turns_of; /* if it is, and its warps run in lockstep */
};

struct livelock_proof { /* of warps under an order, while they are looked at */
    u32 number;         /* of the attempt */
    u32 budget;   /* states that may still be compared in vain: with none left nothing is found */
    bool changed; /* something has: the attempt has failed */
};

struct host_worker { /* a host thread */
    struct emu_worker worker;
    struct launch_context *ctx;
    struct emu_site **sites;         /* by SM */
    struct emu_block_count **blocks; /* by SM */
    u64 *ctas;                       /* by SM: how many have ended */
    struct slot *resident, *spare;
    const struct emu_cta *model; /* the first that began; NULL: none yet */
    u64 stuck_state;             /* of the groups when last the time of their waits ran out, */
    u32 time_outs;               /* how often it did */
    u32 passes;                  /* over the resident CTAs while nothing else was to be done */
    bool saw_clock;    /* whoever looked for a deadlock last came to somebody who reads a clock, */
    u64 since;         /* that has been so each time: instructions of its groups; 0: it is not so */
    atomic_uint stuck; /* its CTAs can do nothing as memory was in this epoch; 0: they may */
    struct slot **last; /* where the next is appended to `resident` */
    u64 instructions;
    struct livelock_proof *livelock; /* NULL: no attempt runs */
    struct frames *frames;           /* NULL: slots have rows of their own */
    bool elides_busy_waits;          /* busy_wait_speculation is attached */
    u32 batch, batch_end;            /* CTAs (clusters) that it has taken and not begun */
    u32 ended_word;                  /* of ctx->ended, where */
    u64 ended_bits;                  /* are not set yet: of CTAs that it has run */
    u8 padding[LINE_PAIR];           /* before what the next host worker changes */
};

struct launch_context {
    _Alignas(LINE_PAIR)
        u8 before[2 * LINE_PAIR]; /* the stack below changes, and the host fetches ahead */
    _Alignas(LINE_PAIR) struct emu_machine *m;
    const struct emu_config *config;
    /* in lines of the host's caches of their own: what all host workers read, what they change often, and the stack around */
    _Alignas(LINE_PAIR) atomic_uint next;    /* CTA, or cluster, that nobody has taken */
    _Alignas(LINE_PAIR) atomic_uint stop_at; /* CTAs from here on need not run */
    atomic_bool give_up;
    atomic_bool in_turn;     /* something depends on `deliver`: it is kept up to date */
    atomic_uint epoch;       /* moves when a host thread's CTAs get stuck, or get on again */
    atomic_bool is_deadlock; /* each host thread names the first CTA that it has */
    _Alignas(LINE_PAIR) pthread_mutex_t lock;
    pthread_mutex_t turn; /* who has it moves `deliver` on */
    atomic_ullong *ended; /* a bit for each CTA */
    struct outbox_row {
        struct emu_outbox *first, *last; /* first NULL: none */
    } outboxes[OUTBOX_ROWS];             /* not yet delivered: by CTA modulo OUTBOX_ROWS */
    struct emu_outbox *spare_outboxes;
    atomic_size_t waiting; /* bytes in them */
    atomic_uint outbox_count;
    atomic_uint deliver; /* the CTA whose turn it is */
    _Alignas(LINE_PAIR) u64 limit;
    struct emu_fault fault;
    u32 fault_cta;
    atomic_ullong busy_waits; /* struct launch_counts */
    atomic_ullong spent;
    double deadline;
    double started, reported; /* when config->progress was last called */
    struct host_worker *workers;
    u32 worker_count;
    bool
        at_once; /* nothing waits for its CTA's turn: there is one host thread, and CTAs may see each other */
    struct arena *arena;
};

/* A host thread's part of the group's launch. */
static inline struct host_worker *host_worker_of(const struct emu_group *g)
{
    return (struct host_worker *)g->worker;
}

/* Memory for a CTA of the launch, from m->cta_arena; its rows are zeros, but those that are sure to be written before they
 * are read. */
struct slot *slot_new(struct host_worker *h);
/* Of what belongs to it but is not in its memory block. */
void slot_destroy(struct slot *p);
/* A CTA begins there, as if nobody had been there before. */
void slot_begin(struct host_worker *h, struct slot *p, u32 linear, u32 sm);
/* Makes CTAs that have begun the cluster that they are, by rank. */
void slot_join_cluster(struct slot *const *slots, const struct emu_machine *m);

/* Bytes that the rows of GROUP warps take. */
size_t slot_bundle_size(const struct emu_frame *f);
/* Whether CTAs differ in it. */
bool slot_fills_by_cta(const struct emu_fill *f);
/* From now on the rows of the CTA's warps are at `rows`, which has the size of a set, and are number `set` of frames.owner. They
 * begin as those of a CTA that begins. */
void slot_move_rows(struct emu_cta *c, const struct frames *f, u8 *rows, u32 set);
/* Such a row, of one warp. */
void slot_fill_warp(struct emu_group *g, const struct emu_fill *f);

/* The linear index of the CTA of that rank in a cluster. */
u32 slot_of_cluster(const struct emu_machine *m, u32 cluster, u32 rank);

/* With an order, in place of launch.c's loop. */
void ordered_run(struct host_worker *h);

/* What the two loops share. */
/* Memory for the trace of a CTA that begins; NULL: it is not traced. */
struct trace_cta *launch_trace_of(struct host_worker *h, u32 linear);
void launch_tell_cta(const struct emu_machine *m, const struct emu_cta *c, u8 kind);
/* Runs a group until it stops, and takes it out of the CTA's running ones if it is done. false: it waits where it
 * waited. */
bool launch_run_group(struct host_worker *h, struct emu_group *g);
/* Counts what was done; true: that is too much, or took too long. */
bool launch_over_limit(struct host_worker *h);
/* The CTA will not end (EMU_DEADLOCK), or not within the limits (EMU_LIMIT): that is a fault of it. */
void launch_stop(struct slot *p, enum emu_fault_kind kind);

/* Before each turn of a CTA: what it does is counted where it belongs. */
void deliver_count_for(struct host_worker *h, struct slot *p);
/* Whether CTAs ahead of their turn have left so much that only the first may go on. */
bool deliver_is_full(struct launch_context *ctx);
/* Waits while CTAs ahead of their turn have left too much, unless the turn is that of one of this hand's. */
void deliver_wait(struct host_worker *h, const struct slot *p);
/* The CTA has ended: what it left becomes visible as soon as all before it have. */
void deliver_ended(struct host_worker *h, struct slot *p);
/* Publishes which CTAs of this host thread have ended. */
void deliver_publish_ended(struct host_worker *h);
/* The launch is over: nothing more is delivered. */
void deliver_end(struct launch_context *ctx);

/* Whether no host thread's CTAs will ever go on. Lets every group take some steps. */
bool deadlock_proved(struct host_worker *h);
/* Says which global memory the warps of a CTA poll that are known to go round, and who could write it. */
void deadlock_describe_polled(struct buf *b, const struct emu_cta *c);
/* Nobody can go on: the time of every mbarrier.try_wait runs out. false: there is none, or it has done so
 * before, and all is as it was then. */
bool deadlock_time_out(struct host_worker *h);

/* Of all that makes up a group's state but for memory. */
u64 deadlock_state(const struct emu_group *g);
/* Of its registers of 32 and 64 bits as its first lane has them: another one is another state. */
u64 deadlock_glance(const struct emu_group *g);
/* What an atomic does to memory: */
struct deadlock_bytes { /* of all lanes that it works on */
    const u8 *at[GROUP * LANES];
    u8 was[GROUP * LANES][64];
    u32 count, size;
};
/* false: they cannot be looked at, or change later. */
bool deadlock_remember(const struct emu_group *g, const struct emu_uop *in,
                       struct deadlock_bytes *b);
bool deadlock_as_it_was(const struct deadlock_bytes *b);

/* An attempt to show that all warps go round, with so many states that may be compared in vain. */
void livelock_begin(struct livelock_proof *r, u32 budget);
/* Runs a group until it stops. */
void livelock_run(struct livelock_proof *r, struct emu_group *g);
/* Whether the group goes round, or waits for others. `sleepers_stay`: one that has slept all the while waits, too. */
bool livelock_done(const struct livelock_proof *r, const struct emu_group *g, bool sleepers_stay);

#endif
