/* calibrate/residuals.h: residuals: measured over estimated cycles of programs that a fit has not seen, as a file.
 *
 *     struct residuals r = {.arena = a};
 *     if (!residuals_read(&r, &diags)) ...              // the text is the diags' source
 *     residuals_intervals(&r, "titanv", low, high);     // the intervals of model/timing/titanv.yaml
 *     residuals_coverage(&r, &text);                    // a table in Markdown
 *
 * The file has a line for each launch: `gpu,program,run,launch,regime,ratio,configuration_ratio`. The ratios are measured
 * cycles over estimated cycles, by a fit without the program and by the GPU's configuration alone. `heddle calibrate
 * --residuals FILE` writes the file. Intervals and their coverage can be computed from it again without the traces and
 * without another fit. */
#ifndef HEDDLE_CALIBRATE_RESIDUALS_H
#define HEDDLE_CALIBRATE_RESIDUALS_H

#include "model/regime.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct buf;
struct diags;

struct residual {
    const char *gpu, *program, *run;
    uint32_t launch;
    enum launch_regime regime;
    double ratio, configuration_ratio;
};

struct residuals {
    struct arena *arena;
    struct residual *list;
    size_t count, cap;
};

void residuals_add(struct residuals *r, const struct residual *x);
bool residuals_read(struct residuals *r, struct diags *d); /* adds; false after errors */
void residuals_write(const struct residuals *r, struct buf *out);

/* The interval of each regime as factors of the estimate, from the launches of one GPU. */
void residuals_intervals(const struct residuals *r, const char *gpu, double low[REGIMES],
                         double high[REGIMES]);
/* The interval over all regimes of estimates by the configuration alone. */
void residuals_alone(const struct residuals *r, const char *gpu, double *low, double *high);

struct
    residual_cover { /* coverage of intervals that were made without the launch's program or GPU */
    size_t launches, programs;
    double by_launch, by_program; /* shares of covered launches; with equal weights of programs */
    double low, high;             /* the interval from all launches */
};
/* regime REGIMES: all launches. `one`: with one interval for all regimes. */
void residuals_cover(const struct residuals *r, const char *gpu, unsigned regime, bool one,
                     struct residual_cover *out);
/* For estimates by the GPU's configuration alone, with the interval from the other GPUs. */
void residuals_cover_alone(const struct residuals *r, const char *gpu, struct residual_cover *out);

void residuals_table(const struct residuals *r, struct buf *out); /* Markdown */

#endif
