/* cli/yaml.h: a YAML document as a tree, with the source place of each node.
 *
 *     struct yaml *root = yaml_read(&diags);            // reads the diags' source; NULL after an error
 *     for (struct yaml *v = root->first; v; v = v->next)
 *         printf("%.*s\n", (int)v->key.length, v->key.text);
 *
 * The reader accepts a subset: maps with unique scalar keys, lists, scalars. Aliases, tags and several documents are
 * errors, so that the tree does not grow beyond the size of the text.
 *
 * This reader, which uses libfyaml, reads job files. The files of model/, which the library and the build read as well,
 * have a flat subset and a reader without libfyaml: model/plain_yaml.h. */
#ifndef HEDDLE_CLI_YAML_H
#define HEDDLE_CLI_YAML_H

#include "base/value.h"

struct diags;

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    struct piece text; /* scalar: its value; else only its place */
    struct piece key;  /* the key, if the parent is a map */
    struct yaml *next, *first, *last;
    size_t count; /* list, map: number of elements */
};

struct yaml *yaml_read(struct diags *d);

#endif
