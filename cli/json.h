/* cli/json.h: JSON values from arbitrary text and numbers. */
#ifndef HEDDLE_CLI_JSON_H
#define HEDDLE_CLI_JSON_H

#include "base/value.h"

#include <jansson.h>

/* A JSON string. If the text is not UTF-8 (a file name, for example), its bytes above 127 become
 * '?'. */
json_t *json_text(const char *text);
/* The same for bytes that may contain NULs. */
json_t *json_bytes(const char *bytes, size_t size);

/* A number. Numbers that JSON does not have become strings: "nan", "inf", whole numbers above 2^63. */
json_t *json_value(const struct value_type *t, uint64_t bits);

json_t *json_count(uint64_t n);
json_t *json_hex(uint64_t n); /* "0x00000000000000ff": digests, addresses */

#endif
