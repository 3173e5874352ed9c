/* heddle report TARGET: runs the target on each GPU and under each order, and writes its traces to a file. The timing model
 * executes these with a time lapse, and each requested output gets each launch (cli/lapse.h). */
#define _GNU_SOURCE
#include "cli/command.h"
#include "cli/estimate.h"
#include "cli/lapse_outputs.h"
#include "cli/page.h"
#include "cli/terminal.h"

#include "base/arena.h"
#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct command_option options[] = {
    {.name = "output",
     .argument = "FILE",
     .standard = "report.html",
     .help = "The page. None is written if another output is asked for and this is not.",
     .id = 1},
    {.name = "gpu",
     .argument = "NAME[,NAME...]",
     .standard = "titanv",
     .help = "The GPU, as for 'heddle estimate'. Several are put side by side.",
     .id = 1},
    {.name = "order",
     .argument = "ORDER[,ORDER...]",
     .standard = "native",
     .help = "The order, as for 'heddle estimate'. Several are put side by side.",
     .id = 1},
    {.name = "from",
     .argument = "FILE[,FILE...]",
     .help =
         "Trace files of 'heddle estimate --traces' instead of a target. Nothing is run. Several are put side by "
         "side, as two versions of a program.",
     .id = 1},
    {.name = "interval",
     .argument = "CYCLES",
     .standard = "by length",
     .help = "Cycles of an interval. Without it the smallest power of two that gives at most 1000 "
             "intervals.",
     .id = 1},
    {.name = "all-sms",
     .help =
         "Model every SM that was traced, so that none stands for others. The cycles may differ "
         "from those of 'heddle estimate'.",
     .id = 1},
    {.name = "races",
     .help = "Run the target once more with --check race, and show what it finds.",
     .id = 1},
    {.name = "verdict",
     .help = "Run 'heddle check' on the target, and show whether it has one result.",
     .id = 1},
    {.name = "communication",
     .help = "Run 'heddle communication' on the target, and show what launches pass to each other.",
     .id = 1},
    {.name = "json", .argument = "FILE", .help = "What the page shows, as JSON.", .id = 1},
    {.name = "csv",
     .argument = "FILE",
     .help = "The time lapse: a row for each interval of each SM, L2 slice and DRAM channel.",
     .id = 1},
    {.name = "svg",
     .argument = "FILE",
     .help = "The time lapse of the longest launch of each run, as a figure.",
     .id = 1},
    {.name = "perfetto",
     .argument = "FILE",
     .help = "CTAs, modes and counters for ui.perfetto.dev (TrackEvent protobuf).",
     .id = 1},
    {.name = "chrome-trace",
     .argument = "FILE",
     .help = "The same as JSON for chrome://tracing.",
     .id = 1},
    {.name = "aerialvision",
     .argument = "FILE",
     .help = "A log for AerialVision of GPGPU-Sim, compressed by gzip.",
     .id = 1},
    {.name = "konata",
     .argument = "FILE",
     .help =
         "What each warp waited for and when it issued which instruction, for the pipeline viewer Konata.",
     .id = 1},
};

enum output { CSV, SVG, PERFETTO, CHROME, AERIALVISION, KONATA, OUTPUTS };
struct report_call {
    const char *page, *json, *from;
    const char *path[OUTPUTS];
    double interval;
    bool all_sms, races, verdict, communication;
};

/* ---- the command line ------------------------------------------------------------------------------------ */

static struct report_call *of(const struct estimate_call *c)
{
    return c->self;
}

static bool set_once(const char *name, const char **to, const char *value)
{
    if (*to) return usage_error("report", "%s is given twice", name), false;
    *to = value;
    return true;
}

#define SETTER(function, name, field)                                                              \
    static bool function(struct estimate_call *c, const char *value)                               \
    {                                                                                              \
        return set_once(name, &of(c)->field, value);                                               \
    }
SETTER(set_page, "--output", page)
SETTER(set_json, "--json", json)
SETTER(set_from, "--from", from)
SETTER(set_csv, "--csv", path[CSV])
SETTER(set_svg, "--svg", path[SVG])
SETTER(set_perfetto, "--perfetto", path[PERFETTO])
SETTER(set_chrome, "--chrome-trace", path[CHROME])
SETTER(set_aerialvision, "--aerialvision", path[AERIALVISION])
SETTER(set_konata, "--konata", path[KONATA])
#undef SETTER

static bool set_interval(struct estimate_call *c, const char *value)
{
    unsigned long n;
    if (!option_number("report", "--interval", value, 1ul << 40, &n)) return false;
    if (!n) return usage_error("report", "--interval is at least 1"), false;
    of(c)->interval = (double)n;
    return true;
}

static bool set_all_sms(struct estimate_call *c, const char *value)
{
    (void)value;
    return of(c)->all_sms = true;
}

static bool set_races(struct estimate_call *c, const char *value)
{
    (void)value;
    return of(c)->races = true;
}

static bool set_verdict(struct estimate_call *c, const char *value)
{
    (void)value;
    return of(c)->verdict = true;
}

static bool set_communication(struct estimate_call *c, const char *value)
{
    (void)value;
    return of(c)->communication = true;
}

static const struct estimate_option added[] = {{"--output", set_page, false},
                                               {"-o", set_page, false},
                                               {"--json", set_json, false},
                                               {"--from", set_from, false},
                                               {"--csv", set_csv, false},
                                               {"--svg", set_svg, false},
                                               {"--perfetto", set_perfetto, false},
                                               {"--chrome-trace", set_chrome, false},
                                               {"--aerialvision", set_aerialvision, false},
                                               {"--konata", set_konata, false},
                                               {"--interval", set_interval, false},
                                               {"--all-sms", set_all_sms, true},
                                               {"--races", set_races, true},
                                               {"--verdict", set_verdict, true},
                                               {"--communication", set_communication, true},
                                               {NULL, NULL, false}};

/* What is asked for contradicts itself. */
static int judge(struct estimate_call *c)
{
    struct report_call *r = of(c);
    bool other = r->json != NULL;
    for (int k = 0; k < OUTPUTS; k++) other |= r->path[k] != NULL;
    if (!r->page && !other) r->page = "report.html";
    if (r->from && c->target) return usage_error("report", "--from takes no target");
    if (r->from && (c->order_count || r->races || r->verdict || r->communication))
        return usage_error("report", "--from runs nothing: without --order, --races, --verdict and "
                                     "--communication");
    if (!r->from && !c->target) return usage_error("report", "no target");
    if (c->format != FORMAT_TABLE || c->traces)
        return usage_error("report", "--format and --traces are for 'heddle estimate'");
    return EXIT_FINE;
}

/* ---- other commands, whose JSON the page shows -------------------------------------------------------------- */

/* The standard output of `heddle COMMAND ... TARGET`. NULL: it printed no document. */
static char *output_of(const struct estimate_call *c, const char *const *words, size_t count)
{
    int ends[2];
    struct buf text = {0};
    char **argv = arena_array(c->arena, char *, count + (size_t)c->word_count + 2);
    size_t n = 0;
    argv[n++] = (char *)"heddle";
    for (size_t i = 0; i < count; i++) argv[n++] = (char *)words[i];
    for (int i = 4; i < c->word_count; i++) argv[n++] = c->words[i];
    if (pipe(ends) != 0) return NULL;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    (void)close(ends[1]);
    char piece[4096];
    for (ssize_t got; child > 0 && (got = read(ends[0], piece, sizeof piece)) > 0;)
        buf_add(&text, piece, (size_t)got);
    (void)close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    char *out = text.size && *text.data == '{' ? arena_copy(c->arena, text.data, text.size) : NULL;
    buf_free(&text);
    return out;
}

/* `heddle run` prints what the program prints in front of its document. */
static bool ask(const struct estimate_call *c, struct page *page)
{
    static const char *const races[] = {"run", "--check=race", "--format=json"},
                             *const check[] = {"check", "--format=json"},
                             *const communication[] = {"communication", "--format=json"};
    if (of(c)->races && !(page->races = output_of(c, races, 3)))
        return usage_error("report", "'heddle run --check race' gave no document"), false;
    if (of(c)->verdict && !(page->check = output_of(c, check, 2)))
        return usage_error("report", "'heddle check' gave no document"), false;
    if (of(c)->communication && !(page->communication = output_of(c, communication, 2)))
        return usage_error("report", "'heddle communication' gave no document"), false;
    return true;
}

/* ---- runs -------------------------------------------------------------------------------------------------- */

struct outputs {
    struct lapse_file file[OUTPUTS];
    struct lapse_sink sink[OUTPUTS + 1];
    const struct lapse_sink *list[OUTPUTS + 1];
    size_t count;
};

static int open_outputs(const struct report_call *r, struct outputs *o)
{
    static struct lapse_sink (*const make[OUTPUTS])(struct lapse_file *) = {
        lapse_csv, lapse_svg, lapse_perfetto, lapse_chrome, lapse_aerialvision, lapse_konata};
    for (int k = 0; k < OUTPUTS; k++) {
        if (!r->path[k]) continue;
        if (!replacement_open(&o->file[k].file, r->path[k]))
            return usage_error("report", "cannot write '%s': %s", r->path[k], strerror(errno));
        o->sink[o->count] = make[k](&o->file[k]);
        o->list[o->count] = &o->sink[o->count];
        o->count++;
    }
    return EXIT_FINE;
}

static int close_outputs(const struct report_call *r, struct outputs *o, int status)
{
    static void (*const finish[OUTPUTS])(struct lapse_file *) = {
        [SVG] = lapse_svg_end,
        [CHROME] = lapse_chrome_end,
        [AERIALVISION] = lapse_aerialvision_end};
    for (int k = 0; k < OUTPUTS; k++) {
        if (!r->path[k]) continue;
        if (finish[k] && o->file[k].file.out) finish[k](&o->file[k]);
        const bool good = status == EXIT_FINE;
        if (!replacement_close(&o->file[k].file, good && !o->file[k].failed) && good)
            status = usage_error("report", "cannot write '%s': %s", r->path[k], strerror(errno));
    }
    return status;
}

void lapse_file_add(struct lapse_file *f, struct buf *b)
{
    if (b->size && fwrite(b->data, 1, b->size, f->file.out) != b->size) f->failed = true;
    f->written += b->size;
    buf_free(b);
}

static int read_one(const struct lapse_source *s, const struct outputs *o)
{
    size_t launches = 0;
    const char *why = lapse_read(s, o->list, o->count, &launches);
    if (why) {
        fprintf(stderr, "heddle report: '%s': %s\n", s->trace, why);
        return EXIT_INPUT;
    }
    if (launches) return EXIT_FINE;
    fprintf(stderr, "heddle report: no launch could be estimated\n");
    return EXIT_INPUT;
}

/* Runs the target with its traces in a file of its own, which goes when it has been read. */
static int run_one(struct estimate_call *c, size_t gpu, const char *order, struct lapse_source *s,
                   const struct outputs *o)
{
    struct estimates estimates;
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(c->arena, "%s/heddle-report-XXXXXX",
                              folder && *folder ? folder : "/tmp");
    const int file = mkstemp(path);
    if (file < 0) return usage_error("report", "cannot write '%s': %s", path, strerror(errno));
    (void)close(file);
    c->traces = path;
    c->traces_only = true;
    c->operations = of(c)->path[PERFETTO] || of(c)->path[CHROME];
    int status = estimate_run(c, c->gpus[gpu], order, &estimates);
    s->operations = estimates.operations, s->operation_count = estimates.operation_count;
    s->launches = estimates.list, s->launch_count = estimates.count;
    s->trace = path, s->gpu = c->gpu_names[gpu], s->order = order;
    if (status == EXIT_FINE) status = read_one(s, o);
    (void)unlink(path);
    c->traces = NULL;
    return status;
}

static struct lapse_source source_of(const struct estimate_call *c)
{
    const struct report_call *r = of(c);
    return (struct lapse_source){
        .interval = r->interval, .all_sms = r->all_sms, .issues = r->path[KONATA] != NULL};
}

static int run_all(struct estimate_call *c, const struct outputs *o)
{
    struct lapse_source s = source_of(c);
    int status = EXIT_FINE;
    const size_t orders = c->order_count ? c->order_count : 1;
    struct steps steps;
    steps_begin(&steps, "runs");
    for (size_t g = 0; g < c->gpu_count; g++)
        for (size_t k = 0; k < orders && status == EXIT_FINE; k++, s.number++) {
            steps_tell(&steps, s.number, c->gpu_count * orders);
            status = run_one(c, g, c->order_count ? c->orders[k] : "native", &s, o);
        }
    steps_end(&steps);
    return status;
}

static int read_files(struct estimate_call *c, const struct outputs *o)
{
    struct lapse_source s = source_of(c);
    int status = EXIT_FINE;
    for (const char *at = of(c)->from; *at && status == EXIT_FINE; s.number++) {
        const size_t n = strcspn(at, ",");
        s.trace = arena_copy(c->arena, at, n);
        status = read_one(&s, o);
        at += n + (at[n] == ',');
    }
    return status;
}

/* ---- the page ----------------------------------------------------------------------------------------------- */

static int write_text(struct page *page, const char *path, bool html)
{
    struct replacement f;
    struct buf json = {0};
    bool ok = replacement_open(&f, path);
    if (ok && html) ok = page_write(page, f.out);
    else if (ok) {
        page_json(page, &json);
        buf_putc(&json, '\n');
        ok = fwrite(json.data, 1, json.size, f.out) == json.size;
        buf_free(&json);
    }
    if (replacement_close(&f, ok)) return EXIT_FINE;
    return usage_error("report", "cannot write '%s': %s", path, strerror(errno));
}

static int write_page(const struct estimate_call *c, struct page *page)
{
    const struct report_call *r = of(c);
    int status = EXIT_FINE;
    if (r->json) status = write_text(page, r->json, false);
    if (status != EXIT_FINE || !r->page) return status;
    status = write_text(page, r->page, true);
    if (status == EXIT_FINE)
        fprintf(stderr, "heddle report: '%s' is there: open it in a browser\n", r->page);
    return status;
}

static const char *words_text(struct arena *a, int argc, char **argv, int from)
{
    struct buf b = {0};
    for (int i = from; i < argc; i++) buf_printf(&b, "%s%s", i > from ? " " : "", argv[i]);
    const char *text = arena_copy(a, b.data ? b.data : "", b.size);
    buf_free(&b);
    return text;
}

static int make(struct estimate_call *c, int argc, char **argv)
{
    struct outputs o = {0};
    const struct report_call *r = of(c);
    struct page page = {
        .arena = c->arena,
        .command = arena_printf(c->arena, "heddle report %s", words_text(c->arena, argc, argv, 1)),
        .target = r->from ? r->from : words_text(c->arena, c->word_count, c->words, c->target)};
    int status = open_outputs(r, &o);
    if (r->page || r->json) {
        o.sink[o.count] = page_sink(&page);
        o.list[o.count] = &o.sink[o.count];
        o.count++;
    }
    if (status == EXIT_FINE) status = r->from ? read_files(c, &o) : run_all(c, &o);
    if (status == EXIT_FINE && !ask(c, &page)) status = EXIT_INPUT;
    if (status == EXIT_FINE) status = write_page(c, &page);
    status = close_outputs(r, &o, status);
    page_free(&page);
    return status;
}

static int report(int argc, char **argv)
{
    struct arena *arena = arena_new();
    struct report_call r = {0};
    struct estimate_call c = {.arena = arena, .command = "report", .added = added, .self = &r};
    int status = estimate_read_call(&c, argc, argv) ? judge(&c) : c.status;
    if (status == EXIT_FINE) status = estimate_coefficients(&c);
    if (status == EXIT_FINE) status = make(&c, argc, argv);
    arena_free(arena);
    return finish_output("report", status);
}

const struct command command_report = {
    .name = "report",
    .summary = "show what a run did over time: an HTML page, figures, files for other tools",
    .usage = "report [options] TARGET [ARGUMENTS]\nreport [options] --from FILE[,FILE...]",
    .description =
        "Runs TARGET (as for 'heddle estimate') and writes one HTML file that any browser opens, without a "
        "server and without network: launches, what schedulers do over time for each SM, modes of GPUDet and DAB, "
        "L2 and DRAM, roofline, occupancy, and the source with the counts of each line. Several GPUs and orders are "
        "shown below each other on one axis of time, with their launches side by side.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard error.\n"
        "The same data can be written for papers (--csv, --svg) and for other tools (--perfetto, --chrome-trace, "
        "--aerialvision, --konata). Times are those of 'heddle estimate' (docs/report.md).",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples = "  heddle report suite:bfs --order native,gpudet,dab --output bfs.html\n"
                "  heddle report --gpu gv100,titanv ./app 4096\n"
                "  heddle report --from before.hdt,after.hdt --output difference.html",
    .run = report,
};
