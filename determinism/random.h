/* determinism/random.h: the memory order `random`: a seeded adversary that represents a current GPU. It guarantees
 * nothing.
 *
 *     struct orders *o = orders_new("random:strategy=pct", 7, &why);     // determinism/orders.h
 *     launch.order = orders_get(o);
 *
 * The adversary chooses the slot and SM of the next CTA, the warp that runs next and the number of its instructions
 * (down to one), and when memory changes:
 *
 *  - A store becomes visible to other threads late, and stores to different places in any order.
 *  - A load may read a value that has been overwritten, unless the memory model requires that the thread sees the newer
 *    one.
 *  - An atomic may take place before stores and atomics that are not visible yet.
 *  - A load may take place after stores that follow it in program order, until its result is needed.
 *  - Fences, releases, acquires and atomics order accesses for the threads of their scope only.
 *
 * determinism/views/views.h implements this within the axioms of PTX's memory model. A program without data races has
 * the same results as under any other order, unless it depends on the order of atomics. */
#ifndef HEDDLE_DETERMINISM_RANDOM_H
#define HEDDLE_DETERMINISM_RANDOM_H

#include <stdint.h>

enum random_strategy {
    RANDOM_ANY,     /* one of the other strategies, chosen by the seed */
    RANDOM_UNIFORM, /* each ready warp is chosen with the same probability, for few instructions */
    /* warps have priorities, which change at few points (after Burckhardt et al., "A randomized scheduler with
     * probabilistic guarantees of finding bugs", ASPLOS 2010) */
    RANDOM_PCT,
    RANDOM_BURSTY, /* long runs of one warp, with widely varying lengths */
    RANDOM_LAG,    /* the warps of one SM rarely run while others can */
    /* CTAs take turns; of a CTA the warp runs that has issued the fewest instructions since its last barrier, and so is
     * farthest from the next one (the scheduler of Archaeopteryx, section V). RANDOM_ANY never chooses it: a seed must
     * give the same run as in earlier versions. */
    RANDOM_FARTHEST,
    /* As UNIFORM, but a warp waits after an access that conflicts with one of another warp (determinism/conflicts.h).
     * RANDOM_ANY never chooses it. */
    RANDOM_CONFLICTS,
    RANDOM_STRATEGIES
};

enum random_model { RANDOM_PTX, RANDOM_SC, RANDOM_TSO };

struct random_options { /* each a uint32_t, as struct order_option requires */
    uint32_t strategy;  /* enum random_strategy */
    uint32_t model;     /* enum random_model */
    /* Switches of the memory model PTX. Each switch that is off excludes some outcomes. */
    uint32_t late_stores;  /* stores may be late; off: they are visible at once */
    uint32_t stale_loads;  /* weak loads may be stale; off: no load is stale */
    uint32_t stale_strong; /* strong loads may be stale; off: they never are */
    uint32_t late_loads;   /* loads may be late; off: a load takes place before later accesses */
    uint32_t late_atomics; /* off: an atomic takes place after all earlier stores and atomics */
    uint32_t scopes;       /* scopes have an effect; off: each scope is that of the GPU */
    uint32_t shared;       /* off: plain accesses of shared memory are made at once, in long runs */
    uint32_t uninitialised; /* on: unwritten memory holds values drawn from the seed; off: zeros */
};
/* The entry of this order for orders.h. */
extern const struct order_kind random_kind;

#endif
