/* cli/gpu_file.h: GPU configurations in files.
 *
 *     struct emu_gpu g;
 *     if (!gpu_file_read(&diags, &g)) ...                    // the text is the diags' source
 *     const struct emu_gpu *g = gpu_named("my.yaml", arena, &status);
 *
 * Two kinds: YAML as in model/gpus (docs/model.md), and GPGPU-Sim's gpgpusim.config. */
#ifndef HEDDLE_CLI_GPU_FILE_H
#define HEDDLE_CLI_GPU_FILE_H

#include "emu/gpu.h"

#include <stdbool.h>

struct arena;
struct diags;

/* Reads YAML strictly: every key known and there, every value in its range, none contradicting another.
 * false after errors. Names are in the diags' arena. */
bool gpu_file_read(struct diags *d, struct emu_gpu *g);

/* The GPU of that name or, if it has a '.' or a '/', of that file: gpgpusim.config if it is called
 * *.config, else YAML. NULL after a message on standard error, `*status` is set. In the arena. */
const struct emu_gpu *gpu_named(const char *command, const char *name, struct arena *a,
                                int *status);

#endif
