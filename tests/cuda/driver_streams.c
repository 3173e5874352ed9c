/* Streams, events and host functions by the driver API. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"
#include "tests/support/driver_kernels.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <unistd.h>

static CUstream called_with;
static int called;
static void on_stream(CUstream s, CUresult status, void *data)
{
    called_with = s;
    called += status == CUDA_SUCCESS && data == &called;
}
static void on_host(void *data)
{
    int n;
    /* Forbidden by CUDA, but it must not hang: the lock is free. */
    cuDeviceGetCount(&n);
    ++*(int *)data;
}

Test(driver, streams_and_events, .init = driver_load_kernels, .fini = driver_reset)
{
    CUstream s;
    CUevent a, b, c;
    CUcontext of;
    int priority, least, greatest;
    unsigned flags;
    float ms = -1;
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    OK(cuStreamCreateWithPriority(&s, CU_STREAM_NON_BLOCKING, -100));
    OK(cuStreamGetPriority(s, &priority));
    cr_expect(priority == greatest && least == 0);
    OK(cuStreamGetFlags(s, &flags));
    cr_expect(flags == CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetCtx(s, &of));
    cr_expect(of == driver_context);
    OK(cuEventCreate(&a, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
    IS(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(a, s));
    OK(cuLaunchKernel(driver_kernel("limited"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    OK(cuEventRecord(b, s));
    OK(cuEventRecord(c, NULL));
    OK(cuStreamWaitEvent(s, c, 0));
    OK(cuEventSynchronize(b));
    OK(cuEventQuery(b));
    OK(cuEventElapsedTime(&ms, a, b));
    cr_expect(ms >= 0 && ms < 10000);
    IS(cuEventElapsedTime(&ms, a, c), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamAddCallback(s, on_stream, &called, 0));
    cr_expect(called == 1 && called_with == s);
    OK(cuLaunchHostFunc(NULL, on_host, &called));
    cr_expect(called == 2);
    OK(cuStreamQuery(s));
    OK(cuStreamSynchronize(s));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    OK(cuStreamDestroy(s));
    IS(cuStreamDestroy(s), CUDA_ERROR_INVALID_HANDLE);
    IS(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuStreamSynchronize((CUstream)8), CUDA_ERROR_INVALID_HANDLE); /* nothing is there */
    IS(cuEventDestroy((CUevent)(uintptr_t)-16), CUDA_ERROR_INVALID_HANDLE);
    IS(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(a));
    IS(cuEventRecord(a, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_t called_by;
static void on_host_with_lock(void *data)
{
    pthread_mutex_lock(&held);
    called_by = pthread_self();
    ++*(int *)data;
    pthread_mutex_unlock(&held);
}

/* The function wants what the program holds: its stream stands still, the program and other streams go on. */
Test(driver, host_functions_are_called_by_another_thread, .init = driver_load_kernels,
     .fini = driver_reset, .timeout = 60)
{
    CUstream s, t;
    CUevent behind;
    volatile unsigned *cells;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&behind, CU_EVENT_DEFAULT));
    OK(cuMemHostAlloc((void **)&cells, 8, 0));
    called = 0;
    pthread_mutex_lock(&held);
    OK(cuLaunchHostFunc(s, on_host_with_lock, &called));
    OK(cuLaunchHostFunc(t, on_host, &called)); /* behind it: functions are called one by one */
    OK(cuMemsetD32Async((CUdeviceptr)(uintptr_t)cells, 1, 1, s));
    OK(cuEventRecord(behind, s));
    IS(cuEventQuery(behind), CUDA_ERROR_NOT_READY);
    OK(cuMemsetD32((CUdeviceptr)(uintptr_t)&cells[1], 2, 1));
    cr_expect(called == 0 && cells[0] == 0 && cells[1] == 2);
    pthread_mutex_unlock(&held);
    while (!cells[0]) usleep(1000); /* without calling anything */
    OK(cuEventSynchronize(behind));
    OK(cuStreamSynchronize(t));
    cr_expect(called == 2 && !pthread_equal(called_by, pthread_self()));
}

/* Likewise in a graph, where a node beside it goes on. */
Test(driver, host_nodes_are_called_by_another_thread, .init = driver_load_kernels,
     .fini = driver_reset, .timeout = 60)
{
    CUgraph g;
    CUgraphNode host, fill, behind;
    CUgraphExec x;
    CUcontext c;
    CUdeviceptr cell = driver_alloc(8);
    unsigned got[2];
    OK(cuCtxGetCurrent(&c));
    OK(cuMemsetD32(cell, 0, 2));
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddHostNode(&host, g, NULL, 0,
                          &(CUDA_HOST_NODE_PARAMS){.fn = on_host_with_lock, .userData = &called}));
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = cell, .value = 1, .elementSize = 4, .width = 1, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, g, NULL, 0, &p, c));
    p.dst += 4;
    OK(cuGraphAddMemsetNode(&behind, g, &host, 1, &p, c));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    called = 0;
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&held);
        OK(cuGraphLaunch(x, NULL));
        cr_expect(called == i - 1);
        pthread_mutex_unlock(&held);
        OK(cuCtxSynchronize());
        cr_expect(called == i);
        OK(cuMemcpyDtoH(got, cell, sizeof got));
        cr_expect(got[0] == 1 && got[1] == 1);
    }
    pthread_mutex_lock(&held); /* nobody waits for this one */
    OK(cuGraphLaunch(x, NULL));
    cuda_device_reset();
    pthread_mutex_unlock(&held);
}
