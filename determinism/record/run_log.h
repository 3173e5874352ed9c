/* determinism/record/run_log.h: the run log of `heddle check`: results of each launch of a run, in
 * a file.
 *
 *     struct run_log *log = run_log_new(&task, file);        // in the process that runs
 *     ... run_log_begin_launch() and run_log_end_launch() around each launch
 *     run_log_end(log);
 *
 *     struct run_log_reader t = {bytes, size};               // in the process that started it
 *     struct run_log_entry e;
 *     while (run_log_next(&t, &e)) ...
 *
 * `heddle check` runs a program many times, each in a process of its own, and compares the logs.
 * Each entry is written at once, so the entries of a process that crashes stay, and several
 * processes may write to one file, one after the other. When two logs differ, `heddle check` runs
 * the program again with another task: stop after the first launch that differs, and write all
 * memory (snapshot.h) or the last writers of some words (last_writers.h). */
#ifndef HEDDLE_DETERMINISM_RECORD_RUN_LOG_H
#define HEDDLE_DETERMINISM_RECORD_RUN_LOG_H

#include "determinism/record/last_writers.h"
#include "emu/emu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what is written
 * ----------------------------------------------------------------------------- */

enum run_log_kind {
    RUN_LOG_KERNEL_BEGIN, /* name: the kernel that begins */
    RUN_LOG_KERNEL_END,   /* it has ended */
    RUN_LOG_LAUNCH, /* name: the kernel; digest: of memory and of all that was printed so far */
    RUN_LOG_OTHER_LAUNCHES,   /* digest: of the launches beyond RUN_LOG_MOST_LAUNCHES */
    RUN_LOG_FINDING,          /* of a check: name: the kernel; what, count, places, text */
    RUN_LOG_FAULT,            /* what, name: the kernel; line, source_line, source_file */
    RUN_LOG_MESSAGE,          /* text: a message of Heddle's to the user */
    RUN_LOG_MEMORY,           /* digest: of all memory after the last launch */
    RUN_LOG_PRINTED,          /* digest: of all that kernels printed */
    RUN_LOG_COPIED,           /* digest: of all copies to the host, in any order */
    RUN_LOG_FINDING_COUNT,    /* count: findings in launches and between them */
    RUN_LOG_SUPPRESSED_COUNT, /* count: findings that the suppression list left out */
    RUN_LOG_STATUS,           /* count: the exit status; the caller defines its meaning */
    RUN_LOG_KINDS
};
enum { RUN_LOG_MOST_LAUNCHES = 1 << 16 }; /* that have an entry of their own */

struct run_log_entry {
    enum run_log_kind kind;
    enum emu_fault_kind what;
    uint64_t digest, count;
    uint32_t line, line2, source_line, source_line2;      /* 0: unknown */
    const char *name, *text, *source_file, *source_file2; /* "": none; NULL is written as "" */
};
void run_log_write(int file, const struct run_log_entry *e);

struct run_log_reader { /* all of a file */
    const char *at;
    size_t left;
};
/* The texts of an entry point into the file's. false: no complete entry is left. */
bool run_log_next(struct run_log_reader *t, struct run_log_entry *out);

/* The digest of a sequence: `digest` of all before, then `next`. Not commutative. */
uint64_t run_log_mix_digest(uint64_t digest, uint64_t next);

/* ---- who writes it
 * ------------------------------------------------------------------------------- */

struct run_log_task {
    enum run_log_work {
        RUN_LOG_WRITE_ENTRIES,      /* the entries above */
        RUN_LOG_WRITE_SNAPSHOT,     /* after launch number `launch`: snapshot_write(), exit */
        RUN_LOG_WRITE_LAST_WRITERS, /* likewise: last_writers_write(), exit */
    } work;
    uint64_t launch;
    const uint64_t *places; /* WRITE_LAST_WRITERS: addresses of words, ascending */
    size_t place_count;
    uint64_t first; /* the byte whose last writer is reported in full */
};
/* The task in a file, for a process that does not share memory. false: the file has none. The
 * caller frees *places. */
bool run_log_task_write(int file, const struct run_log_task *t);
bool run_log_task_read(int file, struct run_log_task *out, uint64_t **places);

struct run_log;
struct run_log *run_log_new(const struct run_log_task *t, int file); /* the task is copied */
/* Before the launch. Adds an observer if the task needs one. */
void run_log_begin_launch(struct run_log *log, const char *kernel, struct emu_launch *launch);
void run_log_end_launch(struct run_log *log, struct emu *e, const char *kernel,
                        const struct emu_report *r);
/* The parts of run_log_end_launch(), for launches that are executed in another order than the
 * program submitted them. run_log_report() writes the findings and the fault. */
void run_log_report(struct run_log *log, const char *kernel, const struct emu_report *r);
/* The digest of memory now and of the output so far. If the task is to stop after this launch, the
 * process ends. */
uint64_t run_log_digest(struct run_log *log, struct emu *e, uint64_t launch);
void run_log_launch(struct run_log *log, const char *kernel, uint64_t digest);
void run_log_host_race(struct run_log *log,
                       const char *text); /* a race between operations of the host */
void run_log_printed(struct run_log *log, const char *text, size_t size);
void run_log_copied(struct run_log *log, const void *bytes, size_t size);
void run_log_message(struct run_log *log, const char *text);
void run_log_status(struct run_log *log, uint64_t status); /* an entry RUN_LOG_STATUS */
void run_log_count_finding(struct run_log *log); /* a finding whose text is written separately */
/* Writes the digests and the counts, and frees the log. A process made by fork() only frees it.
 * NULL is allowed. */
void run_log_end(struct run_log *log);

#endif
