/* model/estimate_cache.h: the times of a run's launches, where alike ones are reckoned once.
 *
 *     struct estimate_cache *all = estimate_cache_new();
 *     if (estimate_cache_get(all, report->counts, &t)) ...        // as launch_estimate_of
 *     estimate_cache_free(all);
 *
 * Solvers launch the same kernels hundreds of times. A launch with the same counts as an earlier one takes the time of
 * that one: of the same kernel, grid, GPU and order, each of whose instructions was issued as often, by as many lanes,
 * whose SMs issued as many, and of which all that is counted of its accesses and of the caches is the same. Where in
 * memory it was may still differ, and by that the channels of DRAM that were in each other's way: that is a percent. */
#ifndef HEDDLE_MODEL_ESTIMATE_CACHE_H
#define HEDDLE_MODEL_ESTIMATE_CACHE_H

#include "model/launch_estimate.h"

struct estimate_cache;
struct estimate_cache *estimate_cache_new(void);
void estimate_cache_free(struct estimate_cache *all); /* NULL is none */

/* Of one grid (not of counts->next), whose GPU's configuration stays what it is. false: it was not traced. */
bool estimate_cache_get(struct estimate_cache *all, const struct emu_counts *c,
                        struct launch_estimate *out);

#endif
