/* cli/job_file.h: reading the maps of a job file. job_fields.c has the tools, job_steps.c the steps,
 * job_file.c the rest. All functions return false after an error, or NULL. */
#ifndef HEDDLE_CLI_JOB_FILE_H
#define HEDDLE_CLI_JOB_FILE_H

#include "cli/job.h"
#include "cli/yaml.h"

/* A key of a map, and what to do with its value. */
struct field {
    const char *name;
    enum yaml_kind kind;
    bool any_kind; /* read() looks itself */
    bool needed;
    bool (*read)(struct job *job, struct yaml *v, void *to);
};

/* Reads a map by its fields (a list that ends with a NULL name), in the order of the fields; all mistakes
 * are reported. `where` is what the map is, in messages; `to` goes to the fields. */
bool job_read_map(struct job *job, struct yaml *map, const struct field *fields, const char *where,
                  void *to);

bool piece_is(struct piece p, const char *word);
bool job_wants_kind(struct job *job, const struct yaml *v, enum yaml_kind kind, const char *what);
const char *job_text(struct job *job, const struct yaml *v);
const char *job_path(struct job *job, const struct yaml *v); /* relative to the job file */
bool job_read_count(struct job *job, const struct yaml *v, uint64_t least, uint64_t most,
                    uint64_t *out);
/* A pattern, or a list of numbers. */
bool job_read_pattern(struct job *job, struct yaml *v, const struct value_type *t,
                      struct pattern *out);

bool job_read_steps(struct job *job, struct yaml *v, void *to);

#endif
