/* model/timing_file.h: the timing model's numbers for a GPU as a file, and the errors of estimates with them.
 *
 *     struct timing_fit fit;
 *     if (timing_file_read(&diags, &fit)) machine_use(&fit);      // the text is the diags' source
 *
 * Lines of a plain YAML, `key: value` below `section:`, `#` begins a comment:
 *
 *     gpu: titanv                                       # first; names the configuration
 *     measured: GPGPU-Sim 4.2, SM7_TITANV               # on what; without it nothing is known of errors
 *     machine:                                          # model/timing_numbers.def
 *       branch: 5.2
 *     latency:                                          # by class of instruction (ptx/costs.def), cycles
 *       ALU: 6.2
 *     interval:                                         # likewise, until a unit takes the next
 *     units:                                            # of an SM: INT, FP32, FP64, SFU, TENSOR, MEMORY
 *     error:                                            # mean, median, p90, worst, by_program, rank
 *     interval_80:                                      # alone_low, alone_high
 *     low_80: and high_80:                              # model/regimes.def
 *     least: and most:                                  # model/timing_features.def
 *
 * What a file leaves out of the machine is as the GPU's configuration says. */
#ifndef HEDDLE_MODEL_TIMING_FILE_H
#define HEDDLE_MODEL_TIMING_FILE_H

#include "model/machine.h"

#include <stdbool.h>

struct arena;
struct buf;
struct diags;

/* Text is in the diags' arena. `g`: the GPU, if it is not built in; else NULL. false after errors. */
bool timing_file_read(struct diags *d, const struct emu_gpu *g, struct timing_fit *out);

/* Of a file by name, in the arena. NULL: `why` says what is wrong with it. */
const struct timing_fit *timing_file_load(const char *path, const struct emu_gpu *g,
                                          struct arena *a, struct buf *why);

void timing_file_write(struct buf *out, const struct timing_fit *fit);

#endif
