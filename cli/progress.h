/* cli/progress.h: a progress line of `heddle run`. If stderr is a terminal, the line is shown from the second second
 * on, and removed before other output. */
#ifndef HEDDLE_CLI_PROGRESS_H
#define HEDDLE_CLI_PROGRESS_H

#include "heddle.h"

#include <stdatomic.h>

struct progress {
    bool wanted;
    atomic_bool shown;               /* kernels may print on any thread */
    uint64_t launches, instructions; /* ended launches; their warp instructions */
    double seconds, printed_at; /* printed_at: value of `seconds` when the line was last printed */
};

/* Sets `wanted` if stderr is a terminal. */
void progress_begin(struct progress *p);
void progress_set_up(struct progress *p, struct heddle_device_options *device);
/* Adds a launch that has ended. */
void progress_launch(struct progress *p, uint64_t warp_instructions, double seconds);
void progress_clear(struct progress *p); /* NULL is allowed */

#endif
