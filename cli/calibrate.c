/* `heddle calibrate`: reads measured launches, fits, reports. */
#define _GNU_SOURCE /* popen */
#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/replace.h"
#include "calibrate/report.h"
#include "calibrate/residuals.h"
#include "calibrate/traces.h"
#include "cli/command.h"
#include "cli/gpu_file.h"
#include "cli/terminal.h"
#include "model/counter_fit.h"
#include "model/timing_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct command_option options[] = {
    {.name = "gpu",
     .argument = "NAME|FILE",
     .help = "The GPU that was measured: a name of 'heddle gpus', or a file. Required.",
     .id = 1},
    {.name = "output",
     .argument = "FILE",
     .help = "Write the result with the figures of its fit (YAML).",
     .id = 1},
    {.name = "traces",
     .argument = "FILE",
     .help = "The traces of the launches: fit the timing model. May be given several times.",
     .id = 1},
    {.name = "start",
     .argument = "FILE",
     .help = "The timing model's numbers before any cycles are seen, as far as they are known. The "
             "others follow from "
             "the configuration.",
     .id = 1},
    {.name = "where",
     .argument = "COLUMN=VALUE",
     .help = "Use only lines of the CSV that have this value in this column.",
     .id = 1},
    {.name = "plot",
     .argument = "FILE.svg",
     .help = "Draw estimated over measured cycles (needs gnuplot).",
     .id = 1},
    {.name = "csv", .argument = "FILE", .help = "Write the launches as Heddle's own CSV.", .id = 1},
    {.name = "predict",
     .help = "Fit nothing: estimate the launches with the built-in weights, as CSV, with an 80 % "
             "interval, what limits "
             "each, its share of the roofline, and in which counters it lies outside the launches "
             "that were fitted.",
     .id = 1},
    {.name = "residuals",
     .argument = "FILE",
     .help =
         "Write measured over estimated cycles of each launch, by a fit without its program, as CSV. With --traces.",
     .id = 1},
    {.name = "coverage",
     .help =
         "Fit nothing: print how often intervals hold that are made of such residuals (FILE...) without the "
         "program, or the GPU, whose launches they are judged by.",
     .id = 1},
    {.name = "allow-undetermined",
     .help = "Numbers that the data do not determine keep their earlier value.",
     .id = 1},
};

enum { MOST_FILES = 64, MOST_BYTES = 1 << 28 };

struct request {
    const char *gpu, *output, *plot, *csv, *where, *start, *residuals;
    bool coverage;
    bool undetermined; /* is fine */
    bool predict;
    const char *files[MOST_FILES], *traces[MOST_FILES];
    size_t file_count, trace_count;
};

static bool take_option(char **argv, int *i, struct request *q)
{
    const struct {
        const char *name, **value;
    } files[] = {{"--gpu", &q->gpu},
                 {"--output", &q->output},
                 {"--plot", &q->plot},
                 {"--csv", &q->csv},
                 {"--where", &q->where},
                 {"--start", &q->start},
                 {"--residuals", &q->residuals}};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        const char *value = option_value(argv, i, files[k].name);
        if (!value) continue;
        if (*files[k].value)
            return usage_error("calibrate", "%s is given twice", files[k].name), false;
        *files[k].value = value;
        return true;
    }
    const char *traces = option_value(argv, i, "--traces");
    if (traces && q->trace_count < MOST_FILES) {
        q->traces[q->trace_count++] = traces;
        return true;
    }
    if (strcmp(argv[*i], "--allow-undetermined") == 0) return q->undetermined = true;
    if (strcmp(argv[*i], "--predict") == 0) return q->predict = true;
    if (strcmp(argv[*i], "--coverage") == 0) return q->coverage = true;
    if (traces) return usage_error("calibrate", "at most %d files of traces", MOST_FILES), false;
    (void)bad_option(&command_calibrate, argv[*i]);
    return false;
}

/* Before a fit of minutes, whose result it is to hold. */
static bool writable(const char *path)
{
    if (!path || replacement_possible(path)) return true;
    return usage_error("calibrate", "cannot write '%s': %s", path, strerror(errno)), false;
}

static bool predicts_alone(const struct request *q)
{
    const char *other = q->output         ? "--output"
                        : q->plot         ? "--plot"
                        : q->trace_count  ? "--traces"
                        : q->undetermined ? "--allow-undetermined"
                                          : NULL;
    if (!q->predict || !other) return true;
    return usage_error("calibrate", "--predict fits nothing: leave out %s", other), false;
}

/* Residuals say themselves which GPU they are of. */
static bool covers_alone(const struct request *q)
{
    const char *other = q->gpu            ? "--gpu"
                        : q->output       ? "--output"
                        : q->residuals    ? "--residuals"
                        : q->csv          ? "--csv"
                        : q->where        ? "--where"
                        : q->predict      ? "--predict"
                        : q->plot         ? "--plot"
                        : q->start        ? "--start"
                        : q->trace_count  ? "--traces"
                        : q->undetermined ? "--allow-undetermined"
                                          : NULL;
    if (!other) return true;
    return usage_error("calibrate", "--coverage reads residuals: leave out %s", other), false;
}

static bool parse(int argc, char **argv, struct request *q)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (!take_option(argv, &i, q)) return false;
        } else if (q->file_count == MOST_FILES)
            return usage_error("calibrate", "more than %d files", MOST_FILES), false;
        else q->files[q->file_count++] = argv[i];
    }
    if (!q->file_count) return usage_error("calibrate", "which measured launches?"), false;
    if (q->coverage) return covers_alone(q);
    if (!q->gpu) return usage_error("calibrate", "--gpu says what was measured"), false;
    if (q->start && !q->trace_count)
        return usage_error("calibrate", "--start is for a fit of the timing model: --traces"),
               false;
    if (q->residuals && !q->trace_count)
        return usage_error("calibrate", "--residuals is for a fit of the timing model: --traces"),
               false;
    if (q->where && !strchr(q->where, '='))
        return usage_error("calibrate", "--where is COLUMN=VALUE, not '%s'", q->where), false;
    return predicts_alone(q) && writable(q->output) && writable(q->plot) && writable(q->csv) &&
           writable(q->residuals);
}

/* Reads measured launches, or residuals. */
static int read_file(struct rows *rows, struct residuals *residuals, const char *path)
{
    struct buf text = {0};
    const bool fine = buf_add_file(&text, path, MOST_BYTES);
    if (!fine)
        fprintf(stderr, "heddle calibrate: cannot read '%s': %s\n", path,
                errno == EFBIG ? "larger than 256 MB" : strerror(errno));
    int status = fine ? EXIT_FINE : EXIT_USAGE;
    if (fine) {
        const struct source source = {path, text.data ? text.data : "", (uint32_t)text.size};
        struct diags d = {.arena = rows->arena, .source = &source};
        struct buf out = {0};
        if (!(residuals ? residuals_read(residuals, &d) : rows_read(rows, &d))) status = EXIT_INPUT;
        diags_render(&d, &out);
        if (out.data) fputs(out.data, stderr);
        buf_free(&out);
    }
    buf_free(&text);
    return status;
}

static int write_file(const char *path, const struct buf *b)
{
    struct replacement f;
    const bool ok = replacement_open(&f, path) && fwrite(b->data, 1, b->size, f.out) == b->size;
    if (!replacement_close(&f, ok)) {
        fprintf(stderr, "heddle calibrate: cannot write '%s': %s\n", path, strerror(errno));
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

/* A missing gnuplot is no failure of the calibration. */
static void plot(const struct rows *rows, const double *estimate, const char *svg)
{
    struct buf script = {0};
    report_plot(&script, rows, estimate, svg);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    FILE *f = popen("gnuplot", "w");
    if (f) fwrite(script.data, 1, script.size, f);
    const int status = f ? pclose(f) : -1;
    signal(SIGPIPE, before);
    if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
        fprintf(stderr, "heddle calibrate: no plot: gnuplot is not installed\n");
    else if (status) fprintf(stderr, "heddle calibrate: no plot: gnuplot failed\n");
    buf_free(&script);
}

static bool determined(const struct request *q, const struct fit *f)
{
    if (!f->undetermined || q->undetermined) return true;
    fprintf(stderr, "heddle calibrate: these launches do not determine\n");
    for (int i = 0; i < WEIGHTS; i++)
        if (f->undetermined >> i & 1)
            fprintf(stderr, "  %s: %s\n", weight_infos[i].name, weight_infos[i].text);
    fprintf(stderr, "Add launches that depend on them, or let them stay what they were thought to "
                    "be: --allow-undetermined\n");
    return false;
}

/* ---- the timing model ------------------------------------------------------------------------------------------- */

/* A fit has parts; each has steps of its own. The reading of traces is the first. */
struct fit_steps {
    struct steps steps;
    const char *part; /* the text that fit_timing() passed; NULL: before the first */
};

static void progress(void *self, const char *what, size_t done, size_t all)
{
    struct fit_steps *s = self;
    if (!s->part || strcmp(s->part, what) != 0) {
        steps_end(&s->steps);
        steps_begin(&s->steps, strcmp(what, "all programs") == 0 ? "fits of all programs"
                                                                 : "fits without a program");
        s->part = what;
    }
    steps_tell(&s->steps, done, all);
}

static int read_traces(const struct request *q, struct traces *t)
{
    for (size_t i = 0; i < q->trace_count; i++) {
        if (!can_read(q->traces[i])) {
            fprintf(stderr, "heddle calibrate: cannot read '%s': %s\n", q->traces[i],
                    strerror(errno));
            return EXIT_USAGE;
        }
        const char *why = traces_read(t, q->traces[i]);
        if (!why) continue;
        fprintf(stderr, "heddle calibrate: '%s': %s\n", q->traces[i], why);
        return EXIT_INPUT;
    }
    return EXIT_FINE;
}

/* What is known of the machine before any cycles: a file, or the configuration alone. */
static const struct timing_fit *start_of(const struct request *q, struct rows *rows)
{
    struct buf why = {0};
    struct timing_fit *fit = arena_array(rows->arena, struct timing_fit, 1);
    fit->gpu = rows->gpu->name;
    machine_configured(rows->gpu, &fit->machine);
    if (!q->start) return fit;
    const struct timing_fit *read = timing_file_load(q->start, rows->gpu, rows->arena, &why);
    if (why.data) fputs(why.data, stderr);
    buf_free(&why);
    if (read && strcmp(read->gpu, rows->gpu->name) != 0) {
        usage_error("calibrate", "'%s' is of %s, not of %s", q->start, read->gpu, rows->gpu->name);
        return NULL;
    }
    return read;
}

static bool timing_determined(const struct request *q, const struct timing_fitting *f)
{
    if (!f->undetermined || q->undetermined) return true;
    fprintf(stderr, "heddle calibrate: these launches do not determine\n");
    for (size_t i = 0; i < f->count; i++)
        if (f->undetermined >> i & 1)
            fprintf(stderr, "  %s: %s\n", f->numbers[i].name, f->numbers[i].text);
    fprintf(stderr, "Add launches that depend on them, or let them stay what they were thought to "
                    "be: --allow-undetermined\n");
    return false;
}

static struct residuals residuals_of(const struct timing_data *d, const struct timing_fitting *f,
                                     const struct timing_machine *alone)
{
    const struct rows *rows = d->rows;
    struct residuals out = {.arena = rows->arena};
    struct launch_estimate *by_configuration = arena_array(rows->arena, struct launch_estimate,
                                                           rows->count);
    timing_estimates(d, alone, by_configuration);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        const double cycles = row->counters.cycles;
        const struct residual x = {.gpu = rows->gpu->name,
                                   .program = rows->applications[row->application],
                                   .run = row->run,
                                   .launch = row->launch,
                                   .regime = launch_regime_of(&f->estimates[i]),
                                   .ratio = cycles / f->estimates[i].cycles,
                                   .configuration_ratio = cycles / by_configuration[i].cycles};
        residuals_add(&out, &x);
    }
    return out;
}

/* Writes what was asked for. */
static int write_timing(const struct request *q, const struct residuals *residuals,
                        const struct buf *file)
{
    struct buf text = {0};
    int status = q->output ? write_file(q->output, file) : EXIT_FINE;
    if (q->residuals && status == EXIT_FINE) {
        residuals_write(residuals, &text);
        status = write_file(q->residuals, &text);
    }
    buf_free(&text);
    return status;
}

static int fit_of_timing(const struct request *q, const struct timing_data *d,
                         const struct timing_fit *start)
{
    struct rows *rows = (struct rows *)d->rows;
    struct timing_fitting fit;
    struct timing_machine alone;
    double *cycles = arena_array(rows->arena, double, rows->count);
    struct timing_report r = {.data = d, .fit = &fit, .measured = start->measured};
    struct buf text = {0}, file = {0};
    fit_timing(d, &start->machine, &fit);
    steps_end(&((struct fit_steps *)d->progress_self)->steps);
    if (!timing_determined(q, &fit)) return EXIT_INPUT;
    machine_configured(rows->gpu, &alone);
    alone.scheduled =
        start->machine.scheduled; /* what a simulator does is no part of a GPU's configuration */
    alone.start = start->machine.start;
    timing_cycles(d, &alone, cycles);
    figures_of(rows, cycles, &r.alone);
    figures_of(rows, fit.before, &r.before);
    figures_of(rows, fit.inside, &r.inside);
    figures_of(rows, fit.outside, &r.outside);
    const struct residuals residuals = residuals_of(d, &fit, &alone);
    r.residuals = &residuals;
    r.files = q->files, r.file_count = q->file_count;
    if (!r.measured) r.measured = q->files[0];
    report_timing_text(&text, &r);
    report_timing_file(&file, &r);
    fputs(text.data, stdout);
    const int status = write_timing(q, &residuals, &file);
    if (q->plot) plot(rows, fit.outside, q->plot);
    buf_free(&text);
    buf_free(&file);
    return status;
}

static int calibrate_timing(const struct request *q, struct rows *rows)
{
    struct traces traces = {.arena = rows->arena};
    struct buf said = {0};
    const struct emu_counts **launch = arena_array(rows->arena, const struct emu_counts *,
                                                   rows->count);
    int status = read_traces(q, &traces);
    const struct timing_fit *start = status ? NULL : start_of(q, rows);
    if (!start) return status ? status : EXIT_INPUT;
    traces_match(&traces, rows, launch, &said);
    if (said.data) fputs(said.data, stderr);
    buf_free(&said);
    if (rows->application_count < 3) {
        fprintf(stderr,
                "heddle calibrate: %zu launches of %zu programs have traces: 3 are needed "
                "at least\n",
                rows->count, rows->application_count);
        return EXIT_INPUT;
    }
    struct fit_steps steps = {.part = NULL};
    const struct timing_data d = {
        .rows = rows, .launch = launch, .progress = progress, .progress_self = &steps};
    return fit_of_timing(q, &d, start);
}

/* ---- the counter model -------------------------------------------------------------------------------------------- */

/* Whether each launch has what the form is made of; `who` wants it. */
static bool counted(const struct rows *rows, const char *who)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        if (!row->lacks) continue;
        fprintf(stderr, "%s:%u: cycles without %s: %s\n", row->file, row->line, row->lacks, who);
        return false;
    }
    return true;
}

static int calibrate(const struct request *q, struct rows *rows)
{
    if (!counted(rows, "a fit of the weights wants all counters, one of the timing model "
                       "the launches' traces (--traces)"))
        return EXIT_INPUT;
    struct fit fit;
    if (rows->application_count < 3 || rows->count < 2 * WEIGHTS) {
        fprintf(stderr,
                "heddle calibrate: %zu launches of %zu applications: %d of 3 are needed at least\n",
                rows->count, rows->application_count, 2 * WEIGHTS);
        return EXIT_INPUT;
    }
    fit_rows(rows, &fit);
    if (!determined(q, &fit)) return EXIT_INPUT;
    struct report r = {.rows = rows, .fit = &fit, .files = q->files, .file_count = q->file_count};
    struct buf text = {0}, file = {0};
    figures_of(rows, fit.inside, &r.inside);
    figures_of(rows, fit.outside, &r.outside);
    report_text(&text, &r);
    report_counter_fit(&file, &r);
    fputs(text.data, stdout);
    int status = q->output ? write_file(q->output, &file) : EXIT_FINE;
    if (q->plot) plot(rows, fit.outside, q->plot);
    buf_free(&text);
    buf_free(&file);
    return status;
}

static void print_outside(unsigned outside)
{
    const char *between = "";
    for (int f = 0; f < COUNTER_FEATURES; f++) {
        if (!(outside >> f & 1)) continue;
        printf("%s%s", between, counter_feature_name((enum counter_feature)f));
        between = " ";
    }
    putchar('\n');
}

/* Estimates by the coefficients that are built in, as CSV; their errors go to standard error. */
static int predict(const struct rows *rows)
{
    if (!counted(rows, "an estimate by the weights wants all counters")) return EXIT_INPUT;
    bool borrowed;
    const struct counter_fit *k = counter_fit_for(rows->gpu, &borrowed);
    double *cycles = arena_array(rows->arena, double, rows->count);
    struct figures f;
    puts("application,kernel,cycles,estimate,low,high,bound_by,roof_share,outside");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->list[i];
        struct counter_estimate e;
        counter_model_estimate(rows->gpu, k, borrowed, &row->counters, &e);
        cycles[i] = e.cycles;
        printf("\"%s\",\"%s\",%.6g,%.6g,%.6g,%.6g,%s,%.4f,", rows->applications[row->application],
               row->kernel, row->counters.cycles, e.cycles, e.low, e.high,
               term_name(e.terms.bottleneck), e.roofline.performance / e.roofline.roof);
        print_outside(e.outside);
    }
    figures_of(rows, cycles, &f);
    fprintf(
        stderr,
        "weights of %s%s: mean error %.1f %%, by application %.1f %%, median %.1f %%, rank %.3f\n",
        k->gpu, borrowed ? ", borrowed" : "", 100 * f.mean, 100 * f.by_application, 100 * f.median,
        f.rank);
    return EXIT_FINE;
}

static int convert(const struct request *q, const struct rows *rows)
{
    if (!counted(rows, "Heddle's own CSV has all counters")) return EXIT_INPUT;
    struct buf csv = {0};
    rows_write(rows, &csv);
    const int status = write_file(q->csv, &csv);
    buf_free(&csv);
    return status;
}

/* How often intervals hold. */
static int coverage(const struct request *q, struct arena *a)
{
    struct rows rows = {.arena = a};
    struct residuals r = {.arena = a};
    struct buf text = {0};
    for (size_t i = 0; i < q->file_count; i++) {
        const int status = read_file(&rows, &r, q->files[i]);
        if (status) return status;
    }
    residuals_table(&r, &text);
    fputs(text.data, stdout);
    buf_free(&text);
    return EXIT_FINE;
}

static int calibrate_run(int argc, char **argv)
{
    struct request q = {0};
    if (!parse(argc, argv, &q)) return EXIT_USAGE;
    struct arena *a = arena_new();
    int status = EXIT_FINE;
    if (q.coverage) {
        status = coverage(&q, a);
        arena_free(a);
        return finish_output("calibrate", status);
    }
    struct rows rows = {.arena = a, .gpu = gpu_named("calibrate", q.gpu, a, &status)};
    if (q.where) {
        rows.column = arena_copy(a, q.where, strcspn(q.where, "="));
        rows.value = strchr(q.where, '=') + 1;
    }
    for (size_t i = 0; i < q.file_count && !status; i++)
        status = read_file(&rows, NULL, q.files[i]);
    if (!status && q.csv) status = convert(&q, &rows);
    if (!status && !rows.count) {
        fprintf(stderr, "heddle calibrate: no launches\n");
        status = EXIT_INPUT;
    }
    if (!status)
        status = q.predict       ? predict(&rows)
                 : q.trace_count ? calibrate_timing(&q, &rows)
                                 : calibrate(&q, &rows);
    arena_free(a);
    return finish_output("calibrate", status);
}

const struct command command_calibrate = {
    .name = "calibrate",
    .summary = "fit the model's weights to measured launches",
    .usage = "calibrate FILE.csv... --gpu NAME [options]\n"
             "calibrate --coverage RESIDUALS.csv...",
    .description =
        "Reads launches with their counters and measured cycles, fits the weights of the counter "
        "model to them with "
        "GSL, and reports how far estimates lie from the measured cycles: for each application "
        "by a fit without its "
        "launches. A FILE is Heddle's own CSV, 'ncu --csv' (--page raw, or --metrics with a line "
        "for each), a sheet "
        "of Nsight Compute's metrics, or the output of GPGPU-Sim; docs/model.md lists the "
        "columns.\n"
        "With --traces, the numbers of the timing model are fitted, which 'heddle estimate' "
        "uses: the measured "
        "launches are run once ('heddle estimate --traces'), and timed again with other numbers. "
        "Only their cycles "
        "are needed then (columns program, args, launch, kernel, cycles).",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  success\n"
                   "  1  a file has errors, or its launches do not determine a weight\n"
                   "  2  a wrong call, or a file that cannot be read or written",
    .examples =
        "  heddle calibrate calibrate/data/gv100.csv --gpu gv100 --output gv100.yaml\n"
        "  heddle estimate --gpu titanv --traces runs.traces ./saxpy 4096\n"
        "  heddle calibrate cycles.csv --gpu titanv --traces runs.traces --output titanv.yaml\n"
        "  heddle estimate --gpu titanv --coefficients titanv.yaml ./other\n"
        "  heddle calibrate --coverage calibrate/data/residuals.csv",
    .run = calibrate_run,
};
