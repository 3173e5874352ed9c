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
 * Nothing is copied: what is open points into the image. Images are not trusted: whatever they hold, nothing
 * outside of `size` bytes is read. What fails says in *why why; the caller frees it. */
#ifndef HEDDLE_CUDA_FATBIN_H
#define HEDDLE_CUDA_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FATBIN_MAGIC = 0xBA55ED50, FATBIN_WRAPPER_MAGIC = 0x466243B1, FATBIN_HEADER = 16 };

/* What __cudaRegisterFatBinary and cuModuleLoadFatBinary are given. */
struct fatbin_wrapper {
    uint32_t magic, version; /* 1: `data`. 2: `objects` */
    const void *data;
    const void *const *objects; /* containers; NULL ends the list */
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2, FATBIN_LTO = 8 }; /* others there may be */

struct fatbin {
    const unsigned char *next, *end; /* entries that are still to come */
};
struct fatbin_entry {
    unsigned kind;             /* enum fatbin_kind */
    unsigned sm;               /* architecture: 75, 90, ... */
    unsigned major, minor;     /* of PTX: its ISA's version */
    uint64_t flags;            /* enum fatbin_flag, and others */
    const unsigned char *code; /* as it is stored */
    size_t size;               /* bytes of `code`, with padding unless compressed */
    size_t whole;              /* bytes once decompressed; 0: it is not compressed */
};
enum fatbin_flag { FATBIN_64 = 1, FATBIN_DEBUG = 2, FATBIN_LZ4 = 0x2000, FATBIN_ZSTD = 0x8000 };

/* What has nvcc put PTX into a program. */
#define FATBIN_PTX_FLAGS "-gencode arch=compute_75,code=compute_75"

/* *why becomes what printf would print, on the heap. Always false. */
bool fatbin_refuse(char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Bytes of the container whose header lies here (FATBIN_HEADER bytes are read), for images of which only
 * the start is known. 0: it is none. */
size_t fatbin_size(const void *image);

bool fatbin_open(struct fatbin *f, const void *image, size_t size, char **why);
/* false: there are no more; or, then *why is set, what comes is damaged. */
bool fatbin_next(struct fatbin *f, struct fatbin_entry *e, char **why);

/* The PTX for a device of this architecture: for the newest one that is not above it. If all are above, as
 * with -arch=all-major, the oldest of them where there is machine code that such a device would run instead.
 * false: there is none; *why says what there is. */
enum { FATBIN_OLDEST = 75 }; /* that nvcc 13 makes PTX for */
bool fatbin_choose(const struct fatbin *f, unsigned sm, struct fatbin_entry *e, char **why);

/* The entry decompressed, NUL-terminated, *length without the NULs that it was padded with; the caller frees it. */
char *fatbin_text(const struct fatbin_entry *e, size_t *length, char **why);

#endif
