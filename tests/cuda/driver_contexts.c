/* Calls on a stream take the stream's context: none need be current. The documentation of cuMemAllocAsync in cuda.h says that
 * a current context is required for the NULL stream; a stream that was created names its own. */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

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

Test(driver_contexts, a_stream_is_of_no_green_context, .init = start, .fini = stop)
{
    CUstream s;
    CUcontext c = NULL;
    CUgreenCtx green = (CUgreenCtx)&c;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuStreamGetCtx_v2(s, &c, &green));
    cr_expect(c == context && !green);
    green = (CUgreenCtx)&c;
    OK(cuStreamGetGreenCtx(s, &green));
    cr_expect(!green);
    IS(cuStreamGetCtx_v2(s, &c, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* cuda.h: a pool of the host is accessible from the host CPU, and from a device when that was granted. */
Test(driver_contexts, pools_of_the_host_grant_access, .init = start, .fini = stop)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_HOST, 0}};
    CUmemLocation host = props.location, device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc d = {host, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool pool, own;
    CUmemAccess_flags flags;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAccess(pool, &d, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &host));
    cr_expect_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemPoolGetAccess(&flags, pool, &device));
    cr_expect_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    d.location = device;
    OK(cuMemPoolSetAccess(pool, &d, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &device));
    cr_expect_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    d.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemPoolSetAccess(pool, &d, 1));
    OK(cuMemPoolGetAccess(&flags, pool, &device));
    cr_expect_eq(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
    OK(cuDeviceGetDefaultMemPool(&own, 0));
    IS(cuMemPoolSetAccess(own, &d, 1), CUDA_ERROR_INVALID_VALUE);
    d = (CUmemAccessDesc){host, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    IS(cuMemPoolSetAccess(own, &d, 1), CUDA_ERROR_INVALID_VALUE);
    props.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    IS(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
}

/* One launch, in a context of its own, which a fault breaks. */
static CUresult add_1(CUdeviceptr p, uint32_t count)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    uint32_t k = 1;
    CUresult r = CUDA_SUCCESS;
    OK(cuCtxCreate(&c, NULL, 0, 0));
    OK(cuModuleLoadData(&m, ptx));
    OK(cuModuleGetFunction(&f, m, "add"));
    for (uint32_t i = 0; r == CUDA_SUCCESS && i < count; i++) {
        r = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p, &k}, NULL);
        if (r == CUDA_SUCCESS) r = cuCtxSynchronize();
    }
    OK(cuCtxDestroy(c));
    return r;
}

Test(driver_contexts, kernels_reach_pools_of_the_host_that_grant_it, .init = start, .fini = stop)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_HOST, 0}};
    CUmemAccessDesc d = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool pool, other;
    CUdeviceptr p, q, later, device;
    void *host;
    uint32_t got = 0;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolCreate(&other, &props));
    OK(cuMemAllocFromPoolAsync(&p, 4, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&q, 4, other, NULL));
    OK(cuMemAlloc(&device, 4));
    OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    *(uint32_t *)host = 5;
    IS(add_1(p, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_expect_eq(*(uint32_t *)host, 5);
    OK(cuMemcpyHtoD(device, host, 4)); /* it is memory of the host all the same */
    OK(cuMemcpyDtoH(&got, device, 4));
    cr_expect_eq(got, 5);
    OK(cuMemPoolSetAccess(pool, &d, 1));
    OK(cuMemAllocFromPoolAsync(&later, 4, pool, NULL));
    IS(add_1(p, 3), CUDA_SUCCESS);
    IS(add_1(later, 1), CUDA_SUCCESS);
    cr_expect_eq(*(uint32_t *)host, 8);
    IS(add_1(q, 1), CUDA_ERROR_ILLEGAL_ADDRESS); /* of another pool */
    d.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemPoolSetAccess(pool, &d, 1));
    IS(add_1(p, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(add_1(later, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_expect_eq(*(uint32_t *)host, 8);
}

/* The types of cudaTypedefs.h for CUDA 12.8. */
typedef CUresult batch_v12080(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *,
                              size_t *, size_t, size_t *, CUstream);

Test(driver_contexts, entry_points_of_older_versions_and_of_stubs, .init = start, .fini = stop)
{
    batch_v12080 *copy;
    CUresult (*stub)(void);
    CUdriverProcAddressQueryResult status;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUstream s;
    CUdeviceptr p, q;
    uint32_t got = 0;
    size_t size = 4, first = 0, failed = 7;
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuMemAlloc(&p, 4));
    OK(cuMemAlloc(&q, 4));
    OK(cuMemsetD32(p, 42, 1));
    OK(cuGetProcAddress("cuMemcpyBatchAsync", (void **)&copy, 12080, 0, &status));
    cr_assert(copy && status == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(copy(&q, &p, &size, 1, &attributes, &first, 1, &failed, s));
    OK(cuMemcpyDtoHAsync(&got, q, 4, s));
    OK(cuStreamSynchronize(s));
    cr_expect_eq(got, 42);
    IS(copy(&q, &p, &size, 0, &attributes, &first, 1, &failed, s), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(failed, SIZE_MAX);
    OK(cuGetProcAddress("cuTensorMapEncodeTiled", (void **)&stub, 13000, 0, &status));
    cr_assert(stub && status == CU_GET_PROC_ADDRESS_SUCCESS);
    IS(stub(), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGetProcAddress("cuFrobnicate", (void **)&stub, 13000, 0, &status));
    cr_expect(!stub && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

Test(driver_contexts, the_device_has_no_atomics_on_the_host, .init = start, .fini = stop)
{
    const unsigned all[13] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, wrong = 13;
    unsigned can[13];
    int native = 1; /* 86: CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED */
    memset(can, 0xff, sizeof can);
    OK(cuDeviceGetHostAtomicCapabilities(can, all, 13, 0));
    OK(cuDeviceGetAttribute(&native, (CUdevice_attribute)86, 0));
    cr_expect_eq(native, 0);
    for (int i = 0; i < 13; i++) cr_expect_eq(can[i], 0);
    IS(cuDeviceGetHostAtomicCapabilities(can, &wrong, 1, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuDeviceGetP2PAtomicCapabilities(can, all, 1, 0, 0), CUDA_ERROR_INVALID_DEVICE);
}
