/* cli/job_file.h: reads the maps of a job file. job_fields.c has the common functions, job_steps.c reads steps,
 * job_file.c all else. After an error functions return false or NULL. */
#ifndef HEDDLE_CLI_JOB_FILE_H
#define HEDDLE_CLI_JOB_FILE_H

#include "cli/job.h"
#include "cli/yaml.h"

/* A key of a map, and the function that reads its value. */
struct field {
    const char *name;
    enum yaml_kind kind;
    bool any_kind; /* read() checks the kind of the value itself */
    bool needed;
    bool (*read)(struct job *job, struct yaml *v, void *to);
};

/* Reads a map by its fields (an array that ends with a NULL name), in the order of the fields, and reports all
 * errors. `where` names the map in messages; `to` is passed to read(). */
bool job_read_map(struct job *job, struct yaml *map, const struct field *fields, const char *where,
                  void *to);

bool piece_is(struct piece p, const char *word);
bool job_wants_kind(struct job *job, const struct yaml *v, enum yaml_kind kind, const char *what);
const char *job_text(struct job *job, const struct yaml *v);
const char *job_path(struct job *job, const struct yaml *v); /* relative paths: to the job file */
bool job_read_count(struct job *job, const struct yaml *v, uint64_t least, uint64_t most,
                    uint64_t *out);
/* Reads a pattern or a list of numbers. */
bool job_read_pattern(struct job *job, struct yaml *v, const struct value_type *t,
                      struct pattern *out);

bool job_read_steps(struct job *job, struct yaml *v, void *to);

#endif
