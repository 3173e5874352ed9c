/* cuda/environment.h: reads the environment variables of a CUDA program: the settings of its device (session/settings.h),
 * and private variables that `heddle run`, `check` and `estimate` set for their program (cuda/outcome.h). */
#ifndef HEDDLE_CUDA_ENVIRONMENT_H
#define HEDDLE_CUDA_ENVIRONMENT_H

#include "emu/emu.h"

#include <stdbool.h>

/* Sets *c, and the members of `driver` that come from the environment. false after messages. */
bool environment_read(struct emu_config *c);

#endif
