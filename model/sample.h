/* model/sample.h: which SMs of a trace the timing model executes, and what they stand for.
 *
 *     struct sample s;
 *     sample_take(counts, counts->trace, instructions, &machine, false, &s);
 *     timing_run_launch(&s.trace, &machine, &native, &s.share, slots, l1_bytes, &t);
 *     cycles = t.cycles * s.scale;
 *     sample_free(&s);
 *
 * The model takes about ten times as long for a warp instruction as the emulator takes to count it. So it executes a
 * few of the traced SMs: the one whose warp may end last, the one with the busiest scheduler, and as many neighbours
 * that the chosen ones have as much work as the average SM. SMs that share a port of the network are chosen together.
 *
 * The chosen SMs get the part of L2 and DRAM that corresponds to their part of the requests: fewer slices and
 * channels of the full speed. Where SMs ask for the same lines, so that some slices get many more requests than
 * others, all slices are there at a lower speed.
 *
 * All traced SMs are executed where they depend on each other: under an order, which has turns and flushes; with
 * compare-and-swaps, or exchanges of kernels that poll, since warps compete for locks; of kernels whose loads poll for stores of
 * others (model/timing_poll.c); on GPUs that do not hash addresses over channels; where SMs ask for very different amounts of
 * memory; where atomics crowd in a slice, and not all SMs make as many; or where SMs execute different numbers of instructions
 * while only a part of them was traced. */
#ifndef HEDDLE_MODEL_SAMPLE_H
#define HEDDLE_MODEL_SAMPLE_H

#include "emu/trace.h"
#include "model/timing.h"

struct timing_machine;
struct emu_counts;

struct sample {
    struct emu_trace
        trace; /* of the chosen SMs; it points into the launch's trace, but for its list of CTAs */
    double scale; /* all warp instructions / traced ones */
    double busy;  /* the average SM's work / that of the chosen ones */
    struct timing_share share;
    double *crowds; /* what share.crowds points to */
    const struct trace_cta **list;
};

/* From a trace of the launch whose warp instructions are `all`. `whole`: chooses all traced SMs. */
void sample_take(const struct emu_counts *c, const struct emu_trace *t, double all,
                 const struct timing_machine *m, bool whole, struct sample *s);
void sample_free(struct sample *s);

#endif
