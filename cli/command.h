/* cli/command.h: the table that describes a command of the program. The option parser, `--help`, the manual pages,
 * the shell completion and docs/reference.md all use this table.
 *
 * Each command is one file of cli/, which defines one `struct command`; cli/commands.c lists them. */
#ifndef HEDDLE_CLI_COMMAND_H
#define HEDDLE_CLI_COMMAND_H

#include "cli/cli.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Help texts are sentences. A newline begins a paragraph; a line that begins with two spaces is printed verbatim. */
struct command_option {
    const char *name;     /* without the "--" */
    const char *argument; /* "FILE"; the shell completes words separated by '|'; NULL: a flag */
    const char *standard; /* the default; NULL: not printed */
    const char *help;     /* NULL: session/settings.def has argument, default and text */
    const char *section;  /* heading before the option; NULL: that of the previous option */
    int id;               /* not 0; the command defines its meaning */
    unsigned targets;     /* `run`, `check`: bits enum run_target of the targets that allow it */
    bool repeated;        /* `run`, `check`: the option may be given several times */
    bool one_run;         /* `run`: `check`, which makes many runs, does not take the option */
};

struct command {
    const char *name;    /* "ptx check" */
    const char *summary; /* one line, for lists of commands */
    const char *usage;   /* lines, each without "heddle" */
    const char *description;
    const struct command_option *options;
    size_t option_count;
    const struct command *also; /* another command whose options it takes as well; NULL: none */
    /* Whether a word is a program, so that the words behind it are its arguments. NULL: that of `also`, or none is. */
    bool (*is_program)(const char *word);
    const char *exit_status;
    const char *examples;
    int (*run)(int argc, char **argv); /* argv[0]: last word of the name; returns the exit code */
};

extern const struct command command_run, command_check, command_suite_list, command_suite_run,
    command_ptx_check, command_ptx_print, command_ptx_stats, command_ptx_cfg, command_isa,
    command_estimate, command_compare, command_orders, command_calibrate, command_measure,
    command_gpus, command_communication, command_report, command_sweep, command_sweep_query,
    command_sweep_report, command_trace_record, command_trace_info, command_trace_check,
    command_trace_dump, command_trace_convert, command_advise, command_bench, command_reproduce,
    command_area;

/* ---- all commands (cli/commands.c) ----------------------------------------------------------------------- */

const struct command *command_at(size_t i); /* NULL: i is the number of commands */

/* The command "run", or "ptx" with the second word "check". `word` may be NULL. NULL: none. */
const struct command *command_find(const char *name, const char *word);

/* Whether the word is the first word of commands of two words: "ptx". */
bool command_is_family(const char *name);

/* Prints that there is no such command, and the nearest name. Returns EXIT_USAGE. */
int command_unknown(const char *name, const char *word);

/* ---- reading a command line by the table (cli/words.c) --------------------------------------------------- */

/*     struct words w = {.command = &command_isa, .argc = argc, .argv = argv};
 *     for (int id; (id = words_next(&w));)
 *         if (id == 'f' && !option_format("isa", w.value, &json)) return EXIT_USAGE;
 *     if (w.wrong) return EXIT_USAGE;
 *     ... argv[1] to argv[w.operands] are the operands ... */
struct words {
    const struct command *command;
    int argc;
    char **argv;
    const char *value; /* value of the option; NULL: the option is a flag */
    int at, operands;
    bool wrong; /* the command line has an error; a message was printed */
};
/* The id of the next option; 0: there is none, or w->wrong is set. */
int words_next(struct words *w);
/* Whether -h or --help is one of the command's own options: not behind "--" or a program, and not the value of an
 * option. */
bool words_want_help(const struct command *c, int argc, char **argv);

/* Removes --color from the words of a command that has this option (cli/terminal.h). false after a message: a wrong value. */
bool words_take_colour(const struct command *c, int *argc, char **argv);

/* Prints the error of an option that the command cannot take: it is unknown, its value is missing, or it has a value but
 * is a flag. Returns EXIT_USAGE. */
int bad_option(const struct command *c, const char *word);

/* The option with its argument, default and text, which may come from session/settings.def. */
struct command_option command_option_full(const struct command_option *o);

/* ---- texts (cli/help.c, cli/help_man.c, cli/help_reference.c, cli/help_completion.c) --------------------- */

void help_text(const struct command *c, struct buf *out);
void help_overview(struct buf *out);
void help_family(const char *family, struct buf *out);
void help_man(const struct command *c, struct buf *out); /* NULL: heddle(1) */
void help_reference(struct buf *out);
void help_completion(struct buf *out);

/* `heddle help ...`; argv[0] is "help". */
int help_run(int argc, char **argv);

/* Iterates over the lines and paragraphs of a help text. false: the text ends. */
struct help_line {
    const char *text;
    size_t length;
    bool verbatim;
};
bool help_next_line(const char **text, struct help_line *out);

/* Appends " (default: 8G) [HEDDLE_MEMORY]", or nothing if the option has neither. */
void help_default(const struct command_option *o, struct buf *out);

/* Environment variables that are not settings. */
struct help_variable {
    const char *name, *help;
};
extern const struct help_variable help_variables[]; /* ends with name NULL */

#endif
