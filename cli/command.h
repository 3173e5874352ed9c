/* cli/command.h: a command of the program, as one table describes it. Parsing its options, `--help`, the manual pages,
 * the completion of the shell and docs/reference.md all come from this table.
 *
 * Each command is one file of cli/, which defines one `struct command`; cli/commands.c lists them. */
#ifndef HEDDLE_CLI_COMMAND_H
#define HEDDLE_CLI_COMMAND_H

#include "cli/cli.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Texts are sentences. A newline begins a paragraph; a line that begins with two spaces is printed as it stands. */
struct command_option {
    const char *name;     /* without the "--" */
    const char *argument; /* "FILE"; words with '|' between them can be completed; NULL: a flag */
    const char *standard; /* the default; NULL: none is worth a word */
    const char *help;     /* NULL: argument, default and text are those of session/settings.def */
    const char *section;  /* the heading in front of it; NULL: the one before goes on */
    int id;               /* for the command's own use; not 0 */
    unsigned targets;     /* of `run` and `check`: the kinds of target that it goes with */
    bool repeated;        /* likewise: it may be given several times */
    bool one_run;         /* of `run`: `check`, which makes many runs, does not take it */
};

struct command {
    const char *name;    /* "ptx check" */
    const char *summary; /* a line in lists */
    const char *usage;   /* lines, each without "heddle" */
    const char *description;
    const struct command_option *options;
    size_t option_count;
    const struct command *also; /* whose options it takes, too; NULL: of none */
    /* Whether a word is a program: the words behind it are the program's. NULL: as `also` has it, or no word is. */
    bool (*is_program)(const char *word);
    const char *exit_status;
    const char *examples;
    int (*run)(int argc, char **argv); /* argv[0] is the name's last word */
};

extern const struct command command_run, command_check, command_suite_list, command_suite_run,
    command_ptx_check, command_ptx_print, command_ptx_stats, command_ptx_cfg, command_isa,
    command_estimate, command_compare, command_orders, command_calibrate, command_measure,
    command_gpus, command_communication, command_report, command_sweep, command_sweep_query,
    command_sweep_report, command_trace_record, command_trace_info, command_trace_check,
    command_trace_dump, command_trace_convert, command_advise, command_bench, command_reproduce,
    command_area;

/* ---- all commands (cli/commands.c) ----------------------------------------------------------------------- */

const struct command *command_at(size_t i); /* NULL: there are no more */

/* "run", or "ptx" with "check", which may be NULL. NULL: there is none. */
const struct command *command_find(const char *name, const char *word);

/* Whether commands of two words begin so: "ptx". */
bool command_is_family(const char *name);

/* Prints that there is no such command, and which may have been meant. Returns EXIT_USAGE. */
int command_unknown(const char *name, const char *word);

/* ---- reading a command line by the table (cli/words.c) --------------------------------------------------- */

/*     struct words w = {.command = &command_isa, .argc = argc, .argv = argv};
 *     for (int id; (id = words_next(&w));)
 *         if (id == 'f' && !option_format("isa", w.value, &json)) return EXIT_USAGE;
 *     if (w.wrong) return EXIT_USAGE;
 *     ... argv[1] to argv[w.operands] are what is left ... */
struct words {
    const struct command *command;
    int argc;
    char **argv;
    const char *value; /* of the option; NULL: it is a flag */
    int at, operands;
    bool wrong; /* after a message */
};
/* The id of the next option; 0: there is none, or it is wrong. */
int words_next(struct words *w);
/* Whether -h or --help stands among the command's own words: not behind "--" or a program, and not as the value of an
 * option. */
bool words_want_help(const struct command *c, int argc, char **argv);

/* Takes --color out of the words of a command that has it (cli/terminal.h). false: its value is wrong, which was said. */
bool words_take_colour(const struct command *c, int *argc, char **argv);

/* What is wrong with an option that the command does not take as it stands: it is unknown, or a value is missing or too
 * much. Returns EXIT_USAGE. */
int bad_option(const struct command *c, const char *word);

/* Argument, default and text of an option, if need be from session/settings.def. */
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

/* One line or paragraph of a text after the other. */
struct help_line {
    const char *text;
    size_t length;
    bool verbatim;
};
bool help_next_line(const char **text, struct help_line *out);

/* "(default: 8G) [HEDDLE_MEMORY]", with a blank in front; nothing where there is nothing to say. */
void help_default(const struct command_option *o, struct buf *out);

/* Variables of the environment that are no settings. */
struct help_variable {
    const char *name, *help;
};
extern const struct help_variable help_variables[]; /* name NULL behind the last */

#endif
