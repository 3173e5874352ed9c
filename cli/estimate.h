/* cli/estimate.h: what `heddle estimate` and `heddle compare` share: a target is run in another process, once for each
 * GPU and order, and says of each launch how long it takes.
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

struct estimates { /* of the target on one GPU, under one order */
    const struct emu_gpu *gpu;
    const char *order; /* "gpudet:quantum=1000" */
    struct launch_estimate *list;
    size_t count, cap;
    struct launch_estimate total;   /* sums; without kernel, grid and block */
    struct emu_fidelity *fidelity;  /* NULL: not asked for */
    struct event_timeline timeline; /* of CUDA programs, summed over processes */
    /* With estimate_call.operations, of the first process that ends; launch n of them is list[n]. */
    struct event_operation *operations;
    size_t operation_count, operation_cap;
    bool partial; /* the target failed: these are the launches before */
};

struct estimate_call {
    struct arena *arena;
    const char *command;
    char **words;     /* for `heddle run`, NULL behind them */
    const char *seed; /* of `heddle compare`; NULL: none is given */
    int word_count;
    const struct emu_gpu *gpus[MOST_GPUS];
    const char *gpu_names[MOST_GPUS]; /* as they were given */
    size_t gpu_count;
    const char *orders[MOST_ORDERS];
    size_t order_count; /* 0: none was named */
    enum format format;
    const char *coefficients; /* a file of them (model/timing_file.h); NULL: those built in */
    bool fidelity;            /* it is asked for */
    const char *traces;       /* a file to which the launches' traces are added; NULL: none */
    /* Only `traces` are wanted. (CUDA programs are estimated nevertheless: their events have the estimate's times.) */
    bool traces_only;
    bool operations; /* those of CUDA programs over time are wanted */
    bool index;      /* an index is added to it (emu/trace_file.h); it is a new file */
    int target;      /* which of the words it is */
    /* Called as soon as a launch of a running target has been estimated. NULL: not called. */
    void (*each)(const struct estimates *e, size_t launch);
    FILE *input; /* of a target '-': what came on standard input, for each run; NULL */
    int status;  /* of a wrong call */
    const struct estimate_option
        *added; /* the other command's, name NULL behind the last; NULL: none */
    void *self; /* for these */
};

/* Own options (--gpu, --order, --format, --traces, --coefficients) are taken out, the others are for `heddle run`.
 * false: one is wrong, which has been said; `status` is the exit code. Without --gpu it is a TITAN V. */
/* An own option of another command: estimate_read_call gives it the value. false: it is wrong, which has been said. */
struct estimate_option {
    const char *name; /* "--output" */
    bool (*set)(struct estimate_call *c, const char *value);
    bool flag; /* without a value: set() gets "" */
};

bool estimate_read_call(struct estimate_call *c, int argc, char **argv);

/* From here on, estimates of a GPU are by the file that --coefficients names for it, if any. The exit code. */
int estimate_coefficients(struct estimate_call *c);

/* "saxpy 4096", in the call's arena: as rows of measured cycles name it. */
char *estimate_run_name(const struct estimate_call *c);

/* That name, and the files that the target's words name, with their digests. */
struct trace_origin estimate_origin(const struct estimate_call *c);

/* Runs the target. Returns the exit code. If the target fails or is stopped, `partial` is set, and the estimates are
 * those of the launches before. */
int estimate_run(struct estimate_call *c, const struct emu_gpu *gpu, const char *order,
                 struct estimates *e);

#endif
