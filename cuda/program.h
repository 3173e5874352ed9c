/* cuda/program.h: what an executable needs of CUDA, read off its file before it runs.
 *
 *     struct program p;
 *     if (program_read("./app", &p, &why) && p.kind == PROGRAM_SERVED) ...
 *
 * A program can be served if it asks for the runtime (libcudart.so) or the driver (libcuda.so) as a library, and if
 * the device code in it, if there is any, is there as PTX. */
#ifndef HEDDLE_CUDA_PROGRAM_H
#define HEDDLE_CUDA_PROGRAM_H

#include <stdbool.h>

enum program_kind {
    PROGRAM_FOREIGN, /* no program of this kind of machine: a script, say */
    PROGRAM_PLAIN,   /* nothing in it is of CUDA; libraries that it loads may be */
    PROGRAM_SERVED,  /* it runs */
    PROGRAM_STATIC,  /* NVIDIA's runtime is in it, as nvcc does by default */
    PROGRAM_SASS,    /* its device code is machine code for certain GPUs alone */
};
struct program {
    enum program_kind kind;
    bool ptx;         /* some of its device code, or there is none */
    char runtime[32]; /* "libcudart.so.13", as it asks for it; empty: it does not */
    bool driver;      /* it asks for libcuda.so.1 */
};

/* false: the file cannot be read, or is damaged; *why says so, the caller frees it. */
bool program_read(const char *path, struct program *out, char **why);

/* nvcc's flags with which it would be served, for STATIC and SASS. */
const char *program_flags(const struct program *p);

#endif
