/* model/plain_yaml.h: the part of YAML that the model's files are written in, line by line.
 *
 *     struct yaml_line l;
 *     for (uint32_t at = 0; plain_yaml_next(d, &at, &l);)
 *         if (l.indent) take_value(section, l.key, l.value);
 *
 * There are `section:` and `key: value`, each on a line of its own, indented by spaces, and comments. Values may stand in
 * quotes. */
#ifndef HEDDLE_MODEL_PLAIN_YAML_H
#define HEDDLE_MODEL_PLAIN_YAML_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct diags;
struct source;

struct yaml_piece { /* of the file */
    const char *text;
    uint32_t length, at;
};
struct yaml_line {
    struct yaml_piece key, value; /* value.length 0: there is none */
    uint32_t indent;              /* spaces in front */
};

/* The next line from *at that says something; those that are no such YAML become errors and are skipped. false: the
 * diags' source ends, or the diags are full. */
bool plain_yaml_next(struct diags *d, uint32_t *at, struct yaml_line *out);

/* A file of at most 1 MB, in the arena. NULL: `why` says what is wrong, in a line. */
const struct source *plain_yaml_load(const char *path, struct arena *a, struct buf *why);

#endif
