/* calibrate/residuals.h: how far estimates of programs that a fit did not see lie from what was measured, as a file.
 *
 *     struct residuals r = {.arena = a};
 *     if (!residuals_read(&r, &diags)) ...              // the text is the diags' source
 *     residuals_intervals(&r, "titanv", low, high);     // what model/timing/titanv.yaml says
 *     residuals_coverage(&r, &text);                    // a table in Markdown
 *
 * A line for each launch: `gpu,program,run,launch,regime,ratio,configuration_ratio`; the ratios are measured cycles over
 * those of an estimate by a fit without the program, and by the GPU's configuration alone. `heddle calibrate
 * --residuals FILE` writes them. From them intervals can be computed again, and how often they hold, without the traces
 * and without another fit. */
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

/* Factors of the estimate, by regime; of the launches of one GPU. */
void residuals_intervals(const struct residuals *r, const char *gpu, double low[REGIMES],
                         double high[REGIMES]);
/* Likewise by the configuration alone, of all regimes. */
void residuals_alone(const struct residuals *r, const char *gpu, double *low, double *high);

struct
    residual_cover { /* shares of launches whose interval, made without their program or GPU, holds */
    size_t launches, programs;
    double by_launch, by_program; /* each launch, or each program, counting the same */
    double low, high;             /* the interval, of all launches */
};
/* `one`: with one interval for all regimes. REGIMES: all launches. */
void residuals_cover(const struct residuals *r, const char *gpu, unsigned regime, bool one,
                     struct residual_cover *out);
/* Of the GPU by its configuration alone, with the interval of the other GPUs. */
void residuals_cover_alone(const struct residuals *r, const char *gpu, struct residual_cover *out);

void residuals_table(const struct residuals *r, struct buf *out); /* Markdown */

#endif
