/* Stubs of driver functions that Heddle lacks: they return CUDA_ERROR_NOT_SUPPORTED; the end of the program lists the calls. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/per_thread.h"
#include "session/event_stream.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the driver and the runtimes; names beyond these are not listed. */
enum { MOST_NAMES = 256 };
static struct {
    const char *name, *text, *advice;
} called[MOST_NAMES];
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void list(void)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "heddle: %s %s: %s\n", called[i].name, called[i].text, called[i].advice);
}

/* What a program can do instead: the first row whose text is in the function's name. */
static const struct {
    const char *in_name, *advice;
} advices[] = {
    {"TensorMap",
     "use a path without the tensor memory accelerator, as programs have it for GPUs before sm_90"},
    {"GreenCtx", "use an ordinary context and its streams: there is one partition, the whole GPU"},
    {"DevResource",
     "use an ordinary context and its streams: there is one partition, the whole GPU"},
    {"DevSm", "use an ordinary context and its streams: there is one partition, the whole GPU"},
    {"Ipc", "keep allocations and events in one process"},
    {"Shareable", "keep allocations in one process"},
    {"HandleForAddressRange", "keep allocations in one process"},
    {"INTERPROCESS", "create the event without this flag, and keep it in one process"},
    {"External", "use memory and events of CUDA instead of those of another API"},
    {"EGL", "use memory of CUDA instead of the resources of another API"},
    {"GL", "use memory of CUDA instead of the resources of another API"},
    {"VDPAU", "use memory of CUDA instead of the resources of another API"},
    {"Graphics", "use memory of CUDA instead of the resources of another API"},
    {"NvSci", "use events of CUDA instead of those of another API"},
    {"cig", "pass a CUctxCreateParams of zeros"},
    {"Multicast", "use memory of one device: there is one"},
    {"Checkpoint", "run without checkpoints of the process"},
    {"Coredump", "run without core dumps: Heddle reports a fault when it happens"},
    {"AsyncNotification", "run without it: there is no other program that uses the device"},
    {"DecompressAsync", "decompress in a kernel or on the host"},
    {"cuLaunch", "use cuLaunchKernel"},
    {"cuParamSet", "pass the parameters to cuLaunchKernel"},
    {"cuFuncSetBlockShape", "pass the block to cuLaunchKernel"},
    {"cuFuncSetSharedSize", "pass the shared memory to cuLaunchKernel"},
    {"cuCtxAttach", "use cuDevicePrimaryCtxRetain"},
    {"cuCtxDetach", "use cuCtxDestroy"},
    {"cuTexRef", "use texture objects, or cuModuleGetTexRef"},
    {"MapArrayAsync", "allocate the array with cuArray3DCreate"},
    {"", "use the path that the program has for devices or drivers without it"},
};

static const char *advice_for(const char *name)
{
    size_t i = 0;
    while (!strstr(name, advices[i].in_name)) i++;
    return advices[i].advice;
}

/* The driver of CUDA 3.2 and later has another version of the function, which headers since then name. */
static bool is_of_old_headers(const char *name)
{
    char newer[100];
    snprintf(newer, sizeof newer, "%s_v2", name);
    return dlsym(RTLD_DEFAULT, newer) && !absent_entry_point(newer);
}

static CUresult add(const char *name, const char *text, const char *advice)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    if (!count && atexit(list) != 0) abort();
    while (i < count && strcmp(called[i].name, name) != 0) i++;
    if (i == count && count < MOST_NAMES) {
        called[count].name = strdup(name); /* its library may be unloaded */
        called[count].text = text;
        called[count].advice = advice;
        if (called[count].name) count++;
        event_stream_totals(driver.reports.events)->absent++;
    }
    pthread_mutex_unlock(&lock);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult heddle_absent(const char *name)
{
    return add(name, "was called and is not supported yet",
               is_of_old_headers(name)
                   ? "compile with headers of CUDA 3.2 or later, which name a newer version"
                   : advice_for(name));
}

/* Tables of functions that nobody documents: there are none. NVRTC does without; NVIDIA's runtime, which its libraries
 * (cuBLAS, cuFFT, cuRAND...) hold, answers all calls with an error then. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    Dl_info at;
    if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    if (!dladdr(__builtin_return_address(0), &at) || !at.dli_fname) return CUDA_ERROR_NOT_SUPPORTED;
    const char *slash = strrchr(at.dli_fname, '/'), *name = slash ? slash + 1 : at.dli_fname;
    if (strncmp(name, "lib", 3) != 0 || strncmp(name, "libnvrtc", 8) == 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    return add(name,
               "holds NVIDIA's own runtime, which wants NVIDIA's driver: its calls of CUDA fail",
               "use a library with sources, or one of headers (CUB, Thrust, cuRAND's device API)");
}

static CUresult absent(const char *name)
{
    heddle_absent(name);
    driver_lock();
    return driver_end(CUDA_ERROR_NOT_SUPPORTED);
}

/* Declared by nobody: their parameters are not looked at. */
#include "cuda/exact_names.h"
#pragma GCC visibility push(default)
#define ABSENT(name)                                                                               \
    CUresult name(void);                                                                           \
    CUresult name(void)                                                                            \
    {                                                                                              \
        return absent(#name);                                                                      \
    }
#include "cuda/absent.def"
#undef ABSENT
#pragma GCC visibility pop

static const struct {
    const char *name;
    entry_point *function;
} stubs[] = {
#define ABSENT(name) {#name, (entry_point *)(name)},
#include "cuda/absent.def"
#undef ABSENT
};

entry_point *absent_entry_point(const char *name)
{
    for (size_t i = 0; i < sizeof stubs / sizeof *stubs; i++)
        if (strcmp(stubs[i].name, name) == 0) return stubs[i].function;
    return NULL;
}
