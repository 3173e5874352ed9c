/* cuda/early.h: accesses of a kernel that are not ordered after the previous kernel of its stream: the kernel was launched
 * with programmatic stream serialization, and its threads have not executed griddepcontrol.wait yet.
 *
 *     struct early *e = early_new();
 *     ... emu_launch with early_observer(e)
 *     if (touched_meet(t, early_touched(e), &m)) ...
 *
 * Ordered after the previous kernel are the accesses of a thread after its griddepcontrol.wait, and those of threads that
 * synchronise with it at a barrier after that. A fence, an acquire, and a wait for an mbarrier or a cluster barrier are
 * assumed to be ordered after all earlier waits of the grid. So the check may miss errors, but reports no false ones. */
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
/* Whether the kernel let the next kernel begin before it waited itself, or never waited. Then the early accesses of the next
 * kernel are not ordered after the kernel before this one either. */
bool early_is_open(const struct early *e);

#endif
