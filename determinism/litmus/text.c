/* Litmus tests as text: their names, and the format that litmus_parse reads. */
#include "determinism/litmus/litmus.h"

#include "base/buf.h"

#include <assert.h>
#include <stdio.h>

void litmus_name(char out[LITMUS_NAME], size_t shape, enum litmus_variant how,
                 enum litmus_placement where)
{
    snprintf(out, LITMUS_NAME, "%s+%s@%s", litmus_shapes[shape].name, litmus_variants[how],
             litmus_placements[where]);
}

struct litmus litmus_of_shape(size_t shape, enum litmus_variant how, enum litmus_placement where)
{
    struct litmus t;
    const char *why = litmus_parse(&t, litmus_shapes[shape].text);
    assert(!why);
    (void)why;
    litmus_strengthen(&t, how);
    litmus_place(&t, where);
    return t;
}

/* What the operation stores: a number, or a value that the thread has read. */
static void print_operand(struct buf *out, const struct litmus_op *op)
{
    if (op->from >= 0) buf_printf(out, " r%d", op->from);
    else buf_printf(out, " %u", op->value);
}

void litmus_text(struct buf *out, const struct litmus *t)
{
    static const char letters[] = "RWXADFB", *const strengths[] = {"",     ".vol", ".rlx", ".acq",
                                                                   ".rel", ".ar",  ".sc"},
                      *const scopes[] = {".cta", ".cluster", ".gpu", ".sys"};
    for (uint32_t i = 0; i < t->threads; i++) {
        if (i) buf_puts(out, " || ");
        for (uint32_t k = 0; k < t->count[i]; k++) {
            const struct litmus_op *op = &t->ops[i][k];
            const bool memory = op->kind < LITMUS_FENCE;
            buf_printf(out, "%s%c", k ? "; " : "", letters[op->kind]);
            if (op->kind != LITMUS_BARRIER) buf_puts(out, strengths[op->strength]);
            if (op->kind != LITMUS_BARRIER && op->strength > LITMUS_VOLATILE)
                buf_puts(out, scopes[op->scope]);
            if (memory) buf_printf(out, " %c", "xyzw"[op->location]);
            if (memory && op->kind != LITMUS_LOAD) print_operand(out, op);
        }
    }
}
