#include "calibrate/fit.h"

#include "base/arena.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double prior_weight = 0.7; /* of what was thought before, against a row */
static const double usual_error =
    0.1; /* of log(estimate / measured): beyond, errors count linearly */
static const double least_known = 0.05;
enum { REWEIGHTINGS = 6, STEPS = 25 };

struct problem {
    const struct rows *rows;
    size_t count;
    const struct row **row;  /* those that are fitted */
    double *weight, *robust; /* of its squared error */
    size_t *of_application;  /* rows of each */
};

static void weights_of(const double *logarithm, double w[WEIGHTS])
{
    for (int i = 0; i < WEIGHTS; i++) w[i] = exp(logarithm[i]);
}

static double error_of(const struct rows *rows, const struct row *row, const double *weights)
{
    return log(counter_model_cycles(rows->gpu, &row->counters, weights, NULL) /
               row->counters.cycles);
}

static int residuals(const gsl_vector *x, void *data, gsl_vector *f)
{
    const struct problem *p = data;
    double w[WEIGHTS], weights[WEIGHTS];
    for (size_t i = 0; i < WEIGHTS; i++) w[i] = gsl_vector_get(x, i);
    weights_of(w, weights);
    for (size_t i = 0; i < p->count; i++) {
        double e = error_of(p->rows, p->row[i], weights);
        gsl_vector_set(f, i, (isfinite(e) ? e : 100) * sqrt(p->robust[i]));
    }
    for (size_t i = 0; i < WEIGHTS; i++)
        gsl_vector_set(f, p->count + i,
                       prior_weight * (w[i] - log(weight_infos[i].before)) /
                           weight_infos[i].spread);
    return GSL_SUCCESS;
}

/* What the data alone say of each weight: without them its deviation is its spread. */
static void judge(const gsl_matrix *jacobian, double known[WEIGHTS])
{
    gsl_matrix *a = gsl_matrix_calloc(WEIGHTS, WEIGHTS);
    gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, jacobian, jacobian, 0, a);
    gsl_linalg_cholesky_decomp1(a);
    gsl_linalg_cholesky_invert(a);
    for (size_t i = 0; i < WEIGHTS; i++) {
        const double before = weight_infos[i].spread / prior_weight;
        known[i] = fmax(0, 1 - sqrt(gsl_matrix_get(a, i, i)) / before);
    }
    gsl_matrix_free(a);
}

static void solve(struct problem *p, double *w, double known[WEIGHTS])
{
    gsl_multifit_nlinear_fdf fdf = {
        .f = residuals, .n = p->count + WEIGHTS, .p = WEIGHTS, .params = p};
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *space = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust,
                                                                       &options, fdf.n, fdf.p);
    gsl_vector_view start = gsl_vector_view_array(w, WEIGHTS);
    int info;
    gsl_multifit_nlinear_init(&start.vector, &fdf, space);
    gsl_multifit_nlinear_driver(STEPS, 1e-5, 1e-5, 0, NULL, NULL, &info, space);
    const gsl_vector *x = gsl_multifit_nlinear_position(space);
    for (size_t i = 0; i < WEIGHTS; i++) w[i] = gsl_vector_get(x, i);
    if (known) judge(gsl_multifit_nlinear_jac(space), known);
    gsl_multifit_nlinear_free(space);
}

static void reweight(struct problem *p, const double *w)
{
    double weights[WEIGHTS];
    weights_of(w, weights);
    for (size_t i = 0; i < p->count; i++) {
        const double e = error_of(p->rows, p->row[i], weights) / usual_error;
        p->robust[i] = p->weight[i] / sqrt(1 + e * e);
    }
}

static void fit_problem(struct problem *p, double *w, int rounds, double known[WEIGHTS])
{
    for (int i = 0; i < rounds; i++) {
        if (i || known == NULL) reweight(p, w);
        else memcpy(p->robust, p->weight, p->count * sizeof *p->robust);
        solve(p, w, i + 1 == rounds ? known : NULL);
    }
}

/* The rows but for one application's (`left` = application_count: all), and what each counts for. */
static void choose(struct problem *p, size_t left)
{
    double sum = 0;
    p->count = 0;
    for (size_t i = 0; i < p->rows->count; i++) {
        const struct row *row = &p->rows->list[i];
        if (row->application == left) continue;
        p->row[p->count] = row;
        p->weight[p->count++] = 1 / sqrt((double)p->of_application[row->application]);
    }
    for (size_t i = 0; i < p->count; i++) sum += p->weight[i];
    for (size_t i = 0; i < p->count; i++) p->weight[i] *= (double)p->count / sum;
}

static void estimate(const struct rows *rows, const double *w, size_t application, double *out)
{
    double weights[WEIGHTS];
    weights_of(w, weights);
    for (size_t i = 0; i < rows->count; i++)
        if (application == rows->application_count || rows->list[i].application == application)
            out[i] = counter_model_cycles(rows->gpu, &rows->list[i].counters, weights, NULL);
}

static struct problem problem_of(const struct rows *rows)
{
    struct arena *a = rows->arena;
    const size_t n = rows->count;
    size_t *of_application = arena_array(a, size_t, rows->application_count);
    for (size_t i = 0; i < n; i++) of_application[rows->list[i].application]++;
    return (struct problem){.rows = rows,
                            .row = arena_array(a, const struct row *, n),
                            .weight = arena_array(a, double, n),
                            .robust = arena_array(a, double, n),
                            .of_application = of_application};
}

/* To all rows; `all`: the logarithms of the weights. */
static void fit_all(struct problem *p, struct fit *f, double all[WEIGHTS])
{
    const struct rows *rows = p->rows;
    gsl_set_error_handler_off();
    *f = (struct fit){.inside = arena_array(rows->arena, double, rows->count)};
    for (int i = 0; i < WEIGHTS; i++) all[i] = log(weight_infos[i].before);
    choose(p, rows->application_count);
    fit_problem(p, all, REWEIGHTINGS, f->known);
    for (int i = 0; i < WEIGHTS; i++) {
        f->weights[i] = exp(all[i]);
        if (f->known[i] < least_known) f->undetermined |= 1u << i;
    }
    estimate(rows, all, rows->application_count, f->inside);
}

void fit_weights(const struct rows *rows, struct fit *f)
{
    struct problem p = problem_of(rows);
    double all[WEIGHTS];
    fit_all(&p, f, all);
}

void fit_rows(const struct rows *rows, struct fit *f)
{
    struct problem p = problem_of(rows);
    double all[WEIGHTS], one[WEIGHTS];
    fit_all(&p, f, all);
    f->outside = arena_array(rows->arena, double, rows->count);
    for (size_t left = 0; left < rows->application_count; left++) {
        memcpy(one, all, sizeof one);
        choose(&p, left);
        fit_problem(&p, one, REWEIGHTINGS / 3, NULL);
        estimate(rows, one, left, f->outside);
    }
}
