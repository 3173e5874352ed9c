/* calibrate/figures.h: statistics of the errors of estimates. */
#ifndef HEDDLE_CALIBRATE_FIGURES_H
#define HEDDLE_CALIBRATE_FIGURES_H

#include "calibrate/rows.h"

/* Errors are |estimate - measured| / measured. */
struct figures {
    double mean, median, p90, worst;          /* errors over launches */
    double by_application, worst_application; /* mean of the applications' means; the largest one */
    double pearson, rank; /* correlation coefficients; rank: Spearman's, ties have equal ranks */
    double low, high;     /* contain 80 % of measured / estimate; applications have equal weights */
};
void figures_of(const struct rows *rows, const double *estimate, struct figures *f);

/* The indices of all rows, the largest error first; in the rows' arena. */
const size_t *figures_worst(const struct rows *rows, const double *estimate);
double figures_error(const struct row *row, double estimate);

#endif
