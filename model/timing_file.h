/* model/timing_file.h: reads and writes files with the timing model's numbers for a GPU, and the errors of its estimates.
 *
 *     struct timing_fit fit;
 *     if (timing_file_read(&diags, &fit)) machine_use(&fit);      // the text is the diags' source
 *
 * Lines of a plain YAML, `key: value` below `section:`, `#` begins a comment:
 *
 *     gpu: titanv                                       # first; names the configuration
 *     measured: GPGPU-Sim 4.2, SM7_TITANV               # source of the cycles; without it errors are unknown
 *     machine:                                          # model/timing_numbers.def
 *       branch: 5.2
 *     latency:                                          # by class of instruction (ptx/costs.def), cycles
 *       ALU: 6.2
 *     interval:                                         # by class: cycles until a unit accepts the next
 *     units:                                            # numbers of an SM: INT, FP32, FP64, SFU, TENSOR, MEMORY
 *     error:                                            # mean, median, p90, worst, by_program, rank
 *     interval_80:                                      # alone_low, alone_high
 *     low_80: and high_80:                              # model/regimes.def
 *     least: and most:                                  # model/timing_features.def
 *
 * Numbers of the machine that a file does not have are derived from the GPU's configuration. */
#ifndef HEDDLE_MODEL_TIMING_FILE_H
#define HEDDLE_MODEL_TIMING_FILE_H

#include "model/machine.h"

#include <stdbool.h>

struct arena;
struct buf;
struct diags;

/* Reads a file. Texts are in the diags' arena. `g`: the GPU, if it is not built in; else NULL. false after errors. */
bool timing_file_read(struct diags *d, const struct emu_gpu *g, struct timing_fit *out);

/* Loads the file at a path; the result is in the arena. NULL: `why` has the error. */
const struct timing_fit *timing_file_load(const char *path, const struct emu_gpu *g,
                                          struct arena *a, struct buf *why);

void timing_file_write(struct buf *out, const struct timing_fit *fit);

#endif
