/* heddle measure: measures the time of the workloads on a GPU. They are a program on the driver API (suites/main.c), which
 * runs here with NVIDIA's driver library instead of Heddle's. */
#define _GNU_SOURCE /* dlinfo */
#include "cli/command.h"
#include "cli/run_program.h"
#include "cli/run_suite.h"

#include "base/arena.h"
#include "suites/suite.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command_option options[] = {
    {.name = "size",
     .argument = "small|medium|large",
     .standard = "small",
     .help = "Size of the inputs.",
     .id = 1},
    {.name = "repeat",
     .argument = "N",
     .standard = "5",
     .help = "Runs, after one that is not counted. Their median is printed.",
     .id = 1},
    {.name = "data-seed", .argument = "N", .standard = "1", .help = "Seed of the inputs.", .id = 1},
    {.name = "graph", .argument = "FILE", .help = "As for 'heddle suite run'.", .id = 1},
    {.name = "output",
     .argument = "FILE",
     .standard = "standard output",
     .help = "Write the CSV there.",
     .id = 1},
    {.name = "driver",
     .argument = "FILE",
     .standard = "the system's",
     .help = "The driver's libcuda.so.1.",
     .id = 1},
};

static const char command[] = "measure", library[] = "libcuda.so.1";
enum { MOST_REPEATS = 1000 };

struct request {
    struct arena *arena;
    const char *driver, *output;
    char **words; /* of heddle-suite */
    int count;
};

static bool name_it(struct request *q, const char *name)
{
    const char *near = workload_nearest(name);
    if (suite_find(name)) {
        q->words[q->count++] = arena_printf(q->arena, "%s", name);
        return true;
    }
    usage_error(command, "there is no workload '%s'%s%s%s", name, near ? "; did you mean '" : "",
                near ? near : "", near ? "'?" : "");
    return false;
}

static bool take_option(struct request *q, char **argv, int *i)
{
    const char *value;
    unsigned long n;
    enum suite_size size;
    if ((value = option_value(argv, i, "--driver"))) q->driver = value;
    else if ((value = option_value(argv, i, "--output"))) q->output = value;
    else if ((value = option_value(argv, i, "--graph")))
        q->words[q->count++] = arena_printf(q->arena, "--graph=%s", value);
    else if ((value = option_value(argv, i, "--size"))) {
        if (!suite_size_read(value, &size))
            return usage_error(command, "--size is small, medium or large, not '%s'", value), false;
        q->words[q->count++] = arena_printf(q->arena, "--size=%s", value);
    } else if ((value = option_value(argv, i, "--data-seed"))) {
        if (!option_number(command, "--data-seed", value, ULONG_MAX, &n)) return false;
        q->words[q->count++] = arena_printf(q->arena, "--seed=%lu", n);
    } else if ((value = option_value(argv, i, "--repeat"))) {
        if (!option_number(command, "--repeat", value, MOST_REPEATS, &n)) return false;
        if (!n) return usage_error(command, "--repeat is at least 1"), false;
        q->words[q->count++] = arena_printf(q->arena, "--repeat=%lu", n);
    } else {
        (void)bad_option(&command_measure, argv[*i]);
        return false;
    }
    return true;
}

static bool parse(struct request *q, int argc, char **argv)
{
    q->words = arena_array(q->arena, char *, (size_t)argc + 3);
    q->words[q->count++] = (char *)"heddle-suite";
    q->words[q->count++] = (char *)"measure";
    for (int i = 1; i < argc; i++)
        if (argv[i][0] == '-' ? !take_option(q, argv, &i) : !name_it(q, argv[i])) return false;
    return true;
}

/* The folder of the driver's library. NULL after a message. */
static const char *find_driver(const struct request *q)
{
    char path[PATH_MAX];
    struct link_map *map = NULL;
    void *own = dlopen(q->driver ? q->driver : library, RTLD_LAZY | RTLD_LOCAL);
    if (!own && q->driver) {
        fprintf(stderr, "heddle measure: %s\n", dlerror());
        return NULL;
    }
    if (!own) {
        fprintf(stderr,
                "heddle measure: there is no driver's libcuda.so.1: this needs an NVIDIA GPU "
                "and its driver\n"
                "(--driver FILE if it is in a folder of its own). For a GPU that is not at hand: "
                "'heddle estimate'.\n");
        return NULL;
    }
    const bool known = dlinfo(own, RTLD_DI_LINKMAP, &map) == 0 && realpath(map->l_name, path);
    const bool emulated = dlsym(own, "heddle_absent") != NULL;
    char *text = known ? arena_printf(q->arena, "%s", map->l_name) : NULL, *slash;
    (void)dlclose(own);
    if (!known) {
        fprintf(stderr, "heddle measure: cannot find libcuda.so.1\n");
        return NULL;
    }
    if (emulated && !q->driver) {
        fprintf(
            stderr,
            "heddle measure: '%s' is Heddle's own, not a driver's: its times are not those of a GPU\n"
            "('heddle estimate' estimates those)\n",
            text);
        return NULL;
    }
    slash = strrchr(text, '/');
    if (!slash || strcmp(slash + 1, library) != 0) {
        fprintf(stderr, "heddle measure: '%s' is not called %s\n", text, library);
        return NULL;
    }
    *slash = '\0';
    return *text ? text : "/";
}

static bool open_output(const char *path)
{
    const int to = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                        : STDOUT_FILENO;
    if (to == STDOUT_FILENO) return true;
    if (to >= 0 && dup2(to, STDOUT_FILENO) >= 0) return true;
    fprintf(stderr, "heddle measure: cannot write '%s': %s\n", path, strerror(errno));
    return false;
}

static int run(struct request *q)
{
    const char *folder = find_driver(q), *own = program_libraries(q->arena),
               *before = getenv("LD_LIBRARY_PATH");
    if (!folder) return EXIT_INPUT;
    const char *program = own ? arena_printf(q->arena, "%s/heddle-suite", own) : NULL;
    if (!program || access(program, X_OK) != 0) {
        fprintf(stderr,
                "heddle measure: there is no heddle-suite beside Heddle's libraries ('make' "
                "builds it)\n");
        return EXIT_INPUT;
    }
    setenv("LD_LIBRARY_PATH",
           arena_printf(q->arena, "%s%s%s", folder, before && *before ? ":" : "",
                        before ? before : ""),
           1);
    if (!open_output(q->output)) return EXIT_USAGE;
    execv(program, q->words);
    fprintf(stderr, "heddle measure: cannot run '%s': %s\n", program, strerror(errno));
    return EXIT_INPUT;
}

static int measure(int argc, char **argv)
{
    struct request q = {.arena = arena_new()};
    const int status = parse(&q, argc, argv) ? run(&q) : EXIT_USAGE;
    arena_free(q.arena);
    return status;
}

const struct command command_measure = {
    .name = "measure",
    .summary = "measure the workloads on an NVIDIA GPU",
    .usage = "measure [NAME...] [options]",
    .description =
        "Runs the workloads (all, if none is named; 'heddle suite list') on this machine's GPU, "
        "through its driver's "
        "libcuda.so.1. Prints as CSV how many cycles each launch took, with the device, driver, "
        "clock and date above. "
        "'heddle calibrate --traces' reads that (docs/model.md).",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .exit_status =
        "  0  success\n  1  there is no driver or no device, or a workload did not pass\n  2  a "
        "wrong call",
    .examples =
        "  heddle measure --output mine.csv\n"
        "  heddle estimate --gpu v100 --traces mine.traces suite:saxpy:small   # and the others\n"
        "  heddle calibrate mine.csv --gpu v100 --traces mine.traces --output mine.yaml",
    .run = measure,
};
