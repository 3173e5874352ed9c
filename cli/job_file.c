/* Reads job files (docs/job-files.md). */
#include "cli/job_file.h"
#include "cli/run_options.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/text.h"
#include "model/gpu_file.h"

#include <string.h>

enum { SCHEMA = 1 };

/* ---- the head ------------------------------------------------------------------------------------ */

static bool read_schema(struct job *job, struct yaml *v, void *to)
{
    uint64_t n;
    (void)to;
    if (!job_read_count(job, v, 0, UINT64_MAX, &n)) return false;
    if (n == SCHEMA) return true;
    diag_error(job->diags, v->text.at, v->text.length, "this heddle reads job files of version %d",
               SCHEMA);
    return false;
}

static bool add_module(struct job *job, struct yaml *v)
{
    if (!job_wants_kind(job, v, YAML_SCALAR, "the path of a module")) return false;
    struct job_module *m = job_add_module(job);
    m->path = job_path(job, v);
    m->where = v->text;
    return true;
}

static bool read_modules(struct job *job, struct yaml *v, void *to)
{
    (void)to;
    if (v->kind != YAML_LIST) return add_module(job, v);
    bool ok = v->first != NULL;
    if (!ok) diag_error(job->diags, v->text.at, v->text.length, "there are no modules");
    for (struct yaml *m = v->first; m; m = m->next) ok &= add_module(job, m);
    return ok;
}

static void unknown_option(struct diags *d, struct piece key)
{
    struct text_nearest near = {.text = key.text, .length = key.length};
    struct buf names = {0};
    const struct setting *s;
    for (size_t i = 0; (s = setting_at(i)); i++) {
        if (!(s->where & SETTING_JOB)) continue;
        text_nearest_try(&near, s->name);
        buf_printf(&names, "%s%s", names.size ? ", " : "", s->name);
    }
    diag_error(d, key.at, key.length, "there is no option '%.*s'", (int)key.length, key.text);
    if (near.best) diag_note(d, key.at, key.length, "did you mean '%s'?", near.best);
    else diag_note(d, key.at, key.length, "%s", names.data);
    buf_free(&names);
}

static bool read_options(struct job *job, struct yaml *v, void *to)
{
    bool ok = true;
    struct piece limit = {0}; /* the key of a limit of files */
    (void)to;
    for (struct yaml *o = v->first; o; o = o->next) {
        struct piece value = o->text;
        const struct setting *setting = setting_find(o->key.text, o->key.length);
        if (!setting || !(setting->where & SETTING_JOB)) {
            unknown_option(job->diags, o->key);
            ok = false;
            continue;
        }
        if (o->kind == YAML_LIST) { /* check: [init, sync] is check: init,sync */
            const char *joined = "";
            for (struct yaml *w = o->first; w && w->kind == YAML_SCALAR; w = w->next)
                joined = arena_printf(job->arena, "%s%s%.*s", joined, *joined ? "," : "",
                                      (int)w->text.length, w->text.text);
            value.text = joined;
            value.length = (uint32_t)strlen(joined);
        } else if (!job_wants_kind(job, o, YAML_SCALAR, "an option")) {
            ok = false;
            continue;
        }
        if (piece_is(o->key, "gpu") &&
            gpu_is_file(arena_copy(job->arena, value.text, value.length))) {
            value.text = job_path(job, o);
            value.length = (uint32_t)strlen(value.text);
        }
        ok &= setting_read(setting, job->diags, value, &job->settings);
        if (piece_is(o->key, "files-bytes")) limit = o->key;
    }
    if (!ok || !limit.length || job->settings.files) return ok;
    diag_error(job->diags, limit.at, limit.length,
               "files-bytes limits what kernels write to files: add files");
    return false;
}

/* ---- buffers ------------------------------------------------------------------------------------- */

static bool read_type(struct job *job, struct yaml *v, void *to)
{
    struct job_buffer *b = to;
    b->type = value_type_find(v->text.text, v->text.length);
    if (b->type) return true;
    diag_error(job->diags, v->text.at, v->text.length, "'%.*s' is not a type: %s",
               (int)v->text.length, v->text.text, value_type_names());
    return false;
}

static bool read_count(struct job *job, struct yaml *v, void *to)
{
    return job_read_count(job, v, 1, UINT64_MAX / 16, &((struct job_buffer *)to)->count);
}

static bool read_variable(struct job *job, struct yaml *v, void *to)
{
    ((struct job_buffer *)to)->variable = job_text(job, v);
    return true;
}

static bool read_fill(struct job *job, struct yaml *v, void *to)
{
    struct job_buffer *b = to;
    b->filled = true;
    return b->type && job_read_pattern(job, v, b->type, &b->fill);
}

static bool read_buffers(struct job *job, struct yaml *v, void *to)
{
    static const struct field fields[] = {
        {"type", YAML_SCALAR, false, true, read_type},
        {"count", YAML_SCALAR, false, false, read_count},
        {"variable", YAML_SCALAR, false, false, read_variable},
        {"fill", YAML_SCALAR, true, false, read_fill},
        {0},
    };
    bool ok = true;
    (void)to;
    for (struct yaml *m = v->first; m; m = m->next) {
        struct job_buffer *b = job_add_buffer(job);
        b->name = b->label = arena_copy(job->arena, m->key.text, m->key.length);
        b->where = m->key;
        b->fill = (struct pattern){.kind = PATTERN_ZERO, .where = m->key};
        if (!job_read_map(job, m, fields, "a buffer", b)) {
            ok = false;
            if (!b->type) b->type = value_type_find("u8", 2); /* so that reading can go on */
        }
        if (!b->variable) b->filled = true;
    }
    return ok;
}

/* ---- results ------------------------------------------------------------------------------------- */

static bool read_is(struct job *job, struct yaml *v, void *to)
{
    struct job_expectation *e = to;
    return job_read_pattern(job, v, e->buffer->type, &e->pattern);
}

static bool read_digest(struct job *job, struct yaml *v, void *to)
{
    struct job_expectation *e = to;
    e->by_digest = true;
    return number_read(job->diags, "digest", v->text, UINT64_MAX, &e->digest);
}

static bool read_tolerance(struct job *job, struct yaml *v, void *to)
{
    struct job_expectation *e = to;
    bool ok = true;
    for (struct yaml *t = v->first; t; t = t->next)
        ok &= job_wants_kind(job, t, YAML_SCALAR, "a tolerance") &&
              tolerance_set(job->diags, t->key, t->text, &e->tolerance);
    return ok;
}

static bool read_expectation(struct job *job, struct yaml *v, struct job_expectation *e)
{
    static const struct field fields[] = {
        {"is", YAML_SCALAR, true, false, read_is},
        {"digest", YAML_SCALAR, false, false, read_digest},
        {"tolerance", YAML_MAP, false, false, read_tolerance},
        {0},
    };
    if (v->kind != YAML_MAP) return read_is(job, v, e);
    if (!job_read_map(job, v, fields, "an expectation", e)) return false;
    bool pattern = e->pattern.where.text != NULL;
    if (pattern != e->by_digest && (pattern || !e->tolerance.given)) return true;
    diag_error(job->diags, v->key.at, v->key.length,
               "an expectation has either 'is', perhaps with a tolerance, or 'digest'");
    return false;
}

static bool read_expect(struct job *job, struct yaml *v, void *to)
{
    bool ok = true;
    (void)to;
    for (struct yaml *x = v->first; x; x = x->next) {
        struct job_expectation e = {
            .buffer = job_find_buffer(job, x->key), .where = x->key, .diags = job->diags};
        if (!e.buffer || !read_expectation(job, x, &e)) ok = false;
        else *job_add_expectation(job) = e;
    }
    return ok;
}

static bool read_dump(struct job *job, struct yaml *v, void *to)
{
    bool ok = true;
    (void)to;
    for (struct yaml *x = v->first; x; x = x->next) {
        struct job_buffer *b = job_find_buffer(job, x->key);
        if (!b || !job_wants_kind(job, x, YAML_SCALAR, "the path of a dump")) ok = false;
        else *job_add_dump(job) = (struct job_dump){b, job_path(job, x), x->text, job->diags};
    }
    return ok;
}

bool job_read(struct job *job)
{
    static const struct field fields[] = {
        {"heddle", YAML_SCALAR, false, true, read_schema},
        {"modules", YAML_SCALAR, true, true, read_modules},
        {"options", YAML_MAP, false, false, read_options},
        {"buffers", YAML_MAP, false, false, read_buffers},
        {"steps", YAML_LIST, false, true, job_read_steps},
        {"expect", YAML_MAP, false, false, read_expect},
        {"dump", YAML_MAP, false, false, read_dump},
        {0},
    };
    job->from_file = true;
    struct yaml *root = yaml_read(job->diags);
    return root && job_read_map(job, root, fields, "a job", NULL) && !job->diags->errors;
}
