/* cli/pattern.h: what a buffer holds before a run, or should hold after it.
 *
 *     zero   iota   iota(START, STEP)   const(N)   random   random(SEED)   file(PATH)   list(N, N, ...)
 *
 *     struct pattern p;
 *     if (pattern_read(&diags, "", type, piece, &p)) {
 *         struct filler f;
 *         if (!filler_open(&f, &p, type, count, &why)) puts(why.data);
 *         while (...) filler_next(&f, chunk, n, &why);              // n elements more
 *         filler_close(&f);
 *     }
 *
 * Buffers may be large, so they are filled in pieces; element i of a pattern depends on nothing but i. */
#ifndef HEDDLE_CLI_PATTERN_H
#define HEDDLE_CLI_PATTERN_H

#include "base/value.h"

#include <stdio.h>

struct diags;

enum pattern_kind {
    PATTERN_ZERO,
    PATTERN_IOTA,
    PATTERN_CONST,
    PATTERN_RANDOM,
    PATTERN_FILE,
    PATTERN_LIST
};

struct pattern {
    enum pattern_kind kind;
    uint64_t value, step; /* bits: of const; of iota */
    uint64_t seed;
    const char *path;
    uint64_t *list; /* bits */
    size_t list_count, list_cap;
    struct piece where;
};

/* Reads the notation above. Relative paths are of `folder`, which ends in '/' or is "". false after an
 * error. What the pattern keeps is in the arena of the diags. */
bool pattern_read(struct diags *d, const char *folder, const struct value_type *t, struct piece p,
                  struct pattern *out);
/* Adds an element to a list; false after an error. */
bool pattern_add(struct diags *d, const struct value_type *t, struct piece p, struct pattern *out);

/* How many elements it has of its own: of a list, or a file that says its size. false: any number. */
bool pattern_count(const struct pattern *p, const struct value_type *t, uint64_t *count);

struct filler {
    const struct pattern *pattern;
    const struct value_type *type;
    uint64_t next, count;
    FILE *file;
};
/* false, with the reason added to `why`, if a file cannot be read or has another size. */
bool filler_open(struct filler *f, const struct pattern *p, const struct value_type *t,
                 uint64_t count, struct buf *why);
bool filler_next(struct filler *f, unsigned char *to, uint64_t n, struct buf *why);
void filler_close(struct filler *f);

#endif
