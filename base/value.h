/* base/value.h: numbers of the types that buffers and arguments have.
 *
 *     const struct value_type *t = value_type_find("f32", 3);
 *     uint64_t bits;
 *     if (value_read(t, "1.5", 3, &bits)) memcpy(bytes, &bits, t->bytes);
 *
 * A value is its bits, in the low end of 64. */
#ifndef HEDDLE_BASE_VALUE_H
#define HEDDLE_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct diags;

/* A piece of what the user wrote, and where it stands in the source that messages are about. */
struct piece {
    const char *text;
    uint32_t length, at;
};

struct value_type {
    const char *name;
    unsigned bytes;
    char kind;              /* u s f */
    unsigned exponent_bits; /* of kind f */
};

const struct value_type *value_type_find(const char *name, size_t n); /* NULL: none */
const char *value_type_names(void);                                   /* "u8, s8, ..." */

/* A whole number in decimal or 0x hexadecimal; of a type with b bits any from -2^(b-1) to 2^b - 1, whatever
 * its sign. A floating-point number as strtod() takes it in the locale "C", rounded to nearest even; "inf", "nan". false: it
 * is none, or does not fit. */
bool value_read(const struct value_type *t, const char *text, size_t n, uint64_t *bits);

/* A whole number up to `most`; false: what `what` wants is in the diags. */
bool number_read(struct diags *d, const char *what, struct piece text, uint64_t most,
                 uint64_t *out);

/* In decimal, so that value_read gives the same value. */
void value_print(const struct value_type *t, uint64_t bits, struct buf *out);

uint64_t value_load(const struct value_type *t, const unsigned char *bytes);
double value_double(const struct value_type *t, uint64_t bits);
uint64_t value_of_double(const struct value_type *t, double x); /* of kind f; nearest even */
unsigned value_fraction_bits(const struct value_type *t);       /* of kind f: 23 for f32 */
int64_t value_signed(const struct value_type *t, uint64_t bits);
bool value_is_nan(const struct value_type *t, uint64_t bits);

#endif
