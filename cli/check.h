/* cli/check.h: the parts of `heddle check`.
 *
 * Each run of the target is a process of its own (check_pool.c). The process writes events (session/run_log.h):
 * check_child.c does so for kernel files, jobs and workloads, libcuda.so.1 for programs. check_run.c reads them into a
 * struct check_run. check_rows.c decides when an order has had enough runs and judges the results, check_difference.c
 * finds where two results first differ, and check_text.c, check_json.c and check_ci.c print the outcome.
 *
 * The outcome depends on the seeds of the runs, not on which run ended first. */
#ifndef HEDDLE_CLI_CHECK_H
#define HEDDLE_CLI_CHECK_H

#include "cli/run_options.h"
#include "cli/run_program.h"
#include "determinism/verdict.h"
#include "session/run_log.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct arena;
struct buf;
struct check_difference;

/* ---- runs -------------------------------------------------------------------------------------- */

struct check_launch {
    uint64_t digest;    /* of memory and of all that was printed so far */
    const char *kernel; /* its name */
};

struct check_finding {        /* of a run with --check: the same as emu_finding */
    enum emu_fault_kind kind; /* EMU_RACE, EMU_MIXED, EMU_UNINITIALISED; or of the check sync */
    uint64_t count;
    uint32_t line, line2, source_line, source_line2;
    const char *source_file, *source_file2; /* "": unknown */
    const char *kernel, *text;
    size_t run; /* of struct check_races: the first that found it */
};

struct check_run {
    enum check_state {
        RUN_WAITS,
        RUN_GOES,
        RUN_ENDED,
        RUN_DIED, /* its process did not send the result */
        RUN_LATE, /* it was ended: it took longer than a run may */
    } state;
    int status; /* enum exit_code; of RUN_DIED a signal, or 0 */
    const char *going,
        *gone;   /* the kernel that had begun and was not over, the last that was; NULL: none */
    size_t over; /* kernels that were */
    struct check_launch *launches;
    size_t
        launch_count; /* at most RUN_LOG_MOST_LAUNCHES; those beyond are in the last one's digest */
    uint64_t last;    /* memory after the last launch, all that was printed and copied back */
    uint64_t memory, read_back; /* parts of it, as `heddle run` prints them */
    const char *messages;
    struct check_fault { /* kind "": none */
        const char *kind, *kernel, *source_file;
        uint32_t line, source_line;
        bool limit; /* it did not come to an end */
    } fault;
    struct check_finding *findings;
    size_t finding_count;
    uint64_t found;      /* by checks: all findings that a program had */
    uint64_t suppressed; /* findings that a list of such left out */
    uint64_t absent;     /* functions that a program called and that Heddle does not have */
    uint64_t id;         /* of all its digests */
    uint64_t execution;  /* orders_execution(); 0: not known */
    struct emu_fidelity *fidelity; /* NULL: not asked for */
    uint64_t output;         /* of a program: a digest of what it printed (cli/check_output.h) */
    const char *output_text; /* the beginning of that; NULL: no program */
};

bool check_run_failed(const struct check_run *r);
/* Its process did not come to its end. */
static inline bool check_run_lost(const struct check_run *r)
{
    return r->state == RUN_DIED || r->state == RUN_LATE;
}
/* The run as its events have it; false: it has no status, so its process came to a bad end. */
bool check_run_read(struct arena *a, const struct event_stream *events, struct check_run *out);
/* The launch, from 0, after which two runs are no longer the same; SIZE_MAX: they are. It may be the count of
 * either's launches. */
size_t check_runs_differ_at(const struct check_run *a, const struct check_run *b);

/* ---- orders ------------------------------------------------------------------------------------ */

struct check_class {
    size_t first, count; /* the first run of this result */
};

struct check_row {
    const char *order;
    enum order_promise promise;
    bool reference; /* native; a program twice, to see whether it varies by itself */
    struct check_run *runs;
    size_t wanted, asked; /* runs; asked: before it was said to stop */
    const char *stopped;  /* why there were less; NULL: there were not */
    size_t ended, failed;
    uint64_t suppressed;                 /* findings, in all runs */
    struct check_class *classes;         /* results, the most frequent first */
    size_t class_count, last_count;      /* last_count: distinct `last` */
    size_t executions;                   /* distinct ones of runs that ended well; 0: not known */
    bool conflict_free;                  /* in all of these runs all launches were */
    struct check_difference *difference; /* of its results, or from the reference's; NULL: none */
};

struct check_search { /* --exhaustive: cli/check_search.h */
    bool wanted;
    size_t most_runs;
    double most_seconds;
    const char *directory; /* for recordings; NULL: none are written */
};

enum check_stop { STOP_MANY, STOP_DIFFERENT, STOP_NEVER };
enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_GITHUB };

/* What the command line asks for. cli/check.c and check_options() fill it in. After that only find_target()
 * (cli/check.c) changes it: it replaces a source by the program that was built from it. */
struct check_request {
    struct run_options *options;
    const char *name;              /* of the target */
    struct program_target program; /* of TARGET_PROGRAM */
    uint64_t first_seed;
    size_t jobs;        /* processes at a time */
    double run_timeout; /* seconds that a run may take; 0: any */
    enum check_stop stop;
    enum check_format format;
    bool no_race, no_init, quiet;
    size_t runs, free_runs; /* under an order that guarantees one result; under one that does not */
    double confidence;      /* 0 to 1: of what is said about results that were not seen */
    size_t race_runs;  /* under `random` in which races are looked for, besides the native one */
    const char *junit; /* a file; NULL: not asked for */
    struct check_search search;
    const struct output_filter *ignored_output;
    const char *checks; /* --check without race and atomicity; NULL: not asked for */
    bool fidelity;      /* of the first native run */
};

/* The runs with checks (cli/check_races.c). The first is native and looks for races. The second is native and has the
 * checks init and sync: these watch every access, so they would make the search for races slower. Others look for races
 * under `random`, because a race may be on a path that the native run does not take: there every strong load and atomic
 * reads the newest value, which is what the race detector takes for granted. */
enum { CHECK_RACE_RUN, CHECK_INIT_RUN, CHECK_RANDOM_RUNS };
struct check_races {
    struct check_run *runs;         /* by the numbers above */
    size_t asked, wanted, ended;    /* runs, as in struct check_row */
    size_t examined;                /* that looked for races and came to their end */
    bool init_examined;             /* the one with init and sync came to its end */
    struct check_finding *findings; /* of all these runs, each once */
    size_t finding_count;
    size_t uninitialised,
        misused;         /* of these: reads of memory that nothing wrote, wrong synchronisation */
    uint64_t suppressed; /* races and mixed accesses, the most in a run */
    uint64_t init_suppressed; /* findings of the run with init and sync */
};

/* What the programs of all runs printed (cli/check_output.h). */
struct check_output {
    enum output_kind {
        OUTPUT_NOT_COMPARED, /* it is no program, or the native run failed */
        OUTPUT_SAME,
        OUTPUT_VARIES,  /* native runs differ */
        OUTPUT_DIFFERS, /* another run does */
    } kind;
    bool breaks_guarantee; /* it differs between runs of an order that guarantees one result */
    const struct check_run *first; /* the native run */
    const struct check_row *row;   /* the first run that differs from it */
    size_t run;
};

/* A whole `heddle check`. cli/check.c owns it and hands it to one stage after the other; each stage writes
 * its own part and reads the earlier ones:
 *     check_options()           request, and the rows with the runs that are wanted
 *     check_pool()              the runs of the rows and of races, interrupted
 *     check_judge()             the rows' classes, the findings of races, facts, verdict, status
 *     check_find_differences()  where the results of each row first differ
 *     check_print_*()           nothing
 * Its memory is the arena's. */
struct check {
    struct arena *arena;
    struct check_request request;
    struct check_row *rows; /* the first is the reference */
    size_t row_count;
    struct check_races races;
    bool interrupted;
    struct check_output output;
    struct verdict_facts facts;
    enum verdict verdict;
    int status; /* enum exit_code */
};

/* The options of `heddle check`; false after an error, which is in their diags. */
bool check_options(struct check *c);

static inline uint64_t check_seed(const struct check *c, size_t run)
{
    return c->request.first_seed + run;
}

/* How many runs of an order count as evidence: those that were different executions, where that is known. */
static inline size_t check_row_evidence(const struct check_row *row)
{
    return row->executions && !row->conflict_free ? row->executions : row->ended;
}

/* A run has ended: whether the order has shown enough, from its first runs on; wanted and stopped are set then. */
void check_row_look(const struct check *c, struct check_row *row);
/* The verdict, and the exit status that goes with it. */
void check_judge(struct check *c);
/* The run that shows what is wrong with the command line or the target; NULL: nothing is. */
const struct check_run *check_bad_call(const struct check *c);

/* "heddle run TARGET ... --order X --seed N", as a shell wants it */
char *check_command(const struct check *c, const struct check_row *row, size_t run);
/* The same of any order, with these checks; "": none. */
char *check_command_of(const struct check *c, const char *order, uint64_t seed, const char *checks);
/* "heddle run TARGET ... --replay FILE" */
char *check_replay_command(const struct check *c, const char *file);
/* The words of it for run_options_read; *argc of them, of which *added behind the first are not the user's. `checks`: a
 * setting for --check, or NULL. */
char **check_words(const struct check *c, struct arena *a, const char *order, uint64_t seed,
                   const char *checks, int *added, int *argc);

/* ---- processes --------------------------------------------------------------------------------- */

struct check_task {
    struct run_log_task log_task;
    const char *order;
    uint64_t seed;
    const char *checks; /* for --check, besides what the user asked for; NULL: none */
    bool fidelity;      /* its instructions are counted */
    struct event_stream *events;
    int err; /* a file in memory: what went to stderr */
};
/* The child's part: never returns. */
void check_child(const struct check *c, const struct check_task *t) __attribute__((noreturn));

/* ---- runs with checks (cli/check_races.c) ------------------------------------------------------------------ */

/* The runs that are wanted: none with --no-race, CHECK_INIT_RUN not with --no-init. */
void check_races_begin(struct check *c);
struct check_task check_races_task(const struct check *c, size_t run);
/* A run has ended. No more searches for races are wanted behind the first that found one, and no more runs behind one
 * that did not come to its end. */
void check_races_look(struct check *c);
/* All runs have ended: findings, suppressed, examined. */
void check_races_sum_up(struct check *c);
/* The first run that did not come to its end; NULL: all did. */
const struct check_run *check_races_lost(const struct check *c);
/* "heddle run TARGET --check race,atomicity ...", or --check init,sync */
char *check_races_command(const struct check *c, size_t run);

/* Does all runs, the race check's among them, as many at a time as there are jobs. */
void check_pool(struct check *c);
/* No tasks are done any more; whether there was an interrupt. */
bool check_calm(void);
/* Does two tasks side by side; false: one of them did not end well. */
bool check_pair(const struct check *c, struct check_task *first, struct check_task *second);

/* ---- printing ----------------------------------------------------------------------------------- */

void check_print_text(const struct check *c);
void check_print_json(const struct check *c);
void check_print_github(const struct check *c);
bool check_write_junit(const struct check *c); /* false after a message */

#endif
