/* model/plain_yaml.h: reads the YAML subset of the files of GPUs, timings and weights, line by line.
 *
 *     struct yaml_line l;
 *     for (uint32_t at = 0; plain_yaml_next(d, &at, &l);)
 *         if (l.indent) take_value(section, l.key, l.value);
 *
 * The subset has `section:` and `key: value`, each on a line of its own, indented by spaces, and comments. Values may
 * be quoted. Everything else is an error with its place.
 *
 * There are two readers of YAML in this tree, for two kinds of file. Job files (cli/yaml.h) are written by users,
 * nest lists and maps, and are read by the command line alone, through libfyaml. The files here are tables of
 * numbers, and the library and the build read them (tools/compile_gpus.c): libheddle must not depend on libfyaml, and
 * a flat table needs no more than this. Each file of this subset is YAML with the same meaning for any YAML reader.
 * */
#ifndef HEDDLE_MODEL_PLAIN_YAML_H
#define HEDDLE_MODEL_PLAIN_YAML_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct diags;
struct source;

struct yaml_piece { /* a piece of the file's text */
    const char *text;
    uint32_t length, at;
};
struct yaml_line {
    struct yaml_piece key, value; /* value.length 0: no value */
    uint32_t indent;              /* number of spaces before the key */
};

/* Reads the next line with a key from offset *at on. Lines that are not in the subset become errors and are skipped. false:
 * the diags' source ends, or the diags are full. */
bool plain_yaml_next(struct diags *d, uint32_t *at, struct yaml_line *out);

/* Loads a file of at most 1 MB into the arena. NULL: `why` has the error, as one line. */
const struct source *plain_yaml_load(const char *path, struct arena *a, struct buf *why);

#endif
