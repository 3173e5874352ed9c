/* cuda/repeats.h: findings of kernels that were reported before.
 *
 *     if (repeats_add(kernel, &finding)) driver_find(...);       // the first launch that has it
 *     repeats_say();                                             // at the end: how often the others came again
 *
 * A kernel is launched many times, and each launch finds the same. Two findings are the same if kernel, kind and the
 * lines about instructions in their texts ("  at FILE:LINE...") are. The driver's lock guards the list. */
#ifndef HEDDLE_CUDA_REPEATS_H
#define HEDDLE_CUDA_REPEATS_H

#include <stdbool.h>

struct emu_finding;

/* Counts the finding; true: it is the first of its kind. */
bool repeats_add(const char *kernel, const struct emu_finding *f);
/* Says which findings came again, one line for each, and forgets all. */
void repeats_say(void);

#endif
