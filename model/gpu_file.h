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

/* Reads YAML strictly: every key known and there, once, every value in its range, none contradicting
 * another. Of YAML there are sections, `key: value` on lines of their own, and comments. false after errors.
 * Names are in the diags' arena. */
bool gpu_file_read(struct diags *d, struct emu_gpu *g);

/* Whether it names a file: it has a '.' or a '/'. */
bool gpu_is_file(const char *name);

/* The GPU of that name, or of that file: gpgpusim.config if it is called *.config, else YAML. NULL as name: the
 * default of emu_gpu_find. NULL: `why` says why, in lines. What the arena then holds lives as long as the GPU. */
const struct emu_gpu *gpu_find(const char *name, struct arena *a, struct buf *why);

#endif
