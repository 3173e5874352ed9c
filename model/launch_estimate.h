/* model/launch_estimate.h: the estimate of one launch: its time on a GPU, the causes of that time, and its uncertainty.
 *
 *     struct launch_estimate t;
 *     if (launch_estimate_of(report->counts, &t))                 // emu_config.trace was on
 *         printf("%.0f cycles [%.0f, %.0f], most of them: %s\n", t.cycles, t.low, t.high,
 *                timing_part_name(t.bound));
 *
 * `struct launch_estimate` is the only record of an estimate. launch_estimate_of() makes it from the counts and the
 * trace of a launch. A cache stores it for equal launches (model/estimate_cache.h). The event stream carries it from
 * the process that runs the program to the process that prints (session/event_stream.h). `heddle estimate`, `heddle
 * compare` and heddle_device_estimate() (include/heddle.h) print and copy it, and launch_estimate_add() sums it.
 *
 * Steps of launch_estimate_of(): take the machine of the GPU (model/machine.h); choose the SMs that stand for all
 * (model/sample.h); reorder instructions as an assembler does (model/schedule.h); run the timing model on them
 * (model/timing.h); scale to all SMs; add the time that DRAM needs afterwards; add the roofline, the interval and the
 * warnings. The model reads counts and traces, but no guest memory. */
#ifndef HEDDLE_MODEL_LAUNCH_ESTIMATE_H
#define HEDDLE_MODEL_LAUNCH_ESTIMATE_H

#include "emu/counts.h"
#include "model/roofline.h"
#include "model/timing.h"
#include "model/timing_features.h"

enum { LAUNCH_NAME = 256 };

enum launch_warning { /* bits */
                      LAUNCH_UNMEASURED =
                          1, /* no measured cycles of this GPU: latencies are those of its configuration */
                      LAUNCH_PARTLY = 2,   /* a part was traced; the rest is assumed to be equal */
                      LAUNCH_ORDER = 4,    /* the launch ran under gpudet or dab */
                      LAUNCH_CHANGED = 8,  /* the GPU of a file has the name of a measured one */
                      LAUNCH_TWIN = 16,    /* another board with the same chip was measured */
                      LAUNCH_OUTSIDE = 32, /* << enum timing_feature: outside the measured range */
                      LAUNCH_CUT = LAUNCH_OUTSIDE
                                   << TIMING_FEATURES, /* the launch faulted or was stopped */
                      /* warps busy-wait for other warps, or for locks */
                      LAUNCH_WAITS = LAUNCH_OUTSIDE << (TIMING_FEATURES + 1),
                      /* a kernel launched grids (model/nested_grids.h) */
                      LAUNCH_NESTED = LAUNCH_OUTSIDE << (TIMING_FEATURES + 2),
                      /* several SMs store to the same sectors (model/shared_stores.h) */
                      LAUNCH_SHARED_STORES = LAUNCH_OUTSIDE << (TIMING_FEATURES + 3),
                      LAUNCH_HOPS = LAUNCH_OUTSIDE << (TIMING_FEATURES + 4), /* hops take time */
                      LAUNCH_WARNINGS = 10 + TIMING_FEATURES
};
const char *launch_warning_text(unsigned bit); /* the text of one bit */

struct launch_estimate;
/* Marks the estimate of a launch that did not end: it covers the executed part, and has no interval. */
void launch_estimate_cut(struct launch_estimate *t);

struct launch_estimate {
    /* The launch. */
    char kernel[LAUNCH_NAME];
    char gpu[64];                 /* name of the GPU, as in `heddle gpus` */
    uint32_t grid[3], block[3];   /* CTAs of the grid, threads of a CTA */
    uint32_t ctas, warps;         /* CTAs and warps that can be resident on an SM */
    uint64_t warp_instructions;   /* issued by the whole GPU */
    uint64_t thread_instructions; /* sum of their active lanes */
    double dram_bytes;            /* bytes read from and written to DRAM */

    /* Its time. */
    double cycles;                /* of the SMs' clock (clock.core of the GPU) */
    double seconds;               /* cycles at that clock */
    double part[TIMING_PARTS];    /* cycles of schedulers by cause; their sum is `cycles` */
    double by_unit[TIMING_UNITS]; /* cycles of TIMING_ISSUE and TIMING_UNIT, by unit */
    enum timing_part bound;       /* the part that dominates: launch_bound */
    double ipc;                   /* thread instructions per cycle of the whole GPU */
    struct roofline roofline;
    /* Share of used issue slots, in units of 1/65535, for equal parts of the model's run. In a sum of launches: 0. */
    uint16_t issue_share[ISSUE_COLUMNS];

    /* If a kernel launched grids (model/nested_grids.h), else 0. The cycles of these grids begin at their launch. */
    double begins; /* cycles from the host's launch to the first instruction */
    /* Cycles that are counted for other grids: the launch by the host takes the sum of cycles - overlap. */
    double overlap;

    /* Its uncertainty. `low` and `high` are cycles. 8 of 10 measured launches were within this interval around their
     * estimates, by a fit without their programs. For a GPU without measured launches the interval is that of other GPUs,
     * estimated by their configuration alone. The factors are squared for a launch that is unlike the measured ones. 0:
     * unknown, because the launch ran under an order. */
    double low, high;
    unsigned warnings; /* bits of enum launch_warning */

    /* If timing_use_hops() was called, else 0: number of sectors of global memory that warps of the model's run accessed,
     * and the sum of their hops. */
    double hop_sectors, hops;
};

/* Cycles of a traced grid on a machine. `all`: the model executes all traced SMs; else some may stand for others
 * (model/sample.h). `t` may be NULL. */
double launch_cycles(const struct emu_counts *c, const struct timing_machine *m, bool all,
                     struct timing_result *t);

/* The estimate on a machine, without interval and warnings. false: the grid was not traced. */
bool launch_estimate_on(const struct emu_counts *c, const struct timing_machine *m,
                        struct launch_estimate *out);

/* The estimate of one grid (without counts->next). false: the grid was not traced. */
bool launch_estimate_of(const struct emu_counts *c, struct launch_estimate *out);

/* The same, with a time lapse of the model's run. If SMs were sampled or traces were cut, the run stands for a larger
 * launch, by the factor `whole.scale`. `all`: the model executes all traced SMs, so the cycles may differ from those of
 * launch_estimate_of(). The caller frees the lapse (time_lapse_free). */
struct lapse_whole {
    double scale;      /* cycles of the estimate = lapse.cycles * scale + drain */
    double drain;      /* cycles after the run in which DRAM writes remaining sectors */
    uint32_t sms, ran; /* number of SMs of the launch; of SMs in the lapse */
};
struct time_lapse;
bool launch_estimate_lapse(const struct emu_counts *c, bool all, struct time_lapse *lapse,
                           struct lapse_whole *whole, struct launch_estimate *out);

/* The largest part. TIMING_IDLE counts only if it is more than half of all cycles. */
enum timing_part launch_bound(const struct launch_estimate *t);

const char *timing_part_name(enum timing_part p); /* "dram" */
const char *timing_unit_name(enum timing_unit u); /* "fp32" */

/* Seconds that the grid adds to the time of the launch by the host. */
static inline double launch_seconds_added(const struct launch_estimate *t)
{
    return t->seconds * (t->cycles - t->overlap) / t->cycles;
}

/* Mean number of hops of a sector; 0: hops were not counted. */
static inline double launch_mean_hops(const struct launch_estimate *t)
{
    return t->hop_sectors > 0 ? t->hops / t->hop_sectors : 0;
}

/* Adds a launch to a sum: cycles without overlap, seconds, parts, instructions, bytes, interval and warnings are added or
 * united; other numbers are derived from these. Kernel, grid, block and resident CTAs of the sum do not change. */
void launch_estimate_add(struct launch_estimate *sum, const struct launch_estimate *t,
                         const struct emu_gpu *g);

#endif
