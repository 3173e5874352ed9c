/* emu/order_fast.h: the additions to emu/order.h for orders that take part in the fast paths and in livelock proofs.
 *
 * Under an order a launch runs one warp at a time and asks before each access. Three mechanisms (emu/speculate/,
 * emu/progress/) avoid this cost where the result is the same:
 *
 *   conflict-free speculation   The launch runs natively, with ownership tags for each word. If no warp has accessed a
 *                               word that another warp has changed, every order gives the same bytes. Otherwise an undo
 *                               log restores memory, and the launch runs under the order.
 *   deferred reductions         The launch runs in the same way, but several warps may reduce to one word: reductions go
 *                               into a log, which is replayed under the order.
 *   busy-wait elision           A warp that polls a word is not executed as long as the word does not change.
 *
 * An order takes part by setting flags of enum emu_fast_want, in emu_order.wants or in the result of
 * emu_order_fast.wants. By default it takes part in none. --speculate=off (emu_config.no_speculation) clears the flags:
 * results are the same with and without them, only slower. The emulator calls no function of this header. */
#ifndef HEDDLE_EMU_ORDER_FAST_H
#define HEDDLE_EMU_ORDER_FAST_H

#include "emu/order.h"

/* beside enum emu_want */
enum emu_fast_want {
    /* Conflict-free speculation: launches that are found to be conflict-free do not run under the order. For these only
     * emu_order_fast.wants is called. Not with observers. */
    EMU_SKIP_IF_CONFLICT_FREE = 4,
    /* The order is not asked about accesses of shared memory if results do not depend on their order
     * (emu_shape.shared_commutes). Each such access is still a unit of EMU_STEP_EVENT. Not with observers or a
     * wrapper. */
    EMU_SKIP_COMMUTING_SHARED = 8,
    /* With SKIP_IF_CONFLICT_FREE: deferred reductions. The order may be called for the log of a launch whose warps have
     * ended: reductions, barriers of whole CTAs, fences and exits, by warp in program order. Lanes are numbered from 0
     * on; threads and instructions are not named. pick() is not called: results under the order must depend neither on
     * the choice of warps nor on instructions between the logged events. Callbacks are called one at a time, but from
     * several host threads. */
    EMU_DEFER_REDUCTIONS = 16,
    /* For loads, stores and atomics with a live result, of global memory, the order reads only the members that the
     * comment of emu_access.retry lists. With EMU_STEP_EVENT: a warp that slept at such an access and was woken may
     * execute it. Busy-wait elision needs this flag. */
    EMU_BRIEF_RETRIES = 32,
};

struct emu_launch_traits { /* a launch that is about to begin */
    bool counted;          /* emu_machine_is_counted */
    bool observed;         /* the launch has observers, or its order is wrapped */
    /* All accesses of global memory are loads, stores, atomics and reductions of lanes: no copies, textures, surfaces
     * or calls of the device runtime. */
    bool lane_accesses_only;
    /* Some atomic or reduction of global memory has CTA scope. Such a reduction may be invisible to another CTA,
     * although speculation treats reductions of one kind as conflict-free. */
    bool has_narrow_atomics;
    /* emu_config.no_speculation is off. The order may then also use fast paths of its own. */
    bool speculates;
};

struct emu_order_fast {
    /* Called before each launch; the result replaces emu_order.wants. NULL: emu_order.wants. */
    unsigned (*wants)(void *self, const struct emu_launch_traits *next);
};

/* Whether the launch's warps have ended and the order is called for their log: EMU_DEFER_REDUCTIONS. */
bool emu_machine_is_deferred(const struct emu_machine *m);

/* Host pointers to the bytes that the active lanes of `a` access, in the order of lanes; for a contiguous access only
 * at[0] is set. Valid until the launch ends or the memory is released. */
void emu_machine_lane_pointers(struct emu_machine *m, const struct emu_access *a, uint8_t *at[32]);
/* The allocation of global memory that contains these bytes; valid until the launch ends or the memory is released.
 * false: there is none. */
struct emu_host_range {
    uint64_t low, size;
    uint8_t *host; /* host address of `low` */
};
bool emu_machine_allocation(struct emu_machine *m, uint64_t address, uint64_t size,
                            struct emu_host_range *out);

/* Executes the reductions of a list in sequence. They are not reported to observers, so emu_machine_drains_observed
 * must be false. */
struct emu_reduction {
    uint64_t address;
    const void *operand; /* as for emu_machine_reduce */
    uint8_t op, type;
};
void emu_machine_reduce_all(struct emu_machine *m, const struct emu_reduction *list, size_t count);
/* Likewise for `count` reductions of one kind, no compare-and-swaps. Addresses and operands are `stride` bytes from
 * each other. */
void emu_machine_reduce_each(struct emu_machine *m, uint8_t op, uint8_t type,
                             const uint64_t *address, const void *operand, size_t stride,
                             size_t count);
/* Reduces one element for each lane of the mask `lanes`, in the order of lanes: the operand of the i-th is at operands
 * + stride * i, its old value goes to old + stride * i. These reductions are reported to observers. */
void emu_machine_reduce_lanes(struct emu_machine *m, struct emu_issuer by, const uint64_t *address,
                              uint32_t lanes, uint8_t op, uint8_t type, const uint8_t *operands,
                              uint8_t *old, uint32_t stride);
/* The warp sleeps at a `standalone` atomic or reduction. Executes that access now; when the warp is woken, it continues
 * at the next instruction. Not with observers, a wrapper, or where events are counted. */
void emu_machine_complete_atomic(struct emu_machine *m, const struct emu_warp *who);

/* The index of the warp in the list that pick() gets; negative: the warp is not ready. Only for a warp with one
 * context. */
int emu_machine_ready_place(const struct emu_machine *m, const struct emu_warp *who);

/* Prefetches data of the warp into the host's caches; no other effect. `next`: all rows of the warp, which is about to
 * be woken; else only the pointers to them. */
void emu_machine_prefetch(const struct emu_machine *m, const struct emu_warp *who, bool next);
/* As emu_machine_prefetch, for the i-th ready warp, which will soon be picked. */
void emu_machine_prefetch_ready(const struct emu_machine *m, size_t i, bool next);

/* ---- livelock proofs --------------------------------------------------------------------------------------------- */

/* Callbacks of an order for livelock proofs: the proof that the warps of a launch repeat their state for ever
 * (emu/progress/livelock.c). `self` is emu_order.self. */
struct emu_order_livelock {
    /* Drains all buffered stores, makes loads read current memory, and makes place() admit now each CTA that it would
     * admit at some later time. */
    void (*quiesce)(void *self);
    /* The order works in quanta: idle() is called repeatedly, whatever the warps do, and wakes sleeping warps; the
     * proof waits for these. false: a warp sleeps until another warp does something that it has not done before. */
    bool in_phases;
    /* Whether idle(), called often enough, will wake a warp that sleeps now. NULL: no. */
    bool (*will_wake)(void *self);
};

#endif
