/* Streams and events. Work is done when it is issued, in the order of issue, whatever its stream: so
 * everything is always complete, and nothing ever waits. An event's time is the host's wall clock. */
#define _GNU_SOURCE
#include "cuda/driver.h"

bool stream_ok(CUstream s)
{
    return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD ||
           object_check(s, OBJECT_STREAM);
}

static CUresult begin_stream(CUstream s, struct CUctx_st **c)
{
    CUresult r = driver_begin(c);
    return r == CUDA_SUCCESS && !stream_ok(s) ? CUDA_ERROR_INVALID_HANDLE : r;
}

/* The object behind a handle; NULL for the default streams, which have none. */
static const struct CUstream_st *object_of(CUstream s)
{
    return object_check(s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD ? NULL : s,
                        OBJECT_STREAM);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!stream || flags > CU_STREAM_NON_BLOCKING))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUstream_st *s = object_new(OBJECT_STREAM, sizeof *s);
    s->context = c;
    s->flags = flags;
    s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    s->id = ++driver.serial;
    *stream = s;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !object_of(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) object_destroy(&stream->object);
    return driver_end(r);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS) pools_synchronise();
    return driver_end(r);
}

CUresult cuStreamQuery(CUstream stream)
{
    struct CUctx_st *c;
    return driver_end(begin_stream(stream, &c));
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !priority) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *priority = object_of(stream) ? stream->priority : 0;
    return driver_end(r);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !flags) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *flags = object_of(stream) ? stream->flags : 0;
    return driver_end(r);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !id) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *id = object_of(stream) ? stream->id : 0;
    return driver_end(r);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !context) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *context = object_of(stream) ? stream->context : c;
    return driver_end(r);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !object_check(event, OBJECT_EVENT)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && flags > 1) r = CUDA_ERROR_INVALID_VALUE;
    return driver_end(r);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && (!callback || flags)) r = CUDA_ERROR_INVALID_VALUE;
    driver_unlock();
    if (r == CUDA_SUCCESS) callback(stream, CUDA_SUCCESS, data);
    return r;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    struct CUctx_st *c;
    CUresult r = begin_stream(stream, &c);
    if (r == CUDA_SUCCESS && !function) r = CUDA_ERROR_INVALID_VALUE;
    driver_unlock();
    if (r == CUDA_SUCCESS) function(data);
    return r;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static CUresult begin_event(CUevent e)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    return r == CUDA_SUCCESS && !object_check(e, OBJECT_EVENT) ? CUDA_ERROR_INVALID_HANDLE : r;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!event || flags > 7)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags & CU_EVENT_INTERPROCESS) r = CUDA_ERROR_NOT_SUPPORTED;
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUevent_st *e = object_new(OBJECT_EVENT, sizeof *e);
    e->context = c;
    e->flags = flags;
    *event = e;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUresult r = begin_event(event);
    if (r == CUDA_SUCCESS) object_destroy(&event->object);
    return driver_end(r);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    CUresult r = begin_event(event);
    if (r == CUDA_SUCCESS && !stream_ok(stream)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && flags > 1) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) {
        event->recorded = true;
        clock_gettime(CLOCK_MONOTONIC, &event->at);
    }
    return driver_end(r);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return cuEventRecordWithFlags(event, stream, 0);
}

CUresult cuEventQuery(CUevent event)
{
    return driver_end(begin_event(event));
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult r = begin_event(event);
    if (r == CUDA_SUCCESS) pools_synchronise();
    return driver_end(r);
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end)
{
    CUresult r = begin_event(start);
    if (r == CUDA_SUCCESS && !object_check(end, OBJECT_EVENT)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && !milliseconds) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (!start->recorded || !end->recorded ||
                              (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
        r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS)
        *milliseconds = (float)((double)(end->at.tv_sec - start->at.tv_sec) * 1e3 +
                                (double)(end->at.tv_nsec - start->at.tv_nsec) * 1e-6);
    return driver_end(r);
}

#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
