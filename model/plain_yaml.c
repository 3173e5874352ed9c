#include "model/plain_yaml.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"

#include <errno.h>
#include <string.h>

static bool refuse(struct diags *d, struct yaml_piece p, const char *text)
{
    diag_error(d, p.at, p.length, "%s", text);
    return false;
}

/* Without the quotes around it; an error for what other kinds of YAML values begin with. */
static bool plain(struct diags *d, struct yaml_piece *value)
{
    const char first = value->length ? *value->text : 'a';
    if (first == '\'' || first == '"') {
        if (value->length < 2 || value->text[value->length - 1] != first ||
            memchr(value->text, '\\', value->length) ||
            memchr(value->text + 1, first, value->length - 2))
            return refuse(d, *value, "quotes stand around a value, and not in it");
        *value = (struct yaml_piece){value->text + 1, value->length - 2, value->at + 1};
    } else if (strchr("{[&*!|>%@`", first))
        return refuse(d, *value, "a value is a number, yes, no or a name");
    return true;
}

/* The line without its comment and the spaces around. */
static struct yaml_piece said(struct yaml_piece line)
{
    uint32_t from = 0, to = 0;
    while (from < line.length && line.text[from] == ' ') from++;
    while (to < line.length && !(line.text[to] == '#' && (to == 0 || line.text[to - 1] == ' ' ||
                                                          line.text[to - 1] == '\t')))
        to++;
    while (to > from && strchr(" \t\r", line.text[to - 1])) to--;
    return (struct yaml_piece){line.text + from, to > from ? to - from : 0, line.at + from};
}

/* false: nothing is said, or it is wrong. */
static bool read_line(struct diags *d, struct yaml_piece line, struct yaml_line *out)
{
    const struct yaml_piece s = said(line);
    uint32_t n = 0;
    out->indent = s.at - line.at;
    if (!s.length || (!out->indent && s.length == 3 && memcmp(s.text, "---", 3) == 0)) return false;
    if (*s.text == '\t')
        return refuse(d, (struct yaml_piece){s.text, 1, s.at}, "lines are indented by spaces");
    while (n < s.length && !(s.text[n] == ':' && (n + 1 == s.length || s.text[n + 1] == ' '))) n++;
    if (!n || n == s.length) return refuse(d, s, "a line is 'key: value' or 'section:'");
    out->key = (struct yaml_piece){s.text, n, s.at};
    for (n++; n < s.length && s.text[n] == ' ';) n++;
    out->value = (struct yaml_piece){s.text + n, s.length - n, s.at + n};
    while (out->key.length > 1 && out->key.text[out->key.length - 1] == ' ') out->key.length--;
    return plain(d, &out->value);
}

bool plain_yaml_next(struct diags *d, uint32_t *at, struct yaml_line *out)
{
    const struct source *s = d->source;
    while (*at < s->length && !diags_full(d)) {
        const char *end = memchr(s->text + *at, '\n', s->length - *at);
        const struct yaml_piece line = {
            s->text + *at, end ? (uint32_t)(end - s->text) - *at : s->length - *at, *at};
        *at += line.length + 1;
        if (read_line(d, line, out)) return true;
    }
    return false;
}

const struct source *plain_yaml_load(const char *path, struct arena *a, struct buf *why)
{
    enum { MOST = 1 << 20 };
    struct buf text = {0};
    struct source *s = NULL;
    if (!buf_add_file(&text, path, MOST))
        buf_printf(why, "cannot read '%s': %s\n", path,
                   errno == EFBIG ? "larger than 1 MB" : strerror(errno));
    else {
        s = arena_array(a, struct source, 1);
        *s = (struct source){arena_copy(a, path, strlen(path)),
                             arena_copy(a, text.data ? text.data : "", text.size),
                             (uint32_t)text.size};
    }
    buf_free(&text);
    return s;
}
