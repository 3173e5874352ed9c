/* model/counter_fit_file.h: reads files with the counter model's weights for a GPU, which `heddle calibrate` writes.
 *
 *     struct counter_fit k;
 *     if (counter_fit_file_read(&diags, &k)) ...            // the text is the diags' source
 *
 *     gpu: gv100                              # first; names the configuration
 *     weight:                                 # model/counter_weights.def; factors on the configuration's values
 *     least: and most:                        # enum counter_feature: range of the fitted launches
 *     error: and interval:                    # for launches whose application was left out of the fit
 *     in_sample:                              # errors of the fit to all launches; ignored
 *
 * The build compiles the files of model/counters (tools/compile_gpus.c). */
#ifndef HEDDLE_MODEL_COUNTER_FIT_FILE_H
#define HEDDLE_MODEL_COUNTER_FIT_FILE_H

#include "model/counter_fit.h"

struct diags;

/* Reads a file; every key is required. Texts are in the diags' arena. false after errors. */
bool counter_fit_file_read(struct diags *d, struct counter_fit *out);

#endif
