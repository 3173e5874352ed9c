/* emu/ops/exec.h: the data structures of a running launch, for the files that execute instructions.
 *
 * Up to GROUP warps of a CTA run in lockstep as one *group*: a micro-operation is executed for all their lanes at once.
 * A group is a SIMT machine of warps * 32 lanes; a warp without active lanes takes no part. Where lockstep is not
 * possible (a barrier that only some of the warps have reached, an order that chooses warps, warps that spin for each
 * other), a group is split permanently into groups of one warp.
 *
 * Registers are rows: one value for each of ROW lanes, in three files by width,
 *     r16: 8 and 16 bits     r32: 32 bits, and predicates as 0 or ~0     r64: 64 bits
 * (A 128-bit value is two r64 rows, low half first.) An operand of a micro-operation is the byte offset of its row from
 * the file's frame pointer. A group's frame pointers point to the columns of its first warp, so lane l of warp w of the
 * group is element 32 * w + l of every row. Constants, kernel parameters and special registers that do not change
 * within a CTA are also rows of the kernel's frame. They are filled before the CTA starts.
 *
 * A write changes the active lanes only: `exec`, one mask for each warp. Lanes without a thread (at the end of a CTA)
 * may have any value; `full` says that all other lanes are active, so that handlers may store whole rows.
 *
 * A handler runs one micro-operation for one group and returns the next, or NULL: the group stops (g->state says why,
 * and g->pc where it resumes). Handlers are pure functions of the group and the data that it points to. They access
 * guest memory only through functions that check bounds. */
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

enum { DYNAMIC_LOCAL = 64 * 1024 }; /* bytes of a thread for alloca */
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

/* One micro-operation: 64 bytes. The meaning of a..e, imm and ext is documented at the operation's row in uops.def or
 * at its handler. */
struct emu_uop {
    emu_op *run;
    u32 d, a, b, c; /* rows: byte offsets in the file of the operand's width */
    union {
        i64 imm;
        u64 bits;
        const struct emu_uop *target; /* branches: the target */
    };
    union {
        const struct emu_uop *join; /* branches: the block where diverged lanes reconverge */
        /* a description that depends on the operation, in the code's arena */
        const void *ext;
    };
    u32 pc;        /* the PTX instruction: index in emu_code.places */
    u32 site;      /* index of its counters in worker->sites (memory, atomics, branches); else 0 */
    u16 id;        /* enum emu_uop_id */
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

/* The handlers of all operations, by host instruction set. */
extern emu_op *const emu_ops_portable[UOP_COUNT], *const emu_ops_avx2[UOP_COUNT],
                                                      *const emu_ops_avx512[UOP_COUNT];

/* ---- code --------------------------------------------------------------------------------------- */

/* the contents of a row that is filled before a CTA starts */
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
    /* this one and the next: addresses and sizes of the system's shared memory */
    SPECIAL_RESERVED_SMEM_BEGIN,
    SPECIAL_RESERVED_SMEM_END,
    SPECIAL_RESERVED_SMEM_CAP,
    SPECIAL_RESERVED_SMEM_0,
    SPECIAL_RESERVED_SMEM_1,
    SPECIAL_ENVREG, /* + number */
    /* performance counters, and other registers that read as 0 */
    SPECIAL_ZERO = SPECIAL_ENVREG + 32,
    /* the following registers change while a CTA runs: never FILL, only UOP_special_* */
    SPECIAL_CLOCK,
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

/* The size of a function's frame: bytes in each register file, multiples of a row. */
struct emu_frame {
    u32 r16, r32, r64;
    u32 local; /* bytes of .local and .param variables per thread, a multiple of 16 */
};

struct emu_place_of { /* source position of an instruction, for messages and counts */
    u32 at;           /* offset in the module's text */
    u32 block;
    u32 line; /* PTX line; 0: not computed yet (emu/device/heap.c) */
    /* Source position. If a call was inlined from another file, source_line and source_file are the position of the
     * call in the kernel's own file, and the from_ members that of the instruction. */
    u32 source_line, from_line;          /* 0: unknown */
    const char *source_file, *from_file; /* NULL: unknown; as the lines */
    const struct ptx_inst *inst;
    const struct emu_code *code;
    bool dead_result;  /* atomic whose result no instruction reads */
    uint8_t influence; /* instruction that is not exact: enum ptx_influence */
    /* Access of shared memory: the static variable from which its address was computed. */
    u32 shared_at, shared_size; /* offset; bytes, 0: unknown */
    const char *shared_name;
    u32 shared_name_length;
};

/* The PTX instructions of a basic block, or of a part of one that ends at a call: first_pc .. first_pc + count - 1. */
struct emu_block_mix {
    u32 first_pc, count;
};

enum emu_site_kind {
    SITE_GUARD, /* lanes that a guard enables */
    SITE_BRANCH,
    SITE_LOAD,
    SITE_STORE,
    SITE_ATOMIC,
    SITE_COPY, /* cp.async: a load; its store to shared memory is not counted as a store */
    SITE_OTHER,
};
struct emu_site_of { /* describes a struct emu_site */
    u32 pc;
    u8 kind;  /* enum emu_site_kind */
    u8 space; /* enum ptx_space; GENERIC: the address decides */
    u8 op;    /* enum emu_atomic */
};

struct emu_code { /* one function, lowered */
    const char *name;
    struct emu_uop *uops; /* [0] is a BLOCK; ends in LEAVE */
    u32 uop_count;
    const struct emu_uop *leave; /* its last micro-operation, at which it returns */
    struct emu_frame frame;
    /* For each micro-operation: the live rows of a warp that resumes there, without fills. Row number n is bit n modulo
     * 64; rows of 8-byte elements come first, then those of 4, then those of 2. */
    u64 *live;
    struct emu_fill *fills; /* only of a kernel */
    u32 fill_count;
    u32 number; /* its device address is MEM_CODE + 16 * number */
    const struct ptx_func *func;
    u32 module;
    bool is_entry;
    /* Word of .local memory that holds the bytes that alloca had allocated when the function was entered. 0: the
     * function has no alloca. */
    u32 stack_word;
    bool reads_undefined;             /* some register may be read before it is written */
    const struct code_passes *passes; /* only of a device function: emu/sched/control.h */
};

/* A kernel and all functions that it may call, lowered for one set of handlers. */
struct emu_program {
    struct emu_code **codes; /* [0] is the kernel */
    u32 code_count;
    struct emu_code **by_number; /* by function number; NULL: the kernel does not call it */
    u32 number_count;
    struct emu_place_of *places;
    u32 place_count;
    struct emu_block_mix *blocks;
    u32 block_count;
    struct emu_site_of *sites; /* [0] belongs to no instruction */
    u32 site_count;
    /* bytes of static shared memory; offset of dynamic shared memory */
    u32 shared_static, shared_dynamic;
    struct emu_frame deepest; /* frame of the deepest chain of calls; with recursion: the limit */
    bool recursive;
    /* The kernel calls functions of include/heddle/device_io.h; its warps run one after another, as with `launches`. */
    bool has_files;
    /* CTAs may wait for each other or observe the order in which they run; a host thread runs them alternately. */
    bool talks;
    /* global memory has reductions of several kinds, so that results may depend on their order */
    bool mixes;
    /* All reductions of global memory are of one commutative kind, and `talks` is false: emu/sched/combine.h. */
    bool combines;
    /* All atomics of shared memory are of one commutative kind without a live result, and there are no strong accesses
     * to shared memory. */
    bool shared_commutes;
    /* Warps may observe the timing of others: by results of atomics, by strong loads of global memory. */
    bool timed;
    bool uses_barriers;
    /* the kernel reads the address of the system's shared memory, which follows its own */
    bool reserves;
    bool launches; /* the kernel launches grids: its warps do not run in lockstep */
    /* lanes of a warp may wait for each other and may be split into contexts (EMU_YIELD) */
    bool yields;
    /* each thread has DYNAMIC_LOCAL more bytes of local memory after its frames */
    bool uses_alloca;
    /* trace.h: the code for traces. NULL: traces are off. */
    const struct trace_code *traced;
};

/* ---- running ------------------------------------------------------------------------------------ */

enum emu_state {
    GROUP_READY,   /* can run; resumes at pc */
    GROUP_BARRIER, /* waits at CTA barrier `barrier` */
    GROUP_WAIT,    /* waits for something else: retried after the other groups */
    GROUP_SPLIT,   /* must be split into warps, which resume at pc */
    GROUP_DONE,
    GROUP_FAULT,
};

enum emu_entry_kind { ENTRY_PATH, ENTRY_REJOIN, ENTRY_CALL };
struct emu_entry { /* an entry of a SIMT stack */
    u32 mask[GROUP];
    /* PATH: where the lanes resume. REJOIN: the block where lanes reconverge. CALL: where the caller resumes */
    const struct emu_uop *pc;
    const struct emu_uop *join;  /* value of g->join for this entry */
    const struct emu_code *code; /* CALL: the caller */
    u8 kind;
};

struct emu_site {     /* counters of one instruction on one SM; see emu/measure/count.h */
    u64 warps, lanes; /* warp instructions, active lanes */
    /* Global memory: bytes that lanes request; 32-byte sectors and 128-byte lines touched, counted for each warp
     * access. */
    u64 bytes, sectors, lines;
    u64 shared, shared_lanes; /* accesses to shared memory, by warp and by lane */
    /* Passes over the banks for these accesses; an access without bank conflicts takes one. */
    u64 bank_conflict_passes;
    u64 local, local_lanes, local_sectors;
    u64 extra; /* branches: divergent issues; atomics: lanes whose address an earlier lane has */
};
struct emu_block_count {
    u64 warps, lanes;
};

/* The allocation that a site accessed last: addresses low <= a < high; host address of `low`. */
struct emu_bound {
    u64 low, high;
    u8 *host;
};

struct livelock_probe { /* state of a group in a livelock proof: emu/progress/livelock.c */
    u32 number;         /* attempt in which the group last ran */
    /* the group is proved to repeat its state, or waits for nothing that can happen */
    bool done;
    const struct emu_uop *pc; /* where the group was in the remembered state */
    u64 state;
    /* blocks entered since the attempt began; blocks until another state is remembered */
    u64 visits, left;
};

struct emu_group_turn { /* scheduling state in a launch with an order: emu/sched/ordered.c */
    u32 burst;          /* remaining steps of the burst (enum emu_step) */
    u32 tries;          /* number of unsuccessful retries since the group last made progress */
    u32 queue_at;       /* place in a queue of emu/sched/ordered.c */
    u8 queue;           /* number of the queue; 0: none */
    bool asleep;        /* the order has put the group to sleep */
    bool notified;      /* the order has answered EMU_SLEEP_ONCE for the load at `pc` */
    /* the order was asked about the access at `pc`; retries are brief (EMU_BRIEF_RETRIES) */
    bool asked;
};
struct emu_group_polling {       /* emu/progress/busy_wait.c */
    struct busy_wait *busy_wait; /* the recorded iteration of a polling loop; NULL: none yet */
    bool known;                  /* the group is before the access, and its rows are as recorded */
    /* number of times that the warp must return to the access before the next recording */
    u8 record_delay;
    u8 record_failures; /* number of failed recordings */
    bool returned;      /* the group has just returned to the access */
};
struct emu_group_aside { /* emu/sched/frames.h */
    u8 *at;              /* where the saved rows are */
    u64 rows;            /* mask of the saved rows, while another warp uses the set */
    u32 size;            /* size of the memory at `at`, bytes */
    u64 since;           /* `instructions` when the warp took the rows */
};
struct emu_group_files { /* register files and .local memory */
    /* beginnings of the files, at the group's column as r16 */
    u8 *bundle16, *bundle32, *bundle64, *bundle_local;
    /* offset of the current frame in each file, bytes */
    u32 top16, top32, top64, top_local;
};
struct emu_group_stays {      /* emu/sched/yield.c: the lanes that wait on the SIMT stack */
    const struct emu_uop *at; /* where the lanes that wait longest were waiting at the last check */
    u32 mask;                 /* waiting lanes of the first warp that has such lanes */
    u32 count;                /* number of successive checks with the same waiting lanes */
};

struct emu_group {
    /* hot: members that every handler reads */
    _Alignas(64) u8 *r16; /* frame pointers, at the columns of the first warp */
    u8 *r32, *r64;
    u32 warps;  /* 1 .. GROUP */
    bool full;  /* exec == alive, and alive == exist */
    bool whole; /* full, and every lane has a thread */
    u32 exec[GROUP], alive[GROUP], exist[GROUP];
    u32 lane_count, warp_count; /* active lanes; warps with active lanes */
    struct emu_worker *worker;
    struct emu_cta *cta;
    const struct emu_uop *join; /* where the running path reconverges */
    i64 budget;                 /* warp instructions until the end of the group's turn */
    /* Members that the scheduler reads when it chooses among groups. A launch with an order has thousands of groups,
     * which are not in the host's caches. */
    const struct emu_uop *pc;
    const struct emu_code *code;
    u64 instructions; /* warp instructions executed; also the clock */
    /* with an order or observers and machine's steps.issues: warp instructions issued; else see `instructions` */
    u64 issued;
    u32 state; /* enum emu_state */
    u32 first; /* number of its first warp in the CTA */
    struct emu_group_turn turn;
    bool time_is_up; /* the mbarrier.try_wait at which the group waits has timed out */
    /* Independent thread scheduling (emu/sched/its.c): a warp may consist of several contexts. Each has its own lanes
     * and its own stack; they share the rows. */
    /* Other contexts have or had lanes of this warp, so handlers must not store whole rows. */
    bool shares_warp;
    struct emu_entry *stack;
    u32 depth, stack_cap;
    struct emu_group_aside aside;
    u32 frame; /* index in frames.owner */
    struct emu_group_polling polling;
    /* less hot */
    u8 *local;   /* .local frame of the function: word i of lane l is u32 at (i * ROW + l) * 4 */
    u32 barrier; /* GROUP_BARRIER: number of the CTA barrier */
    u32 guard_saved[GROUP]; /* exec outside a guarded instruction */
    struct emu_group_files files;
    u32 arrived[GROUP]; /* lanes that have arrived at the cluster's barrier, until it is complete */
    /* the group's own lanes while it executes an instruction for several contexts */
    u32 meeting_exec;
    struct emu_group_stays stays;
    struct livelock_probe probe;
    u64 clock_at;  /* value of its clocks while worker->clocks_stand */
    u32 lane[ROW]; /* exec as 0 or ~0 for each lane; valid if !full */
};

struct emu_cta {
    u32 linear, index[3]; /* position in the grid */
    u32 sm, slot;
    u32 threads, warps;
    u8 *shared; /* shared_size bytes, followed by some more */
    u32 shared_size;
    /* One for each warp; a group of several warps uses the entry of its first. Contexts (emu/sched/its.c) follow. */
    struct emu_group *groups;
    u32 *group_at; /* indices of the groups in use */
    u32 group_count;
    u32 running;       /* groups that are not done */
    u32 living;        /* threads that have not ended */
    u32 context_count; /* number of entries of `groups` that this CTA used */
    u32 context_high;  /* the same for all CTAs of the slot so far */
    /* its warps run with independent thread scheduling (emu/sched/its.c) */
    bool its;
    u32 rank; /* rank in the cluster */
    /* the CTAs of its cluster by rank; without a cluster: the CTA itself */
    struct emu_cta **cluster;
    u32 cluster_size;
    struct emu_barrier {
        u32 arrived, needed, value;
        bool any, all;
        u32 arrivals;
    } barriers[16];
    /* groups may have become ready or been created: emu/sched/ordered.c checks them */
    bool stirred;
    u32 awaited;             /* bit mask of the barriers at which some warp has arrived */
    struct emu_async *async; /* cp.async, bulk copies: async.c */
    void *runtime;           /* the threads' last errors: emu/device/child_grids.c; NULL: none */
    /* the CTA or another one of its cluster has failed: it need not run further */
    bool failed;
    /* Ownership tags of its shared memory: emu/speculate/conflict_free.h. NULL: none yet. */
    struct tagged_shared *tags;
    /* Output that becomes visible in the order of the CTAs: emu/sched/deliver.c. */
    struct emu_outbox *outbox;
    u64 started; /* device clock when it began */
    /* The largest extent of its rows and .local memory that calls used; the next CTA clears it. */
    struct emu_frame used;
    u32 used_dynamic; /* likewise for alloca, bytes of a thread */
    bool live;
};

struct emu_worker { /* a host thread of a launch and its counters */
    struct emu_machine *machine;
    struct emu_site *sites;         /* counters of the current CTA's SM; NULL: counting is off */
    struct emu_block_count *blocks; /* likewise */
    struct emu_bound *bounds;       /* the last allocation of each site */
    struct trace_cta *trace;        /* trace of the current CTA; NULL: not traced */
    struct cache_port *port;        /* the CTA's requests to the caches; NULL: caches are off */
    /* Only for a traced CTA in lockstep: emu/measure/trace_turns.h. Else NULL. */
    struct trace_turns *turns;
    struct combine *combine; /* combined reductions; NULL: reductions go to memory at once */
    /* Its part of a conflict-free run (emu/speculate/ownership.h). NULL: no such run. */
    struct conflict_free *conflict_free;
    u8 *who; /* scratch of counting: lane number for each word of shared memory */
    u64 thread_instructions;
    u64 clock_ahead;   /* added to all clocks: emu/progress/deadlock.c */
    bool clocks_stand; /* clocks do not advance; each group's shows its `clock_at` */
    bool
        faults_at_offset; /* the address of the fault that is being raised is an offset (emu_fault.is_offset) */
    struct arena *arena; /* scratch memory of the launch */
};

struct launch_phases;
struct trace_cta;
struct trace;
struct emu_machine_heap { /* heap of the guest's malloc */
    u64 *used;            /* bytes that are allocated */
    u64 size;             /* bytes of the heap */
    bool survives_bad_frees;
};
/* which events are reported to the order and observers, and when */
struct emu_machine_steps {
    bool watched;   /* the launch has an order or observers */
    bool blind;     /* no observer reads data */
    bool issues;    /* each instruction is a step of its own: emu_op_issue */
    u8 step;        /* enum emu_step: the unit of the order's bursts */
    unsigned wants; /* enum emu_want of the order */
    /* the access about which the order is being asked; NULL: none */
    const struct emu_access *asked;
};
struct emu_machine_threads {
    bool its;      /* independent thread scheduling for all CTAs */
    bool yields;   /* or only for CTAs whose running lanes only wait: emu/sched/yield.c */
    bool parallel; /* several host threads run CTAs */
};

struct emu_machine { /* a launch */
    struct emu *emu;
    const struct emu_program *program;
    const struct emu_launch *launch;
    struct mem *mem;
    struct image *image;
    u8 *params; /* MEM_MAX_PARAMS bytes: the launch's parameters, then zeros */
    u32 params_size;
    u32 threads_per_cta, warps_per_cta, cta_count;
    u32 cluster[3], cluster_size;
    u32 shared_size; /* bytes, the system's included if the kernel reads its address */
    u32 shared_own;  /* bytes without the system's */
    u64 grid_id;
    double deadline;    /* deadline of the launch by the host; 0: none */
    u64 spent;          /* warp instructions of earlier grids of that launch */
    u64 grid_workspace; /* cooperative launch: address of its grid barrier */
    u32 sms, group_warps;
    u32 slots_per_sm;  /* CTAs that can be resident on an SM */
    u32 schedulers;    /* schedulers of an SM */
    bool narrow_banks; /* shared memory has 16 banks and serves half a warp in a pass */
    bool explicit_cluster;
    struct emu_machine_heap heap;
    struct emu_machine_steps steps;
    struct emu_machine_threads threads;
    const struct emu_counting *counting;
    struct cta_arena *cta_arena; /* the device's: emu/cta_arena.h */
    struct caches *caches;       /* NULL: not asked for */
    struct check *check;         /* collects findings */
    /* state of emu/speculate/conflict_free.c; NULL: no speculative run */
    struct conflict_free_run *conflict_free;
    const struct speculation *speculation; /* emu/speculate/speculation.h: hooks; NULL: none */
    /* the image as the device's callers know it; `image` is its content */
    struct emu_image *loaded;
    struct grids *grids;            /* child grids: emu/device/child_grids.h */
    struct launch_context *context; /* emu/sched/launch_context.h */
    struct ordered *ordered;        /* state of emu/sched/ordered.c; NULL: no order */
    /* State of emu/speculate/deferred.c while a log is replayed. NULL: the order is asked about running warps. */
    struct deferred_replay *replay;
    struct trace *trace;          /* trace.h; NULL: traces are off */
    struct launch_phases *phases; /* state of emu/measure/phases.c; NULL: phases are off */
};

/* ---- for handlers --------------------------------------------------------------------------------- */

/* Subtracts the extra work of an instruction, measured in instructions, from the group's turn, so that limits of time
 * are checked often enough. */
static inline void emu_charge(struct emu_group *g, u64 work)
{
    g->budget -= (i64)work;
}

/* Records a fault of lane `lane` of warp `w` of the group, stops the group and returns NULL. The launch reports its
 * first fault. */
const struct emu_uop *emu_raise(struct emu_group *g, const struct emu_uop *in,
                                enum emu_fault_kind kind, u32 w, u32 lane, u64 address, u32 size,
                                const char *format, ...) __attribute__((format(printf, 8, 9)));

/* With --on-fault=continue: adds a wrong access of a lane to the findings of the launch; the caller skips the access
 * and continues. false: the caller must raise a fault. */
bool emu_goes_on(struct emu_group *g, const struct emu_uop *in, enum emu_fault_kind kind, u32 w,
                 u32 lane, u64 address, const char *what);

/* Records a finding about an instruction whose behaviour PTX leaves undefined, if `check` is one of config.checks. The
 * launch continues. */
void emu_note_undefined(struct emu_group *g, const struct emu_uop *in, unsigned check,
                        enum emu_fault_kind kind, u32 w, u32 lane, u64 address, const char *what);

/* Sets exec and the members that depend on it (lane[], full, lane_count). The masks may contain only live lanes. */
void emu_set_exec(struct emu_group *g, const u32 mask[GROUP]);

/* Host address of a lane's memory. `space`: enum ptx_space (GENERIC: the address decides). Returns the host address of
 * `size` bytes, or NULL after raising a fault. Not for LOCAL, whose words are not adjacent: use emu_lane_read and
 * emu_lane_write, which accept every space and sizes up to 64. `write`: the access is a store. */
u8 *emu_lane_host(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                  u64 address, u32 size, bool write);
bool emu_lane_read(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                   u64 address, u32 size, void *to);
bool emu_lane_write(struct emu_group *g, const struct emu_uop *in, u32 w, u32 lane, u32 space,
                    u64 address, u32 size, const void *from);
/* Finds the allocation of global memory that contains an address, for later accesses of the same site. false: there is
 * none that permits the access, or the instruction (a load or store, see memops.h) names another space. */
bool emu_find_bound(struct emu_group *g, const struct emu_uop *in, u64 address, bool write,
                    struct emu_bound *out);
/* The state space (enum ptx_space) of a generic address. */
u32 emu_space_of(const struct emu_group *g, u64 address);

/* Defers a reduction whose order matters until the CTA's turn. false: it is the CTA's turn; the caller executes the
 * reduction now. */
bool emu_defer_red(struct emu_group *g, const struct emu_uop *in, u64 address, u8 op, u8 type,
                   const void *operand);
/* Prints text of the guest, or defers it until the CTA's turn. */
void emu_print(struct emu_group *g, const char *text, size_t length);
/* Records a finding if live lanes of the member mask of warp w do not execute the instruction (EMU_CHECK_SYNC). */
void emu_note_sync(struct emu_group *g, const struct emu_uop *in, u32 w, u32 mask);
/* One warp instruction counts as one cycle, and as one nanosecond. */
static inline u64 emu_clock(const struct emu_group *g)
{
    return g->instructions + g->worker->clock_ahead;
}
/* A special register that does not change while a CTA runs, for one lane of warp w of the group. */
u64 emu_special_value(const struct emu_group *g, u32 w, u32 lane, u32 special);

/* emu/sched/its.c: splits the running lanes into a context of their own where other lanes of the warp wait for them. */
void emu_its_part(struct emu_group *g);
/* The live lanes of warp w of the group, in all contexts. */
u32 emu_warp_alive(const struct emu_group *g, u32 w);

/* emu/sched/frames.c: must be called before rows are written of a group that does not run. */
void emu_need_rows(struct emu_group *g);

/* Resumes at the topmost entry of the SIMT stack that has live lanes. NULL: the group is done. */
const struct emu_uop *emu_group_resume(struct emu_group *g);

/* Splits the group `from` into groups of one warp, each with the state of the group. */
void emu_group_split(struct emu_group *g);

/* The bit of a row in emu_code.live. */
static inline u64 emu_row_bit(const struct emu_frame *f, unsigned bytes, u32 row)
{
    u32 n = row / (ROW * bytes);
    if (bytes < 8) n += f->r64 / (ROW * 8);
    if (bytes < 4) n += f->r32 / (ROW * 4);
    return UINT64_C(1) << n % 64;
}
/* row_sizes.c: for each operation the element sizes of the rows d, a, b, c; 0: no such row, or unknown. */
extern const u8 emu_row_sizes[UOP_COUNT][4];

/* The live rows of the group when it resumes, those of lanes that wait on the stack included. */
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

/* The number of lanes in a mask, which is mostly LANES. */
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
