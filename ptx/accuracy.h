/* ptx/accuracy.h: which instructions have one right result, and which have several.
 *
 *     struct ptx_accuracy a = ptx_inst_accuracy(inst);
 *     if (a.kind != PTX_EXACT) printf("%.*s: %s\n", (int)a.name_length, a.name, a.text);
 *
 * A GPU gives the same bits as Heddle for PTX_EXACT, if the operands are the same. accuracy.def has the others, and the
 * sections of the PTX ISA; besides these, matrix products of floating-point numbers and filtered textures. */
#ifndef HEDDLE_PTX_ACCURACY_H
#define HEDDLE_PTX_ACCURACY_H

#include "ptx/isa.h"

struct ptx_inst;

enum ptx_accuracy_kind {
    PTX_EXACT,
    PTX_APPROXIMATE, /* within the bound that `text` names */
    PTX_LEFT_OPEN,   /* a number that PTX leaves to the hardware, the driver or the schedule */
};
struct ptx_accuracy {
    enum ptx_accuracy_kind kind;
    const char *text; /* "2 ulp"; PTX_EXACT: NULL */
    /* Of an instruction that is not exact: its opcode ("ex2.approx.f32"), or the special register that it reads. */
    const char *name;
    uint32_t name_length;
};

/* Of the form, whatever its types: not exact if it is not for one of them. No name. */
struct ptx_accuracy ptx_form_accuracy(enum ptx_form form);
/* inst->op is not NULL. */
struct ptx_accuracy ptx_inst_accuracy(const struct ptx_inst *inst);
const char *ptx_accuracy_name(enum ptx_accuracy_kind kind); /* "approximate" */

#endif
