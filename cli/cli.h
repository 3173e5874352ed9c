/* cli/cli.h: what the commands share. Each command is one file, which defines one table (cli/command.h). */
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
    EXIT_BROKEN_PROMISE = 8,   /* an order that guarantees one result gave several */
    EXIT_UNDEFINED = 9, /* memory that nothing wrote is read, or synchronisation is misused */
    EXIT_INTERRUPTED = 130,
};

/* Prints "heddle COMMAND: text" and where to read on; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The value of the option at argv[*i], which is "--name value" or "--name=value"; *i moves to its last word. NULL: it is
 * another option, or has no value. argv ends with NULL. */
const char *option_value(char **argv, int *i, const char *name);

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
