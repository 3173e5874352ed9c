/* cli/cli.h: exit codes and functions that the commands share. Each command is one file with one table (cli/command.h). */
#ifndef HEDDLE_CLI_H
#define HEDDLE_CLI_H

#include "heddle.h"

#include <stdio.h>

enum exit_code {
    EXIT_FINE = 0,
    EXIT_INPUT = 1,   /* the input has errors */
    EXIT_USAGE = 2,   /* the command line has errors, or a file cannot be read */
    EXIT_FAULT = 3,   /* a kernel faulted or cannot be launched, or a check has findings */
    EXIT_DIFFERS = 4, /* results differ from the expected ones */
    EXIT_LIMIT = 5,   /* a kernel did not terminate: a limit or a deadlock */
    /* only of `heddle check`: */
    EXIT_NONDETERMINISTIC = 6, /* results differ between runs */
    EXIT_RACY = 7,             /* there are data races */
    EXIT_BROKEN_PROMISE = 8,   /* an order that guarantees one result had several */
    EXIT_UNDEFINED = 9, /* memory that nothing wrote is read, or synchronisation is misused */
    EXIT_INTERRUPTED = 130,
};

/* Prints "heddle COMMAND: text" and a hint at --help; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value of the option at argv[*i], "--name value" or "--name=value"; *i becomes the index of its last word. NULL: the
 * word is another option, or the option has no value. argv ends with NULL. */
const char *option_value(char **argv, int *i, const char *name);

/* Parses the number behind an option, at most `most`; false after a message. */
bool option_number(const char *command, const char *option, const char *text, unsigned long most,
                   unsigned long *out);

/* Parses "text" or "json" behind --format; false after a message. */
bool option_format(const char *command, const char *text, bool *json);

/* Whether the path is a readable file, not a folder; false: errno has the error. */
bool can_read(const char *path);

/* Loads a module from a file. NULL: the file has errors, which were printed to stderr; *status is the exit code. */
struct heddle_module *load_module(const char *path, int *status);

/* Flushes stdout and reports if that fails (a full disk, a closed pipe). */
int finish_output(const char *command, int status);

#endif
