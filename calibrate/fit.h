/* calibrate/fit.h: fits the weights of the counter model to measured launches. Uses GSL.
 *
 *     struct fit f;
 *     fit_rows(&rows, &f);
 *     if (f.undetermined) ...                       // the data do not determine some weights
 *
 * Least squares of log(estimate / measured) by Levenberg-Marquardt (gsl_multifit_nlinear) over the logarithms
 * of the weights, so that weights are positive. A prior keeps each weight near its initial value, within its spread
 * (model/counter_weights.def). Rows with large errors have less weight (iteratively reweighted, about as for the absolute
 * error); an application of n rows has the weight sqrt(n). The fit is repeated without each application. */
#ifndef HEDDLE_CALIBRATE_FIT_H
#define HEDDLE_CALIBRATE_FIT_H

#include "calibrate/rows.h"

struct fit {
    double weights[WEIGHTS];
    double known[WEIGHTS]; /* how far the data determine each: 0 not at all, 1 fully */
    unsigned undetermined; /* a bit for each weight that the data do not determine */
    /* Estimates for each row: by the fit to all rows; by the fit without its application. In the rows' arena. */
    double *inside, *outside;
};

/* Fits to all rows only; leaves `outside` NULL, which would be most of the work. */
void fit_weights(const struct rows *rows, struct fit *f);
/* Fits to all rows, and without each application. There must be rows of at least two applications. */
void fit_rows(const struct rows *rows, struct fit *f);

#endif
