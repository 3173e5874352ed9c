/* What is not there yet answers that it is not supported, and is listed when the program ends. */
#include "cuda/runtime/runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[] = {
#define ABSENT(name) #name,
#include "cuda/runtime/absent.def"
#undef ABSENT
};
enum absent {
#define ABSENT(name) ABSENT_##name,
#include "cuda/runtime/absent.def"
#undef ABSENT
};

static bool called[sizeof names / sizeof *names];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void list(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (__atomic_load_n(&called[i], __ATOMIC_RELAXED))
            fprintf(stderr, "heddle: %s was called and is not supported yet\n", names[i]);
}

static void list_at_exit(void)
{
    if (atexit(list) != 0) abort();
}

static cudaError_t not_supported(enum absent which)
{
    pthread_once(&once, list_at_exit);
    __atomic_store_n(&called[which], true, __ATOMIC_RELAXED);
    return runtime_done(cudaErrorNotSupported);
}

/* Declared by nobody: their parameters are not looked at. */
#pragma GCC visibility push(default)
#define ABSENT(name)                                                                               \
    cudaError_t name(void);                                                                        \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        return not_supported(ABSENT_##name);                                                       \
    }
#include "cuda/runtime/absent.def"
#undef ABSENT
#pragma GCC visibility pop
