/* Streams and events: calls of the driver API. */
#include "cuda/runtime/runtime.h"

#include <stdlib.h>

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    RUNTIME_CALL(cuStreamCreate(out, CU_STREAM_DEFAULT));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    RUNTIME_CALL(cuStreamCreate(out, flags));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority)
{
    RUNTIME_CALL(cuStreamCreateWithPriority(out, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    RUNTIME_CALL(cuStreamDestroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    RUNTIME_CALL(cuStreamSynchronize(stream));
}

/* That work is not done yet is an answer, and no error to remember. */
static cudaError_t ready(CUresult r)
{
    return r == CUDA_ERROR_NOT_READY ? cudaErrorNotReady : runtime_done(r);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    const CUresult r = runtime_begin();
    return ready(r == CUDA_SUCCESS ? cuStreamQuery(stream) : r);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    RUNTIME_CALL(cuStreamWaitEvent(stream, event, flags));
}

struct callback {
    cudaStreamCallback_t function;
    void *data;
};

static void call_back(CUstream stream, CUresult status, void *data)
{
    const struct callback c = *(struct callback *)data;
    free(data);
    c.function(stream, (cudaError_t)status, c.data);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                  unsigned flags)
{
    CUresult r = runtime_begin();
    if (r != CUDA_SUCCESS || !callback)
        return runtime_done(r == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : r);
    struct callback *c = malloc(sizeof *c);
    if (!c) return runtime_done(cudaErrorMemoryAllocation);
    *c = (struct callback){callback, data};
    r = cuStreamAddCallback(stream, call_back, c, flags);
    if (r != CUDA_SUCCESS) free(c);
    return runtime_done(r);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    RUNTIME_CALL(cuLaunchHostFunc(stream, function, data));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    RUNTIME_CALL(cuStreamGetFlags(stream, flags));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    RUNTIME_CALL(cuStreamGetPriority(stream, priority));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    unsigned flags;
    if (!device) return runtime_done(cudaErrorInvalidValue);
    *device = 0;
    RUNTIME_CALL(cuStreamGetFlags(stream, &flags));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    RUNTIME_CALL(cuStreamGetId(stream, id));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int id, cudaLaunchAttributeValue *value)
{
    RUNTIME_CALL(cuStreamGetAttribute(stream, (CUlaunchAttributeID)id, value));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int id,
                                   const cudaLaunchAttributeValue *value)
{
    RUNTIME_CALL(cuStreamSetAttribute(stream, (CUlaunchAttributeID)id, value));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from)
{
    RUNTIME_CALL(cuStreamCopyAttributes(to, from));
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    RUNTIME_CALL(cuEventCreate(out, CU_EVENT_DEFAULT));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    RUNTIME_CALL(cuEventCreate(out, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    RUNTIME_CALL(cuEventDestroy(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    RUNTIME_CALL(cuEventRecord(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    RUNTIME_CALL(cuEventRecordWithFlags(event, stream, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const CUresult r = runtime_begin();
    return ready(r == CUDA_SUCCESS ? cuEventQuery(event) : r);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    RUNTIME_CALL(cuEventSynchronize(event));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    RUNTIME_CALL(cuEventElapsedTime(milliseconds, start, end));
}
