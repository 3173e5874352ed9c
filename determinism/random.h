/* determinism/random.h: an order that stands for today's GPU: an adversary who is free to choose what hardware
 * is, by a seed.
 *
 *     struct random_order *r = random_new(&(struct random_options){.seed = 7});
 *     launch.order = random_order(r);
 *     ... emu_launch, as often as wanted: each launch draws from where the last one stopped
 *     random_free(r);
 *
 * It chooses which slot of which SM gets the next CTA, which warp goes on and for how many instructions
 * (down to one), and when memory changes:
 *
 *  - A plain, relaxed or volatile store to global memory is kept by its warp, which alone sees it, and becomes
 *    visible later; stores to different bytes in any order. Fences, barriers, releases, mbarriers and the warp's
 *    own atomics on those bytes make it visible before they go on.
 *  - A plain load may be answered from what the SM read earlier (L1 caches are not coherent) until a fence or an
 *    acquire by a warp of the SM. Stores of the SM's own warps show there as soon as they are visible.
 *
 * Atomics and strong loads go to memory at once. Both are behaviours that PTX's memory model allows: a program
 * that is free of data races gives what it gives in any other order. */
#ifndef HEDDLE_DETERMINISM_RANDOM_H
#define HEDDLE_DETERMINISM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct emu_order;
struct random_order;

enum random_strategy {
    RANDOM_ANY,     /* one of the others, by the seed */
    RANDOM_UNIFORM, /* every ready warp alike, for few instructions */
    RANDOM_PCT, /* warps have priorities, which change at few moments (after Burckhardt et al., "A randomized
                     * scheduler with probabilistic guarantees of finding bugs", ASPLOS 2010) */
    RANDOM_BURSTY, /* long runs of one warp, of lengths that differ much */
    RANDOM_LAG,    /* the warps of one SM hardly ever run while others can */
    RANDOM_STRATEGIES
};
const char *random_strategy_name(enum random_strategy s); /* "pct" */

struct random_options {
    uint64_t seed;
    enum random_strategy strategy;
    /* Switches of the memory model, for tests: each off makes some outcome impossible. */
    bool at_once;  /* stores are visible at once */
    bool coherent; /* loads never see what is old */
};
struct random_order *random_new(const struct random_options *o);
void random_free(struct random_order *r); /* NULL is allowed */
const struct emu_order *random_order(struct random_order *r);

#endif
