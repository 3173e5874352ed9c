/* cli/job.h: what `heddle run` is to do: modules, buffers, steps, and what should come of them.
 *
 *     struct job job = {.arena = a, .diags = &diags};
 *     if (job_read(&job, source)) status = job_run(&job, &report);    // a job file (docs/job-files.md)
 *     if (job_of_options(&job, options)) ...                          // a kernel file and --arg ...
 *
 * Both kinds of target become a job, so that what a buffer, an argument or an expectation is stands in one
 * place. Each part remembers where it was written; mistakes that show only when the modules are read are
 * reported with that place. */
#ifndef HEDDLE_CLI_JOB_H
#define HEDDLE_CLI_JOB_H

#include "base/value.h"
#include "cli/compare.h"
#include "cli/pattern.h"
#include "session/settings.h"

#include "heddle.h"

struct arena;
struct diags;
struct report;
struct run_options;
struct source;

struct job_buffer {
    const char *name, *number; /* number: of the argument, another name for it; NULL */
    const char *label;         /* in messages of the device */
    const struct value_type *type;
    uint64_t count;       /* 0: as many as `fill` has, or the variable */
    const char *variable; /* of a module, in place of memory of its own; NULL */
    struct pattern fill;
    bool filled; /* false: a variable that keeps its initial value */
    struct piece where;
    uint64_t address; /* once the job runs */
};

struct job_arg {
    struct job_buffer *buffer;     /* its address; NULL: a number */
    const struct value_type *type; /* of the number; NULL: as the parameter */
    struct piece number, where;
};

enum job_step_kind { JOB_LAUNCH, JOB_SET, JOB_COPY, JOB_LOOP };

struct job_step {
    enum job_step_kind kind;
    struct piece where;
    struct job_step *next;

    struct piece kernel; /* JOB_LAUNCH; no text: the only one there is */
    const char *kernel_name;
    uint32_t grid[3], block[3], cluster[3], shared;
    bool cooperative;
    struct job_arg *args;
    size_t arg_count;
    uint64_t *bits; /* of the arguments, once the job runs */

    struct job_buffer *buffer, *from; /* JOB_SET; JOB_COPY: the goal and the source */
    uint64_t first, count;            /* JOB_SET: elements; count 0: up to the end */
    struct pattern fill;

    uint64_t repeat; /* JOB_LOOP: times, or at most that many with `until` */
    struct job_buffer
        *until; /* ends when element `until_index` is `until_bits`; NULL: never early */
    uint64_t until_index, until_bits;
    struct job_step *body;
};

struct job_expectation {
    struct job_buffer *buffer;
    bool by_digest;
    uint64_t digest;
    struct pattern pattern;
    struct tolerance tolerance;
    struct piece where;
    struct diags
        *diags; /* whose source `where` is in: a job's results may come from the command line */
};

struct job_dump {
    struct job_buffer *buffer;
    const char *path;
    struct piece where;
    struct diags *diags; /* as above */
};

struct job_module {
    const char *path;
    struct piece where;
    struct heddle_module *ready; /* read before, by another who keeps it; NULL: not */
};

struct job {
    struct arena *arena;
    struct diags *diags; /* their source is the job file or the command line */
    bool from_file;      /* the former */
    const char *folder;  /* that paths are relative to: "" or with '/' at its end */
    struct job_module *modules;
    size_t module_count, module_cap;
    struct job_buffer **buffers;
    size_t buffer_count, buffer_cap;
    struct job_step *steps;
    struct job_expectation *expectations;
    size_t expectation_count, expectation_cap;
    struct job_dump *dumps;
    size_t dump_count, dump_cap;
    struct settings settings;
    struct heddle_device_options
        device; /* its callbacks, and what is counted; job_run() sets the rest */
};

/* Growing its lists; the new element is zeroed, but for the diags. */
struct job_module *job_add_module(struct job *job);
struct job_buffer *job_add_buffer(struct job *job);
struct job_expectation *job_add_expectation(struct job *job);
struct job_dump *job_add_dump(struct job *job);

/* The buffer of that name; NULL after an error with what may have been meant. */
struct job_buffer *job_find_buffer(struct job *job, struct piece name);

/* A number with or without a type, "42", "f32:1.5"; false after an error. */
bool job_read_number(struct job *job, struct piece text, struct job_arg *arg);

/* From the command line: the kernel file and its launch (job_options.c); expectations and dumps, which go
 * with a job file as well. false after errors. */
bool job_of_options(struct job *job, const struct run_options *o);
bool job_add_results(struct job *job, const struct run_options *o);

/* From a job file (job_file.c), whose text is the source of the diags. */
bool job_read(struct job *job);

/* Runs it; an exit code. Errors of the input are in the diags. */
int job_run(struct job *job, struct report *r);

/* Finds the kernels and works out the arguments of all launches, when buffers have addresses (job_bind.c).
 * false after errors. */
bool job_bind(struct job *job, struct heddle_device *d, struct heddle_module **modules);

#endif
