/* calibrate/report.h: what a fit found, for people, for gnuplot and as a file of coefficients. */
#ifndef HEDDLE_CALIBRATE_REPORT_H
#define HEDDLE_CALIBRATE_REPORT_H

#include "calibrate/figures.h"
#include "calibrate/fit.h"

struct buf;

struct report {
    const struct rows *rows;
    const struct fit *fit;
    struct figures inside, outside;
    const char *const *files;
    size_t file_count;
};
void report_text(struct buf *out, const struct report *r); /* figures, weights, the worst ten */
void report_coefficients(struct buf *out, const struct report *r); /* YAML: model/coefficients.h */
void report_plot(struct buf *out, const struct report *r,
                 const char *svg); /* a script with its data */

#endif
