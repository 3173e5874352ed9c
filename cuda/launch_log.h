/* cuda/launch_log.h: writes the launches of a program to its run log (session/run_log.h).
 *
 * `heddle check` compares runs of a program by the contents of memory after each launch. The contents are defined only
 * where every other operation is ordered before or after the launch. For any other launch the log has the kernel's name
 * and no digest; at the next point where the host has waited for all operations the log has one more entry, with the
 * digest of memory there. Entries are written in the order in which the program submitted the launches, so two runs that
 * executed them in different orders can be compared. */
#ifndef HEDDLE_CUDA_LAUNCH_LOG_H
#define HEDDLE_CUDA_LAUNCH_LOG_H

#include "cuda/unordered.h"
#include "cuda/work.h"

struct launch_log_entry;

/* To be called when the program submits an operation. NULL: it is no launch, or this run has no log. */
struct launch_log_entry *launch_log_submit(const struct work *w, struct stamp *stamp);
void launch_log_done(struct launch_log_entry *e); /* NULL is allowed */
/* To be called when the host has waited for an operation: writes entries that are complete. */
void launch_log_wait(void);
void launch_log_drop(void); /* at the end of the device */

#endif
