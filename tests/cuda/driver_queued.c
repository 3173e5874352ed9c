/* What becomes of operations that wait in their streams while the program goes on: streams are held by a wait for a value.
 * What calls must do then is from CUDA's documentation of each call (cuda.h), and from its section "API synchronization
 * behavior". */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"
#include "tests/support/driver_kernels.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned *gate; /* pinned: a held stream waits until this is 1 */
static CUstream s, t;  /* non-blocking */
static CUdeviceptr cell;

static void start(void)
{
    driver_load_kernels();
    OK(cuMemHostAlloc((void **)&gate, 4, 0));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    cell = driver_alloc(4096);
    OK(cuMemsetD32(cell, 0, 1024));
}

static void hold(CUstream stream)
{
    *gate = 0;
    OK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)gate, 1, CU_STREAM_WAIT_VALUE_EQ));
}

static void let_go(void)
{
    *(volatile unsigned *)gate = 1;
}

static void *open_gate(void *unused)
{
    (void)unused;
    usleep(30000);
    let_go();
    return NULL;
}

/* For calls that have to wait. */
static void let_go_later(void)
{
    pthread_t other;
    cr_assert_eq(pthread_create(&other, NULL, open_gate, NULL), 0);
    pthread_detach(other);
}

static unsigned value_at(CUdeviceptr at)
{
    unsigned v;
    OK(cuMemcpyDtoH(&v, at, 4));
    return v;
}

static CUgraphNode add_fill(CUgraph g, const CUgraphNode *behind, CUdeviceptr at, unsigned value)
{
    CUgraphNode n;
    const CUDA_MEMSET_NODE_PARAMS p = {
        .dst = at, .value = value, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&n, g, behind, behind != NULL, &p, driver_context));
    return n;
}

/* ---- memory ---------------------------------------------------------------------------------------------- */

/* While the call waits, memory is freed that is before it in the table. */
Test(driver_queued, pinned_memory_is_freed_behind_other_memory, .init = start, .fini = driver_reset,
     .timeout = 60)
{
    CUdeviceptr before[3], at;
    void *one, *other;
    for (int i = 0; i < 3; i++) OK(cuMemAllocAsync(&before[i], 256, s));
    OK(cuMemHostAlloc(&one, 4096, 0));
    OK(cuMemHostAlloc(&other, 4096, 0));
    hold(s);
    for (int i = 0; i < 3; i++) OK(cuMemFreeAsync(before[i], s));
    let_go_later();
    OK(cuMemFreeHost(one));
    IS(cuMemHostGetDevicePointer(&at, one, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostGetDevicePointer(&at, other, 0), CUDA_SUCCESS);
    IS(cuMemFreeHost(other), CUDA_SUCCESS);
}
