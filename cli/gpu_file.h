/* cli/gpu_file.h: finds the GPU that the command line names.
 *
 *     const struct emu_gpu *g = gpu_named("calibrate", "my.yaml", arena, &status);
 */
#ifndef HEDDLE_CLI_GPU_FILE_H
#define HEDDLE_CLI_GPU_FILE_H

#include "emu/gpu.h"

struct arena;

/* Like gpu_find() (model/gpu_file.h), but prints errors and warnings to standard error. The result may be in the arena.
 * NULL after an error; *status is the exit code. */
const struct emu_gpu *gpu_named(const char *command, const char *name, struct arena *a,
                                int *status);

#endif
