#include "base/value.h"

#include "base/buf.h"
#include "base/decimal.h"
#include "base/diag.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct value_type types[] = {
    {"u8", 1, 'u', 0},  {"s8", 1, 's', 0},   {"u16", 2, 'u', 0}, {"s16", 2, 's', 0},
    {"u32", 4, 'u', 0}, {"s32", 4, 's', 0},  {"u64", 8, 'u', 0}, {"s64", 8, 's', 0},
    {"f16", 2, 'f', 5}, {"bf16", 2, 'f', 8}, {"f32", 4, 'f', 8}, {"f64", 8, 'f', 11},
};

const struct value_type *value_type_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == n && memcmp(types[i].name, name, n) == 0) return &types[i];
    return NULL;
}

const char *value_type_names(void)
{
    return "u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64";
}

unsigned value_fraction_bits(const struct value_type *t)
{
    return 8 * t->bytes - 1 - t->exponent_bits;
}

uint64_t value_of_double(const struct value_type *t, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    if (t->bytes == 8) return bits;
    unsigned fraction = value_fraction_bits(t);
    uint64_t sign = (bits >> 63) << (8 * t->bytes - 1);
    uint64_t infinity = ((UINT64_C(1) << t->exponent_bits) - 1) << fraction;
    if (isnan(x)) return sign | infinity | UINT64_C(1) << (fraction - 1);
    int least = 2 - (1 << (t->exponent_bits - 1)); /* the exponent of the smallest normal number */
    int exponent = isinf(x) || x == 0 ? least : ilogb(x);
    if (exponent < least) exponent = least;
    /* in units of the last place: below 2^(fraction+1), so the sum below cannot lose the carry */
    double units = isinf(x) ? 0 : nearbyint(ldexp(fabs(x), (int)fraction - exponent));
    if (isinf(x) || exponent > 1 - least) return sign | infinity;
    uint64_t magnitude = (uint64_t)units + ((uint64_t)(exponent - least) << fraction);
    return sign | (magnitude < infinity ? magnitude : infinity);
}

double value_double(const struct value_type *t, uint64_t bits)
{
    if (t->kind == 'u') return (double)bits;
    if (t->kind == 's') return (double)value_signed(t, bits);
    if (t->bytes == 8) {
        double x;
        memcpy(&x, &bits, 8);
        return x;
    }
    unsigned fraction = value_fraction_bits(t);
    int bias = (1 << (t->exponent_bits - 1)) - 1;
    int exponent = (int)(bits >> fraction & ((UINT64_C(1) << t->exponent_bits) - 1));
    uint64_t low = bits & ((UINT64_C(1) << fraction) - 1);
    double x = exponent == 2 * bias + 1 ? (low ? NAN : INFINITY)
               : exponent == 0          ? ldexp((double)low, 1 - bias - (int)fraction)
                                        : ldexp((double)(low | UINT64_C(1) << fraction),
                                                exponent - bias - (int)fraction);
    return bits >> (8 * t->bytes - 1) & 1 ? -x : x;
}

int64_t value_signed(const struct value_type *t, uint64_t bits)
{
    unsigned unused = 64 - 8 * t->bytes;
    return (int64_t)(bits << unused) >> unused;
}

bool value_is_nan(const struct value_type *t, uint64_t bits)
{
    return t->kind == 'f' && isnan(value_double(t, bits));
}

uint64_t value_load(const struct value_type *t, const unsigned char *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, t->bytes);
    return bits;
}

static bool read_float(const struct value_type *t, const char *text, uint64_t *bits)
{
    char *end;
    double x = t->bytes == 4 ? (double)decimal_read_float(text, &end) : decimal_read(text, &end);
    if (end == text || *end) return false;
    *bits = value_of_double(t, x);
    return !isinf(value_double(t, *bits)) || strpbrk(text, "iI"); /* or it is too large */
}

static bool read_integer(const struct value_type *t, const char *text, uint64_t *bits)
{
    bool negative = *text == '-';
    text += negative;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? "0123456789abcdefABCDEF" : "0123456789";
    text += hex ? 2 : 0;
    if (!*text || text[strspn(text, digits)]) return false;
    errno = 0;
    uint64_t n = strtoull(text, NULL, hex ? 16 : 10), most = UINT64_MAX >> (64 - 8 * t->bytes);
    if (errno || n > (negative ? most / 2 + 1 : most)) return false;
    *bits = (negative ? -n : n) & most;
    return true;
}

bool value_read(const struct value_type *t, const char *text, size_t n, uint64_t *bits)
{
    char copy[400]; /* an f64 written out needs 330 */
    *bits = 0;
    if (!n || n >= sizeof copy || !strchr("+-.0123456789infINF", *text)) return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (strlen(copy) != n) return false;
    return t->kind == 'f' ? read_float(t, copy, bits) : read_integer(t, copy, bits);
}

void value_print(const struct value_type *t, uint64_t bits, struct buf *out)
{
    if (t->kind == 'u') buf_printf(out, "%" PRIu64, bits);
    else if (t->kind == 's') buf_printf(out, "%" PRId64, value_signed(t, bits));
    else if (value_is_nan(t, bits)) buf_puts(out, "nan"); /* its sign is nobody's business */
    else buf_printf(out, "%.*g", t->bytes == 8 ? 17 : t->bytes == 4 ? 9 : 5, value_double(t, bits));
}

bool number_read(struct diags *d, const char *what, struct piece text, uint64_t most, uint64_t *out)
{
    if (value_read(value_type_find("u64", 3), text.text, text.length, out) && *text.text != '-' &&
        *out <= most)
        return true;
    diag_error(d, text.at, text.length, "%s wants a number from 0 to %" PRIu64 ", not '%.*s'", what,
               most, (int)text.length, text.text);
    return false;
}
