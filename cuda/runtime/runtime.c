/* The start of the runtime, errors, versions, profiling. */
#include "cuda/runtime/runtime.h"

#include <pthread.h>
#include <string.h>

static CUcontext primary;
static CUresult started = CUDA_ERROR_NOT_INITIALIZED;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local cudaError_t last;

static void start(void)
{
    started = cuInit(0);
    if (started == CUDA_SUCCESS) started = cuDevicePrimaryCtxRetain(&primary, 0);
}

/* A context that the program made current itself stays. */
CUresult runtime_begin(void)
{
    CUcontext now;
    pthread_once(&once, start);
    if (started != CUDA_SUCCESS) return started;
    CUresult r = cuCtxGetCurrent(&now);
    return r == CUDA_SUCCESS && !now ? cuCtxSetCurrent(primary) : r;
}

CUresult runtime_use_primary(void)
{
    return cuCtxSetCurrent(primary);
}

cudaError_t runtime_done(unsigned result)
{
    if (result != cudaSuccess) {
        last = (cudaError_t)result;
        heddle_call_failed(result, cudaGetErrorName(last));
    }
    return (cudaError_t)result;
}

/* What a kernel did to its context is every call's error, and stays. */
static cudaError_t lasting(void)
{
    unsigned flags;
    const CUresult r = started == CUDA_SUCCESS ? cuCtxGetFlags(&flags) : CUDA_SUCCESS;
    return r == CUDA_ERROR_INVALID_CONTEXT ? cudaSuccess : (cudaError_t)r;
}

cudaError_t cudaPeekAtLastError(void)
{
    const cudaError_t r = lasting();
    return r != cudaSuccess ? r : last;
}

cudaError_t cudaGetLastError(void)
{
    const cudaError_t r = cudaPeekAtLastError();
    last = cudaSuccess;
    return r;
}

static const struct {
    cudaError_t code;
    const char *name, *text;
} errors[] = {
#define ERROR(name, value, text) {name, #name, text},
#include "cuda/runtime/errors.def"
#undef ERROR
};
static const char unknown[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error) return errors[i].name;
    return unknown;
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == error) return errors[i].text;
    return unknown;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) return runtime_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return runtime_done(cuDriverGetVersion(version));
}

cudaError_t cudaProfilerStart(void)
{
    RUNTIME_CALL(cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
    RUNTIME_CALL(cuProfilerStop());
}

/* ---- the log of errors, which is the driver's --------------------------------------------------------- */

cudaError_t cudaLogsRegisterCallback(CUlogsCallback callback, void *data, CUlogsCallbackHandle *out)
{
    RUNTIME_CALL(cuLogsRegisterCallback(callback, data, out));
}

cudaError_t cudaLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
    RUNTIME_CALL(cuLogsUnregisterCallback(callback));
}

cudaError_t cudaLogsCurrent(CUlogIterator *out, unsigned flags)
{
    RUNTIME_CALL(cuLogsCurrent(out, flags));
}

cudaError_t cudaLogsDumpToFile(CUlogIterator *from, const char *path, unsigned flags)
{
    RUNTIME_CALL(cuLogsDumpToFile(from, path, flags));
}

cudaError_t cudaLogsDumpToMemory(CUlogIterator *from, char *to, size_t *size, unsigned flags)
{
    RUNTIME_CALL(cuLogsDumpToMemory(from, to, size, flags));
}
