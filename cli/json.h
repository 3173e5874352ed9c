/* cli/json.h: text of unknown origin in JSON documents. */
#ifndef HEDDLE_CLI_JSON_H
#define HEDDLE_CLI_JSON_H

#include "base/value.h"

#include <jansson.h>

/* A JSON string; what is no UTF-8, a file's name perhaps, comes out with '?' in place of its bytes
 * above 127. */
json_t *json_text(const char *text);
/* Likewise of bytes, among which there may be NULs. */
json_t *json_bytes(const char *bytes, size_t size);

/* Numbers that JSON does not have are strings: "nan", "inf", whole numbers above 2^63. */
json_t *json_value(const struct value_type *t, uint64_t bits);

json_t *json_count(uint64_t n);
json_t *json_hex(uint64_t n); /* "0x00000000000000ff": digests, addresses */

#endif
