/* cuda/repeats.h: avoids repeated reports of the same finding.
 *
 *     if (repeats_add(kernel, &finding)) driver_find(...);       // the first launch that has it
 *     repeats_say();                                             // at the end: how often findings were repeated
 *
 * A program may launch a kernel many times, and each launch has the same findings. Two findings are the same if their
 * kernel, their kind and the lines about instructions in their texts ("  at FILE:LINE...") are equal. The driver's lock
 * guards the list. */
#ifndef HEDDLE_CUDA_REPEATS_H
#define HEDDLE_CUDA_REPEATS_H

#include <stdbool.h>

struct emu_finding;

/* Counts the finding; true: no earlier finding is the same. */
bool repeats_add(const char *kernel, const struct emu_finding *f);
/* Prints a line for each finding that was repeated, and clears the list. */
void repeats_say(void);

#endif
