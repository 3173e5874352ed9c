#include "cli/job.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

#include <string.h>

#define ADD(list) /* a zeroed element at the end of a list of the job */                           \
    (job->list##s = arena_grow(job->arena, job->list##s, job->list##_count, &job->list##_cap,      \
                               job->list##_count + 1, sizeof *job->list##s))

struct job_module *job_add_module(struct job *job)
{
    ADD(module);
    struct job_module *m = &job->modules[job->module_count++];
    *m = (struct job_module){0};
    return m;
}

struct job_buffer *job_add_buffer(struct job *job)
{
    ADD(buffer); /* pointers: others point at a buffer, too */
    return job->buffers[job->buffer_count++] = arena_array(job->arena, struct job_buffer, 1);
}

struct job_expectation *job_add_expectation(struct job *job)
{
    ADD(expectation);
    struct job_expectation *e = &job->expectations[job->expectation_count++];
    *e = (struct job_expectation){.diags = job->diags};
    return e;
}

struct job_dump *job_add_dump(struct job *job)
{
    ADD(dump);
    struct job_dump *d = &job->dumps[job->dump_count++];
    *d = (struct job_dump){.diags = job->diags};
    return d;
}

static bool is(struct piece p, const char *word)
{
    return strlen(word) == p.length && memcmp(p.text, word, p.length) == 0;
}

struct job_buffer *job_find_buffer(struct job *job, struct piece name)
{
    struct text_nearest near = {.text = name.text, .length = name.length};
    for (size_t i = 0; i < job->buffer_count; i++) {
        struct job_buffer *b = job->buffers[i];
        if (is(name, b->name) || (b->number && is(name, b->number))) return b;
        text_nearest_try(&near, b->name);
    }
    diag_error(job->diags, name.at, name.length, "there is no buffer '%.*s'", (int)name.length,
               name.text);
    if (near.best) diag_note(job->diags, name.at, name.length, "did you mean '%s'?", near.best);
    return NULL;
}

bool job_read_number(struct job *job, struct piece text, struct job_arg *arg)
{
    const char *colon = memchr(text.text, ':', text.length);
    uint64_t bits;
    *arg = (struct job_arg){.number = text, .where = text};
    if (!colon) { /* whether it fits its parameter shows later */
        if (value_read(value_type_find("u64", 3), text.text, text.length, &bits)) return true;
        diag_error(job->diags, text.at, text.length, "'%.*s' is not an integer", (int)text.length,
                   text.text);
        diag_note(job->diags, text.at, text.length, "other numbers have a type, as in f32:1.5");
        return false;
    }
    uint32_t n = (uint32_t)(colon - text.text);
    arg->type = value_type_find(text.text, n);
    if (!arg->type) {
        diag_error(job->diags, text.at, n, "'%.*s' is not a type: %s", (int)n, text.text,
                   value_type_names());
        return false;
    }
    arg->number = (struct piece){colon + 1, text.length - n - 1, text.at + n + 1};
    if (value_read(arg->type, arg->number.text, arg->number.length, &bits)) return true;
    diag_error(job->diags, arg->number.at, arg->number.length, "'%.*s' is not a valid %s",
               (int)arg->number.length, arg->number.text, arg->type->name);
    return false;
}
