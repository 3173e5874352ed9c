/* Calls of the driver API that fail before they do anything: every one of them is recorded, and --check api reports it.
 * Also contexts made from a CUctxCreateParams. The results are those that cuda.h (CUDA 13) documents. */
#define _GNU_SOURCE /* setenv */
#include "cuda/cuda_api.h"
#include "cuda/device.h"
#include "tests/support/driver_calls.h"

#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(CUctxCreateParams) == 24 && offsetof(CUctxCreateParams, cigParams) == 16,
               "ABI");

static char said[4096];

static void hear(void *self, const char *text)
{
    (void)self;
    strncat(said, text, sizeof said - strlen(said) - 1);
}

/* Nobody reads where the calls are: addr2line, which would be asked for each, is not found. */
static void start(void)
{
    setenv("PATH", "", 1);
    cuda_device_configure(
        &(struct emu_config){.threads = 1, .memory = 64 << 20, .checks = EMU_CHECK_API});
    cuda_device_watch(&(struct cuda_watch){.say = hear});
    OK(cuInit(0));
}

static void stop(void)
{
    cuda_device_reset();
}

Test(driver_refused, contexts_are_made_from_zeroed_parameters, .init = start, .fini = stop)
{
    CUcontext c = NULL, now = NULL;
    CUctxCreateParams p = {0};
    OK(cuCtxCreate_v4(&c, &p, 0, 0));
    OK(cuCtxGetCurrent(&now));
    cr_expect(c && c == now);
    p.numExecAffinityParams = 1;
    IS(cuCtxCreate_v4(&c, &p, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    int something = 0;
    p = (CUctxCreateParams){.cigParams = (CUctxCigParam *)&something};
    IS(cuCtxCreate_v4(&c, &p, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
    cr_expect(strstr(said, "failed: CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY"), "%s", said);
    cr_expect(strstr(said, "failed: CUDA_ERROR_NOT_SUPPORTED"), "%s", said);
}

/* Whether one call said one thing. */
static void reported(const char *call, CUresult got, CUresult want, const char *name)
{
    char line[100];
    snprintf(line, sizeof line, " failed: %s\n", name);
    cr_expect(got == want, "%s: %d", call, got);
    cr_expect(strstr(said, line) && !strstr(strstr(said, line) + 1, line), "%s: '%s'", call, said);
    *said = '\0';
}
#define REPORTED(call, error) reported(#call, call, error, #error)
#define INVALID(call) REPORTED(call, CUDA_ERROR_INVALID_VALUE)

Test(driver_refused, calls_that_fail_early_are_reported, .init = start, .fini = stop)
{
    CUcontext c;
    CUexecAffinityParam *const affinity = (CUexecAffinityParam *)&c;
    OK(cuCtxCreate(&c, NULL, 0, 0));
    INVALID(cuInit(1));
    REPORTED(cuCtxCreate_v3(&c, affinity, 1, 0, 0), CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    INVALID(cuArrayCreate(NULL, NULL));
    INVALID(cuMemcpy3DPeerAsync(NULL, NULL));
    INVALID(cuMemcpyBatchAsync(NULL, NULL, NULL, 1, NULL, NULL, 1, NULL));
    INVALID(cuMemcpy3DBatchAsync(0, NULL, 0, NULL));
    INVALID(cuThreadExchangeStreamCaptureMode(NULL));
    INVALID(cuGraphAddKernelNode(NULL, NULL, NULL, 0, NULL));
    INVALID(cuGraphMemcpyNodeSetParams(NULL, NULL));
    INVALID(cuGraphExecHostNodeSetParams(NULL, NULL, NULL));
    INVALID(cuLogsRegisterCallback(NULL, NULL, NULL));
    INVALID(cuLogsUnregisterCallback(NULL));
    INVALID(cuLogsCurrent(NULL, 0));
    INVALID(cuLogsDumpToMemory(NULL, NULL, NULL, 0));
    INVALID(cuLogsDumpToFile(NULL, NULL, 0));
    INVALID(cuMemAllocPitch(NULL, NULL, 0, 0, 4));
    INVALID(cuMemcpy2D(NULL));
    INVALID(cuMemcpyAtoH(NULL, NULL, 0, 4));
    INVALID(cuModuleGetLoadingMode(NULL));
    REPORTED(cuKernelSetCacheConfig(NULL, CU_FUNC_CACHE_PREFER_NONE, 7), CUDA_ERROR_INVALID_DEVICE);
    INVALID(cuMemGetAllocationGranularity(NULL, NULL, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    INVALID(cuDriverGetVersion(NULL));
    INVALID(cuGetProcAddress(NULL, NULL, 13000, 0, NULL));
}
