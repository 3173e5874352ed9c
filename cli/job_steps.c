/* The steps of a job file: launches, sets, copies, loops. */
#include "cli/job_file.h"
#include "cli/run_options.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

#include <string.h>

enum { MAX_ARGS = 4096 };

static bool read_step_list(struct job *job, struct yaml *list, struct job_step **out);

static bool read_kernel(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->kernel = s->where = v->text;
    s->kernel_name = job_text(job, v);
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
        if (!job_read_count(job, e, 0, UINT32_MAX, &n)) return false;
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
    bool ok = job_read_count(job, v, 0, 1 << 20, &n);
    ((struct job_step *)to)->shared = (uint32_t)n;
    return ok;
}

static bool truth(struct job *job, const struct yaml *v, bool *out)
{
    *out = piece_is(v->text, "true");
    if (*out || piece_is(v->text, "false")) return true;
    diag_error(job->diags, v->text.at, v->text.length, "%.*s is true or false, not '%.*s'",
               (int)v->key.length, v->key.text, (int)v->text.length, v->text.text);
    return false;
}

static bool read_cooperative(struct job *job, struct yaml *v, void *to)
{
    return truth(job, v, &((struct job_step *)to)->cooperative);
}

/* The name of a buffer, or a number. */
static bool read_arg(struct job *job, struct yaml *v, struct job_arg *out)
{
    if (!job_wants_kind(job, v, YAML_SCALAR, "an argument")) return false;
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
    return job_read_count(job, v, 0, UINT64_MAX / 16, &((struct job_step *)to)->first);
}

static bool read_set_count(struct job *job, struct yaml *v, void *to)
{
    return job_read_count(job, v, 1, UINT64_MAX / 16, &((struct job_step *)to)->count);
}

static bool read_set_fill(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    return s->buffer && job_read_pattern(job, v, s->buffer->type, &s->fill);
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
    return job_read_count(job, v, 0, UINT32_MAX, &s->repeat);
}

static bool read_until_buffer(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    s->until = job_find_buffer(job, v->text);
    return s->until != NULL;
}

static bool read_until_index(struct job *job, struct yaml *v, void *to)
{
    return job_read_count(job, v, 0, UINT64_MAX / 16, &((struct job_step *)to)->until_index);
}

static bool read_until_equals(struct job *job, struct yaml *v, void *to)
{
    struct job_step *s = to;
    if (!s->until) return false;
    if (value_read(s->until->type, v->text.text, v->text.length, &s->until_bits)) return true;
    diag_error(job->diags, v->text.at, v->text.length, "'%.*s' is not a valid %s",
               (int)v->text.length, v->text.text, s->until->type->name);
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
    return job_read_map(job, v, fields, "until", to);
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
    if (!job_wants_kind(job, v, YAML_MAP, "a step")) return false;
    for (size_t i = 0; i < STEP_KINDS; i++)
        for (const struct yaml *k = v->first; k; k = k->next)
            if (piece_is(k->key, step_kinds[i].key)) {
                s->kind = step_kinds[i].kind;
                return job_read_map(job, v, step_kinds[i].fields, step_kinds[i].what, s);
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

bool job_read_steps(struct job *job, struct yaml *v, void *to)
{
    (void)to;
    return read_step_list(job, v, &job->steps);
}
