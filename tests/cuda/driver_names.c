/* Functions of the driver API that programs reach by other names: of the per-thread default stream, of older headers, of
 * those that are not there; and the log of errors. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_word = 7;\n"
    ".visible .global .align 4 .u32 own_word = 8;\n"
    ".visible .entry add(.param .u64 at, .param .u32 n)\n{\n"
    " .reg .b32 %r<4>; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [n];\n"
    " ld.global.u32 %r2, [%rd1]; add.u32 %r3, %r2, %r1; st.global.u32 [%rd1], %r3; ret;\n}\n"
    ".visible .entry astray()\n{\n .reg .b64 %rd1; mov.u64 %rd1, 8; st.global.u32 [%rd1], 1; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction add;
static CUdeviceptr cell;

static void begin(void)
{
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&add, module, "add"));
    OK(cuMemAlloc(&cell, 64));
    OK(cuMemsetD32(cell, 0, 16));
}

static void start(void)
{
    cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20});
    begin();
}

static void start_random(void)
{
    setenv("HEDDLE_ORDER", "random", 1);
    setenv("HEDDLE_MEMORY", "64M", 1);
    cuda_device_configure(NULL);
    begin();
}

static void stop(void)
{
    cuda_device_configure(NULL);
}

/* ---- the per-thread default stream ---------------------------------------------------------------- */

/* What waits there is done by nobody but for it: no stream but the legacy one orders it. */
static bool is_pending(CUstream s)
{
    return cuStreamQuery(s) == CUDA_ERROR_NOT_READY;
}

typedef CUresult launch_kernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                               unsigned, unsigned, CUstream, void **, void **);
typedef CUresult memcpy_to(CUdeviceptr, const void *, size_t);
typedef CUresult synchronise(CUstream);

static void *entry(const char *name, uint64_t flags)
{
    void *p = NULL;
    OK(cuGetProcAddress(name, &p, 13000, flags, NULL));
    return p;
}

Test(driver_names, per_thread_functions_leave_out_the_thread_s_stream, .init = start, .fini = stop)
{
    CUevent e;
    unsigned value = 5, got = 0, flag = 1;
    launch_kernel *launch = (launch_kernel *)entry("cuLaunchKernel", 2);
    memcpy_to *copy = (memcpy_to *)entry("cuMemcpyHtoD", 2);
    synchronise *wait = (synchronise *)entry("cuStreamSynchronize", 2);
    cr_expect(launch != cuLaunchKernel && copy != cuMemcpyHtoD_v2 && wait != cuStreamSynchronize);
    cr_expect(entry("cuLaunchKernel", 0) == (void *)cuLaunchKernel);
    cr_expect(entry("cuLaunchKernel", 1) == (void *)cuLaunchKernel);
    cr_expect(entry("cuMemAlloc", 2) == (void *)cuMemAlloc_v2, "no stream, no difference");
    OK(copy(cell, &value, 4));
    OK(cuEventCreate(&e, 0));
    OK(cuStreamWaitValue32(CU_STREAM_PER_THREAD, cell + 4, 1, 0)); /* holds that stream up */
    OK(launch(add, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&cell, &value}, NULL));
    cr_expect(is_pending(CU_STREAM_PER_THREAD), "it went to another stream");
    CUstream other;
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuMemcpyHtoDAsync(cell + 4, &flag, 4, other));
    OK(wait(NULL));
    OK(cuMemcpyDtoH(&got, cell, 4));
    cr_expect_eq(got, 10);
}

/* Every asynchronous call to the stream that is left out: none may be in the legacy one. */
Test(driver_names, per_thread_work_runs_in_order, .init = start_random, .fini = stop)
{
    launch_kernel *launch = (launch_kernel *)entry("cuLaunchKernel", 2);
    memcpy_to *copy = (memcpy_to *)entry("cuMemcpyHtoD", 2);
    unsigned value = 1, got = 0;
    for (unsigned i = 0; i < 20; i++)
        OK(launch(add, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&cell, &i}, NULL));
    OK(copy(cell + 4, &value, 4)); /* behind them, and waited for */
    OK(cuMemcpyDtoHAsync(&got, cell, 4, CU_STREAM_PER_THREAD));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    cr_expect_eq(got, 190);
}

/* ---- older names ----------------------------------------------------------------------------------- */

#include "cuda/exact_names.h"
struct kernel_node { /* CUDA_KERNEL_NODE_PARAMS_v1 */
    CUfunction func;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
};
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *behind, size_t n,
                              const struct kernel_node *p);
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, struct kernel_node *p);
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, uint64_t *id);

Test(driver_names, nodes_of_cuda_11_end_early, .init = start, .fini = stop)
{
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n;
    CUstreamCaptureStatus status;
    uint64_t id;
    unsigned value = 3, got;
    struct {
        struct kernel_node p;
        char behind[16];
    } in = {.p = {.func = add,
                  .grid = {1, 1, 1},
                  .block = {1, 1, 1},
                  .params = (void *[]){&cell, &value}}},
      out;
    memset(in.behind, 0x55, sizeof in.behind);
    memset(&out, 0x55, sizeof out);
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddKernelNode(&n, g, NULL, 0, &in.p));
    OK(cuGraphKernelNodeGetParams(n, &out.p));
    cr_expect(out.p.func == add && out.p.grid[0] == 1 && out.behind[0] == 0x55 &&
              out.behind[15] == 0x55);
    IS(cuGraphAddKernelNode(&n, g, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuMemcpyDtoH_v2(&got, cell, 4));
    cr_expect_eq(got, 3);
    OK(cuStreamGetCaptureInfo(NULL, &status, &id));
    cr_expect_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

/* ---- libraries, functions, the device, contexts ------------------------------------------------------ */

Test(driver_names, tells_of_libraries_and_functions, .init = start, .fini = stop)
{
    CUlibrary l, of;
    CUkernel k;
    CUdeviceptr at;
    size_t size;
    CUfunctionLoadingState state;
    void *function;
    OK(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetManaged(&at, &size, l, "shared_word"));
    cr_expect(size == 4 && *(const unsigned *)(uintptr_t)at == 7, "the host reads it");
    IS(cuLibraryGetManaged(&at, &size, l, "own_word"), CUDA_ERROR_NOT_FOUND);
    IS(cuLibraryGetManaged(&at, &size, l, "nobody"), CUDA_ERROR_NOT_FOUND);
    IS(cuLibraryGetUnifiedFunction(&function, l, "add"), CUDA_ERROR_NOT_FOUND);
    OK(cuLibraryGetKernel(&k, l, "add"));
    OK(cuKernelGetLibrary(&of, k));
    cr_expect(of == l);
    IS(cuKernelGetLibrary(&of, (CUkernel)add), CUDA_ERROR_INVALID_HANDLE);
    OK(cuKernelSetCacheConfig(k, CU_FUNC_CACHE_PREFER_L1, 0));
    IS(cuKernelSetCacheConfig(k, CU_FUNC_CACHE_PREFER_L1, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuFuncLoad(add));
    OK(cuFuncIsLoaded(&state, add));
    cr_expect_eq(state, CU_FUNCTION_LOADING_STATE_LOADED);
    IS(cuFuncLoad((CUfunction)&state), CUDA_ERROR_INVALID_HANDLE);
}

Test(driver_names, tells_of_the_device_and_contexts, .init = start, .fini = stop)
{
    CUdevprop p;
    CUdevice d = 7;
    CUcontext other;
    char id[32];
    int clock, n;
    unsigned flags;
    OK(cuDeviceGetProperties(&p, 0));
    OK(cuDeviceGetAttribute(&clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0));
    cr_expect(p.maxThreadsPerBlock == 1024 && p.maxThreadsDim[2] == 64 && p.SIMDWidth == 32 &&
              p.maxGridSize[1] == 65535 && p.regsPerBlock == 65536 && p.clockRate == clock);
    OK(cuDeviceGetPCIBusId(id, sizeof id, 0));
    OK(cuDeviceGetByPCIBusId(&d, id));
    cr_expect_eq(d, 0);
    IS(cuDeviceGetByPCIBusId(&d, "0000:77:00.0"), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetExecAffinitySupport(&n, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
    cr_expect_eq(n, 0);
    OK(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
    OK(cuCtxGetFlags(&flags));
    cr_expect_eq(flags, CU_CTX_SCHED_SPIN);
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuCtxGetDevice_v2(&d, context));
    OK(cuCtxSynchronize_v2(context));
    IS(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_INVALID_DEVICE);
    IS(cuCtxEnablePeerAccess((CUcontext)&p, 0), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

Test(driver_names, counts_memory_of_graphs, .init = start, .fini = stop)
{
    CUgraph g;
    CUgraphExec x;
    CUgraphNode n;
    uint64_t now, most, zero = 0;
    CUDA_MEM_ALLOC_NODE_PARAMS p = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = 4096};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemAllocNode(&n, g, NULL, 0, &p));
    OK(cuGraphAddMemFreeNode(&n, g, &n, 1, p.dptr));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, NULL));
    OK(cuCtxSynchronize());
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &now));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &most));
    cr_expect(now == 0 && most == 4096);
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &most));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &now));
    cr_expect(most == 0 && now == 4096);
    IS(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)4, &now), CUDA_ERROR_INVALID_VALUE);
    OK(cuDeviceGraphMemTrim(0));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &now));
    cr_expect_eq(now, 0);
}

/* ---- the log ------------------------------------------------------------------------------------------ */

/* Calls have names where they are a shared library's. */
#define LINE "a call: CUDA_ERROR_INVALID_VALUE\n"
static char logged[1000];
static void note(void *data, CUlogLevel level, char *message, size_t length)
{
    cr_expect(data == logged && level == CU_LOG_LEVEL_ERROR && length == strlen(message));
    strncat(logged, message, sizeof logged - strlen(logged) - 1);
}

Test(driver_names, logs_what_failed, .init = start, .fini = stop)
{
    CUlogIterator from;
    CUlogsCallbackHandle h;
    CUfunction astray;
    char text[2000], path[] = "/tmp/heddle-log-XXXXXX";
    size_t size = sizeof text;
    OK(cuLogsRegisterCallback(note, logged, &h));
    OK(cuLogsCurrent(&from, 0));
    OK(cuLogsDumpToMemory(&from, text, &size, 0));
    cr_expect(size == 0 && !*text);
    IS(cuMemAlloc_v2(NULL, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFree_v2(12345), CUDA_ERROR_INVALID_VALUE);
    cr_expect(strcmp(logged, LINE LINE) == 0, "%s", logged);
    OK(cuLogsUnregisterCallback(h));
    CUlogIterator again = from;
    size = sizeof text;
    OK(cuLogsDumpToMemory(&from, text, &size, 0));
    cr_expect(strcmp(text, logged) == 0 && size == strlen(logged));
    size = 64; /* fits the last one, and a line on the other */
    OK(cuLogsDumpToMemory(&again, text, &size, 0));
    cr_expect_str_eq(text, "[older messages are lost]\n" LINE);
    again = from - 1;
    size = 10;
    IS(cuLogsDumpToMemory(&again, text, &size, 0), CUDA_ERROR_INVALID_VALUE);
    cr_expect_eq(size, 0);
    IS(cuLogsUnregisterCallback(h), CUDA_ERROR_INVALID_VALUE);

    for (int i = 0; i < 200; i++) IS(cuMemAlloc_v2(NULL, 4), CUDA_ERROR_INVALID_VALUE);
    size = sizeof text;
    OK(cuLogsDumpToMemory(&from, text, &size, 0));
    cr_expect(strncmp(text, "[older messages are lost]\n", 26) == 0);

    OK(cuModuleGetFunction(&astray, module, "astray"));
    (void)cuLaunchKernel(astray, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    const int fd = mkstemp(path);
    cr_assert(fd >= 0 && close(fd) == 0);
    OK(cuLogsDumpToFile(&from, path, 0));
    FILE *f = fopen(path, "r");
    cr_assert(f && fgets(text, sizeof text, f));
    cr_expect(strstr(text, "kernel 'astray': out of bounds: write of 4 bytes at 0x8"), "%s", text);
    cr_expect(!fgets(text, sizeof text, f), "a fault is logged once: %s", text);
    (void)fclose(f);
    remove(path);
}

/* ---- what is not there ---------------------------------------------------------------------------------- */

CUresult cuImportExternalMemory(void);
CUresult cuGLGetDevices_v2(void);
CUresult cuIpcGetMemHandle(void);
CUresult cuIpcOpenEventHandle(void);
CUresult cuGreenCtxCreate(void);
CUresult cuTensorMapEncodeTiled(void);
Test(driver_names, of_what_is_not_there_say_so, .init = start, .fini = stop)
{
    void *p;
    IS(cuImportExternalMemory(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuGLGetDevices_v2(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuIpcGetMemHandle(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuIpcOpenEventHandle(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuGreenCtxCreate(), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuTensorMapEncodeTiled(), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuGetProcAddress_v2("cuImportExternalMemory", &p, 13000, 0, NULL));
    cr_expect(p == (void *)cuImportExternalMemory);
    CUevent e;
    IS(cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
       CUDA_ERROR_NOT_SUPPORTED);
    IS(cuEventCreate(&e, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
}
