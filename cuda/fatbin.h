/* cuda/fatbin.h: fat binaries, the containers in which nvcc keeps device code.
 *
 *     struct fatbin f;
 *     struct fatbin_entry e;
 *     char *why = NULL;
 *     if (fatbin_open(&f, image, size, &why) && fatbin_choose(&f, 90, &e, &why))
 *         text = fatbin_text(&e, &length, &why);
 *
 * A container is a header (magic, size) and entries back to back, each of them code of one kind for one
 * architecture: PTX or machine code, stored or compressed (LZ4 by nvcc up to 12, a frame of zstd since). Programs hold
 * a *wrapper*, which points to the container; of programs whose objects were compiled with -rdc=true the wrapper
 * points to a list of containers, one of each object. Layouts were read off files that nvcc 11.8, 12.4 and 13.0
 * wrote; cuobjdump -lelf -lptx lists the same entries.
 *
 * Nothing is copied: struct fatbin points into the image. Images are not trusted: the functions read nothing
 * outside of `size` bytes. A function that fails sets *why to an error message; the caller frees it. */
#ifndef HEDDLE_CUDA_FATBIN_H
#define HEDDLE_CUDA_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FATBIN_MAGIC = 0xBA55ED50, FATBIN_WRAPPER_MAGIC = 0x466243B1, FATBIN_HEADER = 16 };

/* The argument of __cudaRegisterFatBinary() and cuModuleLoadFatBinary(). */
struct fatbin_wrapper {
    uint32_t magic, version; /* version 1: `data` is used; 2: `objects` */
    const void *data;
    const void *const *objects; /* pointers to containers, NULL behind the last */
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2, FATBIN_LTO = 8 }; /* files may have others */

struct fatbin {
    const unsigned char *next, *end; /* the remaining entries */
};
struct fatbin_entry {
    unsigned kind;             /* enum fatbin_kind */
    unsigned sm;               /* architecture: 75, 90, ... */
    unsigned major, minor;     /* FATBIN_PTX: version of the PTX ISA */
    uint64_t flags;            /* bits of enum fatbin_flag, and others */
    const unsigned char *code; /* the stored bytes, maybe compressed */
    size_t size;               /* size of `code` in bytes, with padding unless compressed */
    size_t whole;              /* size after decompression in bytes; 0: not compressed */
};
enum fatbin_flag { FATBIN_64 = 1, FATBIN_DEBUG = 2, FATBIN_LZ4 = 0x2000, FATBIN_ZSTD = 0x8000 };

/* Flags with which nvcc puts PTX into a program. */
#define FATBIN_PTX_FLAGS "-gencode arch=compute_75,code=compute_75"

/* Sets *why to a formatted message on the heap. Always returns false. */
bool fatbin_refuse(char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Size of the container that starts here, in bytes, for images of which only the start is known (reads
 * FATBIN_HEADER bytes). 0: no container. */
size_t fatbin_size(const void *image);

bool fatbin_open(struct fatbin *f, const void *image, size_t size, char **why);
/* The next entry. false: there are no more; or, with *why set, the next entry is damaged. */
bool fatbin_next(struct fatbin *f, struct fatbin_entry *e, char **why);

/* Chooses the PTX for a device of architecture `sm`: that for the newest architecture that is not above sm. If
 * all are above, as with -arch=all-major: the PTX for the oldest one, if there is machine code that such a
 * device would execute instead. false: there is none, and *why lists the entries. */
enum { FATBIN_OLDEST = 75 }; /* the oldest architecture for which nvcc 13 makes PTX */
bool fatbin_choose(const struct fatbin *f, unsigned sm, struct fatbin_entry *e, char **why);

/* The decompressed text of an entry, NUL-terminated; *length excludes the NULs of the padding. The caller frees it. */
char *fatbin_text(const struct fatbin_entry *e, size_t *length, char **why);

#endif
