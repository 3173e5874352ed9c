#include "calibrate/report.h"

#include "base/buf.h"
#include "calibrate/residuals.h"
#include "emu/counts.h"
#include "model/timing_file.h"

#include <inttypes.h>
#include <math.h>

enum { WORST = 10 };

static void worst_text(struct buf *out, const struct timing_report *r)
{
    const struct rows *rows = r->data->rows;
    const size_t *worst = figures_worst(rows, r->fit->outside);
    buf_puts(out, "\nThe worst, left out\n");
    for (size_t i = 0; i < WORST && i < rows->count; i++) {
        const struct row *row = &rows->list[worst[i]];
        const double estimate = r->fit->outside[worst[i]];
        buf_printf(out, "  %7.1f %%  %.0f for %.0f cycles, launch %u of %.60s (line %u)\n",
                   100 * figures_error(row, estimate), estimate, row->counters.cycles, row->launch,
                   row->run, row->line);
    }
}

void report_timing_text(struct buf *out, const struct timing_report *r)
{
    const struct rows *rows = r->data->rows;
    const struct timing_fitting *f = r->fit;
    buf_printf(out, "%zu launches of %zu programs on a %s; %" PRIu64 " estimates\n\n", rows->count,
               rows->application_count, rows->gpu->title, f->runs);
    report_heading(out);
    report_figures(out, "program left out", &r->outside);
    report_figures(out, "in-sample (no judge)", &r->inside);
    report_figures(out, "before the fit", &r->before);
    report_figures(out, "configuration alone", &r->alone);
    buf_puts(out, "\nNumbers              fitted    before   known\n");
    for (size_t i = 0; i < f->count; i++)
        buf_printf(out, "  %-17s %8.3f  %8.3f  %4.0f %%  %s\n", f->numbers[i].name,
                   f->numbers[i].value, f->numbers[i].before, 100 * f->numbers[i].known,
                   f->numbers[i].text);
    report_applications(out, rows, f->outside);
    worst_text(out, r);
    buf_puts(out, "\nHow often intervals hold that the program did not contribute to\n");
    residuals_table(r->residuals, out);
}

static void range(const struct timing_data *d, struct timing_fit *fit)
{
    for (int f = 0; f < TIMING_FEATURES; f++) {
        fit->least[f] = INFINITY;
        for (size_t i = 0; i < d->rows->count; i++) {
            const double x = timing_feature_of((enum timing_feature)f,
                                               &d->launch[i]->phases[0].total);
            fit->least[f] = fmin(fit->least[f], x);
            fit->most[f] = fmax(fit->most[f], x);
        }
    }
}

void report_timing_file(struct buf *out, const struct timing_report *r)
{
    const struct rows *rows = r->data->rows;
    const struct figures *o = &r->outside, *in = &r->inside;
    struct timing_fit fit = {.gpu = rows->gpu->name,
                             .measured = r->measured,
                             .mean = o->mean,
                             .median = o->median,
                             .p90 = o->p90,
                             .worst = o->worst,
                             .by_program = o->by_application,
                             .rank = o->rank,
                             .machine = r->fit->machine};
    range(r->data, &fit);
    residuals_intervals(r->residuals, fit.gpu, fit.low, fit.high);
    residuals_alone(r->residuals, fit.gpu, &fit.alone_low, &fit.alone_high);
    buf_printf(out, "# Made by heddle calibrate: %zu launches of %zu programs.\n", rows->count,
               rows->application_count);
    report_files(out, r->files, r->file_count);
    if (rows->column) buf_printf(out, "# Where %s is %s\n", rows->column, rows->value);
    buf_printf(out,
               "# Errors are of each program by a fit of the others. In-sample, no judge of an "
               "estimate: mean %.4f, worst %.4f, rank %.4f\n",
               in->mean, in->worst, in->rank);
    buf_printf(out, "# The configuration alone: mean %.4f, worst %.4f, rank %.4f\n", r->alone.mean,
               r->alone.worst, r->alone.rank);
    timing_file_write(out, &fit);
}
