/* Properties of instructions that follow from the row of their form (ptx/form.h). */
#include "ptx/form.h"

#include <string.h>

bool ptx_form_computes(enum ptx_form form)
{
    const struct ptx_form_info *f = &ptx_forms[form];
    const bool carry = f->unit == PTX_UNIT_IALU || f->unit == PTX_UNIT_IMUL; /* its effect: .cc */
    return f->unit <= PTX_UNIT_VIDEO && !(f->effects & ~(carry ? PTX_EFFECT : 0u));
}

/* Loads by the non-coherent path and of devices (.mmio) are left where they are. */
static bool passes(const struct ptx_op *op, const char *name, const char *orders)
{
    const struct ptx_form_info *f = op->form;
    return f->unit == PTX_UNIT_MEM && !f->refused && strcmp(f->name, name) == 0 &&
           !ptx_op_has(op, orders) && !ptx_op_has(op, "nc") && !ptx_op_has(op, "mmio");
}
bool ptx_op_is_passing_load(const struct ptx_op *op)
{
    return passes(op, "ld", "acquire");
}
bool ptx_op_is_passing_store(const struct ptx_op *op)
{
    return passes(op, "st", "release");
}

bool ptx_op_is_strong(const struct ptx_op *op)
{
    return op->form->effects & PTX_FENCE || ptx_op_has(op, "volatile") ||
           ptx_op_has(op, "relaxed") || ptx_op_has(op, "mmio");
}
