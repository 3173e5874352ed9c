/* cuda/recording.h: records the decisions of the order of a program's launches in a file, or replays them from one
 * (determinism/record/record.h). A process does one of the two, or neither. */
#ifndef HEDDLE_CUDA_RECORDING_H
#define HEDDLE_CUDA_RECORDING_H

#include "emu/order.h"

#include <stdbool.h>

/* Records to a file, which is written under a temporary name and renamed when the program ends. false: it cannot be written. */
bool driver_record_to(const char *path);
bool driver_replay_from(const char *path); /* false after an error message: it is no recording */

/* The order to launch with instead of `order`: a recorder around `order`, or the player. The recording contains `name`. */
const struct emu_order *driver_recorded_order(const struct emu_order *order, const char *name);

/* To be called at the end of the process. Prints an error if the recording could not be written, or if the run ended before the
 * replayed recording did. */
void driver_end_recording(void);
/* To be called at the end of a child process made by fork(): discards unwritten data, which the parent writes. */
void driver_recording_of_parent(void);

#endif
