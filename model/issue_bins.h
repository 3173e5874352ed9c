/* model/issue_bins.h: the share of issue slots that a run of the timing model used, over time, in few columns.
 *
 *     struct issue_bins bins;
 *     issue_bins_begin(&bins);
 *     issue_bins_add(&bins, now, now + 1);                        // each instruction: cycles
 *     uint16_t share[ISSUE_COLUMNS];
 *     issue_bins_columns(&bins, cycles, schedulers, share);       // of equal parts of the run, in 1/65535
 *
 * Every estimate has it, so it must cost little: one comparison and one addition for an instruction. `heddle estimate`
 * draws it on a terminal; model/time_lapse.h has the details, for those who ask for them. Bins are 2^n cycles long, from
 * one cycle on: when a run is longer than all of them, each pair becomes one. Times are in ticks of 1/1024 of a cycle
 * as in a time lapse, so that the sum of the bins is exactly what a lapse has as TIMING_ISSUE. */
#ifndef HEDDLE_MODEL_ISSUE_BINS_H
#define HEDDLE_MODEL_ISSUE_BINS_H

#include <stdint.h>

enum { ISSUE_COLUMNS = 40, ISSUE_BINS = 256, ISSUE_TICK_BITS = 10 };

struct issue_bins {
    uint64_t ticks[ISSUE_BINS]; /* in which schedulers issued */
    unsigned shift;             /* a bin has 2^shift ticks */
};

void issue_bins_begin(struct issue_bins *b);
/* A span that is in several bins, or behind the last. */
void issue_bins_add_span(struct issue_bins *b, uint64_t from, uint64_t to);

static inline uint64_t issue_bins_tick(double cycles)
{
    return (uint64_t)(cycles * (1 << ISSUE_TICK_BITS) + 0.5);
}

/* A scheduler issued from cycle `begin` to `end`. */
static inline void issue_bins_add(struct issue_bins *b, double begin, double end)
{
    const uint64_t from = issue_bins_tick(begin), to = issue_bins_tick(end), bin = from >> b->shift;
    if (bin == to >> b->shift && bin < ISSUE_BINS) b->ticks[bin] += to - from;
    else issue_bins_add_span(b, from, to);
}

/* `cycles`: of the run; `schedulers`: of all its SMs. A bin that lies in two columns is divided by time. */
void issue_bins_columns(const struct issue_bins *b, double cycles, uint32_t schedulers,
                        uint16_t share[ISSUE_COLUMNS]);

#endif
