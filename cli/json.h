/* cli/json.h: text of unknown origin in JSON documents. */
#ifndef HEDDLE_CLI_JSON_H
#define HEDDLE_CLI_JSON_H

#include <jansson.h>

/* A JSON string; what is no UTF-8, a file's name perhaps, comes out with '?' in place of its bytes
 * above 127. */
json_t *json_text(const char *text);

#endif
