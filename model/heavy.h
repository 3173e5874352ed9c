/* model/heavy.h: heavy CTAs: CTAs of a large grid that execute many more instructions than the others.
 *
 *     struct heavy h;
 *     heavy_take(counts, &h);
 *     ordinary = cycles of the grid without heavy CTAs (h.rest, h.rest_instructions);
 *     alone = cycles of h.trace, with an SM for each CTA;
 *     cycles = fmax(ordinary, heavy_begin(&h, counts, ordinary) + alone);
 *     heavy_free(&h);
 *
 * For a large grid the timing model executes some SMs, and scales the result to the work of all. That is wrong for a few
 * CTAs that last longer than all others together: they run concurrently with the others, and their length bounds the
 * launch from below. The trace has these CTAs (emu/trace.h, `heavy`). A CTA is heavy if its longest warp executes TIMES as
 * many instructions as the mean warp. If there are more heavy CTAs than the trace stores, the sample has some of them as
 * well, and the stored ones still are a lower bound. */
#ifndef HEDDLE_MODEL_HEAVY_H
#define HEDDLE_MODEL_HEAVY_H

#include "emu/trace.h"

struct emu_counts;

struct heavy {
    struct emu_trace trace;   /* the heavy CTAs; cta_count 0: none */
    struct emu_trace rest;    /* the launch's trace without them */
    double rest_instructions; /* warp instructions of the launch without theirs */
    uint32_t longest;         /* linear index of the CTA with the longest warp */
    const struct trace_cta **lists[2];
};

void heavy_take(const struct emu_counts *c, struct heavy *h);
/* The cycle in which the CTA with the longest warp begins, if the other CTAs take `ordinary` cycles: CTAs without a free
 * slot at the start are assumed to begin one after the other, at equal distances. */
double heavy_begin(const struct heavy *h, const struct emu_counts *c, double ordinary);
void heavy_free(struct heavy *h);

#endif
