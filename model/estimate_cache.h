/* model/estimate_cache.h: a cache of estimates, so that equal launches of a run are estimated once.
 *
 *     struct estimate_cache *cache = estimate_cache_new();
 *     if (estimate_cache_get(cache, report->counts, &t)) ...        // as launch_estimate_of
 *     estimate_cache_free(cache);
 *
 * Solvers launch the same kernels hundreds of times. A launch takes the estimate of an earlier one if these are equal:
 * kernel, grid, GPU and order; for each instruction the numbers of issues and active lanes; the instructions of each SM;
 * all counts of accesses and caches; and the numbers of atomics by line. Addresses may still differ, and with them the
 * conflicts of DRAM channels and rows: that is a difference of about one percent. The cache has the last 128 launches. */
#ifndef HEDDLE_MODEL_ESTIMATE_CACHE_H
#define HEDDLE_MODEL_ESTIMATE_CACHE_H

#include "model/launch_estimate.h"

struct estimate_cache;
struct estimate_cache *estimate_cache_new(void);
void estimate_cache_free(struct estimate_cache *all); /* NULL is none */

/* The estimate of one grid (without counts->next). The configuration of its GPU must not change. false: the grid was not
 * traced. */
bool estimate_cache_get(struct estimate_cache *all, const struct emu_counts *c,
                        struct launch_estimate *out);

/* The estimates of all traced grids of one launch by the host (`c` and its list `next`), with nested_estimates(). Returns
 * their number. The caller frees *out. all NULL: no cache is used. */
size_t estimate_cache_get_all(struct estimate_cache *all, const struct emu_counts *c,
                              struct launch_estimate **out);

/* Estimates of successive launches, computed by another host thread while the caller continues, and by the caller if
 * several launches wait. They are those of estimate_cache_get() for each launch, for any number of threads.
 *
 *     struct estimate_queue *q = estimate_queue_new(cache, done, self);
 *     if (!estimate_queue_add(q, report->counts, ended)) ...   // the next launch may begin
 *     estimate_queue_free(q);                                  // after all; before the GPU and the order are freed
 *
 * `done` is called for each estimate in the order of the launches, by the caller's thread, in these functions. */
struct estimate_queue;
struct estimate_queue *
estimate_queue_new(struct estimate_cache *all,
                   void (*done)(void *self, struct launch_estimate *t, bool ended), void *self);
/* Adds a launch. false: the queue does not take the launch (it has no trace, it launched grids, its order is not native, or
 * hops are counted), and has computed all launches that were added before. */
bool estimate_queue_add(struct estimate_queue *q, const struct emu_counts *c, bool ended);
/* Waits until all added launches are estimated. */
void estimate_queue_settle(struct estimate_queue *q);
void estimate_queue_free(struct estimate_queue *q); /* settles first; NULL is allowed */

/* Appends to `key` all properties that equal launches have in common. */
struct buf;
void estimate_cache_key(struct buf *key, const struct emu_counts *c);

#endif
