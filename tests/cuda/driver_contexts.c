/* Calls on a stream take the stream's context: none need be current. The documentation of cuMemAllocAsync in cuda.h says that
 * a current context is required for the NULL stream; a stream that was created names its own. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <stdint.h>

static CUcontext context;
static CUmodule module;
static CUfunction kernel;

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 at, .param .u32 k)\n{\n"
    " .reg .b32 %r<3>; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [k]; ld.global.u32 %r2, [%rd1];\n"
    " add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret;\n}\n";

static void start(void)
{
    driver_start();
    OK(cuCtxGetCurrent(&context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "add"));
}

static void stop(void)
{
    cuda_device_reset();
}

/* Fills, launches, copies and waits on a stream and an event; the stream is destroyed at the end. */
static void use_stream(CUstream s, CUevent e)
{
    CUdeviceptr p;
    CUmemoryPool pool;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    uint32_t got = 0, k = 7;
    CUcontext of = NULL;
    OK(cuMemAllocAsync(&p, 4, s));
    OK(cuMemsetD32Async(p, 30, 1, s));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&p, &k}, NULL));
    CUlaunchConfig g = {1, 1, 1, 1, 1, 1, 0, s, NULL, 0};
    OK(cuLaunchKernelEx(&g, kernel, (void *[]){&p, &k}, NULL));
    OK(cuMemcpyDtoHAsync(&got, p, 4, s));
    OK(cuEventRecord(e, s));
    OK(cuStreamWaitEvent(s, e, 0));
    OK(cuEventSynchronize(e));
    OK(cuEventQuery(e));
    OK(cuStreamGetCtx(s, &of));
    cr_expect(of == context);
    cr_expect_eq(got, 44);
    OK(cuMemPoolCreate(&pool, &props));
    CUdeviceptr q;
    OK(cuMemAllocFromPoolAsync(&q, 4, pool, s));
    OK(cuMemcpyAsync(q, p, 4, s));
    OK(cuMemFreeAsync(q, s));
    OK(cuMemFreeAsync(p, s));
    OK(cuStreamQuery(s));
    OK(cuStreamSynchronize(s));
    OK(cuEventDestroy(e));
    OK(cuMemPoolDestroy(pool));
    OK(cuStreamDestroy(s));
}

Test(driver_contexts, a_stream_stands_for_its_own, .init = start, .fini = stop)
{
    CUstream s;
    CUevent e;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
    OK(cuCtxSetCurrent(NULL));
    use_stream(s, e);
}

Test(driver_contexts, a_captured_stream_too, .init = start, .fini = stop)
{
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    CUdeviceptr p;
    uint32_t got = 0, k = 5;
    OK(cuMemAlloc(&p, 4));
    OK(cuMemsetD32(p, 10, 1));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuCtxSetCurrent(NULL));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&p, &k}, NULL));
    OK(cuStreamEndCapture(s, &g));
    OK(cuCtxSetCurrent(context));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuCtxSetCurrent(NULL));
    OK(cuGraphLaunch(x, s));
    OK(cuMemcpyDtoHAsync(&got, p, 4, s));
    OK(cuStreamSynchronize(s));
    cr_expect_eq(got, 15);
}

Test(driver_contexts, default_streams_are_of_the_current_one, .init = start, .fini = stop)
{
    CUdeviceptr p;
    CUstream s;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuStreamDestroy(s));
    OK(cuCtxSetCurrent(NULL));
    IS(cuMemAllocAsync(&p, 4, NULL), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuMemAllocAsync(&p, 4, CU_STREAM_LEGACY), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuMemAllocAsync(&p, 4, CU_STREAM_PER_THREAD), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuStreamSynchronize(NULL), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuStreamSynchronize(s), CUDA_ERROR_INVALID_CONTEXT); /* destroyed: it has none any more */
    OK(cuCtxSetCurrent(context));
    IS(cuStreamSynchronize(s), CUDA_ERROR_INVALID_HANDLE);
}
