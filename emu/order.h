/* emu/order.h: the interface of memory orders and of observers.
 *
 * A launch that has an *order* asks it for every decision that hardware would be free to make: which warp issues next,
 * which slot gets the next CTA, when a store reaches memory, what a load reads. A launch that has *observers* reports
 * every warp instruction, access, fence and barrier to them; they change nothing. determinism/ has the orders
 * `random`, `gpudet` and `dab` and the observers (race detector, last writers). docs/orders.md adds an order of 60
 * lines step by step.
 *
 * Who calls whom. emu/sched/ordered.c runs a launch with an order, one warp at a time on one host thread, and calls the
 * callbacks of struct emu_order. An order answers, and may call the emu_machine_... functions below from inside its
 * callbacks. A launch without an order is `native`: emu/sched/launch.c runs it, CTAs in linear order.
 *
 * CTAs are resident in the slots of the SMs of the configured GPU. emu_machine_shape says how many there are. Every
 * callback may be NULL; then the launch uses the default that the callback's comment names.
 *
 * Invariants. What an order does not ask for (emu_order.wants) costs nothing: the handlers of the instructions are
 * chosen when the launch begins. Callbacks of one launch come one at a time. Results depend on the order's
 * answers alone, never on time or host addresses.
 *
 * This header has what every order needs. emu/order_fast.h has what only the fast paths need: the flags that let a
 * launch be speculated, and batches of reductions. An order works without it. */
#ifndef HEDDLE_EMU_ORDER_H
#define HEDDLE_EMU_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_kernel;
struct emu_launch;
struct emu_number;     /* emu/counts.h */
struct emu_order_fast; /* emu/order_fast.h */
struct emu_machine;    /* a running launch, for the functions below */

/* ---- what happens in a launch --------------------------------------------------------------------- */

struct emu_warp {      /* a warp of a resident CTA */
    uint32_t cta;      /* linear index in the grid */
    uint32_t warp;     /* in the CTA */
    uint32_t sm, slot; /* where the CTA is: slot s is on SM s % sms; without an order 0 */
    uint64_t serial;   /* instructions that it has issued; see enum emu_step */
    /* In the list of ready warps: it waited for an mbarrier or its cluster at this instruction and tries again. */
    bool waits;
    uint32_t waits_at;
};

enum { EMU_MOST_NESTED = 24 }; /* launches that stand still, each for grids of the one before */
enum emu_access_kind { EMU_LOAD, EMU_STORE, EMU_ATOMIC, EMU_RED };
_Static_assert(EMU_LOAD < EMU_STORE && EMU_STORE < EMU_ATOMIC && EMU_STORE < EMU_RED,
               "what is greater than STORE reads and writes");
enum emu_access_flag {
    EMU_VOLATILE = 1,
    EMU_ACQUIRE = 2,
    EMU_RELEASE = 4,
    EMU_RELAXED = 8,      /* strong: .relaxed or stronger, volatile, mmio */
    EMU_ASYNC = 16,       /* cp.async and bulk copies: the access is carried out later */
    EMU_DEAD_RESULT = 32, /* ATOMIC: no instruction reads the result; it may be treated as a RED */
    EMU_NONCOHERENT = 64, /* .nc, .const, textures, surfaces: a cache that is not kept coherent */
    EMU_BULK = 128,       /* ASYNC: a bulk copy */
};
enum emu_scope { EMU_SCOPE_CTA, EMU_SCOPE_CLUSTER, EMU_SCOPE_GPU, EMU_SCOPE_SYS };
_Static_assert(EMU_SCOPE_CTA < EMU_SCOPE_CLUSTER && EMU_SCOPE_CLUSTER < EMU_SCOPE_GPU &&
                   EMU_SCOPE_GPU < EMU_SCOPE_SYS,
               "a wider scope is a greater number: orders and the race detector compare them");

struct emu_access {
    const struct emu_warp *who;
    uint8_t kind; /* enum emu_access_kind */
    uint8_t
        space; /* enum ptx_space after generic addressing: GLOBAL, SHARED, LOCAL, CONST, PARAM */
    uint8_t flags; /* enum emu_access_flag */
    uint8_t scope; /* enum emu_scope of a strong access; an asynchronous RED is relaxed */
    uint8_t op;    /* enum emu_atomic, of ATOMIC and RED */
    uint8_t type;  /* enum ptx_type of an element */
    uint8_t width; /* bytes of an element: 1 .. 16 */
    uint8_t count; /* elements of each lane, side by side: 1, 2, 4, 8 */
    /* All 32 lanes take part and their bytes are adjacent, in the order of lanes. false: unknown. */
    bool contiguous;
    uint32_t lanes;          /* mask of the lanes that take part */
    const uint64_t *address; /* by lane: generic addresses */
    uint64_t common_bits;    /* address bits that all these lanes have in common. 0: unknown */
    /* Where all lanes access one page of 4 KiB and each lane one row of 128 bytes in it: a mask of these rows. 0: they
     * do not, or it is unknown. */
    uint32_t rows;
    const uint16_t
        *low16; /* with rows, unless contiguous or all addresses equal: their low 16 bits */
    /* STORE, RED, ATOMIC: the operand of lane l is at data + stride * l. Compare-and-swap: the comparand, and the new
     * value 32 bytes behind it. Elements are adjacent. Valid during the call. */
    const uint8_t *data;
    /* LOAD, ATOMIC: where an order that answers EMU_DONE writes the result of lane l, at stride * l. The bytes are
     * undefined before emu_machine_fetch. (Observers of a compare-and-swap find what memory holds.) */
    uint8_t *result;
    uint32_t stride;   /* bytes: 1 .. 64 */
    uint64_t mbarrier; /* ASYNC: generic address of the mbarrier that is notified; 0: a group */
    uint32_t pc;       /* the instruction: emu_machine_location */
    /* For observers: the order has carried it out or buffers it; then see emu_observer.drained. */
    bool buffered;
    bool standalone; /* ATOMIC, RED: it is all that the instruction does, and in global memory */
    /* LOAD, with EMU_WANT_LATE_LOADS: what comes before the first instruction that needs the result has a store, and
     * nothing that orders accesses. The order may answer EMU_LATER. */
    bool may_be_late;
    /* With EMU_BRIEF_RETRIES (emu/order_fast.h): the access that the order put the warp to sleep at, or the same once
     * more. Only who, kind, space, flags, lanes and pc are set. */
    bool retry;
};

enum emu_verdict {
    EMU_PROCEED, /* carry it out now, as without an order */
    EMU_DONE,    /* the order has carried it out: it wrote the results or buffers the store */
    /* Not now. The warp sleeps; after emu_machine_wake, when it is chosen, it tries the instruction again. An order
     * without pick() may wake warps in idle() alone. */
    EMU_SLEEP,
    /* Of a load: sleep, then carry it out without asking again. Not with observers or a wrapper. */
    EMU_SLEEP_ONCE,
    /* Of an access that may_be_late: the warp goes on, and the order is asked again about the same access, which then
     * may not be late: before the result is needed, before an access of the warp that has one of its bytes, before a
     * fence, barrier or atomic, and at the end of the basic block. Observers are notified then. */
    EMU_LATER,
};

enum emu_sync_kind {
    EMU_SYNC_FENCE,
    EMU_SYNC_BARRIER, /* the warp arrives at a barrier of the CTA; with EMU_ACQUIRE it waits there */
    /* The barrier is complete and all its warps go on. Reported once; `who` is a warp of the CTA. No warp sleeps, but
     * emu_machine_sleep may stop those that go on. */
    EMU_SYNC_BARRIER_DONE,
    EMU_SYNC_WARP,      /* bar.warp.sync of these lanes */
    EMU_SYNC_WARP_EXIT, /* all lanes have ended; comes before the barriers that this completes */
    EMU_SYNC_CTA_START,
    EMU_SYNC_CTA_EXIT,
    EMU_SYNC_ASYNC_COMMIT, /* of cp.async; with EMU_BULK of bulk copies */
    EMU_SYNC_ASYNC_WAIT,   /* likewise; until at most `count` groups are pending */
    EMU_SYNC_MBARRIER,     /* lanes are about to access an mbarrier */
    EMU_SYNC_CLUSTER,      /* lanes are about to arrive at the cluster's barrier, with a release */
    EMU_SYNC_RUNTIME,      /* a call of the device runtime: printf, malloc, a launch */
    EMU_SYNC_GRIDS,        /* griddepcontrol */
    /* From here on, and for WARP and WARP_EXIT, the event has happened already: no warp sleeps. */
    EMU_SYNC_MBARRIER_DONE, /* one lane has accessed the mbarrier */
    EMU_SYNC_CLUSTER_ARRIVE,
    EMU_SYNC_CLUSTER_DONE, /* the cluster's barrier is complete. Once; `who` is of the cluster */
    EMU_SYNC_CLUSTER_WAIT, /* lanes go on */
};
enum emu_mbarrier {
    EMU_MBARRIER_INIT,
    EMU_MBARRIER_INVALIDATE,
    EMU_MBARRIER_TX,
    EMU_MBARRIER_ARRIVE,
    EMU_MBARRIER_ARRIVE_ASYNC, /* when the preceding cp.async are complete */
    EMU_MBARRIER_PASSED,       /* a wait that found the phase complete */
    EMU_MBARRIER_PENDING,      /* a wait that did not */
};
enum emu_grids { EMU_GRIDS_WAIT, EMU_GRIDS_LAUNCH }; /* griddepcontrol.wait, .launch_dependents */
#define EMU_ALL_PENDING UINT32_MAX
struct emu_sync {
    const struct emu_warp *who;
    uint8_t kind;  /* enum emu_sync_kind */
    uint8_t scope; /* enum emu_scope, of a fence, an mbarrier */
    uint8_t flags; /* EMU_ACQUIRE | EMU_RELEASE where they apply; EMU_BULK */
    /* enum emu_mbarrier or emu_grids; FENCE: 1 for a proxy fence; ASYNC_WAIT: 1 for .read */
    uint8_t op;
    bool sc;     /* FENCE: fence.sc, membar */
    uint32_t id; /* of a barrier: 0-15 */
    /* BARRIER: the threads that it expects, 0: all; DONE: the living threads of the CTA. ASYNC_WAIT: groups;
     * EMU_ALL_PENDING: all of them, committed or not (not of BULK). */
    uint32_t count;
    uint32_t lanes;
    uint8_t phase[2]; /* MBARRIER_DONE: before and after, modulo 4 */
    uint64_t address; /* of an mbarrier */
    uint32_t pc;
};

/* ---- orders --------------------------------------------------------------------------------------- */

/* An order is always asked about atomics, reductions, strong accesses (volatile, relaxed, acquire, release) of global
 * and shared memory, asynchronous copies and every sync. These flags add weak accesses.
 * emu/order_fast.h has further flags. */
enum emu_want {
    EMU_WANT_LOADS = 1, /* weak loads, .nc, surfaces, tiles */
    EMU_WANT_STORES = 2,
    EMU_WANT_SHARED = 64, /* weak loads and stores of shared memory; 4 to 32: emu/order_fast.h */
    /* With LOADS and STORES: it may answer EMU_LATER. Of shared memory with SHARED only. */
    EMU_WANT_LATE_LOADS = 128,
};

enum emu_step {                       /* the unit of a burst (pick) and of emu_warp.serial */
                EMU_STEP_INSTRUCTION, /* one warp instruction. Slow */
                EMU_STEP_BLOCK, /* one warp instruction, but warps stop at the ends of basic blocks only */
                /* One event that the order is asked about: a burst of 1 ends before the next atomic, reduction, fence, barrier,
     * load or store of this kind. A warp without events stops at the end of a basic block after 32 instructions for
     * each unit of the burst. Serial is as with BLOCK. */
                EMU_STEP_EVENT,
};

/* The message for an order that is stack_only, with its name. */
#define EMU_STACK_ONLY                                                                             \
    "order %s cannot follow lanes that go their own ways: use --divergence=stack, or another order"

struct emu_drained;
struct emu_order_wrapper { /* for an order around another one: a recorder */
    /* The inner order's buffered access is about to change memory. */
    void (*drained)(void *self, const struct emu_drained *);
    void (*woken)(void *self, const struct emu_warp *); /* the inner order wakes this warp */
};

/* One instruction may be reported in pieces (a bulk copy, a surface, lanes in several spaces). An order answers all
 * pieces alike, and puts the warp to sleep at the first one or not at all. */
struct emu_order {
    void *self;
    const char *name; /* "gpudet" */
    bool stack_only;  /* not with independent thread scheduling: EMU_ITS is refused */
    unsigned wants;   /* enum emu_want; read when a launch begins */
    uint8_t step;     /* enum emu_step; likewise */
    /* Not 0: memory that nothing has written holds bytes drawn from this number: allocations, the shared memory of a CTA,
     * the local memory of a kernel's frame. They depend on this number and on where they are, not on what the order
     * draws. Of emu_config.order; read when the device is made. 0: it holds zeros. */
    uint64_t unwritten;
    void (*begin)(void *self, struct emu_machine *m);
    /* Chooses one of `count` > 0 ready warps: returns its index and sets *burst to the units (`step`) that it may issue.
     * The warp may stop earlier: it waits, sleeps or ends. A negative result chooses none; then idle() must make one
     * ready. The order of the list has no meaning. NULL: round robin, long bursts. */
    int (*pick)(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst);
    /* Chooses the slot of the next CTA (of a cluster: of its first CTA; the others get the lowest free slots) from
     * `count` > 0 free ones: returns an index into the list. Negative: none now; asked again when a CTA has ended,
     * when no warp can run, and every 1024 bursts. NULL: the lowest free slot of SM cta % sms. */
    int (*place)(void *self, uint32_t cta, const uint32_t *free_slots, size_t count);
    /* In place of place(): also chooses which CTA (of those that have not begun; with clusters, which cluster). */
    int (*place_any)(void *self, const uint32_t *free_slots, size_t count, uint32_t *cluster);
    /* Between the grids that a kernel has launched: chooses which of `count` > 1 that may run now does so next (each is the
     * first of its stream in its CTA). NULL: in the order of CTAs and of issue. */
    uint32_t (*choose_grid)(void *self, uint32_t count);
    /* The order of the grids that run while a launch under this one stands still, since a CTA of it waits for them: one with a
     * state of its own, the same each time. NULL: kernels under this order cannot wait for grids. */
    const struct emu_order *(*nested)(void *of);
    void *nested_of;
    enum emu_verdict (*access)(void *self, const struct emu_access *); /* NULL: EMU_PROCEED */
    enum emu_verdict (*sync)(void *self, const struct emu_sync *);     /* PROCEED or SLEEP */
    /* No warp can run: the order must make one ready (end a quantum, flush buffers). false: it cannot, and the launch
     * fails as deadlocked. Called once more after the last CTA has ended, to drain what is still buffered. */
    bool (*idle)(void *self);
    void (*end)(void *self);
    /* Asked when no warp can run: the order's own error, which becomes the launch's fault (EMU_BAD_ORDER). NULL, also as
     * a result: the launch is deadlocked. */
    const char *(*failure)(void *self);
    /* Adds what it counted in the launch that has ended, in a fixed order: "gpudet.quanta". Only of launches that are
     * counted (emu_machine_is_counted). */
    void (*numbers)(void *self, void (*add)(void *to, const char *name, uint64_t value), void *to);
    /* The options that the order was made with, for the timing model (emu_counts.options). */
    const struct emu_number *options;
    size_t option_count;
    const struct emu_order_wrapper *wrapper; /* NULL: it wraps no other order */
    const struct emu_order_fast *fast;       /* emu/order_fast.h; NULL: no fast paths */
    /* emu/order_fast.h; NULL: livelocks are not proved under this order; such a launch ends at its limits. */
    const struct emu_order_livelock *livelock;
};

struct emu_issuer { /* the warp and instruction that issued a buffered access */
    uint32_t cta, warp, pc;
    uint8_t lane; /* the lane plus one; 0: unknown */
    uint8_t kind; /* enum emu_access_kind */
    uint64_t serial;
};
static inline struct emu_issuer emu_issuer(const struct emu_access *a)
{
    return (struct emu_issuer){a->who->cta, a->who->warp, a->pc, .kind = a->kind,
                               .serial = a->who->serial};
}

/* A store or reduction that an order has buffered, just before it changes memory. */
struct emu_drained {
    struct emu_issuer by;
    uint64_t address;
    uint32_t size;
    bool reduces;
    uint8_t op, type;             /* if it reduces: one element */
    const uint8_t *data;          /* as emu_access.data */
    const struct emu_access *now; /* the access that the order is being asked about; NULL: none */
};

/* ---- what an order may call ----------------------------------------------------------------------- */

/* Carry out a buffered access of global memory. The addresses were checked when the access was issued; bytes of memory
 * that has been released since are dropped, or read as zeros. */
void emu_machine_store(struct emu_machine *m, struct emu_issuer by, uint64_t address,
                       const void *data, uint32_t size);
/* false: there is no such memory. */
bool emu_machine_load(struct emu_machine *m, uint64_t address, void *data, uint64_t size);
/* Likewise of shared memory of the warp's CTA, from an offset or a generic address on; bytes behind its end are zeros. */
void emu_machine_load_shared(struct emu_machine *m, const struct emu_warp *who, uint64_t address,
                             void *data, uint64_t size);
/* Reduces one element. `operand`: as emu_access.data; old: NULL or where the old value goes. */
void emu_machine_reduce(struct emu_machine *m, struct emu_issuer by, uint64_t address, uint8_t op,
                        uint8_t type, const void *operand, void *old);
/* Fills a->result with what memory holds now, for the load or atomic of global memory that the order is asked about. */
void emu_machine_fetch(struct emu_machine *m, const struct emu_access *a);
/* The sleeping warp may run. No effect on other warps, or if its CTA has ended. */
void emu_machine_wake(struct emu_machine *m, const struct emu_warp *who);
/* The warp sleeps from now on, wherever it is: for pick(), idle(), CTA_START and BARRIER_DONE. */
void emu_machine_sleep(struct emu_machine *m, const struct emu_warp *who);
/* The warps that are ready now: for a pick() that has called emu_machine_sleep or _wake. */
const struct emu_warp *emu_machine_ready(const struct emu_machine *m, size_t *count);
/* Calls place() or place_any() for the free slots: for idle(). */
void emu_machine_place_ctas(struct emu_machine *m);
/* The time of the mbarrier.try_wait that the warp waits at has run out. false: it waits at none. */
bool emu_machine_time_out(struct emu_machine *m, const struct emu_warp *who);

/* For orders that work in phases: what was counted since the launch began, or since the last call, belongs to the
 * phase of that name ("parallel"; a literal; at most 8 names). Equal names are added up; what is counted after the
 * last call belongs to the last phase. A basic block is counted when a warp enters it. No effect unless
 * emu_config.phases is on. */
void emu_machine_phase(struct emu_machine *m, const char *name);

struct emu_shape {       /* a launch on the configured GPU */
    uint32_t sms, slots; /* slots in all */
    uint32_t schedulers; /* of an SM */
    uint32_t ctas, warps_per_cta, cluster;
    bool
        shared_commutes; /* the order of the reported accesses of shared memory makes no difference */
    bool warps_interact; /* warps of a CTA or cluster may interact: shared memory, barriers */
};
struct emu_shape emu_machine_shape(const struct emu_machine *m);

/* Whether events are counted, so that numbers() will be called. */
bool emu_machine_is_counted(const struct emu_machine *m);
/* Whether an observer or wrapper is called for drained accesses: emu_machine_store, emu_machine_reduce. */
bool emu_machine_drains_observed(const struct emu_machine *m);
/* Whether an observer asks for emu_observer.in_commit_order. */
bool emu_machine_commits_observed(const struct emu_machine *m);

struct emu_identity { /* identifies a launch, for recordings */
    const char *kernel, *gpu;
    uint32_t grid[3], block[3], cluster[3], shared, sms, slots;
    bool cooperative, its;
    /* digests of the modules' texts, of the parameters, of all memory as it is now */
    uint64_t program, params, memory;
};
void emu_machine_identity(struct emu_machine *m, struct emu_identity *out);

struct emu_location { /* an instruction, for messages */
    const char *function, *source_file;
    uint32_t line, source_line;
};
struct emu_location emu_machine_location(const struct emu_machine *m, uint32_t pc);
uint32_t emu_machine_location_count(const struct emu_machine *m); /* every pc is below it */

/* ---- observers ------------------------------------------------------------------------------------ */

struct emu_observer {
    void *self;
    /* It reads no data of accesses except compare-and-swaps (data and result may be NULL). Launches whose observers all
     * say so are faster. */
    bool ignores_data;
    /* It can do without launches that are free of conflicts: no two threads access the same bytes, one of them to change
     * them, except reductions of one kind, and shared memory with a barrier of the whole CTA in between. */
    bool skips_conflict_free;
    /* Atomics and reductions of global memory that an order carries out are reported in the order of commit. */
    bool in_commit_order;
    /* The observer of the grids that run while a launch stands still, since a CTA of it waits for them: another one, or this one,
     * which then has a launch of its own until `resumed`, on the one that was asked. What it finds is found by both. NULL: kernels
     * cannot wait for grids while this one observes, for this reason: a literal, behind "which is not possible ". */
    const struct emu_observer *(*nested)(void *self);
    const char *not_nested;
    void (*resumed)(void *self); /* the launch goes on behind these grids */
    void (*begin)(void *self, struct emu_machine *m);
    /* With skips_conflict_free, of one observer at most: the byte ranges of global memory that a warp or lane of such a
     * launch accessed, with EMU_LOAD, EMU_STORE or EMU_RED and enum emu_access_flag. If a conflict is found later, every
     * event is reported again. */
    void (*footprint)(void *self, uint64_t address, uint64_t size, uint8_t kind, uint8_t flags);
    void (*issue)(void *self, const struct emu_warp *, uint32_t pc, uint32_t lanes);
    void (*access)(void *self, const struct emu_access *);
    void (*sync)(void *self, const struct emu_sync *);
    void (*drained)(void *self, const struct emu_drained *);
    void (*end)(void *self);
};

struct emu_extent {                  /* of a launch */
    uint32_t ctas, threads, cluster; /* threads of a CTA, CTAs of a cluster */
    uint32_t shared;                 /* bytes of a CTA */
    uint64_t memory;                 /* bytes from MEM_GLOBAL on that may hold allocations */
};
struct emu_extent emu_machine_extent(const struct emu_machine *m);
/* The linear index of the CTA with the given rank in the cluster of `cta`, and the rank of `cta` itself. */
uint32_t emu_machine_cluster_cta(const struct emu_machine *m, uint32_t cta, uint32_t rank);
uint32_t emu_machine_rank(const struct emu_machine *m, uint32_t cta);

const char *emu_machine_kernel(const struct emu_machine *m);
/* Whether the kernel reads a clock or another register that changes while it runs, or the number of its SM. */
bool emu_machine_reads_clock(const struct emu_machine *m);
/* Whether the kernel has asynchronous copies. */
bool emu_machine_copies(const struct emu_machine *m);
/* Whether an instruction names the scope of a CTA or a cluster. */
bool emu_machine_has_narrow_scopes(const struct emu_machine *m);
/* The indices of a CTA and of one of its threads, given as linear numbers. */
void emu_machine_thread(const struct emu_machine *m, uint32_t cta, uint32_t thread,
                        uint32_t cta_index[3], uint32_t thread_index[3]);

struct emu_access_site {      /* one of the two accesses of a finding */
    uint32_t pc, cta, thread; /* linear in the grid, in the CTA */
    const char *what;         /* "write of 4 bytes" */
};
/* Adds a finding about two accesses (enum emu_fault_kind: RACE, MIXED) to the launch's report. Further findings about
 * the same two instructions are counted. `address`: of global memory, else 0. */
void emu_machine_report(struct emu_machine *m, unsigned kind, const char *what,
                        const struct emu_access_site *first, const struct emu_access_site *second,
                        uint64_t address);
/* Whether there is a finding about these two instructions; then `more` is added to its count. */
bool emu_machine_is_reported(struct emu_machine *m, unsigned kind, uint32_t pc, uint32_t pc2,
                             uint64_t more);
/* Adds a finding that is about no instruction: that an observer has stopped, say. Whole lines. Once for each kind and
 * launch. */
void emu_machine_note(struct emu_machine *m, unsigned kind, const char *text);

#endif
