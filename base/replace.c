#define _POSIX_C_SOURCE 200809L /* mkstemp, fdopen, fchmod, setenv */
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

bool replacement_open(struct replacement *r, const char *path)
{
    struct stat s;
    *r = (struct replacement){0};
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) {
        r->out = fopen(path, "wb");
        return r->out != NULL;
    }
    r->path = path_absolute(path);
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
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
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
