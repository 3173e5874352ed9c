#include "model/key_table.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/decimal.h"
#include "base/diag.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double get_value(const void *from, const struct table_key *k)
{
    const char *at = (const char *)from + k->offset;
    if (k->kind == KEY_NUMBER) return *(const double *)(const void *)at;
    return k->kind == KEY_COUNT ? *(const uint32_t *)(const void *)at
                                : *(const bool *)(const void *)at;
}

static void put_value(void *to, const struct table_key *k, double value)
{
    char *at = (char *)to + k->offset;
    if (k->kind == KEY_NUMBER) *(double *)(void *)at = value;
    else if (k->kind == KEY_COUNT) *(uint32_t *)(void *)at = (uint32_t)value;
    else *(bool *)(void *)at = value > 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

const char *key_table_text(const struct key_reader *r, struct yaml_piece p)
{
    return arena_copy(r->diags->arena, p.text, p.length);
}

static bool read_value(const struct key_reader *r, const struct table_key *k, struct yaml_piece p,
                       double *out)
{
    const char *text = key_table_text(r, p);
    char *end;
    if (k->kind == KEY_FLAG) {
        *out = strcmp(text, "yes") == 0;
        if (*out > 0 || strcmp(text, "no") == 0) return true;
        diag_error(r->diags, p.at, p.length, "%s is yes or no, not '%s'", k->name, text);
        return false;
    }
    *out = decimal_read(text, &end);
    if (end == text || *end || !isfinite(*out) || strpbrk(text, "xX")) {
        diag_error(r->diags, p.at, p.length, "%s is a finite number, not '%s'", k->name, text);
        return false;
    }
    if (*out < k->least || *out > k->most || (k->kind == KEY_COUNT && *out != floor(*out))) {
        diag_error(r->diags, p.at, p.length, "%s is %s from %g to %g, not %s", k->name,
                   k->kind == KEY_COUNT ? "a whole number" : "a number", k->least, k->most, text);
        return false;
    }
    return true;
}

static void unknown_key(const struct key_reader *r, struct yaml_piece p, const char *name)
{
    struct text_nearest n = {.text = name, .length = strlen(name)};
    bool section = false;
    for (size_t i = 0; i < r->count; i++) {
        if (strcmp(r->keys[i].section, r->section) != 0) continue;
        section = true;
        text_nearest_try(&n, r->keys[i].name);
    }
    if (!section && !*r->section) diag_error(r->diags, p.at, p.length, "'%s' is no key", name);
    else if (!section) diag_error(r->diags, p.at, p.length, "'%s' is no section", r->section);
    else diag_error(r->diags, p.at, p.length, "'%s' is no key of %s", name, r->section);
    if (n.best) diag_note(r->diags, p.at, p.length, "did you mean '%s'?", n.best);
}

void key_table_value(struct key_reader *r, struct yaml_piece key, struct yaml_piece value)
{
    const char *name = key_table_text(r, key);
    double x;
    size_t i = 0;
    while (i < r->count &&
           (strcmp(r->keys[i].section, r->section) != 0 || strcmp(r->keys[i].name, name) != 0))
        i++;
    if (i == r->count) unknown_key(r, key, name);
    else if (r->seen[i]) diag_error(r->diags, key.at, key.length, "'%s' is here twice", name);
    else if (read_value(r, &r->keys[i], value, &x)) {
        r->seen[i] = true;
        put_value(r->out, &r->keys[i], x);
    }
}

void key_table_section(struct key_reader *r, struct yaml_piece key, struct yaml_piece value)
{
    const char *name = key_table_text(r, key);
    r->section[0] = 0;
    if (value.length) unknown_key(r, key, name);
    else if (key.length < sizeof r->section) memcpy(r->section, name, key.length + 1);
    else diag_error(r->diags, key.at, key.length, "'%s' is no section", name);
}

void key_table_complete(struct key_reader *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (!r->seen[i])
            diag_error(r->diags, r->diags->source->length, 0, "there is no %s in %s",
                       r->keys[i].name, r->keys[i].section);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

void key_table_write(struct buf *out, const struct table_key *keys, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        const struct table_key *k = &keys[i];
        if (!i || strcmp(k->section, keys[i - 1].section) != 0)
            buf_printf(out, "\n%s:\n", k->section);
        const double value = get_value(from, k);
        if (k->kind == KEY_FLAG) buf_printf(out, "  %s: %s", k->name, value > 0 ? "yes" : "no");
        else buf_printf(out, "  %s: %.5g", k->name, value);
        buf_printf(out, "%s%s\n", *k->text ? " # " : "", k->text);
    }
}
