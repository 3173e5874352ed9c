/* cuda/queue.h: the execution of streams.
 *
 * A stream is a queue of operations, which execute in order. Two rules order operations of different streams. An
 * operation that waits for an event executes after the operation that recorded the event. An operation of the legacy
 * default stream executes after all operations submitted before to the context's other streams (except non-blocking
 * ones), and operations submitted to these streams later execute after it. All other orders are allowed.
 *
 * Without an adversary an operation executes when it is submitted, unless it must wait for another operation. With an
 * adversary (order `random`) operations stay in their queues until the program waits for them; then randomly chosen
 * streams execute. So an operation executes only if the program must see it complete, or if its stream is chosen. */
#ifndef HEDDLE_CUDA_QUEUE_H
#define HEDDLE_CUDA_QUEUE_H

#include "cuda/driver.h"
#include "cuda/work.h"

/* The stream of a handle; NULL: none. Creates the legacy stream of a context, and the default stream of a thread, at
 * their first use. */
struct CUstream_st *stream_of(struct CUctx_st *c, CUstream handle);
/* Sets the stream that the handle NULL stands for in calls of this thread from now on: CU_STREAM_LEGACY (the default) or
 * CU_STREAM_PER_THREAD. */
void stream_null_is(CUstream which);

/* Submits an operation to the stream, which owns it from now on, or adds it to the stream's capture as a node. Returns
 * the error of the operation itself if it has executed already. */
CUresult stream_submit(struct CUctx_st *c, CUstream handle, struct work *w);
/* Submits an operation and waits until it is complete; does not wait in a capture. */
CUresult stream_submit_and_wait(struct CUctx_st *c, CUstream handle, struct work *w);
/* The end of an API call that makes an operation: submits it unless `made` is an error. Returns the result of the call. */
CUresult stream_call(CUstream handle, CUresult made, struct CUctx_st *c, struct work *w,
                     bool synchronous);

/* Wait until all operations of a stream, a context or an event are complete. Return the error of the broken context, if any. */
CUresult queue_wait_stream(struct CUstream_st *s);
CUresult queue_wait_context(const struct CUctx_st *c); /* NULL: all contexts */
CUresult queue_wait_event(CUevent e);
/* At the end of the program: executes all operations. false: some are pending, because they wait for values in memory
 * that nothing writes any more. */
bool queue_end(void);
/* Whether all operations of a stream or an event are complete; if not, executes some operations. */
bool queue_poll_stream(struct CUstream_st *s);
bool queue_poll_event(CUevent e);

/* Without an adversary: executes all operations that are ready. */
void queue_go_on(void);

/* If there is a run log: executes all operations that are ready, before the host allocates or frees memory. So the
 * allocations after a launch do not depend on when the launch executed. */
void queue_settle(void);
/* Executes all operations that are ready. This is no wait of the host. */
void queue_do_all(void);

/* Destroys a stream; its pending operations still execute. */
void queue_leave(struct CUstream_st *s);
/* At the end of the device: discards all pending operations. */
void queue_drop(void);

/* A random number below n; 0 without an adversary. */
uint32_t queue_choose(uint32_t n);

struct operation;
void operation_release(struct operation *o); /* NULL is allowed */
/* About the operation that executes in this thread: whether it is the last one that records the event; and, for a node that
 * waits for an event, whether the operation that the event stood for at the launch of the graph is complete. */
bool queue_records(const struct CUevent_st *e);
bool queue_event_has_come(const struct CUevent_st *e);

#endif
