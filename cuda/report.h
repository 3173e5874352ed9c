/* cuda/report.h: what the library reports of a program's launches, and to whom.
 *
 * To the command line, which started the program: events (session/event_stream.h), with those of
 * the run log (session/run_log.h) in a run of `heddle check`. To the user: lines on stderr, or for
 * the program that has configured the device (cuda/device.h), and the document of HEDDLE_COUNTS.
 * What is wanted is decided when the device begins; without any wish a launch costs nothing here.
 *
 * The driver's lock guards all of it. */
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
    struct run_log *run_log;           /* NULL: it is no run of `heddle check` */
    struct run_observer *run_observer; /* NULL: the command line asked for none */
    char *counts_path;                 /* of HEDDLE_COUNTS; NULL: not asked for */
    struct replacement counts_file;    /* with it */
    struct emu_counts_writer counts;   /* likewise */
    struct emu_profile *profile;       /* NULL: not asked for */
    struct emu_fidelity *fidelity;     /* likewise */
    struct estimate_cache *estimates;  /* NULL: launches are not estimated */
    struct timeline timeline;          /* with it: the clock of CUDA's events */
    struct trace_writer traces; /* of HEDDLE_ESTIMATE_TRACES; without a file: not asked for */
    uint64_t suppressed;        /* findings of launches that were left out as known */
};

/* A launch has ended. */
void driver_report_launch(const struct launch_record *l);
/* The program ends: all that is reported once. */
void driver_report_end(void);
/* The device ends: the document of HEDDLE_COUNTS. */
void driver_write_counts(void);
void driver_report_leaks(void); /* with the check of memory: what was not freed */

/* Lines for the watcher or stderr. */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Likewise, each of which is something that a check has found. */
#define driver_find(...) (driver_say(__VA_ARGS__), driver_found())
void driver_found(void);
/* Likewise, of memory: and where the program asked for the operation that is being done, and for
 * what the text names. */
void driver_find_memory(const char *text);
void driver_say_sites(const char *text); /* that alone */
/* Of a call as driver_call() named it ("cuMemAlloc #3"), with the check of memory: where it was made, a number that is
 * equal for equal stacks. 0: unknown. */
unsigned driver_call_site(const char *name);

#endif
