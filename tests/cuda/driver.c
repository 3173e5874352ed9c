/* The driver API as a host program sees it: devices, contexts, modules, launches; memory is in driver_memory.c, streams and
 * host functions are in driver_streams.c. Layouts and numbers were compared with CUDA 13's cuda.h. */
#define _GNU_SOURCE
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "emu/gpu.h"
#include "tests/support/driver_calls.h"
#include "tests/support/driver_kernels.h"

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

Test(driver, wants_cuInit_and_a_context)
{
    CUdeviceptr p;
    CUdevice d;
    driver_quiet();
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuDeviceGet(&d, 0), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuDeviceGet(&d, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGet(&d, 0));
    driver_reset();
}

Test(driver, device_properties)
{
    int n, major, minor;
    char name[8];
    size_t bytes;
    CUuuid a, b;
    driver_quiet();
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
    driver_reset();
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
    driver_quiet();
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
    driver_reset();
}

Test(driver, a_context_destroyed_with_its_memory)
{
    CUcontext a;
    driver_quiet();
    OK(cuInit(0));
    OK(cuCtxCreate(&a, NULL, 0, 0));
    driver_alloc(1000);
    OK(cuModuleLoadData(&driver_module, driver_ptx));
    cr_expect(emu_allocation_count(cuda_device_emu()) == 3); /* and two variables */
    OK(cuCtxDestroy(a));
    cr_expect(emu_allocation_count(cuda_device_emu()) == 0);
    driver_reset();
}

Test(driver, primary_context)
{
    CUcontext a, b;
    unsigned flags;
    int active;
    driver_quiet();
    OK(cuInit(0));
    IS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_YIELD));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuDevicePrimaryCtxRetain(&b, 0));
    cr_expect(a == b);
    OK(cuCtxGetCurrent(&b));
    cr_expect(b == NULL, "retaining does not make it current");
    OK(cuCtxSetCurrent(a));
    driver_alloc(100);
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    cr_expect(flags == CU_CTX_SCHED_YIELD && active);
    IS(cuCtxDestroy(a), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxReset(0));
    cr_expect(emu_allocation_count(cuda_device_emu()) == 0);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    cr_expect(!active);
    driver_reset();
}

Test(driver, modules_and_functions, .init = driver_load_kernels, .fini = driver_reset)
{
    CUfunction f, all[20];
    CUmodule other;
    CUdeviceptr p;
    size_t size, offset;
    unsigned n;
    const char *name;
    IS(cuModuleGetFunction(&f, driver_module, "none"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&f, driver_module, ""), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleGetFunctionCount(&n, driver_module));
    cr_expect(n == 7);
    OK(cuModuleEnumerateFunctions(all, 20, driver_module));
    OK(cuFuncGetName(&name, all[0]));
    cr_expect(strcmp(name, "add") == 0);
    OK(cuFuncGetModule(&other, all[0]));
    cr_expect(other == driver_module);
    OK(cuFuncGetParamInfo(driver_kernel("mixed"), 2, &offset, &size));
    cr_expect(offset == 16 && size == 2);
    IS(cuFuncGetParamInfo(driver_kernel("mixed"), 4, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    OK(cuModuleGetGlobal(&p, &size, driver_module, "table"));
    cr_expect(p && size == 24);
    IS(cuModuleGetGlobal(&p, &size, driver_module, "none"), CUDA_ERROR_NOT_FOUND);
    OK(cuModuleLoadData(&other, driver_ptx));
    OK(cuModuleGetFunction(&f, other, "add"));
    OK(cuModuleUnload(other));
    IS(cuModuleUnload(other), CUDA_ERROR_INVALID_HANDLE);
    IS(driver_launch1(f, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuModuleLoad(&other, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
    IS(cuModuleLoadData(&other, "\x7f"
                                "ELF....."),
       CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(cuModuleLoadData(&other, "\x50\xed\x55\xba............"), CUDA_ERROR_INVALID_IMAGE);
}

Test(driver, modules_from_files, .init = driver_load_kernels, .fini = driver_reset)
{
    char path[] = "/tmp/heddle-module-XXXXXX";
    CUmodule other;
    CUfunction f;
    int fd = mkstemp(path);
    const size_t size = strlen(driver_ptx) + 1; /* with the NUL */
    cr_assert(fd >= 0 && write(fd, driver_ptx, size) == (ssize_t)size);
    close(fd);
    OK(cuModuleLoad(&other, path));
    OK(cuModuleGetFunction(&f, other, "add"));
    cr_assert(truncate(path, 100) == 0);
    IS(cuModuleLoad(&other, path), CUDA_ERROR_INVALID_PTX);
    unlink(path);
}

/* As on an H200: docs/hardware.md. */
Test(driver, what_is_no_ptx_and_what_is_too_new, .init = driver_load_kernels, .fini = driver_reset)
{
    CUmodule m;
    IS(cuModuleLoadData(&m, "nonsense"), CUDA_ERROR_INVALID_IMAGE);
    IS(cuModuleLoadData(&m, "// only a comment"), CUDA_ERROR_INVALID_IMAGE);
    IS(cuModuleLoadData(&m, ".version 9.9\n.target sm_70\n.entry k() { ret; }"),
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    IS(cuModuleLoadData(&m, ".version 10.0\n.target sm_70\n.entry k() { ret; }"),
       CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    IS(cuModuleLoadData(&m, ".version 8.9\n.target sm_70\n.entry k() { ret; }"),
       CUDA_ERROR_INVALID_PTX);
    IS(cuModuleLoadData(&m, ".version 7.0\n.target sm_70\n.entry k() { nonsense; }"),
       CUDA_ERROR_INVALID_PTX);
}

/* ptxas says "Unresolved extern function", whether a kernel reaches the call or not, or "Cannot take address of function";
 * an H200's driver answers 218 for a call. What nothing names may be missing, and vprintf is the runtime's. */
Test(driver, functions_that_are_named_are_there, .init = driver_load_kernels, .fini = driver_reset)
{
#define EXTERN ".version 7.8\n.target sm_70\n.address_size 64\n.extern .func missing;\n"
    static const char *const refused[] = {
        EXTERN ".visible .entry k() { call.uni missing; ret; }",
        EXTERN ".visible .entry k() { ret; call.uni missing; ret; }",
        EXTERN ".visible .entry k() { ret; }\n.func f() { call.uni missing; ret; }",
        EXTERN ".visible .entry k() { ret; }\n.visible .func f() { call.uni missing; ret; }",
        EXTERN ".visible .entry k() { .reg .b64 %a; mov.u64 %a, missing; ret; }",
    };
    static const char *const taken[] = {
        EXTERN ".visible .entry k() { ret; }",
        ".version 7.8\n.target sm_70\n.address_size 64\n"
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
        ".visible .entry k() { .reg .b32 %r; .param .b32 r; .param .b64 f, v;\n"
        "call.uni (r), vprintf, (f, v); ret; }",
        ".version 7.8\n.target sm_70\n.address_size 64\n.func late;\n.visible .entry k() { call.uni late; }\n.func late { ret; }",
    };
    CUmodule m;
    char log[300];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        void *values[] = {log, (void *)sizeof log};
        IS(cuModuleLoadDataEx(&m, refused[i], 2, options, values), CUDA_ERROR_INVALID_PTX);
        cr_expect(strstr(log, "no module defines 'missing'") != NULL, "%zu: %s", i, log);
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        OK(cuModuleLoadData(&m, taken[i]));
        OK(cuModuleUnload(m));
    }
}

/* ptxas 13: "Unresolved extern variable 'x' in whole program compilation, ignoring extern qualifier", and the cubin has x among
 * its symbols, whether something names it or not; of an array without a size that it is unresolved, and no cubin. */
Test(driver, variables_that_nobody_defines, .init = driver_load_kernels, .fini = driver_reset)
{
#define HEAD ".version 7.8\n.target sm_70\n.address_size 64\n"
#define READS(space)                                                                               \
    ".visible .entry k(.param .u64 out) { .reg .u32 %r; .reg .u64 %p; ld.param.u64 %p, [out]; "    \
    "ld." space ".u32 %r, [x+8]; st.global.u32 [%p], %r; ret; }"
    static const struct {
        const char *text;
        size_t size; /* 0: refused */
    } all[] = {
        {HEAD ".extern .global .align 8 .b8 x[40];\n" READS("global"), 40},
        {HEAD ".extern .const .u64 x[2];\n" READS("const"), 16},
        {HEAD ".extern .global .u32 x;\n.extern .global .u32 x;\n.visible .entry k() { ret; }", 4},
        {HEAD ".extern .global .u32 x;\n.visible .global .u64 p = x;\n.visible .entry k() { ret; }",
         4},
        {HEAD
         ".extern .global .u32 x[];\n.visible .global .u32 x[3] = {1, 2, 3};\n" READS("global"),
         12},
        {HEAD ".extern .global .u32 x[];\n" READS("global"), 0},
        {HEAD ".extern .const .u32 x[];\n" READS("const"), 0},
        {HEAD ".extern .global .u32 x[];\n.visible .entry k() { ret; }", 0},
    };
    char log[300];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        void *values[] = {log, (void *)sizeof log};
        CUmodule m;
        CUfunction f;
        CUdeviceptr x = 0, out = 0;
        size_t size = 0;
        unsigned word = 7;
        if (!all[i].size) {
            IS(cuModuleLoadDataEx(&m, all[i].text, 2, options, values), CUDA_ERROR_INVALID_PTX);
            cr_expect(strstr(log, "no module defines 'x', which has no size") != NULL, "%zu: %s", i,
                      log);
            continue;
        }
        OK(cuModuleLoadDataEx(&m, all[i].text, 2, options, values));
        OK(cuModuleGetGlobal(&x, &size, m, "x"));
        cr_expect_eq(size, all[i].size, "%zu: %zu", i, size);
        OK(cuModuleGetFunction(&f, m, "k"));
        OK(cuMemAlloc(&out, 4));
        OK(cuMemcpyHtoD(out, &word, 4));
        OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL));
        OK(cuMemcpyDtoH(&word, out, 4));
        const bool reads = strstr(all[i].text, "[x+8]") != NULL;
        cr_expect_eq(word, !reads ? 7u : size == 12 ? 3u : 0u, "%zu: %u", i, word);
        OK(cuMemFree(out));
        OK(cuModuleUnload(m));
    }
}

/* The GPU is an H100, of capability 9.0. ptxas says "SM version specified by .target is higher than default SM version". */
Test(driver, the_target_is_not_beyond_the_gpu, .init = driver_load_kernels, .fini = driver_reset)
{
    static const struct {
        const char *version, *target;
        CUresult want;
    } all[] = {
        {"7.8", "sm_90", CUDA_SUCCESS},
        {"8.0", "sm_90a", CUDA_SUCCESS},
        {"7.8", "sm_86", CUDA_SUCCESS},
        {"8.6", "sm_100", CUDA_ERROR_INVALID_PTX},
        {"8.6", "sm_100a", CUDA_ERROR_INVALID_PTX},
        {"8.8", "sm_100f", CUDA_ERROR_INVALID_PTX},
        {"8.7", "sm_120", CUDA_ERROR_INVALID_PTX},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char text[200], log[300];
        CUmodule m;
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)sizeof log};
        snprintf(text, sizeof text,
                 ".version %s\n.target %s\n.address_size 64\n.visible .entry k() { ret; }",
                 all[i].version, all[i].target);
        IS(cuModuleLoadDataEx(&m, text, 2, options, values), all[i].want);
        if (all[i].want) cr_expect(strstr(log, "the GPU is sm_90") != NULL, "%s", log);
        else OK(cuModuleUnload(m));
    }
}

Test(driver, the_error_log_says_why, .init = driver_load_kernels, .fini = driver_reset)
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
    IS(cuModuleLoadDataEx(&m, "nonsense", 2, options, values), CUDA_ERROR_INVALID_IMAGE);
    cr_expect(strlen(log) == 4);
    IS(cuModuleLoadDataEx(&m, driver_ptx, 1, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    values[1] = (void *)sizeof log;
    OK(cuModuleLoadDataEx(&m, driver_ptx, 2, options, values));
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
    driver_quiet();
    OK(cuInit(0));
    OK(cuLibraryLoadData(&l, driver_ptx, NULL, NULL, 0, NULL, NULL, 0));
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
    OK(cuCtxCreate(&driver_context, NULL, 0, 0));
    OK(cuKernelGetFunction(&f, k));
    OK(cuLibraryGetModule(&m, l));
    IS(cuModuleUnload(m), CUDA_ERROR_NOT_PERMITTED);
    OK(cuLibraryGetGlobal(&p, &size, l, "factor"));
    cr_expect(size == 4);
    OK(cuMemcpyHtoD(p, &(uint32_t){41}, 4));
    out = driver_alloc(4);
    OK(driver_launch1((CUfunction)k, 1, 1, (void *[]){&out})); /* a kernel is a function, too */
    OK(cuMemcpyDtoH(&got, out, 4));
    cr_expect(got == 41);
    OK(cuLibraryUnload(l));
    IS(cuLibraryUnload(l), CUDA_ERROR_INVALID_HANDLE);
    driver_reset();
}

Test(driver, launches, .init = driver_load_kernels, .fini = driver_reset)
{
    enum { N = 1000 };
    uint32_t host[N], n = N, k = 5;
    CUdeviceptr in = driver_alloc(sizeof host), out = driver_alloc(sizeof host);
    for (uint32_t i = 0; i < N; i++) host[i] = 3 * i;
    OK(cuMemcpyHtoD(in, host, sizeof host));
    OK(driver_launch1(driver_kernel("add"), 4, 256, (void *[]){&in, &out, &n, &k}));
    OK(cuMemcpyDtoH(host, out, sizeof host));
    for (uint32_t i = 0; i < N; i++) cr_assert(host[i] == 3 * i + 5, "%u: %u", i, host[i]);
}

Test(driver, parameters_by_pointers_or_packed, .init = driver_load_kernels, .fini = driver_reset)
{
    uint32_t got[4];
    uint8_t a = 200;
    uint16_t b = 60000;
    double c = 0.1, back;
    CUdeviceptr out = driver_alloc(16);
    OK(driver_launch1(driver_kernel("mixed"), 1, 1, (void *[]){&a, &out, &b, &c}));
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
    CUfunction f = driver_kernel("mixed");
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

Test(driver, impossible_launches, .init = driver_load_kernels, .fini = driver_reset)
{
    CUfunction f = driver_kernel("limited");
    IS(driver_launch1(f, 0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(driver_launch1(f, 1, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(driver_launch1(f, 1, 65, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(driver_launch1(driver_kernel("trapped"), 1, 1025, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 65, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 49153, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, (CUstream)driver_module, NULL, NULL),
       CUDA_ERROR_INVALID_HANDLE);
    IS(driver_launch1(NULL, 1, 1, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(driver_launch1(f, 1, 64, NULL)); /* none of these broke anything */
    IS(cuLaunchCooperativeKernel(f, 1 << 20, 1, 1, 64, 1, 1, 0, NULL, NULL),
       CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    OK(cuLaunchCooperativeKernel(f, 8, 1, 1, 64, 1, 1, 0, NULL, NULL));
}

Test(driver, launch_attributes, .init = driver_load_kernels, .fini = driver_reset)
{
    CUlaunchAttribute a[2] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION},
                              {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY}};
    CUlaunchConfig c = {4, 1, 1, 32, 1, 1, 0, NULL, a, 2};
    a[0].value.clusterDim.x = 2;
    a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
    OK(cuLaunchKernelEx(&c, driver_kernel("limited"), NULL, NULL));
    a[0].value.clusterDim.x = 3;
    IS(cuLaunchKernelEx(&c, driver_kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    IS(cuLaunchKernelEx(NULL, driver_kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, wrong_launch_attributes_are_refused, .init = driver_load_kernels, .fini = driver_reset)
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
        const CUresult r = cuLaunchKernelEx(&c, driver_kernel("limited"), NULL, NULL);
        cr_expect_eq(r, rows[i].want, "attribute %d: %d", rows[i].id, (int)r);
    }
    c.attrs = NULL;
    IS(cuLaunchKernelEx(&c, driver_kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, events_of_a_launch_are_recorded, .init = driver_load_kernels, .fini = driver_reset)
{
    static const CUlaunchAttributeID ids[] = {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
                                              CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
    CUstream s, t;
    CUevent e, timed;
    CUdeviceptr flag = driver_alloc(4);
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&timed, CU_EVENT_DEFAULT));
    for (unsigned i = 0; i < 2; i++) {
        CUlaunchAttribute a = {.id = ids[i], .value.launchCompletionEvent.event = timed};
        CUlaunchConfig c = {4, 1, 1, 32, 1, 1, 0, s, &a, 1};
        IS(cuLaunchKernelEx(&c, driver_kernel("limited"), NULL, NULL), CUDA_ERROR_INVALID_VALUE);
        a.value.launchCompletionEvent.event = e;
        OK(cuStreamWaitValue32(s, flag, i + 1, CU_STREAM_WAIT_VALUE_GEQ)); /* holds it up */
        OK(cuLaunchKernelEx(&c, driver_kernel("limited"), NULL, NULL));
        IS(cuEventQuery(e), CUDA_ERROR_NOT_READY);
        OK(cuStreamWriteValue32(t, flag, i + 1, 0));
        OK(cuEventSynchronize(e));
        OK(cuEventQuery(e));
    }
}

/* The bytes of pageable memory are those of the call, also where the copy's own stream is empty and the legacy stream
 * holds it back: the call returns once pageable memory has been copied to a staging buffer (CUDA Driver API, "API
 * synchronization behavior"). */
Test(driver, a_copy_held_back_by_the_legacy_stream_keeps_its_bytes, .init = driver_load_kernels,
     .fini = driver_reset)
{
    CUstream s, t;
    CUdeviceptr flag = driver_alloc(4), to = driver_alloc(4);
    unsigned from = 17, read = 0;
    OK(cuMemsetD32(flag, 0, 1));
    OK(cuMemsetD32(to, 0, 1));
    OK(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue32(NULL, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuMemcpyHtoDAsync(to, &from, 4, s));
    IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    from = 23;
    OK(cuStreamWriteValue32(t, flag, 1, 0));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(&read, to, 4));
    cr_expect_eq(read, 17, "%u", read);
}

Test(driver, a_grid_that_its_kernels_clusters_do_not_fill, .init = driver_load_kernels,
     .fini = driver_reset)
{
    CUfunction f;
    CUmodule m;
    OK(cuModuleLoadData(&m, ".version 7.8\n.target sm_90\n.address_size 64\n"
                            ".visible .entry pairs() .reqnctapercluster 2\n{\n ret;\n}\n"));
    OK(cuModuleGetFunction(&f, m, "pairs"));
    IS(driver_launch1(f, 3, 32, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    OK(driver_launch1(f, 4, 32, NULL));
}

Test(driver, faults_stick_to_the_context, .init = driver_load_kernels, .fini = driver_reset)
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
        OK(cuModuleLoadData(&m, driver_ptx));
        OK(cuModuleGetFunction(&f, m, cases[i].kernel));
        CUdeviceptr p = driver_alloc(400), at = p + cases[i].offset;
        IS(driver_launch1(f, 1, 1, i < 2 ? (void *[]){&at} : NULL), cases[i].want);
        IS(cuCtxSynchronize(), cases[i].want);
        IS(cuMemFree(p), cases[i].want);
        IS(driver_launch1(f, 1, 1, i < 2 ? (void *[]){&p} : NULL), cases[i].want);
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
    OK(cuCtxCreate(&driver_context, NULL, 0, 0));
    OK(cuModuleLoadData(&driver_module, driver_ptx));
    OK(driver_launch1(driver_kernel("limited"), 2, 64, NULL));
    cr_expect(strcmp(seen, "me limited no fault 1") == 0, "%s", seen);
    IS(driver_launch1(driver_kernel("astray"), 1, 1, (void *[]){&bad}), CUDA_ERROR_ILLEGAL_ADDRESS);
    cr_expect(strncmp(seen, "me astray out of bounds", 23) == 0, "%s", seen);
    cr_expect(before_count == 65);
    driver_reset();
}

Test(driver, dynamic_shared_memory, .init = driver_load_kernels, .fini = driver_reset)
{
    CUfunction f = driver_kernel("shared");
    CUdeviceptr out = driver_alloc(4);
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
Test(driver, attributes_are_those_of_the_gpu, .fini = driver_reset)
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

Test(driver, occupancy, .init = driver_load_kernels, .fini = driver_reset)
{
    int blocks, grid, block;
    size_t bytes;
    CUfunction f = driver_kernel("add"), s = driver_kernel("shared");
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 1024, 0));
    cr_expect(blocks == 2, "%d", blocks);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 32, 0));
    cr_expect(blocks == 32, "%d", blocks);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, s, 32, 40000));
    cr_expect(blocks == 5, "%d", blocks); /* 233472 / (1000 + 40000 + 1024) */
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, driver_kernel("limited"), 65, 0));
    cr_expect(blocks == 0);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
    cr_expect(block == 1024 && grid == 264, "%d x %d", grid, block);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 100));
    cr_expect(block <= 100 && block * (grid / 132) <= 2048);
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, s, 5, 64));
    cr_expect(bytes > 40000 && bytes < 46700, "%zu", bytes);
    IS(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
}

Test(driver, limits, .init = driver_load_kernels, .fini = driver_reset)
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
    CUdeviceptr out = driver_alloc(sizeof got);
    OK(driver_launch1(grab, 1, 1, (void *[]){&out, &size}));
    OK(cuMemcpyDtoH(&got, out, sizeof got));
    return got;
}

Test(driver, the_heap_of_kernels_is_as_large_as_it_is_set, .init = driver_load_kernels,
     .fini = driver_reset)
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
    bool ok = cuCtxSetCurrent(driver_context) == CUDA_SUCCESS &&
              cuMemAlloc(&p, 400) == CUDA_SUCCESS &&
              cuModuleGetFunction(&f, driver_module, "add") == CUDA_SUCCESS &&
              cuMemsetD32(p, 0, 100) == CUDA_SUCCESS;
    for (k = 1; ok && k <= 50; k++)
        ok = driver_launch1(f, 1, 128, (void *[]){&p, &p, &n, &k}) == CUDA_SUCCESS;
    ok = ok && cuMemcpyDtoH(host, p, 400) == CUDA_SUCCESS && cuMemFree(p) == CUDA_SUCCESS;
    for (uint32_t i = 0; i < 100; i++) ok = ok && host[i] == 50 * 51 / 2;
    *(bool *)failed = !ok;
    return NULL;
}

Test(driver, several_threads, .init = driver_load_kernels, .fini = driver_reset)
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
    OK(cuCtxCreate(&driver_context, NULL, 0, 0));
    OK(cuModuleLoadData(&driver_module, driver_ptx));
    OK(cuLaunchKernel(driver_kernel("limited"), 5, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    driver_reset();
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
    driver_reset();
}
