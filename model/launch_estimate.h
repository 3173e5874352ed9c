/* model/launch_estimate.h: how long a launch takes, why, and how sure that is.
 *
 *     struct launch_estimate t;
 *     if (launch_estimate_of(report->counts, &t))                 // emu_config.trace was on
 *         printf("%.0f cycles [%.0f, %.0f], most of them: %s\n", t.cycles, t.low, t.high,
 *                timing_part_name(t.bound));
 */
#ifndef HEDDLE_MODEL_LAUNCH_ESTIMATE_H
#define HEDDLE_MODEL_LAUNCH_ESTIMATE_H

#include "emu/counts.h"
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
                      LAUNCH_WARNINGS = 5 + TIMING_FEATURES
};
const char *launch_warning_text(unsigned bit); /* of one that is set */

struct launch_estimate {
    char kernel[LAUNCH_NAME];
    char gpu[64];
    uint32_t grid[3], block[3];
    uint32_t ctas, warps; /* resident on an SM */
    double cycles, seconds;
    /* 8 of 10 launches lay so around their estimates: those that were measured, whose programs were left out
     * of the fit; of a GPU of which none were, those of other GPUs by their configuration alone. Squared for a
     * launch that is unlike them; 0, unknown, under an order. */
    double low, high;
    double part[TIMING_PARTS];    /* cycles; their sum is `cycles` */
    double by_unit[TIMING_UNITS]; /* of TIMING_ISSUE and TIMING_UNIT together */
    enum timing_part bound;       /* launch_bound */
    double ipc;                   /* thread instructions/cycle of the device */
    double intensity;         /* roofline: warp instructions/byte of DRAM; 0: no byte was moved */
    double performance, roof; /* warp instructions/cycle: what there are, what there could be */
    uint64_t warp_instructions, thread_instructions;
    unsigned warnings; /* enum launch_warning */
};

/* Cycles of a grid that was traced, on that machine. `all`: all that was traced is carried out, else some SMs may stand
 * for others (model/sample.h). `t` may be NULL. */
double launch_cycles(const struct emu_counts *c, const struct timing_machine *m, bool all,
                     struct timing_result *t);

/* Of one grid (not of counts->next). false: it was not traced. */
bool launch_estimate_of(const struct emu_counts *c, struct launch_estimate *out);

/* The largest part but for TIMING_IDLE, unless that is more than half. */
enum timing_part launch_bound(const struct launch_estimate *t);

const char *timing_part_name(enum timing_part p); /* "dram" */
const char *timing_unit_name(enum timing_unit u); /* "fp32" */

#endif
