/* cuda/callback.h: calls host functions of streams and graphs.
 *
 * A thread of Heddle calls them, one after the other, without the driver's lock. (The program may hold a lock of its own,
 * which the function needs, while it makes the API call.) callback_step() waits a short time for the return of the
 * function, so that a function that does not wait for the program runs in the order of the other operations. After that
 * time its stream blocks and the program continues. */
#ifndef HEDDLE_CUDA_CALLBACK_H
#define HEDDLE_CUDA_CALLBACK_H

#include "cuda/driver.h"

struct callback { /* a host function and its arguments */
    CUhostFn function;
    CUstreamCallback callback; /* used if function is NULL */
    CUstream stream;           /* argument of callback */
    CUresult status;           /* argument of callback */
    void *data;
};
struct callback_run;

/* Starts the thread, so that the addresses of the program's allocations do not depend on when the first call is. */
void callback_prepare(void);

/* Starts a call, or asks for its end. *run is NULL before the call and after its return. CUDA_ERROR_NOT_READY: the
 * function has not returned, or another function is running. */
CUresult callback_step(struct callback_run **run, const struct callback *c);
bool callback_is_called(void);                 /* a function is running or pending */
void callback_leave(struct callback_run *run); /* frees it, returned or not; NULL is allowed */

#endif
