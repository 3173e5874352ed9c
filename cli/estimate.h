/* cli/estimate.h: common parts of `heddle estimate` and `heddle compare`. They run the target in another process, once for
 * each GPU and order; the process writes an estimate of each launch to an event stream.
 *
 *     struct estimate_call c = {.arena = arena, .command = "estimate"};
 *     if (estimate_read_call(&c, argc, argv)) status = estimate_run(&c, c.gpus[0], c.orders[0], &e); */
#ifndef HEDDLE_CLI_ESTIMATE_H
#define HEDDLE_CLI_ESTIMATE_H

#include "emu/trace_file.h"
#include "model/launch_estimate.h"
#include "session/event_stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct emu_gpu;

enum { MOST_GPUS = 32, MOST_ORDERS = 16 };
enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

struct estimates { /* the estimates of the target on one GPU, under one order */
    const struct emu_gpu *gpu;
    const char *order; /* "gpudet:quantum=1000" */
    struct launch_estimate *list;
    size_t count, cap;
    struct launch_estimate total;   /* the sum of the list; has no kernel, grid and block */
    struct emu_fidelity *fidelity;  /* NULL: not asked for */
    struct event_timeline timeline; /* CUDA programs: summed over processes */
    /* With estimate_call.operations: those of the first process that ends; its n-th launch is list[n]. */
    struct event_operation *operations;
    size_t operation_count, operation_cap;
    bool partial; /* the target failed; the list has the launches before that */
};

struct estimate_call {
    struct arena *arena;
    const char *command;
    char **words;     /* the words of the `heddle run` command, NULL behind them */
    const char *seed; /* `heddle compare`: --seed; NULL: not given */
    int word_count;
    const struct emu_gpu *gpus[MOST_GPUS];
    const char *gpu_names[MOST_GPUS]; /* the names as the user wrote them */
    size_t gpu_count;
    const char *orders[MOST_ORDERS];
    size_t order_count; /* 0: no order was given */
    enum format format;
    const char *coefficients; /* file of coefficients (model/timing_file.h); NULL: built-in ones */
    bool fidelity;            /* --fidelity is given */
    const char *traces;       /* a file to which the launches' traces are added; NULL: none */
    /* Only write `traces`. (CUDA programs are estimated nevertheless, because their CUDA events have estimated times.) */
    bool traces_only;
    bool operations; /* collect the operations of CUDA programs over time */
    bool index;      /* add an index to `traces` (emu/trace_file.h), which is a new file */
    int target;      /* index of the target in `words` */
    /* Called as soon as a launch of a running target has been estimated. NULL: not called. */
    void (*each)(const struct estimates *e, size_t launch);
    FILE *input; /* target '-': a copy of standard input, read by each run; else NULL */
    int status;  /* the exit code if the command line has errors */
    const struct estimate_option
        *added; /* options of another command, name NULL behind the last; NULL: none */
    void *self; /* for the set() functions of `added` */
};

/* An option of another command: estimate_read_call() passes its value to set(). set() returns false after a message. */
struct estimate_option {
    const char *name; /* "--output" */
    bool (*set)(struct estimate_call *c, const char *value);
    bool flag; /* the option has no value: set() gets "" */
};

/* Reads the command line: takes the options --gpu, --order, --format, --traces and --coefficients; others are for `heddle
 * run`. The default GPU is a TITAN V. false after a message; `status` is the exit code. */
bool estimate_read_call(struct estimate_call *c, int argc, char **argv);

/* Makes later estimates use the file of --coefficients for its GPU, if given. Returns the exit code. */
int estimate_coefficients(struct estimate_call *c);

/* The name of the run in files of measured cycles, "saxpy 4096"; in the call's arena. */
char *estimate_run_name(const struct estimate_call *c);

/* That name, and the files that the target's words name, with their digests, for trace files. */
struct trace_origin estimate_origin(const struct estimate_call *c);

/* Runs the target. Returns the exit code. If the target fails or is stopped, sets `partial`, and the estimates are
 * those of the launches before that. */
int estimate_run(struct estimate_call *c, const struct emu_gpu *gpu, const char *order,
                 struct estimates *e);

#endif
