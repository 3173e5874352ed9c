#define _POSIX_C_SOURCE 200809L /* strdup */
#include "cli/json.h"

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
