/* model/launch_estimate.h: the estimate of one launch: how long it takes on a GPU, why, and how sure that is.
 *
 *     struct launch_estimate t;
 *     if (launch_estimate_of(report->counts, &t))                 // emu_config.trace was on
 *         printf("%.0f cycles [%.0f, %.0f], most of them: %s\n", t.cycles, t.low, t.high,
 *                timing_part_name(t.bound));
 *
 * `struct launch_estimate` is the one record of an estimate. launch_estimate_of makes it from the counts and the
 * trace of a launch; a cache keeps it for launches that are alike (model/estimate_cache.h); the stream of events
 * carries it from the process that ran the program to the one that prints (session/event_stream.h); `heddle
 * estimate`, `heddle compare` and heddle_device_estimate (include/heddle.h) print and copy it, and
 * launch_estimate_add sums it.
 *
 * Steps of launch_estimate_of: take the GPU's machine (model/machine.h); choose the SMs that stand for all
 * (model/sample.h); reorder instructions as an assembler does (model/schedule.h); run the timing model on them
 * (model/timing.h); scale to all SMs; add time that DRAM needs beyond that; add the roofline, the interval and the
 * warnings. The model reads counts and traces, and never the memory of the guest. */
#ifndef HEDDLE_MODEL_LAUNCH_ESTIMATE_H
#define HEDDLE_MODEL_LAUNCH_ESTIMATE_H

#include "emu/counts.h"
#include "model/roofline.h"
#include "model/timing.h"
#include "model/timing_features.h"

enum { LAUNCH_NAME = 256 };

enum launch_warning { /* bits */
                      LAUNCH_UNMEASURED =
                          1, /* no cycles of the GPU were measured: latencies are its makers' */
                      LAUNCH_PARTLY = 2,   /* a part was traced, the rest is taken to be alike */
                      LAUNCH_ORDER = 4,    /* gpudet, dab */
                      LAUNCH_CHANGED = 8,  /* a file's GPU has the name of one that was measured */
                      LAUNCH_TWIN = 16,    /* another board with the same chip was measured */
                      LAUNCH_OUTSIDE = 32, /* << enum timing_feature: beyond what was measured */
                      LAUNCH_CUT = LAUNCH_OUTSIDE
                                   << TIMING_FEATURES, /* it faulted or was stopped */
                      /* warps wait in loops for others, or for locks */
                      LAUNCH_WAITS = LAUNCH_OUTSIDE << (TIMING_FEATURES + 1),
                      /* a kernel launched grids (model/nested_grids.h) */
                      LAUNCH_NESTED = LAUNCH_OUTSIDE << (TIMING_FEATURES + 2),
                      /* SMs store to the same sectors (model/shared_stores.h) */
                      LAUNCH_SHARED_STORES = LAUNCH_OUTSIDE << (TIMING_FEATURES + 3),
                      LAUNCH_HOPS = LAUNCH_OUTSIDE << (TIMING_FEATURES + 4), /* hops take time */
                      LAUNCH_WARNINGS = 10 + TIMING_FEATURES
};
const char *launch_warning_text(unsigned bit); /* of one that is set */

struct launch_estimate;
/* The launch did not reach its end: its estimate is of what was executed, and has no interval. */
void launch_estimate_cut(struct launch_estimate *t);

struct launch_estimate {
    /* what was launched */
    char kernel[LAUNCH_NAME];
    char gpu[64];                 /* its name, as of `heddle gpus` */
    uint32_t grid[3], block[3];   /* CTAs of the grid, threads of a CTA */
    uint32_t ctas, warps;         /* resident on an SM at once */
    uint64_t warp_instructions;   /* issued; of the whole GPU */
    uint64_t thread_instructions; /* those, by active lanes */
    double dram_bytes;            /* read and written */

    /* how long it takes */
    double cycles;                /* of the SMs' clock (clock.core of the GPU) */
    double seconds;               /* cycles at that clock */
    double part[TIMING_PARTS];    /* cycles that the schedulers spent so; their sum is `cycles` */
    double by_unit[TIMING_UNITS]; /* cycles; of TIMING_ISSUE and TIMING_UNIT together */
    enum timing_part bound;       /* the part that dominates: launch_bound */
    double ipc;                   /* thread instructions per cycle of the whole GPU */
    struct roofline roofline;
    /* Share of issue slots that were used, in equal parts of the time that the model ran, in 1/65535. Of a sum: 0. */
    uint16_t issue_share[ISSUE_COLUMNS];

    /* Where a kernel has launched grids (model/nested_grids.h), else 0. Cycles of these count from their launch on. */
    double begins; /* cycles from the host's launch to the first instruction */
    double
        overlap; /* cycles that others account for: the launch by the host takes the sum of cycles - overlap */

    /* How sure it is. `low` and `high` are cycles; 8 of 10 launches lay so around their estimates: those that were
     * measured, whose programs were left out of the fit; of a GPU of which none were, those of other GPUs by their
     * configuration alone. The factors are squared for a launch that is unlike the measured ones. 0: unknown, under
     * an order. */
    double low, high;
    unsigned warnings; /* bits of enum launch_warning */

    /* Where timing_use_hops() asks for them, else 0: sectors of global memory that the warps of the model's run accessed, and their hops
     * together. */
    double hop_sectors, hops;
};

/* Cycles of a grid that was traced, on that machine. `all`: all that was traced is carried out, else some SMs may
 * stand for others (model/sample.h). `t` may be NULL. */
double launch_cycles(const struct emu_counts *c, const struct timing_machine *m, bool all,
                     struct timing_result *t);

/* The same as launch_estimate_of prints, on that machine, without interval and warnings. */
bool launch_estimate_on(const struct emu_counts *c, const struct timing_machine *m,
                        struct launch_estimate *out);

/* Of one grid (not of counts->next). false: it was not traced. */
bool launch_estimate_of(const struct emu_counts *c, struct launch_estimate *out);

/* The same, with what the model did over time. The lapse is of the model's run, which stands for more than itself
 * where SMs were sampled or traces cut: `whole.scale` says for how much. `all`: all that was traced is carried out,
 * which may give other cycles than launch_estimate_of. The caller frees the lapse (time_lapse_free). */
struct lapse_whole {
    double scale;      /* cycles of the estimate = lapse.cycles * scale + drain */
    double drain;      /* cycles after the run in which DRAM takes what was written */
    uint32_t sms, ran; /* SMs that the launch has; whose work is in the lapse */
};
struct time_lapse;
bool launch_estimate_lapse(const struct emu_counts *c, bool all, struct time_lapse *lapse,
                           struct lapse_whole *whole, struct launch_estimate *out);

/* The largest part but for TIMING_IDLE, unless that is more than half. */
enum timing_part launch_bound(const struct launch_estimate *t);

const char *timing_part_name(enum timing_part p); /* "dram" */
const char *timing_unit_name(enum timing_unit u); /* "fp32" */

/* Seconds that the grid adds to the launch by the host. */
static inline double launch_seconds_added(const struct launch_estimate *t)
{
    return t->seconds * (t->cycles - t->overlap) / t->cycles;
}

/* Hops of a sector in the mean; 0: none were counted. */
static inline double launch_mean_hops(const struct launch_estimate *t)
{
    return t->hop_sectors > 0 ? t->hops / t->hop_sectors : 0;
}

/* Adds launches: cycles without overlap, seconds, parts, instructions, bytes, interval and warnings are sums or unions; the rest
 * follows from these. kernel, grid, block and residents of the sum stay what they are. */
void launch_estimate_add(struct launch_estimate *sum, const struct launch_estimate *t,
                         const struct emu_gpu *g);

#endif
