/* model/gpgpusim.h: GPGPU-Sim's configurations, gpgpusim.config, as GPUs.
 *
 *     struct emu_gpu g;
 *     if (!gpgpusim_read(&diags, &g)) ...                 // the text is the diags' source
 *
 * Options of versions 3 and 4 are understood ("-gpgpu_l2_rop_latency" and "-rop_latency",
 * "S:32:128:24,..." and "64:128:8,..."). One that is left out has GPGPU-Sim's preset; those that say
 * nothing of the machine (statistics, power, debugging) are passed over. docs/model.md says what becomes
 * of which. */
#ifndef HEDDLE_MODEL_GPGPUSIM_H
#define HEDDLE_MODEL_GPGPUSIM_H

#include "emu/gpu.h"

#include <stdbool.h>

struct diags;

/* false after errors. The name is the file's, or its folder's if it is called gpgpusim.config; in the
 * diags' arena. */
bool gpgpusim_read(struct diags *d, struct emu_gpu *g);

#endif
