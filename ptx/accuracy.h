/* ptx/accuracy.h: whether PTX defines every bit of an instruction's result.
 *
 *     struct ptx_accuracy a = ptx_inst_accuracy(inst);
 *     if (a.kind != PTX_EXACT) printf("%.*s: %s\n", (int)a.name_length, a.name, a.text);
 *
 * For PTX_EXACT instructions a GPU and Heddle compute the same bits from the same operands. accuracy.def lists the other
 * instructions with their sections of the PTX ISA; besides these, matrix products of floating-point numbers and filtered
 * textures are not exact. */
#ifndef HEDDLE_PTX_ACCURACY_H
#define HEDDLE_PTX_ACCURACY_H

#include "ptx/isa.h"

struct ptx_inst;

enum ptx_accuracy_kind {
    PTX_EXACT,
    PTX_APPROXIMATE, /* the error is within the bound that `text` names */
    PTX_LEFT_OPEN,   /* the value depends on the hardware, the driver or the schedule */
};
struct ptx_accuracy {
    enum ptx_accuracy_kind kind;
    const char *text; /* the bound ("2 ulp") or the reason; PTX_EXACT: NULL */
    /* The opcode of the instruction ("ex2.approx.f32"), or the special register that it reads; PTX_EXACT: NULL. */
    const char *name;
    uint32_t name_length;
};

/* The accuracy of a form: not exact if the form is not exact for one of its types. `name` is NULL. */
struct ptx_accuracy ptx_form_accuracy(enum ptx_form form);
/* The accuracy of one instruction; inst->op must not be NULL. */
struct ptx_accuracy ptx_inst_accuracy(const struct ptx_inst *inst);
const char *ptx_accuracy_name(enum ptx_accuracy_kind kind); /* "approximate" */

#endif
