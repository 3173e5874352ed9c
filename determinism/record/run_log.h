/* determinism/record/run_log.h: what the launches of a run came to, written to a file while it goes.
 *
 *     struct account *a = account_new(&task, file);        // in the process that runs
 *     ... account_before() and account_after() around each launch, account_printed(), account_copied()
 *     account_end(a);
 *
 *     struct account_text t = {bytes, size};               // in the process that asked
 *     struct account_entry e;
 *     while (account_next(&t, &e)) ...
 *
 * Several processes may write to one file, one after the other; what one has written stays when it crashes. The task
 * may also be to stop behind a launch, and to write down all memory or who wrote some words last. */
#ifndef HEDDLE_DETERMINISM_RECORD_RUN_LOG_H
#define HEDDLE_DETERMINISM_RECORD_RUN_LOG_H

#include "determinism/record/last_writers.h"
#include "emu/emu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what is written ----------------------------------------------------------------------------- */

enum account_kind {
    ACCOUNT_BEGUN,   /* name: a kernel that goes now */
    ACCOUNT_OVER,    /* it has ended */
    ACCOUNT_LAUNCH,  /* name: the kernel; digest: of memory and of all that was printed so far */
    ACCOUNT_REST,    /* digest: of the launches beyond ACCOUNT_LAUNCHES */
    ACCOUNT_FINDING, /* of a check: name: the kernel; what, count, places, text */
    ACCOUNT_FAULT,   /* what, name: the kernel, place */
    ACCOUNT_SAID,    /* text: to the user, by Heddle */
    ACCOUNT_MEMORY,  /* digest: of all memory after the last launch */
    ACCOUNT_PRINTED, /* digest: of all that kernels printed */
    ACCOUNT_COPIED, /* digest: of all that was copied to the host, whatever the order of the copies */
    ACCOUNT_FOUND, /* count: of what checks have found, of all kinds and in all launches, or by the host */
    ACCOUNT_SUPPRESSED, /* count: of findings that a list of such left out */
    ACCOUNT_STATUS,     /* count: how the run ended, for whoever gives it a meaning */
    ACCOUNT_KINDS
};
enum { ACCOUNT_LAUNCHES = 1 << 16 }; /* that are told one by one */

struct account_entry {
    enum account_kind kind;
    enum emu_fault_kind what;
    uint64_t digest, count;
    uint32_t line, line2, source_line, source_line2;      /* 0: unknown */
    const char *name, *text, *source_file, *source_file2; /* "": none; NULL is written as "" */
};
void account_write(int file, const struct account_entry *e);

struct account_text { /* all of a file */
    const char *at;
    size_t left;
};
/* The texts of an entry point into the file's. false: there is none more that is whole. */
bool account_next(struct account_text *t, struct account_entry *out);

/* Order matters: of digests that follow each other. */
uint64_t account_mix(uint64_t digest, uint64_t next);

/* ---- who writes it ------------------------------------------------------------------------------- */

struct account_task {
    enum account_work {
        ACCOUNT_RUN, /* entries */
        ACCOUNT_SNAPSHOT, /* behind `launch` (from 0): determinism/record/snapshot.h, and the process ends */
        ACCOUNT_WRITERS, /* behind `launch`: writers_write(), and the process ends */
    } work;
    uint64_t launch;
    const uint64_t *places; /* WRITERS: words, ascending */
    size_t place_count;
    uint64_t first; /* the byte whose last writer is to be told */
};
/* For a process that does not share memory: the task in a file; false: there is none. *places is the caller's to
 * free. */
bool account_task_write(int file, const struct account_task *t);
bool account_task_read(int file, struct account_task *out, uint64_t **places);

struct account;
struct account *account_new(const struct account_task *t, int file); /* the task is copied */
/* `kernel` begins; it may add an observer. */
void account_before(struct account *a, const char *kernel, struct emu_launch *launch);
void account_after(struct account *a, struct emu *e, const char *kernel,
                   const struct emu_report *r);
/* Or in its parts, for launches that are done in another order than they were asked for: */
void account_checked(struct account *a, const char *kernel, const struct emu_report *r);
/* What memory holds now, and was printed. The task may be to end behind this launch. */
uint64_t account_digest(struct account *a, struct emu *e, uint64_t launch);
void account_launch(struct account *a, const char *kernel, uint64_t digest);
void account_race(struct account *a, const char *text); /* between operations, found by the host */
void account_printed(struct account *a, const char *text, size_t size);
void account_copied(struct account *a, const void *bytes, size_t size);
void account_said(struct account *a, const char *text);
void account_found(struct account *a); /* something more, which is said as well */
/* Writes the digests, and frees it; of a process that was made by fork(), only frees it. NULL is allowed. */
void account_end(struct account *a);

#endif
