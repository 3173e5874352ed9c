/* emu/ops/exec.h: what a launch is made of while it runs, for the files that execute instructions.
 *
 * Warps of 32 lanes are kept as structure of arrays, and up to GROUP warps of a CTA run in lockstep as
 * one *group*: the same micro-operation is carried out for all their lanes at once. A group is a SIMT
 * machine of warps * 32 lanes; a warp whose lanes are all switched off simply has no part in it. Where
 * lockstep will not do (a barrier that only some of the warps have reached, an order that wants to
 * choose, warps that spin for each other) a group is split for good into groups of one warp.
 *
 * Registers are rows: one value for each of ROW lanes, in three files by width,
 *     r16: 8 and 16 bits     r32: 32 bits, and predicates as 0 or ~0     r64: 64 bits
 * (128-bit values are two r64 rows, low half first). An operand of a micro-operation is the byte offset of its row from
 * the file's frame pointer. A group points at the columns of its first warp, so lane l of warp w of the
 * group is element 32 * w + l of every row. Constants, kernel parameters and special registers that do not
 * change within a CTA are rows, too, in the kernel's frame, filled before it starts.
 *
 * A write goes to the lanes that are on: `exec`, one mask a warp. Lanes that no thread belongs to (the
 * tail of a CTA) are don't-cares; `full` says that all others are on, so that rows may be stored whole.
 *
 * A handler runs one micro-operation for one group and returns the next, or NULL: the group stops
 * (g->state says why, g->pc where it goes on). Handlers are pure functions of the group and what it
 * points to. Host memory is only reached through resolve functions that check bounds. */
#ifndef HEDDLE_EMU_OPS_EXEC_H
#define HEDDLE_EMU_OPS_EXEC_H

#include "emu/emu.h"
#include "emu/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { DYNAMIC_LOCAL = 64 * 1024 }; /* of a thread, for alloca */
enum { LANES = 32, GROUP = 4, ROW = LANES * GROUP };

typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
typedef float f32;
typedef double f64;
typedef uint32_t pred; /* 0 or ~0 */

struct emu_counting; /* emu/measure/count.h */
struct emu_group;
struct emu_uop;
typedef const struct emu_uop *emu_op(struct emu_group *g, const struct emu_uop *in);

/* One micro-operation: 64 bytes. What a..e, imm and ext hold is said at each operation's row in
 * uops.def or at its handler. */
struct emu_uop {
    emu_op *run;
    u32 d, a, b, c; /* rows: byte offsets in the file of the operand's width */
    union {
        i64 imm;
        u64 bits;
        const struct emu_uop *target; /* of branches */
    };
    union {
        const struct emu_uop *join; /* of branches: the block where lanes that part meet */
        const void *ext;            /* an operation's own description, in the code's arena */
    };
    u32 pc;   /* the PTX instruction: index in emu_code.places */
    u32 site; /* counters of its own: index in worker->sites (memory, atomics, branches), else 0 */
    u16 id;   /* enum emu_uop_id */
    u8 x, y, z, n; /* small parameters */
    u32 e;
};
_Static_assert(sizeof(struct emu_uop) == 64, "one micro-operation fills a cache line");

enum emu_uop_id {
    UOP_NONE,
#define LANE1(name, D, A, ...) UOP_##name,
#define LANE2(name, D, A, B, ...) UOP_##name,
#define LANE3(name, D, A, B, C, ...) UOP_##name,
#define FAST(name) UOP_##name,
#define WARP(name) UOP_##name,
#include "emu/ops/uops.def"
    UOP_COUNT
};
const char *emu_uop_name(unsigned id);
#define WARP(name) emu_op emu_op_##name;
#include "emu/ops/uops.def"

/* By host instruction set: the handlers of every operation. */
extern emu_op *const emu_ops_portable[UOP_COUNT], *const emu_ops_avx2[UOP_COUNT],
                                                      *const emu_ops_avx512[UOP_COUNT];

/* ---- code --------------------------------------------------------------------------------------- */

/* what a row holds that is filled before a CTA starts */
enum emu_fill_kind {
    FILL_BITS,    /* `bits` in every lane */
    FILL_PARAM,   /* the kernel parameter's bytes at offset `bits` */
    FILL_SPECIAL, /* a special register: enum emu_special in `bits` */
};
enum emu_special {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_EXPLICIT_CLUSTER,
    SPECIAL_TOTAL_SMEM,
    SPECIAL_AGGR_SMEM,
    SPECIAL_DYNAMIC_SMEM,
    SPECIAL_RESERVED_SMEM_BEGIN, /* and the others: a set of the system's shared memory */
    SPECIAL_RESERVED_SMEM_END,
    SPECIAL_RESERVED_SMEM_CAP,
    SPECIAL_RESERVED_SMEM_0,
    SPECIAL_RESERVED_SMEM_1,
    SPECIAL_ENVREG,                     /* + number */
    SPECIAL_ZERO = SPECIAL_ENVREG + 32, /* performance counters and what else has no meaning here */
    SPECIAL_CLOCK, /* these change while a CTA runs: never FILL, only UOP_special_* */
    SPECIAL_CLOCK_HI,
    SPECIAL_CLOCK64,
    SPECIAL_TIMER,
    SPECIAL_TIMER_LO,
    SPECIAL_TIMER_HI
};
struct emu_fill {
    u32 row;
    u8 width; /* bytes: 2, 4, 8 */
    u8 kind;  /* enum emu_fill_kind */
    bool is_pred;
    u64 bits;
};

/* Memory that a function's registers take, bytes of each file; multiples of a row. */
struct emu_frame {
    u32 r16, r32, r64;
    u32 local; /* bytes of .local and .param variables per thread, a multiple of 16 */
};

struct emu_place_of { /* of an instruction: for messages and counts */
    u32 at;           /* offset in the module's text */
    u32 block;
    u32 line; /* 0: not asked for yet (emu/device/heap.c) */
    /* Of the source: within the kernel's own file if calls were inlined from another, where `from` it is then. */
    u32 source_line, from_line;          /* 0: unknown */
    const char *source_file, *from_file; /* NULL: unknown; as the former */
    const struct ptx_inst *inst;
    const struct emu_code *code;
    bool dead_result;  /* of an atomic: nobody reads what it returns */
    uint8_t influence; /* of one that is not exact: enum ptx_influence */
    /* Of an access of shared memory: the static variable that its address was made from. */
    u32 shared_at, shared_size; /* its place; bytes, 0: not known */
    const char *shared_name;
    u32 shared_name_length;
};

/* Of a basic block, or of a part of one that a call ends: its PTX instructions are first_pc .. first_pc + count - 1. */
struct emu_block_mix {
    u32 first_pc, count;
};

enum emu_site_kind {
    SITE_GUARD, /* lanes that a guard lets through */
    SITE_BRANCH,
    SITE_LOAD,
    SITE_STORE,
    SITE_ATOMIC,
    SITE_COPY, /* cp.async: a load, and a store to shared memory that is not counted as one */
    SITE_OTHER,
};
struct emu_site_of { /* what an emu_site counts */
    u32 pc;
    u8 kind;  /* enum emu_site_kind */
    u8 space; /* enum ptx_space; GENERIC: by the address */
    u8 op;    /* enum emu_atomic */
};

struct emu_code { /* one function, lowered */
    const char *name;
    struct emu_uop *uops; /* [0] is a BLOCK; ends in LEAVE */
    u32 uop_count;
    const struct emu_uop *leave; /* where it returns: its last uop */
    struct emu_frame frame;
    /* By micro-operation: the rows, but for fills, that are needed where a warp goes on there: bit n modulo 64 of the n-th,
     * of 8 bytes, then of 4, of 2. */
    u64 *live;
    struct emu_fill *fills; /* of a kernel */
    u32 fill_count;
    u32 number; /* its device address is MEM_CODE + 16 * number */
    const struct ptx_func *func;
    u32 module;
    bool is_entry;
    u32 stack_word;       /* of .local: what alloca had taken when it was entered; 0: no alloca */
    bool reads_undefined; /* some register may be read before it is written */
    const struct code_passes *passes; /* of a function: emu/sched/control.h */
};

/* A kernel with everything it reaches, lowered for one set of handlers. */
struct emu_program {
    struct emu_code **codes; /* [0] is the kernel */
    u32 code_count;
    struct emu_code **by_number; /* by function number; NULL: not reached */
    u32 number_count;
    struct emu_place_of *places;
    u32 place_count;
    struct emu_block_mix *blocks;
    u32 block_count;
    struct emu_site_of *sites; /* [0] is nobody's */
    u32 site_count;
    u32 shared_static, shared_dynamic; /* bytes; where dynamic shared memory begins */
    struct emu_frame deepest; /* of the deepest chain of calls; recursion: as much as allowed */
    bool recursive;
    bool has_files; /* it calls include/heddle/device_io.h: warps take turns, as with `launches` */
    bool talks;     /* CTAs may wait for each other or see each other's order: run them in turn */
    bool mixes;     /* reductions of global memory of several kinds, whose order may matter */
    bool
        combines; /* all are of one kind that commutes, and CTAs do not talk: emu/sched/combine.h */
    bool
        shared_commutes; /* atomics of shared memory are of one kind, commute, and nobody reads the old value;
                           * and there are no strong accesses to it */
    bool timed; /* warps may see when others come: by what atomics return, by strong global loads */
    bool uses_barriers;
    bool reserves; /* asks where the system's shared memory is: it lies behind its own */
    bool launches; /* grids of its own: warps are not run in lockstep */
    bool yields;   /* lanes of a warp may wait for each other, and may become contexts: EMU_YIELD */
    bool uses_alloca; /* behind the frames each thread has DYNAMIC_LOCAL bytes more */
    const struct trace_code
        *traced; /* trace.h: the code as traces have it; NULL: none was asked for */
};

/* ---- running ------------------------------------------------------------------------------------ */

enum emu_state {
    GROUP_READY,   /* goes on at pc */
    GROUP_BARRIER, /* waits at barrier `barrier` */
    GROUP_WAIT,    /* waits for something else: try again after the others */
    GROUP_SPLIT,   /* must be split into warps, then goes on at pc */
    GROUP_DONE,
    GROUP_FAULT,
};

enum emu_entry_kind { ENTRY_PATH, ENTRY_REJOIN, ENTRY_CALL };
struct emu_entry { /* of a SIMT stack */
    u32 mask[GROUP];
    const struct emu_uop *pc;   /* PATH: where it goes on. REJOIN: the block where lanes meet. CALL:
                                 * where the caller goes on */
    const struct emu_uop *join; /* what g->join is then */
    const struct emu_code *code; /* CALL: the caller */
    u8 kind;
};

struct emu_site {              /* what one instruction did, on one SM; see emu/measure/count.h */
    u64 warps, lanes;          /* warp instructions, active lanes */
    u64 bytes, sectors, lines; /* of global memory: what lanes ask for; 32-byte sectors and 128-byte
                                * lines touched, a warp at a time */
    u64 shared, shared_lanes;  /* accesses to shared memory, by warp and by lane */
    u64 bank_conflict_passes; /* passes over the banks that these took; an access without conflicts takes one */
    u64 local, local_lanes, local_sectors;
    u64 extra; /* branches: divergent ones. Atomics: lanes whose address an earlier lane had */
};
struct emu_block_count {
    u64 warps, lanes;
};

struct emu_bound {
    u64 low, high;
    u8 *host;
}; /* an allocation that a site touched last: addresses
                                                * low <= a < high, host address of low */

struct
    livelock_probe { /* of a group, in an attempt to show that it goes round: emu/progress/livelock.c */
    u32 number;      /* the attempt; another one: it has not run in this one */
    bool done;       /* it does, or waits in vain */
    const struct emu_uop *pc; /* where it was in this state, */
    u64 state;
    u64 visits, left; /* blocks since the attempt began, and until another state is taken */
};

struct emu_group_turn { /* emu/sched/ordered.c and what it asks; a launch with an order alone */
    u32 burst;    /* steps that it may still take before the order is asked again (enum emu_step) */
    u32 tries;    /* how often it has waited in vain since it last did something */
    u32 queue_at; /* place in a queue of emu/sched/ordered.c */
    u8 queue;     /* which; 0: none */
    bool asleep;  /* the order has put it to sleep */
    bool notified; /* the order, of the load at `pc`: EMU_SLEEP_ONCE */
    bool asked;    /* the order has heard of the access at `pc`: EMU_BRIEF_RETRIES */
};
struct emu_group_polling {       /* emu/progress/busy_wait.c */
    struct busy_wait *busy_wait; /* the recorded iteration of a polling loop; NULL: none yet */
    bool known;                  /* it stands before the access, and its rows are as recorded */
    u8 record_delay;    /* how often the warp must come back before the next is recorded, */
    u8 record_failures; /* after so many failures */
    bool returned;      /* it has just come back to the access */
};
struct emu_group_aside { /* emu/sched/frames.h */
    u8 *at;              /* where the rows are that it needs, */
    u64 rows;            /* these, while another warp has its own */
    u32 size;            /* bytes of space at `at` */
    u64 since;           /* `instructions` when the warp took the rows */
};
struct emu_group_files {                               /* of registers, and .local memory */
    u8 *bundle16, *bundle32, *bundle64, *bundle_local; /* their beginnings, as r16 is */
    u32 top16, top32, top64, top_local;                /* where the frame stands in them, bytes */
};
struct emu_group_stays {      /* emu/sched/yield.c: lanes that wait */
    const struct emu_uop *at; /* where, at the last look, */
    u32 mask;                 /* which (of its first warp that has such lanes), */
    u32 count;                /* and at how many looks in succession */
};

struct emu_group {
    /* hot: what every handler reads */
    _Alignas(64) u8 *r16; /* frame pointers, at the columns of the first warp */
    u8 *r32, *r64;
    u32 warps;  /* 1 .. GROUP */
    bool full;  /* exec == alive, and alive == exist */
    bool whole; /* full, and every lane exists */
    u32 exec[GROUP], alive[GROUP], exist[GROUP];
    u32 lane_count, warp_count; /* of exec: lanes, warps with any */
    struct emu_worker *worker;
    struct emu_cta *cta;
    const struct emu_uop *join; /* where the path that is running ends */
    i64 budget;                 /* warp instructions before the others get their turn */
    /* what those look at who choose among groups: in a launch with an order there are thousands, and the host's caches
     * have none of them */
    const struct emu_uop *pc;
    const struct emu_code *code;
    u64 instructions; /* warp instructions so far: the clock */
    u64 issued; /* with an order or observers: where the machine's steps.issues; else see `instructions` */
    u32 state; /* enum emu_state */
    u32 first; /* number of its first warp in the CTA */
    struct emu_group_turn turn;
    bool time_is_up; /* of the mbarrier.try_wait that it waits at */
    /* Independent thread scheduling (emu/sched/its.c): a warp may be several contexts, each with lanes of its own and a
     * stack of its own; they share the rows. */
    bool
        shares_warp; /* other contexts have lanes of this warp, or had: rows are never stored whole */
    struct emu_entry *stack;
    u32 depth, stack_cap;
    struct emu_group_aside aside;
    u32 frame; /* whose rows are where its own belong: frames.owner */
    struct emu_group_polling polling;
    /* less hot */
    u8 *local;   /* .local frame of the function: word i of lane l is u32 at (i * ROW + l) * 4 */
    u32 barrier; /* GROUP_BARRIER: which */
    u32 guard_saved[GROUP]; /* exec outside a guarded instruction */
    struct emu_group_files files;
    u32 arrived[GROUP]; /* lanes that are counted at the cluster's barrier, until it is complete */
    u32 meeting_exec; /* its own lanes, while it carries out an instruction for several contexts */
    struct emu_group_stays stays;
    struct livelock_probe probe;
    u64 clock_at;  /* what its clocks show while they stand */
    u32 lane[ROW]; /* exec as 0 or ~0, by lane; valid if !full */
};

struct emu_cta {
    u32 linear, index[3]; /* in the grid */
    u32 sm, slot;
    u32 threads, warps;
    u8 *shared; /* shared_size bytes, and some more behind */
    u32 shared_size;
    struct emu_group *
        groups; /* one for each warp, at the place of its first; contexts (emu/sched/its.c) behind them */
    u32 *group_at; /* which of them are in use */
    u32 group_count;
    u32 running;              /* groups that are not done */
    u32 living;               /* threads that have not ended */
    u32 context_count;        /* places in `groups` that were used, */
    u32 context_high;         /* by this CTA or an earlier one in the slot */
    bool its;                 /* its lanes make progress independently (emu/sched/its.c) */
    u32 rank;                 /* in the cluster */
    struct emu_cta **cluster; /* the CTAs of its cluster by rank; itself alone without one */
    u32 cluster_size;
    struct emu_barrier {
        u32 arrived, needed, value;
        bool any, all;
        u32 arrivals;
    } barriers[16];
    bool stirred; /* groups of it may have become ready, or new ones: emu/sched/ordered.c looks */
    u32 awaited;  /* the barriers that somebody has arrived at, a bit each */
    struct emu_async *async; /* cp.async, bulk copies: async.c */
    void *runtime;           /* the threads' last errors: emu/device/child_grids.c; NULL: none */
    bool failed;             /* it, or another CTA of its cluster: it need not go on */
    struct tagged_shared
        *tags; /* of its shared memory: emu/speculate/conflict_free.h; NULL: there are none yet */
    struct emu_outbox
        *outbox; /* what becomes visible in the order of the CTAs: emu/sched/deliver.c */
    u64 started; /* device clock when it began */
    struct emu_frame
        used; /* how far calls came in its rows and .local memory, which the next CTA clears */
    u32 used_dynamic; /* likewise alloca, per thread */
    bool live;
};

struct emu_worker { /* a host thread of a launch, and what it counts */
    struct emu_machine *machine;
    struct emu_site *sites;         /* of the SM that runs; NULL: not counting */
    struct emu_block_count *blocks; /* likewise */
    struct emu_bound *bounds;       /* by site */
    struct trace_cta *trace;        /* of the CTA; NULL: it is not traced */
    struct cache_port *port;        /* the CTA's way through the caches; NULL: not asked for */
    struct trace_turns
        *turns;              /* of a traced CTA in lockstep: emu/measure/trace_turns.h; else NULL */
    struct combine *combine; /* reductions that it keeps; NULL: they go to memory at once */
    struct conflict_free
        *conflict_free; /* its part of a conflict-free run (emu/speculate/ownership.h); else NULL */
    u8 *who;            /* scratch of counting: a lane's number by word of shared memory */
    u64 thread_instructions;
    u64 clock_ahead;   /* what is added to all clocks: emu/progress/deadlock.c */
    bool clocks_stand; /* each group's at its `clock_at` */
    bool
        faults_at_offset; /* the address of the fault that is being raised is an offset (emu_fault.is_offset) */
    struct arena *arena; /* scratch of the launch */
};

struct launch_phases;
struct trace_cta;
struct trace;
struct emu_machine_heap { /* of the guest's malloc */
    u64 *used;            /* bytes that it gave and that are not free again, */
    u64 size;             /* of so many */
    bool survives_bad_frees;
};
struct emu_machine_steps {          /* what order and observers are asked about, and when */
    bool watched;                   /* an order or observers take part */
    bool blind;                     /* no observer looks at data */
    bool issues;                    /* each instruction is a step of its own: emu_op_issue */
    u8 step;                        /* enum emu_step: what the order's bursts are counted in */
    unsigned wants;                 /* enum emu_want: of the order */
    const struct emu_access *asked; /* what the order is being asked about; NULL: nothing */
};
struct emu_machine_threads {
    bool its;      /* independent thread scheduling, */
    bool yields;   /* or for CTAs whose running lanes only wait: emu/sched/yield.c */
    bool parallel; /* several host threads run CTAs */
};

struct emu_machine { /* a launch */
    struct emu *emu;
    const struct emu_program *program;
    const struct emu_launch *launch;
    struct mem *mem;
    struct image *image;
    u8 *params; /* MEM_MAX_PARAMS bytes, the launch's and zeros */
    u32 params_size;
    u32 threads_per_cta, warps_per_cta, cta_count;
    u32 cluster[3], cluster_size;
    u32 shared_size; /* with the system's, if the kernel asks for it */
    u32 shared_own;  /* bytes without it */
    u64 grid_id;
    double deadline;    /* of the host's launch; 0: none */
    u64 spent;          /* warp instructions of its grids before this one */
    u64 grid_workspace; /* of a cooperative launch: the address of its barrier */
    u32 sms, group_warps;
    u32 slots_per_sm;  /* CTAs that can be resident on an SM */
    u32 schedulers;    /* of an SM */
    bool narrow_banks; /* shared memory has 16, and serves a half-warp at once */
    bool explicit_cluster;
    struct emu_machine_heap heap;
    struct emu_machine_steps steps;
    struct emu_machine_threads threads;
    const struct emu_counting *counting;
    struct cta_arena *cta_arena; /* of the device: emu/cta_arena.h */
    struct caches *caches;       /* NULL: not asked for */
    struct check *check;         /* where findings go */
    struct conflict_free_run
        *conflict_free; /* emu/speculate/conflict_free.c's own; NULL: no speculative run */
    const struct speculation *speculation; /* emu/speculate/speculation.h: hooks; NULL: none */
    struct emu_image *loaded;              /* of which `image` is */
    struct grids *grids;                   /* what the kernel launches: emu/device/child_grids.h */
    struct launch_context *context;        /* emu/sched/launch_context.h */
    struct ordered *ordered;               /* emu/sched/ordered.c's own; NULL: no order */
    struct deferred_replay
        *replay; /* emu/speculate/deferred.c's own; NULL: the order hears of warps that run */
    struct trace *trace;          /* trace.h; NULL: not asked for */
    struct launch_phases *phases; /* emu/measure/phases.c's own; NULL: not asked for */
};

/* ---- for handlers --------------------------------------------------------------------------------- */

/* What an instruction does beyond the usual, in instructions: it comes off the group's turn, so that a limit
 * of time is looked at in time. */
static inline void emu_charge(struct emu_group *g, u64 work)
{
    g->budget -= (i64)work;
}

/* Records the launch's fault (the first one counts), stops the group and returns NULL. `lane`: of warp
 * `w` of the group. */
const struct emu_uop *emu_raise(struct emu_group *g, const struct emu_uop *in,
                                enum emu_fault_kind kind, u32 w, u32 lane, u64 address, u32 size,
                                const char *format, ...) __attribute__((format(printf, 8, 9)));

/* With --on-fault=continue: adds a wrong access of a lane to the findings of the launch, and the caller goes on without
 * it. false: the caller must raise a fault. */
bool emu_goes_on(struct emu_group *g, const struct emu_uop *in, enum emu_fault_kind kind, u32 w,
                 u32 lane, u64 address, const char *what);

/* Records a finding of one of config.checks, if it is asked for: an instruction did what PTX leaves open, and went on. */
void emu_note_undefined(struct emu_group *g, const struct emu_uop *in, unsigned check,
                        enum emu_fault_kind kind, u32 w, u32 lane, u64 address, const char *what);

/* Sets exec and what goes with it (lane[], full, lane_count). The masks are of lanes alive. */
void emu_set_exec(struct emu_group *g, const u32 mask[GROUP]);

/* Where a lane's memory lies. `space` is an enum ptx_space (GENERIC: by the address). Returns the host
 * address of `size` bytes, or NULL after raising a fault. Not for LOCAL: its words are not side by side, use
 * emu_lane_read and emu_lane_write, which take every space and size up to 64. `write`: the access
 * stores. */
u8 *emu_lane_host(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                  u64 address, u32 size, bool write);
bool emu_lane_read(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                   u64 address, u32 size, void *to);
bool emu_lane_write(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                    u64 address, u32 size, const void *from);
/* The allocation of global memory that holds an address, for a site's later accesses; false: there is
 * none that may be accessed so, or the instruction (a load or store, see memops.h) names another space. */
bool emu_find_bound(struct emu_group *g, const struct emu_uop *in, u64 address, bool write,
                    struct emu_bound *out);
/* The space that a generic address lies in, and its address there. */
u32 emu_space_of(const struct emu_group *g, u64 address);

/* A reduction whose order matters, kept until it is the CTA's turn; false: it is its turn, do it now. */
bool emu_defer_red(struct emu_group *g, const struct emu_uop *in, u64 address, u8 op, u8 type,
                   const void *operand);
/* Text that the guest prints. */
void emu_print(struct emu_group *g, const char *text, size_t length);
/* Lanes of warp w's member mask that live but are not here (EMU_CHECK_SYNC). */
void emu_note_sync(struct emu_group *g, const struct emu_uop *in, u32 w, u32 mask);
/* One warp instruction counts as one cycle, and as one nanosecond. */
static inline u64 emu_clock(const struct emu_group *g)
{
    return g->instructions + g->worker->clock_ahead;
}
/* A special register that does not change while a CTA runs, for one lane of warp w of the group. */
u64 emu_special_value(const struct emu_group *g, u32 w, u32 lane, u32 special);

/* emu/sched/its.c: makes a context of its own of the lanes that run, where others of the warp wait for them. */
void emu_its_part(struct emu_group *g);
/* The lanes of warp w of the group that live, in whatever context. */
u32 emu_warp_alive(const struct emu_group *g, u32 w);

/* emu/sched/frames.c: before the rows of a group that does not run are written to. */
void emu_need_rows(struct emu_group *g);

/* Goes on with the topmost entry of the stack that has lanes; NULL: the group is done. */
const struct emu_uop *emu_group_resume(struct emu_group *g);

/* Makes the group `from` into groups of one warp. Each goes on as the group would have. */
void emu_group_split(struct emu_group *g);

/* The bit of a row in emu_code.live. */
static inline u64 emu_row_bit(const struct emu_frame *f, unsigned bytes, u32 row)
{
    u32 n = row / (ROW * bytes);
    if (bytes < 8) n += f->r64 / (ROW * 8);
    if (bytes < 4) n += f->r32 / (ROW * 4);
    return UINT64_C(1) << n % 64;
}
/* row_sizes.c: of each operation the element sizes of the rows d, a, b, c; 0: it has no such row, or it is unknown. */
extern const u8 emu_row_sizes[UOP_COUNT][4];

/* What the warp needs when it goes on, its lanes that wait on the stack included. */
static inline u64 emu_needed_rows(const struct emu_group *g)
{
    const struct emu_code *const c = g->code;
    u64 rows = c->live[g->pc - c->uops];
    for (u32 i = 0; i < g->depth; i++) rows |= c->live[g->stack[i].pc - c->uops];
    return rows;
}

static inline u8 *emu_row(const struct emu_group *g, unsigned bytes, u32 row)
{
    return (bytes == 8 ? g->r64 : bytes == 4 ? g->r32 : g->r16) + row;
}
/* The element of a lane in a row of elements of `bytes` bytes (2, 4, 8). */
static inline u64 emu_get(const struct emu_group *g, unsigned bytes, u32 row, u32 w, u32 lane)
{
    const u8 *p = emu_row(g, bytes, row) + (size_t)(w * LANES + lane) * bytes;
    return bytes == 8 ? *(const u64 *)p : bytes == 4 ? *(const u32 *)p : *(const u16 *)p;
}
static inline void emu_put(struct emu_group *g, unsigned bytes, u32 row, u32 w, u32 lane, u64 value)
{
    u8 *p = emu_row(g, bytes, row) + (size_t)(w * LANES + lane) * bytes;
    if (bytes == 8) *(u64 *)p = value;
    else if (bytes == 4) *(u32 *)p = (u32)value;
    else *(u16 *)p = (u16)value;
}

/* How many lanes a mask has; mostly all. */
static inline u32 emu_lanes_of(u32 mask)
{
#ifdef __POPCNT__
    return (u32)__builtin_popcount(mask);
#else /* the compiler's own way would be a call */
    if (mask == ~0u) return LANES;
    mask -= mask >> 1 & 0x55555555;
    mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
    return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101u >> 24;
#endif
}

/* Predicate row -> mask of a warp's lanes. */
static inline u32 emu_mask_of(const struct emu_group *g, u32 row, u32 w)
{
    const u32 *p = (const u32 *)(const void *)(g->r32 + row) + w * LANES;
    u32 m = 0;
#ifdef __SSE2__
    for (u32 l = 0; l < LANES; l += 4)
        m |= (u32)_mm_movemask_ps(_mm_loadu_ps((const float *)(const void *)(p + l))) << l;
#else
    for (u32 l = 0; l < LANES; l++) m |= (p[l] & 1) << l;
#endif
    return m;
}

#endif
