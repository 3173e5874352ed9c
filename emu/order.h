/* emu/order.h: the interface of memory orders and of observers.
 *
 * A launch that has an *order* asks it for every decision that hardware would be free to make: which warp issues next,
 * which slot gets the next CTA, when a store reaches memory, what a load reads. A launch that has *observers* reports
 * every warp instruction, access, fence and barrier to them; they change nothing. determinism/ has the orders
 * `random`, `gpudet` and `dab` and the observers (race detector, last writers). docs/orders.md adds an order of 60
 * lines step by step.
 *
 * Callers and callees. emu/sched/ordered.c runs a launch with an order, one warp at a time on one host thread, and
 * calls the callbacks of struct emu_order. An order answers, and may call the emu_machine_... functions below from
 * inside its callbacks. A launch without an order is `native`: emu/sched/launch.c runs it, CTAs in linear order.
 *
 * CTAs are resident in the slots of the SMs of the configured GPU. emu_machine_shape says how many there are. Every
 * callback may be NULL; then the launch uses the default that the callback's comment names.
 *
 * Invariants. Events that an order does not ask for (emu_order.wants) cost nothing: the handlers of the instructions
 * are chosen when the launch begins. Callbacks of one launch are called one at a time. Results depend on the order's
 * answers alone, never on time or host addresses.
 *
 * This header has the interface that every order needs. emu/order_fast.h has the interface of the fast paths: the flags
 * that let a launch be speculated, and batches of reductions. An order works without it. */
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

/* ---- events of a launch ---------------------------------------------------------------------------- */

struct emu_warp {      /* a warp of a resident CTA */
    uint32_t cta;      /* linear index of its CTA in the grid */
    uint32_t warp;     /* number of the warp in the CTA */
    uint32_t sm, slot; /* place of the CTA: slot s is on SM s % sms. Without an order: 0 */
    uint64_t serial;   /* instructions that the warp has issued; see enum emu_step */
    /* In the list of ready warps: the warp waited for an mbarrier or its cluster at instruction `waits_at` and is to
     * retry that instruction. */
    bool waits;
    uint32_t waits_at;
};

enum { EMU_MOST_NESTED = 24 }; /* most suspended launches, each waiting for child grids */
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
    EMU_NONCOHERENT = 64, /* .nc, .const, textures, surfaces: a non-coherent cache */
    EMU_BULK = 128,       /* with ASYNC: a bulk copy */
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
    uint8_t op;    /* ATOMIC and RED: enum emu_atomic */
    uint8_t type;  /* enum ptx_type of an element */
    uint8_t width; /* bytes of an element: 1 .. 16 */
    uint8_t count; /* elements of each lane, side by side: 1, 2, 4, 8 */
    /* All 32 lanes take part, and their bytes are adjacent in the order of lanes. false: unknown. */
    bool contiguous;
    uint32_t lanes;          /* mask of the lanes that take part */
    const uint64_t *address; /* generic address of each lane */
    /* mask of the address bits that are equal in all these lanes. 0: unknown */
    uint64_t common_bits;
    /* If all lanes access one page of 4 KiB, and each lane one row of 128 bytes in that page: mask of these rows. 0:
     * the lanes do not, or unknown. */
    uint32_t rows;
    /* With `rows`, unless contiguous or all addresses are equal: low 16 bits of each lane's address. */
    const uint16_t *low16;
    /* STORE, RED, ATOMIC: the operand of lane l is at data + stride * l. Compare-and-swap: the comparand, and the new
     * value 32 bytes behind it. Elements are adjacent. Valid during the call. */
    const uint8_t *data;
    /* LOAD, ATOMIC: an order that answers EMU_DONE writes the result of lane l at result + stride * l. The bytes are
     * undefined before emu_machine_fetch. (Observers of a compare-and-swap find the value that memory holds.) */
    uint8_t *result;
    uint32_t stride;   /* bytes: 1 .. 64 */
    uint64_t mbarrier; /* ASYNC: generic address of the mbarrier to notify; 0: a group */
    uint32_t pc;       /* instruction; see emu_machine_location */
    /* For observers: the order has executed the access or buffers it; emu_observer.drained then reports the change of
     * memory. */
    bool buffered;
    bool reported; /* observers know of the access: EMU_DONE_REPORTED */
    bool
        split; /* a piece: some lanes of the instruction access global memory, others shared memory */
    /* ATOMIC, RED: the access is in global memory and is all that the instruction does */
    bool standalone;
    /* LOAD, with EMU_WANT_LATE_LOADS: between this load and the first instruction that needs its result there is a
     * store, and no instruction that orders accesses. The order may answer EMU_LATER. */
    bool may_be_late;
    /* With EMU_BRIEF_RETRIES (emu/order_fast.h): the warp retries an access at which the order put it to sleep. Only
     * who, kind, space, flags, lanes and pc are set. */
    bool retry;
};

enum emu_verdict {
    EMU_PROCEED, /* the emulator executes the access now, as without an order */
    EMU_DONE,    /* the order has executed the access: wrote the results, or buffers the store */
    /* The warp sleeps. After emu_machine_wake, when the warp is picked, it retries the instruction. An order without
     * pick() may wake warps only in idle(). */
    EMU_SLEEP,
    /* Only for loads: the warp sleeps; when it is woken and picked, the emulator executes the load without asking the
     * order again. Not with observers or a wrapper. */
    EMU_SLEEP_ONCE,
    /* Only for an access that may_be_late: the warp continues, and the order is asked about the same access a second
     * time, without may_be_late. That is done before an instruction that needs the result, before an access of the warp
     * to one of the same bytes, before a fence, barrier or atomic, and at the end of the basic block. Observers are
     * notified at that time. */
    EMU_LATER,
    /* DONE, of an access that emu_machine_report_access() has reported when the order was asked about it before. */
    EMU_DONE_REPORTED,
};

enum emu_sync_kind {
    EMU_SYNC_FENCE,
    /* the warp arrives at a barrier of the CTA; with EMU_ACQUIRE, it also waits for it */
    EMU_SYNC_BARRIER,
    /* The barrier is complete, and all its warps are released. Reported once; `who` is a warp of the CTA. The verdict
     * is ignored, but the order may call emu_machine_sleep for the released warps. */
    EMU_SYNC_BARRIER_DONE,
    EMU_SYNC_WARP, /* bar.warp.sync of these lanes */
    /* all lanes have exited; reported before the barriers that this completes */
    EMU_SYNC_WARP_EXIT,
    EMU_SYNC_CTA_START,
    EMU_SYNC_CTA_EXIT,
    EMU_SYNC_ASYNC_COMMIT, /* commits a group of cp.async; with EMU_BULK, of bulk copies */
    EMU_SYNC_ASYNC_WAIT,   /* likewise; waits until at most `count` groups are pending */
    EMU_SYNC_MBARRIER,     /* lanes are about to access an mbarrier */
    /* lanes are about to arrive at the cluster's barrier, with release semantics */
    EMU_SYNC_CLUSTER,
    EMU_SYNC_RUNTIME, /* a call of the device runtime: printf, malloc, a launch */
    EMU_SYNC_GRIDS,   /* griddepcontrol */
    /* From here on, and for WARP and WARP_EXIT, the event has happened already: the verdict is ignored. */
    EMU_SYNC_MBARRIER_DONE, /* one lane has accessed the mbarrier */
    EMU_SYNC_CLUSTER_ARRIVE,
    /* the cluster's barrier is complete. Reported once; `who` is a warp of the cluster */
    EMU_SYNC_CLUSTER_DONE,
    EMU_SYNC_CLUSTER_WAIT, /* lanes are released from the cluster's barrier */
};
enum emu_mbarrier {
    EMU_MBARRIER_INIT,
    EMU_MBARRIER_INVALIDATE,
    EMU_MBARRIER_TX,
    EMU_MBARRIER_ARRIVE,
    EMU_MBARRIER_ARRIVE_ASYNC, /* arrives when the preceding cp.async are complete */
    EMU_MBARRIER_PASSED,       /* a test or wait that found the phase complete */
    EMU_MBARRIER_PENDING,      /* a test or wait that found the phase incomplete */
};
enum emu_grids { EMU_GRIDS_WAIT, EMU_GRIDS_LAUNCH }; /* griddepcontrol.wait, .launch_dependents */
#define EMU_ALL_PENDING UINT32_MAX
struct emu_sync {
    const struct emu_warp *who;
    uint8_t kind;  /* enum emu_sync_kind */
    uint8_t scope; /* fence or mbarrier: enum emu_scope */
    uint8_t flags; /* EMU_ACQUIRE, EMU_RELEASE and EMU_BULK where they apply */
    /* MBARRIER: enum emu_mbarrier. GRIDS: enum emu_grids. FENCE: 1 for a proxy fence. ASYNC_WAIT: 1 for .read. */
    uint8_t op;
    bool sc;     /* FENCE: fence.sc, membar */
    uint32_t id; /* number of a CTA barrier: 0 .. 15 */
    /* BARRIER: threads that the barrier expects, 0: all. BARRIER_DONE: threads of the CTA that have not exited.
     * ASYNC_WAIT: groups that may stay pending; EMU_ALL_PENDING: wait for all copies, committed or not (not with
     * BULK). */
    uint32_t count;
    uint32_t lanes;
    uint8_t phase[2]; /* MBARRIER_DONE: phase before and after the operation, modulo 4 */
    uint64_t address; /* address of an mbarrier */
    uint32_t pc;
};

/* ---- orders --------------------------------------------------------------------------------------- */

/* An order is always asked about atomics, reductions, strong accesses (volatile, relaxed, acquire, release) of global
 * and shared memory, asynchronous copies and every sync. These flags add weak accesses.
 * emu/order_fast.h has further flags. */
enum emu_want {
    EMU_WANT_LOADS = 1, /* weak loads, .nc, surfaces, tiles */
    EMU_WANT_STORES = 2,
    /* weak loads and stores of shared memory; bits 4 to 32 are in emu/order_fast.h */
    EMU_WANT_SHARED = 64,
    /* With LOADS and STORES: the order may answer EMU_LATER; for loads of shared memory only with SHARED, too. */
    EMU_WANT_LATE_LOADS = 128,
};

/* the unit of a burst (pick) and of emu_warp.serial */
enum emu_step {
    EMU_STEP_INSTRUCTION, /* one warp instruction. Slow */
    EMU_STEP_BLOCK, /* one warp instruction, but warps stop at the ends of basic blocks only */
    /* One event about which the order is asked: a burst of 1 ends before the second atomic, reduction, fence, barrier,
     * load or store that the order is asked about. A warp without events stops at the end of a basic block after 32
     * instructions for each unit of the burst. emu_warp.serial is as with BLOCK. */
    EMU_STEP_EVENT,
};

/* The message for an order that is stack_only, with its name. */
#define EMU_STACK_ONLY                                                                             \
    "order %s cannot follow lanes that go their own ways: use --divergence=stack, or another order"

struct emu_drained;
struct emu_order_wrapper { /* for an order that wraps another order: a recorder */
    /* The inner order's buffered access is about to change memory. */
    void (*drained)(void *self, const struct emu_drained *);
    void (*woken)(void *self, const struct emu_warp *); /* the inner order wakes this warp */
};

/* One instruction may be reported as several accesses (a bulk copy, a surface, lanes in several state spaces). An order
 * must answer all of them alike: it puts the warp to sleep at the first one or at none. */
struct emu_order {
    void *self;
    const char *name; /* "gpudet" */
    bool stack_only;  /* the order needs the SIMT stack: launches with EMU_ITS are refused */
    unsigned wants;   /* enum emu_want; read when a launch begins */
    uint8_t step;     /* enum emu_step; likewise */
    /* Seed of the contents of unwritten memory: allocations, the shared memory of a CTA, the local memory of a kernel's
     * frame. The contents depend on this seed and on the address, not on the order's random choices. Read from
     * emu_config.order when the device is created. 0: unwritten memory holds zeros. */
    uint64_t unwritten;
    void (*begin)(void *self, struct emu_machine *m);
    /* Chooses one of `count` > 0 ready warps: returns its index and sets *burst to the number of units (`step`) that
     * the warp may issue. The warp stops earlier if it waits, sleeps or exits. A negative result chooses none; then
     * idle() must make a warp ready. The sequence of the list has no meaning. NULL: round robin with long bursts. */
    int (*pick)(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst);
    /* Chooses the slot of the next CTA (of a cluster: of its first CTA; the others get the lowest free slots) from
     * `count` > 0 free ones: returns an index into the list. Negative: no CTA is placed now; place() is called again
     * when a CTA has ended, when no warp can run, and every 1024 bursts. NULL: the lowest free slot of SM cta % sms. */
    int (*place)(void *self, uint32_t cta, const uint32_t *free_slots, size_t count);
    /* Called in place of place(): also chooses the CTA among those that have not begun (with clusters: the cluster). */
    int (*place_any)(void *self, const uint32_t *free_slots, size_t count, uint32_t *cluster);
    /* Chooses which of `count` > 1 child grids runs next. Each candidate is the first pending grid of its stream in its
     * CTA. NULL: child grids run in the order of CTAs, within a CTA in the order of issue. */
    uint32_t (*choose_grid)(void *self, uint32_t count);
    /* Returns the order for child grids that run while a launch under this order is suspended because one of its CTAs
     * waits for them. That order has a state of its own and is the same at each call. NULL: kernels under this order
     * cannot wait for child grids. */
    const struct emu_order *(*nested)(void *of);
    void *nested_of;
    enum emu_verdict (*access)(void *self, const struct emu_access *); /* NULL: EMU_PROCEED */
    enum emu_verdict (*sync)(void *self, const struct emu_sync *);     /* PROCEED or SLEEP */
    /* Called when no warp can run: the order must make a warp ready (end a quantum, flush buffers). false: it cannot,
     * and the launch fails as deadlocked. Called once more after the last CTA has ended, to drain accesses that are
     * still buffered. */
    bool (*idle)(void *self);
    void (*end)(void *self);
    /* Called when no warp can run: returns the order's own error, which becomes the launch's fault (EMU_BAD_ORDER). A
     * NULL callback or result: the launch is deadlocked. */
    const char *(*failure)(void *self);
    /* Adds the order's own counters of the launch that has ended, in a fixed sequence: "gpudet.quanta". Called only for
     * launches that are counted (emu_machine_is_counted). */
    void (*numbers)(void *self, void (*add)(void *to, const char *name, uint64_t value), void *to);
    /* The options with which the order was created, for the timing model (emu_counts.options). */
    const struct emu_number *options;
    size_t option_count;
    const struct emu_order_wrapper *wrapper; /* NULL: it wraps no other order */
    const struct emu_order_fast *fast;       /* emu/order_fast.h; NULL: no fast paths */
    /* emu/order_fast.h. NULL: livelocks are not proved under this order; a livelocked launch ends at its limits. */
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

/* A store or reduction that an order has buffered. Reported just before it changes memory. */
struct emu_drained {
    struct emu_issuer by;
    uint64_t address;
    uint32_t size;
    bool reduces;
    /* with `reduces`: enum emu_atomic and enum ptx_type of one element */
    uint8_t op, type;
    const uint8_t *data;          /* as emu_access.data */
    const struct emu_access *now; /* the access that the order is being asked about; NULL: none */
};

/* ---- what an order may call ----------------------------------------------------------------------- */

/* Execute a buffered access of global memory. The addresses were checked when the access was issued. If the memory has
 * been released since, stores to it are dropped and loads from it give zeros. */
void emu_machine_store(struct emu_machine *m, struct emu_issuer by, uint64_t address,
                       const void *data, uint32_t size);
/* Reads global memory. false: not allocated. */
bool emu_machine_load(struct emu_machine *m, uint64_t address, void *data, uint64_t size);
/* Reads shared memory of the warp's CTA. `address`: an offset in shared memory, or a generic address. Bytes after its
 * end are zeros. */
void emu_machine_load_shared(struct emu_machine *m, const struct emu_warp *who, uint64_t address,
                             void *data, uint64_t size);
/* Reduces one element. `operand`: as emu_access.data; old: NULL or where the old value goes. */
void emu_machine_reduce(struct emu_machine *m, struct emu_issuer by, uint64_t address, uint8_t op,
                        uint8_t type, const void *operand, void *old);
/* Copies the current contents of memory to a->result, for the load or atomic of global memory about which the order is
 * asked. */
void emu_machine_fetch(struct emu_machine *m, const struct emu_access *a);
/* Makes the sleeping warp ready. No effect if the warp does not sleep or its CTA has ended. */
void emu_machine_wake(struct emu_machine *m, const struct emu_warp *who);
/* Puts the warp to sleep, whatever its state. May be called from pick(), idle(), CTA_START and BARRIER_DONE. */
void emu_machine_sleep(struct emu_machine *m, const struct emu_warp *who);
/* The current list of ready warps, for a pick() that has called emu_machine_sleep or emu_machine_wake. */
const struct emu_warp *emu_machine_ready(const struct emu_machine *m, size_t *count);
/* Calls place() or place_any() for the free slots. To be called from idle(). */
void emu_machine_place_ctas(struct emu_machine *m);
/* Lets the mbarrier.try_wait at which the warp waits time out. false: the warp waits at no mbarrier.try_wait. */
bool emu_machine_time_out(struct emu_machine *m, const struct emu_warp *who);

/* For orders that work in phases: assigns the events counted since the launch began, or since the last call, to the
 * phase `name` ("parallel"; a literal; at most 8 names). Counts of equal names are added; events after the last call
 * are assigned to the last phase. A basic block is counted when a warp enters it. No effect unless emu_config.phases is
 * on. */
void emu_machine_phase(struct emu_machine *m, const char *name);

struct emu_shape {       /* a launch on the configured GPU */
    uint32_t sms, slots; /* slots of all SMs */
    uint32_t schedulers; /* warp schedulers of an SM */
    uint32_t ctas, warps_per_cta, cluster;
    /* The results do not depend on the order of the reported accesses of shared memory. */
    bool shared_commutes;
    /* warps of a CTA or cluster may interact through shared memory or barriers */
    bool warps_interact;
};
struct emu_shape emu_machine_shape(const struct emu_machine *m);

/* Whether events are counted, so that numbers() will be called. */
bool emu_machine_is_counted(const struct emu_machine *m);
/* Whether emu_machine_store and emu_machine_reduce report to an observer or wrapper. */
bool emu_machine_drains_observed(const struct emu_machine *m);
/* Whether an observer asks for emu_observer.in_commit_order. */
bool emu_machine_commits_observed(const struct emu_machine *m);
/* Reports to the observers the access that the order is asked about and has executed. The order then answers EMU_SLEEP, and
 * EMU_DONE_REPORTED when it is asked again: so an atomic is reported in the order of commit, and its warp resumes later. */
void emu_machine_report_access(const struct emu_machine *m);

struct emu_identity { /* identifies a launch, for recordings */
    const char *kernel, *gpu;
    uint32_t grid[3], block[3], cluster[3], shared, sms, slots;
    bool cooperative, its;
    /* digests of the modules' texts, of the parameters, and of the current contents of all memory */
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
    /* The observer reads no data of accesses except compare-and-swaps: data and result may be NULL. Launches are faster
     * if this is true of all their observers. */
    bool ignores_data;
    /* The observer needs no events of conflict-free launches. In these no thread accesses bytes that another thread
     * changes, except by reductions of one kind, or in shared memory with a barrier of the whole CTA between the
     * accesses. */
    bool skips_conflict_free;
    /* Atomics and reductions of global memory that an order executes are reported in commit order. */
    bool in_commit_order;
    /* Returns the observer for child grids that run while a launch is suspended because one of its CTAs waits for them.
     * It may be another observer or this one; this one then observes a launch of its own until `resumed` is called on
     * the observer of the suspended launch. Findings of the nested observer count for both. NULL: kernels cannot wait
     * for child grids under this observer; not_nested is the reason, a literal that completes "which is not possible
     * ". */
    const struct emu_observer *(*nested)(void *self);
    const char *not_nested;
    void (*resumed)(void *self); /* the child grids have ended, and the suspended launch resumes */
    void (*begin)(void *self, struct emu_machine *m);
    /* Only with skips_conflict_free, and for at most one observer of a launch: reports a byte range of global memory
     * that a warp or lane of a conflict-free launch accessed. kind: EMU_LOAD, EMU_STORE or EMU_RED; flags: enum
     * emu_access_flag. If a conflict is found later, the launch runs again and every event is reported. */
    void (*footprint)(void *self, uint64_t address, uint64_t size, uint8_t kind, uint8_t flags);
    void (*issue)(void *self, const struct emu_warp *, uint32_t pc, uint32_t lanes);
    void (*access)(void *self, const struct emu_access *);
    void (*sync)(void *self, const struct emu_sync *);
    void (*drained)(void *self, const struct emu_drained *);
    void (*end)(void *self);
};

struct emu_extent {                  /* sizes of a launch */
    uint32_t ctas, threads, cluster; /* CTAs of the grid, threads of a CTA, CTAs of a cluster */
    uint32_t shared;                 /* shared memory of a CTA, bytes */
    uint64_t memory;                 /* bytes from MEM_GLOBAL on that may hold allocations */
};
struct emu_extent emu_machine_extent(const struct emu_machine *m);
/* The linear index of the CTA with the given rank in the cluster of `cta`, and the rank of `cta` itself. */
uint32_t emu_machine_cluster_cta(const struct emu_machine *m, uint32_t cta, uint32_t rank);
uint32_t emu_machine_rank(const struct emu_machine *m, uint32_t cta);

const char *emu_machine_kernel(const struct emu_machine *m);
/* Whether the kernel reads a clock, another special register that changes during the launch, or %smid. */
bool emu_machine_reads_clock(const struct emu_machine *m);
/* Whether the kernel has asynchronous copies. */
bool emu_machine_copies(const struct emu_machine *m);
/* Whether an instruction has the scope of a CTA or a cluster. */
bool emu_machine_has_narrow_scopes(const struct emu_machine *m);
/* The indices of a CTA and of one of its threads, given as linear numbers. */
void emu_machine_thread(const struct emu_machine *m, uint32_t cta, uint32_t thread,
                        uint32_t cta_index[3], uint32_t thread_index[3]);

struct emu_access_site {      /* one of the two accesses of a finding */
    uint32_t pc, cta, thread; /* `cta`: linear in the grid; `thread`: linear in the CTA */
    const char *what;         /* "write of 4 bytes" */
};
/* Adds a finding about two accesses (enum emu_fault_kind: RACE, MIXED) to the launch's report. Further findings about
 * the same two instructions are only counted. `address`: a global address, else 0. */
void emu_machine_report(struct emu_machine *m, unsigned kind, const char *what,
                        const struct emu_access_site *first, const struct emu_access_site *second,
                        uint64_t address);
/* If there is a finding about these two instructions, adds `more` to its count and returns true. */
bool emu_machine_is_reported(struct emu_machine *m, unsigned kind, uint32_t pc, uint32_t pc2,
                             uint64_t more);
/* Adds a finding about no instruction, for example that an observer has stopped. `text`: whole lines. Only the first
 * call for each kind and launch has an effect. */
void emu_machine_note(struct emu_machine *m, unsigned kind, const char *text);

#endif
