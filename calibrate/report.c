#include "calibrate/report.h"

#include "base/buf.h"
#include "model/counter_fit.h"

#include <math.h>
#include <string.h>

enum { WORST = 10 };

void report_heading(struct buf *out)
{
    buf_printf(out, "%-22s %8s  %8s  %8s  %8s  %8s  %7s  %6s\n", "|error|", "mean", "by app.",
               "median", "90 %", "worst", "Pearson", "rank");
}

void report_figures(struct buf *out, const char *what, const struct figures *f)
{
    buf_printf(out, "%-22s %6.1f %%  %6.1f %%  %6.1f %%  %6.1f %%  %6.1f %%  %7.3f  %6.3f\n", what,
               100 * f->mean, 100 * f->by_application, 100 * f->median, 100 * f->p90,
               100 * f->worst, f->pearson, f->rank);
}

void report_applications(struct buf *out, const struct rows *rows, const double *estimate)
{
    buf_puts(out, "\nBy application, left out\n");
    for (size_t k = 0; k < rows->application_count; k++) {
        double sum = 0, bias = 0;
        size_t n = 0;
        for (size_t i = 0; i < rows->count; i++) {
            if (rows->list[i].application != k) continue;
            sum += figures_error(&rows->list[i], estimate[i]);
            bias += log(estimate[i] / rows->list[i].counters.cycles);
            n++;
        }
        buf_printf(out, "  %6.1f %%  x %.2f  %4zu launch%s %.60s\n", 100 * sum / (double)n,
                   exp(bias / (double)n), n, n == 1 ? "  " : "es", rows->applications[k]);
    }
}

static void worst_text(struct buf *out, const struct report *r)
{
    const size_t *worst = figures_worst(r->rows, r->fit->outside);
    buf_puts(out, "\nThe worst, left out\n");
    for (size_t i = 0; i < WORST && i < r->rows->count; i++) {
        const struct row *row = &r->rows->list[worst[i]];
        const double estimate = r->fit->outside[worst[i]];
        struct terms t;
        counter_model_cycles(r->rows->gpu, &row->counters, r->fit->weights, &t);
        buf_printf(out, "  %7.1f %%  %.0f for %.0f cycles, %s (line %u: %.40s, %.40s)\n",
                   100 * figures_error(row, estimate), estimate, row->counters.cycles,
                   term_name(t.bottleneck), row->line, r->rows->applications[row->application],
                   row->kernel);
    }
}

void report_text(struct buf *out, const struct report *r)
{
    buf_printf(out, "%zu launches of %zu applications on a %s\n\n", r->rows->count,
               r->rows->application_count, r->rows->gpu->title);
    report_heading(out);
    report_figures(out, "application left out", &r->outside);
    report_figures(out, "in-sample (no judge)", &r->inside);
    buf_puts(out, "\nWeights            fitted   before   known\n");
    for (int i = 0; i < WEIGHTS; i++)
        buf_printf(out, "  %-15s %7.3f  %7.3f  %4.0f %%  %s\n", weight_infos[i].name,
                   r->fit->weights[i], weight_infos[i].before, 100 * r->fit->known[i],
                   weight_infos[i].text);
    report_applications(out, r->rows, r->fit->outside);
    worst_text(out, r);
}

static void range(const struct report *r, enum counter_feature f, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (size_t i = 0; i < r->rows->count; i++) {
        const double x = counter_feature_of(f, r->rows->gpu, &r->rows->list[i].counters);
        *least = fmin(*least, x);
        *most = fmax(*most, x);
    }
}

static void figures_yaml(struct buf *out, const char *section, const struct figures *f)
{
    buf_printf(out,
               "\n%s\n  mean: %.4f\n  median: %.4f\n  p90: %.4f\n  worst: %.4f\n"
               "  by_application: %.4f\n  pearson: %.4f\n  rank: %.4f\n",
               section, f->mean, f->median, f->p90, f->worst, f->by_application, f->pearson,
               f->rank);
}

void report_files(struct buf *out, const char *const *files, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(files[i], '/');
        buf_printf(out, "# From %s\n", slash ? slash + 1 : files[i]);
    }
}

void report_counter_fit(struct buf *out, const struct report *r)
{
    double least[COUNTER_FEATURES], most[COUNTER_FEATURES];
    buf_printf(out, "# Made by heddle calibrate: %zu launches of %zu applications.\n",
               r->rows->count, r->rows->application_count);
    report_files(out, r->files, r->file_count);
    buf_printf(out, "gpu: %s\n\nweight: # times what the configuration says\n", r->rows->gpu->name);
    for (int i = 0; i < WEIGHTS; i++)
        buf_printf(out, "  %s: %.5g # %s\n", weight_infos[i].name, r->fit->weights[i],
                   weight_infos[i].text);
    for (int f = 0; f < COUNTER_FEATURES; f++)
        range(r, (enum counter_feature)f, &least[f], &most[f]);
    buf_puts(out, "\nleast: # of the launches that were fitted\n");
    for (int f = 0; f < COUNTER_FEATURES; f++)
        buf_printf(out, "  %s: %.5g # %s\n", counter_feature_name((enum counter_feature)f),
                   least[f], counter_feature_text((enum counter_feature)f));
    buf_puts(out, "\nmost:\n");
    for (int f = 0; f < COUNTER_FEATURES; f++)
        buf_printf(out, "  %s: %.5g\n", counter_feature_name((enum counter_feature)f), most[f]);
    figures_yaml(out, "error: # of estimates without the application's own launches", &r->outside);
    buf_printf(out,
               "\ninterval: # 80 %% of measured / estimated, likewise\n  low: %.4f\n  high: %.4f\n",
               r->outside.low, r->outside.high);
    figures_yaml(out, "in_sample: # no judge of an estimate", &r->inside);
}

void report_plot(struct buf *out, const struct rows *rows, const double *estimate, const char *svg)
{
    buf_printf(
        out, "set terminal svg size 900,900\nset output '%s'\nset logscale xy\nset key left top\n",
        svg);
    buf_printf(out, "set title '%s: %zu launches, each estimated without its application'\n",
               rows->gpu->title, rows->count);
    buf_puts(out,
             "set xlabel 'measured cycles'\nset ylabel 'estimated cycles'\n$launches << END\n");
    for (size_t i = 0; i < rows->count; i++)
        buf_printf(out, "%.6g %.6g\n", rows->list[i].counters.cycles, estimate[i]);
    buf_puts(out, "END\nplot $launches with points pt 7 ps 0.4 title 'launches', "
                  "x title 'equal', 2*x dt 2 title 'twice', x/2 dt 2 title 'half'\n");
}
