/* model/issue_bins.h: a histogram over time of the issue slots that a run of the timing model used.
 *
 *     struct issue_bins bins;
 *     issue_bins_begin(&bins);
 *     issue_bins_add(&bins, now, now + 1);                        // for each instruction, in cycles
 *     uint16_t share[ISSUE_COLUMNS];
 *     issue_bins_columns(&bins, cycles, schedulers, share);       // for equal parts of the run, in 1/65535
 *
 * Every estimate has this histogram, so its cost is small: one comparison and one addition for an instruction. `heddle
 * estimate` prints it on a terminal; a time lapse (model/time_lapse.h) has more detail. Bins are 2^n cycles long, at first
 * one cycle: when a run is longer than all bins, each pair of bins is merged. Times are in ticks of 1/1024 cycle
 * as in a time lapse, so the sum of the bins is exactly the TIMING_ISSUE of the lapse. */
#ifndef HEDDLE_MODEL_ISSUE_BINS_H
#define HEDDLE_MODEL_ISSUE_BINS_H

#include <stdint.h>

enum { ISSUE_COLUMNS = 40, ISSUE_BINS = 256, ISSUE_TICK_BITS = 10 };

struct issue_bins {
    uint64_t ticks[ISSUE_BINS]; /* ticks in which schedulers issued */
    unsigned shift;             /* a bin has 2^shift ticks */
};

void issue_bins_begin(struct issue_bins *b);
/* Adds a span that covers several bins, or ends behind the last one. */
void issue_bins_add_span(struct issue_bins *b, uint64_t from, uint64_t to);

static inline uint64_t issue_bins_tick(double cycles)
{
    return (uint64_t)(cycles * (1 << ISSUE_TICK_BITS) + 0.5);
}

/* Adds the span in which a scheduler issued, from cycle `begin` to `end`. */
static inline void issue_bins_add(struct issue_bins *b, double begin, double end)
{
    const uint64_t from = issue_bins_tick(begin), to = issue_bins_tick(end), bin = from >> b->shift;
    if (bin == to >> b->shift && bin < ISSUE_BINS) b->ticks[bin] += to - from;
    else issue_bins_add_span(b, from, to);
}

/* Computes the columns. `cycles`: length of the run; `schedulers`: number over all its SMs. A bin that overlaps two columns
 * is divided by time. */
void issue_bins_columns(const struct issue_bins *b, double cycles, uint32_t schedulers,
                        uint16_t share[ISSUE_COLUMNS]);

#endif
