/* cuda/recording.h: what the order of a program's launches decides, written to a file or done again from one
 * (determinism/record/record.h). */
#ifndef HEDDLE_CUDA_RECORDING_H
#define HEDDLE_CUDA_RECORDING_H

#include "emu/order.h"

#include <stdbool.h>

/* The file is written under another name, and gets its own when the program ends. false: it cannot be. */
bool tape_record(const char *path);
bool tape_replay(const char *path); /* false: it is none, which is said */

/* The order that launches are to have, instead of this one; `name` says what it is. */
const struct emu_order *tape_order(const struct emu_order *order, const char *name);

/* Of the process. What is wrong with the recording that was played, as that there is more of it; NULL: nothing. */
const char *tape_end(void);

#endif
