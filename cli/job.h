/* cli/job.h: a job of `heddle run`: modules, buffers, steps, and expected results.
 *
 *     struct job job = {.arena = a, .diags = &diags};
 *     if (job_read(&job, source)) status = job_run(&job, &report);    // a job file (docs/job-files.md)
 *     if (job_of_options(&job, options)) ...                          // a kernel file and --arg ...
 *
 * Both kinds of target become a job, so that buffers, arguments and expectations have one implementation. Each
 * part has its place in the source; errors that are found only when the modules are read are reported with that
 * place. */
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
    const char *name, *number; /* number: the number of its argument as a second name; NULL: none */
    const char *label;         /* its name in messages of the device */
    const struct value_type *type;
    uint64_t count;       /* number of elements; 0: that of `fill`, or of the variable */
    const char *variable; /* the module variable that is the buffer; NULL: memory of its own */
    struct pattern fill;
    bool filled; /* false: the variable keeps its initial value */
    struct piece where;
    uint64_t address; /* device address; set when the job runs */
};

struct job_arg {
    struct job_buffer *buffer;     /* the argument is the buffer's address; NULL: it is a number */
    const struct value_type *type; /* type of the number; NULL: that of the parameter */
    struct piece number, where;
};

enum job_step_kind { JOB_LAUNCH, JOB_SET, JOB_COPY, JOB_LOOP };

struct job_step {
    enum job_step_kind kind;
    struct piece where;
    struct job_step *next;

    struct piece kernel; /* JOB_LAUNCH: name of the kernel; empty: the only kernel */
    const char *kernel_name;
    uint32_t grid[3], block[3], cluster[3], shared;
    bool cooperative;
    struct job_arg *args;
    size_t arg_count;
    uint64_t *bits; /* values of the arguments; set when the job runs */

    struct job_buffer *buffer, *from; /* JOB_SET: buffer; JOB_COPY: destination and source */
    uint64_t first, count;            /* JOB_SET: range of elements; count 0: to the end */
    struct pattern fill;

    uint64_t repeat; /* JOB_LOOP: number of iterations; with `until` the maximum */
    /* JOB_LOOP: the loop ends when element `until_index` is `until_bits`; NULL: after `repeat` iterations. */
    struct job_buffer *until;
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
    struct diags *diags; /* its source contains `where`: the job file or the command line */
};

struct job_dump {
    struct job_buffer *buffer;
    const char *path;
    struct piece where;
    struct diags *diags; /* as in struct job_expectation */
};

struct job_module {
    const char *path;
    struct piece where;
    struct heddle_module *ready; /* the module, if the caller has read it and owns it; NULL: not */
};

struct job {
    struct arena *arena;
    struct diags *diags; /* their source is the job file or the command line */
    bool from_file;      /* true: the source is a job file */
    const char *folder;  /* base of relative paths: "", or ends with '/' */
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
    struct heddle_device_options device; /* callbacks and counting; job_run() sets the rest */
};

/* Append a zeroed element to a list of the job; only its `diags` are set. */
struct job_module *job_add_module(struct job *job);
struct job_buffer *job_add_buffer(struct job *job);
struct job_expectation *job_add_expectation(struct job *job);
struct job_dump *job_add_dump(struct job *job);

/* The buffer of that name; NULL after an error, with a hint at the nearest name. */
struct job_buffer *job_find_buffer(struct job *job, struct piece name);

/* Reads a number with or without a type, "42", "f32:1.5"; false after an error. */
bool job_read_number(struct job *job, struct piece text, struct job_arg *arg);

/* Make a job from the command line (job_options.c): the kernel file and its launch; expectations and dumps,
 * which a job file may have as well. false after errors. */
bool job_of_options(struct job *job, const struct run_options *o);
bool job_add_results(struct job *job, const struct run_options *o);

/* Makes a job from a job file (job_file.c), whose text is the source of the diags. false after errors. */
bool job_read(struct job *job);

/* Runs the job; returns an exit code. Errors of the input are in the diags. */
int job_run(struct job *job, struct report *r);

/* Finds the kernels and computes the arguments of all launches; buffers must have addresses (job_bind.c).
 * false after errors. */
bool job_bind(struct job *job, struct heddle_device *d, struct heddle_module **modules);

#endif
