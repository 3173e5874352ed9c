/* Functions that read any part of a job file (cli/job_file.h). */
#include "cli/job_file.h"
#include "cli/run_options.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

#include <string.h>

bool piece_is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

bool job_wants_kind(struct job *job, const struct yaml *v, enum yaml_kind kind, const char *what)
{
    static const char *const names[] = {"a single value", "a list", "a map"};
    if (v->kind == kind) return true;
    diag_error(job->diags, v->text.at, v->text.length, "%s is %s, not %s", what, names[kind],
               names[v->kind]);
    return false;
}

static void unknown_key(struct job *job, const struct yaml *v, const struct field *fields,
                        const char *where)
{
    struct text_nearest near = {.text = v->key.text, .length = v->key.length};
    const char *list = "";
    for (const struct field *f = fields; f->name; f++) {
        text_nearest_try(&near, f->name);
        list = arena_printf(job->arena, "%s%s%s", list, *list ? ", " : "", f->name);
    }
    diag_error(job->diags, v->key.at, v->key.length, "%s has no key '%.*s'", where,
               (int)v->key.length, v->key.text);
    if (near.best) diag_note(job->diags, v->key.at, v->key.length, "did you mean '%s'?", near.best);
    else diag_note(job->diags, v->key.at, v->key.length, "keys: %s", list);
}

bool job_read_map(struct job *job, struct yaml *map, const struct field *fields, const char *where,
                  void *to)
{
    if (!job_wants_kind(job, map, YAML_MAP, where)) return false;
    bool ok = true;
    for (struct yaml *v = map->first; v; v = v->next) {
        const struct field *f = fields;
        while (f->name && !piece_is(v->key, f->name)) f++;
        if (!f->name) unknown_key(job, v, fields, where);
        ok &= f->name != NULL;
    }
    for (const struct field *f = fields; f->name; f++) {
        struct yaml *v = map->first;
        while (v && !piece_is(v->key, f->name)) v = v->next;
        if (v) {
            ok &= (f->any_kind || job_wants_kind(job, v, f->kind, f->name)) && f->read(job, v, to);
        } else if (f->needed && ok) { /* else it may be what a wrong key was meant to be */
            diag_error(job->diags, map->text.at, map->text.length, "%s has no '%s'", where,
                       f->name);
            ok = false;
        }
    }
    return ok;
}

const char *job_text(struct job *job, const struct yaml *v)
{
    return arena_copy(job->arena, v->text.text, v->text.length);
}

const char *job_path(struct job *job, const struct yaml *v)
{
    const char *text = job_text(job, v);
    return *text == '/' ? text : arena_printf(job->arena, "%s%s", job->folder, text);
}

bool job_read_count(struct job *job, const struct yaml *v, uint64_t least, uint64_t most,
                    uint64_t *out)
{
    const char *name = arena_copy(job->arena, v->key.text ? v->key.text : "a size",
                                  v->key.text ? v->key.length : 6);
    if (!job_wants_kind(job, v, YAML_SCALAR, name) ||
        !number_read(job->diags, name, v->text, most, out))
        return false;
    if (*out >= least) return true;
    diag_error(job->diags, v->text.at, v->text.length, "%s is at least %u", name, (unsigned)least);
    return false;
}

bool job_read_pattern(struct job *job, struct yaml *v, const struct value_type *t,
                      struct pattern *out)
{
    if (v->kind == YAML_SCALAR) return pattern_read(job->diags, job->folder, t, v->text, out);
    if (!job_wants_kind(job, v, YAML_LIST, "a pattern or list of numbers")) return false;
    *out = (struct pattern){.kind = PATTERN_LIST, .where = v->text};
    for (struct yaml *n = v->first; n; n = n->next)
        if (!job_wants_kind(job, n, YAML_SCALAR, "a number") ||
            !pattern_add(job->diags, t, n->text, out))
            return false;
    return true;
}
