/* calibrate/report.h: what a fit found, of the counter model's weights or of the timing model's numbers: for people, for gnuplot
 * and as a file. */
#ifndef HEDDLE_CALIBRATE_REPORT_H
#define HEDDLE_CALIBRATE_REPORT_H

#include "calibrate/figures.h"
#include "calibrate/fit.h"
#include "calibrate/fit_timing.h"

struct buf;
struct residuals;

struct report {
    const struct rows *rows;
    const struct fit *fit;
    struct figures inside, outside;
    const char *const *files;
    size_t file_count;
};
void report_text(struct buf *out, const struct report *r); /* figures, weights, the worst ten */
void report_counter_fit(struct buf *out, const struct report *r); /* YAML: model/counter_fit.h */
/* A script with its data. */
void report_plot(struct buf *out, const struct rows *rows, const double *estimate, const char *svg);

struct timing_report {
    const struct timing_data *data;
    const struct timing_fitting *fit;
    const char *measured; /* on what */
    /* By the GPU's configuration alone, at the start of the fit, by all rows, without the row's program. */
    struct figures alone, before, inside, outside;
    const struct residuals *residuals; /* of the launches, in their order */
    const char *const *files;
    size_t file_count;
};
void report_timing_text(struct buf *out, const struct timing_report *r);
void report_timing_file(struct buf *out, const struct timing_report *r); /* model/timing_file.h */

/* Pieces of texts. */
void report_heading(struct buf *out);
void report_figures(struct buf *out, const char *what, const struct figures *f);
void report_applications(struct buf *out, const struct rows *rows, const double *estimate);
void report_files(struct buf *out, const char *const *files, size_t count); /* "# From ..." */

#endif
