/* emu/device/check_grids.h: data races between grids of one launch by the host (dynamic parallelism), beside the race
 * detector, which compares the threads of one grid (determinism/race/).
 *
 *     struct check_grids *k = check_grids_new(arena, check);
 *     check_grids_observer(k)                     // among the observers of all grids
 *     task.number = check_grids_launched(k, &task);       // a thread launches a grid
 *     const u32 outer = check_grids_enter(k, task.number); // it runs
 *     check_grids_leave(k, outer);                // it and all its child grids have ended
 *
 * A grid is not ordered with what its parent grid does behind the launch, and with its siblings, but for those before it in
 * the same stream of the same CTA and tail launches. Two accesses of global memory by two such grids are a race if they have
 * a byte in common, one writes, and not both are atomics or strong.
 *
 * What may be missed: of each word the last access of each kind of each second level of the tree is kept. What threads of
 * the parent grid did before the launch counts as ordered, although it is so only with a barrier or the like. Where a
 * kernel makes streams wait for events all its child grids count as ordered. Copies and fills by the device runtime are
 * not looked at. */
#ifndef HEDDLE_EMU_DEVICE_CHECK_GRIDS_H
#define HEDDLE_EMU_DEVICE_CHECK_GRIDS_H

#include "emu/device/check.h"

struct grid_task;

struct check_grids *check_grids_new(struct arena *arena, struct check *check);
void check_grids_free(struct check_grids *k); /* NULL is allowed */
const struct emu_observer *check_grids_observer(struct check_grids *k);

/* The number of the grid that the task will be, a child of the one that runs. */
u32 check_grids_launched(struct check_grids *k, const struct grid_task *t);
/* The grid that runs makes a stream wait for an event. */
void check_grids_keep_order(struct check_grids *k);
/* Returns the number of the grid that ran until now, for check_grids_leave. */
u32 check_grids_enter(struct check_grids *k, u32 number);
void check_grids_leave(struct check_grids *k, u32 outer);

#endif
