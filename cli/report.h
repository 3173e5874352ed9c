/* cli/report.h: what `heddle run` says about a run, as text or as one JSON document (docs/run-json.md).
 *
 * Every launch of every kind of target goes through report_launch(), as a struct launch_record
 * (session/launch_record.h). Launches that are alike but for their results are one row. */
#ifndef HEDDLE_CLI_REPORT_H
#define HEDDLE_CLI_REPORT_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/compare.h"
#include "session/launch_record.h"

#include "heddle.h"

struct run_observer;
struct device_watch;
struct placement_report;
struct progress;
struct locks;

struct report {
    struct arena *arena;
    bool json, quiet;
    const char *kind, *name;   /* of the target: "ptx", "job", "suite" */
    struct progress *progress; /* NULL: none is shown */
    struct counts *counts;     /* where launches' counts go */
    /* The run is looked at from inside: nothing is printed, no file is written. NULL: it is not. */
    const struct device_watch *watch;
    struct recording *recording;
    struct watch_report *watches;       /* NULL: nothing is watched */
    struct placement_report *placement; /* NULL: it is not asked for */
    struct locks *locks;                /* of --locks; NULL: they are not asked for */
    struct run_observer
        *run_observer; /* of `heddle communication` and `heddle trace record`; NULL */
    double started;
    int status;         /* an exit code: the first thing that went wrong */
    int program_status; /* of a program: its own */

    struct launch_row {
        struct launch_record first; /* says what was launched; its other fields mean nothing */
        uint64_t launches, warp_instructions, thread_instructions, findings, suppressed;
        uint64_t executions[EMU_EXECUTION_COUNT];
        double seconds;
    } * rows;
    size_t row_count, row_cap;
    struct launch_record fault; /* the first one; kernel NULL: none */
    struct shown_buffer {
        const char *name, *label;
        const struct value_type *type;
        uint64_t count, digest, first[8];
    } * buffers;
    size_t buffer_count, buffer_cap;
    struct shown_comparison {
        const char *name;
        bool by_digest;
        uint64_t got, want; /* digests */
        struct comparison comparison;
    } * comparisons;
    size_t comparison_count, comparison_cap;
    uint64_t digest; /* of all memory */
    bool has_digest;
    const char *note;             /* of a workload; NULL */
    uint64_t read_back;           /* with a note: the digest of what the workload read back */
    struct buf messages, printed; /* what went to stderr; with json, what kernels print */
};

void report_begin(struct report *r);

/* A message, to stderr and into the document. */
void report_say(struct report *r, const char *text);
/* The same, with the exit code it leads to. Later ones do not replace an earlier one. */
void report_fail(struct report *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* `text`: its findings and its fault, which are printed; NULL: they have been. */
void report_launch(struct report *r, const struct launch_record *launch, const char *text);
struct shown_buffer *report_add_buffer(struct report *r);
struct shown_comparison *report_add_comparison(struct report *r);

/* What kernels print: heddle_device_options.print, self is the report. */
void report_printed(void *self, const char *text, size_t length);

/* Prints it; returns the exit code. */
int report_end(struct report *r);

/* The document, in report_json.c. */
void report_print_json(const struct report *r, double seconds);

const char *report_status_name(int status);

#endif
