/* cuda/runtime/runtime.h: what the files of the runtime API share.
 *
 * libcudart.so.13 is a program on the driver API (libcuda.so.1), which holds all state but what is here: what the
 * host's code has registered, each thread's last error, and its launch configurations. Every function is
 *
 *     RUNTIME_CALL(cuSomething(...));      // runtime_begin(), the call of the driver, runtime_done()
 *
 * runtime_begin() makes the device's primary context current in the thread, as NVIDIA's runtime does. runtime_done()
 * stores an error as the thread's last one. Error codes are those of the driver API: those of the runtime API have the
 * same numbers, and there are more of them. */
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H

#include "cuda/cuda_api.h"
#include "cuda/runtime/runtime_api.h"

#include <stdbool.h>
#include <string.h>

/* CUDA_SUCCESS, or why nothing can be done. */
CUresult runtime_begin(void);
/* The primary context is the thread's from now on, whichever was. */
CUresult runtime_use_primary(void);
/* The error becomes the thread's last one, unless there is none. */
cudaError_t runtime_done(unsigned result);

/* Of cuda/driver.h, whose other functions are not to be seen here. */
void heddle_call_failed(unsigned result, const char *name);
CUresult heddle_absent(const char *name);

/* A call whose work is one of the driver's, given what it is given. */
#define RUNTIME_CALL(call)                                                                         \
    do {                                                                                           \
        const CUresult begun = runtime_begin();                                                    \
        return runtime_done(begun != CUDA_SUCCESS ? begun : (call));                               \
    } while (0)

/* What a host function or a cudaKernel_t stands for: its module is loaded when it is first asked for. */
unsigned runtime_function(const void *host, CUfunction *out);
/* Likewise of a variable; any of the places may be NULL. */
unsigned runtime_variable(const void *host, CUdeviceptr *address, size_t *size);
struct runtime_reference { /* to a texture or a surface: a variable of a module */
    CUmodule module;
    const char *name;
    bool as_float; /* what is an integer in memory is read as a float */
};
unsigned runtime_reference(const void *host, struct runtime_reference *out);
/* The device was reset: modules are gone. */
void runtime_forget_modules(void);

/* The host's function that stands for a kernel; the kernel itself where there is none. */
const void *runtime_host_of(CUfunction function);
/* Where in a variable a copy of so many bytes begins. */
unsigned runtime_part_of(const void *symbol, size_t size, size_t offset, void **part);
/* A copy as the driver has it, and back. */
unsigned runtime_copy(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out);
unsigned runtime_copy_back(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *out);

/* The driver's format of 1, 2 or 4 channels of one width; false: there is none. */
bool runtime_channels(const struct cudaChannelFormatDesc *d, CUarray_format *format,
                      unsigned *count);
/* Bytes of one channel. */
size_t runtime_texel(CUarray_format format);

/* Where the call that gave `r` left an address. */
static inline unsigned runtime_give(CUresult r, const CUdeviceptr *address, void **out)
{
    if (r == CUDA_SUCCESS) memcpy(out, address, sizeof *out);
    return r;
}

static inline CUdeviceptr runtime_address(const void *p)
{
    return (CUdeviceptr)(size_t)p;
}

#endif
