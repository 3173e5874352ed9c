/* cli/check.h: `heddle check`: runs a target many times under several orders and compares the results.
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

struct check_finding {        /* a finding of a run with --check: a copy of struct emu_finding */
    enum emu_fault_kind kind; /* EMU_RACE, EMU_MIXED, EMU_UNINITIALISED, or one of the check sync */
    uint64_t count;
    uint32_t line, line2, source_line, source_line2;
    const char *source_file, *source_file2; /* "": unknown */
    const char *kernel, *text;
    size_t run; /* index in check_races.runs of the first run with this finding */
};

struct check_run {
    enum check_state {
        RUN_WAITS, /* the process has not started */
        RUN_GOES,  /* the process runs */
        RUN_ENDED,
        RUN_DIED, /* the process ended without a result */
        RUN_LATE, /* the process was killed after the time limit of a run */
    } state;
    int status; /* enum exit_code; RUN_DIED: the signal, or 0 */
    /* The kernel that had begun and not ended, and the last kernel that ended; NULL: none. */
    const char *going, *gone;
    size_t over; /* number of launches that ended */
    struct check_launch *launches;
    /* At most RUN_LOG_MOST_LAUNCHES; the last element's digest covers further launches. */
    size_t launch_count;
    uint64_t last; /* digest of memory after the last launch, of output and copies to the host */
    uint64_t memory, read_back; /* the digests that `heddle run` prints, parts of `last` */
    const char *messages;
    struct check_fault { /* kind "": no fault */
        const char *kind, *kernel, *source_file;
        uint32_t line, source_line;
        bool limit; /* the launch did not terminate: a limit or a deadlock */
    } fault;
    struct check_finding *findings;
    size_t finding_count;
    uint64_t found;      /* number of all findings of checks in a program */
    uint64_t suppressed; /* number of suppressed findings */
    uint64_t absent;     /* functions of CUDA that the program called and that Heddle lacks */
    uint64_t id;         /* a digest of all digests of the run */
    uint64_t execution;  /* orders_execution(); 0: unknown */
    struct emu_fidelity *fidelity; /* NULL: not asked for */
    uint64_t output;               /* program: a digest of its output (cli/check_output.h) */
    const char *output_text;       /* program: the beginning of its output; else NULL */
};

bool check_run_failed(const struct check_run *r);
/* Whether the process of the run ended without a result. */
static inline bool check_run_lost(const struct check_run *r)
{
    return r->state == RUN_DIED || r->state == RUN_LATE;
}
/* Makes the run from its events; false: there is no EVENT_STATUS, so the process did not end normally. */
bool check_run_read(struct arena *a, const struct event_stream *events, struct check_run *out);
/* The index of the first launch after which two runs differ; SIZE_MAX: the runs are equal. The index may be the
 * number of launches of one of them. */
size_t check_runs_differ_at(const struct check_run *a, const struct check_run *b);

/* ---- orders ------------------------------------------------------------------------------------ */

struct check_class {
    size_t first, count; /* index of the first run with this result; number of such runs */
};

struct check_row {
    const char *order;
    enum order_promise promise;
    bool reference; /* the native runs; a program runs twice, to see whether its results vary */
    struct check_run *runs;
    size_t wanted, asked; /* number of runs; asked: before the row was stopped early */
    const char *stopped;  /* why the row was stopped early; NULL: it was not */
    size_t ended, failed;
    uint64_t suppressed;                 /* suppressed findings of all runs */
    struct check_class *classes;         /* results, the most frequent first */
    size_t class_count, last_count;      /* last_count: number of distinct check_run.last */
    size_t executions;                   /* distinct executions of successful runs; 0: unknown */
    bool conflict_free;                  /* all launches of all these runs were conflict-free */
    struct check_difference *difference; /* between results, or from the reference; NULL: none */
};

struct check_search { /* --exhaustive: cli/check_search.h */
    bool wanted;
    size_t most_runs;
    double most_seconds;
    const char *directory; /* where recordings are written; NULL: no recordings */
};

enum check_stop { STOP_MANY, STOP_DIFFERENT, STOP_NEVER };
enum check_format { CHECK_TEXT, CHECK_JSON, CHECK_GITHUB };

/* The request of the command line. cli/check.c and check_options() fill it in. After that only find_target()
 * (cli/check.c) changes it: it replaces a source by the program that was built from it. */
struct check_request {
    struct run_options *options;
    const char *name;              /* name of the target */
    struct program_target program; /* for TARGET_PROGRAM */
    uint64_t first_seed;
    size_t jobs;        /* number of concurrent processes */
    double run_timeout; /* time limit of a run in seconds; 0: none */
    enum check_stop stop;
    enum check_format format;
    bool no_race, no_init, quiet;
    size_t runs, free_runs; /* under orders that guarantee one result, and under other orders */
    double confidence;      /* 0 to 1: of statements about results that no run had */
    size_t race_runs;       /* runs under `random` with the race check, besides the native one */
    const char *junit;      /* path of the JUnit file; NULL: not asked for */
    struct check_search search;
    const struct output_filter *ignored_output;
    const char *checks; /* --check without race and atomicity; NULL: not asked for */
    bool fidelity;      /* print the fidelity of the first native run */
};

/* The runs with checks (cli/check_races.c). The first run is native, with the race check. The second is native, with the
 * checks init and sync, which observe every access and would slow down the race check. Further runs have the race check
 * under `random`, because a race may be on a path that the native run does not take. In these runs every strong load and
 * atomic reads the newest value, as the race detector assumes. */
enum { CHECK_RACE_RUN, CHECK_INIT_RUN, CHECK_RANDOM_RUNS };
struct check_races {
    struct check_run *runs;         /* indexed by the numbers above */
    size_t asked, wanted, ended;    /* numbers of runs, as in struct check_row */
    size_t examined;                /* number of runs with the race check that ended */
    bool init_examined;             /* the run with init and sync ended */
    struct check_finding *findings; /* distinct findings of all these runs */
    size_t finding_count;
    /* Numbers among them: reads of uninitialised memory; misuses of synchronisation. */
    size_t uninitialised, misused;
    uint64_t suppressed;      /* suppressed races and mixed accesses, the maximum over runs */
    uint64_t init_suppressed; /* suppressed findings of the run with init and sync */
};

/* The comparison of the output of all runs of a program (cli/check_output.h). */
struct check_output {
    enum output_kind {
        OUTPUT_NOT_COMPARED, /* the target is no program, or the native run failed */
        OUTPUT_SAME,
        OUTPUT_VARIES,  /* the outputs of native runs differ */
        OUTPUT_DIFFERS, /* the output of another run differs from the native ones */
    } kind;
    bool breaks_guarantee; /* outputs differ between runs of an order that guarantees one result */
    const struct check_run *first; /* the native run */
    const struct check_row *row;   /* row and index of the first run that differs from `first` */
    size_t run;
};

/* The state of one `heddle check`. cli/check.c owns it and passes it to one stage after the other; each stage writes
 * its own part and reads the earlier ones:
 *     check_options()           request, and the rows with the numbers of runs
 *     check_pool()              the runs of the rows and of races, interrupted
 *     check_judge()             the rows' classes, the findings of races, facts, verdict, status
 *     check_find_differences()  where the results of each row first differ
 *     check_print_*()           nothing
 * The arena owns its memory. */
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

/* Reads the options of `heddle check`; false after an error in the options' diags. */
bool check_options(struct check *c);

static inline uint64_t check_seed(const struct check *c, size_t run)
{
    return c->request.first_seed + run;
}

/* Number of runs of an order that count as evidence: distinct executions, where they are known. */
static inline size_t check_row_evidence(const struct check_row *row)
{
    return row->executions && !row->conflict_free ? row->executions : row->ended;
}

/* To be called when a run has ended. If the runs so far are sufficient, sets `wanted` and `stopped` of the row. */
void check_row_look(const struct check *c, struct check_row *row);
/* Sets the verdict and the exit status. */
void check_judge(struct check *c);
/* A run that failed because of an error in the command line or the target; NULL: none. */
const struct check_run *check_bad_call(const struct check *c);

/* The command that repeats a run: "heddle run TARGET ... --order X --seed N", quoted for a shell. */
char *check_command(const struct check *c, const struct check_row *row, size_t run);
/* The same for any order, with these checks; "": none. */
char *check_command_of(const struct check *c, const char *order, uint64_t seed, const char *checks);
/* "heddle run TARGET ... --replay FILE" */
char *check_replay_command(const struct check *c, const char *file);
/* The words of such a command for run_options_read(): *argc words, of which *added words behind the first are not typed by
 * the user. `checks`: the value of --check, or NULL. */
char **check_words(const struct check *c, struct arena *a, const char *order, uint64_t seed,
                   const char *checks, int *added, int *argc);

/* ---- processes --------------------------------------------------------------------------------- */

struct check_task {
    struct run_log_task log_task;
    const char *order;
    uint64_t seed;
    const char *checks; /* checks besides those that the user asked for; NULL: none */
    bool fidelity;      /* count the instructions of the run */
    struct event_stream *events;
    int err; /* a file in memory that gets the run's stderr */
};
/* Executes the task in the child process; never returns. */
void check_child(const struct check *c, const struct check_task *t) __attribute__((noreturn));

/* ---- runs with checks (cli/check_races.c) ------------------------------------------------------------------ */

/* Sets which runs are wanted: none with --no-race; no CHECK_INIT_RUN with --no-init. */
void check_races_begin(struct check *c);
struct check_task check_races_task(const struct check *c, size_t run);
/* To be called when a run has ended. After the first run that found a race no more runs with the race check are wanted,
 * and after a run that was lost no more runs at all. */
void check_races_look(struct check *c);
/* To be called when all runs have ended: sets findings, suppressed and examined. */
void check_races_sum_up(struct check *c);
/* The first run that was lost (check_run_lost); NULL: none. */
const struct check_run *check_races_lost(const struct check *c);
/* The command that repeats such a run: "heddle run TARGET --check race,atomicity ...", or --check init,sync. */
char *check_races_command(const struct check *c, size_t run);

/* Makes all runs, including those with checks; request.jobs processes run concurrently. */
void check_pool(struct check *c);
/* Ends the handling of signals by the pool. Returns whether there was an interrupt. */
bool check_calm(void);
/* Executes two tasks concurrently; false: one of their processes failed. */
bool check_pair(const struct check *c, struct check_task *first, struct check_task *second);

/* ---- printing ----------------------------------------------------------------------------------- */

void check_print_text(const struct check *c);
void check_print_json(const struct check *c);
void check_print_github(const struct check *c);
bool check_write_junit(const struct check *c); /* false after a message */

#endif
