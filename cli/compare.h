/* cli/compare.h: what a buffer holds against what it should.
 *
 *     struct comparison c = {.type = t, .tolerance = {.relative = 1e-6}};
 *     compare(&c, got, want, n);                   // again for what follows
 *     if (c.mismatches) comparison_print(&c, "y", &out);
 *
 * Without a tolerance two numbers are equal if their bits are, or if both are NaN. With one, a number may
 * also be off by any of the bounds that are given. */
#ifndef HEDDLE_CLI_COMPARE_H
#define HEDDLE_CLI_COMPARE_H

#include "base/value.h"

struct diags;

struct tolerance {
    bool given;      /* one of them; then -0 is 0 as well */
    double absolute; /* |got - want| */
    double relative; /* |got - want| / |want| */
    uint64_t ulp;    /* numbers of the type from one to the other */
};

/* "abs=1e-6,rel=1e-5,ulp=2", any of them; false after an error. */
bool tolerance_read(struct diags *d, struct piece p, struct tolerance *out);
/* One of them: "abs", "1e-6". */
bool tolerance_set(struct diags *d, struct piece name, struct piece value, struct tolerance *out);

enum { MISMATCHES_SHOWN = 5 };

struct comparison {
    const struct value_type *type;
    struct tolerance tolerance;
    uint64_t count, mismatches;
    struct mismatch {
        uint64_t index, got, want; /* the last two as bits */
    } first[MISMATCHES_SHOWN];
};

void compare(struct comparison *c, const unsigned char *got, const unsigned char *want, uint64_t n);

/* Numbers of the type between two of them; UINT64_MAX if one is a NaN. */
uint64_t value_ulps(const struct value_type *t, uint64_t a, uint64_t b);

/* got - want, as text */
void mismatch_difference(const struct value_type *t, const struct mismatch *m, struct buf *out);

/* Lines of text about the mismatches: how many, and the first. */
void comparison_print(const struct comparison *c, const char *name, struct buf *out);

#endif
