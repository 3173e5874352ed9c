/* tests/forms.h: every way to spell an instruction form, from its row in ptx/isa.def. */
#ifndef HEDDLE_TESTS_FORMS_H
#define HEDDLE_TESTS_FORMS_H

#include "ptx/isa.h"

/* Calls see(self, op) for each opcode that reaches the form in a module of PTX ISA 8.8 for this target:
 * every choice of every slot, optional ones present and absent. Returns how many there are. */
size_t form_spellings(enum ptx_form form, const char *target,
                      void (*see)(void *self, const struct ptx_op *op), void *self);

#endif
