/* cli/gpu_file.h: the GPU that the command line names.
 *
 *     const struct emu_gpu *g = gpu_named("calibrate", "my.yaml", arena, &status);
 */
#ifndef HEDDLE_CLI_GPU_FILE_H
#define HEDDLE_CLI_GPU_FILE_H

#include "emu/gpu.h"

struct arena;

/* As gpu_find (model/gpu_file.h). NULL after a message on standard error, `*status` is set. Warnings go there,
 * too. In the arena. */
const struct emu_gpu *gpu_named(const char *command, const char *name, struct arena *a,
                                int *status);

#endif
