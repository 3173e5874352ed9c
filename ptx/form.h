/* ptx/form.h: properties of instructions that follow from the row of their form, so that a new row needs no other change.
 *
 *     if (ptx_op_is_strong(i->op)) ...        // i: an instruction of a module without errors
 *
 * Callers are ptx/uniform.c, ptx/polling.c and emu/lower/. The results depend on the row and the opcode's words alone. */
#ifndef HEDDLE_PTX_FORM_H
#define HEDDLE_PTX_FORM_H

#include "ptx/isa.h"

/* Whether a lane's results are a function of its operands and the carry flag alone: the row's unit is arithmetic, and the
 * row has no effects. A row whose results depend on other lanes must have the effect LANES, or another unit. */
bool ptx_form_computes(enum ptx_form form);

/* Whether the instruction is a load or store (`ld`, `st`) that may be reordered with accesses to other addresses: it has
 * neither acquire nor release semantics. */
bool ptx_op_is_passing_load(const struct ptx_op *op);
bool ptx_op_is_passing_store(const struct ptx_op *op);

/* Whether the instruction is a strong access (PTX ISA, "Memory Consistency Model") or a fence. */
bool ptx_op_is_strong(const struct ptx_op *op);

#endif
