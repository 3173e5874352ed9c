#include "cli/compare.h"

#include "base/buf.h"
#include "base/diag.h"
#include "base/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool tolerance_set(struct diags *d, struct piece name, struct piece value, struct tolerance *out)
{
    const struct value_type *f64 = value_type_find("f64", 3), *u64 = value_type_find("u64", 3);
    uint64_t bits = 0;
    bool three = name.length == 3, ulp = three && memcmp(name.text, "ulp", 3) == 0;
    bool absolute = three && memcmp(name.text, "abs", 3) == 0;
    if (!ulp && !absolute && !(three && memcmp(name.text, "rel", 3) == 0)) {
        diag_error(d, name.at, name.length, "a tolerance is abs, rel or ulp, not '%.*s'",
                   (int)name.length, name.text);
        return false;
    }
    bool ok = value_read(ulp ? u64 : f64, value.text, value.length, &bits) && *value.text != '-';
    if (!ok || (!ulp && value_is_nan(f64, bits))) {
        diag_error(d, value.at, value.length, "%.3s wants a %s of at least 0, not '%.*s'",
                   name.text, ulp ? "whole number" : "number", (int)value.length, value.text);
        return false;
    }
    out->given = true;
    if (ulp) out->ulp = bits;
    else if (absolute) out->absolute = value_double(f64, bits);
    else out->relative = value_double(f64, bits);
    return true;
}

bool tolerance_read(struct diags *d, struct piece p, struct tolerance *out)
{
    *out = (struct tolerance){0};
    for (uint32_t i = 0, n; i <= p.length; i += n + 1) {
        const char *from = p.text + i, *comma = memchr(from, ',', p.length - i);
        n = comma ? (uint32_t)(comma - from) : p.length - i;
        const char *equals = memchr(from, '=', n);
        if (!equals) {
            diag_error(d, p.at + i, n, "a tolerance is abs=X, rel=X or ulp=N, not '%.*s'", (int)n,
                       from);
            return false;
        }
        uint32_t k = (uint32_t)(equals - from);
        if (!tolerance_set(d, (struct piece){from, k, p.at + i},
                           (struct piece){equals + 1, n - k - 1, p.at + i + k + 1}, out))
            return false;
    }
    return true;
}

/* The place of a floating-point number among all of its type. */
static int64_t rank(const struct value_type *t, uint64_t bits)
{
    uint64_t magnitude = bits & (UINT64_MAX >> (65 - 8 * t->bytes));
    return magnitude == bits ? (int64_t)bits : -(int64_t)magnitude;
}

uint64_t value_ulps(const struct value_type *t, uint64_t a, uint64_t b)
{
    if (value_is_nan(t, a) || value_is_nan(t, b)) return UINT64_MAX;
    int64_t x = t->kind == 'f' ? rank(t, a) : value_signed(t, a);
    int64_t y = t->kind == 'f' ? rank(t, b) : value_signed(t, b);
    bool more = t->kind == 'u' ? a > b : x > y;
    uint64_t difference = t->kind == 'u' ? a - b : (uint64_t)x - (uint64_t)y;
    return more ? difference : -difference;
}

/* |a - b|; exact for whole numbers up to 2^53 */
static double distance(const struct value_type *t, uint64_t a, uint64_t b)
{
    if (t->kind != 'f') return (double)value_ulps(t, a, b);
    double x = value_double(t, a), y = value_double(t, b);
    return x == y ? 0 : fabs(x - y); /* infinities */
}

static bool near(const struct comparison *c, uint64_t got, uint64_t want)
{
    const struct value_type *t = c->type;
    if (value_is_nan(t, got) || value_is_nan(t, want))
        return value_is_nan(t, got) && value_is_nan(t, want);
    if (!c->tolerance.given) return false;
    double off = distance(t, got, want), size = fabs(value_double(t, want));
    return off <= c->tolerance.absolute ||
           (isfinite(size) && off <= c->tolerance.relative * size) ||
           value_ulps(t, got, want) <= c->tolerance.ulp;
}

void compare(struct comparison *c, const unsigned char *got, const unsigned char *want, uint64_t n)
{
    unsigned size = c->type->bytes;
    bool same = memcmp(got, want, n * size) == 0;
    for (uint64_t i = 0; i < n && !same; i++) {
        uint64_t g = value_load(c->type, got + i * size), w = value_load(c->type, want + i * size);
        if (g == w || near(c, g, w)) continue;
        if (c->mismatches < MISMATCHES_SHOWN)
            c->first[c->mismatches] = (struct mismatch){c->count + i, g, w};
        c->mismatches++;
    }
    c->count += n;
}

void mismatch_difference(const struct value_type *t, const struct mismatch *m, struct buf *out)
{
    uint64_t ulps = value_ulps(t, m->got, m->want);
    if (t->kind == 'f') {
        double x = value_double(t, m->got) - value_double(t, m->want);
        if (isnan(x)) buf_puts(out, "nan");
        else buf_printf(out, "%.9g", x);
        return;
    }
    bool less = t->kind == 'u' ? m->got < m->want
                               : value_signed(t, m->got) < value_signed(t, m->want);
    buf_printf(out, "%s%" PRIu64, less ? "-" : "", ulps);
}

void comparison_print(const struct comparison *c, const char *name, struct buf *out)
{
    buf_printf(out, "%s: %" PRIu64 " of %" PRIu64 " element%s %s not as expected\n", name,
               c->mismatches, c->count, c->count == 1 ? "" : "s",
               c->mismatches == 1 ? "is" : "are");
    for (uint64_t i = 0; i < c->mismatches && i < MISMATCHES_SHOWN; i++) {
        const struct mismatch *m = &c->first[i];
        uint64_t ulps = value_ulps(c->type, m->got, m->want);
        buf_printf(out, "  %s[%" PRIu64 "] is ", name, m->index);
        value_print(c->type, m->got, out);
        buf_puts(out, ", expected ");
        value_print(c->type, m->want, out);
        buf_puts(out, " (difference ");
        mismatch_difference(c->type, m, out);
        if (c->type->kind == 'f' && ulps != UINT64_MAX) buf_printf(out, ", %" PRIu64 " ulp", ulps);
        buf_puts(out, ")\n");
    }
    if (c->mismatches > MISMATCHES_SHOWN) buf_puts(out, "  ...\n");
}
