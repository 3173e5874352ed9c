/* base/value.h: reads and prints numbers of the element types of buffers and arguments.
 *
 *     const struct value_type *t = value_type_find("f32", 3);
 *     uint64_t bits;
 *     if (value_read(t, "1.5", 3, &bits)) memcpy(bytes, &bits, t->bytes);
 *
 * A value is represented by its bits, in the low bits of a uint64_t. */
#ifndef HEDDLE_BASE_VALUE_H
#define HEDDLE_BASE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct diags;

/* A piece of the user's text, with its offset in the source of the diags. */
struct piece {
    const char *text;
    uint32_t length, at;
};

struct value_type {
    const char *name;
    unsigned bytes;
    char kind;              /* 'u' unsigned, 's' signed, 'f' floating-point */
    unsigned exponent_bits; /* kind 'f': number of exponent bits */
};

const struct value_type *value_type_find(const char *name, size_t n); /* NULL: none */
const char *value_type_names(void);                                   /* "u8, s8, ..." */

/* Reads a number. Integer types of b bits, signed or not, take decimal and 0x hexadecimal numbers from -2^(b-1) to 2^b - 1.
 * Floating-point types take what strtod() takes in the locale "C", rounded to nearest even, and "inf" and "nan". false: the
 * text is no number, or the number is out of range. */
bool value_read(const struct value_type *t, const char *text, size_t n, uint64_t *bits);

/* Reads a whole number of at most `most`. false after an error in the diags, which names `what`. */
bool number_read(struct diags *d, const char *what, struct piece text, uint64_t most,
                 uint64_t *out);

/* Appends the value in decimal; value_read() of that text gives the same value. */
void value_print(const struct value_type *t, uint64_t bits, struct buf *out);

uint64_t value_load(const struct value_type *t, const unsigned char *bytes);
double value_double(const struct value_type *t, uint64_t bits);
uint64_t value_of_double(const struct value_type *t, double x); /* kind 'f'; to nearest even */
unsigned value_fraction_bits(const struct value_type *t);       /* kind 'f' only: 23 for f32 */
int64_t value_signed(const struct value_type *t, uint64_t bits);
bool value_is_nan(const struct value_type *t, uint64_t bits);

#endif
