/* tests/support/forms.h: how to spell an instruction form, from its row in ptx/isa_*.def. */
#ifndef HEDDLE_TESTS_SUPPORT_FORMS_H
#define HEDDLE_TESTS_SUPPORT_FORMS_H

#include "ptx/isa.h"

/* Calls see(self, op) for each opcode that reaches the form in a module of PTX ISA 8.8 for this target:
 * every choice of every slot, optional ones present and absent. Returns how many there are. */
size_t form_spellings(enum ptx_form form, const char *target,
                      void (*see)(void *self, const struct ptx_op *op), void *self);

/* The words of a group of words.def, with blanks between them; NULL: no group has this name. */
const char *form_group_words(const char *name, size_t n);
/* The length of a word of a row without its gate: `:` alone begins one, `::` is part of a word. */
size_t form_word_length(const char *p);

#endif
