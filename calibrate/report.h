/* calibrate/report.h: prints the results of fits, of the counter model's weights or of the timing model's numbers: as text, for
 * gnuplot, and as a file that Heddle reads. */
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
void report_text(struct buf *out, const struct report *r); /* errors, weights, the worst ten rows */
void report_counter_fit(struct buf *out, const struct report *r); /* YAML: model/counter_fit.h */
/* A gnuplot script with its data. */
void report_plot(struct buf *out, const struct rows *rows, const double *estimate, const char *svg);

struct timing_report {
    const struct timing_data *data;
    const struct timing_fitting *fit;
    const char *measured; /* source of the cycles */
    /* Errors: by the configuration alone; at the start of the fit; by the fit to all rows; without the row's program. */
    struct figures alone, before, inside, outside;
    const struct residuals *residuals; /* those of the launches, in the same order */
    const char *const *files;
    size_t file_count;
};
void report_timing_text(struct buf *out, const struct timing_report *r);
void report_timing_file(struct buf *out, const struct timing_report *r); /* model/timing_file.h */

/* Parts of the texts. */
void report_heading(struct buf *out);
void report_figures(struct buf *out, const char *what, const struct figures *f);
void report_applications(struct buf *out, const struct rows *rows, const double *estimate);
void report_files(struct buf *out, const char *const *files, size_t count); /* "# From ..." */

#endif
