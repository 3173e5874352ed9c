/* emu/device/check_grids.h: data races between grids of one launch by the host (dynamic parallelism), beside the race
 * detector, which compares the threads of one grid (determinism/race/).
 *
 *     struct check_grids *k = check_grids_new(arena, check);
 *     check_grids_observer(k)                     // among the observers of all grids
 *     task.number = check_grids_launched(k, &task);       // a thread launches a grid
 *     const u32 outer = check_grids_enter(k, task.number); // it runs
 *     check_grids_leave(k, outer);                // it and all its child grids have ended
 *
 * A grid is not ordered with accesses of its parent grid after the launch, nor with its siblings, except earlier
 * siblings in the same stream of the same CTA, and tail launches. Two accesses of global memory by two such grids are a
 * race if they have a byte in common, one writes, and not both are atomics or strong.
 *
 * Limitations: for each word only the last access of each kind of each second level of the tree is kept. Accesses of
 * other threads of the parent grid before the launch count as ordered, although that requires a barrier or other
 * synchronisation. If a kernel makes streams wait for events, all its child grids count as ordered. Copies and fills by
 * the device runtime are not checked. */
#ifndef HEDDLE_EMU_DEVICE_CHECK_GRIDS_H
#define HEDDLE_EMU_DEVICE_CHECK_GRIDS_H

#include "emu/device/check.h"

struct grid_task;

struct check_grids *check_grids_new(struct arena *arena, struct check *check);
void check_grids_free(struct check_grids *k); /* NULL is allowed */
const struct emu_observer *check_grids_observer(struct check_grids *k);

/* Returns the number of the task's future grid, a child of the running grid. */
u32 check_grids_launched(struct check_grids *k, const struct grid_task *t);
/* The running grid makes a stream wait for an event. */
void check_grids_keep_order(struct check_grids *k);
/* Returns the number of the grid that was running, for check_grids_leave. */
u32 check_grids_enter(struct check_grids *k, u32 number);
void check_grids_leave(struct check_grids *k, u32 outer);

#endif
