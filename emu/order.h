/* emu/order.h: the two ways in which others take part in a launch.
 *
 * An *observer* watches: every warp instruction, access, fence, barrier. It changes nothing.
 * An *order* decides: it is asked where hardware would be free to choose, told of what it wants to hear of
 * before it is done, and may hold a store back, answer a load, or put the warp to sleep before any of
 * these. determinism/ has the orders; without one, launches run `native`.
 *
 * With an order, or an observer that looks at data or at every instruction, the launch runs one warp at a time; with
 * others warps may run in lockstep, and what they do with one instruction is told of warp by warp before any of it is
 * done. Without either, none of this is looked at: which handlers run is
 * settled when the launch begins. So what an order does not want costs nothing, either. Callbacks come on the
 * host thread that runs the warp; a launch with an order or an observer uses one.
 *
 * With an order, CTAs are resident in the slots of the SMs of the configured GPU, as many on each SM as it has room
 * for (emu_machine_shape), and the order says which slot gets the next CTA and which warp goes on, and for how
 * many instructions. Callbacks that are NULL leave it at: the lowest free slot of the CTA's SM; the ready warps in turn, for
 * long. An order with neither has as few CTAs resident as will do. */
#ifndef HEDDLE_EMU_ORDER_H
#define HEDDLE_EMU_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emu_kernel;
struct emu_launch;
struct emu_number;  /* emu/counts.h */
struct emu_machine; /* a running launch, for the functions below */

struct emu_warp {      /* who: a warp of a resident CTA */
    uint32_t cta;      /* linear index in the grid */
    uint32_t warp;     /* in the CTA */
    uint32_t sm, slot; /* where the CTA is: slot s is on SM s % sms; without an order 0 */
    uint64_t serial;   /* instructions that it has issued; see enum emu_step */
    /* In a list of ready ones: it waited (for an mbarrier, its cluster) at that instruction, and is tried again. */
    bool waits;
    uint32_t waits_at;
};

enum emu_access_kind { EMU_LOAD, EMU_STORE, EMU_ATOMIC, EMU_RED };
enum emu_access_flag {
    EMU_VOLATILE = 1,
    EMU_ACQUIRE = 2,
    EMU_RELEASE = 4,
    EMU_RELAXED = 8,      /* strong: .relaxed or stronger, volatile, mmio */
    EMU_ASYNC = 16,       /* cp.async and its kin: done later */
    EMU_DEAD_RESULT = 32, /* of ATOMIC: nobody reads the result, it is as good as a RED */
    EMU_UNCHANGING = 64,  /* .nc, .const, textures, surfaces: by a cache that hears of no writes */
    EMU_BULK = 128,       /* of ASYNC: by a bulk copy */
};
enum emu_scope { EMU_SCOPE_CTA, EMU_SCOPE_CLUSTER, EMU_SCOPE_GPU, EMU_SCOPE_SYS };

struct emu_access {
    const struct emu_warp *who;
    uint8_t kind; /* enum emu_access_kind */
    uint8_t
        space; /* enum ptx_space that it turned out to be: GLOBAL, SHARED, LOCAL, CONST, PARAM */
    uint8_t flags; /* enum emu_access_flag */
    uint8_t
        scope; /* enum emu_scope, where flags say it is strong, and of an asynchronous RED, which is relaxed */
    uint8_t op;    /* enum emu_atomic, of ATOMIC and RED */
    uint8_t type;  /* enum ptx_type of an element */
    uint8_t width; /* bytes of an element: 1 .. 16 */
    uint8_t count; /* elements of each lane: 1, 2, 4, 8; they lie side by side */
    bool
        run; /* all 32 lanes take part, and their bytes lie one behind the other. false: nobody has looked */
    uint32_t lanes;          /* mask of lanes that take part */
    const uint64_t *address; /* by lane: generic addresses */
    uint64_t
        alike; /* bits in which the addresses of those that take part are the same. 0: nobody has looked */
    /* Where all of them are in one page of 4 KiB, and nobody's bytes in two rows of it, of 128 bytes: the rows they are in.
     * 0: somebody's are not, or nobody has looked. */
    uint32_t rows;
    const uint16_t *low; /* with rows, unless all run or are alike: the addresses' lower 16 bits */
    /* STORE, RED, ATOMIC: lane l's operand at data + stride * l; of compare-and-swap the comparand, and the new
     * value 32 bytes behind. Elements lie side by side. Good during the call. */
    const uint8_t *data;
    /* LOAD, ATOMIC: where an order that answers puts lane l's, at stride * l. It holds nothing, or what memory
     * does, which emu_machine_fetch sees to. (For observers of compare-and-swaps it holds what memory does.) */
    uint8_t *result;
    uint32_t stride; /* bytes: 1 .. 64 */
    uint64_t
        mbarrier; /* of ASYNC: the generic address of the mbarrier that hears of it; 0: a group */
    uint32_t pc;  /* place of the instruction: emu_machine_place */
    bool
        held; /* for observers: the order has done it, or keeps it back: then see emu_observer.shown */
    bool whole; /* ATOMIC, RED: it is all that the instruction does, in global memory */
    bool
        again; /* EMU_WANT_AGAIN: it is the one that the order put the warp to sleep at, or the same once more. Only who,
                 * kind, space, flags, lanes and pc are there */
};

enum emu_verdict {
    EMU_PROCEED, /* do it now, as if there were no order */
    EMU_DONE,    /* the order has done it: results are filled in, or it holds the store */
    EMU_SLEEP, /* not now: the instruction is carried out again when emu_machine_wake was called for
                  * the warp and it is chosen. An order that is not told of warps' choice (pick) may leave
                  * the waking to idle() */
    EMU_SLEEP_ONCE, /* of a load: not now; then it is carried out without being told of again. Not with observers, or
                     * orders around this one */
};

enum emu_sync_kind {
    EMU_SYNC_FENCE,
    EMU_SYNC_BARRIER, /* arrives at a barrier of the CTA; ACQUIRE: and waits there */
    EMU_SYNC_BARRIER_DONE, /* it is complete: all who wait go on. Once; `who` is of the CTA. No warp sleeps, but
                            * those who go on may be put to rest */
    EMU_SYNC_WARP, /* bar.warp.sync of these lanes */
    EMU_SYNC_WARP_EXIT, /* all its lanes have ended; before barriers that wait for no other are complete */
    EMU_SYNC_CTA_START,
    EMU_SYNC_CTA_EXIT,
    EMU_SYNC_ASYNC_COMMIT, /* of cp.async; BULK: of bulk copies */
    EMU_SYNC_ASYNC_WAIT,   /* likewise; until `count` groups are pending at most */
    EMU_SYNC_MBARRIER,     /* lanes are about to do something with an mbarrier */
    EMU_SYNC_CLUSTER,      /* lanes are about to arrive at the cluster's barrier, with a release */
    EMU_SYNC_RUNTIME,      /* a call of the device runtime: printf, malloc, a launch */
    EMU_SYNC_GRIDS,        /* griddepcontrol */
    /* From here on, and of WARP and WARP_EXIT, it is done already: no warp sleeps. */
    EMU_SYNC_MBARRIER_DONE, /* one lane has done it */
    EMU_SYNC_CLUSTER_ARRIVE,
    EMU_SYNC_CLUSTER_DONE, /* the barrier is complete. Once; `who` is of the cluster */
    EMU_SYNC_CLUSTER_WAIT, /* lanes go on */
};
enum emu_mbarrier {
    EMU_MBARRIER_INIT,
    EMU_MBARRIER_END, /* inval */
    EMU_MBARRIER_TX,
    EMU_MBARRIER_ARRIVE,
    EMU_MBARRIER_ARRIVE_ASYNC, /* when the cp.async before it are done */
    EMU_MBARRIER_PASSED,       /* a wait that found the phase complete */
    EMU_MBARRIER_NOT_YET,      /* a wait that did not */
};
enum emu_grids { EMU_GRIDS_WAIT, EMU_GRIDS_LAUNCH }; /* for those before; those behind may begin */
#define EMU_ALL_PENDING UINT32_MAX
struct emu_sync {
    const struct emu_warp *who;
    uint8_t kind;  /* enum emu_sync_kind */
    uint8_t scope; /* enum emu_scope, of a fence, an mbarrier */
    uint8_t flags; /* EMU_ACQUIRE | EMU_RELEASE, of what can have them; EMU_BULK */
    uint8_t
        op; /* enum emu_mbarrier, emu_grids; FENCE: 1, between proxies alone; ASYNC_WAIT: 1, for reads alone */
    bool sc;     /* FENCE: fence.sc, membar */
    uint32_t id; /* of a barrier: 0-15 */
    /* BARRIER: the threads that it is for, 0: all; DONE: the threads of the CTA that live. ASYNC_WAIT: groups;
     * EMU_ALL_PENDING: for all, committed or not, of which BULK has none. */
    uint32_t count;
    uint32_t lanes;
    uint8_t phase[2]; /* MBARRIER_DONE: before and after, modulo 4 */
    uint64_t address; /* of an mbarrier */
    uint32_t pc;
};

/* What an order hears of beyond what it always does: atomics and reductions, strong accesses (volatile, relaxed,
 * acquire, release) of global and shared memory, asynchronous copies, every sync. */
enum emu_want {
    EMU_WANT_LOADS = 1,  /* plain loads of global memory: weak ones, .nc, surfaces, tiles */
    EMU_WANT_STORES = 2, /* plain stores to it */
    /* Launches alone in which warps have bytes of memory in common, but for reductions that commute: others leave the
     * same under every order, and go without it (emu/speculate/conflict_free.h). Of those it hears of in wants_of() alone. Without observers. */
    EMU_WANT_MEETINGS = 4,
    /* Not of what is done with shared memory where its order does not matter (emu_shape.shared_commutes). Each is still
     * a step of EMU_STEP_TOLD. Without observers, and orders around this one. */
    EMU_WANT_LESS_SHARED = 8,
    /* With MEETINGS: where warps have bytes of memory in common, but all of them only reduce these, it may hear of the launch
     * when its warps have ended (emu/speculate/deferred.h): of reductions, barriers of whole CTAs, fences and ends, by warp in the order in
     * which they were. Their lanes are the lowest ones, and nobody says which threads or instructions they are. It is not
     * asked which warp goes on (pick): that must make no difference, and neither what has come between. */
    EMU_WANT_LATER = 16,
    /* Of loads, stores, and atomics whose results are read, of global memory, it looks at nothing but what
     * emu_access.again says. With EMU_STEP_TOLD: whom it has put to sleep at one, and woken, it lets do it. */
    EMU_WANT_AGAIN = 32,
};
struct emu_prospect { /* a launch that is about to begin */
    bool counted;     /* emu_machine_is_counted */
    bool watched;     /* there are observers, or an order around this one */
    /* All that its kernel does with global memory are loads, stores, atomics and reductions of lanes: there are no
     * copies, textures, surfaces, calls of the device runtime. */
    bool plain;
};
/* What bursts (pick) are counted in, and how finely serial is. */
enum emu_step {
    EMU_STEP_INSTRUCTION, /* a burst of 1 is one instruction. Slow */
    EMU_STEP_BLOCK,       /* instructions, but warps stop at the ends of basic blocks alone */
    /* What the order is told of: a burst of 1 ends before the next atomic, reduction, fence, barrier, load or
     * store that the order hears of. Warps that need none of these stop where a basic block ends, now and then:
     * after 32 instructions for each of the burst. Serial is as of BLOCK. */
    EMU_STEP_TOLD,
};

struct emu_shown; /* below */

/* What is said of an order that is stack_only, by its name. */
#define EMU_STACK_ONLY                                                                             \
    "order %s cannot follow lanes that go their own ways: use --divergence=stack, or another order"

/* One instruction may be told of in pieces (a bulk copy, a surface, lanes in several spaces). An order answers
 * all of them alike, and lets the warp sleep at the first or not at all. */
struct emu_order {
    void *self;
    const char *name; /* "gpudet" */
    bool stack_only;  /* it knows no lanes of a warp that go their own ways: EMU_ITS is refused */
    unsigned wants;   /* enum emu_want; as it is when the launch begins, */
    uint8_t step;     /* enum emu_step; likewise */
    /* In place of `wants`, asked before the launch begins. NULL: it is `wants`. */
    unsigned (*wants_of)(void *self, const struct emu_prospect *next);
    void (*begin)(void *self, struct emu_machine *m);
    /* Which of `count` > 0 ready warps issues next: its index, and in *burst for how many instructions or
     * steps (`step`) at most. It may stop before: it comes to wait, sleeps, ends. Negative: none until something else happens
     * (a flush), which idle() is to bring about. The order of the list means nothing. */
    int (*pick)(void *self, const struct emu_warp *ready, size_t count, uint32_t *burst);
    /* Which slot gets the next CTA (of a cluster: its first; the others get the lowest that are left), of
     * `count` > 0 that are free: its index in the list. Negative: none now; asked again when a CTA has
     * ended, when no warp can go on, and every 1024 bursts. */
    int (*place)(void *self, uint32_t cta, const uint32_t *free_slots, size_t count);
    /* In place of place(), for orders that do not start CTAs as they come: also which cluster (without clusters: CTA)
     * that has not begun, by number. */
    int (*deal)(void *self, const uint32_t *free_slots, size_t count, uint32_t *cluster);
    enum emu_verdict (*access)(void *self, const struct emu_access *);
    enum emu_verdict (*sync)(void *self, const struct emu_sync *);
    /* No warp may run: the order makes one able to (ends a quantum, flushes). false: it cannot, the launch
     * fails as deadlocked. When the last CTA has ended it is called once more, for what is still held. */
    bool (*idle)(void *self);
    void (*end)(void *self);
    /* For an order around another one: what that lets go of and whom it wakes; see emu_shown. NULL: nothing is told. */
    void (*shown)(void *self, const struct emu_shown *);
    void (*woken)(void *self, const struct emu_warp *);
    /* Asked when no warp can go on: why the order itself cannot, which is the launch's fault then (EMU_BAD_ORDER).
     * NULL, also as an answer: it is a deadlock. */
    const char *(*wrong)(void *self);
    /* For the proof that no warp will ever get further, while all of them go round and nothing changes: what the order
     * holds goes to memory if it ever would, loads see memory as it is from now on, and if place() or deal() would ever let
     * another CTA in, it does when it is asked next. NULL: nothing is proved under it, and such a launch ends by its
     * limits alone. */
    void (*settle)(void *self);
    /* idle() is called sooner or later whatever warps do, and wakes those that sleep: the proof waits for them. false:
     * they sleep until another warp does something that it has not done before. */
    bool in_phases;
    /* Whether idle() will wake some that sleep now, whatever others do, if it is called often enough. NULL: no. */
    bool (*will_wake)(void *self);
    /* What it counted in the launch that has ended, in a fixed order: "gpudet.quanta". NULL: nothing. Asked only of
     * launches that are counted (emu_machine_is_counted). */
    void (*numbers)(void *self, void (*tell)(void *to, const char *name, uint64_t value), void *to);
    /* What it was made with, for who reckons its time (emu_counts.options): "quantum". Words are numbers. */
    const struct emu_number *options;
    size_t option_count;
};

struct emu_author { /* of an access that was held */
    uint32_t cta, warp, pc;
    uint8_t lane; /* its number and one; 0: it is not said which */
    uint8_t kind; /* enum emu_access_kind */
    uint64_t serial;
};
static inline struct emu_author emu_author(const struct emu_access *a)
{
    return (struct emu_author){a->who->cta, a->who->warp, a->pc, .kind = a->kind,
                               .serial = a->who->serial};
}

/* A store or reduction that an order held (below), just before memory changes. */
struct emu_shown {
    struct emu_author by;
    uint64_t address;
    uint32_t size;
    bool reduces;
    uint8_t op, type;    /* if it reduces: one element */
    const uint8_t *data; /* as emu_access.data */
    const struct emu_access
        *now; /* what the order is being asked about, not yet told of; NULL: nothing */
};

struct emu_observer {
    void *self;
    /* It looks at no data of accesses but those of compare-and-swaps (data and result may be NULL): a launch whose
     * observers are all so is faster. */
    bool blind;
    /* It need not hear of launches in which no two threads have bytes in common that one of them changes, but for
     * reductions of one kind and for shared memory with a barrier of the whole CTA in between (emu/speculate/conflict_free.h). */
    bool meetings;
    /* It hears of atomics and reductions of global memory that an order carries out in the order in which they are. */
    bool in_turn;
    void (*begin)(void *self, struct emu_machine *m);
    /* With `meetings`, one observer at most: of such launches it hears of each run of bytes of global memory that a
     * warp, or a lane, reaches, as EMU_LOAD, EMU_STORE or EMU_RED, with its enum emu_access_flag. If one turns out to be
     * none, it hears of all again. */
    void (*bytes)(void *self, uint64_t address, uint64_t size, uint8_t kind, uint8_t flags);
    void (*issue)(void *self, const struct emu_warp *, uint32_t pc, uint32_t lanes);
    void (*access)(void *self, const struct emu_access *);
    void (*sync)(void *self, const struct emu_sync *);
    void (*shown)(void *self, const struct emu_shown *);
    void (*end)(void *self);
};

/* For orders: carry out an access to global memory that was held. Addresses were checked when it was
 * issued; what lies in memory that was released since is dropped, or read as zeros. */
void emu_machine_store(struct emu_machine *m, struct emu_author by, uint64_t address,
                       const void *data, uint32_t size);
/* false: there is no such memory. */
bool emu_machine_load(struct emu_machine *m, uint64_t address, void *data, uint64_t size);
/* Fills a->result as memory is now, for the lanes of a load or atomic of global memory that the order is being told
 * of. */
void emu_machine_fetch(struct emu_machine *m, const struct emu_access *a);
/* Where on the host the bytes are of the same lanes, in their order; of a run those of the first alone. Good until
 * the launch ends, unless the memory is released. */
void emu_machine_bytes(struct emu_machine *m, const struct emu_access *a, uint8_t *at[32]);
/* The allocation that has these bytes of global memory. false: there is none. Good as long. */
struct emu_memory {
    uint64_t low, size;
    uint8_t *host; /* of `low` */
};
bool emu_machine_memory(struct emu_machine *m, uint64_t address, uint64_t size,
                        struct emu_memory *out);
/* One element. `operand` as emu_access.data has it, old: NULL or where its old value goes. */
void emu_machine_reduce(struct emu_machine *m, struct emu_author by, uint64_t address, uint8_t op,
                        uint8_t type, const void *operand, void *old);
struct emu_reduction {
    uint64_t address;
    const void *operand; /* as of emu_machine_reduce */
    uint8_t op, type;
};
/* One after the other. Nobody is told of them: not where emu_machine_is_shown. */
void emu_machine_reduce_all(struct emu_machine *m, const struct emu_reduction *list, size_t count);
/* Likewise `count` of one kind, no compare-and-swaps: an address and an operand, and each time `stride` bytes behind them
 * those of the next. */
void emu_machine_reduce_each(struct emu_machine *m, uint8_t op, uint8_t type,
                             const uint64_t *address, const void *operand, size_t stride,
                             size_t count);
/* One element of each of the `lanes`, in their order: the i-th one's operand at operands + stride * i, its old value
 * goes to old + stride * i. */
void emu_machine_reduce_lanes(struct emu_machine *m, struct emu_author by, const uint64_t *address,
                              uint32_t lanes, uint8_t op, uint8_t type, const uint8_t *operands,
                              uint8_t *old, uint32_t stride);
/* The warp sleeps at an atomic or reduction that is `whole`: that is done now, and the warp goes on behind it when it is
 * woken. Nobody is told: not with observers, orders around this one, or where events are counted. */
void emu_machine_carry_out(struct emu_machine *m, const struct emu_warp *who);
/* The warp may go on where it sleeps. (Of one that does not, or whose CTA is gone, nothing comes.) */
void emu_machine_wake(struct emu_machine *m, const struct emu_warp *who);
/* The warp will soon be woken: the host fetches what it will then look at. `next`: there is little else before; else
 * only what it takes to find that. It changes nothing. */
void emu_machine_soon(const struct emu_machine *m, const struct emu_warp *who, bool next);
/* The same of the i-th of those that are ready: it will soon be picked. */
void emu_machine_soon_ready(const struct emu_machine *m, size_t i, bool next);
/* The warp sleeps from now on, wherever it stands, until it is woken: for pick(), idle(), CTA_START and
 * BARRIER_DONE. */
void emu_machine_rest(struct emu_machine *m, const struct emu_warp *who);
/* The warps that are ready now: for a pick() that has put some to rest or woken some. */
const struct emu_warp *emu_machine_ready(const struct emu_machine *m, size_t *count);
/* CTAs into free slots, as place() or deal() say: for idle(). */
void emu_machine_admit(struct emu_machine *m);
/* The time of the mbarrier.try_wait that it waits at is up. false: it waits at none. */
bool emu_machine_time_out(struct emu_machine *m, const struct emu_warp *who);

/* For orders that work in phases: what was counted since the launch began, or since the last call, belongs to the
 * phase of that name ("parallel"; a literal; 8 names at most). Those of one name are added up; what is counted
 * after the last call belongs to that. Basic blocks are counted as a whole when a warp enters them. Nothing happens
 * unless emu_config.phases is on. */
void emu_machine_phase(struct emu_machine *m, const char *name);

struct emu_shape {       /* of a launch on the configured GPU */
    uint32_t sms, slots; /* slots in all */
    uint32_t schedulers; /* of an SM */
    uint32_t ctas, warps_per_cta, cluster;
    bool shared_commutes; /* of what the order hears of shared memory, the order does not matter */
    bool meets; /* warps of a CTA may meet, or those of a cluster: shared memory, barriers */
};
struct emu_shape emu_machine_shape(const struct emu_machine *m);

/* Whether events are counted, and numbers() will be asked. */
bool emu_machine_is_counted(const struct emu_machine *m);
/* Whether anybody is told of what an order lets go of: emu_machine_store, emu_machine_reduce. */
bool emu_machine_is_shown(const struct emu_machine *m);
/* Whether the order hears of a launch whose warps have ended: EMU_WANT_LATER. */
bool emu_machine_is_told_later(const struct emu_machine *m);
bool emu_machine_is_told_in_turn(const struct emu_machine *m); /* an observer wants that */

struct emu_identity { /* of a launch: what it takes to be the same one */
    const char *kernel, *gpu;
    uint32_t grid[3], block[3], cluster[3], shared, sms, slots;
    bool cooperative, its;
    uint64_t program, params,
        memory; /* digests: of the modules' texts, the parameters, all memory as it is now */
};
void emu_machine_identity(struct emu_machine *m, struct emu_identity *out);

struct emu_place { /* an instruction, for people */
    const char *function, *source_file;
    uint32_t line, source_line;
};
struct emu_place emu_machine_place(const struct emu_machine *m, uint32_t pc);
uint32_t emu_machine_places(const struct emu_machine *m); /* pc is below that */

/* ---- for observers -------------------------------------------------------------------------------- */

struct emu_extent {                  /* of a launch */
    uint32_t ctas, threads, cluster; /* threads of a CTA, CTAs of a cluster */
    uint32_t shared;                 /* bytes of a CTA */
    uint64_t memory;                 /* bytes from MEM_GLOBAL on that may hold allocations */
};
struct emu_extent emu_machine_extent(const struct emu_machine *m);
/* The CTA (its linear index) of the given rank in the cluster of this one, and this one's own rank. */
uint32_t emu_machine_neighbour(const struct emu_machine *m, uint32_t cta, uint32_t rank);
uint32_t emu_machine_rank(const struct emu_machine *m, uint32_t cta);

const char *emu_machine_kernel(const struct emu_machine *m);
/* Whether there may be asynchronous copies. */
bool emu_machine_copies(const struct emu_machine *m);
/* Whether some instruction names the scope of a CTA or a cluster. */
bool emu_machine_has_narrow_scopes(const struct emu_machine *m);
/* Indices of a CTA, and of a thread of it, both linear. */
void emu_machine_thread(const struct emu_machine *m, uint32_t cta, uint32_t thread,
                        uint32_t cta_index[3], uint32_t thread_index[3]);

struct emu_party {            /* one of two whose accesses are a finding together */
    uint32_t pc, cta, thread; /* linear in the grid, in the CTA */
    const char *what;         /* "write of 4 bytes" */
};
/* A finding of an observer (enum emu_fault_kind: RACE, MIXED) about two accesses, in the launch's report. Those
 * of the same two places are counted, not told again. `address`: of global memory, else 0. */
void emu_machine_find(struct emu_machine *m, unsigned kind, const char *what,
                      const struct emu_party *first, const struct emu_party *second,
                      uint64_t address);
/* Whether there is such a finding about these places: then it counts that many more, and need not be put into words. */
bool emu_machine_found(struct emu_machine *m, unsigned kind, uint32_t pc, uint32_t pc2,
                       uint64_t more);
/* A finding that is not about an instruction: that an observer has stopped looking, say. Whole lines. Told once of
 * each kind and launch. */
void emu_machine_note(struct emu_machine *m, unsigned kind, const char *text);

#endif
