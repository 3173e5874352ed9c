/* base/replace.h: files that are there as a whole or not at all: written under another name, then renamed.
 *
 *     struct replacement f;
 *     bool ok = replacement_open(&f, path) && fwrite(...) == n;
 *     if (!replacement_close(&f, ok)) perror(path);
 *
 * What is no regular file (a pipe, a device), /dev/stdout and what is the process's output already are written as they
 * are. Of a symbolic link the file that it names is replaced. */
#ifndef HEDDLE_BASE_REPLACE_H
#define HEDDLE_BASE_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

struct replacement {
    FILE *out;
    char *path, *temporary; /* temporary NULL: written as it is */
};
/* The path as it is seen from the root, to be freed by the caller: for who may change its folder before the file is
 * written. NULL: there is no memory. */
char *path_absolute(const char *path);
/* Sets a variable of the environment to that. */
void path_to_environment(const char *name, const char *path);

/* The process may change its folder before the end. false: errno says why, and there is still something to close. */
bool replacement_open(struct replacement *r, const char *path);
/* Whether a file could be written there: before work whose result it is to hold. false: errno says why. */
bool replacement_possible(const char *path);
/* ok: what was to be written was. false: there is no new file, and errno says why. */
bool replacement_close(struct replacement *r, bool ok);

#endif
