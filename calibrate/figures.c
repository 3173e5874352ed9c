#include "calibrate/figures.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

struct item {
    double value;
    size_t index;
};

static int smaller(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static struct item *sorted(struct arena *a, const double *value, size_t n)
{
    struct item *list = arena_array(a, struct item, n);
    for (size_t i = 0; i < n; i++) list[i] = (struct item){value[i], i};
    qsort(list, n, sizeof *list, smaller);
    return list;
}

static double quantile(const struct item *list, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t i = (size_t)at;
    const double next = i + 1 < n ? list[i + 1].value : list[i].value;
    return list[i].value + (at - (double)i) * (next - list[i].value);
}

/* The same, each application counting as much as any other. */
static double quantile_by_application(const struct rows *rows, const struct item *list, double q)
{
    size_t *of_application = arena_array(rows->arena, size_t, rows->application_count);
    double sum = 0;
    size_t i = 0;
    for (size_t k = 0; k < rows->count; k++) of_application[rows->list[k].application]++;
    for (; i + 1 < rows->count; i++) {
        sum += 1 / (double)of_application[rows->list[list[i].index].application];
        if (sum >= q * (double)rows->application_count) break;
    }
    return list[i].value;
}

static double *ranks(struct arena *a, const double *value, size_t n)
{
    const struct item *list = sorted(a, value, n);
    double *rank = arena_array(a, double, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && list[j].value == list[i].value; j++) continue;
        for (size_t k = i; k < j; k++) rank[list[k].index] = (double)(i + j - 1) / 2;
    }
    return rank;
}

static double correlation(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < n; i++) mx += x[i] / (double)n, my += y[i] / (double)n;
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        yy += (y[i] - my) * (y[i] - my);
        xy += (x[i] - mx) * (y[i] - my);
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

double figures_error(const struct row *row, double estimate)
{
    return fabs(estimate - row->counters.cycles) / row->counters.cycles;
}

static void by_application(const struct rows *rows, const double *error, struct figures *f)
{
    for (size_t k = 0; k < rows->application_count; k++) {
        double sum = 0, n = 0;
        for (size_t i = 0; i < rows->count; i++)
            if (rows->list[i].application == k) sum += error[i], n++;
        f->by_application += sum / n / (double)rows->application_count;
        f->worst_application = fmax(f->worst_application, sum / n);
    }
}

void figures_of(const struct rows *rows, const double *estimate, struct figures *f)
{
    struct arena *a = rows->arena;
    const size_t n = rows->count;
    double *error = arena_array(a, double, n), *cycles = arena_array(a, double, n);
    double *ratio = arena_array(a, double, n);
    *f = (struct figures){0};
    for (size_t i = 0; i < n; i++) {
        cycles[i] = rows->list[i].counters.cycles;
        error[i] = figures_error(&rows->list[i], estimate[i]);
        ratio[i] = cycles[i] / estimate[i];
        f->mean += error[i] / (double)n;
    }
    const struct item *errors = sorted(a, error, n), *ratios = sorted(a, ratio, n);
    f->median = quantile(errors, n, 0.5);
    f->p90 = quantile(errors, n, 0.9);
    f->worst = errors[n - 1].value;
    f->low = quantile_by_application(rows, ratios, 0.1);
    f->high = quantile_by_application(rows, ratios, 0.9);
    f->pearson = correlation(cycles, estimate, n);
    f->rank = correlation(ranks(a, cycles, n), ranks(a, estimate, n), n);
    by_application(rows, error, f);
}

const size_t *figures_worst(const struct rows *rows, const double *estimate)
{
    double *error = arena_array(rows->arena, double, rows->count);
    size_t *order = arena_array(rows->arena, size_t, rows->count);
    for (size_t i = 0; i < rows->count; i++) error[i] = -figures_error(&rows->list[i], estimate[i]);
    const struct item *list = sorted(rows->arena, error, rows->count);
    for (size_t i = 0; i < rows->count; i++) order[i] = list[i].index;
    return order;
}
