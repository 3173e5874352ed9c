/* cli/job_run.h: the execution of a job. job_run.c executes its steps, job_memory.c allocates and fills its
 * buffers, job_results.c checks its expectations. */
#ifndef HEDDLE_CLI_JOB_RUN_H
#define HEDDLE_CLI_JOB_RUN_H

#include "cli/job.h"

enum { CHUNK = 1 << 16 }; /* elements in host memory at a time, of at most 8 bytes each */

struct runner {
    struct job *job;
    struct report *report;
    struct heddle_device *device;
    struct heddle_module **modules;
    unsigned char *got, *want; /* CHUNK elements each */
    uint64_t steps;            /* number of executed steps and loop iterations */
    bool outside;              /* the error is about a file or host memory, not about the job */
};

/* Print the messages in the diags (`d`, or the job's); return the exit code. */
int runner_wrong_in(struct runner *r, struct diags *d, int status);
int runner_wrong(struct runner *r, int status);

/* false after an error, here and below. Errors are in the job's diags and not yet printed. */
bool runner_place(struct runner *r, struct job_buffer *b); /* allocates: sets b->address */
bool runner_fill(struct runner *r, struct job_buffer *b, const struct pattern *p, uint64_t first,
                 uint64_t n);

/* These functions print their errors. */
bool runner_check(struct runner *r, const struct job_expectation *e);
bool runner_dump(struct runner *r, const struct job_dump *d);
void runner_show(struct runner *r);

#endif
