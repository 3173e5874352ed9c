/* Stubs of runtime functions that Heddle lacks: they return cudaErrorNotSupported; the end of the program lists the calls. */
#include "cuda/runtime/runtime.h"

/* Declared by nobody: their parameters are not looked at. */
#pragma GCC visibility push(default)
#define ABSENT(name)                                                                               \
    cudaError_t name(void);                                                                        \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        return runtime_done(heddle_absent(#name));                                                 \
    }
#include "cuda/runtime/absent.def"
#undef ABSENT
#pragma GCC visibility pop
