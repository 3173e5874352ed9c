/* cuda/capture.h: streams whose operations become nodes of a graph instead of being done.
 *
 * A capture begins in one stream, its origin, and takes in every stream that waits for an event recorded in one of its
 * streams. Each of them has a frontier: the nodes behind which the next one comes. */
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
    bool invalid, to_graph; /* to_graph: of the program's */
};

/* Before an operation in that stream, or a wait of the host for it. */
CUresult capture_use(struct CUstream_st *s, bool synchronous);
/* Before a call that may wait for the device, or change its memory, behind the backs of streams. */
CUresult capture_unsafe(void);
/* The operation becomes a node; takes it. */
CUresult capture_add(struct CUstream_st *s, struct work *w);

CUresult capture_record(struct CUstream_st *s, CUevent e);
/* true: the wait was one of captures, and *r is its answer. */
bool capture_wait(struct CUstream_st *s, CUevent e, unsigned flags, CUresult *r);
/* Before the host asks for the event. */
CUresult capture_event(CUevent e);
void capture_invalidate(struct capture *k);
/* The stream is destroyed. */
void capture_leave(struct CUstream_st *s);
void capture_drop_all(void);

#endif
