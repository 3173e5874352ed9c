/* model/estimate_cache.h: estimates of a run's launches, computed once for launches that are alike.
 *
 *     struct estimate_cache *cache = estimate_cache_new();
 *     if (estimate_cache_get(cache, report->counts, &t)) ...        // as launch_estimate_of
 *     estimate_cache_free(cache);
 *
 * Solvers launch the same kernels hundreds of times. A launch takes the estimate of an earlier one if they agree in
 * kernel, grid, GPU and order, in how often each instruction was issued and by how many lanes, in the instructions of
 * each SM, in all counts of accesses and caches, and in how many atomics the lines have. Addresses may still differ, and with them the conflicts of DRAM
 * channels and rows: that is a percent. The last 128 launches are kept. */
#ifndef HEDDLE_MODEL_ESTIMATE_CACHE_H
#define HEDDLE_MODEL_ESTIMATE_CACHE_H

#include "model/launch_estimate.h"

struct estimate_cache;
struct estimate_cache *estimate_cache_new(void);
void estimate_cache_free(struct estimate_cache *all); /* NULL is none */

/* Of one grid (not of counts->next), whose GPU's configuration stays what it is. false: it was not traced. */
bool estimate_cache_get(struct estimate_cache *all, const struct emu_counts *c,
                        struct launch_estimate *out);

/* Of all grids of one launch by the host, `c` and those behind it, that were traced: nested_estimates. Returns how many there
 * are. `*out` is malloc'd, the caller's. all NULL: nothing is kept. */
size_t estimate_cache_get_all(struct estimate_cache *all, const struct emu_counts *c,
                              struct launch_estimate **out);
/* All that alike launches have in common, added to `key`. */
struct buf;
void estimate_cache_key(struct buf *key, const struct emu_counts *c);

#endif
