#define _GNU_SOURCE /* sysconf's number of processors */
#include "calibrate/fit_timing.h"

#include "base/arena.h"
#include "model/launch_estimate.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double prior_weight = 0.1; /* of what was thought before: the usual error */
static const double usual_error = 0.1;  /* beyond, errors count linearly */
static const double difference = 0.08;  /* of a number's logarithm, for its derivative */
static const double least_known = 0.05;
static const double pipeline_unit = 4; /* cycles */
static const double small_step = 0.1;  /* of a logarithm: taken as it is */
enum { REWEIGHTINGS = 2, STEPS = 3, HALVINGS = 2, MOST_THREADS = 64 };

/* ---- what is fitted -------------------------------------------------------------------------------------- */

static const size_t latency_sfu = offsetof(struct timing_machine, latency) +
                                  PTX_COST_SFU * sizeof(double);

/* The logarithm of a number over what it was, in a machine; but for the pipeline, which is added to the latencies
 * of arithmetic. */
static const struct fitted_number {
    const char *name, *text;
    size_t offset;
    double spread;
} places[] = {
#define RATE(name, field, least, spread, unit, text)                                               \
    {#name, text, offsetof(struct timing_machine, field), spread},
#include "model/timing_numbers.def"
    {"latency_ALU", "of moves, logic, shifts, compares, conversions",
     offsetof(struct timing_machine, latency) + PTX_COST_ALU * sizeof(double), 0.3},
    {"latency_SFU", "of special functions",
     offsetof(struct timing_machine, latency) + PTX_COST_SFU * sizeof(double), 0.3},
};
enum { PLACES = sizeof places / sizeof *places };

struct space { /* of the numbers that are fitted */
    const struct timing_machine *start;
    size_t count;
    const struct fitted_number *place[TIMING_NUMBERS]; /* NULL: the pipeline */
};

static const double *at(const struct timing_machine *m, const struct fitted_number *p)
{
    return (const double *)(const void *)((const char *)m + p->offset);
}

static void choose_numbers(struct space *s)
{
    for (size_t i = 0; i < PLACES; i++)
        if (places[i].spread > 0 && *at(s->start, &places[i]) > 0)
            s->place[s->count++] = &places[i];
    s->place[s->count++] = NULL;
}

static double spread_of(const struct space *s, size_t i)
{
    return s->place[i] ? s->place[i]->spread : 1;
}

static void machine_at(const struct space *s, const double *x, struct timing_machine *m)
{
    *m = *s->start;
    for (size_t i = 0; i < s->count; i++) {
        const struct fitted_number *p = s->place[i];
        if (p) *(double *)(void *)((char *)m + p->offset) *= exp(x[i]);
        if (p && p->offset == latency_sfu) /* simulators have one for all that this unit does */
            m->latency[PTX_COST_FSQRT_RN] *= exp(x[i]), m->latency[PTX_COST_FRCP_RN] *= exp(x[i]);
    }
    const double pipeline = pipeline_unit * x[s->count - 1];
    for (int c = 0; c < PTX_COST_COUNT; c++)
        if (c != PTX_COST_ALU) m->latency[c] = fmax(1, m->latency[c] + pipeline);
}

/* ---- estimates of many launches ------------------------------------------------------------------------- */

struct task {
    const struct timing_data *d;
    const struct timing_machine *machine;
    const bool *wanted;                /* by row; NULL: all */
    double *cycles;                    /* with all SMs executed; may be NULL */
    struct launch_estimate *estimates; /* as `heddle estimate` makes them; NULL: are not wanted */
    atomic_size_t next;
};

static void *work(void *arg)
{
    struct task *t = arg;
    const struct rows *rows = t->d->rows;
    for (size_t i; (i = atomic_fetch_add(&t->next, 1)) < rows->count;) {
        if (t->wanted && !t->wanted[i]) continue;
        if (t->cycles) t->cycles[i] = launch_cycles(t->d->launch[i], t->machine, true, NULL);
        if (t->estimates) launch_estimate_on(t->d->launch[i], t->machine, &t->estimates[i]);
    }
    return NULL;
}

static void run(struct task t)
{
    const struct timing_data *d = t.d;
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned threads = d->threads ? d->threads : cpus > 0 ? (unsigned)cpus : 1, begun = 0;
    pthread_t other[MOST_THREADS];
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    while (begun + 1 < threads && !pthread_create(&other[begun], NULL, work, &t)) begun++;
    work(&t);
    for (unsigned i = 0; i < begun; i++) pthread_join(other[i], NULL);
}

static struct timing_machine completed(const struct timing_machine *m, const struct emu_gpu *g)
{
    struct timing_machine complete = *m;
    complete.sms = g->sms;
    complete.schedulers = g->schedulers;
    complete.issue = g->issue;
    return complete;
}

void timing_cycles(const struct timing_data *d, const struct timing_machine *m, double *out)
{
    const struct timing_machine complete = completed(m, d->rows->gpu);
    run((struct task){.d = d, .machine = &complete, .cycles = out});
}

void timing_estimates(const struct timing_data *d, const struct timing_machine *m,
                      struct launch_estimate *out)
{
    const struct timing_machine complete = completed(m, d->rows->gpu);
    run((struct task){.d = d, .machine = &complete, .estimates = out});
}

/* ---- the problem ------------------------------------------------------------------------------------------ */

struct problem {
    const struct timing_data *d;
    struct space space;
    size_t *of_program;          /* launches */
    double *weight, *robust;     /* by row, of its squared error; 0: left out */
    double *error, *cycles;      /* by row, at `here` */
    double here[TIMING_NUMBERS]; /* where it was evaluated last */
    bool evaluated;
    double *slope; /* row by number */
    bool sloped;   /* they are as they are to be */
    bool *moves; /* row by number: the number says something of the row, where it was tried first */
    bool tried;
    bool *wanted;
    uint64_t runs;
};

static void errors_at(struct problem *p, const double *x, double *error)
{
    const struct rows *rows = p->d->rows;
    struct timing_machine m;
    machine_at(&p->space, x, &m);
    run((struct task){.d = p->d, .machine = &m, .wanted = p->wanted, .cycles = p->cycles});
    for (size_t i = 0; i < rows->count; i++) {
        if (!p->wanted[i]) continue;
        const double e = log(p->cycles[i] / rows->list[i].counters.cycles);
        error[i] = isfinite(e) ? e : 100;
        p->runs++;
    }
}

/* Of the rows that are fitted. */
static void evaluate(struct problem *p, const double *x)
{
    const size_t size = p->space.count * sizeof *x;
    if (p->evaluated && memcmp(p->here, x, size) == 0) return;
    for (size_t i = 0; i < p->d->rows->count; i++) p->wanted[i] = p->weight[i] > 0;
    errors_at(p, x, p->error);
    memcpy(p->here, x, size);
    p->evaluated = true;
}

static void get_x(const gsl_vector *x, double *out)
{
    for (size_t i = 0; i < x->size; i++) out[i] = gsl_vector_get(x, i);
}

static int residuals(const gsl_vector *at_x, void *data, gsl_vector *f)
{
    struct problem *p = data;
    double x[TIMING_NUMBERS];
    const size_t n = p->d->rows->count;
    get_x(at_x, x);
    evaluate(p, x);
    for (size_t i = 0; i < n; i++)
        gsl_vector_set(f, i, p->weight[i] > 0 ? p->error[i] * sqrt(p->robust[i]) : 0);
    for (size_t k = 0; k < p->space.count; k++)
        gsl_vector_set(f, n + k, prior_weight * x[k] / spread_of(&p->space, k));
    return GSL_SUCCESS;
}

/* The derivative by number k, of the rows that it says something of. */
static void slope_of(struct problem *p, const double *x, size_t k, double *error)
{
    const size_t n = p->d->rows->count, m = p->space.count;
    const double step = p->space.place[k] ? difference : difference / 0.3;
    double there[TIMING_NUMBERS] = {0};
    memcpy(there, x, m * sizeof *x);
    there[k] += step;
    for (size_t i = 0; i < n; i++)
        p->wanted[i] = p->weight[i] > 0 && (!p->tried || p->moves[i * m + k]);
    errors_at(p, there, error);
    for (size_t i = 0; i < n; i++) {
        p->slope[i * m + k] = p->wanted[i] ? (error[i] - p->error[i]) / step : 0;
        if (!p->tried) p->moves[i * m + k] = p->wanted[i] && error[i] != p->error[i];
    }
}

static int slopes(const gsl_vector *at_x, void *data, gsl_matrix *j)
{
    struct problem *p = data;
    const size_t n = p->d->rows->count, m = p->space.count;
    double x[TIMING_NUMBERS];
    get_x(at_x, x);
    if (!p->sloped) {
        double *error = malloc(n * sizeof *error);
        if (!error) abort();
        evaluate(p, x);
        for (size_t k = 0; k < m; k++) slope_of(p, x, k, error);
        free(error);
        p->tried = p->sloped = true;
    }
    gsl_matrix_set_zero(j);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m && p->weight[i] > 0; k++)
            gsl_matrix_set(j, i, k, p->slope[i * m + k] * sqrt(p->robust[i]));
    for (size_t k = 0; k < m; k++)
        gsl_matrix_set(j, n + k, k, prior_weight / spread_of(&p->space, k));
    return GSL_SUCCESS;
}

static void reweight(struct problem *p)
{
    for (size_t i = 0; i < p->d->rows->count; i++) {
        const double e = p->error[i] / usual_error;
        p->robust[i] = p->weight[i] / sqrt(1 + e * e);
    }
}

/* What the data alone say of each number: without them its deviation is its spread. */
static void judge(const struct problem *p, const gsl_matrix *jacobian, double *known)
{
    const size_t m = p->space.count;
    gsl_matrix *a = gsl_matrix_calloc(m, m);
    gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, jacobian, jacobian, 0, a);
    gsl_linalg_cholesky_decomp1(a);
    gsl_linalg_cholesky_invert(a);
    for (size_t i = 0; i < m; i++) {
        const double before = spread_of(&p->space, i) / prior_weight;
        known[i] = fmax(0, 1 - sqrt(gsl_matrix_get(a, i, i)) / before);
    }
    gsl_matrix_free(a);
}

static void solve(struct problem *p, double *x, double *known)
{
    gsl_multifit_nlinear_fdf fdf = {.f = residuals,
                                    .df = slopes,
                                    .n = p->d->rows->count + p->space.count,
                                    .p = p->space.count,
                                    .params = p};
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    options.scale = gsl_multifit_nlinear_scale_levenberg;
    gsl_multifit_nlinear_workspace *space = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust,
                                                                       &options, fdf.n, fdf.p);
    gsl_vector_view begin = gsl_vector_view_array(x, fdf.p);
    int info;
    gsl_multifit_nlinear_init(&begin.vector, &fdf, space);
    gsl_multifit_nlinear_driver(STEPS, 1e-3, 1e-5, 0, NULL, NULL, &info, space);
    get_x(gsl_multifit_nlinear_position(space), x);
    judge(p, gsl_multifit_nlinear_jac(space), known);
    gsl_multifit_nlinear_free(space);
}

/* The rows but for one program's, and what each counts for. */
static void choose_rows(struct problem *p, size_t left)
{
    const struct rows *rows = p->d->rows;
    double sum = 0, count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const size_t program = rows->list[i].application;
        p->weight[i] = program == left ? 0 : 1 / sqrt((double)p->of_program[program]);
        sum += p->weight[i], count += program != left;
    }
    for (size_t i = 0; i < rows->count; i++) p->weight[i] *= count / sum;
}

static void say(const struct timing_data *d, const char *what, size_t done, size_t all)
{
    if (d->progress) d->progress(d->progress_self, what, done, all);
}

/* Derivatives are taken once for each reweighting. */
static void fit_all(struct problem *p, double *x, double *known)
{
    choose_rows(p, p->d->rows->application_count);
    for (size_t round = 0; round < REWEIGHTINGS; round++) {
        say(p->d, "all programs", round, REWEIGHTINGS);
        evaluate(p, x);
        reweight(p);
        p->sloped = false;
        solve(p, x, known);
    }
    evaluate(p, x);
}

/* What is to be made small, with the errors at x. */
static double cost(const struct problem *p, const double *x, const double *error)
{
    double sum = 0;
    for (size_t i = 0; i < p->d->rows->count; i++)
        if (p->weight[i] > 0) sum += p->robust[i] * error[i] * error[i];
    for (size_t k = 0; k < p->space.count; k++)
        sum += pow(prior_weight * x[k] / spread_of(&p->space, k), 2);
    return sum;
}

/* From x to where it is least, if errors are as straight as their derivatives at x say. */
static void step_from(const struct problem *p, const double *x, const double *error, double *step)
{
    const size_t m = p->space.count;
    gsl_matrix *a = gsl_matrix_calloc(m, m);
    gsl_vector_view to = gsl_vector_view_array(step, m);
    for (size_t k = 0; k < m; k++) {
        const double prior = pow(prior_weight / spread_of(&p->space, k), 2);
        gsl_matrix_set(a, k, k, prior);
        step[k] = -prior * x[k];
    }
    for (size_t i = 0; i < p->d->rows->count; i++) {
        const double *slope = p->slope + i * m;
        for (size_t k = 0; k < m && p->weight[i] > 0; k++) {
            step[k] -= p->robust[i] * slope[k] * error[i];
            for (size_t l = 0; l < m; l++)
                *gsl_matrix_ptr(a, k, l) += p->robust[i] * slope[k] * slope[l];
        }
    }
    gsl_linalg_cholesky_decomp1(a);
    gsl_linalg_cholesky_svx(a, &to.vector);
    gsl_matrix_free(a);
}

static double largest(const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

/* Those of the program, by a fit of the others; all came to x, with that error. */
static void fit_without(struct problem *p, size_t program, const double *x, const double *error,
                        struct timing_fitting *f)
{
    const struct rows *rows = p->d->rows;
    const size_t m = p->space.count;
    double step[TIMING_NUMBERS] = {0}, there[TIMING_NUMBERS] = {0};
    struct timing_machine machine;
    memcpy(p->error, error, rows->count * sizeof *error);
    choose_rows(p, program);
    reweight(p);
    const double before = cost(p, x, error);
    step_from(p, x, error, step);
    for (int halved = 0; halved <= HALVINGS; halved++) {
        for (size_t k = 0; k < m; k++) there[k] = x[k] + step[k];
        if (largest(step, m) < small_step) break;
        evaluate(p, there);
        if (cost(p, there, p->error) < before) break;
        for (size_t k = 0; k < m; k++) step[k] /= 2;
    }
    machine_at(&p->space, there, &machine);
    for (size_t i = 0; i < rows->count; i++) p->wanted[i] = rows->list[i].application == program;
    run((struct task){.d = p->d,
                      .machine = &machine,
                      .wanted = p->wanted,
                      .cycles = f->outside,
                      .estimates = f->estimates});
}

static void put_numbers(const struct problem *p, const double *x, const double *known,
                        struct timing_fitting *f)
{
    const struct space *s = &p->space;
    machine_at(s, x, &f->machine);
    f->count = s->count;
    for (size_t i = 0; i < s->count; i++) {
        const struct fitted_number *q = s->place[i];
        f->numbers[i] = (struct timing_number){
            .name = q ? q->name : "pipeline",
            .text = q ? q->text : "added to the latencies of arithmetic",
            .before = q ? *at(s->start, q) : 0,
            .value = q ? *at(&f->machine, q) : pipeline_unit * x[i],
            .known = known[i]};
        if (known[i] < least_known) f->undetermined |= UINT64_C(1) << i;
    }
}

void fit_timing(const struct timing_data *d, const struct timing_machine *start,
                struct timing_fitting *f)
{
    const struct rows *rows = d->rows;
    struct arena *a = rows->arena;
    const size_t n = rows->count;
    const struct timing_machine complete = completed(start, rows->gpu);
    struct problem p = {.d = d, .space = {.start = &complete}};
    double x[TIMING_NUMBERS] = {0}, known[TIMING_NUMBERS] = {0};
    gsl_set_error_handler_off();
    choose_numbers(&p.space);
    p.of_program = arena_array(a, size_t, rows->application_count);
    for (size_t i = 0; i < n; i++) p.of_program[rows->list[i].application]++;
    p.weight = arena_array(a, double, n), p.robust = arena_array(a, double, n);
    p.error = arena_array(a, double, n), p.cycles = arena_array(a, double, n);
    p.slope = arena_array(a, double, n *p.space.count);
    p.moves = arena_array(a, bool, n *p.space.count), p.wanted = arena_array(a, bool, n);
    *f = (struct timing_fitting){.before = arena_array(a, double, n),
                                 .inside = arena_array(a, double, n),
                                 .outside = arena_array(a, double, n),
                                 .estimates = arena_array(a, struct launch_estimate, n)};
    run((struct task){.d = d, .machine = &complete, .cycles = f->before});
    fit_all(&p, x, known);
    put_numbers(&p, x, known, f);
    run((struct task){.d = d, .machine = &f->machine, .cycles = f->inside});
    double *error = arena_array(a, double, n);
    memcpy(error, p.error, n * sizeof *error);
    for (size_t k = 0; k < rows->application_count; k++) {
        say(d, "each program left out", k, rows->application_count);
        fit_without(&p, k, x, error, f);
    }
    f->runs = p.runs;
}
