/* cuda/queue.h: streams at work.
 *
 * A stream is a queue of operations, done in order. What else orders them: an operation that waits for an event is
 * done behind the operation that recorded it; one of the legacy default stream behind all that was submitted before
 * to the context's other streams (non-blocking ones excepted), and these behind it. All else is free.
 *
 * Without an adversary an operation is done when it is submitted, unless what it waits for is not there. With one
 * (order `random`) operations stay in their queues until the program waits for them, and then whichever stream is
 * drawn goes on: an operation is done only if the program has to see it done, or if chance has it. */
#ifndef HEDDLE_CUDA_QUEUE_H
#define HEDDLE_CUDA_QUEUE_H

#include "cuda/driver.h"
#include "cuda/work.h"

/* The stream of a handle; NULL: there is none. */
struct CUstream_st *stream_of(struct CUctx_st *c, CUstream handle);
/* Those of these threads and contexts that have no handle are made when they are first used. */
/* What NULL stands for in calls of this thread from now on: CU_STREAM_LEGACY, as ever, or CU_STREAM_PER_THREAD. */
void stream_null_is(CUstream which);

/* The stream's from now on, or a node of its capture. An error is of the operation itself, if it was done at once. */
CUresult stream_submit(struct CUctx_st *c, CUstream handle, struct work *w);
/* and waits for it, unless it is of a capture, where that cannot be */
CUresult stream_submit_and_wait(struct CUctx_st *c, CUstream handle, struct work *w);
/* What a call ends with: `made` is why there is no operation, or CUDA_SUCCESS. */
CUresult stream_call(CUstream handle, CUresult made, struct CUctx_st *c, struct work *w,
                     bool synchronous);

/* Done, with whatever has to be done for it. Errors are what has broken the context meanwhile. */
CUresult queue_wait_stream(struct CUstream_st *s);
CUresult queue_wait_context(const struct CUctx_st *c); /* NULL: of all */
CUresult queue_wait_event(CUevent e);
/* At the end of the program, which writes no values any more. false: something waits for one, and is not done. */
bool queue_end(void);
/* Whether it is; and if not, some stream goes on a little. */
bool queue_poll_stream(struct CUstream_st *s);
bool queue_poll_event(CUevent e);

/* Without an adversary, what can be done is done now. */
void queue_go_on(void);

/* For the run log: the host is about to change what memory there is, and what it has asked for is done
 * before, so that memory is the same behind a launch whenever that was done. */
void queue_settle(void);
/* All that can be done. The host has not waited for it. */
void queue_do_all(void);

/* What is in the queue of a destroyed stream is still done. */
void queue_leave(struct CUstream_st *s);
/* The device ends: nothing is done any more. */
void queue_drop(void);

/* One of n by chance; 0 without an adversary. */
uint32_t queue_choose(uint32_t n);

struct operation;
void operation_release(struct operation *o); /* NULL is allowed */
/* Of the operation that executes: whether it is the last one that records the event; and whether what a node of it waits for is
 * done, which is what the event stood for when the graph was launched. */
bool queue_records(const struct CUevent_st *e);
bool queue_event_has_come(const struct CUevent_st *e);

#endif
