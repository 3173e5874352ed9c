/* Creates, queries and destroys streams and events. queue.c executes their operations, capture.c captures them. The time of
 * an event is the host's wall clock when the event completes; if launches are estimated, the time on the estimated GPU. */
#define _GNU_SOURCE
#include "cuda/capture.h"
#include "cuda/graph.h"
#include "cuda/queue.h"

/* ---- streams -------------------------------------------------------------------------------------------- */

static struct CUstream_st *stream_new(struct CUctx_st *c, unsigned flags, int priority)
{
    struct CUstream_st *s = object_new(OBJECT_STREAM, sizeof *s);
    s->context = c;
    s->flags = flags;
    s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    s->id = ++driver.serial;
    s->policy = CU_SYNC_POLICY_AUTO;
    return s;
}

/* Without handles: a context's legacy default stream, and that of the thread in it. */
static struct CUstream_st *default_of(struct CUctx_st *c, unsigned long long thread)
{
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUstream_st *s = (struct CUstream_st *)o;
        if (o->kind == OBJECT_STREAM && s->context == c &&
            (thread ? s->thread == thread : s->legacy))
            return s;
    }
    struct CUstream_st *s = stream_new(c, CU_STREAM_DEFAULT, 0);
    s->legacy = !thread;
    s->thread = thread;
    return s;
}

static struct CUstream_st *legacy_of(struct CUctx_st *c)
{
    if (!c->legacy) c->legacy = default_of(c, 0);
    return c->legacy;
}

static _Thread_local bool null_is_own;

void stream_null_is(CUstream which)
{
    null_is_own = which == CU_STREAM_PER_THREAD;
}

struct CUstream_st *stream_of(struct CUctx_st *c, CUstream handle)
{
    if (!handle) handle = null_is_own ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
    if (handle == CU_STREAM_LEGACY) return legacy_of(c);
    if (handle == CU_STREAM_PER_THREAD) return default_of(c, driver_thread());
    return object_check(handle, OBJECT_STREAM);
}

bool stream_ok(CUstream s)
{
    return !s || s == CU_STREAM_LEGACY || s == CU_STREAM_PER_THREAD ||
           object_check(s, OBJECT_STREAM);
}

static CUresult begin_stream(CUstream handle, struct CUctx_st **c, struct CUstream_st **s)
{
    const CUresult r = driver_begin_on(handle, c);
    if (r != CUDA_SUCCESS) return r;
    *s = stream_of(*c, handle);
    return *s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!stream || flags > CU_STREAM_NON_BLOCKING))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) *stream = stream_new(c, flags, priority);
    return driver_end(r);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && (s->legacy || s->thread)) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS) {
        capture_leave(s);
        queue_leave(s);
    }
    return driver_end(r);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS) r = capture_use(s, true);
    if (r == CUDA_SUCCESS) r = queue_wait_stream(s);
    if (r == CUDA_SUCCESS) pools_synchronise();
    return driver_end(r);
}

CUresult cuStreamQuery(CUstream stream)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS) r = capture_use(s, true);
    if (r == CUDA_SUCCESS && !queue_poll_stream(s)) r = CUDA_ERROR_NOT_READY;
    if (r == CUDA_SUCCESS) r = c->broken;
    return driver_end(r);
}

/* What is known of a stream. */
#define ASK(stream, place, value)                                                                  \
    do {                                                                                           \
        struct CUctx_st *c;                                                                        \
        struct CUstream_st *s;                                                                     \
        CUresult r = begin_stream(stream, &c, &s);                                                 \
        if (r == CUDA_SUCCESS && !(place)) r = CUDA_ERROR_INVALID_VALUE;                           \
        if (r == CUDA_SUCCESS) *(place) = (value);                                                 \
        return driver_end(r);                                                                      \
    } while (0)

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    ASK(stream, priority, s->priority);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    ASK(stream, flags, s->flags);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    ASK(stream, id, s->id);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    ASK(stream, context, s->context);
}

/* No stream is of a green context: none can be made. */
CUresult cuStreamGetGreenCtx(CUstream stream, CUgreenCtx *green)
{
    ASK(stream, green, NULL);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green)
{
    if (!green) return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    *green = NULL;
    return cuStreamGetCtx(stream, context);
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device)
{
    ASK(stream, device, 0);
}

/* ---- attributes of streams: kept, and heeded where they mean anything here ------------------------------- */

CUresult cuStreamGetAttribute(CUstream stream, CUlaunchAttributeID id,
                              CUlaunchAttributeValue *value)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && !value) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: value->window = s->window; break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY: value->policy = s->policy; break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: value->priority = s->priority; break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        value->domains.normal = s->domains[0];
        value->domains.remote = s->domains[1];
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: value->domain = s->domain; break;
    default: r = CUDA_ERROR_INVALID_VALUE;
    }
    return driver_end(r);
}

CUresult cuStreamSetAttribute(CUstream stream, CUlaunchAttributeID id,
                              const CUlaunchAttributeValue *value)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && !value) r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW: s->window = value->window; break;
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        if (value->policy < CU_SYNC_POLICY_AUTO || value->policy > CU_SYNC_POLICY_BLOCKING_SYNC)
            r = CUDA_ERROR_INVALID_VALUE;
        else s->policy = value->policy;
        break;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        s->priority = value->priority > 0 ? 0 : value->priority < -5 ? -5 : value->priority;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
        s->domains[0] = value->domains.normal;
        s->domains[1] = value->domains.remote;
        break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN: s->domain = value->domain; break;
    default: r = CUDA_ERROR_INVALID_VALUE;
    }
    return driver_end(r);
}

CUresult cuStreamCopyAttributes(CUstream to, CUstream from)
{
    struct CUctx_st *c;
    struct CUstream_st *t, *f;
    CUresult r = begin_stream(to, &c, &t);
    if (r == CUDA_SUCCESS && !(f = stream_of(c, from))) r = CUDA_ERROR_INVALID_HANDLE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    t->window = f->window;
    t->policy = f->policy;
    t->domain = f->domain;
    memcpy(t->domains, f->domains, sizeof t->domains);
    return driver_end(CUDA_SUCCESS);
}

/* ---- host functions -------------------------------------------------------------------------------------- */

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && (!callback || flags)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && s->capture) { /* a graph has no stream to pass to it */
        capture_invalidate(s->capture);
        r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (r == CUDA_SUCCESS) callback_prepare();
    struct work w = {.type = CU_GRAPH_NODE_TYPE_HOST,
                     .context = r == CUDA_SUCCESS ? c : NULL,
                     .host.what = {.callback = callback, .data = data, .stream = stream}};
    return stream_call(stream, r, c, &w, false);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    struct CUctx_st *c;
    struct work w;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS) r = work_host(&w, c, &(CUDA_HOST_NODE_PARAMS){function, data});
    return stream_call(stream, r, c, &w, false);
}

/* ---- values in memory ------------------------------------------------------------------------------------ */

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams *params,
                               unsigned flags)
{
    struct CUctx_st *c;
    struct work w;
    CUresult r = driver_begin_on(stream, &c);
    if (r == CUDA_SUCCESS) r = work_batch(&w, c, count, params, flags);
    return stream_call(stream, r, c, &w, false);
}

static CUresult one_value(CUstream stream, CUstreamBatchMemOpType operation, CUdeviceptr address,
                          uint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams p = {.waitValue = {operation, address, {0}, flags, 0}};
    p.waitValue.value64 = value;
    return cuStreamBatchMemOp_v2(stream, 1, &p, 0);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                unsigned flags)
{
    return one_value(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                unsigned flags)
{
    return one_value(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value,
                                 unsigned flags)
{
    return one_value(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}

CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value,
                                 unsigned flags)
{
    return one_value(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}

/* ---- events ---------------------------------------------------------------------------------------------- */

static CUresult begin_event(CUevent e)
{
    struct CUctx_st *c;
    return driver_begin_event(e, &c);
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    struct CUctx_st *c;
    CUresult r = driver_begin(&c);
    if (r == CUDA_SUCCESS && (!event || flags > 7)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags & CU_EVENT_INTERPROCESS &&
        !(flags & CU_EVENT_DISABLE_TIMING)) /* these have none */
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && flags & CU_EVENT_INTERPROCESS)
        r = heddle_absent("cuEventCreate with CU_EVENT_INTERPROCESS");
    if (r != CUDA_SUCCESS) return driver_end(r);
    struct CUevent_st *e = object_new(OBJECT_EVENT, sizeof *e);
    e->context = c;
    e->flags = flags;
    *event = e;
    return driver_end(CUDA_SUCCESS);
}

void event_destroy(CUevent e)
{
    operation_release(e->last);
    nodes_free(&e->nodes);
    e->last = NULL;
    object_destroy(&e->object);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    CUresult r = begin_event(event);
    if (r == CUDA_SUCCESS) event_destroy(event);
    return driver_end(r);
}

/* When the operation is done. */
CUresult event_record(CUevent e)
{
    if (!queue_records(e)) return CUDA_SUCCESS; /* recorded again since, or destroyed */
    e->recorded = true;
    e->estimated = timeline_done(&driver.reports.timeline);
    clock_gettime(CLOCK_MONOTONIC, &e->at);
    return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    struct work w;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && flags > (s->capture ? CU_EVENT_RECORD_EXTERNAL : 0u))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = work_event(&w, c, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
    if (r == CUDA_SUCCESS && event->context != c) r = CUDA_ERROR_INVALID_HANDLE;
    if (r == CUDA_SUCCESS && s->capture && !flags) {
        r = capture_use(s, false);
        return driver_end(r == CUDA_SUCCESS ? capture_record(s, event) : r);
    }
    return stream_call(stream, r, c, &w, false);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return cuEventRecordWithFlags(event, stream, 0);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    struct work w;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && flags > (s->capture ? CU_EVENT_WAIT_EXTERNAL : 0u))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = work_event(&w, c, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
    if (r == CUDA_SUCCESS) r = capture_use(s, false);
    if (r == CUDA_SUCCESS && capture_wait(s, event, flags, &r)) return driver_end(r);
    return stream_call(stream, r, c, &w, false);
}

CUresult cuEventQuery(CUevent event)
{
    CUresult r = begin_event(event);
    if (r == CUDA_SUCCESS) r = capture_event(event);
    if (r == CUDA_SUCCESS && !queue_poll_event(event)) r = CUDA_ERROR_NOT_READY;
    return driver_end(r);
}

CUresult cuEventSynchronize(CUevent event)
{
    CUresult r = begin_event(event);
    if (r == CUDA_SUCCESS) r = capture_event(event);
    if (r == CUDA_SUCCESS) r = queue_wait_event(event);
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
    if (r == CUDA_SUCCESS && (!queue_poll_event(start) || !queue_poll_event(end)))
        r = CUDA_ERROR_NOT_READY;
    if (r == CUDA_SUCCESS)
        *milliseconds = driver.reports.estimates
                            ? (float)((end->estimated - start->estimated) * 1e3)
                            : (float)((double)(end->at.tv_sec - start->at.tv_sec) * 1e3 +
                                      (double)(end->at.tv_nsec - start->at.tv_nsec) * 1e-6);
    return driver_end(r);
}

#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}
