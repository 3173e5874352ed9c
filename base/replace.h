/* base/replace.h: atomic replacement of files: a file is written under a temporary name and then renamed.
 *
 *     struct replacement f;
 *     bool ok = replacement_open(&f, path) && fwrite(...) == n;
 *     if (!replacement_close(&f, ok)) perror(path);
 *
 * Pipes, devices, /dev/stdout, and a file that is the process's standard output or error already, are written directly,
 * without a temporary file. For a symbolic link, the file that it points to is replaced. */
#ifndef HEDDLE_BASE_REPLACE_H
#define HEDDLE_BASE_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

struct replacement {
    FILE *out;
    char *path, *temporary; /* temporary NULL: `out` writes to the file directly */
};
/* The absolute path of a file, for processes that may change their working directory before they write it. The caller
 * frees it. NULL: no memory. */
char *path_absolute(const char *path);
/* Sets an environment variable to the absolute path of a file. */
void path_to_environment(const char *name, const char *path);

/* Opens the file for writing. The process may change its working directory later. false: errno has the error; the caller still calls replacement_close(). */
bool replacement_open(struct replacement *r, const char *path);
/* Whether the file can be written, to be called before the work that computes its contents. false: errno has the error. */
bool replacement_possible(const char *path);
/* ok: all contents were written. Renames the file to its name; or removes it if !ok. false: the old file, if any, is unchanged, and errno has the error. */
bool replacement_close(struct replacement *r, bool ok);

#endif
