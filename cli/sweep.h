/* cli/sweep.h: sweeps: many runs, described by one plan.
 *
 * A *plan* (sweep_plan.c) names targets, orders, seeds and GPUs; the elements of their product are its *cells*. A cell is
 * one process of `heddle run`, and one of `heddle estimate` if the plan asks for cycles. sweep_run.c assigns cells to
 * workers (sweep_workers.h), which are processes of this host (sweep_processes.c) or the ranks of an MPI job. The record of
 * a cell that has ended is written to the folder's journal (sweep_journal.c) before the next cell is assigned, so that a
 * sweep can be resumed after it was killed. sweep_results.c makes a database from journal and plan.
 *
 * A cell has two names: its *key* is the digest of its description in the plan; its *id* is the digest of the key, of
 * Heddle's program and of the contents of its inputs. A record of the journal with the same key and another id is stale. */
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
    SWEEP_COUNTS = 8 /* only for `heddle reproduce` */
};

struct sweep_target {
    const char *name;   /* the words, separated by blanks */
    char **words;       /* the target and its arguments or options, NULL behind them */
    bool is_program;    /* the target is a program: its words are the last on the command line */
    bool can_be_cached; /* all its inputs are known: a workload or a kernel file */
    const char *digest; /* digest of the file and of the plan's inputs; "": a workload */
};

struct sweep_plan {
    struct arena *arena;
    const char *name;
    const char *file; /* path of the plan; NULL: from the command line, or built in */
    struct sweep_target *targets;
    const char **orders; /* with placeholders replaced */
    const char **gpus, **gpu_digests;
    const char **inputs; /* additional files that kernels, jobs and programs read */
    uint64_t *seeds;
    size_t target_count, order_count, gpu_count, seed_count, input_count;
    unsigned measure;         /* bits of enum sweep_measure */
    double timeout;           /* time limit of a process in seconds; 0: none */
    const char *memory;       /* NULL: the default */
    const char *instructions; /* value of --max-instructions; NULL: the default */
    unsigned repeat_failed;   /* how often a failed cell is repeated */
};

/* Reads a YAML plan; errors are in the diags. */
bool sweep_plan_read(struct sweep_plan *p, struct diags *d, bool programs);
/* Adds a target, whose memory must stay valid. false: the plan has the maximum number of targets. */
bool sweep_plan_add(struct sweep_plan *p, const struct sweep_target *t);
/* Add parts from the command line; the texts have the notation of a plan. In a workload or an order {A,B} stands for both
 * alternatives. false after an error in the diags. */
bool sweep_plan_target(struct sweep_plan *p, struct diags *d, struct piece text, bool programs);
bool sweep_plan_orders(struct sweep_plan *p, struct diags *d, struct piece text);
bool sweep_plan_seeds(struct sweep_plan *p, struct diags *d, struct piece text);
bool sweep_plan_gpus(struct sweep_plan *p, struct diags *d, struct piece text);
/* The text of a built-in plan; NULL: there is none with this name. *near: the nearest name, or NULL. */
const char *sweep_plan_built_in(const char *name, const char **near);

enum sweep_state { SWEEP_MISSING, SWEEP_OK, SWEEP_FAILED, SWEEP_STALE };

struct sweep_record { /* the result of a cell */
    char id[SWEEP_ID + 1], key[SWEEP_KEY + 1];
    bool failed;
    int exit;
    char digest[17]; /* digest of memory, or of the bytes read back; "": none */
    uint64_t launches, warp_instructions, races;
    double cycles, seconds; /* cycles 0: not estimated */
    char host[13];          /* start of the host's name; "": the record is from an older version */
};

struct sweep_cell {
    uint32_t target, order, gpu;
    uint64_t seed; /* 0 under `native` */
    char id[SWEEP_ID + 1], key[SWEEP_KEY + 1];
    enum sweep_state state;
    struct sweep_record *record; /* NULL: none */
};

/* Whether the order depends on seeds. `native` has one cell for all seeds. */
bool sweep_order_has_seeds(const char *order);
/* Sets key and id of a cell. `program`: the SHA-256 digest of Heddle's program (32 bytes). */
void sweep_cell_name(const struct sweep_plan *p, struct sweep_cell *c, const uint8_t *program);
/* Makes all cells, in the order of the plan. `program`: path of the heddle program that runs them. NULL after a message:
 * the program cannot be read. */
struct sweep_cell *sweep_cells(const struct sweep_plan *p, const char *program, size_t *count);

/* ---- the journal ------------------------------------------------------------------------------ */

struct sweep_journal {
    int file;
    struct sweep_record *records;
    size_t count, cap;
    uint32_t *table; /* hash table from key to index of a record, plus 1; open addressing */
    size_t table_cap;
    size_t torn; /* number of damaged or incomplete lines */
    double synced;
};
/* Opens DIR/journal and reads it. false: errno has the error. */
bool sweep_journal_open(struct sweep_journal *j, const char *folder, bool write);
/* The last record with the key; NULL: none. */
struct sweep_record *sweep_journal_find(const struct sweep_journal *j, const char *key);
/* Adds a record. The record is on disk within a second, or at the return if `now`. false: errno has the error. */
bool sweep_journal_add(struct sweep_journal *j, const struct sweep_record *r, bool now);
/* Adds the records of another folder's journal that this one lacks; returns their number. */
size_t sweep_journal_merge(struct sweep_journal *j, const struct sweep_journal *other);
void sweep_journal_close(struct sweep_journal *j);
/* Prints a record as a line without the newline, for the cache; and reads it. */
void sweep_record_print(const struct sweep_record *r, char *line, size_t size);
bool sweep_record_read(const char *line, size_t length, struct sweep_record *r);

/* Sets record and state of each cell. Pointers to records are valid until a record is added. */
void sweep_cells_join(struct sweep_cell *cells, size_t count, const struct sweep_journal *j);

/* ---- runs ------------------------------------------------------------------------------------- */

struct json_t; /* of Jansson */
struct sweep_workers;

struct sweep_run {
    const struct sweep_plan *plan;
    struct sweep_cell *cells;
    size_t count;
    struct sweep_journal *journal;
    const char *command; /* name of the command in messages: "sweep" */
    const char *cache;   /* path of the cache's folder; NULL: none */
    const char *counts;  /* folder in which processes write their counts as ID.json; NULL: none */
    /* Called with the JSON output of a process of the cell, before the cell's record is in the journal. false: the cell has
     * failed. NULL: not called. */
    bool (*keep)(void *self, const struct sweep_cell *c, const struct json_t *printed);
    void *self;
    const char *program; /* path of the heddle program; NULL: that of this process */
    /* The workers that run cells; sweep_run() ends them. NULL: processes of this host. */
    struct sweep_workers *workers;
    unsigned jobs; /* number of these processes */
    bool quiet;
    size_t done, failed, from_cache, left; /* numbers of cells */
    double saved;                          /* seconds that cells from the cache had taken */
};
enum { SWEEP_AGAIN = 75 }; /* EX_TEMPFAIL of sysexits.h */
/* Runs missing cells. Returns an exit code: EXIT_FINE, SWEEP_AGAIN after SIGTERM or SIGUSR1, EXIT_INTERRUPTED, EXIT_USAGE if
 * the journal cannot be written. */
int sweep_run(struct sweep_run *r);

/* Looks up a cell in the cache (a folder; NULL: none). false: not found. */
bool sweep_cached(const char *cache, const struct sweep_plan *p, const struct sweep_cell *c,
                  struct sweep_record *out);

/* ---- the time that a sweep will take ---------------------------------------------------------- */

/* Keeps only probes among the cells that are to be run: one cell for each target, order and GPU without a cell that has ended.
 * Their times are needed before sweep_print_cells() can predict the others. Other cells get the state SWEEP_STALE. Returns the
 * number of probes. */
size_t sweep_keep_probes(const struct sweep_plan *p, struct sweep_cell *cells, size_t count);
/* Prints each cell that is to be run, and predicts their time with `jobs` concurrent processes: the mean time of ended cells of
 * the same target, order and GPU, else of the same target. Also prints the number of cells without such a time, and the number of
 * cells in the cache (a folder; NULL: none). */
void sweep_print_cells(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count,
                       unsigned jobs, const char *cache);

/* ---- the command ------------------------------------------------------------------------------ */

struct sweep_cluster {   /* workers other than processes of this host */
    const char *program; /* path of the heddle program that runs the cells */
    /* Creates the workers. The pointer may be NULL; the function returns NULL after a message if there are no workers. */
    struct sweep_workers *(*workers)(void *self, const struct sweep_plan *p,
                                     const struct sweep_cell *cells, size_t count, unsigned jobs);
    void *self;
};
/* The command `heddle sweep`; argv[0] is "sweep". cluster NULL: processes of this host. */
int sweep_main(int argc, char **argv, const struct sweep_cluster *cluster);
/* Only reads the plan, which is valid until the process ends. Returns an exit code. */
int sweep_read(int argc, char **argv, struct sweep_plan **plan);

/* ---- results ---------------------------------------------------------------------------------- */

/* Writes DIR/results.sqlite atomically. false after a message. */
bool sweep_results_write(const char *folder, const struct sweep_plan *p,
                         const struct sweep_cell *cells, size_t count);
/* Prints the table of orders unless quiet. Returns an exit code: 8, 7, 6 and 3 have the meanings of `heddle check`. */
int sweep_results_verdict(const struct sweep_plan *p, const struct sweep_cell *cells, size_t count,
                          bool quiet);
bool sweep_results_junit(const char *path, const struct sweep_plan *p,
                         const struct sweep_cell *cells, size_t count);

#endif
