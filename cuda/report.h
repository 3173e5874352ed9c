/* cuda/report.h: the reports of the CUDA library about a program's launches.
 *
 * Events go to the command line, if it has started the program (session/event_stream.h); a run of `heddle
 * check` has the events of the run log as well (session/run_log.h). Lines of text go to stderr, or to the
 * program that has configured the device (cuda/device.h). The document of HEDDLE_COUNTS goes to a file. The
 * set of reports is fixed when the device is created; without reports a launch has no cost here.
 *
 * The driver's lock guards all state. */
#ifndef HEDDLE_CUDA_REPORT_H
#define HEDDLE_CUDA_REPORT_H

#include "cuda/timeline.h"

#include "base/replace.h"
#include "emu/counts.h"
#include "emu/trace_file.h"
#include "session/launch_record.h"

#include <stdbool.h>
#include <stdio.h>

struct run_observer;
struct run_log;
struct emu_fidelity;
struct emu_profile;
struct event_stream;
struct estimate_cache;

struct driver_reports {
    struct event_stream *events;       /* NULL: the program was not started by the command line */
    struct run_log *run_log;           /* NULL: this is no run of `heddle check` */
    struct run_observer *run_observer; /* NULL: the command line asked for none */
    char *counts_path;                 /* the file of HEDDLE_COUNTS; NULL: not asked for */
    struct replacement counts_file;    /* used if counts_path is not NULL */
    struct emu_counts_writer counts;   /* used if counts_path is not NULL */
    struct emu_profile *profile;       /* NULL: not asked for */
    struct emu_fidelity *fidelity;     /* NULL: not asked for */
    struct estimate_cache *estimates;  /* NULL: launches are not estimated */
    struct timeline timeline;          /* with `estimates`: the clock of CUDA events */
    struct trace_writer traces; /* for HEDDLE_ESTIMATE_TRACES; without a file: not asked for */
    uint64_t suppressed;        /* number of suppressed findings of launches */
};

/* Reports a launch that has ended. */
void driver_report_launch(const struct launch_record *l);
/* At the end of the program: writes all reports that a program has once. */
void driver_report_end(void);
/* At the end of the device: writes the document of HEDDLE_COUNTS. */
void driver_write_counts(void);
void driver_report_leaks(void); /* with the check of memory: reports memory that was not freed */

/* Prints lines to the watcher (cuda_watch.say) or to stderr. */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for a finding of a check: also counts it. */
#define driver_find(...) (driver_say(__VA_ARGS__), driver_found())
void driver_found(void);
/* The same for a finding about memory: also prints the call sites of the operation that executes, and of the
 * calls that the text names. */
void driver_find_memory(const char *text);
void driver_say_sites(const char *text); /* prints only these call sites */
/* With the check of memory: the call site (caller_note()) of a call with the name that driver_call() returned
 * ("cuMemAlloc #3"). 0: unknown. */
unsigned driver_call_site(const char *name);

#endif
