/* Captures whose streams end early, and the footprint of memory that graphs allocate. The programming guide forbids to
 * use a captured stream's status, not to destroy a stream that another one of the capture has waited for. The footprints
 * are those that NVIDIA's sample graphMemoryFootprint describes. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdint.h>

static void start(void)
{
    driver_start();
}

static void stop(void)
{
    cuda_device_reset();
}

struct fork {
    CUstream origin, other;
    CUevent forked, done;
    CUdeviceptr p;
};

/* A capture in which the other stream fills a word. */
static struct fork begin(void)
{
    struct fork f;
    OK(cuMemAlloc(&f.p, 8));
    OK(cuStreamCreate(&f.origin, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&f.other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&f.forked, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&f.done, CU_EVENT_DEFAULT));
    OK(cuStreamBeginCapture(f.origin, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecord(f.forked, f.origin));
    OK(cuStreamWaitEvent(f.other, f.forked, 0));
    OK(cuMemsetD32Async(f.p, 11, 1, f.other));
    return f;
}

static void join(const struct fork *f)
{
    OK(cuEventRecord(f->done, f->other));
    OK(cuStreamWaitEvent(f->origin, f->done, 0));
}

Test(driver_capture, a_joined_stream_may_be_destroyed, .init = start, .fini = stop)
{
    struct fork f = begin();
    CUgraph g = NULL;
    CUgraphExec x;
    uint32_t got[2] = {0};
    join(&f);
    OK(cuStreamDestroy(f.other));
    OK(cuMemsetD32Async(f.p + 4, 22, 1, f.origin));
    OK(cuStreamEndCapture(f.origin, &g));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, f.origin));
    OK(cuStreamSynchronize(f.origin));
    OK(cuMemcpyDtoH(got, f.p, 8));
    cr_expect(got[0] == 11 && got[1] == 22);
}

Test(driver_capture, one_that_was_not_joined_may_not, .init = start, .fini = stop)
{
    struct fork f = begin();
    CUgraph g = NULL;
    OK(cuStreamDestroy(f.other));
    IS(cuStreamEndCapture(f.origin, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    f = begin();
    join(&f);
    OK(cuMemsetD32Async(f.p, 12, 1, f.other)); /* after the join */
    OK(cuStreamDestroy(f.other));
    IS(cuStreamEndCapture(f.origin, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static uint64_t footprint(void)
{
    uint64_t bytes = 1;
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &bytes));
    return bytes;
}

/* A graph that allocates; and frees, if asked to. */
static CUgraphExec allocating(size_t size, bool frees, CUdeviceptr *at)
{
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = size};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
    if (frees) OK(cuGraphAddMemFreeNode(&n, g, &n, 1, p.dptr));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphDestroy(g));
    *at = p.dptr;
    return x;
}

static void launch(CUgraphExec x)
{
    OK(cuGraphLaunch(x, NULL));
    OK(cuCtxSynchronize());
}

Test(driver_capture, graphs_use_the_same_memory_again, .init = start, .fini = stop)
{
    CUdeviceptr p;
    CUgraphExec first = allocating(4 << 20, true, &p), second = allocating(4 << 20, true, &p);
    cr_expect_eq(footprint(), 0); /* no launch has reserved any */
    launch(first);
    cr_expect_eq(footprint(), 4 << 20);
    launch(first);
    launch(second);
    cr_expect_eq(footprint(), 4 << 20);
    OK(cuGraphExecDestroy(first));
    OK(cuGraphExecDestroy(second));
    cr_expect_eq(footprint(), 4 << 20);
    OK(cuDeviceGraphMemTrim(0));
    cr_expect_eq(footprint(), 0);
}

Test(driver_capture, memory_that_is_not_freed_stays, .init = start, .fini = stop)
{
    CUdeviceptr p, q;
    launch(allocating(4 << 20, false, &p));
    launch(allocating(4 << 20, false, &q));
    cr_expect_eq(footprint(), 8 << 20);
    OK(cuDeviceGraphMemTrim(0));
    cr_expect_eq(footprint(), 8 << 20);
    OK(cuMemFree(p));
    OK(cuMemFree(q));
    cr_expect_eq(footprint(), 8 << 20);
    OK(cuDeviceGraphMemTrim(0));
    cr_expect_eq(footprint(), 0);
}
