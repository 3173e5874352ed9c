/* calibrate/fit.h: weights that explain measured launches. The one user of GSL.
 *
 *     struct fit f;
 *     fit_rows(&rows, &f);
 *     if (f.undetermined) ...                       // the data say nothing of some weights
 *
 * Least squares of log(estimate / measured) by Levenberg-Marquardt (gsl_multifit_nlinear) over the logarithms
 * of the weights, which so are positive; each held near what was thought before by its spread
 * (model/counter_weights.def); rows of large error count less (iteratively reweighted, about as their absolute
 * error); an application of n rows counts as sqrt(n). Then again without each application. */
#ifndef HEDDLE_CALIBRATE_FIT_H
#define HEDDLE_CALIBRATE_FIT_H

#include "calibrate/rows.h"

struct fit {
    double weights[WEIGHTS];
    double known[WEIGHTS]; /* how much data say of each: 0 nothing, 1 all */
    unsigned undetermined; /* a bit for each weight that is known too little */
    double *inside,
        *outside; /* by row: estimated by all rows; without its application's. In the rows' arena */
};

/* To all rows; leaves `outside` NULL, which is most of the work. */
void fit_weights(const struct rows *rows, struct fit *f);
/* Rows of at least two applications. */
void fit_rows(const struct rows *rows, struct fit *f);

#endif
