/* tests/support/executed_forms.h: which instruction forms the tests execute. tests/support/main.c makes the list and, when all tests have
 * run, names the forms that none of them executed. */
#ifndef HEDDLE_TESTS_SUPPORT_EXECUTED_FORMS_H
#define HEDDLE_TESTS_SUPPORT_EXECUTED_FORMS_H

#include "emu/counts.h"
#include "ptx/ptx.h"

/* Begins a list, which the tests' processes inherit; prints what is missing in it and forgets it. */
void ran_begin(void);
bool ran_end(void);

/* Whether an instruction of the module has a form that is not on the list. */
bool ran_misses(const struct ptx_module *m);
/* Puts those on the list that a lane of the launch carried out. */
void ran_add(const struct ptx_module *m, const struct emu_counts *c);

#endif
