#include "cli/json.h"

#include "base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
    return json_bytes(text, strlen(text));
}

json_t *json_bytes(const char *bytes, size_t size)
{
    json_t *string = json_stringn(bytes, size);
    if (string) return string;
    char *copy = malloc(size + 1);
    if (!copy) abort();
    for (size_t i = 0; i < size; i++) copy[i] = (unsigned char)bytes[i] > 127 ? '?' : bytes[i];
    string = json_stringn(copy, size);
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
