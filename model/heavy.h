/* model/heavy.h: the CTAs of a large grid that execute much more than the others.
 *
 *     struct heavy h;
 *     heavy_take(counts, &h);
 *     ordinary = cycles of the grid without them (h.rest, h.rest_instructions);
 *     alone = cycles of h.trace, an SM for each CTA;
 *     cycles = fmax(ordinary, heavy_begin(&h, counts, ordinary) + alone);
 *     heavy_free(&h);
 *
 * Of a large grid the timing model executes some SMs, and multiplies by the work of all. That is wrong for a few CTAs
 * that last longer than all others together: they run beside the others, and nothing can make them shorter. The trace
 * has them (emu/trace.h, `heavy`). A CTA is heavy if its longest warp executes TIMES as many instructions as the mean
 * warp. If there are more than the trace keeps, the sample has some of them, too, and those that are kept still bound
 * the launch from below. */
#ifndef HEDDLE_MODEL_HEAVY_H
#define HEDDLE_MODEL_HEAVY_H

#include "emu/trace.h"

struct emu_counts;

struct heavy {
    struct emu_trace trace;   /* the heavy CTAs; cta_count is 0 if there are none */
    struct emu_trace rest;    /* the launch's trace without them */
    double rest_instructions; /* warp instructions of the launch without theirs */
    uint32_t longest;         /* linear index of the CTA with the longest warp */
    const struct trace_cta **lists[2];
};

void heavy_take(const struct emu_counts *c, struct heavy *h);
/* When the CTA with the longest warp begins, if the other CTAs take so many cycles: CTAs that find no free slot begin
 * one after the other, at equal distances. */
double heavy_begin(const struct heavy *h, const struct emu_counts *c, double ordinary);
void heavy_free(struct heavy *h);

#endif
