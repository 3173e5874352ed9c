/* cuda/module_text.h: the texts that modules and links are made of, out of images of all kinds.
 *
 *     struct jit jit;
 *     jit_read(&jit, count, options, values);
 *     struct module_text p = {.arena = a, .name = "kernels.ptx", .sm = 90};
 *     r = module_text_add_image(&p, image, &jit.error);     // one text more, or several
 *
 * A *linked image* is what cuLinkComplete makes: the head of an ELF file for a GPU with no sections, and the texts
 * behind it. It can be copied about, and is linked when it is loaded. */
#ifndef HEDDLE_CUDA_MODULE_TEXT_H
#define HEDDLE_CUDA_MODULE_TEXT_H

#include "cuda/cuda_api.h"

#include <stdbool.h>

struct arena;
struct buf;
struct diags;
struct ptx_module;
struct source;

struct log { /* a buffer of the caller's for messages */
    char *text;
    size_t size, used;
    void **size_out; /* the option that held the size takes the bytes written */
};
struct jit { /* what options ask for */
    struct log error, info;
    void **wall;     /* that takes milliseconds, a float; NULL: not wanted */
    double ms;       /* so far */
    unsigned target; /* architecture: 90; 0: the device's */
};
void jit_read(struct jit *j, unsigned count, const CUjit_option *options, void **values);
double jit_begin(void); /* and the time from there on is added */
void jit_end(struct jit *j, double begun);

/* Behind what the log has. */
void log_write(struct log *l, const char *text);
/* Likewise, or if nobody wants the log to stderr. `text` may end its line. */
void log_say(struct log *error, const char *text);

struct module_text { /* texts that become a module together */
    struct arena *arena;
    const char *name; /* of those that come */
    unsigned sm;      /* for which they are chosen */
    struct source **list;
    size_t count, capacity;
};
CUresult module_text_add_text(struct module_text *p, const char *text, size_t length,
                              struct log *error);
CUresult module_text_add_fatbin(struct module_text *p, const void *image, size_t size,
                                struct log *error);
/* In memory: its size is what it says of itself. */
CUresult module_text_add_image(struct module_text *p, const void *image, struct log *error);
/* Of a known size: what a file holds. */
CUresult module_text_add_sized(struct module_text *p, const void *image, size_t size,
                               struct log *error);

/* By its first bytes. Of text no more than these need be there. */
enum image_kind { IMAGE_TEXT, IMAGE_FATBIN, IMAGE_WRAPPER, IMAGE_LINKED, IMAGE_ELF };
enum image_kind image_kind(const void *image);
/* All of them as a linked image, appended. */
void module_text_link(const struct module_text *p, const size_t *which, size_t count,
                      struct buf *out);

/* CUDA_ERROR_FILE_NOT_FOUND, or that there is nothing in it. */
CUresult module_text_read_file(const char *path, struct buf *b);

#endif
