/* model/launch_times.h: the times of a run's launches, where alike ones are reckoned once.
 *
 *     struct launch_times *all = launch_times_new();
 *     if (launch_times_of(all, report->counts, &t)) ...        // as launch_time_of
 *     launch_times_free(all);
 *
 * Solvers launch the same kernels hundreds of times. A launch with the same counts as an earlier one takes the time of
 * that one: of the same kernel, grid, GPU and order, each of whose instructions was issued as often, by as many lanes,
 * whose SMs issued as many, and of which all that is counted of its accesses and of the caches is the same. Where in
 * memory it was may still differ, and by that the channels of DRAM that were in each other's way: that is a percent. */
#ifndef HEDDLE_MODEL_LAUNCH_TIMES_H
#define HEDDLE_MODEL_LAUNCH_TIMES_H

#include "model/launch_time.h"

struct launch_times;
struct launch_times *launch_times_new(void);
void launch_times_free(struct launch_times *all); /* NULL is none */

/* Of one grid (not of counts->next), whose GPU's configuration stays what it is. false: it was not traced. */
bool launch_times_of(struct launch_times *all, const struct emu_counts *c, struct launch_time *out);

#endif
