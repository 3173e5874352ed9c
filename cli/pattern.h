/* cli/pattern.h: patterns: the contents of a buffer before a run, or the expected contents after it.
 *
 *     zero   iota   iota(START, STEP)   const(N)   random   random(SEED)   file(PATH)   list(N, N, ...)
 *
 *     struct pattern p;
 *     if (pattern_read(&diags, "", type, piece, &p)) {
 *         struct filler f;
 *         if (!filler_open(&f, &p, type, count, &why)) puts(why.data);
 *         while (...) filler_next(&f, chunk, n, &why);              // the next n elements
 *         filler_close(&f);
 *     }
 *
 * Buffers may be large, so they are filled in pieces; element i of a pattern depends only on i. */
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
    uint64_t value, step; /* bits: the value of const; start and step of iota */
    uint64_t seed;
    const char *path;
    uint64_t *list; /* bits of the elements */
    size_t list_count, list_cap;
    struct piece where;
};

/* Parses the notation above. Relative paths are relative to `folder`, which ends in '/' or is "". The memory of the
 * pattern is in the arena of the diags. false after an error. */
bool pattern_read(struct diags *d, const char *folder, const struct value_type *t, struct piece p,
                  struct pattern *out);
/* Adds an element to a PATTERN_LIST; false after an error. */
bool pattern_add(struct diags *d, const struct value_type *t, struct piece p, struct pattern *out);

/* The number of elements of a list, or of a file with a known size. false: the pattern has any number of elements. */
bool pattern_count(const struct pattern *p, const struct value_type *t, uint64_t *count);

struct filler {
    const struct pattern *pattern;
    const struct value_type *type;
    uint64_t next, count;
    FILE *file;
};
/* false, with a message appended to `why`, if a file cannot be read or has another size. */
bool filler_open(struct filler *f, const struct pattern *p, const struct value_type *t,
                 uint64_t count, struct buf *why);
bool filler_next(struct filler *f, unsigned char *to, uint64_t n, struct buf *why);
void filler_close(struct filler *f);

#endif
