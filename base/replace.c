#define _XOPEN_SOURCE 700 /* mkstemp, fdopen, fchmod, setenv, realpath */
#include "base/replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *path_absolute(const char *path)
{
    char folder[4096];
    if (*path == '/' || !getcwd(folder, sizeof folder)) return strdup(path);
    const size_t size = strlen(folder) + strlen(path) + 2;
    char *all = malloc(size);
    if (all) snprintf(all, size, "%s/%s", folder, path);
    return all;
}

void path_to_environment(const char *name, const char *path)
{
    char *all = path_absolute(path);
    (void)setenv(name, all ? all : path, 1);
    free(all);
}

/* Names there are not for others to take: /dev/stdout may be a regular file, where it is redirected to one. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/dev/std", 8) == 0 || strncmp(path, "/dev/fd/", 8) == 0 ||
           strncmp(path, "/proc/", 6) == 0;
}

/* The standard output or error stream that is this regular file; -1: none is. Their place in the file moves on. */
static int stream_of(const struct stat *s)
{
    struct stat own;
    for (int file = STDOUT_FILENO; S_ISREG(s->st_mode) && file <= STDERR_FILENO; file++)
        if (fstat(file, &own) == 0 && own.st_dev == s->st_dev && own.st_ino == s->st_ino)
            return file;
    return -1;
}

bool replacement_open(struct replacement *r, const char *path)
{
    struct stat s;
    *r = (struct replacement){0};
    const bool there = stat(path, &s) == 0;
    const int stream = there ? stream_of(&s) : -1;
    if (stream >= 0) {
        const int file = dup(stream);
        r->out = file >= 0 ? fdopen(file, "wb") : NULL;
        return r->out != NULL;
    }
    if ((there && !S_ISREG(s.st_mode)) || is_of_system(path)) {
        r->out = fopen(path, "wb");
        return r->out != NULL;
    }
    r->path = there ? realpath(path, NULL) : path_absolute(path);
    const size_t length = r->path ? strlen(r->path) : 0;
    r->temporary = malloc(length + 8);
    if (!r->path || !r->temporary) return false;
    memcpy(r->temporary, r->path, length);
    memcpy(r->temporary + length, ".XXXXXX", 8);
    int file = mkstemp(r->temporary);
    if (file < 0) {
        free(r->temporary);
        r->temporary = NULL;
        return false;
    }
    mode_t mask = umask(0);
    umask(mask);
    (void)fchmod(file, 0666 & ~mask); /* mkstemp's files are private */
    r->out = fdopen(file, "wb");
    return r->out != NULL;
}

bool replacement_possible(const char *path)
{
    struct stat s;
    struct replacement r;
    if (stat(path, &s) == 0 && !S_ISDIR(s.st_mode) &&
        (!S_ISREG(s.st_mode) || stream_of(&s) >= 0 || is_of_system(path)))
        return true; /* a pipe would end */
    const bool possible = replacement_open(&r, path);
    (void)replacement_close(&r, false); /* keeps errno */
    return possible;
}

bool replacement_close(struct replacement *r, bool ok)
{
    int why = errno;
    if (!r->out) ok = false;
    else if (fclose(r->out) != 0) {
        if (ok) why = errno;
        ok = false;
    }
    if (ok && r->temporary && rename(r->temporary, r->path) != 0) {
        why = errno;
        ok = false;
    }
    if (!ok && r->temporary) (void)unlink(r->temporary);
    free(r->path);
    free(r->temporary);
    *r = (struct replacement){0};
    errno = why;
    return ok;
}
