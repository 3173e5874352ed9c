/* cli/progress.h: one line on the terminal that says how far a long run is. It is shown where stderr is
 * one, from the second second on, and wiped before anything else is printed. */
#ifndef HEDDLE_CLI_PROGRESS_H
#define HEDDLE_CLI_PROGRESS_H

#include "heddle.h"

#include <stdatomic.h>

struct progress {
    bool wanted;
    atomic_bool shown;               /* kernels may print on any thread */
    uint64_t launches, instructions; /* of the launches that have ended */
    double seconds, printed_at; /* printed_at: what `seconds` was when the line was last written */
};

/* wanted: stderr is a terminal. */
void progress_begin(struct progress *p);
void progress_set_up(struct progress *p, struct heddle_device_options *device);
/* A launch has ended. */
void progress_launch(struct progress *p, uint64_t warp_instructions, double seconds);
void progress_clear(struct progress *p); /* NULL is allowed */

#endif
