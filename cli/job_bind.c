/* Finds the kernels of a job's launches in the modules, and checks and computes their arguments. */
#include "cli/job.h"

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

#include <inttypes.h>
#include <string.h>

struct binding {
    struct job *job;
    struct heddle_device *device;
    struct heddle_module **modules;
    unsigned errors;
};

static void no_kernel(struct binding *b, const struct job_step *s)
{
    struct piece at = s->kernel.text ? s->kernel : s->where;
    struct text_nearest near = {.text = s->kernel.text, .length = s->kernel.length};
    const char *names = "";
    size_t kernels = 0;
    for (size_t m = 0; m < b->job->module_count; m++)
        for (size_t i = 0; i < heddle_module_function_count(b->modules[m]); i++) {
            struct heddle_function f = heddle_module_function(b->modules[m], i);
            if (!f.is_kernel || !f.is_defined) continue;
            if (near.length) text_nearest_try(&near, f.name);
            if (kernels++ < 8)
                names = arena_printf(b->job->arena, "%s%s %s", names, *names ? "," : "", f.name);
        }
    const char *where = b->job->module_count == 1 ? "the module has" : "the modules have";
    if (s->kernel.text)
        diag_error(b->job->diags, at.at, at.length, "%s no kernel '%.*s'", where, (int)at.length,
                   at.text);
    else if (kernels)
        diag_error(b->job->diags, at.at, at.length, "%s %zu kernels: say which, with --kernel",
                   where, kernels);
    else diag_error(b->job->diags, at.at, at.length, "%s no kernel", where);
    if (near.best) diag_note(b->job->diags, at.at, at.length, "did you mean '%s'?", near.best);
    else if (kernels)
        diag_note(b->job->diags, at.at, at.length, "there %s%s%s", kernels == 1 ? "is" : "are",
                  names, kernels > 8 ? ", ..." : "");
}

/* The name of the step's kernel; NULL: none is called so, or none was named and there are several. */
static const char *kernel_name(struct binding *b, const struct job_step *s)
{
    const char *only = NULL;
    size_t kernels = 0;
    if (s->kernel.text)
        return heddle_device_param_count(b->device, s->kernel_name) != SIZE_MAX ? s->kernel_name
                                                                                : NULL;
    for (size_t m = 0; m < b->job->module_count; m++)
        for (size_t i = 0; i < heddle_module_function_count(b->modules[m]); i++) {
            struct heddle_function f = heddle_module_function(b->modules[m], i);
            if (!f.is_kernel || !f.is_defined) continue;
            kernels++;
            only = f.name;
        }
    return kernels == 1 ? only : NULL;
}

static bool bind_arg(struct binding *b, const struct job_step *s, size_t i)
{
    const struct job_arg *a = &s->args[i];
    uint32_t size = heddle_device_param_size(b->device, s->kernel_name, i);
    struct diags *d = b->job->diags;
    if (size > 8) {
        diag_error(d, a->where.at, a->where.length,
                   "parameter %zu of '%s' is a struct of %u bytes; arguments have at most 8", i + 1,
                   s->kernel_name, size);
        return false;
    }
    if (a->buffer) {
        s->bits[i] = a->buffer->address;
        if (size == 8 || (size == 4 && heddle_module_address_size(b->modules[0]) == 32))
            return true;
        diag_error(d, a->where.at, a->where.length,
                   "parameter %zu of '%s' has %u bytes; the address of a buffer has 8", i + 1,
                   s->kernel_name, size);
        return false;
    }
    if (a->type && a->type->bytes != size) {
        diag_error(d, a->where.at, a->where.length,
                   "parameter %zu of '%s' has %u byte%s, a %s has %u", i + 1, s->kernel_name, size,
                   size == 1 ? "" : "s", a->type->name, a->type->bytes);
        return false;
    }
    static const char *const unsigned_types[] = {[1] = "u8", [2] = "u16", [4] = "u32", [8] = "u64"};
    const char *name = unsigned_types[size];
    const struct value_type *t = a->type ? a->type
                                 : name  ? value_type_find(name, strlen(name))
                                         : NULL;
    if (t && value_read(t, a->number.text, a->number.length, &s->bits[i])) return true;
    diag_error(d, a->where.at, a->where.length,
               "'%.*s' does not fit parameter %zu of '%s' (%u byte%s)", (int)a->number.length,
               a->number.text, i + 1, s->kernel_name, size, size == 1 ? "" : "s");
    return false;
}

static void bind_launch(struct binding *b, struct job_step *s)
{
    const char *name = kernel_name(b, s);
    if (!name) {
        no_kernel(b, s);
        b->errors++;
        return;
    }
    s->kernel_name = name;
    size_t params = heddle_device_param_count(b->device, name);
    if (params != s->arg_count) {
        diag_error(b->job->diags, s->where.at, s->where.length,
                   "kernel '%s' takes %zu argument%s, not %zu", name, params,
                   params == 1 ? "" : "s", s->arg_count);
        b->errors++;
        return;
    }
    s->bits = arena_array(b->job->arena, uint64_t, params);
    for (size_t i = 0; i < params; i++) b->errors += !bind_arg(b, s, i);
}

static void bind_steps(struct binding *b, struct job_step *s)
{
    for (; s; s = s->next) {
        if (s->kind == JOB_LAUNCH) bind_launch(b, s);
        bind_steps(b, s->body);
    }
}

bool job_bind(struct job *job, struct heddle_device *d, struct heddle_module **modules)
{
    struct binding b = {job, d, modules, 0};
    bind_steps(&b, job->steps);
    return !b.errors;
}
