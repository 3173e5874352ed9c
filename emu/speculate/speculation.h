/* emu/speculate/speculation.h: the only interface between the scheduler and the mechanisms that avoid work without
 * changing results.
 *
 * Under an order a launch runs one warp at a time and asks the order before each access. Three mechanisms avoid this
 * cost:
 *
 *     conflict_free.c   conflict-free speculation: a native run with ownership tags and an undo log
 *     deferred.c        deferred reductions: reductions of such a run go into a log, which is replayed under the order
 *     busy_wait.c       (emu/progress/) busy-wait elision: a polling warp is not executed while the word does not change
 *
 * Each mechanism attaches to a machine by a table of hooks, emu_machine.speculation. A machine has at most one table: a
 * speculative run has no order, a replay runs no warps, and busy waits are elided under an order. NULL: no mechanism,
 * and each hook costs one comparison. With --speculate=off (emu_config.no_speculation) no table is ever set.
 *
 * Called by emu/device/launch.c (speculation_run), emu/sched/ (the hooks) and emu/ops/access.c (allocation_found). The
 * tags themselves are written by instructions of their own (ownership.h, simd_ownership.c), which programs lowered with
 * LOWER_TAGGED have.
 *
 * Speculative runs use several host threads (emu_config.threads); replays and launches under an order use one at a time.
 *
 * Invariant: memory, output and faults are those of a launch under the order without speculation. Not speculated:
 * launches whose events are counted, launches with observers that need all events, clusters, and independent thread
 * scheduling. */
#ifndef HEDDLE_EMU_SPECULATE_SPECULATION_H
#define HEDDLE_EMU_SPECULATE_SPECULATION_H

#include "emu/emu.h"
#include "emu/ops/exec.h"

struct emu_kernel;
struct emu_warp;
struct host_worker;
struct launch_counts;
struct mem_block;

/* results of speculation.elide */
enum elided {
    ELIDED_NOT,
    ELIDED_READY,  /* its burst is spent; it stays ready */
    ELIDED_ASLEEP, /* the order put it to sleep at its access */
};

/* A hook that is NULL is not called. */
struct speculation {
    const char *name;

    /* -- a speculative run: conflict_free.c ------------------------------------------------------------ */
    /* A host thread of the launch is about to begin. Called for all host threads in sequence, before any of them
     * runs. */
    void (*thread_begins)(struct emu_worker *k);
    /* A load or store has found the allocation that its fast path, or one lane, will access. */
    void (*allocation_found)(const struct emu_group *g, const struct emu_uop *in,
                             const struct mem_block *b, bool write);
    void (*fence)(const struct emu_group *g, const struct emu_uop *in);
    /* The group arrives at a CTA barrier of `threads` threads, 0: all. waits: bar.sync, not bar.arrive. */
    void (*barrier_arrival)(const struct emu_group *g, u32 id, u32 threads, bool waits);
    /* The barrier is complete; the warps that wait at it are not yet released. */
    void (*barrier_complete)(const struct emu_cta *c, u32 id);
    /* The host thread has run a CTA to its end, and the first `ctas` CTAs of the grid have ended. */
    void (*ctas_ended)(const struct emu_worker *k, u32 ctas);

    /* -- a replay: deferred.c. In place of what the scheduler does for an order ----------------------------- */
    void (*wake)(struct emu_machine *m, const struct emu_warp *who);
    u32 (*ready_count)(const struct emu_machine *m);
    u8 *(*host_bytes)(struct emu_machine *m, u64 address, u64 size); /* NULL: no such memory */

    /* -- under an order: emu/progress/busy_wait.c -------------------------------------------------------------- */
    void (*group_begins)(struct emu_group *g); /* the warp of a CTA that begins */
    /* Called before a warp with polling.known runs: whether the effects of its burst have been accounted for without
     * running it. */
    enum elided (*elide)(struct host_worker *h, struct emu_group *g, u32 burst);
    /* Runs a group with polling.returned in place of the interpreter's loop. false: it did not run the group. */
    bool (*run)(struct emu_group *g);
    /* The warp has run from `from` on and has stopped. */
    void (*stopped)(struct emu_group *g, const struct emu_uop *from);
    void (*prefetch)(const struct emu_group *g); /* prefetches the data that elide will read */
};

extern const struct speculation conflict_free_speculation, deferred_replay_speculation,
    busy_wait_speculation;

/* Whether kernel and device permit that the launch is speculated. wants: enum emu_want and emu_fast_want of its
 * order. */
bool speculation_applies(const struct emu *e, struct emu_kernel *k, const struct emu_launch *l,
                         unsigned wants);
/* Tries to run the launch without its order (or without its observers). EMU_CONFLICT_FREE, EMU_DEFERRED_REDUCTIONS: the
 * launch has run, and e->report.fault and *counts are set. EMU_ROLLED_BACK: memory is restored, and the launch must be
 * run under its order or with its observers. EMU_NATIVE: the launch was not speculated. */
enum emu_execution speculation_run(struct emu *e, struct emu_kernel *k, const struct emu_machine *m,
                                   struct launch_counts *counts);

/* Attach busy-wait elision to a launch that is about to run under its order, if it applies; detach it after the
 * launch. */
void speculation_attach(struct host_worker *h);
void speculation_detach(struct host_worker *h);

#endif
