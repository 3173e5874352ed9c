/* What is not there yet answers that it is not supported, and is listed when the program ends. */
#define _GNU_SOURCE
#include "cuda/driver.h"
#include "cuda/per_thread.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the driver and the runtimes; names beyond these are not listed. */
enum { MOST_NAMES = 256 };
static struct {
    const char *name, *text;
} called[MOST_NAMES];
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void list(void)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "heddle: %s %s\n", called[i].name, called[i].text);
}

static CUresult add(const char *name, const char *text)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    if (!count && atexit(list) != 0) abort();
    while (i < count && strcmp(called[i].name, name) != 0) i++;
    if (i == count && count < MOST_NAMES) {
        called[count].name = strdup(name); /* its library may be unloaded */
        called[count].text = text;
        if (called[count].name) count++;
    }
    pthread_mutex_unlock(&lock);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult heddle_absent(const char *name)
{
    return add(name, "was called and is not supported yet");
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
               "holds NVIDIA's own runtime, which wants NVIDIA's driver: its calls of CUDA fail");
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
