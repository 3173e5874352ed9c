#define _POSIX_C_SOURCE 200809L /* mkstemp, fdopen, fchmod, setenv */
#include "base/replace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool replacement_open(struct replacement *r, const char *path)
{
    struct stat s;
    *r = (struct replacement){0};
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) {
        r->out = fopen(path, "wb");
        return r->out != NULL;
    }
    r->path = strdup(path);
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
