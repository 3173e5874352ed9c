/* cuda/environment.h: what the environment of a CUDA program asks of its device: the settings (session/settings.h), and
 * the private variables by which `heddle run`, `check` and `estimate` reach their program (cuda/outcome.h). */
#ifndef HEDDLE_CUDA_ENVIRONMENT_H
#define HEDDLE_CUDA_ENVIRONMENT_H

#include "emu/emu.h"

#include <stdbool.h>

/* Sets the configuration, and what the driver keeps of the environment. false after messages. */
bool environment_read(struct emu_config *c);

#endif
