/* What is not there yet answers that it is not supported, and is listed when the program ends. */
#include "cuda/driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Of the driver and the runtimes; names beyond these are not listed. */
enum { MOST_NAMES = 256 };
static const char *called[MOST_NAMES];
static size_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void list(void)
{
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "heddle: %s was called and is not supported yet\n", called[i]);
}

CUresult heddle_absent(const char *name)
{
    size_t i = 0;
    pthread_mutex_lock(&lock);
    if (!count && atexit(list) != 0) abort();
    while (i < count && strcmp(called[i], name) != 0) i++;
    if (i == count && count < MOST_NAMES) called[count++] = name;
    pthread_mutex_unlock(&lock);
    return CUDA_ERROR_NOT_SUPPORTED;
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
