/* determinism/random.h: the memory order `random`: a seeded adversary that stands for a GPU of today. It promises nothing.
 *
 *     struct orders *o = orders_new("random:strategy=pct", 7, &why);     // determinism/orders.h
 *     launch.order = orders_get(o);
 *
 * It chooses which slot of which SM gets the next CTA, which warp goes on and for how many instructions (down to one), and
 * when memory changes:
 *
 *  - A store becomes visible to other threads late, and stores to different places in any order.
 *  - A load may read a value that has been overwritten, if the thread need not see the newer one.
 *  - An atomic may take place before stores and atomics that are not visible yet.
 *  - A load may take place behind stores that follow it, until its result is needed.
 *  - Fences, releases, acquires and atomics order for the threads of their scope only.
 *
 * determinism/views/views.h does this within the axioms of PTX's memory model. A program without data races has the same
 * results as under any other order, unless it depends on the order of atomics. */
#ifndef HEDDLE_DETERMINISM_RANDOM_H
#define HEDDLE_DETERMINISM_RANDOM_H

#include <stdint.h>

enum random_strategy {
    RANDOM_ANY,     /* one of the others, by the seed */
    RANDOM_UNIFORM, /* every ready warp with the same probability, for few instructions */
    RANDOM_PCT, /* warps have priorities, which change at few moments (after Burckhardt et al., "A randomized
                     * scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010) */
    RANDOM_BURSTY, /* long runs of one warp, of lengths that differ much */
    RANDOM_LAG,    /* the warps of one SM hardly ever run while others can */
    /* CTAs in turn; of a CTA the warp that has issued least since its last barrier, and so is farthest from the next
     * (the scheduler of Archaeopteryx, section V). Not one of RANDOM_ANY: seeds keep the runs that they had. */
    RANDOM_FARTHEST,
    /* As UNIFORM, but a warp waits behind an access that conflicts with one of another warp (determinism/conflicts.h). Not
     * one of RANDOM_ANY either. */
    RANDOM_CONFLICTS,
    RANDOM_STRATEGIES
};

enum random_model { RANDOM_PTX, RANDOM_SC, RANDOM_TSO };

struct random_options { /* as struct order_option wants them */
    uint32_t strategy;  /* enum random_strategy */
    uint32_t model;     /* enum random_model */
    /* Switches of the memory model PTX: each off makes some outcome impossible. */
    uint32_t late_stores;  /* else they are visible at once */
    uint32_t stale_loads;  /* else loads are never stale */
    uint32_t stale_strong; /* else strong loads are never stale */
    uint32_t late_loads;   /* else loads take place before what follows them */
    uint32_t late_atomics; /* else an atomic takes place behind all stores and atomics so far */
    uint32_t scopes;       /* else each scope is that of the GPU */
    uint32_t shared;       /* else plain accesses of shared memory are made at once, in long runs */
    uint32_t uninitialised; /* what nothing has written is drawn from the seed, else zeros */
};
/* Its options, and how orders.h makes one. */
extern const struct order_kind random_kind;

#endif
