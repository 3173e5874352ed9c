/* What modules are made of: PTX text, fat binaries and lists of them, in memory or in files. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/fatbin.h"
#include "cuda/queue.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options and messages -------------------------------------------------------------------------- */

struct log { /* a buffer of the caller's for messages */
    char *text;
    size_t size;
    void **size_out; /* the option that held the size takes the bytes written */
};

static void log_write(struct log *l, const char *text)
{
    size_t n = l->text && l->size ? strnlen(text, l->size - 1) : 0;
    if (l->text && l->size) {
        memcpy(l->text, text, n);
        l->text[n] = '\0';
    }
    if (l->size_out) *l->size_out = pointer_of(n);
}

static void read_options(unsigned count, const CUjit_option *options, void **values,
                         struct log *error, struct log *info)
{
    for (unsigned i = 0; options && values && i < count; i++) switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: error->text = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: info->text = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error->size = (uintptr_t)values[i] & UINT32_MAX; /* an unsigned int in a pointer */
            error->size_out = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info->size = (uintptr_t)values[i] & UINT32_MAX;
            info->size_out = &values[i];
            break;
        default: break;
        }
}

/* Into the caller's log, or if there is none to stderr. `text` may end its line. */
static void say(struct log *error, const char *text)
{
    const size_t n = strlen(text);
    log_write(error, text);
    if (error->text || driver.watch.quiet) return;
    fprintf(stderr, "heddle: %s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
}

/* ---- the texts of a module ------------------------------------------------------------------------- */

struct parts { /* texts that become a module together */
    struct arena *arena;
    const char *name;
    struct source **list;
    size_t count, room;
};

static void add_part(struct parts *p, const char *text, size_t length)
{
    if (p->count == p->room) {
        struct source **old = p->list;
        p->room = p->room ? 2 * p->room : 4;
        p->list = arena_array(p->arena, struct source *, p->room);
        for (size_t i = 0; i < p->count; i++) p->list[i] = old[i];
    }
    struct source *s = p->list[p->count++] = arena_array(p->arena, struct source, 1);
    *s = (struct source){arena_copy(p->arena, p->name, strlen(p->name)),
                         arena_copy(p->arena, text, length), (uint32_t)length};
}

static CUresult add_text(struct parts *p, const char *text, size_t length, struct log *error)
{
    if (length <= PTX_MAX_TEXT) {
        add_part(p, text, length);
        return CUDA_SUCCESS;
    }
    say(error, "the PTX is too long");
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult refuse(CUresult r, char *why, struct log *error)
{
    say(error, why);
    free(why);
    return r;
}

/* For a GPU that is older than all that current compilers know, there is what they make for the oldest of these. */
static bool choose(const struct fatbin *f, unsigned sm, struct fatbin_entry *e, char **why)
{
    char *again = NULL;
    if (fatbin_choose(f, sm, e, why)) return true;
    if (sm >= FATBIN_OLDEST || !fatbin_choose(f, FATBIN_OLDEST, e, &again)) {
        free(again);
        return false;
    }
    free(*why);
    if (!driver.newer_said) /* a program has many modules */
        driver_say("heddle: there is no PTX for sm_%u: that for sm_%u is run\n", sm, e->sm);
    return driver.newer_said = true;
}

static CUresult add_fatbin(struct parts *p, const void *image, size_t size, struct log *error)
{
    const unsigned sm = (unsigned)(10 * driver.limits.major + driver.limits.minor);
    struct fatbin f;
    struct fatbin_entry e;
    size_t length = 0;
    char *why = NULL;
    if (!fatbin_open(&f, image, size, &why)) return refuse(CUDA_ERROR_INVALID_IMAGE, why, error);
    if (!choose(&f, sm, &e, &why)) return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, why, error);
    char *text = fatbin_text(&e, &length, &why);
    if (!text) return refuse(CUDA_ERROR_INVALID_IMAGE, why, error);
    CUresult r = add_text(p, text, length, error);
    free(text);
    return r;
}

static CUresult add_wrapped(struct parts *p, const struct fatbin_wrapper *w, struct log *error)
{
    CUresult r = CUDA_SUCCESS;
    if (w->version == 1) return add_fatbin(p, w->data, fatbin_size(w->data), error);
    if (w->version != 2 || !w->objects) {
        say(error, "the fat binary's wrapper is of a version that is not known");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    for (const void *const *o = w->objects; r == CUDA_SUCCESS && *o; o++)
        r = add_fatbin(p, *o, fatbin_size(*o), error);
    return r;
}

/* By its first bytes. Of text no more than these need be there. */
enum image_kind { IMAGE_TEXT, IMAGE_FATBIN, IMAGE_WRAPPER, IMAGE_ELF };

static enum image_kind kind_of(const void *image)
{
    static const struct {
        unsigned char magic[4];
        enum image_kind kind;
    } kinds[] = {{{0x50, 0xed, 0x55, 0xba}, IMAGE_FATBIN},
                 {{0xb1, 0x43, 0x62, 0x46}, IMAGE_WRAPPER},
                 {{0x7f, 'E', 'L', 'F'}, IMAGE_ELF}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memcmp(image, kinds[i].magic, 1) == 0 && memcmp(image, kinds[i].magic, 4) == 0)
            return kinds[i].kind;
    return IMAGE_TEXT;
}

static CUresult refuse_elf(struct log *error)
{
    say(error, "the image is machine code (a cubin); Heddle runs PTX: "
               "compile with " FATBIN_PTX_FLAGS);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

static CUresult add_image(struct parts *p, const void *image, struct log *error)
{
    switch (kind_of(image)) {
    case IMAGE_FATBIN: return add_fatbin(p, image, fatbin_size(image), error);
    case IMAGE_WRAPPER: return add_wrapped(p, image, error);
    case IMAGE_ELF: return refuse_elf(error);
    default: return add_text(p, image, strlen(image), error);
    }
}

static CUresult add_file(struct parts *p, const struct buf *b, struct log *error)
{
    const enum image_kind kind = b->size >= 4 ? kind_of(b->data) : IMAGE_TEXT;
    size_t length = b->size;
    if (kind == IMAGE_FATBIN) return add_fatbin(p, b->data, b->size, error);
    if (kind == IMAGE_ELF) return refuse_elf(error);
    while (length && !b->data[length - 1]) length--; /* a NUL behind the text is allowed */
    return add_text(p, b->data, length, error);
}

static CUresult read_file(const char *path, struct buf *b)
{
    if (!buf_add_file(b, path, SIZE_MAX)) return CUDA_ERROR_FILE_NOT_FOUND;
    return b->size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

/* ---- modules --------------------------------------------------------------------------------------- */

static void add_functions(struct CUmod_st *m)
{
    m->function_count = emu_kernel_count(m->image);
    m->functions = arena_array(m->arena, struct CUfunc_st *, m->function_count);
    for (size_t i = 0; i < m->function_count; i++) {
        struct CUfunc_st *f = m->functions[i] = object_new(OBJECT_FUNCTION, sizeof *f);
        f->module = m;
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
static struct ptx_module **parse(const struct parts *p, struct buf *errors)
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

static CUresult make(struct CUmod_st **out, const struct parts *p, struct log *error)
{
    struct buf errors = {0};
    char *why = NULL;
    struct emu_image *image = NULL;
    struct ptx_module **list = parse(p, &errors);
    queue_settle(); /* variables are memory */
    if (errors.size) say(error, errors.data);
    else if (!(image = emu_load(driver.emu, list, p->count, &why))) say(error, why);
    buf_free(&errors);
    free(why);
    if (!image) {
        for (size_t i = 0; i < p->count; i++) ptx_module_end(list[i]);
        return CUDA_ERROR_INVALID_PTX;
    }
    struct CUmod_st *m = object_new(OBJECT_MODULE, sizeof *m);
    m->arena = p->arena;
    m->parts = list;
    m->part_count = p->count;
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

CUresult module_load(struct CUmod_st **out, const void *image, unsigned count,
                     const CUjit_option *options, void **values)
{
    struct log error = {0}, info = {0};
    if (!out || !image || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    read_options(count, options, values, &error, &info);
    log_write(&info, "");
    struct parts p = {.arena = arena_new()};
    p.name = name_of(p.arena, image);
    CUresult r = add_image(&p, image, &error);
    if (r == CUDA_SUCCESS) r = make(out, &p, &error);
    if (r != CUDA_SUCCESS) arena_free(p.arena);
    return r;
}

CUresult module_load_file(struct CUmod_st **out, const char *path, unsigned count,
                          const CUjit_option *options, void **values)
{
    struct log error = {0}, info = {0};
    struct buf b = {0};
    if (!out || !path) return CUDA_ERROR_INVALID_VALUE;
    read_options(count, options, values, &error, &info);
    struct parts p = {.arena = arena_new(), .name = path};
    CUresult r = read_file(path, &b);
    if (r == CUDA_SUCCESS) r = add_file(&p, &b, &error);
    if (r == CUDA_SUCCESS) r = make(out, &p, &error);
    if (r != CUDA_SUCCESS) arena_free(p.arena);
    buf_free(&b);
    return r;
}
