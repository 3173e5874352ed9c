/* session/run_log.h: the log of a run of `heddle check`: digests of memory and of output, besides the
 * records of launches.
 *
 * `heddle check` runs a target many times, each time in a process of its own, and compares the contents of
 * memory after each launch. The log is part of the run's event stream (session/event_stream.h):
 *
 *     event_stream_want(s, EVENTS_RUN_LOG);                   // in the process that starts the run
 *
 *     struct run_log *log = run_log_open(s);                  // in the process that runs
 *     ... run_log_begin_launch() and run_log_end_launch() around each launch, run_log_printed(), run_log_copied()
 *     run_log_end(log);
 *
 * When the logs of two runs differ, `heddle check` repeats both runs with another task,
 * run_log_ask(): the process ends after the first launch that differs, and writes all memory
 * (determinism/record/snapshot.h) or the last writers of some words
 * (determinism/record/last_writers.h) as the stream's attachment. Such a run writes no events. */
#ifndef HEDDLE_SESSION_RUN_LOG_H
#define HEDDLE_SESSION_RUN_LOG_H

#include "session/event_stream.h"

enum { RUN_LOG_MOST_LAUNCHES = 1 << 16 }; /* the most launches with digests of their own */

/* The digest of a sequence from the digest of its first elements and the next element. Depends on their order. */
uint64_t run_log_mix_digest(uint64_t digest, uint64_t next);

/* ---- in the process that starts the run -------------------------------------------------------------- */

struct run_log_task {
    enum run_log_work {
        RUN_LOG_WRITE_EVENTS,       /* the events of EVENTS_RUN_LOG */
        RUN_LOG_WRITE_SNAPSHOT,     /* after launch number `launch` (from 0): snapshot_write() */
        RUN_LOG_WRITE_LAST_WRITERS, /* after `launch`: last_writers_write() */
    } work;
    uint64_t launch;
    const uint64_t *places; /* RUN_LOG_WRITE_LAST_WRITERS: addresses of words, ascending */
    size_t place_count;
    uint64_t first; /* address of the byte whose last writer is reported in full */
};
/* Sets the task of a run; to be called before the run starts. */
void run_log_ask(struct event_stream *s, const struct run_log_task *t);

/* ---- in the process that runs ------------------------------------------------------------------------ */

struct run_log;
struct run_log *run_log_open(struct event_stream *s); /* NULL: the stream does not ask for a log */
bool run_log_writes_events(const struct run_log *log);

/* To be called before a launch. Adds an observer to the launch if the task needs one. */
void run_log_begin_launch(struct run_log *log, const char *kernel, struct emu_launch *launch);
/* Writes the launch, its findings and its digest. */
void run_log_end_launch(struct run_log *log, struct emu *e, const struct launch_record *l);

/* The three parts of run_log_end_launch(), for launches that execute in another order than the program
 * submitted them. First part: writes the launch and its findings. */
void run_log_report(struct run_log *log, const struct launch_record *l);
/* Second part: computes the digest of memory now and of the output so far. Ends the process if the task is
 * to stop after this launch. Third part: writes the event of the digest. */
uint64_t run_log_digest(struct run_log *log, struct emu *e, uint64_t launch);
void run_log_launch(struct run_log *log, const char *kernel, uint64_t digest);

/* Writes a finding about the host: a race between its operations (EMU_RACE), or a copy of uninitialised bytes
 * (EMU_UNINITIALISED). */
void run_log_host_finding(struct run_log *log, enum emu_fault_kind kind, const char *text);
void run_log_printed(struct run_log *log, const char *text, size_t size);
void run_log_copied(struct run_log *log, const void *bytes, size_t size);
void run_log_message(struct run_log *log, const char *text);
/* Writes the digests, and frees the log. In a child process made by fork(): only frees the log. NULL is
 * allowed. */
void run_log_end(struct run_log *log);

#endif
