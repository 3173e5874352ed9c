/* model/time_lapse.h: a time lapse: the activity of a run of the timing model over time.
 *
 *     struct time_lapse lapse = {.interval = 0};                 // 0: follows from the length of the run
 *     launch_estimate_lapse(counts, false, &lapse, &whole, &estimate);
 *     for (uint32_t i = 0; i < lapse.intervals; i++)
 *         printf("%.0f %llu\n", i * lapse.interval, time_lapse_sm(&lapse, i, 0)[LAPSE_ISSUED] / LAPSE_TICKS);
 *     time_lapse_free(&lapse);
 *
 * Time is divided into intervals of equal length, in cycles of the SM's clock. Each interval has a row of numbers: for
 * each SM the cycles of its schedulers by cause (enum timing_part) and the sectors of its L1; for each L2 slice and DRAM
 * channel the sectors; for each instruction the number of issues; and a histogram of active lanes over all instructions.
 * Besides the rows there are the CTAs with begin and end, and the modes of GPUDet and DAB. These are the data of
 * AerialVision (Ariel et al., "Visualizing Complex Dynamics in Many-Core Accelerator Architectures", ISPASS 2010), which
 * Jooybar's thesis uses in figures 5.1 to 5.4.
 *
 * Exactness: times are in ticks of 1/1024 cycle. The length of a span is the difference of its ticks, so the sum of all
 * parts of an SM is exactly schedulers x tick(end of the run), for any interval. Counts are in units of 1/1024: if an
 * instruction of a trace stands for several (emu/trace.h, windows), it and its sectors count as 1024 times that number.
 *
 * Memory: with interval 0 the first interval follows from the estimated length of the longest warp (time_lapse_is_coarse()
 * says that the run was shorter). When there are more than LAPSE_AUTO_INTERVALS rows, each pair of rows is merged and the
 * interval doubles. A requested interval is kept while the rows take less than LAPSE_MOST_BYTES, and doubled after that
 * (`coarser`).
 *
 * Active lanes are those of the block, before guards, as in emu_events.thread_instructions. Trace files before version 5
 * have none: `lanes` is false, and the columns of lanes are 0.
 *
 * Absent: the L2 requests of GPUDet's commits and DAB's flushes by slice. Requests reach a resource in the order of their
 * issue (model/timing_internal.h), so a sector counts in the interval in which the model starts to serve it.
 *
 * Without a time lapse the cost is one comparison for each issue and access. */
#ifndef HEDDLE_MODEL_TIME_LAPSE_H
#define HEDDLE_MODEL_TIME_LAPSE_H

#include "model/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAPSE_TICKS = 1024 /* per cycle */, LAPSE_AUTO_INTERVALS = 1000 };
#define LAPSE_MOST_BYTES ((size_t)512 << 20)

/* Columns of an SM. The first TIMING_PARTS columns are the ticks of its schedulers by enum timing_part. */
enum lapse_sm_column {
    LAPSE_ISSUED = TIMING_PARTS, /* warp instructions, times LAPSE_TICKS */
    LAPSE_THREADS,               /* active lanes of these, times LAPSE_TICKS */
    LAPSE_L1_HITS,               /* sectors of loads that hit, times LAPSE_TICKS */
    LAPSE_L1_MISSES,
    LAPSE_WARP_TICKS, /* sum of ticks of resident warps; divided by the interval: their mean number */
    LAPSE_SM_COLUMNS
};
enum lapse_slice_column {
    LAPSE_L2_SECTORS, /* of loads and stores; requests of atomics; times LAPSE_TICKS */
    LAPSE_L2_MISSES,  /* sectors that came from DRAM */
    LAPSE_L2_WAITED, /* sum of ticks that requests waited; divided by time: the length of the queue */
    LAPSE_SLICE_COLUMNS
};

/* Columns for all SMs: warp instructions with 1 to 4 active lanes, 5 to 8, ... 29 to 32, times LAPSE_TICKS. */
enum { LAPSE_LANE_BINS = 8, LAPSE_BIN_LANES = 32 / LAPSE_LANE_BINS };

enum lapse_mode { LAPSE_PARALLEL, LAPSE_COMMIT, LAPSE_SERIAL, LAPSE_FLUSH, LAPSE_MODES };
const char *lapse_mode_name(enum lapse_mode m); /* "commit" */

struct lapse_cta {
    uint32_t linear, sm, slot; /* linear index in the grid; sm: index of the SM in the lapse */
    uint32_t warps;
    double begin, end; /* cycles; end < begin: the CTA did not end */
};

struct lapse_span {   /* a span of time in which SMs are in one mode */
    uint8_t mode;     /* enum lapse_mode */
    uint32_t sm, sms; /* the first SM, and the number of SMs */
    double begin, end;
};

/* An issue of a warp. From its previous issue, or the begin of its CTA, until `ready` the warp waited for `part`; then for
 * the unit until `begin`. Times are in cycles. */
struct lapse_issue {
    uint32_t cta, instruction; /* index in ctas; index in emu_counts.instructions */
    uint16_t warp;             /* number of the warp in the CTA */
    uint8_t part;              /* enum timing_part */
    double ready, begin, end;
};

struct time_lapse {
    double interval; /* length in cycles; 0 before the run: the run chooses it */
    bool coarser;    /* the interval is longer than the requested one */
    bool lanes;      /* the trace has the numbers of active lanes */
    uint32_t intervals;
    uint32_t sms, schedulers, slices, channels, instructions; /* schedulers: of an SM */
    uint32_t *sm_names;    /* for each SM its number on the GPU */
    double cycles;         /* length of the model's run, which may be a part of the launch */
    uint64_t *rows;        /* `intervals` rows of `width` numbers */
    size_t width, row_cap; /* row_cap: allocated rows */
    size_t space;          /* allocated numbers, maybe from a previous run */
    /* For each of emu_counts.instructions and each part: ticks that warps waited before the instruction. */
    uint64_t *line_ticks;
    struct lapse_cta *ctas; /* in the order of their begin */
    size_t cta_count, cta_cap;
    struct lapse_span *spans;
    size_t span_count, span_cap, spans_left_out;
    uint32_t *slot_cta;         /* during the run: for each slot the index of its CTA, plus 1 */
    bool fixed;                 /* the caller requested an interval */
    bool from_one;              /* set before the run: the first interval is one cycle */
    double start;               /* the first interval in cycles */
    bool wants_issues;          /* set before the run: record each issue of each warp */
    struct lapse_issue *issues; /* the first LAPSE_MOST_ISSUES; those of a warp are in order */
    size_t issue_count, issue_cap;
    uint64_t issues_left_out;
};

enum { LAPSE_MOST_SPANS = 1 << 20, LAPSE_MOST_ISSUES = 1 << 20 };

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* Whether the first interval was too long: the caller should repeat the run with `from_one`. */
static inline bool time_lapse_is_coarse(const struct time_lapse *l)
{
    return !l->fixed && l->start > 1 && l->interval <= l->start &&
           l->intervals <= LAPSE_AUTO_INTERVALS / 2;
}
static inline const uint64_t *time_lapse_sm(const struct time_lapse *l, uint32_t interval,
                                            uint32_t sm)
{
    return l->rows + interval * l->width + (size_t)sm * LAPSE_SM_COLUMNS;
}
static inline const uint64_t *time_lapse_slice(const struct time_lapse *l, uint32_t interval,
                                               uint32_t slice)
{
    return l->rows + interval * l->width + (size_t)l->sms * LAPSE_SM_COLUMNS +
           (size_t)slice * LAPSE_SLICE_COLUMNS;
}
/* Sectors of 32 bytes by channel, times LAPSE_TICKS. */
static inline const uint64_t *time_lapse_channels(const struct time_lapse *l, uint32_t interval)
{
    return time_lapse_slice(l, interval, l->slices);
}
/* Issues by instruction, in the order of emu_counts.instructions, times LAPSE_TICKS. */
static inline const uint64_t *time_lapse_issues(const struct time_lapse *l, uint32_t interval)
{
    return time_lapse_channels(l, interval) + l->channels;
}
/* Issues by active lanes: LAPSE_LANE_BINS numbers. */
static inline const uint64_t *time_lapse_lanes(const struct time_lapse *l, uint32_t interval)
{
    return time_lapse_issues(l, interval) + l->instructions;
}
/* Frees the memory of a run. */
void time_lapse_free(struct time_lapse *l);
/* The same, but keeps the memory of the rows for the next run: allocating megabytes costs more than a small run. */
void time_lapse_clear(struct time_lapse *l);

/* ---- recording: for the timing model, only with a lapse -------------------------------------------------------- */

struct timing;
void time_lapse_begin(struct timing *c);
/* From `last` on a scheduler waited for the cause that the warp waits for, then `taken` cycles until `now` for the unit, and
 * now issues the warp's next instruction. */
struct timing_warp;
void time_lapse_issue(struct timing *c, uint32_t scheduler, const struct timing_warp *w,
                      double last, double taken, double now);
/* A scheduler spent the time from `begin` to `end` on `part`; no effect if end <= begin. */
void time_lapse_part(struct timing *c, uint32_t scheduler, enum timing_part part, double begin,
                     double end);
void time_lapse_l1(struct timing *c, uint32_t sm, uint32_t hits, uint32_t misses, double now);
/* A request arrived at the slice at `sent`, and the slice began to serve it at `begin`. */
void time_lapse_l2(struct timing *c, uint32_t slice, uint32_t sectors, uint32_t misses, double sent,
                   double begin);
void time_lapse_dram(struct timing *c, uint32_t channel, uint32_t sectors, double now);
void time_lapse_cta_begin(struct timing *c, uint32_t slot, uint32_t number, double now);
void time_lapse_cta_end(struct timing *c, uint32_t slot, double now);
void time_lapse_mode(struct timing *c, enum lapse_mode mode, uint32_t sm, uint32_t sms,
                     double begin, double end);
void time_lapse_end(struct timing *c);

#endif
