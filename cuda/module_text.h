/* cuda/module_text.h: extracts the PTX texts of modules and links from images of all kinds.
 *
 *     struct jit jit;
 *     jit_read(&jit, count, options, values);
 *     struct module_text p = {.arena = a, .name = "kernels.ptx", .sm = 90};
 *     r = module_text_add_image(&p, image, &jit.error);     // adds one text or several
 *
 * A *linked image* is the result of cuLinkComplete(): the head of an ELF file for a GPU without sections, followed by the
 * texts. The program may copy it. It is linked when it is loaded. */
#ifndef HEDDLE_CUDA_MODULE_TEXT_H
#define HEDDLE_CUDA_MODULE_TEXT_H

#include "cuda/cuda_api.h"

#include <stdbool.h>

struct arena;
struct buf;
struct diags;
struct ptx_module;
struct source;

struct log { /* a buffer of the program for messages */
    char *text;
    size_t size, used;
    void **size_out; /* the option with the size, which gets the number of bytes written */
};
struct jit { /* the options of a call that compiles or links */
    struct log error, info;
    void **wall;     /* the option that gets the time in milliseconds, a float; NULL: none */
    double ms;       /* time so far in milliseconds */
    unsigned target; /* architecture, 90 for sm_90; 0: that of the device */
};
void jit_read(struct jit *j, unsigned count, const CUjit_option *options, void **values);
double jit_begin(void); /* jit_end() adds the time from here on */
void jit_end(struct jit *j, double begun);

/* Appends to the log. */
void log_write(struct log *l, const char *text);
/* Appends to the log, or prints to stderr if the program has given no buffer. `text` may end with a newline. */
void log_say(struct log *error, const char *text);

struct module_text { /* the texts of one module */
    struct arena *arena;
    const char *name; /* name of the texts that are added next */
    unsigned sm;      /* architecture for which entries of fat binaries are chosen: 90 */
    struct source **list;
    size_t count, capacity;
};
CUresult module_text_add_text(struct module_text *p, const char *text, size_t length,
                              struct log *error);
CUresult module_text_add_fatbin(struct module_text *p, const void *image, size_t size,
                                struct log *error);
/* Adds an image in memory, whose size follows from its contents. */
CUresult module_text_add_image(struct module_text *p, const void *image, struct log *error);
/* Adds an image of known size: the contents of a file. */
CUresult module_text_add_sized(struct module_text *p, const void *image, size_t size,
                               struct log *error);

/* The kind of an image, by its first bytes. Reads no further in a text. */
enum image_kind { IMAGE_TEXT, IMAGE_FATBIN, IMAGE_WRAPPER, IMAGE_LINKED, IMAGE_ELF };
enum image_kind image_kind(const void *image);
/* Appends a linked image of `count` texts, those with the indices which[]. */
void module_text_link(const struct module_text *p, const size_t *which, size_t count,
                      struct buf *out);

/* Reads a file. Returns CUDA_ERROR_FILE_NOT_FOUND, or an error if the file is empty. */
CUresult module_text_read_file(const char *path, struct buf *b);

#endif
