/* Makes a job from the command line: one kernel file, one launch; and reads the options that apply to any job. */
#include "cli/job.h"
#include "cli/run_options.h"

#include "base/arena.h"
#include "base/diag.h"

#include <ctype.h>
#include <string.h>

/* "NAME=" before an argument; returns its length with the '=', 0: there is none. */
static uint32_t name_length(struct piece p)
{
    uint32_t n = 0;
    while (n < p.length && (isalnum((unsigned char)p.text[n]) || p.text[n] == '_')) n++;
    return n && n < p.length && p.text[n] == '=' && !isdigit((unsigned char)*p.text) ? n + 1 : 0;
}

/* TYPE[COUNT] or TYPE[COUNT]=PATTERN; TYPE[]=PATTERN where the pattern has a count of its own. */
static struct job_buffer *read_buffer(struct job *job, struct piece p)
{
    struct diags *d = job->diags;
    struct job_buffer *b = job_add_buffer(job);
    const char *open = memchr(p.text, '[', p.length), *close = memchr(p.text, ']', p.length);
    b->label = arena_copy(job->arena, p.text, p.length);
    b->where = p;
    b->filled = true;
    uint32_t after = close ? (uint32_t)(close - p.text) + 1 : 0;
    if (!open || !close || close < open || (after < p.length && close[1] != '=')) {
        diag_error(d, p.at, p.length, "a buffer is TYPE[COUNT] or TYPE[COUNT]=PATTERN, not '%.*s'",
                   (int)p.length, p.text);
        return NULL;
    }
    uint32_t n = (uint32_t)(open - p.text);
    b->type = value_type_find(p.text, n);
    if (!b->type) {
        diag_error(d, p.at, n, "'%.*s' is not a type: %s", (int)n, p.text, value_type_names());
        return NULL;
    }
    struct piece count = {open + 1, (uint32_t)(close - open) - 1, p.at + n + 1};
    if (count.length &&
        (!number_read(d, "a buffer", count, UINT64_MAX / 16, &b->count) || !b->count)) {
        if (!d->errors) diag_error(d, count.at, count.length, "a buffer has at least one element");
        return NULL;
    }
    if (after < p.length) {
        struct piece pattern = {close + 2, p.length - after - 1, p.at + after + 1};
        if (!pattern_read(d, job->folder, b->type, pattern, &b->fill)) return NULL;
    } else b->fill = (struct pattern){.kind = PATTERN_ZERO, .where = p};
    return b;
}

static bool read_arg(struct job *job, struct piece p, size_t number, struct job_arg *arg)
{
    struct piece whole = p;
    uint32_t named = name_length(p);
    const char *position = arena_printf(job->arena, "%zu", number);
    const char *name = named ? arena_copy(job->arena, p.text, named - 1) : position;
    for (size_t i = 0; named && i < job->buffer_count; i++)
        if (job->buffers[i]->name && strcmp(job->buffers[i]->name, name) == 0) {
            diag_error(job->diags, p.at, named - 1, "there are two buffers '%s'", name);
            return false;
        }
    p = (struct piece){p.text + named, p.length - named, p.at + named};
    if (p.length >= 4 && memcmp(p.text, "buf:", 4) == 0) {
        p = (struct piece){p.text + 4, p.length - 4, p.at + 4};
        struct job_buffer *b = read_buffer(job, p);
        if (!b) return false;
        b->name = name;
        b->number = position;
        if (named) b->label = name;
        *arg = (struct job_arg){.buffer = b, .where = whole};
        return true;
    }
    if (!named && job_read_number(job, p, arg)) return true;
    if (named) diag_error(job->diags, whole.at, named, "only buffers (buf:...) have names");
    diag_note(job->diags, p.at, p.length,
              "an argument is NUMBER, TYPE:NUMBER or buf:TYPE[COUNT]=PATTERN");
    return false;
}

bool job_of_options(struct job *job, const struct run_options *o)
{
    struct job_step *s = arena_array(job->arena, struct job_step, 1);
    struct job_module *m = job_add_module(job);
    m->path = arena_copy(job->arena, o->target.text, o->target.length);
    m->where = o->target;
    m->ready = o->module;
    *s = (struct job_step){.where = o->target, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    s->args = arena_array(job->arena, struct job_arg, o->count);
    job->steps = s;
    bool ok = true;
    for (size_t i = 0; i < o->count; i++) {
        struct piece v = o->list[i].value;
        uint64_t n = 0;
        switch (o->list[i].id) {
        case OPTION_KERNEL:
            s->kernel = v;
            s->kernel_name = arena_copy(job->arena, v.text, v.length);
            break;
        case OPTION_GRID: ok &= dimensions_read(job->diags, v, s->grid); break;
        case OPTION_BLOCK: ok &= dimensions_read(job->diags, v, s->block); break;
        case OPTION_CLUSTER: ok &= dimensions_read(job->diags, v, s->cluster); break;
        case OPTION_SHARED:
            ok &= number_read(job->diags, "--shared", v, 1 << 20, &n);
            s->shared = (uint32_t)n;
            break;
        case OPTION_COOPERATIVE: s->cooperative = true; break;
        case OPTION_ARG:
            ok &= read_arg(job, v, s->arg_count + 1, &s->args[s->arg_count]);
            s->arg_count++;
            break;
        default: break;
        }
    }
    return ok;
}

/* "BUFFER=REST" */
static struct job_buffer *split(struct job *job, const struct run_option *x, const char *what,
                                struct piece *rest)
{
    const char *equals = memchr(x->value.text, '=', x->value.length);
    if (!equals || equals == x->value.text + x->value.length - 1) {
        diag_error(job->diags, x->value.at, x->value.length, "--%.*s wants BUFFER=%s",
                   (int)x->name.length, x->name.text, what);
        return NULL;
    }
    uint32_t n = (uint32_t)(equals - x->value.text);
    *rest = (struct piece){equals + 1, x->value.length - n - 1, x->value.at + n + 1};
    struct job_buffer *b = job_find_buffer(job, (struct piece){x->value.text, n, x->value.at});
    if (!b && !job->from_file)
        diag_note(
            job->diags, x->value.at, n,
            "a buffer is named as in --arg NAME=buf:..., or by its number among the arguments, from 1");
    return b;
}

bool job_add_results(struct job *job, const struct run_options *o)
{
    struct tolerance tolerance = {0};
    const struct run_option *t = run_option_find(o, OPTION_TOLERANCE);
    if (t && !tolerance_read(job->diags, t->value, &tolerance)) return false;
    bool ok = true, expects = false;
    for (size_t i = 0; i < o->count; i++) {
        const struct run_option *x = &o->list[i];
        struct piece rest;
        if (x->id != OPTION_EXPECT && x->id != OPTION_DUMP) continue;
        struct job_buffer *b = split(job, x, x->id == OPTION_DUMP ? "FILE" : "PATTERN", &rest);
        ok &= b != NULL;
        if (b && x->id == OPTION_DUMP)
            *job_add_dump(job) = (struct job_dump){
                b, arena_copy(job->arena, rest.text, rest.length), x->value, job->diags};
        if (x->id == OPTION_DUMP) continue;
        expects = true;
        if (!b) continue;
        struct job_expectation *e = job_add_expectation(job);
        *e = (struct job_expectation){
            .buffer = b, .tolerance = tolerance, .where = x->value, .diags = job->diags};
        if (rest.length > 8 && memcmp(rest.text, "digest(", 7) == 0 &&
            rest.text[rest.length - 1] == ')') {
            struct piece p = {rest.text + 7, rest.length - 8, rest.at + 7};
            e->by_digest = true;
            ok &= number_read(job->diags, "digest", p, UINT64_MAX, &e->digest);
        } else ok &= pattern_read(job->diags, "", b->type, rest, &e->pattern);
    }
    if (t && !expects) {
        diag_error(job->diags, t->name.at, t->name.length, "--tolerance needs --expect");
        ok = false;
    }
    return ok;
}
