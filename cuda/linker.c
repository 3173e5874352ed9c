/* cuLink*(): links the PTX of several inputs to one image for cuModuleLoadData(). A member of a library is linked if the
 * image uses a name that it defines. A name that kernels reach is an error if no input or several inputs define it. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/elf.h"
#include "cuda/module_text.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/link.h"

#include <ar.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct input { /* as long as the text list has one with its number */
    struct diags diags;
    struct ptx_module *module;
    bool wanted; /* false: a library's, and so far nobody wants what it defines */
};

struct CUlinkState_st {
    struct object object;
    struct module_text text;
    struct jit jit;
    struct input **inputs;
    size_t count, cap;
    unsigned adds;
    bool complete;
    CUresult result; /* of that */
    struct buf image;
};

/* ---- archives -------------------------------------------------------------------------------------- */

struct archive {
    const char *next, *end;
    const char *names, *names_end; /* those that do not fit into a member's head */
};
struct member {
    char name[256];
    const char *data;
    size_t size;
};

static bool archive_open(struct archive *a, const void *data, size_t size)
{
    *a = (struct archive){.next = data, .end = (const char *)data + size};
    if (size < SARMAG || memcmp(data, ARMAG, SARMAG) != 0) return false;
    a->next += SARMAG;
    return true;
}

/* GNU's names end in '/'; "/17" is the one at byte 17 of the long ones. */
static void name_member(const struct archive *a, const struct ar_hdr *h, struct member *m)
{
    char field[sizeof h->ar_name + 1] = {0};
    memcpy(field, h->ar_name, sizeof h->ar_name);
    const char *from = field, *end = field + strlen(field);
    if (field[0] == '/' && field[1] >= '0' && field[1] <= '9') {
        const unsigned long at = strtoul(field + 1, NULL, 10);
        if (!a->names || at >= (size_t)(a->names_end - a->names)) return;
        from = a->names + at;
        end = a->names_end;
    }
    size_t n = 0;
    while (from + n < end && from[n] != '/' && from[n] != ' ' && from[n] != '\n' &&
           n < sizeof m->name - 1)
        n++;
    memcpy(m->name, from, n);
    m->name[n] = '\0';
}

/* false: there are no more; *damaged: because it is cut off. */
static bool archive_next(struct archive *a, struct member *m, bool *damaged)
{
    struct ar_hdr h;
    while (a->next < a->end) {
        char digits[sizeof h.ar_size + 1] = {0};
        const size_t left = (size_t)(a->end - a->next);
        *damaged = left < sizeof h;
        if (*damaged) return false;
        memcpy(&h, a->next, sizeof h);
        memcpy(digits, h.ar_size, sizeof h.ar_size);
        const unsigned long long size = strtoull(digits, NULL, 10);
        *damaged = memcmp(h.ar_fmag, ARFMAG, sizeof h.ar_fmag) != 0 || size > left - sizeof h;
        if (*damaged) return false;
        *m = (struct member){"?", a->next + sizeof h, size};
        a->next = m->data + size;
        if (size % 2 && a->next < a->end) a->next++;
        if (memcmp(h.ar_name, "// ", 3) == 0) {
            a->names = m->data;
            a->names_end = m->data + size;
        } else if (memcmp(h.ar_name, "/ ", 2) != 0 && memcmp(h.ar_name, "/SYM64/ ", 8) != 0) {
            name_member(a, &h, m);
            return true;
        }
    }
    return false;
}

/* ---- inputs ---------------------------------------------------------------------------------------- */

static CUresult refuse(struct log *error, CUresult r, const char *name, const char *what)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s %s\n", name, what);
    log_say(error, text);
    return r;
}

/* *any: there was device code. */
static CUresult add_object(struct module_text *p, const void *data, size_t size, struct log *error,
                           bool *any)
{
    struct elf e;
    Elf64_Shdr s;
    const char *section;
    CUresult r = CUDA_SUCCESS;
    if (!elf_open(&e, data, size))
        return refuse(error, CUDA_ERROR_INVALID_IMAGE, p->name, "is no object");
    for (unsigned i = 0; r == CUDA_SUCCESS && elf_section(&e, i, &s, &section); i++) {
        if (!elf_is_code(section)) continue;
        struct elf_code code = elf_code_of(&e, &s);
        struct fatbin f;
        char *why = NULL;
        for (const unsigned char *at = code.next;
             r == CUDA_SUCCESS && elf_next_fatbin(&code, &f, &why); at = code.next) {
            if (f.next == f.end) continue; /* there is nothing in it */
            *any = true;
            r = module_text_add_fatbin(p, at, (size_t)(f.end - at), error);
        }
        if (why) r = refuse(error, CUDA_ERROR_INVALID_IMAGE, p->name, why);
        free(why);
    }
    return r;
}

/* Members with no PTX for the GPU are left out: that something of them is missed shows at the end. */
static CUresult add_library(struct CUlinkState_st *l, const void *data, size_t size)
{
    struct module_text *p = &l->text;
    struct archive a;
    struct member m;
    const char *library = p->name;
    bool damaged = false;
    CUresult r = CUDA_SUCCESS;
    if (!archive_open(&a, data, size))
        return refuse(&l->jit.error, CUDA_ERROR_INVALID_IMAGE, library, "is no archive");
    while (r == CUDA_SUCCESS && archive_next(&a, &m, &damaged)) {
        char why[512];
        struct log aside = {.text = why, .size = sizeof why};
        bool any = false;
        p->name = arena_printf(p->arena, "%s(%s)", library, m.name);
        r = add_object(p, m.data, m.size, &aside, &any);
        if (r == CUDA_ERROR_NO_BINARY_FOR_GPU) {
            log_write(&l->jit.info, arena_printf(p->arena, "%s is left out: %s\n", p->name, why));
            r = CUDA_SUCCESS;
        } else if (r != CUDA_SUCCESS) {
            log_say(&l->jit.error, why);
        }
    }
    if (damaged) r = refuse(&l->jit.error, CUDA_ERROR_INVALID_IMAGE, library, "is cut off");
    return r;
}

static CUresult add_typed(struct CUlinkState_st *l, CUjitInputType type, const void *data,
                          size_t size)
{
    struct log *error = &l->jit.error;
    const char *name = l->text.name;
    char start[EI_NIDENT] = {0};
    bool any = false;
    CUresult r = CUDA_SUCCESS;
    memcpy(start, data, size < sizeof start ? size : sizeof start);
    const enum image_kind kind = image_kind(start);
    switch (type) {
    case CU_JIT_INPUT_PTX: return module_text_add_text(&l->text, data, strnlen(data, size), error);
    case CU_JIT_INPUT_CUBIN:
        if (kind == IMAGE_LINKED || kind == IMAGE_ELF)
            return module_text_add_sized(&l->text, data, size, error);
        return refuse(error, CUDA_ERROR_INVALID_IMAGE, name, "is no cubin");
    case CU_JIT_INPUT_FATBINARY:
        if (kind == IMAGE_WRAPPER) return module_text_add_image(&l->text, data, error);
        return module_text_add_fatbin(&l->text, data, size, error);
    case CU_JIT_INPUT_OBJECT:
        r = add_object(&l->text, data, size, error, &any);
        if (r == CUDA_SUCCESS && !any)
            r = refuse(error, CUDA_ERROR_INVALID_IMAGE, name, "has no device code");
        return r;
    case CU_JIT_INPUT_LIBRARY: return add_library(l, data, size);
    case CU_JIT_INPUT_NVVM:
        return refuse(error, CUDA_ERROR_NOT_SUPPORTED, name, "is LTO-IR, which is not supported");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* Reads what the last call has added; of members of libraries no more than what they define. */
static CUresult read_inputs(struct CUlinkState_st *l, bool wanted)
{
    struct arena *a = l->text.arena;
    struct buf errors = {0};
    for (size_t i = l->count; i < l->text.count; i++) {
        struct input *in = arena_array(a, struct input, 1);
        in->diags = (struct diags){.arena = a, .source = l->text.list[i], .max_errors = 50};
        in->module = ptx_module_parse(a, l->text.list[i], &in->diags);
        in->wanted = wanted;
        if (wanted) ptx_module_check(in->module);
        if (wanted && in->diags.errors) diags_render(&in->diags, &errors);
        l->inputs = arena_grow(a, (void *)l->inputs, i, &l->cap, i + 1, sizeof *l->inputs);
        l->inputs[i] = in;
    }
    const bool good = !errors.size;
    if (good) l->count = l->text.count;
    else log_say(&l->jit.error, errors.data);
    for (size_t i = l->count; i < l->text.count; i++) ptx_module_end(l->inputs[i]->module);
    buf_free(&errors);
    return good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

static CUresult add(struct CUlinkState_st *l, CUjitInputType type, const void *data, size_t size,
                    const char *name)
{
    const double begun = jit_begin();
    struct arena *a = l->text.arena;
    l->adds++;
    l->text.name = name && *name ? arena_copy(a, name, strlen(name))
                                 : arena_printf(a, "<input %u>", l->adds);
    CUresult r = add_typed(l, type, data, size);
    if (r == CUDA_SUCCESS) r = read_inputs(l, type != CU_JIT_INPUT_LIBRARY);
    l->text.count = l->count; /* nothing of one that failed */
    jit_end(&l->jit, begun);
    return r;
}

/* ---- the link -------------------------------------------------------------------------------------- */

static bool same(const struct ptx_name *a, const struct ptx_name *b)
{
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool defines(const struct ptx_module *m, const struct ptx_name *name)
{
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_func *f = m->funcs[i];
        const bool here = f->is_defined || f->definition || f->alias_of;
        if (here && f->linkage != PTX_LINK_NONE && same(f->sym->name, name)) return true;
    }
    for (size_t i = 0; i < m->var_count; i++) {
        const struct ptx_var *v = m->vars[i];
        if (v->linkage != PTX_LINK_NONE && v->linkage != PTX_LINK_EXTERN &&
            same(v->sym->name, name))
            return true;
    }
    return false;
}

/* true: somebody more is wanted. */
static bool want(struct CUlinkState_st *l, const struct ptx_name *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->inputs[i]->wanted && defines(l->inputs[i]->module, name)) return false;
    for (size_t i = 0; i < l->count; i++) {
        struct input *in = l->inputs[i];
        if (in->wanted || !defines(in->module, name)) continue;
        ptx_module_check(in->module);
        return in->wanted = true;
    }
    return false;
}

static bool want_of(struct CUlinkState_st *l, const struct ptx_module *m)
{
    bool more = false;
    for (size_t i = 0; i < m->func_count; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (!f->is_defined && !f->definition && !f->alias_of && !ptx_runtime_has(f->sym->name))
            more |= want(l, f->sym->name);
    }
    for (size_t i = 0; i < m->var_count; i++)
        if (m->vars[i]->linkage == PTX_LINK_EXTERN && m->vars[i]->sym->space != PTX_SPACE_SHARED)
            more |= want(l, m->vars[i]->sym->name);
    return more;
}

/* Variables must be there whether something names them or not, as for nvlink. */
static void need_variables(const struct CUlinkState_st *l, struct ptx_module *m)
{
    for (size_t i = 0; i < m->var_count; i++) {
        const struct ptx_sym *sym = m->vars[i]->sym;
        bool found = m->vars[i]->linkage != PTX_LINK_EXTERN ||
                     (sym->space != PTX_SPACE_GLOBAL && sym->space != PTX_SPACE_CONST) ||
                     ptx_types[sym->type].kind == PTX_OPAQUE;
        for (size_t k = 0; k < l->count && !found; k++)
            found = l->inputs[k]->wanted && defines(l->inputs[k]->module, sym->name);
        if (!found)
            diag_error(m->diags, sym->at, sym->name->length, "no module defines '%.*s'",
                       (int)sym->name->length, sym->name->text);
    }
}

/* What kernels reach must be there. */
static void reach(struct ptx_program *p)
{
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->modules[i]->func_count; k++) {
            struct ptx_func *f = p->modules[i]->funcs[k];
            if (f->definition) f = f->definition;
            if (f->is_entry && f->is_defined) (void)ptx_program_reach(p, i, f);
        }
}

static CUresult complete(struct CUlinkState_st *l)
{
    struct arena *a = l->text.arena;
    struct ptx_module **modules = arena_array(a, struct ptx_module *, l->count);
    size_t *which = arena_array(a, size_t, l->count), n = 0;
    struct buf errors = {0};
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < l->count; i++)
            if (l->inputs[i]->wanted) more |= want_of(l, l->inputs[i]->module);
    }
    for (size_t i = 0; i < l->count; i++) {
        if (!l->inputs[i]->wanted) continue;
        which[n] = i;
        modules[n++] = l->inputs[i]->module;
    }
    if (n) reach(ptx_link(a, modules, n));
    for (size_t i = 0; i < n; i++)
        if (!modules[i]->diags->errors) need_variables(l, modules[i]);
    for (size_t i = 0; i < n; i++)
        if (l->inputs[which[i]]->diags.errors) diags_render(&l->inputs[which[i]]->diags, &errors);
    const bool good = n && !errors.size;
    if (!n) log_say(&l->jit.error, "there is nothing to link\n");
    if (errors.size) log_say(&l->jit.error, errors.data);
    if (good) module_text_link(&l->text, which, n, &l->image);
    if (good)
        log_write(&l->jit.info, arena_printf(a, "linked for sm_%u, parts: %zu\n", l->text.sm, n));
    buf_free(&errors);
    return good ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN; /* as NVIDIA's linker */
}

/* ---- calls ----------------------------------------------------------------------------------------- */

static CUresult begin(CUlinkState state)
{
    CUresult r = driver_begin_without();
    return r == CUDA_SUCCESS && !object_check(state, OBJECT_LINK) ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!state || (count && (!options || !values))))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUlinkState_st *l = object_new(OBJECT_LINK, sizeof *l);
    jit_read(&l->jit, count, options, values);
    l->text.arena = arena_new();
    l->text.sm = l->jit.target ? l->jit.target
                               : (unsigned)(10 * driver.limits.major + driver.limits.minor);
    log_write(&l->jit.error, "");
    log_write(&l->jit.info, "");
    *state = l;
    return driver_end(CUDA_SUCCESS);
}

/* Of one input there are options for a compiler alone, which change nothing here. */
static CUresult check_options(unsigned count, const CUjit_option *options, void **values)
{
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) switch (options[i]) {
        case CU_JIT_WALL_TIME:
        case CU_JIT_INFO_LOG_BUFFER:
        case CU_JIT_ERROR_LOG_BUFFER:
        case CU_JIT_TARGET_FROM_CUCONTEXT:
        case CU_JIT_TARGET: return CUDA_ERROR_INVALID_VALUE;
        default: break;
        }
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned count, CUjit_option *options, void **values)
{
    CUresult r = begin(state);
    if (r == CUDA_SUCCESS) r = check_options(count, options, values);
    if (r == CUDA_SUCCESS && (!data || !size || state->complete)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = add(state, type, data, size, name);
    return driver_end(r);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values)
{
    struct buf b = {0};
    CUresult r = begin(state);
    if (r == CUDA_SUCCESS) r = check_options(count, options, values);
    if (r == CUDA_SUCCESS && (!path || state->complete)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = module_text_read_file(path, &b);
    if (r == CUDA_SUCCESS) r = add(state, type, b.data, b.size, path);
    buf_free(&b);
    return driver_end(r);
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size)
{
    CUresult r = begin(state);
    if (r == CUDA_SUCCESS && !image) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (!state->complete) {
        const double begun = jit_begin();
        state->complete = true;
        state->result = complete(state);
        jit_end(&state->jit, begun);
    }
    if (state->result == CUDA_SUCCESS) {
        *image = state->image.data;
        if (size) *size = state->image.size;
    }
    return driver_end(state->result);
}

void link_destroy(struct CUlinkState_st *l)
{
    for (size_t i = 0; i < l->count; i++) ptx_module_end(l->inputs[i]->module);
    arena_free(l->text.arena);
    buf_free(&l->image);
    object_destroy(&l->object);
}

CUresult cuLinkDestroy(CUlinkState state)
{
    CUresult r = begin(state);
    if (r == CUDA_SUCCESS) link_destroy(state);
    return driver_end(r);
}
