/* emu/order_fast.h: what an order adds to emu/order.h to take part in the fast paths, and to have livelocks proved.
 *
 * Under an order a launch runs one warp at a time and asks before each access. Three mechanisms (emu/speculate/,
 * emu/progress/) avoid that where it makes no difference:
 *
 *   conflict-free speculation   The launch runs natively, with ownership tags for each word. If no warp has touched a
 *                               word that another warp has changed, every order gives the same bytes. Otherwise an undo
 *                               log restores memory and the launch runs under the order.
 *   deferred reductions         As before, but warps may reduce to common words: the reductions go into a log, which is
 *                               replayed under the order.
 *   busy-wait elision           A warp that polls a word is not executed as long as the word does not change.
 *
 * An order takes part by the flags of enum emu_fast_want, in emu_order.wants or as the result of emu_order_fast.wants.
 * It takes part in none by default. --speculate=off (emu_config.no_speculation) clears the flags: results are the same
 * with and without them, only slower. The emulator calls no function of this header. */
#ifndef HEDDLE_EMU_ORDER_FAST_H
#define HEDDLE_EMU_ORDER_FAST_H

#include "emu/order.h"

enum emu_fast_want { /* beside enum emu_want */
                     /* Conflict-free speculation: the order does not run launches that are found to be free of conflicts. Of these it is
     * called for emu_order_fast.wants alone. Not with observers. */
                     EMU_SKIP_IF_CONFLICT_FREE = 4,
                     /* It is not asked about accesses of shared memory whose order makes no difference (emu_shape.shared_commutes). Each
     * is still a unit of EMU_STEP_EVENT. Not with observers or a wrapper. */
                     EMU_SKIP_COMMUTING_SHARED = 8,
                     /* With SKIP_IF_CONFLICT_FREE: deferred reductions. The order may be given the log of a launch whose warps have ended:
     * reductions, barriers of whole CTAs, fences and exits, by warp in program order. Lanes are numbered from 0 on;
     * threads and instructions are not named. pick() is not called: the choice must make no difference, nor what
     * happened in between. Callbacks come one at a time, but from several host threads. */
                     EMU_DEFER_REDUCTIONS = 16,
                     /* Of loads, stores and atomics whose results are read, of global memory, the order reads nothing but what
     * emu_access.retry names. With EMU_STEP_EVENT: a warp that slept at one and was woken may carry it out. Busy-wait
     * elision needs it. */
                     EMU_BRIEF_RETRIES = 32,
};

struct emu_launch_traits { /* a launch that is about to begin */
    bool counted;          /* emu_machine_is_counted */
    bool observed;         /* it has observers, or its order is wrapped */
    /* All accesses of global memory are loads, stores, atomics and reductions of lanes: no copies, textures, surfaces
     * or calls of the device runtime. */
    bool lane_accesses_only;
    /* An atomic or a reduction of global memory has the scope of the CTA: such a reduction may be lost to another CTA, though
     * speculation finds reductions of one kind free of conflicts. */
    bool has_narrow_atomics;
    bool
        speculates; /* emu_config.no_speculation is off: the order may use fast paths of its own, too */
};

struct emu_order_fast {
    /* In place of emu_order.wants, before each launch. NULL: emu_order.wants. */
    unsigned (*wants)(void *self, const struct emu_launch_traits *next);
};

/* Whether the launch's warps have ended and the order is given their log: EMU_DEFER_REDUCTIONS. */
bool emu_machine_is_deferred(const struct emu_machine *m);

/* Host pointers to the bytes of a's lanes, in their order; of a contiguous access that of lane 0 alone. Valid until the
 * launch ends or the memory is released. */
void emu_machine_lane_pointers(struct emu_machine *m, const struct emu_access *a, uint8_t *at[32]);
/* The allocation of global memory that has these bytes; valid as long. false: there is none. */
struct emu_host_range {
    uint64_t low, size;
    uint8_t *host; /* of `low` */
};
bool emu_machine_allocation(struct emu_machine *m, uint64_t address, uint64_t size,
                            struct emu_host_range *out);

/* Batches of reductions, one after the other. They are not reported: not where emu_machine_drains_observed. */
struct emu_reduction {
    uint64_t address;
    const void *operand; /* as of emu_machine_reduce */
    uint8_t op, type;
};
void emu_machine_reduce_all(struct emu_machine *m, const struct emu_reduction *list, size_t count);
/* Likewise `count` of one kind, no compare-and-swaps: an address and an operand every `stride` bytes. */
void emu_machine_reduce_each(struct emu_machine *m, uint8_t op, uint8_t type,
                             const uint64_t *address, const void *operand, size_t stride,
                             size_t count);
/* One element of each of the `lanes`, in their order: the operand of the i-th is at operands + stride * i, its old value
 * goes to old + stride * i. These are reported. */
void emu_machine_reduce_lanes(struct emu_machine *m, struct emu_issuer by, const uint64_t *address,
                              uint32_t lanes, uint8_t op, uint8_t type, const uint8_t *operands,
                              uint8_t *old, uint32_t stride);
/* The warp sleeps at an atomic or reduction that is `standalone`: it is carried out now, and the warp continues behind
 * it when it is woken. Not with observers, a wrapper, or where events are counted. */
void emu_machine_complete_atomic(struct emu_machine *m, const struct emu_warp *who);

/* The place of the warp in the list that pick() is given; negative: it is not ready. Of a warp with one context. */
int emu_machine_ready_place(const struct emu_machine *m, const struct emu_warp *who);

/* Prefetch into the host's caches what the warp will need; no other effect. `next`: it will be woken at once, all of its
 * rows; else only what leads to them. */
void emu_machine_prefetch(const struct emu_machine *m, const struct emu_warp *who, bool next);
/* The same for the i-th ready warp, which will soon be picked. */
void emu_machine_prefetch_ready(const struct emu_machine *m, size_t i, bool next);

/* ---- livelock proofs --------------------------------------------------------------------------------------------- */

/* What an order adds so that a launch whose warps repeat their state for ever is found (emu/progress/livelock.c). `self` is
 * emu_order.self. */
struct emu_order_livelock {
    /* Drains what the order would drain some day, makes loads read current memory, and makes place() admit now what it
     * would admit some day. */
    void (*quiesce)(void *self);
    /* idle() is called again and again whatever the warps do, and wakes sleeping warps (quanta): the proof waits for
     * them. false: a warp sleeps until another warp does something that it has not done before. */
    bool in_phases;
    /* Whether idle(), called often enough, will wake a warp that sleeps now. NULL: no. */
    bool (*will_wake)(void *self);
};

#endif
