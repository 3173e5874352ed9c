/* tests/support/driver_calls.h: calls of the driver API that are to succeed, or to fail in one way, and what several tests do
 * by them.
 *
 *     OK(cuMemAlloc(&p, 400));                                        // else the test ends
 *     IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);                // else it goes on, and fails        */
#ifndef HEDDLE_TESTS_SUPPORT_DRIVER_CALLS_H
#define HEDDLE_TESTS_SUPPORT_DRIVER_CALLS_H

#include "cuda/cuda_api.h"

#include <criterion/criterion.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        CUresult ok_r = (call);                                                                    \
        cr_assert(ok_r == CUDA_SUCCESS, "%s: %d", #call, ok_r);                                    \
    } while (0)
#define IS(call, want)                                                                             \
    do {                                                                                           \
        CUresult is_r = (call);                                                                    \
        cr_expect(is_r == (want), "%s: %d, not %s", #call, is_r, #want);                           \
    } while (0)

/* A context on a small device of one host thread, which prints nothing. */
void driver_start(void);
/* What one thread of the kernel stores at its parameter. */
unsigned driver_stored_by(CUmodule m, const char *kernel);

#endif
