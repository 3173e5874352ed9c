/* cli/job_run.h: a job while it runs. job_run.c does its steps, job_memory.c has its buffers, job_results.c
 * what should have come of it. */
#ifndef HEDDLE_CLI_JOB_RUN_H
#define HEDDLE_CLI_JOB_RUN_H

#include "cli/job.h"

enum { CHUNK = 1 << 16 }; /* elements in host memory at a time, of at most 8 bytes */

struct runner {
    struct job *job;
    struct report *report;
    struct heddle_device *device;
    struct heddle_module **modules;
    unsigned char *got, *want; /* CHUNK elements each */
    uint64_t steps;            /* done, and rounds of loops */
    bool outside;              /* what is wrong is a file or memory, not what the job says */
};

/* Print what is in the diags (some, or the job's); the exit code. */
int runner_wrong_in(struct runner *r, struct diags *d, int status);
int runner_wrong(struct runner *r, int status);

/* false after an error, here and below; what has been said in the job's diags is not yet printed. */
bool runner_place(struct runner *r, struct job_buffer *b); /* gives it an address */
bool runner_fill(struct runner *r, struct job_buffer *b, const struct pattern *p, uint64_t first,
                 uint64_t n);

/* These print it. */
bool runner_check(struct runner *r, const struct job_expectation *e);
bool runner_dump(struct runner *r, const struct job_dump *d);
void runner_show(struct runner *r);

#endif
