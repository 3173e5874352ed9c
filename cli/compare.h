/* cli/compare.h: compares the contents of a buffer with the expected ones.
 *
 *     struct comparison c = {.type = t, .tolerance = {.relative = 1e-6}};
 *     compare(&c, got, want, n);                   // again for the next n elements
 *     if (c.mismatches) comparison_print(&c, "y", &out);
 *
 * Without a tolerance two numbers are equal if their bits are equal, or if both are NaN. With a tolerance they are
 * also equal if their difference is within one of the given bounds. */
#ifndef HEDDLE_CLI_COMPARE_H
#define HEDDLE_CLI_COMPARE_H

#include "base/value.h"

struct diags;

struct tolerance {
    bool given;      /* at least one bound is given; then -0 equals 0 */
    double absolute; /* |got - want| */
    double relative; /* |got - want| / |want| */
    uint64_t ulp;    /* numbers of the type between the two (value_ulps) */
};

/* Parses "abs=1e-6,rel=1e-5,ulp=2", or some of these; false after an error. */
bool tolerance_read(struct diags *d, struct piece p, struct tolerance *out);
/* Sets one bound: "abs", "1e-6". */
bool tolerance_set(struct diags *d, struct piece name, struct piece value, struct tolerance *out);

enum { MISMATCHES_SHOWN = 5 };

struct comparison {
    const struct value_type *type;
    struct tolerance tolerance;
    uint64_t count, mismatches;
    struct mismatch {
        uint64_t index, got, want; /* got, want: bits */
    } first[MISMATCHES_SHOWN];
};

void compare(struct comparison *c, const unsigned char *got, const unsigned char *want, uint64_t n);

/* The distance of two numbers in units in the last place; UINT64_MAX if one is a NaN. */
uint64_t value_ulps(const struct value_type *t, uint64_t a, uint64_t b);

/* Appends got - want as text. */
void mismatch_difference(const struct value_type *t, const struct mismatch *m, struct buf *out);

/* Appends lines about the mismatches: their number, and the first ones. */
void comparison_print(const struct comparison *c, const char *name, struct buf *out);

#endif
