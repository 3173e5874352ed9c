#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/json.h"

#include "base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    if (string) return string;
    char *copy = strdup(text);
    for (char *p = copy; p && *p; p++)
        if ((unsigned char)*p > 127) *p = '?';
    string = json_string(copy ? copy : "");
    free(copy);
    return string;
}

json_t *json_value(const struct value_type *t, uint64_t bits)
{
    if (t->kind == 'f' && isfinite(value_double(t, bits))) return json_real(value_double(t, bits));
    if (t->kind == 's') return json_integer(value_signed(t, bits));
    if (t->kind == 'u' && bits <= INT64_MAX) return json_integer((json_int_t)bits);
    struct buf b = {0};
    value_print(t, bits, &b);
    json_t *text = json_string(b.data);
    buf_free(&b);
    return text;
}

json_t *json_count(uint64_t n)
{
    return json_integer((json_int_t)n);
}

json_t *json_hex(uint64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "0x%016" PRIx64, n);
    return json_string(text);
}
