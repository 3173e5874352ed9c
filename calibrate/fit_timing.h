/* calibrate/fit_timing.h: numbers of the timing model that explain measured cycles of launches.
 *
 *     struct timing_fitting f;
 *     fit_timing(&data, &start, &f);
 *     printf("%s: %g\n", f.numbers[0].name, f.numbers[0].value);
 *
 * Each launch was traced once (emu/trace_file.h) and is executed by the timing model with other numbers. Least squares of
 * log(estimate / measured) by Levenberg-Marquardt (gsl_multifit_nlinear), derivatives by differences: estimates
 * are steps here and there, so these are wide. Each number is held near what it was thought to be by its spread
 * (model/timing_numbers.def); launches of large error count less (iteratively reweighted, about as their absolute
 * error); a program of n launches counts as sqrt(n).
 *
 * Then again without each program: a Gauss-Newton step from the numbers that all came to, with the derivatives
 * there. If it moves a number by more than a tenth it is tried on the other programs, and halved until their fit is
 * better. */
#ifndef HEDDLE_CALIBRATE_FIT_TIMING_H
#define HEDDLE_CALIBRATE_FIT_TIMING_H

#include "calibrate/rows.h"
#include "model/launch_estimate.h"
#include "model/timing.h"

struct emu_counts;

struct timing_data {
    const struct rows *rows;          /* `cycles`; applications are programs */
    const struct emu_counts **launch; /* by row, with its trace */
    unsigned threads;                 /* of the host; 0: as many as it has */
    /* `done` of `all` steps of that part have ended; NULL: nobody wants to know */
    void (*progress)(void *self, const char *what, size_t done, size_t all);
    void *progress_self;
};

enum { TIMING_NUMBERS = 64 };
struct timing_number {
    const char *name, *text;
    double before, value;
    double known; /* how much data say of it: 0 nothing, 1 all */
};

struct timing_fitting {
    struct timing_machine machine;
    size_t count;
    struct timing_number numbers[TIMING_NUMBERS]; /* that were fitted; others are as at the start */
    uint64_t undetermined; /* a bit for each number that is known too little */
    /* By row: estimated at the start; by all rows; without its program's. In the arena. */
    double *before, *inside, *outside;
    struct launch_estimate
        *estimates; /* by row, as `heddle estimate` prints them; without its program's launches */
    uint64_t runs;  /* of the timing model, over launches */
};

/* Rows of at least two programs. */
void fit_timing(const struct timing_data *d, const struct timing_machine *start,
                struct timing_fitting *f);

/* The estimate of each row on that machine, as `heddle estimate` makes it. */
void timing_estimates(const struct timing_data *d, const struct timing_machine *m,
                      struct launch_estimate *out);

/* Cycles of each row on that machine. */
void timing_cycles(const struct timing_data *d, const struct timing_machine *m, double *out);

#endif
