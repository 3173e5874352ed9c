/* emu/fidelity.h: how many executed instructions give the same bits on every GPU, and what the results of the other
 * instructions depend on.
 *
 *     struct emu_fidelity *f = emu_fidelity_new();
 *     emu_fidelity_add(f, report->counts);                       // after each launch
 *     struct emu_fidelity_line all = emu_fidelity_all(f);
 *     size_t n;
 *     const struct emu_fidelity_line *l = emu_fidelity_lines(f, &n);   // those that are not exact, the most frequent first
 *     emu_fidelity_free(f);
 *
 * An instruction is exact if its operands determine its result (ptx/accuracy.h). Whether its operands depend on an
 * instruction that is not exact is a static property; `reaches` has it within a function (ptx_flow_influence). Effects
 * of the order of execution are not covered. */
#ifndef HEDDLE_EMU_FIDELITY_H
#define HEDDLE_EMU_FIDELITY_H

#include "emu/counts.h"

/* Texts for each bit of `reaches`, in order: "control flow". */
enum { EMU_REACHES = 4 };
const char *emu_reach_name(unsigned number);

struct emu_fidelity_line {
    const char *name;   /* "ex2.approx.f32", "%clock"; NULL: all instructions */
    const char *text;   /* the freedom that the ISA leaves: "2 ulp" */
    const char *result; /* "approximate" or "left open" (ptx_accuracy_name) */
    unsigned reaches; /* what the results of these instructions may influence: enum ptx_influence */
    uint64_t warp, thread; /* instructions */
};

struct emu_fidelity;
struct emu_fidelity *emu_fidelity_new(void);
void emu_fidelity_free(struct emu_fidelity *f); /* NULL is allowed */
void emu_fidelity_add(struct emu_fidelity *f, const struct emu_counts *c);
void emu_fidelity_add_line(struct emu_fidelity *f, const struct emu_fidelity_line *l); /* copied */
/* All instructions, exact or not. */
struct emu_fidelity_line emu_fidelity_all(const struct emu_fidelity *f);
/* Valid until the next call of this or an _add function. */
const struct emu_fidelity_line *emu_fidelity_lines(struct emu_fidelity *f, size_t *count);

#endif
