/* model/gpu_file.h: GPUs by name, and configurations in files.
 *
 *     const struct emu_gpu *g = gpu_find("my.yaml", arena, &why);
 *     if (!g) fputs(why.data, stderr);
 *
 * Two kinds of file: YAML as in model/gpus (docs/model.md), and GPGPU-Sim's gpgpusim.config. */
#ifndef HEDDLE_MODEL_GPU_FILE_H
#define HEDDLE_MODEL_GPU_FILE_H

#include "emu/gpu.h"

#include <stdbool.h>

struct arena;
struct buf;
struct diags;

/* Reads a YAML file strictly: each key is known and appears exactly once, each value is in its range, and no
 * values contradict each other. The YAML subset has sections, `key: value` on lines of their own, and comments.
 * Names are in the diags' arena. false after errors. */
bool gpu_file_read(struct diags *d, struct emu_gpu *g);

/* Whether the text names a file: it contains a '.' or a '/'. */
bool gpu_is_file(const char *name);

/* The GPU with this name, or of this file: gpgpusim.config if it is called *.config, else YAML. name NULL: the default
 * of emu_gpu_find(). The GPU may be in the arena. NULL: `why` has the error, as lines. */
const struct emu_gpu *gpu_find(const char *name, struct arena *a, struct buf *why);

#endif
