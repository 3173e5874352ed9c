/* ptx/form.h: what follows from the row of an instruction form, so that a new row needs no mention elsewhere.
 *
 *     if (ptx_op_is_strong(i->op)) ...        // of an instruction of a module without errors
 *
 * ptx/uniform.c, ptx/polling.c and emu/lower/ ask. Functions of the row and the opcode's words alone. */
#ifndef HEDDLE_PTX_FORM_H
#define HEDDLE_PTX_FORM_H

#include "ptx/isa.h"

/* Whether a lane's results are a function of its operands alone, and of the carry flag: its unit computes, and the row names
 * no effect. A row that depends on other lanes must say LANES, or have another unit. */
bool ptx_form_computes(enum ptx_form form);

/* Whether it is a load or store (`ld`, `st`) that may take place behind accesses to other places: it neither acquires nor
 * releases. */
bool ptx_op_is_passing_load(const struct ptx_op *op);
bool ptx_op_is_passing_store(const struct ptx_op *op);

/* Whether the access is strong (PTX ISA, "Memory Consistency Model"), or the instruction a fence. */
bool ptx_op_is_strong(const struct ptx_op *op);

#endif
