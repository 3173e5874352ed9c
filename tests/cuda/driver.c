/* The driver API as a host program sees it. Layouts and numbers were compared with CUDA 13's cuda.h. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "emu/gpu.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(sizeof(CUDA_MEMCPY2D) == 128 && offsetof(CUDA_MEMCPY2D, dstXInBytes) == 56, "ABI");
_Static_assert(sizeof(CUDA_MEMCPY3D) == 200 && offsetof(CUDA_MEMCPY3D, dstXInBytes) == 88, "ABI");
_Static_assert(offsetof(CUDA_MEMCPY3D, WidthInBytes) == 176, "ABI");
_Static_assert(sizeof(CUlaunchConfig) == 56 && offsetof(CUlaunchConfig, hStream) == 32, "ABI");
_Static_assert(sizeof(CUlaunchAttribute) == 72 && offsetof(CUlaunchAttribute, value) == 8, "ABI");
_Static_assert(sizeof(CUmemPoolProps) == 88 && offsetof(CUmemPoolProps, maxSize) == 24, "ABI");
_Static_assert(sizeof(CUmemAccessDesc) == 12 && sizeof(CUmemLocation) == 8, "ABI");
_Static_assert(sizeof(CUuuid) == 16 && sizeof(CUdeviceptr) == 8 && sizeof(CUresult) == 4, "ABI");

/* out[i] = in[i] + k; a second kernel with packed parameters of several sizes; one that goes astray */
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .const .align 4 .u32 factor = 3;\n"
    ".visible .global .align 8 .b8 table[24];\n"
    ".visible .entry add(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 k)\n{\n"
    " .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"
    " ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
    " ld.param.u32 %r1, [n]; ld.param.u32 %r2, [k];\n"
    " mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    " mad.lo.u32 %r6, %r3, %r4, %r5; setp.ge.u32 %p, %r6, %r1; @%p ret;\n"
    " mul.wide.u32 %rd3, %r6, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    " ld.global.u32 %r7, [%rd4]; add.u32 %r7, %r7, %r2; st.global.u32 [%rd5], %r7;\n ret;\n}\n"
    ".visible .entry mixed(.param .u8 a, .param .u64 out, .param .u16 b, .param .f64 c)\n{\n"
    " .reg .b16 %h<3>; .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f64 %d<2>;\n"
    " ld.param.u8 %h1, [a]; ld.param.u64 %rd1, [out]; ld.param.u16 %h2, [b];\n"
    " ld.param.f64 %d1, [c]; cvt.u32.u16 %r1, %h1; cvt.u32.u16 %r2, %h2;\n"
    " st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.f64 [%rd1+8], %d1;\n"
    " ret;\n}\n"
    ".visible .entry scaled(.param .u64 out)\n{\n .reg .b32 %r1; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [out]; ld.const.u32 %r1, [factor]; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry astray(.param .u64 at)\n{\n .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [at]; st.global.u32 [%rd1], 1; ret;\n}\n"
    ".visible .entry trapped()\n{\n trap; ret;\n}\n"
    ".visible .entry limited() .maxntid 64, 1, 1\n{\n ret;\n}\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".visible .entry shared(.param .u64 out, .param .u32 at)\n{\n"
    " .shared .align 4 .b8 fixed[1000]; .reg .b32 %r<4>; .reg .b64 %rd1;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [at]; mov.u32 %r2, dynamic;\n"
    " add.u32 %r2, %r2, %r1; st.shared.u32 [%r2], 77; st.shared.u32 [fixed], 1;\n"
    " ld.shared.u32 %r3, [%r2]; st.global.u32 [%rd1], %r3; ret;\n}\n";

static CUcontext context;
static CUmodule module;

static void quiet(void)
{
    cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20});
    cuda_device_watch(&(struct cuda_watch){.quiet = true});
}

static void start(void)
{
    quiet();
    OK(cuInit(0));
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
}

static void stop(void)
{
    cuda_device_reset();
}

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUdeviceptr alloc(size_t n)
{
    CUdeviceptr p = 0;
    OK(cuMemAlloc(&p, n));
    return p;
}

static CUresult launch1(CUfunction f, unsigned grid, unsigned block, void **params)
{
    return cuLaunchKernel(f, grid, 1, 1, block, 1, 1, 0, NULL, params, NULL);
}

Test(driver, wants_cuInit_and_a_context)
{
    CUdeviceptr p;
    CUdevice d;
    quiet();
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuDeviceGet(&d, 0), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuDeviceGet(&d, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGet(&d, 0));
    stop();
}

Test(driver, device_properties)
{
    int n, major, minor;
    char name[8];
    size_t bytes;
    CUuuid a, b;
    quiet();
    OK(cuInit(0));
    OK(cuDriverGetVersion(&n));
    cr_expect(n == 13000);
    OK(cuDeviceGetCount(&n));
    cr_expect(n == 1);
    OK(cuDeviceGetName(name, sizeof name, 0));
    cr_expect(strcmp(name, "Heddle ") == 0);
    OK(cuDeviceGetName(name, 4, 0));
    cr_expect(strcmp(name, "Hed") == 0);
    OK(cuDeviceTotalMem(&bytes, 0));
    cr_expect(bytes == 64 << 20);
    OK(cuDeviceComputeCapability(&major, &minor, 0));
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    cr_expect(n == major && major >= 7 && minor >= 0);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    cr_expect(n == 32);
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        IS(cuDeviceGetAttribute(&n, (CUdevice_attribute)i, 0), CUDA_SUCCESS);
    IS(cuDeviceGetAttribute(&n, (CUdevice_attribute)0, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetUuid(&a, 0));
    OK(cuDeviceGetUuid(&b, 0));
    cr_expect(memcmp(&a, &b, sizeof a) == 0);
    stop();
}

Test(driver, error_names)
{
    const char *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    cr_expect(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    cr_expect(strcmp(text, "an illegal memory access was encountered") == 0);
    OK(cuGetErrorName(CUDA_SUCCESS, &text));
    cr_expect(strcmp(text, "CUDA_SUCCESS") == 0);
    IS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    cr_expect(text == NULL);
}

Test(driver, contexts_are_a_stack_of_the_thread)
{
    CUcontext a, b, c;
    unsigned version;
    quiet();
    OK(cuInit(0));
    OK(cuCtxGetCurrent(&c));
    cr_expect(c == NULL);
    OK(cuCtxCreate(&a, NULL, CU_CTX_SCHED_SPIN, 0));
    OK(cuCtxCreate_v2(&b, 0, 0));
    OK(cuCtxGetCurrent(&c));
    cr_expect(c == b);
    OK(cuCtxGetApiVersion(b, &version));
    cr_expect(version == 3020);
    OK(cuCtxPopCurrent(&c));
    cr_expect(c == b);
    OK(cuCtxGetFlags(&version));
    cr_expect(version == CU_CTX_SCHED_SPIN);
    OK(cuCtxPushCurrent(b));
    OK(cuCtxDestroy(b)); /* the current one: it is popped */
    OK(cuCtxGetCurrent(&c));
    cr_expect(c == a);
    IS(cuCtxPushCurrent(b), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxDestroy(b), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(NULL));
    IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxPopCurrent(&c), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxCreate(&c, NULL, 0x1000, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuCtxCreate(&c, NULL, 0, 3), CUDA_ERROR_INVALID_DEVICE);
    stop();
}

Test(driver, a_context_destroyed_with_its_memory)
{
    CUcontext a;
    quiet();
    OK(cuInit(0));
    OK(cuCtxCreate(&a, NULL, 0, 0));
    alloc(1000);
    OK(cuModuleLoadData(&module, ptx));
    cr_expect(emu_allocation_count(cuda_device_emu()) == 3); /* and two variables */
    OK(cuCtxDestroy(a));
    cr_expect(emu_allocation_count(cuda_device_emu()) == 0);
    stop();
}

Test(driver, primary_context)
{
    CUcontext a, b;
    unsigned flags;
    int active;
    quiet();
    OK(cuInit(0));
    IS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuDevicePrimaryCtxRetain(&b, 0));
    cr_expect(a == b);
    OK(cuCtxGetCurrent(&b));
    cr_expect(b == NULL, "retaining does not make it current");
    OK(cuCtxSetCurrent(a));
    alloc(100);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    cr_expect(flags == CU_CTX_SCHED_YIELD && active);
    IS(cuCtxDestroy(a), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxReset(0));
    cr_expect(emu_allocation_count(cuda_device_emu()) == 0);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    cr_expect(!active);
    stop();
}

Test(driver, modules_and_functions, .init = start, .fini = stop)
{
    CUfunction f, all[20];
    CUmodule other;
    CUdeviceptr p;
    size_t size, offset;
    unsigned n;
    const char *name;
    IS(cuModuleGetFunction(&f, module, "none"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&f, module, ""), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleGetFunctionCount(&n, module));
    cr_expect(n == 7);
    OK(cuModuleEnumerateFunctions(all, 20, module));
    OK(cuFuncGetName(&name, all[0]));
    cr_expect(strcmp(name, "add") == 0);
    OK(cuFuncGetModule(&other, all[0]));
    cr_expect(other == module);
    OK(cuFuncGetParamInfo(kernel("mixed"), 2, &offset, &size));
    cr_expect(offset == 16 && size == 2);
    IS(cuFuncGetParamInfo(kernel("mixed"), 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleGetGlobal(&p, &size, module, "table"));
    cr_expect(p && size == 24);
    IS(cuModuleGetGlobal(&p, &size, module, "none"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleLoadData(&other, ptx));
    OK(cuModuleGetFunction(&f, other, "add"));
    OK(cuModuleUnload(other));
    IS(cuModuleUnload(other), CUDA_ERROR_INVALID_HANDLE);
    IS(launch1(f, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuModuleLoad(&other, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    IS(cuModuleLoadData(&other, "\x7f"
                                "ELF....."),
       CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(cuModuleLoadData(&other, "\x50\xed\x55\xba............"), CUDA_ERROR_INVALID_IMAGE);
}

Test(driver, modules_from_files, .init = start, .fini = stop)
{
    char path[] = "/tmp/heddle-module-XXXXXX";
    CUmodule other;
    CUfunction f;
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, ptx, sizeof ptx) == sizeof ptx); /* with the NUL */
    close(fd);
    OK(cuModuleLoad(&other, path));
    OK(cuModuleGetFunction(&f, other, "add"));
    cr_assert(truncate(path, 100) == 0);
    IS(cuModuleLoad(&other, path), CUDA_ERROR_INVALID_PTX);
    unlink(path);
}

Test(driver, the_error_log_says_why, .init = start, .fini = stop)
{
    char log[100], info[10] = "x";
    CUmodule m;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log, info, (void *)sizeof info};
    memset(log, '~', sizeof log);
    IS(cuModuleLoadDataEx(&m, ".version 7.0\n.target sm_75\n.entry k() { nonsense; }", 4, options,
                          values),
       CUDA_ERROR_INVALID_PTX);
    cr_expect(strstr(log, ":3:") && strlen(log) < sizeof log, "%s", log);
    cr_expect((size_t)(uintptr_t)values[1] == strlen(log));
    cr_expect(info[0] == '\0' && values[3] == NULL);
    values[1] = (void *)5;
    IS(cuModuleLoadDataEx(&m, "nonsense", 2, options, values), CUDA_ERROR_INVALID_PTX);
    cr_expect(strlen(log) == 4);
    IS(cuModuleLoadDataEx(&m, ptx, 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    values[1] = (void *)sizeof log;
    OK(cuModuleLoadDataEx(&m, ptx, 2, options, values));
    cr_expect(log[0] == '\0');
}

Test(driver, libraries_need_no_context)
{
    CUlibrary l;
    CUkernel k, all[10];
    CUfunction f;
    CUmodule m;
    const char *name;
    unsigned n;
    size_t size;
    CUdeviceptr p, out;
    int value = 0;
    uint32_t got;
    quiet();
    OK(cuInit(0));
    OK(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&k, l, "scaled"));
    IS(cuLibraryGetKernel(&k, l, "none"), CUDA_ERROR_NOT_FOUND);
    OK(cuLibraryGetKernel(&k, l, "scaled"));
    OK(cuLibraryGetKernelCount(&n, l));
    OK(cuLibraryEnumerateKernels(all, 10, l));
    cr_expect(n == 7 && all[2] == k);
    OK(cuKernelGetName(&name, k));
    cr_expect(strcmp(name, "scaled") == 0);
    OK(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
    cr_expect(value == 1024);
    IS(cuKernelGetFunction(&f, k), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuKernelGetFunction(&f, k));
    OK(cuLibraryGetModule(&m, l));
    IS(cuModuleUnload(m), CUDA_ERROR_NOT_PERMITTED);
    OK(cuLibraryGetGlobal(&p, &size, l, "factor"));
    cr_expect(size == 4);
    OK(cuMemcpyHtoD(p, &(uint32_t){41}, 4));
    out = alloc(4);
    OK(launch1((CUfunction)k, 1, 1, (void *[]){&out})); /* a kernel is a function, too */
    OK(cuMemcpyDtoH(&got, out, 4));
    cr_expect(got == 41);
    OK(cuLibraryUnload(l));
    IS(cuLibraryUnload(l), CUDA_ERROR_INVALID_HANDLE);
    stop();
}

Test(driver, launches, .init = start, .fini = stop)
{
    enum { N = 1000 };
    uint32_t host[N], n = N, k = 5;
    CUdeviceptr in = alloc(sizeof host), out = alloc(sizeof host);
    for (uint32_t i = 0; i < N; i++) host[i] = 3 * i;
    OK(cuMemcpyHtoD(in, host, sizeof host));
    OK(launch1(kernel("add"), 4, 256, (void *[]){&in, &out, &n, &k}));
    OK(cuMemcpyDtoH(host, out, sizeof host));
    for (uint32_t i = 0; i < N; i++) cr_assert(host[i] == 3 * i + 5, "%u: %u", i, host[i]);
}

Test(driver, parameters_by_pointers_or_packed, .init = start, .fini = stop)
{
    uint32_t got[4];
    uint8_t a = 200;
    uint16_t b = 60000;
    double c = 0.1, back;
    CUdeviceptr out = alloc(16);
    OK(launch1(kernel("mixed"), 1, 1, (void *[]){&a, &out, &b, &c}));
    OK(cuMemcpyDtoH(got, out, 16));
    memcpy(&back, got + 2, 8);
    cr_expect(got[0] == 200 && got[1] == 60000 && back == 0.1);
    struct {
        uint8_t a;
        CUdeviceptr out;
        uint16_t b;
        double c;
    } packed = {7, out, 8, 9};
    size_t size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CUfunction f = kernel("mixed");
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH(got, out, 16));
    memcpy(&back, got + 2, 8);
    cr_expect(got[0] == 7 && got[1] == 8 && back == 9);
    size = 8;
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&a, &out, &b, &c}, extra),
       CUDA_ERROR_INVALID_VALUE);
}

Test(driver, impossible_launches, .init = start, .fini = stop)
{
    CUfunction f = kernel("limited");
    IS(launch1(f, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(launch1(f, 1, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(launch1(f, 1, 65, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(launch1(kernel("trapped"), 1, 1025, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49153, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, (CUstream)module, NULL, NULL),
       CUDA_ERROR_INVALID_HANDLE);
    IS(launch1(NULL, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(launch1(f, 1, 64, NULL)); /* none of these broke anything */
    IS(cuLaunchCooperativeKernel(f, 1 << 20, 1, 1, 64, 1, 1, 0, NULL, NULL),
       CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuLaunchCooperativeKernel(f, 8, 1, 1, 64, 1, 1, 0, NULL, NULL));
}

Test(driver, launch_attributes, .init = start, .fini = stop)
{
    CUlaunchAttribute a[2] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
                              {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY}};
    CUlaunchConfig c = {4, 1, 1, 32, 1, 1, 0, NULL, a, 2};
    a[0].value.clusterDim.x = 2;
    a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
    OK(cuLaunchKernelEx(&c, kernel("limited"), NULL, NULL));
    a[0].value.clusterDim.x = 3;
    IS(cuLaunchKernelEx(&c, kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    IS(cuLaunchKernelEx(NULL, kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, wrong_launch_attributes_are_refused, .init = start, .fini = stop)
{
    static const struct {
        int id, value;
        CUresult want;
    } rows[] = {{5, 2, CUDA_SUCCESS},
                {5, 3, CUDA_ERROR_INVALID_VALUE},
                {6, 1, CUDA_SUCCESS},
                {10, 1, CUDA_SUCCESS},
                {8, -3, CUDA_SUCCESS},
                {10, 2, CUDA_ERROR_INVALID_VALUE},
                {0, 9, CUDA_SUCCESS},
                {13, 1, CUDA_ERROR_NOT_SUPPORTED},
                {14, 50, CUDA_SUCCESS},
                {17, 0, CUDA_ERROR_INVALID_VALUE},
                {7, 0, CUDA_ERROR_INVALID_HANDLE},
                {12, 0, CUDA_ERROR_INVALID_HANDLE}};
    CUlaunchAttribute a;
    CUlaunchConfig c = {4, 1, 1, 32, 1, 1, 0, NULL, &a, 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        a = (CUlaunchAttribute){.id = (CUlaunchAttributeID)rows[i].id};
        memcpy(&a.value, &rows[i].value, sizeof rows[i].value);
        const CUresult r = cuLaunchKernelEx(&c, kernel("limited"), NULL, NULL);
        cr_expect_eq(r, rows[i].want, "attribute %d: %d", rows[i].id, (int)r);
    }
    c.attrs = NULL;
    IS(cuLaunchKernelEx(&c, kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, events_of_a_launch_are_recorded, .init = start, .fini = stop)
{
    static const CUlaunchAttributeID ids[] = {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                              CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    CUstream s, t;
    CUevent e, timed;
    CUdeviceptr flag = alloc(4);
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    for (unsigned i = 0; i < 2; i++) {
        CUlaunchAttribute a = {.id = ids[i], .value.launchCompletionEvent.event = timed};
        CUlaunchConfig c = {4, 1, 1, 32, 1, 1, 0, s, &a, 1};
        IS(cuLaunchKernelEx(&c, kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
        a.value.launchCompletionEvent.event = e;
        OK(cuStreamWaitValue32(s, flag, i + 1, CU_STREAM_WAIT_VALUE_GEQ)); /* holds it up */
        OK(cuLaunchKernelEx(&c, kernel("limited"), NULL, NULL));
        IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
        OK(cuStreamWriteValue32(t, flag, i + 1, 0));
        OK(cuEventSynchronize(e));
        OK(cuEventQuery(e));
    }
}

Test(driver, a_grid_that_its_kernels_clusters_do_not_fill, .init = start, .fini = stop)
{
    CUfunction f;
    CUmodule m;
    OK(cuModuleLoadData(&m, ".version 7.8\n.target sm_90\n.address_size 64\n"
                            ".visible .entry pairs() .reqnctapercluster 2\n{\n ret;\n}\n"));
    OK(cuModuleGetFunction(&f, m, "pairs"));
    IS(launch1(f, 3, 32, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(launch1(f, 4, 32, NULL));
}

Test(driver, faults_stick_to_the_context, .init = start, .fini = stop)
{
    static const struct {
        const char *kernel;
        CUdeviceptr offset;
        CUresult want;
    } cases[] = {{"astray", 400, CUDA_ERROR_ILLEGAL_ADDRESS},
                 {"astray", 2, CUDA_ERROR_MISALIGNED_ADDRESS},
                 {"trapped", 0, CUDA_ERROR_LAUNCH_FAILED}};
    for (size_t i = 0; i < 3; i++) {
        CUcontext c;
        CUmodule m;
        CUfunction f;
        OK(cuCtxCreate(&c, NULL, 0, 0));
        OK(cuModuleLoadData(&m, ptx));
        OK(cuModuleGetFunction(&f, m, cases[i].kernel));
        CUdeviceptr p = alloc(400), at = p + cases[i].offset;
        IS(launch1(f, 1, 1, i < 2 ? (void *[]){&at} : NULL), cases[i].want);
        IS(cuCtxSynchronize(), cases[i].want);
        IS(cuMemFree(p), cases[i].want);
        IS(launch1(f, 1, 1, i < 2 ? (void *[]){&p} : NULL), cases[i].want);
        OK(cuCtxDestroy(c));
        OK(cuCtxSynchronize()); /* the context below is as it was */
    }
}

static char seen[200];
static unsigned before_count;
static void before(void *self, const char *name, struct emu_launch *l)
{
    (void)self, (void)name;
    before_count += l->block[0];
}
static void after(void *self, const char *name, const struct emu_launch *l,
                  const struct emu_report *r)
{
    (void)l;
    snprintf(seen, sizeof seen, "%s %s %s %d", (const char *)self, name,
             emu_fault_name(r->fault.kind), r->warp_instructions > 0);
}

Test(driver, a_program_can_watch_launches)
{
    CUdeviceptr bad = 8;
    cuda_device_configure(&(struct emu_config){.threads = 1, .memory = 64 << 20, .count = true});
    cuda_device_watch(
        &(struct cuda_watch){.self = "me", .before = before, .after = after, .quiet = true});
    OK(cuInit(0));
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(launch1(kernel("limited"), 2, 64, NULL));
    cr_expect(strcmp(seen, "me limited no fault 1") == 0, "%s", seen);
    IS(launch1(kernel("astray"), 1, 1, (void *[]){&bad}), CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_expect(strncmp(seen, "me astray out of bounds", 23) == 0, "%s", seen);
    cr_expect(before_count == 65);
    stop();
}

Test(driver, dynamic_shared_memory, .init = start, .fini = stop)
{
    CUfunction f = kernel("shared");
    CUdeviceptr out = alloc(4);
    uint32_t at = 60000, got;
    int value;
    void *params[] = {&out, &at};
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
    cr_expect(value >= 1000 && value < 1100, "%d", value);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 64000, NULL, params, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64000));
    OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    cr_expect(value == 64000);
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 64000, NULL, params, NULL));
    OK(cuMemcpyDtoH(&got, out, 4));
    cr_expect(got == 77);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS, 3), CUDA_ERROR_INVALID_VALUE);
}

/* From the CUDA C++ Programming Guide's table of compute capabilities, and the makers' data sheets. */
Test(driver, attributes_are_those_of_the_gpu, .fini = stop)
{
    static const struct {
        const char *gpu;
        int major, minor, sms, threads, blocks, shared, optin, block_shared, l2, clock, bus,
            cluster, memory_clock, single_to_double;
    } want[] = {
        {"gtx1080", 6, 1, 20, 2048, 32, 98304, 49152, 49152, 2 << 20, 1733000, 256, 0, 5004000, 32},
        {"v100", 7, 0, 80, 2048, 32, 98304, 98304, 49152, 6 << 20, 1530000, 4096, 0, 879000, 2},
        {"rtx2080ti", 7, 5, 68, 1024, 16, 65536, 65536, 49152, 5632 << 10, 1545000, 352, 0, 7000000,
         32},
        {"a100", 8, 0, 108, 2048, 32, 167936, 166912, 49152, 40 << 20, 1410000, 5120, 0, 1215000,
         2},
        {"h100", 9, 0, 132, 2048, 32, 233472, 232448, 49152, 50 << 20, 1980000, 5120, 1, 2619000,
         2},
        {"c2050", 2, 0, 14, 1536, 8, 49152, 49152, 49152, 768 << 10, 1150000, 384, 0, 1500000, 2},
        {"gtx680", 3, 0, 8, 2048, 16, 49152, 49152, 49152, 512 << 10, 1058000, 256, 0, 3004000, 24},
        {"rtx3070", 8, 6, 46, 1536, 16, 102400, 101376, 49152, 4 << 20, 1725000, 256, 0, 7000000,
         64},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct {
            CUdevice_attribute a;
            int value;
        } rows[] = {
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, want[i].major},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, want[i].minor},
            {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, want[i].sms},
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, want[i].threads},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, want[i].blocks},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, want[i].shared},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, want[i].optin},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, want[i].block_shared},
            {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, want[i].l2},
            {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, want[i].clock},
            {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, want[i].bus},
            {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, want[i].memory_clock},
            {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, want[i].single_to_double},
            {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, want[i].cluster}};
        cuda_device_configure(&(struct emu_config){
            .threads = 1, .memory = 64 << 20, .gpu = emu_gpu_find(want[i].gpu)});
        OK(cuInit(0));
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            int value = -1;
            OK(cuDeviceGetAttribute(&value, rows[k].a, 0));
            cr_expect(value == rows[k].value, "%s, attribute %d: %d", want[i].gpu, rows[k].a,
                      value);
        }
    }
}

Test(driver, occupancy, .init = start, .fini = stop)
{
    int blocks, grid, block;
    size_t bytes;
    CUfunction f = kernel("add"), s = kernel("shared");
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
    cr_expect(blocks == 2, "%d", blocks);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
    cr_expect(blocks == 32, "%d", blocks);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s, 32, 40000));
    cr_expect(blocks == 5, "%d", blocks); /* 233472 / (1000 + 40000 + 1024) */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel("limited"), 65, 0));
    cr_expect(blocks == 0);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    cr_expect(block == 1024 && grid == 264, "%d x %d", grid, block);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 100));
    cr_expect(block <= 100 && block * (grid / 132) <= 2048);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, s, 5, 64));
    cr_expect(bytes > 40000 && bytes < 46700, "%zu", bytes);
    IS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, memory, .init = start, .fini = stop)
{
    CUdeviceptr p, q, base;
    size_t size, pitch, all, left, left2;
    char text[16] = "hello, device", back[16];
    OK(cuMemGetInfo(&left, &all));
    p = alloc(100);
    cr_expect(p % 256 == 0);
    OK(cuMemGetInfo(&left2, &all));
    cr_expect(all == 64 << 20 && left2 == left - 100, "%zu %zu", left, left2);
    OK(cuMemGetAddressRange(&base, &size, p + 99));
    cr_expect(base == p && size == 100);
    IS(cuMemGetAddressRange(&base, &size, p + 100), CUDA_ERROR_NOT_FOUND);
    q = alloc(16);
    OK(cuMemcpyHtoD(p + 50, text, 16));
    OK(cuMemcpyDtoD(q, p + 50, 16));
    OK(cuMemcpyDtoH(back, q, 16));
    cr_expect(memcmp(text, back, 16) == 0);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, p + 52, 14));
    cr_expect(memcmp(text + 2, back, 14) == 0);
    IS(cuMemcpyHtoD(p + 90, text, 16), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(back, q + 1, 16), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(8, text, 16), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(p, NULL, 0));
    IS(cuMemFree(p + 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(0));
    IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAlloc(&p, (size_t)1 << 40), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAllocPitch(&p, &pitch, 100, 7, 4));
    cr_expect(pitch == 512);
    OK(cuMemGetAddressRange(&base, &size, p));
    cr_expect(size == 7 * 512);
    IS(cuMemAllocPitch(&p, &pitch, 100, 7, 5), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, fills, .init = start, .fini = stop)
{
    uint8_t got[64], want[64];
    CUdeviceptr p = alloc(64);
    memset(want, 1, 64);
    OK(cuMemsetD8(p, 1, 64));
    for (int i = 0; i < 3; i++) memcpy(want + 8 + 2 * i, "\x34\x12", 2);
    OK(cuMemsetD16(p + 8, 0x1234, 3));
    memcpy(want + 16, "\x78\x56\x34\x12", 4);
    OK(cuMemsetD32Async(p + 16, 0x12345678, 1, CU_STREAM_PER_THREAD));
    for (int y = 0; y < 3; y++) memset(want + 32 + 8 * y, 9, 5);
    OK(cuMemsetD2D8(p + 32, 8, 9, 5, 3));
    OK(cuMemcpyDtoH(got, p, 64));
    cr_expect(memcmp(got, want, 64) == 0);
    IS(cuMemsetD32(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(p, 0, 65), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD2D32(p, 8, 0, 3, 2), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, copies_of_boxes, .init = start, .fini = stop)
{
    uint8_t host[6 * 10], back[4 * 5 * 2];
    for (unsigned i = 0; i < sizeof host; i++) host[i] = (uint8_t)i;
    CUdeviceptr p = alloc(1000);
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 10,
                        .srcXInBytes = 3,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = p,
                        .dstPitch = 16,
                        .dstXInBytes = 1,
                        .dstY = 2,
                        .WidthInBytes = 4,
                        .Height = 5};
    OK(cuMemcpy2D(&in));
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = p,
                         .srcPitch = 16,
                         .srcHeight = 2, /* a slice is two rows: z walks down the rows */
                         .srcXInBytes = 1,
                         .srcY = 0,
                         .srcZ = 1,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = 4,
                         .dstHeight = 2,
                         .WidthInBytes = 4,
                         .Height = 2,
                         .Depth = 2};
    OK(cuMemcpy3D(&out));
    for (unsigned y = 0; y < 4; y++)
        for (unsigned x = 0; x < 4; x++)
            cr_expect(back[y * 4 + x] == (y + 1) * 10 + x + 3, "%u %u: %u", x, y, back[y * 4 + x]);
    in.dstPitch = 4;
    IS(cuMemcpy2D(&in), CUDA_ERROR_INVALID_VALUE);
    in.dstPitch = 16;
    in.dstMemoryType = CU_MEMORYTYPE_ARRAY; /* and no array */
    IS(cuMemcpy2D(&in), CUDA_ERROR_INVALID_HANDLE);
    in.Height = 0;
    OK(cuMemcpy2D(&in));
    IS(cuMemcpy2D(NULL), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, pinned_memory_is_shared_with_kernels, .init = start, .fini = stop)
{
    uint32_t *host, n = 8, k = 1;
    CUdeviceptr device, q;
    unsigned flags, type;
    OK(cuMemHostAlloc((void **)&host, 32, CU_MEMHOSTALLOC_DEVICEMAP));
    for (uint32_t i = 0; i < n; i++) host[i] = i;
    OK(cuMemHostGetDevicePointer(&device, host, 0));
    OK(launch1(kernel("add"), 1, 32, (void *[]){&device, &device, &n, &k}));
    for (uint32_t i = 0; i < n; i++) cr_expect(host[i] == i + 1);
    OK(cuMemHostGetDevicePointer(&q, host + 3, 0));
    cr_expect(q == device + 12);
    OK(cuMemHostGetFlags(&flags, host));
    cr_expect(flags & CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             (CUdeviceptr)(uintptr_t)host));
    cr_expect(type == CU_MEMORYTYPE_HOST);
    IS(cuMemFree(device), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(host + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(host));
    IS(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocHost((void **)&host, 10));
    OK(cuMemFreeHost(host));
}

/* in[i] + 10 of 8 numbers */
static void add_10(CUdeviceptr in, CUdeviceptr out)
{
    unsigned n = 8, k = 10;
    OK(launch1(kernel("add"), 1, 32, (void *[]){&in, &out, &n, &k}));
}

static int *host_of(CUdeviceptr p)
{
    return (int *)(uintptr_t)p;
}

Test(driver, managed_memory_has_one_address, .init = start, .fini = stop)
{
    CUdeviceptr p = 0, q = alloc(32);
    int back[8];
    OK(cuMemAllocManaged(&p, 32, CU_MEM_ATTACH_GLOBAL));
    for (int i = 0; i < 8; i++) host_of(p)[i] = i;
    add_10(p, q);
    add_10(q, p);
    for (int i = 0; i < 8; i++) cr_expect(host_of(p)[i] == i + 20);
    OK(cuMemcpyDtoH(back, p, 32));
    cr_expect(back[7] == 27);
    OK(cuMemcpyHtoD(q, host_of(p), 32)); /* it is the host's as well */
    OK(cuMemsetD32(p, 3, 4));
    cr_expect(host_of(p)[3] == 3 && host_of(p)[4] == 24);
    IS(cuMemcpyHtoD(q, host_of(p + 8), 32), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(host_of(p)), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, 32, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAllocManaged(&q, (size_t)1 << 40, CU_MEM_ATTACH_HOST), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, registered_memory_stays_where_it_is, .init = start, .fini = stop)
{
    int *mine = malloc(5000), back[8];
    CUdeviceptr p, q;
    unsigned flags, type;
    void *host;
    for (int i = 0; i < 8; i++) mine[i + 1] = i;
    OK(cuMemHostRegister(mine + 1, 4096, CU_MEMHOSTREGISTER_PORTABLE));
    OK(cuMemHostGetDevicePointer(&p, mine + 1, 0));
    OK(cuMemHostGetDevicePointer(&q, mine + 101, 0));
    cr_expect(q == p + 400);
    add_10(p, q);
    for (int i = 0; i < 8; i++) cr_expect(mine[101 + i] == i + 10);
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)back, (CUdeviceptr)(uintptr_t)(mine + 101), 32));
    OK(cuMemsetD32((CUdeviceptr)(uintptr_t)(mine + 102), 5, 1));
    cr_expect(back[7] == 17 && mine[102] == 5 && mine[103] == 12);
    OK(cuMemHostGetFlags(&flags, mine + 9));
    cr_expect(flags == (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)(mine + 9)));
    OK(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p + 32));
    cr_expect(type == CU_MEMORYTYPE_HOST && host == mine + 9);
    IS(cuMemHostRegister(mine, 5000, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    IS(cuMemHostUnregister(mine + 9), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost(mine + 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(mine + 1));
    IS(cuMemHostUnregister(mine + 1), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    IS(cuMemcpyDtoH(back, p, 32), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(mine, 0, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(NULL, 9, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister((void *)(uintptr_t)4096, 9, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostRegister(mine, 9, 16), CUDA_ERROR_INVALID_VALUE);
    free(mine);
}

/* Pointers that a direction calls the host's, and that are the device's alone. */
Test(driver, swapped_pointers_are_an_error, .init = start, .fini = stop)
{
    CUdeviceptr p = alloc(64);
    char text[64] = {0};
    IS(cuMemcpyDtoH(host_of(p), p, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(p, host_of(p + 32), 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)text, host_of(p), 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(p, host_of(p + 4096), 4), CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = p,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = host_of(p),
                       .WidthInBytes = 4,
                       .Height = 1};
    IS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c.dstHost = text;
    OK(cuMemcpy2D(&c));
    OK(cuMemFree(p));
    IS(cuMemcpyDtoH(text, p, 4), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpy((CUdeviceptr)(uintptr_t)text, p, 4), CUDA_ERROR_INVALID_VALUE);
}

static int range(CUmem_range_attribute a, CUdeviceptr p, size_t size)
{
    int value = -7;
    OK(cuMemRangeGetAttribute(&value, 4, a, p, size));
    return value;
}

Test(driver, remembers_advice_by_the_page, .init = start, .fini = stop)
{
    const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                        host = {CU_MEM_LOCATION_TYPE_HOST, 0},
                        other = {CU_MEM_LOCATION_TYPE_DEVICE, 1},
                        none = {CU_MEM_LOCATION_TYPE_INVALID, 0},
                        node = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 3};
    CUdeviceptr p;
    int by[3];
    OK(cuMemAllocManaged(&p, 5 * 4096, CU_MEM_ATTACH_GLOBAL));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 5 * 4096) == 0);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 9) == CU_DEVICE_INVALID);
    OK(cuMemAdvise(p + 4100, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, none)); /* pages 1 and 2 */
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4096, 8192) == 1);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4095, 8192) == 0);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p + 4096, 8193) == 0);
    OK(cuMemAdvise(p, 5 * 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, p, 5 * 4096) ==
              CU_MEM_LOCATION_TYPE_HOST_NUMA);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, p, 5 * 4096) == 3);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1) == CU_DEVICE_INVALID);
    OK(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 1) == CU_DEVICE_CPU);
    OK(cuMemAdvise(p, 9000, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
    OK(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_ACCESSED_BY, host));
    OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4096));
    cr_expect(by[0] == 0 && by[1] == CU_DEVICE_CPU && by[2] == CU_DEVICE_INVALID);
    OK(cuMemRangeGetAttribute(by, sizeof by, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 4097));
    cr_expect(by[0] == 0 && by[1] == CU_DEVICE_INVALID);
    OK(cuMemPrefetchAsync(p, 4096, device, 0, NULL));
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, 4096) == 0);
    cr_expect(range(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, p, 4097) == 0);
    IS(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_ACCESSED_BY, other), CUDA_ERROR_INVALID_DEVICE);
    IS(cuMemAdvise(p, 1, CU_MEM_ADVISE_SET_ACCESSED_BY, none), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAdvise(p, 1, (CUmem_advise)9, host), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAdvise(alloc(9), 1, CU_MEM_ADVISE_SET_READ_MOSTLY, host), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPrefetchAsync(p, 5 * 4096 + 1, device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPrefetchAsync(p, 0, device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPrefetchAsync(p, 1, device, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemRangeGetAttribute(by, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 1),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemRangeGetAttribute(by, 5, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, 1),
       CUDA_ERROR_INVALID_VALUE);
    CUstream s;
    OK(cuStreamCreate(&s, 0));
    OK(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
    OK(cuStreamAttachMemAsync(NULL, p, 5 * 4096, CU_MEM_ATTACH_HOST));
    IS(cuStreamAttachMemAsync(NULL, p, 0, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamAttachMemAsync(s, p, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamAttachMemAsync(s, p, 0, 3), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, maps_memory_to_addresses, .init = start, .fini = stop)
{
    enum { UNIT = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                          none = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_NONE};
    CUmemGenericAllocationHandle a, b, again;
    CUdeviceptr at, hint, p;
    size_t granularity;
    unsigned long long flags;
    static unsigned char out[64], in[64];
    OK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    cr_assert(granularity == UNIT);
    OK(cuMemAddressReserve(&at, 4 * UNIT, 0, 0, 0));
    cr_expect(at % UNIT == 0);
    p = alloc(UNIT); /* not there */
    cr_expect(p + UNIT <= at || p >= at + 4 * UNIT);
    OK(cuMemCreate(&a, UNIT, &prop, 0));
    OK(cuMemCreate(&b, 2 * UNIT, &prop, 0));
    OK(cuMemMap(at, UNIT, 0, a, 0));
    OK(cuMemMap(at + UNIT, 2 * UNIT, 0, b, 0));
    IS(cuMemsetD8(at, 1, 4), CUDA_ERROR_INVALID_VALUE); /* it may not be accessed yet */
    OK(cuMemSetAccess(at, 3 * UNIT, &all, 1));
    OK(cuMemGetAccess(&flags, &all.location, at + UNIT + 5));
    cr_expect(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    /* across the border */
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)i;
    OK(cuMemcpyHtoD(at + UNIT - 32, in, 64));
    OK(cuMemcpyDtoH(out, at + UNIT - 32, 64));
    cr_expect(memcmp(in, out, 64) == 0);
    OK(cuMemsetD32(at + UNIT - 16, 7, 8));
    add_10(at + UNIT - 16, at + 64);
    OK(cuMemcpyDtoH(out, at + 64, 32));
    cr_expect(out[0] == 17 && out[28] == 17);
    IS(cuMemsetD8(at + 3 * UNIT - 4, 1, 5), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFree(at), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemUnmap(at, UNIT / 2), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(at, 4 * UNIT), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(at + 2 * UNIT, UNIT, 0, a, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(at + 3 * UNIT, UNIT, 2 * UNIT, b, 0), CUDA_ERROR_INVALID_VALUE);
    /* the same memory a second time, and another place for it afterwards */
    OK(cuMemMap(at + 3 * UNIT, UNIT, 0, a, 0));
    OK(cuMemSetAccess(at + 3 * UNIT, UNIT, &all, 1));
    OK(cuMemsetD8(at + 3 * UNIT, 5, 1));
    OK(cuMemcpyDtoH(out, at, 1));
    cr_expect(out[0] == 5);
    OK(cuMemRetainAllocationHandle(&again, (void *)host_of(at + 9)));
    cr_expect(again == a);
    OK(cuMemRelease(a));
    OK(cuMemRelease(a));
    IS(cuMemRelease(a), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemSetAccess(at + 3 * UNIT, UNIT, &none, 1));
    IS(cuMemsetD8(at + 3 * UNIT, 5, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(at, 4 * UNIT));
    IS(cuMemUnmap(at, 4 * UNIT), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(at, UNIT, 0, a, 0), CUDA_ERROR_INVALID_VALUE); /* its memory is gone */
    OK(cuMemMap(at + UNIT, 2 * UNIT, 0, b, 0));
    OK(cuMemSetAccess(at + UNIT, 2 * UNIT, &all, 1));
    OK(cuMemcpyDtoH(out, at + UNIT, 4));
    cr_expect(out[0] == 7);
    OK(cuMemUnmap(at + UNIT, 2 * UNIT));
    OK(cuMemAddressFree(at, 4 * UNIT));
    OK(cuMemAddressReserve(&hint, 2 * UNIT, 0, at + 2 * UNIT, 0));
    cr_expect(hint == at + 2 * UNIT);
    IS(cuMemAddressReserve(&hint, UNIT + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressReserve(&hint, (size_t)1 << 40, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    IS(cuMemCreate(&a, UNIT + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
    /* a kernel that goes astray in it is told so */
    CUdeviceptr astray = at + 3 * UNIT;
    IS(launch1(kernel("astray"), 1, 1, (void *[]){&astray}), CUDA_ERROR_ILLEGAL_ADDRESS);
}

/* As allocators do that grow in place; and the addresses of other memory are not taken by it. */
Test(driver, reserves_more_than_there_is_memory, .init = start, .fini = stop)
{
    enum { UNIT = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    const size_t more = (size_t)72 << 20; /* of 64 MiB */
    CUmemGenericAllocationHandle a;
    CUdeviceptr first, second, none, p;
    unsigned out[4] = {0};
    OK(cuMemAddressReserve(&first, more, 0, 0, 0));
    OK(cuMemAddressReserve(&second, more, 0, 0, 0));
    cr_expect(second >= first + more || first >= second + more);
    IS(cuMemAddressReserve(&none, 4 * more, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemCreate(&a, UNIT, &prop, 0));
    OK(cuMemMap(second + more - UNIT, UNIT, 0, a, 0));
    OK(cuMemSetAccess(second + more - UNIT, UNIT, &all, 1));
    OK(cuMemsetD32(second + more - 16, 5, 4));
    add_10(second + more - UNIT, second + more - 64);
    OK(cuMemcpyDtoH(out, second + more - 64, 4));
    cr_expect(out[0] == 10);
    OK(cuMemcpyDtoH(out, second + more - 4, 4));
    cr_expect(out[0] == 5);
    p = alloc((size_t)48 << 20);
    OK(cuMemFree(p));
    OK(cuMemUnmap(second + more - UNIT, UNIT));
    OK(cuMemAddressFree(first, more));
    OK(cuMemAddressFree(second, more));
    OK(cuMemAddressReserve(&none, 2 * more, 0, 0, 0));
    cr_expect(none == first);
}

/* Kernels and copies read what they may not write, and write it again when they may. */
Test(driver, maps_memory_to_be_read_alone, .init = start, .fini = stop)
{
    enum { UNIT = 2 << 20 };
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    const CUmemAccessDesc all = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                 CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                          read = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
    CUmemGenericAllocationHandle a, b;
    CUdeviceptr at, p = alloc(64);
    unsigned long long flags;
    unsigned out[8] = {0};
    OK(cuMemAddressReserve(&at, 2 * UNIT, 0, 0, 0));
    OK(cuMemCreate(&a, UNIT, &prop, 0));
    OK(cuMemCreate(&b, UNIT, &prop, 0));
    OK(cuMemMap(at, UNIT, 0, a, 0));
    OK(cuMemMap(at + UNIT, UNIT, 0, b, 0));
    OK(cuMemSetAccess(at, 2 * UNIT, &all, 1));
    OK(cuMemsetD32(at + UNIT - 16, 7, 8));
    add_10(at, at + 64); /* its sites know the first mapping */
    OK(cuMemSetAccess(at + UNIT, UNIT, &read, 1));
    OK(cuMemGetAccess(&flags, &all.location, at + UNIT));
    cr_expect(flags == CU_MEM_ACCESS_FLAGS_PROT_READ);
    add_10(at + UNIT, p);
    OK(cuMemcpyDtoH(out, p, 4));
    cr_expect(out[0] == 17);
    OK(cuMemcpyDtoH(out, at + UNIT - 16, 32));
    cr_expect(out[0] == 7 && out[7] == 7);
    IS(cuMemsetD32(at + UNIT, 1, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(at + UNIT - 16, out, 32), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoD(at + UNIT, p, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(at + UNIT - 16, out, 16));
    OK(cuMemSetAccess(at + UNIT, UNIT, &all, 1));
    add_10(at + UNIT, at + UNIT);
    OK(cuMemcpyDtoH(out, at + UNIT, 4));
    cr_expect(out[0] == 17);
    OK(cuMemSetAccess(at, 2 * UNIT, &read, 1));
    CUdeviceptr astray = at + UNIT;
    IS(launch1(kernel("astray"), 1, 1, (void *[]){&astray}), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static uint64_t of_pool(CUmemoryPool pool, CUmemPool_attribute a)
{
    uint64_t value = 99;
    OK(cuMemPoolGetAttribute(pool, a, &value));
    return value;
}

Test(driver, pools_count_what_they_hold, .init = start, .fini = stop)
{
    const uint64_t MB = 1 << 20;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                            .maxSize = 6 << 20};
    CUmemoryPool pool, of;
    CUdeviceptr p, q, r;
    uint64_t threshold = 3 * MB;
    size_t free_before, free_after, total;
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemGetInfo(&free_before, &total));
    OK(cuMemAllocFromPoolAsync(&p, MB, pool, NULL));
    OK(cuMemAllocFromPoolAsync(&q, 4 * MB, pool, NULL));
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, q + 5));
    cr_expect(of == pool);
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 5 * MB);
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 6 * MB);
    OK(cuMemGetInfo(&free_after, &total));
    cr_expect(free_before - free_after == 6 * MB);
    IS(cuMemAllocFromPoolAsync(&r, MB + 1, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFreeAsync(q, NULL));
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 6 * MB);
    OK(cuStreamSynchronize(NULL)); /* down to the threshold, in whole units of 2 MiB */
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 4 * MB);
    OK(cuMemPoolTrimTo(pool, 0));
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 2 * MB);
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) == 6 * MB);
    threshold = 0;
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &threshold));
    cr_expect(of_pool(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == MB);
    OK(cuMemPoolDestroy(pool)); /* with memory that is in use */
    IS(cuMemPoolTrimTo(pool, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD8(p, 1, MB));
    OK(cuMemFree(p));
    OK(cuMemGetInfo(&free_after, &total));
    cr_expect(free_before == free_after);
}

Test(driver, pools_of_the_host_and_wrong_ones, .init = start, .fini = stop)
{
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                            .location = {CU_MEM_LOCATION_TYPE_HOST, 0}};
    CUmemLocation host = props.location;
    CUmemoryPool pool, other, device;
    CUmemAccess_flags flags;
    CUdeviceptr p;
    const CUmemAccessDesc granted = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                     CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemPoolSetAccess(pool, &granted, 1));
    OK(cuMemAllocFromPoolAsync(&p, 32, pool, NULL));
    host_of(p)[0] = 5;
    add_10(p, p);
    cr_expect(host_of(p)[0] == 15);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemGetDefaultMemPool(&other, &host, CU_MEM_ALLOCATION_TYPE_PINNED));
    OK(cuDeviceGetDefaultMemPool(&device, 0));
    cr_expect(other != pool && other != device);
    IS(cuDeviceSetMemPool(0, pool), CUDA_ERROR_INVALID_VALUE); /* it is not of the device */
    IS(cuDeviceGetMemPool(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    IS(cuMemPoolDestroy(device), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemPoolGetAccess(&flags, device, &host));
    cr_expect(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    IS(cuMemPoolCreate(&pool, &props), CUDA_ERROR_NOT_SUPPORTED);
    props.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    IS(cuMemPoolCreate(&pool, &props), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemPoolCreate(NULL, &props), CUDA_ERROR_INVALID_VALUE);
    int fd;
    IS(cuMemPoolExportToShareableHandle(&fd, device, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
       CUDA_ERROR_INVALID_VALUE);
}

Test(driver, pointer_attributes, .init = start, .fini = stop)
{
    CUdeviceptr p = alloc(64), start_of;
    unsigned type = 9, managed = 9;
    size_t size;
    CUcontext c;
    void *host;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 63));
    cr_expect(type == CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    cr_expect(c == context);
    IS(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 1), CUDA_ERROR_INVALID_VALUE);
    CUpointer_attribute a[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                               CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
    OK(cuPointerGetAttributes(3, a, (void *[]){&start_of, &size, &managed}, p + 10));
    cr_expect(start_of == p && size == 64 && managed == 0);
    OK(cuPointerGetAttributes(1, (CUpointer_attribute[]){CU_POINTER_ATTRIBUTE_MEMORY_TYPE},
                              (void *[]){&type}, (CUdeviceptr)(uintptr_t)&type));
    cr_expect(type == 0, "unknown memory is told by zeros");
}

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

Test(driver, streams_and_events, .init = start, .fini = stop)
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
    cr_expect(of == context);
    OK(cuEventCreate(&a, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
    IS(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(a, s));
    OK(cuLaunchKernel(kernel("limited"), 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
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
Test(driver, host_functions_are_called_by_another_thread, .init = start, .fini = stop,
     .timeout = 60)
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
Test(driver, host_nodes_are_called_by_another_thread, .init = start, .fini = stop, .timeout = 60)
{
    CUgraph g;
    CUgraphNode host, fill, behind;
    CUgraphExec x;
    CUcontext c;
    CUdeviceptr cell = alloc(8);
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

Test(driver, limits, .init = start, .fini = stop)
{
    size_t n;
    OK(cuCtxGetLimit(&n, CU_LIMIT_MALLOC_HEAP_SIZE));
    cr_expect(n == 8 << 20);
    OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 12345));
    OK(cuCtxGetLimit(&n, CU_LIMIT_PRINTF_FIFO_SIZE));
    cr_expect(n == 12345);
    IS(cuCtxGetLimit(&n, (CUlimit)77), CUDA_ERROR_UNSUPPORTED_LIMIT);
    IS(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, (size_t)1 << 40), CUDA_ERROR_OUT_OF_MEMORY);
}

/* What a kernel's malloc of `size` bytes gives. */
static uint64_t allocated_by_a_kernel(CUfunction grab, uint64_t size)
{
    uint64_t got = 0;
    CUdeviceptr out = alloc(sizeof got);
    OK(launch1(grab, 1, 1, (void *[]){&out, &size}));
    OK(cuMemcpyDtoH(&got, out, sizeof got));
    return got;
}

Test(driver, the_heap_of_kernels_is_as_large_as_it_is_set, .init = start, .fini = stop)
{
    CUfunction f;
    CUmodule m;
    size_t n;
    OK(cuModuleLoadData(
        &m, ".version 7.0\n.target sm_75\n.address_size 64\n"
            ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
            ".visible .entry grab(.param .u64 out, .param .u64 n)\n{\n .reg .b64 %rd<4>;\n"
            " ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [n];\n"
            " { .param .b64 r; .param .b64 p; st.param.b64 [p], %rd2; call (r), malloc, (p);\n"
            "   ld.param.b64 %rd3, [r]; }\n st.global.u64 [%rd1], %rd3; ret;\n}\n"));
    OK(cuModuleGetFunction(&f, m, "grab"));
    cr_expect(allocated_by_a_kernel(f, 10 << 20) == 0);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    OK(cuCtxGetLimit(&n, CU_LIMIT_MALLOC_HEAP_SIZE));
    cr_expect(n == 16 << 20);
    cr_expect(allocated_by_a_kernel(f, 10 << 20) != 0);
    cr_expect(allocated_by_a_kernel(f, 10 << 20) == 0);
    OK(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 0));
    cr_expect(allocated_by_a_kernel(f, 16) == 0);
}

Test(driver, entry_points_by_name_and_version)
{
    void *p, *q;
    CUdriverProcAddressQueryResult s;
    OK(cuGetProcAddress("cuMemAlloc", &p, 13000, 0, &s));
    cr_expect(p == (void *)cuMemAlloc_v2 && s == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress("cuCtxCreate", &p, 12000, 0, &s));
    cr_expect(p == (void *)cuCtxCreate_v3);
    OK(cuGetProcAddress("cuCtxCreate", &p, 13000, 0, NULL));
    cr_expect(p == (void *)cuCtxCreate_v4);
    OK(cuGetProcAddress("cuCtxCreate", &p, 1000, 0, &s));
    cr_expect(!p && s == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cuGetProcAddress("cuNonsense", &p, 13000, 0, &s));
    cr_expect(!p && s == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    IS(cuGetProcAddress("cuNonsense", &p, 13000, 0, NULL), CUDA_ERROR_NOT_FOUND);
    OK(cuGetProcAddress("cuGetProcAddress", &p, 11030, 0, NULL));
    OK(cuGetProcAddress("cuGetProcAddress", &q, 12000, 0, NULL));
    cr_expect(p != q && q == (void *)cuGetProcAddress_v2);
    const void *table = &s;
    const CUuuid id = {{0}};
    OK(cuGetProcAddress("cuGetExportTable", &p, 3000, 0, NULL));
    IS(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED); /* NVRTC asks, and goes on */
    cr_expect(!table);
}

static void *in_thread(void *failed)
{
    uint32_t n = 100, k;
    uint32_t host[100] = {0};
    CUdeviceptr p;
    CUfunction f;
    bool ok = cuCtxSetCurrent(context) == CUDA_SUCCESS && cuMemAlloc(&p, 400) == CUDA_SUCCESS &&
              cuModuleGetFunction(&f, module, "add") == CUDA_SUCCESS &&
              cuMemsetD32(p, 0, 100) == CUDA_SUCCESS;
    for (k = 1; ok && k <= 50; k++)
        ok = launch1(f, 1, 128, (void *[]){&p, &p, &n, &k}) == CUDA_SUCCESS;
    ok = ok && cuMemcpyDtoH(host, p, 400) == CUDA_SUCCESS && cuMemFree(p) == CUDA_SUCCESS;
    for (uint32_t i = 0; i < 100; i++) ok = ok && host[i] == 50 * 51 / 2;
    *(bool *)failed = !ok;
    return NULL;
}

Test(driver, several_threads, .init = start, .fini = stop)
{
    pthread_t threads[4];
    bool failed[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, in_thread, &failed[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        cr_expect(!failed[i]);
    }
}

Test(driver, counts_of_a_program)
{
    char path[] = "/tmp/heddle-counts-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && close(fd) == 0);
    cuda_device_configure(NULL);
    setenv("HEDDLE_COUNTS", "/no/such/folder/file", 1);
    IS(cuInit(0), CUDA_ERROR_INVALID_VALUE);
    setenv("HEDDLE_COUNTS", path, 1);
    setenv("HEDDLE_GPU", "a100", 1);
    OK(cuInit(0));
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuLaunchKernel(kernel("limited"), 5, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    stop();
    char text[4096] = "";
    FILE *f = fopen(path, "r");
    cr_assert(f);
    cr_expect(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    cr_expect(strstr(text, "\"schema\": \"heddle-counts\"") && strstr(text, "\"gpu\": \"a100\"") &&
                  strstr(text, "\"ctas\": 5,"),
              "%s", text);
    remove(path);
}

Test(driver, bad_environment_fails_cuInit)
{
    cuda_device_configure(NULL);
    setenv("HEDDLE_CHECK", "memory,nonsense", 1);
    IS(cuInit(0), CUDA_ERROR_INVALID_VALUE);
    setenv("HEDDLE_CHECK", "memory,init", 1);
    setenv("HEDDLE_ORDER", "randon", 1);
    IS(cuInit(0), CUDA_ERROR_INVALID_VALUE);
    setenv("HEDDLE_ORDER", "random:strategy=pct", 1);
    setenv("HEDDLE_SEED", "1e3", 1);
    IS(cuInit(0), CUDA_ERROR_INVALID_VALUE);
    setenv("HEDDLE_SEED", "17", 1);
    setenv("HEDDLE_MEMORY", "32M", 1);
    setenv("HEDDLE_THREADS", "1", 1);
    OK(cuInit(0));
    size_t bytes;
    OK(cuDeviceTotalMem(&bytes, 0));
    cr_expect(bytes == 32 << 20);
    stop();
}
