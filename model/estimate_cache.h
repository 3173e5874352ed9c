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
/* Estimates of one launch after the other, computed by another host thread while the caller goes on, and by the caller where
 * several launches wait for it. They are those of estimate_cache_get(), launch by launch, however many threads there are.
 *
 *     struct estimate_queue *q = estimate_queue_new(cache, done, self);
 *     if (!estimate_queue_add(q, report->counts, ended)) ...   // the next launch may begin
 *     estimate_queue_free(q);                                  // all are done; before the GPU and the order go
 *
 * `done` is called for each estimate in the order of the launches, by the caller's thread, in these functions. */
struct estimate_queue;
struct estimate_queue *
estimate_queue_new(struct estimate_cache *all,
                   void (*done)(void *self, struct launch_estimate *t, bool ended), void *self);
/* false: this launch is not for the queue, which has done all that were added before it: it has no trace, or it launched
 * grids, or it has another order than native, or hops are counted. */
bool estimate_queue_add(struct estimate_queue *q, const struct emu_counts *c, bool ended);
/* Until all that were added are done. */
void estimate_queue_settle(struct estimate_queue *q);
void estimate_queue_free(struct estimate_queue *q); /* settled. NULL is none */

/* All that alike launches have in common, added to `key`. */
struct buf;
void estimate_cache_key(struct buf *key, const struct emu_counts *c);

#endif
