/* model/counter_fit_file.h: the counter model's weights for a GPU as a file, as `heddle calibrate` writes it.
 *
 *     struct counter_fit k;
 *     if (counter_fit_file_read(&diags, &k)) ...            // the text is the diags' source
 *
 *     gpu: gv100                              # first; names the configuration
 *     weight:                                 # model/counter_weights.def, times what the configuration says
 *     least: and most:                        # enum counter_feature, of the launches that were fitted
 *     error: and interval:                    # of launches whose application was left out of the fit
 *     in_sample:                              # the errors without leaving anything out; read and not kept
 *
 * The build compiles the files of model/counters (tools/compile_gpus.c). */
#ifndef HEDDLE_MODEL_COUNTER_FIT_FILE_H
#define HEDDLE_MODEL_COUNTER_FIT_FILE_H

#include "model/counter_fit.h"

struct diags;

/* Every key is needed. Text is in the diags' arena. false after errors. */
bool counter_fit_file_read(struct diags *d, struct counter_fit *out);

#endif
