/* model/gpgpusim.h: reads GPGPU-Sim's configurations, gpgpusim.config, as GPUs.
 *
 *     struct emu_gpu g;
 *     if (!gpgpusim_read(&diags, &g)) ...                 // the text is the diags' source
 *
 * Options of versions 3 and 4 are understood ("-gpgpu_l2_rop_latency" and "-rop_latency",
 * "S:32:128:24,..." and "64:128:8,..."). A missing option has GPGPU-Sim's default; options that do not
 * describe the machine (statistics, power, debugging) are ignored. docs/model.md lists the meaning of
 * each option. */
#ifndef HEDDLE_MODEL_GPGPUSIM_H
#define HEDDLE_MODEL_GPGPUSIM_H

#include "emu/gpu.h"

#include <stdbool.h>

struct diags;

/* Reads a configuration. The GPU has the name of the file, or of its folder if the file is called
 * gpgpusim.config; the name is in the diags' arena. false after errors. */
bool gpgpusim_read(struct diags *d, struct emu_gpu *g);

#endif
