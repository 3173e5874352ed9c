/* cuda/runtime/runtime.h: functions that the files of the runtime API share.
 *
 * libcudart.so.13 uses the driver API (libcuda.so.1), which has all state except this: the fat binaries, kernels and
 * variables that the host's code has registered, and for each thread the last error and the launch configurations. Most
 * functions are
 *
 *     RUNTIME_CALL(cuSomething(...));      // runtime_begin(), the call of the driver, runtime_done()
 *
 * runtime_begin() makes the device's primary context current in a thread without context, as NVIDIA's runtime does. runtime_done()
 * stores an error as the thread's last one. Error codes are those of the driver API: those of the runtime API have the
 * same numbers, and there are more of them. */
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H

#include "cuda/cuda_api.h"
#include "cuda/runtime/runtime_api.h"

#include <stdbool.h>
#include <string.h>

/* Makes the primary context current if the thread has no context. Returns CUDA_SUCCESS, or the error that the call must return. */
CUresult runtime_begin(void);
/* Makes the primary context current in this thread, even if another context is current. */
CUresult runtime_use_primary(void);
/* Stores an error as the thread's last one (CUDA_SUCCESS: stores nothing), and returns it. */
cudaError_t runtime_done(unsigned result);

/* Declared in cuda/driver.h, which files of the runtime do not include. */
void heddle_call_failed(unsigned result, const char *name);
CUresult heddle_absent(const char *name);

/* The body of a runtime function that makes one call of the driver API. */
#define RUNTIME_CALL(call)                                                                         \
    do {                                                                                           \
        const CUresult begun = runtime_begin();                                                    \
        return runtime_done(begun != CUDA_SUCCESS ? begun : (call));                               \
    } while (0)

/* The kernel of a host function or a cudaKernel_t. Loads its module at the first use. */
unsigned runtime_function(const void *host, CUfunction *out);
/* The same for a variable; `address` and `size` may be NULL. */
unsigned runtime_variable(const void *host, CUdeviceptr *address, size_t *size);
struct runtime_reference { /* a texture or surface reference: a variable of a module */
    CUmodule module;
    const char *name;
    bool as_float; /* texture reads convert integers to floats */
};
unsigned runtime_reference(const void *host, struct runtime_reference *out);
/* To be called after a reset of the device, which unloads all modules. */
void runtime_forget_modules(void);

/* The host function of a kernel; the kernel itself if it has none. */
const void *runtime_host_of(CUfunction function);
/* The address at `offset` in a variable, for a copy of `size` bytes. */
unsigned runtime_part_of(const void *symbol, size_t size, size_t offset, void **part);
/* Convert a copy to the driver's structure, and back. */
unsigned runtime_copy(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out);
unsigned runtime_copy_back(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *out);

/* The driver's format and number of channels (1, 2 or 4, of one width); false: there is none. */
bool runtime_channels(const struct cudaChannelFormatDesc *d, CUarray_format *format,
                      unsigned *count);
/* Size of one channel in bytes. */
size_t runtime_texel(CUarray_format format);

/* Converts the address that a call with result `r` has set to a pointer in *out. Returns r. */
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
