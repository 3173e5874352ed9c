/* cuda/callback.h: functions of the host that streams and graphs call.
 *
 * They are called by a thread of Heddle's own, one after the other, with nothing held: a program may hold a lock where
 * it asks for a call that wants it. Whoever has one done waits for it a while, so that a function that does not wait for
 * the program itself is called in the order of the other operations; else its stream stands still and the program goes
 * on. */
#ifndef HEDDLE_CUDA_CALLBACK_H
#define HEDDLE_CUDA_CALLBACK_H

#include "cuda/driver.h"

struct callback { /* what is to be called */
    CUhostFn function;
    CUstreamCallback callback; /* instead of function */
    CUstream stream;           /* that it gets as an argument */
    CUresult status;           /* likewise */
    void *data;
};
struct callback_run;

/* The thread is there from now on: a program that allocates finds the same memory, whenever the first call is. */
void callback_prepare(void);

/* *run is NULL before, and when it has returned. NOT_READY: it has not yet, or another is being called. */
CUresult callback_step(struct callback_run **run, const struct callback *c);
bool callback_is_called(void);                 /* some function is, or will be */
void callback_leave(struct callback_run *run); /* whether it has returned or not; NULL is allowed */

#endif
