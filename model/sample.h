/* model/sample.h: which SMs of a trace the clock carries out, and what they stand for.
 *
 *     struct sample s;
 *     sample_take(counts, &machine, false, &s);
 *     timing_run_ordered(&s.trace, &machine, &native, s.some ? &s.share : NULL, slots, l1_bytes, &t);
 *     cycles = t.cycles * s.scale;
 *     sample_free(&s);
 *
 * To carry out a warp instruction takes ten times as long as to count one. So of the SMs that were traced some are
 * carried out: the one whose warp may end last, the one with the busiest scheduler, and as many side by side
 * that they have as much to do as SMs have in the mean. SMs that share a port of the network are taken together.
 *
 * They have the part of L2 and DRAM that they ask of all that is asked of these: fewer slices, as fast as all are. But
 * where much more is asked of some slices than of others, as SMs ask for the same lines, all are there, and slower.
 *
 * All is carried out where time depends on all: with an order there are turns and flushes; warps fight for locks
 * (compare-and-swaps); where addresses are not hashed, the channels that a few CTAs use are not those of all; where
 * SMs ask for very different amounts of memory, it is not known which of them ends last; nor where a part of them was
 * traced and these do different amounts of anything. */
#ifndef HEDDLE_MODEL_SAMPLE_H
#define HEDDLE_MODEL_SAMPLE_H

#include "emu/trace.h"
#include "model/timing.h"

struct timing_machine;
struct emu_counts;

struct sample {
    struct emu_trace
        trace;    /* of these SMs; what it points to stays that of the launch's, but for its list */
    double scale; /* for instructions that were not traced */
    double busy;  /* how busy all SMs are, of what these are */
    bool some;    /* not all that was traced */
    struct timing_share share;
    const struct trace_cta **list;
};

/* `whole`: of all SMs, whatever they do. */
void sample_take(const struct emu_counts *c, const struct timing_machine *m, bool whole,
                 struct sample *s);
void sample_free(struct sample *s);

#endif
