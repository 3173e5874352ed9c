/* calibrate/fit_timing.h: fits numbers of the timing model to the measured cycles of launches.
 *
 *     struct timing_fitting f;
 *     fit_timing(&data, &start, &f);
 *     printf("%s: %g\n", f.numbers[0].name, f.numbers[0].value);
 *
 * Each launch was traced once (emu/trace_file.h), and the timing model executes the trace with other numbers. Least squares
 * of log(estimate / measured) by Levenberg-Marquardt (gsl_multifit_nlinear). Derivatives are finite differences with large
 * steps, because estimates are step functions in places. A prior keeps each number near its initial value, within its
 * spread (model/timing_numbers.def). Launches with large errors have less weight (iteratively reweighted, about as for the
 * absolute error); a program of n launches has the weight sqrt(n).
 *
 * The fit without one program is a Gauss-Newton step from the numbers of the fit to all, with the derivatives there. If the
 * step changes a number by more than a tenth, it is tried on the other programs, and halved until their fit is better. */
#ifndef HEDDLE_CALIBRATE_FIT_TIMING_H
#define HEDDLE_CALIBRATE_FIT_TIMING_H

#include "calibrate/rows.h"
#include "model/launch_estimate.h"
#include "model/timing.h"

struct emu_counts;

struct timing_data {
    const struct rows *rows;          /* measured `cycles`; applications are programs */
    const struct emu_counts **launch; /* for each row its launch, with the trace */
    unsigned threads;                 /* host threads; 0: one for each processor */
    /* Called when `done` of `all` steps of a part have ended; NULL: not called. */
    void (*progress)(void *self, const char *what, size_t done, size_t all);
    void *progress_self;
};

enum { TIMING_NUMBERS = 64 };
struct timing_number {
    const char *name, *text;
    double before, value;
    double known; /* how far the data determine it: 0 not at all, 1 fully */
};

struct timing_fitting {
    struct timing_machine machine;
    size_t count;
    struct timing_number numbers[TIMING_NUMBERS]; /* the fitted numbers; others did not change */
    uint64_t undetermined; /* a bit for each number that the data do not determine */
    /* Estimates for each row: at the start; by the fit to all rows; by the fit without its program. In the arena. */
    double *before, *inside, *outside;
    /* For each row the estimate that `heddle estimate` prints, by the fit without its program. */
    struct launch_estimate *estimates;
    uint64_t runs; /* number of runs of the timing model, over all launches */
};

/* Fits; there must be rows of at least two programs. */
void fit_timing(const struct timing_data *d, const struct timing_machine *start,
                struct timing_fitting *f);

/* The estimate of each row on a machine, as `heddle estimate` makes it. */
void timing_estimates(const struct timing_data *d, const struct timing_machine *m,
                      struct launch_estimate *out);

/* The cycles of each row on a machine. */
void timing_cycles(const struct timing_data *d, const struct timing_machine *m, double *out);

#endif
