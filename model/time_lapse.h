/* model/time_lapse.h: what a run of the timing model did over time.
 *
 *     struct time_lapse lapse = {.interval = 0};                 // 0: chosen by the length of the run
 *     launch_estimate_lapse(counts, false, &lapse, &whole, &estimate);
 *     for (uint32_t i = 0; i < lapse.intervals; i++)
 *         printf("%.0f %llu\n", i * lapse.interval, time_lapse_sm(&lapse, i, 0)[LAPSE_ISSUED] / LAPSE_TICKS);
 *     time_lapse_free(&lapse);
 *
 * Time is divided into intervals of equal length, in cycles of the SM's clock. Each interval has a row of numbers: for
 * each SM what its schedulers did (enum timing_part) and what its L1 was asked, for each L2 slice and DRAM channel the
 * sectors, for each instruction how often it was issued, and how many of all instructions had how many active lanes.
 * Beside the rows are the CTAs with begin and end, and the modes of GPUDet and DAB. This is the data of AerialVision (Ariel et al., "Visualizing Complex Dynamics in Many-Core
 * Accelerator Architectures", ISPASS 2010), which Jooybar's thesis uses in figures 5.1 to 5.4.
 *
 * Exactness: times are in ticks, 1/1024 of a cycle. A span between two times is the difference of their ticks, so the
 * sum of all parts of an SM is exactly schedulers x tick(end of the run), whatever the interval. Counts are in the same
 * unit: where an instruction of a trace stands for several (emu/trace.h, windows), it counts for 1024 times as many, as
 * do its sectors.
 *
 * Memory: with interval 0 the interval begins at what the longest warp is thought to need (time_lapse_is_coarse says that it
 * needed less); when there are more than LAPSE_AUTO_INTERVALS rows, each pair of rows becomes one and the interval
 * doubles. An interval that was asked for is kept while the rows take less
 * than LAPSE_MOST_BYTES, and doubled after that (`coarser`).
 *
 * Active lanes are those of the block, before guards, as in emu_events.thread_instructions. A file of a version before 5 has
 * none: `lanes` is false, and the columns of lanes are 0.
 *
 * What it does not have: L2 requests of GPUDet's commits and DAB's flushes by slice. Requests reach a resource in the order of their issue (model/timing_internal.h), so a
 * sector counts in the interval in which the model starts to serve it.
 *
 * Off (no time_lapse is given) it costs one comparison for each issue and access. */
#ifndef HEDDLE_MODEL_TIME_LAPSE_H
#define HEDDLE_MODEL_TIME_LAPSE_H

#include "model/timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LAPSE_TICKS = 1024 /* of a cycle */, LAPSE_AUTO_INTERVALS = 1000 };
#define LAPSE_MOST_BYTES ((size_t)512 << 20)

/* Columns of an SM: first the ticks of its schedulers by enum timing_part, then: */
enum lapse_sm_column {
    LAPSE_ISSUED = TIMING_PARTS, /* warp instructions, times LAPSE_TICKS */
    LAPSE_THREADS,               /* thread instructions: their active lanes, times LAPSE_TICKS */
    LAPSE_L1_HITS,               /* sectors of loads, times LAPSE_TICKS */
    LAPSE_L1_MISSES,
    LAPSE_WARP_TICKS, /* ticks of resident warps: divided by the interval, how many were resident */
    LAPSE_SM_COLUMNS
};
enum lapse_slice_column {
    LAPSE_L2_SECTORS, /* of loads and stores; requests of atomics; times LAPSE_TICKS */
    LAPSE_L2_MISSES,  /* sectors that came from DRAM */
    LAPSE_L2_WAITED, /* ticks that requests waited for the slice: by time, the length of its queue */
    LAPSE_SLICE_COLUMNS
};

/* Of all SMs: warp instructions with 1 to 4 active lanes, 5 to 8, ... 29 to 32, times LAPSE_TICKS. */
enum { LAPSE_LANE_BINS = 8, LAPSE_BIN_LANES = 32 / LAPSE_LANE_BINS };

enum lapse_mode { LAPSE_PARALLEL, LAPSE_COMMIT, LAPSE_SERIAL, LAPSE_FLUSH, LAPSE_MODES };
const char *lapse_mode_name(enum lapse_mode m); /* "commit" */

struct lapse_cta {
    uint32_t linear, sm, slot; /* sm: index in the lapse */
    uint32_t warps;
    double begin, end; /* cycles; end < begin: it did not end */
};

struct lapse_span {   /* of a mode */
    uint8_t mode;     /* enum lapse_mode */
    uint32_t sm, sms; /* the first SM, and how many */
    double begin, end;
};

/* An issue of a warp: it waited for `part` from its issue before, or the begin of its CTA, until `ready`; then for the
 * unit until `begin`. Cycles. */
struct lapse_issue {
    uint32_t cta, instruction; /* index in ctas; of emu_counts.instructions */
    uint16_t warp;             /* of the CTA */
    uint8_t part;              /* enum timing_part */
    double ready, begin, end;
};

struct time_lapse {
    double interval; /* cycles; 0 before the run: chosen */
    bool coarser;    /* than was asked for */
    bool lanes;      /* the trace says how many are active */
    uint32_t intervals;
    uint32_t sms, schedulers, slices, channels, instructions; /* schedulers: of an SM */
    uint32_t *sm_names;                                       /* number on the GPU of each SM */
    double cycles;         /* of the model's run, which may be of a part of the launch */
    uint64_t *rows;        /* `intervals` of `width` numbers */
    size_t width, row_cap; /* row_cap: rows for which there is memory */
    size_t space;          /* numbers for which `rows` has memory, also from a run before */
    uint64_t *
        line_ticks; /* by instruction (emu_counts.instructions) and part: what its warp waited for before it */
    struct lapse_cta *ctas; /* in the order of their begin */
    size_t cta_count, cta_cap;
    struct lapse_span *spans;
    size_t span_count, span_cap, spans_left_out;
    uint32_t *slot_cta;         /* of the run: by slot, its CTA and one */
    bool fixed;                 /* an interval was asked for */
    bool from_one;              /* set before the run: the interval begins at one cycle */
    double start;               /* where it began */
    bool wants_issues;          /* before the run: also each issue of each warp */
    struct lapse_issue *issues; /* each warp's in its order; the first LAPSE_MOST_ISSUES */
    size_t issue_count, issue_cap;
    uint64_t issues_left_out;
};

enum { LAPSE_MOST_SPANS = 1 << 20, LAPSE_MOST_ISSUES = 1 << 20 };

/* ---- reading ------------------------------------------------------------------------------------------------ */

/* A shorter interval would have done: the run is to be made again, with `from_one`. */
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
/* Frees what a run filled in. */
void time_lapse_free(struct time_lapse *l);
/* The same, but the memory of the rows stays for the next run: to get megabytes anew costs more than a small run. */
void time_lapse_clear(struct time_lapse *l);

/* ---- recording: the timing model alone. Each is called only with a lapse. --------------------------------------- */

struct timing;
void time_lapse_begin(struct timing *c);
/* A scheduler waited from `last` for what the warp waits for, then `taken` cycles until `now` for the unit, and issues
 * the warp's next instruction. */
struct timing_warp;
void time_lapse_issue(struct timing *c, uint32_t scheduler, const struct timing_warp *w,
                      double last, double taken, double now);
/* A scheduler did that from `begin` to `end`; nothing if end <= begin. */
void time_lapse_part(struct timing *c, uint32_t scheduler, enum timing_part part, double begin,
                     double end);
void time_lapse_l1(struct timing *c, uint32_t sm, uint32_t hits, uint32_t misses, double now);
/* A request came to the slice at `sent`, which began with it at `begin`. */
void time_lapse_l2(struct timing *c, uint32_t slice, uint32_t sectors, uint32_t misses, double sent,
                   double begin);
void time_lapse_dram(struct timing *c, uint32_t channel, uint32_t sectors, double now);
void time_lapse_cta_begin(struct timing *c, uint32_t slot, uint32_t number, double now);
void time_lapse_cta_end(struct timing *c, uint32_t slot, double now);
void time_lapse_mode(struct timing *c, enum lapse_mode mode, uint32_t sm, uint32_t sms,
                     double begin, double end);
void time_lapse_end(struct timing *c);

#endif
