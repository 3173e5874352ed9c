/* cuda/program.h: which parts of CUDA an executable needs, according to its ELF file.
 *
 *     struct program p;
 *     if (program_read("./app", &p, &why) && p.kind == PROGRAM_SERVED) ...
 *
 * Heddle can run a program if it is linked with the shared library of the runtime (libcudart.so) or of the driver
 * (libcuda.so), and if it has PTX for its device code, if any. */
#ifndef HEDDLE_CUDA_PROGRAM_H
#define HEDDLE_CUDA_PROGRAM_H

#include <stdbool.h>

enum program_kind {
    PROGRAM_FOREIGN, /* no executable for this host's kind of machine: a script, for example */
    PROGRAM_PLAIN,   /* it does not use CUDA itself; libraries that it loads may */
    PROGRAM_SERVED,  /* Heddle can run it */
    PROGRAM_STATIC,  /* it is linked with NVIDIA's static runtime, nvcc's default */
    PROGRAM_SASS,    /* it has machine code for certain GPUs only, and no PTX */
};
struct program {
    enum program_kind kind;
    bool ptx;         /* some of its device code is PTX, or it has no device code */
    char runtime[32]; /* the runtime that it is linked with, "libcudart.so.13"; "": none */
    bool driver;      /* it is linked with libcuda.so.1 */
};

/* false: the file cannot be read or is damaged; *why is an error message, which the caller frees. */
bool program_read(const char *path, struct program *out, char **why);

/* For PROGRAM_STATIC and PROGRAM_SASS: the nvcc flags with which Heddle could run the program. */
const char *program_flags(const struct program *p);

#endif
