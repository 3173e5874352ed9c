/* cli/fidelity.h: --fidelity of `heddle run`, `check` and `estimate`: the accuracy of a run's instructions (emu/fidelity.h). */
#ifndef HEDDLE_CLI_FIDELITY_H
#define HEDDLE_CLI_FIDELITY_H

#include "emu/fidelity.h"

#include <jansson.h>

void fidelity_print(struct emu_fidelity *f); /* as a table; NULL is allowed */
json_t *fidelity_json(struct emu_fidelity *f);

#endif
