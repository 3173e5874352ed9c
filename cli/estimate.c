/* heddle estimate TARGET: runs the target in another process, once for each GPU, and prints the estimates that the process
 * writes for its launches. */
#define _GNU_SOURCE
#include "cli/estimate.h"
#include "cli/trace_accesses.h"

#include "cli/command.h"
#include "cli/fidelity.h"
#include "cli/file_steps.h"
#include "cli/gpu_file.h"
#include "cli/json.h"
#include "cli/run.h"
#include "cli/run_options.h"
#include "cli/terminal.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/replace.h"
#include "base/sha256.h"
#include "cuda/outcome.h"
#include "determinism/orders.h"
#include "emu/gpu.h"
#include "emu/trace_file.h"
#include "model/nested_grids.h"
#include "model/timing_file.h"
#include "session/event_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct command_option options[] = {
    {.name = "gpu",
     .argument = "NAME[,NAME...]",
     .standard = "titanv",
     .help =
         "The GPU: a name of 'heddle gpus', or a file as that command reads it. Several GPUs are "
         "estimated one "
         "after the other, and their totals compared.",
     .id = 1},
    {.name = "order",
     .argument = "ORDER",
     .standard = "native",
     .help =
         "native, gpudet, dab or random, with options ('heddle orders'): also the time that the "
         "mechanism of "
         "this order would take on the GPU.",
     .id = 1},
    {.name = "format",
     .argument = "table|json|csv",
     .standard = "table",
     .help = "csv: a row for each launch, and one for all (docs/estimate.md).",
     .id = 1},
    COLOUR_OPTION,
    {.name = "coefficients",
     .argument = "FILE",
     .standard = "built in",
     .help = "The numbers that 'heddle calibrate --traces' fitted for one of the GPUs.",
     .id = 1},
    {.name = "from",
     .argument = "FILE",
     .help =
         "Estimate the launches of a trace file ('heddle trace record') instead of a target. The GPU and the order "
         "are those of the file. Nothing is run.",
     .id = 1},
    {.name = "fidelity",
     .help =
         "Also print how many of the executed instructions have one right result, and what the others may reach, as "
         "'heddle run --fidelity' does. Not as csv.",
     .id = 1},
    {.name = "traces",
     .argument = "FILE",
     .help = "Add the launches' traces to FILE, for 'heddle calibrate --traces'.",
     .id = 1},
};

/* Those of the run, behind the command's name. */
enum { WORD_SEED = 1, WORD_QUIET, WORD_GPU, WORD_ORDER, ADDED_WORDS = WORD_ORDER };

/* ---- the command line ------------------------------------------------------------------------------------ */

static bool add_gpus(struct estimate_call *c, const char *text)
{
    for (bool more = true; more;) {
        const size_t n = strcspn(text, ",");
        const char *name = arena_copy(c->arena, text, n);
        const struct emu_gpu *g = gpu_named(c->command, name, c->arena, &c->status);
        if (!g) return false;
        for (size_t i = 0; i < c->gpu_count; i++)
            if (strcmp(c->gpu_names[i], name) == 0) {
                usage_error(c->command, "--gpu has '%s' twice", name);
                return false;
            }
        if (c->gpu_count == MOST_GPUS) {
            usage_error(c->command, "at most %d GPUs", MOST_GPUS);
            return false;
        }
        c->gpu_names[c->gpu_count] = name;
        c->gpus[c->gpu_count++] = g;
        more = text[n] == ',';
        text += n + more;
    }
    return true;
}

static bool set_format(struct estimate_call *c, const char *text)
{
    static const char *const names[] = {"table", "json", "csv"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            c->format = (enum format)i;
            return true;
        }
    usage_error(c->command, "--format is table, json or csv, not '%s'", text);
    return false;
}

static bool add_order(struct estimate_call *c, const char *text)
{
    char *why = orders_check(text, NULL);
    bool twice = false;
    for (size_t i = 0; i < c->order_count; i++) twice |= strcmp(c->orders[i], text) == 0;
    const bool full = c->order_count == MOST_ORDERS, added = !why && !full && !twice;
    if (why) usage_error(c->command, "--order: %s", why);
    else if (twice) usage_error(c->command, "--order has '%s' twice", text);
    else if (full) usage_error(c->command, "at most %d orders", MOST_ORDERS);
    else c->orders[c->order_count++] = text;
    free(why);
    return added;
}

static bool add_orders(struct estimate_call *c, const char *text)
{
    for (;;) {
        const size_t n = strcspn(text, ",");
        if (!add_order(c, arena_copy(c->arena, text, n))) return false;
        if (!text[n]) return true;
        text += n + 1;
    }
}

/* An option whose value is a file, given once. */
static bool set_file(const struct estimate_call *c, const char *name, const char *text,
                     const char **file)
{
    if (*file) return usage_error(c->command, "%s is given twice", name), false;
    *file = text;
    return true;
}

static bool set_traces(struct estimate_call *c, const char *text)
{
    return set_file(c, "--traces", text, &c->traces);
}

static bool set_coefficients(struct estimate_call *c, const char *text)
{
    return set_file(c, "--coefficients", text, &c->coefficients);
}

/* Of `heddle compare`, for the orders that take one. `heddle estimate` leaves it to the run, which refuses it for native. */
static bool set_seed(struct estimate_call *c, const char *text)
{
    c->seed = text;
    return true;
}

/* Whether the order takes a seed: all but the first, native. */
static bool takes_seed(const char *order)
{
    return strcmp(order, heddle_order(0).name) != 0;
}

/* Whether the word is an option that another command adds. */
static bool take_added(struct estimate_call *c, char **argv, int *i, bool *ok)
{
    for (const struct estimate_option *o = c->added; o && o->name; o++) {
        const char *value = o->flag ? (strcmp(argv[*i], o->name) == 0 ? "" : NULL)
                                    : option_value(argv, i, o->name);
        if (!value) continue;
        *ok = o->set(c, value);
        return true;
    }
    return false;
}

bool estimate_read_call(struct estimate_call *c, int argc, char **argv)
{
    c->status = EXIT_USAGE;
    static const struct {
        const char *name;
        bool (*set)(struct estimate_call *, const char *);
    } own[] = {{"--gpu", add_gpus},
               {"--format", set_format},
               {"--order", add_orders},
               {"--traces", set_traces},
               {"--coefficients", set_coefficients},
               {"--seed", set_seed}};
    const size_t count = sizeof own / sizeof *own - (strcmp(c->command, "compare") != 0);
    c->words = arena_array(c->arena, char *, (size_t)argc + 6);
    c->words[c->word_count++] = (char *)c->command;
    c->words[WORD_SEED] = (char *)"";
    c->words[WORD_QUIET] = (char *)"--quiet";
    c->word_count += ADDED_WORDS;
    for (int i = 1; i < argc && argv[i]; i++) {
        const char *value = NULL;
        bool ok = true;
        if (take_added(c, argv, &i, &ok)) {
            if (!ok) return false;
            continue;
        }
        for (size_t k = 0; !value && k < count; k++) {
            value = option_value(argv, &i, own[k].name);
            if (value && !own[k].set(c, value)) return false;
        }
        if (value || !argv[i] || strcmp(argv[i], "--quiet") == 0) continue;
        if (*argv[i] != '-' && !c->target) c->target = c->word_count;
        c->words[c->word_count++] = argv[i];
        const struct piece word = {argv[i], (uint32_t)strlen(argv[i]), 0};
        if (*argv[i] == '-' || run_target_kind(word) != TARGET_PROGRAM) continue;
        while (++i < argc) c->words[c->word_count++] = argv[i];
    }
    return c->gpu_count || add_gpus(c, "titanv");
}

int estimate_coefficients(struct estimate_call *c)
{
    struct buf why = {0};
    if (!c->coefficients) return EXIT_FINE;
    if (!can_read(c->coefficients))
        return usage_error(c->command, "cannot read '%s': %s", c->coefficients, strerror(errno));
    const struct timing_fit *fit = timing_file_load(
        c->coefficients, c->gpu_count == 1 ? c->gpus[0] : NULL, c->arena, &why);
    if (why.data) fputs(why.data, stderr);
    buf_free(&why);
    if (!fit) return EXIT_INPUT;
    for (size_t i = 0; i < c->gpu_count; i++)
        if (strcmp(c->gpus[i]->name, fit->gpu) == 0) {
            machine_use(fit);
            return EXIT_FINE;
        }
    return usage_error(c->command, "'%s' is of %s, which is not among --gpu", c->coefficients,
                       fit->gpu);
}

/* ---- the runs -------------------------------------------------------------------------------------------- */

static void add(struct estimate_call *c, struct estimates *e, const struct launch_estimate *t)
{
    e->list = arena_grow(c->arena, e->list, e->count, &e->cap, e->count + 1, sizeof *e->list);
    e->list[e->count++] = *t;
    launch_estimate_add(&e->total, t, e->gpu);
    if (c->each) c->each(e, e->count - 1);
}

static void add_timeline(struct event_timeline *sum, const struct event_timeline *t)
{
    sum->seconds += t->seconds;
    sum->launches += t->launches;
    sum->untimed |= t->untimed;
    for (int k = 0; k < TIMELINE_ENGINES; k++) {
        sum->busy[k] += t->busy[k];
        sum->copies[k] += t->copies[k];
        sum->bytes[k] += t->bytes[k];
    }
}

/* The process that executes the target; 0: none. Signals that end this program go to it, so that what is done by then
 * can be printed. */
static volatile sig_atomic_t target_process;
static volatile sig_atomic_t stopped_by; /* the signal; 0: none */

static void stop_target(int signal_number)
{
    stopped_by = signal_number;
    if (target_process > 0) (void)kill((pid_t)target_process, SIGKILL);
}

/* Signals that ask this program to end, with what they did before. */
struct signals {
    struct sigaction interrupt, terminate, hang_up;
};

static void catch_signals(struct signals *before)
{
    const struct sigaction stop = {.sa_handler = stop_target, .sa_flags = SA_RESTART};
    (void)sigaction(SIGINT, &stop, &before->interrupt);
    (void)sigaction(SIGTERM, &stop, &before->terminate);
    (void)sigaction(SIGHUP, &stop, &before->hang_up);
}

static void restore_signals(const struct signals *before)
{
    target_process = 0;
    (void)sigaction(SIGINT, &before->interrupt, NULL);
    (void)sigaction(SIGTERM, &before->terminate, NULL);
    (void)sigaction(SIGHUP, &before->hang_up, NULL);
}

/* Each process has a timeline of its own, which ends with EVENT_TIMELINE. */
static void add_operation(struct estimate_call *c, struct estimates *e,
                          const struct event_operation *o)
{
    if (e->timeline.seconds > 0) return;
    e->operations = arena_grow(c->arena, e->operations, e->operation_count, &e->operation_cap,
                               e->operation_count + 1, sizeof *e->operations);
    e->operations[e->operation_count++] = *o;
}

/* Adds the estimates behind the first `skip` bytes of events. Returns how many bytes of them are complete events. */
static uint64_t read_events(struct estimate_call *c, const struct event_stream *events,
                            uint64_t skip, struct estimates *e)
{
    struct buf bytes = {0};
    struct event_reader r = event_reader_continue(events, &bytes, skip);
    const size_t all = r.left;
    for (struct event ev; event_next(&r, &ev);)
        if (ev.kind == EVENT_ESTIMATE) add(c, e, &ev.estimate);
        else if (ev.kind == EVENT_TIMELINE) add_timeline(&e->timeline, &ev.timeline);
        else if (ev.kind == EVENT_OPERATION) add_operation(c, e, &ev.operation);
        else if (ev.kind == EVENT_FIDELITY && e->fidelity)
            emu_fidelity_add_line(e->fidelity, &ev.fidelity);
    buf_free(&bytes);
    return all - r.left;
}

/* Waits until the process has ended. If the caller wants each launch at once, reads its estimates meanwhile. Returns
 * the process's status. */
static int await(struct estimate_call *c, pid_t child, const struct event_stream *events,
                 struct estimates *e)
{
    enum { PAUSE_NS = 20000000 };
    int status = 0;
    uint64_t done = 0;
    for (;;) {
        const pid_t ended = waitpid(child, &status, c->each ? WNOHANG : 0);
        if (ended == child || (ended < 0 && errno != EINTR)) break;
        if (ended < 0) continue;
        done += read_events(c, events, done, e);
        (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    (void)read_events(c, events, done, e);
    return status;
}

/* The exit status of a target that did not end well. */
static int failed(int status, struct estimates *e)
{
    enum { SIGNALLED = 128 }; /* as shells say it */
    e->partial = true;
    if (stopped_by) return SIGNALLED + stopped_by;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAULT;
}

char *estimate_run_name(const struct estimate_call *c)
{
    char *name = arena_copy(c->arena, "", 0);
    for (int i = c->target; i && i < c->word_count; i++) {
        const char *word = c->words[i], *slash = i == c->target ? strrchr(word, '/') : NULL;
        name = arena_printf(c->arena, "%s%s%s", name, i > c->target ? " " : "",
                            slash ? slash + 1 : word);
    }
    return name;
}

struct trace_origin estimate_origin(const struct estimate_call *c)
{
    struct trace_input *list = arena_array(c->arena, struct trace_input, (size_t)c->word_count + 1);
    struct trace_origin o = {.run = estimate_run_name(c), .inputs = list};
    const bool kept = c->index || !c->traces_only; /* else the file goes when it has been read */
    for (int i = c->target; kept && i && i < c->word_count; i++) {
        struct stat s;
        uint8_t digest[SHA256_BYTES];
        if (stat(c->words[i], &s) != 0 || !S_ISREG(s.st_mode) || !sha256_file(c->words[i], digest))
            continue;
        char *hex = arena_array(c->arena, char, 2 * SHA256_BYTES + 1);
        sha256_hex(digest, 2 * SHA256_BYTES, hex);
        const char *slash = strrchr(c->words[i], '/');
        list[o.input_count++] = (struct trace_input){slash ? slash + 1 : c->words[i], hex};
    }
    return o;
}

static bool name_run(const struct estimate_call *c)
{
    FILE *f = fopen(c->traces, "ab");
    struct trace_writer w = {.file = f, .promises = c->index};
    const struct trace_origin o = estimate_origin(c);
    const bool named = f && trace_file_origin(&w, &o);
    return f && fclose(f) == 0 && named;
}

/* Each run reads the same. */
static bool keep_input(struct estimate_call *c)
{
    char part[4096];
    bool reads = false;
    for (int i = 1 + ADDED_WORDS; i < c->word_count; i++) reads |= strcmp(c->words[i], "-") == 0;
    if (c->input || !reads) return true;
    c->input = tmpfile();
    for (size_t n; c->input && (n = fread(part, 1, sizeof part, stdin)) > 0;)
        (void)fwrite(part, 1, n, c->input);
    return c->input && fflush(c->input) == 0;
}

/* In the process of a run, which ends when this one does. */
static int run_target_of(struct estimate_call *c, struct event_stream *events)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (c->input) {
        (void)lseek(fileno(c->input), 0, SEEK_SET);
        (void)dup2(fileno(c->input), STDIN_FILENO);
    }
    if (c->traces) path_to_environment(CUDA_TRACES, c->traces);
    if (c->coefficients) path_to_environment(CUDA_COEFFICIENTS, c->coefficients);
    (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    const int left_out = !*c->words[WORD_SEED]; /* the command's name moves to its place */
    if (left_out) c->words[WORD_SEED] = c->words[0];
    const int status = run_command(c->word_count - left_out, c->words + left_out,
                                   ADDED_WORDS - left_out, events);
    (void)fflush(NULL);
    return status;
}

/* --on-fault=continue, of the command line or the environment. */
static bool goes_on(const struct estimate_call *c)
{
    const char *value = getenv("HEDDLE_ON_FAULT");
    const int end = c->target ? c->target : c->word_count;
    for (int i = 1; i < c->word_count; i++) {
        if (i >= end && run_target_kind((struct piece){
                            c->words[end], (uint32_t)strlen(c->words[end]), 0}) == TARGET_PROGRAM)
            break; /* the program's own words */
        if (strncmp(c->words[i], "--on-fault=", 11) == 0) value = c->words[i] + 11;
        else if (strcmp(c->words[i], "--on-fault") == 0 && i + 1 < c->word_count)
            value = c->words[i + 1];
    }
    return value && strcmp(value, "continue") == 0;
}

int estimate_run(struct estimate_call *c, const struct emu_gpu *gpu, const char *order,
                 struct estimates *e)
{
    *e = (struct estimates){.gpu = gpu, .order = order};
    int status = 0;
    if (c->traces && !name_run(c))
        return usage_error(c->command, "cannot write '%s': %s", c->traces, strerror(errno));
    if (!keep_input(c))
        return usage_error(c->command, "cannot keep the input: %s", strerror(errno));
    struct event_stream *events = event_stream_new();
    if (!events) return usage_error(c->command, "no memory: %s", strerror(errno));
    event_stream_want(events, (c->traces_only ? EVENTS_TRACES : EVENTS_ESTIMATES) |
                                  (c->operations ? EVENTS_OPERATIONS : 0u) |
                                  (c->fidelity ? EVENTS_FIDELITY : 0u));
    if (c->fidelity) e->fidelity = emu_fidelity_new();
    size_t g = 0;
    while (c->gpus[g] != gpu) g++;
    c->words[WORD_GPU] = arena_printf(c->arena, "--gpu=%s", c->gpu_names[g]);
    c->words[WORD_ORDER] = arena_printf(c->arena, "--order=%s", order);
    c->words[WORD_SEED] = c->seed && takes_seed(order)
                              ? arena_printf(c->arena, "--seed=%s", c->seed)
                              : (char *)"";
    if (c->traces) trace_file_prepare();
    (void)fflush(NULL);
    struct signals before;
    catch_signals(&before);
    const pid_t child = fork();
    if (child == 0) {
        restore_signals(&before);
        _exit(run_target_of(c, events));
    }
    target_process = child;
    if (stopped_by) stop_target(stopped_by); /* it came before the process was known */
    if (child > 0) status = await(c, child, events, e);
    restore_signals(&before);
    event_stream_close(events);
    if (child < 0) return usage_error(c->command, "cannot start another process");
    size_t launches = e->count;
    if (c->index && !trace_add_index(c->command, c->traces, &launches)) return EXIT_INPUT;
    const bool any = launches || (c->traces_only && !c->index); /* else its reader says so */
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FINE && !any) {
        fprintf(stderr,
                "heddle %s: no launch could be estimated: there was none, or it was not "
                "traced (checks that watch leave no trace)\n",
                c->command);
        return EXIT_INPUT;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAULT && any && goes_on(c)) {
        fprintf(
            stderr,
            "heddle %s: the run had faults or findings; wrong loads and stores are estimated as if "
            "there were memory\n",
            c->command);
        return EXIT_FINE;
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_FINE) return failed(status, e);
    return EXIT_FINE;
}

/* ---- printing -------------------------------------------------------------------------------------------- */

static void print_size(const uint32_t n[3])
{
    char text[40];
    if (n[1] == 1 && n[2] == 1) snprintf(text, sizeof text, "%u", n[0]);
    else if (n[2] == 1) snprintf(text, sizeof text, "%ux%u", n[0], n[1]);
    else snprintf(text, sizeof text, "%ux%ux%u", n[0], n[1], n[2]);
    printf(" %10s", text);
}

/* Parts of other orders are left out. */
static bool is_shown(const struct estimates *e, int part)
{
    return part < TIMING_LOG || e->total.part[part] > 0;
}

static void print_numbers(const struct estimates *e, const struct launch_estimate *t)
{
    char interval[48] = "";
    if (t->high > 0) snprintf(interval, sizeof interval, "%.0f-%.0f", t->low, t->high);
    printf(" %12.0f %10.2f %17s %8.1f  %-9s", t->cycles, t->seconds * 1e6, interval, t->ipc,
           timing_part_name(t->bound));
    for (int p = 0; p < TIMING_PARTS; p++)
        if (is_shown(e, p)) printf(" %5.1f", 100 * t->part[p] / t->cycles);
    printf("\n");
}

/* Where all launches stand under the roofline. */
static void print_roofline(const struct launch_estimate *t)
{
    printf("roofline: %.2f warp instructions/cycle, %.0f %% of the %.2f that are possible",
           t->roofline.performance, 100 * t->roofline.performance / t->roofline.roof,
           t->roofline.roof);
    if (t->roofline.intensity > 0) printf(" at %.3g for each byte of DRAM", t->roofline.intensity);
    printf("\n");
}

/* The share of issue slots that were used over time, on a terminal. */
static void print_share(const double share[ISSUE_COLUMNS])
{
    double most = 0;
    for (int k = 0; k < ISSUE_COLUMNS; k++)
        if (share[k] > most) most = share[k];
    if (!terminal_colours() || most <= 0) return;
    printf("%28s |", "issue slots used over time");
    terminal_begin(TERMINAL_BLUE);
    terminal_spark(share, ISSUE_COLUMNS);
    terminal_end();
    printf("| at most %.*f %%\n", most < 0.1 ? 1 : 0, 100 * most);
}

static void print_share_of(const struct launch_estimate *t)
{
    double share[ISSUE_COLUMNS];
    for (int k = 0; k < ISSUE_COLUMNS; k++) share[k] = (double)t->issue_share[k] / UINT16_MAX;
    print_share(share);
}

/* Of all launches, one after the other. */
static void print_share_of_all(const struct estimates *e)
{
    const double width = e->total.cycles / ISSUE_COLUMNS;
    double share[ISSUE_COLUMNS] = {0}, at = 0;
    for (size_t i = 0; i < e->count; i++) {
        const struct launch_estimate *t = &e->list[i];
        const double each = t->cycles / ISSUE_COLUMNS;
        for (int k = 0; k < ISSUE_COLUMNS; k++) {
            const double from = at + k * each, to = from + each;
            for (int c = (int)(from / width); c < ISSUE_COLUMNS && c * width < to; c++)
                share[c] += (fmin(to, (c + 1) * width) - fmax(from, c * width)) / width *
                            t->issue_share[k] / UINT16_MAX;
        }
        at += t->cycles;
    }
    print_share(share);
}

/* What issue and units go to. */
static void print_units(const struct launch_estimate *t)
{
    const char *between = " ";
    printf("issue and units:");
    for (int u = 0; u < TIMING_UNITS; u++) {
        if (t->by_unit[u] <= 0) continue;
        printf("%s%s %.1f", between, timing_unit_name((enum timing_unit)u),
               100 * t->by_unit[u] / t->cycles);
        between = ", ";
    }
    printf(" %% of cycles\n");
}

/* Seconds in which more than one engine is at work, counted once for each engine beyond the first; but for those in
 * which none is. */
static double overlap(const struct event_timeline *t)
{
    double busy = 0;
    for (int k = 0; k < TIMELINE_ENGINES; k++) busy += t->busy[k];
    return busy > t->seconds ? busy - t->seconds : 0;
}

static void print_timeline(const struct event_timeline *t, const struct emu_gpu *g)
{
    if (!t->copies[TIMELINE_TO_DEVICE] && !t->copies[TIMELINE_TO_HOST]) return;
    if (t->untimed) {
        printf("note: copies are not timed: %s has no section 'link'\n", g->name);
        return;
    }
    printf("timeline: %.2f us; SMs busy %.2f, copies to the device %.2f (%" PRIu64 ", %.3f MB), "
           "to the host %.2f (%" PRIu64 ", %.3f MB); overlap at least %.2f\n",
           t->seconds * 1e6, t->busy[TIMELINE_SMS] * 1e6, t->busy[TIMELINE_TO_DEVICE] * 1e6,
           t->copies[TIMELINE_TO_DEVICE], (double)t->bytes[TIMELINE_TO_DEVICE] * 1e-6,
           t->busy[TIMELINE_TO_HOST] * 1e6, t->copies[TIMELINE_TO_HOST],
           (double)t->bytes[TIMELINE_TO_HOST] * 1e-6, overlap(t) * 1e6);
    printf("note: a copy takes %.1f us and its bytes at %.1f GB/s, the most that the link carries: "
           "not measured. Launches of several streams come one after the other, the host takes no "
           "time\n",
           g->link_latency, g->link_bandwidth);
}

static void print_table(const struct estimates *e)
{
    printf("%s: %s, %u SMs, %.0f MHz%s%s\n", e->gpu->name, e->gpu->title, e->gpu->sms,
           e->gpu->core_mhz, strcmp(e->order, "native") != 0 ? ", " : "",
           strcmp(e->order, "native") != 0 ? e->order : "");
    printf("%-28s %10s %10s %12s %10s %17s %8s  %-9s", "kernel", "grid", "block", "cycles", "us",
           "8 of 10 within", "IPC", "most");
    for (int p = 0; p < TIMING_PARTS; p++)
        if (is_shown(e, p)) printf(" %5.5s", timing_part_name((enum timing_part)p));
    printf("  %% of cycles\n");
    for (size_t i = 0; i < e->count; i++) {
        const struct launch_estimate *t = &e->list[i];
        printf("%-28.28s", t->kernel);
        print_size(t->grid);
        print_size(t->block);
        print_numbers(e, t);
        print_share_of(t);
    }
    if (e->count > 1) {
        printf("%-28s %10s %10s", e->partial ? "all before the end" : "all", "", "");
        print_numbers(e, &e->total);
        print_share_of_all(e);
    }
    print_units(&e->total);
    print_roofline(&e->total);
    if (e->total.hop_sectors > 0)
        printf("network: %.3f hops from a CTA to a sector in the mean\n",
               launch_mean_hops(&e->total));
    print_timeline(&e->timeline, e->gpu);
    fidelity_print(e->fidelity);
    for (unsigned bit = 1; bit < 1u << LAUNCH_WARNINGS; bit *= 2)
        if (e->total.warnings & bit) printf("note: %s\n", launch_warning_text(bit));
}

/* Totals beside each other; the first is 1. */
static void print_comparison(const struct estimates *e, size_t count)
{
    bool orders = false;
    for (size_t i = 1; i < count; i++) orders |= strcmp(e[i].order, e[0].order) != 0;
    printf("%-12s %14s %12s %8s %8s%s\n", "gpu", "cycles", "us", "cycles", "time",
           orders ? "  order" : "");
    for (size_t i = 0; i < count; i++)
        printf("%-12s %14.0f %12.2f %8.3f %8.3f%s%s\n", e[i].gpu->name, e[i].total.cycles,
               e[i].total.seconds * 1e6, e[i].total.cycles / e[0].total.cycles,
               e[i].total.seconds / e[0].total.seconds, orders ? "  " : "",
               orders ? e[i].order : "");
}

/* `t` is launch i, or where i is the count, all of them: a row without launch, kernel, grid and block. */
static void print_csv_row(const struct estimates *e, size_t i, const struct launch_estimate *t)
{
    printf("%s,", e->gpu->name);
    if (i < e->count)
        printf("%zu,%s,%u,%u,%u,%u,%u,%u", i, t->kernel, t->grid[0], t->grid[1], t->grid[2],
               t->block[0], t->block[1], t->block[2]);
    else printf(",,,,,,,");
    printf(",%.1f,%.6g,%.1f,%.1f,%" PRIu64 ",%" PRIu64 ",%.4f,%.6g,%.4f,%.4f,%s,%u", t->cycles,
           t->seconds, t->low, t->high, t->warp_instructions, t->thread_instructions, t->ipc,
           t->roofline.intensity, t->roofline.performance, t->roofline.roof,
           timing_part_name(t->bound), t->warnings);
    for (int p = 0; p < TIMING_PARTS; p++) printf(",%.1f", t->part[p]);
    for (int u = 0; u < TIMING_UNITS; u++) printf(",%.1f", t->by_unit[u]);
    printf(",%.4f,%s\n", launch_mean_hops(t), e->order);
}

static void print_csv_head(void)
{
    printf("gpu,launch,kernel,grid_x,grid_y,grid_z,block_x,block_y,block_z,cycles,seconds,low,high,"
           "warp_instructions,thread_instructions,ipc,intensity,performance,roof,most,warnings");
    for (int p = 0; p < TIMING_PARTS; p++) printf(",%s", timing_part_name((enum timing_part)p));
    for (int u = 0; u < TIMING_UNITS; u++)
        printf(",unit_%s", timing_unit_name((enum timing_unit)u));
    printf(",hops,order\n");
    (void)fflush(stdout);
}

/* Writes a row when its launch has been estimated: it remains if the target or this process is killed. */
static void print_csv_launch(const struct estimates *e, size_t launch)
{
    print_csv_row(e, launch, &e->list[launch]);
    (void)fflush(stdout);
}

static void print_csv(const struct estimates *e, size_t count)
{
    print_csv_head();
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i <= e[k].count; i++)
            print_csv_row(&e[k], i, i < e[k].count ? &e[k].list[i] : &e[k].total);
}

static json_t *json_of(const struct launch_estimate *t, bool total)
{
    json_t *o = json_object(), *parts = json_object(), *units = json_object(),
           *warnings = json_array();
    if (!total) {
        json_object_set_new(o, "kernel", json_text(t->kernel));
        json_object_set_new(o, "grid",
                            json_pack("[iii]", (int)t->grid[0], (int)t->grid[1], (int)t->grid[2]));
        json_object_set_new(
            o, "block", json_pack("[iii]", (int)t->block[0], (int)t->block[1], (int)t->block[2]));
        json_object_set_new(o, "resident_ctas", json_integer(t->ctas));
        json_object_set_new(o, "resident_warps", json_integer(t->warps));
    }
    if (t->roofline.intensity > 0)
        json_object_set_new(o, "intensity", json_real(t->roofline.intensity));
    json_object_set_new(o, "performance", json_real(t->roofline.performance));
    json_object_set_new(o, "roof", json_real(t->roofline.roof));
    json_object_set_new(o, "cycles", json_real(t->cycles));
    json_object_set_new(o, "seconds", json_real(t->seconds));
    if (!total && t->warnings & LAUNCH_NESTED) {
        json_object_set_new(o, "begins", json_real(t->begins));
        json_object_set_new(o, "overlap", json_real(t->overlap));
    }
    if (t->hop_sectors > 0) json_object_set_new(o, "hops", json_real(launch_mean_hops(t)));
    if (t->high > 0) json_object_set_new(o, "interval", json_pack("[ff]", t->low, t->high));
    json_object_set_new(o, "warp_instructions", json_integer((json_int_t)t->warp_instructions));
    json_object_set_new(o, "thread_instructions", json_integer((json_int_t)t->thread_instructions));
    json_object_set_new(o, "ipc", json_real(t->ipc));
    json_object_set_new(o, "most", json_string(timing_part_name(t->bound)));
    for (int p = 0; p < TIMING_PARTS; p++)
        json_object_set_new(parts, timing_part_name((enum timing_part)p), json_real(t->part[p]));
    json_object_set_new(o, "parts", parts);
    for (int u = 0; u < TIMING_UNITS; u++)
        json_object_set_new(units, timing_unit_name((enum timing_unit)u), json_real(t->by_unit[u]));
    json_object_set_new(o, "units", units);
    for (unsigned bit = 1; bit < 1u << LAUNCH_WARNINGS; bit *= 2)
        if (t->warnings & bit)
            json_array_append_new(warnings, json_string(launch_warning_text(bit)));
    json_object_set_new(o, "warnings", warnings);
    return o;
}

/* Seconds; null where there is no timeline. */
static json_t *json_of_timeline(const struct event_timeline *t)
{
    if (!t->launches || t->untimed) return json_null();
    return json_pack("{sf, sf, sf, sf, sI, sI, sI, sI, sf}", "seconds", t->seconds, "sms",
                     t->busy[TIMELINE_SMS], "to_device", t->busy[TIMELINE_TO_DEVICE], "to_host",
                     t->busy[TIMELINE_TO_HOST], "copies_to_device",
                     (json_int_t)t->copies[TIMELINE_TO_DEVICE], "bytes_to_device",
                     (json_int_t)t->bytes[TIMELINE_TO_DEVICE], "copies_to_host",
                     (json_int_t)t->copies[TIMELINE_TO_HOST], "bytes_to_host",
                     (json_int_t)t->bytes[TIMELINE_TO_HOST], "overlap_at_least", overlap(t));
}

static void print_json(const struct estimates *e, size_t count, const char *order)
{
    json_t *all = json_array();
    for (size_t k = 0; k < count; k++) {
        json_t *launches = json_array();
        for (size_t i = 0; i < e[k].count; i++)
            json_array_append_new(launches, json_of(&e[k].list[i], false));
        json_t *o = json_pack("{sssssbsososo}", "gpu", e[k].gpu->name, "order", e[k].order,
                              "complete", !e[k].partial, "total", json_of(&e[k].total, true),
                              "launches", launches, "timeline", json_of_timeline(&e[k].timeline));
        if (e[k].fidelity) json_object_set_new(o, "fidelity", fidelity_json(e[k].fidelity));
        json_array_append_new(all, o);
    }
    json_t *document = json_pack("{sssissso}", "format", "heddle-estimate", "version", 2, "order",
                                 order, "gpus", all);
    (void)json_dumpf(document, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    printf("\n");
    json_decref(document);
}

static bool set_from(struct estimate_call *c, const char *value)
{
    const char **from = c->self;
    return set_file(c, "--from", value, from);
}

static bool set_fidelity(struct estimate_call *c, const char *value)
{
    (void)value;
    c->fidelity = true;
    return true;
}

/* A launch by the host and the grids that it led to: they are estimated together. */
struct tree {
    const struct emu_counts **of;
    struct launch_estimate *t;
    size_t count, cap;
};

static void tree_add(struct tree *g, const struct emu_counts *l, const struct launch_estimate *t)
{
    if (g->count == g->cap) {
        g->cap = g->cap ? 2 * g->cap : 16;
        g->of = realloc((void *)g->of, g->cap * sizeof *g->of);
        g->t = realloc(g->t, g->cap * sizeof *g->t);
        if (!g->of || !g->t) abort();
    }
    g->of[g->count] = l;
    g->t[g->count++] = *t;
}

static void tree_end(struct estimate_call *c, struct tree *g, struct estimates *to)
{
    nested_estimates(g->of, g->t, g->count);
    for (size_t i = 0; i < g->count; i++) add(c, to, &g->t[i]);
    g->count = 0;
}

/* The launches of a file, by GPU and order, of which there may be as many as a command line takes. */
static int estimate_file(struct estimate_call *c, const char *path, struct estimates *all,
                         size_t *count)
{
    FILE *f = fopen(path, "rb");
    if (!f) return usage_error("estimate", "cannot read '%s': %s", path, strerror(errno));
    struct trace_file in = {.file = f, .arena = c->arena};
    struct launch_estimate t;
    struct tree tree = {0};
    size_t of = 0, left_out = 0; /* of: of all, the tree's */
    struct file_steps steps;
    file_steps_begin(&steps, &in);
    for (const struct emu_counts *l; (l = trace_file_next(&in));) {
        size_t k = 0;
        while (k < *count &&
               (strcmp(all[k].gpu->name, l->gpu->name) != 0 || strcmp(all[k].order, l->order) != 0))
            k++;
        if (!launch_estimate_of(l, &t)) continue;
        if (k == MOST_GPUS) {
            left_out++;
            continue;
        }
        if (k == *count) all[(*count)++] = (struct estimates){.gpu = l->gpu, .order = l->order};
        if (tree.count && (k != of || !l->nesting.number)) tree_end(c, &tree, &all[of]);
        of = k;
        tree_add(&tree, l, &t);
    }
    if (tree.count) tree_end(c, &tree, &all[of]);
    free((void *)tree.of);
    free(tree.t);
    file_steps_end(&steps);
    (void)fclose(f);
    if (in.why) fprintf(stderr, "heddle estimate: '%s': %s\n", path, in.why);
    else if (!*count)
        fprintf(stderr, "heddle estimate: '%s' has no launches with a trace%s\n", path,
                in.events ? ": it was recorded with --addresses" : "");
    if (left_out)
        fprintf(
            stderr,
            "heddle estimate: '%s' has more than %d combinations of GPU and order: %zu launches are left out\n",
            path, MOST_GPUS, left_out);
    return in.why || !*count || left_out ? EXIT_INPUT : EXIT_FINE;
}

static int print_all(const struct estimate_call *c, const struct estimates *all, size_t count,
                     const char *order)
{
    for (size_t i = 0; c->format == FORMAT_TABLE && i < count; i++) print_table(&all[i]);
    if (c->format == FORMAT_TABLE && count > 1) print_comparison(all, count);
    if (c->format == FORMAT_CSV) print_csv(all, count);
    if (c->format == FORMAT_JSON) print_json(all, count, order);
    return EXIT_FINE;
}

static int estimate_from(struct estimate_call *c, const char *from)
{
    struct estimates all[MOST_GPUS] = {0};
    size_t count = 0;
    if (c->target || c->order_count || c->traces || c->fidelity)
        return usage_error("estimate", "--from takes no target, --order, --traces or --fidelity");
    for (int i = 1 + ADDED_WORDS; i < c->word_count; i++)
        if (*c->words[i] == '-')
            return usage_error("estimate", "--from runs nothing: it does not take '%s'",
                               c->words[i]);
    int status = estimate_coefficients(c);
    if (status == EXIT_FINE) status = estimate_file(c, from, all, &count);
    return status == EXIT_FINE ? print_all(c, all, count, all[0].order) : status;
}

/* Runs the target for each GPU, and prints what there is, also of a target that fails. */
static int estimate_each(struct estimate_call *c, struct estimates *all)
{
    const char *order = c->order_count ? c->orders[0] : "native";
    int status = EXIT_FINE;
    size_t done = 0;
    if (c->format == FORMAT_CSV) {
        c->each = print_csv_launch;
        print_csv_head();
    }
    while (done < c->gpu_count && status == EXIT_FINE) {
        struct estimates *e = &all[done];
        status = estimate_run(c, c->gpus[done], order, e);
        if (!e->count) break;
        if (c->format == FORMAT_TABLE) print_table(e);
        if (c->format == FORMAT_CSV && !e->partial) print_csv_row(e, e->count, &e->total);
        if (e->partial)
            fprintf(
                stderr,
                "heddle estimate: the target failed or was stopped: the estimates are of what was executed before\n");
        done++;
    }
    if (status == EXIT_FINE && c->format == FORMAT_TABLE && done > 1) print_comparison(all, done);
    if (done && c->format == FORMAT_JSON) print_json(all, done, order);
    return status;
}

static int estimate(int argc, char **argv)
{
    static const struct estimate_option own_options[] = {
        {"--from", set_from, false}, {"--fidelity", set_fidelity, true}, {NULL, NULL, false}};
    struct arena *arena = arena_new();
    const char *from = NULL;
    struct estimate_call c = {
        .arena = arena, .command = "estimate", .added = own_options, .self = &from};
    struct estimates all[MOST_GPUS] = {0};
    int status = EXIT_FINE;
    if (!estimate_read_call(&c, argc, argv)) status = c.status;
    else if (from) {
        status = estimate_from(&c, from);
        arena_free(arena);
        return finish_output("estimate", status);
    } else if (c.order_count > 1)
        status = usage_error("estimate", "one order: 'heddle compare' takes several");
    else if (c.fidelity && c.format == FORMAT_CSV)
        status = usage_error("estimate", "--fidelity prints a table or json, not csv");
    else status = estimate_coefficients(&c);
    if (status == EXIT_FINE) status = estimate_each(&c, all);
    for (size_t i = 0; i < c.gpu_count; i++) emu_fidelity_free(all[i].fidelity);
    arena_free(arena);
    return finish_output("estimate", status);
}

const struct command command_estimate = {
    .name = "estimate",
    .summary = "estimate how many cycles launches take on a GPU, and why",
    .usage = "estimate [options] TARGET [ARGUMENTS]",
    .description =
        "Runs TARGET (as for 'heddle run': a kernel file, a job file, suite:NAME[:SIZE], or a "
        "CUDA program) and "
        "estimates each launch on a GPU: cycles and time, what the warp schedulers of the SMs "
        "wait for, instructions "
        "per cycle, and where the launch lies under the roofline.\n"
        "The other options are those of 'heddle run'. The output of the target goes to standard "
        "error.\n"
        "The numbers for gv100 are fitted to cycles measured on the GPU (v100 has the same "
        "chip), those for titanv and "
        "gtx480 to cycles of a detailed simulator. For other GPUs they follow from the "
        "configuration alone. 8 of 10 "
        "measured launches lay within the interval that is printed (docs/estimate.md).",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .also = &command_run,
    .exit_status = "  0  success; otherwise as for 'heddle run'",
    .examples = "  heddle estimate --gpu titanv,v100 suite:reduce_shuffle\n"
                "  heddle estimate suite:stencil_2d --memory-map block --topology mesh\n"
                "  heddle estimate --gpu titanv --order gpudet ./app",
    .run = estimate,
};
