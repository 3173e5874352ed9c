/* heddle suite list|run: lists or runs Heddle's workloads. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "cli/command.h"
#include "cli/run_suite.h"

#include "base/arena.h"
#include "cuda/device.h"
#include "session/settings.h"
#include "suites/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct command_option options[] = {
    {.name = "size",
     .argument = "small|medium|large",
     .standard = "small",
     .help = "About 10 million, 1 thousand million and 10 thousand million thread instructions.",
     .id = 1},
    {.name = "data-seed", .argument = "N", .standard = "1", .help = "Seed of the inputs.", .id = 1},
    {.name = "order", .id = 1},
    {.name = "seed",
     .argument = "N",
     .standard = "0",
     .help = "Seed of a random order. Each workload begins with it.",
     .id = 1},
    {.name = "graph",
     .argument = "FILE",
     .help = "The input of workloads on graphs: .gr, .mtx, .col, an edge list or Rodinia's format, "
             "also compressed "
             "with gzip. Without a NAME, those workloads are run that take a graph.",
     .id = 1},
};

static int suite_list(int argc, char **argv)
{
    if (argc > 1) return usage_error("suite list", "unexpected argument '%s'", argv[1]);
    for (size_t i = 0; i < suite_count(); i++)
        printf("%-18s %s\n", suite_at(i)->name, suite_at(i)->summary);
    return finish_output("suite list", EXIT_FINE);
}

/* One workload; returns whether it passed. Each has a device of its own, so that an order begins anew. */
static bool run_one(const struct suite_workload *w, const struct suite_options *o)
{
    cuda_device_configure(NULL);
    struct suite_result r = suite_run(w, o);
    printf("%-18s %-7s %-6s %3u launch%s %9.2f ms in kernels %9.2f ms in all%s%s\n", w->name,
           suite_size_name(o->size), r.passed ? "passed" : "FAILED", r.launches,
           r.launches == 1 ? "  " : "es", r.kernel_seconds * 1e3, r.seconds * 1e3,
           r.message[0] ? "  " : "", r.message);
    fflush(stdout);
    return r.passed;
}

static const char command[] = "suite run";

/* Checks them and hands them to the device, which takes its order from the environment. */
/* By the table of settings, as everywhere. */
static bool seed_ok(const char *text)
{
    struct arena *a = arena_new();
    const uint32_t length = (uint32_t)strlen(text);
    struct source source = {"command line", text, length};
    struct diags d = {.arena = a, .source = &source};
    struct settings s = {0};
    const bool ok = setting_read(setting_find("seed", 4), &d, (struct piece){text, length, 0}, &s);
    if (!ok) usage_error(command, "--%s", d.list[0].text);
    arena_free(a);
    return ok;
}

static bool set_order(const char *order, const char *seed)
{
    char *why = order ? heddle_order_check(order) : NULL;
    if (why) usage_error(command, "%s", why);
    const bool wrong = why != NULL;
    free(why);
    if (wrong) return false;
    if (seed && !seed_ok(seed)) return false;
    if (seed && (!order || strcmp(order, heddle_order(0).name) == 0)) {
        usage_error(command, "--seed needs a random order: add --order random, or do you mean "
                             "--data-seed, for the inputs?");
        return false;
    }
    if (order) setenv("HEDDLE_ORDER", order, 1);
    if (order) setenv("HEDDLE_SEED", seed ? seed : "0", 1);
    return true;
}

struct asked {
    struct suite_options options;
    const char *order, *seed;
    const char **names;
    size_t name_count;
};

static bool read_suite_options(struct asked *q, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *value;
        unsigned long n;
        if ((value = option_value(argv, &i, "--size"))) {
            if (suite_size_read(value, &q->options.size)) continue;
            usage_error(command, "--size is small, medium or large, not '%s'", value);
            return false;
        }
        if ((value = option_value(argv, &i, "--data-seed"))) {
            if (!option_number(command, "--data-seed", value, ~0ul, &n)) return false;
            q->options.seed = n;
        } else if ((value = option_value(argv, &i, "--graph"))) q->options.graph = value;
        else if ((value = option_value(argv, &i, "--order"))) q->order = value;
        else if ((value = option_value(argv, &i, "--seed"))) q->seed = value;
        else if (a[0] == '-') {
            (void)bad_option(&command_suite_run, a);
            return false;
        } else if (!suite_find(a)) {
            const char *near = workload_nearest(a);
            usage_error(command, "there is no workload '%s' ('heddle suite list' names them)%s%s%s",
                        a, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
            return false;
        } else q->names[q->name_count++] = a;
    }
    return set_order(q->order, q->seed);
}

/* The workloads that are named, or else all; of these, with a graph, those that want one. */
static bool is_wanted(const struct asked *q, const struct suite_workload *w)
{
    for (size_t i = 0; i < q->name_count; i++)
        if (suite_find(q->names[i]) == w) return true;
    return !q->name_count && (!q->options.graph || w->wants_graph);
}

/* Whether all that are wanted can take the graph. */
static bool graph_fits(const struct asked *q)
{
    for (size_t i = 0; i < suite_count(); i++) {
        char *why = is_wanted(q, suite_at(i)) ? workload_graph_check(suite_at(i), q->options.graph)
                                              : NULL;
        if (why) usage_error(command, "%s", why);
        const bool wrong = why != NULL;
        free(why);
        if (wrong) return false;
    }
    return true;
}

static int suite_run_all(int argc, char **argv)
{
    struct asked q = {.options = {.size = SUITE_SMALL, .seed = 1}};
    unsigned passed = 0, ran = 0;
    q.names = calloc((size_t)argc + 1, sizeof *q.names);
    if (!q.names) abort();
    const bool good = read_suite_options(&q, argc, argv) && graph_fits(&q);
    for (size_t k = 0; good && k < suite_count(); k++) {
        if (!is_wanted(&q, suite_at(k))) continue;
        ran++;
        passed += run_one(suite_at(k), &q.options);
    }
    free((void *)q.names);
    if (!good) return EXIT_USAGE;
    printf("%u of %u passed\n", passed, ran);
    return finish_output(command, passed == ran ? EXIT_FINE : EXIT_INPUT);
}

const struct command command_suite_list = {
    .name = "suite list",
    .summary = "list the workloads that come with Heddle",
    .usage = "suite list",
    .description =
        "Lists the workloads with a description of each. 'heddle run suite:NAME' runs one.",
    .run = suite_list,
};

const struct command command_suite_run = {
    .name = "suite run",
    .summary = "run workloads and compare with the host's results",
    .usage = "suite run [NAME...] [options]",
    .description =
        "Runs the workloads (all, if none is named). Each is verified against a computation on "
        "the host.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status = "  0  all passed\n  1  a workload did not pass\n  2  a wrong call",
    .run = suite_run_all,
};
