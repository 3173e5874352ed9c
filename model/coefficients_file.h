/* model/coefficients_file.h: the counter model's weights for a GPU as a file, as `heddle calibrate` writes it.
 *
 *     struct coefficients k;
 *     if (coefficients_file_read(&diags, &k)) ...            // the text is the diags' source
 *
 *     gpu: gv100                              # first; names the configuration
 *     weight:                                 # model/weights.def, times what the configuration says
 *     least: and most:                        # enum feature, of the launches that were fitted
 *     error: and interval:                    # of launches whose application was left out of the fit
 *     in_sample:                              # the errors without leaving anything out; read and not kept
 *
 * The build compiles the files of model/coefficients (tools/compile_gpus.c). */
#ifndef HEDDLE_MODEL_COEFFICIENTS_FILE_H
#define HEDDLE_MODEL_COEFFICIENTS_FILE_H

#include "model/coefficients.h"

struct diags;

/* Every key is needed. Text is in the diags' arena. false after errors. */
bool coefficients_file_read(struct diags *d, struct coefficients *out);

#endif
