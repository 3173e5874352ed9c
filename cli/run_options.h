/* cli/run_options.h: the options of `heddle run` and `heddle check` as texts, before their values are parsed. Each
 * option has its place in the command line, which is the source that messages quote. */
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
    TARGET_PROGRAM = 8, /* an executable: the words behind it are its arguments */
    TARGET_KERNELS = 7, /* all kinds except programs */
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
    /* only of `heddle check`: */
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
    uint32_t typed;       /* its length in bytes without added words */
    struct diags diags;
    struct piece target;
    enum run_target kind;
    struct run_option *list;
    size_t count, cap;
    bool json, quiet;
    const char *command; /* the command in messages: argv[0] */
    int rest;            /* TARGET_PROGRAM: index of the program in argv */
    int added;           /* words behind argv[0] that the user did not type; messages omit them */
    bool check;          /* the command is `heddle check`, which has options of its own */
    struct heddle_module *module; /* the kernel file's module, if already read; NULL: not */
};

/* The tables of options of `heddle run` and of `heddle check`, which also takes the options of `heddle run` that are not
 * `one_run` (cli/command.h). run_options.c does not compile if a number differs from that of the rows. */
enum { RUN_OPTION_COUNT = 44, CHECK_OPTION_COUNT = 21 };
extern const struct command_option run_options_table[];
extern const struct command_option check_options_table[];

/* Reads the command line; argv[0] is "run" or "check". false after errors. */
bool run_options_read(struct run_options *o, int argc, char **argv);

/* The kind of target that a word names. */
enum run_target run_target_kind(struct piece target);
bool run_is_program(const char *word); /* whether the kind is TARGET_PROGRAM */

/* The last option with this id; NULL: not given. */
const struct run_option *run_option_find(const struct run_options *o, enum run_option_id id);

/* Parses all settings of the command line. false after errors. */
bool run_options_settings(struct run_options *o, struct settings *out);

/* Sets the options of a device, except its callbacks and its counting. */
void settings_to_device(const struct settings *s, struct heddle_device_options *out);

/* Parses "X", "X,Y" or "X,Y,Z". false after an error. */
bool dimensions_read(struct diags *d, struct piece text, uint32_t out[3]);

#endif
