/* model/key_table.h: reads and writes a structure as a file of `key: value` lines in sections, by a table of its members.
 *
 *     static const struct table_key keys[] = {
 *         {"machine", "branch", KEY_NUMBER, 0, 1e6, offsetof(struct x, branch), "cycles, after a branch"}, ...};
 *     struct key_reader r = {.diags = d, .keys = keys, .count = KEYS, .seen = seen, .out = &x};
 *     for (uint32_t at = 0; plain_yaml_next(d, &at, &l);)
 *         if (l.indent) key_table_value(&r, l.key, l.value);
 *         else key_table_section(&r, l.key, l.value);
 *     key_table_write(&text, keys, KEYS, &x);
 *
 * Reading is strict: each key is known, appears once, and has a value of its kind in its range. The files of
 * model/timing and model/counters are such structures. */
#ifndef HEDDLE_MODEL_KEY_TABLE_H
#define HEDDLE_MODEL_KEY_TABLE_H

#include "model/plain_yaml.h"

#include <stdbool.h>
#include <stddef.h>

struct table_key {
    const char *section, *name;
    enum key_kind { KEY_NUMBER, KEY_COUNT, KEY_FLAG } kind; /* double, uint32_t, bool */
    double least, most;
    size_t offset; /* offset of the member in the structure */
    const char *text;
};

struct key_reader {
    struct diags *diags;
    const struct table_key *keys;
    size_t count;
    bool *seen; /* for each key: it was read */
    void *out;  /* the structure */
    char section[32];
};

/* Reads a line `section:`. Errors go to the diags. */
void key_table_section(struct key_reader *r, struct yaml_piece key, struct yaml_piece value);

/* Reads a line `key: value` in the current section. Errors go to the diags. */
void key_table_value(struct key_reader *r, struct yaml_piece key, struct yaml_piece value);

/* Reports an error for each key that was not read. */
void key_table_complete(struct key_reader *r);

/* A NUL-terminated copy in the diags' arena. */
const char *key_table_text(const struct key_reader *r, struct yaml_piece p);

/* Writes all sections, in the table's order; the text of each key is a comment behind its value. */
void key_table_write(struct buf *out, const struct table_key *keys, size_t count, const void *from);

#endif
