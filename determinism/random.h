/* determinism/random.h: the memory order `random`: a seeded adversary that stands for a GPU of today. It promises nothing.
 *
 *     struct orders *o = orders_new("random:strategy=pct", 7, &why);     // determinism/orders.h
 *     launch.order = orders_get(o);
 *
 * It chooses which slot of which SM gets the next CTA, which warp goes on and for how many instructions (down to one), and
 * when memory changes:
 *
 *  - A plain, relaxed or volatile store to global memory is buffered by its warp, which alone sees it, and drained later;
 *    stores to different bytes in any order. Fences, barriers, releases, mbarriers and the warp's own atomics on those bytes
 *    drain it before they go on; a fence that is not .sc only before the warp's later writes.
 *  - A plain load may read what the SM read earlier (L1 caches are not coherent) until a fence or an acquire by a warp of the
 *    SM. Stores of the SM's own warps show there as soon as they are visible.
 *
 * Atomics and strong loads go to memory at once. Both behaviours are allowed by PTX's memory model: a program without data
 * races has the same results as under any other order. */
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
    RANDOM_STRATEGIES
};

struct random_options { /* as struct order_option wants them */
    uint32_t strategy;  /* enum random_strategy */
    /* Switches of the memory model: each off makes some outcome impossible. */
    uint32_t late_stores; /* else they are visible at once */
    uint32_t stale_loads; /* else loads are never stale */
};
/* Its options, and how orders.h makes one. */
extern const struct order_kind random_kind;

#endif
