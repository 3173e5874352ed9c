/* heddle sweep: reads a plan, runs missing cells, writes results. */
#define _GNU_SOURCE
#include "cli/sweep.h"

#include "cli/command.h"
#include "cli/job_file.h"

#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_MERGED = 64, MOST_JOBS = 1024, MOST_PLAN = 1 << 20 };

#define PLANS "nightly, thesis-quantum, dab-buffers, litmus, figure-1.1"

static const struct command_option options[] = {
    {.name = "output",
     .argument = "DIR",
     .standard = "NAME.sweep",
     .help = "The folder of journal and results.",
     .id = 'o'},
    {.name = "plan", .argument = "NAME", .help = "A plan that is built in: " PLANS ".", .id = 'p'},
    {.name = "order",
     .argument = "ORDER",
     .standard = "native",
     .help = "Without a plan: an order; {A,B} stands for either. May be given several times.",
     .id = 'O'},
    {.name = "seeds",
     .argument = "FIRST-LAST",
     .standard = "1",
     .help = "Without a plan: the seeds of orders other than native.",
     .id = 's'},
    {.name = "gpu",
     .argument = "NAME[,NAME...]",
     .standard = "v100",
     .help = "Without a plan: the GPUs.",
     .id = 'g'},
    {.name = "measure",
     .argument = "digest|estimate|races",
     .standard = "digest",
     .help = "Without a plan: what is measured beside the result. May be given several times.",
     .id = 'm'},
    {.name = "jobs",
     .argument = "N",
     .standard = "one for each core",
     .help = "Processes at a time.",
     .id = 'j'},
    {.name = "dry-run",
     .help = "Print the cells, and how long they may take, as far as the journal knows.",
     .id = 'n'},
    {.name = "probe",
     .help =
         "With --dry-run: first run one cell of each target, order and GPU of which the journal knows nothing. These cells count as run.",
     .id = 'b'},
    {.name = "check", .help = "Only read the plan.", .id = 'C'},
    {.name = "retry-failed", .help = "Also run the cells that failed.", .id = 'r'},
    {.name = "only-stale",
     .help = "Run those cells alone whose program, input or version of Heddle changed.",
     .id = 't'},
    {.name = "mix",
     .help = "Go on in a folder that another version of Heddle or another plan has begun.",
     .id = 'x'},
    {.name = "merge",
     .argument = "DIR",
     .help = "Take over what another folder's journal has. May be given several times.",
     .id = 'M'},
    {.name = "cache",
     .argument = "DIR",
     .help =
         "Take results of workloads and kernel files from DIR where nothing has changed since, and add new ones. Several sweeps may use it at once.",
     .id = 'c'},
    {.name = "junit",
     .argument = "FILE",
     .help = "Also write the verdicts as JUnit XML.",
     .id = 'u'},
    {.name = "no-programs",
     .help = "Refuse plans that name programs: for plans of strangers.",
     .id = 'P'},
    {.name = "quiet", .help = "No progress and no table.", .id = 'q'},
};

struct request {
    struct arena *arena;
    struct sweep_plan plan;
    const char *file, *built_in, *folder, *cache, *junit;
    const char *merged[MOST_MERGED];
    size_t merged_count;
    unsigned long jobs;
    const struct sweep_cluster *cluster; /* NULL: processes of this host */
    bool dry_run, probe, check, retry_failed, only_stale, mix, no_programs, quiet, from_words;
};

/* ---- the command line ------------------------------------------------------------------------- */

static int say(struct diags *d, int status)
{
    struct buf text = {0};
    diags_render(d, &text);
    if (text.data) fputs(text.data, stderr);
    buf_free(&text);
    return status;
}

/* A part of the plan in an option or operand. */
static bool read_part(struct request *q, const char *what, const char *text,
                      bool (*read)(struct sweep_plan *, struct diags *, struct piece))
{
    struct source source = {what, text, (uint32_t)strlen(text)};
    struct diags d = {.arena = q->arena, .source = &source};
    q->from_words = true;
    if (read(&q->plan, &d, (struct piece){text, source.length, 0})) return true;
    say(&d, EXIT_USAGE);
    return false;
}

static bool read_measure(struct sweep_plan *p, struct diags *d, struct piece text)
{
    static const char *const names[] = {"digest", "estimate", "races"};
    for (unsigned i = 0; i < 3; i++)
        if (piece_is(text, names[i])) {
            p->measure |= 1u << i;
            return true;
        }
    diag_error(d, 0, text.length, "a measurement is digest, estimate or races, not '%s'",
               text.text);
    return false;
}

static bool take_option(struct request *q, int id, const char *value)
{
    switch (id) {
    case 'o': q->folder = value; return true;
    case 'p': q->built_in = value; return true;
    case 'O': return read_part(q, "--order", value, sweep_plan_orders);
    case 's': return read_part(q, "--seeds", value, sweep_plan_seeds);
    case 'g': return read_part(q, "--gpu", value, sweep_plan_gpus);
    case 'm': return read_part(q, "--measure", value, read_measure);
    case 'j':
        if (!option_number("sweep", "--jobs", value, MOST_JOBS, &q->jobs)) return false;
        if (!q->jobs) usage_error("sweep", "--jobs wants at least one process");
        return q->jobs;
    case 'n': return q->dry_run = true;
    case 'b': return q->probe = true;
    case 'C': return q->check = true;
    case 'r': return q->retry_failed = true;
    case 't': return q->only_stale = true;
    case 'x': return q->mix = true;
    case 'c': q->cache = value; return true;
    case 'u': q->junit = value; return true;
    case 'P': return q->no_programs = true;
    case 'q': return q->quiet = true;
    default: break;
    }
    if (q->merged_count == MOST_MERGED) return false;
    q->merged[q->merged_count++] = value;
    return true;
}

static bool target(struct sweep_plan *p, struct diags *d, struct piece text)
{
    return sweep_plan_target(p, d, text, true);
}

static bool is_plan(const char *word)
{
    const char *end = strrchr(word, '.');
    return strncmp(word, "suite:", 6) != 0 && end &&
           (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0);
}

/* A plan file alone, or targets. */
static bool take_operands(struct request *q, char **argv, int count)
{
    for (int i = 1; i <= count; i++) {
        if (count == 1 && is_plan(argv[i])) q->file = argv[i];
        else if (!read_part(q, "target", argv[i], target)) return false;
    }
    if (!q->file + !q->built_in + !q->from_words == 2) return true;
    usage_error("sweep", "%s",
                q->file || q->built_in || q->from_words
                    ? "a plan has all that --order, --seeds, --gpu, --measure and targets could say"
                    : "a plan (FILE.yaml), --plan NAME or targets are wanted");
    return false;
}

/* ---- the plan --------------------------------------------------------------------------------- */

static int read_plan(struct request *q)
{
    struct buf text = {0};
    struct source source = {.name = q->file ? q->file : "plan"};
    struct diags d = {.arena = q->arena, .source = &source, .max_errors = 20};
    if (q->file && !buf_add_file(&text, q->file, MOST_PLAN))
        return usage_error("sweep", "cannot read '%s': %s", q->file, strerror(errno));
    if (q->built_in) {
        const char *near = NULL, *own = sweep_plan_built_in(q->built_in, &near);
        if (!own)
            return usage_error("sweep", "there is no plan '%s'%s%s%s", q->built_in,
                               near ? "; did you mean '" : ": " PLANS, near ? near : "",
                               near ? "'?" : "");
        buf_puts(&text, own);
    }
    source.text = arena_copy(q->arena, text.data ? text.data : "", text.size);
    source.length = (uint32_t)text.size;
    buf_free(&text);
    q->plan.file = q->file;
    if (!q->from_words && !sweep_plan_read(&q->plan, &d, !q->no_programs))
        return say(&d, EXIT_INPUT);
    return EXIT_FINE;
}

static bool set_defaults(struct request *q)
{
    struct sweep_plan *p = &q->plan;
    bool ok = true;
    if (!p->name) p->name = q->built_in ? q->built_in : "sweep";
    if (!p->orders) ok = read_part(q, "--order", "native", sweep_plan_orders);
    if (ok && !p->seeds) ok = read_part(q, "--seeds", "1", sweep_plan_seeds);
    if (ok && !p->gpus) ok = read_part(q, "--gpu", "v100", sweep_plan_gpus);
    p->measure |= SWEEP_DIGEST;
    for (const char *c = p->name; *c; c++)
        if (*c == '/' || *c == '.')
            return usage_error("sweep", "the name of a sweep has no '/' and no '.'"), false;
    if (!q->folder) q->folder = arena_printf(q->arena, "%s.sweep", p->name);
    return ok;
}

/* ---- the folder ------------------------------------------------------------------------------- */

/* A dry run that runs nothing writes nothing either, and goes beside a sweep in the folder. */
static bool only_looks(const struct request *q)
{
    return q->dry_run && !q->probe && !q->merged_count;
}

/* What a folder was begun with: of another version or plan it is refused. */
static int check_folder(const struct request *q, const struct sweep_cell *cells, size_t count)
{
    char path[4096], own[200], there[200] = "";
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++) all = all * 31 + strtoull(cells[i].key, NULL, 16);
    snprintf(own, sizeof own, "heddle-sweep 1\nheddle %s\nplan %016llx\n", heddle_version(),
             (unsigned long long)all);
    snprintf(path, sizeof path, "%s/sweep.txt", q->folder);
    FILE *f = fopen(path, "r");
    if (f) {
        there[fread(there, 1, sizeof there - 1, f)] = '\0';
        (void)fclose(f);
        if (strcmp(there, own) == 0) return EXIT_FINE;
        if (!q->mix)
            return usage_error(
                "sweep",
                "'%s' was begun by another %s: name another --output, or go on in it with --mix",
                q->folder,
                strncmp(there, own, strcspn(own, "p")) == 0 ? "plan" : "version or plan");
    }
    if (only_looks(q)) return EXIT_FINE;
    f = fopen(path, "w");
    const bool ok = f && fputs(own, f) >= 0;
    if (f && fclose(f) == 0 && ok) return EXIT_FINE;
    return usage_error("sweep", "cannot write '%s': %s", path, strerror(errno));
}

/* Only one sweep at a time in a folder. The file stays open until the process ends. */
static bool lock(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", folder);
    FILE *f = fopen(path, "we");
    if (f && flock(fileno(f), LOCK_EX | LOCK_NB) == 0) return true;
    usage_error("sweep",
                errno == EWOULDBLOCK ? "another sweep runs in '%s'" : "cannot write in '%s'",
                folder);
    return false;
}

static bool merge(const struct request *q, struct sweep_journal *j)
{
    for (size_t i = 0; i < q->merged_count; i++) {
        struct sweep_journal other;
        if (!sweep_journal_open(&other, q->merged[i], false)) {
            usage_error("sweep", "cannot read the journal in '%s': %s", q->merged[i],
                        strerror(errno));
            return false;
        }
        const size_t n = sweep_journal_merge(j, &other);
        if (!q->quiet) fprintf(stderr, "heddle sweep: %zu cells from '%s'\n", n, q->merged[i]);
        sweep_journal_close(&other);
    }
    return true;
}

/* ---- the sweep -------------------------------------------------------------------------------- */

/* What is to be run has the state SWEEP_MISSING from here on. */
static void choose(const struct request *q, struct sweep_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct sweep_cell *c = &cells[i];
        const bool runs = q->only_stale ? c->state == SWEEP_STALE
                                        : c->state == SWEEP_MISSING || c->state == SWEEP_STALE ||
                                              (c->state == SWEEP_FAILED && q->retry_failed);
        if (runs) c->state = SWEEP_MISSING;
        else if (c->state == SWEEP_MISSING) c->state = SWEEP_STALE;
    }
}

/* Runs one cell of each target, order and GPU of which nothing is known. An exit code. */
static int probe(const struct request *q, struct sweep_run *r)
{
    int status = EXIT_FINE;
    if (sweep_keep_probes(&q->plan, r->cells, r->count)) status = sweep_run(r);
    sweep_cells_join(r->cells, r->count, r->journal);
    choose(q, r->cells, r->count);
    return status;
}

static int run_in_folder(struct request *q, struct sweep_cell *cells, size_t count,
                         struct sweep_journal *j)
{
    struct sweep_run r = {.plan = &q->plan,
                          .cells = cells,
                          .count = count,
                          .journal = j,
                          .command = "sweep",
                          .cache = q->cache,
                          .jobs = (unsigned)q->jobs,
                          .quiet = q->quiet};
    if (!merge(q, j)) return EXIT_USAGE;
    sweep_cells_join(cells, count, j);
    choose(q, cells, count);
    if (q->cluster) r.program = q->cluster->program;
    if (q->dry_run) {
        const int status = q->probe ? probe(q, &r) : EXIT_FINE;
        if (status == EXIT_FINE) sweep_print_cells(&q->plan, cells, count, r.jobs, q->cache);
        return status;
    }
    if (q->cluster && q->cluster->workers &&
        !(r.workers = q->cluster->workers(q->cluster->self, &q->plan, cells, count, r.jobs)))
        return EXIT_USAGE;
    const int status = sweep_run(&r);
    sweep_cells_join(cells, count, j);
    if (!sweep_results_write(q->folder, &q->plan, cells, count)) return EXIT_USAGE;
    if (q->junit && !sweep_results_junit(q->junit, &q->plan, cells, count)) return EXIT_USAGE;
    const int verdict = sweep_results_verdict(&q->plan, cells, count, q->quiet);
    if (j->torn && !q->quiet)
        fprintf(stderr, "heddle sweep: %zu damaged lines of the journal did not count\n", j->torn);
    if (r.from_cache && !q->quiet)
        printf("%zu cells from the cache: %.1f s saved\n", r.from_cache, r.saved);
    return status ? status : verdict;
}

static int run(struct request *q)
{
    size_t count = 0;
    struct sweep_journal j = {.file = -1};
    int status = EXIT_FINE;
    struct sweep_cell *cells = sweep_cells(
        &q->plan, q->cluster ? q->cluster->program : "/proc/self/exe", &count);
    if (!cells) return EXIT_USAGE;
    if (q->check) {
        printf("%s: %zu cells: %zu targets, %zu orders, %zu seeds, %zu GPUs\n", q->plan.name, count,
               q->plan.target_count, q->plan.order_count, q->plan.seed_count, q->plan.gpu_count);
        free(cells);
        return EXIT_FINE;
    }
    const bool looks = only_looks(q);
    if (!looks && mkdir(q->folder, 0777) != 0 && errno != EEXIST)
        status = usage_error("sweep", "cannot make '%s': %s", q->folder, strerror(errno));
    else if (!looks && !lock(q->folder)) status = EXIT_USAGE;
    else status = check_folder(q, cells, count);
    if (status == EXIT_FINE && !sweep_journal_open(&j, q->folder, !looks) &&
        !(looks && errno == ENOENT))
        status = usage_error("sweep", "cannot open the journal in '%s': %s", q->folder,
                             strerror(errno));
    if (status == EXIT_FINE) status = run_in_folder(q, cells, count, &j);
    sweep_journal_close(&j);
    free(cells);
    return status;
}

/* Options, operands and plan. */
static int read_request(struct request *q, int argc, char **argv)
{
    struct words w = {.command = &command_sweep, .argc = argc, .argv = argv};
    int status = EXIT_FINE;
    for (int id; status == EXIT_FINE && (id = words_next(&w));)
        if (!take_option(q, id, w.value)) status = EXIT_USAGE;
    if (w.wrong || !q->jobs || (status == EXIT_FINE && !take_operands(q, argv, w.operands)))
        status = EXIT_USAGE;
    if (status == EXIT_FINE && q->probe && !q->dry_run)
        status = usage_error("sweep", "--probe goes with --dry-run");
    if (status == EXIT_FINE) status = read_plan(q);
    if (status == EXIT_FINE && !set_defaults(q)) status = EXIT_USAGE;
    return status;
}

int sweep_main(int argc, char **argv, const struct sweep_cluster *cluster)
{
    struct request q = {.arena = arena_new(), .cluster = cluster};
    q.plan.arena = q.arena;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    q.jobs = cores > 0 && !(cluster && cluster->workers) ? (unsigned long)cores : 1;
    int status = read_request(&q, argc, argv);
    if (status == EXIT_FINE) status = run(&q);
    arena_free(q.arena);
    return finish_output("sweep", status);
}

int sweep_read(int argc, char **argv, struct sweep_plan **plan)
{
    struct arena *a = arena_new();
    struct request *q = arena_array(a, struct request, 1);
    q->arena = q->plan.arena = a;
    q->jobs = 1;
    *plan = &q->plan;
    return read_request(q, argc, argv);
}

static int sweep(int argc, char **argv)
{
    return sweep_main(argc, argv, NULL);
}

const struct command command_sweep = {
    .name = "sweep",
    .summary = "run many targets, orders, seeds and GPUs as one plan that can be resumed",
    .usage =
        "sweep PLAN.yaml [options]\nsweep --plan NAME [options]\nsweep TARGET... --order ORDER --seeds FIRST-LAST --gpu NAME [options]",
    .description =
        "Runs each combination (cell) of the plan's targets, orders, seeds and GPUs as a process of its own, so that a "
        "crash or a hang costs one cell. What has ended is in the folder's journal: after a kill, a full disk or a loss "
        "of power the same command goes on where it was, and runs nothing twice.\n"
        "At the end DIR/results.sqlite has a row for each cell; 'heddle sweep query' and 'heddle sweep report' read it. "
        "SIGTERM lets the running cells end; then the status is 75. docs/sweep.md describes plans, files and tables.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status =
        "The last of these that applies:\n"
        "  0  all cells that have run succeeded, and all results agree\n"
        "  3  cells failed\n  6  results of an order differ\n  7  there are data races\n"
        "  8  an order that guarantees one result gave several\n"
        "but before all these:\n"
        "  1  the plan has errors\n  2  a wrong call, or a file that cannot be read or written\n"
        "  75  SIGTERM came: run the same command again\n  130  it was interrupted",
    .examples =
        "  heddle sweep suite:sum_atomic --order 'gpudet:quantum={100,200,400}' --seeds 1-100 --gpu gtx480,titanv\n"
        "  heddle sweep plan.yaml --jobs 8 --cache ~/.cache/heddle-sweep --junit sweep.xml\n"
        "  heddle sweep --plan litmus --output litmus && heddle sweep report litmus --value results",
    .run = sweep,
};
