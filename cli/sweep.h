/* cli/sweep.h: many runs as one plan.
 *
 * A *plan* (sweep_plan.c) names targets, orders, seeds and GPUs; their product are its *cells*. A cell is one process of
 * `heddle run`, and one of `heddle estimate` if cycles are asked for. sweep_run.c deals cells to workers
 * (sweep_workers.h), which are processes of this host (sweep_processes.c) or the ranks of an MPI job; each that has ended is a line of the folder's journal (sweep_journal.c) before the next one is dealt, so that a sweep that was
 * killed goes on where it was. sweep_results.c makes a database of journal and plan.
 *
 * A cell has two names: its *key* is the digest of what the plan says of it; its *id* is the digest of the key, of
 * Heddle's program and of the contents of its inputs. A record of the journal with the key, but another id, is stale. */
#ifndef HEDDLE_CLI_SWEEP_H
#define HEDDLE_CLI_SWEEP_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SWEEP_ID = 32, SWEEP_KEY = 16 }; /* hexadecimal digits */
enum sweep_measure {
    SWEEP_DIGEST = 1,
    SWEEP_ESTIMATE = 2,
    SWEEP_RACES = 4,
    SWEEP_COUNTS = 8 /* of `heddle reproduce` alone */
};

struct sweep_target {
    const char *name;   /* the words, with blanks between them */
    char **words;       /* of the target and its arguments or options, NULL behind them */
    bool is_program;    /* its words stand last on the command line */
    bool can_be_cached; /* all that it reads is known: a workload, a kernel file */
    const char *digest; /* of the file, and of the plan's inputs; "": a workload, which has none */
};

struct sweep_plan {
    struct arena *arena;
    const char *name;
    const char *file; /* that it was read from; NULL: from the command line, or it is built in */
    struct sweep_target *targets;
    const char **orders; /* placeholders replaced */
    const char **gpus, **gpu_digests;
    const char **inputs; /* files that kernels, jobs and programs read beside themselves */
    uint64_t *seeds;
    size_t target_count, order_count, gpu_count, seed_count, input_count;
    unsigned measure;
    double timeout;           /* seconds of a process; 0: none */
    const char *memory;       /* NULL: the default */
    const char *instructions; /* likewise */
    unsigned repeat_failed;   /* times that a failed cell is run again */
};

/* Reads a YAML plan; its errors are in the diags. */
bool sweep_plan_read(struct sweep_plan *p, struct diags *d, bool programs);
/* Adds a target, whose memory must stay. false: the plan has as many as it can have. */
bool sweep_plan_add(struct sweep_plan *p, const struct sweep_target *t);
/* From the command line: each text is as in a plan; false after an error in the diags. In a workload or an order {A,B} stands
 * for either. */
bool sweep_plan_target(struct sweep_plan *p, struct diags *d, struct piece text, bool programs);
bool sweep_plan_orders(struct sweep_plan *p, struct diags *d, struct piece text);
bool sweep_plan_seeds(struct sweep_plan *p, struct diags *d, struct piece text);
bool sweep_plan_gpus(struct sweep_plan *p, struct diags *d, struct piece text);
/* A plan that is built in; NULL: there is none of this name; *near: the nearest, or NULL. */
const char *sweep_plan_built_in(const char *name, const char **near);

enum sweep_state { SWEEP_MISSING, SWEEP_OK, SWEEP_FAILED, SWEEP_STALE };

struct sweep_record { /* what came of a cell */
    char id[SWEEP_ID + 1], key[SWEEP_KEY + 1];
    bool failed;
    int exit;
    char digest[17]; /* of memory or of what was read back; "": none */
    uint64_t launches, warp_instructions, races;
    double cycles, seconds; /* cycles: 0: not estimated */
    char host[13]; /* where it ran: the first letters of its name; "": a journal of before */
};

struct sweep_cell {
    uint32_t target, order, gpu;
    uint64_t seed; /* 0 for native */
    char id[SWEEP_ID + 1], key[SWEEP_KEY + 1];
    enum sweep_state state;
    struct sweep_record *record; /* NULL: there is none */
};

/* Whether seeds make a difference: `native` has one cell for all. */
bool sweep_order_has_seeds(const char *order);
/* Sets key and id of a cell. `program`: the SHA-256 digest of Heddle's own (32 bytes). */
void sweep_cell_name(const struct sweep_plan *p, struct sweep_cell *c, const uint8_t *program);
/* All cells, in the order of the plan. `program`: Heddle, which runs them. NULL: it cannot be read (a message was
 * printed). */
struct sweep_cell *sweep_cells(const struct sweep_plan *p, const char *program, size_t *count);

/* ---- the journal ------------------------------------------------------------------------------ */

struct sweep_journal {
    int file;
    struct sweep_record *records;
    size_t count, cap;
    uint32_t *table; /* records by key, 1 + index; open hash */
    size_t table_cap;
    size_t torn; /* lines that are damaged or cut short */
    double synced;
};
/* Opens DIR/journal and reads it. false: errno says why. */
bool sweep_journal_open(struct sweep_journal *j, const char *folder, bool write);
/* The last record of the key; NULL: there is none. */
struct sweep_record *sweep_journal_find(const struct sweep_journal *j, const char *key);
/* On disk within a second, at once with `now`. false: errno. */
bool sweep_journal_add(struct sweep_journal *j, const struct sweep_record *r, bool now);
/* All that another folder's journal has and this one has not; the number of records. */
size_t sweep_journal_merge(struct sweep_journal *j, const struct sweep_journal *other);
void sweep_journal_close(struct sweep_journal *j);
/* A line without its end, for the cache. */
void sweep_record_print(const struct sweep_record *r, char *line, size_t size);
bool sweep_record_read(const char *line, size_t length, struct sweep_record *r);

/* Finds the record of each cell, and says what state the cell is in. Records are good until one is added. */
void sweep_cells_join(struct sweep_cell *cells, size_t count, const struct sweep_journal *j);

/* ---- runs ------------------------------------------------------------------------------------- */

struct json_t; /* of Jansson */
struct sweep_workers;

struct sweep_run {
    const struct sweep_plan *plan;
    struct sweep_cell *cells;
    size_t count;
    struct sweep_journal *journal;
    const char *command; /* in messages: "sweep" */
    const char *cache;   /* a folder; NULL: none */
    const char
        *counts; /* a folder: each process writes its counts there as ID.json; NULL: none does */
    /* Called with what a process of the cell printed, before the cell's line is in the journal. false: the cell has
     * failed. NULL: nobody wants it. */
    bool (*keep)(void *self, const struct sweep_cell *c, const struct json_t *printed);
    void *self;
    const char *program; /* Heddle; NULL: the program that runs */
    struct sweep_workers
        *workers;  /* who runs cells, ended by sweep_run(); NULL: processes of this host */
    unsigned jobs; /* of these processes */
    bool quiet;
    size_t done, failed, from_cache, left;
    double saved; /* seconds that cells from the cache took */
};
enum { SWEEP_AGAIN = 75 }; /* EX_TEMPFAIL of sysexits.h */
/* Runs what is missing; an exit code: EXIT_FINE, SWEEP_AGAIN after SIGTERM or SIGUSR1, EXIT_INTERRUPTED, EXIT_USAGE when the
 * journal cannot be written. */
int sweep_run(struct sweep_run *r);

/* What the cache (a folder; NULL: none) has of the cell. false: nothing. */
bool sweep_cached(const char *cache, const struct sweep_plan *p, const struct sweep_cell *c,
                  struct sweep_record *out);

/* ---- the time that a sweep will take ---------------------------------------------------------- */

/* Of the cells that are to be run, leaves to be run one of each target, order and GPU of which no cell has ended: what is
 * to be known before sweep_print_cells() can say how long the others take. The others get the state SWEEP_STALE. The number left. */
size_t sweep_keep_probes(const struct sweep_plan *p, struct sweep_cell *cells, size_t count);
/* Prints each cell that is to be run, and how long they will take with so many processes at a time: the mean time of the cells that
 * have ended of the same target, order and GPU, else of the same target; it says how many cells neither is known of, and how many
 * the cache has (a folder; NULL: none). */
void sweep_print_cells(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count,
                       unsigned jobs, const char *cache);

/* ---- the command ------------------------------------------------------------------------------ */

struct sweep_cluster {   /* other workers than processes of this host */
    const char *program; /* Heddle, which runs the cells */
    /* NULL, the pointer or what it returns: there are none (after a message). */
    struct sweep_workers *(*workers)(void *self, const struct sweep_plan *p,
                                     const struct sweep_cell *cells, size_t count, unsigned jobs);
    void *self;
};
/* `heddle sweep`; argv[0] is "sweep". Cluster NULL: processes of this host. */
int sweep_main(int argc, char **argv, const struct sweep_cluster *cluster);
/* Only reads the plan, which stays until the process ends. An exit code. */
int sweep_read(int argc, char **argv, struct sweep_plan **plan);

/* ---- results ---------------------------------------------------------------------------------- */

/* Writes DIR/results.sqlite, as a whole or not at all. false after a message. */
bool sweep_results_write(const char *folder, const struct sweep_plan *p,
                         const struct sweep_cell *cells, size_t count);
/* An exit code: 8, 7, 6 and 3 as `heddle check`; prints the table of orders unless quiet. */
int sweep_results_verdict(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count,
                          bool quiet);
bool sweep_results_junit(const char *path, const struct sweep_plan *p,
                         const struct sweep_cell *cells, size_t count);

#endif
