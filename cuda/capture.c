/* Stream capture (cuda/capture.h). */
#include "cuda/capture.h"

#include "cuda/graph.h"
#include "cuda/queue.h"

#include <stdlib.h>

static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void nodes_free(struct nodes *n)
{
    free((void *)n->at);
    *n = (struct nodes){0};
}

static void set_nodes(struct nodes *n, const CUgraphNode *at, size_t count)
{
    CUgraphNode *copy = count ? malloc(count * sizeof *copy) : NULL;
    if (count && !copy) abort();
    if (count) memcpy((void *)copy, (const void *)at, count * sizeof *copy);
    nodes_free(n);
    *n = (struct nodes){copy, count};
}

static void nodes_join(struct nodes *n, const CUgraphNode *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < n->count && n->at[k] != at[i]) k++;
        if (k < n->count) continue;
        n->at = realloc((void *)n->at, (n->count + 1) * sizeof *n->at);
        if (!n->at) abort();
        n->at[n->count++] = at[i];
    }
}

static struct capture *capture_by_id(unsigned long long id)
{
    struct capture *k = driver.captures;
    while (k && k->id != id) k = k->next;
    return k;
}

void capture_invalidate(struct capture *k)
{
    if (k) k->invalid = true;
}

/* Its streams are ordinary ones again. */
static void end(struct capture *k)
{
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUstream_st *s = (struct CUstream_st *)o;
        if (s->capture != k) continue;
        s->capture = NULL;
        nodes_free(&s->frontier);
    }
    struct capture **at = &driver.captures;
    while (*at != k) at = &(*at)->next;
    *at = k->next;
    free(k);
}

static bool reaches(const struct CUgraphNode_st *node, const struct nodes *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (from->at[i] == node || graph_is_behind(from->at[i], node)) return true;
    return false;
}

/* Whether another stream of the capture comes after all that this one has captured. */
static bool is_waited_for(const struct capture *k, const struct CUstream_st *s)
{
    size_t behind = 0;
    for (size_t i = 0; i < s->frontier.count; i++)
        for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o;
             o = o->next) {
            const struct CUstream_st *other = (struct CUstream_st *)o;
            if (other == s || other->capture != k || !reaches(s->frontier.at[i], &other->frontier))
                continue;
            behind++;
            break;
        }
    return behind == s->frontier.count;
}

void capture_leave(struct CUstream_st *s)
{
    struct capture *k = s->capture;
    if (!k) return;
    if (k->origin == s) {
        if (!k->to_graph) graph_drop(k->graph);
        end(k);
    } else {
        if (!is_waited_for(k, s)) capture_invalidate(k);
        s->capture = NULL;
        nodes_free(&s->frontier);
    }
}

void capture_drop_all(void)
{
    while (driver.captures) capture_leave(driver.captures->origin);
}

/* ---- what may be done meanwhile ------------------------------------------------------------------------ */

static bool forbids(const struct capture *k)
{
    const bool own = k->thread == driver_thread();
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return false;
    if (own) return k->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && k->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_unsafe(void)
{
    CUresult r = CUDA_SUCCESS;
    for (struct capture *k = driver.captures; k; k = k->next)
        if (forbids(k)) {
            capture_invalidate(k);
            r = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return r;
}

/* The legacy stream would have to wait for blocking streams that are captured. `invalidate`: it is used, not asked about. */
static CUresult use_legacy(const struct CUstream_st *legacy, bool invalidate)
{
    CUresult r = CUDA_SUCCESS;
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        struct CUstream_st *s = (struct CUstream_st *)o;
        if (!s->capture || s->context != legacy->context || s->flags & CU_STREAM_NON_BLOCKING)
            continue;
        if (invalidate) capture_invalidate(s->capture);
        r = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return r;
}

CUresult capture_use(struct CUstream_st *s, bool synchronous)
{
    if (!driver.captures) return CUDA_SUCCESS;
    if (s->legacy) {
        const CUresult r = use_legacy(s, true);
        if (r != CUDA_SUCCESS) return r;
    }
    if (!s->capture) return synchronous ? capture_unsafe() : CUDA_SUCCESS;
    if (s->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!synchronous) return CUDA_SUCCESS;
    capture_invalidate(s->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_add(struct CUstream_st *s, struct work *w)
{
    CUgraphNode node;
    const CUresult r = graph_add(s->capture->graph, s->frontier.at, NULL, s->frontier.count, w,
                                 &node);
    if (r == CUDA_SUCCESS) set_nodes(&s->frontier, &node, 1);
    else capture_invalidate(s->capture);
    return r;
}

/* ---- events ---------------------------------------------------------------------------------------------- */

CUresult capture_record(struct CUstream_st *s, CUevent e)
{
    e->captured = s->capture->id;
    set_nodes(&e->nodes, s->frontier.at, s->frontier.count);
    return CUDA_SUCCESS;
}

CUresult capture_event(CUevent e)
{
    struct capture *k = e->captured ? capture_by_id(e->captured) : NULL;
    if (!k) return capture_unsafe();
    capture_invalidate(k);
    return CUDA_ERROR_CAPTURED_EVENT;
}

static CUresult merge(struct capture *a, struct capture *b)
{
    capture_invalidate(a);
    capture_invalidate(b);
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
}

static CUresult join(struct CUstream_st *s, struct capture *k, CUevent e)
{
    if (k->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (s->capture && s->capture != k) return merge(s->capture, k);
    if (s->legacy) {
        capture_invalidate(k);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    s->capture = k;
    nodes_join(&s->frontier, e->nodes.at, e->nodes.count);
    return CUDA_SUCCESS;
}

bool capture_wait(struct CUstream_st *s, CUevent e, unsigned flags, CUresult *r)
{
    struct capture *k = e->captured ? capture_by_id(e->captured) : NULL;
    const bool outside = (flags & CU_EVENT_WAIT_EXTERNAL) != 0;
    if (k && !outside) *r = join(s, k, e);
    else if (!s->capture || outside) return false;
    else if (!e->recorded) *r = CUDA_SUCCESS; /* of nothing */
    else {
        capture_invalidate(s->capture);
        *r = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    return true;
}

/* ---- the calls ------------------------------------------------------------------------------------------- */

static CUresult begin_stream(CUstream handle, struct CUctx_st **c, struct CUstream_st **s)
{
    const CUresult r = driver_begin_on(handle, c);
    if (r != CUDA_SUCCESS) return r;
    *s = stream_of(*c, handle);
    return *s ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static bool are_of(const struct CUgraph_st *g, const CUgraphNode *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!nodes || !object_check(nodes[i], OBJECT_NODE) || nodes[i]->graph != g) return false;
    return true;
}

static CUresult begin_capture(struct CUctx_st *c, struct CUstream_st *s, struct CUgraph_st *to,
                              CUstreamCaptureMode mode)
{
    if ((unsigned)mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    if (s->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (s->capture) return CUDA_ERROR_ILLEGAL_STATE;
    struct capture *k = calloc(1, sizeof *k);
    if (!k) abort();
    *k = (struct capture){.next = driver.captures,
                          .id = ++driver.serial,
                          .thread = driver_thread(),
                          .graph = to ? to : graph_new(c),
                          .origin = s,
                          .mode = mode,
                          .to_graph = to != NULL};
    s->capture = driver.captures = k;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS) r = begin_capture(c, s, NULL, mode);
    return driver_end(r);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph,
                                     const CUgraphNode *dependencies, const CUgraphEdgeData *data,
                                     size_t count, CUstreamCaptureMode mode)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    (void)data; /* ports are of no meaning here */
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS) r = graph_check(graph);
    if (r == CUDA_SUCCESS && !are_of(graph, dependencies, count)) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS) r = begin_capture(c, s, graph, mode);
    if (r == CUDA_SUCCESS) set_nodes(&s->frontier, dependencies, count);
    return driver_end(r);
}

/* Whether all that the capture's streams did last comes before what its origin does next. */
static bool is_joined(const struct capture *k)
{
    for (struct object *o = driver.objects.all[OBJECT_STREAM - OBJECT_CONTEXT]; o; o = o->next) {
        const struct CUstream_st *s = (struct CUstream_st *)o;
        if (s->capture != k || s == k->origin) continue;
        for (size_t i = 0; i < s->frontier.count; i++)
            if (!reaches(s->frontier.at[i], &k->origin->frontier)) return false;
    }
    return true;
}

static CUresult end_capture(struct CUstream_st *s, CUgraph *graph)
{
    struct capture *k = s->capture;
    CUresult r = CUDA_SUCCESS;
    if (!k) return CUDA_ERROR_ILLEGAL_STATE;
    if (k->mode != CU_STREAM_CAPTURE_MODE_RELAXED && k->thread != driver_thread())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (k->origin != s) {
        capture_invalidate(k);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    if (k->invalid) r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!is_joined(k)) r = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = r == CUDA_SUCCESS ? k->graph : NULL;
    if (r != CUDA_SUCCESS && !k->to_graph) graph_drop(k->graph);
    end(k);
    return r;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUgraph unwanted;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS) r = end_capture(s, graph ? graph : &unwanted);
    return driver_end(r);
}

static CUstreamCaptureStatus status_of(const struct CUstream_st *s)
{
    return !s->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
           : s->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && !status) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && s->legacy) r = use_legacy(s, false);
    if (r == CUDA_SUCCESS) *status = status_of(s);
    return driver_end(r);
}

/* Edges of captures are ordinary ones: all of their data is zero. */
static const CUgraphEdgeData *no_data(size_t count)
{
    static CUgraphEdgeData *zeros;
    static size_t capacity;
    if (count > capacity) {
        free(zeros);
        zeros = calloc(count, sizeof *zeros);
        if (!zeros) abort();
        capacity = count;
    }
    return zeros;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies,
                                   const CUgraphEdgeData **data, size_t *count)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && !status) r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && s->legacy) r = use_legacy(s, false);
    if (r != CUDA_SUCCESS) return driver_end(r);
    *status = status_of(s);
    if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return driver_end(CUDA_SUCCESS);
    if (id) *id = s->capture->id;
    if (graph) *graph = s->capture->graph;
    if (dependencies) *dependencies = s->frontier.at;
    if (data) *data = no_data(s->frontier.count);
    if (count) *count = s->frontier.count;
    return driver_end(CUDA_SUCCESS);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id,
                                   CUgraph *graph, const CUgraphNode **dependencies, size_t *count)
{
    return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, NULL, count);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies,
                                              const CUgraphEdgeData *data, size_t count,
                                              unsigned flags)
{
    struct CUctx_st *c;
    struct CUstream_st *s;
    (void)data;
    CUresult r = begin_stream(stream, &c, &s);
    if (r == CUDA_SUCCESS && flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && !s->capture) r = CUDA_ERROR_ILLEGAL_STATE;
    if (r == CUDA_SUCCESS && s->capture->invalid) r = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (r == CUDA_SUCCESS && !are_of(s->capture->graph, dependencies, count))
        r = CUDA_ERROR_INVALID_VALUE;
    if (r != CUDA_SUCCESS) return driver_end(r);
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) set_nodes(&s->frontier, dependencies, count);
    else nodes_join(&s->frontier, dependencies, count);
    return driver_end(CUDA_SUCCESS);
}

#undef cuStreamUpdateCaptureDependencies
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t count,
                                           unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    if (!mode || (unsigned)*mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return driver_refuse(CUDA_ERROR_INVALID_VALUE);
    const CUstreamCaptureMode before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}
