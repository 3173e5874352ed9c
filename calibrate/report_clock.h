/* calibrate/report_clock.h: what a fit of the clock found, for people and as a file of coefficients. */
#ifndef HEDDLE_CALIBRATE_REPORT_CLOCK_H
#define HEDDLE_CALIBRATE_REPORT_CLOCK_H

#include "calibrate/figures.h"
#include "calibrate/fit_clock.h"

struct buf;

struct clock_report {
    const struct clock_data *data;
    const struct clock_fitting *fit;
    const char *measured; /* on what */
    /* By the GPU's configuration alone, at the start of the fit, by all rows, without the row's program. */
    struct figures alone, before, inside, outside;
    const char *const *files;
    size_t file_count;
};
void report_clock_text(struct buf *out, const struct clock_report *r);
void report_clock_file(struct buf *out, const struct clock_report *r); /* model/clock_file.h */

#endif
