#define _GNU_SOURCE
#include "cuda/module_text.h"

#include "cuda/driver.h"
#include "cuda/fatbin.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "ptx/ptx.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options and messages -------------------------------------------------------------------------- */

void log_write(struct log *l, const char *text)
{
    if (!l->text) l->size = 0;
    const size_t capacity = l->size > l->used ? l->size - l->used - 1 : 0,
                 n = strnlen(text, capacity);
    if (l->size > l->used) {
        memcpy(l->text + l->used, text, n);
        l->text[l->used + n] = '\0';
        l->used += n;
    }
    if (l->size_out) *l->size_out = pointer_of(l->used);
}

void log_say(struct log *error, const char *text)
{
    const size_t n = strlen(text);
    log_write(error, text);
    if (error->text) return;
    driver_say("heddle: %s%s", text, n && text[n - 1] == '\n' ? "" : "\n");
}

void jit_read(struct jit *j, unsigned count, const CUjit_option *options, void **values)
{
    enum { ARCHITECTURE = 0xffff }; /* what is above it: plain, "a" or "f" */
    *j = (struct jit){0};
    for (unsigned i = 0; options && values && i < count; i++) switch (options[i]) {
        case CU_JIT_WALL_TIME: j->wall = &values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER: j->error.text = values[i]; break;
        case CU_JIT_INFO_LOG_BUFFER: j->info.text = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            j->error.size = (uintptr_t)values[i] & UINT32_MAX; /* an unsigned int in a pointer */
            j->error.size_out = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            j->info.size = (uintptr_t)values[i] & UINT32_MAX;
            j->info.size_out = &values[i];
            break;
        case CU_JIT_TARGET: j->target = (uintptr_t)values[i] & ARCHITECTURE; break;
        default: break;
        }
}

double jit_begin(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void jit_end(struct jit *j, double begun)
{
    j->ms += jit_begin() - begun;
    const float ms = (float)j->ms;
    if (j->wall) memcpy((void *)j->wall, &ms, sizeof ms);
}

/* ---- the texts of a module ------------------------------------------------------------------------- */

static void add_part(struct module_text *p, const char *text, size_t length)
{
    if (p->count == p->capacity) {
        struct source **old = p->list;
        p->capacity = p->capacity ? 2 * p->capacity : 4;
        p->list = arena_array(p->arena, struct source *, p->capacity);
        for (size_t i = 0; i < p->count; i++) p->list[i] = old[i];
    }
    struct source *s = p->list[p->count++] = arena_array(p->arena, struct source, 1);
    *s = (struct source){arena_copy(p->arena, p->name, strlen(p->name)),
                         arena_copy(p->arena, text, length), (uint32_t)length};
}

CUresult module_text_add_text(struct module_text *p, const char *text, size_t length,
                              struct log *error)
{
    if (length <= PTX_MAX_TEXT) {
        add_part(p, text, length);
        return CUDA_SUCCESS;
    }
    log_say(error, "the PTX is too long");
    return CUDA_ERROR_INVALID_PTX;
}

static CUresult refuse(CUresult r, char *why, struct log *error)
{
    log_say(error, why);
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

CUresult module_text_add_fatbin(struct module_text *p, const void *image, size_t size,
                                struct log *error)
{
    struct fatbin f;
    struct fatbin_entry e;
    size_t length = 0;
    char *why = NULL;
    if (!fatbin_open(&f, image, size, &why)) return refuse(CUDA_ERROR_INVALID_IMAGE, why, error);
    if (!choose(&f, p->sm, &e, &why)) return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, why, error);
    char *text = fatbin_text(&e, &length, &why);
    if (!text) return refuse(CUDA_ERROR_INVALID_IMAGE, why, error);
    CUresult r = module_text_add_text(p, text, length, error);
    free(text);
    return r;
}

static CUresult add_wrapped(struct module_text *p, const struct fatbin_wrapper *w,
                            struct log *error)
{
    CUresult r = CUDA_SUCCESS;
    if (w->version == 1) return module_text_add_fatbin(p, w->data, fatbin_size(w->data), error);
    if (w->version != 2 || !w->objects) {
        log_say(error, "the fat binary's wrapper is of a version that is not known");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    for (const void *const *o = w->objects; r == CUDA_SUCCESS && *o; o++)
        r = module_text_add_fatbin(p, *o, fatbin_size(*o), error);
    return r;
}

enum { IDENT = EI_NIDENT, HEAD = sizeof(Elf64_Ehdr) };
static const unsigned char linked[IDENT] = {0x7f, 'E', 'L', 'F', 2,   1,   1,  0,
                                            0,    'h', 'e', 'd', 'd', 'l', 'e'};

enum image_kind image_kind(const void *image)
{
    static const struct {
        unsigned char magic[4];
        enum image_kind kind;
    } kinds[] = {{{0x50, 0xed, 0x55, 0xba}, IMAGE_FATBIN},
                 {{0xb1, 0x43, 0x62, 0x46}, IMAGE_WRAPPER},
                 {{0x7f, 'E', 'L', 'F'}, IMAGE_ELF}};
    const unsigned char *p = image;
    size_t same = 0;
    while (same < IDENT && p[same] == linked[same]) same++;
    if (same == IDENT) return IMAGE_LINKED;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memcmp(image, kinds[i].magic, 1) == 0 && memcmp(image, kinds[i].magic, 4) == 0)
            return kinds[i].kind;
    return IMAGE_TEXT;
}

/* ---- linked images --------------------------------------------------------------------------------- */

/* Behind the head of the file: bytes of the whole, how many texts; and of each its name's bytes, its own, and both. */
struct linked_head {
    uint64_t size, count;
};
struct linked_text {
    uint64_t name, text;
};

void module_text_link(const struct module_text *p, const size_t *which, size_t count,
                      struct buf *out)
{
    Elf64_Ehdr elf = {.e_type = ET_EXEC, .e_machine = EM_CUDA, .e_version = 1, .e_ehsize = HEAD};
    struct linked_head head = {HEAD + sizeof head, count};
    memcpy(elf.e_ident, linked, IDENT);
    elf.e_flags = p->sm;
    for (size_t i = 0; i < count; i++)
        head.size += sizeof(struct linked_text) + strlen(p->list[which[i]]->name) +
                     p->list[which[i]]->length;
    buf_add(out, (const char *)&elf, sizeof elf);
    buf_add(out, (const char *)&head, sizeof head);
    for (size_t i = 0; i < count; i++) {
        const struct source *s = p->list[which[i]];
        const struct linked_text t = {strlen(s->name), s->length};
        buf_add(out, (const char *)&t, sizeof t);
        buf_add(out, s->name, t.name);
        buf_add(out, s->text, t.text);
    }
}

static uint64_t linked_size(const void *image)
{
    struct linked_head head;
    memcpy(&head, (const char *)image + HEAD, sizeof head);
    return head.size;
}

static CUresult add_linked(struct module_text *p, const char *image, size_t size, struct log *error)
{
    struct linked_head head = {0};
    const char *at = image + HEAD + sizeof head, *const whole = p->name;
    CUresult r = CUDA_SUCCESS;
    if (size >= HEAD + sizeof head) memcpy(&head, image + HEAD, sizeof head);
    if (!head.count || head.size > size) {
        log_say(error, "the linked image is cut off");
        return CUDA_ERROR_INVALID_IMAGE;
    }
    for (uint64_t i = 0, left = head.size - HEAD - sizeof head; r == CUDA_SUCCESS && i < head.count;
         i++) {
        struct linked_text t = {0};
        if (left >= sizeof t) memcpy(&t, at, sizeof t);
        if (!t.text || t.name > left - sizeof t || t.text > left - sizeof t - t.name) {
            log_say(error, "the linked image is damaged");
            r = CUDA_ERROR_INVALID_IMAGE;
        } else {
            at += sizeof t;
            p->name = arena_copy(p->arena, at, t.name);
            r = module_text_add_text(p, at + t.name, t.text, error);
            at += t.name + t.text;
            left -= sizeof t + t.name + t.text;
        }
    }
    p->name = whole;
    return r;
}

/* ---- images of all kinds --------------------------------------------------------------------------- */

static CUresult refuse_elf(struct log *error)
{
    log_say(error, "the image is machine code (a cubin); Heddle runs PTX: "
                   "compile with " FATBIN_PTX_FLAGS);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult module_text_add_image(struct module_text *p, const void *image, struct log *error)
{
    switch (image_kind(image)) {
    case IMAGE_FATBIN: return module_text_add_fatbin(p, image, fatbin_size(image), error);
    case IMAGE_WRAPPER: return add_wrapped(p, image, error);
    case IMAGE_LINKED: return add_linked(p, image, linked_size(image), error);
    case IMAGE_ELF: return refuse_elf(error);
    default: return module_text_add_text(p, image, strlen(image), error);
    }
}

CUresult module_text_add_sized(struct module_text *p, const void *image, size_t size,
                               struct log *error)
{
    const char *text = image;
    char start[IDENT] = {0};
    memcpy(start, image, size < IDENT ? size : IDENT);
    switch (image_kind(start)) {
    case IMAGE_FATBIN: return module_text_add_fatbin(p, image, size, error);
    case IMAGE_LINKED: return add_linked(p, image, size, error);
    case IMAGE_ELF: return refuse_elf(error);
    default: break;
    }
    while (size && !text[size - 1]) size--; /* a NUL behind the text is allowed */
    return module_text_add_text(p, text, size, error);
}

CUresult module_text_read_file(const char *path, struct buf *b)
{
    if (!buf_add_file(b, path, SIZE_MAX)) return CUDA_ERROR_FILE_NOT_FOUND;
    return b->size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}
