/* cli/run_options.h: the options of `heddle run` and `heddle check`, read but not yet understood: each knows where
 * it stands in the command line, which is the source that messages quote. */
#ifndef HEDDLE_CLI_RUN_OPTIONS_H
#define HEDDLE_CLI_RUN_OPTIONS_H

#include "base/diag.h"
#include "base/value.h"
#include "cli/command.h"
#include "session/settings.h"

#include "heddle.h"

enum run_target {
    TARGET_PTX = 1,
    TARGET_JOB = 2,
    TARGET_SUITE = 4,
    TARGET_PROGRAM = 8, /* an executable: what stands behind it is its own */
    TARGET_KERNELS = 7, /* all but that */
    TARGET_ANY = 15
};

enum run_option_id {
    OPTION_KERNEL = 1,
    OPTION_GRID,
    OPTION_BLOCK,
    OPTION_CLUSTER,
    OPTION_SHARED,
    OPTION_COOPERATIVE,
    OPTION_ARG,
    OPTION_EXPECT,
    OPTION_TOLERANCE,
    OPTION_DUMP,
    OPTION_SEED,
    OPTION_GRAPH,
    OPTION_TABLE,
    OPTION_SEEDS,
    OPTION_EXHAUSTIVE,
    OPTION_FORMAT,
    OPTION_QUIET,
    OPTION_COUNTS,
    OPTION_PROFILE,
    OPTION_FIDELITY,
    OPTION_LOCKS,
    OPTION_WATCH,
    OPTION_RECORD,
    OPTION_REPLAY,
    OPTION_REQUIRE_SUPPORTED,
    OPTION_MEMORY_MAP,
    OPTION_DISTRIBUTE,
    OPTION_PARTITIONS,
    OPTION_TOPOLOGY,
    OPTION_HOP_CYCLES,
    OPTION_SETTING, /* session/settings.h */
    /* of `heddle check` alone */
    OPTION_CHECK,
    OPTION_ORDERS,
    OPTION_FIRST_SEED,
    OPTION_RUNS,
    OPTION_JOBS,
    OPTION_STOP,
    OPTION_NO_RACE,
    OPTION_NO_INIT,
    OPTION_RACE_RUNS,
    OPTION_CHANCE,
    OPTION_CONFIDENCE,
    OPTION_JUNIT,
    OPTION_FLOAT,
    OPTION_RUN_TIMEOUT,
    OPTION_IGNORE_OUTPUT,
    OPTION_SEARCH,
    OPTION_COLOUR,
    OPTION_SEARCH_TIME,
    OPTION_RECORDINGS,
};

struct run_option {
    enum run_option_id id;
    struct piece name, value; /* name without "--" */
};

struct run_options {
    struct arena *arena;
    struct source source; /* the command line */
    uint32_t typed;       /* its length without what was added */
    struct diags diags;
    struct piece target;
    enum run_target kind;
    struct run_option *list;
    size_t count, cap;
    bool json, quiet;
    const char *command; /* as messages name it: argv[0] */
    int rest;            /* of a program: its place in argv */
    int added;           /* words behind argv[0] that nobody typed: messages leave them out */
    bool check;          /* the command is `heddle check`: it has options of its own */
    struct heddle_module *module; /* of a kernel file, where it was read before; NULL */
};

/* The tables of `heddle run` and of `heddle check`, which also takes the former's but for those of one run. run_options.c
 * does not compile if a number is not that of the rows. */
enum { RUN_OPTION_COUNT = 44, CHECK_OPTION_COUNT = 21 };
extern const struct command_option run_options_table[];
extern const struct command_option check_options_table[];

/* argv[0] is the command, as "run" or "check". false after errors. */
bool run_options_read(struct run_options *o, int argc, char **argv);

/* What a word names as a target. */
enum run_target run_target_kind(struct piece target);
bool run_is_program(const char *word); /* a target of the kind TARGET_PROGRAM */

/* The last option of this kind; NULL: it was not given. */
const struct run_option *run_option_find(const struct run_options *o, enum run_option_id id);

/* Reads all settings that the command line has. false after errors. */
bool run_options_settings(struct run_options *o, struct settings *out);

/* Sets all of a device's options but the callbacks and what is counted. */
void settings_to_device(const struct settings *s, struct heddle_device_options *out);

/* X or X,Y or X,Y,Z */
bool dimensions_read(struct diags *d, struct piece text, uint32_t out[3]);

#endif
