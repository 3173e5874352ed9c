/* cli/yaml.h: a YAML document as a tree, with the place of everything in it.
 *
 *     struct yaml *root = yaml_read(&diags);            // of the diags' source; NULL after an error
 *     for (struct yaml *v = root->first; v; v = v->next)
 *         printf("%.*s\n", (int)v->key.length, v->key.text);
 *
 * A plain subset: maps with scalar keys, each once, lists, scalars. Aliases, tags and several documents are
 * errors: nothing here may grow beyond the size of the text.
 *
 * Job files go through this reader and libfyaml. The files of model/, which the library and the build read as well,
 * have a flat subset and a reader without libfyaml: model/plain_yaml.h. */
#ifndef HEDDLE_CLI_YAML_H
#define HEDDLE_CLI_YAML_H

#include "base/value.h"

struct diags;

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml {
    enum yaml_kind kind;
    struct piece text; /* of a scalar its value; else only its place */
    struct piece key;  /* in a map */
    struct yaml *next, *first, *last;
    size_t count; /* of list and map */
};

struct yaml *yaml_read(struct diags *d);

#endif
