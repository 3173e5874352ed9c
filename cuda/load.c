/* Loads modules of PTX from memory or files. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/fatbin.h"
#include "cuda/module_text.h"
#include "cuda/queue.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/link.h"
#include "ptx/ptx.h"
#include "session/event_stream.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void add_functions(struct CUmod_st *m)
{
    static unsigned long long functions; /* that were ever loaded; the lock is held */
    m->function_count = emu_kernel_count(m->image);
    m->functions = arena_array(m->arena, struct CUfunc_st *, m->function_count);
    for (size_t i = 0; i < m->function_count; i++) {
        struct CUfunc_st *f = m->functions[i] = object_new(OBJECT_FUNCTION, sizeof *f);
        f->module = m;
        f->id = ++functions;
        f->kernel = emu_kernel_at(m->image, i);
        f->name = emu_kernel_name(f->kernel);
        f->param_count = emu_param_count(f->kernel);
        f->params = arena_array(m->arena, struct emu_param, f->param_count);
        for (size_t k = 0; k < f->param_count; k++) f->params[k] = emu_param_at(f->kernel, k);
        f->params_size = emu_params_size(f->kernel);
        f->max_dynamic = f->carveout = -1;
    }
}

/* Their trees, one of each; NULL: there are errors. */
static struct ptx_module **parse(const struct module_text *p, struct buf *errors)
{
    struct ptx_module **list = arena_array(p->arena, struct ptx_module *, p->count);
    for (size_t i = 0; i < p->count; i++) {
        struct diags *d = arena_array(p->arena, struct diags, 1);
        *d = (struct diags){.arena = p->arena, .source = p->list[i], .max_errors = 50};
        list[i] = ptx_module_parse(p->arena, p->list[i], d);
        ptx_module_check(list[i]);
        if (d->errors) diags_render(d, errors);
    }
    return list;
}

/* What an H200's driver answers for modules with errors (docs/hardware.md). */
static CUresult rejection(struct ptx_module *const *list, size_t count)
{
    CUresult r = CUDA_ERROR_INVALID_PTX;
    for (size_t i = 0; i < count; i++) {
        if (list[i]->is_no_ptx) return CUDA_ERROR_INVALID_IMAGE;
        if (list[i]->is_too_new) r = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    return r;
}

/* ptxas refuses what is for GPUs that are newer, or (`a`, `f`) for others. For a GPU that is older than all that nvcc 13
 * makes PTX for, what is newer is executed (module_text_add_fatbin). */
static bool is_for(const struct ptx_target *t, unsigned sm)
{
    if (sm < FATBIN_OLDEST) return true;
    if (t->suffix == 'a') return t->sm == sm;
    return t->sm <= sm && (t->suffix != 'f' || t->sm / 10 == sm / 10);
}

/* What a driver's compiler has against modules that Heddle could load, as it lowers each kernel when it is launched. */
static void refuse(const struct module_text *p, struct ptx_module *const *list, struct buf *errors)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct ptx_target *t = &list[i]->target;
        const int suffix = t->suffix != 0;
        if (!is_for(t, p->sm))
            buf_printf(errors, "%s: error: the PTX is for sm_%u%.*s, the GPU is sm_%u\n",
                       p->list[i]->name, t->sm, suffix, &t->suffix, p->sm);
    }
    if (p->count == 1 && !ptx_module_close(list[0])) diags_render(list[0]->diags, errors);
}

/* `compiled`: by nvcc, which has linked it. */
static CUresult make(struct CUmod_st **out, const struct module_text *p, bool compiled,
                     struct log *error)
{
    struct buf errors = {0};
    char *why = NULL;
    struct emu_image *image = NULL;
    struct ptx_module **list = parse(p, &errors);
    if (!errors.size && !compiled) refuse(p, list, &errors);
    queue_settle(); /* variables are memory */
    if (errors.size) log_say(error, errors.data);
    else if (!(image = emu_load(driver.emu, list, p->count, &why))) log_say(error, why);
    buf_free(&errors);
    free(why);
    if (!image) {
        const CUresult r = rejection(list, p->count);
        for (size_t i = 0; i < p->count; i++) ptx_module_end(list[i]);
        return r;
    }
    struct CUmod_st *m = object_new(OBJECT_MODULE, sizeof *m);
    m->arena = p->arena;
    m->ptx_modules = list;
    m->ptx_module_count = p->count;
    m->image = image;
    add_functions(m);
    allocation_add_variables(m);
    *out = m;
    log_write(error, "");
    return CUDA_SUCCESS;
}

/* What lies in a program's file is called after it, as in "<PTX in app>". */
static const char *name_of(struct arena *a, const void *image)
{
    Dl_info in;
    if (!dladdr(image, &in) || !in.dli_fname) return "<cuModuleLoadData>";
    const char *slash = strrchr(in.dli_fname, '/');
    return arena_printf(a, "<PTX in %s>", slash ? slash + 1 : in.dli_fname);
}

static unsigned device_sm(void)
{
    return (unsigned)(10 * driver.limits.major + driver.limits.minor);
}

/* A program that gives a buffer for the messages expects that its PTX may be wrong, and one that passes other images may
 * try several. What nvcc put into the program is to load, and so is PTX whose errors nobody wants to know: the program
 * has not computed what it was to compute, whatever its exit status. */
static void note_rejected(CUresult r, bool wrapper, const struct jit *jit)
{
    const bool text = r == CUDA_ERROR_INVALID_PTX || r == CUDA_ERROR_INVALID_IMAGE ||
                      r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    if (wrapper || (text && !jit->error.text))
        event_stream_totals(driver.reports.events)->rejected++;
}

CUresult module_load(struct CUmod_st **out, const void *image, unsigned count,
                     const CUjit_option *options, void **values)
{
    struct jit jit;
    if (!out || !image || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    const double begun = jit_begin();
    jit_read(&jit, count, options, values);
    log_write(&jit.info, "");
    struct module_text p = {.arena = arena_new(), .sm = device_sm()};
    p.name = name_of(p.arena, image);
    const bool wrapper = image_kind(image) == IMAGE_WRAPPER;
    CUresult r = module_text_add_image(&p, image, &jit.error);
    if (r == CUDA_SUCCESS) r = make(out, &p, wrapper, &jit.error);
    if (r != CUDA_SUCCESS) note_rejected(r, wrapper, &jit);
    if (r != CUDA_SUCCESS) arena_free(p.arena);
    jit_end(&jit, begun);
    return r;
}

CUresult module_load_file(struct CUmod_st **out, const char *path, unsigned count,
                          const CUjit_option *options, void **values)
{
    struct jit jit;
    struct buf b = {0};
    if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
    const double begun = jit_begin();
    jit_read(&jit, count, options, values);
    struct module_text p = {.arena = arena_new(), .name = path, .sm = device_sm()};
    CUresult r = module_text_read_file(path, &b);
    if (r == CUDA_SUCCESS) r = module_text_add_sized(&p, b.data, b.size, &jit.error);
    if (r == CUDA_SUCCESS) r = make(out, &p, false, &jit.error);
    if (r != CUDA_SUCCESS) note_rejected(r, false, &jit);
    if (r != CUDA_SUCCESS) arena_free(p.arena);
    buf_free(&b);
    jit_end(&jit, begun);
    return r;
}
