/* cli/cli.h: what the commands share. A command is one file with one function. */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "heddle.h"

#include <stdio.h>

enum exit_code {
    EXIT_FINE = 0,
    EXIT_INPUT = 1,   /* the input has errors */
    EXIT_USAGE = 2,   /* the command line has, or a file cannot be read */
    EXIT_FAULT = 3,   /* a kernel faulted or cannot be launched, or a check found something */
    EXIT_DIFFERS = 4, /* results are not as expected */
    EXIT_LIMIT = 5,   /* a kernel did not come to an end */
    /* of `heddle check` */
    EXIT_NONDETERMINISTIC = 6, /* results differ */
    EXIT_RACY = 7,             /* there are data races */
    EXIT_BROKEN_PROMISE = 8,   /* an order gave several results that promises one */
    EXIT_INTERRUPTED = 130,
};

/* argv[0] is the command's name. */
int cmd_ptx_check(int argc, char **argv);
int cmd_ptx_print(int argc, char **argv);
int cmd_ptx_stats(int argc, char **argv);
int cmd_ptx_cfg(int argc, char **argv);
int cmd_isa(int argc, char **argv);
int cmd_orders(int argc, char **argv);
int cmd_gpus(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_measure(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_estimate(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_suite_list(int argc, char **argv);
int cmd_suite_run(int argc, char **argv);

/* Prints "heddle COMMAND: text" and where to read on; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value of the option at argv[*i], which is "--name value" or "--name=value"; *i moves to its last word. NULL: it is
 * another option, or has no value. argv ends with NULL. */
const char *option_value(char **argv, int *i, const char *name);

/* What is wrong with an option that a command does not take as it stands; `options` are those that it has, one blank
 * between two ("--format --refused"). Returns EXIT_USAGE. */
int bad_option(const char *command, const char *word, const char *options);

/* The number behind an option; false after a message if it is none. */
bool option_number(const char *command, const char *option, const char *text, unsigned long most,
                   unsigned long *out);

/* "text" or "json" behind --format; false after a message. */
bool option_format(const char *command, const char *text, bool *json);

/* Whether there is a file there to read from, which a folder is not; false: errno says why. */
bool can_read(const char *path);

/* The module of a file; NULL after its messages went to stderr if it has errors. */
struct heddle_module *load_module(const char *path, int *status);

/* Flushes stdout and reports if that fails (a full disk, a closed pipe). */
int finish_output(const char *command, int status);

#endif
