/* cuda/early.h: what a kernel does that is not behind the kernel before it in its stream, although that comes first: it
 * was launched to begin early (programmatic stream serialization), and its threads have not waited yet.
 *
 *     struct early *e = early_new();
 *     ... emu_launch with early_observer(e)
 *     if (touched_meet(t, early_touched(e), &m)) ...
 *
 * Behind the kernel before is a thread from its griddepcontrol.wait on, and whoever meets it at a barrier then. Fences,
 * acquires and mbarriers are taken to be behind all that waited before them in the grid, in the CTA's cluster: rather
 * too little is reported here than too much. */
#ifndef HEDDLE_CUDA_EARLY_H
#define HEDDLE_CUDA_EARLY_H

#include <stdbool.h>

struct early;
struct emu_observer;
struct touched;

struct early *early_new(void);
void early_free(struct early *e); /* NULL is allowed */
const struct emu_observer *early_observer(struct early *e);
const struct touched *early_touched(const struct early *e);
/* It let the next kernel begin before it waited itself, or never waited: what the next does early is not behind what
 * this one is not behind. */
bool early_is_open(const struct early *e);

#endif
