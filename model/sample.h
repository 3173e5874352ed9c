/* model/sample.h: chooses the SMs of a trace that the timing model executes, and the part of the launch that they stand for.
 *
 *     struct sample s;
 *     sample_take(counts, counts->trace, instructions, &machine, false, &s);
 *     timing_run_launch(&s.trace, &machine, &native, &s.share, slots, l1_bytes, &t);
 *     cycles = t.cycles * s.scale;
 *     sample_free(&s);
 *
 * The model takes about ten times as long for a warp instruction as the emulator takes to count it. So it executes only
 * some of the traced SMs: the one whose warp may end last, the one with the busiest scheduler, and so many others that the
 * mean work of the chosen SMs is that of all SMs. SMs that share a port of the network are chosen together.
 *
 * The chosen SMs get the part of L2 and DRAM that corresponds to their part of the requests: fewer slices and
 * channels of full speed. If SMs access the same lines, so that some slices get many more requests than others, the model
 * has all slices at a lower speed.
 *
 * The model executes all traced SMs if they depend on each other: under an order, which has turns and flushes; with
 * compare-and-swaps, or exchanges in polling kernels, since warps compete for locks; with loads that poll for stores of
 * other SMs (model/timing_poll.c); on GPUs that do not hash addresses over channels; if the memory traffic of SMs differs
 * much; if atomics queue in one slice, and the SMs' numbers of atomics differ; or if the SMs' numbers of instructions
 * differ and only a part of the SMs was traced. */
#ifndef HEDDLE_MODEL_SAMPLE_H
#define HEDDLE_MODEL_SAMPLE_H

#include "emu/trace.h"
#include "model/timing.h"

struct timing_machine;
struct emu_counts;

struct sample {
    /* The trace of the chosen SMs. It points into the launch's trace, except for its list of CTAs. */
    struct emu_trace trace;
    double scale; /* warp instructions of the launch / those that were traced */
    double busy;  /* mean work of all SMs / mean work of the chosen ones; at most 1 */
    struct timing_share share;
    double *crowds; /* the memory of share.crowds */
    const struct trace_cta **list;
};

/* Makes a sample of trace `t` of a launch with `all` warp instructions. `whole`: chooses all traced SMs. */
void sample_take(const struct emu_counts *c, const struct emu_trace *t, double all,
                 const struct timing_machine *m, bool whole, struct sample *s);
void sample_free(struct sample *s);

#endif
