/* cli/report.h: the report of `heddle run`, as text or as one JSON document (docs/run-json.md).
 *
 * Every launch of every kind of target goes through report_launch(), as a struct launch_record
 * (session/launch_record.h). Launches that differ only in their results are one row. */
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
    const char *kind, *name;   /* kind of the target ("ptx", "job", "suite"), and its name */
    struct progress *progress; /* NULL: no progress line */
    struct counts *counts;     /* gets the counts of launches; NULL: not counted */
    /* Another part of the program observes the run: nothing is printed, no file is written. NULL: not. */
    const struct device_watch *watch;
    struct recording *recording;
    struct watch_report *watches;       /* NULL: no --watch */
    struct placement_report *placement; /* NULL: no --memory-map */
    struct locks *locks;                /* NULL: no --locks */
    /* The observer of `heddle communication` or `heddle trace record`; NULL: none. */
    struct run_observer *run_observer;
    double started;
    int status;         /* the exit code of the first error */
    int program_status; /* TARGET_PROGRAM: the program's own exit status */

    struct launch_row {
        struct launch_record first; /* only the members about the request are valid */
        uint64_t launches, warp_instructions, thread_instructions, findings, suppressed;
        uint64_t executions[EMU_EXECUTION_COUNT];
        double seconds;
    } * rows;
    size_t row_count, row_cap;
    struct launch_record fault; /* the first launch with a fault; kernel NULL: none */
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
    uint64_t digest; /* digest of all memory */
    bool has_digest;
    const char *note;             /* the note of a workload; NULL: none */
    uint64_t read_back;           /* with a note: digest of the bytes that the workload read back */
    struct buf messages, printed; /* messages to stderr; with json, the output of kernels */
};

void report_begin(struct report *r);

/* Prints a message to stderr and adds it to the document. */
void report_say(struct report *r, const char *text);
/* The same, and sets the exit code unless an earlier error has set it. */
void report_fail(struct report *r, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds a launch. `text`: its findings and its fault, to be printed; NULL: they were printed before. */
void report_launch(struct report *r, const struct launch_record *launch, const char *text);
struct shown_buffer *report_add_buffer(struct report *r);
struct shown_comparison *report_add_comparison(struct report *r);

/* Gets the output of kernels: heddle_device_options.print, where self is the report. */
void report_printed(void *self, const char *text, size_t length);

/* Prints the report; returns the exit code. */
int report_end(struct report *r);

/* Prints the JSON document (report_json.c). */
void report_print_json(const struct report *r, double seconds);

const char *report_status_name(int status);

#endif
