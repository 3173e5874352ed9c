/* calibrate/figures.h: how far estimates lie from what was measured. */
#ifndef HEDDLE_CALIBRATE_FIGURES_H
#define HEDDLE_CALIBRATE_FIGURES_H

#include "calibrate/rows.h"

/* Errors are |estimate - measured| / measured. */
struct figures {
    double mean, median, p90, worst; /* by launch */
    double by_application,
        worst_application; /* mean of the applications' means; the largest of these */
    double pearson, rank;  /* correlation; Spearman's, ties sharing a rank */
    double low,
        high; /* 80 % of measured / estimate lie in between, each application counting the same */
};
void figures_of(const struct rows *rows, const double *estimate, struct figures *f);

/* Numbers of rows, the one of the largest error first. In the rows' arena. */
const size_t *figures_worst(const struct rows *rows, const double *estimate);
double figures_error(const struct row *row, double estimate);

#endif
