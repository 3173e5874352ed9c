/* Job files: what docs/job-files.md says, as a job. */
#include "cli/job.h"
#include "cli/run_options.h"
#include "cli/yaml.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

#include <string.h>

enum { SCHEMA = 1, MAX_ARGS = 4096 };

/* A key of a map, and what to do with its value. */
struct field {
    const char *name;
    enum yaml_kind kind;
    bool any_kind; /* read() looks itself */
    bool needed;
    bool (*read)(struct job *job, struct yaml *v, void *to);
};

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

static bool is_kind(struct job *job, const struct yaml *v, enum yaml_kind kind, const char *what)
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

/* Reads a map by its fields (a list that ends with a NULL name), in the order of the fields; all mistakes
 * are told. */
static bool read_map(struct job *job, struct yaml *map, const struct field *fields,
                     const char *where, void *to)
{
    if (!is_kind(job, map, YAML_MAP, where)) return false;
    bool ok = true;
    for (struct yaml *v = map->first; v; v = v->next) {
        const struct field *f = fields;
        while (f->name && !is(v->key, f->name)) f++;
        if (!f->name) unknown_key(job, v, fields, where);
        ok &= f->name != NULL;
    }
    for (const struct field *f = fields; f->name; f++) {
        struct yaml *v = map->first;
        while (v && !is(v->key, f->name)) v = v->next;
        if (v) {
            ok &= (f->any_kind || is_kind(job, v, f->kind, f->name)) && f->read(job, v, to);
        } else if (f->needed && ok) { /* else it may be what a wrong key was meant to be */
            diag_error(job->diags, map->text.at, map->text.length, "%s has no '%s'", where,
                       f->name);
            ok = false;
        }
    }
    return ok;
}

static const char *text_of(struct job *job, const struct yaml *v)
{
    return arena_copy(job->arena, v->text.text, v->text.length);
}

static const char *path_of(struct job *job, const struct yaml *v)
{
    const char *text = text_of(job, v);
    return *text == '/' ? text : arena_printf(job->arena, "%s%s", job->folder, text);
}

static bool number(struct job *job, const struct yaml *v, uint64_t least, uint64_t most,
                   uint64_t *out)
{
    const char *name = arena_copy(job->arena, v->key.text ? v->key.text : "a size",
                                  v->key.text ? v->key.length : 6);
    if (!is_kind(job, v, YAML_SCALAR, name) || !number_read(job->diags, name, v->text, most, out))
        return false;
    if (*out >= least) return true;
    diag_error(job->diags, v->text.at, v->text.length, "%s is at least %u", name, (unsigned)least);
    return false;
}

static bool truth(struct job *job, const struct yaml *v, bool *out)
{
    *out = is(v->text, "true");
    if (*out || is(v->text, "false")) return true;
    diag_error(job->diags, v->text.at, v->text.length, "%.*s is true or false, not '%.*s'",
               (int)v->key.length, v->key.text, (int)v->text.length, v->text.text);
    return false;
}

/* ---- the head ------------------------------------------------------------------------------------ */

static bool read_schema(struct job *job, struct yaml *v, void *to)
{
    uint64_t n;
    (void)to;
    if (!number(job, v, 0, UINT64_MAX, &n)) return false;
    if (n == SCHEMA) return true;
    diag_error(job->diags, v->text.at, v->text.length, "this heddle reads job files of version %d",
               SCHEMA);
    return false;
}

static bool add_module(struct job *job, struct yaml *v)
{
    if (!is_kind(job, v, YAML_SCALAR, "the path of a module")) return false;
    struct job_module *m = job_add_module(job);
    m->path = path_of(job, v);
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

static bool read_options(struct job *job, struct yaml *v, void *to)
{
    static const char *const names[] = {"threads",          "divergence", "check",
                                        "max-instructions", "timeout",    "memory"};
    bool ok = true;
    (void)to;
    for (struct yaml *o = v->first; o; o = o->next) {
        struct piece value = o->text;
        if (!is_device_setting(o->key)) {
            struct text_nearest near = {.text = o->key.text, .length = o->key.length};
            for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                text_nearest_try(&near, names[i]);
            diag_error(job->diags, o->key.at, o->key.length, "there is no option '%.*s'",
                       (int)o->key.length, o->key.text);
            diag_note(job->diags, o->key.at, o->key.length, near.best ? "did you mean '%s'?" : "%s",
                      near.best ? near.best
                                : "threads, divergence, check, max-instructions, timeout, memory");
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
        } else if (!is_kind(job, o, YAML_SCALAR, "an option")) {
            ok = false;
            continue;
        }
        ok &= device_setting(job->diags, &job->device, o->key, value);
    }
    return ok;
}

/* ---- buffers ------------------------------------------------------------------------------------- */

/* A pattern, or a list of numbers. */
static bool read_pattern(struct job *job, struct yaml *v, const struct value_type *t,
                         struct pattern *out)
{
    if (v->kind == YAML_SCALAR) return pattern_read(job->diags, job->folder, t, v->text, out);
    if (!is_kind(job, v, YAML_LIST, "a pattern or list of numbers")) return false;
    *out = (struct pattern){.kind = PATTERN_LIST, .where = v->text};
    for (struct yaml *n = v->first; n; n = n->next)
        if (!is_kind(job, n, YAML_SCALAR, "a number") || !pattern_add(job->diags, t, n->text, out))
            return false;
    return true;
}

static bool read_type(struct job *job, struct yaml *v, void *to)
{
    struct job_buffer *b = to;
    b->type = value_type_find(v->text.text, v->text.length);
    if (b->type) return true;
    diag_error(job->diags, v->text.at, v->text.length, "'%.*s' is no type: %s", (int)v->text.length,
               v->text.text, value_type_names());
    return false;
}

static bool read_count(struct job *job, struct yaml *v, void *to)
{
    return number(job, v, 1, UINT64_MAX / 16, &((struct job_buffer *)to)->count);
}

static bool read_variable(struct job *job, struct yaml *v, void *to)
{
    ((struct job_buffer *)to)->variable = text_of(job, v);
    return true;
}

static bool read_fill(struct job *job, struct yaml *v, void *to)
{
    struct job_buffer *b = to;
    b->filled = true;
    return b->type && read_pattern(job, v, b->type, &b->fill);
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
        if (!read_map(job, m, fields, "a buffer", b)) {
            ok = false;
            if (!b->type) b->type = value_type_find("u8", 2); /* so that reading can go on */
        }
        if (!b->variable) b->filled = true;
    }
    return ok;
}

/* ---- steps --------------------------------------------------------------------------------------- */

static bool read_step_list(struct job *job, struct yaml *list, struct job_step **out);

static bool read_kernel(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->kernel = s->where = v->text;
    s->kernel_name = text_of(job, v);
    return true;
}

static bool dimensions(struct job *job, struct yaml *v, uint32_t out[3])
{
    uint64_t n = 0;
    if (v->kind == YAML_SCALAR) return dimensions_read(job->diags, v->text, out);
    if (v->kind == YAML_MAP || !v->count || v->count > 3) {
        diag_error(job->diags, v->text.at, v->text.length, "a size is X or a list of up to three");
        return false;
    }
    struct yaml *e = v->first;
    out[0] = out[1] = out[2] = 1;
    for (size_t i = 0; i < v->count; i++, e = e->next) {
        if (!number(job, e, 0, UINT32_MAX, &n)) return false;
        out[i] = (uint32_t)n;
    }
    return true;
}

static bool read_grid(struct job *job, struct yaml *v, void *to)
{
    return dimensions(job, v, ((struct job_step *)to)->grid);
}

static bool read_block(struct job *job, struct yaml *v, void *to)
{
    return dimensions(job, v, ((struct job_step *)to)->block);
}

static bool read_cluster(struct job *job, struct yaml *v, void *to)
{
    return dimensions(job, v, ((struct job_step *)to)->cluster);
}

static bool read_shared(struct job *job, struct yaml *v, void *to)
{
    uint64_t n = 0;
    bool ok = number(job, v, 0, 1 << 20, &n);
    ((struct job_step *)to)->shared = (uint32_t)n;
    return ok;
}

static bool read_cooperative(struct job *job, struct yaml *v, void *to)
{
    return truth(job, v, &((struct job_step *)to)->cooperative);
}

/* The name of a buffer, or a number. */
static bool read_arg(struct job *job, struct yaml *v, struct job_arg *out)
{
    if (!is_kind(job, v, YAML_SCALAR, "an argument")) return false;
    if (v->text.length && strchr("+-.0123456789", *v->text.text))
        return job_read_number(job, v->text, out);
    const char *colon = memchr(v->text.text, ':', v->text.length);
    if (colon) return job_read_number(job, v->text, out);
    *out = (struct job_arg){.buffer = job_find_buffer(job, v->text), .where = v->text};
    return out->buffer != NULL;
}

static bool read_args(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    bool ok = v->count <= MAX_ARGS;
    if (!ok) {
        diag_error(job->diags, v->text.at, v->text.length, "too many arguments");
        return false;
    }
    s->args = arena_array(job->arena, struct job_arg, v->count);
    for (struct yaml *a = v->first; a; a = a->next)
        ok &= read_arg(job, a, &s->args[s->arg_count++]);
    return ok;
}

static bool read_set(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->where = v->text;
    s->buffer = job_find_buffer(job, v->text);
    return s->buffer != NULL;
}

static bool read_at(struct job *job, struct yaml *v, void *to)
{
    return number(job, v, 0, UINT64_MAX / 16, &((struct job_step *)to)->first);
}

static bool read_set_count(struct job *job, struct yaml *v, void *to)
{
    return number(job, v, 1, UINT64_MAX / 16, &((struct job_step *)to)->count);
}

static bool read_set_fill(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    return s->buffer && read_pattern(job, v, s->buffer->type, &s->fill);
}

static bool read_copy(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->where = v->text;
    s->from = job_find_buffer(job, v->text);
    return s->from != NULL;
}

static bool read_copy_to(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->buffer = job_find_buffer(job, v->text);
    return s->buffer != NULL;
}

static bool read_repeat(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->where = v->text;
    return number(job, v, 0, UINT32_MAX, &s->repeat);
}

static bool read_until_buffer(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->until = job_find_buffer(job, v->text);
    return s->until != NULL;
}

static bool read_until_index(struct job *job, struct yaml *v, void *to)
{
    return number(job, v, 0, UINT64_MAX / 16, &((struct job_step *)to)->until_index);
}

static bool read_until_equals(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    if (!s->until) return false;
    if (value_read(s->until->type, v->text.text, v->text.length, &s->until_bits)) return true;
    diag_error(job->diags, v->text.at, v->text.length, "'%.*s' is no %s", (int)v->text.length,
               v->text.text, s->until->type->name);
    return false;
}

static bool read_until(struct job *job, struct yaml *v, void *to)
{
    static const struct field fields[] = {
        {"buffer", YAML_SCALAR, false, true, read_until_buffer},
        {"index", YAML_SCALAR, false, false, read_until_index},
        {"equals", YAML_SCALAR, false, true, read_until_equals},
        {0},
    };
    return read_map(job, v, fields, "until", to);
}

static bool read_body(struct job *job, struct yaml *v, void *to)
{
    return read_step_list(job, v, &((struct job_step *)to)->body);
}

static const struct step_kind {
    const char *key, *what;
    enum job_step_kind kind;
    struct field fields[9];
} step_kinds[] = {
    {"launch",
     "a launch",
     JOB_LAUNCH,
     {{"launch", YAML_SCALAR, false, true, read_kernel},
      {"grid", YAML_SCALAR, true, false, read_grid},
      {"block", YAML_SCALAR, true, false, read_block},
      {"cluster", YAML_SCALAR, true, false, read_cluster},
      {"shared", YAML_SCALAR, false, false, read_shared},
      {"cooperative", YAML_SCALAR, false, false, read_cooperative},
      {"args", YAML_LIST, false, false, read_args},
      {0}}},
    {"set",
     "a set",
     JOB_SET,
     {{"set", YAML_SCALAR, false, true, read_set},
      {"at", YAML_SCALAR, false, false, read_at},
      {"count", YAML_SCALAR, false, false, read_set_count},
      {"fill", YAML_SCALAR, true, true, read_set_fill},
      {0}}},
    {"copy",
     "a copy",
     JOB_COPY,
     {{"copy", YAML_SCALAR, false, true, read_copy},
      {"to", YAML_SCALAR, false, true, read_copy_to},
      {0}}},
    {"repeat",
     "a loop",
     JOB_LOOP,
     {{"repeat", YAML_SCALAR, false, true, read_repeat},
      {"until", YAML_MAP, false, false, read_until},
      {"steps", YAML_LIST, false, true, read_body},
      {0}}},
};
enum { STEP_KINDS = sizeof step_kinds / sizeof *step_kinds };

static bool read_step(struct job *job, struct yaml *v, struct job_step *s)
{
    *s = (struct job_step){.where = v->text, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    if (!is_kind(job, v, YAML_MAP, "a step")) return false;
    for (size_t i = 0; i < STEP_KINDS; i++)
        for (const struct yaml *k = v->first; k; k = k->next)
            if (is(k->key, step_kinds[i].key)) {
                s->kind = step_kinds[i].kind;
                return read_map(job, v, step_kinds[i].fields, step_kinds[i].what, s);
            }
    struct piece at = v->first ? v->first->key : v->text;
    struct text_nearest near = {.text = at.text, .length = at.length};
    for (size_t i = 0; i < STEP_KINDS && v->first; i++) text_nearest_try(&near, step_kinds[i].key);
    diag_error(job->diags, at.at, at.length, "a step is a launch, set, copy or repeat");
    if (near.best) diag_note(job->diags, at.at, at.length, "did you mean '%s'?", near.best);
    return false;
}

static bool read_step_list(struct job *job, struct yaml *list, struct job_step **out)
{
    bool ok = true;
    for (struct yaml *v = list->first; v; v = v->next) {
        struct job_step *s = arena_array(job->arena, struct job_step, 1);
        ok &= read_step(job, v, s);
        *out = s;
        out = &s->next;
    }
    return ok;
}

static bool read_steps(struct job *job, struct yaml *v, void *to)
{
    (void)to;
    return read_step_list(job, v, &job->steps);
}

/* ---- results ------------------------------------------------------------------------------------- */

static bool read_is(struct job *job, struct yaml *v, void *to)
{
    struct job_expectation *e = to;
    return read_pattern(job, v, e->buffer->type, &e->pattern);
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
        ok &= is_kind(job, t, YAML_SCALAR, "a tolerance") &&
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
    if (!read_map(job, v, fields, "an expectation", e)) return false;
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
        if (!b || !is_kind(job, x, YAML_SCALAR, "the path of a dump")) ok = false;
        else *job_add_dump(job) = (struct job_dump){b, path_of(job, x), x->text, job->diags};
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
        {"steps", YAML_LIST, false, true, read_steps},
        {"expect", YAML_MAP, false, false, read_expect},
        {"dump", YAML_MAP, false, false, read_dump},
        {0},
    };
    job->from_file = true;
    struct yaml *root = yaml_read(job->diags);
    return root && read_map(job, root, fields, "a job", NULL) && !job->diags->errors;
}
