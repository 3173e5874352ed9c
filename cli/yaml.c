#include "cli/yaml.h"

#include "base/arena.h"
#include "base/diag.h"

#include <libfyaml.h>
#include <string.h>

enum { MAX_NESTING = 32, MAX_KEYS = 1000 };

struct reader {
    struct diags *diags;
    struct yaml *open[MAX_NESTING + 1]; /* lists and maps around */
    int depth;
    struct piece key; /* of the next value in a map; text NULL: a key is to come */
    struct yaml *root;
};

static struct piece piece_of(struct reader *r, struct fy_token *t)
{
    const struct source *s = r->diags->source;
    const struct fy_mark *from = t ? fy_token_start_mark(t) : NULL;
    const struct fy_mark *to = t ? fy_token_end_mark(t) : NULL;
    size_t at = from && from->input_pos < s->length ? from->input_pos : s->length;
    size_t end = to && to->input_pos >= at && to->input_pos <= s->length ? to->input_pos : at;
    return (struct piece){s->text + at, (uint32_t)(end - at), (uint32_t)at};
}

/* The value of a scalar; its place without the quotes. */
static struct piece scalar_of(struct reader *r, struct fy_token *t)
{
    struct piece p = piece_of(r, t);
    size_t n = 0;
    const char *text = fy_token_get_text(t, &n);
    if (p.length == n + 2 && (*p.text == '\'' || *p.text == '"')) p.at++, p.length -= 2;
    p.text = arena_copy(r->diags->arena, text ? text : "", text ? n : 0);
    if (n < p.length || fy_token_scalar_style(t) == FYSS_PLAIN) p.length = (uint32_t)n;
    return p;
}

static bool error(struct reader *r, struct piece p, const char *text)
{
    diag_error(r->diags, p.at, p.length, "%s", text);
    return false;
}

static bool add(struct reader *r, struct yaml *v)
{
    struct yaml *in = r->depth ? r->open[r->depth - 1] : NULL;
    if (!in) {
        r->root = v;
        return true;
    }
    if (in->kind == YAML_MAP) {
        v->key = r->key;
        r->key.text = NULL;
    }
    *(in->first ? &in->last->next : &in->first) = v;
    in->last = v;
    in->count++;
    return true;
}

static bool add_key(struct reader *r, struct piece key)
{
    const struct yaml *map = r->open[r->depth - 1];
    if (map->count >= MAX_KEYS) return error(r, key, "too many keys: a map has at most 1000");
    for (const struct yaml *v = map->first; v; v = v->next)
        if (v->key.length == key.length && memcmp(v->key.text, key.text, key.length) == 0) {
            diag_error(r->diags, key.at, key.length, "'%.*s' is here twice", (int)key.length,
                       key.text);
            diag_note(r->diags, v->key.at, v->key.length, "it is here first");
            return false;
        }
    r->key = key;
    return true;
}

static bool wants_key(const struct reader *r)
{
    const struct yaml *in = r->depth ? r->open[r->depth - 1] : NULL;
    return in && in->kind == YAML_MAP && !r->key.text;
}

static bool begin(struct reader *r, enum yaml_kind kind, struct fy_token *t)
{
    struct piece p = piece_of(r, t);
    if (wants_key(r)) return error(r, p, "a key is a word");
    if (r->depth == MAX_NESTING) return error(r, p, "nested too deeply");
    struct yaml *v = arena_array(r->diags->arena, struct yaml, 1);
    v->kind = kind;
    v->text = p;
    if (p.length > 1) v->text.length = 1; /* its first character */
    add(r, v);
    r->open[r->depth++] = v;
    return true;
}

static bool take_scalar(struct reader *r, struct fy_token *t)
{
    struct piece p = scalar_of(r, t);
    if (wants_key(r)) return add_key(r, p);
    struct yaml *v = arena_array(r->diags->arena, struct yaml, 1);
    v->text = p;
    return add(r, v);
}

/* Anchors and tags. */
static bool bare(struct reader *r, struct fy_token *anchor, struct fy_token *tag)
{
    if (!anchor && !tag) return true;
    return error(r, piece_of(r, anchor ? anchor : tag),
                 anchor ? "job files have no anchors and aliases" : "job files have no tags");
}

static bool take(struct reader *r, struct fy_event *e)
{
    switch (e->type) {
    case FYET_DOCUMENT_START:
        return !r->root || error(r, piece_of(r, e->document_start.document_start),
                                 "a second document: a job file is one");
    case FYET_MAPPING_START:
        return bare(r, e->mapping_start.anchor, e->mapping_start.tag) &&
               begin(r, YAML_MAP, e->mapping_start.mapping_start);
    case FYET_SEQUENCE_START:
        return bare(r, e->sequence_start.anchor, e->sequence_start.tag) &&
               begin(r, YAML_LIST, e->sequence_start.sequence_start);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: r->depth--; return true;
    case FYET_SCALAR:
        return bare(r, e->scalar.anchor, e->scalar.tag) && take_scalar(r, e->scalar.value);
    case FYET_ALIAS: return bare(r, e->alias.anchor, NULL);
    default: return true;
    }
}

static void no_output(struct fy_diag *diag, void *user, const char *text, size_t length)
{
    (void)diag, (void)user, (void)text, (void)length;
}

/* What libfyaml has to say, at its place. */
static void report(struct diags *d, struct fy_diag *diag)
{
    void *at = NULL;
    const struct source *s = d->source;
    for (const struct fy_diag_error *e; !d->errors && (e = fy_diag_errors_iterate(diag, &at));) {
        size_t from = 0;
        for (int line = 1; line < e->line && from < s->length; line++) {
            const char *end = memchr(s->text + from, '\n', s->length - from);
            from = end ? (size_t)(end - s->text) + 1 : s->length;
        }
        from += e->column > 1 ? (size_t)e->column - 1 : 0;
        if (from > s->length) from = s->length;
        diag_error(d, (uint32_t)from, 1, "no YAML: %.200s", e->msg ? e->msg : "cannot be read");
    }
    if (!d->errors) diag_error(d, 0, 0, "no YAML");
}

/* The bytes of the UTF-8 character at p, 0: it is none. */
static size_t character(const unsigned char *p, const unsigned char *end)
{
    size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    if ((size_t)(end - p) < n) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
        (*p == 0xf4 && p[1] > 0x8f))
        return 0; /* overlong, surrogates, beyond the last */
    return n;
}

/* What libfyaml 0.7 is not given: it does not come to an end on some directives. */
static bool is_text(struct diags *d)
{
    const unsigned char *from = (const unsigned char *)d->source->text;
    const unsigned char *end = from + d->source->length;
    for (const unsigned char *p = from; p < end;) {
        size_t n = character(p, end);
        bool control = (*p < ' ' && *p != '\t' && *p != '\n' && *p != '\r') || *p == 127;
        bool directive = *p == '%' && (p == from || p[-1] == '\n' || p[-1] == '\r');
        if (!n || control || directive) {
            diag_error(d, (uint32_t)(p - from), 1,
                       !n        ? "this is no UTF-8"
                       : control ? "a control character"
                                 : "job files have no directives");
            return false;
        }
        p += n;
    }
    return true;
}

struct yaml *yaml_read(struct diags *d)
{
    if (!is_text(d)) return NULL;
    struct reader r = {.diags = d};
    struct fy_diag_cfg quiet = {.output_fn = no_output, .level = FYET_ERROR, .module_mask = ~0u};
    struct fy_diag *diag = fy_diag_create(&quiet);
    struct fy_parse_cfg config = {.flags = FYPCF_DEFAULT_PARSE | FYPCF_JSON_NONE, .diag = diag};
    if (diag) fy_diag_set_collect_errors(diag, true);
    struct fy_parser *p = diag ? fy_parser_create(&config) : NULL;
    bool ok = p && fy_parser_set_string(p, d->source->text, d->source->length) == 0, ended = false;
    while (ok && !ended) {
        struct fy_event *e = fy_parser_parse(p);
        if (!e) break;
        ended = e->type == FYET_STREAM_END;
        ok = take(&r, e);
        fy_parser_event_free(p, e);
    }
    if (!d->errors && !ended) report(d, diag);
    if (p) fy_parser_destroy(p);
    if (diag) fy_diag_destroy(diag);
    if (!d->errors && !r.root) diag_error(d, 0, 0, "there is nothing in this file");
    return d->errors ? NULL : r.root;
}
