/* cuda/capture.h: stream capture: operations of a stream become nodes of a graph instead of being executed.
 *
 * A capture begins in one stream, its origin. A stream joins the capture when it waits for an event that was recorded in
 * one of the capture's streams. Each of these has a frontier: the nodes that its next node depends on. */
#ifndef HEDDLE_CUDA_CAPTURE_H
#define HEDDLE_CUDA_CAPTURE_H

#include "cuda/driver.h"
#include "cuda/work.h"

void nodes_free(struct nodes *n);

struct capture {
    struct capture *next;
    unsigned long long id, thread;
    struct CUgraph_st *graph;
    struct CUstream_st *origin;
    CUstreamCaptureMode mode;
    bool invalid, to_graph; /* to_graph: `graph` existed before (cuStreamBeginCaptureToGraph) */
};

/* To be called before an operation of that stream, or (`synchronous`) before a wait of the host for the stream. Returns an
 * error if a capture forbids it. */
CUresult capture_use(struct CUstream_st *s, bool synchronous);
/* To be called before an API call that may wait for the device, or change its memory, outside of streams. Returns an error
 * if a capture forbids it. */
CUresult capture_unsafe(void);
/* Adds the operation, which it takes, to the stream's capture as a node. */
CUresult capture_add(struct CUstream_st *s, struct work *w);

CUresult capture_record(struct CUstream_st *s, CUevent e);
/* A stream waits for an event. true: a capture handled the wait, and *r is the result of the call. */
bool capture_wait(struct CUstream_st *s, CUevent e, unsigned flags, CUresult *r);
/* To be called before the host queries or waits for the event. Returns an error if it was recorded in a capture. */
CUresult capture_event(CUevent e);
void capture_invalidate(struct capture *k);
/* To be called when the stream is destroyed. */
void capture_leave(struct CUstream_st *s);
void capture_drop_all(void);

#endif
